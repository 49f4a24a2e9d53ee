//! Folders whose entries are asked for by the descriptor of the folder.

use std::ffi::{CStr, OsStr, OsString};
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, open, statat};
use rustix::io::Errno;

use super::{Entry, Step, WalkOrder, Wanted};
use crate::budget::Budget;
use crate::file_id::FileId;
use crate::stamp::Stamp;

/// The identity of a folder.
pub(super) type FolderId = FileId;

/// The path of a folder, as a length in bytes of the paths of its entries. `PathBuf::pop` would read the path again for each
/// entry.
#[derive(Debug)]
pub(super) struct Place(usize);

impl Place {
    pub(super) fn of(path: &Path) -> Self {
        Self(path.as_os_str().len())
    }

    /// Replaces a path below the folder by that of the entry with this name.
    pub(super) fn enter(&self, path: &mut PathBuf, name: &OsStr) {
        let mut bytes = std::mem::take(path).into_os_string().into_vec();
        bytes.truncate(self.0);
        if self.0 > 0 {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(name.as_bytes());
        *path = OsString::from_vec(bytes).into();
    }
}

/// The entries of a folder.
#[derive(Debug)]
pub(super) struct Level {
    /// The names one after another, each with a zero byte at its end.
    names: Vec<u8>,
    /// The places of the names without the zero bytes, and the entries that are not visited yet. The next one is the last.
    entries: Vec<(Range<usize>, Entry)>,
}

impl Level {
    /// Lists the folder at a path, which may be a link if `is_link` is `true`. Returns its identity if links are followed.
    pub(super) fn list(
        path: &Path,
        is_link: bool,
        wanted: Wanted,
    ) -> io::Result<(Self, Option<FolderId>)> {
        let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        flags.set(OFlags::NOFOLLOW, !is_link);
        let open = || Ok(open(path, flags, Mode::empty())?);
        let folder = Budget::of_process().retry(open)?;
        let id = wanted.follows_links.then(|| fstat(&folder)).transpose()?;
        let id = id.and_then(|stat| Stamp::of_stat(&stat).file_id());
        Ok((Self::read(folder, wanted)?, id))
    }

    fn read(folder: OwnedFd, wanted: Wanted) -> rustix::io::Result<Self> {
        let (mut names, mut entries) = (Vec::new(), Vec::new());
        // The inodes and places of the entries that have to be asked for, and whether they are links.
        let mut unknown = Vec::new();
        let mut folder = Dir::new(folder)?;
        while let Some(entry) = folder.read() {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let kind = entry.file_type();
            let is_link = kind == FileType::Symlink && wanted.follows_links;
            let step = match kind {
                FileType::Directory => Step::Folder,
                FileType::Symlink => Step::Link,
                FileType::RegularFile => Step::File(None),
                _ => Step::Special,
            };
            let is_file = matches!(step, Step::File(_)) && wanted.stamps;
            if is_file || is_link || kind == FileType::Unknown {
                unknown.push((entry.ino(), entries.len(), is_link));
            }
            let start = names.len();
            names.extend(name.to_bytes_with_nul());
            entries.push((start..names.len() - 1, Entry { step, is_link }));
        }
        unknown.sort_unstable();
        let mut vanished = Vec::new();
        for (_, i, is_link) in unknown {
            let (place, entry) = &mut entries[i];
            let name = CStr::from_bytes_with_nul(&names[place.start..=place.end]);
            let name = name.map_err(|_| Errno::INVAL)?;
            let asked = if is_link {
                followed(folder.fd()?, name)
            } else {
                asked(folder.fd()?, name, wanted)
            };
            match asked {
                Ok(asked) => *entry = asked,
                // It vanished meanwhile.
                Err(Errno::NOENT) if !is_link => vanished.push(i),
                Err(error) => entry.step = Step::Failed(error.into()),
            }
        }
        vanished.sort_unstable();
        for i in vanished.into_iter().rev() {
            entries.swap_remove(i);
        }
        Ok(Self { names, entries })
    }

    pub(super) fn sort(&mut self, order: WalkOrder) {
        let names = &self.names;
        let key = |(place, entry): &(Range<usize>, Entry)| {
            let is_folder = matches!(entry.step, Step::Folder);
            (place.clone(), is_folder)
        };
        self.entries.sort_unstable_by(|a, b| {
            let [(a, a_is_folder), (b, b_is_folder)] = [key(a), key(b)];
            let [a, b] = [a, b].map(|place| OsStr::from_bytes(&names[place]));
            order.compare((b, b_is_folder), (a, a_is_folder))
        });
    }

    /// Returns the next entry and its name.
    pub(super) fn next_entry(&mut self) -> Option<(&OsStr, Entry)> {
        let (place, entry) = self.entries.pop()?;
        Some((OsStr::from_bytes(&self.names[place]), entry))
    }
}

/// Returns what an entry is whose kind or stamp is not known.
fn asked(folder: impl AsFd + Copy, name: &CStr, wanted: Wanted) -> rustix::io::Result<Entry> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
        let (step, is_link) = (step_of(&stat), false);
        return Ok(Entry { step, is_link });
    }
    if !wanted.follows_links {
        let (step, is_link) = (Step::Link, false);
        return Ok(Entry { step, is_link });
    }
    let is_link = true;
    Ok(followed(folder, name).unwrap_or_else(|error| Entry {
        step: Step::Failed(error.into()),
        is_link,
    }))
}

/// Returns what a link leads to.
fn followed(folder: impl AsFd, name: &CStr) -> rustix::io::Result<Entry> {
    Ok(Entry {
        step: step_of(&statat(folder, name, AtFlags::empty())?),
        is_link: true,
    })
}

fn step_of(stat: &rustix::fs::Stat) -> Step {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Step::File(Some(Stamp::of_stat(stat))),
        FileType::Directory => Step::Folder,
        _ => Step::Special,
    }
}
