//! The folders for content: `categories.json`, and the default in `qBittorrent.conf`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hashlane_api::Goal;

use super::goals::{goal_of, note_of_action};
use crate::file::{self, MAX_SETTINGS_BYTES, session_error};
use crate::path::{RelativePath, folder_of, is_of_windows};
use crate::torrents::Options;
use crate::{Category, Note, PathMap, SessionError, global, place};

/// What torrents with automatic folders need.
pub(super) struct Settings {
    pub(super) map: PathMap,
    /// The folder that relative paths of a portable installation start from.
    base: Option<PathBuf>,
    default: Option<PathBuf>,
    /// The folder of each category, if it has one of its own, and its goal.
    categories: BTreeMap<String, (Option<PathBuf>, Goal)>,
    /// The files that show that the program runs. One of them exists then.
    pub(super) locks: Vec<PathBuf>,
    /// Notes about the settings for all torrents.
    notes: Vec<Note>,
}

impl Settings {
    /// Reads the settings that belong to the folder of data. Without settings, torrents must name their folders.
    pub(super) fn read(data: &Path, options: Options) -> Result<Self, SessionError> {
        let is_profile = data.file_name().is_some_and(|name| name == "data");
        let base = data.parent().filter(|_| is_profile).map(Path::to_owned);
        let folders: Vec<PathBuf> = options
            .settings
            .into_iter()
            .chain([
                data.join("../config"),
                // The data is in ~/.local/share/qBittorrent, or was in ~/.local/share/data/qBittorrent.
                data.join("../../../.config/qBittorrent"),
                data.join("../../../../.config/qBittorrent"),
                // macOS: ~/Library/Application Support/qBittorrent.
                data.join("../../../.config/qBittorrent"),
                data.to_owned(),
            ])
            .collect();
        let locks = folders.iter().map(|folder| folder.join("lockfile"));
        let locks = locks.collect();
        let folder = file::first_existing(folders.into_iter().filter(|folder| {
            folder.join("qBittorrent.conf").exists() || folder.join("categories.json").exists()
        }));
        let mut settings = Self {
            map: options.map,
            base,
            default: None,
            categories: BTreeMap::new(),
            locks,
            notes: Vec::new(),
        };
        let Some(folder) = folder else {
            return Ok(settings);
        };
        settings.read_default(&folder.join("qBittorrent.conf"))?;
        settings.read_categories(&folder.join("categories.json"))?;
        Ok(settings)
    }

    fn read_default(&mut self, path: &Path) -> Result<(), SessionError> {
        let bytes = file::read_if_present(path, MAX_SETTINGS_BYTES);
        let Some(bytes) = bytes.map_err(|reason| session_error(path, reason))? else {
            return Ok(());
        };
        let text = String::from_utf8_lossy(&bytes);
        // Versions before 4.1 have it among the preferences.
        let value = ini_value(&text, "BitTorrent", "Session\\DefaultSavePath");
        let value = value.or_else(|| ini_value(&text, "Preferences", "Downloads\\SavePath"));
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let folder = folder_of(value.as_bytes());
            let folder = folder.map_err(|reason| session_error(path, reason))?;
            self.default = Some(self.absolute(folder));
        }
        let in_use = global_settings(&text)
            .into_iter()
            .chain(network_settings(&text));
        self.notes.extend(global::notes(in_use));
        Ok(())
    }

    fn read_categories(&mut self, path: &Path) -> Result<(), SessionError> {
        let json = file::read_json(path)?.unwrap_or_default();
        for (name, category) in json.as_object().into_iter().flatten() {
            let folder = category
                .get("save_path")
                .or_else(|| category.get("savePath"));
            let folder = folder
                .and_then(serde_json::Value::as_str)
                .unwrap_or_default();
            let folder = (!folder.is_empty()).then(|| folder_of(folder.as_bytes()));
            let folder = folder.transpose();
            let folder = folder.map_err(|reason| session_error(path, reason))?;
            let integer = |key: &str| category.get(key).and_then(serde_json::Value::as_i64);
            let ratio = category
                .get("ratio_limit")
                .and_then(serde_json::Value::as_f64);
            let goal = goal_of(
                // -2000 is the ratio of all torrents. What exceeds the numbers of thousandths is as good as none.
                ratio.map(|ratio| (ratio * 1000.0).round() as i64),
                integer("seeding_time_limit"),
                integer("inactive_seeding_time_limit"),
            );
            let text = |key: &str| category.get(key).and_then(serde_json::Value::as_str);
            let action = text("share_limit_action").and_then(note_of_action);
            let mode = text("share_limits_mode").filter(|mode| *mode == "MatchAll");
            let mode = mode.map(|_| "all goals must be reached".to_owned());
            let of = |what| Note::NotCarried(format!("of the category {name}: {what}"));
            self.notes.extend(action.into_iter().chain(mode).map(of));
            self.categories.insert(name.clone(), (folder, goal));
        }
        Ok(())
    }

    /// Returns a path of a portable installation from its base.
    pub(super) fn absolute(&self, path: PathBuf) -> PathBuf {
        match &self.base {
            Some(base)
                if path.is_relative() && !is_of_windows(path.as_os_str().as_encoded_bytes()) =>
            {
                base.join(path)
            }
            _ => path,
        }
    }

    /// Returns the categories with their folders on this machine, and notes about folders and settings that are not carried over.
    pub(super) fn categories(&self) -> (Vec<Category>, Vec<Note>) {
        let mut notes = self.notes.clone();
        let mut categories = Vec::new();
        for (name, (own, goal)) in &self.categories {
            let folder = own
                .as_ref()
                .and_then(|_| self.folder_of_category(Some(name)));
            let folder = folder.map(|folder| place::mapped(&self.absolute(folder), &self.map));
            let folder = folder.transpose().unwrap_or_else(|reason| {
                notes.push(Note::CategoryFolder {
                    name: name.clone(),
                    reason: reason.to_string(),
                });
                None
            });
            categories.push(Category {
                name: name.clone(),
                folder,
                goal: *goal,
            });
        }
        (categories, notes)
    }

    /// Returns the folder of a category, or of torrents without one.
    pub(super) fn folder_of_category(&self, category: Option<&str>) -> Option<PathBuf> {
        let Some(category) = category else {
            return self.default.clone();
        };
        if let Some((Some(folder), _)) = self.categories.get(category) {
            // Relative to the default folder.
            return match &self.default {
                Some(default) if !is_of_windows(folder.as_os_str().as_encoded_bytes()) => {
                    Some(default.join(folder))
                }
                _ => Some(folder.clone()),
            };
        }
        let below = RelativePath::parse(category.as_bytes()).ok()?;
        below.below(self.default.as_deref()?).ok()
    }
}

/// Returns the settings for all torrents that are in use. Negative values, and limits of 0, are not.
fn global_settings(text: &str) -> [(&'static str, Option<String>); 11] {
    let value = |key: &str| ini_value(text, "BitTorrent", &format!("Session\\{key}"));
    let is_on = |key| value(key).as_deref() == Some("true");
    // A number, because a text of digits can be as long as the file.
    let at_least = |min: f64, value: Option<String>| {
        let value = value.and_then(|value| value.parse::<f64>().ok());
        value.filter(|value| value.is_finite() && *value >= min)
    };
    // Without the key, the default is in use.
    let limit = |is_on: bool, key, default: Option<&str>| {
        let value = value(key).or_else(|| default.map(str::to_owned));
        let value = at_least(1.0, value.filter(|_| is_on));
        value.map(|value| format!("{value} KiB/s"))
    };
    let goal = |key, unit| at_least(0.0, value(key)).map(|value| format!("{value}{unit}"));
    let has_times = is_on("BandwidthSchedulerEnabled");
    let has_alternative = is_on("UseAlternativeGlobalSpeedLimit") || has_times;
    let has_queue = is_on("QueueingSystemEnabled");
    let number = |key, default: &str| {
        let value = value(key).unwrap_or_else(|| default.to_owned());
        at_least(0.0, Some(value).filter(|_| has_queue)).map(|value| value.to_string())
    };
    [
        (
            global::DOWNLOAD_LIMIT,
            limit(true, "GlobalDLSpeedLimit", None),
        ),
        (
            global::UPLOAD_LIMIT,
            limit(true, "GlobalUPSpeedLimit", None),
        ),
        (
            global::ALTERNATIVE_DOWNLOAD_LIMIT,
            limit(has_alternative, "AlternativeGlobalDLSpeedLimit", Some("10")),
        ),
        (
            global::ALTERNATIVE_UPLOAD_LIMIT,
            limit(has_alternative, "AlternativeGlobalUPSpeedLimit", Some("10")),
        ),
        (
            global::ALTERNATIVE_TIMES,
            has_times.then(|| "those of its scheduler".to_owned()),
        ),
        (global::RATIO, goal("GlobalMaxRatio", "")),
        (
            global::SEEDING_TIME,
            goal("GlobalMaxSeedingMinutes", " min"),
        ),
        (
            global::IDLE_TIME,
            goal("GlobalMaxInactiveSeedingMinutes", " min"),
        ),
        (global::DOWNLOADS, number("MaxActiveDownloads", "3")),
        (global::UPLOADS, number("MaxActiveUploads", "3")),
        (global::ACTIVE, number("MaxActiveTorrents", "5")),
    ]
}

/// Returns the settings of the network, and of what happens to torrents, that are in use. What a user did not change is not.
fn network_settings(text: &str) -> [(&'static str, Option<String>); 11] {
    let value = |key: &str| ini_value(text, "BitTorrent", &format!("Session\\{key}"));
    let is = |key: &str, expected: &str| value(key).as_deref() == Some(expected);
    let number = |value: Option<String>| value?.parse::<u16>().ok();
    let interface = value("Interface").filter(|name| !name.is_empty());
    let interface = interface.or_else(|| value("InterfaceAddress"));
    let encryption = match number(value("Encryption")) {
        Some(1) => Some("required".to_owned()),
        Some(2) => Some("off".to_owned()),
        _ => None,
    };
    // A number before version 4.6.
    let proxy = ini_value(text, "Network", "Proxy\\Type");
    let proxy = proxy.filter(|kind| !["None", "0", "-1"].contains(&kind.as_str()));
    let action = value("ShareLimitAction").filter(|action| action != "Stop");
    let old_action = match number(value("MaxRatioAction")) {
        Some(1) => Some("removal"),
        Some(2) => Some("super seeding"),
        Some(3) => Some("removal with content"),
        _ => None,
    };
    let runs = |section, key| ini_value(text, section, key).as_deref() == Some("true");
    let has_program = runs("AutoRun", "enabled") || runs("AutoRun", "OnTorrentAdded\\Enabled");
    let off = |key| global::switched(is(key, "false"), "off");
    [
        (
            global::ACTION,
            action
                .and_then(|action| global::shown(&action))
                .or(old_action.map(str::to_owned)),
        ),
        (
            global::INTERFACE,
            interface.and_then(|name| global::shown(&name)),
        ),
        (
            global::PORT,
            number(value("Port")).map(|port| port.to_string()),
        ),
        (global::DHT, off("DHTEnabled")),
        (global::DISCOVERY, off("LSDEnabled")),
        (global::PEX, off("PeXEnabled")),
        (
            global::ANONYMOUS,
            global::switched(is("AnonymousModeEnabled", "true"), "on"),
        ),
        (global::ENCRYPTION, encryption),
        // Its address can have a password.
        (global::PROXY, global::switched(proxy.is_some(), "in use")),
        (
            global::FILTER,
            global::switched(is("IPFilteringEnabled", "true"), "in use"),
        ),
        (global::PROGRAM, global::switched(has_program, "in use")),
    ]
}

/// Returns a value of a settings file of Qt. Values are quoted if they have a comma or similar, and characters that are not
/// ASCII are escaped.
fn ini_value(text: &str, section: &str, key: &str) -> Option<String> {
    let mut is_section = false;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            is_section = name.strip_suffix(']') == Some(section);
        } else if is_section
            && let Some((name, value)) = line.split_once('=')
            && name == key
        {
            return Some(unescaped(value));
        }
    }
    None
}

fn unescaped(value: &str) -> String {
    let value = value
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'))
        .unwrap_or(value);
    let (mut units, mut rest) = (Vec::new(), value);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let escape = rest.chars().next().filter(|_| c == '\\');
        let Some(escape) = escape else {
            units.extend(c.encode_utf16(&mut [0; 2]).iter());
            continue;
        };
        rest = &rest[escape.len_utf8()..];
        if escape == 'x' {
            let digits = rest
                .len()
                .min(rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(4))
                .min(4);
            units.push(u16::from_str_radix(&rest[..digits], 16).unwrap_or(0xFFFD));
            rest = &rest[digits..];
        } else {
            units.extend(escape.encode_utf16(&mut [0; 2]).iter());
        }
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_qt_are_unescaped() {
        let text = "[A]\nk=no\n[BitTorrent]\nSession\\Port=1\nk=\"/films, \\x6771\\x4eac/\\\"a\\\"\"\nk=again\n";
        assert_eq!(
            ini_value(text, "BitTorrent", "k").unwrap(),
            "/films, 東京/\"a\""
        );
        assert_eq!(ini_value(text, "BitTorrent", "other"), None);
        assert_eq!(unescaped("\\x"), "\u{fffd}");
        assert_eq!(unescaped("D:\\\\films\\"), "D:\\films\\");
        assert_eq!(unescaped("\\xe4g"), "äg");
    }

    #[test]
    fn settings_are_numbers() {
        let ratio = |value: &str| {
            let text = format!("[BitTorrent]\nSession\\GlobalMaxRatio={value}\n");
            let mut settings = global_settings(&text).into_iter();
            settings.find(|(name, _)| *name == global::RATIO)?.1
        };
        assert_eq!(ratio("2.5").as_deref(), Some("2.5"));
        assert_eq!(ratio(&"0".repeat(1000)).as_deref(), Some("0"));
        for value in ["-1", "inf", "nan", "", "2,5"] {
            assert_eq!(ratio(value), None, "{value}");
        }
    }
}
