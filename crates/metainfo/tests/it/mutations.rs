//! Arbitrary and damaged torrents: the parser never panics, and accepted torrents satisfy the
//! documented guarantees.

use std::collections::HashSet;

use hashlane_metainfo::{FileKind, Torrent};
use proptest::prelude::*;

use crate::{HASH, metainfo, with_files};

/// Returns valid torrents that use every key that the reader knows.
fn seeds() -> Vec<Vec<u8>> {
    vec![
        metainfo(&format!(
            "4:attr1:x6:lengthi5e4:name1:a10:name.utf-81:b12:piece lengthi4e6:pieces40:{HASH}{HASH}"
        )),
        with_files(
            "d6:lengthi3e4:pathl1:d1:aee\
             d6:lengthi3e4:pathl1:be10:path.utf-8l1:ceed4:attr1:p6:lengthi2ee\
             d4:attr2:lh6:lengthi3e4:pathl1:ee12:symlink pathl1:d1:aee\
             d6:lengthi4e4:pathl19:_____padding_file_0ee",
        ),
        metainfo("9:file treede12:meta versioni2e6:pieces0:"),
    ]
}

#[test]
fn seeds_are_what_they_should_be() {
    let accepted: Vec<bool> = seeds()
        .iter()
        .map(|seed| Torrent::parse(seed.as_slice()).is_ok())
        .collect();
    assert_eq!(accepted, [true, true, false]);
}

#[derive(Clone, Debug)]
enum Edit {
    Replace(u8),
    Insert(u8),
    Delete,
    /// Copies some bytes to another place, as a fuzzer does.
    Duplicate(usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let byte = || {
        prop_oneof![
            any::<u8>(),
            prop::sample::select(&b"ilde:-/.0123456789"[..])
        ]
    };
    prop_oneof![
        byte().prop_map(Edit::Replace),
        byte().prop_map(Edit::Insert),
        Just(Edit::Delete),
        (1..40_usize).prop_map(Edit::Duplicate),
    ]
}

fn apply(bytes: &mut Vec<u8>, at: usize, edit: &Edit) {
    match *edit {
        Edit::Replace(byte) => bytes[at] = byte,
        Edit::Insert(byte) => bytes.insert(at, byte),
        Edit::Delete => drop(bytes.remove(at)),
        Edit::Duplicate(len) => {
            let end = bytes.len().min(at + len);
            bytes.extend_from_within(at..end);
        }
    }
}

/// Checks the guarantees in the documentation of the accessors.
fn promises(bytes: &[u8]) {
    let torrent = match Torrent::parse(bytes) {
        Ok(torrent) => torrent,
        Err(error) => {
            assert!(!error.to_string().contains(char::is_control), "{error:?}");
            return;
        }
    };
    let lengths = torrent.lengths();
    let version = torrent.version();
    let n_hashes = torrent.piece_hashes().map(<[_]>::len);
    let n_pieces = lengths.piece_count() as usize;
    assert_eq!(n_hashes, version.has_v1().then_some(n_pieces));
    assert!(
        bytes
            .windows(torrent.info_bytes().len())
            .any(|part| part == torrent.info_bytes())
    );
    let piece_length = u64::from(lengths.piece_length().get());
    let mut end = 0;
    let mut has_content = false;
    let mut paths = HashSet::new();
    for file in torrent.files().iter() {
        let is_content = file.kind() == FileKind::Regular && file.length() > 0;
        if version.has_v2() && is_content {
            assert_eq!(file.offset() % piece_length, 0);
            assert!(file.offset() >= end && file.offset() - end < piece_length);
            assert!(file.pieces_root().is_some());
        } else {
            assert_eq!(file.offset(), end);
            assert_eq!(file.pieces_root(), None);
        }
        if let Some(layer) = file.piece_layer() {
            assert_eq!(layer.len() as u64, file.length().div_ceil(piece_length));
        }
        end = file.offset() + file.length();
        has_content |= is_content;
        for component in file.path().components().chain([torrent.name()]) {
            let name = component.as_bytes();
            assert!(!matches!(name, b"" | b"." | b".."));
            assert!(!name.iter().any(|byte| matches!(byte, 0 | b'/')));
        }
        assert!(!file.path().to_string().contains(char::is_control));
        if file.kind() != FileKind::Padding {
            assert!(paths.insert(file.path().to_string()), "two of one path");
        }
    }
    assert_eq!(end, lengths.total_length());
    assert!(has_content);
    torrent.metadata();
    torrent.unsorted_key();
}

#[test]
fn every_truncation_is_refused() {
    for seed in seeds() {
        for len in 0..seed.len() {
            assert!(Torrent::parse(&seed[..len]).is_err(), "{len} bytes");
        }
    }
}

/// All torrents that differ from a valid torrent in one byte.
#[test]
fn every_byte_replaced() {
    for seed in seeds() {
        for at in 0..seed.len() {
            for byte in 0..=255 {
                let mut bytes = seed.clone();
                bytes[at] = byte;
                promises(&bytes);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        promises(&bytes);
    }

    #[test]
    fn damaged_torrents(
        seed in prop::sample::select(seeds()),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), edit()), 1..5),
    ) {
        let mut bytes = seed;
        for (index, edit) in edits {
            let at = index.index(bytes.len());
            apply(&mut bytes, at, &edit);
        }
        promises(&bytes);
    }
}
