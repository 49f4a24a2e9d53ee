//! The control of a running client by its owner and by its HTTP server.

use std::sync::Arc;

use hashlane_swarm::Session;
use tokio::sync::watch;

use crate::command::Command;
use crate::inbox::{Inbox, Message};
use crate::snapshot::Snapshot;
use crate::subscription::{Subscribers, Subscription};

/// Sends commands to a running client, and reads its state.
#[derive(Clone)]
pub(crate) struct Control {
    pub(crate) inbox: Inbox,
    pub(crate) snapshots: watch::Receiver<Arc<Snapshot>>,
    pub(crate) subscribers: Arc<Subscribers>,
}

impl Control {
    /// Returns the latest snapshot.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshots.borrow())
    }

    /// Returns a subscription to all events from now on.
    pub(crate) fn subscribe(&self) -> Subscription {
        self.subscribers.subscribe()
    }

    /// Sends a command. Returns `false` if the client has ended.
    pub(crate) fn send(&self, command: Command) -> bool {
        self.inbox.send(Message::Command(command))
    }

    /// Returns the session, unless the client has ended.
    pub(crate) fn session(&self) -> Option<Arc<Session>> {
        self.inbox.session()
    }
}
