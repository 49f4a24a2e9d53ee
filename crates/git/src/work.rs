//! Objects read and resolved by one thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use hashlane_files::SourceFile;
use hashlane_sha::Engine;

use crate::delta;
use crate::entries::{Entries, Entry, Stored};
use crate::hashing::{Batch, Memory, Resolved, hash_parts, header};
use crate::index::Index;
use crate::inflate::Inflater;
use crate::object::Kind;
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
    pub(crate) is_cancelled: &'p (dyn Fn() -> bool + Sync),
    /// The objects that are stored as a whole, and the next of them to read.
    pub(crate) roots: Vec<u32>,
    pub(crate) next_root: AtomicU32,
    pub(crate) queue: Mutex<Queue>,
    pub(crate) changed: Condvar,
    /// Number of threads that have nothing to do.
    pub(crate) n_idle: AtomicU32,
}

impl Shared<'_> {
    /// Ends the work of all threads.
    fn end(&self, error: Option<io::Error>) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.error = queue.error.take().or(error);
        queue.is_over = true;
        self.next_root.store(u32::MAX / 2, Ordering::Relaxed);
        self.changed.notify_all();
    }
}

/// Ends the work of all threads if the thread that has this value panics. They would wait for it forever.
pub(crate) struct EndOnPanic<'p>(pub(crate) &'p Shared<'p>);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(None);
        }
    }
}

/// Deltas for threads that have nothing to do.
#[derive(Default)]
pub(crate) struct Queue {
    tasks: Vec<Task>,
    n_waiting: u32,
    n_threads: u32,
    error: Option<io::Error>,
    /// All work is done, or the rest of it is abandoned.
    is_over: bool,
}

impl Queue {
    pub(crate) fn for_threads(n_threads: u32) -> Self {
        Self {
            n_threads,
            ..Self::default()
        }
    }

    /// Notes that this many threads could not be started.
    pub(crate) fn remove_threads(&mut self, n: u32) {
        self.n_threads -= n;
    }

    /// Returns the error that ended the work.
    pub(crate) fn into_error(self) -> Option<io::Error> {
        self.error
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
    pub(crate) fn new(shared: &'p Shared<'p>) -> Self {
        Self {
            shared,
            tasks: Vec::new(),
            batch: Batch::new(),
            inflater: Inflater::new(),
            packed: Vec::new(),
            delta: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// Works until all objects of all threads are done. Returns what is known about each object that this thread has read.
    pub(crate) fn run(mut self) -> Vec<Outcome> {
        let _end = EndOnPanic(self.shared);
        while let Some(task) = self.next_task() {
            if (self.shared.is_cancelled)() {
                self.shared.end(None);
                break;
            }
            if let Err(error) = self.process(&task) {
                self.shared.end(Some(error));
                break;
            }
            self.release();
            self.share();
        }
        self.hash();
        self.outcomes
    }

    /// Frees long buffers, whose reservations have ended.
    fn release(&mut self) {
        for buffer in [&mut self.packed, &mut self.delta] {
            if buffer.capacity() > MAX_KEPT {
                *buffer = Vec::new();
            }
        }
    }

    /// Returns the next object: of this thread, a whole one, or one of another thread.
    fn next_task(&mut self) -> Option<Task> {
        if let Some(task) = self.tasks.pop() {
            return Some(task);
        }
        let shared = self.shared;
        // Relaxed: the number is the only thing that threads exchange by it.
        let next = shared.next_root.fetch_add(1, Ordering::Relaxed);
        if let Some(n) = shared.roots.get(next as usize) {
            return Some(Task { n: *n, base: None });
        }
        // The number must not start again from 0.
        shared.next_root.fetch_sub(1, Ordering::Relaxed);
        self.hash();
        let mut queue = shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.n_waiting += 1;
        shared.n_idle.fetch_add(1, Ordering::Relaxed);
        if queue.n_waiting == queue.n_threads && queue.tasks.is_empty() {
            queue.is_over = true;
            shared.changed.notify_all();
        }
        let task = loop {
            if queue.is_over {
                break None;
            }
            if let Some(task) = queue.tasks.pop() {
                break Some(task);
            }
            queue = shared
                .changed
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        };
        queue.n_waiting -= 1;
        shared.n_idle.fetch_sub(1, Ordering::Relaxed);
        task
    }

    /// Gives half of the tasks to threads that have nothing to do.
    fn share(&mut self) {
        if self.tasks.len() < 2 || self.shared.n_idle.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut queue = self
            .shared
            .queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // The first tasks are the nearest to the roots, so most objects are based on them.
        queue.tasks.extend(self.tasks.drain(..self.tasks.len() / 2));
        self.shared.changed.notify_all();
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
