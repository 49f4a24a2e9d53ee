//! Listings of Hugging Face.

use hashlane_known::{KnownDigest, listing};
use proptest::prelude::*;
use serde_json::{Value, json};

fn parse(value: &Value) -> Result<Vec<hashlane_known::KnownFile>, String> {
    listing::parse(value.to_string().as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn large_files_have_another_digest() {
    let small = json!({"type": "file", "path": "a/b", "oid": "0".repeat(40), "size": 3});
    let large = json!({
        "type": "file", "path": "c", "oid": "0".repeat(40), "size": 134,
        "lfs": {"oid": "1".repeat(64), "size": 5_000_000_000_u64, "pointerSize": 134}, "xetHash": "2"
    });
    let folder = json!({"type": "directory", "path": "a", "oid": "0".repeat(40), "size": 0});
    let files = parse(&json!([folder, small, large])).unwrap();
    assert_eq!(files.len(), 2);
    assert!(matches!(files[0].digest, KnownDigest::GitBlob(_)));
    assert_eq!(files[0].len_bytes, Some(3));
    assert!(matches!(files[1].digest, KnownDigest::Digest(..)));
    assert_eq!(files[1].len_bytes, Some(5_000_000_000));
}

#[test]
fn entries_that_cannot_be_used_are_named() {
    let entry = |path: &str, oid: &str, kind: &str| json!({"type": kind, "path": path, "oid": oid});
    let zeros = "0".repeat(40);
    for (entry, expected) in [
        (
            entry("a", "12", "file"),
            "entry 2, \"a\": the oid is no digest",
        ),
        (
            entry("a", &"F".repeat(40), "file"),
            "entry 2, \"a\": the oid is no digest",
        ),
        (
            entry("../a", &zeros, "file"),
            "entry 2, \"../a\": the path leaves the folder",
        ),
        (
            entry("a", &zeros, "link"),
            "entry 2, \"a\": is neither a file nor a directory",
        ),
    ] {
        let right = json!({"type": "file", "path": "right", "oid": zeros});
        assert_eq!(parse(&json!([right, entry])).unwrap_err(), expected);
    }
    for text in ["", "{}", "[{}]", "[1]"] {
        assert!(listing::parse(text.as_bytes()).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn no_path_leaves_the_folder(path in "[a./\\\\]{0,12}") {
        let entry = json!([{"type": "file", "path": path, "oid": "0".repeat(40)}]);
        if let Ok(files) = parse(&entry) {
            let mut depth = 0_i32;
            for part in path.split('/') {
                depth += match part { "" | "." => 0, ".." => -1, _ => 1 };
                prop_assert!(depth >= 0);
            }
            prop_assert!(files[0].path.is_relative());
        }
    }
}
