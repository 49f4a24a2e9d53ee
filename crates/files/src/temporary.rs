//! Temporary files and folders that have names. The next process removes the files of a killed process, and names the
//! folders.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The names of one kind of temporary files: a prefix, random letters and digits, and a suffix. Names have no other parts.
///
/// A process locks its temporary file. The system releases the lock when the process
/// ends, so a file without a lock belongs to no process. Unlike a process number, a lock is also
/// right for the processes of other containers.
#[derive(Clone, Copy, Debug)]
pub struct TemporaryNames {
    /// The start of each name.
    pub prefix: &'static str,
    /// The end of each name.
    pub suffix: &'static str,
}

/// Number of random characters in a name, as in the crate tempfile.
const RANDOM_LEN: usize = 6;

impl TemporaryNames {
    /// Returns `true` if a file of this name is temporary.
    pub fn contains(&self, name: &OsStr) -> bool {
        let name = name
            .to_str()
            .and_then(|name| name.strip_prefix(self.prefix));
        let random = name.and_then(|name| name.strip_suffix(self.suffix));
        random.is_some_and(|random| {
            random.len() == RANDOM_LEN && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    }

    /// Calls [`Self::remove_abandoned`] if this process has not called it for the folder yet. Files that
    /// cannot be removed stay.
    pub(crate) fn remove_abandoned_once(&self, folder: &Path) {
        static VISITED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
        let mut visited = VISITED.lock().unwrap_or_else(PoisonError::into_inner);
        if visited.insert(folder.join(self.prefix)) {
            // The files that the process writes do not depend on it.
            let _ = self.remove_abandoned(folder);
        }
    }

    /// Removes the temporary files of processes that have ended. Returns those that cannot be
    /// removed, for example because the file system has no locks, and the folders that no process
    /// holds: anybody, or a torrent, can give such a name to a folder, so a person decides.
    ///
    /// # Errors
    /// The system's error if the folder cannot be read.
    pub fn remove_abandoned(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let mut left = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if self.contains(&entry.file_name()) {
                match remove_unless_held(&entry.path()) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        left.push(entry.path());
                    }
                    _ => {}
                }
            }
        }
        Ok(left)
    }
}

/// Locks a new temporary file or folder for as long as `file` is open. Returns `false` if another
/// process has found it first, and removes it.
pub(crate) fn hold_new(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => path.symlink_metadata().is_ok(),
        Err(TryLockError::WouldBlock) => false,
        // Without locks, no other process removes it.
        Err(TryLockError::Error(_)) => true,
    }
}

fn remove_unless_held(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) if file.metadata()?.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(()) => fs::remove_file(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::atomic::UNFINISHED_FILES as NAMES;

    #[test]
    fn only_abandoned_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let kept = [
            ".hashlane-.tmp",
            ".hashlane-abcde.tmp",
            ".hashlane-abcdefg.tmp",
            ".hashlane-abc-ef.tmp",
            ".hashlane-abcdef",
            "hashlane-abcdef.tmp",
            ".hashlane-locked.tmp",
        ];
        for name in kept {
            fs::write(path(name), "").unwrap();
        }
        fs::write(path(".hashlane-abcdef.tmp"), "").unwrap();
        fs::create_dir(path(".hashlane-ABC123.tmp")).unwrap();
        fs::write(path(".hashlane-ABC123.tmp/file"), "").unwrap();
        let locked = path(".hashlane-locked.tmp");
        let held = File::open(&locked).unwrap();
        assert!(hold_new(&held, &locked));
        let left = NAMES.remove_abandoned(folder.path()).unwrap();
        assert_eq!(left, [path(".hashlane-ABC123.tmp")]);
        assert!(path(".hashlane-ABC123.tmp/file").exists());
        fs::remove_dir_all(&left[0]).unwrap();
        for name in kept {
            assert!(path(name).exists(), "{name}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), kept.len());
        drop(held);
        NAMES.remove_abandoned(folder.path()).unwrap();
        assert!(!locked.exists());
        // A file that another process has removed cannot be held.
        let removed = path(".hashlane-a23456.tmp");
        let file = File::create(&removed).unwrap();
        NAMES.remove_abandoned(folder.path()).unwrap();
        assert!(!hold_new(&file, &removed));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "1").unwrap();
        let link = folder.path().join(".hashlane-abcdef.tmp");
        std::os::unix::fs::symlink("file", &link).unwrap();
        assert_eq!(NAMES.remove_abandoned(folder.path()).unwrap(), [link]);
        assert_eq!(fs::read(&file).unwrap(), b"1");
    }
}
