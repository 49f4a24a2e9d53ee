//! The example that the tutorial for developers prints.

use std::fs;
use std::path::Path;

use crate::fixture::{Fixture, noise};
use crate::plan::Entry;

#[path = "../../examples/check.rs"]
#[allow(dead_code, reason = "the test calls what `main` calls")]
mod check;

#[test]
fn the_example_names_the_wrong_file() {
    let entries = [Entry::file("a", 70_000), Entry::file("b/c", 30_000)];
    let fixture = Fixture::folder(&entries, 16 << 10);
    let torrent = fixture.parent().join("a.torrent");
    fs::write(&torrent, fixture.torrent_bytes()).expect("the folder takes a file");
    let check = || check::check(&torrent, fixture.parent()).expect("the content is readable");
    assert_eq!(check(), ["7 of 7 pieces"]);
    let mut bytes = noise(1, 30_000);
    bytes[29_000] ^= 1;
    fixture.write("b/c", &bytes);
    assert_eq!(check(), ["b/c: incomplete", "6 of 7 pieces"]);
    fs::remove_file(fixture.path("a")).expect("the file exists");
    assert_eq!(check(), ["a: missing", "b/c: incomplete", "1 of 7 pieces"]);
    // An error names the file.
    fs::write(&torrent, "no torrent").expect("the folder takes a file");
    let error = check::check(&torrent, fixture.parent()).expect_err("no torrent");
    let start = format!("{}: ", torrent.display());
    assert!(error.to_string().starts_with(&start), "{error}");
}

#[test]
fn the_tutorial_prints_this_example() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/start/developer.md");
    // The package has no pages.
    if let Ok(page) = fs::read_to_string(page) {
        let example = include_str!("../../examples/check.rs");
        assert!(
            page.contains(example),
            "docs/start/developer.md is out of date"
        );
    }
}
