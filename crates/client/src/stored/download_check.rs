//! Checks the files of a download: whether they belong to the torrent, and which wrong pieces would be replaced.
//!
//! A torrent is made by somebody else, so it must not decide what proves that a file is its own. Only bytes of the file that
//! are hard to guess do, or the mark that a download sets.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashlane_api::Priority;
use hashlane_metainfo::FileKind;
use hashlane_swarm::{IfDifferent, Stamps};
use hashlane_verify::{
    FileIndex, FileReport, FileState, HashVersions, Layout, PieceState, Report, files_of,
};

use super::{ContentState, Reason, Refused, Selection, StoredTorrent, VerifySettings, have};
use crate::config::{Download, Existing};
use crate::error::TorrentError;
use crate::event::Replacement;

/// Minimum number of bytes in right pieces that prove a file.
const MIN_PROOF: u64 = 64 << 10;

/// Length of the start of a file, which many files have in common. It proves a file only together with more bytes.
const COMMON_LEN: u64 = 1 << 20;

/// A file with content that is not proven to belong to the torrent or must stay as it is, and that has bytes in wanted pieces
/// that are wrong.
struct Unproven<'r> {
    file: &'r FileReport,
    reason: Reason,
    /// The wanted pieces that are wrong.
    wrong: Vec<u32>,
    /// Whether the wrong pieces can arrive before it is decided what happens with the file: they all have bytes of other
    /// files, so the bytes of this file can be right.
    can_wait: bool,
    /// Whether the file may be renamed and replaced: all its pieces have bytes of other files.
    may_rename: bool,
}

/// The result of [`StoredTorrent::check_for_download`].
#[derive(Debug)]
pub(crate) enum DownloadCheck {
    /// The files are ready for the download.
    Ready(ContentState),
    /// Wrong pieces would be replaced. No file has been changed.
    Confirm(Replacement),
    /// Content was present before, and no file of it exists. Nothing has been created. The state of the files.
    Absent(Stamps),
}

impl StoredTorrent {
    /// Verifies the content and prepares the files for the download. No file is created or changed before all files
    /// have been checked. If the download is paused and lacks files, it is only verified.
    pub(crate) fn check_for_download(
        &self,
        download: &Download,
        is_paused: bool,
        settings: &VerifySettings,
    ) -> Result<DownloadCheck, TorrentError> {
        let existing = download.existing;
        if download.was_present {
            let stamps = self.stamps();
            if self.is_gone() {
                return Ok(DownloadCheck::Absent(stamps));
            }
        }
        if !is_paused {
            self.reuse(&download.reuse, settings)?;
            self.look_nearby(self.absent_files(), settings);
        }
        let stamps = self.stamps();
        if let Some(content) = self.unchanged(settings)? {
            return Ok(DownloadCheck::Ready(content));
        }
        if is_paused && self.lacks_files() {
            let mut content = self.recorded(self.report(settings)?, None);
            content.is_deferred = true;
            return Ok(DownloadCheck::Ready(content));
        }
        let selection = self.selection();
        let is_wanted = |piece: u32| selection.has_piece(piece as usize);
        if existing == Existing::Overwrite || !self.has_data(is_wanted) {
            self.storage.permit(&stamps, is_wanted);
            return Ok(DownloadCheck::Ready(self.prepare(settings)?));
        }
        let verified = self.report(settings)?;
        let report = &verified.report;
        let unproven = self.unproven(report, is_wanted)?;
        let have = have(report);
        let is_wrong = |piece: u32| is_wanted(piece) && !have[piece as usize];
        if existing == Existing::Confirm {
            let replacement = self.replacement(report, &selection, &unproven);
            if replacement.wrong_pieces > 0 {
                // The user decides about all other files.
                self.guard(unproven.iter().filter(|unproven| unproven.may_rename));
                self.storage.permit(&stamps, is_wrong);
                return Ok(DownloadCheck::Confirm(replacement));
            }
        }
        self.guard_or_leave_out(&unproven, &have)?;
        // Without the files that were left out.
        let selection = self.selection();
        self.storage.permit(&stamps, |piece| {
            selection.has_piece(piece as usize) && !have[piece as usize]
        });
        if self.is_prepared(report) {
            let files = report.files().iter();
            let incomplete = files.filter(|file| file.counts.have < file.counts.total());
            self.mark_blank(&selection, incomplete.map(|file| file.index));
            self.storage.prepare(&selection.files)?;
            let verification = self.recorded(verified, None);
            return Ok(DownloadCheck::Ready(self.on_disk(verification, settings)?));
        }
        Ok(DownloadCheck::Ready(self.prepare(settings)?))
    }

    /// Returns `true` if a selected file is absent or too short, so that preparing it creates or extends it.
    fn lacks_files(&self) -> bool {
        let selection = self.selection();
        let mut selected = files_of(self.torrent())
            .filter(|(_, file)| file.kind() != FileKind::Padding)
            .enumerate()
            .filter(|(position, _)| selection.has_file(*position));
        selected.any(|(_, (index, file))| {
            let status = self.storage.status(index);
            status.map_or(true, |status| status.len_bytes < file.length())
        })
    }

    /// Returns the state of the files before they are checked. Every later read opens its file again, so that it does not see
    /// an earlier state.
    fn stamps(&self) -> Stamps {
        let stamps = self.storage.stamps();
        self.storage.close();
        stamps
    }

    /// Returns `true` if a file with bytes of wanted pieces has content, and this download did not write it. Holes and
    /// zeros do not count.
    fn has_data(&self, is_wanted: impl Fn(u32) -> bool) -> bool {
        let torrent = self.torrent();
        let layout = Layout::new(torrent, HashVersions::of(torrent.version()));
        files_of(torrent).any(|(index, file)| {
            file.kind() == FileKind::Regular
                && layout.pieces_of(index).any(&is_wanted)
                && self.storage.is_written(index)
                && !self.storage.is_permitted(index)
        })
    }

    /// Returns the files with content that the download would write to but that are not proven to belong to the torrent.
    /// Fails if one of them cannot be read, because it may have right pieces.
    fn unproven<'r>(
        &self,
        report: &'r Report,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Result<Vec<Unproven<'r>>, TorrentError> {
        let have = have(report);
        let mut all = Vec::new();
        for file in report.files() {
            let pieces = file.pieces.clone();
            let wrong = pieces.filter(|piece| is_wanted(*piece) && !have[*piece as usize]);
            let wrong: Vec<u32> = wrong.collect();
            let Some(last) = wrong.last() else {
                // Nothing is written to a file whose pieces are right.
                continue;
            };
            let storage = &self.storage;
            let reason = match self.keeps(file.index) {
                Some(reason) => reason,
                None if !storage.is_written(file.index)
                    || storage.is_permitted(file.index)
                    || storage.is_marked(file.index)
                    || self.is_proven(file.index, file.pieces.clone(), &have) =>
                {
                    continue;
                }
                None => Reason::Unrelated,
            };
            if let Some(file) = self.unreadable(file) {
                return Err(TorrentError::Unreadable {
                    path: file.path,
                    reason: file.reason,
                });
            }
            let may_rename = reason == Reason::Unrelated
                && file.pieces.clone().all(|piece| storage.is_shared(piece));
            let end = storage.part_of(file.index, *last);
            let end = end.map(|part| part.offset + part.len_bytes);
            // A file that ends before the piece differs.
            let can_be_right = file.length_on_disk >= end;
            all.push(Unproven {
                can_wait: may_rename
                    || can_be_right && wrong.iter().all(|piece| storage.is_shared(*piece)),
                file,
                reason,
                wrong,
                may_rename,
            });
        }
        Ok(all)
    }

    /// Returns the reason why a file is never written to, even if it belongs to the torrent.
    fn keeps(&self, file: FileIndex) -> Option<Reason> {
        if self.storage.is_elsewhere(file) {
            return Some(Reason::Mapped);
        }
        let status = self.storage.status(file).ok()?;
        let is_linked = status.is_regular && status.n_names > 1;
        (is_linked && !self.storage.copies_linked()).then_some(Reason::Linked)
    }

    /// Returns `true` if right pieces prove that a file belongs to the torrent. They have at least 64 KiB of the file, or
    /// all of it, and lie beyond its first MiB or have half of it. Pieces of the same hash count once, and pieces in which
    /// the file is one repeated byte do not count.
    pub(super) fn is_proven(&self, file: FileIndex, pieces: Range<u32>, have: &[bool]) -> bool {
        let torrent = self.torrent();
        let entry = torrent.file(file.get());
        let mut hashes: HashSet<&[u8]> = HashSet::new();
        let (mut proven, mut beyond) = (0, 0);
        // The last pieces come first, because the first MiB alone is rarely enough.
        for piece in pieces.clone().rev() {
            if !have[piece as usize] {
                continue;
            }
            let place = (piece - pieces.start) as usize;
            let hash: Option<&[u8]> = match (torrent.piece_hashes(), entry.piece_layer()) {
                (Some(hashes), _) => Some(&hashes[piece as usize]),
                (None, Some(layer)) => Some(&layer[place]),
                (None, None) => entry.pieces_root().map(|root| &root[..]),
            };
            let Some(part) = self.storage.part_of(file, piece) else {
                continue;
            };
            // Without a piece layer, the one hash proves all pieces of the file together.
            let is_whole = torrent.piece_hashes().is_none() && entry.piece_layer().is_none();
            let is_new = hash.is_some_and(|hash| hashes.insert(hash)) || is_whole;
            if !is_new || !self.storage.is_varied(&part) {
                continue;
            }
            let end = part.offset + part.len_bytes;
            proven += part.len_bytes;
            beyond += end.saturating_sub(part.offset.max(COMMON_LEN));
            let is_enough =
                proven >= MIN_PROOF.min(entry.length()) && proven >= entry.length().div_ceil(2);
            if beyond >= MIN_PROOF || is_enough {
                return true;
            }
        }
        false
    }

    /// Returns the unproven files that can be neither right nor renamed, if there are some.
    fn refused_of(&self, unproven: &[Unproven<'_>]) -> Option<Refused> {
        let mut refused = unproven.iter().filter(|unproven| !unproven.can_wait);
        let first = refused.next()?;
        let path = self.content.path_of(first.file.index);
        Some(Refused {
            path: path.unwrap_or_else(|_| self.root.clone()),
            reason: first.reason,
            right: first.file.counts.have,
            pieces: first.file.counts.total(),
            others: refused.count(),
        })
    }

    /// Refuses the first unproven file that can be neither right nor renamed, and guards the others.
    fn guard_or_refuse(&self, unproven: &[Unproven<'_>]) -> Result<(), TorrentError> {
        if let Some(refused) = self.refused_of(unproven) {
            return Err(refused.into());
        }
        self.guard(unproven);
        Ok(())
    }

    /// Leaves the unproven files out of the download that can be neither right nor renamed, and guards the others. Pieces that
    /// the files share with others are downloaded for those. Fails if no other file lacks a piece of its own.
    fn guard_or_leave_out(
        &self,
        unproven: &[Unproven<'_>],
        have: &[bool],
    ) -> Result<(), TorrentError> {
        let Some(refused) = self.refused_of(unproven) else {
            self.guard(unproven);
            return Ok(());
        };
        let (waiting, left_out): (Vec<_>, Vec<_>) =
            unproven.iter().partition(|unproven| unproven.can_wait);
        let is_left_out = |index| left_out.iter().any(|it| it.file.index == index);
        let rest = self.selection().without(self.torrent(), is_left_out);
        let is_shared = |piece: u32| left_out.iter().any(|it| it.file.pieces.contains(&piece));
        let mut pieces = (0..).zip(have);
        if pieces.all(|(piece, have)| *have || is_shared(piece) || !rest.has_piece(piece as usize))
        {
            return Err(refused.into());
        }
        self.guard(waiting);
        for Unproven { file, wrong, .. } in left_out {
            let shared = wrong.iter().copied();
            let shared: Vec<u32> = shared.filter(|it| rest.has_piece(*it as usize)).collect();
            self.storage.guard(file.index, &shared, IfDifferent::Keep);
        }
        self.set_selection(rest);
        *lock(&self.refused) = Some(refused);
        Ok(())
    }

    /// Returns the error for the files that were left out of the download, if there are some.
    pub(crate) fn refusal(&self) -> Option<TorrentError> {
        lock(&self.refused).clone().map(TorrentError::from)
    }

    fn guard<'u>(&self, unproven: impl IntoIterator<Item = &'u Unproven<'u>>) {
        for Unproven {
            file,
            wrong,
            may_rename,
            ..
        } in unproven
        {
            let if_different = if *may_rename {
                IfDifferent::Rename
            } else {
                IfDifferent::Fail
            };
            self.storage.guard(file.index, wrong, if_different);
        }
    }

    /// Marks those of the files that may be written to, have bytes in selected pieces and have no content, so that the next
    /// download knows them. Absent files are marked when they are created.
    fn mark_blank(&self, selection: &Selection, files: impl IntoIterator<Item = FileIndex>) {
        let torrent = self.torrent();
        let layout = Layout::new(torrent, HashVersions::of(torrent.version()));
        for index in files {
            if selection.has_any(layout.pieces_of(index))
                && self.storage.is_permitted(index)
                && !self.storage.is_written(index)
            {
                self.storage.mark(index);
            }
        }
    }

    /// Removes the marks of the files whose pieces are all right. A file that the user changes later is then not taken for an
    /// incomplete download. Returns `true` if a file had a mark.
    pub(super) fn unmark(&self, is_right: impl Fn(u32) -> bool) -> bool {
        let torrent = self.torrent();
        let layout = Layout::new(torrent, HashVersions::of(torrent.version()));
        let files = files_of(torrent).map(|(index, _)| index);
        let complete = files.filter(|index| {
            let mut pieces = layout.pieces_of(*index);
            !pieces.is_empty() && pieces.all(&is_right)
        });
        let removed = complete.filter(|index| self.storage.unmark(*index));
        removed.count() > 0
    }

    /// Returns `true` if all selected files have their length, so that preparing them changes no piece.
    fn is_prepared(&self, report: &Report) -> bool {
        let files = report.files().iter().enumerate();
        let selection = self.selection();
        let mut selected = files.filter(|(n, _)| selection.has_file(*n));
        selected.all(|(_, file)| {
            let has_length = file.length_on_disk.is_some_and(|len| len >= file.length);
            has_length || file.state == FileState::Link || self.storage.is_guarded(file.index)
        })
    }

    /// Creates the absent selected files, extends the short ones to their length, and verifies the content. Pieces of
    /// zeros are then present as holes.
    pub(crate) fn prepare(&self, settings: &VerifySettings) -> Result<ContentState, TorrentError> {
        if settings.cancel.is_cancelled() {
            return Err(TorrentError::Interrupted);
        }
        let selection = self.selection();
        let files = files_of(self.torrent()).map(|(index, _)| index);
        self.mark_blank(&selection, files);
        self.storage.prepare(&selection.files)?;
        self.on_disk(self.verify(settings)?, settings)
    }

    /// Returns the verification of a download, after it removed the marks of complete files. If nothing is missing, first
    /// waits until the content is on the disk.
    fn on_disk(
        &self,
        verification: ContentState,
        settings: &VerifySettings,
    ) -> Result<ContentState, TorrentError> {
        self.refuse_linked(&verification.have)?;
        let was_marked = self.unmark(|piece| verification.have[piece as usize]);
        if self.selection().is_complete(&verification.have) {
            self.sync(settings)?;
            if was_marked {
                // The marks changed the state of the files.
                return self.verify(settings);
            }
        }
        Ok(verification)
    }

    /// Fails if a selected file that lacks pieces has several names, unless such files are copied. The storage refuses each
    /// write too; this is before the download.
    fn refuse_linked(&self, have: &[bool]) -> Result<(), TorrentError> {
        let (torrent, selection) = (self.torrent(), self.selection());
        let layout = Layout::new(torrent, HashVersions::of(torrent.version()));
        let mut linked = files_of(torrent).filter(|(index, file)| {
            let mut pieces = layout.pieces_of(*index).map(|piece| piece as usize);
            let lacks = pieces.any(|piece| selection.has_piece(piece) && !have[piece]);
            lacks
                && file.kind() == FileKind::Regular
                && !self.storage.is_guarded(*index)
                && self.keeps(*index) == Some(Reason::Linked)
        });
        let Some((first, _)) = linked.next() else {
            return Ok(());
        };
        let path = self.content.path_of(first);
        Err(TorrentError::Linked {
            path: path.unwrap_or_else(|_| self.root.clone()),
            others: linked.count(),
        })
    }

    /// Returns the pieces that a download would replace. Pieces that are absent or not selected are left out, and so
    /// are pieces of zeros, such as the holes of an earlier download. Pieces of unproven files count even if they are absent
    /// in part or have only zeros.
    fn replacement(
        &self,
        report: &Report,
        selection: &Selection,
        unproven: &[Unproven<'_>],
    ) -> Replacement {
        let torrent = self.torrent();
        let have = have(report);
        let unproven = unproven.iter().flat_map(|file| file.wrong.iter().copied());
        let unproven: HashSet<u32> = unproven.collect();
        let states = report.pieces().iter().zip(&have).zip(0_u32..);
        let is_wrong: Vec<bool> = states
            .map(|((state, have), piece)| {
                let is_present = matches!(state, PieceState::Bad | PieceState::Unproven);
                let is_replaced =
                    || unproven.contains(&piece) || is_present && self.storage.holds_data(piece);
                !have && selection.has_piece(piece as usize) && is_replaced()
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
        settings: &VerifySettings,
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
        let is_wanted = |piece: u32| more.has_piece(piece as usize);
        let stamps = self.stamps();
        if existing != Existing::Overwrite && self.has_data(is_wanted) {
            let report = self.report(settings)?.report;
            let unproven = self.unproven(&report, is_wanted)?;
            if existing == Existing::Confirm {
                let n = self.replacement(&report, &more, &unproven).wrong_pieces;
                if n > 0 {
                    let reason = format!("{n} wrong pieces would be replaced");
                    return Err(TorrentError::Kept(reason));
                }
            }
            self.guard_or_refuse(&unproven)?;
            let have = have(&report);
            let is_wrong = |piece: u32| is_wanted(piece) && !have[piece as usize];
            self.storage.permit(&stamps, is_wrong);
        } else {
            self.storage.permit(&stamps, is_wanted);
        }
        let files = files_of(self.torrent()).map(|(index, _)| index);
        self.mark_blank(&more, files);
        Ok(self.storage.prepare(&more.files)?)
    }
}

/// Locks a value that is valid whenever its lock is released, so that a poisoned lock is no problem.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
