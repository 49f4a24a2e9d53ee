//! Lines of a tag file, with limits.

use std::io::{self, BufRead};

/// Maximum length of a line in bytes. Paths are far shorter.
const MAX_LINE_LEN: usize = 64 << 10;

/// A line of a tag file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'l> {
    /// The text without its end.
    Text(&'l str),
    /// The line is not UTF-8.
    NotUtf8,
    /// The line has more than [`MAX_LINE_LEN`] bytes. The rest was skipped.
    TooLong,
}

/// The lines of a tag file, which end with a line feed, a carriage return, or both (RFC 8493, section 2.1.1).
pub(crate) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    /// Whether the last line ended with a carriage return, which a line feed may follow.
    is_after_return: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            line: Vec::new(),
            is_after_return: false,
        }
    }

    /// Returns the next line, or `None` at the end of the file. The last line need not have an end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let mut has_text = false;
        let mut is_too_long = false;
        loop {
            let bytes = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            let Some(first) = bytes.first() else {
                break;
            };
            if std::mem::take(&mut self.is_after_return) && *first == b'\n' {
                self.reader.consume(1);
                continue;
            }
            has_text = true;
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let text = &bytes[..end.unwrap_or(bytes.len())];
            let room = MAX_LINE_LEN - self.line.len();
            is_too_long |= text.len() > room;
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            let n_bytes = text.len();
            if let Some(end) = end {
                self.is_after_return = bytes[end] == b'\r';
                self.reader.consume(n_bytes + 1);
                break;
            }
            self.reader.consume(n_bytes);
        }
        if !has_text {
            return Ok(None);
        }
        Ok(Some(match str::from_utf8(&self.line) {
            _ if is_too_long => Line::TooLong,
            Ok(text) => Line::Text(text),
            Err(_) => Line::NotUtf8,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn all_three_ends_of_lines_are_read() {
        let text = &b"a\nb\rc\r\nd\r\r\n\ne"[..];
        for capacity in [1, 2, 3, 64] {
            let mut lines = Lines::new(BufReader::with_capacity(capacity, text));
            let mut found = Vec::new();
            while let Some(line) = lines.next_line().unwrap() {
                let Line::Text(text) = line else { panic!() };
                found.push(text.to_owned());
            }
            assert_eq!(found, ["a", "b", "c", "d", "", "", "e"], "{capacity}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_does_not_hide_the_next_one() {
        let text = [&vec![b'a'; MAX_LINE_LEN + 1][..], b"\n\xff\nb"].concat();
        let mut lines = Lines::new(&text[..]);
        assert_eq!(lines.next_line().unwrap(), Some(Line::TooLong));
        assert_eq!(lines.next_line().unwrap(), Some(Line::NotUtf8));
        assert_eq!(lines.next_line().unwrap(), Some(Line::Text("b")));
        assert_eq!(lines.next_line().unwrap(), None);
    }
}
