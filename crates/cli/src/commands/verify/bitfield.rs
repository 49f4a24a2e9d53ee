//! `--bitfield FILE`.

use std::path::Path;

use anyhow::bail;

use super::verified::Verified;
use crate::new_file::{self, Overwrite, place_of};

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
    new_file::write(path, &bits, Overwrite::Yes)
}
