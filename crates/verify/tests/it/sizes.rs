//! Pieces and files of small, large and odd lengths.

use std::fs;

use crate::fixture::{Fixture, every_way, letters, noise};
use crate::plan::{Entry, hash, metainfo_of_file};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Flips a byte of a file.
fn damage(path: &std::path::Path, position: usize) {
    let mut bytes = fs::read(path).expect("it is there");
    bytes[position] ^= 0x80;
    fs::write(path, bytes).expect("it can be written");
}

/// Returns the states of `n_pieces` pieces where only these are bad.
fn all_but(n_pieces: usize, bad: &[usize]) -> String {
    let letter = |piece| if bad.contains(&piece) { 'b' } else { 'h' };
    (0..n_pieces).map(letter).collect()
}

#[test]
fn pieces_of_16_kib() {
    // More pieces than a group has, and a short last piece.
    let fixture = Fixture::file(&noise(1, 6 * MIB + 100), 16 * KIB);
    fixture.expect(&all_but(385, &[]));
    for piece in [0, 15, 16, 255, 256, 383] {
        damage(&fixture.content(), piece * 16 * KIB + 777);
    }
    damage(&fixture.content(), 6 * MIB + 99);
    for (backend, options) in every_way() {
        let report = fixture.verify_with(&options);
        let bad = [0, 15, 16, 255, 256, 383, 384];
        assert_eq!(
            letters(&report),
            all_but(385, &bad),
            "{backend} {options:?}"
        );
    }
}

#[test]
fn pieces_of_1_mib_in_several_files() {
    let entries = [
        Entry::file("a", 1 << 20),
        Entry::file("b", (2 << 20) + 1),
        Entry::file("c", (1 << 20) - 1),
        Entry::file("d", 5),
        Entry::file("e", (3 << 20) - 6),
    ];
    let fixture = Fixture::folder(&entries, MIB);
    fixture.expect("hhhhhhh");
    // The last byte of `b` is the first byte of the fourth piece.
    damage(&fixture.path("b"), 2 * MIB);
    damage(&fixture.path("e"), MIB - 5);
    fixture.expect("hhhbhbh");
    damage(&fixture.path("a"), MIB - 1);
    damage(&fixture.path("d"), 4);
    fixture.expect("bhhbbbh");
}

/// This length is not a multiple of windows, pages or SHA-1 blocks.
#[test]
fn pieces_of_300_001_bytes() {
    let fixture = Fixture::file(&noise(1, 20 * 300_001 + 7), 300_001);
    fixture.expect(&all_but(21, &[]));
    damage(&fixture.content(), 300_000);
    damage(&fixture.content(), 5 * 300_001);
    // On both sides of a window's border, if windows are 256 KiB.
    damage(&fixture.content(), 7 * 300_001 + 256 * KIB - 1);
    damage(&fixture.content(), 9 * 300_001 + 256 * KIB);
    damage(&fixture.content(), 20 * 300_001);
    for (backend, options) in every_way() {
        let report = fixture.verify_with(&options);
        let bad = [0, 5, 7, 9, 20];
        assert_eq!(letters(&report), all_but(21, &bad), "{backend} {options:?}");
    }
}

#[test]
fn a_piece_longer_than_the_content() {
    let fixture = Fixture::file(&noise(1, 5 * MIB + 5), 256 * MIB);
    fixture.expect("h");
    damage(&fixture.content(), 5 * MIB + 4);
    fixture.expect("b");
    let fixture = Fixture::folder(&[Entry::file("a", 1), Entry::file("b", 100_000)], 16 * MIB);
    fixture.expect("h");
    damage(&fixture.path("a"), 0);
    fixture.expect("b");
    let fixture = Fixture::file(b"x", i32::MAX as usize);
    fixture.expect("h");
}

#[test]
fn pieces_of_32_mib() {
    // Long enough that each window belongs to one piece, with different bytes in each window.
    let blocks: Vec<Vec<u8>> = (0..7).map(|seed| noise(seed, MIB)).collect();
    let content: Vec<u8> = (0..70).flat_map(|i| &blocks[i % 7]).copied().collect();
    let hashes: Vec<_> = content.chunks(32 * MIB).map(hash).collect();
    let fixture = Fixture::empty(metainfo_of_file(content.len() as u64, 32 * MIB, &hashes));
    fs::write(fixture.content(), &content).unwrap();
    fixture.expect("hhh");
    damage(&fixture.content(), 33 * MIB);
    fixture.expect("hbh");
    damage(&fixture.content(), 70 * MIB - 1);
    fixture.expect("hbb");
}

#[test]
fn pieces_of_one_byte() {
    let fixture = Fixture::file(&noise(1, 5000), 1);
    fixture.expect(&all_but(5000, &[]));
    for position in [0, 1023, 1024, 4999] {
        damage(&fixture.content(), position);
    }
    for (backend, options) in every_way() {
        let report = fixture.verify_with(&options);
        let expected = all_but(5000, &[0, 1023, 1024, 4999]);
        assert!(letters(&report) == expected, "{backend} {options:?}");
    }
    let fixture = Fixture::folder(&[Entry::file("a", 1), Entry::file("b", 2)], 1);
    fixture.expect("hhh");
    damage(&fixture.path("b"), 0);
    fixture.expect("hbh");
}

/// More files than a worker keeps open, several in each piece and in its neighbours.
#[test]
fn many_small_files() {
    let name = |i: u64| format!("{}/{i}", i % 7);
    let length = |i: u64| i * 7919 % 900;
    let entries: Vec<Entry> = (0..1000)
        .map(|i| Entry::file(&name(i), length(i)))
        .collect();
    let total: u64 = (0..1000).map(length).sum();
    let n_pieces = total.div_ceil(5000) as usize;
    let fixture = Fixture::folder(&entries, 5000);
    assert!(fixture.expect(&all_but(n_pieces, &[])).is_complete());
    let before: u64 = (0..500).map(length).sum();
    fs::remove_file(fixture.path(&name(500))).unwrap();
    let report = fixture.verify();
    let missing = report
        .pieces()
        .iter()
        .position(|state| state.name() == "missing");
    assert_eq!(missing, Some((before / 5000) as usize));
}

/// Files that begin and end inside pages, each with many whole pieces.
#[test]
fn pieces_that_lie_across_pages() {
    let entries = [
        Entry::file("a", 1_000_001),
        Entry::file("b", 1_000_003),
        Entry::file("c", 2_000_000),
    ];
    let fixture = Fixture::folder(&entries, 10_007);
    let n_pieces = 4_000_004_usize.div_ceil(10_007);
    assert!(fixture.expect(&all_but(n_pieces, &[])).is_complete());
    damage(&fixture.path("b"), 500_000);
    damage(&fixture.path("c"), 1_999_999);
    let bad = [1_500_001 / 10_007, n_pieces - 1];
    fixture.expect(&all_but(n_pieces, &bad));
}
