//! Ctrl-C.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::fixture::Fixture;
use crate::random::Random;
use crate::signal::send;

/// Creates a torrent that takes a second to verify and uses little disk space: its files are links
/// to one file.
fn large() -> Fixture {
    let bytes = Random::new(1).bytes(16 << 20);
    let names: Vec<String> = (0..64).map(|i| format!("f{i:02}")).collect();
    let files: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (name.as_str(), if name == "f00" { &bytes[..] } else { b"" }))
        .collect();
    let fixture = Fixture::new("large", 1 << 18, &files);
    // The same torrent with every file as long as the first one.
    let torrent = std::fs::read(&fixture.torrent).unwrap();
    let split = torrent
        .windows(8)
        .position(|window| window == b"6:pieces")
        .unwrap();
    let hashes = &torrent[torrent.len() - 2 - 64 * 20..torrent.len() - 2];
    let mut large = torrent[..split].to_vec();
    let head = String::from_utf8(large).unwrap();
    large = head
        .replace("6:lengthi0e", &format!("6:lengthi{}e", bytes.len()))
        .into_bytes();
    large.extend(format!("6:pieces{}:", 64 * hashes.len()).bytes());
    large.extend(hashes.repeat(64));
    large.extend(b"ee");
    std::fs::write(&fixture.torrent, large).unwrap();
    for name in &names[1..] {
        let path = fixture.path("large").join(name);
        std::fs::remove_file(&path).unwrap();
        symlink(fixture.path("large/f00"), path).unwrap();
    }
    fixture
}

/// Sends the signal of Ctrl-C, and waits for the process to end.
pub(crate) fn interrupt(mut child: Child) -> Output {
    let asked = Instant::now();
    send("INT", child.id());
    while child.try_wait().unwrap().is_none() {
        assert!(asked.elapsed() < Duration::from_secs(30), "it does not end");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn ctrl_c_ends_a_verification_with_a_partial_report() {
    let fixture = large();
    let child = fixture
        .verify()
        .args(["--threads", "1", "--json"])
        .env("HASHLANE_BACKEND", "portable")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let output = interrupt(child);
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.ends_with("large.torrent: interrupted\n"), "{stderr}");
    let summary: serde_json::Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    assert_eq!(summary["cancelled"], true, "{summary}");
    let (pieces, unchecked) = (
        &summary["pieces"],
        summary["pieces"]["unchecked"].as_u64().unwrap(),
    );
    assert!(unchecked > 0, "{summary}");
    assert_eq!(
        pieces["have"].as_u64().unwrap() + unchecked,
        64 * 64,
        "{summary}"
    );
}

/// An interrupted search reports its hits. A later search continues after it and reports them too.
#[test]
fn an_interrupted_search_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    // The only hit is in the first fifth, and the whole search takes seconds.
    let text = "12ycrhos5vscwmmvjmsbzsxripedjn7wbg";
    let hit = "12YCRhos5VScWmmVjMSBZsxRipeDjn7WBG";
    let search = || {
        let mut search = Command::new(env!("CARGO_BIN_EXE_hashlane"));
        search.args(["recover", "--json", "--resume"]).arg(&state);
        search.args(["--kind", "p2pkh", text]);
        search.env("HASHLANE_BACKEND", "portable");
        search.stdout(Stdio::piped()).stderr(Stdio::piped());
        search
    };
    let n_hashes_then_hits = |lines: &str| {
        let summary: serde_json::Value = serde_json::from_str(lines.lines().last()?).ok()?;
        Some((summary["hashes"].as_u64()?, summary["hits"].clone()))
    };
    let mut child = search().spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    assert!(first.contains(hit), "{first}");
    let output = interrupt(child);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("interrupted: there can be more"),
        "{stderr}"
    );
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let (before, hits) = n_hashes_then_hits(&rest).unwrap();
    assert_eq!(hits, serde_json::json!([hit]));
    assert!(before > 0);

    let output = search().env_remove("HASHLANE_BACKEND").output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stdout}");
    let (after, hits) = n_hashes_then_hits(&stdout).unwrap();
    assert_eq!(hits, serde_json::json!([hit]));
    // The search did not restart: it repeats only work units that were running or had the hit.
    let all = 18_218_160;
    assert!(after < all, "{before} and then {after}");
    assert!(before + after > all, "{before} and then {after}");
}

/// Returns the signals of a mask in `/proc/PID/status`.
#[cfg(target_os = "linux")]
fn mask(pid: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    u64::from_str_radix(line.unwrap().trim_start_matches(':').trim(), 16).unwrap()
}

/// Waits until the process has, or can no longer have, its handlers.
#[cfg(target_os = "linux")]
fn wait_for(condition: impl Fn() -> bool) {
    let asked = Instant::now();
    while !condition() {
        assert!(
            asked.elapsed() < Duration::from_secs(30),
            "it does not happen"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// `nohup` starts programs with SIGHUP ignored.
#[cfg(target_os = "linux")]
#[test]
fn an_ignored_hangup_stays_ignored() {
    const HANGUP: u64 = 1;
    const INTERRUPT: u64 = 1 << 1;
    let fixture = large();
    for is_ignored in [true, false] {
        // The tests themselves can run under `nohup`.
        let start = if is_ignored {
            "trap '' HUP; exec \"$@\""
        } else {
            "exec env --default-signal=HUP \"$@\""
        };
        let child = Command::new("sh")
            .args(["-c", start, "sh"])
            .arg(env!("CARGO_BIN_EXE_hashlane"))
            .args(["verify", "--threads", "1", "-d"])
            .args([fixture.folder.path(), &fixture.torrent])
            .env("HASHLANE_BACKEND", "portable")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = child.id();
        // The handlers are installed one after the other.
        wait_for(|| {
            let caught = mask(pid, "SigCgt");
            if is_ignored {
                caught & INTERRUPT != 0 && mask(pid, "SigIgn") & HANGUP != 0
            } else {
                caught & HANGUP != 0
            }
        });
        send("HUP", pid);
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let code = output.status.code();
        assert_eq!(code, Some(if is_ignored { 0 } else { 2 }), "{stderr}");
        assert_eq!(stderr.contains("interrupted"), !is_ignored, "{stderr}");
    }
}

/// Without a thread that waits for Ctrl-C, the signal ends the process.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_a_process_without_threads() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::ExitStatusExt as _;
    let Some(mut limited) = crate::limits::without_threads() else {
        return;
    };
    let fixture = large();
    let public = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(fixture.folder.path(), public).unwrap();
    let mut child = limited
        .args(["verify", "--threads", "1", "-d"])
        .args([fixture.folder.path(), &fixture.torrent])
        .env("HASHLANE_BACKEND", "portable")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut warning = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut warning).unwrap();
    assert!(warning.contains("Ctrl-C will end the program"), "{warning}");
    let output = interrupt(child);
    assert_eq!(output.status.signal(), Some(2), "{output:?}");
}
