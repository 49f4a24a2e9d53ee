//! The result of a verification.

use std::time::Duration;

use crate::bitfield::bitfield;
use crate::file_report::FileReport;
use crate::layout::HashVersions;
use crate::piece::{PieceCounts, PieceState};

/// The state of a torrent's content: of every piece and of every file.
#[derive(Debug)]
pub struct Report {
    pub(crate) pieces: Vec<PieceState>,
    /// The states by hash version, if both versions were verified.
    pub(crate) by_version: Option<[Vec<PieceState>; 2]>,
    pub(crate) versions: HashVersions,
    pub(crate) files: Vec<FileReport>,
    pub(crate) counts: PieceCounts,
    pub(crate) checked_bytes: u64,
    pub(crate) have_bytes: u64,
    pub(crate) n_trusted: u32,
    pub(crate) total_bytes: u64,
    pub(crate) elapsed: Duration,
    pub(crate) is_cancelled: bool,
}

impl Report {
    /// Returns the state of each piece. If both hash versions were verified, the worse state counts: a piece is present
    /// only if both versions agree.
    pub fn pieces(&self) -> &[PieceState] {
        &self.pieces
    }

    /// Returns the hash versions that were verified.
    pub fn hash_versions(&self) -> HashVersions {
        self.versions
    }

    /// Returns the state of each piece by its SHA-1 digest (BEP 3), if it was verified.
    pub fn pieces_v1(&self) -> Option<&[PieceState]> {
        let both = self.by_version.as_ref().map(|[v1, _]| v1);
        self.versions.v1.then(|| &both.unwrap_or(&self.pieces)[..])
    }

    /// Returns the state of each piece by its merkle tree (BEP 52), if it was verified.
    pub fn pieces_v2(&self) -> Option<&[PieceState]> {
        let both = self.by_version.as_ref().map(|[_, v2]| v2);
        self.versions.v2.then(|| &both.unwrap_or(&self.pieces)[..])
    }

    /// Returns the files in the torrent's order, without padding.
    pub fn files(&self) -> &[FileReport] {
        &self.files
    }

    /// Returns the number of pieces of a file in each state by their SHA-1 digests (BEP 3), if version 1 was verified.
    ///
    /// # Panics
    /// Panics if the file belongs to another report, with more pieces.
    pub fn counts_v1(&self, file: &FileReport) -> Option<PieceCounts> {
        let pieces = self.pieces_v1()?;
        Some(PieceCounts::of_range(pieces, &file.pieces))
    }

    /// Returns the number of pieces of a file in each state by its merkle tree (BEP 52), if version 2 was verified.
    ///
    /// # Panics
    /// Panics if the file belongs to another report, with more pieces.
    pub fn counts_v2(&self, file: &FileReport) -> Option<PieceCounts> {
        let pieces = self.pieces_v2()?;
        Some(PieceCounts::of_range(pieces, &file.pieces))
    }

    /// Returns the number of pieces in each state.
    pub fn counts(&self) -> PieceCounts {
        self.counts
    }

    /// Returns the number of bytes in pieces whose state is known, with their padding if version 1
    /// was verified.
    pub fn checked_bytes(&self) -> u64 {
        self.checked_bytes
    }

    /// Returns the number of pieces that count as present although they were not read; see
    /// [`Verification::trust`](crate::Verification::trust).
    pub fn trusted_pieces(&self) -> u32 {
        self.n_trusted
    }

    /// Returns the number of bytes of files in pieces that are present and correct.
    pub fn have_bytes(&self) -> u64 {
        self.have_bytes
    }

    /// Returns the number of bytes of all files.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// Returns the wall-clock time that the verification took.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Returns `true` if the verification was cancelled before its end.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }

    /// Returns `true` if everything is present: all pieces, all empty files and all links.
    pub fn is_complete(&self) -> bool {
        let is_whole = |file: &FileReport| file.state.is_whole();
        self.counts.have as usize == self.pieces.len() && self.files.iter().all(is_whole)
    }

    /// Returns the present and correct pieces as a bitfield: the first piece is the highest bit of
    /// the first byte, and spare bits at the end are zero (BEP 3, peer messages).
    pub fn bitfield(&self) -> Vec<u8> {
        bitfield(self.pieces.iter().map(|piece| *piece == PieceState::Have))
    }
}
