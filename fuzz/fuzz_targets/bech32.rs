//! Damaged witness addresses. Any text is either refused or repaired to valid addresses; an address with no more damage
//! than the code can repair is found again.
#![no_main]

use arbitrary::Arbitrary;
use bech32::primitives::gf32::Fe32;
use bech32::{Hrp, segwit};
use hashlane_recover::{is_witness_address, repair};
use libfuzzer_sys::fuzz_target;

const CHARSET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Numbers of wrong and of unknown characters that determine the original.
const REPAIRABLE: [(usize, usize); 8] = [
    (0, 0),
    (1, 0),
    (2, 0),
    (0, 1),
    (1, 1),
    (1, 2),
    (0, 3),
    (0, 4),
];

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    text: &'a str,
    network: u8,
    version: u8,
    program: &'a [u8],
    damage: u8,
    /// Positions and other characters.
    places: [(u8, u8); 4],
}

fuzz_target!(|input: Input<'_>| {
    check(input.text);
    let Some(address) = address(&input) else {
        return;
    };
    assert!(is_witness_address(&address));
    let (n_wrong, n_unknown) = REPAIRABLE[usize::from(input.damage) % REPAIRABLE.len()];
    let damaged = damaged(&address, &input.places, n_wrong, n_unknown);
    let found = check(&damaged);
    assert!(found.contains(&address), "{address} as {damaged}");
});

/// Repairs a text, and returns the addresses.
fn check(text: &str) -> Vec<String> {
    let found = match repair(text) {
        Ok(found) => found,
        Err(error) => {
            let _ = error.to_string();
            return Vec::new();
        }
    };
    assert!(found.is_sorted_by_key(|repaired| repaired.edits));
    for repaired in &found {
        let is_witness = repaired.what.starts_with("witness");
        assert_eq!(is_witness_address(&repaired.text), is_witness, "{repaired:?}");
        assert!(
            repaired
                .changed
                .iter()
                .all(|position| *position < repaired.text.len())
        );
    }
    let texts: Vec<String> = found.into_iter().map(|repaired| repaired.text.to_string()).collect();
    let mut distinct = texts.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), texts.len());
    texts
}

/// Returns the address of a witness program, if the input has a valid one.
fn address(input: &Input<'_>) -> Option<String> {
    let network = ["bc", "tb", "bcrt", "ltc", "tltc"].get(usize::from(input.network) % 5)?;
    let version = Fe32::try_from(input.version % 17).ok()?;
    segwit::encode(Hrp::parse(network).ok()?, version, input.program).ok()
}

/// Returns the address with wrong characters, and then `?`, at different places after the separator.
fn damaged(address: &str, places: &[(u8, u8); 4], n_wrong: usize, n_unknown: usize) -> String {
    let mut characters = address.as_bytes().to_vec();
    let start = address.rfind('1').expect("every address has a separator") + 1;
    let mut used: Vec<usize> = Vec::new();
    for (i, (position, other)) in places.iter().take(n_wrong + n_unknown).enumerate() {
        let mut position = start + usize::from(*position) % (characters.len() - start);
        while used.contains(&position) {
            position = start + (position + 1 - start) % (characters.len() - start);
        }
        used.push(position);
        characters[position] = if i < n_wrong {
            CHARSET[usize::from(*other) % CHARSET.len()]
        } else {
            b'?'
        };
    }
    String::from_utf8(characters).expect("all characters are ASCII")
}
