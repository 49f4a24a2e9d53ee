//! Tests of the public interface. Most torrents are built here, byte by byte.
#![allow(clippy::unwrap_used)]

mod allocation;
mod bencode;
mod content_map;
mod create;
mod foreign;
mod hybrid;
mod magnet;
mod merkle;
mod metadata;
mod mutations;
mod not_run;
mod own_process;
mod piece_layers;
mod reading;
mod refusals;
mod renaming;
#[cfg(feature = "serde")]
mod serde;
mod shared_torrents;
mod v2;
mod writer;

/// Returns a .torrent file with these entries in its info dictionary.
fn metainfo(info_entries: &str) -> Vec<u8> {
    format!("d4:infod{info_entries}ee").into_bytes()
}

/// Returns a multi-file torrent of these file entries, with one piece hash and pieces of 16 KiB.
fn with_files(files: &str) -> Vec<u8> {
    metainfo(&format!(
        "5:filesl{files}e4:name1:n12:piece lengthi16384e6:pieces20:{HASH}"
    ))
}

/// Returns a version 2 torrent with this file tree and pieces of 16 KiB.
fn with_tree(tree: &str) -> Vec<u8> {
    metainfo(&format!(
        "9:file treed{tree}e12:meta versioni2e4:name1:n12:piece lengthi16384e"
    ))
}

/// Returns a hybrid torrent of both, with `n_pieces` pieces of 16 KiB.
fn with_both(files: &str, tree: &str, n_pieces: usize) -> Vec<u8> {
    metainfo(&format!(
        "9:file treed{tree}e5:filesl{files}e12:meta versioni2e4:name1:n12:piece lengthi16384e\
         6:pieces{}:{}",
        20 * n_pieces,
        HASH.repeat(n_pieces)
    ))
}

/// Returns an entry of the file tree: a file of this length with an invented root.
fn tree_file(name: &str, length: u64) -> String {
    format!(
        "{}:{name}d0:d6:lengthi{length}e11:pieces root32:{ROOT}ee",
        name.len()
    )
}

/// Returns an entry of the list of files.
fn list_file(path: &[&str], length: u64) -> String {
    let path: Vec<String> = path
        .iter()
        .map(|name| format!("{}:{name}", name.len()))
        .collect();
    let path = path.concat();
    format!("d6:lengthi{length}e4:pathl{path}ee")
}

/// Returns padding for the list of files.
fn padding(length: u64) -> String {
    format!(
        "d4:attr1:p6:lengthi{length}e4:pathl4:.pad1:{}ee",
        length % 10
    )
}

/// Placeholder for one piece hash. It is text, so that torrents can be written as text.
const HASH: &str = "piece hash, 20 bytes";

/// Placeholder for the root of a merkle tree.
const ROOT: &str = "pieces root, which is 32 bytes..";
