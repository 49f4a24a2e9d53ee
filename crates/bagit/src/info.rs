//! `bag-info.txt`: labels and values.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use hashlane_files::read_limited;

use crate::error::Error;
use crate::path::open;

pub(crate) const INFO: &str = "bag-info.txt";

const OXUM: &str = "Payload-Oxum";

/// Maximum length in bytes, which is far more than people write.
const MAX_LEN: u64 = 16 << 20;

/// The length of the payload and the number of its files (RFC 8493, section 2.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Oxum {
    pub(crate) n_bytes: u64,
    pub(crate) n_files: u64,
}

/// The text of a bag-info.txt.
#[derive(Debug, Default)]
pub(crate) struct Info {
    text: String,
}

impl Info {
    /// Reads the file of a bag. Returns `None` if the bag has none.
    pub(crate) fn read(bag: &Path) -> Result<Option<Self>, Error> {
        let path = bag.join(INFO);
        let file = match open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(Error::io(&path))?,
        };
        let mut bytes = Vec::new();
        if !read_limited(file, MAX_LEN, &mut bytes).map_err(Error::io(&path))? {
            return Err(Error::improper(&path, "is longer than 16 MiB"));
        }
        let text = String::from_utf8(bytes);
        let text = text.map_err(|_| Error::improper(&path, "is not UTF-8"))?;
        let info = Self { text };
        if let Some(line) = info.first_improper() {
            let reason = format!("line {line} is neither `Label: value` nor indented");
            return Err(Error::improper(&path, reason));
        }
        Ok(Some(info))
    }

    /// Adds a label with a value.
    pub(crate) fn add(&mut self, label: &str, value: &str) {
        let needs_end = !self.text.is_empty() && !self.text.ends_with(['\n', '\r']);
        if needs_end {
            self.text.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{label}: {value}");
    }

    /// Replaces the length and number of files. All other lines stay as they are.
    pub(crate) fn set_oxum(&mut self, oxum: Oxum) {
        let kept = self.marked_lines().filter(|(is_oxum, _)| !is_oxum);
        self.text = kept.map(|(_, line)| line).collect();
        self.add(OXUM, &format!("{}.{}", oxum.n_bytes, oxum.n_files));
    }

    /// Returns the length and number of files, if there is one.
    ///
    /// # Errors
    /// The value, if it has not the form `BYTES.FILES`, or the values if there are several.
    pub(crate) fn oxum(&self) -> Result<Option<Oxum>, String> {
        let mut values: Vec<String> = Vec::new();
        for (_, line) in self.marked_lines().filter(|(is_oxum, _)| *is_oxum) {
            match (values.last_mut(), line.split_once(':')) {
                (Some(value), _) if is_continued(line) => value.push_str(line),
                (_, Some((_, value))) => values.push(value.to_owned()),
                _ => {}
            }
        }
        let value = match &values[..] {
            [] => return Ok(None),
            [value] => value,
            several => {
                return Err(several
                    .iter()
                    .map(|it| it.trim())
                    .collect::<Vec<_>>()
                    .join(", "));
            }
        };
        let number = |text: &str| {
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| is_number)
        };
        let read = || {
            let (n_bytes, n_files) = value.trim().split_once('.')?;
            Some(Oxum {
                n_bytes: number(n_bytes)?,
                n_files: number(n_files)?,
            })
        };
        match read() {
            Some(oxum) => Ok(Some(oxum)),
            None => Err(value.trim().to_owned()),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the lines with their ends, and whether each belongs to the length and number of files.
    fn marked_lines(&self) -> impl Iterator<Item = (bool, &str)> {
        let mut is_oxum = false;
        self.lines().map(move |line| {
            if !is_continued(line) {
                is_oxum = is_labelled(line, OXUM);
            }
            (is_oxum, line)
        })
    }

    /// Returns the lines with their ends: a line feed, a carriage return, or both.
    fn lines(&self) -> impl Iterator<Item = &str> {
        let mut rest = self.text.as_str();
        std::iter::from_fn(move || {
            let end = rest.find(['\n', '\r']).map_or(rest.len(), |end| {
                end + 1 + usize::from(rest[end..].starts_with("\r\n"))
            });
            let line;
            (line, rest) = rest.split_at(end);
            (!line.is_empty()).then_some(line)
        })
    }

    /// Returns the number of the first line that is neither a label nor a continued value.
    fn first_improper(&self) -> Option<usize> {
        let mut has_label = false;
        let improper = self.lines().position(|line| {
            let is_continued = is_continued(line) && has_label;
            let is_label = line
                .find(':')
                .is_some_and(|end| !line[..end].trim().is_empty());
            has_label |= is_label;
            !(is_continued || is_label || line.trim().is_empty())
        });
        improper.map(|line| line + 1)
    }
}

/// Returns `true` for a line that continues the value of the line before.
fn is_continued(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

/// Labels are compared without regard to letter case.
fn is_labelled(line: &str, label: &str) -> bool {
    let found = line.split_once(':').map_or("", |(found, _)| found);
    found.trim().eq_ignore_ascii_case(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(text: &str) -> Info {
        Info { text: text.into() }
    }

    #[test]
    fn the_oxum_is_replaced_and_other_lines_stay() {
        let mut of = info("A: b\r\n  c\r\npayload-oxum: 1.2\r\n 3\r\nD: e");
        let oxum = Oxum {
            n_bytes: 10,
            n_files: 3,
        };
        of.set_oxum(oxum);
        assert_eq!(of.text(), "A: b\r\n  c\r\nD: e\nPayload-Oxum: 10.3\n");
        assert_eq!(of.oxum(), Ok(Some(oxum)));
        for text in [
            "Payload-Oxum: 1",
            "Payload-Oxum: 1.x",
            "Payload-Oxum: -1.2",
            "Payload-Oxum: +1.2",
            "Payload-Oxum: 1.2.3",
            "Payload-Oxum: 1.2\n 3\n",
            "Payload-Oxum: 99999999999999999999.1",
            "Payload-Oxum:",
            "Payload-Oxum: 1.2\nPayload-Oxum: 1.2",
            "Payload-Oxum: 1.2\nA: b\npayload-oxum: 3.4",
        ] {
            assert!(info(text).oxum().is_err(), "{text}");
        }
        for text in ["Oxum: 1.2", ""] {
            assert_eq!(info(text).oxum(), Ok(None), "{text}");
        }
    }

    #[test]
    fn lines_without_a_label_are_found() {
        for (text, line) in [
            ("A: b\n c\n\nD:\n", None),
            ("\u{feff}A: b\n", None),
            (" c\n", Some(1)),
            ("A: b\nc\n", Some(2)),
            (": c\n", Some(1)),
        ] {
            assert_eq!(info(text).first_improper(), line, "{text:?}");
        }
    }
}
