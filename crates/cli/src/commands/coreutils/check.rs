//! `--check`: reads lists of digests and checks the files.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use hashlane_sums::{
    Digest, Entry, Event, GnuLines, Item, Line, Lines, Options, Outcome, Source, escape,
};

use super::arguments::{Amount, Arguments, CheckOptions};
use super::quote::shell_quoted;
use super::streams::{Output, Streams, source_of};

/// Maximum number of lines to read before their files are hashed.
const MAX_BATCH_LINES: usize = 1 << 16;

/// Maximum number of bytes of names to read before the files are hashed.
const MAX_BATCH_BYTES: usize = 8 << 20;

/// The request in a line of a list.
enum Wanted {
    File(Entry),
    /// A line that is not well formed, with its number.
    Improper(u64),
}

/// The check of one list, and its counts.
struct Check<'a> {
    options: CheckOptions,
    /// The name of the list in messages, quoted.
    list: Vec<u8>,
    /// The algorithm's name in messages.
    tag: &'static str,
    cwd: &'a Path,
    n_improper: u64,
    n_unreadable: u64,
    n_wrong: u64,
    has_entries: bool,
    has_match: bool,
}

/// Checks the files of all lists. Returns `true` if all lists and files are correct.
pub(super) fn check_all(
    streams: &mut Streams<'_>,
    hashing: &Options,
    arguments: &Arguments,
    options: CheckOptions,
) -> bool {
    let Streams { input, output, cwd } = streams;
    // The form of the lines is decided once for all lists.
    let mut format = GnuLines::new(arguments.algorithm);
    let mut is_good = true;
    for name in &arguments.files {
        let is_stdin = name == b"-";
        let list = if is_stdin {
            b"standard input"
        } else {
            &name[..]
        };
        let mut check = Check {
            options,
            list: shell_quoted(list),
            tag: arguments.algorithm.tag(),
            cwd,
            n_improper: 0,
            n_unreadable: 0,
            n_wrong: 0,
            has_entries: false,
            has_match: false,
        };
        let result = if is_stdin {
            let list = List::new(&mut *input, true);
            // Lines that name the standard input stream are not well formed.
            check.check(list, &mut format, &mut io::empty(), hashing, output)
        } else {
            let Source::File(path) = source_of(cwd, name) else {
                continue;
            };
            match File::open(path) {
                Ok(file) => {
                    check.check(List::new(file, false), &mut format, input, hashing, output)
                }
                Err(error) => {
                    output.file_error(name, &error);
                    is_good = false;
                    continue;
                }
            }
        };
        is_good &= match result {
            Ok(()) => check.summarize(output),
            Err(Failure::List) => {
                output.error(&[&check.list[..], b": read error"].concat());
                false
            }
            Err(Failure::Reported) => false,
        };
    }
    is_good
}

/// A list that is read line by line.
struct List<R> {
    lines: Lines<BufReader<R>>,
    is_stdin: bool,
    n_lines: u64,
    has_ended: bool,
}

/// A reason that the rest of a list is not checked.
enum Failure {
    /// The list cannot be read.
    List,
    /// A message was printed.
    Reported,
}

impl<R: Read> List<R> {
    fn new(list: R, is_stdin: bool) -> Self {
        Self {
            lines: Lines::new(BufReader::new(list)),
            is_stdin,
            n_lines: 0,
            has_ended: false,
        }
    }

    /// Reads the next lines. Returns early if more lines are not available yet, so that a pipe is checked while another
    /// program writes it.
    fn next_batch(&mut self, format: &mut GnuLines) -> (Vec<Wanted>, io::Result<()>) {
        let (mut batch, mut n_bytes) = (Vec::new(), 0);
        while batch.len() < MAX_BATCH_LINES && n_bytes < MAX_BATCH_BYTES {
            let line = match self.lines.next_line() {
                Ok(Some(line)) => format.read(line),
                Ok(None) => {
                    self.has_ended = true;
                    break;
                }
                Err(error) => return (batch, Err(error)),
            };
            self.n_lines += 1;
            match line {
                Line::Entry(entry) if !(self.is_stdin && entry.name == b"-") => {
                    n_bytes += entry.name.len();
                    batch.push(Wanted::File(entry));
                }
                Line::Ignored | Line::Unchecked(_) => {}
                Line::Entry(_) | Line::Improper => batch.push(Wanted::Improper(self.n_lines)),
            }
            if self.is_stdin && self.lines.reader().buffer().is_empty() {
                break;
            }
        }
        (batch, Ok(()))
    }
}

impl Check<'_> {
    fn check(
        &mut self,
        mut list: List<impl Read>,
        format: &mut GnuLines,
        stdin: &mut dyn Read,
        hashing: &Options,
        output: &mut Output<'_>,
    ) -> Result<(), Failure> {
        while !list.has_ended {
            let (batch, read) = list.next_batch(format);
            let items = batch.into_iter().map(|wanted| match &wanted {
                Wanted::File(entry) => {
                    Item::new(source_of(self.cwd, &entry.name), entry.algorithms(), wanted)
                }
                Wanted::Improper(_) => Item::new(Source::Nothing, [], wanted),
            });
            let items: Vec<_> = items.collect();
            let has_run = output.hash(items, stdin, hashing, |output, event| match event {
                Event::Outcome(item, outcome) => self.note(&item.tag, outcome, output),
                Event::Pause { .. } => output.flush(),
            });
            if !has_run {
                return Err(Failure::Reported);
            }
            read.map_err(|_| Failure::List)?;
        }
        Ok(())
    }

    /// Prints the result for a line, and counts it.
    fn note(&mut self, wanted: &Wanted, outcome: Outcome<Vec<Digest>>, output: &mut Output<'_>) {
        let entry = match wanted {
            Wanted::File(entry) => entry,
            Wanted::Improper(line) => {
                self.n_improper += 1;
                if self.options.amount == Amount::Warnings {
                    let rest = format!(": {line}: improperly formatted {} checksum line", self.tag);
                    output.error(&[&self.list[..], rest.as_bytes()].concat());
                }
                return;
            }
        };
        self.has_entries = true;
        let found = match outcome {
            Ok((digests, _)) => digests,
            Err(failure) => {
                let error = io::Error::from(failure);
                if self.options.ignores_missing && error.kind() == io::ErrorKind::NotFound {
                    return;
                }
                self.n_unreadable += 1;
                output.file_error(&entry.name, &error);
                self.print(entry, "FAILED open or read", output);
                return;
            }
        };
        if entry.matches(&found) {
            self.has_match = true;
            if self.options.amount != Amount::Failures {
                self.print(entry, "OK", output);
            }
        } else {
            self.n_wrong += 1;
            self.print(entry, "FAILED", output);
        }
    }

    fn print(&self, entry: &Entry, verdict: &str, output: &mut Output<'_>) {
        if self.options.amount == Amount::Nothing {
            return;
        }
        let mut line = Vec::new();
        // Unlike in lists, a backslash or carriage return is escaped only if the name also contains a line feed.
        if entry.name.contains(&b'\n') {
            line.push(b'\\');
            escape(&entry.name, &mut line);
        } else {
            line.extend(&entry.name);
        }
        line.extend(format!(": {verdict}\n").bytes());
        output.write(&line);
    }

    /// Prints the warnings about a whole list. Returns `true` if the list has no problem.
    fn summarize(&self, output: &mut Output<'_>) -> bool {
        let about_list = |text: &str| [&self.list[..], b": ", text.as_bytes()].concat();
        let ignores_all = self.options.ignores_missing && !self.has_match;
        if !self.has_entries {
            output.error(&about_list("no properly formatted checksum lines found"));
        } else if self.options.amount != Amount::Nothing {
            for (n, one, several) in [
                (
                    self.n_improper,
                    "line is improperly formatted",
                    "lines are improperly formatted",
                ),
                (
                    self.n_unreadable,
                    "listed file could not be read",
                    "listed files could not be read",
                ),
                (
                    self.n_wrong,
                    "computed checksum did NOT match",
                    "computed checksums did NOT match",
                ),
            ] {
                if n > 0 {
                    let what = if n == 1 { one } else { several };
                    output.error(format!("WARNING: {n} {what}").as_bytes());
                }
            }
            if ignores_all {
                output.error(&about_list("no file was verified"));
            }
        }
        self.has_entries
            && !ignores_all
            && self.n_wrong == 0
            && self.n_unreadable == 0
            && !(self.options.is_strict && self.n_improper > 0)
    }
}
