//! Protects the files of a catalogue with recovery data.
//!
//! Files are protected in groups, each by a PAR2 set of its own. A group has files of about the same size, so that slices are filled
//! well, and is limited in bytes and files, so that what a changed file costs is limited, too.
//!
//! | event | cost |
//! |---|---|
//! | new files | they form new groups. A small group of the same size class is read again if it is no larger than what is new, so that a file is read again at most as often as its group doubles until it is half full |
//! | a file that is changed or removed | none, until more than a quarter of the recovery slices of its group would be needed for such files. Then the group is dissolved, and its files form new groups |
//! | a file that is renamed | none: content is known by its digest |
//!
//! A group is removed only after all of its content is in others.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use hashlane_files::Stamp;
use hashlane_par2::{Error as Par2Error, NewSet, RecoverySet, Redundancy, Slices, Volumes, create};
use hashlane_sha::Sha256Digest;
use hashlane_sums::path_of;
use rusqlite::{Connection, OptionalExtension as _};

use crate::catalogue::Catalogue;
use crate::error::{Error, Reason};
use crate::event::Event;
use crate::group::{Group, comment_of, redundancy_of, run_work, with_run};
use crate::read::{Content, Pending, Read, read};
use crate::run::Job;

/// The redundancy in percent, unless another one was chosen.
const REDUNDANCY: f64 = 5.0;

/// Number of bytes after which a group ends. A larger file is a group of its own.
const GROUP_BYTES: u64 = 1 << 30;

/// Maximum number of files of a group.
const GROUP_FILES: usize = 1000;

/// Number of slices of a group that has no more files.
const SLICES: u64 = 2000;

/// Length of slices under which there is no need for more of them: the sectors of most disks.
const SLICE_LEN: u64 = 4096;

/// Number of copies of the descriptions of files in a recovery file. One more is in the file without recovery slices.
const COPIES: usize = 2;

/// The part of the recovery slices of a group that files without their content may need.
const STALE_PART: usize = 4;

/// The tables of a run. They are temporary: the catalogue itself does not change.
const SCHEMA: &str = "
DROP TABLE IF EXISTS temp.content;
DROP TABLE IF EXISTS temp.member;
BEGIN;
CREATE TEMP TABLE content (sha256 BLOB NOT NULL PRIMARY KEY, path BLOB NOT NULL, size INTEGER NOT NULL, is_rotten INTEGER NOT NULL,
  class INTEGER NOT NULL, grp INTEGER) WITHOUT ROWID;
CREATE TEMP TABLE member (grp INTEGER NOT NULL, sha256 BLOB, n_slices INTEGER NOT NULL);
INSERT OR IGNORE INTO temp.content
  SELECT sha256, path, size, rot_since IS NOT NULL,
    CASE WHEN size < 1 << 12 THEN 0 WHEN size < 1 << 16 THEN 1 WHEN size < 1 << 20 THEN 2 WHEN size < 1 << 24 THEN 3
      WHEN size < 1 << 28 THEN 4 ELSE 5 END,
    NULL
  FROM main.files WHERE size > 0 ORDER BY rot_since IS NOT NULL, path;
CREATE INDEX temp.content_grp ON content (grp);
CREATE INDEX temp.content_left ON content (class, path) WHERE grp IS NULL AND is_rotten = 0;
CREATE INDEX temp.member_grp ON member (grp);
COMMIT;";

/// The protection that is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Protection {
    /// Recovery data in percent of the files, above 0. If it is not given, that of the last run, or 5.
    pub redundancy: Option<f64>,
    /// Whether existing recovery data is read. What is damaged is made anew.
    pub checks_recovery: bool,
}

/// The result of [`protect`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Protected {
    /// Redundancy in percent.
    pub redundancy: f64,
    /// Number of files with content of their own that are protected. Copies of files are not counted.
    pub n_files: u64,
    /// Length of these files.
    pub n_bytes: u64,
    /// Number of files with content that are not protected. Each was passed on, unless it is known as rotten or is missing.
    pub n_unprotected: u64,
    /// Number of sets of recovery files.
    pub n_sets: usize,
    /// Number of those that were made by this run.
    pub n_new: usize,
    /// Number of sets that were removed.
    pub n_removed: usize,
    /// Number of sets with recovery files that are damaged or incomplete.
    pub n_damaged: usize,
    /// Length of all recovery files.
    pub recovery_bytes: u64,
    /// Whether the run was cancelled.
    pub is_interrupted: bool,
}

/// Returns `true` if there are recovery files beside a catalogue.
///
/// # Errors
/// The folder cannot be read.
pub fn is_protected(catalogue: &Catalogue) -> Result<bool, Error> {
    let groups = Group::all(catalogue.path());
    let groups = groups.map_err(|error| Reason::Io(error).at(catalogue.path()))?;
    Ok(!groups.is_empty())
}

/// Makes recovery files for the files of a catalogue that have none, beside the catalogue, and removes those that are of no
/// use any more. Each file is read and compared with the digest of the catalogue before it is protected.
///
/// Empty files need no protection. Rotten ones keep the recovery files that they have.
///
/// # Errors
/// The catalogue or the recovery files cannot be read or written, or the disk is full.
pub fn protect(
    catalogue: &mut Catalogue,
    job: &Job<'_>,
    wanted: Protection,
    receive: &mut dyn FnMut(Event<'_>),
) -> Result<Protected, Error> {
    let catalogue = &*catalogue;
    run_work(
        catalogue,
        move || {
            catalogue.connection.execute_batch(SCHEMA)?;
            Ok(Work {
                connection: &catalogue.connection,
                catalogue: catalogue.path(),
                job,
                groups: Group::all(catalogue.path())?,
                kept: HashSet::new(),
                unread: HashSet::new(),
                refused: HashSet::new(),
                done_bytes: 0,
                total_bytes: 0,
                receive,
                result: Protected::default(),
            })
        },
        |work| work.run(wanted),
        |mut work, is_interrupted| {
            work.result.is_interrupted = is_interrupted;
            work.finish()
        },
    )
}

/// A file to protect.
struct File {
    path: Vec<u8>,
    size: u64,
    digest: Sha256Digest,
    stamp: Option<Stamp>,
}

struct Work<'w> {
    connection: &'w Connection,
    catalogue: &'w Path,
    job: &'w Job<'w>,
    groups: BTreeMap<u32, Group>,
    /// The groups that stay.
    kept: HashSet<u32>,
    /// Groups whose recovery files cannot be read.
    unread: HashSet<u32>,
    /// Paths of files that cannot be protected.
    refused: HashSet<Vec<u8>>,
    done_bytes: u64,
    total_bytes: u64,
    receive: &'w mut dyn FnMut(Event<'_>),
    result: Protected,
}

impl Work<'_> {
    fn run(&mut self, wanted: Protection) -> Result<(), Reason> {
        let sets = self.read_sets(wanted)?;
        let of_last = sets
            .iter()
            .next_back()
            .and_then(|(_, known)| known.redundancy);
        let redundancy = wanted.redundancy.or(of_last).unwrap_or(REDUNDANCY);
        self.result.redundancy = redundancy;
        // The newest first: a killed run may have left older ones with the same content.
        for (number, known) in sets.into_iter().rev() {
            if known.is_intact && known.redundancy == Some(redundancy) && !self.is_stale(number)? {
                let set = "UPDATE temp.content SET grp = ?1
                    WHERE grp IS NULL AND sha256 IN (SELECT sha256 FROM temp.member WHERE grp = ?1)";
                if self.execute(set, [number])? > 0 {
                    self.kept.insert(number);
                }
            }
        }
        self.dissolve_small()?;
        let left = "SELECT total(size) FROM temp.content WHERE grp IS NULL AND is_rotten = 0";
        self.total_bytes = self.sum(left, [])?;
        let mut after = (-1, Vec::new());
        while let Some(files) = self.next_files(&mut after)? {
            self.protect(files, redundancy)?;
        }
        self.remove_dissolved()
    }

    /// Returns the number of rows that changed.
    fn execute(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<usize, Reason> {
        Ok(self.connection.prepare(sql)?.execute(parameters)?)
    }

    /// Returns a sum of sizes. `sum` of SQLite fails if those of sparse files exceed 2^63.
    #[expect(clippy::cast_sign_loss, reason = "sizes are not negative")]
    fn sum(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<u64, Reason> {
        let mut select = self.connection.prepare(sql)?;
        let sum: f64 = select.query_row(parameters, |row| row.get(0))?;
        Ok(sum as u64)
    }

    /// Reads what all sets say about their files.
    fn read_sets(&mut self, wanted: Protection) -> Result<BTreeMap<u32, Known>, Reason> {
        let mut sets = BTreeMap::new();
        self.connection.execute_batch("BEGIN")?;
        for (number, group) in &self.groups {
            let read = with_run(self.job, &mut |_| (), |run| {
                let (set, is_right) = group.read_files(run)?;
                if wanted.checks_recovery {
                    return Ok((group.read(run)?, is_right));
                }
                Ok((set, is_right))
            });
            let (set, is_right) = match read {
                Ok((set, is_right)) => (Some(set), is_right),
                Err(Par2Error::Cancelled) => return Err(Par2Error::Cancelled.into()),
                Err(_) => (None, false),
            };
            let is_complete = |set: &RecoverySet| group.is_complete(set.slice_len);
            let mut is_intact = is_right && set.as_ref().is_some_and(is_complete);
            let mut n_intact = 0;
            if let Some(set) = &set {
                n_intact = set.recovery.len();
                if wanted.checks_recovery {
                    is_intact &= n_intact == group.n_recovery;
                }
                self.add_members(*number, set)?;
            } else {
                self.unread.insert(*number);
            }
            // What a killed run has left is incomplete, and nothing to report.
            if !is_intact && (group.index.is_some() || set.is_none()) {
                self.result.n_damaged += 1;
                (self.receive)(Event::DamagedRecovery {
                    set: group.name(),
                    n_intact: wanted.checks_recovery.then_some(n_intact),
                    n_slices: group.n_recovery,
                });
            }
            let redundancy = set.as_ref().and_then(redundancy_of);
            sets.insert(
                *number,
                Known {
                    redundancy,
                    is_intact,
                },
            );
        }
        self.connection.execute_batch("COMMIT")?;
        Ok(sets)
    }

    fn add_members(&self, number: u32, set: &RecoverySet) -> Result<(), Reason> {
        let insert = "INSERT INTO temp.member VALUES (?1, ?2, ?3)";
        let mut insert = self.connection.prepare(insert)?;
        for file in &set.files {
            let sha256 = file.sha256.as_ref().map(|sha256| &sha256[..]);
            insert.execute((number, sha256, file.n_slices))?;
        }
        Ok(())
    }

    /// Returns `true` if too many recovery slices would be needed for content that the catalogue does not have any more.
    fn is_stale(&self, number: u32) -> Result<bool, Reason> {
        let count = "SELECT ifnull(sum(n_slices), 0), count(n_slices) = (SELECT count(*) FROM temp.member WHERE grp = ?1)
            FROM temp.member AS m
            WHERE grp = ?1 AND NOT EXISTS (SELECT 1 FROM temp.content AS c WHERE c.sha256 = m.sha256)";
        let mut count = self.connection.prepare(count)?;
        let (n_slices, is_all): (usize, bool) =
            count.query_row([number], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(is_all || n_slices > self.groups[&number].n_recovery / STALE_PART)
    }

    /// Dissolves small groups if there are as many bytes of new files of the same class.
    fn dissolve_small(&mut self) -> Result<(), Reason> {
        let mut small: BTreeMap<i64, Vec<(u64, u32)>> = BTreeMap::new();
        let size = "SELECT class, sum(size), count(*) FROM temp.content WHERE grp = ?1 GROUP BY class LIMIT 1";
        for number in &self.kept {
            let mut size = self.connection.prepare(size)?;
            let size = size.query_row([number], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
            let Some((class, n_bytes, n_files)): Option<(i64, u64, usize)> = size.optional()?
            else {
                continue;
            };
            if n_bytes < GROUP_BYTES / 2 && n_files < GROUP_FILES / 2 {
                small.entry(class).or_default().push((n_bytes, *number));
            }
        }
        for (class, mut groups) in small {
            let left = "SELECT total(size) FROM temp.content WHERE grp IS NULL AND is_rotten = 0 AND class = ?1";
            let mut n_bytes = self.sum(left, [class])?;
            groups.sort_unstable();
            for (of_group, number) in groups {
                if of_group > n_bytes {
                    break;
                }
                n_bytes += of_group;
                self.execute(
                    "UPDATE temp.content SET grp = NULL WHERE grp = ?1",
                    [number],
                )?;
                self.kept.remove(&number);
            }
        }
        Ok(())
    }

    /// Returns the files of the next group, after a class and a path.
    fn next_files(&self, after: &mut (i64, Vec<u8>)) -> Result<Option<Vec<File>>, Reason> {
        let select = "SELECT class, path, size, sha256 FROM temp.content
            WHERE grp IS NULL AND is_rotten = 0 AND (class, path) > (?1, ?2) ORDER BY class, path LIMIT ?3";
        let mut select = self.connection.prepare(select)?;
        let mut rows = select.query((after.0, &after.1, GROUP_FILES))?;
        let (mut files, mut n_bytes) = (Vec::new(), 0_u64);
        while let Some(row) = rows.next()? {
            let (class, path, size): (i64, Vec<u8>, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let digest: [u8; 32] = row.get(3)?;
            let is_full = n_bytes > 0 && n_bytes.saturating_add(size) > GROUP_BYTES;
            if !files.is_empty() && (class != after.0 || is_full) {
                break;
            }
            n_bytes += size;
            *after = (class, path.clone());
            files.push(File {
                path,
                size,
                digest: Sha256Digest::from(digest),
                stamp: None,
            });
        }
        Ok((!files.is_empty()).then_some(files))
    }

    /// Makes a group of files. Those that cannot be protected are left out.
    fn protect(&mut self, mut files: Vec<File>, redundancy: f64) -> Result<(), Reason> {
        let n_bytes: u64 = files.iter().map(|file| file.size).sum();
        self.compare(&mut files)?;
        while !files.is_empty() {
            let number = self.groups.keys().next_back().map_or(1, |last| last + 1);
            let place = Group::place(self.catalogue, number)?;
            let refused = match self.create(&place, &files, redundancy) {
                Ok(group) => {
                    let changed: Vec<usize> = (0..files.len())
                        .filter(|file| !self.is_unchanged(&files[*file]))
                        .collect();
                    if changed.is_empty() {
                        self.groups.insert(number, group);
                        self.kept.insert(number);
                        self.result.n_new += 1;
                        for file in &files {
                            let set = "UPDATE temp.content SET grp = ?1 WHERE sha256 = ?2";
                            self.execute(set, (number, file.digest.as_ref()))?;
                        }
                        break;
                    }
                    group.remove()?;
                    changed
                        .into_iter()
                        .map(|file| (file, "changed while it was read".to_owned()))
                        .collect()
                }
                Err(error) => vec![self.refused(&files, error)?],
            };
            for (file, reason) in refused.into_iter().rev() {
                self.refuse(&files.remove(file).path, &reason);
            }
        }
        self.done_bytes += n_bytes;
        Ok(())
    }

    /// Returns the file that an error is about, and the reason.
    fn refused(&self, files: &[File], error: Par2Error) -> Result<(usize, String), Reason> {
        let (path, reason) = match &error {
            Par2Error::Changed(path) => (path, "changed while it was read".to_owned()),
            Par2Error::File { path, reason } => (path, (*reason).to_owned()),
            Par2Error::Io { path, error } => (path, error.to_string()),
            _ => return Err(error.into()),
        };
        let file = files
            .iter()
            .position(|file| self.place(&file.path) == *path);
        file.map(|file| (file, reason)).ok_or_else(|| error.into())
    }

    fn refuse(&mut self, path: &[u8], reason: &str) {
        self.refused.insert(path.to_vec());
        (self.receive)(Event::Unprotected { path, reason });
    }

    fn place(&self, path: &[u8]) -> PathBuf {
        self.job.folder.join(path_of(path))
    }

    fn is_unchanged(&self, file: &File) -> bool {
        Stamp::of_regular(&self.place(&file.path)).is_ok_and(|stamp| stamp == file.stamp)
    }

    /// Leaves the files whose content is that of the catalogue.
    fn compare(&mut self, files: &mut Vec<File>) -> Result<(), Reason> {
        let mut batch = Vec::new();
        for file in &mut *files {
            let place = self.job.folder.join(path_of(&file.path));
            // An update reports what is missing.
            if let Ok(Some(stamp)) = Stamp::of_regular(&place) {
                file.stamp = Some(stamp);
                batch.push(Pending {
                    path: file.path.clone(),
                    place,
                    stamp,
                    record: None,
                });
            }
        }
        files.retain(|file| file.stamp.is_some());
        let mut found = HashMap::new();
        let (done_bytes, total_bytes) = (self.done_bytes, self.total_bytes);
        read(&batch, &self.job.options, &self.job.cancel, |read| {
            match read {
                Read::File(file, content) => {
                    found.insert(file.path.clone(), content);
                }
                Read::Silent(file) => (self.receive)(Event::Silent(&file.path)),
                Read::Unfinished(_) => (self.receive)(Event::Protecting {
                    done_bytes,
                    total_bytes,
                }),
            }
            Ok(())
        })?;
        if self.job.cancel.is_cancelled() {
            return Err(Par2Error::Cancelled.into());
        }
        let mut right = Vec::new();
        for file in files.drain(..) {
            match found.remove(&file.path) {
                Some(Content::Digest(digest)) if digest == file.digest => right.push(file),
                Some(Content::Digest(_)) => {
                    self.refuse(&file.path, "its content is not that of the catalogue");
                }
                Some(Content::Unreadable(error)) => self.refuse(&file.path, &error.to_string()),
                Some(Content::Unstable) | None => {
                    self.refuse(&file.path, "changed while it was read");
                }
            }
        }
        *files = right;
        Ok(())
    }

    fn create(
        &mut self,
        place: &Path,
        files: &[File],
        redundancy: f64,
    ) -> Result<Group, Par2Error> {
        let mut new = NewSet::new(concat!("hashlane ", env!("CARGO_PKG_VERSION")));
        let sectors: u64 = files.iter().map(|file| file.size.div_ceil(SLICE_LEN)).sum();
        let n_slices = sectors.min(SLICES).max(files.len() as u64);
        new.slices = Slices::Count(usize::try_from(n_slices).unwrap_or(usize::MAX));
        new.redundancy = Redundancy::Percent(redundancy);
        new.volumes = Volumes::Uniform;
        new.n_volumes = Some(1);
        new.n_copies = Some(COPIES);
        new.comment = Some(comment_of(redundancy));
        let path = |file: &File| path_of(&file.path);
        let digest = |file: &File| (path(file), file.digest.into());
        new.sha256 = files.iter().map(digest).collect();
        let paths: Vec<PathBuf> = files.iter().map(path).collect();
        let (done_bytes, total_bytes) = (self.done_bytes, self.total_bytes);
        let receive = &mut self.receive;
        let mut progress = |progress: hashlane_par2::Progress| {
            receive(Event::Protecting {
                done_bytes: done_bytes + progress.done_bytes,
                total_bytes,
            });
        };
        let created = with_run(self.job, &mut progress, |run| {
            create(self.job.folder, place, &paths, &new, run)
        })?;
        let mut written = created.written.into_iter();
        Ok(Group {
            index: written.next(),
            volumes: written.collect(),
            n_recovery: created.n_recovery,
        })
    }

    /// Removes the groups whose content is in others.
    fn remove_dissolved(&mut self) -> Result<(), Reason> {
        let of_group =
            "SELECT count(*) FROM temp.member AS m JOIN temp.content AS c ON c.sha256 = m.sha256
            WHERE m.grp = ?1 AND c.grp IS NULL";
        let all = "SELECT count(*) FROM temp.content WHERE grp IS NULL AND ?1 >= 0";
        let mut dissolved = Vec::new();
        for number in self
            .groups
            .keys()
            .filter(|number| !self.kept.contains(number))
        {
            let is_unread = self.unread.contains(number);
            let mut select = self
                .connection
                .prepare(if is_unread { all } else { of_group })?;
            let n_needed: u64 = select.query_row([number], |row| row.get(0))?;
            if n_needed == 0 {
                dissolved.push(*number);
            }
        }
        for number in dissolved {
            if let Some(group) = self.groups.remove(&number) {
                group.remove()?;
                self.result.n_removed += 1;
            }
        }
        Ok(())
    }

    /// Counts what is protected.
    fn finish(mut self) -> Result<Protected, Reason> {
        let count = "SELECT count(grp), total(CASE WHEN grp IS NULL THEN 0 ELSE size END), count(*) FROM temp.content";
        let count = self
            .connection
            .query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let (n_files, n_bytes, n_all): (u64, f64, u64) = count;
        let len = |path: &PathBuf| fs::metadata(path).map_or(0, |metadata| metadata.len());
        self.result.n_files = n_files;
        #[expect(clippy::cast_sign_loss, reason = "sizes are not negative")]
        {
            self.result.n_bytes = n_bytes as u64;
        }
        self.result.n_unprotected = n_all - n_files;
        self.result.n_sets = self.groups.len();
        self.result.recovery_bytes = self.groups.values().flat_map(Group::files).map(len).sum();
        Ok(self.result)
    }
}

/// What is known of a set.
struct Known {
    redundancy: Option<f64>,
    is_intact: bool,
}
