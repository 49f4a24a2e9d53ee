//! A torrent and its files on this machine: opened, claimed for a download, and verified.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hashlane_files::Globs;
use hashlane_metainfo::{File, FileKind, FileSelection, Torrent};
use hashlane_swarm::{Access, Priority, Remains, Sources, Stamps, Storage};
use hashlane_verify::{
    CancelToken, Content, FileReport, FileState, HashVersions, Layout, Options, PieceState,
    Progress, Report, files_of,
};

use crate::config::{Existing, Place};
use crate::error::TorrentError;
use crate::event::Replacement;

mod moved;
mod selection;

pub(crate) use selection::Selection;

/// A torrent and its files on this machine.
#[derive(Debug)]
pub(crate) struct StoredTorrent {
    content: Content,
    /// Name of the torrent, unescaped.
    pub(crate) name: String,
    /// The file, or the folder of the files.
    pub(crate) root: PathBuf,
    pub(crate) storage: Arc<Storage>,
    /// A download can change it while it runs.
    selection: Mutex<Arc<Selection>>,
    /// Trackers and web seeds of a magnet link.
    pub(crate) sources: Sources,
    pub(crate) piece_count: u32,
    /// Length of all files in bytes.
    pub(crate) total_bytes: u64,
}

/// The settings of a verification.
#[derive(Clone, Debug)]
pub(crate) struct Verifying {
    pub(crate) hashing: Options,
    pub(crate) cancel: CancelToken,
    /// Bytes that have been verified, for snapshots.
    pub(crate) verified_bytes: Arc<AtomicU64>,
}

/// The result of a verification.
#[derive(Debug)]
pub(crate) struct Verification {
    /// Which pieces are present and right.
    pub(crate) have: Vec<bool>,
    /// Which pieces have content that is wrong, unlike pieces that are absent or partly downloaded.
    pub(crate) wrong: Vec<bool>,
    /// Whether every piece and every file is present.
    pub(crate) is_complete: bool,
    /// The selected files that could not be opened or read.
    pub(crate) unreadable: Vec<UnreadableFile>,
    /// The state of the files before the verification.
    pub(crate) stamps: Stamps,
}

/// A report, and the state of the files before it was made.
struct Verified {
    report: Report,
    stamps: Stamps,
}

/// A file that exists and could not be opened or read.
#[derive(Clone, Debug)]
pub(crate) struct UnreadableFile {
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
}

impl Verification {
    pub(crate) fn n_have(&self) -> u32 {
        // A torrent has at most as many pieces as a u32 can count.
        self.have.iter().filter(|have| **have).count() as u32
    }
}

/// The result of [`StoredTorrent::claim`].
#[derive(Debug)]
pub(crate) enum Claim {
    /// The files are ready for the download.
    Ready(Verification),
    /// Wrong pieces would be replaced. No file has been changed.
    Confirm(Replacement),
}

impl StoredTorrent {
    /// Reads a torrent whose files are downloaded to `folder`.
    pub(crate) fn open(metainfo: Vec<u8>, folder: &Path) -> Result<Self, TorrentError> {
        let torrent = Torrent::parse(metainfo)?;
        let content = Content::in_folder(&torrent, folder).map_err(path_error(folder))?;
        Self::new(content, folder, Access::Download)
    }

    /// Reads a torrent whose files are served.
    pub(crate) fn open_served(metainfo: Vec<u8>, place: &Place) -> Result<Self, TorrentError> {
        let torrent = Torrent::parse(metainfo)?;
        let mut content = match place {
            Place::Folder(folder) => {
                Content::in_folder(&torrent, folder).map_err(path_error(folder))?
            }
            Place::Content(path) => Content::at(&torrent, path).map_err(path_error(path))?,
        };
        let root = content.root().to_owned();
        let is_link = root.symlink_metadata().is_ok_and(|it| it.is_symlink());
        match place {
            Place::Folder(folder) if !is_link => Self::new(content, folder, Access::Serve),
            _ => {
                // The user named this place, so it may be a link. No link is followed below it.
                if is_link {
                    let target = root.canonicalize().map_err(path_error(&root))?;
                    content = Content::at(&torrent, target).map_err(path_error(&root))?;
                }
                let root = content.root().to_owned();
                let folder = match root.parent() {
                    Some(parent) if torrent.is_single_file() => parent,
                    _ => &root,
                };
                Self::new(content, folder, Access::Serve)
            }
        }
    }

    fn new(content: Content, folder: &Path, access: Access) -> Result<Self, TorrentError> {
        let torrent = content.torrent();
        let storage = Storage::new(&content, folder, access)?;
        Ok(Self {
            name: String::from_utf8_lossy(torrent.name().as_bytes()).into_owned(),
            root: content.root().to_owned(),
            storage: Arc::new(storage),
            selection: Mutex::default(),
            sources: Sources::default(),
            piece_count: torrent.lengths().piece_count(),
            total_bytes: torrent.content_length(),
            content,
        })
    }

    /// Selects files by patterns or, without patterns, as a magnet link selects them (BEP 53).
    pub(crate) fn select(
        &mut self,
        patterns: &Globs,
        of_link: Option<&FileSelection>,
    ) -> Result<(), TorrentError> {
        if patterns.is_empty() && of_link.is_none() {
            return Ok(());
        }
        let selection = Selection::by_patterns(self.torrent(), patterns, of_link);
        if !selection.files.contains(&true) {
            return Err(TorrentError::NothingSelected);
        }
        self.set_selection(selection);
        Ok(())
    }

    pub(crate) fn selection(&self) -> Arc<Selection> {
        Arc::clone(&self.lock_selection())
    }

    pub(crate) fn set_selection(&self, selection: Selection) {
        *self.lock_selection() = Arc::new(selection);
    }

    /// Locks the selection, which is whole whenever its lock is released.
    fn lock_selection(&self) -> std::sync::MutexGuard<'_, Arc<Selection>> {
        self.selection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the files except padding, in order: the files that a user can select.
    pub(crate) fn selectable(&self) -> impl Iterator<Item = File<'_>> {
        let files = self.torrent().files().iter();
        files.filter(|file| file.kind() != FileKind::Padding)
    }

    /// Returns the priorities of a selection before any is changed.
    pub(crate) fn priorities(&self) -> Vec<Priority> {
        let selection = self.selection();
        let priority = |position| {
            if selection.has_file(position) {
                Priority::Normal
            } else {
                Priority::Skip
            }
        };
        (0..self.selectable().count()).map(priority).collect()
    }

    /// Returns the length of the selected files in bytes.
    pub(crate) fn selected_bytes(&self) -> u64 {
        let selection = self.selection();
        let files = self.selectable().enumerate();
        let selected = files.filter(|(position, _)| selection.has_file(*position));
        selected.map(|(_, file)| file.length()).sum()
    }

    pub(crate) fn torrent(&self) -> &Torrent {
        self.content.torrent()
    }

    /// Verifies the content.
    pub(crate) fn verify(&self, verifying: &Verifying) -> Result<Verification, TorrentError> {
        Ok(self.verification(self.report(verifying)?))
    }

    /// Verifies the content if a file changed since the storage watches it.
    pub(crate) fn verify_changed(
        &self,
        verifying: &Verifying,
    ) -> Result<Option<Verification>, TorrentError> {
        if !self.storage.has_changed(&self.storage.stamps()) {
            return Ok(None);
        }
        self.verify(verifying).map(Some)
    }

    /// Verifies the content of a finished download, after the disk has it.
    pub(crate) fn verify_stored(
        &self,
        verifying: &Verifying,
    ) -> Result<Verification, TorrentError> {
        self.sync(verifying)?;
        self.verify(verifying)
    }

    /// Waits until the disk has the content.
    fn sync(&self, verifying: &Verifying) -> Result<(), TorrentError> {
        self.storage.sync(&verifying.cancel)?;
        if verifying.cancel.is_cancelled() {
            return Err(TorrentError::Interrupted);
        }
        Ok(())
    }

    fn verification(&self, Verified { report, stamps }: Verified) -> Verification {
        let selection = self.selection();
        let files = report.files().iter().enumerate();
        let selected = files
            .filter(|(n, file)| selection.has_file(*n) || selection.has_any(file.pieces.clone()));
        let unreadable = selected.filter_map(|(_, file)| self.unreadable(file));
        let have = have(&report);
        Verification {
            wrong: self.wrong(&report, &have),
            have,
            is_complete: report.is_complete(),
            unreadable: unreadable.collect(),
            stamps,
        }
    }

    /// Returns the pieces with wrong content. A download leaves holes and parts of pieces, which are not wrong.
    fn wrong(&self, report: &Report, have: &[bool]) -> Vec<bool> {
        let states = report.pieces().iter().zip(have).zip(0..);
        let wrong = states.map(|((state, have), piece)| {
            let remains = || self.storage.remains(piece);
            *state == PieceState::Bad
                && !have
                && matches!(remains(), Ok(Remains::Everything | Remains::Other))
        });
        wrong.collect()
    }

    /// Returns the reason why a file could not be opened or read, if there was one.
    fn unreadable(&self, file: &FileReport) -> Option<UnreadableFile> {
        let error = file.error.as_ref()?;
        let path = self.content.path_of(file.index);
        Some(UnreadableFile {
            path: path.unwrap_or_else(|_| self.root.clone()),
            reason: error.to_string(),
        })
    }

    /// Verifies the content and prepares the files for the download. Creates or changes no file before all files that
    /// must not be replaced are known.
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

    /// Returns `true` if one of these files has content. Holes and zeros are no content. `concerns` gets the position
    /// and the pieces of each file except padding.
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

    /// Refuses files that the download may write to, have content, and do not belong to the torrent. `concerns` gets the
    /// position of each file except padding.
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

    /// Returns `true` if a file with content belongs to the torrent: it has a right piece, or looks in every piece
    /// as an interrupted download leaves it.
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
                // A file that only shares pieces with absent files cannot be judged but by its length.
                Ok(Remains::Other) if file.length_on_disk == Some(file.length) => has_gap = true,
                // A whole piece that cannot be proven, after a magnet link, says nothing.
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

    /// Creates the selected files that are absent, gives short ones their length, and verifies: pieces
    /// of zeros are present as holes.
    pub(crate) fn prepare(&self, verifying: &Verifying) -> Result<Verification, TorrentError> {
        if verifying.cancel.is_cancelled() {
            return Err(TorrentError::Interrupted);
        }
        self.storage.prepare(&self.selection().files)?;
        self.on_disk(self.verify(verifying)?, verifying)
    }

    /// Returns the verification of a download. If nothing is missing, the disk has it first.
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

    /// Prepares the files that `priorities` select in addition. Changes nothing if one of them has content that does
    /// not belong to the torrent or, with [`Existing::Confirm`], wrong pieces.
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

    fn report(&self, verifying: &Verifying) -> Result<Verified, TorrentError> {
        let Verifying {
            hashing,
            cancel,
            verified_bytes,
        } = verifying;
        self.storage.refuse_links_out()?;
        let stamps = self.storage.stamps();
        verified_bytes.store(0, Ordering::Relaxed);
        let mut progress =
            |progress: &Progress| verified_bytes.store(progress.hashed_bytes, Ordering::Relaxed);
        let both = HashVersions { v1: true, v2: true };
        let report = hashlane_verify::verify(&self.content, both, hashing, cancel, &mut progress)?;
        if report.is_cancelled() {
            return Err(TorrentError::Interrupted);
        }
        Ok(Verified { report, stamps })
    }
}

/// Returns the error of a path.
fn path_error(path: &Path) -> impl FnOnce(io::Error) -> TorrentError {
    let path = path.to_owned();
    move |error| TorrentError::Path { path, error }
}

/// Returns which pieces are present and right. A hybrid torrent from a magnet link lacks piece layers: version 1
/// proves its pieces.
fn have(report: &Report) -> Vec<bool> {
    let v1 = report.pieces_v1();
    let pieces = report.pieces().iter().enumerate();
    let have = pieces.map(|(i, piece)| match piece {
        PieceState::Have => true,
        PieceState::Unproven => v1.is_some_and(|v1| v1[i] == PieceState::Have),
        _ => false,
    });
    have.collect()
}
