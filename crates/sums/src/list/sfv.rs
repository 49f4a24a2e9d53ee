//! Lines of SFV files: a name, a space, and a CRC-32.

use super::entry::Entry;
use crate::algorithm::{Algorithm, Digest};

/// Parses a line.
pub(super) fn read(text: &[u8]) -> Option<Entry> {
    let text = text.trim_ascii_end();
    let (name, digest) = text.split_at_checked(text.len().checked_sub(8)?)?;
    let digest = Digest::from_hex(digest)?;
    let name = match name {
        [name @ .., b' ' | b'\t'] => name.trim_ascii_end(),
        _ => return None,
    };
    (!name.is_empty()).then(|| Entry {
        name: name.to_vec(),
        digests: vec![(Algorithm::Crc32, digest)],
        len_bytes: None,
        alternative: None,
    })
}
