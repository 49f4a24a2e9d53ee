//! The settings of the client.

use hashlane_api::Refusal;
use hashlane_client::TorrentSnapshot;
use serde_json::{Map, Value, json};

use super::request::Arguments;
use crate::model::{Control, Encryption, Session, SessionChange, Statistics};
use crate::torrent::{Shown as _, State};

/// The version that programs expect, in the form that they parse.
const VERSION: &str = "4.0.6";
const RPC_VERSION: u32 = 17;
const RPC_VERSION_MINIMUM: u32 = 14;
const RPC_VERSION_SEMVER: &str = "5.3.0";

/// Minutes without an upload that Transmission shows, and uses when a request names no others.
const IDLE_MINUTES: u32 = 30;

/// Settings that a request cannot change, because the client does not have them. A request that asks for what is so
/// already succeeds: programs send all settings back.
const FIXED: [&str; 27] = [
    "alt-speed-time-enabled",
    "blocklist-enabled",
    "dht-enabled",
    "encryption",
    "incomplete-dir-enabled",
    "lpd-enabled",
    "peer-limit-global",
    "peer-limit-per-torrent",
    "peer-port-random-on-start",
    "pex-enabled",
    "port-forwarding-enabled",
    "queue-stalled-enabled",
    "rename-partial-files",
    "trash-original-torrent-files",
    "utp-enabled",
    "cache-size-mb",
    "alt-speed-time-begin",
    "alt-speed-time-end",
    "alt-speed-time-day",
    "blocklist-url",
    "default-trackers",
    "incomplete-dir",
    "queue-stalled-minutes",
    "anti-brute-force-enabled",
    "anti-brute-force-threshold",
    "tcp-enabled",
    "reqq",
];

/// Returns the settings that a request asks for, or all.
pub(super) fn get(
    control: &dyn Control,
    session_id: &str,
    arguments: Arguments<'_>,
) -> Result<Value, Refusal> {
    let mut all = all(control, session_id);
    if let Some(fields) = arguments.texts("fields")? {
        all.retain(|name, _| {
            fields
                .iter()
                .any(|field| field == name || field.replace('_', "-") == *name)
        });
    }
    Ok(Value::Object(all))
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn all(control: &dyn Control, session_id: &str) -> Map<String, Value> {
    let session = control.session();
    let free = control
        .free_space(&session.folder)
        .map_or(-1, |(free, _)| i64::try_from(free).unwrap_or(i64::MAX));
    let kilobytes = |limit: Option<u32>| limit.unwrap_or(0) / 1000;
    let settings = [
        ("alt-speed-down", json!(kilobytes(session.alt_max_down))),
        ("alt-speed-enabled", json!(session.is_alternative)),
        ("alt-speed-time-begin", json!(540)),
        ("alt-speed-time-day", json!(127)),
        ("alt-speed-time-enabled", json!(false)),
        ("alt-speed-time-end", json!(1020)),
        ("alt-speed-up", json!(kilobytes(session.alt_max_up))),
        ("anti-brute-force-enabled", json!(true)),
        ("anti-brute-force-threshold", json!(10)),
        ("blocklist-enabled", json!(false)),
        ("blocklist-size", json!(0)),
        ("blocklist-url", json!("")),
        ("cache-size-mb", json!(0)),
        ("config-dir", json!(session.config_folder)),
        ("default-trackers", json!("")),
        ("dht-enabled", json!(session.uses_dht)),
        ("download-dir", json!(session.folder)),
        ("download-dir-free-space", json!(free)),
        (
            "download-queue-enabled",
            json!(session.max_downloads.is_some()),
        ),
        (
            "download-queue-size",
            json!(session.max_downloads.unwrap_or(0)),
        ),
        ("encryption", json!(encryption(session.encryption))),
        (
            "idle-seeding-limit",
            json!(session.idle_minutes.unwrap_or(IDLE_MINUTES)),
        ),
        (
            "idle-seeding-limit-enabled",
            json!(session.idle_minutes.is_some()),
        ),
        ("incomplete-dir", json!(session.folder)),
        ("incomplete-dir-enabled", json!(false)),
        ("lpd-enabled", json!(session.uses_local_discovery)),
        ("peer-limit-global", json!(session.max_peers.unwrap_or(0))),
        (
            "peer-limit-per-torrent",
            json!(session.max_peers.unwrap_or(0)),
        ),
        ("peer-port", json!(session.port)),
        ("peer-port-random-on-start", json!(false)),
        ("pex-enabled", json!(session.uses_peer_exchange)),
        ("port-forwarding-enabled", json!(session.maps_port)),
        (
            "queue-stalled-enabled",
            json!(session.stalled_minutes.is_some()),
        ),
        (
            "queue-stalled-minutes",
            json!(session.stalled_minutes.unwrap_or(30)),
        ),
        ("rename-partial-files", json!(false)),
        ("rpc-version", json!(RPC_VERSION)),
        ("rpc-version-minimum", json!(RPC_VERSION_MINIMUM)),
        ("rpc-version-semver", json!(RPC_VERSION_SEMVER)),
        ("script-torrent-added-enabled", json!(false)),
        ("script-torrent-added-filename", json!("")),
        ("script-torrent-done-enabled", json!(false)),
        ("script-torrent-done-filename", json!("")),
        ("script-torrent-done-seeding-enabled", json!(false)),
        ("script-torrent-done-seeding-filename", json!("")),
        ("seed-queue-enabled", json!(session.max_seeds.is_some())),
        ("seed-queue-size", json!(session.max_seeds.unwrap_or(0))),
        ("seedRatioLimit", json!(session.ratio.unwrap_or(0.0))),
        ("seedRatioLimited", json!(session.ratio.is_some())),
        ("session-id", json!(session_id)),
        ("speed-limit-down", json!(kilobytes(session.max_down))),
        (
            "speed-limit-down-enabled",
            json!(session.max_down.is_some()),
        ),
        ("speed-limit-up", json!(kilobytes(session.max_up))),
        ("speed-limit-up-enabled", json!(session.max_up.is_some())),
        ("start-added-torrents", json!(session.starts_added)),
        ("tcp-enabled", json!(true)),
        ("trash-original-torrent-files", json!(false)),
        (
            "units",
            json!({ "speed-units": ["kB/s", "MB/s", "GB/s", "TB/s"], "speed-bytes": 1000, "size-units": ["kB", "MB", "GB", "TB"], "size-bytes": 1000, "memory-units": ["KiB", "MiB", "GiB", "TiB"], "memory-bytes": 1024, }),
        ),
        ("utp-enabled", json!(session.uses_utp)),
        (
            "version",
            json!(format!("{VERSION} (hashlane {})", session.version)),
        ),
    ];
    settings
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// Changes settings. Everything is checked first: a request changes all that it names, or nothing.
pub(super) fn set(
    control: &dyn Control,
    session_id: &str,
    arguments: Arguments<'_>,
) -> Result<Value, Refusal> {
    let session = control.session();
    let now = all(control, session_id);
    let Some(given) = arguments.0.as_object() else {
        return Ok(json!({}));
    };
    for (name, value) in given {
        let name = name.replace('_', "-");
        if name.starts_with("script-torrent-") {
            // A text is harmless only if it is empty, and a switch only if it is off.
            if [json!(false), json!("")].contains(value) {
                continue;
            }
            let reason = "scripts are set in the configuration file only, not by requests";
            return Err(Refusal::Forbidden(format!("{name}: {reason}")));
        }
        if FIXED.contains(&&*name) && now.get(&name) != Some(value) {
            return Err(Refusal::Forbidden(format!(
                "{name}: this setting cannot be changed here"
            )));
        }
    }
    control.change_session(change(&session, arguments)?)?;
    Ok(json!({}))
}

fn change(session: &Session, arguments: Arguments<'_>) -> Result<SessionChange, Refusal> {
    let pair = |value: &str, is_used: &str, current: Option<u32>, default: u32| {
        Ok::<_, Refusal>(match (arguments.bool(is_used)?, arguments.u32(value)?) {
            (None, None) => None,
            (Some(false), _) => Some(None),
            (None, Some(value)) => current.map(|_| Some(value)),
            (Some(true), value) => Some(Some(value.or(current).unwrap_or(default))),
        })
    };
    let ratio = match (
        arguments.bool("seedRatioLimited")?,
        arguments.ratio("seedRatioLimit")?,
    ) {
        (None, None) => None,
        (Some(false), _) => Some(None),
        (None, Some(ratio)) => session.ratio.map(|_| Some(ratio)),
        (Some(true), ratio) => Some(Some(ratio.or(session.ratio).unwrap_or(0.0))),
    };
    let port = arguments.u32("peer-port")?;
    let port = port.map(|port| {
        u16::try_from(port).map_err(|_| Refusal::Invalid("peer-port: expected a port".into()))
    });
    Ok(SessionChange {
        max_down: arguments.limit(
            "speed-limit-down",
            "speed-limit-down-enabled",
            session.max_down,
        )?,
        max_up: arguments.limit("speed-limit-up", "speed-limit-up-enabled", session.max_up)?,
        is_alternative: arguments.bool("alt-speed-enabled")?,
        alt_max_down: arguments.rate("alt-speed-down", session.alt_max_down)?,
        alt_max_up: arguments.rate("alt-speed-up", session.alt_max_up)?,
        ratio,
        // Transmission has no such goal.
        seeding_minutes: None,
        idle_minutes: pair(
            "idle-seeding-limit",
            "idle-seeding-limit-enabled",
            session.idle_minutes,
            IDLE_MINUTES,
        )?,
        folder: arguments.text("download-dir")?.map(str::to_owned),
        starts_added: arguments.bool("start-added-torrents")?,
        max_downloads: pair(
            "download-queue-size",
            "download-queue-enabled",
            session.max_downloads,
            0,
        )?,
        max_seeds: pair(
            "seed-queue-size",
            "seed-queue-enabled",
            session.max_seeds,
            0,
        )?,
        port: port.transpose()?.filter(|port| *port != session.port),
    })
}

fn encryption(encryption: Encryption) -> &'static str {
    match encryption {
        Encryption::Required => "required",
        Encryption::Preferred => "preferred",
        // Transmission cannot switch encryption off.
        Encryption::Tolerated | Encryption::Off => "tolerated",
    }
}

/// Returns the statistics of the client.
pub(super) fn statistics(control: &dyn Control) -> Value {
    let session = control.session();
    let snapshot = control.snapshot();
    let torrents = &snapshot.torrents;
    let sum = |rate: fn(&TorrentSnapshot) -> u64| {
        let rates = torrents.iter().map(|torrent| rate(torrent));
        rates.fold(0, u64::saturating_add)
    };
    let n_paused = torrents
        .iter()
        .filter(|torrent| torrent.state() == State::Stopped)
        .count();
    json!({
        "activeTorrentCount": torrents.len() - n_paused,
        "downloadSpeed": sum(|torrent| torrent.down_bytes_per_second),
        "pausedTorrentCount": n_paused,
        "torrentCount": torrents.len(),
        "uploadSpeed": sum(|torrent| torrent.up_bytes_per_second),
        "cumulative-stats": stats(session.all),
        "current-stats": stats(session.now),
    })
}

fn stats(statistics: Statistics) -> Value {
    json!({
        "uploadedBytes": statistics.uploaded,
        "downloadedBytes": statistics.downloaded,
        "filesAdded": statistics.n_added,
        "sessionCount": statistics.n_starts,
        "secondsActive": statistics.seconds,
    })
}
