//! Addresses of known hashes among the strings of a search, found without hashing candidates.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::addresses::AddressHash;
use crate::check::encode_check;
use crate::filter::{Filter, Known};
use crate::hit::Hit;
use crate::kind::Kind;
use crate::space::Space;

/// Maximum number of comparisons of a known address with a space: about a second. With more, the search may be faster.
const MAX_COMPARISONS: usize = 50_000_000;

/// Returns `true` if all strings of these spaces are addresses, and the hashes in those that the filter accepts are known.
pub(crate) fn is_possible(spaces: &[Space], filter: &Filter) -> bool {
    let Some(known) = &filter.known else {
        return false;
    };
    let n_comparisons = known.hashes().len().saturating_mul(spaces.len());
    n_comparisons <= MAX_COMPARISONS && spaces.iter().all(|space| space.kind.is_address())
}

/// Calls `on_hit` with each string of the spaces that the filter accepts, until it returns `false`.
pub(crate) fn look_up(spaces: &[Space], filter: &Filter, mut on_hit: impl FnMut(Hit) -> bool) {
    let mut by_kind: BTreeMap<&str, Vec<&Space>> = BTreeMap::new();
    for space in spaces {
        by_kind.entry(&space.kind.name).or_default().push(space);
    }
    for hash in filter.known.iter().flat_map(Known::hashes) {
        for spaces in by_kind.values() {
            let kind: &Arc<Kind> = &spaces[0].kind;
            for version in kind.versions.iter() {
                let hit = hit_of(spaces, kind, version, hash);
                if hit.is_some_and(|hit| filter.accepts(&hit) && !on_hit(hit)) {
                    return;
                }
            }
        }
    }
}

/// Returns the address of a hash if it is among these spaces, which have the fewest errors first.
fn hit_of(spaces: &[&Space], kind: &Kind, version: &[u8], hash: &AddressHash) -> Option<Hit> {
    let text = encode_check(&[version, hash].concat(), kind.alphabet);
    let digits = text.chars().map(|c| kind.alphabet.digit(c));
    let digits: Option<Vec<u8>> = digits.collect();
    let digits = digits?;
    let has_digits = |space: &&&Space| {
        let mut places = digits.iter().enumerate();
        space.len() == digits.len() && places.all(|(i, digit)| space.digits(i).has(*digit))
    };
    let space = spaces.iter().find(has_digits)?;
    Hit::check(space, &digits, 0)
}
