//! Torrents that a person gives at the start, or that lie in a watched folder: their metadata is read or fetched later.
//!
//! The client reads it, and the store gets the torrent as soon as it has been read. A torrent that cannot be read stays one of the
//! client alone.

use hashlane_api::{Goal, Place};
use hashlane_client::{
    AddOptions, InfoHashes, Metainfo, Mode, Source, TorrentHandle, TorrentSnapshot,
};
use hashlane_store::{Choices, Entry, Name, StoreError, TorrentTotals};

use super::{Running, Torrents, Unread};
use crate::config::Given;
use crate::goal::{goal, naming, select};

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

    /// Adds a torrent whose metadata is read or fetched later. Returns the torrent in the client.
    pub(crate) fn give(&mut self, given: Given, is_known: bool) -> Option<TorrentHandle> {
        let Given {
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
        let source = match source {
            Source::Magnet(magnet) if self.store.find(magnet.info_hashes).is_none() => {
                let name = self.store.put_magnet(*magnet, choices).ok()?.name();
                self.name_as_given(name, label);
                self.start(name, is_known);
                return self.handle(name).cloned();
            }
            source => source,
        };
        let totals = TorrentTotals::default();
        let mode = goal(
            &choices,
            Goal::default(),
            &totals,
            false,
            &self.config,
            None,
        );
        let options = AddOptions {
            label: Some(label.clone()),
            mode: Some(mode),
            is_known,
            ..AddOptions::default()
        };
        // The client reports that it takes no torrent.
        let handle = self.control.as_ref()?.add(source, options).ok()?;
        let number = self.take_number();
        let unread = Unread {
            number,
            label,
            choices,
        };
        self.unread.insert(handle.number(), unread);
        self.unkept.insert(number, handle.clone());
        Some(handle)
    }

    /// Records how a person named a torrent that the store has.
    fn name_as_given(&mut self, name: Name, label: String) {
        self.given.insert(label.clone());
        self.labels.insert(name, label);
    }

    /// Adds a torrent that the client has read to the store, unless the store has it.
    pub(crate) fn keep_given(
        &mut self,
        client_number: usize,
        metainfo: &Metainfo,
    ) -> Result<(), StoreError> {
        let Some(unread) = self.unread.remove(&client_number) else {
            return Ok(());
        };
        let Unread {
            number,
            label,
            mut choices,
        } = unread;
        self.set_aside_if_over(metainfo.info_hashes());
        if self.store.find(metainfo.info_hashes()).is_some() {
            // The client refuses a torrent that it has.
            return Ok(());
        }
        if let Ok(names) = naming(&choices).of(metainfo) {
            choices.names = names;
        }
        select(&mut choices, metainfo, self.config.mode.as_ref());
        let is_paused = choices.paused;
        let name = self.store.put(metainfo.clone(), choices)?.name();
        self.name_as_given(name, label);
        if let Some(handle) = self.unkept.remove(&number) {
            self.names.insert(client_number, name);
            self.numbered.insert(number, name);
            let mut running = Running::new(number, self.kept_totals(name));
            (running.handle, running.has_metainfo) = (Some(handle), true);
            running.is_paused = is_paused;
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
        if self.config.mode.is_none() || self.store.remove(name).is_err() {
            return;
        }
        self.labels.remove(&name);
        if let Some(running) = self.running.remove(&name) {
            self.numbered.remove(&running.number);
            if let Some(handle) = running.handle {
                self.names.remove(&handle.number());
                self.unkept.insert(running.number, handle);
            }
        }
    }

    /// Returns the torrent of the client that the store does not have, by the number by which requests know it.
    pub(crate) fn unkept(&self, number: usize) -> Option<&TorrentHandle> {
        self.unkept.get(&number)
    }

    /// Returns the torrents of the client that the store does not have, by the numbers by which requests know them.
    pub(crate) fn all_unkept(&self) -> impl Iterator<Item = (usize, &TorrentHandle)> {
        self.unkept.iter().map(|(number, handle)| (*number, handle))
    }

    /// Records that a torrent was paused or resumed whose metadata is being read.
    pub(crate) fn pause_unread(&mut self, handle: &TorrentHandle, is_paused: bool) {
        if let Some(unread) = self.unread.get_mut(&handle.number()) {
            unread.choices.paused = is_paused;
        }
    }

    /// Removes a torrent that the store does not have.
    pub(crate) fn remove_unkept(&mut self, number: usize) {
        if let Some(handle) = self.unkept.remove(&number) {
            self.unread.remove(&handle.number());
        }
    }
}
