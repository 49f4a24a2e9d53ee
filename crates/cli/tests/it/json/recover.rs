//! The lines of `recover`.

use serde::Deserialize;

use super::lines;
use crate::fixture::{end, hashlane};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Hit {
        text: String,
        kind: String,
        edits: u32,
        addresses: Vec<Address>,
    },
    Intact {
        text: String,
        kind: String,
        addresses: Vec<Address>,
    },
    Estimate {
        case: bool,
        glyphs: bool,
        errors: u8,
        gap: Option<String>,
        kinds: Vec<String>,
        candidates: f64,
        hashes: f64,
        remaining_hashes: f64,
        accidental_hits: f64,
        threads: usize,
        kernel: String,
        hashes_per_second: f64,
        seconds: f64,
        lower_bound: bool,
        refused: Option<String>,
    },
    NoSearch {
        reason: String,
    },
    Summary {
        hits: Vec<String>,
        other_hits: usize,
        complete: bool,
        kinds: Vec<String>,
        candidates: f64,
        accidental_hits: f64,
        hashes: u64,
        threads: usize,
        kernel: String,
        elapsed_seconds: f64,
        tried: Vec<Tried>,
        suggestions: Vec<Suggestion>,
    },
    Contradiction {
        kind: String,
        reason: String,
    },
    Repair {
        kind: String,
        intact: bool,
        hits: Vec<Repaired>,
        other_hits: usize,
        errors: Option<u8>,
        candidates: f64,
        accidental_hits: f64,
    },
    Count {
        kind: String,
        errors: u8,
        candidates: f64,
        accidental_hits: f64,
    },
    Error {
        message: String,
    },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Address {
    script: String,
    text: String,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Repaired {
    text: String,
    kind: String,
    edits: u32,
    changed: Vec<usize>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tried {
    case: bool,
    glyphs: bool,
    errors: u8,
    gap: Option<String>,
    hashes: u64,
    seconds: f64,
    complete: bool,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Suggestion {
    change: String,
    seconds: f64,
    accidental_hits: f64,
}

fn recover_lines(args: &[&str]) -> (Option<i32>, Vec<Line>) {
    let ended = end(hashlane().args(["recover", "--json", "-t", "1"]).args(args));
    (ended.code, lines(&ended.stdout))
}

#[test]
fn a_string_that_is_recovered() {
    let lost = "1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71";
    let found = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71".to_owned();
    let (code, lines) = recover_lines(&[lost]);
    assert_eq!(code, Some(0));
    let [hit, summary] = &lines[..] else {
        panic!("{lines:?}");
    };
    let expected = Line::Hit {
        text: found.clone(),
        kind: "p2pkh".into(),
        edits: 0,
        addresses: Vec::new(),
    };
    assert_eq!(*hit, expected);
    let Line::Summary {
        hits,
        other_hits: 0,
        complete: true,
        kinds,
        candidates,
        accidental_hits,
        hashes,
        threads: 1,
        kernel,
        elapsed_seconds,
        tried,
        suggestions,
    } = summary
    else {
        panic!("{summary:?}");
    };
    assert_eq!((hits, kinds), (&vec![found], &vec!["p2pkh".to_owned()]));
    assert!((*accidental_hits - candidates / 2_f64.powi(32)).abs() < 1e-9);
    assert!(*hashes > 0 && *elapsed_seconds > 0.0);
    assert!(kernel.starts_with("sha256d_x"));
    assert_eq!(*suggestions, []);
    let [tried] = &tried[..] else {
        panic!("{tried:?}");
    };
    assert!(tried.case && !tried.glyphs && tried.errors == 0 && tried.complete);
    assert!(tried.hashes == *hashes && tried.seconds > 0.0);

    assert_eq!(candidates.to_bits(), estimated_candidates(lost).to_bits());
}

/// Checks the estimate of the search for a string without its letter case, and returns the number of candidates.
fn estimated_candidates(lost: &str) -> f64 {
    let (code, lines) = recover_lines(&["--estimate", lost]);
    assert_eq!(code, Some(0));
    let [
        Line::Estimate {
            case: true,
            glyphs: false,
            errors: 0,
            gap: None,
            kinds,
            candidates,
            hashes,
            remaining_hashes,
            accidental_hits: _,
            threads: 1,
            kernel: _,
            hashes_per_second,
            seconds,
            lower_bound: false,
            refused: None,
        },
    ] = &lines[..]
    else {
        panic!("{lines:?}");
    };
    assert_eq!(*kinds, ["p2pkh"]);
    assert_eq!(remaining_hashes.to_bits(), hashes.to_bits());
    // The rest is the time for tables.
    assert!(*seconds >= hashes / hashes_per_second);

    *candidates
}

#[test]
fn an_estimate_names_the_limit_that_refuses_the_search() {
    let lost = "1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71";
    let (code, lines) = recover_lines(&["--estimate", "--max-hashes", "1", lost]);
    let [
        Line::Estimate {
            refused: Some(refused),
            ..
        },
    ] = &lines[..]
    else {
        panic!("{lines:?}");
    };
    assert_eq!(code, Some(0));
    assert!(refused.starts_with("--max-hashes allows 1.000e0 hashes; the search needs "));
}

#[test]
fn an_intact_string() {
    let text = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71".to_owned();
    let (code, lines) = recover_lines(&[&text]);
    let expected = Line::Intact {
        text,
        kind: "p2pkh".into(),
        addresses: Vec::new(),
    };
    assert_eq!((code, lines), (Some(0), vec![expected]));
    // The private key 1.
    let key = "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn";
    let (code, lines) = recover_lines(&[key]);
    let [Line::Intact { addresses, .. }] = &lines[..] else {
        panic!("{lines:?}");
    };
    let p2wpkh = Address {
        script: "p2wpkh".into(),
        text: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4".into(),
    };
    assert_eq!((code, addresses.len()), (Some(0), 4));
    assert_eq!(addresses[2], p2wpkh);
}

#[test]
fn strings_that_cannot_be_recovered() {
    let (code, lines) = recover_lines(&["--kind", "wif", "5abc"]);
    let reason = "4 characters, and wif has 51".to_owned();
    let kind = "wif".to_owned();
    assert_eq!(
        (code, lines),
        (Some(1), vec![Line::Contradiction { kind, reason }])
    );
    let (code, lines) = recover_lines(&["BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"]);
    let [
        Line::Repair {
            intact: true,
            hits,
            other_hits: 0,
            errors: None,
            ..
        },
    ] = &lines[..]
    else {
        panic!("{lines:?}");
    };
    let hit = Repaired {
        text: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4".into(),
        kind: "witness version 0".into(),
        edits: 0,
        changed: Vec::new(),
    };
    assert_eq!((code, &hits[..]), (Some(0), &[hit][..]));
    let (code, lines) = recover_lines(&["1[a"]);
    let message = "character 2: the set has no end".to_owned();
    assert_eq!((code, lines), (Some(2), vec![Line::Error { message }]));
}

/// An address of Ethereum with a wrong digit, and the size of the search for it.
#[test]
fn texts_of_other_kinds() {
    let damaged = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee";
    let (code, lines) = recover_lines(&[damaged]);
    let [
        Line::Repair {
            kind,
            intact: false,
            hits,
            errors: Some(1),
            candidates,
            accidental_hits,
            ..
        },
    ] = &lines[..]
    else {
        panic!("{lines:?}");
    };
    let hit = Repaired {
        text: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed".into(),
        kind: "Ethereum address (EIP-55)".into(),
        edits: 1,
        changed: vec![41],
    };
    assert_eq!(
        (code, kind.as_str(), &hits[..]),
        (Some(0), "Ethereum address", &[hit][..])
    );
    assert!(*candidates > 1800.0 && *accidental_hits < 0.2, "{lines:?}");
    let (code, lines) = recover_lines(&["--estimate", "--errors", "1", damaged]);
    let counted = Line::Count {
        kind: kind.clone(),
        errors: 1,
        candidates: *candidates,
        accidental_hits: *accidental_hits,
    };
    assert_eq!((code, lines), (Some(0), vec![counted]));
}
