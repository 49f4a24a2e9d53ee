//! Harmless oddities of a torrent or a magnet link.

use hashlane_metainfo::{IgnoredHint, Torrent};

/// Returns the harmless oddities of a torrent.
pub(super) fn notes(torrent: &Torrent) -> Vec<String> {
    torrent.notes().iter().map(ToString::to_string).collect()
}

/// Returns the hints of a magnet link that are ignored.
pub(super) fn ignored_hints(ignored: &[IgnoredHint]) -> Vec<String> {
    let notes = ignored.iter().map(|hint| format!("ignored: {hint}"));
    notes.collect()
}
