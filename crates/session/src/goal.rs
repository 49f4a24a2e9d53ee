//! What the client does for a torrent, from what a person chose.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_api::Place;
use hashlane_client::{Download, Mode, Naming, Priority, Seed, SeedLimits, Source};
use hashlane_metainfo::{Names, Torrent};
use hashlane_store::{Choices, Entry, Metainfo, TorrentTotals};

/// Returns the goal of a torrent. Its limits of serving are checked by the session, which counts across restarts.
///
/// A complete download is only served: if its files vanish, because their file system is not mounted, the client waits for
/// them and writes nothing. So it does for a download that had content, of which nothing exists. Skipped files may be selected
/// later, so a download with such files remains one. With `is_repaired`, it downloads what is missing. `records` is the folder of
/// the records of verified content, if they are trusted. The metadata of a magnet link is kept in `metadata_file`.
pub(super) fn goal(
    entry: &Entry,
    totals: &TorrentTotals,
    is_repaired: bool,
    records: Option<&Path>,
    metadata_file: Option<PathBuf>,
) -> Mode {
    let choices = &entry.choices;
    let seed = |place| {
        Mode::Seed(Seed {
            place,
            super_seeding: choices.super_seeding,
            limits: SeedLimits::default(),
            records: records.map(Path::to_owned),
            naming: naming(choices),
        })
    };
    match &choices.place {
        Place::Content(content) => seed(Place::Content(content.clone())),
        Place::Folder(folder) if is_served(entry, totals) && !is_repaired => {
            seed(Place::Folder(folder.clone()))
        }
        Place::Folder(folder) => Mode::Download(Arc::new(Download {
            priorities: priorities(choices),
            sequential: choices.sequential,
            super_seeding: choices.super_seeding,
            was_present: !is_new(totals),
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

/// Returns `true` if no content of the torrent was ever present.
pub(super) fn is_new(totals: &TorrentTotals) -> bool {
    totals.received == 0 && totals.completed.is_none() && !totals.was_present
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

/// Returns the source of the torrent. A thread of the client reads the file.
pub(super) fn source(entry: &Entry) -> Source {
    match &entry.metainfo {
        Metainfo::File(path) => Source::file(path),
        Metainfo::Magnet(magnet) => Source::Magnet(magnet.clone()),
    }
}
