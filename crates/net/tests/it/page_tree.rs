//! The tree of files in Chromium.

use std::fs;

use serde_json::{Value, json};

use super::browser::Browser;
use super::page::{Page, slow_download};
use super::page_pictures::{assert_accessible, axe};
use super::peers::{Content, Peer};

/// The keys of `WebDriver`.
const DOWN: &str = "\u{e015}";
const LEFT: &str = "\u{e012}";
const RIGHT: &str = "\u{e014}";
const END: &str = "\u{e010}";
const TAB: &str = "\u{e004}";

/// The names of the lines that have elements.
const NAMES: &str =
    "return Array.from(document.querySelectorAll('#tree .name'), (name) => name.innerText)";

/// The name of the line with the focus.
const FOCUS: &str = "return document.activeElement.querySelector('.name')?.innerText ?? document.activeElement.ariaLabel";

/// Presses a key where the focus is.
fn key(browser: &Browser, key: &str) {
    browser.press(":focus", key);
}

fn priorities(page: &Page) -> Vec<Value> {
    let answer = page
        .get("/api/v1/torrents/0/files?offset=0&limit=5000")
        .json();
    let files = answer["files"].as_array().unwrap().iter();
    files.map(|file| file["priority"].clone()).collect()
}

/// Folders open and close by keys, and set the priority of the files below them. The lines have the roles of a tree.
#[test]
#[expect(clippy::too_many_lines, reason = "it is one visit of a page")]
fn folders_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    fs::create_dir(content.path().join("tree/sub/deep")).unwrap();
    fs::write(content.path().join("tree/sub/deep/c.bin"), vec![7; 40_000]).unwrap();
    let torrent = content.torrent("tree", "v2");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let page = slow_download(&torrent, folder.path(), &seed);
    browser.open(&page.with_token());
    browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length === 1");
    browser.wait_for("return document.getElementById('detail').checkVisibility()");
    browser.click("#tab-files");
    browser.wait_for("return document.querySelectorAll('#tree [role=treeitem]').length === 6");
    let open = json!([
        "sub (2 files)",
        "deep (1 file)",
        "c.bin",
        "b.bin",
        "a.bin",
        "empty"
    ]);
    browser.expect(NAMES, open);
    let levels = "return Array.from(document.querySelectorAll('#tree > div'),
        (row) => [row.ariaLevel, row.ariaPosInSet, row.ariaSetSize, row.ariaExpanded].join(' '))";
    browser.expect(
        levels,
        json!([
            "1 1 3 true",
            "2 1 2 true",
            "3 1 1 ",
            "2 2 2 ",
            "1 2 3 ",
            "1 3 3 "
        ]),
    );
    browser.wait_for("return document.querySelector('#tree select') !== null");
    if let Some(axe) = axe() {
        assert_accessible(&browser, &axe, "tree");
    }

    // The left arrow key goes to the folder, and closes it.
    browser.press("#tree > div:nth-child(3)", LEFT);
    browser.expect(FOCUS, "deep (1 file)");
    key(&browser, LEFT);
    key(&browser, LEFT);
    key(&browser, LEFT);
    browser.wait_for("return document.querySelectorAll('#tree > div').length === 3");
    browser.expect(NAMES, json!(["sub (2 files)", "a.bin", "empty"]));
    key(&browser, RIGHT);
    key(&browser, DOWN);
    browser.expect(
        NAMES,
        json!(["sub (2 files)", "deep (1 file)", "b.bin", "a.bin", "empty"]),
    );
    browser.expect(FOCUS, "deep (1 file)");
    browser.press("#tree > div:nth-child(1)", LEFT);

    // The priority of a closed folder is that of all files below it.
    key(&browser, TAB);
    browser.expect(FOCUS, "Priority of sub");
    key(&browser, "high");
    page.wait_for(|_| {
        let set = priorities(&page);
        set.iter().filter(|priority| *priority == "high").count() == 2
    });
    assert_eq!(priorities(&page)[0], "normal");

    // A search opens the folders of what it finds, and the tree is as before after it.
    browser.write("#file-search", "c.bin");
    let found = json!(["sub (1 file)", "deep (1 file)", "c.bin"]);
    browser.wait_for(&format!(
        "{} === '{found}'",
        NAMES.replace("return ", "return JSON.stringify(") + ")"
    ));
    browser.write("#file-search", "no such file");
    browser.wait_for("return document.querySelector('#files .empty').checkVisibility()");
    browser.run("const search = document.getElementById('file-search'); search.value = ''; search.dispatchEvent(new Event('input')); return null");
    browser.wait_for("return document.querySelectorAll('#tree > div').length === 3");
}

/// Of 1,500 files, only those in the window have elements. The last one is reached by a key.
#[test]
fn many_files_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    for i in 0..1500 {
        let folder = content.path().join(format!("tree/many/{}", i % 3));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{i:04}")), b"").unwrap();
    }
    let torrent = content.torrent("tree", "v2");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let page = slow_download(&torrent, folder.path(), &seed);
    browser.emulate(1280, 900, false);
    browser.open(&page.with_token());
    browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length === 1");
    browser.wait_for("return document.getElementById('detail').checkVisibility()");
    browser.click("#tab-files");
    // With that many files, the folders are closed.
    browser.wait_for("return document.querySelectorAll('#tree > div').length === 4");
    browser.expect(
        NAMES,
        json!(["many (1,500 files)", "sub (1 file)", "a.bin", "empty"]),
    );
    browser.click("#open-folders");
    let few_rows =
        "const n = document.querySelectorAll('#tree > div').length; return n >= 5 && n < 60";
    browser.wait_for("return document.querySelector('#tree').clientHeight > 40000");
    browser.wait_for(few_rows);
    browser.press("#tree > div:nth-child(1)", END);
    browser.expect(FOCUS, "empty");
    let is_visible = "const { top, bottom } = document.activeElement.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight";
    browser.expect(is_visible, true);
    browser.wait_for(few_rows);
}
