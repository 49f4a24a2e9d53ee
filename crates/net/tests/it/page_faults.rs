//! The page in Chromium with unusual values and at unusual moments.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};

use serde_json::json;

use super::browser::Browser;
use super::page::{Page, served, two_served};
use super::peers::{Content, Peer};

/// Returns a script that waits for the number of rows.
fn rows(n: usize) -> String {
    format!("return document.querySelectorAll('#torrents tbody tr').length === {n}")
}

fn text_of(browser: &Browser, id: &str) -> String {
    let text = browser.run(&format!("return document.getElementById('{id}').innerText"));
    text.as_str().unwrap().to_owned()
}

/// The buttons act on the torrent that is shown, also before its state has arrived.
#[test]
fn buttons_of_the_chosen_torrent_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let page = two_served(&content);
    browser.open(&page.with_token());
    browser.wait_for(&rows(2));
    browser.click("#torrents tr[data-key='0']");
    browser.wait_for("return document.getElementById('map-title').innerText.includes('present')");
    // The state of the next torrent never arrives.
    browser.run("window.EventSource = class { close() {} addEventListener() {} }; return null");
    browser.click("#torrents tr[data-key='1']");
    assert_eq!(text_of(&browser, "detail-name"), "file.bin");
    assert_eq!(text_of(&browser, "pause"), "Pause");
    browser.expect(
        "return document.getElementById('charts').checkVisibility()",
        false,
    );
    browser.click("#pause");
    page.wait_for(|all| all["torrents"][1]["activity"] == "paused");
    browser.click("#chosen-more");
    browser.click("#menu [data-command=stop]");
    assert_eq!(text_of(&browser, "dialog-title"), "Stop file.bin?");
    browser.click("#dialog button[value=do]");
    page.wait_for(|all| all["torrents"][1]["activity"] == "ended");
    assert_eq!(
        page.get("/api/v1/torrents").json()["torrents"][0]["activity"],
        "serving"
    );
}

/// The dialog takes info-hashes, and says what it does not take.
#[test]
fn texts_of_the_dialog_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let page = served(&content, &content.torrent("tree", "v1"));
    browser.open(&page.with_token());
    browser.wait_for("return document.getElementById('add').checkVisibility()");
    browser.click("#add");
    let (v1, v2) = (
        "0123456789abcdef".repeat(3)[..40].to_owned(),
        "0123456789abcdef".repeat(4),
    );
    browser.write(
        "#links",
        &format!("two words\n{v1}\n{v2}\nftp://site.example/x.torrent"),
    );
    let expected = "two words: no magnet link, info-hash or URL\n\
        ftp://site.example/x.torrent: no magnet link, info-hash or URL";
    assert_eq!(text_of(&browser, "link-problems"), expected);
    browser.click("#adding button[value=add]");
    browser.wait_for(&rows(3));
    browser.wait_for("return document.getElementById('added').innerText === '2 torrents added.'");
    assert_eq!(text_of(&browser, "refusal"), expected);
    page.wait_for(|all| {
        all["torrents"][1]["info_hash"] == v1 && all["torrents"][2]["info_hash"] == v2
    });

    // Text can be dropped into a field, and nowhere else.
    let is_prevented = |target: &str, kind: &str| {
        browser.run(&format!(
            "const dataTransfer = new DataTransfer(); dataTransfer.setData('text/plain', 'tree');
            const options = {{ dataTransfer, bubbles: true, cancelable: true }};
            return !document.querySelector('{target}').dispatchEvent(new DragEvent('{kind}', options))"
        ))
    };
    for kind in ["dragover", "drop"] {
        assert_eq!(is_prevented("#search", kind), false, "{kind}");
        assert_eq!(is_prevented("#torrents", kind), true, "{kind}");
    }
}

/// Values that another page stored do not stop this page, and errors do not control the order of text.
#[test]
fn foreign_values_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let missing = content.path().join("\u{202e}missing");
    fs::create_dir(&missing).unwrap();
    let page = Page::of(Peer::seed_with(
        &[&torrent],
        &missing,
        &["--http", "0", "--watch-dir", missing.to_str().unwrap()],
    ));
    page.wait_for(|all| all["torrents"][0]["activity"] == "absent");
    for value in [
        "{",
        "null",
        "5",
        r#"{"key": ["name"], "isDescending": "no"}"#,
        r#"{"key": "other"}"#,
    ] {
        browser.open(&page.url);
        browser.run(&format!(
            "localStorage.setItem('sort', {}); return null",
            json!(value)
        ));
        browser.open(&page.with_token());
        browser.wait_for(&rows(1));
        browser.expect("return document.getElementById('sort').value", "number");
    }
    let hint = browser.run("return document.querySelector('#torrents tbody tr').title");
    let hint = hint.as_str().unwrap();
    assert!(
        hint.contains("\u{fffd}missing") && !hint.contains('\u{202e}'),
        "{hint}"
    );
}

/// A program that was started again with fewer torrents is shown as it is now.
#[test]
fn fewer_torrents_after_a_restart_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let (tree, file) = (
        content.torrent("tree", "v1"),
        content.torrent("file.bin", "v1"),
    );
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let options = ["--http", port.as_str()];
    let page = Page::of(Peer::seed_with(&[&tree, &file], content.path(), &options));
    page.wait_for(|all| all["torrents"][1]["activity"] == "serving");
    browser.open(&page.with_token());
    browser.wait_for(&rows(2));
    browser.click("#torrents tr[data-key='1']");
    browser.wait_for("return document.getElementById('map-title').innerText.includes('present')");
    // A program that is killed sends no last event.
    page.peer.kill();
    let page = Page::of(Peer::seed_with(&[&tree], content.path(), &options));
    page.wait_for(|all| all["torrents"][0]["activity"] == "serving");
    browser.wait_for(&rows(1));
    browser.wait_for("return document.getElementById('detail-name').innerText === 'tree'");
    assert_eq!(
        text_of(&browser, "refusal"),
        "The chosen torrent was removed, or the program was started again without it."
    );
}
