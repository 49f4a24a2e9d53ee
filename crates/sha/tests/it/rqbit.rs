//! An adapter for the traits of a torrent client, rqbit (`librqbit-sha1-wrapper`), as
//! `docs/guides/adopting.md` prints it. The traits have the signatures of that crate, so that the adapter
//! is compiled without a dependency on it.

use std::path::Path;

use sha1::Digest as _;

#[expect(unreachable_pub, reason = "the page prints the file as it is")]
mod adapter;

use adapter::{Sha1Hashlane, Sha256Hashlane};

/// A SHA-1 hasher of rqbit.
trait ISha1 {
    fn new() -> Self;
    fn update(&mut self, buf: &[u8]);
    fn finish(self) -> [u8; 20];
}

/// A SHA-256 hasher of rqbit.
trait ISha256 {
    fn new() -> Self;
    fn update(&mut self, buf: &[u8]);
    fn finish(self) -> [u8; 32];
    fn finish_id32(self) -> [u8; 32]
    where
        Self: Sized,
    {
        self.finish()
    }
}

#[test]
fn the_adapter_hashes_pieces_as_other_libraries_do() {
    let piece: Vec<u8> = (0..262_144_u32).map(|at| (at / 7) as u8).collect();
    for len_bytes in [0, 1, 63, 64, 16_384, 262_144] {
        for block_len in [1000, 16_384] {
            let (mut v1, mut v2) = (Sha1Hashlane::new(), Sha256Hashlane::new());
            for block in piece[..len_bytes].chunks(block_len) {
                v1.update(block);
                v2.update(block);
            }
            let expected: [u8; 20] = sha1::Sha1::digest(&piece[..len_bytes]).into();
            assert_eq!(v1.finish(), expected, "{len_bytes} bytes");
            let expected: [u8; 32] = sha2::Sha256::digest(&piece[..len_bytes]).into();
            assert_eq!(v2.finish_id32(), expected, "{len_bytes} bytes");
        }
    }
}

#[test]
fn the_page_prints_this_adapter() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/adopting.md");
    // The package has no pages.
    if let Ok(page) = std::fs::read_to_string(page) {
        assert!(
            page.contains(include_str!("rqbit/adapter.rs")),
            "docs/guides/adopting.md is out of date"
        );
    }
}
