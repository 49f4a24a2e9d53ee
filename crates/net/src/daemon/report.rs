//! Conversions between requests, replies and the state folder.

use std::path::Path;
use std::time::Duration;

use data_encoding::BASE64;
use hashlane_api::{Goal, Place, Rates, Target};
use hashlane_cli::control::{Add, Named, StatusReply, TorrentReply};
use hashlane_client::{Activity, TorrentSnapshot};
use hashlane_metainfo::{ContentMap, Magnet, Torrent};
use hashlane_store::{Choices, Entry, Store, TorrentTotals};

/// A torrent that is added.
pub(super) enum New {
    Torrent(Torrent, Choices),
    Magnet(Box<Magnet>, Choices),
}

/// Returns the torrent and the choices of a request. `folder` is that of torrents without another place.
pub(super) fn new_torrent(add: Add, folder: Option<&Path>) -> Result<New, String> {
    let place = match (add.folder, add.content) {
        (Some(folder), None) => Place::Folder(folder),
        (None, Some(content)) => Place::Content(content),
        (Some(_), Some(_)) => return Err("both a folder and content".to_owned()),
        (None, None) => {
            let none = "no folder for the content: use --dir here, or at the start of the daemon";
            Place::Folder(folder.ok_or(none)?.to_owned())
        }
    };
    let map = add.content_map.map(|text| {
        let text = BASE64.decode(text.as_bytes());
        let text = text.map_err(|error| format!("content_map: {error}"))?;
        ContentMap::parse(&text).map_err(|error| format!("content_map: {error}"))
    });
    if map.is_some() && matches!(place, Place::Content(_)) {
        return Err("both a content map and content".to_owned());
    }
    let choices = Choices {
        map: map.transpose()?,
        goal: Goal {
            ratio: add.ratio.map_or(Target::Inherited, Target::At),
            time: add.seed_seconds.map_or(Target::Inherited, seconds),
            idle: Target::Inherited,
        },
        category: add.category,
        labels: add.labels.into_iter().collect(),
        limits: Rates {
            down: add.max_down,
            up: add.max_up,
        },
        sequential: add.sequential,
        paused: add.paused,
        ..Choices::at(place)
    };
    match (add.metainfo, add.magnet, add.url) {
        (Some(bytes), None, None) => {
            let bytes = BASE64.decode(bytes.as_bytes());
            let bytes = bytes.map_err(|error| format!("metainfo: {error}"))?;
            let torrent = Torrent::parse(bytes).map_err(|error| format!("metainfo: {error}"))?;
            if let Some(map) = &choices.map {
                let places = map.places_of(&torrent);
                places.map_err(|error| format!("content_map: {error}"))?;
            }
            Ok(New::Torrent(torrent, choices))
        }
        (None, Some(_), None) if choices.map.is_some() => {
            Err("content_map: a link does not have the paths of files".to_owned())
        }
        (None, Some(link), None) => {
            let magnet = link
                .parse::<Magnet>()
                .map_err(|error| format!("magnet: {error}"))?;
            Ok(New::Magnet(Box::new(magnet), choices))
        }
        _ => Err("not exactly one of metainfo, magnet and url".to_owned()),
    }
}

fn seconds(seconds: u64) -> Target<Duration> {
    Target::At(Duration::from_secs(seconds))
}

/// Returns the identity of a torrent.
pub(super) fn named(entry: &Entry) -> Named {
    Named {
        info_hash: entry.name().to_string(),
        info_hash_v1: entry.info_hashes.v1().map(|v1| v1.to_string()),
        info_hash_v2: entry.info_hashes.v2().map(|v2| v2.to_string()),
        name: entry.shown_title(),
    }
}

/// Returns the state of a torrent. It has no snapshot while it waits for its start.
pub(super) fn torrent(
    entry: &Entry,
    snapshot: Option<&TorrentSnapshot>,
    totals: TorrentTotals,
    order: u64,
    goal: Goal,
) -> TorrentReply {
    let unknown = TorrentSnapshot::new(0, "");
    let snapshot = snapshot.unwrap_or(&unknown);
    let choices = &entry.choices;
    TorrentReply {
        torrent: named(entry),
        activity: snapshot.activity.name().to_owned(),
        error: snapshot.error.clone(),
        folder: folder_of(entry),
        content: snapshot.content.clone(),
        complete: snapshot.is_complete,
        total_bytes: snapshot.total_bytes,
        wanted_bytes: snapshot.wanted_bytes,
        done_bytes: snapshot.done_bytes,
        down_bytes_per_second: snapshot.down_bytes_per_second,
        up_bytes_per_second: snapshot.up_bytes_per_second,
        peers: snapshot.peers,
        seeds: snapshot.seeds,
        received_bytes: totals.received,
        sent_bytes: totals.sent,
        seeding_seconds: totals.seeding_seconds,
        added: totals.added,
        completed: totals.completed,
        paused: choices.paused,
        forced: choices.forced,
        category: choices.category.clone(),
        labels: choices.labels.iter().cloned().collect(),
        max_down: choices.limits.down,
        max_up: choices.limits.up,
        seed_ratio: goal.ratio.limit(),
        seed_seconds: goal.time.limit().map(|time| time.as_secs()),
        move_to: choices
            .move_to
            .as_deref()
            .map(|folder| folder.to_string_lossy().into_owned()),
        order,
    }
}

/// Returns the state of the daemon. A torrent without snapshot waits for its content. The flag says whether a torrent waits
/// for its turn.
pub(super) fn status<'s>(
    store: &Store,
    limits: (Option<u32>, Option<u32>),
    snapshots: impl Iterator<Item = (Option<&'s TorrentSnapshot>, bool)>,
) -> StatusReply {
    let all = store.totals().all;
    let mut status = StatusReply {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        process: std::process::id(),
        state: store.folder().to_string_lossy().into_owned(),
        torrents: 0,
        downloading: 0,
        serving: 0,
        verifying: 0,
        queued: 0,
        paused: 0,
        failed: 0,
        down_bytes_per_second: 0,
        up_bytes_per_second: 0,
        max_down: limits.0,
        max_up: limits.1,
        alternative: store.session().alternative,
        adds_paused: store.session().adds_paused,
        requested_limits: Vec::new(),
        received_bytes: all.received,
        sent_bytes: all.sent,
        problems: store.problems().iter().map(ToString::to_string).collect(),
    };
    for (snapshot, is_queued) in snapshots {
        status.torrents += 1;
        let Some(snapshot) = snapshot else {
            status.failed += 1;
            continue;
        };
        *match snapshot.activity {
            Activity::Waiting | Activity::Verifying | Activity::Confirming => &mut status.verifying,
            Activity::Metadata | Activity::Downloading => &mut status.downloading,
            Activity::Serving | Activity::Moving => &mut status.serving,
            Activity::Paused if is_queued => &mut status.queued,
            Activity::Paused => &mut status.paused,
            Activity::Absent | Activity::Ended | Activity::Failed => &mut status.failed,
        } += 1;
        status.down_bytes_per_second += snapshot.down_bytes_per_second;
        status.up_bytes_per_second += snapshot.up_bytes_per_second;
    }
    status
}

/// Returns the folder for the content of a torrent.
fn folder_of(entry: &Entry) -> Option<String> {
    match &entry.choices.place {
        Place::Folder(folder) => Some(folder.to_string_lossy().into_owned()),
        Place::Content(_) => None,
    }
}
