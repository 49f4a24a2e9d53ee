//! Detection of programs that can write to a file. A process that another test starts has the file open until it executes its
//! program, so these tests are alone.

use std::fs::{self, File};
use std::path::Path;

use hashlane_files::{Root, Writers};

use crate::own_process::alone;

#[test]
fn a_file_that_is_open_for_writing_is_found() {
    alone(
        "writers::a_file_that_is_open_for_writing_is_found",
        find_writer,
    );
}

fn find_writer() {
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
    let name = "writers::programs_that_open_the_file_meanwhile_do_no_harm";
    alone(name, look_while_it_is_opened);
}

fn look_while_it_is_opened() {
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
