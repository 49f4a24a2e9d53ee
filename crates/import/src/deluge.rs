//! Sessions of Deluge: `state/HASH.torrent`, `state/torrents.fastresume`, `core.conf`, and `label.conf` of the plugin Label.
//!
//! `state/torrents.state` is a pickle of Python, which can run any code when it is loaded. It is never opened.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_api::Priority;
use hashlane_metainfo::bencode::{Kind, Value};

use crate::dictionary::Dictionary;
use crate::file::{
    self, MAX_SESSION_FILE_BYTES, MAX_SETTINGS_BYTES, MAX_TORRENT_BYTES, MAX_TORRENTS,
    session_error,
};
use crate::libtorrent::Resume;
use crate::path::{folder_of, is_of_windows};
use crate::torrents::{Options, Torrents};
use crate::{Failure, Imported, Note, PathMap, Reason, SessionError, global};

/// What only the pickle has.
const PICKLED: &str = "what only torrents.state has, a Python pickle that is never loaded: names given by the user, ratio \
    goals, folders for complete content, owners, and the order of the queue";

struct Session {
    state: PathBuf,
    /// All resume data, and the range of that of each torrent.
    resume: Arc<Vec<u8>>,
    labels: BTreeMap<String, String>,
    map: PathMap,
}

/// Reads the session in `folder`: the folder `state`, or the folder that has it.
pub(crate) fn read(folder: &Path, options: Options) -> Result<Torrents, SessionError> {
    let state = if folder.join("state").is_dir() {
        folder.join("state")
    } else {
        folder.to_owned()
    };
    let path = state.join("torrents.fastresume");
    let expected = "a file state/torrents.fastresume";
    let resume = file::read_if_present(&path, MAX_SESSION_FILE_BYTES)
        .map_err(|reason| session_error(&path, reason))?;
    let resume = resume.ok_or_else(|| session_error(folder, Reason::NoSession { expected }))?;
    let mut torrents = ranges(&resume).map_err(|reason| session_error(&path, reason))?;
    // Torrents without resume data are errors of their own.
    for stem in file::names(&state, ".torrent")? {
        torrents.entry(stem).or_insert(None);
    }
    let config = options
        .settings
        .unwrap_or_else(|| state.parent().unwrap_or(&state).to_owned());
    let lock = config.join("deluged.pid");
    let core = settings(&config.join("core.conf"))?;
    let in_use = global_settings(&core)
        .into_iter()
        .chain(network_settings(&core));
    let notes: Vec<Note> = global::notes(in_use).collect();
    let session = Session {
        labels: labels(&config.join("label.conf"))?,
        state,
        resume: Arc::new(resume),
        map: options.map,
    };
    let torrents: Vec<_> = torrents.into_iter().collect();
    let torrents = Torrents::new(torrents, move |(id, range)| {
        session
            .torrent(&id, range)
            .map_err(|(file, reason)| Failure { file, reason })
    });
    let notes = [Note::NotCarried(PICKLED.into())].into_iter().chain(notes);
    Ok(notes.fold(torrents, Torrents::with_note).locked_by([lock]))
}

type Range = std::ops::Range<usize>;

/// Returns the range of each torrent's resume data.
fn ranges(document: &[u8]) -> Result<BTreeMap<String, Option<Range>>, Reason> {
    let value = Value::parse(document)?;
    let found = value.kind();
    let entries = value
        .as_dictionary()
        .ok_or(Reason::NoDictionary { found })?;
    let mut ranges = BTreeMap::new();
    for entry in entries {
        let resume = entry.value.as_bytes().ok_or(Reason::WrongType {
            key: "resume data",
            expected: Kind::ByteString,
            found: entry.value.kind(),
        })?;
        let end = entry.value.offset() + entry.value.encoded().len();
        let id = String::from_utf8_lossy(entry.key).into_owned();
        ranges.entry(id).or_insert(Some(end - resume.len()..end));
        if ranges.len() > MAX_TORRENTS {
            return Err(Reason::TooMany { max: MAX_TORRENTS });
        }
    }
    Ok(ranges)
}

/// Reads a file of settings. It has two JSON values in a row: its version, and the settings.
fn settings(path: &Path) -> Result<Vec<serde_json::Value>, SessionError> {
    let bytes = file::read_if_present(path, MAX_SETTINGS_BYTES)
        .map_err(|reason| session_error(path, reason))?;
    let bytes = bytes.unwrap_or_default();
    let values = serde_json::Deserializer::from_slice(&bytes).into_iter();
    let values: Result<_, _> = values.collect();
    values.map_err(|error| session_error(path, Reason::Json(error)))
}

/// Returns the settings of the network that are in use.
fn network_settings(core: &[serde_json::Value]) -> [(&'static str, Option<String>); 6] {
    let setting = |key: &str| core.iter().find_map(|value| value.get(key));
    let is_off = |key: &str| setting(key).and_then(serde_json::Value::as_bool) == Some(false);
    let off = |key| global::switched(is_off(key), "off");
    let text = |key: &str| {
        let text = setting(key).and_then(serde_json::Value::as_str);
        text.filter(|text| !text.is_empty())
    };
    let interface = text("listen_interface").or_else(|| text("outgoing_interface"));
    let port = setting("listen_ports").and_then(|ports| ports.get(0)?.as_u64());
    let has_random_port = setting("random_port").and_then(serde_json::Value::as_bool);
    let proxy = setting("proxy").and_then(|proxy| proxy.get("type")?.as_u64());
    [
        (global::INTERFACE, interface.and_then(global::shown)),
        (
            global::PORT,
            port.filter(|_| has_random_port == Some(false))
                .map(|port| port.to_string()),
        ),
        (global::DHT, off("dht")),
        (global::DISCOVERY, off("lsd")),
        (global::PEX, off("utpex")),
        // Its address can have a password.
        (
            global::PROXY,
            global::switched(proxy.is_some_and(|kind| kind > 0), "in use"),
        ),
    ]
}

/// Returns the settings for all torrents that are in use. Negative values are not.
fn global_settings(core: &[serde_json::Value]) -> [(&'static str, Option<String>); 6] {
    let setting = |key: &str| core.iter().find_map(|value| value.get(key));
    let value = |key: &str, unit: &str| {
        let value = setting(key).filter(|value| value.as_f64().is_some_and(|value| value >= 0.0));
        value.map(|value| format!("{value}{unit}"))
    };
    let has_ratio = setting("stop_seed_at_ratio").and_then(serde_json::Value::as_bool);
    let ratio = value("stop_seed_ratio", "").filter(|_| has_ratio == Some(true));
    [
        (
            global::DOWNLOAD_LIMIT,
            value("max_download_speed", " KiB/s"),
        ),
        (global::UPLOAD_LIMIT, value("max_upload_speed", " KiB/s")),
        (global::RATIO, ratio),
        (global::DOWNLOADS, value("max_active_downloading", "")),
        (global::UPLOADS, value("max_active_seeding", "")),
        (global::ACTIVE, value("max_active_limit", "")),
    ]
}

/// Reads the label of each torrent.
fn labels(path: &Path) -> Result<BTreeMap<String, String>, SessionError> {
    let mut labels = BTreeMap::new();
    for value in settings(path)? {
        let of_torrents = value
            .get("torrent_labels")
            .and_then(serde_json::Value::as_object);
        for (id, label) in of_torrents.into_iter().flatten() {
            labels.extend(label.as_str().map(|label| (id.clone(), label.to_owned())));
        }
    }
    Ok(labels)
}

impl Session {
    /// Reads a torrent. An error has the file that it is about.
    fn torrent(&self, id: &str, range: Option<Range>) -> Result<Imported, (PathBuf, Reason)> {
        let all = self.state.join("torrents.fastresume");
        let of_all = |reason| (PathBuf::from(format!("{}: {id}", all.display())), reason);
        // The identity becomes the name of a file.
        if id.len() != 40 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(of_all(Reason::NoInfoHash));
        }
        let file = self.state.join(format!("{id}.torrent"));
        let torrent = file::read_if_present(&file, MAX_TORRENT_BYTES)
            .map_err(|reason| (file.clone(), reason))?;
        let range = range.ok_or_else(|| (file.clone(), Reason::NoFolder))?;
        let import = || {
            let keys = Dictionary::parse(&self.resume[range])?;
            let path = keys.bytes("save_path")?.ok_or(Reason::NoFolder)?;
            let resume = Resume {
                keys: &keys,
                torrent,
                file,
                id,
                folder: &folder_of(path)?,
                is_windows: is_of_windows(path),
                is_without_root: false,
            };
            resume.import(&self.map, priority)
        };
        let mut imported = import().map_err(of_all)?;
        imported.labels.extend(self.labels.get(id).cloned());
        Ok(imported)
    }
}

/// Translates a priority: 0 is off, 1 low, 4 normal, 7 high.
fn priority(priority: i64) -> Priority {
    match priority {
        0 => Priority::Skip,
        1..=3 => Priority::Low,
        5.. => Priority::High,
        _ => Priority::Normal,
    }
}
