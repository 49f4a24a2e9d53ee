//! Addresses of Algorand: a key of 32 bytes and the last 4 bytes of its SHA-512/256, in Base32.

use sha2::{Digest as _, Sha512_256};
use zeroize::Zeroizing;

use crate::base32::{UPPER, decode};
use crate::search::Layout;

/// Number of bytes of the checksum.
const CHECKSUM_LEN: usize = 4;

/// Number of characters.
const LEN: [usize; 1] = [58];

/// Addresses.
pub(crate) struct Algorand;

impl Layout for Algorand {
    const WHAT: &'static str = "Algorand address";
    const ALPHABET: &'static str = UPPER;
    const HAS_CASE: bool = false;
    const CHECKED_BITS: i32 = 8 * CHECKSUM_LEN as i32;

    fn split(text: &str) -> Option<(&'static str, &str)> {
        // Bech32 texts in lower case have most of these characters.
        let has_lost_case = text.contains(|c: char| c.is_ascii_lowercase());
        (!has_lost_case || text.len() == LEN[0]).then_some(("", text))
    }

    fn lens(_: &str) -> &'static [usize] {
        &LEN
    }

    fn is_certain(_: &str, text: &str) -> bool {
        !text.contains(|c: char| c.is_ascii_lowercase())
    }

    fn valid(_: &str, texts: &[Zeroizing<Vec<u8>>]) -> Vec<(usize, String, bool)> {
        let valid = texts.iter().enumerate().filter(|(_, values)| {
            decode(values.iter().copied()).is_some_and(|bytes| {
                let (key, checksum) = bytes.split_at(bytes.len() - CHECKSUM_LEN);
                Sha512_256::digest(key).ends_with(checksum)
            })
        });
        valid
            .map(|(number, _)| (number, Self::WHAT.to_owned(), false))
            .collect()
    }
}
