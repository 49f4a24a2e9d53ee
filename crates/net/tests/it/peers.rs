//! Processes that serve and download, and the content that they serve.

use std::borrow::BorrowMut;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::random::Random;
use crate::signal::send;

/// Time limit for steps that should be quick, on a machine with a high load.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Time limit for a process to end, on a machine with a high load. Whatever waits in vain ends later, or by an error after 5 s.
pub(crate) const PARTING: Duration = Duration::from_secs(8);

const PIECE_LEN: u64 = 64 << 10;

/// A folder with a file and a tree of files.
pub(crate) struct Content {
    folder: tempfile::TempDir,
    tree_len: u64,
}

impl Content {
    pub(crate) fn new() -> Self {
        Self::with_tree_of(2_500_000)
    }

    /// Creates content with a larger file in the tree.
    pub(crate) fn with_tree_of(len: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::create_dir_all(path.join("tree/sub")).unwrap();
        fs::write(path.join("tree/a.bin"), Random::new(1).bytes(len)).unwrap();
        fs::write(path.join("tree/empty"), b"").unwrap();
        fs::write(path.join("tree/sub/b.bin"), Random::new(2).bytes(12_345)).unwrap();
        fs::write(path.join("file.bin"), Random::new(3).bytes(2_000_123)).unwrap();
        Self {
            folder,
            tree_len: len as u64 + 12_345,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the total length of the files of a torrent.
    pub(crate) fn len_of(&self, name: &str) -> u64 {
        if name == "tree" {
            self.tree_len
        } else {
            2_000_123
        }
    }

    pub(crate) fn piece_len(&self) -> u64 {
        PIECE_LEN
    }

    pub(crate) fn torrent(&self, name: &str, version: &str) -> PathBuf {
        self.torrent_with(name, version, &[])
    }

    pub(crate) fn torrent_with(&self, name: &str, version: &str, options: &[&str]) -> PathBuf {
        Self::torrent_of(&self.path().join(name), version, options)
    }

    /// Creates the torrent of any content, beside it.
    pub(crate) fn torrent_of(content: &Path, version: &str, options: &[&str]) -> PathBuf {
        let torrent = content.as_os_str().to_str().unwrap();
        let torrent = PathBuf::from(format!("{torrent}.{version}.torrent"));
        let status = Command::new(env!("CARGO_BIN_EXE_hashlane-net"))
            .args(["create", "--quiet", "--force", "--format", version])
            .args(["--piece-length", &PIECE_LEN.to_string(), "-o"])
            .args([torrent.as_path(), content])
            .args(options)
            .status();
        assert!(status.unwrap().success());
        torrent
    }

    /// Returns the magnet link of a torrent.
    pub(crate) fn magnet(&self, torrent: &Path) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
        let output = command.arg("magnet").arg(torrent).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn assert_same(&self, name: &str, folder: &Path) {
        let status = Command::new("diff")
            .arg("-r")
            .args([self.path().join(name), folder.join(name)])
            .status();
        assert!(status.unwrap().success(), "{name}");
    }
}

/// Exit status and output of a finished process.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` if the process was killed.
    pub(crate) code: Option<i32>,
    /// Names the signal of a process that was killed.
    status: ExitStatus,
    pub(crate) lines: Vec<Value>,
    pub(crate) stderr: String,
}

impl Ended {
    /// Returns the end of a command that ran in this process.
    pub(crate) fn in_process(code: u8, stdout: &[u8], stderr: &[u8]) -> Self {
        Self {
            code: Some(code.into()),
            status: ExitStatus::from_raw(i32::from(code) << 8),
            lines: lines_of(stdout),
            stderr: String::from_utf8_lossy(stderr).into_owned(),
        }
    }

    /// Asserts that the process failed with this reason.
    #[track_caller]
    pub(crate) fn assert_failed(&self, reason: &str) {
        // The reason first: a log can cut a long line.
        let end = format!("{}\n{}\n{:?}", self.status, self.stderr, self.lines);
        assert_eq!(self.code, Some(2), "{end}");
        assert!(self.stderr.contains(reason), "{reason}: {end}");
    }
}

/// A process that ends with the test at the latest.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that serves or downloads.
pub(crate) struct Peer {
    child: Process,
    address: SocketAddr,
    lines: Arc<Mutex<Vec<Value>>>,
    reader: JoinHandle<()>,
    stderr: JoinHandle<String>,
}

impl Peer {
    pub(crate) fn seed(torrents: &[&Path], folder: &Path) -> Self {
        Self::seed_with(torrents, folder, &[])
    }

    pub(crate) fn seed_with(torrents: &[&Path], folder: &Path, options: &[&str]) -> Self {
        Self::start(seed_command(torrents, folder, options))
    }

    /// Starts a seed with this limit of open files.
    pub(crate) fn seed_within(max_descriptors: u32, torrents: &[&Path], folder: &Path) -> Self {
        let command = seed_command(torrents, folder, &[]);
        Self::start(within(max_descriptors, &command))
    }

    /// Starts a download from that peer.
    pub(crate) fn get(torrents: &[&Path], folder: &Path, from: &Self, options: &[&str]) -> Self {
        Self::start(get_command(torrents, folder, Some(from), options))
    }

    /// Starts a download without known peers.
    pub(crate) fn get_alone(torrents: &[&Path], folder: &Path, options: &[&str]) -> Self {
        Self::start(get_command(torrents, folder, None, options))
    }

    pub(crate) fn start(mut command: impl BorrowMut<Command>) -> Self {
        let mut child = command.borrow_mut().spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (found, address) = mpsc::channel();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let of_thread = Arc::clone(&lines);
        let reader = std::thread::spawn(move || {
            // A killed process can leave half a line.
            for line in stdout.lines().map_while(Result::ok) {
                let Ok(line) = serde_json::from_str::<Value>(&line) else {
                    break;
                };
                if line["type"] == "listening" {
                    let _ = found.send(line["address"].as_str().unwrap().parse().unwrap());
                }
                of_thread.lock().unwrap().push(line);
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        let address = address.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            let _ = child.kill();
            ([0, 0, 0, 0], 0).into()
        });
        Self {
            child: Process(child),
            address,
            lines,
            reader,
            stderr,
        }
    }

    /// Waits for a line of this type, and returns it.
    pub(crate) fn wait_for_line(&self, kind: &str) -> Value {
        let started = Instant::now();
        loop {
            let lines = self.lines.lock().unwrap();
            if let Some(line) = lines.iter().find(|line| line["type"] == kind) {
                return line.clone();
            }
            assert!(started.elapsed() < PATIENCE, "no {kind} in {lines:#?}");
            drop(lines);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the lines of this type so far.
    pub(crate) fn lines_of(&self, kind: &str) -> Vec<Value> {
        let lines = self.lines.lock().unwrap();
        let lines = lines.iter().filter(|line| line["type"] == kind);
        lines.cloned().collect()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.0.id()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends the process as Ctrl-C does.
    pub(crate) fn interrupt(self) -> Ended {
        send("INT", self.child.0.id());
        self.end()
    }

    /// Ends the process as the system does.
    pub(crate) fn terminate(self) -> Ended {
        send("TERM", self.child.0.id());
        self.end()
    }

    pub(crate) fn kill(mut self) -> Ended {
        self.child.0.kill().unwrap();
        self.end()
    }

    /// Waits for the process to end.
    pub(crate) fn end(mut self) -> Ended {
        let status = self.child.0.wait().unwrap();
        self.reader.join().unwrap();
        let lines = std::mem::take(&mut *self.lines.lock().unwrap());
        Ended {
            code: status.code(),
            status,
            lines,
            stderr: self.stderr.join().unwrap(),
        }
    }
}

/// The variable that lets two clients that connected to each other at once, and ended up without a connection, try again
/// after a second.
pub(crate) const RECONNECT: (&str, &str) = ("HASHLANE_TEST_RECONNECT_SECONDS", "1");

/// The variable that gives libtorrent up early, where a test makes it hang.
pub(crate) const IMPATIENT: (&str, &str) = ("HASHLANE_TEST_PATIENCE_SECONDS", "5");

/// Default options of the tests: only loopback, without peer discovery. On loopback, uTP loses
/// enough packets to wait for seconds.
const DEFAULTS: [(&str, Option<&str>); 6] = [
    ("--bind", Some("127.0.0.1")),
    ("--port", Some("0")),
    ("--transport", Some("tcp")),
    ("--timeout", Some("100s")),
    ("--no-dht", None),
    ("--no-discovery", None),
];

/// Returns a command that prints JSON lines, with options; `!--no-dht` removes that default.
fn command(name: &str, options: &[&str]) -> Command {
    let mut command = text_command(name, options);
    command.arg("--json");
    command
}

/// Returns a command that prints text for people.
pub(crate) fn text_command(name: &str, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    command.arg(name);
    for (option, value) in DEFAULTS {
        let is_of_get = option == "--timeout" && name != "get";
        let is_said = options
            .iter()
            .any(|said| said.trim_start_matches('!') == option);
        if !is_of_get && !is_said {
            command.arg(option).args(value);
        }
    }
    command.args(options.iter().filter(|option| !option.starts_with('!')));
    // Records of `--exec` stay out of the user's folder.
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("state");
    command.env("XDG_STATE_HOME", state).stdin(Stdio::null());
    command.env(RECONNECT.0, RECONNECT.1);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn seed_command(torrents: &[&Path], folder: &Path, options: &[&str]) -> Command {
    let mut command = seed_text_command(torrents, folder, options);
    command.arg("--json");
    command
}

/// Returns the command that serves content and prints text for people.
pub(crate) fn seed_text_command(torrents: &[&Path], folder: &Path, options: &[&str]) -> Command {
    let mut command = text_command("seed", options);
    command.arg("-d").arg(folder).args(torrents);
    command
}

/// Returns the command that serves content at a path, under any name.
pub(crate) fn seed_content_command(torrent: &Path, content: &Path) -> Command {
    let mut command = command("seed", &[]);
    command.arg("--content").arg(content).arg(torrent);
    command
}

/// Returns the command that serves or downloads content in the current folder.
pub(crate) fn here_command(name: &str, torrent: &Path, folder: &Path) -> Command {
    let mut command = command(name, &[]);
    command.current_dir(folder).arg(torrent);
    command
}

pub(crate) fn get_command(
    torrents: &[&Path],
    folder: &Path,
    from: Option<&Peer>,
    options: &[&str],
) -> Command {
    let mut command = command("get", options);
    command.arg("--dir").arg(folder).args(torrents);
    if let Some(from) = from {
        command.args(["--peer", &from.address.to_string()]);
    }
    command
}

/// Returns the command that writes the torrents of magnet links to a folder.
pub(crate) fn fetch_command(
    links: &[&str],
    folder: &Path,
    from: Option<&Peer>,
    options: &[&str],
) -> Command {
    let mut command = command("magnet", options);
    command.current_dir(folder).arg("--fetch").args(links);
    if let Some(from) = from {
        command.args(["--peer", &from.address.to_string()]);
    }
    command
}

/// Downloads from that peer, and waits for the end.
pub(crate) fn get(torrents: &[&Path], folder: &Path, from: &Peer, options: &[&str]) -> Ended {
    get_from(torrents, folder, Some(from), options)
}

/// Downloads from any peer that the process finds, and waits for the end.
pub(crate) fn get_from(
    torrents: &[&Path],
    folder: &Path,
    from: Option<&Peer>,
    options: &[&str],
) -> Ended {
    ended(&mut get_command(torrents, folder, from, options))
}

/// Searches for peers in vain for three seconds. Returns the end, and the log with all details.
pub(crate) fn get_in_vain(torrent: &Path) -> (Ended, String) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = get_command(&[torrent], folder.path(), None, &["--timeout", "3s"]);
    let ended = ended(
        command
            .arg("--log")
            .arg(&log)
            .args(["--log-level", "trace"]),
    );
    (ended, fs::read_to_string(log).unwrap())
}

/// Downloads from that peer with this limit of open files, and waits for the end.
pub(crate) fn get_within(
    max_descriptors: u32,
    torrents: &[&Path],
    folder: &Path,
    from: &Peer,
) -> Ended {
    let command = get_command(torrents, folder, Some(from), &[]);
    ended(&mut within(max_descriptors, &command))
}

/// Returns the same command with a limit of open files.
fn within(max_descriptors: u32, command: &Command) -> Command {
    let mut limited = Command::new("sh");
    limited.args(["-c", r#"ulimit -n "$0"; exec "$@""#]);
    limited.arg(max_descriptors.to_string());
    limited.arg(command.get_program()).args(command.get_args());
    limited.env(RECONNECT.0, RECONNECT.1).stdin(Stdio::null());
    limited.stdout(Stdio::piped()).stderr(Stdio::piped());
    limited
}

pub(crate) fn ended(command: &mut Command) -> Ended {
    let output = output_of(command);
    Ended {
        code: output.status.code(),
        status: output.status,
        lines: lines_of(&output.stdout),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Returns the JSON lines that a command prints, whatever its exit status.
pub(crate) fn ran<A, B>(
    args: impl IntoIterator<Item = A>,
    paths: impl IntoIterator<Item = B>,
) -> Vec<Value>
where
    A: AsRef<OsStr>,
    B: AsRef<OsStr>,
{
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    command.stdin(Stdio::null());
    lines_of(&output_of(command.args(args).args(paths)).stdout)
}

/// Runs a command. One that does not end is killed, so that its test fails.
pub(crate) fn output_of(command: &mut Command) -> Output {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || done.send(child.wait_with_output().unwrap()));
    is_done.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        // Shows where its threads wait, in a build with debug information and where gdb is installed.
        let _ = Command::new("gdb")
            .args([
                "-p",
                &pid.to_string(),
                "-batch",
                "-ex",
                "thread apply all bt",
            ])
            .status();
        send("KILL", pid);
        panic!("{command:?} did not end: {:?}", is_done.recv());
    })
}

fn lines_of(stdout: &[u8]) -> Vec<Value> {
    let lines = std::str::from_utf8(stdout).unwrap().lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Compiles a C file of this folder into a library that a process loads first. Returns the path of the library.
pub(crate) fn preloaded(name: &str, folder: &Path) -> PathBuf {
    let library = folder.join(format!("{name}.so"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/{name}.c"));
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .args(["-ldl", "-lpthread"])
        .status();
    assert!(status.unwrap().success());
    library
}
