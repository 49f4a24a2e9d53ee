//! Handles of torrents, by which a program controls a running client.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use hashlane_swarm::{Peer, Priority, Session, SessionError, TorrentId, Tracker};
use tokio::sync::watch;

use crate::command::{Command, TorrentCommand};
use crate::event::Outcome;
use crate::file::{TorrentFile, files};
use crate::identity::TorrentKey;
use crate::inbox::{Inbox, Message};
use crate::snapshot::{Snapshot, TorrentSnapshot};
use crate::subscription::Subscribers;

/// Interval at which [`TorrentHandle::wait_complete`] looks at the snapshot.
const TICK: Duration = Duration::from_millis(200);

/// An error of a [`TorrentHandle`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// The client has ended.
    #[error("the client has ended")]
    Stopped,
    /// The torrent has ended.
    #[error("the torrent has ended")]
    Ended,
    /// The torrent failed for this reason, which has no secrets.
    #[error("{0}")]
    Failed(String),
    /// The torrent has no peers and pieces yet: its metadata or its content is not known.
    #[error("the torrent is not in the session")]
    NotInSession,
    /// libtorrent reports an error.
    #[error("libtorrent: {0}")]
    Session(String),
}

/// A torrent of a running client.
///
/// Commands return at once. Their effect appears in events and snapshots. A handle stays valid after the end of its torrent
/// and of its client; its methods then return an error.
#[derive(Clone)]
pub struct TorrentHandle {
    number: usize,
    label: Arc<str>,
    inbox: Inbox,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    subscribers: Arc<Subscribers>,
}

/// Without fields: events, links and records of torrents have tokens and passkeys.
impl fmt::Debug for TorrentHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TorrentHandle").finish_non_exhaustive()
    }
}

impl TorrentHandle {
    pub(crate) fn new(
        number: usize,
        label: &str,
        inbox: Inbox,
        snapshots: watch::Receiver<Arc<Snapshot>>,
        subscribers: Arc<Subscribers>,
    ) -> Self {
        Self {
            number,
            label: label.into(),
            inbox,
            snapshots,
            subscribers,
        }
    }

    /// Returns the number of the torrent in its client. The info-hashes are part of the snapshot.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the latest state of the torrent. The state of a torrent that was just added is [`Waiting`], with unknown
    /// info-hashes.
    ///
    /// [`Waiting`]: crate::Activity::Waiting
    pub fn snapshot(&self) -> TorrentSnapshot {
        let snapshot = Arc::clone(&self.snapshots.borrow());
        let found = snapshot.find(TorrentKey::Number(self.number));
        found.map_or_else(
            || TorrentSnapshot::new(self.number, &self.label),
            TorrentSnapshot::clone,
        )
    }

    /// Pauses the torrent. A torrent that is still being verified joins the session paused.
    ///
    /// # Errors
    /// [`HandleError::Ended`] or [`HandleError::Failed`] if the torrent is over, [`HandleError::Stopped`] if the client
    /// is.
    pub fn pause(&self) -> Result<(), HandleError> {
        self.send(TorrentCommand::Pause)
    }

    /// Resumes the torrent.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn resume(&self) -> Result<(), HandleError> {
        self.send(TorrentCommand::Resume)
    }

    /// Ends the torrent. Its content stays on disk. An incomplete download counts as failed.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn end(&self) -> Result<(), HandleError> {
        self.send(TorrentCommand::End)
    }

    /// Sets the priority of files of a download, by their positions among the files except padding. Additional files are
    /// first prepared as at the start of a download. Unknown positions are ignored, and at least one file stays selected.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn set_priorities(&self, files: &[u32], priority: Priority) -> Result<(), HandleError> {
        self.send(TorrentCommand::Prioritize(files.to_vec(), priority))
    }

    /// Answers [`Event::Confirm`](crate::Event::Confirm): the wrong pieces may be replaced.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn replace(&self) -> Result<(), HandleError> {
        self.send(TorrentCommand::Replace)
    }

    /// Answers [`Event::Confirm`](crate::Event::Confirm): nothing is written, and the torrent fails with this reason.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn keep(&self, reason: &str) -> Result<(), HandleError> {
        self.send(TorrentCommand::Keep(reason.to_owned()))
    }

    /// Returns an entry for each piece, `true` if it is present. Empty while the metadata is fetched.
    ///
    /// # Errors
    /// Those of [`Self::pause`], [`HandleError::NotInSession`] before the torrent joins the session, or
    /// [`HandleError::Session`].
    pub fn have(&self) -> Result<Vec<bool>, HandleError> {
        self.ask(Session::have)
    }

    /// Returns the files, or none while the metadata is unknown. Also returns those of a torrent or client that has ended.
    pub fn files(&self) -> Vec<TorrentFile> {
        let progress = self.ask(Session::file_progress).ok();
        files(&self.snapshot(), 0, progress.as_deref()).collect()
    }

    /// Returns the connected peers.
    ///
    /// # Errors
    /// Those of [`Self::have`].
    pub fn peers(&self) -> Result<Vec<Peer>, HandleError> {
        self.ask(Session::peers)
    }

    /// Returns the trackers, without secrets.
    ///
    /// # Errors
    /// Those of [`Self::have`].
    pub fn trackers(&self) -> Result<Vec<Tracker>, HandleError> {
        self.ask(Session::trackers)
    }

    /// Connects to a peer.
    ///
    /// # Errors
    /// Those of [`Self::have`].
    pub fn add_peer(&self, peer: SocketAddr) -> Result<(), HandleError> {
        self.ask(|session, id| session.add_peer(id, peer))
    }

    /// Waits until the selected content is complete, verified and in its final place.
    ///
    /// # Errors
    /// [`HandleError::Failed`] if the torrent failed, [`HandleError::Ended`] if it ended and is incomplete,
    /// [`HandleError::Stopped`] if the client ended before.
    pub fn wait_complete(&self) -> Result<(), HandleError> {
        let events = self.subscribers.subscribe();
        loop {
            // The client publishes a last snapshot before its events end.
            let next = events.recv_timeout(TICK);
            let is_last = matches!(next, Err(RecvTimeoutError::Disconnected));
            let snapshot = self.snapshot();
            if let Some(outcome) = snapshot.detail.outcome {
                return match outcome {
                    Outcome::Complete => Ok(()),
                    Outcome::Incomplete | Outcome::Failed => Err(over(snapshot)),
                };
            }
            if snapshot.is_in_place() {
                return Ok(());
            }
            if is_last {
                return Err(HandleError::Stopped);
            }
        }
    }

    /// Sends a command, unless the torrent or the client has ended.
    fn send(&self, command: TorrentCommand) -> Result<(), HandleError> {
        self.running()?;
        let command = Command::Torrent(self.number, command);
        if self.inbox.send(Message::Command(command)) {
            Ok(())
        } else {
            Err(HandleError::Stopped)
        }
    }

    /// Asks the session about the torrent.
    fn ask<T>(
        &self,
        question: impl FnOnce(&Session, TorrentId) -> Result<T, SessionError>,
    ) -> Result<T, HandleError> {
        let session = self.inbox.session().ok_or(HandleError::Stopped)?;
        let id = self.running()?.id.ok_or(HandleError::NotInSession)?;
        question(&session, id).map_err(|error| HandleError::Session(error.to_string()))
    }

    /// Returns the snapshot of a torrent that is not over.
    fn running(&self) -> Result<TorrentSnapshot, HandleError> {
        let snapshot = self.snapshot();
        if snapshot.activity.is_over() {
            return Err(over(snapshot));
        }
        Ok(snapshot)
    }
}

/// Returns the error of a torrent that is over.
fn over(snapshot: TorrentSnapshot) -> HandleError {
    snapshot
        .error
        .map_or(HandleError::Ended, HandleError::Failed)
}
