//! What the client does for a torrent, from what a person chose.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_cli::output::text::Size;
use hashlane_client::{
    Activity, Download, Goal, Limits, Naming, Priority, Seed, SeedLimits, Source, TorrentSnapshot,
};
use hashlane_metainfo::{Names, Torrent};
use hashlane_store::{Choices, Entry, Metainfo, Place, TorrentTotals};

/// Returns the goal of a torrent. Its limits of serving are checked by the daemon, which counts across restarts.
///
/// A complete download is only served: if its files vanish, because their file system is not mounted, the client waits for
/// them and writes nothing. Skipped files may be selected later, so a download with such files remains one. With `is_repaired`,
/// it downloads what is missing. `records` is the folder of the records of verified content, if they are trusted. The metadata of a
/// magnet link is kept in `metadata_file`.
pub(super) fn goal(
    entry: &Entry,
    totals: &TorrentTotals,
    is_repaired: bool,
    records: Option<&Path>,
    metadata_file: Option<PathBuf>,
) -> Goal {
    let choices = &entry.choices;
    let seed = |place| {
        Goal::Seed(Seed {
            place,
            super_seeding: false,
            limits: SeedLimits::default(),
            records: records.map(Path::to_owned),
            naming: naming(choices),
        })
    };
    match &choices.place {
        Place::Content(content) => seed(hashlane_client::Place::Content(content.clone())),
        Place::Folder(folder) if is_served(entry, totals) && !is_repaired => {
            seed(hashlane_client::Place::Folder(folder.clone()))
        }
        Place::Folder(folder) => Goal::Download(Arc::new(Download {
            priorities: priorities(choices),
            sequential: choices.sequential,
            seeding: Some(SeedLimits::default()),
            move_to: choices.move_to.clone(),
            metadata_file,
            naming: naming(choices),
            ..Download::to(folder)
        })),
    }
}

/// Returns the priorities of files that a person chose.
fn priorities(choices: &Choices) -> Vec<(u32, Priority)> {
    let chosen = &choices.priorities;
    let sets = [
        (&chosen.skip, Priority::Skip),
        (&chosen.low, Priority::Low),
        (&chosen.high, Priority::High),
    ];
    sets.into_iter()
        .flat_map(|(files, priority)| files.iter().map(move |file| (*file, priority)))
        .collect()
}

/// Returns the names that a person chose for the content.
pub(super) fn naming(choices: &Choices) -> Naming {
    Naming {
        names: choices.names.clone(),
        before: choices.names_before.clone(),
        layout: choices.layout,
        map: choices.map.clone().map(Arc::new),
    }
}

/// Returns `true` if the torrent is only served: it was complete before.
pub(super) fn is_served(entry: &Entry, totals: &TorrentTotals) -> bool {
    let choices = &entry.choices;
    // The client looks for content that was being moved in both folders only if it downloads.
    totals.completed.is_some() && choices.priorities.skip.is_empty() && choices.move_to.is_none()
}

/// Returns `true` if nothing of the torrent was ever received, and it was not complete.
pub(super) fn is_new(totals: &TorrentTotals) -> bool {
    totals.received == 0 && totals.completed.is_none()
}

/// Returns the paths in a folder of which one exists if any content does.
pub(super) fn tops(folder: &Path, names: &Names, torrent: &Torrent) -> Vec<PathBuf> {
    let paths = names.components(torrent).into_iter();
    let first = paths.filter_map(|path| path.into_iter().next());
    let mut tops: Vec<PathBuf> = first
        .map(|name| folder.join(OsString::from_vec(name)))
        .collect();
    tops.dedup();
    tops
}

/// Returns the rate limits of a torrent.
pub(super) fn limits(entry: &Entry) -> Limits {
    let chosen = entry.choices.limits;
    Limits {
        max_down: Some(chosen.down),
        max_up: Some(chosen.up),
    }
}

/// Returns the source of the torrent. A thread of the client reads the file.
pub(super) fn source(entry: &Entry) -> Source {
    match &entry.metainfo {
        Metainfo::File(path) => Source::file(path),
        Metainfo::Magnet(magnet) => Source::Magnet(magnet.clone()),
    }
}

/// A download whose content was there before, and is not.
pub(super) struct Vanished {
    pub(super) reason: String,
    /// What is known of the torrent.
    pub(super) snapshot: TorrentSnapshot,
}

/// Returns the reason why a download must not start: it has received content or was complete before, and nothing of it is present.
/// Its file system is probably not mounted, and a download would fill the folder below.
pub(super) fn vanished(entry: &Entry, totals: &TorrentTotals) -> Option<Vanished> {
    let Place::Folder(folder) = &entry.choices.place else {
        return None;
    };
    if is_new(totals) || is_served(entry, totals) {
        return None;
    }
    let Metainfo::File(path) = &entry.metainfo else {
        return None;
    };
    // The client reports a file that cannot be read.
    let torrent = Torrent::parse(fs::read(path).ok()?).ok()?;
    // The client reports names that do not fit the torrent.
    let names = naming(&entry.choices).of(&torrent).ok()?;
    let content = tops(folder, &names, &torrent);
    let moved = entry.choices.move_to.as_deref();
    let moved = moved.map_or_else(Vec::new, |folder| tops(folder, &names, &torrent));
    let before = entry.choices.names_before.as_ref();
    let before = before.map_or_else(Vec::new, |names| tops(folder, names, &torrent));
    let mut places = content.iter().chain(&moved).chain(&before);
    if places.any(|place| place.symlink_metadata().is_ok()) {
        return None;
    }
    let content = content.first().unwrap_or(folder);
    let before = match totals.received {
        0 => "it was complete before".to_owned(),
        received => format!("{} were received", Size(received)),
    };
    let reason = format!(
        "{}: not present, but {before}: its file system may not be mounted. Remove the torrent and add it again \
         to download it again",
        content.display()
    );
    let lengths = torrent.lengths();
    let mut snapshot = TorrentSnapshot::new(0, &entry.title);
    snapshot.name = Some(entry.title.clone());
    snapshot.content = Some(content.to_string_lossy().into_owned());
    (snapshot.activity, snapshot.is_download) = (Activity::Absent, true);
    snapshot.is_private = torrent.metadata_ref().is_private;
    snapshot.total_bytes = torrent.content_length();
    snapshot.wanted_bytes = snapshot.total_bytes;
    snapshot.pieces = lengths.piece_count();
    snapshot.piece_length = lengths.piece_length().get();
    Some(Vanished { reason, snapshot })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use hashlane_metainfo::Top;
    use hashlane_store::Store;

    use super::*;

    fn totals(received: u64, completed: Option<u64>) -> TorrentTotals {
        TorrentTotals {
            received,
            completed,
            ..TorrentTotals::default()
        }
    }

    fn reason(entry: &Entry, totals: &TorrentTotals) -> Option<String> {
        vanished(entry, totals).map(|vanished| vanished.reason)
    }

    /// A download whose file system is not mounted must not fill the folder below.
    #[test]
    fn a_download_whose_content_vanished_does_not_start() {
        let place = tempfile::tempdir().unwrap();
        let (folder, other) = (place.path().join("content"), place.path().join("other"));
        let mut store = Store::open(place.path().join("state")).unwrap();
        let info =
            b"d4:infod6:lengthi1e4:name1:a12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee";
        let torrent = Torrent::parse(info.to_vec()).unwrap();
        let choices = Choices::at(Place::Folder(folder.clone()));
        let mut entry = store.put(torrent, choices).unwrap().clone();
        // Nothing is expected of a new torrent, and a complete one is only served.
        assert_eq!(reason(&entry, &totals(0, None)), None);
        assert_eq!(reason(&entry, &totals(2048, Some(1))), None);
        let found = reason(&entry, &totals(2048, None)).unwrap();
        let start = format!(
            "{}: not present, but 2 KiB were received: ",
            folder.join("a").display()
        );
        assert!(found.starts_with(&start), "{found}");
        // Deselected files may be selected later, so the torrent remains a download.
        entry.choices.priorities.skip = [0].into();
        let found = reason(&entry, &totals(0, Some(1))).unwrap();
        assert!(found.contains("but it was complete before"), "{found}");
        // The content may be under other names, or on its way to another folder.
        let received = totals(2048, None);
        let is_present = |entry: &Entry| reason(entry, &received).is_none();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("a"), "").unwrap();
        entry.choices.move_to = Some(other.clone());
        assert!(is_present(&entry));
        entry.choices.move_to = Some(folder.clone());
        assert!(!is_present(&entry));
        fs::create_dir(&folder).unwrap();
        symlink("nowhere", folder.join("b")).unwrap();
        assert!(!is_present(&entry));
        let b = Names::new(Top::Named("b".to_owned()), [].into()).unwrap();
        entry.choices.names_before = Some(b.clone());
        assert!(is_present(&entry));
        (entry.choices.names, entry.choices.names_before) = (b, None);
        assert!(is_present(&entry));
        fs::remove_file(folder.join("b")).unwrap();
        assert!(!is_present(&entry));
        // Content that is served where it is, is never written.
        entry.choices.place = Place::Content(folder.join("b"));
        assert!(is_present(&entry));
    }
}
