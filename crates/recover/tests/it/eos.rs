//! Keys of EOS, Hive, Steem, `BitShares` and FIO.

use hashlane_recover::{Answer, Refusal, recover};
use proptest::prelude::*;

use crate::reference::every_text_is_found;

/// Keys of the tests of eosjs, the first of them with the starts of other chains.
const KEYS: [(&str, &str); 7] = [
    (
        "EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV",
        "EOS public key",
    ),
    (
        "STM6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV",
        "Hive or Steem public key",
    ),
    (
        "BTS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV",
        "BitShares public key",
    ),
    (
        "PUB_K1_6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5BoDq63",
        "EOS public key",
    ),
    (
        "PUB_R1_6FPFZqw5ahYrR9jD96yDbbDNTdKtNqRbze6oTDLntrsANgQKZu",
        "EOS public key (secp256r1)",
    ),
    (
        "PVT_K1_2bfGi9rYsXQSXXTvJbDAPhHLQUojjaNLomdm3cEJ1XTzMqUt3V",
        "EOS private key",
    ),
    (
        "PVT_R1_PtoxLPzJZURZmPS4e26pjBiAn41mkkLPrET5qHnwDvbvqFEL6",
        "EOS private key (secp256r1)",
    ),
];

fn answer(text: &str, errors: Option<u8>) -> Result<Answer, Refusal> {
    recover(text, errors, &|_| true, false).expect("a known kind")
}

fn assert_only(damaged: &str, key: &str, edits: u32) {
    let answer = answer(damaged, None).unwrap();
    assert_eq!(answer.hits.len(), 1, "{damaged}: {answer:?}");
    assert_eq!(
        (answer.hits[0].text.as_str(), answer.hits[0].edits),
        (key, edits)
    );
}

#[test]
fn intact_keys() {
    for (key, what) in KEYS {
        let answer = answer(key, None).unwrap();
        assert!(answer.is_intact, "{answer:?}");
        let hit = &answer.hits[0];
        assert_eq!(hit.what, what);
        assert_eq!(hit.is_secret, what.contains("private"));
    }
}

#[test]
fn one_error() {
    for (key, _) in KEYS {
        let start = if key.contains('_') { 7 } else { 3 };
        for position in [start, start + 1, 20, 30, key.len() - 2] {
            let (before, after) = key.split_at(position);
            let wrong = if after.starts_with('z') { 'y' } else { 'z' };
            assert_only(&format!("{before}{wrong}{}", &after[1..]), key, 1);
            assert_only(&format!("{before}0{}", &after[1..]), key, 1);
            assert_only(&format!("{before}{}", &after[1..]), key, 1);
            assert_only(&format!("{before}{wrong}{after}"), key, 1);
            assert_only(&format!("{before}?{}", &after[1..]), key, 0);
            let (one, two) = (&after[..1], &after[1..2]);
            if one != two {
                assert_only(&format!("{before}{two}{one}{}", &after[2..]), key, 1);
            }
        }
    }
}

#[test]
fn two_errors() {
    let key = KEYS[0].0;
    assert_only(&key.replace("Qq8ud7", "Qr8ud8"), key, 2);
}

/// The start is of one curve, so a key of the other one has a wrong checksum.
#[test]
fn another_curve() {
    let key = KEYS[3].0.replace("K1", "R1");
    assert_eq!(answer(&key, Some(1)).unwrap().hits, []);
    // A number of 33 bytes that is no point, with a correct checksum.
    assert_eq!(
        answer(
            "EOSAhWdUeB8MCjVue5LTzDhtZ7cSrj2RofkbhX7kfTE5vrhfcD4wQ",
            Some(0)
        )
        .unwrap()
        .hits,
        []
    );
}

#[test]
fn lost_case() {
    let refusal = answer(&KEYS[1].0.to_lowercase(), None);
    let refusal = refusal.unwrap_err().to_string();
    assert!(refusal.contains("too much is unknown"), "{refusal}");
    // The start is known in any case.
    assert_only(&KEYS[1].0.replace("STM", "stm"), KEYS[1].0, 0);
}

#[test]
fn other_texts() {
    for text in [
        "",
        "EOS",
        "PUB_K1_",
        "PUB_WA_6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV",
        "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71",
    ] {
        assert_eq!(recover(text, None, &|_| true, false), None, "{text}");
    }
}

/// Keys of EOS, Hive and Steem that hive-nectar encodes, and newer ones of EOS, with the RIPEMD-160 of pycryptodome.
#[test]
fn random_keys_of_the_reference() {
    const SCRIPT: &str = r"
from Crypto.Hash import RIPEMD160
from nectargraphenebase.base58 import base58decode, base58encode, gphBase58CheckDecode, gphBase58CheckEncode

def make(chosen, number):
    start = chosen.choice(['EOS', 'STM', 'BTS', 'FIO', 'PUB_K1_', 'PUB_R1_', 'PVT_K1_', 'PVT_R1_'])
    key = chosen.randbytes(32) if start[:3] == 'PVT' else bytes([chosen.choice([2, 3])]) + chosen.randbytes(32)
    if start.endswith('_'):
        text = start + base58encode((key + RIPEMD160.new(key + start[4:6].encode()).digest()[:4]).hex())
    else:
        text = start + gphBase58CheckEncode(key.hex())
    characters = list(text)
    place, other = chosen.sample(range(len(start), len(text) - 1), 2)
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
    if text[3] != '_':
        try:
            return gphBase58CheckDecode(text[3:])[:2] in ('02', '03')
        except AssertionError:
            return False
    data = bytes.fromhex(base58decode(text[7:]))
    return RIPEMD160.new(data[:-4] + text[4:6].encode()).digest()[:4] == data[-4:]
";
    every_text_is_found("NECTAR", "nectargraphenebase", "hive-nectar", SCRIPT, 24);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_text(text in "(EOS|stm|PUB_K1_|PVT_R1_)[1-9A-HJ-NP-Za-km-z]{45,52}[0?\\[\\]é]?[1-9a-z]{0,3}") {
        let _ = recover(&text, Some(0), &|_| true, true);
    }
}
