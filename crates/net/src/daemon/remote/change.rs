//! Changes of one torrent.

use std::num::NonZeroU32;
use std::sync::MutexGuard;
use std::thread;
use std::time::{Duration, Instant};

use hashlane_client::{HandleError, Remove};
use hashlane_remote::Control as _;
use hashlane_remote::model::{self, Change, Goal, Priority, Refusal};
use hashlane_store::{Choices, Name, Place, Target};

use super::{Remote, client_priority, unsupported};
use crate::daemon::queue::QueueMove;
use crate::daemon::torrents::{Torrents, lock};

/// Time for which a request waits until the files of a torrent are renamed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Interval at which it looks.
const TICK: Duration = Duration::from_millis(20);

impl Remote {
    pub(super) fn change_torrent(&self, id: u32, change: Change) -> Result<(), Refusal> {
        match change {
            Change::Start { now } => {
                let name = self.name(id)?;
                lock(&self.torrents)
                    .resume(&[name], now)
                    .map_err(Refusal::Failed)
            }
            Change::Stop => {
                let name = self.name(id)?;
                lock(&self.torrents).pause(&[name]).map_err(Refusal::Failed)
            }
            Change::Verify => {
                let name = self.name(id)?;
                lock(&self.torrents).verify(name).map_err(Refusal::Failed)
            }
            Change::Announce => self.announce(id),
            Change::Remove { delete } => self.remove(id, delete),
            Change::Folder { folder, is_moved } => self.place(id, &folder, is_moved),
            Change::Labels(labels) => {
                self.choose(id, |choices| choices.labels = labels.into_iter().collect())?;
                Ok(())
            }
            Change::Category(category) => {
                self.choose(id, |choices| choices.category = category)?;
                Ok(())
            }
            Change::Sequential(is_sequential) => {
                self.choose(id, |choices| choices.sequential = is_sequential)?;
                Ok(())
            }
            Change::Name(title) => {
                self.choose(id, |choices| choices.title = Some(title))?;
                Ok(())
            }
            Change::Limits(limits) => self.limit(id, &limits),
            Change::Select { files, priority } => self.select(id, &files, priority),
            Change::Rename { from, to } => {
                let name = self.name(id)?;
                let mut torrents = self.after_renames(name);
                let checked = torrents.check_content(name, &self.rights.folders);
                checked.map_err(Refusal::Forbidden)?;
                torrents.rename(name, &from, &to).map_err(Refusal::Failed)
            }
            Change::Queue(to) => {
                let name = self.name(id)?;
                let moved = lock(&self.torrents).reorder(&[name], to.into());
                moved.map_err(Refusal::Failed)
            }
            Change::Trackers(tiers) => {
                let name = self.name(id)?;
                let changed = lock(&self.torrents).set_trackers(name, tiers);
                changed.map_err(Refusal::Failed)
            }
            _ => Err(unsupported("this change")),
        }
    }

    fn remove(&self, id: u32, delete: bool) -> Result<(), Refusal> {
        if delete && !self.rights.may_delete {
            let reason = "the configuration does not allow programs to delete content";
            return Err(Refusal::Forbidden(reason.into()));
        }
        let name = self.name(id)?;
        let mut torrents = lock(&self.torrents);
        let content = if delete {
            let checked = torrents.check_deletion(name, &self.rights.folders);
            checked.map_err(Refusal::Forbidden)?;
            Remove::DeleteContent
        } else {
            Remove::Keep
        };
        torrents.remove(name, content).map_err(Refusal::Failed)
    }

    /// Locks the torrents when earlier requests have renamed the files of a torrent: programs send one request for each file.
    fn after_renames(&self, name: Name) -> MutexGuard<'_, Torrents> {
        let started = Instant::now();
        loop {
            let torrents = lock(&self.torrents);
            if !torrents.is_renaming(name) || started.elapsed() >= PATIENCE {
                return torrents;
            }
            drop(torrents);
            thread::sleep(TICK);
        }
    }

    /// Announces a torrent. One that is not in the session, because it waits or is verified, is announced when it joins.
    fn announce(&self, id: u32) -> Result<(), Refusal> {
        let name = self.name(id)?;
        let handle = lock(&self.torrents).handle(name).cloned();
        match handle.map(|handle| handle.reannounce()) {
            None | Some(Ok(()) | Err(HandleError::NotInSession)) => Ok(()),
            Some(Err(error)) => Err(Refusal::Failed(error.to_string())),
        }
    }

    /// Changes what a person chose.
    fn choose(&self, id: u32, change: impl FnOnce(&mut Choices)) -> Result<Name, Refusal> {
        let name = self.name(id)?;
        let changed = lock(&self.torrents).set(name, change);
        changed.map_err(Refusal::Failed)?;
        Ok(name)
    }

    fn limit(&self, id: u32, limits: &model::Limits) -> Result<(), Refusal> {
        let rate = |limit: Option<u32>| {
            limit
                .map(|limit| {
                    let none = "a limit of 0 would stop the torrent: pause it instead";
                    NonZeroU32::new(limit).ok_or_else(|| Refusal::Invalid(none.into()))
                })
                .transpose()
        };
        let (down, up) = (rate(limits.max_down)?, rate(limits.max_up)?);
        self.choose(id, |choices| {
            choices.limits = hashlane_store::Limits { down, up };
            choices.goal = goal(limits);
        })?;
        Ok(())
    }

    fn select(&self, id: u32, files: &[u32], priority: Option<Priority>) -> Result<(), Refusal> {
        let all: Vec<u32>;
        let files = if files.is_empty() {
            all = (0..self.files(id).len() as u32).collect();
            &all
        } else {
            files
        };
        let name = self.name(id)?;
        lock(&self.torrents)
            .prioritize(name, files, client_priority(priority))
            .map_err(Refusal::Failed)
    }

    fn place(&self, id: u32, folder: &str, is_moved: bool) -> Result<(), Refusal> {
        let folder = self.allowed(folder)?;
        if is_moved {
            let name = self.name(id)?;
            let mut torrents = lock(&self.torrents);
            let checked = torrents.check_content(name, &self.rights.folders);
            checked.map_err(Refusal::Forbidden)?;
            return torrents.relocate(name, &folder).map_err(Refusal::Failed);
        }
        let name = self.choose(id, |choices| {
            choices.place = match &choices.place {
                Place::Folder(_) => Place::Folder(folder),
                Place::Content(content) => {
                    Place::Content(folder.join(content.file_name().unwrap_or_default()))
                }
            };
        })?;
        lock(&self.torrents).restart(name);
        Ok(())
    }
}

/// Returns the goal of a torrent with these limits.
pub(super) fn goal(limits: &model::Limits) -> hashlane_store::Goal {
    fn target<T>(goal: Goal<T>) -> Target<T> {
        match goal {
            Goal::OfClient => Target::Inherited,
            Goal::At(limit) => Target::At(limit),
            Goal::Never => Target::Never,
        }
    }
    hashlane_store::Goal {
        ratio: target(limits.ratio),
        time: target(limits.seeding_minutes).map(of_minutes),
        idle: target(limits.idle_minutes).map(of_minutes),
    }
}

pub(super) fn of_minutes(minutes: u32) -> Duration {
    Duration::from_secs(u64::from(minutes) * 60)
}

impl From<model::QueueMove> for QueueMove {
    fn from(to: model::QueueMove) -> Self {
        match to {
            model::QueueMove::Top => Self::Top,
            model::QueueMove::Up => Self::Up,
            model::QueueMove::Down => Self::Down,
            model::QueueMove::Bottom => Self::Bottom,
            model::QueueMove::To(place) => Self::To(place as usize),
        }
    }
}
