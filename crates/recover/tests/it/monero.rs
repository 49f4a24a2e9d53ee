//! Addresses of Monero.

use hashlane_recover::{Answer, Refusal, recover};
use proptest::prelude::*;

use crate::reference::every_text_is_found;

/// Addresses of Monero's documentation: standard, integrated, subaddress, and of a testnet.
const ADDRESSES: [(&str, &str); 4] = [
    (
        "4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2684Rge",
        "Monero address",
    ),
    (
        "4LL9oSLmtpccfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2bYXZKKQePHES9khPK",
        "Monero integrated address",
    ),
    (
        "888tNkZrPN6JsEgekjMnABU4TBzc2Dt29EPAvkRxbANsAnjyPbb3iQ1YBRk1UXcdRsiKc9dhwMVgN5S9cQUiyoogDavup3H",
        "Monero subaddress",
    ),
    (
        "9ujeXrjzf7bfeK3KZdCqnYaMwZVFuXemPU8Ubw335rj2FN1CdMiWNyFV3ksEfMFvRp9L9qum5UxkP5rN9aLcPxbH1au4WAB",
        "Monero testnet address",
    ),
];

fn answer(text: &str, errors: Option<u8>) -> Result<Answer, Refusal> {
    recover(text, errors, &|_| true, false).expect("a known kind")
}

fn assert_only(damaged: &str, address: &str, edits: u32) {
    let answer = answer(damaged, None).unwrap();
    assert_eq!(answer.hits.len(), 1, "{damaged}: {answer:?}");
    assert_eq!(
        (answer.hits[0].text.as_str(), answer.hits[0].edits),
        (address, edits)
    );
}

#[test]
fn intact_addresses() {
    for (address, what) in ADDRESSES {
        let answer = answer(address, None).unwrap();
        assert!(answer.is_intact, "{answer:?}");
        assert_eq!(
            (answer.what.as_str(), answer.hits[0].what.as_str()),
            ("Monero address", what)
        );
        assert!(!answer.hits[0].is_secret);
    }
}

/// Damage in the first and the last block, and at the ends of blocks.
#[test]
fn one_error() {
    for (address, _) in ADDRESSES {
        for position in [
            0,
            1,
            10,
            11,
            50,
            address.len() - 8,
            address.len() - 7,
            address.len() - 2,
        ] {
            let (before, after) = address.split_at(position);
            let wrong = if after.starts_with('z') { 'y' } else { 'z' };
            assert_only(&format!("{before}{wrong}{}", &after[1..]), address, 1);
            assert_only(&format!("{before}0{}", &after[1..]), address, 1);
            assert_only(&format!("{before}{}", &after[1..]), address, 1);
            assert_only(&format!("{before}{wrong}{after}"), address, 1);
            assert_only(&format!("{before}?{}", &after[1..]), address, 0);
            assert_only(
                &format!("{before}[{wrong}{}]?{}", &after[..1], &after[2..]),
                address,
                0,
            );
            let (one, two) = (&after[..1], &after[1..2]);
            if one != two {
                assert_only(&format!("{before}{two}{one}{}", &after[2..]), address, 1);
            }
        }
    }
    let damaged = ADDRESSES[0].0.replace("Mvpp", "Mvqp");
    let hit = &answer(&damaged, None).unwrap().hits[0];
    assert_eq!(hit.changed, [ADDRESSES[0].0.find("Mvpp").unwrap() + 2]);
}

#[test]
fn two_errors() {
    let address = ADDRESSES[0].0;
    assert_only(
        &address.replace("Usx", "Usy").replace("Mvpp", "Mvqp"),
        address,
        2,
    );
}

/// All texts within one wrong character of a text without checksum are those that have a correct one.
#[test]
fn no_hit_is_invented() {
    let text = ADDRESSES[0].0.replace("Mvpp", "Mwqq");
    let answer = answer(&text, Some(1)).unwrap();
    assert_eq!(
        (answer.hits.len(), answer.errors),
        (0, Some(1)),
        "{answer:?}"
    );
    // Any character at each of 95 places, the text itself, and up to 94 exchanged pairs.
    assert!(
        (5511.0..=5605.0).contains(&answer.count.candidates),
        "{answer:?}"
    );
}

/// Sixty letters that lost their case are too many. A few are searched for.
#[test]
fn lost_case() {
    let address = ADDRESSES[0].0;
    let refusal = answer(&address.to_lowercase(), None)
        .unwrap_err()
        .to_string();
    assert!(
        refusal.contains("a Monero address") && refusal.contains("too much is unknown"),
        "{refusal}"
    );
    let sets = |c: char| {
        if c.is_ascii_alphabetic() {
            format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase())
        } else {
            c.into()
        }
    };
    let end: String = address[80..].chars().map(sets).collect();
    assert_only(&format!("{}{end}", &address[..80]), address, 0);
}

#[test]
fn other_texts() {
    for text in ["", "4AdUndXHHZ6c", "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71"] {
        assert_eq!(recover(text, None, &|_| true, true), None, "{text}");
    }
}

/// Addresses that the reference implementation encodes: a wrong, a missing, an extra, an exchanged and an impossible character, and
/// two unknown ones.
#[test]
fn random_addresses_of_the_reference() {
    const SCRIPT: &str = r"
from monero.address import address
from monero import base58
from monero.keccak import keccak_256

def make(chosen, number):
    network, n = chosen.choice([(18, 64), (19, 72), (42, 64), (53, 64), (63, 64), (24, 64), (36, 64)])
    data = bytes([network]) + chosen.randbytes(n)
    text = base58.encode((data + keccak_256(data).digest()[:4]).hex())
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

def check(text):
    try:
        return repr(address(text)) == text
    except ValueError:
        return False
";
    every_text_is_found("MONERO", "monero", "monero", SCRIPT, 24);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_text(text in "[48]?[1-9A-HJ-NP-Za-km-z]{40,106}[0?\\[\\]é]?[1-9a-z]{0,5}") {
        let _ = recover(&text, Some(0), &|_| true, true);
    }
}
