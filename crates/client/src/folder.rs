//! A watched folder: its .torrent files are added as they appear.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use tracing::warn;

use crate::config::{NewTorrent, ReadMetainfo, Source};
use crate::error::Error;
use crate::inbox::{Inbox, Message};

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

impl WatchedFolder {
    /// Starts to watch a folder.
    pub(crate) fn start(folder: PathBuf, max_len: u64, inbox: Inbox) -> Result<Self, Error> {
        if let Err(error) = fs::read_dir(&folder) {
            return Err(Error::Folder { folder, error });
        }
        let (stop, stopped) = mpsc::channel::<Infallible>();
        let log = tracing::dispatcher::get_default(Clone::clone);
        let watch = move || {
            let mut seen = HashMap::new();
            loop {
                match read(&folder, &mut seen) {
                    Ok(paths) => {
                        for path in paths {
                            inbox.send(Message::Add(new_torrent(path, max_len), None));
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

/// Returns the .torrent files that are new and have not changed since the folder was last read, in the order of their names.
fn read(folder: &Path, seen: &mut HashMap<PathBuf, Seen>) -> io::Result<Vec<PathBuf>> {
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
        if !state.is_added && before == Some(&state) {
            state.is_added = true;
            new.push(path.clone());
        }
        now.insert(path, state);
    }
    *seen = now;
    new.sort();
    Ok(new)
}

fn new_torrent(path: PathBuf, max_len: u64) -> NewTorrent {
    let name = path.file_name().map(OsStr::to_string_lossy);
    let label = name.unwrap_or_default().into_owned();
    let read: ReadMetainfo = Box::new(move || {
        let mut bytes = Vec::new();
        File::open(&path)?
            .take(max_len + 1)
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_len {
            return Err(format!("longer than {max_len} bytes, the limit of .torrent files").into());
        }
        Ok(bytes)
    });
    NewTorrent {
        label,
        source: Source::Metainfo(read),
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
        let mut new = || read(folder.path(), &mut seen).unwrap();
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
    }
}
