//! Text that is borrowed from a .torrent file.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};

/// Text of a .torrent file. The text is not copied. Bytes that are not UTF-8 are replaced by `U+FFFD` when the text is
/// read or displayed.
///
/// Control characters are kept: escape the text before you print it.
#[derive(Clone, Copy)]
pub struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns `true` if the text has no characters.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Returns the characters.
    pub fn chars(self) -> impl Iterator<Item = char> + Clone + 'a {
        self.0.utf8_chunks().flat_map(|chunk| {
            let replacement = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
            chunk.valid().chars().chain(replacement)
        })
    }

    /// Returns the text without surrounding white space, which some programs write.
    pub(super) fn trimmed(self) -> Self {
        let Self(bytes) = self;
        let first = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let bytes = &bytes[first.len() - first.trim_start().len()..];
        let last = bytes.utf8_chunks().last();
        let last = last.filter(|chunk| chunk.invalid().is_empty());
        let last = last.map_or("", |chunk| chunk.valid());
        Self(&bytes[..bytes.len() - (last.len() - last.trim_end().len())])
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Text<'_> {}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.chars().cmp(other.chars())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_trims_like_a_copy() {
        let ends: [&[u8]; 6] = [
            b"",
            b" ",
            b"\xff",
            b" \xff ",
            "\u{2003}a ".as_bytes(),
            b"\xe2\x80",
        ];
        for first in ends {
            for last in ends {
                let bytes = [first, b"x\xc0y", last].concat();
                for bytes in [&bytes[..], first, last] {
                    let copy = String::from_utf8_lossy(bytes);
                    let text = Text::new(bytes);
                    assert_eq!(text.to_string(), copy);
                    assert_eq!(text.chars().collect::<String>(), copy);
                    assert_eq!(text.trimmed().to_string(), copy.trim());
                }
            }
        }
    }
}
