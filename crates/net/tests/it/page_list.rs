//! The list of torrents in Chromium: many torrents, selections, addresses and keys.

use serde_json::json;

use super::browser::Browser;
use super::page::{Page, torrent_is, two_served};
use super::page_pictures::{assert_accessible, axe};
use super::peers::Content;

/// The key of `WebDriver`.
const DELETE: &str = "\u{e017}";

/// Replaces the stream of the page by one that a test controls, and chooses a torrent, which opens it. `send` then sends an event.
const FAKE_STREAM: &str = "
    window.EventSource = class {
        constructor() { window.stream = this; }
        addEventListener() {}
        close() {}
    };
    window.send = (changed, removed = []) => stream.onmessage({
        data: JSON.stringify({ full: false, changed, removed }), lastEventId: 'x',
    });
    return null";

fn names(browser: &Browser) -> serde_json::Value {
    browser.run(
        "return Array.from(document.querySelectorAll('#torrents tbody tr'), (tr) => tr.cells[1].innerText)",
    )
}

/// Opens a page with two torrents.
fn open(browser: &Browser, page: &Page) {
    browser.open(&page.with_token());
    browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length === 2");
    browser.wait_for("return document.getElementById('add').checkVisibility()");
}

/// 5,000 torrents have few elements, the last one is reached by scrolling, and the sidebar counts all of them.
#[test]
fn five_thousand_torrents_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let page = two_served(&content);
    browser.emulate(1280, 1600, false);
    open(&browser, &page);
    browser.run(FAKE_STREAM);
    browser.click("#torrents tr[data-key='0']");
    browser.wait_for("return window.stream !== undefined");
    browser.run(
        "const like = Object.fromEntries(['error', 'category', 'name', 'seconds_left'].map((key) => [key, null]));
        const numbers = ['down_bytes_per_second', 'up_bytes_per_second', 'uploaded_bytes', 'total_bytes', 'done_bytes',
            'wanted_bytes', 'peers', 'verified_bytes', 'added_at', 'trusted_pieces'];
        for (const key of numbers) like[key] = 0;
        send(Array.from({ length: 4998 }, (_, i) => ({ ...like, number: i + 2, torrent: `torrent ${i + 2}`, info_hash: null,
            labels: [], activity: 'paused', paused: true, complete: false, content: null,
            announces: [{ tracker: 'tracker.example', error: i < 50 ? 'unregistered torrent' : null }] })));
        return null",
    );
    browser.wait_for(
        "return document.getElementById('totals').innerText.startsWith('5,000 torrents')",
    );
    let elements = browser.run("return document.querySelectorAll('*').length");
    assert!(elements.as_u64() <= Some(1500), "{elements}");
    browser.run("const rows = document.getElementById('rows'); rows.scrollTop = rows.scrollHeight; return null");
    browser.wait_for("return document.querySelector('#torrents tr[data-key=\"4999\"]') !== null");
    let elements = browser.run("return document.querySelectorAll('*').length");
    assert!(elements.as_u64() <= Some(1500), "{elements}");

    // Refused trackers are visible in the header, the sidebar and the list.
    browser.expect(
        "return document.getElementById('failed-trackers').innerText",
        "50 torrents with a failing tracker",
    );
    browser.wait_for(
        "return document.querySelector('#places [data-value=tracker-error]')?.innerText.replace(/\\s+/g, ' ') === 'Tracker fails 50'",
    );
    browser.click("#failed-trackers");
    browser
        .wait_for("return document.getElementById('shown').innerText === '50 of 5,000 torrents'");
    let problem =
        "return document.querySelector('#torrents tbody tr [data-column=problem]').innerText";
    browser.expect(problem, "tracker.example: unregistered torrent");
    browser.write("#search", "nothing has this name");
    browser.wait_for(
        "return document.getElementById('no-torrents').innerText.startsWith('No torrent matches')",
    );
}

/// The layout needs no answer of the program: it is painted while the torrents are on their way.
#[test]
fn a_layout_without_answers_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let page = two_served(&content);
    browser.emulate(1280, 900, false);
    browser.block(&["*/api/v1/*"]);
    browser.open(&page.with_token());
    browser.wait_for("return performance.getEntriesByName('first-contentful-paint').length === 1");
    let visible = "return ['h1', '#search', '#torrents th[data-key=name]', '#places h2', '#space']
        .filter((selector) => !document.querySelector(selector).checkVisibility())";
    browser.wait_for("return document.querySelector('#torrents th[data-key=name]') !== null");
    browser.expect(visible, json!([]));
    let rows = browser.run("return document.querySelectorAll('#torrents tbody tr').length");
    assert_eq!(rows, 0);
}

/// All torrents of the list are selected and changed by one request. Keys act on the selection.
#[test]
fn a_selection_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let page = two_served(&content);
    open(&browser, &page);
    browser.click("#torrents th input");
    browser.wait_for("return document.getElementById('selected').innerText === '2 selected'");
    browser.click("#commands [data-command=pause]");
    let are = |activity: &'static str| {
        page.wait_for(|all| {
            torrent_is(activity)(all) && all["torrents"][1]["activity"] == activity
        });
    };
    are("paused");
    browser.wait_for("return !document.querySelector('#commands [data-command=resume]').disabled");
    browser.press("#torrents tbody tr", " ");
    are("serving");

    // The arrow keys move in the list, and with Shift they select more.
    browser.press("#torrents tbody tr", "\u{e010}");
    browser.wait_for("return document.activeElement.dataset.key === '1'");
    browser.wait_for("return document.getElementById('selected').innerText === '1 selected'");
    browser.press("#torrents tr[data-key='1']", "\u{e008}\u{e013}");
    browser.wait_for("return document.activeElement.dataset.key === '0'");
    browser.wait_for("return document.getElementById('selected').innerText === '2 selected'");

    // The context menu acts on the torrent below the pointer if it is not selected.
    browser.press("#torrents tbody tr", "\u{e00c}");
    browser.wait_for("return document.getElementById('selected').innerText === ''");
    browser.run(
        "document.querySelector('#torrents tr[data-key=\"1\"]').dispatchEvent(
            new MouseEvent('contextmenu', { bubbles: true, cancelable: true, clientX: 300, clientY: 200 })); return null",
    );
    browser.wait_for("return document.getElementById('selected').innerText === '1 selected'");
    browser.click("#menu [data-command=labels]");
    browser.write("#dialog input[name=labels]", "linux, tv, linux");
    browser.click("#dialog button[value=do]");
    page.wait_for(|all| all["torrents"][1]["labels"] == json!(["linux", "tv"]));
    browser.wait_for(
        "return document.querySelector('#places [data-value=tv]')?.innerText.replace(/\\s+/g, ' ') === 'tv 1'",
    );

    // The dialog names the bytes, and nothing is removed before an answer.
    browser.press("#torrents tr[data-key='1']", DELETE);
    let choice =
        browser.run("return document.querySelector('#dialog option[value=delete]').innerText");
    assert_eq!(content.len_of("file.bin"), 2_000_123);
    assert_eq!(choice, "Delete the content: 1.9 MiB");
    assert_eq!(
        page.get("/api/v1/torrents").json()["torrents"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    browser.click("#dialog button[value=do]");
    page.wait_for(|all| all["torrents"].as_array().unwrap().len() == 1);
    browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length === 1");
    assert_eq!(names(&browser), json!(["tree"]));
    assert!(content.path().join("file.bin").exists());
}

/// The address of a torrent and its tab survive a reload, and the browser's way back leads to the torrent before.
#[test]
fn an_address_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let page = two_served(&content);
    open(&browser, &page);
    let is_shown = |name: &str| {
        browser.wait_for(&format!(
            "return document.getElementById('detail-name').innerText === '{name}'"
        ));
    };
    browser.click("#torrents tr[data-key='0']");
    is_shown("tree");
    browser.click("#torrents tr[data-key='1']");
    is_shown("file.bin");
    browser.click("#tab-info");
    let hash = page.get("/api/v1/torrents").json()["torrents"][1]["info_hash"].clone();
    let hash = hash.as_str().unwrap();
    browser.expect("return location.hash", format!("#/torrent/{hash}/info"));
    browser.run("location.reload(); return null");
    is_shown("file.bin");
    browser.wait_for("return document.getElementById('info').checkVisibility()");
    let facts = browser.run("return document.getElementById('facts').innerText");
    assert!(
        facts
            .as_str()
            .unwrap()
            .contains(&format!("magnet:?xt=urn:btih:{hash}")),
        "{facts}"
    );
    browser.run("history.back(); return null");
    is_shown("tree");
    // The pane stays in the window, and the list too.
    let is_visible = "return ['detail', 'rows'].every((id) => {
        const { top, bottom } = document.getElementById(id).getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight && bottom - top > 60;
    })";
    browser.expect(is_visible, true);
}

/// Columns are hidden, and their widths stay when the page is loaded again.
#[test]
fn columns_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let page = two_served(&content);
    open(&browser, &page);
    let width = "return document.querySelector('#torrents th[data-key=name]').offsetWidth";
    let before = browser.run(width).as_u64().unwrap();
    browser.press("#torrents th[data-key=name] button", "\u{e00a}\u{e014}");
    browser.wait_for(&format!("{width} === {}", before + 16));
    browser.run("document.querySelector('#columns').open = true; return null");
    browser.click("#column-choices label:nth-child(2) input");
    browser.click("#dense");
    browser.run("location.reload(); return null");
    browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length === 2");
    browser.expect(width, before + 16);
    let is_hidden = "return [...document.querySelectorAll('[data-key=state], [data-column=state]')].every((cell) => cell.hidden)";
    browser.expect(is_hidden, true);
    browser.expect("return document.body.classList.contains('dense')", true);
}

/// Headings move with the keyboard and the pointer, with their cells, and the order stays when the page is loaded again.
#[test]
fn an_order_of_columns_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let page = two_served(&content);
    browser.emulate(1280, 900, false);
    open(&browser, &page);
    let keys = "return Array.from(document.querySelectorAll('#torrents th:not([hidden])'), (th) => th.dataset.key ?? '').slice(1, 5)";
    let row = "return Array.from(document.querySelectorAll('#torrents tbody tr:first-child td'))
        .filter((td) => !td.hidden).map((td) => td.dataset.column ?? '').slice(1, 5)";
    let text = "return document.querySelector('#torrents tbody tr [data-column=size]').innerText";
    let size = browser.run(text);
    browser.expect(keys, json!(["name", "state", "problem", "done"]));
    // Alt and Shift with the right arrow key.
    browser.press(
        "#torrents th[data-key=name] button",
        "\u{e00a}\u{e008}\u{e014}",
    );
    let moved = json!(["state", "name", "problem", "done"]);
    browser.expect(keys, &moved);
    browser.expect(row, &moved);
    let focus = "return document.activeElement.parentElement.dataset.key";
    browser.expect(focus, "name");
    // The first column cannot move to the left.
    browser.press(
        "#torrents th[data-key=state] button",
        "\u{e00a}\u{e008}\u{e012}",
    );
    browser.expect(keys, &moved);

    browser.drag(
        "#torrents th[data-key=size] button",
        "#torrents th[data-key=name] button",
    );
    let moved = json!(["state", "size", "name", "problem"]);
    browser.expect(keys, &moved);
    browser.expect(row, &moved);
    browser.expect(text, size);
    // A drag does not sort.
    let sorted = "return document.querySelector('#torrents th[aria-sort]')?.dataset.key ?? null";
    browser.expect(sorted, json!(null));
    browser.click("#torrents th[data-key=size] button");
    browser.expect(sorted, "size");
    browser.run("location.reload(); return null");
    browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length === 2");
    browser.expect(keys, &moved);
    browser.expect(row, &moved);
}

/// Each dialog and menu is accessible while it is open.
#[test]
fn open_dialogs_and_menus_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Some(axe) = axe() else {
        return;
    };
    let content = Content::new();
    let page = two_served(&content);
    for (scheme, is_dark) in [("light", false), ("dark", true)] {
        browser.emulate(1280, 900, is_dark);
        browser.open("about:blank");
        open(&browser, &page);
        let check = |what: &str, open: &str| {
            browser.wait_for(&format!(
                "return document.querySelector('{open}')?.checkVisibility() === true"
            ));
            assert_accessible(&browser, &axe, &format!("{what} {scheme}"));
        };
        browser.click("#add");
        browser.write("#links", "no link");
        check("add", "#adding[open] #link-problems");
        browser.picture(&format!("adding-{scheme}.png"));
        browser.click("#adding button[value=cancel]");
        browser.click("#keys");
        check("keys", "#dialog[open]");
        browser.picture(&format!("keys-{scheme}.png"));
        browser.click("#dialog button");
        for (what, summary) in [
            ("columns", "#columns summary"),
            ("limits", "#limits summary"),
        ] {
            browser.click(summary);
            check(what, &format!("#{what}[open] label"));
            browser.picture(&format!("{what}-{scheme}.png"));
            browser.click(summary);
        }
        browser.click("#torrents tr[data-key='1']");
        browser.wait_for("return document.getElementById('chosen-more').checkVisibility()");
        for command in ["labels", "move", "limits", "stop", "remove"] {
            browser.click("#chosen-more");
            check("menu", "#menu");
            browser.click(&format!("#menu [data-command={command}]"));
            check(command, "#dialog[open]");
            browser.picture(&format!("{command}-{scheme}.png"));
            browser.click("#dialog button[value=cancel]");
        }
    }
    browser.open("about:blank");
    browser.open(&page.url);
    browser.run("return fetch('/api/v1/session', { method: 'DELETE' }).then(() => null)");
    browser.open(&page.url);
    browser.wait_for("return document.getElementById('read-only').checkVisibility()");
    browser.click("#read-only summary");
    browser.wait_for("return document.getElementById('token-login').checkVisibility()");
    assert_accessible(&browser, &axe, "login");
}

/// With a zoom of 200 %, nothing is wider than the window, and with high contrast, the selection is not only a colour.
#[test]
fn a_zoom_and_high_contrast_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let page = two_served(&content);
    let axe = axe();
    // A window of 1280 x 900 pixels with this zoom.
    browser.emulate(640, 450, false);
    open(&browser, &page);
    let fits = "return document.documentElement.scrollWidth <= 640";
    browser.expect(fits, true);
    browser.click("#torrents tr[data-key='1']");
    browser.wait_for("return document.getElementById('detail').checkVisibility()");
    browser.expect(fits, true);
    if let Some(axe) = &axe {
        assert_accessible(&browser, axe, "zoom");
    }
    browser.click("#back");
    browser.wait_for("return document.getElementById('rows').checkVisibility()");
    browser.emulate(1280, 900, false);
    browser.emulate_high_contrast();
    browser.wait_for("return document.querySelector('#torrents tr[aria-selected=true]') !== null");
    // The sidebar is closed in a narrow window, and opens when the window becomes wide.
    browser.wait_for("return document.getElementById('places').checkVisibility()");
    let outline = "return ['#torrents tr[aria-selected=true]', '#places [aria-pressed=true]']
        .every((selector) => getComputedStyle(document.querySelector(selector)).outlineStyle === 'solid')";
    browser.expect(outline, true);
    if let Some(axe) = &axe {
        assert_accessible(&browser, axe, "high contrast");
    }
}
