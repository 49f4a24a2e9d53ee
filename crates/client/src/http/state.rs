//! State shared by all requests.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::control::Control;
use crate::handle::TorrentHandle;
use crate::identity::TorrentKey;
use crate::snapshot::Snapshot;

/// Maximum number of event streams.
const MAX_STREAMS: usize = 32;

/// State shared by all requests.
#[derive(Clone)]
pub(super) struct State {
    pub(super) control: Control,
    /// Folders that requests may move content to.
    folders: Arc<[PathBuf]>,
    streams: Arc<Semaphore>,
    /// Changes when the client ends.
    ended: watch::Receiver<()>,
}

impl State {
    pub(super) fn new(control: Control, folders: &[PathBuf], ended: watch::Receiver<()>) -> Self {
        Self {
            control,
            folders: folders.into(),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            ended,
        }
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.control.snapshot()
    }

    /// Returns the torrent of a key.
    pub(super) fn get(&self, key: TorrentKey) -> Option<TorrentHandle> {
        self.control.get(key)
    }

    /// Returns `true` if requests may move content to a folder.
    pub(super) fn permits(&self, folder: &Path) -> bool {
        self.folders.iter().any(|root| is_below(folder, root))
    }

    /// Returns a place among the event streams, unless all are taken.
    pub(super) fn stream_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().ok()
    }

    /// Returns a receiver that changes when the client ends.
    pub(super) fn ended(&self) -> watch::Receiver<()> {
        self.ended.clone()
    }

    /// Waits until all event streams have ended.
    pub(super) async fn streams_end(&self) {
        // The semaphore is never closed.
        let _ = self.streams.acquire_many(MAX_STREAMS as u32).await;
    }
}

/// Returns `true` if a folder is `root` or below it, with symbolic links followed as far as the folder exists.
fn is_below(folder: &Path, root: &Path) -> bool {
    let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    if !folder.is_absolute() || !folder.components().all(is_plain) {
        return false;
    }
    // A link that leads nowhere exists, and has no place.
    let mut existing = folder.ancestors();
    let existing = existing.find(|it| it.symlink_metadata().is_ok());
    let existing = existing.and_then(|it| it.canonicalize().ok());
    let root = root.canonicalize();
    root.is_ok_and(|root| existing.is_some_and(|existing| existing.starts_with(root)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_folders_below_a_root_are_permitted() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("root/a")).unwrap();
        fs::create_dir(path("rootless")).unwrap();
        symlink(path("rootless"), path("root/out")).unwrap();
        symlink(path("absent"), path("root/dangling")).unwrap();
        symlink(path("root/a"), path("in")).unwrap();
        let root = path("root");
        for inside in ["root", "root/a", "root/new/folder", "in", "in/new"] {
            assert!(is_below(&path(inside), &root), "{inside}");
        }
        for outside in [
            "",
            "rootless",
            "root/../rootless",
            "root/new/../..",
            "root/out",
            "root/out/new",
        ] {
            assert!(!is_below(&path(outside), &root), "{outside}");
        }
        assert!(!is_below(Path::new("root"), &root));
        assert!(!is_below(&root, &path("absent")));
        assert!(!is_below(&path("root/dangling/new"), &root));
    }
}
