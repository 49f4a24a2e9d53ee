//! What a session in memory leaves to another process, which continues from it.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

use data_encoding::BASE64;
use hashlane_api::Place;
use hashlane_client::{
    Activity, AddOptions, Mode, Outcome, Over, Snapshot, Source, TorrentError, TorrentHandle,
};
use hashlane_metainfo::{Magnet, Torrent};
use hashlane_store::{Choices, Groups, Metainfo, Name, Session as StoredSession, Store, Totals};
use serde::{Deserialize, Serialize};

use super::{Other, Removing, Request, Start, Torrents, WatchedFile};
use crate::config::Given;
use crate::error::Error;
use crate::goal::tops;

/// The torrents of a session in memory, with what was chosen and counted, for another process that continues from this one.
#[derive(Default, Serialize, Deserialize)]
pub struct Memory {
    /// In the order of their numbers.
    torrents: Vec<Remembered>,
    /// The number that the next torrent would have had.
    next_number: usize,
    totals: Totals,
    groups: Groups,
    session: StoredSession,
    /// The positions of what a person gave and is not read again.
    given: BTreeSet<usize>,
    /// The files of watched folders that were added and stay.
    watched: Vec<(OsString, WatchedFile)>,
}

/// Without fields: torrents have tokens and passkeys.
impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

/// A torrent of another process.
#[derive(Serialize, Deserialize)]
struct Remembered {
    number: usize,
    kind: Kind,
    request: Request,
    choices: Choices,
    metainfo: Option<Origin>,
    /// The end of a torrent that is over, or that a person has ended.
    over: Option<Over>,
    /// The time of downloading, which no store keeps.
    downloading_seconds: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    /// The store had it.
    Kept,
    /// Only the client had it.
    Other,
    /// It was removed, and its content is to be deleted.
    Removing,
}

/// The metadata of a torrent, or the link to it.
#[derive(Serialize, Deserialize)]
enum Origin {
    /// A .torrent file in Base64.
    Torrent(String),
    Magnet(String),
}

impl Origin {
    fn of(metainfo: &Metainfo) -> Result<Self, Error> {
        Ok(match metainfo {
            Metainfo::File(path) => Self::Torrent(BASE64.encode(&std::fs::read(path)?)),
            Metainfo::Torrent(torrent) => Self::Torrent(BASE64.encode(torrent.bytes())),
            Metainfo::Magnet(magnet) => Self::Magnet(magnet.to_string()),
        })
    }

    fn metainfo(&self) -> Result<Metainfo, Error> {
        let damaged = |error: &dyn fmt::Display| Error::Memory(error.to_string());
        Ok(match self {
            Self::Torrent(text) => {
                let bytes = BASE64.decode(text.as_bytes());
                let bytes = bytes.map_err(|error| damaged(&error))?;
                let torrent = Torrent::parse(bytes).map_err(|error| damaged(&error))?;
                Metainfo::Torrent(torrent)
            }
            Self::Magnet(text) => {
                let magnet: Magnet = text.parse().map_err(|error| damaged(&error))?;
                Metainfo::Magnet(Box::new(magnet))
            }
        })
    }
}

impl Memory {
    /// Returns `true` if the other process has read what a person gave at this position, or does not need it any more.
    pub fn has(&self, position: usize) -> bool {
        self.given.contains(&position)
    }

    /// Returns the least number that the other process has not used.
    pub(crate) fn next_number(&self) -> usize {
        self.next_number
    }

    /// Returns the torrents that the other process kept.
    pub(crate) fn store(&self) -> Result<Store, Error> {
        let mut store = Store::in_memory();
        for torrent in &self.torrents {
            if let (Kind::Kept, Some(origin)) = (torrent.kind, &torrent.metainfo) {
                let choices = torrent.choices.clone();
                match origin.metainfo()? {
                    Metainfo::Torrent(torrent) => store.put(torrent, choices)?,
                    Metainfo::Magnet(magnet) => store.put_magnet(*magnet, choices)?,
                    Metainfo::File(_) => continue,
                };
            }
        }
        *store.totals_mut() = self.totals.clone();
        store.set_groups(self.groups.clone())?;
        store.set_session(self.session)?;
        Ok(store)
    }
}

impl Torrents {
    /// Returns what another process continues from.
    #[expect(clippy::too_many_lines, reason = "one kind of torrent after the other")]
    pub(crate) fn memory(&mut self) -> Result<Memory, Error> {
        for name in self.links() {
            self.keep_metainfo(name)?;
        }
        self.count();
        let all = self.all();
        let mut torrents = Vec::new();
        let mut given = self.given.clone();
        let mut unread = HashSet::new();
        for entry in self.store.iter() {
            let Some(running) = self.running.get(&entry.name()) else {
                continue;
            };
            given.extend(running.request.position);
            torrents.push(Remembered {
                number: running.handle.number(),
                kind: Kind::Kept,
                request: running.request.clone(),
                choices: absolute(&entry.choices)?,
                metainfo: Some(Origin::of(&entry.metainfo)?),
                over: over(&running.handle, &all, running.is_ending),
                downloading_seconds: running
                    .snapshot(&all)
                    .map_or(0.0, |it| it.downloading_seconds.seconds()),
            });
        }
        for (number, other) in &self.others {
            let over = over(&other.handle, &all, other.is_ending);
            if over.is_some() {
                given.extend(other.request.position);
            } else {
                unread.insert(*number);
            }
            torrents.push(Remembered {
                number: *number,
                kind: Kind::Other,
                request: other.request.clone(),
                choices: absolute(&other.choices)?,
                metainfo: other.metainfo.as_ref().map(Origin::of).transpose()?,
                over,
                downloading_seconds: 0.0,
            });
        }
        for (number, removing) in &self.removing {
            torrents.push(Remembered {
                number: *number,
                kind: Kind::Removing,
                request: Request {
                    label: removing.label.clone(),
                    ..Request::default()
                },
                choices: absolute(&removing.choices)?,
                metainfo: Some(Origin::of(&removing.metainfo)?),
                over: None,
                downloading_seconds: 0.0,
            });
        }
        torrents.sort_by_key(|torrent| torrent.number);
        let last = torrents.last().map_or(0, |torrent| torrent.number + 1);
        let watched = self.watched.iter();
        // A file whose torrent has not been read is added again.
        let watched = watched.filter(|(_, file)| !unread.contains(&file.number));
        Ok(Memory {
            torrents,
            next_number: last.max(all.next_number).max(self.first_number),
            totals: self.store.totals().clone(),
            groups: self.store.groups().clone(),
            session: *self.store.session(),
            given,
            watched: watched
                .map(|(path, file)| (path.as_os_str().to_owned(), *file))
                .collect(),
        })
    }

    /// Continues with the torrents of another process, and adds what a person gives. The store has the torrents already.
    pub(crate) fn continue_with(&mut self, memory: Memory, given: Vec<Given>) -> Result<(), Error> {
        let watched = memory.watched.into_iter();
        self.watched = watched
            .map(|(path, file)| (PathBuf::from(path), file))
            .collect();
        let mut given: Vec<Option<Given>> = given.into_iter().map(Some).collect();
        for torrent in memory.torrents {
            match torrent.kind {
                Kind::Kept => self.start_kept(torrent)?,
                Kind::Other if torrent.over.is_some() => self.add_over(torrent)?,
                Kind::Other => {
                    let position = torrent.request.position;
                    let is_it = |it: &&mut Option<Given>| {
                        let given = it.as_ref();
                        position.is_some() && given.is_some_and(|given| given.position == position)
                    };
                    if let Some(given) = given.iter_mut().find(is_it).and_then(Option::take) {
                        let start = Start {
                            request: torrent.request,
                            is_known: true,
                            number: Some(torrent.number),
                            ..Start::default()
                        };
                        self.read(given.source, torrent.choices, start);
                    }
                }
                Kind::Removing => self.continue_removal(torrent)?,
            }
        }
        (self.given, self.first_number) = (memory.given, memory.next_number);
        for given in given.into_iter().flatten() {
            self.give(given, true);
        }
        Ok(())
    }

    fn start_kept(&mut self, torrent: Remembered) -> Result<(), Error> {
        let Some(origin) = &torrent.metainfo else {
            return Ok(());
        };
        let name = match origin.metainfo()? {
            Metainfo::Torrent(torrent) => Name::from(torrent.info_hashes()),
            Metainfo::Magnet(magnet) => Name::from(magnet.info_hashes),
            Metainfo::File(_) => return Ok(()),
        };
        self.settle(name)?;
        let start = Start {
            request: torrent.request,
            is_known: true,
            number: Some(torrent.number),
            over: torrent.over,
            downloading_seconds: torrent.downloading_seconds,
        };
        self.start(name, start)?;
        if let Some(to) = torrent.choices.move_to
            && self.is_only_served(name)
            && self.relocate(name, &to).is_err()
        {
            self.relocated(name, None)?;
        }
        Ok(())
    }

    /// Records the place of content that the other process has moved, and that is only served. A download looks for its content at
    /// both places.
    fn settle(&mut self, name: Name) -> Result<(), Error> {
        let (Some(entry), Some((names, metainfo))) =
            (self.store.get(name), self.names_of_content(name))
        else {
            return Ok(());
        };
        let choices = &entry.choices;
        if let (Some(to), true) = (&choices.move_to, self.is_only_served(name)) {
            let is_in =
                |folder: &Path| tops(folder, &names, &metainfo).iter().any(|it| it.exists());
            if is_in(to) && !is_in(choices.place.path()) {
                let choices = Choices {
                    place: Place::Folder(to.clone()),
                    move_to: None,
                    ..choices.clone()
                };
                self.store.update(name, choices)?;
            }
        }
        Ok(())
    }

    /// Returns `true` if content is moved only by command, and not after a download.
    fn is_only_served(&self, name: Name) -> bool {
        let entry = self.store.get(name);
        let is_due = entry.is_some_and(|entry| entry.choices.move_to.is_some());
        is_due && matches!(self.config.mode, Some(Mode::Seed(_)))
    }

    /// Adds a torrent that is over, and that the store does not have.
    fn add_over(&mut self, torrent: Remembered) -> Result<(), Error> {
        let (Some(over), Some(control)) = (torrent.over, &self.control) else {
            return Ok(());
        };
        let options = AddOptions {
            label: torrent.request.label.clone(),
            mode: self.config.mode.clone(),
            is_known: true,
            number: Some(torrent.number),
            ..AddOptions::default()
        };
        let handle = control.add(Source::Over(Box::new(over)), options)?;
        let other = Other {
            handle,
            request: torrent.request,
            choices: torrent.choices,
            metainfo: torrent
                .metainfo
                .as_ref()
                .map(Origin::metainfo)
                .transpose()?,
            is_ending: false,
            was_over: true,
        };
        self.others.insert(torrent.number, other);
        Ok(())
    }

    /// Verifies the content of a torrent that was removed, to delete what belongs to it.
    fn continue_removal(&mut self, torrent: Remembered) -> Result<(), Error> {
        let (Some(origin), Some(control)) = (&torrent.metainfo, &self.control) else {
            return Ok(());
        };
        let metainfo = origin.metainfo()?;
        let Metainfo::Torrent(content) = &metainfo else {
            // The content is not known.
            return Ok(());
        };
        if self.store.find(content.info_hashes()).is_some() {
            // It was added again, and has the content.
            return Ok(());
        }
        let options = AddOptions {
            number: Some(torrent.number),
            ..Self::to_delete(torrent.request.label.clone(), &torrent.choices)
        };
        let handle = control.add(content.clone().into(), options)?;
        let removing = Removing {
            label: torrent.request.label,
            handle,
            metainfo,
            choices: torrent.choices,
        };
        self.removing.insert(torrent.number, removing);
        Ok(())
    }
}

/// Returns the choices with absolute paths, whatever folder another process starts in.
fn absolute(choices: &Choices) -> Result<Choices, Error> {
    Ok(Choices {
        place: match &choices.place {
            Place::Folder(folder) => Place::Folder(path::absolute(folder)?),
            Place::Content(content) => Place::Content(path::absolute(content)?),
        },
        move_to: choices.move_to.as_ref().map(path::absolute).transpose()?,
        ..choices.clone()
    })
}

/// Returns the end of a torrent that is over, or that a person has ended while the client did not respond.
fn over(handle: &TorrentHandle, all: &Snapshot, is_ending: bool) -> Option<Over> {
    let known = handle.find(all).cloned();
    let mut snapshot = Arc::unwrap_or_clone(known.unwrap_or_else(|| handle.snapshot()));
    if let Some(outcome) = snapshot.outcome() {
        return Some(Over {
            snapshot,
            outcome,
            is_reported: true,
        });
    }
    if !is_ending {
        return None;
    }
    let is_in_session = matches!(snapshot.activity, Activity::Serving | Activity::Paused);
    let outcome = match snapshot.is_complete {
        true => Outcome::Complete,
        false if is_in_session && !snapshot.is_download => Outcome::Incomplete,
        false => Outcome::Failed,
    };
    (snapshot.activity, snapshot.error) = match outcome {
        Outcome::Failed => (Activity::Failed, Some(TorrentError::Ended.to_string())),
        Outcome::Complete | Outcome::Incomplete => (Activity::Ended, None),
    };
    Some(Over {
        snapshot,
        outcome,
        is_reported: false,
    })
}
