//! Content maps: what is written is read back, and everything else is refused with the place.

use std::fmt::Write as _;
use std::path::PathBuf;

use hashlane_metainfo::{ContentMap, MapError, MappedPlace, Torrent};
use proptest::prelude::*;

use crate::{list_file, with_files};

/// A torrent with a file of a byte, an empty one, and padding.
fn torrent() -> Torrent {
    let files = list_file(&["a", "b"], 1) + &list_file(&["none"], 0) + &crate::padding(7);
    Torrent::parse(with_files(&files)).unwrap()
}

/// Returns the text of a map of the torrent with these lines.
fn text(lines: &str) -> Vec<u8> {
    let v1 = torrent().info_hashes().v1().unwrap();
    format!("hashlane content map 1\ntorrent {v1}\n{lines}").into_bytes()
}

fn error(text: &[u8]) -> String {
    ContentMap::parse(text).unwrap_err().to_string()
}

#[test]
fn a_map_says_where_the_files_lie() {
    let map = ContentMap::parse(&text("a/b\t/else where/c\nnone\t\n")).unwrap();
    let places = map.places_of(&torrent()).unwrap();
    assert_eq!(
        places.into_iter().collect::<Vec<_>>(),
        [
            (0, MappedPlace::At(PathBuf::from("/else where/c"))),
            (1, MappedPlace::Empty)
        ]
    );
}

#[test]
fn a_map_of_several_torrents_is_searched_by_any_info_hash() {
    let v1 = torrent().info_hashes().v1().unwrap();
    let (other, v2) = ("0".repeat(40), "1".repeat(64));
    let text = format!(
        "hashlane content map 1\ntorrent {other}\na/b\t/other\ntorrent {v1} {v2}\na/b\t/this\n"
    );
    let map = ContentMap::parse(text.as_bytes()).unwrap();
    let places = map.places_of(&torrent()).unwrap();
    assert_eq!(places[&0], MappedPlace::At("/this".into()));
    assert_eq!(map.to_bytes(), text.as_bytes());
    let others = Torrent::parse(with_files(&list_file(&["x"], 1))).unwrap();
    let error = map.places_of(&others).unwrap_err();
    assert!(matches!(error, MapError::NoTorrent { .. }), "{error}");
}

/// With a search of all torrents for each, this would take 10^10 comparisons.
#[test]
fn a_map_of_many_torrents_is_read_and_changed() {
    const TORRENTS: usize = 20_000;
    let mut text = "hashlane content map 1\n".to_owned();
    for number in 0..TORRENTS {
        writeln!(text, "torrent {number:040x} {number:064x}\na\t/{number}").unwrap();
    }
    let mut map = ContentMap::parse(text.as_bytes()).unwrap();
    assert!(map.to_bytes() == text.as_bytes());
    for _ in 0..TORRENTS {
        map.insert(&torrent(), [(1, MappedPlace::Empty)]);
    }
    assert_eq!(map.places_of(&torrent()).unwrap()[&1], MappedPlace::Empty);
    let v1 = torrent().info_hashes().v1().unwrap();
    writeln!(text, "torrent {v1}\nnone\t").unwrap();
    assert!(map.to_bytes() == text.as_bytes());
}

/// The entries of both versions of a hybrid torrent are replaced by one.
#[test]
fn an_inserted_torrent_replaces_all_of_its_entries() {
    let v1 = torrent().info_hashes().v1().unwrap();
    let (other, v2) = ("0".repeat(40), "1".repeat(64));
    let text = format!("hashlane content map 1\ntorrent {v1} {v2}\na/b\t/c\ntorrent {other}\n");
    let mut map = ContentMap::parse(text.as_bytes()).unwrap();
    map.insert(&torrent(), [(1, MappedPlace::Empty)]);
    let text = format!("hashlane content map 1\ntorrent {other}\ntorrent {v1}\nnone\t\n");
    assert_eq!(String::from_utf8(map.to_bytes()).unwrap(), text);
    // The info-hash of the entry that is gone is free again.
    let text = format!("{text}torrent {v2}\n");
    let with_v2 = ContentMap::parse(text.as_bytes()).unwrap();
    assert_ne!(with_v2, map);
    assert_eq!(
        ContentMap::parse(&map.to_bytes()).unwrap().to_bytes(),
        map.to_bytes()
    );
}

#[test]
fn what_is_no_map_is_refused_with_its_line() {
    let v1 = torrent().info_hashes().v1().unwrap();
    for not_map in ["", "a\t/b\n", "\u{feff}hashlane"] {
        assert!(
            error(not_map.as_bytes()).starts_with("is not a content map"),
            "{not_map}"
        );
    }
    assert!(error(b"hashlane content map 1").starts_with("line 1: ends without a line feed"));
    assert!(error(b"hashlane content map 2\n").contains("another version"));
    assert!(error(b"hashlane content map 1\na\t/b\n").starts_with("line 2: the first line after"));
    for (lines, problem) in [
        ("a/b\t/c", "line 3: ends without a line feed"),
        ("a/b\tc\n", "line 3: the path on the disk is not absolute"),
        ("\t/c\n", "line 3: the path in the torrent is missing"),
        ("a/b\t/c\t\n", "line 3: a tab within a path"),
        ("a/b\t/c\r\n", "line 3: a carriage return"),
        ("a/b\t/c\\x\n", "line 3: a backslash must be"),
        ("a/b\t/c\\\n", "line 3: a backslash must be"),
        ("a/b\t/c\0\n", "line 3: a path has a zero byte"),
        ("a/b /c\n", "line 3: is neither `torrent`"),
        ("\n", "line 3: is neither `torrent`"),
        (
            "a/b\t/c\na/b\t/d\n",
            "line 4: the file of the torrent has a line already",
        ),
        ("torrent 00\n", "line 3: an info-hash is not"),
        ("torrent \n", "line 3: an info-hash is not"),
        (
            &format!("torrent {}\n", "A".repeat(40)),
            "line 3: an info-hash is not",
        ),
        (
            &format!("torrent {v1}\n"),
            "line 3: the torrent has a line already",
        ),
    ] {
        let error = error(&text(lines));
        assert!(error.starts_with(problem), "{lines:?}: {error}");
    }
}

#[test]
fn a_line_must_fit_the_torrent() {
    for (lines, problem) in [
        ("a\t/c\n", "line 3: the torrent has no file \"a\""),
        (
            "a/b\u{1b}\t/c\n",
            "line 3: the torrent has no file \"a/b\\u{1b}\"",
        ),
        // Padding lies nowhere.
        (".pad/7\t/c\n", "line 3: the torrent has no file \".pad/7\""),
        ("a/b\t\n", "line 3: the file has bytes"),
    ] {
        let map = ContentMap::parse(&text(lines)).unwrap();
        let error = map.places_of(&torrent()).unwrap_err().to_string();
        assert!(error.starts_with(problem), "{lines:?}: {error}");
    }
}

proptest! {
    #[test]
    #[cfg(unix)]
    fn any_path_is_read_back(path in proptest::collection::vec(1..=255_u8, 0..40)) {
        use std::os::unix::ffi::OsStringExt as _;
        let path = std::ffi::OsString::from_vec([b"/".to_vec(), path].concat());
        let place = MappedPlace::At(path.into());
        let mut map = ContentMap::default();
        map.insert(&torrent(), [(0, place.clone()), (1, MappedPlace::Empty)]);
        let read = ContentMap::parse(&map.to_bytes()).unwrap();
        let places = read.places_of(&torrent()).unwrap();
        prop_assert_eq!(&places[&0], &place);
        prop_assert_eq!(&places[&1], &MappedPlace::Empty);
        prop_assert_eq!(read.to_bytes(), map.to_bytes());
    }

    #[test]
    fn no_text_panics(
        lines in proptest::collection::vec(
            prop_oneof![
                Just(&b"hashlane content map 1\n"[..]), Just(&b"torrent "[..]), Just(&b"0000000000000000000000000000000000000000"[..]),
                Just(&b"a/b"[..]), Just(&b"\t"[..]), Just(&b"/"[..]), Just(&b"\\"[..]), Just(&b"\n"[..]), Just(&b"\xff"[..]),
            ],
            0..12,
        ),
    ) {
        match ContentMap::parse(&lines.concat()) {
            // What is accepted is written as a map that says the same.
            Ok(map) => {
                let again = ContentMap::parse(&map.to_bytes()).unwrap();
                prop_assert_eq!(again.to_bytes(), map.to_bytes());
            }
            Err(error) => prop_assert!(!error.to_string().contains(char::is_control)),
        }
    }
}
