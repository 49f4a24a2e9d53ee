//! `seed --trust size+mtime`: a restart does not read files whose size and time are unchanged.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::browser::Browser;
use super::page::Page;
use super::peers::{Content, Peer, ended, get_from, seed_command, seed_text_command};
use crate::VERSIONS;
use crate::not_run::is_installed;

const A: &str = "tree/a.bin";
const B: &str = "tree/sub/b.bin";

/// Content whose files are old, and a folder for state.
struct Trusted {
    content: Content,
    state: tempfile::TempDir,
}

impl Trusted {
    fn new() -> Self {
        let trusted = Self {
            content: Content::new(),
            state: tempfile::tempdir().unwrap(),
        };
        trusted.set_time(A, 0);
        trusted.set_time(B, 0);
        trusted
    }

    /// Sets the time of modification of a file to a time in 2001, this many seconds later.
    fn set_time(&self, file: &str, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + seconds);
        let file = File::open(self.content.path().join(file)).unwrap();
        file.set_modified(time).unwrap();
    }

    /// Changes a byte, and with it the time of modification.
    fn damage(&self, file: &str) {
        let path = self.content.path().join(file);
        let mut bytes = fs::read(&path).unwrap();
        bytes[10] ^= 1;
        fs::write(path, bytes).unwrap();
    }

    fn command(&self, torrent: &Path, options: &[&str]) -> Command {
        let mut command = seed_command(&[torrent], self.content.path(), options);
        command.env("XDG_STATE_HOME", self.state.path());
        command
    }

    /// Serves the content, and returns the numbers of pieces, present ones and trusted ones, and the warnings.
    fn seed(&self, torrent: &Path, options: &[&str]) -> ([u64; 3], Vec<Value>) {
        let peer = Peer::start(self.command(torrent, options));
        let line = peer.wait_for_line("verified");
        let ended = peer.interrupt();
        let warnings = ended.lines.into_iter();
        let warnings = warnings.filter(|line| line["type"] == "warning").collect();
        let number = |field: &str| line[field].as_u64().unwrap();
        (["pieces", "have", "trusted"].map(number), warnings)
    }

    /// Returns the only record.
    fn record(&self) -> PathBuf {
        let records = fs::read_dir(self.state.path().join("hashlane/trust")).unwrap();
        let records: Vec<_> = records.map(|entry| entry.unwrap().path()).collect();
        assert_eq!(records.len(), 1, "{records:?}");
        records[0].clone()
    }
}

const TRUST: &[&str] = &["--trust", "size+mtime"];

#[test]
fn a_restart_reads_only_files_with_another_size_or_time() {
    for version in VERSIONS {
        let trusted = Trusted::new();
        let torrent = trusted.content.torrent("tree", version);
        let ([pieces, have, n_trusted], _) = trusted.seed(&torrent, TRUST);
        assert_eq!((have, n_trusted), (pieces, 0), "{version}");
        // The documented risk: a change with the old time is not noticed.
        trusted.damage(A);
        trusted.set_time(A, 0);
        let (numbers, _) = trusted.seed(&torrent, TRUST);
        assert_eq!(numbers, [pieces, pieces, pieces], "{version}");
        // Without --trust, all files are read.
        let (numbers, _) = trusted.seed(&torrent, &[]);
        assert_eq!(numbers, [pieces, pieces - 1, 0], "{version}");
        // Another time: the file is verified. In version 1, the files share a piece.
        trusted.set_time(A, 1);
        let (numbers, _) = trusted.seed(&torrent, TRUST);
        let of_b = u64::from(version != "v1");
        assert_eq!(numbers, [pieces, pieces - 1, of_b], "{version}");
        // A wrong piece is read at every start, because its file may have been restored.
        let (numbers, _) = trusted.seed(&torrent, TRUST);
        assert_eq!(numbers, [pieces, pieces - 1, pieces - 1], "{version}");
        trusted.damage(A);
        trusted.set_time(A, 1);
        let (numbers, _) = trusted.seed(&torrent, TRUST);
        assert_eq!(numbers, [pieces, pieces, pieces - 1], "{version}");
        // Another length with the same time.
        let file = File::options()
            .append(true)
            .open(trusted.content.path().join(B));
        file.unwrap().set_len(12_346).unwrap();
        trusted.set_time(B, 0);
        let (numbers, _) = trusted.seed(&torrent, TRUST);
        assert_eq!(numbers, [pieces, pieces, pieces - 1], "{version}");
    }
}

#[test]
fn a_file_of_no_certain_time_and_other_content_are_verified() {
    let trusted = Trusted::new();
    let torrent = trusted.content.torrent("tree", "v2");
    // A time in the future is not older than the verification.
    trusted.set_time(B, 1 << 35);
    let ([pieces, ..], _) = trusted.seed(&torrent, TRUST);
    let (numbers, _) = trusted.seed(&torrent, TRUST);
    assert_eq!(numbers, [pieces, pieces, pieces - 1]);
    // The same torrent at another place, with the same sizes and times.
    let elsewhere = tempfile::tempdir().unwrap();
    let mut copy = Command::new("cp");
    copy.arg("-a")
        .args([&trusted.content.path().join("tree"), elsewhere.path()]);
    assert!(copy.status().unwrap().success());
    let mut command = seed_command(&[&torrent], elsewhere.path(), TRUST);
    command.env("XDG_STATE_HOME", trusted.state.path());
    let peer = Peer::start(command);
    assert_eq!(peer.wait_for_line("verified")["trusted"], 0);
}

#[test]
fn a_damaged_record_is_reported_and_replaced() {
    let trusted = Trusted::new();
    let torrent = trusted.content.torrent("tree", "hybrid");
    let ([pieces, ..], warnings) = trusted.seed(&torrent, TRUST);
    assert_eq!(warnings, [] as [Value; 0]);
    let record = fs::read(trusted.record()).unwrap();
    for damaged in [&record[..record.len() / 2], b"", &vec![b'l'; 1 << 20]] {
        fs::write(trusted.record(), damaged).unwrap();
        let (numbers, warnings) = trusted.seed(&torrent, TRUST);
        assert_eq!(numbers, [pieces, pieces, 0]);
        let message = warnings[0]["message"].as_str().unwrap();
        assert!(
            message.contains(trusted.record().to_str().unwrap()),
            "{message}"
        );
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(fs::read(trusted.record()).unwrap() == record);
    }
    let (numbers, warnings) = trusted.seed(&torrent, TRUST);
    assert_eq!((numbers, warnings.len()), ([pieces; 3], 0));
}

/// Every flipped bit of the pieces is noticed: no wrong piece is served because of it.
#[test]
fn a_flipped_bit_in_the_record_is_not_believed() {
    let trusted = Trusted::new();
    let torrent = trusted.content.torrent("tree", "v2");
    trusted.damage(A);
    trusted.set_time(A, 0);
    let ([pieces, have, _], _) = trusted.seed(&torrent, TRUST);
    assert_eq!(have, pieces - 1);
    let record = fs::read(trusted.record()).unwrap();
    let key = b"4:have5:";
    let at = record.windows(key.len()).position(|bytes| bytes == key);
    let at = at.unwrap() + key.len();
    let mut flipped = record.clone();
    flipped[at] = 0xff;
    assert_ne!(flipped, record);
    fs::write(trusted.record(), &flipped).unwrap();
    let (numbers, warnings) = trusted.seed(&torrent, TRUST);
    assert_eq!(numbers, [pieces, pieces - 1, 0]);
    let message = warnings[0]["message"].as_str().unwrap();
    assert!(message.contains("its SHA-256 is wrong"), "{message}");
}

#[test]
fn a_record_that_others_can_write_is_not_believed() {
    let trusted = Trusted::new();
    let torrent = trusted.content.torrent("tree", "v2");
    let ([pieces, ..], _) = trusted.seed(&torrent, TRUST);
    let folder = trusted.record().parent().unwrap().to_owned();
    for path in [trusted.record(), folder] {
        let before = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        let (numbers, warnings) = trusted.seed(&torrent, TRUST);
        assert_eq!(numbers, [pieces, pieces, 0]);
        let message = warnings[0]["message"].as_str().unwrap();
        assert!(message.contains("other users can write to"), "{message}");
        fs::set_permissions(&path, before).unwrap();
        let (numbers, _) = trusted.seed(&torrent, TRUST);
        assert_eq!(numbers, [pieces; 3]);
    }
}

/// A program with a writable map can change a file without a new time, so the file is read at every start.
#[test]
fn a_file_that_is_open_for_writing_is_verified() {
    if !is_installed("PYTHON", "python3", "python3") {
        return;
    }
    let trusted = Trusted::new();
    let torrent = trusted.content.torrent("tree", "v2");
    let path = trusted.content.path().join(A);
    let map = r"
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDWR)
mapped = mmap.mmap(file, 0)
os.close(file)
mapped[10] ^= 1
mapped[10] ^= 1
os.utime(sys.argv[1], (1000000000, 1000000000))
print('dirty', flush=True)
for line in sys.stdin:
    mapped[10] ^= 1
    print('changed', flush=True)
";
    let python = Command::new("python3")
        .args(["-c", map])
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut writer = python.unwrap();
    let mut answers = BufReader::new(writer.stdout.take().unwrap()).lines();
    assert_eq!(answers.next().unwrap().unwrap(), "dirty");
    let ([pieces, have, _], _) = trusted.seed(&torrent, TRUST);
    assert_eq!(have, pieces);
    // The page is still dirty, so that this write changes no time.
    writer.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    assert_eq!(answers.next().unwrap().unwrap(), "changed");
    let (numbers, _) = trusted.seed(&torrent, TRUST);
    assert_eq!(numbers, [pieces, pieces - 1, 1]);
    writer.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    assert_eq!(answers.next().unwrap().unwrap(), "changed");
    drop(writer.stdin.take());
    assert!(writer.wait().unwrap().success());
    // If the page was written to the disk meanwhile, the last change has given the file a time that is too recent to be recorded.
    trusted.set_time(A, 0);
    // Once the file is closed, it is trusted after the next verification.
    let (numbers, _) = trusted.seed(&torrent, TRUST);
    assert_eq!(numbers, [pieces, pieces, 1]);
    let (numbers, _) = trusted.seed(&torrent, TRUST);
    assert_eq!(numbers, [pieces; 3]);
}

/// The record changes after a file changed while it was served.
#[test]
fn a_change_while_the_content_is_served_is_recorded() {
    let trusted = Trusted::new();
    let torrent = trusted.content.torrent("tree", "hybrid");
    let peer = Peer::start(trusted.command(&torrent, TRUST));
    let pieces = peer.wait_for_line("verified")["pieces"].as_u64().unwrap();
    trusted.damage(A);
    trusted.set_time(A, 7);
    let changed = peer.wait_for_line("changed");
    assert_eq!(changed["withdrawn"], 1);
    peer.interrupt();
    let (numbers, _) = trusted.seed(&torrent, TRUST);
    assert_eq!(numbers, [pieces, pieces - 1, pieces - 1]);
}

#[test]
fn content_is_served_although_its_record_cannot_be_written() {
    let trusted = Trusted::new();
    let torrent = trusted.content.torrent("tree", "v1");
    fs::write(trusted.state.path().join("hashlane"), b"").unwrap();
    let ([pieces, have, n_trusted], warnings) = trusted.seed(&torrent, TRUST);
    assert_eq!((have, n_trusted), (pieces, 0));
    let message = warnings[0]["message"].as_str().unwrap();
    assert!(message.contains("hashlane/trust"), "{message}");
}

#[test]
fn the_default_has_no_record_and_needs_no_folder() {
    let trusted = Trusted::new();
    let torrent = trusted.content.torrent("tree", "v1");
    trusted.seed(&torrent, &[]);
    assert_eq!(fs::read_dir(trusted.state.path()).unwrap().count(), 0);
    let mut command = trusted.command(&torrent, TRUST);
    command.env("XDG_STATE_HOME", "relative").env_remove("HOME");
    ended(&mut command)
        .assert_failed("--trust: no folder for the record: neither XDG_STATE_HOME nor HOME");
    let folder = trusted.state.path().join("other");
    let options = ["--state-dir", folder.to_str().unwrap()];
    let mut command = trusted.command(
        &torrent,
        &[TRUST, &options, &["--seed-time", "0.01"]].concat(),
    );
    command.env("XDG_STATE_HOME", "relative").env_remove("HOME");
    assert_eq!(ended(&mut command).code, Some(0));
    assert_eq!(fs::read_dir(folder.join("trust")).unwrap().count(), 1);
}

/// A download that is complete by its record is not read. Any other is verified as a whole, and completed.
#[test]
fn a_complete_download_is_trusted() {
    for version in VERSIONS {
        let trusted = Trusted::new();
        let torrent = trusted.content.torrent("tree", version);
        let state = ["--state-dir", trusted.state.path().to_str().unwrap()];
        let folder = trusted.content.path();
        let get = |from: Option<&Peer>, options: &[&str]| {
            let options = [&state, options].concat();
            let ended = get_from(&[&torrent], folder, from, &options);
            assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
            let line = ended.lines.iter().find(|line| line["type"] == "verified");
            let line = line.unwrap_or_else(|| panic!("{ended:?}"));
            ["pieces", "have", "trusted"].map(|field| line[field].as_u64().unwrap())
        };
        let [pieces, have, n_trusted] = get(None, TRUST);
        assert_eq!((have, n_trusted), (pieces, 0), "{version}");
        // The documented risk: a change with the old time is not noticed.
        trusted.damage(A);
        trusted.set_time(A, 0);
        assert_eq!(get(None, TRUST), [pieces, pieces, pieces], "{version}");
        // A changed file is noticed, and no piece is trusted then.
        trusted.set_time(A, 1);
        let original = Content::new();
        let seed = Peer::seed(&[&torrent], original.path());
        assert_eq!(
            get(Some(&seed), TRUST),
            [pieces, pieces - 1, 0],
            "{version}"
        );
        original.assert_same("tree", folder);
        // The download and its last verification are recorded, apart from files that changed just now.
        trusted.set_time(A, 2);
        assert_eq!(get(None, TRUST), [pieces, pieces, 0], "{version}");
        assert_eq!(get(None, TRUST), [pieces, pieces, pieces], "{version}");
        assert_eq!(get(None, &[]), [pieces, pieces, 0], "{version}");
    }
}

#[test]
fn people_read_what_was_not_verified() {
    let trusted = Trusted::new();
    let torrent = trusted.content.torrent("tree", "v2");
    let seed = || {
        let options = [TRUST, &["--seed-time", "0.01"]].concat();
        let mut command = seed_text_command(&[&torrent], trusted.content.path(), &options);
        command.env("XDG_STATE_HOME", trusted.state.path());
        let output = command.output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(seed().contains("tree: all pieces present\n"));
    let text = seed();
    assert!(
        text.contains("tree: all pieces present; trusted, not verified\n"),
        "{text}"
    );
    trusted.set_time(B, 1);
    let text = seed();
    assert!(
        text.contains("tree: all pieces present; 39 pieces trusted, not verified\n"),
        "{text}"
    );
}

#[test]
fn the_page_says_what_was_not_verified() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let trusted = Trusted::new();
    let torrent = trusted.content.torrent("tree", "v2");
    trusted.seed(&torrent, TRUST);
    let options = [TRUST, &["--http", "0"]].concat();
    let page = Page::of(Peer::start(trusted.command(&torrent, &options)));
    page.wait_for(|all| all["torrents"][0]["trusted_pieces"] == 40);
    browser.open(&page.with_token());
    browser.wait_for(
        "return document.getElementById('verdict').innerText ===
            'Complete, but 40 of 40 pieces trusted, not verified. Serving to peers.'",
    );
    browser.wait_for(
        "return document.body.innerText.includes('40 of 40 present, 40 trusted, not verified')",
    );
}
