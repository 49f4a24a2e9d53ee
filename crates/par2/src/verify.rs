//! Finds the slices of a set in files.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hashlane_files::{FileId, is_absent};

use crate::create::START_LEN;
use crate::error::Error;
use crate::kept::kept_names;
use crate::packet::{Md5, SliceChecksum, md5};
use crate::rolling::Rolling;
use crate::run::{Progress, Run};
use crate::set::RecoverySet;
use crate::source::{Reader, Source, Wanted, checksums, digest_of};

/// The state of a file. A program must decide about each, so a new one is a breaking change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// All bytes are right.
    Intact,
    /// The file does not exist, and another file has all of its bytes.
    Renamed(PathBuf),
    /// The file exists, and bytes of it are wrong, missing or superfluous.
    Damaged,
    /// The file does not exist.
    Missing,
    /// The file exists, and cannot be read. Reads as the kind of the error.
    Unreadable(io::ErrorKind),
}

/// The result for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileReport {
    /// The number of the file in the set.
    pub file: usize,
    /// The state.
    pub state: State,
    /// Number of its slices that were found in any file.
    pub n_found: usize,
}

/// A place of a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) source: usize,
    pub(crate) offset: u64,
}

/// The result of a verification.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verification {
    /// The files, in the order of the set.
    pub files: Vec<FileReport>,
    /// Number of slices that were not found.
    pub n_missing: usize,
    /// Files that were not searched for moved slices to the end, because their content forges checksums, or slices do not fit
    /// the memory.
    pub not_searched: Vec<PathBuf>,
    pub(crate) sources: Vec<Source>,
    /// The places of the slices.
    pub(crate) places: Vec<Option<Place>>,
}

impl Verification {
    /// Returns `true` if all files are intact.
    pub fn is_intact(&self) -> bool {
        self.files.iter().all(|file| file.state == State::Intact)
    }

    /// Returns `true` if the recovery slices of the set are enough for the missing slices.
    pub fn is_repairable(&self, set: &RecoverySet) -> bool {
        self.n_missing <= set.recovery.len()
    }
}

/// Finds the slices of a set: in the files below `folder`, in those that an earlier repair has kept beside them, in parts of
/// split files (`NAME.001`, ...), and in `others`, which may have any names.
///
/// Intact files are read once. Stretches of a damaged file are read again, to find slices that were moved. Nothing is
/// written.
///
/// # Errors
/// [`Error::Cancelled`]. Files that cannot be read are reported.
pub fn verify(
    set: &RecoverySet,
    folder: &Path,
    others: &[PathBuf],
    run: &mut Run<'_>,
) -> Result<Verification, Error> {
    let mut search = Search {
        set,
        sources: Vec::new(),
        places: vec![None; set.n_slices],
        progress: Progress::default(),
        not_searched: Vec::new(),
    };
    // The sources of the files at their own places.
    let mut own = Vec::new();
    let mut states = Vec::new();
    for file in &set.files {
        let path = folder.join(&file.path);
        let (source, state) = match Source::file(&path) {
            Ok(source) => {
                search.progress.total_bytes += source.len();
                search.sources.push(source);
                (Some(search.sources.len() - 1), State::Damaged)
            }
            Err(error) if is_absent(&error) => (None, State::Missing),
            Err(error) => (None, State::Unreadable(error.kind())),
        };
        own.push(source);
        states.push(state);
    }
    let pairs = own
        .iter()
        .enumerate()
        .filter_map(|(file, source)| Some((file, (*source)?)));
    search.compare(&pairs.collect::<Vec<_>>(), run)?;
    for (file, source) in own.iter().enumerate() {
        if let Some(source) = *source
            && search.is_whole(file, source, run)?
        {
            states[file] = State::Intact;
        }
    }
    if states.iter().any(|state| *state != State::Intact) {
        let wanted = Index::new(set, &search.places);
        let broken = broken_files(set, &states);
        for paths in candidates(set, folder, &states, others) {
            search.search(&paths, &wanted, &broken, &mut states, run)?;
        }
        for (file, source) in own.iter().enumerate() {
            if let Some(source) = *source
                && states[file] == State::Damaged
            {
                let gaps = search.gaps(source);
                search.scan(&wanted, source, &gaps, run)?;
            }
        }
    }
    let reports = states.into_iter().enumerate().map(|(file, state)| {
        let slices = search.slices(file);
        FileReport {
            file,
            state,
            n_found: search.places[slices].iter().flatten().count(),
        }
    });
    let files: Vec<FileReport> = reports.collect();
    let n_missing = search.places.iter().filter(|place| place.is_none()).count();
    Ok(Verification {
        files,
        n_missing,
        not_searched: search.not_searched,
        sources: search.sources,
        places: search.places,
    })
}

/// Returns the files that are not intact, by their lengths and the digests of their first 16 KiB.
fn broken_files(set: &RecoverySet, states: &[State]) -> HashMap<(u64, Md5), Vec<usize>> {
    let mut broken: HashMap<(u64, Md5), Vec<usize>> = HashMap::new();
    for (number, file) in set.files.iter().enumerate() {
        if states[number] != State::Intact {
            let files = broken.entry((file.len, file.md5_16k)).or_default();
            files.push(number);
        }
    }
    broken
}

/// Returns the files, and sequences of files, that may have slices of files that are not intact.
fn candidates(
    set: &RecoverySet,
    folder: &Path,
    states: &[State],
    others: &[PathBuf],
) -> Vec<Vec<PathBuf>> {
    let mut candidates: Vec<Vec<PathBuf>> = Vec::new();
    // The files of the set at their own places are compared already, and recovery files have no slices.
    let mut known: HashSet<FileId> = HashSet::new();
    known.extend(
        set.files
            .iter()
            .filter_map(|file| id_of(&folder.join(&file.path))),
    );
    known.extend(set.volumes.iter().filter_map(|volume| id_of(volume)));
    for (file, state) in set.files.iter().zip(states) {
        if *state == State::Intact {
            continue;
        }
        let path = folder.join(&file.path);
        let with = |suffix: String| {
            let mut name = path.clone().into_os_string();
            name.push(suffix);
            PathBuf::from(name)
        };
        let exists = |path: &PathBuf| path.is_file();
        for path in kept_names(&path).take_while(exists) {
            known.extend(id_of(&path));
            candidates.push(vec![path]);
        }
        let first = usize::from(!exists(&with(".000".into())));
        let parts = (first..=999).map(|n| with(format!(".{n:03}")));
        let parts: Vec<PathBuf> = parts.take_while(exists).collect();
        if !parts.is_empty() {
            candidates.push(parts);
        }
    }
    for other in others {
        if id_of(other).is_none_or(|id| known.insert(id)) {
            candidates.push(vec![other.clone()]);
        }
    }
    candidates
}

fn id_of(path: &Path) -> Option<FileId> {
    FileId::of_path(path).ok().flatten()
}

/// A verification in progress.
struct Search<'s> {
    set: &'s RecoverySet,
    sources: Vec<Source>,
    places: Vec<Option<Place>>,
    progress: Progress,
    not_searched: Vec<PathBuf>,
}

impl Search<'_> {
    /// Returns the numbers of the slices of a file.
    fn slices(&self, file: usize) -> Range<usize> {
        let file = &self.set.files[file];
        file.first_slice..file.first_slice + file.n_slices
    }

    /// Searches files one after another, which are no file of the set at its own place.
    fn search(
        &mut self,
        paths: &[PathBuf],
        wanted: &Index,
        broken: &HashMap<(u64, Md5), Vec<usize>>,
        states: &mut [State],
        run: &mut Run<'_>,
    ) -> Result<(), Error> {
        let Ok(source) = Source::joined(paths) else {
            return Ok(());
        };
        let len = source.len();
        self.progress.total_bytes += len;
        self.sources.push(source);
        let source = self.sources.len() - 1;
        let Some(file) = self.whole_file(source, broken, states, run)? else {
            return self.scan(wanted, source, std::slice::from_ref(&(0..len)), run);
        };
        if let Some(path) = self.sources[source].path()
            && states[file] == State::Missing
        {
            states[file] = State::Renamed(path.to_owned());
        }
        Ok(())
    }

    /// Compares the slices of files with those at the same offsets of sources, all side by side.
    fn compare(&mut self, pairs: &[(usize, usize)], run: &mut Run<'_>) -> Result<(), Error> {
        let mut wanted = Vec::new();
        let mut numbers = Vec::new();
        for (file, source) in pairs {
            if self.set.is_compared_whole(*file) {
                continue;
            }
            for slice in 0..self.set.files[*file].n_slices {
                let offset = slice as u64 * self.set.slice_len;
                let data_len = self.set.data_len(*file, slice);
                if offset + data_len <= self.sources[*source].len() {
                    let len = self.set.slice_len;
                    wanted.push(Wanted {
                        source: *source,
                        offset,
                        len,
                        data_len,
                    });
                    numbers.push((*file, slice));
                }
            }
        }
        let found = checksums(&self.sources, &wanted, run, &mut self.progress)?;
        for ((wanted, (file, slice)), found) in wanted.iter().zip(numbers).zip(found) {
            let number = self.set.files[file].first_slice + slice;
            if found.is_some() && found == self.set.checksum(file, slice) {
                let place = Place {
                    source: wanted.source,
                    offset: wanted.offset,
                };
                self.places[number].get_or_insert(place);
            }
        }
        Ok(())
    }

    /// Returns `true` if a source has exactly the bytes of a file, after [`Self::compare`].
    fn is_whole(&mut self, file: usize, source: usize, run: &mut Run<'_>) -> Result<bool, Error> {
        let expected = &self.set.files[file];
        if self.sources[source].len() != expected.len {
            return Ok(false);
        }
        if self.set.is_compared_whole(file) {
            let found = digest_of(&self.sources[source], run.cancel).ok();
            run.check()?;
            let is_same = found == Some(expected.md5);
            if is_same {
                for slice in 0..expected.n_slices {
                    let offset = slice as u64 * self.set.slice_len;
                    self.places[expected.first_slice + slice] = Some(Place { source, offset });
                }
            }
            return Ok(is_same);
        }
        let mut slices = self.slices(file).zip(0..);
        Ok(slices.all(|(number, slice)| {
            let offset = slice * self.set.slice_len;
            self.places[number].is_some_and(|at| (at.source, at.offset) == (source, offset))
        }))
    }

    /// Returns the file that is not intact and has all bytes of a source.
    fn whole_file(
        &mut self,
        source: usize,
        broken: &HashMap<(u64, Md5), Vec<usize>>,
        states: &[State],
        run: &mut Run<'_>,
    ) -> Result<Option<usize>, Error> {
        let len = self.sources[source].len();
        let mut start = vec![0; len.min(START_LEN as u64) as usize];
        if Reader::default()
            .read(&self.sources, source, &mut start, 0)
            .is_err()
        {
            return Ok(None);
        }
        let key = (len, md5(&[&start]));
        for file in broken.get(&key).into_iter().flatten().copied() {
            if matches!(states[file], State::Renamed(_)) {
                continue;
            }
            // The places of this source only, so that the file is whole or not.
            let slices = self.slices(file);
            let before = self.places[slices.clone()].to_vec();
            self.places[slices.clone()].fill(None);
            self.compare(&[(file, source)], run)?;
            if self.is_whole(file, source, run)? {
                return Ok(Some(file));
            }
            for (place, before) in self.places[slices].iter_mut().zip(before) {
                *place = before.or(*place);
            }
        }
        Ok(None)
    }

    /// Returns the stretches of a source in which no slice was found.
    fn gaps(&self, source: usize) -> Vec<Range<u64>> {
        let len = self.sources[source].len();
        let mut found: Vec<u64> = self
            .places
            .iter()
            .flatten()
            .filter(|place| place.source == source)
            .map(|place| place.offset)
            .collect();
        found.sort_unstable();
        let mut gaps = Vec::new();
        let mut end = 0;
        for offset in found {
            if offset > end {
                gaps.push(end..offset);
            }
            end = end.max(offset.saturating_add(self.set.slice_len));
        }
        if end < len {
            gaps.push(end..len);
        }
        gaps
    }

    /// Searches stretches of a source for slices that were not found yet, at all offsets.
    fn scan(
        &mut self,
        wanted: &Index,
        source: usize,
        stretches: &[Range<u64>],
        run: &mut Run<'_>,
    ) -> Result<(), Error> {
        if wanted.by_crc.is_empty() || stretches.is_empty() {
            return Ok(());
        }
        let name = |search: &Self| search.sources[source].path().map(Path::to_owned);
        let len = usize::try_from(self.set.slice_len).unwrap_or(usize::MAX);
        if len > usize::MAX / 4 || 2 * len as u64 > run.memory {
            self.not_searched.extend(name(self));
            return Ok(());
        }
        let rolling = Rolling::new(self.set.slice_len);
        let mut window = Window::new(len);
        // Slices that have a checksum of the set and another digest are hashed in vain.
        let mut in_vain = self.sources[source]
            .len()
            .saturating_mul(8)
            .saturating_add(64 << 20);
        for stretch in stretches {
            // After the end of a file, slices continue with zeros.
            let is_last = stretch.end == self.sources[source].len();
            let end = if is_last {
                stretch.end.saturating_add(len as u64 - 1)
            } else {
                stretch.end
            };
            let mut at = stretch.start;
            let mut crc32 = None;
            while at < stretch.end && at.saturating_add(len as u64) <= end {
                if window.start(at, &self.sources, source).is_err() {
                    // A place that cannot be read: what follows may be readable, and its slices are compared at their places.
                    break;
                }
                if at.is_multiple_of(1 << 16) {
                    run.check()?;
                    (run.progress)(self.progress);
                }
                let crc = crc32.unwrap_or_else(|| crc32fast::hash(window.slice(at)));
                if let Some(slices) = wanted.with(crc) {
                    let found = md5(&[window.slice(at)]);
                    let mut is_found = false;
                    for (number, expected) in slices {
                        if *expected == found {
                            let place = Place { source, offset: at };
                            self.places[*number].get_or_insert(place);
                            is_found = true;
                        }
                    }
                    if is_found {
                        at += len as u64;
                        crc32 = None;
                        continue;
                    }
                    let Some(left) = in_vain.checked_sub(len as u64) else {
                        self.not_searched.extend(name(self));
                        return Ok(());
                    };
                    in_vain = left;
                }
                if at + len as u64 >= end || window.start(at + 1, &self.sources, source).is_err() {
                    break;
                }
                crc32 = Some(rolling.roll(crc, window.before(at + 1), window.last(at + 1)));
                at += 1;
            }
            self.progress.done_bytes = self
                .progress
                .done_bytes
                .max(at)
                .min(self.progress.total_bytes);
        }
        Ok(())
    }
}

/// The slices that are searched, by checksum.
struct Index {
    by_crc: HashMap<u32, Vec<(usize, Md5)>>,
    /// A bit for the low bits of each checksum, so that most windows need no look into the map.
    filter: Vec<u64>,
}

/// Number of bits of a checksum that the filter has a bit for.
const FILTER_BITS: u32 = 18;

impl Index {
    fn new(set: &RecoverySet, places: &[Option<Place>]) -> Self {
        let mut index = Self {
            by_crc: HashMap::new(),
            filter: vec![0; 1 << (FILTER_BITS - 6)],
        };
        for file in &set.files {
            let checksums: &[SliceChecksum] = file.checksums.as_deref().unwrap_or_default();
            for (number, checksum) in (file.first_slice..).zip(checksums) {
                if places[number].is_none() {
                    let slices = index.by_crc.entry(checksum.crc32).or_default();
                    slices.push((number, checksum.md5));
                    let (word, bit) = Self::bit(checksum.crc32);
                    index.filter[word] |= bit;
                }
            }
        }
        index
    }

    fn bit(crc32: u32) -> (usize, u64) {
        let bits = crc32 & ((1 << FILTER_BITS) - 1);
        ((bits >> 6) as usize, 1 << (bits & 63))
    }

    fn with(&self, crc32: u32) -> Option<&[(usize, Md5)]> {
        let (word, bit) = Self::bit(crc32);
        if self.filter[word] & bit == 0 {
            return None;
        }
        self.by_crc.get(&crc32).map(Vec::as_slice)
    }
}

/// The bytes of a source around a position: a slice, the byte before it, and more, so that few positions need a read.
struct Window {
    len: usize,
    /// Offset of the first byte in the buffer.
    base: u64,
    buffer: Vec<u8>,
}

impl Window {
    fn new(len: usize) -> Self {
        Self {
            len,
            base: 0,
            buffer: Vec::new(),
        }
    }

    /// Makes the slice at an offset available, and the byte before it if the offset has grown by one.
    fn start(&mut self, at: u64, sources: &[Source], source: usize) -> io::Result<()> {
        let end = at.saturating_add(self.len as u64);
        let is_there = at > self.base && end <= self.base + self.buffer.len() as u64;
        if is_there {
            return Ok(());
        }
        let base = at.saturating_sub(1);
        // As many bytes as stay in the buffer, so that moving them costs no more than reading.
        let more = self.len.max(64 << 10);
        let kept = if base >= self.base {
            (base - self.base) as usize
        } else {
            usize::MAX
        };
        if kept < self.buffer.len() {
            self.buffer.drain(..kept);
        } else {
            self.buffer.clear();
        }
        self.base = base;
        let kept = self.buffer.len();
        self.buffer.resize(self.len + 1 + more, 0);
        let read = Reader::default().read(
            sources,
            source,
            &mut self.buffer[kept..],
            base + kept as u64,
        );
        if read.is_err() {
            self.buffer.clear();
        }
        read
    }

    fn slice(&self, at: u64) -> &[u8] {
        &self.buffer[(at - self.base) as usize..][..self.len]
    }

    fn before(&self, at: u64) -> u8 {
        self.buffer[(at - self.base) as usize - 1]
    }

    fn last(&self, at: u64) -> u8 {
        self.buffer[(at - self.base) as usize + self.len - 1]
    }
}
