//! `--resume`, `--shard` and the remaining part of a search.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::{FOUND, LOST, recover, recover_of};
use crate::fixture::hashlane;

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

/// Returns the text of a resume file with the digest of its searches.
fn signed(text: &str) -> String {
    let searches = text.strip_prefix("{\"searches\":").unwrap();
    let (searches, _) = searches.split_once(",\"sha256\":").unwrap();
    let digest = HEXLOWER.encode(&Sha256::digest(searches));
    format!("{{\"searches\":{searches},\"sha256\":\"{digest}\"}}\n")
}

/// Searches for [`LOST`]. Returns the resume file, its folder and its text.
fn searched() -> (PathBuf, TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let ended = recover(&["-q", "--resume", state.to_str().unwrap(), LOST]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let text = fs::read_to_string(&state).unwrap();
    (state, folder, text)
}

#[test]
fn resume_files_that_are_refused() {
    let (state, folder, good) = searched();
    let path = state.to_str().unwrap();
    let not_of_this_version = "state: is not a resume file of this version of hashlane: ";
    let damaged = "state: is damaged: its SHA-256 is another one";
    let other = "state: does not match the search: the file is damaged";
    assert_eq!(signed(&good), good);
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
            signed(&good.replace(&number("next_unit"), "\"next_unit\":18446744073709551615")),
            other,
        ),
        (
            signed(&good.replace(&number("total_units"), "\"total_units\":1000000")),
            other,
        ),
        (
            signed(&good.replace(
                &number("units_with_hits"),
                "\"units_with_hits\":[0,18446744073709551615",
            )),
            other,
        ),
        // A work unit that would be left out.
        (
            good.replace(&number("next_unit"), "\"next_unit\":1"),
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
    assert!(ended.stderr.contains("is a directory"), "{}", ended.stderr);
}

#[test]
fn nobody_waits_for_the_writer_of_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let ended = recover(&["--resume", pipe.to_str().unwrap(), LOST]);
    assert_eq!(ended.code, Some(2));
    let reason = format!("{}: not a regular file", pipe.display());
    assert!(ended.stderr.contains(&reason), "{}", ended.stderr);
    let ended = recover(&["--known", pipe.to_str().unwrap(), LOST]);
    assert_eq!(ended.code, Some(2));
    let reason = format!("{}: is a pipe that no program writes to", pipe.display());
    assert!(ended.stderr.contains(&reason), "{}", ended.stderr);
}

/// The file is replaced, never written in place: a link to the old file keeps the old content.
#[test]
fn a_resume_file_is_replaced() {
    let (state, folder, good) = searched();
    let path = state.to_str().unwrap();
    let link = folder.path().join("link");
    fs::hard_link(&state, &link).unwrap();
    let ended = recover(&["-q", "--resume", path, LOST, LONGER]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(fs::read_to_string(&link).unwrap(), good);
    assert_ne!(fs::read_to_string(&state).unwrap(), good);
}
