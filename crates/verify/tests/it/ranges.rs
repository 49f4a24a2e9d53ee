//! Verification of some pieces, and of content that is not on the disk.

use std::fs;
use std::io;
use std::num::NonZeroUsize;

use hashlane_metainfo::Version;
use hashlane_verify::{
    CancelToken, Content, FileState, Options, PieceState, ReadAt, Readers, Verification,
};

use crate::fixture::{Fixture, letters, noise};
use crate::plan::{LEAF, Plan};

const VERSIONS: [Version; 3] = [Version::V1, Version::V2, Version::Hybrid];

/// A file of three pieces, and one of two.
fn plan(version: Version) -> Plan {
    Plan::folder(version, LEAF)
        .file("a", noise(1, 3 * LEAF))
        .file("b", noise(2, LEAF + 100))
}

#[test]
fn only_the_chosen_pieces_are_read() {
    for version in VERSIONS {
        let fixture = Fixture::of(&plan(version));
        let mut wrong = noise(1, 3 * LEAF);
        wrong[2 * LEAF] ^= 1;
        fixture.write("a", &wrong);
        let torrent = fixture.torrent();
        let content = Content::in_folder(&torrent, fixture.parent()).expect("the name is ASCII");
        for (pieces, states, file_states) in [
            (0..5, "hhbhh", [FileState::Partial, FileState::Whole]),
            (1..2, "-h---", [FileState::Partial, FileState::Unchecked]),
            (2..4, "--bh-", [FileState::Partial, FileState::Partial]),
            (5..9, "-----", [FileState::Unchecked, FileState::Unchecked]),
        ] {
            let mut last = None;
            let verification = Verification::new(&content).pieces(pieces.clone());
            let report = verification.run(|progress| last = Some(*progress));
            let report = report.expect("it can be done");
            assert_eq!(letters(&report), states, "{version:?} {pieces:?}");
            assert!(!report.is_cancelled());
            let found: Vec<FileState> = report.files().iter().map(|file| file.state).collect();
            assert_eq!(found, file_states, "{version:?} {pieces:?}");
            if let Some(last) = last {
                assert_eq!(last.hashed_bytes, last.total_bytes);
            }
        }
    }
}

#[test]
fn pieces_with_one_hash_are_read_together() {
    let fixture = Fixture::of(&plan(Version::V2).without_layers());
    let torrent = fixture.torrent();
    let content = Content::in_folder(&torrent, fixture.parent()).expect("the name is ASCII");
    let report = Verification::new(&content).pieces(1..2).run(|_| ());
    assert_eq!(letters(&report.expect("it can be done")), "hhh--");
}

/// Content that is read in short parts, from an object that fails at an offset.
struct Object<'b> {
    bytes: &'b [u8],
    fails_at: u64,
}

impl ReadAt for Object<'_> {
    fn len_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let n = buffer.len().min(1000);
        if (offset..offset + n as u64).contains(&self.fails_at) {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        self.bytes.read_at(&mut buffer[..n], offset)
    }
}

#[test]
fn content_need_not_be_on_the_disk() {
    for version in VERSIONS {
        let fixture = Fixture::of(&plan(version));
        let torrent = fixture.torrent();
        let contents = [noise(1, 3 * LEAF), noise(2, LEAF + 100)];
        // Nothing is read from the disk.
        fs::remove_dir_all(fixture.parent()).expect("the folder can be removed");
        // A hybrid torrent has padding, so files are numbered by their lengths.
        let verify = |fails_at: u64, absent: Option<usize>, threads: usize| {
            let files = Readers::new(|file| {
                let length = torrent.file(file.get()).length() as usize;
                let index = usize::from(length != 3 * LEAF);
                if absent == Some(index) {
                    return Err(io::ErrorKind::NotFound.into());
                }
                Ok(Box::new(Object {
                    bytes: &contents[index],
                    fails_at: if index == 0 { fails_at } else { u64::MAX },
                }))
            });
            let options = Options::default().threads(NonZeroUsize::new(threads));
            let report = Verification::of(&torrent, &files)
                .options(options)
                .run(|_| ());
            report.expect("it can be done")
        };
        for threads in [1, 3] {
            let report = verify(u64::MAX, None, threads);
            assert_eq!(letters(&report), "hhhhh", "{version:?}");
            assert!(report.is_complete());
            let report = verify(LEAF as u64 + 5, None, threads);
            assert_eq!(letters(&report), "hxhhh", "{version:?}");
            let error = report.files()[0].error.as_ref().expect("it is reported");
            assert_eq!(error.error.kind(), io::ErrorKind::ConnectionReset);
            let report = verify(u64::MAX, Some(1), threads);
            assert_eq!(letters(&report), "hhhmm", "{version:?}");
            assert_eq!(report.files()[1].state, FileState::Missing);
        }
    }
}

#[test]
fn a_dropped_guard_cancels() {
    let fixture = Fixture::of(&plan(Version::V1));
    let torrent = fixture.torrent();
    let content = Content::in_folder(&torrent, fixture.parent()).expect("the name is ASCII");
    let cancel = CancelToken::default();
    drop(cancel.cancel_on_drop());
    let report = Verification::new(&content).cancel(&cancel).run(|_| ());
    let report = report.expect("it can be done");
    assert!(report.is_cancelled());
    assert!(
        report
            .pieces()
            .iter()
            .all(|state| *state == PieceState::Unchecked)
    );
}
