//! Processes with limits that are too low for libtorrent.

use std::process::Command;

/// The error names the limit at once, and blames no web seed.
#[test]
fn a_limit_that_is_too_low_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (limit, message) in [
        (
            "-v 200000",
            "the limit of 195 MiB on memory (`ulimit -v`) is too low: libtorrent needs 512 MiB",
        ),
        (
            "-s 64",
            "the limit of 64 KiB on stacks (`ulimit -s`) is too low: libtorrent needs 256 KiB",
        ),
    ] {
        for args in [&["get", "a.torrent"][..], &["seed", "a.torrent"]] {
            let script = format!("ulimit {limit} && exec \"$@\"");
            let ended = Command::new("sh")
                .args(["-c", &script, "sh"])
                .arg(env!("CARGO_BIN_EXE_hashlane-net"))
                .args(args)
                .current_dir(folder.path())
                .output()
                .unwrap();
            let stderr = String::from_utf8(ended.stderr).unwrap();
            assert_eq!(stderr, format!("hashlane: {message}\n"), "{args:?}");
            assert_eq!(ended.status.code(), Some(2));
        }
    }
}
