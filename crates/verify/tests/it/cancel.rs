//! Cancellation before, during and after a verification.

use std::fs;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hashlane_metainfo::Version;
use hashlane_sha::{Backend, Engine};
use hashlane_verify::{CancelToken, FileState, IoMode, Options, PieceState};

use crate::fixture::{Fixture, every_road, file_of, letters, letters_of, noise};
use crate::plan::{Entry, LEAF, PlannedTorrent, hash, metainfo_of_file};

#[test]
fn before_the_start_nothing_is_checked() {
    let cancel = CancelToken::default();
    cancel.clone().cancel();
    assert!(cancel.is_cancelled());
    let single = Fixture::file(&noise(1, 100_000), 16 << 10);
    let folder = Fixture::folder(
        &[Entry::file("a", 70_000), Entry::file("b", 30_000)],
        16 << 10,
    );
    let [v2, hybrid] = [Version::V2, Version::Hybrid].map(|version| {
        let plan = PlannedTorrent::folder(version, LEAF).file("a", noise(1, 70_000));
        Fixture::of(&plan.file("b", noise(2, 30_000)))
    });
    for fixture in [&single, &folder, &v2, &hybrid] {
        for options in every_road() {
            let report = fixture.watch(&options, &cancel, |_| ());
            assert_eq!(letters(&report), "-------", "{options:?}");
            for pieces in [report.pieces_v1(), report.pieces_v2()] {
                assert!(pieces.is_none_or(|pieces| letters_of(pieces) == "-------"));
            }
            assert!(report.is_cancelled());
            assert!(!report.is_complete());
            assert_eq!(report.checked_bytes(), 0);
            assert_eq!(report.bitfield(), [0]);
            assert!(report.files().iter().all(|file| file.error.is_none()));
        }
    }
}

/// The request to cancel also takes precedence if no byte has to be read.
#[test]
fn before_the_start_absent_content_is_not_checked_either() {
    let cancel = CancelToken::default();
    cancel.cancel();
    for piece_length in [16 << 10, 1 << 20] {
        let fixture = Fixture::file(&noise(1, 100_000), piece_length);
        fs::remove_file(fixture.content()).unwrap();
        for options in every_road() {
            let report = fixture.watch(&options, &cancel, |_| ());
            assert_eq!(report.checked_bytes(), 0, "{options:?}");
            assert!(report.is_cancelled(), "{options:?}");
            assert_eq!(report.files()[0].state, FileState::Unchecked);
        }
    }
}

/// Returns content that takes a while: 96 MiB, of 7 distinct MiB.
pub(crate) fn long_content() -> Fixture {
    const MIB: usize = 1 << 20;
    let blocks: Vec<Vec<u8>> = (0..7).map(|seed| noise(seed, MIB)).collect();
    let hashes: Vec<_> = blocks.iter().map(|block| hash(block)).collect();
    let hashes: Vec<_> = (0..96).map(|i| hashes[i % 7]).collect();
    let fixture = Fixture::empty(metainfo_of_file(96 << 20, MIB, &hashes));
    let content: Vec<u8> = (0..96).flat_map(|i| &blocks[i % 7]).copied().collect();
    fs::write(fixture.content(), content).expect("the folder takes a file");
    fixture
}

/// Returns the slowest options: one message at a time, on one thread.
pub(crate) fn slowly(io: IoMode) -> Options {
    let engine = Engine::with(Backend::Portable).expect("it is always there");
    let options = Options::default().threads(NonZeroUsize::new(1)).io(io);
    options.engine(engine).allow_signal_handler()
}

#[test]
fn what_is_known_by_then_is_kept() {
    let fixture = long_content();
    for io in [IoMode::Auto, IoMode::Pread] {
        for n_threads in [1, 2] {
            let options = slowly(io).threads(NonZeroUsize::new(n_threads));
            let cancel = CancelToken::default();
            let mut reported = None;
            let report = fixture.watch(&options, &cancel, |progress| {
                cancel.cancel();
                reported.get_or_insert(*progress);
            });
            let reported = reported.expect("progress is reported");
            // Pieces known when the request came stay known, and none is wrong.
            assert!(report.counts().have >= reported.counts.have);
            assert_eq!(report.counts().have + report.counts().unchecked, 96);
            assert_eq!(report.have_bytes(), u64::from(report.counts().have) << 20);
            if reported.counts.unchecked > 48 {
                // Independent of timing: the verification must not run to the end.
                assert!(report.is_cancelled(), "{options:?}");
                assert_eq!(file_of(&report, 0).state, FileState::Partial);
            }
        }
    }
}

/// A file without a piece layer has no known piece until the whole file is read.
#[test]
fn what_is_known_by_then_is_kept_by_family() {
    const PIECE: usize = 4 * LEAF;
    const N_PIECES: usize = 16 << 20 >> 16;
    let block = noise(1, 1 << 20);
    for version in [Version::V2, Version::Hybrid] {
        let plan = PlannedTorrent::folder(version, PIECE)
            .file("a/a", block.repeat(12))
            .file("a/b", block.repeat(4));
        for plan in [plan.clone(), plan.without_layer_of("a/a")] {
            let has_layer = plan.files[0].has_layer;
            let fixture = Fixture::of(&plan);
            for io in [IoMode::Auto, IoMode::Pread] {
                let options = slowly(io);
                let cancel = CancelToken::default();
                let mut reported = None;
                let report = fixture.watch(&options, &cancel, |progress| {
                    cancel.cancel();
                    reported.get_or_insert(*progress);
                });
                let reported = reported.expect("progress is reported");
                assert!(report.counts().have >= reported.counts.have);
                assert_eq!(
                    report.counts().have + report.counts().unchecked,
                    N_PIECES as u32
                );
                if reported.hashed_bytes > 8 << 20 {
                    continue;
                }
                // Independent of timing: the verification must not run to the end.
                assert!(report.is_cancelled(), "{version} {io:?}");
                let n_v1 = report.pieces_v1().map_or(0, |pieces| {
                    let is_had = |state: &&PieceState| **state == PieceState::Have;
                    pieces.iter().filter(is_had).count()
                });
                let n_have = report.counts().have as usize;
                assert!(n_v1 == 0 || n_v1 >= n_have);
                if !has_layer {
                    let a = file_of(&report, 0);
                    assert_eq!(a.counts.unchecked, a.counts.total(), "{version} {io:?}");
                }
            }
        }
    }
}

#[test]
fn after_the_end_nothing_changes() {
    let fixture = Fixture::folder(&[Entry::file("a", 1000)], 300);
    let cancel = CancelToken::default();
    // The last call reports that everything is known.
    let report = fixture.watch(&Options::default(), &cancel, |progress| {
        if progress.counts.unchecked == 0 {
            cancel.cancel();
        }
    });
    assert!(cancel.is_cancelled());
    assert!(!report.is_cancelled());
    assert!(report.is_complete());
    assert_eq!(letters(&report), "hhhh");
}

/// Files without bytes are checked after all pieces are known.
#[test]
fn files_that_are_not_looked_at_are_told() {
    let fixture = Fixture::folder(&[Entry::file("a", 1000), Entry::file("empty", 0)], 300);
    let cancel = CancelToken::default();
    let report = fixture.watch(&Options::default(), &cancel, |progress| {
        if progress.counts.unchecked == 0 {
            cancel.cancel();
        }
    });
    assert_eq!(letters(&report), "hhhh");
    assert_eq!(file_of(&report, 1).state, FileState::Unchecked);
    assert!(report.is_cancelled());
    assert!(!report.is_complete());
}

/// One piece of a gigabyte that was never written: computing its digest takes a second.
#[test]
fn a_large_hole_is_not_hashed_to_its_end() {
    const LEN: u64 = 1 << 30;
    let fixture = Fixture::empty(metainfo_of_file(LEN, 1 << 30, &[hash(b"anything")]));
    let file = fs::File::create(fixture.content()).unwrap();
    file.set_len(LEN).unwrap();
    let cancel = CancelToken::default();
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(30));
            cancel.cancel();
        });
        fixture.watch(&slowly(IoMode::Auto), &cancel, |_| ())
    });
    assert!(report.is_cancelled());
    assert_eq!(letters(&report), "-");
}

/// The threads of the verification end, and the panic reaches the caller.
#[test]
fn a_panic_of_the_caller_ends_the_verification() {
    let fixture = Fixture::file(&noise(1, 1_000_000), 16 << 10);
    let cancel = CancelToken::default();
    for options in every_road() {
        let run = || fixture.watch(&options, &cancel, |_| panic!("as a test"));
        let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"as a test"), "{options:?}");
    }
    assert!(!cancel.is_cancelled(), "the caller's token is unchanged");
}
