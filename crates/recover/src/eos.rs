//! Keys of EOS (Antelope), Hive, Steem, `BitShares` and FIO: a start, and in Base58 the key and the first 4 bytes of the RIPEMD-160 of
//! the key. That of the newer keys of EOS (`PUB_K1_`) is of the key and the name of the curve (`numeric.cpp` of Antelope's `abieos`).

use ripemd::{Digest as _, Ripemd160};
use zeroize::Zeroizing;

use crate::base58::{ALPHABET, decode};
use crate::search::Layout;

/// Number of bytes of the checksum.
const CHECKSUM_LEN: usize = 4;

/// Number of bytes of a public key, and of a private key.
const PUBLIC_LEN: usize = 33;
const PRIVATE_LEN: usize = 32;

/// Numbers of characters of a public key, and of a private key, which can start with zero bits.
const PUBLIC: &[usize] = &[50];
const PRIVATE: &[usize] = &[48, 49, 50];

/// A start, the name of the curve that is hashed after the key, the number of characters after the start, and the name.
type Start = (&'static str, &'static str, &'static [usize], &'static str);

const STARTS: [Start; 8] = [
    ("EOS", "", PUBLIC, "EOS public key"),
    ("PUB_K1_", "K1", PUBLIC, "EOS public key"),
    ("PUB_R1_", "R1", PUBLIC, "EOS public key (secp256r1)"),
    ("PVT_K1_", "K1", PRIVATE, "EOS private key"),
    ("PVT_R1_", "R1", PRIVATE, "EOS private key (secp256r1)"),
    ("STM", "", PUBLIC, "Hive or Steem public key"),
    ("BTS", "", PUBLIC, "BitShares public key"),
    ("FIO", "", PUBLIC, "FIO public key"),
];

/// Keys with these starts.
pub(crate) struct Eos;

fn of(start: &str) -> Option<&'static Start> {
    STARTS.iter().find(|(other, ..)| *other == start)
}

impl Layout for Eos {
    const WHAT: &'static str = "key of EOS, Hive or a similar chain";
    const ALPHABET: &'static str = ALPHABET;
    const HAS_CASE: bool = true;
    const CHECKED_BITS: i32 = 8 * CHECKSUM_LEN as i32;

    fn split(text: &str) -> Option<(&'static str, &str)> {
        STARTS.iter().find_map(|(start, ..)| {
            let (before, rest) = text.split_at_checked(start.len())?;
            before.eq_ignore_ascii_case(start).then_some((*start, rest))
        })
    }

    fn lens(start: &str) -> &'static [usize] {
        of(start).map_or(&[], |(_, _, lens, _)| lens)
    }

    fn is_certain(_: &str, _: &str) -> bool {
        true
    }

    fn valid(start: &str, texts: &[Zeroizing<Vec<u8>>]) -> Vec<(usize, String, bool)> {
        let Some((_, curve, lens, what)) = of(start) else {
            return Vec::new();
        };
        let is_secret = *lens == PRIVATE;
        let valid = texts.iter().enumerate().filter(|(_, values)| {
            let bytes = decode(values);
            bytes
                .split_last_chunk::<CHECKSUM_LEN>()
                .is_some_and(|(key, checksum)| {
                    // The first byte of a compressed point is its sign.
                    let is_key = match key.len() {
                        PRIVATE_LEN => is_secret,
                        PUBLIC_LEN => !is_secret && matches!(key[0], 2 | 3),
                        _ => false,
                    };
                    let hash = Ripemd160::new().chain_update(key).chain_update(curve);
                    is_key && hash.finalize().starts_with(checksum)
                })
        });
        valid
            .map(|(number, _)| (number, (*what).to_owned(), is_secret))
            .collect()
    }
}
