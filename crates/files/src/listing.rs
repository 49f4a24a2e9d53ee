//! A walk that lists the files of a folder with their stamps, in the order of the bytes of their paths.
//!
//! A list of paths that is sorted by bytes, such as the key of a database, can be merged with this walk: neither has to be kept
//! in memory. A folder is listed whole before its first file is visited. Its files are asked for their stamps in the order of
//! their inodes, which on a disk is near the order in which the inodes are stored.

use std::ffi::{CStr, OsStr};
use std::io;
use std::ops::{ControlFlow, Range};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use crate::own::is_own_name;
use crate::stamp::Stamp;

/// What a walk finds at a path.
#[derive(Debug)]
#[non_exhaustive]
pub enum Listed {
    /// A regular file.
    File(Stamp),
    /// A file of Hashlane itself, which is not content: see [`is_own_name`].
    Own,
    /// A symbolic link, pipe, socket or device.
    Other,
    /// A file or folder that cannot be read. Nothing is known of what lies below it.
    Failed(io::Error),
}

/// Visits everything below a folder except folders, in the order of the bytes of the paths below the folder. Components are
/// separated by `/`. Links are not followed, and a file that vanishes during the walk is left out. A folder that cannot be read
/// is visited in its place as [`Listed::Failed`], with a slash at the end of its path.
///
/// The walk ends when `visit` returns [`ControlFlow::Break`], whose value is returned.
///
/// # Errors
/// The folder itself cannot be read.
pub fn list_files<B>(
    folder: &Path,
    mut visit: impl FnMut(&[u8], Listed) -> ControlFlow<B>,
) -> io::Result<ControlFlow<B>> {
    let root = rustix::fs::open(folder, FOLDER, Mode::empty())?;
    let mut levels = vec![Level::read(rustix::io::dup(&root)?, 0)?];
    let mut path = Vec::new();
    while let Some(level) = levels.last_mut() {
        path.truncate(level.prefix_len);
        let Some(entry) = level.entries.pop() else {
            levels.pop();
            continue;
        };
        path.extend(&level.names[entry.name]);
        let listed = match entry.kind {
            Kind::Folder => match open_below(&root, &mut path) {
                Ok(folder) => match Level::read(folder, path.len()) {
                    Ok(level) => {
                        levels.push(level);
                        continue;
                    }
                    Err(error) => Listed::Failed(error.into()),
                },
                // It vanished meanwhile.
                Err(Errno::NOENT) => continue,
                Err(error) => Listed::Failed(error.into()),
            },
            Kind::File(_) if is_own_path(&path) => Listed::Own,
            Kind::File(stamp) => Listed::File(stamp),
            Kind::Other => Listed::Other,
            Kind::Failed(error) => Listed::Failed(error.into()),
        };
        if let ControlFlow::Break(value) = visit(&path, listed) {
            return Ok(ControlFlow::Break(value));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn is_own_path(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    is_own_name(OsStr::from_bytes(name))
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// Opens a folder by its path below `root`. The path is restored before the function returns.
fn open_below(root: &OwnedFd, path: &mut Vec<u8>) -> rustix::io::Result<OwnedFd> {
    path.push(0);
    let name = CStr::from_bytes_with_nul(path).map_err(|_| Errno::INVAL);
    let opened = name.and_then(|name| openat(root, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()));
    path.pop();
    opened
}

/// A folder whose entries are being visited.
struct Level {
    /// The names one after another, each with a zero byte at its end. Names of folders end with a slash.
    names: Vec<u8>,
    /// The entries that are not visited yet. The next one is the last.
    entries: Vec<Entry>,
    /// Length of the path of the folder, with its slash.
    prefix_len: usize,
}

struct Entry {
    /// The place of the name in [`Level::names`], without the zero byte.
    name: Range<usize>,
    kind: Kind,
}

enum Kind {
    File(Stamp),
    Folder,
    Other,
    Failed(Errno),
}

impl Level {
    fn read(folder: OwnedFd, prefix_len: usize) -> rustix::io::Result<Self> {
        let mut level = Self {
            names: Vec::new(),
            entries: Vec::new(),
            prefix_len,
        };
        // The inodes and places of the entries that have to be asked for.
        let mut unknown = Vec::new();
        let mut entries = Dir::new(folder)?;
        while let Some(entry) = entries.read() {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Directory => Kind::Folder,
                FileType::RegularFile | FileType::Unknown => {
                    unknown.push((entry.ino(), level.entries.len()));
                    Kind::Other
                }
                _ => Kind::Other,
            };
            let name = level.add_name(name, matches!(kind, Kind::Folder));
            level.entries.push(Entry { name, kind });
        }
        unknown.sort_unstable();
        let mut vanished = Vec::new();
        for (_, i) in unknown {
            let name = level.entries[i].name.clone();
            level.entries[i].kind = match level.stat(entries.fd()?, name.clone()) {
                Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                    FileType::RegularFile => Kind::File(Stamp::of_stat(&stat)),
                    FileType::Directory => {
                        let name = level.names[name].to_vec();
                        level.entries[i].name = level.add_bytes(&name, true);
                        Kind::Folder
                    }
                    _ => Kind::Other,
                },
                Err(Errno::NOENT) => {
                    vanished.push(i);
                    continue;
                }
                Err(error) => Kind::Failed(error),
            };
        }
        vanished.sort_unstable();
        for i in vanished.into_iter().rev() {
            level.entries.swap_remove(i);
        }
        let names = &level.names;
        level
            .entries
            .sort_unstable_by(|a, b| names[b.name.clone()].cmp(&names[a.name.clone()]));
        Ok(level)
    }

    fn add_name(&mut self, name: &CStr, is_folder: bool) -> Range<usize> {
        self.add_bytes(name.to_bytes(), is_folder)
    }

    fn add_bytes(&mut self, name: &[u8], is_folder: bool) -> Range<usize> {
        let start = self.names.len();
        self.names.extend(name);
        if is_folder {
            self.names.push(b'/');
        }
        let end = self.names.len();
        self.names.push(0);
        start..end
    }

    fn stat(&self, folder: impl AsFd, name: Range<usize>) -> rustix::io::Result<rustix::fs::Stat> {
        let name = &self.names[name.start..=name.end];
        let name = CStr::from_bytes_with_nul(name).map_err(|_| Errno::INVAL)?;
        statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn list(folder: &Path) -> Vec<(Vec<u8>, Listed)> {
        let mut found = Vec::new();
        let walked = list_files::<()>(folder, |path, listed| {
            found.push((path.to_vec(), listed));
            ControlFlow::Continue(())
        });
        assert!(walked.unwrap().is_continue());
        found
    }

    #[test]
    fn files_are_listed_in_the_order_of_the_bytes_of_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let names: [&[u8]; 9] = [
            b"a", b"b-c", b"b.", b"b/a", b"b/c/d", b"b/c0", b"b0", b"\xff/x", b"\xff\n",
        ];
        for name in names {
            let path = root.join(OsStr::from_bytes(name));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        fs::create_dir(root.join("empty")).unwrap();
        let mut sorted = names.to_vec();
        sorted.sort_unstable();
        let found = list(root);
        let paths: Vec<&[u8]> = found.iter().map(|(path, _)| path.as_slice()).collect();
        assert_eq!(paths, sorted);
        for (path, listed) in &found {
            let metadata = root.join(OsStr::from_bytes(path)).metadata().unwrap();
            let Listed::File(stamp) = listed else {
                panic!("{listed:?}");
            };
            assert_eq!(*stamp, Stamp::of(&metadata));
            assert_eq!(stamp.length(), path.len() as u64);
        }
    }

    #[test]
    fn links_and_pipes_are_named_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("folder")).unwrap();
        fs::write(root.join("folder/file"), "x").unwrap();
        symlink("folder", root.join("to folder")).unwrap();
        symlink("..", root.join("folder/up")).unwrap();
        let found = list(root);
        let kinds: Vec<(&[u8], bool)> = found
            .iter()
            .map(|(path, listed)| (path.as_slice(), matches!(listed, Listed::File(_))))
            .collect();
        let expected: [(&[u8], bool); 3] = [
            (b"folder/file", true),
            (b"folder/up", false),
            (b"to folder", false),
        ];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn times_before_1970_have_negative_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let file = fs::File::create(folder.path().join("old")).unwrap();
        let time = std::time::UNIX_EPOCH - std::time::Duration::from_millis(1500);
        file.set_modified(time).unwrap();
        let [(_, Listed::File(stamp))] = &list(folder.path())[..] else {
            panic!("one file");
        };
        assert_eq!(stamp.modified_ns(), Some(-1_500_000_000));
        assert_eq!(stamp.modified(), Some(time));
    }

    #[test]
    fn a_walk_ends_when_it_is_asked_to() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let walked = list_files(folder.path(), |path, _| {
            if path == b"b" {
                ControlFlow::Break(7)
            } else {
                ControlFlow::Continue(())
            }
        });
        assert_eq!(walked.unwrap(), ControlFlow::Break(7));
    }
}
