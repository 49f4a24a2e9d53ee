//! Searches without options, which widen by themselves.

use super::{FOUND, recover};

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
