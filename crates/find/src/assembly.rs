//! Damaged files, piece by piece: which candidates have each piece, and new files of the right pieces.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::Path;

use hashlane_files::{AtomicFile, Overwrite, SourceFile, clone_or_copy, write_all_at};
use hashlane_metainfo::Torrent;
use hashlane_pipeline::{CancelToken, Error, FileIndex, Options, Progress};

use crate::candidates::Candidates;
use crate::found::{FileMatch, FoundTorrent, Place};
use crate::names::NewNames;
use crate::probe::{Probe, Probes};
use crate::search::{MAX_COMBINATIONS, MAX_DAMAGED, combinations, n_combinations};
use crate::wanted::Target;

/// Number of bytes to copy at a time.
const COPY_LEN: usize = 1 << 20;

/// The candidates that have the right pieces of damaged files.
#[derive(Debug)]
pub struct Assembly<'t> {
    target: Target<'t>,
    damaged: BTreeSet<FileIndex>,
    /// For each piece that some candidates have: a candidate for each of its files, in order.
    right: BTreeMap<u32, Vec<u32>>,
    /// The pieces that a candidate has of a file.
    pieces_of: BTreeMap<(FileIndex, u32), BTreeSet<u32>>,
}

/// A new file that was made of the right pieces of several candidates.
#[derive(Debug)]
#[non_exhaustive]
pub struct Merged {
    /// The candidates that have a part in it.
    pub sources: BTreeSet<u32>,
    /// Number of pieces that no candidate has.
    pub missing_pieces: u32,
    /// Number of bytes of the file in these pieces. They are those of the best candidate.
    pub unproven_bytes: u64,
}

/// Compares all pieces of damaged files with the candidates of their lengths: at most eight for each file, or those of its name
/// if there are more. The other files of their pieces are taken from where they were found. Only reads.
///
/// # Errors
/// The system cannot hash at all.
pub fn assemble<'t>(
    torrent: &'t Torrent,
    found: &FoundTorrent,
    damaged: impl IntoIterator<Item = FileIndex>,
    candidates: &Candidates,
    options: &Options,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(Progress),
) -> Result<Assembly<'t>, Error> {
    let mut assembly = Assembly {
        target: Target::new(torrent),
        damaged: damaged.into_iter().collect(),
        right: BTreeMap::new(),
        pieces_of: BTreeMap::new(),
    };
    let has_others = |file: &FileIndex| assembly.choices(*file, found, candidates).len() > 1;
    let damaged = assembly.damaged.iter().copied().filter(has_others);
    assembly.damaged = damaged.collect();
    let files = assembly.damaged.iter();
    let pieces: BTreeSet<u32> = files
        .flat_map(|file| assembly.target.layout.pieces_of(*file))
        .collect();
    let tries: Vec<(u32, Vec<u32>, Probe)> = pieces
        .into_iter()
        .flat_map(|piece| assembly.tries(piece, found, candidates))
        .collect();
    let mut probes = Probes::new(candidates, None, options, cancel);
    let wanted = tries.iter().map(|(_, _, probe)| probe.clone());
    probes.run(wanted, |hashed_bytes, total_bytes| {
        progress(Progress {
            hashed_bytes,
            total_bytes,
        });
    })?;
    for (piece, choice, probe) in tries {
        let expected = assembly.target.expected(assembly.target.piece(piece));
        if expected.is_some_and(|expected| probes.matches(&probe, expected)) {
            let files: Vec<FileIndex> = assembly.target.files_in(piece).collect();
            for (file, candidate) in files.into_iter().zip(&choice) {
                let pieces = assembly.pieces_of.entry((file, *candidate));
                pieces.or_default().insert(piece);
            }
            assembly.right.entry(piece).or_insert(choice);
        }
    }
    Ok(assembly)
}

impl Assembly<'_> {
    /// Returns the combinations of candidates to try for a piece.
    fn tries(
        &self,
        piece: u32,
        found: &FoundTorrent,
        candidates: &Candidates,
    ) -> Vec<(u32, Vec<u32>, Probe)> {
        if self.target.expected(self.target.piece(piece)).is_none() {
            return Vec::new();
        }
        let files = self.target.files_in(piece);
        let mut choices: Vec<Vec<u32>> = files
            .map(|file| self.choices(file, found, candidates))
            .collect();
        if choices.iter().any(Vec::is_empty) {
            return Vec::new();
        }
        while n_combinations(&choices) > MAX_COMBINATIONS {
            let longest = choices.iter_mut().max_by_key(|choice| choice.len());
            longest.map(Vec::pop);
        }
        let choices = combinations(&choices);
        let tries = choices.map(|choice| {
            let probe = self.target.probe(piece, choice.iter().copied());
            (piece, choice, probe)
        });
        tries.collect()
    }

    /// Returns the candidates of a file, the one that was found first.
    fn choices(&self, file: FileIndex, found: &FoundTorrent, candidates: &Candidates) -> Vec<u32> {
        let first = found.files[file.get()].candidate();
        if first.is_some() && !self.damaged.contains(&file) {
            return first.into_iter().collect();
        }
        let wanted = self.target.torrent.file(file.get());
        let all = candidates.of_len(wanted.length());
        let name = wanted.path().file_name().to_os_str();
        let others = match name {
            Ok(name) if all.len() > MAX_DAMAGED => candidates.of_name(wanted.length(), name),
            _ => all,
        };
        let others = others.iter().copied().filter(|it| Some(*it) != first);
        first.into_iter().chain(others).take(MAX_DAMAGED).collect()
    }

    /// Returns the number of right pieces that a candidate has of a file.
    fn count(&self, file: FileIndex, candidate: u32) -> usize {
        let pieces = self.pieces_of.get(&(file, candidate));
        pieces.map_or(0, BTreeSet::len)
    }

    /// Puts the candidate with the most right pieces in the place of each damaged file, if it has more than the present one.
    /// Returns `true` if a file has another candidate now.
    pub fn improve(&self, found: &mut FoundTorrent) -> bool {
        let mut is_better = false;
        for file in &self.damaged {
            let place = &mut found.files[file.get()];
            let known = place.candidate();
            let of_file = self.pieces_of.range((*file, 0)..=(*file, u32::MAX));
            // The first of several that have as many.
            let best = of_file.rev().max_by_key(|(_, pieces)| pieces.len());
            let Some(((_, best), pieces)) = best else {
                continue;
            };
            let before = known.map_or(0, |known| self.count(*file, known));
            if pieces.len() <= before {
                continue;
            }
            is_better = true;
            let total = self.target.layout.pieces_of(*file).len();
            *place = match_of(*best, pieces.len(), total);
        }
        is_better
    }

    /// Writes a new file of the right pieces of several candidates, and puts it in the place of a damaged file. The bytes of
    /// the other pieces are those of the candidate that was found. No candidate is changed, and nothing is replaced.
    ///
    /// The new file gets the torrent's name below `folder`. Returns `None` if no other candidate has a piece that the present one
    /// lacks. Nothing is written then.
    ///
    /// # Errors
    /// `AlreadyExists` if something has the name; `Interrupted` after `cancel`; otherwise the system's error for the new file or a
    /// candidate.
    pub fn merge(
        &self,
        file: FileIndex,
        found: &mut FoundTorrent,
        candidates: &mut Candidates,
        folder: &Path,
        cancel: &CancelToken,
    ) -> io::Result<Option<Merged>> {
        let Some(base) = found.files[file.get()].candidate() else {
            return Ok(None);
        };
        let layout = &self.target.layout;
        let pieces = layout.pieces_of(file);
        let right = pieces
            .clone()
            .filter(|piece| self.right.contains_key(piece));
        let n_right = right.count();
        if n_right <= self.count(file, base) {
            return Ok(None);
        }
        cancel.check()?;
        let names = NewNames::in_folder(self.target.torrent, folder)?;
        let path = names.path_of(file)?;
        names.make_folders(&path)?;
        // As for any new file, the umask takes permissions away.
        let new = AtomicFile::beside(&path, 0o666)?;
        let source = SourceFile::open(candidates.path(base))?;
        clone_or_copy(&source, new.as_file(), cancel)?;
        let mut merged = Merged {
            sources: BTreeSet::from([base]),
            missing_pieces: 0,
            unproven_bytes: 0,
        };
        let has_base = |piece: &u32| {
            let pieces = self.pieces_of.get(&(file, base));
            pieces.is_some_and(|pieces| pieces.contains(piece))
        };
        for piece in pieces.clone() {
            cancel.check()?;
            let mut extents = self.target.extents(piece);
            let Some(extent) = extents.find(|it| it.file == Some(file)) else {
                continue;
            };
            let Some(choice) = self.right.get(&piece) else {
                merged.missing_pieces += 1;
                merged.unproven_bytes += extent.len_bytes;
                continue;
            };
            if has_base(&piece) {
                continue;
            }
            let files = self.target.files_in(piece).zip(choice);
            let chosen = files.filter(|(other, _)| *other == file);
            for (_, candidate) in chosen {
                merged.sources.insert(*candidate);
                let source = SourceFile::open(candidates.path(*candidate))?;
                copy_range(&source, new.as_file(), extent.offset, extent.len_bytes)?;
            }
        }
        new.put(&path, Overwrite::No)?;
        let candidate = candidates.push(path, source.len_bytes());
        found.files[file.get()] = match_of(candidate, n_right, pieces.len());
        Ok(Some(merged))
    }
}

/// Returns the result for a file whose pieces were all compared.
fn match_of(candidate: u32, right: usize, total: usize) -> FileMatch {
    if right == total {
        return FileMatch::Identified(Place {
            candidate,
            others: Vec::new(),
        });
    }
    // A torrent has at most as many pieces as a u32 can count.
    FileMatch::Partial {
        candidate,
        right: right as u32,
        checked: total as u32,
    }
}

fn copy_range(from: &SourceFile, to: &File, offset: u64, len_bytes: u64) -> io::Result<()> {
    let mut buffer = vec![0; len_bytes.min(COPY_LEN as u64) as usize];
    let mut at = offset;
    while at < offset + len_bytes {
        let n = (offset + len_bytes - at).min(COPY_LEN as u64) as usize;
        from.read_exact_at(&mut buffer[..n], at)?;
        write_all_at(to, &buffer[..n], at)?;
        at += n as u64;
    }
    Ok(())
}
