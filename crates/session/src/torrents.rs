//! The torrents of a session: those of the state folder, in the client.
//!
//! A change goes to the folder first, and then to the client, so that what the client does was acknowledged or will be
//! after a restart.

mod choices;
mod given;
mod memory;
mod naming;
mod ruled;
mod totals;
mod trackers;
mod turns;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind;
use std::num::{NonZeroU16, NonZeroU32};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use hashlane_api::Size;
use hashlane_api::{Place, Rates, Refusal, Status};
use hashlane_client::{
    Activity, AddError, AddOptions, Client, Control, Earlier, Event, Mode, Network, NetworkError,
    Outcome, Over, Remove, SecretTiers, Snapshot, Source, TorrentError, TorrentHandle,
    TorrentSnapshot, VerifiedContent, status_of, unix_seconds,
};
use hashlane_metainfo::Torrent;
use hashlane_store::{Choices, Entry, Metainfo, Name, Store, StoreError, TorrentTotals};
use serde::{Deserialize, Serialize};

use super::config::Config;
use super::error::Error;
use super::goal::{goal, is_served, select_of_link, source};
use super::hooks::{Hooks, Moment};
use super::queue::Turn;
use super::rules::{Decision, Known};
use super::schedule;
use super::space::{FreeSpace, free_bytes};
use super::trackers::{of_magnet, with_trackers};
pub use memory::Memory;
pub(super) use totals::{counted, without};

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
    pub(super) control: Option<Control>,
    /// The client, while it runs.
    pub(super) client: Option<Client>,
    pub(super) config: Config,
    pub(super) hooks: Hooks,
    /// The rate limits of the schedule.
    pub(super) scheduled: Rates,
    running: HashMap<Name, Running>,
    /// The names of torrents by their numbers.
    names: HashMap<usize, Name>,
    /// The torrents of the client that the store does not have, by their numbers.
    others: BTreeMap<usize, Other>,
    /// The torrents that were removed and whose content is being deleted, by their numbers.
    removing: HashMap<usize, Removing>,
    /// The least number that no earlier process has used.
    first_number: usize,
    /// The positions of what a person gave and removed.
    given: BTreeSet<usize>,
    /// The files of watched folders that were added and stay.
    pub(super) watched: HashMap<PathBuf, WatchedFile>,
    /// The local end of all connections, if a request or the file of the port changed it.
    pub(super) network: Option<Network>,
    /// The port that the file had last.
    pub(super) port_of_file: Option<NonZeroU16>,
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
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Running {
    /// The torrent in the client.
    handle: TorrentHandle,
    /// Whether the client has started the torrent. Events before are those of an earlier start.
    is_started: bool,
    request: Request,
    /// Whether a person has ended it.
    is_ending: bool,
    /// Whether it was over in another process, and was not started since.
    was_over: bool,
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
    /// What the metadata says, as rules look at it; `None` before they have looked.
    known: Option<Known>,
    /// What rules set.
    decision: Arc<Decision>,
    /// The upload limit of rules, since the goal is reached.
    throttle: Option<NonZeroU32>,
    /// While the torrent is served: the bytes that were sent, and since when no more were.
    idle: Option<(u64, Instant)>,
}

/// A torrent of the client that the store does not have.
pub(super) struct Other {
    pub(super) handle: TorrentHandle,
    request: Request,
    choices: Choices,
    /// The metadata of a torrent that is over and was added again; `None` while it is read, and if it could not be read.
    metainfo: Option<Metainfo>,
    /// Whether a person has ended it.
    is_ending: bool,
    /// Whether it was over in another process.
    was_over: bool,
}

/// A torrent that was removed, whose content is being deleted.
pub(super) struct Removing {
    /// The torrent as a person named it.
    label: Option<String>,
    pub(super) handle: TorrentHandle,
    metainfo: Metainfo,
    choices: Choices,
}

/// What is left of a torrent that leaves the client.
struct Left {
    label: Option<String>,
    metainfo: Option<Metainfo>,
    choices: Choices,
    /// Whether it was over in another process, and was not started since.
    was_over: bool,
}

/// How a person asked for a torrent, as far as no store keeps it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Request {
    /// The torrent as the person named it, if that is not by its title.
    label: Option<String>,
    /// The position among all that the person gave.
    position: Option<usize>,
    /// Whether the person chose files. Otherwise, the patterns of the mode do.
    pub(super) has_chosen_files: bool,
}

impl Request {
    /// Returns the request of a person who chose files, or did not.
    pub(super) fn for_files(has_chosen_files: bool) -> Self {
        Self {
            has_chosen_files,
            ..Self::default()
        }
    }
}

/// How a torrent is started that the client does not have.
#[derive(Default)]
pub(super) struct Start {
    pub(super) request: Request,
    /// Whether the folder, or another process, had it before.
    pub(super) is_known: bool,
    /// The number; `None` for the next one.
    pub(super) number: Option<usize>,
    /// The end of a torrent that is over.
    pub(super) over: Option<Over>,
    /// The seconds for which another process has downloaded it.
    pub(super) downloading_seconds: f64,
}

/// A file of a watched folder that was added and stays.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct WatchedFile {
    /// The length and the time of modification.
    pub(super) stamp: (u64, Option<SystemTime>),
    /// The number of its torrent.
    pub(super) number: usize,
}

impl Running {
    /// Returns a torrent that the client has not started yet.
    fn new(handle: TorrentHandle, request: Request, base: TorrentTotals) -> Self {
        Self {
            handle,
            is_started: false,
            request,
            is_ending: false,
            was_over: false,
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
            known: None,
            decision: Arc::default(),
            throttle: None,
            idle: None,
        }
    }

    /// Returns the snapshot of the torrent, if the client knows it already as it was last started.
    fn snapshot<'s>(&self, all: &'s Snapshot) -> Option<&'s Arc<TorrentSnapshot>> {
        self.handle.find(all)
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
    /// Returns torrents without a client.
    pub(super) fn new(store: Store, config: Config, hooks: Hooks) -> Self {
        let ran = store.totals().all.seconds;
        Self {
            store,
            started: (Instant::now(), ran),
            control: None,
            client: None,
            config,
            scheduled: Rates::default(),
            hooks,
            running: HashMap::new(),
            names: HashMap::new(),
            others: BTreeMap::new(),
            removing: HashMap::new(),
            first_number: 0,
            given: BTreeSet::new(),
            watched: HashMap::new(),
            network: None,
            port_of_file: None,
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
        for name in self.names_in_order() {
            let start = Start {
                is_known: true,
                ..Start::default()
            };
            // A client that has ended reports why.
            let _ = self.start(name, start);
        }
    }

    /// Records the start of the session.
    pub(super) fn begin(&mut self) {
        self.send_limits();
        self.store.totals_mut().all.starts += 1;
        // A session that is killed at once has started, too. The first tick tries again, and reports an error.
        self.is_save_due = self.save().is_err();
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
            self.given.extend(running.request.position);
            let left = Left {
                label: Some(label(&entry, &running.request)),
                metainfo: Some(entry.metainfo),
                choices: entry.choices,
                was_over: running.was_over,
            };
            self.leave(running.handle, left, content)?;
        }
        Ok(())
    }

    /// Moves the content of a torrent. The state folder has both places until the end of the move, so that a restart finds
    /// the content in either. That of [`Place::Content`] has only one.
    pub(super) fn relocate(&mut self, name: Name, folder: &Path) -> Result<(), String> {
        self.check_running()?;
        let none = || format!("{name}: waits, so that its content cannot be moved now");
        let activity = self.find(name, &self.all()).map(|it| it.activity);
        let waits = self.running.get(&name).is_some_and(|it| it.wait.is_some())
            || activity == Some(Activity::Absent);
        let handle = self.handle(name).filter(|_| !waits);
        let handle = handle.cloned().ok_or_else(none)?;
        if activity.is_some_and(Activity::is_over) {
            return Err(format!(
                "{name}: has ended or failed: resume it to move its content"
            ));
        }
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
        let Some(running) = self.running.get_mut(&name) else {
            return Err(StoreError::Absent(name).to_string());
        };
        if running.repair == Repair::No {
            running.repair = Repair::Asked;
        }
        if running.wait.is_some() || is_over {
            return self.restart(name);
        }
        let verified = running.handle.verify();
        verified.map_err(|error| format!("{name}: {error}"))
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
        let is_served = entry.is_some_and(|entry| is_served(&entry.choices, &totals));
        let Some(running) = self.running.get_mut(&name) else {
            return;
        };
        if running.repair != Repair::Asked {
            return;
        }
        running.repair = Repair::No;
        if is_served && !verified.has_selected && verified.have > 0 {
            running.repair = Repair::Downloads;
            // A client that has ended reports why.
            let _ = self.restart(name);
        }
    }

    /// Does what [`Self::keep_metainfo`] does for a torrent that is a link, and returns its name then.
    pub(super) fn keep_known(&mut self, name: Name) -> Result<Name, StoreError> {
        let number = self.number(name);
        if self.links().contains(&name) {
            self.keep_metainfo(name)?;
        }
        Ok(number
            .and_then(|number| self.numbered(number))
            .unwrap_or(name))
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
        // Patterns win over the files of the link.
        let has_patterns = match &self.config.mode {
            Some(Mode::Download(download)) => !download.selection.is_empty(),
            _ => false,
        };
        let selected = magnet.select_only.clone().filter(|_| !has_patterns);
        let new = self.store.set_metainfo(name, &metainfo)?;
        if let (Some(selected), Some(entry)) = (selected, self.store.get(new)) {
            let mut choices = entry.choices.clone();
            select_of_link(&mut choices, &metainfo, &selected);
            self.store.update(new, choices)?;
        }
        if let Some(running) = self.running.get_mut(&name) {
            running.tiers = Some(SecretTiers(tiers));
        }
        if new != name
            && let Some(running) = self.running.remove(&name)
        {
            self.names.insert(running.handle.number(), new);
            self.running.insert(new, running);
        }
        Ok(())
    }

    pub(super) fn entry(&self, name: Name) -> Result<&Entry, String> {
        let entry = self.store.get(name).ok_or(StoreError::Absent(name));
        entry.map_err(|error| error.to_string())
    }

    /// Returns `true` for an event of a torrent that was removed, and that only its content keeps in the client.
    pub(super) fn hides(&self, event: &Event) -> bool {
        let torrent = event.torrent();
        let is_removing = torrent.is_some_and(|it| self.removing.contains_key(&it.number));
        is_removing && !matches!(event, Event::Added { .. } | Event::Removed(_))
    }

    /// Returns the torrent of the store that an event concerns, as it was last started.
    fn torrent_of(&mut self, event: &Event) -> Option<Name> {
        let number = event.torrent()?.number;
        if let Some(removing) = self.removing.get(&number) {
            match event {
                Event::Removed(_) => drop(self.removing.remove(&number)),
                // Another process has removed it, and what belongs to it is known now. In this one, it has left the client.
                Event::Verified(_) | Event::Absent { .. } | Event::Failed { .. } => {
                    let _ = removing.handle.remove(Remove::DeleteContent);
                }
                _ => {}
            }
            return None;
        }
        let name = *self.names.get(&number)?;
        let running = self.running.get_mut(&name)?;
        if let Event::Added { n_restarts, .. } = event {
            running.is_started |= *n_restarts == running.handle.n_restarts();
        }
        running.is_started.then_some(name)
    }

    /// Handles an event of the client.
    pub(super) fn on_event(&mut self, event: &Event) -> Result<(), StoreError> {
        let Some(name) = self.torrent_of(event) else {
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
                let now = unix_seconds();
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
            } if is_of_system(error) && self.config.mode.is_none() => {
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
        // A torrent that is complete in this snapshot has its metadata there, which rules look at before its goal is checked.
        let all = self.all();
        self.follow_rules(&all);
        self.throttle_at_goals(&all);
        let mut reached = Vec::new();
        let mut due = Vec::new();
        for (name, running) in &self.running {
            if running
                .wait
                .as_ref()
                .is_some_and(|wait| wait.until <= Instant::now())
            {
                due.push(*name);
            } else if let Some(entry) = self.store.get(*name)
                && !entry.choices.paused
                && running.decision.throttle.is_none()
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
            if self.config.mode.is_some() {
                self.end_at_goal(name, &all);
            } else {
                errors.extend(self.pause_at_goal(name).err());
            }
        }
        for name in due {
            // A client that has ended reports why.
            let _ = self.restart(name);
        }
        errors
    }

    /// Saves totals and new metadata, and ends the client. Trackers are informed.
    pub(super) fn end(&mut self) -> Result<Vec<Outcome>, Error> {
        if self.control.is_none() {
            return Ok(Vec::new());
        }
        self.count();
        let mut saved = self.save();
        for name in self.links() {
            saved = saved.and(self.keep_metainfo(name));
        }
        self.control = None;
        let stopped = self.client.take().map(Client::stop);
        self.hooks.end();
        let outcomes = stopped.transpose()?;
        saved?;
        Ok(outcomes.unwrap_or_default())
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
        let snapshot = self.control.as_ref().map(Control::snapshot);
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
        let others = self.others.values().filter_map(|other| {
            let snapshot = other.handle.find(&all)?;
            Some((&**snapshot, snapshot.activity, snapshot.error.is_some()))
        });
        let mut status = status_of(&all, torrents.chain(others));
        let session = self.store.session();
        let limits = self.limits().into_iter();
        let requested = limits.filter(|limit| limit.requested);
        let totals = self.store.totals().all;
        let problems = self.store.problems().iter();
        let folder = self.store.folder();
        status
            .problems
            .splice(..0, problems.map(ToString::to_string));
        Status {
            state: folder.map(|folder| folder.to_string_lossy().into_owned()),
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

    /// Returns the number of a torrent.
    pub(super) fn number(&self, name: Name) -> Option<usize> {
        Some(self.running.get(&name)?.handle.number())
    }

    /// Returns the torrent with a number.
    pub(super) fn numbered(&self, number: usize) -> Option<Name> {
        self.names.get(&number).copied()
    }

    /// Returns the torrents of the client that the store does not have.
    pub(super) fn others(&self) -> &BTreeMap<usize, Other> {
        &self.others
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
        Some((running.handle.number(), found, totals))
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
        config.mode.clone_from(&before.mode);
        let (old, new) = (&before.network, &mut config.network);
        // An interface turns discovery in the local network off, which libtorrent does at its start.
        let is_same_kind = old.bind.interface().is_some() == new.bind.interface().is_some();
        if !is_same_kind {
            new.bind.clone_from(&old.bind);
        }
        self.hooks
            .set(config.hooks.clone())
            .map_err(|error| format!("hooks: {error}"))?;
        let is_same_file = config.port_file == before.port_file;
        if config.network != before.network || !is_same_file {
            let mut network = config.network.clone();
            let port = self.port_of_file.filter(|_| is_same_file);
            network.port = port.map_or(network.port, NonZeroU16::get);
            if *self.network.as_ref().unwrap_or(&before.network) != network {
                let set = self.set_network(network.clone());
                set.map_err(|error| error.to_string())?;
            }
            self.network = Some(network).filter(|network| *network != config.network);
            self.port_of_file = port;
        }
        self.config = config;
        self.follow_rules(&self.all());
        self.follow_schedule(schedule::Moment::now());
        self.send_limits();
        Ok(is_same_kind)
    }

    /// Uses the port that a file has now, unless it is in use already.
    pub(super) fn use_port_of_file(&mut self, port: NonZeroU16) -> Result<(), NetworkError> {
        let present = self.network.as_ref().unwrap_or(&self.config.network);
        if present.port != port.get() {
            let network = Network {
                port: port.get(),
                ..present.clone()
            };
            self.set_network(network)?;
            tracing::info!(port, "the file of the port changes it");
        }
        self.port_of_file = Some(port);
        Ok(())
    }

    /// Changes the local end of all connections, until the session ends.
    pub(super) fn set_network(&mut self, network: Network) -> Result<(), NetworkError> {
        let control = self.control.as_ref().ok_or(NetworkError::Stopped)?;
        control.set_network(network.clone())?;
        self.network = Some(network);
        Ok(())
    }

    pub(super) fn check_running(&self) -> Result<(), String> {
        match &self.control {
            Some(control) if control.is_open() => Ok(()),
            _ => Err("the session is ending".to_owned()),
        }
    }

    pub(super) fn handle(&self, name: Name) -> Option<&TorrentHandle> {
        Some(&self.running.get(&name)?.handle)
    }

    /// Starts a torrent that the client does not have.
    pub(super) fn start(&mut self, name: Name, start: Start) -> Result<(), AddError> {
        let (Some(entry), Some(control)) = (self.store.get(name), &self.control) else {
            return Err(AddError::Stopped);
        };
        let mut base = self.kept_totals(name);
        let mut options = AddOptions {
            is_known: start.is_known,
            number: start.number,
            ..self.options(entry, &start.request, &base, false)
        };
        let was_over = start.over.is_some();
        let source = if let Some(over) = start.over {
            base = without(&base, &over.snapshot);
            Source::Over(Box::new(over))
        } else {
            options.earlier = self.pass_on(&mut base, start.downloading_seconds);
            source(entry)
        };
        let is_paused = options.is_paused;
        let handle = control.add(source, options)?;
        let mut running = Running::new(handle, start.request, base);
        running.was_over = was_over;
        self.prepare(entry, &mut running, is_paused);
        self.names.insert(running.handle.number(), name);
        self.running.insert(name, running);
        Ok(())
    }

    /// Starts a torrent again: one that has ended, failed or waits, or whose choices the client has to learn.
    pub(super) fn restart(&mut self, name: Name) -> Result<(), String> {
        // The counts of the client begin anew.
        self.count_changed();
        let mut base = self.totals(name, self.find(name, &self.counted).map(|it| &**it));
        let entry = self.entry(name)?;
        let Some(running) = self.running.get(&name) else {
            return Err(StoreError::Absent(name).to_string());
        };
        let is_repaired = running.repair == Repair::Downloads;
        let mut options = self.options(entry, &running.request, &base, is_repaired);
        let totals = base;
        let counted = running.snapshot(&self.counted);
        let downloading = counted.map_or(0.0, |it| it.downloading_seconds.seconds());
        options.earlier = self.pass_on(&mut base, downloading);
        let is_paused = options.is_paused;
        let handle = running.handle.restart(source(entry), options);
        let handle = handle.map_err(|error| error.to_string())?;
        let entry = entry.clone();
        self.store.totals_mut().torrents.insert(name, totals);
        if let Some(mut running) = self.running.remove(&name) {
            (running.handle, running.base) = (handle, base);
            (running.is_started, running.is_ending, running.was_over) = (false, false, false);
            (running.held, running.idle, running.wait) = (None, None, None);
            running.remedy = "";
            self.prepare(&entry, &mut running, is_paused);
            self.running.insert(name, running);
        }
        Ok(())
    }

    /// Lets the client of a session that ends continue what was counted, which its events report. Takes it out of the totals.
    fn pass_on(&self, totals: &mut TorrentTotals, downloading_seconds: f64) -> Earlier {
        if self.config.mode.is_none() {
            return Earlier::default();
        }
        let serving = Duration::from_secs(std::mem::take(&mut totals.seeding_seconds));
        Earlier {
            downloaded_bytes: std::mem::take(&mut totals.received),
            uploaded_bytes: std::mem::take(&mut totals.sent),
            downloading_seconds,
            serving_seconds: serving.as_secs_f64(),
        }
    }

    /// Records how a torrent is started.
    fn prepare(&self, entry: &Entry, running: &mut Running, is_paused: bool) {
        let notice = match self.config.mode {
            None => waits_for_metadata(entry),
            Some(_) => None,
        };
        running.notice = running.notice.take().or(notice);
        running.has_metainfo |= !matches!(entry.metainfo, Metainfo::Magnet(_));
        running.turn = Turn::new(self.waits_for_turn(entry), Instant::now());
        running.is_paused = is_paused;
    }

    /// Returns `true` if a torrent waits for its first turn, which comes at the next tick. Metadata is fetched without a turn.
    fn waits_for_turn(&self, entry: &Entry) -> bool {
        let is_link = matches!(entry.metainfo, Metainfo::Magnet(_));
        self.queue().is_some() && !entry.choices.forced && !is_link
    }

    /// Returns the options of a torrent of the store.
    fn options(
        &self,
        entry: &Entry,
        request: &Request,
        totals: &TorrentTotals,
        is_repaired: bool,
    ) -> AddOptions {
        AddOptions {
            label: Some(label(entry, request)),
            mode: Some(goal(
                &entry.choices,
                request.has_chosen_files,
                self.goal_of(entry),
                totals,
                is_repaired,
                &self.config,
                self.store.metadata_file(entry.name()),
            )),
            is_paused: entry.choices.paused || self.waits_for_turn(entry),
            labels: entry.choices.labels.iter().cloned().collect(),
            limits: self.limits_of(entry).into(),
            is_known: true,
            earlier: Earlier::default(),
            number: None,
        }
    }

    /// Returns a torrent as a person named it.
    pub(super) fn label(&self, entry: &Entry) -> String {
        match self.running.get(&entry.name()) {
            Some(running) => label(entry, &running.request),
            None => entry.shown_title(),
        }
    }

    /// Ends a torrent.
    pub(super) fn end_torrent(&mut self, name: Name) -> Result<(), Refusal> {
        let running = self.running.get_mut(&name).ok_or(Refusal::Absent)?;
        running.handle.end()?;
        running.is_ending = true;
        Ok(())
    }

    /// Records that a person chose files of a torrent.
    pub(super) fn note_chosen_files(&mut self, name: Name) {
        if let Some(running) = self.running.get_mut(&name) {
            running.request.has_chosen_files = true;
        }
    }

    /// Returns `true` if a person chose files of a torrent.
    pub(super) fn has_chosen_files(&self, name: Name) -> bool {
        let running = self.running.get(&name);
        running.is_some_and(|running| running.request.has_chosen_files)
    }

    /// Lets a torrent wait for its next start.
    fn wait(&mut self, name: Name, reason: String) {
        if let Some(running) = self.running.get_mut(&name) {
            running.wait = Some(Wait {
                reason,
                until: Instant::now() + running.delay,
            });
            running.delay = MAX_RETRY.min(running.delay * 2);
        }
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
}

/// Returns a torrent as a person named it.
fn label(entry: &Entry, request: &Request) -> String {
    let label = request.label.clone();
    label.unwrap_or_else(|| entry.shown_title())
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
        _ => "",
    }
}

/// Returns `true` for errors of the system, which may pass: a full disk, a file system that is read-only or was unmounted. A session
/// starts the torrent again after such an error.
pub fn is_of_system(error: &TorrentError) -> bool {
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
