//! Files that are written whole or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::bail;

/// Whether a file that is there is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overwrite {
    No,
    Yes,
}

/// Writes a file under another name first, and then puts it in the place of what was there.
pub(crate) fn write(path: &Path, bytes: &[u8], overwrite: Overwrite) -> anyhow::Result<()> {
    let place = place_of(path)?;
    if place.exists() && !place.is_file() {
        // A pipe or terminal has no place to be put in.
        return Ok(fs::OpenOptions::new()
            .write(true)
            .open(place)?
            .write_all(bytes)?);
    }
    let mut file = builder().tempfile_in(place.parent().unwrap_or(Path::new("/")))?;
    file.write_all(bytes)?;
    match overwrite {
        Overwrite::Yes => drop(file.persist(place)?),
        Overwrite::No => match file.persist_noclobber(place) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => bail!(EXISTS),
            Err(error) => return Err(error.into()),
        },
    }
    Ok(())
}

/// Makes files that are as any new file: others may read it if the user's mask says so.
fn builder() -> tempfile::Builder<'static, 'static> {
    let builder = tempfile::Builder::new();
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::PermissionsExt as _;
        let mut builder = builder;
        builder.permissions(fs::Permissions::from_mode(0o666));
        builder
    };
    builder
}

/// Refuses early what [`write()`] would refuse after all the work is done.
pub(crate) fn check(path: &Path, overwrite: Overwrite) -> anyhow::Result<()> {
    let place = place_of(path)?;
    if place.is_dir() {
        bail!("is a directory");
    }
    if overwrite == Overwrite::No && place.is_file() {
        bail!(EXISTS);
    }
    Ok(())
}

const EXISTS: &str = "exists, and is only replaced with --force";

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
