//! Runs the examples of the reference, and compares what the program prints with what they print. Commands whose output a page
//! does not show have a verdict in a table here. Commands that need a network do not run. The README, the tutorials and the guides
//! run in `crates/net/tests/it/book.rs`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::fixture::{Ended, demo, end};
use crate::pages::{Example, Step, blocks, steps, text_of, without_time};

/// Starts of commands that need a network, another terminal, another program, or many seconds in a debug build.
const NOT_RUN: [&str; 7] = [
    "curl ",
    "hashlane ctl ",
    "hashlane daemon ",
    "hashlane get ",
    "hashlane magnet --fetch ",
    "hashlane recover --errors 2 ",
    "hashlane seed ",
];

/// A command, its exit status, a command that runs after it, and a line that the last of both prints. Empty texts: no
/// second command; the command prints nothing, unless the page shows its output. Commands without a verdict print what the
/// page shows, and exit with 0.
type Verdict = (&'static str, i32, &'static str, &'static str);

/// A page, and what its examples need.
struct Page {
    name: &'static str,
    /// Creates the files that the commands use. Gets the next command if the page has alternatives, which all start from
    /// the same files; otherwise the commands are one session.
    prepare: fn(&Scratch, Option<&str>),
    has_alternatives: bool,
    verdicts: &'static [Verdict],
}

/// A folder in which commands run, with the program in its `PATH`.
struct Scratch {
    root: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["bin", "home", "work"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let program = env!("CARGO_BIN_EXE_hashlane");
        symlink(program, root.path().join("bin/hashlane")).unwrap();
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("work").join(name)
    }

    /// Writes a file, and the folders that contain it.
    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn run(&self, command: &str) -> Ended {
        let root = self.root.path();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command])
            .current_dir(root.join("work"))
            .env("PATH", format!("{}:{path}", root.join("bin").display()))
            .env("HOME", root.join("home"))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("HASHLANE_BACKEND")
            .env_remove("HASHLANE_CONFIG")
            .stdin(Stdio::null());
        end(&mut shell)
    }

    /// Runs a command that prepares files.
    fn prepare(&self, command: &str) {
        let ended = self.run(command);
        assert_eq!(ended.code, Some(0), "{command}: {ended:?}");
    }
}

fn lines_of(text: &str) -> Vec<&str> {
    text.lines().map(without_time).collect()
}

/// Runs the examples of a page.
fn check(page: &Page) {
    let text = text_of(page.name);
    let mut verdicts: Vec<_> = page.verdicts.iter().collect();
    let mut scratch = Scratch::new();
    if !page.has_alternatives {
        (page.prepare)(&scratch, None);
    }
    let mut n_run = 0;
    for step in steps(&text) {
        let Example {
            command,
            is_kept,
            output,
        } = match step {
            Step::Example(example) => example,
            Step::Until(command) => {
                scratch.prepare(&command);
                continue;
            }
            Step::File { name, text } => {
                scratch.write(&name, text);
                continue;
            }
        };
        if is_kept || NOT_RUN.iter().any(|start| command.starts_with(start)) {
            continue;
        }
        n_run += 1;
        if page.has_alternatives {
            scratch = Scratch::new();
            (page.prepare)(&scratch, Some(&command));
        }
        let place = format!("{}: {command}", page.name);
        let verdict = verdicts.iter().position(|(known, ..)| *known == command);
        let verdict = verdict.map(|index| verdicts.remove(index));
        assert!(
            verdict.is_some() || !output.is_empty(),
            "{place}: the page shows no output, and the table has no verdict"
        );
        let (_, code, look, line) = verdict.copied().unwrap_or(("", 0, "", ""));
        let ended = scratch.run(&command);
        assert_eq!(ended.code, Some(code), "{place}: {ended:#?}");
        if !output.is_empty() {
            let expected: Vec<&str> = output.iter().map(|line| without_time(line)).collect();
            let mut printed = lines_of(&ended.stdout);
            while printed.last().is_some_and(|line| line.is_empty()) {
                printed.pop();
            }
            assert_eq!(printed, expected, "{place}: {}", ended.stderr);
        } else if line.is_empty() || !look.is_empty() {
            assert_eq!((&*ended.stdout, &*ended.stderr), ("", ""), "{place}");
        }
        let ended = if look.is_empty() {
            ended
        } else {
            scratch.run(look)
        };
        let printed = [lines_of(&ended.stdout), lines_of(&ended.stderr)].concat();
        assert!(
            line.is_empty() || printed.contains(&line),
            "{place}: no line is {line:?}: {printed:#?}"
        );
    }
    assert!(n_run > 0, "{}: no examples", page.name);
    assert!(
        verdicts.is_empty(),
        "{}: not there: {verdicts:?}",
        page.name
    );
}

/// Copies the content of the demo.
fn copy_demo(scratch: &Scratch, to: &str) {
    let from = demo().join("good/union-addresses");
    let to = scratch.path(to);
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    let mut copy = Command::new("cp");
    assert!(copy.arg("-r").args([from, to]).status().unwrap().success());
}

#[test]
fn configuration() {
    check(&Page {
        name: "docs/reference/config.md",
        prepare: |scratch, _| {
            scratch.write("linux", vec![1; 65536]);
            scratch.prepare("hashlane create linux");
        },
        has_alternatives: false,
        verdicts: &[
            ("hashlane config", 0, "", "[verify]"),
            (
                "hashlane config verify",
                0,
                "",
                "# only                 # not set",
            ),
            (
                "hashlane config get --max-down 1MiB",
                0,
                "",
                "max-down = \"1MiB\"           # command line",
            ),
            (
                "hashlane verify --config /dev/null linux.torrent",
                0,
                "",
                "complete     64 KiB  linux",
            ),
        ],
    });
}

#[test]
fn checksums() {
    check(&Page {
        name: "docs/reference/checksums.md",
        prepare: |scratch, _| {
            for i in 1..=3 {
                scratch.write(&format!("photos/{i}.jpg"), format!("{i}"));
            }
            scratch.write("a.iso", "a");
            scratch.write("keyfile", "key");
            let right = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
            let changed = "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d";
            scratch.write(&format!("models/blobs/sha256-{right}"), "a");
            scratch.write(&format!("models/blobs/sha256-{changed}"), "x");
            scratch.write("models/manifests/latest", "{}");
        },
        has_alternatives: false,
        verdicts: &[
            ("hashlane sum -r photos > list", 0, "", ""),
            ("mv photos/1.jpg photos/one.jpg", 0, "", ""),
            ("rm photos/2.jpg", 0, "", ""),
            // The page shows the same command twice.
            ("hashlane sum --check --against photos list", 0, "", ""),
            ("hashlane sum --check --against photos list", 1, "", ""),
            ("hashlane sum --check --store models", 1, "", ""),
            (
                "hashlane mac -a sha256_hmac -k keyfile --verify \
                 780c3db4ce3de5b9e55816fba98f590631d96c075271b26976238d5f4444219b a.iso",
                0,
                "",
                "",
            ),
        ],
    });
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn archive() {
    check(&Page {
        name: "docs/reference/archive.md",
        prepare: |scratch, _| {
            for i in 1..=3 {
                let text = format!("{i}").repeat(1024 * (8 + 3 * i));
                scratch.write(&format!("photos/{i}.jpg"), text);
            }
        },
        has_alternatives: false,
        verdicts: &[
            ("touch -r photos/3.jpg stamp", 0, "", ""),
            (
                "printf '#' | dd of=photos/3.jpg bs=1 seek=500 conv=notrunc status=none",
                0,
                "",
                "",
            ),
            ("touch -r stamp photos/3.jpg", 0, "", ""),
            ("rm photos/1.jpg", 0, "", ""),
            ("cp photos/2.jpg photos/copy.jpg", 0, "", ""),
            ("hashlane archive check photos", 1, "", ""),
            (
                "hashlane archive scrub photos --repair --doubtful",
                1,
                "",
                "",
            ),
            ("rm photos/3.jpg.damaged-1", 0, "", ""),
            (
                "hashlane archive export photos --format sha256sum -o photos.sha256",
                0,
                "wc -l < photos.sha256",
                "3",
            ),
            (
                "hashlane archive export photos --format hashdeep -o photos.hashdeep",
                0,
                "wc -l < photos.hashdeep",
                "7",
            ),
            (
                "hashlane archive export photos --format csv -o photos.csv",
                0,
                "wc -l < photos.csv",
                "4",
            ),
            (
                "hashlane archive export photos --format parquet -o photos.parquet",
                0,
                "head -c 4 photos.parquet",
                "PAR1",
            ),
            ("rm photos/.hashlane-archive.sqlite*", 0, "", ""),
            (
                "hashlane archive update photos --catalogue photos.catalogue --quiet",
                0,
                "",
                "",
            ),
            ("mkdir bag", 0, "", ""),
            (
                "hashlane archive export photos --catalogue photos.catalogue --format bagit -o bag/manifest-sha256.txt",
                0,
                "wc -l < bag/manifest-sha256.txt",
                "3",
            ),
            (
                "printf 'BagIt-Version: 1.0\\nTag-File-Character-Encoding: UTF-8\\n' > bag/bagit.txt",
                0,
                "wc -l < bag/bagit.txt",
                "2",
            ),
            ("mv photos bag/data", 0, "", ""),
        ],
    });
}

#[test]
fn trees() {
    check(&Page {
        name: "docs/reference/trees.md",
        prepare: |scratch, _| {
            scratch.write("a.img", "");
            scratch.write("b.img", "b");
            scratch.write("photos/1.jpg", "1");
            scratch.write("disk.img", "d".repeat(40_960));
            scratch.write("movie.bin", "m".repeat(40_000));
        },
        has_alternatives: false,
        verdicts: &[
            ("hashlane sum -a fsverity a.img b.img > list", 0, "", ""),
            (
                "printf x | dd of=disk.img bs=1 seek=8192 conv=notrunc status=none",
                0,
                "",
                "",
            ),
            // Before and after the damage.
            (
                "hashlane sum --check -a dmverity --hash-device disk.tree disk.img",
                0,
                "",
                "",
            ),
            (
                "hashlane sum --check -a dmverity --hash-device disk.tree disk.img",
                1,
                "",
                "",
            ),
        ],
    });
}

#[test]
fn import() {
    check(&Page {
        name: "docs/reference/import.md",
        prepare: |scratch, _| {
            let session = |name: &str| crate::import::session(name).canonicalize().unwrap();
            let config = scratch.root.path().join("home/.config");
            fs::create_dir_all(&config).unwrap();
            let to = config.join("transmission-daemon");
            symlink(session("transmission"), to).unwrap();
            fs::create_dir(scratch.path("backup")).unwrap();
            symlink(session("qbittorrent"), scratch.path("backup/qBittorrent")).unwrap();
        },
        has_alternatives: false,
        verdicts: &[
            (
                "hashlane import transmission ~/.config/transmission-daemon --state-dir state",
                0,
                "",
                "7 torrents: 7 imported with 256 KiB of content and 2 notes, 0 already present, 0 failed",
            ),
            (
                "hashlane import qbittorrent backup/qBittorrent --map /downloads=/srv/torrents --map D:/films=/srv/films --dry-run",
                0,
                "",
                "9 torrents: 9 to import with 566 KiB of content and 1 note, 0 already present, 0 failed",
            ),
        ],
    });
}

#[test]
fn verify() {
    check(&Page {
        name: "docs/reference/verify.md",
        prepare: |scratch, _| {
            for name in ["linux", "disk.img", "downloads/linux"] {
                scratch.write(name, vec![1; 65536]);
            }
            scratch.prepare("hashlane create linux");
            for name in ["union-addresses", "speeches"] {
                copy_demo(scratch, &format!("downloads/{name}"));
                let create = format!("hashlane create downloads/{name} -l 16KiB -o {name}.torrent");
                scratch.prepare(&create);
            }
            fs::create_dir(scratch.path("torrents")).unwrap();
            scratch.prepare("cp linux.torrent torrents");
            let damaged = "lincoln/1862_abraham_lincoln_r.txt";
            let from = demo().join("damaged/union-addresses").join(damaged);
            let speeches = scratch.path("downloads/speeches");
            fs::copy(from, speeches.join(damaged)).unwrap();
            fs::remove_file(speeches.join("1801_thomas_jefferson_dr.txt")).unwrap();
        },
        has_alternatives: false,
        verdicts: &[
            (
                "hashlane verify linux.torrent",
                0,
                "",
                "complete     64 KiB  linux",
            ),
            (
                "hashlane verify linux.torrent -d downloads",
                0,
                "",
                "complete     64 KiB  linux",
            ),
            (
                "hashlane verify linux.torrent --content disk.img",
                0,
                "",
                "complete     64 KiB  linux",
            ),
            (
                "hashlane verify *.torrent -d downloads",
                1,
                "",
                "3 torrents: 2 complete, 1 incomplete, 92.9 % of 677 KiB, 677 KiB checked",
            ),
            (
                "hashlane verify torrents -d downloads",
                0,
                "",
                "   100 %  torrents/linux.torrent  complete",
            ),
            (
                "hashlane verify union-addresses.torrent speeches.torrent -d downloads",
                1,
                "",
                "",
            ),
        ],
    });
}

#[test]
fn bag() {
    check(&Page {
        name: "docs/reference/bag.md",
        prepare: |scratch, _| {
            for name in ["1.jpg", "2.jpg", "3.jpg"] {
                scratch.write(&format!("photos/{name}"), &name[..2]);
            }
        },
        has_alternatives: false,
        verdicts: &[
            ("printf x > photos/data/1.jpg", 0, "", ""),
            ("rm photos/data/2.jpg", 0, "", ""),
            ("hashlane bag validate photos", 0, "", ""),
            ("hashlane bag validate photos", 1, "", ""),
        ],
    });
}

#[test]
fn par2() {
    check(&Page {
        name: "docs/reference/par2.md",
        prepare: |scratch, _| {
            for (name, len) in [("1.jpg", 24_600_u32), ("2.jpg", 1_560), ("3.jpg", 20_130)] {
                let bytes = (0..len).map(|i| (i * i / 7 + i / 256 + len) as u8);
                scratch.write(&format!("photos/{name}"), bytes.collect::<Vec<u8>>());
            }
        },
        has_alternatives: false,
        verdicts: &[
            (
                "printf 'rot' | dd of=photos/1.jpg bs=1 seek=5000 conv=notrunc status=none",
                0,
                "",
                "",
            ),
            ("rm photos/2.jpg", 0, "", ""),
            ("hashlane par2 verify photos.par2", 0, "", ""),
            ("hashlane par2 verify photos.par2", 1, "", ""),
            ("hashlane par2 repair photos.par2 --quiet", 0, "", ""),
            ("hashlane par2 verify photos.par2", 0, "", ""),
        ],
    });
}

#[test]
fn find() {
    check(&Page {
        name: "docs/reference/find.md",
        prepare: |scratch, _| {
            copy_demo(scratch, "downloads/speeches");
            scratch.prepare(
                "hashlane create downloads/speeches -l 16KiB --format v1 -o speeches.torrent",
            );
            scratch.prepare("mkdir -p disk1 disk2/old");
            scratch.prepare("cp -r downloads/speeches disk2");
            scratch.prepare("mv disk2/speeches/1790_george_washington_n.txt disk1/a.txt");
            scratch.prepare("cp disk2/speeches/1823_james_monroe_dr.txt disk1/copy");
            scratch.prepare("mv disk2/speeches/1823_james_monroe_dr.txt disk2/old/b.txt");
            scratch.prepare("rm disk2/speeches/1801_thomas_jefferson_dr.txt");
            scratch.prepare("cp speeches.torrent disk1");
        },
        has_alternatives: false,
        verdicts: &[
            (
                "hashlane find speeches.torrent --in disk1 --in disk2",
                1,
                "",
                "",
            ),
            (
                "hashlane find speeches.torrent --in disk1 --in disk2 --save speeches.map",
                1,
                "",
                "  1823_james_monroe_dr.txt  is disk1/copy; 1 other file fits equally",
            ),
            (
                "hashlane verify speeches.torrent --content-map speeches.map",
                1,
                "",
                "  missing         18.8 KiB  1801_thomas_jefferson_dr.txt",
            ),
            (
                "hashlane find speeches.torrent --in disk1 --in disk2 --link hardlink --to links --full",
                1,
                "",
                "  6 names made below links",
            ),
        ],
    });
}

#[test]
fn recover() {
    const ADDRESS: &str = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71  (Bitcoin address, 1...)";
    check(&Page {
        name: "docs/reference/recover.md",
        prepare: |scratch, _| scratch.write("my-addresses", "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71"),
        has_alternatives: false,
        verdicts: &[
            (
                "hashlane recover 1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71",
                0,
                "",
                ADDRESS,
            ),
            (
                "hashlane recover '1Lbcfr7sAHTD9CgdQo3HTM?kV8LK4Zn[XY]71'",
                0,
                "",
                ADDRESS,
            ),
            (
                "hashlane recover --glyphs 1Lbcfr7sAHTD9CgdQ03HTMTkVBLK4ZnX71",
                0,
                "",
                "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71  (Bitcoin address, 1..., 2 edits)",
            ),
            (
                "hashlane recover --errors 1 1Lbcfr7sAHTD9CgdQo3HTM#kV8LK4ZnX71",
                0,
                "",
                "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71  (Bitcoin address, 1..., 1 edit)",
            ),
            (
                "hashlane recover bc1qw508d6qejxtdg4y5r3zarvarv0c5xw7kv8f3t4",
                0,
                "",
                "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4  (witness version 0, 1 edit)",
            ),
            (
                "hashlane recover --estimate 1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                0,
                "",
                "  candidates   4.295e9 (2^32.0)",
            ),
            // The standard input is empty.
            (
                "hashlane recover --known my-addresses -",
                2,
                "",
                "hashlane: there are no strings on the standard input",
            ),
        ],
    });
}

/// The verdicts of docs/reference/create.md.
const CREATE: &[Verdict] = &[
    ("hashlane create folder", 0, "", "folder.torrent"),
    (
        "hashlane create folder -a https://t.example/announce --format v2 -l 1MiB -o other.torrent",
        0,
        "",
        "  content    3 bytes in 3 files, 3 pieces of 1 MiB",
    ),
    (
        "hashlane create folder -x '*.tmp' --no-hidden",
        0,
        "",
        "  left out   1 excluded, 1 hidden",
    ),
    (
        "hashlane create folder --dry-run",
        0,
        "",
        "folder.torrent (not written)",
    ),
    (
        "hashlane create folder -p -s SITE -a https://t.example/announce",
        0,
        "",
        "  format     version 1 only: sites of private trackers refuse other versions",
    ),
    (
        "hashlane create a.iso b.iso --output-dir torrents --preset site",
        0,
        "",
        "2 of 2 torrents created",
    ),
    (
        "hashlane create folder -o - > other.torrent",
        0,
        "hashlane verify other.torrent -d .",
        "complete    3 bytes  folder",
    ),
    (
        "hashlane show folder.torrent",
        0,
        "",
        "  size        3 bytes in 3 files, 1 piece of 16 KiB",
    ),
    (
        "hashlane magnet *.torrent --no-web-seeds",
        0,
        "",
        "magnet:?xt=urn:btih:e7483f778d536e4b6bbeab4bc8c11907ea687b1b&dn=folder&xl=3\
                 &tr=https%3A%2F%2Ft.example%2FOLDKEY%2Fannounce",
    ),
    (
        "hashlane edit folder.torrent -c 'a comment'",
        0,
        "hashlane show folder.torrent",
        "  comment     a comment",
    ),
    (
        "hashlane create folder -p -s SITE -a https://t.example/PASSKEY/announce",
        0,
        "",
        "  magnet     magnet:?xt=urn:btih:32200acad19ea249e2fd9e1e55f115e78d929bc4&dn=folder&xl=3",
    ),
    (
        "hashlane create folder --preset site",
        0,
        "",
        "  content    3 bytes in 3 files, 1 piece of 512 KiB",
    ),
    (
        "hashlane create folder --preset site --private=0 -c 'a public one'",
        0,
        "",
        "  info-hash  13cc666a4eb325108aed63ca1cb2e451001b5ba2",
    ),
    (
        "hashlane create folder --presets other.toml --preset site",
        0,
        "",
        "  info-hash  f099ad072485148f1980db5c85430885baf1e1ee",
    ),
    (
        "hashlane edit *.torrent --replace OLDKEY NEWKEY --dry-run",
        0,
        "",
        "  + trackers       tier 1  https://t.example/NEWKEY/announce",
    ),
    (
        "hashlane edit *.torrent --replace OLDKEY NEWKEY",
        0,
        "hashlane show folder.torrent",
        "  trackers    tier 1  https://t.example/NEWKEY/announce",
    ),
    (
        "hashlane edit a.torrent --remove-tracker t.example -a https://u.example/announce",
        0,
        "hashlane show a.torrent",
        "  trackers    tier 1  https://u.example/announce",
    ),
    (
        "hashlane edit a.torrent --no-trackers -a https://u.example/announce",
        0,
        "hashlane show a.torrent",
        "  trackers    tier 1  https://u.example/announce",
    ),
    // There is no terminal to ask.
    (
        "hashlane edit a.torrent -n 'new name' -o b.torrent",
        2,
        "",
        "hashlane: a.torrent: --confirm=0 is needed: this creates another torrent, and there is no \
                 terminal to ask: info-hash  e7483f778d536e4b6bbeab4bc8c11907ea687b1b becomes \
                 3c0fff90bd25ccdd8b93e45da3616f9de52398d8",
    ),
];

#[test]
fn create() {
    check(&Page {
        name: "docs/reference/create.md",
        prepare: |scratch, command| {
            for name in [
                "folder/a.txt",
                "folder/b.tmp",
                "folder/.hidden",
                "a.iso",
                "b.iso",
            ] {
                scratch.write(name, "a");
            }
            fs::create_dir(scratch.path("torrents")).unwrap();
            let text = text_of("docs/reference/create.md");
            let preset = blocks(&text, "toml").concat();
            assert!(
                preset.starts_with("# ~/.config/hashlane/presets.toml\n"),
                "{preset}"
            );
            scratch.write("../home/.config/hashlane/presets.toml", &preset);
            scratch.write("other.toml", "[site]\nsource = \"OTHER\"\n");
            if command.is_some_and(|command| !command.starts_with("hashlane create ")) {
                let tracker = "https://t.example/OLDKEY/announce";
                scratch.prepare(&format!("hashlane create folder -a {tracker}"));
                scratch.prepare("cp folder.torrent a.torrent");
            }
        },
        has_alternatives: true,
        verdicts: CREATE,
    });
}
