//! `hashlane git verify-pack`: output and exit status. The crate `hashlane-git` has the comparison with Git.

use std::fs;

use hashlane_sha::Sha1;
use serde_json::{Value, json};

use crate::fixture::{Ended, end, hashlane};

/// The identifier of an empty blob.
const EMPTY: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

/// A folder with a pack that has an empty blob.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        // A header for type 3 and length 0, and an empty stream of zlib.
        let object = [0x30, 0x78, 1, 3, 0, 0, 0, 0, 1];
        let mut pack = b"PACK\0\0\0\x02\0\0\0\x01".to_vec();
        pack.extend(object);
        let checksum: [u8; 20] = Sha1::digest(&pack).into();
        pack.extend(checksum);
        let id: [u8; 20] = Sha1::digest(b"blob 0\0").into();
        // Version 1: a table by the first byte, then the place and the identifier.
        let mut index = Vec::new();
        for first in 0..=255 {
            index.extend(u32::from(first >= id[0]).to_be_bytes());
        }
        index.extend(12_u32.to_be_bytes());
        index.extend(id);
        index.extend(checksum);
        let own: [u8; 20] = Sha1::digest(&index).into();
        index.extend(own);
        place.write("a.pack", &pack);
        place.write("a.idx", &index);
        place
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.folder.path().join(name), bytes).unwrap();
    }

    /// Changes a byte of the object.
    fn damage(&self) {
        let path = self.folder.path().join("a.pack");
        let mut pack = fs::read(&path).unwrap();
        pack[13] ^= 1;
        fs::write(path, pack).unwrap();
    }

    fn verify(&self, args: &[&str]) -> Ended {
        end(hashlane()
            .current_dir(self.folder.path())
            .args(["git", "verify-pack"])
            .args(args))
    }

    fn json(&self, args: &[&str]) -> Vec<Value> {
        let ended = self.verify(&[&["--json"], args].concat());
        let lines = ended.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

#[test]
fn good_packs_are_ok() {
    let place = Place::new();
    let ended = place.verify(&["a.pack", "a.idx"]);
    assert_eq!(ended.stdout, "a.pack: ok, 1 object\na.idx: ok, 1 object\n");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(place.verify(&["--quiet", "a.pack"]).stdout, "");
    let listed = place.verify(&["--list", "--quiet", "a.pack"]).stdout;
    assert_eq!(listed, format!("{EMPTY} blob   0 9 12\n"));
}

#[test]
fn damage_has_a_place_and_a_reason() {
    let place = Place::new();
    place.damage();
    let ended = place.verify(&["a.pack"]);
    let expected = format!(
        "a.pack: the pack does not have its checksum\n\
         a.pack: object {EMPTY} at offset 12: its compressed data is damaged\n\
         a.pack: bad, 2 problems, 1 object\n"
    );
    assert_eq!((ended.code, ended.stdout), (Some(1), expected));
}

#[test]
fn a_pack_with_too_large_objects_is_not_bad() {
    let place = Place::new();
    let ended = place.verify(&["--max-memory", "1", "a.pack"]);
    let expected = format!(
        "a.pack: object {EMPTY} at offset 12: it needs more memory than is allowed\n\
         a.pack: 1 of 1 object not checked\n"
    );
    assert_eq!((ended.code, ended.stdout), (Some(2), expected));
    let lines = place.json(&["--max-memory", "1", "a.pack"]);
    assert_eq!(lines[1]["verdict"], "not_checked");
}

#[test]
fn json_lines_have_objects_problems_and_verdicts() {
    let place = Place::new();
    let object = json!({
        "type": "object", "pack": "a.pack", "id": EMPTY, "kind": "blob", "bytes": 0, "packed_bytes": 9,
        "offset": 12, "depth": 0, "base": null,
    });
    let good = json!({
        "type": "pack", "pack": "a.pack", "verdict": "good", "format": "sha1", "objects": 1, "problems": 0,
    });
    assert_eq!(place.json(&["--list", "a.pack"]), [object, good]);
    place.damage();
    let lines = place.json(&["a.pack", "b.pack"]);
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[1]["offset"], 12);
    assert_eq!(lines[1]["message"], "its compressed data is damaged");
    assert_eq!(lines[2]["verdict"], "bad");
    assert_eq!(lines[3]["type"], "error");
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_are_bytes_in_json() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let place = Place::new();
    for extension in ["pack", "idx"] {
        let name = [b"\xff.", extension.as_bytes()].concat();
        let to = place.folder.path().join(OsStr::from_bytes(&name));
        fs::rename(place.folder.path().join(format!("a.{extension}")), to).unwrap();
    }
    let ended = end(hashlane()
        .current_dir(place.folder.path())
        .args(["git", "verify-pack", "--json"])
        .arg(OsStr::from_bytes(b"\xff.pack"))
        .arg(OsStr::from_bytes(b"\xfe.pack")));
    let lines = ended.stdout.lines();
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let named = lines
        .iter()
        .map(|line| (&line["type"], &line["pack"], &line["pack_hex"]));
    let expected = [
        (
            &json!("pack"),
            &json!("\u{fffd}.pack"),
            &json!("ff2e7061636b"),
        ),
        (
            &json!("error"),
            &json!("\u{fffd}.pack"),
            &json!("fe2e7061636b"),
        ),
    ];
    assert_eq!(named.collect::<Vec<_>>(), expected);
}

#[test]
fn unreadable_packs_do_not_end_the_work() {
    let place = Place::new();
    place.write("b.pack", b"");
    let ended = place.verify(&["b.pack", "a.pack"]);
    assert_eq!(ended.code, Some(2));
    assert_eq!(ended.stdout, "a.pack: ok, 1 object\n");
    assert!(
        ended
            .stderr
            .contains("b.pack: has no index: make one with `git index-pack`"),
        "{}",
        ended.stderr
    );
}
