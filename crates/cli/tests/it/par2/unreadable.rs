//! Sectors of a disk that cannot be read.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Place, content};
use crate::fixture::{Ended, end, hashlane};
use crate::not_run::is_installed;

/// A library that makes reads of a part of a file fail.
const LIBRARY: &str = "../net/tests/it/pread.c";

/// Runs the program in a folder in which bytes 200 to 399 of `files/a` cannot be read.
fn run(place: &Place, args: &[&str]) -> Ended {
    let library = place.path("pread.so");
    if !library.exists() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(LIBRARY);
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .arg("-ldl");
        assert!(cc.status().unwrap().success());
    }
    end(hashlane()
        .current_dir(place.path(""))
        .env("LD_PRELOAD", &library)
        .env("HASHLANE_TEST_FILE", "files/a")
        .env("HASHLANE_TEST_READS", place.path("reads"))
        .env("HASHLANE_TEST_FAILS", "200")
        .env("HASHLANE_TEST_READABLE", "400")
        .args(args))
}

#[test]
fn sectors_that_cannot_be_read_are_restored() {
    if !is_installed("CC", "cc", "gcc") {
        return;
    }
    let place = Place::protected("2");
    let ended = run(&place, &["par2", "verify", "s.par2"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let damaged = "files/a: damaged, 8 of 10 slices found\n";
    assert!(ended.stdout.starts_with(damaged), "{ended:?}");
    assert!(place.path("reads").exists(), "the library was used");
    // The new file has the same name, and cannot be read back there. It is right nevertheless.
    let ended = run(&place, &["par2", "repair", "s.par2"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    place.check();
    assert!(place.path("files/a.damaged-1").exists());
}

#[test]
fn an_archive_restores_sectors_that_cannot_be_read() {
    if !is_installed("CC", "cc", "gcc") {
        return;
    }
    let place = Place::new();
    let bytes = content("a", 2 << 20);
    fs::write(place.path("files/a"), &bytes).unwrap();
    for args in [&["update"][..], &["protect", "--redundancy", "20%"]] {
        let ended = end(hashlane()
            .current_dir(place.path(""))
            .arg("archive")
            .args(args)
            .arg("files"));
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
    }
    let ended = run(&place, &["archive", "scrub", "--repair", "files"]);
    assert!(
        fs::read(place.path("files/a")).unwrap() == bytes,
        "{ended:?}"
    );
    assert!(place.path("files/a.damaged-1").exists(), "{ended:?}");
}
