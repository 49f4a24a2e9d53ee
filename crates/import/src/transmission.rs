//! Sessions of Transmission: `torrents/` and `resume/`, with a file of each torrent in both, and `settings.json`. Version 4.1 keeps
//! the order of the queue in `queue.json`: a list of the names in `torrents/`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hashlane_api::{Priority, Target};
use hashlane_metainfo::bencode::Value;
use hashlane_metainfo::{InfoHashV1, InfoHashes, Magnet, Torrent};

use crate::dictionary::{Dictionary, text_of};
use crate::file::{self, MAX_TORRENT_BYTES, session_error};
use crate::imported::rate;
use crate::path::folder_of;
use crate::place::{self, Place};
use crate::torrents::{Options, Torrents, in_order};
use crate::{
    Failure, Imported, Note, PathMap, Reason, RelativePath, SessionError, Source, Start, global,
    source,
};

const EXPECTED: &str = "the folders torrents and resume";

struct Session {
    torrents: PathBuf,
    resume: PathBuf,
    map: PathMap,
    /// The folder for new torrents.
    default: Option<PathBuf>,
    /// Whether unfinished files end in `.part`.
    has_suffix: bool,
}

/// Reads the session in `folder`, which has the folders `torrents` and `resume`.
pub(crate) fn read(folder: &Path, options: Options) -> Result<Torrents, SessionError> {
    let torrents = folder.join("torrents");
    if !torrents.is_dir() {
        return Err(session_error(
            folder,
            Reason::NoSession { expected: EXPECTED },
        ));
    }
    let settings = options
        .settings
        .as_deref()
        .unwrap_or(folder)
        .join("settings.json");
    let json = file::read_json(&settings)?.unwrap_or_default();
    // Version 4.1 writes `_` where older versions write `-`.
    let setting = |key: &str| json.get(key).or_else(|| json.get(key.replace('-', "_")));
    let default = setting("download-dir").and_then(|value| value.as_str());
    let default = default
        .filter(|path| !path.is_empty())
        .map(|path| folder_of(path.as_bytes()));
    let mut files: Vec<String> = Vec::new();
    for suffix in [".torrent", ".magnet"] {
        let stems = file::names(&torrents, suffix)?;
        files.extend(stems.into_iter().map(|stem| stem + suffix));
    }
    files.sort_unstable();
    let in_use = global_settings(setting)
        .into_iter()
        .chain(network_settings(setting));
    let notes: Vec<Note> = global::notes(in_use).collect();
    let queue = file::read_json(&folder.join("queue.json"))?.unwrap_or_default();
    let queue = queue.as_array().into_iter().flatten();
    let queue = queue.filter_map(serde_json::Value::as_str);
    let files = in_order(files, queue.map(str::as_bytes));
    let session = Session {
        torrents,
        resume: folder.join("resume"),
        map: options.map,
        default: default
            .transpose()
            .map_err(|reason| session_error(&settings, reason))?,
        has_suffix: setting("rename-partial-files").and_then(serde_json::Value::as_bool)
            != Some(false),
    };
    let torrents = Torrents::new(files, move |name| {
        let file = session.torrents.join(&name);
        session
            .torrent(&name, &file)
            .map_err(|(file, reason)| Failure { file, reason })
    });
    Ok(notes.into_iter().fold(torrents, Torrents::with_note))
}

/// Returns the settings of the network, and of programs, that are in use.
fn network_settings<'j>(
    setting: impl Fn(&str) -> Option<&'j serde_json::Value>,
) -> [(&'static str, Option<String>); 7] {
    let is =
        |key: &str, expected| setting(key).and_then(serde_json::Value::as_bool) == Some(expected);
    let address = |key, all| {
        let address = setting(key).and_then(serde_json::Value::as_str);
        address.filter(|address| *address != all)
    };
    let address =
        address("bind-address-ipv4", "0.0.0.0").or_else(|| address("bind-address-ipv6", "::"));
    let port = setting("peer-port").and_then(serde_json::Value::as_u64);
    // A number before version 4.1.
    let is_required = setting("encryption")
        .is_some_and(|value| value.as_u64() == Some(2) || value.as_str() == Some("required"));
    let has_program =
        ["added", "done", "done-seeding"].map(|event| format!("script-torrent-{event}-enabled"));
    let has_program = has_program.iter().any(|key| is(key, true));
    [
        (global::INTERFACE, address.and_then(global::shown)),
        (global::PORT, port.map(|port| port.to_string())),
        (
            global::DHT,
            global::switched(is("dht-enabled", false), "off"),
        ),
        (
            global::PEX,
            global::switched(is("pex-enabled", false), "off"),
        ),
        (
            global::ENCRYPTION,
            global::switched(is_required, "required"),
        ),
        (
            global::FILTER,
            global::switched(is("blocklist-enabled", true), "in use"),
        ),
        (global::PROGRAM, global::switched(has_program, "in use")),
    ]
}

/// Returns the settings for all torrents that are in use.
fn global_settings<'j>(
    setting: impl Fn(&str) -> Option<&'j serde_json::Value>,
) -> [(&'static str, Option<String>); 9] {
    let is_on = |key: &str| setting(key).and_then(serde_json::Value::as_bool) == Some(true);
    let value = |is_on: bool, key: &str, unit: &str| {
        let value = setting(key).filter(|value| is_on && value.is_number());
        value.map(|value| format!("{value}{unit}"))
    };
    let has_times = is_on("alt-speed-time-enabled");
    let has_alternative = is_on("alt-speed-enabled") || has_times;
    let number = |key, default| {
        let number = setting(key).and_then(serde_json::Value::as_u64);
        number.unwrap_or(default)
    };
    let times = || {
        alternative_times(
            number("alt-speed-time-begin", 540),
            number("alt-speed-time-end", 1020),
            number("alt-speed-time-day", 127),
        )
    };
    let limit = |is_on, key: &str| value(is_on, key, " kB/s");
    [
        (
            global::DOWNLOAD_LIMIT,
            limit(is_on("speed-limit-down-enabled"), "speed-limit-down"),
        ),
        (
            global::UPLOAD_LIMIT,
            limit(is_on("speed-limit-up-enabled"), "speed-limit-up"),
        ),
        (
            global::ALTERNATIVE_DOWNLOAD_LIMIT,
            limit(has_alternative, "alt-speed-down"),
        ),
        (
            global::ALTERNATIVE_UPLOAD_LIMIT,
            limit(has_alternative, "alt-speed-up"),
        ),
        (global::ALTERNATIVE_TIMES, has_times.then(times)),
        (
            global::RATIO,
            value(is_on("ratio-limit-enabled"), "ratio-limit", ""),
        ),
        (
            global::IDLE_TIME,
            value(
                is_on("idle-seeding-limit-enabled"),
                "idle-seeding-limit",
                " min",
            ),
        ),
        (
            global::DOWNLOADS,
            value(is_on("download-queue-enabled"), "download-queue-size", ""),
        ),
        (
            global::UPLOADS,
            value(is_on("seed-queue-enabled"), "seed-queue-size", ""),
        ),
    ]
}

/// Describes times in minutes after midnight, on the days of a set of bits from Sunday on.
fn alternative_times(begin: u64, end: u64, days: u64) -> String {
    let time = |minutes: u64| format!("{:02}:{:02}", minutes / 60, minutes % 60);
    let names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    let set = names
        .iter()
        .enumerate()
        .filter(|(day, _)| days >> day & 1 == 1);
    let set: Vec<&str> = set.map(|(_, name)| *name).collect();
    format!("{} to {}, {}", time(begin), time(end), set.join(" "))
}

impl Session {
    /// Reads a torrent. An error has the file that it is about.
    fn torrent(&self, name: &str, file: &Path) -> Result<Imported, (PathBuf, Reason)> {
        let of_file = |reason: Reason| (file.to_owned(), reason);
        let source = read_source(file).map_err(of_file)?;
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let info_hashes = source.info_hashes();
        if matches!(stem.len(), 40) && stem.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            source::check_identity(info_hashes, stem).map_err(of_file)?;
        }
        let (resume, bytes) = self.resume_of(stem, &source)?;
        let import = || {
            let keys = Dictionary::parse(&bytes)?;
            self.import(source, file.to_owned(), &keys)
        };
        import().map_err(|reason| (resume.clone(), reason))
    }

    /// Returns the file with the state of a torrent, and its bytes. Version 2 and older named it after the torrent's name and
    /// the first digits of its info-hash. A torrent without state has an empty dictionary.
    fn resume_of(
        &self,
        stem: &str,
        source: &Source,
    ) -> Result<(PathBuf, Vec<u8>), (PathBuf, Reason)> {
        let mut stems = vec![stem.to_owned()];
        if let (Source::Torrent(torrent), Some(v1)) = (source, source.info_hashes().v1()) {
            let name = String::from_utf8_lossy(torrent.name().as_bytes()).into_owned();
            stems.push(format!("{name}.{}", &v1.to_string()[..16]));
        }
        for stem in stems {
            let path = self.resume.join(format!("{stem}.resume"));
            match file::read_if_present(&path, MAX_TORRENT_BYTES) {
                Ok(Some(bytes)) => return Ok((path, bytes)),
                Ok(None) => {}
                Err(reason) => return Err((path, reason)),
            }
        }
        Ok((self.resume.join(format!("{stem}.resume")), b"de".to_vec()))
    }

    fn import(
        &self,
        source: Source,
        file: PathBuf,
        keys: &Dictionary<'_>,
    ) -> Result<Imported, Reason> {
        let mut notes = Vec::new();
        let destination = if let Some(path) = keys.bytes("destination")? {
            folder_of(path)?
        } else {
            notes.push(Note::DefaultFolder);
            self.default.clone().ok_or(Reason::NoFolder)?
        };
        let mut imported = match &source {
            Source::Torrent(torrent) => {
                let place = self.place(torrent, &destination, keys, &mut notes)?;
                let mut imported = Imported::new(source.clone(), file, place.content);
                imported.has_own_folder = place.has_own_folder;
                imported.renamed = place.renamed;
                imported.set_priorities(priorities(torrent, keys, &mut notes));
                imported
            }
            Source::Magnet(_) => {
                let content = place::mapped(&destination, &self.map)?;
                Imported::new(source, file, content)
            }
        };
        imported.labels = keys.texts("labels", &mut notes);
        if keys.integer("paused", &mut notes) == Some(1) {
            imported.start = Start::Paused;
        }
        // A renamed root renames the torrent in the list, too.
        let own_name = imported.display_name();
        let name = keys.text("name", &mut notes);
        imported.name = name.filter(|name| *name != own_name);
        imported.is_sequential = keys.integer("sequential-download", &mut notes) == Some(1);
        imported.rates.down = rate(limit(keys, "speed-limit-down", &mut notes));
        imported.rates.up = rate(limit(keys, "speed-limit-up", &mut notes));
        imported.goal.ratio = ratio(keys, &mut notes);
        imported.goal.idle = idle(keys, &mut notes);
        let statistics = &mut imported.statistics;
        statistics.had_content = had_content(keys, &mut notes);
        statistics.sent_bytes = keys.positive("uploaded", &mut notes).unwrap_or(0);
        statistics.received_bytes = keys.positive("downloaded", &mut notes).unwrap_or(0);
        statistics.added = keys.positive("added-date", &mut notes);
        statistics.completed = keys.positive("done-date", &mut notes);
        statistics.seeding_seconds = Some(
            keys.positive("seeding-time-seconds", &mut notes)
                .unwrap_or(0),
        );
        if keys.integer("bandwidth-priority", &mut notes).unwrap_or(0) != 0 {
            notes.push(Note::NotCarried("priority of the torrent".into()));
        }
        if let Some(group) = keys.text("group", &mut notes) {
            notes.push(Note::NotCarried(format!("bandwidth group {group:?}")));
        }
        imported.notes = notes;
        Ok(imported)
    }

    /// Returns the place of the content. Transmission uses the folder for unfinished torrents if their content is there and
    /// not at its destination, so this looks for the content too.
    fn place(
        &self,
        torrent: &Torrent,
        destination: &Path,
        keys: &Dictionary<'_>,
        notes: &mut Vec<Note>,
    ) -> Result<Place, Reason> {
        let names = names(torrent, keys)?;
        let in_folder = |folder: &Path| {
            let mut place = place::in_folder(torrent, folder, &names)?;
            place.content = place::mapped(&place.content, &self.map)?;
            Ok::<_, Reason>(place)
        };
        let place = in_folder(destination)?;
        if is_complete(keys, notes) {
            return Ok(place);
        }
        if self.has_suffix {
            notes.push(Note::Suffix { suffix: ".part" });
        }
        let Some(incomplete) = keys.bytes("incomplete-dir")? else {
            return Ok(place);
        };
        let unfinished = in_folder(&folder_of(incomplete)?)?;
        let is_there = |place: &Place| {
            let mut part = place.content.clone().into_os_string();
            part.push(".part");
            place.content.exists() || Path::new(&part).exists()
        };
        if is_there(&place) || !is_there(&unfinished) {
            return Ok(place);
        }
        notes.push(Note::Unfinished {
            folder: self.map.apply(destination),
        });
        Ok(unfinished)
    }
}

/// Reads a .torrent file, or a magnet link. Version 3 and older write a link as a .torrent file.
fn read_source(path: &Path) -> Result<Source, Reason> {
    let bytes = file::read(path, MAX_TORRENT_BYTES)?;
    if path
        .extension()
        .is_some_and(|extension| extension == "magnet")
    {
        let link = String::from_utf8_lossy(&bytes).trim().parse()?;
        return Ok(Source::Magnet(Box::new(link)));
    }
    if let Some(link) = Value::parse(&bytes).ok().and_then(magnet_info) {
        return Ok(Source::Magnet(Box::new(link)));
    }
    Ok(Source::Torrent(Torrent::parse(bytes)?))
}

/// Returns the link of a .torrent file that has no info dictionary.
fn magnet_info(metainfo: Value<'_>) -> Option<Magnet> {
    let mut entries = metainfo.as_dictionary()?;
    let link = entries
        .clone()
        .find(|entry| entry.key == b"magnet-info")?
        .value;
    if entries.any(|entry| entry.key == b"info") {
        return None;
    }
    let find = |value: Value<'_>, key: &[u8]| {
        let mut entries = value.as_dictionary()?;
        Some(
            entries
                .find(|entry| entry.key == key)?
                .value
                .encoded()
                .to_vec(),
        )
    };
    let bytes = |value: Value<'_>, key: &[u8]| {
        let encoded = find(value, key)?;
        Some(Value::parse(&encoded).ok()?.as_bytes()?.to_vec())
    };
    let hash: [u8; 20] = bytes(link, b"info_hash")?.try_into().ok()?;
    let mut magnet = Magnet::new(InfoHashes::V1(InfoHashV1::from(hash)));
    let name = bytes(link, b"display-name");
    magnet.name = name.map(|name| text_of("display-name", &name, &mut Vec::new()));
    let first = bytes(metainfo, b"announce").into_iter();
    let tiers = find(metainfo, b"announce-list").unwrap_or_else(|| b"le".to_vec());
    let tiers = Value::parse(&tiers).ok()?.as_list().into_iter().flatten();
    let others = tiers
        .filter_map(Value::as_list)
        .flatten()
        .filter_map(Value::as_bytes);
    let urls = first.chain(others.map(<[u8]>::to_vec));
    for url in urls.map(|url| text_of("announce", &url, &mut Vec::new())) {
        if hashlane_metainfo::is_url(&url) && !magnet.trackers.contains(&url) {
            magnet.trackers.push(url);
        }
    }
    Some(magnet)
}

/// Returns the paths of renamed files. The list has each file, padding too, and starts with the torrent's folder.
fn names(
    torrent: &Torrent,
    keys: &Dictionary<'_>,
) -> Result<BTreeMap<usize, RelativePath>, Reason> {
    let mut names = BTreeMap::new();
    let refused = |number: usize| move |source| Reason::Renamed { number, source };
    if let Some(items) = keys.items("files")? {
        for (position, (index, item)) in of_files(torrent, items) {
            let path = item.as_bytes().unwrap_or_default();
            if !path.is_empty() {
                names.insert(position, RelativePath::parse(path).map_err(refused(index))?);
            }
        }
    }
    Ok(names)
}

/// Returns the items of a list with an item for each file, without those of padding: the position of the file, and the
/// item with its index.
fn of_files<T>(
    torrent: &Torrent,
    items: impl IntoIterator<Item = T>,
) -> impl Iterator<Item = (usize, (usize, T))> {
    let files = torrent.files().iter().zip(items.into_iter().enumerate());
    let files = files.filter(|(file, _)| file.kind() != hashlane_metainfo::FileKind::Padding);
    files.map(|(_, item)| item).enumerate()
}

/// Returns `true` if a block is present: the bits of the blocks are a text if they are equal.
fn had_content(keys: &Dictionary<'_>, notes: &mut Vec<Note>) -> bool {
    let progress = keys.dictionary("progress", notes);
    let blocks = progress.and_then(|progress| progress.value("blocks"));
    let blocks = blocks.and_then(Value::as_bytes).unwrap_or_default();
    blocks != b"none" && blocks.iter().any(|byte| *byte != 0)
}

/// Returns `true` if no piece is missing.
fn is_complete(keys: &Dictionary<'_>, notes: &mut Vec<Note>) -> bool {
    let progress = keys.dictionary("progress", notes);
    let is_all = |key| {
        let value = progress.as_ref().and_then(|progress| progress.value(key));
        value.and_then(Value::as_bytes) == Some(b"all")
    };
    is_all("blocks") || is_all("have")
}

fn priorities(torrent: &Torrent, keys: &Dictionary<'_>, notes: &mut Vec<Note>) -> Vec<Priority> {
    let skipped = keys.integers("dnd", notes).unwrap_or_default();
    let priority = keys.integers("priority", notes).unwrap_or_default();
    let indexes = of_files(torrent, 0..torrent.files().len());
    let priorities = indexes.map(|(_, (index, _))| {
        let of = |list: &[Option<i64>]| list.get(index).copied().flatten().unwrap_or(0);
        match (of(&skipped), of(&priority)) {
            (1.., _) => Priority::Skip,
            (_, ..=-1) => Priority::Low,
            (_, 1..) => Priority::High,
            _ => Priority::Normal,
        }
    });
    priorities.collect()
}

/// Returns a limit in bytes per second, if it is in use.
fn limit(keys: &Dictionary<'_>, key: &str, notes: &mut Vec<Note>) -> Option<u64> {
    let limit = keys.dictionary(key, notes)?;
    if limit.integer("use-speed-limit", notes) != Some(1) {
        return None;
    }
    // Versions before 2.0 wrote kilobytes.
    let old = limit
        .positive("speed", notes)
        .map(|limit| limit.saturating_mul(1000));
    limit.positive("speed-Bps", notes).or(old)
}

fn ratio(keys: &Dictionary<'_>, notes: &mut Vec<Note>) -> Target<f64> {
    let Some(limit) = keys.dictionary("ratio-limit", notes) else {
        return Target::Inherited;
    };
    match limit.integer("ratio-mode", notes) {
        // A real number in text, because bencode has none.
        Some(1) => {
            let ratio = limit
                .text("ratio-limit", notes)
                .and_then(|text| text.parse::<f64>().ok());
            match ratio {
                Some(ratio @ 0.0..=1e12) => Target::At(ratio),
                _ => Target::Inherited,
            }
        }
        Some(2) => Target::Never,
        _ => Target::Inherited,
    }
}

fn idle(keys: &Dictionary<'_>, notes: &mut Vec<Note>) -> Target<Duration> {
    let Some(limit) = keys.dictionary("idle-limit", notes) else {
        return Target::Inherited;
    };
    match limit.integer("idle-mode", notes) {
        Some(1) => {
            let minutes = limit.positive("idle-limit", notes).unwrap_or(0);
            Target::At(Duration::from_secs(minutes.saturating_mul(60)))
        }
        Some(2) => Target::Never,
        _ => Target::Inherited,
    }
}
