//! Names, trackers and goals of torrents that programs change while the daemon runs, by the qBittorrent Web API.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::daemon::{Daemon, folder};
use super::daemon_api::{Api, add_outside, places};
use super::http::{ask, ask_bytes};
use super::peers::{Content, Peer};
use super::tracker::Tracker;
use crate::wait_for;

/// A daemon that serves the qBittorrent Web API, with content in a folder.
pub(crate) struct Served {
    pub(crate) daemon: Daemon,
    at: SocketAddr,
}

impl Served {
    fn start(state: &Path, downloads: &Path) -> Self {
        Self::start_with(state, downloads, &[])
    }

    pub(crate) fn start_with(state: &Path, downloads: &Path, options: &[&str]) -> Self {
        // Another test can take a free port before the daemon does.
        for _ in 0..10 {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let at = listener.local_addr().unwrap();
            drop(listener);
            let (address, dir) = (at.to_string(), downloads.to_str().unwrap());
            let own = ["--dir", dir, "--qbittorrent", &address];
            let all: Vec<&str> = own.iter().chain(options).copied().collect();
            let Some(mut daemon) = Daemon::try_start(state, &all) else {
                continue;
            };
            let mut has_ended = false;
            wait_for(|| {
                has_ended = daemon.has_ended();
                has_ended || TcpStream::connect(at).is_ok()
            });
            if !has_ended {
                return Self { daemon, at };
            }
        }
        panic!("no port is free");
    }

    /// Sends a form, and returns the status and the answer.
    fn tried(&self, method: &str, fields: &[(&str, &str)]) -> (u16, String) {
        let encode = |text: &str| {
            let encode = |text: String, byte| text + &format!("%{byte:02x}");
            text.bytes().fold(String::new(), encode)
        };
        let fields = fields.iter();
        let fields: Vec<String> = fields
            .map(|(name, value)| format!("{name}={}", encode(value)))
            .collect();
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        let path = format!("POST /api/v2/torrents/{method}");
        let answer = ask(self.at, &path, &form, &fields.join("&"));
        (answer.status, answer.body)
    }

    #[track_caller]
    pub(crate) fn post(&self, method: &str, fields: &[(&str, &str)]) -> String {
        let (status, body) = self.tried(method, fields);
        assert_eq!(status, 200, "{method} {fields:?}: {body}");
        body
    }

    /// Adds a torrent with these fields, and returns its info-hash.
    pub(crate) fn add(&self, torrent: &Path, fields: &[(&str, &str)]) -> String {
        let boundary = "hashlane-test";
        let head =
            |name: &str| format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"");
        let mut body = Vec::new();
        for (name, value) in fields {
            body.extend(format!("{}\r\n\r\n{value}\r\n", head(name)).into_bytes());
        }
        let file = format!("{}; filename=\"a.torrent\"\r\n\r\n", head("torrents"));
        body.extend(file.into_bytes());
        body.extend(fs::read(torrent).unwrap());
        body.extend(format!("\r\n--{boundary}--\r\n").into_bytes());
        let form = format!("multipart/form-data; boundary={boundary}");
        let form = [("Content-Type", form.as_str())];
        let answer = ask_bytes(self.at, "POST /api/v2/torrents/add", &form, &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        self.hash()
    }

    fn hash(&self) -> String {
        self.daemon.torrent()["info_hash"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    fn files(&self, hash: &str) -> Vec<String> {
        let body = self.post("files", &[("hash", hash)]);
        let files: serde_json::Value = serde_json::from_str(&body).unwrap();
        let files = files.as_array().unwrap().iter();
        files
            .map(|file| file["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Serves a copy of content as a torrent of this version.
    fn copy_of(
        content: &Content,
        (name, version): (&str, &str),
        state: &Path,
        downloads: &Path,
    ) -> Self {
        copy(content, name, downloads);
        let torrent = content.torrent(name, version);
        let served = Self::start(state, downloads);
        served.daemon.done(["add", torrent.to_str().unwrap()]);
        served.wait_for_content();
        served
    }

    fn wait_for_content(&self) {
        self.daemon.wait_until("serving", |torrent| {
            torrent["activity"] == "serving" && torrent["complete"] == true
        });
    }

    pub(crate) fn rename(&self, method: &str, hash: &str, from: &str, to: &str) -> (u16, String) {
        let fields = [("hash", hash), ("oldPath", from), ("newPath", to)];
        self.tried(method, &fields)
    }
}

fn copy(content: &Content, name: &str, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let mut copy = std::process::Command::new("cp");
    let copied = copy
        .arg("-r")
        .arg(content.path().join(name))
        .arg(folder)
        .status();
    assert!(copied.unwrap().success());
}

fn same(one: &Path, other: &Path) {
    assert!(
        fs::read(one).unwrap() == fs::read(other).unwrap(),
        "{}",
        one.display()
    );
}

#[test]
fn renamed_files_and_folders_last() {
    let content = Content::new();
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let served = Served::copy_of(&content, ("tree", "hybrid"), &state, &downloads);
    let hash = served.hash();
    let is_at = |path: &str, from: &str| {
        wait_for(|| downloads.join(path).exists());
        served.wait_for_content();
        same(&downloads.join(path), &content.path().join(from));
    };
    fs::write(downloads.join("tree/other"), "of a person").unwrap();
    let (status, body) = served.rename("renameFile", &hash, "tree/a.bin", "tree/other");
    assert_eq!(status, 409, "{body}");
    assert!(body.contains("exists"), "{body}");
    for (from, to) in [
        ("tree/a.bin", "tree/sub/b.bin"),
        ("tree/a.bin", "../a.bin"),
        ("a.bin", "tree/c.bin"),
    ] {
        let (status, body) = served.rename("renameFile", &hash, from, to);
        assert_eq!(status, 409, "{from} {to}: {body}");
    }
    let renamed = served.rename("renameFile", &hash, "tree/a.bin", "tree/new/c.bin");
    assert_eq!(renamed.0, 200, "{renamed:?}");
    is_at("tree/new/c.bin", "tree/a.bin");
    wait_for(|| served.rename("renameFolder", &hash, "tree", "wood").0 == 200);
    is_at("wood/new/c.bin", "tree/a.bin");
    is_at("wood/sub/b.bin", "tree/sub/b.bin");
    assert!(!downloads.join("tree/sub").exists());
    let other = || fs::read(downloads.join("tree/other")).unwrap();
    assert_eq!(other(), b"of a person");
    served.post("rename", &[("hash", &hash), ("name", "A name")]);
    served.daemon.kill();

    let served = Served::start(&state, &downloads);
    served.wait_for_content();
    assert_eq!(served.daemon.torrent()["name"], "A name");
    let names = ["wood/new/c.bin", "wood/empty", "wood/sub/b.bin"];
    let mut found = served.files(&hash);
    found.sort();
    let mut expected = names.map(str::to_owned);
    expected.sort();
    assert_eq!(found, expected);
    // A move keeps the names.
    let second = downloads.join("second");
    served
        .daemon
        .done(["move", &hash, "--dir", second.to_str().unwrap()]);
    wait_for(|| second.join("wood/new/c.bin").exists());
    served.wait_for_content();
    served.daemon.done(["remove", &hash, "--delete-content"]);
    wait_for(|| !second.join("wood").exists());
    assert_eq!(other(), b"of a person");
    served.daemon.terminate();
}

/// A kill during a rename leaves files under both names, and the next start continues.
#[test]
fn an_interrupted_rename_is_continued() {
    let content = Content::new();
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let served = Served::copy_of(&content, ("tree", "v1"), &state, &downloads);
    let hash = served.hash();
    served.daemon.kill();
    let toml = state.join(format!("torrents/{hash}.toml"));
    let chosen = fs::read_to_string(&toml).unwrap();
    fs::write(
        &toml,
        format!("{chosen}[names]\ntop = \"wood\"\n[names_before]\n"),
    )
    .unwrap();
    fs::create_dir(downloads.join("wood")).unwrap();
    fs::rename(downloads.join("tree/a.bin"), downloads.join("wood/a.bin")).unwrap();
    let served = Served::start(&state, &downloads);
    wait_for(|| !fs::read_to_string(&toml).unwrap().contains("names_before"));
    served.wait_for_content();
    same(
        &downloads.join("wood/sub/b.bin"),
        &content.path().join("tree/sub/b.bin"),
    );
    assert!(!downloads.join("tree").exists());
    served.daemon.kill();

    // Something was put under a new name meanwhile: all files keep the names of before.
    let chosen = fs::read_to_string(&toml).unwrap();
    let chosen = chosen.replace("[names]\ntop = \"wood\"", "[names]\ntop = \"forest\"");
    fs::write(&toml, format!("{chosen}[names_before]\ntop = \"wood\"\n")).unwrap();
    fs::create_dir_all(downloads.join("forest/sub")).unwrap();
    fs::write(downloads.join("forest/sub/b.bin"), "of a person").unwrap();
    let served = Served::start(&state, &downloads);
    wait_for(|| !fs::read_to_string(&toml).unwrap().contains("names_before"));
    served.wait_for_content();
    assert!(served.files(&hash).contains(&"wood/a.bin".to_owned()));
    let kept = fs::read(downloads.join("forest/sub/b.bin")).unwrap();
    assert_eq!(kept, b"of a person");
    assert!(!downloads.join("forest/a.bin").exists());
    served.daemon.terminate();
}

/// A torrent that was renamed before anything was there is downloaded under the new names, and nothing is replaced.
#[test]
fn downloads_use_the_new_names() {
    let content = Content::new();
    let tracker = Tracker::start();
    let announce = ["--announce", &tracker.url()];
    let torrent = content.torrent_with("file.bin", "v1", &announce);
    let _seed = Peer::seed(&[&torrent], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let served = Served::start(&state, &downloads);
    served
        .daemon
        .done(["add", "--paused", torrent.to_str().unwrap()]);
    served.daemon.wait_for_activity("paused");
    let hash = served.hash();
    let renamed = served.rename("renameFile", &hash, "file.bin", "folder/new.bin");
    assert_eq!(renamed.0, 200, "{renamed:?}");
    served.daemon.done(["resume", "--all"]);
    served.wait_for_content();
    same(
        &downloads.join("folder/new.bin"),
        &content.path().join("file.bin"),
    );
    served.daemon.terminate();
}

#[test]
fn content_gets_a_folder_or_none() {
    let content = Content::new();
    let tracker = Tracker::start();
    let announce = ["--announce", &tracker.url()];
    let file = content.torrent_with("file.bin", "v1", &announce);
    let tree = content.torrent_with("tree", "v1", &announce);
    let _seed = Peer::seed(&[&file, &tree], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    for (torrent, layout, name, from) in [
        (&file, "Subfolder", "file/file.bin", "file.bin"),
        (&file, "NoSubfolder", "file.bin", "file.bin"),
        (&tree, "NoSubfolder", "sub/b.bin", "tree/sub/b.bin"),
        (&tree, "Subfolder", "tree/sub/b.bin", "tree/sub/b.bin"),
    ] {
        let (place, state) = folder();
        let downloads = place.path().join("downloads");
        let served = Served::start(&state, &downloads);
        let link = content.magnet(torrent);
        served.post("add", &[("urls", &link), ("contentLayout", layout)]);
        served.wait_for_content();
        let from = content.path().join(from);
        same(&downloads.join(name), &from);
        let hash = served.hash();
        assert!(served.files(&hash).contains(&name.to_owned()), "{name}");
        let stored = state.join(format!("torrents/{hash}.torrent"));
        wait_for(|| stored.exists());
        served.daemon.kill();

        let served = Served::start(&state, &downloads);
        served.wait_for_content();
        same(&downloads.join(name), &from);
        let info = served.post("info", &[("hashes", &hash)]);
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        let root = match name.split_once('/') {
            Some(("sub", _)) => downloads.clone(),
            Some((root, _)) => downloads.join(root),
            None => PathBuf::new(),
        };
        assert_eq!(info[0]["root_path"], root.to_str().unwrap(), "{name}");
        if name == "sub/b.bin" {
            let other = place.path().join("other");
            let moved = served
                .daemon
                .ctl(["move", &hash, "--dir", other.to_str().unwrap()]);
            assert_ne!(moved.code, Some(0), "{moved:?}");
            fs::write(downloads.join("other"), "of a person").unwrap();
        }
        served.daemon.done(["remove", &hash, "--delete-content"]);
        wait_for(|| !downloads.join(name).exists());
        if name == "sub/b.bin" {
            wait_for(|| !downloads.join("sub").exists());
            assert!(downloads.join("other").exists());
        }
        served.daemon.terminate();
    }
}

/// Two torrents without folders of their own share a folder, but no file.
#[test]
fn torrents_without_folders_never_share_files() {
    let content = Content::new();
    let tree = content.torrent("tree", "v1");
    let other = Content::new();
    fs::write(other.path().join("tree/a.bin"), "other").unwrap();
    let other = (other.torrent("tree", "v1"), other);
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    copy(&content, "tree", place.path());
    fs::rename(place.path().join("tree"), &downloads).unwrap();
    let served = Served::start(&state, &downloads);
    let added: Vec<PathBuf> = vec![tree, other.0];
    for torrent in &added {
        served
            .daemon
            .done(["add", "--paused", torrent.to_str().unwrap()]);
    }
    let list = served.daemon.done(["list"]);
    let hashes: Vec<String> = list
        .iter()
        .map(|torrent| torrent["info_hash"].as_str().unwrap().to_owned())
        .collect();
    served.daemon.kill();
    for hash in &hashes {
        let toml = state.join(format!("torrents/{hash}.toml"));
        let chosen = fs::read_to_string(&toml).unwrap();
        fs::write(&toml, format!("{chosen}[names]\ntop = \"\"\n")).unwrap();
    }
    let before = fs::read(downloads.join("a.bin")).unwrap();
    let served = Served::start(&state, &downloads);
    wait_for(|| {
        let list = served.daemon.done(["list"]);
        list.iter().any(|torrent| torrent["activity"] == "failed")
    });
    let list = served.daemon.done(["list"]);
    let errors: Vec<String> = list
        .iter()
        .map(|torrent| torrent["error"].to_string())
        .collect();
    let taken = |error: &String| error.contains(downloads.to_str().unwrap());
    assert!(errors.iter().any(taken), "{errors:?}");
    assert!(fs::read(downloads.join("a.bin")).unwrap() == before);
    served.daemon.terminate();
}

#[test]
fn trackers_are_changed_for_good() {
    let content = Content::new();
    let torrent = content.torrent_with("file.bin", "v1", &["--announce", "http://127.0.0.1:1/old"]);
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    copy(&content, "file.bin", &downloads);
    let tracker = Tracker::start();
    let url = format!("{}?passkey=SECRET", tracker.url());
    let log = place.path().join("log");
    let options = ["--log", log.to_str().unwrap(), "--log-level", "debug"];
    let served = Served::start_with(&state, &downloads, &options);
    served.daemon.done(["add", torrent.to_str().unwrap()]);
    served.wait_for_content();
    let hash = served.hash();
    let urls = |served: &Served| {
        let body = served.post("trackers", &[("hash", &hash)]);
        let rows: serde_json::Value = serde_json::from_str(&body).unwrap();
        let rows = rows.as_array().unwrap().iter();
        let urls = rows.map(|row| row["url"].as_str().unwrap().to_owned());
        urls.filter(|url| url.contains("://")).collect::<Vec<_>>()
    };
    served.post("addTrackers", &[("hash", &hash), ("urls", &url)]);
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let old = "http://127.0.0.1:1/old";
    assert_eq!(urls(&served), [old, &url]);
    let new = "http://127.0.0.1:1/new";
    let edit = [("hash", hash.as_str()), ("origUrl", old), ("newUrl", new)];
    served.post("editTracker", &edit);
    assert_eq!(urls(&served), [new, &url]);
    served.daemon.kill();

    let served = Served::start_with(&state, &downloads, &options);
    served.wait_for_content();
    assert_eq!(urls(&served), [new, &url]);
    served.post("removeTrackers", &[("hash", &hash), ("urls", new)]);
    assert_eq!(urls(&served), std::slice::from_ref(&url));
    let stderr = served.daemon.stderr();
    served.daemon.terminate();
    let log = fs::read_to_string(&log).unwrap();
    assert!(!log.is_empty());
    assert!(!log.contains("SECRET") && !stderr.contains("SECRET"));
}

#[test]
fn a_torrent_that_sends_nothing_is_paused() {
    let content = Content::new();
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let served = Served::copy_of(&content, ("file.bin", "v1"), &state, &downloads);
    let hash = served.hash();
    let limits = [
        ("hashes", hash.as_str()),
        ("ratioLimit", "-2"),
        ("seedingTimeLimit", "-2"),
        ("inactiveSeedingTimeLimit", "5"),
    ];
    served.post("setShareLimits", &limits);
    let info = served.post("info", &[]);
    assert!(info.contains("\"inactive_seeding_time_limit\":5"), "{info}");
    served.daemon.kill();
    let toml = state.join(format!("torrents/{hash}.toml"));
    let chosen = fs::read_to_string(&toml).unwrap();
    assert!(chosen.contains("idle_seconds = 300"), "{chosen}");
    let soon = chosen.replace("idle_seconds = 300", "idle_seconds = 1");
    fs::write(&toml, soon).unwrap();
    let served = Served::start(&state, &downloads);
    let paused = served
        .daemon
        .wait_until("paused", |torrent| torrent["paused"] == true);
    assert_eq!(paused["complete"], json!(true));
    served.daemon.terminate();
}

#[test]
fn content_of_others_is_neither_deleted_nor_renamed() {
    let content = Content::new();
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let served = Served::start_with(&state, &downloads, &["--remote-delete"]);
    let paths = add_outside(&served.daemon, &content, &downloads);
    let list = served.daemon.done(["list"]);
    for torrent in &list {
        // qBittorrent knows torrents of version 2 by the first 40 digits.
        let hash = &torrent["info_hash"].as_str().unwrap()[..40];
        let (status, reason) = served.tried("delete", &[("hashes", hash), ("deleteFiles", "true")]);
        assert_eq!(status, 403, "{reason}");
    }
    let hash = list[0]["info_hash"].as_str().unwrap();
    let (status, reason) = served.rename("renameFile", hash, "file.bin", "other.bin");
    assert_eq!(status, 403, "{reason}");
    assert!(paths.iter().all(|path| path.exists()));
    assert_eq!(served.daemon.done(["list"]).len(), 2);
    served.daemon.terminate();
}

/// The progress of a torrent in error is what was verified, not that of nothing at all.
#[test]
fn a_torrent_in_error_does_not_look_complete() {
    let content = Content::new();
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let served = Served::copy_of(&content, ("file.bin", "v1"), &state, &downloads);
    let len = content.len_of("file.bin");
    let shown = |hash: &str| {
        let info = served.post("info", &[("hashes", hash)]);
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        info[0].clone()
    };
    let assert_nothing = |hash: &str| {
        wait_for(|| {
            let shown = shown(hash);
            shown["state"] == "error"
                && shown["progress"] == 0.0
                && shown["amount_left"] == len
                && shown["completed"] == 0
                && shown["total_size"] == len
        });
    };
    // The file at the path is that of the first torrent, and has nothing of this one.
    let other = place.path().join("other/file.bin");
    fs::create_dir(other.parent().unwrap()).unwrap();
    fs::write(&other, vec![7; len as usize]).unwrap();
    let other = Content::torrent_of(&other, "v1", &[]);
    served.daemon.done(["add", other.to_str().unwrap()]);
    let list = served.daemon.done(["list"]);
    let hash = &list[1]["info_hash"].as_str().unwrap()[..40];
    assert_nothing(hash);
    served.daemon.done(["remove", hash]);
    // The verification fails: the content leads out of its folder.
    let file = downloads.join("file.bin");
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(content.path().join("file.bin"), &file).unwrap();
    let hash = served.hash();
    served.daemon.done(["verify", &hash]);
    assert_nothing(&hash);
    served.daemon.terminate();
}

/// Programs remove torrents that were idle for long: a torrent that is only served stays idle, also after a restart.
#[test]
fn the_last_activity_is_that_of_content() {
    const LONG_AGO: u64 = 1_000_000_000;
    let content = Content::new();
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let served = Served::copy_of(&content, ("file.bin", "v1"), &state, &downloads);
    let hash = served.hash();
    served.daemon.terminate();
    let totals = state.join("totals.toml");
    let text = fs::read_to_string(&totals).unwrap();
    assert!(!text.contains("active"), "{text}");
    let (head, rest) = text.split_once(&hash).unwrap();
    let (key, rest) = rest.split_once('\n').unwrap();
    let with_activity = format!("{head}{hash}{key}\nactive = {LONG_AGO}\n{rest}");
    fs::write(&totals, with_activity).unwrap();
    let served = Served::start(&state, &downloads);
    let shown = || {
        let info: serde_json::Value = serde_json::from_str(&served.post("info", &[])).unwrap();
        let [active, time] = ["last_activity", "seeding_time"].map(|key| info[0][key].as_u64());
        (active.unwrap(), time.unwrap())
    };
    let (_, first) = shown();
    // The time of seeding changes, and no content is sent.
    wait_for(|| shown().1 > first + 1);
    assert_eq!(shown().0, LONG_AGO);
    served.daemon.terminate();
    let text = fs::read_to_string(&totals).unwrap();
    assert!(text.contains(&format!("active = {LONG_AGO}")), "{text}");
}

/// A torrent is paused at the ratio that programs see: of more received bytes than the content has, for example.
#[test]
fn a_goal_counts_the_ratio_that_is_shown() {
    let content = Content::new();
    let len = content.len_of("file.bin");
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let served = Served::copy_of(&content, ("file.bin", "v1"), &state, &downloads);
    served.daemon.terminate();
    let totals = state.join("totals.toml");
    let set = |key: &str, value: u64| {
        let text = fs::read_to_string(&totals).unwrap();
        let (head, torrents) = text.split_once("[torrents.").unwrap();
        let lines = torrents.lines().map(|line| {
            let is_set = line.starts_with(&format!("{key} = "));
            let line = if is_set {
                format!("{key} = {value}")
            } else {
                line.into()
            };
            line + "\n"
        });
        let torrents: String = lines.collect();
        fs::write(&totals, format!("{head}[torrents.{torrents}")).unwrap();
    };
    set("received", 2 * len);
    set("sent", len * 3 / 2);
    let start = || Served::start_with(&state, &downloads, &["--seed-ratio", "1"]);
    let served = start();
    served.wait_for_content();
    let shown = |served: &Served| {
        let info: serde_json::Value = serde_json::from_str(&served.post("info", &[])).unwrap();
        info[0].clone()
    };
    let first = shown(&served)["seeding_time"].as_u64();
    wait_for(|| shown(&served)["seeding_time"].as_u64() > first.map(|first| first + 1));
    let ratio = shown(&served)["ratio"].as_f64().unwrap();
    assert!((ratio - 0.75).abs() < 0.001, "{ratio}");
    assert_eq!(served.daemon.torrent()["paused"], false);
    served.daemon.terminate();
    set("sent", 2 * len);
    let served = start();
    served
        .daemon
        .wait_until("paused", |torrent| torrent["paused"] == true);
    assert_eq!(shown(&served)["ratio"], 1.0);
    served.daemon.terminate();
}

/// Programs send a request for each file, and look at the files meanwhile.
#[test]
fn several_files_are_renamed_at_once() {
    let content = Content::new();
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    copy(&content, "tree", &downloads);
    let served = Served::start(&state, &downloads);
    // At once after the addition.
    let hash = served.add(&content.torrent("tree", "v1"), &[]);
    let before = served.files(&hash);
    assert!(before.len() > 2, "{before:?}");
    let renamed = |file: &str| format!("{file}.new");
    std::thread::scope(|scope| {
        let rename = |file| served.rename("renameFile", &hash, file, &renamed(file));
        let threads: Vec<_> = before
            .iter()
            .map(|file| scope.spawn(move || rename(file)))
            .collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            assert_eq!(served.files(&hash).len(), before.len());
        }
        for thread in threads {
            let (status, reason) = thread.join().unwrap();
            assert_eq!(status, 200, "{reason}");
        }
    });
    let expected: Vec<String> = before.iter().map(|file| renamed(file)).collect();
    assert_eq!(served.files(&hash), expected);
    wait_for(|| expected.iter().all(|file| downloads.join(file).is_file()));
    served.wait_for_content();
    served.daemon.terminate();
}

/// A link below the folder can lead anywhere. Nothing behind it is renamed, and no answer says whether it exists.
#[test]
fn nothing_behind_a_link_is_renamed() {
    let content = Content::new();
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let outside = place.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("present"), "x").unwrap();
    let served = Served::copy_of(&content, ("tree", "v1"), &state, &downloads);
    std::os::unix::fs::symlink(&outside, downloads.join("tree/link")).unwrap();
    let hash = served.hash();
    for new in ["tree/link/present", "tree/link/absent"] {
        let (status, reason) = served.rename("renameFile", &hash, "tree/a.bin", new);
        assert_eq!(status, 409, "{reason}");
        assert!(reason.contains("tree/link: a symbolic link"), "{reason}");
    }
    // A file of the user, and a file of the torrent itself, have no files in them.
    fs::write(downloads.join("tree/note"), "x").unwrap();
    for new in ["tree/note/a.bin", "tree/a.bin/a.bin"] {
        let (status, reason) = served.rename("renameFile", &hash, "tree/a.bin", new);
        assert_eq!(status, 409, "{reason}");
        assert!(
            reason.contains(": a file, which has no files in it"),
            "{reason}"
        );
    }
    let deep = format!("tree/{}", vec!["x"; 2000].join("/"));
    let (status, reason) = served.rename("renameFile", &hash, "tree/a.bin", &deep);
    assert_eq!(status, 409, "{reason}");
    assert!(downloads.join("tree/a.bin").exists());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    served.daemon.terminate();
}

/// A folder with a single file of its own name is no file.
#[test]
fn a_folder_can_have_one_file_of_its_name() {
    let content = Content::new();
    fs::create_dir(content.path().join("same")).unwrap();
    fs::write(content.path().join("same/same"), "content").unwrap();
    let (_place, state, downloads) = places();
    let api = Api::start(&state, &downloads, &[]);
    for (number, name, is_folder) in [(1, "same", true), (2, "file.bin", false), (3, "tree", true)]
    {
        let added = api.add(&content.torrent(name, "v1"), &json!({"paused": true}));
        assert_eq!(added.status, 201, "{added:?}");
        let torrent = || api.get(&format!("torrents/{number}")).json();
        wait_for(|| !torrent()["content"].is_null());
        assert_eq!(torrent()["is_folder"], is_folder, "{name}");
    }
    let rename = |to: &str| json!({"action": "rename", "from": "same/same", "to": to});
    assert_eq!(api.apply("1", &rename("same/other")).status, 202);
    // The folder goes with the rename of its only file.
    let back = json!({"action": "rename", "from": "same/other", "to": "alone"});
    assert_eq!(api.apply("1", &back).status, 202);
    wait_for(|| api.get("torrents/1").json()["is_folder"] == false);
    api.daemon.terminate();
}
