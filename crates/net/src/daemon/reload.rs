//! Reads the options and the configuration again while the daemon runs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hashlane_api::Rules;
use hashlane_cli::{Daemon, DaemonSettings};
use hashlane_session::{Config, Session};

use super::configured::{self, Start};
use super::service;

const BIND: &str = "bind";

/// What reads the options and the configuration again.
pub(super) struct Reload {
    pub(super) session: Arc<Session>,
    /// The state folder.
    pub(super) state: PathBuf,
    pub(super) start: Start,
    /// Held while the files are read and applied, so that an older reading never replaces a newer one.
    pub(super) running: Mutex<()>,
}

impl Reload {
    /// Reads the options and the configuration again, and applies what can change while the daemon runs. Returns the names
    /// of the options that differ from those of the start and need a restart.
    ///
    /// # Errors
    /// Returns the file, the line and the reason, or the reason why the port cannot be used. Nothing changes then.
    pub(super) fn run(&self) -> Result<Vec<String>, String> {
        // No code that holds the lock leaves anything inconsistent.
        let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        service::reloading();
        let reloaded = self.apply_again();
        match &reloaded {
            Ok(restart) => tracing::info!(?restart, "reloaded"),
            Err(reason) => tracing::warn!(reason, "not reloaded"),
        }
        service::ready_again();
        reloaded
    }

    /// Returns what the rules in the configuration, as it is now, would set.
    ///
    /// # Errors
    /// Returns the file, the line and the reason.
    pub(super) fn try_rules(&self) -> Result<Rules, String> {
        let (_, config) = self.read()?;
        Ok(self.session.rules(Some(&config.rules)))
    }

    /// Reads the options and the configuration. Returns the names of the options that differ from those of the start.
    fn read(&self) -> Result<(Vec<String>, Config), String> {
        let env = self.start.invocation.env();
        let read = || {
            let new = DaemonSettings::read(&env)?;
            let config = configured::config(&env, &new, &self.state)?;
            anyhow::Ok((self.start.settings.changed(&new), config))
        };
        read().map_err(|error| format!("{error:#}"))
    }

    fn apply_again(&self) -> Result<Vec<String>, String> {
        let (mut restart, config) = self.read()?;
        restart.retain(|name| !Daemon::RELOADED.contains(&name.as_str()));
        if !self.session.configure(config)? {
            restart.push(BIND.to_owned());
            restart.sort();
        }
        Ok(restart)
    }
}
