//! Addresses of Filecoin: the network, the protocol, and in Base32 a payload and 4 bytes of the BLAKE2b of protocol and payload.

use blake2b_simd::Params;
use zeroize::Zeroizing;

use crate::base32::{LOWER, decode};
use crate::search::Layout;

/// Number of bytes of the checksum.
const CHECKSUM_LEN: usize = 4;

/// The starts, what is hashed before the payload, the number of characters after the start, and the name.
const STARTS: [(&str, &[u8], [usize; 1], &str); 8] = [
    ("f1", &[1], [39], "Filecoin address of a key (secp256k1)"),
    ("f2", &[2], [39], "Filecoin address of an actor"),
    ("f3", &[3], [84], "Filecoin address of a key (BLS)"),
    (
        "f410f",
        &[4, 10],
        [39],
        "Filecoin address of the Ethereum virtual machine",
    ),
    (
        "t1",
        &[1],
        [39],
        "Filecoin testnet address of a key (secp256k1)",
    ),
    ("t2", &[2], [39], "Filecoin testnet address of an actor"),
    ("t3", &[3], [84], "Filecoin testnet address of a key (BLS)"),
    (
        "t410f",
        &[4, 10],
        [39],
        "Filecoin testnet address of the Ethereum virtual machine",
    ),
];

/// Addresses with a checksum: all but `f0`.
pub(crate) struct Filecoin;

fn of(start: &str) -> Option<&'static (&'static str, &'static [u8], [usize; 1], &'static str)> {
    STARTS.iter().find(|(other, ..)| *other == start)
}

impl Layout for Filecoin {
    const WHAT: &'static str = "Filecoin address";
    const ALPHABET: &'static str = LOWER;
    const HAS_CASE: bool = false;
    const CHECKED_BITS: i32 = 8 * CHECKSUM_LEN as i32;

    fn split(text: &str) -> Option<(&'static str, &str)> {
        STARTS.iter().find_map(|(start, ..)| {
            let (before, rest) = text.split_at_checked(start.len())?;
            before.eq_ignore_ascii_case(start).then_some((*start, rest))
        })
    }

    fn lens(start: &str) -> &'static [usize] {
        of(start).map_or(&[], |(.., len, _)| len)
    }

    fn is_certain(_: &str, _: &str) -> bool {
        true
    }

    fn valid(start: &str, texts: &[Zeroizing<Vec<u8>>]) -> Vec<(usize, String, bool)> {
        let Some((_, before, _, what)) = of(start) else {
            return Vec::new();
        };
        let valid = texts.iter().enumerate().filter(|(_, values)| {
            decode(values.iter().copied()).is_some_and(|bytes| {
                let (payload, checksum) = bytes.split_at(bytes.len() - CHECKSUM_LEN);
                let mut hash = Params::new().hash_length(CHECKSUM_LEN).to_state();
                hash.update(before).update(payload).finalize().as_bytes() == checksum
            })
        });
        valid
            .map(|(number, _)| (number, (*what).to_owned(), false))
            .collect()
    }
}
