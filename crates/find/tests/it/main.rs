//! Searches in trees whose files are known.
#![allow(missing_docs, clippy::unwrap_used)]

mod duplicates;
mod nearby;
mod random;
#[cfg(unix)]
mod table;

use std::collections::HashMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use hashlane_find::{Candidates, FileMatch, Findings, LinkKind, Undecided, assemble, find, link};
use hashlane_metainfo::{NewContent, NewMetadata, Torrent, Version};
use hashlane_pipeline::{CancelToken, Options};
use hashlane_verify::{Choice, Selection, SourceTree, Verification, hash_source_tree};
use proptest::prelude::*;

use random::Random;

const PIECE: usize = 16 << 10;
const VERSIONS: [Version; 3] = [Version::V1, Version::V2, Version::Hybrid];

/// Returns bytes that differ for each seed.
fn noise(seed: u64, len_bytes: usize) -> Vec<u8> {
    Random::new(seed).bytes(len_bytes)
}

/// Returns a torrent of the files below a folder, with its name.
fn torrent_of(folder: &Path, version: Version) -> Torrent {
    torrent_in_pieces(folder, version, PIECE as u32)
}

fn torrent_in_pieces(folder: &Path, version: Version, piece_len: u32) -> Torrent {
    let everything = Selection::new(&|_| Choice::Take);
    let tree = SourceTree::find(folder, &everything, false).unwrap();
    let name = folder.file_name().unwrap().as_encoded_bytes().to_vec();
    let single = tree.is_single_file();
    let content = NewContent::new(version, piece_len, name, single, tree.files()).unwrap();
    let (options, cancel) = (Options::default(), CancelToken::default());
    let hashes = hash_source_tree(&tree, &content, &options, &cancel, &mut |_| ()).unwrap();
    Torrent::parse(content.write(&hashes, &NewMetadata::default())).unwrap()
}

/// A folder `content` with files, and a folder `disk` where they may lie.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(files: &[(&str, Vec<u8>)]) -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(place.disk()).unwrap();
        for (path, bytes) in files {
            place.write(&format!("content/{path}"), bytes);
        }
        place
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn content(&self) -> PathBuf {
        self.folder.path().join("content")
    }

    fn disk(&self) -> PathBuf {
        self.folder.path().join("disk")
    }

    fn torrent(&self, version: Version) -> Torrent {
        torrent_of(&self.content(), version)
    }

    fn search(&self, torrents: &[&Torrent]) -> (Candidates, Findings) {
        let cancel = CancelToken::default();
        let candidates =
            Candidates::collect(torrents.iter().copied(), &[self.disk()], &cancel, |_| ());
        let findings = find(
            torrents,
            &candidates,
            &Options::default(),
            &cancel,
            &mut |_| (),
        )
        .unwrap();
        (candidates, findings)
    }
}

fn path_of(torrent: &Torrent, index: usize) -> String {
    torrent.file(index).path().to_string()
}

/// Whether the torrent is complete where its files were found.
fn is_complete(torrent: &Torrent, candidates: &Candidates, findings: &Findings) -> bool {
    let files = findings.torrents[0].as_files(candidates);
    Verification::of(torrent, &files)
        .run(|_| ())
        .unwrap()
        .is_complete()
}

#[test]
fn every_renamed_file_is_found_by_one_piece() {
    for version in VERSIONS {
        let lens = [5 * PIECE, 3 * PIECE + 7, 2 * PIECE, 9 * PIECE + 1];
        let files: Vec<(String, Vec<u8>)> = lens
            .iter()
            .enumerate()
            .map(|(i, len)| (format!("f/{i}"), noise(i as u64, *len)))
            .collect();
        let files: Vec<(&str, Vec<u8>)> = files
            .iter()
            .map(|(path, bytes)| (path.as_str(), bytes.clone()))
            .collect();
        let place = Place::new(&files);
        for (i, (_, bytes)) in files.iter().enumerate() {
            place.write(&format!("disk/{}/other {}", i % 2, 9 - i), bytes);
        }
        // Files of other lengths are no candidates.
        place.write("disk/unrelated", &noise(99, 12345));
        let torrent = place.torrent(version);
        let (candidates, findings) = place.search(&[&torrent]);
        let found = &findings.torrents[0];
        assert!(found.is_identified(), "{version}: {found:?}");
        assert_eq!((candidates.len(), candidates.seen()), (4, 5));
        assert_eq!(findings.hashed_pieces, 4, "{version}");
        assert_eq!(found.right_pieces, 4);
        assert_eq!(found.content(&torrent, &candidates), None);
        assert!(is_complete(&torrent, &candidates, &findings));
    }
}

#[test]
fn small_files_are_found_by_the_pieces_that_they_share() {
    let small = |seed| noise(seed, 300);
    let files = [
        ("a", noise(1, PIECE + 50)),
        ("b", small(2)),
        ("c", small(3)),
        ("d", small(4)),
        ("e", noise(5, 2 * PIECE)),
    ];
    let place = Place::new(&files);
    for (name, (_, bytes)) in ["4", "2", "1", "3", "0"].iter().zip(&files) {
        place.write(&format!("disk/{name}"), bytes);
    }
    // Has the length of the small files.
    place.write("disk/decoy", &small(6));
    for version in VERSIONS {
        let torrent = place.torrent(version);
        let (candidates, findings) = place.search(&[&torrent]);
        assert!(
            findings.torrents[0].is_identified(),
            "{version}: {findings:?}"
        );
        assert!(is_complete(&torrent, &candidates, &findings));
    }
}

#[test]
fn a_file_beside_a_missing_one_is_not_guessed() {
    let files = [
        ("a", noise(1, 3 * PIECE)),
        ("b", noise(2, 100)),
        ("c", noise(3, 200)),
    ];
    let place = Place::new(&files);
    place.write("disk/a", &files[0].1);
    place.write("disk/b", &files[1].1);
    let torrent = place.torrent(Version::V1);
    let (_, findings) = place.search(&[&torrent]);
    let found = &findings.torrents[0];
    let FileMatch::Undecided(Undecided::Neighbour(neighbour)) = &found.files[1] else {
        panic!("{found:?}");
    };
    assert_eq!(path_of(&torrent, neighbour.get()), "c");
    assert_eq!(found.files[2], FileMatch::Missing);
    assert!(!found.is_identified());
    assert_eq!(found.missing_bytes(&torrent), 300);
    // With version 2, each file has a root of its own.
    let torrent = place.torrent(Version::V2);
    let (_, findings) = place.search(&[&torrent]);
    assert!(
        matches!(findings.torrents[0].files[1], FileMatch::Identified(_)),
        "{findings:?}"
    );
}

#[test]
fn a_damaged_file_is_partial_and_another_file_is_wrong() {
    for version in VERSIONS {
        let place = Place::new(&[("a", noise(1, 20 * PIECE)), ("b", noise(2, 4 * PIECE))]);
        let mut damaged = noise(1, 20 * PIECE);
        // The middle of the file is what is compared first.
        damaged[10 * PIECE..11 * PIECE].fill(7);
        place.write("disk/x", &damaged);
        place.write("disk/y", &noise(3, 4 * PIECE));
        let torrent = place.torrent(version);
        let (candidates, findings) = place.search(&[&torrent]);
        let found = &findings.torrents[0];
        let FileMatch::Partial {
            candidate,
            right: 7,
            checked: 8,
        } = found.files[0]
        else {
            panic!("{version}: {found:?}");
        };
        assert!(candidates.path(candidate).ends_with("disk/x"));
        let second = found
            .files
            .iter()
            .rfind(|file| **file != FileMatch::NotSearched);
        assert_eq!(second, Some(&FileMatch::Wrong { candidates: 1 }));
        assert!(!is_complete(&torrent, &candidates, &findings));
    }
}

/// Nothing says which of the files of a piece is the one that is not there.
#[test]
fn a_file_beside_a_doubtful_one_is_not_called_wrong() {
    let place = Place::new(&[
        ("a", noise(1, 20_000)),
        ("b", noise(2, 20_000)),
        ("c", noise(3, 500)),
    ]);
    place.write("disk/1", &noise(1, 20_000));
    place.write("disk/3", &noise(3, 500));
    let torrent = place.torrent(Version::V1);
    let (_, findings) = place.search(&[&torrent]);
    let files = &findings.torrents[0].files;
    assert!(matches!(files[0], FileMatch::Identified(_)), "{files:?}");
    let shared = FileMatch::Undecided(Undecided::Shared);
    assert_eq!(files[1..], [shared.clone(), shared]);
}

/// All files have the same bytes in their middle, which is compared first.
#[test]
fn further_pieces_tell_files_of_the_same_middle_apart() {
    let file = |seed| {
        [
            noise(seed, 4 * PIECE),
            noise(9, 4 * PIECE),
            noise(seed + 10, 4 * PIECE),
        ]
        .concat()
    };
    let place = Place::new(&[("a", file(1)), ("b", file(2)), ("c", file(3))]);
    for (name, seed) in [("1", 3), ("2", 2), ("3", 1)] {
        place.write(&format!("disk/{name}"), &file(seed));
    }
    for version in VERSIONS {
        let torrent = place.torrent(version);
        let (candidates, findings) = place.search(&[&torrent]);
        assert!(
            is_complete(&torrent, &candidates, &findings),
            "{version}: {findings:?}"
        );
        // One of the copies is damaged, so the other one is used.
        let mut damaged = file(1);
        damaged[0] ^= 1;
        place.write("disk/0", &damaged);
        let (candidates, findings) = place.search(&[&torrent]);
        assert!(
            is_complete(&torrent, &candidates, &findings),
            "{version}: {findings:?}"
        );
        fs::remove_file(place.disk().join("0")).unwrap();
    }
}

/// Every hole has pieces of zeros.
#[test]
fn zeros_identify_nothing_if_a_file_has_other_bytes() {
    let bytes = [noise(1, 4 * PIECE), vec![0; 4 * PIECE], noise(2, 3 * PIECE)].concat();
    let place = Place::new(&[("a", bytes.clone())]);
    place.write("disk/hole", &vec![0; bytes.len()]);
    for version in VERSIONS {
        let torrent = place.torrent(version);
        let (candidates, findings) = place.search(&[&torrent]);
        let found = &findings.torrents[0].files[0];
        assert!(!found.is_found(), "{version}: {found:?}");
        place.write("disk/whole", &bytes);
        let (whole, findings) = place.search(&[&torrent]);
        assert!(is_complete(&torrent, &whole, &findings), "{version}");
        fs::remove_file(place.disk().join("whole")).unwrap();
        drop(candidates);
    }
}

/// A magnet link gives no piece layers.
#[test]
fn a_single_hash_for_a_file_decides_nothing() {
    let place = Place::new(&[("a", noise(1, 3 * PIECE))]);
    place.write("disk/x", &noise(1, 3 * PIECE));
    let torrent = place.torrent(Version::V2);
    let bare = [b"d4:info", torrent.info_bytes(), b"e"].concat();
    let torrent = Torrent::parse(bare).unwrap();
    let (_, findings) = place.search(&[&torrent]);
    let expected = FileMatch::Undecided(Undecided::WholeFileHash);
    assert_eq!(findings.torrents[0].files, [expected]);
}

#[test]
fn a_file_with_the_right_path_is_preferred_among_copies() {
    let place = Place::new(&[("sub/a", noise(1, 2 * PIECE)), ("sub/empty", Vec::new())]);
    place.write("disk/0", &noise(1, 2 * PIECE));
    place.write("disk/content/sub/a", &noise(1, 2 * PIECE));
    place.write("disk/a/a", &noise(1, 2 * PIECE));
    let torrent = place.torrent(Version::V1);
    let (candidates, findings) = place.search(&[&torrent]);
    let FileMatch::Identified(at) = &findings.torrents[0].files[0] else {
        panic!("{findings:?}");
    };
    assert!(candidates.path(at.candidate).ends_with("content/sub/a"));
    assert_eq!(at.others.len(), 2);
    assert_eq!(findings.torrents[0].files[1], FileMatch::Empty);
    let content = findings.torrents[0].content(&torrent, &candidates);
    assert_eq!(content, Some(place.disk().join("content")));
}

#[test]
fn a_file_is_compared_with_a_limited_number_of_candidates() {
    let place = Place::new(&[("a", noise(1, PIECE))]);
    for seed in 0..1100 {
        place.write(&format!("disk/{seed}"), &noise(1000 + seed, PIECE));
    }
    let torrent = place.torrent(Version::V1);
    let (_, findings) = place.search(&[&torrent]);
    assert_eq!(
        findings.torrents[0].files[0],
        FileMatch::Undecided(Undecided::TooMany)
    );
    assert_eq!(findings.hashed_pieces, 1024);
    // By its name it is found at once.
    place.write("disk/z/a", &noise(1, PIECE));
    let (_, findings) = place.search(&[&torrent]);
    assert!(findings.torrents[0].is_identified());
    assert_eq!(findings.hashed_pieces, 64);
}

/// Each piece has halves of two files, and 144 combinations, but only 12 as soon as one of the files is found.
#[test]
fn a_file_that_is_found_spares_combinations_of_its_neighbours() {
    let mut files = vec![("anchor".to_owned(), noise(1, PIECE + PIECE / 2))];
    files.extend((0..12).map(|number| (format!("small{number:02}"), noise(100 + number, PIECE))));
    let named: Vec<(&str, Vec<u8>)> = files
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.clone()))
        .collect();
    let place = Place::new(&named);
    for (number, (_, bytes)) in files.iter().enumerate() {
        place.write(&format!("disk/{number}"), bytes);
    }
    let (_, findings) = place.search(&[&place.torrent(Version::V1)]);
    assert!(findings.torrents[0].is_identified());
    // The pieces of the anchor and of the last file's end lie in one file. The other twelve have 12 combinations each at most.
    assert!(
        findings.hashed_pieces <= 1 + 12 + 12 * 12,
        "{}",
        findings.hashed_pieces
    );
}

/// A torrent can ask for hundreds of combinations of long pieces.
#[test]
fn combinations_of_small_files_are_limited_by_their_bytes() {
    const LEN: usize = 900 << 10;
    let of = |seed: u8| {
        let mut bytes = vec![0; LEN];
        bytes[0] = seed;
        bytes
    };
    let place = Place::new(&[("a", of(1)), ("b", of(2)), ("c", of(3)), ("d", of(4))]);
    for seed in 1..=4 {
        place.write(&format!("disk/{seed}"), &of(seed));
    }
    // 256 combinations of 3.5 MiB are more than 256 MiB and 16 times the content.
    let torrent = torrent_in_pieces(&place.content(), Version::V1, 4 << 20);
    let (_, findings) = place.search(&[&torrent]);
    let too_many = FileMatch::Undecided(Undecided::TooMany);
    assert_eq!(findings.torrents[0].files, vec![too_many; 4]);
    assert_eq!(findings.hashed_pieces, 0);
    // 81 combinations are not.
    fs::remove_file(place.disk().join("4")).unwrap();
    fs::write(place.content().join("d"), of(3)).unwrap();
    let torrent = torrent_in_pieces(&place.content(), Version::V1, 4 << 20);
    let (_, findings) = place.search(&[&torrent]);
    assert!(findings.torrents[0].is_identified());
    assert_eq!(findings.hashed_pieces, 81);
}

#[cfg(unix)]
#[test]
fn several_names_of_a_file_are_one_candidate() {
    let place = Place::new(&[("a", noise(1, PIECE))]);
    place.write("disk/one", &noise(1, PIECE));
    fs::hard_link(place.disk().join("one"), place.disk().join("two")).unwrap();
    std::os::unix::fs::symlink(place.disk().join("one"), place.disk().join("three")).unwrap();
    let torrent = place.torrent(Version::V1);
    assert_eq!(place.search(&[&torrent]).0.len(), 1);
}

#[cfg(unix)]
#[test]
fn links_make_the_names_of_the_torrent_and_replace_nothing() {
    use std::os::unix::fs::MetadataExt as _;
    let files = [
        ("sub/a", noise(1, 2 * PIECE)),
        ("sub/b", noise(2, PIECE)),
        ("c", noise(3, PIECE)),
        ("empty", Vec::new()),
    ];
    let place = Place::new(&files);
    place.write("disk/1", &files[0].1);
    place.write("disk/2", &files[1].1);
    let torrent = place.torrent(Version::V1);
    let (candidates, findings) = place.search(&[&torrent]);
    let found = &findings.torrents[0];
    for (kind, name) in [(LinkKind::Symlink, "sym"), (LinkKind::Hardlink, "hard")] {
        let to = place.folder.path().join(name);
        place.write(&format!("{name}/content/sub/b"), b"something else");
        let linked = link(&torrent, found, &candidates, &to, kind).unwrap();
        let mut made: Vec<(String, Option<bool>)> = linked
            .iter()
            .map(|file| {
                (
                    path_of(&torrent, file.file.get()),
                    file.result.as_ref().ok().copied(),
                )
            })
            .collect();
        made.sort();
        let expected = [
            ("empty", Some(true)),
            ("sub/a", Some(true)),
            ("sub/b", None),
        ];
        assert_eq!(made, expected.map(|(path, made)| (path.to_owned(), made)));
        assert_eq!(fs::read(to.join("content/sub/a")).unwrap(), files[0].1);
        assert_eq!(
            fs::read(to.join("content/sub/b")).unwrap(),
            b"something else"
        );
        assert!(!to.join("content/c").exists());
        let id = |path: PathBuf| path.metadata().unwrap().ino();
        assert_eq!(id(to.join("content/sub/a")), id(place.disk().join("1")));
        // The same again makes nothing.
        let again = link(&torrent, found, &candidates, &to, kind).unwrap();
        assert!(again.iter().all(|file| !matches!(file.result, Ok(true))));
    }
    // A link among the folders could lead anywhere.
    let to = place.folder.path().join("trap");
    fs::create_dir_all(to.join("content")).unwrap();
    std::os::unix::fs::symlink(place.disk(), to.join("content/sub")).unwrap();
    let linked = link(&torrent, found, &candidates, &to, LinkKind::Hardlink).unwrap();
    assert_eq!(linked.iter().filter(|file| file.result.is_err()).count(), 2);
    assert!(!place.disk().join("a").exists());
}

/// The combinations of short files that are tried, as in `search.rs`.
const MAX_COMBINATIONS: usize = 256;

/// Files of random lengths, some of them equal, and what became of each on the disk.
fn any_tree() -> impl Strategy<Value = Vec<(usize, Fate)>> {
    let len = prop_oneof![
        2 => Just(0), 3 => 1_usize..2000, 3 => 1_usize..(4 * PIECE), 2 => Just(700), 2 => Just(2 * PIECE + 5), 1 => Just(PIECE),
    ];
    let fate = prop_oneof![6 => Just(Fate::Renamed), 1 => Just(Fate::Lost), 1 => Just(Fate::Damaged), 1 => Just(Fate::Copied)];
    proptest::collection::vec((len, fate), 1..12)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Renamed,
    Lost,
    /// All of its bytes are other ones.
    Damaged,
    Copied,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// No file is found where its bytes are not, and each intact file is found if its torrent has version 2, or no file
    /// of the torrent is lost and the combinations are not too many.
    #[test]
    fn random_trees(tree in any_tree(), version in prop::sample::select(VERSIONS.to_vec()), seed in any::<u64>()) {
        prop_assume!(tree.iter().any(|(len, _)| *len > 0));
        let bytes_of = |i: usize, len: usize| noise(seed ^ (i as u64 + 1), len);
        let names: Vec<String> = (0..tree.len()).map(|i| format!("{i:02}")).collect();
        let files: Vec<(&str, Vec<u8>)> =
            names.iter().zip(&tree).enumerate().map(|(i, (name, (len, _)))| (name.as_str(), bytes_of(i, *len))).collect();
        let place = Place::new(&files);
        for (i, (_, bytes)) in files.iter().enumerate() {
            let at = (i * 7 + seed as usize % 5) % 97;
            match tree[i].1 {
                Fate::Renamed => place.write(&format!("disk/{at}/x"), bytes),
                Fate::Lost => {}
                Fate::Damaged => place.write(&format!("disk/{at}/x"), &noise(!seed ^ i as u64, bytes.len())),
                Fate::Copied => {
                    place.write(&format!("disk/{at}/x"), bytes);
                    place.write(&format!("disk/{at}/y"), bytes);
                }
            }
        }
        let torrent = place.torrent(version);
        let (candidates, findings) = place.search(&[&torrent]);
        let found = &findings.torrents[0];
        // Files without a piece of their own are found by trying all combinations, unless these are too many.
        let candidates_of = |len: usize| -> usize {
            let of_len = tree.iter().filter(|(other, _)| *other == len);
            of_len.map(|(_, fate)| match fate { Fate::Lost => 0, Fate::Copied => 2, _ => 1 }).sum()
        };
        let short = tree.iter().filter(|(len, _)| (1..2 * PIECE).contains(len));
        let n_combinations = short.fold(1_usize, |n, (len, _)| n.saturating_mul(candidates_of(*len)));
        let is_whole = n_combinations <= MAX_COMBINATIONS
            && tree.iter().all(|(_, fate)| matches!(fate, Fate::Renamed | Fate::Copied));
        prop_assert!(!is_whole || found.is_identified(), "{:?}", found);
        prop_assert!(!is_whole || is_complete(&torrent, &candidates, &findings));
        let indexes: HashMap<String, usize> = (0..found.files.len()).map(|i| (path_of(&torrent, i), i)).collect();
        for (i, (name, bytes)) in files.iter().enumerate() {
            let result = &found.files[indexes[*name]];
            if bytes.is_empty() {
                prop_assert_eq!(result, &FileMatch::Empty);
                continue;
            }
            let is_intact = matches!(tree[i].1, Fate::Renamed | Fate::Copied);
            if let FileMatch::Identified(at) = result {
                let mut all = std::iter::once(at.candidate).chain(at.others.iter().copied());
                let has_bytes = |candidate: u32| fs::read(candidates.path(candidate)).unwrap() == *bytes;
                prop_assert!(is_intact && all.any(has_bytes), "{} is wrong: {:?}", name, result);
            }
            let is_decidable = version != Version::V1 || is_whole || bytes.len() >= 2 * PIECE;
            prop_assert!(!is_intact || !is_decidable || matches!(result, FileMatch::Identified(_)), "{} {:?}", name, result);
        }
    }
}

/// Compares all pieces of the damaged files with all candidates.
fn assembled<'t>(
    torrent: &'t Torrent,
    damaged: &[usize],
    candidates: &Candidates,
    findings: &Findings,
) -> hashlane_find::Assembly<'t> {
    let files = damaged
        .iter()
        .map(|file| hashlane_pipeline::FileIndex::new(*file));
    assemble(
        torrent,
        &findings.torrents[0],
        files,
        candidates,
        &Options::default(),
        &CancelToken::default(),
        &mut |_| (),
    )
    .unwrap()
}

/// Returns noise with some of its pieces overwritten.
fn damaged(seed: u64, len: usize, pieces: &[usize]) -> Vec<u8> {
    let mut bytes = noise(seed, len);
    for piece in pieces {
        bytes[piece * PIECE + 5] ^= 1;
    }
    bytes
}

#[test]
fn the_copy_with_the_most_right_pieces_is_used() {
    for version in VERSIONS {
        let place = Place::new(&[("a", noise(1, 20 * PIECE)), ("b", noise(2, 300))]);
        // Only the second copy is whole; the samples of the search do not show it.
        place.write("disk/1", &damaged(1, 20 * PIECE, &[4, 6, 8]));
        place.write("disk/2", &damaged(1, 20 * PIECE, &[4]));
        place.write("disk/b", &noise(2, 300));
        let torrent = place.torrent(version);
        let (candidates, mut findings) = place.search(&[&torrent]);
        let assembly = assembled(&torrent, &[0], &candidates, &findings);
        let first = findings.torrents[0].files[0].candidate().unwrap();
        let is_first = candidates.path(first).ends_with("1");
        assert_eq!(assembly.improve(&mut findings.torrents[0]), is_first);
        let best = findings.torrents[0].files[0].candidate().unwrap();
        assert!(candidates.path(best).ends_with("2"), "{version}");
    }
}

#[test]
fn damaged_copies_are_merged_into_a_new_file() {
    for version in VERSIONS {
        let len = 20 * PIECE + 100;
        let place = Place::new(&[("a", noise(1, len)), ("b", noise(2, 300))]);
        let copies = [
            damaged(1, len, &[0, 9, 20]),
            damaged(1, len, &[3, 9]),
            damaged(1, len, &[0, 3, 11]),
        ];
        for (number, copy) in copies.iter().enumerate() {
            place.write(&format!("disk/{number}"), copy);
        }
        place.write("disk/b", &noise(2, 300));
        let torrent = place.torrent(version);
        let to = place.folder.path().join("to");
        let cancel = CancelToken::default();
        let merge = |is_whole: bool| {
            let (mut candidates, mut findings) = place.search(&[&torrent]);
            let assembly = assembled(&torrent, &[0], &candidates, &findings);
            let found = &mut findings.torrents[0];
            let file = hashlane_pipeline::FileIndex::new(0);
            let merged = assembly.merge(file, found, &mut candidates, &to, &cancel);
            let merged = merged.map(Option::unwrap);
            if merged.is_ok() {
                assert_eq!(is_complete(&torrent, &candidates, &findings), is_whole);
            }
            merged
        };
        let merged = merge(true).unwrap();
        assert_eq!(
            (merged.missing_pieces, merged.unproven_bytes),
            (0, 0),
            "{version}"
        );
        let new = to.join("content/a");
        assert!(fs::read(&new).unwrap() == noise(1, len));
        // No copy changes, and nothing is replaced.
        let error = merge(true).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
        for (number, copy) in copies.iter().enumerate() {
            assert!(fs::read(place.disk().join(number.to_string())).unwrap() == *copy);
        }
        fs::remove_file(&new).unwrap();
        // What no copy has is counted.
        place.write("disk/2", &damaged(1, len, &[0, 3, 9, 11]));
        let merged = merge(false).unwrap();
        assert_eq!(
            (merged.missing_pieces, merged.unproven_bytes),
            (1, PIECE as u64)
        );
        let now = fs::read(&new).unwrap();
        let wrong = |range: std::ops::Range<usize>| now[range.clone()] != noise(1, len)[range];
        assert!(wrong(9 * PIECE..10 * PIECE));
        assert!(!wrong(0..9 * PIECE) && !wrong(10 * PIECE..len));
        // A merge that is cancelled leaves no file.
        fs::remove_file(&new).unwrap();
        let (mut candidates, mut findings) = place.search(&[&torrent]);
        let assembly = assembled(&torrent, &[0], &candidates, &findings);
        cancel.cancel();
        let file = hashlane_pipeline::FileIndex::new(0);
        let found = &mut findings.torrents[0];
        let merged = assembly.merge(file, found, &mut candidates, &to, &cancel);
        assert_eq!(merged.unwrap_err().kind(), std::io::ErrorKind::Interrupted);
        assert!(!new.exists());
    }
}

#[test]
fn one_damaged_copy_is_not_merged() {
    let place = Place::new(&[("a", noise(1, 20 * PIECE))]);
    place.write("disk/1", &damaged(1, 20 * PIECE, &[4]));
    let torrent = place.torrent(Version::V1);
    let (mut candidates, mut findings) = place.search(&[&torrent]);
    let assembly = assembled(&torrent, &[0], &candidates, &findings);
    let found = &mut findings.torrents[0];
    let to = place.folder.path().join("to");
    let file = hashlane_pipeline::FileIndex::new(0);
    assert!(
        assembly
            .merge(file, found, &mut candidates, &to, &CancelToken::default())
            .unwrap()
            .is_none()
    );
    assert!(!to.exists());
}

/// Padding between two files of a piece takes no candidate.
#[test]
fn padding_within_a_piece_is_no_file() {
    let place = Place::new(&[]);
    let (a, b) = (noise(1, 300), noise(2, 500));
    place.write("disk/x", &a);
    place.write("disk/y", &b);
    let piece = [&a[..], &[0; 212], &b].concat();
    let hash: [u8; 20] = hashlane_sha::digest::<hashlane_sha::Sha1>(&piece).into();
    let files = "d6:lengthi300e4:pathl1:aeed4:attr1:p6:lengthi212e4:pathl4:.pad3:212eed6:lengthi500e4:pathl1:bee";
    let head = format!("d4:infod5:filesl{files}e4:name1:n12:piece lengthi16384e6:pieces20:");
    let torrent = Torrent::parse([head.as_bytes(), &hash, b"ee"].concat()).unwrap();
    let (_, findings) = place.search(&[&torrent]);
    assert!(findings.torrents[0].is_identified(), "{findings:?}");
}

#[test]
fn a_folder_that_is_given_twice_counts_once() {
    let place = Place::new(&[("a", noise(1, 300))]);
    place.write("disk/sub/a", &noise(1, 300));
    let torrent = place.torrent(Version::V1);
    let disk = place.disk();
    let folders = [disk.join("sub"), disk.clone(), disk.join("../disk"), disk];
    let cancel = CancelToken::default();
    let candidates = Candidates::collect([&torrent], &folders, &cancel, |_| ());
    assert_eq!((candidates.seen(), candidates.len()), (1, 1));
}

#[test]
fn a_longer_file_of_the_name_is_known() {
    let place = Place::new(&[("f/a", noise(1, 300)), ("f/b", noise(2, 300))]);
    place.write("disk/a", &noise(1, 301));
    place.write("disk/b", &noise(2, 299));
    let torrent = place.torrent(Version::V1);
    let (candidates, _) = place.search(&[&torrent]);
    let longer = |file| candidates.longer(torrent.file(file));
    assert_eq!(longer(0), Some((place.disk().join("a").as_path(), 301)));
    assert_eq!(longer(1), None);
}

/// The threads of the search end, and the panic reaches the caller.
#[test]
fn a_panic_of_the_progress_ends_the_search() {
    let bytes = noise(1, 3 << 20);
    let place = Place::new(&[("a", bytes.clone())]);
    place.write("disk/x", &bytes);
    let torrent = torrent_of(&place.content(), Version::V1);
    let (options, cancel) = (Options::default(), CancelToken::default());
    let folders = [place.disk()];
    let candidates = Candidates::collect([&torrent], &folders, &cancel, |_| ());
    let run = || {
        find(&[&torrent], &candidates, &options, &cancel, &mut |_| {
            panic!("as a test")
        })
    };
    let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"as a test"));
    assert!(!cancel.is_cancelled(), "the caller's token is unchanged");
}
