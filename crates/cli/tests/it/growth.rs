//! How the work of commands grows with their input: with twice the files, about twice the instructions.
//!
//! valgrind counts instructions, because a clock would also measure the machine. The work of the step from 2n to 4n is compared with
//! that of the step from n to 2n, so that what a command does once does not count: the quotient is 2 for linear growth and 4 for
//! quadratic growth.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use data_encoding::HEXUPPER;
use sha1::{Digest as _, Sha1};
use tempfile::TempDir;

use crate::fixture::Fixture;

/// Number of files of the smallest input.
const N: usize = 250;

/// The largest quotient of the two steps: n log n has about 2.2.
const MAX_QUOTIENT: f64 = 2.8;

/// An input for a command, and its arguments.
struct Input {
    folder: TempDir,
    args: Vec<String>,
}

impl Input {
    fn new(folder: TempDir, args: &[&str]) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self { folder, args }
    }

    /// Returns the number of instructions that the command executes.
    fn instructions(&self) -> f64 {
        let log = self.folder.path().with_extension("log");
        let mut command = Command::new("valgrind");
        command
            .args([
                "--tool=cachegrind",
                "--cache-sim=no",
                "--cachegrind-out-file=/dev/null",
            ])
            // Otherwise a thread that waits can keep those from running for which it waits.
            .arg("--fair-sched=yes")
            .arg(format!("--log-file={}", log.display()))
            .arg(env!("CARGO_BIN_EXE_hashlane"))
            .args(&self.args)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .env("HASHLANE_CONFIG", "/dev/null");
        let output = command.output().unwrap();
        let report = fs::read_to_string(&log).unwrap();
        fs::remove_file(log).unwrap();
        let code = output.status.code();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            matches!(code, Some(0 | 1)),
            "{:?}: {code:?} {stderr}",
            self.args
        );
        let refs = report.lines().find(|line| line.contains("refs:"));
        let refs = refs.unwrap().rsplit(' ').next().unwrap();
        refs.replace(',', "").parse().unwrap()
    }
}

/// Runs a command for n, 2n and 4n files.
#[track_caller]
fn grows_linearly(input: impl Fn(usize) -> Input) {
    let [small, medium, large] = [N, 2 * N, 4 * N].map(|n| input(n).instructions());
    // What hardly grows has steps of noise.
    let quotient = (large - medium) / (medium - small).max(small / 2.0);
    let args = input(1).args;
    eprintln!("{args:?}: {small} {medium} {large} instructions, quotient {quotient:.2}");
    assert!(
        quotient < MAX_QUOTIENT,
        "{args:?}: {small} {medium} {large} instructions"
    );
}

/// A torrent `t.torrent` of n files of one length, which share pieces, and its content.
fn of_one_length(n: usize, len: usize) -> TempDir {
    let name = |index: usize| format!("{:03}/{index:06}", index / 1000);
    let bytes = |index: usize| Sha1::digest(index.to_le_bytes())[..len].to_vec();
    let files: Vec<(String, Vec<u8>)> = (0..n).map(|index| (name(index), bytes(index))).collect();
    let files: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, bytes)| (&**name, &**bytes))
        .collect();
    Fixture::new("t", 1 << 18, &files).folder
}

/// Writes n files of one byte with other names.
fn candidates(folder: &Path, n: usize) {
    fs::create_dir(folder).unwrap();
    for index in 0..n {
        fs::write(folder.join(format!("c{index}")), [index as u8]).unwrap();
    }
}

#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn find_short_files_that_share_a_piece() {
    grows_linearly(|n| {
        let folder = of_one_length(n, 1);
        candidates(&folder.path().join("disk"), n / 4);
        Input::new(folder, &["find", "t.torrent", "--in", "disk"])
    });
}

#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn find_files_that_are_all_there() {
    grows_linearly(|n| Input::new(of_one_length(n, 16), &["find", "t.torrent", "--in", "t"]));
}

/// Each has the name and the length of all others.
#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn find_files_of_one_name() {
    grows_linearly(|n| {
        let name = |index: usize| format!("{index:06}/same");
        let files: Vec<(String, Vec<u8>)> = (0..n)
            .map(|index| (name(index), vec![index as u8; 3]))
            .collect();
        let files: Vec<(&str, &[u8])> = files
            .iter()
            .map(|(name, bytes)| (&**name, &**bytes))
            .collect();
        let folder = Fixture::new("t", 1 << 18, &files).folder;
        Input::new(folder, &["find", "t.torrent", "--in", "t"])
    });
}

#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn verify_short_files_of_which_one_is_renamed() {
    grows_linearly(|n| {
        let folder = of_one_length(n, 2);
        let content = folder.path().join("t/000");
        if n > 7 {
            fs::rename(content.join("000007"), content.join("7")).unwrap();
        }
        Input::new(folder, &["verify", "t.torrent"])
    });
}

#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn verify_intact_files() {
    grows_linearly(|n| Input::new(of_one_length(n, 16), &["verify", "t.torrent"]));
}

#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn show() {
    grows_linearly(|n| Input::new(of_one_length(n, 16), &["show", "t.torrent"]));
}

#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn create() {
    grows_linearly(|n| Input::new(of_one_length(n, 16), &["create", "t", "-o", "new.torrent"]));
}

#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn edit() {
    let args = ["edit", "t.torrent", "--comment", "x"];
    grows_linearly(|n| Input::new(of_one_length(n, 16), &args));
}

#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn sum() {
    grows_linearly(|n| Input::new(of_one_length(n, 16), &["sum", "-r", "t", "-o", "list"]));
}

#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn duplicates() {
    grows_linearly(|n| Input::new(of_one_length(n, 1), &["find", "--duplicates", "t"]));
}

#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn archive() {
    let args = ["archive", "update", "t", "--catalogue", "catalogue"];
    grows_linearly(|n| Input::new(of_one_length(n, 16), &args));
}

#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn bag() {
    grows_linearly(|n| Input::new(of_one_length(n, 16), &["bag", "create", "t"]));
}

/// A session of rTorrent with n torrents.
#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn import() {
    grows_linearly(|n| {
        let folder = tempfile::tempdir().unwrap();
        for index in 0..n {
            let info = format!(
                "d6:lengthi1e4:name6:{index:06}12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaae"
            );
            let hash = HEXUPPER.encode(&Sha1::digest(&info));
            let path = folder.path().join(format!("{hash}.torrent"));
            fs::write(&path, format!("d4:info{info}e")).unwrap();
            let state = "d8:completei0e9:directory4:/srv5:statei1ee";
            fs::write(path.with_extension("torrent.rtorrent"), state).unwrap();
        }
        Input::new(folder, &["import", "rtorrent", ".", "--dry-run"])
    });
}

/// A pack of n blobs, as Git writes it.
#[test]
#[ignore = "takes minutes: cargo xtask test-growth"]
fn git_verify_pack() {
    grows_linearly(|n| {
        let folder = tempfile::tempdir().unwrap();
        let git = |args: &[&str], input: &[u8]| {
            let path = folder.path().join("input");
            fs::write(&path, input).unwrap();
            let mut command = Command::new("git");
            command.args(["-c", "fastimport.unpackLimit=0"]).args(args);
            command
                .current_dir(folder.path())
                .stdin(fs::File::open(path).unwrap());
            assert!(command.output().unwrap().status.success(), "git {args:?}");
        };
        git(&["init", "--bare", "--quiet", "."], b"");
        let blobs = (0..n).map(|index| format!("blob\ndata 6\n{index:06}\n"));
        git(
            &["fast-import", "--quiet"],
            blobs.collect::<String>().as_bytes(),
        );
        let pack = fs::read_dir(folder.path().join("objects/pack")).unwrap();
        for path in pack.map(|entry| entry.unwrap().path()) {
            fs::rename(
                &path,
                folder
                    .path()
                    .join("a")
                    .with_extension(path.extension().unwrap()),
            )
            .unwrap();
        }
        Input::new(folder, &["git", "verify-pack", "a.idx"])
    });
}
