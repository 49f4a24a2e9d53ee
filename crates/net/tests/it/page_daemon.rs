//! What only a daemon has, on the page in Chromium: the queue, categories, goals, names and settings.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::browser::Browser;
use super::daemon::Place;
use super::daemon_api::{Api, places};
use super::foreign::free_port;
use super::page::two_served;
use super::page_pictures::{assert_accessible, axe};
use super::peers::Content;
use crate::wait_for;

/// The keys of `WebDriver`.
const ENTER: &str = "\u{e007}";
const F2: &str = "\u{e032}";

/// A browser with the page of a daemon.
struct Visit {
    browser: Browser,
    axe: Option<String>,
    api: Api,
    content: Content,
    state: PathBuf,
    downloads: PathBuf,
    _place: Place,
}

impl Visit {
    /// Opens the page of a daemon with these options, or reports that the browser is not installed.
    fn start(options: &[&str]) -> Option<Self> {
        let browser = Browser::start()?;
        let (place, state, downloads) = places();
        let visit = Self {
            browser,
            axe: axe(),
            api: Api::start(&state, &downloads, options),
            content: Content::new(),
            state,
            downloads,
            _place: place,
        };
        visit.open();
        Some(visit)
    }

    fn open(&self) {
        let token = self.api.bearer.trim_start_matches("Bearer ");
        self.browser
            .open(&format!("http://{}/#{token}", self.api.address));
        self.browser
            .wait_for("return document.getElementById('groups').checkVisibility()");
    }

    /// Adds a paused torrent by the API, and opens it.
    fn add_paused(&self, name: &str) {
        let torrent = self.content.torrent(name, "v1");
        let added = self.api.add(&torrent, &json!({"paused": true}));
        assert_eq!(added.status, 201, "{added:?}");
        self.choose_torrent(1);
    }

    /// Opens a torrent.
    fn choose_torrent(&self, number: u32) {
        let row = format!("#torrents tr[data-key='{number}']");
        self.browser.wait_for(&format!(
            "return document.querySelector(\"{row}\") !== null"
        ));
        self.browser.click(&row);
        self.browser
            .wait_for("return document.getElementById('chosen-more').checkVisibility()");
    }

    /// Runs a command of the menu with the torrent in the pane.
    fn act(&self, command: &str) {
        self.browser.click("#chosen-more");
        let command = format!("#menu [data-command={command}]");
        self.browser.wait_for(&format!(
            "return document.querySelector(\"{command}\") !== null"
        ));
        self.browser.click(&command);
    }

    /// Waits until a dialog is open, which is accessible.
    fn dialog(&self, title: &str) {
        self.browser.wait_for(&format!(
            "return document.getElementById('dialog').open && document.getElementById('dialog-title').innerText === {}",
            json!(title)
        ));
        if let Some(axe) = &self.axe {
            assert_accessible(&self.browser, axe, title);
        }
    }

    /// Chooses an entry of a list by its first letters.
    fn choose(&self, name: &str, entry: &str) {
        self.browser
            .press(&format!("#dialog select[name={name}]"), entry);
    }

    /// Sets a limit to a number.
    fn set(&self, name: &str, amount: &str) {
        self.choose(name, "this");
        self.browser
            .write(&format!("#dialog [name={name}-amount]"), amount);
    }

    fn write(&self, name: &str, text: &str) {
        self.browser.write(&format!("#dialog [name={name}]"), text);
    }

    /// Presses the button of the dialog's action.
    fn confirm(&self) {
        self.browser.click("#dialog button[value=do]");
    }

    /// Waits until the page refuses something with this reason.
    fn wait_for_refusal(&self, reason: &str) {
        self.browser.wait_for(&format!(
            "return document.getElementById('refusal').innerText.includes({})",
            json!(reason)
        ));
    }

    /// Waits until an answer of the API is as expected.
    #[track_caller]
    fn wait_for(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let mut answer = Value::Null;
        wait_for(|| {
            answer = self.api.get(path).json();
            is_so(&answer)
        });
        answer
    }
}

/// Torrents move in the queue and run out of their turn. The list is sorted by the queue.
#[test]
fn the_queue_in_chromium() {
    let Some(visit) = Visit::start(&["--max-active-downloads", "1"]) else {
        return;
    };
    let browser = &visit.browser;
    for name in ["tree", "file.bin", "other.bin"] {
        if name == "other.bin" {
            fs::write(visit.content.path().join(name), vec![7; 50_000]).unwrap();
        }
        let torrent = visit.content.torrent(name, "v1");
        assert_eq!(visit.api.add(&torrent, &json!({})).status, 201);
    }
    let wait_for_order = |expected: [&str; 3]| {
        wait_for(|| {
            let list = visit.api.daemon.done(["list"]);
            let names = list.iter().map(|torrent| torrent["name"].as_str().unwrap());
            names.eq(expected)
        });
    };
    wait_for_order(["tree", "file.bin", "other.bin"]);
    visit.choose_torrent(3);
    for (to, expected) in [
        ("top", ["other.bin", "tree", "file.bin"]),
        ("down", ["tree", "other.bin", "file.bin"]),
        ("bottom", ["tree", "file.bin", "other.bin"]),
        ("up", ["tree", "other.bin", "file.bin"]),
    ] {
        visit.act(&format!("queue-{to}"));
        wait_for_order(expected);
    }

    browser.run("document.getElementById('columns').open = true; return null");
    browser.run("[...document.querySelectorAll('#column-choices label')].find((label) => label.innerText.trim() === 'Queue').control.click(); return null");
    browser.run("document.getElementById('columns').open = false; return null");
    browser.click("#torrents th[data-key=queue] button");
    browser.expect(
        "return Array.from(document.querySelectorAll('#torrents tbody tr'), (tr) =>
            ['name', 'queue'].map((key) => tr.querySelector(`[data-column=${key}]`).innerText).join(' '))",
        json!(["tree 0", "other.bin 1", "file.bin 2"]),
    );

    let wait_for_state = |state: &str| {
        browser.wait_for(&format!(
            "return document.querySelector('#torrents tr[data-key=\"3\"] [data-column=state]').innerText === '{state}'"
        ));
    };
    wait_for_state("Queued");
    visit.act("resume-now");
    visit.wait_for("torrents/3", |one| {
        one["forced"] == true && one["activity"] == "downloading"
    });
    wait_for_state("Downloading");
    visit.act("resume-queued");
    visit.wait_for("torrents/3", |one| one["forced"] == false);
    visit.api.daemon.terminate();
}

/// Categories are made, changed, chosen and removed.
#[test]
#[expect(clippy::too_many_lines, reason = "the test follows one category")]
fn categories_in_chromium() {
    let Some(visit) = Visit::start(&[]) else {
        return;
    };
    let browser = &visit.browser;
    let tv = visit.downloads.join("tv");
    visit.add_paused("tree");
    browser.click("#groups");
    visit.dialog("Categories and labels");
    browser.click("#dialog button[value=new]");
    visit.dialog("New category");
    visit.write("name", "tv");
    visit.write("folder", tv.to_str().unwrap());
    visit.set("seed_ratio", "2");
    visit.confirm();
    let expected = json!([
        {"name": "tv", "folder": tv, "goal": {"ratio": 2.0}, "torrents": 0, "configured": false}
    ]);
    visit.wait_for("groups", |groups| groups["categories"] == expected);
    // The list shows the new category, and is accessible with it.
    browser.wait_for("return document.querySelector('.groups li') !== null");
    visit.dialog("Categories and labels");
    browser.click("#dialog button[value='change 0']");
    visit.dialog("Category tv");
    visit.choose("seed_ratio", "inherited");
    visit.set("idle_seconds", "90");
    visit.confirm();
    let goal = json!({"idle_seconds": 5400});
    visit.wait_for("groups", |groups| groups["categories"][0]["goal"] == goal);
    browser.wait_for(
        "return document.querySelector('.groups li')?.innerText.includes('90 min') === true",
    );
    browser.click("#dialog button[value=cancel]");

    visit.act("category");
    visit.dialog("Category of tree");
    visit.choose("category", "tv");
    visit.confirm();
    let torrent = visit
        .api
        .daemon
        .wait_until("in the category", |one| one["category"] == "tv");
    assert_eq!(torrent["idle_seconds"], 5400, "{torrent}");
    // The dialog sends what differs from what the page shows, which follows the daemon.
    wait_for(|| {
        visit.act("category");
        visit.dialog("Category of tree");
        let value = "return document.querySelector('#dialog select[name=category]').value";
        let is_shown = browser.run(value) == "=tv";
        if !is_shown {
            browser.click("#dialog button[value=cancel]");
        }
        is_shown
    });
    visit.choose("category", "none");
    visit.confirm();
    visit
        .api
        .daemon
        .wait_until("without a category", |one| one["category"].is_null());

    // A torrent that is added gets the folder of its category.
    browser.click("#add");
    browser.wait_for("return document.getElementById('adding-category').checkVisibility()");
    let file = visit.content.torrent("file.bin", "v1");
    browser.press("#torrent-files", file.to_str().unwrap());
    browser.press("#adding-category", "tv");
    browser.click("#adding button[value=add]");
    let all = visit.wait_for("torrents", |all| all["torrents"][1]["category"] == "tv");
    assert_eq!(all["torrents"][1]["folder"], json!(tv));

    browser.click("#groups");
    visit.dialog("Categories and labels");
    browser.click("#dialog button[value='remove 0']");
    visit.dialog("Remove the category tv?");
    visit.confirm();
    visit.wait_for("groups", |groups| groups["categories"] == json!([]));
    visit.wait_for("torrents/2", |one| one["category"].is_null());

    // A label exists without torrents.
    browser.wait_for("return document.querySelector('.groups li') === null");
    browser.click("#dialog button[value=label]");
    visit.dialog("New label");
    visit.write("label", "linux");
    visit.confirm();
    visit.wait_for("groups", |groups| groups["labels"] == json!(["linux"]));
    browser.wait_for("return document.querySelector('.groups li') !== null");
    visit.dialog("Categories and labels");
    browser.click("#dialog button[value='unlabel 0']");
    visit.dialog("Remove the label linux?");
    visit.confirm();
    visit.wait_for("groups", |groups| groups["labels"] == json!([]));
    visit.api.daemon.terminate();
}

/// Goals of a torrent are a number, none, or those of the daemon.
#[test]
fn goals_in_chromium() {
    let Some(visit) = Visit::start(&["--seed-ratio", "2", "--seed-time", "1h"]) else {
        return;
    };
    visit.add_paused("tree");
    let goals = |ratio: Value, time: Value, idle: Value| {
        let expected = [ratio, time, idle];
        visit.api.daemon.wait_until("the goals", |one| {
            let found = ["seed_ratio", "seed_seconds", "idle_seconds"];
            found.map(|name| one[name].clone()) == expected
        })
    };
    goals(json!(2.0), json!(3600), Value::Null);
    visit.act("limits");
    visit.dialog("Limits of tree");
    let ratio = "return document.querySelector('#dialog select[name=seed_ratio] option').innerText";
    visit.browser.expect(ratio, "unchanged: 2");
    visit.set("seed_ratio", "1.5");
    visit.choose("seed_seconds", "no");
    visit.set("idle_seconds", "90");
    visit.set("max_up", "100");
    visit.confirm();
    let torrent = goals(json!(1.5), Value::Null, json!(5400));
    assert_eq!(torrent["max_up"], 100 << 10);
    // What is left as it is does not change.
    visit
        .browser
        .wait_for("return document.getElementById('dialog').open === false");
    visit.act("limits");
    visit.dialog("Limits of tree");
    visit.choose("seed_seconds", "inherited");
    visit.confirm();
    let torrent = goals(json!(1.5), json!(3600), json!(5400));
    assert_eq!(torrent["max_up"], 100 << 10);
    visit.act("limits");
    visit.dialog("Limits of tree");
    visit.choose("seed_ratio", "inherited");
    visit.choose("max_up", "no");
    visit.confirm();
    let torrent = goals(json!(2.0), json!(3600), json!(5400));
    assert_eq!(torrent["max_up"], Value::Null);
    visit.api.daemon.terminate();
}

/// The title, the content, and its files and folders are renamed.
#[test]
fn names_in_chromium() {
    let Some(visit) = Visit::start(&[]) else {
        return;
    };
    let browser = &visit.browser;
    let tree = visit.downloads.join("tree");
    fs::create_dir_all(tree.join("sub")).unwrap();
    for name in ["a.bin", "empty", "sub/b.bin"] {
        fs::copy(
            visit.content.path().join("tree").join(name),
            tree.join(name),
        )
        .unwrap();
    }
    let torrent = visit.content.torrent("tree", "v1");
    assert_eq!(visit.api.add(&torrent, &json!({})).status, 201);
    let wait_until_served = || visit.api.daemon.wait_for_activity("serving");
    wait_until_served();
    visit.choose_torrent(1);
    visit.act("rename");
    visit.dialog("Rename tree");
    visit.write("title", "A title");
    visit.confirm();
    visit
        .api
        .daemon
        .wait_until("a title", |one| one["name"] == "A title");
    browser.wait_for("return document.getElementById('detail-name').innerText === 'A title'");
    // Without a title, the name of the metadata is shown. The content gets another name.
    visit.act("rename");
    visit.dialog("Rename A title");
    visit.write("title", "");
    visit.write("content", "renamed");
    visit.confirm();
    let renamed = visit.downloads.join("renamed");
    wait_for(|| renamed.join("sub/b.bin").exists());
    let named = json!("tree");
    visit
        .api
        .daemon
        .wait_until("the name of the metadata", |one| {
            one["name"] == named && one["content"] == json!(renamed)
        });
    wait_until_served();

    // A folder by a key, and a file by its button.
    browser.wait_for(
        "return document.getElementById('detail-content').innerText.endsWith('/renamed')",
    );
    browser.click("#tab-files");
    browser.wait_for("return document.querySelector('#tree [aria-label=\"Rename sub\"]') !== null");
    browser.press("#tree > div:nth-child(1)", F2);
    visit.dialog("Rename sub");
    visit.write("to", "below");
    browser.press("#dialog [name=to]", ENTER);
    wait_for(|| renamed.join("below/b.bin").exists());
    wait_until_served();
    browser
        .wait_for("return document.querySelector('#tree [aria-label=\"Rename below\"]') !== null");
    browser.click("#tree [aria-label='Rename a.bin']");
    visit.dialog("Rename a.bin");
    visit.write("to", "below/c.bin");
    visit.confirm();
    wait_for(|| renamed.join("below/c.bin").exists() && !renamed.join("a.bin").exists());
    wait_until_served();
    // What exists is not replaced, and the page shows the reason.
    browser
        .wait_for("return document.querySelector('#tree [aria-label=\"Rename empty\"]') !== null");
    browser.click("#tree [aria-label='Rename empty']");
    visit.dialog("Rename empty");
    visit.write("to", "below/b.bin");
    visit.confirm();
    visit.wait_for_refusal("The request was refused: ");
    assert!(renamed.join("empty").exists());
    visit.api.daemon.terminate();
}

/// Content is used where it is, a torrent goes to a position of the queue, and its trackers are edited.
#[test]
#[expect(clippy::too_many_lines, reason = "the test follows two torrents")]
fn places_and_trackers_in_chromium() {
    let Some(visit) = Visit::start(&[]) else {
        return;
    };
    let browser = &visit.browser;
    // Content under any name is served.
    let served = visit.downloads.join("another name");
    fs::copy(visit.content.path().join("file.bin"), &served).unwrap();
    browser.click("#add");
    browser.wait_for("return document.getElementById('adding-place').checkVisibility()");
    let file = visit.content.torrent("file.bin", "v1");
    browser.press("#torrent-files", file.to_str().unwrap());
    browser.press("#adding-place summary", ENTER);
    browser.write("#adding-content", served.to_str().unwrap());
    if let Some(axe) = &visit.axe {
        assert_accessible(browser, axe, "adding content");
    }
    browser.click("#adding button[value=add]");
    visit.wait_for("torrents", |all| {
        let one = &all["torrents"][0];
        one["activity"] == "serving" && one["content"] == json!(served)
    });

    // Content that another program moved is found.
    let moved = visit.downloads.join("moved");
    fs::create_dir_all(moved.join("tree/sub")).unwrap();
    for name in ["tree/a.bin", "tree/empty", "tree/sub/b.bin"] {
        fs::copy(visit.content.path().join(name), moved.join(name)).unwrap();
    }
    let tree = visit.content.torrent("tree", "v1");
    let added = visit.api.add(&tree, &json!({"paused": true}));
    assert_eq!(added.status, 201, "{added:?}");
    visit.choose_torrent(2);
    visit.act("move");
    visit.dialog("Move tree");
    visit.write("folder", moved.to_str().unwrap());
    browser.click("#dialog [name=found]");
    visit.confirm();
    visit.wait_for("torrents/2", |one| {
        one["complete"] == true && one["folder"] == json!(moved) && one["is_folder"] == true
    });
    assert!(moved.join("tree/a.bin").exists());

    visit.act("queue-position");
    visit.dialog("Queue: position of tree");
    browser.expect(
        "return document.querySelector('#dialog [name=position]').value",
        "1",
    );
    visit.write("position", "0");
    visit.confirm();
    visit.wait_for("torrents/2", |one| one["queue_position"] == 0);

    // The page shows no passkey, and keeps it.
    browser.click("#tab-trackers");
    let passkey = "0123456789abcdef0123456789abcdef";
    let first = format!("http://127.0.0.1:1/announce?passkey={passkey}");
    browser.write("#tracker-url", &first);
    browser.click("#add-tracker button");
    let urls = |expected: Value| {
        browser.expect(
            "return Array.from(document.querySelectorAll('#trackers tbody tr'), ({ cells }) => cells[0].innerText)",
            expected,
        );
    };
    let masked = "http://127.0.0.1:1/announce?passkey=***";
    urls(json!([masked]));
    browser.click("#edit-trackers");
    visit.dialog("Trackers");
    let second = "http://127.0.0.1:1/second";
    visit.write("trackers", &format!("{second}\n\n{masked}"));
    visit.confirm();
    urls(json!([second, masked]));
    let hash = visit.api.get("torrents/2").json()["info_hash"].clone();
    let kept = visit
        .state
        .join(format!("torrents/{}.torrent", hash.as_str().unwrap()));
    let kept = fs::read(kept).unwrap();
    let kept = String::from_utf8_lossy(&kept);
    assert!(kept.contains(passkey), "{kept}");
    browser.click("#trackers tbody [aria-label^=Change]");
    visit.dialog("Change the tracker");
    visit.write("url", "http://127.0.0.1:1/third");
    browser.press("#dialog [name=url]", ENTER);
    urls(json!(["http://127.0.0.1:1/third", masked]));
    visit.api.daemon.terminate();
}

/// Pieces are requested in order, and in any order again.
#[test]
fn a_sequential_download_in_chromium() {
    let Some(visit) = Visit::start(&[]) else {
        return;
    };
    visit.add_paused("tree");
    for (command, is_sequential, next) in [
        ("sequential", true, "any-order"),
        ("any-order", false, "sequential"),
    ] {
        visit.act(command);
        visit
            .api
            .daemon
            .wait_until(command, |one| one["sequential"] == is_sequential);
        // The menu offers the other command as soon as the page has heard of the change.
        visit.browser.wait_for(&format!(
            "document.getElementById('chosen-more').click();
            const has = document.querySelector('#menu [data-command={next}]') !== null;
            document.querySelector('#menu button').dispatchEvent(new KeyboardEvent('keydown', {{ key: 'Escape', bubbles: true }}));
            return has"
        ));
    }
    visit.api.daemon.terminate();
}

/// Limits of all torrents are set and given back, and the configuration is read again.
#[test]
fn settings_in_chromium() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    fs::write(&config, "[network]\nmax-up = 5120\n").unwrap();
    let Some(visit) = Visit::start(&["--config", config.to_str().unwrap()]) else {
        return;
    };
    let browser = &visit.browser;
    let requested = |expected: Value| {
        visit.wait_for("limits", |limits| {
            let limits = limits.as_array().unwrap().iter();
            let requested = limits.filter(|limit| limit["requested"] == true);
            let pairs: serde_json::Map<String, Value> = requested
                .map(|limit| {
                    let name = limit["limit"].as_str().unwrap();
                    (name.to_owned(), limit["value"].clone())
                })
                .collect();
            Value::Object(pairs) == expected
        });
    };
    // The settings of a daemon take the place of the limits in the header.
    browser.expect(
        "return document.getElementById('limits').checkVisibility()",
        false,
    );
    browser.click("#settings");
    visit.dialog("Settings");
    browser.expect(
        "return document.querySelector('#dialog select[name=max_up] option').innerText",
        "as configured: 5.0 KiB/s",
    );
    visit.set("max_up", "50");
    visit.choose("max_down", "no");
    visit.set("max_active_downloads", "3");
    visit.set("seed_ratio", "1.5");
    visit.set("seed_seconds", "90");
    browser.click("#dialog [name=alternative]");
    browser.click("#dialog [name=adds_paused]");
    let port = free_port();
    visit.write("port", &port.to_string());
    visit.confirm();
    requested(json!({
        "max-up": 51200, "max-down": null, "max-active-downloads": 3, "seed-ratio": 1.5, "seed-time": 5400,
    }));
    visit.wait_for("status", |status| {
        status["alternative"] == true && status["adds_paused"] == true
    });
    visit.wait_for("config", |config| config["port"] == port);

    // The configuration is used again for some limits, and the others stay.
    browser.wait_for("return !document.getElementById('dialog').open");
    browser.click("#settings");
    visit.dialog("Settings");
    browser.expect(
        "return document.querySelector('#dialog [name=max_up-amount]').value",
        "50",
    );
    for name in ["max_up", "max_down", "seed_seconds"] {
        visit.choose(name, "as");
    }
    visit.confirm();
    requested(json!({"max-active-downloads": 3, "seed-ratio": 1.5}));
    visit.api.daemon.terminate();
}

/// The configuration is read again, an address that cannot be used is refused, and the dialog fits narrow phones.
#[test]
fn a_reload_in_chromium() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    fs::write(&config, "").unwrap();
    let Some(visit) = Visit::start(&["--config", config.to_str().unwrap()]) else {
        return;
    };
    let browser = &visit.browser;
    browser.click("#settings");
    visit.dialog("Settings");
    visit.write("bind", "nosuch0");
    visit.confirm();
    visit.wait_for_refusal("nosuch0");

    fs::write(&config, "[network]\nmax-up = 6144\nmax-peers = 3\n").unwrap();
    browser.click("#settings");
    visit.dialog("Settings");
    browser.click("#dialog button[value=reload]");
    browser.expect(
        "return document.getElementById('added').innerText",
        "The configuration was read again. These options need a restart: max-peers.",
    );
    visit.wait_for("config", |config| config["max_up"] == 6144);

    // On a narrow phone, nothing is wider than the dialog.
    browser.emulate(320, 640, false);
    browser.click("#settings");
    visit.dialog("Settings");
    visit.set("alt_max_down", "1");
    browser.expect(
        "const dialog = document.getElementById('dialog');
        return dialog.scrollWidth <= dialog.clientWidth && dialog.getBoundingClientRect().right <= 320",
        true,
    );
    visit.api.daemon.terminate();
}

/// A torrent is added with a goal and limits, which are chosen by the keyboard.
#[test]
fn adding_with_limits_in_chromium() {
    let Some(visit) = Visit::start(&["--seed-ratio", "2"]) else {
        return;
    };
    let browser = &visit.browser;
    visit
        .api
        .send("PATCH", "config", &json!({"adds_paused": true}));
    let torrent = visit.content.torrent("tree", "v1");
    browser.click("#add");
    // The switch of the settings decides what is chosen at first.
    browser.wait_for("return document.getElementById('adding-paused').checked");
    browser.press("#torrent-files", torrent.to_str().unwrap());
    browser.press("#adding-sequential", " ");
    browser.press("#adding-place summary", ENTER);
    browser.press("#adding-layout", "without");
    browser.press("#adding-limits summary", ENTER);
    for (name, amount) in [
        ("seed_seconds", "600"),
        ("idle_seconds", "0.5"),
        ("max_down", "200"),
    ] {
        browser.press(&format!("#adding-limits select[name={name}]"), "this");
        browser.write(&format!("#adding-limits [name={name}-amount]"), amount);
    }
    browser.press("#adding-limits select[name=seed_ratio]", "no");
    if let Some(axe) = &visit.axe {
        assert_accessible(browser, axe, "adding");
    }
    browser.press("#adding-labels", &format!("linux{ENTER}"));
    let torrent = {
        wait_for(|| !visit.api.daemon.done(["list"]).is_empty());
        visit.api.daemon.torrent()
    };
    let layout = visit
        .api
        .daemon
        .wait_until("a layout", |one| !one["content"].is_null());
    assert_eq!(layout["content"], json!(visit.downloads));
    for (name, expected) in [
        ("labels", json!(["linux"])),
        ("paused", json!(true)),
        ("sequential", json!(true)),
        ("seed_ratio", Value::Null),
        ("seed_seconds", json!(36_000)),
        ("idle_seconds", json!(30)),
        ("max_down", json!(200 << 10)),
        ("max_up", Value::Null),
    ] {
        assert_eq!(torrent[name], expected, "{name}: {torrent}");
    }
    visit.api.daemon.terminate();
}

/// The page of `seed` has no queue, categories and names, and its settings are those of connections.
#[test]
fn seed_has_nothing_of_a_daemon_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let page = two_served(&content);
    browser.open(&page.with_token());
    browser.wait_for("return document.getElementById('settings').checkVisibility()");
    browser.wait_for("return document.querySelector('#torrents tr[data-key=\"0\"]') !== null");
    browser.click("#torrents tr[data-key='0']");
    browser.wait_for("return document.getElementById('chosen-more').checkVisibility()");
    browser.click("#chosen-more");
    browser.expect(
        "return Array.from(document.querySelectorAll('#menu button'), (item) => item.dataset.command)
            .filter((id) => /queue|resume|category|rename/.test(id))",
        json!([]),
    );
    browser.click("#menu [data-command=limits]");
    browser.expect(
        "return Array.from(document.querySelectorAll('#dialog select'), ({ name }) => name)",
        json!(["max_down", "max_up", "seed_ratio", "seed_seconds"]),
    );
    browser.press("#dialog select[name=seed_ratio]", "this");
    browser.write("#dialog [name=seed_ratio-amount]", "7");
    browser.press("#dialog [name=seed_ratio-amount]", ENTER);
    page.wait_for(|all| all["torrents"][0]["seed_ratio"] == 7.0);
    browser.click("#tab-files");
    browser.wait_for("return document.querySelector('#tree .name') !== null");
    let buttons = browser.run("return document.querySelectorAll('#tree button').length");
    assert_eq!(buttons, 0);
    browser.click("#settings");
    browser.wait_for("return document.getElementById('dialog').open");
    browser.expect(
        "return Array.from(document.querySelectorAll('#dialog [name]'), ({ name }) => name)",
        json!(["port", "bind"]),
    );
    let hidden = "return ['groups', 'adding-category-box', 'adding-place'].every((id) => !document.getElementById(id).checkVisibility())";
    browser.expect(hidden, true);
}
