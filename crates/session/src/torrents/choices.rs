//! What a person chose for torrents, and changes of it.

use std::path::{self, Path, PathBuf};
use std::time::Instant;

use hashlane_api::{Goal, Patch, Place, Refusal};
use hashlane_client::Rights;
use hashlane_files::is_below;
use hashlane_store::{Choices, Name};

use super::Torrents;
use crate::goal::seeding;
use crate::queue::Turn;

impl Torrents {
    /// Changes what was chosen for a torrent.
    pub(crate) fn set(
        &mut self,
        name: Name,
        change: impl FnOnce(&mut Choices),
    ) -> Result<(), String> {
        let changed = self.changed(name, change)?;
        self.keep(&[name], changed.into_iter().collect())
    }

    /// Changes what was chosen for torrents. The folder is synced for all together.
    pub(crate) fn set_all(
        &mut self,
        names: &[Name],
        change: impl Fn(&mut Choices),
    ) -> Result<(), String> {
        let changed = names.iter().map(|name| self.changed(*name, &change));
        let changed: Vec<_> = changed
            .filter_map(Result::transpose)
            .collect::<Result<_, _>>()?;
        self.keep(names, changed)
    }

    /// Returns the choices of a torrent after a change, if they differ.
    fn changed(
        &self,
        name: Name,
        change: impl FnOnce(&mut Choices),
    ) -> Result<Option<(Name, Choices)>, String> {
        let before = &self.entry(name)?.choices;
        let mut choices = before.clone();
        change(&mut choices);
        Ok((choices != *before).then_some((name, choices)))
    }

    /// Writes choices to the folder, and passes those of these torrents to the client.
    fn keep(&mut self, names: &[Name], changed: Vec<(Name, Choices)>) -> Result<(), String> {
        self.write(changed)?;
        for name in names {
            if let (Some(handle), Ok(entry)) = (self.handle(*name), self.entry(*name)) {
                let (choices, limits) = (&entry.choices, self.limits_of(entry));
                // The torrent may have ended.
                let _ = handle.set(&Patch {
                    labels: Some(choices.labels.clone()),
                    max_down: Some(limits.down),
                    max_up: Some(limits.up),
                    sequential: Some(choices.sequential),
                    super_seeding: Some(choices.super_seeding),
                    ..Patch::default()
                });
            }
            self.send_goal(*name);
        }
        Ok(())
    }

    /// Does what [`Self::send_goal`] does for all torrents.
    pub(crate) fn send_goals(&self) {
        if self.config.mode.is_some() {
            for entry in self.store.iter() {
                self.send_goal(entry.name());
            }
        }
    }

    /// Sends the client whether it serves a torrent that is complete. The session counts until when.
    pub(crate) fn send_goal(&self, name: Name) {
        if self.config.mode.is_some()
            && let (Some(handle), Ok(entry)) = (self.handle(name), self.entry(name))
        {
            // The torrent may have ended.
            let _ = handle.set_goal(seeding(self.goal_of(entry), &self.config));
        }
    }

    fn write(&mut self, changed: Vec<(Name, Choices)>) -> Result<(), String> {
        self.check_running()?;
        let written = self.store.update_all(changed);
        written.map_err(|error| error.to_string())
    }

    /// Refuses changes of content by requests outside their folders and those of categories, because a person alone places
    /// content there.
    pub(crate) fn check_content(&self, choices: &Choices, rights: &Rights) -> Result<(), Refusal> {
        let configured = self.config.categories.keys();
        let names = configured.chain(self.store.groups().categories.keys());
        let of_categories = names.filter_map(|name| self.category(name).folder);
        let roots: Vec<PathBuf> = rights
            .folders
            .iter()
            .cloned()
            .chain(of_categories)
            .collect();
        // The place of a person can be relative.
        let absolute = |place: &Path| place.canonicalize().or_else(|_| path::absolute(place));
        let is_allowed = |place: &Path| {
            let place = absolute(place);
            place.is_ok_and(|place| roots.iter().any(|root| is_below(&place, root)))
        };
        let mut places = [Some(choices.place.path()), choices.move_to.as_deref()]
            .into_iter()
            .flatten();
        match places.find(|place| !is_allowed(place)) {
            None => Ok(()),
            Some(place) => {
                let who = match self.config.mode {
                    None => "only `hashlane ctl` changes it",
                    Some(_) => "no request changes it",
                };
                let place = place.display();
                Err(Refusal::Forbidden(format!(
                    "{place}: not in a folder that the configuration allows for content, so {who}"
                )))
            }
        }
    }

    /// Refuses the deletion of content by requests where [`Self::check_content`] does, and of content that is only served.
    pub(crate) fn check_deletion(&self, choices: &Choices, rights: &Rights) -> Result<(), Refusal> {
        if !rights.may_delete {
            let reason = "the configuration does not allow requests to delete content";
            return Err(Refusal::Forbidden(reason.into()));
        }
        if let Place::Content(content) = &choices.place {
            let remedy = match self.config.mode {
                None => "only `hashlane ctl remove` deletes it",
                Some(_) => "no request deletes it",
            };
            let content = content.display();
            return Err(Refusal::Forbidden(format!(
                "{content}: only served, so {remedy}"
            )));
        }
        self.check_content(choices, rights)
    }

    /// Uses the content of a torrent in another folder, where it is already.
    pub(crate) fn place(&mut self, name: Name, folder: &Path) -> Result<(), String> {
        self.set(name, |choices| {
            choices.place = match &choices.place {
                Place::Folder(_) => Place::Folder(folder.to_owned()),
                Place::Content(content) => {
                    Place::Content(folder.join(content.file_name().unwrap_or_default()))
                }
            };
        })?;
        self.restart(name)
    }

    /// Pauses torrents.
    pub(crate) fn pause(&mut self, names: &[Name]) -> Result<(), String> {
        self.set_paused(names, true, false)
    }

    /// Resumes torrents: when their turns come, or now.
    pub(crate) fn resume(&mut self, names: &[Name], now: bool) -> Result<(), String> {
        self.set_paused(names, false, now)
    }

    fn set_paused(&mut self, names: &[Name], paused: bool, forced: bool) -> Result<(), String> {
        let all = self.all();
        let mut changed = Vec::new();
        for name in names {
            let found = self.store.get(*name).zip(self.running.get(name));
            let has_reached_goal = !paused
                && found
                    .is_some_and(|(entry, running)| self.has_reached_goal(entry, running, &all));
            changed.extend(self.changed(*name, |choices| {
                (choices.paused, choices.forced) = (paused, forced);
                if has_reached_goal {
                    // A person who resumes it wants it to be served on.
                    choices.goal = Goal::NEVER;
                }
            })?);
        }
        self.write(changed)?;
        let is_waiting = self.queue().is_some() && !forced;
        for name in names {
            if let Some(running) = self.running.get_mut(name) {
                let is_waiting = is_waiting && running.has_metainfo;
                running.turn = Turn::new(is_waiting, Instant::now());
            }
            let snapshot = self.find(*name, &all);
            if !paused && snapshot.is_none_or(|snapshot| snapshot.activity.is_over()) {
                self.restart(*name)?;
            } else {
                self.apply(*name);
            }
        }
        Ok(())
    }
}
