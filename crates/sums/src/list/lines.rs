//! Lines of a file, with a limit.

use std::io::{self, BufRead, Read as _};

/// Maximum length of a line. Names are far shorter; the limit protects against hostile files
/// without line feeds.
const MAX_LINE_LEN: usize = 1 << 20;

/// The lines of a file. A line ends with a line feed or at the end of the file.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    /// The byte that ends a line, or `None` if a zero byte ends lines from its first occurrence on.
    end: Option<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Returns the source of the lines.
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// Takes a reader.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            line: Vec::new(),
            end: Some(b'\n'),
        }
    }

    /// Takes the reader of a list of unknown origin. From the first zero byte on, zero bytes end lines, and line feeds are parts
    /// of names, as in the lists of `sha256sum --zero` and `hashdeep -0`.
    pub fn of_list(reader: R) -> Self {
        let end = None;
        Self {
            end,
            ..Self::new(reader)
        }
    }

    /// Returns the next line with the byte that ends it, or `None` at the end of the file. A line of more
    /// than 1 MiB is returned as `?`, which no list accepts.
    ///
    /// # Errors
    /// The error of the reader.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let mut limited = (&mut self.reader).take(MAX_LINE_LEN as u64 + 1);
        match self.end {
            Some(end) => drop(limited.read_until(end, &mut self.line)?),
            None => read_until_either(&mut limited, &mut self.line)?,
        }
        if self.line.is_empty() {
            return Ok(None);
        }
        if self.end.is_none() && self.line.last() == Some(&0) {
            self.end = Some(0);
        }
        let end = self.end.unwrap_or(b'\n');
        if self.line.len() > MAX_LINE_LEN && self.line.last() != Some(&end) {
            self.reader.skip_until(end)?;
            self.line.splice(.., [b'?', end]);
        }
        Ok(Some(&self.line))
    }
}

/// Appends the bytes up to the first line feed or zero byte, with that byte.
fn read_until_either(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let buffer = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        let end = buffer.iter().position(|byte| matches!(byte, b'\n' | 0));
        let n_bytes = end.map_or(buffer.len(), |end| end + 1);
        line.extend(&buffer[..n_bytes]);
        reader.consume(n_bytes);
        if end.is_some() || n_bytes == 0 {
            return Ok(());
        }
    }
}

/// Returns a line without its end, and whether a zero byte ends it. A carriage return before a line feed belongs to the end.
pub(super) fn without_end(line: &[u8]) -> (&[u8], bool) {
    if let Some(line) = line.strip_suffix(b"\0") {
        return (line, true);
    }
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    (line.strip_suffix(b"\r").unwrap_or(line), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_improper_and_the_next_one_is_whole() {
        let mut text = vec![b'a'; MAX_LINE_LEN + 1];
        text.extend(b"\nb\n\nc");
        let mut lines = Lines::new(&text[..]);
        let mut next = || lines.next_line().unwrap().map(<[u8]>::to_vec);
        for expected in [&b"?\n"[..], b"b\n", b"\n", b"c"] {
            assert_eq!(next().as_deref(), Some(expected));
        }
        assert_eq!(next(), None);
    }

    #[test]
    fn zero_bytes_end_lines_from_the_first_one_on() {
        for (text, expected) in [
            (&b"a\0b\nc\0d"[..], &[&b"a\0"[..], b"b\nc\0", b"d"][..]),
            (b"# a\nb\0c\n\0", &[b"# a\n", b"b\0", b"c\n\0"]),
            (b"a\nb", &[b"a\n", b"b"]),
        ] {
            // Buffers of one byte have no end in the first one.
            for len in [1, 64] {
                let mut lines = Lines::of_list(io::BufReader::with_capacity(len, text));
                for expected in expected {
                    assert_eq!(lines.next_line().unwrap(), Some(*expected));
                }
                assert_eq!(lines.next_line().unwrap(), None);
            }
        }
        let mut gnu = Lines::new(&b"a\0b\n"[..]);
        assert_eq!(gnu.next_line().unwrap(), Some(&b"a\0b\n"[..]));
        let mut long = vec![b'a'; MAX_LINE_LEN + 1];
        long.extend(b"\0b\0");
        let text = [b"a\0", &long[..]].concat();
        let mut lines = Lines::of_list(&text[..]);
        for expected in [&b"a\0"[..], b"?\0", b"b\0"] {
            assert_eq!(lines.next_line().unwrap(), Some(expected));
        }
    }
}
