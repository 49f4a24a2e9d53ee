//! Damaged witness addresses.

use hashlane_recover::{RepairError, Repaired, is_witness_address, repair};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The valid addresses of BIP 350, including the still valid ones of BIP 173, and a Litecoin address.
const ADDRESSES: [&str; 9] = [
    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
    "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y",
    "bc1sw50qgdz25j",
    "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs",
    "tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy",
    "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c",
    "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
    "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9",
];

const CHARSET: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

fn repaired(text: &str) -> Vec<Repaired> {
    let found = repair(text).unwrap();
    let is_witness = |one: &&Repaired| one.what.starts_with("witness");
    for one in found.iter().filter(is_witness) {
        assert!(is_witness_address(&one.text), "{text}: {one:?}");
    }
    assert!(found.is_sorted_by_key(|one| one.edits), "{text}: {found:?}");
    found
}

fn texts(text: &str) -> Vec<String> {
    repaired(text)
        .into_iter()
        .map(|one| one.text.to_string())
        .collect()
}

fn with(text: &str, position: usize, character: char) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    characters[position] = character;
    characters.into_iter().collect()
}

fn start_len(text: &str) -> usize {
    text.find('1').unwrap() + 1
}

#[test]
fn intact_addresses() {
    for address in ADDRESSES {
        assert!(is_witness_address(address), "{address}");
        let found = repaired(&address.to_ascii_uppercase());
        assert_eq!((found[0].text.as_str(), found[0].edits), (address, 0));
        assert_eq!(found[0].changed, []);
        let version = CHARSET.find(&address[start_len(address)..=start_len(address)]);
        assert_eq!(
            found[0].what,
            format!("witness version {}", version.unwrap())
        );
    }
}

/// Wrong checksums, codes, versions and lengths from BIP 173 and BIP 350.
#[test]
fn invalid_addresses() {
    for address in [
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
        "bc1rw5uspcuh",
        "bc10w508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kw5rljs90",
        "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd",
        "tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf",
        "bc1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq54wvjf4",
        "bc1gmk9yu",
    ] {
        assert!(!is_witness_address(address), "{address}");
        for found in repaired(address) {
            assert_ne!(found.text.as_str(), address);
        }
    }
}

#[test]
fn a_wrong_character_at_each_position() {
    for address in ADDRESSES {
        for position in start_len(address)..address.len() {
            // Tries four of the 31 other characters: all of them take a minute.
            for character in CHARSET.chars().skip(position % 8).step_by(8) {
                let damaged = with(address, position, character);
                if damaged == address {
                    continue;
                }
                let found = repaired(&damaged);
                assert_eq!(found[0].edits, 1, "{damaged}: {found:?}");
                let this = found
                    .iter()
                    .find(|one| one.text.as_str() == address)
                    .unwrap();
                assert_eq!(this.changed, [position], "{damaged}");
            }
        }
    }
}

#[test]
fn characters_that_no_string_has_are_unknown() {
    let address = ADDRESSES[0];
    let damaged = address.replace("0c5xw7kv8f3t4", "oc5xw7kvbf3t4");
    let found = repaired(&damaged);
    assert_eq!((found[0].text.as_str(), found[0].edits), (address, 2));
    assert_eq!(texts(&with(&damaged, 10, '?'))[..1], [address]);
}

#[test]
fn wrong_starts() {
    for damaged in [
        "bclqw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
        "8c1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
        "BClQw508d6qejxtdg4y5r3zarvbry0c5xw7kv8f3t4",
    ] {
        assert_eq!(texts(damaged)[..1], [ADDRESSES[0]], "{damaged}");
    }
    for text in ["1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71", "", "bc", "bx1qqqq"] {
        assert_eq!(repair(text), Err(RepairError::HumanReadable), "{text}");
    }
}

#[test]
fn missing_and_extra_characters() {
    let address = ADDRESSES[0];
    for position in start_len(address)..address.len() {
        let mut missing = address.to_owned();
        missing.remove(position);
        let mut extra = address.to_owned();
        extra.insert(position, 'x');
        for damaged in [missing, extra] {
            let found = repaired(&damaged);
            let this = found.iter().find(|one| one.text.as_str() == address);
            assert_eq!(this.unwrap().edits, 1, "{damaged}: {found:?}");
        }
    }
}

#[test]
fn limits() {
    let address = ADDRESSES[0];
    let damaged = address.replace("0c5xw", "?????");
    let expected = RepairError::TooManyUnknown { found: 5 };
    assert_eq!(repair(&damaged), Err(expected));
    // A set allows its members only.
    let damaged = address.replace("0c5xw", "[0q][cq][5q][xq][wq]");
    assert_eq!(texts(&damaged)[..1], [address]);
    for (text, position) in [("bc1q[", 4), ("bc1q[]", 4), ("bc1qq[b]", 5), ("bc1[q", 3)] {
        assert_eq!(repair(text), Err(RepairError::Set { position }), "{text}");
    }
    let long = format!("bc1{}", "q".repeat(1000));
    assert_eq!(
        repair(&long),
        Err(RepairError::TooLong {
            found: 1003,
            maximum: 90
        })
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any two wrong characters are corrected, and no other string of the same code is as close.
    #[test]
    fn two_wrong_characters(address in select(&ADDRESSES[..]), places in [any::<Index>(), any::<Index>()], by in ["[a-z0-9]", "[a-z0-9]"]) {
        let start = start_len(address);
        let mut damaged = address.to_owned();
        for (place, by) in places.iter().zip(&by) {
            let by = by.chars().next().unwrap();
            damaged = with(&damaged, start + place.index(address.len() - start), by);
        }
        let found = repaired(&damaged);
        let is_bech32m = |one: &Repaired| !one.what.ends_with(" 0");
        let this = found.iter().find(|one| one.text.as_str() == address);
        prop_assert!(this.is_some(), "{}: {:?}", damaged, found);
        let same = found.iter().filter(|one| is_bech32m(one) == is_bech32m(this.unwrap()) && one.text.len() == address.len());
        prop_assert_eq!(same.count(), 1, "{}: {:?}", damaged, found);
    }

    #[test]
    fn up_to_four_unknown_characters(address in select(&ADDRESSES[..]), places in proptest::collection::vec(any::<Index>(), 1..=4), wrong in any::<Index>()) {
        let start = start_len(address);
        let mut damaged = address.to_owned();
        for place in &places {
            damaged = with(&damaged, start + place.index(address.len() - start), '?');
        }
        if damaged.matches('?').count() <= 2 {
            damaged = with(&damaged, start + wrong.index(address.len() - start), 'x');
        }
        let found = texts(&damaged);
        prop_assert!(found.iter().any(|text| text == address), "{}: {:?}", damaged, found);
    }

    #[test]
    fn any_text(text in "(bc1|tb1|ltc1)?[a-z0-9?\\[\\]é]{0,30}") {
        let _ = repair(&text).map(|found| found.len());
    }
}
