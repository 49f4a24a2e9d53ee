//! Reads .torrent files, of which one can be anything.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use anyhow::bail;

use crate::output::text::Size;

/// Whether the last part of a path is a magnet link.
fn is_link(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| {
        name.trim_start()
            .to_ascii_lowercase()
            .starts_with("magnet:")
    })
}

/// The largest .torrent file that is read: half of the 64 MiB that a verification wants to get along
/// with, as it stays in memory meanwhile. It is enough for the hashes of 1.6 million pieces of version 1,
/// 25 TiB at 16 MiB, and of 640,000 of a hybrid. libtorrent draws the line at 10 MB.
pub(crate) const MAX_LEN: u64 = 32 << 20;

/// The bytes of a .torrent file.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && is_link(path) => {
            bail!("is a magnet link, and this needs the .torrent");
        }
        result => result?,
    };
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        bail!("is a directory, not a .torrent file");
    }
    // Also of what has no length, such as a pipe, no more than this is read.
    let mut bytes = Vec::with_capacity(metadata.len().min(MAX_LEN) as usize);
    file.take(MAX_LEN + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_LEN {
        bail!(
            "is longer than {}, which no .torrent file is",
            Size(MAX_LEN)
        );
    }
    Ok(bytes)
}
