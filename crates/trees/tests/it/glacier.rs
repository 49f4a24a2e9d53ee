//! Tree hashes of Glacier, compared with those of botocore.

use std::path::PathBuf;
use std::process::Command;

use hashlane_trees::{Format as _, Glacier};

use crate::judge::{assert_hashes, write_files};
use crate::not_run::has_python_module;
use crate::random::Random;

const MIB: usize = 1 << 20;

const SCRIPT: &str = "
import sys
from botocore.utils import calculate_tree_hash
for path in sys.argv[1:]:
    print(calculate_tree_hash(open(path, 'rb')))
";

/// Returns what botocore computes.
fn botocore(paths: &[PathBuf]) -> Vec<String> {
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
fn files_of_all_lengths_have_the_tree_hashes_of_botocore() {
    if !has_python_module("BOTOCORE", "botocore", "botocore") {
        return;
    }
    let mut numbers = Random::new(13);
    let folder = tempfile::tempdir().unwrap();
    let mut lens = vec![0, 1, 64];
    for n_leaves in [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17] {
        lens.extend([n_leaves * MIB - 1, n_leaves * MIB, n_leaves * MIB + 1]);
    }
    lens.extend((0..70).map(|_| numbers.below(3 * MIB)));
    let paths = write_files(folder.path(), &lens, &mut numbers);
    let expected = botocore(&paths);
    assert_hashes(&Glacier, &paths, &lens, &expected);
    assert_eq!(Glacier.normalized(&expected[0][1..]), None);
}
