//! Makes untrusted names safe to print.

use std::fmt::{self, Write};

/// Displays bytes as text that cannot control a terminal. Different bytes give different text.
pub(crate) struct Escaped<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(self.0.len());
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    '\\' => text.push_str("\\\\"),
                    _ if needs_escape(character) => text.extend(character.escape_unicode()),
                    _ => text.push(character),
                }
            }
            for byte in chunk.invalid() {
                write!(text, "\\x{byte:02x}")?;
            }
        }
        f.pad(&text)
    }
}

/// Returns `true` for characters that must be escaped before text of a torrent is shown on a
/// terminal: control characters (Unicode's Cc), line separators, and characters that change the
/// direction of text, which can make `gpj.exe` look like `exe.jpg`.
pub fn needs_escape(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        for (bytes, text) in [
            (&b"plain name.txt"[..], "plain name.txt"),
            ("gr\u{fc}n \u{1f600}".as_bytes(), "gr\u{fc}n \u{1f600}"),
            (b"\x1b[2J\n\t", "\\u{1b}[2J\\u{a}\\u{9}"),
            ("\u{7f}\u{9b}".as_bytes(), "\\u{7f}\\u{9b}"),
            (b"\xff\x9b\xc3", "\\xff\\x9b\\xc3"),
            (b"a\xc3(b", "a\\xc3(b"),
            (b"\\xff", "\\\\xff"),
            ("\u{202e}gpj.exe".as_bytes(), "\\u{202e}gpj.exe"),
        ] {
            assert_eq!(Escaped(bytes).to_string(), text);
        }
        assert_eq!(format!("{:>5}", Escaped(b"\xff")), " \\xff");
    }
}
