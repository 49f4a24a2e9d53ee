//! Digests of pieces that were never written.

use std::sync::OnceLock;

use hashlane_metainfo::PieceIndex;
use hashlane_sha::{Sha1, Sha1Digest};

use crate::worker::Job;

/// Zeros that are hashed at a time.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Digests of pieces of zeros, each computed when it is first needed: there are two lengths.
#[derive(Debug, Default)]
pub(crate) struct ZeroDigests {
    full: OnceLock<Sha1Digest>,
    last: OnceLock<Sha1Digest>,
}

impl ZeroDigests {
    /// The digest of as many zeros as the piece has bytes; `None` if somebody asked to stop before
    /// it was known.
    pub(crate) fn of_piece(&self, job: &Job<'_>, piece: PieceIndex) -> Option<Sha1Digest> {
        let lengths = job.layout.lengths();
        let len_bytes = lengths.piece_len(piece);
        let is_full = len_bytes == lengths.piece_length().get();
        let cell = if is_full { &self.full } else { &self.last };
        if let Some(digest) = cell.get() {
            return Some(*digest);
        }
        // Two workers may both find the cell empty. They come to the same digest.
        let mut hasher = Sha1::with_engine(job.engine);
        let mut rest = len_bytes as usize;
        while rest > 0 {
            if job.cancel.is_cancelled() {
                return None;
            }
            let n = rest.min(ZEROS.len());
            hasher.update(&ZEROS[..n]);
            rest -= n;
        }
        Some(*cell.get_or_init(|| hasher.finalize()))
    }
}
