//! Torrents of other projects, with content that exists or can be generated. They run if
//! `../shared/torrents` is beside the checkout.

use std::fs::File;
use std::path::PathBuf;

use crate::fixture::{end, hashlane};
use crate::not_run::not_run;

/// Returns the folder of torrents. Reports a missing one.
fn torrents() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/torrents");
    if !folder.exists() {
        not_run(
            "torrents of other projects with content",
            "../shared/torrents does not exist",
            "put the torrents there",
        );
        return None;
    }
    Some(folder)
}

#[test]
fn content_that_lies_beside_its_torrent() {
    let Some(folder) = torrents() else { return };
    for (name, n_files) in [("numbers", 3), ("lots-of-numbers", 6)] {
        let torrent = folder.join(format!("webtorrent-fixtures/fixtures/{name}.torrent"));
        let beside = torrent.parent().unwrap();
        let ended = end(hashlane()
            .current_dir(beside)
            .arg("verify")
            .arg(&torrent)
            .arg("--verbose"));
        assert_eq!(
            ended.code,
            Some(0),
            "{name}: {}{}",
            ended.stdout,
            ended.stderr
        );
        assert!(
            ended.stdout.contains("complete: 1 of 1 piece, 100 %"),
            "{}",
            ended.stdout
        );
        assert_eq!(
            ended.stdout.matches("\n  whole").count(),
            n_files,
            "{}",
            ended.stdout
        );
    }
}

#[test]
fn half_a_gigabyte_of_zeros_in_a_hole() {
    let Some(folder) = torrents() else { return };
    let torrent = folder.join("anacrolix/tests/webseed-partial-seed/test.img.torrent");
    let place = tempfile::tempdir().unwrap();
    let content = place.path().join("test.img");
    File::create(&content)
        .unwrap()
        .set_len(524_288_000)
        .unwrap();
    let ended = end(hashlane()
        .arg("verify")
        .arg(&torrent)
        .arg("-d")
        .arg(place.path()));
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(
        ended.stdout.starts_with("complete    500 MiB  test.img\n"),
        "{}",
        ended.stdout
    );
}

#[test]
fn zeros_by_both_versions() {
    let Some(folder) = torrents() else { return };
    let place = tempfile::tempdir().unwrap();
    for (name, length) in [("test64K", 65_536), ("test1MB", 1_048_576)] {
        std::fs::write(place.path().join(name), vec![0; length]).unwrap();
    }
    for (name, n_pieces, versions) in [
        ("v2", "1 of 1 piece", &["v1", "v2"][..]),
        ("v2_multipiece_file", "16 of 16 pieces", &["v1", "v2"]),
        ("v2_only", "16 of 16 pieces", &["v2"]),
    ] {
        let torrent = folder.join(format!("libtorrent/test/test_torrents/{name}.torrent"));
        let verify = |options: &[&str]| {
            let mut command = hashlane();
            command
                .args(["verify", "--verbose"])
                .arg(&torrent)
                .args(options);
            end(command.arg("-d").arg(place.path()))
        };
        let only = versions.iter().map(|version| vec!["--only", version]);
        for options in only.chain([vec![]]) {
            let ended = verify(&options);
            assert_eq!(ended.code, Some(0), "{name}: {}", ended.stderr);
            let expected = format!("complete: {n_pieces}, 100 %");
            assert!(ended.stdout.contains(&expected), "{}", ended.stdout);
            // The report states which version was not checked.
            let is_half = versions.len() > 1 && !options.is_empty();
            assert_eq!(ended.stdout.contains("  checked    version"), is_half);
        }
    }
}

#[test]
fn every_torrent_is_shown_or_refused() {
    let Some(folder) = torrents() else { return };
    let manifest = std::fs::read(folder.join("MANIFEST.json")).unwrap();
    let manifest: Vec<serde_json::Value> = serde_json::from_slice(&manifest).unwrap();
    for entry in &manifest {
        let file = entry["file"].as_str().unwrap();
        let verdict = entry["expect_libtorrent_test"].as_str();
        let verdict = verdict.filter(|verdict| *verdict != "(not in table)");
        let verdict = verdict.or(entry["libtorrent_pip"].as_str()).unwrap();
        let path = folder.join(file);
        let ended = end(hashlane().arg("show").arg(&path));
        let expected = if verdict == "ok" { 0 } else { 2 };
        assert_eq!(ended.code, Some(expected), "{file}: {}", ended.stderr);
        for (version, hash) in [("v1", &entry["infohash_v1"]), ("v2", &entry["infohash_v2"])] {
            if let (0, Some(hash)) = (expected, hash.as_str()) {
                assert!(ended.stdout.contains(hash), "{file}: {version}");
            }
        }
        if expected == 0 {
            let ended = end(hashlane().arg("magnet").arg(&path));
            assert_eq!(ended.code, Some(0), "{file}: {}", ended.stderr);
            let ended = end(hashlane().args(["show", ended.stdout.trim_end()]));
            assert_eq!(ended.code, Some(0), "{file}: {}", ended.stderr);
        }
    }
}
