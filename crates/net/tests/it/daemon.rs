//! `hashlane daemon` and `hashlane ctl`.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::control;
use super::peers::{Content, Ended, PATIENCE, Peer, Process, RECONNECT, ended};
use super::servers::WebServer;
use super::tracker::Tracker;
use crate::not_run::{is_installed, not_run_unless_required};
use crate::signal::send;
use crate::wait_for;

/// Time in which SIGTERM ends a daemon.
const END: Duration = Duration::from_secs(10);

/// A daemon that ends with the test at the latest.
pub(crate) struct Daemon {
    child: Process,
    /// Standard output, unless it is a file. It is not read, and has room for few lines.
    stdout: Option<ChildStdout>,
    state: PathBuf,
    stderr: PathBuf,
}

/// Returns the command that starts a daemon on loopback. Its standard output is a pipe that is not read, which stops no
/// daemon. Its standard error stream is a file.
pub(crate) fn daemon_command(state: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    command.arg("daemon").arg("--state-dir").arg(state);
    command.args(["--bind", "127.0.0.1", "--port", "0", "--transport", "tcp"]);
    command.args(["--no-dht", "--no-discovery"]).args(options);
    command.env(RECONNECT.0, RECONNECT.1);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

impl Daemon {
    pub(crate) fn start(state: &Path, options: &[&str]) -> Self {
        Self::of(state, daemon_command(state, options))
    }

    /// Starts a daemon, and waits until it answers; `None` if it ends before, for example because a port is taken.
    pub(crate) fn try_start(state: &Path, options: &[&str]) -> Option<Self> {
        Self::try_of(state, daemon_command(state, options))
    }

    /// Does the same with a command.
    pub(crate) fn try_of(state: &Path, command: Command) -> Option<Self> {
        let mut daemon = Self::spawn(state, command);
        let mut has_ended = false;
        wait_for(|| {
            has_ended = daemon.child.0.try_wait().unwrap().is_some();
            has_ended || UnixStream::connect(state.join("socket")).is_ok()
        });
        (!has_ended).then_some(daemon)
    }

    /// Starts a daemon, and waits until it answers.
    pub(crate) fn of(state: &Path, command: Command) -> Self {
        let daemon = Self::spawn(state, command);
        daemon.wait_until_ready();
        daemon
    }

    /// Starts a daemon, and does not wait.
    fn spawn(state: &Path, mut command: Command) -> Self {
        let stderr = state.with_extension("stderr");
        let file = fs::File::options().create(true).append(true).open(&stderr);
        let mut child = command.stderr(file.unwrap()).spawn().unwrap();
        let stdout = child.stdout.take();
        #[cfg(target_os = "linux")]
        if let Some(stdout) = &stdout {
            rustix::pipe::fcntl_setpipe_size(stdout, 4096).unwrap();
        }
        Self {
            child: Process(child),
            stdout,
            state: state.to_owned(),
            stderr,
        }
    }

    /// Returns `true` if the process has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.0.try_wait().unwrap().is_some()
    }

    fn wait_until_ready(&self) {
        wait_for(|| UnixStream::connect(self.state.join("socket")).is_ok());
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.0.id()
    }

    /// Returns the reading end of the pipe, which is not read.
    pub(crate) fn take_stdout(&mut self) -> ChildStdout {
        self.stdout.take().unwrap()
    }

    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap()
    }

    /// Runs `hashlane ctl --json` with arguments, in this process.
    pub(crate) fn ctl<A: AsRef<std::ffi::OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
    ) -> Ended {
        control::ctl(&self.state, args)
    }

    /// Runs `hashlane ctl --json`, which succeeds, and returns its lines.
    #[track_caller]
    pub(crate) fn done<A: AsRef<std::ffi::OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
    ) -> Vec<Value> {
        let ended = self.ctl(args);
        assert_eq!(ended.code, Some(0), "{ended:?}\n{}", self.stderr());
        ended.lines
    }

    /// Returns the only torrent.
    #[track_caller]
    pub(crate) fn torrent(&self) -> Value {
        let lines = self.done(["list"]);
        assert_eq!(lines.len(), 1, "{lines:#?}");
        lines[0].clone()
    }

    /// Waits until the only torrent is as expected.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let torrent = self.torrent();
            if is_so(&torrent) {
                return torrent;
            }
            assert!(
                started.elapsed() < PATIENCE,
                "not {what}: {torrent:#}\n{}",
                self.stderr()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until a torrent has an error with this text.
    #[track_caller]
    pub(crate) fn wait_for_error(&self, hash: &str, text: &str) {
        wait_for(|| {
            let found = self.done(["list", hash]);
            found[0]["error"]
                .as_str()
                .is_some_and(|error| error.contains(text))
        });
    }

    pub(crate) fn wait_for_activity(&self, activity: &str) -> Value {
        self.wait_until(activity, |torrent| torrent["activity"] == activity)
    }

    pub(crate) fn signal(&self, signal: &str) {
        send(signal, self.child.0.id());
    }

    /// Waits for the end of the daemon, and returns its exit status.
    pub(crate) fn end(&mut self) -> Option<i32> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(started.elapsed() < PATIENCE, "the daemon does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn terminate(mut self) {
        self.signal("TERM");
        assert_eq!(self.end(), Some(0), "{}", self.stderr());
    }

    pub(crate) fn kill(mut self) {
        self.child.0.kill().unwrap();
        self.end();
    }
}

/// Returns the command that controls the daemon of a folder.
pub(crate) fn ctl(state: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    command
        .arg("ctl")
        .arg("--state-dir")
        .arg(state)
        .stdin(Stdio::null());
    command
}

/// Returns a folder for the state in a folder that ends with the test.
pub(crate) fn folder() -> (Place, PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let (path, state) = (outer.path().join("place"), outer.path().join("state"));
    fs::create_dir(&path).unwrap();
    (
        Place {
            path,
            _outer: outer,
        },
        state,
    )
}

/// A folder beside the state folder.
pub(crate) struct Place {
    path: PathBuf,
    _outer: tempfile::TempDir,
}

impl Place {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn what_a_person_chose_lasts() {
    let content = Content::new();
    let (file, tree) = (
        content.torrent("file.bin", "v1"),
        content.torrent("tree", "hybrid"),
    );
    let (place, state) = folder();
    let downloads = text(place.path());
    let daemon = Daemon::start(&state, &["--dir", downloads]);
    let served = text(content.path()).to_owned() + "/file.bin";
    let added = daemon.done(["add", text(&file), "--content", &served]);
    assert_eq!(
        (&added[0]["type"], &added[0]["present"]),
        (&json!("added"), &json!(false))
    );
    let options = [
        "--paused",
        "--label",
        "b",
        "--label",
        "a",
        "--seed-ratio",
        "1.5",
    ];
    daemon.done(["add", text(&tree)].into_iter().chain(options));
    let again = daemon.done(["add", text(&tree)]);
    assert_eq!(again[0]["present"], json!(true));
    let hash = again[0]["info_hash_v2"].as_str().unwrap().to_owned();
    assert_ne!(again[0]["info_hash"], json!(hash));
    let before = daemon.done(["list"]);
    assert_eq!(before.len(), 2);
    let listed = daemon.done(["list", &hash[..12]]);
    assert_eq!(listed[0]["labels"], json!(["a", "b"]));
    assert_eq!(listed[0]["folder"], json!(downloads));
    daemon.terminate();
    let daemon = Daemon::start(&state, &["--dir", downloads]);
    let mut after = daemon.done(["list"]);
    wait_for(|| {
        let first = &daemon.done(["list"])[0];
        first["complete"] == true && first["activity"] == "serving"
    });
    for (before, after) in before.iter().zip(&mut after) {
        for key in [
            "info_hash",
            "name",
            "folder",
            "paused",
            "labels",
            "queue_position",
            "added_at",
        ] {
            assert_eq!(before[key], after[key], "{key}");
        }
    }
    wait_for(|| daemon.done(["list", &hash])[0]["activity"] == "paused");
    daemon.done(["resume", &hash]);
    wait_for(|| daemon.done(["list", &hash])[0]["activity"] == "downloading");
    daemon.done(["remove", &hash]);
    let status = &daemon.done(["status"])[0];
    assert_eq!(
        (&status["type"], &status["torrents"]),
        (&json!("status"), &json!(1))
    );
    // A torrent can be added again at once.
    daemon.done(["add", text(&tree)]);
    daemon.kill();
    let daemon = Daemon::start(&state, &[]);
    assert_eq!(daemon.done(["list"]).len(), 2);
    assert_eq!(daemon.stderr(), "");
}

#[test]
fn a_relative_folder_starts_where_the_daemon_starts() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let (place, state) = folder();
    let mut command = daemon_command(&state, &["--dir", "downloads"]);
    command.current_dir(place.path());
    let daemon = Daemon::of(&state, command);
    daemon.done(["add", text(&torrent)]);
    let downloads = place.path().join("downloads");
    assert_eq!(daemon.torrent()["folder"], json!(text(&downloads)));
    daemon.terminate();
}

#[test]
fn a_download_is_complete_and_announced() {
    let content = Content::new();
    let tracker = Tracker::start();
    let torrent = content.torrent_with("tree", "v1", &["--announce", &tracker.url()]);
    let _seed = Peer::seed(&[&torrent], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let (place, state) = folder();
    let downloads = place.path().join("new");
    let daemon = Daemon::start(&state, &[]);
    daemon.done(["add", text(&torrent), "--dir", text(&downloads)]);
    daemon.wait_until("complete", |torrent| torrent["complete"] == true);
    content.assert_same("tree", &downloads);
    let received = content.len_of("tree");
    let complete = daemon.wait_until("counted", |torrent| {
        torrent["downloaded_bytes"].as_u64() >= Some(received) && torrent["completed_at"].is_u64()
    });
    let started = Instant::now();
    daemon.terminate();
    assert!(started.elapsed() < END, "{:?}", started.elapsed());
    assert!(tracker.heard(|heard| heard.stopped.len() == 1));
    // The totals last, and the content is only served from now on.
    fs::remove_dir_all(&downloads).unwrap();
    let daemon = Daemon::start(&state, &[]);
    let absent = daemon.wait_for_activity("absent");
    let reason = absent["error"].as_str().unwrap();
    assert!(reason.contains("may not be mounted"), "{reason}");
    for key in ["downloaded_bytes", "completed_at", "added_at"] {
        assert_eq!(absent[key], complete[key], "{key}");
    }
    assert!(!downloads.exists());
}

#[test]
fn a_goal_pauses_a_torrent_for_good() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let served = content.path().join("file.bin");
    let (_place, state) = folder();
    let daemon = Daemon::start(&state, &[]);
    daemon.done([
        "add",
        text(&torrent),
        "--content",
        text(&served),
        "--seed-time",
        "1s",
    ]);
    daemon.wait_until("paused by its goal", |torrent| torrent["paused"] == true);
    daemon.kill();
    let daemon = Daemon::start(&state, &[]);
    daemon.wait_for_activity("paused");
    // A person who resumes it wants it to be served on.
    daemon.done(["resume", "--all"]);
    daemon.wait_for_activity("serving");
    let before = daemon.torrent()["serving_seconds"].as_f64();
    let after = daemon.wait_until("served on", |torrent| {
        torrent["serving_seconds"].as_f64() > before
    });
    assert_eq!(after["paused"], json!(false));
}

/// The content of a magnet link, whose metadata is kept, is moved and deleted.
#[test]
fn a_magnet_link_moves_and_is_deleted() {
    for version in ["v1", "v2"] {
        let content = Content::new();
        let tracker = Tracker::start();
        let torrent = content.torrent_with("tree", version, &["--announce", &tracker.url()]);
        let _seed = Peer::seed(&[&torrent], content.path());
        wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
        let (place, state) = folder();
        let (first, second) = (place.path().join("1"), place.path().join("2"));
        let daemon = Daemon::start(&state, &["--dir", text(&first)]);
        let link = content.magnet(&torrent);
        let added = daemon.done(["add", &link]);
        let hash = added[0]["info_hash"].as_str().unwrap();
        let stored = |suffix: &str| state.join(format!("torrents/{hash}.{suffix}")).exists();
        assert!(stored("magnet"));
        daemon.wait_until("complete", |torrent| torrent["activity"] == "serving");
        // Peers send no piece layers, which a .torrent file of version 2 needs.
        if version == "v1" {
            wait_for(|| stored("torrent") && !stored("magnet"));
        }
        daemon.done(["move", hash, "--dir", text(&second)]);
        let at = text(&second);
        daemon.wait_until("moved", |torrent| {
            torrent["folder"] == at && torrent["move_to"].is_null()
        });
        content.assert_same("tree", &second);
        daemon.done(["verify", "--all"]);
        daemon.wait_until("served again", |torrent| torrent["activity"] == "serving");
        fs::write(second.join("tree/other"), "of a person").unwrap();
        daemon.done(["remove", hash, "--delete-content"]);
        wait_for(|| !second.join("tree/a.bin").exists());
        assert!(second.join("tree/other").exists());
        assert!(daemon.done(["list"]).is_empty());
        daemon.terminate();
    }
}

/// A kill during a move leaves the content in one of two folders, and the state folder names both.
#[test]
fn an_interrupted_move_is_found_in_either_folder() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    for is_moved in [false, true] {
        let (place, state) = folder();
        let (first, second) = (place.path().join("1"), place.path().join("2"));
        fs::create_dir(&first).unwrap();
        fs::create_dir(&second).unwrap();
        fs::copy(content.path().join("file.bin"), first.join("file.bin")).unwrap();
        let daemon = Daemon::start(&state, &[]);
        let added = daemon.done(["add", text(&torrent), "--dir", text(&first)]);
        daemon.wait_for_activity("serving");
        daemon.kill();
        let name = added[0]["info_hash"].as_str().unwrap();
        let toml = state.join(format!("torrents/{name}.toml"));
        let moving =
            format!("move_to = {:?}\n", text(&second)) + &fs::read_to_string(&toml).unwrap();
        fs::write(&toml, moving).unwrap();
        if is_moved {
            fs::rename(first.join("file.bin"), second.join("file.bin")).unwrap();
        }
        let daemon = Daemon::start(&state, &[]);
        let at = text(&second);
        daemon.wait_until("moved", |torrent| {
            torrent["folder"] == at && torrent["move_to"].is_null()
        });
        daemon.wait_for_activity("serving");
        content.assert_same("file.bin", &second);
        assert!(!first.join("file.bin").exists());
    }
}

#[test]
fn choices_are_changed() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (_place, state) = folder();
    let daemon = Daemon::start(&state, &["--dir", text(content.path())]);
    daemon.done([
        "add",
        text(&torrent),
        "--max-up",
        "1KiB",
        "--label",
        "old",
        "--seed-time",
        "2h",
    ]);
    let changes = [
        "set",
        "--all",
        "--label",
        "new",
        "--max-down",
        "2KiB",
        "--max-up",
        "0",
    ];
    daemon.done(
        changes
            .into_iter()
            .chain(["--seed-ratio", "1.5", "--seed-time", "0"]),
    );
    let is_changed = |torrent: &Value| {
        torrent["labels"] == json!(["new"])
            && torrent["max_down"] == json!(2048)
            && torrent["max_up"].is_null()
            && torrent["seed_ratio"] == json!(1.5)
            && torrent["seed_seconds"].is_null()
    };
    assert!(is_changed(&daemon.torrent()), "{:#}", daemon.torrent());
    daemon.kill();
    let daemon = Daemon::start(&state, &[]);
    assert!(is_changed(&daemon.torrent()), "{:#}", daemon.torrent());
    daemon.done(["set", "--all", "--no-labels"]);
    assert_eq!(daemon.torrent()["labels"], json!([]));
}

/// A command is refused for one torrent and accepted for the next one. Both are reported.
#[test]
fn a_refusal_keeps_no_other_torrent_from_a_command() {
    let content = Content::new();
    let (place, state) = folder();
    let [first, second] = ["first", "second"].map(|name| place.path().join(name));
    fs::create_dir(&first).unwrap();
    fs::copy(content.path().join("file.bin"), first.join("file.bin")).unwrap();
    let daemon = Daemon::start(&state, &["--dir", text(&first)]);
    let absent = content.torrent("tree", "v1");
    let missing = place.path().join("missing");
    daemon.done(["add", text(&absent), "--content", text(&missing)]);
    let present = content.torrent("file.bin", "v1");
    let added = daemon.done(["add", text(&present)]);
    wait_for(|| {
        let list = daemon.done(["list"]);
        let activities = list.iter().map(|torrent| &torrent["activity"]);
        activities.eq(["absent", "serving"])
    });
    let ended = daemon.ctl(["move", "--all", "--dir", text(&second)]);
    ended.assert_failed("waits, so that its content cannot be moved now");
    let changed: Vec<_> = ended.lines.iter().map(|line| &line["action"]).collect();
    assert_eq!(changed, ["relocate"], "{ended:?}");
    assert_eq!(ended.lines[0]["info_hash"], added[0]["info_hash"]);
    wait_for(|| second.join("file.bin").exists());
    daemon.terminate();
}

/// The state folder of the configuration is that of both commands.
#[test]
fn the_configuration_names_the_state_folder() {
    let (place, state) = folder();
    let config = place.path().join("config.toml");
    let settings = format!(
        "[daemon]\nstate-dir = {:?}\ndir = \"content\"\n[network]\nport = 0\nno-dht = true\n",
        text(&state)
    );
    fs::write(&config, settings).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    command
        .args([
            "daemon",
            "--bind",
            "127.0.0.1",
            "--no-discovery",
            "--config",
        ])
        .arg(&config);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let daemon = Daemon::of(&state, command);
    let mut ctl = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    let link = "magnet:?xt=urn:btih:abcdabcdabcdabcdabcdabcdabcdabcdabcdabcd";
    ctl.args(["ctl", "--json", "add", link])
        .env("HASHLANE_CONFIG", &config);
    assert_eq!(ended(&mut ctl).code, Some(0));
    let folder = place.path().join("content");
    assert_eq!(daemon.torrent()["folder"], json!(text(&folder)));
    daemon.terminate();
}

#[test]
fn ctl_adds_a_torrent_with_the_files_that_patterns_match() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let (place, state) = folder();
    let daemon = Daemon::start(&state, &["--dir", text(place.path())]);
    let refused = |given: &str, pattern: &str, reason: &str| {
        daemon
            .ctl(["add", "--paused", "--include", pattern, given])
            .assert_failed(reason);
    };
    refused(text(&torrent), "*.pdf", "no file of the torrent matches");
    refused(text(&torrent), "[", "--include [");
    refused(&content.magnet(&torrent), "sub", "needs a .torrent file");
    assert!(daemon.done(["list"]).is_empty());
    let patterns = ["--include", "SUB", "--include", "emp*"];
    let args = ["add", "--paused"].iter().chain(&patterns);
    daemon.done(args.copied().chain([text(&torrent)]));
    // The client reads the metadata first.
    let mut files = Vec::new();
    wait_for(|| {
        files = daemon.done(["files", "tree"]);
        !files.is_empty()
    });
    let chosen = files
        .iter()
        .map(|file| [&file["path"], &file["priority"]].map(|it| it.as_str().unwrap()));
    let expected = [
        ["a.bin", "skip"],
        ["empty", "normal"],
        ["sub/b.bin", "normal"],
    ];
    assert!(chosen.eq(expected), "{files:#?}");
    daemon.terminate();
}

#[test]
fn ctl_adds_the_torrent_of_a_url() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    fs::copy(&torrent, content.path().join("x.torrent")).unwrap();
    fs::write(content.path().join("page.html"), "<!DOCTYPE html>").unwrap();
    let server = WebServer::of(content.path());
    let (place, state) = folder();
    let daemon = Daemon::start(&state, &["--dir", text(place.path())]);
    let page = server.url("page.html");
    daemon
        .ctl(["add", &page])
        .assert_failed("not a .torrent file: it is a page of HTML");
    assert!(daemon.done(["list"]).is_empty());
    let url = server.url("x.torrent").replace("http", "HTTP");
    let added = daemon.done(["add", "--label", "fetched", &url]);
    assert_eq!(
        (&added[0]["type"], &added[0]["present"]),
        (&json!("added"), &json!(false))
    );
    let listed = daemon.torrent();
    assert_eq!(
        (&listed["name"], &listed["labels"]),
        (&json!("file.bin"), &json!(["fetched"]))
    );
    daemon.terminate();
}

#[test]
fn a_link_without_a_name_is_named_by_its_info_hash() {
    let (place, state) = folder();
    let daemon = Daemon::start(&state, &["--dir", text(place.path())]);
    let hash = "0123456789abcdef0123456789abcdef01234567";
    let added = ctl(&state).args(["add", hash]).output().unwrap();
    assert_eq!(added.stdout, format!("{hash}: added\n").as_bytes());
    assert_eq!(daemon.torrent()["torrent"], hash);
    daemon.terminate();
}

#[test]
fn errors_name_their_reason() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (_place, state) = folder();
    let none = ended(ctl(&state).arg("list"));
    none.assert_failed("no daemon runs with this state folder: start `hashlane daemon`");
    let daemon = Daemon::start(&state, &[]);
    daemon
        .ctl(["add", text(&torrent)])
        .assert_failed("no folder for the content: name one here");
    daemon
        .ctl(["add", "missing.torrent"])
        .assert_failed("missing.torrent: ");
    let url = "http://127.0.0.1:1/0123456789abcdef0123456789abcdef/a.torrent";
    let refused = daemon.ctl(["add", url]);
    refused.assert_failed("a.torrent of 127.0.0.1:1: ");
    assert!(!refused.stderr.contains("0123456789abcdef"), "{refused:?}");
    daemon
        .ctl(["remove", "0123456789"])
        .assert_failed("0123456789: no such torrent");
    daemon
        .ctl(["remove", "012"])
        .assert_failed("012: no such torrent; name its info-hash");
    daemon
        .ctl(["remove"])
        .assert_failed("name torrents, or use --all");
    assert!(daemon.done(["list"]).is_empty());
    daemon.terminate();
    ended(ctl(&state).arg("list")).assert_failed("no daemon runs");
}

#[test]
fn a_second_daemon_is_refused() {
    let (_place, state) = folder();
    let daemon = Daemon::start(&state, &[]);
    let second = ended(&mut daemon_command(&state, &[]));
    second.assert_failed(&format!("in use by process {}", daemon.child.0.id()));
    // The first one still has its socket.
    assert!(daemon.done(["list"]).is_empty());
    daemon.signal("HUP");
    assert!(daemon.done(["list"]).is_empty());
    daemon.terminate();
}

#[test]
fn damage_hides_no_other_torrent() {
    let content = Content::new();
    let torrents = [
        content.torrent("file.bin", "v1"),
        content.torrent("tree", "v1"),
    ];
    let (_place, state) = folder();
    let daemon = Daemon::start(&state, &["--dir", text(content.path())]);
    let added = daemon.done(["add", "--paused", text(&torrents[0]), text(&torrents[1])]);
    daemon.kill();
    let name = added[0]["info_hash"].as_str().unwrap();
    let toml = state.join(format!("torrents/{name}.toml"));
    fs::write(&toml, "folder = '/'\npaused = 3\n").unwrap();
    let daemon = Daemon::start(&state, &[]);
    let listed = daemon.torrent();
    assert_eq!(listed["info_hash"], added[1]["info_hash"]);
    let problem = format!("{}:2: ", toml.display());
    let status = &daemon.done(["status"])[0];
    assert!(
        status["problems"][0]
            .as_str()
            .unwrap()
            .starts_with(&problem),
        "{status:#}"
    );
    assert!(
        daemon.stderr().contains(&format!("warning: {problem}")),
        "{}",
        daemon.stderr()
    );
    let text = fs::read_to_string(&toml).unwrap();
    assert_eq!(text, "folder = '/'\npaused = 3\n");
}

/// Sends a request to the socket, and returns the head of the answer.
fn answer(state: &Path, request: &[u8]) -> String {
    let stream = UnixStream::connect(state.join("socket")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // The daemon may refuse the request before its end.
    let _ = (&stream).write_all(request);
    let mut line = String::new();
    let _ = BufReader::new(stream).read_line(&mut line);
    line
}

#[test]
fn hostile_requests_are_refused() {
    let (_place, state) = folder();
    let daemon = Daemon::start(&state, &[]);
    let post = |body: &str| {
        let head = "POST /api/v1/torrents HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ";
        answer(
            &state,
            format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes(),
        )
    };
    let hash = "0123456789012345678901234567890123456789";
    for (body, status) in [
        ("", " 422 "),
        ("{}", " 422 "),
        (r#"{"link":"x"}"#, " 422 "),
        (r#"{"metainfo":"x"}"#, " 422 "),
        (r#"{"metainfo":"ZGU="}"#, " 422 "),
        (
            &format!(r#"{{"metainfo":"ZGU=","link":"{hash}"}}"#),
            " 422 ",
        ),
        (&format!(r#"{{"link":"{hash}","more":1}}"#), " 422 "),
        (&format!(r#"{{"link":"{hash}"}}"#), " 409 "),
        (
            &format!(r#"{{"link":"{hash}","options":{{"folder":"a"}}}}"#),
            " 409 ",
        ),
    ] {
        let answer = post(body);
        assert!(answer.contains(status), "{body}: {answer}");
    }
    let other_site = "GET /api/v1/torrents HTTP/1.1\r\nHost: example.com\r\n\r\n";
    let answered = answer(&state, other_site.as_bytes());
    assert!(answered.contains(" 4"), "{answered}");
    for noise in [&b"\xFF\r\n\r\n"[..], b"{\"command\":\"status\"}\n"] {
        let answered = answer(&state, noise);
        assert!(
            answered.is_empty() || answered.contains(" 400 "),
            "{answered}"
        );
    }
    let len = 48 << 20;
    let endless = format!(
        "POST /api/v1/torrents HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len}\r\n\r\n"
    );
    let mut endless = endless.into_bytes();
    endless.resize(endless.len() + len, b' ');
    let answered = answer(&state, &endless);
    assert!(
        answered.is_empty() || answered.contains(" 413 "),
        "{answered}"
    );
    // Connections that send nothing leave room for those that do.
    let idle: Vec<_> = (0..200)
        .map(|_| UnixStream::connect(state.join("socket")).unwrap())
        .collect();
    assert!(daemon.done(["list"]).is_empty());
    drop(idle);
    daemon.terminate();
}

/// Only its user can open the folder, and the socket in it.
#[cfg(target_os = "linux")]
#[test]
fn other_users_are_refused() {
    let (place, state) = folder();
    let mut as_nobody = Command::new("setpriv");
    as_nobody
        .args(["--reuid", "65534", "--clear-groups", "true"])
        .stderr(Stdio::null());
    if !as_nobody.status().is_ok_and(|status| status.success()) {
        return not_run_unless_required(
            "SETPRIV",
            "connections of other users",
            "setpriv cannot become another user",
            "run as root with util-linux",
        );
    }
    let daemon = Daemon::start(&state, &[]);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&state), mode(&state.join("socket"))), (0o700, 0o600));
    let program = place.path().join("program");
    fs::copy(env!("CARGO_BIN_EXE_hashlane-net"), &program).unwrap();
    let ask = || {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", "65534", "--clear-groups"])
            .arg(&program);
        ended(command.args(["ctl", "list", "--state-dir"]).arg(&state))
    };
    let open =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(place.path(), 0o755);
    ask().assert_failed("Permission denied");
    open(&state, 0o755);
    ask().assert_failed("Permission denied");
    daemon.terminate();
}

/// A socket in the place of systemd.
#[test]
fn systemd_is_informed() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (place, state) = folder();
    let path = place.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = daemon_command(&state, &[]);
    command
        .env("NOTIFY_SOCKET", &path)
        .env("WATCHDOG_USEC", "2000000");
    command
        .env_remove("WATCHDOG_PID")
        .env("JOURNAL_STREAM", "8:1");
    let daemon = Daemon::spawn(&state, command);
    let wait_for_message = |is_it: &dyn Fn(&str) -> bool| {
        let mut message = [0; 4096];
        loop {
            let len = socket.recv(&mut message).expect("systemd is informed");
            let text = str::from_utf8(&message[..len]).unwrap();
            if text.lines().any(is_it) {
                return text.to_owned();
            }
        }
    };
    wait_for_message(&|line| line == "READY=1");
    // It is ready for requests.
    let missing = place.path().join("missing");
    daemon.done(["add", text(&torrent), "--content", text(&missing)]);
    wait_for_message(&|line| line == "STATUS=1 torrent: 1 failed or waiting");
    wait_for_message(&|line| line == "WATCHDOG=1");
    wait_for_message(&|line| line == "WATCHDOG=1");
    // systemd compares the time of the message with that of its signal.
    daemon.signal("HUP");
    let message = wait_for_message(&|line| line == "RELOADING=1");
    let time = message
        .lines()
        .find_map(|line| line.strip_prefix("MONOTONIC_USEC="));
    assert!(time.unwrap().parse::<u64>().unwrap() > 0, "{message}");
    wait_for_message(&|line| line == "READY=1");
    assert!(
        daemon.stderr().starts_with("<4>hashlane: warning: "),
        "{}",
        daemon.stderr()
    );
    daemon.terminate();
    wait_for_message(&|line| line == "STOPPING=1");
}

/// A tracker that does not answer the last announcement does not keep the daemon from ending.
#[test]
fn a_silent_tracker_does_not_delay_the_end() {
    let tracker = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/announce", tracker.local_addr().unwrap());
    let content = Content::new();
    let torrent = content.torrent_with("file.bin", "v1", &["--announce", &url]);
    let (_place, state) = folder();
    let mut daemon = Daemon::start(&state, &["--dir", text(content.path())]);
    daemon.done(["add", text(&torrent)]);
    // Only a tracker that has answered once hears of the end.
    assert!(first_line(&tracker.accept().unwrap().0).contains("event=started"));
    daemon.wait_for_activity("serving");
    daemon.signal("TERM");
    let asked = Instant::now();
    // This announcement has arrived, and stays open.
    let (open, _) = tracker.accept().unwrap();
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    // systemd kills the daemon later (`TimeoutStopSec`).
    assert!(asked.elapsed() < END, "{:?}", asked.elapsed());
    drop(open);
}

/// Reads an announcement, and answers that there are no peers. Returns the first line when the client has read the answer.
fn first_line(mut stream: &TcpStream) -> String {
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    assert!(lines.any(|line| line.is_empty()));
    let answer = "d8:intervali1800e5:peers0:e";
    let head = format!(
        "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n",
        answer.len()
    );
    stream.write_all((head + answer).as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    io::copy(&mut stream, &mut io::sink()).unwrap();
    first
}

/// The unit is valid, and names what this program understands.
#[cfg(target_os = "linux")]
#[test]
fn the_unit_is_valid() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/hashlane.service");
    let unit_text = fs::read_to_string(&unit).unwrap();
    let start = unit_text
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="))
        .unwrap();
    let (program, args) = start.split_once(' ').unwrap();
    assert_eq!(program, "/usr/bin/hashlane");
    let parsed = Command::new(env!("CARGO_BIN_EXE_hashlane-net"))
        .args(args.split(' '))
        .arg("--help")
        .output();
    assert!(parsed.unwrap().status.success(), "{args}");
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("hashlane.service");
    let here = unit_text.replace(program, env!("CARGO_BIN_EXE_hashlane-net"));
    fs::write(&copy, here).unwrap();
    let socket = folder.path().join("hashlane.socket");
    fs::copy(unit.with_file_name("hashlane.socket"), &socket).unwrap();
    if !is_installed("SYSTEMD", "systemd-analyze", "systemd") {
        return;
    }
    let verified = Command::new("systemd-analyze")
        .arg("verify")
        .args(["--recursive-errors=no", "--man=no"])
        .args([&copy, &socket])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success() && stderr.is_empty(), "{stderr}");
}
