//! A damaged string: its human-readable part, and the possible values of each character after it.

use zeroize::Zeroizing;

use super::code::{self, CHECKSUM_LEN, Code};
use super::prefix::Prefix;

/// The human-readable parts of witness addresses: Bitcoin and Litecoin, with their test networks.
pub(crate) const HUMAN_READABLE: [&str; 6] = ["bc", "tb", "bcrt", "ltc", "tltc", "rltc"];

/// Maximum number of characters of a witness address (BIP 173).
const MAX_WITNESS_LEN: usize = 90;

/// Maximum number of characters of any other string. The code detects two wrong characters up to this length.
const MAX_LEN: usize = 1023;

/// Maximum number of characters of a human-readable part (BIP 173).
const MAX_START_LEN: usize = 83;

/// Maximum number of combinations of unknown characters: four characters of 32 values.
const MAX_COMBINATIONS: u64 = 1 << 20;

/// The reason why a string cannot be repaired.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// The string does not start with a known human-readable part, and no checksum fits.
    #[error("no witness address starts like this string")]
    HumanReadable,
    /// The string has more characters than any valid string.
    #[error("{found} characters exceed the maximum of {maximum}")]
    TooLong {
        /// Number of characters of the string.
        found: usize,
        /// Maximum number of characters.
        maximum: usize,
    },
    /// A `[` without its `]`, or a set without a possible character.
    #[error("character {}: the set has no end, or no possible character", position + 1)]
    Set {
        /// The position of the `[`, from 0; a set counts as one character.
        position: usize,
    },
    /// Too many unknown characters.
    #[error("{found} characters are unknown or impossible; the checksum determines at most 4")]
    TooManyUnknown {
        /// Number of unknown characters of the string.
        found: usize,
    },
}

/// The possible values of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A known character, which can be wrong.
    Written(u8),
    /// A set of values, as bits. `is_written` is `true` for a character that no valid string contains.
    Unknown { values: u32, is_written: bool },
}

impl Place {
    /// A character that can have any value.
    pub(crate) const ANY: Self = Self::Unknown {
        values: u32::MAX,
        is_written: false,
    };
}

/// A damaged string.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// `None` for an unknown one, which is taken as it is.
    pub(crate) prefix: Option<Prefix>,
    pub(crate) human_readable: String,
    /// Number of wrong characters of the human-readable part and the separator.
    pub(crate) n_wrong_start: usize,
    /// The characters after the separator.
    pub(crate) places: Vec<Place>,
}

impl Pattern {
    fn read(
        prefix: Option<Prefix>,
        human_readable: &str,
        n_wrong_start: usize,
        rest: &str,
    ) -> Result<Self, RepairError> {
        let is_witness = prefix.is_some_and(|prefix| prefix.is_witness());
        let max_len = if is_witness { MAX_WITNESS_LEN } else { MAX_LEN };
        Ok(Self {
            prefix,
            human_readable: human_readable.to_owned(),
            n_wrong_start,
            places: places(rest, human_readable.len() + 1, max_len)?,
        })
    }

    /// Returns the codes of strings with this prefix.
    pub(crate) fn codes(&self) -> Vec<Code> {
        match self.prefix {
            Some(prefix) => prefix.codes().collect(),
            None => Code::ALL.to_vec(),
        }
    }

    /// Returns the positions of unknown characters and their values.
    pub(crate) fn unknown(&self) -> Vec<(usize, u32)> {
        let places = self.places.iter().enumerate();
        let unknown = places.filter_map(|(position, place)| match place {
            Place::Unknown { values, .. } => Some((position, *values)),
            Place::Written(_) => None,
        });
        unknown.collect()
    }

    /// Fails if there are more combinations of unknown characters than can be tried.
    pub(crate) fn check(&self) -> Result<(), RepairError> {
        let unknown = self.unknown();
        let combinations = unknown.iter().try_fold(1_u64, |product, (_, values)| {
            let product = product * u64::from(values.count_ones());
            (product <= MAX_COMBINATIONS).then_some(product)
        });
        match combinations {
            Some(_) => Ok(()),
            None => Err(RepairError::TooManyUnknown {
                found: unknown.len(),
            }),
        }
    }
}

/// Reads a string in any letter case. Returns a pattern for each prefix that its start may belong to.
pub(crate) fn read(text: &str) -> Result<Vec<Pattern>, RepairError> {
    let lower = Zeroizing::new(text.to_ascii_lowercase());
    let exact = starts(&lower).into_iter();
    let exact = exact.map(|(prefix, part, rest)| Pattern::read(Some(prefix), part, 0, rest));
    let mut patterns = exact.collect::<Result<Vec<_>, _>>()?;
    if patterns.is_empty() {
        let similar = Prefix::of_fixed_len().filter_map(|prefix| {
            let part = prefix.human_readable();
            let (n_wrong, rest) = without_start(&lower, &prefix)?;
            Some(Pattern::read(Some(prefix), part, n_wrong, rest))
        });
        patterns = similar.collect::<Result<_, _>>()?;
        patterns.extend(with_unknown_start(text, &lower));
    }
    if patterns.is_empty() {
        return Err(RepairError::HumanReadable);
    }
    Ok(patterns)
}

/// Returns the known prefixes of a text in lower case, with their human-readable parts and the rest of the text.
pub(crate) fn starts(text: &str) -> Vec<(Prefix, &str, &str)> {
    let separators = text.match_indices('1').map(|(position, _)| position);
    let known = separators.filter_map(|position| {
        let (prefix, part) = Prefix::of(text.get(..position)?)?;
        Some((prefix, part, &text[position + 1..]))
    });
    known.collect()
}

/// Returns the pattern of a text in one letter case with an unknown human-readable part.
pub(crate) fn with_unknown_start(text: &str, lower: &str) -> Option<Pattern> {
    let is_mixed = text != lower && text != text.to_ascii_uppercase();
    let (part, rest) = lower.rsplit_once('1')?;
    let is_part = (1..=MAX_START_LEN).contains(&part.len())
        && part
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"?[]".contains(&byte));
    if is_mixed || !is_part || Prefix::of(part).is_some() {
        return None;
    }
    let pattern = Pattern::read(None, part, 0, rest).ok()?;
    (pattern.places.len() > CHECKSUM_LEN).then_some(pattern)
}

/// Returns the number of wrong characters in a human-readable part and its separator, and the rest of the text. The rest must have
/// the length of a usual text, because many strings of other formats start in this way.
fn without_start<'t>(text: &'t str, prefix: &Prefix) -> Option<(usize, &'t str)> {
    let part = prefix.human_readable();
    let (start, rest) = text.split_at_checked(part.len() + 1)?;
    let expected = part.chars().chain(['1']);
    let n_wrong = start.chars().zip(expected).filter(|(a, b)| a != b).count();
    let is_usual = prefix.lens().contains(&rest.chars().count());
    (start.is_ascii() && is_usual).then_some((n_wrong, rest))
}

/// Reads the characters after the separator.
fn places(text: &str, start_len: usize, max_len: usize) -> Result<Vec<Place>, RepairError> {
    let mut places = Vec::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let position = start_len + places.len();
        places.push(match (character, code::value(character)) {
            ('?', _) => Place::ANY,
            ('[', _) => read_set(&mut characters).ok_or(RepairError::Set { position })?,
            (_, Some(value)) => Place::Written(value),
            (_, None) => Place::Unknown {
                values: u32::MAX,
                is_written: true,
            },
        });
        if position >= max_len {
            return Err(RepairError::TooLong {
                found: start_len + text.chars().count(),
                maximum: max_len,
            });
        }
    }
    Ok(places)
}

/// Reads the members of a set up to its `]`.
fn read_set(characters: &mut std::str::Chars<'_>) -> Option<Place> {
    let mut values = 0;
    loop {
        match characters.next()? {
            ']' => break,
            member => values |= code::value(member).map_or(0, |value| 1 << value),
        }
    }
    (values != 0).then_some(Place::Unknown {
        values,
        is_written: false,
    })
}
