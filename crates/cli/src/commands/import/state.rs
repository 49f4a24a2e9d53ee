//! Adds torrents to a state folder.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use hashlane_import::{Goal, Imported, Note, Priority, Source, Torrents};
use hashlane_metainfo::{File, FileKind, Names, PathComponent};
use hashlane_store::{Choices, Limits, Name, Place, Priorities, Store, Target, TorrentTotals};

use super::outcome::{Outcome, ratio};
use super::report::Report;
use crate::Env;
use crate::commands::configured::Configurable;
use crate::commands::ctl::{configured_state, state_folder};

/// The suffix of unfinished files of qBittorrent.
const QBITTORRENT: &str = ".!qB";

/// Number of torrents that are written together. The state folder is synced once for all of them.
const BATCH: usize = 500;

/// Adds the torrents that the state folder does not have. Each is reported after it is on the disk.
pub(super) fn add(
    env: &mut Env,
    state: Option<PathBuf>,
    all: &[Configurable],
    mut torrents: Torrents,
    report: &mut Report,
) -> anyhow::Result<()> {
    let state = match state {
        Some(state) => Some(state),
        None => configured_state(env, all)?,
    };
    let mut store = Store::open(state_folder(env, state.as_deref())?)?;
    for problem in store.problems() {
        env.error(&format!("warning: {problem}"));
    }
    let mut batch: Vec<Imported> = Vec::new();
    let mut names = BTreeSet::new();
    while let Some(torrent) = torrents.next() {
        report.show_remaining(torrents.len());
        let torrent = match torrent {
            Ok(torrent) => torrent,
            Err(failure) => {
                report.of_failure(env, &failure)?;
                continue;
            }
        };
        let info_hashes = torrent.source.info_hashes();
        if store.find(info_hashes).is_some() || !names.insert(Name::from(info_hashes)) {
            report.torrent(env, &torrent, &notes(&torrent), Outcome::Present)?;
            continue;
        }
        batch.push(torrent);
        if batch.len() == BATCH {
            write(env, &mut store, &mut batch, report)?;
        }
    }
    write(env, &mut store, &mut batch, report)
}

/// Writes the torrents of a batch and their totals, and reports them.
fn write(
    env: &mut Env,
    store: &mut Store,
    batch: &mut Vec<Imported>,
    report: &mut Report,
) -> anyhow::Result<()> {
    // The order of the session, in the queue after the torrents that are present.
    let last = store.entries().last().and_then(|it| it.choices.order);
    let first = last.map_or(0, |last| last.saturating_add(1));
    let chosen = |imported: &Imported, number: i64| Choices {
        order: Some(first.saturating_add(number)),
        ..choices(imported).0
    };
    let numbered = batch.iter().zip(0..);
    let with_metadata = numbered.filter_map(|(imported, number)| match &imported.source {
        Source::Torrent(torrent) => Some((torrent.clone(), chosen(imported, number))),
        Source::Magnet(_) => None,
    });
    // If one of them cannot be written, none is. Then each is written alone.
    let are_written = store.put_all(with_metadata.collect()).is_ok();
    let mut written = Vec::new();
    for (imported, number) in batch.drain(..).zip(0..) {
        let choices = chosen(&imported, number);
        let put = match &imported.source {
            Source::Torrent(_) if are_written => Ok(()),
            Source::Torrent(torrent) => store.put(torrent.clone(), choices).map(drop),
            Source::Magnet(magnet) => store.put_magnet((**magnet).clone(), choices).map(drop),
        };
        if let Err(error) = put {
            report.failure(
                env,
                &imported.file.display().to_string(),
                &error.to_string(),
            )?;
            continue;
        }
        let name = Name::from(imported.source.info_hashes());
        let totals = store.totals_mut().torrents.entry(name).or_default();
        *totals = totals_of(&imported, totals.added);
        written.push(imported);
    }
    store.save_totals()?;
    for imported in written {
        report.torrent(env, &imported, &notes(&imported), Outcome::New)?;
    }
    Ok(())
}

/// Returns the statistics of a torrent. `now` is the time of its addition if the program does not know it.
fn totals_of(imported: &Imported, now: u64) -> TorrentTotals {
    let statistics = imported.statistics;
    TorrentTotals {
        sent: statistics.sent_bytes,
        received: statistics.received_bytes,
        seeding_seconds: statistics.seeding_seconds.unwrap_or(0),
        added: statistics.added.unwrap_or(now),
        completed: statistics.completed,
    }
}

/// Returns what could not be carried over: from the session, and into the state folder.
pub(super) fn notes(imported: &Imported) -> Vec<String> {
    let of_session = imported.notes.iter().map(ToString::to_string);
    of_session.chain(choices(imported).1).collect()
}

/// Returns what a person chose for a torrent, and notes about what the state folder cannot hold.
fn choices(imported: &Imported) -> (Choices, Vec<String>) {
    let mut notes = Vec::new();
    let named = named(imported);
    let mut choices = match &named {
        Ok((folder, names)) => Choices {
            names: names.clone(),
            ..Choices::at(Place::Folder(folder.clone()))
        },
        Err(_) => Choices::at(Place::Content(imported.content.clone())),
    };
    choices.category.clone_from(&imported.category);
    choices.labels = imported.labels.iter().cloned().collect();
    choices.sequential = imported.is_sequential;
    choices.paused = imported.is_paused;
    choices.limits = Limits {
        down: limit(imported.limits.download),
        up: limit(imported.limits.upload),
    };
    choices.priorities = Priorities {
        skip: with_priority(imported, Priority::Skip),
        low: with_priority(imported, Priority::Low),
        high: with_priority(imported, Priority::High),
    };
    choices.goal = hashlane_store::Goal {
        ratio: target(imported.ratio_goal).map(ratio),
        time: target(imported.seeding_time_goal).map(Duration::from_secs),
        idle: target(imported.idle_time_goal).map(Duration::from_secs),
    };
    choices.title.clone_from(&imported.name);
    if let Err(reason) = &named {
        notes.push(format!(
            "the content has names that cannot be carried over ({reason}): it is served, and what is missing is not \
             downloaded"
        ));
        // Otherwise the files would be missing under their own names.
        choices.paused |= !imported.renamed.is_empty();
    }
    // Unfinished files would be downloaded again while the suffix is there.
    let has_suffix = |note: &Note| {
        matches!(
            note,
            Note::Suffix {
                suffix: QBITTORRENT
            }
        )
    };
    choices.paused |= imported.notes.iter().any(has_suffix);
    (choices, notes)
}

fn target(goal: Goal) -> Target<u64> {
    match goal {
        Goal::Inherited => Target::Inherited,
        Goal::At(value) => Target::At(value),
        Goal::Unlimited => Target::Never,
    }
}

/// Returns the folder for the content, and the names of the content in it; or the reason why it can have no such names.
fn named(imported: &Imported) -> Result<(PathBuf, Names), String> {
    let content = &imported.content;
    let Source::Torrent(torrent) = &imported.source else {
        return Ok((content.clone(), Names::default()));
    };
    let unnamed = || "the content is the root folder".to_owned();
    let not_unicode = || "a name is not UTF-8".to_owned();
    let (folder, top) = if imported.has_own_folder {
        let (folder, top) = content
            .parent()
            .zip(content.file_name())
            .ok_or_else(unnamed)?;
        if torrent.name().to_os_str().is_ok_and(|name| name == top) && imported.renamed.is_empty() {
            return Ok((folder.to_owned(), Names::default()));
        }
        (folder, Some(top.to_str().ok_or_else(not_unicode)?))
    } else {
        (content.as_path(), None)
    };
    let files = torrent.files().iter();
    let files = files.filter(|file| file.kind() != FileKind::Padding);
    let path = |(number, file): (usize, File<'_>)| -> Result<String, String> {
        if torrent.is_single_file() {
            return top.map(str::to_owned).ok_or_else(unnamed);
        }
        let renamed = imported.renamed.get(&number);
        let parts: Vec<&[u8]> = match renamed {
            Some(path) => path.names().collect(),
            None => file
                .path()
                .components()
                .map(PathComponent::as_bytes)
                .collect(),
        };
        let below = String::from_utf8(parts.join(&b'/')).map_err(|_| not_unicode())?;
        let below = match renamed {
            Some(_) => below.strip_suffix(QBITTORRENT).unwrap_or(&below).to_owned(),
            None => below,
        };
        Ok(top.map_or_else(|| below.clone(), |top| format!("{top}/{below}")))
    };
    let paths: Vec<String> = files.enumerate().map(path).collect::<Result<_, _>>()?;
    let names = Names::of_paths(torrent, &paths).map_err(|error| error.to_string())?;
    Ok((folder.to_owned(), names))
}

/// Returns a limit of the state folder, which is at most 4 GiB per second.
fn limit(bytes: Option<u64>) -> Option<NonZeroU32> {
    NonZeroU32::new(u32::try_from(bytes?).unwrap_or(u32::MAX))
}

fn with_priority(imported: &Imported, priority: Priority) -> BTreeSet<u32> {
    let numbered = (0..).zip(&imported.priorities);
    let numbered = numbered.filter(|(_, other)| **other == priority);
    numbered.map(|(number, _)| number).collect()
}
