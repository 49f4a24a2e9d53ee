//! What the API acts on: a client, or a program that keeps more than a client does.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hashlane_api::{
    Command, Content, Goal, GroupChange, Groups, Patch, Place, RatesPatch, Refusal, SessionPatch,
    Target,
};
use hashlane_files::Globs;
use hashlane_metainfo::{FileKind, InfoHashes, Magnet, Torrent};
use hashlane_swarm::Network;
use hashlane_verify::files_of;

use crate::command::{self as client, Remove};
use crate::config::{AddError, AddOptions, Download, Mode, Seed};
use crate::control::Control;
use crate::error::NetworkError;
use crate::handle::{HandleError, TorrentHandle};
use crate::identity::{Identity, InfoHash, TorrentKey};
use crate::limits::SeedLimits;
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
    fn add(&self, new: NewTorrent) -> Result<Added, Refusal>;

    /// Does what a command asks of the torrents with these numbers, and returns a result for each. Long work ends later.
    fn apply(&self, numbers: &[usize], command: &Command) -> Vec<Result<(), Refusal>>;

    /// Changes the settings of all torrents together.
    ///
    /// # Errors
    /// Returns the reason why nothing changed.
    fn change_session(&self, patch: &SessionPatch) -> Result<(), Refusal>;

    /// Returns the categories and labels; `None` if nothing is kept.
    fn groups(&self) -> Option<Groups> {
        None
    }

    /// Changes the categories or labels.
    ///
    /// # Errors
    /// Returns the reason why nothing changed.
    fn change_groups(&self, _: &GroupChange) -> Result<(), Refusal> {
        Err(only_kept())
    }

    /// Reads the configuration again. Returns the names of the options that have changed and need a restart.
    ///
    /// # Errors
    /// Returns the file, the line and the reason. Nothing changed then.
    fn reload(&self) -> Result<Vec<String>, Refusal> {
        let reason = "only a daemon reads its configuration again";
        Err(Refusal::Conflict(reason.into()))
    }

    /// Changes the local end of all connections.
    ///
    /// # Errors
    /// Returns the reason why nothing changed, for example a port that is in use.
    fn set_network(&self, network: Network) -> Result<(), Refusal>;

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

impl From<HandleError> for Refusal {
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

impl From<NetworkError> for Refusal {
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
    /// Does what a command asks.
    ///
    /// # Errors
    /// Returns the reason why nothing changed.
    pub fn apply(&self, command: &Command) -> Result<(), Refusal> {
        match command {
            Command::Pause => self.pause(),
            Command::Resume { .. } => self.resume(),
            Command::End => self.end(),
            Command::Verify => self.verify(),
            Command::Reannounce => self.reannounce(),
            Command::Remove { content } => self.remove((*content).into()),
            Command::Relocate { folder } => self.relocate(folder),
            Command::Set(patch) => return self.set(patch),
            Command::Prioritize { files, priority } if files.is_empty() => {
                let n_files = self.snapshot().detail.priorities.len() as u32;
                let all: Vec<u32> = (0..n_files).collect();
                self.set_priorities(&all, *priority)
            }
            Command::Prioritize { files, priority } => self.set_priorities(files, *priority),
            Command::AddTracker { url } => self.add_tracker(url),
            Command::SetTrackers { trackers } => self.set_trackers(trackers.clone()),
            Command::AddPeer { address } => self.add_peer(*address),
            Command::Place { .. }
            | Command::Queue { .. }
            | Command::Rename { .. }
            | Command::ReplaceTracker { .. }
            | Command::RemoveTracker { .. } => return Err(only_kept()),
        }?;
        Ok(())
    }

    /// Changes what a person chose.
    fn set(&self, patch: &Patch) -> Result<(), Refusal> {
        if patch.title.is_some() || patch.category.is_some() || patch.idle.is_some() {
            return Err(only_kept());
        }
        if patch.ratio.is_some() || patch.time.is_some() {
            let before = self.snapshot();
            let time = before.seed_seconds.map(Duration::try_from_secs_f64);
            let before = Goal {
                ratio: Target::of(before.seed_ratio),
                time: Target::of(time.and_then(Result::ok)),
                idle: Target::Never,
            };
            let goal = patch.goal(before);
            self.set_goal(Some(SeedLimits {
                ratio: goal.ratio.limit(),
                time: goal.time.limit(),
            }))?;
        }
        if let Some(labels) = &patch.labels {
            self.set_labels(labels.iter().cloned().collect())?;
        }
        if let Some(sequential) = patch.sequential {
            self.set_sequential(sequential)?;
        }
        if patch.rates() != RatesPatch::default() {
            self.set_limits(patch.rates())?;
        }
        Ok(())
    }
}

/// Returns the reason why a client refuses what only a program with a state folder does.
fn only_kept() -> Refusal {
    Refusal::Conflict("only a daemon does this".into())
}

impl From<Content> for Remove {
    fn from(content: Content) -> Self {
        match content {
            Content::Keep => Self::Keep,
            Content::Delete => Self::DeleteContent,
        }
    }
}

/// A client without anything that it keeps.
pub(crate) struct PlainClient {
    control: Control,
    /// The mode of torrents that requests add.
    mode: Option<Mode>,
    started: Instant,
    /// Held while a torrent is looked for and added, so that two requests do not add the same torrent.
    adding: Mutex<()>,
}

impl PlainClient {
    pub(crate) fn new(control: Control, mode: Option<Mode>) -> Self {
        Self {
            control,
            mode,
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

    /// Returns the mode of a torrent.
    fn mode(&self, folder: Option<PathBuf>, selection: Globs) -> Option<Mode> {
        Some(match self.mode.as_ref()? {
            Mode::Download(download) => Mode::Download(Arc::new(Download {
                folder: folder.unwrap_or_else(|| download.folder.clone()),
                selection: if selection.is_empty() {
                    download.selection.clone()
                } else {
                    selection
                },
                ..(**download).clone()
            })),
            Mode::Seed(seed) => Mode::Seed(Seed {
                place: folder.map_or_else(|| seed.place.clone(), Place::Folder),
                ..seed.clone()
            }),
            mode @ Mode::Metadata { .. } => mode.clone(),
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

    fn add(&self, new: NewTorrent) -> Result<Added, Refusal> {
        if new.category.is_some() {
            return Err(Refusal::Conflict("only a daemon has categories".into()));
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
            mode: self.mode(new.folder, selection),
            is_paused: new.is_paused,
            labels: new.labels,
            ..AddOptions::default()
        };
        let torrent = self
            .control
            .add(source, options)
            .map_err(|error| match error {
                AddError::Stopped => Refusal::Unavailable(error.to_string()),
                AddError::NoMode | AddError::TooMany => Refusal::Conflict(error.to_string()),
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

    fn apply(&self, numbers: &[usize], command: &Command) -> Vec<Result<(), Refusal>> {
        let torrents = numbers.iter().map(|number| TorrentKey::Number(*number));
        let handles = torrents.map(|key| self.control.get(key).ok_or(Refusal::Absent));
        handles.map(|handle| handle?.apply(command)).collect()
    }

    fn change_session(&self, patch: &SessionPatch) -> Result<(), Refusal> {
        let rates = SessionPatch {
            max_down: patch.max_down,
            max_up: patch.max_up,
            ..SessionPatch::default()
        };
        if rates != *patch {
            return Err(only_kept());
        }
        let limits = RatesPatch {
            max_down: patch.max_down.map(Target::limit),
            max_up: patch.max_up.map(Target::limit),
        };
        if self.control.send(client::Command::Limit(limits)) {
            Ok(())
        } else {
            Err(HandleError::Stopped.into())
        }
    }

    fn set_network(&self, network: Network) -> Result<(), Refusal> {
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
