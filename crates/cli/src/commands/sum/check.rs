//! Checks files against lists of digests.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use hashlane_files::{UnicodeNames, Walked, is_absent, is_rotational};
use hashlane_sums::{
    Algorithm, AnyLines, Digest, Entry, Failure, Item, Line, Lines, Options, Source, bytes_of,
    path_of, with_slashes,
};

use super::against::{Folder, Place, Prefix};
use super::arguments::Sum;
use super::digests::note_left_out;
use super::filter::Filter;
use super::json;
use super::names;
use super::output::Output;
use super::report::{Found, Report};
use crate::input;
use crate::output::json_lines::{self, PathText};
use crate::output::text::Shown;
use crate::{Env, Exit};

/// Maximum number of files of a list to read before they are hashed, without `--against`.
const MAX_BATCH_FILES: usize = 1 << 16;

/// A running check.
pub(super) struct Check<'s> {
    sum: &'s Sum,
    filter: &'s Filter,
    base: PathBuf,
    /// Whether files are read in the order of their places on the disk.
    seeks: bool,
    report: Report,
    /// The folder of `--against`.
    folder: Option<Folder>,
    forms: UnicodeNames,
}

/// A file in a list.
pub(super) struct Listed {
    pub(super) entry: Entry,
    /// Number of its first line, from 1, or 0 without a line.
    pub(super) line: u64,
}

/// A file to hash.
struct Wanted {
    entry: Entry,
    /// With `--against`: the path below the folder.
    inside: Option<PathBuf>,
}

impl Wanted {
    fn name(&self) -> &[u8] {
        &self.entry.name
    }
}

/// Returns the bytes of a path.
fn encoded<'p>(path: &'p &Path) -> &'p [u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Checks all lists.
pub(super) fn run(
    sum: &Sum,
    env: &mut Env,
    options: &Options,
    filter: &Filter,
) -> anyhow::Result<Exit> {
    let base = sum.against.as_deref().or(sum.base.as_deref());
    let base = env.resolve(base.unwrap_or(Path::new("")));
    let mut output = Output::new(env, sum.printing.quiet);
    let mut exit = Exit::Good;
    let folder = sum.against.is_some().then(|| {
        Folder::walk(&base, sum.follows_links(), filter, |found| match found {
            Walked::Failed(path, error) => {
                output.error(&format!("{}: {error}", path.display()));
                exit = Exit::NotChecked;
            }
            Walked::LeftOut(path, reason) => {
                note_left_out(&mut output, &bytes_of(&path), reason);
            }
            Walked::File(_) => {}
        })
    });
    let mut check = Check::new(sum, filter, base, folder, Report::new(sum));
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
    if let Some(folder) = check.folder.take() {
        exit = exit.max(check.extra(&mut output, options, folder)?);
    }
    output.clear_progress();
    check.report.print_summary(&mut output)?;
    Ok(exit.max(check.report.counts.exit()))
}

impl<'s> Check<'s> {
    /// Returns a check of files whose names start in the folder `base`. Its results are added to those of `report`.
    pub(super) fn new(
        sum: &'s Sum,
        filter: &'s Filter,
        base: PathBuf,
        folder: Option<Folder>,
        report: Report,
    ) -> Self {
        let place = if base.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &base
        };
        Self {
            sum,
            filter,
            seeks: is_rotational(place),
            base,
            report,
            folder,
            forms: UnicodeNames::default(),
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
        let is_stdin = list == Path::new("-");
        let reader: Box<dyn BufRead> = if is_stdin {
            std::mem::replace(&mut output.env.stdin, Box::new(io::empty()))
        } else {
            let path = output.env.resolve(list);
            let reader = BufReader::new(input::open(&path)?);
            if let Some(folder) = &mut self.folder {
                folder.note_list(&path);
            }
            Box::new(reader)
        };
        let mut lines = Lines::of_list(reader);
        let mut format = AnyLines::new(&self.sum.digest_algorithms());
        // All names of a list are needed to find their prefix.
        let max_files = match self.folder {
            Some(_) => usize::MAX,
            None => MAX_BATCH_FILES,
        };
        let mut batch: Vec<Listed> = Vec::new();
        let mut n_lines = 0_u64;
        while !output.env.cancel.is_cancelled()
            && let Some(line) = lines.next_line().context("cannot be read")?
        {
            n_lines += 1;
            match format.read(line) {
                Line::Entry(entry) => {
                    // `sum -a md5,sha256` writes two lines for a file.
                    if let Some(last) = batch.last_mut()
                        && last.entry.name == entry.name
                        && last.entry.add(&entry)
                    {
                        continue;
                    }
                    if batch.len() == max_files {
                        self.files(output, options, list, std::mem::take(&mut batch))?;
                    }
                    batch.push(Listed {
                        entry,
                        line: n_lines,
                    });
                }
                Line::Ignored => {}
                Line::Unchecked(reason) => {
                    self.report.counts.unchecked += 1;
                    let name = list.display();
                    output.error(&format!("{name}: line {n_lines}: {reason}"));
                }
                Line::Improper => {
                    self.report.counts.improper += 1;
                    let name = list.display();
                    output.error(&format!("{name}: line {n_lines} has no digest and name"));
                }
            }
        }
        anyhow::ensure!(!batch.is_empty(), "has no digests");
        self.files(output, options, list, batch)
    }

    /// Checks files that are in a list.
    pub(super) fn files(
        &mut self,
        output: &mut Output<'_>,
        options: &Options,
        list: &Path,
        batch: Vec<Listed>,
    ) -> anyhow::Result<()> {
        let prefix = match &self.folder {
            Some(folder) => Some(self.prefix_of(output, list, folder, &batch)?),
            None => None,
        };
        let mut items = Vec::new();
        for file in batch {
            let Some((path, wanted)) = self.locate(output, list, file, prefix.as_ref())? else {
                continue;
            };
            let entry = &wanted.entry;
            match path.metadata() {
                Err(error) if is_absent(&error) => self.note_missing(output, &wanted)?,
                Err(error) => {
                    self.report
                        .note_unreadable(output, &entry.name, &error.to_string())?;
                }
                Ok(metadata) if !metadata.is_file() => {
                    self.report
                        .note_unreadable(output, &entry.name, "not a regular file")?;
                }
                // A file with a different length cannot have the right bytes.
                Ok(metadata) if entry.len_bytes.is_some_and(|len| len != metadata.len()) => {
                    self.report.counts.changed += 1;
                    self.report
                        .print(output, &entry.name, "changed", Found::InPlace)?;
                }
                Ok(metadata) => {
                    output.total_bytes += metadata.len();
                    let place = if self.seeks { place_of(&metadata) } else { 0 };
                    let item = Item::new(Source::File(path), entry.algorithms(), wanted);
                    items.push((place, item));
                }
            }
        }
        // The sort is stable: without places, files keep the order of the list.
        items.sort_by_key(|(place, _)| *place);
        let items = items.into_iter().map(|(_, item)| item);
        output.hash(items, options, Wanted::name, |output, item, outcome| {
            let entry = &item.tag.entry;
            match outcome {
                Ok((found, _)) => {
                    let is_right = entry.matches(&found);
                    self.report.note_read(output, &entry.name, is_right)
                }
                Err(Failure::NotOpened(error)) if is_absent(&error) => {
                    self.note_missing(output, &item.tag)
                }
                Err(failure) => {
                    self.report
                        .note_unreadable(output, &entry.name, &failure.to_string())
                }
            }
        })
    }

    /// Returns the path of a file in a list. Returns `None` if the file is not below the folder of `--against`.
    fn locate(
        &mut self,
        output: &mut Output<'_>,
        list: &Path,
        file: Listed,
        prefix: Option<&Prefix>,
    ) -> anyhow::Result<Option<(PathBuf, Wanted)>> {
        let entry = self.meant(file.entry, prefix);
        let name = path_of(&entry.name);
        let inside = prefix.and_then(|prefix| prefix.inside(&name));
        if !self.filter.takes_name(inside.unwrap_or(&name)) {
            self.report.counts.excluded += 1;
            return Ok(None);
        }
        let Some(folder) = &mut self.folder else {
            let inside = None;
            return Ok(Some((self.base.join(name), Wanted { entry, inside })));
        };
        let Some(inside) = inside else {
            self.report.counts.missing += 1;
            let place = Found::Line(list, file.line);
            self.report.print(output, &entry.name, "missing", place)?;
            return Ok(None);
        };
        folder.note_listed(inside);
        let problem = match folder.place(inside) {
            Ok(Place::Found(path)) => {
                let inside = Some(inside.to_owned());
                return Ok(Some((path, Wanted { entry, inside })));
            }
            Ok(Place::Absent) => {
                folder.note_missing(inside.to_owned(), entry);
                return Ok(None);
            }
            Ok(Place::Outside) => {
                "is behind a symbolic link out of the folder: use --links follow-outside".to_owned()
            }
            Err(error) => error.to_string(),
        };
        self.report.note_unreadable(output, &entry.name, &problem)?;
        Ok(None)
    }

    /// Chooses the prefix to remove from the names of a list, and prints it.
    fn prefix_of(
        &self,
        output: &mut Output<'_>,
        list: &Path,
        folder: &Folder,
        batch: &[Listed],
    ) -> anyhow::Result<Prefix> {
        // Names of a list that was made on Windows are those with slashes.
        let name_of = |file: &Listed| match with_slashes(&file.entry.name) {
            Some(name) if !file.entry.name.contains(&b'/') => path_of(&name),
            _ => path_of(&file.entry.name),
        };
        let names: Vec<PathBuf> = batch.iter().map(name_of).collect();
        let prefix = folder.prefix_of(&names);
        let Prefix { path, tied } = &prefix;
        let is_removed = !path.as_os_str().is_empty();
        if !is_removed && tied.is_none() {
            return Ok(prefix);
        }
        if self.sum.printing.is_json() {
            let text_of = |path: &PathBuf| PathText::of_bytes(&bytes_of(path));
            let line = json::Line::Prefix {
                list: list.to_string_lossy().into_owned(),
                path: text_of(path),
                tied: tied.as_ref().map(text_of),
            };
            json_lines::print(output.env, &line)?;
        } else if !self.sum.printing.quiet {
            let out = &mut output.env.stdout;
            write!(out, "{}: names are compared ", Shown(list))?;
            write!(out, "{}", without(path))?;
            if let Some(tied) = tied {
                write!(out, "; as many exist {}", without(tied))?;
            }
            writeln!(out)?;
        }
        Ok(prefix)
    }

    /// Returns the reading of a line that is meant.
    fn meant(&mut self, mut entry: Entry, prefix: Option<&Prefix>) -> Entry {
        let others = std::mem::take(&mut entry.alternatives);
        let exists = |inside: &Path| match &self.folder {
            Some(folder) => folder.has(inside),
            None => self.base.join(inside).is_file(),
        };
        let (forms, counts) = (&mut self.forms, &mut self.report.counts);
        names::meant(forms, &self.base, (entry, others), prefix, exists, counts)
    }

    fn note_missing(&mut self, output: &mut Output<'_>, wanted: &Wanted) -> anyhow::Result<()> {
        let Wanted { entry, inside } = wanted;
        if let (Some(folder), Some(inside)) = (&mut self.folder, inside) {
            folder.note_missing(inside.clone(), entry.clone());
            return Ok(());
        }
        self.report.counts.missing += 1;
        self.report
            .print(output, &entry.name, "missing", Found::InPlace)
    }

    /// Finds the files that are in no list. Some of them may be missing files that were moved.
    fn extra(
        &mut self,
        output: &mut Output<'_>,
        options: &Options,
        mut folder: Folder,
    ) -> anyhow::Result<Exit> {
        let mut exit = Exit::Good;
        let base = self.base.clone();
        let missing = folder.take_missing();
        let algorithms: Arc<[Algorithm]> = algorithms_of(&missing).into();
        let mut by_digest: HashMap<(Algorithm, Digest), Vec<usize>> = HashMap::new();
        for (i, entry) in missing.iter().enumerate() {
            if let Some(first) = entry.digests.first() {
                by_digest.entry(*first).or_default().push(i);
            }
        }
        let mut moved: HashMap<usize, &Path> = HashMap::new();
        let items = folder.unlisted().into_iter().map(|path| {
            let source = if algorithms.is_empty() {
                Source::Nothing
            } else {
                Source::File(base.join(path))
            };
            Item::new(source, Arc::clone(&algorithms), path)
        });
        output.hash(items, options, encoded, |output, item, outcome| {
            let found: Vec<(Algorithm, Digest)> = match outcome {
                Ok((found, _)) => item.algorithms.iter().copied().zip(found).collect(),
                Err(failure) => {
                    let path = base.join(item.tag);
                    output.error(&format!("{}: {failure}", path.display()));
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
            if let Some(origin) = origin {
                moved.insert(origin, item.tag);
                return Ok(());
            }
            self.report.counts.extra += 1;
            self.report
                .print(output, &bytes_of(item.tag), "extra", Found::InPlace)
        })?;
        for (i, entry) in missing.iter().enumerate() {
            let (state, place) = match moved.get(&i) {
                Some(place) => ("moved", Found::At(place)),
                None => ("missing", Found::InPlace),
            };
            self.report.counts.moved += u64::from(state == "moved");
            self.report.counts.missing += u64::from(state == "missing");
            self.report.print(output, &entry.name, state, place)?;
        }
        Ok(exit)
    }
}

/// Names a prefix that is removed.
fn without(prefix: &Path) -> String {
    if prefix.as_os_str().is_empty() {
        return "as they are".to_owned();
    }
    // With a slash at the end, which the root already has.
    format!("without {}", Shown(&prefix.join("")))
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
