//! What was found.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use hashlane_metainfo::merkle::{self, LEAF_LEN, Node};
use hashlane_metainfo::{FileKind, PieceIndex, Torrent};
use hashlane_sha::Engine;

use crate::files::{Fault, FileFact, Found};
use crate::links::Link;
use crate::piece::PieceDigests;
use crate::{Families, FileIndex, Layout, PieceState};

/// What is known of a torrent's content: of every piece and of every file.
#[derive(Debug)]
pub struct Report {
    pieces: Vec<PieceState>,
    /// By family, where both are judged.
    by_family: Option<[Vec<PieceState>; 2]>,
    families: Families,
    files: Vec<FileReport>,
    counts: PieceCounts,
    checked_bytes: u64,
    have_bytes: u64,
    total_bytes: u64,
    elapsed: Duration,
    is_cancelled: bool,
}

impl Report {
    /// The state of each piece. Where both hash families are judged, it is the worse one: only
    /// what both of them say is there is there.
    pub fn pieces(&self) -> &[PieceState] {
        &self.pieces
    }

    /// Which hash families were judged.
    pub fn families(&self) -> Families {
        self.families
    }

    /// The state of each piece by its SHA-1 digest (BEP 3), if that was judged.
    pub fn pieces_v1(&self) -> Option<&[PieceState]> {
        let both = self.by_family.as_ref().map(|[v1, _]| v1);
        self.families.v1.then(|| &both.unwrap_or(&self.pieces)[..])
    }

    /// The state of each piece by its merkle tree (BEP 52), if that was judged.
    pub fn pieces_v2(&self) -> Option<&[PieceState]> {
        let both = self.by_family.as_ref().map(|[_, v2]| v2);
        self.families.v2.then(|| &both.unwrap_or(&self.pieces)[..])
    }

    /// The files in the torrent's order, without padding, which is no file.
    pub fn files(&self) -> &[FileReport] {
        &self.files
    }

    /// How many pieces of a file are in each state by the SHA-1 digests of pieces (BEP 3), if these
    /// were judged.
    ///
    /// # Panics
    /// If the file is of another report, with more pieces.
    pub fn counts_v1(&self, file: &FileReport) -> Option<PieceCounts> {
        let pieces = self.pieces_v1()?;
        Some(PieceCounts::of_range(pieces, &file.pieces))
    }

    /// How many pieces of a file are in each state by its merkle tree (BEP 52), if that was judged.
    ///
    /// # Panics
    /// If the file is of another report, with more pieces.
    pub fn counts_v2(&self, file: &FileReport) -> Option<PieceCounts> {
        let pieces = self.pieces_v2()?;
        Some(PieceCounts::of_range(pieces, &file.pieces))
    }

    /// How many pieces are in each state.
    pub fn counts(&self) -> PieceCounts {
        self.counts
    }

    /// Bytes of the pieces whose state is known, with their padding where version 1 is judged.
    pub fn checked_bytes(&self) -> u64 {
        self.checked_bytes
    }

    /// Bytes of files in the pieces that are there and right.
    pub fn have_bytes(&self) -> u64 {
        self.have_bytes
    }

    /// Bytes of all files.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// How long it took, on the clock.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Whether it ended early because somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }

    /// Whether everything is there: every piece, every file that has no bytes, and every link.
    pub fn is_complete(&self) -> bool {
        let is_there = |file: &FileReport| matches!(file.state, FileState::Whole | FileState::Link);
        self.counts.have as usize == self.pieces.len() && self.files.iter().all(is_there)
    }

    /// The pieces that are there and right as a bitfield: the first piece is the highest bit of
    /// the first byte, and spare bits at the end are zero (BEP 3, peer messages).
    pub fn bitfield(&self) -> Vec<u8> {
        let byte = |pieces: &[PieceState]| {
            let bits = pieces.iter().enumerate();
            bits.fold(0, |byte, (i, piece)| {
                byte | u8::from(*piece == PieceState::Have) << (7 - i)
            })
        };
        self.pieces.chunks(8).map(byte).collect()
    }
}

/// How many pieces are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "each is the number of pieces in the state of that name"
)]
pub struct PieceCounts {
    pub unchecked: u32,
    pub have: u32,
    pub bad: u32,
    pub unproven: u32,
    pub missing: u32,
    pub unreadable: u32,
}

impl PieceCounts {
    /// The number of pieces in a state.
    pub fn of(self, state: PieceState) -> u32 {
        match state {
            PieceState::Unchecked => self.unchecked,
            PieceState::Have => self.have,
            PieceState::Bad => self.bad,
            PieceState::Unproven => self.unproven,
            PieceState::Missing => self.missing,
            PieceState::Unreadable => self.unreadable,
        }
    }

    /// The number of all pieces.
    pub fn total(self) -> u32 {
        PieceState::ALL
            .into_iter()
            .map(|state| self.of(state))
            .sum()
    }

    fn of_range(pieces: &[PieceState], range: &Range<u32>) -> Self {
        let mut counts = Self::default();
        for piece in &pieces[range.start as usize..range.end as usize] {
            counts.add(*piece);
        }
        counts
    }

    pub(crate) fn add(&mut self, state: PieceState) {
        *self.of_mut(state) += 1;
    }

    fn remove(&mut self, state: PieceState) {
        *self.of_mut(state) -= 1;
    }

    fn of_mut(&mut self, state: PieceState) -> &mut u32 {
        match state {
            PieceState::Unchecked => &mut self.unchecked,
            PieceState::Have => &mut self.have,
            PieceState::Bad => &mut self.bad,
            PieceState::Unproven => &mut self.unproven,
            PieceState::Missing => &mut self.missing,
            PieceState::Unreadable => &mut self.unreadable,
        }
    }
}

/// What is known of one file.
#[derive(Debug)]
pub struct FileReport {
    /// Which file of the torrent.
    pub index: FileIndex,
    /// What it all amounts to.
    pub state: FileState,
    /// Its length in bytes, as the torrent has it.
    pub length: u64,
    /// Its length in bytes on the disk, if it is there.
    pub length_on_disk: Option<u64>,
    /// The indexes of the pieces that it has bytes in. Neighbours share the ones at the ends.
    pub pieces: Range<u32>,
    /// How many of these pieces are in each state.
    pub counts: PieceCounts,
    /// Where the link in the file's place leads to, if it is not the link of the torrent.
    pub found_target: Option<Box<Path>>,
    /// The first error that the system gave.
    pub error: Option<Box<FileError>>,
}

impl FileReport {
    /// How many bytes the file on the disk is longer than the torrent says. They belong to no
    /// piece and change nothing about any.
    pub fn extra_bytes(&self) -> u64 {
        self.length_on_disk
            .map_or(0, |on_disk| on_disk.saturating_sub(self.length))
    }
}

/// What is known of a file as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileState {
    /// It is there, and so is every piece that it has bytes in.
    Whole,
    /// It is there, and some of its pieces are not, or not right.
    Partial,
    /// It is not there.
    Missing,
    /// It is there, and could not be opened, or not be read somewhere.
    Unreadable,
    /// The verification was cancelled before the file was looked at.
    Unchecked,
    /// A symbolic link (BEP 47), as the torrent has it.
    Link,
    /// It should be a symbolic link (BEP 47), and is another one, or none.
    WrongLink,
}

impl FileState {
    /// The name in lower case, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Partial => "partial",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::Unchecked => "unchecked",
            Self::Link => "link",
            Self::WrongLink => "wrong link",
        }
    }
}

/// What the system said when a file was to be opened or read.
#[derive(Debug, thiserror::Error)]
#[error("{}{error}", .offset.map_or_else(String::new, |offset| format!("at byte {offset}: ")))]
pub struct FileError {
    /// From which byte of the file on it could not be read; `None` if it could not be opened.
    pub offset: Option<u64>,
    /// The system's error.
    #[source]
    pub error: io::Error,
}

/// What was heard of a file so far.
#[derive(Debug, Default)]
struct Heard {
    is_absent: bool,
    length_on_disk: Option<u64>,
    error: Option<Box<FileError>>,
    link: Option<Box<Link>>,
}

/// The pieces of a file that has but one hash for all of them.
#[derive(Debug)]
struct Unproven {
    /// The root of the tree over each piece; nothing before the first one, and after a fault.
    nodes: Vec<Node>,
    n_outstanding: usize,
    has_fault: bool,
}

/// Judges what workers find, and collects it into a report.
#[derive(Debug)]
pub(crate) struct ReportBuilder<'a> {
    torrent: &'a Torrent,
    layout: &'a Layout,
    engine: Engine,
    v1: Vec<PieceState>,
    v2: Vec<PieceState>,
    unproven: HashMap<FileIndex, Unproven>,
    heard: Vec<Heard>,
    counts: PieceCounts,
    checked_bytes: u64,
    have_bytes: u64,
}

impl<'a> ReportBuilder<'a> {
    pub(crate) fn new(torrent: &'a Torrent, layout: &'a Layout, engine: Engine) -> Self {
        let n_pieces = layout.lengths().piece_count();
        let states = |is_judged| {
            if is_judged {
                vec![PieceState::Unchecked; n_pieces as usize]
            } else {
                Vec::new()
            }
        };
        Self {
            torrent,
            layout,
            engine,
            v1: states(layout.families().v1),
            v2: states(layout.families().v2),
            unproven: HashMap::new(),
            heard: std::iter::repeat_with(Heard::default)
                .take(torrent.files().len())
                .collect(),
            counts: PieceCounts {
                unchecked: n_pieces,
                ..PieceCounts::default()
            },
            checked_bytes: 0,
            have_bytes: 0,
        }
    }

    pub(crate) fn counts(&self) -> PieceCounts {
        self.counts
    }

    pub(crate) fn checked_bytes(&self) -> u64 {
        self.checked_bytes
    }

    /// Whether pieces are missing that should have come.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.counts.unchecked > 0
    }

    /// Notes the digests of a piece, or why there are none. Each piece comes once.
    pub(crate) fn piece(&mut self, piece: PieceIndex, result: Result<PieceDigests, Fault>) {
        self.checked_bytes += u64::from(self.layout.piece_len(piece));
        let judged = |is_right| {
            if is_right {
                PieceState::Have
            } else {
                PieceState::Bad
            }
        };
        if let Some(hashes) = self.torrent.piece_hashes().filter(|_| !self.v1.is_empty()) {
            let state = match result {
                Ok(digests) => judged(digests.v1 == Some(hashes[piece.get() as usize])),
                Err(fault) => fault.into(),
            };
            self.set(piece, |builder| &mut builder.v1, state);
        }
        if self.v2.is_empty() {
            return;
        }
        let root = result.map(|digests| digests.v2);
        let file = self.layout.file_of(piece);
        let entry = self.torrent.file(file.get());
        let pieces = self.layout.pieces_of(file);
        let place = (piece.get() - pieces.start) as usize;
        let expected = match (entry.piece_layer(), pieces.len()) {
            (Some(layer), _) => Some(&layer[place]),
            (None, 1) => entry.pieces_root(),
            (None, _) => None,
        };
        match (expected, root) {
            (Some(expected), Ok(root)) => {
                let state = judged(root.as_ref() == Some(expected));
                self.set(piece, |builder| &mut builder.v2, state);
            }
            (Some(_), Err(fault)) => self.set(piece, |builder| &mut builder.v2, fault.into()),
            (None, root) => self.piece_of_unproven(file, place, root),
        }
    }

    /// Notes the root of a piece that can only be judged together with all others of its file.
    fn piece_of_unproven(
        &mut self,
        file: FileIndex,
        place: usize,
        root: Result<Option<Node>, Fault>,
    ) {
        let pieces = self.layout.pieces_of(file);
        let unproven = self.unproven.entry(file).or_insert_with(|| Unproven {
            nodes: Vec::new(),
            n_outstanding: pieces.len(),
            has_fault: false,
        });
        unproven.n_outstanding -= 1;
        match root {
            Ok(root) if !unproven.has_fault => {
                unproven.nodes.resize(pieces.len(), [0; 32]);
                unproven.nodes[place] = root.unwrap_or_default();
            }
            Ok(_) => {}
            Err(fault) => {
                unproven.has_fault = true;
                unproven.nodes = Vec::new();
                let piece = self.layout.lengths().piece(pieces.start + place as u32);
                let piece = piece.expect("the piece is of this file");
                self.set(piece, |builder| &mut builder.v2, fault.into());
            }
        }
        if self.unproven[&file].n_outstanding > 0 {
            return;
        }
        let unproven = self.unproven.remove(&file).expect("it was there just now");
        let piece_length = self.layout.lengths().piece_length().get();
        let height = (piece_length / LEAF_LEN).trailing_zeros();
        let root = self.torrent.file(file.get()).pieces_root();
        let is_right = !unproven.has_fault
            && root == Some(&merkle::root_over(self.engine, &unproven.nodes, height));
        let state = if is_right {
            PieceState::Have
        } else {
            PieceState::Unproven
        };
        for piece in pieces.filter_map(|index| self.layout.lengths().piece(index)) {
            if self.v2[piece.get() as usize] == PieceState::Unchecked {
                self.set(piece, |builder| &mut builder.v2, state);
            }
        }
    }

    /// Sets the state of a piece in one family, and keeps what follows from both.
    fn set(
        &mut self,
        piece: PieceIndex,
        family: impl Fn(&mut Self) -> &mut Vec<PieceState>,
        state: PieceState,
    ) {
        let before = self.state(piece.get() as usize);
        let in_family = &mut family(self)[piece.get() as usize];
        debug_assert_eq!(*in_family, PieceState::Unchecked, "each piece comes once");
        *in_family = state;
        let after = self.state(piece.get() as usize);
        self.counts.remove(before);
        self.counts.add(after);
        if after == PieceState::Have {
            self.have_bytes += self.layout.content_len(piece);
        }
    }

    /// What a piece is by all families that are judged.
    fn state(&self, piece: usize) -> PieceState {
        let states = [self.v1.get(piece), self.v2.get(piece)];
        let states = states.into_iter().flatten().copied();
        states.reduce(PieceState::and).unwrap_or_default()
    }

    /// Notes something about a file. The same may come from several workers.
    pub(crate) fn file(&mut self, fact: FileFact) {
        let heard = &mut self.heard[fact.file.get()];
        match fact.found {
            Found::Present(length) => heard.length_on_disk = Some(length),
            Found::Absent => heard.is_absent = true,
            Found::Failed { offset, error } => {
                // Several workers come across errors in no fixed order: the first byte is kept.
                if heard
                    .error
                    .as_ref()
                    .is_none_or(|known| offset < known.offset)
                {
                    heard.error = Some(Box::new(FileError { offset, error }));
                }
            }
        }
    }

    /// Notes what was found in the place of a link.
    pub(crate) fn link(&mut self, file: FileIndex, link: Link) {
        self.heard[file.get()].link = Some(Box::new(link));
    }

    pub(crate) fn is_link(&self, file: FileIndex) -> bool {
        matches!(
            self.torrent.file(file.get()).kind(),
            FileKind::Symlink { .. }
        )
    }

    /// Files that no worker had to open: empty ones, links, and those whose pieces were judged by
    /// another file.
    pub(crate) fn unheard(&self) -> Vec<FileIndex> {
        let files = self.torrent.files().iter().zip(&self.heard).enumerate();
        let files = files.filter(|(_, (file, heard))| {
            let is_unheard =
                !heard.is_absent && heard.length_on_disk.is_none() && heard.error.is_none();
            is_unheard && file.kind() != FileKind::Padding
        });
        files.map(|(index, _)| FileIndex::new(index)).collect()
    }

    pub(crate) fn build(mut self, elapsed: Duration, is_cancelled: bool) -> Report {
        let n_pieces = self.layout.lengths().piece_count() as usize;
        let pieces: Vec<PieceState> = (0..n_pieces).map(|piece| self.state(piece)).collect();
        // Not what the builder counts: some of these bytes may be of a file without a piece layer
        // that was not heard of to its end, and then they tell nothing.
        let known = self.layout.lengths().pieces().zip(&pieces);
        let known = known.filter(|(_, state)| **state != PieceState::Unchecked);
        let known = known.map(|(piece, _)| u64::from(self.layout.piece_len(piece)));
        let checked_bytes = known.sum();
        let heard = std::mem::take(&mut self.heard);
        let files = self.torrent.files().iter().zip(heard).enumerate();
        let files = files.filter(|(_, (file, _))| file.kind() != FileKind::Padding);
        let files = files.map(|(index, (file, heard))| {
            let index = FileIndex::new(index);
            let range = self.layout.pieces_of(index);
            let counts = PieceCounts::of_range(&pieces, &range);
            let (state, found_target, error) = match heard.link {
                Some(link) => of_link(*link),
                None => (
                    of_file(&heard, counts, self.is_link(index)),
                    None,
                    heard.error,
                ),
            };
            FileReport {
                index,
                state,
                length: file.length(),
                length_on_disk: heard.length_on_disk,
                counts,
                pieces: range,
                found_target,
                error,
            }
        });
        let files = files.collect();
        let families = self.layout.families();
        Report {
            files,
            pieces,
            by_family: (families.v1 && families.v2).then_some([self.v1, self.v2]),
            families,
            counts: self.counts,
            checked_bytes,
            have_bytes: self.have_bytes,
            total_bytes: self.layout.content_bytes(),
            elapsed,
            is_cancelled,
        }
    }
}

fn of_file(heard: &Heard, counts: PieceCounts, is_link: bool) -> FileState {
    if heard.error.is_some() {
        FileState::Unreadable
    } else if heard.is_absent {
        FileState::Missing
    } else if heard.length_on_disk.is_none() || is_link {
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

impl From<Fault> for PieceState {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Missing => Self::Missing,
            Fault::Unreadable => Self::Unreadable,
        }
    }
}
