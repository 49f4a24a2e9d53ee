//! A damaged string: its human-readable part, and the possible values of each character after it.

use crate::code;

/// The human-readable parts of witness addresses: Bitcoin and Litecoin, with their test networks.
pub const HUMAN_READABLE: [&str; 6] = ["bc", "tb", "bcrt", "ltc", "tltc", "rltc"];

/// Maximum number of characters of a string (BIP 173).
pub(crate) const MAX_LEN: usize = 90;

/// Maximum number of combinations of unknown characters: four characters of 32 values.
const MAX_COMBINATIONS: u64 = 1 << 20;

/// The reason why a string cannot be repaired.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// The string does not start with a known human-readable part.
    #[error("no witness address starts like this string")]
    HumanReadable,
    /// The string has more characters than any valid string.
    #[error("{found} characters exceed the maximum of {MAX_LEN}")]
    TooLong {
        /// Number of characters of the string.
        found: usize,
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
    pub(crate) human_readable: &'static str,
    /// Number of wrong characters of the human-readable part and the separator.
    pub(crate) n_wrong_start: usize,
    /// The characters after the separator.
    pub(crate) places: Vec<Place>,
}

impl Pattern {
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

/// Reads a string in any letter case. Returns a pattern for each network that its start may belong to.
pub(crate) fn read(text: &str) -> Result<Vec<Pattern>, RepairError> {
    let lower = text.to_ascii_lowercase();
    let exact = HUMAN_READABLE.into_iter().filter_map(|part| {
        let rest = lower.strip_prefix(part)?.strip_prefix('1')?;
        Some((part, 0, rest))
    });
    let exact: Vec<_> = exact.collect();
    let starts = if exact.is_empty() {
        let similar = HUMAN_READABLE.into_iter();
        let similar = similar.filter_map(|part| {
            let (n_wrong, rest) = without_start(&lower, part)?;
            Some((part, n_wrong, rest))
        });
        similar.collect()
    } else {
        exact
    };
    if starts.is_empty() {
        return Err(RepairError::HumanReadable);
    }
    let pattern = |(human_readable, n_wrong_start, rest): (&'static str, usize, &str)| {
        let start_len = human_readable.len() + 1;
        Ok(Pattern {
            human_readable,
            n_wrong_start,
            places: places(rest, start_len)?,
        })
    };
    starts.into_iter().map(pattern).collect()
}

/// Returns the number of wrong characters in a human-readable part and its separator, and the rest of the text. The rest must have
/// the length of a usual address, because many strings of other formats start in this way.
fn without_start<'t>(text: &'t str, part: &str) -> Option<(usize, &'t str)> {
    let start_len = part.len() + 1;
    let (start, rest) = text.split_at_checked(start_len)?;
    let expected = part.chars().chain(['1']);
    let n_wrong = start.chars().zip(expected).filter(|(a, b)| a != b).count();
    // Version, program of 20 or 32 bytes, checksum.
    let is_usual = [39, 59].contains(&rest.chars().count());
    (start.is_ascii() && is_usual).then_some((n_wrong, rest))
}

/// Reads the characters after the separator.
fn places(text: &str, start_len: usize) -> Result<Vec<Place>, RepairError> {
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
        if position >= MAX_LEN {
            let found = start_len + text.chars().count();
            return Err(RepairError::TooLong { found });
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
