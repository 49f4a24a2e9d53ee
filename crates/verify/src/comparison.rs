//! Comparison of computed digests with the torrent's digests.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use hashlane_metainfo::merkle::{self, LEAF_LEN, Node};
use hashlane_metainfo::{FileKind, PieceIndex, Torrent};
use hashlane_pipeline::{CancelToken, Fault, FileFact, FileIndex, Found, MessageHasher as _};
use hashlane_sha::Engine;

use crate::file_report::{FileError, FileReport, FileState};
use crate::layout::Layout;
use crate::links::Link;
use crate::piece::{PieceCounts, PieceState};
use crate::piece_hasher::{PieceDigests, PieceHasher, piece_hasher};
use crate::report::Report;

/// The facts that are known about a file so far.
#[derive(Debug, Default)]
struct FileFacts {
    is_absent: bool,
    length_on_disk: Option<u64>,
    error: Option<Box<FileError>>,
    link: Option<Box<Link>>,
}

/// The pieces of a file that has only one hash for all of them.
#[derive(Debug)]
struct WholeFile {
    /// The root of the tree over each piece. Empty before the first piece, and after a fault.
    nodes: Vec<Node>,
    n_outstanding: usize,
    has_fault: bool,
}

/// Compares digests of pieces with the torrent's digests, and collects the states for a report.
pub(crate) struct Comparison<'a> {
    /// Computes the digests of pieces of zeros.
    zeros: PieceHasher<'a>,
    /// The wrong pieces that are all zeros on the disk.
    zero_pieces: Vec<u32>,
    torrent: &'a Torrent,
    layout: &'a Layout,
    engine: Engine,
    /// Gets the states of pieces as they become known.
    watch: Watch<'a>,
    v1: Vec<PieceState>,
    v2: Vec<PieceState>,
    whole_files: HashMap<FileIndex, WholeFile>,
    facts: Vec<FileFacts>,
    counts: PieceCounts,
    checked_bytes: u64,
    have_bytes: u64,
    n_trusted: u32,
}

/// A function that gets states of pieces.
pub(crate) type Watch<'a> = &'a (dyn Fn(PieceIndex, PieceState) + Sync);

impl<'a> Comparison<'a> {
    pub(crate) fn new(
        torrent: &'a Torrent,
        layout: &'a Layout,
        engine: Engine,
        watch: Watch<'a>,
    ) -> Self {
        let n_pieces = layout.lengths().piece_count();
        let states = |is_verified| {
            if is_verified {
                vec![PieceState::Unchecked; n_pieces as usize]
            } else {
                Vec::new()
            }
        };
        Self {
            zeros: piece_hasher(layout, engine),
            zero_pieces: Vec::new(),
            torrent,
            layout,
            engine,
            watch,
            v1: states(layout.hash_versions().v1),
            v2: states(layout.hash_versions().v2),
            whole_files: HashMap::new(),
            facts: std::iter::repeat_with(FileFacts::default)
                .take(torrent.files().len())
                .collect(),
            counts: PieceCounts {
                unchecked: n_pieces,
                ..PieceCounts::default()
            },
            checked_bytes: 0,
            have_bytes: 0,
            n_trusted: 0,
        }
    }

    pub(crate) fn counts(&self) -> PieceCounts {
        self.counts
    }

    pub(crate) fn checked_bytes(&self) -> u64 {
        self.checked_bytes
    }

    /// Notes that a piece is present and correct without its digests. Called once per piece, in place of
    /// [`Self::piece`].
    pub(crate) fn trusted(&mut self, piece: PieceIndex) {
        self.checked_bytes += u64::from(self.layout.piece_len(piece));
        self.n_trusted += 1;
        if !self.v1.is_empty() {
            self.set(piece, |comparison| &mut comparison.v1, PieceState::Have);
        }
        if !self.v2.is_empty() {
            self.set(piece, |comparison| &mut comparison.v2, PieceState::Have);
        }
    }

    /// Notes the digests of the piece of a message, or its fault. Called once per piece.
    pub(crate) fn piece(&mut self, message: u32, result: Result<PieceDigests, Fault>) {
        let piece = self.layout.piece(message);
        self.checked_bytes += u64::from(self.layout.piece_len(piece));
        if let Some(hashes) = self.torrent.piece_hashes().filter(|_| !self.v1.is_empty()) {
            let expected = Some(hashes[piece.get() as usize].into());
            let state = self.state_of(message, result, |digests| digests.0 == expected);
            self.set(piece, |comparison| &mut comparison.v1, state);
        }
        if self.v2.is_empty() {
            return;
        }
        let expected = self.layout.root_of(self.torrent, piece);
        if expected.is_some() {
            let state = self.state_of(message, result, |digests| digests.1.as_ref() == expected);
            self.set(piece, |comparison| &mut comparison.v2, state);
        } else {
            let file = self.layout.file_of(piece);
            let place = (piece.get() - self.layout.pieces_of(file).start) as usize;
            let first_message = message - place as u32;
            self.piece_of_whole_file(file, place, first_message, result.map(|(_, root)| root));
        }
    }

    /// Returns the state of a piece by one hash version.
    fn state_of(
        &mut self,
        message: u32,
        result: Result<PieceDigests, Fault>,
        is_right: impl FnOnce(&PieceDigests) -> bool,
    ) -> PieceState {
        match result {
            Ok(digests) if is_right(&digests) => PieceState::Have,
            Ok(digests) if self.zeros_of(message) == Some(digests) => {
                self.zero_pieces.push(self.layout.piece(message).get());
                PieceState::Missing
            }
            Ok(_) => PieceState::Bad,
            Err(fault) => fault.into(),
        }
    }

    /// Returns the digests that the piece of a message has if its files contain only zeros there. Returns `None` for a
    /// piece of padding, which is not on the disk.
    ///
    /// The digests show the bytes that were hashed, so nothing is read again.
    fn zeros_of(&mut self, message: u32) -> Option<PieceDigests> {
        let piece = self.layout.piece(message);
        if self.layout.content_len(piece) == 0 {
            return None;
        }
        let len_bytes = self.layout.piece_len(piece).into();
        self.zeros
            .zeros(message, len_bytes, &CancelToken::default())
    }

    /// Notes the root of a piece in a file that can only be verified as a whole. The pieces of such a file are
    /// consecutive messages.
    fn piece_of_whole_file(
        &mut self,
        file: FileIndex,
        place: usize,
        first_message: u32,
        root: Result<Option<Node>, Fault>,
    ) {
        let pieces = self.layout.pieces_of(file);
        let whole = self.whole_files.entry(file).or_insert_with(|| WholeFile {
            nodes: Vec::new(),
            n_outstanding: pieces.len(),
            has_fault: false,
        });
        whole.n_outstanding -= 1;
        match root {
            Ok(root) if !whole.has_fault => {
                whole.nodes.resize(pieces.len(), [0; 32]);
                whole.nodes[place] = root.unwrap_or_default();
            }
            Ok(_) => {}
            Err(fault) => {
                whole.has_fault = true;
                whole.nodes = Vec::new();
                let piece = self.layout.lengths().piece(pieces.start + place as u32);
                let piece = piece.expect("the piece is of this file");
                self.set(piece, |comparison| &mut comparison.v2, fault.into());
            }
        }
        if self.whole_files[&file].n_outstanding > 0 {
            return;
        }
        let whole = self.whole_files.remove(&file).expect("the entry exists");
        let piece_length = self.layout.lengths().piece_length().get();
        let height = (piece_length / LEAF_LEN).trailing_zeros();
        let root = self.torrent.file(file.get()).pieces_root();
        let is_right =
            !whole.has_fault && root == Some(&merkle::root_over(self.engine, &whole.nodes, height));
        let mut roots = (first_message..).zip(&whole.nodes);
        let state = if is_right {
            PieceState::Have
        } else if !whole.has_fault
            && roots.all(|(message, root)| {
                let zeros = self.zeros_of(message);
                zeros.is_some_and(|(_, zeros)| zeros.as_ref() == Some(root))
            })
        {
            self.zero_pieces.extend(pieces.clone());
            PieceState::Missing
        } else {
            PieceState::Unproven
        };
        for piece in pieces.filter_map(|index| self.layout.lengths().piece(index)) {
            if self.v2[piece.get() as usize] == PieceState::Unchecked {
                self.set(piece, |comparison| &mut comparison.v2, state);
            }
        }
    }

    /// Sets the state of a piece for one hash version, and updates the totals.
    fn set(
        &mut self,
        piece: PieceIndex,
        states: impl Fn(&mut Self) -> &mut Vec<PieceState>,
        state: PieceState,
    ) {
        let before = self.state(piece.get() as usize);
        let known = &mut states(self)[piece.get() as usize];
        debug_assert_eq!(*known, PieceState::Unchecked, "each piece comes once");
        *known = state;
        let after = self.state(piece.get() as usize);
        self.counts.remove(before);
        self.counts.add(after);
        if after != before {
            (self.watch)(piece, after);
        }
        if after == PieceState::Have {
            self.have_bytes += self.layout.content_len(piece);
        }
    }

    /// Returns the state of a piece by all verified hash versions.
    fn state(&self, piece: usize) -> PieceState {
        let states = [self.v1.get(piece), self.v2.get(piece)];
        let states = states.into_iter().flatten().copied();
        states.reduce(PieceState::and).unwrap_or_default()
    }

    /// Notes a fact about a file. The same fact may come from several workers.
    pub(crate) fn file(&mut self, fact: FileFact) {
        let facts = &mut self.facts[fact.file.get()];
        match fact.found {
            Found::Present(length) => facts.length_on_disk = Some(length),
            Found::Absent(_) => facts.is_absent = true,
            Found::Skipped => unreachable!("only whole files are skipped"),
            Found::Failed { offset, error } => {
                // Workers report errors in any order, so the lowest offset is kept.
                if facts
                    .error
                    .as_ref()
                    .is_none_or(|known| offset < known.offset)
                {
                    facts.error = Some(Box::new(FileError { offset, error }));
                }
            }
        }
    }

    /// Notes the entry that was found in place of a link.
    pub(crate) fn link(&mut self, file: FileIndex, link: Link) {
        self.facts[file.get()].link = Some(Box::new(link));
    }

    pub(crate) fn is_link(&self, file: FileIndex) -> bool {
        matches!(
            self.torrent.file(file.get()).kind(),
            FileKind::Symlink { .. }
        )
    }

    /// Returns the files that no worker opened: empty files, links, and files whose pieces were settled
    /// by another file.
    pub(crate) fn unknown_files(&self) -> Vec<FileIndex> {
        let files = self.torrent.files().iter().zip(&self.facts).enumerate();
        let files = files.filter(|(_, (file, facts))| {
            let is_unknown =
                !facts.is_absent && facts.length_on_disk.is_none() && facts.error.is_none();
            is_unknown && file.kind() != FileKind::Padding
        });
        files.map(|(index, _)| FileIndex::new(index)).collect()
    }

    pub(crate) fn build(mut self, elapsed: Duration, is_cancelled: bool) -> Report {
        let n_pieces = self.layout.lengths().piece_count() as usize;
        let pieces: Vec<PieceState> = (0..n_pieces).map(|piece| self.state(piece)).collect();
        // `self.checked_bytes` would be wrong here: it can include bytes of a file without a piece layer that was not
        // read to its end. The states of such pieces are unknown.
        let known = self.layout.lengths().pieces().zip(&pieces);
        let known = known.filter(|(_, state)| **state != PieceState::Unchecked);
        let known = known.map(|(piece, _)| u64::from(self.layout.piece_len(piece)));
        let checked_bytes = known.sum();
        // A piece of a hybrid torrent can be noted for each version.
        self.zero_pieces.sort_unstable();
        self.zero_pieces.dedup();
        let n_zero_before = |piece: u32| self.zero_pieces.partition_point(|zero| *zero < piece);
        let facts = std::mem::take(&mut self.facts);
        let files = self.torrent.files().iter().zip(facts).enumerate();
        let files = files.filter(|(_, (file, _))| file.kind() != FileKind::Padding);
        let files = files.map(|(index, (file, facts))| {
            let index = FileIndex::new(index);
            let range = self.layout.pieces_of(index);
            let counts = PieceCounts::of_range(&pieces, &range);
            let (state, found_target, error) = match facts.link {
                Some(link) => of_link(*link),
                None => (
                    of_file(&facts, counts, self.is_link(index)),
                    None,
                    facts.error,
                ),
            };
            let has_length = facts.length_on_disk >= Some(file.length());
            let n_zero = n_zero_before(range.end) - n_zero_before(range.start);
            FileReport {
                index,
                state,
                zero_pieces: if has_length { n_zero as u32 } else { 0 },
                length: file.length(),
                length_on_disk: facts.length_on_disk,
                counts,
                pieces: range,
                found_target,
                error,
            }
        });
        let files = files.collect();
        let versions = self.layout.hash_versions();
        Report {
            files,
            pieces,
            by_version: (versions.v1 && versions.v2).then_some([self.v1, self.v2]),
            versions,
            counts: self.counts,
            checked_bytes,
            have_bytes: self.have_bytes,
            n_trusted: self.n_trusted,
            total_bytes: self.layout.content_bytes(),
            elapsed,
            is_cancelled,
        }
    }
}

fn of_file(facts: &FileFacts, counts: PieceCounts, is_link: bool) -> FileState {
    if facts.error.is_some() {
        FileState::Unreadable
    } else if facts.is_absent {
        FileState::Missing
    } else if facts.length_on_disk.is_none() || is_link {
        FileState::Unchecked
    } else if counts.have == counts.total() {
        FileState::Whole
    } else {
        FileState::Partial
    }
}

fn of_link(link: Link) -> (FileState, Option<Box<Path>>, Option<Box<FileError>>) {
    match link {
        Link::Right => (FileState::Link, None, None),
        Link::Elsewhere(target) => (FileState::WrongLink, Some(target.into()), None),
        Link::Other => (FileState::WrongLink, None, None),
        Link::Absent => (FileState::Missing, None, None),
        Link::Failed(error) => {
            let error = FileError {
                offset: None,
                error,
            };
            (FileState::Unreadable, None, Some(Box::new(error)))
        }
    }
}
