//! Paths that other programs write. If libtorrent's Python binding is installed, its paths are compared.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use hashlane_metainfo::{Naming, PathComponent, Torrent};

use crate::HASH;
use crate::not_run::{has_python_module, is_installed, not_run};

type Paths<'p> = Vec<Vec<&'p [u8]>>;

/// Returns a version 1 torrent of empty files with these paths, after a file with content.
fn torrent(name: &[u8], paths: &[Vec<&[u8]>]) -> Vec<u8> {
    let string = |bytes: &[u8]| [format!("{}:", bytes.len()).as_bytes(), bytes].concat();
    let mut files = b"d6:lengthi1e4:pathl7:contentee".to_vec();
    for path in paths {
        files.extend(b"d6:lengthi0e4:pathl");
        files.extend(path.iter().flat_map(|name| string(name)));
        files.extend(b"ee");
    }
    let rest = format!("12:piece lengthi16384e6:pieces20:{HASH}ee");
    [
        b"d4:infod5:filesl",
        &files[..],
        b"e4:name",
        &string(name),
        rest.as_bytes(),
    ]
    .concat()
}

/// Returns the paths that a program writes, with the name of the torrent in front.
fn written(naming: Naming, bytes: &[u8]) -> Vec<Vec<u8>> {
    let torrent = Torrent::parse(bytes).unwrap();
    let foreign = torrent.foreign_paths(naming);
    let name = foreign.name().unwrap_or_else(|| torrent.name());
    let files = torrent.files().iter().enumerate().skip(1);
    let paths = files.map(|(index, file)| {
        let path = foreign.path(index).unwrap_or_else(|| file.path());
        let mut names = vec![name.as_bytes()];
        names.extend(path.components().map(PathComponent::as_bytes));
        names.join(&b'/')
    });
    paths.collect()
}

/// Other programs ignore the charset that a torrent states, so that content is found only if it changes no path here, too.
#[test]
fn a_stated_charset_changes_no_path() {
    let bytes = torrent(b"\xd6\xd0", &[vec![b"\xce\xc4.txt"]]);
    let stated = [b"d8:encoding3:GBK", &bytes[1..]].concat();
    for bytes in [&bytes, &stated] {
        let torrent = Torrent::parse(bytes.as_slice()).unwrap();
        assert_eq!(torrent.name().as_bytes(), b"\xd6\xd0");
        let file = torrent.file(1).path();
        let names: Vec<_> = file.components().map(PathComponent::as_bytes).collect();
        assert_eq!(names, [b"\xce\xc4.txt"]);
        assert_eq!(written(Naming::Libtorrent, bytes), [b"_/_.txt"]);
    }
    let torrent = Torrent::parse(stated.as_slice()).unwrap();
    assert!(torrent.metadata_ref().encoding.is_some());
}

/// The classes of names that libtorrent changes, with the result of libtorrent 2.1.1.
fn classes() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let long = |prefix: usize, rest: &str| [&vec![b'a'; prefix][..], rest.as_bytes()].concat();
    let class = |class, name: &[u8], written: &[u8]| (class, name.to_vec(), written.to_vec());
    vec![
        class("GBK", b"\xd6\xd0\xce\xc4.txt", b"__.txt"),
        class("Shift-JIS", b"\x83\\\x83t\x83g.txt", b"__t_g.txt"),
        class("UTF-8, not complete", b"\xf1\x80\x80\xe1\x80\xc2b", b"___"),
        class("UTF-8, too long", b"a\xe0\x80\x80b\xc0\x80", b"a_b_"),
        class(
            "five bytes",
            b"\xf8\xc3\xa9\xc3\xa9\xc3\xa9",
            "_\u{e9}".as_bytes(),
        ),
        class("surrogates", b"\xed\xa0\xbd\xed\xb8\x80", b"__"),
        class("backslash", b"a\\b", b"ab"),
        class("only a backslash", b"\\", b"_"),
        class("dots", b"..\\", b"_"),
        class("tab", b"a\tb", b"a_b"),
        class("newline", b"a\nb", b"a_b"),
        class("DEL", b"a\x7fb", b"a_b"),
        class("C1", "a\u{85}b".as_bytes(), b"a_b"),
        class("U+202E", "a\u{202e}b".as_bytes(), b"ab"),
        class("U+200B", "a\u{200b}b".as_bytes(), b"ab"),
        class("only U+200B", "\u{200b}".as_bytes(), b"_"),
        class(
            "ZWJ",
            "\u{1f468}\u{200d}\u{1f469}".as_bytes(),
            "\u{1f468}\u{1f469}".as_bytes(),
        ),
        class("BOM", "\u{feff}a".as_bytes(), b"a"),
        class(
            "U+2060 to U+2069",
            "\u{2060}\u{2064}\u{2065}\u{2069}".as_bytes(),
            "\u{2065}".as_bytes(),
        ),
        ("240 bytes", long(240, ""), long(240, "")),
        ("241 bytes", long(241, ""), long(240, "")),
        ("255 bytes", long(255, ""), long(240, "")),
        ("300 bytes", long(300, ""), long(240, "")),
        ("extension cut", long(237, ".txt"), long(237, ".tx")),
        ("extension", long(241, ".txt"), long(240, ".txt")),
        (
            "long extension",
            long(240, ".12345678"),
            long(240, ".12345678"),
        ),
        ("longer extension", long(240, ".123456789"), long(240, "")),
        (
            "last extension",
            long(300, ".x.\u{e9}\t"),
            long(240, ".\u{e9}_"),
        ),
        (
            "characters are whole",
            long(239, "\u{e9}\u{e9}"),
            long(239, "\u{e9}"),
        ),
        (
            "controls have no limit",
            long(239, "\t\t\tb"),
            long(239, "___b"),
        ),
        class("kept", b"a:b*?<>|\" .", b"a:b*?<>|\" ."),
    ]
}

/// Paths of several files, and the paths that libtorrent writes.
fn sets() -> Vec<(Paths<'static>, Vec<&'static str>)> {
    let long = |end: &str| -> &'static [u8] { ("a".repeat(241) + end).into_bytes().leak() };
    let numbered: &'static str = ("n/".to_owned() + &"a".repeat(240) + ".1").leak();
    vec![
        (
            vec![vec![b"A.txt"], vec![b"a.txt"]],
            vec!["n/A.txt", "n/a.1.txt"],
        ),
        (
            vec![vec![b"a.txt"], vec![b"A.txt"], vec![b"a.TXT"]],
            vec!["n/a.txt", "n/A.1.txt", "n/a.2.TXT"],
        ),
        (
            vec![vec![b"D", b"x"], vec![b"d", b"x"]],
            vec!["n/D/x", "n/d/x.1"],
        ),
        (
            vec![vec![b"D", b"x"], vec![b"d", b"y"]],
            vec!["n/D/x", "n/d/y"],
        ),
        (vec![vec![b"A"], vec![b"a", b"x"]], vec!["n/A.1", "n/a/x"]),
        (vec![vec![b"a\xff"], vec![b"a\xfe"]], vec!["n/a_", "n/a_.1"]),
        (
            vec![vec![b"\xff", b"\t"], vec![b"b\\c", b"d"]],
            vec!["n/_/_", "n/bc/d"],
        ),
        (
            vec![vec![long("1")], vec![long("2")]],
            vec![&numbered[..242], numbered],
        ),
        (
            vec![vec!["\u{c9}".as_bytes()], vec!["\u{e9}".as_bytes()]],
            vec!["n/\u{c9}", "n/\u{e9}"],
        ),
    ]
}

#[test]
fn names_by_libtorrent() {
    for (class, name, expected) in classes() {
        let found = written(Naming::Libtorrent, &torrent(b"n", &[vec![&name[..]]]));
        assert_eq!(found, [[b"n/", &expected[..]].concat()], "{class}");
    }
    for (paths, expected) in sets() {
        let found = written(Naming::Libtorrent, &torrent(b"n", &paths));
        assert_eq!(
            found,
            expected
                .iter()
                .map(|path| path.as_bytes())
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn names_of_content_folders() {
    let name = |name: &[u8]| {
        let bytes = torrent(name, &[vec![b"x"]]);
        let path = written(Naming::Libtorrent, &bytes).remove(0);
        String::from_utf8(path).unwrap()
    };
    assert_eq!(name(b"a\\b"), "ab/x");
    assert_eq!(name(b"\t"), "_/x");
    assert_eq!(name(b"\xff"), "_/x");
    let bytes = torrent("\u{200b}".as_bytes(), &[vec![b"x"]]);
    let info_hash = Torrent::parse(&bytes[..])
        .unwrap()
        .info_hashes()
        .v1()
        .unwrap();
    assert_eq!(name("\u{200b}".as_bytes()), format!("{info_hash}/x"));
}

/// Names, and the names that Transmission 4.1, 4.0 and 3 write.
fn transmission_classes() -> Vec<[&'static [u8]; 4]> {
    const CASES: [[&[u8]; 4]; 22] = [
        [b"a.txt"; 4],
        [b"a\x7fb"; 4],
        ["\u{e9}\u{202e}".as_bytes(); 4],
        [b"a\tb", b"a_b", b"a\tb", b"a_b"],
        [b"a:b?", b"a:b?", b"a_b_", b"a_b_"],
        [b"\"*<>|\\", b"\"*<>|\\", b"______", b"______"],
        [b" a", b" a", b"a", b"a"],
        [b"a ", b"a ", b"a", b"a"],
        [b"a..", b"a..", b"a", b"a"],
        [b"a. .", b"a. .", b"a. ", b"a"],
        [b".a", b".a", b".a", b".a"],
        [b"con", b"con", b"_con", b"con_"],
        [b"Lpt1.txt", b"Lpt1.txt", b"_Lpt1.txt", b"Lpt1_.txt"],
        [b"console", b"console", b"console", b"console"],
        // Latin-1, and ISO 8859-15 where it differs.
        [
            b"caf\xe9",
            "caf\u{fffd}".as_bytes(),
            b"caf\xe9",
            "caf\u{e9}".as_bytes(),
        ],
        [
            b"\xa4 5",
            "\u{fffd} 5".as_bytes(),
            b"\xa4 5",
            "\u{20ac} 5".as_bytes(),
        ],
        // GBK.
        [
            b"\xd6\xd0\xce\xc4",
            "\u{fffd}\u{fffd}\u{fffd}\u{fffd}".as_bytes(),
            b"\xd6\xd0\xce\xc4",
            "\u{d6}\u{d0}\u{ce}\u{c4}".as_bytes(),
        ],
        // A sequence with trail bytes is replaced as a whole.
        [
            b"\xc0\x80b",
            "\u{fffd}b".as_bytes(),
            b"\xc0\x80b",
            "\u{c0}\u{80}b".as_bytes(),
        ],
        [
            b"\xe4\xb8b",
            "\u{fffd}b".as_bytes(),
            b"\xe4\xb8b",
            "\u{e4}\u{17e}b".as_bytes(),
        ],
        [
            b"\xe4\xb8",
            "\u{fffd}".as_bytes(),
            b"\xe4\xb8",
            "\u{e4}\u{17e}".as_bytes(),
        ],
        [
            b"\xed\xa0\xbd",
            "\u{fffd}".as_bytes(),
            b"\xed\xa0\xbd",
            "\u{ed}\u{a0}\u{153}".as_bytes(),
        ],
        [
            b"\xff\x80",
            "\u{fffd}\u{fffd}".as_bytes(),
            b"\xff\x80",
            "\u{ff}\u{80}".as_bytes(),
        ],
    ];
    CASES.to_vec()
}

#[test]
fn names_by_transmission() {
    let namings = [
        Naming::Transmission,
        Naming::Transmission40,
        Naming::Transmission3,
    ];
    for [name, expected @ ..] in transmission_classes() {
        for (naming, expected) in namings.into_iter().zip(expected) {
            let found = written(naming, &torrent(b"n", &[vec![name]]));
            let shown = name.escape_ascii();
            assert_eq!(
                found,
                [[b"n/", expected].concat()],
                "{shown} by {}",
                naming.program()
            );
        }
    }
    let bytes = torrent(b"n\xe9", &[vec![b"d:", b"x"]]);
    let found = namings.map(|naming| written(naming, &bytes).remove(0));
    let expected: [&[u8]; 3] = [
        "n\u{fffd}/d:/x".as_bytes(),
        b"n\xe9/d_/x",
        "n\u{e9}/d_/x".as_bytes(),
    ];
    assert_eq!(found, expected);
}

/// The installed version of Transmission lists the paths that it writes.
#[test]
fn transmission_writes_the_same() {
    if !is_installed("TRANSMISSION", "transmission-show", "transmission-cli") {
        return;
    }
    let version = Command::new("transmission-show").arg("--version").output();
    let version = version.unwrap();
    let version = [version.stdout, version.stderr].concat();
    let version = String::from_utf8_lossy(&version).into_owned();
    let column = match version.trim_start_matches("transmission-show ") {
        version if version.starts_with("3.") => 3,
        version if version.starts_with("4.0") => 2,
        version if version.starts_with("4.") => 1,
        _ => {
            let because = format!("no table has the paths of version {version}");
            return not_run(
                "the comparison with transmission-show",
                &because,
                "install version 3 or 4",
            );
        }
    };
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("transmission.torrent");
    for names in transmission_classes() {
        std::fs::write(&path, torrent(b"n", &[vec![names[0]]])).unwrap();
        let output = Command::new("transmission-show")
            .arg(&path)
            .output()
            .unwrap();
        let expected = [b"  n/", names[column], b" ("].concat();
        let mut lines = output.stdout.split(|byte| *byte == b'\n');
        let is_there = lines.any(|line| line.starts_with(&expected));
        let shown = names[0].escape_ascii();
        assert!(
            is_there,
            "{shown}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

/// Content at such a path could belong to either file.
#[test]
fn a_path_of_two_files_is_the_path_of_neither() {
    // libtorrent writes the first file to the path that the second has in the torrent.
    let own: &[&[u8]] = &[b"n/a\xff", b"n/a_.1"];
    let bytes = torrent(b"n", &[vec![b"a\xff"], vec![b"a_"]]);
    assert_eq!(written(Naming::Libtorrent, &bytes), own);
    // Transmission writes both to one path.
    let own: &[&[u8]] = &[b"n/a\xff", b"n/a\xfe"];
    let bytes = torrent(b"n", &[vec![b"a\xff"], vec![b"a\xfe"]]);
    assert_eq!(written(Naming::Transmission, &bytes), own);
}

#[test]
fn libtorrent_writes_the_same() {
    const SCRIPT: &str = r#"
import sys, libtorrent as lt
for metainfo in lt.bdecode(sys.stdin.buffer.read()):
    torrent = lt.torrent_info(metainfo)
    for index in range(1, torrent.num_files()):
        sys.stdout.buffer.write(torrent.files().file_path(index).encode() + b"\n")
"#;
    let python = |script: &str| {
        let mut command = Command::new("python3");
        command.args(["-W", "ignore", "-c", script]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
    };
    if !has_python_module("LIBTORRENT", "libtorrent", "libtorrent") {
        return;
    }
    let names = classes();
    let mut torrents: Vec<_> = names
        .iter()
        .map(|(_, name, _)| torrent(b"n", &[vec![&name[..]]]))
        .collect();
    torrents.extend(sets().iter().map(|(paths, _)| torrent(b"n", paths)));
    for name in ["a\\b", "\t", "\u{200b}", "\u{202e}\u{202d}"] {
        torrents.push(torrent(name.as_bytes(), &[vec![b"x"]]));
    }
    let ours: Vec<_> = torrents
        .iter()
        .flat_map(|bytes| written(Naming::Libtorrent, bytes))
        .collect();
    let list = [&b"l"[..], &torrents.concat(), b"e"].concat();
    let mut child = python(SCRIPT).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&list).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let theirs: Vec<&[u8]> = output.stdout.split(|byte| *byte == b'\n').collect();
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(
            ours.escape_ascii().to_string(),
            theirs.escape_ascii().to_string()
        );
    }
    assert_eq!(ours.len() + 1, theirs.len());
}
