//! The client: its interface, and the start of its threads.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::num::NonZeroU16;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hashlane_api::TorrentKey;
use hashlane_swarm::{Network, Session};
use hashlane_verify::CancelToken;
use tokio::sync::watch;

use crate::command::Command;
use crate::config::{AddError, AddOptions, Config};
use crate::control::Control;
use crate::error::{Error, NetworkError};
use crate::event::Outcome;
use crate::handle::TorrentHandle;
use crate::inbox::Inbox;
use crate::ledger::Ledger;
use crate::network::Watch;
use crate::observer::Observer;
use crate::running::Running;
use crate::snapshot::Snapshot;
use crate::source::{Source, Task};
use crate::subscription::{Events, Subscribers, Subscription};
use crate::torrent::Shared;
use crate::worker::Worker;

/// Time without another .torrent file before the verification of the smallest torrent starts.
const OPENING: Duration = Duration::from_millis(50);

/// A client that downloads and seeds torrents on its own threads.
///
/// The client ends when all its torrents have ended, or when it is stopped: by [`Client::stop`], by its cancel token, or
/// because it is dropped. The subscriptions to its events end with it.
pub struct Client {
    /// Taken by the method that waits for the end.
    thread: Option<JoinHandle<Result<Vec<Outcome>, Error>>>,
    cancel: CancelToken,
    control: Control,
    observer: Observer,
}

/// Without fields: events, links and records of torrents have tokens and passkeys.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

impl Client {
    /// Opens the session, and starts the tasks. The subscription gets all events.
    ///
    /// # Errors
    /// [`Error::Session`] if libtorrent refuses the settings, [`Error::Thread`] if no thread can be started.
    pub fn start(config: Config, tasks: Vec<Task>) -> Result<(Self, Subscription), Error> {
        let (client, events, ()) = Self::start_with(config, |control| {
            for task in tasks {
                let options = AddOptions {
                    label: Some(task.label),
                    mode: Some(task.mode),
                    is_known: true,
                    ..AddOptions::default()
                };
                // A warning reports a torrent too many.
                let _ = control.add(task.source, options);
            }
        })?;
        Ok((client, events))
    }

    /// Does the same as [`Self::start`], with the torrents that `add` adds. They are known to the client before it looks whether all its
    /// torrents have ended. Returns the result of `add`, too.
    ///
    /// # Errors
    /// The same.
    pub fn start_with<T>(
        mut config: Config,
        add: impl FnOnce(&Control) -> T,
    ) -> Result<(Self, Subscription, T), Error> {
        let watch = Watch::start(&config.session.network.bind).map_err(Error::Network)?;
        let session = Arc::new(Session::new(&config.session, watch.problem().is_some())?);
        let ledger = Arc::new(Ledger::new(&config.additions));
        let (sender, messages) = mpsc::channel();
        let inbox = Inbox::new(sender, Arc::downgrade(&session), Arc::clone(&ledger));
        let subscribers = Arc::new(Subscribers::default());
        let subscription = subscribers.subscribe();
        let events = Events::new(Arc::clone(&subscribers));
        // Stopping this client must not stop others with the same settings.
        config.cancel = config.cancel.child();
        let cancel = config.cancel.clone();
        let (snapshot_sender, snapshots) = watch::channel(Arc::default());
        let control = Control {
            inbox: inbox.clone(),
            snapshots: snapshots.clone(),
            subscribers,
        };
        let added = add(&control);
        let patience = patience(ledger.n_torrents());
        let [opener, verifier, checker, mover] =
            workers(&inbox, patience, config.max_verifications)?;
        let observer = Observer {
            session: Arc::downgrade(&session),
            snapshots,
            ledger: Arc::clone(&ledger),
        };
        let shared = Shared {
            config,
            session,
            opener,
            verifier,
            checker,
            mover,
            inbox,
            events,
            places: RefCell::default(),
            ledger,
            search_budget: Arc::default(),
            n_parting: Cell::new(0),
        };
        let mut running = Running::new(shared, watch, messages, snapshot_sender);
        let log = tracing::dispatcher::get_default(Clone::clone);
        let run = move || {
            let result = running.run();
            running.end();
            result
        };
        let thread = thread::Builder::new()
            .name("client".into())
            .spawn(move || tracing::dispatcher::with_default(&log, run))
            .map_err(Error::Thread)?;
        let client = Self {
            thread: Some(thread),
            cancel,
            control,
            observer,
        };
        Ok((client, subscription, added))
    }

    /// Returns what other threads control the client with. It does not keep the client running.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Sends a command. It has no effect if the client has ended.
    pub fn send(&self, command: Command) {
        self.control.send(command);
    }

    /// Adds a torrent, and returns at once. Its source is read or fetched later: if that fails, so does the torrent.
    ///
    /// # Errors
    /// Returns the reason why the client takes no torrent.
    pub fn add(&self, source: Source, options: AddOptions) -> Result<TorrentHandle, AddError> {
        self.control.add(source, options)
    }

    /// Returns all torrents in the order of their numbers, with those that have ended, and without those that were removed.
    pub fn torrents(&self) -> Vec<TorrentHandle> {
        self.control.torrents()
    }

    /// Returns the torrent of a key, as [`Snapshot::find`] does. A torrent has its number as soon as it was added, and an
    /// info-hash as soon as its metadata or its magnet link is known.
    pub fn get(&self, key: impl Into<TorrentKey>) -> Option<TorrentHandle> {
        self.control.get(key.into())
    }

    /// Changes the addresses and the port of all connections, and returns before they are changed. Connections of peers stay,
    /// unless the interface changes. [`Event::Listening`](crate::Event::Listening) reports new addresses, and
    /// [`Event::Warning`](crate::Event::Warning) problems with them.
    ///
    /// # Errors
    /// [`NetworkError`] if the port is in use, if this machine does not have the address, or if the client has ended. Nothing
    /// changes then.
    pub fn set_network(&self, network: Network) -> Result<(), NetworkError> {
        self.control.set_network(network)
    }

    /// Returns a subscription to all events from now on. It begins with the addresses of the page and of the session, if
    /// they are known.
    pub fn subscribe(&self) -> Subscription {
        self.control.subscribe()
    }

    /// Returns an observer of the client, for the case that libtorrent does not respond.
    pub fn observer(&self) -> Observer {
        self.observer.clone()
    }

    /// Returns the latest snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.control.snapshot()
    }

    /// Waits for the end of the client, and returns the outcome of each torrent that was not removed.
    ///
    /// # Errors
    /// Returns the error that ended the client.
    ///
    /// # Panics
    /// Panics if the client's thread has panicked.
    pub fn join(mut self) -> Result<Vec<Outcome>, Error> {
        let thread = self
            .thread
            .take()
            .expect("only this method takes the thread");
        thread.join().expect("the client does not panic")
    }

    /// Stops the client, and returns the outcome of each torrent that was not removed. Incomplete downloads stay on disk, and count as failed.
    /// Trackers are informed for at most 1.5 s.
    ///
    /// # Errors
    /// Returns the error that ended the client.
    ///
    /// # Panics
    /// Panics if the client's thread has panicked.
    pub fn stop(self) -> Result<Vec<Outcome>, Error> {
        self.cancel();
        self.join()
    }

    fn cancel(&self) {
        self.cancel.cancel();
        if let Some(session) = self.control.session() {
            session.wake();
        }
    }
}

impl Drop for Client {
    /// Stops the client, and waits for its end as [`Self::stop`] does.
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.cancel();
            // The outcomes and a panic of the thread have no reader.
            let _ = thread.join();
        }
    }
}

/// Returns the time to wait for a smaller torrent before the first verification. Small torrents can be served while large
/// ones are verified.
fn patience(n_torrents: usize) -> Duration {
    if n_torrents > 1 {
        OPENING
    } else {
        Duration::ZERO
    }
}

/// Starts the threads that open, verify and move content. `patience` is that of first verifications, of which
/// `max_verifications` run at once.
fn workers(
    inbox: &Inbox,
    patience: Duration,
    max_verifications: NonZeroU16,
) -> Result<[Worker; 4], Error> {
    let one = |name| Worker::start(name, inbox, Duration::ZERO, NonZeroU16::MIN);
    Ok([
        one("open")?,
        Worker::start("verify", inbox, patience, max_verifications)?,
        one("check")?,
        one("move")?,
    ])
}
