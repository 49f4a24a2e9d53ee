//! Torrents for the tests.

use hashlane_metainfo::{InfoHashes, Torrent};
use hashlane_store::Name;

/// Returns a torrent of version 1 with one file, which differs for each number.
pub(crate) fn torrent(number: u32) -> Torrent {
    let name = number.to_string();
    let pieces = "x".repeat(20);
    let info = format!(
        "d6:lengthi1e4:name{}:{name}12:piece lengthi16384e6:pieces20:{pieces}e",
        name.len()
    );
    Torrent::parse(format!("d4:info{info}e")).unwrap()
}

/// Returns a hybrid torrent with one file.
pub(crate) fn hybrid() -> Torrent {
    let (root, pieces) = ("r".repeat(32), "x".repeat(20));
    let tree = format!("d1:ad0:d6:lengthi1e11:pieces root32:{root}eee");
    let info = format!(
        "d9:file tree{tree}6:lengthi1e12:meta versioni2e4:name1:a12:piece lengthi16384e6:pieces20:{pieces}e"
    );
    Torrent::parse(format!("d4:info{info}e")).unwrap()
}

/// Returns the info-hashes of the hybrid torrent by their version.
pub(crate) fn names_of_hybrid() -> [Name; 2] {
    let InfoHashes::Hybrid(v1, v2) = hybrid().info_hashes() else {
        panic!("the torrent is a hybrid");
    };
    [Name::V1(v1), Name::V2(v2)]
}
