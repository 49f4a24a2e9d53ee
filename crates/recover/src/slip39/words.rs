//! Damaged lists of words: which words are listed, and what the others can be.

use zeroize::Zeroizing;

/// The words of the standard by value, one per line.
const LIST: &str = include_str!("words.txt");

/// Numbers of words of damaged texts. A share has at least 20, and 59 if the secret has 64 bytes.
const LENS: std::ops::RangeInclusive<usize> = 19..=60;

/// Maximum distance of a misspelled word from a listed one.
const NEAR: usize = 2;

/// Maximum number of characters of a word whose distance is computed.
const MAX_WORD_LEN: usize = 16;

/// A word of a text in lower case.
#[derive(Clone)]
pub(super) struct Word<'t> {
    pub(super) written: &'t str,
    /// The value, if the word is listed.
    pub(super) value: Option<u16>,
    /// The values of the listed words that are closest to one that is not listed.
    pub(super) near: Zeroizing<Vec<u16>>,
}

fn list() -> impl Iterator<Item = (&'static str, u16)> {
    LIST.lines().zip(0..)
}

/// Returns the word of a value.
pub(super) fn word(value: u16) -> &'static str {
    LIST.lines().nth(value.into()).unwrap_or_default()
}

impl<'t> Word<'t> {
    pub(super) const UNKNOWN: &'static str = "?";

    pub(super) fn new(written: &'t str) -> Self {
        // The first four letters of a listed word are unique.
        let is_start = |word: &str| written.len() == 4 && word.starts_with(written);
        let value = list().find(|(word, _)| *word == written || is_start(word));
        let value = value.map(|(_, value)| value);
        let mut near = Zeroizing::new(Vec::new());
        if value.is_none() && written.len() <= MAX_WORD_LEN && !written.starts_with('?') {
            let mut closest = NEAR;
            for (word, value) in list() {
                let distance = distance(written, word);
                if distance < closest {
                    near.clear();
                }
                if distance <= closest {
                    closest = distance;
                    near.push(value);
                }
            }
        }
        Self {
            written,
            value,
            near,
        }
    }

    /// Returns the number of wrong letters if the word is `value`, at least 1 for another listed word.
    pub(super) fn distance(&self, value: u16) -> usize {
        match self.value {
            Some(written) if written == value => 0,
            _ if self.written.len() > MAX_WORD_LEN => MAX_WORD_LEN,
            _ if self.written == Self::UNKNOWN => 0,
            _ => distance(self.written, word(value)),
        }
    }
}

/// Returns the words of a text in lower case, without numbers and punctuation around them. `None` if most are not listed.
pub(super) fn words(lower: &str) -> Option<Vec<Word<'_>>> {
    let tokens = lower.split_whitespace();
    let tokens = tokens.map(|token| token.trim_matches(|c: char| !c.is_alphabetic() && c != '?'));
    let tokens = tokens.map(|token| {
        if token.starts_with('?') {
            Word::UNKNOWN
        } else {
            token
        }
    });
    let tokens = tokens.filter(|token| !token.is_empty());
    let tokens: Vec<&str> = tokens.take(LENS.end() + 1).collect();
    if !LENS.contains(&tokens.len()) {
        return None;
    }
    let words: Vec<Word<'_>> = tokens.into_iter().map(Word::new).collect();
    let n_listed = words.iter().filter(|word| word.value.is_some()).count();
    let is_misspelled = |word: &&Word<'_>| word.value.is_none() && word.written != Word::UNKNOWN;
    let n_misspelled = words.iter().filter(is_misspelled).count();
    (n_listed >= 3 * n_misspelled && 2 * n_listed > words.len()).then_some(words)
}

/// Returns the texts after at most `errors` edits that move words: one missing, extra or exchanged word. The number of edits and
/// the position of a missing word are stated.
pub(super) fn moved<'t>(
    words: &[Word<'t>],
    errors: u8,
) -> impl Iterator<Item = (Vec<Word<'t>>, u32, Option<usize>)> {
    let positions = 0..(words.len() + 1) * usize::from(errors.min(1));
    let moved = positions.flat_map(|position| {
        let mut longer = words.to_vec();
        longer.insert(position, Word::new(Word::UNKNOWN));
        let mut all = vec![(longer, 1, Some(position))];
        if position < words.len() {
            let mut shorter = words.to_vec();
            shorter.remove(position);
            all.push((shorter, 1, None));
        }
        if position + 1 < words.len() && words[position].written != words[position + 1].written {
            let mut exchanged = words.to_vec();
            exchanged.swap(position, position + 1);
            all.push((exchanged, 1, None));
        }
        all
    });
    std::iter::once((words.to_vec(), 0, None)).chain(moved)
}

/// Returns the number of edits of letters between a word and a listed one, in which `?` is any letter.
fn distance(written: &str, word: &str) -> usize {
    let mut row: Vec<usize> = (0..=word.len()).collect();
    for (i, a) in written.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in word.chars().enumerate() {
            let replaced = diagonal + usize::from(a != b && a != '?');
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[word.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_1024_words_with_different_starts() {
        let starts: std::collections::BTreeSet<&str> = list().map(|(word, _)| &word[..4]).collect();
        assert_eq!((list().count(), starts.len()), (1024, 1024));
        assert!(list().map(|(word, _)| word).is_sorted());
    }

    #[test]
    fn near_words() {
        for (written, near) in [
            ("acadmic", vec!["academic"]),
            ("ac?d", vec!["acid"]),
            ("acix", vec!["acid"]),
            ("zzzzzz", vec![]),
        ] {
            let found: Vec<&str> = Word::new(written)
                .near
                .iter()
                .map(|value| word(*value))
                .collect();
            assert_eq!(found, near, "{written}");
        }
        assert_eq!(Word::new("acad").value, Some(0));
    }
}
