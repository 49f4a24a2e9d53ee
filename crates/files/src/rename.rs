//! Renames of many files below one folder that replace nothing and follow no symbolic link.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::relocate::{holder, rename_new_at};
use crate::root::sync;

/// A file that cannot be renamed.
#[derive(Debug)]
pub struct RenameError {
    /// The new path below the folder.
    pub path: PathBuf,
    /// The reason.
    pub error: io::Error,
}

/// Renames files below `folder`, whose paths are relative to the folder, and removes the folders that are empty then. Files
/// that are absent are left out, so that renames that a kill interrupted are continued by the same call. All names are on
/// the disk afterwards.
///
/// # Errors
/// Returns the first file that cannot be renamed, with [`io::ErrorKind::AlreadyExists`] if something exists at its new path.
/// All files then have their old names, unless the system refuses that too.
pub fn rename_files(folder: &Path, renames: &[(PathBuf, PathBuf)]) -> Result<(), RenameError> {
    let root = match Dir::open_ambient_dir(folder, ambient_authority()) {
        Err(error) if is_absent(&error) => return Ok(()),
        root => root.map_err(|error| RenameError {
            path: PathBuf::new(),
            error,
        })?,
    };
    for (position, (from, to)) in renames.iter().enumerate() {
        if let Err(error) = rename(&root, from, to) {
            for (from, to) in renames[..position].iter().rev() {
                // The error above is the reason. A file that stays here is found by its pieces.
                let _ = rename(&root, to, from);
            }
            remove_empty(&root, renames.iter().map(|(_, to)| to));
            let path = to.clone();
            return Err(RenameError { path, error });
        }
    }
    remove_empty(&root, renames.iter().map(|(from, _)| from));
    sync_folders(&root, renames).map_err(|error| RenameError {
        path: PathBuf::new(),
        error,
    })
}

fn is_absent(error: &io::Error) -> bool {
    // A link in the place of a folder is no absent file.
    error.kind() == io::ErrorKind::NotFound
}

/// Renames a file if it is present.
fn rename(root: &Dir, from: &Path, to: &Path) -> io::Result<()> {
    let (old_folder, old) = match holder(root, from) {
        Err(error) if is_absent(&error) => return Ok(()),
        found => found?,
    };
    if let Err(error) = old_folder.symlink_metadata(old) {
        return if is_absent(&error) {
            Ok(())
        } else {
            Err(error)
        };
    }
    if let Some(parent) = to.parent().filter(|parent| *parent != Path::new("")) {
        root.create_dir_all(parent)?;
    }
    let (new_folder, new) = holder(root, to)?;
    rename_new_at(&old_folder, old, &new_folder, new)
}

/// Removes those folders above the paths that are empty.
fn remove_empty<'p>(root: &Dir, paths: impl Iterator<Item = &'p PathBuf>) {
    let folders = paths.flat_map(|path| path.ancestors().skip(1));
    let folders: BTreeSet<&Path> = folders.filter(|folder| *folder != Path::new("")).collect();
    // A folder comes before those in it.
    for folder in folders.into_iter().rev() {
        if let Ok((holder, name)) = holder(root, folder) {
            // A folder with other files stays.
            let _ = holder.remove_dir(name);
        }
    }
}

/// Waits until the names in all folders of the paths are on the disk.
fn sync_folders(root: &Dir, renames: &[(PathBuf, PathBuf)]) -> io::Result<()> {
    let paths = renames.iter().flat_map(|(from, to)| [from, to]);
    let folders = paths.flat_map(|path| path.ancestors().skip(1));
    let folders: BTreeSet<&Path> = folders.collect();
    for folder in folders {
        let opened = match holder(root, &folder.join("x")) {
            Err(error) if is_absent(&error) => continue,
            opened => opened?.0,
        };
        sync(&opened.into_std_file())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        folder
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(PathBuf, PathBuf)> {
        pairs
            .iter()
            .map(|(from, to)| (from.into(), to.into()))
            .collect()
    }

    /// Returns each file with its content, which is its first name.
    fn found(folder: &Path) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path.clone());
                }
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.push((name, fs::read_to_string(&path).unwrap_or_default()));
            }
        }
        found.sort();
        found
    }

    fn expect(folder: &Path, expected: &[(&str, &str)]) {
        let found = found(folder);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(path, was)| (path.as_str(), was.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn files_get_their_names_and_empty_folders_go() {
        let folder = folder(&["tree/a", "tree/sub/b", "other"]);
        let renames = pairs(&[
            ("tree/a", "wood/a"),
            ("tree/absent", "wood/absent"),
            ("tree/sub/b", "wood/deep/er/b"),
        ]);
        let expected = [
            ("other", "other"),
            ("wood", ""),
            ("wood/a", "tree/a"),
            ("wood/deep", ""),
            ("wood/deep/er", ""),
            ("wood/deep/er/b", "tree/sub/b"),
        ];
        // The second call continues what a kill may have interrupted.
        for _ in 0..2 {
            rename_files(folder.path(), &renames).unwrap();
            expect(folder.path(), &expected);
        }
        let absent = folder.path().join("absent");
        rename_files(&absent, &renames).unwrap();
        assert!(!absent.exists());
    }

    #[test]
    fn nothing_is_replaced_and_all_names_return() {
        let folder = folder(&["tree/a", "tree/sub/b", "wood/b"]);
        let before = found(folder.path());
        let renames = pairs(&[("tree/a", "wood/new/a"), ("tree/sub/b", "wood/b")]);
        let error = rename_files(folder.path(), &renames).unwrap_err();
        assert_eq!(error.error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(error.path, Path::new("wood/b"));
        assert_eq!(found(folder.path()), before);
        // A file in the place of a folder.
        let renames = pairs(&[("tree/a", "wood/b/a")]);
        rename_files(folder.path(), &renames).unwrap_err();
        assert_eq!(found(folder.path()), before);
    }

    #[test]
    fn no_link_is_followed() {
        let folder = folder(&["tree/a"]);
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("b"), "b").unwrap();
        symlink(outside.path(), folder.path().join("link")).unwrap();
        let renames = pairs(&[("tree/a", "link/a")]);
        rename_files(folder.path(), &renames).unwrap_err();
        let renames = pairs(&[("link/b", "tree/b")]);
        rename_files(folder.path(), &renames).unwrap_err();
        assert_eq!(found(outside.path()), [("b".to_owned(), "b".to_owned())]);
        assert!(folder.path().join("tree/a").exists());
        // A link is something that exists.
        symlink("absent", folder.path().join("dangling")).unwrap();
        let renames = pairs(&[("tree/a", "dangling")]);
        let error = rename_files(folder.path(), &renames).unwrap_err();
        assert_eq!(error.error.kind(), io::ErrorKind::AlreadyExists);
    }
}
