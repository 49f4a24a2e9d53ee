//! `hashlane recover` as a process.

mod bech32;
mod device;
mod extract;
mod filter;
mod other_kind;
mod plan;
mod resume;
mod widening;

use std::io::{ErrorKind, Write as _};
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
    // A program that refuses its arguments may end before it reads.
    let written = child.stdin.take().unwrap().write_all(input.as_bytes());
    if let Err(error) = written {
        assert_eq!(error.kind(), ErrorKind::BrokenPipe, "{error}");
    }
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
    // The example of a mini private key of the Bitcoin Wiki.
    let key = "S6c56bnXQiBjk9mqSYE7ykVQ7NzrRy";
    let ended = recover(&[key]);
    let expected = format!("{key}  (mini private key, whose check has only 8 bits, intact)\n");
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
