//! Torrents that are in memory at the same time. A library can have more than fit.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::vec;

use hashlane_metainfo::Torrent;
use hashlane_verify::Content;

use crate::Env;
use crate::torrent_file::{self, Found};

/// Memory that the torrents of a window may take, in bytes, as estimated by [`weight`]. The program stays below 200 MB then.
const MAX_WEIGHT: u64 = 96 << 20;

/// Estimated bytes of memory for a torrent, beside its .torrent file, its pieces and its files.
const PER_TORRENT: u64 = 4096;

/// Estimated bytes of memory for a file: its paths, its state and its place on the disk.
const PER_FILE: u64 = 512;

/// Estimated bytes of memory for a piece: its state, and its place in the order of reading.
const PER_PIECE: u64 = 48;

/// Torrents that are verified in one run.
#[derive(Default)]
pub(super) struct Window {
    pub(super) items: Vec<Item>,
    /// The contents of the torrents that could be read.
    pub(super) contents: Vec<Content>,
}

/// A torrent as it was given.
pub(super) struct Item {
    pub(super) path: PathBuf,
    /// The position of the content, or the reason why there is none.
    pub(super) content: anyhow::Result<usize>,
}

/// The torrents of a call, window by window.
pub(super) struct Windows {
    torrents: vec::IntoIter<Found>,
    /// A torrent that did not fit into the window before.
    left: Option<(PathBuf, Content)>,
}

impl Windows {
    pub(super) fn new(torrents: Vec<Found>) -> Self {
        Self {
            torrents: torrents.into_iter(),
            left: None,
        }
    }

    /// Opens the next torrents. Returns `None` if no torrents are left.
    pub(super) fn next(
        &mut self,
        env: &mut Env,
        open: impl Fn(&mut Env, &Path) -> anyhow::Result<Content>,
    ) -> Option<Window> {
        let mut window = Window::default();
        let mut total_weight = 0;
        if let Some((path, content)) = self.left.take() {
            total_weight = weight(content.torrent());
            window.add(path, content);
        }
        for found in self.torrents.by_ref() {
            let (path, content) = match found {
                Err((path, error)) => (path, Err(error)),
                Ok(path) if env.cancel.is_cancelled() => {
                    let error = Interrupted::of(&path);
                    (path, Err(error))
                }
                Ok(path) => {
                    let content = open(env, &path);
                    (path, content)
                }
            };
            match content {
                Err(error) => window.items.push(Item {
                    path,
                    content: Err(error),
                }),
                Ok(content) => {
                    total_weight += weight(content.torrent());
                    // One torrent can need more memory than a window may take. It is verified alone.
                    if total_weight > MAX_WEIGHT && !window.contents.is_empty() {
                        self.left = Some((path, content));
                        break;
                    }
                    window.add(path, content);
                }
            }
        }
        (!window.items.is_empty()).then_some(window)
    }

    /// Returns the number of bytes to verify of the torrents that are not in a window yet, about.
    fn bytes_left(&self, env: &mut Env) -> u64 {
        let mut bytes = self
            .left
            .as_ref()
            .map_or(0, |(_, content)| content.torrent().lengths().total_length());
        for path in self.torrents.as_slice().iter().flatten() {
            if env.cancel.is_cancelled() || torrent_file::is_stream(path) {
                continue;
            }
            // Errors are reported when the torrent is verified.
            let torrent = torrent_file::open(env, path);
            bytes += torrent.map_or(0, |torrent| torrent.lengths().total_length());
        }
        bytes
    }
}

impl Window {
    /// Returns the torrents that could be read, with their contents.
    pub(super) fn checked(&self) -> impl Iterator<Item = (&Item, &Content)> {
        let items = self.items.iter();
        items.filter_map(|item| Some((item, &self.contents[*item.content.as_ref().ok()?])))
    }

    fn add(&mut self, path: PathBuf, content: Content) {
        self.items.push(Item {
            path,
            content: Ok(self.contents.len()),
        });
        self.contents.push(content);
    }

    /// Returns the number of bytes to verify, about.
    pub(super) fn total_bytes(&self) -> u64 {
        let torrents = self.contents.iter().map(Content::torrent);
        torrents
            .map(|torrent| torrent.lengths().total_length())
            .sum()
    }
}

/// The error of a torrent that was not checked because of Ctrl-C.
#[derive(Debug)]
pub(super) struct Interrupted {
    path: String,
}

impl Interrupted {
    pub(super) fn of(path: &Path) -> anyhow::Error {
        let path = path.display().to_string();
        anyhow::Error::new(Self { path })
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: not checked: interrupted", self.path)
    }
}

impl std::error::Error for Interrupted {}

/// Estimates the memory for a torrent and its verification, in bytes.
fn weight(torrent: &Torrent) -> u64 {
    let (n_files, n_pieces) = (torrent.files().len(), torrent.lengths().piece_count());
    PER_TORRENT
        + torrent.bytes().len() as u64
        + PER_FILE * n_files as u64
        + PER_PIECE * u64::from(n_pieces)
}

/// The progress over all windows.
#[derive(Default)]
pub(super) struct Total {
    /// Number of bytes to verify of all torrents, about.
    pub(super) bytes: u64,
    /// Number of bytes of the windows before this one.
    pub(super) done_bytes: u64,
    /// Time that the windows took, without reading the torrents.
    pub(super) elapsed: Duration,
    is_known: bool,
}

impl Total {
    /// Adds the next window. If the progress is shown, the torrents after the first window are added with it.
    pub(super) fn add(
        &mut self,
        env: &mut Env,
        window: &Window,
        windows: &Windows,
        is_shown: bool,
    ) {
        if self.is_known {
            return;
        }
        self.bytes += window.total_bytes();
        if is_shown {
            self.bytes += windows.bytes_left(env);
            self.is_known = true;
        }
    }
}
