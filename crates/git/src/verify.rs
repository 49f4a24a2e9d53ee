//! The verification of a pack by all threads.

use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use hashlane_files::{CancelToken, SourceFile};
use hashlane_hashes::Hasher;

use crate::entries::{Entries, Stored};
use crate::hashing::Memory;
use crate::index::Index;
use crate::object::Id;
use crate::report::{Error, Object, Options, Problem, Report, Wrong};
use crate::work::{Outcome, Shared, Worker};

/// Length of the header of a pack: a signature, the version and the number of objects.
const HEADER_LEN: usize = 12;

/// Number of bytes of the pack that are hashed at once for its checksum.
const PART_LEN: usize = 1 << 18;

/// Verifies every object of a pack by its index, which has the same name and ends with `.idx`. `path` is the pack or the
/// index.
///
/// # Errors
/// A file cannot be read, or is no pack or no index; [`Error::Cancelled`] after `cancel`. Damaged objects are no errors: the report has them.
pub fn verify_pack(path: &Path, options: &Options, cancel: &CancelToken) -> Result<Report, Error> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    if !matches!(extension, Some("pack" | "idx")) {
        path.metadata().map_err(|error| io_error(path, error))?;
        let reason = "is neither a pack (.pack) nor an index (.idx)";
        return Err(improper(path, reason));
    }
    let (pack_path, index_path) = (path.with_extension("pack"), path.with_extension("idx"));
    let (index, pack) = open(&index_path, &pack_path)?;
    let io_error = |error| io_error(&pack_path, error);
    let stamp = pack.stamp().map_err(io_error)?;
    let n_in_header = number_of_objects(&pack)
        .map_err(io_error)?
        .map_err(|reason| improper(&pack_path, reason))?;
    let index = read_index(&index, &index_path, &pack, options)?;
    let id_len = index.algorithm.digest_len();
    let trailer = read_trailer(&pack, id_len)
        .map_err(io_error)?
        .map_err(|reason| improper(&pack_path, reason))?;
    let end = pack.len_bytes() - id_len as u64;
    let entries = Entries::read(&pack, &index, end).map_err(io_error)?;
    let entries = entries.map_err(|reason| improper(&index_path, reason))?;

    let run =
        |options: &Options| run(&pack, &index, &entries, end, options, cancel).map_err(io_error);
    let (mut outcomes, mut checksum) = run(options)?;
    let is_too_large = |outcome: &Outcome| outcome.wrong == Some(Wrong::TooLarge);
    if outcomes.iter().any(is_too_large) && options.threads != Some(NonZeroUsize::MIN) {
        // One thread has all of the memory for its object.
        (outcomes, checksum) = run(&options.clone().on_one_thread())?;
    }
    if cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    if pack.stamp().map_err(io_error)? != stamp {
        return Err(Error::Changed(pack_path));
    }

    let mut problems = Vec::new();
    if !index.is_intact {
        problems.push(Problem::IndexChecksum);
    }
    if checksum != Some(trailer) {
        problems.push(Problem::PackChecksum);
    }
    if index.pack_checksum != trailer {
        problems.push(Problem::OtherPack);
    }
    if n_in_header as usize != index.places.len() {
        problems.push(Problem::Number {
            pack: n_in_header,
            index: index.places.len(),
        });
    }
    let found = Found::of(&entries, &outcomes);
    problems.extend(found.problems(&entries, &index));
    let objects = if options.list {
        found.objects(&entries, &index)
    } else {
        Vec::new()
    };
    Ok(Report {
        algorithm: index.algorithm,
        n_objects: index.places.len(),
        objects,
        problems,
    })
}

fn io_error(path: &Path, error: io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        error,
    }
}

fn improper(path: &Path, reason: &'static str) -> Error {
    Error::Improper {
        path: path.to_owned(),
        reason,
    }
}

/// Opens an index and its pack.
fn open(index: &Path, pack: &Path) -> Result<(SourceFile, SourceFile), Error> {
    let opened_index = SourceFile::open(index);
    // A missing pack is the better reason.
    let opened_pack = SourceFile::open(pack).map_err(|error| io_error(pack, error));
    match opened_index {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            opened_pack?;
            Err(Error::NoIndex(pack.to_owned()))
        }
        opened_index => Ok((
            opened_index.map_err(|error| io_error(index, error))?,
            opened_pack?,
        )),
    }
}

/// Reads an index. One that is longer than the pack and the memory allow is refused before it is read.
fn read_index(
    file: &SourceFile,
    path: &Path,
    pack: &SourceFile,
    options: &Options,
) -> Result<Index, Error> {
    let len = file.len_bytes();
    if len > longest_index(pack) {
        return Err(improper(
            path,
            "the index is longer than that of a pack of this length",
        ));
    }
    if len > options.max_memory.max(MIN_INDEX_MEMORY) {
        return Err(improper(
            path,
            "the index needs more memory than is allowed",
        ));
    }
    let too_long = io::Error::from(io::ErrorKind::FileTooLarge);
    let len = usize::try_from(len).map_err(|_| io_error(path, too_long))?;
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, 0)
        .map_err(|error| io_error(path, error))?;
    Index::parse(&bytes).map_err(|reason| improper(path, reason))
}

/// The length of an index that is read with any limit of memory, in bytes.
const MIN_INDEX_MEMORY: u64 = 64 << 20;

/// The length of the shortest object: one byte of a header, and an empty stream of RFC 1950.
const MIN_OBJECT_LEN: u64 = 9;

/// Returns the length of the longest index of any pack of this length: version 2 with SHA-256, and an offset of eight bytes for each
/// object.
fn longest_index(pack: &SourceFile) -> u64 {
    let n_objects = pack.len_bytes() / MIN_OBJECT_LEN;
    8 + 4 * 256 + n_objects.saturating_mul(32 + 4 + 4 + 8) + 2 * 32
}

/// Returns the number of objects in the header of the pack.
fn number_of_objects(pack: &SourceFile) -> io::Result<Result<u32, &'static str>> {
    if pack.len_bytes() < HEADER_LEN as u64 {
        return Ok(Err(TOO_SHORT));
    }
    let mut header = [0; HEADER_LEN];
    pack.read_exact_at(&mut header, 0)?;
    let (words, _) = header.as_chunks::<4>();
    if words[0] != *b"PACK" {
        return Ok(Err("is no pack: it does not start with PACK"));
    }
    if !matches!(u32::from_be_bytes(words[1]), 2 | 3) {
        return Ok(Err("the pack has an unknown version"));
    }
    Ok(Ok(u32::from_be_bytes(words[2])))
}

const TOO_SHORT: &str = "the pack is too short: it is truncated or no pack";

/// Returns the checksum at the end of the pack.
fn read_trailer(pack: &SourceFile, id_len: usize) -> io::Result<Result<Id, &'static str>> {
    if pack.len_bytes() < (HEADER_LEN + id_len) as u64 {
        return Ok(Err(TOO_SHORT));
    }
    let mut trailer = [0; 32];
    let trailer = &mut trailer[..id_len];
    pack.read_exact_at(trailer, pack.len_bytes() - id_len as u64)?;
    Ok(Ok(Id::of(trailer)))
}

/// Reads all objects. Returns what is known about them, and the checksum of the pack.
fn run(
    pack: &SourceFile,
    index: &Index,
    entries: &Entries,
    end: u64,
    options: &Options,
    cancel: &CancelToken,
) -> io::Result<(Vec<Outcome>, Option<Id>)> {
    let n_threads = options.threads.or(thread::available_parallelism().ok());
    let n_threads = n_threads.map_or(1, NonZeroUsize::get);
    let n_threads = n_threads.min(entries.all.len().max(1));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(n_threads)
        .build();
    let pool = pool.map_err(io::Error::other)?;
    let is_root = |n: &u32| !matches!(entries.all[*n as usize].stored, Ok(Stored::Delta(_)));
    let shared = Shared {
        pack,
        index,
        entries,
        engine: options.engine,
        memory: Arc::new(Memory::new(options.max_memory)),
        end: cancel.child(),
        roots: (0..entries.all.len())
            .map(|n| n as u32)
            .filter(is_root)
            .collect(),
        next_root: AtomicUsize::new(0),
        // One thread has no other thread to offer its work to.
        has_offer: AtomicBool::new(n_threads == 1),
        found: Mutex::default(),
    };
    pool.in_place_scope(|scope| {
        scope.spawn(|_| {
            let _end = shared.end.cancel_on_panic();
            match checksum_of(&shared, end) {
                Ok(checksum) => shared.add(|found| found.checksum = checksum),
                Err(error) => shared.fail(error),
            }
        });
        for _ in 0..n_threads {
            Worker::spawn(scope, &shared);
        }
    });
    let found = shared.found.into_inner();
    let found = found.unwrap_or_else(PoisonError::into_inner);
    match found.error {
        Some(error) => Err(error),
        None => Ok((found.outcomes, found.checksum)),
    }
}

/// Returns the checksum of the pack up to `end`; `None` if the caller cancels.
fn checksum_of(shared: &Shared<'_>, end: u64) -> io::Result<Option<Id>> {
    let mut hasher = Hasher::with_engine(shared.engine, shared.index.algorithm);
    let mut part = vec![0; PART_LEN];
    let mut offset = 0;
    while offset < end {
        if shared.end.is_cancelled() {
            return Ok(None);
        }
        let len = usize::try_from(end - offset)
            .unwrap_or(usize::MAX)
            .min(PART_LEN);
        shared.pack.read_exact_at(&mut part[..len], offset)?;
        hasher.update(&part[..len]);
        offset += len as u64;
    }
    Ok(Some(Id::of(hasher.finalize().as_bytes())))
}

/// What is known about each object, in the order of the pack.
struct Found {
    resolved: Vec<Option<(crate::object::Kind, u32)>>,
    wrong: Vec<Option<Wrong>>,
}

impl Found {
    fn of(entries: &Entries, outcomes: &[Outcome]) -> Self {
        let n = entries.all.len();
        let mut found = Self {
            resolved: vec![None; n],
            wrong: vec![None; n],
        };
        for outcome in outcomes {
            let n = outcome.n as usize;
            found.resolved[n] = found.resolved[n].or(outcome.resolved);
            found.wrong[n] = found.wrong[n].or(outcome.wrong);
        }
        found.explain(entries);
        found
    }

    /// Returns the problems of objects, in the order of the entries.
    fn problems(&self, entries: &Entries, index: &Index) -> impl Iterator<Item = Problem> {
        self.wrong
            .iter()
            .zip(&entries.all)
            .filter_map(|(wrong, entry)| {
                Some(Problem::Object {
                    id: index.id(entry.in_index as usize),
                    offset: entry.offset,
                    wrong: (*wrong)?,
                })
            })
    }

    /// Finds the reason why objects were not read: their base is damaged or too large, or they are in a cycle.
    fn explain(&mut self, entries: &Entries) {
        for n in 0..entries.all.len() {
            let mut path = Vec::new();
            let mut at = n;
            let reason = loop {
                if self.resolved[at].is_some() && path.is_empty() {
                    break None;
                }
                if self.resolved[at].is_some() || self.wrong[at].is_some() {
                    break Some(match self.wrong[at] {
                        // A whole cycle has one reason.
                        Some(Wrong::Cycle) if !path.is_empty() => Wrong::Cycle,
                        // The base is not known to be damaged.
                        Some(Wrong::TooLarge) => Wrong::TooLarge,
                        _ => Wrong::DamagedBase,
                    });
                }
                path.push(at);
                self.wrong[at] = Some(Wrong::Cycle);
                match entries.all[at].stored {
                    Ok(Stored::Delta(base)) => at = base as usize,
                    _ => break Some(Wrong::DamagedBase),
                }
            };
            if let Some(reason) = reason {
                for at in path {
                    self.wrong[at] = Some(reason);
                }
            }
        }
    }

    fn objects(&self, entries: &Entries, index: &Index) -> Vec<Object> {
        let id_of = |n: usize| index.id(entries.all[n].in_index as usize);
        let all = entries.all.iter().enumerate();
        all.map(|(n, entry)| {
            let resolved = self.resolved[n];
            let delta = match (entry.stored, resolved) {
                (Ok(Stored::Delta(base)), Some((_, depth))) => Some((depth, id_of(base as usize))),
                _ => None,
            };
            Object {
                id: id_of(n),
                kind: resolved.map(|(kind, _)| kind),
                len: entry.len,
                packed_len: entries.end_of(n as u32) - entry.offset,
                offset: entry.offset,
                delta,
            }
        })
        .collect()
    }
}
