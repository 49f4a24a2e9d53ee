//! Files as sources of slices, hashed side by side.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use hashlane_files::{CancelToken, SourceFile};
use hashlane_sha::{Engine, LaneHash, Md5 as Lane, Md5Kernel};

use crate::error::Error;
use crate::packet::{Md5, SliceChecksum, digest, md5_hasher};
use crate::run::{Progress, Run};

/// Number of bytes of a message that are hashed before the next ones.
const WINDOW: usize = 64 << 10;

/// Number of messages side by side: enough for every kernel, with some to spare.
const SET: usize = 32;

/// Number of files that a thread keeps open.
const MAX_OPEN: usize = 32;

/// A file, or files whose bytes follow each other.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    parts: Vec<Part>,
    len: u64,
}

#[derive(Clone, Debug)]
struct Part {
    place: Place,
    start: u64,
}

#[derive(Clone, Debug)]
enum Place {
    Path(PathBuf),
    /// A file that has no name yet.
    Open(Arc<File>),
}

impl Source {
    /// Returns a file by its path.
    pub(crate) fn file(path: &Path) -> io::Result<Self> {
        Self::joined(std::slice::from_ref(&path.to_owned()))
    }

    /// Returns files one after another.
    pub(crate) fn joined(paths: &[PathBuf]) -> io::Result<Self> {
        let mut source = Self {
            parts: Vec::new(),
            len: 0,
        };
        for path in paths {
            let file = SourceFile::open(path)?;
            let place = Place::Path(path.clone());
            source.parts.push(Part {
                place,
                start: source.len,
            });
            source.len = source.len.saturating_add(file.len_bytes());
        }
        Ok(source)
    }

    /// Returns an open file.
    pub(crate) fn open(file: Arc<File>, len: u64) -> Self {
        let place = Place::Open(file);
        Self {
            parts: vec![Part { place, start: 0 }],
            len,
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the path of a source that is one file.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.parts[..] {
            [
                Part {
                    place: Place::Path(path),
                    ..
                },
            ] => Some(path),
            _ => None,
        }
    }
}

/// Open files of sources, which are closed in the order of their opening.
#[derive(Default)]
pub(crate) struct Reader {
    open: Vec<(usize, usize, SourceFile)>,
}

impl Reader {
    /// Fills `buffer` with the bytes of a source. Bytes after its end are zeros.
    pub(crate) fn read(
        &mut self,
        sources: &[Source],
        number: usize,
        mut buffer: &mut [u8],
        mut offset: u64,
    ) -> io::Result<()> {
        let source = &sources[number];
        while !buffer.is_empty() && offset < source.len {
            let part = source.parts.partition_point(|part| part.start <= offset) - 1;
            let end = source
                .parts
                .get(part + 1)
                .map_or(source.len, |next| next.start);
            let len = usize::try_from(end - offset)
                .unwrap_or(usize::MAX)
                .min(buffer.len());
            let (now, later) = buffer.split_at_mut(len);
            let start = source.parts[part].start;
            match &source.parts[part].place {
                Place::Open(file) => hashlane_files::read_exact_at(file, now, offset - start)?,
                Place::Path(path) => {
                    let file = self.file(number, part, path)?;
                    file.read_exact_at(now, offset - start)?;
                }
            }
            buffer = later;
            offset += len as u64;
        }
        buffer.fill(0);
        Ok(())
    }

    fn file(&mut self, source: usize, part: usize, path: &Path) -> io::Result<&SourceFile> {
        let is_same = |open: &(usize, usize, SourceFile)| (open.0, open.1) == (source, part);
        let at = if let Some(at) = self.open.iter().position(is_same) {
            at
        } else {
            if self.open.len() == MAX_OPEN {
                self.open.remove(0);
            }
            self.open.push((source, part, SourceFile::open(path)?));
            self.open.len() - 1
        };
        Ok(&self.open[at].2)
    }
}

/// Returns the digest of a whole source.
///
/// # Errors
/// The system's error, or [`io::ErrorKind::Interrupted`] after a cancellation.
pub(crate) fn digest_of(source: &Source, cancel: &CancelToken) -> io::Result<Md5> {
    let sources = std::slice::from_ref(source);
    let mut reader = Reader::default();
    let mut hasher = md5_hasher();
    let mut buffer = vec![0; 1 << 20];
    for offset in (0..source.len).step_by(buffer.len()) {
        cancel.check()?;
        let len = (source.len - offset).min(buffer.len() as u64) as usize;
        reader.read(sources, 0, &mut buffer[..len], offset)?;
        hasher.update(&buffer[..len]);
    }
    Ok(digest(hasher))
}

/// A slice to hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) source: usize,
    pub(crate) offset: u64,
    /// Length with the zeros after the end of the source.
    pub(crate) len: u64,
    /// Length without zeros: bytes of the source after them are not read.
    pub(crate) data_len: u64,
}

/// Hashes slices side by side. Returns `None` for slices that cannot be read.
///
/// Bytes between `data_len` and `len` count as zeros.
pub(crate) fn checksums(
    sources: &[Source],
    wanted: &[Wanted],
    run: &mut Run<'_>,
    progress: &mut Progress,
) -> Result<Vec<Option<SliceChecksum>>, Error> {
    let mut found = vec![None; wanted.len()];
    let next = AtomicUsize::new(0);
    let n_threads = run.n_threads.get().min(wanted.len().div_ceil(SET));
    let cancel = run.cancel;
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(2 * n_threads);
        for _ in 0..n_threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                let mut lanes = Lanes::default();
                loop {
                    let first = next.fetch_add(SET, Ordering::Relaxed);
                    if first >= wanted.len() || cancel.is_cancelled() {
                        return;
                    }
                    let set = &wanted[first..wanted.len().min(first + SET)];
                    if sender.send((first, lanes.checksums(sources, set))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (first, set) in receiver {
            let read = &wanted[first..first + set.len()];
            progress.done_bytes += read.iter().map(|wanted| wanted.data_len).sum::<u64>();
            (run.progress)(*progress);
            found[first..first + set.len()].copy_from_slice(&set);
        }
    });
    run.check()?;
    Ok(found)
}

/// The buffers of a thread that hashes.
#[derive(Default)]
pub(crate) struct Lanes {
    reader: Reader,
    buffers: Vec<Vec<u8>>,
}

impl Lanes {
    fn checksums(&mut self, sources: &[Source], set: &[Wanted]) -> Vec<Option<SliceChecksum>> {
        let longest = set.iter().map(|wanted| wanted.len).max().unwrap_or(0);
        let window = usize::try_from(longest).unwrap_or(usize::MAX).min(WINDOW);
        self.buffers.resize_with(SET.max(set.len()), Vec::new);
        let mut checksums = Checksums::of(set.len());
        let mut is_read = vec![true; set.len()];
        let mut at = 0;
        while at < longest {
            for (i, wanted) in set.iter().enumerate() {
                let len = wanted.len.saturating_sub(at).min(window as u64) as usize;
                let buffer = &mut self.buffers[i];
                buffer.resize(len, 0);
                let data_len = wanted.data_len.saturating_sub(at).min(len as u64) as usize;
                let (data, zeros) = buffer.split_at_mut(data_len);
                let offset = wanted.offset + at;
                is_read[i] &= self
                    .reader
                    .read(sources, wanted.source, data, offset)
                    .is_ok();
                zeros.fill(0);
            }
            checksums.update(&self.buffers[..set.len()]);
            at += window as u64;
        }
        let found = checksums.finish().into_iter().zip(is_read);
        found
            .map(|(found, is_read)| is_read.then_some(found))
            .collect()
    }
}

/// The checksums of slices that are hashed side by side.
#[derive(Default)]
pub(crate) struct Checksums {
    lanes: Vec<Lane>,
    crcs: Vec<crc32fast::Hasher>,
}

impl Checksums {
    /// Returns the checksums of `n` empty slices.
    pub(crate) fn of(n: usize) -> Self {
        Self {
            lanes: vec![Lane::default(); n],
            crcs: vec![crc32fast::Hasher::new(); n],
        }
    }

    /// Appends a window to each slice.
    pub(crate) fn update(&mut self, windows: &[Vec<u8>]) {
        for (crc, window) in self.crcs.iter_mut().zip(windows) {
            crc.update(window);
        }
        update(&mut self.lanes, windows);
    }

    pub(crate) fn finish(mut self) -> Vec<SliceChecksum> {
        let digests = finish(&mut self.lanes).into_iter().zip(self.crcs);
        digests
            .map(|(md5, crc)| SliceChecksum {
                md5,
                crc32: crc.finalize(),
            })
            .collect()
    }
}

/// Appends a window to each message.
pub(crate) fn update(lanes: &mut [Lane], windows: &[Vec<u8>]) {
    let windows: Vec<&[u8]> = windows.iter().map(Vec::as_slice).collect();
    Lane::update_many(kernel(), lanes, &windows);
}

/// Returns the digests of messages, which are empty afterwards.
pub(crate) fn finish(lanes: &mut [Lane]) -> Vec<Md5> {
    let mut digests = vec![[0; 16]; lanes.len()];
    Lane::finalize_many(kernel(), lanes, &mut digests);
    digests
}

fn kernel() -> Md5Kernel {
    <Lane as LaneHash>::kernel(&Engine::detect())
}
