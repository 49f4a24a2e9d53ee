//! Roots and trees of packages, compared with the signature files that `apksigner` writes.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use hashlane_trees::{
    ApkIdsig, CancelToken, Error, Event, Idsig, Item, Options, TreeError, VerityCheck,
    VerityReport, check_package, hash_files,
};

use crate::judge::hashes;
use crate::not_run::is_installed;
use crate::random::Random;

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

/// Checks a package against the tree in its signature file.
fn check(idsig: Idsig, package: &Path) -> VerityReport {
    let len_bytes = package.metadata().unwrap().len();
    let format = VerityCheck::of_idsig(idsig, len_bytes).unwrap();
    let items = [Item::new(package, ())];
    let mut reports = Vec::new();
    let cancel = CancelToken::default();
    hash_files(&format, items, &Options::default(), &cancel, |event| {
        if let Event::Outcome((), outcome) = event {
            let Ok((report, _)) = outcome else {
                panic!("{outcome:?}");
            };
            reports.push(report);
        }
        Ok::<_, Error>(())
    })
    .unwrap();
    reports.pop().unwrap()
}

#[test]
fn roots_and_trees_are_those_of_apksigner() {
    if !is_installed("APKSIGNER", "apksigner", "apksigner")
        || !is_installed("APKSIGNER", "python3", "python3")
    {
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
        let idsig = Idsig::new(File::open(place(".apk.idsig")).unwrap()).unwrap();
        assert_eq!(idsig.root().as_bytes(), root);
        let report = check(idsig, &place(".apk"));
        assert_eq!(report.root.as_bytes(), root);
        assert_eq!((report.data.n_blocks(), report.device.n_blocks()), (0, 0));
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

/// A package with its signature file, whose signatures are no signatures.
struct Signed {
    folder: tempfile::TempDir,
    /// The bytes of the signature file before the tree, and the tree.
    start: Vec<u8>,
    tree: Vec<u8>,
}

impl Signed {
    fn new(len: usize, n_signing: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (package, tree) = (folder.path().join("package"), folder.path().join("tree"));
        fs::write(&package, Random::new(4).bytes(len)).unwrap();
        let format = ApkIdsig::default().with_tree(File::create(&tree).unwrap());
        let root = hashes(&format, &[package], &Options::default()).remove(0);
        let root = data_encoding::HEXLOWER.decode(root.as_bytes()).unwrap();
        let mut start = Vec::new();
        for number in [2_u32, 45, 1] {
            start.extend(number.to_le_bytes());
        }
        start.push(12);
        start.extend([0, 0, 0, 0, 32, 0, 0, 0]);
        start.extend(root);
        start.extend([0, n_signing, 0, 0]);
        start.extend(vec![5; usize::from(n_signing) << 8]);
        let tree = fs::read(tree).unwrap();
        Self {
            folder,
            start,
            tree,
        }
    }

    fn package(&self) -> std::path::PathBuf {
        self.folder.path().join("package")
    }

    fn read(&self, bytes: &[&[u8]]) -> std::io::Result<Idsig> {
        let path = self.folder.path().join("idsig");
        fs::write(&path, bytes.concat()).unwrap();
        Idsig::new(File::open(path).unwrap())
    }

    fn idsig(&self) -> Idsig {
        let len = u32::try_from(self.tree.len()).unwrap().to_le_bytes();
        self.read(&[&self.start, &len, &self.tree]).unwrap()
    }
}

#[test]
fn damage_of_packages_and_trees_has_a_place() {
    // Two levels: two nodes below one, which is block 0 of the tree. The signatures are longer than a block. The last block of the package is incomplete.
    let mut signed = Signed::new(200 * 4096 + 1, 17);
    assert_eq!(signed.tree.len(), 3 * 4096);
    let texts = |report: VerityReport| (report.data.to_string(), report.device.to_string());
    let report = check(signed.idsig(), &signed.package());
    assert_eq!(report.root, *signed.idsig().root());
    assert_eq!(texts(report), (String::new(), String::new()));

    let good = fs::read(signed.package()).unwrap();
    let mut bad = good.clone();
    for block in [0, 150, 151, 200] {
        bad[block * 4096] ^= 1;
    }
    fs::write(signed.package(), bad).unwrap();
    let report = check(signed.idsig(), &signed.package());
    assert_eq!(texts(report), ("0, 150-151, 200".into(), String::new()));
    fs::write(signed.package(), good).unwrap();

    // The digest of block 130 is in the second node of the lower level.
    signed.tree[2 * 4096 + 2 * 32] ^= 1;
    let report = check(signed.idsig(), &signed.package());
    assert_eq!(texts(report), ("130".into(), "2".into()));
}

#[test]
fn without_a_tree_the_root_hash_shows_damage() {
    for len in [1, 4096, 4097, 200 * 4096 + 1] {
        let signed = Signed::new(len, 1);
        let path = signed.folder.path().join("idsig");
        let verdict = || {
            let (options, cancel) = (Options::default(), CancelToken::default());
            check_package(&signed.package(), &path, &options, &cancel, |_| ())
        };
        let without = signed.read(&[&signed.start]).unwrap();
        assert!(!without.has_tree());
        let right = verdict().unwrap();
        assert!(right.is_right(), "{len}");
        assert_eq!(right.report.root, *without.root(), "{len}");
        assert!(signed.idsig().has_tree());
        assert_eq!(verdict().unwrap(), right, "{len}");

        let mut bytes = fs::read(signed.package()).unwrap();
        bytes[len - 1] ^= 1;
        fs::write(signed.package(), bytes).unwrap();
        let with_tree = verdict().unwrap();
        assert_eq!(with_tree.report.data.n_blocks(), 1, "{len}");
        signed.read(&[&signed.start]).unwrap();
        let without = verdict().unwrap();
        for damaged in [&with_tree, &without] {
            assert!(!damaged.is_right(), "{len}");
        }
        assert_eq!(without.report.data.n_blocks(), 0, "{len}");
        assert!(!without.has_root, "{len}");
        fs::write(&path, "").unwrap();
        assert!(matches!(verdict(), Err(TreeError::File { path: named, .. }) if named == path));
        fs::write(signed.package(), "").unwrap();
        signed.read(&[&signed.start]).unwrap();
        let empty = verdict().unwrap_err().to_string();
        assert!(empty.contains("is empty"), "{empty}");
    }
}

#[test]
fn other_files_are_no_signature_files() {
    let signed = Signed::new(5000, 1);
    let error = |bytes: &[&[u8]]| signed.read(bytes).unwrap_err().to_string();
    for len in 0..signed.start.len() {
        let short = error(&[&signed.start[..len]]);
        assert_eq!(
            short, "is too short: it is truncated or no signature file",
            "{len}"
        );
    }
    let changed = |at: usize, byte: u8| {
        let mut start = signed.start.clone();
        start[at] = byte;
        error(&[&start])
    };
    assert!(changed(0, 3).starts_with("has version 3 of signature files"));
    assert!(changed(4, 44).contains("has a salt or another length"));
    for (at, byte) in [(8, 2), (12, 16), (13, 1), (17, 31)] {
        assert!(
            changed(at, byte).contains("is not of SHA-256 with blocks"),
            "{at}"
        );
    }
    assert_eq!(
        error(&[&signed.start, &[0, 0, 0, 0, 9]]),
        "does not end with its tree"
    );

    let message = |idsig, len| VerityCheck::of_idsig(idsig, len).unwrap_err().to_string();
    let expected = "has a tree of 4096 bytes, but that of the package has 12288: it belongs to another package";
    assert_eq!(message(signed.idsig(), 129 * 4096), expected);
    assert!(message(signed.idsig(), 0).contains("has 0"));
}
