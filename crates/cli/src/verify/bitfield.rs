//! `--bitfield FILE`.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::bail;
use tempfile::NamedTempFile;

use super::Verified;

/// Writes the bitfield of the pieces that are there, whole or not at all: under another name
/// first, then in the place of what was there.
pub(super) fn write(path: &Path, verified: &Verified<'_>) -> anyhow::Result<()> {
    let bits = verified.report.bitfield();
    if let Ok(existing) = fs::canonicalize(path) {
        let is = |other: &Path| fs::canonicalize(other).is_ok_and(|other| existing == other);
        let is_in =
            |other: &Path| fs::canonicalize(other).is_ok_and(|other| existing.starts_with(other));
        if is(verified.torrent_path) || is_in(verified.content.root()) {
            bail!("is the torrent or its content, and is not overwritten");
        }
        if !existing.metadata()?.is_file() {
            // A pipe or terminal has no place to be put in.
            return Ok(fs::OpenOptions::new()
                .write(true)
                .open(path)?
                .write_all(&bits)?);
        }
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(&bits)?;
    file.persist(path)?;
    Ok(())
}
