//! A table of the roots of files (BEP 52), kept between searches. The root of a file does not depend on the piece length, so
//! that one table serves all torrents of version 2.
//!
//! ```text
//! hashlane table of roots 1<LF>
//! ROOT SIZE MTIME CTIME INODE PATH<NUL>
//! sha256 DIGEST<LF>
//! ```
//!
//! Roots and the digest of all bytes before the last line are hexadecimal, times are in nanoseconds since 1970, and paths are
//! the bytes of absolute paths.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use hashlane_files::Stamp;
use hashlane_metainfo::merkle::Node;
use hashlane_pipeline::{CancelToken, Error, Options, Progress};
use hashlane_sha::Sha256;
use hashlane_trees::{BtRoot, Event, Failure, Item, hash_files};

use crate::candidates::Candidates;

/// The first line.
const HEADER: &[u8] = b"hashlane table of roots 1\n";

/// The first line without its version.
const MAGIC: &[u8] = b"hashlane table of roots ";

/// The start of the last line.
const DIGEST: &[u8] = b"sha256 ";

/// Length of the last line.
const DIGEST_LINE_LEN: usize = DIGEST.len() + 64 + 1;

/// The roots of files, each with the state of the file at that time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootTable {
    files: BTreeMap<PathBuf, Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    root: Node,
    state: State,
}

/// The state of a file, which every writer changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    len_bytes: u64,
    modified_ns: i64,
    changed_ns: i64,
    inode: u64,
}

impl State {
    fn of(stamp: &Stamp) -> Self {
        Self {
            len_bytes: stamp.length(),
            modified_ns: stamp.modified_ns().unwrap_or_default(),
            changed_ns: stamp.changed_ns().unwrap_or_default(),
            inode: stamp.inode().unwrap_or_default(),
        }
    }
}

/// The reason why a table cannot be used.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// The bytes are not a table.
    NotTable,
    /// The table has a version that is not known.
    Version,
    /// The end is missing, or bytes have changed since the table was written.
    Damaged,
    /// An entry is wrong: its number, from 1 on, and what is wrong.
    Entry(usize, &'static str),
}

impl std::error::Error for TableError {}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotTable => f.write_str("is not a table of roots"),
            Self::Version => f.write_str("is a table of another version; only version 1 is known"),
            Self::Damaged => f.write_str("is damaged or cut off: its digest is wrong"),
            Self::Entry(number, problem) => write!(f, "entry {number}: {problem}"),
        }
    }
}

/// The result of [`RootTable::update`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct TableUpdate {
    /// Number of files that were hashed.
    pub hashed_files: u64,
    /// Number of bytes that were hashed.
    pub hashed_bytes: u64,
    /// The candidates that could not be read, with the reasons.
    pub unreadable: Vec<(u32, io::Error)>,
    /// Number of files that were forgotten, because they vanished.
    pub forgotten_files: u64,
}

impl RootTable {
    /// Length limit of a table in bytes that a reader should apply: about five million files with long paths.
    pub const MAX_LEN: u64 = 1 << 30;

    /// Reads a table.
    ///
    /// # Errors
    /// The bytes are not what [`Self::to_bytes`] returned. The digest detects damage, and not a table that was made to
    /// deceive.
    pub fn parse(bytes: &[u8]) -> Result<Self, TableError> {
        if !bytes.starts_with(HEADER) {
            return Err(if bytes.starts_with(MAGIC) {
                TableError::Version
            } else {
                TableError::NotTable
            });
        }
        let end = bytes.len().checked_sub(DIGEST_LINE_LEN);
        let (text, last) = end
            .filter(|end| *end >= HEADER.len())
            .and_then(|end| bytes.split_at_checked(end))
            .ok_or(TableError::Damaged)?;
        if last != digest_line(text) {
            return Err(TableError::Damaged);
        }
        let mut table = Self::default();
        let mut rest = &text[HEADER.len()..];
        while !rest.is_empty() {
            let number = table.files.len() + 1;
            let problem = |problem| TableError::Entry(number, problem);
            let end = rest.iter().position(|byte| *byte == 0);
            let end = end.ok_or(problem("ends without a zero byte"))?;
            let (path, entry) = read_entry(&rest[..end]).map_err(problem)?;
            if table.files.insert(path, entry).is_some() {
                return Err(problem("the file has an entry already"));
            }
            rest = &rest[end + 1..];
        }
        Ok(table)
    }

    /// Returns the bytes of the table.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = HEADER.to_vec();
        for (path, Entry { root, state }) in &self.files {
            let root = HEXLOWER.encode(root);
            let State {
                len_bytes,
                modified_ns,
                changed_ns,
                inode,
            } = state;
            let numbers = format!("{root} {len_bytes} {modified_ns} {changed_ns} {inode} ");
            text.extend_from_slice(numbers.as_bytes());
            text.extend_from_slice(path.as_os_str().as_bytes());
            text.push(0);
        }
        let last = digest_line(&text);
        text.extend_from_slice(&last);
        text
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns `true` if the table has no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Hashes the candidates that are new or have changed, and gives all known roots to the candidates, so that
    /// [`find`](crate::find) uses them. Files that vanished from the folders of the candidates are forgotten.
    ///
    /// `save` gets the table after about every `batch_bytes` bytes, and at the end if it has changed. After `cancel` is set, the
    /// function returns soon, and keeps what was hashed by then. The file at the path `own` is left out: it is the table.
    ///
    /// # Errors
    /// The first error of `save`, or the system cannot hash at all.
    pub fn update<E: From<Error>>(
        &mut self,
        candidates: &mut Candidates,
        (own, batch_bytes): (&Path, u64),
        options: &Options,
        cancel: &CancelToken,
        progress: &mut dyn FnMut(Progress),
        save: &mut dyn FnMut(&Self) -> Result<(), E>,
    ) -> Result<TableUpdate, E> {
        let mut update = TableUpdate::default();
        let mut known = Vec::new();
        let mut unknown = Vec::new();
        let own = place_of(own);
        for (candidate, path, stamp) in candidates.stamped() {
            let path = place_of(path);
            match self.files.get(&path) {
                Some(entry) if entry.state == State::of(stamp) => {
                    known.push((entry.root, candidate));
                }
                _ if path == own => {}
                _ => unknown.push((candidate, *stamp)),
            }
        }
        // The order of the disk, about.
        unknown.sort_by_key(|(_, stamp)| stamp.inode());
        let len_of = |files: &[(u32, Stamp)]| files.iter().map(|(_, stamp)| stamp.length()).sum();
        let (mut done_bytes, total_bytes) = (0, len_of(&unknown));
        let mut rest = &unknown[..];
        while !rest.is_empty() && !cancel.is_cancelled() {
            let mut planned_bytes = 0;
            let batch = rest.iter().take_while(|(_, stamp)| {
                let has_room = planned_bytes < batch_bytes.max(1);
                planned_bytes += stamp.length();
                has_room
            });
            let (batch, others) = rest.split_at(batch.count());
            rest = others;
            let hashed = self.hash(
                candidates,
                batch,
                &mut update,
                options,
                cancel,
                &mut |bytes| {
                    progress(Progress {
                        hashed_bytes: done_bytes + bytes,
                        total_bytes,
                    });
                },
            )?;
            known.extend(hashed);
            done_bytes += len_of(batch);
            if !rest.is_empty() {
                save(self)?;
            }
        }
        if candidates.errors().is_empty() && !cancel.is_cancelled() {
            update.forgotten_files = self.forget_vanished(candidates);
        }
        if update.hashed_files + update.forgotten_files > 0 {
            save(self)?;
        }
        candidates.set_roots(known);
        Ok(update)
    }

    /// Hashes files, and returns the roots of those that did not change meanwhile.
    fn hash(
        &mut self,
        candidates: &Candidates,
        batch: &[(u32, Stamp)],
        update: &mut TableUpdate,
        options: &Options,
        cancel: &CancelToken,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<(Node, u32)>, Error> {
        Stamp::settle(batch.iter().map(|(_, stamp)| stamp));
        let items = batch
            .iter()
            .map(|(candidate, stamp)| Item::new(candidates.path(*candidate), (*candidate, *stamp)));
        let mut known = Vec::new();
        hash_files(&BtRoot, items, options, cancel, |event| {
            let ((candidate, stamp), outcome) = match event {
                Event::Outcome(tag, outcome) => (*tag, outcome),
                Event::Pause { hashed_bytes, .. } => {
                    progress(hashed_bytes);
                    return Ok::<(), Error>(());
                }
            };
            let path = candidates.path(candidate);
            match outcome {
                Ok((root, len_bytes)) => {
                    let root = root.as_bytes().try_into().expect("SHA-256 has 32 bytes");
                    update.hashed_files += 1;
                    update.hashed_bytes += len_bytes;
                    // It can have changed after the walk and before it was opened.
                    if Stamp::of_regular(path).is_ok_and(|now| now == Some(stamp)) {
                        let state = State::of(&stamp);
                        self.files.insert(place_of(path), Entry { root, state });
                        known.push((root, candidate));
                    }
                }
                // As if the walk had not seen it.
                Err(Failure::NotOpened(error)) if error.kind() == io::ErrorKind::NotFound => {}
                Err(
                    Failure::NotOpened(error)
                    | Failure::NotRead(error)
                    | Failure::NotWritten(error),
                ) => update.unreadable.push((candidate, error)),
                // The next search hashes it again. No file with content has a wrong length.
                Err(
                    Failure::Changed
                    | Failure::TooShort(_)
                    | Failure::TooLong(_)
                    | Failure::NotMultiple(_),
                ) => {}
            }
            Ok(())
        })?;
        Ok(known)
    }

    /// Forgets the files below the folders of the candidates that are not among them, and returns their number.
    fn forget_vanished(&mut self, candidates: &Candidates) -> u64 {
        let before = self.files.len();
        let stamped = candidates.stamped();
        let seen: HashSet<PathBuf> = stamped.map(|(_, path, _)| place_of(path)).collect();
        let folders = candidates.folders().iter();
        let folders: Vec<PathBuf> = folders.map(|folder| place_of(folder)).collect();
        self.files.retain(|path, _| {
            let is_below = folders.iter().any(|folder| path.starts_with(folder));
            !is_below || seen.contains(path)
        });
        (before - self.files.len()) as u64
    }
}

/// Returns the absolute path of a file, which the table has.
fn place_of(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Reads an entry without its zero byte.
fn read_entry(entry: &[u8]) -> Result<(PathBuf, Entry), &'static str> {
    const NUMBERS: &str = "its root and numbers are not as they are written";
    let mut fields = entry.splitn(6, |byte| *byte == b' ');
    let mut field = || fields.next().and_then(|field| str::from_utf8(field).ok());
    let root = field().and_then(node_of).ok_or(NUMBERS)?;
    let state = State {
        len_bytes: field().and_then(|it| it.parse().ok()).ok_or(NUMBERS)?,
        modified_ns: field().and_then(|it| it.parse().ok()).ok_or(NUMBERS)?,
        changed_ns: field().and_then(|it| it.parse().ok()).ok_or(NUMBERS)?,
        inode: field().and_then(|it| it.parse().ok()).ok_or(NUMBERS)?,
    };
    let path = fields.next().ok_or("the path is missing")?;
    let path = PathBuf::from(OsString::from_vec(path.to_vec()));
    if !path.is_absolute() {
        return Err("the path is not absolute");
    }
    Ok((path, Entry { root, state }))
}

/// Reads 64 digits in lower-case hexadecimal.
fn node_of(digits: &str) -> Option<Node> {
    let bytes = HEXLOWER.decode(digits.as_bytes()).ok()?;
    bytes.try_into().ok()
}

/// Returns the last line after this text.
fn digest_line(text: &[u8]) -> Vec<u8> {
    let digest = hashlane_sha::digest::<Sha256>(text);
    let digits = HEXLOWER.encode(digest.as_ref());
    [DIGEST, digits.as_bytes(), b"\n"].concat()
}
