//! A torrent and its files on this machine: opened, checked for a download, and verified.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use hashlane_api::{Place, Priority};
use hashlane_files::{Globs, Writers, is_absent, is_replaced};
use hashlane_find::SearchBudget;
use hashlane_metainfo::{
    ContentMap, File, FileKind, FileSelection, Names, PathComponent, PieceIndex, Torrent,
};
use hashlane_swarm::{Access, Remains, Sources, Stamps, Storage};
use hashlane_verify::{
    CancelToken, Content, FileIndex, FileReport, HashVersions, Layout, Options, PieceState,
    Progress, Report, files_of,
};

use crate::config::{Mode, Naming, Seed};
use crate::error::{Absence, TorrentError};
use crate::event::ForeignName;
use crate::live::LiveVerification;

mod delete;
mod download_check;
mod moved;
mod named;
mod naming;
mod nearby;
mod record;
mod reuse;
mod selection;

pub(crate) use download_check::DownloadCheck;
pub(crate) use moved::Moved;
use named::{Named, path_error};
pub(crate) use nearby::Nearby;
use record::RecordFile;
pub(crate) use record::RecordProblem;
pub(crate) use selection::Selection;

/// A torrent and its files on this machine.
#[derive(Debug)]
pub(crate) struct StoredTorrent {
    content: Content,
    names: Names,
    /// The map of files that lie elsewhere.
    map: Option<Arc<ContentMap>>,
    /// The result of renaming the files when the torrent was opened.
    renamed: Option<Result<(), TorrentError>>,
    /// Name of the torrent, unescaped.
    pub(crate) name: String,
    /// The file, or the folder of the files.
    pub(crate) root: PathBuf,
    /// The folder that the files are opened in.
    folder: PathBuf,
    /// The file system of the folder, if the folder exists.
    device: Option<u64>,
    pub(crate) storage: Arc<Storage>,
    /// The selected files, which can change while a download runs.
    selection: Mutex<Arc<Selection>>,
    /// The files that the download leaves out because they may be of the user, if there are some.
    refused: Mutex<Option<Refused>>,
    /// Notes about content that is not at its place.
    nearby: Mutex<Nearby>,
    /// Trackers and web seeds of a magnet link.
    pub(crate) sources: Sources,
    /// Messages about the places of the content, for the user.
    pub(crate) notes: Vec<String>,
    /// The folder with the record of the content that was verified, if size and time of modification are trusted.
    records: Option<PathBuf>,
    pub(crate) piece_count: u32,
    /// Length of all files in bytes.
    pub(crate) total_bytes: u64,
}

/// The settings of a verification.
#[derive(Clone, Debug)]
pub(crate) struct VerifySettings {
    pub(crate) hashing: Options,
    pub(crate) cancel: CancelToken,
    /// Gets what the verification finds, for snapshots and requests.
    pub(crate) live: Arc<LiveVerification>,
    /// The limit of the searches for missing content.
    pub(crate) search_budget: Arc<SearchBudget>,
}

/// The result of a verification.
#[derive(Debug)]
pub(crate) struct ContentState {
    /// An entry for each piece: whether it is present and right.
    pub(crate) have: Vec<bool>,
    /// An entry for each piece: whether its content is wrong. Absent and partly downloaded pieces are not wrong.
    pub(crate) wrong: Vec<bool>,
    /// Whether every piece and every file is present.
    pub(crate) is_complete: bool,
    /// The selected files that could not be opened or read.
    pub(crate) unreadable: Vec<UnreadableFile>,
    /// The state of the files before the verification.
    pub(crate) stamps: Stamps,
    /// Number of present pieces that were not read, because size and time of modification of their files are trusted.
    pub(crate) trusted: u32,
    /// The reason why the record of the content cannot be used or written.
    pub(crate) record_problem: Option<RecordProblem>,
    /// Whether selected files are absent or too short, and are not created before the download starts.
    pub(crate) is_deferred: bool,
}

/// A report, and the state of the files before the verification.
struct StampedReport {
    report: Report,
    stamps: Stamps,
    /// An entry for each file, if the content is recorded.
    writers: Vec<Writers>,
    stamped: SystemTime,
}

/// A file that exists and could not be opened or read.
#[derive(Clone, Debug)]
pub(crate) struct UnreadableFile {
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
}

/// Files that are not overwritten.
#[derive(Clone, Debug)]
struct Refused {
    /// The first file.
    path: PathBuf,
    reason: Reason,
    /// Number of right pieces of the first file.
    right: u32,
    /// Number of pieces of the first file.
    pieces: u32,
    /// Number of further files.
    others: usize,
}

/// The reason why a file is not overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// It is not proven to belong to the torrent.
    Unrelated,
    /// It has several names.
    Linked,
    /// A content map has it.
    Mapped,
}

impl From<Refused> for TorrentError {
    fn from(refused: Refused) -> Self {
        let Refused { path, others, .. } = refused;
        match refused.reason {
            Reason::Unrelated => Self::Unrelated {
                path,
                right: refused.right,
                pieces: refused.pieces,
                others,
            },
            Reason::Linked => Self::Linked { path, others },
            Reason::Mapped => Self::Mapped { path, others },
        }
    }
}

impl ContentState {
    pub(crate) fn n_have(&self) -> u32 {
        // A torrent has at most as many pieces as a u32 can count.
        self.have.iter().filter(|have| **have).count() as u32
    }
}

impl StoredTorrent {
    /// Reads a torrent whose files are downloaded to `folder`.
    pub(crate) fn open(
        torrent: &Torrent,
        folder: &Path,
        naming: &Naming,
    ) -> Result<Self, TorrentError> {
        let place = Place::Folder(folder.to_owned());
        let named = Named::of(torrent, &place, naming)?;
        let content = named.content(torrent, &place)?;
        Self::new(content, folder, Access::Download, named)
    }

    /// Finds the content of a torrent, or the place where it is expected.
    pub(crate) fn find(torrent: &Torrent, mode: &Mode) -> Result<Self, TorrentError> {
        let download = match mode {
            Mode::Download(download) => download,
            Mode::Seed(seed) => return Self::serve(torrent, seed),
            Mode::Metadata { .. } => return Err(TorrentError::NotMagnet),
        };
        let (moved, naming) = (download.move_to.as_ref(), &download.naming);
        let stored = match moved.filter(|folder| Self::exists(torrent, folder, naming)) {
            Some(folder) => Self::open_moved(torrent, &download.folder, folder, naming)?,
            None => Self::open(torrent, &download.folder, naming)?,
        };
        stored.storage.set_copies_linked(download.copy_linked);
        Ok(stored.recorded_in(download.records.clone()))
    }

    /// Returns `true` if the torrent or its magnet link has a web seed.
    pub(crate) fn has_web_seeds(&self) -> bool {
        let keys = self.torrent().metadata_ref();
        let mut urls = keys.web_seeds().chain(keys.http_seeds());
        urls.next().is_some() || !self.sources.web_seeds.is_empty()
    }

    /// Finds the content that is served, or the place where it is expected.
    fn serve(torrent: &Torrent, seed: &Seed) -> Result<Self, TorrentError> {
        let stored = Self::open_at(torrent, &seed.place, &seed.naming)?;
        Ok(stored.recorded_in(seed.records.clone()))
    }

    /// Trusts size and time of modification if there is a folder for the record.
    pub(crate) fn recorded_in(self, records: Option<PathBuf>) -> Self {
        Self { records, ..self }
    }

    /// Returns the record of the content, if size and time of modification are trusted and the content exists.
    fn record(&self) -> Option<RecordFile> {
        RecordFile::new(self.records.as_ref()?, self.info_hash(), &self.root)
    }

    fn open_at(torrent: &Torrent, place: &Place, naming: &Naming) -> Result<Self, TorrentError> {
        let named = Named::of(torrent, place, naming)?;
        let content = named.content(torrent, place)?;
        let folder = match place {
            Place::Folder(folder) => Some(folder.as_path()),
            Place::Content(_) => None,
        };
        let root = content.root().to_owned();
        let (content, folder) = content.confined(folder).map_err(path_error(&root))?;
        Self::new(content, &folder, Access::Serve, named)
    }

    fn new(
        content: Content,
        folder: &Path,
        access: Access,
        named: Named,
    ) -> Result<Self, TorrentError> {
        let torrent = content.torrent();
        let storage = Storage::new(&content, folder, access)?;
        Ok(Self {
            name: String::from_utf8_lossy(torrent.name().as_bytes()).into_owned(),
            root: content.root().to_owned(),
            folder: folder.to_owned(),
            device: folder.metadata().ok().map(|folder| folder.dev()),
            storage: Arc::new(storage),
            selection: Mutex::default(),
            refused: Mutex::default(),
            nearby: Mutex::default(),
            sources: Sources::default(),
            notes: Vec::new(),
            records: None,
            names: named.names,
            map: named.map,
            renamed: named.renamed,
            piece_count: torrent.lengths().piece_count(),
            total_bytes: torrent.content_length(),
            content,
        })
    }

    /// Selects files by patterns. Without patterns, selects the files that the magnet link names (BEP 53).
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

    /// Locks the selection. The selection is valid whenever its lock is released, so a poisoned lock is no problem.
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

    /// Returns the initial priorities of the selection.
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

    /// Returns the bytes of selected files that are in these pieces. `have` has an entry for each piece.
    pub(crate) fn present_bytes(&self, have: &[bool]) -> u64 {
        let torrent = self.torrent();
        let layout = Layout::new(torrent, HashVersions::of(torrent.version()));
        let selection = self.selection();
        let files = files_of(torrent).filter(|(_, file)| file.kind() != FileKind::Padding);
        let selected = files.enumerate();
        let selected = selected.filter(|(position, _)| selection.has_file(*position));
        let selected: HashSet<FileIndex> = selected.map(|(_, (index, _))| index).collect();
        let pieces = torrent.lengths().pieces().zip(have);
        let present = pieces.filter(|(_, have)| **have);
        let extents = present.flat_map(|(piece, _)| layout.extents(piece));
        let extents = extents.filter(|it| it.file.is_some_and(|file| selected.contains(&file)));
        extents.map(|extent| extent.len_bytes).sum()
    }

    /// Returns the names on the disk that another program writes instead of the torrent's.
    pub(crate) fn foreign_names(&self) -> Vec<ForeignName> {
        let content = &self.content;
        let of_content = content.root_naming().map(|naming| ForeignName {
            path: self.name.clone(),
            found_as: lossy(self.root.file_name().unwrap_or_default()),
            named_by: naming.program(),
            is_content: true,
        });
        let of_files = files_of(self.torrent()).filter_map(|(index, file)| {
            let naming = content.naming_of(index)?;
            let path = content.path_of(index).ok()?;
            let path = path.strip_prefix(&self.root).unwrap_or(&path);
            let components: Vec<&[u8]> = file
                .path()
                .components()
                .map(PathComponent::as_bytes)
                .collect();
            Some(ForeignName {
                path: String::from_utf8_lossy(&components.join(&b'/')).into_owned(),
                found_as: lossy(path.as_os_str()),
                named_by: naming.program(),
                is_content: false,
            })
        });
        of_content.into_iter().chain(of_files).collect()
    }

    /// Returns the info-hash in hexadecimal: the one of version 2 if the torrent has it.
    pub(crate) fn info_hash(&self) -> String {
        let hashes = self.torrent().info_hashes();
        let v2 = hashes.v2().map(|hash| hash.to_string());
        v2.or_else(|| Some(hashes.v1()?.to_string()))
            .unwrap_or_default()
    }

    pub(crate) fn torrent(&self) -> &Torrent {
        self.content.torrent()
    }

    /// Verifies the content. No piece is trusted.
    pub(crate) fn verify(&self, settings: &VerifySettings) -> Result<ContentState, TorrentError> {
        Ok(self.recorded(self.report(settings)?, None))
    }

    /// Verifies content that is served for the first time. If sizes and modification times are trusted, pieces whose files
    /// have not changed since the last verification are not read. Looks for missing files near their places.
    pub(crate) fn verify_or_find(
        &self,
        settings: &VerifySettings,
    ) -> Result<ContentState, TorrentError> {
        let (verified, problem) = self.report_or_trust(settings)?;
        self.look_for_missing(&verified.report, settings);
        Ok(self.recorded(verified, problem))
    }

    /// Verifies the content. If sizes and modification times are trusted, pieces whose files have not
    /// changed since the last verification are not read.
    fn verify_or_trust(&self, settings: &VerifySettings) -> Result<ContentState, TorrentError> {
        let (verified, problem) = self.report_or_trust(settings)?;
        Ok(self.recorded(verified, problem))
    }

    fn report_or_trust(
        &self,
        settings: &VerifySettings,
    ) -> Result<(StampedReport, Option<RecordProblem>), TorrentError> {
        let mut problem = None;
        let verified = self.report_untrusted(settings, |stamps, writers| {
            let record = self.record();
            let trusted = record.map(|record| record.trusted(self.torrent(), stamps, writers));
            trusted.unwrap_or(Ok(Vec::new())).unwrap_or_else(|error| {
                problem = Some(error);
                Vec::new()
            })
        })?;
        Ok((verified, problem))
    }

    /// Returns the state of selected content that is complete by its record, without reading it. Returns `None` if a
    /// selected piece is not trusted.
    fn unchanged(&self, settings: &VerifySettings) -> Result<Option<ContentState>, TorrentError> {
        let Some(record) = self.record() else {
            return Ok(None);
        };
        let (stamps, writers) = (self.storage.stamps(), self.storage.writers());
        // A problem of the record is reported by the verification that follows.
        let trusted = record.trusted(self.torrent(), &stamps, &writers);
        let trusted = trusted.unwrap_or_default();
        if trusted.len() != self.piece_count as usize || !self.selection().is_complete(&trusted) {
            return Ok(None);
        }
        let content = self.verify_or_trust(settings)?;
        Ok(Some(content).filter(|content| self.selection().is_complete(&content.have)))
    }

    /// Returns `true` if most pieces will probably not be read by [`Self::verify_or_find`].
    pub(crate) fn is_recorded(&self) -> bool {
        self.record().is_some_and(|record| record.exists())
    }

    /// Records the present pieces, if sizes and modification times are trusted.
    fn recorded(&self, verified: StampedReport, problem: Option<RecordProblem>) -> ContentState {
        let stamped = verified.stamped;
        let writers = verified.writers.clone();
        let mut verification = self.content_state(verified);
        verification.record_problem = problem;
        if let Some(record) = self.record() {
            let written = record.write(
                self.torrent(),
                &verification.have,
                &verification.stamps,
                &writers,
                stamped,
            );
            verification.record_problem = verification.record_problem.or(written.err());
        }
        verification
    }

    /// Finds the content again if its files have changed since `before`. Another program may have named them, and another
    /// file system may have been mounted.
    pub(crate) fn find_again(
        &self,
        mode: &Mode,
        before: &Stamps,
    ) -> Result<Option<Self>, TorrentError> {
        let mut found = Self::find(self.torrent(), mode)?;
        found.sources = self.sources.clone();
        found.selection = Mutex::new(self.selection());
        let has_changed = found.storage.stamps() != *before;
        Ok(has_changed.then_some(found))
    }

    /// Returns `true` if no file of the content exists: all are absent, or their folder or its file system is.
    fn is_gone(&self) -> bool {
        let mut files = files_of(self.torrent()).filter(|(_, file)| file.length() > 0);
        let is_absent = |index| {
            let status = self.storage.status(index);
            status.is_err_and(|error| is_absent(&error) || is_replaced(&error))
        };
        matches!(self.absence(), Absence::Unmounted(_))
            || files.all(|(index, file)| file.kind() != FileKind::Regular || is_absent(index))
    }

    /// Returns the reason why no piece is present.
    pub(crate) fn absence(&self) -> Absence {
        let folder = self.folder.clone();
        let now = match self.folder.metadata() {
            Err(error) if is_absent(&error) => return Absence::NoFolder(folder),
            now => now.ok().map(|now| now.dev()),
        };
        let mut is_empty = self.folder.read_dir().into_iter();
        let is_empty = is_empty
            .next()
            .is_some_and(|mut names| names.next().is_none());
        match (self.device, now) {
            (Some(device), Some(now)) if device != now => Absence::Unmounted(folder),
            _ if is_empty => Absence::EmptyFolder(folder),
            _ => Absence::NoPiece(self.root.clone()),
        }
    }

    /// Returns `true` if a file has changed since the storage began to watch it.
    pub(crate) fn has_changed(&self) -> bool {
        self.storage.has_changed(&self.storage.stamps())
    }

    /// Verifies the content if a file has changed since the storage began to watch it.
    pub(crate) fn verify_changed(
        &self,
        settings: &VerifySettings,
    ) -> Result<Option<ContentState>, TorrentError> {
        if !self.has_changed() {
            return Ok(None);
        }
        self.verify(settings).map(Some)
    }

    /// Verifies the content of a finished download after it has been written to the disk.
    pub(crate) fn verify_stored(
        &self,
        settings: &VerifySettings,
    ) -> Result<ContentState, TorrentError> {
        self.storage.discard_staged();
        let selection = self.selection();
        self.unmark(|piece| selection.has_piece(piece as usize));
        self.sync(settings)?;
        // Only files that nobody has open for writing can be trusted later.
        self.storage.close();
        self.verify(settings)
    }

    /// Waits until the content has been written to the disk.
    fn sync(&self, settings: &VerifySettings) -> Result<(), TorrentError> {
        self.storage.sync(&settings.cancel)?;
        if settings.cancel.is_cancelled() {
            return Err(TorrentError::Interrupted);
        }
        Ok(())
    }

    fn content_state(&self, verified: StampedReport) -> ContentState {
        let StampedReport { report, stamps, .. } = verified;
        let selection = self.selection();
        let files = report.files().iter().enumerate();
        let selected = files
            .filter(|(n, file)| selection.has_file(*n) || selection.has_any(file.pieces.clone()));
        let unreadable = selected.filter_map(|(_, file)| self.unreadable(file));
        let have = have(&report);
        ContentState {
            wrong: self.wrong(&report, &have),
            have,
            is_complete: report.is_complete(),
            unreadable: unreadable.collect(),
            stamps,
            trusted: report.trusted_pieces(),
            record_problem: None,
            is_deferred: false,
        }
    }

    /// Returns the pieces with wrong content. A download leaves holes and parts of pieces, which are not wrong.
    fn wrong(&self, report: &Report, have: &[bool]) -> Vec<bool> {
        let states = report.pieces().iter().zip(have).zip(0..);
        let wrong = states.map(|((state, have), piece)| {
            *state == PieceState::Bad && !have && self.is_whole(piece)
        });
        wrong.collect()
    }

    /// Returns `true` if all bytes of a piece are on the disk, as far as the records of a download show.
    fn is_whole(&self, piece: u32) -> bool {
        let remains = self.storage.remains(piece);
        matches!(remains, Ok(Remains::Everything | Remains::Other))
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

    fn report(&self, settings: &VerifySettings) -> Result<StampedReport, TorrentError> {
        self.report_untrusted(settings, |_, _| Vec::new())
    }

    /// Verifies the pieces that `trusted` does not return. `trusted` gets the state of the files before the
    /// verification, and which of them are open for writing.
    fn report_untrusted(
        &self,
        settings: &VerifySettings,
        trusted: impl FnOnce(&Stamps, &[Writers]) -> Vec<bool>,
    ) -> Result<StampedReport, TorrentError> {
        let VerifySettings {
            hashing,
            cancel,
            live,
            ..
        } = settings;
        self.storage.refuse_links_out()?;
        let stamped = SystemTime::now();
        let stamps = self.storage.stamps();
        // A program that opens a file for writing from now on changes its time with the first write.
        let writers = match self.records {
            Some(_) => self.storage.writers(),
            None => Vec::new(),
        };
        let trusted = trusted(&stamps, &writers);
        let running = live.start(self.piece_count);
        let mut progress = |progress: &Progress| live.set_bytes(progress.hashed_bytes);
        let watch = |piece: PieceIndex, state| {
            running.set(piece.get(), state, || self.is_whole(piece.get()));
        };
        let content = &self.content;
        let is_trusted = |piece: PieceIndex| trusted.get(piece.get() as usize) == Some(&true);
        let verification = hashlane_verify::Verification::new(content);
        let verification = verification.options(*hashing).cancel(cancel);
        let report = verification
            .trust(&is_trusted)
            .watch(&watch)
            .run(&mut progress)?;
        if report.is_cancelled() {
            return Err(TorrentError::Interrupted);
        }
        Ok(StampedReport {
            report,
            stamps,
            writers,
            stamped,
        })
    }
}

fn lossy(text: &OsStr) -> String {
    text.to_string_lossy().into_owned()
}

/// Returns an entry for each piece, `true` if it is present and right. A hybrid torrent from a magnet link lacks piece
/// layers, so version 1 proves its pieces.
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
