//! The options that `get` and `seed` share.

use std::net::SocketAddr;
#[cfg(feature = "libtorrent")]
use std::path::Path;
use std::path::PathBuf;

use clap::Args;
#[cfg(feature = "libtorrent")]
use hashlane_client::{Additions, Config, Goal, Pulse};
use hashlane_metainfo::PeerAddress;
#[cfg(feature = "libtorrent")]
use hashlane_swarm::EventDetail;

use super::log::Log;
#[cfg(feature = "libtorrent")]
use super::log::LogLevel;
use super::network::Network;
#[cfg(feature = "libtorrent")]
use super::network::peer_addresses;
use super::{Hashing, Output};
#[cfg(feature = "libtorrent")]
use crate::Env;
#[cfg(feature = "libtorrent")]
use crate::torrent_file::MAX_LEN;
use crate::values;

/// The options of a client.
#[derive(Debug, Args)]
pub(crate) struct ClientOptions {
    /// Peer to connect to; repeatable
    #[arg(long = "peer", value_name = "HOST:PORT", value_parser = values::peer, help_heading = "Network")]
    peers: Vec<PeerAddress>,

    #[command(flatten)]
    network: Network,

    #[command(flatten)]
    hashing: Hashing,

    /// Serve a web page, an API and metrics on this port of the local machine (0 for any), or on this
    /// address and port
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = values::page)]
    http: Option<SocketAddr>,

    /// Folder to watch: its .torrent files are added as they appear, and the program runs until Ctrl-C
    #[arg(long, value_name = "DIR")]
    watch: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) log: Log,

    #[command(flatten)]
    pub(crate) output: Output,
}

#[cfg(feature = "libtorrent")]
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

/// Returns the error of a command in a program built without libtorrent.
#[cfg(not(feature = "libtorrent"))]
pub(crate) fn needs_libtorrent(command: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "`{command}` requires a program built with libtorrent: install libtorrent-rasterbar 2.0.8 or later \
         with its headers, pkg-config and a C++ compiler (Debian: \
         apt-get install libtorrent-rasterbar-dev pkg-config g++), then run `make build`"
    )
}
