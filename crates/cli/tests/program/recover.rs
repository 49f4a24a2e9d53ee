//! `hashlane recover` as a process.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::fixture::{Ended, end, hashlane};

const LOST: &str = "1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71";
const FOUND: &str = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71";

/// The private key 1.
const KEY: &str = "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn";

/// Addresses of [`KEY`]: of its public key, of a witness program in a script, of that program alone, and of the
/// key path of BIP 86.
const ADDRESSES: [&str; 4] = [
    "1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH",
    "3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN",
    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    "bc1pmfr3p9j00pfxjh0zmgp99y8zftmd3s5pmedqhyptwy6lm87hf5sspknck9",
];

fn recover(args: &[&str]) -> Ended {
    end(hashlane().arg("recover").args(args))
}

fn recover_of(command: &mut Command, input: &str) -> Ended {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn lost_case() {
    let ended = recover(&[LOST]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout, format!("{FOUND}  (Bitcoin address, 1...)\n"));
    assert!(ended.stderr.starts_with("1 hit of "), "{}", ended.stderr);
    let quiet = recover(&["-q", &LOST.to_ascii_uppercase()]);
    assert_eq!((quiet.code, quiet.stdout), (Some(0), format!("{FOUND}\n")));
    assert_eq!(quiet.stderr, "");
}

#[test]
fn an_undamaged_string_is_found() {
    let ended = recover(&["-q", "--case", "kept", FOUND]);
    assert_eq!((ended.code, ended.stdout), (Some(0), format!("{FOUND}\n")));
}

#[test]
fn an_intact_string_is_called_intact() {
    let line = format!("{FOUND}  (Bitcoin address, 1..., intact)\n");
    for args in [&[FOUND][..], &["-e2", FOUND], &["--case", "kept", FOUND]] {
        let ended = recover(args);
        let expected = (Some(0), line.as_str(), "");
        let actual = (ended.code, ended.stdout.as_str(), ended.stderr.as_str());
        assert_eq!(actual, expected);
    }
    let ended = recover(&["-q", KEY]);
    assert_eq!((ended.code, ended.stdout), (Some(0), format!("{KEY}\n")));
    let json = recover(&["--json", FOUND]).stdout;
    let expected = format!(
        "{{\"type\":\"intact\",\"text\":\"{FOUND}\",\"kind\":\"p2pkh\",\"addresses\":[]}}\n"
    );
    assert_eq!(json, expected);
    // From test vector 1 of BIP 32.
    let key = "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8";
    let ended = recover(&[key]);
    let expected = format!("{key}  (extended public key, intact)\n");
    assert_eq!((ended.code, ended.stdout), (Some(0), expected));
    // An intact string that is not of this kind is not printed.
    let ended = recover(&["--kind", "p2sh", "--case", "kept", FOUND]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
}

#[test]
fn a_key_is_printed_with_its_addresses() {
    let damaged = KEY.replacen("VrZ", "V?Z", 1);
    let ended = recover(&["--kind", "wif-compressed", &damaged]);
    let expected = [
        format!("{KEY}  (Bitcoin private key, K... or L...)"),
        format!("  {}  (P2PKH)", ADDRESSES[0]),
        format!("  {}  (P2SH-P2WPKH)", ADDRESSES[1]),
        format!("  {}  (P2WPKH)", ADDRESSES[2]),
        format!("  {}  (P2TR)", ADDRESSES[3]),
    ];
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout.lines().collect::<Vec<_>>(), expected);
    let uncompressed = recover(&["5HpHagT65TZzG1PH3CSu63k8DbpvD8s5ip4nEB3kEsreAnchuDf"]);
    let address = "\n  1EHNa6Q4Jz2uvNExL497mE43ikXhwF6kZm  (P2PKH)\n";
    assert!(
        uncompressed.stdout.ends_with(address),
        "{}",
        uncompressed.stdout
    );
}

#[test]
fn a_string_is_taken_out_of_a_longer_text() {
    for text in [
        "bitcoin:1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71?amount=0.1",
        "http://1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71.onion/",
        "https://example.com/address/1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71?page=2",
        "\"1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71\"",
        "1lbc fr7s ahtd 9cgd qo3h tmtk v8lk 4znx 71",
        "1LBC-FR7S-AHTD-9CGD-QO3H-TMTK-V8LK-4ZNX-71",
    ] {
        let ended = recover(&["-q", text]);
        let expected = (Some(0), format!("{FOUND}\n"));
        assert_eq!((ended.code, ended.stdout), expected, "{}", ended.stderr);
    }
    let bech32 = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
    let ended = recover(&["-q", &format!("bitcoin:{}", bech32.to_uppercase())]);
    assert_eq!((ended.code, ended.stdout), (Some(0), format!("{bech32}\n")));
    let ended = recover(&[&format!("https://example.com/{FOUND}/{LOST}")]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    let message = "hashlane: found 2 strings in one text; pass only one of them\n";
    assert_eq!(ended.stderr, message);
}

#[test]
fn a_search_without_options_widens_by_itself() {
    for (text, tried) in [
        ("1Lbcfr7sAHTD9CgdQ03HTMTkVBLK4ZnX71", ""),
        (
            "1Lbcfr7sAHTD9CgdQ3oHTMTkV8LK4ZnX71",
            "  letter case kept, 1 error: ",
        ),
        (
            "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX7",
            "  letter case kept, 1 error: ",
        ),
    ] {
        let ended = recover(&["--kind", "p2pkh", text]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.stdout.starts_with(FOUND), "{}", ended.stdout);
        assert!(ended.stderr.contains(tried), "{}", ended.stderr);
    }
    // The whole search would take minutes. No part of it is run.
    let key = "5HpHagT65TZzG1PH3CSu63k8DbpvD8s5ip4nEB3kEsreAnchuDf".to_ascii_lowercase();
    let ended = recover(&["--kind", "wif", "--max-time", "1s", &key]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.contains("; --case lost has no limit"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_search_without_hits_suggests_others() {
    // One character is wrong. The number of accidental hits of a wider search is too large to make it.
    let text = "1lbcfr7sahtd9cgdqo3htmtkv8lk4znx72";
    let args = ["--kind", "p2pkh", text];
    for args in [&args[..], &[&["--case", "lost"], &args[..]].concat()] {
        let ended = recover(args);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
        for part in [
            "Tried:\n  letter case lost: ",
            "Not tried, the cheapest first:\n",
            "  --case lost --errors 1: ",
            "  `?` for a doubtful character, --case lost: ",
        ] {
            assert!(ended.stderr.contains(part), "{args:?}: {}", ended.stderr);
        }
    }
    let ended = recover(&["--json", "--kind", "p2pkh", text]);
    let summary: serde_json::Value =
        serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
    let suggestions = summary["suggestions"].as_array().unwrap();
    let costs = suggestions
        .iter()
        .map(|one| one["seconds"].as_f64().unwrap());
    let costs: Vec<f64> = costs.collect();
    assert!(!costs.is_empty() && costs.is_sorted(), "{summary}");
}

#[test]
fn every_kind_of_damage() {
    for (args, edits) in [
        (&["1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4Zn?71"][..], ""),
        (&["1Lb[cC]fr7sAHTD9CgdQ[oO]3HTMTkV8LK4ZnX7?"], ""),
        (&["-g", "1Lbcfr7sAHTD9CgdQ03HTMTkV8LK4ZnX71"], ", 1 edit"),
        (&["-g", "1Lbcfr7sAHTD9CgdQo3HTMTkVBLK4ZnX71"], ", 1 edit"),
        (&["-e1", "1Lbcfr7sAHTD9CgdQo3HTMTkV9LK4ZnX71"], ", 1 edit"),
        (&["-e1", "1Lbcfr7sAHTD9CgdQo3HTMTkVLK4ZnX71"], ", 1 edit"),
        (&["-e1", "1Lbcfr7sAHTD9CgdQo3HTMTkV88LK4ZnX71"], ", 1 edit"),
        (&["-e1", "1Lbcfr7sAHTD9CgdQ3oHTMTkV8LK4ZnX71"], ", 1 edit"),
        (&["-e2", "1Lbcfr7sAHTD9CgdQ3oHTMTkV9LK4ZnX71"], ", 2 edits"),
    ] {
        let ended = recover(&[&["--kind", "p2pkh"], args].concat());
        let line = format!("{FOUND}  (Bitcoin address, 1...{edits})\n");
        assert!(
            ended.stdout.contains(&line),
            "{args:?}: {} {}",
            ended.stdout,
            ended.stderr
        );
    }
}

#[test]
fn the_estimate_is_made_at_once() {
    let ended = recover(&["--estimate", "1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(
        ended.stdout.contains("candidates   4.295e9 (2^32.0)"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("hashes       1.429e8 (2^27.1)"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("1.000 hits are to be expected"),
        "{}",
        ended.stdout
    );
}

#[test]
fn limits() {
    let ended = recover(&["--max-hashes", "1e6", "1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.contains("--max-hashes allows 1.000e6"),
        "{}",
        ended.stderr
    );
    let key = "5HpHagT65TZzG1PH3CSu63k8DbpvD8s5ip4nEB3kEsreAnchuDf".to_ascii_lowercase();
    let ended = recover(&["--max-time", "1s", "--kind", "wif", &key]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.contains("--max-time allows 1.00 s"),
        "{}",
        ended.stderr
    );
}

#[test]
fn mismatches_are_explained() {
    for (args, reason) in [
        (
            &["--kind", "p2pkh", "1zbcfr7sahtd9cgdqo3htmtkv8lk4znx71"][..],
            "character 2 does not fit: p2pkh of 34 characters goes from 1",
        ),
        (
            &["--kind", "p2pkh", "1abc"],
            "4 characters, and p2pkh has 25 to 34",
        ),
        (&["--kind", "wif", LOST], "34 characters, and wif has 51"),
        (
            &["--kind", "p2pkh", "2lbcfr7sahtd9cgdqo3htmtkv8lk4znx71"],
            "character 1 does not fit",
        ),
        (
            &["--kind", "p2pkh", "1111111111111111111111111111111111"],
            "does not fit: p2pkh of 34 characters",
        ),
    ] {
        let ended = recover(&[&["--case", "lost"], args].concat());
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(1), ""),
            "{args:?}"
        );
        assert!(ended.stderr.contains(reason), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn impossible_searches_are_refused() {
    for (args, reason) in [
        (
            &["1Lbcfr7sAHTD9CgdQ03HTMTkV8LK4ZnX71", "--case", "kept"][..],
            "character 18 is '0', which no such string has; with glyphs it is read as 'o' or 'Q' or 'D'",
        ),
        (&["1lbc[x"], "character 5: the set has no end"),
        (
            &["QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPWGd"],
            "no checksum to check against",
        ),
        (
            &["7v91n7izrb5p4z2s4ta2kzyzqyqyqyqyqyqyqyqyqyqy"],
            "no checksum to check against",
        ),
        (
            &[
                "xprv9s21zrqh143k3qtdl4lxw2f7hejqjmjkm2nbrs2uk6r8ufm1kkwgnkpgzgtrxkpw1yzuqf7sqvkkzm5u4w7m5r1yq3n9r6b6zpvq3f9r1q1k",
            ],
            "2^",
        ),
        (
            &["0x52908400098527886e0f7030069857d2e4169ee7"],
            "this is an address of Ethereum or a similar chain in hexadecimal",
        ),
        (
            &["ethereum:0x52908400098527886E0F7030069857D2E4169EE7@1"],
            "no checksum covers them",
        ),
        (&["--kind", "nothing", LOST], "--kind nothing: "),
    ] {
        let ended = recover(args);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{args:?}: {}",
            ended.stderr
        );
        assert!(ended.stderr.contains(reason), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn bech32_is_the_same_in_either_case() {
    // The address from the examples of BIP 173.
    let address = "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4";
    let ended = recover(&[address]);
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.stdout, format!("{}\n", address.to_ascii_lowercase()));
}

#[test]
fn witness_addresses_are_repaired() {
    let address = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
    for (damaged, edits, changed) in [
        ("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "1 edit", "42"),
        (
            "bc1qw508d6qexxtdg4y5r3zarvarv0c5xw7kv8f3t4",
            "2 edits",
            "13, 29",
        ),
        ("BCLQW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "1 edit", ""),
        (
            "bc1qw508d6q?jxtdg4?5r3zarvary0c5?w7kv8f3t?",
            "0 edits",
            "12, 19, 33, 42",
        ),
    ] {
        let ended = recover(&[damaged]);
        let line = format!("{address}  (witness version 0, {edits})\n");
        assert_eq!((ended.code, ended.stdout), (Some(0), line), "{damaged}");
        assert!(ended.stderr.contains(changed), "{}", ended.stderr);
        let quiet = recover(&["-q", damaged]);
        assert_eq!(
            (quiet.code, quiet.stdout),
            (Some(0), format!("{address}\n"))
        );
        assert_eq!(quiet.stderr, "");
    }
    let damaged = "bc1qw508d6qqqqqqqqqq3zarvary0c5xw7kv8f3t4";
    let ended = recover(&[damaged]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(
        ended.stderr.contains("write `?` for up to four"),
        "{}",
        ended.stderr
    );
    let ended = recover(&["bc1qw508d6q?????g4y5r3zarvary0c5xw7kv8f3t4"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.contains("5 characters are unknown"),
        "{}",
        ended.stderr
    );
}

#[test]
fn keys_from_standard_input_are_matched_with_known_addresses() {
    // Most letters are known, so that the search takes less than a second.
    let pattern: String = KEY
        .chars()
        .enumerate()
        .map(|(i, c)| {
            if c.is_ascii_alphabetic() && i >= 38 {
                format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase())
            } else {
                c.into()
            }
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let known = folder.path().join("known");
    let mut command = hashlane();
    command
        .args(["recover", "-q", "--case", "kept", "-", "--known"])
        .arg(&known);
    for address in ADDRESSES {
        fs::write(&known, format!("# mine\n{address}\n\n")).unwrap();
        let ended = recover_of(&mut command, &format!("\n  {pattern}\n"));
        let expected = (Some(0), format!("{KEY}\n"), String::new());
        assert_eq!(
            (ended.code, ended.stdout, ended.stderr),
            expected,
            "{address}"
        );
    }
    fs::write(&known, "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71\n").unwrap();
    let ended = recover_of(&mut command, &pattern);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    fs::write(&known, "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX72\n").unwrap();
    let ended = recover_of(&mut command, &pattern);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("known: line 1: "), "{}", ended.stderr);
    // An argument is stored in the shell's history.
    for args in [&[&*pattern][..], &["-q", &pattern], &["-q", KEY]] {
        let ended = recover(args);
        for part in [
            "stays in the shell's history",
            "history -d -2",
            "history delete",
            "$HISTFILE",
        ] {
            assert!(ended.stderr.contains(part), "{args:?}: {}", ended.stderr);
        }
    }
}

#[test]
fn several_hits_are_all_printed() {
    // The last characters are the checksum, so every beginning has a match.
    let text = "1Lbcfr7sAHTD9CgdQo3HTMTkV8L?[a4]?????";
    let ended = recover(&["--kind", "p2pkh", text]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let lines: Vec<_> = ended.stdout.lines().collect();
    assert!(lines.len() > 10);
    assert!(
        ended.stderr.contains("The string alone cannot decide"),
        "{}",
        ended.stderr
    );
    let first = lines[0].split(' ').next().unwrap();
    let prefixed = recover(&["--kind", "p2pkh", "-q", "--prefix", first, text]);
    assert_eq!(
        (prefixed.code, prefixed.stdout),
        (Some(0), format!("{first}\n"))
    );
}

#[test]
fn a_search_can_be_resumed_and_sharded() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let state = state.to_str().unwrap();
    let text = "18ryviovmwfyzhrzktjkqgycjkujoxh3k6";
    let found = "18ryVioVmwFYzhRZKTjKqGYCjkUjoxH3k6";
    for _ in 0..2 {
        let ended = recover(&["-q", "--resume", state, text]);
        assert_eq!((ended.code, ended.stdout), (Some(0), format!("{found}\n")));
    }
    let saved = fs::read_to_string(state).unwrap();
    assert!(!saved.to_ascii_lowercase().contains("18ry"), "{saved}");
    let ended = recover(&["-q", "--resume", state, LOST]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("belongs to another search"),
        "{}",
        ended.stderr
    );
    let mut hits = 0;
    for shard in ["1/3", "2/3", "3/3"] {
        let ended = recover(&["-q", "--shard", shard, text]);
        hits += ended.stdout.lines().count();
        assert!(ended.stdout.is_empty() || ended.stdout == format!("{found}\n"));
    }
    assert_eq!(hits, 1);
}

const LONGER: &str = "18ryviovmwfyzhrzktjkqgycjkujoxh3k6";
const LONGER_FOUND: &str = "18ryVioVmwFYzhRZKTjKqGYCjkUjoxH3k6";

#[test]
fn limits_apply_to_the_remaining_part() {
    // The whole search takes 1.8e7 hashes.
    let limit = ["-q", "--max-hashes", "1e7", LONGER];
    let whole = recover(&limit);
    assert_eq!((whole.code, whole.stdout.as_str()), (Some(2), ""));
    let mut found = String::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let ended = recover(&[&["--shard", shard][..], &limit].concat());
        assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
        found += &ended.stdout;
    }
    assert_eq!(found, format!("{LONGER_FOUND}\n"));
    let ended = recover(&["--shard", "1/3", "--max-hashes", "1e6", LONGER]);
    assert_eq!(ended.code, Some(2));
    let message = "--max-hashes allows 1.000e6 hashes; the remaining part of the search needs ";
    assert!(ended.stderr.contains(message), "{}", ended.stderr);

    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let resume = ["-q", "--resume", state.to_str().unwrap()];
    let ended = recover(&[&resume[..], &[LONGER]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for limit in [["--max-hashes", "1e6"], ["--max-time", "30"]] {
        let ended = recover(&[&resume[..], &limit, &[LONGER]].concat());
        let expected = (Some(0), format!("{LONGER_FOUND}\n"));
        assert_eq!((ended.code, ended.stdout), expected, "{}", ended.stderr);
    }
}

#[test]
fn the_estimate_is_of_the_remaining_part() {
    let hashes = |args: &[&str]| {
        let ended = recover(&[&["--estimate", "--json"], args, &[LONGER]].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let line: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let number = |name: &str| line[name].as_f64().unwrap();
        (number("hashes"), number("remaining_hashes"))
    };
    let (whole, remaining) = hashes(&[]);
    assert_eq!(whole.to_bits(), remaining.to_bits());
    let shards = ["1/3", "2/3", "3/3"].map(|shard| {
        let (of_whole, remaining) = hashes(&["--shard", shard]);
        assert_eq!(of_whole.to_bits(), whole.to_bits());
        remaining
    });
    assert!(shards.iter().all(|remaining| *remaining < whole / 2.0));
    assert!((shards.iter().sum::<f64>() - whole).abs() < 1.0);

    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let resume = ["--resume", state.to_str().unwrap()];
    assert_eq!(hashes(&resume), (whole, whole));
    assert!(!state.exists(), "an estimate writes nothing");
    let ended = recover(&[&["-q"], &resume[..], &[LONGER]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    // The work unit of the hit is searched again.
    let (_, remaining) = hashes(&resume);
    assert!(remaining > 0.0 && remaining < 1e6, "{remaining}");
    let text = recover(&[&["--estimate"], &resume[..], &[LONGER]].concat()).stdout;
    assert!(text.contains("  remaining    "), "{text}");
}

#[test]
fn a_resume_file_covers_all_strings() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let state = state.to_str().unwrap();
    let both = format!("{LONGER_FOUND}\n{FOUND}\n");
    for _ in 0..2 {
        let ended = recover(&["-q", "--resume", state, LONGER, LOST]);
        assert_eq!(
            (ended.code, ended.stdout),
            (Some(0), both.clone()),
            "{}",
            ended.stderr
        );
    }
    // Both searches are done; only the work units of the hits remain.
    let limits = ["-q", "--resume", state, "--max-hashes", "1e6"];
    let ended = recover(&[&limits[..], &[LOST, LONGER]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let mut command = hashlane();
    command.arg("recover").args(limits).arg("-");
    let ended = recover_of(&mut command, &format!("{LONGER}\n{LOST}\n"));
    assert_eq!(
        (ended.code, ended.stdout),
        (Some(0), both),
        "{}",
        ended.stderr
    );
    // A new string is added if the file already has one of the strings.
    let more = "1Lbcfr7sAHTD9CgdQo3HTM?kV8LK4ZnX71";
    let ended = recover(&["-q", "--resume", state, "--case", "kept", more]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let ended = recover(&["-q", "--resume", state, more, LOST]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let saved = fs::read_to_string(state).unwrap();
    assert_eq!(saved.matches("next_unit").count(), 3, "{saved}");
    for text in ["1lbc", "18ry", "Lbcfr"] {
        assert!(!saved.contains(text), "{saved}");
    }
}

#[test]
fn resume_files_that_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let path = state.to_str().unwrap();
    let ended = recover(&["-q", "--resume", path, LOST]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let good = fs::read_to_string(&state).unwrap();
    let not_of_this_version = "state: is not a resume file of this version of hashlane: ";
    let damaged = "state: does not match the search: the file is damaged";
    let number = |name: &str| {
        let (_, rest) = good.split_once(&format!("\"{name}\":")).unwrap();
        let digits = rest.trim_start_matches('[');
        let len = digits.find(|c: char| !c.is_ascii_digit()).unwrap();
        format!("\"{name}\":{}", &rest[..rest.len() - digits.len() + len])
    };
    for (content, reason) in [
        (String::new(), not_of_this_version),
        ("[]".into(), not_of_this_version),
        ("\u{0}\u{0}".into(), not_of_this_version),
        (good[..good.len() / 2].into(), not_of_this_version),
        ("[".repeat(100_000), not_of_this_version),
        (good.replace("searches", "strings"), not_of_this_version),
        (
            good.replace(&number("next_unit"), "\"next_unit\":-1"),
            not_of_this_version,
        ),
        (
            good.replace(&number("next_unit"), "\"next_unit\":18446744073709551615"),
            damaged,
        ),
        (
            good.replace(&number("total_units"), "\"total_units\":1000000"),
            damaged,
        ),
        (
            good.replace(
                &number("units_with_hits"),
                "\"units_with_hits\":[18446744073709551615,0",
            ),
            damaged,
        ),
    ] {
        assert_ne!(content, good);
        fs::write(&state, &content).unwrap();
        let ended = recover(&["-q", "--resume", path, LOST]);
        let of_content = &content[..content.len().min(300)];
        assert_eq!(ended.code, Some(2), "{of_content}");
        assert!(
            ended.stderr.contains(reason),
            "{of_content}: {}",
            ended.stderr
        );
        // A refused file is not changed.
        assert_eq!(fs::read_to_string(&state).unwrap(), content);
    }
    let ended = recover(&["--resume", folder.path().to_str().unwrap(), LOST]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("regular file"), "{}", ended.stderr);
    // The file is replaced, never written in place: a link to the old file keeps the old content.
    fs::write(&state, &good).unwrap();
    let link = folder.path().join("link");
    fs::hard_link(&state, &link).unwrap();
    let ended = recover(&["-q", "--resume", path, LOST, LONGER]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(fs::read_to_string(&link).unwrap(), good);
    assert_ne!(fs::read_to_string(&state).unwrap(), good);
}

#[test]
fn a_time_limit_applies_to_the_preparation_of_a_search() {
    let key = "L3p8oAcQTtuokSCRHQ7i4MhjWc9zornvpJLfmg62sYpLRJF9woSv";
    for estimate in [&[][..], &["--estimate"]] {
        let ended = recover(&[&["--errors", "2", "--max-time", "0.0001", key], estimate].concat());
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let message = "--max-time allows 0.1 ms; the preparation of the search takes longer";
        assert!(ended.stderr.contains(message), "{ended:?}");
    }
}

#[test]
fn facts_rule_out_witness_addresses() {
    const INTACT: &str = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
    const DAMAGED: &str = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5";
    const OTHER: &str = "bc1pmfr3p9j00pfxjh0zmgp99y8zftmd3s5pmedqhyptwy6lm87hf5sspknck9";
    let folder = tempfile::tempdir().unwrap();
    let known = |address: &str| {
        let path = folder.path().join(address);
        fs::write(&path, address).unwrap();
        path.to_str().unwrap().to_owned()
    };
    // The hash in the address, and another address with the same hash.
    let hash = "751e76e8199196d454941c45d1b3a323f1433bd6";
    let p2pkh = "1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH";
    for (option, value, is_accepted) in [
        ("--prefix", "BC1QW5".to_owned(), true),
        ("--prefix", "bc1p".to_owned(), false),
        ("--known", known(INTACT), true),
        ("--known", known(p2pkh), true),
        ("--known", known(OTHER), false),
        ("--pubkey-hash", hash.to_owned(), true),
        ("--pubkey-hash", "0".repeat(40), false),
    ] {
        for text in [INTACT, DAMAGED] {
            let ended = recover(&["-q", option, &value, text]);
            let stdout = if is_accepted {
                format!("{INTACT}\n")
            } else {
                String::new()
            };
            let code = Some(i32::from(!is_accepted));
            assert_eq!(
                (ended.code, ended.stdout),
                (code, stdout),
                "{option} {value}"
            );
            let reason = "ruled out by --known, --pubkey-hash or --prefix: 1 fitting string";
            assert_eq!(
                ended.stderr.contains(reason),
                !is_accepted,
                "{}",
                ended.stderr
            );
            let json = recover(&["--json", option, &value, text]).stdout;
            let others = format!("\"other_hits\":{}", u8::from(!is_accepted));
            assert!(json.contains(&others), "{json}");
        }
    }
}

/// Each of the two errors makes thousands of patterns for each of eight unknown characters and all kinds.
#[test]
fn an_estimate_says_when_it_is_a_lower_bound() {
    let text = "????????TtuokSCRHQ7i4MhjWc9zornvpJLfmg62sYpLRJF9woSv";
    let estimate = |options: &[&str]| {
        let ended = recover(&[options, &["--estimate", text]].concat());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        ended.stdout
    };
    let stdout = estimate(&["--errors", "2"]);
    for line in [
        "candidates   at least ",
        "hashes       at least ",
        "time         at least ",
        "by accident  at least ",
    ] {
        assert!(stdout.contains(line), "{stdout}");
    }
    assert!(!estimate(&[]).contains("at least"));
    assert!(estimate(&["--errors", "2", "--json"]).contains("\"lower_bound\":true"));
}

/// The number of possible strings exceeds 128 bits, and so do the ranks of the first and the last one.
#[test]
fn too_many_candidates_are_not_called_impossible() {
    let end_of_key = &KEY[24..];
    let texts = [
        format!("5{}", "?".repeat(50)),
        format!("3{}", "?".repeat(33)),
        format!("K{}{end_of_key}", "?".repeat(23)),
    ];
    for text in &texts {
        let ended = recover(&[text]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{text}");
        assert!(
            ended.stderr.contains("the search takes at least "),
            "{}",
            ended.stderr
        );
        let ended = recover(&["--case", "kept", text]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{text}");
        assert!(
            ended.stderr.contains("too many to search"),
            "{}",
            ended.stderr
        );
        let ended = recover(&["--case", "kept", "--estimate", text]);
        assert!(
            ended.stdout.contains("candidates   at least "),
            "{}",
            ended.stdout
        );
    }
}

/// 8 was read as B, and then written as b.
#[test]
fn a_character_is_misread_before_its_case_is_lost() {
    let kind = ["--payload-len", "3", "--version-bytes", "05"];
    let damage = ["--case", "lost", "--glyphs", "bzquk6ecb"];
    let ended = recover(&[&kind[..], &damage].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let found = ended
        .stdout
        .lines()
        .any(|line| line.starts_with("BzQUK6eC8 "));
    assert!(found, "{}", ended.stdout);
}

#[test]
fn a_litecoin_address_may_start_like_a_witness_address() {
    const ADDRESS: &str = "LTC1wwwwwwwwwwwwwwwwwwwwwwwwzCf5KA";
    let unknown = format!("{}??{}", &ADDRESS[..10], &ADDRESS[12..]);
    for args in [
        &["-k", "litecoin", &unknown][..],
        &["--case", "kept", &unknown],
    ] {
        let ended = recover(args);
        let first = ended.stdout.lines().next().unwrap_or_default();
        assert_eq!(
            (ended.code, first),
            (Some(0), &*format!("{ADDRESS}  (Litecoin address, L...)")),
            "{args:?}: {}",
            ended.stderr
        );
    }
    // Too short for a witness address, and impossible in Base58.
    let ended = recover(&["bc1qw508d6qejxtdg4y5r3zarvary0"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(
        ended.stderr.contains("no witness address fits"),
        "{}",
        ended.stderr
    );
}

/// Neither file ends.
#[test]
fn endless_lines_are_refused() {
    let ended = recover(&["--known", "/dev/zero", LOST]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    let reason =
        "hashlane: /dev/zero: line 1: not an address: it exceeds the maximum of 200 bytes\n";
    assert_eq!(ended.stderr, reason);
    let zeros = fs::File::open("/dev/zero").unwrap();
    let ended = end(hashlane().args(["recover", "-"]).stdin(zeros));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    let reason = "hashlane: standard input: a line exceeds the maximum of 4096 bytes\n";
    assert_eq!(ended.stderr, reason);
    let folder = tempfile::tempdir().unwrap();
    let known = folder.path().join("known");
    let comment = format!("# {}\n\n{FOUND}", "é".repeat(4000));
    fs::write(&known, comment).unwrap();
    let known = known.to_str().unwrap();
    let ended = recover(&["-q", "--known", known, LOST]);
    assert_eq!((ended.code, ended.stdout), (Some(0), format!("{FOUND}\n")));
}
