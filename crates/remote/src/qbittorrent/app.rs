//! The version and the settings of the client.

use axum::http::StatusCode;
use hashlane_server::Sessions;
use serde_json::{Map, Value, json};

use super::call::{Answer, Call, done};
use super::client::queues;
use super::request::Failure;
use crate::check::absolute;
use crate::model::{Encryption, ProxyKind, Session, SessionChange};

/// The versions that programs expect: a pair that exists.
const VERSION: &str = "v5.0.5";
const WEBAPI_VERSION: &str = "2.11.2";

/// Maximum number of downloads if a request turns the queue on without a number, as in qBittorrent.
const DEFAULT_DOWNLOADS: u32 = 3;

/// The port of a proxy that qBittorrent shows without one.
const DEFAULT_PROXY_PORT: u16 = 8080;

/// Value of a limit or goal that does not apply.
const NONE: i64 = -1;

pub(super) fn version(_: &Call<'_>) -> Result<Answer, Failure> {
    Ok(Answer::Text(VERSION.to_owned()))
}

pub(super) fn webapi_version(_: &Call<'_>) -> Result<Answer, Failure> {
    Ok(Answer::Text(WEBAPI_VERSION.to_owned()))
}

/// Returns the versions of libraries. The client does not have those of qBittorrent, so their names are empty.
pub(super) fn build_info(_: &Call<'_>) -> Result<Answer, Failure> {
    Answer::json(&json!({
        "bitness": usize::BITS,
        "boost": "",
        "libtorrent": "",
        "openssl": "",
        "platform": std::env::consts::OS,
        "qt": "",
        "zlib": "",
    }))
}

pub(super) fn default_save_path(call: &Call<'_>) -> Result<Answer, Failure> {
    Ok(Answer::Text(call.control.session().folder))
}

pub(super) fn shutdown(_: &Call<'_>) -> Result<Answer, Failure> {
    let reason = "the client is stopped by its service, not by requests";
    Err(Failure::new(StatusCode::FORBIDDEN, reason))
}

pub(super) fn preferences(call: &Call<'_>) -> Result<Answer, Failure> {
    Answer::json(&all(&call.control.session()))
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn all(session: &Session) -> Map<String, Value> {
    let number = |value: Option<u32>| value.map_or_else(|| json!(NONE), |value| json!(value));
    // 0 prefers encryption, 1 requires it, 2 does not allow it.
    let encryption = match session.encryption {
        Encryption::Preferred | Encryption::Tolerated => 0,
        Encryption::Required => 1,
        Encryption::Off => 2,
    };
    let proxy = session.proxy.as_ref();
    let proxy_type = match proxy.map(|proxy| proxy.kind) {
        None => "None",
        Some(ProxyKind::Http) => "HTTP",
        Some(ProxyKind::Socks5) => "SOCKS5",
    };
    let settings = [
        ("add_stopped_enabled", json!(!session.starts_added)),
        ("add_trackers", json!("")),
        ("add_trackers_enabled", json!(false)),
        ("alt_dl_limit", json!(session.alt_max_down.unwrap_or(0))),
        ("alt_up_limit", json!(session.alt_max_up.unwrap_or(0))),
        ("anonymous_mode", json!(false)),
        ("auto_delete_mode", json!(0)),
        ("auto_tmm_enabled", json!(false)),
        ("autorun_enabled", json!(false)),
        ("autorun_on_torrent_added_enabled", json!(false)),
        ("autorun_on_torrent_added_program", json!("")),
        ("autorun_program", json!("")),
        ("bypass_auth_subnet_whitelist_enabled", json!(false)),
        ("category_changed_tmm_enabled", json!(false)),
        ("dht", json!(session.uses_dht)),
        ("dl_limit", json!(session.max_down.unwrap_or(0))),
        ("encryption", json!(encryption)),
        ("export_dir", json!("")),
        ("export_dir_fin", json!("")),
        ("incomplete_files_ext", json!(false)),
        ("ip_filter_enabled", json!(false)),
        ("listen_port", json!(session.port)),
        ("lsd", json!(session.uses_local_discovery)),
        ("mail_notification_enabled", json!(false)),
        (
            "max_active_checking_torrents",
            json!(session.max_verifications),
        ),
        ("max_active_downloads", number(session.max_downloads)),
        ("max_active_torrents", json!(NONE)),
        ("max_active_uploads", number(session.max_seeds)),
        ("max_connec", number(session.max_peers)),
        ("max_connec_per_torrent", number(session.max_peers)),
        ("max_inactive_seeding_time", number(session.idle_minutes)),
        (
            "max_inactive_seeding_time_enabled",
            json!(session.idle_minutes.is_some()),
        ),
        (
            "max_ratio",
            session
                .ratio
                .map_or_else(|| json!(NONE), |ratio| json!(ratio)),
        ),
        // A torrent that reaches a goal stops, and stays.
        ("max_ratio_act", json!(0)),
        ("max_ratio_enabled", json!(session.ratio.is_some())),
        ("max_seeding_time", number(session.seeding_minutes)),
        (
            "max_seeding_time_enabled",
            json!(session.seeding_minutes.is_some()),
        ),
        ("max_uploads", json!(NONE)),
        ("max_uploads_per_torrent", json!(NONE)),
        ("pex", json!(session.uses_peer_exchange)),
        ("preallocate_all", json!(false)),
        (
            "proxy_auth_enabled",
            json!(proxy.is_some_and(|proxy| proxy.has_login)),
        ),
        (
            "proxy_ip",
            json!(proxy.map_or("", |proxy| proxy.host.as_str())),
        ),
        (
            "proxy_port",
            json!(proxy.map_or(DEFAULT_PROXY_PORT, |proxy| proxy.port)),
        ),
        ("proxy_type", json!(proxy_type)),
        ("queueing_enabled", json!(queues(session))),
        ("random_port", json!(false)),
        ("rss_auto_downloading_enabled", json!(false)),
        ("rss_processing_enabled", json!(false)),
        ("save_path", json!(session.folder)),
        ("save_path_changed_tmm_enabled", json!(false)),
        ("scan_dirs", json!({})),
        ("scheduler_enabled", json!(false)),
        ("temp_path", json!("")),
        ("temp_path_enabled", json!(false)),
        ("torrent_changed_tmm_enabled", json!(false)),
        ("torrent_content_layout", json!("Original")),
        ("torrent_stop_condition", json!("None")),
        ("up_limit", json!(session.max_up.unwrap_or(0))),
        ("upnp", json!(session.maps_port)),
        ("use_category_paths_in_manual_mode", json!(true)),
        ("web_ui_csrf_protection_enabled", json!(true)),
        ("web_ui_host_header_validation_enabled", json!(true)),
        ("web_ui_session_timeout", json!(Sessions::IDLE.as_secs())),
    ];
    settings
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// Settings that a request can change.
const CHANGEABLE: [&str; 17] = [
    "add_stopped_enabled",
    "alt_dl_limit",
    "alt_up_limit",
    "dl_limit",
    "listen_port",
    "max_active_downloads",
    "max_active_uploads",
    "max_inactive_seeding_time",
    "max_inactive_seeding_time_enabled",
    "max_ratio",
    "max_ratio_enabled",
    "max_seeding_time",
    "max_seeding_time_enabled",
    "queueing_enabled",
    "save_path",
    "start_paused_enabled",
    "up_limit",
];

/// Changes settings. Everything is checked first: a request changes all that it names, or nothing. A request that asks for
/// what is so already succeeds, because programs send all settings back.
pub(super) fn set_preferences(call: &Call<'_>) -> Result<Answer, Failure> {
    let given: Result<Map<String, Value>, _> = serde_json::from_str(call.form.required("json")?);
    let given = given.map_err(|_| Failure::bad("json", "an object of settings"))?;
    let session = call.control.session();
    let now = all(&session);
    for (name, value) in &given {
        if CHANGEABLE.contains(&name.as_str()) || now.get(name) == Some(value) {
            continue;
        }
        if name.starts_with("autorun_") {
            let reason = "programs are set in the configuration file only, not by requests";
            return Err(Failure::new(
                StatusCode::FORBIDDEN,
                format!("{name}: {reason}"),
            ));
        }
        return Err(Failure::conflict(format!(
            "{name}: this setting cannot be changed here"
        )));
    }
    let change = change(&session, &Settings(&given))?;
    if change != SessionChange::default() {
        call.control.change_session(change)?;
    }
    Ok(done())
}

/// The settings of a request.
struct Settings<'a>(&'a Map<String, Value>);

impl Settings<'_> {
    fn bool(&self, name: &str) -> Result<Option<bool>, Failure> {
        let read = |value: &Value| {
            let is_set = value.as_bool();
            is_set.ok_or_else(|| Failure::bad(name, "true or false"))
        };
        self.0.get(name).map(read).transpose()
    }

    /// Returns a number; `Some(None)` for one below zero.
    #[expect(clippy::option_option, reason = "absent and none differ")]
    fn count(&self, name: &str) -> Result<Option<Option<u32>>, Failure> {
        let read = |value: &Value| match value.as_i64() {
            Some(number) if number < 0 => Ok(None),
            number => {
                let number = number.and_then(|number| u32::try_from(number).ok());
                number
                    .map(Some)
                    .ok_or_else(|| Failure::bad(name, "a number up to 4294967295"))
            }
        };
        self.0.get(name).map(read).transpose()
    }

    #[expect(clippy::option_option, reason = "absent and none differ")]
    fn ratio(&self) -> Result<Option<Option<f64>>, Failure> {
        let read = |value: &Value| {
            let ratio = value.as_f64();
            let ratio = ratio.ok_or_else(|| Failure::bad("max_ratio", "a number"))?;
            Ok((ratio >= 0.0).then_some(ratio))
        };
        self.0.get("max_ratio").map(read).transpose()
    }
}

/// Returns a setting after a request with a switch and a value. The value alone changes a setting that applies.
#[expect(clippy::option_option, reason = "absent and none differ")]
fn switched<T: Copy>(
    now: Option<T>,
    is_on: Option<bool>,
    value: Option<Option<T>>,
) -> Option<Option<T>> {
    match (is_on, value) {
        (Some(false), _) => now.map(|_| None),
        (Some(true), value) => value.flatten().or(now).map(Some),
        (None, Some(value)) => now.map(|_| value),
        (None, None) => None,
    }
}

fn change(session: &Session, given: &Settings<'_>) -> Result<SessionChange, Failure> {
    // 0 stands for no limit.
    let rate = |name| {
        let limit = given.count(name)?;
        Ok::<_, Failure>(limit.map(|limit| limit.filter(|limit| *limit > 0)))
    };
    let goal = |name, is_on: &str, now| {
        let (value, is_on) = (given.count(name)?, given.bool(is_on)?);
        Ok::<_, Failure>(switched(now, is_on, value))
    };
    let queues_now = queues(session);
    let is_queueing = given.bool("queueing_enabled")?;
    let queue = |name, now: Option<u32>| {
        let value = given.count(name)?;
        Ok::<_, Failure>(if is_queueing.unwrap_or(queues_now) {
            value
        } else {
            now.map(|_| None)
        })
    };
    let mut max_downloads = queue("max_active_downloads", session.max_downloads)?;
    let max_seeds = queue("max_active_uploads", session.max_seeds)?;
    if is_queueing == Some(true) && !queues_now && max_downloads.is_none() && max_seeds.is_none() {
        max_downloads = Some(Some(DEFAULT_DOWNLOADS));
    }
    let port = given.count("listen_port")?.map(|port| {
        let port = port.and_then(|port| u16::try_from(port).ok());
        port.ok_or_else(|| Failure::bad("listen_port", "a port"))
    });
    let folder = match given.0.get("save_path") {
        None => None,
        Some(folder) => {
            let folder = folder.as_str();
            let folder = folder.ok_or_else(|| Failure::bad("save_path", "a folder"))?;
            (folder != session.folder)
                .then(|| absolute(folder))
                .transpose()?
        }
    };
    let is_stopped = given.bool("add_stopped_enabled")?;
    let is_stopped = is_stopped.or(given.bool("start_paused_enabled")?);
    let is_ratio = given.bool("max_ratio_enabled")?;
    Ok(SessionChange {
        max_down: rate("dl_limit")?,
        max_up: rate("up_limit")?,
        is_alternative: None,
        alt_max_down: rate("alt_dl_limit")?,
        alt_max_up: rate("alt_up_limit")?,
        ratio: switched(session.ratio, is_ratio, given.ratio()?),
        seeding_minutes: goal(
            "max_seeding_time",
            "max_seeding_time_enabled",
            session.seeding_minutes,
        )?,
        idle_minutes: goal(
            "max_inactive_seeding_time",
            "max_inactive_seeding_time_enabled",
            session.idle_minutes,
        )?,
        folder,
        starts_added: is_stopped.map(|is_stopped| !is_stopped),
        max_downloads,
        max_seeds,
        port: port.transpose()?.filter(|port| *port != session.port),
    })
}
