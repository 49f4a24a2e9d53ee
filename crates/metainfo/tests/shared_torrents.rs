//! Torrents of other projects' test suites, which lie beside the repository with the verdict of
//! libtorrent. Where they are not there, this test says so and passes.

use std::fs;
use std::path::Path;

use hashlane_metainfo::bencode::SyntaxErrorKind;
use hashlane_metainfo::{
    ComponentError, Error, FileKind, InfoHashV1, LengthsError, Torrent, Version,
};
use serde_json::Value as Json;

/// What kind of refusal is expected.
type Refusal = fn(&Error) -> bool;

/// Accepted by libtorrent and refused by us: it repairs names, each client in its own way, so
/// that two clients look for different files. And it ignores bytes after the end.
const STRICTER: &[(&str, Refusal)] = &[
    ("absolute_filename", is_separator),
    ("empty_path", is_empty_component),
    ("empty_path_multi", is_empty_component),
    ("hidden_parent_path", is_separator),
    ("invalid_directory_name", is_separator),
    // Its second file is named ".".
    ("invalid_filename", |error| {
        is_unsafe(error, ComponentError::CurrentDirectory)
    }),
    ("large_piece_size", is_trailing),
    ("slash_path", is_separator),
    ("slash_path2", is_separator),
    ("slash_path3", is_separator),
    ("symlink_filtered_path", is_separator),
    // Version 2, but the byte after the end comes first.
    ("v2_invalid_filename2", is_trailing),
];

/// Refused by libtorrent, and by us for the fitting reason.
const REFUSED: &[(&str, Refusal)] = &[
    ("minimal-trailing-newline", is_trailing),
    ("bad_name", is_trailing),
    // Its files do have the same paths, but there is a newline after the end.
    ("duplicate_files2", is_trailing),
    ("invalid_info", |error| {
        matches!(error, Error::WrongType { .. })
    }),
    ("invalid_path_list", |error| {
        matches!(error, Error::WrongType { .. })
    }),
    ("invalid_piece_len", |error| {
        matches!(error, Error::WrongType { .. })
    }),
    ("invalid_symlink", |error| {
        matches!(error, Error::WrongType { .. })
    }),
    ("many_pieces", |error| {
        matches!(error, Error::PieceCountMismatch { found: 1, .. })
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
    ("v2_empty_filename", is_trailing),
    ("v2_unknown_piece_layer_entry", is_trailing),
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

fn is_unsafe(error: &Error, expected: ComponentError) -> bool {
    matches!(error, Error::UnsafePath { reason, .. } if *reason == expected)
}

fn is_separator(error: &Error) -> bool {
    is_unsafe(error, ComponentError::Separator)
}

fn is_empty_component(error: &Error) -> bool {
    is_unsafe(error, ComponentError::Empty)
}

fn is_trailing(error: &Error) -> bool {
    matches!(error, Error::Syntax(error)
        if matches!(error.kind(), SyntaxErrorKind::TrailingBytes { .. }))
}

fn is_no_content(error: &Error) -> bool {
    matches!(
        error,
        Error::Lengths {
            reason: LengthsError::NoContent,
            ..
        }
    )
}

/// The row of a table that ends the path of this file, less `.torrent`.
fn find(table: &[(&str, Refusal)], file: &str) -> Option<Refusal> {
    let stem = file.strip_suffix(".torrent").expect("a .torrent file");
    let ends = |name: &str| {
        stem.strip_suffix(name)
            .is_some_and(|rest| rest.ends_with('/'))
    };
    table
        .iter()
        .find(|(name, _)| ends(name))
        .map(|&(_, refusal)| refusal)
}

#[test]
fn verdicts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/torrents");
    let Ok(manifest) = fs::read(folder.join("MANIFEST.json")) else {
        println!("not run: ../shared/torrents is not there");
        return;
    };
    let manifest: Vec<Json> = serde_json::from_slice(&manifest).unwrap();
    let (mut accepted, mut stricter, mut refused, mut unsupported) = (0, 0, 0, 0);
    for entry in &manifest {
        let file = entry["file"].as_str().unwrap();
        let bytes = fs::read(folder.join(file)).unwrap();
        let result = Torrent::parse(&bytes);
        let verdict = entry["expect_libtorrent_test"]
            .as_str()
            .or(entry["libtorrent_pip"].as_str());
        if let Some(expected) = find(STRICTER, file) {
            assert_eq!(verdict, Some("ok"), "{file}");
            let error = result.expect_err(file);
            assert!(expected(&error), "{file}: {error}");
            stricter += 1;
        } else if let Some(expected) = find(REFUSED, file) {
            assert_ne!(verdict, Some("ok"), "{file}");
            let error = result.expect_err(file);
            assert!(expected(&error), "{file}: {error}");
            refused += 1;
        } else if let Some(version) = other_version(entry) {
            assert_eq!(
                result.unwrap_err(),
                Error::UnsupportedVersion { version },
                "{file}"
            );
            unsupported += 1;
        } else {
            assert_eq!(verdict, Some("ok"), "{file}");
            let torrent = result.unwrap_or_else(|error| panic!("{file}: {error}"));
            compare(&torrent, entry, file);
            accepted += 1;
        }
    }
    println!("{accepted} accepted, {stricter} refused though libtorrent accepts them");
    println!("{refused} refused like libtorrent does, {unsupported} of version 2 or hybrid");
    assert_eq!(stricter, STRICTER.len(), "a row of STRICTER names no file");
    assert_eq!(refused, REFUSED.len(), "a row of REFUSED names no file");
}

fn other_version(entry: &Json) -> Option<Version> {
    match entry["kind"].as_str()? {
        "v2" => Some(Version::V2),
        "hybrid" => Some(Version::Hybrid),
        _ => None,
    }
}

fn compare(torrent: &Torrent<'_>, entry: &Json, file: &str) {
    let info_hash = torrent
        .info_hashes()
        .v1()
        .as_ref()
        .map(InfoHashV1::to_string);
    assert_eq!(
        info_hash.as_deref(),
        entry["infohash_v1"].as_str(),
        "{file}"
    );
    let lengths = torrent.lengths();
    let piece_length = Some(u64::from(lengths.piece_length().get()));
    assert_eq!(piece_length, entry["piece_length"].as_u64(), "{file}");
    // What libtorrent counts: the lengths that symbolic links claim are left out, as by us.
    assert_eq!(
        Some(lengths.total_length()),
        entry["lt_total"].as_u64(),
        "{file}"
    );
    assert_eq!(
        Some(torrent.files().len() as u64),
        entry["lt_num_files"].as_u64(),
        "{file}"
    );
    let is_link =
        |file: &hashlane_metainfo::File<'_>| matches!(file.kind(), FileKind::Symlink { .. });
    if !torrent.files().iter().any(is_link) {
        assert_eq!(
            Some(lengths.total_length()),
            entry["total"].as_u64(),
            "{file}"
        );
    }
    if let Some(name) = entry["name"]
        .as_str()
        .filter(|name| !name.contains('\u{fffd}'))
    {
        assert_eq!(torrent.name().as_bytes(), name.as_bytes(), "{file}");
    }
}
