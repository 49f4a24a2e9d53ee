//! Finds the strings of a pattern with a correct checksum.

use zeroize::Zeroizing;

use super::code::Code;
use super::pattern::Pattern;
use crate::linear::Effects;

/// The code detects four wrong characters. It corrects two at unknown positions, or four at known positions.
const MAX_ERASURES: usize = 4;

/// Returns the number of wrong characters that the code corrects in addition to this many unknown ones.
pub(crate) fn max_errors(n_unknown: usize) -> usize {
    MAX_ERASURES.saturating_sub(n_unknown) / 2
}

/// Returns the values of all strings of a pattern with up to `max_errors` wrong characters. `effects` has entries for at least as
/// many characters.
pub(crate) fn solve(
    pattern: &Pattern,
    code: Code,
    max_errors: usize,
    effects: &Effects<5>,
) -> Vec<Zeroizing<Vec<u16>>> {
    let unknown = pattern.unknown();
    let values = pattern.places.iter();
    let values = values.map(|place| place.values.trailing_zeros() as u16);
    let values: Zeroizing<Vec<u16>> = Zeroizing::new(values.collect());
    let code = code.after(&pattern.human_readable);
    let mut found = code
        .solve(effects, &values, &unknown, max_errors)
        .unwrap_or_default();
    // A set excludes the values that it does not have.
    let is_possible = |values: &[u16], position: &usize| {
        pattern.places[*position].values >> values[*position] & 1 == 1
    };
    found.retain(|values| unknown.iter().all(|position| is_possible(values, position)));
    found
}
