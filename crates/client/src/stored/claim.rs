//! Checks the files of a download: whether they belong to the torrent, and which wrong pieces would be replaced.

use std::ops::Range;

use hashlane_metainfo::FileKind;
use hashlane_swarm::{Priority, Remains};
use hashlane_verify::{FileReport, FileState, HashVersions, Layout, PieceState, Report, files_of};

use super::{Selection, StoredTorrent, Verification, Verifying, have};
use crate::config::Existing;
use crate::error::TorrentError;
use crate::event::Replacement;

/// The result of [`StoredTorrent::claim`].
#[derive(Debug)]
pub(crate) enum Claim {
    /// The files are ready for the download.
    Ready(Verification),
    /// Wrong pieces would be replaced. No file has been changed.
    Confirm(Replacement),
}

impl StoredTorrent {
    /// Verifies the content and prepares the files for the download. No file is created or changed before all files
    /// have been checked.
    pub(crate) fn claim(
        &self,
        existing: Existing,
        verifying: &Verifying,
    ) -> Result<Claim, TorrentError> {
        let selection = self.selection();
        if existing == Existing::Overwrite || !self.has_data(|_, pieces| selection.has_any(pieces))
        {
            return Ok(Claim::Ready(self.prepare(verifying)?));
        }
        let verified = self.report(verifying)?;
        let report = &verified.report;
        if existing == Existing::Confirm {
            let replacement = self.replacement(report, &selection);
            if replacement.wrong_pieces > 0 {
                return Ok(Claim::Confirm(replacement));
            }
        } else {
            self.refuse_unrelated(report, |_, file| selection.has_any(file.pieces.clone()))?;
        }
        if self.is_prepared(report) {
            self.storage.prepare(&selection.files)?;
            let verification = self.verification(verified);
            return Ok(Claim::Ready(self.on_disk(verification, verifying)?));
        }
        Ok(Claim::Ready(self.prepare(verifying)?))
    }

    /// Returns `true` if one of these files has content. Holes and zeros do not count. `concerns` gets the position and
    /// the pieces of each file except padding.
    fn has_data(&self, concerns: impl Fn(usize, Range<u32>) -> bool) -> bool {
        let torrent = self.torrent();
        let layout = Layout::new(torrent, HashVersions::of(torrent.version()));
        let files = files_of(torrent).filter(|(_, file)| file.kind() != FileKind::Padding);
        let mut files = files.enumerate();
        files.any(|(position, (index, file))| {
            file.kind() == FileKind::Regular
                && concerns(position, layout.pieces_of(index))
                && self.storage.is_written(index, file.length())
        })
    }

    /// Refuses files with content that the download would write to but that do not belong to the torrent. `concerns`
    /// gets the position of each file except padding.
    fn refuse_unrelated(
        &self,
        report: &Report,
        concerns: impl Fn(usize, &FileReport) -> bool,
    ) -> Result<(), TorrentError> {
        let have = have(report);
        let files = report.files().iter().enumerate();
        let unrelated: Vec<&FileReport> = files
            .filter(|(position, file)| {
                concerns(*position, file)
                    && self.storage.is_written(file.index, file.length)
                    && !self.is_own(file, report.pieces(), &have)
            })
            .map(|(_, file)| file)
            .collect();
        let Some(first) = unrelated.first() else {
            return Ok(());
        };
        // A file with unread pieces may belong to the torrent.
        if let Some(file) = unrelated.iter().find_map(|file| self.unreadable(file)) {
            return Err(TorrentError::Unreadable {
                path: file.path,
                reason: file.reason,
            });
        }
        let path = self.content.path_of(first.index);
        Err(TorrentError::Unrelated {
            path: path.unwrap_or_else(|_| self.root.clone()),
            others: unrelated.len() - 1,
        })
    }

    /// Returns `true` if a file with content belongs to the torrent: it has a right piece, or all its pieces look like
    /// those of an interrupted download.
    fn is_own(&self, file: &FileReport, states: &[PieceState], have: &[bool]) -> bool {
        let pieces = file.pieces.start as usize..file.pieces.end as usize;
        if have[pieces.clone()].contains(&true) {
            return true;
        }
        // A download gives its files their length before it writes to them.
        if file.length_on_disk.is_none_or(|len| len < file.length) {
            return false;
        }
        let mut has_gap = false;
        for (piece, state) in file.pieces.clone().zip(&states[pieces]) {
            match self.storage.remains(piece) {
                Ok(Remains::Nothing | Remains::Blocks) => has_gap = true,
                // If a file shares all its pieces with absent files, only its length can be checked.
                Ok(Remains::Other) if file.length_on_disk == Some(file.length) => has_gap = true,
                // After a magnet link, a whole piece can be impossible to prove, which means nothing.
                Ok(Remains::Everything) if *state == PieceState::Unproven => {}
                _ => return false,
            }
        }
        has_gap
    }

    /// Returns `true` if all selected files have their length, so that preparing them changes no piece.
    fn is_prepared(&self, report: &Report) -> bool {
        let files = report.files().iter().enumerate();
        let selection = self.selection();
        let mut selected = files.filter(|(n, _)| selection.has_file(*n));
        selected.all(|(_, file)| {
            let has_length = file.length_on_disk.is_some_and(|len| len >= file.length);
            has_length || file.state == FileState::Link
        })
    }

    /// Creates the absent selected files, extends the short ones to their length, and verifies the content. Pieces of
    /// zeros are then present as holes.
    pub(crate) fn prepare(&self, verifying: &Verifying) -> Result<Verification, TorrentError> {
        if verifying.cancel.is_cancelled() {
            return Err(TorrentError::Interrupted);
        }
        self.storage.prepare(&self.selection().files)?;
        self.on_disk(self.verify(verifying)?, verifying)
    }

    /// Returns the verification of a download. If nothing is missing, first waits until the content is on the disk.
    fn on_disk(
        &self,
        verification: Verification,
        verifying: &Verifying,
    ) -> Result<Verification, TorrentError> {
        if self.selection().is_complete(&verification.have) {
            self.sync(verifying)?;
        }
        Ok(verification)
    }

    /// Returns the pieces that a download would replace. Pieces that are absent or not selected are left out, and so
    /// are pieces of zeros, such as the holes of an earlier download.
    fn replacement(&self, report: &Report, selection: &Selection) -> Replacement {
        let torrent = self.torrent();
        let have = have(report);
        let states = report.pieces().iter().zip(&have).zip(0..);
        let is_wrong: Vec<bool> = states
            .map(|((state, have), piece)| {
                let is_wrong = matches!(state, PieceState::Bad | PieceState::Unproven) && !have;
                is_wrong && selection.has_piece(piece as usize) && self.storage.holds_data(piece)
            })
            .collect();
        let count = |pieces: &[bool]| pieces.iter().filter(|wrong| **wrong).count() as u32;
        let layout = Layout::new(torrent, report.hash_versions());
        let files = files_of(torrent).filter_map(|(index, file)| {
            let pieces = layout.pieces_of(index);
            let n = count(&is_wrong[pieces.start as usize..pieces.end as usize]);
            (n > 0 && file.kind() == FileKind::Regular).then(|| (file.path().to_string(), n))
        });
        Replacement {
            name: self.name.clone(),
            wrong_pieces: count(&is_wrong),
            pieces: self.piece_count,
            files: files.collect(),
        }
    }

    /// Prepares the additional files that `priorities` select. Changes nothing if one of these files has content that
    /// does not belong to the torrent. With [`Existing::Confirm`], wrong pieces also prevent the change.
    pub(crate) fn select_more(
        &self,
        priorities: &[Priority],
        existing: Existing,
        verifying: &Verifying,
    ) -> Result<(), TorrentError> {
        let before = self.selection();
        let more = priorities.iter().enumerate();
        let more: Vec<Priority> = more
            .map(|(position, priority)| {
                if before.has_file(position) {
                    Priority::Skip
                } else {
                    *priority
                }
            })
            .collect();
        let more = Selection::by_priorities(self.torrent(), &more);
        if existing != Existing::Overwrite && self.has_data(|position, _| more.has_file(position)) {
            let report = self.report(verifying)?.report;
            if existing == Existing::Confirm {
                let n = self.replacement(&report, &more).wrong_pieces;
                if n > 0 {
                    let reason = format!("{n} wrong pieces would be replaced");
                    return Err(TorrentError::Kept(reason));
                }
            }
            self.refuse_unrelated(&report, |position, _| more.has_file(position))?;
        }
        Ok(self.storage.prepare(&more.files)?)
    }
}
