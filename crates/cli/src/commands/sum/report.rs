//! Results of checks: a line for each file that is not right, and a summary.

use std::path::Path;

use super::arguments::Sum;
use super::counts::Counts;
use super::json;
use super::output::Output;
use crate::output::json_lines::{self, PathText};
use crate::output::text::{Escaped, Shown};

/// The results of a check.
pub(super) struct Report {
    pub(super) counts: Counts,
    is_json: bool,
    is_quiet: bool,
}

/// A remark on the place of a file.
#[derive(Clone, Copy)]
pub(super) enum Found<'f> {
    /// No remark.
    InPlace,
    /// The path below the folder that the file was moved to.
    At(&'f Path),
    /// The name in this line of a list is not below the folder.
    Line(&'f Path, u64),
}

impl Report {
    pub(super) fn new(sum: &Sum) -> Self {
        Self {
            counts: Counts::default(),
            is_json: sum.printing.is_json(),
            is_quiet: sum.printing.quiet,
        }
    }

    /// Counts a file that cannot be read, and prints the reason.
    pub(super) fn note_unreadable(
        &mut self,
        output: &mut Output<'_>,
        name: &[u8],
        reason: &str,
    ) -> anyhow::Result<()> {
        self.counts.unreadable += 1;
        output.error(&format!("{}: {reason}", String::from_utf8_lossy(name)));
        self.print(output, name, "unreadable", Found::InPlace)
    }

    /// Counts a file that was read, and prints it if it is changed, or in JSON lines.
    pub(super) fn note_read(
        &mut self,
        output: &mut Output<'_>,
        name: &[u8],
        is_right: bool,
    ) -> anyhow::Result<()> {
        if is_right {
            self.counts.right += 1;
        } else {
            self.counts.changed += 1;
        }
        if is_right && !self.is_json {
            return Ok(());
        }
        let state = if is_right { "right" } else { "changed" };
        self.print(output, name, state, Found::InPlace)
    }

    /// Counts a file that is right as far as its tree hash covers it.
    pub(super) fn note_part(&mut self, output: &mut Output<'_>, name: &[u8]) -> anyhow::Result<()> {
        self.counts.partly += 1;
        self.print(output, name, "partly", Found::InPlace)
    }

    /// Prints the result for a file.
    pub(super) fn print(
        &self,
        output: &mut Output<'_>,
        name: &[u8],
        state: &'static str,
        found: Found<'_>,
    ) -> anyhow::Result<()> {
        if self.is_json {
            let (found_at, line) = match found {
                Found::InPlace => (None, None),
                Found::At(path) => (Some(path.to_string_lossy().into_owned()), None),
                Found::Line(_, line) => (None, Some(line)),
            };
            let line = json::Line::Checked {
                path: PathText::of_bytes(name),
                state,
                found_at,
                line,
            };
            return json_lines::print(output.env, &line);
        }
        let name = String::from_utf8_lossy(name);
        let out = &mut output.env.stdout;
        write!(out, "{state:<10}  {}", Escaped(&name))?;
        match found {
            Found::InPlace => {}
            Found::At(place) => write!(out, " -> {}", Shown(place))?,
            Found::Line(list, line) => write!(out, "  ({}: line {line})", Shown(list))?,
        }
        Ok(writeln!(out)?)
    }

    /// Prints the counts.
    pub(super) fn print_summary(&self, output: &mut Output<'_>) -> anyhow::Result<()> {
        if self.is_json {
            let line = json::Line::Summary(self.counts.clone());
            return json_lines::print(output.env, &line);
        }
        if self.is_quiet {
            return Ok(());
        }
        Ok(writeln!(output.env.stdout, "{}", self.counts.text())?)
    }
}
