//! Known strings: Bitcoin Core's vectors, if they are available, and well-known addresses.

use std::path::Path;

use data_encoding::HEXLOWER_PERMISSIVE;
use hashlane_base58::{
    Alphabet, DecodeError, Hit, Kind, decode, decode_check, encode, encode_check,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::not_run::not_run;

fn vectors(name: &str) -> Option<Vec<Vec<Value>>> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors/bitcoin-base58");
    let Ok(text) = std::fs::read(folder.join(name)) else {
        not_run(
            "vectors of Bitcoin Core",
            &format!("../shared/vectors/bitcoin-base58 has no {name}"),
            "copy it there from src/test/data of Bitcoin Core",
        );
        return None;
    };
    Some(serde_json::from_slice(&text).unwrap())
}

#[test]
fn bitcoin_core_encodes_and_decodes_the_same() {
    for name in [
        "base58_encode_decode.json",
        "base58_encode_decode.core-later-additions.json",
    ] {
        for pair in vectors(name).unwrap_or_default() {
            let (hex, text) = (pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
            let bytes = HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).unwrap();
            assert_eq!(encode(&bytes, Alphabet::Bitcoin), text);
            assert_eq!(*decode(text, Alphabet::Bitcoin).unwrap(), bytes, "{text}");
        }
    }
}

#[test]
fn the_kinds_of_bitcoin_core_are_known() {
    let mut n = 0;
    for case in vectors("key_io_valid.json").unwrap_or_default() {
        let (text, script) = (case[0].as_str().unwrap(), case[1].as_str().unwrap());
        let Ok(payload) = decode_check(text, Alphabet::Bitcoin) else {
            // A witness address.
            assert!(text[..5].contains('1'), "{text}");
            continue;
        };
        let is_main = case[2]["chain"] == "main";
        let is_key = case[2]["isPrivkey"] == true;
        let name = match (is_key, is_main) {
            (true, _) if case[2]["isCompressed"] == true => "wif-compressed",
            (true, _) => "wif",
            (false, _) if script.starts_with("76a914") => "p2pkh",
            (false, _) => "p2sh",
        };
        let name = if is_main {
            name.to_owned()
        } else {
            format!("testnet-{name}")
        };
        let kind = Kind::named(&name).unwrap();
        assert!(kind.matches(&payload), "{text} is {name}");
        assert_eq!(kind.is_secret, is_key, "{text}");
        assert_eq!(encode_check(&payload, Alphabet::Bitcoin), text);
        n += 1;
    }
    assert!(n == 0 || n > 20);
}

#[test]
fn well_known_strings() {
    for (payload, text) in [
        // The reward of the first block, and an address without an owner.
        (
            "0062e907b15cbf27d5425399ebf6f0fb50ebb88f18",
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
        ),
        (
            "000000000000000000000000000000000000000000",
            "1111111111111111111114oLvT2",
        ),
    ] {
        let payload = HEXLOWER_PERMISSIVE.decode(payload.as_bytes()).unwrap();
        assert_eq!(encode_check(&payload, Alphabet::Bitcoin), text);
        assert_eq!(*decode_check(text, Alphabet::Bitcoin).unwrap(), payload);
    }
    // Account zero and account one of the XRP Ledger, from its documentation.
    let zero = encode_check(&[0; 21], Alphabet::Ripple);
    assert_eq!(zero, "rrrrrrrrrrrrrrrrrrrrrhoLvTp");
}

#[test]
fn refusals() {
    let error = decode_check("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", Alphabet::Bitcoin);
    assert_eq!(error, Err(DecodeError::Checksum));
    let error = decode("1A0", Alphabet::Bitcoin).unwrap_err();
    assert_eq!(
        error.to_string(),
        "character 3 is '0', which the alphabet does not have"
    );
    let error = decode_check("11", Alphabet::Bitcoin);
    assert_eq!(error, Err(DecodeError::TooShort { found: 2 }));
    assert_eq!(decode("", Alphabet::Bitcoin).unwrap().len(), 0);
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(prop_oneof![Just(0), any::<u8>()], 0..60)) {
        for alphabet in Alphabet::ALL {
            let text = encode(&bytes, alphabet);
            prop_assert_eq!(&*decode(&text, alphabet).unwrap(), &bytes);
            let text = encode_check(&bytes, alphabet);
            prop_assert_eq!(&*decode_check(&text, alphabet).unwrap(), &bytes);
        }
    }
}

/// The private key 1 on three networks. The addresses are from Bitcoin Core; the witness program is
/// the example of BIP 173.
#[test]
fn addresses_of_keys() {
    let of = |name: &str| {
        let kind = Kind::named(name).unwrap();
        let key: Vec<u8> = [&kind.versions[0][..], &[0; 31], &[1], &kind.suffix].concat();
        let text = encode_check(&key, kind.alphabet);
        let hit = Hit::intact(&text, &Kind::all()).unwrap();
        assert_eq!(hit.kind, name);
        let addresses = hit.addresses().into_iter();
        let addresses = addresses.map(|address| format!("{} {}", address.script, address.text));
        addresses.collect::<Vec<_>>()
    };
    assert_eq!(of("wif"), ["p2pkh 1EHNa6Q4Jz2uvNExL497mE43ikXhwF6kZm"]);
    let expected = [
        "p2pkh 1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH",
        "p2sh-p2wpkh 3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN",
        "p2wpkh bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
        "p2tr bc1pmfr3p9j00pfxjh0zmgp99y8zftmd3s5pmedqhyptwy6lm87hf5sspknck9",
    ];
    assert_eq!(of("wif-compressed"), expected);
    let testnet = of("testnet-wif-compressed");
    assert_eq!(testnet[0], "p2pkh mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r");
    assert_eq!(
        testnet[2],
        "p2wpkh tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"
    );
    assert_eq!(of("dash-wif-compressed").len(), 1);
    let address = Hit::intact("1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71", &Kind::all()).unwrap();
    assert_eq!(address.addresses(), []);
    // Zero is not a private key.
    let zero = encode_check(&[&[0x80][..], &[0; 32]].concat(), Alphabet::Bitcoin);
    assert_eq!(Hit::intact(&zero, &Kind::all()).unwrap().addresses(), []);
}

/// X-addresses of ripple-address-codec's documentation and tests: with a tag and without one, of both networks.
#[test]
fn x_addresses() {
    for (text, kind) in [
        (
            "XVLhHMPHU98es4dbozjVtdWzVrDjtV18pX8yuPT7y4xaEHi",
            "ripple-x",
        ),
        (
            "X76UnYEMbQfEs3mUqgtjp4zFy9exgThRj7XVZ6UxsdrBptF",
            "ripple-x",
        ),
        (
            "X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ",
            "ripple-x",
        ),
        (
            "T719a5UwUCnEs54UsxG9CJYYDhwmFCqkr7wxCcNcfZ6p5GZ",
            "testnet-ripple-x",
        ),
        (
            "T7oKJ3q7s94kDH6tpkBowhetT1JKfcfdSCmAXbS75iATyLD",
            "testnet-ripple-x",
        ),
    ] {
        let hit = Hit::intact(text, &Kind::all()).unwrap();
        assert_eq!((hit.kind.as_str(), hit.is_secret), (kind, false));
        assert_eq!(hit.addresses(), []);
    }
    // A flag that does not exist, a tag without its flag, and a tag of more than four bytes.
    for tag in [
        [2, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 1, 0, 0, 0],
    ] {
        let payload = [&[5, 0x44][..], &[7; 20], &tag].concat();
        let text = encode_check(&payload, Alphabet::Ripple);
        assert_eq!(Hit::intact(&text, &Kind::all()), None, "{tag:?}");
    }
}
