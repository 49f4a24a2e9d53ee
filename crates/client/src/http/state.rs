//! State shared by all requests.

use std::sync::{Arc, Weak};

use hashlane_swarm::{Peer, Session};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::command::Command;
use crate::snapshot::{Snapshot, TorrentSnapshot};

/// Maximum number of event streams.
const MAX_STREAMS: usize = 32;

/// Passes a command to the client's loop; `false` if the loop has ended.
type Send = Arc<dyn Fn(Command) -> bool + std::marker::Send + Sync>;

/// State shared by all requests.
#[derive(Clone)]
pub(super) struct State {
    snapshots: watch::Receiver<Arc<Snapshot>>,
    session: Weak<Session>,
    send: Send,
    streams: Arc<Semaphore>,
}

impl State {
    pub(super) fn new(
        snapshots: watch::Receiver<Arc<Snapshot>>,
        session: Weak<Session>,
        send: Send,
    ) -> Self {
        Self {
            snapshots,
            session,
            send,
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
        }
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshots.borrow())
    }

    pub(super) fn send(&self, command: Command) -> bool {
        (self.send)(command)
    }

    /// Returns a place among the event streams, unless all are taken.
    pub(super) fn stream_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().ok()
    }

    /// Returns the pieces and peers of a torrent, if it is in the session.
    pub(super) fn pieces_and_peers(
        &self,
        torrent: &TorrentSnapshot,
    ) -> Option<(Vec<bool>, Vec<Peer>)> {
        let (session, id) = (self.session.upgrade()?, torrent.id?);
        Some((session.have(id).ok()?, session.peers(id).ok()?))
    }
}
