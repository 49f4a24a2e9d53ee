//! `verify` of folders of torrents, and `--report`.

use std::fs;

use crate::fixture::{Fixture, end, hashlane};
#[cfg(target_os = "linux")]
use crate::xfs::on_xfs;

/// Each torrent of a folder takes a row, in the order of the names.
#[test]
fn the_torrents_of_a_folder_are_a_table() {
    let fixture = Fixture::new("name", 4, &[("a", b"some"), ("b", b"more")]);
    let bad = Fixture::new("bad", 4, &[("a", b"some"), ("b", b"more")]);
    let root = fixture.folder.path();
    fs::create_dir(root.join("torrents")).unwrap();
    fs::copy(&fixture.torrent, root.join("torrents/a.torrent")).unwrap();
    fs::copy(&bad.torrent, root.join("torrents/b.torrent")).unwrap();
    fs::write(root.join("torrents/c.torrent"), "broken").unwrap();
    fs::copy(&fixture.torrent, root.join("torrents/d.torrent")).unwrap();
    fs::create_dir(root.join("bad")).unwrap();
    fs::write(root.join("bad/a"), "some").unwrap();
    let verify = |args: &[&str]| {
        let args = [&["verify", "torrents"], args].concat();
        end(hashlane().current_dir(root).args(args))
    };
    let ended = verify(&[]);
    assert_eq!(ended.code, Some(2));
    let error = "hashlane: torrents/c.torrent: ";
    assert!(ended.stderr.starts_with(error), "{ended:?}");
    let table = "   100 %  torrents/a.torrent  complete
  50.0 %  torrents/b.torrent  1 missing
          torrents/c.torrent  not checked
   100 %  torrents/d.torrent  complete

Incomplete or not checked:
  50.0 %  torrents/b.torrent  1 missing
          torrents/c.torrent  not checked
4 torrents: 2 complete, 1 incomplete, 1 not checked, 83.3 % of 24 bytes, 24 bytes checked in ";
    assert!(ended.stdout.starts_with(table), "{}", ended.stdout);
    let ended = verify(&["--failed-only"]);
    assert_eq!(ended.code, Some(2));
    let table = "  50.0 %  torrents/b.torrent  1 missing
          torrents/c.torrent  not checked
4 torrents: 2 complete, 1 incomplete, 1 not checked, ";
    assert!(ended.stdout.starts_with(table), "{}", ended.stdout);
    // With -v, the files are listed as without a folder.
    let ended = verify(&["-v"]);
    assert!(
        ended.stdout.contains("\n  missing    4 bytes  b\n"),
        "{}",
        ended.stdout
    );
    let ended = verify(&["--failed-only", "--json"]);
    assert_eq!(ended.code, Some(2));
    let lines: Vec<serde_json::Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let is_failed = |line: &serde_json::Value| {
        ["torrents/b.torrent", "torrents/c.torrent"].contains(&line["torrent"].as_str().unwrap())
    };
    let (total, others) = lines.split_last().unwrap();
    assert!(others.iter().all(is_failed), "{}", ended.stdout);
    assert_eq!(total["type"], "total");
    let counts =
        ["torrents", "complete", "incomplete", "not_checked"].map(|key| total[key].as_u64());
    assert_eq!(counts, [4, 2, 1, 1].map(Some));
    assert_eq!(total["have_bytes"], 20);
    // Complete torrents have no lines at all.
    let ended = end(hashlane()
        .current_dir(root)
        .args(["verify", "--failed-only", "name.torrent"]));
    assert_eq!(ended.code, Some(0));
    assert!(
        ended.stdout.starts_with("8 bytes checked in "),
        "{}",
        ended.stdout
    );
}

#[test]
fn options_for_a_single_torrent_are_refused_for_several() {
    let fixture = Fixture::new("name", 4, &[("a", b"some")]);
    fs::copy(&fixture.torrent, fixture.path("other.torrent")).unwrap();
    let ended = end(fixture
        .verify()
        .args(["other.torrent", "--content", "name"]));
    let expected = "hashlane: --content needs a single torrent, but 2 were given: -d names the folder that has the content of all\n";
    assert_eq!((ended.code, &*ended.stderr), (Some(2), expected));
}

/// The page has the worst torrents first, a map of each, and no name that a browser could take for markup.
#[test]
fn a_page_shows_the_damage_and_escapes_names() {
    let name = "<img src=x onerror=alert(1)>&amp;\"'";
    let bad = Fixture::new(name, 4, &[("<b>a", b"some"), ("z\u{1b}[31m", b"more")]);
    let good = Fixture::new("good", 4, &[("a", b"some")]);
    let root = bad.folder.path();
    fs::write(bad.path(name).join("<b>a"), "same").unwrap();
    fs::create_dir(root.join("t")).unwrap();
    fs::copy(&good.torrent, root.join("t/a.torrent")).unwrap();
    fs::rename(good.path("good"), root.join("good")).unwrap();
    let gone = Fixture::new("gone", 4, &[("a", b"some")]);
    fs::copy(&gone.torrent, root.join("t/c.torrent")).unwrap();
    fs::rename(&bad.torrent, root.join("t/b.torrent")).unwrap();
    fs::write(root.join("t/<i>.torrent"), "broken").unwrap();
    let verify = |args: &[&str]| {
        let args = [&["verify", "t", "--report", "page.html"], args].concat();
        end(hashlane().current_dir(root).args(args))
    };
    let ended = verify(&[]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let page = fs::read_to_string(root.join("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    for markup in ["<img", "<b>", "<i>", "\u{1b}"] {
        assert!(!page.contains(markup), "{markup}: {page}");
    }
    let escaped = "&lt;img src=x onerror=alert(1)&gt;&amp;amp;&quot;&#39;<br>";
    assert!(page.contains(escaped), "{page}");
    let file = "<li>&lt;b&gt;a: 0 of 1 piece</li>";
    assert!(page.contains(file), "{page}");
    let map = "aria-label=\"Pieces: 1 have, 1 bad\"><rect class=\"bad\" x=\"0\" y=\"2\" width=\"1\" height=\"6\"/><rect class=\"have\" x=\"1\"";
    assert!(page.contains(map), "{page}");
    let order = [
        "t/&lt;i&gt;.torrent",
        "t/c.torrent",
        "t/b.torrent",
        "t/a.torrent",
    ];
    let places = order.map(|path| page.find(path));
    assert!(
        places.is_sorted() && places[0].is_some(),
        "{places:?}: {page}"
    );
    // The page allows its own style and script by their digests, and names no other place.
    let policy = "default-src 'none'; style-src 'sha256-";
    assert!(page.contains(policy), "{page}");
    for place in ["http:", "https:", "src=\"", "href=", "url("] {
        assert!(!page.contains(place), "{place}: {page}");
    }
    // A page that exists is replaced only with --force.
    let before = fs::read(root.join("page.html")).unwrap();
    let ended = verify(&["--failed-only"]);
    let expected = "hashlane: page.html: exists: use --force to replace it\n";
    assert_eq!((ended.code, &*ended.stderr), (Some(2), expected));
    assert_eq!(fs::read(root.join("page.html")).unwrap(), before);
    assert_eq!(verify(&["--force", "--json"]).code, Some(2));
}

#[test]
fn a_page_never_replaces_a_torrent_or_content() {
    let fixture = Fixture::new("name", 4, &[("a", b"some")]);
    for (report, is_refused) in [
        ("name.torrent", true),
        ("name/a", true),
        ("name/new", true),
        ("new", false),
    ] {
        let ended = end(fixture.verify().args(["--force", "--report", report]));
        let expected = format!(
            "hashlane: {report}: refusing to overwrite a file that belongs to the torrent or its content\n"
        );
        let expected = if is_refused {
            (Some(2), &*expected)
        } else {
            (Some(0), "")
        };
        assert_eq!((ended.code, &*ended.stderr), expected, "{report}");
        assert_eq!(
            fixture.path(report).exists(),
            report != "name/new",
            "{report}"
        );
    }
    assert_eq!(fs::read(fixture.path("name/a")).unwrap(), b"some");
}

#[test]
fn a_folder_stands_for_its_torrents() {
    let fixture = Fixture::new("name", 4, &[("a", b"some"), ("b", b"more")]);
    let root = fixture.folder.path();
    fs::create_dir_all(root.join("archive/below")).unwrap();
    fs::copy(&fixture.torrent, root.join("archive/z.torrent")).unwrap();
    fs::copy(&fixture.torrent, root.join("archive/below/y.TORRENT")).unwrap();
    fs::write(root.join("archive/notes.txt"), "not a torrent").unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    let verify = |args: &[&str]| end(hashlane().current_dir(root).arg("verify").args(args));
    let ended = verify(&["archive"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert!(
        ended.stdout.contains("\n2 torrents: complete, 16 bytes"),
        "{ended:?}"
    );
    fs::write(root.join("name/b"), "less").unwrap();
    let ended = verify(&["archive", "empty", "name.torrent"]);
    assert_eq!(ended.code, Some(2));
    assert_eq!(ended.stderr, "hashlane: empty: has no .torrent files\n");
    let expected = "Incomplete or not checked:
  50.0 %  archive/below/y.TORRENT  1 bad
  50.0 %  archive/z.torrent  1 bad
          empty  not checked
  50.0 %  name.torrent  1 bad
4 torrents: 3 incomplete, 1 not checked, 50.0 % of 24 bytes, 24 bytes checked in ";
    assert!(ended.stdout.contains(expected), "{}", ended.stdout);
    let ended = verify(&["archive", "--bitfield", "bits"]);
    let expected = "hashlane: --bitfield needs a single torrent, but 2 were given\n";
    assert_eq!((ended.code, &*ended.stderr), (Some(2), expected));
}

#[cfg(unix)]
#[test]
fn other_entries_of_a_folder_of_torrents_are_ignored() {
    let fixture = Fixture::new("name", 4, &[("a", b"some")]);
    let root = fixture.folder.path();
    let made = std::process::Command::new("mkfifo")
        .args([root.join("pipe"), root.join("pipe.torrent")])
        .status();
    assert!(made.unwrap().success());
    std::os::unix::fs::symlink(".", root.join("loop")).unwrap();
    let ended = end(hashlane().current_dir(root).args(["verify", "."]));
    let expected = "hashlane: ./pipe.torrent: is a pipe, socket or device\n";
    assert_eq!((ended.code, &*ended.stderr), (Some(2), expected));
    assert!(
        ended
            .stdout
            .contains("2 torrents: 1 complete, 1 not checked")
    );
}

/// Missing content of each torrent is looked for beside its place, in one listing of the folder for all torrents.
#[test]
fn rows_name_missing_content_that_has_another_name() {
    let files: [(&str, &[u8]); 2] = [("a", b"12345678"), ("b", b"abcdefgh")];
    let fixture = Fixture::new("name", 4, &files);
    let root = fixture.folder.path();
    fs::create_dir(root.join("torrents")).unwrap();
    fs::rename(&fixture.torrent, root.join("torrents/a.torrent")).unwrap();
    fs::rename(root.join("name/b"), root.join("name/c")).unwrap();
    for (name, a, b) in [
        ("one", b"ABCDEFGH", b"IJKLMNOP"),
        ("two", b"hgfedcba", b"ponmlkji"),
    ] {
        let other = Fixture::new(name, 4, &[("a", a), ("b", b)]);
        let torrent = format!("torrents/{name}.torrent");
        fs::copy(&other.torrent, root.join(torrent)).unwrap();
        let place = root.join(format!("{name} (1)"));
        fs::create_dir(&place).unwrap();
        for file in ["a", "b"] {
            fs::copy(other.path(name).join(file), place.join(file)).unwrap();
        }
    }
    fs::remove_file(root.join("two (1)/b")).unwrap();
    let verify = |args: &[&str]| {
        let args = [&["verify", "torrents"], args].concat();
        end(hashlane().current_dir(root).args(args))
    };
    let ended = verify(&["--failed-only"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    let table = "  50.0 %  torrents/a.torrent  2 missing
          b: found as c, by one piece: rename it
   0.0 %  torrents/one.torrent  4 missing
          found as one (1) (2 of 2 files), by one piece: --content checks it
   0.0 %  torrents/two.torrent  4 missing
          found as two (1) (1 of 2 files), by one piece: --content checks it
3 torrents: 3 incomplete, ";
    assert!(ended.stdout.starts_with(table), "{}", ended.stdout);
    let json = verify(&["--json"]).stdout;
    for candidate in ["one (1)", "two (1)", "c"] {
        let field = format!("\"candidate\":\"{candidate}\"");
        assert!(json.contains(&field), "{json}");
    }
    let ended = verify(&["-q", "--report", "page.html"]);
    assert_eq!(ended.code, Some(1));
    let page = fs::read_to_string(root.join("page.html")).unwrap();
    for text in [
        "4 missing<br>found as one (1) (2 of 2 files), by one piece<details>",
        "<li>b: missing, found as name/c, by one piece</li>",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

/// Reflinks are read once, until one of them is written to, even if the new bytes are only in memory.
#[cfg(target_os = "linux")]
#[test]
fn reflinks_are_read_once() {
    use std::os::unix::fs::FileExt as _;
    use std::process::Command;

    const LEN_BYTES: u64 = 20 << 20;
    on_xfs(|disk| {
        let path = |name: &str| disk.join(name);
        let mut number = 1_u64;
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (number >> 56) as u8
        })
        .take(LEN_BYTES as usize)
        .collect();
        fs::create_dir(path("torrents")).unwrap();
        for name in ["one", "two"] {
            fs::create_dir(path(name)).unwrap();
            let to = path(name).join("a");
            if name == "one" {
                fs::write(to, &bytes).unwrap();
            } else {
                let mut copy = Command::new("cp");
                copy.arg("--reflink=always").arg(path("one/a")).arg(to);
                assert_eq!(end(&mut copy).code, Some(0));
            }
            let output = path("torrents").join(format!("{name}.torrent"));
            let mut create = hashlane();
            create.current_dir(disk).args(["create", name, "-q", "-o"]);
            assert_eq!(end(create.arg(output)).code, Some(0));
        }
        // Bytes of files that were written to just now may not be on the disk.
        end(Command::new("sync").arg("-f").arg(disk));
        let settle = || std::thread::sleep(std::time::Duration::from_millis(50));
        // The system counts the bytes that ended children have read for their parent.
        let script = "\"$@\"; code=$?; cat /proc/$$/io >&2; exit $code";
        let verify = || {
            settle();
            let mut shell = Command::new("sh");
            shell.env("HASHLANE_CONFIG", "/dev/null").current_dir(disk);
            shell.args(["-c", script, "sh", env!("CARGO_BIN_EXE_hashlane")]);
            let ended = end(shell.args(["verify", "torrents", "-d", ".", "--io", "pread"]));
            let read = ended
                .stderr
                .lines()
                .find_map(|line| line.strip_prefix("rchar: "));
            (
                ended.code,
                read.map(|n| n.parse::<u64>().unwrap()),
                ended.stdout,
            )
        };
        let (code, read, table) = verify();
        assert_eq!(code, Some(0), "{table}");
        match read {
            Some(n) => assert!((LEN_BYTES..LEN_BYTES + (4 << 20)).contains(&n), "{n}"),
            None => crate::not_run::not_run(
                "the number of bytes that a verification reads",
                "the kernel does not count them",
                "use a kernel with CONFIG_TASK_IO_ACCOUNTING",
            ),
        }
        let write = |name: &str| {
            let file = fs::File::options().write(true).open(path(name)).unwrap();
            file.write_all_at(&[bytes[9] ^ 1], 9).unwrap();
        };
        write("two/a");
        let (code, read, table) = verify();
        assert_eq!(code, Some(1), "{table}");
        let complete = |name| table.contains(&format!("torrents/{name}.torrent  complete"));
        assert!(complete("one") && !complete("two"), "{table}");
        assert!(read.is_none_or(|n| n >= 2 * LEN_BYTES), "{read:?}");
    });
}
