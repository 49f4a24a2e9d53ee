//! Totals of all torrents of one call.

use std::time::Duration;

use crate::Env;
use crate::output::text::{Grouped, Palette, Styled, count, percent};
use hashlane_api::Size;

use super::human::{Row, Shape};
use super::outside::Verified;

/// Totals of the verified torrents, and the torrents with problems.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) n_torrents: u64,
    pub(super) n_complete: u64,
    pub(super) n_errors: u64,
    /// Number of torrents that were not checked because of Ctrl-C, if there are several torrents.
    pub(super) n_interrupted: u64,
    pub(super) checked_bytes: u64,
    /// Bytes of files in correct pieces, and bytes of all files, of the torrents that were checked.
    pub(super) have_bytes: u64,
    pub(super) total_bytes: u64,
    /// Whether any of these bytes were read.
    has_read: bool,
    /// Time that all torrents took.
    pub(super) elapsed: Duration,
    /// The torrents that are incomplete or could not be checked.
    others: Vec<Row>,
    /// Whether the torrents with problems were printed as the only rows of a table.
    pub(super) lists_failures: bool,
    /// The shape of the last torrent that was printed.
    pub(super) last: Shape,
}

impl Tally {
    /// Adds a torrent that was checked.
    pub(super) fn add(&mut self, verified: &Verified<'_>) {
        let report = verified.report;
        self.n_torrents += 1;
        self.checked_bytes += report.checked_bytes();
        self.have_bytes += report.have_bytes();
        self.total_bytes += report.total_bytes();
        self.has_read |= report.counts().have + report.counts().bad > 0;
        if report.is_complete() {
            self.n_complete += 1;
        } else {
            self.others.push(Row::of(verified));
        }
    }

    /// Adds a torrent that could not be checked.
    pub(super) fn add_error(&mut self, row: Row) {
        self.n_torrents += 1;
        self.n_errors += 1;
        self.others.push(row);
    }

    /// Adds one of several torrents that were not checked because of Ctrl-C. There can be thousands, so they have no rows.
    pub(super) fn add_interrupted(&mut self) {
        self.n_torrents += 1;
        self.n_errors += 1;
        self.n_interrupted += 1;
    }

    /// Prints the incomplete torrents, if there are several torrents, and one line of totals.
    pub(super) fn print(&self, env: &mut Env) -> anyhow::Result<()> {
        if self.n_torrents == 1 && self.checked_bytes == 0 && !self.others.is_empty() {
            // The error is the whole report.
            return Ok(());
        }
        let palette = Palette::new(env.color);
        if self.n_torrents > 1 && !self.others.is_empty() && !self.lists_failures {
            if self.last == Shape::Line {
                writeln!(env.stdout)?;
            }
            writeln!(env.stdout, "{}:", self.others_are())?;
            for row in &self.others {
                row.print(env, false)?;
            }
        }
        if self.n_torrents > 1 {
            let torrents = count(self.n_torrents, "torrent");
            let style = if self.n_complete == self.n_torrents {
                palette.good
            } else {
                palette.bad
            };
            write!(
                env.stdout,
                "{torrents}: {}, ",
                Styled(style, self.verdict())
            )?;
            if self.n_complete < self.n_torrents && self.total_bytes > 0 {
                let share = percent(self.have_bytes, self.total_bytes);
                write!(env.stdout, "{share} of {}, ", Size(self.total_bytes))?;
            }
        }
        let checked = Size(self.checked_bytes);
        let seconds = self.elapsed.as_secs_f64();
        if self.has_read {
            write!(env.stdout, "{checked} checked in {seconds:.3} s")?;
            #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
            let rate = self.checked_bytes as f64 / seconds.max(f64::EPSILON) / 1e9;
            write!(env.stdout, ", {rate:.2} GB/s")?;
        } else {
            // All of the content is absent.
            write!(env.stdout, "nothing to read")?;
        }
        Ok(writeln!(env.stdout)?)
    }

    /// Returns the number of torrents that could be checked, and are incomplete.
    pub(super) fn n_incomplete(&self) -> u64 {
        self.n_torrents - self.n_complete - self.n_errors
    }

    /// Returns the title of the list of torrents with problems.
    fn others_are(&self) -> &'static str {
        match (self.n_incomplete(), self.n_errors) {
            (_, 0) => "Incomplete",
            (0, _) => "Not checked",
            _ => "Incomplete or not checked",
        }
    }

    /// Returns for example `2 complete, 1 incomplete`.
    pub(super) fn verdict(&self) -> String {
        if self.n_complete == self.n_torrents {
            return "complete".to_owned();
        }
        let numbers = [
            (self.n_complete, "complete"),
            (self.n_incomplete(), "incomplete"),
            (self.n_errors, "not checked"),
        ];
        let numbers = numbers.iter().filter(|(n, _)| *n > 0);
        let numbers: Vec<String> = numbers
            .map(|(n, what)| format!("{} {what}", Grouped(*n)))
            .collect();
        numbers.join(", ")
    }
}
