//! Recognizes damaged witness addresses among texts of any format.

use crate::pattern::HUMAN_READABLE;
use crate::repair::{intact_start, repair};

/// Numbers of characters after the separator of usual witness addresses: programs of 20 and of 32 bytes (BIP 173).
const USUAL_LENS: [usize; 2] = [39, 59];

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
        None => intact_start(text).is_some() || repair(text).is_ok(),
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
