//! What the client does for a torrent, from what a person chose.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_api::{Goal, Place, Target};
use hashlane_client::{Download, Globs, Mode, Naming, Priority, Seed, SeedLimits, Source};
use hashlane_metainfo::{FileKind, FileSelection, Names, Torrent};
use hashlane_store::{Choices, Entry, Metainfo, Priorities, TorrentTotals};

use super::config::Config;

/// Returns the mode of a torrent. Its limits of serving are checked by the session, which counts across restarts. The patterns of
/// [`Config::mode`] select files, unless a person `has_chosen_files`.
///
/// A complete download is only served: if its files vanish, because their file system is not mounted, the client waits for
/// them and writes nothing. So it does for a download that had content, of which nothing exists. Skipped files may be selected
/// later, so a download with such files remains one. With `is_repaired`, it downloads what is missing. The metadata of a magnet
/// link is kept in `metadata_file`.
pub(super) fn goal(
    choices: &Choices,
    has_chosen_files: bool,
    goal: Goal,
    totals: &TorrentTotals,
    is_repaired: bool,
    config: &Config,
    metadata_file: Option<PathBuf>,
) -> Mode {
    let seeding = seeding(goal, config);
    let seed = |place| {
        Mode::Seed(Seed {
            place,
            super_seeding: choices.super_seeding,
            limits: seeding.unwrap_or_default(),
            records: config.records.clone(),
            naming: naming(choices),
        })
    };
    let (folder, usual) = match (&choices.place, &config.mode) {
        (Place::Content(content), _) => return seed(Place::Content(content.clone())),
        (Place::Folder(folder), Some(Mode::Download(usual))) => (folder, Download::clone(usual)),
        (Place::Folder(folder), None) if is_repaired || !is_served(choices, totals) => {
            (folder, Download::to(folder))
        }
        (Place::Folder(folder), _) => return seed(Place::Folder(folder.clone())),
    };
    Mode::Download(Arc::new(Download {
        folder: folder.clone(),
        selection: if has_chosen_files {
            Globs::default()
        } else {
            usual.selection
        },
        priorities: priorities(choices),
        sequential: choices.sequential,
        super_seeding: choices.super_seeding,
        was_present: !is_new(totals),
        seeding,
        move_to: choices.move_to.clone(),
        metadata_file,
        naming: naming(choices),
        ..usual
    }))
}

/// Returns whether the client serves a torrent with this goal. The session counts until when; the client waits for content that is
/// absent, which nobody counts, for as long as it would serve it.
pub(super) fn seeding(goal: Goal, config: &Config) -> Option<SeedLimits> {
    let is_served = match &config.mode {
        None | Some(Mode::Seed(_)) => true,
        Some(Mode::Download(download)) => download.seeding.is_some(),
        Some(Mode::Metadata { .. }) => false,
    };
    let has_goal = !goal.ratio.is_inherited() || !goal.time.is_inherited();
    let time = goal.time.limit().filter(|_| config.mode.is_some());
    (is_served || has_goal).then_some(SeedLimits { ratio: None, time })
}

/// Returns the goal of torrents with this mode.
pub(super) fn goal_of_mode(mode: Option<&Mode>) -> Goal {
    let limits = match mode {
        Some(Mode::Download(download)) => download.seeding,
        Some(Mode::Seed(seed)) => Some(seed.limits),
        Some(Mode::Metadata { .. }) | None => None,
    };
    let SeedLimits { ratio, time } = limits.unwrap_or_default();
    Goal {
        ratio: ratio.map_or(Target::Inherited, Target::At),
        time: time.map_or(Target::Inherited, Target::At),
        idle: Target::Inherited,
    }
}

/// Returns what a request set, or else what is configured.
pub(super) fn chosen<T>(set: Target<T>, configured: Option<T>) -> Option<T> {
    match set {
        Target::Inherited => configured,
        set => set.limit(),
    }
}

/// Chooses the files that the patterns of the mode select, if they select any, so that a person can change single ones.
pub(super) fn select(choices: &mut Choices, torrent: &Torrent, mode: Option<&Mode>) {
    let Some(Mode::Download(download)) = mode else {
        return;
    };
    if download.selection.is_empty() {
        return;
    }
    let files = torrent.files().iter();
    let files = files.filter(|file| file.kind() != FileKind::Padding);
    let paths = files.map(|file| file.path().to_string()).zip(0..);
    let (selected, others): (Vec<_>, Vec<_>) =
        paths.partition(|(path, _)| download.selection.is_match_or_inside(path));
    // The client reports patterns that select nothing.
    if !selected.is_empty() {
        skip(
            &mut choices.priorities,
            others.into_iter().map(|(_, position)| position),
        );
    }
}

/// Chooses the files that a magnet link selects (BEP 53), if it selects any, before the metadata replaces it.
pub(super) fn select_of_link(choices: &mut Choices, torrent: &Torrent, link: &FileSelection) {
    let files = torrent.files().iter().zip(0..);
    let files = files.filter(|(file, _)| file.kind() != FileKind::Padding);
    let positions = files.map(|(_, index)| index).zip(0..);
    let (selected, others): (Vec<_>, Vec<_>) =
        positions.partition(|(index, _)| link.contains(*index));
    if !selected.is_empty() {
        skip(
            &mut choices.priorities,
            others.into_iter().map(|(_, position)| position),
        );
    }
}

/// Skips files to which a person has given no priority.
fn skip(priorities: &mut Priorities, files: impl Iterator<Item = u32>) {
    let Priorities { skip, low, high } = priorities;
    skip.extend(files.filter(|file| !low.contains(file) && !high.contains(file)));
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
        map: choices.map.clone(),
    }
}

/// Returns `true` if the torrent is only served: it was complete before.
pub(super) fn is_served(choices: &Choices, totals: &TorrentTotals) -> bool {
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
        Metainfo::Torrent(torrent) => torrent.clone().into(),
        Metainfo::Magnet(magnet) => Source::Magnet(magnet.clone()),
    }
}
