//! The files that a worker has open.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_files::{ByteStream, Region, SourceFile};

use crate::{CancelToken, FileIndex};

/// Files that a worker keeps open. Sixteen messages that are read side by side each move from one
/// file to the next at about the same time; more open files do not help.
const MAX_OPEN: usize = 64;

/// The files that messages lie in.
pub trait FileSet: Sync + std::fmt::Debug {
    /// Returns a file or folder on the disk that the files lie on. It need not exist.
    fn root(&self) -> &Path;

    /// Returns the path of a file.
    ///
    /// # Errors
    /// `InvalidFilename` if the file cannot have a path on this system.
    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf>;

    /// Opens a file that is read once, from its first byte until its end. An implementation may
    /// return standard input instead of opening a path.
    ///
    /// # Errors
    /// The system's error.
    fn open_stream(&self, file: FileIndex) -> io::Result<ByteStream> {
        ByteStream::open(&self.path_of(file)?)
    }
}

/// A fact about a file.
#[derive(Debug)]
pub struct FileFact {
    /// The file.
    pub file: FileIndex,
    /// What is known of it.
    pub found: Found,
}

/// What is known of a file.
#[derive(Debug)]
pub enum Found {
    /// The file exists and has this length in bytes.
    Present(u64),
    /// The file, or a folder in its path, does not exist.
    Absent,
    /// The file cannot be opened or read.
    Failed {
        /// Offset of the first byte that could not be read; `None` if the file cannot be opened.
        offset: Option<u64>,
        /// The system's error.
        error: io::Error,
    },
}

/// A reason that a message has no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A file is absent or too short.
    Missing,
    /// The system could not open or read a file. A [`FileFact`] has the error.
    Unreadable,
}

/// Opens a file, closes it again and returns what is known of it.
pub fn inspect(files: &dyn FileSet, file: FileIndex) -> FileFact {
    let (found, _) = open_source(files, file);
    FileFact { file, found }
}

/// The open files of one worker. When too many are open, the least recently used one is closed.
#[derive(Debug)]
pub(crate) struct OpenFiles<'a> {
    files: &'a dyn FileSet,
    cancel: &'a CancelToken,
    max_open: usize,
    /// In the order of their last use.
    open: Vec<(FileIndex, Result<OpenFile, Fault>)>,
    facts: Vec<FileFact>,
}

#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) source: Arc<SourceFile>,
    /// The data or hole that was looked up last.
    region: Region,
}

impl<'a> OpenFiles<'a> {
    /// Keeps at most `max_open` files open, but at least one.
    pub(crate) fn new(files: &'a dyn FileSet, max_open: usize, cancel: &'a CancelToken) -> Self {
        Self {
            files,
            cancel,
            max_open,
            open: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// Returns `true` if the run is cancelled, so that no more files need to be opened.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Returns the number of files that each of `n_workers` workers may keep open here. Its maps may
    /// keep the same number open. All workers together use half of the descriptors of the process.
    pub(crate) fn share_of(n_workers: usize) -> usize {
        let limit = usize::try_from(hashlane_files::max_open_files() / 4).unwrap_or(usize::MAX);
        (limit / n_workers.max(1)).clamp(1, MAX_OPEN)
    }

    /// Returns the facts found since the last call.
    pub(crate) fn take_facts(&mut self) -> Vec<FileFact> {
        std::mem::take(&mut self.facts)
    }

    /// Returns a file, opening it if it is not open yet.
    pub(crate) fn open(&mut self, file: FileIndex) -> Result<&mut OpenFile, Fault> {
        match self.open.iter().rposition(|(index, _)| *index == file) {
            Some(i) if i + 1 == self.open.len() => {}
            Some(i) => self.open[i..].rotate_left(1),
            None => {
                if self.open.len() >= self.max_open.max(1) {
                    drop(self.open.remove(0));
                }
                let opened = self.open_now(file);
                self.open.push((file, opened));
            }
        }
        let (_, opened) = self.open.last_mut().expect("the file was put there");
        opened.as_mut().map_err(|fault| *fault)
    }

    /// Reads bytes that the file should have.
    pub(crate) fn read(
        &mut self,
        file: FileIndex,
        buffer: &mut [u8],
        offset: u64,
    ) -> Result<(), Fault> {
        match self.open(file)?.source.read_at(buffer, offset) {
            Ok(n) if n == buffer.len() => Ok(()),
            Ok(_) => Err(Fault::Missing),
            Err(error) => Err(self.note_failure(file, Some(offset), error)),
        }
    }

    /// Opens a file that is read until its end.
    pub(crate) fn open_stream(&mut self, file: FileIndex) -> Result<ByteStream, Fault> {
        let mut opened = self.files.open_stream(file);
        if opened.as_ref().is_err_and(is_out_of_descriptors) {
            self.open.clear();
            opened = self.files.open_stream(file);
        }
        match opened {
            Ok(stream) => Ok(stream),
            Err(error) if is_absent(&error) => {
                let found = Found::Absent;
                self.facts.push(FileFact { file, found });
                Err(Fault::Missing)
            }
            Err(error) => Err(self.note_failure(file, None, error)),
        }
    }

    /// Notes an error of the system.
    pub(crate) fn note_failure(
        &mut self,
        file: FileIndex,
        offset: Option<u64>,
        error: io::Error,
    ) -> Fault {
        let found = Found::Failed { offset, error };
        self.facts.push(FileFact { file, found });
        Fault::Unreadable
    }

    fn open_now(&mut self, file: FileIndex) -> Result<OpenFile, Fault> {
        let (mut found, mut opened) = open_source(self.files, file);
        if let Found::Failed { error, .. } = &found
            && is_out_of_descriptors(error)
        {
            self.open.clear();
            (found, opened) = open_source(self.files, file);
        }
        self.facts.push(FileFact { file, found });
        opened
    }
}

impl OpenFile {
    /// Returns `true` if all of these bytes lie in holes. The answer is kept for the bytes after
    /// them.
    pub(crate) fn is_hole(&mut self, bytes: Range<u64>) -> bool {
        let mut offset = bytes.start;
        while offset < bytes.end {
            if !self.region.range.contains(&offset) {
                self.region = self.source.region_at(offset);
            }
            if !self.region.is_hole || self.region.range.is_empty() {
                return false;
            }
            offset = self.region.range.end;
        }
        true
    }
}

/// Opens a file and says what is known of it.
fn open_source(files: &dyn FileSet, file: FileIndex) -> (Found, Result<OpenFile, Fault>) {
    let opened = files.path_of(file).and_then(|path| SourceFile::open(&path));
    match opened {
        Ok(source) => {
            let region = Region {
                range: 0..0,
                is_hole: false,
            };
            let found = Found::Present(source.len_bytes());
            let source = Arc::new(source);
            (found, Ok(OpenFile { source, region }))
        }
        Err(error) if is_absent(&error) => (Found::Absent, Err(Fault::Missing)),
        Err(error) => {
            let offset = None;
            let found = Found::Failed { offset, error };
            (found, Err(Fault::Unreadable))
        }
    }
}

/// Returns `true` if the file, or a folder in its path, does not exist.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Returns `true` for EMFILE and ENFILE, for which the standard library has no kind. The numbers are
/// those of every Unix. On other systems they mean nothing, and one more attempt does no harm.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(23 | 24))
}
