//! Restores files, and never makes anything worse.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_files::{AtomicFile, is_below, write_all_at};

use crate::error::Error;
use crate::gf;
use crate::kept::{Kept, put_beside, rename_new};
use crate::matrix::Solution;
use crate::run::{Progress, Run};
use crate::set::RecoverySet;
use crate::source::{Reader, Source, Wanted, checksums, digest_of};
use crate::space::check_space;
use crate::sums::{BATCH, Planes, Sums};
use crate::verify::{State, Verification};

/// A file that was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairedFile {
    /// The number of the file in the set.
    pub file: usize,
    /// The path of the damaged file, if it is kept.
    pub damaged: Option<PathBuf>,
    /// The name that the file had, if it was renamed only.
    pub renamed_from: Option<PathBuf>,
}

/// The result of a repair.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Repaired {
    /// The files that were restored.
    pub files: Vec<RepairedFile>,
    /// Number of slices that were computed.
    pub n_computed: usize,
    /// Number of passes over the files.
    pub n_passes: usize,
}

/// Restores all files that are not intact, after a [`verify`](crate::verify()) of the same folder.
///
/// Each file is written without a name, and all of its slices and its digest are compared, before any file gets its name. If a
/// slice is missing, nothing is changed. A process that is killed leaves each file damaged or restored.
///
/// # Errors
/// There are too few recovery slices, the memory or the disk has no space, a file cannot be read or written, a symbolic link
/// leads out of the folder, or the result is wrong. An error after the comparison leaves the files that were restored before.
pub fn repair(
    set: &RecoverySet,
    verification: &Verification,
    folder: &Path,
    kept: Kept,
    run: &mut Run<'_>,
) -> Result<Repaired, Error> {
    let mut wanted = Vec::new();
    let mut renamed = Vec::new();
    for (file, report) in verification.files.iter().enumerate() {
        let path = || path_below(folder, &set.files[file].path);
        match &report.state {
            State::Intact => {}
            State::Renamed(from) => renamed.push((file, from, path()?)),
            State::Damaged | State::Missing | State::Unreadable(_) => wanted.push((file, path()?)),
        }
    }
    let n_missing = verification.n_missing;
    if n_missing > set.recovery.len() {
        return Err(Error::NotEnough {
            missing: n_missing,
            available: set.recovery.len(),
        });
    }
    let (restored, n_passes) = restore(set, verification, &wanted, run)?;
    // From here on, files get their names.
    let mut repaired = Repaired {
        files: Vec::new(),
        n_computed: n_missing,
        n_passes,
    };
    for (file, from, path) in renamed {
        make_folder(&path)?;
        rename_new(from, &path).map_err(Error::io(&path))?;
        repaired.files.push(RepairedFile {
            file,
            damaged: None,
            renamed_from: Some(from.clone()),
        });
    }
    for file in restored {
        let number = file.target.file;
        let damaged = file.put(kept)?;
        repaired.files.push(RepairedFile {
            file: number,
            damaged,
            renamed_from: None,
        });
    }
    repaired.files.sort_by_key(|file| file.file);
    Ok(repaired)
}

/// Returns the path of a file of the set. Through a link out of the folder, a set could replace any file of its user.
fn path_below(folder: &Path, relative: &Path) -> Result<PathBuf, Error> {
    let path = folder.join(relative);
    let root = folder.canonicalize().map_err(Error::io(folder))?;
    if !is_below(&root.join(relative), &root) {
        return Err(Error::File {
            path,
            reason: "a symbolic link leads out of the folder of the set, or nowhere",
        });
    }
    Ok(path)
}

/// Restores files that have no names yet, after a [`verify`](crate::verify()): `wanted` has their numbers in the set, and their
/// paths. All slices and the digest of each were compared. Nothing else is changed. Returns them in the order of `wanted`, and the
/// number of passes over the files of the set.
///
/// If all slices of the wanted files were found, no recovery slice is needed, even if other files of the set lack slices.
///
/// # Errors
/// As for [`repair`].
pub fn restore(
    set: &RecoverySet,
    verification: &Verification,
    wanted: &[(usize, PathBuf)],
    run: &mut Run<'_>,
) -> Result<(Vec<Restored>, usize), Error> {
    let found = |file: usize| verification.files[file].n_found == set.files[file].n_slices;
    let mut missing = Vec::new();
    if !wanted.iter().all(|(file, _)| found(*file)) {
        missing.extend((0..set.n_slices).filter(|slice| verification.places[*slice].is_none()));
    }
    if missing.len() > set.recovery.len() {
        return Err(Error::NotEnough {
            missing: missing.len(),
            available: set.recovery.len(),
        });
    }
    let target = |(file, path): &(usize, PathBuf)| Target {
        file: *file,
        path: path.clone(),
        len: set.files[*file].len,
    };
    let targets: Vec<Target> = wanted.iter().map(target).collect();
    check_space(
        targets
            .iter()
            .map(|target| (target.path.as_path(), target.len)),
    )?;
    let mut restored = Vec::new();
    for target in targets {
        run.check()?;
        restored.push(Restored::create(target)?);
    }
    let mut job = Job {
        set,
        verification,
        files: BTreeMap::new(),
        progress: Progress::default(),
        reader: Reader::default(),
    };
    for (number, file) in restored.iter().enumerate() {
        job.files.insert(file.target.file, number);
    }
    let n_passes = if missing.is_empty() {
        job.copy_all(&restored, run)?
    } else {
        job.compute(&restored, &missing, run)?
    };
    for file in &restored {
        if !file.is_right(set, run)? {
            return Err(Error::Wrong(file.target.path.clone()));
        }
    }
    Ok((restored, n_passes))
}

/// A file to restore.
#[derive(Debug)]
struct Target {
    file: usize,
    path: PathBuf,
    len: u64,
}

fn make_folder(path: &Path) -> Result<(), Error> {
    match path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        Some(folder) => fs::create_dir_all(folder).map_err(Error::io(folder)),
        None => Ok(()),
    }
}

/// A restored file that has no name yet. Without [`Restored::put`], it vanishes.
#[derive(Debug)]
pub struct Restored {
    target: Target,
    /// The place of the damaged file, with links followed, or of the missing one.
    place: PathBuf,
    file: AtomicFile,
}

impl Restored {
    fn create(target: Target) -> Result<Self, Error> {
        let path = &target.path;
        make_folder(path)?;
        let place = hashlane_files::place_of(path).map_err(Error::io(path))?;
        let file = AtomicFile::beside(&place, 0o666).map_err(Error::io(path))?;
        file.as_file()
            .set_len(target.len)
            .map_err(Error::io(path))?;
        if let Ok(damaged) = fs::metadata(&place)
            && damaged.is_file()
        {
            file.as_file()
                .set_permissions(damaged.permissions())
                .map_err(Error::io(path))?;
        }
        Ok(Self {
            target,
            place,
            file,
        })
    }

    fn write(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let result = write_all_at(self.file.as_file(), bytes, offset);
        result.map_err(Error::io(&self.target.path))
    }

    /// Compares every slice and the whole file with the digests of the set.
    fn is_right(&self, set: &RecoverySet, run: &mut Run<'_>) -> Result<bool, Error> {
        let path = &self.target.path;
        let file = self.file.as_file().try_clone().map_err(Error::io(path))?;
        let expected = &set.files[self.target.file];
        let sources = [Source::open(Arc::new(file), expected.len)];
        if !set.is_compared_whole(self.target.file) {
            let wanted = (0..expected.n_slices).map(|slice| Wanted {
                source: 0,
                offset: slice as u64 * set.slice_len,
                len: set.slice_len,
                data_len: set.data_len(self.target.file, slice),
            });
            let wanted: Vec<Wanted> = wanted.collect();
            let found = checksums(&sources, &wanted, run, &mut Progress::default())?;
            for (slice, found) in found.into_iter().enumerate() {
                if found != set.checksum(self.target.file, slice) {
                    return Ok(false);
                }
            }
        }
        let found = digest_of(&sources[0], run.cancel).map_err(Error::io(path))?;
        Ok(found == expected.md5)
    }

    /// Returns the number of the file in the set.
    pub fn file(&self) -> usize {
        self.target.file
    }

    /// Returns the file, to compare its bytes and to change its times.
    pub fn as_file(&self) -> &fs::File {
        self.file.as_file()
    }

    /// Gives the file its name. Returns the new path of the damaged file if it is kept.
    ///
    /// # Errors
    /// The system's error. Then nothing was changed.
    pub fn put(self, kept: Kept) -> Result<Option<PathBuf>, Error> {
        let path = self.target.path;
        put_beside(self.file, &self.place, kept).map_err(Error::io(&path))
    }
}

/// Solves the equations of the missing slices.
fn solve(missing: &[u16], exponents: &[u16], run: &Run<'_>) -> Result<Solution, Error> {
    let (kernel, n_threads, cancel) = (run.kernel, run.n_threads, run.cancel);
    let solution = Solution::find(kernel, n_threads, missing, exponents, cancel);
    run.check()?;
    solution.ok_or(Error::NoSolution)
}

/// Maximum number of bytes of a slice that are read at once.
const WINDOW: usize = 1 << 20;

/// A repair in progress.
struct Job<'j> {
    set: &'j RecoverySet,
    verification: &'j Verification,
    /// The restored files, by the number of the file in the set.
    files: BTreeMap<usize, usize>,
    progress: Progress,
    reader: Reader,
}

impl Job<'_> {
    /// Reads columns of a slice that was found, and writes them to its file if it is restored.
    fn read(
        &mut self,
        restored: &[Restored],
        slice: usize,
        column: usize,
        buffer: &mut [u8],
    ) -> Result<(), Error> {
        let (file, in_file) = self.set.place_of(slice);
        let data_len = self.set.data_len(file, in_file);
        let left = data_len
            .saturating_sub(column as u64)
            .min(buffer.len() as u64) as usize;
        let (data, zeros) = buffer.split_at_mut(left);
        if let Some(place) = self.verification.places[slice] {
            let offset = place.offset + column as u64;
            let sources = &self.verification.sources;
            let path = sources[place.source]
                .path()
                .unwrap_or(&self.set.files[file].path);
            let error = Error::io(path);
            self.reader
                .read(sources, place.source, data, offset)
                .map_err(error)?;
        }
        zeros.fill(0);
        self.progress.done_bytes += data.len() as u64;
        self.write(restored, slice, column, data)
    }

    /// Writes columns of a slice to its file, if it is restored.
    fn write(
        &self,
        restored: &[Restored],
        slice: usize,
        column: usize,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let (file, in_file) = self.set.place_of(slice);
        let Some(number) = self.files.get(&file) else {
            return Ok(());
        };
        let data_len = self
            .set
            .data_len(file, in_file)
            .saturating_sub(column as u64);
        let bytes = &bytes[..data_len.min(bytes.len() as u64) as usize];
        let offset = in_file as u64 * self.set.slice_len + column as u64;
        restored[*number].write(bytes, offset)
    }

    /// Copies the slices of the restored files, all of which were found. Returns the number of passes.
    fn copy_all(&mut self, restored: &[Restored], run: &mut Run<'_>) -> Result<usize, Error> {
        self.progress.total_bytes = restored.iter().map(|file| file.target.len).sum();
        let mut buffer = vec![0; WINDOW];
        for file in restored {
            let expected = &self.set.files[file.target.file];
            for slice in expected.first_slice..expected.first_slice + expected.n_slices {
                let data_len = self
                    .set
                    .data_len(file.target.file, slice - expected.first_slice);
                let data_len = usize::try_from(data_len).unwrap_or(usize::MAX);
                for column in (0..data_len).step_by(WINDOW) {
                    run.check()?;
                    let len = WINDOW.min(data_len - column);
                    self.read(restored, slice, column, &mut buffer[..len])?;
                }
                (run.progress)(self.progress);
            }
        }
        Ok(1)
    }

    /// Computes the missing slices, and copies the others of restored files. Returns the number of passes.
    fn compute(
        &mut self,
        restored: &[Restored],
        missing: &[usize],
        run: &mut Run<'_>,
    ) -> Result<usize, Error> {
        let set = self.set;
        let needed = Solution::memory(missing.len());
        if needed > run.memory {
            return Err(Error::Memory {
                missing: missing.len(),
                needed,
            });
        }
        let slice_len = usize::try_from(set.slice_len).map_err(|_| Error::Memory {
            missing: missing.len(),
            needed: set.slice_len,
        })?;
        let logs = gf::slice_logs(set.n_slices);
        let exponents: Vec<u16> = set.recovery.iter().map(|slice| slice.exponent).collect();
        let missing_logs: Vec<u16> = missing.iter().map(|slice| logs[*slice]).collect();
        let solution = solve(&missing_logs, &exponents, run)?;
        let volumes = set
            .volumes
            .iter()
            .map(|path| Source::file(path).map_err(Error::io(path)));
        let volumes: Vec<Source> = volumes.collect::<Result<_, _>>()?;
        let present: Vec<usize> = (0..set.n_slices)
            .filter(|slice| self.verification.places[*slice].is_some())
            .collect();
        // The sums take twice their columns, before and after the solution.
        let memory = usize::try_from(run.memory - needed).unwrap_or(usize::MAX);
        let window = (memory / (16 * BATCH)).clamp(64 << 10, WINDOW) & !0xffff;
        let window = window.min(slice_len);
        let columns = if Sums::memory(2 * missing.len(), slice_len) <= (memory / 4 * 3) as u64 {
            slice_len
        } else {
            (memory / 8 * 3 / missing.len() / window * window).clamp(window, slice_len)
        };
        let n_passes = slice_len.div_ceil(columns);
        self.progress.total_bytes = present.len() as u64 * set.slice_len;
        let mut volume_reader = Reader::default();
        for start in (0..slice_len).step_by(columns) {
            let end = slice_len.min(start + columns);
            let mut sums = Sums::zero(run.kernel, run.n_threads, missing.len(), end - start);
            let mut buffer = vec![0; end - start];
            for (row, used) in solution.used.iter().enumerate() {
                run.check()?;
                let slice = set.recovery[*used];
                let error = Error::io(&set.volumes[slice.volume]);
                let offset = slice.offset + start as u64;
                let read = volume_reader.read(&volumes, slice.volume, &mut buffer, offset);
                read.map_err(error)?;
                sums.set(row, &buffer);
            }
            let used: Vec<u16> = solution.used.iter().map(|used| exponents[*used]).collect();
            self.add_present(
                &mut sums,
                restored,
                &present,
                (&logs, &used),
                start..end,
                window,
                run,
            )?;
            let sums = sums.transformed(|row, used| solution.factor(row, used));
            for (row, slice) in missing.iter().enumerate() {
                run.check()?;
                sums.read(row, &mut buffer);
                self.write(restored, *slice, start, &buffer)?;
            }
        }
        Ok(n_passes)
    }

    /// Adds the products of the slices that were found to the recovery slices.
    #[expect(
        clippy::too_many_arguments,
        reason = "the columns, and what is added to them"
    )]
    fn add_present(
        &mut self,
        sums: &mut Sums,
        restored: &[Restored],
        present: &[usize],
        (logs, exponents): (&[u16], &[u16]),
        columns: std::ops::Range<usize>,
        window: usize,
        run: &mut Run<'_>,
    ) -> Result<(), Error> {
        let (mut ready, mut next) = (Planes::default(), Planes::default());
        let mut pending: Option<(&[usize], usize)> = None;
        let mut buffer = vec![0; window];
        let steps = present.chunks(BATCH).flat_map(|batch| {
            columns
                .clone()
                .step_by(window)
                .map(move |column| (batch, column))
        });
        for (batch, column) in steps {
            run.check()?;
            let len = window.min(columns.end - column);
            let mut read = || -> Result<(), Error> {
                next.resize(batch.len(), len);
                for (i, slice) in batch.iter().enumerate() {
                    self.read(restored, *slice, column, &mut buffer[..len])?;
                    next.set(i, &buffer[..len]);
                }
                Ok(())
            };
            match pending {
                Some((batch, column)) => {
                    let factor =
                        |sum: usize, slice: usize| gf::factor(logs[batch[slice]], exponents[sum]);
                    sums.add(column - columns.start, &ready, factor, read)?;
                }
                None => read()?,
            }
            std::mem::swap(&mut ready, &mut next);
            pending = Some((batch, column));
            (run.progress)(self.progress);
        }
        if let Some((batch, column)) = pending {
            let factor = |sum: usize, slice: usize| gf::factor(logs[batch[slice]], exponents[sum]);
            sums.add(column - columns.start, &ready, factor, || ());
        }
        Ok(())
    }
}
