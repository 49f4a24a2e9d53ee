//! `--known`: only strings of known addresses.

use std::fs;

use super::{ADDRESSES, FOUND, KEY, LOST, recover, recover_of};
use crate::fixture::{end, hashlane};

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

/// The limit on hits counts those that the known addresses leave.
#[test]
fn known_addresses_rule_out_any_number_of_accidental_hits() {
    let folder = tempfile::tempdir().unwrap();
    let known = folder.path().join("known");
    fs::write(&known, ADDRESSES[0]).unwrap();
    let known = known.to_str().unwrap();
    let damaged = format!("{}?????????", &KEY[..43]);
    let ended = recover(&["-q", "--case", "kept", "--known", known, &damaged]);
    assert_eq!((ended.code, ended.stdout), (Some(0), format!("{KEY}\n")));
    // The address follows from its hash, however much is unknown.
    let hash = "751e76e8199196d454941c45d1b3a323f1433bd6";
    let unknown = format!("1{}", "?".repeat(33));
    for fact in [["--known", known], ["--pubkey-hash", hash]] {
        let ended = recover(&[&fact[..], &["--case", "kept", &unknown]].concat());
        let line = format!("{}  (Bitcoin address, 1...)\n", ADDRESSES[0]);
        assert_eq!(
            (ended.code, ended.stdout),
            (Some(0), line),
            "{}",
            ended.stderr
        );
        let estimate = recover(&[&fact[..], &["--estimate", "--case", "kept", &unknown]].concat());
        assert!(
            estimate.stdout.contains("\n  hashes       at least 0\n"),
            "{estimate:?}"
        );
    }
}
