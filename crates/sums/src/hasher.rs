//! A hasher of several digests per message: MD5, SHA-1 and SHA-256 in lanes, other algorithms one
//! message after another.

use std::sync::Arc;

use hashlane_hashes::HashFunction;
use hashlane_pipeline::{CancelToken, Md5Digest, MessageDigest, MessageHasher};
use hashlane_sha::{Engine, Sha1, Sha256};

use crate::algorithm::{Digest, DigestAlgorithm, Stream};

/// Zeros, hashed this many at a time.
static ZEROS: [u8; 16 << 10] = [0; 16 << 10];

/// A hasher that computes the requested digests of each message.
pub(crate) struct Digests<'a> {
    engine: Engine,
    /// Returns the algorithms of a message.
    algorithms: &'a (dyn Fn(u32) -> Arc<[DigestAlgorithm]> + Sync),
    md5: EngineDigests<Md5Digest>,
    sha1: EngineDigests<MessageDigest<Sha1>>,
    sha256: EngineDigests<MessageDigest<Sha256>>,
    slots: Vec<Slot>,
}

/// The message in a slot.
#[derive(Clone)]
struct Slot {
    algorithms: Arc<[DigestAlgorithm]>,
    /// The states of all algorithms except MD5, SHA-1 and SHA-256.
    streams: Vec<Stream>,
}

/// A hasher in lanes, created for the first message that needs it.
struct EngineDigests<H> {
    algorithm: DigestAlgorithm,
    hasher: Option<H>,
}

impl<H: MessageHasher<Digest: AsRef<[u8]>>> EngineDigests<H> {
    fn start(&mut self, slot: usize, message: u32, new: impl FnOnce() -> H) {
        self.hasher.get_or_insert_with(new).start(slot, message);
    }

    /// Appends windows to the messages that need this algorithm.
    fn update(&mut self, slots: &[Slot], windows: &[&[u8]]) {
        let Some(hasher) = &mut self.hasher else {
            return;
        };
        let is_needed = |slot: &Slot| slot.algorithms.contains(&self.algorithm);
        let Some(last) = slots[..windows.len()].iter().rposition(is_needed) else {
            return;
        };
        let windows = slots.iter().zip(&windows[..=last]);
        let windows: Vec<&[u8]> = windows
            .map(|(slot, window)| if is_needed(slot) { window } else { &[][..] })
            .collect();
        hasher.update(&windows);
    }

    /// Returns the digests of the ended messages that need this algorithm, in their order.
    fn finish(&mut self, slots: &[Slot], ended: &[usize]) -> impl Iterator<Item = Digest> + use<H> {
        let needed = ended.iter().copied();
        let needed: Vec<usize> = needed
            .filter(|slot| slots[*slot].algorithms.contains(&self.algorithm))
            .collect();
        let hasher = self.hasher.as_mut().filter(|_| !needed.is_empty());
        let digests = hasher.map_or_else(Vec::new, |hasher| hasher.finish(&needed));
        digests.into_iter().map(Digest::new)
    }
}

impl<'a> Digests<'a> {
    /// Returns a hasher. `algorithms` returns the algorithms of a message.
    pub(crate) fn new(
        engine: Engine,
        algorithms: &'a (dyn Fn(u32) -> Arc<[DigestAlgorithm]> + Sync),
    ) -> Self {
        Self {
            engine,
            algorithms,
            md5: EngineDigests {
                algorithm: DigestAlgorithm::Hash(HashFunction::Md5),
                hasher: None,
            },
            sha1: EngineDigests {
                algorithm: DigestAlgorithm::Hash(HashFunction::Sha1),
                hasher: None,
            },
            sha256: EngineDigests {
                algorithm: DigestAlgorithm::Hash(HashFunction::Sha256),
                hasher: None,
            },
            slots: Vec::new(),
        }
    }
}

/// Returns the digest of a slot, which is taken from `digests` the first time: a list can name an algorithm twice for a file.
fn once(
    of_slot: &mut Option<Digest>,
    digests: &mut impl Iterator<Item = Digest>,
) -> Option<Digest> {
    if of_slot.is_none() {
        *of_slot = digests.next();
    }
    of_slot.clone()
}

impl MessageHasher for Digests<'_> {
    type Digest = Vec<Digest>;

    fn start(&mut self, slot: usize, message: u32) {
        let engine = self.engine;
        let algorithms = (self.algorithms)(message);
        let mut streams = Vec::new();
        for algorithm in &*algorithms {
            match algorithm {
                DigestAlgorithm::Hash(HashFunction::Md5) => {
                    self.md5.start(slot, message, || Md5Digest::new(engine));
                }
                DigestAlgorithm::Hash(HashFunction::Sha1) => {
                    let new = || MessageDigest::new(engine);
                    self.sha1.start(slot, message, new);
                }
                DigestAlgorithm::Hash(HashFunction::Sha256) => {
                    let new = || MessageDigest::new(engine);
                    self.sha256.start(slot, message, new);
                }
                other => streams.push(Stream::new(*other, engine)),
            }
        }
        let new = Slot {
            algorithms,
            streams,
        };
        if self.slots.len() <= slot {
            let free = Slot {
                algorithms: [].into(),
                streams: Vec::new(),
            };
            self.slots.resize(slot + 1, free);
        }
        self.slots[slot] = new;
    }

    fn update(&mut self, windows: &[&[u8]]) {
        self.md5.update(&self.slots, windows);
        self.sha1.update(&self.slots, windows);
        self.sha256.update(&self.slots, windows);
        for (slot, window) in self.slots.iter_mut().zip(windows) {
            for stream in &mut slot.streams {
                stream.update(window);
            }
        }
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<Vec<Digest>> {
        let mut md5 = self.md5.finish(&self.slots, slots);
        let mut sha1 = self.sha1.finish(&self.slots, slots);
        let mut sha256 = self.sha256.finish(&self.slots, slots);
        let digests = slots.iter().map(|slot| {
            let slot = &mut self.slots[*slot];
            let mut streams = std::mem::take(&mut slot.streams).into_iter();
            let (mut of_md5, mut of_sha1, mut of_sha256) = (None, None, None);
            let digests = slot.algorithms.iter().map(|algorithm| match algorithm {
                DigestAlgorithm::Hash(HashFunction::Md5) => once(&mut of_md5, &mut md5),
                DigestAlgorithm::Hash(HashFunction::Sha1) => once(&mut of_sha1, &mut sha1),
                DigestAlgorithm::Hash(HashFunction::Sha256) => once(&mut of_sha256, &mut sha256),
                _ => streams.next().map(Stream::finish),
            });
            let digests = digests.map(|digest| digest.expect("each algorithm was started"));
            digests.collect()
        });
        digests.collect()
    }

    fn zeros(&mut self, message: u32, len_bytes: u64, cancel: &CancelToken) -> Option<Vec<Digest>> {
        let mut streams = streams(&(self.algorithms)(message), self.engine);
        let mut rest = len_bytes;
        while rest > 0 {
            if cancel.is_cancelled() {
                return None;
            }
            let n = rest.min(ZEROS.len() as u64);
            for stream in &mut streams {
                stream.update(&ZEROS[..n as usize]);
            }
            rest -= n;
        }
        Some(streams.into_iter().map(Stream::finish).collect())
    }
}

/// Returns the states of a message that is hashed alone.
pub(crate) fn streams(algorithms: &[DigestAlgorithm], engine: Engine) -> Vec<Stream> {
    let algorithms = algorithms.iter();
    algorithms
        .map(|algorithm| Stream::new(*algorithm, engine))
        .collect()
}
