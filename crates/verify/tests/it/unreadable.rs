//! Files that exist and cannot be opened or read.

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use hashlane_metainfo::{Torrent, Version};
use hashlane_verify::{FileError, FileState, ReadAt, Readers, Verification};

use crate::fixture::{Fixture, file_of, letters};
use crate::not_run::not_run;
use crate::plan::{Entry, LEAF, PlannedTorrent};

/// Returns three files in five pieces: `a` | `a` `b` | `b` | `c` | `c`. `make` creates something
/// else in the place of `b`.
fn with_b(make: impl FnOnce(&Path)) -> Fixture {
    let files = ["a", "b", "c"].map(|name| Entry::file(name, 150));
    let fixture = Fixture::folder(&files, 100);
    let b = fixture.path("b");
    fs::remove_file(&b).expect("it was there");
    make(&b);
    fixture
}

/// Expects that only `b` is unreadable, and checks its error.
#[track_caller]
fn expect_b(fixture: &Fixture, expected: impl FnOnce(&FileError)) {
    let report = fixture.expect("hxxhh");
    let b = file_of(&report, 1);
    assert_eq!(b.state, FileState::Unreadable);
    assert_eq!(b.counts.unreadable, 2);
    for neighbour in [file_of(&report, 0), file_of(&report, 2)] {
        assert_eq!(neighbour.length_on_disk, Some(150));
        assert!(neighbour.error.is_none());
    }
    assert!(!report.is_complete());
    expected(b.error.as_ref().expect("the error is kept"));
}

#[test]
fn a_folder_in_the_place_of_a_file() {
    let fixture = with_b(|b| fs::create_dir(b).unwrap());
    expect_b(&fixture, |error| {
        assert_eq!(error.offset, None);
        assert_eq!(error.error.kind(), ErrorKind::IsADirectory);
    });

    // Also in the place of an empty file.
    let fixture = Fixture::folder(&[Entry::file("a", 100), Entry::file("empty", 0)], 100);
    fs::remove_file(fixture.path("empty")).unwrap();
    fs::create_dir(fixture.path("empty")).unwrap();
    let report = fixture.expect("h");
    assert_eq!(file_of(&report, 1).state, FileState::Unreadable);
    assert!(!report.is_complete());
}

#[test]
fn a_folder_in_the_place_of_the_only_file() {
    let fixture = Fixture::file(&[1; 250], 100);
    fs::remove_file(fixture.content()).unwrap();
    fs::create_dir(fixture.content()).unwrap();
    let report = fixture.expect("xxx");
    assert_eq!(file_of(&report, 0).state, FileState::Unreadable);
}

#[test]
fn a_symbolic_link_that_leads_to_itself() {
    let fixture = with_b(|b| symlink("b", b).unwrap());
    // ELOOP has no stable `ErrorKind`.
    expect_b(&fixture, |error| {
        assert_eq!(error.offset, None);
        let by_std = fs::metadata(fixture.path("b")).unwrap_err();
        assert_eq!(error.error.raw_os_error(), by_std.raw_os_error());
        assert_eq!(error.to_string(), by_std.to_string());
    });
}

#[test]
fn a_symbolic_link_that_leads_nowhere_is_an_absent_file() {
    let fixture = with_b(|b| symlink("nowhere", b).unwrap());
    let report = fixture.expect("hmmhh");
    assert_eq!(file_of(&report, 1).state, FileState::Missing);
}

#[test]
fn a_symbolic_link_to_the_right_bytes_will_do() {
    let fixture = with_b(|_| ());
    fs::write(
        fixture.parent().join("elsewhere"),
        crate::fixture::noise(1, 150),
    )
    .unwrap();
    symlink("../elsewhere", fixture.path("b")).unwrap();
    assert!(fixture.expect("hhhhh").is_complete());
}

#[test]
fn a_named_pipe_is_not_waited_for() {
    let fixture = with_b(|b| {
        let made = Command::new("mkfifo").arg(b).status().unwrap();
        assert!(made.success());
    });
    expect_b(&fixture, |error| {
        assert_eq!(error.offset, None);
        assert_eq!(error.to_string(), "not a regular file");
    });
}

#[test]
fn a_file_that_others_may_not_read() {
    let fixture = Fixture::folder(&["a", "b", "c"].map(|name| Entry::file(name, 150)), 100);
    fs::set_permissions(fixture.path("b"), Permissions::from_mode(0o000)).unwrap();
    if File::open(fixture.path("b")).is_ok() {
        return not_run(
            "a file that others may not read",
            "permissions do not hold for this user",
            "run as another user than root",
        );
    }
    expect_b(&fixture, |error| {
        assert_eq!(error.offset, None);
        assert_eq!(error.error.kind(), ErrorKind::PermissionDenied);
    });
}

/// A file of sysfs that even the superuser can only write.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_nobody_may_read() {
    const WRITE_ONLY: &str = "/sys/bus/platform/drivers_probe";
    let denied = File::open(WRITE_ONLY).is_err_and(|e| e.kind() == ErrorKind::PermissionDenied);
    if !denied {
        let because = format!("{WRITE_ONLY} is not such a file");
        return not_run(
            "a file that nobody may read",
            &because,
            "run where sysfs is mounted on /sys",
        );
    }
    let fixture = with_b(|b| symlink(WRITE_ONLY, b).unwrap());
    expect_b(&fixture, |error| {
        assert_eq!(error.offset, None);
        assert_eq!(error.error.kind(), ErrorKind::PermissionDenied);
    });
}

/// A file of sysfs that reports a length of 4096 bytes and whose reads fail, because the loopback
/// interface has no speed.
#[cfg(target_os = "linux")]
#[test]
fn a_file_whose_reads_fail() {
    const FAILING: &str = "/sys/class/net/lo/speed";
    let read = File::open(FAILING).map(|mut file| file.read(&mut [0; 8]));
    let Ok(Err(expected)) = read else {
        let because = format!("{FAILING} does not fail");
        return not_run(
            "a file whose reads fail",
            &because,
            "run where sysfs is mounted on /sys",
        );
    };
    let fixture = with_b(|b| symlink(FAILING, b).unwrap());
    expect_b(&fixture, |error| {
        assert_eq!(
            error.offset,
            Some(0),
            "the first byte that could not be read"
        );
        assert_eq!(error.error.raw_os_error(), expected.raw_os_error());
        assert_eq!(error.to_string(), format!("at byte 0: {expected}"));
    });
}

/// A file of sysfs has a few bytes and reports a length of 4096. It cannot be mapped either.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_shorter_than_it_says_is_missing_there() {
    const SHORT: &str = "/sys/class/net/lo/mtu";
    if fs::read(SHORT).map_or(true, |bytes| bytes.len() >= 50) {
        let because = format!("{SHORT} is not such a file");
        return not_run(
            "a file that is shorter than it says",
            &because,
            "run where sysfs is mounted on /sys",
        );
    }
    let fixture = with_b(|b| symlink(SHORT, b).unwrap());
    let report = fixture.expect("hmmhh");
    assert!(file_of(&report, 1).error.is_none());
}

/// A file on a disk with one bad sector.
struct BadSector<'b> {
    bytes: &'b [u8],
    sector: std::ops::Range<u64>,
}

impl ReadAt for BadSector<'_> {
    fn len_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let end = offset + buffer.len() as u64;
        if offset < self.sector.end && self.sector.start < end {
            return Err(std::io::Error::from_raw_os_error(5));
        }
        self.bytes.read_at(buffer, offset)
    }
}

/// A read error in the middle of a file costs the piece with the bad sector, and no other piece of the file.
#[test]
fn a_bad_sector_costs_one_piece() {
    let bytes = crate::fixture::noise(1, 20 * LEAF);
    for version in [Version::V1, Version::V2, Version::Hybrid] {
        let plan = PlannedTorrent::folder(version, LEAF).file("a", bytes.clone());
        let torrent = Torrent::parse(plan.metainfo()).expect("the plan is valid");
        let start = 7 * LEAF as u64 + 512;
        let sector = start..start + 512;
        let files = Readers::new(|_| {
            let (bytes, sector) = (&bytes[..], sector.clone());
            Ok(Box::new(BadSector { bytes, sector }))
        });
        for options in crate::fixture::every_road() {
            let verification = Verification::of(&torrent, &files).options(options);
            let report = verification.run(|_| ()).expect("it can be done");
            assert_eq!(
                letters(&report),
                "hhhhhhhxhhhhhhhhhhhh",
                "{version:?}, {options:?}"
            );
            let error = file_of(&report, 0)
                .error
                .as_ref()
                .expect("the error is kept");
            assert!(
                error.offset.is_some_and(|offset| offset / LEAF as u64 == 7),
                "{error}"
            );
        }
    }
}
