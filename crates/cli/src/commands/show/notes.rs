//! Harmless oddities of a torrent.

use hashlane_metainfo::{IgnoredHint, Naming, Torrent};

use crate::output::text::{Size, count};

/// Returns the harmless oddities of a torrent.
pub(super) fn notes(torrent: &Torrent) -> Vec<String> {
    let renamed = torrent.files().iter().filter(|file| file.is_renamed());
    let renamed = renamed.count() as u64;
    let layers = torrent.files().iter().filter(|file| {
        let piece_length = u64::from(torrent.lengths().piece_length().get());
        file.pieces_root().is_some() && file.length() > piece_length && file.piece_layer().is_none()
    });
    let layers = layers.count() as u64;
    let changed = torrent.foreign_paths(Naming::Libtorrent);
    let is_name_changed = changed.name().is_some();
    let changed = changed.indexes().len() as u64;
    let trailing = torrent.trailing_bytes().len() as u64;
    let notes = [
        (renamed > 0).then(|| {
            let files = count(renamed, "file");
            format!("{files} of names that cannot be used, shown as libtorrent renames them")
        }),
        torrent
            .lengths()
            .libtorrent_limit()
            .map(|limit| limit.to_string()),
        is_name_changed.then(|| "libtorrent changes the name of the content on disk".into()),
        (changed > 0).then(|| {
            let files = count(changed, "file");
            format!("libtorrent changes the names of {files} on disk")
        }),
        (layers > 0).then(|| {
            let files = count(layers, "file");
            format!("{files} without a piece layer: one hash for the whole file")
        }),
        torrent
            .unsorted_key()
            .map(|offset| format!("keys of the info dictionary are not sorted, at byte {offset}")),
        (trailing > 0).then(|| format!("{} after the end of the torrent", Size(trailing))),
    ];
    notes.into_iter().flatten().collect()
}

/// Returns the hints of a magnet link that are ignored.
pub(super) fn ignored_hints(ignored: &[IgnoredHint]) -> Vec<String> {
    let notes = ignored.iter().map(|hint| format!("ignored: {hint}"));
    notes.collect()
}
