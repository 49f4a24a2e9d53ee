//! Verification changes nothing on disk.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hashlane_metainfo::Version;

use crate::fixture::{Fixture, every_way, noise};
use crate::plan::{Entry, LEAF, PlannedTorrent};

/// Properties of a file or folder that are visible without opening it.
#[derive(Debug, PartialEq)]
struct Seen {
    len_bytes: u64,
    modified: SystemTime,
    /// The access time of a file. Folders have none here, because the test itself lists them.
    accessed: Option<SystemTime>,
    #[cfg(unix)]
    inode: (u64, u32, u64, i64, i64),
}

fn tree(folder: &Path) -> BTreeMap<PathBuf, Seen> {
    let mut entries = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let metadata = fs::metadata(&folder).expect("the folder is there");
        for entry in fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let metadata = fs::metadata(&path).expect("the file is there");
                // Only Linux can leave the access time unchanged.
                let is_kept = cfg!(all(target_os = "linux", not(hashlane_portable)));
                let accessed = metadata.accessed().ok().filter(|_| is_kept);
                entries.insert(path, seen(&metadata, accessed));
            }
        }
        entries.insert(folder, seen(&metadata, None));
    }
    entries
}

fn seen(metadata: &fs::Metadata, accessed: Option<SystemTime>) -> Seen {
    #[cfg(unix)]
    use std::os::unix::fs::MetadataExt as _;
    Seen {
        len_bytes: metadata.len(),
        modified: metadata.modified().expect("the system keeps times"),
        accessed,
        #[cfg(unix)]
        inode: (
            metadata.ino(),
            metadata.mode(),
            metadata.blocks(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        ),
    }
}

/// Sets an access time so old that a file system with `relatime`, the usual default, would update
/// it on the next access.
fn forget_access(path: &Path) {
    let long_ago = SystemTime::now() - Duration::from_secs(100 * 24 * 3600);
    let times = FileTimes::new()
        .set_accessed(long_ago)
        .set_modified(long_ago);
    let file = File::options().write(true).open(path).expect("it is ours");
    file.set_times(times).expect("it is ours");
}

#[test]
fn nothing_is_created_changed_or_touched() {
    let fixture = Fixture::folder(
        &[
            Entry::file("whole", 200_000),
            Entry::padding(62_144),
            Entry::file("folder/bad", 100_000),
            Entry::file("folder/missing", 100_000),
            Entry::file("missing folder/file", 10),
            Entry::file("short", 100_000),
            Entry::file("long", 100_000),
            Entry::file("empty", 0),
            Entry::file("no empty", 0),
            Entry::file("sparse", 1_000_000),
        ],
        16 << 10,
    );
    fixture.write("folder/bad", &noise(77, 100_000));
    fs::remove_file(fixture.path("folder/missing")).unwrap();
    fs::remove_dir_all(fixture.path("missing folder")).unwrap();
    fs::remove_file(fixture.path("no empty")).unwrap();
    fixture.write("short", &noise(5, 50_000));
    fixture.write("long", &noise(6, 150_000));
    let sparse = File::create(fixture.path("sparse")).unwrap();
    sparse.set_len(1_000_000).unwrap();
    for path in tree(fixture.parent())
        .into_keys()
        .filter(|path| path.is_file())
    {
        forget_access(&path);
    }

    let before = tree(fixture.parent());
    assert_eq!(before.len(), 9, "six files and three folders");
    for (backend, options) in every_way() {
        let report = fixture.verify_with(&options);
        let counts = report.counts();
        assert!(counts.have > 0 && counts.bad > 0 && counts.missing > 0);
        assert_eq!(tree(fixture.parent()), before, "{backend} {options:?}");
    }
}

/// A hybrid with a damaged file, a file without a piece layer and, on systems with links, a link.
#[test]
fn nothing_is_touched_where_there_are_merkle_trees_and_links() {
    let plan = PlannedTorrent::folder(Version::Hybrid, LEAF)
        .file("whole", noise(1, 100_000))
        .file("folder/bad", noise(2, 100_000))
        .file("missing", noise(3, 100_000))
        .file("unproven", noise(4, 100_000))
        .file("empty", Vec::new())
        .file("target", noise(5, 10));
    #[cfg(unix)]
    let plan = plan.link("folder/link", "target");
    let mut plan = plan.without_layer_of("unproven");
    let fixture = Fixture::of(&plan);
    plan.at("folder/bad").bytes[50_000] ^= 1;
    plan.at("unproven").bytes[50_000] ^= 1;
    fixture.restore(&plan);
    fs::remove_file(fixture.path("missing")).unwrap();
    let paths = tree(fixture.parent()).into_keys();
    let files = paths.filter(|path| path.is_file() && !path.is_symlink());
    files.for_each(|path| forget_access(&path));

    let before = tree(fixture.parent());
    let n_links = usize::from(cfg!(unix));
    assert_eq!(before.len(), 8 + n_links, "five files and three folders");
    for (backend, options) in every_way() {
        let counts = fixture.verify_with(&options).counts();
        assert!(counts.have > 0 && counts.bad > 0 && counts.missing > 0 && counts.unproven > 0);
        assert_eq!(tree(fixture.parent()), before, "{backend} {options:?}");
    }
}

#[test]
fn where_there_is_nothing_nothing_comes() {
    let fixture = Fixture::folder(&[Entry::file("a", 100), Entry::file("b/c", 0)], 16);
    fs::remove_dir_all(fixture.content()).unwrap();
    fixture.expect("mmmmmmm");
    assert_eq!(fs::read_dir(fixture.parent()).unwrap().count(), 0);
}
