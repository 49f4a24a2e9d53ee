//! Roots and trees of packages, compared with the signature files that `apksigner` writes.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use hashlane_trees::{ApkIdsig, Options};

use crate::judge::{hashes, is_found};

/// Writes packages with one file each, and signs them.
const SCRIPT: &str = "
import os, subprocess, sys, zipfile
folder, *lens = sys.argv[1:]
os.chdir(folder)
key = ['-storepass', 'password', '-keypass', 'password', '-alias', 'a']
subprocess.run(['keytool', '-genkeypair', '-keystore', 'key', *key, '-keyalg', 'EC', '-dname', 'CN=a'], check=True)
for i, length in enumerate(lens):
    with zipfile.ZipFile('unsigned', 'w', zipfile.ZIP_STORED) as package:
        package.writestr('data', os.urandom(int(length)))
    subprocess.run(['apksigner', 'sign', '--min-sdk-version', '30', '--v4-signing-enabled', 'true', '--ks', 'key',
                    '--ks-pass', 'pass:password', '--out', f'{i}.apk', 'unsigned'], check=True)
";

/// The root and the tree in a signature file.
fn read(path: &Path) -> (Vec<u8>, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    let mut rest = &bytes[..];
    let number = |rest: &mut &[u8]| {
        let (number, others) = rest.split_first_chunk().unwrap();
        *rest = others;
        u32::from_le_bytes(*number) as usize
    };
    assert_eq!(number(&mut rest), 2, "version");
    let field = |rest: &mut &[u8]| {
        let len = number(rest);
        let (field, others) = rest.split_at(len);
        *rest = others;
        field.to_vec()
    };
    let info = field(&mut rest);
    // SHA-256, blocks of 2^12 bytes, no salt, and a root of 32 bytes.
    assert_eq!(info[..13], [1, 0, 0, 0, 12, 0, 0, 0, 0, 32, 0, 0, 0]);
    field(&mut rest);
    (info[13..].to_vec(), field(&mut rest))
}

#[test]
fn roots_and_trees_are_those_of_apksigner() {
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !is_found(runs("apksigner"), "apksigner", "APKSIGNER") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let lens = [
        "1", "4000", "100000", "500000", "524000", "600000", "2000000",
    ];
    let signed = Command::new("python3")
        .args(["-c", SCRIPT])
        .arg(folder.path())
        .args(lens)
        .output()
        .unwrap();
    assert!(signed.status.success(), "{signed:?}");
    for i in 0..lens.len() {
        let place = |suffix: &str| folder.path().join(format!("{i}{suffix}"));
        let (root, tree) = read(&place(".apk.idsig"));
        let format = ApkIdsig::default().with_tree(File::create(place("tree")).unwrap());
        let found = hashes(&format, &[place(".apk")], &Options::default());
        assert_eq!(
            found,
            [data_encoding::HEXLOWER.encode(&root)],
            "package {i}"
        );
        assert!(fs::read(place("tree")).unwrap() == tree, "package {i}");
    }
}

/// The digest of the block with the digest of the only block, as apksig computes it.
#[test]
fn a_file_of_one_block_has_a_node() {
    use hashlane_sha::{Engine, Sha256};

    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "a").unwrap();
    let digest = |bytes: &[u8]| {
        let mut block = bytes.to_vec();
        block.resize(4096, 0);
        Engine::detect().digest::<Sha256>(&block)
    };
    let expected = digest(digest(b"a").as_ref()).to_string();
    let found = hashes(
        &ApkIdsig::default(),
        &[file.path().to_owned()],
        &Options::default(),
    );
    assert_eq!(found, [expected]);
}
