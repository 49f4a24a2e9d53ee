//! What a person does on the page in Chromium: adding, repairing and logging in.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::browser::Browser;
use super::daemon::folder;
use super::daemon_api::Api;
use super::http::{ask, open};
use super::page::Page;
use super::peers::{Content, PATIENCE, Peer};
use super::servers::WebServer;

/// Waits until a notice has this text.
fn wait_for_text(browser: &Browser, id: &str, text: &str) {
    browser.wait_for(&format!(
        "return document.getElementById('{id}').innerText === {}",
        json!(text)
    ));
}

fn wait_for_start(browser: &Browser, id: &str, text: &str) {
    browser.wait_for(&format!(
        "return document.getElementById('{id}').innerText.startsWith({})",
        json!(text)
    ));
}

/// A URL and a file are added with a folder, labels and a choice of files.
#[test]
#[expect(clippy::too_many_lines, reason = "one session of a user")]
fn options_of_the_dialog_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let (tree, file) = (
        content.torrent("tree", "hybrid"),
        content.torrent("file.bin", "v1"),
    );
    let site = tempfile::tempdir().unwrap();
    fs::copy(&file, site.path().join("x.torrent")).unwrap();
    let server = WebServer::of(site.path());
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    fs::create_dir(&downloads).unwrap();
    let api = Api::start(&state, &downloads, &["--http-fetch-local"]);
    let token = api.bearer.trim_start_matches("Bearer ");
    browser.open(&format!("http://{}/#{token}", api.address));
    browser.wait_for("return document.getElementById('add').checkVisibility()");
    let text = "No torrents yet. Add .torrent files";
    wait_for_start(&browser, "no-torrents", text);

    browser.click("#add");
    wait_for_start(&browser, "adding-space", "");
    let below = downloads.join("below");
    browser.write(
        "#links",
        &format!(
            "{}\n{}",
            server.url("x.torrent"),
            server.url("absent.torrent")
        ),
    );
    browser.write("#adding-folder", below.to_str().unwrap());
    browser.write("#adding-labels", "a, b,a");
    browser.click("#adding-paused");
    browser.click("#adding button[value=add]");
    wait_for_text(&browser, "added", "1 torrent added.");
    // The URL of the other file is named with its problem.
    wait_for_start(&browser, "refusal", &server.url("absent.torrent"));
    let torrents = || {
        let headers = [("Authorization", api.bearer.as_str())];
        ask(api.address, "GET /api/v1/torrents", &headers, "").json()["torrents"].clone()
    };
    let one = &torrents()[0];
    assert_eq!(
        (&one["labels"], &one["paused"]),
        (&json!(["a", "b"]), &json!(true))
    );
    let path = one["content"].as_str().unwrap_or_default().to_owned();
    assert!(
        path.is_empty() || path.starts_with(below.to_str().unwrap()),
        "{one}"
    );

    browser.click("#add");
    browser.press("#torrent-files", tree.to_str().unwrap());
    browser.wait_for("return document.querySelectorAll('#adding-files li').length === 3");
    let names = "return Array.from(document.querySelectorAll('#adding-files label > span'), (file) => file.innerText.trim())";
    browser.expect(
        names,
        json!(["a.bin 2.4 MiB", "empty 0 bytes", "sub/b.bin 12.1 KiB"]),
    );
    browser.press("#adding-files li:nth-child(1) select", "skip");
    browser.press("#adding-files li:nth-child(3) select", "high");
    browser.click("#adding-paused");
    browser.click("#adding button[value=add]");
    browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length === 2");
    let headers = [("Authorization", api.bearer.as_str())];
    // The torrent is in the list before its file has been read.
    let started = Instant::now();
    loop {
        let files = ask(api.address, "GET /api/v1/torrents/2/files", &headers, "").json();
        let listed = files["files"].as_array().unwrap().iter();
        let priorities: Vec<&Value> = listed.map(|file| &file["priority"]).collect();
        if priorities == ["skip", "normal", "high"] {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "{files}");
        std::thread::sleep(Duration::from_millis(20));
    }

    // A tracker is added and removed, without its passkey on the page.
    browser.click("#torrents tr[data-key='2']");
    browser.click("#tab-trackers");
    let tracker = "http://127.0.0.1:1/announce?passkey=0123456789abcdef0123456789abcdef";
    browser.write("#tracker-url", tracker);
    browser.click("#add-tracker button");
    browser.wait_for("return document.querySelectorAll('#trackers tbody tr').length === 1");
    let shown =
        browser.run("return document.querySelector('#trackers tbody tr').cells[0].innerText");
    assert_eq!(shown, "http://127.0.0.1:1/announce?passkey=***");
    browser.click("#trackers tbody [aria-label^=Remove]");
    browser.wait_for("return document.querySelectorAll('#trackers tbody tr').length === 0");
    api.daemon.terminate();
}

/// Wrong pieces are found by a key, lead to their files, and a download loads them again.
#[test]
fn a_repair_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let options = ["--comment", "a \u{202e}comment"];
    let torrent = content.torrent_with("tree", "hybrid", &options);
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let options = ["--http", "0", "--seed"];
    let page = Page::of(Peer::get(&[&torrent], folder.path(), &seed, &options));
    page.wait_for(|all| all["torrents"][0]["activity"] == "serving");
    // Without a peer, the wrong pieces stay.
    page.change("PATCH /api/v1/config", r#"{"max_down": 1}"#);
    let damaged = folder.path().join("tree/a.bin");
    let mut bytes = fs::read(&damaged).unwrap();
    bytes[5 * content.piece_len() as usize] ^= 1;
    fs::write(&damaged, bytes).unwrap();
    browser.open(&page.with_token());
    browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length === 1");
    browser.wait_for("return document.getElementById('detail-name').innerText === 'tree'");
    browser.press("#torrents tbody tr", "v");
    wait_for_text(
        &browser,
        "map-title",
        "Pieces: 39 of 40 present, 1 wrong (5)",
    );
    browser.click("#repair-files");
    browser.wait_for("return document.querySelectorAll('#tree > div').length === 1");
    let row = "return document.querySelector('#tree .name').innerText";
    browser.expect(row, "a.bin");
    page.change("PATCH /api/v1/config", r#"{"max_down": null}"#);
    browser.click("#tab-overview");
    wait_for_text(&browser, "map-title", "Pieces: 40 of 40 present");
    content.assert_same("tree", folder.path());
    browser.click("#tab-info");
    browser.wait_for(
        "return document.getElementById('facts').innerText.includes('a \u{fffd}comment')",
    );
}

/// A person logs in with a user name and a password, and sees nothing before.
#[test]
fn a_password_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    fs::create_dir(&downloads).unwrap();
    let password = place.path().join("password");
    fs::write(&password, "right password\n").unwrap();
    let options = [
        "--http-user",
        "user",
        "--http-password-file",
        password.to_str().unwrap(),
    ];
    let api = Api::start(&state, &downloads, &options);
    let url = format!("http://{}/", api.address);
    browser.open(&url);
    let visible = "return ['application', 'token-login', 'password-login'].map((id) => document.getElementById(id).checkVisibility())";
    browser.wait_for("return document.getElementById('password-login').checkVisibility()");
    browser.expect(visible, json!([false, false, true]));
    browser.write("#user", "user");
    browser.write("#password", "wrong");
    browser.click("#password-login button");
    wait_for_text(
        &browser,
        "refusal",
        "The user name or the password is wrong.",
    );
    browser.write("#password", "right password");
    browser.click("#password-login button");
    browser.wait_for("return document.getElementById('application').checkVisibility()");
    browser.wait_for("return document.getElementById('add').checkVisibility()");
    browser.click("#logout");
    browser.wait_for("return !document.getElementById('application').checkVisibility()");
    api.daemon.terminate();
}

/// Too many pages, a lost connection and the end of the program are different messages.
#[test]
fn lost_connections_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let torrent = content.torrent("tree", "v1");
    let page = Page::of(Peer::seed_with(
        &[&torrent],
        content.path(),
        &["--http", &port],
    ));
    let streams: Vec<_> = (0..32)
        .map(|_| open(page.address, "GET /api/v1/events", &[], ""))
        .collect();
    browser.open(&page.url);
    wait_for_start(&browser, "loss", "Too many pages are open");
    drop(streams);
    page.peer.kill();
    let page = served_at(&content, &port);
    browser.open(&page.url);
    browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length === 1");
    page.peer.kill();
    wait_for_start(&browser, "loss", "The connection was lost");
    let figures = browser.run("return document.getElementById('loss').innerText");
    assert!(
        figures
            .as_str()
            .unwrap()
            .contains("The figures are those of"),
        "{figures}"
    );
    // The page continues when the program runs again.
    let page = served_at(&content, &port);
    browser.wait_for("return document.getElementById('loss').hidden");
    page.peer.interrupt();
    wait_for_start(&browser, "end", "Hashlane has ended.");
    browser.expect("return document.getElementById('loss').hidden", true);
}

/// Serves the tree on a page with this port.
fn served_at(content: &Content, port: &str) -> Page {
    let torrent = content.torrent("tree", "v1");
    let page = Page::of(Peer::seed_with(
        &[&torrent],
        content.path(),
        &["--http", port],
    ));
    page.wait_for(|all| all["torrents"][0]["activity"] == "serving");
    page
}
