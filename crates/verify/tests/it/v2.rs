//! States of pieces and files of version 2 torrents, by the content on disk.

use std::fs;

use hashlane_metainfo::Version;
use hashlane_verify::{FileReport, FileState};

use crate::fixture::{Fixture, file_of, noise};
use crate::plan::{LEAF, PlannedFile, PlannedTorrent};

const PIECE: usize = 4 * LEAF;

/// Files of one and several pieces, and an empty one. In the order of the torrent: `a` of four
/// pieces, `d/b` of a few bytes, `d/c` of a piece and a bit, `e` without bytes, `f` of two pieces.
fn plan() -> PlannedTorrent {
    PlannedTorrent::folder(Version::V2, PIECE)
        .file("a", noise(1, 3 * PIECE + 100))
        .file("d/b", noise(2, 100))
        .file("d/c", noise(3, PIECE + 2 * LEAF + 1))
        .file("e", Vec::new())
        .file("f", noise(5, 2 * PIECE))
}

#[test]
fn whole_content_is_had() {
    let fixture = Fixture::of(&plan());
    let report = fixture.expect_files("", "hhhh h hh hh");
    assert!(report.is_complete());
    assert!(report.pieces_v1().is_none());
    let length = |file: &PlannedFile| file.bytes.len() as u64;
    assert_eq!(
        report.have_bytes(),
        plan().files.iter().map(length).sum::<u64>()
    );
    for file in report.files() {
        assert_eq!(file.state, FileState::Whole);
        assert_eq!(report.counts_v1(file), None);
        assert_eq!(file.length_on_disk, Some(file.length));
    }
    let pieces = report.files().iter().map(|file| file.pieces.clone());
    assert!(pieces.eq([0..4, 4..5, 5..7, 0..0, 7..9]));
    assert_eq!(report.bitfield(), [0xff, 0x80]);
}

#[test]
fn absent_files_are_missing_and_no_other_ones() {
    let fixture = Fixture::of(&plan());
    fs::remove_dir_all(fixture.path("d")).unwrap();
    fs::remove_file(fixture.path("e")).unwrap();
    let report = fixture.expect_files("", "hhhh m mm hh");
    let states = report.files().iter().map(|file| file.state);
    let (whole, missing) = (FileState::Whole, FileState::Missing);
    assert!(states.eq([whole, missing, missing, missing, whole]));
    fs::remove_dir_all(fixture.content()).unwrap();
    fixture.expect_files("", "mmmm m mm mm");
}

#[test]
fn of_a_file_that_is_cut_off_the_pieces_before_the_cut_are_had() {
    let fixture = Fixture::of(&plan());
    let bytes = noise(1, 3 * PIECE + 100);
    for (len_bytes, states) in [
        (3 * PIECE + 99, "hhhm"),
        (3 * PIECE, "hhhm"),
        (3 * PIECE - 1, "hhmm"),
        (PIECE + LEAF, "hmmm"),
        (0, "mmmm"),
    ] {
        fixture.write("a", &bytes[..len_bytes]);
        let report = fixture.expect_files("", &format!("{states} h hh hh"));
        assert_eq!(file_of(&report, 0).state, FileState::Partial);
        assert_eq!(file_of(&report, 0).length_on_disk, Some(len_bytes as u64));
    }
}

#[test]
fn bytes_after_the_end_change_no_piece_and_are_counted() {
    let fixture = Fixture::of(&plan());
    // Extra bytes within the last leaf, and within the piece.
    fixture.write("a", &noise(1, 3 * PIECE + 101));
    fixture.write("d/b", &noise(2, LEAF + 100));
    fixture.write("e", &[0]);
    fixture.write("f", &noise(5, 5 * PIECE));
    let report = fixture.expect_files("", "hhhh h hh hh");
    let extra = report.files().iter().map(FileReport::extra_bytes);
    assert!(extra.eq([1, LEAF as u64, 0, 1, 3 * PIECE as u64]));
    assert!(report.is_complete());
}

#[test]
fn files_in_each_others_place_are_bad() {
    let fixture = Fixture::of(&plan());
    let swap = |a: &str, b: &str| {
        let [a, b] = [a, b].map(|path| fixture.path(path));
        let other = fixture.parent().join("other");
        fs::rename(&a, &other).unwrap();
        fs::rename(&b, &a).unwrap();
        fs::rename(&other, &b).unwrap();
    };
    swap("a", "f");
    fixture.expect_files("", "bbmm h hh bb");
    swap("a", "f");
    swap("d/b", "e");
    fixture.expect_files("", "hhhh m hh hh");
}

#[test]
fn pieces_in_each_others_place_are_bad() {
    let fixture = Fixture::of(&plan());
    let mut bytes = noise(1, 3 * PIECE + 100);
    bytes[..2 * PIECE].rotate_left(PIECE);
    fixture.write("a", &bytes);
    fixture.expect_files("", "bbhh h hh hh");
    // Swapped leaves within a piece.
    let mut bytes = noise(5, 2 * PIECE);
    bytes[PIECE..][..2 * LEAF].rotate_left(LEAF);
    fixture.write("f", &bytes);
    fixture.expect_files("", "bbhh h hh hb");
}

/// The root identifies a piece layer, and files with equal bytes share the root.
#[test]
fn files_of_the_same_bytes_are_judged_one_by_one() {
    let bytes = noise(1, 2 * PIECE + 5);
    let mut plan = PlannedTorrent::folder(Version::V2, PIECE);
    for path in ["a", "b", "c"] {
        plan = plan.file(path, bytes.clone());
    }
    let fixture = Fixture::of(&plan);
    assert!(fixture.expect_files("", "hhh hhh hhh").is_complete());
    plan.at("b").bytes[PIECE] ^= 1;
    fixture.restore(&plan);
    fs::remove_file(fixture.path("c")).unwrap();
    fixture.expect_files("", "hhh hbh mmm");
}

/// The first piece of a file and a file of one piece are hashed differently.
#[test]
fn the_same_bytes_in_files_of_one_piece_and_of_several() {
    for length in [LEAF, 2 * LEAF, 3 * LEAF, PIECE] {
        let bytes = noise(1, length);
        let plan = PlannedTorrent::folder(Version::V2, PIECE)
            .file("a", bytes.clone())
            .file("b", [noise(1, PIECE), bytes].concat());
        assert!(Fixture::of(&plan).verify().is_complete(), "{length}");
    }
}

#[test]
fn without_piece_layers_right_files_are_had() {
    let plan = plan().without_layers();
    let fixture = Fixture::of(&plan);
    assert!(fixture.expect_files("", "hhhh h hh hh").is_complete());
}

#[test]
fn without_piece_layers_a_wrong_file_is_unproven_as_a_whole() {
    let mut plan = plan().without_layers();
    let fixture = Fixture::of(&plan);
    plan.at("a").bytes[3 * PIECE + 99] ^= 1;
    fixture.restore(&plan);
    let report = fixture.expect_files("", "uuuu h hh hh");
    let a = file_of(&report, 0);
    assert_eq!(a.state, FileState::Partial);
    assert_eq!((a.counts.unproven, a.counts.have), (4, 0));
    assert_eq!(file_of(&report, 1).state, FileState::Whole);
    assert!(!report.is_complete());

    plan.at("f").bytes[0] ^= 1;
    fixture.restore(&plan);
    fixture.expect_files("", "uuuu h hh uu");

    // A file of one piece has a hash that detects the damage.
    plan.at("d/b").bytes[0] ^= 1;
    fixture.restore(&plan);
    fixture.expect_files("", "uuuu b hh uu");
}

#[test]
fn without_piece_layers_the_pieces_before_a_cut_are_unproven() {
    let fixture = Fixture::of(&plan().without_layers());
    fixture.write("a", &noise(1, 3 * PIECE - 1));
    fixture.expect_files("", "uumm h hh hh");
    fixture.write("d/b", &noise(2, 99));
    fixture.expect_files("", "uumm m hh hh");
    fixture.write("d/c", &noise(3, PIECE - 1));
    fixture.expect_files("", "uumm m mm hh");
    fs::remove_file(fixture.path("f")).unwrap();
    fixture.expect_files("", "uumm m mm mm");
}

#[test]
fn piece_layers_may_be_there_for_some_files_only() {
    let mut plan = plan().without_layer_of("a").without_layer_of("d/c");
    let fixture = Fixture::of(&plan);
    assert!(fixture.expect_files("", "hhhh h hh hh").is_complete());
    for path in ["a", "d/c", "f"] {
        plan.at(path).bytes[PIECE] ^= 1;
    }
    fixture.restore(&plan);
    fixture.expect_files("", "uuuu h uu hb");
}

/// Such a file has more pieces than a worker processes at a time.
#[test]
fn without_a_piece_layer_the_pieces_of_a_file_come_from_all_workers() {
    let plan = PlannedTorrent::folder(Version::V2, LEAF)
        .file("folder/a", noise(1, 1500 * LEAF + 1))
        .file("folder/b", noise(2, 3 * LEAF));
    let mut plan = plan.without_layers();
    let fixture = Fixture::of(&plan);
    fixture.expect_files("", &format!("{} hhh", "h".repeat(1501)));
    plan.at("folder/a").bytes[777 * LEAF] ^= 1;
    fixture.restore(&plan);
    fixture.expect_files("", &format!("{} hhh", "u".repeat(1501)));
}

/// A folder in the place of a file cannot be read.
#[test]
fn files_that_cannot_be_read() {
    for plan in [plan(), plan().without_layers()] {
        let fixture = Fixture::of(&plan);
        fs::remove_file(fixture.path("a")).unwrap();
        fs::create_dir(fixture.path("a")).unwrap();
        let report = fixture.expect_files("", "xxxx h hh hh");
        assert_eq!(file_of(&report, 0).state, FileState::Unreadable);
        assert!(file_of(&report, 0).error.is_some());
    }
}

/// Zeros in a file differ from the zeros that stand for absent leaves.
#[test]
fn a_file_that_ends_with_zeros() {
    for length in [LEAF + 1, 2 * LEAF, 3 * LEAF, 3 * LEAF + 5, PIECE + LEAF] {
        let mut bytes = noise(1, length);
        bytes[LEAF..].fill(0);
        let plan = PlannedTorrent::folder(Version::V2, PIECE).file("folder/a", bytes.clone());
        let fixture = Fixture::of(&plan);
        assert!(fixture.verify().is_complete(), "{length}");
        // A truncated file differs from one that ends with written zeros.
        fixture.write("folder/a", &bytes[..LEAF]);
        assert_eq!(fixture.verify().counts().have, 0, "{length}");
    }
}
