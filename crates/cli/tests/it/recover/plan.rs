//! Estimates, limits and refused searches.

use super::{KEY, LOST, recover};

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
            &["S6c56bnXQiBjk9mqSYE7ykVQ7NzrRz"],
            "this looks like a mini private key (S..., 22 or 30 characters), a kind that is not searched for",
        ),
        (
            &["S4b3N3oGqDqR5jNuxEv?wf"],
            "one candidate of 256 fits by accident",
        ),
        (
            &["0x52908400098527886e0f7030069857d2e4169ee7"],
            "this looks like an Ethereum address: all letters are in one case, so the text carries no checksum",
        ),
        (
            &["0x52908400098527886e0f7030069857d2e4169ee752908400098527886e0f7030"],
            "a number of 32 bytes in hexadecimal",
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
fn a_time_limit_applies_to_the_preparation_of_a_search() {
    let key = "L3p8oAcQTtuokSCRHQ7i4MhjWc9zornvpJLfmg62sYpLRJF9woSv";
    for estimate in [&[][..], &["--estimate"]] {
        let ended = recover(&[&["--errors", "2", "--max-time", "0.0001", key], estimate].concat());
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let message = "--max-time allows 0.1 ms; the preparation of the search takes longer";
        assert!(ended.stderr.contains(message), "{ended:?}");
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
