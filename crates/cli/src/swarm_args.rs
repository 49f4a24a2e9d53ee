//! `hashlane get` and `hashlane seed`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hashlane_metainfo::PeerAddress;

use crate::values;

use crate::options::Hashing;

const GET_EXIT_STATUS: &str = "\
Exit status:
  0  the requested content is complete and verified
  1  the download finished, but the last verification failed
  2  an error: wrong usage, an invalid torrent, a file that cannot be written,
     a full disk, --timeout, Ctrl-C, or a program built without libtorrent";

const SEED_EXIT_STATUS: &str = "\
Exit status:
  0  all torrents were served until the requested end, or Ctrl-C
  1  the same, but some content was missing or wrong
  2  an error: wrong usage, an invalid torrent, missing content, or a program
     built without libtorrent";

/// Download torrents, or complete content that is partly present
///
/// Existing content is verified first, whichever program wrote it. The rest is downloaded, and in the end everything
/// is verified once more. There is no state file: a download can be stopped in any way at any time, and continues
/// from the content on disk. Wrong pieces are replaced. Other files, and bytes after the end of the content, are kept.
#[derive(Debug, Args)]
#[command(after_help = GET_EXIT_STATUS)]
pub(crate) struct Get {
    /// .torrent files, their URLs (http, https), or magnet links
    #[arg(value_name = "TORRENT|URL|MAGNET", required = true)]
    pub(crate) torrents: Vec<String>,

    /// Folder where the content lies, or is created, under the torrent's name
    #[arg(
        short = 'd',
        long = "dir",
        visible_short_alias = 'o',
        visible_alias = "output",
        value_name = "DIR",
        default_value = "."
    )]
    pub(crate) output: PathBuf,

    /// Download only matching files and folders: `*.pdf` anywhere, `docs/*.pdf` from the top; repeatable.
    /// Version 1 also downloads parts of neighbouring files, as files with holes
    #[arg(long, value_name = "GLOB")]
    pub(crate) select: Vec<String>,

    /// Request pieces in order
    #[arg(long)]
    pub(crate) sequential: bool,

    /// List wrong pieces and ask before replacing them; without a terminal, replace nothing and fail
    #[arg(long)]
    pub(crate) confirm: bool,

    /// Replace the content of files that exist and do not belong to the torrent
    #[arg(long)]
    pub(crate) overwrite: bool,

    /// Continue serving after the download, until Ctrl-C
    #[arg(long)]
    pub(crate) seed: bool,

    /// Continue serving until the content has been sent this many times, for example 1.5
    #[arg(long, value_name = "RATIO", value_parser = values::positive)]
    pub(crate) seed_ratio: Option<f64>,

    /// Continue serving for this time, for example 30m
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub(crate) seed_time: Option<f64>,

    /// Give up on a torrent after this time without progress, for example 60s
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub(crate) timeout: Option<f64>,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Serve the content of torrents without ever writing to it
///
/// The content is verified first, and only right pieces are served. Files are opened for reading only, so that they
/// can be on a read-only file system. A torrent whose content is missing fails on its own; the others continue.
#[derive(Debug, Args)]
#[command(after_help = SEED_EXIT_STATUS)]
#[expect(clippy::struct_field_names, reason = "the names of options")]
pub(crate) struct Seed {
    /// .torrent files
    #[arg(value_name = "TORRENT", required = true)]
    pub(crate) torrents: Vec<PathBuf>,

    /// Folder where the content lies under the torrent's name [default: folder of the .torrent]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,

    /// Offer a piece to peers only after the previous piece has spread
    #[arg(long)]
    pub(crate) super_seeding: bool,

    /// Stop serving a torrent after its content has been sent this many times, for example 1.5
    #[arg(long, value_name = "RATIO", value_parser = values::positive)]
    pub(crate) seed_ratio: Option<f64>,

    /// Stop after this time, for example 2h
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub(crate) seed_time: Option<f64>,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// The options that `get` and `seed` share.
#[derive(Debug, Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) network: Network,

    #[command(flatten)]
    pub(crate) hashing: Hashing,

    /// Serve a web page, an API and metrics on this port of the local machine (0 for any), or on this
    /// address and port
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = values::page)]
    pub(crate) http: Option<SocketAddr>,

    /// Append a log to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,

    /// Level of detail of the log
    #[arg(long, value_name = "LEVEL", default_value = "info", requires = "log")]
    pub(crate) log_level: LogLevel,

    /// Print JSON lines; docs/json.md describes them
    #[arg(long)]
    pub(crate) json: bool,

    /// Print no report and no progress, only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// The connections to peers, trackers and the DHT.
#[derive(Debug, Args)]
pub(crate) struct Network {
    /// Port for incoming connections of peers, 0 for any
    #[arg(
        long,
        value_name = "PORT",
        default_value = "6881",
        help_heading = "Network"
    )]
    pub(crate) port: u16,

    /// Local address for all connections to peers and trackers [default: all addresses]
    #[arg(long, value_name = "ADDRESS", help_heading = "Network")]
    pub(crate) bind: Option<IpAddr>,

    /// Peer to connect to; repeatable
    #[arg(long = "peer", value_name = "HOST:PORT", value_parser = values::peer, help_heading = "Network")]
    pub(crate) peers: Vec<PeerAddress>,

    /// Do not use the distributed hash table
    #[arg(long, help_heading = "Network")]
    pub(crate) no_dht: bool,

    /// Node to enter the distributed hash table with, instead of the nodes of libtorrent; repeatable
    #[arg(long = "dht-node", value_name = "HOST:PORT", value_parser = values::peer, conflicts_with = "no_dht", help_heading = "Network")]
    pub(crate) dht_nodes: Vec<PeerAddress>,

    /// Do not search the local network for peers, and do not ask routers to forward ports
    #[arg(long, help_heading = "Network")]
    pub(crate) no_discovery: bool,

    /// Maximum download rate in bytes per second, for example 2MiB
    #[arg(long, value_name = "BYTES", value_parser = values::rate, help_heading = "Network")]
    pub(crate) max_down: Option<u32>,

    /// Maximum upload rate in bytes per second, for example 512KiB
    #[arg(long, value_name = "BYTES", value_parser = values::rate, help_heading = "Network")]
    pub(crate) max_up: Option<u32>,

    /// Maximum number of peers of all torrents together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Network")]
    pub(crate) max_peers: Option<u16>,

    /// Maximum number of peers to send to at the same time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Network")]
    pub(crate) upload_slots: Option<u16>,

    /// Transport protocol to peers
    #[arg(
        long,
        value_name = "HOW",
        default_value = "both",
        help_heading = "Network"
    )]
    pub(crate) transport: TransportArg,

    /// Encryption of connections to peers
    #[arg(
        long,
        value_name = "HOW",
        default_value = "allowed",
        help_heading = "Network"
    )]
    pub(crate) encryption: EncryptionArg,

    /// Proxy for all connections: `socks5://[USER:PASSWORD@]HOST:PORT`, or `http://`. Turns discovery in the
    /// local network off; this machine still resolves the names of --peer
    #[arg(long, value_name = "URL", value_parser = values::proxy, help_heading = "Network")]
    pub(crate) proxy: Option<values::ProxyUrl>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EncryptionArg {
    /// Encrypt if the peer wants to
    Allowed,
    /// Connect only with RC4 encryption
    Required,
    /// Never encrypt
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportArg {
    /// TCP and uTP
    Both,
    /// TCP only, for speed
    Tcp,
    /// uTP only (BEP 29), which yields to other traffic and passes more routers
    Utp,
}

/// The level of detail of a log. Each level includes the levels before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Errors that stop a torrent
    Error,
    /// Errors that a torrent survives
    Warn,
    /// Starts and ends
    Info,
    /// Pieces, peers and trackers
    Debug,
    /// Blocks, and the log of libtorrent
    Trace,
}
