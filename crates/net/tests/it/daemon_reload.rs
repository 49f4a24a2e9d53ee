//! `hashlane daemon` reads its configuration again while it runs.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::daemon::{Daemon, daemon_command, folder};
use super::foreign::free_port;
use super::peers::Content;
use crate::wait_for;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns a folder that ends with the test, the state folder, and the file of the configuration.
fn places() -> (super::daemon::Place, PathBuf, PathBuf) {
    let (place, state) = folder();
    let config = place.path().join("config.toml");
    (place, state, config)
}

fn status(daemon: &Daemon) -> Value {
    daemon.done(["status"]).remove(0)
}

/// Returns the options that need a restart.
#[track_caller]
fn reload(daemon: &Daemon) -> Value {
    let lines = daemon.done(["reload"]);
    assert_eq!(lines[0]["type"], "reloaded", "{lines:?}");
    lines[0]["restart"].clone()
}

#[test]
fn a_reload_changes_what_can_change() {
    let content = Content::new();
    let (place, state, config) = places();
    let downloads = place.path().join("downloads");
    let watched = place.path().join("watched");
    fs::create_dir(&watched).unwrap();
    fs::write(&config, "[network]\nmax-up = \"1MiB\"\n").unwrap();
    let options = ["--dir", text(&downloads), "--config", text(&config)];
    let daemon = Daemon::start(&state, &options);
    wait_for(|| status(&daemon)["max_up"] == 1 << 20);
    let log = place.path().join("log");
    let new = format!(
        "[daemon]\nmax-active-downloads = 1\nseed-ratio = 3.5\nwatch-dir = \"{}\"\ntransmission = \"127.0.0.1:1\"\n\
         [network]\nmax-up = \"2MiB\"\nmax-down = 1000\nno-dht = false\nmax-peers = 7\n\
         [categories.tv]\ndir = \"/srv/tv\"\n\
         [labels.kept]\nseed-time = \"90s\"\n\
         [schedule.always]\nmax-down = 500\n\
         [hooks]\nadded = \"echo $HASHLANE_NAME >> {}\"\n",
        watched.display(),
        log.display()
    );
    fs::write(&config, new).unwrap();
    assert_eq!(reload(&daemon), json!(["max-peers", "transmission"]));
    wait_for(|| {
        let status = status(&daemon);
        (&status["max_up"], &status["max_down"]) == (&json!(2 << 20), &json!(500))
    });
    let groups = daemon.done(["category", "list"]);
    assert_eq!(groups[0]["categories"][0]["folder"], "/srv/tv");
    let torrents = ["tree", "file.bin"].map(|name| content.torrent(name, "v1"));
    daemon.done(["add", text(&torrents[0]), "--label", "kept"]);
    // The watched folder and the hook.
    fs::copy(&torrents[1], watched.join("file.torrent")).unwrap();
    wait_for(|| fs::read_to_string(&log).is_ok_and(|log| log.lines().count() == 2));
    wait_for(|| {
        let list = daemon.done(["list"]);
        let activities: Vec<_> = list.iter().map(|torrent| &torrent["activity"]).collect();
        activities == ["downloading", "queued"]
    });
    let list = daemon.done(["list"]);
    assert_eq!(
        (&list[0]["seed_seconds"], &list[0]["seed_ratio"]),
        (&json!(90), &json!(3.5))
    );

    // SIGHUP does the same: without the tables, their effects end. A limit of free space holds the downloads.
    fs::write(&config, "[daemon]\nmin-free = \"1000TiB\"\n").unwrap();
    daemon.signal("HUP");
    wait_for(|| {
        let status = status(&daemon);
        status["max_up"].is_null() && status["max_down"].is_null()
    });
    wait_for(|| {
        let list = daemon.done(["list"]);
        let held = |torrent: &Value| {
            let error = torrent["error"].as_str();
            error.is_some_and(|error| error.contains("(--min-free)"))
        };
        list.iter().all(held)
    });
    assert_eq!(
        daemon.done(["category", "list"])[0]["categories"],
        json!([])
    );
    daemon.done(["remove", "--all"]);
    daemon.done(["add", text(&torrents[0]), "--paused"]);
    assert_eq!(daemon.torrent()["seed_ratio"], json!(null));
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 2);
    assert_eq!(daemon.stderr(), "");
    daemon.terminate();
}

/// An invalid file changes nothing, and is reported with the line.
#[test]
fn an_invalid_configuration_changes_nothing() {
    let (_place, state, config) = places();
    fs::write(&config, "[network]\nmax-up = 1000\n").unwrap();
    let daemon = Daemon::start(&state, &["--config", text(&config)]);
    wait_for(|| status(&daemon)["max_up"] == 1000);
    let changed = "[network]\nmax-up = 2000\n\n";
    for (rest, reason) in [
        (
            "[daemon]\nmin-fre = 1",
            "line 5: unknown key `min-fre` in [daemon]; did you mean `min-free`?",
        ),
        (
            "[daemon]\nmin-free = \"x\"",
            "line 5: min-free: invalid value",
        ),
        (
            "[schedule.a]\nfrom = \"8\"",
            "line 5: from: invalid value `8`",
        ),
        ("[daemon", "line 4, column 8: "),
    ] {
        fs::write(&config, format!("{changed}{rest}\n")).unwrap();
        let expected = format!("{}: {reason}", config.display());
        daemon.ctl(["reload"]).assert_failed(&expected);
        daemon.signal("HUP");
        let reported = format!("hashlane: not reloaded: {expected}");
        wait_for(|| daemon.stderr().contains(&reported));
        assert_eq!(status(&daemon)["max_up"], 1000, "{rest}");
    }
    fs::remove_file(&config).unwrap();
    daemon.ctl(["reload"]).assert_failed("No such file");
    // A change that needs a restart is named.
    let restart = format!("{changed}[daemon]\ntransmission = \"127.0.0.1:1\"\n");
    fs::write(&config, restart).unwrap();
    daemon.signal("HUP");
    let warning = "warning: reloaded, but these changes need a restart: transmission";
    wait_for(|| daemon.stderr().contains(warning));
    wait_for(|| status(&daemon)["max_up"] == 2000);
    daemon.terminate();
}

#[test]
fn the_port_changes_while_the_daemon_runs() {
    let (_place, state, config) = places();
    let configure = |port: u16, max_up: u32| {
        let network = format!("port = {port}\nbind = \"127.0.0.1\"\nmax-up = {max_up}");
        let rest = "transport = \"tcp\"\nno-dht = true\nno-discovery = true";
        fs::write(&config, format!("[network]\n{network}\n{rest}\n")).unwrap();
    };
    let is_open = |port: u16| TcpStream::connect(("127.0.0.1", port)).is_ok();
    configure(0, 1000);
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    command.args(["daemon", "--state-dir"]).arg(&state);
    command.arg("--config").arg(&config);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let daemon = Daemon::of(&state, command);
    let port = free_port();
    configure(port, 2000);
    assert_eq!(reload(&daemon), json!([]));
    wait_for(|| is_open(port));
    wait_for(|| status(&daemon)["max_up"] == 2000);
    // A port that is taken changes nothing.
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let taken = listener.local_addr().unwrap().port();
    configure(taken, 3000);
    daemon
        .ctl(["reload"])
        .assert_failed(&format!("port {taken}: Address already in use"));
    drop(listener);
    assert_eq!(status(&daemon)["max_up"], 2000);
    assert!(is_open(port));
    // An interface needs a restart.
    let interface =
        "[network]\nbind = \"lo\"\ntransport = \"tcp\"\nno-dht = true\nno-discovery = true\n";
    fs::write(&config, format!("{interface}port = {port}\n")).unwrap();
    assert_eq!(reload(&daemon), json!(["bind"]));
    assert!(is_open(port));
    daemon.terminate();
}

/// Options of the command line win over the files, as at the start.
#[test]
fn the_command_line_wins_over_a_file_that_changes() {
    let (_place, state, config) = places();
    fs::write(&config, "").unwrap();
    let mut command = daemon_command(&state, &["--config", text(&config), "--max-up", "7"]);
    command.env("HASHLANE_NETWORK_MAX_DOWN", "9");
    let daemon = Daemon::of(&state, command);
    fs::write(
        &config,
        "[network]\nmax-up = 1\nmax-down = 2\n[daemon]\nstate-dir = \"other\"\n",
    )
    .unwrap();
    assert_eq!(reload(&daemon), json!([]));
    let status = status(&daemon);
    assert_eq!(
        (&status["max_up"], &status["max_down"]),
        (&json!(7), &json!(9))
    );
    daemon.terminate();
}
