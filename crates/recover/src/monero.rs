//! Addresses of Monero: a number of the network and two keys of 32 bytes, in an integrated address a payment identifier, then 4
//! bytes of Keccak-256. Base58 encodes blocks of 8 bytes in 11 characters each, and the last 5 bytes in 7 (Monero's
//! `src/common/base58.cpp`).

use zeroize::Zeroizing;

use crate::base58::ALPHABET;
use crate::keccak::{Block, Kernel};
use crate::search::Layout;

/// Number of bytes of a block of Base58, and of characters.
const BLOCK: (usize, usize) = (8, 11);

/// Number of bytes of the last block, and of characters.
const LAST: (usize, usize) = (5, 7);

/// Number of bytes of the checksum.
const CHECKSUM_LEN: usize = 4;

/// Numbers of characters of a standard address or a subaddress, and of an integrated address.
const LENS: [usize; 2] = [95, 106];

/// The numbers of networks and their kinds (Monero's `src/cryptonote_config.h`).
const NETWORKS: [(u8, usize, &str); 9] = [
    (18, 95, "Monero address"),
    (19, 106, "Monero integrated address"),
    (42, 95, "Monero subaddress"),
    (53, 95, "Monero testnet address"),
    (54, 106, "Monero testnet integrated address"),
    (63, 95, "Monero testnet subaddress"),
    (24, 95, "Monero stagenet address"),
    (25, 106, "Monero stagenet integrated address"),
    (36, 95, "Monero stagenet subaddress"),
];

/// The first characters of addresses of all networks.
const FIRST: [char; 7] = ['4', '8', '5', '7', '9', 'A', 'B'];

/// Addresses of all networks.
pub(crate) struct Monero;

/// Returns the bytes of characters, or `None` if a block has a larger number than its bytes.
fn decode(values: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(values.len() * BLOCK.0 / BLOCK.1);
    for block in values.chunks(BLOCK.1) {
        let n_bytes = if block.len() == BLOCK.1 {
            BLOCK.0
        } else {
            LAST.0
        };
        let number = block
            .iter()
            .fold(0_u128, |sum, value| sum * 58 + u128::from(*value));
        if number >> (8 * n_bytes) != 0 {
            return None;
        }
        bytes.extend(&number.to_be_bytes()[16 - n_bytes..]);
    }
    Some(bytes)
}

impl Layout for Monero {
    const WHAT: &'static str = "Monero address";
    const ALPHABET: &'static str = ALPHABET;
    const HAS_CASE: bool = true;
    const CHECKED_BITS: i32 = 32;

    fn split(text: &str) -> Option<(&'static str, &str)> {
        Some(("", text))
    }

    fn lens(_: &str) -> &'static [usize] {
        &LENS
    }

    fn is_certain(_: &str, text: &str) -> bool {
        text.to_ascii_uppercase().starts_with(FIRST)
    }

    fn valid(_: &str, texts: &[Zeroizing<Vec<u8>>]) -> Vec<(usize, String, bool)> {
        let decoded = texts.iter().enumerate().filter_map(|(number, values)| {
            let bytes = decode(values)?;
            let is_of = |(network, len, _): &&(u8, usize, &str)| {
                *network == bytes[0] && *len == values.len()
            };
            let (_, _, what) = NETWORKS.iter().find(is_of)?;
            Some((number, what, bytes))
        });
        let decoded: Vec<_> = decoded.collect();
        let blocks = decoded
            .iter()
            .map(|(.., bytes)| Block::new(&bytes[..bytes.len() - CHECKSUM_LEN]));
        let blocks: Vec<Block> = blocks.collect();
        let mut digests = vec![[0; 4]; blocks.len()];
        Kernel::fastest().digest(&blocks, &mut digests);
        let checked = decoded.into_iter().zip(digests);
        let valid = checked.filter(|((.., bytes), digest)| {
            digest[0].to_le_bytes()[..CHECKSUM_LEN] == bytes[bytes.len() - CHECKSUM_LEN..]
        });
        valid
            .map(|((number, what, _), _)| (number, (*what).to_owned(), false))
            .collect()
    }
}
