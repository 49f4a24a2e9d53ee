//! What was found.

use std::io;
use std::ops::Range;
use std::time::Duration;

use hashlane_metainfo::{FileKind, PieceIndex};

use crate::files::{FileFact, Found};
use crate::{FileIndex, Layout, PieceState};

/// What is known of a torrent's content: of every piece and of every file.
#[derive(Debug)]
pub struct Report {
    pieces: Vec<PieceState>,
    files: Vec<FileReport>,
    counts: PieceCounts,
    checked_bytes: u64,
    have_bytes: u64,
    elapsed: Duration,
    is_cancelled: bool,
}

impl Report {
    /// The state of each piece.
    pub fn pieces(&self) -> &[PieceState] {
        &self.pieces
    }

    /// The files in the torrent's order, without padding, which is no file.
    pub fn files(&self) -> &[FileReport] {
        &self.files
    }

    /// How many pieces are in each state.
    pub fn counts(&self) -> PieceCounts {
        self.counts
    }

    /// Bytes of the pieces whose state is known.
    pub fn checked_bytes(&self) -> u64 {
        self.checked_bytes
    }

    /// Bytes of the pieces that are there and right.
    pub fn have_bytes(&self) -> u64 {
        self.have_bytes
    }

    /// How long it took, on the clock.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Whether it ended early because somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }

    /// Whether everything is there: every piece, and every file that has no bytes.
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

    pub(crate) fn count(pieces: &[PieceState]) -> Self {
        let mut counts = Self::default();
        for piece in pieces {
            counts.add(*piece);
        }
        counts
    }

    pub(crate) fn add(&mut self, state: PieceState) {
        let count = match state {
            PieceState::Unchecked => &mut self.unchecked,
            PieceState::Have => &mut self.have,
            PieceState::Bad => &mut self.bad,
            PieceState::Missing => &mut self.missing,
            PieceState::Unreadable => &mut self.unreadable,
        };
        *count += 1;
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
    /// A symbolic link (BEP 47): it has no bytes, and was not looked at.
    Link,
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
}

/// Collects what workers find into a report.
#[derive(Debug)]
pub(crate) struct ReportBuilder<'a> {
    layout: Layout<'a>,
    pieces: Vec<PieceState>,
    heard: Vec<Heard>,
    counts: PieceCounts,
    checked_bytes: u64,
    have_bytes: u64,
}

impl<'a> ReportBuilder<'a> {
    pub(crate) fn new(layout: Layout<'a>) -> Self {
        let n_pieces = layout.lengths().piece_count();
        Self {
            layout,
            pieces: vec![PieceState::Unchecked; n_pieces as usize],
            heard: std::iter::repeat_with(Heard::default)
                .take(layout.files().len())
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

    /// Notes the state of a piece. Each piece comes once.
    pub(crate) fn piece(&mut self, piece: PieceIndex, state: PieceState) {
        debug_assert_eq!(self.pieces[piece.get() as usize], PieceState::Unchecked);
        self.pieces[piece.get() as usize] = state;
        self.counts.unchecked -= 1;
        self.counts.add(state);
        let len_bytes = u64::from(self.layout.lengths().piece_len(piece));
        self.checked_bytes += len_bytes;
        if state == PieceState::Have {
            self.have_bytes += len_bytes;
        }
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

    /// Files that no worker had to open: empty ones, and those whose pieces were judged by
    /// another file.
    pub(crate) fn unheard(&self) -> Vec<FileIndex> {
        let files = self.layout.files().zip(&self.heard);
        let files = files.filter(|((_, file), heard)| {
            let is_unheard =
                !heard.is_absent && heard.length_on_disk.is_none() && heard.error.is_none();
            is_unheard && file.kind() == FileKind::Regular
        });
        files.map(|((index, _), _)| index).collect()
    }

    pub(crate) fn build(self, elapsed: Duration, is_cancelled: bool) -> Report {
        let files = self.layout.files().zip(self.heard);
        let files = files.filter(|((_, file), _)| file.kind() != FileKind::Padding);
        let files = files.map(|((index, file), heard)| {
            let pieces = self.layout.pieces_of(index);
            let counts =
                PieceCounts::count(&self.pieces[pieces.start as usize..pieces.end as usize]);
            let state = if file.kind() != FileKind::Regular {
                FileState::Link
            } else if heard.error.is_some() {
                FileState::Unreadable
            } else if heard.is_absent {
                FileState::Missing
            } else if heard.length_on_disk.is_none() {
                FileState::Unchecked
            } else if counts.have == counts.total() {
                FileState::Whole
            } else {
                FileState::Partial
            };
            FileReport {
                index,
                state,
                length: file.length(),
                length_on_disk: heard.length_on_disk,
                pieces,
                counts,
                error: heard.error,
            }
        });
        Report {
            files: files.collect(),
            pieces: self.pieces,
            counts: self.counts,
            checked_bytes: self.checked_bytes,
            have_bytes: self.have_bytes,
            elapsed,
            is_cancelled,
        }
    }
}
