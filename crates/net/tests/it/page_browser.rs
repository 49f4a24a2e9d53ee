//! The page in Chromium.

use std::fs;
use std::time::Duration;

use serde_json::json;

use super::browser::Browser;
use super::page::{Page, served, slow_download, torrent_is, two_served};
use super::peers::{Content, Peer};
use super::servers::WebServer;

/// The keys of `WebDriver`.
const ENTER: &str = "\u{e007}";
const RIGHT: &str = "\u{e014}";

const ONE_ROW: &str = "return document.querySelectorAll('#torrents tbody tr').length === 1";

/// Returns a script that reads a cell of the first torrent.
fn cell(column: &str) -> String {
    format!("document.querySelector('#torrents tbody tr [data-column={column}]')?.innerText")
}

/// Waits until an element has this text.
fn wait_for_text(browser: &Browser, id: &str, text: &str) {
    browser.wait_for(&format!(
        "return document.getElementById('{id}').innerText === {}",
        json!(text)
    ));
}

/// Returns whether the address bar has the token.
fn has_token(browser: &Browser, page: &Page) -> bool {
    let token = page.bearer().trim_start_matches("Bearer ");
    let address = browser.run("return location.href");
    address.as_str().unwrap().contains(token)
}

/// Names are text, the map is drawn, buttons work, and other sites are refused.
#[test]
#[expect(clippy::too_many_lines, reason = "one session of a user")]
fn a_page_in_chromium() {
    const NAME: &str = "<b>a&amp;\"b'\u{202e}c";
    const SHOWN: &str = "<b>a&amp;\"b'\u{fffd}c";
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    fs::rename(content.path().join("tree"), content.path().join(NAME)).unwrap();
    let torrent = content.torrent(NAME, "hybrid");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let page = slow_download(&torrent, folder.path(), &seed);
    page.wait_for(|all| all["torrents"][0]["done_bytes"].as_u64() > Some(0));
    browser.open(&page.with_token());
    browser.wait_for(ONE_ROW);
    browser.expect(&format!("return {}", cell("name")), SHOWN);
    browser.expect(&format!("return {}", cell("state")), "Downloading");
    // The token does not stay in the address bar.
    assert!(!has_token(&browser, &page));
    // The only torrent is chosen automatically. Some cells of the map are drawn.
    browser.wait_for("return document.querySelectorAll('#peers tbody tr').length === 1");
    let drawn = "const map = document.getElementById('map');
        const { data } = map.getContext('2d').getImageData(0, 0, map.width, map.height);
        const colours = new Set();
        for (let i = 0; i < data.length; i += 4) {
            if (data[i + 3] === 255) colours.add(data.slice(i, i + 3).join());
        }
        return colours.size;";
    browser.expect(drawn, 2);
    browser.wait_for("return document.title.match(/^[0-9.]+ % ↓ .* – Hashlane$/) !== null");
    wait_for_text(&browser, "pause", "Pause");
    browser.click("#pause");
    wait_for_text(&browser, "pause", "Resume");
    browser.wait_for(&format!("return {} === 'Paused'", cell("state")));
    browser.click("#pause");
    browser.wait_for(&format!("return {} === 'Downloading'", cell("state")));

    // Another site reads nothing, and its requests change nothing.
    let site = tempfile::tempdir().unwrap();
    fs::write(
        site.path().join("other.html"),
        "<!doctype html><title>other</title>",
    )
    .unwrap();
    let server = WebServer::of(site.path());
    browser.open(&server.url("other.html"));
    let steal = format!(
        "const url = '{}api/v1/'; window.found = [];
        const ask = (path, options) =>
            fetch(url + path, options).then(() => found.push('answered'), () => found.push('refused'));
        ask('torrents'); ask('torrents', {{mode: 'no-cors'}});
        ask('torrents/0', {{method: 'POST', mode: 'no-cors', body: '{{\"action\":\"pause\"}}'}});
        return null",
        page.url
    );
    browser.run(&steal);
    browser.wait_for("return found.length === 3");
    browser.expect("return found", json!(["refused", "refused", "refused"]));
    std::thread::sleep(Duration::from_millis(500));
    assert!(torrent_is("downloading")(
        &page.get("/api/v1/torrents").json()
    ));

    // A limit that is set is shown. Setting one limit leaves the other unchanged. Then the other limit is removed.
    browser.open(&page.with_token());
    browser.wait_for(ONE_ROW);
    browser.click("#limits summary");
    browser.wait_for("return document.getElementById('max-down').value === '200'");
    browser.write("#max-up", "50");
    browser.click("#limits button");
    page.wait_for(|all| all["max_up"] == 50 << 10 && all["max_down"] == 200 << 10);
    browser.wait_for("return document.getElementById('max-up').value === '50'");
    browser.write("#max-down", "");
    browser.click("#limits button");
    page.wait_for(|all| all["max_up"] == 50 << 10 && all["max_down"].is_null());
    page.wait_for(torrent_is("serving"));
    wait_for_text(&browser, "map-title", "Pieces: 40 of 40 present");
    let verdict =
        "Complete and verified: all wanted content is present and right. Serving to peers.";
    wait_for_text(&browser, "verdict", verdict);

    // The end is confirmed, and the final state stays.
    for answer in ["cancel", "do"] {
        assert!(torrent_is("serving")(&page.get("/api/v1/torrents").json()));
        browser.click("#chosen-more");
        browser.click("#menu [data-command=stop]");
        browser.click(&format!("#dialog button[value={answer}]"));
    }
    let ended = page.peer.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    browser.wait_for(&format!("return {} === 'Complete'", cell("state")));
    let end = "Hashlane has ended. The torrent is complete and verified. This page shows the final state.";
    wait_for_text(&browser, "end", end);
    browser.expect("return document.getElementById('loss').hidden", true);
    wait_for_text(&browser, "map-title", "Pieces: 40 of 40 present");
}

/// Without the token, the page says how to get it, and takes it.
#[test]
fn a_token_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let page = served(&content, &content.torrent("tree", "v1"));
    let is_hidden =
        |id: &str| browser.run(&format!("return document.getElementById('{id}').hidden"));
    browser.open(&page.url);
    browser.wait_for(ONE_ROW);
    browser.wait_for("return !document.getElementById('detail').hidden");
    assert_eq!(
        (is_hidden("limits"), is_hidden("pause")),
        (json!(true), json!(true))
    );
    assert_eq!(is_hidden("read-only"), false);
    browser.click("#read-only summary");
    browser.write("#token", "00000000");
    browser.click("#read-only button");
    browser.wait_for(
        "return document.getElementById('refusal').innerText.startsWith('The token is wrong')",
    );
    assert_eq!(is_hidden("pause"), true);
    browser.write("#token", &page.with_token());
    browser.click("#read-only button");
    browser.wait_for("return !document.getElementById('pause').hidden");
    browser.click("#pause");
    page.wait_for(torrent_is("paused"));
    // The session lasts when the page is loaded again, until its end.
    browser.open(&page.url);
    browser.wait_for("return !document.getElementById('pause').hidden");
    browser.click("#logout");
    browser.wait_for("return document.getElementById('pause').hidden");
    // The address with the token can be opened in the same tab.
    browser.open(&page.with_token());
    browser.wait_for("return !document.getElementById('pause').hidden");
    assert!(!has_token(&browser, &page));
    assert_eq!(
        (is_hidden("read-only"), is_hidden("refusal")),
        (json!(true), json!(true))
    );
}

/// Files are chosen with the keyboard, and characters that change the order of text are not shown.
#[test]
fn files_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let (before, after) = ("tree/sub/b.bin", "tree/sub/\u{202e}nib.b");
    fs::rename(content.path().join(before), content.path().join(after)).unwrap();
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let page = slow_download(&torrent, folder.path(), &seed);
    browser.open(&page.with_token());
    browser.wait_for(ONE_ROW);
    browser.press("#torrents tbody tr", ENTER);
    browser.press("#tab-overview", RIGHT);
    browser.press("#tab-info", RIGHT);
    browser.wait_for("return document.activeElement.id === 'tab-files'");
    browser.wait_for("return document.querySelectorAll('#tree > div').length === 4");
    let name = "return document.querySelector('#tree > div:nth-child(2) .name').innerText";
    browser.expect(name, r"\u{202e}nib.b");
    browser.press("#tree > div:nth-child(2) select", "high");
    page.wait_for(|_| {
        page.get("/api/v1/torrents/0/files").json()["files"][2]["priority"] == "high"
    });
    browser.wait_for(
        "return document.querySelector('#tree > div:nth-child(2) select').value === 'high'",
    );
    browser.press("#tab-files", RIGHT);
    browser.press("#tab-peers", RIGHT);
    browser.wait_for("return document.activeElement.id === 'tab-trackers'");
    browser.wait_for("return document.querySelector('#trackers .empty').innerText.startsWith('The torrent has no')");
}

/// On a phone, the detail takes the place of the list, and the way back of the browser leads to the list.
#[test]
fn a_phone_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let page = two_served(&content);
    browser.emulate(390, 844, false);
    browser.open(&page.with_token());
    browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length === 2");
    let visible =
        "return ['list', 'detail'].map((id) => document.getElementById(id).checkVisibility())";
    browser.expect(visible, json!([true, false]));
    browser.click("#torrents tbody tr:nth-child(2)");
    wait_for_text(&browser, "detail-name", "file.bin");
    browser.expect(visible, json!([false, true]));
    browser.click("#back");
    browser.wait_for("return document.getElementById('list').checkVisibility()");
    browser.wait_for("return document.activeElement.dataset.key === '1'");
    // Columns are cards: no cell is wider than the page, and no figure is nothing.
    let widths = "return [...document.querySelectorAll('td')].every((td) => td.getBoundingClientRect().right <= 390)";
    browser.expect(widths, true);
    let labels = "return Array.from(document.querySelectorAll('#torrents tbody tr:first-child td'))
        .filter((td) => td.checkVisibility()).map((td) => td.dataset.column ?? 'check')";
    browser.expect(labels, json!(["check", "name", "state", "done", "size"]));
}

/// Three tabs of one browser leave connections for commands. A row keeps its element, the focus and the selected text
/// while its figures change.
#[test]
fn three_tabs_in_chromium() {
    const FIRST: &str = "document.querySelector('#torrents tbody').rows[0]";
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let (tree, file) = (
        content.torrent("tree", "v1"),
        content.torrent("file.bin", "v2"),
    );
    let seed = Peer::seed(&[&tree, &file], content.path());
    let folder = tempfile::tempdir().unwrap();
    let options = ["--http", "0", "--max-down", "50KiB", "--seed"];
    let page = Page::of(Peer::get(&[&tree, &file], folder.path(), &seed, &options));
    page.wait_for(|all| all["torrents"][0]["done_bytes"].as_u64() > Some(0));
    for tab in 0..3 {
        if tab > 0 {
            browser.open_tab();
        }
        browser.open(&page.with_token());
        browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length === 2");
        browser.click("#torrents tbody tr:nth-child(1)");
        browser.wait_for("return document.querySelectorAll('#peers tbody tr').length === 1");
    }
    browser.run(&format!(
        "window.row = {FIRST}; window.text = row.innerText;
        row.focus();
        const range = document.createRange();
        range.selectNodeContents(row.cells[1].firstChild);
        document.getSelection().removeAllRanges(); document.getSelection().addRange(range);
        return null"
    ));
    browser.wait_for(&format!(
        "return row === {FIRST} && row.innerText !== window.text"
    ));
    browser.expect(
        "return [document.getSelection().toString(), row === document.activeElement]",
        json!(["tree", true]),
    );
    browser.run("document.getSelection().removeAllRanges(); return null");
    for (action, state) in [("pause", "Paused"), ("resume", "Downloading")] {
        wait_for_text(
            &browser,
            "pause",
            if action == "pause" { "Pause" } else { "Resume" },
        );
        browser.click("#pause");
        browser.wait_for(&format!(
            "return row.querySelector('[data-column=state]').innerText === '{state}'"
        ));
    }

    // Sorting and filtering.
    let names = "return Array.from(document.querySelectorAll('#torrents tbody tr'), (tr) => tr.cells[1].innerText)";
    browser.click("#torrents th[data-key=name] button");
    browser.expect(names, json!(["file.bin", "tree"]));
    browser.click("#torrents th[data-key=name] button");
    browser.expect(names, json!(["tree", "file.bin"]));
    let sorted = "return document.querySelector('#torrents th[data-key=name]').ariaSort";
    browser.expect(sorted, "descending");
    browser.write("#search", "FILE");
    browser.expect(names, json!(["file.bin"]));
    wait_for_text(&browser, "shown", "1 of 2 torrents");
}
