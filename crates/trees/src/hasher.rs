//! Hashers of leaves: the digests of all leaves of a message, one after another.

use hashlane_hashes::{Algorithm, Hasher};
use hashlane_pipeline::{CancelToken, ChunkDigests, ChunkHasher, Frame, MessageHasher};
use hashlane_sha::{Engine, LaneHash};

/// Zeros, hashed this many at a time.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Returns a hasher of leaves of `leaf_len` bytes in lanes. Messages consist of whole leaves.
pub(crate) fn in_lanes<A: hashlane_sha::Algorithm>(
    engine: Engine,
    leaf_len: usize,
    prefix: &[u8],
) -> ChunkHasher<Collector<A>> {
    let mut zeros = A::with_engine(engine);
    zeros.update(prefix);
    zeros.update(&ZEROS[..leaf_len]);
    let collector = Collector {
        leaf_len,
        zeros: zeros.finalize(),
        slots: Vec::new(),
    };
    ChunkHasher::new(collector, engine)
        .with_chunk_len(leaf_len)
        .after(prefix)
}

/// Keeps the digests of the leaves of each message.
#[derive(Debug)]
pub(crate) struct Collector<A: hashlane_sha::Algorithm> {
    leaf_len: usize,
    /// The digest of a leaf of zeros.
    zeros: A::Digest,
    /// The digests so far, by slot.
    slots: Vec<Vec<u8>>,
}

impl<A: hashlane_sha::Algorithm> ChunkDigests for Collector<A> {
    type ChunkHash = A;
    type Digest = Vec<u8>;

    fn start(&mut self, slot: usize, _: u32) -> u64 {
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, Vec::new);
        }
        self.slots[slot].clear();
        u64::MAX
    }

    fn append(&mut self, lens: &[usize], digests: &[A::Digest]) {
        let mut rest = digests;
        for (slot, len_bytes) in self.slots.iter_mut().zip(lens) {
            let (digests, others) = rest.split_at(len_bytes.div_ceil(self.leaf_len));
            slot.reserve(digests.len() * A::DIGEST_LEN);
            for digest in digests {
                slot.extend_from_slice(digest.as_ref());
            }
            rest = others;
        }
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<Vec<u8>> {
        let slots = slots.iter();
        slots
            .map(|slot| std::mem::take(&mut self.slots[*slot]))
            .collect()
    }

    fn zeros(&mut self, _: u32, len_bytes: u64, _: &CancelToken) -> Option<Vec<u8>> {
        let n_leaves = len_bytes as usize / self.leaf_len;
        Some(self.zeros.as_ref().repeat(n_leaves))
    }
}

/// A hasher of leaves for the hashes with the trait [`LaneHash`]. Messages consist of whole leaves, and are read into a buffer.
#[derive(Debug)]
pub(crate) struct LaneLeaves<H: LaneHash> {
    kernel: H::Kernel,
    /// The state after the bytes that precede each leaf.
    start: H,
    leaf_len: usize,
    slots: Vec<LaneSlot<H>>,
}

#[derive(Clone, Debug)]
struct LaneSlot<H> {
    /// A leaf whose end is in another window.
    leaf: H,
    /// Number of bytes of this leaf that are hashed.
    len_bytes: usize,
    /// The digests so far.
    digests: Vec<u8>,
}

impl<H: LaneHash> LaneLeaves<H> {
    /// Returns a hasher of leaves of `leaf_len` bytes, each after `prefix`.
    pub(crate) fn new(engine: &Engine, leaf_len: usize, prefix: &[u8]) -> Self {
        let mut start = H::default();
        start.update(prefix);
        Self {
            kernel: H::kernel(engine),
            start,
            leaf_len,
            slots: Vec::new(),
        }
    }
}

impl<H: LaneHash> MessageHasher for LaneLeaves<H> {
    type Digest = Vec<u8>;

    fn start(&mut self, slot: usize, _: u32) {
        let empty = LaneSlot {
            leaf: self.start.clone(),
            len_bytes: 0,
            digests: Vec::new(),
        };
        if slot >= self.slots.len() {
            self.slots.resize(slot + 1, empty);
        } else {
            self.slots[slot] = empty;
        }
    }

    fn update(&mut self, windows: &[&[u8]]) {
        let (mut leaves, mut counts) = (Vec::new(), Vec::new());
        for (slot, window) in self.slots.iter_mut().zip(windows) {
            let mut rest = *window;
            if slot.len_bytes > 0 {
                let n = rest.len().min(self.leaf_len - slot.len_bytes);
                let (end, others) = rest.split_at(n);
                slot.leaf.update(end);
                slot.len_bytes += n;
                rest = others;
                if slot.len_bytes == self.leaf_len {
                    slot.end_leaf(&self.start);
                }
            }
            let whole = rest.chunks_exact(self.leaf_len);
            let begin = whole.remainder();
            slot.leaf.update(begin);
            slot.len_bytes += begin.len();
            counts.push(whole.len());
            leaves.extend(whole);
        }
        let mut digests = vec![H::ZERO; leaves.len()];
        H::digest_many_after(self.kernel, &self.start, &leaves, &mut digests);
        let mut rest = &digests[..];
        for (slot, count) in self.slots.iter_mut().zip(counts) {
            let (digests, others) = rest.split_at(count);
            let digests = digests.iter().flat_map(AsRef::as_ref);
            slot.digests.extend(digests);
            rest = others;
        }
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<Vec<u8>> {
        let slots = slots.iter();
        slots
            .map(|slot| {
                let slot = &mut self.slots[*slot];
                // A message without bytes has one empty leaf.
                if slot.len_bytes > 0 || slot.digests.is_empty() {
                    slot.end_leaf(&self.start);
                }
                std::mem::take(&mut slot.digests)
            })
            .collect()
    }

    fn zeros(&mut self, _: u32, len_bytes: u64, _: &CancelToken) -> Option<Vec<u8>> {
        let mut leaf = self.start.clone();
        leaf.update(&ZEROS[..self.leaf_len]);
        let n_leaves = len_bytes as usize / self.leaf_len;
        Some(leaf.finalize().as_ref().repeat(n_leaves))
    }
}

impl<H: LaneHash> LaneSlot<H> {
    fn end_leaf(&mut self, start: &H) {
        let leaf = std::mem::replace(&mut self.leaf, start.clone());
        self.digests.extend_from_slice(leaf.finalize().as_ref());
        self.len_bytes = 0;
    }
}

/// A hasher for all hashes and all lengths of leaves, which hashes one leaf after another. Its messages are read into a
/// buffer: see [`MessageHasher::MAPS`].
#[derive(Debug)]
pub(crate) struct OneByOne {
    /// The state after the bytes that precede each leaf.
    prefix: Hasher,
    /// The bytes after each leaf.
    suffix: Vec<u8>,
    leaf_len: u64,
    slots: Vec<Slot>,
}

#[derive(Clone, Debug)]
struct Slot {
    hasher: Hasher,
    /// Number of bytes of the current leaf that are still to be hashed.
    rest: u64,
    digests: Vec<u8>,
}

impl OneByOne {
    /// Returns a hasher of leaves of `leaf_len` bytes in this frame. Only the last leaf of a message can be shorter.
    pub(crate) fn new(engine: Engine, algorithm: Algorithm, leaf_len: u64, frame: &Frame) -> Self {
        let mut prefix = Hasher::with_engine(engine, algorithm);
        prefix.update(&frame.prefix);
        Self {
            prefix,
            suffix: frame.suffix.clone(),
            leaf_len,
            slots: Vec::new(),
        }
    }

    fn empty_slot(&self) -> Slot {
        Slot {
            hasher: self.prefix.clone(),
            rest: self.leaf_len,
            digests: Vec::new(),
        }
    }
}

impl Slot {
    fn update(&mut self, mut bytes: &[u8], leaf_len: u64, prefix: &Hasher, suffix: &[u8]) {
        while !bytes.is_empty() {
            let n = self.rest.min(bytes.len() as u64) as usize;
            let (part, others) = bytes.split_at(n);
            self.hasher.update(part);
            self.rest -= n as u64;
            if self.rest == 0 {
                self.end_leaf(leaf_len, prefix, suffix);
            }
            bytes = others;
        }
    }

    fn end_leaf(&mut self, leaf_len: u64, prefix: &Hasher, suffix: &[u8]) {
        let mut hasher = std::mem::replace(&mut self.hasher, prefix.clone());
        hasher.update(suffix);
        self.digests.extend_from_slice(hasher.finalize().as_bytes());
        self.rest = leaf_len;
    }

    /// Ends the message, and returns the digests of its leaves.
    fn finish(&mut self, leaf_len: u64, prefix: &Hasher, suffix: &[u8]) -> Vec<u8> {
        // A message without bytes has one empty leaf.
        if self.rest < leaf_len || self.digests.is_empty() {
            self.end_leaf(leaf_len, prefix, suffix);
        }
        std::mem::take(&mut self.digests)
    }
}

impl MessageHasher for OneByOne {
    type Digest = Vec<u8>;

    fn start(&mut self, slot: usize, _: u32) {
        let empty = self.empty_slot();
        if slot >= self.slots.len() {
            self.slots.resize(slot + 1, empty);
        } else {
            self.slots[slot] = empty;
        }
    }

    fn update(&mut self, windows: &[&[u8]]) {
        for (slot, window) in self.slots.iter_mut().zip(windows) {
            slot.update(window, self.leaf_len, &self.prefix, &self.suffix);
        }
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<Vec<u8>> {
        let slots = slots.iter();
        slots
            .map(|slot| self.slots[*slot].finish(self.leaf_len, &self.prefix, &self.suffix))
            .collect()
    }

    fn zeros(&mut self, _: u32, len_bytes: u64, cancel: &CancelToken) -> Option<Vec<u8>> {
        let (mut slot, mut rest) = (self.empty_slot(), self.leaf_len.min(len_bytes));
        while rest > 0 {
            if cancel.is_cancelled() {
                return None;
            }
            let n = rest.min(ZEROS.len() as u64);
            slot.update(
                &ZEROS[..n as usize],
                self.leaf_len,
                &self.prefix,
                &self.suffix,
            );
            rest -= n;
        }
        let leaf = slot.finish(self.leaf_len, &self.prefix, &self.suffix);
        // All leaves of a message have the same length.
        Some(leaf.repeat(len_bytes.div_ceil(self.leaf_len).max(1) as usize))
    }
}
