//! The actions of a daemon by its five interfaces: the test of each, and what a protocol does not have.

use std::fs;
use std::path::Path;

/// A test, or the reason why the protocol of another program has no such action.
enum Cell {
    Test(&'static str),
    Lacks(&'static str),
}

use Cell::{Lacks, Test};

/// An action, and its tests by `ctl`, the HTTP API, the page, Transmission RPC and the Web API of qBittorrent.
type Row = (&'static str, [Cell; 5]);

// Tests that do the same by every interface except the page.
const CHOICE: Cell = Test("every_choice_can_be_made_by_every_interface");
const SETTING: Cell = Test("every_setting_can_be_changed_by_every_interface");
const CHANGE: Cell = Test("every_change_can_be_made_by_every_interface");
const LIST: Cell = Test("every_list_can_be_read_by_every_interface");
const FETCH: Cell = Test("all_protocols_fetch_torrents_alike");
const ADDITION: Cell = Test("a_torrent_is_added_with_choices_by_every_interface");

const MATRIX: [Row; 20] = [
    (
        "resume without waiting",
        [
            CHOICE,
            CHOICE,
            Test("the_queue_in_chromium"),
            CHOICE,
            CHOICE,
        ],
    ),
    (
        "move in the queue",
        [
            CHANGE,
            CHANGE,
            Test("the_queue_in_chromium"),
            CHANGE,
            CHANGE,
        ],
    ),
    (
        "make, change and remove categories",
        [
            SETTING,
            SETTING,
            Test("categories_in_chromium"),
            // The first label of a torrent is its category, which is made with it.
            Test("a_category_is_the_first_label_of_transmission"),
            SETTING,
        ],
    ),
    (
        "put into a category",
        [
            CHOICE,
            CHOICE,
            Test("categories_in_chromium"),
            CHOICE,
            CHOICE,
        ],
    ),
    (
        "labels",
        [
            CHOICE,
            CHOICE,
            Test("a_selection_in_chromium"),
            CHOICE,
            CHOICE,
        ],
    ),
    (
        "goal",
        [CHOICE, CHOICE, Test("goals_in_chromium"), CHOICE, CHOICE],
    ),
    (
        "idle goal",
        [CHOICE, CHOICE, Test("goals_in_chromium"), CHOICE, CHOICE],
    ),
    (
        "rate limits",
        [CHOICE, CHOICE, Test("goals_in_chromium"), CHOICE, CHOICE],
    ),
    (
        "sequential",
        [
            CHOICE,
            CHOICE,
            Test("a_sequential_download_in_chromium"),
            CHOICE,
            CHOICE,
        ],
    ),
    (
        "super-seeding",
        [
            CHOICE,
            CHOICE,
            Test("complete content is spread piece by piece or not"),
            Lacks("Transmission RPC has no field for it"),
            CHOICE,
        ],
    ),
    (
        "rename files",
        [CHANGE, CHANGE, Test("names_in_chromium"), CHANGE, CHANGE],
    ),
    (
        "rename the title",
        [
            CHOICE,
            CHOICE,
            Test("names_in_chromium"),
            Lacks("Transmission RPC has names of the content alone"),
            CHOICE,
        ],
    ),
    (
        "sizes of the queue",
        [
            SETTING,
            SETTING,
            Test("settings_in_chromium"),
            SETTING,
            SETTING,
        ],
    ),
    (
        "alternative limits",
        [
            SETTING,
            SETTING,
            Test("settings_in_chromium"),
            SETTING,
            SETTING,
        ],
    ),
    (
        "priorities of files",
        [CHOICE, CHOICE, Test("folders_in_chromium"), CHOICE, CHOICE],
    ),
    (
        "change trackers",
        [
            CHANGE,
            CHANGE,
            Test("places_and_trackers_in_chromium"),
            CHANGE,
            CHANGE,
        ],
    ),
    (
        "files, trackers and peers",
        [LIST, LIST, Test("a_page_in_chromium"), LIST, LIST],
    ),
    (
        "announce now",
        [
            LIST,
            LIST,
            Test("commands are sent by their names"),
            LIST,
            LIST,
        ],
    ),
    (
        "add by URL",
        [
            Test("ctl_adds_the_torrent_of_a_url"),
            FETCH,
            Test("options_of_the_dialog_in_chromium"),
            FETCH,
            FETCH,
        ],
    ),
    (
        "add with category, goal, limits and order",
        [
            ADDITION,
            ADDITION,
            Test("adding_with_limits_in_chromium"),
            Lacks("torrent-add of Transmission RPC has no goal and limits: torrent-set follows"),
            ADDITION,
        ],
    ),
];

/// Returns the text of the tests below a folder.
fn tests_below(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // The modules that a check of types needs have no tests of ours.
        if path.is_dir() && !path.ends_with("node_modules") {
            text += &tests_below(&path);
        } else if path
            .extension()
            .is_some_and(|end| end == "rs" || end == "mjs")
        {
            text += &fs::read_to_string(&path).unwrap();
        }
    }
    text
}

#[test]
fn every_action_has_a_test_by_every_interface() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let tests = ["net", "remote", "web"].map(|name| tests_below(&crates.join(name).join("tests")));
    let exists = |name: &str| {
        let (rust, page) = (format!("fn {name}() {{"), format!("test(\"{name}\""));
        tests
            .iter()
            .any(|tests| tests.contains(&rust) || tests.contains(&page))
    };
    for (action, cells) in MATRIX {
        for (column, cell) in cells.iter().enumerate() {
            match cell {
                Test(name) => assert!(exists(name), "{action}: {name}"),
                // `ctl`, the API and the page have every action.
                Lacks(reason) => assert!(column > 2 && !reason.is_empty(), "{action}: {reason}"),
            }
        }
    }
}
