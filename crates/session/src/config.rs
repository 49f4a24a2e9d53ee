//! The settings of a session, which can be replaced while it runs.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hashlane_api::{Goal, Rates, Rule};
use hashlane_client::{ContentMap, Mode, Network, Source};
use hashlane_store::Category;

use super::rules::TorrentRule;

/// The settings of all torrents together. What a request sets wins over them, until it gives the setting back.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// What becomes of all torrents, if they end: a torrent that fails is not tried again, and the session ends when all its torrents
    /// have ended, unless it watches folders. The place of the mode is that of [`Self::folder`], and its limits of serving apply
    /// where [`Self::goal`] has none. `None` to download torrents, and to serve them until the session is stopped.
    pub mode: Option<Mode>,
    /// Folder for the content of torrents that are added without one.
    pub folder: Option<PathBuf>,
    /// Folder of the records of verified content; `None` to verify all content at each start.
    pub records: Option<PathBuf>,
    /// The goal of torrents that have no other.
    pub goal: Goal,
    /// Bytes that downloads leave free on their disks.
    pub min_free: Option<u64>,
    /// The rate limits.
    pub rates: Rates,
    /// The rate limits while the alternative limits are on.
    pub alternative: Rates,
    /// The limits of the queue.
    pub queue: QueueLimits,
    /// The local end of all connections.
    pub network: Network,
    /// File whose port replaces that of [`Self::network`], at the start and when it changes.
    pub port_file: Option<PathBuf>,
    /// Categories by their names, which requests cannot change.
    pub categories: BTreeMap<String, Category>,
    /// The goals of labels by their names.
    pub labels: BTreeMap<String, Goal>,
    /// What torrents with certain properties get, unless a person chose it for them. The first rule that sets something wins.
    pub rules: Vec<TorrentRule>,
    /// The shell commands that run when something happens to a torrent.
    pub hooks: HookCommands,
    /// Rate limits at times of the week, which win over all others but the alternative ones.
    pub schedule: Vec<Rule>,
    /// Folders whose .torrent and .magnet files are added.
    pub watched: Vec<Watched>,
    /// What becomes of these files after they were added.
    pub added_files: AddedFiles,
}

/// A torrent that a person names, whose metadata is read or fetched later.
#[derive(Debug)]
pub struct Given {
    /// Its position among all that the person gives at the start, by which another process knows it; `None` for all others.
    pub position: Option<usize>,
    /// The torrent as the person named it, without secrets.
    pub label: String,
    /// The origin of the metadata.
    pub source: Source,
    /// The content itself; `None` if it lies in [`Config::folder`].
    pub content: Option<PathBuf>,
    /// Where single files of the content lie.
    pub map: Option<Arc<ContentMap>>,
}

/// What becomes of the files of a watched folder after they were added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddedFiles {
    /// They get another name.
    #[default]
    Renamed,
    /// They are removed.
    Removed,
    /// They stay. A file that changes is added again if its torrent has failed.
    Kept,
}

/// A folder whose files are added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The folder.
    pub folder: PathBuf,
    /// The category of the torrents.
    pub category: Option<String>,
}

/// Shell commands that run when something happens to a torrent. docs/reference/daemon.md names their variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookCommands {
    /// Runs after a torrent was added.
    pub added: Option<String>,
    /// Runs after all selected content of a torrent is present.
    pub complete: Option<String>,
    /// Whether `complete` also runs for content that was complete when its torrent was added.
    pub complete_present: bool,
    /// Runs after a torrent has failed.
    pub failed: Option<String>,
    /// Runs after a torrent was removed.
    pub removed: Option<String>,
    /// Time after which a command is killed; an hour if there is none.
    pub timeout: Option<Duration>,
}

/// How many torrents may be active at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLimits {
    /// Maximum number of active downloads; `None` for no limit.
    pub downloads: Option<NonZeroU32>,
    /// Maximum number of complete torrents that are served; `None` for no limit.
    pub uploads: Option<NonZeroU32>,
    /// Time without a transferred byte after which a torrent loses its place.
    pub stalled_after: Duration,
}

impl QueueLimits {
    /// Returns the time without a transferred byte in minutes, at least one.
    pub fn stalled_minutes(&self) -> u32 {
        let minutes = self.stalled_after.as_secs().div_ceil(60);
        u32::try_from(minutes).unwrap_or(u32::MAX)
    }

    /// Returns `true` if torrents may have to wait.
    pub fn is_some(&self) -> bool {
        self.downloads.is_some() || self.uploads.is_some()
    }
}
