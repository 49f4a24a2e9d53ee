//! Reads .torrent files, of which one can be anything.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::bail;

use crate::text::Size;

/// The largest .torrent file that is read: half of the 64 MiB that a verification wants to get along
/// with, as it stays in memory meanwhile. It is enough for the hashes of 1.6 million pieces, 25 TiB
/// at 16 MiB. libtorrent draws the line at 10 MB.
const MAX_LEN: u64 = 32 << 20;

/// The bytes of a .torrent file.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let file = File::open(path)?;
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
