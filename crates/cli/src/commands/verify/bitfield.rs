//! `--bitfield FILE`.

use std::path::Path;

use anyhow::bail;
use hashlane_verify::{Content, Report};

use crate::new_file::{self, Overwrite, place_of};

/// Refuses early every path that [`write()`] would refuse after the verification, and every path that is part of the
/// content.
pub(super) fn check(
    path: &Path,
    torrent: &Path,
    content: &Content,
    overwrite: Overwrite,
) -> anyhow::Result<()> {
    let place = place_of(path)?;
    let is_torrent = place_of(torrent).is_ok_and(|torrent| torrent == place);
    let root = place_of(content.root());
    if is_torrent || root.is_ok_and(|root| place.starts_with(root)) {
        bail!("refusing to overwrite a file that belongs to the torrent or its content");
    }
    new_file::check(path, overwrite)
}

/// Writes the bitfield of the present pieces.
pub(super) fn write(path: &Path, report: &Report, overwrite: Overwrite) -> anyhow::Result<()> {
    new_file::write(path, &report.bitfield(), overwrite)
}
