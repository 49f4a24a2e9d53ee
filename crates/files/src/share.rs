//! Equal files that become names of one file, or share their bytes on the disk.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::file::{SourceFile, Writers};
use crate::stamp::Stamp;
use crate::sys;
use crate::temporary::{TemporaryNames, hold_new};

/// The names of links that are about to replace duplicates, and of duplicates that were just replaced.
///
/// They differ from [`UNFINISHED_FILES`](crate::UNFINISHED_FILES), because a name that a killed process left can be the only
/// one of a person's file. [`remove_unfinished_link`] decides.
pub const UNFINISHED_LINKS: TemporaryNames = TemporaryNames {
    prefix: ".hashlane-link-",
    suffix: ".tmp",
};

/// Number of bytes to compare at once.
const WINDOW_LEN: usize = 256 << 10;

/// Maximum length in bytes of the names of all extended attributes, and of a value.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
const MAX_ATTRIBUTE_LEN: usize = 1 << 19;

/// Number of names to try if others exist.
const MAX_TRIES: usize = 16;

const LOCKED: &str = "a program has locked it, or the file it is equal to";

const CHANGED: &str = "another program changed it: search again";

/// A file that stays as it is, and whose name or bytes replace those of equal files.
#[derive(Debug)]
pub struct KeptFile {
    path: PathBuf,
    source: SourceFile,
    device: u64,
}

impl KeptFile {
    /// Opens a file that had these properties before. It may have got other names since. A symbolic link is not followed.
    ///
    /// # Errors
    /// The system's error; [`io::ErrorKind::Other`] if the file has changed.
    pub fn open(path: &Path, stamp: &Stamp) -> io::Result<Self> {
        let (folder, name) = folder_of(path)?;
        let source = open_unchanged(&folder, name, stamp, OFlags::RDONLY)?;
        let device = source.file.metadata()?.dev();
        Ok(Self {
            path: path.to_owned(),
            source,
            device,
        })
    }

    /// Makes the name of a duplicate a name of this file (a hard link). `stamp` has the properties of the duplicate when it
    /// was hashed.
    ///
    /// All bytes of both files are compared first. The new name is made beside the duplicate and then exchanged with it
    /// ([`UNFINISHED_LINKS`]). If
    /// either file has changed meanwhile, or a program has it open for writing, the duplicate gets its name back.
    ///
    /// # Errors
    /// The duplicate keeps its name. [`io::ErrorKind::CrossesDevices`] if it is on another file system;
    /// [`io::ErrorKind::PermissionDenied`] if its owner, group, permissions or extended attributes differ, which include
    /// access control lists and capabilities; [`io::ErrorKind::ResourceBusy`] if a program has a file open for writing;
    /// [`io::ErrorKind::Interrupted`] after `cancel`;
    /// [`io::ErrorKind::Other`] if a file has changed; and other errors of the system.
    pub fn replace_by_link(
        &self,
        duplicate: &Path,
        stamp: &Stamp,
        cancel: &CancelToken,
    ) -> io::Result<()> {
        self.replace(duplicate, stamp, || cancel.check())
    }

    /// Replaces a duplicate. An error of `before_window`, which is called before each step of the comparison, ends it.
    fn replace(
        &self,
        duplicate: &Path,
        stamp: &Stamp,
        before_window: impl FnMut() -> io::Result<()>,
    ) -> io::Result<()> {
        let (folder, name) = folder_of(duplicate)?;
        let other = open_unchanged(&folder, name, stamp, OFlags::RDONLY)?;
        self.check_device(&other)?;
        self.check_access(&other)?;
        let before = [self.source.stamp()?, other.stamp()?];
        self.check_writers(&other)?;
        self.compare(&other, before_window)?;
        for source in [&self.source, &other] {
            // Its temporary name is not that of a killed process.
            if !hold_new(&source.file, duplicate) {
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, LOCKED));
            }
        }
        let temporary = self.link_beside(&folder)?;
        let temporary = OsStr::new(&temporary);
        // `place` must be the name of the file that was compared.
        let check_unchanged = |place: &OsStr| -> io::Result<()> {
            self.check_writers(&other)?;
            self.check_access(&other)?;
            let now = [self.source.stamp()?, other.stamp()?];
            let mut stamps = now.iter().zip(&before);
            let is_unchanged = stamps.all(|(now, before)| now.is_renamed_from(before))
                && id_at(&folder, place)? == id_of(&other)?;
            is_unchanged.then_some(()).ok_or(io::Error::other(CHANGED))
        };
        let remove_temporary = || rustix::fs::unlinkat(&folder, temporary, AtFlags::empty());
        let exchanged = check_unchanged(name).and_then(|()| exchange(&folder, temporary, name));
        match exchanged {
            // The temporary name now belongs to the duplicate.
            Ok(true) => {
                if let Err(error) = check_unchanged(temporary) {
                    // If this fails, both names stay.
                    exchange(&folder, temporary, name)?;
                    remove_temporary()?;
                    return Err(error);
                }
                Ok(remove_temporary()?)
            }
            // This file system cannot exchange names.
            Ok(false) => match rustix::fs::renameat(&folder, temporary, &folder, name) {
                Ok(()) => Ok(()),
                Err(error) => {
                    remove_temporary()?;
                    Err(error.into())
                }
            },
            Err(error) => {
                remove_temporary()?;
                Err(error)
            }
        }
    }

    /// Lets a duplicate share the bytes of this file on the disk. The system compares the bytes, and changes none of them.
    ///
    /// # Errors
    /// The duplicate stays as it was. [`io::ErrorKind::Unsupported`] if the file system cannot share bytes, and as for
    /// [`Self::replace_by_link`].
    pub fn share_bytes(
        &self,
        duplicate: &Path,
        stamp: &Stamp,
        cancel: &CancelToken,
    ) -> io::Result<()> {
        let (folder, name) = folder_of(duplicate)?;
        let other = open_unchanged(&folder, name, stamp, OFlags::RDWR)
            // The owner may do this to a read-only file, and to one that is being executed.
            .or_else(|_| open_unchanged(&folder, name, stamp, OFlags::RDONLY))?;
        self.check_device(&other)?;
        let (mut offset, len_bytes) = (0, other.len_bytes());
        while offset < len_bytes {
            cancel.check()?;
            let n = sys::share_range(&self.source.file, &other.file, offset, len_bytes - offset)?;
            match n {
                None => return Err(io::Error::other(CHANGED)),
                Some(0) => return Err(io::ErrorKind::Unsupported.into()),
                Some(n) => offset += n,
            }
        }
        Ok(())
    }

    fn check_device(&self, other: &SourceFile) -> io::Result<()> {
        if other.file.metadata()?.dev() == self.device {
            return Ok(());
        }
        Err(io::ErrorKind::CrossesDevices.into())
    }

    /// A name of another file would change who can read and write the bytes.
    fn check_access(&self, other: &SourceFile) -> io::Result<()> {
        let access = |source: &SourceFile| -> io::Result<_> {
            let metadata = source.file.metadata()?;
            Ok((metadata.uid(), metadata.gid(), metadata.mode()))
        };
        let differing = if access(&self.source)? == access(other)? {
            let attributes = attributes(&self.source)?;
            differing(&attributes, &self::attributes(other)?)
        } else {
            Some("owner, group or permissions differ from those")
        };
        let Some(differing) = differing else {
            return Ok(());
        };
        let reason = format!("its {differing} of {}", self.path.display());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
    }

    fn check_writers(&self, other: &SourceFile) -> io::Result<()> {
        let sources = [&self.source, other];
        if sources
            .map(|source| sys::writers(&source.file))
            .contains(&Writers::Some)
        {
            return Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                "a program has it, or the file it is equal to, open for writing",
            ));
        }
        Ok(())
    }

    fn compare(
        &self,
        other: &SourceFile,
        mut before_window: impl FnMut() -> io::Result<()>,
    ) -> io::Result<()> {
        let mut windows = [vec![0; WINDOW_LEN], vec![0; WINDOW_LEN]];
        let mut offset = 0;
        loop {
            before_window()?;
            let [mine, others] = &mut windows;
            let n = self.source.read_at(mine, offset)?;
            if other.read_at(others, offset)? != n || mine[..n] != others[..n] {
                return Err(io::Error::other(CHANGED));
            }
            offset += n as u64;
            if n < WINDOW_LEN {
                return Ok(());
            }
        }
    }

    /// Gives this file a temporary name in a folder, and returns the name.
    fn link_beside(&self, folder: &OwnedFd) -> io::Result<String> {
        let by_descriptor =
            PathBuf::from(format!("/proc/self/fd/{}", self.source.file.as_raw_fd()));
        let (path, flags) = if by_descriptor.exists() {
            (&by_descriptor, AtFlags::SYMLINK_FOLLOW)
        } else {
            (&self.path, AtFlags::empty())
        };
        let mut tries = 0;
        let name = loop {
            let name = temporary_name();
            match rustix::fs::linkat(CWD, path, folder, &name, flags) {
                Ok(()) => break name,
                Err(Errno::EXIST) if tries < MAX_TRIES => tries += 1,
                Err(error) => return Err(error.into()),
            }
        };
        // Another file can be at the path.
        if id_at(folder, name.as_ref())? == id_of(&self.source)? {
            return Ok(name);
        }
        rustix::fs::unlinkat(folder, &name, AtFlags::empty())?;
        Err(io::Error::other(CHANGED))
    }
}

/// The extended attributes of a file, by name.
type Attributes = BTreeMap<Vec<u8>, Vec<u8>>;

/// Returns the extended attributes of a file: its access control list, its capabilities, and those of users. Returns none if the
/// file system or the operating system has none.
fn attributes(source: &SourceFile) -> io::Result<Attributes> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        let file = &source.file;
        let names = match grown(|buffer| rustix::fs::flistxattr(file, buffer)) {
            Err(Errno::NOTSUP) => return Ok(Attributes::new()),
            names => names?,
        };
        let names = names.split(|byte| *byte == 0);
        let names = names.filter(|name| !name.is_empty());
        let value = |name: &[u8]| grown(|buffer| rustix::fs::fgetxattr(file, name, buffer));
        names
            .map(|name| Ok((name.to_owned(), value(name)?)))
            .collect()
    }
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    {
        let _ = source;
        Ok(Attributes::new())
    }
}

/// Calls a function with larger and larger buffers until the result fits, and returns the result. Linux limits names and
/// values to 64 KiB.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn grown(read: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; 1 << 10];
    loop {
        match read(&mut buffer) {
            Ok(len) => {
                buffer.truncate(len);
                return Ok(buffer);
            }
            Err(Errno::RANGE) if buffer.len() < MAX_ATTRIBUTE_LEN => {
                buffer.resize(buffer.len() * 8, 0);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Returns what differs between the attributes of two files.
fn differing(mine: &Attributes, others: &Attributes) -> Option<&'static str> {
    // POSIX.1e on Linux, and NFS version 4.
    let acls = ["system.posix_acl_access", "system.nfs4_acl"];
    let differs = |name: &&str| mine.get(name.as_bytes()) != others.get(name.as_bytes());
    if acls.iter().any(differs) {
        return Some("access control list differs from that");
    }
    (mine != others).then_some("extended attributes differ from those")
}

fn temporary_name() -> String {
    let random = RandomState::new().build_hasher().finish() % 1_000_000;
    let TemporaryNames { prefix, suffix } = UNFINISHED_LINKS;
    format!("{prefix}{random:06}{suffix}")
}

/// Removes a name of [`UNFINISHED_LINKS`] that a killed process left, if the file has other names. Returns `false` if it is the
/// only name of a file: then it stays. Does nothing if a process is using the name.
///
/// # Errors
/// The system's error; [`io::ErrorKind::InvalidInput`] if it is no regular file.
pub fn remove_unfinished_link(path: &Path) -> io::Result<bool> {
    let (folder, name) = folder_of(path)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(&folder, name, flags, Mode::empty())?;
    let source = SourceFile::from_file(File::from(opened))?;
    match source.file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(true),
        // Without locks, a process may be using the name.
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    if source.file.metadata()?.nlink() < 2 {
        return Ok(false);
    }
    rustix::fs::unlinkat(&folder, name, AtFlags::empty())?;
    Ok(true)
}

/// Opens the folder of a file, so that the file and the names beside it stay in one folder.
fn folder_of(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok((rustix::fs::open(folder, flags, Mode::empty())?, name))
}

/// Opens a file that had these properties. Only its names may have changed.
fn open_unchanged(
    folder: &OwnedFd,
    name: &OsStr,
    stamp: &Stamp,
    access: OFlags,
) -> io::Result<SourceFile> {
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(folder, name, flags, Mode::empty());
    let source = SourceFile::from_file(File::from(opened?))?;
    if source.stamp()?.is_renamed_from(stamp) {
        return Ok(source);
    }
    Err(io::Error::other(CHANGED))
}

fn id_of(source: &SourceFile) -> io::Result<(u64, u64)> {
    let metadata = source.file.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

#[allow(
    clippy::unnecessary_cast,
    clippy::cast_sign_loss,
    reason = "the types depend on the system"
)]
fn id_at(folder: &OwnedFd, name: &OsStr) -> io::Result<(u64, u64)> {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((stat.st_dev as u64, stat.st_ino as u64))
}

/// Exchanges two names in a folder at one moment. Returns `false` if the system or the file system cannot do that.
fn exchange(folder: &OwnedFd, a: &OsStr, b: &OsStr) -> io::Result<bool> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(folder, a, folder, b, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    {
        let _ = (folder, a, b);
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    struct Pair {
        folder: tempfile::TempDir,
    }

    impl Pair {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let bytes = vec![7; WINDOW_LEN + 1];
            fs::write(folder.path().join("kept"), &bytes).unwrap();
            fs::write(folder.path().join("other"), &bytes).unwrap();
            Self { folder }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn stamp(&self, name: &str) -> Stamp {
            Stamp::of(&self.path(name).symlink_metadata().unwrap())
        }

        fn inode(&self, name: &str) -> u64 {
            self.path(name).symlink_metadata().unwrap().ino()
        }

        fn kept(&self) -> KeptFile {
            KeptFile::open(&self.path("kept"), &self.stamp("kept")).unwrap()
        }

        fn names(&self) -> usize {
            fs::read_dir(self.folder.path()).unwrap().count()
        }

        fn replace(&self) -> io::Result<()> {
            let stamp = self.stamp("other");
            self.kept()
                .replace_by_link(&self.path("other"), &stamp, &CancelToken::default())
        }
    }

    #[test]
    fn a_duplicate_becomes_a_name() {
        let pair = Pair::new();
        pair.replace().unwrap();
        assert_eq!(pair.inode("kept"), pair.inode("other"));
        assert_eq!(pair.names(), 2);
    }

    #[test]
    fn other_bytes_are_never_replaced() {
        let pair = Pair::new();
        let mut bytes = fs::read(pair.path("other")).unwrap();
        *bytes.last_mut().unwrap() = 8;
        fs::write(pair.path("other"), &bytes).unwrap();
        assert_eq!(pair.replace().unwrap_err().kind(), io::ErrorKind::Other);
        assert_eq!(fs::read(pair.path("other")).unwrap(), bytes);
        assert_eq!(pair.names(), 2);
    }

    #[test]
    fn a_file_that_changed_since_the_search_is_left_alone() {
        let pair = Pair::new();
        let stamp = pair.stamp("other");
        let bytes = fs::read(pair.path("kept")).unwrap();
        // Equal bytes in another file.
        fs::rename(pair.path("other"), pair.path("old")).unwrap();
        fs::write(pair.path("other"), bytes).unwrap();
        let replaced =
            pair.kept()
                .replace_by_link(&pair.path("other"), &stamp, &CancelToken::default());
        assert_eq!(replaced.unwrap_err().kind(), io::ErrorKind::Other);
        assert_ne!(pair.inode("kept"), pair.inode("other"));
        // A symbolic link in its place.
        fs::remove_file(pair.path("other")).unwrap();
        std::os::unix::fs::symlink("old", pair.path("other")).unwrap();
        let replaced =
            pair.kept()
                .replace_by_link(&pair.path("other"), &stamp, &CancelToken::default());
        assert!(replaced.is_err());
        assert!(pair.path("other").symlink_metadata().unwrap().is_symlink());
    }

    #[test]
    fn files_that_change_during_the_comparison_keep_their_names() {
        for name in ["kept", "other"] {
            let pair = Pair::new();
            let stamp = pair.stamp("other");
            let n_calls = std::cell::Cell::new(0);
            let changes = || {
                n_calls.set(n_calls.get() + 1);
                if n_calls.get() == 2 {
                    // The first window was compared already.
                    use std::os::unix::fs::FileExt as _;
                    let file = fs::OpenOptions::new().write(true).open(pair.path(name));
                    file.unwrap().write_all_at(b"new", 0).unwrap();
                }
                Ok(())
            };
            let replaced = pair.kept().replace(&pair.path("other"), &stamp, changes);
            assert_eq!(replaced.unwrap_err().kind(), io::ErrorKind::Other, "{name}");
            assert!(fs::read(pair.path(name)).unwrap().starts_with(b"new"));
            assert_ne!(pair.inode("kept"), pair.inode("other"));
            assert_eq!(pair.names(), 2);
        }
    }

    #[test]
    fn a_name_that_gets_another_file_keeps_it() {
        let pair = Pair::new();
        let stamp = pair.stamp("other");
        let n_calls = std::cell::Cell::new(0);
        let replaces = || {
            n_calls.set(n_calls.get() + 1);
            if n_calls.get() == 2 {
                fs::write(pair.path("new"), "new").unwrap();
                fs::rename(pair.path("new"), pair.path("other")).unwrap();
            }
            Ok(())
        };
        let replaced = pair.kept().replace(&pair.path("other"), &stamp, replaces);
        assert_eq!(replaced.unwrap_err().kind(), io::ErrorKind::Other);
        assert_eq!(fs::read(pair.path("other")).unwrap(), b"new");
        assert_eq!(pair.names(), 2);
    }

    #[test]
    fn files_that_are_open_for_writing_keep_their_names() {
        for name in ["kept", "other"] {
            let pair = Pair::new();
            let open = fs::OpenOptions::new().write(true).open(pair.path(name));
            // Not all file systems have leases.
            if sys::writers(&File::open(pair.path(name)).unwrap()) != Writers::Some {
                continue;
            }
            let error = pair.replace().unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::ResourceBusy, "{name}: {error}");
            assert_ne!(pair.inode("kept"), pair.inode("other"));
            drop(open);
        }
    }

    #[test]
    fn other_permissions_are_kept() {
        let pair = Pair::new();
        fs::set_permissions(pair.path("other"), fs::Permissions::from_mode(0o600)).unwrap();
        let error = pair.replace().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_ne!(pair.inode("kept"), pair.inode("other"));
    }

    /// Returns an access control list of version 2: the owner has all permissions, `user` may write, and the mask allows it.
    #[cfg(target_os = "linux")]
    fn acl(user: u32) -> Vec<u8> {
        let none = u32::MAX;
        let mut bytes = 2_u32.to_le_bytes().to_vec();
        for (tag, permissions, id) in [
            (1_u16, 6_u16, none),
            (2, 6, user),
            (4, 4, none),
            (16, 6, none),
            (32, 4, none),
        ] {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(permissions.to_le_bytes());
            bytes.extend(id.to_le_bytes());
        }
        bytes
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn other_attributes_are_kept() {
        let set = |pair: &Pair, name: &str, attribute: &str, value: &[u8]| {
            let file = File::open(pair.path(name)).unwrap();
            rustix::fs::fsetxattr(&file, attribute, value, rustix::fs::XattrFlags::empty())
        };
        let attribute = "user.comment";
        if set(&Pair::new(), "kept", attribute, b"mine").is_err() {
            return crate::not_run::not_run(
                "attributes of duplicates",
                "the file system of temporary files has no extended attributes",
                "use ext4, XFS or Btrfs",
            );
        }
        let long = vec![7; 3000];
        let acl_name = "system.posix_acl_access";
        let (acl_of_one, acl_of_other) = (acl(65534), acl(65533));
        for (attribute, values, reason) in [
            (
                attribute,
                [None, Some(&b"mine"[..])],
                "extended attributes differ",
            ),
            (
                attribute,
                [Some(&b"mine"[..]), None],
                "extended attributes differ",
            ),
            (
                attribute,
                [Some(&b"mine"[..]), Some(&long)],
                "extended attributes differ",
            ),
            (
                acl_name,
                [Some(&acl_of_one), Some(&acl_of_other)],
                "access control list differs",
            ),
        ] {
            let pair = Pair::new();
            for (name, value) in ["kept", "other"].into_iter().zip(values) {
                if let Some(value) = value {
                    set(&pair, name, attribute, value).unwrap();
                }
            }
            let error = pair.replace().unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{attribute}");
            assert!(error.to_string().contains(reason), "{error}");
            assert_ne!(pair.inode("kept"), pair.inode("other"));
            assert_eq!(pair.names(), 2);
        }
        // Equal attributes are no obstacle.
        let pair = Pair::new();
        for name in ["kept", "other"] {
            set(&pair, name, attribute, &long).unwrap();
            set(&pair, name, acl_name, &acl_of_one).unwrap();
        }
        pair.replace().unwrap();
        assert_eq!(pair.inode("kept"), pair.inode("other"));
    }

    /// An attribute that is set during the comparison would be lost.
    #[test]
    #[cfg(target_os = "linux")]
    fn an_attribute_that_is_new_is_kept() {
        let pair = Pair::new();
        let stamp = pair.stamp("other");
        let n_calls = std::cell::Cell::new(0);
        let is_set = std::cell::Cell::new(true);
        let sets = || {
            n_calls.set(n_calls.get() + 1);
            if n_calls.get() == 2 {
                let file = File::open(pair.path("other")).unwrap();
                let flags = rustix::fs::XattrFlags::empty();
                let set = rustix::fs::fsetxattr(&file, "user.comment", b"mine", flags);
                is_set.set(set.is_ok());
            }
            Ok(())
        };
        let replaced = pair.kept().replace(&pair.path("other"), &stamp, sets);
        assert_eq!(replaced.is_err(), is_set.get());
    }

    #[test]
    fn what_a_killed_process_left_is_removed_unless_it_is_the_only_name() {
        let pair = Pair::new();
        let left = pair.path(".hashlane-link-123456.tmp");
        assert!(UNFINISHED_LINKS.contains(left.file_name().unwrap()));
        assert!(UNFINISHED_LINKS.contains(temporary_name().as_ref()));
        // Killed before the exchange: a second name of the kept file.
        fs::hard_link(pair.path("kept"), &left).unwrap();
        // Another process is at work.
        let held = File::open(&left).unwrap();
        assert!(hold_new(&held, &left));
        assert!(remove_unfinished_link(&left).unwrap());
        assert!(left.exists());
        drop(held);
        assert!(remove_unfinished_link(&left).unwrap());
        assert!(!left.exists() && pair.path("kept").exists());
        // Killed after it: the only name of the duplicate.
        fs::rename(pair.path("other"), &left).unwrap();
        fs::hard_link(pair.path("kept"), pair.path("other")).unwrap();
        assert!(!remove_unfinished_link(&left).unwrap());
        assert!(left.exists());
        // The next file that is written beside it does not remove it either.
        crate::UNFINISHED_FILES
            .remove_abandoned(pair.folder.path())
            .unwrap();
        assert!(left.exists());
    }

    #[test]
    fn locked_files_keep_their_names() {
        for name in ["kept", "other"] {
            let pair = Pair::new();
            let locked = File::open(pair.path(name)).unwrap();
            locked.lock().unwrap();
            let error = pair.replace().unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::ResourceBusy, "{name}: {error}");
            assert_ne!(pair.inode("kept"), pair.inode("other"));
            assert_eq!(pair.names(), 2);
        }
    }

    #[test]
    fn a_cancelled_comparison_changes_nothing() {
        let pair = Pair::new();
        let stamp = pair.stamp("other");
        let cancel = CancelToken::default();
        cancel.cancel();
        let replaced = pair
            .kept()
            .replace_by_link(&pair.path("other"), &stamp, &cancel);
        assert_eq!(replaced.unwrap_err().kind(), io::ErrorKind::Interrupted);
        assert_ne!(pair.inode("kept"), pair.inode("other"));
        assert_eq!(pair.names(), 2);
    }
}
