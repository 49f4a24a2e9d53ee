//! Torrents of other projects' test suites, stored beside the repository with libtorrent's verdict.
//! Without them, this test reports that it did not run and passes.

use std::fs;
use std::path::{Path, PathBuf};

use hashlane_metainfo::bencode::SyntaxErrorKind;
use hashlane_metainfo::{Error, FileKind, LengthsError, Torrent};
use serde_json::Value as Json;

use crate::not_run::not_run;

/// Returns `true` if the refusal has the expected reason.
type Refusal = fn(&Error) -> bool;

/// Every torrent that libtorrent refuses, with the expected error. All others are accepted.
const REFUSED: &[(&str, Refusal)] = &[
    ("minimal-trailing-newline", |error| {
        matches!(error, Error::MissingKey { .. })
    }),
    // The name consists of NUL only.
    ("bad_name", |error| matches!(error, Error::NoName { .. })),
    ("duplicate_files2", |error| {
        matches!(error, Error::TooManyDuplicatePaths { .. })
    }),
    ("invalid_info", is_wrong_type),
    ("invalid_path_list", is_wrong_type),
    ("invalid_piece_len", is_wrong_type),
    ("invalid_symlink", is_wrong_type),
    ("many_pieces", |error| {
        is_lengths(error, |reason| {
            matches!(reason, LengthsError::PieceCount { .. })
        })
    }),
    ("negative_file_size", |error| {
        matches!(error, Error::Negative { value: -45, .. })
    }),
    ("negative_size", |error| {
        matches!(error, Error::Negative { value: -425, .. })
    }),
    ("unaligned_pieces", |error| {
        matches!(error, Error::PieceHashesLength { len_bytes: 24, .. })
    }),
    (
        "v2_deep_recursion",
        |error| matches!(error, Error::Syntax(error) if error.kind() == SyntaxErrorKind::TooDeep),
    ),
    ("v2_empty_filename", |error| {
        matches!(error, Error::EmptyTreeName { .. })
    }),
    ("v2_invalid_root_hash", |error| {
        matches!(error, Error::PieceLayerMismatch { .. })
    }),
    ("v2_large_offset", |error| {
        is_lengths(error, |reason| {
            matches!(reason, LengthsError::PieceCount { .. })
        })
    }),
    ("v2_piece_layer_invalid_file_hash", |error| {
        matches!(error, Error::PiecesRootLength { len_bytes: 33, .. })
    }),
    ("v2_piece_size", |error| {
        matches!(error, Error::PieceLengthV2 { .. })
    }),
    ("v2_unknown_piece_layer_entry", |error| {
        matches!(error, Error::UnknownPieceLayer { .. })
    }),
    ("v2_zero_root", |error| {
        matches!(error, Error::ZeroPiecesRoot { .. })
    }),
    ("zero", is_no_content),
    // Torrents of empty files, made to test other keys.
    ("private.torrent/test_file.txt", is_no_content),
    ("resources/collection", is_no_content),
    ("resources/dht-node", is_no_content),
    ("resources/http-seeds", is_no_content),
    ("resources/private", is_no_content),
    ("resources/similar-v1", is_no_content),
    ("resources/similar-v2", is_no_content),
    ("resources/tree_index_test", is_no_content),
    ("resources/web-seed", is_no_content),
];

fn is_wrong_type(error: &Error) -> bool {
    matches!(error, Error::WrongType { .. })
}

fn is_lengths(error: &Error, is_reason: fn(&LengthsError) -> bool) -> bool {
    matches!(error, Error::Lengths { reason, .. } if is_reason(reason))
}

fn is_no_content(error: &Error) -> bool {
    is_lengths(error, |reason| matches!(reason, LengthsError::NoContent))
}

/// Returns the table row whose name ends the path of this file, without `.torrent`.
fn find(table: &[(&str, Refusal)], file: &str) -> Option<Refusal> {
    let stem = file.strip_suffix(".torrent").expect("a .torrent file");
    let ends = |name: &str| {
        stem.strip_suffix(name)
            .is_some_and(|rest| rest.ends_with('/'))
    };
    let row = table.iter().find(|(name, _)| ends(name));
    row.map(|&(_, refusal)| refusal)
}

/// Returns the folder and its list, if they exist.
fn manifest() -> Option<(PathBuf, Vec<Json>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/torrents");
    let Ok(manifest) = fs::read(folder.join("MANIFEST.json")) else {
        not_run(
            "verdicts about torrents of other projects",
            "../shared/torrents has no MANIFEST.json",
            "put the torrents there",
        );
        return None;
    };
    Some((folder, serde_json::from_slice(&manifest).unwrap()))
}

/// Returns libtorrent's verdict: `ok`, or the name or text of an error.
fn verdict(entry: &Json) -> &str {
    let in_table = entry["expect_libtorrent_test"].as_str();
    let in_table = in_table.filter(|verdict| *verdict != "(not in table)");
    in_table.or(entry["libtorrent_pip"].as_str()).unwrap()
}

#[test]
fn verdicts() {
    let Some((folder, manifest)) = manifest() else {
        return;
    };
    let (mut accepted, mut refused) = (0, 0);
    for entry in &manifest {
        let file = entry["file"].as_str().unwrap();
        let bytes = fs::read(folder.join(file)).unwrap();
        let result = Torrent::parse(bytes.as_slice());
        if let Some(expected) = find(REFUSED, file) {
            assert_ne!(verdict(entry), "ok", "{file}");
            let error = result.expect_err(file);
            assert!(expected(&error), "{file}: {error}");
            refused += 1;
        } else {
            assert_eq!(verdict(entry), "ok", "{file}");
            let torrent = result.unwrap_or_else(|error| panic!("{file}: {error}"));
            compare(&torrent, entry, file);
            accepted += 1;
        }
    }
    println!("{accepted} accepted, {refused} refused, all of them as by libtorrent");
    assert_eq!(refused, REFUSED.len(), "a row of REFUSED names no file");
    assert_eq!(accepted + refused, manifest.len());
}

fn compare(torrent: &Torrent, entry: &Json, file: &str) {
    let hashes = torrent.info_hashes();
    let v1 = hashes.v1().map(|hash| hash.to_string());
    let v2 = hashes.v2().map(|hash| hash.to_string());
    for (ours, keys) in [
        (v1, ["infohash_v1", "lt_v1"]),
        (v2, ["infohash_v2", "lt_v2"]),
    ] {
        for key in keys {
            assert_eq!(ours.as_deref(), entry[key].as_str(), "{file}: {key}");
        }
    }
    let lengths = torrent.lengths();
    let piece_length = u64::from(lengths.piece_length().get());
    assert_eq!(Some(piece_length), entry["piece_length"].as_u64(), "{file}");
    let is_private = torrent.metadata().is_private;
    assert_eq!(Some(is_private), entry["private"].as_bool(), "{file}");
    if torrent.version().has_v2() {
        let layers = torrent
            .files()
            .iter()
            .filter_map(hashlane_metainfo::File::piece_layer);
        assert!(layers.map(<[_]>::len).all(|len| len > 1), "{file}");
    } else {
        // Like this crate, libtorrent leaves out the lengths that links claim. It counts padding of
        // version 2, but these torrents have none.
        let total = lengths.total_length();
        assert_eq!(Some(total), entry["lt_total"].as_u64(), "{file}");
        let n_files = torrent.files().len() as u64;
        assert_eq!(Some(n_files), entry["lt_num_files"].as_u64(), "{file}");
    }
    let renamed = torrent.files().iter().filter(|file| file.is_renamed());
    for renamed in renamed.filter(|file| file.kind() == FileKind::Regular) {
        println!("{file}: renamed to {}", renamed.path());
    }
}
