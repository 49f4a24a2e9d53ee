//! What the API acts on: a session, or a client that keeps nothing.

mod session;

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::config::Http;
use hashlane_api::{
    Command, GroupChange, Groups, Limit, NewTorrent, Place, RatesPatch, Refusal, SessionPatch,
    Source, Status, Target,
};
use hashlane_client::{
    AddOptions, Added, Command as ClientCommand, Config, Control, Download, Fetch, HandleError,
    Identity, InfoHash, Mode, Named, Rights, Seed, Snapshot, TorrentHandle, TorrentKey,
    TorrentSnapshot, status_of,
};
use hashlane_files::Globs;
use hashlane_metainfo::{FileKind, InfoHashes, Torrent};
use hashlane_swarm::Network;
use hashlane_verify::files_of;

pub use session::{Reload, SessionService};

/// The torrents on which requests act. Its methods may block: the server calls them on threads for that.
pub trait Service: Send + Sync + 'static {
    /// Returns the state of all torrents.
    fn snapshot(&self) -> Arc<Snapshot>;

    /// Returns the torrent of a key.
    fn find(&self, key: TorrentKey) -> Option<Found>;

    /// Adds a torrent, unless it is present and has not ended. The file of a URL is fetched before, which can take a minute.
    ///
    /// # Errors
    /// Returns the reason why the torrent is not added.
    fn add(&self, source: Source, new: &NewTorrent) -> Result<Added, Refusal>;

    /// Refuses a folder in which requests may not place content.
    ///
    /// # Errors
    /// Returns [`Refusal::Forbidden`].
    fn check_folder(&self, folder: &Path) -> Result<(), Refusal>;

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
        Err(Refusal::only_kept())
    }

    /// Reads the configuration again. Returns the names of the options that have changed and need a restart.
    ///
    /// # Errors
    /// Returns the file, the line and the reason. Nothing changed then.
    fn reload(&self) -> Result<Vec<String>, Refusal> {
        Err(no_configuration())
    }

    /// Changes the local end of all connections.
    ///
    /// # Errors
    /// Returns the reason why nothing changed, for example a port that is in use.
    fn set_network(&self, network: Network) -> Result<(), Refusal>;

    /// Returns the transferred bytes.
    fn statistics(&self) -> Statistics;

    /// Returns the state of the program.
    fn status(&self) -> Status;

    /// Returns the limits of all torrents together, each with its origin.
    fn limits(&self) -> Vec<Limit> {
        Vec::new()
    }
}

/// Returns the reason why a program reads no configuration again.
fn no_configuration() -> Refusal {
    Refusal::Conflict("only a daemon reads its configuration again".into())
}

/// A torrent that a request names.
#[derive(Debug)]
pub struct Found {
    /// Its state, with the number by which requests know it.
    pub torrent: Arc<TorrentSnapshot>,
    /// The torrent in the client; `None` while it waits for its start.
    pub handle: Option<TorrentHandle>,
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

fn added(torrent: &TorrentHandle, info_hashes: InfoHashes, is_present: bool) -> Added {
    let identity = Identity {
        number: torrent.number(),
        info_hashes: Some(info_hashes),
    };
    let title = torrent.snapshot().title().to_owned();
    let torrent = Named { identity, title };
    Added {
        torrent,
        is_present,
    }
}

/// A client without anything that it keeps.
pub struct ClientService {
    control: Control,
    config: Config,
    rights: Rights,
    started: Instant,
    /// Held while a torrent is looked for and added, so that two requests do not add the same torrent.
    adding: Mutex<()>,
}

/// Without fields: the settings of a proxy have its password.
impl fmt::Debug for ClientService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientService").finish_non_exhaustive()
    }
}

impl ClientService {
    /// Returns the service of a client with these settings.
    pub fn new(control: Control, config: &Config, http: &Http) -> Self {
        Self {
            control,
            config: config.clone(),
            rights: Rights {
                folders: http.folders.clone(),
                may_delete: true,
                fetches_local: http.fetches_local,
            },
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

    /// Returns the request for the .torrent file of a URL.
    fn fetch(&self, url: String) -> Fetch {
        Fetch {
            url,
            proxy: self.config.session.proxy.clone(),
            bind: self.control.snapshot().network.bind.clone(),
            timeout: None,
            max_len: self.config.max_metainfo_len,
            is_public: !self.rights.fetches_local,
        }
    }

    /// Returns the mode of a torrent.
    fn mode(&self, folder: Option<PathBuf>, selection: Globs) -> Option<Mode> {
        // That of torrents without one.
        Some(match self.config.additions.mode.as_ref()? {
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

impl Service for ClientService {
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

    fn add(&self, source: Source, new: &NewTorrent) -> Result<Added, Refusal> {
        new.check(&source)?;
        new.set.check_client()?;
        let supported = NewTorrent {
            folder: new.folder.clone(),
            select: new.select.clone(),
            paused: new.paused,
            set: new.set.clone(),
            ..NewTorrent::default()
        };
        if *new != supported {
            return Err(Refusal::only_kept());
        }
        if let Some(folder) = &new.folder {
            self.check_folder(folder)?;
        }
        let (source, info_hashes, selection) = match source {
            Source::Torrent(torrent) => {
                let info_hashes = torrent.info_hashes();
                let selected = new.select.as_deref().unwrap_or_default();
                let selection = patterns(&torrent, selected);
                (torrent.into(), info_hashes, selection)
            }
            Source::Magnet(magnet) => {
                let info_hashes = magnet.info_hashes;
                ((*magnet).into(), info_hashes, Globs::default())
            }
            Source::Url(url) => {
                let file = self.fetch(url).run();
                let file = file.map_err(|error| Refusal::Conflict(error.to_string()))?;
                return self.add(Source::of_file(file)?, new);
            }
        };
        // No code that holds the lock leaves anything inconsistent.
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(torrent) = self.running(info_hashes) {
            let known = torrent.snapshot().identity.info_hashes;
            let info_hashes = known.unwrap_or(info_hashes);
            return Ok(added(&torrent, info_hashes, true));
        }
        let options = AddOptions {
            mode: self.mode(new.folder.clone(), selection),
            is_paused: new.paused.unwrap_or(false),
            ..AddOptions::default()
        };
        let torrent = self.control.add(source, options)?;
        torrent.set(&new.set)?;
        Ok(added(&torrent, info_hashes, false))
    }

    fn apply(&self, numbers: &[usize], command: &Command) -> Vec<Result<(), Refusal>> {
        let torrents = numbers.iter().map(|number| TorrentKey::Number(*number));
        let handles = torrents.map(|key| self.control.get(key).ok_or(Refusal::Absent));
        let apply = |handle: Result<TorrentHandle, Refusal>| {
            let handle = handle?;
            if let Command::Relocate { folder } = command {
                self.check_folder(folder)?;
            }
            handle.apply(command)
        };
        handles.map(apply).collect()
    }

    fn check_folder(&self, folder: &Path) -> Result<(), Refusal> {
        self.rights.check_folder(folder)
    }

    fn change_session(&self, patch: &SessionPatch) -> Result<(), Refusal> {
        let rates = SessionPatch {
            max_down: patch.max_down,
            max_up: patch.max_up,
            ..SessionPatch::default()
        };
        if rates != *patch {
            return Err(Refusal::only_kept());
        }
        let limits = RatesPatch {
            max_down: patch.max_down.map(Target::limit),
            max_up: patch.max_up.map(Target::limit),
        };
        if self.control.send(ClientCommand::Limit(limits)) {
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

    fn status(&self) -> Status {
        let snapshot = self.snapshot();
        let torrents = snapshot.torrents.iter();
        let torrents = torrents.map(|it| (&**it, it.activity, it.error.is_some()));
        let (received_bytes, sent_bytes) = snapshot.exchanged();
        Status {
            received_bytes,
            sent_bytes,
            ..status_of(&snapshot, torrents)
        }
    }
}

/// Returns patterns that fit the files at these positions and no others.
fn patterns(torrent: &Torrent, selected: &[u32]) -> Globs {
    let mut patterns = Globs::default();
    let selected: HashSet<u32> = selected.iter().copied().collect();
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
