//! Processes that may start few threads.

use super::peers::{Content, Peer, ended, get_command, preloaded, seed_command};
use super::servers::WebServer;

/// Too few threads are an error, and not a process that waits forever.
#[test]
fn too_few_threads_are_an_error() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let folder = tempfile::tempdir().unwrap();
    let library = preloaded("threads", folder.path());
    let start = |n_threads: u32| {
        let mut command = seed_command(&[&torrent], content.path(), &["--seed-time", "1s"]);
        command.env("LD_PRELOAD", &library);
        ended(command.env("HASHLANE_TEST_THREADS", n_threads.to_string()))
    };
    for n_threads in 0..=10 {
        let ended = start(n_threads);
        // Verification needs no thread of its own.
        if n_threads <= 8 || ended.code != Some(0) {
            ended.assert_failed("cannot start");
        }
    }
    let ended = start(64);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

/// A URL that needs one more thread than there are fails on its own, and the end of a session without a thread is no panic.
#[test]
fn too_few_threads_for_a_url_are_an_error() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let server = WebServer::of(content.path());
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let library = preloaded("threads", folder.path());
    let url = server.url("file.bin.v1.torrent");
    let host = url.split('/').nth(2).unwrap();
    let start = |n_threads: u32| {
        let folder = tempfile::tempdir().unwrap();
        let mut command = get_command(&[url.as_ref()], folder.path(), Some(&seed), &[]);
        command.env("LD_PRELOAD", &library);
        ended(command.env("HASHLANE_TEST_THREADS", n_threads.to_string()))
    };
    let refused = (10..64).map(start).find(|ended| {
        ended.assert_failed("cannot start a thread");
        // The HTTP client panics if it cannot start a thread. That panic is caught, and is an error of the torrent.
        let is_of_client = ended.stderr.contains("thread 'fetch'");
        assert!(
            is_of_client || !ended.stderr.contains("panicked"),
            "{ended:?}"
        );
        ended
            .stderr
            .contains(&format!("torrent of {host}: cannot start a thread"))
    });
    assert!(refused.is_some());
    assert_eq!(start(64).code, Some(0));
}

/// The system can refuse any one thread, although the session has checked that it gets its threads.
#[test]
fn one_refused_thread_is_an_error() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let server = WebServer::of(content.path());
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let library = preloaded("threads", folder.path());
    let url = server.url("file.bin.v1.torrent");
    let start = |refused: u32| {
        let folder = tempfile::tempdir().unwrap();
        let mut command = get_command(&[url.as_ref()], folder.path(), Some(&seed), &[]);
        command.env("LD_PRELOAD", &library);
        command.env("HASHLANE_TEST_THREADS", "64");
        command.env("HASHLANE_TEST_REFUSED_THREAD", refused.to_string());
        ended(&mut command)
    };
    // The first is the thread for Ctrl-C, without which the program continues.
    let first = start(1);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(first.stderr.contains("warning: Ctrl-C"), "{first:?}");
    // Two threads that print, six that check the limit, then four for the disk.
    for refused in 2..=13 {
        start(refused).assert_failed("cannot start");
    }
    let ended: Vec<_> = (14..64)
        .map(start)
        .take_while(|ended| ended.code == Some(2))
        .collect();
    // libtorrent's own thread, those of the client, and the two that fetch.
    assert!(ended.len() >= 6, "{ended:?}");
    let (libtorrent, rest) = ended.split_first().unwrap();
    libtorrent.assert_failed("Resource temporarily unavailable");
    for ended in rest {
        ended.assert_failed("cannot start a thread");
        // An error that contains its cause must not name it as its source too.
        let n_reasons = ended.stderr.matches("os error 11").count();
        assert!(n_reasons <= 1, "{ended:?}");
    }
}
