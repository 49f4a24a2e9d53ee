//! Settings of a client, and of torrents that are added.

use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hashlane_api::{Place, Priority, RatesPatch, Refusal};
use hashlane_files::Globs;
use hashlane_metainfo::{ContentLayout, ContentMap, Names, NamesError, Torrent as Metainfo};
use hashlane_swarm::Settings;
use hashlane_verify::{CancelToken, Options};

use crate::limits::SeedLimits;

/// Default of the length limit of .torrent files: those of the largest torrents have a few MiB.
pub(crate) const MAX_METAINFO_LEN: u64 = 32 << 20;

/// Settings that all torrents of a client share.
#[derive(Clone, Debug)]
pub struct Config {
    /// Settings of the session. Its network is that of .torrent files from URLs too.
    pub session: Settings,
    /// Peers to connect to, for every torrent.
    pub peers: Vec<SocketAddr>,
    /// Method of reading and hashing content.
    pub hashing: Options,
    /// Maximum number of torrents that are verified at once. Each verification uses the threads of [`Self::hashing`], so more
    /// than one is of use for content on several disks. The verification of a download that has just ended does not count.
    pub max_verifications: NonZeroU16,
    /// Ends the client. Incomplete downloads stay on disk.
    pub cancel: CancelToken,
    /// Counts the steps of the client's loop.
    pub pulse: Pulse,
    /// Length limit in bytes of a .torrent file from a URL.
    pub max_metainfo_len: u64,
    /// Torrents that are added while the client runs.
    pub additions: Additions,
}

impl Default for Config {
    /// Listens on port 6881 of all addresses, and finds peers by all means. There is no page, and no torrent can be added
    /// without a mode.
    fn default() -> Self {
        Self {
            session: Settings::default(),
            peers: Vec::new(),
            hashing: Options::default(),
            max_verifications: NonZeroU16::MIN,
            cancel: CancelToken::default(),
            pulse: Pulse::default(),
            max_metainfo_len: MAX_METAINFO_LEN,
            additions: Additions::default(),
        }
    }
}

/// Torrents that are added while a client runs.
#[derive(Clone, Debug)]
pub struct Additions {
    /// Mode of these torrents; `None` refuses them.
    pub mode: Option<Mode>,
    /// Maximum number of torrents of the client, with those that have ended and without those that were removed.
    pub max_torrents: usize,
    /// The least number of a torrent that is added without one.
    pub first_number: usize,
    /// Whether the client runs until it is stopped, also if all its torrents have ended.
    pub runs_on: bool,
}

impl Default for Additions {
    fn default() -> Self {
        Self {
            mode: None,
            max_torrents: 100_000,
            first_number: 0,
            runs_on: false,
        }
    }
}

/// Options of a torrent that is added by [`Client::add`](crate::Client::add).
#[derive(Clone, Debug, Default)]
pub struct AddOptions {
    /// The torrent as the user named it, for snapshots; `None` for a text that describes the source.
    pub label: Option<String>,
    /// The mode; `None` for that of [`Additions::mode`].
    pub mode: Option<Mode>,
    /// Whether the torrent joins the session paused. A magnet link then announces nothing, and its metadata is fetched when it
    /// is resumed.
    pub is_paused: bool,
    /// Labels, for snapshots. The client does not interpret them.
    pub labels: Vec<String>,
    /// Rate limits of the torrent.
    pub limits: RatesPatch,
    /// Whether a program that keeps torrents adds one that it already had. That is no news for people and for the log.
    pub is_known: bool,
    /// What was counted before, which the counts of the torrent continue.
    pub earlier: Earlier,
    /// The number of the torrent; `None` for the next one. A number that was passed becomes the next one.
    pub number: Option<usize>,
}

/// What was counted of a torrent before it was added.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Earlier {
    /// Bytes of content received.
    pub downloaded_bytes: u64,
    /// Bytes of content sent.
    pub uploaded_bytes: u64,
    /// Seconds of downloading.
    pub downloading_seconds: f64,
    /// Seconds of serving.
    pub serving_seconds: f64,
}

/// The reason why a torrent cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// Neither the torrent nor the client has a mode; see [`Additions::mode`].
    #[error("no torrent can be added")]
    NoMode,
    /// The client has [`Additions::max_torrents`].
    #[error("there are too many torrents")]
    TooMany,
    /// The client has ended.
    #[error("the client has ended")]
    Stopped,
}

impl From<AddError> for Refusal {
    fn from(error: AddError) -> Self {
        match error {
            AddError::Stopped => Self::Unavailable(error.to_string()),
            AddError::NoMode | AddError::TooMany => Self::Conflict(error.to_string()),
        }
    }
}

/// The mode for a torrent.
#[derive(Clone, Debug)]
pub enum Mode {
    /// Downloads missing and wrong pieces.
    Download(Arc<Download>),
    /// Serves the pieces that are present, and never writes.
    Seed(Seed),
    /// Fetches the metadata of a magnet link from peers, sends it as [`Event::Metadata`](crate::Event::Metadata), and
    /// ends. Other sources fail.
    Metadata {
        /// Time without the metadata after which the torrent fails.
        timeout: Option<Duration>,
    },
}

/// Settings of a torrent that is downloaded.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Download {
    /// Folder for the content, under the torrents' names.
    pub folder: PathBuf,
    /// Patterns of the files and folders to download, relative to the torrent's root; empty for all.
    pub selection: Globs,
    /// Priorities of files that differ from the selection, by their positions in the torrent without padding. They apply only
    /// if a file remains selected.
    pub priorities: Vec<(u32, Priority)>,
    /// Whether pieces are requested in order.
    pub sequential: bool,
    /// Whether a piece of the complete content is offered only after the previous piece has spread (BEP 16).
    pub super_seeding: bool,
    /// Treatment of files that exist.
    pub existing: Existing,
    /// Whether content was present before. If no file of it exists, nothing is created: the torrent waits for its content, whose
    /// file system may not be mounted. A download expects its content too once a piece of it was present.
    pub was_present: bool,
    /// Limits of serving after the download; `None` to end without serving.
    pub seeding: Option<SeedLimits>,
    /// Folder to move the content to after it is complete. Content that already exists there is not downloaded again.
    pub move_to: Option<PathBuf>,
    /// Time without progress after which the torrent fails.
    pub timeout: Option<Duration>,
    /// Folder of records of verified content; `None` to verify everything. With records, pieces are trusted as by
    /// [`Seed::records`] if that makes all selected content complete. Otherwise everything is verified.
    pub records: Option<PathBuf>,
    /// File to write when the metadata of a magnet link has come, before any content is asked for; `None` to keep it in memory.
    /// It is a .torrent file with the trackers and web seeds of the link. It is not written if version 2 needs piece layers.
    pub metadata_file: Option<PathBuf>,
    /// Names of the content that are not the torrent's own.
    pub naming: Naming,
    /// Folders with files that may have the content under other names. Each selected file that is absent is copied from them,
    /// or shares their bytes if the file system can. The files below these folders are only read.
    pub reuse: Vec<PathBuf>,
    /// Whether a file that has several names (hard links) is replaced by a copy before it is written to. Otherwise the torrent
    /// fails with [`TorrentError::Linked`](crate::TorrentError::Linked), because the file would change under all of its names.
    pub copy_linked: bool,
}

/// Names of the content on the disk, and places of single files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Naming {
    /// Names of the content and of its files; [`Names::default`] for those of the torrent.
    pub names: Names,
    /// The names that the content had before, if files may still have them: they are renamed when the torrent is added.
    /// Nothing is replaced; if something exists under a new name, all files keep these names.
    /// [`Event::Renamed`](crate::Event::Renamed) follows.
    pub before: Option<Names>,
    /// Whether content has a folder of its own. Applies only if [`Self::names`] are the torrent's own.
    pub layout: ContentLayout,
    /// Where single files lie, whatever their names. These files are read, and never written, moved or deleted. A torrent that
    /// the map does not have fails.
    pub map: Option<Arc<ContentMap>>,
}

impl Naming {
    /// Returns the names of a torrent's content.
    ///
    /// # Errors
    /// The names do not fit the torrent; see [`Names::check`].
    pub fn of(&self, torrent: &Metainfo) -> Result<Names, NamesError> {
        if self.names.is_own() {
            return self.layout.names(torrent);
        }
        self.names.check(torrent)?;
        Ok(self.names.clone())
    }
}

impl Download {
    /// Returns a download of all files to this folder. It continues files that belong to the torrent, and ends when it is
    /// complete.
    pub fn to(folder: impl AsRef<Path>) -> Self {
        Self {
            folder: folder.as_ref().to_owned(),
            selection: Globs::default(),
            priorities: Vec::new(),
            sequential: false,
            super_seeding: false,
            existing: Existing::Resume,
            was_present: false,
            seeding: None,
            move_to: None,
            timeout: None,
            records: None,
            metadata_file: None,
            naming: Naming::default(),
            reuse: Vec::new(),
            copy_linked: false,
        }
    }
}

/// The treatment of files that exist before a download.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Continues files that belong to the torrent. Other files with content stay as they are, and fail the torrent after the
    /// rest was downloaded; see [`TorrentError::Unrelated`](crate::TorrentError::Unrelated).
    #[default]
    Resume,
    /// Replaces wrong pieces in any file.
    Overwrite,
    /// Sends [`Event::Confirm`](crate::Event::Confirm) before any wrong piece is replaced.
    Confirm,
}

/// Content to serve.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The place of the content. The content itself may be a symbolic link; links inside it must not lead out of it.
    pub place: Place,
    /// Whether a piece is offered only after the previous piece has spread (BEP 16).
    pub super_seeding: bool,
    /// Limits of serving.
    pub limits: SeedLimits,
    /// Folder of records of verified content; `None` to verify everything. With records, a piece is trusted instead of
    /// read if the last verification found it, and if the size and modification time of its files are unchanged.
    pub records: Option<PathBuf>,
    /// Names of the content that are not the torrent's own. With [`Place::Content`], those of files below the content apply.
    pub naming: Naming,
}

/// Counts the steps of a client's loop, several per second. If the count stops for long, a call into libtorrent is not
/// returning, and the client cannot end by itself.
#[derive(Clone, Debug, Default)]
pub struct Pulse(Arc<AtomicU64>);

impl Pulse {
    /// Returns the number of steps so far.
    pub fn steps(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn beat(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
