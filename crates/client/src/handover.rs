//! The state of a client that another process continues from.
//!
//! A thread of libtorrent that computes forever cannot be ended inside its process. So the process executes its program
//! again, without the torrent whose web seed has caused it. The content on the disk is the rest of the state.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use data_encoding::BASE64;
use hashlane_api::{Identity, RatesPatch};
use hashlane_swarm::{Bind, Network, Session, Settings, TorrentId, WebSeeds};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::chosen::Chosen;
use crate::command::Command;
use crate::config::{AddError, Additions, Mode, NewTorrent, Source, Task, reader};
use crate::event::Outcome;
use crate::limits::change;
use crate::origin::{Origin, WatchedFile};
use crate::snapshot::{Snapshot, TorrentSnapshot};

/// Number of restarts after which web seeds are no longer used.
const MAX_RESTARTS: usize = 8;

/// The state of a client that another process continues from; see [`Client::observer`](crate::Client::observer).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Handover {
    /// The reason for the restart, as text; empty for a client that continues from no other.
    pub cause: String,
    /// Whether the program has already failed for a reason that the client does not know.
    pub has_failed: bool,
    /// The servers that made libtorrent hang, `host:port`: one for each restart.
    pub(crate) avoided_web_seeds: Vec<String>,
    /// The torrents by number, without those that were removed.
    pub(crate) torrents: Vec<Option<Past>>,
    pub(crate) limits: Option<(Option<u32>, Option<u32>)>,
    /// The address, the interface and the port of connections, if they were changed.
    #[serde(default)]
    network: Option<(Option<IpAddr>, Option<String>, u16)>,
}

/// The state of one torrent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Past {
    pub(crate) snapshot: TorrentSnapshot,
    /// The outcome, if the torrent is over.
    pub(crate) outcome: Option<Outcome>,
    pub(crate) is_paused: bool,
    /// The server that made libtorrent hang, if it is a web seed of this torrent.
    pub(crate) web_seed: Option<String>,
    pub(crate) file: Option<WatchedFile>,
    pub(crate) origin: Option<Origin>,
    /// What commands changed.
    #[serde(default)]
    pub(crate) chosen: Chosen,
}

impl Past {
    /// Returns the state of a torrent of the latest snapshot.
    fn of(snapshot: &TorrentSnapshot) -> Self {
        let detail = &snapshot.detail;
        let stored = detail.stored.as_ref().filter(|_| detail.outcome.is_none());
        let read = || stored.map(|stored| Origin::of_metainfo(stored.torrent().bytes()));
        Self {
            outcome: detail.outcome,
            is_paused: snapshot.is_paused,
            web_seed: None,
            file: detail.file.clone(),
            origin: detail.origin.clone().or_else(read),
            chosen: Chosen::default(),
            snapshot: snapshot.clone(),
        }
    }

    /// Returns the state of a torrent that the loop has not added yet.
    fn of_new(number: usize, new: &NewTorrent) -> Self {
        let mut snapshot = TorrentSnapshot {
            identity: Identity {
                number,
                info_hashes: new.source.info_hashes(),
            },
            labels: new.labels.clone(),
            ..TorrentSnapshot::new(number, &new.label)
        };
        change(new.limits, &mut snapshot.max_down, &mut snapshot.max_up);
        Self {
            snapshot,
            outcome: None,
            is_paused: new.is_paused,
            web_seed: None,
            file: new.file.clone(),
            origin: new.origin.clone(),
            chosen: Chosen::default(),
        }
    }

    fn source(&self, max_len: u64) -> Option<Source> {
        match (&self.origin, &self.file) {
            (Some(Origin::Magnet(link)), _) => Some(Source::Magnet(Box::new(link.parse().ok()?))),
            (Some(Origin::Metainfo(text)), _) => {
                let bytes = BASE64.decode(text.as_bytes()).ok()?;
                Some(Source::Metainfo(Box::new(move || Ok(bytes))))
            }
            (None, Some(file)) => {
                let read = reader(file.path().to_owned(), max_len);
                Some(Source::Metainfo(read))
            }
            (None, None) => None,
        }
    }
}

impl Handover {
    /// The environment variable by which the other process finds the state. Commands of a person do not get it.
    pub const VARIABLE: &str = "HASHLANE_CONTINUE";

    /// Returns the source of a torrent, unless it must be read again as it was given.
    pub fn source(&self, number: usize, max_metainfo_len: u64) -> Option<Source> {
        self.torrents
            .get(number)?
            .as_ref()?
            .source(max_metainfo_len)
    }

    /// Returns the tasks of the torrents that were added to the first `n_tasks` while the client ran.
    pub fn added(&self, n_tasks: usize, max_metainfo_len: u64, mode: &Mode) -> Vec<Task> {
        let added = self.torrents.iter().skip(n_tasks);
        let tasks = added.map(|past| Task {
            label: past
                .as_ref()
                .map_or_else(String::new, |past| past.snapshot.torrent.clone()),
            // A torrent without a source is over or was removed, and is not started.
            source: past
                .as_ref()
                .and_then(|past| past.source(max_metainfo_len))
                .unwrap_or_else(|| Source::Metainfo(Box::new(|| Err("not read".into())))),
            mode: mode.clone(),
        });
        tasks.collect()
    }

    /// Returns the local end of connections, if it was changed.
    pub(crate) fn network(&self) -> Option<Network> {
        let (address, interface, port) = self.network.clone()?;
        let bind = match (address, interface) {
            (_, Some(name)) => Bind::Interface(name),
            (Some(address), None) => Bind::Address(address),
            (None, None) => Bind::Any,
        };
        Some(Network { bind, port })
    }

    /// Returns what a person should know of the other process, if it had to end.
    pub fn warning(&self) -> Option<String> {
        (!self.cause.is_empty()).then(|| {
            format!(
                "libtorrent did not respond because of {}: Hashlane has started again and continues from the content on disk",
                self.cause
            )
        })
    }

    /// Leaves out the web seeds that made libtorrent hang in earlier processes, or all, if there were many of them.
    pub fn avoid_web_seeds(&self, session: &mut Settings) {
        let avoided = &mut session.avoided_web_seeds;
        avoided.extend_from_slice(&self.avoided_web_seeds);
        if avoided.len() >= MAX_RESTARTS {
            session.web_seeds = WebSeeds::Unused;
        }
    }
}

/// State of a client that other threads read while its loop stands still.
#[derive(Debug)]
pub(crate) struct Ledger {
    pending: Mutex<Pending>,
    /// The mode of torrents that are added without one.
    mode: Option<Mode>,
    max_torrents: usize,
    /// The identities of the torrents in the session, which the snapshot can lack.
    identities: Mutex<HashMap<TorrentId, Identity>>,
    /// Files of the watched folder whose torrents failed.
    failed: Mutex<HashSet<PathBuf>>,
    /// What commands changed, by the numbers of torrents. The loop may not have handled the last commands.
    chosen: Mutex<HashMap<usize, Chosen>>,
    /// What commands changed of the session's limits.
    limits: Mutex<RatesPatch>,
    /// The local end of connections, if it was changed.
    network: Mutex<Option<Network>>,
}

/// Torrents that were added while the client runs.
#[derive(Debug)]
struct Pending {
    /// The number of the next torrent.
    next_number: usize,
    /// Number of torrents, without those that were removed.
    n_torrents: usize,
    /// Torrents that were sent to the loop, and are not in a snapshot yet.
    torrents: VecDeque<Past>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    /// Returns the ledger of a client that starts with this many torrents.
    pub(crate) fn new(additions: &Additions, n_torrents: usize) -> Self {
        Self {
            pending: Mutex::new(Pending {
                next_number: n_torrents,
                n_torrents,
                torrents: VecDeque::new(),
            }),
            mode: additions.mode.clone(),
            max_torrents: additions.max_torrents,
            identities: Mutex::default(),
            failed: Mutex::default(),
            chosen: Mutex::default(),
            limits: Mutex::default(),
            network: Mutex::default(),
        }
    }

    /// Records a new torrent, and sends it with its number and its mode. `send` returns `false` if the client has ended.
    /// Torrents get their numbers in the order in which they are sent.
    pub(crate) fn add(
        &self,
        mut new: NewTorrent,
        send: impl FnOnce(usize, Mode, NewTorrent) -> bool,
    ) -> Result<usize, AddError> {
        let mut pending = lock(&self.pending);
        let mode = new.mode.take().or_else(|| self.mode.clone());
        let mode = mode.ok_or(AddError::NoMode)?;
        let number = pending.next_number;
        if pending.n_torrents >= self.max_torrents {
            return Err(AddError::TooMany);
        }
        let past = Past::of_new(number, &new);
        if !send(number, mode, new) {
            return Err(AddError::Stopped);
        }
        pending.torrents.push_back(past);
        pending.next_number += 1;
        pending.n_torrents += 1;
        Ok(number)
    }

    /// Records that torrents were removed.
    pub(crate) fn removed(&self, n_torrents: usize) {
        lock(&self.pending).n_torrents -= n_torrents;
    }

    /// Returns the identity of a torrent in the session.
    pub(crate) fn identity(&self, id: TorrentId) -> Option<Identity> {
        lock(&self.identities).get(&id).copied()
    }

    /// Records that a torrent has left the session.
    pub(crate) fn left(&self, id: TorrentId) {
        lock(&self.identities).remove(&id);
    }

    /// Returns the identities and labels of the torrents that were sent, and are not in a snapshot yet.
    pub(crate) fn pending(&self) -> Vec<(Identity, String)> {
        let pending = lock(&self.pending);
        let torrents = pending.torrents.iter().map(|past| &past.snapshot);
        torrents
            .map(|torrent| (torrent.identity, torrent.torrent.clone()))
            .collect()
    }

    /// Forgets the torrents with smaller numbers, which are in a snapshot.
    pub(crate) fn published(&self, next_number: usize) {
        let mut pending = lock(&self.pending);
        let is_published = |past: &Past| past.snapshot.identity.number < next_number;
        while pending.torrents.front().is_some_and(is_published) {
            pending.torrents.pop_front();
        }
    }

    /// Records that a torrent joined the session.
    pub(crate) fn joined(&self, id: TorrentId, identity: Identity) {
        lock(&self.identities).insert(id, identity);
    }

    /// Records a command before it is sent to the loop.
    pub(crate) fn record(&self, command: &Command) {
        match command {
            Command::Torrent(number, command) => {
                lock(&self.chosen)
                    .entry(*number)
                    .or_default()
                    .record(command);
            }
            Command::Limit(limits) => {
                let mut all = lock(&self.limits);
                all.max_down = limits.max_down.or(all.max_down);
                all.max_up = limits.max_up.or(all.max_up);
            }
        }
    }

    /// Records a change of the local end of connections.
    pub(crate) fn set_network(&self, network: &Network) {
        *lock(&self.network) = Some(network.clone());
    }

    /// Continues with what commands of another process changed.
    pub(crate) fn continue_from(&self, number: usize, chosen: Chosen) {
        lock(&self.chosen).insert(number, chosen);
    }

    /// Changes what is recorded of a torrent.
    pub(crate) fn correct(&self, number: usize, change: impl FnOnce(&mut Chosen)) {
        if let Some(chosen) = lock(&self.chosen).get_mut(&number) {
            change(chosen);
        }
    }

    /// Forgets what commands changed of a torrent that was removed.
    pub(crate) fn forget(&self, number: usize) {
        lock(&self.chosen).remove(&number);
    }

    pub(crate) fn file_failed(&self, path: &Path) {
        lock(&self.failed).insert(path.to_owned());
    }

    /// Returns `true` if the torrent of a file failed, and forgets it.
    pub(crate) fn take_failed(&self, path: &Path) -> bool {
        lock(&self.failed).remove(path)
    }
}

/// Observes a client, also while libtorrent does not respond.
#[derive(Clone)]
pub struct Observer {
    pub(crate) session: Weak<Session>,
    pub(crate) snapshots: watch::Receiver<Arc<Snapshot>>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) avoided_web_seeds: Vec<String>,
}

/// Without fields: events, links and records of torrents have tokens and passkeys.
impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").finish_non_exhaustive()
    }
}

impl Observer {
    /// Returns what another process must know that keeps its torrents itself, if libtorrent does not respond because of a web
    /// seed: it leaves out that web seed.
    pub fn web_seed(&self) -> Option<Handover> {
        let (id, server) = self.session.upgrade()?.stuck_web_seed()?;
        let identity = *lock(&self.ledger.identities).get(&id)?;
        let snapshot = Arc::clone(&self.snapshots.borrow());
        let known = snapshot.torrents.iter();
        let known = known.map(|torrent| (torrent.identity, torrent.torrent.clone()));
        let mut all = known.chain(self.ledger.pending());
        let (_, label) = all.find(|(other, _)| other.number == identity.number)?;
        let mut avoided_web_seeds = self.avoided_web_seeds.clone();
        avoided_web_seeds.push(server.clone());
        Some(Handover {
            cause: format!("the web seed {server} of {label}"),
            avoided_web_seeds,
            ..Handover::default()
        })
    }

    /// Returns the state for another process, if libtorrent does not respond because of a web seed. The torrent of the
    /// web seed fails in the other process.
    pub fn handover(&self) -> Option<Handover> {
        let (id, server) = self.session.upgrade()?.stuck_web_seed()?;
        let identity = *lock(&self.ledger.identities).get(&id)?;
        let snapshot = Arc::clone(&self.snapshots.borrow());
        let pending: Vec<Past> = lock(&self.ledger.pending)
            .torrents
            .iter()
            .cloned()
            .collect();
        let known = snapshot.torrents.iter();
        let known = known.map(|torrent| Past::of(torrent)).chain(pending);
        let mut torrents = Vec::new();
        let chosen = lock(&self.ledger.chosen);
        for mut past in known {
            let number = past.snapshot.identity.number;
            past.chosen = chosen.get(&number).cloned().unwrap_or_default();
            torrents.resize_with(torrents.len().max(number + 1), || None);
            torrents[number] = Some(past);
        }
        drop(chosen);
        torrents.resize_with(torrents.len().max(snapshot.next_number), || None);
        let stuck = torrents.get_mut(identity.number)?.as_mut()?;
        stuck.snapshot.identity = identity;
        stuck.web_seed = Some(server.clone());
        let cause = format!("the web seed {server} of {}", stuck.snapshot.torrent);
        let mut avoided_web_seeds = self.avoided_web_seeds.clone();
        avoided_web_seeds.push(server);
        let mut limits = (snapshot.max_down, snapshot.max_up);
        change(*lock(&self.ledger.limits), &mut limits.0, &mut limits.1);
        Some(Handover {
            cause,
            has_failed: false,
            avoided_web_seeds,
            torrents,
            limits: Some(limits),
            network: lock(&self.ledger.network).as_ref().map(parts),
        })
    }
}

/// Returns a network in the form of [`Handover::network`].
fn parts(network: &Network) -> (Option<IpAddr>, Option<String>, u16) {
    let address = match network.bind {
        Bind::Address(address) => Some(address),
        Bind::Any | Bind::Interface(_) => None,
    };
    let interface = network.bind.interface().map(str::to_owned);
    (address, interface, network.port)
}
