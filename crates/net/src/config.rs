//! The settings of the client from the options.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hashlane_cli::Env;
use hashlane_cli::options::client::ClientOptions;
use hashlane_cli::torrent_file::MAX_LEN;
use hashlane_client::{Additions, Config, Goal, Http, Place, Pulse};

use crate::log::LogFile as _;
use crate::settings::{SessionSettings as _, peer_addresses};

/// Returns the folders of the command, which requests may move content to.
fn folders(goal: &Goal) -> Vec<PathBuf> {
    match goal {
        Goal::Download(download) => {
            let move_to = download.move_to.iter();
            move_to.chain([&download.folder]).cloned().collect()
        }
        Goal::Seed(seed) => match &seed.place {
            Place::Folder(folder) => vec![folder.clone()],
            Place::Content(_) => Vec::new(),
        },
        Goal::Metadata { .. } => Vec::new(),
    }
}

/// Options that have the settings of a client.
pub(crate) trait ClientConfig {
    /// Returns the settings of the client. `goal` is the goal of torrents that are added while the client runs.
    fn config(&self, env: &Env, goal: Goal) -> anyhow::Result<Config>;
}

impl ClientConfig for ClientOptions {
    fn config(&self, env: &Env, goal: Goal) -> anyhow::Result<Config> {
        let event_detail = self.log.event_detail(self.output.is_json());
        Ok(Config {
            session: self.network.settings(env, event_detail)?,
            bind: self.network.connections.bind,
            peers: peer_addresses(&self.peers)?,
            http: self.http.map(|address| Http {
                address,
                origins: self.http_origins.clone(),
                folders: folders(&goal),
            }),
            hashing: self.hashing.options(),
            cancel: env.cancel.clone(),
            pulse: Pulse::default(),
            max_metainfo_len: MAX_LEN,
            additions: Additions {
                goal: Some(goal),
                folder: self.watch.as_deref().map(|folder| env.resolve(folder)),
                ..Additions::default()
            },
        })
    }
}

/// Returns the absolute path of a folder: the state folder keeps it, and a later daemon starts elsewhere.
pub(crate) fn absolute(env: &Env, folder: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(env.resolve(folder));
    path.with_context(|| folder.display().to_string())
}
