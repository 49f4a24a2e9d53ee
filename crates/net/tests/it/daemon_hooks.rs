//! Hooks and watched folders of `hashlane daemon`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::daemon::{Daemon, daemon_command, folder};
use super::daemon_names::Served;
use super::peers::{Content, Peer, ended};
use super::tracker::Tracker;
use crate::wait_for;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the lines of a file, which hooks make.
fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn hooks_run_with_the_torrent_in_the_environment() {
    let content = Content::new();
    // The shell must not run the names of torrents.
    let name = "$(touch pwned) `touch pwned`";
    fs::copy(content.path().join("file.bin"), content.path().join(name)).unwrap();
    let torrent = Content::torrent_of(&content.path().join(name), "v1", &[]);
    let (place, state) = folder();
    let log = place.path().join("log");
    let config = place.path().join("config.toml");
    let variables = "\"$HASHLANE_EVENT\" \"$HASHLANE_INFO_HASH\" \"$HASHLANE_NAME\" \"$HASHLANE_FOLDER\" \
                     \"$HASHLANE_CATEGORY\" $HASHLANE_LABELS";
    // One write, because two commands run at once.
    let hook = format!(
        "'''printf '%s|%s|%s|%s|%s|%s|%s\\n' {variables} >> {}'''",
        log.display()
    );
    let hooks = format!(
        "[hooks]\nadded = {hook}\ncomplete = {hook}\ncomplete-present = true\nremoved = {hook}\n[categories.tv]\n"
    );
    fs::write(&config, &hooks).unwrap();
    let options = ["--dir", text(content.path()), "--config", text(&config)];
    let mut command = daemon_command(&state, &options);
    command.current_dir(place.path());
    let daemon = Daemon::of(&state, command);
    let added = daemon.done([
        "add",
        text(&torrent),
        "--category",
        "tv",
        "--label",
        "a",
        "--label",
        "b",
    ]);
    daemon.wait_for_activity("serving");
    wait_for(|| lines(&log).len() == 2);
    wait_for(|| {
        let totals = fs::read_to_string(state.join("totals.toml"));
        totals.is_ok_and(|totals| totals.contains("completed = "))
    });
    daemon.kill();
    // A torrent that was complete before does not run its hook again.
    let daemon = Daemon::start(&state, &options);
    daemon.wait_for_activity("serving");
    daemon.done(["remove", "--all"]);
    wait_for(|| lines(&log).len() == 3);
    let hash = added[0]["info_hash"].as_str().unwrap();
    let mut expected = ["added", "complete", "removed"]
        .map(|event| format!("{event}|{hash}|{name}|{}|tv|a|b", text(content.path())));
    let mut found = lines(&log);
    // Two commands run at once.
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert!(!place.path().join("pwned").exists());
    assert_eq!(daemon.stderr(), "");
}

/// An unpack hook must not unpack again what another program had downloaded.
#[test]
fn content_that_was_complete_is_no_news() {
    let content = Content::new();
    let tracker = Tracker::start();
    let new = content.torrent_with("tree", "v1", &["--announce", &tracker.url()]);
    let _seed = Peer::seed(&[&new], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let present = content.torrent("file.bin", "v1");
    let (place, state) = folder();
    let log = place.path().join("log");
    let config = place.path().join("config.toml");
    let hook = format!(
        "[hooks]\ncomplete = '''printf '%s\\n' \"$HASHLANE_NAME\" >> {}'''\n",
        log.display()
    );
    fs::write(&config, hook).unwrap();
    fs::copy(
        content.path().join("file.bin"),
        place.path().join("file.bin"),
    )
    .unwrap();
    let options = ["--dir", text(place.path()), "--config", text(&config)];
    let daemon = Daemon::start(&state, &options);
    daemon.done(["add", text(&present)]);
    daemon.wait_until("complete", |torrent| torrent["completed_at"].is_u64());
    daemon.done(["add", text(&new)]);
    wait_for(|| !lines(&log).is_empty());
    // Neither is a start of the daemon.
    daemon.terminate();
    let daemon = Daemon::start(&state, &options);
    wait_for(|| {
        let list = daemon.done(["list"]);
        list.iter().all(|torrent| torrent["activity"] == "serving")
    });
    daemon.terminate();
    assert_eq!(lines(&log), ["tree"]);
}

/// A torrent that failed because its files were others was not complete, also if it was never verified.
#[test]
fn content_in_place_of_other_files_is_news() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (place, state) = folder();
    let log = place.path().join("log");
    let config = place.path().join("config.toml");
    let hook = format!(
        "[hooks]\ncomplete = \"echo complete >> {}\"\n",
        log.display()
    );
    fs::write(&config, hook).unwrap();
    let file = place.path().join("file.bin");
    fs::write(&file, vec![7; 2_000_123]).unwrap();
    let options = ["--dir", text(place.path()), "--config", text(&config)];
    let daemon = Daemon::start(&state, &options);
    daemon.done(["add", text(&torrent)]);
    daemon.wait_for_activity("failed");
    fs::copy(content.path().join("file.bin"), &file).unwrap();
    daemon.done(["verify", "file.bin"]);
    daemon.wait_for_activity("serving");
    wait_for(|| !lines(&log).is_empty());
    daemon.terminate();
    assert_eq!(lines(&log), ["complete"]);
}

#[test]
fn a_hook_that_fails_or_hangs_is_reported() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (place, state) = folder();
    let config = place.path().join("config.toml");
    let pid = place.path().join("pid");
    let hooks = format!(
        "[hooks]\nadded = \"exit 7\"\nremoved = \"sleep 600 & echo $! > {}; wait\"\ntimeout = \"1s\"\n",
        pid.display()
    );
    fs::write(&config, hooks).unwrap();
    let options = ["--dir", text(content.path()), "--config", text(&config)];
    let daemon = Daemon::start(&state, &options);
    daemon.done(["add", text(&torrent), "--paused"]);
    wait_for(|| daemon.stderr().contains("hook `added` for"));
    assert!(
        daemon.stderr().contains("exit status: 7"),
        "{}",
        daemon.stderr()
    );
    daemon.done(["remove", "--all"]);
    wait_for(|| daemon.stderr().contains("killed after 1 s"));
    // The processes that it started end too.
    let sleeping = fs::read_to_string(&pid).unwrap();
    let is_running = || {
        let status = fs::read_to_string(format!("/proc/{}/stat", sleeping.trim()));
        status.is_ok_and(|status| !status.contains(" Z "))
    };
    wait_for(|| !is_running());
    daemon.terminate();
    // No command from a file that others can write.
    let open = Command::new("chmod").arg("666").arg(&config).status();
    assert!(open.unwrap().success());
    let refused = ended(&mut daemon_command(&state, &options));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("other users can write to"),
        "{refused:?}"
    );
}

#[test]
fn files_of_watched_folders_are_added() {
    let content = Content::new();
    let (place, state) = folder();
    let (plain, tv) = (place.path().join("plain"), place.path().join("watch-tv"));
    fs::create_dir(&plain).unwrap();
    let config = place.path().join("config.toml");
    fs::write(
        &config,
        "[categories.tv]\ndir = \"tv\"\nwatch-dir = \"watch-tv\"\n",
    )
    .unwrap();
    let downloads = place.path().join("downloads");
    let options = [
        "--dir",
        text(&downloads),
        "--config",
        text(&config),
        "--watch-dir",
        text(&plain),
    ];
    let daemon = Daemon::start(&state, &options);
    // A folder that does not exist yet is reported once.
    wait_for(|| daemon.stderr().contains("watch-tv: No such file"));
    fs::create_dir(&tv).unwrap();
    let torrent = content.torrent("file.bin", "v1");
    let whole = fs::read(&torrent).unwrap();
    // The second half comes later.
    let file = tv.join("a.torrent");
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let magnet = content.magnet(&content.torrent("tree", "v1"));
    fs::write(plain.join("b.magnet"), magnet + "\n").unwrap();
    // A name that is not UTF-8.
    let unnamed = |end: &str| {
        let name = [b"\xff", end.as_bytes()].concat();
        plain.join(OsStr::from_bytes(&name))
    };
    fs::copy(plain.join("b.magnet"), unnamed(".magnet")).unwrap();
    // Files of the user.
    fs::write(plain.join("b.magnet.added"), "mine").unwrap();
    fs::write(plain.join("c.torrent.invalid"), "mine").unwrap();
    fs::write(plain.join("c.torrent"), "no torrent").unwrap();
    fs::write(plain.join(".hidden.torrent"), &whole).unwrap();
    wait_for(|| plain.join("b.magnet.added-1").exists());
    wait_for(|| unnamed(".magnet.added").exists());
    fs::write(&file, &whole).unwrap();
    wait_for(|| tv.join("a.torrent.added").exists());
    wait_for(|| plain.join("c.torrent.invalid-1").exists());
    for name in ["b.magnet.added", "c.torrent.invalid"] {
        assert_eq!(fs::read(plain.join(name)).unwrap(), b"mine");
    }
    let list = daemon.done(["list"]);
    let found: Vec<[Value; 2]> = list
        .iter()
        .map(|torrent| [torrent["category"].clone(), torrent["folder"].clone()])
        .collect();
    assert_eq!(found.len(), 2);
    assert!(found.contains(&[json!("tv"), json!(text(&place.path().join("tv")))]));
    assert!(found.contains(&[Value::Null, json!(text(&downloads))]));
    wait_for(|| daemon.stderr().contains("c.torrent: "));
    assert!(plain.join(".hidden.torrent").exists());
    daemon.terminate();
    // A torrent that is present counts as added, and files can be removed instead of renamed.
    let renamed = tv.join("a.torrent.added");
    fs::remove_file(&renamed).unwrap();
    fs::write(&file, &whole).unwrap();
    let removing = [&options[..], &["--watch-remove"]].concat();
    let daemon = Daemon::start(&state, &removing);
    wait_for(|| !file.exists());
    assert!(!renamed.exists());
    assert_eq!(daemon.done(["list"]).len(), 2);
}

/// The daemon would rename its own .torrent files, or files that it downloads.
#[test]
fn folders_that_contain_each_other_are_refused() {
    let (place, state) = folder();
    let path = |name: &str| place.path().join(name);
    let (downloads, tv) = (path("downloads"), path("tv"));
    let outer = state.parent().unwrap().to_owned();
    fs::create_dir(&tv).unwrap();
    std::os::unix::fs::symlink(&state, path("link")).unwrap();
    let config = path("config.toml");
    fs::write(
        &config,
        "[categories.tv]\ndir = \"tv\"\nwatch-dir = \"watch-tv\"\n",
    )
    .unwrap();
    let refused = |dir: &Path, watched: &Path| {
        let options = ["--config", text(&config), "--dir", text(dir)];
        let mut command = daemon_command(&state, &options);
        let ended = ended(command.args(["--watch-dir", text(watched)]));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(!state.join("hashlane.sock").exists());
        ended.stderr
    };
    let reason = ": neither may contain the other one";
    for (dir, watched, named) in [
        (&downloads, state.join("torrents"), "--watch-dir"),
        (&downloads, path("link/torrents"), "--watch-dir"),
        (&downloads, path("tv/../link"), "--watch-dir"),
        (&downloads, outer.clone(), "--watch-dir"),
        (&downloads, downloads.clone(), "--watch-dir"),
        (&downloads, downloads.join("watched"), "--watch-dir"),
        (&downloads, tv.join("new"), "dir of [categories.tv]"),
        (&state.join("content"), path("watched"), "--dir"),
        (&outer, path("watched"), "--dir"),
    ] {
        let stderr = refused(dir, &watched);
        assert!(
            stderr.contains(reason) && stderr.contains(named),
            "{stderr}"
        );
    }
}

#[test]
fn the_schedule_limits_the_rates() {
    let (place, state) = folder();
    let config = place.path().join("config.toml");
    // In force at any time.
    let rules = "[schedule.always]\nmax-up = \"1MiB\"\n[schedule.less]\nmax-up = 5000\n";
    fs::write(&config, rules).unwrap();
    let options = [
        "--config",
        text(&config),
        "--max-down",
        "7000",
        "--max-up",
        "9000",
    ];
    let daemon = Daemon::start(&state, &options);
    wait_for(|| {
        let status = &daemon.done(["status"])[0];
        status["max_down"] == 7000 && status["max_up"] == 5000
    });
}

/// Two torrents have the same place. The second one fails, and its hook gets the reason.
#[test]
fn a_hook_runs_when_a_torrent_fails() {
    let content = Content::new();
    let torrents = ["v1", "v2"].map(|version| content.torrent("tree", version));
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let log = place.path().join("log");
    let config = place.path().join("config.toml");
    let variables = "\"$HASHLANE_EVENT\" \"$HASHLANE_INFO_HASH\" \"$HASHLANE_ERROR\"";
    let hook = format!(
        "[hooks]\nfailed = '''printf '%s|%s|%s\\n' {variables} >> {}'''\n",
        log.display()
    );
    fs::write(&config, hook).unwrap();
    let options = ["--dir", text(&downloads), "--config", text(&config)];
    let daemon = Daemon::start(&state, &options);
    daemon.done(["add", text(&torrents[0])]);
    daemon.wait_for_activity("downloading");
    let added = daemon.done(["add", text(&torrents[1])]);
    wait_for(|| !lines(&log).is_empty());
    let found = lines(&log);
    let start = format!("failed|{}|", added[0]["info_hash"].as_str().unwrap());
    let reason = found[0].strip_prefix(&start);
    let reason = reason.unwrap_or_else(|| panic!("{found:?}"));
    wait_for(|| daemon.done(["list"])[1]["activity"] == "failed");
    assert_eq!(daemon.done(["list"])[1]["error"], json!(reason));
    assert_eq!(found.len(), 1, "{found:?}");
    daemon.terminate();
}

/// Two commands run at once, and a third one waits for one of them.
#[test]
fn only_two_hooks_run_at_once() {
    let content = Content::new();
    let (place, state) = folder();
    let [running, log, go] = ["running", "log", "go"].map(|name| place.path().join(name));
    fs::create_dir(&running).unwrap();
    let config = place.path().join("config.toml");
    // Each command writes how many run, and ends when the test lets it.
    let hook = format!(
        "[hooks]\nadded = '''touch {0}/$$ && ls {0} | wc -l >> {1}
while [ ! -e {2} ]; do sleep 0.05; done; rm {0}/$$'''\n",
        running.display(),
        log.display(),
        go.display()
    );
    fs::write(&config, hook).unwrap();
    let options = ["--dir", text(content.path()), "--config", text(&config)];
    let daemon = Daemon::start(&state, &options);
    for (name, version) in [
        ("tree", "v1"),
        ("file.bin", "v1"),
        ("file.bin", "v2"),
        ("tree", "v2"),
    ] {
        daemon.done(["add", text(&content.torrent(name, version)), "--paused"]);
    }
    wait_for(|| lines(&log).len() == 2);
    // Time for a third one to start, if it does not wait.
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(fs::read_dir(&running).unwrap().count(), 2);
    fs::write(&go, "").unwrap();
    wait_for(|| lines(&log).len() == 4);
    let counts = lines(&log);
    let is_small = |count: &String| ["1", "2"].contains(&count.trim());
    assert!(counts.iter().all(is_small), "{counts:?}");
    assert!(!daemon.stderr().contains("hook"), "{}", daemon.stderr());
    daemon.terminate();
}

/// The path is that of the files, whatever their names.
#[test]
fn hooks_get_the_path_of_the_content() {
    let content = Content::new();
    let tracker = Tracker::start();
    let announce = ["--announce", &tracker.url()];
    let torrent = content.torrent_with("tree", "v1", &announce);
    let _seed = Peer::seed(&[&torrent], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    for (layout, renamed, expected) in [
        ("Original", None, "tree"),
        ("NoSubfolder", None, ""),
        ("Original", Some("other"), "other"),
    ] {
        let (place, state) = folder();
        let downloads = place.path().join("downloads");
        let log = place.path().join("log");
        let config = place.path().join("config.toml");
        let hook = format!(
            "'''printf '%s|%s\\n' \"$HASHLANE_EVENT\" \"$HASHLANE_CONTENT\" >> {}'''",
            log.display()
        );
        let hooks = ["added", "complete", "removed"].map(|event| format!("{event} = {hook}\n"));
        fs::write(&config, format!("[hooks]\n{}", hooks.concat())).unwrap();
        let options = ["--config", text(&config)];
        let served = Served::start_with(&state, &downloads, &options);
        let fields = [("contentLayout", layout), ("stopped", "true")];
        let hash = served.add(&torrent, &fields);
        if let Some(name) = renamed {
            wait_for(|| served.rename("renameFolder", &hash, "tree", name).0 == 200);
        }
        served.post("start", &[("hashes", &hash)]);
        wait_for(|| lines(&log).len() == 2);
        let below = |name: &str| text(&downloads.join(name)).trim_end_matches('/').to_owned();
        let path = below(expected);
        assert!(Path::new(&path).join("a.bin").exists());
        served.daemon.done(["remove", "--all"]);
        wait_for(|| lines(&log).len() == 3);
        let mut found = lines(&log);
        found.sort();
        let added = if renamed.is_some() { "tree" } else { expected };
        let expected = [
            format!("added|{}", below(added)),
            format!("complete|{path}"),
            format!("removed|{path}"),
        ];
        assert_eq!(found, expected, "{layout}");
        served.daemon.terminate();
    }
}

/// Commands that wait or run when the daemon ends run after the next start.
#[test]
fn hooks_outlast_the_daemon() {
    let content = Content::new();
    let (place, state) = folder();
    let [log, go] = ["log", "go"].map(|name| place.path().join(name));
    let config = place.path().join("config.toml");
    let hook = format!(
        "[hooks]\nadded = '''while [ ! -e {} ]; do sleep 0.05; done; echo \"$HASHLANE_NAME\" >> {}'''\n",
        go.display(),
        log.display()
    );
    fs::write(&config, hook).unwrap();
    let options = ["--dir", text(content.path()), "--config", text(&config)];
    let mut daemon = Daemon::start(&state, &options);
    let records = || fs::read_dir(state.join("hooks")).map_or(0, Iterator::count);
    for (name, version) in [("tree", "v1"), ("file.bin", "v1"), ("tree", "v2")] {
        daemon.done(["add", text(&content.torrent(name, version)), "--paused"]);
    }
    // Two run, and one waits.
    assert_eq!(records(), 3);
    daemon.signal("TERM");
    daemon.end();
    let stderr = daemon.stderr();
    let left = stderr
        .lines()
        .find(|line| line.contains("run after the next start"));
    let named = left.map_or(0, |left| left.matches("hook `added` for ").count());
    assert_eq!(named, 3, "{stderr}");
    assert!(lines(&log).is_empty());
    fs::write(&go, "").unwrap();
    let daemon = Daemon::start(&state, &options);
    wait_for(|| records() == 0);
    let mut found = lines(&log);
    found.sort();
    found.dedup();
    assert_eq!(found, ["file.bin", "tree"]);
    assert!(lines(&log).iter().filter(|name| *name == "tree").count() >= 2);
    daemon.terminate();
}
