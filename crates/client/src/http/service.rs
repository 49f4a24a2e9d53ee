//! What the API acts on: a client, or a program that keeps more than a client does.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use hashlane_files::Globs;
use hashlane_metainfo::{FileKind, InfoHashes, Magnet, Torrent};
use hashlane_swarm::{Network, Priority};
use hashlane_verify::files_of;

use crate::command::{Command, Remove};
use crate::config::{AddError, AddOptions, Download, Goal, Place, Seed};
use crate::control::Control;
use crate::error::NetworkError;
use crate::handle::{HandleError, TorrentHandle};
use crate::identity::{Identity, InfoHash, TorrentKey};
use crate::limits::{Limits, SeedLimits};
use crate::snapshot::{Snapshot, TorrentSnapshot};

/// The torrents on which requests act. Its methods may block: the server calls them on threads for that.
///
/// A client is one. A program that keeps torrents across restarts implements the trait, so that requests change what it
/// keeps.
pub trait Service: Send + Sync + 'static {
    /// Returns the state of all torrents.
    fn snapshot(&self) -> Arc<Snapshot>;

    /// Returns the torrent of a key.
    fn find(&self, key: TorrentKey) -> Option<Found>;

    /// Adds a torrent, unless it is present and has not ended.
    ///
    /// # Errors
    /// Returns the reason why the torrent is not added.
    fn add(&self, new: NewTorrent) -> Result<Added, RequestError>;

    /// Changes the torrent with this number. Long work ends later.
    ///
    /// # Errors
    /// Returns the reason why nothing changed.
    fn change(&self, number: usize, change: Change) -> Result<(), RequestError>;

    /// Changes torrents in the same way, and returns a result for each.
    fn change_all(&self, numbers: &[usize], change: &Change) -> Vec<Result<(), RequestError>> {
        let numbers = numbers.iter();
        numbers
            .map(|number| self.change(*number, change.clone()))
            .collect()
    }

    /// Changes the rate limits of the session.
    ///
    /// # Errors
    /// Returns the reason why nothing changed.
    fn limit(&self, limits: Limits) -> Result<(), RequestError>;

    /// Reads the configuration again. Returns the names of the options that have changed and need a restart.
    ///
    /// # Errors
    /// Returns the file, the line and the reason. Nothing changed then.
    fn reload(&self) -> Result<Vec<String>, RequestError> {
        let reason = "only a daemon reads its configuration again";
        Err(RequestError::Conflict(reason.into()))
    }

    /// Changes the local end of all connections.
    ///
    /// # Errors
    /// Returns the reason why nothing changed, for example a port that is in use.
    fn set_network(&self, network: Network) -> Result<(), RequestError>;

    /// Returns the transferred bytes.
    fn statistics(&self) -> Statistics;
}

/// A torrent that a request names.
#[derive(Debug)]
pub struct Found {
    /// Its state, with the number by which requests know it.
    pub torrent: Arc<TorrentSnapshot>,
    /// The torrent in the client; `None` while it waits for its start.
    pub handle: Option<TorrentHandle>,
}

/// A torrent that a request adds.
#[derive(Debug)]
pub struct NewTorrent {
    /// The metadata, or the link to it.
    pub source: NewSource,
    /// The folder of the content, in which requests may place content; `None` for that of the service.
    pub folder: Option<PathBuf>,
    /// The selected files of a .torrent file, by their positions without padding: at least one, and all of them exist.
    /// `None` for all files.
    pub selected: Option<Vec<u32>>,
    /// Whether the torrent starts paused.
    pub is_paused: bool,
    /// Labels to set, in the order of the request.
    pub labels: Vec<String>,
    /// The category, which only a daemon has.
    pub category: Option<String>,
}

/// The origin of a torrent that a request adds.
pub enum NewSource {
    /// A .torrent file.
    Torrent(Torrent),
    /// A magnet link.
    Magnet(Box<Magnet>),
}

/// Without content: torrents and links contain passkeys.
impl std::fmt::Debug for NewSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Torrent(_) => "Torrent",
            Self::Magnet(_) => "Magnet",
        })
    }
}

/// The torrent that a request added, or that was present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// Number and info-hashes of the torrent.
    pub torrent: Identity,
    /// Whether it was not present before.
    pub is_new: bool,
}

/// A change of one torrent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// Pauses it.
    Pause,
    /// Resumes it.
    Resume,
    /// Stops it and removes it from the client, without its content.
    End,
    /// Verifies its content.
    Verify,
    /// Announces it to its trackers.
    Reannounce,
    /// Removes it.
    Remove(Remove),
    /// Moves its content to this folder, in which requests may place content.
    Relocate(PathBuf),
    /// Changes its rate limits.
    Limit(Limits),
    /// Serves its content until these limits; `None` ends it when its content is complete.
    Seed(Option<SeedLimits>),
    /// Replaces its labels.
    Label(Vec<String>),
    /// Puts it into a category, or into none.
    Category(Option<String>),
    /// Adds the tracker with this URL, beside the present ones.
    AddTracker(String),
    /// Uses the trackers of these tiers instead of all others (BEP 12).
    SetTrackers(Vec<Vec<String>>),
    /// Replaces the URL of a tracker, which is named as it is or with its secrets masked.
    ReplaceTracker {
        /// The present URL.
        url: String,
        /// The new URL.
        new: String,
    },
    /// Removes a tracker, which is named as it is or with its secrets masked.
    RemoveTracker(String),
    /// Connects to a peer.
    AddPeer(SocketAddr),
    /// Sets the priority of files, by their positions without padding.
    Prioritize(Vec<u32>, Priority),
}

/// The reason why a request is refused. It has no secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// There is no such torrent.
    #[error("no such torrent")]
    Absent,
    /// The request has a value that cannot be used.
    #[error("{0}")]
    Invalid(String),
    /// The settings do not permit the request.
    #[error("{0}")]
    Forbidden(String),
    /// The request does not apply to the torrent or to the service, or it failed.
    #[error("{0}")]
    Conflict(String),
    /// The program is ending, or does too much at once.
    #[error("{0}")]
    Unavailable(String),
}

impl From<HandleError> for RequestError {
    fn from(error: HandleError) -> Self {
        match error {
            HandleError::Stopped => Self::Unavailable(error.to_string()),
            HandleError::Removed => Self::Absent,
            HandleError::InvalidTracker => Self::Invalid(error.to_string()),
            HandleError::Ended
            | HandleError::Failed(_)
            | HandleError::NotInSession
            | HandleError::Session(_) => Self::Conflict(error.to_string()),
        }
    }
}

impl From<NetworkError> for RequestError {
    fn from(error: NetworkError) -> Self {
        match error {
            NetworkError::Port { .. } | NetworkError::Address { .. } => {
                Self::Conflict(error.to_string())
            }
            NetworkError::Stopped => Self::Unavailable(error.to_string()),
        }
    }
}

/// Transferred bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes of content received since the start.
    pub downloaded: u64,
    /// Bytes of content sent since the start.
    pub uploaded: u64,
    /// Seconds since the start.
    pub seconds: u64,
    /// Bytes of content received across restarts.
    pub all_downloaded: u64,
    /// Bytes of content sent across restarts.
    pub all_uploaded: u64,
}

impl TorrentHandle {
    /// Does what a request asks for.
    ///
    /// # Errors
    /// Returns the reason why nothing changed.
    pub fn change(&self, change: Change) -> Result<(), RequestError> {
        match change {
            Change::Pause => self.pause(),
            Change::Resume => self.resume(),
            Change::End => self.end(),
            Change::Verify => self.verify(),
            Change::Reannounce => self.reannounce(),
            Change::Remove(content) => self.remove(content),
            Change::Relocate(folder) => self.relocate(folder),
            Change::Limit(limits) => self.set_limits(limits),
            Change::Seed(limits) => self.set_goal(limits),
            Change::Label(labels) => self.set_labels(labels),
            Change::Category(_) => {
                let reason = "only a daemon has categories";
                return Err(RequestError::Conflict(reason.into()));
            }
            Change::AddTracker(url) => self.add_tracker(&url),
            Change::SetTrackers(tiers) => self.set_trackers(tiers),
            Change::ReplaceTracker { .. } | Change::RemoveTracker(_) => {
                let reason = "only a daemon changes one of several trackers: set all of them";
                return Err(RequestError::Conflict(reason.into()));
            }
            Change::AddPeer(address) => self.add_peer(address),
            Change::Prioritize(files, priority) => self.set_priorities(&files, priority),
        }?;
        Ok(())
    }
}

/// A client without anything that it keeps.
pub(crate) struct PlainClient {
    control: Control,
    /// The goal of torrents that requests add.
    goal: Option<Goal>,
    started: Instant,
    /// Held while a torrent is looked for and added, so that two requests do not add the same torrent.
    adding: Mutex<()>,
}

impl PlainClient {
    pub(crate) fn new(control: Control, goal: Option<Goal>) -> Self {
        Self {
            control,
            goal,
            started: Instant::now(),
            adding: Mutex::default(),
        }
    }

    /// Returns the torrent with one of these info-hashes, unless it has ended.
    fn running(&self, info_hashes: InfoHashes) -> Option<TorrentHandle> {
        let versions = [
            info_hashes.v1().map(InfoHash::V1),
            info_hashes.v2().map(InfoHash::V2),
        ];
        let mut keys = versions.into_iter().flatten().map(TorrentKey::InfoHash);
        keys.find_map(|key| {
            let torrent = self.control.get(key)?;
            (!torrent.snapshot().activity.is_over()).then_some(torrent)
        })
    }

    /// Returns the goal of a torrent.
    fn goal(&self, folder: Option<PathBuf>, selection: Globs) -> Option<Goal> {
        Some(match self.goal.as_ref()? {
            Goal::Download(download) => Goal::Download(Arc::new(Download {
                folder: folder.unwrap_or_else(|| download.folder.clone()),
                selection: if selection.is_empty() {
                    download.selection.clone()
                } else {
                    selection
                },
                ..(**download).clone()
            })),
            Goal::Seed(seed) => Goal::Seed(Seed {
                place: folder.map_or_else(|| seed.place.clone(), Place::Folder),
                ..seed.clone()
            }),
            goal @ Goal::Metadata { .. } => goal.clone(),
        })
    }
}

impl Service for PlainClient {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.control.snapshot()
    }

    fn find(&self, key: TorrentKey) -> Option<Found> {
        let handle = self.control.get(key)?;
        Some(Found {
            torrent: handle.snapshot(),
            handle: Some(handle),
        })
    }

    fn add(&self, new: NewTorrent) -> Result<Added, RequestError> {
        if new.category.is_some() {
            return Err(RequestError::Conflict(
                "only a daemon has categories".into(),
            ));
        }
        let (info_hashes, selection) = match &new.source {
            NewSource::Torrent(torrent) => (
                torrent.info_hashes(),
                patterns(torrent, new.selected.as_deref().unwrap_or_default()),
            ),
            NewSource::Magnet(magnet) => (magnet.info_hashes, Globs::default()),
        };
        // No code that holds the lock leaves anything inconsistent.
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(torrent) = self.running(info_hashes) {
            let known = torrent.snapshot().identity.info_hashes;
            let torrent = Identity {
                number: torrent.number(),
                info_hashes: known.or(Some(info_hashes)),
            };
            return Ok(Added {
                torrent,
                is_new: false,
            });
        }
        let source = match new.source {
            NewSource::Torrent(torrent) => torrent.into(),
            NewSource::Magnet(magnet) => (*magnet).into(),
        };
        let options = AddOptions {
            goal: self.goal(new.folder, selection),
            is_paused: new.is_paused,
            labels: new.labels,
            ..AddOptions::default()
        };
        let torrent = self
            .control
            .add(source, options)
            .map_err(|error| match error {
                AddError::Stopped => RequestError::Unavailable(error.to_string()),
                AddError::NoGoal | AddError::TooMany => RequestError::Conflict(error.to_string()),
            })?;
        let torrent = Identity {
            number: torrent.number(),
            info_hashes: Some(info_hashes),
        };
        Ok(Added {
            torrent,
            is_new: true,
        })
    }

    fn change(&self, number: usize, change: Change) -> Result<(), RequestError> {
        let handle = self.control.get(TorrentKey::Number(number));
        handle.ok_or(RequestError::Absent)?.change(change)
    }

    fn limit(&self, limits: Limits) -> Result<(), RequestError> {
        if self.control.send(Command::Limit(limits)) {
            Ok(())
        } else {
            Err(HandleError::Stopped.into())
        }
    }

    fn set_network(&self, network: Network) -> Result<(), RequestError> {
        Ok(self.control.set_network(network)?)
    }

    fn statistics(&self) -> Statistics {
        let (downloaded, uploaded) = self.snapshot().exchanged();
        Statistics {
            downloaded,
            uploaded,
            seconds: self.started.elapsed().as_secs(),
            all_downloaded: downloaded,
            all_uploaded: uploaded,
        }
    }
}

/// Returns patterns that fit the files at these positions and no others.
fn patterns(torrent: &Torrent, selected: &[u32]) -> Globs {
    let mut patterns = Globs::default();
    let files = files_of(torrent).filter(|(_, file)| file.kind() != FileKind::Padding);
    for ((_, file), number) in files.zip(0..) {
        if selected.contains(&number) {
            let mut pattern = "./".to_owned();
            for character in file.path().to_string().chars() {
                if character.is_ascii_punctuation() && character != '/' {
                    pattern.push('\\');
                }
                pattern.push(character);
            }
            patterns
                .add(&pattern)
                .expect("all special characters are escaped");
        }
    }
    patterns
}
