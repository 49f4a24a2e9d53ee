//! Texts in the columns of a terminal.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The replacement for removed characters.
const ELLIPSIS: &str = "…";

/// Returns the number of columns that a text takes.
pub fn columns_of(text: &str) -> usize {
    text.width()
}

/// Returns a text in at most `columns` columns: an ellipsis replaces characters in its middle, so that its start and its
/// end, which has the extension of a file, remain.
pub fn shortened(text: &str, columns: usize) -> Cow<'_, str> {
    if columns_of(text) <= columns {
        return text.into();
    }
    let kept = columns.saturating_sub(columns_of(ELLIPSIS));
    let start = fitting(text.chars(), kept.div_ceil(2));
    let end = fitting(text.chars().rev(), kept / 2);
    let is_combining = |character: char| character.width() == Some(0);
    // Combining characters would apply to the ellipsis.
    let end = text[text.len() - end..].trim_start_matches(is_combining);
    format!("{}{ELLIPSIS}{end}", &text[..start]).into()
}

/// Returns the number of bytes of the first characters that fit into `columns` columns.
fn fitting(characters: impl Iterator<Item = char>, columns: usize) -> usize {
    let mut used = 0;
    characters
        .take_while(|character| {
            used += character.width().unwrap_or(0);
            used <= columns
        })
        .map(char::len_utf8)
        .sum()
}

/// Returns the words of a text in lines of at most `columns` columns. A longer word has a line of its own.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if columns_of(line) + 1 + columns_of(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_text_is_removed() {
        for (text, columns, expected) in [
            ("holiday.mkv", 11, "holiday.mkv"),
            ("holiday.mkv", 10, "holid….mkv"),
            ("holiday.mkv", 9, "holi….mkv"),
            ("holiday.mkv", 1, "…"),
            ("", 0, ""),
            // Wide characters, and one that takes no column.
            ("日本語日本語", 7, "日…語"),
            ("e\u{301}e\u{301}e\u{301}e\u{301}", 3, "e\u{301}…e\u{301}"),
        ] {
            let found = shortened(text, columns);
            assert_eq!(found, expected, "{text} in {columns}");
            assert!(columns_of(&found) <= columns.max(1), "{text} in {columns}");
        }
    }

    #[test]
    fn words_are_wrapped() {
        assert_eq!(
            wrapped("a bb ccc dddddd e", 5),
            ["a bb", "ccc", "dddddd", "e"]
        );
        assert_eq!(wrapped("", 5), [""]);
    }
}
