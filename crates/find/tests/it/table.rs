//! Tables of the roots of files.

use std::fs;
use std::path::Path;

use hashlane_find::{Candidates, FileMatch, Findings, RootTable, TableError, TableUpdate, find};
use hashlane_metainfo::{Torrent, Version};
use hashlane_pipeline::{CancelToken, Error, Options};

use crate::{PIECE, Place, is_complete, noise, torrent_in_pieces, torrent_of};

/// Searches with a table of roots, and updates the table.
fn search_by(
    table: &mut RootTable,
    place: &Place,
    torrent: &Torrent,
) -> (Candidates, Findings, TableUpdate) {
    let (cancel, options) = (CancelToken::default(), Options::default());
    let mut candidates = Candidates::collect_all([torrent], &[place.disk()], &cancel, |_| ());
    let own = (Path::new("/none"), u64::MAX);
    let mut save = |_: &_| Ok::<(), Error>(());
    let updated = table.update(
        &mut candidates,
        own,
        &options,
        &cancel,
        &mut |_| (),
        &mut save,
    );
    let findings = find(&[torrent], &candidates, &options, &cancel, &mut |_| ()).unwrap();
    (candidates, findings, updated.unwrap())
}

/// One table serves torrents of other files and other piece lengths.
#[test]
fn a_table_of_roots_finds_files_without_reading_them() {
    // Some have more leaves than a subtree that is hashed on its own.
    let lens = [1, PIECE, PIECE + 1, 5 * PIECE, (16 << 20) + 1, 33 << 20];
    let place = Place::new(&[]);
    let mut table = RootTable::default();
    for (number, len_bytes) in lens.into_iter().enumerate() {
        let bytes = noise(number as u64, len_bytes);
        let torrent = ["first", "second"][number % 2];
        place.write(&format!("{torrent}/{number}"), &bytes);
        place.write(&format!("disk/other {number}"), &bytes);
        place.write(&format!("disk/copy {number}"), &bytes);
    }
    place.write("disk/empty", b"");
    let root = place.folder.path();
    for version in [Version::V2, Version::Hybrid] {
        for name in ["first", "second"] {
            let torrent = torrent_of(&root.join(name), version);
            let (candidates, findings, updated) = search_by(&mut table, &place, &torrent);
            let is_new = version == Version::V2 && name == "first";
            assert_eq!(updated.hashed_files, if is_new { 12 } else { 0 });
            assert!(updated.unreadable.is_empty());
            assert_eq!(candidates.len(), 6);
            assert_eq!(findings.hashed_bytes, 0, "{version:?} {name}");
            let found = &findings.torrents[0];
            assert!(found.is_identified());
            assert!(is_complete(&torrent, &candidates, &findings));
            for file in &found.files {
                let FileMatch::Identified(at) = file else {
                    continue;
                };
                assert_eq!(at.others.len(), 1);
            }
            // It is written and read between searches.
            let bytes = table.to_bytes();
            assert_eq!(RootTable::parse(&bytes).unwrap(), table);
        }
    }
    // What changed is hashed again, also if it keeps its length and its time of modification.
    let changed = place.disk().join("other 0");
    let modified = fs::metadata(&changed).unwrap().modified().unwrap();
    fs::write(&changed, b"x").unwrap();
    let file = fs::File::options().write(true).open(&changed).unwrap();
    file.set_modified(modified).unwrap();
    fs::remove_file(place.disk().join("copy 0")).unwrap();
    let torrent = torrent_of(&root.join("first"), Version::V2);
    let (_, findings, updated) = search_by(&mut table, &place, &torrent);
    assert_eq!((updated.hashed_files, table.len()), (1, 11));
    let wrong = findings.torrents[0].files.iter();
    let wrong = wrong.filter(|file| matches!(file, FileMatch::Wrong { .. }));
    assert_eq!(wrong.count(), 1);
    // A part of the work is kept.
    let (cancel, options) = (CancelToken::default(), Options::default());
    let mut table = RootTable::default();
    let mut candidates = Candidates::collect_all([&torrent], &[place.disk()], &cancel, |_| ());
    let mut saved = Vec::new();
    let mut save = |table: &RootTable| {
        saved.push(table.len());
        Ok::<(), Error>(())
    };
    let own = (Path::new("/none"), 1);
    table
        .update(
            &mut candidates,
            own,
            &options,
            &cancel,
            &mut |_| (),
            &mut save,
        )
        .unwrap();
    assert_eq!(saved, (1..=11).collect::<Vec<_>>());
}

/// A table can lie in a folder that is searched.
#[test]
fn a_table_of_roots_leaves_itself_out() {
    let place = Place::new(&[("a", noise(1, 100))]);
    place.write("disk/a", &noise(1, 100));
    place.write("disk/table", b"an earlier table");
    let torrent = place.torrent(Version::V2);
    let (cancel, options) = (CancelToken::default(), Options::default());
    let mut candidates = Candidates::collect_all([&torrent], &[place.disk()], &cancel, |_| ());
    let own = place.disk().join("table");
    let mut table = RootTable::default();
    let updated = table.update(
        &mut candidates,
        (&own, u64::MAX),
        &options,
        &cancel,
        &mut |_| (),
        &mut |_: &_| Ok::<(), Error>(()),
    );
    assert_eq!((updated.unwrap().hashed_files, table.len()), (1, 1));
}

/// Metainfo of a file of one piece can have the root of a file of another length.
#[test]
fn a_root_of_another_length_finds_nothing() {
    let (one, two) = (noise(1, 40_000), noise(2, 40_001));
    let place = Place::new(&[("one", one.clone()), ("two", two)]);
    place.write("disk/one", &one);
    let torrent = torrent_in_pieces(&place.content(), Version::V2, 64 << 10);
    let roots = [0, 1].map(|file| *torrent.file(file).pieces_root().unwrap());
    let mut text = torrent.bytes().to_vec();
    let at = text.windows(32).position(|part| part == roots[1]).unwrap();
    text[at..at + 32].copy_from_slice(&roots[0]);
    let torrent = Torrent::parse(text).unwrap();
    let mut table = RootTable::default();
    let (_, findings, _) = search_by(&mut table, &place, &torrent);
    let [first, second] = &findings.torrents[0].files[..] else {
        panic!("two files");
    };
    assert!(matches!(first, FileMatch::Identified(_)));
    assert_eq!(*second, FileMatch::Missing);
}

#[test]
fn a_damaged_table_of_roots_is_refused() {
    let place = Place::new(&[("a", noise(1, 100))]);
    place.write("disk/with\nline feed and space", &noise(1, 100));
    let mut table = RootTable::default();
    search_by(&mut table, &place, &place.torrent(Version::V2));
    let bytes = table.to_bytes();
    for len in 0..bytes.len() {
        assert!(RootTable::parse(&bytes[..len]).is_err(), "{len}");
    }
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(RootTable::parse(&damaged).is_err(), "{at}");
    }
    assert_eq!(RootTable::parse(b"roots"), Err(TableError::NotTable));
    let other = b"hashlane table of roots 2\n";
    assert_eq!(RootTable::parse(other), Err(TableError::Version));
    // Entries that were made by hand, with the right digest.
    let signed = |entries: &str| {
        let text = format!("hashlane table of roots 1\n{entries}");
        let digest = hashlane_sha::digest::<hashlane_sha::Sha256>(text.as_bytes());
        RootTable::parse(format!("{text}sha256 {digest}\n").as_bytes())
    };
    let root = "0".repeat(64);
    assert_eq!(signed(&format!("{root} 1 -2 3 4 /a b\0")).unwrap().len(), 1);
    for (entries, problem) in [
        (
            format!("{root} 1 2 3 4 /a"),
            "entry 1: ends without a zero byte",
        ),
        (format!("{root} 1 2 3 4\0"), "entry 1: the path is missing"),
        (
            format!("{root} 1 2 3 4 a\0"),
            "entry 1: the path is not absolute",
        ),
        (
            format!("{root} -1 2 3 4 /a\0"),
            "entry 1: its root and numbers",
        ),
        (
            format!("{} 1 2 3 4 /a\0", &root[1..]),
            "entry 1: its root and numbers",
        ),
        (
            format!("{root} 1 2 3 4 /a\0{root} 1 2 3 4 /a\0"),
            "entry 2: the file has an entry already",
        ),
    ] {
        let error = signed(&entries).unwrap_err().to_string();
        assert!(error.starts_with(problem), "{entries:?}: {error}");
    }
}
