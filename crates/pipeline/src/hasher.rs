//! Hashers of several messages at once, in windows.

use std::fmt;
use std::marker::PhantomData;

use hashlane_sha::{Algorithm, Engine};

use crate::CancelToken;

/// Bytes of each message that the first digest consumes before the second digest follows. For
/// sixteen messages side by side this is 1 MiB, which is still in the cache of the core for the
/// second digest.
const SHARED_LEN: usize = 64 << 10;

/// Zeros, hashed this many at a time.
pub(crate) static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Number of lengths for which digests of zeros are kept. A torrent has two lengths of pieces.
const KEPT_ZEROS: usize = 4;

/// A hasher of messages that a worker reads side by side. Each worker has its own hashers.
///
/// A message occupies a numbered slot from [`start`](Self::start) until [`finish`](Self::finish).
/// Its bytes arrive in windows. The lengths of all windows except the last are multiples of 16 KiB.
///
/// A pair `(A, B)` computes two digests of each message while its bytes are in the cache. An
/// `Option` computes a digest or does nothing.
///
/// Bytes of windows never change. Other processes can change mapped files at any time, so only the hashers of this crate
/// see mapped bytes: see [`Self::MAPS`].
pub trait MessageHasher {
    /// The digest of a message, or several digests of the same message.
    type Digest: Send;

    /// Whether windows may lie in mapped files. Only [`MessageDigest`], [`FramedDigest`], [`ChunkHasher`](crate::ChunkHasher),
    /// and pairs, options and choices of them can allow it. All other hashers keep this value, and their messages are read.
    const MAPS: Maps<Self> = Maps::NEVER;

    /// Returns the number of times that each byte is read.
    fn n_passes(&self) -> usize {
        1
    }

    /// Starts a message in a slot, and discards the previous message of the slot.
    fn start(&mut self, slot: usize, message: u32);

    /// Appends a window to the message in each slot: `windows[i]` belongs to slot `i`. The window of
    /// a slot without a message is empty.
    fn update(&mut self, windows: &[&[u8]]);

    /// Returns the digests of the messages in these slots, in the order of `slots`.
    fn finish(&mut self, slots: &[usize]) -> Vec<Self::Digest>;

    /// Returns the digest of a message of `len_bytes` zeros. Returns `None` if the run is cancelled
    /// before the digest is known.
    fn zeros(&mut self, message: u32, len_bytes: u64, cancel: &CancelToken)
    -> Option<Self::Digest>;
}

/// A hasher that computes the digests of some messages, and does nothing for all others.
///
/// Messages that need different digests are then hashed in one run: pairs of this type compute for each message the digests
/// that it needs.
pub struct Chosen<'c, H> {
    hasher: H,
    choice: &'c (dyn Fn(u32) -> bool + Sync),
    /// Whether the message in each slot is hashed.
    slots: Vec<bool>,
}

impl<'c, H> Chosen<'c, H> {
    /// Returns a hasher that passes the messages for which `choice` returns `true` to `hasher`.
    pub fn new(hasher: H, choice: &'c (dyn Fn(u32) -> bool + Sync)) -> Self {
        Self {
            hasher,
            choice,
            slots: Vec::new(),
        }
    }
}

impl<H: fmt::Debug> fmt::Debug for Chosen<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chosen").field(&self.hasher).finish()
    }
}

impl<H: MessageHasher> MessageHasher for Chosen<'_, H> {
    type Digest = Option<H::Digest>;

    // All bytes go to the inner hasher.
    const MAPS: Maps<Self> = Maps::new(H::MAPS.are_allowed);

    fn n_passes(&self) -> usize {
        self.hasher.n_passes()
    }

    fn start(&mut self, slot: usize, message: u32) {
        if slot >= self.slots.len() {
            self.slots.resize(slot + 1, false);
        }
        self.slots[slot] = (self.choice)(message);
        if self.slots[slot] {
            self.hasher.start(slot, message);
        }
    }

    fn update(&mut self, windows: &[&[u8]]) {
        let windows = windows.iter().zip(&self.slots);
        let windows = windows.map(|(window, is_chosen)| if *is_chosen { *window } else { &[] });
        let mut windows: Vec<&[u8]> = windows.collect();
        // The inner hasher has no slot after the last one that it started.
        let last = self.slots.iter().rposition(|is_chosen| *is_chosen);
        windows.truncate(last.map_or(0, |last| last + 1));
        if !windows.is_empty() {
            self.hasher.update(&windows);
        }
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<Self::Digest> {
        let chosen: Vec<usize> = slots
            .iter()
            .copied()
            .filter(|slot| self.slots[*slot])
            .collect();
        let mut digests = self.hasher.finish(&chosen).into_iter();
        let digest = |slot: &usize| self.slots[*slot].then(|| digests.next()).flatten();
        slots.iter().map(digest).collect()
    }

    fn zeros(
        &mut self,
        message: u32,
        len_bytes: u64,
        cancel: &CancelToken,
    ) -> Option<Self::Digest> {
        if !(self.choice)(message) {
            return Some(None);
        }
        Some(Some(self.hasher.zeros(message, len_bytes, cancel)?))
    }
}

/// Whether the hasher `H` may read mapped files, whose bytes can change while it reads them. Code outside of this crate
/// can only say that it may not.
pub struct Maps<H: ?Sized> {
    are_allowed: bool,
    hasher: PhantomData<fn(&H)>,
}

impl<H: ?Sized> Maps<H> {
    /// The hasher gets only bytes that do not change.
    pub const NEVER: Self = Self::new(false);

    /// The hasher reads bytes only on the thread that calls it, and is sound if two reads of a byte differ.
    pub(crate) const ALLOWED: Self = Self::new(true);

    const fn new(are_allowed: bool) -> Self {
        Self {
            are_allowed,
            hasher: PhantomData,
        }
    }

    /// Returns `true` if the hasher may read mapped files.
    pub const fn are_allowed(&self) -> bool {
        self.are_allowed
    }
}

impl<H: ?Sized> fmt::Debug for Maps<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Maps").field(&self.are_allowed).finish()
    }
}

/// A hasher that computes SHA-1 or SHA-256 of each message.
#[derive(Debug)]
pub struct MessageDigest<A: Algorithm> {
    engine: Engine,
    /// Hashers by slot.
    slots: Vec<A>,
    /// Lengths and digests of zeros, the oldest first.
    zeros: Vec<(u64, A::Digest)>,
}

impl<A: Algorithm> MessageDigest<A> {
    /// Returns a hasher on the kernels of `engine`.
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            slots: Vec::new(),
            zeros: Vec::new(),
        }
    }
}

impl<A: Algorithm> MessageHasher for MessageDigest<A> {
    type Digest = A::Digest;

    // The engine loads words and computes with them. No index and no branch depends on a byte.
    const MAPS: Maps<Self> = Maps::ALLOWED;

    fn start(&mut self, slot: usize, _: u32) {
        if let Some(hasher) = self.slots.get_mut(slot) {
            hasher.reset();
        } else {
            self.slots.resize(slot + 1, A::with_engine(self.engine));
        }
    }

    fn update(&mut self, windows: &[&[u8]]) {
        assert!(windows.len() <= self.slots.len(), "each window has a slot");
        let windows = windows.iter().copied();
        self.engine.update_many(self.slots.iter_mut().zip(windows));
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<A::Digest> {
        let mut digests = vec![A::Digest::default(); slots.len()];
        if slots.iter().copied().eq(0..slots.len()) {
            let slots = &mut self.slots[..slots.len()];
            self.engine.finalize_many(slots, &mut digests);
        } else {
            let mut hashers: Vec<A> = slots.iter().map(|slot| self.slots[*slot].clone()).collect();
            self.engine.finalize_many(&mut hashers, &mut digests);
        }
        digests
    }

    fn zeros(&mut self, _: u32, len_bytes: u64, cancel: &CancelToken) -> Option<A::Digest> {
        self.zeros_in(&Frame::default(), len_bytes, cancel)
    }
}

impl<A: Algorithm> MessageDigest<A> {
    /// Returns the digest of `len_bytes` zeros in a frame that depends only on their number.
    fn zeros_in(
        &mut self,
        frame: &Frame,
        len_bytes: u64,
        cancel: &CancelToken,
    ) -> Option<A::Digest> {
        if let Some((_, digest)) = self.zeros.iter().find(|(len, _)| *len == len_bytes) {
            return Some(*digest);
        }
        let mut hasher = A::with_engine(self.engine);
        hasher.update(&frame.prefix);
        let mut rest = len_bytes;
        while rest > 0 {
            if cancel.is_cancelled() {
                return None;
            }
            let n = rest.min(ZEROS.len() as u64);
            hasher.update(&ZEROS[..n as usize]);
            rest -= n;
        }
        hasher.update(&frame.suffix);
        let digest = hasher.finalize();
        if self.zeros.len() == KEPT_ZEROS {
            self.zeros.remove(0);
        }
        self.zeros.push((len_bytes, digest));
        Some(digest)
    }
}

/// Bytes that are hashed before and after those of a message, such as the header of a block in a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// The bytes before the message.
    pub prefix: Vec<u8>,
    /// The bytes after the message.
    pub suffix: Vec<u8>,
}

impl Frame {
    /// Returns the frame.
    pub fn new(prefix: impl Into<Vec<u8>>, suffix: impl Into<Vec<u8>>) -> Self {
        let (prefix, suffix) = (prefix.into(), suffix.into());
        Self { prefix, suffix }
    }
}

/// A hasher that computes SHA-1 or SHA-256 of each message in its frame. Messages of equal length have equal frames.
pub struct FramedDigest<'f, A: Algorithm> {
    digest: MessageDigest<A>,
    frame: &'f (dyn Fn(u32) -> Frame + Sync),
    /// The bytes after the message in each slot.
    suffixes: Vec<Vec<u8>>,
}

impl<'f, A: Algorithm> FramedDigest<'f, A> {
    /// Returns a hasher on the kernels of `engine`. `frame` returns the frame of a message.
    pub fn new(engine: Engine, frame: &'f (dyn Fn(u32) -> Frame + Sync)) -> Self {
        Self {
            digest: MessageDigest::new(engine),
            frame,
            suffixes: Vec::new(),
        }
    }
}

impl<A: Algorithm> fmt::Debug for FramedDigest<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FramedDigest").finish_non_exhaustive()
    }
}

impl<A: Algorithm> MessageHasher for FramedDigest<'_, A> {
    type Digest = A::Digest;

    // Bytes of messages go to `MessageDigest` alone.
    const MAPS: Maps<Self> = Maps::ALLOWED;

    fn start(&mut self, slot: usize, message: u32) {
        self.digest.start(slot, message);
        let frame = (self.frame)(message);
        self.digest.slots[slot].update(&frame.prefix);
        if slot >= self.suffixes.len() {
            self.suffixes.resize_with(slot + 1, Vec::new);
        }
        self.suffixes[slot] = frame.suffix;
    }

    fn update(&mut self, windows: &[&[u8]]) {
        self.digest.update(windows);
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<A::Digest> {
        for slot in slots {
            self.digest.slots[*slot].update(&self.suffixes[*slot]);
        }
        self.digest.finish(slots)
    }

    fn zeros(&mut self, message: u32, len_bytes: u64, cancel: &CancelToken) -> Option<A::Digest> {
        let frame = (self.frame)(message);
        self.digest.zeros_in(&frame, len_bytes, cancel)
    }
}

impl<A: MessageHasher, B: MessageHasher> MessageHasher for (A, B) {
    type Digest = (A::Digest, B::Digest);

    const MAPS: Maps<Self> = Maps::new(A::MAPS.are_allowed && B::MAPS.are_allowed);

    fn n_passes(&self) -> usize {
        self.0.n_passes() + self.1.n_passes()
    }

    fn start(&mut self, slot: usize, message: u32) {
        self.0.start(slot, message);
        self.1.start(slot, message);
    }

    fn update(&mut self, windows: &[&[u8]]) {
        let longest = windows.iter().map(|window| window.len()).max().unwrap_or(0);
        if self.n_passes() < 2 || longest <= SHARED_LEN {
            self.0.update(windows);
            self.1.update(windows);
            return;
        }
        let mut parts = Vec::with_capacity(windows.len());
        for begin in (0..longest).step_by(SHARED_LEN) {
            parts.clear();
            parts.extend(windows.iter().map(|window| {
                let rest = &window[begin.min(window.len())..];
                &rest[..SHARED_LEN.min(rest.len())]
            }));
            self.0.update(&parts);
            self.1.update(&parts);
        }
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<Self::Digest> {
        let first = self.0.finish(slots);
        first.into_iter().zip(self.1.finish(slots)).collect()
    }

    #[inline]
    fn zeros(
        &mut self,
        message: u32,
        len_bytes: u64,
        cancel: &CancelToken,
    ) -> Option<Self::Digest> {
        let first = self.0.zeros(message, len_bytes, cancel)?;
        Some((first, self.1.zeros(message, len_bytes, cancel)?))
    }
}

impl<H: MessageHasher> MessageHasher for Option<H> {
    type Digest = Option<H::Digest>;

    const MAPS: Maps<Self> = Maps::new(H::MAPS.are_allowed);

    fn n_passes(&self) -> usize {
        self.as_ref().map_or(0, H::n_passes)
    }

    fn start(&mut self, slot: usize, message: u32) {
        if let Some(hasher) = self {
            hasher.start(slot, message);
        }
    }

    fn update(&mut self, windows: &[&[u8]]) {
        if let Some(hasher) = self {
            hasher.update(windows);
        }
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<Self::Digest> {
        match self {
            Some(hasher) => hasher.finish(slots).into_iter().map(Some).collect(),
            None => slots.iter().map(|_| None).collect(),
        }
    }

    #[inline]
    fn zeros(
        &mut self,
        message: u32,
        len_bytes: u64,
        cancel: &CancelToken,
    ) -> Option<Self::Digest> {
        match self {
            Some(hasher) => Some(Some(hasher.zeros(message, len_bytes, cancel)?)),
            None => Some(None),
        }
    }
}
