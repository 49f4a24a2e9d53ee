//! Torrents that a person gives at the start, or that lie in a watched folder: their metadata is read or fetched later.
//!
//! The client reads it, and the store gets the torrent as soon as it has been read. A torrent that cannot be read stays one of the
//! client alone.

use hashlane_api::{Command, Content, Place, Refusal};
use hashlane_client::{
    Activity, AddOptions, InfoHashes, Mode, Remove, Rights, Seed, SeedLimits, Source,
    TorrentHandle, TorrentSnapshot,
};
use hashlane_metainfo::Torrent;
use hashlane_store::{Choices, Entry, Metainfo, Name, StoreError, TorrentTotals};

use super::{Left, Other, Removing, Request, Running, Start, Torrents};
use crate::config::Given;
use crate::goal::{goal, naming};

impl Torrents {
    /// Returns what is chosen for a torrent at this place if a person chooses no more.
    pub(crate) fn usual_choices(&self, place: Place) -> Choices {
        let choices = Choices::at(place);
        match &self.config.mode {
            Some(Mode::Download(download)) => Choices {
                move_to: download.move_to.clone(),
                sequential: download.sequential,
                super_seeding: download.super_seeding,
                ..choices
            },
            Some(Mode::Seed(seed)) => Choices {
                super_seeding: seed.super_seeding,
                ..choices
            },
            Some(Mode::Metadata { .. }) | None => choices,
        }
    }

    /// Adds what a person gave. Returns the number of the torrent, unless the client takes none, which it reports.
    pub(crate) fn give(&mut self, given: Given, is_known: bool) -> Option<usize> {
        let Given {
            position,
            label,
            source,
            content,
            map,
        } = given;
        let place = match (content, &self.config.folder) {
            (Some(content), _) => Place::Content(content),
            (None, folder) => Place::Folder(folder.clone().unwrap_or_default()),
        };
        let choices = Choices {
            map,
            ..self.usual_choices(place)
        };
        let start = Start {
            request: Request {
                label: Some(label),
                position,
                has_chosen_files: false,
            },
            is_known,
            ..Start::default()
        };
        self.read(source, choices, start)
    }

    /// Adds a torrent with these choices, whose metadata may be read or fetched later. Returns its number, as [`Self::give`] does.
    pub(super) fn read(&mut self, source: Source, choices: Choices, start: Start) -> Option<usize> {
        let info_hashes = match &source {
            Source::Torrent(torrent) => Some(torrent.info_hashes()),
            Source::Magnet(magnet) => Some(magnet.info_hashes),
            _ => None,
        };
        if let Some(info_hashes) = info_hashes {
            self.set_aside_if_over(info_hashes);
        }
        // The client refuses a torrent that it has, with the reason.
        let is_new = info_hashes.is_some_and(|it| self.store.find(it).is_none());
        let name = match source {
            Source::Torrent(torrent) if is_new => self.put_given(torrent, choices).ok()?,
            Source::Magnet(magnet) if is_new => {
                self.store.put_magnet(*magnet, choices).ok()?.name()
            }
            source => return self.read_later(source, choices, start),
        };
        if self.start(name, start).is_err() {
            let _ = self.store.remove(name);
        }
        self.number(name)
    }

    /// Adds a torrent whose metadata the client reads.
    fn read_later(&mut self, source: Source, choices: Choices, start: Start) -> Option<usize> {
        let Start {
            request,
            is_known,
            number,
            ..
        } = start;
        let totals = TorrentTotals::default();
        let goal = goal(
            &choices,
            request.has_chosen_files,
            self.session_goal(),
            &totals,
            false,
            &self.config,
            None,
        );
        let options = AddOptions {
            label: request.label.clone(),
            mode: Some(goal),
            is_paused: choices.paused,
            is_known,
            number,
            ..AddOptions::default()
        };
        let handle = self.control.as_ref()?.add(source, options).ok()?;
        let number = handle.number();
        let other = Other {
            handle,
            request,
            choices,
            metainfo: None,
            is_ending: false,
            was_over: false,
        };
        self.others.insert(number, other);
        Some(number)
    }

    fn put_given(&mut self, torrent: Torrent, mut choices: Choices) -> Result<Name, StoreError> {
        if let Ok(names) = naming(&choices).of(&torrent) {
            choices.names = names;
        }
        self.store.put(torrent, choices).map(Entry::name)
    }

    /// Adds a torrent that the client has read to the store, unless the store has it.
    pub(crate) fn keep_given(
        &mut self,
        number: usize,
        metainfo: &Torrent,
    ) -> Result<(), StoreError> {
        let other = self.others.get(&number);
        let Some(other) = other.filter(|other| other.metainfo.is_none()) else {
            return Ok(());
        };
        let choices = other.choices.clone();
        self.set_aside_if_over(metainfo.info_hashes());
        if self.store.find(metainfo.info_hashes()).is_some() {
            // The client refuses a torrent that it has.
            return Ok(());
        }
        let is_paused = choices.paused;
        let name = self.put_given(metainfo.clone(), choices)?;
        if let Some(other) = self.others.remove(&number) {
            self.names.insert(number, name);
            let mut running = Running::new(other.handle, other.request, self.kept_totals(name));
            (running.is_started, running.has_metainfo) = (true, true);
            (running.is_paused, running.is_ending) = (is_paused, other.is_ending);
            self.running.insert(name, running);
        }
        Ok(())
    }

    /// Takes a torrent that is over out of the store, so that it can be added again. The client still has it.
    pub(crate) fn set_aside_if_over(&mut self, info_hashes: InfoHashes) {
        let name = self.store.find(info_hashes).map(Entry::name);
        let all = self.all();
        let is_over = |it: &TorrentSnapshot| it.activity.is_over();
        let Some(name) = name.filter(|name| self.find(*name, &all).is_some_and(|it| is_over(it)))
        else {
            return;
        };
        let Some(entry) = self.store.get(name).cloned() else {
            return;
        };
        if self.config.mode.is_none() || self.store.remove(name).is_err() {
            return;
        }
        if let Some(running) = self.running.remove(&name) {
            let number = running.handle.number();
            self.names.remove(&number);
            let other = Other {
                handle: running.handle,
                request: running.request,
                choices: entry.choices,
                metainfo: Some(entry.metainfo),
                is_ending: false,
                was_over: running.was_over,
            };
            self.others.insert(number, other);
        }
    }

    /// Returns `true` if the torrent with this number has failed.
    pub(crate) fn has_failed(&self, number: usize) -> bool {
        let handle = match self.names.get(&number) {
            Some(name) => self.handle(*name),
            None => self.others.get(&number).map(|other| &other.handle),
        };
        handle.is_some_and(|handle| handle.snapshot().activity == Activity::Failed)
    }

    /// Does what a command asks of a torrent that the store does not have. Without `rights`, everything is allowed.
    pub(crate) fn apply_to_other(
        &mut self,
        number: usize,
        command: &Command,
        rights: Option<&Rights>,
    ) -> Result<(), Refusal> {
        self.check_running().map_err(Refusal::Unavailable)?;
        let Some(other) = self.others.get_mut(&number) else {
            return Err(Refusal::Absent);
        };
        match command {
            Command::End => {
                other.handle.end()?;
                other.is_ending = true;
            }
            Command::Pause => {
                other.handle.pause()?;
                other.choices.paused = true;
            }
            Command::Resume { .. } => {
                other.handle.resume()?;
                other.choices.paused = false;
            }
            Command::Remove { content } => {
                if let (Content::Delete, Some(rights)) = (*content, rights) {
                    let choices = other.choices.clone();
                    self.check_deletion(&choices, rights)?;
                }
                if let Some(other) = self.others.remove(&number) {
                    self.given.extend(other.request.position);
                    let left = Left {
                        label: other.request.label,
                        metainfo: other.metainfo,
                        choices: other.choices,
                        was_over: other.was_over,
                    };
                    let left = self.leave(other.handle, left, (*content).into());
                    return left.map_err(Refusal::Unavailable);
                }
            }
            _ => {
                let reason = "the .torrent file has not been read, or the torrent was added again";
                return Err(Refusal::Conflict(reason.into()));
            }
        }
        Ok(())
    }

    /// Removes a torrent from the client. What belongs to a torrent that was over in another process is not known: its content is
    /// verified before it is deleted.
    ///
    /// # Errors
    /// The client has ended, and does not delete the content.
    pub(super) fn leave(
        &mut self,
        handle: TorrentHandle,
        left: Left,
        content: Remove,
    ) -> Result<(), String> {
        let number = handle.number();
        self.names.remove(&number);
        let Left {
            label,
            metainfo,
            choices,
            was_over,
        } = left;
        let ending = "the session is ending, and the content is not deleted";
        let handle = match &metainfo {
            Some(Metainfo::Torrent(torrent)) if was_over && content == Remove::DeleteContent => {
                let options = Self::to_delete(label.clone(), &choices);
                handle.restart(torrent.clone().into(), options).ok()
            }
            _ => handle.remove(content).ok().map(|()| handle),
        };
        match (content, handle, metainfo) {
            (Remove::DeleteContent, Some(handle), Some(metainfo)) => {
                let removing = Removing {
                    label,
                    handle,
                    metainfo,
                    choices,
                };
                self.removing.insert(number, removing);
                Ok(())
            }
            (Remove::DeleteContent, None, _) => Err(ending.to_owned()),
            // A client that has ended has no torrent.
            _ => Ok(()),
        }
    }

    /// Returns the options of a torrent whose content is verified before it is deleted.
    pub(super) fn to_delete(label: Option<String>, choices: &Choices) -> AddOptions {
        let seed = Seed {
            place: choices.place.clone(),
            super_seeding: false,
            limits: SeedLimits::default(),
            records: None,
            naming: naming(choices),
        };
        AddOptions {
            label,
            mode: Some(Mode::Seed(seed)),
            is_paused: true,
            is_known: true,
            ..AddOptions::default()
        }
    }
}
