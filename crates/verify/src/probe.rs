//! Tells by a few pieces whether a file of any name has the content of a torrent's file.

use std::io;
use std::path::{Path, PathBuf};

use hashlane_metainfo::{PieceIndex, Torrent};
use hashlane_pipeline::{CancelToken, FileIndex, FileSet, Options};

use crate::layout::{HashVersions, Layout};
use crate::piece::PieceState;
use crate::verify::Verification;

/// Maximum number of pieces of a file that are hashed.
const MAX_PIECES: usize = 3;

/// Compares files of any name with the files of a torrent, by few pieces.
#[derive(Debug)]
pub struct Probe<'t> {
    torrent: &'t Torrent,
    layout: Layout,
    options: Options,
    cancel: CancelToken,
    /// Number of bytes that may still be hashed.
    left_bytes: u64,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The file has the right length, and one of its pieces is right. The other pieces can be damaged.
    Identified,
    /// The file has another length, or all pieces that were hashed are wrong.
    Other,
    /// Nothing decides: every piece of the file also contains bytes of other files, the limit of bytes is reached, or the
    /// file cannot be read.
    Undecided,
}

impl<'t> Probe<'t> {
    /// Returns a probe that hashes at most `max_bytes` bytes in all of its comparisons together.
    pub fn new(
        torrent: &'t Torrent,
        options: &Options,
        cancel: &CancelToken,
        max_bytes: u64,
    ) -> Self {
        let all = HashVersions::of(torrent.version());
        // A file can have one hash of version 2 for all of its pieces, and then no piece decides alone.
        let versions = HashVersions {
            v1: all.v1,
            v2: !all.v1,
        };
        Self {
            torrent,
            layout: Layout::new(torrent, versions),
            options: *options,
            cancel: cancel.clone(),
            left_bytes: max_bytes,
        }
    }

    /// Compares the file at `path` with a file of the torrent.
    ///
    /// # Panics
    /// Panics if the index belongs to another torrent, with more files.
    pub fn compare(&mut self, file: FileIndex, path: &Path) -> Identity {
        let length = self.torrent.file(file.get()).length();
        match path.metadata() {
            Ok(found) if found.is_file() && found.len() == length => {}
            Ok(_) => return Identity::Other,
            Err(_) => return Identity::Undecided,
        }
        let files = OneFile { file, path };
        let mut is_decided = false;
        for piece in self.own_pieces(file) {
            let len_bytes = self.layout.piece_len(piece).into();
            let Some(left_bytes) = self.left_bytes.checked_sub(len_bytes) else {
                break;
            };
            self.left_bytes = left_bytes;
            let verification = Verification::of(self.torrent, &files)
                .versions(self.layout.hash_versions())
                .options(self.options)
                .cancel(&self.cancel)
                .pieces(piece.get()..piece.get() + 1);
            let Ok(report) = verification.run(|_| ()) else {
                return Identity::Undecided;
            };
            match report.pieces()[piece.get() as usize] {
                PieceState::Have => return Identity::Identified,
                // A hole, or zeros of a download that has not arrived.
                PieceState::Missing | PieceState::Bad | PieceState::Unproven => is_decided = true,
                PieceState::Unreadable | PieceState::Unchecked => {}
            }
        }
        if is_decided {
            Identity::Other
        } else {
            Identity::Undecided
        }
    }

    /// Returns the first, the middle and the last piece of those that contain no bytes of other files.
    fn own_pieces(&self, file: FileIndex) -> Vec<PieceIndex> {
        let lengths = self.layout.lengths();
        let is_own = |piece: &PieceIndex| {
            let mut extents = self.layout.extents(*piece);
            extents.all(|extent| extent.file.is_none_or(|other| other == file))
        };
        // Only the first and the last piece can be shared.
        let mut pieces = self.layout.pieces_of(file);
        let own = |index| lengths.piece(index).filter(is_own);
        if !pieces.is_empty() && own(pieces.start).is_none() {
            pieces.start += 1;
        }
        if !pieces.is_empty() && own(pieces.end - 1).is_none() {
            pieces.end -= 1;
        }
        if pieces.is_empty() {
            return Vec::new();
        }
        let middle = pieces.start + (pieces.end - pieces.start) / 2;
        let mut chosen = vec![pieces.start, middle, pieces.end - 1];
        chosen.dedup();
        chosen.truncate(MAX_PIECES);
        chosen.into_iter().filter_map(own).collect()
    }
}

/// A file on the disk in place of all files of a torrent.
#[derive(Debug)]
struct OneFile<'p> {
    file: FileIndex,
    path: &'p Path,
}

impl FileSet for OneFile<'_> {
    fn root(&self) -> &Path {
        self.path
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        if file == self.file {
            Ok(self.path.to_owned())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}
