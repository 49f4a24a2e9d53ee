//! Keys of Stellar (SEP 23): a version, a key of 32 bytes, and CRC-16/XMODEM, in Base32.

use crc::{CRC_16_XMODEM, Crc, Table};
use zeroize::Zeroizing;

use crate::base32::{UPPER, decode};
use crate::search::Layout;

const CRC: Crc<u16, Table<1>> = Crc::<u16, Table<1>>::new(&CRC_16_XMODEM);

/// The first characters and the versions, and whether the key is secret.
const VERSIONS: [(char, u8, &str, bool); 8] = [
    ('G', 6 << 3, "Stellar account", false),
    ('S', 18 << 3, "Stellar secret seed", true),
    ('T', 19 << 3, "Stellar pre-authorized transaction", false),
    ('X', 23 << 3, "Stellar hash of a signer", false),
    ('C', 2 << 3, "Stellar contract", false),
    ('L', 11 << 3, "Stellar liquidity pool", false),
    ('M', 12 << 3, "Stellar muxed account", false),
    ('B', 1 << 3, "Stellar claimable balance", false),
];

/// The texts that are longer than a key, by their first character.
const LONGER: [(&str, [usize; 1]); 2] = [("M", [68]), ("B", [57])];

/// Number of characters of all other texts.
const LEN: [usize; 1] = [56];

/// Accounts, seeds and others.
pub(crate) struct Stellar;

impl Layout for Stellar {
    const WHAT: &'static str = "Stellar key";
    const ALPHABET: &'static str = UPPER;
    const HAS_CASE: bool = false;
    const CHECKED_BITS: i32 = 16;

    fn split(text: &str) -> Option<(&'static str, &str)> {
        // Bech32 texts in lower case have most of these characters.
        let has_lost_case = text.contains(|c: char| c.is_ascii_lowercase());
        let first = text.get(..1)?.to_ascii_uppercase();
        let is_longer =
            |(start, [len]): &&(&str, [usize; 1])| *start == first && text.len() > len - 1;
        let longer = LONGER.iter().find(is_longer);
        let parts = longer.map_or(("", text), |(start, _)| (*start, &text[1..]));
        (!has_lost_case || Self::lens(parts.0).contains(&parts.1.len())).then_some(parts)
    }

    fn lens(start: &str) -> &'static [usize] {
        let longer = LONGER.iter().find(|(other, _)| *other == start);
        longer.map_or(&LEN, |(_, len)| len)
    }

    fn is_certain(_: &str, text: &str) -> bool {
        let first = text.chars().next().map(|c| c.to_ascii_uppercase());
        VERSIONS.iter().any(|(start, ..)| Some(*start) == first)
    }

    fn valid(start: &str, texts: &[Zeroizing<Vec<u8>>]) -> Vec<(usize, String, bool)> {
        let first = UPPER
            .find(start)
            .filter(|_| !start.is_empty())
            .map(|value| value as u8);
        let valid = texts.iter().enumerate().filter_map(|(number, values)| {
            let bytes = decode(first.into_iter().chain(values.iter().copied()))?;
            let bytes = Zeroizing::new(bytes);
            let (key, checksum) = bytes.split_last_chunk::<2>()?;
            let (.., what, is_secret) = VERSIONS
                .iter()
                .find(|(_, version, ..)| *version == key[0])?;
            let is_valid = u16::from_le_bytes(*checksum) == CRC.checksum(key);
            is_valid.then(|| (number, (*what).to_owned(), *is_secret))
        });
        valid.collect()
    }
}
