//! Numbers of files in lists of libtorrent.

use hashlane_metainfo::{FileKind, Torrent};

/// Returns the position of each file except padding in libtorrent's list of files.
///
/// The list includes padding. libtorrent also pads the files of version 2, although the .torrent file lists no padding.
pub(super) fn numbers(torrent: &Torrent) -> impl Iterator<Item = usize> {
    let is_padded = torrent.version().has_v2();
    let piece_length = u64::from(torrent.lengths().piece_length().get());
    let mut next = 0;
    torrent.files().iter().filter_map(move |file| {
        let is_padding = file.kind() == FileKind::Padding;
        if is_padded && is_padding {
            return None;
        }
        let number = next;
        next += 1;
        if is_padded && !file.length().is_multiple_of(piece_length) {
            next += 1;
        }
        (!is_padding).then_some(number)
    })
}
