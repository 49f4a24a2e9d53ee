//! The files that torrents have on the disk. Complete torrents share files. A download never writes to a file that another torrent
//! has, whatever the path by which each leads to it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use hashlane_files::FileId;

use crate::error::TorrentError;

/// The files of all torrents.
///
/// A key of a file is a folder that exists, on the way to the file, and the rest of the path. A claim is known by one key of each
/// file, with the deepest folder. A later claim is compared by all keys, because other folders may exist then.
#[derive(Default)]
pub(crate) struct Places {
    claims: HashMap<u64, Vec<Weak<Claim>>>,
    hasher: RandomState,
    /// Number of keys after the last removal of claims that ended.
    n_kept: usize,
}

/// The files of one torrent, until the value is dropped.
pub(crate) struct Claim {
    /// The torrent, as the user named it.
    label: String,
    /// Whether all its content is right, so that it is only read.
    is_complete: AtomicBool,
}

/// A file that another torrent has.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) path: PathBuf,
    /// The torrent, as the user named it.
    pub(crate) other: String,
}

impl From<Taken> for TorrentError {
    fn from(Taken { path, other }: Taken) -> Self {
        Self::SameFile { path, other }
    }
}

/// The folders that exist on the way to the files of a folder, from the deepest one, each with the rest of the way.
type Ways = Vec<(Option<FileId>, PathBuf)>;

/// Number of keys that may belong to claims that ended.
const MAX_ENDED: usize = 1000;

impl Places {
    /// Claims the files at these paths. Those of a torrent that is complete are shared with others that are.
    pub(crate) fn claim(
        &mut self,
        label: &str,
        paths: impl IntoIterator<Item = PathBuf>,
        is_complete: bool,
    ) -> Result<Arc<Claim>, Taken> {
        let claim = Claim::new(label, is_complete);
        let keys = self.keys(paths, |claims| {
            let mut others = claims.iter().filter_map(Weak::upgrade);
            others.find(|other| !(is_complete && other.is_complete.load(Ordering::Relaxed)))
        })?;
        self.insert(keys, &claim);
        Ok(claim)
    }

    /// Claims the files of a torrent that only serves them, also if others have them.
    pub(crate) fn claim_served(
        &mut self,
        label: &str,
        paths: impl IntoIterator<Item = PathBuf>,
    ) -> Arc<Claim> {
        let claim = Claim::new(label, true);
        if let Ok(keys) = self.keys(paths, |_| None) {
            self.insert(keys, &claim);
        }
        claim
    }

    /// Returns a file that another claim than `own` has too.
    pub(crate) fn shared(
        &self,
        own: &Arc<Claim>,
        paths: impl IntoIterator<Item = PathBuf>,
    ) -> Option<Taken> {
        let other = |claims: &[Weak<Claim>]| {
            let mut others = claims.iter().filter_map(Weak::upgrade);
            others.find(|other| !Arc::ptr_eq(own, other))
        };
        self.keys(paths, other).err()
    }

    /// Returns a key of each file, or the first file for which `taken` returns another claim.
    fn keys(
        &self,
        paths: impl IntoIterator<Item = PathBuf>,
        taken: impl Fn(&[Weak<Claim>]) -> Option<Arc<Claim>>,
    ) -> Result<Vec<u64>, Taken> {
        let mut ways: HashMap<PathBuf, Ways> = HashMap::new();
        let mut keys = Vec::new();
        for path in paths {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
                continue;
            };
            if !ways.contains_key(folder) {
                ways.insert(folder.to_owned(), ways_to(folder));
            }
            let ways = ways[folder].iter();
            let mut all = ways.map(|(id, rest)| self.key(*id, rest, name)).peekable();
            keys.extend(all.peek());
            let mut found = all.filter_map(|key| taken(self.claims.get(&key)?));
            if let Some(other) = found.next() {
                let other = other.label.clone();
                return Err(Taken { path, other });
            }
        }
        Ok(keys)
    }

    fn key(&self, folder: Option<FileId>, rest: &Path, name: &OsStr) -> u64 {
        self.hasher.hash_one((folder, rest, name))
    }

    fn insert(&mut self, keys: Vec<u64>, claim: &Arc<Claim>) {
        for key in keys {
            let claims = self.claims.entry(key).or_default();
            // A torrent that is started again and again claims the same files.
            claims.retain(|claim| claim.strong_count() > 0);
            claims.push(Arc::downgrade(claim));
        }
        if self.claims.len() > 2 * self.n_kept + MAX_ENDED {
            self.claims.retain(|_, claims| {
                claims.retain(|claim| claim.strong_count() > 0);
                !claims.is_empty()
            });
            self.n_kept = self.claims.len();
        }
    }
}

impl Claim {
    fn new(label: &str, is_complete: bool) -> Arc<Self> {
        Arc::new(Self {
            label: label.to_owned(),
            is_complete: AtomicBool::new(is_complete),
        })
    }

    /// Lets other complete torrents share the files.
    pub(crate) fn complete(&self) {
        self.is_complete.store(true, Ordering::Relaxed);
    }
}

fn ways_to(folder: &Path) -> Ways {
    let ways = folder.ancestors().filter_map(|existing| {
        let id = FileId::of_path(existing).ok()?;
        Some((id?, folder.strip_prefix(existing).ok()?.to_owned()))
    });
    let ways = ways.map(|(id, rest)| (Some(id), rest));
    // Without identities of folders, paths have to do.
    let path = cfg!(not(unix)).then(|| (None, folder.to_owned()));
    ways.chain(path).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn claim(places: &mut Places, path: &Path, is_complete: bool) -> Result<Arc<Claim>, Taken> {
        let label = if is_complete { "complete" } else { "download" };
        places.claim(label, [path.to_owned()], is_complete)
    }

    #[test]
    fn complete_torrents_share_files_and_downloads_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut places = Places::default();
        let downloading = claim(&mut places, &path("show/a"), false).unwrap();
        let _disjoint = claim(&mut places, &path("show/b"), false).unwrap();
        for is_complete in [false, true] {
            let taken = claim(&mut places, &path("show/a"), is_complete)
                .err()
                .unwrap();
            assert_eq!((taken.path, &*taken.other), (path("show/a"), "download"));
        }
        downloading.complete();
        let shared = claim(&mut places, &path("show/a"), true).unwrap();
        assert!(claim(&mut places, &path("show/a"), false).is_err());
        let taken = places.shared(&shared, [path("show/b"), path("show/a")]);
        assert_eq!(taken.unwrap().path, path("show/b"));
        drop((downloading, shared));
        claim(&mut places, &path("show/a"), false).unwrap();
    }

    /// A folder that is made between two claims, and a link to a folder, do not hide a file.
    #[test]
    #[cfg(unix)]
    fn other_paths_lead_to_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("real")).unwrap();
        std::os::unix::fs::symlink(path("real"), path("link")).unwrap();
        let mut places = Places::default();
        let _before = claim(&mut places, &path("real/show/a"), false).unwrap();
        assert!(claim(&mut places, &path("link/show/a"), false).is_err());
        fs::create_dir(path("real/show")).unwrap();
        std::os::unix::fs::symlink(path("real/show"), path("other")).unwrap();
        for name in ["link/show/a", "real/show/a"] {
            assert!(claim(&mut places, &path(name), false).is_err(), "{name}");
        }
        let _after = claim(&mut places, &path("other/b"), false).unwrap();
        assert!(claim(&mut places, &path("link/show/b"), false).is_err());
        assert!(claim(&mut places, &path("other/c"), false).is_ok());
    }

    #[test]
    fn claims_that_ended_take_no_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut places = Places::default();
        for n in 0..5 * MAX_ENDED {
            let path = folder.path().join(n.to_string());
            drop(claim(&mut places, &path, false).unwrap());
        }
        assert!(
            places.claims.len() <= MAX_ENDED + 1,
            "{}",
            places.claims.len()
        );
        let path = folder.path().join("again");
        for _ in 0..10 {
            drop(claim(&mut places, &path, false).unwrap());
        }
        assert!(places.claims.values().all(|claims| claims.len() == 1));
    }
}
