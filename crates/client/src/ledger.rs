//! The numbers of torrents that are added, and the identities of those in the session, for other threads than the loop's.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashlane_api::Identity;
use hashlane_swarm::TorrentId;

use crate::config::{AddError, Additions, Mode};
use crate::source::NewTorrent;

/// What other threads know of torrents before the loop has published them.
#[derive(Debug)]
pub(crate) struct Ledger {
    pending: Mutex<Pending>,
    /// The mode of torrents that are added without one.
    mode: Option<Mode>,
    max_torrents: usize,
    /// The least number of a torrent that asks for none.
    first_number: usize,
    /// The identities of the torrents in the session, which the snapshot can lack.
    identities: Mutex<HashMap<TorrentId, Identity>>,
}

/// Torrents that were added.
#[derive(Debug, Default)]
struct Pending {
    /// The number of the next torrent.
    next_number: usize,
    /// Number of torrents, without those that were removed.
    n_torrents: usize,
    /// The identities and labels of torrents that were sent to the loop, and are not in a snapshot yet.
    torrents: VecDeque<(Identity, String)>,
    /// Whether the loop takes no more torrents and commands.
    is_closed: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    pub(crate) fn new(additions: &Additions) -> Self {
        Self {
            pending: Mutex::default(),
            first_number: additions.first_number,
            mode: additions.mode.clone(),
            max_torrents: additions.max_torrents,
            identities: Mutex::default(),
        }
    }

    /// Records a new torrent, and sends it with its number and its mode. `send` returns `false` if the client has ended.
    /// Torrents get their numbers in the order in which they are sent: the one that they ask for, unless it is too small.
    pub(crate) fn add(
        &self,
        mut new: NewTorrent,
        send: impl FnOnce(usize, Mode, NewTorrent) -> bool,
    ) -> Result<usize, AddError> {
        let mut pending = lock(&self.pending);
        let mode = new.mode.take().or_else(|| self.mode.clone());
        let mode = mode.ok_or(AddError::NoMode)?;
        let number = new.number.unwrap_or(self.first_number);
        let number = number.max(pending.next_number);
        if pending.is_closed {
            return Err(AddError::Stopped);
        }
        if pending.n_torrents >= self.max_torrents {
            return Err(AddError::TooMany);
        }
        let identity = Identity {
            number,
            info_hashes: new.source.info_hashes(),
        };
        let label = new.label.clone();
        if !send(number, mode, new) {
            return Err(AddError::Stopped);
        }
        pending.torrents.push_back((identity, label));
        pending.next_number = number + 1;
        pending.n_torrents += 1;
        Ok(number)
    }

    /// Sends a message that the client will handle. `send` returns `false` if the client has ended.
    pub(crate) fn while_open(&self, send: impl FnOnce() -> bool) -> Result<(), AddError> {
        let pending = lock(&self.pending);
        if pending.is_closed || !send() {
            return Err(AddError::Stopped);
        }
        Ok(())
    }

    /// Returns `true` while the client handles messages.
    pub(crate) fn is_open(&self) -> bool {
        !lock(&self.pending).is_closed
    }

    /// Ends the time in which torrents are added and commands are handled, unless a message still waits, which is returned.
    pub(crate) fn close<M>(&self, waiting: impl FnOnce() -> Option<M>) -> Option<M> {
        let mut pending = lock(&self.pending);
        let message = waiting();
        pending.is_closed = message.is_none();
        message
    }

    /// Returns the number of torrents, without those that were removed.
    pub(crate) fn n_torrents(&self) -> usize {
        lock(&self.pending).n_torrents
    }

    /// Records that a torrent was removed.
    pub(crate) fn removed(&self) {
        lock(&self.pending).n_torrents -= 1;
    }

    /// Returns the identity of a torrent in the session.
    pub(crate) fn identity(&self, id: TorrentId) -> Option<Identity> {
        lock(&self.identities).get(&id).copied()
    }

    /// Records that a torrent joined the session.
    pub(crate) fn joined(&self, id: TorrentId, identity: Identity) {
        lock(&self.identities).insert(id, identity);
    }

    /// Records that a torrent has left the session.
    pub(crate) fn left(&self, id: TorrentId) {
        lock(&self.identities).remove(&id);
    }

    /// Returns the identities and labels of the torrents that were sent, and are not in a snapshot yet.
    pub(crate) fn pending(&self) -> Vec<(Identity, String)> {
        lock(&self.pending).torrents.iter().cloned().collect()
    }

    /// Forgets the torrents with smaller numbers, which are in a snapshot.
    pub(crate) fn published(&self, next_number: usize) {
        let torrents = &mut lock(&self.pending).torrents;
        let is_published = |(torrent, _): &(Identity, String)| torrent.number < next_number;
        while torrents.front().is_some_and(is_published) {
            torrents.pop_front();
        }
    }
}
