//! Symbolic links of a torrent (BEP 47) are compared and never followed.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use hashlane_metainfo::Version;
use hashlane_verify::{CancelToken, FileReport, FileState, Options, Report};

use crate::fixture::{Fixture, V1, V2, letters, noise};
use crate::plan::{LEAF, PlannedTorrent};

const VERSIONS: [Version; 3] = [Version::V1, Version::V2, Version::Hybrid];

/// Returns a torrent with a link at `d/link` and two files. The link exists and is correct.
fn fixture_of(version: Version, target: &str) -> Fixture {
    let plan = PlannedTorrent::folder(version, LEAF)
        .file("a", noise(1, 2 * LEAF))
        .file("d/b", noise(2, 100))
        .link("d/link", target);
    Fixture::of(&plan)
}

fn relink(fixture: &Fixture, target: impl AsRef<Path>) {
    let path = fixture.path("d/link");
    fs::remove_file(&path).expect("it was there");
    symlink(target, path).expect("the folder takes a link");
}

fn link_of(report: &Report) -> &FileReport {
    let mut files = report.files().iter();
    let is_link = |file: &&FileReport| {
        matches!(
            file.state,
            FileState::Link | FileState::WrongLink | FileState::Missing | FileState::Unreadable
        )
    };
    files.find(is_link).expect("all others are whole")
}

/// Expects this state of the link, and that everything else is correct, with every way of reading.
#[track_caller]
fn expect(fixture: &Fixture, state: FileState, found_target: Option<&Path>) {
    let version = fixture.torrent().version();
    let report = fixture.expect("hhh");
    let link = link_of(&report);
    assert_eq!(link.state, state, "{version}");
    assert_eq!(link.found_target.as_deref(), found_target, "{version}");
    assert!(link.error.is_none(), "{version}");
    assert_eq!((link.length, link.length_on_disk), (0, None));
    assert!(link.pieces.is_empty());
    assert_eq!(link.counts.total(), 0);
    assert_eq!(report.is_complete(), state == FileState::Link, "{version}");
    // Links do not affect hashes.
    for versions in [V1, V2] {
        if !versions.and(report.hash_versions()).is_empty() {
            let report = fixture.verify_versions(versions, &Options::default());
            assert_eq!(link_of(&report).state, state, "{version}");
        }
    }
}

#[test]
fn a_link_is_right_if_it_leads_to_the_same_place() {
    for version in VERSIONS {
        let fixture = fixture_of(version, "a");
        // The link is absolute and points into the content, as the fixture wrote it.
        expect(&fixture, FileState::Link, None);
        let nested = fixture_of(version, "d/b");
        expect(&nested, FileState::Link, None);
        for target in ["../a", "./../a", "../d/../a", "..//./a"] {
            relink(&fixture, target);
            expect(&fixture, FileState::Link, None);
        }
        for target in ["b", "./b", "../d/b"] {
            relink(&nested, target);
            expect(&nested, FileState::Link, None);
        }
        // The target leaves the content and comes back by the content's current name.
        relink(&nested, "../../content/d/b");
        expect(&nested, FileState::Link, None);
        let astray = Path::new("../../contents/d/b");
        relink(&nested, astray);
        expect(&nested, FileState::WrongLink, Some(astray));
    }
}

/// Some creators write targets relative to the link's folder.
#[test]
fn a_target_may_be_relative_to_the_folder_of_the_link() {
    for version in VERSIONS {
        let fixture = fixture_of(version, "b");
        relink(&fixture, "b");
        expect(&fixture, FileState::Link, None);
        relink(&fixture, fixture.path("d/b"));
        expect(&fixture, FileState::Link, None);
        // BEP 47's targets are relative to the content root; on disk, this link leads there.
        relink(&fixture, "../b");
        expect(&fixture, FileState::Link, None);
        relink(&fixture, "../d/link");
        expect(&fixture, FileState::WrongLink, Some(Path::new("../d/link")));
    }
}

#[test]
fn a_link_to_somewhere_else_is_wrong() {
    for version in VERSIONS {
        let fixture = fixture_of(version, "a");
        let outside = fixture.parent().join("a");
        fs::write(&outside, noise(1, 2 * LEAF)).unwrap();
        let sibling = PathBuf::from(format!("{}s/a", fixture.content().display()));
        let targets: [&Path; 9] = [
            Path::new("b"),
            Path::new("../d"),
            Path::new(".."),
            Path::new("../../a"),
            Path::new("../../../../../../../../etc/hostname"),
            Path::new("/etc/hostname"),
            Path::new("/"),
            &outside,
            &sibling,
        ];
        for target in targets {
            relink(&fixture, target);
            expect(&fixture, FileState::WrongLink, Some(target));
        }
    }
}

/// A link to a missing target may be correct; the target itself does not matter.
#[test]
fn a_link_may_lead_to_nothing() {
    for version in VERSIONS {
        let fixture = fixture_of(version, "nowhere/at all");
        expect(&fixture, FileState::Link, None);
        relink(&fixture, "../nowhere/at all");
        expect(&fixture, FileState::Link, None);
        relink(&fixture, "../nowhere");
        expect(
            &fixture,
            FileState::WrongLink,
            Some(Path::new("../nowhere")),
        );
        // A link to itself.
        let circle = fixture_of(version, "d/link");
        relink(&circle, "link");
        expect(&circle, FileState::Link, None);
    }
}

#[test]
fn what_is_no_link_is_a_wrong_one() {
    for version in VERSIONS {
        let fixture = fixture_of(version, "a");
        let path = fixture.path("d/link");
        fs::remove_file(&path).unwrap();
        fs::write(&path, noise(1, 2 * LEAF)).unwrap();
        expect(&fixture, FileState::WrongLink, None);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        expect(&fixture, FileState::WrongLink, None);
    }
}

#[test]
fn a_link_that_is_not_there_is_missing() {
    for version in VERSIONS {
        let fixture = fixture_of(version, "a");
        fs::remove_file(fixture.path("d/link")).unwrap();
        expect(&fixture, FileState::Missing, None);

        let plan = PlannedTorrent::folder(version, LEAF)
            .file("a", noise(1, LEAF))
            .file("b", noise(1, LEAF))
            .file("c", noise(1, LEAF))
            .link("d/e/link", "a");
        let fixture = Fixture::of(&plan);
        expect(&fixture, FileState::Link, None);
        fs::remove_dir_all(fixture.path("d")).unwrap();
        expect(&fixture, FileState::Missing, None);
        fs::write(fixture.path("d"), b"no folder").unwrap();
        expect(&fixture, FileState::Missing, None);
    }
}

#[test]
fn without_content_links_are_missing() {
    for version in VERSIONS {
        let fixture = fixture_of(version, "a");
        fs::remove_dir_all(fixture.content()).unwrap();
        let report = fixture.expect("mmm");
        assert!(
            report
                .files()
                .iter()
                .all(|file| file.state == FileState::Missing)
        );
    }
}

/// The link's folder leads to itself.
#[test]
fn a_link_that_cannot_be_looked_at_is_unreadable() {
    let plan = PlannedTorrent::folder(Version::Hybrid, LEAF)
        .file("a", noise(1, 3 * LEAF))
        .link("d/link", "a");
    let fixture = Fixture::of(&plan);
    fs::remove_dir_all(fixture.path("d")).unwrap();
    symlink("d", fixture.path("d")).unwrap();
    let report = fixture.expect("hhh");
    let link = link_of(&report);
    assert_eq!(link.state, FileState::Unreadable);
    let error = link.error.as_ref().expect("the error is kept");
    assert_eq!(error.offset, None);
    let by_std = fs::symlink_metadata(fixture.path("d/link")).unwrap_err();
    assert_eq!(error.error.raw_os_error(), by_std.raw_os_error());
    assert!(!report.is_complete());
}

#[test]
fn links_that_are_not_looked_at_are_told() {
    let fixture = fixture_of(Version::Hybrid, "a");
    let cancel = CancelToken::default();
    let report = fixture.watch(&Options::default(), &cancel, |progress| {
        if progress.counts.unchecked == 0 {
            cancel.cancel();
        }
    });
    assert_eq!(letters(&report), "hhh");
    let states = report.files().iter().map(|file| file.state);
    let unchecked = states.filter(|state| *state == FileState::Unchecked);
    assert_eq!(unchecked.count(), 1);
    assert!(report.is_cancelled());
    assert!(!report.is_complete());
}

/// A link in the place of a folder is followed like a folder. Only the torrent's own links are not
/// followed.
#[test]
fn content_may_be_reached_by_a_link() {
    let fixture = fixture_of(Version::V2, "a");
    let elsewhere = fixture.parent().join("elsewhere");
    fs::rename(fixture.content(), &elsewhere).unwrap();
    symlink(&elsewhere, fixture.content()).unwrap();
    // The target is valid by both names of the folder.
    expect(&fixture, FileState::Link, None);
    relink(&fixture, elsewhere.join("a"));
    expect(&fixture, FileState::Link, None);
    relink(&fixture, elsewhere.join("d/b"));
    expect(&fixture, FileState::WrongLink, Some(&elsewhere.join("d/b")));
}

#[test]
fn a_target_that_may_not_be_read_does_not_matter() {
    for version in VERSIONS {
        let fixture = fixture_of(version, "secret");
        fixture.write("secret", b"bytes");
        fs::set_permissions(fixture.path("secret"), Permissions::from_mode(0o000)).unwrap();
        expect(&fixture, FileState::Link, None);
        relink(&fixture, "../secret");
        expect(&fixture, FileState::Link, None);
    }
}

/// A writer to a pipe waits until somebody opens the pipe for reading.
#[cfg(target_os = "linux")]
#[test]
fn what_a_link_leads_to_is_never_opened() {
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    let fixture = fixture_of(Version::Hybrid, "pipe");
    let pipe = fixture.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let was_opened = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = fs::OpenOptions::new().write(true).open(&pipe);
            was_opened.store(true, Ordering::SeqCst);
        });
        thread::sleep(Duration::from_millis(50));
        let right = std::panic::catch_unwind(|| {
            expect(&fixture, FileState::Link, None);
            relink(&fixture, fixture.path("../content/pipe"));
            expect(&fixture, FileState::Link, None);
            relink(&fixture, fixture.path("other"));
            expect(&fixture, FileState::WrongLink, Some(&fixture.path("other")));
        });
        thread::sleep(Duration::from_millis(50));
        let was_opened = was_opened.load(Ordering::SeqCst);
        // Releases the writer. Opening for reading only would block if the writer has already gone.
        fs::File::options()
            .read(true)
            .write(true)
            .open(&pipe)
            .unwrap();
        assert!(right.is_ok());
        assert!(!was_opened, "somebody opened the pipe");
    });
}
