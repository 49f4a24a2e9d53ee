//! Recognizes damaged strings among texts of any format.

use super::code;
use super::pattern::{HUMAN_READABLE, starts, with_unknown_start};
use super::repair::repair;
use crate::kind::Likeness;

/// Numbers of characters after the separator of usual witness addresses: programs of 20 and of 32 bytes (BIP 173).
const USUAL_LENS: [usize; 2] = [39, 59];

/// Minimum number of characters of a human-readable part that no text of another format starts with by accident.
const MIN_TELLING_LEN: usize = 3;

/// Maximum number of characters that no such string has, in one that starts like one.
const MAX_FOREIGN: usize = 4;

/// The starts of the texts of BOLT 12, which have the alphabet of Bech32.
pub(super) const UNCHECKED: [&str; 3] = ["lno1", "lnr1", "lni1"];

/// Returns how much a text resembles Bech32.
pub(super) fn likeness(text: &str) -> Option<Likeness> {
    if is_like_witness_address(text) {
        return Some(Likeness::Certain("witness address".into()));
    }
    let lower = zeroize::Zeroizing::new(text.to_ascii_lowercase());
    let n_foreign = |rest: &str| {
        let is_foreign = |c: &char| code::value(*c).is_none() && !"?[]".contains(*c);
        rest.chars().filter(is_foreign).count()
    };
    if UNCHECKED.iter().any(|start| lower.starts_with(start)) && n_foreign(&lower[4..]) == 0 {
        return Some(Likeness::Certain(
            "BOLT 12 offer, request or invoice".into(),
        ));
    }
    let known = starts(&lower).into_iter();
    let known = known.filter(|(prefix, ..)| !prefix.is_witness());
    let telling = known.clone().find(|(_, part, rest)| {
        let max = if part.len() < MIN_TELLING_LEN {
            0
        } else {
            MAX_FOREIGN
        };
        rest.len() >= USUAL_LENS[0] - 4 && n_foreign(rest) <= max
    });
    if let Some((prefix, ..)) = telling {
        return Some(Likeness::Certain(prefix.what.to_owned()));
    }
    let is_possible = known.count() > 0
        || with_unknown_start(text, &lower).is_some()
        || repair(text).is_ok_and(|found| !found.is_empty());
    is_possible.then_some(Likeness::Possible)
}

/// Returns `true` if a text is a witness address, damaged or not, whatever else it may look like.
///
/// A Litecoin address in Base58 can start with `LTC1`, too. Its length differs from that of witness addresses.
pub fn is_like_witness_address(text: &str) -> bool {
    match after_separator(text) {
        Some(rest) => {
            let is_usual = |len: &usize| len.abs_diff(rest.chars().count()) <= 1;
            USUAL_LENS.iter().any(is_usual) || repair(text).is_ok_and(|found| !found.is_empty())
        }
        // At most one character of the first part is wrong, or nothing else is. No Base58Check string is as long as a usual witness
        // address.
        None => repair(text).is_ok_and(|found| {
            let is_witness = |text: &str| after_separator(text).is_some();
            found.iter().any(|found| is_witness(&found.text))
        }),
    }
}

/// Returns `true` if a text starts like a witness address. Texts of other formats do too.
pub fn starts_like_witness_address(text: &str) -> bool {
    after_separator(text).is_some()
}

/// Returns the text after the human-readable part of a witness address and its separator, in any letter case.
fn after_separator(text: &str) -> Option<&str> {
    HUMAN_READABLE.iter().find_map(|part| {
        let (start, rest) = text.split_at_checked(part.len())?;
        let rest = rest.strip_prefix('1')?;
        start.eq_ignore_ascii_case(part).then_some(rest)
    })
}
