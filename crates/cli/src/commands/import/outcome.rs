//! What happened to torrents.

use hashlane_import::{Imported, Source};

/// What happened to a torrent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The torrent is added, or would be added.
    New,
    /// The state folder has the torrent. It is unchanged.
    #[cfg_attr(not(unix), allow(dead_code, reason = "nothing is imported there"))]
    Present,
}

/// The numbers of torrents.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) new: u64,
    pub(super) present: u64,
    pub(super) failed: u64,
    /// Bytes of content of the new torrents whose metadata is known.
    pub(super) content_bytes: u64,
    pub(super) notes: u64,
}

/// Returns the length of the content, if the metadata is known.
pub(super) fn content_bytes(torrent: &Imported) -> Option<u64> {
    match &torrent.source {
        Source::Torrent(torrent) => Some(torrent.content_length()),
        Source::Magnet(_) => None,
    }
}
