//! The settings of the client from the options.

use std::path::Path;

use hashlane_client::{Additions, Config, Goal, Pulse};
use hashlane_swarm::EventDetail;

use super::ClientOptions;
use crate::Env;
use crate::options::log::LogLevel;
use crate::options::network::settings::peer_addresses;
use crate::torrent_file::MAX_LEN;

impl ClientOptions {
    /// Returns the folder to watch.
    pub(crate) fn watched(&self) -> Option<&Path> {
        self.watch.as_deref()
    }

    /// Returns the settings of the client. `goal` is the goal of torrents that are added while the client runs.
    pub(crate) fn config(&self, env: &Env, goal: Goal) -> anyhow::Result<Config> {
        let event_detail = match self.log.level() {
            Some(LogLevel::Trace) => EventDetail::All,
            Some(LogLevel::Debug) => EventDetail::Pieces,
            _ if self.output.is_json() => EventDetail::Pieces,
            _ => EventDetail::Essential,
        };
        Ok(Config {
            session: self.network.settings(event_detail),
            bind: self.network.connections.bind(),
            peers: peer_addresses(&self.peers)?,
            http: self.http,
            hashing: self.hashing.options()?,
            cancel: env.cancel.clone(),
            pulse: Pulse::default(),
            max_metainfo_len: MAX_LEN,
            additions: Additions {
                goal: Some(goal),
                folder: self.watch.as_deref().map(|folder| env.resolve(folder)),
            },
        })
    }
}
