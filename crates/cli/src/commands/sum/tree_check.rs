//! Checks files against lists of tree hashes.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hashlane_files::is_absent;
use hashlane_sums::{Lines, Options, ValueLine, ValueLines, path_of};
use hashlane_trees::{ApkIdsig, BtRoot, Glacier, Item, Outcome, TreeName};

use super::arguments::Sum;
use super::filter::Filter;
use super::folder::{OfFolders, hash_folder};
use super::output::{Output, problem};
use super::report::{Found, Report};
use super::tree::{fsverity, s3, tag};
use super::verity;
use crate::{Env, Exit};

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
    match name {
        TreeName::ApkIdsig => match &sum.tree.idsig {
            Some(idsig) => verity::check_package(sum, env, options, idsig),
            None => check(sum, name, &ApkIdsig::default(), env, options, filter),
        },
        TreeName::DmVerity => {
            if let Some(device) = &sum.tree.hash_device {
                return verity::check(sum, env, options, device);
            }
            let format = verity::dmverity(&sum.tree)?;
            check(sum, name, &format, env, options, filter)
        }
        TreeName::Fsverity(function) => {
            let format = fsverity(sum, function)?;
            check(sum, name, &format, env, options, filter)
        }
        TreeName::Cid(format) => check(sum, name, &format, env, options, filter),
        TreeName::Glacier => check(sum, name, &Glacier, env, options, filter),
        TreeName::Git(format) => check(sum, name, &format, env, options, filter),
        TreeName::BtRoot => check(sum, name, &BtRoot, env, options, filter),
        TreeName::S3(checksum) => check(sum, name, &s3(sum, checksum)?, env, options, filter),
    }
}

fn check<F: OfFolders>(
    sum: &Sum,
    name: TreeName,
    format: &F,
    env: &mut Env,
    options: &Options,
    filter: Filter,
) -> anyhow::Result<Exit> {
    let base = env.resolve(sum.base.as_deref().unwrap_or(Path::new("")));
    let mut output = Output::new(env, sum.printing.quiet);
    let mut check = Check::new(format, filter, name, base, Report::new(sum));
    let mut exit = Exit::Good;
    for operand in sum.operands() {
        let list = operand.to_string_lossy().into_owned();
        if let Err(error) = check.list(&mut output, options, Path::new(&operand)) {
            if crate::output::stream::is_broken_pipe(&error) {
                return Err(error);
            }
            output.error(&format!("{list}: {error:#}"));
            exit = Exit::NotChecked;
        }
    }
    output.clear_progress();
    check.report.print_summary(&mut output)?;
    Ok(exit.max(check.report.counts.exit()))
}

/// A running check.
pub(super) struct Check<'f, F> {
    format: &'f F,
    filter: Filter,
    name: TreeName,
    base: PathBuf,
    report: Report,
}

/// A file in a list: its name, and the expected result.
pub(super) type Listed = (Vec<u8>, String);

impl<'f, F: OfFolders> Check<'f, F> {
    /// Returns a check of files whose names start in the folder `base`. Its results are added to those of `report`.
    pub(super) fn new(
        format: &'f F,
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
        }
    }

    /// Returns the results.
    pub(super) fn into_report(self) -> Report {
        self.report
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
            Box::new(BufReader::new(File::open(output.env.resolve(list))?))
        };
        let (mut lines, mut forms) = (Lines::new(reader), ValueLines::new(tag(self.name)));
        let (mut batch, mut has_entries, mut n_lines) = (Vec::new(), false, 0_u64);
        while !output.env.cancel.is_cancelled()
            && let Some(line) = lines.next_line().context("cannot be read")?
        {
            n_lines += 1;
            let entry = match forms.read(line) {
                ValueLine::Ignored => continue,
                ValueLine::Entry(value, name) => {
                    self.format.normalized(&value).map(|value| (name, value))
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

    /// Checks files that are in a list.
    pub(super) fn files(
        &mut self,
        output: &mut Output<'_>,
        options: &Options,
        batch: Vec<Listed>,
    ) -> anyhow::Result<()> {
        let Self {
            format,
            filter,
            base,
            report,
            ..
        } = self;
        let n_listed = batch.len();
        let taken = batch
            .into_iter()
            .filter(|(name, _)| filter.takes_name(&path_of(name)));
        let taken: Vec<Listed> = taken.collect();
        report.counts.excluded += (n_listed - taken.len()) as u64;
        let (folders, batch): (Vec<Listed>, Vec<Listed>) = taken
            .into_iter()
            .partition(|listed| F::HAS_FOLDERS && base.join(path_of(&listed.0)).is_dir());
        for (name, expected) in folders {
            let path = base.join(path_of(&name));
            match hash_folder(*format, output, options, filter, &path) {
                Ok((hash, _)) => report.note_read(output, &name, hash.to_string() == expected)?,
                Err(error) => report.note_unreadable(output, &name, &format!("{error:#}"))?,
            }
        }
        if output.shows_progress() {
            let paths = batch.iter().map(|(name, _)| base.join(path_of(name)));
            let lengths = paths.map(|path| path.metadata().map_or(0, |metadata| metadata.len()));
            output.total_bytes += lengths.sum::<u64>();
        }
        let mut batch = batch.into_iter().peekable();
        // Consecutive files of one format are hashed side by side.
        while let Some((name, expected)) = batch.peek() {
            let for_file = match format.for_result(expected, &base.join(path_of(name))) {
                Ok(for_file) => for_file,
                Err(reason) => {
                    report.note_unreadable(output, name, &reason)?;
                    batch.next();
                    continue;
                }
            };
            let items = std::iter::from_fn(|| {
                let listed = batch.next_if(|(name, expected)| {
                    let other = format.for_result(expected, &base.join(path_of(name)));
                    other.is_ok_and(|other| other.is_same(&for_file))
                })?;
                Some(Item::new(base.join(path_of(&listed.0)), listed))
            });
            output.hash_trees(
                &for_file,
                items,
                options,
                name_of,
                |output, (name, expected), outcome| match outcome {
                    Outcome::Hash(hash, _) => {
                        let is_right = hash.to_string() == *expected;
                        match for_file.doubt().filter(|_| !is_right) {
                            Some(reason) => report.note_unreadable(output, name, &reason),
                            None => report.note_read(output, name, is_right),
                        }
                    }
                    Outcome::NotOpened(error) if is_absent(&error) => {
                        report.counts.missing += 1;
                        report.print(output, name, "missing", Found::InPlace)
                    }
                    failure => report.note_unreadable(output, name, &problem(&failure)),
                },
            )?;
            if output.env.cancel.is_cancelled() {
                break;
            }
        }
        Ok(())
    }
}

fn name_of((name, _): &Listed) -> &[u8] {
    name
}
