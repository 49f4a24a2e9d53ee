//! Arbitrary texts as the tag files and the payload of a bag (RFC 8493): nothing panics, a validation changes nothing, a bag is
//! valid only if its manifest has the digests of its payload, an updated bag is valid, and no file outside of the bag changes.
//!
//! Lines of `%` separate the files. In their texts, `DIGEST_A` and `DIGEST_B` stand for the SHA-256 of the two files of the
//! payload.

#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hashlane_bagit::{Depth, Run, Verdict, update, validate};
use hashlane_sha::Sha256;
use hashlane_sums::{CancelToken, Options};
use libfuzzer_sys::fuzz_target;

/// The files of a bag in the order of the parts of an input. An empty part is no file.
const FILES: [&str; 7] = [
    "bagit.txt",
    "bag-info.txt",
    "manifest-sha256.txt",
    "tagmanifest-sha256.txt",
    "fetch.txt",
    "data/a",
    "data/b",
];

/// A folder of this process, with the bag and a file beside it.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        std::env::temp_dir().join(format!("hashlane-fuzz-bag-{}", std::process::id()))
    })
}

/// Replaces what an earlier input left.
fn write(parts: &[Vec<u8>]) -> std::io::Result<()> {
    let bag = folder().join("bag");
    if bag.exists() {
        fs::remove_dir_all(&bag)?;
    }
    fs::create_dir_all(bag.join("data"))?;
    fs::write(folder().join("outside"), "outside")?;
    for (name, part) in FILES.iter().zip(parts) {
        if !part.is_empty() {
            fs::write(bag.join(name), part)?;
        }
    }
    Ok(())
}

/// Returns all files below a folder with their bytes.
fn files(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            files(&entry.path(), found)?;
        } else {
            found.insert(entry.path(), fs::read(entry.path())?);
        }
    }
    Ok(())
}

fn snapshot() -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    files(folder(), &mut found).expect("the folder is readable");
    found
}

fuzz_target!(|text: &[u8]| {
    let mut parts: Vec<Vec<u8>> = vec![Vec::new()];
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match parts.last_mut() {
            Some(part) if line != b"%\n" => part.extend_from_slice(line),
            _ => parts.push(Vec::new()),
        }
    }
    parts.resize(FILES.len(), Vec::new());
    let digests: Vec<String> = parts[5..]
        .iter()
        .map(|part| hashlane_sha::digest::<Sha256>(part).to_string())
        .collect();
    for part in &mut parts[..5] {
        *part = replaced(part, b"DIGEST_A", digests[0].as_bytes());
        *part = replaced(part, b"DIGEST_B", digests[1].as_bytes());
    }
    write(&parts).expect("the folder takes files");
    let bag = folder().join("bag");
    let (cancel, mut ignored) = (CancelToken::default(), |_| ());
    let options = Options::default();
    let mut run = Run {
        options: &options,
        cancel: &cancel,
        progress: &mut ignored,
    };
    let before = snapshot();
    for depth in [Depth::Oxum, Depth::Completeness, Depth::Digests] {
        let mut n_problems = 0;
        let mut report = |problem: hashlane_bagit::Problem| {
            assert!(!problem.kind.to_string().is_empty());
            n_problems += 1;
        };
        match validate(&bag, depth, &mut run, &mut report) {
            Ok(found) if found.verdict() == Verdict::Valid => {
                assert_eq!(n_problems, 0);
                let manifest = parts[2].to_ascii_lowercase();
                let manifest = String::from_utf8_lossy(&manifest);
                let payload = digests.iter().zip(&parts[5..]);
                for (digest, part) in payload.filter(|(_, part)| !part.is_empty()) {
                    let is_listed = manifest.contains(digest);
                    assert!(depth != Depth::Digests || is_listed, "{part:?}");
                }
            }
            Ok(_) => assert_ne!(n_problems, 0),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    assert_eq!(snapshot(), before, "a validation changes nothing");
    match update(&bag, &[], &mut run) {
        Ok(updated) => {
            assert_eq!(
                updated.n_files,
                parts[5..].iter().filter(|part| !part.is_empty()).count() as u64
            );
            let mut problems = Vec::new();
            let mut report = |problem| problems.push(problem);
            let found = validate(&bag, Depth::Digests, &mut run, &mut report);
            let verdict = found.expect("an updated bag can be read").verdict();
            assert!(
                matches!(verdict, Verdict::Valid | Verdict::Incomplete),
                "{problems:?}"
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let after = snapshot();
    let kept = |path: &Path| path.starts_with(bag.join("data")) || !path.starts_with(&bag);
    for files in [(&before, &after), (&after, &before)] {
        let kept = files.0.iter().filter(|(path, _)| kept(path));
        for (path, bytes) in kept {
            assert_eq!(files.1.get(path), Some(bytes), "{}", path.display());
        }
    }
});

/// Returns the text with each occurrence of `from` replaced.
fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.first() {
        if let Some(after) = rest.strip_prefix(from) {
            result.extend_from_slice(to);
            rest = after;
        } else {
            result.push(*first);
            rest = &rest[1..];
        }
    }
    result
}
