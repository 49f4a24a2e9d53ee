//! Addresses of Polkadot and other chains of Substrate (SS58): the number of the network in one or two bytes, a key of 32 bytes,
//! and the first 2 bytes of the BLAKE2b-512 of `SS58PRE` and these, in Base58 (the page "SS58" of Substrate's documentation;
//! `ss58-registry` names the networks).

use blake2b_simd::Params;
use zeroize::Zeroizing;

use crate::base58::{ALPHABET, decode};
use crate::search::Layout;

/// What is hashed before an address.
const BEFORE: &[u8] = b"SS58PRE";

/// Number of bytes of the key, and of the checksum.
const KEY_LEN: usize = 32;
const CHECKSUM_LEN: usize = 2;

/// Numbers of characters: 46 to 48 with a network of one byte, 49 with one of two bytes.
const LENS: [usize; 4] = [46, 47, 48, 49];

/// The networks whose addresses are seen most often.
const NETWORKS: [(u16, &str); 16] = [
    (0, "Polkadot"),
    (2, "Kusama"),
    (5, "Astar"),
    (6, "Bifrost"),
    (7, "Edgeware"),
    (8, "Karura"),
    (10, "Acala"),
    (12, "Polymesh"),
    (28, "Subsocial"),
    (30, "Phala"),
    (36, "Centrifuge"),
    (38, "KILT"),
    (42, "Substrate"),
    (63, "Hydration"),
    (2032, "Interlay"),
    (2092, "Kintsugi"),
];

/// Numbers that are no network.
const RESERVED: [u16; 2] = [46, 47];

/// Addresses of all networks.
pub(crate) struct Ss58;

/// Returns the network of an address, and its number of bytes.
fn network(bytes: &[u8]) -> Option<(u16, usize)> {
    let (network, len) = match *bytes {
        [first @ 0..64, ..] => (first.into(), 1),
        // The first byte has bits 2 to 7, the second one the highest 6 bits after bits 0 and 1.
        [first @ 64..128, second, ..] => {
            let low = first << 2 | second >> 6;
            (u16::from_be_bytes([second & 0x3f, low]), 2)
        }
        _ => return None,
    };
    let is_shortest = (len == 1) == (network < 64);
    (is_shortest && !RESERVED.contains(&network)).then_some((network, len))
}

/// Returns the network of a valid address.
fn valid_network(values: &[u8]) -> Option<u16> {
    let bytes = decode(values);
    let (network, len) = network(&bytes)?;
    let (payload, checksum) = bytes.split_last_chunk::<CHECKSUM_LEN>()?;
    if payload.len() != len + KEY_LEN {
        return None;
    }
    let mut hash = Params::new().to_state();
    let hash = hash.update(BEFORE).update(payload).finalize();
    hash.as_bytes().starts_with(checksum).then_some(network)
}

impl Layout for Ss58 {
    const WHAT: &'static str = "Polkadot or Substrate address (SS58)";
    const ALPHABET: &'static str = ALPHABET;
    const HAS_CASE: bool = true;
    const CHECKED_BITS: i32 = 8 * CHECKSUM_LEN as i32;

    fn split(text: &str) -> Option<(&'static str, &str)> {
        Some(("", text))
    }

    fn lens(_: &str) -> &'static [usize] {
        &LENS
    }

    /// Other texts of these lengths can be keys that lost characters, X-addresses of the XRP Ledger or content identifiers of IPFS.
    fn is_certain(_: &str, text: &str) -> bool {
        let mut characters = text.chars();
        let first = characters.next();
        let second = characters.next().map(|c| c.to_ascii_uppercase());
        match (text.len(), first, second) {
            (46..=49, Some('1'), _) | (47..=48, Some('5'), Some('C'..='G')) => true,
            // Keys of Bitcoin, which are longer, start with `5Hp` or more, and those of network 42 with less.
            (47..=48, Some('5'), Some('H')) => characters.next().is_some_and(|third| third < 'p'),
            _ => false,
        }
    }

    fn valid(_: &str, texts: &[Zeroizing<Vec<u8>>]) -> Vec<(usize, String, bool)> {
        let valid = texts.iter().enumerate().filter_map(|(number, values)| {
            let network = valid_network(values)?;
            let known = NETWORKS.iter().find(|(other, _)| *other == network);
            let what = known.map_or_else(
                || format!("SS58 address of network {network}"),
                |(_, name)| format!("{name} address (SS58)"),
            );
            Some((number, what, false))
        });
        valid.collect()
    }
}
