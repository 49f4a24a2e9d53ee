//! Damaged files that are kept beside the repaired ones.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hashlane_files::{AtomicFile, FileId, Overwrite};

/// What happens to damaged files. There is no other choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// They stay beside the repaired ones, as `NAME.damaged-1`.
    Yes,
    /// They stay beside the repaired ones, as `NAME.1`, the name that par2cmdline gives them.
    Numbered,
    /// They are replaced.
    No,
}

/// Gives a file the name of another one, which is kept or replaced. Returns the new path of the other file if it is kept.
///
/// The name belongs to one of the two at any moment, unless the file system has no hard links.
///
/// # Errors
/// The system's error. Then nothing was changed.
pub fn put_beside(file: AtomicFile, place: &Path, kept: Kept) -> io::Result<Option<PathBuf>> {
    let infix = match kept {
        Kept::Yes => Some(INFIX),
        Kept::Numbered => Some("."),
        Kept::No => None,
    };
    let Some(infix) = infix.filter(|_| place.symlink_metadata().is_ok()) else {
        file.put(place, Overwrite::Yes)?;
        return Ok(None);
    };
    // The bytes are on the disk before the damaged file gets its second name.
    file.as_file().sync_all()?;
    if let Ok(damaged) = keep(place, infix, |from, to| fs::hard_link(from, to)) {
        file.put(place, Overwrite::Yes)?;
        return Ok(Some(damaged));
    }
    let damaged = keep(place, infix, rename_new)?;
    if let Err(error) = file.put(place, Overwrite::No) {
        // The error above is the reason.
        let _ = rename_new(&damaged, place);
        return Err(error);
    }
    Ok(Some(damaged))
}

/// Gives a damaged file the first free name for such files, and returns it.
fn keep(
    place: &Path,
    infix: &str,
    give: impl Fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<PathBuf> {
    for to in names(place, infix) {
        match give(place, &to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // A killed process has left it.
                if is_same_file(place, &to) {
                    return Ok(to);
                }
            }
            given => return given.map(|()| to),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Returns the names under which a damaged file is kept: `NAME.damaged-1` and so on.
pub fn kept_names(place: &Path) -> impl Iterator<Item = PathBuf> {
    names(place, INFIX)
}

/// Stands between the name of a damaged file and a number.
const INFIX: &str = ".damaged-";

fn names(place: &Path, infix: &str) -> impl Iterator<Item = PathBuf> {
    (1..=9999).map(move |number| {
        let mut name = place.as_os_str().to_owned();
        name.push(format!("{infix}{number}"));
        PathBuf::from(name)
    })
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    let id = |path| FileId::of_path(path).ok().flatten();
    id(a).is_some_and(|a| id(b) == Some(a))
}

#[cfg(unix)]
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    hashlane_files::rename_new(from, to)
}

#[cfg(not(unix))]
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}
