//! A hasher of several digests per message: MD5, SHA-1, SHA-256, SHA-384 and SHA-512 in lanes, other
//! algorithms one message after another.

use std::sync::Arc;

use hashlane_hashes::{Algorithm, Digest, Hasher};
use hashlane_pipeline::{CancelToken, LaneDigest, MessageDigest, MessageHasher};
use hashlane_sha::{Engine, Md5, Sha1, Sha256, Sha384, Sha512};

/// Zeros, hashed this many at a time.
static ZEROS: [u8; 16 << 10] = [0; 16 << 10];

/// A hasher that computes the requested digests of each message.
pub(crate) struct Digests<'a> {
    engine: Engine,
    /// Returns the algorithms of a message.
    algorithms: &'a (dyn Fn(u32) -> Arc<[Algorithm]> + Sync),
    /// One for each algorithm that runs in lanes and that a message has needed.
    in_lanes: Vec<InLanes>,
    slots: Vec<Slot>,
}

/// The message in a slot.
#[derive(Clone)]
struct Slot {
    algorithms: Arc<[Algorithm]>,
    /// The states of all algorithms that do not run in lanes.
    streams: Vec<Hasher>,
}

/// The messages that need an algorithm that runs in lanes.
struct InLanes {
    algorithm: Algorithm,
    hasher: Box<dyn LaneHasher>,
}

/// A [`MessageHasher`] of any algorithm.
trait LaneHasher {
    fn start(&mut self, slot: usize, message: u32);
    fn update(&mut self, windows: &[&[u8]]);
    fn finish(&mut self, slots: &[usize]) -> Vec<Digest>;
}

impl<H: MessageHasher<Digest: AsRef<[u8]>>> LaneHasher for H {
    fn start(&mut self, slot: usize, message: u32) {
        MessageHasher::start(self, slot, message);
    }

    fn update(&mut self, windows: &[&[u8]]) {
        MessageHasher::update(self, windows);
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<Digest> {
        let digests = MessageHasher::finish(self, slots);
        digests.into_iter().map(Digest::new).collect()
    }
}

/// Returns the hasher of an algorithm that runs in lanes.
fn lane_hasher(algorithm: Algorithm, engine: Engine) -> Option<Box<dyn LaneHasher>> {
    Some(match algorithm {
        Algorithm::Md5 => Box::new(LaneDigest::<Md5>::new(&engine)),
        Algorithm::Sha1 => Box::new(MessageDigest::<Sha1>::new(engine)),
        Algorithm::Sha256 => Box::new(MessageDigest::<Sha256>::new(engine)),
        Algorithm::Sha384 => Box::new(LaneDigest::<Sha384>::new(&engine)),
        Algorithm::Sha512 => Box::new(LaneDigest::<Sha512>::new(&engine)),
        _ => return None,
    })
}

impl InLanes {
    fn is_needed(&self, slot: &Slot) -> bool {
        slot.algorithms.contains(&self.algorithm)
    }

    /// Appends windows to the messages that need this algorithm.
    fn update(&mut self, slots: &[Slot], windows: &[&[u8]]) {
        let mut with_slots = slots[..windows.len()].iter();
        let Some(last) = with_slots.rposition(|slot| self.is_needed(slot)) else {
            return;
        };
        let windows = slots.iter().zip(&windows[..=last]);
        let windows: Vec<&[u8]> = windows
            .map(|(slot, window)| {
                if self.is_needed(slot) {
                    window
                } else {
                    &[][..]
                }
            })
            .collect();
        self.hasher.update(&windows);
    }

    /// Returns the digests of the ended messages that need this algorithm, in their order.
    fn finish(&mut self, slots: &[Slot], ended: &[usize]) -> std::vec::IntoIter<Digest> {
        let needed = ended.iter().copied();
        let needed: Vec<usize> = needed
            .filter(|slot| self.is_needed(&slots[*slot]))
            .collect();
        let digests = if needed.is_empty() {
            Vec::new()
        } else {
            self.hasher.finish(&needed)
        };
        digests.into_iter()
    }
}

impl<'a> Digests<'a> {
    /// Returns a hasher. `algorithms` returns the algorithms of a message.
    pub(crate) fn new(
        engine: Engine,
        algorithms: &'a (dyn Fn(u32) -> Arc<[Algorithm]> + Sync),
    ) -> Self {
        Self {
            engine,
            algorithms,
            in_lanes: Vec::new(),
            slots: Vec::new(),
        }
    }

    /// Returns the place of an algorithm among those that run in lanes. The first message that needs it makes its hasher.
    fn lanes_of(&mut self, algorithm: Algorithm) -> Option<usize> {
        let mut known = self.in_lanes.iter();
        if let Some(place) = known.position(|lanes| lanes.algorithm == algorithm) {
            return Some(place);
        }
        let hasher = lane_hasher(algorithm, self.engine)?;
        self.in_lanes.push(InLanes { algorithm, hasher });
        Some(self.in_lanes.len() - 1)
    }
}

impl MessageHasher for Digests<'_> {
    type Digest = Vec<Digest>;

    fn start(&mut self, slot: usize, message: u32) {
        let algorithms = (self.algorithms)(message);
        let mut streams = Vec::new();
        for algorithm in &*algorithms {
            match self.lanes_of(*algorithm) {
                Some(place) => self.in_lanes[place].hasher.start(slot, message),
                None => streams.push(Hasher::with_engine(self.engine, *algorithm)),
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
        for lanes in &mut self.in_lanes {
            lanes.update(&self.slots, windows);
        }
        for (slot, window) in self.slots.iter_mut().zip(windows) {
            for stream in &mut slot.streams {
                stream.update(window);
            }
        }
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<Vec<Digest>> {
        let Self {
            in_lanes,
            slots: all,
            ..
        } = self;
        let mut in_lanes: Vec<_> = in_lanes
            .iter_mut()
            .map(|lanes| (lanes.algorithm, lanes.finish(all, slots)))
            .collect();
        let digests = slots.iter().map(|slot| {
            let slot = &mut all[*slot];
            let mut streams = std::mem::take(&mut slot.streams).into_iter();
            let mut of_slot: Vec<(Algorithm, Digest)> = Vec::new();
            for algorithm in &*slot.algorithms {
                // A list can name an algorithm twice for a file. In lanes it runs once.
                let mut known = of_slot.iter();
                let lanes = in_lanes.iter_mut().find(|(of, _)| of == algorithm);
                let digest = match lanes {
                    None => streams.next().map(Hasher::finalize),
                    Some((_, digests)) => known
                        .find(|(of, _)| of == algorithm)
                        .map(|(_, digest)| *digest)
                        .or_else(|| digests.next()),
                };
                of_slot.push((*algorithm, digest.expect("each algorithm was started")));
            }
            of_slot.into_iter().map(|(_, digest)| digest).collect()
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
        Some(streams.into_iter().map(Hasher::finalize).collect())
    }
}

/// Returns the states of a message that is hashed alone.
pub(crate) fn streams(algorithms: &[Algorithm], engine: Engine) -> Vec<Hasher> {
    let algorithms = algorithms.iter();
    algorithms
        .map(|algorithm| Hasher::with_engine(engine, *algorithm))
        .collect()
}
