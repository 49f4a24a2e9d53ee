//! What a client is asked to do.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use globset::GlobSet;
use hashlane_metainfo::Magnet;
use hashlane_swarm::Settings;
use hashlane_verify::{CancelToken, Options};

/// Settings of a client that all its torrents share.
#[derive(Clone, Debug)]
pub struct Config {
    /// Settings of the session.
    pub session: Settings,
    /// The only local address of connections, for .torrent files from URLs too; `None` for all addresses.
    /// `session` has to say the same.
    pub bind: Option<IpAddr>,
    /// Peers to connect to, for every torrent.
    pub peers: Vec<SocketAddr>,
    /// Address of the HTTP page; port 0 for any free port, `None` for no page.
    pub http: Option<SocketAddr>,
    /// How content is read and hashed.
    pub hashing: Options,
    /// Ends the client: downloads keep what they have.
    pub cancel: CancelToken,
    /// Length limit in bytes of a .torrent file from a URL.
    pub max_metainfo_len: u64,
}

/// A torrent and what to do with it.
#[derive(Debug)]
pub struct Task {
    /// The torrent as the user named it, for snapshots.
    pub label: String,
    /// Where its metadata comes from.
    pub source: Source,
    /// What to do with it.
    pub goal: Goal,
}

/// Returns the bytes of a .torrent file. It is called on a thread of the client.
pub type ReadMetainfo =
    Box<dyn FnOnce() -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> + Send>;

/// The origin of a torrent's metadata.
pub enum Source {
    /// A .torrent file.
    Metainfo(ReadMetainfo),
    /// A URL (http, https) of a .torrent file.
    Url(String),
    /// A magnet link.
    Magnet(Box<Magnet>),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metainfo(_) => f.write_str("Metainfo"),
            Self::Url(url) => f.debug_tuple("Url").field(url).finish(),
            Self::Magnet(magnet) => f.debug_tuple("Magnet").field(magnet).finish(),
        }
    }
}

/// What to do with a torrent.
#[derive(Clone, Debug)]
pub enum Goal {
    /// Downloads what is missing.
    Download(Arc<Download>),
    /// Serves what is present, and never writes.
    Seed(Seed),
}

/// A download.
#[derive(Clone, Debug)]
pub struct Download {
    /// Folder that gets the content, under the torrents' names.
    pub folder: PathBuf,
    /// Patterns of the files and folders to download, relative to the torrent's root; empty for all.
    pub selection: GlobSet,
    /// Whether pieces are requested in order.
    pub sequential: bool,
    /// What happens to files that exist.
    pub existing: Existing,
    /// How long the torrent is served after the download; `None` for not at all.
    pub seeding: Option<SeedLimits>,
    /// Fails the torrent if nothing arrives for this long.
    pub timeout: Option<Duration>,
}

/// What a download does with files that exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Continues files that belong to the torrent. A file with content but without a piece of the torrent
    /// fails the torrent; see [`TorrentError::Unrelated`](crate::TorrentError::Unrelated).
    #[default]
    Resume,
    /// Replaces whatever is wrong, in any file.
    Overwrite,
    /// Asks with [`Event::Confirm`](crate::Event::Confirm) before anything wrong is replaced.
    Confirm,
}

/// How long a torrent is served.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeedLimits {
    /// Ends when this many times the content has been sent.
    pub ratio: Option<f64>,
    /// Ends after this time.
    pub time: Option<Duration>,
}

/// Content that is served.
#[derive(Clone, Debug)]
pub struct Seed {
    /// Folder that has the content under the torrent's name.
    pub folder: PathBuf,
    /// Whether a piece is announced only after the one before has spread (BEP 16).
    pub super_seeding: bool,
    /// How long the torrent is served.
    pub limits: SeedLimits,
}
