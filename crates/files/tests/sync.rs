//! Files that are on the disk are no longer in the page cache.
#![cfg(all(target_os = "linux", not(hashlane_portable)))]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::{IoSliceMut, Write as _};
use std::path::Path;

use hashlane_files::Root;
use rustix::io::{Errno, ReadWriteFlags, preadv2};

/// Magic numbers of file systems whose pages can be dropped (statfs(2)).
const DISKS: [(&str, i64); 3] = [
    ("ext4", 0xef53),
    ("xfs", 0x5846_5342),
    ("btrfs", 0x9123_683e),
];

/// Returns `true` if the first page of a file is in the page cache.
fn is_cached(path: &Path) -> bool {
    let mut buffer = [0; 4096];
    let file = File::open(path).unwrap();
    match preadv2(
        &file,
        &mut [IoSliceMut::new(&mut buffer)],
        0,
        ReadWriteFlags::NOWAIT,
    ) {
        Ok(n) => {
            assert_eq!(n, buffer.len());
            true
        }
        Err(error) => {
            assert_eq!(error, Errno::AGAIN);
            false
        }
    }
}

#[test]
fn a_synchronised_file_is_read_from_the_disk() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let kind = rustix::fs::statfs(folder.path()).unwrap().f_type;
    if !DISKS.iter().any(|(_, magic)| *magic == kind) {
        let names = DISKS.map(|(name, _)| name).join(", ");
        let _ = writeln!(
            std::io::stderr(),
            "NOT RUN: dropped pages: {kind:#x} is not one of {names}"
        );
        return;
    }
    let names = ["a", "b"].map(Path::new);
    let paths = names.map(|name| folder.path().join(name));
    let bytes = vec![7; 1 << 20];
    for path in &paths {
        fs::write(path, &bytes).unwrap();
    }
    let root = Root::open(folder.path()).unwrap();
    for name in names {
        root.start_sync(name).unwrap();
    }
    for name in names {
        root.sync_file(name).unwrap();
    }
    root.sync_folder(Path::new("")).unwrap();
    for path in &paths {
        assert!(!is_cached(path), "{}", path.display());
        assert!(fs::read(path).unwrap() == bytes);
        assert!(is_cached(path), "{}", path.display());
    }
}
