//! What all runs have in common: the files to read, and what becomes of each.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use hashlane_files::{Stamp, is_absent};
use hashlane_pipeline::{CancelToken, Options};
use hashlane_sha::Sha256Digest;

use crate::catalogue::Catalogue;
use crate::error::Reason;
use crate::event::{Event, Finding, Summary};
use crate::read::{Content, Pending, Read, read};
use crate::record::{Record, State};
use crate::scratch::{Scratch, Statements};
use crate::table::Table;
use crate::verdict::Verdict;

/// Maximum number of files that are read side by side.
const MAX_BATCH_FILES: usize = 4096;

/// Number of bytes after which a batch ends, if it has [`MIN_BATCH_FILES`]. After each batch, the limits of a scrub are checked.
const BATCH_BYTES: u64 = 1 << 30;

/// Large files are read side by side, too.
const MIN_BATCH_FILES: usize = 4;

/// The folder of an archive, and the way to read it.
#[derive(Clone, Debug)]
pub struct Job<'j> {
    /// The folder.
    pub folder: &'j Path,
    /// Threads and kernels.
    pub options: Options,
    /// Ends the run early. What is known by then stays in the catalogue.
    pub cancel: CancelToken,
}

/// The kind of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Takes new and changed files into the catalogue.
    Update,
    /// Takes nothing into the catalogue.
    Check,
    /// Looks only at files of the catalogue.
    Scrub,
}

/// A run.
pub(crate) struct Run<'r> {
    kind: Kind,
    job: &'r Job<'r>,
    pub(crate) table: Table<'r>,
    pub(crate) notes: Statements<'r>,
    receive: &'r mut dyn FnMut(Event<'_>),
    pub(crate) summary: Summary,
    /// Whether files may have moved.
    pub(crate) has_gone: bool,
    /// Whether new files may be copies.
    pub(crate) has_known: bool,
    pub(crate) total_bytes: u64,
}

impl<'r> Run<'r> {
    pub(crate) fn new(
        kind: Kind,
        catalogue: &'r Catalogue,
        scratch: &'r Scratch,
        job: &'r Job<'r>,
        receive: &'r mut dyn FnMut(Event<'_>),
    ) -> Result<Self, Reason> {
        Ok(Self {
            kind,
            job,
            table: Table::new(&catalogue.connection)?,
            notes: scratch.statements()?,
            receive,
            summary: Summary::default(),
            has_gone: false,
            has_known: false,
            total_bytes: 0,
        })
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.job.cancel.is_cancelled()
    }

    /// Returns `true` if unchanged files are read, too.
    pub(crate) fn reads_all(&self) -> bool {
        self.kind == Kind::Check
    }

    /// Reads the noted files in their order. `is_over` gets the number of bytes of the files before, and those of the next file.
    pub(crate) fn read_noted(
        &mut self,
        scratch: &Scratch,
        is_over: impl Fn(u64, u64) -> bool,
    ) -> Result<(), Reason> {
        let mut todo = scratch.todo()?;
        let mut rows = todo.query([])?;
        let (mut batch, mut batch_bytes, mut taken_bytes) = (Vec::new(), 0, 0);
        let mut is_limited = false;
        while !self.is_cancelled()
            && let Some(row) = rows.next()?
        {
            let (path, size): (Vec<u8>, i64) = (row.get(0)?, row.get(1)?);
            let size = size.unsigned_abs();
            is_limited = is_limited || is_over(taken_bytes, size);
            if is_limited {
                self.summary.left_files += 1;
                continue;
            }
            taken_bytes += size;
            batch_bytes += size;
            batch.extend(self.pending(path)?);
            let is_full = batch.len() >= MIN_BATCH_FILES && batch_bytes >= BATCH_BYTES;
            if is_full || batch.len() == MAX_BATCH_FILES {
                self.read_batch(&mut batch)?;
                batch_bytes = 0;
            }
        }
        self.read_batch(&mut batch)
    }

    /// Returns a file as it is now. Returns `None` if it need not be read, after its verdict was passed on.
    fn pending(&mut self, path: Vec<u8>) -> Result<Option<Pending>, Reason> {
        let record = self.table.record(&path)?;
        let place = self.job.folder.join(hashlane_sums::path_of(&path));
        let stamp = match Stamp::of_regular(&place) {
            Ok(Some(stamp)) => stamp,
            Ok(None) => {
                self.vanished(&path, record.is_some());
                return Ok(None);
            }
            Err(error) if is_absent(&error) => {
                self.vanished(&path, record.is_some());
                return Ok(None);
            }
            Err(error) => {
                self.find(Finding {
                    error: Some(&error),
                    ..Finding::new(&path, Verdict::Unreadable)
                });
                return Ok(None);
            }
        };
        let state = State::from(stamp);
        let is_other = |record: &Record| record.state.mtime_ns != state.mtime_ns;
        if self.kind == Kind::Scrub && record.as_ref().is_some_and(is_other) {
            // A writer changed it. Only an update reads it.
            self.find_sized(&path, Verdict::Changed, &state);
            return Ok(None);
        }
        if self.kind == Kind::Update && record.is_none() && self.has_renamed(&path, &state)? {
            return Ok(None);
        }
        Ok(Some(Pending {
            path,
            place,
            stamp,
            record,
        }))
    }

    /// Passes on that a file does not exist any more. A new file that vanishes at once has no verdict.
    fn vanished(&mut self, path: &[u8], is_known: bool) {
        if is_known {
            self.find(Finding::new(path, Verdict::Missing));
        }
    }

    /// Records the new path of a file that was renamed, or whose folder was, without reading it. Returns `false` if it is another
    /// file: inode, size and both times must be the same.
    fn has_renamed(&mut self, path: &[u8], state: &State) -> Result<bool, Reason> {
        if !self.has_gone {
            return Ok(false);
        }
        let Some(from) = self.notes.gone_with_inode(state.inode)? else {
            return Ok(false);
        };
        let record = self.table.record(&from)?;
        if record.is_none_or(|record| record.state != *state) {
            return Ok(false);
        }
        self.move_file(&from, path, state)?;
        Ok(true)
    }

    fn move_file(&mut self, from: &[u8], to: &[u8], state: &State) -> Result<(), Reason> {
        if self.kind == Kind::Update {
            self.table.rename(from, to, state)?;
        }
        self.notes.set_moved(from, to)?;
        self.find(Finding {
            from: Some(from),
            size: u64::try_from(state.size).ok(),
            ..Finding::new(to, Verdict::Moved)
        });
        Ok(())
    }

    fn read_batch(&mut self, batch: &mut Vec<Pending>) -> Result<(), Reason> {
        if batch.is_empty() || self.is_cancelled() {
            return Ok(());
        }
        batch.sort_by_key(|file| file.stamp.inode());
        let job = self.job;
        read(batch, &job.options, &job.cancel, |read| match read {
            Read::File(file, content) => self.finish(file, content),
            Read::Silent(file) => {
                (self.receive)(Event::Silent(&file.path));
                Ok(())
            }
            Read::Unfinished(unfinished_bytes) => {
                let done_bytes = self.summary.read_bytes + unfinished_bytes;
                (self.receive)(Event::Read {
                    done_bytes,
                    total_bytes: self.total_bytes.max(done_bytes),
                });
                self.table.commit_if_due()
            }
        })?;
        batch.clear();
        Ok(())
    }

    /// Takes the content of a file.
    fn finish(&mut self, file: &Pending, content: Content) -> Result<(), Reason> {
        let digest = match content {
            Content::Digest(digest) => digest,
            Content::Unstable => {
                self.find(Finding::new(&file.path, Verdict::Unstable));
                return Ok(());
            }
            Content::Unreadable(error) => {
                self.find(Finding {
                    error: Some(&error),
                    ..Finding::new(&file.path, Verdict::Unreadable)
                });
                return Ok(());
            }
        };
        self.summary.read_bytes += file.stamp.length();
        let state = State::from(file.stamp);
        let (path, now) = (&file.path, now());
        let Some(record) = &file.record else {
            return self.finish_new(path, &state, &digest, now);
        };
        let verdict = Verdict::of_content(record, &state, &digest);
        match verdict {
            Verdict::Rot => self.table.mark_rot(path, now)?,
            Verdict::Changed if self.kind == Kind::Update => {
                self.table.write(path, &state, &digest, now)?;
            }
            Verdict::Changed => {}
            _ => self.table.confirm(path, &state, now)?,
        }
        let rot_since = (verdict == Verdict::Rot).then(|| record.rot_since.unwrap_or(now));
        self.find(Finding {
            size: Some(file.stamp.length()),
            rot_since,
            ..Finding::new(path, verdict)
        });
        Ok(())
    }

    /// Takes the content of a file that the catalogue does not have.
    fn finish_new(
        &mut self,
        path: &[u8],
        state: &State,
        digest: &Sha256Digest,
        now: i64,
    ) -> Result<(), Reason> {
        if self.has_gone && self.has_rotted_elsewhere(path, state, digest, now)? {
            return Ok(());
        }
        // All empty files are equal.
        if self.has_gone
            && state.size > 0
            && let Some(from) = self.notes.gone_with_digest(digest)?
        {
            self.move_file(&from, path, state)?;
            if self.kind == Kind::Update {
                self.table.confirm(path, state, now)?;
            }
            return Ok(());
        }
        if self.kind == Kind::Update {
            self.table.write(path, state, digest, now)?;
        }
        if self.has_known {
            // The verdict depends on the files of the catalogue.
            return self.notes.add_fresh(path, state.size, digest);
        }
        self.find_sized(path, Verdict::New, state);
        Ok(())
    }

    /// Finds a file that was renamed and is rotten: inode and time of modification are those of a file that is gone, and the content
    /// is not. It must not become a new file, whose digest is right by definition.
    fn has_rotted_elsewhere(
        &mut self,
        path: &[u8],
        state: &State,
        digest: &Sha256Digest,
        now: i64,
    ) -> Result<bool, Reason> {
        let Some(from) = self.notes.gone_with_inode(state.inode)? else {
            return Ok(false);
        };
        let Some(record) = self.table.record(&from)? else {
            return Ok(false);
        };
        if record.state.mtime_ns != state.mtime_ns || record.digest == *digest {
            return Ok(false);
        }
        if self.kind == Kind::Update {
            self.table.rename(&from, path, &record.state)?;
            self.table.mark_rot(path, now)?;
        } else {
            self.table.mark_rot(&from, now)?;
        }
        self.notes.set_moved(&from, path)?;
        self.find(Finding {
            from: Some(&from),
            size: u64::try_from(state.size).ok(),
            rot_since: Some(record.rot_since.unwrap_or(now)),
            ..Finding::new(path, Verdict::Rot)
        });
        Ok(true)
    }

    fn find_sized(&mut self, path: &[u8], verdict: Verdict, state: &State) {
        self.find(Finding {
            size: u64::try_from(state.size).ok(),
            ..Finding::new(path, verdict)
        });
    }

    /// Passes on a verdict.
    pub(crate) fn find(&mut self, finding: Finding<'_>) {
        self.summary.add(finding.verdict);
        (self.receive)(Event::File(finding));
    }

    /// Passes on the number of files that the walk has seen.
    pub(crate) fn walked(&mut self, n_files: u64) {
        (self.receive)(Event::Walked(n_files));
    }
}

/// Returns the time in seconds since 1970.
fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs().cast_signed())
}
