//! Duplicates, compared with a naive search.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use hashlane_find::{DuplicateGroup, SameLength};
use hashlane_pipeline::{CancelToken, Options};
use proptest::prelude::*;

/// Lengths around the limits of blocks and pieces.
const LENS: [usize; 11] = [
    0, 1, 65_535, 65_536, 131_071, 131_072, 131_073, 262_144, 262_145, 400_000, 700_000,
];

/// A file to make: its folder, its length, and where a byte differs from those of other files of this length.
#[derive(Clone, Debug)]
struct Made {
    folder: u8,
    len_bytes: usize,
    difference: Option<usize>,
    /// A second name, in another folder.
    linked: bool,
}

fn made() -> impl Strategy<Value = Made> {
    let lens = prop::sample::select(&LENS[..]);
    let places =
        prop::sample::select(&[0, 1, 65_536, 131_072, 150_000, 262_143, 262_144, 500_000][..]);
    let difference = prop::option::weighted(0.4, places);
    (0..3_u8, lens, difference, prop::bool::weighted(0.2)).prop_map(
        |(folder, len_bytes, difference, linked)| Made {
            folder,
            len_bytes,
            difference,
            linked,
        },
    )
}

fn find(folders: &[PathBuf], with_empty: bool) -> Vec<DuplicateGroup> {
    let cancel = CancelToken::default();
    let found = SameLength::collect(folders, with_empty, &cancel, |_| ());
    assert!(found.errors().is_empty());
    let found = found
        .find(&Options::default(), &cancel, &mut |_| ())
        .unwrap();
    assert!(found.unreadable.is_empty(), "{:?}", found.unreadable);
    found.groups
}

/// Returns the groups as sets of sets of names.
fn sets(groups: &[DuplicateGroup]) -> BTreeSet<BTreeSet<BTreeSet<PathBuf>>> {
    let files = |group: &DuplicateGroup| {
        let files = group.files.iter();
        files
            .map(|file| file.names.iter().cloned().collect())
            .collect()
    };
    groups.iter().map(files).collect()
}

/// Reads all files, and groups those with equal bytes.
fn naive(root: &Path, with_empty: bool) -> BTreeSet<BTreeSet<BTreeSet<PathBuf>>> {
    let mut by_bytes: BTreeMap<Vec<u8>, BTreeMap<u64, BTreeSet<PathBuf>>> = BTreeMap::new();
    for folder in fs::read_dir(root).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let files = by_bytes.entry(fs::read(&path).unwrap()).or_default();
            files.entry(inode(&path)).or_default().insert(path);
        }
    }
    let groups = by_bytes
        .into_iter()
        .filter(|(bytes, files)| files.len() > 1 && (with_empty || !bytes.is_empty()));
    groups
        .map(|(_, files)| files.into_values().collect())
        .collect()
}

#[cfg(unix)]
fn inode(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    path.metadata().unwrap().ino()
}

/// Counts each name as a file of its own, as the search does without inodes.
#[cfg(not(unix))]
fn inode(path: &Path) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn groups_are_those_of_a_naive_search(
        files in prop::collection::vec(made(), 0..24),
        with_empty in any::<bool>(),
    ) {
        let root = tempfile::tempdir().unwrap();
        for folder in 0..4 {
            fs::create_dir(root.path().join(folder.to_string())).unwrap();
        }
        for (number, file) in files.iter().enumerate() {
            let mut bytes = vec![b'a'; file.len_bytes];
            if let Some(byte) = file.difference.and_then(|place| bytes.get_mut(place)) {
                *byte = b'b';
            }
            let path = root.path().join(file.folder.to_string()).join(number.to_string());
            fs::write(&path, bytes).unwrap();
            if file.linked {
                fs::hard_link(&path, root.path().join("3").join(number.to_string())).unwrap();
            }
        }
        let folders = [root.path().to_owned()];
        prop_assert_eq!(sets(&find(&folders, with_empty)), naive(root.path(), with_empty));
        // A folder that is named twice, or lies in another one, is searched once.
        let nested = [root.path().join("1"), root.path().to_owned(), root.path().join("1/../1")];
        prop_assert_eq!(sets(&find(&nested, with_empty)), naive(root.path(), with_empty));
    }
}

#[test]
fn groups_with_more_bytes_come_first() {
    let root = tempfile::tempdir().unwrap();
    let write =
        |name: &str, len_bytes| fs::write(root.path().join(name), vec![1; len_bytes]).unwrap();
    for name in ["c", "a", "b"] {
        write(name, 10);
    }
    for name in ["z", "y"] {
        write(name, 25);
    }
    let groups = find(&[root.path().to_owned()], false);
    let lens: Vec<_> = groups
        .iter()
        .map(|group| (group.len_bytes, group.excess_bytes()))
        .collect();
    assert_eq!(lens, [(25, 25), (10, 20)]);
    let names: Vec<_> = groups[1]
        .files
        .iter()
        .map(|file| file.names[0].file_name().unwrap())
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn a_cancelled_search_has_no_groups() {
    let root = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        fs::write(root.path().join(name), "equal").unwrap();
    }
    let cancel = CancelToken::default();
    let found = SameLength::collect(&[root.path().to_owned()], false, &cancel, |_| ());
    assert_eq!(found.len(), 2);
    cancel.cancel();
    let found = found
        .find(&Options::default(), &cancel, &mut |_| ())
        .unwrap();
    assert!(found.groups.is_empty());
}

#[test]
fn a_file_that_changes_during_the_search_is_left_out() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    for name in ["a", "b", "c"] {
        fs::write(path(name), vec![0; 200_000]).unwrap();
    }
    let cancel = CancelToken::default();
    let found = SameLength::collect(&[root.path().to_owned()], false, &cancel, |_| ());
    let mut is_written = false;
    let mut write = |_| {
        if !std::mem::replace(&mut is_written, true) {
            fs::remove_file(path("b")).unwrap();
            fs::write(path("b"), vec![0; 200_000]).unwrap();
        }
    };
    let found = found
        .find(&Options::default(), &cancel, &mut write)
        .unwrap();
    let names: Vec<_> = found.groups[0]
        .files
        .iter()
        .map(|file| file.names[0].clone())
        .collect();
    assert_eq!(names, [path("a"), path("c")]);
    assert_eq!(found.unreadable.len(), 1);
    assert_eq!(found.unreadable[0].0, path("b"));
}

/// The threads of the search end, and the panic reaches the caller.
#[test]
fn a_panic_of_the_progress_ends_the_search() {
    let root = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        fs::write(root.path().join(name), vec![0; 1 << 20]).unwrap();
    }
    let folders = [root.path().to_owned()];
    let cancel = CancelToken::default();
    let found = SameLength::collect(&folders, false, &cancel, |_| ());
    let run = || found.find(&Options::default(), &cancel, &mut |_| panic!("as a test"));
    let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"as a test"));
    let run = || SameLength::collect(&folders, false, &cancel, |_| panic!("as a test"));
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    assert!(!cancel.is_cancelled(), "the caller's token is unchanged");
}
