//! Lists of results that are texts of any form, such as `sha256:...  name`, in the lines of GNU coreutils and BSD.

use super::gnu::{name_of, without_blanks};
use super::lines::without_end;

/// The meaning of a line of a list of results. A program must decide about each, so a new meaning is a breaking change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueLine {
    /// An empty line or a comment.
    Ignored,
    /// The expected result and the name of a file.
    Entry(String, Vec<u8>),
    /// An invalid line.
    Improper,
}

/// A reader of lines `VALUE  NAME`, `VALUE *NAME`, `VALUE NAME` and `TAG (NAME) = VALUE`. Values have no spaces.
#[derive(Clone, Debug)]
pub struct ValueLines {
    /// What BSD lines start with.
    tag: String,
    /// Whether lines have one space between value and name. The first line decides: see [`GnuLines`](super::GnuLines).
    has_one_space: Option<bool>,
}

impl ValueLines {
    /// Returns a reader for lines of a format whose BSD lines start with `tag`.
    pub fn new(tag: impl Into<String>) -> Self {
        Self {
            tag: tag.into(),
            has_one_space: None,
        }
    }

    /// Reads a line, with or without its line feed or zero byte. The value is not checked.
    pub fn read(&mut self, line: &[u8]) -> ValueLine {
        let (line, ends_with_zero) = without_end(line);
        if line.is_empty() || line.starts_with(b"#") {
            return ValueLine::Ignored;
        }
        if line.contains(&0) {
            return ValueLine::Improper;
        }
        let text = without_blanks(line);
        let (text, is_escaped) = match text.strip_prefix(b"\\") {
            Some(text) if !ends_with_zero => (text, true),
            _ => (text, false),
        };
        let found = self.tagged(text).or_else(|| self.plain(text));
        let entry = found.and_then(|(value, name)| {
            let value = str::from_utf8(value).ok()?.to_owned();
            let name = name_of(name, is_escaped)?;
            (!name.is_empty()).then_some(ValueLine::Entry(value, name))
        });
        entry.unwrap_or(ValueLine::Improper)
    }

    fn tagged<'l>(&self, text: &'l [u8]) -> Option<(&'l [u8], &'l [u8])> {
        let rest = text
            .strip_prefix(self.tag.as_bytes())?
            .strip_prefix(b" (")?;
        let end = rest.iter().rposition(|c| *c == b')')?;
        Some((rest[end..].strip_prefix(b") = ")?, &rest[..end]))
    }

    fn plain<'l>(&mut self, text: &'l [u8]) -> Option<(&'l [u8], &'l [u8])> {
        let end = text.iter().position(|c| *c == b' ')?;
        let (value, rest) = (&text[..end], &text[end + 1..]);
        let after_two = match rest {
            [b' ' | b'*', name @ ..] if !name.is_empty() => Some(name),
            _ => None,
        };
        match (after_two, self.has_one_space) {
            (Some(name), None | Some(false)) => {
                self.has_one_space = Some(false);
                Some((value, name))
            }
            (None, Some(false)) => None,
            (_, None | Some(true)) => {
                self.has_one_space = Some(true);
                Some((value, rest))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &mut ValueLines, line: &str) -> Option<(String, String)> {
        match lines.read(line.as_bytes()) {
            ValueLine::Entry(value, name) => Some((value, String::from_utf8(name).ok()?)),
            ValueLine::Ignored | ValueLine::Improper => None,
        }
    }

    #[test]
    fn lines_have_the_forms_of_gnu_and_bsd() {
        let mut lines = ValueLines::new("FSVERITY");
        for (line, expected) in [
            ("sha256:00  a b", Some(("sha256:00", "a b"))),
            ("sha256:00 *a\r\n", Some(("sha256:00", "a"))),
            ("\\sha256:00  a\\nb", Some(("sha256:00", "a\nb"))),
            ("FSVERITY (a) b) = sha256:00", Some(("sha256:00", "a) b"))),
            ("FSVERITY () = sha256:00", None),
            ("sha256:00", None),
            ("sha256:00 ", None),
            // The first line had two spaces.
            ("sha256:00 a", None),
            ("# sha256:00  a", None),
            ("\\sha256:00  a\\x", None),
        ] {
            let expected = expected.map(|(value, name)| (value.to_owned(), name.to_owned()));
            assert_eq!(read(&mut lines, line), expected, "{line}");
        }
    }

    #[test]
    fn a_list_with_one_space_keeps_names_that_start_with_a_space() {
        let mut lines = ValueLines::new("FSVERITY");
        for (line, name) in [
            ("sha256:00 a", "a"),
            ("sha256:00  a", " a"),
            ("sha256:00 *a", "*a"),
        ] {
            let expected = Some(("sha256:00".to_owned(), name.to_owned()));
            assert_eq!(read(&mut lines, line), expected);
        }
    }
}
