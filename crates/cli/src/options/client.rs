//! The options that `get` and `seed` share, such as `--log`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hashlane_metainfo::PeerAddress;

use super::http::HttpOptions;
use super::network::Network;
use super::{Hashing, Output};
use crate::values;

/// Options that `get`, `seed` and `daemon` share.
#[derive(Debug, Args)]
pub struct ClientOptions {
    /// Peer to connect to; repeatable
    #[arg(long = "peer", value_name = "HOST:PORT", value_parser = values::peer, help_heading = "Network")]
    pub peers: Vec<PeerAddress>,

    /// The connections.
    #[command(flatten)]
    pub network: Network,

    /// The method of verifying.
    #[command(flatten)]
    pub hashing: Hashing,

    /// The page.
    #[command(flatten)]
    pub http: HttpOptions,

    /// Let everybody who reaches the address of --http use it without a token or a password
    #[arg(long, help_heading = "Page")]
    pub insecure_no_auth: bool,

    /// Folder to watch: its .torrent files are added as they appear, and the program runs until Ctrl-C
    #[arg(long = "watch-dir", value_name = "DIR", help_heading = "Content")]
    pub watch: Option<PathBuf>,

    /// Folder for the records of --trust and --exec [default: `$XDG_STATE_HOME/hashlane`, by default
    /// `~/.local/state/hashlane`]
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,

    /// The log file.
    #[command(flatten)]
    pub log: Log,

    /// The form and amount of output.
    #[command(flatten)]
    pub output: Output,

    /// Print a line for each torrent when the program is stopped, instead of one line with the sum
    #[arg(short, long, conflicts_with_all = ["json", "quiet"], help_heading = "Output")]
    pub verbose: bool,
}

/// The log file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Log")]
pub struct Log {
    /// Append a log to this file
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,

    /// Level of detail of the log
    #[arg(long, value_name = "LEVEL", default_value = "info", requires = "log")]
    pub log_level: LogLevel,
}

/// The level of detail of a log. Each level includes the levels before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Errors that stop a torrent
    Error,
    /// Errors that a torrent survives
    Warn,
    /// Torrents that start and stop
    Info,
    /// Pieces, peers and trackers
    Debug,
    /// Blocks, and the log of libtorrent
    Trace,
}
