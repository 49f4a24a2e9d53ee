//! Observation of a client whose loop stands still.
//!
//! A thread of libtorrent that computes forever cannot be ended inside its process. So a program executes itself again, and
//! leaves out the web seed that has caused it ([`Settings::avoided_web_seeds`](hashlane_swarm::Settings::avoided_web_seeds)).

use std::fmt;
use std::sync::{Arc, Weak};

use hashlane_swarm::Session;
use tokio::sync::watch;

use crate::ledger::Ledger;
use crate::snapshot::Snapshot;

/// A web seed that makes libtorrent compute forever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckWebSeed {
    /// The server, `host:port`.
    pub server: String,
    /// The torrent of the web seed, as the user named it.
    pub torrent: String,
}

/// Observes a client, also while libtorrent does not respond.
#[derive(Clone)]
pub struct Observer {
    pub(crate) session: Weak<Session>,
    pub(crate) snapshots: watch::Receiver<Arc<Snapshot>>,
    pub(crate) ledger: Arc<Ledger>,
}

/// Without fields: events, links and records of torrents have tokens and passkeys.
impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").finish_non_exhaustive()
    }
}

impl Observer {
    /// Returns the latest snapshot of the client.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshots.borrow())
    }

    /// Returns the web seed because of which libtorrent does not respond, if there is one.
    pub fn stuck_web_seed(&self) -> Option<StuckWebSeed> {
        let (id, server) = self.session.upgrade()?.stuck_web_seed()?;
        let number = self.ledger.identity(id)?.number;
        let snapshot = self.snapshot();
        let known = snapshot.torrents.iter();
        let known = known.map(|torrent| (torrent.identity, torrent.torrent.clone()));
        let mut all = known.chain(self.ledger.pending());
        let (_, torrent) = all.find(|(other, _)| other.number == number)?;
        Some(StuckWebSeed { server, torrent })
    }
}
