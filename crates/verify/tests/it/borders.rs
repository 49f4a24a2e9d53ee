//! Files that end near the borders of leaves and pieces, in version 2 and hybrid torrents. Pieces have the length of
//! one leaf up to many windows.

use std::fs;

use hashlane_metainfo::Version;
use hashlane_verify::Options;

use crate::fixture::{Fixture, every_way, letters_by_file, noise};
use crate::plan::{LEAF, PlannedTorrent, metainfo_of_zeros};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Returns one torrent with files of these lengths.
fn plan(version: Version, piece_length: usize, lengths: &[usize]) -> PlannedTorrent {
    let mut plan = PlannedTorrent::folder(version, piece_length);
    for (i, length) in lengths.iter().enumerate() {
        let path = format!("{}/{i}", i % 3);
        plan = plan.file(&path, noise(i as u64, *length));
    }
    plan
}

/// Returns lengths around each border, up to several pieces.
fn all_lengths(piece_length: usize) -> Vec<usize> {
    let mut lengths = vec![0, 1, 5 * piece_length, 2 * piece_length + LEAF + 77];
    for border in [
        LEAF,
        2 * LEAF,
        3 * LEAF,
        piece_length / 2,
        piece_length,
        2 * piece_length,
        3 * piece_length,
    ] {
        lengths.extend([border - 1, border, border + 1]);
    }
    lengths
}

/// Returns fewer lengths, for large pieces.
fn some_lengths(piece_length: usize) -> Vec<usize> {
    vec![
        0,
        1,
        LEAF + 1,
        // Ends within a part of 64 KiB, within a window, and just after a window.
        piece_length / 2 + 5 * LEAF + 3,
        piece_length / 2 + 1,
        piece_length - 1,
        piece_length,
        piece_length + 1,
        2 * piece_length + 3 * LEAF - 7,
    ]
}

/// Flips a byte in each piece for which `is_wrong` returns `true`: the first byte of a file, the
/// last, or one in the middle.
fn damaged(plan: &PlannedTorrent, is_wrong: impl Fn(usize) -> bool) -> (PlannedTorrent, String) {
    let mut damaged = plan.clone();
    let mut n_pieces = 0;
    let mut states = Vec::new();
    for file in damaged
        .files
        .iter_mut()
        .filter(|file| !file.bytes.is_empty())
    {
        let pieces = file.bytes.chunks_mut(plan.piece_length);
        let letters = pieces.map(|piece| {
            n_pieces += 1;
            if !is_wrong(n_pieces) {
                return 'h';
            }
            let last = piece.len() - 1;
            piece[[last, 0, last / 2, last / LEAF * LEAF][n_pieces / 2 % 4]] ^= 0x10;
            'b'
        });
        states.push(letters.collect::<String>());
    }
    (damaged, states.join(" "))
}

/// Checks every way of reading and every backend: correct content is complete, and a wrong byte
/// makes only its own piece bad.
fn check(plan: &PlannedTorrent) {
    let fixture = check_roads(plan, |n| n % 2 == 1);
    let (damaged, states) = damaged(plan, |n| n % 2 == 0);
    fixture.restore(&damaged);
    for (backend, options) in every_way() {
        expect(&fixture, &options, &states, &format!("{backend}"));
    }
}

/// Checks the same with one backend, and each version alone as well.
fn check_roads(plan: &PlannedTorrent, is_wrong: impl Fn(usize) -> bool) -> Fixture {
    let fixture = Fixture::of(plan);
    let (_, all) = damaged(plan, |_| false);
    assert!(fixture.expect(&all.replace(' ', "")).is_complete());
    let (damaged, states) = damaged(plan, is_wrong);
    fixture.restore(&damaged);
    fixture.expect_files(&states, &states);
    fixture
}

#[track_caller]
fn expect(fixture: &Fixture, options: &Options, states: &str, way: &str) {
    let report = fixture.verify_with(options);
    let found = letters_by_file(&report, report.pieces());
    assert_eq!(found, states, "{way} {options:?}");
}

#[test]
fn pieces_of_one_leaf() {
    let lengths = all_lengths(LEAF);
    check(&plan(Version::V2, LEAF, &lengths));
    let hybrid = plan(Version::Hybrid, LEAF, &lengths);
    check(&hybrid);
    check_roads(&hybrid.padded_to_the_end(), |n| n % 2 == 0);
}

#[test]
fn pieces_of_64_kib() {
    let lengths = all_lengths(64 * KIB);
    check(&plan(Version::V2, 64 * KIB, &lengths));
    let hybrid = plan(Version::Hybrid, 64 * KIB, &lengths);
    check(&hybrid);
    check_roads(&hybrid.padded_to_the_end(), |n| n % 2 == 0);
}

/// Pieces of this size and above are longer than windows, and longer than the parts that both versions hash in turn.
#[test]
fn pieces_of_1_mib() {
    let lengths = some_lengths(MIB);
    check(&plan(Version::V2, MIB, &lengths));
    check(&plan(Version::Hybrid, MIB, &lengths));
}

/// A piece of this size exceeds a batch.
#[test]
fn pieces_of_8_mib() {
    for version in [Version::V2, Version::Hybrid] {
        let lengths = [
            1,
            LEAF + 1,
            4 * MIB + 5 * LEAF + 3,
            8 * MIB - 1,
            8 * MIB + 1,
        ];
        let plan = plan(version, 8 * MIB, &lengths);
        check_roads(&plan, |n| n % 2 == 0);
    }
}

/// More pieces than a group has, several of them in the last group of a file, and files that share
/// a group with their neighbours.
#[test]
fn more_pieces_than_a_group() {
    for version in [Version::V2, Version::Hybrid] {
        let mut lengths = vec![LEAF * 300 + 5, LEAF * 200, 100];
        lengths.extend((0..200).map(|i| 1 + i * 131));
        let plan = plan(version, LEAF, &lengths);
        check_roads(&plan, |n| n % 97 == 0);
    }
}

#[test]
fn a_single_file() {
    for version in [Version::V2, Version::Hybrid] {
        for length in [1, LEAF - 1, LEAF, 3 * LEAF, 4 * LEAF, 9 * LEAF + 1] {
            let plan = PlannedTorrent::single_file(version, 4 * LEAF, noise(1, length));
            let fixture = check_roads(&plan, |_| true);
            fs::remove_file(fixture.content()).unwrap();
            let missing = "m".repeat(length.div_ceil(4 * LEAF));
            fixture.expect_files(&missing, &missing);
        }
    }
}

/// The tree of a file within one piece is only as high as its leaves require.
#[test]
fn a_piece_longer_than_the_content() {
    for version in [Version::V2, Version::Hybrid] {
        for piece_length in [16 * MIB, 1 << 30] {
            let plan = plan(version, piece_length, &[5, LEAF + 1, 9 * LEAF]);
            let plan = match version {
                // Padding would take gigabytes.
                Version::Hybrid => {
                    PlannedTorrent::single_file(version, piece_length, noise(1, 9 * LEAF))
                }
                _ => plan,
            };
            check_roads(&plan, |_| true);
        }
    }
}

/// [`metainfo_of_zeros`] builds one piece's tree, and must agree with the general plan.
#[test]
fn zeros_that_were_written() {
    for version in [Version::V2, Version::Hybrid] {
        for n_pieces in [2, 3, 5, 8] {
            let plan = PlannedTorrent::single_file(version, 2 * LEAF, vec![0; n_pieces * 2 * LEAF]);
            let metainfo = metainfo_of_zeros(version, n_pieces, 2 * LEAF);
            assert_eq!(metainfo, plan.metainfo());
            check_roads(&plan, |n| n % 2 == 0);
        }
    }
}
