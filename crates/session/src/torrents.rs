//! The torrents of a session: those of the state folder, in the client.
//!
//! A change goes to the folder first, and then to the client, so that what the client does was acknowledged or will be
//! after a restart.

mod choices;
mod naming;
mod totals;
mod trackers;
mod turns;

use std::collections::HashMap;
use std::io::ErrorKind;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hashlane_api::Size;
use hashlane_api::{Place, Rates, Status};
use hashlane_client::{
    Activity, AddOptions, Client, Event, Network, NetworkError, Remove, SecretTiers, Snapshot,
    TorrentError, TorrentHandle, TorrentKey, TorrentSnapshot, VerifiedContent, status_of,
};
use hashlane_metainfo::Torrent;
use hashlane_store::{Entry, Metainfo, Name, Store, StoreError, TorrentTotals};

use super::config::Config;
use super::error::Error;
use super::goal::{goal, is_served, source};
use super::hooks::{Hooks, Moment};
use super::queue::Turn;
use super::schedule;
use super::space::{FreeSpace, free_bytes};
use super::trackers::{of_magnet, with_trackers};
pub(super) use totals::counted;

/// Interval at which totals are counted, goals are checked, and downloads are held.
const TICK: Duration = Duration::from_secs(1);

/// Interval at which totals are saved.
const SAVE: Duration = Duration::from_secs(60);

/// Time after which a torrent is tried again that failed because of the system. It doubles with each failure.
const FIRST_RETRY: Duration = Duration::from_secs(5);

/// Limit of this time: a retry verifies all content.
const MAX_RETRY: Duration = Duration::from_secs(300);

/// The reason why a torrent that was complete is not.
pub(super) const DAMAGED: &str =
    "was complete, and is damaged now: `hashlane ctl verify` downloads what is missing";

/// How to download content that is lost, after the reason why it is absent.
const IF_LOST: &str = ". To download it again, remove the torrent and add it again";

/// The torrents of the state folder, and those of them that are in the client.
pub(super) struct Torrents {
    pub(super) store: Store,
    /// `None` after the end.
    pub(super) client: Option<Client>,
    pub(super) config: Config,
    pub(super) hooks: Hooks,
    /// The rate limits of the schedule.
    pub(super) scheduled: Rates,
    running: HashMap<Name, Running>,
    /// The number of the next torrent, for requests.
    next_number: usize,
    /// The names of torrents by the numbers by which requests know them.
    numbered: HashMap<usize, Name>,
    /// The names of torrents by their numbers in the client.
    names: HashMap<usize, Name>,
    /// The time of the start, and the seconds for which the session ran before.
    started: (Instant, u64),
    /// The time of the last tick.
    ticked: Instant,
    /// The time of the last save of totals.
    saved: Instant,
    /// Whether totals have to be saved at the next tick.
    is_save_due: bool,
    /// The snapshot of the client at the last count.
    counted: Arc<Snapshot>,
    /// Counts the changes. Most of them change nothing that users see.
    pub(super) change: u64,
    /// The snapshot and the number of torrents of the last [`Self::changed_status`]. A torrent that begins to wait, or ends
    /// its wait, leaves or joins the client.
    reported: Option<(Arc<Snapshot>, usize)>,
}

/// A torrent of the folder.
struct Running {
    /// The number by which requests know the torrent. It stays when the torrent is started again.
    number: usize,
    /// The torrent in the client, unless it has not started yet.
    handle: Option<TorrentHandle>,
    /// The totals without those of the client.
    base: TorrentTotals,
    /// The reason why the download is paused, if its disk is nearly full.
    held: Option<String>,
    /// The turn in the queue.
    turn: Turn,
    /// Whether the torrent was last paused in the client, or resumed.
    is_paused: bool,
    /// Whether the metadata is in the folder, or was received.
    has_metainfo: bool,
    /// The repair of a torrent that is only served, because it was complete.
    repair: Repair,
    /// The wait before the next start.
    wait: Option<Wait>,
    /// The next wait.
    delay: Duration,
    /// The trackers, if they changed since the start: the metadata in the client has others, or none.
    tiers: Option<SecretTiers>,
    /// What a person can do about the error of the client, to follow its text.
    remedy: &'static str,
    /// The reason why the last move of the content failed, or why the metadata of content that is present is waited for.
    notice: Option<String>,
    /// While the torrent is served: the bytes that were sent, and since when no more were.
    idle: Option<(u64, Instant)>,
}

impl Running {
    /// Returns the snapshot of the torrent, if the client has it and knows it already.
    fn snapshot<'s>(&self, all: &'s Snapshot) -> Option<&'s Arc<TorrentSnapshot>> {
        let number = self.handle.as_ref()?.number();
        all.find(TorrentKey::Number(number))
    }

    /// Returns what keeps the torrent from running: the activity that users see instead of the client's, if it waits for a
    /// start, and the reason.
    fn obstacle(&self) -> (Option<Activity>, Option<&str>) {
        let reason = self.wait.as_ref().map(|wait| &*wait.reason);
        let reason = reason.or(self.held.as_deref());
        (reason.map(|_| Activity::Waiting), reason)
    }

    /// Returns the error that users see: what keeps the torrent from running, that of the client, or a notice.
    fn error(&self, of_client: Option<&str>) -> Option<String> {
        if let Some(obstacle) = self.obstacle().1 {
            return Some(obstacle.to_owned());
        }
        let of_client = of_client.map(|error| [error, self.remedy].concat());
        of_client.or_else(|| self.notice.clone())
    }
}

/// The repair of a torrent that was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    /// The torrent is only served.
    No,
    /// A person has asked for a verification.
    Asked,
    /// The verification has found damage, and the torrent downloads what is missing.
    Downloads,
}

/// A torrent that will be started later, after an error of the system.
struct Wait {
    reason: String,
    until: Instant,
}

/// Locks the torrents. A thread that panicked has left them as they were between two steps of a request.
pub(super) fn lock(torrents: &Mutex<Torrents>) -> Locked<'_> {
    Locked(torrents.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The torrents, which others cannot use meanwhile.
pub(super) struct Locked<'t>(MutexGuard<'t, Torrents>);

impl Locked<'_> {
    /// Returns the torrents for a change of what users do not see.
    pub(super) fn inward(&mut self) -> &mut Torrents {
        &mut self.0
    }
}

impl Deref for Locked<'_> {
    type Target = Torrents;

    fn deref(&self) -> &Torrents {
        &self.0
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Torrents {
        self.0.change += 1;
        &mut self.0
    }
}

impl Torrents {
    pub(super) fn new(store: Store, client: Client, config: Config, hooks: Hooks) -> Self {
        let ran = store.totals().all.seconds;
        Self {
            store,
            started: (Instant::now(), ran),
            client: Some(client),
            config,
            scheduled: Rates::default(),
            hooks,
            running: HashMap::new(),
            next_number: 1,
            numbered: HashMap::new(),
            names: HashMap::new(),
            ticked: Instant::now(),
            saved: Instant::now(),
            is_save_due: false,
            counted: Arc::default(),
            change: 0,
            reported: None,
        }
    }

    /// Starts all torrents of the folder.
    pub(super) fn start_all(&mut self) {
        self.send_limits();
        self.store.totals_mut().all.starts += 1;
        // A session that is killed at once has started, too. The first tick tries again, and reports an error.
        self.is_save_due = self.save().is_err();
        for name in self.names_in_order() {
            self.start(name, true);
        }
    }

    pub(super) fn names_in_order(&self) -> Vec<Name> {
        let entries = self.store.entries().into_iter();
        entries.map(Entry::name).collect()
    }

    /// Removes a torrent, and its content if that is wanted. A kill between the two leaves the content.
    pub(super) fn remove(&mut self, name: Name, content: Remove) -> Result<(), String> {
        self.check_running()?;
        let entry = self.entry(name)?.clone();
        // The path needs the metadata, which may have to be read.
        let has_hook = self.hooks.has(Moment::Removed);
        let path = has_hook.then(|| self.content_path(name)).flatten();
        self.count_changed();
        self.store.remove(name).map_err(|error| error.to_string())?;
        tracing::debug!(torrent = %name, "removed");
        self.hooks.run(Moment::Removed, &entry, path, None);
        if let Some(running) = self.running.remove(&name) {
            self.numbered.remove(&running.number);
            if let Some(handle) = running.handle {
                self.leave(&handle, content);
            }
        }
        Ok(())
    }

    /// Removes a torrent from the client.
    fn leave(&mut self, handle: &TorrentHandle, content: Remove) {
        self.names.remove(&handle.number());
        // The client may have ended.
        let _ = handle.remove(content);
    }

    /// Moves the content of a torrent. The state folder has both places until the end of the move, so that a restart finds
    /// the content in either. That of [`Place::Content`] has only one.
    pub(super) fn relocate(&mut self, name: Name, folder: &Path) -> Result<(), String> {
        self.check_running()?;
        let none = || format!("{name}: waits, so that its content cannot be moved now");
        let is_absent = |it: &Arc<TorrentSnapshot>| it.activity == Activity::Absent;
        let waits = self.running.get(&name).is_some_and(|it| it.wait.is_some())
            || self.find(name, &self.all()).is_some_and(is_absent);
        let handle = self.handle(name).filter(|_| !waits);
        let handle = handle.cloned().ok_or_else(none)?;
        if self
            .names_of_content(name)
            .is_some_and(|(names, _)| !names.has_top())
        {
            return Err(format!(
                "{name}: its files have no folder of their own, and are not moved"
            ));
        }
        if self.entry(name)?.choices.names_before.is_some() {
            return Err(format!("{name}: its files are being renamed"));
        }
        if matches!(self.entry(name)?.choices.place, Place::Folder(_)) {
            self.set(name, |choices| choices.move_to = Some(folder.to_owned()))?;
        }
        if let Some(running) = self.running.get_mut(&name) {
            running.notice = None;
        }
        handle
            .relocate(folder)
            .map_err(|error| format!("{name}: not moved now, but when it is complete: {error}"))
    }

    /// Records the end of a move: the new place of the content, unless the move failed.
    fn relocated(&mut self, name: Name, content: Option<&PathBuf>) -> Result<(), StoreError> {
        let entry = self.store.get(name).ok_or(StoreError::Absent(name))?;
        let mut choices = entry.choices.clone();
        choices.move_to = None;
        if let Some(content) = content {
            choices.place = match choices.place {
                Place::Folder(_) => Place::Folder(content.parent().unwrap_or(content).to_owned()),
                Place::Content(_) => Place::Content(content.clone()),
            };
        }
        self.store.update(name, choices)
    }

    /// Verifies the content of a torrent again. A download then loads what is missing. A torrent that waits or failed is started
    /// again, which verifies it too.
    pub(super) fn verify(&mut self, name: Name) -> Result<(), String> {
        self.check_running()?;
        self.entry(name)?;
        let all = self.all();
        let is_over = self
            .find(name, &all)
            .is_some_and(|it| it.activity.is_over());
        let running = self.running_of(name);
        if running.repair == Repair::No {
            running.repair = Repair::Asked;
        }
        match &running.handle {
            Some(handle) if running.wait.is_none() && !is_over => {
                let verified = handle.verify();
                verified.map_err(|error| format!("{name}: {error}"))
            }
            _ => {
                self.restart(name);
                Ok(())
            }
        }
    }

    /// Records that selected content is missing, or that content is present. Content that is complete from the start is no news
    /// for hooks. Content that was present is never begun again where its file system should be mounted.
    fn note_content(&mut self, name: Name, verified: &VerifiedContent) {
        if let Some(running) = self.running.get_mut(&name) {
            let before = running.base;
            running.base.was_incomplete |= !verified.has_selected;
            running.base.was_present |= verified.have > 0;
            self.is_save_due |= running.base != before;
            running.remedy = "";
        }
    }

    /// Restarts a torrent as a download whose content is damaged, if a person asked for its verification. Without a right piece,
    /// the file system of the content may not be mounted.
    fn repair(&mut self, name: Name, verified: &VerifiedContent) {
        let totals = self.kept_totals(name);
        let entry = self.store.get(name);
        let is_served = entry.is_some_and(|entry| is_served(entry, &totals));
        let Some(running) = self.running.get_mut(&name) else {
            return;
        };
        if running.repair != Repair::Asked {
            return;
        }
        running.repair = Repair::No;
        if is_served && !verified.has_selected && verified.have > 0 {
            running.repair = Repair::Downloads;
            self.restart(name);
        }
    }

    /// Replaces a magnet link in the folder by the metadata from peers, once it is known.
    fn keep_metainfo(&mut self, name: Name) -> Result<(), StoreError> {
        let Some(metainfo) = self.handle(name).and_then(TorrentHandle::metainfo) else {
            return Ok(());
        };
        let waits = self.queue().is_some();
        if let Some(running) = self.running.get_mut(&name) {
            running.has_metainfo = true;
            running.notice = None;
            // The content needs a turn.
            running.turn = Turn::new(waits, Instant::now());
            self.apply(name);
        }
        if !is_readable(&metainfo) {
            return Ok(());
        }
        // Two links of a hybrid can be present, one for each version. The one with the name of the hybrid gets the metadata, so that
        // the next start serves it. The other one fails then, with the reason, and both stay.
        let hybrid = Name::from(metainfo.info_hashes());
        let name = self.store.get(hybrid).map_or(name, Entry::name);
        let Some(Metainfo::Magnet(magnet)) = self.store.get(name).map(|entry| &entry.metainfo)
        else {
            return Ok(());
        };
        // Peers send no trackers.
        let with_trackers = if magnet.trackers.is_empty() {
            None
        } else {
            with_trackers(&metainfo, of_magnet(magnet)).ok()
        };
        let metainfo = with_trackers.unwrap_or(metainfo);
        let tiers = of_magnet(magnet).into();
        let new = self.store.set_metainfo(name, &metainfo)?;
        if let Some(running) = self.running.get_mut(&name) {
            running.tiers = Some(SecretTiers(tiers));
        }
        if new != name
            && let Some(running) = self.running.remove(&name)
        {
            let number = running.handle.as_ref().map(TorrentHandle::number);
            self.names.extend(number.map(|number| (number, new)));
            self.numbered.insert(running.number, new);
            self.running.insert(new, running);
        }
        Ok(())
    }

    pub(super) fn entry(&self, name: Name) -> Result<&Entry, String> {
        let entry = self.store.get(name).ok_or(StoreError::Absent(name));
        entry.map_err(|error| error.to_string())
    }

    /// Handles an event of the client.
    pub(super) fn on_event(&mut self, event: &Event) -> Result<(), StoreError> {
        let number = event.torrent().map(|torrent| torrent.number);
        let Some(&name) = number.and_then(|number| self.names.get(&number)) else {
            return Ok(());
        };
        match event {
            Event::Verified(verified) => {
                self.note_content(name, verified);
                self.repair(name, verified);
            }
            Event::Absent { .. } => {
                let place = self.store.get(name).map(|entry| &entry.choices.place);
                if let (Some(Place::Folder(_)), Some(running)) =
                    (place, self.running.get_mut(&name))
                {
                    running.remedy = IF_LOST;
                }
            }
            Event::Relocated { content, error, .. } => {
                if let Some(running) = self.running.get_mut(&name) {
                    running.notice = error.as_ref().map(not_moved);
                }
                self.relocated(name, error.is_none().then_some(content))?;
            }
            Event::Renamed { error, .. } => self.on_renamed(name, error.is_none())?,
            Event::Complete(complete) => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                let now = now.as_ref().map_or(0, Duration::as_secs);
                let base = self.running.get(&name).map(|running| &running.base);
                let is_news = |base: &TorrentTotals| {
                    let is_due = base.was_incomplete || self.hooks.runs_for_present();
                    base.completed.is_none() && is_due
                };
                if base.is_some_and(is_news) {
                    let content = complete.content.clone();
                    self.hook(name, Moment::Complete, Some(content), None);
                }
                if let Some(running) = self.running.get_mut(&name) {
                    running.base.completed.get_or_insert(now);
                    running.delay = FIRST_RETRY;
                    running.repair = Repair::No;
                }
                let entry = self.store.get(name);
                let to = entry.and_then(|entry| entry.choices.move_to.as_deref());
                // A move that a restart interrupted has ended.
                if to.is_some() && complete.content.parent() == to {
                    self.relocated(name, Some(&complete.content))?;
                }
                // Later starts only serve it, and do not write where its file system should be mounted.
                self.is_save_due = true;
            }
            Event::Failed {
                error, left_bytes, ..
            } if is_of_system(error) => {
                let delay = self.running.get(&name).map(|running| running.delay);
                // Not for each try.
                if delay == Some(FIRST_RETRY) {
                    self.hook(name, Moment::Failed, None, Some(&error.to_string()));
                }
                let reason = self.reason_to_wait(name, error, *left_bytes);
                self.wait(name, reason);
            }
            Event::Failed { error, .. }
                if !matches!(error, TorrentError::Ended | TorrentError::Interrupted) =>
            {
                if let Some(running) = self.running.get_mut(&name) {
                    running.remedy = remedy(error);
                    running.base.was_incomplete |= is_of_other_content(error);
                }
                self.hook(name, Moment::Failed, None, Some(&error.to_string()));
            }
            _ => {}
        }
        Ok(())
    }

    /// Runs a hook for a torrent. `content` is the path of the content, if it is newer than that of the last snapshot.
    pub(super) fn hook(
        &self,
        name: Name,
        moment: Moment,
        content: Option<PathBuf>,
        error: Option<&str>,
    ) {
        if let Some(entry) = self.store.get(name)
            && self.hooks.has(moment)
        {
            let content = content.or_else(|| self.content_path(name));
            self.hooks.run(moment, entry, content, error);
        }
    }

    /// Returns the time until the next tick.
    pub(super) fn until_tick(&self) -> Duration {
        TICK.saturating_sub(self.ticked.elapsed())
    }

    /// Counts totals, keeps metadata, pauses torrents that have reached their goals, and starts torrents that have waited long enough.
    /// Returns the changes that could not be written.
    pub(super) fn tick(&mut self) -> Vec<StoreError> {
        let mut errors = Vec::new();
        self.ticked = Instant::now();
        self.count_changed();
        if self.is_save_due || self.saved.elapsed() >= SAVE {
            self.count();
            errors.extend(self.save().err());
        }
        let mut reached = Vec::new();
        let mut due = Vec::new();
        let all = self.all();
        for (name, running) in &self.running {
            if running
                .wait
                .as_ref()
                .is_some_and(|wait| wait.until <= Instant::now())
            {
                due.push(*name);
            } else if let Some(entry) = self.store.get(*name)
                && !entry.choices.paused
                && self.has_reached_goal(entry, running, &all)
            {
                reached.push(*name);
            }
        }
        if let Some(min_free) = self.config.min_free {
            self.hold_downloads(FreeSpace::new(min_free));
        }
        if !self.config.schedule.is_empty() {
            self.follow_schedule(schedule::Moment::now());
        }
        self.take_turns();
        for name in self.links() {
            errors.extend(self.keep_metainfo(name).err());
        }
        for name in reached {
            errors.extend(self.pause_at_goal(name).err());
        }
        for name in due {
            self.restart(name);
        }
        errors
    }

    /// Saves totals and new metadata, and ends the client. Trackers are informed.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        if self.client.is_none() {
            return Ok(());
        }
        self.count();
        let mut saved = self.save();
        for name in self.links() {
            saved = saved.and(self.keep_metainfo(name));
        }
        if let Some(client) = self.client.take() {
            let stopped = client.stop();
            self.hooks.end();
            stopped?;
        }
        Ok(saved?)
    }

    /// Returns the torrents whose metadata is not in the folder, and may be.
    fn links(&self) -> Vec<Name> {
        let is_link = |name: &Name| {
            let entry = self.store.get(*name);
            entry.is_some_and(|entry| matches!(entry.metainfo, Metainfo::Magnet(_)))
        };
        let open = self
            .running
            .iter()
            .filter(|(_, running)| !running.has_metainfo);
        open.map(|(name, _)| *name).filter(is_link).collect()
    }

    /// Returns the latest snapshot of the client.
    pub(super) fn all(&self) -> Arc<Snapshot> {
        let snapshot = self.client.as_ref().map(Client::snapshot);
        snapshot.unwrap_or_default()
    }

    /// Returns the snapshot of a torrent, if the client has it and knows it already.
    pub(super) fn find<'s>(
        &self,
        name: Name,
        all: &'s Snapshot,
    ) -> Option<&'s Arc<TorrentSnapshot>> {
        self.running.get(&name)?.snapshot(all)
    }

    /// Returns the state of the session if it may have changed since the last call.
    pub(super) fn changed_status(&mut self) -> Option<Status> {
        let now = (self.all(), self.running.len());
        let before = self.reported.replace(now.clone());
        let is_same = before.is_some_and(|(all, n)| Arc::ptr_eq(&all, &now.0) && n == now.1);
        (!is_same).then(|| self.status())
    }

    /// Returns the state of the session.
    pub(super) fn status(&self) -> Status {
        let all = self.all();
        // A torrent that was just added has no snapshot yet.
        let new = TorrentSnapshot::new(0, "");
        let torrents = self.running.iter().map(|(name, running)| {
            let snapshot = running.snapshot(&all).map_or(&new, |it| &**it);
            let entry = self.store.get(*name);
            let activity = entry.map_or(Activity::Ended, |it| self.activity(it, Some(snapshot)).0);
            (snapshot, activity, running.obstacle().1.is_some())
        });
        let mut status = status_of(&all, torrents);
        let session = self.store.session();
        let limits = self.limits().into_iter();
        let requested = limits.filter(|limit| limit.requested);
        let totals = self.store.totals().all;
        let problems = self.store.problems().iter();
        status
            .problems
            .splice(..0, problems.map(ToString::to_string));
        Status {
            state: Some(self.store.folder().to_string_lossy().into_owned()),
            alternative: session.alternative,
            adds_paused: session.adds_paused,
            requested_limits: requested.map(|limit| limit.limit).collect(),
            received_bytes: totals.received,
            sent_bytes: totals.sent,
            ..status
        }
    }

    /// Returns the activity of a torrent and the reason why it waits or failed. `snapshot` is the torrent in a snapshot of the client,
    /// if that has it.
    pub(super) fn activity(
        &self,
        entry: &Entry,
        snapshot: Option<&TorrentSnapshot>,
    ) -> (Activity, Option<String>) {
        let error = snapshot.and_then(|it| it.error.as_deref());
        let (obstacle, error) = match self.running.get(&entry.name()) {
            Some(running) => (running.obstacle().0, running.error(error)),
            None => (None, error.map(str::to_owned)),
        };
        let of_client = snapshot.map_or(Activity::Waiting, |it| it.activity);
        let activity = obstacle.unwrap_or(of_client);
        if activity == Activity::Paused && self.is_queued(entry) {
            return (Activity::Queued, error);
        }
        (activity, error)
    }

    /// Returns the number by which requests know a torrent.
    pub(super) fn number(&self, name: Name) -> Option<usize> {
        Some(self.running.get(&name)?.number)
    }

    /// Returns the torrent that requests know by a number.
    pub(super) fn numbered(&self, number: usize) -> Option<Name> {
        self.numbered.get(&number).copied()
    }

    /// Returns the number of a torrent, the torrent in a snapshot of the client if that has it, and the totals without those of the
    /// client.
    pub(super) fn parts<'s>(
        &self,
        name: Name,
        all: &'s Snapshot,
    ) -> Option<(usize, Option<&'s Arc<TorrentSnapshot>>, TorrentTotals)> {
        let running = self.running.get(&name)?;
        let found = running.snapshot(all);
        let totals = match found {
            Some(_) => running.base,
            None => self.kept_totals(name),
        };
        Some((running.number, found, totals))
    }

    /// Returns the local end of all connections.
    pub(super) fn network(&self) -> Network {
        self.all().network.clone()
    }

    /// Replaces the settings, as [`Session::configure`](super::Session::configure) does.
    pub(super) fn configure(&mut self, mut config: Config) -> Result<bool, String> {
        self.check_running()?;
        let before = &self.config;
        // The other parts of the session have these from the start.
        config.folder.clone_from(&before.folder);
        config.records.clone_from(&before.records);
        let (old, new) = (&before.network, &mut config.network);
        // An interface turns discovery in the local network off, which libtorrent does at its start.
        let is_same_kind = old.bind.interface().is_some() == new.bind.interface().is_some();
        if !is_same_kind {
            new.bind.clone_from(&old.bind);
        }
        self.hooks
            .set(config.hooks.clone())
            .map_err(|error| format!("hooks: {error}"))?;
        if config.network != before.network {
            let set = self.set_network(config.network.clone());
            set.map_err(|error| error.to_string())?;
        }
        self.config = config;
        self.follow_schedule(schedule::Moment::now());
        self.send_limits();
        Ok(is_same_kind)
    }

    /// Changes the local end of all connections, until the session ends.
    pub(super) fn set_network(&self, network: Network) -> Result<(), NetworkError> {
        let client = self.client.as_ref().ok_or(NetworkError::Stopped)?;
        client.set_network(network)
    }

    pub(super) fn check_running(&self) -> Result<(), String> {
        if self.client.is_none() {
            return Err("the daemon is ending".to_owned());
        }
        Ok(())
    }

    pub(super) fn handle(&self, name: Name) -> Option<&TorrentHandle> {
        self.running.get(&name)?.handle.as_ref()
    }

    /// Starts a torrent again that has ended, failed or waits.
    pub(super) fn restart(&mut self, name: Name) {
        self.take_handle(name);
        self.start(name, true);
    }

    /// Starts a torrent. `is_known` says whether the folder had it before.
    pub(super) fn start(&mut self, name: Name, is_known: bool) {
        let Some(entry) = self.store.get(name) else {
            return;
        };
        let totals = self.kept_totals(name);
        let running = self.running.get(&name);
        let is_repaired = running.is_some_and(|running| running.repair == Repair::Downloads);
        // A torrent waits for its first turn, which comes at the next tick. Metadata is fetched without a turn.
        let is_link = matches!(entry.metainfo, Metainfo::Magnet(_));
        let is_waiting = self.queue().is_some() && !entry.choices.forced && !is_link;
        let is_paused = entry.choices.paused || is_waiting;
        let options = AddOptions {
            label: Some(entry.shown_title()),
            mode: Some(goal(
                entry,
                &totals,
                is_repaired,
                self.config.records.as_deref(),
                self.store.metadata_file(name),
            )),
            is_paused,
            labels: entry.choices.labels.iter().cloned().collect(),
            limits: entry.choices.limits.into(),
            is_known,
        };
        let notice = waits_for_metadata(entry);
        let Some(client) = &self.client else {
            return;
        };
        match client.add(source(entry), options) {
            Ok(handle) => {
                self.names.insert(handle.number(), name);
                let running = self.running_of(name);
                running.has_metainfo |= !is_link;
                running.handle = Some(handle);
                (running.wait, running.remedy) = (None, "");
                running.notice = running.notice.take().or(notice);
                running.turn = Turn::new(is_waiting, Instant::now());
                running.is_paused = is_paused;
            }
            Err(error) => self.wait(name, error.to_string()),
        }
    }

    fn running_of(&mut self, name: Name) -> &mut Running {
        let base = self.kept_totals(name);
        self.running.entry(name).or_insert_with(|| Running {
            number: {
                self.next_number += 1;
                let number = self.next_number - 1;
                self.numbered.insert(number, name);
                number
            },
            handle: None,
            base,
            held: None,
            turn: Turn::new(false, Instant::now()),
            is_paused: false,
            has_metainfo: false,
            repair: Repair::No,
            wait: None,
            delay: FIRST_RETRY,
            tiers: None,
            remedy: "",
            notice: None,
            idle: None,
        })
    }

    /// Lets a torrent wait for its next start.
    fn wait(&mut self, name: Name, reason: String) {
        let running = self.running_of(name);
        running.wait = Some(Wait {
            reason,
            until: Instant::now() + running.delay,
        });
        running.delay = MAX_RETRY.min(running.delay * 2);
    }

    /// Returns the reason why a torrent waits after an error of the system: with what is missing, if it is space. `left_bytes` of
    /// the selected files are not present.
    fn reason_to_wait(&self, name: Name, error: &TorrentError, left_bytes: u64) -> String {
        if !is_full(error) {
            return error.to_string();
        }
        let entry = self.store.get(name);
        let free = entry.and_then(|entry| free_bytes(entry.choices.place.path()));
        let missing = free.map(|free| left_bytes.saturating_sub(free));
        let missing = missing.filter(|missing| *missing > 0);
        let missing = missing.map_or_else(String::new, |missing| {
            format!("; {} more needed", Size(missing))
        });
        format!("waiting for space: {error}{missing}")
    }

    /// Removes a torrent that will be started again from the client.
    fn take_handle(&mut self, name: Name) {
        // The client's totals end with its torrent.
        self.count_changed();
        let base = self.totals(name, self.find(name, &self.counted).map(|it| &**it));
        let Some(running) = self.running.get_mut(&name) else {
            return;
        };
        (running.base, running.held, running.idle) = (base, None, None);
        if let Some(handle) = running.handle.take() {
            self.store.totals_mut().torrents.insert(name, base);
            self.leave(&handle, Remove::Restart);
        }
    }
}

/// Returns what a person should know of a link whose content is present: without its metadata, nobody can tell whether it is right.
fn waits_for_metadata(entry: &Entry) -> Option<String> {
    let (Place::Folder(folder), Metainfo::Magnet(magnet)) = (&entry.choices.place, &entry.metainfo)
    else {
        return None;
    };
    let name = Path::new(magnet.name.as_deref()?);
    let is_name = name.file_name() == Some(name.as_os_str());
    let path = folder.join(name);
    (is_name && path.symlink_metadata().is_ok()).then(|| {
        let path = path.display();
        format!(
            "{path} exists, but its metadata is not known, and peers have to send it: if nobody does, remove this link and add the .torrent file"
        )
    })
}

/// Returns what a person can do about an error, to follow its text; nothing if the text says it.
pub fn remedy(error: &TorrentError) -> &'static str {
    match error {
        TorrentError::Unrelated { .. } => "; rename or remove it, and resume the torrent",
        TorrentError::Linked { .. } => "; copy it under its name, and resume the torrent",
        TorrentError::WebSeed(_) => "; --web-seeds=0 downloads it from peers",
        _ => "",
    }
}

/// Returns `true` for errors of the system, which may pass: a full disk, a file system that is read-only or was unmounted.
fn is_of_system(error: &TorrentError) -> bool {
    matches!(
        error,
        TorrentError::Storage(_)
            | TorrentError::Path { .. }
            | TorrentError::Unreadable { .. }
            | TorrentError::Thread(_)
            | TorrentError::NothingPresent(_)
    )
}

/// Returns why content was not moved.
fn not_moved(error: &TorrentError) -> String {
    match error {
        TorrentError::Move { .. } => error.to_string(),
        _ => format!("not moved: {error}"),
    }
}

/// Returns `true` if the files are not those of the torrent, whose content is not complete then.
fn is_of_other_content(error: &TorrentError) -> bool {
    matches!(
        error,
        TorrentError::Unrelated { .. } | TorrentError::Linked { .. } | TorrentError::Mapped { .. }
    )
}

/// Returns `true` if a disk is full, or a quota is used up.
fn is_full(error: &TorrentError) -> bool {
    let kind = match error {
        TorrentError::Storage(storage) => storage.error.kind(),
        TorrentError::Path { error, .. } => error.kind(),
        _ => return false,
    };
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Returns `true` if the metadata is a whole .torrent file. Peers send no piece layers, which version 2 needs.
fn is_readable(metainfo: &Torrent) -> bool {
    Torrent::parse(metainfo.bytes()).is_ok()
}
