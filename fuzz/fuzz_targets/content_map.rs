//! Arbitrary text as a content map: the reader never panics, a map that is accepted is written and read back as it is, and the
//! places of a torrent's files are absolute.
//!
//! The text `TORRENT` stands for the info-hash of a torrent, so that maps have lines that fit it.

#![no_main]

use std::sync::OnceLock;

use hashlane_metainfo::{ContentMap, MappedPlace, Torrent};
use libfuzzer_sys::fuzz_target;

/// A torrent with a file of a byte and an empty one.
const TORRENT: &[u8] = b"d4:infod5:filesld6:lengthi1e4:pathl1:a1:beed6:lengthi0e4:pathl4:noneeee4:name1:n\
    12:piece lengthi16384e6:pieces20:piece hash, 20 bytesee";

fn torrent() -> &'static Torrent {
    static PARSED: OnceLock<Torrent> = OnceLock::new();
    PARSED.get_or_init(|| Torrent::parse(TORRENT.to_vec()).expect("the torrent is valid"))
}

fuzz_target!(|text: &[u8]| {
    let v1 = torrent().info_hashes().v1().expect("it has version 1");
    let text = replaced(text, b"TORRENT", v1.to_string().as_bytes());
    let mut map = match ContentMap::parse(&text) {
        Ok(map) => map,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let written = map.to_bytes();
    let again = ContentMap::parse(&written).expect("a map that was written is read");
    assert_eq!(again.to_bytes(), written);
    match map.places_of(torrent()) {
        Ok(places) => {
            assert!(places.keys().all(|file| *file < 2));
            let mut paths = places.values().filter_map(MappedPlace::path);
            assert!(paths.all(|path| path.is_absolute()));
            let only = map.only(torrent()).expect("the torrent fits");
            assert_eq!(only.places_of(torrent()).expect("it has the torrent"), places);
            map.insert(torrent(), places.clone());
            assert_eq!(map.places_of(torrent()).expect("it has the torrent"), places);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    map.insert(torrent(), [(1, MappedPlace::Empty)]);
    let places = map.places_of(torrent()).expect("it was inserted");
    assert_eq!(places.into_iter().collect::<Vec<_>>(), [(1, MappedPlace::Empty)]);
});

/// Returns the text with each occurrence of `from` replaced.
fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.first() {
        if let Some(after) = rest.strip_prefix(from) {
            result.extend_from_slice(to);
            rest = after;
        } else {
            result.push(*first);
            rest = &rest[1..];
        }
    }
    result
}
