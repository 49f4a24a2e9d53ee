//! States of pieces and files of hybrid torrents. Each piece is checked twice, with the padding
//! around it and without.

use std::fs;

use hashlane_metainfo::Version;
use hashlane_verify::{
    CancelToken, Content, Error, FileState, HashVersions, Layout, Options, PieceState, verify,
};

use crate::fixture::{BOTH, Fixture, V1, V2, every_road, file_of, letters, letters_of, noise};
use crate::plan::{Entry, LEAF, PlannedTorrent};

const PIECE: usize = 4 * LEAF;

/// Files of one and several pieces, and an empty one: `a` of four pieces, `d/b` of a few bytes,
/// `d/c` of a piece and a bit, `e` without bytes, `f` of one and a half pieces.
fn plan() -> PlannedTorrent {
    PlannedTorrent::folder(Version::Hybrid, PIECE)
        .file("a", noise(1, 3 * PIECE + 100))
        .file("d/b", noise(2, 100))
        .file("d/c", noise(3, PIECE + 2 * LEAF + 1))
        .file("e", Vec::new())
        .file("f", noise(5, PIECE + PIECE / 2))
}

/// Returns the plan with and without padding after the last file.
fn plans() -> [PlannedTorrent; 2] {
    [plan(), plan().padded_to_the_end()]
}

#[test]
fn whole_content_is_had_with_padding_at_the_end_and_without() {
    for (plan, total) in plans().into_iter().zip([8 * PIECE + PIECE / 2, 9 * PIECE]) {
        let files: u64 = plan.files.iter().map(|file| file.bytes.len() as u64).sum();
        let fixture = Fixture::of(&plan);
        let report = fixture.expect_files("hhhh h hh hh", "hhhh h hh hh");
        assert!(report.is_complete());
        assert_eq!(report.checked_bytes(), total as u64);
        assert_eq!((report.have_bytes(), report.total_bytes()), (files, files));
        assert_eq!(report.bitfield(), [0xff, 0x80]);
        assert!(report.files().iter().all(|f| f.state == FileState::Whole));
        let report = fixture.verify_versions(V2, &Options::default());
        assert_eq!(report.have_bytes(), files);
    }
}

#[test]
fn padding_is_not_looked_for_on_the_disk() {
    for plan in plans() {
        let fixture = Fixture::of(&plan);
        let (entries, _) = plan.v1();
        let is_padding = |entry: &&Entry| entry.path.starts_with(".pad/");
        let paddings: Vec<&Entry> = entries.iter().filter(is_padding).collect();
        assert!(paddings.len() >= 3);
        for (i, padding) in paddings.into_iter().enumerate() {
            let path = fixture.path(&padding.path);
            if i == 0 {
                fs::create_dir_all(path).unwrap();
            } else if !path.exists() {
                fixture.write(&padding.path, b"rubbish");
            }
        }
        assert!(
            fixture
                .expect_files("hhhh h hh hh", "hhhh h hh hh")
                .is_complete()
        );
    }
}

#[test]
fn what_is_absent_or_cut_off_is_missing_to_both() {
    for plan in plans() {
        let fixture = Fixture::of(&plan);
        fs::remove_dir_all(fixture.path("d")).unwrap();
        fs::remove_file(fixture.path("e")).unwrap();
        let report = fixture.expect_files("hhhh m mm hh", "hhhh m mm hh");
        assert_eq!(file_of(&report, 0).state, FileState::Whole);
        fixture.restore(&plan);
        fixture.write("a", &noise(1, 3 * PIECE + 99));
        fixture.write("f", &noise(5, PIECE));
        fixture.expect_files("hhhm h hh hm", "hhhm h hh hm");
        fs::remove_dir_all(fixture.content()).unwrap();
        fixture.expect_files("mmmm m mm mm", "mmmm m mm mm");
    }
}

/// Bytes of a file beyond its end, where padding should be, belong to no piece.
#[test]
fn bytes_in_the_place_of_padding_change_nothing() {
    for plan in plans() {
        let fixture = Fixture::of(&plan);
        fixture.write("a", &noise(1, 4 * PIECE));
        fixture.write("f", &noise(5, PIECE + PIECE / 2 + 1));
        let report = fixture.expect_files("hhhh h hh hh", "hhhh h hh hh");
        assert_eq!(file_of(&report, 0).extra_bytes(), (PIECE - 100) as u64);
        assert!(report.is_complete());
    }
}

/// Returns a torrent whose versions describe different files, and both sets of files.
fn contradictory() -> (Vec<u8>, PlannedTorrent, PlannedTorrent) {
    let (v1, mut v2) = (plan(), plan());
    v2.at("a").bytes[PIECE] ^= 1;
    v2.at("d/b").bytes[99] ^= 1;
    v2.at("f").bytes[PIECE] ^= 1;
    (v1.metainfo_with_trees_of(&v2), v1, v2)
}

#[test]
fn what_only_one_of_both_hashes_takes_for_right_is_bad() {
    let (metainfo, v1, v2) = contradictory();
    for (content, states) in [
        (&v1, ["hhhhhhhhh", "hbhhbhhhb"]),
        (&v2, ["hbhhbhhhb", "hhhhhhhhh"]),
    ] {
        let fixture = Fixture::with_metainfo(content, metainfo.clone());
        let report = fixture.expect("hbhhbhhhb");
        let found = [report.pieces_v1(), report.pieces_v2()].map(Option::unwrap);
        assert_eq!(found.map(letters_of), states);
        assert!(!report.is_complete());
        let a = file_of(&report, 0);
        assert_eq!(a.state, FileState::Partial);
        assert_eq!(a.counts.bad, 1);
        let bad = [report.counts_v1(a), report.counts_v2(a)].map(|counts| counts.unwrap().bad);
        assert_eq!(
            bad,
            states.map(|states| u32::from(states.starts_with("hb")))
        );
        // Each version alone accepts its own files.
        for (versions, states) in [V1, V2].into_iter().zip(states) {
            let report = fixture.verify_versions(versions, &Options::default());
            assert_eq!(letters(&report), states);
            assert_eq!(report.is_complete(), !states.contains('b'));
        }
    }
}

#[test]
fn what_each_hash_says_is_kept_where_both_find_something_wrong() {
    let (metainfo, _, mut content) = contradictory();
    content.at("d/c").bytes[0] ^= 1;
    let fixture = Fixture::with_metainfo(&content, metainfo);
    fs::remove_file(fixture.path("f")).unwrap();
    fixture.expect("hbhhbbhmm");
    fixture.expect_files("hbhh b bh mm", "hhhh h bh mm");
}

#[test]
fn without_piece_layers_the_other_hash_tells_which_piece_it_is() {
    let mut plan = plan().without_layers();
    let fixture = Fixture::of(&plan);
    let all = "hhhh h hh hh";
    assert!(fixture.expect_files(all, all).is_complete());
    plan.at("a").bytes[PIECE] ^= 1;
    fixture.restore(&plan);
    fixture.expect_files("hbhh h hh hh", "uuuu h hh hh");
    let report = fixture.expect("ubuuhhhhh");
    assert_eq!((report.counts().unproven, report.counts().bad), (3, 1));
    // Truncated content, too.
    fixture.write("a", &plan.at("a").bytes[..2 * PIECE]);
    fixture.expect_files("hbmm h hh hh", "uumm h hh hh");
    fixture.expect("ubmmhhhhh");
}

#[test]
fn a_family_can_be_judged_alone() {
    let mut plan = plan();
    let fixture = Fixture::of(&plan);
    plan.at("d/c").bytes[PIECE] ^= 1;
    fixture.restore(&plan);
    for versions in [V1, V2] {
        for options in every_road() {
            let report = fixture.verify_versions(versions, &options);
            assert_eq!(letters(&report), "hhhhhhbhh");
            assert_eq!(report.hash_versions(), versions);
            let (v1, v2) = (report.pieces_v1(), report.pieces_v2());
            assert_eq!(v1.or(v2), Some(report.pieces()));
            assert!(v1.is_none() || v2.is_none());
            for file in report.files() {
                let (v1, v2) = (report.counts_v1(file), report.counts_v2(file));
                assert_eq!(v1.or(v2), Some(file.counts));
                assert_eq!((v1.is_some(), v2.is_some()), (versions.v1, versions.v2));
            }
        }
    }
}

#[test]
fn hashes_that_a_torrent_does_not_have_cannot_be_judged() {
    const NONE: HashVersions = HashVersions {
        v1: false,
        v2: false,
    };
    let of = |version| {
        let mut plan = plan();
        plan.version = version;
        Fixture::of(&plan)
    };
    for (version, versions, text) in [
        (
            Version::V1,
            V2,
            "the torrent is version 1 and has none of the requested hashes",
        ),
        (
            Version::V2,
            V1,
            "the torrent is version 2 and has none of the requested hashes",
        ),
        (
            Version::V1,
            NONE,
            "the torrent is version 1 and has none of the requested hashes",
        ),
        (
            Version::Hybrid,
            NONE,
            "the torrent is hybrid (version 1 and 2) and has none of the requested hashes",
        ),
    ] {
        let fixture = of(version);
        let torrent = fixture.torrent();
        assert_eq!(torrent.version(), version);
        let content = Content::in_folder(&torrent, fixture.parent()).unwrap();
        let (options, cancel) = (Options::default(), CancelToken::default());
        let error = verify(&content, versions, &options, &cancel, &mut |_| ()).unwrap_err();
        assert!(matches!(error, Error::NoSuchHashes { version: absent } if absent == version));
        assert_eq!(error.to_string(), text);
        // Versions that the torrent lacks are ignored.
        let report = verify(&content, BOTH, &options, &cancel, &mut |_| ()).unwrap();
        assert_eq!(report.hash_versions(), HashVersions::of(version));
        assert!(report.is_complete());
    }
}

/// Each file is a piece of mostly padding. There are more files than a worker keeps open.
#[test]
fn many_small_files() {
    let mut plan = PlannedTorrent::folder(Version::Hybrid, LEAF);
    for i in 0..500 {
        plan = plan.file(&format!("{}/{i}", i % 7), noise(i, i as usize * 7919 % 900));
    }
    let n_pieces = plan.files.iter().filter(|file| !file.bytes.is_empty());
    let n_pieces = n_pieces.count();
    let fixture = Fixture::of(&plan);
    assert!(fixture.expect(&"h".repeat(n_pieces)).is_complete());
    for path in ["3/3", "3/10", "6/496"] {
        plan.at(path).bytes[0] ^= 1;
    }
    fixture.restore(&plan);
    fs::remove_file(fixture.path("4/403")).unwrap();
    for options in every_road() {
        let report = fixture.verify_with(&options);
        let of = |state| {
            let files = report
                .files()
                .iter()
                .filter(|file| file.counts.of(state) > 0);
            files
                .map(|file| plan_path(&fixture, file.index.get()))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(PieceState::Bad), ["3/10", "3/3", "6/496"], "{options:?}");
        assert_eq!(of(PieceState::Missing), ["4/403"], "{options:?}");
        assert_eq!(report.counts().have as usize, n_pieces - 4);
    }
}

fn plan_path(fixture: &Fixture, position: usize) -> String {
    fixture.torrent().file(position).path().to_string()
}

/// Padding of version 1 may lie anywhere, and consists of zeros everywhere.
#[test]
fn padding_of_version_1_alone_and_padding_side_by_side() {
    let entries = [
        Entry::padding(30),
        Entry::padding(100),
        Entry::file("a", 50),
        Entry::padding(1),
        Entry::padding(119),
        Entry::file("b", 100),
    ];
    let fixture = Fixture::folder(&entries, 100);
    let torrent = fixture.torrent();
    let layout = Layout::new(&torrent, BOTH);
    let extents = layout.lengths().pieces().map(|piece| {
        let extents = layout.extents(piece).map(|extent| extent.len_bytes);
        extents.collect::<Vec<_>>()
    });
    let extents: Vec<_> = extents.collect();
    assert_eq!(extents, [vec![100], vec![30, 50, 20], vec![100], vec![100]]);
    fixture.expect("hhhh");
    fixture.write("a", &[1; 50]);
    fixture.expect("hbhh");
    fixture.write("a", &[0; 50]);
    fixture.expect("hmhh");
}

/// Progress covers exactly the versions that are checked.
#[test]
fn progress_ends_with_the_report() {
    for version in [Version::V2, Version::Hybrid] {
        for mut plan in [plan(), plan().padded_to_the_end(), plan().without_layers()] {
            plan.version = version;
            let fixture = Fixture::of(&plan);
            plan.at("a").bytes[PIECE] ^= 1;
            fixture.restore(&plan);
            fs::remove_file(fixture.path("d/c")).unwrap();
            let torrent = fixture.torrent();
            for versions in [V1, V2, BOTH].map(|some| some.and(HashVersions::of(version))) {
                if versions.is_empty() {
                    continue;
                }
                let total_bytes = Layout::new(&torrent, versions).total_bytes();
                for options in every_road() {
                    let mut seen = Vec::new();
                    let cancel = CancelToken::default();
                    let report = fixture.watch_versions(versions, &options, &cancel, |progress| {
                        seen.push(*progress);
                    });
                    let last = seen.last().expect("progress is reported at least once");
                    assert_eq!(last.counts, report.counts());
                    assert_eq!(last.hashed_bytes, report.checked_bytes());
                    assert_eq!(last.hashed_bytes, total_bytes);
                    for progress in &seen {
                        assert_eq!(progress.total_bytes, total_bytes);
                        assert!(progress.hashed_bytes <= total_bytes);
                        assert_eq!(progress.counts.total(), 9);
                    }
                }
            }
        }
    }
}
