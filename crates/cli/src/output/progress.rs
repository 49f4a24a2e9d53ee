//! The progress line.

use std::fmt::Write as _;
use std::io;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::columns::{columns_of, shortened};
use super::text::{Escaped, Grouped};
use hashlane_api::Size;

/// Shorter work shows no progress, because the line would only flicker.
const PATIENCE: Duration = Duration::from_millis(150);

/// Interval at which the line is drawn.
const REDRAW: Duration = Duration::from_millis(100);

/// Interval at which the rate is measured.
const MEASURE: Duration = Duration::from_millis(500);

/// Share of the newest measurement in the rate that is shown, so that the rate does not jump.
const NEWEST: f64 = 0.3;

/// Columns of the line if the width of the terminal is unknown.
const DEFAULT_WIDTH: usize = 80;

/// Columns of the bar.
const BAR: usize = 24;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Bytes,
    /// Things with this plural.
    Items(&'static str),
    /// Parts of a whole without a meaningful unit.
    Parts,
}

/// A part of the line after the name. Its width does not change while the work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Bar,
    Share,
    Amount,
    Rate,
    /// The remaining time.
    Left,
    /// The remaining time without the word.
    Time,
}

/// The parts of the line from the widest to the narrowest, each with the minimum number of columns for the name.
const LAYOUTS: [(&[Part], usize); 5] = [
    (
        &[Part::Bar, Part::Share, Part::Amount, Part::Rate, Part::Left],
        24,
    ),
    (&[Part::Share, Part::Amount, Part::Rate, Part::Left], 12),
    (&[Part::Share, Part::Rate, Part::Time], 8),
    (&[Part::Share, Part::Time], 4),
    (&[Part::Share], 0),
];

/// A line with the name, the share, the amount, the rate and the remaining time, on the standard error stream.
pub(crate) struct ProgressLine {
    name: String,
    unit: Unit,
    started: Instant,
    drawn: Option<Instant>,
    rate: Rate,
    bar: Option<ProgressBar>,
    text: String,
}

impl ProgressLine {
    /// Returns a line for a number of bytes.
    pub(crate) fn new(name: String) -> Self {
        Self::with(name, Unit::Bytes)
    }

    /// Returns a line for a number of things with this plural.
    pub(crate) fn of_items(plural: &'static str) -> Self {
        Self::with(String::new(), Unit::Items(plural))
    }

    /// Returns a line for a share of a whole.
    pub(crate) fn of_share(name: String) -> Self {
        Self::with(name, Unit::Parts)
    }

    fn with(name: String, unit: Unit) -> Self {
        let started = Instant::now();
        Self {
            name,
            unit,
            started,
            drawn: None,
            rate: Rate::new(started),
            bar: None,
            text: String::new(),
        }
    }

    /// Sets the name that the next update shows, for example of the current file.
    pub(crate) fn set_name(&mut self, name: impl Into<String>) {
        self.name = name.into();
    }

    /// Shows that `done` of `total` are done. A total of 0 things is not known.
    pub(crate) fn update(&mut self, done: u64, total: u64) {
        let now = Instant::now();
        self.rate.measure(now, done);
        let is_early = self.started.elapsed() < PATIENCE;
        if is_early || self.drawn.is_some_and(|drawn| now - drawn < REDRAW) {
            return;
        }
        self.drawn = Some(now);
        let line = Line {
            name: &Escaped(&self.name).to_string(),
            unit: self.unit,
            done,
            total,
            rate: self.rate.per_second,
        };
        // A line as wide as the terminal would move the cursor to the next line.
        let text = line.text(width().saturating_sub(1));
        if text == self.text {
            return;
        }
        self.text.clone_from(&text);
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{msg}").expect("the template is constant");
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
        });
        bar.set_message(text);
    }

    /// Hides the line while `f` writes other lines.
    pub(crate) fn suspend<R>(&self, f: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(f),
            None => f(),
        }
    }

    pub(crate) fn clear(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Hides the line, if there is one, while `f` writes other lines.
pub(crate) fn suspended<R>(line: Option<&ProgressLine>, f: impl FnOnce() -> R) -> R {
    match line {
        Some(line) => line.suspend(f),
        None => f(),
    }
}

/// Returns the number of columns of the terminal that shows the line. The user may change it at any time.
fn width() -> usize {
    let size = terminal_size::terminal_size_of(io::stderr());
    size.map_or(DEFAULT_WIDTH, |(width, _)| width.0.into())
}

/// A smoothed rate.
struct Rate {
    measured: Instant,
    done: u64,
    per_second: Option<f64>,
}

impl Rate {
    fn new(now: Instant) -> Self {
        Self {
            measured: now,
            done: 0,
            per_second: None,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    fn measure(&mut self, now: Instant, done: u64) {
        let elapsed = now - self.measured;
        if elapsed < MEASURE {
            return;
        }
        let newest = done.saturating_sub(self.done) as f64 / elapsed.as_secs_f64();
        let before = self.per_second.unwrap_or(newest);
        self.per_second = Some(newest.mul_add(NEWEST, before * (1.0 - NEWEST)));
        (self.measured, self.done) = (now, done);
    }
}

/// The values that a line shows.
struct Line<'l> {
    name: &'l str,
    unit: Unit,
    done: u64,
    total: u64,
    /// Units per second, once they were measured.
    rate: Option<f64>,
}

impl Line<'_> {
    /// Returns the line in at most `columns` columns. The name is cut, and parts that do not fit are left out. The columns of
    /// the parts depend only on `columns` and on the total.
    fn text(&self, columns: usize) -> String {
        let texts_of = |parts: &[Part]| {
            let texts = parts.iter().filter_map(|part| self.part(*part));
            texts.fold(String::new(), |all, text| all + "  " + &text)
        };
        let narrowest = LAYOUTS.len() - 1;
        let fits =
            |(parts, name): &&(&[Part], usize)| columns_of(&texts_of(parts)) + name <= columns;
        let (parts, _) = LAYOUTS.iter().find(fits).unwrap_or(&LAYOUTS[narrowest]);
        let texts = texts_of(parts);
        let for_name = columns.saturating_sub(columns_of(&texts));
        let name = shortened(self.name, for_name);
        let space = for_name.saturating_sub(columns_of(&name));
        let line = format!("{name}{:space$}{texts}", "");
        shortened(&line, columns).into_owned()
    }

    /// Returns a part with its fixed width, or `None` if the unit has no such part.
    #[expect(clippy::cast_sign_loss, reason = "a rate is not negative")]
    fn part(&self, part: Part) -> Option<String> {
        // While files are being found, their number is not known.
        if let (0, Unit::Items(plural)) = (self.total, self.unit) {
            let amount = || format!("{:>11} {plural}", Grouped(self.done).to_string());
            return (part == Part::Amount).then(amount);
        }
        let share = share(self.done, self.total);
        match (part, self.unit) {
            (Part::Bar, _) => Some(bar(share)),
            (Part::Share, _) => Some(format!("{:>3.0} %", (share * 100.0).floor())),
            (Part::Amount, Unit::Bytes) => {
                let (done, total) = (Size(self.done).to_string(), Size(self.total).to_string());
                Some(format!("{done:>8} of {total:>8}"))
            }
            (Part::Amount, Unit::Items(plural)) => {
                let total = Grouped(self.total).to_string();
                let width = total.len();
                Some(format!(
                    "{:>width$} of {total} {plural}",
                    Grouped(self.done)
                ))
            }
            (Part::Rate, Unit::Bytes) => {
                let rate = self.rate.map_or_else(String::new, |rate| {
                    // The rate of a disk is far below the limit of the type.
                    format!("{}/s", Size(rate as u64))
                });
                Some(format!("{rate:>10}"))
            }
            (Part::Amount | Part::Rate, _) => None,
            (Part::Left, _) => Some(format!("{:>8} left", self.left().unwrap_or_default())),
            (Part::Time, _) => Some(format!("{:>8}", self.left().unwrap_or_default())),
        }
    }

    /// Returns the remaining time, for example `0:05`, `1:02:03` or `4 days`.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "whole seconds are shown"
    )]
    fn left(&self) -> Option<String> {
        let rate = self.rate.filter(|rate| *rate > 0.0)?;
        let seconds = self.total.saturating_sub(self.done) as f64 / rate;
        // Greater numbers of seconds are shown as the greatest one.
        let seconds = seconds.ceil() as u64;
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        let mut text = String::new();
        let _ = match hours {
            0 => write!(text, "{minutes}:{:02}", seconds % 60),
            1..100 => write!(text, "{hours}:{minutes:02}:{:02}", seconds % 60),
            _ => write!(text, "{} days", (hours / 24).min(999)),
        };
        Some(text)
    }
}

/// Returns the share of the work that is done, from 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "a share of a line")]
fn share(done: u64, total: u64) -> f64 {
    if total == 0 {
        return 0.0;
    }
    (done as f64 / total as f64).min(1.0)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the share is from 0 to 1"
)]
fn bar(share: f64) -> String {
    // At most the width of the bar.
    let n_full = (share * BAR as f64) as usize;
    "█".repeat(n_full) + &"░".repeat(BAR - n_full)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, done: u64, rate: Option<f64>) -> Line<'_> {
        Line {
            name,
            unit: Unit::Bytes,
            done,
            total: 3_300_000_000,
            rate,
        }
    }

    #[test]
    fn lines_of_common_widths() {
        let line = line("debian-12.9.0-amd64-DVD-1.iso", 1_100_000_000, Some(512e6));
        for (columns, expected) in [
            (
                119,
                "debian-12.9.0-amd64-DVD-1.iso          ████████░░░░░░░░░░░░░░░░   33 %  1.02 GiB of 3.07 GiB   488 MiB/s      0:05 left",
            ),
            (
                79,
                "debian-12.9…4-DVD-1.iso   33 %  1.02 GiB of 3.07 GiB   488 MiB/s      0:05 left",
            ),
            (39, "debia….iso   33 %   488 MiB/s      0:05"),
        ] {
            assert_eq!(line.text(columns), expected, "{columns}");
        }
    }

    #[test]
    fn parts_stay_in_their_columns() {
        for columns in [10, 20, 39, 60, 79, 100, 150] {
            let mut places = std::collections::BTreeSet::new();
            for (done, rate) in [
                (0, None),
                (1, Some(0.0)),
                (1 << 20, Some(1e6)),
                (1 << 30, Some(1e9)),
                (2 << 30, Some(3e4)),
                (3 << 30, Some(5e9)),
            ] {
                for name in [
                    "a",
                    "a name that is much longer than any terminal is wide, 漢字漢字漢字漢字漢字漢字",
                ] {
                    let text = line(name, done, rate).text(columns);
                    assert_eq!(columns_of(&text), columns, "{text:?}");
                    let percent = text.find('%').map(|end| columns_of(&text[..end]));
                    places.insert(percent);
                }
            }
            assert_eq!(places.len(), 1, "{columns}: {places:?}");
        }
    }

    #[test]
    fn items_and_times() {
        let torrents = Line {
            name: "b.torrent",
            unit: Unit::Items("torrents"),
            done: 950,
            total: 5000,
            rate: Some(10.0),
        };
        let expected = "b.torrent                     19 %    950 of 5,000 torrents      6:45 left";
        assert_eq!(torrents.text(74), expected);
        for (rate, expected) in [(1.0, "1:07:30"), (1e-3, "46 days"), (1e-12, "999 days")] {
            let rate = Some(rate);
            assert_eq!(Line { rate, ..torrents }.left().as_deref(), Some(expected));
        }
        assert_eq!(
            Line {
                rate: Some(0.0),
                ..torrents
            }
            .left(),
            None
        );
    }

    #[test]
    fn an_unknown_total_has_no_share() {
        let found = Line {
            name: "",
            unit: Unit::Items("files"),
            done: 4256,
            total: 0,
            rate: Some(10.0),
        };
        for columns in [39, 79] {
            assert_eq!(found.text(columns), format!("{:>columns$}", "4,256 files"));
        }
    }

    #[test]
    fn a_rate_is_smoothed() {
        let start = Instant::now();
        let mut rate = Rate::new(start);
        rate.measure(start + Duration::from_millis(100), 50);
        assert_eq!(rate.per_second, None, "measured too early");
        rate.measure(start + Duration::from_secs(1), 1000);
        assert_eq!(rate.per_second, Some(1000.0));
        rate.measure(start + Duration::from_secs(2), 1000);
        assert_eq!(rate.per_second, Some(700.0));
    }
}
