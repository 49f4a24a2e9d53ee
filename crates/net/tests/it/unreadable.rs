//! Files that cannot be read, and files that must not be read.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::peers::preloaded;
use super::peers::{Content, Ended, Peer, ended, get_command, seed_command};
use crate::VERSIONS;

/// The variable with the offset from which reads of the watched file fail.
const FAILS: &str = "HASHLANE_TEST_FAILS";

/// A library that watches the reads of one file of a process.
struct Watch {
    folder: tempfile::TempDir,
}

impl Watch {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        preloaded("pread", folder.path());
        Self { folder }
    }

    fn reads(&self) -> PathBuf {
        self.folder.path().join("reads")
    }

    /// Watches the file whose path ends with `file`.
    fn watch<'c>(&self, command: &'c mut Command, file: &str) -> &'c mut Command {
        command
            .env("LD_PRELOAD", self.folder.path().join("pread.so"))
            .env("HASHLANE_TEST_FILE", file)
            .env("HASHLANE_TEST_READS", self.reads())
    }
}

/// Asserts that a warning names the file and the reason.
#[track_caller]
fn assert_named(ended: &Ended, file: &Path) {
    let message = format!("{}: at byte 0: Input/output error", file.display());
    assert!(ended.stderr.contains(&message), "{message}: {ended:?}");
    let mut warnings = ended.lines.iter().filter(|line| line["type"] == "warning");
    let is_named = warnings.any(|line| line["message"].as_str().unwrap().starts_with(&message));
    assert!(is_named, "{message}: {ended:?}");
}

#[test]
fn unreadable_files_are_named() {
    let content = Content::new();
    let watch = Watch::new();
    let b = "tree/sub/b.bin";
    for version in VERSIONS {
        let torrent = content.torrent("tree", version);
        let options = ["--io", "pread", "--seed-time", "1s"];
        let mut command = seed_command(&[&torrent], content.path(), &options);
        let seeded = ended(watch.watch(&mut command, b).env(FAILS, "0"));
        assert_eq!(seeded.code, Some(1), "{version}: {seeded:?}");
        assert_named(&seeded, &content.path().join(b));

        let options = ["--io", "pread", "--timeout", "1s"];
        let mut command = get_command(&[&torrent], content.path(), None, &options);
        let got = ended(watch.watch(&mut command, b).env(FAILS, "0"));
        // The file can belong to the user, so it is not replaced.
        let message = format!(
            "{}: at byte 0: Input/output error",
            content.path().join(b).display()
        );
        got.assert_failed(&message);
    }
}

/// A disk that does not answer is named, and its files are checked when it answers.
#[test]
fn a_disk_that_does_not_answer_is_named() {
    let content = Content::new();
    let watch = Watch::new();
    let library = tempfile::tempdir().unwrap();
    for name in ["file.bin", "tree"] {
        let torrent = content.torrent(name, "hybrid");
        fs::copy(&torrent, library.path().join(torrent.file_name().unwrap())).unwrap();
        fs::remove_file(&torrent).unwrap();
    }
    let held = watch.folder.path().join("held");
    fs::write(&held, "").unwrap();
    let start = |args: &[&str], paths: &[&Path]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
        command.args(args).args(paths);
        let command = watch.watch(&mut command, "file.bin");
        command.env("HASHLANE_TEST_HELD", &held);
        let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let options = ["--io", "pread", "--threads", "2"];
    let verify = [&["verify"], &options[..], &["-d"]].concat();
    let archive = [&["archive", "update"], &options[..], &["--catalogue"]].concat();
    let catalogue = watch.folder.path().join("catalogue");
    let processes = [
        start(&verify, &[content.path(), library.path()]),
        start(&archive, &[&catalogue, content.path()]),
    ];
    let path = content.path().join("file.bin");
    let expected = format!(
        "hashlane: warning: {}: no answer from the disk for 30 seconds, still waiting",
        path.display()
    );
    let mut waiting = Vec::new();
    for mut process in processes {
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        // If there is no warning, the library lets the process end.
        assert_eq!(lines.next().unwrap().unwrap(), expected);
        waiting.push((process, lines));
    }
    fs::remove_file(&held).unwrap();
    for (mut process, lines) in waiting {
        // Each worker that waits for the file says so.
        assert!(lines.map(Result::unwrap).all(|line| line == expected));
        assert_eq!(process.wait().unwrap().code(), Some(0));
    }
}

/// A file whose readable pieces are wrong may have right pieces elsewhere.
#[test]
fn an_unreadable_file_is_not_unrelated() {
    let content = Content::new();
    let watch = Watch::new();
    let torrent = content.torrent("file.bin", "v1");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.bin");
    fs::write(&path, vec![7; content.len_of("file.bin") as usize]).unwrap();
    let mut command = get_command(&[&torrent], folder.path(), None, &["--io", "pread"]);
    let got = ended(watch.watch(&mut command, "file.bin").env(FAILS, "1000000"));
    got.assert_failed("Input/output error");
    let start = format!("{}: at byte ", path.display());
    assert!(got.stderr.contains(&start), "{got:?}");
    assert!(!got.stderr.contains("does not belong"), "{got:?}");
}

/// The last verification blames no other program for a file that cannot be read.
#[test]
fn an_unreadable_file_is_not_modified() {
    let content = Content::new();
    let watch = Watch::new();
    let torrent = content.torrent("file.bin", "hybrid");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let mut command = get_command(
        &[&torrent],
        folder.path(),
        Some(&seed),
        &["--io", "pread", "--threads", "1"],
    );
    // The only worker of the last verification runs on this thread, so that libtorrent reads without errors.
    watch
        .watch(&mut command, "file.bin")
        .env("HASHLANE_TEST_THREAD", "check");
    let got = ended(command.env(FAILS, "0"));
    assert_eq!(got.code, Some(1), "{got:?}");
    let path = folder.path().join("file.bin");
    assert_named(&got, &path);
    let error = got.lines.iter().find(|line| line["type"] == "error");
    let message = error.unwrap()["message"].as_str().unwrap();
    let start = format!("{}: at byte 0: Input/output error", path.display());
    assert!(message.starts_with(&start), "{got:?}");
}

/// A download is complete when the disk has every file and the folders with their names.
#[test]
fn a_finished_download_is_on_the_disk() {
    const SYNCS: &str = "HASHLANE_TEST_SYNCS";
    let content = Content::new();
    let watch = Watch::new();
    let torrent = content.torrent("tree", "hybrid");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let log = watch.folder.path().join("syncs");
    for (file, is_present) in [
        ("tree/sub/b.bin", false),
        ("tree/sub", true),
        ("tree", true),
    ] {
        let mut command = get_command(&[&torrent], folder.path(), Some(&seed), &[]);
        let got = ended(watch.watch(&mut command, file).env(SYNCS, &log));
        assert_eq!(got.code, Some(0), "{file}: {got:?}");
        assert_eq!(fs::read(&log).unwrap(), b"sync\n", "{file}");
        fs::remove_file(&log).unwrap();

        if !is_present {
            fs::remove_dir_all(folder.path().join("tree")).unwrap();
        }
        let mut command = get_command(&[&torrent], folder.path(), Some(&seed), &[]);
        let got = ended(watch.watch(&mut command, file).env(SYNCS, "fails"));
        let path = folder.path().join(file);
        got.assert_failed(&format!("{}: Input/output error", path.display()));
    }
}

/// A link out of the folder is refused before its file is read.
#[test]
fn links_out_of_the_folder_are_not_read() {
    let content = Content::new();
    let watch = Watch::new();
    let torrent = content.torrent("tree", "hybrid");
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    fs::create_dir(&secret).unwrap();
    let (folder, file) = (content.path().join("tree/sub"), "tree/sub/b.bin");
    fs::rename(content.path().join(file), secret.join("b.bin")).unwrap();
    let is_read = |mut command: Command| {
        let _ = fs::remove_file(watch.reads());
        let ended = ended(watch.watch(&mut command, "secret/b.bin"));
        (watch.reads().exists(), ended)
    };
    let verify = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
        command.args(["verify", "--json", "--io", "pread", "-d"]);
        command.args([content.path(), &torrent]);
        command
    };
    for is_folder in [false, true] {
        if is_folder {
            fs::remove_file(content.path().join(file)).unwrap();
            fs::remove_dir(&folder).unwrap();
            symlink(&secret, &folder).unwrap();
        } else {
            symlink(secret.join("b.bin"), content.path().join(file)).unwrap();
        }
        // `verify` follows links, which shows that the watch works.
        assert!(is_read(verify()).0);
        let message = format!(
            "{}: a symbolic link leads out of the folder",
            content.path().join(file).display()
        );
        for options in [&[][..], &["--include", "a.bin"], &["--force"]] {
            let options = [&["--io", "pread"], options].concat();
            let command = get_command(&[&torrent], content.path(), None, &options);
            let (is_read, got) = is_read(command);
            assert!(!is_read, "{options:?}: {got:?}");
            got.assert_failed(&message);
        }
        let command = seed_command(&[&torrent], content.path(), &["--io", "pread"]);
        let (is_read, seeded) = is_read(command);
        assert!(!is_read, "{seeded:?}");
        seeded.assert_failed(&message);
    }
}
