//! The event loop of a client.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::{Arc, mpsc};
use std::thread::{self};
use std::time::{Duration, Instant};

use hashlane_api::RatesPatch;
use hashlane_swarm::{Bind, Event as SessionEvent, Network, Session, Status, TorrentId, Transport};
use tokio::sync::watch;
use tracing::{debug, info, warn};

use crate::command::{Command, Remove, TorrentCommand};
use crate::comparison::Comparison;
use crate::config::Mode;
use crate::error::Error;
use crate::event::{Event, Outcome, RemovedTorrent};
use crate::inbox::{Done, Message, Start};
use crate::limits::change;
use crate::log;
use crate::network::{Change, Watch};
use crate::snapshot::{Reach, Snapshot};
use crate::source::NewTorrent;
use crate::torrent::{Machine, Removal, Shared};
use crate::utp::UtpFallback;

/// Interval at which the snapshot is updated and the cancel token is checked.
const TICK: Duration = Duration::from_millis(200);

/// Interval at which torrents that are quiet are looked at too.
const ROUND: Duration = Duration::from_secs(1);

/// Interval at which the session is asked for its counters. Commands bring them, too.
const COUNTERS: Duration = Duration::from_secs(5);

/// Number of messages that are handled before the events of the session are read. libtorrent keeps a record of about a
/// kilobyte for each event that waits, and never returns the memory.
const MAX_MESSAGES: usize = 64;

/// Snapshots take at most one part in this many of the time: one of 5,000 torrents takes as long as a few messages.
const SNAPSHOT_SHARE: u32 = 32;

/// Number of free ports to try.
const MAX_LISTEN_ATTEMPTS: u32 = 10;

/// Time for the trackers of an ended torrent to answer, before the torrent leaves the session.
const PARTING: Duration = Duration::from_secs(5);

/// Maximum time in which a client that was stopped deletes the content of removed torrents.
const DELETION_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum duration of the end of a session, during which libtorrent informs trackers.
const END_TIMEOUT: Duration = Duration::from_millis(1500);

/// The state of the loop.
pub(crate) struct Running {
    shared: Shared,
    /// The interface of all connections.
    watch: Watch,
    /// Whether the local end of connections was changed. Later problems end the client no more.
    is_network_changed: bool,
    messages: mpsc::Receiver<Message>,
    /// The state machines by the numbers of their torrents, which are never reused.
    torrents: BTreeMap<usize, Box<Machine>>,
    /// The numbers of the torrents that are updated at each tick, because they are not quiet or something happened to them.
    busy: BTreeSet<usize>,
    comparison: Comparison,
    next_number: usize,
    /// Removed torrents whose content is being deleted.
    removals: Vec<Removal>,
    /// The time when the client was stopped.
    stopped: Option<Instant>,
    /// Whether anything changed since the last snapshot.
    is_changed: bool,
    /// The reports of removed torrents that the next snapshot lacks.
    removed: Vec<RemovedTorrent>,
    snapshots: watch::Sender<Arc<Snapshot>>,
    max_down: Option<u32>,
    max_up: Option<u32>,
    /// The reason why no peer can connect. It ends the client as soon as a torrent needs peers.
    listen_error: Option<Error>,
    n_listen_attempts: u32,
    utp: UtpFallback,
    /// The time of the last update of the snapshot.
    updated: Instant,
    /// The time of the last look at quiet torrents.
    looked: Instant,
    /// The time of the last request for counters of the session.
    counted: Instant,
    reach: Arc<Reach>,
    /// Whether messages may be left.
    has_messages: bool,
    /// The earliest time of the next snapshot.
    next_snapshot: Instant,
}

impl Running {
    pub(crate) fn new(
        shared: Shared,
        watch: Watch,
        messages: mpsc::Receiver<Message>,
        snapshots: watch::Sender<Arc<Snapshot>>,
    ) -> Self {
        Self {
            max_down: shared.config.session.max_down,
            max_up: shared.config.session.max_up,
            next_number: 0,
            shared,
            watch,
            is_network_changed: false,
            messages,
            torrents: BTreeMap::new(),
            busy: BTreeSet::new(),
            comparison: Comparison::default(),
            removals: Vec::new(),
            stopped: None,
            is_changed: false,
            removed: Vec::new(),
            snapshots,
            listen_error: None,
            n_listen_attempts: 1,
            utp: UtpFallback::default(),
            updated: Instant::now(),
            looked: Instant::now(),
            counted: Instant::now(),
            reach: Arc::default(),
            // Torrents that were added before the start.
            has_messages: true,
            next_snapshot: Instant::now(),
        }
    }

    pub(crate) fn run(&mut self) -> Result<Vec<Outcome>, Error> {
        self.warn_of_network();
        self.publish();
        loop {
            let outcomes = self.torrents.values().map(|torrent| torrent.outcome());
            let additions = &self.shared.config.additions;
            let is_waiting = additions.runs_on && !self.shared.config.cancel.is_cancelled();
            let is_deleting = !self.removals.is_empty()
                && self
                    .stopped
                    .is_none_or(|since| since.elapsed() < DELETION_TIMEOUT);
            if !is_waiting
                && !is_deleting
                && !self.has_messages
                && let Some(outcomes) = outcomes.collect()
            {
                let Some(message) = self.shared.ledger.close(|| self.messages.try_recv().ok())
                else {
                    self.publish();
                    return Ok(outcomes);
                };
                self.on_message(message)?;
                self.has_messages = true;
                continue;
            }
            self.step()?;
        }
    }

    /// Waits for events until the next tick, and handles them.
    fn step(&mut self) -> Result<(), Error> {
        self.shared.config.pulse.beat();
        let mut patience = if self.has_messages {
            Duration::ZERO
        } else {
            TICK.saturating_sub(self.updated.elapsed())
        };
        if self.is_changed {
            patience = patience.min(self.next_snapshot.saturating_duration_since(Instant::now()));
        }
        let events = self.shared.session.wait(patience)?;
        if self.shared.config.cancel.is_cancelled() {
            if self.stopped.is_none() {
                info!("interrupted");
                self.stopped = Some(Instant::now());
            }
            self.busy.extend(self.torrents.keys());
            self.update()?;
            for torrent in self.torrents.values_mut() {
                torrent.interrupt(&self.shared);
            }
        }
        let mut finished = BTreeSet::new();
        for event in events {
            if let SessionEvent::Finished(id) = event {
                let identity = self.shared.ledger.identity(id);
                finished.extend(identity.map(|identity| identity.number));
            }
            self.on_event(event);
        }
        self.has_messages = true;
        for _ in 0..MAX_MESSAGES {
            let Ok(message) = self.messages.try_recv() else {
                self.has_messages = false;
                break;
            };
            self.on_message(message)?;
        }
        for removal in &mut self.removals {
            removal.start(
                &self.shared,
                self.torrents.values().map(|torrent| &**torrent),
            );
        }
        if self.updated.elapsed() >= TICK {
            self.updated = Instant::now();
            self.update()?;
        } else if !finished.is_empty() {
            let statuses = self.statuses(&finished)?;
            self.apply(finished, &statuses);
        }
        if self.is_changed && self.next_snapshot <= Instant::now() {
            self.publish();
        }
        if self.listen_error.is_some()
            && self.torrents.values().any(|torrent| torrent.needs_peers())
            && let Some(error) = self.listen_error.take()
        {
            return Err(error);
        }
        Ok(())
    }

    fn on_event(&mut self, event: SessionEvent) {
        let id = event.torrent();
        let identity = id.and_then(|id| self.shared.ledger.identity(id));
        if let SessionEvent::Removed(id) = event {
            self.shared.ledger.left(id);
        }
        let number = identity.map(|identity| identity.number);
        let torrent = number.and_then(|number| self.torrents.get_mut(&number));
        // A torrent joins the session again with another identity.
        let torrent = torrent.filter(|torrent| torrent.snapshot.id == id);
        if let Some(torrent) = &torrent {
            self.busy.insert(torrent.snapshot.identity.number);
        }
        let label = torrent.as_ref().map(|it| it.snapshot.torrent.as_str());
        log::event(label, &event);
        match (torrent, event) {
            (Some(torrent), event) => {
                if let Err(error) = torrent.on_event(&self.shared, event) {
                    torrent.fail(&self.shared, error);
                }
            }
            (None, SessionEvent::Dropped) => self.catch_up(),
            (None, SessionEvent::Counters(counters)) if counters != self.reach.counters => {
                Arc::make_mut(&mut self.reach).counters = counters;
                self.is_changed = true;
            }
            (None, SessionEvent::Listening(address)) => {
                if !self.reach.listening.contains(&address) {
                    Arc::make_mut(&mut self.reach).listening.push(address);
                    self.is_changed = true;
                }
                self.shared.events.send(Event::Listening(address));
            }
            (
                None,
                SessionEvent::ListenFailed {
                    port,
                    is_taken,
                    text,
                },
            ) => self.on_listen_failed(port, is_taken, text),
            (None, _) => {}
        }
    }

    /// Tries another port if any will do. Otherwise records an error if the port is taken or the address is the only one, and
    /// sends a warning in all other cases.
    fn on_listen_failed(&mut self, port: u16, is_taken: bool, text: String) {
        if self.watch.problem().is_some() {
            // The sockets are closed on purpose.
            return;
        }
        let network = &self.shared.config.session.network;
        let is_fatal = !self.is_network_changed && network.bind.interface().is_none();
        // The system chooses a free port of TCP, and UDP needs the port of the same number.
        if is_taken
            && network.port == 0
            && self.n_listen_attempts < MAX_LISTEN_ATTEMPTS
            && self.shared.session.listen_again().is_ok()
        {
            self.n_listen_attempts += 1;
            return;
        }
        let error = if is_taken && !self.is_network_changed {
            Error::PortTaken { port, text }
        } else if network.bind != Bind::Any && is_fatal {
            Error::Listen { port, text }
        } else {
            self.warn(format!("port {port}: {text}"));
            return;
        };
        // A client without torrents runs on, and the error ends it only later.
        if self.shared.ledger.n_torrents() == 0 && self.listen_error.is_none() {
            let option = match error {
                Error::PortTaken { .. } => "--port",
                _ => "--bind",
            };
            self.warn(format!(
                "{error}; the first torrent that needs peers ends the program: choose another one with {option}"
            ));
        }
        self.listen_error = Some(error);
    }

    /// Reports a problem that concerns no torrent.
    fn warn(&self, message: String) {
        warn!(reason = message);
        self.shared.events.send(Event::Warning {
            torrent: None,
            message,
        });
    }

    /// Makes up for events that were dropped because too many were waiting.
    fn catch_up(&mut self) {
        self.busy.extend(self.torrents.keys());
        for torrent in self.torrents.values_mut() {
            let result = torrent
                .missed_events(&self.shared.session)
                .and_then(|events| {
                    events
                        .into_iter()
                        .try_for_each(|event| torrent.on_event(&self.shared, event))
                });
            if let Err(error) = result {
                torrent.fail(&self.shared, error);
            }
        }
    }

    fn on_message(&mut self, message: Message) -> Result<(), Error> {
        match message {
            Message::Add(number, mode, new) => self.add(number, mode, *new),
            Message::Restart(number, mode, new) => self.restart(number, mode, *new),
            Message::Refused(label, reason) => {
                warn!(torrent = label, %reason, "not added");
                self.shared.events.send(Event::Warning {
                    torrent: None,
                    message: format!("{label}: not added: {reason}"),
                });
            }
            Message::Network(network) => self.change_network(network)?,
            Message::Command(Command::Limit(limits)) => self.limit(limits)?,
            Message::Command(Command::Torrent(number, TorrentCommand::Remove(content))) => {
                self.remove(number, content);
            }
            Message::Command(Command::Torrent(number, command)) => {
                // A command can have the number of no torrent.
                if let Some(torrent) = self.torrents.get_mut(&number) {
                    self.busy.insert(number);
                    torrent.on_command(&self.shared, command);
                }
            }
            Message::Done(start, done) => {
                self.on_done(start, done);
            }
            Message::Compared { changed, took } => {
                self.comparison.end(took);
                for number in changed {
                    if let Some(torrent) = self.torrents.get_mut(&number) {
                        torrent.check_files(&self.shared);
                    }
                }
            }
        }
        Ok(())
    }

    /// Handles the result of work on another thread.
    fn on_done(&mut self, start: Start, done: Done) {
        let torrent = self.torrents.get_mut(&start.torrent);
        let Some(torrent) = torrent.filter(|torrent| torrent.start == start) else {
            self.on_done_for_removed(start, done);
            return;
        };
        let done = match done {
            Done::Opened(Ok(stored)) if torrent.snapshot.is_download => {
                let mut removals = self.removals.iter_mut();
                if let Some(removal) = removals.find(|it| it.occupies(&stored.root)) {
                    removal.defer(start, stored);
                    return;
                }
                Done::Opened(Ok(stored))
            }
            done => done,
        };
        if matches!(done, Done::Opened(_)) {
            self.remove_ended(Duration::ZERO);
        }
        if let Some(torrent) = self.torrents.get_mut(&start.torrent) {
            self.busy.insert(start.torrent);
            if let Err(error) = torrent.on_done(&self.shared, done) {
                torrent.fail(&self.shared, error);
            }
        }
    }

    /// Handles the result of work for a torrent that was removed or started again. All but moves and deletions was of use to the torrent alone.
    fn on_done_for_removed(&mut self, start: Start, done: Done) {
        let mut removals = self.removals.iter();
        let Some(position) = removals.position(|removal| removal.start == start) else {
            return;
        };
        match done {
            Done::Moved(moved) => {
                let moved = moved.ok().map(|moved| moved.stored);
                self.removals[position].moved(moved);
            }
            Done::Deleted(deletion) => {
                let removal = self.removals.remove(position);
                let (removed, waiting) = removal.end(deletion);
                self.removed.push(removed);
                self.is_changed = true;
                for (start, stored) in waiting {
                    self.on_done(start, Done::Opened(Ok(stored)));
                }
            }
            _ => {}
        }
    }

    /// Removes a torrent. A command can have the number of no torrent.
    fn remove(&mut self, number: usize, content: Remove) {
        if let Some(torrent) = self.torrents.remove(&number) {
            info!(torrent = torrent.snapshot.torrent, "removed");
            self.busy.remove(&number);
            match torrent.remove_from_client(&self.shared, content, self.next_number) {
                Ok(removal) => self.removals.push(removal),
                Err(removed) => self.removed.push(*removed),
            }
            self.shared.ledger.removed();
            self.is_changed = true;
        }
    }

    /// Starts a torrent again. A message can have the number of no torrent.
    fn restart(&mut self, number: usize, mode: Mode, new: NewTorrent) {
        if let Some(torrent) = self.torrents.remove(&number) {
            debug!(torrent = torrent.snapshot.torrent, "stops");
            // The content stays, so that nothing is left of the removal.
            let start = Start {
                n_restarts: torrent.start.n_restarts + 1,
                ..torrent.start
            };
            let _ = torrent.remove_from_client(&self.shared, Remove::Keep, self.next_number);
            self.start(start, mode, new);
        }
    }

    /// Removes the torrents from the session that ended at least this long ago.
    fn remove_ended(&mut self, after: Duration) {
        if self.shared.n_parting.get() == 0 {
            return;
        }
        for torrent in self.torrents.values_mut() {
            torrent.leave_session(&self.shared, after);
        }
    }

    /// Adds a torrent while the client runs. Torrents come in the order of their numbers.
    fn add(&mut self, number: usize, mode: Mode, new: NewTorrent) {
        debug_assert!(number >= self.next_number);
        self.next_number = number + 1;
        let start = Start {
            torrent: number,
            n_restarts: 0,
        };
        self.start(start, mode, new);
    }

    /// Starts a torrent.
    fn start(&mut self, start: Start, mode: Mode, new: NewTorrent) {
        let number = start.torrent;
        let label = new.label;
        if new.is_known {
            debug!(torrent = label, number, "starts");
        } else {
            info!(torrent = label, number, "added");
        }
        self.remove_ended(Duration::ZERO);
        let mut torrent = Machine::new(start, &label, mode);
        torrent.continue_from(new.earlier);
        let snapshot = &mut *torrent.snapshot;
        (snapshot.is_paused, snapshot.labels) = (new.is_paused, new.labels);
        change(new.limits, &mut snapshot.max_down, &mut snapshot.max_up);
        self.shared.events.send(Event::Added {
            torrent: torrent.snapshot.identity,
            label,
            is_known: new.is_known,
            n_restarts: start.n_restarts,
        });
        if let Err(error) = torrent.start(&self.shared, new.source) {
            torrent.fail(&self.shared, error);
        }
        self.torrents.insert(number, Box::new(torrent));
        self.busy.insert(number);
    }

    fn limit(&mut self, limits: RatesPatch) -> Result<(), Error> {
        change(limits, &mut self.max_down, &mut self.max_up);
        self.is_changed = true;
        Ok(self.shared.session.limit(self.max_down, self.max_up)?)
    }

    /// Updates the torrents from the session: those that are busy, and after a while all.
    fn update(&mut self) -> Result<(), Error> {
        self.remove_ended(PARTING);
        self.watch_network()?;
        if self.looked.elapsed() >= ROUND {
            self.looked = Instant::now();
            self.look_around();
        }
        if self.counted.elapsed() >= COUNTERS {
            self.counted = Instant::now();
            self.shared.session.wake();
        }
        let busy = std::mem::take(&mut self.busy);
        let statuses = self.statuses(&busy)?;
        if self.shared.config.session.transport == Transport::Both
            // A torrent without peers that it needs is busy.
            && let Some(utp) = self.utp.update(Instant::now(), statuses.values())
        {
            self.shared.session.use_utp(utp)?;
        }
        self.apply(busy, &statuses);
        Ok(())
    }

    /// Returns the states of those of these torrents that are in the session.
    fn statuses(&self, numbers: &BTreeSet<usize>) -> Result<HashMap<TorrentId, Status>, Error> {
        let numbers = numbers.iter();
        let ids = numbers.filter_map(|number| self.torrents.get(number)?.snapshot.id);
        Ok(self.shared.session.statuses(&ids.collect::<Vec<_>>())?)
    }

    /// Gives these torrents their states in the session. Those that are not quiet become busy.
    fn apply(&mut self, numbers: BTreeSet<usize>, statuses: &HashMap<TorrentId, Status>) {
        self.is_changed |= !numbers.is_empty();
        for number in numbers {
            let Some(torrent) = self.torrents.get_mut(&number) else {
                continue;
            };
            let status = torrent.snapshot.id.and_then(|id| statuses.get(&id));
            if let Some(status) = status
                && let Err(error) = torrent.on_status(&self.shared, status)
            {
                torrent.fail(&self.shared, error);
            }
            torrent.update_progress();
            if !torrent.is_quiet() {
                self.busy.insert(number);
            }
        }
    }

    /// Looks at all torrents for what comes with time, and compares the files of those that are served.
    fn look_around(&mut self) {
        let now = Instant::now();
        for (number, torrent) in &mut self.torrents {
            if torrent.look_around(&self.shared) {
                self.busy.insert(*number);
            }
        }
        if !self.comparison.is_due(now) {
            return;
        }
        let torrents = self.torrents.iter();
        let due = torrents.filter_map(|(number, torrent)| {
            let files = torrent.files_to_compare(now)?;
            Some((*number, files))
        });
        self.comparison.start(&self.shared.verifier, due.collect());
    }

    /// Changes the local end of all connections.
    fn change_network(&mut self, network: Network) -> Result<(), Error> {
        let session = &self.shared.session;
        self.watch = Watch::start(&network.bind).map_err(Error::Network)?;
        self.n_listen_attempts = 1;
        (self.is_network_changed, self.listen_error) = (true, None);
        Arc::make_mut(&mut self.reach).listening.clear();
        if self.watch.problem().is_some() {
            session.suspend()?;
        } else {
            session.connect(&network)?;
        }
        self.shared.config.session.network = network;
        self.on_network();
        Ok(())
    }

    /// Closes all sockets when the interface vanishes, and opens them when it returns.
    fn watch_network(&mut self) -> Result<(), Error> {
        let network = &self.shared.config.session.network;
        let session = &self.shared.session;
        let Some(change) = self.watch.look(&network.bind) else {
            return Ok(());
        };
        info!(interface = %network.bind, ?change, "network");
        if matches!(change, Change::Vanished | Change::Replaced) {
            Arc::make_mut(&mut self.reach).listening.clear();
            session.suspend()?;
        }
        if matches!(change, Change::Returned | Change::Replaced) {
            self.n_listen_attempts = 1;
            session.connect(network)?;
        }
        if change == Change::Readdressed {
            session.listen_again()?;
        }
        self.on_network();
        Ok(())
    }

    /// Publishes a change of the network, which concerns all torrents.
    fn on_network(&mut self) {
        self.is_changed = true;
        self.busy.extend(self.torrents.keys());
        self.warn_of_network();
    }

    /// Reports that there are no connections.
    fn warn_of_network(&self) {
        if let Some(problem) = self.watch.problem() {
            self.warn(format!(
                "{problem}; all torrents wait until it returns (--bind)"
            ));
        }
    }

    fn publish(&mut self) {
        let started = Instant::now();
        self.is_changed = false;
        let torrents = self.torrents.values();
        let config = &self.shared.config;
        let additions = &config.additions;
        let problem = self.watch.problem();
        self.snapshots.send_replace(Arc::new(Snapshot {
            torrents: torrents
                .map(|torrent| match problem {
                    Some(problem) => torrent.snapshot.without_network(problem),
                    None => torrent.snapshot.share(),
                })
                .collect(),
            next_number: self.next_number,
            max_down: self.max_down,
            max_up: self.max_up,
            accepts_torrents: additions.mode.is_some()
                && self.torrents.len() < additions.max_torrents,
            network: config.session.network.clone(),
            reach: Arc::clone(&self.reach),
            network_problem: problem.map(str::to_owned),
        }));
        let ended = Instant::now();
        self.next_snapshot = ended + (ended - started) * (SNAPSHOT_SHARE - 1);
        self.shared.ledger.published(self.next_number);
        for removed in self.removed.drain(..) {
            self.shared.events.send(Event::Removed(removed));
        }
    }

    /// Ends the work that is still running, and the session.
    pub(crate) fn end(self) {
        for torrent in self.torrents.values() {
            torrent.cancel_verification();
        }
        let Self {
            shared, messages, ..
        } = self;
        // The workers skip the remaining jobs when their results have no receiver.
        drop(messages);
        let Shared {
            session,
            opener,
            verifier,
            checker,
            mover,
            ..
        } = shared;
        drop((opener, verifier, checker, mover));
        end_session(session);
    }
}

/// Ends a session. Waits for trackers for at most [`END_TIMEOUT`].
fn end_session(session: Arc<Session>) {
    let (done, ended) = mpsc::channel::<Infallible>();
    let end = move || {
        drop(session);
        drop(done);
    };
    // Without a thread, the session ends here: the closure is dropped.
    let _ = thread::Builder::new().name("end".into()).spawn(end);
    let _ = ended.recv_timeout(END_TIMEOUT);
}
