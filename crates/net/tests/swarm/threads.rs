//! Processes that may start few threads.

use super::peers::{Content, ended, preloaded, seed_command};

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
        ended.assert_failed("cannot start");
    }
    let ended = start(64);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}
