//! Extracts a string from a longer text: a URL, a quotation, or groups of characters.

use zeroize::Zeroizing;

use crate::error::SearchError;

/// Minimum length of a string in a text with other words. Every address is longer, and nearly all words and host names'
/// labels are shorter.
const MIN_LEN: usize = 20;

/// A part of the text between characters that end a field, as a list of groups.
type Field = Vec<Group>;

/// Characters without a separator. A set such as `[abc]` counts as one character.
#[derive(Default)]
struct Group {
    text: Zeroizing<String>,
    len: usize,
}

/// Returns the string in a text: without quotes, without the URL around it, and with its groups joined. A text without
/// such additions, or without a string, is returned as it is.
///
/// # Errors
/// [`SearchError::SeveralStrings`] if the text contains several different strings.
pub fn extract(text: &str) -> Result<Zeroizing<String>, SearchError> {
    let text = text.trim();
    let whole = || Ok(Zeroizing::new(text.to_owned()));
    let Some(fields) = fields(text) else {
        return whole();
    };
    if let [field] = &fields[..]
        && field.iter().all(|group| group.len < MIN_LEN)
    {
        return Ok(joined(field));
    }
    let mut strings: Vec<Zeroizing<String>> = Vec::new();
    for string in fields.iter().flat_map(strings_of) {
        // A URL can contain the same string twice.
        if !strings.contains(&string) {
            strings.push(string);
        }
    }
    if strings.len() > 1 {
        let found = strings.len();
        return Err(SearchError::SeveralStrings { found });
    }
    strings.pop().map_or_else(whole, Ok)
}

/// Returns the strings in a field: its long groups, or all groups joined if all of them are short.
fn strings_of(field: &Field) -> Vec<Zeroizing<String>> {
    let long = field.iter().filter(|group| group.len >= MIN_LEN);
    let long: Vec<_> = long.map(|group| group.text.clone()).collect();
    let strings = if long.is_empty() {
        let len: usize = field.iter().map(|group| group.len).sum();
        let joined = (len >= MIN_LEN).then(|| joined(field));
        joined.into_iter().collect()
    } else {
        long
    };
    // Words have no digits. Nearly every string has some.
    let is_word = |text: &str| text.chars().all(char::is_alphabetic);
    strings.into_iter().filter(|text| !is_word(text)).collect()
}

fn joined(field: &Field) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::new());
    for group in field {
        text.push_str(&group.text);
    }
    text
}

/// Returns the fields of a text that are not empty, or `None` if a set has no end.
fn fields(text: &str) -> Option<Vec<Field>> {
    let mut fields: Vec<Field> = vec![vec![Group::default()]];
    let mut rest = text;
    // The query of a URI with a scheme such as `bitcoin:` holds labels and amounts.
    let is_page = text.contains("://");
    while let Some(c) = rest.chars().next() {
        let is_query = is_query(rest);
        if is_query && !is_page {
            break;
        }
        let len = match c {
            '[' => rest.find(']')? + 1,
            _ => c.len_utf8(),
        };
        let is_damage = !is_page && is_damage(&text[..text.len() - rest.len()], rest);
        if is_query || ends_field(c) && !is_damage {
            fields.push(vec![Group::default()]);
        } else if let Some(field) = fields.last_mut() {
            if separates_groups(c) {
                field.push(Group::default());
            } else if let Some(group) = field.last_mut() {
                group.text.push_str(&rest[..len]);
                group.len += 1;
            }
        }
        rest = &rest[len..];
    }
    for field in &mut fields {
        field.retain(|group| group.len > 0);
    }
    fields.retain(|field| !field.is_empty());
    Some(fields)
}

/// Returns `true` if a text starts with the query of a URL, as in `?amount=1`. Any other `?` is an unknown character.
fn is_query(text: &str) -> bool {
    let Some(query) = text.strip_prefix('?') else {
        return false;
    };
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let value = query.trim_start_matches(is_of_name);
    value.len() < query.len() && value.starts_with('=')
}

/// Returns `true` if `rest` starts with a character that text recognition writes for others, between two characters of a
/// word.
fn is_damage(before: &str, rest: &str) -> bool {
    let is_of_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let after = rest.strip_prefix(['#', '*', '+', '~']);
    after.is_some_and(|after| {
        is_of_word(before.chars().next_back()) && is_of_word(after.chars().next())
    })
}

/// Returns `true` for a character of URLs, quotations and sentences that no string has, not even a damaged one.
fn ends_field(c: char) -> bool {
    "/\\:&=@.,;#<>(){}\"'`*%+~".contains(c) || "«»‹›“”„‟‘’‚‛「」".contains(c)
}

/// Returns `true` for a character between groups of characters.
fn separates_groups(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || "-_·".contains(c)
        // The soft hyphen, characters without a width, hyphens and dashes.
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2010}'..='\u{2015}' | '\u{2060}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71";

    #[test]
    fn a_string_in_a_text() {
        for text in [
            "bitcoin:1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71",
            "bitcoin:1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71?amount=0.1&label=my%20own%20label%20of%20words%201",
            "https://example.com/btc/address/1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71?page=2#top",
            "https://example.com/?address=1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71",
            "http://1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71.onion/",
            "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71.example.onion",
            "https://a.org/1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71/1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71",
            "\"1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71\"",
            "  “1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71”, ",
            "<1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71>.",
            "1Lbc fr7s AHTD 9Cgd Qo3H TMTk V8LK 4ZnX 71",
            "1Lbcfr7sAH-TD9CgdQo3H\u{a0}TMTkV8LK4\u{200b}ZnX71",
            "1Lbcfr7sAHTD9CgdQ\n  o3HTMTkV8LK4ZnX71",
            "Address: 1Lbc fr7s AHTD 9Cgd Qo3H TMTk V8LK 4ZnX 71",
            "please pay to 1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71 today",
            TEXT,
        ] {
            assert_eq!(**extract(text).as_ref().unwrap(), *TEXT, "{text}");
        }
    }

    #[test]
    fn unknown_characters_are_kept() {
        for (text, string) in [
            (
                "bitcoin:1Lbcfr7s?HTD9CgdQo3H?MTkV8LK4ZnX71?amount=1",
                "1Lbcfr7s?HTD9CgdQo3H?MTkV8LK4ZnX71",
            ),
            (
                "'1Lb[ .:c]fr7s AHTD9CgdQo3H TMTkV8LK4 ZnX7?'",
                "1Lb[ .:c]fr7sAHTD9CgdQo3HTMTkV8LK4ZnX7?",
            ),
            (
                "address: 1Lbcfr7sAHTD9CgdQo3HTM#kV8LK4ZnX71",
                "1Lbcfr7sAHTD9CgdQo3HTM#kV8LK4ZnX71",
            ),
            ("#**1Lb#c**", "1Lb#c"),
            ("1Lb[c", "1Lb[c"),
            ("1A", "1A"),
            ("\"1A\"", "1A"),
            ("", ""),
            ("...", "..."),
            ("https://example.com/", "https://example.com/"),
        ] {
            assert_eq!(**extract(text).as_ref().unwrap(), *string, "{text}");
        }
    }

    #[test]
    fn several_strings_are_not_chosen_from() {
        let text = format!("https://example.com/{TEXT}/{}", TEXT.to_lowercase());
        let error = extract(&text).unwrap_err().to_string();
        assert!(error.starts_with("found 2 strings"), "{error}");
    }
}
