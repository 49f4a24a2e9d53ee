//! Tests of the public interface. All torrents are built here, byte by byte.

mod bencode;
mod mutations;
mod reading;
mod refusals;
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

/// Stands for one piece hash: text, so that torrents can be written as text.
const HASH: &str = "piece hash, 20 bytes";
