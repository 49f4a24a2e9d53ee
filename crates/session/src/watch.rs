//! Watched folders: their .torrent and .magnet files are added. The file with the port is read at the same times.
//!
//! Folders are read at an interval, which works on network file systems too. A file is used when two readings find it with
//! the same length and time of modification. A file that is no torrent may be incomplete all the same, so it is refused only
//! after it has not changed for longer.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, Weak};
use std::time::{Duration, Instant, SystemTime};

use hashlane_api::{NewTorrent, Patch, Source};
use hashlane_client::Source as ClientSource;
use hashlane_files::{read_limited, rename_to_free};
use hashlane_metainfo::{Magnet, Torrent};

use super::config::{AddedFiles, Given, Watched};
use super::error::Problem;
use super::port_file::PortFile;
use super::threads::spawn;
use super::torrents::{Torrents, WatchedFile, lock};

/// Interval at which the folders are read.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time without a change after which a file that is no torrent is refused.
const PATIENCE: Duration = Duration::from_secs(10);

/// Length limit of a .magnet file in bytes.
const MAX_MAGNET_LEN: u64 = 1 << 20;

/// Number of names to try for a file that was added or is no torrent.
const MAX_NAMES: u32 = 10_000;

/// The suffixes of files that were added, and that are no torrents.
const ADDED: &str = "added";
const INVALID: &str = "invalid";

/// Reads the folders of the configuration on a thread, until the value is dropped.
pub(super) struct Watch {
    /// Disconnected to end the thread.
    _alive: mpsc::Sender<()>,
}

impl Watch {
    /// Starts the thread.
    pub(super) fn start(
        torrents: Weak<Mutex<Torrents>>,
        max_len: u64,
        problems: mpsc::Sender<Problem>,
    ) -> io::Result<Self> {
        let (alive, ended) = mpsc::channel();
        let mut watcher = Watcher {
            folders: Vec::new(),
            added_files: AddedFiles::default(),
            max_len,
            torrents,
            files: HashMap::new(),
            unreadable: HashMap::new(),
            problems,
        };
        let mut port_file = PortFile::default();
        let run = move || {
            while watcher.take_settings().is_some() {
                if let Some(problem) = port_file.look(&watcher.torrents) {
                    let _ = watcher.problems.send(Problem::Warning(problem));
                }
                watcher.read(Instant::now());
                if ended.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        spawn("watch", run)?;
        Ok(Self { _alive: alive })
    }
}

/// What two readings of a file compare.
type Stamp = (u64, Option<SystemTime>);

/// A file that was seen.
struct Seen {
    stamp: Stamp,
    since: Instant,
    /// Whether its problem was reported, or it was added and stays. It is then used only after a change.
    is_done: bool,
}

struct Watcher {
    folders: Vec<Watched>,
    /// What becomes of files that were added.
    added_files: AddedFiles,
    /// Length limit of a .torrent file in bytes.
    max_len: u64,
    torrents: Weak<Mutex<Torrents>>,
    files: HashMap<PathBuf, Seen>,
    /// The folders that cannot be read, with the reasons.
    unreadable: HashMap<PathBuf, String>,
    problems: mpsc::Sender<Problem>,
}

/// The reason why a file is not added.
enum Failure {
    /// The file is no torrent.
    Invalid(String),
    /// Something that may pass.
    Other(String),
}

impl Watcher {
    /// Takes the folders from the configuration, which may have been read again.
    /// Returns `None` after the end of the session.
    fn take_settings(&mut self) -> Option<()> {
        let torrents = self.torrents.upgrade()?;
        let torrents = lock(&torrents);
        let config = &torrents.config;
        self.folders.clone_from(&config.watched);
        self.added_files = config.added_files;
        drop(torrents);
        let is_watched = |folder: &Path| self.folders.iter().any(|it| it.folder == folder);
        self.unreadable.retain(|folder, _| is_watched(folder));
        Some(())
    }

    /// Reads the folders once.
    fn read(&mut self, now: Instant) {
        let mut found = HashMap::new();
        let folders = self.folders.iter().enumerate();
        for (number, Watched { folder, .. }) in folders {
            let problem = match candidates(folder) {
                Ok(files) => {
                    found.extend(
                        files
                            .into_iter()
                            .map(|(path, stamp)| (path, (number, stamp))),
                    );
                    None
                }
                Err(error) => Some(format!("{}: {error}", folder.display())),
            };
            // A folder that has vanished may return. Each reason is reported once.
            let before = match &problem {
                Some(problem) => self.unreadable.insert(folder.clone(), problem.clone()),
                None => self.unreadable.remove(folder),
            };
            if let Some(problem) = problem.filter(|problem| before.as_ref() != Some(problem)) {
                let _ = self.problems.send(Problem::Warning(problem));
            }
        }
        // A folder that cannot be read may have its files when it returns.
        let is_gone = |path: &Path| {
            let is_readable = |folder: &Path| !self.unreadable.contains_key(folder);
            !found.contains_key(path) && path.parent().is_none_or(is_readable)
        };
        self.files.retain(|path, _| !is_gone(path));
        if let Some(torrents) = self.torrents.upgrade() {
            let mut torrents = lock(&torrents);
            torrents.inward().watched.retain(|path, _| !is_gone(path));
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        for (path, (number, stamp)) in found {
            self.look_at(path, number, stamp, now);
        }
    }

    fn look_at(&mut self, path: PathBuf, folder: usize, stamp: Stamp, now: Instant) {
        let seen = self.files.get(&path).filter(|seen| seen.stamp == stamp);
        let Some(Seen { since, is_done, .. }) = seen else {
            let seen = Seen {
                stamp,
                since: now,
                is_done: false,
            };
            self.files.insert(path, seen);
            return;
        };
        if *is_done {
            return;
        }
        if self.added_files == AddedFiles::Kept {
            self.give(&path, stamp);
            return;
        }
        let is_old = now.duration_since(*since) >= PATIENCE;
        let category = self.folders[folder].category.clone();
        let added = self.add(&path, category);
        if fs::metadata(&path).is_ok_and(|metadata| self::stamp(&metadata) != stamp) {
            // Another file has this name now. The next reading finds it.
            return;
        }
        let ended = match added {
            Ok(()) if self.added_files == AddedFiles::Removed => fs::remove_file(&path),
            Ok(()) => rename(&path, ADDED),
            Err(Failure::Invalid(_)) if !is_old => return,
            Err(Failure::Invalid(reason)) => {
                self.report(&path, &reason);
                rename(&path, INVALID)
            }
            Err(Failure::Other(reason)) => {
                // It is tried again, and reported once.
                if is_old {
                    self.report(&path, &reason);
                }
                return;
            }
        };
        if let Err(error) = ended {
            self.report(&path, &error.to_string());
        }
    }

    fn report(&mut self, path: &Path, reason: &str) {
        if let Some(seen) = self.files.get_mut(path) {
            seen.is_done = true;
        }
        let problem = format!("{}: {reason}", path.display());
        let _ = self.problems.send(Problem::Warning(problem));
    }

    /// Adds the torrent of a file that stays, if it is new, or if its torrent has failed and the file has changed since.
    fn give(&mut self, path: &Path, stamp: Stamp) {
        let (Some(torrents), Some(seen)) = (self.torrents.upgrade(), self.files.get_mut(path))
        else {
            return;
        };
        seen.is_done = true;
        let label = path.file_name().unwrap_or_default().to_string_lossy();
        let given = Given {
            position: None,
            label: label.into_owned(),
            source: if has_extension(path, "magnet") {
                match read_magnet(path) {
                    Ok(magnet) => magnet.into(),
                    Err(Failure::Invalid(reason) | Failure::Other(reason)) => {
                        ClientSource::Metainfo(Box::new(|| Err(reason.into())))
                    }
                }
            } else {
                ClientSource::file(path)
            },
            content: None,
            map: None,
        };
        let mut torrents = lock(&torrents);
        let known = torrents.watched.get(path).copied();
        // Another process, from which this one continues, may have added it.
        let is_same = known.is_some_and(|known| known.stamp == stamp);
        let number = match known {
            Some(known) if is_same || !torrents.has_failed(known.number) => Some(known.number),
            _ => torrents.give(given, false),
        };
        if let Some(number) = number {
            let file = WatchedFile { stamp, number };
            torrents.watched.insert(path.to_owned(), file);
        }
    }

    /// Adds the torrent of a file. A torrent that is present counts as added.
    fn add(&self, path: &Path, category: Option<String>) -> Result<(), Failure> {
        let source = if has_extension(path, "magnet") {
            Source::Magnet(Box::new(read_magnet(path)?))
        } else {
            let bytes = read_file(path, self.max_len)?;
            let torrent = Torrent::parse(bytes);
            Source::Torrent(torrent.map_err(|error| Failure::Invalid(error.to_string()))?)
        };
        let new = NewTorrent {
            paused: Some(false),
            set: Patch {
                category: Some(category),
                ..Patch::default()
            },
            ..NewTorrent::default()
        };
        let ended = || Failure::Other("the session has ended".into());
        let torrents = self.torrents.upgrade().ok_or_else(ended)?;
        let added = lock(&torrents).add(source, &new, None);
        added.map_err(|refusal| Failure::Other(refusal.to_string()))?;
        Ok(())
    }
}

/// Returns the link in a .magnet file.
fn read_magnet(path: &Path) -> Result<Magnet, Failure> {
    let bytes = read_file(path, MAX_MAGNET_LEN)?;
    let invalid = |error: &dyn std::fmt::Display| Failure::Invalid(error.to_string());
    let text = str::from_utf8(&bytes).map_err(|error| invalid(&error))?;
    text.trim().parse().map_err(|error| invalid(&error))
}

/// Returns the bytes of a file.
fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| read_limited(file, limit, &mut bytes));
    match read {
        Ok(true) => Ok(bytes),
        Ok(false) => Err(Failure::Invalid(format!("longer than {limit} bytes"))),
        Err(error) => Err(Failure::Other(error.to_string())),
    }
}

/// Returns the files of a folder that may be torrents, with their stamps. Hidden files are those of programs that write.
fn candidates(folder: &Path) -> io::Result<Vec<(PathBuf, Stamp)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        if is_hidden || !(has_extension(&path, "torrent") || has_extension(&path, "magnet")) {
            continue;
        }
        // A file may have vanished. Pipes and devices would block.
        if let Ok(metadata) = fs::metadata(&path)
            && metadata.is_file()
        {
            files.push((path, stamp(&metadata)));
        }
    }
    Ok(files)
}

fn has_extension(path: &Path, expected: &str) -> bool {
    path.extension()
        .is_some_and(|end| end.eq_ignore_ascii_case(expected))
}

fn stamp(metadata: &Metadata) -> Stamp {
    (metadata.len(), metadata.modified().ok())
}

/// Adds a suffix to the name of a file, and a number if another file has this name.
fn rename(path: &Path, suffix: &str) -> io::Result<()> {
    let name = |number: u32| {
        let mut to = path.as_os_str().to_owned();
        to.push(match number {
            0 => format!(".{suffix}"),
            _ => format!(".{suffix}-{number}"),
        });
        PathBuf::from(to)
    };
    rename_to_free(path, (0..=MAX_NAMES).map(name)).map(drop)
}
