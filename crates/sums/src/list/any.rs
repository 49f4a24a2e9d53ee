//! Lists of unknown origin, in which each line shows its own format.

use std::borrow::Cow;

use hashlane_hashes::{Algorithm, Blake2bLen, Digest};

use super::entry::{Entry, Line};
use super::gnu::GnuLines;
use super::hashdeep::HashdeepLines;
use super::lines::without_end;
use super::mtree::MtreeLines;
use super::signed::SignedLines;

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

/// A reader of the lines of GNU coreutils, BSD and OpenSSL for all algorithms, of hashdeep, of mtree, of FastSum, and of SFV
/// files.
#[derive(Clone, Debug)]
pub struct AnyLines {
    /// Algorithms for lines that do not name one, in order of preference.
    preferred: Vec<Algorithm>,
    signed: SignedLines,
    /// Readers of the algorithms seen so far.
    gnu: Vec<(Algorithm, GnuLines)>,
    /// The reader of hashdeep lines, after a hashdeep header.
    hashdeep: Option<HashdeepLines>,
    /// The reader of a specification of mtree, after a line that only a specification has.
    mtree: Option<MtreeLines>,
    /// Whether the last line that has a single format is one of an SFV file.
    is_sfv: Option<bool>,
    /// The name of the next file in UTF-8, which FastSum writes in a comment.
    utf8_name: Option<Vec<u8>>,
    is_after_first_line: bool,
}

impl AnyLines {
    /// Returns a reader. A line that names no algorithm belongs to the first of `preferred` with
    /// digests of its length, BLAKE2b of any length among them, or else to MD5, SHA-1, SHA-2 or CRC-32.
    pub fn new(preferred: &[Algorithm]) -> Self {
        Self {
            preferred: preferred.to_vec(),
            signed: SignedLines::default(),
            gnu: Vec::new(),
            hashdeep: None,
            mtree: None,
            is_sfv: None,
            utf8_name: None,
            is_after_first_line: false,
        }
    }

    /// Reads a line, with or without its line feed or zero byte. A name before a zero byte has no escapes, as in the lists
    /// of `sha256sum --zero`. A byte order mark at the start of the first line is not part of it.
    ///
    /// The name in a line of an SFV file can start with as many hexadecimal digits as a digest has,
    /// for example with a date. Such a line has two readings, see [`Entry::alternatives`].
    pub fn read(&mut self, line: &[u8]) -> Line {
        let is_first = !std::mem::replace(&mut self.is_after_first_line, true);
        let (text, ends_with_zero) = without_end(line);
        let mark = text.strip_prefix("\u{feff}".as_bytes());
        let text = mark.filter(|_| is_first).unwrap_or(text);
        if text.contains(&0) {
            return Line::Improper;
        }
        let text = match self.signed.read(text) {
            Ok(text) => text,
            Err(line) => return line,
        };
        match self.read_text(text, ends_with_zero) {
            Line::Entry(entry) => Line::Entry(entry.with_slashes()),
            line => line,
        }
    }

    fn read_text(&mut self, text: &[u8], ends_with_zero: bool) -> Line {
        if let Some(header) = text.strip_prefix(b"%%%%") {
            return self.hashdeep.get_or_insert_default().read_header(header);
        }
        let is_free = self.hashdeep.is_none() && self.is_sfv.is_none();
        if self.mtree.is_none() && is_free && MtreeLines::is_first(text) {
            self.mtree = Some(MtreeLines::default());
        }
        if let Some(mtree) = &mut self.mtree {
            return mtree.read(text);
        }
        if text.is_empty() {
            return Line::Ignored;
        }
        if text.starts_with(b"#") {
            return self.comment(text);
        }
        if let Some(hashdeep) = &self.hashdeep {
            return hashdeep.read(text);
        }
        if let Some(comment) = text.strip_prefix(b";") {
            self.is_sfv = Some(true);
            let name = comment.strip_prefix(b" UTF8: ");
            self.utf8_name = name.map(|name| name.strip_prefix(b"*").unwrap_or(name).to_vec());
            return Line::Ignored;
        }
        let utf8_name = self.utf8_name.take();
        let sfv = read_sfv(text);
        let text = &*usual_form(text);
        let Some((algorithm, is_tagged)) = self.algorithm_of(text) else {
            self.is_sfv = sfv.as_ref().map(|_| true).or(self.is_sfv);
            return sfv.map_or(Line::Improper, Line::Entry);
        };
        let known = self.gnu.iter().position(|(known, _)| *known == algorithm);
        let known = known.unwrap_or_else(|| {
            self.gnu.push((algorithm, GnuLines::new(algorithm)));
            self.gnu.len() - 1
        });
        let mut reader = self.gnu[known].1.clone();
        match (reader.record(text, !ends_with_zero), sfv) {
            (Line::Entry(gnu), Some(sfv)) if !is_tagged => {
                let is_sfv = self.is_sfv.unwrap_or_else(|| {
                    // No program writes a single space after a CRC-32.
                    let after = text.get(2 * algorithm.digest_len() + 1);
                    algorithm == Algorithm::Crc32 && !matches!(after, Some(b' ' | b'*'))
                });
                let (first, second) = if is_sfv { (sfv, gnu) } else { (gnu, sfv) };
                Line::Entry(Entry {
                    alternatives: vec![second],
                    ..first
                })
            }
            (Line::Improper, Some(sfv)) => {
                self.is_sfv = Some(true);
                Line::Entry(sfv)
            }
            (mut line, _) => {
                if let Line::Entry(entry) = &mut line {
                    self.is_sfv = Some(false);
                    self.gnu[known].1 = reader;
                    if let Some(name) = utf8_name {
                        entry.name = name;
                    }
                }
                line
            }
        }
    }

    /// Reads a line that begins with `#`. Comments of an SFV file start with a semicolon.
    fn comment(&self, text: &[u8]) -> Line {
        match (self.is_sfv, read_sfv(text)) {
            (Some(true), Some(entry)) => Line::Entry(entry),
            (None, Some(_)) if self.hashdeep.is_none() => {
                Line::Unchecked("is a comment, or a file of an SFV list".into())
            }
            _ => Line::Ignored,
        }
    }

    /// Returns the algorithm of a GNU or BSD line, and whether the line names the algorithm.
    fn algorithm_of(&self, text: &[u8]) -> Option<(Algorithm, bool)> {
        let text = text.trim_ascii_start();
        let text = text.strip_prefix(b"\\").unwrap_or(text);
        let mut all = Algorithm::ALL.iter().copied();
        if let Some(tagged) = all.find(|algorithm| text.starts_with(algorithm.tag().as_bytes())) {
            return Some((tagged, true));
        }
        let n_digits = text.iter().take_while(|c| c.is_ascii_hexdigit()).count();
        let has_len = |algorithm: &Algorithm| 2 * algorithm.digest_len() == n_digits;
        let mut preferred = self.preferred.iter().copied();
        let has_blake2b = preferred
            .clone()
            .any(|algorithm| matches!(algorithm, Algorithm::Blake2b(_)));
        let blake2b = || {
            let len = Blake2bLen::from_bits(4 * n_digits as u64).filter(|_| has_blake2b);
            len.map(Algorithm::Blake2b)
        };
        let found = preferred.find(has_len).or_else(blake2b);
        Some((
            found.or_else(|| BY_LENGTH.into_iter().find(has_len))?,
            false,
        ))
    }
}

/// Returns a line of OpenSSL 3, `SHA2-256(name)= digest` or `BLAKE2B-512(name)= digest`, as BSD writes it, and a line without the
/// quotes of an entity tag at its start.
fn usual_form(text: &[u8]) -> Cow<'_, [u8]> {
    for (start, usual) in [(&b"SHA2-"[..], &b"SHA"[..]), (b"BLAKE2B-512(", b"BLAKE2b(")] {
        if let Some(rest) = text.strip_prefix(start) {
            return [usual, rest].concat().into();
        }
    }
    if let Some(quoted) = text.strip_prefix(b"\"") {
        let n_digits = quoted.iter().take_while(|c| c.is_ascii_hexdigit()).count();
        if let (digits, [b'"', rest @ ..]) = quoted.split_at(n_digits) {
            return [digits, rest].concat().into();
        }
    }
    text.into()
}

/// Parses a line of an SFV file: a name, a space, and a CRC-32.
fn read_sfv(text: &[u8]) -> Option<Entry> {
    let text = text.trim_ascii_end();
    let (name, digest) = text.split_at_checked(text.len().checked_sub(8)?)?;
    let digest = Digest::from_hex(digest)?;
    let name = match name {
        [name @ .., b' ' | b'\t'] => name.trim_ascii_end(),
        _ => return None,
    };
    (!name.is_empty()).then(|| Entry {
        name: name.to_vec(),
        digests: vec![(Algorithm::Crc32, digest)],
        len_bytes: None,
        alternatives: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &mut AnyLines, line: &str) -> Option<(String, Vec<Algorithm>, Option<u64>)> {
        match lines.read(line.as_bytes()) {
            Line::Entry(Entry {
                name,
                digests,
                len_bytes,
                alternatives,
            }) if alternatives.is_empty() => Some((
                String::from_utf8(name).expect("the names are ASCII"),
                digests
                    .into_iter()
                    .map(|(algorithm, _)| algorithm)
                    .collect(),
                len_bytes,
            )),
            Line::Entry(_) | Line::Ignored | Line::Unchecked(_) | Line::Improper => None,
        }
    }

    /// Returns the names of all readings of a line.
    fn names(lines: &mut AnyLines, line: &str) -> Vec<String> {
        let Line::Entry(entry) = lines.read(line.as_bytes()) else {
            return Vec::new();
        };
        let others = entry.alternatives.into_iter().map(|other| other.name);
        std::iter::once(entry.name)
            .chain(others)
            .map(|name| String::from_utf8(name).expect("the names are ASCII"))
            .collect()
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
                format!("SHA2-256(a)= {hex64}"),
                entry("a", Algorithm::Sha256),
            ),
            (format!("SHA2-512/256(a)= {hex64}"), None),
            (
                format!("BLAKE2B-512(a)= {hex64}{hex64}"),
                entry("a", Algorithm::Blake2b(Blake2bLen::MAX)),
            ),
            (format!("\"{hex32}\"  a"), entry("a", Algorithm::Md5)),
            (format!("\"{hex32}  a"), None),
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
    fn a_name_that_starts_with_hexadecimal_digits_gives_two_readings() {
        let hex32 = "1".repeat(32);
        let (line, crc_line) = (format!("{hex32}  a 3610A686"), "20240101  a 3610A686");
        let sfv_line = "20240101 a 3610A686";
        let (sfv, gnu) = ("20240101 a", "a 3610A686");
        let mut lines = AnyLines::new(&[]);
        // Without other lines, the number of spaces decides.
        assert_eq!(names(&mut lines, sfv_line), [sfv, gnu]);
        assert_eq!(names(&mut lines, crc_line), [gnu, "20240101  a"]);
        let md5_sfv = format!("{hex32}  a");
        assert_eq!(names(&mut lines, &line), [gnu, &md5_sfv]);
        // A line that is certain decides for those after it.
        assert_eq!(names(&mut lines, "b 71BEEFF9"), ["b"]);
        assert_eq!(names(&mut lines, &line), [&md5_sfv, gnu]);
        assert_eq!(names(&mut lines, crc_line), ["20240101  a", gnu]);
        assert_eq!(names(&mut lines, "71BEEFF9  b"), ["b"]);
        assert_eq!(names(&mut lines, sfv_line), [sfv]);
        // A line with the name of its algorithm has one reading.
        assert_eq!(names(&mut lines, "CRC32 (a) = 3610A686"), ["a"]);
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_first_line() {
        for (line, name) in [("a 3610A686", "a"), ("71BEEFF9  b", "b")] {
            let mut lines = AnyLines::new(&[]);
            assert_eq!(names(&mut lines, &format!("\u{feff}{line}")), [name]);
        }
        let mut lines = AnyLines::new(&[]);
        assert_eq!(
            lines.read("\u{feff}; made on Windows".as_bytes()),
            Line::Ignored
        );
        assert_eq!(names(&mut lines, "\u{feff}a 3610A686"), ["\u{feff}a"]);
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
