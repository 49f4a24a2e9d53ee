//! A damaged text as one set of digits per position.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::check::{Alphabet, BASE};
use crate::damage::{Damage, Gap, MAX_ERRORS, MAX_GAP};

/// The maximum number of characters in a pattern. No supported string is longer.
pub const MAX_PATTERN_LEN: usize = 80;

/// Groups of characters that people and text recognition mistake for each other. Some letters look alike in both cases.
const CONFUSABLE: [&str; 13] = [
    "0OoQD", "1Il|i!", "5Ss", "8B", "2Zz", "6Gb", "9gq", "UuVv", "Cc", "Kk", "Pp", "Ww", "Xx",
];

/// The reason why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The text is empty.
    #[error("there are no characters")]
    Empty,
    /// The text has more characters than any string.
    #[error("{found} characters exceed the maximum of {MAX_PATTERN_LEN}")]
    TooLong {
        /// Number of characters in the text.
        found: usize,
    },
    /// More characters match no digit than [`Damage::errors`] allows.
    #[error("character {} is {character:?}, {}{}", position + 1, which(*n_impossible), hint(looks_like, *n_impossible))]
    Character {
        /// The position of the first such character, from 0. A set counts as one character.
        position: usize,
        /// The character that was given at this position.
        character: char,
        /// The characters that [`Damage::glyphs`] would accept in its place.
        looks_like: String,
        /// The number of such characters, and the number of errors that would allow all of them.
        n_impossible: usize,
    },
    /// A `[` has no matching `]`.
    #[error("character {}: the set has no end", position + 1)]
    OpenSet {
        /// The position of the `[`, from 0. A set counts as one character.
        position: usize,
    },
    /// The number of errors at unknown positions exceeds the maximum.
    #[error("{found} errors at unknown positions exceed the maximum of {MAX_ERRORS}")]
    Errors {
        /// The requested number of errors at unknown positions.
        found: u8,
    },
}

fn which(n_impossible: usize) -> String {
    match n_impossible {
        1 => "which no such string has".to_owned(),
        n => format!("the first of {n} that no such string has"),
    }
}

fn hint(looks_like: &str, n_impossible: usize) -> String {
    let characters: Vec<String> = looks_like.chars().map(|c| format!("{c:?}")).collect();
    let as_glyph = match &characters[..] {
        [] => String::new(),
        _ => format!("; with glyphs it is read as {}", characters.join(" or ")),
    };
    let errors = if n_impossible == 1 { "error" } else { "errors" };
    format!("{as_glyph}; with {n_impossible} {errors} as any character")
}

/// The possible digits of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DigitSet(u64);

impl DigitSet {
    const ANY: Self = Self((1 << BASE) - 1);

    pub(crate) fn none() -> Self {
        Self(0)
    }

    pub(crate) fn has(self, digit: u8) -> bool {
        self.0 >> digit & 1 == 1
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn without(self, digit: u8) -> Self {
        Self(self.0 & !(1 << digit))
    }

    pub(crate) fn only(digit: u8) -> Self {
        Self(1 << digit)
    }

    pub(crate) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns the number of digits in the set that are less than `digit`.
    pub(crate) fn n_below(self, digit: u8) -> usize {
        Self(self.0 & ((1 << digit) - 1)).len()
    }

    /// Returns `true` if the set contains a digit from `low` to `high`.
    pub(crate) fn has_between(self, low: u8, high: u8) -> bool {
        low <= high && self.n_below(high + 1) > self.n_below(low)
    }

    /// Returns the lowest digit, or at least [`BASE`] if the set is empty.
    pub(crate) fn lowest(self) -> u8 {
        self.0.trailing_zeros() as u8
    }

    /// Returns the highest digit, or 0 if the set is empty.
    pub(crate) fn highest(self) -> u8 {
        63_u8.saturating_sub(self.0.leading_zeros() as u8)
    }

    /// Returns the digits in ascending order.
    pub(crate) fn digits(self) -> impl Iterator<Item = u8> {
        (0..BASE).filter(move |digit| self.has(*digit))
    }
}

/// A position in a string: its possible digits, and the given character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) digits: DigitSet,
    /// `None` for `?`, for sets, for impossible characters, and for positions of errors.
    pub(crate) written: Option<char>,
}

/// Hashes one word instead of three. Two errors make tens of thousands of patterns of up to 80
/// positions, and hashing them would take half of the time.
impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let written = self.written.map_or(0, u32::from);
        state.write_u64(self.digits.0 ^ u64::from(written) << 43);
    }
}

/// The positions of a string, and the number of errors that were assumed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pattern {
    pub(crate) places: Arc<[Place]>,
    pub(crate) errors: u8,
}

/// A character that no string has, or the first one of a set of such characters.
struct Impossible {
    position: usize,
    character: char,
}

/// Parses a text of characters, `?` for any character, and sets such as `[abc]`.
///
/// Returns the patterns without errors at unknown positions. A character that no string has is an
/// error whose position is known: it stands for any character in the first pattern, and up to
/// [`MAX_ERRORS`] of them are extra in the following ones.
pub(crate) fn read(
    text: &str,
    damage: Damage,
    alphabet: Alphabet,
) -> Result<Vec<Pattern>, PatternError> {
    let (places, impossible) = parse(text, damage, alphabet)?;
    let n_impossible = impossible.len();
    let n_errors = usize::from(damage.errors);
    if let [first, ..] = &impossible[..]
        && n_impossible > n_errors
    {
        return Err(PatternError::Character {
            position: first.position,
            character: first.character,
            looks_like: look_alikes(first.character, damage, alphabet),
            n_impossible,
        });
    }
    if n_errors - n_impossible > MAX_ERRORS.into() {
        return Err(PatternError::Errors {
            found: (n_errors - n_impossible) as u8,
        });
    }
    if places.is_empty() {
        return Err(PatternError::Empty);
    }
    let mut all = vec![places];
    for n_extra in 1..=usize::from(MAX_ERRORS) {
        for extra in combinations(&impossible, n_extra) {
            let is_extra = |i: usize| extra.iter().any(|impossible| impossible.position == i);
            let rest = all[0].iter().enumerate().filter(|(i, _)| !is_extra(*i));
            let rest: Vec<Place> = rest.map(|(_, place)| *place).collect();
            if !all.contains(&rest) {
                all.push(rest);
            }
        }
    }
    let errors = n_impossible as u8;
    let patterns = all.into_iter().map(|places| Pattern {
        places: places.into(),
        errors,
    });
    Ok(patterns.collect())
}

/// Returns the number of characters of a text that no string has, given its damage. Returns 0 for a
/// text that is no pattern.
pub(crate) fn n_impossible(text: &str, damage: Damage) -> u8 {
    // The alphabets have the same characters.
    parse(text, damage, Alphabet::Bitcoin).map_or(0, |(_, impossible)| impossible.len() as u8)
}

/// Returns all choices of `n` elements, in their order.
fn combinations<T>(all: &[T], n: usize) -> Vec<Vec<&T>> {
    let Some(n_others) = n.checked_sub(1) else {
        return vec![Vec::new()];
    };
    let with_first = |(i, first)| {
        let others = combinations(&all[i + 1..], n_others).into_iter();
        others.map(move |others| [vec![first], others].concat())
    };
    all.iter().enumerate().flat_map(with_first).collect()
}

/// Returns the positions of a text, and its characters that no string has.
fn parse(
    text: &str,
    damage: Damage,
    alphabet: Alphabet,
) -> Result<(Vec<Place>, Vec<Impossible>), PatternError> {
    let mut places = Vec::new();
    let mut impossible = Vec::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let position = places.len();
        let (character, mut digits, mut written) = match character {
            '?' => (character, DigitSet::ANY, None),
            '[' => {
                let (first, digits) = read_set(&mut characters, damage, alphabet)
                    .ok_or(PatternError::OpenSet { position })?;
                (first, digits, None)
            }
            _ => {
                let digits = read_character(character, damage, alphabet);
                (character, digits, Some(character))
            }
        };
        if digits.is_empty() {
            impossible.push(Impossible {
                position,
                character,
            });
            (digits, written) = (DigitSet::ANY, None);
        }
        places.push(Place { digits, written });
        if places.len() > MAX_PATTERN_LEN {
            let found = text.chars().count();
            return Err(PatternError::TooLong { found });
        }
    }
    Ok((places, impossible))
}

/// Parses the members of a set up to its `]`, and returns its first character and the digits of all
/// possible ones. Returns `None` if the set has no end.
fn read_set(
    characters: &mut std::str::Chars<'_>,
    damage: Damage,
    alphabet: Alphabet,
) -> Option<(char, DigitSet)> {
    let mut digits = DigitSet(0);
    let mut first = None;
    loop {
        let member = characters.next()?;
        let first = *first.get_or_insert(member);
        if member == ']' {
            return Some((first, digits));
        }
        digits.0 |= read_character(member, damage, alphabet).0;
    }
}

/// Returns the digits that a character may have been: none if no string has such a character.
fn read_character(character: char, damage: Damage, alphabet: Alphabet) -> DigitSet {
    let mut digits = DigitSet(0);
    // A character may have been misread before or after its case was lost: 8 is read as B, and then
    // written as b.
    for read in cases(character, damage.case) {
        let alike = if damage.glyphs { alike(read) } else { "" };
        for original in alike.chars().chain([read]) {
            for original in cases(original, damage.case) {
                if let Some(digit) = alphabet.digit(original) {
                    digits.0 |= 1 << digit;
                }
            }
        }
    }
    digits
}

/// Returns the characters that [`Damage::glyphs`] accepts in place of one that no string has.
fn look_alikes(character: char, damage: Damage, alphabet: Alphabet) -> String {
    let alike = cases(character, damage.case).flat_map(|read| alike(read).chars());
    alike.filter(|c| alphabet.digit(*c).is_some()).collect()
}

/// Returns the group of characters that are mistaken for each other, including `character`.
fn alike(character: char) -> &'static str {
    CONFUSABLE
        .into_iter()
        .find(|group| group.contains(character))
        .unwrap_or("")
}

fn cases(character: char, both: bool) -> impl Iterator<Item = char> {
    let other = if character.is_ascii_lowercase() {
        character.to_ascii_uppercase()
    } else {
        character.to_ascii_lowercase()
    };
    [
        Some(character),
        (both && other != character).then_some(other),
    ]
    .into_iter()
    .flatten()
}

/// Returns the patterns of a text, and all patterns of these lengths that further errors can have
/// turned into them, up to `n` errors in all. Each pattern appears once, and patterns with fewer
/// errors come first. If `is_over` returns `true`, the patterns found so far are returned.
pub(crate) fn with_errors(
    patterns: Vec<Pattern>,
    n: u8,
    lengths: &RangeInclusive<usize>,
    is_over: &dyn Fn() -> bool,
) -> Vec<Pattern> {
    let places = patterns.iter().map(|pattern| Arc::clone(&pattern.places));
    let mut known: HashSet<Arc<[Place]>> = places.collect();
    let n_known = patterns.first().map_or(0, |pattern| pattern.errors);
    let mut all = patterns;
    let mut first = 0;
    for errors in n_known + 1..=n {
        // Each further error changes the length by at most one character.
        let reach = usize::from(n - errors);
        let lengths = lengths.start().saturating_sub(reach)..=lengths.end() + reach;
        let before = all[first..].to_vec();
        first = all.len();
        for pattern in before {
            if is_over() {
                return all;
            }
            let len = pattern.places.len();
            if !(lengths.start().saturating_sub(1)..=lengths.end() + 1).contains(&len) {
                continue;
            }
            for places in one_error(&pattern.places) {
                let places: Arc<[Place]> = places.into();
                if lengths.contains(&places.len()) && known.insert(Arc::clone(&places)) {
                    all.push(Pattern { places, errors });
                }
            }
        }
    }
    all
}

/// Returns the patterns of these lengths that have lost characters in one piece. Each lost character is an error. Returns the
/// pattern itself, whatever its length, if there is no gap.
pub(crate) fn with_gap(
    pattern: &Pattern,
    gap: Gap,
    lengths: &RangeInclusive<usize>,
) -> Vec<Pattern> {
    let len = pattern.places.len();
    let positions = match gap {
        Gap::None => return vec![pattern.clone()],
        Gap::End => len..len + 1,
        Gap::Start => 0..1,
        Gap::Inside => 1..len,
    };
    let longer = (len + 1).max(*lengths.start())..=(len + MAX_GAP).min(*lengths.end());
    let with = |n_missing: usize, position: usize| {
        let (before, after) = pattern.places.split_at(position);
        Pattern {
            places: [before, &vec![ANY; n_missing], after].concat().into(),
            errors: pattern.errors + n_missing as u8,
        }
    };
    let lens = longer.map(|longer| longer - len);
    lens.flat_map(|n| positions.clone().map(move |position| (n, position)))
        .map(|(n, position)| with(n, position))
        .collect()
}

/// A position that can be any digit.
const ANY: Place = Place {
    digits: DigitSet::ANY,
    written: None,
};

/// Returns the patterns that one error can have turned into these positions.
fn one_error(places: &[Place]) -> impl Iterator<Item = Vec<Place>> {
    let wrong = (0..places.len()).filter_map(move |i| {
        let Place { digits, .. } = places[i];
        // A position that can be any digit cannot be wrong.
        let other = DigitSet(DigitSet::ANY.0 & !digits.0);
        let place = Place {
            digits: other,
            written: None,
        };
        (!other.is_empty()).then(|| [&places[..i], &[place], &places[i + 1..]].concat())
    });
    let missing = (0..=places.len()).map(move |i| [&places[..i], &[ANY], &places[i..]].concat());
    let extra = (0..places.len()).map(move |i| [&places[..i], &places[i + 1..]].concat());
    let swapped = (1..places.len()).filter_map(move |i| {
        let mut other = places.to_vec();
        other.swap(i - 1, i);
        (other != places).then_some(other)
    });
    wrong.chain(missing).chain(extra).chain(swapped)
}
