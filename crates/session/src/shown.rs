//! A torrent as users see it.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hashlane_api::{Place, Target};
use hashlane_client::{Metainfo as Torrent, SecretTiers, Snapshot, TorrentSnapshot};
use hashlane_store::{Choices, Entry, Metainfo};

use super::goal::naming;
use super::torrents::Torrents;

/// Returns a torrent as requests see it: what the folder has of it, and its state in a snapshot of the client.
pub(super) fn shown(
    torrents: &Torrents,
    entry: &Entry,
    position: u64,
    all: &Snapshot,
) -> Option<Arc<TorrentSnapshot>> {
    let name = entry.name();
    let found = torrents.find(name, all);
    let totals = torrents.totals(name, found);
    let metainfo = found.and_then(TorrentSnapshot::metainfo);
    let choices = &entry.choices;
    let mut torrent = torrents.in_snapshot(entry, &totals, all)?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    torrent.identity.info_hashes = Some(entry.info_hashes);
    torrent.torrent = entry.shown_title();
    torrent.name = match entry.metainfo {
        Metainfo::File(_) => Some(entry.shown_title()),
        Metainfo::Magnet(_) => choices.title.clone().or(torrent.name),
    };
    match &choices.place {
        Place::Folder(folder) => torrent.folder = Some(text(folder)),
        Place::Content(content) => torrent.content = Some(text(content)),
    }
    torrent.is_folder = torrent.files > 1 || metainfo.is_some_and(|it| is_in_folder(choices, it));
    torrent.trackers = torrents.changed_tiers(name).cloned().map(SecretTiers);
    torrent.move_to = choices.move_to.as_deref().map(text);
    torrent.labels = choices.labels.iter().cloned().collect();
    torrent.category.clone_from(&choices.category);
    torrent.is_paused = choices.paused;
    torrent.is_forced = choices.forced;
    torrent.queue_position = Some(position);
    torrent.is_sequential = choices.sequential;
    torrent.is_super_seeding = choices.super_seeding;
    torrent.max_down = choices.limits.down.map(NonZeroU32::get);
    torrent.max_up = choices.limits.up.map(NonZeroU32::get);
    torrent.is_served = true;
    let goal = torrents.goal_of(entry);
    let seconds = |time: Target<Duration>| time.limit().map(|time| time.as_secs());
    torrent.goal = choices.goal;
    torrent.inherited = torrents.goal_of_groups(entry);
    torrent.seed_ratio = goal.ratio.limit();
    torrent.seed_seconds = seconds(goal.time);
    torrent.idle_seconds = seconds(goal.idle);
    torrent.added_at = totals.added;
    torrent.completed_at = totals.completed;
    torrent.active_at = totals.active;
    torrent.downloaded_bytes = totals.received;
    torrent.uploaded_bytes = totals.sent;
    torrent.serving_seconds = Duration::from_secs(totals.seeding_seconds)
        .as_secs_f64()
        .into();
    Some(Arc::new(torrent))
}

/// Returns `true` if the only file of a torrent lies in a folder of the torrent.
fn is_in_folder(choices: &Choices, metainfo: &Torrent) -> bool {
    let names = naming(choices).of(metainfo).unwrap_or_default();
    let paths = names.paths(metainfo);
    names.has_top() && paths.first().is_some_and(|path| path.contains('/'))
}
