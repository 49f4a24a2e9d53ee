//! Numbers, sizes, times and colours as text for people.

use std::fmt::{self, Write as _};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use hashlane_api::Size;
use hashlane_metainfo::{Text, Version, needs_escape};
use time::OffsetDateTime;

/// A path that is safe to print on a terminal. Invalid Unicode is replaced, and control characters, which a torrent's
/// name can contain, are escaped.
pub(crate) struct Shown<'p>(pub(crate) &'p Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped(self.0.display()).fmt(f)
    }
}

/// Returns the warning about a file whose disk does not answer.
pub(crate) fn silent(path: &Path) -> String {
    let seconds = hashlane_verify::Options::default().patience.as_secs();
    let path = path.display();
    format!("warning: {path}: no answer from the disk for {seconds} seconds, still waiting")
}

/// A text of unknown origin, made safe for a terminal in the same way.
#[derive(Debug)]
pub struct Escaped<T>(pub T);

impl<T: fmt::Display> fmt::Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

/// A stream that escapes the text that is written to it.
struct Escaping<'f, 'b>(&'f mut fmt::Formatter<'b>);

impl fmt::Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| {
            if needs_escape(c) {
                write!(self.0, "{}", c.escape_unicode())
            } else {
                self.0.write_char(c)
            }
        })
    }
}

/// Returns for example `485 MiB (508,559,360 bytes)`, or only the bytes if there are few.
pub(crate) fn size_and_bytes(bytes: u64) -> String {
    if bytes < 1024 {
        Size(bytes).to_string()
    } else {
        format!("{} ({})", Size(bytes), count(bytes, "byte"))
    }
}

/// Seconds as people read them: `0.52 s`, `4 min`, `3.2 days`.
#[derive(Debug)]
pub struct Duration(pub f64);

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const YEAR: f64 = 365.25 * 86_400.0;
        let Self(seconds) = *self;
        let text = match seconds {
            _ if seconds < 0.01 => format!("{:.1} ms", seconds * 1e3),
            _ if seconds < 10.0 => format!("{seconds:.2} s"),
            _ if seconds < 120.0 => format!("{seconds:.0} s"),
            _ if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
            _ if seconds < 2.0 * 86_400.0 => format!("{:.1} hours", seconds / 3600.0),
            _ if seconds < 2.0 * YEAR => format!("{:.1} days", seconds / 86_400.0),
            _ if seconds < 1e6 * YEAR => format!("{:.0} years", seconds / YEAR),
            _ => format!("{:.1e} years", seconds / YEAR),
        };
        f.pad(&text)
    }
}

/// Returns a date as people read it, or a number if there is no such date.
pub(crate) fn date(seconds: i64) -> String {
    match OffsetDateTime::from_unix_timestamp(seconds) {
        Ok(date) => {
            let (hour, minute, second) = date.to_hms();
            format!("{} {hour:02}:{minute:02}:{second:02} UTC", date.date())
        }
        Err(_) => format!("{seconds} s after 1970"),
    }
}

/// An integer with its digits in groups of three: `313,706`.
#[derive(Debug)]
pub struct Grouped(pub u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut text = String::new();
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        f.pad(&text)
    }
}

/// A host and a port, as `--node` takes them.
pub(crate) struct HostAndPort<'t>(pub(crate) Text<'t>, pub(crate) u16);

impl fmt::Display for HostAndPort<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(host, port) = self;
        if host.chars().any(|c| c == ':') {
            write!(f, "[{host}]:{port}")
        } else {
            write!(f, "{host}:{port}")
        }
    }
}

/// Returns the name of a version in options and JSON.
pub(crate) fn version(version: Version) -> &'static str {
    match version {
        Version::V1 => "v1",
        Version::V2 => "v2",
        Version::Hybrid => "hybrid",
    }
}

/// Returns for example `1 piece` or `2 pieces`.
pub fn count(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", Grouped(n), if n == 1 { "" } else { "s" })
}

/// Returns a part of a whole in percent. Only the whole itself is shown as 100.
pub fn percent(part: u64, whole: u64) -> String {
    if part == whole {
        return "100 %".into();
    }
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let percent = 100.0 * part as f64 / whole as f64;
    format!("{:.1} %", percent.min(99.9))
}

/// The colours in use: none if colours are not wanted.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    /// Content that is right.
    pub good: Style,
    /// Content that is wrong, and errors.
    pub bad: Style,
    /// Content that is partly right.
    pub partial: Style,
    /// Details.
    pub dim: Style,
    /// Names.
    pub strong: Style,
}

impl Palette {
    /// Returns the colours, or none.
    pub fn new(color: bool) -> Self {
        let of = |style: Style| if color { style } else { Style::new() };
        Self {
            good: of(AnsiColor::Green.on_default()),
            bad: of(AnsiColor::Red.on_default().bold()),
            partial: of(AnsiColor::Yellow.on_default()),
            dim: of(Style::new().dimmed()),
            strong: of(Style::new().bold()),
        }
    }
}

/// A text in a style.
#[derive(Debug)]
pub struct Styled<T>(pub Style, pub T);

impl<T: fmt::Display> fmt::Display for Styled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        self.1.fmt(f)?;
        write!(f, "{:#}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let shown = [0.0021, 0.5, 90.0, 300.0].map(|seconds| format!("{:>7}", Duration(seconds)));
        assert_eq!(shown, [" 2.1 ms", " 0.50 s", "   90 s", "  5 min"]);
    }

    #[test]
    fn digits_in_groups() {
        let shown = [0, 999, 1000, 313_706, 1_234_567].map(|n| Grouped(n).to_string());
        assert_eq!(shown, ["0", "999", "1,000", "313,706", "1,234,567"]);
        assert_eq!(count(1, "piece"), "1 piece");
        assert_eq!(count(2000, "piece"), "2,000 pieces");
    }

    #[test]
    fn all_but_one_is_not_a_hundred_percent() {
        assert_eq!(percent(999_999, 1_000_000), "99.9 %");
        assert_eq!(percent(1_000_000, 1_000_000), "100 %");
        assert_eq!(percent(0, 3), "0.0 %");
    }
}
