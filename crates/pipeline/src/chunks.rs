//! Hashing of messages in chunks, which are hashed side by side.

use hashlane_sha::{Algorithm, Engine};

use crate::CancelToken;
use crate::hasher::{Maps, MessageHasher};

/// Length of a chunk in bytes. Only the last chunk of a message has another length.
pub const CHUNK_LEN: usize = 16 << 10;

/// A way to combine the digests of the chunks of a message, such as a merkle tree over leaves (BEP 52).
pub trait ChunkDigests {
    /// The hash function of the chunks.
    type ChunkHash: Algorithm;

    /// The result for a message.
    type Digest: Send;

    /// Starts a message in a slot, and discards the previous message of the slot. Returns the number of bytes that are
    /// cut into chunks, from the first byte on. The rest of the message is not hashed.
    fn start(&mut self, slot: usize, message: u32) -> u64;

    /// Appends chunks to the message in each slot. `lens[i]` is the number of bytes that slot `i` receives. `digests`
    /// are the digests of all chunks, slot by slot.
    fn append(&mut self, lens: &[usize], digests: &[<Self::ChunkHash as Algorithm>::Digest]);

    /// Returns the results for the messages in these slots, in the order of `slots`.
    fn finish(&mut self, slots: &[usize]) -> Vec<Self::Digest>;

    /// Returns the result for a message of `len_bytes` zeros. Returns `None` if the run is cancelled before it is known.
    fn zeros(&mut self, message: u32, len_bytes: u64, cancel: &CancelToken)
    -> Option<Self::Digest>;
}

/// A hasher that hashes the chunks of all messages side by side. The combination of their digests sees no bytes of files,
/// so files may be mapped.
#[derive(Debug)]
pub struct ChunkHasher<C> {
    engine: Engine,
    chunks: C,
    /// Number of bytes that are still to be hashed, by slot.
    rests: Vec<u64>,
}

impl<C: ChunkDigests> ChunkHasher<C> {
    /// Returns a hasher on the kernels of `engine`.
    pub fn new(chunks: C, engine: Engine) -> Self {
        Self {
            engine,
            chunks,
            rests: Vec::new(),
        }
    }
}

impl<C: ChunkDigests> MessageHasher for ChunkHasher<C> {
    type Digest = C::Digest;

    // As for `MessageDigest`: only the engine reads bytes.
    const MAPS: Maps<Self> = Maps::ALLOWED;

    fn start(&mut self, slot: usize, message: u32) {
        if slot >= self.rests.len() {
            self.rests.resize(slot + 1, 0);
        }
        self.rests[slot] = self.chunks.start(slot, message);
    }

    fn update(&mut self, windows: &[&[u8]]) {
        let mut chunks = Vec::new();
        let mut lens = Vec::with_capacity(windows.len());
        for (rest, window) in self.rests.iter_mut().zip(windows) {
            let len_bytes = window
                .len()
                .min(usize::try_from(*rest).unwrap_or(usize::MAX));
            chunks.extend(window[..len_bytes].chunks(CHUNK_LEN));
            lens.push(len_bytes);
            *rest -= len_bytes as u64;
        }
        let mut digests = vec![<C::ChunkHash as Algorithm>::Digest::default(); chunks.len()];
        self.engine
            .digest_many::<C::ChunkHash>(&chunks, &mut digests);
        self.chunks.append(&lens, &digests);
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<C::Digest> {
        self.chunks.finish(slots)
    }

    fn zeros(&mut self, message: u32, len_bytes: u64, cancel: &CancelToken) -> Option<C::Digest> {
        self.chunks.zeros(message, len_bytes, cancel)
    }
}
