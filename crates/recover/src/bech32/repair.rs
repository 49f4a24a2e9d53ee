//! Finds all possible patterns of a damaged string, and decodes the strings that fit them.

use ::bech32::segwit;

use zeroize::Zeroizing;

use super::code::{self, BECH32, CHARSET, CHECKSUM_LEN, Code};
use super::pattern::{self, HUMAN_READABLE, Pattern, RepairError};
use super::solve::{max_errors, solve};
use crate::kind::Repaired;
use crate::linear::Effects;
use crate::places::Place;

/// Maximum number of unknown characters of a string with a missing or extra character, whose position is unknown. With
/// more unknown characters, the search would take long and other strings would fit by accident.
const MAX_UNKNOWN_WITH_INDEL: usize = 1;

/// Returns `true` if a string is an intact witness address of any known network.
pub fn is_witness_address(text: &str) -> bool {
    let known = |part: &String| HUMAN_READABLE.contains(&part.as_str());
    let part = segwit::decode(text).map(|(part, ..)| part.to_lowercase());
    part.is_ok_and(|part| known(&part))
}

/// Returns all possible originals of a damaged witness address, sorted by number of edits. See the crate's description
/// for the damage that is repaired.
///
/// # Errors
/// Returns a [`RepairError`] if the string does not start like a witness address, or if it has too many unknown
/// characters.
pub fn repair(text: &str) -> Result<Vec<Repaired>, RepairError> {
    let mut found: Vec<Repaired> = Vec::new();
    let patterns = pattern::read(text)?;
    let longest = patterns.iter().map(|pattern| pattern.places.len()).max();
    let effects = BECH32.effects(longest.unwrap_or(0) + 1);
    let mut add = |pattern: &Pattern, max_errors, indel| {
        add(&mut found, pattern, max_errors, indel, &effects);
    };
    let mut is_like_address = false;
    for pattern in patterns {
        let is_known = pattern.prefix.is_some();
        if pattern.n_wrong_start < 2 && is_known {
            pattern.check()?;
        }
        let n_unknown = pattern.unknown().len();
        // Strings of other formats look like an address with another start, so nothing else may be wrong.
        let is_other_start = pattern.n_wrong_start > 1 || !is_known && pattern.check().is_err();
        if is_other_start && n_unknown > MAX_UNKNOWN_WITH_INDEL {
            continue;
        }
        is_like_address |= !is_other_start && is_known;
        let max_errors = if is_other_start {
            0
        } else {
            max_errors(n_unknown + 2 * pattern.n_wrong_start)
        };
        add(&pattern, max_errors, None);
        if !is_known && n_unknown == 0 {
            for other in other_starts(&pattern) {
                add(&other, 0, None);
            }
        }
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
            longer.places.insert(position, Place::any(CHARSET.len()));
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
    effects: &Effects<5>,
) {
    for code in pattern.codes() {
        for values in solve(pattern, code, max_errors, effects) {
            let repaired = decoded(pattern, code, &values, indel);
            let is_new =
                |repaired: &Repaired| found.iter().all(|other| other.text != repaired.text);
            found.extend(repaired.filter(is_new));
        }
    }
}

/// Returns the patterns with another character in an unknown human-readable part.
fn other_starts(pattern: &Pattern) -> Vec<Pattern> {
    let part = pattern.human_readable.as_bytes();
    let mut all = Vec::new();
    for position in 0..part.len() {
        for other in (b'a'..=b'z')
            .chain(b'0'..=b'9')
            .filter(|other| *other != part[position])
        {
            let mut part = part.to_vec();
            part[position] = other;
            all.push(Pattern {
                human_readable: part.into_iter().map(char::from).collect(),
                n_wrong_start: 1,
                ..pattern.clone()
            });
        }
    }
    all
}

/// Returns the string of these values if the rules of its prefix accept it.
fn decoded(
    pattern: &Pattern,
    code: Code,
    values: &[u16],
    indel: Option<Indel>,
) -> Option<Repaired> {
    let start = &pattern.human_readable;
    let data = values.iter().map(|value| code::character(*value));
    let mut text = Zeroizing::new(format!("{start}1"));
    text.extend(data);
    let data_len = values.len().checked_sub(CHECKSUM_LEN)?;
    let what = match pattern.prefix {
        Some(prefix) => prefix.accepted(&text, &values[..data_len])?,
        None => format!("{code:?} text with the unknown prefix {start}"),
    };
    let is_secret = pattern.prefix.is_some_and(|prefix| prefix.is_secret);
    let mut edits = pattern.n_wrong_start as u32 + u32::from(indel.is_some());
    let mut changed = Vec::new();
    for (position, (place, value)) in pattern.places.iter().zip(values).enumerate() {
        let is_wrong = place.is_wrong || place.values >> value & 1 == 0;
        edits += u32::from(is_wrong);
        let is_inserted = matches!(indel, Some(Indel::Missing(missing)) if missing == position);
        if is_wrong || place.is_open() || is_inserted {
            changed.push(start.len() + 1 + position);
        }
    }
    Some(Repaired {
        text,
        what,
        is_secret,
        edits,
        changed,
    })
}
