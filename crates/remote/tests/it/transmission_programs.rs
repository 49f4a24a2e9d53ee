//! Transmission RPC by Debian's `transmission-remote`.

use std::io::{self, Write as _};
use std::process::Command;

use hashlane_remote::model::{Change, Goal, Priority};
use hashlane_remote::{Listen, Login};
use serde_json::json;

use crate::transmission::{Served, listen, metainfo};

/// The trackers of the first torrent.
const FIRST: &str = "http://tracker.example.com:80/announce?passkey=1";
const SECOND: &str = "udp://192.0.2.1:6969";

/// Returns the change to these trackers, each in a tier of its own.
fn trackers(urls: &[&str]) -> Change {
    Change::Trackers(urls.iter().map(|url| vec![(*url).to_owned()]).collect())
}

/// Runs `transmission-remote` with these arguments, and returns what it prints.
fn remote(served: &Served, args: &[&str]) -> String {
    let mut command = Command::new("transmission-remote");
    command
        .arg(served.server.endpoint().address().unwrap().to_string())
        .args(["-n", "user:password"])
        .args(args);
    let output = command.env("LC_ALL", "C.UTF-8").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && errors.is_empty(),
        "{args:?}: {text}{errors}"
    );
    text
}

/// Runs it, and checks that the server reported success for every request.
fn done(served: &Served, args: &[&str]) {
    let printed = remote(served, args);
    assert!(
        printed.contains("responded: \"success\""),
        "{args:?}: {printed}"
    );
}

fn served() -> Option<Served> {
    let is_required = std::env::var_os("HASHLANE_TEST_REQUIRE_TRANSMISSION_REMOTE").is_some();
    if !is_required
        && Command::new("transmission-remote")
            .arg("--version")
            .output()
            .is_err()
    {
        let _ = writeln!(io::stderr(), "NOT RUN: transmission-remote is missing");
        return None;
    }
    let login = Some(Login::new("user", "password").unwrap());
    let listen = Listen { login, ..listen() };
    Some(Served::with_password(listen, "user:password"))
}

#[test]
fn transmission_remote_shows_everything() {
    let Some(served) = served() else { return };
    let folder = tempfile::tempdir().unwrap();
    let torrent = folder.path().join("a.torrent");
    std::fs::write(&torrent, metainfo()).unwrap();
    done(&served, &["-a", torrent.to_str().unwrap()]);
    let all = remote(&served, &["-l"]);
    assert!(
        all.contains("union-addresses") && all.contains("50%"),
        "{all}"
    );
    let info = remote(&served, &["-t1", "-i"]);
    for line in [
        "Name: union-addresses",
        "State: Downloading",
        "Percent Done: 50.0%",
        "Location: /downloads",
        "Comment: a comment",
    ] {
        assert!(info.contains(line), "{line}: {info}");
    }
    assert!(remote(&served, &["-t1", "-f"]).contains("union-addresses (1 files)"));
    let trackers = remote(&served, &["-t1", "-it"]);
    assert!(
        trackers.contains("Tracker 0: tracker.example.com:80"),
        "{trackers}"
    );
    assert!(remote(&served, &["-t1", "-ip"]).contains("192.0.2.7"));
    assert!(remote(&served, &["-t1", "-ic"]).contains("11111000 00"));
    assert!(remote(&served, &["-si"]).contains("Daemon version: 4.0.6 (hashlane 1.2.3)"));
    assert!(remote(&served, &["-st"]).contains("Started 2 times"));
}

#[test]
fn transmission_remote_changes_everything() {
    let Some(served) = served() else { return };
    let folder = tempfile::tempdir().unwrap();
    let torrent = folder.path().join("a.torrent");
    std::fs::write(&torrent, metainfo()).unwrap();
    done(
        &served,
        &[
            "-w",
            "/other",
            "--start-paused",
            "-a",
            torrent.to_str().unwrap(),
        ],
    );
    let select = |priority| Change::Select {
        files: vec![0],
        priority,
    };
    for (args, expected) in [
        (&["-s"][..], Change::Start { now: false }),
        (&["-S"], Change::Stop),
        (&["-v"], Change::Verify),
        (&["--reannounce"], Change::Announce),
        (
            &["-L", "one,two"],
            Change::Labels(vec!["one".into(), "two".into()]),
        ),
        (
            &["--move", "/new"],
            Change::Folder {
                folder: "/new".into(),
                is_moved: true,
            },
        ),
        (
            &["--find", "/found"],
            Change::Folder {
                folder: "/found".into(),
                is_moved: false,
            },
        ),
        (&["-G", "0"], select(None)),
        (&["-g", "0"], select(Some(Priority::Normal))),
        (&["-ph", "0"], select(Some(Priority::High))),
        (&["-pl", "0"], select(Some(Priority::Low))),
        (
            &["-td", "http://t.example/announce"],
            trackers(&[FIRST, SECOND, "http://t.example/announce"]),
        ),
        (
            &["-tr", "0"],
            trackers(&[SECOND, "http://t.example/announce"]),
        ),
    ] {
        let mut all = vec!["-t1"];
        all.extend(args);
        done(&served, &all);
        assert_eq!(served.client.changes(), [(1, expected)], "{args:?}");
    }
    let limits = |args: &[&str]| {
        let mut all = vec!["-t1"];
        all.extend(args);
        done(&served, &all);
        match &served.client.changes()[..] {
            [(1, Change::Limits(limits))] => limits.clone(),
            other => panic!("{args:?}: {other:?}"),
        }
    };
    assert_eq!(limits(&["-d", "100"]).max_down, Some(100_000));
    assert_eq!(limits(&["-D"]).max_down, None);
    assert_eq!(limits(&["-u", "50"]).max_up, Some(50_000));
    assert_eq!(limits(&["-U"]).max_up, None);
    assert_eq!(limits(&["-sr", "1.5"]).ratio, Goal::At(1.5));
    assert_eq!(limits(&["-SR"]).ratio, Goal::Never);
    assert_eq!(limits(&["-srd"]).ratio, Goal::OfClient);
    for (args, name, expected) in [
        (&["-d", "900"][..], "speed-limit-down", json!(900)),
        (&["-D"], "speed-limit-down-enabled", json!(false)),
        (&["-gsr", "3"], "seedRatioLimit", json!(3.0)),
        (&["-GSR"], "seedRatioLimited", json!(false)),
        (&["-w", "/downloads2"], "download-dir", json!("/downloads2")),
        (&["-p", "6999"], "peer-port", json!(6999)),
    ] {
        done(&served, args);
        let now = served.done("session-get", &json!({ "fields": [name] }));
        assert_eq!(now[name], expected, "{args:?}");
    }
    // What the client does not have is refused, and the program says so.
    for args in [
        &["-O"][..],
        &["--torrent-done-script", "/bin/sh"],
        &["-er"],
        &["-as"],
        &["--exit"],
        &["-pt"],
    ] {
        let output = Command::new("transmission-remote")
            .arg(served.server.endpoint().address().unwrap().to_string())
            .args(["-n", "user:password"])
            .args(args)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(!printed.contains("\"success\""), "{args:?}: {printed}");
    }
    done(&served, &["-t1", "-rad"]);
    assert_eq!(
        served.client.changes(),
        [(1, Change::Remove { delete: true })]
    );
    assert!(!remote(&served, &["-l"]).contains("union-addresses"));
}
