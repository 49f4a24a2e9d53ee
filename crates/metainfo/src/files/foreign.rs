//! The paths under which other programs write the files of a torrent.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use super::unique::{PathSet, free_name};
use super::{FileKind, Files};
use crate::path::{self, component};
use crate::{Naming, PathComponent, TorrentPath};

/// The paths under which another program writes the files of a torrent, if these differ from the
/// paths in the torrent.
///
/// Every path has been checked: no path leaves the content folder. No path is the path of another
/// file of the torrent. If a program writes two files to one path, neither file has an entry.
#[derive(Clone, Debug)]
pub struct ForeignPaths {
    naming: Naming,
    name: Option<Vec<u8>>,
    /// Bencoded components by the index of the file.
    paths: BTreeMap<usize, Vec<u8>>,
}

impl ForeignPaths {
    pub(crate) fn new(
        naming: Naming,
        name: &[u8],
        unusable_name: impl FnOnce() -> Vec<u8>,
        is_single_file: bool,
        files: &Files<'_>,
    ) -> Self {
        let foreign_name = match naming.of(name) {
            Cow::Borrowed(_) => None,
            // libtorrent names a folder by the info-hash if no character of its name is usable.
            Cow::Owned(written)
                if naming == Naming::Libtorrent && written == b"_" && has_no_character(name) =>
            {
                (!is_single_file).then(unusable_name)
            }
            Cow::Owned(written) => Some(written),
        };
        let mut paths = BTreeMap::new();
        if !is_single_file {
            if changes_nothing(naming, files) {
                debug_assert!(changed_paths(naming, files).is_empty(), "both agree");
            } else {
                paths = changed_paths(naming, files);
                drop_collisions(&mut paths, files);
            }
        }
        Self {
            naming,
            name: foreign_name.filter(|name| component::is_safe(name)),
            paths,
        }
    }

    /// Returns the program that writes these paths.
    pub fn naming(&self) -> Naming {
        self.naming
    }

    /// Returns the name of the content folder or single file, if it differs from the torrent's.
    pub fn name(&self) -> Option<PathComponent<'_>> {
        self.name.as_deref().map(PathComponent::from_checked)
    }

    /// Returns the path of a file, if it differs from the torrent's.
    pub fn path(&self, index: usize) -> Option<TorrentPath<'_>> {
        self.paths
            .get(&index)
            .map(|path| TorrentPath::of_list(path))
    }

    /// Returns the indexes of the files whose paths differ from the torrent's, in order.
    pub fn indexes(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.paths.keys().copied()
    }
}

/// Returns `true` if libtorrent removes every character of a name, or leaves only one or two dots.
fn has_no_character(name: &[u8]) -> bool {
    let text = std::str::from_utf8(name).ok();
    text.is_some_and(|text| !text.contains('_') && !text.contains(char::is_control))
}

/// Returns `true` if the program changes no path. This holds for nearly all torrents, so only hashes of paths are
/// compared, without allocating the paths. If hashes of different paths are equal, the paths themselves are compared
/// later.
fn changes_nothing(naming: Naming, files: &Files<'_>) -> bool {
    let numbers = naming == Naming::Libtorrent;
    let hashes = RandomState::new();
    let (mut paths, mut folders) = (HashSet::new(), HashSet::new());
    let mut path = Vec::new();
    for file in files.iter().filter(|file| file.kind() != FileKind::Padding) {
        path.clear();
        let mut names = file.path().components().peekable();
        while let Some(name) = names.next() {
            if matches!(naming.of(name.as_bytes()), Cow::Owned(_)) {
                return false;
            }
            if !numbers {
                continue;
            }
            path.push(b'/');
            path.extend(name.as_bytes().iter().map(u8::to_ascii_lowercase));
            let hash = hashes.hash_one(&path);
            if names.peek().is_some() {
                folders.insert(hash);
            } else if !paths.insert(hash) {
                return false;
            }
        }
    }
    paths.is_disjoint(&folders)
}

/// Returns all paths that the program changes.
fn changed_paths(naming: Naming, files: &Files<'_>) -> BTreeMap<usize, Vec<u8>> {
    let stored = || {
        let files = files.iter().enumerate();
        files.filter(|(_, file)| file.kind() != FileKind::Padding)
    };
    let written = |path: TorrentPath<'_>| -> Vec<Vec<u8>> {
        let names = path.components();
        names
            .map(|name| naming.of(name.as_bytes()).into_owned())
            .collect()
    };
    // libtorrent compares paths without regard to the case of ASCII letters.
    let mut taken = PathSet::with_capacity(0);
    let numbers = naming == Naming::Libtorrent;
    if numbers {
        for (_, file) in stored() {
            let mut folder = taken.root();
            let names = written(file.path());
            for name in &names[..names.len() - 1] {
                folder = folder.joined(&name.to_ascii_lowercase());
                taken.insert(&folder);
            }
        }
    }
    let mut changed = BTreeMap::new();
    let mut n_tries = 0;
    for (index, file) in stored() {
        let mut names = written(file.path());
        if numbers && let Some(name) = names.pop() {
            let folder = names.iter().fold(taken.root(), |folder, name| {
                folder.joined(&name.to_ascii_lowercase())
            });
            let is_free = |name: &[u8]| !taken.contains(&folder.joined(&name.to_ascii_lowercase()));
            let Some(free) = free_name(&name, is_free, &mut n_tries) else {
                // libtorrent refuses such a torrent.
                return BTreeMap::new();
            };
            taken.insert(&folder.joined(&free.to_ascii_lowercase()));
            names.push(free);
        }
        let is_same = file
            .path()
            .components()
            .map(PathComponent::as_bytes)
            .eq(&names);
        if !is_same && names.iter().all(|name| component::is_safe(name)) {
            changed.insert(index, path::encode(&names));
        }
    }
    changed
}

/// Removes paths that two files have: content found there could belong to either file.
fn drop_collisions(changed: &mut BTreeMap<usize, Vec<u8>>, files: &Files<'_>) {
    if changed.is_empty() {
        return;
    }
    let mut users: HashMap<Vec<u8>, u32> = HashMap::with_capacity(changed.len());
    for path in changed.values() {
        *users.entry(path.clone()).or_default() += 1;
    }
    for file in files.iter().filter(|file| file.kind() != FileKind::Padding) {
        let own = path::encode(file.path().components().map(PathComponent::as_bytes));
        if let Some(users) = users.get_mut(&own) {
            *users += 1;
        }
    }
    changed.retain(|_, path| users.get(path) == Some(&1));
}
