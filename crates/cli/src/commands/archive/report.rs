//! What a run prints: findings, progress and the summary. docs/reference/json.md specifies the JSON lines, and the tests in
//! tests/it/archive.rs check them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use hashlane_archive::{
    Catalogue, Error, Event, Finding, Healed, Healing, Job, Origin, Outcome, Protected, Protection,
    Repair, Summary, Verdict, heal, protect,
};
use hashlane_files::nfc;
use hashlane_sums::{bytes_of, escape, needs_escape, path_of};
use serde::Serialize;

use crate::output::json_lines::{self, PathText};
use crate::output::progress::{ProgressLine, suspended};
use crate::output::text::{Grouped, Palette, Shown, Styled, count, silent};
use crate::{Env, Exit};
use hashlane_api::Size;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    File {
        /// Path below the folder, as for `verify`.
        #[serde(flatten)]
        path: PathText,
        /// `intact`, `repaired`, `new`, `moved`, `copied`, `changed`, `rot`, `missing`, `unstable` or `unreadable`
        ///.
        verdict: &'static str,
        /// Length; null if it is not known.
        size: Option<u64>,
        /// `path` and `path_hex` of the file that moved, or whose content was copied.
        from: Option<PathText>,
        /// Time at which rot was first found, in seconds since 1970.
        rot_since: Option<i64>,
        /// The reason why a file is unreadable or unstable.
        message: Option<String>,
    },
    Summary {
        /// `update`, `scrub` or `check`.
        action: &'static str,
        /// The number of files with each verdict, also `unchanged`.
        files: BTreeMap<&'static str, u64>,
        /// Number of bytes that were read, without those of unfinished files.
        read_bytes: u64,
        /// Number of files that the limits of `scrub` left for the next one.
        left_files: u64,
        /// Number of symbolic links, pipes, sockets and devices.
        left_out: u64,
        /// Whether Ctrl-C ended the run.
        interrupted: bool,
    },
    Repair {
        /// Path below the folder, as for `verify`.
        #[serde(flatten)]
        path: PathText,
        /// `repaired`, `doubtful`, `changed` or `not_repairable`.
        outcome: &'static str,
        /// `recovery` or `copy`, for a repaired file.
        origin: Option<&'static str>,
        /// The recovery file, or the copy.
        origin_path: Option<String>,
        /// The path of the damaged file that is kept.
        damaged: Option<String>,
        /// Bytes for which recovery data is missing; null if there is none for the file.
        missing_bytes: Option<u64>,
    },
    Unprotected {
        /// Path below the folder, as for `verify`.
        #[serde(flatten)]
        path: PathText,
        /// Why the file has no recovery data.
        message: String,
    },
    DamagedRecovery {
        /// The first file of the set.
        set: String,
        /// Number of recovery slices that are intact; null if they were not read.
        intact: Option<usize>,
        /// Number of recovery slices that there should be.
        slices: usize,
    },
    Protection {
        /// Recovery data in percent of the files.
        redundancy: f64,
        /// Number of protected files, without copies of others.
        files: u64,
        /// Their length.
        bytes: u64,
        /// Number of files with content that have no recovery data.
        unprotected: u64,
        /// Number of sets of recovery files.
        sets: usize,
        /// Number of sets that were made.
        new: usize,
        /// Number of sets that were removed.
        removed: usize,
        /// Number of sets that were damaged.
        damaged: usize,
        /// Length of all recovery files.
        recovery_bytes: u64,
        /// Whether Ctrl-C ended the run.
        interrupted: bool,
    },
}

/// Returns the schema of the lines.
#[cfg(feature = "schema")]
pub(crate) fn schema() -> schemars::Schema {
    json_lines::schema_of::<Line>()
}

/// The files that are listed. Each choice includes the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lists {
    /// Files that are not right, or could not be read.
    Bad,
    /// Files that were changed, moved or copied.
    Changes,
    /// New files.
    New,
    /// Every file that was read.
    All,
}

/// The output of a run.
pub(super) struct Report {
    pub(super) is_json: bool,
    pub(super) lists: Lists,
    /// The folder as it was given.
    pub(super) folder: PathBuf,
    pub(super) line: Option<ProgressLine>,
    /// The error of the first line that could not be printed.
    pub(super) failure: Option<anyhow::Error>,
    /// Whether `changed` is a reason for the exit status.
    pub(super) must_be_unchanged: bool,
    /// Whether only the paths of files that are not right are printed.
    pub(super) lists_bad: bool,
    pub(super) kept: Kept,
}

/// Lines that wait for the end of the run, to be printed by verdict.
#[derive(Default)]
pub(super) struct Kept {
    /// The lines of each verdict.
    lines: BTreeMap<Verdict, Vec<u8>>,
    /// The files that moved, by the folders that they moved from and to.
    moves: BTreeMap<(Vec<u8>, Vec<u8>), Moved>,
    n_bytes: usize,
}

/// Files that moved from one folder to another.
struct Moved {
    n_files: u64,
    /// The new and the earlier path of the first one.
    first: (Vec<u8>, Vec<u8>),
}

/// Number of bytes of lines after which they are printed before the end of the run.
const MAX_KEPT: usize = 64 << 20;

impl Kept {
    fn add(&mut self, verdict: Verdict, line: &[u8]) {
        self.lines.entry(verdict).or_default().extend(line);
        self.n_bytes += line.len();
    }

    fn add_moved(&mut self, to: &[u8], from: &[u8]) {
        let folders = folders_of(from, to);
        self.n_bytes += folders.0.len() + folders.1.len();
        let first = || (to.to_vec(), from.to_vec());
        let moved = self.moves.entry(folders).or_insert_with(|| Moved {
            n_files: 0,
            first: first(),
        });
        moved.n_files += 1;
    }

    /// Prints the lines, those of the best verdict first.
    fn print(&mut self, env: &mut Env) -> anyhow::Result<()> {
        let palette = Palette::new(env.color);
        for ((from, to), moved) in std::mem::take(&mut self.moves) {
            let mut line = Vec::new();
            let name = Styled(palette.strong, format!("{:<8}", Verdict::Moved.name()));
            if moved.n_files == 1 {
                let (to, from) = (path_of(&moved.first.0), path_of(&moved.first.1));
                let is_same = |(to, from): (&str, &str)| nfc(to) == nfc(from);
                let form = if to.to_str().zip(from.to_str()).is_some_and(is_same) {
                    "  the same name in another Unicode form"
                } else {
                    ""
                };
                writeln!(line, "{name}  {}  from {}{form}", Shown(&to), Shown(&from))?;
            } else {
                let folder = |path: &[u8]| match path {
                    b"" => PathBuf::from("./"),
                    path => path_of(&[path, b"/"].concat()),
                };
                let (to, from) = (folder(&to), folder(&from));
                let n_files = Grouped(moved.n_files);
                writeln!(
                    line,
                    "{name}  {}  from {}  {n_files} files",
                    Shown(&to),
                    Shown(&from)
                )?;
            }
            self.add(Verdict::Moved, &line);
        }
        for lines in std::mem::take(&mut self.lines).into_values() {
            env.stdout.write_all(&lines)?;
        }
        self.n_bytes = 0;
        Ok(())
    }
}

/// Returns the folders that a file moved from and to: both paths without the parts that they have in common at their ends.
fn folders_of(from: &[u8], to: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let parts = |path: &[u8]| -> Vec<Vec<u8>> {
        path.split(|byte| *byte == b'/')
            .map(<[u8]>::to_vec)
            .collect()
    };
    let (mut from, mut to) = (parts(from), parts(to));
    while from.last().is_some() && from.last() == to.last() {
        from.pop();
        to.pop();
    }
    (from.join(&b'/'), to.join(&b'/'))
}

impl Report {
    /// Runs `work`, and prints what it passes on.
    pub(super) fn follow(
        &mut self,
        env: &mut Env,
        folder: PathBuf,
        work: impl FnOnce(&mut dyn FnMut(Event<'_>)) -> Result<Summary, Error>,
    ) -> anyhow::Result<Summary> {
        self.folder = folder;
        let summary = work(&mut |event| self.take(env, &event));
        if let Some(line) = self.line.take() {
            line.clear();
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.kept.print(env)?;
        Ok(summary?)
    }

    /// Repairs damaged files, and prints what became of each.
    pub(super) fn heal(
        &mut self,
        env: &mut Env,
        catalogue: &mut Catalogue,
        job: &Job<'_>,
        damaged: &[Vec<u8>],
        healing: Healing<'_>,
    ) -> anyhow::Result<Healed> {
        let healed = heal(catalogue, job, damaged, healing, &mut |event| {
            self.take(env, &event);
        });
        self.end(env)?;
        let healed = healed?;
        if self.prints_text() && !damaged.is_empty() {
            let counts = [
                (healed.n_repaired, "repaired"),
                (healed.n_doubtful, "doubtful"),
                (healed.n_changed, "changed"),
                (healed.n_not_repairable, "not repairable"),
            ];
            let parts = counts.iter().filter(|(n, _)| *n > 0);
            let parts: Vec<String> = parts
                .map(|(n, name)| format!("{} {name}", Grouped(*n)))
                .collect();
            let n_files = count(damaged.len() as u64, "damaged file");
            writeln!(env.stdout, "{n_files}: {}", parts.join(", "))?;
        }
        Ok(healed)
    }

    /// Brings the recovery files up to date, and prints what became of them.
    pub(super) fn protect(
        &mut self,
        env: &mut Env,
        catalogue: &mut Catalogue,
        job: &Job<'_>,
        wanted: Protection,
    ) -> anyhow::Result<Exit> {
        let protected = protect(catalogue, job, wanted, &mut |event| self.take(env, &event));
        self.end(env)?;
        let protected = protected?;
        self.protection(env, &protected, wanted.checks_recovery)?;
        Ok(match () {
            () if protected.is_interrupted => Exit::NotChecked,
            () if protected.n_unprotected > 0 => Exit::Bad,
            () => Exit::Good,
        })
    }

    fn prints_text(&self) -> bool {
        !self.is_json && self.lists > Lists::Bad
    }

    fn protection(
        &self,
        env: &mut Env,
        protected: &Protected,
        is_always: bool,
    ) -> anyhow::Result<()> {
        if protected.is_interrupted {
            env.error("interrupted: recovery files that are complete stay");
        }
        if self.is_json {
            let line = Line::Protection {
                redundancy: protected.redundancy,
                files: protected.n_files,
                bytes: protected.n_bytes,
                unprotected: protected.n_unprotected,
                sets: protected.n_sets,
                new: protected.n_new,
                removed: protected.n_removed,
                damaged: protected.n_damaged,
                recovery_bytes: protected.recovery_bytes,
                interrupted: protected.is_interrupted,
            };
            return json_lines::print(env, &line);
        }
        let has_news = protected.n_new + protected.n_removed > 0 || protected.n_unprotected > 0;
        if !self.prints_text() || !is_always && !has_news {
            return Ok(());
        }
        let sets = count(protected.n_sets as u64, "set");
        let n_files = count(protected.n_files, "file");
        let (bytes, recovery) = (Size(protected.n_bytes), Size(protected.recovery_bytes));
        let new_sets = [
            (protected.n_new as u64, "new"),
            (protected.n_removed as u64, "removed"),
        ];
        let new_sets = new_sets.iter().filter(|(n, _)| *n > 0);
        let mut news: Vec<String> = new_sets
            .map(|(n, name)| format!(", {} {name}", Grouped(*n)))
            .collect();
        if protected.n_unprotected > 0 {
            let n_files = count(protected.n_unprotected, "file");
            news.push(format!("; {n_files} not protected"));
        }
        let news = news.concat();
        writeln!(
            env.stdout,
            "{sets} of recovery files, {recovery}, for {n_files}, {bytes}{news}"
        )?;
        Ok(())
    }

    /// Ends the progress of a phase.
    fn end(&mut self, env: &mut Env) -> anyhow::Result<()> {
        if let Some(line) = self.line.take() {
            line.clear();
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.kept.print(env)
    }

    /// Prints what became of a damaged file.
    fn repair(&self, env: &mut Env, repair: &Repair<'_>) -> anyhow::Result<()> {
        let text = |path: &Path| String::from_utf8_lossy(&bytes_of(path)).into_owned();
        let path = path_of(repair.path);
        let palette = Palette::new(env.color);
        let (outcome, style, reason) = match repair.outcome {
            Outcome::Repaired { from, damaged } => {
                let from = match from {
                    Origin::Recovery(_) => "from recovery files".to_owned(),
                    Origin::Copy(from) => format!("from {}", Shown(from)),
                };
                let kept = damaged.and_then(Path::file_name).map(Path::new);
                let kept = kept.map_or(String::new(), |kept| format!(", kept: {}", Shown(kept)));
                ("repaired", palette.good, format!("{from}{kept}"))
            }
            Outcome::Doubtful => {
                let reason = "a program may have written it and set its time back: see --doubtful";
                ("doubtful", palette.partial, reason.to_owned())
            }
            Outcome::Changed => {
                let reason = "changed meanwhile: run the command again".to_owned();
                ("changed", palette.partial, reason)
            }
            Outcome::NotRepairable { missing_bytes } => {
                let reason = match missing_bytes {
                    None => "no recovery data and no copy".to_owned(),
                    Some(0) => "its recovery data is of other content".to_owned(),
                    Some(bytes) => format!("{} of recovery data are missing", Size(bytes)),
                };
                ("not_repairable", palette.bad, reason)
            }
        };
        if self.is_json {
            let (origin, origin_path, damaged) = match repair.outcome {
                Outcome::Repaired { from, damaged } => {
                    let (origin, path) = match from {
                        Origin::Recovery(path) => ("recovery", path),
                        Origin::Copy(path) => ("copy", path),
                    };
                    (Some(origin), Some(text(path)), damaged.map(text))
                }
                _ => (None, None, None),
            };
            let missing_bytes = match repair.outcome {
                Outcome::NotRepairable { missing_bytes } => missing_bytes,
                _ => None,
            };
            let line = Line::Repair {
                path: PathText::of_bytes(repair.path),
                outcome,
                origin,
                origin_path,
                damaged,
                missing_bytes,
            };
            return json_lines::print(env, &line);
        }
        let is_repaired = matches!(repair.outcome, Outcome::Repaired { .. });
        if self.lists_bad || self.lists == Lists::Bad && is_repaired {
            return Ok(());
        }
        let name = outcome.replace('_', " ");
        let name = Styled(style, format!("{name:<8}"));
        writeln!(env.stdout, "{name}  {}  {reason}", Shown(&path))?;
        Ok(())
    }

    fn print_event(&self, env: &mut Env, event: &Event<'_>) -> anyhow::Result<()> {
        let line = match event {
            Event::Repair(repair) => return self.repair(env, repair),
            Event::Unprotected { path, reason } => {
                let place = self.folder.join(path_of(path));
                env.error(&format!("{}: not protected: {reason}", place.display()));
                Line::Unprotected {
                    path: PathText::of_bytes(path),
                    message: (*reason).to_owned(),
                }
            }
            Event::DamagedRecovery {
                set,
                n_intact,
                n_slices,
            } => {
                let part = match n_intact {
                    Some(n_intact) => {
                        format!("{n_intact} of {n_slices} recovery slices are intact")
                    }
                    None => "files are missing or too short".to_owned(),
                };
                env.error(&format!(
                    "{}: damaged recovery files: {part}",
                    set.display()
                ));
                Line::DamagedRecovery {
                    set: String::from_utf8_lossy(&bytes_of(set)).into_owned(),
                    intact: *n_intact,
                    slices: *n_slices,
                }
            }
            _ => return Ok(()),
        };
        if self.is_json {
            return json_lines::print(env, &line);
        }
        Ok(())
    }

    fn take(&mut self, env: &mut Env, event: &Event<'_>) {
        let shows_progress = env.progress && self.lists > Lists::Bad;
        match event {
            Event::File(finding) => {
                let line = self.line.take();
                let printed = suspended(line.as_ref(), || self.print(env, finding));
                self.line = line;
                if let Err(failure) = printed
                    && self.failure.is_none()
                {
                    self.failure = Some(failure);
                    env.cancel.cancel();
                }
            }
            Event::Repair(_) | Event::Unprotected { .. } | Event::DamagedRecovery { .. } => {
                let line = self.line.take();
                let printed = suspended(line.as_ref(), || self.print_event(env, event));
                self.line = line;
                if let Err(failure) = printed
                    && self.failure.is_none()
                {
                    self.failure = Some(failure);
                    env.cancel.cancel();
                }
            }
            Event::Protecting {
                done_bytes,
                total_bytes,
            } if shows_progress => {
                let line = self
                    .line
                    .get_or_insert_with(|| ProgressLine::new("recovery files".to_owned()));
                line.update(*done_bytes, (*total_bytes).max(*done_bytes));
            }
            Event::Silent(path) => {
                let path = self.folder.join(path_of(path));
                let warning = silent(&path);
                suspended(self.line.as_ref(), || env.error(&warning));
            }
            Event::Walked(n_files) if shows_progress => {
                let line = self
                    .line
                    .get_or_insert_with(|| ProgressLine::of_items("files"));
                // The number of all files is not known.
                line.update(*n_files, 0);
            }
            Event::Read {
                done_bytes,
                total_bytes,
            } if shows_progress => {
                if *done_bytes == 0 {
                    // The line so far counts files.
                    if let Some(line) = self.line.take() {
                        line.clear();
                    }
                }
                let line = self
                    .line
                    .get_or_insert_with(|| ProgressLine::new("read".to_owned()));
                line.update(*done_bytes, *total_bytes);
            }
            _ => {}
        }
    }

    fn print(&mut self, env: &mut Env, finding: &Finding<'_>) -> anyhow::Result<()> {
        let is_listed = match finding.verdict {
            Verdict::Unchanged | Verdict::Intact => self.lists == Lists::All,
            Verdict::New => self.lists >= Lists::New,
            Verdict::Rot | Verdict::Missing | Verdict::Unstable | Verdict::Unreadable => true,
            Verdict::Changed if self.must_be_unchanged => true,
            _ => self.lists >= Lists::Changes,
        };
        if !is_listed {
            return Ok(());
        }
        if let Some(problem) = problem(finding) {
            let path = self.folder.join(path_of(finding.path));
            env.error(&format!("{}: {problem}", path.display()));
        }
        if self.is_json {
            return print_json(env, finding);
        }
        if self.lists_bad {
            let mut line = Vec::new();
            write_path(finding.path, &mut line);
            return Ok(env.stdout.write_all(&line)?);
        }
        if matches!(finding.verdict, Verdict::Unreadable | Verdict::Unstable) {
            return Ok(());
        }
        let palette = Palette::new(env.color);
        let style = match finding.verdict {
            Verdict::Rot | Verdict::Missing => palette.bad,
            Verdict::Changed => palette.partial,
            Verdict::Intact | Verdict::Repaired => palette.good,
            _ => palette.strong,
        };
        if let (Verdict::Moved, Some(from)) = (finding.verdict, finding.from) {
            self.kept.add_moved(finding.path, from);
        } else {
            let mut line = Vec::new();
            let name = format!("{:<8}", finding.verdict.name());
            let path = path_of(finding.path);
            write!(line, "{}  {}", Styled(style, name), Shown(&path))?;
            if let Some(from) = finding.from {
                write!(line, "  of {}", Shown(&path_of(from)))?;
            }
            if finding.verdict == Verdict::Rot {
                write!(line, "  its content changed, its time did not")?;
            }
            writeln!(line)?;
            self.kept.add(finding.verdict, &line);
        }
        if self.kept.n_bytes > MAX_KEPT {
            self.kept.print(env)?;
        }
        Ok(())
    }

    /// Prints the numbers of files by their verdicts.
    pub(super) fn summary(
        &self,
        env: &mut Env,
        action: &'static str,
        summary: &Summary,
    ) -> anyhow::Result<()> {
        if summary.is_interrupted {
            env.error("interrupted: what was read is in the catalogue");
        }
        let counts = Verdict::ALL.map(|verdict| (verdict.name(), summary.count(verdict)));
        if self.is_json {
            let line = Line::Summary {
                action,
                files: counts.into(),
                read_bytes: summary.read_bytes,
                left_files: summary.left_files,
                left_out: summary.left_out,
                interrupted: summary.is_interrupted,
            };
            return json_lines::print(env, &line);
        }
        if self.lists == Lists::Bad {
            return Ok(());
        }
        let n_files = counts.iter().map(|(_, n)| n).sum();
        let mut parts: Vec<String> = counts
            .iter()
            .filter(|(_, n)| *n > 0)
            .map(|(name, n)| format!("{} {name}", Grouped(*n)))
            .collect();
        if summary.left_files > 0 {
            let n = Grouped(summary.left_files);
            parts.push(format!("{n} left for the next scrub"));
        }
        let list = if parts.is_empty() {
            String::new()
        } else {
            format!(": {}", parts.join(", "))
        };
        let n_files = count(n_files, "file");
        writeln!(
            env.stdout,
            "{n_files}, {} read{list}",
            Size(summary.read_bytes)
        )?;
        Ok(())
    }
}

/// Appends a line with a path, as lists of digests have it: a backslash before it shows that it has escapes.
fn write_path(path: &[u8], out: &mut Vec<u8>) {
    if needs_escape(path) {
        out.push(b'\\');
        escape(path, out);
    } else {
        out.extend(path);
    }
    out.push(b'\n');
}

/// Returns the reason why a file could not be compared.
fn problem(finding: &Finding<'_>) -> Option<String> {
    match finding.verdict {
        Verdict::Unstable => Some("changed while it was read: run the command again".into()),
        _ => Some(finding.error?.to_string()),
    }
}

fn print_json(env: &mut Env, finding: &Finding<'_>) -> anyhow::Result<()> {
    let line = Line::File {
        path: PathText::of_bytes(finding.path),
        verdict: finding.verdict.name(),
        size: finding.size,
        from: finding.from.map(PathText::of_bytes),
        rot_since: finding.rot_since,
        message: problem(finding),
    };
    json_lines::print(env, &line)
}
