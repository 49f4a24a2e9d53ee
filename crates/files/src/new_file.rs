//! Files that are written whole or not at all.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::atomic::{AtomicFile, Overwrite};

/// The permissions of a new file, from which the umask takes some away.
const MODE: u32 = 0o666;

/// A file that is written piece by piece and gets its name at the end, with the permissions of the file that it replaces. A
/// file that is dropped before leaves nothing.
#[derive(Debug)]
pub struct NewFile {
    file: AtomicFile,
    place: PathBuf,
    overwrite: Overwrite,
}

impl NewFile {
    /// Creates an empty file that will have the name `path`, or the name to which links at `path` lead.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the file exists and may not be replaced, [`io::ErrorKind::IsADirectory`] for a
    /// folder, [`io::ErrorKind::InvalidInput`] for a pipe or device, and other errors of the system.
    pub fn create(path: &Path, overwrite: Overwrite) -> io::Result<Self> {
        let place = place_of(path)?;
        // `place_of` follows links, so a link here leads nowhere.
        let before = place.symlink_metadata().ok();
        let before = before.filter(|before| !before.is_symlink() || overwrite == Overwrite::No);
        if let Some(before) = &before {
            if before.is_dir() {
                return Err(io::Error::new(
                    io::ErrorKind::IsADirectory,
                    "is a directory",
                ));
            }
            if !before.is_file() && !before.is_symlink() {
                let reason = "is not a regular file";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
            }
            if overwrite == Overwrite::No {
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, "exists"));
            }
        }
        let file = AtomicFile::beside(&place, MODE)?;
        if let Some(before) = before {
            copy_permissions(file.as_file(), &before)?;
        }
        Ok(Self {
            file,
            place,
            overwrite,
        })
    }

    /// Returns the file, to write its bytes.
    pub fn as_file(&self) -> &File {
        self.file.as_file()
    }

    /// Returns the place of the file, without links.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Gives the file another name.
    ///
    /// # Errors
    /// As of [`Self::put`].
    pub fn put_at(self, path: &Path) -> io::Result<()> {
        let place = place_of(path)?;
        Self { place, ..self }.put()
    }

    /// Gives the file its name. Its bytes are on the disk before.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if a file was made there since and may not be replaced, and other errors of the system.
    pub fn put(self) -> io::Result<()> {
        self.file.put(&self.place, self.overwrite)
    }
}

/// Gives a file the permissions of another file, which may be private, and its owner if the system allows it.
fn copy_permissions(file: &File, other: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        // Only the superuser can change the owner. For other users, the new file belongs to the user who runs the
        // program.
        let _ = fchown(file, Some(other.uid()), Some(other.gid()));
    }
    file.set_permissions(other.permissions())
}

/// Returns the place where a path leads through links. The file itself may not exist.
///
/// # Errors
/// The system's error if the folder of the file does not exist or cannot be searched.
pub fn place_of(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            Ok(fs::canonicalize(folder.unwrap_or(Path::new(".")))?.join(name))
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn write(path: &Path, overwrite: Overwrite) -> io::Result<()> {
        let file = NewFile::create(path, overwrite)?;
        file.as_file().write_all(b"new")?;
        file.put()
    }

    #[test]
    fn a_file_replaces_another_only_if_it_may() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write(&path, Overwrite::No).unwrap();
        let exists = |result: io::Result<()>| {
            assert_eq!(result.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        };
        exists(write(&path, Overwrite::No));
        fs::write(&path, "old").unwrap();
        write(&path, Overwrite::Yes).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        // A file that is made meanwhile is not replaced.
        let other = folder.path().join("other");
        let file = NewFile::create(&other, Overwrite::No).unwrap();
        fs::write(&other, "old").unwrap();
        exists(file.put());
        assert_eq!(fs::read(&other).unwrap(), b"old");
        let kind = |path: &Path| write(path, Overwrite::Yes).unwrap_err().kind();
        assert_eq!(kind(folder.path()), io::ErrorKind::IsADirectory);
        #[cfg(unix)]
        assert_eq!(kind(Path::new("/dev/null")), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_file_that_is_dropped_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = NewFile::create(&folder.path().join("file"), Overwrite::No).unwrap();
        file.as_file().write_all(b"unfinished").unwrap();
        drop(file);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        write(&link, Overwrite::Yes).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        // A link that leads nowhere is a file that exists.
        fs::remove_file(&path).unwrap();
        let error = NewFile::create(&link, Overwrite::No).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        write(&link, Overwrite::Yes).unwrap();
        assert!(!link.is_symlink());
    }
}
