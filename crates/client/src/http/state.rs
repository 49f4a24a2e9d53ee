//! State shared by all requests.

use std::sync::{Arc, Weak};

use hashlane_swarm::{Peer, Session};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::files::FilesView;
use super::trackers::TrackersView;
use crate::command::Command;
use crate::config::{AddError, NewTorrent};
use crate::inbox::{Inbox, Message};
use crate::snapshot::{Snapshot, TorrentSnapshot};

/// Maximum number of event streams.
const MAX_STREAMS: usize = 32;

/// State shared by all requests.
#[derive(Clone)]
pub(super) struct State {
    snapshots: watch::Receiver<Arc<Snapshot>>,
    session: Weak<Session>,
    inbox: Inbox,
    streams: Arc<Semaphore>,
    /// Changes when the client ends.
    ended: watch::Receiver<()>,
}

impl State {
    pub(super) fn new(
        snapshots: watch::Receiver<Arc<Snapshot>>,
        session: Weak<Session>,
        inbox: Inbox,
        ended: watch::Receiver<()>,
    ) -> Self {
        Self {
            snapshots,
            session,
            inbox,
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            ended,
        }
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshots.borrow())
    }

    /// Passes a command to the client's loop. Returns `false` if the loop has ended.
    pub(super) fn send(&self, command: Command) -> bool {
        self.inbox.send(Message::Command(command))
    }

    /// Adds a torrent.
    pub(super) fn add(&self, new: NewTorrent) -> Result<usize, AddError> {
        self.inbox.add(new)
    }

    /// Returns a place among the event streams, unless all are taken.
    pub(super) fn stream_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().ok()
    }

    /// Returns a receiver that changes when the client ends.
    pub(super) fn ended(&self) -> watch::Receiver<()> {
        self.ended.clone()
    }

    /// Waits until all event streams have ended.
    pub(super) async fn streams_end(&self) {
        // The semaphore is never closed.
        let _ = self.streams.acquire_many(MAX_STREAMS as u32).await;
    }

    /// Returns the files of a torrent from this position on, with their progress if it is in the session.
    pub(super) fn files(&self, torrent: &TorrentSnapshot, from: usize) -> FilesView {
        let session = self.session.upgrade().zip(torrent.id);
        let progress = session.and_then(|(session, id)| session.file_progress(id).ok());
        FilesView::of(torrent, from, progress.as_deref())
    }

    /// Returns the trackers of a torrent, or no trackers if it is not in the session.
    pub(super) fn trackers(&self, torrent: &TorrentSnapshot) -> TrackersView {
        let session = self.session.upgrade().zip(torrent.id);
        let trackers = session.and_then(|(session, id)| session.trackers(id).ok());
        TrackersView::of(trackers.unwrap_or_default())
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
