//! The fields of a torrent, and its details.

use std::num::NonZeroU32;

use hashlane_api::{Priority, Target};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::model::{File, Peer, Session, State, Torrent, Tracker, minutes, part};

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

/// A torrent, and the goals of the client.
pub(super) struct View<'a>(pub(super) &'a Torrent, pub(super) &'a Goals);

/// A field: its name, and the function that returns its value.
type Field = (&'static str, fn(&View<'_>) -> Value);

/// All fields but the info-hash that identifies the torrent. A value changes only if the torrent or a goal does.
pub(super) const FIELDS: [Field; 56] = [
    ("added_on", |view| json!(view.0.added)),
    ("amount_left", |view| json!(view.0.left())),
    ("auto_tmm", |_| json!(false)),
    ("availability", |view| json!(availability(view.0))),
    ("category", |view| {
        json!(view.0.category.as_deref().unwrap_or(""))
    }),
    ("comment", |view| json!(view.0.comment)),
    ("completed", |view| json!(view.0.done_len)),
    ("completion_on", |view| time(view.0.completed)),
    ("content_path", |view| json!(view.0.content)),
    ("dl_limit", |view| {
        json!(view.0.rates.down.map_or(0, NonZeroU32::get))
    }),
    ("dlspeed", |view| json!(view.0.down_rate)),
    ("download_path", |_| json!("")),
    ("downloaded", |view| json!(view.0.downloaded)),
    ("downloaded_session", |view| json!(view.0.downloaded)),
    ("eta", |view| {
        json!(view.0.seconds_left.unwrap_or(NO_END).min(NO_END))
    }),
    ("f_l_piece_prio", |_| json!(false)),
    ("force_start", |view| json!(view.0.is_forced)),
    ("has_metadata", |view| json!(view.0.has_metadata)),
    ("inactive_seeding_time_limit", |view| {
        limit(view.0.goal().idle.map(minutes))
    }),
    ("infohash_v1", |view| {
        let v1 = view.0.info_hashes.v1();
        json!(v1.map_or_else(String::new, |v1| v1.to_string()))
    }),
    ("infohash_v2", |view| {
        let v2 = view.0.info_hashes.v2();
        json!(v2.map_or_else(String::new, |v2| v2.to_string()))
    }),
    ("last_activity", |view| json!(view.0.active)),
    ("magnet_uri", |view| json!(view.0.magnet())),
    ("max_inactive_seeding_time", |view| {
        effective(view.0.goal().idle.map(minutes), view.1.idle_minutes)
    }),
    ("max_ratio", |view| {
        effective(view.0.goal().ratio, view.1.ratio)
    }),
    ("max_seeding_time", |view| {
        effective(view.0.goal().time.map(minutes), view.1.seeding_minutes)
    }),
    ("name", |view| json!(view.0.name)),
    ("num_complete", |view| json!(view.0.n_seeds)),
    ("num_incomplete", |view| json!(leeches(view.0))),
    ("num_leechs", |view| json!(leeches(view.0))),
    ("num_seeds", |view| json!(view.0.n_seeds)),
    ("popularity", |view| json!(popularity(view.0))),
    ("priority", |view| json!(view.0.queue_position + 1)),
    ("private", |view| json!(view.0.is_private)),
    ("progress", |view| json!(view.0.progress())),
    ("ratio", |view| json!(view.0.ratio().unwrap_or(0.0))),
    ("ratio_limit", |view| limit(view.0.goal().ratio)),
    ("reannounce", |_| json!(0)),
    ("root_path", |view| {
        json!(if view.0.is_folder {
            view.0.content.as_str()
        } else {
            ""
        })
    }),
    ("save_path", |view| json!(view.0.folder)),
    ("seeding_time", |view| json!(view.0.seconds_seeding)),
    ("seeding_time_limit", |view| {
        limit(view.0.goal().time.map(minutes))
    }),
    ("seen_complete", |_| json!(UNKNOWN)),
    ("seq_dl", |view| json!(view.0.is_sequential)),
    ("size", |view| json!(view.0.wanted_len)),
    ("state", |view| json!(state(view.0))),
    ("super_seeding", |view| json!(view.0.is_super_seeding)),
    ("tags", |view| json!(view.0.labels.join(", "))),
    ("time_active", |view| json!(active(view.0))),
    ("total_size", |view| json!(view.0.total_len)),
    ("tracker", |view| {
        json!(view.0.tracker.as_deref().unwrap_or(""))
    }),
    ("trackers_count", |view| json!(view.0.n_trackers)),
    ("up_limit", |view| {
        json!(view.0.rates.up.map_or(0, NonZeroU32::get))
    }),
    ("uploaded", |view| json!(view.0.uploaded)),
    ("uploaded_session", |view| json!(view.0.uploaded)),
    ("upspeed", |view| json!(view.0.up_rate)),
];

/// A torrent as lists show it: all fields, and its info-hash.
pub(super) struct Row<'a>(pub(super) View<'a>);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = FIELDS.iter().map(|(name, value)| (*name, value(&self.0)));
        let hash = ("hash", json!(self.0.0.short_hash()));
        serializer.collect_map(fields.chain([hash]))
    }
}

fn time(time: Option<u64>) -> Value {
    time.map_or_else(|| json!(UNKNOWN), |time| json!(time))
}

fn leeches(torrent: &Torrent) -> u32 {
    torrent.n_peers.saturating_sub(torrent.n_seeds)
}

fn active(torrent: &Torrent) -> u64 {
    torrent
        .seconds_downloading
        .saturating_add(torrent.seconds_seeding)
}

/// Returns the ratio of each month of activity.
#[expect(clippy::cast_precision_loss, reason = "programs show few digits")]
fn popularity(torrent: &Torrent) -> f64 {
    let months = active(torrent) as f64 / MONTH;
    if months > 0.0 {
        torrent.ratio().unwrap_or(0.0) / months
    } else {
        0.0
    }
}

/// Returns the number of copies that connected peers are known to have: one for each with all pieces.
fn availability(torrent: &Torrent) -> f64 {
    match torrent.state {
        State::Downloads => f64::from(torrent.n_seeds),
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
pub(super) fn state(torrent: &Torrent) -> &'static str {
    let is_complete = torrent.is_complete();
    match torrent.state {
        _ if torrent.error.is_some() => "error",
        State::Stopped if is_complete => "stoppedUP",
        State::Stopped => "stoppedDL",
        State::WaitsToVerify | State::Verifies if is_complete => "checkingUP",
        State::WaitsToVerify | State::Verifies => "checkingDL",
        State::WaitsToDownload => "queuedDL",
        State::Downloads if !torrent.has_metadata && torrent.is_forced => "forcedMetaDL",
        State::Downloads if !torrent.has_metadata => "metaDL",
        State::Downloads if torrent.is_forced => "forcedDL",
        State::Downloads if torrent.down_rate > 0 => "downloading",
        State::Downloads => "stalledDL",
        State::Moves => "moving",
        State::WaitsToSeed => "queuedUP",
        State::Seeds if torrent.is_forced => "forcedUP",
        State::Seeds if torrent.up_rate > 0 => "uploading",
        State::Seeds => "stalledUP",
    }
}

/// Returns whether a torrent passes the filter of a list; `None` if there is no filter with this name. Those for torrents that
/// do something look at rates.
pub(super) fn passes(torrent: &Torrent, filter: &str) -> Option<bool> {
    let state = torrent.state;
    let is_checked = matches!(state, State::WaitsToVerify | State::Verifies);
    let is_downloaded = matches!(state, State::WaitsToDownload | State::Downloads);
    let is_seeded = matches!(state, State::WaitsToSeed | State::Seeds);
    let is_stopped = state == State::Stopped;
    let is_active = torrent.down_rate + torrent.up_rate > 0;
    let stalls_down = state == State::Downloads && torrent.down_rate == 0;
    let stalls_up = state == State::Seeds && torrent.up_rate == 0;
    let is_complete = torrent.is_complete();
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
        "errored" => torrent.error.is_some(),
        _ => return None,
    })
}

/// Returns the properties of a torrent.
pub(super) fn properties(torrent: &Torrent, session: &Session, pieces: &[bool]) -> Value {
    let average = |bytes: u64, seconds: u64| bytes.checked_div(seconds).unwrap_or(0);
    let goals = Goals::of(session);
    let view = View(torrent, &goals);
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
        ("addition_date", json!(torrent.added)),
        ("completion_date", time(torrent.completed)),
        ("created_by", json!(torrent.creator)),
        ("creation_date", time(torrent.created)),
        ("dl_limit", json!(limit(torrent.rates.down))),
        ("dl_speed", json!(torrent.down_rate)),
        (
            "dl_speed_avg",
            json!(average(torrent.downloaded, torrent.seconds_downloading)),
        ),
        ("hash", json!(torrent.short_hash())),
        ("isPrivate", json!(torrent.is_private)),
        ("is_private", json!(torrent.is_private)),
        ("last_seen", json!(UNKNOWN)),
        ("nb_connections", json!(torrent.n_peers)),
        ("nb_connections_limit", json!(n_limit)),
        ("peers", json!(leeches(torrent))),
        ("peers_total", json!(leeches(torrent))),
        ("piece_size", json!(torrent.piece_len)),
        (
            "pieces_have",
            json!(pieces.iter().filter(|is_present| **is_present).count()),
        ),
        ("pieces_num", json!(torrent.n_pieces)),
        ("seeds", json!(torrent.n_seeds)),
        ("seeds_total", json!(torrent.n_seeds)),
        ("share_ratio", json!(torrent.ratio().unwrap_or(0.0))),
        ("time_elapsed", json!(active(torrent))),
        ("total_downloaded", json!(torrent.downloaded)),
        ("total_downloaded_session", json!(torrent.downloaded)),
        ("total_uploaded", json!(torrent.uploaded)),
        ("total_uploaded_session", json!(torrent.uploaded)),
        ("total_wasted", json!(torrent.corrupt)),
        ("up_limit", json!(limit(torrent.rates.up))),
        ("up_speed", json!(torrent.up_rate)),
        (
            "up_speed_avg",
            json!(average(torrent.uploaded, active(torrent))),
        ),
    ];
    all.extend(more.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(all)
}

/// Returns a file. `is_seed` is part of the first one only.
pub(super) fn file(index: usize, file: &File, torrent: &Torrent) -> Value {
    // 7 is a third priority above normal. qBittorrent has none below normal.
    let priority = match file.priority {
        Priority::Skip => 0,
        Priority::Low | Priority::Normal => 1,
        Priority::High => 6,
    };
    let last = file.pieces.end.saturating_sub(1).max(file.pieces.start);
    let mut value = json!({
        "availability": availability(torrent),
        "index": index,
        "name": file.path,
        "piece_range": [file.pieces.start, last],
        "priority": priority,
        "progress": part(file.done_len, file.len),
        "size": file.len,
    });
    if index == 0 {
        value["is_seed"] = json!(torrent.is_complete());
    }
    value
}

/// The rows of a list of trackers that stand for other sources of peers.
pub(super) fn sources(torrent: &Torrent, session: &Session) -> [Value; 3] {
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
