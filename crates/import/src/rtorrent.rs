//! Sessions of rTorrent: `HASH.torrent` with `HASH.torrent.rtorrent` and `HASH.torrent.libtorrent_resume`.

use std::path::{Path, PathBuf};

use hashlane_api::Priority;
use hashlane_metainfo::bencode::Value;
use hashlane_metainfo::{FileKind, Torrent, is_url};
use percent_encoding::percent_decode_str;

use crate::dictionary::{Dictionary, text_of};
use crate::file::{self, MAX_TORRENT_BYTES, session_error};
use crate::path::{folder_of, path_of};
use crate::place;
use crate::source::{self, Sources};
use crate::torrents::{Options, Torrents};
use crate::{Failure, Imported, Note, PathMap, Reason, SessionError, Source, Start};

/// What only the script has.
const SCRIPT: &str = "what only .rtorrent.rc has, a script that is never run: rate limits of all torrents, groups with \
    their ratio goals, and the numbers of active torrents";

/// Reads the session in `folder`, which is rTorrent's `session.path`.
pub(crate) fn read(folder: &Path, options: Options) -> Result<Torrents, SessionError> {
    let stems = file::names(folder, ".torrent")?;
    let expected = "files HASH.torrent with HASH.torrent.rtorrent";
    if !folder.is_dir() || stems.is_empty() && folder.join("torrents").is_dir() {
        return Err(session_error(folder, Reason::NoSession { expected }));
    }
    let lock = folder.join("rtorrent.lock");
    let folder = folder.to_owned();
    let torrents = Torrents::new(stems, move |stem| {
        let file = folder.join(format!("{stem}.torrent"));
        torrent(&stem, &file, &options.map).map_err(|(file, reason)| Failure { file, reason })
    });
    let torrents = torrents.with_note(Note::NotCarried(SCRIPT.into()));
    Ok(torrents.locked_by([lock]))
}

/// Reads a torrent. An error has the file that it is about.
fn torrent(stem: &str, file: &Path, map: &PathMap) -> Result<Imported, (PathBuf, Reason)> {
    let beside = |suffix: &str| {
        let mut path = file.as_os_str().to_owned();
        path.push(suffix);
        PathBuf::from(path)
    };
    let read = |path: &Path| {
        file::read(path, MAX_TORRENT_BYTES).map_err(|reason| (path.to_owned(), reason))
    };
    let metainfo = read(file)?;
    let state_file = beside(".rtorrent");
    let state = read(&state_file)?;
    let resume_file = beside(".libtorrent_resume");
    let resume = file::read_if_present(&resume_file, MAX_TORRENT_BYTES)
        .map_err(|reason| (resume_file.clone(), reason))?
        .unwrap_or_else(|| b"de".to_vec());

    let of_state = |reason: Reason| (state_file.clone(), reason);
    let keys = Dictionary::parse(&state).map_err(of_state)?;
    let resume = Dictionary::parse(&resume).map_err(|reason| (resume_file.clone(), reason))?;
    let mut notes = Vec::new();
    let source =
        source_of(metainfo, &resume, &mut notes).map_err(|reason| (file.to_owned(), reason))?;
    source::check_identity(source.info_hashes(), stem)
        .map_err(|reason| (file.to_owned(), reason))?;
    let content = content(&source, &keys, map).map_err(of_state)?;
    let mut imported = Imported::new(source, file.to_owned(), content);
    if let Source::Torrent(torrent) = &imported.source {
        let priorities = priorities(torrent, &resume);
        imported.set_priorities(priorities);
    }
    read_state(&keys, &mut imported, &mut notes);
    // The bits of the pieces, or their number if all or none is present.
    imported.statistics.had_content = resume.value("bitfield").is_some_and(|bits| {
        let bytes = bits.as_bytes().unwrap_or_default();
        bits.as_integer().is_some_and(|n| n > 0) || bytes.iter().any(|byte| *byte != 0)
    });
    imported.notes = notes;
    Ok(imported)
}

/// Returns the content. The folder of a torrent of several files includes the torrent's folder, under whichever name.
fn content(source: &Source, keys: &Dictionary<'_>, map: &PathMap) -> Result<PathBuf, Reason> {
    let folder = folder_of(keys.bytes("directory")?.ok_or(Reason::NoFolder)?)?;
    match source {
        Source::Torrent(torrent) if torrent.is_single_file() => {
            place::mapped(&folder.join(path_of(torrent.name().as_bytes())?), map)
        }
        _ => place::mapped(&folder, map),
    }
}

/// Returns the torrent, or the link that rTorrent writes into a .torrent file until it has the metadata.
fn source_of(
    metainfo: Vec<u8>,
    resume: &Dictionary<'_>,
    notes: &mut Vec<Note>,
) -> Result<Source, Reason> {
    let entries = Value::parse(&metainfo).ok().and_then(Value::as_dictionary);
    let link = entries
        .into_iter()
        .flatten()
        .find(|entry| entry.key == b"magnet-uri");
    if let Some(link) = link.and_then(|entry| entry.value.as_bytes()) {
        let link = text_of("magnet-uri", link, notes).parse()?;
        return Ok(Source::Magnet(Box::new(link)));
    }
    let torrent = Torrent::parse(metainfo)?;
    let trackers = trackers(&torrent, resume, notes);
    let sources = Sources {
        trackers,
        web_seeds: None,
    };
    Ok(Source::Torrent(sources.apply(&torrent)?))
}

/// Returns the trackers of the torrent without those that are disabled, and with those that were added.
fn trackers(
    torrent: &Torrent,
    resume: &Dictionary<'_>,
    notes: &mut Vec<Note>,
) -> Option<Vec<Vec<String>>> {
    let entries = resume.value("trackers")?.as_dictionary()?;
    let (mut disabled, mut added) = (Vec::new(), Vec::new());
    for entry in entries {
        let flag = |key: &[u8]| {
            let mut flags = entry.value.as_dictionary()?;
            flags.find(|flag| flag.key == key)?.value.as_integer()
        };
        let url = text_of("trackers", entry.key, notes);
        if flag(b"enabled") == Some(0) {
            disabled.push(url);
        } else if flag(b"extra_tracker") == Some(1) && is_url(&url) {
            added.push(vec![url]);
        }
    }
    let tiers = torrent.metadata_ref();
    let tiers = tiers.trackers().map(|tier| {
        let urls = tier.urls().map(|url| url.to_string());
        urls.filter(|url| !disabled.contains(url))
            .collect::<Vec<_>>()
    });
    let tiers = tiers.filter(|tier| !tier.is_empty());
    Some(tiers.chain(added).collect())
}

/// Returns the priority of each file: 0 is off, 1 normal, 2 high.
fn priorities(torrent: &Torrent, resume: &Dictionary<'_>) -> Vec<Priority> {
    let Some(items) = resume.items("files").ok().flatten() else {
        return Vec::new();
    };
    let priority = |item: Value<'_>| {
        let mut entries = item.as_dictionary()?;
        entries
            .find(|entry| entry.key == b"priority")?
            .value
            .as_integer()
    };
    let files = torrent.files().iter().zip(items);
    let files = files.filter(|(file, _)| file.kind() != FileKind::Padding);
    let priorities = files.map(|(_, item)| match priority(item) {
        Some(0) => Priority::Skip,
        Some(2..) => Priority::High,
        _ => Priority::Normal,
    });
    let priorities: Vec<_> = priorities.collect();
    // A list that is too short says nothing of the last files.
    let missing = place::files(torrent)
        .count()
        .saturating_sub(priorities.len());
    priorities
        .into_iter()
        .chain(std::iter::repeat_n(Priority::Normal, missing))
        .collect()
}

fn read_state(keys: &Dictionary<'_>, imported: &mut Imported, notes: &mut Vec<Note>) {
    // ruTorrent and Flood write the label in percent-encoding; Flood separates several by commas.
    let label = keys.text("custom1", notes).unwrap_or_default();
    for label in label.split(',').filter(|label| !label.is_empty()) {
        imported
            .labels
            .push(percent_decode_str(label).decode_utf8_lossy().into_owned());
    }
    if keys.integer("state", notes) == Some(0) {
        imported.start = Start::Paused;
    }
    let statistics = &mut imported.statistics;
    statistics.sent_bytes = keys.positive("total_uploaded", notes).unwrap_or(0);
    statistics.received_bytes = keys.positive("total_downloaded", notes).unwrap_or(0);
    statistics.completed = keys.positive("timestamp.finished", notes);
    // ruTorrent's time of addition.
    let added = keys
        .dictionary("custom", notes)
        .and_then(|custom| custom.text("addtime", notes));
    statistics.added = added
        .and_then(|added| added.trim().parse().ok())
        .filter(|added| *added > 0);
    if keys.text("custom2", notes).is_some() {
        notes.push(Note::NotCarried("the comment of ruTorrent".into()));
    }
    if let Some(name) = keys.text("throttle_name", notes) {
        notes.push(Note::NotCarried(format!(
            "the limits of throttle group {name:?}"
        )));
    }
    if keys
        .integer("priority", notes)
        .is_some_and(|priority| priority != 2)
    {
        notes.push(Note::NotCarried("priority of the torrent".into()));
    }
    let views = if keys.value("views").is_some() {
        keys.texts("views", notes)
    } else {
        Vec::new()
    };
    if !views.is_empty() {
        notes.push(Note::NotCarried(format!("views: {}", views.join(", "))));
    }
}
