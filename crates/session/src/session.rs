//! A session, and the thread that moves it on.

use std::fmt;
use std::fs;
use std::num::NonZeroU16;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hashlane_api::{
    Command, Goal, GroupChange, Groups, Limit, NewTorrent, Priority, Rates, Refusal, Rules,
    SessionPatch, Source, Status,
};
use hashlane_client::{
    Activity, Added, Additions, Client, Config as ClientConfig, Event, Events, Identity, InfoHash,
    Named, Network, NetworkError, Observer, Outcome, Reach, Rights, Snapshot, Subscribers,
    Subscription, TorrentFile, TorrentHandle, TorrentKey, TorrentSnapshot,
};
use hashlane_metainfo::{FileKind, InfoHashes};
use hashlane_store::{AllTotals, Entry, Metainfo, Name, Store};
use hashlane_verify::{HashVersions, Layout, files_of};
use tokio::sync::watch;

use super::add;
use super::apply;
use super::config::{Config, Given, QueueLimits};
use super::error::{Error, Problem};
use super::fetches::Fetches;
use super::goal::goal_of_mode;
use super::hooks::Hooks;
use super::port_file::port_of;
use super::priorities;
use super::rules::TorrentRule;
use super::shown::Shown;
use super::threads::spawn;
use super::torrents::{Locked, Memory, Torrents, lock};
use super::watch::Watch;

/// Time for which the end of a session waits for its threads, and the interval at which it looks.
const PARTING: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(2);

/// What a session continues with.
#[derive(Debug)]
pub enum Kept {
    /// The torrents of a state folder.
    Folder(Store),
    /// The torrents that another process had in memory; [`Memory::default`] for none. They stay in memory.
    Memory(Memory),
}

impl From<Store> for Kept {
    fn from(store: Store) -> Self {
        Self::Folder(store)
    }
}

impl From<Memory> for Kept {
    fn from(memory: Memory) -> Self {
        Self::Memory(memory)
    }
}

/// The limits of all torrents together, without those of the schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The rate limits.
    pub rates: Rates,
    /// The rate limits while [`Self::is_alternative`].
    pub alternative: Rates,
    /// Whether the alternative limits are on.
    pub is_alternative: bool,
    /// Whether torrents are added paused.
    pub adds_paused: bool,
    /// The limits of the queue.
    pub queue: QueueLimits,
    /// The goal of torrents that have no other.
    pub goal: Goal,
}

/// What was transferred.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Bytes of content received since the start.
    pub received: u64,
    /// Bytes of content sent since the start.
    pub sent: u64,
    /// Seconds since the start.
    pub seconds: u64,
    /// Number of torrents.
    pub torrents: u64,
    /// The same in all starts, up to now.
    pub all: AllTotals,
}

/// The torrents of a state folder, or in memory, in a client. Methods may block for a write to the disk.
///
/// A change goes to the folder first, and then to the client: what the client does was acknowledged, or will be after a restart.
pub struct Session {
    torrents: Arc<Mutex<Torrents>>,
    /// Locked before the torrents.
    shown: Mutex<Shown>,
    subscribers: Arc<Subscribers>,
    /// Changes after each step of the session's thread.
    steps: watch::Receiver<()>,
    observer: Observer,
    fetches: Fetches,
    started: Instant,
    problems: Mutex<mpsc::Receiver<Problem>>,
    folder: Option<PathBuf>,
    _watch: Watch,
    follower: Option<JoinHandle<()>>,
}

/// Without fields: torrents have tokens and passkeys.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without an effect after `stop`.
        let _ = self.lock().end();
        // A thread that panicked has nothing to say here.
        let _ = self.follower.take().map(JoinHandle::join);
        // The folder is free with the last owner of the torrents: the thread that adds files may be between two steps.
        let began = Instant::now();
        while Arc::strong_count(&self.torrents) > 1 && began.elapsed() < PARTING {
            thread::sleep(TICK);
        }
    }
}

impl Session {
    /// Starts the torrents of a state folder, which is made if it is absent, in a client with these settings. The subscription gets
    /// all events.
    ///
    /// # Errors
    /// Another program uses the folder, the folder or records of commands in it cannot be read, or the client does not start.
    pub fn open(
        folder: &Path,
        client: ClientConfig,
        config: Config,
    ) -> Result<(Arc<Self>, Subscription), Error> {
        Self::start(Store::open(folder)?, client, config, Vec::new())
    }

    /// Starts a session that continues with what was kept, and adds what a person gave. The local end of connections is that of
    /// the client's settings, with the port of [`Config::port_file`] if that has one. If [`Config::network`] is another one, it stays
    /// as if a request had set it.
    ///
    /// # Errors
    /// Records of commands or the memory cannot be read, or the client does not start.
    pub fn start(
        kept: impl Into<Kept>,
        mut settings: ClientConfig,
        mut config: Config,
        given: Vec<Given>,
    ) -> Result<(Arc<Self>, Subscription), Error> {
        let (store, memory) = match kept.into() {
            Kept::Folder(store) => (store, Memory::default()),
            Kept::Memory(memory) => (memory.store()?, memory),
        };
        config.goal = config.goal.or(goal_of_mode(config.mode.as_ref()));
        let folder = store.folder().map(Path::to_owned);
        let (sender, problems) = mpsc::channel();
        let hooks = Hooks::start(config.hooks.clone(), folder.as_deref(), sender.clone());
        let hooks = hooks.map_err(|error| Error::Hooks {
            folder: folder.clone().unwrap_or_default(),
            error,
        })?;
        settings.additions = Additions {
            mode: None,
            max_torrents: match config.mode {
                Some(_) => Additions::default().max_torrents,
                None => usize::MAX,
            },
            // Numbers of Transmission start at 1. None of another process is used again.
            first_number: usize::from(config.mode.is_none()).max(memory.next_number()),
            runs_on: config.mode.is_none() || !config.watched.is_empty(),
        };
        let max_len = settings.max_metainfo_len;
        let fetches = Fetches::by(settings.session.proxy.clone(), max_len);
        let port_of_file = take_port(&mut settings, &config);
        let network = settings.session.network.clone();
        let network = Some(network).filter(|network| *network != config.network);
        let mut torrents = Torrents::new(store, config, hooks);
        torrents.network = network;
        torrents.port_of_file = port_of_file;
        let is_in_memory = folder.is_none();
        let started = Client::start_with(settings, |control| {
            torrents.control = Some(control.clone());
            torrents.begin();
            if !is_in_memory {
                torrents.start_all();
            }
            torrents.continue_with(memory, given)
        });
        let (client, events, continued) = started?;
        continued?;
        let observer = client.observer();
        let (stepped, steps) = watch::channel(());
        let subscribers = Arc::new(Subscribers::default());
        let subscription = subscribers.subscribe();
        let published = Events::new(Arc::clone(&subscribers));
        torrents.client = Some(client);
        let torrents = Arc::new(Mutex::new(torrents));
        let thread = hashlane_client::Error::Thread;
        let weak = Arc::downgrade(&torrents);
        let watch = Watch::start(Weak::clone(&weak), max_len, sender.clone()).map_err(thread)?;
        let run = move || follow(&weak, &events, &published, &stepped, &sender);
        let follower = spawn("session", run).map_err(thread)?;
        let session = Self {
            torrents,
            shown: Mutex::default(),
            subscribers,
            steps,
            observer,
            fetches,
            started: Instant::now(),
            problems: Mutex::new(problems),
            folder,
            _watch: watch,
            follower: Some(follower),
        };
        Ok((Arc::new(session), subscription))
    }

    fn lock(&self) -> Locked<'_> {
        lock(&self.torrents)
    }

    /// Returns the state folder; `None` if nothing is kept.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns what another process continues from, also while libtorrent does not respond.
    ///
    /// # Errors
    /// A path cannot be made absolute. Or another thread has used the torrents for too long.
    pub fn memory(&self) -> Result<Memory, Error> {
        self.lock_soon()?.memory()
    }

    /// Returns the local end of all connections, if a request changed it.
    ///
    /// # Errors
    /// Another thread has used the torrents for too long.
    pub fn requested_network(&self) -> Result<Option<Network>, Error> {
        Ok(self.lock_soon()?.network.clone())
    }

    /// Locks the torrents, unless another thread has them for long.
    fn lock_soon(&self) -> Result<MutexGuard<'_, Torrents>, Error> {
        let began = Instant::now();
        loop {
            match self.torrents.try_lock() {
                Ok(torrents) => return Ok(torrents),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if began.elapsed() < PARTING => thread::sleep(TICK),
                Err(TryLockError::WouldBlock) => return Err(Error::Busy),
            }
        }
    }

    /// Returns a subscription to all events from now on, after those that describe the state of the client. The place and the names
    /// that an event reports are in the folder already; dates, totals and metadata of links follow within a second.
    pub fn events(&self) -> Subscription {
        self.subscribers.subscribe()
    }

    /// Returns an observer of the client, for the case that libtorrent does not respond.
    pub fn observer(&self) -> Observer {
        self.observer.clone()
    }

    /// Returns `true` after [`Self::stop`], and if the client has failed. `stop` then returns the error.
    pub fn has_ended(&self) -> bool {
        let follower = self.follower.as_ref();
        follower.is_none_or(JoinHandle::is_finished)
    }

    /// Returns the problems since the last call.
    pub fn problems(&self) -> Vec<Problem> {
        let problems = self.problems.lock();
        let problems = problems.unwrap_or_else(PoisonError::into_inner);
        problems.try_iter().collect()
    }

    /// Adds a torrent, after the file of a URL was fetched, which can take a minute. Without `rights`, everything is allowed.
    ///
    /// # Errors
    /// Returns the reason why the torrent is not added.
    pub fn add(
        &self,
        source: Source,
        new: &NewTorrent,
        rights: Option<&Rights>,
    ) -> Result<Added, Refusal> {
        let (name, is_new) = add::add(&self.torrents, &self.fetches, source, new, rights)?;
        let torrents = self.lock();
        let entry = torrents.store.get(name).ok_or(Refusal::Absent)?;
        let identity = Identity {
            number: torrents.number(name).ok_or(Refusal::Absent)?,
            info_hashes: Some(entry.info_hashes),
        };
        let title = entry.shown_title();
        Ok(Added {
            torrent: Named { identity, title },
            is_present: !is_new,
        })
    }

    /// Does what a command asks of the torrents with these numbers, and returns a result for each. What a person chose is written
    /// to the folder before the answer, for many torrents together; long work ends later. Without `rights`, everything is allowed.
    pub fn apply(
        &self,
        numbers: &[usize],
        command: &Command,
        rights: Option<&Rights>,
    ) -> Vec<Result<(), Refusal>> {
        apply::apply_by_number(&self.torrents, numbers, command, rights)
    }

    /// Returns the state of all torrents in the order of their numbers, and that of the client. Two snapshots share a torrent that did
    /// not change between them, and they are the same if nothing did.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        // A thread that panicked has left a part of the torrents, and the number of an earlier change.
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.of(&self.lock())
    }

    /// Returns the state of a torrent.
    pub fn torrent(&self, key: TorrentKey) -> Option<Arc<TorrentSnapshot>> {
        let name = name_of(&self.lock(), key);
        let number = name.and_then(|name| self.lock().number(name));
        self.snapshot()
            .find(number.map_or(key, TorrentKey::Number))
            .cloned()
    }

    /// Waits until the selected content of a torrent is complete, verified and in its final place, in a thread that may block.
    ///
    /// # Errors
    /// Those of [`Self::completed`].
    pub fn wait_complete(&self, key: TorrentKey) -> Result<(), Refusal> {
        pollster::block_on(self.completed(key))
    }

    /// Waits until the selected content of a torrent is complete, verified and in its final place, also over errors that pass, such
    /// as a full disk. The future needs no particular runtime, and dropping it ends only the wait. Its end comes up to a second late.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] if the torrent has failed, [`Refusal::Absent`] if there is no such torrent, [`Refusal::Unavailable`] if
    /// the session ends.
    pub async fn completed(&self, key: TorrentKey) -> Result<(), Refusal> {
        let mut steps = self.steps.clone();
        let mut has_failed = false;
        loop {
            let torrent = self.torrent(key).ok_or(Refusal::Absent)?;
            if torrent.is_complete && torrent.move_to.is_none() {
                return Ok(());
            }
            let fails = torrent.activity == Activity::Failed;
            // The session tries again after some errors, which it has not seen before the next step.
            if fails && has_failed {
                return Err(Refusal::Conflict(torrent.error.clone().unwrap_or_default()));
            }
            has_failed = fails;
            if steps.changed().await.is_err() {
                return Err(Refusal::Unavailable("the session has ended".into()));
            }
        }
    }

    /// Returns a torrent in the client, as it was last started.
    pub fn handle(&self, key: TorrentKey) -> Option<TorrentHandle> {
        let torrents = self.lock();
        match (name_of(&torrents, key), key) {
            (Some(name), _) => torrents.handle(name).cloned(),
            (None, TorrentKey::Number(number)) => {
                let other = torrents.others().get(&number);
                other.map(|other| other.handle.clone())
            }
            (None, TorrentKey::InfoHash(_)) => None,
        }
    }

    /// Returns the files of a torrent without padding, each with its pieces; none while the metadata is unknown. They stay in view
    /// while the client adds the torrent again, for example to rename them.
    pub fn files(&self, key: TorrentKey) -> Vec<(TorrentFile, Range<u32>)> {
        let torrents = self.lock();
        let named = name_of(&torrents, key);
        let found = named.and_then(|name| {
            let (names, metainfo) = torrents.names_of_content(name)?;
            let priorities = torrents.store.get(name)?.choices.priorities.clone();
            Some((names, metainfo, priorities, torrents.handle(name).cloned()))
        });
        // The client is not asked while others wait.
        drop(torrents);
        let Some((names, metainfo, chosen, handle)) = found else {
            return Vec::new();
        };
        // The client does not know the files of a torrent that was over in another process.
        let is_complete = handle.as_ref().is_some_and(|it| it.snapshot().is_complete);
        let of_client = handle.map_or_else(Vec::new, |handle| handle.files());
        let layout = Layout::new(&metainfo, HashVersions::of(metainfo.version()));
        let files = files_of(&metainfo).filter(|(_, file)| file.kind() != FileKind::Padding);
        let files = files.zip(names.paths(&metainfo)).enumerate();
        files
            .map(|(number, ((index, file), path))| {
                let of_client = of_client.get(number);
                let priority = match of_client {
                    Some(file) => file.priority,
                    None => priorities::of(&chosen, number as u32),
                };
                let file = TorrentFile {
                    number,
                    path,
                    length_bytes: file.length(),
                    done_bytes: match of_client {
                        Some(file) => file.done_bytes,
                        None => (is_complete && priority != Priority::Skip).then(|| file.length()),
                    },
                    priority,
                };
                (file, layout.pieces_of(index))
            })
            .collect()
    }

    /// Returns the trackers of a torrent by tiers, with the secrets in their URLs.
    pub fn trackers(&self, key: TorrentKey) -> Vec<Vec<String>> {
        let torrents = self.lock();
        name_of(&torrents, key).map_or_else(Vec::new, |name| torrents.tiers(name))
    }

    /// Returns the .torrent file, with the secrets in its URLs; `None` while it is unknown.
    pub fn torrent_file(&self, key: TorrentKey) -> Option<Vec<u8>> {
        let torrents = self.lock();
        let name = name_of(&torrents, key)?;
        let path = match &torrents.store.get(name)?.metainfo {
            Metainfo::File(path) => path.clone(),
            Metainfo::Torrent(torrent) => return Some(torrent.bytes().to_vec()),
            Metainfo::Magnet(_) => return None,
        };
        drop(torrents);
        fs::read(path).ok()
    }

    /// Returns the categories and labels.
    pub fn groups(&self) -> Groups {
        self.lock().groups()
    }

    /// Changes the categories or labels. Without `rights`, everything is allowed.
    ///
    /// # Errors
    /// Returns the reason why nothing changed.
    pub fn change_groups(
        &self,
        change: &GroupChange,
        rights: Option<&Rights>,
    ) -> Result<(), Refusal> {
        self.lock().change_groups(change, rights)
    }

    /// Returns the state of all torrents together.
    pub fn status(&self) -> Status {
        self.lock().status()
    }

    /// Returns the state of all torrents together if it may have changed since the last call.
    pub fn changed_status(&self) -> Option<Status> {
        self.lock().inward().changed_status()
    }

    /// Returns what the rules of the configuration set for torrents, or what other rules would set.
    pub fn rules(&self, others: Option<&[TorrentRule]>) -> Rules {
        self.lock().inward().shown_rules(others)
    }

    /// Returns the limits of all torrents together, each with its origin.
    pub fn limits(&self) -> Vec<Limit> {
        self.lock().limits()
    }

    /// Returns the limits of all torrents together as they are in force, without those of the schedule.
    pub fn limits_in_force(&self) -> Limits {
        let torrents = self.lock();
        let chosen = torrents.store.session();
        Limits {
            rates: torrents.rates(),
            alternative: torrents.alternative(),
            is_alternative: chosen.alternative,
            adds_paused: chosen.adds_paused,
            queue: torrents.queue(),
            goal: torrents.session_goal(),
        }
    }

    /// Changes the settings of all torrents together.
    ///
    /// # Errors
    /// Returns the reason why nothing changed.
    pub fn change(&self, patch: &SessionPatch) -> Result<(), Refusal> {
        self.lock().change_session(patch)
    }

    /// Returns what was transferred, up to now.
    pub fn totals(&self) -> Totals {
        let mut torrents = self.lock();
        torrents.inward().count_changed();
        let (received, sent) = torrents.all().exchanged();
        Totals {
            received,
            sent,
            seconds: self.started.elapsed().as_secs(),
            torrents: torrents.store.iter().len() as u64,
            all: AllTotals {
                seconds: torrents.seconds(),
                ..torrents.store.totals().all
            },
        }
    }

    /// Returns whether peers can connect, and how many nodes of the DHT are known. Without a network, nothing listens.
    pub fn reach(&self) -> Reach {
        let all = self.lock().all();
        let mut reach = (*all.reach).clone();
        if all.network_problem.is_some() {
            reach.listening.clear();
        }
        reach
    }

    /// Returns the local end of all connections.
    pub fn network(&self) -> Network {
        self.lock().network()
    }

    /// Changes the local end of all connections, until the session ends.
    ///
    /// # Errors
    /// Returns the reason why nothing changed, for example a port that is in use.
    pub fn set_network(&self, network: Network) -> Result<(), NetworkError> {
        self.lock().set_network(network)
    }

    /// Replaces the settings. The folder for content, and that of records, stay as they were at the start, and so does a local end
    /// that becomes, or no longer is, an interface: libtorrent looks for it only then. Returns `false` in the latter case.
    ///
    /// # Errors
    /// Returns the reason why nothing changed, for example a port that is in use.
    pub fn configure(&self, config: Config) -> Result<bool, String> {
        self.lock().configure(config)
    }

    /// Saves totals, informs the trackers, and ends the client. The folder stays locked until the session is dropped, which does the
    /// same first. Commands of hooks that do not end within a second run again after
    /// the next start, and are a problem. Returns the outcomes of all torrents at the first call.
    ///
    /// # Errors
    /// The client has failed, or the folder cannot be written. The client has ended all the same.
    pub fn stop(&self) -> Result<Vec<Outcome>, Error> {
        self.lock().end()
    }
}

/// Gives connections the port of a file, and returns it, if there is one. The watch reports a file that has something else.
fn take_port(settings: &mut ClientConfig, config: &Config) -> Option<NonZeroU16> {
    let port = port_of(config.port_file.as_deref()?).ok()??;
    settings.session.network.port = port.get();
    Some(port)
}

fn name_of(torrents: &Torrents, key: TorrentKey) -> Option<Name> {
    let info_hashes = match key {
        TorrentKey::Number(number) => return torrents.numbered(number),
        TorrentKey::InfoHash(InfoHash::V1(v1)) => InfoHashes::V1(v1),
        TorrentKey::InfoHash(InfoHash::V2(v2)) => InfoHashes::V2(v2),
    };
    torrents.store.find(info_hashes).map(Entry::name)
}

/// Handles the events of the client, publishes them, and ticks, until the session has ended. No reader of events or problems delays
/// it.
fn follow(
    torrents: &Weak<Mutex<Torrents>>,
    events: &Subscription,
    published: &Events,
    stepped: &watch::Sender<()>,
    problems: &mpsc::Sender<Problem>,
) {
    // The receiver is gone with the session.
    let report = |problem| drop(problems.send(problem));
    loop {
        let Some(until_tick) = torrents.upgrade().map(|it| lock(&it).until_tick()) else {
            return;
        };
        let event = events.recv_timeout(until_tick);
        let Some(torrents) = torrents.upgrade() else {
            return;
        };
        let mut torrents = lock(&torrents);
        // After `stop`, an event must change nothing: what it reports is found again at the next start.
        if torrents.control.is_none() {
            return;
        }
        match event {
            Ok(event) => {
                let is_hidden = torrents.hides(&event);
                let handled = match &*event {
                    Event::Opened { torrent, metainfo } => {
                        torrents.keep_given(torrent.number, metainfo)
                    }
                    event => torrents.on_event(event),
                };
                if let Err(error) = handled {
                    report(Problem::Error(error.to_string()));
                }
                if !is_hidden {
                    published.send(event);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if torrents.until_tick().is_zero() {
            for error in torrents.tick() {
                report(Problem::Error(error.to_string()));
            }
        }
        drop(torrents);
        stepped.send_replace(());
    }
}
