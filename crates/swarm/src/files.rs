//! The files of one torrent, opened below one folder.

mod guarded;

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use hashlane_files::{
    CachedFile, FileCache, FileId, FileStatus, Root, SourceFile, WritableFile, WritableRoot,
    Writers, is_absent, is_out_of_descriptors, leads_out,
};
use hashlane_metainfo::{File, FileKind, TorrentPath};
use hashlane_verify::{CancelToken, Content, FileIndex, files_of};

use crate::guard::{Guard, Replaced, StagingFile};
use crate::watch::{Stamps, Watch, is_suspect};
use crate::writable::{Writable, Writing};

/// Number of bytes to compare or copy at a time.
const COPY_LEN: usize = 256 << 10;

/// The permitted operations on the files of a torrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Files are only read.
    Serve,
    /// Files are created, extended and written to.
    Download,
}

/// A failed operation on a file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
#[non_exhaustive]
pub struct StorageError {
    /// The file.
    pub path: PathBuf,
    /// The reason. The text above contains it, so it is not a source.
    pub error: Arc<io::Error>,
}

/// The files of one torrent. They are open while they are used, within the budget of the process.
#[derive(Debug)]
pub(crate) struct TorrentFiles {
    /// The folder as the user named it, for messages.
    folder: PathBuf,
    root: FilesRoot,
    /// The files, in the torrent's order.
    entries: Vec<Entry>,
    open: FileCache<FileIndex, OpenFile>,
    /// For each created or written file of the file system: the position in [`Self::entries`] of the torrent's file
    /// that owns it.
    owners: Mutex<HashMap<FileId, usize>>,
    /// The files of the file system that may be written to, with their times of creation: this process created them, or the
    /// client permits it.
    permitted: Mutex<HashMap<FileId, Option<SystemTime>>>,
    /// The last failure. libtorrent's own report lacks the details.
    failure: Mutex<Option<StorageError>>,
    watch: Watch,
    /// The last file for which there was no descriptor. The operation is repeated.
    shortage: Mutex<Option<StorageError>>,
    /// The info-hash, for marks.
    info_hash: String,
    guard: Mutex<Guard>,
    staging_path: PathBuf,
    staging: StagingFile,
    /// The files that were renamed and replaced, until the client asks.
    replaced: Mutex<Vec<Replaced>>,
    writing: Writing,
    /// Whether a file that has several names is replaced by a copy before it is written to.
    copies_linked: AtomicBool,
}

/// The error for a file that has other names, which must not change.
#[derive(Debug, thiserror::Error)]
#[error("has several names (hard links), and would change under all of them; not written to")]
struct Linked;

/// The error for a file that this process neither created nor may replace.
#[derive(Debug, thiserror::Error)]
#[error("exists and does not belong to this torrent")]
struct Unrelated;

impl StorageError {
    /// Returns `true` if the file exists and does not belong to the torrent. Nothing was written to it.
    pub fn is_unrelated(&self) -> bool {
        matches!(self.error.get_ref(), Some(inner) if inner.is::<Unrelated>())
    }
}

impl StorageError {
    /// Returns `true` if the file has several names (hard links). Nothing was written to it.
    pub fn is_linked(&self) -> bool {
        matches!(self.error.get_ref(), Some(inner) if inner.is::<Linked>())
    }
}

fn unrelated() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, Unrelated)
}

#[derive(Debug)]
enum FilesRoot {
    Serve(Root),
    Download(WritableRoot),
}

#[derive(Debug)]
struct Entry {
    /// The path below the folder, or the absolute path of a file that lies elsewhere.
    path: PathBuf,
    /// The folder of a file that a content map has. The file is only read.
    elsewhere: Option<Root>,
    kind: EntryKind,
}

#[derive(Debug)]
enum EntryKind {
    File {
        len_bytes: u64,
        is_executable: bool,
    },
    /// A symbolic link to this path.
    Link(PathBuf),
    /// Padding: zeros that are not stored on the disk.
    Padding,
}

#[derive(Debug)]
enum OpenFile {
    Read(SourceFile),
    Write(WritableFile),
}

impl OpenFile {
    fn as_source(&self) -> &SourceFile {
        match self {
            Self::Read(file) => file,
            Self::Write(file) => file.as_source(),
        }
    }
}

/// Returns the target of a symbolic link of a torrent, relative to the folder of the link.
fn link_of(file: File<'_>, target: TorrentPath<'_>) -> PathBuf {
    let depth = file.path().components().count() - 1;
    let mut path: PathBuf = std::iter::repeat_n("..", depth).collect();
    let components = target.components();
    path.extend(components.filter_map(|component| component.to_os_str().ok()));
    path
}

impl TorrentFiles {
    /// Returns the files of `content`, which are below `folder`.
    pub(crate) fn new(
        content: &Content,
        folder: &Path,
        access: Access,
    ) -> Result<Self, StorageError> {
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |error: io::Error| StorageError {
                path,
                error: Arc::new(error),
            }
        };
        let root = match access {
            // The folder may appear later. Its files are absent until then.
            Access::Serve => match Root::open(folder) {
                Err(error) if is_absent(&error) => Root::at(folder),
                root => root,
            }
            .map(FilesRoot::Serve),
            Access::Download => WritableRoot::at(folder).map(FilesRoot::Download),
        };
        let root = root.map_err(fail(folder))?;
        let torrent = content.torrent();
        let mut entries = Vec::with_capacity(torrent.files().len());
        for (index, file) in files_of(torrent) {
            let path = content.path_of(index).map_err(fail(folder))?;
            let elsewhere = match path.parent() {
                Some(parent) if content.is_mapped(index) => {
                    Some(Root::at(parent).map_err(fail(&path))?)
                }
                _ => None,
            };
            let path = match path.strip_prefix(folder) {
                _ if elsewhere.is_some() => path,
                Ok(path) => path.to_owned(),
                Err(_) => {
                    let text = format!("not below {}", folder.display());
                    let error = io::Error::new(io::ErrorKind::InvalidInput, text);
                    return Err(fail(&path)(error));
                }
            };
            entries.push(Entry {
                path,
                elsewhere,
                kind: match file.kind() {
                    FileKind::Regular => EntryKind::File {
                        len_bytes: file.length(),
                        is_executable: file.attributes().executable,
                    },
                    FileKind::Padding => EntryKind::Padding,
                    FileKind::Symlink { target } => EntryKind::Link(link_of(file, target)),
                },
            });
        }
        let hashes = torrent.info_hashes();
        let v1 = hashes.v1().map(|hash| hash.to_string());
        let info_hash = v1.or_else(|| hashes.v2().map(|hash| hash.to_string()));
        let info_hash = info_hash.unwrap_or_default();
        Ok(Self {
            staging_path: format!(".hashlane-{info_hash}.part").into(),
            staging: FileCache::new(),
            guard: Mutex::default(),
            replaced: Mutex::default(),
            info_hash,
            folder: folder.to_owned(),
            root,
            entries,
            open: FileCache::new(),
            owners: Mutex::default(),
            permitted: Mutex::default(),
            failure: Mutex::new(None),
            watch: Watch::default(),
            shortage: Mutex::new(None),
            writing: Writing::default(),
            copies_linked: AtomicBool::new(false),
        })
    }

    /// Returns the last failure, once.
    pub(crate) fn take_failure(&self) -> Option<StorageError> {
        lock(&self.failure).take()
    }

    /// Returns the last file for which there was no descriptor, once.
    pub(crate) fn take_shortage(&self) -> Option<StorageError> {
        lock(&self.shortage).take()
    }

    /// Creates or extends the wanted files, except guarded ones. `wanted` has an entry for each file except padding; an
    /// empty slice means all files.
    pub(crate) fn prepare(&self, wanted: &[bool]) -> Result<(), StorageError> {
        self.writable_root()
            .and_then(|root| root.create_folder())
            .map_err(|error| StorageError {
                path: self.folder.clone(),
                error: Arc::new(error),
            })?;
        if let Ok(staging) = self.staging() {
            lock(&self.guard).clean(false, &staging);
        }
        let entries = self.entries.iter().enumerate();
        let files = entries.filter(|(_, entry)| !matches!(entry.kind, EntryKind::Padding));
        for (n, (index, entry)) in files.enumerate() {
            let is_wanted = *wanted.get(n).unwrap_or(&true);
            if is_wanted && !self.is_guarded(FileIndex::new(index)) {
                self.create(index, entry)
                    .map_err(|error| self.error(&entry.path, error))?;
            }
        }
        Ok(())
    }

    fn create(&self, index: usize, entry: &Entry) -> io::Result<()> {
        match &entry.kind {
            EntryKind::Padding => Ok(()),
            EntryKind::Link(target) => self.writable_root()?.create_link(target, &entry.path),
            EntryKind::File { len_bytes, .. } => match self.status_of(entry) {
                Ok(status) if status.is_regular => {
                    self.reserve(index, status.id)?;
                    // A file of the right length is not opened: it may be read-only.
                    if status.len_bytes < *len_bytes {
                        self.open_to_write(index)?;
                    }
                    Ok(())
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => self.open_to_write(index).map(drop),
            },
        }
    }

    /// Permits writing to a file that has not changed since `stamps`, unless it is guarded.
    pub(crate) fn permit(&self, index: FileIndex, stamps: &Stamps) {
        let entry = &self.entries[index.get()];
        if let Ok(status) = self.status_of(entry)
            && stamps.0.get(index.get()) == Some(&Some(status.stamp))
            && entry.elsewhere.is_none()
            && !self.is_guarded(index)
        {
            lock(&self.permitted).insert(status.id, status.created);
        }
    }

    /// Returns `true` if this process created the file, or may write to it.
    pub(crate) fn is_permitted(&self, index: FileIndex) -> bool {
        let status = self.status_of(&self.entries[index.get()]);
        status.is_ok_and(|status| self.permits(&status))
    }

    /// Returns `true` if the file may be written to. A new file that reuses the inode of a permitted one may not, if the
    /// file system records times of creation.
    fn permits(&self, status: &FileStatus) -> bool {
        lock(&self.permitted).get(&status.id).is_some_and(|then| {
            let created = then.zip(status.created);
            created.is_none_or(|(then, now)| then == now)
        })
    }

    /// Returns the mark of a file that this torrent downloads: the info-hash and the position of the file.
    fn mark_of(&self, index: usize) -> String {
        format!("{} {index}", self.info_hash)
    }

    /// Returns `true` if a file has its full length and the mark of an incomplete download of this torrent.
    pub(crate) fn is_marked(&self, index: FileIndex) -> bool {
        let EntryKind::File { len_bytes, .. } = self.entries[index.get()].kind else {
            return false;
        };
        self.to_read(index).is_ok_and(|file| {
            let file = file.as_source();
            file.len_bytes() == len_bytes
                && file.mark().as_deref() == Some(self.mark_of(index.get()).as_bytes())
        })
    }

    /// Marks a file. Does nothing if the file is absent or the file system has no marks.
    pub(crate) fn mark(&self, index: FileIndex) {
        if !self.is_elsewhere(index)
            && let Ok(file) = self.to_read(index)
        {
            let mark = self.mark_of(index.get());
            let _ = file.as_source().set_mark(mark.as_bytes());
        }
    }

    /// Removes the mark of a file. Returns `true` if the file had one.
    pub(crate) fn unmark(&self, index: FileIndex) -> bool {
        let file = self.to_read(index);
        !self.is_elsewhere(index) && file.is_ok_and(|file| file.as_source().remove_mark().is_ok())
    }

    /// Waits for the operations that create files or write to them, and refuses further ones.
    pub(crate) fn end(&self) {
        self.discard_own_staged();
        self.writing.end();
        self.close();
    }

    /// Returns the folder that the paths of the files are relative to.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns `true` if a content map has the file: the file lies anywhere and is only read.
    pub(crate) fn is_elsewhere(&self, index: FileIndex) -> bool {
        self.entries[index.get()].elsewhere.is_some()
    }

    /// Returns the path of a file below the folder, or its absolute path if it lies elsewhere.
    pub(crate) fn path_of(&self, index: FileIndex) -> &Path {
        &self.entries[index.get()].path
    }

    /// Returns the path that a symbolic link of the torrent leads to.
    pub(crate) fn link_target(&self, index: FileIndex) -> Option<&Path> {
        match &self.entries[index.get()].kind {
            EntryKind::Link(target) => Some(target),
            _ => None,
        }
    }

    /// Returns the state of a file, with symbolic links followed.
    pub(crate) fn status(&self, index: FileIndex) -> io::Result<FileStatus> {
        self.status_of(&self.entries[index.get()])
    }

    fn status_of(&self, entry: &Entry) -> io::Result<FileStatus> {
        let (root, path) = self.place_of(entry);
        root.status(path)
    }

    /// Returns the folder of an entry, and the path of the entry below it.
    fn place_of<'e>(&'e self, entry: &'e Entry) -> (&'e Root, &'e Path) {
        match (&entry.elsewhere, entry.path.file_name()) {
            (Some(folder), Some(name)) => (folder, Path::new(name)),
            _ => (self.root(), &entry.path),
        }
    }

    /// Returns the files that were renamed and replaced since the last call.
    pub(crate) fn take_replaced(&self) -> Vec<Replaced> {
        std::mem::take(&mut *lock(&self.replaced))
    }

    /// Opens each present file with content once, for reading.
    pub(crate) fn probe(&self) -> Result<(), StorageError> {
        for entry in &self.entries {
            if let EntryKind::File { len_bytes: 1.., .. } = entry.kind
                && let (root, path) = self.place_of(entry)
                && let Err(error) = root.open_file(path)
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(self.error(&entry.path, error));
            }
        }
        Ok(())
    }

    /// Refuses a file with content that a symbolic link out of the folder leads to. Opens no file.
    pub(crate) fn refuse_links_out(&self) -> Result<(), StorageError> {
        for entry in &self.entries {
            if let EntryKind::File { len_bytes: 1.., .. } = entry.kind
                && let Err(error) = self.status_of(entry)
                && leads_out(&error)
            {
                return Err(self.error(&entry.path, error));
            }
        }
        Ok(())
    }

    /// Fills `buffer` with the bytes of a file from `offset` on.
    pub(crate) fn read(&self, index: FileIndex, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let staged = {
            let mut guard = lock(&self.guard);
            match self.staging() {
                Ok(staging) => guard.read(index.get(), buffer, offset, &staging),
                Err(_) => Ok(false),
            }
        };
        match staged {
            Ok(false) => {}
            result => return self.keep_failure(index, result.map(drop)),
        }
        let result = self.watch.read(index.get(), || {
            let file = self.to_read(index)?;
            file.as_source().read_exact_at(buffer, offset)?;
            // Must come after the read, so that a change during the read is detected.
            file.as_source().stamp()
        });
        self.keep_failure(index, result)
    }

    /// Returns the state of all files. An entry that is not a file, or cannot be found, counts as absent.
    pub(crate) fn stamps(&self) -> Stamps {
        self.refresh();
        let stamps = self.entries.iter().map(|entry| match entry.kind {
            EntryKind::File { len_bytes: 1.., .. } => {
                let (root, path) = self.place_of(entry);
                root.stamp(path).ok()
            }
            _ => None,
        });
        Stamps(stamps.collect())
    }

    /// Finds out whether programs have the files open for writing.
    pub(crate) fn writers(&self) -> Vec<Writers> {
        let writers = self.entries.iter().map(|entry| match entry.kind {
            EntryKind::File { len_bytes: 1.., .. } => {
                let (root, path) = self.place_of(entry);
                root.writers(path)
            }
            _ => Writers::Unknown,
        });
        writers.collect()
    }

    /// Compares each read with these stamps from now on.
    pub(crate) fn start_watch(&self, stamps: Stamps) {
        // An open file may have been replaced by another one.
        self.open.clear();
        self.watch.start(stamps);
    }

    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Writes `bytes` to a file from `offset` on. A file that is too short gets its length first.
    pub(crate) fn write(&self, index: FileIndex, bytes: &[u8], offset: u64) -> io::Result<()> {
        let _writable = self.keep_failure(index, self.writable_root())?;
        let staged = self
            .staging()
            .and_then(|staging| lock(&self.guard).write(index.get(), bytes, offset, &staging));
        let result = match staged {
            Ok(false) => self.to_write(index).and_then(|file| match &*file {
                OpenFile::Write(file) => file.write_all_at(bytes, offset),
                OpenFile::Read(_) => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
            }),
            result => result.map(drop),
        };
        self.keep_failure(index, result)
    }

    /// Returns `true` if a file has a byte in `offset..end` that differs from `value`, or that cannot be read: it may have
    /// any value. An absent file has no bytes.
    pub(crate) fn differs_from(
        &self,
        index: FileIndex,
        mut offset: u64,
        end: u64,
        value: u8,
    ) -> bool {
        let file = match self.to_read(index) {
            Ok(file) => file,
            Err(error) => return !is_absent(&error),
        };
        let mut window = Vec::new();
        while offset < end {
            let region = file.as_source().region_at(offset);
            let region_end = region.range.end.min(end);
            if region.is_hole && region_end > offset && value == 0 {
                offset = region_end;
                continue;
            }
            window.resize((end - offset).min(COPY_LEN as u64) as usize, 0);
            match file.as_source().read_at(&mut window, offset) {
                Ok(0) => return false,
                Ok(n) => {
                    if window[..n].iter().any(|byte| *byte != value) {
                        return true;
                    }
                    offset += n as u64;
                }
                Err(_) => return true,
            }
        }
        false
    }

    /// Waits until all present files, and the folders with their names, are on the disk, or until `cancel` is set. Drops
    /// the files from the page cache where the system offers this. Fails if the folder was unmounted.
    pub(crate) fn sync(&self, cancel: &CancelToken) -> Result<(), StorageError> {
        self.refresh();
        // Files that lie elsewhere are not written.
        let own = self
            .entries
            .iter()
            .filter(|entry| entry.elsewhere.is_none());
        let files = own
            .clone()
            .filter(|entry| matches!(entry.kind, EntryKind::File { .. }));
        let files: Vec<&Path> = files.map(|entry| entry.path.as_path()).collect();
        // Syncing the files one by one takes ten times as long on ext4, which commits its journal for each file.
        self.each_present(&files, cancel, Root::start_sync)?;
        self.each_present(&files, cancel, Root::sync_file)?;
        let on_disk = own.filter(|entry| !matches!(entry.kind, EntryKind::Padding));
        let folders: BTreeSet<&Path> = on_disk
            .flat_map(|entry| entry.path.ancestors().skip(1))
            .collect();
        let folders: Vec<&Path> = folders.into_iter().collect();
        self.each_present(&folders, cancel, Root::sync_folder)
    }

    /// Calls `run` for each path until `cancel` is set, and returns the first error. Skips absent files, because the
    /// verification reports them.
    fn each_present(
        &self,
        paths: &[&Path],
        cancel: &CancelToken,
        run: impl Fn(&Root, &Path) -> io::Result<()>,
    ) -> Result<(), StorageError> {
        let mut first = Ok(());
        for path in paths {
            if cancel.is_cancelled() {
                break;
            }
            match run(self.root(), path) {
                Err(error) if !is_absent(&error) => {
                    first = first.and(Err(self.error(path, error)));
                }
                _ => {}
            }
        }
        first
    }

    /// Closes all files.
    pub(crate) fn close(&self) {
        self.open.clear();
        self.staging.clear();
    }

    fn to_read(&self, index: FileIndex) -> io::Result<CachedFile<OpenFile>> {
        if let Some(file) = self.open.get(&index) {
            return Ok(file);
        }
        let (root, path) = self.place_of(&self.entries[index.get()]);
        self.open
            .open(index, || Ok(OpenFile::Read(root.open_file(path)?)))
    }

    fn to_write(&self, index: FileIndex) -> io::Result<CachedFile<OpenFile>> {
        self.writable_root()?;
        match self.open.get(&index) {
            Some(file) if matches!(*file, OpenFile::Write(_)) => Ok(file),
            _ => self.open.open(index, || {
                Ok(OpenFile::Write(self.open_to_write(index.get())?))
            }),
        }
    }

    /// Opens a file for writing, and extends it if it is shorter. Creates and marks an absent file. A file that exists must
    /// be permitted.
    fn open_to_write(&self, index: usize) -> io::Result<WritableFile> {
        let entry = &self.entries[index];
        let EntryKind::File {
            len_bytes,
            is_executable,
        } = entry.kind
        else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if entry.elsewhere.is_some() {
            let text =
                "is incomplete or damaged, and is not written to: a content map has the file";
            return Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, text));
        }
        let root = self.writable_root()?;
        let mut file = match root.open_file(&entry.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let file = root.create_file(&entry.path, is_executable)?;
                // Not all file systems have marks.
                let _ = file.as_source().set_mark(self.mark_of(index).as_bytes());
                let status = file.status()?;
                lock(&self.permitted).insert(status.id, status.created);
                file
            }
            file => {
                let file = file?;
                if !self.permits(&file.status()?) {
                    return Err(unrelated());
                }
                file
            }
        };
        self.reserve(index, file.status()?.id)?;
        if file.status()?.n_names > 1 {
            file = self.own_copy(index, &file)?;
        }
        file.extend_to(len_bytes)?;
        Ok(file)
    }

    /// Replaces a file that has several names by a copy, if that is permitted.
    fn own_copy(&self, index: usize, linked: &WritableFile) -> io::Result<WritableFile> {
        if !self.copies_linked.load(Ordering::Relaxed) {
            return Err(io::Error::other(Linked));
        }
        let path = &self.entries[index].path;
        let copy = self.writable_root()?.make_own(path)?;
        // The file system may have no marks.
        if let Some(mark) = linked.as_source().mark() {
            let _ = copy.as_source().set_mark(&mark);
        }
        let status = copy.status()?;
        lock(&self.permitted).insert(status.id, status.created);
        self.reserve(index, status.id)?;
        Ok(copy)
    }

    /// Creates an absent file with the bytes of another file.
    pub(crate) fn create_copy(
        &self,
        index: FileIndex,
        from: &SourceFile,
        cancel: &CancelToken,
    ) -> Result<(), StorageError> {
        let entry = &self.entries[index.get()];
        let create = || {
            let root = self.writable_root()?;
            root.create_folder()?;
            let EntryKind::File { is_executable, .. } = entry.kind else {
                return Err(io::ErrorKind::InvalidInput.into());
            };
            let copy = root.create_copy(&entry.path, from, is_executable, cancel)?;
            // Not all file systems have marks.
            let _ = copy
                .as_source()
                .set_mark(self.mark_of(index.get()).as_bytes());
            let status = copy.status()?;
            lock(&self.permitted).insert(status.id, status.created);
            self.reserve(index.get(), status.id)
        };
        create().map_err(|error| self.error(&entry.path, error))
    }

    /// Copies files that have several names before they are written to, or refuses to write to them.
    pub(crate) fn set_copies_linked(&self, copies: bool) {
        self.copies_linked.store(copies, Ordering::Relaxed);
    }

    /// Returns `true` if files that have several names are copied before they are written to.
    pub(crate) fn copies_linked(&self) -> bool {
        self.copies_linked.load(Ordering::Relaxed)
    }

    /// Reserves a file of the file system for one file of the torrent, so that no other file of the torrent uses it.
    fn reserve(&self, index: usize, id: FileId) -> io::Result<()> {
        if matches!(
            self.entries[index].kind,
            EntryKind::File { len_bytes: 0, .. }
        ) {
            return Ok(());
        }
        let mut owners = lock(&self.owners);
        let owner = *owners.entry(id).or_insert(index);
        if owner == index {
            return Ok(());
        }
        // A new file can reuse the inode of a deleted file.
        let other = &self.entries[owner];
        if !self.status_of(other).is_ok_and(|status| status.id == id) {
            owners.insert(id, index);
            return Ok(());
        }
        let error = format!(
            "is the same file as {}: this file system does not distinguish their names, or they are linked",
            self.folder.join(&other.path).display()
        );
        Err(io::Error::new(io::ErrorKind::AlreadyExists, error))
    }

    fn root(&self) -> &Root {
        match &self.root {
            FilesRoot::Serve(root) => root,
            FilesRoot::Download(root) => root.as_root(),
        }
    }

    /// Notices folders that were mounted or unmounted.
    fn refresh(&self) {
        self.root().refresh();
        let elsewhere = self
            .entries
            .iter()
            .filter_map(|entry| entry.elsewhere.as_ref());
        elsewhere.for_each(Root::refresh);
    }

    /// Returns the folder for an operation that creates files or writes to them.
    fn writable_root(&self) -> io::Result<Writable<'_>> {
        match &self.root {
            FilesRoot::Serve(_) => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
            FilesRoot::Download(root) => self.writing.of(root),
        }
    }

    /// Keeps a failure for [`Self::take_failure`] or [`Self::take_shortage`], and returns an equal error.
    fn keep_failure<T>(&self, index: FileIndex, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            if is_suspect(&error) {
                return error;
            }
            let failure = self.error(&self.entries[index.get()].path, error);
            let again = match failure.error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(failure.error.kind(), Arc::clone(&failure.error)),
            };
            let kept = if is_out_of_descriptors(&again) {
                &self.shortage
            } else {
                &self.failure
            };
            *lock(kept) = Some(failure);
            again
        })
    }

    fn error(&self, path: &Path, error: io::Error) -> StorageError {
        StorageError {
            path: self.folder.join(path),
            error: Arc::new(error),
        }
    }
}

impl Drop for TorrentFiles {
    fn drop(&mut self) {
        self.discard_own_staged();
    }
}

/// Locks a value. The value is valid whenever its lock is released, so a poisoned lock is no problem.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
