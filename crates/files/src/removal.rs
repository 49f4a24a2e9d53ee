//! Removes files below a folder, through open folders and without following symbolic links.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::file_id::FileId;
use crate::relocate::{holder, remove_unchanged};
use crate::stamp::Stamp;

/// A name in a folder. Two paths lead to the same entry if removing one of them removes the other. Two names of one file
/// (hard links) are two entries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DirEntryId {
    folder: FileId,
    name: OsString,
}

impl DirEntryId {
    /// Returns the entry that a path leads to, with all symbolic links followed.
    ///
    /// # Errors
    /// The system's error, for example if nothing exists at the path.
    pub fn of(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        let (folder, name) = path.parent().zip(path.file_name()).ok_or(NO_NAME)?;
        Ok(Self {
            folder: FileId::of_std(&fs::metadata(folder)?),
            name: name.to_owned(),
        })
    }
}

/// The error of a path that ends with no name.
const NO_NAME: io::ErrorKind = io::ErrorKind::InvalidFilename;

/// A removal of files below one folder, and of the folders that become empty.
#[derive(Debug)]
pub struct Removal {
    root: Dir,
    path: PathBuf,
    /// The folders of the removed files, below the root.
    folders: BTreeSet<PathBuf>,
}

impl Removal {
    /// Opens the folder, which may be a symbolic link.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            root: Dir::open_ambient_dir(folder, ambient_authority())?,
            path: folder.to_owned(),
            folders: BTreeSet::new(),
        })
    }

    /// Returns the entry of a file below the folder.
    ///
    /// # Errors
    /// The system's error, for example if a folder on the path is a symbolic link.
    pub fn entry(&self, path: &Path) -> io::Result<DirEntryId> {
        let (folder, name) = holder(&self.root, path)?;
        Ok(DirEntryId {
            folder: FileId::of(&folder.dir_metadata()?),
            name: name.to_owned(),
        })
    }

    /// Removes the file at `path` below the folder if it has this stamp. Returns `false` if it is another file or changed.
    ///
    /// # Errors
    /// The system's error, for example if a folder on the path is a symbolic link.
    pub fn remove_file(&mut self, path: &Path, stamp: &Stamp) -> io::Result<bool> {
        let (folder, name) = holder(&self.root, path)?;
        if Stamp::of_entry(&folder.symlink_metadata(name)?) != *stamp {
            return Ok(false);
        }
        let place = self.path.join(path);
        // The name differs for each file of a folder, so that a file that must stay blocks no other one.
        let mut private = OsString::from(".hashlane-removing-");
        private.push(format!("{}-", std::process::id()));
        private.push(hashed(name));
        let is_removed = remove_unchanged(&folder, name, stamp, &private, &place)?;
        if is_removed {
            self.left(path);
        }
        Ok(is_removed)
    }

    /// Removes the symbolic link at `path` below the folder if it leads to `target`. Returns `false` if it does not.
    ///
    /// # Errors
    /// The system's error.
    pub fn remove_link(&mut self, path: &Path, target: &Path) -> io::Result<bool> {
        let (folder, name) = holder(&self.root, path)?;
        let is_same = folder.symlink_metadata(name)?.is_symlink()
            && folder.read_link_contents(name)? == target;
        if is_same {
            folder.remove_file(name)?;
            self.left(path);
        }
        Ok(is_same)
    }

    /// Removes the folders of the removed files that are empty now. The folder of the removal itself stays.
    pub fn remove_empty_folders(self) {
        // A path sorts before the paths below it.
        for path in self.folders.iter().rev() {
            if let Ok((folder, name)) = holder(&self.root, path) {
                // A folder with other files stays.
                let _ = folder.remove_dir(name);
            }
        }
    }

    fn left(&mut self, path: &Path) {
        let folders = path.ancestors().skip(1);
        let folders = folders.filter(|folder| *folder != Path::new(""));
        self.folders.extend(folders.map(Path::to_owned));
    }
}

/// Returns a short name for a name of any length.
fn hashed(name: &OsStr) -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn stamp(path: &Path) -> Stamp {
        Stamp::of(&fs::metadata(path).unwrap())
    }

    #[test]
    fn only_the_file_itself_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("a/sub")).unwrap();
        fs::create_dir(path("other")).unwrap();
        for name in ["a/sub/file", "a/kept", "a/changed", "other/file"] {
            fs::write(path(name), name).unwrap();
        }
        symlink("../other", path("a/link")).unwrap();
        let mut removal = Removal::open(place.path()).unwrap();
        let before = stamp(&path("a/changed"));
        fs::write(path("a/changed"), "by the user").unwrap();
        assert!(!removal.remove_file("a/changed".as_ref(), &before).unwrap());
        // A folder that is a link is not entered, although the file behind it is the same.
        let outside = stamp(&path("other/file"));
        assert!(
            removal
                .remove_file("a/link/file".as_ref(), &outside)
                .is_err()
        );
        let file = stamp(&path("a/sub/file"));
        assert!(!removal.remove_file("a/kept".as_ref(), &file).unwrap());
        assert!(removal.remove_file("a/sub/file".as_ref(), &file).unwrap());
        assert!(
            !removal
                .remove_link("a/link".as_ref(), "elsewhere".as_ref())
                .unwrap()
        );
        assert!(
            removal
                .remove_link("a/link".as_ref(), "../other".as_ref())
                .unwrap()
        );
        removal.remove_empty_folders();
        assert!(!path("a/sub").exists());
        let left = fs::read_dir(path("a")).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["changed", "kept"]);
        assert!(path("other/file").exists());
    }

    #[test]
    fn an_entry_is_the_same_by_every_path() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir(path("a")).unwrap();
        fs::write(path("a/file"), "1").unwrap();
        fs::hard_link(path("a/file"), path("a/second")).unwrap();
        symlink("a", path("folder")).unwrap();
        symlink("a/file", path("link")).unwrap();
        let removal = Removal::open(place.path()).unwrap();
        let entry = removal.entry("a/file".as_ref()).unwrap();
        for same in ["a/file", "folder/file", "link"] {
            assert_eq!(DirEntryId::of(&path(same)).unwrap(), entry, "{same}");
        }
        assert_ne!(DirEntryId::of(&path("a/second")).unwrap(), entry);
        assert!(removal.entry("folder/file".as_ref()).is_err());
    }
}
