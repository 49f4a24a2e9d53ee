//! Texts of kinds that are not Base58Check. None is explained as something that it is not.

use std::fs;

use super::{recover, recover_of};
use crate::fixture::hashlane;

const ETHEREUM: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

/// Intact texts from NIP-19, CIP-19, BOLT 11, age's test vectors, BIP 352 and Cosmos, and their names.
const TEXTS: [(&str, &str); 8] = [
    (
        "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg",
        "nostr public key (npub, Bech32)",
    ),
    (
        "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5",
        "nostr private key (nsec, Bech32)",
    ),
    (
        "addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8",
        "Cardano address (addr, Bech32)",
    ),
    (
        "stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw",
        "Cardano stake address (stake, Bech32)",
    ),
    (
        "lnbc2500u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpuaztrnwngzn3kdzw5hydlzf03qdgm2hdq27cqv3agm2awhz5se903vruatfhq77w3ls4evs3ch9zw97j25emudupq63nyw24cg27h2rspfj9srp",
        "Lightning invoice (ln, Bech32)",
    ),
    (
        "age1t7rxyev2z3rw82stdlrrepyc39nvn86l5078zqkf5uasdy86jp6svpy7pa",
        "age recipient (age, Bech32)",
    ),
    (
        "sp1qqgste7k9hx0qftg6qmwlkqtwuy6cycyavzmzj85c6qdfhjdpdjtdgqjuexzk6murw56suy3e0rd2cgqvycxttddwsvgxe2usfpxumr70xc9pkqwv",
        "silent payment address (sp, Bech32m)",
    ),
    (
        "cosmos1fl48vsnmsdzcv85q5d2q4z5ajdha8yu34mf0eh",
        "Cosmos address (cosmos, Bech32)",
    ),
];

#[test]
fn texts_of_bech32_with_any_prefix() {
    for (text, what) in TEXTS {
        let ended = recover(&[text]);
        let line = format!("{text}  ({what}, intact)\n");
        assert_eq!(
            (ended.code, ended.stdout),
            (Some(0), line),
            "{}",
            ended.stderr
        );
        let (before, after) = text.split_at(23);
        let other = if after.starts_with('q') { 'p' } else { 'q' };
        let damaged = format!("{before}{other}{}", &after[1..]);
        let ended = recover_of(hashlane().args(["recover", "-"]), &damaged);
        let line = format!("{text}  ({what}, 1 edit)\n");
        assert_eq!(
            (ended.code, ended.stdout),
            (Some(0), line),
            "{}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains("changed characters: 24\n"),
            "{}",
            ended.stderr
        );
        assert!(!ended.stderr.contains("history"), "{}", ended.stderr);
        // Too much damage is no reason to call the text something else.
        let other = |(i, c): (usize, char)| match (i, c) {
            (12..18, 'q') => 'p',
            (12..18, _) => 'q',
            _ => c,
        };
        let damaged: String = text.chars().enumerate().map(other).collect();
        let ended = recover(&[&damaged]);
        assert!(ended.stdout.is_empty(), "{}", ended.stdout);
        let (name, _) = what.split_once(" (").unwrap();
        assert!(
            ended.stderr.contains(&format!("no {name} fits")),
            "{}",
            ended.stderr
        );
    }
    let ended = recover(&[TEXTS[1].0]);
    assert!(ended.stderr.contains("history"), "{}", ended.stderr);
}

#[test]
fn an_address_of_ethereum() {
    let damaged = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee";
    let ended = recover(&[damaged]);
    let line = format!("{ETHEREUM}  (Ethereum address (EIP-55), 1 edit)\n");
    assert_eq!(
        (ended.code, ended.stdout),
        (Some(0), line),
        "{}",
        ended.stderr
    );
    for part in ["changed characters: 42\n", "accidental hits", "a guess"] {
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
    let ended = recover(&[ETHEREUM]);
    let line = format!("{ETHEREUM}  (Ethereum address (EIP-55), intact)\n");
    assert_eq!(
        (ended.code, ended.stdout),
        (Some(0), line),
        "{}",
        ended.stderr
    );
    let ended = recover(&["--estimate", damaged]);
    assert!(
        ended.stdout.contains("Ethereum address, at most 2 errors"),
        "{}",
        ended.stdout
    );
    for text in [
        ETHEREUM.to_lowercase(),
        ETHEREUM.to_lowercase().replace("ed", "e"),
    ] {
        let ended = recover(&[&text]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        assert!(
            ended.stderr.contains("carries no checksum"),
            "{}",
            ended.stderr
        );
    }
}

/// The secret of BIP 93 from the standard input, with four wrong characters, and with a run of 13 unknown ones.
#[test]
fn a_secret_of_codex32() {
    let whole = "ms12names6xqguzttxkeqnjsjzv4jv3nz5k3kwgsphuh6evw";
    let line = |remark| format!("{whole}  (codex32 secret of name, threshold 2{remark})\n");
    for (damaged, remark) in [
        (whole.to_owned(), ", intact"),
        (whole.replace("xqgu", "qpzr"), ", 4 edits"),
        (whole.replace("jsjzv4jv3nz5k", "?????????????"), ""),
    ] {
        let ended = recover_of(hashlane().args(["recover", "-"]), &damaged);
        assert_eq!(
            (ended.code, ended.stdout),
            (Some(0), line(remark)),
            "{}",
            ended.stderr
        );
        assert!(!ended.stderr.contains("history"), "{}", ended.stderr);
    }
}

/// A share of SLIP-39 from the standard input: intact, with wrong, unknown and misspelled words, and with two wrong ones.
#[test]
fn a_share_of_slip39() {
    let whole = "duckling enlarge academic academic agency result length solution fridge kidney coal piece deal husband erode duke ajar critical decision keyboard";
    let what = "SLIP-39 share, group 1 of 1, member 1, threshold 1";
    for (damaged, remark, changed) in [
        (whole.to_uppercase(), ", intact", ""),
        (
            whole.replace("keyboard", "kidney"),
            ", 1 edit",
            "changed words: 20\n",
        ),
        (
            whole.replace("result length solution", "? ? ?"),
            "",
            "changed words: 6, 7, 8\n",
        ),
        (
            whole.replace("fridge", "frigde").replace("coal", "zero"),
            ", 2 edits",
            "changed words: 9, 11\n",
        ),
    ] {
        let ended = recover_of(hashlane().args(["recover", "-"]), &damaged);
        let line = format!("{whole}  ({what}{remark})\n");
        assert_eq!(
            (ended.code, ended.stdout),
            (Some(0), line),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains(changed), "{}", ended.stderr);
        assert!(!ended.stderr.contains("history"), "{}", ended.stderr);
    }
    let ended = recover(&["--json", &whole.replace("husband erode", "erode husband")]);
    let line: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&line["hits"][0]["text"], &line["hits"][0]["edits"]),
        (&whole.into(), &1.into()),
        "{line}"
    );
    assert!(ended.stderr.contains("history"), "{}", ended.stderr);
    let ended = recover(&["--estimate", "--errors", "2", &whole.replace("coal", "?")]);
    assert!(
        ended.stdout.contains("SLIP-39 share, at most 2 errors"),
        "{}",
        ended.stdout
    );
    let four = whole.replace("coal piece deal husband", "? ? ? ?");
    let ended = recover_of(hashlane().args(["recover", "-"]), &four);
    assert_eq!(ended.code, Some(2));
    // Secret words are in no message.
    assert!(
        ended.stderr.contains("at most 3") && !ended.stderr.contains("duckling"),
        "{}",
        ended.stderr
    );
}

/// Kinds that are searched for: one wrong character, one missing and one unknown.
#[test]
fn keys_and_addresses_that_are_searched_for() {
    for (text, what, place) in [
        (
            "4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2684Rge",
            "Monero address",
            7,
        ),
        (
            "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
            "Stellar account",
            20,
        ),
        (
            "7ZUECA7HFLZTXENRV24SHLU4AVPUTMTTDUFUBNBD64C73F3UHRTHAIOF6Q",
            "Algorand address",
            20,
        ),
        (
            "f17uoq6tp427uzv7fztkbsnn64iwotfrristwpryy",
            "Filecoin address of a key (secp256k1)",
            20,
        ),
        (
            "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY",
            "Substrate address (SS58)",
            20,
        ),
        (
            "STM6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV",
            "Hive or Steem public key",
            20,
        ),
    ] {
        let (before, after) = (&text[..place], &text[place + 1..]);
        let wrong = if text.starts_with('f') { 'q' } else { 'Q' };
        for (damaged, remark) in [
            (text.to_owned(), ", intact"),
            (format!("{before}{wrong}{after}"), ", 1 edit"),
            (format!("{before}{after}"), ", 1 edit"),
            (format!("{before}?{after}"), ""),
        ] {
            let ended = recover(&[&damaged]);
            let line = format!("{text}  ({what}{remark})\n");
            assert!(
                ended.stdout.contains(&line),
                "{damaged}: {} {}",
                ended.stdout,
                ended.stderr
            );
        }
    }
    let lost = "4aduundxhhz6cfuftmvppy6jwxnoumbzskblyfpav5usx3skxngyeytrj5uzqtreos44qo9mtmxcqy45dj852k5jv2684rge";
    let ended = recover(&[lost]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended
            .stderr
            .contains("this looks like a Monero address: too much is unknown"),
        "{}",
        ended.stderr
    );
}

/// Known addresses decide between many hits.
#[test]
fn known_addresses_of_ethereum() {
    let folder = tempfile::tempdir().unwrap();
    let known = folder.path().join("known");
    fs::write(&known, ETHEREUM.to_lowercase()).unwrap();
    let known = known.to_str().unwrap();
    let damaged = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeB?d";
    let ended = recover(&["-q", "--errors", "1", damaged]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let ended = recover(&["-q", "--errors", "1", "--known", known, damaged]);
    assert_eq!(
        (ended.code, ended.stdout),
        (Some(0), format!("{ETHEREUM}\n"))
    );
    fs::write(known, &ETHEREUM[..40]).unwrap();
    assert_eq!(recover(&["--known", known, damaged]).code, Some(2));
}

/// X-addresses of the XRP Ledger, with a tag and without one.
#[test]
fn x_addresses() {
    for (address, what) in [
        (
            "XVLhHMPHU98es4dbozjVtdWzVrDjtV18pX8yuPT7y4xaEHi",
            "XRP Ledger X-address, X...",
        ),
        (
            "T719a5UwUCnEs54UsxG9CJYYDhwmFCqkr7wxCcNcfZ6p5GZ",
            "XRP Ledger testnet X-address, T...",
        ),
    ] {
        let ended = recover(&[address]);
        assert_eq!(
            (ended.code, ended.stdout),
            (Some(0), format!("{address}  ({what}, intact)\n"))
        );
        let (before, after) = address.split_at(20);
        for damaged in [
            format!("{before}z{}", &after[1..]),
            format!("{before}{}", &after[1..]),
        ] {
            let ended = recover(&["--errors", "1", "--case", "kept", &damaged]);
            assert_eq!(
                (ended.code, ended.stdout),
                (Some(0), format!("{address}  ({what}, 1 edit)\n")),
                "{}",
                ended.stderr
            );
        }
    }
}

/// Tezos is Base58Check with three or four bytes before a hash or a key, so the letter case can be lost.
#[test]
fn addresses_and_keys_of_tezos() {
    for (text, what) in [
        (
            "tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb",
            "Tezos address, tz1... to tz4...",
        ),
        (
            "tz4F2fxv7sKQx9wyoRMteoJwZEZnV9WFU2wL",
            "Tezos address, tz1... to tz4...",
        ),
        (
            "KT1PWx2mnDueood7fEmfbBDKx1D9BAnnXitn",
            "Tezos contract, KT1...",
        ),
        (
            "edpkuBknW28nW72KG6RoHtYW7p12T6GKc7nAbwYX5m8Wd9sDVC9yav",
            "Tezos public key, edpk...",
        ),
        (
            "sppk7bMuoa8w2LSKz3XEuPsKx1WavsMLCWgbWG9CZNAsJg9eTmkXRPd",
            "Tezos public key, sppk... or p2pk...",
        ),
        (
            "p2pk66tTYL5EvahKAXncbtbRPBkAnxo3CszzUho5wPCgWauBMyvybuB",
            "Tezos public key, sppk... or p2pk...",
        ),
        (
            "edsk3nM41ygNfSxVU4w1uAW3G9EnTQEB5rjojeZedLTGmiGRcierVv",
            "Tezos private key of 54 characters, edsk..., spsk... or p2sk...",
        ),
    ] {
        let ended = recover_of(hashlane().args(["recover", "-"]), text);
        let (line, _) = ended.stdout.split_once('\n').unwrap();
        assert_eq!(
            (ended.code, line),
            (Some(0), format!("{text}  ({what}, intact)").as_str())
        );
        let (before, after) = text.split_at(20);
        let wrong = if after.starts_with('z') { 'y' } else { 'z' };
        let damaged = format!("{before}{wrong}{}", &after[1..]);
        let ended = recover_of(
            hashlane().args(["recover", "--errors", "1", "--case", "kept", "-"]),
            &damaged,
        );
        let (line, _) = ended.stdout.split_once('\n').unwrap();
        assert_eq!(
            (ended.code, line),
            (Some(0), format!("{text}  ({what}, 1 edit)").as_str()),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn unsupported_kinds_are_named() {
    for (text, part) in [
        (
            "lno1pqps7sjqpgtyzm3qv4uxzmtsd3jjqer9wd3hy6tsw35k7msjzfpy7nz5yqcnygrfdej82um5wf5k2uckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg",
            "BOLT 12",
        ),
        ("0x1234", "a number of 4 digits in hexadecimal"),
    ] {
        let ended = recover(&[text]);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
}
