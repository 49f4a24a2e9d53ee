//! A watched folder: its .torrent files are added as they appear.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use tracing::warn;

use crate::config::{NewTorrent, Source, reader};
use crate::error::Error;
use crate::handover::Ledger;
use crate::inbox::Inbox;
use crate::origin::WatchedFile;
use hashlane_api::RatesPatch;

/// Interval at which the folder is read. A file is added when it has not changed for this time.
const INTERVAL: Duration = Duration::from_secs(1);

/// The watched folder. A separate thread reads it until the value is dropped.
pub(crate) struct WatchedFolder {
    stop: Option<mpsc::Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

/// Length and time of a file when the folder was last read.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    len: u64,
    modified: Option<SystemTime>,
    is_added: bool,
}

impl From<&WatchedFile> for Seen {
    fn from(file: &WatchedFile) -> Self {
        Self {
            len: file.len,
            modified: file.modified,
            is_added: true,
        }
    }
}

impl WatchedFolder {
    /// Starts to watch a folder. `added` files are known, and are added again only if their torrents fail and they change.
    pub(crate) fn start<'a>(
        folder: PathBuf,
        max_len: u64,
        inbox: Inbox,
        ledger: Arc<Ledger>,
        added: impl Iterator<Item = &'a WatchedFile>,
    ) -> Result<Self, Error> {
        if let Err(error) = fs::read_dir(&folder) {
            return Err(Error::Folder { folder, error });
        }
        let (stop, stopped) = mpsc::channel::<Infallible>();
        let log = tracing::dispatcher::get_default(Clone::clone);
        let added = added.map(|file| (file.path().to_owned(), Seen::from(file)));
        let mut seen: HashMap<PathBuf, Seen> = added.collect();
        let watch = move || {
            loop {
                match read(&folder, &mut seen, |path| ledger.take_failed(path)) {
                    Ok(files) => {
                        for file in files {
                            // The inbox reports the reason of a refusal.
                            let _ = inbox.add(new_torrent(file, max_len));
                        }
                    }
                    Err(error) => warn!(folder = %folder.display(), %error, "cannot be read"),
                }
                if stopped.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        let thread = thread::Builder::new()
            .name("folder".into())
            .spawn(move || tracing::dispatcher::with_default(&log, watch))
            .map_err(Error::Thread)?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for WatchedFolder {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Returns the .torrent files that are new and have not changed since the folder was last read, in the order of their
/// names. A file that changes is new if its torrent `has_failed`.
fn read(
    folder: &Path,
    seen: &mut HashMap<PathBuf, Seen>,
    has_failed: impl Fn(&Path) -> bool,
) -> io::Result<Vec<WatchedFile>> {
    let mut now = HashMap::new();
    let mut new = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_torrent = path
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("torrent"));
        // Opening a pipe could block, and a file can be removed at any time.
        let Ok(metadata) = fs::metadata(&path) else {
            continue;
        };
        if !is_torrent || !metadata.is_file() {
            continue;
        }
        let before = seen.get(&path);
        let mut state = Seen {
            len: metadata.len(),
            modified: metadata.modified().ok(),
            is_added: before.is_some_and(|before| before.is_added),
        };
        if state.is_added && before != Some(&state) && has_failed(&path) {
            state.is_added = false;
        }
        if !state.is_added && before == Some(&state) {
            state.is_added = true;
            new.push(WatchedFile::new(&path, state.len, state.modified));
        }
        now.insert(path, state);
    }
    *seen = now;
    new.sort_by(|a, b| a.path().cmp(b.path()));
    Ok(new)
}

fn new_torrent(file: WatchedFile, max_len: u64) -> NewTorrent {
    let name = file.path().file_name().map(OsStr::to_string_lossy);
    let label = name.unwrap_or_default().into_owned();
    NewTorrent {
        label,
        source: Source::Metainfo(reader(file.path().to_owned(), max_len)),
        mode: None,
        is_paused: false,
        labels: Vec::new(),
        limits: RatesPatch::default(),
        is_known: false,
        origin: None,
        file: Some(file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_no_longer_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut seen = HashMap::new();
        let failed = std::cell::Cell::new(false);
        let mut new = || -> Vec<PathBuf> {
            let files = read(folder.path(), &mut seen, |_| failed.take()).unwrap();
            files.iter().map(|file| file.path().to_owned()).collect()
        };
        fs::write(path("b.TORRENT"), "1").unwrap();
        fs::write(path("a.torrent"), "1").unwrap();
        fs::write(path("c.txt"), "1").unwrap();
        fs::create_dir(path("d.torrent")).unwrap();
        assert!(new().is_empty());
        fs::write(path("b.TORRENT"), "12").unwrap();
        assert_eq!(new(), [path("a.torrent")]);
        assert_eq!(new(), [path("b.TORRENT")]);
        assert!(new().is_empty());
        // A file that is removed and returns is added again.
        fs::remove_file(path("a.torrent")).unwrap();
        assert!(new().is_empty());
        fs::write(path("a.torrent"), "1").unwrap();
        assert!(new().is_empty());
        assert_eq!(new(), [path("a.torrent")]);
        // A file that changes is added again only if its torrent failed.
        fs::write(path("a.torrent"), "12").unwrap();
        assert!(new().is_empty() && new().is_empty());
        fs::write(path("a.torrent"), "123").unwrap();
        failed.set(true);
        assert!(new().is_empty());
        assert_eq!(new(), [path("a.torrent")]);
    }
}
