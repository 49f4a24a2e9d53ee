//! Roots of files, compared with the torrents that libtorrent makes.

use std::path::PathBuf;
use std::process::Command;

use hashlane_trees::{BtRoot, Options};

use crate::judge::{assert_hashes, hashes, write_files};
use crate::not_run::has_python_module;
use crate::random::Random;

const LEAF: usize = 16 << 10;

/// Prints the `pieces root` of each file in a torrent of its own.
const SCRIPT: &str = "
import os, sys
import libtorrent as lt
for path in sys.argv[1:]:
    files = lt.file_storage()
    lt.add_files(files, path)
    torrent = lt.create_torrent(files, flags=lt.create_torrent.v2_only)
    lt.set_piece_hashes(torrent, os.path.dirname(path))
    [entry] = torrent.generate()[b'info'][b'file tree'].values()
    print(entry[b''][b'pieces root'].hex())
";

/// Returns what libtorrent computes.
fn libtorrent(paths: &[PathBuf]) -> Vec<String> {
    let output = Command::new("python3")
        .args(["-c", SCRIPT])
        .args(paths)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(str::to_owned).collect()
}

#[test]
fn files_of_all_lengths_have_the_roots_of_libtorrent() {
    if !has_python_module("LIBTORRENT", "libtorrent", "libtorrent") {
        return;
    }
    let mut numbers = Random::new(14);
    let folder = tempfile::tempdir().unwrap();
    let mut lens = vec![1, 64];
    for n_leaves in [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 31, 33, 64, 100] {
        lens.extend([n_leaves * LEAF - 1, n_leaves * LEAF, n_leaves * LEAF + 1]);
    }
    lens.extend((0..60).map(|_| 1 + numbers.below(100 * LEAF)));
    let paths = write_files(folder.path(), &lens, &mut numbers);
    let expected = libtorrent(&paths);
    assert_hashes(&BtRoot, &paths, &lens, &expected);
}

#[test]
fn an_empty_file_has_no_root() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let found = hashes(&BtRoot, &[file.path().to_owned()], &Options::default());
    assert_eq!(found, ["shorter than 1"]);
}
