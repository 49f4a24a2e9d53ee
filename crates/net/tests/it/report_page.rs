//! The page of `verify --report` in a browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::browser::Browser;
use super::peers::Content;

const PIECE_LEN: usize = 64 << 10;

/// A name that is an image, a script or a request to a browser that takes it for HTML.
const MARKUP: &str = "<img src=x onerror=document.title='broken'><b>&amp;";

/// A folder with torrents in `torrents`, their content in `content`, and the report.
struct Library {
    folder: tempfile::TempDir,
}

impl Library {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Adds a torrent of one file, some of whose pieces are then damaged.
    fn add(&self, name: &str, len: usize, bad: &[usize]) {
        let content = self.path("content").join(name);
        fs::create_dir_all(content.parent().unwrap()).unwrap();
        fs::create_dir_all(self.path("torrents")).unwrap();
        let mut bytes: Vec<u8> = (0..len).map(|at| (at * 7 % 251) as u8).collect();
        fs::write(&content, &bytes).unwrap();
        let torrent = Content::torrent_of(&content, "v1", &[]);
        fs::rename(
            &torrent,
            self.path("torrents").join(torrent.file_name().unwrap()),
        )
        .unwrap();
        for piece in bad {
            bytes[piece * PIECE_LEN] ^= 1;
        }
        fs::write(&content, bytes).unwrap();
    }

    fn report(&self) -> PathBuf {
        let report = self.path("report.html");
        let status = Command::new(env!("CARGO_BIN_EXE_hashlane-net"))
            .args(["verify", "--quiet", "-d"])
            .args([Path::new("content"), Path::new("torrents")])
            .arg("--report")
            .arg(&report)
            .current_dir(self.folder.path())
            .output();
        assert_eq!(status.unwrap().status.code(), Some(1));
        report
    }
}

/// Returns the names of the torrents in the order of the rows.
fn names(browser: &Browser) -> Value {
    browser.run(
        "return [...document.querySelectorAll('table.sorted tbody th')].map((th) => th.firstChild.textContent);",
    )
}

#[test]
fn the_report_sorts_draws_damage_and_asks_for_nothing() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let library = Library {
        folder: tempfile::tempdir().unwrap(),
    };
    // By the digits alone, 2 MiB would come before 256 KiB.
    library.add("large", 32 * PIECE_LEN, &[]);
    library.add(MARKUP, 4 * PIECE_LEN, &[0, 1, 2, 3]);
    library.add("holes", 12 * PIECE_LEN, &[1, 5, 6]);
    let report = library.report();
    let address = format!("file://{}", report.display());
    browser.open(&address);

    // The most damaged one comes first.
    assert_eq!(names(&browser), json!([MARKUP, "holes", "large"]));
    let sort =
        |column: usize| browser.click(&format!("table.sorted th:nth-child({column}) button"));
    sort(4);
    assert_eq!(names(&browser), json!([MARKUP, "holes", "large"]));
    sort(4);
    assert_eq!(names(&browser), json!(["large", "holes", MARKUP]));
    sort(3);
    assert_eq!(names(&browser), json!([MARKUP, "holes", "large"]));
    let sorted =
        "return [...document.querySelectorAll('table.sorted thead th')].map((th) => th.ariaSort);";
    let expected = json!([null, null, "ascending", null, null]);
    browser.expect(sorted, expected);
    sort(1);
    assert_eq!(names(&browser), json!([MARKUP, "holes", "large"]));
    sort(1);
    assert_eq!(names(&browser), json!(["large", "holes", MARKUP]));

    // A piece is a part of the map as wide as all others, in the colour of its state.
    let maps = "return [...document.querySelectorAll('table.sorted tbody tr')].map((row) => {
        const map = row.querySelector('svg.map');
        const box = map.getBoundingClientRect();
        const good = getComputedStyle(document.querySelector('.key .have')).fill;
        let pieces = 0;
        const bad = [];
        for (const run of map.querySelectorAll('rect')) {
            const [x, width] = [run.x.baseVal.value, run.width.baseVal.value];
            const drawn = run.getBoundingClientRect();
            const share = Math.round(drawn.width / box.width * map.viewBox.baseVal.width);
            if (share !== width || drawn.height === 0) throw new Error('not drawn');
            pieces += width;
            if (run.classList.contains('bad')) {
                if (getComputedStyle(run).fill === good) throw new Error('looks good');
                for (let piece = x; piece < x + width; piece++) bad.push(piece);
            }
        }
        return [pieces, bad, map.getAttribute('aria-label')];
    });";
    let expected = json!([
        [32, [], "Pieces: 32 have"],
        [12, [1, 5, 6], "Pieces: 9 have, 3 bad"],
        [4, [0, 1, 2, 3], "Pieces: 4 bad"],
    ]);
    browser.expect(maps, expected);

    // Names are text, and the page asks for no other file.
    browser.expect("return document.title", "Verification of 3 torrents");
    let elements = "return document.querySelectorAll('img, b, link, iframe, script[src]').length";
    browser.expect(elements, 0);
    let requests = "return performance.getEntriesByType('resource').map((entry) => entry.name)";
    browser.expect(requests, json!([]));
    // The policy of the page refuses a request that a name could cause all the same.
    let refused = "return (async () => {
        const refused = new Promise((done) => document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective)));
        document.body.append(Object.assign(new Image(), { src: 'x.png' }));
        return await refused;
    })();";
    browser.expect(refused, "img-src");
}
