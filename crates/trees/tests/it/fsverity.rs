//! fs-verity, compared with `fsverity digest`.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use data_encoding::HEXLOWER;
use hashlane_trees::{Algorithm, Fsverity, FsverityError, IoMode, Options};

use crate::judge::{hashes, write_files};
use crate::not_run::is_installed;
use crate::random::Random;

/// SHA-256 of the descriptor of an empty file, by fsverity 1.5.
const EMPTY: &str = "sha256:3d248ca542a24fc62d1c43b916eae5016878e2533c88238480b26128a1f1af95";

/// Parameters of `fsverity digest`.
struct Parameters {
    function: Algorithm,
    block_len: u64,
    salt: Vec<u8>,
}

impl Parameters {
    fn format(&self) -> Fsverity {
        Fsverity::new(self.function, self.block_len, self.salt.clone()).unwrap()
    }

    fn digest(&self) -> Command {
        let mut command = Command::new("fsverity");
        command.arg("digest");
        command.arg(format!("--hash-alg={}", self.function.name()));
        command.arg(format!("--block-size={}", self.block_len));
        if !self.salt.is_empty() {
            let digits = HEXLOWER.encode(&self.salt);
            command.arg(format!("--salt={digits}"));
        }
        command
    }

    /// Returns the output of `fsverity digest` for these files.
    fn expected(&self, paths: &[PathBuf]) -> Vec<String> {
        let output = self.digest().args(paths).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let lines = String::from_utf8(output.stdout).unwrap();
        let digests = lines.lines().map(|line| line.split(' ').next().unwrap());
        digests.map(str::to_owned).collect()
    }
}

/// Every function with the smallest, the usual and the largest block, and salts of several lengths.
fn parameters() -> Vec<Parameters> {
    let mut all = Vec::new();
    for function in [Algorithm::Sha256, Algorithm::Sha512] {
        for (block_len, salt_len) in [(1024, 0), (4096, 0), (4096, 7), (16384, 32), (65536, 1)] {
            all.push(Parameters {
                function,
                block_len,
                salt: (1..=salt_len).collect(),
            });
        }
    }
    all
}

/// Returns lengths around the ends of blocks and of nodes, and random ones.
fn lengths(block_len: u64, function: Algorithm, numbers: &mut Random) -> Vec<usize> {
    let arity = block_len / function.digest_len() as u64;
    let mut lens = vec![0, 1];
    for n_blocks in [1, 2, arity, 2 * arity, arity * arity] {
        let len = n_blocks * block_len;
        if len < 3 << 20 {
            lens.extend([len - 1, len, len + 1]);
        }
    }
    lens.extend((0..12).map(|_| {
        let limit = 1 << (4 + numbers.below(18));
        numbers.below(limit) as u64
    }));
    lens.into_iter().map(|len| len as usize).collect()
}

#[test]
fn files_of_all_lengths_have_the_digests_of_fsverity() {
    if !is_installed("FSVERITY", "fsverity", "fsverity") {
        return;
    }
    let (mut numbers, mut n_cases) = (Random::new(1), 0);
    for parameters in parameters() {
        let folder = tempfile::tempdir().unwrap();
        let lens = lengths(parameters.block_len, parameters.function, &mut numbers);
        let paths = write_files(folder.path(), &lens, &mut numbers);
        let expected = parameters.expected(&paths);
        let mut modes = vec![IoMode::Pread];
        modes.extend(cfg!(target_os = "linux").then_some(IoMode::Mmap));
        for io in modes {
            let options = Options::default().io(io).allow_signal_handler();
            let found = hashes(&parameters.format(), &paths, &options);
            assert_eq!(found, expected, "{:?}, {io:?}", parameters.digest());
        }
        n_cases += lens.len();
    }
    assert!(n_cases >= 200, "{n_cases} cases");
}

#[test]
fn trees_and_descriptors_have_the_bytes_of_fsverity() {
    if !is_installed("FSVERITY", "fsverity", "fsverity") {
        return;
    }
    let mut numbers = Random::new(2);
    for parameters in parameters() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for len in [0, 1, 5000, 70_000, 600_000, 2_500_000] {
            fs::write(place("data"), numbers.bytes(len)).unwrap();
            let mut command = parameters.digest();
            command.arg(format!("--out-merkle-tree={}", place("tree").display()));
            command.arg(format!(
                "--out-descriptor={}",
                place("descriptor").display()
            ));
            assert!(
                command
                    .arg(place("data"))
                    .output()
                    .unwrap()
                    .status
                    .success()
            );
            let tree = File::create(place("our tree")).unwrap();
            let ours = File::create(place("our descriptor")).unwrap();
            let format = parameters.format().with_tree(tree).with_descriptor(ours);
            hashes(&format, &[place("data")], &Options::default());
            for (ours, theirs) in [("our tree", "tree"), ("our descriptor", "descriptor")] {
                let [ours, theirs] = [ours, theirs].map(|name| fs::read(place(name)).unwrap());
                assert!(ours == theirs, "{command:?}: {len} bytes");
            }
        }
    }
}

#[test]
fn an_empty_file_has_its_published_digest() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let found = hashes(
        &Fsverity::default(),
        &[file.path().to_owned()],
        &Options::default(),
    );
    assert_eq!(found, [EMPTY]);
}

#[test]
fn parameters_outside_the_limits_are_refused() {
    let new = |function, block_len, salt_len| Fsverity::new(function, block_len, vec![0; salt_len]);
    let sha256 = Algorithm::Sha256;
    for (block_len, salt_len, expected) in [
        (0, 0, FsverityError::BlockLen(0)),
        (512, 0, FsverityError::BlockLen(512)),
        (4095, 0, FsverityError::BlockLen(4095)),
        (131_072, 0, FsverityError::BlockLen(131_072)),
        (1 << 32, 0, FsverityError::BlockLen(1 << 32)),
        (4096, 33, FsverityError::SaltLen(33)),
    ] {
        let error = new(sha256, block_len, salt_len).unwrap_err();
        assert_eq!(error, expected);
        assert!(error.to_string().contains("use "), "{error}");
    }
    let error = new(Algorithm::Md5, 4096, 0).unwrap_err();
    assert_eq!(error, FsverityError::Function(Algorithm::Md5));
}

/// A tree has at most 8 levels.
#[cfg(target_os = "linux")]
#[test]
fn files_that_need_too_many_levels_are_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let max = 16_u64.pow(8) * 1024;
    file.as_file().set_len(max + 1).unwrap();
    let format = Fsverity::new(Algorithm::Sha512, 1024, []).unwrap();
    let found = hashes(&format, &[file.path().to_owned()], &Options::default());
    assert_eq!(found, [format!("longer than {max}")]);
}
