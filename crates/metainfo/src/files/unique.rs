//! No two files of a torrent may have the same path.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _, RandomState};

use super::{Entry, Path};
use crate::{Error, PathComponent, TorrentPath, path};

/// How many names may be tried in vain, in one torrent. Some creators did write a path twice;
/// whoever does it more often wants to keep us busy. libtorrent's limit is the same (2.1.1): 33 files
/// of one path are taken, and not 34.
const MAX_TRIES: u32 = 500;

/// Gives another path to each file that has the path of one before, or of a folder. All paths are
/// lists, and the list of files starts at `list_offset`.
///
/// Padding is left out: it is not stored, and creators give all of it the same path.
pub(super) fn make_paths_unique(
    entries: &mut [Entry<'_>],
    list_offset: usize,
) -> Result<(), Error> {
    if is_unique(entries) {
        return Ok(());
    }
    // As many as there can be at most, so that the set never grows.
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

/// Paths of files and folders: the keyed hash of each, so that a set of them is small however deep
/// they are. Two paths of one hash, which nobody can bring about, would cost one of them its name.
pub(super) struct PathSet {
    state: RandomState,
    hashes: HashSet<u64>,
}

/// A path that grows.
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

/// The name itself if it is free, and otherwise with the first number that makes it so; `None` if
/// too many were tried that were not free.
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

/// Whether all is well already, as nearly always.
///
/// Sorted by their encoding, whatever is inside of `a` comes right behind `a`, because it is what
/// starts with the encoding of `a`. So it is enough to compare neighbours, at the price of one
/// slice for each file.
fn is_unique(entries: &[Entry<'_>]) -> bool {
    let mut paths: Vec<&[u8]> = stored(entries).map(encoded).collect();
    paths.sort_unstable();
    !paths.windows(2).any(|pair| pair[1].starts_with(pair[0]))
}

fn stored<'e, 'a>(entries: &'e [Entry<'a>]) -> impl Iterator<Item = &'e Entry<'a>> {
    entries.iter().filter(|entry| !entry.is_padding())
}

/// The bencoded components. Each says its length first, so a path is inside of a folder or the same
/// exactly if its bytes start with those of the folder.
fn encoded<'e>(entry: &'e Entry<'_>) -> &'e [u8] {
    match &entry.path {
        Path::List(encoded) => encoded,
        Path::Tree(..) => unreachable!("names of the file tree are unique where they stand"),
    }
}
