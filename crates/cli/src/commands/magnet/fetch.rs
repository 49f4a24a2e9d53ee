//! `hashlane magnet --fetch`: the metadata of magnet links, from peers.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::options::Force;
use crate::options::network::Connections;
use crate::values;

/// The options of `--fetch`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fetching")]
pub struct Fetching {
    /// Fetch the metadata of magnet links or info-hashes from peers, and write each as a .torrent with the trackers
    /// and web seeds of the link. The options below and --peer apply
    #[arg(long, conflicts_with_all = [
        "show_passkey", "no_trackers", "tiers", "no_web_seeds", "web_seeds", "name", "no_name", "no_length",
        "select_only",
    ])]
    pub(super) fetch: bool,

    /// The .torrent to write [default: NAME.torrent in the working directory]
    #[arg(short, long, value_name = "FILE", requires = "fetch")]
    pub output: Option<PathBuf>,

    /// Whether a file may be replaced.
    #[command(flatten)]
    pub force: Force,

    /// Give up on a link after this time, for example 60s [default: wait until Ctrl-C]
    #[arg(long, value_name = "TIME", value_parser = values::duration, requires = "fetch")]
    pub timeout: Option<Duration>,

    /// Print no report and no progress, only errors
    #[arg(short, long, requires = "fetch")]
    pub quiet: bool,

    /// The connections to peers.
    #[command(flatten)]
    pub connections: Connections,
}
