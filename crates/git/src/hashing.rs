//! Objects hashed in lanes, and compared with their identifiers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashlane_hashes::{Algorithm, Hasher};
use hashlane_sha::sha1_checked::Sha1Checked;
use hashlane_sha::{Engine, Sha1Digest, Sha256, Sha256Digest};

use crate::index::Index;
use crate::object::{Id, Kind};
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

/// Returns the identifier of a message that arrives in parts. `parts` passes them to its argument.
pub(crate) fn hash_parts(
    engine: Engine,
    algorithm: Algorithm,
    parts: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), Wrong>,
) -> Result<Id, Wrong> {
    if algorithm == Algorithm::Sha1 {
        let mut hasher = Sha1Checked::with_engine(engine);
        parts(&mut |part| _ = hasher.update(part))?;
        let digest = hasher.finalize().map_err(|_| Wrong::Attack)?;
        Ok(Id::of(digest.as_ref()))
    } else {
        let mut hasher = Hasher::with_engine(engine, algorithm);
        parts(&mut |part| hasher.update(part))?;
        Ok(Id::of(hasher.finalize().as_bytes()))
    }
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
        if index.algorithm == Algorithm::Sha1 {
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
        } else {
            let mut digests = vec![Sha256Digest::default(); self.objects.len()];
            engine.digest_many::<Sha256>(messages, &mut digests);
            for ((n, _), digest) in self.objects.iter().zip(&digests) {
                if index.id_bytes(in_index(*n)) != digest.as_ref() {
                    wrong(*n, Wrong::Id(Id::of(digest.as_ref())));
                }
            }
        }
        self.objects.clear();
        self.n_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beginnings of the published collisions, each with all blocks of its attack. None of them starts with the type of an
    /// object, so no pack can contain them: here they take the place of a message with its type and length.
    const ATTACKS: [&[u8]; 4] = [
        include_bytes!("../../sha/tests/vectors/sha1-collisions/shattered-1.bin"),
        include_bytes!("../../sha/tests/vectors/sha1-collisions/shattered-2.bin"),
        include_bytes!("../../sha/tests/vectors/sha1-collisions/sha-mbles-1.bin"),
        include_bytes!("../../sha/tests/vectors/sha1-collisions/sha-mbles-2.bin"),
    ];

    /// Returns an index of version 1 in which the objects have these identifiers, which are in order.
    fn index(ids: &[Sha1Digest]) -> Index {
        let mut bytes = Vec::new();
        for first in 0..=255 {
            let n = ids.iter().filter(|id| id.as_ref()[0] <= first).count();
            bytes.extend(u32::try_from(n).unwrap().to_be_bytes());
        }
        for id in ids {
            bytes.extend([0; 4]);
            bytes.extend(id.as_ref());
        }
        bytes.extend([0; 40]);
        Index::parse(&bytes).unwrap()
    }

    #[test]
    fn attacks_are_reported_although_the_identifiers_are_right() {
        use hashlane_sha::Sha1;

        let good: Vec<Vec<u8>> = (0..40).map(|i| vec![i; 20 * usize::from(i)]).collect();
        let messages = good.iter().map(Vec::as_slice);
        // Only one message of a collision: both have the same identifier.
        let mut messages: Vec<&[u8]> = messages.chain([ATTACKS[0], ATTACKS[2]]).collect();
        messages.sort_by_key(|message| Sha1::digest(message));
        let ids: Vec<Sha1Digest> = messages
            .iter()
            .map(|message| Sha1::digest(message))
            .collect();
        let memory = Arc::new(Memory::new(1));
        let mut batch = Batch::new();
        for (n, message) in (0..).zip(&messages) {
            let object = Resolved {
                kind: Kind::Blob,
                depth: 0,
                message: message.to_vec(),
                header_len: 0,
                _reserved: memory.reserve(0).unwrap(),
            };
            batch.add(n, Arc::new(object));
        }
        let mut wrong = Vec::new();
        let in_index = |n| n as usize;
        batch.hash(Engine::detect(), &index(&ids), in_index, |n, why| {
            wrong.push((messages[n as usize].to_vec(), why));
        });
        wrong.sort_by_key(|(message, _)| message.len());
        let expected = [ATTACKS[0], ATTACKS[2]].map(|message| (message.to_vec(), Wrong::Attack));
        assert_eq!(wrong, expected);
    }

    #[test]
    fn attacks_in_long_objects_are_reported() {
        for message in ATTACKS {
            let hash = |algorithm| {
                hash_parts(Engine::detect(), algorithm, |update| {
                    message.chunks(7).for_each(update);
                    Ok(())
                })
            };
            assert_eq!(hash(Algorithm::Sha1), Err(Wrong::Attack));
            let sha256 = Id::of(Sha256::digest(message).as_ref());
            assert_eq!(hash(Algorithm::Sha256), Ok(sha256));
        }
    }
}
