//! MD5 and SHA-512 of several messages at once.

use hashlane_sha::{Engine, LaneHash};

use crate::CancelToken;
use crate::hasher::{MessageHasher, ZEROS};

/// A hasher that computes the same hash of each message: MD5, SHA-384, SHA-512 or SHA-512/256. Its messages are read into a buffer.
#[derive(Debug)]
pub struct LaneDigest<H: LaneHash> {
    kernel: H::Kernel,
    /// Hashers by slot.
    slots: Vec<H>,
}

impl<H: LaneHash> LaneDigest<H> {
    /// Returns a hasher on the kernel of `engine`.
    pub fn new(engine: &Engine) -> Self {
        Self {
            kernel: H::kernel(engine),
            slots: Vec::new(),
        }
    }
}

impl<H: LaneHash> MessageHasher for LaneDigest<H> {
    type Digest = H::Digest;

    fn start(&mut self, slot: usize, _: u32) {
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, H::default);
        }
        self.slots[slot] = H::default();
    }

    fn update(&mut self, windows: &[&[u8]]) {
        H::update_many(self.kernel, &mut self.slots, windows);
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<H::Digest> {
        let mut messages: Vec<H> = slots.iter().map(|slot| self.slots[*slot].clone()).collect();
        let mut digests = vec![H::ZERO; messages.len()];
        H::finalize_many(self.kernel, &mut messages, &mut digests);
        digests
    }

    fn zeros(&mut self, _: u32, len_bytes: u64, cancel: &CancelToken) -> Option<H::Digest> {
        let (mut hash, mut rest) = (H::default(), len_bytes);
        while rest > 0 {
            if cancel.is_cancelled() {
                return None;
            }
            let n = rest.min(ZEROS.len() as u64);
            hash.update(&ZEROS[..n as usize]);
            rest -= n;
        }
        Some(hash.finalize())
    }
}
