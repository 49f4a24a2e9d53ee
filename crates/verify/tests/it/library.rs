//! Verification of many torrents in one run.

use std::fs;

use hashlane_metainfo::Version;
use hashlane_verify::{
    CancelToken, Content, Error, FileState, Library, LibraryEvent, Options, Report,
};

use crate::fixture::{Fixture, V2, every_road, file_of, letters, noise};
use crate::plan::{Entry, LEAF, PlannedTorrent};

const VERSIONS: [Version; 3] = [Version::V1, Version::V2, Version::Hybrid];

fn content_of(fixture: &Fixture) -> Content {
    Content::in_folder(&fixture.torrent(), fixture.parent()).expect("the name is ASCII")
}

/// Verifies contents together, and returns the result of each.
fn verify_all(contents: &[Content], options: &Options) -> Vec<Report> {
    let mut reports = Vec::new();
    let mut last = (0, 0);
    let library = Library::new(contents).options(*options);
    let result = library.run(|event| match event {
        LibraryEvent::Progress {
            hashed_bytes,
            total_bytes,
        } => last = (hashed_bytes, total_bytes),
        LibraryEvent::Verified { torrent, result } => {
            assert_eq!(torrent, reports.len(), "in the order of the contents");
            reports.push(result.expect("it can be done"));
        }
        _ => unreachable!(),
    });
    result.expect("it can be done");
    assert_eq!(reports.len(), contents.len());
    let total: u64 = reports.iter().map(Report::checked_bytes).sum();
    assert_eq!(last, (total, total), "all bytes are done at the end");
    reports
}

/// Compares everything but the time.
#[track_caller]
fn assert_same(together: &Report, alone: &Report, what: &str) {
    assert_eq!(letters(together), letters(alone), "{what}");
    assert_eq!(together.counts(), alone.counts(), "{what}");
    assert_eq!(together.have_bytes(), alone.have_bytes(), "{what}");
    assert_eq!(together.checked_bytes(), alone.checked_bytes(), "{what}");
    assert_eq!(together.pieces_v1(), alone.pieces_v1(), "{what}");
    assert_eq!(together.pieces_v2(), alone.pieces_v2(), "{what}");
    assert_eq!(together.is_complete(), alone.is_complete(), "{what}");
    assert_eq!(together.is_cancelled(), alone.is_cancelled(), "{what}");
    for (a, b) in together.files().iter().zip(alone.files()) {
        assert_eq!(
            (a.index, a.state, a.counts),
            (b.index, b.state, b.counts),
            "{what}"
        );
        assert_eq!(a.length_on_disk, b.length_on_disk, "{what}");
        assert_eq!(a.zero_pieces, b.zero_pieces, "{what}");
        let text =
            |file: &hashlane_verify::FileReport| file.error.as_ref().map(ToString::to_string);
        assert_eq!(text(a), text(b), "{what}");
    }
    assert_eq!(together.files().len(), alone.files().len());
}

/// Torrents of every version and of different piece lengths, whole and damaged.
fn fixtures() -> Vec<Fixture> {
    let mut all = Vec::new();
    for version in VERSIONS {
        for (i, piece_length) in [LEAF, 4 * LEAF].into_iter().enumerate() {
            let plan = PlannedTorrent::folder(version, piece_length)
                .file("a", noise(1 + i as u64, 3 * LEAF))
                .file("b", noise(20, 11 * LEAF + 100))
                .file("empty", Vec::new())
                .file("c", noise(4, 77));
            let whole = Fixture::of(&plan);
            let damaged = Fixture::of(&plan);
            let mut wrong = noise(20, 11 * LEAF + 100);
            wrong[5 * LEAF] ^= 1;
            wrong.truncate(9 * LEAF);
            damaged.write("b", &wrong);
            let lacking = Fixture::of(&plan);
            fs::remove_file(lacking.path("a")).expect("it was there");
            fs::remove_file(lacking.path("empty")).expect("it was there");
            lacking.write("b", &vec![0; 11 * LEAF + 100]);
            all.extend([whole, damaged, lacking]);
        }
    }
    all.push(Fixture::file(&noise(9, 250), 100));
    all
}

#[test]
fn reports_are_those_of_each_torrent_alone() {
    let fixtures = fixtures();
    let contents: Vec<Content> = fixtures.iter().map(content_of).collect();
    for options in every_road() {
        let reports = verify_all(&contents, &options);
        for (i, (report, fixture)) in reports.iter().zip(&fixtures).enumerate() {
            let what = format!("torrent {i}, {options:?}");
            assert_same(report, &fixture.verify_with(&options), &what);
        }
    }
}

/// Torrents share files by path, by hard links, and with other piece lengths and versions.
#[cfg(unix)]
#[test]
fn shared_files_are_judged_for_each_torrent() {
    let bytes = noise(5, 9 * LEAF + 5);
    let mut wrong = bytes.clone();
    wrong[6 * LEAF] ^= 1;
    let mut fixtures = Vec::new();
    for version in VERSIONS {
        for piece_length in [LEAF, LEAF, 2 * LEAF] {
            let plan = PlannedTorrent::folder(version, piece_length)
                .file("a", bytes.clone())
                .file("z", noise(fixtures.len() as u64, 100));
            fixtures.push(Fixture::of(&plan));
        }
    }
    fixtures[0].write("a", &wrong);
    for other in &fixtures[1..] {
        fs::remove_file(other.path("a")).unwrap();
        fs::hard_link(fixtures[0].path("a"), other.path("a")).unwrap();
    }
    let mut contents: Vec<Content> = fixtures.iter().map(content_of).collect();
    contents.push(contents[0].clone());
    for options in every_road() {
        let reports = verify_all(&contents, &options);
        for (i, (report, fixture)) in reports.iter().zip(&fixtures).enumerate() {
            assert_eq!(report.counts().bad, 1, "torrent {i}");
            let what = format!("torrent {i}, {options:?}");
            assert_same(report, &fixture.verify_with(&options), &what);
        }
        assert_same(reports.last().unwrap(), &reports[0], "the same path");
    }
}

/// A file that was replaced after it was found to be shared is read under its own name.
#[cfg(unix)]
#[test]
fn a_shared_file_that_is_replaced_meanwhile_is_read_again() {
    let plan = PlannedTorrent::folder(Version::V1, LEAF).file("a", noise(5, 2 * LEAF));
    let fixtures = [Fixture::of(&plan), Fixture::of(&plan)];
    fs::remove_file(fixtures[1].path("a")).unwrap();
    fs::hard_link(fixtures[0].path("a"), fixtures[1].path("a")).unwrap();
    fixtures[1].write("new", &noise(6, 2 * LEAF));
    let contents = fixtures.each_ref().map(content_of);
    let mut states = Vec::new();
    let result = Library::new(&contents).run(|event| {
        if let LibraryEvent::Verified { result, .. } = event {
            states.push(letters(&result.expect("it can be done")));
            let _ = fs::rename(fixtures[1].path("new"), fixtures[1].path("a"));
        }
    });
    result.expect("it can be done");
    assert_eq!(states, ["hh", "bb"]);
}

#[test]
fn a_torrent_without_the_hashes_fails_alone() {
    let plan = |version| PlannedTorrent::folder(version, LEAF).file("a", noise(1, 2 * LEAF));
    let fixtures =
        [Version::V1, Version::V2, Version::V1].map(|version| Fixture::of(&plan(version)));
    let contents = fixtures.each_ref().map(content_of);
    let mut results = Vec::new();
    let library = Library::new(&contents).versions(V2);
    let result = library.run(|event| {
        if let LibraryEvent::Verified { torrent, result } = event {
            results.push((torrent, result.map(|report| report.is_complete())));
        }
    });
    result.expect("it can be done");
    assert!(matches!(
        results[..],
        [
            (0, Err(Error::NoSuchHashes { .. })),
            (1, Ok(true)),
            (2, Err(Error::NoSuchHashes { .. })),
        ]
    ));
}

#[test]
fn a_cancelled_run_reports_every_torrent() {
    let fixtures = fixtures();
    let contents: Vec<Content> = fixtures.iter().map(content_of).collect();
    let cancel = CancelToken::default();
    cancel.cancel();
    let mut n_reports = 0;
    let library = Library::new(&contents).cancel(&cancel);
    let result = library.run(|event| {
        if let LibraryEvent::Verified { torrent, result } = event {
            let report = result.expect("it can be done");
            assert_eq!(torrent, n_reports);
            assert!(report.is_cancelled(), "torrent {torrent}");
            assert_eq!(report.checked_bytes(), 0);
            n_reports += 1;
        }
    });
    result.expect("it can be done");
    assert_eq!(n_reports, contents.len());
}

#[test]
fn a_library_can_be_empty() {
    let result = Library::new(&[]).run(|event| {
        assert!(matches!(
            event,
            LibraryEvent::Progress { total_bytes: 0, .. }
        ));
    });
    result.expect("it can be done");
}

/// Reads fail in the middle of one torrent. A file of sysfs reports a length and cannot be read, because the loopback
/// interface has no speed.
#[cfg(target_os = "linux")]
#[test]
fn a_read_error_costs_the_affected_pieces() {
    use std::io::Read as _;
    const FAILING: &str = "/sys/class/net/lo/speed";
    let read = fs::File::open(FAILING).map(|mut file| file.read(&mut [0; 8]));
    let Ok(Err(expected)) = read else {
        let because = format!("{FAILING} does not fail");
        return crate::not_run::not_run(
            "a read error in a library",
            &because,
            "run where sysfs is mounted on /sys",
        );
    };
    let fixture = || Fixture::folder(&["a", "b", "c"].map(|name| Entry::file(name, 150)), 100);
    let fixtures = [fixture(), fixture(), fixture()];
    for failing in &fixtures[..2] {
        fs::remove_file(failing.path("b")).unwrap();
        std::os::unix::fs::symlink(FAILING, failing.path("b")).unwrap();
    }
    let contents = fixtures.each_ref().map(content_of);
    for options in every_road() {
        let reports = verify_all(&contents, &options);
        let states: Vec<String> = reports.iter().map(letters).collect();
        assert_eq!(states, ["hxxhh", "hxxhh", "hhhhh"], "{options:?}");
        // Both torrents name the error, although the file is one.
        for report in &reports[..2] {
            let b = file_of(report, 1);
            assert_eq!(b.state, FileState::Unreadable);
            let error = b.error.as_ref().expect("the error is kept");
            assert_eq!(error.to_string(), format!("at byte 0: {expected}"));
        }
    }
}

/// The content of one torrent is in memory, which counts as a disk of its own.
#[cfg(target_os = "linux")]
#[test]
fn a_panic_of_the_caller_ends_the_work_on_all_disks() {
    let fixtures = fixtures();
    let mut contents: Vec<Content> = fixtures.iter().map(content_of).collect();
    let memory = tempfile::tempdir_in("/dev/shm").expect("the memory takes a folder");
    let (file, torrent) = (Fixture::file(&noise(9, 250), 100), fixtures[0].torrent());
    let name = file
        .content()
        .file_name()
        .map(|name| memory.path().join(name));
    fs::copy(file.content(), name.expect("a file")).expect("it takes a file");
    for torrent in [file.torrent(), torrent] {
        contents.push(Content::in_folder(&torrent, memory.path()).expect("the name is ASCII"));
    }
    let run = || Library::new(&contents).run(|_| panic!("as a test"));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"as a test"));
}
