//! Standard output that is not read: after Ctrl-S, in a pager, or by a collector of logs that is stuck.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::daemon::{Daemon, folder};
use super::peers::{Content, PARTING, Peer, Process, get_command, seed_command};
use crate::signal::send;
use crate::wait_for;

/// Enough pieces that their lines do not fit into the pipe.
const LEN: usize = 4_000_000;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Starts a command with a pipe that has room for few lines.
fn unread(command: &mut Command) -> Process {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child: Child = child.spawn().unwrap();
    rustix::pipe::fcntl_setpipe_size(child.stdout.as_ref().unwrap(), 4096).unwrap();
    Process(child)
}

/// Ends a process, and returns its exit status and its standard error stream.
fn terminated(mut process: Process) -> (Option<i32>, String) {
    send("TERM", process.0.id());
    let asked = Instant::now();
    wait_for(|| process.0.try_wait().unwrap().is_some());
    assert!(asked.elapsed() < PARTING, "{:?}", asked.elapsed());
    let stderr = process.0.stderr.take().unwrap();
    let stderr = std::io::read_to_string(stderr).unwrap();
    (process.0.wait().unwrap().code(), stderr)
}

/// The goals, the totals and the end of a daemon do not wait for the reader. A later reader gets every line.
#[test]
fn a_daemon_whose_output_nobody_reads_works() {
    let content = Content::with_tree_of(LEN);
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let peer = seed.address().to_string();
    let link = format!("{}&x.pe={peer}", content.magnet(&torrent));
    for is_read_later in [false, true] {
        let (place, state) = folder();
        let options = ["--dir", text(place.path()), "--json"];
        let mut daemon = Daemon::start(&state, &options);
        daemon.done(["add", &link, "--seed-time", "1s"]);
        daemon.wait_until("paused by its goal", |it| it["paused"] == true);
        let received = daemon.torrent()["downloaded_bytes"].clone();
        assert!(
            received.as_u64() >= Some(content.len_of("tree")),
            "{received}"
        );
        let mut lines = BufReader::new(daemon.take_stdout()).lines();
        if is_read_later {
            let lines = lines.by_ref();
            let lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
            let mut pieces = 0;
            for line in lines {
                pieces += usize::from(line["type"] == "piece");
                assert!(line["type"] != "missed", "{line}");
                if line["type"] == "finished" {
                    break;
                }
            }
            assert_eq!(
                pieces as u64,
                content.len_of("tree").div_ceil(content.piece_len())
            );
        }
        let asked = Instant::now();
        daemon.signal("TERM");
        assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
        assert!(asked.elapsed() < PARTING, "{:?}", asked.elapsed());
        assert_eq!(daemon.stderr(), "");
        // A reader that has gone would be an error.
        drop(lines);
        let daemon = Daemon::start(&state, &options);
        assert_eq!(daemon.torrent()["downloaded_bytes"], received);
        daemon.terminate();
    }
}

/// The command of a download runs, and a signal ends the process.
#[test]
fn a_download_whose_output_nobody_reads_works() {
    let content = Content::with_tree_of(LEN);
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let done = folder.path().join("done");
    let exec = format!("touch {}", text(&done));
    let options = ["--seed", "--exec", &exec];
    let mut command = get_command(&[&torrent], folder.path(), Some(&seed), &options);
    command.env("XDG_STATE_HOME", folder.path().join("state"));
    let get = unread(&mut command);
    wait_for(|| done.exists());
    let (code, stderr) = terminated(get);
    assert_eq!((code, &*stderr), (Some(0), ""));
    content.assert_same("tree", folder.path());
}

/// A reader that is late does not look like a client that stands still.
#[test]
fn a_reader_may_be_later_than_libtorrent() {
    let content = Content::with_tree_of(2 * LEN);
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    // Each line has the path, so that the lines exceed what waits for a reader (256 KiB) by far.
    let long = folder.path().join(vec!["n".repeat(250); 14].join("/"));
    fs::create_dir_all(&long).unwrap();
    let torrent = {
        let to = long.join("tree.torrent");
        fs::copy(&torrent, &to).unwrap();
        to
    };
    let done = folder.path().join("done");
    let exec = format!("touch {}", text(&done));
    let mut command = get_command(&[&torrent], folder.path(), Some(&seed), &["--exec", &exec]);
    command.env("XDG_STATE_HOME", folder.path().join("state"));
    command.env("HASHLANE_TEST_PATIENCE_SECONDS", "1");
    let mut get = unread(&mut command);
    wait_for(|| done.exists());
    // The client ends in less than a second, and would be given up after another one.
    thread::sleep(Duration::from_secs(4));
    let lines = BufReader::new(get.0.stdout.take().unwrap()).lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let pieces = lines.filter(|line| line["type"] == "piece").count();
    assert_eq!(
        pieces as u64,
        content.len_of("tree").div_ceil(content.piece_len())
    );
    let stderr = std::io::read_to_string(get.0.stderr.take().unwrap()).unwrap();
    assert_eq!((get.0.wait().unwrap().code(), &*stderr), (Some(0), ""));
}

/// A signal ends a seed whose torrents have more lines than the pipe takes.
#[test]
fn a_seed_whose_output_nobody_reads_ends() {
    let content = Content::with_tree_of(100_000);
    let torrents: Vec<_> = (0..60).map(|_| content.path().join("no.torrent")).collect();
    let tree = content.torrent("tree", "v1");
    let mut torrents: Vec<&Path> = torrents.iter().map(AsRef::as_ref).collect();
    torrents.push(&tree);
    let mut command = seed_command(&torrents, content.path(), &["--port", "0"]);
    let seed = unread(&mut command);
    // The pipe is full.
    wait_for(|| rustix::io::ioctl_fionread(seed.0.stdout.as_ref().unwrap()).unwrap() > 3500);
    let (code, stderr) = terminated(seed);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(!stderr.contains("does not respond"), "{stderr}");
}
