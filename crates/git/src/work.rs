//! Objects read and resolved by one thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use hashlane_files::{CancelToken, SourceFile};
use hashlane_sha::Engine;
use rayon::Scope;

use crate::delta;
use crate::entries::{Entries, Entry, Stored};
use crate::hashing::{Batch, Memory, Resolved, hash_parts, header};
use crate::index::Index;
use crate::inflate::Inflater;
use crate::object::{Id, Kind};
use crate::report::{MAX_DEPTH, Wrong};

/// The shortest whole object that is hashed in parts, without being in memory, if no delta is based on it.
const LONG: u64 = 32 << 20;

/// Length of a buffer that a thread keeps between two objects, in bytes.
const MAX_KEPT: usize = 1 << 20;

/// A pack, and the work that its threads share.
pub(crate) struct Shared<'p> {
    pub(crate) pack: &'p SourceFile,
    pub(crate) index: &'p Index,
    pub(crate) entries: &'p Entries,
    pub(crate) engine: Engine,
    pub(crate) memory: Arc<Memory>,
    /// The objects that are stored as a whole, and the next of them to read.
    pub(crate) roots: Vec<u32>,
    pub(crate) next_root: AtomicUsize,
    /// Whether a thread has given tasks away that no thread has taken yet.
    pub(crate) has_offer: AtomicBool,
    /// Cancelled when the rest of the work is abandoned.
    pub(crate) end: CancelToken,
    pub(crate) found: Mutex<Found>,
}

/// What all threads have found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) outcomes: Vec<Outcome>,
    /// The checksum of the pack, unless the caller cancels.
    pub(crate) checksum: Option<Id>,
    /// The error that ended the work.
    pub(crate) error: Option<io::Error>,
}

impl Shared<'_> {
    /// Adds to the results of all threads. After a panic of another thread, the results are not used.
    pub(crate) fn add(&self, found: impl FnOnce(&mut Found)) {
        found(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Ends the work of all threads with an error.
    pub(crate) fn fail(&self, error: io::Error) {
        self.end.cancel();
        self.add(|found| found.error = found.error.take().or(Some(error)));
    }
}

/// An object to read, and the object that it is based on.
struct Task {
    n: u32,
    base: Option<Arc<Resolved>>,
}

/// What is known about an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) n: u32,
    /// The type and the number of deltas, if the object could be resolved.
    pub(crate) resolved: Option<(Kind, u32)>,
    pub(crate) wrong: Option<Wrong>,
}

/// The work of one thread.
pub(crate) struct Worker<'p> {
    shared: &'p Shared<'p>,
    tasks: Vec<Task>,
    batch: Batch,
    inflater: Inflater,
    /// The bytes of the object in the pack, and its delta.
    packed: Vec<u8>,
    delta: Vec<u8>,
    outcomes: Vec<Outcome>,
}

impl<'p> Worker<'p> {
    fn new(shared: &'p Shared<'p>, tasks: Vec<Task>) -> Self {
        Self {
            shared,
            tasks,
            batch: Batch::new(),
            inflater: Inflater::new(),
            packed: Vec::new(),
            delta: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// Adds a thread that reads whole objects, and those that are based on them.
    pub(crate) fn spawn(scope: &Scope<'p>, shared: &'p Shared<'p>) {
        scope.spawn(|scope| Self::new(shared, Vec::new()).run(scope));
    }

    /// Works until the objects of this thread and all whole objects are done.
    fn run(mut self, scope: &Scope<'p>) {
        let _end = self.shared.end.cancel_on_panic();
        while let Some(task) = self.next_task() {
            if self.shared.end.is_cancelled() {
                break;
            }
            if let Err(error) = self.process(&task) {
                self.shared.fail(error);
                break;
            }
            self.release();
            self.offer(scope);
        }
        self.hash();
        self.shared
            .add(|found| found.outcomes.append(&mut self.outcomes));
    }

    /// Frees long buffers, whose reservations have ended.
    fn release(&mut self) {
        for buffer in [&mut self.packed, &mut self.delta] {
            if buffer.capacity() > MAX_KEPT {
                *buffer = Vec::new();
            }
        }
    }

    /// Returns the next object: of this thread, or a whole one.
    fn next_task(&mut self) -> Option<Task> {
        self.tasks.pop().or_else(|| {
            // Relaxed: the number is the only thing that threads exchange by it.
            let next = self.shared.next_root.fetch_add(1, Ordering::Relaxed);
            let root = self.shared.roots.get(next);
            root.map(|n| Task { n: *n, base: None })
        })
    }

    /// Offers half of the tasks to a thread that has nothing to do, unless an earlier offer still waits for one.
    fn offer(&mut self, scope: &Scope<'p>) {
        let shared = self.shared;
        if self.tasks.len() < 2 || shared.has_offer.swap(true, Ordering::Relaxed) {
            return;
        }
        // The first tasks are the nearest to the roots, so most objects are based on them.
        let tasks = self.tasks.drain(..self.tasks.len() / 2).collect();
        scope.spawn(move |scope| {
            shared.has_offer.store(false, Ordering::Relaxed);
            Self::new(shared, tasks).run(scope);
        });
    }

    /// Reads an object, and adds the objects that are based on it to the tasks.
    fn process(&mut self, task: &Task) -> io::Result<()> {
        let entry = &self.shared.entries.all[task.n as usize];
        let end = self.shared.entries.end_of(task.n);
        let Ok(len) = usize::try_from(end - entry.offset) else {
            self.add_wrong(task.n, Wrong::TooLarge);
            return Ok(());
        };
        let mut reserved = self.shared.memory.reserve(len as u64);
        if reserved.is_none() {
            // Objects that wait to be hashed take memory.
            self.hash();
            reserved = self.shared.memory.reserve(len as u64);
        }
        let Some(_reserved) = reserved else {
            self.add_wrong(task.n, Wrong::TooLarge);
            return Ok(());
        };
        self.packed.clear();
        if self.packed.try_reserve_exact(len).is_err() {
            self.add_wrong(task.n, Wrong::TooLarge);
            return Ok(());
        }
        self.packed.resize(len, 0);
        self.shared
            .pack
            .read_exact_at(&mut self.packed, entry.offset)?;
        let crc = self.shared.index.places[entry.in_index as usize].crc;
        let wrong_crc = crc.is_some_and(|crc| crc32fast::hash(&self.packed) != crc);
        let children = self.shared.entries.children(task.n);
        let mut result = self.read(entry, task, children);
        if matches!(result, Err(Wrong::TooLarge)) {
            self.hash();
            result = self.read(entry, task, children);
        }
        if wrong_crc && result.is_ok() {
            // The object can be read, and others can be based on it.
            self.add_wrong(task.n, Wrong::Crc);
        }
        match result {
            Err(wrong) => self.add_wrong(task.n, wrong),
            Ok(None) => self.add_resolved(task.n, entry_kind(entry), 0),
            Ok(Some(object)) => {
                self.add_resolved(task.n, object.kind, object.depth);
                let object = Arc::new(object);
                // The last object is read first. Its base is then in no task.
                self.tasks.extend(children.iter().rev().map(|n| Task {
                    n: *n,
                    base: Some(object.clone()),
                }));
                if self.batch.add(task.n, object) {
                    self.hash();
                }
            }
        }
        Ok(())
    }

    /// Reads an object whose bytes are in the buffer. Returns `None` for one that was hashed in parts.
    fn read(
        &mut self,
        entry: &Entry,
        task: &Task,
        children: &[u32],
    ) -> Result<Option<Resolved>, Wrong> {
        match (entry.stored, &task.base) {
            (Ok(Stored::Whole(kind)), _) if entry.len >= LONG && children.is_empty() => {
                self.hash_long(entry, kind).map(|()| None)
            }
            (Ok(Stored::Whole(kind)), _) => self.whole(entry, kind).map(Some),
            (Ok(Stored::Delta(_)), Some(base)) => self.based_on(entry, base).map(Some),
            (Ok(Stored::Delta(_)), None) => Err(Wrong::DamagedBase),
            (Err(wrong), _) => Err(wrong),
        }
    }

    /// Decompresses a whole object.
    fn whole(&mut self, entry: &Entry, kind: Kind) -> Result<Resolved, Wrong> {
        let compressed = &self.packed[usize::from(entry.header_len)..];
        Inflater::check_ratio(compressed, entry.len)?;
        let mut object = self.shared.start(kind, entry.len, 0)?;
        let end = object.header_len + usize::try_from(entry.len).map_err(|_| Wrong::TooLarge)?;
        object.message.resize(end, 0);
        let bytes = &mut object.message[object.header_len..];
        self.inflater.inflate(compressed, bytes)?;
        Ok(object)
    }

    /// Decompresses a delta, and applies it.
    fn based_on(&mut self, entry: &Entry, base: &Resolved) -> Result<Resolved, Wrong> {
        if base.depth >= MAX_DEPTH {
            return Err(Wrong::TooDeep);
        }
        let compressed = &self.packed[usize::from(entry.header_len)..];
        Inflater::check_ratio(compressed, entry.len)?;
        let _reserved = self
            .shared
            .memory
            .reserve(entry.len)
            .ok_or(Wrong::TooLarge)?;
        let delta_len = usize::try_from(entry.len).map_err(|_| Wrong::TooLarge)?;
        self.delta.clear();
        self.delta
            .try_reserve_exact(delta_len)
            .map_err(|_| Wrong::TooLarge)?;
        self.delta.resize(delta_len, 0);
        self.inflater.inflate(compressed, &mut self.delta)?;
        let (base_len, len, instructions) = delta::lengths(&self.delta)?;
        if base_len != base.bytes().len() as u64 {
            return Err(Wrong::Delta);
        }
        let mut object = self.shared.start(base.kind, len, base.depth + 1)?;
        let len = usize::try_from(len).map_err(|_| Wrong::TooLarge)?;
        delta::apply(base.bytes(), instructions, len, &mut object.message)?;
        Ok(object)
    }

    /// Decompresses and hashes a whole object in parts.
    fn hash_long(&mut self, entry: &Entry, kind: Kind) -> Result<(), Wrong> {
        let compressed = &self.packed[usize::from(entry.header_len)..];
        Inflater::check_ratio(compressed, entry.len)?;
        let header = header(kind, entry.len);
        let id = self.shared.index.id_bytes(entry.in_index as usize);
        let inflater = &mut self.inflater;
        let (engine, algorithm) = (self.shared.engine, self.shared.index.algorithm);
        let found = hash_parts(engine, algorithm, |update| {
            update(header.as_bytes());
            inflater.inflate_parts(compressed, entry.len, update)
        })?;
        if found.as_bytes() == id {
            Ok(())
        } else {
            Err(Wrong::Id(found))
        }
    }

    fn add_resolved(&mut self, n: u32, kind: Kind, depth: u32) {
        self.outcomes.push(Outcome {
            n,
            resolved: Some((kind, depth)),
            wrong: None,
        });
    }

    fn add_wrong(&mut self, n: u32, wrong: Wrong) {
        self.outcomes.push(Outcome {
            n,
            resolved: None,
            wrong: Some(wrong),
        });
    }

    /// Hashes the objects that wait.
    fn hash(&mut self) {
        let Self {
            shared,
            batch,
            outcomes,
            ..
        } = self;
        batch.hash(
            shared.engine,
            shared.index,
            |n| shared.entries.all[n as usize].in_index as usize,
            |n, wrong| {
                outcomes.push(Outcome {
                    n,
                    resolved: None,
                    wrong: Some(wrong),
                });
            },
        );
    }
}

impl Shared<'_> {
    /// Returns an object that consists of its type and its length, with room for `len` bytes.
    fn start(&self, kind: Kind, len: u64, depth: u32) -> Result<Resolved, Wrong> {
        let reserved = self.memory.reserve(len).ok_or(Wrong::TooLarge)?;
        let header = header(kind, len);
        let len = usize::try_from(len).map_err(|_| Wrong::TooLarge)?;
        let mut message = Vec::new();
        message
            .try_reserve_exact(header.len() + len)
            .map_err(|_| Wrong::TooLarge)?;
        message.extend_from_slice(header.as_bytes());
        Ok(Resolved {
            kind,
            depth,
            header_len: message.len(),
            message,
            _reserved: reserved,
        })
    }
}

/// Returns the type of an object that is stored as a whole.
fn entry_kind(entry: &Entry) -> Kind {
    match entry.stored {
        Ok(Stored::Whole(kind)) => kind,
        _ => unreachable!("only whole objects are hashed in parts"),
    }
}
