//! Moves of files and folders that never replace anything.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Renames a file or folder.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the new path exists, [`io::ErrorKind::CrossesDevices`] if it
/// is on another file system, and other errors of the system.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // The file system does not support the flag.
            Err(rustix::io::Errno::INVAL) => {}
            result => return Ok(result?),
        }
    }
    match fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
        Err(error) => Err(error),
    }
}

/// The files and folders that [`copy_new`] has copied. The originals still exist.
#[derive(Debug, Default)]
#[must_use]
pub struct Copied {
    files: Vec<PathBuf>,
    /// Folders, each before the folders in it.
    folders: Vec<PathBuf>,
}

impl Copied {
    /// Removes the originals of the copied files and folders. A folder that has received other
    /// files since stays.
    ///
    /// # Errors
    /// The system's error.
    pub fn remove_originals(self) -> io::Result<()> {
        self.files.iter().try_for_each(fs::remove_file)?;
        for folder in self.folders.iter().rev() {
            match fs::remove_dir(folder) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                result => result?,
            }
        }
        Ok(())
    }
}

/// Copies a file or folder, with its symbolic links, to the disk. The new path appears only after
/// everything has been copied.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the new path exists, [`io::ErrorKind::Interrupted`] if
/// `is_cancelled` returns `true`, and other errors of the system.
pub fn copy_new(from: &Path, to: &Path, is_cancelled: impl Fn() -> bool) -> io::Result<Copied> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let temporary = to.with_file_name(format!(".hashlane-moving-{}", std::process::id()));
    let copied = copy_tree(from, &temporary, is_cancelled).and_then(|copied| {
        rename_new(&temporary, to)?;
        sync_folder(to.parent().unwrap_or(Path::new(".")))?;
        Ok(copied)
    });
    if copied.is_err() {
        // Remove the incomplete copy.
        let _ = fs::remove_file(&temporary).or_else(|_| fs::remove_dir_all(&temporary));
    }
    copied
}

fn copy_tree(from: &Path, to: &Path, is_cancelled: impl Fn() -> bool) -> io::Result<Copied> {
    let mut waiting: Vec<(PathBuf, PathBuf)> = vec![(from.to_owned(), to.to_owned())];
    let mut copied = Copied::default();
    let mut new_folders = Vec::new();
    while let Some((from, to)) = waiting.pop() {
        if is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let kind = fs::symlink_metadata(&from)?.file_type();
        if kind.is_dir() {
            fs::create_dir(&to)?;
            for entry in fs::read_dir(&from)? {
                let entry = entry?;
                waiting.push((entry.path(), to.join(entry.file_name())));
            }
            new_folders.push(to);
            copied.folders.push(from);
            continue;
        }
        if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from)?, &to)?;
        } else if kind.is_file() {
            fs::copy(&from, &to)?;
            File::open(&to)?.sync_all()?;
        } else {
            let problem = format!("{}: not a file, folder or symbolic link", from.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        copied.files.push(from);
    }
    new_folders
        .iter()
        .rev()
        .try_for_each(|folder| sync_folder(folder))?;
    Ok(copied)
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("a/sub")).unwrap();
        fs::write(path("a/sub/file"), "1").unwrap();
        std::os::unix::fs::symlink("sub/file", path("a/link")).unwrap();
        fs::create_dir(path("taken")).unwrap();
        let exists = io::ErrorKind::AlreadyExists;
        let (a, taken) = (path("a"), path("taken"));
        assert_eq!(rename_new(&a, &taken).unwrap_err().kind(), exists);
        assert_eq!(copy_new(&a, &taken, || false).unwrap_err().kind(), exists);
        let interrupted = copy_new(&a, &path("b"), || true).unwrap_err();
        assert_eq!(interrupted.kind(), io::ErrorKind::Interrupted);
        let copied = copy_new(&a, &path("b"), || false).unwrap();
        rename_new(&path("b"), &path("c")).unwrap();
        assert_eq!(fs::read(path("c/sub/file")).unwrap(), b"1");
        assert_eq!(
            fs::read_link(path("c/link")).unwrap(),
            Path::new("sub/file")
        );
        // A file that appeared after the copy stays.
        fs::write(path("a/new"), "2").unwrap();
        copied.remove_originals().unwrap();
        assert_eq!(fs::read_dir(&a).unwrap().count(), 1);
        assert_eq!(fs::read(path("a/new")).unwrap(), b"2");
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["a", "c", "taken"]);
    }
}
