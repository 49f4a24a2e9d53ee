//! Hashing of messages in chunks, which are hashed side by side.

use hashlane_sha::{Algorithm, Engine};

use crate::CancelToken;
use crate::hasher::{Maps, MessageHasher};

/// Length of a chunk in bytes, and the unit of the lengths of windows. Only the last chunk of a message has another length.
/// [`ChunkHasher::with_chunk_len`] chooses shorter chunks.
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
pub struct ChunkHasher<C: ChunkDigests> {
    engine: Engine,
    chunks: C,
    chunk_len: usize,
    /// The hasher of the bytes before each chunk, if there are any.
    prefix: Option<C::ChunkHash>,
    /// Number of bytes that are still to be hashed, by slot.
    rests: Vec<u64>,
}

impl<C: ChunkDigests> ChunkHasher<C> {
    /// Returns a hasher on the kernels of `engine`.
    pub fn new(chunks: C, engine: Engine) -> Self {
        Self {
            engine,
            chunks,
            chunk_len: CHUNK_LEN,
            prefix: None,
            rests: Vec::new(),
        }
    }

    /// Sets the length of a chunk in bytes.
    ///
    /// # Panics
    /// If [`CHUNK_LEN`] is no multiple of `chunk_len`.
    #[must_use]
    pub fn with_chunk_len(mut self, chunk_len: usize) -> Self {
        let is_divisor = chunk_len > 0 && CHUNK_LEN.is_multiple_of(chunk_len);
        assert!(is_divisor, "windows consist of whole chunks");
        self.chunk_len = chunk_len;
        self
    }

    /// Hashes `prefix` before the bytes of each chunk, for example a salt. A prefix of whole blocks of the hash function
    /// costs nothing per chunk.
    #[must_use]
    pub fn after(mut self, prefix: &[u8]) -> Self {
        let mut hasher = C::ChunkHash::with_engine(self.engine);
        hasher.update(prefix);
        self.prefix = Some(hasher).filter(|_| !prefix.is_empty());
        self
    }

    /// Returns the digests of the chunks in each of these runs of bytes, run by run.
    fn digests(&self, runs: &[&[u8]]) -> Vec<<C::ChunkHash as Algorithm>::Digest> {
        let n_chunks = |run: &&[u8]| run.len().div_ceil(self.chunk_len);
        let mut digests = vec![Default::default(); runs.iter().map(n_chunks).sum()];
        let Some(prefix) = &self.prefix else {
            let chunks = runs.iter().flat_map(|run| run.chunks(self.chunk_len));
            self.engine
                .digest_many::<C::ChunkHash>(chunks, &mut digests);
            return digests;
        };
        let mut rest = &mut digests[..];
        for run in runs {
            let (digests, others) = rest.split_at_mut(n_chunks(run));
            self.engine
                .digest_chunks_after(prefix, run, self.chunk_len, digests);
            rest = others;
        }
        digests
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
        let mut runs = Vec::with_capacity(windows.len());
        let mut lens = Vec::with_capacity(windows.len());
        for (rest, window) in self.rests.iter_mut().zip(windows) {
            let len_bytes = window
                .len()
                .min(usize::try_from(*rest).unwrap_or(usize::MAX));
            runs.push(&window[..len_bytes]);
            lens.push(len_bytes);
            *rest -= len_bytes as u64;
        }
        let digests = self.digests(&runs);
        self.chunks.append(&lens, &digests);
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<C::Digest> {
        self.chunks.finish(slots)
    }

    fn zeros(&mut self, message: u32, len_bytes: u64, cancel: &CancelToken) -> Option<C::Digest> {
        self.chunks.zeros(message, len_bytes, cancel)
    }
}
