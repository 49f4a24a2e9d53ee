//! Results: objects, problems and errors.

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use hashlane_hashes::Algorithm;
use hashlane_sha::Engine;

use crate::object::{Id, Kind};

/// Settings of a verification.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kernels to hash with.
    pub engine: Engine,
    /// Number of threads; one for each core if `None`.
    pub threads: Option<NonZeroUsize>,
    /// The largest number of bytes of objects in memory, and of an index that is longer than 64 MiB. An object that needs more
    /// is reported; a longer index is an error. What is known of each object takes several times the length of the index beside.
    pub max_memory: u64,
    /// Whether the report has all objects. Otherwise it has only problems.
    pub list: bool,
}

impl Options {
    /// Returns the settings with one thread.
    pub(crate) fn on_one_thread(self) -> Self {
        Self {
            threads: Some(NonZeroUsize::MIN),
            ..self
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: Engine::detect(),
            threads: None,
            max_memory: 4 << 30,
            list: false,
        }
    }
}

/// An object of a pack, with the figures of `git verify-pack -v`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The identifier, by the index.
    pub id: Id,
    /// The type; `None` if the object could not be resolved.
    pub kind: Option<Kind>,
    /// Length in bytes after decompression: of the object, or of its delta.
    pub len: u64,
    /// Length in the pack in bytes, with the header.
    pub packed_len: u64,
    /// Place in the pack in bytes.
    pub offset: u64,
    /// Number of deltas to apply, and the object that the last one is based on; `None` if the object is stored as a whole.
    pub delta: Option<(u32, Id)>,
}

/// The reason why an object is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// The header of the object is no header.
    #[error("its header is invalid")]
    Header,
    /// The bytes in the pack have another CRC-32 than the index has.
    #[error("its CRC-32 differs from that in the index")]
    Crc,
    /// The compressed bytes are invalid, or do not fill the object's place in the pack.
    #[error("its compressed data is damaged")]
    Compressed,
    /// The object has another length than its header has.
    #[error("its length differs from that in its header")]
    Length,
    /// The instructions of the delta are invalid.
    #[error("its delta is invalid")]
    Delta,
    /// The delta is based on an object that the pack does not have.
    #[error("its base {0} is not in the pack")]
    NoBase(Id),
    /// The delta is based on a place where no object starts.
    #[error("its base is not at the start of an object")]
    NoBaseAtOffset,
    /// The delta is based on a damaged object.
    #[error("it is based on a damaged object")]
    DamagedBase,
    /// The deltas are based on each other.
    #[error("its deltas are based on each other")]
    Cycle,
    /// There are more deltas to apply than Git ever writes.
    #[error("it is based on more than {MAX_DEPTH} deltas")]
    TooDeep,
    /// The object, or the objects that its delta is based on, do not fit into memory.
    #[error("it needs more memory than is allowed")]
    TooLarge,
    /// The object has another identifier than the index says.
    #[error("its content has the identifier {0}")]
    Id(Id),
    /// The object is part of a collision attack on SHA-1.
    #[error("it is part of a SHA-1 collision attack")]
    Attack,
}

/// The largest number of deltas of an object: `git pack-objects` limits its option `--depth` to this number.
pub(crate) const MAX_DEPTH: u32 = 4095;

/// A difference between a pack and its index, or a damaged object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The index does not have the checksum that it ends with.
    IndexChecksum,
    /// The pack does not have the checksum that it ends with.
    PackChecksum,
    /// The index belongs to a pack with another checksum.
    OtherPack,
    /// The pack has another number of objects than its index.
    Number {
        /// The number in the header of the pack.
        pack: u32,
        /// The number in the index.
        index: usize,
    },
    /// An object is damaged.
    Object {
        /// The identifier, by the index.
        id: Id,
        /// Place in the pack in bytes.
        offset: u64,
        /// The reason.
        wrong: Wrong,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IndexChecksum => f.write_str("the index does not have its checksum"),
            Self::PackChecksum => f.write_str("the pack does not have its checksum"),
            Self::OtherPack => f.write_str("the index belongs to another pack"),
            Self::Number { pack, index } => {
                write!(f, "the pack has {pack} objects, and its index has {index}")
            }
            Self::Object { id, offset, wrong } => {
                write!(f, "object {id} at offset {offset}: {wrong}")
            }
        }
    }
}

/// The result of a verification.
#[derive(Clone, Debug)]
pub struct Report {
    /// The hash function of the repository: SHA-1 or SHA-256.
    pub algorithm: Algorithm,
    /// Number of objects in the index.
    pub n_objects: usize,
    /// The objects in the order of the pack, if [`Options::list`] is set.
    pub objects: Vec<Object>,
    /// Everything that is wrong; objects in the order of the pack.
    pub problems: Vec<Problem>,
}

impl Report {
    /// Returns `true` if the pack has all objects of its index, all objects have their identifiers, and both files have
    /// their checksums.
    pub fn is_good(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns `true` if something is wrong, and not only too large to be checked.
    pub fn is_bad(&self) -> bool {
        self.problems.len() > self.n_unchecked()
    }

    /// Returns the number of objects that need more memory than is allowed, and were not checked.
    pub fn n_unchecked(&self) -> usize {
        let is_unchecked = |problem: &&Problem| {
            matches!(
                problem,
                Problem::Object {
                    wrong: Wrong::TooLarge,
                    ..
                }
            )
        };
        self.problems.iter().filter(is_unchecked).count()
    }
}

/// The reason why a pack was not verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system's error for a file.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// The pack has no index.
    #[error("{}: has no index: make one with `git index-pack`", .0.display())]
    NoIndex(PathBuf),
    /// A file cannot be used.
    #[error("{}: {reason}", .path.display())]
    Improper {
        /// The file.
        path: PathBuf,
        /// The problem.
        reason: &'static str,
    },
    /// The pack changed while it was read.
    #[error("{}: changed while it was read: run the command again", .0.display())]
    Changed(PathBuf),
    /// The caller ended the verification.
    #[error("cancelled")]
    Cancelled,
}
