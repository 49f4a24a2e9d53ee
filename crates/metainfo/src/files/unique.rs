//! Gives every file of a torrent a unique path.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _, RandomState};

use super::{Entry, Path};
use crate::{Error, PathComponent, TorrentPath, path};

/// Maximum number of taken names that are tried in one torrent. Some creators wrote a path twice;
/// many duplicates are an attempt to waste CPU time. libtorrent 2.1.1 has the same limit: it
/// accepts 33 files with one path, and refuses 34.
const MAX_TRIES: u32 = 500;

/// Gives a new path to each file that has the path of an earlier file or of a folder. All paths are
/// lists, and the list of files starts at byte `list_offset`.
///
/// Padding is ignored: it is not stored, and creators give all padding the same path.
pub(super) fn make_paths_unique(
    entries: &mut [Entry<'_>],
    list_offset: usize,
) -> Result<(), Error> {
    if is_unique(entries) {
        return Ok(());
    }
    // The maximum number of paths, so that the set never grows.
    let paths = || stored(entries).map(|entry| TorrentPath::of_list(encoded(entry)));
    let mut taken = PathSet::with_capacity(paths().map(|path| path.components().count()).sum());
    for path_of_file in paths() {
        let mut path = taken.root();
        for name in path_of_file.components() {
            if path.depth > 0 {
                taken.insert(&path);
            }
            path.push(name.as_bytes());
        }
    }
    let mut n_tries = 0;
    for entry in entries.iter_mut().filter(|entry| !entry.is_padding()) {
        let mut names: Vec<PathComponent<'_>> =
            TorrentPath::of_list(encoded(entry)).components().collect();
        let name = names.pop().expect("a path has a component");
        let mut folder = taken.root();
        for name in &names {
            folder.push(name.as_bytes());
        }
        let free = free_name(
            name.as_bytes(),
            |name| !taken.contains(&folder.joined(name)),
            &mut n_tries,
        );
        let free = free.ok_or(Error::TooManyDuplicatePaths {
            offset: list_offset,
        })?;
        taken.insert(&folder.joined(&free));
        if free != name.as_bytes() {
            let names = names.iter().map(|name| name.as_bytes()).chain([&free[..]]);
            entry.path = Path::List(path::encode(names).into());
            entry.is_renamed = true;
        }
    }
    Ok(())
}

/// A set of paths of files and folders. It stores a keyed hash of each path, so that deep paths
/// need no more memory. A collision would only rename one file, and the random key prevents
/// deliberate collisions.
pub(super) struct PathSet {
    state: RandomState,
    hashes: HashSet<u64>,
}

/// The hash of a path, built name by name.
#[derive(Clone)]
pub(super) struct PathHash {
    hasher: DefaultHasher,
    depth: usize,
}

impl PathSet {
    pub(super) fn with_capacity(n_paths: usize) -> Self {
        Self {
            state: RandomState::new(),
            hashes: HashSet::with_capacity(n_paths),
        }
    }

    pub(super) fn root(&self) -> PathHash {
        PathHash {
            hasher: self.state.build_hasher(),
            depth: 0,
        }
    }

    pub(super) fn insert(&mut self, path: &PathHash) {
        self.hashes.insert(path.hasher.finish());
    }

    pub(super) fn contains(&self, path: &PathHash) -> bool {
        self.hashes.contains(&path.hasher.finish())
    }
}

impl PathHash {
    fn push(&mut self, name: &[u8]) {
        name.hash(&mut self.hasher);
        self.depth += 1;
    }

    pub(super) fn joined(&self, name: &[u8]) -> Self {
        let mut path = self.clone();
        path.push(name);
        path
    }
}

/// Returns the name if it is free, and otherwise the name with the first number that is free.
/// Returns `None` after too many attempts.
pub(super) fn free_name(
    name: &[u8],
    is_free: impl Fn(&[u8]) -> bool,
    n_tries: &mut u32,
) -> Option<Vec<u8>> {
    if is_free(name) {
        return Some(name.to_vec());
    }
    for n in 1.. {
        let numbered = path::numbered(name, n);
        if is_free(&numbered) {
            return Some(numbered);
        }
        *n_tries += 1;
        if *n_tries > MAX_TRIES {
            return None;
        }
    }
    None
}

/// Returns `true` if all paths are already different, as in nearly all torrents.
///
/// The encoding of every path below `a` starts with the encoding of `a`, so it follows `a` in
/// sorted order. Comparing neighbours is therefore enough, and needs one slice for each file.
fn is_unique(entries: &[Entry<'_>]) -> bool {
    let mut paths: Vec<&[u8]> = stored(entries).map(encoded).collect();
    paths.sort_unstable();
    !paths.windows(2).any(|pair| pair[1].starts_with(pair[0]))
}

fn stored<'e, 'a>(entries: &'e [Entry<'a>]) -> impl Iterator<Item = &'e Entry<'a>> {
    entries.iter().filter(|entry| !entry.is_padding())
}

/// Returns the bencoded components. Each starts with its length, so a path equals a folder's path, or lies below it,
/// exactly if the folder's bytes are a prefix of the path's bytes.
fn encoded<'e>(entry: &'e Entry<'_>) -> &'e [u8] {
    match &entry.path {
        Path::List(encoded) => encoded,
        Path::Tree(..) => unreachable!("names of the file tree are unique where they stand"),
    }
}
