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
}

impl<R: BufRead> Lines<R> {
    /// Returns the source of the lines.
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// Takes a reader.
    pub fn new(reader: R) -> Self {
        let line = Vec::new();
        Self { reader, line }
    }

    /// Returns the next line with its line feed, or `None` at the end of the file. A line of more
    /// than 1 MiB is returned as `?`, which no list accepts.
    ///
    /// # Errors
    /// The error of the reader.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let mut limited = (&mut self.reader).take(MAX_LINE_LEN as u64 + 1);
        if limited.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        if self.line.len() > MAX_LINE_LEN && self.line.last() != Some(&b'\n') {
            self.reader.skip_until(b'\n')?;
            self.line.splice(.., *b"?\n");
        }
        Ok(Some(&self.line))
    }
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
}
