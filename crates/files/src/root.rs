//! Files below one folder. No symbolic link leads out of the folder.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _};

use crate::atomic::UNFINISHED_FILES;
use crate::budget::Budget;
use crate::cache::{CachedFile, FileCache};
use crate::cancel::CancelToken;
use crate::copy::clone_or_copy;
use crate::file::{SourceFile, Writers, is_absent};
use crate::file_id::FileId;
use crate::positioned;
use crate::stamp::Stamp;
use crate::sys;
use crate::temporary::{TemporaryNames, hold_new};

/// A folder whose files are only opened for reading.
///
/// Paths are relative to the folder. Symbolic links are followed within the folder; a link that
/// leads out of it is an error. The folder is opened on demand and counts towards the budget of
/// open files, so a root itself holds no descriptor. It is closed when a root of it is dropped, so that its file system can
/// be unmounted; other roots open it again.
#[derive(Clone, Debug)]
pub struct Root {
    folder: PathBuf,
    /// The identity of the folder; empty if another folder may take its place.
    id: OnceLock<FileId>,
}

/// A folder whose files can also be created, extended and written to.
///
/// If another folder takes its place, all operations fail: it may be the folder below a file system that was unmounted.
#[derive(Clone, Debug)]
pub struct WritableRoot {
    root: Root,
}

/// A regular file open for reading and writing.
#[derive(Debug)]
pub struct WritableFile {
    source: SourceFile,
}

/// Properties of a file below a [`Root`], with symbolic links resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileStatus {
    /// Length in bytes.
    pub len_bytes: u64,
    /// Whether the file is a regular file.
    pub is_regular: bool,
    /// Number of names that the file has in its file system (hard links). A write changes the file under all of them.
    pub n_names: u64,
    /// The file's identity in the file system.
    pub id: FileId,
    /// The time of creation, if the file system records it. A new file can have the identity of a deleted file, but not its
    /// time of creation.
    pub created: Option<SystemTime>,
    /// The properties that change when the file is written to or replaced.
    pub stamp: Stamp,
}

impl Root {
    /// Returns the root at `folder`, which may be a symbolic link.
    ///
    /// # Errors
    /// The system's error if the folder cannot be opened.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let root = Self::at(folder)?;
        root.refresh();
        root.dir()?;
        Ok(root)
    }

    /// Returns the root at `folder`, which may not exist yet. Until it exists, its files are absent.
    ///
    /// # Errors
    /// The system's error if the current folder is unknown.
    pub fn at(folder: &Path) -> io::Result<Self> {
        let folder = std::path::absolute(folder)?;
        Ok(Self {
            folder,
            id: OnceLock::new(),
        })
    }

    /// Notices that another folder is at the path now, for example because a file system was mounted or unmounted.
    pub fn refresh(&self) {
        let now = std::fs::metadata(&self.folder);
        let id = now.ok().map(|now| FileId::of_std(&now));
        if dirs()
            .get(&self.folder)
            .is_some_and(|dir| Some(dir.id) != id)
        {
            dirs().remove(&self.folder);
        }
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// The system's error; `PermissionDenied` if a symbolic link leads out of the folder;
    /// `InvalidInput` if the file is not a regular file.
    pub fn open_file(&self, path: &Path) -> io::Result<SourceFile> {
        let mut options = OpenOptions::new();
        options.read(true);
        SourceFile::from_file(self.open_with(path, &mut options)?)
    }

    /// Returns the properties of a file.
    ///
    /// # Errors
    /// The same as [`Self::open_file`], but the file may be of any kind.
    pub fn status(&self, path: &Path) -> io::Result<FileStatus> {
        Ok(FileStatus::of(&self.in_dir(|dir| dir.metadata(path))?))
    }

    /// Returns the properties of a file that change when it is written to or replaced.
    ///
    /// # Errors
    /// The same as [`Self::status`].
    pub fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        Ok(Stamp::of_entry(&self.in_dir(|dir| dir.metadata(path))?))
    }

    /// Finds out whether a program has a file open for writing or maps it for writing. Such a program can change a page
    /// that is not on the disk yet without changing the file's times.
    pub fn writers(&self, path: &Path) -> Writers {
        let file = self.open_file(path);
        file.map_or(Writers::Unknown, |file| sys::writers(&file.file))
    }

    /// Starts writing a file's dirty pages to the disk, where the system supports it. For many files,
    /// [`Self::sync_file`] is faster if this function was called for all of them before.
    ///
    /// # Errors
    /// The same as [`Self::open_file`].
    pub fn start_sync(&self, path: &Path) -> io::Result<()> {
        // On Linux, this starts to write the pages that cannot be dropped yet.
        sys::drop_pages(&self.open_file(path)?.file);
        Ok(())
    }

    /// Waits until the bytes and the length of a file are on the disk. Then drops them from the
    /// page cache if the system offers this, so that the next read comes from the disk. Also
    /// reports errors of earlier writes (fsync(2)).
    ///
    /// Linux reports lost writes once, and keeps the lost bytes in the page cache as if they were on the disk. The pages
    /// are therefore dropped after an error too.
    ///
    /// # Errors
    /// The same as [`Self::open_file`].
    pub fn sync_file(&self, path: &Path) -> io::Result<()> {
        let file = self.open_file(path)?.file;
        let synced = sync(&file);
        sys::drop_pages(&file);
        synced
    }

    /// Waits until the names in a folder are on the disk. An empty path means the root folder.
    ///
    /// # Errors
    /// The same as [`Self::open_file`].
    pub fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let path = Path::new(".").join(path);
        let mut options = OpenOptions::new();
        options.read(true);
        sync(&self.open_with(&path, &mut options)?)
    }

    /// Opens a file, with the flags of [`sys::open_with_flags`].
    fn open_with(&self, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
        let file = sys::open_with_flags(|flags| {
            options.custom_flags(flags);
            self.in_dir(|dir| dir.open_with(path, options))
        });
        Ok(file?.into_std())
    }

    /// Runs `run` on the open folder, and closes cached files if no descriptor is left.
    fn in_dir<T>(&self, mut run: impl FnMut(&Dir) -> io::Result<T>) -> io::Result<T> {
        let opened = self.dir()?;
        let result = Budget::of_process().retry(|| run(&opened.dir));
        result.map_err(|error| {
            if leads_out(&error) {
                let text = "a symbolic link leads out of the folder and is not followed";
                io::Error::new(error.kind(), text)
            } else {
                error
            }
        })
    }

    fn dir(&self) -> io::Result<CachedFile<OpenFolder>> {
        let opened = match dirs().get(&self.folder) {
            Some(opened) => opened,
            None => dirs().open(self.folder.clone(), || OpenFolder::open(&self.folder))?,
        };
        match self.id.get() {
            Some(id) if *id != opened.id => Err(io::Error::other(Replaced(self.folder.clone()))),
            _ => Ok(opened),
        }
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        dirs().remove(&self.folder);
    }
}

/// A folder that stays open, with the identity that it had then.
#[derive(Debug)]
struct OpenFolder {
    dir: Dir,
    id: FileId,
}

impl OpenFolder {
    fn open(folder: &Path) -> io::Result<Self> {
        let open = || Dir::open_ambient_dir(folder, ambient_authority());
        let dir = Budget::of_process().retry(open)?;
        let id = FileId::of(&dir.dir_metadata()?);
        Ok(Self { dir, id })
    }
}

/// Returns the open folders of all roots.
fn dirs() -> &'static FileCache<PathBuf, OpenFolder> {
    static DIRS: OnceLock<FileCache<PathBuf, OpenFolder>> = OnceLock::new();
    DIRS.get_or_init(FileCache::new)
}

/// Waits until a file, or the names in a folder, are on the disk. Succeeds if the file system does not support this, as some of FUSE.
///
/// # Errors
/// The system's error.
pub fn sync(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// Another folder is at the path of a root.
#[derive(Debug, thiserror::Error)]
#[error("{} was unmounted or replaced", .0.display())]
struct Replaced(PathBuf);

/// Returns `true` if an error of a [`Root`] means that another folder is at its path now, for example that of a file system that was
/// unmounted.
pub fn is_replaced(error: &io::Error) -> bool {
    let inner = error.get_ref();
    inner.is_some_and(<dyn std::error::Error + Send + Sync>::is::<Replaced>)
}

/// Returns `true` if an error of a [`Root`] means that a symbolic link leads out of the folder.
pub fn leads_out(error: &io::Error) -> bool {
    // Such errors come from cap-std, not from the system.
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

impl WritableRoot {
    /// Returns the root at `folder`. Creates the folder and its parent folders if they do not
    /// exist.
    ///
    /// # Errors
    /// The system's error if the folder cannot be created or opened.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let root = Self::at(folder)?;
        root.create_folder()?;
        Ok(root)
    }

    /// Returns the root at `folder`, which may not exist yet; see [`Self::create_folder`].
    ///
    /// # Errors
    /// The system's error if the folder exists and cannot be opened.
    pub fn at(folder: &Path) -> io::Result<Self> {
        let root = Self {
            root: Root::at(folder)?,
        };
        root.root.refresh();
        match root.pin() {
            Err(error) if is_absent(&error) => Ok(root),
            pinned => pinned.map(|()| root),
        }
    }

    /// Creates the folder and its parent folders if they did not exist when the root was made. Nothing can be created in a
    /// folder that does not exist.
    ///
    /// # Errors
    /// The system's error if the folder cannot be created or opened.
    pub fn create_folder(&self) -> io::Result<()> {
        if self.root.id.get().is_none() {
            std::fs::create_dir_all(&self.root.folder)?;
            self.root.refresh();
            self.pin()?;
        }
        Ok(())
    }

    /// Accepts no other folder in place of the present one from now on.
    fn pin(&self) -> io::Result<()> {
        let id = self.root.dir()?.id;
        self.root.id.get_or_init(|| id);
        Ok(())
    }

    /// Returns the same folder for reading.
    pub fn as_root(&self) -> &Root {
        &self.root
    }

    /// Opens a regular file for reading and writing.
    ///
    /// # Errors
    /// The same as [`Root::open_file`].
    pub fn open_file(&self, path: &Path) -> io::Result<WritableFile> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let file = self.root.open_with(path, &mut options)?;
        Ok(WritableFile {
            source: SourceFile::from_file(file)?,
        })
    }

    /// Creates a file, and its parent folders if they do not exist, and opens the file for reading and writing.
    /// `is_executable` is the permission of the file.
    ///
    /// # Errors
    /// `AlreadyExists` if something exists at `path`; otherwise the same as [`Root::open_file`].
    pub fn create_file(&self, path: &Path, is_executable: bool) -> io::Result<WritableFile> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        // The umask of the process removes the permissions that the user does not grant.
        options.mode(if is_executable { 0o777 } else { 0o666 });
        let file = match self.root.open_with(path, &mut options) {
            // Not before the first attempt: without a descriptor left, `create_dir_all` fails with
            // EEXIST.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.create_parents(path)?;
                self.root.open_with(path, &mut options)?
            }
            result => result?,
        };
        Ok(WritableFile {
            source: SourceFile::from_file(file)?,
        })
    }

    /// Renames a file, and replaces nothing. A symbolic link is renamed, not its target.
    ///
    /// # Errors
    /// `AlreadyExists` if something exists at `to`; otherwise the system's error.
    pub fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        // Creating the new name first works on every file system. The rename replaces this empty file.
        drop(self.create_file(to, false)?);
        let renamed = self.root.in_dir(|dir| dir.rename(from, dir, to));
        if renamed.is_err() {
            let _ = self.remove_file(to);
        }
        renamed
    }

    /// Replaces a file by a copy, and opens the copy for reading and writing. Other names of the file (hard links) keep the
    /// old file. The bytes are shared until they change if the file system can, or else copied.
    ///
    /// # Errors
    /// The system's error. The file is unchanged then.
    pub fn make_own(&self, path: &Path) -> io::Result<WritableFile> {
        let original = self.root.open_file(path)?;
        let permissions = original.file.metadata()?.permissions();
        self.copy_through_temporary(
            path,
            &original,
            false,
            &CancelToken::default(),
            |copy, temporary| {
                copy.set_permissions(permissions)?;
                // A power cut leaves either the old or the new file.
                sync(copy)?;
                self.root.in_dir(|dir| dir.rename(temporary, dir, path))
            },
        )
    }

    /// Creates a file with the bytes of another one, and its parent folders, and opens it for reading and writing. The bytes
    /// are shared until they change if the file system can, or else copied. `is_executable` is the permission of the file.
    ///
    /// # Errors
    /// `AlreadyExists` if something exists at `path`; `Interrupted` after `cancel`; otherwise the system's
    /// error. The file does not exist then.
    pub fn create_copy(
        &self,
        path: &Path,
        from: &SourceFile,
        is_executable: bool,
        cancel: &CancelToken,
    ) -> io::Result<WritableFile> {
        self.copy_through_temporary(path, from, is_executable, cancel, |_, temporary| {
            self.rename_new(temporary, path)
        })
    }

    /// Copies a file under a temporary name, which `put` replaces.
    fn copy_through_temporary(
        &self,
        path: &Path,
        from: &SourceFile,
        is_executable: bool,
        cancel: &CancelToken,
        put: impl FnOnce(&File, &Path) -> io::Result<()>,
    ) -> io::Result<WritableFile> {
        let folder = path.parent().unwrap_or(Path::new(""));
        UNFINISHED_FILES.remove_abandoned_once(&self.root.folder.join(folder));
        let (mut copy, temporary) = self.create_temporary(folder, is_executable)?;
        let copied = clone_or_copy(from, &copy.source.file, cancel);
        let copied = copied.and_then(|()| put(&copy.source.file, &temporary));
        if let Err(error) = copied {
            let _ = self.remove_file(&temporary);
            return Err(error);
        }
        copy.source.set_len_bytes(from.len_bytes());
        Ok(copy)
    }

    /// Creates a file with a temporary name.
    fn create_temporary(
        &self,
        folder: &Path,
        is_executable: bool,
    ) -> io::Result<(WritableFile, PathBuf)> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = std::process::id() ^ NUMBER.fetch_add(1, Ordering::Relaxed);
            let TemporaryNames { prefix, suffix } = UNFINISHED_FILES;
            let path = folder.join(format!("{prefix}{:06}{suffix}", number % 1_000_000));
            match self.create_file(&path, is_executable) {
                Ok(file) if hold_new(&file.source.file, &self.root.folder.join(&path)) => {
                    return Ok((file, path));
                }
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
    }

    /// Removes a file or a symbolic link.
    ///
    /// # Errors
    /// The system's error.
    pub fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.root.in_dir(|dir| dir.remove_file(path))
    }

    /// Creates a symbolic link at `path`, and its parent folders. Does not change an existing file
    /// at `path`.
    ///
    /// # Errors
    /// The system's error; `PermissionDenied` if `target` is absolute.
    pub fn create_link(&self, target: &Path, path: &Path) -> io::Result<()> {
        self.create_parents(path)?;
        match self.root.in_dir(|dir| dir.symlink(target, path)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            result => result,
        }
    }

    fn create_parents(&self, path: &Path) -> io::Result<()> {
        match path.parent() {
            Some(parent) if parent != Path::new("") => {
                self.root.in_dir(|dir| dir.create_dir_all(parent))
            }
            _ => Ok(()),
        }
    }
}

impl WritableFile {
    /// Returns the file for reading.
    pub fn as_source(&self) -> &SourceFile {
        &self.source
    }

    /// Writes all of `bytes` from `offset` on.
    ///
    /// # Errors
    /// The system's error. A part of `bytes` may have been written.
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        positioned::write_all_at(&self.source.file, bytes, offset)
    }

    /// Returns the properties of the file.
    ///
    /// # Errors
    /// The system's error.
    pub fn status(&self) -> io::Result<FileStatus> {
        Ok(FileStatus::of(&Metadata::from_file(&self.source.file)?))
    }

    /// Extends the file to `len_bytes` with a hole. Does nothing if the file is at least that long.
    ///
    /// # Errors
    /// The system's error.
    pub fn extend_to(&mut self, len_bytes: u64) -> io::Result<()> {
        self.source.extend_to(len_bytes)
    }
}

impl FileStatus {
    fn of(metadata: &Metadata) -> Self {
        Self {
            len_bytes: metadata.len(),
            is_regular: metadata.is_file(),
            n_names: metadata.nlink(),
            id: FileId::of(metadata),
            created: metadata
                .created()
                .ok()
                .map(cap_std::time::SystemTime::into_std),
            stamp: Stamp::of_entry(metadata),
        }
    }
}
