//! `hashlane get` and `hashlane seed`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hashlane_metainfo::PeerAddress;

use crate::values;

use crate::options::Hashing;

const GET_EXIT_STATUS: &str = "\
Exit status:
  0  all that was asked for is there
  1  it has come, and by the last look is not all there any more
  2  it has not all come: wrong usage, a torrent that cannot be read or is
     refused, a file that cannot be written, a full disk, --timeout, Ctrl-C,
     or a program built without libtorrent";

const SEED_EXIT_STATUS: &str = "\
Exit status:
  0  served until the end that was asked for, or Ctrl-C
  1  the same, and not all of the content was there
  2  something could not be served: wrong usage, a torrent that cannot be
     read or is refused, content that is absent, or a program built without
     libtorrent";

/// Download torrents, from whatever of them is there
///
/// The content that is there is verified first, whoever left it there; the rest is downloaded, and in the end all of
/// it is verified once more. Nothing is stored about a download but its content: it can be ended in any way and at any
/// time, and goes on from what is there. Pieces that are wrong are replaced; other files, and what is in files behind
/// the end of the content, are left alone.
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

    /// Download only files and folders that the pattern fits: `*.pdf` anywhere, `docs/*.pdf` from the top;
    /// can be given several times. With version 1, parts of their neighbours come along, as files with holes
    #[arg(long, value_name = "GLOB")]
    pub(crate) select: Vec<String>,

    /// Ask for pieces in their order
    #[arg(long)]
    pub(crate) sequential: bool,

    /// Say what is there and wrong, and ask before it is replaced; without a terminal nothing is done then
    #[arg(long)]
    pub(crate) repair: bool,

    /// Go on serving when all is there, until Ctrl-C
    #[arg(long)]
    pub(crate) seed: bool,

    /// Go on serving until this many times the content has been sent
    #[arg(long, value_name = "RATIO", value_parser = values::positive)]
    pub(crate) seed_ratio: Option<f64>,

    /// Go on serving for so long, such as 30m
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub(crate) seed_time: Option<f64>,

    /// Give up when nothing has come for so long, such as 60s
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub(crate) timeout: Option<f64>,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Serve the content of torrents, and never write to it
///
/// What is there is verified first, and that is served. The content is opened for reading only: no file is created,
/// written or made longer or shorter, so that it can be on a read-only file system. Torrents whose content is absent are errors of
/// theirs alone.
#[derive(Debug, Args)]
#[command(after_help = SEED_EXIT_STATUS)]
#[expect(clippy::struct_field_names, reason = "the names of options")]
pub(crate) struct Seed {
    /// .torrent files
    #[arg(value_name = "TORRENT", required = true)]
    pub(crate) torrents: Vec<PathBuf>,

    /// The folder that holds the content under the torrents' names [default: the .torrent's folder]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,

    /// Show a piece to others only when the one before has spread
    #[arg(long)]
    pub(crate) super_seeding: bool,

    /// End when this many times the content has been sent, of each
    #[arg(long, value_name = "RATIO", value_parser = values::positive)]
    pub(crate) seed_ratio: Option<f64>,

    /// End after so long, such as 2h
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub(crate) seed_time: Option<f64>,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// What downloading and serving have in common.
#[derive(Debug, Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) network: Network,

    #[command(flatten)]
    pub(crate) hashing: Hashing,

    /// Serve a page to look at it in a browser, with an API and metrics beside it: a port of this machine
    /// (0 for any), or an address with a port
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = values::page)]
    pub(crate) http: Option<SocketAddr>,

    /// Append a log to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,

    /// What the log has
    #[arg(long, value_name = "LEVEL", default_value = "info", requires = "log")]
    pub(crate) log_level: LogLevel,

    /// Print JSON lines, see docs/json.md
    #[arg(long)]
    pub(crate) json: bool,

    /// Print no report for people and no progress; the exit status tells the rest
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// How others are met.
#[derive(Debug, Args)]
pub(crate) struct Network {
    /// The port where peers are waited for, 0 for any
    #[arg(
        long,
        value_name = "PORT",
        default_value = "6881",
        help_heading = "Network"
    )]
    pub(crate) port: u16,

    /// The address that connections to peers and trackers come in at and go out from [default: all]
    #[arg(long, value_name = "ADDRESS", help_heading = "Network")]
    pub(crate) bind: Option<IpAddr>,

    /// A peer to connect to; can be given several times
    #[arg(long = "peer", value_name = "HOST:PORT", value_parser = values::peer, help_heading = "Network")]
    pub(crate) peers: Vec<PeerAddress>,

    /// Do not look for peers in the distributed hash table
    #[arg(long, help_heading = "Network")]
    pub(crate) no_dht: bool,

    /// A node by which the distributed hash table is entered, instead of libtorrent's own; can be given
    /// several times
    #[arg(long = "dht-node", value_name = "HOST:PORT", value_parser = values::peer, conflicts_with = "no_dht", help_heading = "Network")]
    pub(crate) dht_nodes: Vec<PeerAddress>,

    /// Do not look for peers in the local network, nor ask routers to let peers in
    #[arg(long, help_heading = "Network")]
    pub(crate) no_discovery: bool,

    /// The most that is received a second, such as 2MiB
    #[arg(long, value_name = "BYTES", value_parser = values::rate, help_heading = "Network")]
    pub(crate) max_down: Option<u32>,

    /// The most that is sent a second, such as 512KiB
    #[arg(long, value_name = "BYTES", value_parser = values::rate, help_heading = "Network")]
    pub(crate) max_up: Option<u32>,

    /// The most peers of all torrents together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Network")]
    pub(crate) max_peers: Option<u16>,

    /// To how many peers is sent at a time; the others are choked
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Network")]
    pub(crate) upload_slots: Option<u16>,

    /// How peers are connected to
    #[arg(
        long,
        value_name = "HOW",
        default_value = "both",
        help_heading = "Network"
    )]
    pub(crate) transport: TransportArg,

    /// Whether connections to peers are encrypted
    #[arg(
        long,
        value_name = "HOW",
        default_value = "allowed",
        help_heading = "Network"
    )]
    pub(crate) encryption: EncryptionArg,

    /// Connect through a proxy: `socks5://[USER:PASSWORD@]HOST:PORT`, or `http://`. The local network is left
    /// alone then; names of --peer are resolved by this machine
    #[arg(long, value_name = "URL", value_parser = values::proxy, help_heading = "Network")]
    pub(crate) proxy: Option<values::ProxyUrl>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EncryptionArg {
    /// As the peer likes it
    Allowed,
    /// With RC4, or not at all
    Required,
    /// Never
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportArg {
    /// Either way
    Both,
    /// TCP only: as fast as the network
    Tcp,
    /// uTP only (BEP 29): makes room for other traffic, and gets through more routers
    Utp,
}

/// What a log has: all that comes before it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// What a torrent cannot go on with
    Error,
    /// What it goes on from
    Warn,
    /// What begins and ends
    Info,
    /// Pieces, peers and trackers
    Debug,
    /// Blocks, and libtorrent's own log
    Trace,
}
