//! Moves of files and folders that never replace anything.
//!
//! A move to another file system is a copy whose original is removed at the end. Both happen
//! through open folders and follow no symbolic link, so a folder that another program exchanges
//! for a link leads nowhere else.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, PermissionsExt as _};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Timespec, Timestamps, XattrFlags};
use rustix::io::Errno;
use tempfile::TempDir;

use crate::budget::Budget;
use crate::cancel::CancelToken;
use crate::file::Writers;
use crate::file_id::FileId;
use crate::root::sync;
use crate::stamp::Stamp;
use crate::sys;
use crate::temporary::{TemporaryNames, hold_new};

/// The names of unfinished moves.
pub const UNFINISHED_MOVES: TemporaryNames = TemporaryNames {
    prefix: ".hashlane-moving-",
    suffix: "",
};

/// Number of bytes to copy or compare before a move checks whether it is cancelled.
const STEP_LEN: u64 = 8 << 20;

/// Number of bytes to compare at once.
const WINDOW_LEN: usize = 256 << 10;

const CHANGED: &str = "another program changed it during the move";

/// Renames a file or folder.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the new path exists, [`io::ErrorKind::CrossesDevices`] if it
/// is on another file system, and other errors of the system.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    rename_new_at(CWD, from.as_os_str(), CWD, to.as_os_str())
}

/// Renames a file or folder to the first of several paths at which nothing exists, and returns this path.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if all of the paths exist, and the errors of [`rename_new`].
pub fn rename_to_free(
    from: &Path,
    paths: impl IntoIterator<Item = PathBuf>,
) -> io::Result<PathBuf> {
    for to in paths {
        match rename_new(from, &to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            renamed => return renamed.map(|()| to),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

pub(crate) fn rename_new_at(
    from_folder: impl AsFd,
    from: &OsStr,
    to_folder: impl AsFd,
    to: &OsStr,
) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(&from_folder, from, &to_folder, to, RenameFlags::NOREPLACE) {
            // The file system does not support the flag.
            Err(Errno::INVAL) => {}
            result => return Ok(result?),
        }
    }
    match rustix::fs::statat(&to_folder, to, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(Errno::NOENT) => Ok(rustix::fs::renameat(from_folder, from, to_folder, to)?),
        Err(error) => Err(error.into()),
    }
}

/// A move of a file or folder to another file system.
///
/// The copy is made in a private folder beside the new path, and appears only when it is complete.
/// Dropping a move that is not finished removes the copy. The originals are removed last.
#[derive(Debug)]
pub struct Relocation {
    /// The path of the folder that holds the original, for messages.
    from_path: PathBuf,
    from: Dir,
    /// The name of the file or folder.
    name: OsString,
    to: Dir,
    private: TempDir,
    /// The private folder, which is locked for as long as it is open.
    copy: File,
    /// The folders and files that were copied, by their paths below `from`.
    folders: BTreeMap<PathBuf, FileId>,
    files: BTreeMap<PathBuf, Stamp>,
}

impl Relocation {
    /// Starts to move the file or folder at `from` into the folder `to`. Nothing is copied yet.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if `to` contains the name already, and other errors of the
    /// system.
    pub fn start(from: &Path, to: &Path) -> io::Result<Self> {
        let name = from.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        if to.join(name).symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let from_path = from.parent().unwrap_or(Path::new(".")).to_owned();
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED_MOVES.prefix);
        builder.permissions(fs::Permissions::from_mode(0o700));
        let (private, copy) = loop {
            let private = builder.tempdir_in(to)?;
            let copy = File::open(private.path())?;
            if hold_new(&copy, private.path()) {
                break (private, copy);
            }
        };
        let open = |path: &Path| Dir::open_ambient_dir(path, ambient_authority());
        Ok(Self {
            from: open(&from_path)?,
            from_path,
            name: name.to_owned(),
            to: open(to)?,
            private,
            copy,
            folders: BTreeMap::new(),
            files: BTreeMap::new(),
        })
    }

    /// Returns the private folder, which contains the copy under the name of the original.
    pub fn folder(&self) -> &Path {
        self.private.path()
    }

    /// Copies the files and symbolic links that are not copied yet and that `wanted` accepts, to
    /// the disk. `wanted` gets paths that start with the name of the original.
    ///
    /// # Errors
    /// [`io::ErrorKind::Interrupted`] if `cancel` is cancelled,
    /// [`io::ErrorKind::InvalidInput`] if there is a file of another kind, and other errors of the
    /// system.
    pub fn copy(&mut self, wanted: impl Fn(&Path) -> bool, cancel: &CancelToken) -> io::Result<()> {
        let mut waiting = vec![PathBuf::from(&self.name)];
        while let Some(path) = waiting.pop() {
            cancel.check()?;
            let copied = self.copy_entry(&path, &mut waiting, &wanted, cancel);
            copied.map_err(|error| self.named(&path, &error))?;
        }
        Ok(())
    }

    fn copy_entry(
        &mut self,
        path: &Path,
        waiting: &mut Vec<PathBuf>,
        wanted: &impl Fn(&Path) -> bool,
        cancel: &CancelToken,
    ) -> io::Result<()> {
        let (from, name) = holder(&self.from, path)?;
        let metadata = match from.symlink_metadata(name) {
            // Another program removed the file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            result => result?,
        };
        let kind = metadata.file_type();
        let was_folder = self.folders.contains_key(path);
        let was_file = self.files.contains_key(path);
        if was_folder && !kind.is_dir() || was_file && kind.is_dir() {
            return Err(io::Error::other(CHANGED));
        }
        if kind.is_dir() {
            let folder = open_folder(&from, name)?;
            if !was_folder {
                let (to, _) = holder(&self.copy_folder()?, path)?;
                // The umask removes permissions, and so does a folder that is private.
                let mode = metadata.permissions().mode() & 0o777 | 0o700;
                let mode = u16::try_from(mode).unwrap_or(0o700);
                rustix::fs::mkdirat(&to, name, Mode::from_raw_mode(mode.into()))?;
                let id = FileId::of(&folder.dir_metadata()?);
                self.folders.insert(path.to_owned(), id);
            }
            for entry in folder.entries()? {
                waiting.push(path.join(entry?.file_name()));
            }
        } else if was_file || !wanted(path) {
            // It is copied already, or later.
        } else if kind.is_file() {
            let stamp = self.copy_file(path, &from, cancel)?;
            self.files.insert(path.to_owned(), stamp);
        } else if kind.is_symlink() {
            let (to, _) = holder(&self.copy_folder()?, path)?;
            to.symlink_contents(from.read_link_contents(name)?, name)?;
            keep_times_of_link(&to, name, &metadata)?;
            self.files
                .insert(path.to_owned(), Stamp::of_entry(&metadata));
        } else {
            let problem = "not a file, folder or symbolic link";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        Ok(())
    }

    /// Copies a file, and returns its state before.
    fn copy_file(&self, path: &Path, from: &Dir, cancel: &CancelToken) -> io::Result<Stamp> {
        let (to, name) = holder(&self.copy_folder()?, path)?;
        let original = open_file(from, name)?;
        let metadata = original.metadata()?;
        let stamp = Stamp::of(&metadata);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mut copy = open_at(&to, name, flags, 0o600)?;
        let mut left = stamp.length();
        while left > 0 {
            cancel.check()?;
            let n = io::copy(&mut (&original).take(left.min(STEP_LEN)), &mut copy)?;
            if n == 0 {
                break;
            }
            left -= n;
        }
        keep_properties(&original, &copy, &metadata)?;
        sync(&copy)?;
        // The copy is read back from the disk.
        sys::drop_pages(&copy);
        Ok(stamp)
    }

    /// Copies the remaining files, compares the copies with the originals except those that
    /// `is_verified` accepts, gives the copy its name, and removes the originals. `is_verified` gets
    /// paths that start with the name of the original, and the lengths of the copies.
    ///
    /// An original that changed since it was copied stays, and so do a file that a program can
    /// still write to, and a folder that has received other files. Their paths are returned.
    ///
    /// # Errors
    /// As for [`Self::copy`]; [`io::ErrorKind::AlreadyExists`] if the new path exists by now. The
    /// originals exist if the copy has not got its name.
    pub fn finish(
        mut self,
        is_verified: impl Fn(&Path, u64) -> bool,
        cancel: &CancelToken,
    ) -> io::Result<Vec<PathBuf>> {
        self.copy(|_| true, cancel)?;
        for (path, stamp) in &self.files {
            if !is_verified(path, stamp.length()) {
                let compared = self.compare(path, stamp, cancel);
                compared.map_err(|error| self.named(path, &error))?;
            }
        }
        let copy = self.copy_folder()?;
        for path in self.folders.keys().rev() {
            let (holder, name) = holder(&copy, path)?;
            let folder = open_folder(&holder, name)?.into_std_file();
            self.keep_properties_of_folder(path, &folder)?;
            sync(&folder)?;
        }
        rename_new_at(&copy, &self.name, &self.to, &self.name)?;
        sync(&open_folder(&self.to, OsStr::new("."))?.into_std_file())?;
        self.remove_originals()
    }

    /// Gives the copy of a folder, which is complete, the properties of the original, if that still exists.
    fn keep_properties_of_folder(&self, path: &Path, copy: &File) -> io::Result<()> {
        let original = holder(&self.from, path).and_then(|(from, name)| open_folder(&from, name));
        let Ok(original) = original.map(Dir::into_std_file) else {
            return Ok(());
        };
        keep_properties(&original, copy, &original.metadata()?)
    }

    /// Compares a copy with its original. An original that changed is not compared.
    fn compare(&self, path: &Path, stamp: &Stamp, cancel: &CancelToken) -> io::Result<()> {
        let (holder_of_copy, name) = holder(&self.copy_folder()?, path)?;
        if !holder_of_copy.symlink_metadata(name)?.is_file() {
            return Ok(());
        }
        let copy = open_file(&holder_of_copy, name)?;
        let original = holder(&self.from, path).and_then(|(from, name)| open_file(&from, name));
        let Ok(original) = original else {
            return Ok(());
        };
        let mut windows = [vec![0; WINDOW_LEN], vec![0; WINDOW_LEN]];
        let mut left = stamp.length();
        let mut is_same = copy.metadata()?.len() == left;
        while is_same && left > 0 {
            cancel.check()?;
            let n = left.min(WINDOW_LEN as u64) as usize;
            let [of_copy, of_original] = windows.each_mut().map(|window| &mut window[..n]);
            (&copy).read_exact(of_copy)?;
            is_same = (&original).read_exact(of_original).is_ok() && of_copy == of_original;
            left -= n as u64;
        }
        if is_same || Stamp::of(&original.metadata()?) != *stamp {
            return Ok(());
        }
        Err(io::Error::other("the copy differs from the original"))
    }

    fn remove_originals(self) -> io::Result<Vec<PathBuf>> {
        let mut left = Vec::new();
        for (path, stamp) in &self.files {
            let is_removed = self.remove_file(path, stamp);
            if !is_removed.map_err(|error| self.named(path, &error))? {
                left.push(self.from_path.join(path));
            }
        }
        for (path, id) in self.folders.iter().rev() {
            let is_removed = self.remove_folder(path, *id);
            let full = self.from_path.join(path);
            if !is_removed.map_err(|error| self.named(path, &error))?
                && !left.iter().any(|left| left.starts_with(&full))
            {
                left.push(full);
            }
        }
        Ok(left)
    }

    /// Removes the original of a file, unless it changed or is open for writing. Returns `false` if it stays.
    fn remove_file(&self, path: &Path, stamp: &Stamp) -> io::Result<bool> {
        let Ok((folder, name)) = holder(&self.from, path) else {
            return Ok(false);
        };
        let stamp_of = |name: &OsStr| -> io::Result<Stamp> {
            Ok(Stamp::of_entry(&folder.symlink_metadata(name)?))
        };
        match stamp_of(name) {
            Ok(now) if now == *stamp => {}
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error),
        }
        // A program that can still write to the file would lose its bytes. A link cannot be opened.
        if let Ok(file) = open_file(&folder, name)
            && sys::writers(&file) == Writers::Some
        {
            return Ok(false);
        }
        let mut private = OsString::from(".kept");
        private.push(self.private.path().file_name().unwrap_or_default());
        remove_unchanged(&folder, name, stamp, &private, &self.from_path.join(path))
    }

    /// Removes the original of a folder if it is empty. Returns `false` if it stays.
    fn remove_folder(&self, path: &Path, id: FileId) -> io::Result<bool> {
        let Ok((folder, name)) = holder(&self.from, path) else {
            return Ok(false);
        };
        match folder.symlink_metadata(name) {
            Ok(now) if FileId::of(&now) == id => {}
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error),
        }
        match folder.remove_dir(name) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
            result => result.map(|()| true),
        }
    }

    fn copy_folder(&self) -> io::Result<Dir> {
        let copy = Budget::of_process().retry(|| self.copy.try_clone())?;
        Ok(Dir::from_std_file(copy))
    }

    /// Returns an error that names a file of the original.
    fn named(&self, path: &Path, error: &io::Error) -> io::Error {
        let path = self.from_path.join(path);
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    }
}

/// Removes the file `name` if it has this stamp. Returns `false` if it is another file or changed. `path` is that of the
/// file, for messages.
pub(crate) fn remove_unchanged(
    folder: &Dir,
    name: &OsStr,
    stamp: &Stamp,
    private: &OsStr,
    path: &Path,
) -> io::Result<bool> {
    // By now, the name can lead to another file, and a file cannot be removed by its inode. Under
    // a name that no other program uses, the file is checked again. No clean-up removes it if it
    // has to stay there.
    match rename_new_at(folder, name, folder, private) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        result => result?,
    }
    if Stamp::of_entry(&folder.symlink_metadata(private)?).is_renamed_from(stamp) {
        folder.remove_file(private)?;
        return Ok(true);
    }
    rename_new_at(folder, private, folder, name).map_err(|error| {
        let kept = path.with_file_name(private);
        let message = format!(
            "the file changed, and is kept as {}: {error}",
            kept.display()
        );
        io::Error::new(error.kind(), message)
    })?;
    Ok(false)
}

/// Gives a copy the owner, permissions, extended attributes and times of its original, as `mv` does. What the user may not set,
/// or the file system does not have, is left out.
fn keep_properties(original: &File, copy: &File, metadata: &fs::Metadata) -> io::Result<()> {
    let is_owned = std::os::unix::fs::fchown(copy, Some(metadata.uid()), Some(metadata.gid()));
    let mut mode = metadata.permissions().mode() & 0o7777;
    if is_owned.is_err() {
        // A program must not run as another user than the owner of the original.
        mode &= 0o1777;
    }
    // Attributes have access control lists, whose mask the permissions are.
    copy_attributes(original, copy);
    copy.set_permissions(fs::Permissions::from_mode(mode))?;
    let times = fs::FileTimes::new()
        .set_accessed(metadata.accessed()?)
        .set_modified(metadata.modified()?);
    copy.set_times(times)
}

/// Copies the extended attributes that the user may set and the file system has.
fn copy_attributes(original: &File, copy: &File) {
    // No list and no value is longer on Linux.
    const MAX_LEN: usize = 64 << 10;
    let (mut names, mut value) = (vec![0; MAX_LEN], vec![0; MAX_LEN]);
    let n_bytes = rustix::fs::flistxattr(original, &mut names[..]).unwrap_or(0);
    let names = names[..n_bytes].split(|byte| *byte == 0);
    for name in names.filter(|name| !name.is_empty()) {
        if let Ok(len) = rustix::fs::fgetxattr(original, name, &mut value[..]) {
            let _ = rustix::fs::fsetxattr(copy, name, &value[..len], XattrFlags::empty());
        }
    }
}

fn keep_times_of_link(
    folder: &Dir,
    name: &OsStr,
    metadata: &cap_std::fs::Metadata,
) -> io::Result<()> {
    use cap_std::fs::MetadataExt as _;
    let timespec = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
    let times = Timestamps {
        last_access: timespec(metadata.atime(), metadata.atime_nsec()),
        last_modification: timespec(metadata.mtime(), metadata.mtime_nsec()),
    };
    Ok(rustix::fs::utimensat(
        folder,
        name,
        &times,
        AtFlags::SYMLINK_NOFOLLOW,
    )?)
}

/// Opens the folder that holds `path` below `root`, and returns it with the name of the file. No
/// symbolic link is followed.
pub(crate) fn holder<'a>(root: &Dir, path: &'a Path) -> io::Result<(Dir, &'a OsStr)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut folder = open_folder(root, OsStr::new("."))?;
    for component in path.parent().unwrap_or(Path::new("")) {
        folder = open_folder(&folder, component)?;
    }
    Ok((folder, name))
}

fn open_folder(holder: &Dir, name: &OsStr) -> io::Result<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    Ok(Dir::from_std_file(open_at(holder, name, flags, 0)?))
}

/// Opens a regular file for reading. Opening anything else does not block.
fn open_file(holder: &Dir, name: &OsStr) -> io::Result<File> {
    let file = open_at(holder, name, OFlags::RDONLY | OFlags::NONBLOCK, 0)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(file)
}

fn open_at(holder: &Dir, name: &OsStr, flags: OFlags, mode: u16) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || rustix::fs::openat(holder, name, flags, Mode::from_raw_mode(mode.into()));
    Ok(Budget::of_process().retry(|| Ok(open()?))?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A folder `from` with content, and an empty folder `to`.
    struct Place(TempDir);

    impl Place {
        fn new() -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            fs::create_dir_all(place.path("from/a/sub")).unwrap();
            fs::create_dir(place.path("to")).unwrap();
            fs::write(place.path("from/a/sub/file"), "1").unwrap();
            fs::write(place.path("from/a/other"), "2").unwrap();
            symlink("sub/file", place.path("from/a/link")).unwrap();
            place
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn start(&self) -> Relocation {
            Relocation::start(&self.path("from/a"), &self.path("to")).unwrap()
        }

        /// Returns a move that has copied everything.
        fn copied(&self) -> Relocation {
            let mut relocation = self.start();
            relocation.copy(|_| true, &CancelToken::default()).unwrap();
            relocation
        }

        fn read(&self, name: &str) -> String {
            fs::read_to_string(self.path(name)).unwrap()
        }

        fn names(&self, folder: &str) -> Vec<String> {
            let entries = fs::read_dir(self.path(folder)).unwrap();
            let mut names: Vec<String> = entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }
    }

    #[test]
    fn the_first_free_name_is_used() {
        let place = Place::new();
        symlink("absent", place.path("x")).unwrap();
        fs::create_dir(place.path("x-1")).unwrap();
        let names = ["x", "x-1", "x-2"].map(|name| place.path(name));
        let renamed = rename_to_free(&place.path("from/a"), names.clone()).unwrap();
        assert_eq!(renamed, names[2]);
        assert_eq!(place.read("x-2/other"), "2");
        let error = rename_to_free(&place.path("to"), names).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        let error = rename_to_free(&place.path("absent"), [place.path("new")]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn nothing_is_replaced() {
        let place = Place::new();
        fs::create_dir(place.path("to/a")).unwrap();
        let (from, to) = (place.path("from/a"), place.path("to/a"));
        let exists = io::ErrorKind::AlreadyExists;
        assert_eq!(rename_new(&from, &to).unwrap_err().kind(), exists);
        let error = Relocation::start(&from, &place.path("to")).unwrap_err();
        assert_eq!(error.kind(), exists);
        fs::remove_dir(&to).unwrap();
        let relocation = place.start();
        // The folder appears during the move.
        fs::create_dir(&to).unwrap();
        let error = relocation
            .finish(|_, _| true, &CancelToken::default())
            .unwrap_err();
        assert_eq!(error.kind(), exists);
        assert_eq!(place.names("from/a"), ["link", "other", "sub"]);
        assert_eq!(place.names("to"), ["a"]);
        assert!(place.names("to/a").is_empty());
    }

    #[test]
    fn a_whole_folder_moves() {
        let place = Place::new();
        let mut relocation = place.start();
        let cancel = CancelToken::default();
        cancel.cancel();
        let error = relocation.copy(|_| true, &cancel).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
        let file = Path::new("a/sub/file");
        relocation
            .copy(|path| path == file, &CancelToken::default())
            .unwrap();
        assert!(relocation.folder().join(file).exists());
        assert!(!relocation.folder().join("a/other").exists());
        assert!(!place.path("to/a").exists());
        // A file that appears is moved too.
        fs::write(place.path("from/a/new"), "3").unwrap();
        let left = relocation
            .finish(|path, _| path == file, &CancelToken::default())
            .unwrap();
        assert!(left.is_empty(), "{left:?}");
        assert!(place.names("from").is_empty());
        assert_eq!(place.names("to"), ["a"]);
        assert_eq!(place.names("to/a"), ["link", "new", "other", "sub"]);
        assert_eq!(place.read("to/a/link"), "1");
        // A single file.
        let to = place.path("from");
        let relocation = Relocation::start(&place.path("to/a/other"), &to).unwrap();
        let left = relocation
            .finish(|_, _| false, &CancelToken::default())
            .unwrap();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(place.read("from/other"), "2");
        assert_eq!(place.names("from"), ["other"]);
    }

    #[test]
    fn a_move_keeps_times_permissions_owners_and_attributes() {
        let place = Place::new();
        let old = std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 5);
        let names = ["other", "sub/file", "sub", ""];
        let set = |file: &File| file.set_times(fs::FileTimes::new().set_modified(old));
        let is_root = rustix::process::geteuid().is_root();
        for name in names {
            let path = place.path("from/a").join(name);
            let file = File::open(&path).unwrap();
            let mode = if path.is_dir() { 0o751 } else { 0o4640 };
            if is_root {
                std::os::unix::fs::chown(&path, Some(12), Some(34)).unwrap();
            }
            file.set_permissions(fs::Permissions::from_mode(mode))
                .unwrap();
            // Not every file system has attributes.
            let _ = rustix::fs::fsetxattr(&file, "user.test", b"value", XattrFlags::empty());
            set(&file).unwrap();
        }
        let link = place.path("from/a/link");
        let then = Timespec {
            tv_sec: 7,
            tv_nsec: 8,
        };
        let times = Timestamps {
            last_access: then,
            last_modification: then,
        };
        rustix::fs::utimensat(CWD, &link, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
        let state = |folder: &str| {
            names.map(|name| {
                let path = place.path(folder).join(name);
                let metadata = path.metadata().unwrap();
                let mut value = [0; 16];
                let file = File::open(&path).unwrap();
                let len = rustix::fs::fgetxattr(&file, "user.test", &mut value[..]);
                (
                    (metadata.modified().unwrap(), metadata.mode()),
                    (metadata.uid(), metadata.gid()),
                    len.map(|len| value[..len].to_vec()),
                )
            })
        };
        let before = state("from/a");
        assert_eq!(before[0].0.0, old);
        assert!(
            place
                .start()
                .finish(|_, _| false, &CancelToken::default())
                .unwrap()
                .is_empty()
        );
        assert_eq!(state("to/a"), before);
        let moved = place.path("to/a/link").symlink_metadata().unwrap();
        assert_eq!((moved.mtime(), moved.mtime_nsec()), (7, 8));
    }

    /// Neither copying nor removing follows a folder that was exchanged for a symbolic link.
    #[test]
    fn an_exchanged_folder_leads_nowhere() {
        let place = Place::new();
        fs::create_dir(place.path("outside")).unwrap();
        fs::write(place.path("outside/file"), "mine").unwrap();
        let exchange = || {
            fs::rename(place.path("from/a/sub"), place.path("from/away")).unwrap();
            symlink(place.path("outside"), place.path("from/a/sub")).unwrap();
        };
        let relocation = place.copied();
        exchange();
        let left = relocation.remove_originals().unwrap();
        assert_eq!(left, [place.path("from/a/sub/file")]);
        assert_eq!(place.read("outside/file"), "mine");
        assert_eq!(place.read("from/away/file"), "1");
        assert_eq!(place.names("from/a"), ["sub"]);

        let place = Place::new();
        let mut relocation = place.start();
        relocation.copy(|_| false, &CancelToken::default()).unwrap();
        fs::create_dir(place.path("outside")).unwrap();
        fs::write(place.path("outside/file"), "mine").unwrap();
        fs::rename(place.path("from/a/sub"), place.path("from/away")).unwrap();
        symlink(place.path("outside"), place.path("from/a/sub")).unwrap();
        let error = relocation
            .finish(|_, _| true, &CancelToken::default())
            .unwrap_err();
        assert!(error.to_string().contains("another program"), "{error}");
        assert_eq!(place.names("from/a"), ["link", "other", "sub"]);
        assert!(place.names("to").is_empty());
        assert_eq!(place.names("outside"), ["file"]);
    }

    /// Neither a file that grew nor a file that was replaced is removed.
    #[test]
    fn files_that_changed_stay() {
        let place = Place::new();
        let relocation = place.copied();
        let append = |name: &str| {
            let mut options = fs::OpenOptions::new();
            let mut file = options.append(true).open(place.path(name)).unwrap();
            io::Write::write_all(&mut file, b"more").unwrap();
        };
        append("from/a/other");
        // The same bytes in another file.
        fs::remove_file(place.path("from/a/sub/file")).unwrap();
        fs::write(place.path("from/a/sub/file"), "1").unwrap();
        let left = relocation
            .finish(|_, _| true, &CancelToken::default())
            .unwrap();
        let expected = ["from/a/other", "from/a/sub/file"];
        assert_eq!(left, expected.map(|name| place.path(name)));
        assert_eq!(place.read("from/a/other"), "2more");
        assert_eq!(place.read("from/a/sub/file"), "1");
        assert_eq!(place.names("from/a"), ["other", "sub"]);
        assert_eq!(place.read("to/a/other"), "2");
    }

    /// A file that another program has open for writing stays.
    #[cfg(target_os = "linux")]
    #[test]
    fn files_that_are_being_written_stay() {
        let place = Place::new();
        let relocation = place.copied();
        let mut options = fs::OpenOptions::new();
        let mut writer = options
            .append(true)
            .open(place.path("from/a/other"))
            .unwrap();
        if sys::writers(&writer) == Writers::Unknown {
            return crate::not_run::not_run(
                "moves of files that are being written",
                "the file system has no leases",
                "set TMPDIR to a folder on a disk of this machine",
            );
        }
        let left = relocation
            .finish(|_, _| true, &CancelToken::default())
            .unwrap();
        assert_eq!(left, [place.path("from/a/other")]);
        io::Write::write_all(&mut writer, b"more").unwrap();
        assert_eq!(place.read("from/a/other"), "2more");
    }

    /// A folder with a file that appeared after the copy stays.
    #[test]
    fn files_that_appear_stay() {
        let place = Place::new();
        let relocation = place.copied();
        fs::write(place.path("from/a/sub/new"), "3").unwrap();
        let left = relocation.remove_originals().unwrap();
        assert_eq!(left, [place.path("from/a/sub")]);
        assert_eq!(place.read("from/a/sub/new"), "3");
    }

    /// Only a copy that was verified, or that equals its original, replaces the original.
    #[test]
    fn copies_are_compared() {
        let place = Place::new();
        for verified in ["a/other", "a/sub/file"] {
            let relocation = place.copied();
            fs::write(relocation.folder().join("a/other"), verified).unwrap();
            let is_verified = |path: &Path, _: u64| path == Path::new(verified);
            let result = relocation.finish(is_verified, &CancelToken::default());
            if verified == "a/sub/file" {
                let error = result.unwrap_err().to_string();
                let expected = place.path("from/a/other").display().to_string();
                assert!(error.starts_with(&expected), "{error}");
                assert!(error.ends_with("the copy differs from the original"));
                assert_eq!(place.names("from/a"), ["link", "other", "sub"]);
                assert!(place.names("to").is_empty());
            } else {
                assert!(result.unwrap().is_empty());
                fs::rename(place.path("to/a"), place.path("from/a")).unwrap();
            }
        }
    }

    /// The folder of an unfinished move is locked while the process runs.
    #[test]
    fn an_abandoned_move_is_named() {
        let place = Place::new();
        let relocation = place.copied();
        let abandoned = || UNFINISHED_MOVES.remove_abandoned(&place.path("to"));
        assert!(abandoned().unwrap().is_empty());
        assert!(relocation.folder().join("a/other").exists());
        let mode = relocation.folder().metadata().unwrap().permissions();
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777,
            0o700
        );
        // A killed process neither removes nor unlocks it.
        let left = relocation.private.keep();
        drop(relocation.copy);
        assert_eq!(abandoned().unwrap(), std::slice::from_ref(&left));
        assert!(left.join("a/other").exists());
    }
}
