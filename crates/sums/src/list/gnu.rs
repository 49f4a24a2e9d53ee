//! Lines of GNU coreutils: `digest  name`, `digest *name`, and BSD lines `SHA1 (name) = digest`.
//! Names that contain a backslash, a line feed or a carriage return are escaped, and their lines
//! start with a backslash.

use std::fmt;
use std::io::Write as _;

use hashlane_hashes::{Algorithm, Blake2bLen, Digest};

use super::entry::{Entry, Line};
use crate::name::{escape, needs_escape, unescape};

/// A reader that accepts lines of one algorithm as `sha1sum --check` and its siblings do.
#[derive(Clone, Debug)]
pub struct GnuLines {
    algorithm: Algorithm,
    /// Whether lines have one space between digest and name (`md5 -r` on BSD). The first line
    /// decides. If both forms could occur in a list, a line could be read as another file, whose
    /// name starts with a space or an asterisk.
    is_reversed: Option<bool>,
}

impl GnuLines {
    /// Returns a reader for lines of an algorithm. With [`Algorithm::Blake2b`], digests may have
    /// any length.
    pub fn new(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            is_reversed: None,
        }
    }

    /// Reads a line, with or without its line feed.
    pub fn read(&mut self, line: &[u8]) -> Line {
        if line.starts_with(b"#") {
            return Line::Ignored;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return Line::Ignored;
        }
        self.record(line, true)
    }

    /// Reads a line without its end. With `may_escape`, a backslash at its start shows that the name has escapes.
    pub(super) fn record(&mut self, line: &[u8], may_escape: bool) -> Line {
        let text = without_blanks(line);
        let (text, is_escaped) = match text.strip_prefix(b"\\") {
            Some(text) if may_escape => (text, true),
            _ => (text, false),
        };
        let found = if text.starts_with(self.algorithm.tag().as_bytes()) {
            self.tagged(text, is_escaped)
        } else {
            self.plain(text, is_escaped)
        };
        found.map_or(Line::Improper, |(name, algorithm, digest)| {
            Line::Entry(Entry {
                name,
                digests: vec![(algorithm, digest)],
                len_bytes: None,
                alternatives: Vec::new(),
            })
        })
    }

    fn tagged(&self, text: &[u8], is_escaped: bool) -> Option<(Vec<u8>, Algorithm, Digest)> {
        let mut rest = &text[self.algorithm.tag().len()..];
        let mut algorithm = self.algorithm;
        if let Algorithm::Blake2b(_) = algorithm {
            algorithm = Algorithm::Blake2b(Blake2bLen::MAX);
            match rest {
                [b'-', length @ ..] => {
                    let (bits, after) = c_number(length)?;
                    algorithm = Algorithm::Blake2b(Blake2bLen::from_bits(bits)?);
                    rest = after;
                }
                [b'(', ..] | [] => {}
                // GNU b2sum accepts any byte here.
                [_, after @ ..] => rest = after,
            }
        }
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let rest = rest.strip_prefix(b"(")?;
        let end = rest.iter().rposition(|c| *c == b')')?;
        let name = name_of(&rest[..end], is_escaped)?;
        let digest = without_blanks(&rest[end + 1..]);
        let digest = without_blanks(digest.strip_prefix(b"=")?);
        Some((name, algorithm, digest_of(until_zero(digest), algorithm)?))
    }

    fn plain(&mut self, text: &[u8], is_escaped: bool) -> Option<(Vec<u8>, Algorithm, Digest)> {
        let n_digits = match self.algorithm {
            Algorithm::Blake2b(_) => text.iter().take_while(|c| c.is_ascii_hexdigit()).count(),
            algorithm => 2 * algorithm.digest_len(),
        };
        let algorithm = match self.algorithm {
            Algorithm::Blake2b(_) => {
                Algorithm::Blake2b(Blake2bLen::from_bits(4 * n_digits as u64)?)
            }
            algorithm => algorithm,
        };
        let (digest, rest) = text.split_at_checked(n_digits)?;
        let [b' ' | b'\t', rest @ ..] = rest else {
            return None;
        };
        let digest = digest_of(digest, algorithm)?;
        let name = match rest {
            // GNU b2sum has no minimum line length, and accepts this line with an empty name.
            [] if !matches!(algorithm, Algorithm::Blake2b(_)) => return None,
            [b' ' | b'*', name @ ..] if !name.is_empty() => {
                if self.is_reversed == Some(true) {
                    rest
                } else {
                    self.is_reversed = Some(false);
                    name
                }
            }
            rest => {
                if self.is_reversed == Some(false) {
                    return None;
                }
                self.is_reversed = Some(true);
                rest
            }
        };
        Some((name_of(name, is_escaped)?, algorithm, digest))
    }
}

/// Parses a number as C's `strtoull` does, in the base that its prefix names. Returns the number
/// and the text after it.
fn c_number(text: &[u8]) -> Option<(u64, &[u8])> {
    let is_blank = |c: &u8| matches!(c, b' ' | b'\t'..=b'\r');
    let start = text.iter().position(|c| !is_blank(c))?;
    let text = text[start..].strip_prefix(b"+").unwrap_or(&text[start..]);
    let (digits, base) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', ..] => (text, 8),
        _ => (text, 10),
    };
    let end = digits.iter().position(|c| !char::from(*c).is_digit(base));
    let (digits, rest) = digits.split_at(end.unwrap_or(digits.len()));
    let number = u64::from_str_radix(str::from_utf8(digits).ok()?, base).ok()?;
    Some((number, rest))
}

/// Returns the name that a list contains in this form. An unescaped name ends at a zero byte, which
/// no name contains.
pub(super) fn name_of(text: &[u8], is_escaped: bool) -> Option<Vec<u8>> {
    if is_escaped {
        return unescape(text);
    }
    Some(until_zero(text).to_vec())
}

fn until_zero(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| *byte == 0);
    &text[..end.unwrap_or(text.len())]
}

fn digest_of(text: &[u8], algorithm: Algorithm) -> Option<Digest> {
    let has_length = text.len() == 2 * algorithm.digest_len();
    has_length.then(|| Digest::from_hex(text)).flatten()
}

/// Returns the text after leading spaces and tabs. Other white space is kept.
pub(super) fn without_blanks(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|c| !matches!(c, b' ' | b'\t'));
    &text[start.unwrap_or(text.len())..]
}

/// The form of a line. Lists of GNU coreutils have no other properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineStyle {
    /// `SHA1 (name) = digest` instead of `digest  name`.
    pub is_tagged: bool,
    /// Whether an asterisk precedes the name, which marks files read in binary mode.
    pub is_binary: bool,
    /// Whether lines end with a zero byte and names are not escaped.
    pub ends_with_zero: bool,
}

/// Appends a line for a file to `out`. `algorithm` and `digest` are written as they are: an [`Algorithm`] and a
/// [`Digest`], or texts of other formats without spaces.
pub fn write_line(
    out: &mut Vec<u8>,
    style: LineStyle,
    algorithm: impl fmt::Display,
    digest: impl fmt::Display,
    name: &[u8],
) {
    let is_escaped = !style.ends_with_zero && needs_escape(name);
    if is_escaped {
        out.push(b'\\');
    }
    let write_name = |out: &mut Vec<u8>| {
        if is_escaped {
            escape(name, out);
        } else {
            out.extend(name);
        }
    };
    // Writing to a vector cannot fail.
    if style.is_tagged {
        let _ = write!(out, "{algorithm} (");
        write_name(out);
        let _ = write!(out, ") = {digest}");
    } else {
        let mode = if style.is_binary { '*' } else { ' ' };
        let _ = write!(out, "{digest} {mode}");
        write_name(out);
    }
    out.push(if style.ends_with_zero { 0 } else { b'\n' });
}
