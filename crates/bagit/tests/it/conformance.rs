//! The conformance suite of the Library of Congress, whose files are in `tests/conformance`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hashlane_bagit::{Depth, Verdict, validate};

use crate::rfc::with_run;

/// What a bag is instead, and why.
const OTHER: [(&str, &str); 5] = [
    // Tag files must be UTF-8 (RFC 8493, section 2.2): the error says so.
    ("v0.97/valid/ISO-8859-1-encoded-tag-files", "refused"),
    ("v0.97/valid/UTF-16-encoded-tag-files", "refused"),
    // Two names of one file: valid only on a system that takes both for one.
    (
        "v0.97/warning/duplicate-file-with-different-case",
        "Invalid",
    ),
    (
        "v0.97/warning/same-filename-listed-twice-with-different-normalization",
        "Invalid",
    ),
    // Its manifest lists a `.DS_Store`, which the suite does not have.
    ("v0.97/warning/special-system-files", "Invalid"),
];

/// Returns the bags of a kind, such as `v1.0/valid`, by their names.
fn bags(kind: &str) -> BTreeMap<String, PathBuf> {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let entries = fs::read_dir(suite.join(kind)).unwrap();
    let bags = entries.map(|entry| {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        (format!("{kind}/{name}"), entry.path())
    });
    bags.collect()
}

#[test]
fn bags_of_the_conformance_suite_have_their_verdicts() {
    let mut wrong = Vec::new();
    let mut n_bags = 0;
    for (kind, expected) in [
        ("v0.97/valid", "Valid"),
        ("v0.97/warning", "Valid"),
        ("v0.97/invalid", "Invalid"),
        ("v0.97/linux-only", "Invalid"),
        ("v1.0/valid", "Valid"),
        ("v1.0/invalid", "Invalid"),
    ] {
        for (name, bag) in bags(kind) {
            let mut problems = Vec::new();
            let found = with_run(|run| {
                validate(&bag, Depth::Digests, run, &mut |problem| {
                    problems.push(format!("{}: {}", problem.path, problem.kind));
                })
            });
            let verdict = match &found {
                Ok(found) => match found.verdict() {
                    Verdict::Valid => "Valid",
                    Verdict::Incomplete => "Incomplete",
                    Verdict::Invalid => "Invalid",
                    Verdict::NotChecked => "NotChecked",
                },
                // A folder that is no bag is invalid.
                Err(_) => "refused",
            };
            let other = OTHER.iter().find(|(bag, _)| *bag == name);
            let expected = other.map_or(expected, |(_, other)| other);
            let is_expected = verdict == expected || verdict == "refused" && expected == "Invalid";
            if !is_expected {
                let error = found.err().map(|error| error.to_string());
                wrong.push(format!("{name}: {verdict}: {error:?} {problems:?}"));
            }
            n_bags += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(n_bags, 40);
}
