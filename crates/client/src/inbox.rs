//! Messages to a client's loop from other threads.

use std::sync::{Arc, Weak, mpsc};
use std::time::Duration;

use hashlane_api::Priority;
use hashlane_swarm::{Network, Session};

use crate::command::Command;
use crate::config::{AddError, Mode};
use crate::error::TorrentError;
use crate::event::Deletion;
use crate::ledger::Ledger;
use crate::source::NewTorrent;
use crate::stored::{ContentState, DownloadCheck, Moved, StoredTorrent};

/// A message to the loop.
#[derive(Debug)]
pub(crate) enum Message {
    Command(Command),
    /// The local end of connections changes.
    Network(Network),
    /// A torrent is added with this number and mode.
    Add(usize, Mode, Box<NewTorrent>),
    /// The torrent with this number is started again.
    Restart(usize, Mode, Box<NewTorrent>),
    /// The torrent with this label was not added.
    Refused(String, AddError),
    /// Another thread finished work for a torrent.
    Done(Start, Done),
    /// The files of served torrents were compared with their states at the last verifications.
    Compared {
        /// The numbers of the torrents whose files changed.
        changed: Vec<usize>,
        /// The duration of the comparison.
        took: Duration,
    },
}

/// One start of a torrent. What an earlier start of the torrent asked other threads for is of no use to the present one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// The number of the torrent.
    pub(crate) torrent: usize,
    /// Number of times that the torrent was started again.
    pub(crate) n_restarts: u64,
}

/// The result of work for a torrent on another thread.
#[derive(Debug)]
pub(crate) enum Done {
    /// A .torrent file was fetched.
    Fetched(Result<Vec<u8>, TorrentError>),
    /// A .torrent file was read.
    Opened(Result<Box<StoredTorrent>, TorrentError>),
    /// A download's files were checked.
    DownloadChecked(Result<DownloadCheck, TorrentError>),
    /// The place of absent content was compared with its earlier state. The content is there if it changed.
    Found(Result<Option<Box<StoredTorrent>>, TorrentError>),
    /// The files of a torrent that was removed were deleted.
    Deleted(Deletion),
    /// The content was moved, or stayed where it was.
    Moved(Result<Box<Moved>, TorrentError>),
    /// The content was verified.
    Verified(Result<ContentState, TorrentError>),
    /// The additional files that these priorities select were prepared, or must not be written.
    Selected(Vec<Priority>, Result<(), TorrentError>),
    /// The files of a served torrent were compared with their state at the last verification, and verified if one changed.
    Checked(Result<Option<ContentState>, TorrentError>),
}

/// A sender of messages to the loop. It wakes the loop if the loop is waiting for events of the session.
#[derive(Clone, Debug)]
pub(crate) struct Inbox {
    sender: mpsc::Sender<Message>,
    session: Weak<Session>,
    ledger: Arc<Ledger>,
}

impl Inbox {
    pub(crate) fn new(
        sender: mpsc::Sender<Message>,
        session: Weak<Session>,
        ledger: Arc<Ledger>,
    ) -> Self {
        Self {
            sender,
            session,
            ledger,
        }
    }

    /// Adds a torrent, and returns its number.
    pub(crate) fn add(&self, new: NewTorrent) -> Result<usize, AddError> {
        let label = new.label.clone();
        let send = |number, mode, new| self.send(Message::Add(number, mode, Box::new(new)));
        let added = self.ledger.add(new, send);
        if let Err(reason) = added {
            self.send(Message::Refused(label, reason));
        }
        added
    }

    /// Starts a torrent again with this mode.
    pub(crate) fn restart(
        &self,
        number: usize,
        mode: Mode,
        new: NewTorrent,
    ) -> Result<(), AddError> {
        let message = Message::Restart(number, mode, Box::new(new));
        self.ledger.while_open(|| self.send(message))
    }

    /// Returns the torrents that were added while the client runs.
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the session, unless the client has ended.
    pub(crate) fn session(&self) -> Option<Arc<Session>> {
        self.session.upgrade()
    }

    /// Sends a message. Returns `false` if the client has ended.
    pub(crate) fn send(&self, message: Message) -> bool {
        let is_sent = self.sender.send(message).is_ok();
        if let Some(session) = self.session.upgrade() {
            session.wake();
        }
        is_sent
    }
}
