//! The rounds of a search.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

use hashlane_metainfo::{PathComponent, Torrent};
use hashlane_pipeline::{CancelToken, Error, FileIndex, Options, Progress};

use crate::budget::SearchBudget;
use crate::candidates::Candidates;
use crate::found::{FileMatch, FoundTorrent, Place, Undecided, initial};
use crate::probe::{Probe, Probes};
use crate::wanted::{Target, Wanted, Zeros, wanted_files};

/// Number of candidates with which a file is compared at most. A torrent can ask for thousands of files of the same length.
pub const MAX_PROBES: usize = 1024;

/// Number of candidates with which a file is compared in one round.
const PROBES_PER_ROUND: usize = 64;

/// Number of candidates that fit the first piece of a file and are compared by further pieces.
const MAX_COMPARED: usize = 64;

/// Number of candidates of a file that may be damaged. With more, only those of its name are tried.
pub(crate) const MAX_DAMAGED: usize = 8;

/// Number of combinations of candidates that are tried for a piece that spans files.
pub(crate) const MAX_COMBINATIONS: usize = 256;

/// Bytes of combinations that are hashed for a torrent at most, and what each byte of its content adds to them: a torrent can ask for
/// hundreds of combinations for each of its pieces.
const MAX_SPANNING_BYTES: u64 = 256 << 20;
const MAX_SPANNING_SHARE: u64 = 16;

/// Each file of a combination counts as at least this number of bytes, because it is opened and takes memory.
const MIN_FILE_BYTES: u64 = 1 << 10;

/// Number of files that all combinations of a piece have together: a piece of thousands of short files is tried with few.
const MAX_COMBINED_FILES: usize = 1 << 15;

/// Number of combinations that are kept in memory, about. A torrent can exceed it.
const MAX_TRIES: usize = 1 << 18;

/// Number of rounds for pieces that span files: a file that was found can decide its neighbour.
const MAX_SPANNING_ROUNDS: usize = 64;

/// Number of combinations of a piece that are tried in the first round, and the factor by which it grows after a round that finds
/// nothing, and after some rounds that do.
const FIRST_COMBINATIONS: usize = 4;
const MAX_PATIENT_ROUNDS: usize = 8;

/// The results of a search.
#[derive(Debug)]
#[non_exhaustive]
pub struct Findings {
    /// The result for each torrent.
    pub torrents: Vec<FoundTorrent>,
    /// The candidates that could not be read, with the reasons.
    pub unreadable: Vec<(u32, io::Error)>,
    /// Number of pieces that were read and hashed.
    pub hashed_pieces: u64,
    /// Number of bytes that were read and hashed.
    pub hashed_bytes: u64,
}

impl Findings {
    /// Returns the number of candidates that are files of more than one torrent.
    pub fn shared_files(&self) -> u64 {
        let mut seen = HashMap::<u32, bool>::new();
        for torrent in &self.torrents {
            let own: HashSet<u32> = torrent
                .candidates()
                .map(|(_, candidate)| candidate)
                .collect();
            for candidate in own {
                seen.entry(candidate)
                    .and_modify(|is_shared| *is_shared = true)
                    .or_insert(false);
            }
        }
        seen.values().filter(|is_shared| **is_shared).count() as u64
    }
}

/// Finds the files of torrents among the candidates. Only reads.
///
/// `progress` is called on this thread. After `cancel` is set, the function returns soon, and files that were not decided
/// by then are not found.
///
/// # Errors
/// The system cannot hash at all. Files that cannot be read are not found.
pub fn find(
    torrents: &[&Torrent],
    candidates: &Candidates,
    options: &Options,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(Progress),
) -> Result<Findings, Error> {
    find_within(torrents, candidates, None, options, cancel, progress)
}

/// What a search near missing content is limited to.
#[derive(Clone, Copy)]
pub(crate) struct Within<'w> {
    /// The limit of the bytes to hash.
    pub(crate) budget: &'w SearchBudget,
    /// The files to find. Others are used only where they share a piece with one of these.
    pub(crate) files: &'w BTreeSet<FileIndex>,
}

/// Does the same, but finds only some files, and hashes no more bytes than a budget has left.
pub(crate) fn find_within(
    torrents: &[&Torrent],
    candidates: &Candidates,
    within: Option<Within<'_>>,
    options: &Options,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(Progress),
) -> Result<Findings, Error> {
    let budget = within.map(|within| within.budget);
    let options = &options.for_short_reads();
    let mut zeros = Zeros::new(options.engine);
    let mut searches: Vec<Search<'_>> = torrents
        .iter()
        .map(|torrent| Search::new(torrent, within.map(|within| within.files), &mut zeros))
        .collect();
    for search in &mut searches {
        search.decide_by_root(candidates);
    }
    let mut probes = Probes::new(candidates, budget, options, cancel);
    let mut run = |probes: &mut Probes<'_>, wanted: Vec<Probe>| {
        probes.run(wanted, |hashed_bytes, total_bytes| {
            progress(Progress {
                hashed_bytes,
                total_bytes,
            });
        })
    };
    // Pieces that lie in one file.
    let mut is_over = false;
    let mut round = 0;
    while !is_over && !cancel.is_cancelled() && !probes.is_refused() {
        let wanted = searches
            .iter()
            .flat_map(|search| search.own_probes(round, candidates));
        let wanted: Vec<Probe> = wanted.collect();
        is_over = wanted.is_empty();
        run(&mut probes, wanted)?;
        for search in &mut searches {
            search.decide_own(round, candidates, &probes);
        }
        round += 1;
    }
    // Without all first pieces, files that are intact would look damaged.
    if !probes.is_refused() {
        // Further pieces of files that may be damaged, and of those that several candidates fit.
        let wanted = searches
            .iter()
            .flat_map(|search| search.further_probes(candidates));
        let wanted: Vec<Probe> = wanted.collect();
        run(&mut probes, wanted)?;
        for search in &mut searches {
            search.decide_further(candidates, &probes);
        }
    }
    if !probes.is_refused() {
        find_spanning(&mut searches, candidates, &mut probes, cancel, &mut run)?;
    }
    Ok(Findings {
        torrents: searches
            .into_iter()
            .map(|search| search.finish(candidates, &probes))
            .collect(),
        unreadable: probes.take_unreadable(),
        hashed_pieces: probes.hashed(),
        hashed_bytes: probes.hashed_bytes(),
    })
}

/// Hashes probes, and reports the progress.
type Run<'r> = dyn FnMut(&mut Probes<'_>, Vec<Probe>) -> Result<(), Error> + 'r;

/// Compares the pieces that span files, of a few torrents at a time: a piece can have hundreds of combinations.
fn find_spanning(
    searches: &mut [Search<'_>],
    candidates: &Candidates,
    probes: &mut Probes<'_>,
    cancel: &CancelToken,
    run: &mut Run<'_>,
) -> Result<(), Error> {
    for round in 1..=MAX_SPANNING_ROUNDS {
        if round % MAX_PATIENT_ROUNDS == 0 {
            for search in &mut *searches {
                search.try_more_combinations();
            }
        }
        let mut n_tries = 0;
        let budget = probes.budget();
        let mut rest = &mut searches[..];
        while !rest.is_empty() && !cancel.is_cancelled() {
            let mut tries: Vec<Vec<Try>> = Vec::new();
            let mut n_batch = 0;
            while let Some(search) = rest.get_mut(tries.len())
                && n_batch < MAX_TRIES
            {
                tries.push(search.tries(candidates, budget));
                n_batch += tries.last().map_or(0, Vec::len);
            }
            let (batch, others) = std::mem::take(&mut rest).split_at_mut(tries.len());
            rest = others;
            n_tries += n_batch;
            let wanted = tries.iter().flatten().map(|attempt| attempt.probe.clone());
            run(probes, wanted.collect())?;
            for (search, tries) in batch.iter_mut().zip(&tries) {
                search.decide_spanning(tries, candidates, probes);
            }
            // Few later combinations are the same.
            if probes.n_known() > MAX_TRIES {
                probes.forget(tries.into_iter().flatten().map(|attempt| attempt.probe));
            }
        }
        if n_tries == 0 || cancel.is_cancelled() {
            return Ok(());
        }
    }
    for search in searches {
        search.give_up_spanning();
    }
    Ok(())
}

/// The search for the files of one torrent.
struct Search<'t> {
    target: Target<'t>,
    /// The files to find, or `None` for all.
    asked: Option<&'t BTreeSet<FileIndex>>,
    wanted: Vec<Wanted>,
    /// The place of each file in `wanted`, by its index in the torrent.
    places: HashMap<FileIndex, usize>,
    found: Vec<FileMatch>,
    right_pieces: BTreeSet<u32>,
    /// Files that were found by their roots, so that no piece of them is compared.
    by_root: HashSet<FileIndex>,
    /// Pieces that span files, and the choices with which each was tried.
    tried: HashMap<u32, Vec<Vec<u32>>>,
    /// Files for which not all candidates were tried.
    too_many: HashSet<FileIndex>,
    /// Bytes of combinations that may still be hashed.
    spanning_bytes: u64,
    /// Number of combinations up to which a piece is tried, if there are such pieces: files that are found leave the others fewer.
    most_combinations: usize,
    /// No piece that spans files is left to be tried.
    is_over: bool,
}

/// A piece that spans files, with a candidate for each.
struct Try {
    piece: u32,
    probe: Probe,
    /// The candidate of each file of the piece, in order.
    choice: Vec<u32>,
}

impl<'t> Search<'t> {
    fn new(
        torrent: &'t Torrent,
        asked: Option<&'t BTreeSet<FileIndex>>,
        zeros: &mut Zeros,
    ) -> Self {
        let target = Target::new(torrent);
        let wanted = wanted_files(&target, zeros);
        let places = wanted
            .iter()
            .enumerate()
            .map(|(place, wanted)| (wanted.file, place));
        Self {
            asked,
            places: places.collect(),
            found: initial(torrent),
            right_pieces: BTreeSet::new(),
            by_root: HashSet::new(),
            tried: HashMap::new(),
            too_many: HashSet::new(),
            spanning_bytes: MAX_SPANNING_BYTES + MAX_SPANNING_SHARE * target.layout.total_bytes(),
            most_combinations: FIRST_COMBINATIONS,
            is_over: false,
            wanted,
            target,
        }
    }

    /// Returns the files to find.
    fn asked(&self) -> impl Iterator<Item = &Wanted> {
        let is_asked =
            |wanted: &&Wanted| self.asked.is_none_or(|asked| asked.contains(&wanted.file));
        self.wanted.iter().filter(is_asked)
    }

    fn is_open(&self, wanted: &Wanted) -> bool {
        self.found[wanted.file.get()] == FileMatch::Missing
    }

    /// Finds files by their roots, as far as the roots of candidates are known.
    fn decide_by_root(&mut self, candidates: &Candidates) {
        let fits = self.wanted.iter().filter_map(|wanted| {
            let root = self.target.torrent.file(wanted.file.get()).pieces_root()?;
            // Metainfo can name the root of a file that has another length.
            let of_len = candidates.of_len(wanted.len_bytes);
            let fits = candidates.of_root(root).iter().copied();
            let fits = fits.filter(|fit| of_len.binary_search(fit).is_ok());
            let fits: Vec<u32> = fits.take(MAX_PROBES).collect();
            (!fits.is_empty()).then_some((wanted.file, fits))
        });
        let fits: Vec<(FileIndex, Vec<u32>)> = fits.collect();
        for (file, fits) in fits {
            self.right_pieces.extend(self.target.layout.pieces_of(file));
            self.by_root.insert(file);
            self.identify(file, fits, candidates);
        }
    }

    /// Returns the candidates of a file in the order in which they are tried: those with its name, and then the others from
    /// the place on that the file has among those of its length, because renamed files often keep their order.
    fn ranked<'c>(
        &self,
        wanted: &Wanted,
        candidates: &'c Candidates,
    ) -> impl Iterator<Item = u32> + use<'c> {
        let all = candidates.of_len(wanted.len_bytes);
        let named = self.named(wanted, candidates);
        let start = wanted.ordinal as usize % all.len().max(1);
        let (before, after) = all.split_at(start);
        let others = after.iter().chain(before).copied();
        named
            .iter()
            .copied()
            .chain(others.filter(|candidate| named.binary_search(candidate).is_err()))
    }

    /// Returns the candidates that have the length and the name of a file.
    fn named<'c>(&self, wanted: &Wanted, candidates: &'c Candidates) -> &'c [u32] {
        let path = self.target.torrent.file(wanted.file.get()).path();
        let name = path.file_name().to_os_str();
        name.map_or(&[], |name| candidates.of_name(wanted.len_bytes, name))
    }

    /// Returns the candidates of a file that are tried in a round.
    fn in_round<'c>(
        &self,
        round: usize,
        wanted: &Wanted,
        candidates: &'c Candidates,
    ) -> impl Iterator<Item = u32> + use<'c> {
        let ranked = self.ranked(wanted, candidates).take(MAX_PROBES);
        ranked.skip(round * PROBES_PER_ROUND).take(PROBES_PER_ROUND)
    }

    /// Returns the files that have pieces of their own and are not found yet.
    fn open_own(&self) -> impl Iterator<Item = &Wanted> {
        self.asked()
            .filter(|wanted| !wanted.samples.is_empty() && self.is_open(wanted))
    }

    fn own_probes(&self, round: usize, candidates: &Candidates) -> Vec<Probe> {
        let probes = self.open_own().flat_map(|wanted| {
            let piece = wanted.samples[0];
            let tried = self.in_round(round, wanted, candidates);
            tried.map(move |candidate| self.probe_of(piece, candidate))
        });
        probes.collect()
    }

    fn decide_own(&mut self, round: usize, candidates: &Candidates, probes: &Probes<'_>) {
        let mut decisions = Vec::new();
        for wanted in self.open_own() {
            let piece = wanted.samples[0];
            let fits = self
                .in_round(round, wanted, candidates)
                .filter(|candidate| self.fits(piece, *candidate, probes));
            let fits: Vec<u32> = fits.collect();
            if !fits.is_empty() {
                decisions.push((wanted.file, piece, fits));
            }
        }
        for (file, piece, fits) in decisions {
            self.right_pieces.insert(piece);
            self.identify(file, fits, candidates);
        }
    }

    /// Returns the files that further pieces decide, and the candidates to compare: those whose first sample no candidate has,
    /// and those whose first sample several candidates have.
    fn doubtful<'s>(
        &'s self,
        candidates: &'s Candidates,
    ) -> impl Iterator<Item = (&'s Wanted, Vec<u32>)> {
        let with_further = self.asked().filter(|wanted| wanted.samples.len() > 1);
        with_further.filter_map(|wanted| match &self.found[wanted.file.get()] {
            FileMatch::Missing => Some((wanted, self.damaged(wanted, candidates))),
            FileMatch::Identified(place)
                if !place.others.is_empty() && !self.by_root.contains(&wanted.file) =>
            {
                Some((wanted, place.all().take(MAX_COMPARED).collect()))
            }
            _ => None,
        })
    }

    /// Returns the candidates of a file that may be damaged.
    fn damaged(&self, wanted: &Wanted, candidates: &Candidates) -> Vec<u32> {
        let all = candidates.of_len(wanted.len_bytes);
        if all.len() <= MAX_DAMAGED {
            return all.to_vec();
        }
        let named = self.named(wanted, candidates).iter();
        named.copied().take(MAX_DAMAGED).collect()
    }

    fn further_probes(&self, candidates: &Candidates) -> Vec<Probe> {
        let pairs = self.doubtful(candidates).flat_map(|(wanted, compared)| {
            let further = wanted.samples[1..].iter();
            let pairs = compared
                .into_iter()
                .flat_map(move |candidate| further.clone().map(move |piece| (*piece, candidate)));
            pairs.map(|(piece, candidate)| self.probe_of(piece, candidate))
        });
        pairs.collect()
    }

    /// Keeps the candidates of a file that have most of its samples. If no candidate has all samples, the file is damaged.
    fn decide_further(&mut self, candidates: &Candidates, probes: &Probes<'_>) {
        let doubtful = self.doubtful(candidates);
        let decisions = doubtful.filter_map(|(wanted, compared)| {
            let (right, fits) = self.best(&wanted.samples, &compared, probes)?;
            (!right.is_empty()).then_some((wanted.file, right, fits, wanted.samples.len()))
        });
        let decisions: Vec<_> = decisions.collect();
        for (file, right, fits, checked) in decisions {
            if right.len() == checked {
                self.identify(file, fits, candidates);
            } else {
                // The first of several that fit equally.
                self.found[file.get()] = FileMatch::Partial {
                    candidate: fits[0],
                    right: right.len() as u32,
                    checked: checked as u32,
                };
            }
            self.right_pieces.extend(right);
        }
    }

    /// Returns the right pieces of the candidates that have most of some pieces, and these candidates.
    fn best(
        &self,
        pieces: &[u32],
        compared: &[u32],
        probes: &Probes<'_>,
    ) -> Option<(Vec<u32>, Vec<u32>)> {
        let mut best: Option<(Vec<u32>, Vec<u32>)> = None;
        for candidate in compared {
            let right = pieces.iter().copied();
            let right = right.filter(|piece| self.fits(*piece, *candidate, probes));
            let right: Vec<u32> = right.collect();
            match &mut best {
                Some((most, fits)) if most.len() == right.len() => fits.push(*candidate),
                Some((most, _)) if most.len() > right.len() => {}
                _ => best = Some((right, vec![*candidate])),
            }
        }
        best
    }

    /// Returns the pieces that span files and can decide one of them, with candidates for all of their files. Pieces
    /// that were tried with the same candidates are left out, and those that need more bytes than a budget has left.
    fn tries(&mut self, candidates: &Candidates, budget: Option<&SearchBudget>) -> Vec<Try> {
        if self.is_over {
            return Vec::new();
        }
        let open = self
            .wanted
            .iter()
            .filter(|wanted| wanted.samples.is_empty() && self.is_open(wanted));
        let pieces: BTreeSet<u32> = open
            .flat_map(|wanted| self.target.layout.pieces_of(wanted.file))
            .collect();
        let choices = pieces.into_iter().filter_map(|piece| {
            let choices = self.choices(piece, candidates)?;
            (self.tried.get(&piece) != Some(&choices)).then_some((piece, choices))
        });
        let mut choices: Vec<(u32, Vec<Vec<u32>>)> = choices.collect();
        // Pieces with few combinations come first: their files leave fewer for the neighbours.
        choices.sort_by_cached_key(|(_, choices)| n_combinations(choices));
        let mut tries = Vec::new();
        let mut bytes_left = budget.map_or(u64::MAX, SearchBudget::bytes_left);
        let mut n_most = self.most_combinations;
        for (piece, choices) in choices {
            if tries.is_empty() {
                n_most = n_most.max(n_combinations(&choices));
            } else if n_combinations(&choices) > n_most {
                break;
            }
            let piece_len = self.target.layout.piece_len(self.target.piece(piece));
            let try_bytes = u64::from(piece_len).max(choices.len() as u64 * MIN_FILE_BYTES);
            let n_bytes = n_combinations(&choices) as u64 * try_bytes;
            if n_bytes > bytes_left {
                budget.inspect(|budget| budget.note_exhausted());
                continue;
            }
            let rest = self.spanning_bytes.checked_sub(n_bytes);
            // Pieces that are left out because of the memory have their turn in the next round.
            let Some(rest) = rest.filter(|_| tries.len() < MAX_TRIES) else {
                let files: Vec<FileIndex> = self.target.files_in(piece).collect();
                self.too_many.extend(files);
                continue;
            };
            self.spanning_bytes = rest;
            bytes_left -= n_bytes;
            for choice in combinations(&choices) {
                let probe = self.target.probe(piece, choice.iter().copied());
                tries.push(Try {
                    piece,
                    probe,
                    choice,
                });
            }
            self.tried.insert(piece, choices);
        }
        self.is_over = tries.is_empty();
        tries
    }

    /// Returns the candidates of each file of a piece. Returns `None` if a file has none, or the piece has no hash.
    fn choices(&mut self, piece: u32, candidates: &Candidates) -> Option<Vec<Vec<u32>>> {
        self.target.expected(self.target.piece(piece))?;
        let files: Vec<FileIndex> = self.target.files_in(piece).collect();
        let mut choices = Vec::with_capacity(files.len());
        for file in &files {
            let wanted = &self.wanted[self.places[file]];
            let choice: Vec<u32> = match &self.found[file.get()] {
                FileMatch::Identified(place) => place.all().collect(),
                FileMatch::Partial { candidate, .. } => vec![*candidate],
                // No candidate has its own piece.
                _ if !wanted.samples.is_empty() => return None,
                _ => self
                    .ranked(wanted, candidates)
                    .take(MAX_COMBINATIONS)
                    .collect(),
            };
            if choice.is_empty() {
                return None;
            }
            choices.push(choice);
        }
        let most = (MAX_COMBINED_FILES / files.len()).clamp(1, MAX_COMBINATIONS);
        let cut = cut_down(&mut choices, most);
        self.too_many
            .extend(cut.into_iter().map(|index| files[index]));
        Some(choices)
    }

    fn decide_spanning(&mut self, tries: &[Try], candidates: &Candidates, probes: &Probes<'_>) {
        let mut fits: HashMap<FileIndex, Vec<u32>> = HashMap::new();
        for attempt in tries {
            let piece = self.target.piece(attempt.piece);
            let is_right = self
                .target
                .expected(piece)
                .is_some_and(|expected| probes.matches(&attempt.probe, expected));
            if !is_right {
                continue;
            }
            self.right_pieces.insert(attempt.piece);
            for (file, candidate) in self.target.files_in(attempt.piece).zip(&attempt.choice) {
                let fitting = fits.entry(file).or_default();
                if !fitting.contains(candidate) {
                    fitting.push(*candidate);
                }
            }
        }
        let mut is_found = false;
        for (file, fitting) in fits {
            if self.found[file.get()] == FileMatch::Missing {
                self.identify(file, fitting, candidates);
                is_found = true;
            }
        }
        if !is_found {
            self.try_more_combinations();
        }
    }

    fn try_more_combinations(&mut self) {
        self.most_combinations = self.most_combinations.saturating_mul(FIRST_COMBINATIONS);
    }

    /// Notes that not all candidates of the files were tried that are still open.
    fn give_up_spanning(&mut self) {
        let open = self
            .wanted
            .iter()
            .filter(|wanted| wanted.samples.is_empty() && self.is_open(wanted));
        let open: Vec<FileIndex> = open.map(|wanted| wanted.file).collect();
        if !self.is_over {
            self.too_many.extend(open);
        }
    }

    /// Notes the candidates that fit a file. The one that has most of the file's path is the best.
    fn identify(&mut self, file: FileIndex, mut fits: Vec<u32>, candidates: &Candidates) {
        if fits.len() > 1 {
            let path = self.target.torrent.file(file.get()).path();
            let components: Vec<&[u8]> = path.components().map(PathComponent::as_bytes).collect();
            fits.sort_by_key(|candidate| {
                let names = candidates.path(*candidate).iter().rev();
                let equal = names
                    .zip(components.iter().rev())
                    .take_while(|(name, component)| name.as_encoded_bytes() == **component);
                std::cmp::Reverse(equal.count())
            });
        }
        let others = fits.split_off(1);
        self.found[file.get()] = FileMatch::Identified(Place {
            candidate: fits[0],
            others,
        });
    }

    fn fits(&self, piece: u32, candidate: u32, probes: &Probes<'_>) -> bool {
        let expected = self.target.expected(self.target.piece(piece));
        expected.is_some_and(|expected| probes.matches(&self.probe_of(piece, candidate), expected))
    }

    /// Returns the probe of a piece that lies in one file.
    fn probe_of(&self, piece: u32, candidate: u32) -> Probe {
        self.target.probe(piece, std::iter::once(candidate))
    }

    /// Returns the result. Files that are still open get their reason.
    fn finish(mut self, candidates: &Candidates, probes: &Probes<'_>) -> FoundTorrent {
        let open = self.wanted.iter().filter(|wanted| self.is_open(wanted));
        let mut absent = AbsentFiles::default();
        let unreadable = probes
            .unreadable()
            .map(|candidate| candidates.len_bytes(candidate));
        let unreadable: HashSet<u64> = unreadable.collect();
        let reasons = open.map(|wanted| {
            let reason = self.reason(wanted, candidates, &unreadable, &mut absent);
            (wanted.file, reason)
        });
        let reasons: Vec<_> = reasons.collect();
        for (file, reason) in reasons {
            self.found[file.get()] = reason;
        }
        FoundTorrent {
            files: self.found,
            right_pieces: self.right_pieces.len() as u32,
            pieces: self.target.layout.lengths().piece_count(),
        }
    }

    /// Returns the reason why a file is not found.
    fn reason(
        &self,
        wanted: &Wanted,
        candidates: &Candidates,
        unreadable: &HashSet<u64>,
        absent: &mut AbsentFiles,
    ) -> FileMatch {
        let all = candidates.of_len(wanted.len_bytes);
        if all.is_empty() {
            return FileMatch::Missing;
        }
        let pieces = self.target.layout.pieces_of(wanted.file);
        let undecided = if unreadable.contains(&wanted.len_bytes) {
            Undecided::Unreadable
        } else if !wanted.samples.is_empty() {
            if all.len() <= MAX_PROBES {
                let candidates = all.len() as u32;
                return FileMatch::Wrong { candidates };
            }
            Undecided::TooMany
        } else if self
            .target
            .expected(self.target.piece(pieces.start))
            .is_none()
        {
            Undecided::WholeFileHash
        } else if self.too_many.contains(&wanted.file) {
            Undecided::TooMany
        } else {
            self.absent_neighbour(wanted, candidates, absent)
                .map_or(Undecided::Shared, Undecided::Neighbour)
        };
        FileMatch::Undecided(undecided)
    }

    /// Returns a file that shares pieces with this one and has no candidate.
    fn absent_neighbour(
        &self,
        wanted: &Wanted,
        candidates: &Candidates,
        absent: &mut AbsentFiles,
    ) -> Option<FileIndex> {
        let is_absent = |file: &FileIndex| {
            let wanted = &self.wanted[self.places[file]];
            let has_candidate = self.found[file.get()].candidate().is_some();
            let has_none = candidates.of_len(wanted.len_bytes).is_empty();
            !has_candidate && (has_none || !wanted.samples.is_empty())
        };
        let mut pieces = self.target.layout.pieces_of(wanted.file);
        pieces.find_map(|piece| {
            let absent = absent.entry(piece).or_insert_with(|| {
                let absent = self.target.files_in(piece).filter(is_absent);
                absent.take(2).collect()
            });
            absent.iter().copied().find(|file| *file != wanted.file)
        })
    }
}

/// The first two files of a piece that have no candidate: one of them is a neighbour of each file.
type AbsentFiles = HashMap<u32, Vec<FileIndex>>;

/// Leaves the first candidates of each file, so that there are at most `most` combinations: those that have more than the others lose
/// them first. Returns the places of the files that lost some.
fn cut_down(choices: &mut [Vec<u32>], most: usize) -> Vec<usize> {
    let n_with = |choices: &[Vec<u32>], max_each: usize| {
        let mut counts = choices.iter().map(|choice| choice.len().min(max_each));
        counts.try_fold(1, |product: usize, count| {
            product
                .checked_mul(count)
                .filter(|product| *product <= most)
        })
    };
    let longest = choices.iter().map(Vec::len).max().unwrap_or(0);
    let levels = (1..=longest).map_while(|each| Some((each, n_with(choices, each)?)));
    let Some((each, mut product)) = levels.last() else {
        return Vec::new();
    };
    let mut cut = Vec::new();
    for (index, choice) in choices.iter_mut().enumerate() {
        // The first of them may have one more.
        let with_one_more = product / each * (each + 1);
        let n_kept = if choice.len() > each && with_one_more <= most {
            product = with_one_more;
            each + 1
        } else {
            each
        };
        if choice.len() > n_kept {
            choice.truncate(n_kept);
            cut.push(index);
        }
        choice.shrink_to_fit();
    }
    cut
}

pub(crate) fn n_combinations(choices: &[Vec<u32>]) -> usize {
    choices.iter().fold(1, |product: usize, choice| {
        product.saturating_mul(choice.len())
    })
}

/// Returns all combinations of one candidate for each file. Two files may have the same candidate.
pub(crate) fn combinations(choices: &[Vec<u32>]) -> impl Iterator<Item = Vec<u32>> + '_ {
    (0..n_combinations(choices)).map(move |mut number| {
        let picks = choices.iter().map(|choice| {
            let pick = choice[number % choice.len()];
            number /= choice.len();
            pick
        });
        picks.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(lens: &[u32], most: usize) -> (Vec<usize>, Vec<usize>) {
        let mut choices: Vec<Vec<u32>> = lens.iter().map(|len| (0..*len).collect()).collect();
        let cut = cut_down(&mut choices, most);
        (choices.iter().map(Vec::len).collect(), cut)
    }

    #[test]
    fn the_files_with_most_candidates_lose_them_first() {
        assert_eq!(cut(&[3, 4], 256), (vec![3, 4], vec![]));
        assert_eq!(cut(&[1000], 256), (vec![256], vec![0]));
        assert_eq!(cut(&[2, 1000, 1], 256), (vec![2, 128, 1], vec![1]));
        // The first files may have one more.
        assert_eq!(cut(&[99, 99], 256), (vec![16, 16], vec![0, 1]));
        assert_eq!(cut(&[9, 9, 9], 100), (vec![5, 5, 4], vec![0, 1, 2]));
        assert_eq!(
            cut(&[2; 10], 8),
            (vec![2, 2, 2, 1, 1, 1, 1, 1, 1, 1], (3..10).collect())
        );
        assert_eq!(cut(&[], 8), (vec![], vec![]));
        assert_eq!(cut(&[5, 5], 1), (vec![1, 1], vec![0, 1]));
    }
}
