//! `--bitfield FILE`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::Verified;

/// Writes the bitfield of the pieces that are there, whole or not at all: under another name first,
/// then in the place of what was there.
pub(super) fn write(path: &Path, verified: &Verified<'_>) -> anyhow::Result<()> {
    let bits = verified.report.bitfield();
    let place = place_of(path)?;
    let is_torrent = place_of(verified.torrent_path).is_ok_and(|torrent| torrent == place);
    let root = place_of(verified.content.root());
    if is_torrent || root.is_ok_and(|root| place.starts_with(root)) {
        bail!("is the torrent or its content, and is not overwritten");
    }
    if place.exists() && !place.is_file() {
        // A pipe or terminal has no place to be put in.
        return Ok(fs::OpenOptions::new()
            .write(true)
            .open(place)?
            .write_all(&bits)?);
    }
    let mut options = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As any new file: others may read it if the user's mask says so.
        options.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = options.tempfile_in(place.parent().unwrap_or(Path::new("/")))?;
    file.write_all(&bits)?;
    file.persist(place)?;
    Ok(())
}

/// Where a path leads, through links; of what does not exist, where it would be.
fn place_of(path: &Path) -> io::Result<PathBuf> {
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
