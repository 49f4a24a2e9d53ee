//! The fields of a torrent, and its details.

use std::num::NonZeroU32;
use std::ops::Range;

use hashlane_api::{Priority, Target};
use hashlane_client::{TorrentFile, TorrentSnapshot};
use hashlane_metainfo::InfoHashes;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::model::{Peer, Session, Tracker, minutes};
use crate::torrent::{Shown as _, State, part, seconds};

/// Seconds of a download that does not end (`MAX_ETA`).
const NO_END: u64 = 8_640_000;

/// A time or number that is not known.
const UNKNOWN: i64 = -1;

/// Limits of share: that of the client, and none.
const OF_CLIENT: i64 = -2;
const NEVER: i64 = -1;

/// Seconds of a month of 30 days, which popularity is counted in.
const MONTH: f64 = 2_592_000.0;

/// The goals of the client, which torrents without other goals have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Goals {
    ratio: Option<f64>,
    seeding_minutes: Option<u32>,
    idle_minutes: Option<u32>,
}

impl Goals {
    pub(super) fn of(session: &Session) -> Self {
        Self {
            ratio: session.ratio,
            seeding_minutes: session.seeding_minutes,
            idle_minutes: session.idle_minutes,
        }
    }
}

/// A torrent at one moment, and the goals of the client.
pub(super) struct View<'a> {
    torrent: &'a TorrentSnapshot,
    goals: &'a Goals,
    times: Times,
}

/// The times of a torrent that run on while nothing else changes, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    downloading: u64,
    seeding: u64,
}

impl Times {
    /// Returns the times up to now.
    pub(super) fn of(torrent: &TorrentSnapshot) -> Self {
        Self {
            downloading: seconds(torrent.downloading_seconds),
            seeding: seconds(torrent.serving_seconds),
        }
    }

    fn active(self) -> u64 {
        self.downloading.saturating_add(self.seeding)
    }
}

impl<'a> View<'a> {
    /// Returns a torrent as it is now.
    pub(super) fn new(torrent: &'a TorrentSnapshot, goals: &'a Goals) -> Self {
        Self::at(Times::of(torrent), torrent, goals)
    }

    /// Returns a torrent as it was at these times.
    pub(super) fn at(times: Times, torrent: &'a TorrentSnapshot, goals: &'a Goals) -> Self {
        Self {
            torrent,
            goals,
            times,
        }
    }
}

/// A field: its name, and the function that returns its value.
type Field = (&'static str, fn(&View<'_>) -> Value);

/// All fields but the info-hash that identifies the torrent. A value changes only if the torrent, a goal or a time does.
pub(super) const FIELDS: [Field; 56] = [
    ("added_on", |view| json!(view.torrent.added_at)),
    ("amount_left", |view| json!(view.torrent.left())),
    ("auto_tmm", |_| json!(false)),
    ("availability", |view| json!(availability(view.torrent))),
    ("category", |view| {
        json!(view.torrent.category.as_deref().unwrap_or(""))
    }),
    ("comment", |view| json!(view.torrent.comment())),
    ("completed", |view| json!(view.torrent.done_bytes)),
    ("completion_on", |view| time(view.torrent.completed_at)),
    ("content_path", |view| json!(view.torrent.content_path())),
    ("dl_limit", |view| {
        json!(view.torrent.rates().down.map_or(0, NonZeroU32::get))
    }),
    ("dlspeed", |view| json!(view.torrent.down_bytes_per_second)),
    ("download_path", |_| json!("")),
    ("downloaded", |view| json!(view.torrent.downloaded_bytes)),
    ("downloaded_session", |view| {
        json!(view.torrent.downloaded_bytes)
    }),
    ("eta", |view| {
        json!(
            view.torrent
                .whole_seconds_left()
                .unwrap_or(NO_END)
                .min(NO_END)
        )
    }),
    ("f_l_piece_prio", |_| json!(false)),
    ("force_start", |view| json!(view.torrent.is_forced)),
    ("has_metadata", |view| json!(view.torrent.has_metadata())),
    ("inactive_seeding_time_limit", |view| {
        limit(view.torrent.goal_in_force().idle.map(minutes))
    }),
    ("infohash_v1", |view| {
        let v1 = view.torrent.identity.info_hashes.and_then(InfoHashes::v1);
        json!(v1.map_or_else(String::new, |v1| v1.to_string()))
    }),
    ("infohash_v2", |view| {
        let v2 = view.torrent.identity.info_hashes.and_then(InfoHashes::v2);
        json!(v2.map_or_else(String::new, |v2| v2.to_string()))
    }),
    ("last_activity", |view| json!(view.torrent.last_active())),
    ("magnet_uri", |view| json!(view.torrent.magnet())),
    ("max_inactive_seeding_time", |view| {
        effective(
            view.torrent.goal_in_force().idle.map(minutes),
            view.goals.idle_minutes,
        )
    }),
    ("max_ratio", |view| {
        effective(view.torrent.goal_in_force().ratio, view.goals.ratio)
    }),
    ("max_seeding_time", |view| {
        effective(
            view.torrent.goal_in_force().time.map(minutes),
            view.goals.seeding_minutes,
        )
    }),
    ("name", |view| json!(view.torrent.torrent)),
    ("num_complete", |view| json!(view.torrent.seeds)),
    ("num_incomplete", |view| json!(leeches(view.torrent))),
    ("num_leechs", |view| json!(leeches(view.torrent))),
    ("num_seeds", |view| json!(view.torrent.seeds)),
    ("popularity", |view| json!(popularity(view))),
    ("priority", |view| json!(view.torrent.position() + 1)),
    ("private", |view| json!(view.torrent.is_private)),
    ("progress", |view| json!(view.torrent.progress())),
    ("ratio", |view| json!(view.torrent.ratio().unwrap_or(0.0))),
    ("ratio_limit", |view| {
        limit(view.torrent.goal_in_force().ratio)
    }),
    ("reannounce", |_| json!(0)),
    ("root_path", |view| {
        json!(if view.torrent.is_folder {
            view.torrent.content_path()
        } else {
            ""
        })
    }),
    ("save_path", |view| json!(view.torrent.content_folder())),
    ("seeding_time", |view| json!(view.times.seeding)),
    ("seeding_time_limit", |view| {
        limit(view.torrent.goal_in_force().time.map(minutes))
    }),
    ("seen_complete", |_| json!(UNKNOWN)),
    ("seq_dl", |view| json!(view.torrent.is_sequential)),
    ("size", |view| json!(view.torrent.wanted_bytes)),
    ("state", |view| json!(state(view.torrent))),
    ("super_seeding", |view| json!(view.torrent.is_super_seeding)),
    ("tags", |view| json!(view.torrent.labels.join(", "))),
    ("time_active", |view| json!(view.times.active())),
    ("total_size", |view| json!(view.torrent.total_bytes)),
    ("tracker", |view| {
        json!(view.torrent.first_tracker().unwrap_or_default())
    }),
    ("trackers_count", |view| json!(view.torrent.n_trackers())),
    ("up_limit", |view| {
        json!(view.torrent.rates().up.map_or(0, NonZeroU32::get))
    }),
    ("uploaded", |view| json!(view.torrent.uploaded_bytes)),
    ("uploaded_session", |view| {
        json!(view.torrent.uploaded_bytes)
    }),
    ("upspeed", |view| json!(view.torrent.up_bytes_per_second)),
];

/// A torrent as lists show it: all fields, and its info-hash.
pub(super) struct Row<'a>(pub(super) View<'a>);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = FIELDS.iter().map(|(name, value)| (*name, value(&self.0)));
        let hash = ("hash", json!(self.0.torrent.short_hash()));
        serializer.collect_map(fields.chain([hash]))
    }
}

fn time(time: Option<u64>) -> Value {
    time.map_or_else(|| json!(UNKNOWN), |time| json!(time))
}

fn leeches(torrent: &TorrentSnapshot) -> u32 {
    torrent.peers.saturating_sub(torrent.seeds)
}

/// Returns the ratio of each month of activity.
#[expect(clippy::cast_precision_loss, reason = "programs show few digits")]
fn popularity(view: &View<'_>) -> f64 {
    let months = view.times.active() as f64 / MONTH;
    if months > 0.0 {
        view.torrent.ratio().unwrap_or(0.0) / months
    } else {
        0.0
    }
}

/// Returns the number of copies that connected peers are known to have: one for each with all pieces.
fn availability(torrent: &TorrentSnapshot) -> f64 {
    match torrent.state() {
        State::Downloads => f64::from(torrent.seeds),
        _ => -1.0,
    }
}

fn limit<T: Into<Value>>(goal: Target<T>) -> Value {
    match goal {
        Target::Inherited => json!(OF_CLIENT),
        Target::At(value) => value.into(),
        Target::Never => json!(NEVER),
    }
}

fn effective<T: Into<Value>>(goal: Target<T>, of_client: Option<T>) -> Value {
    let value = match goal {
        Target::Inherited => of_client,
        Target::At(value) => Some(value),
        Target::Never => None,
    };
    value.map_or_else(|| json!(NEVER), Into::into)
}

/// Returns the name of a torrent's state.
pub(super) fn state(torrent: &TorrentSnapshot) -> &'static str {
    let is_complete = torrent.has_selected();
    match torrent.state() {
        _ if torrent.failure().is_some() => "error",
        State::Stopped if is_complete => "stoppedUP",
        State::Stopped => "stoppedDL",
        State::WaitsToVerify | State::Verifies if is_complete => "checkingUP",
        State::WaitsToVerify | State::Verifies => "checkingDL",
        State::WaitsToDownload => "queuedDL",
        State::Downloads if !torrent.has_metadata() && torrent.is_forced => "forcedMetaDL",
        State::Downloads if !torrent.has_metadata() => "metaDL",
        State::Downloads if torrent.is_forced => "forcedDL",
        State::Downloads if torrent.down_bytes_per_second > 0 => "downloading",
        State::Downloads => "stalledDL",
        State::Moves => "moving",
        State::WaitsToSeed => "queuedUP",
        State::Seeds if torrent.is_forced => "forcedUP",
        State::Seeds if torrent.up_bytes_per_second > 0 => "uploading",
        State::Seeds => "stalledUP",
    }
}

/// Returns whether a torrent passes the filter of a list; `None` if there is no filter with this name. Those for torrents that
/// do something look at rates.
pub(super) fn passes(torrent: &TorrentSnapshot, filter: &str) -> Option<bool> {
    let state = torrent.state();
    let is_checked = matches!(state, State::WaitsToVerify | State::Verifies);
    let is_downloaded = matches!(state, State::WaitsToDownload | State::Downloads);
    let is_seeded = matches!(state, State::WaitsToSeed | State::Seeds);
    let is_stopped = state == State::Stopped;
    let is_active = torrent.down_bytes_per_second + torrent.up_bytes_per_second > 0;
    let stalls_down = state == State::Downloads && torrent.down_bytes_per_second == 0;
    let stalls_up = state == State::Seeds && torrent.up_bytes_per_second == 0;
    let is_complete = torrent.has_selected();
    Some(match filter {
        "all" | "" => true,
        "downloading" => is_downloaded || !is_complete && (is_checked || is_stopped),
        "seeding" => is_seeded,
        "completed" => is_complete,
        "stopped" | "paused" => is_stopped,
        "running" | "resumed" => !is_stopped,
        "active" => is_active,
        "inactive" => !is_active,
        "stalled" => stalls_down || stalls_up,
        "stalled_uploading" => stalls_up,
        "stalled_downloading" => stalls_down,
        "checking" => is_checked,
        "moving" => state == State::Moves,
        "errored" => torrent.failure().is_some(),
        _ => return None,
    })
}

/// Returns the properties of a torrent.
pub(super) fn properties(torrent: &TorrentSnapshot, session: &Session, pieces: &[bool]) -> Value {
    let average = |bytes: u64, seconds: u64| bytes.checked_div(seconds).unwrap_or(0);
    let goals = Goals::of(session);
    let view = View::new(torrent, &goals);
    // Lists name the others in another way, or do not have them.
    let known = [
        "comment",
        "dl_limit",
        "eta",
        "has_metadata",
        "infohash_v1",
        "infohash_v2",
        "name",
        "popularity",
        "private",
        "progress",
        "reannounce",
        "save_path",
        "seeding_time",
        "total_size",
        "up_limit",
        "download_path",
    ];
    let fields = FIELDS.iter().filter(|(name, _)| known.contains(name));
    let mut all: Map<String, Value> = fields
        .map(|(name, value)| ((*name).to_owned(), value(&view)))
        .collect();
    let n_limit = session.max_peers.map_or(UNKNOWN, i64::from);
    let limit = |limit: Option<NonZeroU32>| limit.map_or(UNKNOWN, |limit| limit.get().into());
    let more = [
        ("addition_date", json!(torrent.added_at)),
        ("completion_date", time(torrent.completed_at)),
        ("created_by", json!(torrent.creator())),
        ("creation_date", time(torrent.created())),
        ("dl_limit", json!(limit(torrent.rates().down))),
        ("dl_speed", json!(torrent.down_bytes_per_second)),
        (
            "dl_speed_avg",
            json!(average(torrent.downloaded_bytes, view.times.downloading)),
        ),
        ("hash", json!(torrent.short_hash())),
        ("isPrivate", json!(torrent.is_private)),
        ("is_private", json!(torrent.is_private)),
        ("last_seen", json!(UNKNOWN)),
        ("nb_connections", json!(torrent.peers)),
        ("nb_connections_limit", json!(n_limit)),
        ("peers", json!(leeches(torrent))),
        ("peers_total", json!(leeches(torrent))),
        ("piece_size", json!(torrent.piece_length)),
        (
            "pieces_have",
            json!(pieces.iter().filter(|is_present| **is_present).count()),
        ),
        ("pieces_num", json!(torrent.pieces)),
        ("seeds", json!(torrent.seeds)),
        ("seeds_total", json!(torrent.seeds)),
        ("share_ratio", json!(torrent.ratio().unwrap_or(0.0))),
        ("time_elapsed", json!(view.times.active())),
        ("total_downloaded", json!(torrent.downloaded_bytes)),
        ("total_downloaded_session", json!(torrent.downloaded_bytes)),
        ("total_uploaded", json!(torrent.uploaded_bytes)),
        ("total_uploaded_session", json!(torrent.uploaded_bytes)),
        ("total_wasted", json!(torrent.wasted_bytes)),
        ("up_limit", json!(limit(torrent.rates().up))),
        ("up_speed", json!(torrent.up_bytes_per_second)),
        (
            "up_speed_avg",
            json!(average(torrent.uploaded_bytes, view.times.active())),
        ),
    ];
    all.extend(more.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(all)
}

/// Returns a file. `is_seed` is part of the first one only.
pub(super) fn file(
    index: usize,
    file: &TorrentFile,
    pieces: &Range<u32>,
    torrent: &TorrentSnapshot,
) -> Value {
    // 7 is a third priority above normal. qBittorrent has none below normal.
    let priority = match file.priority {
        Priority::Skip => 0,
        Priority::Low | Priority::Normal => 1,
        Priority::High => 6,
    };
    let last = pieces.end.saturating_sub(1).max(pieces.start);
    let mut value = json!({
        "availability": availability(torrent),
        "index": index,
        "name": file.path,
        "piece_range": [pieces.start, last],
        "priority": priority,
        "progress": part(file.done_bytes.unwrap_or(0), file.length_bytes),
        "size": file.length_bytes,
    });
    if index == 0 {
        value["is_seed"] = json!(torrent.has_selected());
    }
    value
}

/// The rows of a list of trackers that stand for other sources of peers.
pub(super) fn sources(torrent: &TorrentSnapshot, session: &Session) -> [Value; 3] {
    let sources = [
        ("** [DHT] **", session.uses_dht),
        ("** [PeX] **", session.uses_peer_exchange),
        ("** [LSD] **", session.uses_local_discovery),
    ];
    sources.map(|(name, is_used)| {
        // 0 is disabled, and 2 is working.
        let status = if is_used && !torrent.is_private { 2 } else { 0 };
        let message = if torrent.is_private {
            "This torrent is private"
        } else {
            ""
        };
        json!({
            "url": name, "status": status, "tier": -1, "msg": message, "num_peers": 0,
            "num_seeds": 0, "num_leeches": 0, "num_downloaded": 0,
        })
    })
}

pub(super) fn tracker(tracker: &Tracker) -> Value {
    // 1 not contacted yet, 2 working, 3 updating, 4 not working.
    let (status, message) = match &tracker.announced {
        _ if tracker.is_announcing => (3, ""),
        None => (1, ""),
        Some(Ok(())) => (2, ""),
        Some(Err(reason)) => (4, reason.as_str()),
    };
    let count = |peers: Option<u32>| peers.map_or(UNKNOWN, i64::from);
    let n_peers = tracker
        .seeds
        .zip(tracker.leeches)
        .map(|(seeds, leeches)| seeds.saturating_add(leeches));
    json!({
        "url": tracker.url, "status": status, "tier": tracker.tier, "msg": message,
        "num_peers": count(n_peers), "num_seeds": count(tracker.seeds),
        "num_leeches": count(tracker.leeches), "num_downloaded": UNKNOWN,
    })
}

/// Returns a peer by the name that lists have for it: its address and port.
pub(super) fn peer(peer: &Peer) -> (String, Value) {
    let mut flags = Vec::new();
    let all = [
        ("D", peer.down_rate > 0),
        ("U", peer.up_rate > 0),
        ("I", peer.is_incoming),
        ("E", peer.is_encrypted),
        ("P", peer.is_utp),
    ];
    flags.extend(
        all.iter()
            .filter(|(_, is_set)| *is_set)
            .map(|(flag, _)| *flag),
    );
    let value = json!({
        "client": peer.client,
        "connection": if peer.is_utp { "μTP" } else { "BT" },
        "dl_speed": peer.down_rate,
        "downloaded": peer.downloaded,
        "flags": flags.join(" "),
        "ip": peer.address.ip().to_string(),
        "port": peer.address.port(),
        "progress": peer.progress,
        "up_speed": peer.up_rate,
        "uploaded": peer.uploaded,
    });
    (peer.address.to_string(), value)
}
