//! The options that `get` and `seed` share.

#[cfg(feature = "libtorrent")]
mod config;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use hashlane_metainfo::PeerAddress;

use super::log::Log;
use super::network::Network;
use super::{Hashing, Output};
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
