//! Keys and addresses in Base32: Stellar, Algorand and Filecoin.

use hashlane_recover::{Answer, Refusal, Repaired, recover};
use proptest::prelude::*;

use crate::reference::every_text_is_found;

/// Examples of SEP 23, Algorand's documentation and Filecoin's specification, and keys that stellar-sdk encodes.
const TEXTS: [(&str, &str); 13] = [
    (
        "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
        "Stellar account",
    ),
    (
        "SAAACAQDAQCQMBYIBEFAWDANBYHRAEISCMKBKFQXDAMRUGY4DUPB6NKI",
        "Stellar secret seed",
    ),
    (
        "TAAACAQDAQCQMBYIBEFAWDANBYHRAEISCMKBKFQXDAMRUGY4DUPB6ULG",
        "Stellar pre-authorized transaction",
    ),
    (
        "XAAACAQDAQCQMBYIBEFAWDANBYHRAEISCMKBKFQXDAMRUGY4DUPB7QO7",
        "Stellar hash of a signer",
    ),
    (
        "CA3D5KRYM6CB7OWQ6TWYRR3Z4T7GNZLKERYNZGGA5SOAOPIFY6YQGAXE",
        "Stellar contract",
    ),
    (
        "LA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUPJN",
        "Stellar liquidity pool",
    ),
    (
        "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK",
        "Stellar muxed account",
    ),
    (
        "BAAD6DBUX6J22DMZOHIEZTEQ64CVCHEDRKWZONFEUL5Q26QD7R76RGR4TU",
        "Stellar claimable balance",
    ),
    (
        "7ZUECA7HFLZTXENRV24SHLU4AVPUTMTTDUFUBNBD64C73F3UHRTHAIOF6Q",
        "Algorand address",
    ),
    (
        "f17uoq6tp427uzv7fztkbsnn64iwotfrristwpryy",
        "Filecoin address of a key (secp256k1)",
    ),
    (
        "f24vg6ut43yw2h2jqydgbg2xq7x6f4kub3bg6as6i",
        "Filecoin address of an actor",
    ),
    (
        "f3vvmn62lofvhjd2ugzca6sof2j2ubwok6cj4xxbfzz4yuxfkgobpihhd2thlanmsh3w2ptld2gqkn2jvlss4a",
        "Filecoin address of a key (BLS)",
    ),
    (
        "f410fkkld55ioe7qg24wvt7fu6pbknb56ht7pt4zamxa",
        "Filecoin address of the Ethereum virtual machine",
    ),
];

fn answer(text: &str, errors: Option<u8>) -> Result<Answer, Refusal> {
    recover(text, errors, &|_| true, false).expect("a known kind")
}

/// Returns the hit for a text. The checksum of Stellar has 16 bits, so there can be others.
fn hit(damaged: &str, text: &str) -> Repaired {
    let answer = answer(damaged, None).unwrap();
    let is_only = answer.hits.len() == 1 || answer.what == "Stellar key";
    assert!(is_only, "{damaged}: {answer:?}");
    let found = answer.hits.iter().find(|hit| hit.text.as_str() == text);
    found
        .unwrap_or_else(|| panic!("{damaged} of {text}: {answer:?}"))
        .clone()
}

#[test]
fn intact_texts() {
    for (text, what) in TEXTS {
        for written in [text.to_owned(), text.to_lowercase(), text.to_uppercase()] {
            let answer = answer(&written, None).unwrap();
            assert!(answer.is_intact, "{answer:?}");
            let hit = &answer.hits[0];
            assert_eq!((hit.text.as_str(), hit.what.as_str()), (text, what));
            assert_eq!(hit.is_secret, what.contains("secret"));
        }
    }
}

#[test]
fn one_error() {
    for (text, _) in TEXTS {
        for position in [5, 9, 20, text.len() - 3, text.len() - 2] {
            let (before, after) = text.split_at(position);
            let wrong = if after.to_lowercase().starts_with('h') {
                "i"
            } else {
                "h"
            };
            let wrong = if text.starts_with('f') {
                wrong.to_owned()
            } else {
                wrong.to_uppercase()
            };
            let found = hit(&format!("{before}{wrong}{}", &after[1..]), text);
            assert_eq!((found.edits, found.changed), (1, vec![position]));
            assert_eq!(hit(&format!("{before}0{}", &after[1..]), text).edits, 1);
            assert_eq!(hit(&format!("{before}{}", &after[1..]), text).edits, 1);
            assert_eq!(hit(&format!("{before}{wrong}{after}"), text).edits, 1);
            assert_eq!(hit(&format!("{before}?{}", &after[1..]), text).edits, 0);
            let (one, two) = (&after[..1], &after[1..2]);
            if one != two {
                assert_eq!(
                    hit(&format!("{before}{two}{one}{}", &after[2..]), text).edits,
                    1
                );
            }
        }
    }
}

/// Two errors: of the checksums of 32 bits, the original is the only hit. That of Stellar has 16, and some twenty other hits.
#[test]
fn two_errors() {
    for (text, n_max) in [(TEXTS[0].0, 60), (TEXTS[8].0, 1), (TEXTS[9].0, 1)] {
        let (before, after) = text.split_at(12);
        let wrong = if after.to_uppercase().starts_with('Q') {
            "r"
        } else {
            "q"
        };
        let damaged = format!("{before}{wrong}{}", &after[1..]);
        let damaged = format!("{}{wrong}{}", &damaged[..30], &damaged[31..]);
        let damaged = if text.starts_with('f') {
            damaged
        } else {
            damaged.to_uppercase()
        };
        let answer = answer(&damaged, Some(2)).unwrap();
        assert!(
            answer
                .hits
                .iter()
                .any(|hit| hit.text.as_str() == text && hit.edits == 2),
            "{answer:?}"
        );
        assert!(answer.hits.len() <= n_max, "{answer:?}");
        assert_eq!(answer.count.accidental_hits > 1.0, n_max > 1, "{answer:?}");
    }
}

/// A wrong first character changes the version of Stellar, which its checksum covers.
#[test]
fn a_wrong_version() {
    let text = TEXTS[0].0;
    assert_eq!(hit(&format!("C{}", &text[1..]), text).changed, [0]);
}

/// Texts of other kinds.
#[test]
fn other_texts() {
    for text in [
        "",
        "f0",
        "f01234",
        "G",
        "stellar",
        "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71",
        "celestiavaloper1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq",
    ] {
        let answer = recover(text, None, &|_| true, false);
        let is_other = |answer: &Answer| !answer.what.contains("Stellar") && answer.hits.is_empty();
        assert!(
            answer.is_none_or(|answer| answer.is_ok_and(|answer| is_other(&answer))),
            "{text}"
        );
    }
}

/// Returns a script that damages texts of `make_text`: a wrong, a missing, an extra and an exchanged character, and two unknown ones.
fn script(start: &str) -> String {
    format!(
        "{start}
def make(chosen, number):
    text, alphabet = make_text(chosen)
    characters = list(text)
    place, other = chosen.sample(range(5, len(text) - 1), 2)
    new = chosen.choice(alphabet)
    how = number % 5
    if how == 0:
        characters[place] = new
    elif how == 1:
        del characters[place]
    elif how == 2:
        characters.insert(place, new)
    elif how == 3:
        characters[place:place + 2] = reversed(characters[place:place + 2])
    else:
        characters[place] = characters[other] = '?'
    return text, ''.join(characters)
"
    )
}

#[test]
fn random_keys_of_stellar() {
    let script = script(
        r"
from stellar_sdk.strkey import StrKey
KINDS = ['ed25519_public_key', 'ed25519_secret_seed', 'pre_auth_tx', 'sha256_hash', 'contract', 'liquidity_pool']

def make_text(chosen):
    return getattr(StrKey, 'encode_' + chosen.choice(KINDS))(chosen.randbytes(32)), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

def check(text):
    return any(getattr(StrKey, 'is_valid_' + kind)(text) for kind in KINDS)
",
    );
    every_text_is_found("STELLAR", "stellar_sdk", "stellar-sdk", &script, 25);
}

#[test]
fn random_addresses_of_algorand() {
    let script = script(
        r"
from algosdk import encoding

def make_text(chosen):
    return encoding.encode_address(chosen.randbytes(32)), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

check = encoding.is_valid_address
",
    );
    every_text_is_found("ALGORAND", "algosdk", "py-algorand-sdk", &script, 25);
}

/// Python's own BLAKE2b and Base32 after the specification.
#[test]
fn random_addresses_of_filecoin() {
    let script = script(
        r"
from base64 import b32decode, b32encode
from hashlib import blake2b

def make_text(chosen):
    protocol, n = chosen.choice([(1, 20), (2, 20), (3, 48)])
    payload = chosen.randbytes(n)
    checksum = blake2b(bytes([protocol]) + payload, digest_size=4).digest()
    text = b32encode(payload + checksum).decode().lower().rstrip('=')
    return f'f{protocol}{text}', 'abcdefghijklmnopqrstuvwxyz234567'

def check(text):
    data = text[2:].upper()
    data = b32decode(data + '=' * (-len(data) % 8))
    return blake2b(bytes([int(text[1])]) + data[:-4], digest_size=4).digest() == data[-4:]
",
    );
    every_text_is_found("PYTHON", "hashlib", "python3", &script, 25);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_text(text in "(G|S|M|B|f1|f3|t410f)?[A-Z2-7a-z0?é]{36,90}") {
        let _ = recover(&text, Some(0), &|_| true, true);
    }
}
