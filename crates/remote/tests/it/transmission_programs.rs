//! Transmission RPC by Debian's `transmission-remote`.

use crate::client::{DELETE, patch};
use hashlane_api::{Command, Patch, Priority, Target};
use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroU32;
use std::process;

use hashlane_remote::{Listen, Login};
use serde_json::json;

use crate::not_run::is_installed;
use crate::transmission::{Served, listen, metainfo};

/// The trackers of the first torrent.
const FIRST: &str = "http://tracker.example.com:80/announce?passkey=1";
const SECOND: &str = "udp://192.0.2.1:6969";

/// Returns the change to these trackers, each in a tier of its own.
fn trackers(urls: &[&str]) -> Command {
    Command::SetTrackers {
        trackers: urls.iter().map(|url| vec![(*url).to_owned()]).collect(),
    }
}

/// Runs `transmission-remote` with these arguments, and returns what it prints.
fn remote(served: &Served, args: &[&str]) -> String {
    let mut command = process::Command::new("transmission-remote");
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
    if !is_installed(
        "TRANSMISSION_REMOTE",
        "transmission-remote",
        "transmission-cli",
    ) {
        return None;
    }
    let login = Some(Login::new("user", "password").unwrap().into());
    let listen = Listen { login, ..listen() };
    Some(Served::with_password(listen, "user:password"))
}

#[test]
fn transmission_remote_shows_everything() {
    let Some(served) = served() else { return };
    let folder = tempfile::tempdir().unwrap();
    let torrent = folder.path().join("a.torrent");
    fs::write(&torrent, metainfo()).unwrap();
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
    fs::write(&torrent, metainfo()).unwrap();
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
    let select = |priority| Command::Prioritize {
        files: vec![0],
        priority,
    };
    for (args, expected) in [
        (&["-s"][..], Command::Resume { now: false }),
        (&["-S"], Command::Pause),
        (&["-v"], Command::Verify),
        (&["--reannounce"], Command::Reannounce),
        (
            &["-L", "one,two"],
            patch(Patch {
                labels: Some(["one".into(), "two".into()].into()),
                ..Patch::default()
            }),
        ),
        (
            &["--move", "/new"],
            Command::Relocate {
                folder: "/new".into(),
            },
        ),
        (
            &["--find", "/found"],
            Command::Place {
                folder: "/found".into(),
            },
        ),
        (&["-G", "0"], select(Priority::Skip)),
        (&["-g", "0"], select(Priority::Normal)),
        (&["-ph", "0"], select(Priority::High)),
        (&["-pl", "0"], select(Priority::Low)),
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
            [(1, Command::Set(limits))] => limits.clone(),
            other => panic!("{args:?}: {other:?}"),
        }
    };
    assert_eq!(
        limits(&["-d", "100"]).max_down,
        Some(NonZeroU32::new(100_000))
    );
    assert_eq!(limits(&["-D"]).max_down, Some(None));
    assert_eq!(limits(&["-u", "50"]).max_up, Some(NonZeroU32::new(50_000)));
    assert_eq!(limits(&["-U"]).max_up, Some(None));
    assert_eq!(limits(&["-sr", "1.5"]).ratio, Some(Target::At(1.5)));
    assert_eq!(limits(&["-SR"]).ratio, Some(Target::Never));
    assert_eq!(limits(&["-srd"]).ratio, Some(Target::Inherited));
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
    done(&served, &["-t1", "-rad"]);
    assert_eq!(served.client.changes(), [(1, DELETE)]);
    assert!(!remote(&served, &["-l"]).contains("union-addresses"));
}

/// What an option does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// The server does it, and says so.
    Done,
    /// The server refuses it, because the client does not have the setting.
    Refused,
    /// It concerns the program itself: the connection, or what is printed.
    Local,
}

/// Every option of the program, with arguments, and its effect. Options that need a torrent act on the first one.
const OPTIONS: &[(&str, &[&str], Effect)] = &[
    ("add", &["-a", "TORRENT"], Effect::Done),
    ("alt-speed", &["-as"], Effect::Done),
    ("no-alt-speed", &["-AS"], Effect::Done),
    ("alt-speed-downlimit", &["-asd", "7"], Effect::Done),
    ("alt-speed-uplimit", &["-asu", "7"], Effect::Done),
    ("alt-speed-scheduler", &["-asc"], Effect::Refused),
    ("no-alt-speed-scheduler", &["-ASC"], Effect::Done),
    (
        "alt-speed-time-begin",
        &["--alt-speed-time-begin", "0100"],
        Effect::Refused,
    ),
    (
        "alt-speed-time-end",
        &["--alt-speed-time-end", "0200"],
        Effect::Refused,
    ),
    (
        "alt-speed-days",
        &["--alt-speed-days", "1"],
        Effect::Refused,
    ),
    ("blocklist-update", &["--blocklist-update"], Effect::Refused),
    ("incomplete-dir", &["-c", "/incomplete"], Effect::Refused),
    ("no-incomplete-dir", &["-C"], Effect::Done),
    ("debug", &["-b", "-l"], Effect::Local),
    ("downlimit", &["-d", "100"], Effect::Done),
    ("no-downlimit", &["-D"], Effect::Done),
    ("cache", &["-e", "8"], Effect::Refused),
    ("encryption-required", &["-er"], Effect::Refused),
    ("encryption-preferred", &["-ep"], Effect::Done),
    ("encryption-tolerated", &["-et"], Effect::Refused),
    ("exit", &["--exit"], Effect::Refused),
    ("files", &["-t1", "-f"], Effect::Local),
    ("get", &["-t1", "-g", "0"], Effect::Done),
    ("no-get", &["-t1", "-G", "0"], Effect::Done),
    ("help", &["-h"], Effect::Local),
    ("info", &["-t1", "-i"], Effect::Local),
    ("info-files", &["-t1", "-if"], Effect::Local),
    ("info-peers", &["-t1", "-ip"], Effect::Local),
    ("info-pieces", &["-t1", "-ic"], Effect::Local),
    ("info-trackers", &["-t1", "-it"], Effect::Local),
    ("session-info", &["-si"], Effect::Local),
    ("session-stats", &["-st"], Effect::Local),
    ("list", &["-l"], Effect::Local),
    ("labels", &["-t1", "-L", "one"], Effect::Done),
    ("move", &["-t1", "--move", "/new"], Effect::Done),
    ("find", &["-t1", "--find", "/new"], Effect::Done),
    ("portmap", &["-m"], Effect::Refused),
    ("no-portmap", &["-M"], Effect::Done),
    ("auth", &["-n", "user:password", "-l"], Effect::Local),
    ("authenv", &["-ne", "-l"], Effect::Local),
    ("netrc", &["-N", "NETRC", "-l"], Effect::Local),
    // The protocol has no TLS of its own, so that the program finds no server.
    ("ssl", &["--ssl", "-l"], Effect::Local),
    ("dht", &["-o"], Effect::Done),
    ("no-dht", &["-O"], Effect::Refused),
    ("port", &["-p", "6999"], Effect::Done),
    ("port-test", &["-pt"], Effect::Refused),
    ("random-port", &["-P"], Effect::Refused),
    ("priority-high", &["-t1", "-ph", "0"], Effect::Done),
    ("priority-normal", &["-t1", "-pn", "0"], Effect::Done),
    ("priority-low", &["-t1", "-pl", "0"], Effect::Done),
    ("bandwidth-high", &["-t1", "-Bh"], Effect::Refused),
    ("bandwidth-normal", &["-t1", "-Bn"], Effect::Done),
    ("bandwidth-low", &["-t1", "-Bl"], Effect::Refused),
    ("reannounce", &["-t1", "--reannounce"], Effect::Done),
    ("remove", &["-t2", "-r"], Effect::Done),
    ("peers", &["-pr", "7"], Effect::Refused),
    ("remove-and-delete", &["-t2", "-rad"], Effect::Done),
    (
        "torrent-done-script",
        &["--torrent-done-script", "/bin/sh"],
        Effect::Refused,
    ),
    (
        "no-torrent-done-script",
        &["--no-torrent-done-script"],
        Effect::Done,
    ),
    ("seedratio", &["-t1", "-sr", "1.5"], Effect::Done),
    ("seedratio-default", &["-t1", "-srd"], Effect::Done),
    ("no-seedratio", &["-t1", "-SR"], Effect::Done),
    ("global-seedratio", &["-gsr", "3"], Effect::Done),
    ("no-global-seedratio", &["-GSR"], Effect::Done),
    (
        "tracker-add",
        &["-t1", "-td", "http://t.example/announce"],
        Effect::Done,
    ),
    ("tracker-remove", &["-t1", "-tr", "0"], Effect::Done),
    ("start", &["-t1", "-s"], Effect::Done),
    ("stop", &["-t1", "-S"], Effect::Done),
    ("torrent", &["-t1", "-i"], Effect::Local),
    ("start-paused", &["--start-paused"], Effect::Done),
    ("no-start-paused", &["--no-start-paused"], Effect::Done),
    ("trash-torrent", &["--trash-torrent"], Effect::Refused),
    ("no-trash-torrent", &["--no-trash-torrent"], Effect::Done),
    ("honor-session", &["-t1", "-hl"], Effect::Done),
    ("no-honor-session", &["-t1", "-HL"], Effect::Refused),
    ("uplimit", &["-u", "50"], Effect::Done),
    ("no-uplimit", &["-U"], Effect::Done),
    ("utp", &["--utp"], Effect::Done),
    ("no-utp", &["--no-utp"], Effect::Refused),
    ("verify", &["-t1", "-v"], Effect::Done),
    ("version", &["-V"], Effect::Local),
    ("download-dir", &["-w", "/downloads2"], Effect::Done),
    ("pex", &["-x"], Effect::Done),
    ("no-pex", &["-X"], Effect::Refused),
    ("lpd", &["-y"], Effect::Refused),
    ("no-lpd", &["-Y"], Effect::Done),
    ("peer-info", &["-t1", "-pi"], Effect::Local),
];

/// Returns the long names of the options in the program's help.
fn options_in_help() -> BTreeSet<String> {
    let output = process::Command::new("transmission-remote")
        .arg("--help")
        .output()
        .unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let names = text.lines().filter_map(|line| {
        let (start, rest) = line.split_once("--")?;
        // Descriptions start further to the right.
        (start.len() < 10).then(|| {
            rest.split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned()
        })
    });
    names.collect()
}

/// No option of the program is forgotten: each one has the effect of the table.
#[test]
fn every_option_of_transmission_remote_has_its_effect() {
    let Some(served) = served() else { return };
    let folder = tempfile::tempdir().unwrap();
    let torrent = folder.path().join("a.torrent");
    fs::write(&torrent, metainfo()).unwrap();
    let netrc = folder.path().join("netrc");
    fs::write(&netrc, "machine 127.0.0.1 login user password password\n").unwrap();
    let names: BTreeSet<String> = OPTIONS.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(names, options_in_help());
    done(&served, &["-a", torrent.to_str().unwrap()]);
    let mut wrong = Vec::new();
    for (name, args, expected) in OPTIONS {
        let args = args.iter().map(|arg| match *arg {
            "TORRENT" => torrent.to_str().unwrap(),
            "NETRC" => netrc.to_str().unwrap(),
            arg => arg,
        });
        let mut command = process::Command::new("transmission-remote");
        command.arg(served.server.endpoint().address().unwrap().to_string());
        let has_login = ["auth", "authenv", "netrc"].contains(name);
        command.args(["-n", "user:password"].into_iter().filter(|_| !has_login));
        command
            .env("TR_AUTH", "user:password")
            .env("LC_ALL", "C.UTF-8");
        let output = command.args(args).output().unwrap();
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let found = if printed.contains("responded: \"success\"") {
            Effect::Done
        } else if printed.contains("responded: ") || printed.contains("Error: ") {
            Effect::Refused
        } else {
            Effect::Local
        };
        if found != *expected {
            wrong.push(format!("{name}: {found:?}: {printed}"));
        }
        // The program without TLS prints why it fails, and its log of the connection has the first answer.
        if *expected == Effect::Local && !["ssl", "debug"].contains(name) {
            assert!(
                !printed.contains("401") && !printed.is_empty(),
                "{name}: {printed}"
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
