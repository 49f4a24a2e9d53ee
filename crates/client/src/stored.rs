//! A torrent and its files on this machine: opened, claimed for a download, and verified.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashlane_files::Globs;
use hashlane_metainfo::{FileKind, FileSelection, Torrent};
use hashlane_swarm::{Access, Remains, Sources, Stamps, Storage};
use hashlane_verify::{
    CancelToken, Content, FileReport, FileState, HashVersions, Layout, Options, PieceState,
    Progress, Report, files_of,
};

use crate::config::{Existing, Place};
use crate::error::TorrentError;
use crate::event::Replacement;

/// A torrent and its files on this machine.
#[derive(Debug)]
pub(crate) struct StoredTorrent {
    content: Content,
    /// Name of the torrent, unescaped.
    pub(crate) name: String,
    /// The file, or the folder of the files.
    pub(crate) root: PathBuf,
    pub(crate) storage: Arc<Storage>,
    pub(crate) selection: Selection,
    /// Trackers and web seeds of a magnet link.
    pub(crate) sources: Sources,
    pub(crate) piece_count: u32,
    /// Length of all files in bytes.
    pub(crate) total_bytes: u64,
}

/// The files of a torrent that are selected for a download.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// An entry for each file but padding; empty for all files.
    pub(crate) files: Vec<bool>,
    /// The pieces of these files; empty for all pieces.
    pieces: Vec<bool>,
}

impl Selection {
    fn has_piece(&self, piece: usize) -> bool {
        *self.pieces.get(piece).unwrap_or(&true)
    }

    fn has_any(&self, mut pieces: Range<u32>) -> bool {
        pieces.any(|piece| self.has_piece(piece as usize))
    }

    /// Returns `true` if all selected pieces are present.
    pub(crate) fn is_complete(&self, have: &[bool]) -> bool {
        let mut have = have.iter().enumerate();
        have.all(|(piece, have)| *have || !self.has_piece(piece))
    }
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
            selection: Selection::default(),
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
        let torrent = self.torrent();
        // A pattern that fits a folder selects everything in the folder.
        let fits = |path: &str| {
            let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
            folders.chain([path]).any(|path| patterns.is_match(path))
        };
        let layout = Layout::new(torrent, HashVersions::of(torrent.version()));
        let mut selection = Selection {
            files: Vec::new(),
            pieces: vec![false; self.piece_count as usize],
        };
        for (index, file) in files_of(torrent) {
            // A torrent has at most as many files as a u32 can count.
            let is_selected = match of_link {
                Some(of_link) if patterns.is_empty() => of_link.contains(index.get() as u32),
                _ => fits(&file.path().to_string()),
            };
            if is_selected {
                for piece in layout.pieces_of(index) {
                    selection.pieces[piece as usize] = true;
                }
            }
            if file.kind() != FileKind::Padding {
                selection.files.push(is_selected);
            }
        }
        if !selection.files.contains(&true) {
            return Err(TorrentError::NothingSelected);
        }
        self.selection = selection;
        Ok(())
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
        let files = report.files().iter().enumerate();
        let selected = files.filter(|(n, file)| {
            let is_selected = *self.selection.files.get(*n).unwrap_or(&true);
            is_selected || self.selection.has_any(file.pieces.clone())
        });
        let unreadable = selected.filter_map(|(_, file)| self.unreadable(file));
        Verification {
            have: have(&report),
            is_complete: report.is_complete(),
            unreadable: unreadable.collect(),
            stamps,
        }
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
        if existing == Existing::Overwrite || !self.has_data() {
            return Ok(Claim::Ready(self.prepare(verifying)?));
        }
        let verified = self.report(verifying)?;
        let report = &verified.report;
        if existing == Existing::Confirm {
            let replacement = self.replacement(report);
            if replacement.wrong_pieces > 0 {
                return Ok(Claim::Confirm(replacement));
            }
        } else {
            self.refuse_unrelated(report)?;
        }
        if self.is_prepared(report) {
            self.storage.prepare(&self.selection.files)?;
            let verification = self.verification(verified);
            return Ok(Claim::Ready(self.on_disk(verification, verifying)?));
        }
        Ok(Claim::Ready(self.prepare(verifying)?))
    }

    /// Returns `true` if a file that the download may write to has content. Holes and zeros are no content.
    fn has_data(&self) -> bool {
        let torrent = self.torrent();
        let layout = Layout::new(torrent, HashVersions::of(torrent.version()));
        files_of(torrent).any(|(index, file)| {
            file.kind() == FileKind::Regular
                && self.selection.has_any(layout.pieces_of(index))
                && self.storage.is_written(index, file.length())
        })
    }

    /// Refuses files that the download may write to, have content, and do not belong to the torrent.
    fn refuse_unrelated(&self, report: &Report) -> Result<(), TorrentError> {
        let have = have(report);
        let unrelated: Vec<&FileReport> = report
            .files()
            .iter()
            .filter(|file| {
                self.selection.has_any(file.pieces.clone())
                    && self.storage.is_written(file.index, file.length)
                    && !self.is_own(file, report.pieces(), &have)
            })
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
        let mut selected = files.filter(|(n, _)| *self.selection.files.get(*n).unwrap_or(&true));
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
        self.storage.prepare(&self.selection.files)?;
        self.on_disk(self.verify(verifying)?, verifying)
    }

    /// Returns the verification of a download. If nothing is missing, the disk has it first.
    fn on_disk(
        &self,
        verification: Verification,
        verifying: &Verifying,
    ) -> Result<Verification, TorrentError> {
        if self.selection.is_complete(&verification.have) {
            self.sync(verifying)?;
        }
        Ok(verification)
    }

    /// Returns the pieces that a download would replace. Pieces that are absent or not selected are left out, and so
    /// are pieces of zeros, such as the holes of an earlier download.
    fn replacement(&self, report: &Report) -> Replacement {
        let torrent = self.torrent();
        let have = have(report);
        let states = report.pieces().iter().zip(&have).zip(0..);
        let is_wrong: Vec<bool> = states
            .map(|((state, have), piece)| {
                let is_wrong = matches!(state, PieceState::Bad | PieceState::Unproven) && !have;
                is_wrong
                    && self.selection.has_piece(piece as usize)
                    && self.storage.holds_data(piece)
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
