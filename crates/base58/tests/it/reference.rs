//! Strings that reference implementations in Python encode, damage and judge.

use std::sync::atomic::AtomicBool;

use hashlane_base58::{CpuBackend, Damage, Event, Kind, Options, Search};

use crate::judge::every_text_is_found;

/// Damages a text of `make_text`: a wrong, a missing, an extra, an exchanged and an impossible character, two unknown ones, and 16
/// characters that lost their case.
const DAMAGE: &str = r"
def make(chosen, number):
    text = make_text(chosen)
    characters = list(text)
    alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
    place, other = chosen.sample(range(len(text) - 1), 2)
    new = chosen.choice(alphabet)
    how = number % 7
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
    elif how == 5:
        characters[place] = characters[other] = '?'
    else:
        characters[-16:] = [f'[{c.lower()}{c.upper()}]' for c in text[-16:]]
    return text, ''.join(characters)
";

/// Returns the strings that fit without an error, or else those that fit with one.
fn found(damaged: &str) -> Vec<String> {
    let backend = CpuBackend::fastest(None, None).unwrap();
    let with = |errors| {
        let damage = Damage {
            errors,
            ..Damage::default()
        };
        let mut found = Vec::new();
        // An impossible character is an error.
        let Ok(search) = Search::new(damaged, damage, &Kind::all()) else {
            return found;
        };
        let over = AtomicBool::new(false);
        let outcome = search.run(&backend, &Options::default(), &over, |event| {
            if let Event::Hit(hit) = event {
                found.push(hit.text.to_string());
            }
        });
        assert!(outcome.unwrap().is_complete);
        found
    };
    let found = with(0);
    if found.is_empty() { with(1) } else { found }
}

#[test]
fn x_addresses_of_xrpl_py() {
    const SCRIPT: &str = r"
from xrpl.core.addresscodec import classic_address_to_xaddress, encode_classic_address, is_valid_xaddress

def make_text(chosen):
    tag = chosen.choice([None, 0, 1, chosen.randrange(2**32)])
    return classic_address_to_xaddress(encode_classic_address(chosen.randbytes(20)), tag, chosen.random() < 0.5)

check = is_valid_xaddress
";
    let script = format!("{SCRIPT}{DAMAGE}");
    every_text_is_found("XRPL", ("xrpl", "xrpl-py"), &script, 21, found);
}

#[test]
fn addresses_and_keys_of_pytezos() {
    const SCRIPT: &str = r"
from pytezos_crypto.encoding import base58_decode, base58_encode

KINDS = ['tz1', 'tz2', 'tz3', 'KT1', 'sr1', 'edpk', 'sppk', 'p2pk', 'edsk', 'spsk', 'p2sk']

def make_text(chosen):
    kind = chosen.choice(KINDS)
    if kind in ('sppk', 'p2pk'):
        data = bytes([chosen.choice([2, 3])]) + chosen.randbytes(32)
    else:
        data = chosen.randbytes(20 if kind[2] in '123' else 32)
    return base58_encode(data, kind.encode()).decode()

def check(text):
    try:
        return bool(base58_decode(text.encode()))
    except ValueError:
        return False
";
    let script = format!("{SCRIPT}{DAMAGE}");
    every_text_is_found(
        "PYTEZOS",
        ("pytezos_crypto", "pytezos-crypto"),
        &script,
        21,
        found,
    );
}
