//! Torrents created by other programs and by Hashlane from the same files must have equal
//! info-hashes. The results of other programs are stored here, so that the test also runs where
//! they are not installed. If they are installed, the test runs them on more cases.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::fixture::hashlane;
use crate::not_run::{has_python_module, is_installed};

/// Files with these lengths. No file's name is a prefix of the name of a folder beside it.
/// libtorrent 2.1 sorts whole paths, so that `a.txt` precedes `a/b`, and then refuses its own
/// hybrids. BEP 52 sorts names.
const TREES: &[(&str, &[(&str, usize)])] = &[
    (
        "mixed",
        &[
            ("a", 512),
            ("b", 0),
            ("c", 40_000),
            ("sub/x", 100),
            ("sub/y", 0),
            ("sub/deeper/z", 65_536),
            ("text", 16_384),
            ("zz/e", 0),
        ],
    ),
    ("exact", &[("a", 65_536), ("b", 131_072), ("c", 32_768)]),
    ("one-in-folder", &[("only", 100_000)]),
    ("tail", &[("a", 16_384), ("b", 1)]),
];

/// Info-hashes of these trees with pieces of 32 KiB, made by `libtorrent` 2.1.1 (all), `mktorrent`
/// 1.1 and `imdl` 0.1.16 (version 1). Columns: tree, version 1 alone, version 2 alone, hybrid.
const EXPECTED: &[(&str, &str, &str, [&str; 2])] = &[
    (
        "mixed",
        "e7226f02f9c97e9dea429572026c561db4298181",
        "54849f6fb8d73c7244c638a63e979a5e615e2d96467aa7b3b730b4945a63703e",
        [
            "e3bbb1f427bc78495b606c364ba34b088da2008f",
            "cda3844a22f8381c47f6208a8e6dd78f737634c66b8bb3f815dc5e33d82f48fe",
        ],
    ),
    (
        "exact",
        "06f7b6579307bbf92c0386ee8473b6169705919c",
        "b7eee6729f7f7fd27ff5c0d15b1afb3b7ef994e0c4500142883422be5420dccf",
        [
            "2761357b55dd75f0c6db4fed2adb5960341998c5",
            "939121ca0b7a25c83006b37eccacfee53812753c6b8b4faddc9e108ca62ecde2",
        ],
    ),
    (
        "one-in-folder",
        "d7e9554e25815a079c5242fa88c66ddf86ba2de7",
        "970ac12007e9c89fbc80e1321f0d0641dbda674e30cd0d65b5f862ca983d7cb8",
        [
            "8353b60802723a60cc1dbacf8abd49e2a81d8851",
            "31a3ca73982527cf8cdfaa2769cf66939b06219bc173c3a0bff61e36729374c0",
        ],
    ),
    (
        "tail",
        "ecfd253c53989ceaa1e917f981ea1ecf5498009a",
        "20e3d112e90bb151b6cfdf43285a7400b1feedcf5097f8afd7b449dbfe5bf06e",
        [
            "9eeaf1fce93bd947d4a7ea1d302f6d684b8cd6c7",
            "4bbe54ebca57293e6036b782e1ef0d22fcd10597635dd32802168167c2d250bb",
        ],
    ),
    (
        "single",
        "24ff39469e25dd158524c2a8afef69dd04e6fbef",
        "827e89029b6ee31c9d8c467bf4109c5918c3202336c8cb5e9342f2333d9b37ef",
        [
            "3076a2a4480be5fa86a0a346df597ccfd77a0a5a",
            "72686789c515d98829b13073882cc0782914d0aae8a85879c54ab61f2feb6c69",
        ],
    ),
];

/// Returns pseudorandom bytes that depend only on the seed.
fn noise(seed: &str, len_bytes: usize) -> Vec<u8> {
    let mut state = seed.bytes().fold(1_u64, |state, byte| {
        state.wrapping_mul(31).wrapping_add(byte.into())
    });
    let bytes = std::iter::repeat_with(|| {
        // A linear congruential generator, whose high bits are random enough.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    });
    bytes.take(len_bytes).collect()
}

/// Creates all trees and a single file in a temporary folder.
fn trees() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, files) in TREES {
        for (path, length) in *files {
            let place = folder.path().join(name).join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, noise(path, *length)).unwrap();
        }
    }
    fs::write(folder.path().join("single"), noise("single", 300_000)).unwrap();
    folder
}

fn names() -> impl Iterator<Item = &'static str> {
    TREES.iter().map(|(name, _)| *name).chain(["single"])
}

/// Returns the info-hashes that `hashlane show` prints; an absent one is empty.
fn info_hashes(torrent: &Path) -> [String; 2] {
    let output = hashlane()
        .args(["show", "--json"])
        .arg(torrent)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    ["info_hash_v1", "info_hash_v2"].map(|key| line[key].as_str().unwrap_or_default().to_owned())
}

/// Returns the info-hashes of a torrent that Hashlane creates from a tree.
fn ours(folder: &Path, name: &str, format: &str, piece_length: u32) -> [String; 2] {
    let torrent = folder.join("ours.torrent");
    let output = hashlane()
        .current_dir(folder)
        .args(["create", name, "--force", "-q", "--format", format, "-l"])
        .arg(piece_length.to_string())
        .args(["-o", "ours.torrent"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    info_hashes(&torrent)
}

#[test]
fn stored_info_hashes() {
    let folder = trees();
    for name in names() {
        let expected = EXPECTED.iter().find(|(tree, ..)| *tree == name);
        let (_, v1, v2, hybrid) = expected.unwrap_or_else(|| panic!("{name} is not stored"));
        let made = ["v1", "v2", "hybrid"].map(|format| ours(folder.path(), name, format, 32 << 10));
        let expected = [[*v1, ""], ["", *v2], *hybrid];
        assert_eq!(
            made,
            expected.map(|hashes| hashes.map(String::from)),
            "{name}"
        );
    }
}

#[test]
fn libtorrent_makes_the_same() {
    const SCRIPT: &str = r#"
import sys, os
import libtorrent as lt
path, out, piece_length, format = sys.argv[1:]
files = sorted(lt.list_files(path), key=lambda f: f.filename.encode().split(b"/"))
flags = {"v1": lt.create_torrent.v1_only, "v2": lt.create_torrent.v2_only}.get(format)
args = (files, int(piece_length)) + ((flags,) if flags else ())
torrent = lt.create_torrent(*args)
lt.set_piece_hashes(torrent, os.path.dirname(os.path.abspath(path)))
open(out, "wb").write(lt.bencode(torrent.generate()))
"#;
    if !has_python_module("LIBTORRENT", "libtorrent", "libtorrent") {
        return;
    }
    let folder = trees();
    let theirs = folder.path().join("theirs.torrent");
    for name in names() {
        for format in ["v1", "v2", "hybrid"] {
            for piece_length in [16 << 10, 64 << 10] {
                let output = Command::new("python3")
                    .args(["-W", "ignore", "-c", SCRIPT])
                    .arg(folder.path().join(name))
                    .arg(&theirs)
                    .args([&piece_length.to_string(), format])
                    .output()
                    .unwrap();
                assert!(output.status.success(), "{output:?}");
                let ours = ours(folder.path(), name, format, piece_length);
                assert_eq!(ours, info_hashes(&theirs), "{name} {format} {piece_length}");
            }
        }
    }
}

/// libtorrent sets the attribute of hidden files on Windows only, so the script sets all attributes.
#[cfg(unix)]
#[test]
fn libtorrent_makes_the_same_attributes() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    const SCRIPT: &str = r#"
import sys
import libtorrent as lt
out, = sys.argv[1:]
storage = lt.file_storage
hidden, executable, link = map(int, (storage.flag_hidden, storage.flag_executable, storage.flag_symlink))
files = storage()
files.add_file("t/.both", 1, hidden | executable, 0, "")
files.add_file("t/.hidden", 1, hidden, 0, "")
files.add_file("t/.link", 0, link, 0, ".both")
files.add_file("t/executable", 1, executable, 0, "")
flags = int(lt.create_torrent.v1_only) | int(lt.create_torrent.symlinks)
torrent = lt.create_torrent(files, 16384, flags)
lt.set_piece_hashes(torrent, ".")
open(out, "wb").write(lt.bencode(torrent.generate()))
"#;
    let folder = tempfile::tempdir().unwrap();
    let content = folder.path().join("t");
    fs::create_dir(&content).unwrap();
    for (name, mode) in [(".both", 0o755), (".hidden", 0o644), ("executable", 0o755)] {
        fs::write(content.join(name), "a").unwrap();
        fs::set_permissions(content.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    symlink(".both", content.join(".link")).unwrap();
    let output = hashlane()
        .current_dir(folder.path())
        .args(["create", "t", "-q", "--format", "v1", "-l", "16KiB"])
        .args(["--attributes", "-o", "ours.torrent"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let ours = info_hashes(&folder.path().join("ours.torrent"));
    assert_eq!(
        ours[0], "5fbcc835fd92e66bb1f84258ada6433e8e2a7cdb",
        "libtorrent 2.1.1"
    );
    if !has_python_module("LIBTORRENT", "libtorrent", "libtorrent") {
        return;
    }
    let output = Command::new("python3")
        .current_dir(folder.path())
        .args(["-W", "ignore", "-c", SCRIPT, "theirs.torrent"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(ours, info_hashes(&folder.path().join("theirs.torrent")));
}

/// mktorrent sorts by whole paths, which matters if a file's name is a prefix of a folder's name.
#[test]
fn mktorrent_makes_the_same_with_whole_paths() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["t/a/z", "t/a.txt", "t/a-b", "t/b"] {
        let place = folder.path().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, noise(path, 40_000)).unwrap();
    }
    let output = hashlane()
        .current_dir(folder.path())
        .args(["create", "t", "-q", "-l", "15", "--sort", "whole-path"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let ours = info_hashes(&folder.path().join("t.torrent"));
    assert_eq!(
        ours[0], "35eb8f9b4e6420484ff6eb58767e2a84c9755d8b",
        "mktorrent 1.1"
    );
    if !is_installed("MKTORRENT", "mktorrent", "mktorrent") {
        return;
    }
    let output = Command::new("mktorrent")
        .current_dir(folder.path())
        .args(["-l", "15", "-o", "theirs", "t"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(ours, info_hashes(&folder.path().join("theirs")));
}

#[test]
fn mktorrent_makes_the_same() {
    if !is_installed("MKTORRENT", "mktorrent", "mktorrent") {
        return;
    }
    let folder = trees();
    for name in names() {
        let theirs = folder.path().join(format!("{name}.theirs"));
        let output = Command::new("mktorrent")
            .current_dir(folder.path())
            .args(["-l", "15", "-o"])
            .args([&theirs, Path::new(name)])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let ours = ours(folder.path(), name, "v1", 32 << 10);
        assert_eq!(ours, info_hashes(&theirs), "{name}");
    }
}
