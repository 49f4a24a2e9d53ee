//! A damaged string: its human-readable part, and the possible values of each character after it.

use zeroize::Zeroizing;

use super::code::{CHARSET, CHECKSUM_LEN, Code};
use super::prefix::Prefix;
use crate::places::{self, Place};

/// The human-readable parts of witness addresses: Bitcoin and Litecoin, with their test networks.
pub(crate) const HUMAN_READABLE: [&str; 6] = ["bc", "tb", "bcrt", "ltc", "tltc", "rltc"];

/// Maximum number of characters of a witness address (BIP 173).
const MAX_WITNESS_LEN: usize = 90;

/// Maximum number of characters of any other string. The code detects two wrong characters up to this length.
const MAX_LEN: usize = 1023;

/// Maximum number of characters of a human-readable part (BIP 173).
const MAX_START_LEN: usize = 83;

/// Maximum number of combinations of unknown characters: four characters of 32 values.
const MAX_COMBINATIONS: f64 = 1_048_576.0;

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

    /// Returns the positions of unknown characters.
    pub(crate) fn unknown(&self) -> Vec<usize> {
        let positions = 0..self.places.len();
        positions.filter(|i| self.places[*i].is_open()).collect()
    }

    /// Returns the number of combinations of unknown characters.
    pub(crate) fn combinations(&self) -> f64 {
        let n_values = |place: &Place| f64::from(place.values.count_ones());
        self.places.iter().map(n_values).product()
    }

    /// Fails if the checksum does not determine the unknown characters.
    pub(crate) fn check(&self) -> Result<(), RepairError> {
        if self.combinations() > MAX_COMBINATIONS {
            let found = self.unknown().len();
            return Err(RepairError::TooManyUnknown { found });
        }
        Ok(())
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
fn places(text: &str, start_len: usize, maximum: usize) -> Result<Vec<Place>, RepairError> {
    let places = places::read(text, CHARSET).map_err(|position| RepairError::Set {
        position: start_len + position,
    })?;
    if start_len + places.len() > maximum {
        let found = start_len + text.chars().count();
        return Err(RepairError::TooLong { found, maximum });
    }
    Ok(places)
}
