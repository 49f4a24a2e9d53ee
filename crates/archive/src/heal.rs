//! Repairs rotten files: from copies, or from recovery data.
//!
//! A file is replaced only if its time of modification is that of the catalogue. If time of the last change or inode are others, a
//! program may have written the content on purpose and set the time back: such files are in doubt, and are left alone.
//!
//! The new file is complete, on the disk, and has the digest of the catalogue before it gets its name. The damaged file is kept.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, FileTimes};
use std::io;
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hashlane_files::{AtomicFile, CancelToken, FileId, SourceFile, Stamp, read_at, write_all_at};
use hashlane_par2::{
    Error as Par2Error, Kept, Progress, RecoverySet, Restored, Run, Verification, check_space,
    kept_names, put_beside, restore, verify,
};
use hashlane_sha::{Sha256, Sha256Digest};
use hashlane_sums::path_of;

use crate::catalogue::Catalogue;
use crate::error::{Error, Reason};
use crate::event::{Event, Origin, Outcome, Repair};
use crate::group::{Group, run_work, with_run};
use crate::record::{Record, State};
use crate::run::Job;
use crate::table::Table;

/// Maximum number of files of a set that are computed at once, and of those that are copied, because all of them are open.
const MAX_OPEN: usize = 100;

/// Number of bytes that are copied at once.
const WINDOW: usize = 1 << 20;

/// The way to repair files.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Healing<'h> {
    /// Another copy of the folder. Its files need not be right.
    pub from: Option<&'h Path>,
    /// Whether files in doubt are repaired, too.
    pub is_doubtful_repaired: bool,
}

/// The numbers of files by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Healed {
    /// Files that are repaired.
    pub n_repaired: u64,
    /// Files in doubt.
    pub n_doubtful: u64,
    /// Files that were changed meanwhile.
    pub n_changed: u64,
    /// Files that cannot be repaired.
    pub n_not_repairable: u64,
    /// Whether the run was cancelled.
    pub is_interrupted: bool,
}

impl Healed {
    fn count(&mut self, outcome: &Outcome<'_>) {
        *match outcome {
            Outcome::Repaired { .. } => &mut self.n_repaired,
            Outcome::Doubtful => &mut self.n_doubtful,
            Outcome::Changed => &mut self.n_changed,
            Outcome::NotRepairable { .. } => &mut self.n_not_repairable,
        } += 1;
    }
}

/// Repairs files that a run found rotten or unreadable. `paths` are below the folder.
///
/// The content is taken from another file of the archive with the same digest, from the same path of another copy, or computed
/// from recovery data, also with the help of a damaged copy. What became of each file is passed on.
///
/// # Errors
/// The catalogue cannot be written, or the disk is full. Files that were repaired before are in the catalogue.
pub fn heal(
    catalogue: &mut Catalogue,
    job: &Job<'_>,
    paths: &[Vec<u8>],
    healing: Healing<'_>,
    receive: &mut dyn FnMut(Event<'_>),
) -> Result<Healed, Error> {
    let catalogue = &*catalogue;
    run_work(
        catalogue,
        move || {
            Ok(Work {
                catalogue,
                job,
                healing,
                table: Table::new(&catalogue.connection)?,
                left: Vec::new(),
                receive,
                healed: Healed::default(),
            })
        },
        |work| work.run(paths),
        |mut work, is_interrupted| {
            work.healed.is_interrupted = is_interrupted;
            work.table.commit()?;
            Ok(work.healed)
        },
    )
}

/// A file to repair.
struct Damaged {
    path: Vec<u8>,
    place: PathBuf,
    record: Record,
    /// The stamp of the damaged file.
    stamp: Stamp,
    /// Bytes for which recovery data is missing.
    missing_bytes: Option<u64>,
}

struct Work<'w> {
    catalogue: &'w Catalogue,
    job: &'w Job<'w>,
    healing: Healing<'w>,
    table: Table<'w>,
    /// The files that are not repaired yet.
    left: Vec<Damaged>,
    receive: &'w mut dyn FnMut(Event<'_>),
    healed: Healed,
}

impl Work<'_> {
    fn run(&mut self, paths: &[Vec<u8>]) -> Result<(), Reason> {
        for path in paths {
            self.add(path)?;
        }
        if self.left.is_empty() {
            return Ok(());
        }
        self.copy_all()?;
        for group in Group::all(self.catalogue.path())?.values() {
            if self.left.is_empty() {
                break;
            }
            self.check()?;
            while self.restore_from(group)? {}
        }
        // Files with the same content as one that was restored.
        self.copy_all()?;
        for damaged in std::mem::take(&mut self.left) {
            let missing_bytes = damaged.missing_bytes;
            self.tell(&damaged.path, Outcome::NotRepairable { missing_bytes });
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Reason> {
        if self.job.cancel.is_cancelled() {
            return Err(Par2Error::Cancelled.into());
        }
        Ok(())
    }

    fn tell(&mut self, path: &[u8], outcome: Outcome<'_>) {
        self.healed.count(&outcome);
        (self.receive)(Event::Repair(Repair { path, outcome }));
    }

    /// Adds a file if it may be repaired.
    fn add(&mut self, path: &[u8]) -> Result<(), Reason> {
        let Some(record) = self.table.record(path)? else {
            return Ok(());
        };
        let place = self.job.folder.join(path_of(path));
        let Ok(Some(stamp)) = Stamp::of_regular(&place) else {
            self.tell(path, Outcome::Changed);
            return Ok(());
        };
        let (state, known) = (State::from(stamp), record.state);
        if state.mtime_ns != known.mtime_ns {
            self.tell(path, Outcome::Changed);
            return Ok(());
        }
        let is_same = (state.ctime_ns, state.inode) == (known.ctime_ns, known.inode);
        // A second name that a killed repair has made changes the time, too.
        let is_sure = is_same || state.inode == known.inode && is_kept(&place);
        if !is_sure && !self.healing.is_doubtful_repaired {
            self.tell(path, Outcome::Doubtful);
            return Ok(());
        }
        self.left.push(Damaged {
            path: path.to_vec(),
            place,
            record,
            stamp,
            missing_bytes: None,
        });
        Ok(())
    }

    /// Repairs what other files have the content of.
    fn copy_all(&mut self) -> Result<(), Reason> {
        let digests = self
            .left
            .iter()
            .map(|damaged| (damaged.record.digest, Vec::new()));
        let mut copies: HashMap<Sha256Digest, Vec<PathBuf>> = digests.collect();
        self.catalogue.each(|path, record| {
            if record.rot_since.is_none()
                && let Some(copies) = copies.get_mut(&record.digest)
            {
                copies.push(self.job.folder.join(path_of(path)));
            }
            Ok::<(), Reason>(())
        })?;
        for damaged in std::mem::take(&mut self.left) {
            self.check()?;
            let of_archive = copies
                .get(&damaged.record.digest)
                .into_iter()
                .flatten()
                .cloned();
            let of_other = self
                .healing
                .from
                .map(|from| from.join(path_of(&damaged.path)));
            let mut sources = of_archive
                .chain(of_other)
                .filter(|source| *source != damaged.place);
            let copied = sources.find_map(|source| {
                let copied = copy(&damaged, &source, &self.job.cancel).transpose()?;
                Some(copied.map(|file| (file, source)))
            });
            match copied.transpose()? {
                Some((file, source)) => {
                    let put = |damaged: &Damaged| Ok(put_beside(file, &damaged.place, Kept::Yes)?);
                    self.put(&damaged, put, Origin::Copy(&source))?;
                }
                None => self.left.push(damaged),
            }
        }
        Ok(())
    }

    /// Gives a file that is right its name.
    fn put(
        &mut self,
        damaged: &Damaged,
        put: impl FnOnce(&Damaged) -> Result<Option<PathBuf>, Reason>,
        from: Origin<'_>,
    ) -> Result<(), Reason> {
        if Stamp::of_regular(&damaged.place)? != Some(damaged.stamp) {
            self.tell(&damaged.path, Outcome::Changed);
            return Ok(());
        }
        let kept = put(damaged)?;
        if let Some(stamp) = Stamp::of_regular(&damaged.place)? {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let now = now.unwrap_or_default().as_secs().cast_signed();
            self.table
                .confirm(&damaged.path, &State::from(stamp), now)?;
            self.table.commit()?;
        }
        let damaged_path = kept.as_deref();
        let outcome = Outcome::Repaired {
            from,
            damaged: damaged_path,
        };
        self.tell(&damaged.path, outcome);
        Ok(())
    }

    /// Repairs files that a set of recovery files protects. Returns `true` if there may be more.
    fn restore_from(&mut self, group: &Group) -> Result<bool, Reason> {
        // The total is known only after the set was read.
        let job = self.job;
        let files = match with_run(job, &mut |_| (), |run| group.read_files(run)) {
            Err(Par2Error::Cancelled) => return Err(Par2Error::Cancelled.into()),
            // A protection of the archive reports it.
            Err(_) => return Ok(false),
            Ok((files, _)) => files,
        };
        let wanted = |set: &RecoverySet| -> Vec<(usize, usize)> {
            let mut wanted: Vec<(usize, usize)> = Vec::new();
            for (number, damaged) in self.left.iter().enumerate() {
                let is_it = |sha256| sha256 == Some(damaged.record.digest.into());
                let file = set.files.iter().position(|file| is_it(file.sha256));
                // A file with the same content is copied later.
                if let Some(file) = file
                    && wanted.iter().all(|(known, _)| *known != file)
                {
                    wanted.push((file, number));
                }
            }
            wanted
        };
        let n_wanted = wanted(&files).len();
        if n_wanted == 0 {
            return Ok(false);
        }
        let others = self.others(&files)?;
        let receive = &mut self.receive;
        let mut progress = |progress: Progress| {
            receive(Event::Protecting {
                done_bytes: progress.done_bytes,
                total_bytes: progress.total_bytes,
            });
        };
        let restored = with_run(job, &mut progress, |run| -> Result<_, Par2Error> {
            let set = group.read(run)?;
            let found = verify(&set, job.folder, &others, run)?;
            restore_all(&set, &found, wanted(&set), &self.left, run)
        });
        let (restored, failure) = match restored {
            Err(Par2Error::NoPackets(_) | Par2Error::Incomplete(_) | Par2Error::Impossible(_)) => {
                return Ok(false);
            }
            restored => restored?,
        };
        for (_, number) in failure.iter().flat_map(|(wanted, _)| wanted) {
            let bytes = failure.as_ref().map(|(_, bytes)| *bytes);
            let known = &mut self.left[*number].missing_bytes;
            *known = known.map_or(bytes, |known| bytes.map(|bytes| bytes.min(known)));
        }
        let n_left = self.left.len();
        self.put_restored(group, restored)?;
        Ok(n_wanted > MAX_OPEN && self.left.len() < n_left)
    }

    /// Compares restored files with the digests of the catalogue, and gives them their names.
    fn put_restored(
        &mut self,
        group: &Group,
        restored: Vec<(Restored, usize)>,
    ) -> Result<(), Reason> {
        let mut by_number: HashMap<usize, Restored> = HashMap::new();
        by_number.extend(restored.into_iter().map(|(file, number)| (number, file)));
        for (number, damaged) in std::mem::take(&mut self.left).into_iter().enumerate() {
            let Some(restored) = by_number.remove(&number) else {
                self.left.push(damaged);
                continue;
            };
            let file = restored.as_file();
            if digest_of(file, &self.job.cancel)? != damaged.record.digest {
                // The set was made for other content.
                self.left.push(damaged);
                continue;
            }
            take_properties(file, &damaged)?;
            let put = |_: &Damaged| Ok(restored.put(Kept::Yes)?);
            self.put(&damaged, put, Origin::Recovery(group.name()))?;
        }
        Ok(())
    }

    /// Returns files that may have slices of the files of a set, besides those at their paths: the other copy, and files that were
    /// renamed since.
    fn others(&self, set: &RecoverySet) -> Result<Vec<PathBuf>, Reason> {
        let mut others = Vec::new();
        let mut moved: HashSet<[u8; 32]> = HashSet::new();
        for file in &set.files {
            if let Some(from) = self.healing.from {
                others.push(from.join(&file.path));
            }
            if let Some(sha256) = file.sha256
                && !self.job.folder.join(&file.path).is_file()
            {
                moved.insert(sha256);
            }
        }
        if !moved.is_empty() {
            self.catalogue.each(|path, record| {
                if moved.contains(&<[u8; 32]>::from(record.digest)) {
                    others.push(self.job.folder.join(path_of(path)));
                }
                Ok::<(), Reason>(())
            })?;
        }
        others.retain(|other| other.is_file());
        Ok(others)
    }
}

/// The restored files by the numbers of the damaged ones, and the files that could not be restored, with the number of bytes for which
/// recovery data is missing.
type RestoredFiles = (Vec<(Restored, usize)>, Option<(Vec<(usize, usize)>, u64)>);

/// Restores files of a set. `wanted` has their numbers in the set and those of the damaged files.
fn restore_all(
    set: &RecoverySet,
    found: &Verification,
    wanted: Vec<(usize, usize)>,
    damaged: &[Damaged],
    run: &mut Run<'_>,
) -> Result<RestoredFiles, Par2Error> {
    let is_found =
        |(file, _): &(usize, usize)| found.files[*file].n_found == set.files[*file].n_slices;
    // Files whose slices were all found need no recovery slice.
    let (copied, computed): (Vec<_>, Vec<_>) = wanted.into_iter().partition(is_found);
    let (mut restored, mut failure) = (Vec::new(), None);
    for wanted in [copied, computed] {
        let target = |(file, number): &(usize, usize)| (*file, damaged[*number].place.clone());
        let targets: Vec<_> = wanted.iter().take(MAX_OPEN).map(target).collect();
        match restore(set, found, &targets, run) {
            Ok((files, _)) => restored.extend(files.into_iter().zip(wanted.iter().map(|it| it.1))),
            Err(Par2Error::NotEnough { missing, available }) => {
                let bytes = (missing - available) as u64 * set.slice_len;
                failure = Some((wanted, bytes));
            }
            Err(Par2Error::Wrong(_) | Par2Error::NoSolution) => failure = Some((wanted, 0)),
            Err(error) => return Err(error),
        }
    }
    Ok((restored, failure))
}

/// Returns `true` if a name for damaged files belongs to a file, as a repair leaves it that was killed between two steps.
fn is_kept(place: &Path) -> bool {
    let id = |path: &Path| FileId::of_path(path).ok().flatten();
    let own = id(place);
    let mut names = kept_names(place).take_while(|name| name.symlink_metadata().is_ok());
    names.any(|name| id(&name) == own)
}

/// Copies a file if it has the content of a damaged one.
fn copy(
    damaged: &Damaged,
    source: &Path,
    cancel: &CancelToken,
) -> Result<Option<AtomicFile>, Reason> {
    let len = damaged.record.state.size.unsigned_abs();
    // A copy that cannot be read is none.
    let Ok(Some(_)) = Stamp::of_regular(source) else {
        return Ok(None);
    };
    let Ok(from) = SourceFile::open(source) else {
        return Ok(None);
    };
    if from.len_bytes() != len {
        return Ok(None);
    }
    check_space([(damaged.place.as_path(), len)])?;
    let to = AtomicFile::beside(&damaged.place, 0o666)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; WINDOW];
    for offset in (0..len).step_by(WINDOW) {
        if cancel.is_cancelled() {
            return Err(Par2Error::Cancelled.into());
        }
        let n = (len - offset).min(WINDOW as u64) as usize;
        if from.read_exact_at(&mut buffer[..n], offset).is_err() {
            return Ok(None);
        }
        hasher.update(&buffer[..n]);
        write_all_at(to.as_file(), &buffer[..n], offset)?;
    }
    if hasher.finalize() != damaged.record.digest {
        return Ok(None);
    }
    take_properties(to.as_file(), damaged)?;
    Ok(Some(to))
}

/// Returns the digest of a file.
fn digest_of(file: &File, cancel: &CancelToken) -> Result<Sha256Digest, Reason> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; WINDOW];
    let mut offset = 0;
    loop {
        if cancel.is_cancelled() {
            return Err(Par2Error::Cancelled.into());
        }
        match read_at(file, &mut buffer, offset)? {
            0 => return Ok(hasher.finalize()),
            n => {
                hasher.update(&buffer[..n]);
                offset += n as u64;
            }
        }
    }
}

/// Gives a file the owner, the permissions and the time of modification of a damaged one.
fn take_properties(file: &File, damaged: &Damaged) -> io::Result<()> {
    let metadata = fs::metadata(&damaged.place)?;
    // Only root can give files away. The permissions follow, because a new owner resets some.
    let _ = fchown(file, Some(metadata.uid()), Some(metadata.gid()));
    file.set_permissions(metadata.permissions())?;
    let ns = damaged.record.state.mtime_ns;
    let distance = Duration::from_nanos(ns.unsigned_abs());
    let modified = if ns < 0 {
        UNIX_EPOCH.checked_sub(distance)
    } else {
        UNIX_EPOCH.checked_add(distance)
    };
    match modified {
        Some(modified) => file.set_times(FileTimes::new().set_modified(modified)),
        None => Ok(()),
    }
}
