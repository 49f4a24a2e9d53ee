//! Files that are written whole or not at all.

use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::bail;
use tempfile::NamedTempFile;

/// Whether an existing file may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overwrite {
    No,
    Yes,
}

/// Writes a file under another name first, and then puts it in the place of what was there, whose
/// permissions it gets.
pub(crate) fn write(path: &Path, bytes: &[u8], overwrite: Overwrite) -> anyhow::Result<()> {
    let place = place_of(path)?;
    let before = place.metadata().ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        // A pipe or terminal has no place to be put in.
        return Ok(fs::OpenOptions::new()
            .write(true)
            .open(place)?
            .write_all(bytes)?);
    }
    let mut file = beside(&place)?;
    if let Some(before) = before {
        be_like(file.as_file(), &before)?;
    }
    file.as_file_mut().write_all(bytes)?;
    // With the disk before it has its name: a power cut leaves the old file or the new one.
    file.as_file().sync_all()?;
    match overwrite {
        Overwrite::Yes => drop(file.persist(place).map_err(|error| error.error)?),
        Overwrite::No => match file.persist_noclobber(place) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => bail!(EXISTS),
            Err(error) => return Err(error.error.into()),
        },
    }
    Ok(())
}

/// Gives a file the permissions of another one, which can be meant to be seen by few, and its owner
/// if the system lets us.
fn be_like(file: &File, other: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        // Only the superuser can. For others the file keeps the user who runs the program as owner.
        let _ = fchown(file, Some(other.uid()), Some(other.gid()));
    }
    file.set_permissions(other.permissions())
}

/// A file in the same folder, that goes when it is dropped. Others may read it if the user's mask
/// says so, as any new file.
fn beside(place: &Path) -> io::Result<NamedTempFile> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "nothing is set there"))]
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let folder = place.parent().unwrap_or(Path::new("/"));
    // The error would name the temporary file, which means nothing to the user.
    builder
        .tempfile_in(folder)
        .map_err(|error| error.kind().into())
}

/// Refuses early what [`write()`] would refuse after all the work is done.
pub(crate) fn check(path: &Path, overwrite: Overwrite) -> anyhow::Result<()> {
    let place = place_of(path)?;
    let before = place.symlink_metadata().ok();
    if before.as_ref().is_some_and(Metadata::is_dir) {
        bail!("is a directory");
    }
    // A link is one that leads nowhere, or its target would be the place.
    if before
        .as_ref()
        .is_none_or(|before| before.is_file() || before.is_symlink())
    {
        if overwrite == Overwrite::No && before.is_some() {
            bail!(EXISTS);
        }
        beside(&place)?;
    }
    Ok(())
}

const EXISTS: &str = "exists: use --force to replace it";

/// Where a path leads, through links; of what does not exist, where it would be.
pub(crate) fn place_of(path: &Path) -> io::Result<PathBuf> {
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
