//! Addresses of Polkadot and other chains of Substrate.

use hashlane_recover::{Answer, Refusal, recover};
use proptest::prelude::*;

use crate::reference::every_text_is_found;

/// The account of Alice in Substrate's documentation on three networks, and addresses that scalecodec encodes.
const ADDRESSES: [(&str, &str); 6] = [
    (
        "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY",
        "Substrate address (SS58)",
    ),
    (
        "15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5",
        "Polkadot address (SS58)",
    ),
    (
        "HNZata7iMYWmk5RvZRTiAsSDhV8366zq2YGb3tLH5Upf74F",
        "Kusama address (SS58)",
    ),
    (
        "wdD42ZrY8V2tFLNStysc5p73m4foN1i7q8uNB6M3d9ow3Bm7N",
        "Interlay address (SS58)",
    ),
    (
        "cEYNaAtsS5mPwXYBoBpXrNC1uxbjDdkEQi8H5kYZAaoRJzbkb",
        "SS58 address of network 64",
    ),
    (
        "111138ybL5B8GvswjxvuDcpMiBSVhBajLQUGc3Yk7vepSg1",
        "Polkadot address (SS58)",
    ),
];

fn answer(text: &str, errors: Option<u8>) -> Result<Answer, Refusal> {
    recover(text, errors, &|_| true, true).expect("a known kind")
}

/// Asserts that an address is among the hits. The checksum has 16 bits, so there can be others.
fn assert_found(damaged: &str, address: &str, edits: u32) {
    let answer = answer(damaged, None).unwrap();
    let is_original = |hit: &&hashlane_recover::Repaired| hit.text.as_str() == address;
    let hit = answer.hits.iter().find(is_original);
    let hit = hit.unwrap_or_else(|| panic!("{damaged} of {address}: {answer:?}"));
    assert_eq!(hit.edits, edits, "{damaged}: {hit:?}");
    assert!(answer.hits.len() <= 3, "{damaged}: {answer:?}");
}

#[test]
fn intact_addresses() {
    for (address, what) in ADDRESSES {
        let answer = answer(address, None).unwrap();
        assert!(answer.is_intact, "{answer:?}");
        assert_eq!(answer.hits[0].what, what);
        assert!(!answer.hits[0].is_secret);
    }
}

#[test]
fn one_error() {
    for (address, _) in ADDRESSES {
        for position in [1, 2, 10, 25, address.len() - 2] {
            let (before, after) = address.split_at(position);
            let wrong = if after.starts_with('z') { 'y' } else { 'z' };
            assert_found(&format!("{before}{wrong}{}", &after[1..]), address, 1);
            assert_found(&format!("{before}0{}", &after[1..]), address, 1);
            assert_found(&format!("{before}?{}", &after[1..]), address, 0);
            let (one, two) = (&after[..1], &after[1..2]);
            if one != two {
                assert_found(&format!("{before}{two}{one}{}", &after[2..]), address, 1);
            }
        }
    }
    // Of these, texts with one character more or less are of no other kind.
    for (address, _) in &ADDRESSES[..3] {
        let (before, after) = address.split_at(20);
        assert_found(&format!("{before}{}", &after[1..]), address, 1);
    }
    for (address, _) in &ADDRESSES[1..3] {
        let (before, after) = address.split_at(20);
        assert_found(&format!("{before}z{after}"), address, 1);
    }
}

/// Two errors have some hundred solutions, which the number of accidental hits says.
#[test]
fn two_errors() {
    let address = ADDRESSES[0].0;
    let answer = answer(&address.replace("5zXb26", "6zXb27"), None).unwrap();
    let is_original = |hit: &hashlane_recover::Repaired| hit.text.as_str() == address;
    assert!(answer.hits.iter().any(is_original), "{answer:?}");
    assert!(answer.count.accidental_hits > 50.0, "{:?}", answer.count);
    let hits = f64::from(u32::try_from(answer.hits.len()).unwrap());
    assert!(
        hits < answer.count.accidental_hits,
        "{hits} hits, {:?}",
        answer.count
    );
}

#[test]
fn lost_case() {
    let refusal = answer(&ADDRESSES[0].0.to_lowercase(), None);
    let refusal = refusal.unwrap_err().to_string();
    let parts = [
        "a Polkadot or Substrate address (SS58): too much is unknown",
        " candidates exceed",
    ];
    assert!(parts.iter().all(|part| refusal.contains(part)), "{refusal}");
    let letters = |c: char| format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase());
    let (before, after) = ADDRESSES[0].0.split_at(40);
    let sets = |c: char| {
        if c.is_ascii_alphabetic() {
            letters(c)
        } else {
            c.into()
        }
    };
    let after: String = after.chars().map(sets).collect();
    assert_found(&format!("{before}{after}"), ADDRESSES[0].0, 0);
}

/// Addresses whose checksum is correct, of networks that do not exist: 46 and 47 are reserved, 42 in two bytes is not the shortest
/// form, and the others have a key of 31 and of 33 bytes.
#[test]
fn wrong_addresses() {
    for text in [
        "5eEm1eGbJ7iFD4pinoprNPLhhtKAJnZr27Pe6jm7TsBs4ubz",
        "Zp2FuWRMRd9Peb8mKDg5eMCVZ5oSRTHmKxEiAYKcMGibk1cP6",
        "y29ntquZfja3obUqPZUwFZC6Z5BTLJSx97uzVLB51LaSow",
        "5nQhSGfW4qnY2PRP8KMbg7i2sQH5YZrYcwbwkNL7Yj4KefdW",
        "Kt6ENmEYfVhHHnWYtwcD1QMajRW4XgpkHcypSoFmWENogMzZC",
    ] {
        let hits = recover(text, Some(0), &|_| true, true).map(|answer| answer.unwrap().hits);
        assert_eq!(hits.unwrap_or_default(), [], "{text}");
    }
}

/// Texts of other kinds that have the lengths of an address: a content identifier of IPFS, an X-address with one wrong character, and
/// private keys that lost characters.
#[test]
fn other_texts() {
    for text in [
        "",
        "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG",
        "XVLhHMPHU98es4dbozjVtdWzVrDjtV18pX8yuPT7y4xaEHj",
        "T719a5UwUCnEs54UsxG9CJYYDhwmFCqkr7wxCcNcfZ6p5GZ",
        "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvy",
        "KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2LJGU1ZxJwYv",
    ] {
        assert_eq!(recover(text, None, &|_| true, false), None, "{text}");
    }
}

#[test]
fn random_addresses_of_the_reference() {
    const SCRIPT: &str = r"
from scalecodec.utils.ss58 import is_valid_ss58_address, ss58_encode

def make(chosen, number):
    network = chosen.choice([0, 2, 5, 10, 42, 63, 64, 255, 2032, 16383])
    text = ss58_encode(chosen.randbytes(32), network)
    characters = list(text)
    place, other = chosen.sample(range(len(text) - 1), 2)
    new = chosen.choice('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')
    how = number % 6
    if how == 0:
        characters[place] = new
    elif how == 1:
        del characters[place]
    elif how == 2:
        characters.insert(place, new)
    elif how == 3:
        characters[place:place + 2] = reversed(characters[place:place + 2])
    elif how == 4:
        characters[place] = 'O'
    else:
        characters[place] = characters[other] = '?'
    return text, ''.join(characters)

check = is_valid_ss58_address
";
    every_text_is_found("SCALECODEC", "scalecodec", "scalecodec", SCRIPT, 24);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_text(text in "[15C-J]?[1-9A-HJ-NP-Za-km-z]{40,50}[0?\\[\\]é]?[1-9a-z]{0,3}") {
        let _ = recover(&text, Some(0), &|_| true, true);
    }
}
