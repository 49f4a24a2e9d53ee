//! Sparse files: unwritten parts are zeros, and need not be read.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use hashlane_metainfo::Version;

use crate::fixture::{
    Fixture, cached_bytes, every_road, every_way, file_of, letters, letters_by_file, noise,
};
use crate::not_run::not_run;
use crate::plan::{
    Entry, LEAF, PieceHash, PlannedTorrent, hash, metainfo_of_file, metainfo_of_folder,
    metainfo_of_zeros,
};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: u64 = 1 << 30;

/// Creates a file that is one hole. Without support for holes, reports this and returns `None`.
fn sparse_file(path: &Path, len_bytes: u64) -> Option<File> {
    let file = File::create_new(path).expect("the folder takes a file");
    file.set_len(MIB as u64).expect("the file can be short");
    if file.metadata().expect("it is open").blocks() > 0 {
        not_run(
            "verification of holes",
            "the file system keeps none",
            "set TMPDIR to a folder on ext4, XFS, Btrfs or tmpfs",
        );
        return None;
    }
    file.set_len(len_bytes).expect("the file can be long");
    Some(file)
}

#[test]
fn a_hole_of_100_gib_is_had_without_being_read() {
    let n_pieces = 400 * KIB;
    let zeros = hash(&vec![0; 256 * KIB]);
    let metainfo = metainfo_of_file(100 * GIB, 256 * KIB, &vec![zeros; n_pieces]);
    let fixture = Fixture::empty(metainfo);
    let Some(file) = sparse_file(&fixture.content(), 100 * GIB) else {
        return;
    };
    let report = fixture.verify();
    assert!(report.is_complete());
    assert_eq!(report.have_bytes(), 100 * GIB);
    assert_eq!(file.metadata().unwrap().blocks(), 0);
    assert_eq!(cached_bytes(&fixture.content()), 0, "pages were filled");
}

#[test]
fn a_hole_is_missing_where_the_bytes_should_not_be_zeros() {
    let zeros = hash(&vec![0; 256 * KIB]);
    let last_zeros = hash(&[0; 1000]);
    let other = hash(b"something else");
    let hashes = [zeros, other, other, zeros, last_zeros];
    let fixture = Fixture::empty(metainfo_of_file(MIB as u64 + 1000, 256 * KIB, &hashes));
    if sparse_file(&fixture.content(), MIB as u64 + 1000).is_some() {
        let report = fixture.expect("hmmhh");
        assert_eq!(file_of(&report, 0).zero_pieces, 2);
    }
    // A full piece of zeros has a different digest than the shorter last piece.
    let hashes = [zeros, zeros];
    let fixture = Fixture::empty(metainfo_of_file(
        256 * KIB as u64 + 1000,
        256 * KIB,
        &hashes,
    ));
    if sparse_file(&fixture.content(), 256 * KIB as u64 + 1000).is_some() {
        fixture.expect("hm");
    }
}

/// An interrupted download leaves zeros where pieces have not arrived. A piece with one other byte is bad.
#[test]
fn wrong_pieces_of_zeros_are_missing() {
    for version in [Version::V1, Version::V2, Version::Hybrid] {
        let plan = PlannedTorrent::folder(version, 4 * LEAF)
            .file("a", noise(1, 9 * LEAF + 5))
            .file("b", noise(2, 2 * LEAF));
        let fixture = Fixture::empty(plan.metainfo());
        let write = |name: &str, bytes: &[u8]| fixture.write(name, bytes);
        let mut a = vec![0; 9 * LEAF + 5];
        write("a", &a);
        write("b", &vec![0; 2 * LEAF]);
        // In version 1, both files have bytes of the third piece.
        let report = fixture.verify();
        let n = report.pieces().len();
        assert_eq!(letters(&report), "m".repeat(n), "{version:?}");
        assert_eq!(file_of(&report, 0).zero_pieces, 3, "{version:?}");
        a[4 * LEAF + 17] = 1;
        write("a", &a);
        let report = fixture.verify();
        assert_eq!(letters(&report)[..3], *"mbm", "{version:?}");
        assert_eq!(file_of(&report, 0).zero_pieces, 2, "{version:?}");
        // A file that is too short is missing its end anyway.
        write("a", &a[..8 * LEAF]);
        let report = fixture.verify();
        assert_eq!(letters(&report)[..3], *"mbm", "{version:?}");
        assert_eq!(file_of(&report, 0).zero_pieces, 0, "{version:?}");
    }
}

/// Returns a fixture of 16 pieces of 256 KiB with data in these ranges, its file and its bytes.
fn with_data(stretches: &[(usize, usize)]) -> Option<(Fixture, File, Vec<u8>)> {
    let mut bytes = vec![0; 4 * MIB];
    for &(start, len_bytes) in stretches {
        bytes[start..start + len_bytes].copy_from_slice(&noise(start as u64, len_bytes));
    }
    let hashes: Vec<PieceHash> = bytes.chunks(256 * KIB).map(hash).collect();
    let fixture = Fixture::empty(metainfo_of_file(4 * MIB as u64, 256 * KIB, &hashes));
    let file = sparse_file(&fixture.content(), 4 * MIB as u64)?;
    for &(start, len_bytes) in stretches {
        let data = &bytes[start..start + len_bytes];
        file.write_all_at(data, start as u64)
            .expect("the file takes bytes");
    }
    Some((fixture, file, bytes))
}

#[test]
fn data_between_holes_is_read() {
    // A piece of data; a piece of hole, data and hole; data across two pieces; data that ends with
    // a piece's last page; a few bytes at the very end.
    let stretches = [
        (256 * KIB, 256 * KIB),
        (3 * 256 * KIB + 100_000, 5000),
        (6 * 256 * KIB - 4096, 8192),
        (9 * 256 * KIB - 4096, 4096),
        (4 * MIB - 10, 10),
    ];
    let Some((fixture, file, bytes)) = with_data(&stretches) else {
        return;
    };
    assert!(fixture.expect("hhhhhhhhhhhhhhhh").is_complete());
    let flip = |position: usize| {
        let wrong = [bytes[position] ^ 1];
        file.write_all_at(&wrong, position as u64)
            .expect("the file takes a byte");
    };
    flip(256 * KIB);
    flip(3 * 256 * KIB + 104_999);
    flip(6 * 256 * KIB);
    flip(4 * MIB - 1);
    fixture.expect("hbhbhhbhhhhhhhhb");
    // Data in former holes: at the start, the end, and in the middle of a piece.
    flip(2 * 256 * KIB);
    flip(8 * 256 * KIB - 1);
    flip(11 * 256 * KIB + 77_777);
    fixture.expect("hbbbhhbbhhhbhhhb");
}

#[test]
fn zeros_that_were_written_are_zeros() {
    let Some((fixture, file, _)) = with_data(&[(0, 4096)]) else {
        return;
    };
    file.write_all_at(&vec![0; 2 * MIB], MIB as u64).unwrap();
    fixture.expect("hhhhhhhhhhhhhhhh");
}

#[test]
fn a_hole_ends_with_its_file() {
    let Some((fixture, file, _)) = with_data(&[(0, 4096)]) else {
        return;
    };
    file.set_len(2 * MIB as u64 - 1).unwrap();
    fixture.expect("hhhhhhhmmmmmmmmm");
    file.set_len(100 * MIB as u64).unwrap();
    assert_eq!(
        fixture.expect("hhhhhhhhhhhhhhhh").files()[0].extra_bytes(),
        96 * MIB as u64
    );
}

#[test]
fn a_piece_can_lie_in_holes_of_several_files_and_padding() {
    // The first piece: holes of `a` and `b`. The second: a hole of `b`, and padding. The third:
    // padding only. The fourth: data of `c`, and a hole of `d`.
    let entries = [
        Entry::file("a", 300_000),
        Entry::file("b", 1_000_000),
        Entry::padding(1_700_000),
        Entry::file("c", 500_000),
        Entry::file("d", 500_000),
    ];
    let data = noise(0, 500_000);
    let zeros = hash(&vec![0; 1_000_000]);
    let last = hash(&[&data[..], &vec![0; 500_000]].concat());
    let hashes = [zeros, zeros, zeros, last];
    let fixture = Fixture::empty(metainfo_of_folder(&entries, 1_000_000, &hashes));
    fixture.write("c", &data);
    for (name, len_bytes) in [("a", 300_000), ("b", 1_000_000), ("d", 500_000)] {
        if sparse_file(&fixture.path(name), len_bytes).is_none() {
            return;
        }
    }
    assert!(fixture.expect("hhhh").is_complete());
    let b = fs::OpenOptions::new()
        .write(true)
        .open(fixture.path("b"))
        .unwrap();
    b.write_all_at(&[1], 999_999).unwrap();
    fixture.expect("hbhh");
    b.write_all_at(&[1], 0).unwrap();
    fixture.expect("bbhh");
    fs::remove_file(fixture.path("d")).unwrap();
    fixture.expect("bbhm");
}

#[test]
fn data_beyond_4_gib_is_found_where_it_is() {
    const LENGTH: u64 = 6 * GIB + 12_345;
    // Data at 5 GiB, where offsets exceed 32 bits, and across a border of pieces.
    let zeros = hash(&vec![0; MIB]);
    let mut hashes = vec![zeros; (6 * GIB / MIB as u64) as usize];
    let data = noise(0, MIB);
    hashes[5 * KIB] = hash(&data);
    hashes[5 * KIB + 2] = hash(&[&vec![0; MIB - 5000], &data[..5000]].concat());
    hashes[5 * KIB + 3] = hash(&[&data[5000..10_000], &vec![0; MIB - 5000]].concat());
    hashes.push(hash(&[0; 12_345]));
    let fixture = Fixture::empty(metainfo_of_file(LENGTH, MIB, &hashes));
    let Some(file) = sparse_file(&fixture.content(), LENGTH) else {
        return;
    };
    file.write_all_at(&data, 5 * GIB).unwrap();
    file.write_all_at(&data[..10_000], 5 * GIB + 3 * MIB as u64 - 5000)
        .unwrap();
    for options in every_road() {
        assert!(fixture.verify_with(&options).is_complete(), "{options:?}");
    }

    file.write_all_at(&[0], 5 * GIB + 77).unwrap();
    file.write_all_at(&[1], GIB + 77).unwrap();
    for options in every_road() {
        let report = fixture.verify_with(&options);
        let wrong = (0..)
            .zip(report.pieces())
            .filter(|(_, s)| s.name() != "have");
        let wrong: Vec<_> = wrong.map(|(i, s)| (i, s.name())).collect();
        assert_eq!(wrong, [(KIB, "bad"), (5 * KIB, "bad")], "{options:?}");
    }
}

#[test]
fn a_hole_has_a_merkle_tree_without_being_read() {
    for version in [Version::V2, Version::Hybrid] {
        let n_pieces = 4 * 4 * KIB;
        let fixture = Fixture::empty(metainfo_of_zeros(version, n_pieces, 256 * KIB));
        let Some(file) = sparse_file(&fixture.content(), 4 * GIB) else {
            return;
        };
        let report = fixture.verify();
        assert!(report.is_complete());
        assert_eq!(report.have_bytes(), 4 * GIB);
        assert_eq!(cached_bytes(&fixture.content()), 0, "pages were filled");
        file.write_all_at(&[1], 3 * GIB)
            .expect("the file takes a byte");
        let bad = fixture.verify();
        let wrong = bad.pieces().iter().position(|s| s.name() == "bad");
        assert_eq!(wrong, Some(3 * 4 * KIB));
        assert_eq!(bad.counts().have as usize, n_pieces - 1);
    }
}

/// Returns files of zeros with lengths around each border, and some odd lengths.
fn plan_of_zeros(version: Version, piece_length: usize) -> PlannedTorrent {
    let mut lengths = vec![1, 3 * LEAF, 2 * piece_length + LEAF + 77, 7 * LEAF - 1];
    for border in [LEAF, piece_length, 3 * piece_length] {
        lengths.extend([border - 1, border, border + 1]);
    }
    let mut plan = PlannedTorrent::folder(version, piece_length);
    for (i, length) in lengths.into_iter().enumerate() {
        plan = plan.file(&format!("{i:02}"), vec![0; length]);
    }
    plan
}

/// Writes all files of a plan as holes. Returns `None` without support for holes.
fn hollow(plan: &PlannedTorrent) -> Option<Fixture> {
    let fixture = Fixture::empty(plan.metainfo());
    fs::create_dir(fixture.content()).expect("the folder takes a folder");
    for file in &plan.files {
        sparse_file(&fixture.path(&file.path), file.bytes.len() as u64)?;
    }
    Some(fixture)
}

/// Returns `letter` for each piece of each file.
fn all_of(plan: &PlannedTorrent, letter: &str) -> String {
    let pieces = plan.files.iter().map(|file| {
        let n_pieces = file.bytes.len().div_ceil(plan.piece_length);
        letter.repeat(n_pieces)
    });
    pieces.collect::<Vec<_>>().join(" ")
}

#[test]
fn holes_of_any_length_have_merkle_trees() {
    for version in [Version::V2, Version::Hybrid] {
        for piece_length in [LEAF, 4 * LEAF, MIB] {
            let mut plan = plan_of_zeros(version, piece_length);
            let Some(fixture) = hollow(&plan) else { return };
            let all = all_of(&plan, "h");
            assert!(fixture.expect_files(&all, &all).is_complete());
            // Written zeros give the same result.
            fixture.restore(&plan);
            assert!(fixture.verify().is_complete());

            // If other content is expected, each hole is missing.
            for file in &mut plan.files {
                let pieces = file.bytes.chunks_mut(piece_length);
                pieces.for_each(|piece| *piece.last_mut().expect("it has bytes") = 1);
            }
            let fixture = hollow(&plan).expect("there were holes before");
            fixture.expect(&all_of(&plan, "m").replace(' ', ""));
        }
    }
}

#[test]
fn holes_before_padding_at_the_end_and_without_piece_layers() {
    let plan = plan_of_zeros(Version::Hybrid, 4 * LEAF);
    for plan in [plan.clone().padded_to_the_end(), plan.without_layers()] {
        let Some(fixture) = hollow(&plan) else { return };
        let all = all_of(&plan, "h");
        assert!(fixture.expect_files(&all, &all).is_complete());
    }
}

#[test]
fn every_backend_knows_the_tree_of_zeros() {
    for version in [Version::V2, Version::Hybrid] {
        let plan = plan_of_zeros(version, 4 * LEAF);
        let Some(fixture) = hollow(&plan) else { return };
        for (backend, options) in every_way() {
            let report = fixture.verify_with(&options);
            assert!(report.is_complete(), "{backend} {options:?}");
        }
    }
}

#[test]
fn data_between_holes_is_read_for_both_versions() {
    const PIECE: usize = 16 * LEAF;
    for version in [Version::V2, Version::Hybrid] {
        // A hole; data at its end; data in the middle; a hole; and a last hole of odd length.
        let mut bytes = vec![0; 4 * PIECE + 3 * LEAF + 77];
        bytes[2 * PIECE - 10..2 * PIECE].fill(1);
        bytes[2 * PIECE + 100_000..][..5000].fill(2);
        let plan = PlannedTorrent::folder(version, PIECE)
            .file("a", bytes)
            .file("b", vec![0; LEAF + 1]);
        let Some(fixture) = hollow(&plan) else { return };
        fixture.expect_files("hmmhh h", "hmmhh h");
        let a = File::options().write(true).open(fixture.path("a")).unwrap();
        a.write_all_at(&[1; 10], 2 * PIECE as u64 - 10).unwrap();
        a.write_all_at(&[2; 5000], 2 * PIECE as u64 + 100_000)
            .unwrap();
        assert!(fixture.expect_files("hhhhh h", "hhhhh h").is_complete());
        // One hole ends too early, and one is too long.
        let b = File::options().write(true).open(fixture.path("b")).unwrap();
        a.set_len(4 * PIECE as u64 + 3 * LEAF as u64).unwrap();
        b.set_len(MIB as u64).unwrap();
        let report = fixture.expect_files("hhhhm h", "hhhhm h");
        assert_eq!(letters_by_file(&report, report.pieces()), "hhhhm h");
    }
}
