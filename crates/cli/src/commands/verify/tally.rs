//! Totals of all torrents of one call.

use std::path::Path;
use std::time::Duration;

use hashlane_verify::Report;

use crate::Env;
use crate::output::columns::shortened;
use crate::output::text::{Grouped, Palette, Shown, Size, Styled, count, percent};

use super::human::Shape;

/// Maximum number of columns for a share, a verdict and the space around them.
const VERDICT_WIDTH: usize = 40;

/// Minimum number of columns for the path of a torrent.
const MIN_PATH: usize = 12;

/// Totals of the verified torrents, and the torrents with problems.
#[derive(Debug, Default)]
pub(super) struct Tally {
    n_torrents: u64,
    n_complete: u64,
    n_errors: u64,
    checked_bytes: u64,
    /// Bytes of files in correct pieces, and bytes of all files, of the torrents that were checked.
    have_bytes: u64,
    total_bytes: u64,
    /// Whether any of these bytes were read.
    has_read: bool,
    elapsed: Duration,
    /// The torrents that are incomplete or could not be checked.
    others: Vec<Other>,
    /// The shape of the last torrent that was printed.
    pub(super) last: Shape,
}

/// A torrent that is incomplete or could not be checked.
#[derive(Debug)]
struct Other {
    path: String,
    /// The share of the content that is correct, or nothing if the torrent could not be checked.
    share: String,
    verdict: String,
}

impl Tally {
    /// Adds a torrent that was checked.
    pub(super) fn add(&mut self, torrent: &Path, report: &Report, verdict: String) {
        self.n_torrents += 1;
        self.checked_bytes += report.checked_bytes();
        self.have_bytes += report.have_bytes();
        self.total_bytes += report.total_bytes();
        self.has_read |= report.counts().have + report.counts().bad > 0;
        self.elapsed += report.elapsed();
        if report.is_complete() {
            self.n_complete += 1;
        } else {
            self.others.push(Other {
                path: Shown(torrent).to_string(),
                share: percent(report.have_bytes(), report.total_bytes()),
                verdict,
            });
        }
    }

    /// Adds a torrent that could not be checked.
    pub(super) fn add_error(&mut self, torrent: &Path) {
        self.n_torrents += 1;
        self.n_errors += 1;
        self.others.push(Other {
            path: Shown(torrent).to_string(),
            share: String::new(),
            verdict: "not checked".to_owned(),
        });
    }

    /// Prints the incomplete torrents, if there are several torrents, and one line of totals.
    pub(super) fn print(&self, env: &mut Env) -> anyhow::Result<()> {
        if self.n_torrents == 1 && self.checked_bytes == 0 && !self.others.is_empty() {
            // The error is the whole report.
            return Ok(());
        }
        let palette = Palette::new(env.color);
        let path_width = env.width.map_or(usize::MAX, |width| {
            width.saturating_sub(VERDICT_WIDTH).max(MIN_PATH)
        });
        if self.n_torrents > 1 && !self.others.is_empty() {
            if self.last == Shape::Line {
                writeln!(env.stdout)?;
            }
            writeln!(env.stdout, "{}:", self.others_are())?;
            for other in &self.others {
                let Other {
                    path,
                    share,
                    verdict,
                } = other;
                let path = shortened(path, path_width);
                let verdict = Styled(palette.bad, verdict);
                writeln!(env.stdout, "  {share:>6}  {path}  {verdict}")?;
            }
        }
        if self.n_torrents > 1 {
            let torrents = count(self.n_torrents, "torrent");
            let style = if self.others.is_empty() {
                palette.good
            } else {
                palette.bad
            };
            write!(
                env.stdout,
                "{torrents}: {}, ",
                Styled(style, self.verdict())
            )?;
            if !self.others.is_empty() && self.total_bytes > 0 {
                let share = percent(self.have_bytes, self.total_bytes);
                write!(env.stdout, "{share} of {}, ", Size(self.total_bytes))?;
            }
        }
        let checked = Size(self.checked_bytes);
        let seconds = self.elapsed.as_secs_f64();
        write!(env.stdout, "{checked} checked in {seconds:.3} s")?;
        if self.has_read {
            #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
            let rate = self.checked_bytes as f64 / seconds.max(f64::EPSILON) / 1e9;
            write!(env.stdout, ", {rate:.2} GB/s")?;
        }
        Ok(writeln!(env.stdout)?)
    }

    /// Returns the number of torrents that could be checked, and are incomplete.
    fn n_incomplete(&self) -> u64 {
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
    fn verdict(&self) -> String {
        if self.others.is_empty() {
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
