//! Tests of the public interface. All torrents are built here, byte by byte.
#![allow(clippy::unwrap_used)]

mod bencode;
mod hybrid;
mod merkle;
mod metadata;
mod mutations;
mod piece_layers;
mod reading;
mod refusals;
mod renaming;
mod v2;
mod writer;

/// Puts entries into an info dictionary, and that into a .torrent file.
fn metainfo(info_entries: &str) -> Vec<u8> {
    format!("d4:infod{info_entries}ee").into_bytes()
}

/// Puts entries of files into a multi-file torrent with one piece hash, of 16 KiB.
fn with_files(files: &str) -> Vec<u8> {
    metainfo(&format!(
        "5:filesl{files}e4:name1:n12:piece lengthi16384e6:pieces20:{HASH}"
    ))
}

/// Puts names into the file tree of a version 2 torrent with pieces of 16 KiB.
fn with_tree(tree: &str) -> Vec<u8> {
    metainfo(&format!(
        "9:file treed{tree}e12:meta versioni2e4:name1:n12:piece lengthi16384e"
    ))
}

/// A hybrid torrent of both, with so many pieces of 16 KiB.
fn with_both(files: &str, tree: &str, n_pieces: usize) -> Vec<u8> {
    metainfo(&format!(
        "9:file treed{tree}e5:filesl{files}e12:meta versioni2e4:name1:n12:piece lengthi16384e\
         6:pieces{}:{}",
        20 * n_pieces,
        HASH.repeat(n_pieces)
    ))
}

/// An entry of the file tree: a file of so many bytes, with a root that is made up.
fn tree_file(name: &str, length: u64) -> String {
    format!(
        "{}:{name}d0:d6:lengthi{length}e11:pieces root32:{ROOT}ee",
        name.len()
    )
}

/// An entry of the list of files.
fn list_file(path: &[&str], length: u64) -> String {
    let path: Vec<String> = path
        .iter()
        .map(|name| format!("{}:{name}", name.len()))
        .collect();
    let path = path.concat();
    format!("d6:lengthi{length}e4:pathl{path}ee")
}

/// Padding in the list of files.
fn padding(length: u64) -> String {
    format!(
        "d4:attr1:p6:lengthi{length}e4:pathl4:.pad1:{}ee",
        length % 10
    )
}

/// Stands for one piece hash: text, so that torrents can be written as text.
const HASH: &str = "piece hash, 20 bytes";

/// Stands for the root of a merkle tree.
const ROOT: &str = "pieces root, which is 32 bytes..";
