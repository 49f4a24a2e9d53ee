//! Screenshots of the page, and its accessibility, on desktops and phones, light and dark.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::browser::Browser;
use super::page::Page;
use super::peers::{Content, Peer};
use super::tracker::Tracker;
use crate::not_run::not_run_unless_required;
use crate::random::Random;

/// Devices: name, width and height in pixels.
const DEVICES: [(&str, u32, u32); 2] = [("desktop", 1280, 900), ("phone", 390, 844)];

const MIB: u64 = 1 << 20;

/// Torrents of the gallery: name of the folder or file, and length in MiB.
const TORRENTS: [(&str, u64); 5] = [
    ("Lectures on number theory", 40),
    ("Open map of the Alps", 6),
    ("Field recordings 2026", 12),
    ("Comet photographs", 30),
    ("Old radio plays", 3),
];

/// A download of several torrents in different states, and everything that it needs.
struct Gallery {
    page: Page,
    _peers: [Peer; 2],
    _trackers: [Tracker; 2],
    _folders: [tempfile::TempDir; 3],
}

impl Gallery {
    fn open() -> Self {
        let folders = ["content-", "downloads-", "other-"]
            .map(|prefix| tempfile::Builder::new().prefix(prefix).tempdir().unwrap());
        let [content, folder, other] = &folders;
        // The pictures of the documentation show a client without faults. The tests look at faults, too.
        let has_faults = std::env::var_os("HASHLANE_TEST_PICTURES").is_none();
        let first = if has_faults {
            Tracker::refusing(b"unregistered torrent")
        } else {
            Tracker::start()
        };
        let trackers = [first, Tracker::start()];
        let torrents: Vec<PathBuf> = TORRENTS
            .iter()
            .map(|(name, mib)| make(content.path(), name, mib * MIB, &trackers))
            .collect();
        let present: Vec<&Path> = torrents.iter().map(PathBuf::as_path).collect();
        let seed = Peer::seed(&present, content.path());
        // The first is partly present with wrong pieces, the second is complete.
        for (i, (name, _)) in TORRENTS.iter().enumerate().take(2) {
            copy(
                &content.path().join(name),
                &folder.path().join(name),
                i == 0,
            );
        }
        // Content that does not belong to the last torrent, which therefore fails.
        if has_faults {
            let unrelated = folder.path().join(TORRENTS[4].0).join("part-1.bin");
            fs::create_dir_all(unrelated.parent().unwrap()).unwrap();
            fs::write(unrelated, Random::new(9).bytes(1000)).unwrap();
        }
        let options = ["--http", "0", "--max-down", "200KiB", "--seed"];
        let page = Page::of(Peer::get(&present, folder.path(), &seed, &options));
        page.wait_for(|all| all["torrents"][0]["activity"] == "downloading");
        page.wait_for(|all| all["torrents"][2]["done_bytes"].as_u64() > Some(MIB));
        page.apply(2, &json!({"action": "pause"}));
        page.wait_for(|all| all["torrents"][2]["activity"] == "paused");
        let options = ["--max-down", "60KiB"];
        let leech = Peer::get(&present[1..2], other.path(), &page.peer, &options);
        Self {
            page,
            _peers: [seed, leech],
            _trackers: trackers,
            _folders: folders,
        }
    }
}

/// Makes a folder of four files and its torrent.
fn make(folder: &Path, name: &str, len: u64, trackers: &[Tracker; 2]) -> PathBuf {
    let content = folder.join(name);
    fs::create_dir(&content).unwrap();
    for part in 1..=4 {
        fs::write(
            content.join(format!("part-{part}.bin")),
            Random::new(len + part).bytes(len as usize / 4),
        )
        .unwrap();
    }
    let [refuses, works] = trackers;
    let announce = [refuses.url(), works.url()];
    let options = ["--announce", &announce[0], "--announce", &announce[1]];
    Content::torrent_of(&content, "v1", &options)
}

/// Copies the files of a folder. If `is_damaged`, some parts are missing and some are wrong.
fn copy(from: &Path, to: &Path, is_damaged: bool) {
    fs::create_dir_all(to).unwrap();
    for part in 1..=4 {
        let name = format!("part-{part}.bin");
        let mut content = fs::read(from.join(&name)).unwrap();
        if is_damaged {
            let piece = 64 << 10;
            for wrong in [11, 12, 77] {
                content[wrong * piece + 100] ^= 1;
            }
            let kept = content.len() / 5 * (5 - part);
            content[kept..].fill(0);
        }
        fs::write(to.join(name), content).unwrap();
    }
}

/// Returns the script of axe-core, or reports that it is not installed.
pub(crate) fn axe() -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/axe/node_modules/axe-core/axe.min.js");
    let text = fs::read_to_string(&script).ok();
    if text.is_none() {
        not_run_unless_required(
            "AXE",
            "the check of the page's accessibility",
            "axe-core is not installed",
            "cargo xtask counterparts",
        );
    }
    text
}

/// Asserts that axe-core finds no violation.
pub(crate) fn assert_accessible(browser: &Browser, axe: &str, what: &str) {
    browser.run(&format!("if (!window.axe) {{ {axe} }} return null"));
    let found = browser.run("return axe.run().then(({ violations }) => violations)");
    let found = found.as_array().unwrap();
    let lines: Vec<String> = found
        .iter()
        .map(|violation| format!("{}: {}", violation["id"], summary(violation)))
        .collect();
    assert!(found.is_empty(), "{what}:\n{}", lines.join("\n"));
}

fn summary(violation: &Value) -> String {
    let nodes = violation["nodes"].as_array().unwrap().iter();
    let nodes = nodes.map(|node| format!("{} {}", node["html"], node["failureSummary"]));
    nodes.take(5).collect::<Vec<_>>().join("\n  ")
}

/// The page is shown on desktops and phones, light and dark, in every tab. With `HASHLANE_TEST_PICTURES`, the test first
/// waits for the graph of rates to fill.
#[test]
fn pictures_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let axe = axe();
    let gallery = Gallery::open();
    if std::env::var_os("HASHLANE_TEST_PICTURES").is_some() {
        for limit in [700, 500, 900, 350] {
            let body = format!("{{\"max_down\": {}}}", limit << 10);
            gallery.page.change("PATCH /api/v1/config", &body);
            std::thread::sleep(Duration::from_secs(8));
        }
    }
    for (device, width, height) in DEVICES {
        for (scheme, is_dark) in [("light", false), ("dark", true)] {
            browser.emulate(width, height, is_dark);
            browser.open("about:blank");
            browser.open(&gallery.page.with_token());
            browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length === 5");
            let what = format!("{device} {scheme}");
            // `innerWidth` grows with the content of a phone's page.
            let fits = format!("return document.documentElement.scrollWidth <= {width}");
            browser.expect(&fits, true);
            if let Some(axe) = &axe {
                assert_accessible(&browser, axe, &format!("{what} list"));
            }
            browser.picture(&format!("list-{device}-{scheme}.png"));
            browser.click("#torrents tbody tr:nth-child(1)");
            browser.wait_for(
                "return document.getElementById('map-title').innerText.includes('wrong')",
            );
            for tab in ["overview", "info", "files", "peers", "trackers"] {
                browser.run(&format!(
                    "document.getElementById('tab-{tab}').click(); return null"
                ));
                browser.wait_for(&format!(
                    "return document.querySelector('#{tab} tbody tr, #{tab} dd, #{tab} [role=treeitem]')?.checkVisibility() === true"
                ));
                browser.expect(&fits, true);
                if let Some(axe) = &axe {
                    assert_accessible(&browser, axe, &format!("{what} {tab}"));
                }
                browser.picture(&format!("{tab}-{device}-{scheme}.png"));
            }
            browser.run(
                "document.getElementById('chosen-more').click();
                document.querySelector('#menu [data-command=remove]').click(); return null",
            );
            if let Some(axe) = &axe {
                assert_accessible(&browser, axe, &format!("{what} dialog"));
            }
            browser.picture(&format!("dialog-{device}-{scheme}.png"));
        }
    }
    // A window of 1280 x 900 pixels with a zoom of 200 %, and the few colours of a system with high contrast.
    browser.emulate(640, 450, false);
    browser.open("about:blank");
    browser.open(&gallery.page.with_token());
    browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length > 0");
    browser.picture("list-zoom.png");
    browser.emulate(1280, 900, false);
    browser.emulate_high_contrast();
    browser.click("#torrents tbody tr:nth-child(1)");
    browser.wait_for("return document.getElementById('map-title').innerText !== ''");
    browser.picture("overview-contrast.png");
}
