//! Files that change while they are verified: the process survives, and no piece is reported right
//! that was never right.

use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hashlane_verify::{CancelToken, IoMode, Options, PieceState, Report};

use crate::cancel::{long_content, slowly};
use crate::fixture::{Fixture, letters, noise};
use crate::plan::{hash, metainfo_of_file};

const MIB: usize = 1 << 20;

fn open(fixture: &Fixture) -> File {
    let mut options = File::options();
    options.read(true).write(true);
    options.open(fixture.content()).expect("it is there")
}

struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Verifies, and calls `act` when some pieces are known and others are not. Returns `None` if the
/// verification finished first.
fn verify_and(fixture: &Fixture, io: IoMode, act: impl FnOnce()) -> Option<Report> {
    let mut act = Some(act);
    let report = fixture.watch(&slowly(io), &CancelToken::default(), |progress| {
        if progress.counts.unchecked > 10
            && let Some(act) = act.take()
        {
            act();
        }
    });
    act.is_none().then_some(report)
}

/// Every other piece is always wrong, whatever the writer does. Its bytes are all nonzero, but zeros are expected,
/// which a read of a truncated page shows.
#[test]
fn a_file_cut_off_and_written_again_and_again() {
    const N_PIECES: usize = 128;
    const PIECE_LEN: usize = MIB / 2;
    let right = noise(1, PIECE_LEN);
    let hashes = [hash(&right), hash(&vec![0; PIECE_LEN])].repeat(N_PIECES / 2);
    let content = right.repeat(N_PIECES);
    let fixture = Fixture::empty(metainfo_of_file(content.len() as u64, PIECE_LEN, &hashes));
    fs::write(fixture.content(), &content).unwrap();

    let stop = AtomicBool::new(false);
    let file = open(&fixture);
    thread::scope(|scope| {
        scope.spawn(|| {
            for seed in 0.. {
                // Whole pages, so that no page is truncated in the middle, which would show zeros
                // in the rest.
                let cut = u64::from_le_bytes(noise(seed, 8).try_into().unwrap());
                let cut = (cut % content.len() as u64).next_multiple_of(4096);
                file.set_len(cut).unwrap();
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                file.write_all_at(&content[cut as usize..], cut).unwrap();
            }
            file.set_len(10 * PIECE_LEN as u64 + 1).unwrap();
        });
        // Runs even if an assertion fails, because the scope waits for the writer.
        let _stop = StopAtEnd(&stop);
        let started = Instant::now();
        let mut n_runs = 0;
        while started.elapsed() < Duration::from_secs(2) {
            let io = [IoMode::Mmap, IoMode::Mmap, IoMode::Pread][n_runs % 3];
            let options = Options::default().threads(NonZeroUsize::new(2)).io(io);
            let options = options.allow_signal_handler();
            let report = fixture.verify_with(&options);
            for (i, state) in report.pieces().iter().enumerate() {
                let has = matches!(state, PieceState::Have | PieceState::Bad);
                assert!(has || *state == PieceState::Missing, "piece {i}: {state:?}");
                let never_right = i % 2 == 1;
                assert!(
                    !(never_right && *state == PieceState::Have),
                    "piece {i}, {io:?}"
                );
            }
            n_runs += 1;
        }
    });
    fixture.expect(&format!("hbhbhbhbhb{}", "m".repeat(N_PIECES - 10)));
}

/// The end of the file comes and goes while the file is mapped, and is back when the program asks
/// for the length. The content is never zeros, but zeros are expected.
#[test]
fn an_end_that_comes_and_goes() {
    const PIECE_LEN: usize = 16 << 10;
    const N_PIECES: usize = 256;
    const N_WRONG: usize = 4;
    let right = noise(1, PIECE_LEN);
    let mut hashes = vec![hash(&right); N_PIECES];
    hashes[N_PIECES - N_WRONG..].fill(hash(&vec![0; PIECE_LEN]));
    let content = right.repeat(N_PIECES);
    let fixture = Fixture::empty(metainfo_of_file(content.len() as u64, PIECE_LEN, &hashes));
    fs::write(fixture.content(), &content).unwrap();

    let stop = AtomicBool::new(false);
    let file = open(&fixture);
    thread::scope(|scope| {
        scope.spawn(|| {
            let cut = content.len() - N_WRONG * PIECE_LEN;
            while !stop.load(Ordering::Relaxed) {
                file.set_len(cut as u64).unwrap();
                file.write_all_at(&content[cut..], cut as u64).unwrap();
            }
        });
        let _stop = StopAtEnd(&stop);
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(1) {
            let report = fixture.verify_with(&slowly(IoMode::Mmap));
            let (before, end) = report.pieces().split_at(N_PIECES - N_WRONG);
            assert!(before.iter().all(|s| *s == PieceState::Have));
            assert!(end.iter().all(|s| *s != PieceState::Have), "{end:?}");
        }
    });
    fixture.expect(&("h".repeat(N_PIECES - N_WRONG) + "bbbb"));
}

#[test]
fn what_is_cut_off_before_it_is_read_is_missing() {
    let fixture = long_content();
    for io in [IoMode::Auto, IoMode::Mmap, IoMode::Pread] {
        // On a busy machine, the worker may finish before the change.
        let was_seen = (0..20).any(|_| {
            let file = open(&fixture);
            let mut last = vec![0; MIB];
            file.read_exact_at(&mut last, 95 << 20).unwrap();
            let report = verify_and(&fixture, io, || file.set_len((95 << 20) + 5).unwrap());
            file.write_all_at(&last, 95 << 20).unwrap();
            let Some(report) = report else { return false };
            assert!(report.pieces()[..95].iter().all(|s| *s == PieceState::Have));
            match report.pieces()[95] {
                PieceState::Missing => true,
                state => {
                    assert_eq!(state, PieceState::Have, "it was there when it was read");
                    false
                }
            }
        });
        assert!(was_seen, "{io:?}");
    }
}

#[test]
fn an_emptied_file_is_missing_from_there_on() {
    let fixture = long_content();
    let content = fs::read(fixture.content()).unwrap();
    for io in [IoMode::Mmap, IoMode::Pread] {
        let was_seen = (0..20).any(|_| {
            let report = verify_and(&fixture, io, || open(&fixture).set_len(0).unwrap());
            fs::write(fixture.content(), &content).unwrap();
            let Some(report) = report else { return false };
            let states = letters(&report);
            let n_had = states.chars().take_while(|letter| *letter == 'h').count();
            // Pieces within a group keep the order of the file, unless the group was discarded and
            // read again.
            assert!(
                states[n_had..].chars().all(|letter| letter == 'm'),
                "{states}"
            );
            states.ends_with('m')
        });
        assert!(was_seen, "{io:?}");
    }
}

#[test]
fn a_file_that_was_opened_is_verified_to_its_end() {
    let fixture = long_content();
    let other = fixture.parent().join("other");
    for io in [IoMode::Auto, IoMode::Mmap, IoMode::Pread] {
        // Another file replaces the content.
        fs::write(&other, b"short").unwrap();
        let original = fixture.parent().join("original");
        fs::hard_link(fixture.content(), &original).unwrap();
        let replaced = verify_and(&fixture, io, || {
            fs::rename(&other, fixture.content()).unwrap();
        });
        if let Some(report) = replaced {
            assert_eq!(letters(&report), "h".repeat(96), "{io:?}");
            assert_eq!(letters(&fixture.verify()), "m".repeat(96), "{io:?}");
        }
        // The content is deleted.
        fs::rename(&original, fixture.content()).unwrap();
        fs::hard_link(fixture.content(), &original).unwrap();
        let deleted = verify_and(&fixture, io, || fs::remove_file(fixture.content()).unwrap());
        if let Some(report) = deleted {
            assert_eq!(letters(&report), "h".repeat(96), "{io:?}");
            assert_eq!(letters(&fixture.verify()), "m".repeat(96), "{io:?}");
        }
        fs::rename(&original, fixture.content()).unwrap();
    }
}

/// If a file is truncated within a page, the rest of the page reads as zeros, without an error.
#[test]
fn a_piece_whose_last_bytes_are_cut_off_is_not_right_because_zeros_were_expected() {
    let fixture = with_wrong_end(|last| last[MIB - 100..].fill(0));
    for io in [IoMode::Auto, IoMode::Mmap, IoMode::Pread] {
        for _ in 0..5 {
            let file = open(&fixture);
            file.set_len((96 << 20) - 100).unwrap();
            file.write_all_at(&[0xff; 100], (96 << 20) - 100).unwrap();
            let cut = || file.set_len((96 << 20) - 100).unwrap();
            if let Some(report) = verify_and(&fixture, io, cut) {
                // The piece was never right.
                assert_ne!(report.pieces()[95], PieceState::Have, "{io:?}");
            }
        }
    }
}

/// There is no data after the end of a file, but that is not a hole.
#[test]
fn a_piece_that_is_cut_off_is_not_right_because_zeros_were_expected() {
    let fixture = with_wrong_end(|last| last.fill(0));
    for io in [IoMode::Auto, IoMode::Mmap, IoMode::Pread] {
        for _ in 0..5 {
            let file = open(&fixture);
            // A hole makes the program ask the system what follows.
            file.set_len(94 << 20).unwrap();
            file.write_all_at(&vec![0xff; MIB], 95 << 20).unwrap();
            let cut = || file.set_len(90 << 20).unwrap();
            if let Some(report) = verify_and(&fixture, io, cut) {
                assert_ne!(report.pieces()[95], PieceState::Have, "{io:?}");
            }
        }
    }
}

/// Returns content whose last piece has other bytes than the torrent expects.
fn with_wrong_end(change: impl FnOnce(&mut [u8])) -> Fixture {
    let fixture = long_content();
    let blocks: Vec<_> = (0..7).map(|seed| hash(&noise(seed, MIB))).collect();
    let mut hashes: Vec<_> = (0..96).map(|i| blocks[i % 7]).collect();
    let mut last = noise(95 % 7, MIB);
    change(&mut last);
    hashes[95] = hash(&last);
    let changed = Fixture::empty(metainfo_of_file(96 << 20, MIB, &hashes));
    fs::rename(fixture.content(), changed.content()).expect("both are temporary folders");
    changed
}
