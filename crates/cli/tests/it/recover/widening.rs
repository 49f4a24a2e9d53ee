//! Searches without options, which widen by themselves.

use super::{FOUND, KEY, recover};

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
    let remedy = ": give a longer --max-time, or `--case lost` instead, which has no time limit";
    assert!(ended.stderr.contains(remedy), "{}", ended.stderr);
    // The estimate has the same limit.
    let ended = recover(&["--estimate", "--kind", "wif", "--max-time", "1s", &key]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let refusal = "\n  not started  --max-time allows 1.00 s; the search takes ";
    assert!(ended.stdout.contains(refusal), "{}", ended.stdout);
}

/// Every search that is made was announced. The order of cheap searches depends on measured speeds.
#[test]
fn an_estimate_without_options_is_that_of_the_searches_that_are_made() {
    for text in [
        // A character is missing, transposed, or wrong.
        "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX7",
        "1Lbcfr7sAHTD9CgdQ3oHTMTkV8LK4ZnX71",
        "1Lbcfr7sAHTD9CgdQ03HTMTkV8LK4ZnX71",
    ] {
        let estimate = recover(&["--estimate", "--kind", "p2pkh", text]);
        assert_eq!((estimate.code, estimate.stderr.as_str()), (Some(0), ""));
        let first = "Searches until the first hit, within 10 s:\n";
        assert!(estimate.stdout.starts_with(first), "{}", estimate.stdout);
        let announced: Vec<&str> = estimate.stdout.lines().map(str::trim).collect();
        let ended = recover(&["--kind", "p2pkh", text]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let is_tried = |line: &&str| line.starts_with("  letter case ");
        for line in ended.stderr.lines().filter(is_tried) {
            let (damage, _) = line.trim().split_once(':').unwrap();
            assert!(announced.contains(&damage), "{estimate:?} {line}");
        }
    }
    // Two characters are superfluous.
    let text = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX7111";
    for options in [&[][..], &["--case", "kept", "--errors", "2"]] {
        let ended = recover(&[&["--estimate", "--kind", "p2pkh", text], options].concat());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        let candidates = ["    496 candidates, ", "  candidates   496\n"];
        let is_counted = candidates.iter().any(|part| ended.stdout.contains(part));
        assert!(is_counted, "{ended:?}");
    }
}

#[test]
fn an_estimate_says_that_no_search_is_needed() {
    for (text, reason) in [
        (FOUND, "the string is intact"),
        (
            "bc1qw508d6qejxtdg4y5r3zarvarv0c5xw7kv8f3t4",
            "the checksum of this text corrects errors",
        ),
    ] {
        let ended = recover(&["--estimate", text]);
        let line = format!("no search is needed: {reason}\n");
        assert_eq!((ended.code, ended.stdout), (Some(0), line));
        let json = recover(&["--estimate", "--json", text]).stdout;
        let line = format!("{{\"type\":\"no_search\",\"reason\":\"{reason}\"}}\n");
        assert_eq!(json, line);
    }
}

/// Wider searches can have hits, so "no string fits" alone would be wrong.
#[test]
fn a_string_that_fits_only_with_errors_is_not_called_impossible() {
    let text = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX7111";
    let ended = recover(&["--kind", "p2pkh", "--case", "kept", text]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let expected = "\
hashlane: 36 characters, and p2pkh has 25 to 34
hashlane: no string fits if no character is wrong, missing or extra
Not tried, the cheapest first:
  --case kept --errors 2: ";
    assert!(ended.stderr.starts_with(expected), "{}", ended.stderr);
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

/// Zero, O, I, l and # are what people and text recognition write most often in place of another character.
#[test]
fn a_character_that_no_string_has_is_tried_first() {
    for (i, impossible) in [(3, 'l'), (17, '0'), (30, 'I'), (41, '#'), (51, 'O')] {
        let damaged = format!("{}{impossible}{}", &KEY[..i], &KEY[i + 1..]);
        for args in [&[&*damaged][..], &["--errors", "1", &damaged]] {
            let ended = recover(args);
            let line = format!("{KEY}  (Bitcoin private key, K... or L..., 1 edit)\n");
            assert!(ended.stdout.starts_with(&line), "{ended:?}");
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        }
        let ended = recover(&["--case", "kept", &damaged]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        let reason = format!(
            "character {} is '{impossible}', which no such string has",
            i + 1
        );
        assert!(ended.stderr.contains(&reason), "{}", ended.stderr);
    }
    // Three of them: their positions are known, so that the search is cheap.
    let damaged = KEY.replacen("DiB", "0lO", 1);
    let ended = recover(&["--kind", "wif-compressed", &damaged]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.starts_with(KEY), "{}", ended.stdout);
}

/// Two wrong characters are nearer than three look-alikes, some of which fit by accident.
#[test]
fn nothing_is_complete_while_a_nearer_repair_was_not_tried() {
    let text = "1Lbcfr75AHTD9CgdQD3HTMTkVBLK4Z[adefhjmnrtyHEFAM]?71";
    let ended = recover(&["--json", "--kind", "p2pkh", text]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let reason = "strings with fewer edits were not searched for: there can be more hits";
    assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    let summary: serde_json::Value =
        serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
    let hits = summary["hits"].as_array().unwrap();
    assert!(hits.iter().any(|hit| hit == FOUND), "{summary}");
    assert_eq!(summary["complete"], false);
    let suggestions = summary["suggestions"].as_array().unwrap();
    let mut changes = suggestions.iter().map(|one| &one["change"]);
    assert!(changes.any(|change| change == "--case lost"), "{summary}");
}

#[test]
fn a_text_that_was_cut_off_is_found() {
    for damaged in [&KEY[..46], &KEY[..49], &KEY[2..], &KEY[3..]] {
        let ended = recover(&["--kind", "wif-compressed", damaged]);
        let line = format!("{KEY}  (Bitcoin private key, K... or L..., ");
        assert!(ended.stdout.contains(&line), "{damaged}: {ended:?}");
    }
    // All kinds: the text may be something else, and 116 strings would fit by accident.
    let ended = recover(&[&KEY[..44]]);
    assert_eq!(ended.stdout, "");
    for part in [
        "this may be a Solana address or another number of 32 bytes",
        "--case kept, and `?` for each missing character at the end: ",
    ] {
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
    // Without three characters, a key has the length and the first character of an address of Substrate.
    let key = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ";
    for cut in [&key[..48], &key[3..]] {
        let ended = recover(&["--kind", "wif", cut]);
        assert!(ended.stdout.contains(key), "{cut}: {ended:?}");
    }
    let ended = recover(&[&key[..48]]);
    assert!(!ended.stderr.contains("Substrate"), "{ended:?}");
    // Nothing starts like this.
    let ended = recover(&["zv91n7izrb5p4z2s4ta2kzyzqyqyqyqyqyqyqyqyqyqy"]);
    assert!(
        ended.stderr.contains("no checksum to check against"),
        "{}",
        ended.stderr
    );
}
