//! Sets of recovery files beside a catalogue. Each protects a group of files.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use hashlane_files::RECOVERY_SUFFIX;
use hashlane_par2::{Error, Kernel, Progress, RecoverySet, Run};

use crate::catalogue::Catalogue;
use crate::error::Reason;
use crate::run::Job;

/// Memory for slices.
const MEMORY: u64 = 1 << 30;

/// Precedes the redundancy in the comment of a set.
const COMMENT: &str = "hashlane archive, redundancy ";

/// Returns the comment of a set with this redundancy, in percent.
pub(crate) fn comment_of(redundancy: f64) -> String {
    format!("{COMMENT}{redundancy}%")
}

/// Returns the redundancy of a set, in percent.
pub(crate) fn redundancy_of(set: &RecoverySet) -> Option<f64> {
    let text = set.comment.as_deref()?.strip_prefix(COMMENT)?;
    let redundancy: f64 = text.strip_suffix('%')?.parse().ok()?;
    (redundancy > 0.0 && redundancy <= 100.0).then_some(redundancy)
}

/// The files of a set.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// The file without recovery slices. It gets its name last, so that a set without it is not complete.
    pub(crate) index: Option<PathBuf>,
    pub(crate) volumes: Vec<PathBuf>,
    /// Number of recovery slices, by the names of the volumes.
    pub(crate) n_recovery: usize,
}

impl Group {
    /// Returns the groups of a catalogue by their numbers.
    pub(crate) fn all(catalogue: &Path) -> io::Result<BTreeMap<u32, Self>> {
        let mut groups: BTreeMap<u32, Self> = BTreeMap::new();
        let place = catalogue.canonicalize()?;
        let folder = place.parent().unwrap_or(Path::new("/"));
        let prefix = base_of(place.file_name().unwrap_or_default(), None);
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let rest = name.as_bytes().strip_prefix(prefix.as_bytes());
            let Some((number, volume)) = rest.and_then(parse) else {
                continue;
            };
            let group = groups.entry(number).or_default();
            match volume {
                None => group.index = Some(entry.path()),
                Some(n_recovery) => {
                    group.volumes.push(entry.path());
                    group.n_recovery = group.n_recovery.saturating_add(n_recovery);
                }
            }
        }
        for group in groups.values_mut() {
            group.volumes.sort_unstable();
        }
        Ok(groups)
    }

    /// Returns the place of the set with a number.
    pub(crate) fn place(catalogue: &Path, number: u32) -> io::Result<PathBuf> {
        let place = catalogue.canonicalize()?;
        let mut name = base_of(place.file_name().unwrap_or_default(), Some(number));
        name.push(".par2");
        Ok(place.with_file_name(name))
    }

    /// Returns the files, the one without recovery slices first.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.index.iter().chain(&self.volumes)
    }

    /// Returns a path that names the set to a person.
    pub(crate) fn name(&self) -> &Path {
        self.files().next().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Reads what the set says about its files, but no recovery slice if that can be avoided. Returns whether it could.
    pub(crate) fn read_files(&self, run: &mut Run<'_>) -> Result<(RecoverySet, bool), Error> {
        if let Some(index) = &self.index {
            match RecoverySet::read(vec![index.clone()], run) {
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(_) => {}
                Ok(set) => return Ok((set, true)),
            }
        }
        Ok((self.read(run)?, false))
    }

    /// Reads the set with its recovery slices.
    pub(crate) fn read(&self, run: &mut Run<'_>) -> Result<RecoverySet, Error> {
        RecoverySet::read(self.files().cloned().collect(), run)
    }

    /// Returns `true` if no file is missing or shorter than its name says.
    pub(crate) fn is_complete(&self, slice_len: u64) -> bool {
        let len = |path: &PathBuf| fs::metadata(path).map_or(0, |metadata| metadata.len());
        let needed = slice_len.saturating_mul(self.n_recovery as u64);
        // A set has one volume: without it, there is no recovery slice.
        let has_all = self.index.is_some() && self.n_recovery > 0;
        has_all && self.volumes.iter().map(len).fold(0, u64::saturating_add) >= needed
    }

    /// Removes the files. If that is interrupted, the set is not complete.
    pub(crate) fn remove(&self) -> io::Result<()> {
        self.files().try_for_each(fs::remove_file)
    }
}

/// Returns the name of a set without its extension, or what precedes its number.
fn base_of(catalogue: &OsStr, number: Option<u32>) -> OsString {
    let mut name = catalogue.as_bytes().to_vec();
    name.extend(RECOVERY_SUFFIX.as_bytes());
    if let Some(number) = number {
        name.extend(format!("{number:08}").bytes());
    }
    OsString::from_vec(name)
}

/// Reads the number of a set, and the number of recovery slices of a volume, from `00000001.vol00+10.par2`.
fn parse(name: &[u8]) -> Option<(u32, Option<usize>)> {
    let name = std::str::from_utf8(name).ok()?.strip_suffix(".par2")?;
    match name.split_once(".vol") {
        None => Some((name.parse().ok()?, None)),
        Some((number, volume)) => {
            let (_, n_recovery) = volume.split_once('+')?;
            Some((number.parse().ok()?, Some(n_recovery.parse().ok()?)))
        }
    }
}

/// Calls `work` with the resources of a job.
pub(crate) fn with_run<R>(
    job: &Job<'_>,
    progress: &mut dyn FnMut(Progress),
    work: impl FnOnce(&mut Run<'_>) -> R,
) -> R {
    let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    work(&mut Run {
        n_threads: job.options.threads.unwrap_or_else(cores),
        memory: MEMORY,
        kernel: Kernel::detect(),
        cancel: &job.cancel,
        progress,
    })
}

/// Does the work of a catalogue from its start to its end. `end` learns if a cancellation has ended the work early: what was done
/// until then counts.
pub(crate) fn run_work<W, R>(
    catalogue: &Catalogue,
    start: impl FnOnce() -> Result<W, Reason>,
    work: impl FnOnce(&mut W) -> Result<(), Reason>,
    end: impl FnOnce(W, bool) -> Result<R, Reason>,
) -> Result<R, crate::error::Error> {
    let run = || {
        let mut state = start()?;
        let is_interrupted = match work(&mut state) {
            Ok(()) => false,
            Err(Reason::Recovery(Error::Cancelled)) => true,
            Err(reason) => return Err(reason),
        };
        end(state, is_interrupted)
    };
    run().map_err(|reason| reason.at(catalogue.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sets_are_read() {
        for (name, expected) in [
            ("00000001.par2", Some((1, None))),
            ("12.vol00+10.par2", Some((12, Some(10)))),
            ("1.vol0.par2", None),
            ("x.par2", None),
            ("1", None),
        ] {
            assert_eq!(parse(name.as_bytes()), expected, "{name}");
        }
    }
}
