//! Addresses of Ethereum.

use std::collections::BTreeSet;

use hashlane_recover::{Answer, Refusal, recover};
use proptest::prelude::*;
use sha3::{Digest as _, Keccak256};

/// The addresses of EIP-55: mixed, in upper case only, and in lower case only.
const ADDRESSES: [&str; 8] = [
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
    "0xde709f2102306220921060314715629080e2fb77",
    "0x27b1fdb04752bbc536007a920d24acb045561c26",
];

/// Addresses of EIP-1191, of the chains 30 and 31.
const ROOTSTOCK: [(&str, &str); 2] = [
    (
        "0x5aaEB6053f3e94c9b9a09f33669435E7ef1bEAeD",
        "Rootstock address (EIP-1191, chain 30)",
    ),
    (
        "0x5aAeb6053F3e94c9b9A09F33669435E7EF1BEaEd",
        "Rootstock testnet address (EIP-1191, chain 31)",
    ),
];

fn answer(text: &str) -> Result<Answer, Refusal> {
    recover(text, None, &|_| true, false).expect("a known kind")
}

fn texts(text: &str, errors: u8) -> BTreeSet<String> {
    let answer = recover(text, Some(errors), &|_| true, false)
        .expect("a known kind")
        .unwrap();
    answer.hits.iter().map(|hit| hit.text.to_string()).collect()
}

/// Returns the address of digits in lower case, as the reference implementation of EIP-55 does.
fn checksummed(digits: &str) -> String {
    let hash = Keccak256::digest(digits);
    let digits = digits.char_indices().map(|(i, digit)| {
        let nibble = if i % 2 == 0 {
            hash[i / 2] >> 4
        } else {
            hash[i / 2] & 15
        };
        if nibble >= 8 {
            digit.to_ascii_uppercase()
        } else {
            digit
        }
    });
    "0x".chars().chain(digits).collect()
}

#[test]
fn intact_addresses() {
    for address in ADDRESSES {
        assert_eq!(checksummed(&address[2..].to_lowercase()), address);
        let answer = answer(address).unwrap();
        assert!(answer.is_intact, "{answer:?}");
        assert_eq!(answer.hits[0].text.as_str(), address);
    }
    for (address, what) in ROOTSTOCK {
        let answer = answer(address).unwrap();
        assert_eq!(
            (answer.is_intact, answer.hits[0].what.as_str()),
            (true, what)
        );
    }
}

/// The address of the issue: one wrong digit has one solution.
#[test]
fn a_wrong_digit() {
    let answer = answer("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee").unwrap();
    let hit = &answer.hits[0];
    assert_eq!(
        (answer.hits.len(), hit.text.as_str(), hit.edits),
        (1, ADDRESSES[0], 1)
    );
    assert_eq!(
        (hit.changed.as_slice(), answer.errors, answer.is_intact),
        ([41].as_slice(), Some(1), false)
    );
    assert!(answer.count.accidental_hits < 0.2, "{answer:?}");
}

#[test]
fn text_in_one_case_has_no_checksum() {
    for text in [
        &ADDRESSES[0].to_lowercase(),
        "0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED",
        "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae",
        "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaedd",
        "0x0000000000000000000000000000000000000001",
    ] {
        let refusal = answer(text).unwrap_err().to_string();
        assert!(refusal.contains("carries no checksum"), "{refusal}");
    }
}

/// All texts within one wrong digit, compared with the reference.
#[test]
fn one_wrong_digit_by_brute_force() {
    let damaged = "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FA";
    let digits = damaged[2..].to_lowercase();
    let mut expected = BTreeSet::new();
    for position in 0..40 {
        for digit in "0123456789abcdef".chars() {
            let mut other: Vec<char> = digits.chars().collect();
            other[position] = digit;
            let text = checksummed(&other.iter().collect::<String>());
            let differ = text
                .bytes()
                .zip(damaged.bytes())
                .filter(|(a, b)| a != b)
                .count();
            if differ <= 1 {
                expected.insert(text);
            }
        }
    }
    let answer = recover(damaged, Some(1), &|_| true, false)
        .unwrap()
        .unwrap();
    let of_eip55 = answer
        .hits
        .iter()
        .filter(|hit| hit.what.contains("EIP-55") && hit.text.len() == damaged.len());
    let wrong = of_eip55.filter(|hit| {
        hit.text
            .bytes()
            .zip(damaged.bytes())
            .filter(|(a, b)| a != b)
            .count()
            <= 1
    });
    let found: BTreeSet<String> = wrong.map(|hit| hit.text.to_string()).collect();
    assert_eq!(found, expected);
    assert!(found.contains(ADDRESSES[2]));
}

#[test]
fn lost_case() {
    let (before, after) = ADDRESSES[2].split_at(38);
    let answer = answer(&format!("{before}{}", after.to_lowercase())).unwrap();
    assert_eq!(
        (answer.hits.len(), answer.hits[0].text.as_str()),
        (1, ADDRESSES[2])
    );
    assert_eq!(answer.hits[0].edits, 3);
}

#[test]
fn other_texts() {
    for text in [
        "",
        "0x",
        "0x12",
        "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71",
        "0x[5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    ] {
        assert_eq!(recover(text, None, &|_| true, false), None, "{text}");
    }
    let unknown = answer("0x??????????????????????????????A09f33669435").unwrap_err();
    assert!(
        unknown.to_string().contains("too much is unknown"),
        "{unknown}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn damaged_addresses(bytes: [u8; 20], damage in proptest::collection::vec((0..5_u8, 0..39_usize, 0..16_usize), 0..=2)) {
        let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let digits: String = nibbles.map(|nibble| char::from(b"0123456789abcdef"[usize::from(nibble)])).collect();
        let address = checksummed(&digits);
        let mut text: Vec<char> = address[2..].chars().collect();
        for (how, place, digit) in &damage {
            let digit = char::from(b"0123456789abcdef"[*digit]);
            let place = place % (text.len() - 1);
            match how {
                0 => text[place] = digit,
                1 => text[place] = 'l',
                2 => text.swap(place, place + 1),
                3 => { text.remove(place); }
                _ => text.insert(place, digit),
            }
        }
        let text: String = text.into_iter().collect();
        prop_assume!(text.chars().any(|c| c.is_ascii_uppercase()) && text.chars().any(|c| c.is_ascii_lowercase() && c != 'l'));
        let found = texts(&format!("0x{text}"), 2);
        prop_assert!(found.contains(&address), "{} of {}", text, address);
    }

    #[test]
    fn any_text(text in "(0x)?[0-9a-fA-F?\\[\\]é]{0,42}") {
        let _ = recover(&text, Some(0), &|_| true, true);
    }
}
