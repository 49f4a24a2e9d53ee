//! The runs: update, check and scrub.

use std::collections::HashSet;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::catalogue::Catalogue;
use crate::compare::{Compared, compare};
use crate::error::{Error, Reason};
use crate::event::{Event, Finding, Summary};
use crate::run::{Job, Kind, Run};
use crate::scratch::Scratch;
use crate::verdict::Verdict;

/// Files of the walk between two messages about it.
const WALKED: u64 = 1024;

/// What an update does with files of the catalogue that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMissing {
    /// Reports them, now and at each later run.
    Report,
    /// Reports them and removes them from the catalogue.
    Forget,
}

/// The limits of a scrub. A scrub ends at the first that is reached.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of bytes to read. At least one file is read.
    pub budget: Option<u64>,
    /// Time after which no more files are begun.
    pub max_time: Option<Duration>,
    /// Leaves out files that were read within this time.
    pub min_age: Option<Duration>,
}

/// Reads the new and changed files of a folder, and takes them into its catalogue. Files are changed if their size, times or
/// inode are not those of the catalogue. A file that was renamed, or whose folder was, keeps its entry and is not read.
///
/// Verdicts are passed on to `receive`, except [`Verdict::Unchanged`], which is only counted. The content of a rotten file is
/// never taken into the catalogue.
///
/// # Errors
/// The folder cannot be read, the catalogue cannot be written, or all files would be forgotten.
pub fn update(
    catalogue: &mut Catalogue,
    job: &Job<'_>,
    if_missing: IfMissing,
    receive: &mut dyn FnMut(Event<'_>),
) -> Result<Summary, Error> {
    walk(catalogue, job, Kind::Update, if_missing, receive)
}

/// Reads all files of a folder, and compares them with its catalogue. Only the times of checks are written to the catalogue,
/// and the verdict about rot.
///
/// # Errors
/// The folder cannot be read, or the catalogue cannot be written.
pub fn check(
    catalogue: &mut Catalogue,
    job: &Job<'_>,
    receive: &mut dyn FnMut(Event<'_>),
) -> Result<Summary, Error> {
    walk(catalogue, job, Kind::Check, IfMissing::Report, receive)
}

/// Reads files of the catalogue, first those that were not read for longest. A file whose time of modification is not that of
/// the catalogue is not read: only an update reads it. New files are not looked for.
///
/// # Errors
/// The catalogue cannot be written.
pub fn scrub(
    catalogue: &mut Catalogue,
    job: &Job<'_>,
    limits: Limits,
    receive: &mut dyn FnMut(Event<'_>),
) -> Result<Summary, Error> {
    let catalogue = &*catalogue;
    let began = Instant::now();
    let mut work = || {
        let scratch = Scratch::new()?;
        let mut run = Run::new(Kind::Scrub, catalogue, &scratch, job, receive)?;
        let before = limits.min_age.map(|age| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            now.unwrap_or_default()
                .saturating_sub(age)
                .as_secs()
                .cast_signed()
        });
        catalogue.each(|path, record| {
            if before.is_none_or(|before| record.last_checked <= before) {
                let size = record.state.size;
                run.notes.add_todo(record.last_checked, path, size)?;
            }
            Ok::<(), Reason>(())
        })?;
        run.total_bytes = scratch.todo_bytes()?.min(limits.budget.unwrap_or(u64::MAX));
        run.read_noted(&scratch, |before, next| {
            let is_above = |budget| before > 0 && before.saturating_add(next) > budget;
            limits.budget.is_some_and(is_above)
                || limits.max_time.is_some_and(|max| began.elapsed() >= max)
        })?;
        run.finish_run()
    };
    let result: Result<Summary, Reason> = work();
    result.map_err(|reason| reason.at(catalogue.path()))
}

/// Walks a folder, and reads what the kind of the run wants to be read.
fn walk(
    catalogue: &mut Catalogue,
    job: &Job<'_>,
    kind: Kind,
    if_missing: IfMissing,
    receive: &mut dyn FnMut(Event<'_>),
) -> Result<Summary, Error> {
    let catalogue = &*catalogue;
    let at = |reason: Reason| reason.at(catalogue.path());
    let scratch = Scratch::new().map_err(at)?;
    let mut run = Run::new(kind, catalogue, &scratch, job, receive).map_err(at)?;
    let mut n_files = 0;
    compare(
        &catalogue.connection,
        catalogue.path(),
        job.folder,
        |compared| {
            run.note(compared, &mut n_files)?;
            if run.is_cancelled() {
                return Err(Reason::Io(std::io::ErrorKind::Interrupted.into()));
            }
            Ok(())
        },
    )
    .or_else(|error| {
        if run.is_cancelled() {
            Ok(())
        } else {
            Err(error)
        }
    })?;
    if run.is_cancelled() {
        return run.finish_run().map_err(at);
    }
    if if_missing == IfMissing::Forget && n_files == 0 && run.has_gone {
        return Err(Reason::NoFiles.at(job.folder));
    }
    let mut work = || {
        run.total_bytes = scratch.todo_bytes()?;
        run.read_noted(&scratch, |_, _| false)?;
        if !run.is_cancelled() {
            run.find_copies(catalogue, &scratch)?;
            run.find_missing(&scratch, if_missing)?;
        }
        run.finish_run()
    };
    let result: Result<Summary, Reason> = work();
    result.map_err(at)
}

impl Run<'_> {
    /// Notes what is to be done about a path.
    fn note(&mut self, compared: Compared<'_>, n_files: &mut u64) -> Result<(), Reason> {
        match compared {
            Compared::New(path, state) => {
                self.notes.add_todo(state.inode, path, state.size)?;
            }
            Compared::Both(path, state, known) => {
                self.has_known = true;
                let is_read = self.reads_all() || known.is_rotten || state != known.state;
                if is_read {
                    self.notes.add_todo(state.inode, path, state.size)?;
                } else {
                    self.summary.add(Verdict::Unchanged);
                }
            }
            Compared::Gone(path, known) => {
                (self.has_known, self.has_gone) = (true, true);
                self.notes.add_gone(path, &known.state, &known.digest)?;
                return Ok(());
            }
            Compared::Other => {
                self.summary.left_out += 1;
                return Ok(());
            }
            Compared::Failed(path, error) => {
                self.has_known = true;
                self.find(Finding {
                    error: Some(&error),
                    ..Finding::new(path, Verdict::Unreadable)
                });
                return Ok(());
            }
        }
        *n_files += 1;
        if n_files.is_multiple_of(WALKED) {
            self.walked(*n_files);
        }
        Ok(())
    }

    /// Finds the files of the catalogue whose content new files have.
    fn find_copies(&mut self, catalogue: &Catalogue, scratch: &Scratch) -> Result<(), Reason> {
        // Most files of the catalogue have the content of no new file, and need no look-up.
        let start = |digest: &[u8]| digest.first_chunk().map(|start| u64::from_le_bytes(*start));
        let mut digests = HashSet::new();
        let mut select = scratch.fresh_digests()?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            digests.extend(start(row.get_ref(0)?.as_blob().map_err(Reason::damaged)?));
        }
        if !digests.is_empty() {
            catalogue.each(|path, record| {
                let has_new = start(record.digest.as_ref()).is_some_and(|it| digests.contains(&it));
                if has_new
                    && !self.notes.is_fresh(path)?
                    && let Some(path) = self.notes.present_path(path)?
                {
                    self.notes.set_copy(&record.digest, &path)?;
                }
                Ok::<(), Reason>(())
            })?;
        }
        let mut select = scratch.fresh()?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let (path, size): (Vec<u8>, i64) = (row.get(0)?, row.get(1)?);
            let from: Option<Vec<u8>> = row.get(2)?;
            let verdict = match from {
                Some(_) => Verdict::Copied,
                None => Verdict::New,
            };
            self.find(Finding {
                size: u64::try_from(size).ok(),
                from: from.as_deref(),
                ..Finding::new(&path, verdict)
            });
        }
        Ok(())
    }

    /// Passes on the files that are missing, and forgets them if that is wanted.
    fn find_missing(&mut self, scratch: &Scratch, if_missing: IfMissing) -> Result<(), Reason> {
        let mut gone = scratch.gone()?;
        let mut rows = gone.query([])?;
        while let Some(row) = rows.next()? {
            let path: Vec<u8> = row.get(0)?;
            if if_missing == IfMissing::Forget {
                self.table.delete(&path)?;
            }
            self.find(Finding::new(&path, Verdict::Missing));
        }
        Ok(())
    }

    /// Commits what is not committed yet.
    fn finish_run(&mut self) -> Result<Summary, Reason> {
        self.table.commit()?;
        self.summary.is_interrupted = self.is_cancelled();
        Ok(self.summary)
    }
}
