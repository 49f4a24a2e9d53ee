//! Objects hashed in lanes, and compared with their identifiers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashlane_sha::{Engine, Sha1Digest, Sha256, Sha256Digest};

use crate::index::Index;
use crate::object::{Id, Kind, ObjectFormat};
use crate::report::Wrong;

/// Number of bytes of objects in memory, of all threads.
pub(crate) struct Memory {
    used: AtomicU64,
    limit: u64,
}

impl Memory {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            used: AtomicU64::new(0),
            limit,
        }
    }

    /// Reserves memory for an object, if there is enough.
    pub(crate) fn reserve(self: &Arc<Self>, n_bytes: u64) -> Option<Reserved> {
        let more = |used: u64| used.checked_add(n_bytes).filter(|sum| *sum <= self.limit);
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()?;
        Some(Reserved {
            memory: self.clone(),
            n_bytes,
        })
    }
}

/// Memory of an object, which is available again after the object is dropped.
pub(crate) struct Reserved {
    memory: Arc<Memory>,
    n_bytes: u64,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.n_bytes, Ordering::Relaxed);
    }
}

/// An object in memory.
pub(crate) struct Resolved {
    pub(crate) kind: Kind,
    /// Number of deltas that were applied.
    pub(crate) depth: u32,
    /// What is hashed: the type, the length, a zero byte, and the object.
    pub(crate) message: Vec<u8>,
    pub(crate) header_len: usize,
    pub(crate) _reserved: Reserved,
}

impl Resolved {
    /// Returns the object without its type and length.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.message[self.header_len..]
    }
}

/// Returns what is hashed before the bytes of an object.
pub(crate) fn header(kind: Kind, len: u64) -> String {
    format!("{} {len}\0", kind.name())
}

/// Number of objects, and of their bytes, that are hashed at once. They fill the lanes, and stay in a cache.
const MAX_OBJECTS: usize = 256;
const MAX_BYTES: usize = 1 << 20;

/// Objects that wait to be hashed.
pub(crate) struct Batch {
    objects: Vec<(u32, Arc<Resolved>)>,
    n_bytes: usize,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self {
            objects: Vec::new(),
            n_bytes: 0,
        }
    }

    /// Adds an object with its number. Returns `true` if the batch is full.
    pub(crate) fn add(&mut self, n: u32, object: Arc<Resolved>) -> bool {
        self.n_bytes += object.message.len();
        self.objects.push((n, object));
        self.objects.len() >= MAX_OBJECTS || self.n_bytes >= MAX_BYTES
    }

    /// Hashes the objects, and passes the number of each that is wrong to `wrong`. `in_index` returns the number in the
    /// index.
    pub(crate) fn hash(
        &mut self,
        engine: Engine,
        index: &Index,
        in_index: impl Fn(u32) -> usize,
        mut wrong: impl FnMut(u32, Wrong),
    ) {
        // Lanes idle least if long messages come first.
        self.objects
            .sort_unstable_by_key(|(_, object)| std::cmp::Reverse(object.message.len()));
        let messages = self.objects.iter().map(|(_, object)| &object.message);
        match index.format {
            ObjectFormat::Sha1 => {
                let mut digests = vec![Sha1Digest::default(); self.objects.len()];
                let mut attacks = vec![false; self.objects.len()];
                engine.digest_many_checked(messages, &mut digests, |place| attacks[place] = true);
                for (place, (n, _)) in self.objects.iter().enumerate() {
                    let digest = digests[place].as_ref();
                    if attacks[place] {
                        wrong(*n, Wrong::Attack);
                    } else if index.id_bytes(in_index(*n)) != digest {
                        wrong(*n, Wrong::Id(Id::of(digest)));
                    }
                }
            }
            ObjectFormat::Sha256 => {
                let mut digests = vec![Sha256Digest::default(); self.objects.len()];
                engine.digest_many::<Sha256>(messages, &mut digests);
                for ((n, _), digest) in self.objects.iter().zip(&digests) {
                    if index.id_bytes(in_index(*n)) != digest.as_ref() {
                        wrong(*n, Wrong::Id(Id::of(digest.as_ref())));
                    }
                }
            }
        }
        self.objects.clear();
        self.n_bytes = 0;
    }
}
