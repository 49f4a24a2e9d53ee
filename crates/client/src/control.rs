//! The control of a running client by its owner and by servers.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::Arc;

use hashlane_swarm::{Bind, Network, Session};
use tokio::sync::watch;

use crate::command::Command;
use crate::error::NetworkError;
use crate::inbox::{Inbox, Message};
use crate::network::Link;
use crate::snapshot::Snapshot;
use crate::subscription::{Subscribers, Subscription};

/// Sends commands to a running client, and reads its state.
#[derive(Clone)]
pub struct Control {
    pub(crate) inbox: Inbox,
    pub(crate) snapshots: watch::Receiver<Arc<Snapshot>>,
    pub(crate) subscribers: Arc<Subscribers>,
}

/// Without fields: events, links and records of torrents have tokens and passkeys.
impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").finish_non_exhaustive()
    }
}

impl Control {
    /// Returns the latest snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshots.borrow())
    }

    /// Waits for a snapshot that this value has not returned yet; `None` after the last one of a client that has ended. The future
    /// needs no particular runtime.
    pub async fn next_snapshot(&mut self) -> Option<Arc<Snapshot>> {
        self.snapshots.changed().await.ok()?;
        Some(Arc::clone(&self.snapshots.borrow_and_update()))
    }

    /// Returns a subscription to all events from now on.
    pub fn subscribe(&self) -> Subscription {
        self.subscribers.subscribe()
    }

    /// Sends a command. Returns `false` if the client has ended, or is about to: a command that was sent is handled.
    pub fn send(&self, command: Command) -> bool {
        let send = || self.inbox.send(Message::Command(command));
        self.inbox.ledger().while_open(send).is_ok()
    }

    /// Returns `false` if the client has ended, or is about to.
    pub fn is_open(&self) -> bool {
        self.inbox.ledger().is_open()
    }

    /// Changes the local end of all connections.
    ///
    /// # Errors
    /// The port or the address cannot be used, or the client has ended. Nothing changed then.
    pub fn set_network(&self, network: Network) -> Result<(), NetworkError> {
        let before = self.snapshot().network.clone();
        if network.bind != before.bind
            && let Bind::Address(address) = network.bind
        {
            // A free port: the present one can be in use by the session itself.
            let bound = TcpListener::bind((address, 0));
            bound.map_err(|error| NetworkError::Address { address, error })?;
        }
        // The session itself uses the present port.
        if network.port != 0 && network.port != before.port {
            check_port(&network)?;
        }
        if self.inbox.send(Message::Network(network)) {
            Ok(())
        } else {
            Err(NetworkError::Stopped)
        }
    }

    /// Returns the session, unless the client has ended.
    pub(crate) fn session(&self) -> Option<Arc<Session>> {
        self.inbox.session()
    }
}

/// Opens the port for a moment. An interface that is absent has no port.
fn check_port(network: &Network) -> Result<(), NetworkError> {
    let addresses = match &network.bind {
        Bind::Any => vec![IpAddr::V4(Ipv4Addr::UNSPECIFIED)],
        Bind::Address(address) => vec![*address],
        Bind::Interface(name) => match Link::find(name) {
            Ok(Ok(link)) => link.addresses().to_vec(),
            _ => Vec::new(),
        },
    };
    let port = network.port;
    for address in addresses {
        TcpListener::bind((address, port)).map_err(|error| NetworkError::Port { port, error })?;
    }
    Ok(())
}
