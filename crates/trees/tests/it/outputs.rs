//! The files that tree hashes write besides their result, compared with those of other programs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use hashlane_trees::{
    CancelToken, Options, OutputError, Overwrite, ParameterError, TreeError, TreeName, TreeOutputs,
    TreeParameters, hash_path,
};

use crate::not_run::is_installed;
use crate::random::Random;

fn write(
    name: &str,
    parameters: &TreeParameters,
    outputs: &TreeOutputs,
    path: &Path,
) -> Result<String, TreeError> {
    let (name, options) = (TreeName::of(name).unwrap(), Options::default());
    let cancel = CancelToken::default();
    hash_path(name, parameters, outputs, path, &options, &cancel, |_| ())
}

/// A folder with the file `data`.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(len: usize) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.place("data"), Random::new(7).bytes(len)).unwrap();
        folder
    }

    fn place(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.place(name)).unwrap()
    }

    fn n_files(&self) -> usize {
        self.0.path().read_dir().unwrap().count()
    }

    /// Outputs of fs-verity.
    fn of_fsverity(&self) -> TreeOutputs {
        TreeOutputs {
            merkle_tree: Some(self.place("tree")),
            descriptor: Some(self.place("descriptor")),
            ..TreeOutputs::default()
        }
    }

    fn of_dmverity(&self) -> TreeOutputs {
        TreeOutputs {
            hash_device: Some(self.place("device")),
            ..TreeOutputs::default()
        }
    }
}

#[test]
fn files_of_fsverity_have_the_bytes_of_fsverity() {
    if !is_installed("FSVERITY", "fsverity", "fsverity") {
        return;
    }
    for len in [0, 4096, 600_001] {
        let folder = Folder::new(len);
        let theirs = Command::new("fsverity")
            .args(["digest", "--compact", "--salt=00ff", "--block-size=1024"])
            .arg(format!(
                "--out-merkle-tree={}",
                folder.place("their tree").display()
            ))
            .arg(format!(
                "--out-descriptor={}",
                folder.place("theirs").display()
            ))
            .arg(folder.place("data"))
            .output()
            .unwrap();
        assert!(theirs.status.success(), "{theirs:?}");
        let parameters = TreeParameters {
            salt: Some(vec![0, 0xff]),
            block_len: Some(1024),
            ..TreeParameters::default()
        };
        let data = folder.place("data");
        let digest = write("fsverity", &parameters, &folder.of_fsverity(), &data).unwrap();
        let expected = String::from_utf8(theirs.stdout).unwrap();
        assert_eq!(digest, format!("sha256:{}", expected.trim_end()), "{len}");
        assert!(folder.read("tree") == folder.read("their tree"), "{len}");
        assert_eq!(folder.read("descriptor"), folder.read("theirs"), "{len}");
    }
}

#[test]
fn hash_devices_have_the_bytes_of_veritysetup() {
    if !is_installed("VERITYSETUP", "veritysetup", "cryptsetup-bin") {
        return;
    }
    for n_blocks in [1, 2, 300] {
        let folder = Folder::new(n_blocks * 512);
        let theirs = Command::new("veritysetup")
            .args(["format", "--salt=00ff", "--hash=sha512", "--format=0"])
            .args(["--data-block-size=512", "--hash-block-size=512"])
            .arg("--uuid=01234567-89ab-cdef-0123-456789abcdef")
            .args([folder.place("data"), folder.place("theirs")])
            .output()
            .unwrap();
        assert!(theirs.status.success(), "{theirs:?}");
        let parameters = TreeParameters {
            salt: Some(vec![0, 0xff]),
            block_len: Some(512),
            function: Some(hashlane_trees::Algorithm::Sha512),
            verity_format: hashlane_trees::VerityFormat::of(0),
            uuid: Some(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef_u128.to_be_bytes()),
            ..TreeParameters::default()
        };
        let data = folder.place("data");
        let root = write("dmverity", &parameters, &folder.of_dmverity(), &data).unwrap();
        let text = String::from_utf8(theirs.stdout).unwrap();
        assert!(text.contains(&root), "{n_blocks}: {root} in {text}");
        assert!(folder.read("device") == folder.read("theirs"), "{n_blocks}");
    }
}

#[test]
fn nothing_is_written_without_a_result() {
    let folder = Folder::new(4095);
    let (usual, data) = (TreeParameters::default(), folder.place("data"));
    let short = write("dmverity", &usual, &folder.of_dmverity(), &data);
    assert!(matches!(short, Err(TreeError::File { .. })), "{short:?}");
    for (name, outputs) in [
        ("dmverity", folder.of_fsverity()),
        ("apk-idsig", folder.of_fsverity()),
        ("fsverity", folder.of_dmverity()),
        ("git", folder.of_dmverity()),
    ] {
        let refused = write(name, &usual, &outputs, &data);
        let is_refused = matches!(
            refused,
            Err(TreeError::Parameters(ParameterError::Superfluous(..)))
        );
        assert!(is_refused, "{name}: {refused:?}");
    }
    let uuid = TreeParameters {
        uuid: Some([0; 16]),
        ..TreeParameters::default()
    };
    let refused = write("dmverity", &uuid, &TreeOutputs::default(), &data).unwrap_err();
    let expected = "dmverity has no UUID without a hash device: leave it out";
    assert_eq!(refused.to_string(), expected);
    let cancel = CancelToken::default();
    cancel.cancel();
    let name = TreeName::of("fsverity").unwrap();
    let (outputs, options) = (folder.of_fsverity(), Options::default());
    let ended = hash_path(name, &usual, &outputs, &data, &options, &cancel, |_| ());
    assert!(matches!(ended, Err(TreeError::Cancelled)), "{ended:?}");
    assert_eq!(folder.n_files(), 1);
}

fn refused(result: Result<String, TreeError>) -> (PathBuf, io::ErrorKind) {
    match result {
        Err(TreeError::Write(OutputError { path, error, .. })) => (path, error.kind()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_are_replaced_only_if_they_may_be() {
    let folder = Folder::new(5000);
    let (usual, data) = (TreeParameters::default(), folder.place("data"));
    fs::write(folder.place("descriptor"), "old").unwrap();
    let outputs = folder.of_fsverity();
    let (path, kind) = refused(write("fsverity", &usual, &outputs, &data));
    assert_eq!(kind, io::ErrorKind::AlreadyExists);
    assert_eq!(path, folder.place("descriptor"));
    assert_eq!(
        (folder.read("descriptor"), folder.n_files()),
        (b"old".to_vec(), 2)
    );
    let outputs = TreeOutputs {
        overwrite: Overwrite::Yes,
        ..outputs
    };
    write("fsverity", &usual, &outputs, &data).unwrap();
    assert_eq!(
        (folder.read("descriptor").len(), folder.n_files()),
        (256, 3)
    );
    assert_eq!(folder.read("tree").len(), 4096);
}

#[test]
fn the_content_and_other_outputs_are_no_output() {
    let folder = Folder::new(5000);
    let (usual, data) = (TreeParameters::default(), folder.place("data"));
    let before = folder.read("data");
    let content = TreeOutputs {
        merkle_tree: Some(folder.place("data")),
        overwrite: Overwrite::Yes,
        ..TreeOutputs::default()
    };
    let same = TreeOutputs {
        merkle_tree: Some(folder.place("same")),
        descriptor: Some(folder.0.path().join(".").join("same")),
        ..TreeOutputs::default()
    };
    for outputs in [content, same] {
        let (_, kind) = refused(write("fsverity", &usual, &outputs, &data));
        assert_eq!(kind, io::ErrorKind::InvalidInput);
    }
    assert!(folder.read("data") == before);
    assert_eq!(folder.n_files(), 1);
    let nowhere = TreeOutputs {
        descriptor: Some(folder.place("absent/descriptor")),
        ..TreeOutputs::default()
    };
    let (path, kind) = refused(write("fsverity", &usual, &nowhere, &data));
    assert_eq!(
        (path, kind),
        (folder.place("absent/descriptor"), io::ErrorKind::NotFound)
    );
}
