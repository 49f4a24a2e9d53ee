//! The methods.

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use data_encoding::{BASE64_MIME_PERMISSIVE, HEXLOWER};
use hashlane_api::{
    Command, Content, NewTorrent, Patch, Priority, QueueMove, Refusal, Source, Target, Tiers,
};
use hashlane_client::{InfoHash, Snapshot, TorrentSnapshot};
use hashlane_metainfo::InfoHashes;
use serde::Serialize;
use serde_json::{Value, json};

use super::request::Arguments;
use super::session;
use super::torrent::{Field, Row, field};
use crate::apply::{self, GoalsInMinutes};
use crate::check::{absolute, file_name, link};
use crate::labels;
use crate::model::{Control, minutes, now, tiers};
use crate::torrent::{ShortHash, Shown as _, short_hash_of};

/// Seconds for which a change is recent.
const RECENT: u64 = 60;

/// Maximum number of selected torrents in one request.
const MAX_IDS: usize = 100_000;

/// The torrents that were removed lately, as far as requests noticed it.
#[derive(Debug, Default)]
pub(super) struct Removals {
    /// The torrents at the last request.
    known: Arc<Snapshot>,
    /// The numbers of removed torrents, with the time at which it was noticed.
    removed: BTreeMap<usize, u64>,
}

/// The torrents of a request.
#[derive(Debug, Default)]
pub(super) struct Present {
    snapshot: Arc<Snapshot>,
    /// The numbers of those that were removed lately.
    removed: Vec<usize>,
}

impl Removals {
    /// Compares the torrents with those of the last request.
    pub(super) fn update(&mut self, snapshot: Arc<Snapshot>) -> Present {
        let now = now();
        self.removed
            .retain(|_, time| now.saturating_sub(*time) < RECENT);
        if !Arc::ptr_eq(&self.known, &snapshot) {
            let number = |torrent: &Arc<TorrentSnapshot>| torrent.identity.number;
            let known = self.known.torrents.iter().map(number);
            // Both are in the order of their numbers.
            let mut present = snapshot.torrents.iter().map(number).peekable();
            let gone = known.filter(|known| {
                while present.next_if(|number| number < known).is_some() {}
                present.peek() != Some(known)
            });
            self.removed.extend(gone.map(|number| (number, now)));
            self.known = Arc::clone(&snapshot);
        }
        Present {
            snapshot,
            removed: self.removed.keys().copied().collect(),
        }
    }
}

/// The arguments of an answer.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Reply<'a> {
    Value(Value),
    Torrents(Torrents<'a>),
}

/// Calls a method, and returns the arguments of its answer.
pub(super) fn call<'a>(
    control: &'a dyn Control,
    present: &'a Present,
    session_id: &str,
    method: &str,
    arguments: &Value,
) -> Result<Reply<'a>, Refusal> {
    let arguments = Arguments(arguments);
    let torrents = &*present.snapshot.torrents;
    let each = |command: Command| {
        let torrents = selected(torrents, arguments)?.into_iter();
        apply::each(
            control,
            torrents.map(|torrent| (torrent.identity.number, vec![command.clone()])),
        )?;
        Ok(json!({}))
    };
    let value = match method {
        "torrent-get" => return torrent_get(control, present, arguments).map(Reply::Torrents),
        "torrent-add" => torrent_add(control, arguments),
        "torrent-set" => torrent_set(control, torrents, arguments),
        "torrent-start" => each(Command::Resume { now: false }),
        "torrent-start-now" => each(Command::Resume { now: true }),
        "torrent-stop" => each(Command::Pause),
        "torrent-verify" => each(Command::Verify),
        "torrent-reannounce" => each(Command::Reannounce),
        "torrent-remove" => {
            // Without a list, a request would remove everything.
            if arguments.get("ids").is_none() {
                return Err(Refusal::Invalid(
                    "ids: the torrents to remove are required".to_owned(),
                ));
            }
            let content = match arguments.bool("delete-local-data")? {
                Some(true) => Content::Delete,
                _ => Content::Keep,
            };
            each(Command::Remove { content })
        }
        "torrent-set-location" => {
            let Some(folder) = arguments.text("location")? else {
                return Err(Refusal::Invalid("no location".to_owned()));
            };
            let folder = absolute(folder)?.into();
            each(if arguments.bool("move")?.unwrap_or(false) {
                Command::Relocate { folder }
            } else {
                Command::Place { folder }
            })
        }
        "torrent-rename-path" => torrent_rename(control, torrents, arguments),
        "queue-move-top" => each(Command::Queue { to: QueueMove::Top }),
        "queue-move-up" => each(Command::Queue { to: QueueMove::Up }),
        "queue-move-down" => each(Command::Queue {
            to: QueueMove::Down,
        }),
        "queue-move-bottom" => each(Command::Queue {
            to: QueueMove::Bottom,
        }),
        "session-get" => session::get(control, session_id, arguments),
        "session-set" => session::set(control, session_id, arguments),
        "session-stats" => Ok(session::statistics(control)),
        "free-space" => free_space(control, arguments),
        "group-get" => Ok(json!({ "group": [] })),
        "session-close" => Err(refused(
            "the client is stopped by its service, not by requests",
        )),
        "blocklist-update" => Err(refused("there is no blocklist")),
        "port-test" => Err(refused(
            "the port is not tested, because that asks a server of another project",
        )),
        "group-set" => Err(refused("there are no bandwidth groups")),
        _ => Err(Refusal::Invalid("method name not recognized".to_owned())),
    };
    value.map(Reply::Value)
}

fn refused(reason: &str) -> Refusal {
    Refusal::Forbidden(reason.to_owned())
}

/// Returns the torrents that a request names: all without a list. Unknown numbers and info-hashes are ignored.
fn selected<'t>(
    torrents: &'t [Arc<TorrentSnapshot>],
    arguments: Arguments<'_>,
) -> Result<Vec<&'t TorrentSnapshot>, Refusal> {
    let torrents = torrents.iter().map(|torrent| &**torrent);
    let Some(ids) = arguments.get("ids") else {
        return Ok(torrents.collect());
    };
    let ids = match ids {
        Value::String(word) if ["recently-active", "recently_active"].contains(&word.as_str()) => {
            let now = now();
            let is_recent = |torrent: &&TorrentSnapshot| {
                let is_running = torrent.down_bytes_per_second + torrent.up_bytes_per_second > 0;
                is_running || now.saturating_sub(torrent.changed_at) < RECENT
            };
            return Ok(torrents.filter(is_recent).collect());
        }
        Value::Array(ids) => ids.as_slice(),
        one => std::slice::from_ref(one),
    };
    if ids.len() > MAX_IDS {
        return Err(Refusal::Invalid("ids: too many torrents".to_owned()));
    }
    let mut numbers = HashSet::new();
    let mut hashes: HashSet<ShortHash> = HashSet::new();
    let mut long = HashSet::new();
    for id in ids {
        match id {
            Value::Number(number) => numbers.extend(number.as_u64()),
            Value::String(text) => match text.parse() {
                Ok(InfoHash::V1(v1)) => drop(hashes.insert(v1.into())),
                Ok(InfoHash::V2(v2)) => drop(long.insert(v2)),
                Err(_) => {}
            },
            _ => {
                return Err(Refusal::Invalid(
                    "ids: expected numbers and info-hashes".to_owned(),
                ));
            }
        }
    }
    let is_named = |torrent: &&TorrentSnapshot| {
        let has_long = || {
            let v2 = torrent.identity.info_hashes.and_then(InfoHashes::v2);
            v2.is_some_and(|v2| long.contains(&v2))
        };
        numbers.contains(&(torrent.identity.number as u64))
            || !hashes.is_empty() && hashes.contains(&torrent.hash())
            || !long.is_empty() && has_long()
    };
    Ok(torrents.filter(is_named).collect())
}

/// Torrents with the fields that a request asks for.
#[derive(Serialize)]
pub(super) struct Torrents<'a> {
    torrents: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<&'a [usize]>,
}

fn torrent_get<'a>(
    control: &'a dyn Control,
    present: &'a Present,
    arguments: Arguments<'_>,
) -> Result<Torrents<'a>, Refusal> {
    let names = arguments.texts("fields")?.filter(|names| !names.is_empty());
    let Some(names) = names else {
        return Err(Refusal::Invalid("no fields specified".to_owned()));
    };
    // Unknown fields are left out, in tables too.
    let fields: Arc<[&Field]> = names.iter().filter_map(|name| field(name)).collect();
    let selected = selected(&present.snapshot.torrents, arguments)?;
    let is_table = arguments.text("format")? == Some("table");
    let head = is_table.then(|| Row::Head(Arc::clone(&fields)));
    let rows = selected.into_iter().map(|torrent| Row::Torrent {
        control,
        torrent,
        fields: Arc::clone(&fields),
        is_table,
    });
    let has_removed = arguments.get("ids").is_some_and(Value::is_string);
    Ok(Torrents {
        torrents: head.into_iter().chain(rows).collect(),
        removed: has_removed.then_some(&*present.removed),
    })
}

fn torrent_add(control: &dyn Control, arguments: Arguments<'_>) -> Result<Value, Refusal> {
    let source = match (
        arguments.long_text("metainfo")?,
        arguments.long_text("filename")?,
    ) {
        (Some(encoded), _) if !encoded.is_empty() => {
            let bytes = BASE64_MIME_PERMISSIVE.decode(encoded.as_bytes());
            let invalid = |_| Refusal::Invalid("metainfo: invalid Base64".to_owned());
            Source::of_file(bytes.map_err(invalid)?)?
        }
        (_, Some(text)) => link(text)?,
        _ => {
            return Err(Refusal::Invalid(
                "no filename or metainfo specified".to_owned(),
            ));
        }
    };
    let unwanted = arguments.files("files-unwanted")?.unwrap_or_default();
    let priorities = arguments.priorities()?.into_iter();
    let priorities = priorities
        .chain([(unwanted, Priority::Skip)])
        .flat_map(|(files, priority)| files.into_iter().map(move |file| (file, priority)));
    let labels = arguments.labels("labels")?.unwrap_or_default();
    let (category, labels) = labels::split(labels, None, &control.groups());
    let folder = arguments.text("download-dir")?;
    let folder = folder.filter(|folder| !folder.is_empty()).map(absolute);
    let new = NewTorrent {
        folder: folder.transpose()?.map(PathBuf::from),
        paused: arguments.bool("paused")?,
        select: arguments
            .files("files-wanted")?
            .filter(|files| !files.is_empty()),
        priorities: priorities.collect(),
        set: Patch {
            category: category.map(Some),
            labels: Some(labels.into_iter().collect()),
            sequential: arguments.bool("sequential_download")?,
            ..Patch::default()
        },
        ..NewTorrent::default()
    };
    let added = control.add(source, &new)?;
    let key = if added.is_present {
        "torrent-duplicate"
    } else {
        "torrent-added"
    };
    Ok(json!({ key: {
        "id": added.torrent.identity.number,
        "name": added.torrent.title,
        "hashString": HEXLOWER.encode(&short_hash_of(added.torrent.identity.info_hashes)),
    }}))
}

fn torrent_set(
    control: &dyn Control,
    torrents: &[Arc<TorrentSnapshot>],
    arguments: Arguments<'_>,
) -> Result<Value, Refusal> {
    if arguments
        .text("group")?
        .is_some_and(|group| !group.is_empty())
    {
        return Err(refused("group: there are no bandwidth groups"));
    }
    // A request may send back what a torrent shows.
    for (name, shown) in [
        ("bandwidthPriority", json!(0)),
        ("honorsSessionLimits", json!(true)),
    ] {
        if arguments.get(name).is_some_and(|given| *given != shown) {
            let reason = "torrents do not have this setting";
            return Err(Refusal::Forbidden(format!("{name}: {reason}")));
        }
    }
    let labels = arguments.labels("labels")?;
    let position = arguments.u32("queuePosition")?;
    let sequential = arguments.bool("sequential_download")?;
    let location = arguments.text("location")?.map(absolute).transpose()?;
    let (unwanted, wanted) = (
        arguments.files("files-unwanted")?,
        arguments.files("files-wanted")?,
    );
    let priorities = arguments.priorities()?;
    let groups = labels.is_some().then(|| control.groups());
    let mut changes = Vec::new();
    for torrent in selected(torrents, arguments)? {
        let mut patch = patch(torrent, arguments)?;
        if let (Some(labels), Some(groups)) = (labels.clone(), &groups) {
            let now = torrent.category.as_ref();
            let (category, labels) = labels::split(labels, now.map(String::as_str), groups);
            patch.category = (category.as_ref() != now).then_some(category);
            patch.labels = Some(labels.into_iter().collect());
        }
        patch.sequential = sequential;
        let mut commands: Vec<Command> = apply::set(patch).into_iter().collect();
        commands.extend(trackers(control, torrent.identity.number, arguments)?);
        commands.extend(position.map(|to| Command::Queue {
            to: QueueMove::To(to as usize),
        }));
        let wanted = wanted.iter().map(|files| (files, Priority::Normal));
        let changed = priorities
            .iter()
            .map(|(files, priority)| (files, *priority));
        let unwanted = unwanted.iter().map(|files| (files, Priority::Skip));
        let prioritize = |(files, priority): (&Vec<u32>, Priority)| Command::Prioritize {
            files: files.clone(),
            priority,
        };
        commands.extend(wanted.chain(changed).chain(unwanted).map(prioritize));
        commands.extend(location.as_ref().map(|folder| Command::Relocate {
            folder: folder.into(),
        }));
        changes.push((torrent.identity.number, commands));
    }
    apply::each(control, changes)?;
    Ok(json!({}))
}

/// Returns what a request changes of the goal and the rate limits of a torrent.
fn patch(torrent: &TorrentSnapshot, arguments: Arguments<'_>) -> Result<Patch, Refusal> {
    let mut patch = Patch::default();
    for (new, now, limit, is_limited) in [
        (
            &mut patch.max_down,
            torrent.rates().down,
            "downloadLimit",
            "downloadLimited",
        ),
        (
            &mut patch.max_up,
            torrent.rates().up,
            "uploadLimit",
            "uploadLimited",
        ),
    ] {
        let given = arguments.limit(limit, is_limited, now.map(NonZeroU32::get))?;
        let given = given.map(apply::rate).transpose()?;
        *new = given.filter(|given| *given != now);
    }
    let now = torrent.goal;
    let goals = GoalsInMinutes {
        ratio: goal(
            now.ratio,
            arguments.u32("seedRatioMode")?,
            arguments.ratio("seedRatioLimit")?,
        )?,
        time: None,
        idle: goal(
            now.idle.map(minutes),
            arguments.u32("seedIdleMode")?,
            arguments.u32("seedIdleLimit")?,
        )?,
    };
    goals.change(torrent, &mut patch);
    Ok(patch)
}

/// Returns a goal after a request with a mode (0: that of the client, 1: its own, 2: none) and a value. The value alone
/// changes a goal that applies.
fn goal<T: Copy + Default>(
    now: Target<T>,
    mode: Option<u32>,
    value: Option<T>,
) -> Result<Option<Target<T>>, Refusal> {
    let current = now.limit();
    Ok(match (mode, value) {
        (None, None) => None,
        (None, Some(value)) => current.map(|_| Target::At(value)),
        (Some(0), _) => Some(Target::Inherited),
        (Some(1), value) => Some(Target::At(value.or(current).unwrap_or_default())),
        (Some(2), _) => Some(Target::Never),
        (Some(_), _) => return Err(Refusal::Invalid("the mode must be 0, 1 or 2".to_owned())),
    })
}

/// Returns the change of a torrent's trackers, if there is one. They are numbered in the order in which a request sees them.
fn trackers(
    control: &dyn Control,
    torrent: usize,
    arguments: Arguments<'_>,
) -> Result<Option<Command>, Refusal> {
    let added = arguments.texts("trackerAdd")?;
    let removed = arguments.files("trackerRemove")?;
    let replaced = arguments.replacements("trackerReplace")?;
    let list = arguments.long_text("trackerList")?;
    if added.is_none() && removed.is_none() && replaced.is_none() && list.is_none() {
        return Ok(None);
    }
    let known = control.trackers(torrent);
    let url = |number: u32| {
        let tracker = known.get(number as usize);
        let unknown = || Refusal::Invalid(format!("the torrent has no tracker {number}"));
        tracker
            .map(|tracker| tracker.url.as_str())
            .ok_or_else(unknown)
    };
    let mut tiers = list.map_or_else(|| tiers(&known), Tiers::parse);
    for (number, new) in replaced.unwrap_or_default() {
        tiers.replace(url(number)?, &new);
    }
    for number in removed.unwrap_or_default() {
        tiers.remove(url(number)?);
    }
    for url in added.unwrap_or_default() {
        tiers.add(url);
    }
    let trackers = tiers.into_urls()?;
    Ok(Some(Command::SetTrackers { trackers }))
}

fn torrent_rename(
    control: &dyn Control,
    torrents: &[Arc<TorrentSnapshot>],
    arguments: Arguments<'_>,
) -> Result<Value, Refusal> {
    let selected = selected(torrents, arguments)?;
    let [torrent] = selected[..] else {
        return Err(Refusal::Invalid(
            "torrent-rename-path requires 1 torrent".to_owned(),
        ));
    };
    let (Some(path), Some(name)) = (arguments.text("path")?, arguments.text("name")?) else {
        return Err(Refusal::Invalid("path and name are required".to_owned()));
    };
    let name = file_name(name)?;
    let to = match path.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{name}"),
        None => name.clone(),
    };
    let from = path.to_owned();
    apply::one(
        control,
        torrent.identity.number,
        Command::Rename { from, to },
    )?;
    Ok(json!({ "path": path, "name": name, "id": torrent.identity.number }))
}

fn free_space(control: &dyn Control, arguments: Arguments<'_>) -> Result<Value, Refusal> {
    let Some(path) = arguments.text("path")? else {
        return Err(Refusal::Invalid("path: the folder is required".to_owned()));
    };
    let (free, total) = control.free_space(&absolute(path)?)?;
    Ok(json!({ "path": path, "size-bytes": free, "total_size": total }))
}
