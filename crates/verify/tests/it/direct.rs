//! Reads past the page cache.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use hashlane_metainfo::{Torrent, Version};
use hashlane_verify::{Content, IoMode, Options, Verification};

use crate::fixture::{cached_bytes, letters, noise};
use crate::not_run::not_run;
use crate::plan::{LEAF, PlannedTorrent};

/// Writes a file to the disk, and drops its pages from the cache.
fn write_uncached(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("the folder takes a file");
    let file = File::open(path).expect("it was written");
    file.sync_all().expect("it can be written to the disk");
    let of = format!("of={}", path.display());
    let dropped = Command::new("dd")
        .args(["count=0", "oflag=nocache", "conv=notrunc,fdatasync", &of])
        .output();
    assert!(dropped.is_ok_and(|output| output.status.success()));
}

/// The pieces have the same states by every method of reading, wherever the files begin and end. Only direct reads leave
/// the page cache as it was.
#[test]
fn direct_reads_leave_the_page_cache_alone() {
    // A folder in memory has no other place than the cache.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let long = noise(2, 40 * LEAF + 123);
    let mut wrong = long.clone();
    wrong[33 * LEAF] ^= 1;
    for version in [Version::V1, Version::V2, Version::Hybrid] {
        let plan = PlannedTorrent::folder(version, 4 * LEAF)
            .file("a", noise(1, 777))
            .file("b", long.clone())
            .file("c", noise(3, 3 * LEAF));
        let torrent = Torrent::parse(plan.metainfo()).unwrap();
        let root = folder.path().join(format!("{version:?}"));
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), noise(1, 777)).unwrap();
        fs::write(root.join("c"), noise(3, 3 * LEAF)).unwrap();
        let b = root.join("b");
        let content = Content::at(&torrent, &root).unwrap();
        let mut states = Vec::new();
        for io in [IoMode::Direct, IoMode::Pread] {
            write_uncached(&b, &wrong);
            let before = cached_bytes(&b);
            let options = Options::default().io(io);
            let report = Verification::new(&content)
                .options(options)
                .run(|_| ())
                .unwrap();
            states.push(letters(&report));
            let after = cached_bytes(&b);
            if before > 0 {
                not_run(
                    "the effect of direct reads on the page cache",
                    "the file system keeps its pages",
                    "set CARGO_TARGET_DIR to a folder on ext4, XFS or Btrfs",
                );
                continue;
            }
            if io == IoMode::Direct {
                // A piece that spans files is read through the cache: at most a piece at each end of the file, and what
                // the system reads ahead.
                assert!(
                    after < wrong.len() as u64 / 2,
                    "{version:?}: {after} bytes are cached"
                );
            } else {
                assert!(
                    after >= wrong.len() as u64,
                    "{version:?}: {after} bytes are cached"
                );
            }
        }
        assert_eq!(states[0], states[1], "{version:?}");
        assert_eq!(
            states[0].matches('b').count(),
            1,
            "{version:?}: {}",
            states[0]
        );
    }
}
