//! Files that may belong to the user, in pieces that they share with files of the torrent.
//!
//! Whether such a file is equal to the torrent's is known only after a piece has arrived and was right. Until then, its
//! part of the piece is staged: it is written to a file of the download's own.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use hashlane_files::{FileCache, WritableFile};

use crate::writable::Writable;

/// A file that differed from the torrent's file, and was renamed before it was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The path of the torrent's file.
    pub path: PathBuf,
    /// The new path of the file that was there before.
    pub kept_as: PathBuf,
}

/// The treatment of a guarded file whose bytes differ from the torrent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfDifferent {
    /// The file is renamed and replaced.
    Rename,
    /// The operation that finds the difference fails.
    Fail,
    /// The file stays as it is. Its staged bytes serve only the pieces that it shares with other files.
    Keep,
}

/// The parts of one guarded file that can arrive.
#[derive(Debug)]
pub(crate) struct Guarded {
    pub(crate) if_different: IfDifferent,
    pub(crate) parts: Vec<Part>,
    /// Whether the file has left its path: it was renamed, or was absent.
    pub(crate) is_gone: bool,
    /// The new path of the renamed file.
    pub(crate) kept_as: Option<PathBuf>,
}

/// The bytes that a guarded file has in one piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) offset: u64,
    pub(crate) len_bytes: u64,
    /// Offset in the file of staged bytes.
    staged_at: u64,
    /// Whether bytes of the part have been staged and not been compared yet.
    is_staged: bool,
}

/// The guarded files of a torrent, and their staged bytes.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    files: HashMap<usize, Guarded>,
    /// The length of all parts.
    len_bytes: u64,
    /// Whether this process created the file of staged bytes.
    is_created: bool,
}

/// The open file of staged bytes.
pub(crate) type StagingFile = FileCache<(), WritableFile>;

impl Guard {
    /// Guards a file. `parts` are the offsets and lengths of its bytes in each piece that can arrive.
    pub(crate) fn add(
        &mut self,
        index: usize,
        parts: impl IntoIterator<Item = (u64, u64)>,
        if_different: IfDifferent,
    ) {
        let mut staged_at = self.len_bytes;
        let parts = parts.into_iter().map(|(offset, len_bytes)| {
            let part = Part {
                offset,
                len_bytes,
                staged_at,
                is_staged: false,
            };
            staged_at += len_bytes;
            part
        });
        let guarded = Guarded {
            if_different,
            parts: parts.collect(),
            is_gone: false,
            kept_as: None,
        };
        self.files.insert(index, guarded);
        self.len_bytes = staged_at;
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Guarded> {
        self.files.get(&index)
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut Guarded> {
        self.files.get_mut(&index)
    }

    pub(crate) fn remove(&mut self, index: usize) {
        self.files.remove(&index);
    }

    /// Writes bytes of a guarded file to the file of staged bytes. Returns `false` if no part of a guarded file has these
    /// bytes.
    pub(crate) fn write(
        &mut self,
        index: usize,
        bytes: &[u8],
        offset: u64,
        staging: &Staging<'_>,
    ) -> io::Result<bool> {
        let Some(part) = self.part(index, offset) else {
            return Ok(false);
        };
        let at = part.staged_at + (offset - part.offset);
        staging.open(!self.is_created)?.write_all_at(bytes, at)?;
        self.is_created = true;
        if let Some(part) = self.part(index, offset) {
            part.is_staged = true;
        }
        Ok(true)
    }

    /// Reads staged bytes. Returns `false` if the bytes are not staged.
    pub(crate) fn read(
        &mut self,
        index: usize,
        buffer: &mut [u8],
        offset: u64,
        staging: &Staging<'_>,
    ) -> io::Result<bool> {
        let Some(part) = self.part(index, offset).filter(|part| part.is_staged) else {
            return Ok(false);
        };
        let at = part.staged_at + (offset - part.offset);
        let file = staging.open(false)?;
        let n = file.as_source().read_at(buffer, at)?;
        // Blocks that have not arrived yet.
        buffer[n..].fill(0);
        Ok(true)
    }

    /// Returns the staged part that has the byte at `offset`.
    pub(crate) fn staged(&mut self, index: usize, offset: u64) -> Option<Part> {
        let part = self.part(index, offset).copied();
        part.filter(|part| part.is_staged)
    }

    /// Drops the staged bytes of a part.
    pub(crate) fn unstage(&mut self, index: usize, offset: u64) {
        if let Some(part) = self.part(index, offset) {
            part.is_staged = false;
        }
    }

    /// Returns `true` if this process has staged bytes on the disk.
    pub(crate) fn is_created(&self) -> bool {
        self.is_created
    }

    /// Removes the file of staged bytes, also one that a killed process left. Keeps the staged bytes of this process
    /// unless `also_own` is set.
    pub(crate) fn clean(&mut self, also_own: bool, staging: &Staging<'_>) {
        if also_own || !self.is_created {
            staging.cache.clear();
            let _ = staging.root.remove_file(staging.path);
            self.is_created = false;
            let parts = self.files.values_mut().flat_map(|file| &mut file.parts);
            parts.for_each(|part| part.is_staged = false);
        }
    }

    fn part(&mut self, index: usize, offset: u64) -> Option<&mut Part> {
        let parts = &mut self.files.get_mut(&index)?.parts;
        let mut parts = parts.iter_mut();
        parts.find(|part| (part.offset..part.offset + part.len_bytes).contains(&offset))
    }
}

/// The place of staged bytes.
#[derive(Debug)]
pub(crate) struct Staging<'s> {
    pub(crate) root: Writable<'s>,
    pub(crate) path: &'s Path,
    pub(crate) cache: &'s StagingFile,
}

impl Staging<'_> {
    fn open(&self, is_new: bool) -> io::Result<hashlane_files::CachedFile<WritableFile>> {
        if let Some(file) = self.cache.get(&()) {
            return Ok(file);
        }
        self.cache.open((), || {
            if is_new {
                // A killed process can have left the file.
                let _ = self.root.remove_file(self.path);
                self.root.create_file(self.path, false)
            } else {
                self.root.open_file(self.path)
            }
        })
    }
}
