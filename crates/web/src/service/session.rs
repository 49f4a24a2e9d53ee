//! A session whose torrents last over restarts.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hashlane_api::{
    Command, GroupChange, Groups, Limit, NewTorrent, Refusal, Rules, SessionPatch, Source, Status,
};
use hashlane_client::{Added, Rights, Snapshot, TorrentKey};
use hashlane_session::Session;
use hashlane_swarm::Network;

use super::{Found, Service, Statistics};

/// Reads the configuration again, as [`Service::reload`] does.
pub type Reload = Box<dyn Fn() -> Result<Vec<String>, Refusal> + Send + Sync>;

/// Reads the configuration, as [`Service::rules`] does for a dry run.
pub type TryRules = Box<dyn Fn() -> Result<Rules, Refusal> + Send + Sync>;

/// The torrents of a session.
pub struct SessionService {
    /// The session.
    pub session: Arc<Session>,
    /// What requests may do; `None` allows everything.
    pub rights: Option<Rights>,
    /// Reads the configuration of the program again; `None` if it has none.
    pub reload: Option<Reload>,
    /// Returns what the rules in the configuration would set; `None` if the program has none.
    pub try_rules: Option<TryRules>,
}

impl fmt::Debug for SessionService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionService").finish_non_exhaustive()
    }
}

impl Service for SessionService {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.session.snapshot()
    }

    fn find(&self, key: TorrentKey) -> Option<Found> {
        Some(Found {
            torrent: self.session.torrent(key)?,
            handle: self.session.handle(key),
        })
    }

    fn add(&self, source: Source, new: &NewTorrent) -> Result<Added, Refusal> {
        self.session.add(source, new, self.rights.as_ref())
    }

    fn check_folder(&self, folder: &Path) -> Result<(), Refusal> {
        match &self.rights {
            Some(rights) => rights.check_folder(folder),
            None => Ok(()),
        }
    }

    fn apply(&self, numbers: &[usize], command: &Command) -> Vec<Result<(), Refusal>> {
        self.session.apply(numbers, command, self.rights.as_ref())
    }

    fn change_session(&self, patch: &SessionPatch) -> Result<(), Refusal> {
        self.session.change(patch)
    }

    fn groups(&self) -> Groups {
        self.session.groups()
    }

    fn change_groups(&self, change: &GroupChange) -> Result<(), Refusal> {
        self.session.change_groups(change, self.rights.as_ref())
    }

    fn reload(&self) -> Result<Vec<String>, Refusal> {
        match &self.reload {
            Some(reload) => reload(),
            None => Err(super::no_configuration()),
        }
    }

    fn rules(&self, dry_run: bool) -> Result<Rules, Refusal> {
        match &self.try_rules {
            _ if !dry_run => Ok(self.session.rules(None)),
            Some(try_rules) => try_rules(),
            None => Err(super::no_configuration()),
        }
    }

    fn set_network(&self, network: Network) -> Result<(), Refusal> {
        Ok(self.session.set_network(network)?)
    }

    fn statistics(&self) -> Statistics {
        let totals = self.session.totals();
        Statistics {
            downloaded: totals.received,
            uploaded: totals.sent,
            seconds: totals.seconds,
            all_downloaded: totals.all.received,
            all_uploaded: totals.all.sent,
        }
    }

    fn status(&self) -> Status {
        self.session.status()
    }

    fn limits(&self) -> Vec<Limit> {
        self.session.limits()
    }
}
