//! Adds torrents to a state folder.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hashlane_api::{Place, Priority};
use hashlane_import::{Category, Imported, Source, Start, Torrents};
use hashlane_metainfo::{File, FileKind, Names, PathComponent, Torrent};
use hashlane_store::{Choices, Name, Priorities, Store, TorrentTotals, names_in};

use super::outcome::Outcome;
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
    let mut store = Store::open(state_of(env, state, all)?)?;
    for problem in store.problems() {
        env.error(&format!("warning: {problem}"));
    }
    report.categories(env, torrents.categories())?;
    add_categories(&mut store, torrents.categories())?;
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

/// Returns the state folder: the given one, or that of the daemon.
fn state_of(env: &Env, state: Option<PathBuf>, all: &[Configurable]) -> anyhow::Result<PathBuf> {
    let state = match state {
        Some(state) => Some(state),
        None => configured_state(env, all)?,
    };
    state_folder(env, state.as_deref())
}

/// The torrents of a state folder.
pub(super) struct Present(BTreeSet<Name>);

/// Returns the torrents of a state folder, which is only read.
pub(super) fn present(
    env: &Env,
    state: Option<PathBuf>,
    all: &[Configurable],
) -> anyhow::Result<Present> {
    Ok(Present(names_in(&state_of(env, state, all)?)?))
}

impl Present {
    /// Returns what an import would do with a torrent.
    pub(super) fn of(&self, torrent: &Imported) -> Outcome {
        let info_hashes = torrent.source.info_hashes();
        let names = [
            info_hashes.v1().map(Name::V1),
            info_hashes.v2().map(Name::V2),
        ];
        if names.iter().flatten().any(|name| self.0.contains(name)) {
            Outcome::Present
        } else {
            Outcome::New
        }
    }
}

/// Adds categories with their folders and goals. Those of a category that the state folder has stay as they are.
fn add_categories(store: &mut Store, categories: &[Category]) -> anyhow::Result<()> {
    let mut groups = store.groups().clone();
    for category in categories {
        let known = groups.categories.entry(category.name.clone()).or_default();
        if known.folder.is_none() {
            known.folder.clone_from(&category.folder);
        }
        if known.goal.is_inherited() {
            known.goal = category.goal;
        }
    }
    if groups != *store.groups() {
        store.set_groups(groups)?;
    }
    Ok(())
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
        was_present: statistics.had_content,
        ..TorrentTotals::default()
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
        Ok((folder, names, before)) => Choices {
            names: names.clone(),
            names_before: before.clone(),
            ..Choices::at(Place::Folder(folder.clone()))
        },
        Err(_) => Choices::at(Place::Content(imported.content.clone())),
    };
    choices.category.clone_from(&imported.category);
    choices.labels = imported.labels.iter().cloned().collect();
    choices.sequential = imported.is_sequential;
    choices.super_seeding = imported.is_super_seeding;
    choices.paused = imported.start == Start::Paused;
    choices.forced = imported.start == Start::Forced;
    choices.limits = imported.rates;
    choices.priorities = Priorities {
        skip: with_priority(imported, Priority::Skip),
        low: with_priority(imported, Priority::Low),
        high: with_priority(imported, Priority::High),
    };
    choices.goal = imported.goal;
    choices.title.clone_from(&imported.name);
    if let Err(reason) = &named {
        notes.push(format!(
            "the content has names that cannot be carried over ({reason}): it is served, and what is missing is not \
             downloaded"
        ));
        // Otherwise the files would be missing under their own names.
        choices.paused |= !imported.renamed.is_empty();
    }
    if choices.names_before.is_some() {
        notes.push(format!(
            "unfinished files end in {QBITTORRENT} on the disk: the daemon removes the suffix when it adds the torrent"
        ));
    }
    if selects_nothing(imported) {
        notes.push(
            "no file is selected: it is paused, because a download has at least one file"
                .to_owned(),
        );
        choices.paused = true;
    }
    (choices, notes)
}

/// Returns `true` if the person deselected every file.
fn selects_nothing(imported: &Imported) -> bool {
    let mut priorities = imported.priorities.iter();
    !imported.priorities.is_empty() && priorities.all(|priority| *priority == Priority::Skip)
}

/// Returns the folder for the content, the names of the content in it, and its present names if unfinished files have a suffix
/// that they will lose; or the reason why it can have no such names.
fn named(imported: &Imported) -> Result<(PathBuf, Names, Option<Names>), String> {
    let content = &imported.content;
    let Source::Torrent(torrent) = &imported.source else {
        return Ok((content.clone(), Names::default(), None));
    };
    let unnamed = || "the content is the root folder".to_owned();
    let not_unicode = || "a name is not UTF-8".to_owned();
    let (folder, top) = if imported.has_own_folder {
        let (folder, top) = content
            .parent()
            .zip(content.file_name())
            .ok_or_else(unnamed)?;
        if torrent.name().to_os_str().is_ok_and(|name| name == top) && imported.renamed.is_empty() {
            return Ok((folder.to_owned(), Names::default(), None));
        }
        (folder, Some(top.to_str().ok_or_else(not_unicode)?))
    } else {
        (content.as_path(), None)
    };
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
        Ok(top.map_or_else(|| below.clone(), |top| format!("{top}/{below}")))
    };
    let paths: Vec<String> = files_of(torrent)
        .enumerate()
        .map(path)
        .collect::<Result<_, _>>()?;
    let names =
        |paths: &[String]| Names::of_paths(torrent, paths).map_err(|error| error.to_string());
    let present = names(&paths)?;
    // A torrent can have the suffix in a name of its own.
    let is_own = files_of(torrent).map(|file| {
        let of_file = file.path().components().last();
        let name = if torrent.is_single_file() {
            Some(torrent.name())
        } else {
            of_file
        };
        name.is_some_and(|name| name.as_bytes().ends_with(QBITTORRENT.as_bytes()))
    });
    let finished = paths.iter().zip(is_own).map(|(path, is_own)| {
        let stripped = path.strip_suffix(QBITTORRENT).filter(|_| !is_own);
        stripped.unwrap_or(path).to_owned()
    });
    let finished = names(&finished.collect::<Vec<_>>())?;
    if finished == present {
        return Ok((folder.to_owned(), present, None));
    }
    Ok((folder.to_owned(), finished, Some(present)))
}

/// Returns the files except padding, in order.
fn files_of(torrent: &Torrent) -> impl Iterator<Item = File<'_>> {
    let files = torrent.files().iter();
    files.filter(|file| file.kind() != FileKind::Padding)
}

/// Returns a limit of the state folder, which is at most 4 GiB per second.
fn with_priority(imported: &Imported, priority: Priority) -> BTreeSet<u32> {
    let numbered = (0..).zip(&imported.priorities);
    let numbered = numbered.filter(|(_, other)| **other == priority);
    numbered.map(|(number, _)| number).collect()
}
