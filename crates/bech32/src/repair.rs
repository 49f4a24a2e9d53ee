//! Finds all possible patterns of a damaged string, and decodes the strings that fit them.

use bech32::segwit;

use crate::code::{self, CONSTANTS};
use crate::pattern::{self, HUMAN_READABLE, MAX_LEN, Pattern, Place, RepairError};
use crate::solve::{Effects, effects_of, max_errors, solve};

/// Maximum number of unknown characters of a string with a missing or extra character, whose position is unknown. With
/// more unknown characters, the search would take long and other strings would fit by accident.
const MAX_UNKNOWN_WITH_INDEL: usize = 1;

/// A possible original of a damaged witness address.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The address, in lower case.
    pub text: String,
    /// The version of its witness program: 0 is Bech32, 1 to 16 are Bech32m.
    pub witness_version: u8,
    /// Number of wrong, missing and extra characters. Unknown characters do not count.
    pub edits: u32,
    /// The positions in the address of characters that were wrong, missing or unknown, from 0.
    pub changed: Vec<usize>,
}

/// Returns `true` if a string is an intact witness address of any known network.
pub fn is_witness_address(text: &str) -> bool {
    let known = |part: &String| HUMAN_READABLE.contains(&part.as_str());
    intact_start(text).as_ref().is_some_and(known)
}

/// Returns the human-readable part of a string that is an intact witness address, or would be one if its network were known.
pub fn intact_start(text: &str) -> Option<String> {
    let (part, ..) = segwit::decode(text).ok()?;
    Some(part.to_lowercase())
}

/// Returns all possible originals of a damaged witness address, sorted by number of edits. See the crate's description
/// for the damage that is repaired.
///
/// # Errors
/// Returns a [`RepairError`] if the string does not start like a witness address, or if it has too many unknown
/// characters.
pub fn repair(text: &str) -> Result<Vec<Repaired>, RepairError> {
    let mut found: Vec<Repaired> = Vec::new();
    let effects = effects_of(MAX_LEN + 1);
    let mut add = |pattern: &Pattern, max_errors, indel| {
        add(&mut found, pattern, max_errors, indel, &effects);
    };
    let mut is_like_address = false;
    for pattern in pattern::read(text)? {
        if pattern.n_wrong_start < 2 {
            pattern.check()?;
        }
        let n_unknown = pattern.unknown().len();
        // Strings of other formats look like an address with another start, so nothing else may be wrong.
        let is_other_start = pattern.n_wrong_start > 1;
        if is_other_start && n_unknown > MAX_UNKNOWN_WITH_INDEL {
            continue;
        }
        is_like_address |= !is_other_start;
        let max_errors = if is_other_start {
            0
        } else {
            max_errors(n_unknown + 2 * pattern.n_wrong_start)
        };
        add(&pattern, max_errors, None);
        if pattern.n_wrong_start > 0 || n_unknown > MAX_UNKNOWN_WITH_INDEL {
            continue;
        }
        for position in 0..pattern.places.len() {
            let mut shorter = pattern.clone();
            shorter.places.remove(position);
            add(&shorter, 0, Some(Indel::Extra));
        }
        for position in 0..=pattern.places.len() {
            let mut longer = pattern.clone();
            longer.places.insert(position, Place::ANY);
            add(&longer, 0, Some(Indel::Missing(position)));
        }
    }
    if found.is_empty() && !is_like_address {
        return Err(RepairError::HumanReadable);
    }
    found.sort_by_key(|repaired| repaired.edits);
    Ok(found)
}

/// A character that was added to or removed from a pattern.
#[derive(Clone, Copy)]
enum Indel {
    Extra,
    /// The position of a missing character after the separator.
    Missing(usize),
}

/// Adds the addresses of a pattern that have not been found before.
fn add(
    found: &mut Vec<Repaired>,
    pattern: &Pattern,
    max_errors: usize,
    indel: Option<Indel>,
    effects: &[Effects],
) {
    for constant in CONSTANTS {
        for values in solve(pattern, constant, max_errors, effects) {
            let repaired = decoded(pattern, &values, indel);
            let is_new =
                |repaired: &Repaired| found.iter().all(|other| other.text != repaired.text);
            found.extend(repaired.filter(is_new));
        }
    }
}

/// Returns the address of these values if independent code decodes it.
fn decoded(pattern: &Pattern, values: &[u8], indel: Option<Indel>) -> Option<Repaired> {
    let start = pattern.human_readable;
    let data: String = values.iter().map(|value| code::character(*value)).collect();
    let text = format!("{start}1{data}");
    let (_, version, _) = segwit::decode(&text).ok()?;
    let mut edits = pattern.n_wrong_start as u32 + u32::from(indel.is_some());
    let mut changed = Vec::new();
    for (position, (place, value)) in pattern.places.iter().zip(values).enumerate() {
        let is_wrong = match place {
            Place::Written(written) => written != value,
            Place::Unknown { is_written, .. } => *is_written,
        };
        edits += u32::from(is_wrong);
        let is_inserted = matches!(indel, Some(Indel::Missing(missing)) if missing == position);
        let is_unknown = matches!(place, Place::Unknown { .. });
        if is_wrong || is_unknown || is_inserted {
            changed.push(start.len() + 1 + position);
        }
    }
    Some(Repaired {
        text,
        witness_version: version.to_u8(),
        edits,
        changed,
    })
}
