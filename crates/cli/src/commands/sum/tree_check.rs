//! Checks files against lists of tree hashes.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hashlane_files::{UnicodeNames, is_absent};
use hashlane_sums::{Lines, Options, ValueLine, ValueLines, path_of, with_slashes};
use hashlane_trees::{Failure, Format, Item, TreeFiles, TreeHash, TreeName};

use super::arguments::Sum;
use super::filter::Filter;
use super::names;
use super::output::Output;
use super::report::{Found, Report};
use super::tree::{format, note_part, tag};
use super::verity;
use crate::{Env, Exit, input};

/// Maximum number of files of a list to read before they are hashed.
const MAX_BATCH_FILES: usize = 1 << 16;

/// Checks all lists.
pub(super) fn run(
    sum: &Sum,
    name: TreeName,
    env: &mut Env,
    options: &Options,
    filter: Filter,
) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        sum.against.is_none(),
        "--against: not with a tree hash: use --base for the folder of the names"
    );
    match (name, &sum.tree.idsig, &sum.tree.hash_device) {
        (TreeName::ApkIdsig, Some(idsig), _) => verity::check_package(sum, env, options, idsig),
        (TreeName::DmVerity, _, Some(device)) => verity::check(sum, env, options, device),
        _ => {
            let format = format(sum, name, &TreeFiles::default())?;
            let base = env.resolve(sum.base.as_deref().unwrap_or(Path::new("")));
            let check = Check::new(&*format, filter, name, base, Report::new(sum));
            check.lists(sum, &mut Output::new(env, sum.printing.quiet), options)
        }
    }
}

/// A running check.
pub(super) struct Check<'f> {
    format: &'f dyn Format<Hash = TreeHash>,
    filter: Filter,
    name: TreeName,
    base: PathBuf,
    report: Report,
    forms: UnicodeNames,
}

/// A file in a list: its name, and the expected result.
pub(super) type Listed = (Vec<u8>, String);

impl<'f> Check<'f> {
    /// Returns a check of files whose names start in the folder `base`. Its results are added to those of `report`.
    pub(super) fn new(
        format: &'f dyn Format<Hash = TreeHash>,
        filter: Filter,
        name: TreeName,
        base: PathBuf,
        report: Report,
    ) -> Self {
        Self {
            format,
            filter,
            name,
            base,
            report,
            forms: UnicodeNames::default(),
        }
    }

    /// Returns the results.
    pub(super) fn into_report(self) -> Report {
        self.report
    }

    /// Checks the files of all lists.
    fn lists(
        mut self,
        sum: &Sum,
        output: &mut Output<'_>,
        options: &Options,
    ) -> anyhow::Result<Exit> {
        let mut exit = Exit::Good;
        for operand in sum.operands() {
            let list = operand.to_string_lossy().into_owned();
            if let Err(error) = self.list(output, options, Path::new(&operand)) {
                if crate::output::stream::is_broken_pipe(&error) {
                    return Err(error);
                }
                output.error(&format!("{list}: {error:#}"));
                exit = Exit::NotChecked;
            }
        }
        output.clear_progress();
        self.report.print_summary(output)?;
        Ok(exit.max(self.report.counts.exit()))
    }

    /// Checks the files of one list.
    fn list(
        &mut self,
        output: &mut Output<'_>,
        options: &Options,
        list: &Path,
    ) -> anyhow::Result<()> {
        let reader: Box<dyn BufRead> = if list == Path::new("-") {
            std::mem::replace(&mut output.env.stdin, Box::new(io::empty()))
        } else {
            Box::new(BufReader::new(input::open(&output.env.resolve(list))?))
        };
        let (mut lines, mut forms) = (Lines::of_list(reader), ValueLines::new(tag(self.name)));
        let (mut batch, mut has_entries, mut n_lines) = (Vec::new(), false, 0_u64);
        while !output.env.cancel.is_cancelled()
            && let Some(line) = lines.next_line().context("cannot be read")?
        {
            n_lines += 1;
            let entry = match forms.read(line) {
                ValueLine::Ignored => continue,
                ValueLine::Entry(value, name) => {
                    let value = self.format.normalized(&value);
                    value.map(|value| {
                        let slashed = with_slashes(&name);
                        (self.meant(name, slashed), value)
                    })
                }
                ValueLine::Improper => None,
            };
            let Some(entry) = entry else {
                self.report.counts.improper += 1;
                let (list, name) = (list.display(), self.name.name());
                output.error(&format!(
                    "{list}: line {n_lines} has no result of {name} and name"
                ));
                continue;
            };
            has_entries = true;
            if batch.len() == MAX_BATCH_FILES {
                self.files(output, options, std::mem::take(&mut batch))?;
            }
            batch.push(entry);
        }
        anyhow::ensure!(has_entries, "has no results of {}", self.name.name());
        self.files(output, options, batch)
    }

    /// Returns the name that is meant, of a name and another reading of it.
    pub(super) fn meant(&mut self, name: Vec<u8>, other: Option<Vec<u8>>) -> Vec<u8> {
        let exists = |inside: &Path| self.base.join(inside).exists();
        let (forms, counts) = (&mut self.forms, &mut self.report.counts);
        names::meant(forms, &self.base, (name, other), None, exists, counts)
    }

    /// Checks folders that are in a list.
    fn folders(
        &mut self,
        output: &mut Output<'_>,
        options: &Options,
        folders: Vec<Listed>,
    ) -> anyhow::Result<()> {
        for (name, expected) in folders {
            let path = self.base.join(path_of(&name));
            let hashed = output.hash_folder(self.format, options, &self.filter, &path);
            let report = &mut self.report;
            match hashed {
                Ok((hash, _)) => report.note_read(output, &name, hash.to_string() == expected)?,
                Err(error) => report.note_unreadable(output, &name, &format!("{error:#}"))?,
            }
        }
        Ok(())
    }

    /// Checks files that are in a list.
    pub(super) fn files(
        &mut self,
        output: &mut Output<'_>,
        options: &Options,
        batch: Vec<Listed>,
    ) -> anyhow::Result<()> {
        let n_listed = batch.len();
        let taken = batch
            .into_iter()
            .filter(|(name, _)| self.filter.takes_name(&path_of(name)));
        let taken: Vec<Listed> = taken.collect();
        self.report.counts.excluded += (n_listed - taken.len()) as u64;
        let (folders, batch): (Vec<Listed>, Vec<Listed>) = taken.into_iter().partition(|listed| {
            self.format.folders().is_some() && self.base.join(path_of(&listed.0)).is_dir()
        });
        self.folders(output, options, folders)?;
        let Self {
            format,
            base,
            report,
            ..
        } = self;
        if output.shows_progress() {
            let paths = batch.iter().map(|(name, _)| base.join(path_of(name)));
            let lengths = paths.map(|path| path.metadata().map_or(0, |metadata| metadata.len()));
            output.total_bytes += lengths.sum::<u64>();
        }
        let mut batch = batch.into_iter().peekable();
        // Consecutive files of one format are hashed side by side.
        while let Some((name, expected)) = batch.peek() {
            let other = match format.for_result(expected, &base.join(path_of(name))) {
                Ok(other) => other,
                Err(reason) => {
                    report.note_unreadable(output, name, &choose_parts(&reason))?;
                    batch.next();
                    continue;
                }
            };
            let for_file = other.as_deref().unwrap_or(*format);
            let items = std::iter::from_fn(|| {
                let listed = batch.next_if(|(name, expected)| {
                    let other = format.for_result(expected, &base.join(path_of(name)));
                    other.is_ok_and(|other| is_same(other.as_deref().unwrap_or(*format), for_file))
                })?;
                Some(Item::new(base.join(path_of(&listed.0)), listed))
            });
            output.hash_trees(
                for_file,
                items,
                options,
                name_of,
                |output, (name, expected), outcome| match outcome {
                    Ok((hash, length)) => {
                        let is_right = hash.to_string() == *expected;
                        if let Some(reason) = for_file.doubt().filter(|_| !is_right) {
                            return report.note_unreadable(output, name, &choose_parts(&reason));
                        }
                        let content_len = for_file.content_len(length);
                        if is_right && note_part(output, name, content_len, length) {
                            return report.note_part(output, name);
                        }
                        report.note_read(output, name, is_right)
                    }
                    Err(Failure::NotOpened(error)) if is_absent(&error) => {
                        report.counts.missing += 1;
                        report.print(output, name, "missing", Found::InPlace)
                    }
                    Err(failure) => report.note_unreadable(output, name, &failure.to_string()),
                },
            )?;
            if output.env.cancel.is_cancelled() {
                break;
            }
        }
        Ok(())
    }
}

/// Returns `true` if files of both formats, which were chosen for results, can be hashed side by side.
fn is_same(a: &dyn Format<Hash = TreeHash>, b: &dyn Format<Hash = TreeHash>) -> bool {
    (a.leaf_len(), a.doubt()) == (b.leaf_len(), b.doubt())
}

/// Adds the option that chooses the format to the reason why the format of a result is not known.
fn choose_parts(reason: &str) -> String {
    format!("{reason}: choose --part-size")
}

fn name_of((name, _): &Listed) -> &[u8] {
    name
}
