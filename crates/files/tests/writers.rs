//! Detection of programs that can write to a file.
#![cfg(target_os = "linux")]
#![cfg(not(hashlane_portable))]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::{self, File};
use std::path::Path;

use hashlane_files::{Root, Writers};

#[test]
fn a_file_that_is_open_for_writing_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, "content").unwrap();
    let root = Root::open(folder.path()).unwrap();
    let writers = || root.writers(Path::new("a"));
    assert_eq!(writers(), Writers::None);
    let reader = File::open(&path).unwrap();
    assert_eq!(writers(), Writers::None);
    let writer = File::options().write(true).open(&path).unwrap();
    assert_eq!(writers(), Writers::Some);
    drop((reader, writer));
    assert_eq!(writers(), Writers::None);
    assert_eq!(root.writers(Path::new("absent")), Writers::Unknown);
}

/// The signal about a lease that another program breaks must not end the process.
#[test]
fn programs_that_open_the_file_meanwhile_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, "content").unwrap();
    let root = Root::open(folder.path()).unwrap();
    std::thread::scope(|threads| {
        let opener = threads.spawn(|| {
            for _ in 0..20_000 {
                drop(File::options().write(true).open(&path).unwrap());
            }
        });
        while !opener.is_finished() {
            root.writers(Path::new("a"));
        }
    });
    assert_eq!(root.writers(Path::new("a")), Writers::None);
}
