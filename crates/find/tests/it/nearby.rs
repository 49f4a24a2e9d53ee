//! Missing content near its place.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::thread;

use hashlane_find::{Elsewhere, SearchBudget, Surroundings};
use hashlane_metainfo::{Torrent, Version};
use hashlane_pipeline::{CancelToken, Options};
use hashlane_verify::{Content, files_of};

use crate::{PIECE, Place, VERSIONS, noise, torrent_in_pieces};

/// Returns the files of a torrent that are not in a folder.
fn missing(content: &Content) -> Vec<hashlane_verify::FileIndex> {
    let files = files_of(content.torrent()).map(|(file, _)| file);
    files
        .filter(|file| !content.path_of(*file).unwrap().exists())
        .collect()
}

/// Searches for the content of a torrent that is missing in the folder `content`.
fn search(surroundings: &mut Surroundings, place: &Place, torrent: &Torrent) -> Elsewhere {
    let content = Content::at(torrent, place.content()).unwrap();
    let (options, cancel) = (Options::default(), CancelToken::default());
    surroundings.find(&content, missing(&content), &options, &cancel)
}

/// Returns the names under which files were found, in the order of the files.
fn names(elsewhere: &Elsewhere) -> Vec<(usize, String)> {
    let files = elsewhere.files();
    let names = files.map(|(file, path)| {
        let name = path.file_name().unwrap().to_str().unwrap();
        (file.get(), name.to_owned())
    });
    names.collect()
}

/// Moves a file of the folder `content` to another name there.
fn rename(place: &Place, from: &str, to: &str) {
    let content = place.content();
    fs::rename(content.join(from), content.join(to)).unwrap();
}

#[test]
fn renamed_files_are_found_in_their_folders() {
    let place = Place::new(&[
        ("a", noise(1, 3 * PIECE)),
        ("b", noise(2, 3 * PIECE)),
        ("c", noise(3, 3 * PIECE)),
        ("sub/d", noise(4, 5 * PIECE)),
    ]);
    for version in VERSIONS {
        let torrent = place.torrent(version);
        rename(&place, "a", "other");
        // Its folder is not the one of the missing file.
        rename(&place, "sub/d", "moved");
        // Nothing decides between two copies.
        rename(&place, "b", "copy 1");
        place.write("content/copy 2", &noise(2, 3 * PIECE));
        // It has the length of the missing files and is one of the torrent's.
        place.write("content/c", &noise(1, 3 * PIECE));
        let found = search(&mut Surroundings::default(), &place, &torrent);
        assert_eq!(names(&found), [(0, "other".to_owned())], "{version:?}");
        assert!(found.root().is_none());
        rename(&place, "other", "a");
        rename(&place, "moved", "sub/d");
        rename(&place, "copy 1", "b");
        fs::remove_file(place.content().join("copy 2")).unwrap();
        place.write("content/c", &noise(3, 3 * PIECE));
    }
}

/// Pieces of all files together are more than all searches may hash, and one of them is enough.
#[test]
fn intact_files_cost_nothing() {
    const LEN: usize = 4 << 20;
    let bytes = |number: u8| {
        let mut bytes = vec![0; LEN];
        bytes[LEN / 2] = number;
        bytes
    };
    let place = Place::new(&[]);
    for number in 1..=66 {
        place.write(&format!("content/{number:02}"), &bytes(number));
    }
    let torrent = torrent_in_pieces(&place.content(), Version::V1, LEN as u32);
    rename(&place, "40", "other");
    let budget = Arc::new(SearchBudget::default());
    let mut surroundings = Surroundings::new(Arc::clone(&budget));
    let found = search(&mut surroundings, &place, &torrent);
    assert_eq!(names(&found), [(39, "other".to_owned())]);
    assert!(!budget.is_exhausted());
}

#[test]
fn a_renamed_folder_is_found_beside_its_place() {
    let files = [("a", noise(1, 3 * PIECE)), ("sub/b", noise(2, 3 * PIECE))];
    for version in VERSIONS {
        let place = Place::new(&files);
        let torrent = place.torrent(version);
        let root = |name: &str| place.content().with_file_name(name);
        fs::rename(place.content(), root("renamed")).unwrap();
        place.write("similar/a", &noise(5, 3 * PIECE));
        place.write("similar/sub/b", &noise(6, 3 * PIECE));
        fs::remove_file(root("renamed").join("sub/b")).unwrap();
        let found = search(&mut Surroundings::default(), &place, &torrent);
        let root_found = found.root().unwrap();
        assert_eq!(root_found.path, root("renamed"), "{version:?}");
        assert!(root_found.is_folder);
        assert_eq!((root_found.n_files, root_found.total_files), (1, 2));
        assert!(!found.has_files());
        // Nothing decides between two copies.
        place.write("twin/a", &noise(1, 3 * PIECE));
        let found = search(&mut Surroundings::default(), &place, &torrent);
        assert!(found.is_empty(), "{version:?}: {found:?}");
    }
}

#[test]
fn a_renamed_single_file_is_found_beside_its_place() {
    let place = Place::new(&[]);
    place.write("content", &noise(1, 3 * PIECE));
    place.write("similar", &noise(2, 3 * PIECE));
    let torrent = place.torrent(Version::V1);
    let other = place.content().with_file_name("other");
    fs::rename(place.content(), &other).unwrap();
    let found = search(&mut Surroundings::default(), &place, &torrent);
    let root = found.root().unwrap();
    assert_eq!((&root.path, root.is_folder), (&other, false));
    assert_eq!((root.n_files, root.total_files), (1, 1));
}

/// Files that share one piece, whose contents each fit several of them, so that combinations of them are tried.
struct Combinations {
    place: Place,
    torrent: Torrent,
}

impl Combinations {
    const LEN: usize = 900 << 10;

    /// Renames files so that each of `n_files` may be one of `n_contents`.
    fn new(n_files: usize, n_contents: usize) -> Self {
        let of = |number: usize| {
            let mut bytes = vec![0; Self::LEN];
            bytes[0] = 1 + (number % n_contents) as u8;
            bytes
        };
        let names: Vec<String> = (0..n_files)
            .map(|number| format!("file {number}"))
            .collect();
        let files = names.iter().enumerate();
        let files: Vec<(&str, Vec<u8>)> = files
            .map(|(number, name)| (name.as_str(), of(number)))
            .collect();
        let place = Place::new(&files);
        let torrent = torrent_in_pieces(&place.content(), Version::V1, 8 << 20);
        for name in &names {
            fs::remove_file(place.content().join(name)).unwrap();
        }
        for number in 0..n_contents {
            place.write(&format!("content/content {number}"), &of(number));
        }
        Self { place, torrent }
    }

    /// Searches, and returns the number of files that were found.
    fn search(&self, budget: &Arc<SearchBudget>) -> usize {
        let mut surroundings = Surroundings::new(Arc::clone(budget));
        let found = search(&mut surroundings, &self.place, &self.torrent);
        found.files().count()
    }
}

/// 81 combinations of 3.5 MiB are more than all searches may hash, and less than a search without this limit hashes.
#[test]
fn combinations_are_not_tried_beyond_the_budget() {
    let combinations = Combinations::new(4, 3);
    let budget = Arc::default();
    assert_eq!(combinations.search(&budget), 0);
    assert!(budget.is_exhausted());
    // Fewer combinations than that are tried.
    let combinations = Combinations::new(3, 3);
    let budget = Arc::default();
    assert_eq!(combinations.search(&budget), 3);
    assert!(!budget.is_exhausted());
}

/// 32 combinations of 4.4 MiB are more than half of what all searches may hash.
#[test]
fn searches_on_several_threads_share_the_budget() {
    let combinations = Combinations::new(5, 2);
    let budget: Arc<SearchBudget> = Arc::default();
    let start = Barrier::new(2);
    let found: Vec<usize> = thread::scope(|scope| {
        let search = || {
            start.wait();
            combinations.search(&budget)
        };
        let threads = [scope.spawn(search), scope.spawn(search)];
        threads.map(|thread| thread.join().unwrap()).into()
    });
    assert_eq!(found.iter().sum::<usize>(), 5, "{found:?}");
    assert!(found.contains(&0));
    assert!(budget.is_exhausted());
    // Nothing is left for a later one.
    assert_eq!(combinations.search(&budget), 0);
    assert_eq!(combinations.search(&Arc::default()), 5);
}

/// Equal folders cost their listings once for each search that is asked for them.
#[test]
fn a_folder_is_listed_once() {
    let place = Place::new(&[("a", noise(1, 3 * PIECE)), ("b", noise(2, 3 * PIECE))]);
    let torrent = place.torrent(Version::V1);
    rename(&place, "a", "first");
    let mut surroundings = Surroundings::default();
    let found = search(&mut surroundings, &place, &torrent);
    assert_eq!(names(&found), [(0, "first".to_owned())]);
    // The listing is older than this name.
    rename(&place, "b", "second");
    let found = search(&mut surroundings, &place, &torrent);
    assert_eq!(names(&found), [(0, "first".to_owned())]);
    let found = search(&mut Surroundings::default(), &place, &torrent);
    let expected = [(0, "first".to_owned()), (1, "second".to_owned())];
    assert_eq!(names(&found), expected);
}

#[test]
fn a_cancelled_search_finds_nothing() {
    let place = Place::new(&[("a", noise(1, 3 * PIECE)), ("b", noise(2, 3 * PIECE))]);
    let torrent = place.torrent(Version::V1);
    rename(&place, "a", "first");
    let content = Content::at(&torrent, place.content()).unwrap();
    let cancel = CancelToken::default();
    cancel.cancel();
    let mut surroundings = Surroundings::default();
    let found = surroundings.find(&content, missing(&content), &Options::default(), &cancel);
    assert!(found.is_empty());
    let found: PathBuf = search(&mut surroundings, &place, &torrent)
        .files()
        .map(|(_, path)| path.to_owned())
        .collect();
    assert!(found.ends_with("first"));
}
