//! What is left of a string: for each position, the digits that can stand there.

use std::collections::HashSet;

use crate::alphabet::{Alphabet, BASE};

/// The most characters of a pattern: more than any string of a payload that is searched for has.
pub const MAX_PATTERN_LEN: usize = 80;

/// Characters that are taken for each other, by eyes and by machines.
const CONFUSABLE: [&str; 8] = ["0OoQD", "1Il|i!", "5Ss", "8B", "2Zz", "6Gb", "9gq", "UuVv"];

/// What may have happened to a string. Whatever is written as `?` or `[abc]` is unknown in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Letters have lost their case: each can be of either.
    pub case: bool,
    /// Characters may have been taken for others that look alike.
    pub glyphs: bool,
    /// How many characters at unknown places may be wrong, missing, extra, or swapped with the next.
    /// At most [`MAX_ERRORS`].
    pub errors: u8,
}

/// The most errors at unknown places. Of an address one makes 137 patterns, two some 9,000, and three
/// would make hundreds of thousands.
pub const MAX_ERRORS: u8 = 2;

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// Nothing there.
    #[error("there are no characters")]
    Empty,
    /// More characters than any string has.
    #[error("{found} characters, where at most {MAX_PATTERN_LEN} can be")]
    TooLong {
        /// How many.
        found: usize,
    },
    /// A character that can stand for no digit.
    #[error("character {} is {character:?}, which no such string has{}", position + 1, hint(looks_like))]
    Character {
        /// Which one, from 0 on, counting a set as one.
        position: usize,
        /// It.
        character: char,
        /// What the damage [`Damage::glyphs`] would make of it.
        looks_like: String,
    },
    /// A `[` without its `]`.
    #[error("character {}: the set has no end", position + 1)]
    OpenSet {
        /// Where it starts, from 0 on, counting a set as one.
        position: usize,
    },
    /// More errors than can be searched for.
    #[error("{found} errors, where at most {MAX_ERRORS} can be searched for")]
    Errors {
        /// How many.
        found: u8,
    },
}

fn hint(looks_like: &str) -> String {
    if looks_like.is_empty() {
        return String::new();
    }
    let characters: Vec<String> = looks_like.chars().map(|c| format!("{c:?}")).collect();
    format!("; with glyphs it is read as {}", characters.join(" or "))
}

/// Digits that can stand at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DigitSet(u64);

impl DigitSet {
    const ANY: Self = Self((1 << BASE) - 1);

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

    /// From the lowest on.
    pub(crate) fn digits(self) -> impl Iterator<Item = u8> {
        (0..BASE).filter(move |digit| self.has(*digit))
    }
}

/// A position: its digits, and what was written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) digits: DigitSet,
    /// `None` where any of the digits is as good as the others.
    pub(crate) written: Option<char>,
}

/// Places, and how many errors led to them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pattern {
    pub(crate) places: Vec<Place>,
    pub(crate) errors: u8,
}

/// Reads a text: characters, `?` for any, and sets as `[abc]`. What comes first is without errors.
pub(crate) fn read(
    text: &str,
    damage: Damage,
    alphabet: Alphabet,
) -> Result<Vec<Pattern>, PatternError> {
    if damage.errors > MAX_ERRORS {
        return Err(PatternError::Errors {
            found: damage.errors,
        });
    }
    let mut places = Vec::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let position = places.len();
        let place = match character {
            '?' => Place {
                digits: DigitSet::ANY,
                written: None,
            },
            '[' => {
                let mut digits = DigitSet(0);
                let mut refused = None;
                loop {
                    match characters.next() {
                        None => return Err(PatternError::OpenSet { position }),
                        Some(']') => break,
                        // Of those that can stand for nothing the others are left.
                        Some(member) => match read_character(member, position, damage, alphabet) {
                            Ok(member) => digits.0 |= member.0,
                            Err(reason) => refused = refused.or(Some(reason)),
                        },
                    }
                }
                if digits.is_empty() {
                    return Err(refused.unwrap_or(PatternError::Character {
                        position,
                        character: ']',
                        looks_like: String::new(),
                    }));
                }
                Place {
                    digits,
                    written: None,
                }
            }
            _ => Place {
                digits: read_character(character, position, damage, alphabet)?,
                written: Some(character),
            },
        };
        places.push(place);
        if places.len() > MAX_PATTERN_LEN {
            let found = text.chars().count();
            return Err(PatternError::TooLong { found });
        }
    }
    if places.is_empty() {
        return Err(PatternError::Empty);
    }
    Ok(with_errors(Pattern { places, errors: 0 }, damage.errors))
}

fn read_character(
    character: char,
    position: usize,
    damage: Damage,
    alphabet: Alphabet,
) -> Result<DigitSet, PatternError> {
    let mut digits = DigitSet(0);
    let alike = if damage.glyphs { alike(character) } else { "" };
    for character in alike.chars().chain([character]) {
        for character in cases(character, damage.case) {
            if let Some(digit) = alphabet.digit(character) {
                digits.0 |= 1 << digit;
            }
        }
    }
    if digits.is_empty() {
        let looks_like = self::alike(character).chars();
        let looks_like = looks_like
            .filter(|c| alphabet.digit(*c).is_some())
            .collect();
        return Err(PatternError::Character {
            position,
            character,
            looks_like,
        });
    }
    Ok(digits)
}

/// What is taken for a character, and itself.
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

/// The pattern, and all others that up to `n` errors can have made it of. Each comes once, with the
/// fewest errors.
fn with_errors(pattern: Pattern, n: u8) -> Vec<Pattern> {
    let mut known: HashSet<Vec<Place>> = [pattern.places.clone()].into();
    let mut all = vec![pattern];
    let mut first = 0;
    for errors in 1..=n {
        let before = all[first..].to_vec();
        first = all.len();
        for pattern in before {
            for places in one_error(&pattern.places) {
                if known.insert(places.clone()) {
                    all.push(Pattern { places, errors });
                }
            }
        }
    }
    all
}

/// What a string can have been before one error happened to it.
fn one_error(places: &[Place]) -> impl Iterator<Item = Vec<Place>> {
    let any = Place {
        digits: DigitSet::ANY,
        written: None,
    };
    let wrong = (0..places.len()).filter_map(move |i| {
        let Place { digits, .. } = places[i];
        // One that can be anything cannot be wrong.
        let other = DigitSet(DigitSet::ANY.0 & !digits.0);
        let place = Place {
            digits: other,
            written: None,
        };
        (!other.is_empty()).then(|| [&places[..i], &[place], &places[i + 1..]].concat())
    });
    let missing = (0..=places.len()).map(move |i| [&places[..i], &[any], &places[i..]].concat());
    let extra = (0..places.len()).map(move |i| [&places[..i], &places[i + 1..]].concat());
    let swapped = (1..places.len()).filter_map(move |i| {
        let mut other = places.to_vec();
        other.swap(i - 1, i);
        (other != places).then_some(other)
    });
    wrong.chain(missing).chain(extra).chain(swapped)
}
