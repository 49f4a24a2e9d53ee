//! Reads the options and the configuration again while the daemon runs.

use hashlane_cli::DaemonSettings;
use hashlane_client::Client;

use super::configured::Configured;
use super::schedule::Moment;
use super::service;
use super::torrents::Torrents;

/// The options that a reload applies. A change of another one needs a restart.
const APPLIED: [&str; 14] = [
    "alt-max-down",
    "alt-max-up",
    BIND,
    "max-active-downloads",
    "max-active-uploads",
    "max-down",
    "max-up",
    "min-free",
    "port",
    "seed-ratio",
    "seed-time",
    "stalled-after",
    "watch-dir",
    "watch-remove",
];

const BIND: &str = "bind";

impl Torrents {
    /// Reads the options and the configuration again, and applies what can change while the daemon runs. Returns the names
    /// of the options that differ from those of the start and need a restart.
    ///
    /// # Errors
    /// Returns the file, the line and the reason, or the reason why the port cannot be used. Nothing changes then.
    pub(super) fn reload(&mut self) -> Result<Vec<String>, String> {
        service::reloading();
        let reloaded = self.apply_again();
        match &reloaded {
            Ok(restart) => tracing::info!(?restart, "reloaded"),
            Err(reason) => tracing::warn!(reason, "not reloaded"),
        }
        service::ready_again();
        reloaded
    }

    fn apply_again(&mut self) -> Result<Vec<String>, String> {
        self.check_running()?;
        let env = self.start.invocation.env();
        let read = || {
            let new = DaemonSettings::read(&env)?;
            let configured = Configured::of(&env, &new, self.store.folder())?;
            anyhow::Ok((self.start.settings.changed(&new), configured))
        };
        let (mut restart, mut configured) = read().map_err(|error| format!("{error:#}"))?;
        restart.retain(|name| !APPLIED.contains(&name.as_str()));
        let before = &self.configured;
        // The other parts of the daemon have these from the start.
        configured.folder.clone_from(&before.folder);
        configured.records.clone_from(&before.records);
        let (old, new) = (&before.network, &mut configured.network);
        // An interface turns discovery in the local network off, which libtorrent does at its start.
        if old.bind.interface().is_some() != new.bind.interface().is_some() {
            new.bind.clone_from(&old.bind);
            restart.push(BIND.to_owned());
            restart.sort();
        }
        self.hooks
            .set(configured.tables.hooks.clone())
            .map_err(|error| format!("hooks: {error}"))?;
        if configured.network != before.network {
            let network = configured.network.clone();
            let set = |client: &Client| client.set_network(network);
            let set = self.client.as_ref().map_or(Ok(()), set);
            set.map_err(|error| error.to_string())?;
        }
        self.configured = configured;
        self.follow_schedule(Moment::now());
        self.send_limits();
        Ok(restart)
    }
}
