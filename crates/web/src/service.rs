//! What the API acts on: a session.

mod session;

use std::path::Path;
use std::sync::Arc;

use hashlane_api::{
    Command, GroupChange, Groups, Limit, NewTorrent, Refusal, Rules, SessionPatch, Source, Status,
};
use hashlane_client::{Added, Snapshot, TorrentHandle, TorrentKey, TorrentSnapshot};
use hashlane_swarm::Network;

pub use session::{Reload, SessionService, TryRules};

/// The torrents on which requests act. Its methods may block: the server calls them on threads for that.
pub trait Service: Send + Sync + 'static {
    /// Returns the state of all torrents.
    fn snapshot(&self) -> Arc<Snapshot>;

    /// Returns the torrent of a key.
    fn find(&self, key: TorrentKey) -> Option<Found>;

    /// Adds a torrent, unless it is present and has not ended. The file of a URL is fetched before, which can take a minute.
    ///
    /// # Errors
    /// Returns the reason why the torrent is not added.
    fn add(&self, source: Source, new: &NewTorrent) -> Result<Added, Refusal>;

    /// Refuses a folder in which requests may not place content.
    ///
    /// # Errors
    /// Returns [`Refusal::Forbidden`].
    fn check_folder(&self, folder: &Path) -> Result<(), Refusal>;

    /// Does what a command asks of the torrents with these numbers, and returns a result for each. Long work ends later.
    fn apply(&self, numbers: &[usize], command: &Command) -> Vec<Result<(), Refusal>>;

    /// Changes the settings of all torrents together.
    ///
    /// # Errors
    /// Returns the reason why nothing changed.
    fn change_session(&self, patch: &SessionPatch) -> Result<(), Refusal>;

    /// Returns the categories and labels.
    fn groups(&self) -> Groups;

    /// Changes the categories or labels.
    ///
    /// # Errors
    /// Returns the reason why nothing changed.
    fn change_groups(&self, change: &GroupChange) -> Result<(), Refusal>;

    /// Reads the configuration again. Returns the names of the options that have changed and need a restart.
    ///
    /// # Errors
    /// Returns the file, the line and the reason. Nothing changed then.
    fn reload(&self) -> Result<Vec<String>, Refusal> {
        Err(no_configuration())
    }

    /// Returns what the rules of the configuration set, or what those in its files would set now.
    ///
    /// # Errors
    /// Returns the file, the line and the reason.
    fn rules(&self, dry_run: bool) -> Result<Rules, Refusal> {
        if dry_run {
            return Err(no_configuration());
        }
        Ok(Rules::default())
    }

    /// Changes the local end of all connections.
    ///
    /// # Errors
    /// Returns the reason why nothing changed, for example a port that is in use.
    fn set_network(&self, network: Network) -> Result<(), Refusal>;

    /// Returns the transferred bytes.
    fn statistics(&self) -> Statistics;

    /// Returns the state of the program.
    fn status(&self) -> Status;

    /// Returns the limits of all torrents together, each with its origin.
    fn limits(&self) -> Vec<Limit> {
        Vec::new()
    }
}

/// Returns the reason why a program reads no configuration again.
fn no_configuration() -> Refusal {
    Refusal::Conflict("only a daemon reads its configuration again".into())
}

/// A torrent that a request names.
#[derive(Debug)]
pub struct Found {
    /// Its state, with the number by which requests know it.
    pub torrent: Arc<TorrentSnapshot>,
    /// The torrent in the client; `None` while it waits for its start.
    pub handle: Option<TorrentHandle>,
}

/// Transferred bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes of content received since the start.
    pub downloaded: u64,
    /// Bytes of content sent since the start.
    pub uploaded: u64,
    /// Seconds since the start.
    pub seconds: u64,
    /// Bytes of content received across restarts.
    pub all_downloaded: u64,
    /// Bytes of content sent across restarts.
    pub all_uploaded: u64,
}
