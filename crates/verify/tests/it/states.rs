//! States of pieces and files, by the content on disk.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use hashlane_metainfo::{PieceIndex, Version};
use hashlane_verify::{CancelToken, Content, FileState, Options, PieceState, Verification, verify};
use proptest::prelude::*;

use crate::fixture::{BOTH, Fixture, every_way, file_of, letters, noise};
use crate::plan::{Entry, LEAF, PlannedTorrent, hashes, metainfo_of_folder};

/// Each state is announced before the end, and the last one of a piece is that of the report.
#[test]
fn states_are_announced_while_content_is_verified() {
    for version in [Version::V1, Version::V2, Version::Hybrid] {
        let plan = PlannedTorrent::folder(version, LEAF)
            .file("a", noise(1, 3 * LEAF))
            .file("b", noise(2, LEAF));
        let fixture = Fixture::of(&plan);
        let mut wrong = noise(1, 3 * LEAF);
        wrong[LEAF] ^= 1;
        fixture.write("a", &wrong);
        fs::remove_file(fixture.path("b")).expect("the file exists");
        let content =
            Content::in_folder(&fixture.torrent(), fixture.parent()).expect("the name is ASCII");
        let seen = Mutex::new(vec![PieceState::Unchecked; 4]);
        let watch = |piece: PieceIndex, state| {
            seen.lock().expect("no panic")[piece.get() as usize] = state;
        };
        let is_trusted = |piece: PieceIndex| piece.get() == 0;
        let verification = Verification::new(&content).trust(&is_trusted);
        let report = verification.watch(&watch).run(|progress| {
            let known = seen.lock().expect("no panic");
            let known = known
                .iter()
                .filter(|state| **state != PieceState::Unchecked);
            assert_eq!(known.count(), 4 - progress.counts.unchecked as usize);
        });
        assert_eq!(
            letters(&report.expect("it can be done")),
            "hbhm",
            "{version:?}"
        );
        let expected = [
            PieceState::Have,
            PieceState::Bad,
            PieceState::Have,
            PieceState::Missing,
        ];
        assert_eq!(
            seen.into_inner().expect("no panic"),
            expected,
            "{version:?}"
        );
    }
}

#[test]
fn whole_content_is_had() {
    let single = Fixture::file(&noise(1, 100_000), 16 << 10);
    let report = single.expect("hhhhhhh");
    assert!(report.is_complete());
    assert_eq!(report.have_bytes(), 100_000);
    let folder = Fixture::folder(
        &[
            Entry::file("a", 70_000),
            Entry::file("b/c/d", 3),
            Entry::file("b/e", 29_997),
        ],
        16 << 10,
    );
    let report = folder.expect("hhhhhhh");
    assert!(report.is_complete());
    assert!(!report.is_cancelled());
    for file in report.files() {
        assert_eq!(file.state, FileState::Whole);
        assert_eq!(file.length_on_disk, Some(file.length));
        assert_eq!(file.extra_bytes(), 0);
        assert!(file.error.is_none());
    }
    assert_eq!(file_of(&report, 1).pieces, 4..5);
}

/// The lengths of a folder's files, at least one of them nonzero, and a piece length.
fn any_folder() -> impl Strategy<Value = (Vec<u64>, usize)> {
    let length = prop_oneof![1 => Just(0), 3 => 1..300_u64, 3 => 1..30_000_u64];
    let files = proptest::collection::vec(length, 1..6);
    let piece_length = prop_oneof![
        40..300_usize,
        300..40_000_usize,
        Just(4096_usize),
        Just(16_384_usize),
    ];
    (files, piece_length).prop_filter("there is content", |(files, _)| {
        files.iter().sum::<u64>() > 0
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn one_wrong_byte_makes_its_piece_bad_and_no_other_one(
        (lengths, piece_length) in any_folder(),
        byte in any::<prop::sample::Index>(),
        wrong in 1..=255_u8,
    ) {
        let entries: Vec<Entry> = lengths
            .iter()
            .enumerate()
            .map(|(i, &length)| Entry::file(&format!("folder/{i}"), length))
            .collect();
        let fixture = Fixture::folder(&entries, piece_length);

        let total: u64 = lengths.iter().sum();
        let position = byte.index(total as usize) as u64;
        let (mut file, mut offset) = (0, position);
        while offset >= lengths[file] {
            offset -= lengths[file];
            file += 1;
        }
        let path = fixture.path(&format!("folder/{file}"));
        let mut bytes = fs::read(&path)?;
        bytes[offset as usize] ^= wrong;
        fs::write(&path, bytes)?;

        let bad = position / piece_length as u64;
        let n_pieces = total.div_ceil(piece_length as u64);
        let expected: String = (0..n_pieces).map(|i| if i == bad { 'b' } else { 'h' }).collect();
        for (backend, options) in every_way() {
            let report = fixture.verify_with(&options);
            prop_assert_eq!(
                letters(&report), &expected[..],
                "{}, {:?}, {:?} threads", backend, options.io, options.threads
            );
            for report in report.files() {
                let has_it = report.pieces.contains(&(bad as u32));
                let state = if has_it { FileState::Partial } else { FileState::Whole };
                prop_assert_eq!(report.state, state);
            }
        }
    }
}

#[test]
fn a_piece_of_several_files_is_missing_if_one_is_absent() {
    // Pieces of 100 bytes: `a` | `a` `b` `c` | `c`.
    let fixture = Fixture::folder(
        &[
            Entry::file("a", 150),
            Entry::file("b", 20),
            Entry::file("c", 130),
        ],
        100,
    );
    fs::remove_file(fixture.path("b")).unwrap();
    let report = fixture.expect("hmh");
    assert_eq!(file_of(&report, 0).state, FileState::Partial);
    let absent = file_of(&report, 1);
    assert_eq!(absent.state, FileState::Missing);
    assert_eq!(absent.length_on_disk, None);
    assert_eq!(absent.extra_bytes(), 0);
    assert!(absent.error.is_none(), "that a file is absent is no error");
    assert_eq!(file_of(&report, 2).state, FileState::Partial);
    assert_eq!(file_of(&report, 2).length_on_disk, Some(130));
    assert!(!report.is_complete());

    fs::remove_file(fixture.path("a")).unwrap();
    let report = fixture.expect("mmh");
    assert_eq!(file_of(&report, 0).state, FileState::Missing);
}

#[test]
fn a_file_behind_an_absent_one_is_looked_at_all_the_same() {
    // All files are in one piece, whose state depends on `a`.
    let fixture = Fixture::folder(
        &[
            Entry::file("a", 10),
            Entry::file("b", 10),
            Entry::file("c", 10),
            Entry::file("d", 10),
        ],
        100,
    );
    fs::remove_file(fixture.path("a")).unwrap();
    fs::remove_file(fixture.path("d")).unwrap();
    let report = fixture.expect("m");
    let states: Vec<FileState> = report.files().iter().map(|file| file.state).collect();
    let (missing, partial) = (FileState::Missing, FileState::Partial);
    assert_eq!(states, [missing, partial, partial, missing]);
}

#[test]
fn of_a_file_that_is_cut_off_the_pieces_before_the_cut_are_had() {
    let bytes = noise(1, 100_000);
    let fixture = Fixture::file(&bytes, 16 << 10);
    for (len_bytes, states) in [
        (99_999, "hhhhhhm"),
        (98_304, "hhhhhhm"),
        (98_303, "hhhhhmm"),
        (40_000, "hhmmmmm"),
        (16_384, "hmmmmmm"),
        (16_383, "mmmmmmm"),
        (0, "mmmmmmm"),
    ] {
        fs::write(fixture.content(), &bytes[..len_bytes]).unwrap();
        let report = fixture.expect(states);
        let file = file_of(&report, 0);
        assert_eq!(file.state, FileState::Partial);
        assert_eq!(file.length_on_disk, Some(len_bytes as u64));
    }
}

#[test]
fn a_cut_inside_a_piece_of_several_files_makes_it_missing() {
    let fixture = Fixture::folder(&[Entry::file("a", 150), Entry::file("b", 150)], 100);
    fixture.write("a", &noise(0, 149));
    fixture.expect("hmh");
    fixture.write("a", &noise(0, 99));
    fixture.expect("mmh");
}

#[test]
fn bytes_after_the_end_change_no_piece_and_are_counted() {
    let single = Fixture::file(&noise(1, 100_000), 16 << 10);
    fs::write(single.content(), noise(1, 123_456)).unwrap();
    let report = single.expect("hhhhhhh");
    assert_eq!(file_of(&report, 0).extra_bytes(), 23_456);
    assert_eq!(file_of(&report, 0).state, FileState::Whole);
    assert!(report.is_complete());

    let folder = Fixture::folder(&[Entry::file("a", 150), Entry::file("b", 150)], 100);
    folder.write("a", &noise(0, 151));
    let report = folder.expect("hhh");
    assert_eq!(file_of(&report, 0).extra_bytes(), 1);
    assert_eq!(file_of(&report, 1).extra_bytes(), 0);
}

#[test]
fn padding_is_zeros_and_needs_no_file() {
    // The second piece is half `b` and half padding; the third piece is all padding.
    let fixture = Fixture::folder(
        &[
            Entry::file("a", 60_000),
            Entry::padding(40_000),
            Entry::file("b", 50_000),
            Entry::padding(150_000),
            Entry::file("c", 1000),
        ],
        100_000,
    );
    let report = fixture.expect("hhhh");
    assert!(report.is_complete());
    let files: Vec<usize> = report.files().iter().map(|file| file.index.get()).collect();
    assert_eq!(files, [0, 2, 4]);

    // A file on disk with the name of the padding is ignored.
    fixture.write(".pad/40000", b"rubbish");
    fs::create_dir(fixture.path(".pad/150000")).unwrap();
    assert!(fixture.expect("hhhh").is_complete());

    // Padding does not excuse the rest of its piece.
    fixture.write("a", &noise(7, 60_000));
    fs::remove_file(fixture.path("b")).unwrap();
    fixture.expect("bmhh");
}

#[test]
fn padding_that_should_not_be_zeros_is_bad() {
    let content = noise(0, 300);
    let entries = [Entry::file("a", 100), Entry::padding(200)];
    let fixture = Fixture::empty(metainfo_of_folder(&entries, 100, &hashes(&content, 100)));
    fixture.write("a", &content[..100]);
    fixture.expect("hbb");
}

/// Buffers are reused; old bytes must not show through.
#[test]
fn padding_is_zeros_after_other_bytes_were_read() {
    let entries: Vec<Entry> = (0..200)
        .flat_map(|i| [Entry::file(&i.to_string(), 5000), Entry::padding(11_384)])
        .collect();
    let fixture = Fixture::folder(&entries, 16 << 10);
    assert!(fixture.expect(&"h".repeat(200)).is_complete());
    // The reverse case: files in the former place of padding.
    let entries: Vec<Entry> = (0..200)
        .flat_map(|i| {
            [
                Entry::padding(1 + i * 37),
                Entry::file(&i.to_string(), 9000),
            ]
        })
        .collect();
    let n_pieces = (0..200_u64)
        .map(|i| 9001 + i * 37)
        .sum::<u64>()
        .div_ceil(10_000);
    let fixture = Fixture::folder(&entries, 10_000);
    fixture.expect(&"h".repeat(n_pieces as usize));
}

#[test]
fn an_empty_file_has_no_piece_and_has_to_be_there() {
    let fixture = Fixture::folder(
        &[
            Entry::file("first", 0),
            Entry::file("a", 100),
            Entry::file("between", 0),
            Entry::file("b", 100),
            Entry::file("folder/last", 0),
        ],
        100,
    );
    let report = fixture.expect("hh");
    assert!(report.is_complete());
    assert!(file_of(&report, 2).pieces.is_empty());
    assert_eq!(file_of(&report, 2).state, FileState::Whole);

    fs::remove_file(fixture.path("between")).unwrap();
    fs::remove_dir_all(fixture.path("folder")).unwrap();
    let report = fixture.expect("hh");
    assert_eq!(file_of(&report, 0).state, FileState::Whole);
    assert_eq!(file_of(&report, 2).state, FileState::Missing);
    assert_eq!(file_of(&report, 4).state, FileState::Missing);
    assert!(!report.is_complete());

    // Bytes in a file that should be empty.
    fixture.write("between", b"some");
    let report = fixture.expect("hh");
    assert_eq!(file_of(&report, 2).state, FileState::Whole);
    assert_eq!(file_of(&report, 2).extra_bytes(), 4);
}

#[test]
fn below_a_file_there_is_nothing() {
    let fixture = Fixture::folder(
        &[Entry::file("a", 100), Entry::file("folder/file/b", 100)],
        100,
    );
    fs::remove_dir_all(fixture.path("folder/file")).unwrap();
    fixture.write("folder/file", b"not a folder");
    let report = fixture.expect("hm");
    assert_eq!(file_of(&report, 1).state, FileState::Missing);
    assert!(file_of(&report, 1).error.is_none());
}

#[test]
fn without_a_folder_everything_is_missing() {
    let fixture = Fixture::folder(
        &[
            Entry::file("a", 150),
            Entry::padding(50),
            Entry::file("b", 0),
            Entry::padding(100),
            Entry::file("c/d", 100),
        ],
        100,
    );
    fs::remove_dir_all(fixture.content()).unwrap();
    // The third piece is padding, which is always present.
    let report = fixture.expect("mmhm");
    for file in report.files() {
        assert_eq!(file.state, FileState::Missing);
    }
    // A file in the place of the folder.
    fs::write(fixture.content(), b"not a folder").unwrap();
    fixture.expect("mmhm");

    let fixture = Fixture::file(&noise(1, 1000), 300);
    fs::remove_file(fixture.content()).unwrap();
    let report = fixture.expect("mmmm");
    assert_eq!(file_of(&report, 0).state, FileState::Missing);
    fs::remove_dir(fixture.parent()).unwrap();
    fixture.expect("mmmm");
}

#[test]
fn the_bitfield_starts_with_the_highest_bit_and_ends_with_zeros() {
    let bytes = noise(1, 1850);
    let fixture = Fixture::file(&bytes, 100);
    assert_eq!(fixture.verify().bitfield(), [0xff, 0xff, 0b1110_0000]);
    let mut broken = bytes.clone();
    for piece in [1, 7, 8, 18] {
        broken[piece * 100] ^= 1;
    }
    fs::write(fixture.content(), &broken).unwrap();
    let bitfield = fixture.expect("hbhhhhhbbhhhhhhhhhb").bitfield();
    assert_eq!(bitfield, [0b1011_1110, 0b0111_1111, 0b1100_0000]);
    fs::write(fixture.content(), &bytes[..100]).unwrap();
    assert_eq!(fixture.verify().bitfield(), [0b1000_0000, 0, 0]);
}

#[test]
fn content_can_have_another_name() {
    let at = |fixture: &Fixture, root: &Path| {
        let torrent = fixture.torrent();
        let content = Content::at(&torrent, root).unwrap();
        let cancel = CancelToken::default();
        let report = verify(&content, BOTH, &Options::default(), &cancel, &mut |_| ());
        letters(&report.unwrap())
    };
    let single = Fixture::file(&noise(1, 1000), 300);
    let other = single.parent().join("another name");
    fs::rename(single.content(), &other).unwrap();
    assert_eq!(at(&single, &other), "hhhh");
    single.expect("mmmm");
    // The file is in a folder of the same name.
    fs::rename(&other, single.content()).unwrap();
    assert_eq!(at(&single, single.parent()), "hhhh");

    let folder = Fixture::folder(&[Entry::file("a", 150), Entry::file("b/c", 150)], 100);
    let other = folder.parent().join("another name");
    fs::rename(folder.content(), &other).unwrap();
    assert_eq!(at(&folder, &other), "hhh");
    folder.expect("mmm");
    let torrent = folder.torrent();
    let error = Content::at(&torrent, other.join("a")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotADirectory);
}

/// Version 2 cannot distinguish such a folder from a file.
#[test]
fn a_folder_of_one_file_can_be_either() {
    let plan = PlannedTorrent::folder(Version::V2, LEAF).file("inner", noise(1, 3 * LEAF + 7));
    let fixture = Fixture::of(&plan);
    let torrent = fixture.torrent();
    assert!(torrent.is_single_file());
    let name = torrent.possible_folder().map(|name| name.to_string());
    assert_eq!(name.as_deref(), Some("content"));
    fixture.expect("hhhh");
    // The layout of programs that take the torrent for a single file.
    fs::rename(
        fixture.content().join("inner"),
        fixture.parent().join("inner"),
    )
    .unwrap();
    fixture.expect("hhhh");
}

#[test]
fn paths_lead_where_the_torrent_says() {
    let folder = Fixture::folder(&[Entry::file("a", 1), Entry::file("b/c/d", 1)], 1);
    let torrent = folder.torrent();
    let content = Content::in_folder(&torrent, folder.parent()).unwrap();
    assert_eq!(content.root(), folder.content());
    let report = folder.verify();
    let paths = report
        .files()
        .iter()
        .map(|file| content.path_of(file.index));
    let paths: Vec<_> = paths.map(Result::unwrap).collect();
    assert_eq!(paths, [folder.path("a"), folder.path("b/c/d")]);
}

#[test]
fn progress_ends_with_the_report() {
    let fixture = Fixture::file(&noise(1, 3_000_000), 16 << 10);
    let mut bytes = fs::read(fixture.content()).unwrap();
    bytes[1_000_000] ^= 1;
    fs::write(fixture.content(), &bytes[..2_500_000]).unwrap();
    for (_, options) in every_way() {
        let seen = RefCell::new(Vec::new());
        let report = fixture.watch(&options, &CancelToken::default(), |progress| {
            seen.borrow_mut().push(*progress);
        });
        let seen = seen.into_inner();
        let last = seen.last().expect("progress is reported at least once");
        assert_eq!(last.counts, report.counts());
        assert_eq!(last.hashed_bytes, report.checked_bytes());
        assert_eq!(last.counts.of(PieceState::Bad), 1);
        assert!(
            seen.iter()
                .all(|progress| progress.total_bytes == 3_000_000)
        );
        assert!(seen.is_sorted_by_key(|progress| progress.counts.have));
        assert!(
            seen.iter()
                .all(|progress| progress.hashed_bytes <= progress.total_bytes)
        );
        let totals = seen.iter().map(|progress| progress.counts.total());
        assert!(totals.into_iter().all(|total| total == 184));
    }
}
