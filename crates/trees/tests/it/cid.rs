//! CIDs, compared with those of `ipfs-unixfs-importer`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hashlane_sha::Engine;
use hashlane_trees::{
    CancelToken, Cid, Error, Event, FolderTooLarge, Format, IoMode, Item, Options, TreeHash,
    hash_files,
};

use crate::judge::{hashes, write_files};
use crate::not_run::{is_installed, not_run_unless_required};
use crate::random::Random;

/// The profiles, with their names in the script.
const PROFILES: [(Cid, &str); 3] = [(Cid::V0, "v0"), (Cid::V1, "v1"), (Cid::V1Of2025, "v1-2025")];

const KIB: usize = 1 << 10;

/// Returns the folder of the importer, or reports that it is not installed.
fn importer() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/ipfs");
    if !is_installed("IPFS", "node", "nodejs") {
        return None;
    }
    if !folder.join("node_modules/ipfs-unixfs-importer").exists() {
        not_run_unless_required(
            "IPFS",
            "comparisons of CIDs",
            "ipfs-unixfs-importer is not installed",
            "cargo xtask counterparts",
        );
        return None;
    }
    Some(folder)
}

/// Returns the CIDs of files and folders.
fn expected(importer: &Path, profile: &str, paths: &[PathBuf]) -> Vec<String> {
    let mut command = Command::new("node");
    let output = command
        .arg(importer.join("cid.mjs"))
        .arg(profile)
        .args(paths)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(str::to_owned).collect()
}

/// Returns lengths around the ends of chunks and of nodes, and random ones.
fn lengths(format: Cid, numbers: &mut Random) -> Vec<usize> {
    let chunk = format.leaf_len() as usize;
    let mut lens = vec![0, 1, 127, 128, 129, 16_383, 16_384];
    for n_chunks in [1, 2, 3] {
        lens.extend([n_chunks * chunk - 1, n_chunks * chunk, n_chunks * chunk + 1]);
    }
    if chunk == 256 * KIB {
        // One node of 174 links, and one more chunk.
        lens.extend([174 * chunk, 174 * chunk + 1]);
    }
    lens.extend((0..22).map(|_| {
        let limit = 1 << (4 + numbers.below(19));
        numbers.below(limit)
    }));
    lens
}

#[test]
fn files_of_all_lengths_have_the_cids_of_the_importer() {
    let Some(importer) = importer() else { return };
    let (mut numbers, mut n_cases) = (Random::new(7), 0);
    for (format, profile) in PROFILES {
        let folder = tempfile::tempdir().unwrap();
        let lens = lengths(format, &mut numbers);
        let paths = write_files(folder.path(), &lens, &mut numbers);
        let expected = expected(&importer, profile, &paths);
        let mut modes = vec![IoMode::Pread];
        modes.extend(cfg!(target_os = "linux").then_some(IoMode::Mmap));
        for io in modes {
            let options = Options::default().io(io).allow_signal_handler();
            let found = hashes(&format, &paths, &options);
            for ((found, expected), len) in found.iter().zip(&expected).zip(&lens) {
                assert_eq!(found, expected, "{profile}, {io:?}: {len} bytes");
            }
            assert_eq!(found.len(), expected.len());
        }
        for cid in &expected {
            assert_eq!(format.normalized(cid).as_ref(), Some(cid));
        }
        n_cases += lens.len();
    }
    assert!(n_cases >= 100, "{n_cases} cases");
}

/// Returns the CID of a file or a folder.
fn cid_of(format: Cid, path: &Path) -> TreeHash {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap().map(|entry| {
            let entry = entry.unwrap();
            (
                entry.file_name().into_encoded_bytes(),
                cid_of(format, &entry.path()),
            )
        });
        return format.folder(Engine::detect(), entries.collect()).unwrap();
    }
    let (options, cancel) = (Options::default(), CancelToken::default());
    let mut node = None;
    hash_files(&format, [Item::new(path, ())], &options, &cancel, |event| {
        if let Event::Outcome((), Ok((hash, _))) = event {
            node = Some(hash);
        }
        Ok::<_, Error>(())
    })
    .unwrap();
    node.unwrap()
}

#[test]
fn folders_have_the_cids_of_the_importer() {
    let Some(importer) = importer() else { return };
    let mut numbers = Random::new(8);
    for (format, profile) in PROFILES {
        let mut folders = Vec::new();
        let root = tempfile::tempdir().unwrap();
        for i in 0..20 {
            let folder = root.path().join(format!("folder {i}"));
            for name in ["", "empty", "sub", "sub/b", "sub.a"] {
                if numbers.below(4) > 0 {
                    fs::create_dir_all(folder.join(name)).unwrap();
                }
            }
            fs::create_dir_all(&folder).unwrap();
            for name in ["z", "Z", "\u{e4}", "sub-file", "a.txt"] {
                if numbers.below(3) > 0 {
                    let len = 1 << numbers.below(20);
                    fs::write(folder.join(name), numbers.bytes(len)).unwrap();
                }
            }
            folders.push(folder);
        }
        let expected = expected(&importer, profile, &folders);
        for (folder, expected) in folders.iter().zip(&expected) {
            assert_eq!(
                cid_of(format, folder).to_string(),
                *expected,
                "{profile}: {folder:?}"
            );
        }
    }
}

#[test]
fn known_cids() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for (format, content, cid) in [
        (
            Cid::V0,
            "",
            "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH",
        ),
        (
            Cid::V1,
            "",
            "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku",
        ),
    ] {
        fs::write(file.path(), content).unwrap();
        assert_eq!(cid_of(format, file.path()).to_string(), cid);
    }
}

#[test]
fn folders_of_the_maximum_size_are_the_last_ones() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for format in [Cid::V0, Cid::V1, Cid::V1Of2025] {
        let node = cid_of(format, file.path());
        let entries = |n: u32| (0..n).map(|i| (format!("{i:0100}").into_bytes(), node.clone()));
        let folder = |n| format.folder(Engine::detect(), entries(n).collect());
        // Each entry takes more than 130 bytes and less than 160.
        assert!(folder(1600).is_ok());
        assert_eq!(folder(2020), Err(FolderTooLarge));
    }
}

#[test]
fn other_texts_are_no_cids() {
    let v0 = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH";
    let v1 = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku";
    assert_eq!(
        Cid::V1
            .normalized(&v1.to_ascii_uppercase().replacen('B', "b", 1))
            .as_deref(),
        Some(v1)
    );
    for text in [
        "",
        "b",
        "Qm",
        v0,
        &v1[1..],
        &format!("{v1}aa"),
        "bafk\u{e4}",
    ] {
        assert_eq!(Cid::V1.normalized(text), None, "{text}");
    }
    for text in [
        "",
        "b",
        "Qm",
        v1,
        &v0[1..],
        &v0.replace('Q', "1"),
        &v0.replace('Q', "0"),
    ] {
        assert_eq!(Cid::V0.normalized(text), None, "{text}");
    }
}
