//! Pieces that the caller trusts, which are not read.

use std::fs;

use hashlane_metainfo::{PieceIndex, Version};
use hashlane_verify::{Content, FileState, PieceState, Report, Verification};

use crate::fixture::{Fixture, letters, noise};
use crate::plan::{LEAF, PlannedTorrent};

const VERSIONS: [Version; 3] = [Version::V1, Version::V2, Version::Hybrid];

/// A file of three pieces, and one of two.
fn plan(version: Version) -> PlannedTorrent {
    PlannedTorrent::folder(version, LEAF)
        .file("a", noise(1, 3 * LEAF))
        .file("b", noise(2, LEAF + 100))
}

/// Verifies content without the pieces that have an `h` in `trusted`.
fn verify(fixture: &Fixture, trusted: &str) -> Report {
    let trusted: Vec<bool> = trusted.chars().map(|letter| letter == 'h').collect();
    let content =
        Content::in_folder(&fixture.torrent(), fixture.parent()).expect("the name is ASCII");
    let mut n_done = 0;
    let is_trusted = |piece: PieceIndex| trusted.get(piece.get() as usize) == Some(&true);
    let report = Verification::new(&content)
        .trust(&is_trusted)
        .run(|progress| {
            n_done = progress.hashed_bytes;
            assert!(n_done <= progress.total_bytes);
        });
    report.expect("it can be done")
}

#[test]
fn a_trusted_piece_is_not_read() {
    for version in VERSIONS {
        let fixture = Fixture::of(&plan(version));
        let mut wrong = noise(1, 3 * LEAF);
        wrong[0] ^= 1;
        wrong[2 * LEAF] ^= 1;
        fixture.write("a", &wrong);
        for (trusted, states, n_trusted) in [
            ("", "bhbhh", 0),
            ("hhh--", "hhhhh", 3),
            ("h--h-", "hhbhh", 2),
            ("--h--", "bhhhh", 1),
            ("hhhhh", "hhhhh", 5),
        ] {
            let report = verify(&fixture, trusted);
            assert_eq!(letters(&report), states, "{version:?} {trusted}");
            assert_eq!(report.trusted_pieces(), n_trusted);
            assert_eq!(report.is_complete(), !states.contains('b'));
            assert_eq!(report.counts().have as usize, states.matches('h').count());
            if trusted == "hhhhh" {
                assert_eq!(report.have_bytes(), 4 * LEAF as u64 + 100);
            }
        }
    }
}

#[test]
fn a_piece_without_an_entry_is_not_trusted() {
    for version in VERSIONS {
        let fixture = Fixture::of(&plan(version));
        let mut wrong = noise(1, 3 * LEAF);
        wrong[2 * LEAF] ^= 1;
        fixture.write("a", &wrong);
        for (trusted, states, n_trusted) in [("h", "hhbhh", 1), ("--hhhhhhh", "hhhhh", 3)] {
            let report = verify(&fixture, trusted);
            assert_eq!(letters(&report), states, "{version:?} {trusted}");
            assert_eq!(report.trusted_pieces(), n_trusted);
        }
    }
}

#[test]
fn an_absent_file_is_found_although_its_pieces_are_trusted() {
    let fixture = Fixture::of(&plan(Version::Hybrid));
    fs::remove_file(fixture.path("b")).unwrap();
    let report = verify(&fixture, "hhhhh");
    assert!(!report.is_complete());
    assert_eq!(report.files()[1].state, FileState::Missing);
}

#[test]
fn a_file_with_one_hash_is_trusted_as_a_whole() {
    let fixture = Fixture::of(&plan(Version::V2).without_layers());
    for (trusted, n_trusted) in [("hhhhh", 5), ("hh-hh", 2), ("h----", 0)] {
        let report = verify(&fixture, trusted);
        assert_eq!(letters(&report), "hhhhh", "{trusted}");
        assert_eq!(report.trusted_pieces(), n_trusted, "{trusted}");
    }
    let mut wrong = noise(1, 3 * LEAF);
    wrong[0] ^= 1;
    fixture.write("a", &wrong);
    let report = verify(&fixture, "-hhhh");
    assert_eq!(report.pieces()[0], PieceState::Unproven);
    assert_eq!(letters(&report), "uuuhh");
}
