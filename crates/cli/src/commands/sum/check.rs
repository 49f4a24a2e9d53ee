//! Checks files against lists of digests.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use hashlane_files::{is_absent, is_rotational, walk_files};
use hashlane_sums::{
    Algorithm, AnyLines, Digest, Entry, Item, Line, Lines, Options, Outcome, Source, bytes_of,
    path_of,
};

use super::arguments::Sum;
use super::counts::Counts;
use super::json;
use super::output::Output;
use crate::output::json_lines::{self, PathText};
use crate::output::text::Escaped;
use crate::{Env, Exit};

/// Maximum number of lines to read before their files are hashed.
const MAX_BATCH_LINES: usize = 1 << 16;

/// A running check.
struct Check<'s> {
    sum: &'s Sum,
    base: PathBuf,
    /// Whether files are read in the order of their places on the disk.
    seeks: bool,
    counts: Counts,
    /// With `--against`: the paths of all files in the lists.
    listed: HashSet<PathBuf>,
    /// With `--against`: missing files, which may have moved.
    missing: Vec<Entry>,
}

/// Checks all lists.
pub(super) fn run(sum: &Sum, env: &mut Env, options: &Options) -> anyhow::Result<Exit> {
    let base = sum.against.as_deref().or(sum.base.as_deref());
    let base = env.resolve(base.unwrap_or(Path::new("")));
    let mut check = Check {
        sum,
        seeks: is_rotational(if base.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &base
        }),
        base,
        counts: Counts::default(),
        listed: HashSet::new(),
        missing: Vec::new(),
    };
    let mut output = Output::new(env, sum.quiet);
    let mut exit = Exit::Good;
    for operand in sum.operands() {
        let name = operand.to_string_lossy().into_owned();
        if let Err(error) = check.list(&mut output, options, Path::new(&operand)) {
            if crate::output::stream::is_broken_pipe(&error) {
                return Err(error);
            }
            output.error(&format!("{name}: {error:#}"));
            exit = Exit::NotChecked;
        }
    }
    if sum.against.is_some() {
        exit = exit.max(check.extra(&mut output, options)?);
    }
    output.clear_progress();
    check.print_summary(&mut output)?;
    Ok(exit.max(check.counts.exit()))
}

impl Check<'_> {
    /// Checks the files of one list.
    fn list(
        &mut self,
        output: &mut Output<'_>,
        options: &Options,
        list: &Path,
    ) -> anyhow::Result<()> {
        let is_stdin = list == Path::new("-");
        let reader: Box<dyn BufRead> = if is_stdin {
            std::mem::replace(&mut output.env.stdin, Box::new(io::empty()))
        } else {
            Box::new(BufReader::new(File::open(output.env.resolve(list))?))
        };
        let mut lines = Lines::new(reader);
        let mut format = AnyLines::new(&self.sum.algorithm);
        let mut n_lines = 0_u64;
        let mut has_ended = false;
        let mut has_entries = false;
        while !has_ended && !output.env.cancel.is_cancelled() {
            let mut batch = Vec::new();
            while batch.len() < MAX_BATCH_LINES {
                let Some(line) = lines.next_line().context("cannot be read")? else {
                    has_ended = true;
                    break;
                };
                n_lines += 1;
                match format.read(line) {
                    Line::Entry(entry) => batch.push(entry),
                    Line::Ignored => {}
                    Line::Improper => {
                        self.counts.improper += 1;
                        let name = list.display();
                        output.error(&format!("{name}: line {n_lines} has no digest and name"));
                    }
                }
            }
            has_entries |= !batch.is_empty();
            self.files(output, options, batch)?;
        }
        anyhow::ensure!(has_entries, "has no digests");
        Ok(())
    }

    /// Checks files that are in a list.
    fn files(
        &mut self,
        output: &mut Output<'_>,
        options: &Options,
        batch: Vec<Entry>,
    ) -> anyhow::Result<()> {
        let mut items = Vec::new();
        for entry in batch {
            let path = self.base.join(path_of(&entry.name));
            if self.sum.against.is_some() {
                self.listed.insert(path.components().collect());
            }
            match path.metadata() {
                Err(error) if is_absent(&error) => self.note_missing(output, entry)?,
                Err(error) => self.note_unreadable(output, &entry.name, &error.to_string())?,
                Ok(metadata) if !metadata.is_file() => {
                    self.note_unreadable(output, &entry.name, "not a regular file")?;
                }
                // A file with a different length cannot have the right bytes.
                Ok(metadata) if entry.len_bytes.is_some_and(|len| len != metadata.len()) => {
                    self.counts.changed += 1;
                    self.print(output, &entry.name, "changed", None)?;
                }
                Ok(metadata) => {
                    output.total_bytes += metadata.len();
                    let place = if self.seeks { place_of(&metadata) } else { 0 };
                    let item = Item {
                        source: Source::File(path),
                        algorithms: entry.algorithms(),
                        tag: entry,
                    };
                    items.push((place, item));
                }
            }
        }
        // The sort is stable: without places, files keep the order of the list.
        items.sort_by_key(|(place, _)| *place);
        let items = items.into_iter().map(|(_, item)| item);
        output.hash(items, options, |output, item, outcome| {
            let entry = &item.tag;
            match outcome {
                Outcome::Digests(found, _) => {
                    let is_right = entry.matches(&found);
                    if is_right {
                        self.counts.right += 1;
                    } else {
                        self.counts.changed += 1;
                    }
                    if !is_right || self.sum.form.json {
                        let state = if is_right { "right" } else { "changed" };
                        self.print(output, &entry.name, state, None)?;
                    }
                    Ok(())
                }
                Outcome::NotOpened(error) if is_absent(&error) => {
                    self.note_missing(output, entry.clone())
                }
                Outcome::NotOpened(error) | Outcome::NotRead(error) => {
                    self.note_unreadable(output, &entry.name, &error.to_string())
                }
                Outcome::Nothing => Ok(()),
            }
        })
    }

    fn note_missing(&mut self, output: &mut Output<'_>, entry: Entry) -> anyhow::Result<()> {
        if self.sum.against.is_some() {
            // A missing file is reported later, when it is known whether the file moved.
            self.missing.push(entry);
            return Ok(());
        }
        self.counts.missing += 1;
        self.print(output, &entry.name, "missing", None)
    }

    fn note_unreadable(
        &mut self,
        output: &mut Output<'_>,
        name: &[u8],
        reason: &str,
    ) -> anyhow::Result<()> {
        self.counts.unreadable += 1;
        output.error(&format!("{}: {reason}", String::from_utf8_lossy(name)));
        self.print(output, name, "unreadable", None)
    }

    /// Finds the files that are in no list. Some of them may be missing files that were moved.
    fn extra(&mut self, output: &mut Output<'_>, options: &Options) -> anyhow::Result<Exit> {
        let mut exit = Exit::Good;
        let mut extra = Vec::new();
        for found in walk_files(&self.base, self.sum.follows_links()) {
            match found {
                Ok(path)
                    if self
                        .listed
                        .contains(&path.components().collect::<PathBuf>()) => {}
                Ok(path) => extra.push(path),
                Err((path, error)) => {
                    output.error(&format!("{}: {error}", path.display()));
                    exit = Exit::NotChecked;
                }
            }
        }
        let mut missing = std::mem::take(&mut self.missing);
        let algorithms: Arc<[Algorithm]> = algorithms_of(&missing).into();
        let mut by_digest: HashMap<(Algorithm, Digest), Vec<usize>> = HashMap::new();
        for (i, entry) in missing.iter().enumerate() {
            if let Some(first) = entry.digests.first() {
                by_digest.entry(first.clone()).or_default().push(i);
            }
        }
        let mut moved: HashMap<usize, PathBuf> = HashMap::new();
        let items = extra.into_iter().map(|path| Item {
            source: if algorithms.is_empty() {
                Source::Nothing
            } else {
                Source::File(path.clone())
            },
            algorithms: Arc::clone(&algorithms),
            tag: path,
        });
        output.hash(items, options, |output, item, outcome| {
            let found: Vec<(Algorithm, Digest)> = match outcome {
                Outcome::Digests(found, _) => item.algorithms.iter().copied().zip(found).collect(),
                Outcome::Nothing => Vec::new(),
                Outcome::NotOpened(error) | Outcome::NotRead(error) => {
                    output.error(&format!("{}: {error}", item.tag.display()));
                    exit = Exit::NotChecked;
                    Vec::new()
                }
            };
            let candidates = found
                .iter()
                .filter_map(|pair| by_digest.get(pair))
                .flatten();
            let origin = candidates.copied().find(|i| {
                let digests = &missing[*i].digests;
                !moved.contains_key(i) && digests.iter().all(|pair| found.contains(pair))
            });
            let inside = item.tag.strip_prefix(&self.base).unwrap_or(&item.tag);
            if let Some(origin) = origin {
                moved.insert(origin, inside.to_owned());
                return Ok(());
            }
            self.counts.extra += 1;
            self.print(output, &bytes_of(inside), "extra", None)
        })?;
        for (i, entry) in missing.drain(..).enumerate() {
            let place = moved.get(&i);
            let state = if place.is_some() { "moved" } else { "missing" };
            self.counts.moved += u64::from(place.is_some());
            self.counts.missing += u64::from(place.is_none());
            self.print(output, &entry.name, state, place.map(PathBuf::as_path))?;
        }
        Ok(exit)
    }

    /// Prints the result for a file.
    fn print(
        &self,
        output: &mut Output<'_>,
        name: &[u8],
        state: &'static str,
        found_at: Option<&Path>,
    ) -> anyhow::Result<()> {
        if self.sum.form.json {
            let line = json::Line::Checked {
                path: PathText::of_bytes(name),
                state,
                found_at: found_at.map(|path| path.to_string_lossy().into_owned()),
            };
            return json_lines::print(output.env, &line);
        }
        let name = String::from_utf8_lossy(name);
        let out = &mut output.env.stdout;
        write!(out, "{state:<10}  {}", Escaped(&name))?;
        if let Some(place) = found_at {
            write!(out, " -> {}", Escaped(&place.to_string_lossy()))?;
        }
        Ok(writeln!(out)?)
    }

    fn print_summary(&self, output: &mut Output<'_>) -> anyhow::Result<()> {
        if self.sum.form.json {
            let line = json::Line::Summary(self.counts.clone());
            return json_lines::print(output.env, &line);
        }
        if self.sum.quiet {
            return Ok(());
        }
        Ok(writeln!(output.env.stdout, "{}", self.counts.text())?)
    }
}

/// Returns the algorithms of all entries, each once.
fn algorithms_of(entries: &[Entry]) -> Vec<Algorithm> {
    let digests = entries.iter().flat_map(|entry| &entry.digests);
    let mut algorithms: Vec<Algorithm> = digests.map(|(algorithm, _)| *algorithm).collect();
    algorithms.sort_unstable();
    algorithms.dedup();
    algorithms
}

/// Returns a number that grows with the position on the disk: most file systems number files in this order.
fn place_of(metadata: &std::fs::Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    {
        let _ = metadata;
        0
    }
}
