//! Ctrl-C.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::fixture::Fixture;

/// A torrent that takes a second to verify and little room on the disk: its files are links to
/// one of them.
fn large() -> Fixture {
    let bytes: Vec<u8> = (0_u32..1 << 22)
        .flat_map(|i| i.wrapping_mul(0x9e37_79b9).to_le_bytes())
        .collect();
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

#[test]
fn ctrl_c_ends_it_with_what_is_known() {
    let fixture = large();
    let mut child = fixture
        .verify()
        .args(["--threads", "1", "--json"])
        .env("HASHLANE_BACKEND", "portable")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let pid = child.id().to_string();
    let asked = Instant::now();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let output = loop {
        if child.try_wait().unwrap().is_some() {
            break child.wait_with_output().unwrap();
        }
        // Read while it writes, or it waits for us.
        assert!(asked.elapsed() < Duration::from_secs(30), "it does not end");
        std::thread::sleep(Duration::from_millis(1));
    };
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
