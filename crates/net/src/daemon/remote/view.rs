//! A torrent as programs see it.

use std::time::Duration;

use hashlane_api::Place;
use hashlane_client::{Activity, Metainfo, Snapshot, TorrentSnapshot};
use hashlane_metainfo::MetadataRef;
use hashlane_remote::model::{State, Torrent};
use hashlane_store::Entry;

use crate::daemon::goal::naming;
use crate::daemon::torrents::Torrents;

fn state(activity: Activity) -> State {
    match activity {
        Activity::Waiting => State::WaitsToVerify,
        Activity::Verifying => State::Verifies,
        Activity::Metadata | Activity::Downloading => State::Downloads,
        Activity::Moving => State::Moves,
        Activity::Queued => State::WaitsToDownload,
        Activity::Serving => State::Seeds,
        Activity::Confirming
        | Activity::Paused
        | Activity::Absent
        | Activity::Ended
        | Activity::Failed => State::Stopped,
    }
}

/// Returns `true` if the only file of a torrent lies in a folder of the torrent.
fn is_in_folder(entry: &Entry, metainfo: &Metainfo) -> bool {
    let names = naming(&entry.choices).of(metainfo).unwrap_or_default();
    names.has_top()
        && names
            .paths(metainfo)
            .first()
            .is_some_and(|path| path.contains('/'))
}

/// Returns a torrent as programs see it; `None` if it has no number, because the daemon ends.
#[expect(clippy::too_many_lines, reason = "one field after the other")]
pub(super) fn torrent(
    position: u32,
    entry: &Entry,
    torrents: &Torrents,
    all: &Snapshot,
) -> Option<Torrent> {
    let name = entry.name();
    let id = u32::try_from(torrents.number(name)?).ok()?;
    let unknown = TorrentSnapshot::new(0, "");
    let found = torrents.find(name, all);
    let snapshot = found.unwrap_or(&unknown);
    let totals = torrents.totals(name, found);
    let keys = snapshot.metainfo().map(Metainfo::metadata_ref);
    let choices = &entry.choices;
    let inherited = torrents.goal_of_groups(entry);
    let (activity, error) = torrents.activity(entry, snapshot);
    let folder = match &choices.place {
        Place::Folder(folder) => folder.as_path(),
        Place::Content(content) => content.parent().unwrap_or(content),
    };
    let has_metadata = snapshot.name.is_some();
    let of_metainfo = || {
        let tiers = keys.iter().flat_map(MetadataRef::trackers);
        let mut urls = tiers.flat_map(|tier| tier.urls());
        let first = urls.next().map(|url| url.to_string());
        let n_urls = first.iter().count() + urls.count();
        (first, n_urls)
    };
    let (tracker, n_trackers) = match torrents.changed_tiers(name) {
        Some(tiers) => (
            tiers.iter().flatten().next().cloned(),
            tiers.iter().map(Vec::len).sum(),
        ),
        None => of_metainfo(),
    };
    Some(Torrent {
        id,
        info_hashes: entry.info_hashes,
        name: entry.shown_title(),
        folder: folder.to_string_lossy().into_owned(),
        // Unknown before the client has read the metadata.
        content: snapshot.content.clone().unwrap_or_default(),
        state: match activity {
            Activity::Queued if snapshot.is_complete => State::WaitsToSeed,
            // For space, or another condition of the system.
            Activity::Waiting if error.is_some() => State::WaitsToDownload,
            activity => state(activity),
        },
        error,
        has_metadata,
        is_private: snapshot.is_private,
        comment: keys
            .as_ref()
            .and_then(|keys| keys.comment)
            .map_or_else(String::new, |text| text.to_string()),
        creator: keys
            .as_ref()
            .and_then(|keys| keys.created_by)
            .map_or_else(String::new, |text| text.to_string()),
        created: keys
            .as_ref()
            .and_then(|keys| keys.creation_date)
            .and_then(|date| u64::try_from(date).ok()),
        n_files: snapshot.files,
        is_folder: snapshot.files > 1
            || snapshot
                .metainfo()
                .is_some_and(|it| is_in_folder(entry, it)),
        n_pieces: snapshot.pieces,
        piece_len: u64::from(snapshot.piece_length),
        total_len: snapshot.total_bytes,
        wanted_len: snapshot.wanted_bytes,
        done_len: snapshot.done_bytes,
        checked_len: snapshot.verified_bytes,
        down_rate: snapshot.down_bytes_per_second,
        up_rate: snapshot.up_bytes_per_second,
        downloaded: totals.received,
        uploaded: totals.sent,
        corrupt: snapshot.wasted_bytes,
        seconds_left: snapshot
            .seconds_left
            .map(|seconds| Duration::try_from_secs_f64(seconds).map_or(0, |left| left.as_secs())),
        n_peers: snapshot.peers,
        n_seeds: snapshot.seeds,
        added: totals.added,
        completed: totals.completed,
        active: totals.active.unwrap_or(totals.added),
        changed: totals.active.unwrap_or(totals.added),
        seconds_downloading: Duration::try_from_secs_f64(snapshot.downloading_seconds.seconds())
            .map_or(0, |time| time.as_secs()),
        seconds_seeding: totals.seeding_seconds,
        category: choices.category.clone(),
        labels: choices.labels.iter().cloned().collect(),
        tracker,
        n_trackers: u32::try_from(n_trackers).unwrap_or(u32::MAX),
        queue_position: position,
        is_forced: choices.forced,
        is_sequential: choices.sequential,
        is_super_seeding: choices.super_seeding,
        rates: choices.limits,
        goal: choices.goal,
        inherited,
    })
}
