//! MD5 of several messages at once.

use hashlane_sha::{Engine, Md5, Md5Kernel};

use crate::CancelToken;
use crate::hasher::{MessageHasher, ZEROS};

/// A hasher that computes MD5 of each message, for formats that require it. Its messages are read into a buffer.
#[derive(Debug)]
pub struct Md5Digest {
    kernel: Md5Kernel,
    /// Hashers by slot.
    slots: Vec<Md5>,
}

impl Md5Digest {
    /// Returns a hasher on the kernel of `engine`.
    pub fn new(engine: Engine) -> Self {
        Self {
            kernel: engine.md5_kernel(),
            slots: Vec::new(),
        }
    }
}

impl MessageHasher for Md5Digest {
    type Digest = [u8; 16];

    fn start(&mut self, slot: usize, _: u32) {
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, Md5::default);
        }
        self.slots[slot] = Md5::default();
    }

    fn update(&mut self, windows: &[&[u8]]) {
        self.kernel.update_many(&mut self.slots, windows);
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<[u8; 16]> {
        let slots = slots.iter();
        slots
            .map(|slot| self.slots[*slot].clone().finalize())
            .collect()
    }

    fn zeros(&mut self, _: u32, len_bytes: u64, cancel: &CancelToken) -> Option<[u8; 16]> {
        let (mut md5, mut rest) = (Md5::default(), len_bytes);
        while rest > 0 {
            if cancel.is_cancelled() {
                return None;
            }
            let n = rest.min(ZEROS.len() as u64);
            md5.update(&ZEROS[..n as usize]);
            rest -= n;
        }
        Some(md5.finalize())
    }
}
