//! Witness addresses.

use std::fs;

use super::recover;

#[test]
fn bech32_is_the_same_in_either_case() {
    // The address from the examples of BIP 173.
    let address = "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4";
    let ended = recover(&[address]);
    assert_eq!(ended.code, Some(0));
    let address = address.to_ascii_lowercase();
    assert_eq!(
        ended.stdout,
        format!("{address}  (witness version 0, intact)\n")
    );
}

#[test]
fn witness_addresses_are_repaired() {
    let address = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
    for (damaged, edits, changed) in [
        (
            "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
            ", 1 edit",
            "42",
        ),
        (
            "bc1qw508d6qexxtdg4y5r3zarvarv0c5xw7kv8f3t4",
            ", 2 edits",
            "13, 29",
        ),
        ("BCLQW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", ", 1 edit", ""),
        (
            "bc1qw508d6q?jxtdg4?5r3zarvary0c5?w7kv8f3t?",
            "",
            "12, 19, 33, 42",
        ),
    ] {
        let ended = recover(&[damaged]);
        let line = format!("{address}  (witness version 0{edits})\n");
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

/// The prefix of no known network (BIP 173), and prefixes that were misread.
#[test]
fn only_the_prefix_can_be_wrong() {
    let other = "tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty";
    let ended = recover(&[other]);
    let line = format!("{other}  (Bech32 text with the unknown prefix tc, intact)\n");
    assert_eq!((ended.code, ended.stdout), (Some(0), line));
    for damaged in [
        "8e1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
        "??lqw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    ] {
        let ended = recover(&[damaged]);
        let address = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
        assert!(ended.stdout.starts_with(address), "{ended:?}");
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
    // A text of this length is no address because of that.
    let ended = recover(&["8e1qw508d6qejxtdg4y5r3zarvarq0c5xw7kv8f3t4"]);
    assert!(!ended.stderr.contains("witness"), "{}", ended.stderr);
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
