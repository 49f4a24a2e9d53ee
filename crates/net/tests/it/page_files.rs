//! Files with priorities, trackers, and the last event of the page's API.

use std::fs;
use std::io::BufRead as _;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::http::open;
use super::page::{Page, Torrents, served, torrent_is};
use super::peers::{Content, PATIENCE, Peer};
use super::tracker::Tracker;

const FILES: &str = "/api/v1/torrents/0/files";

fn set(page: &Page, files: &[u32], priority: &str) -> u16 {
    let command = json!({"action": "prioritize", "files": files, "priority": priority});
    page.apply(0, &command)
}

/// Waits until the files of the torrent are as expected.
fn wait_for_files(page: &Page, is_so: impl Fn(&Value) -> bool) {
    page.wait_for(|_| is_so(&page.get(FILES).json()["files"]));
}

/// Starts a slow download of the largest file, which continues to be served.
fn large_file(torrent: &Path, folder: &Path, seed: &Peer) -> Page {
    let options = [
        "--http",
        "0",
        "--max-down",
        "200KiB",
        "--seed",
        "--include",
        "a.bin",
    ];
    Page::of(Peer::get(&[torrent], folder, seed, &options))
}

/// Files can be left out and selected again, while a download runs and after it. Content of the user is not overwritten.
#[test]
fn a_selection_that_changes() {
    for version in ["v1", "v2", "hybrid"] {
        let content = Content::new();
        let torrent = content.torrent("tree", version);
        let seed = Peer::seed(&[&torrent], content.path());
        let folder = tempfile::tempdir().unwrap();
        let page = large_file(&torrent, folder.path(), &seed);
        page.wait_for(|all| all["torrents"][0]["done_bytes"].as_u64() > Some(0));
        let list = page.get(FILES).json();
        assert_eq!(
            (&list["total"], &list["changeable"]),
            (&json!(3), &json!(true))
        );
        let files = &list["files"];
        assert_eq!(files[0]["path"], "a.bin");
        assert_eq!(files[0]["length_bytes"], 2_500_000);
        assert!(files[0]["done_bytes"].as_u64() > Some(0), "{files}");
        assert_eq!(files[0]["priority"], "normal");
        assert_eq!(files[2]["path"], "sub/b.bin");
        assert_eq!(files[2]["priority"], "skip");
        assert_eq!(
            page.get(&format!("{FILES}?offset=2")).json()["files"][0]["number"],
            2
        );

        // Invalid priorities.
        assert_eq!(set(&page, &[3], "high"), 422);
        assert_eq!(set(&page, &[0], "highest"), 422);
        assert_eq!(set(&page, &[0], "skip"), 422);
        assert_eq!(page.get(&format!("{FILES}?offset=x")).status, 400);

        // While the download runs, the small file is selected instead of the large one.
        assert_eq!(set(&page, &[2], "high"), 202);
        wait_for_files(&page, |files| files[2]["priority"] == "high");
        assert_eq!(set(&page, &[0], "skip"), 202);
        page.wait_for(torrent_is("serving"));
        let small = folder.path().join("tree/sub/b.bin");
        let expected = fs::read(content.path().join("tree/sub/b.bin")).unwrap();
        assert!(fs::read(small).unwrap() == expected, "{version}");
        let all = page.get("/api/v1/torrents").json();
        assert_eq!(all["torrents"][0]["complete"], true, "{all:#}");

        // After the download, the other files are selected.
        assert_eq!(set(&page, &[0, 1], "normal"), 202);
        page.wait_for(torrent_is("downloading"));
        page.change("PATCH /api/v1/config", r#"{"max_down": null}"#);
        page.wait_for(|all| torrent_is("serving")(all) && all["torrents"][0]["complete"] == true);
        content.assert_same("tree", folder.path());
        assert_eq!(page.peer.interrupt().code, Some(0), "{version}");
    }
}

#[test]
fn a_file_of_the_user_is_not_selected() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v2");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("tree/sub/b.bin");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, b"not of the torrent").unwrap();
    // Beside the content, the torrent would cause another warning.
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("tree.torrent");
    fs::copy(&torrent, &copy).unwrap();
    let page = large_file(&copy, folder.path(), &seed);
    page.wait_for(torrent_is("downloading"));
    assert_eq!(set(&page, &[2], "normal"), 202);
    let warning = page.peer.wait_for_line("warning");
    let message = warning["message"].as_str().unwrap();
    assert!(message.contains("b.bin"), "{warning}");
    assert!(
        message.contains("the selection stays as it was"),
        "{warning}"
    );
    assert_eq!(page.get(FILES).json()["files"][2]["priority"], "skip");
    page.change("PATCH /api/v1/config", r#"{"max_down": null}"#);
    page.wait_for(torrent_is("serving"));
    assert_eq!(fs::read(&own).unwrap(), b"not of the torrent");
    assert_eq!(page.peer.interrupt().code, Some(0));
}

/// A torrent that is only served has files, but no priorities.
#[test]
fn served_files_have_no_priorities() {
    let content = Content::new();
    let torrent = content.torrent("tree", "hybrid");
    let page = served(&content, &torrent);
    let list = page.get(FILES).json();
    assert_eq!(list["changeable"], false);
    assert_eq!(list["files"][0]["done_bytes"], 2_500_000);
    assert_eq!(set(&page, &[0], "low"), 409);
    assert_eq!(page.get("/api/v1/torrents/1/files").status, 404);
    assert_eq!(page.get("/api/v1/torrents/1/trackers").status, 404);
}

/// Pieces with wrong content are reported, and missing pieces are not.
#[test]
fn wrong_pieces_are_marked() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let path = content.path().join("file.bin");
    let mut bytes = fs::read(&path).unwrap();
    bytes[3 * content.piece_len() as usize] ^= 1;
    let end = bytes.len() - 2 * content.piece_len() as usize;
    bytes[end..].fill(0);
    fs::write(&path, bytes).unwrap();
    let page = served(&content, &torrent);
    let detail = page.get("/api/v1/torrents/0").json();
    let wrong = detail["wrong"].as_str().unwrap().as_bytes();
    let wrong = data_encoding::BASE64.decode(wrong).unwrap();
    assert_eq!(wrong, [0b0001_0000, 0, 0, 0], "{detail}");
    assert_eq!(detail["complete"], false);
    assert_eq!(detail["activity"], "serving");
    assert_eq!(page.get(FILES).json()["files"][0]["wrong_pieces"], 1);
}

/// A running verification shows which pieces it has judged.
#[test]
fn pieces_of_a_running_verification() {
    let content = Content::with_tree_of(96 << 20);
    let torrent = content.torrent("tree", "v1");
    let path = content.path().join("tree/a.bin");
    let mut bytes = fs::read(&path).unwrap();
    bytes[3 * content.piece_len() as usize] ^= 1;
    fs::write(&path, bytes).unwrap();
    let page = served(&content, &torrent);
    let bits = |detail: &Value, name: &str| -> Vec<u8> {
        let text = detail[name].as_str().unwrap().as_bytes();
        data_encoding::BASE64.decode(text).unwrap()
    };
    let ones = |bytes: &[u8]| bytes.iter().map(|byte| byte.count_ones()).sum::<u32>();
    let is_within = |part: &[u8], whole: &[u8]| part.iter().zip(whole).all(|(a, b)| a & !b == 0);
    let all = page.get("/api/v1/torrents/0").json();
    assert_eq!(all["checked"], "", "no verification runs");
    let pieces = all["pieces"].as_u64().unwrap() as u32;
    // A verification can end between two requests.
    let started = Instant::now();
    let detail = loop {
        page.apply(0, &json!({"action": "verify"}));
        let detail = page.get("/api/v1/torrents/0").json();
        if (1..pieces).contains(&ones(&bits(&detail, "checked"))) {
            break detail;
        }
        assert!(started.elapsed() < PATIENCE, "{detail}");
    };
    assert_eq!(detail["activity"], "verifying");
    let [checked, have, wrong] = ["checked", "have", "wrong"].map(|name| bits(&detail, name));
    assert!(is_within(&have, &checked) && is_within(&wrong, &checked));
    assert_eq!(
        ones(&have) + ones(&wrong),
        ones(&checked),
        "nothing is missing"
    );
    assert!(ones(&wrong) <= 1);
    page.wait_for(torrent_is("serving"));
    let detail = page.get("/api/v1/torrents/0").json();
    assert_eq!(detail["checked"], "");
    assert_eq!(bits(&detail, "wrong")[0], 0b0001_0000);
}

/// Wrong pieces are counted for each file that has bytes of them. In version 2, files share no pieces.
#[test]
fn wrong_pieces_of_files() {
    for (version, expected) in [("v1", [1, 0, 1]), ("hybrid", [1, 0, 0])] {
        let content = Content::new();
        let torrent = content.torrent("tree", version);
        let path = content.path().join("tree/a.bin");
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        let page = served(&content, &torrent);
        let files = page.get(FILES).json();
        let wrong = files["files"].as_array().unwrap().iter();
        let wrong: Vec<&Value> = wrong.map(|file| &file["wrong_pieces"]).collect();
        assert_eq!(wrong, expected, "{version} {files}");
    }
}

/// Trackers have a state and the tracker's message, without passkeys.
#[test]
fn trackers_without_passkeys() {
    const KEY: &str = "0123456789abcdef0123456789abcdef";
    let content = Content::new();
    let (works, refuses) = (Tracker::start(), Tracker::refusing(b"<b>no</b>"));
    let with_key = |url: String| format!("{url}?passkey={KEY}");
    let (works, refuses) = (with_key(works.url()), with_key(refuses.url()));
    let options = ["--announce", &refuses, "--announce", &works];
    let torrent = content.torrent_with("tree", "v1", &options);
    let page = served(&content, &torrent);
    page.wait_for(|_| {
        let list = page.get("/api/v1/torrents/0/trackers").json();
        list["trackers"][0]["state"] == "failed" && list["trackers"][1]["state"] == "working"
    });
    let response = page.get("/api/v1/torrents/0/trackers");
    assert!(!response.body.contains(KEY), "{}", response.body);
    let list = response.json();
    assert_eq!(list["total"], 2);
    let url = list["trackers"][1]["url"].as_str().unwrap();
    assert!(url.ends_with("/announce?passkey=***"), "{url}");
    assert!(
        list["trackers"][1]["next_seconds"].as_u64() > Some(0),
        "{list}"
    );
    assert_eq!(list["trackers"][0]["message"], "<b>no</b>");
    assert_eq!(list["trackers"][0]["failures"], 1);
    let ended = page.peer.interrupt();
    assert!(!ended.stderr.contains(KEY), "{}", ended.stderr);
    assert!(!format!("{:?}", ended.lines).contains(KEY));
}

/// The last event of a stream has the final state, although the process ends at once.
#[test]
fn the_end_is_an_event() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let options = ["--http", "0", "--max-down", "500KiB"];
    let page = Page::of(Peer::get(&[&torrent], folder.path(), &seed, &options));
    let (reader, _) = open(page.address, "GET /api/v1/events?torrent=0", &[], "");
    let lines: Vec<String> = reader.lines().map_while(Result::ok).collect();
    assert!(
        lines.iter().any(|line| line.contains("event: end")),
        "{lines:#?}"
    );
    let mut torrents = Torrents::default();
    let events = lines.iter().filter_map(|line| line.strip_prefix("data: "));
    let events = events.map(|event| torrents.apply(serde_json::from_str(event).unwrap()));
    let state = events.last().unwrap();
    assert_eq!(torrents.0[&0]["activity"], "ended");
    assert_eq!(torrents.0[&0]["complete"], true);
    let have = data_encoding::BASE64.decode(state["detail"]["have"].as_str().unwrap().as_bytes());
    let n_have: u32 = have.unwrap().iter().map(|byte| byte.count_ones()).sum();
    assert_eq!(n_have, 39);
    let rates = &state["detail"]["rate_history"];
    assert_eq!(rates["interval_seconds"], 2);
    assert!(
        rates["down"]
            .as_array()
            .unwrap()
            .iter()
            .any(|rate| rate.as_u64() > Some(0))
    );
    assert_eq!(page.peer.end().code, Some(0));
    content.assert_same("tree", folder.path());
}
