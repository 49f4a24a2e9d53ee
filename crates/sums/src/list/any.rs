//! Lists of unknown origin, in which each line shows its own format.

use super::entry::Line;
use super::gnu::GnuLines;
use super::hashdeep::HashdeepLines;
use super::sfv;
use crate::algorithm::Algorithm;

/// Algorithms by digest length, for lines that do not name an algorithm.
const BY_LENGTH: [Algorithm; 7] = [
    Algorithm::Crc32,
    Algorithm::Md5,
    Algorithm::Sha1,
    Algorithm::Sha224,
    Algorithm::Sha256,
    Algorithm::Sha384,
    Algorithm::Sha512,
];

/// A reader of the lines of GNU coreutils and BSD for all algorithms, of hashdeep, and of SFV
/// files.
#[derive(Clone, Debug)]
pub struct AnyLines {
    /// Algorithms for lines that do not name one, in order of preference.
    by_length: Vec<Algorithm>,
    /// Readers of the algorithms seen so far.
    gnu: Vec<(Algorithm, GnuLines)>,
    /// The reader of hashdeep lines, after a hashdeep header.
    hashdeep: Option<HashdeepLines>,
}

impl AnyLines {
    /// Returns a reader. A line that names no algorithm belongs to the first of `preferred` with
    /// digests of its length, or else to MD5, SHA-1, SHA-2 or CRC-32.
    pub fn new(preferred: &[Algorithm]) -> Self {
        Self {
            by_length: [preferred, &BY_LENGTH].concat(),
            gnu: Vec::new(),
            hashdeep: None,
        }
    }

    /// Reads a line, with or without its line feed.
    pub fn read(&mut self, line: &[u8]) -> Line {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if let Some(header) = text.strip_prefix(b"%%%%") {
            self.hashdeep.get_or_insert_default().read_header(header);
            return Line::Ignored;
        }
        if text.is_empty() || text.starts_with(b"#") {
            return Line::Ignored;
        }
        if let Some(hashdeep) = &self.hashdeep {
            return hashdeep.read(text).map_or(Line::Improper, Line::Entry);
        }
        if let Some(algorithm) = self.algorithm_of(text) {
            let known = self.gnu.iter().position(|(known, _)| *known == algorithm);
            let known = known.unwrap_or_else(|| {
                self.gnu.push((algorithm, GnuLines::new(algorithm)));
                self.gnu.len() - 1
            });
            let line = self.gnu[known].1.read(text);
            if line != Line::Improper {
                return line;
            }
        }
        if text.starts_with(b";") {
            return Line::Ignored;
        }
        sfv::read(text).map_or(Line::Improper, Line::Entry)
    }

    /// Returns the algorithm of a GNU or BSD line.
    fn algorithm_of(&self, text: &[u8]) -> Option<Algorithm> {
        let text = text.trim_ascii_start();
        let text = text.strip_prefix(b"\\").unwrap_or(text);
        let mut all = Algorithm::ALL.into_iter();
        if let Some(tagged) = all.find(|algorithm| text.starts_with(algorithm.tag().as_bytes())) {
            return Some(tagged);
        }
        let n_digits = text.iter().take_while(|c| c.is_ascii_hexdigit()).count();
        let mut algorithms = self.by_length.iter().copied();
        algorithms.find(|algorithm| 2 * algorithm.digest_len() == n_digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::Entry;

    fn read(lines: &mut AnyLines, line: &str) -> Option<(String, Vec<Algorithm>, Option<u64>)> {
        match lines.read(line.as_bytes()) {
            Line::Entry(Entry {
                name,
                digests,
                len_bytes,
            }) => Some((
                String::from_utf8(name).expect("the names are ASCII"),
                digests
                    .into_iter()
                    .map(|(algorithm, _)| algorithm)
                    .collect(),
                len_bytes,
            )),
            Line::Ignored | Line::Improper => None,
        }
    }

    #[test]
    fn lines_show_their_formats() {
        let (hex32, hex40, hex64) = ("1".repeat(32), "2".repeat(40), "3".repeat(64));
        let entry = |name: &str, algorithm| Some((name.to_owned(), vec![algorithm], None));
        let mut lines = AnyLines::new(&[Algorithm::Blake3]);
        for (line, expected) in [
            (format!("{hex32}  a"), entry("a", Algorithm::Md5)),
            (format!("{hex40} *a b"), entry("a b", Algorithm::Sha1)),
            (format!("{hex64}  a"), entry("a", Algorithm::Blake3)),
            (
                format!("SHA256 (a) = {hex64}\r\n"),
                entry("a", Algorithm::Sha256),
            ),
            (format!("SHA1(a)= {hex40}"), entry("a", Algorithm::Sha1)),
            (
                "some name.txt 1234ABCD".into(),
                entry("some name.txt", Algorithm::Crc32),
            ),
            ("; comment".into(), None),
            ("# comment".into(), None),
            ("name 1234ABC".into(), None),
            ("name 1234ABCG".into(), None),
            (hex32.clone(), None),
        ] {
            assert_eq!(read(&mut lines, &line), expected, "{line}");
        }
    }

    #[test]
    fn lines_of_hashdeep_have_the_columns_of_their_header() {
        let mut lines = AnyLines::new(&[]);
        let (md5, sha256) = ("1".repeat(32), "3".repeat(64));
        for (line, expected) in [
            ("%%%% HASHDEEP-1.0".to_owned(), None),
            ("%%%% size,md5,sha256,tiger,filename".into(), None),
            ("## Invoked from: /".into(), None),
            (
                format!("12,{md5},{sha256},x,/a,b"),
                Some((
                    "/a,b".to_owned(),
                    vec![Algorithm::Md5, Algorithm::Sha256],
                    Some(12),
                )),
            ),
            (format!("x,{md5},{sha256},x,/a"), None),
            (format!("12,{md5},{md5},x,/a"), None),
            (format!("12,{md5},{sha256}"), None),
        ] {
            assert_eq!(read(&mut lines, &line), expected, "{line}");
        }
    }
}
