//! The open files of a worker.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hashlane_files::{ByteStream, CachedFile, FileCache, Region, SourceFile, is_absent};

use crate::reading::Reading;
use crate::{CancelToken, FileIndex, ReadOrder};

/// Number of files whose faults a worker keeps, so that it does not open them again for each
/// message.
const MAX_FAULTS: usize = 64;

/// Maximum number of files that a worker keeps open, which is more than the number of lanes. Two
/// workers stay below 64 descriptors. Linux enlarges the table of descriptors at 64, 256 and so on.
/// A process with several threads then waits 15 ms until all CPUs have left the old table (EPYC,
/// Zen 3, Linux 6, November 2026).
const MAX_FILES: usize = 24;

/// Maximum number of streams that a worker reads side by side. More streams gain nothing.
const MAX_STREAMS: usize = 64;

/// The files that contain the messages.
pub trait FileSet: Sync + std::fmt::Debug {
    /// Returns a file or folder on the disk that contains the files. It need not exist.
    fn root(&self) -> &Path;

    /// Returns the path of a file.
    ///
    /// # Errors
    /// `InvalidFilename` if the file cannot have a path on this system.
    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf>;

    /// Returns the order in which the messages should be read. By default, the order depends on the disk of
    /// [`Self::root`].
    fn read_order(&self) -> ReadOrder {
        if hashlane_files::is_rotational(self.root()) {
            ReadOrder::InOrderIfSlow
        } else {
            ReadOrder::Any
        }
    }

    /// Opens a file that is read once, from its first byte to its end. An implementation may return
    /// standard input instead of opening a path, or `None` for a file that workers should not read,
    /// such as a pipe that would delay the files that share the lanes. The file is then
    /// [`Found::Skipped`].
    ///
    /// # Errors
    /// The system's error.
    fn open_stream(&self, file: FileIndex) -> io::Result<Option<ByteStream>> {
        ByteStream::open(&self.path_of(file)?).map(Some)
    }

    /// Opens a file whose bytes are not on the disk. Returns `None` for a file at [`Self::path_of`].
    ///
    /// # Errors
    /// Any error. `NotFound` means that the file is absent.
    fn open_reader(&self, file: FileIndex) -> io::Result<Option<Box<dyn ReadAt + '_>>> {
        let _ = file;
        Ok(None)
    }
}

/// Bytes that several threads can read at any position: an entry of an archive, an object in a store, or memory.
pub trait ReadAt: Send + Sync {
    /// Returns the length in bytes.
    fn len_bytes(&self) -> u64;

    /// Reads bytes from `offset` on, and returns their number. Returns 0 only at the end.
    ///
    /// # Errors
    /// Any error. It becomes [`Found::Failed`].
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl ReadAt for &[u8] {
    fn len_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = &self[start.min(self.len())..];
        let n = rest.len().min(buffer.len());
        buffer[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}

/// A set of files that are not on the disk. The function returns a reader of each file, or an error such as
/// [`NotFound`](io::ErrorKind::NotFound). It is called whenever a worker turns to another file.
///
/// ```
/// use hashlane_pipeline::{
///     CancelToken, MessageDigest, Messages, Options, Readers, WholeFiles, hash_messages,
/// };
/// use hashlane_sha::Sha256;
///
/// # fn main() -> Result<(), hashlane_pipeline::Error> {
/// let files: [&[u8]; 2] = [b"in", b"memory"];
/// let readers = Readers::new(|file| Ok(Box::new(files[file.get()])));
/// # struct Both;
/// # impl Messages for Both {
/// #     fn count(&self) -> u32 { 1 }
/// #     fn usual_len(&self) -> Option<u64> { None }
/// #     fn len(&self, _: u32) -> hashlane_pipeline::MessageLen { hashlane_pipeline::MessageLen::Bytes(8) }
/// #     fn extents(&self, _: u32, range: std::ops::Range<u64>) -> impl Iterator<Item = hashlane_pipeline::Extent> {
/// #         assert_eq!(range, 0..8);
/// #         [(0, 2), (1, 6)].into_iter().map(|(file, len_bytes)| hashlane_pipeline::Extent {
/// #             file: Some(hashlane_pipeline::FileIndex::new(file)), offset: 0, len_bytes,
/// #         })
/// #     }
/// # }
/// let (options, cancel) = (Options::default(), CancelToken::default());
/// let mut digests = Vec::new();
/// // `Both` is one message: the bytes of both files.
/// hash_messages(&Both, &readers, MessageDigest::<Sha256>::new, &options, &cancel, |results| {
///     digests.extend(results.messages.into_iter().map(|result| result.digest));
/// })?;
/// assert_eq!(digests, [Ok(hashlane_sha::digest::<Sha256>(b"inmemory"))]);
/// # Ok(())
/// # }
/// ```
pub struct Readers<'r> {
    open: Box<OpenReader<'r>>,
}

type OpenReader<'r> = dyn Fn(FileIndex) -> io::Result<Box<dyn ReadAt + 'r>> + Sync + 'r;

impl<'r> Readers<'r> {
    /// Returns the set of the files that `open` returns.
    pub fn new(open: impl Fn(FileIndex) -> io::Result<Box<dyn ReadAt + 'r>> + Sync + 'r) -> Self {
        Self {
            open: Box::new(open),
        }
    }
}

impl std::fmt::Debug for Readers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Readers").finish_non_exhaustive()
    }
}

impl FileSet for Readers<'_> {
    fn root(&self) -> &Path {
        Path::new("")
    }

    /// Returns `Unsupported`: the files have no paths.
    fn path_of(&self, _: FileIndex) -> io::Result<PathBuf> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn open_reader(&self, file: FileIndex) -> io::Result<Option<Box<dyn ReadAt + '_>>> {
        (self.open)(file).map(Some)
    }
}

/// A fact about a file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileFact {
    /// Index of the file in its set.
    pub file: FileIndex,
    /// The state of the file.
    pub found: Found,
}

impl FileFact {
    /// Returns the fact that a file has this state.
    pub fn new(file: FileIndex, found: Found) -> Self {
        Self { file, found }
    }
}

/// The state of a file. A program that overlooks a state would take a file for intact, so a new state is a breaking change.
#[derive(Debug)]
pub enum Found {
    /// The file exists and has this length in bytes.
    Present(u64),
    /// The file, or a folder in its path, does not exist. The system's error says which.
    Absent(io::Error),
    /// [`FileSet::open_stream`] returned `None`.
    Skipped,
    /// The file cannot be opened or read.
    Failed {
        /// Offset of the first byte that could not be read; `None` if the file cannot be opened.
        offset: Option<u64>,
        /// The system's error.
        error: io::Error,
    },
}

/// A reason for which a message has no digest. A new reason is a breaking change, as for [`Found`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A file is absent or too short.
    Missing,
    /// A file was not opened or could not be read. A [`FileFact`] holds the reason.
    Unreadable,
}

/// Opens a file, closes it again and returns its state.
pub fn inspect(files: &dyn FileSet, file: FileIndex) -> FileFact {
    let opened = match files.open_reader(file) {
        Ok(Some(reader)) => Ok(reader.len_bytes()),
        Ok(None) => open_source(files, file).map(|source| source.len_bytes()),
        Err(error) => Err(error),
    };
    let found = opened.map_or_else(|error| failed_to_open(error).0, Found::Present);
    FileFact { file, found }
}

/// The open files of one worker. They count towards the budget of the process, which closes the
/// least recently used files of all workers.
#[derive(Debug)]
pub(crate) struct OpenFiles<'a> {
    files: &'a dyn FileSet,
    cancel: &'a CancelToken,
    reading: &'a Reading,
    cache: FileCache<FileIndex, SourceFile>,
    /// The file used last. Consecutive messages mostly lie in one file, and a hole can contain
    /// hundreds of thousands of messages. A look-up in the cache for each message would cost more
    /// than all other work.
    last: Option<OpenFile<'a>>,
    /// Files that failed to open, the oldest first.
    faults: Vec<(FileIndex, Fault)>,
    facts: Vec<FileFact>,
}

/// An open file. It stays open while `source` exists.
#[derive(Debug)]
pub(crate) struct OpenFile<'a> {
    file: FileIndex,
    source: Source<'a>,
    /// The data or hole that contained the last queried offset.
    region: Region,
}

impl<'a> OpenFiles<'a> {
    pub(crate) fn new(
        files: &'a dyn FileSet,
        cancel: &'a CancelToken,
        reading: &'a Reading,
    ) -> Self {
        Self {
            files,
            cancel,
            reading,
            cache: FileCache::with_max_files(MAX_FILES),
            last: None,
            faults: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// Returns the note about the file that the worker reads.
    pub(crate) fn reading(&self) -> &'a Reading {
        self.reading
    }

    /// Returns `true` if the run is cancelled and no more files need to be opened.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Returns the number of streams that each of `n_workers` workers may have open within the
    /// budget. A stream cannot be closed and opened again.
    pub(crate) fn max_streams(n_workers: usize) -> usize {
        (hashlane_files::max_kept_open() / n_workers.max(1)).clamp(1, MAX_STREAMS)
    }

    /// Returns `true` if callers hold more files than the budget allows. Release files that can be
    /// read without being held.
    pub(crate) fn is_crowded(&self) -> bool {
        self.cache.is_crowded()
    }

    /// Returns the facts found since the last call.
    pub(crate) fn take_facts(&mut self) -> Vec<FileFact> {
        std::mem::take(&mut self.facts)
    }

    /// Returns a file, and opens it if it is not open.
    pub(crate) fn open(&mut self, file: FileIndex) -> Result<&mut OpenFile<'a>, Fault> {
        if self.last.as_ref().is_none_or(|last| last.file != file) {
            // A worker that waits for a descriptor holds none.
            self.last = None;
            let source = match self.files.open_reader(file) {
                Ok(None) => Source::OnDisk(self.open_cached(file)?),
                Ok(Some(reader)) => {
                    let found = Found::Present(reader.len_bytes());
                    self.facts.push(FileFact { file, found });
                    Source::Reader(reader)
                }
                Err(error) => {
                    let (found, fault) = failed_to_open(error);
                    self.facts.push(FileFact { file, found });
                    return Err(fault);
                }
            };
            self.last = Some(OpenFile {
                file,
                source,
                region: Region {
                    range: 0..0,
                    is_hole: false,
                },
            });
        }
        Ok(self.last.as_mut().expect("the file is the last one"))
    }

    fn open_cached(&mut self, file: FileIndex) -> Result<CachedFile<SourceFile>, Fault> {
        if let Some(source) = self.cache.get(&file) {
            return Ok(source);
        }
        match self.faults.iter().find(|(index, _)| *index == file) {
            Some((_, fault)) => Err(*fault),
            None => self.open_now(file),
        }
    }

    /// Reads bytes that the file should contain.
    pub(crate) fn read(
        &mut self,
        file: FileIndex,
        buffer: &mut [u8],
        offset: u64,
    ) -> Result<(), Fault> {
        let reading = self.reading;
        let source = &self.open(file)?.source;
        reading.start(file);
        match source.read_at(buffer, offset) {
            Ok(n) if n == buffer.len() => Ok(()),
            Ok(_) => Err(Fault::Missing),
            Err(error) => Err(self.note_failure(file, Some(offset), error)),
        }
    }

    /// Opens a file that is read to its end.
    pub(crate) fn open_stream(&mut self, file: FileIndex) -> Result<ByteStream, Fault> {
        self.reading.start(file);
        let (found, fault) = match self.files.open_stream(file) {
            Ok(Some(stream)) => return Ok(stream),
            Ok(None) => (Found::Skipped, Fault::Unreadable),
            Err(error) => failed_to_open(error),
        };
        self.facts.push(FileFact { file, found });
        Err(fault)
    }

    /// Records an error of the system.
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

    fn open_now(&mut self, file: FileIndex) -> Result<CachedFile<SourceFile>, Fault> {
        let files = self.files;
        let reading = self.reading;
        // The cache may wait for other workers first.
        let opened = self.cache.open(file, || {
            reading.start(file);
            open_source(files, file)
        });
        let (found, opened) = match opened {
            Ok(source) => (Found::Present(source.len_bytes()), Ok(source)),
            Err(error) => {
                let (found, fault) = failed_to_open(error);
                if self.faults.len() == MAX_FAULTS {
                    self.faults.remove(0);
                }
                self.faults.push((file, fault));
                (found, Err(fault))
            }
        };
        self.facts.push(FileFact { file, found });
        opened
    }
}

/// The source of the bytes of an open file.
enum Source<'a> {
    OnDisk(CachedFile<SourceFile>),
    Reader(Box<dyn ReadAt + 'a>),
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OnDisk(_) => "OnDisk",
            Self::Reader(_) => "Reader",
        })
    }
}

impl Source<'_> {
    /// Reads until `buffer` is full or the file ends.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let reader = match self {
            Self::OnDisk(file) => return file.read_at(buffer, offset),
            Self::Reader(reader) => reader,
        };
        let mut filled = 0;
        while filled < buffer.len() {
            match reader.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

impl OpenFile<'_> {
    /// Returns the length of the file in bytes.
    pub(crate) fn len_bytes(&self) -> u64 {
        match &self.source {
            Source::OnDisk(file) => file.len_bytes(),
            Source::Reader(reader) => reader.len_bytes(),
        }
    }

    /// Returns the file on the disk, if it is one.
    pub(crate) fn on_disk(&self) -> Option<&CachedFile<SourceFile>> {
        match &self.source {
            Source::OnDisk(file) => Some(file),
            Source::Reader(_) => None,
        }
    }

    /// Returns `true` if all of these bytes lie in holes. Keeps the last data or hole for the bytes
    /// that follow, until another file is used.
    pub(crate) fn is_hole(&mut self, bytes: Range<u64>) -> bool {
        let Source::OnDisk(source) = &self.source else {
            return false;
        };
        let mut offset = bytes.start;
        while offset < bytes.end {
            if !self.region.range.contains(&offset) {
                self.region = source.region_at(offset);
            }
            if !self.region.is_hole || self.region.range.is_empty() {
                return false;
            }
            offset = self.region.range.end;
        }
        true
    }
}

fn open_source(files: &dyn FileSet, file: FileIndex) -> io::Result<SourceFile> {
    SourceFile::open(&files.path_of(file)?)
}

/// Returns the state of a file whose opening failed with `error`.
fn failed_to_open(error: io::Error) -> (Found, Fault) {
    if is_absent(&error) {
        return (Found::Absent(error), Fault::Missing);
    }
    let offset = None;
    (Found::Failed { offset, error }, Fault::Unreadable)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A set that has the same file under each index.
    #[derive(Debug)]
    struct OneFile(tempfile::NamedTempFile);

    impl FileSet for OneFile {
        fn root(&self) -> &Path {
            self.0.path()
        }

        fn path_of(&self, _: FileIndex) -> io::Result<PathBuf> {
            Ok(self.0.path().to_owned())
        }
    }

    fn one_file() -> OneFile {
        OneFile(tempfile::NamedTempFile::new().unwrap())
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn all_workers_of_the_process_share_one_budget() {
        let files = one_file();
        let (cancel, reading) = (CancelToken::default(), Reading::default());
        let mut workers: Vec<_> = (0..60)
            .map(|_| OpenFiles::new(&files, &cancel, &reading))
            .collect();
        for worker in &mut workers {
            for i in 0..60 {
                worker.open(FileIndex::new(i)).unwrap();
            }
        }
        let descriptors = fs::read_dir("/proc/self/fd").unwrap();
        let targets = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        let n_open = targets.filter(|path| path == files.root()).count();
        assert!((1..=1024).contains(&n_open), "{n_open} open files");
        let n_facts: usize = workers.iter_mut().map(|w| w.take_facts().len()).sum();
        assert_eq!(n_facts, 60 * 60, "each file was opened once by each worker");
    }

    #[test]
    fn a_hole_is_looked_up_again_after_its_file_was_closed() {
        let files = one_file();
        files.0.as_file().set_len(1 << 20).unwrap();
        let (cancel, reading) = (CancelToken::default(), Reading::default());
        let mut worker = OpenFiles::new(&files, &cancel, &reading);
        let file = FileIndex::new(0);
        let is_hole = |worker: &mut OpenFiles<'_>| worker.open(file).unwrap().is_hole(0..1 << 16);
        let is_sparse = is_hole(&mut worker);
        fs::write(files.root(), vec![1; 1 << 20]).unwrap();
        assert_eq!(is_hole(&mut worker), is_sparse, "the answer is kept");
        worker.cache.clear();
        worker.last = None;
        assert!(!is_hole(&mut worker));
    }

    #[test]
    fn a_file_that_fails_to_open_is_reported_once() {
        let files = one_file();
        fs::remove_file(files.root()).unwrap();
        let (cancel, reading) = (CancelToken::default(), Reading::default());
        let mut worker = OpenFiles::new(&files, &cancel, &reading);
        for _ in 0..3 {
            assert_eq!(worker.open(FileIndex::new(7)).unwrap_err(), Fault::Missing);
        }
        let facts = worker.take_facts();
        assert!(matches!(
            facts[..],
            [FileFact {
                found: Found::Absent(_),
                ..
            }]
        ));
    }
}
