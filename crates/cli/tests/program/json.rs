//! The types of docs/json.md. Fields that are not documented are rejected. The file is long because the specification
//! is one document.

use std::fs;

use serde::Deserialize;

use crate::fixture::{Fixture, demo, end, hashlane, verify_demo};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Torrent {
        torrent: String,
        name: String,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        content: String,
        named_by: Option<String>,
        total_bytes: u64,
        piece_length: u32,
        pieces: u32,
        files: usize,
        notes: Vec<String>,
    },
    File {
        torrent: String,
        index: usize,
        path: String,
        path_hex: Option<String>,
        state: String,
        length: u64,
        length_on_disk: Option<u64>,
        extra_bytes: u64,
        first_piece: Option<u32>,
        pieces: Counts,
        pieces_v1: Option<Counts>,
        pieces_v2: Option<Counts>,
        found_as: Option<String>,
        named_by: Option<String>,
        found_target: Option<String>,
        error: Option<FileError>,
    },
    Pieces {
        torrent: String,
        first: u32,
        count: u32,
        state: String,
    },
    Summary {
        torrent: String,
        complete: bool,
        cancelled: bool,
        pieces: Counts,
        checked_bytes: u64,
        have_bytes: u64,
        total_bytes: u64,
        elapsed_seconds: f64,
    },
    Error {
        torrent: String,
        message: String,
    },
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    total: u32,
    have: u32,
    bad: u32,
    unproven: u32,
    missing: u32,
    unreadable: u32,
    unchecked: u32,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileError {
    offset: Option<u64>,
    message: String,
    os_error: Option<i32>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum KernelsLine {
    Feature {
        name: String,
        available: bool,
    },
    Backend {
        name: String,
        available: bool,
    },
    Job {
        algorithm: String,
        messages: usize,
        kernel: String,
    },
    Kernel {
        name: String,
        backend: String,
        lanes: usize,
        gb_per_second: f64,
    },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum CreateLine {
    File {
        path: String,
        path_hex: Option<String>,
        length: u64,
        target: Option<Target>,
    },
    Planned {
        path: String,
        torrent: String,
        version: String,
        note: Option<String>,
        name: String,
        files: usize,
        content_bytes: u64,
        padding_bytes: u64,
        piece_length: u32,
        pieces: u32,
        left_out: LeftOut,
    },
    Created {
        path: String,
        torrent: String,
        version: String,
        note: Option<String>,
        name: String,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        magnet: String,
        files: usize,
        content_bytes: u64,
        padding_bytes: u64,
        piece_length: u32,
        pieces: u32,
        changed_names: usize,
        circular_links: usize,
        left_out: LeftOut,
        elapsed_seconds: f64,
    },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    excluded: usize,
    hidden: usize,
    links: usize,
    junk: Vec<Target>,
    nodes: usize,
    web_seeds: usize,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum ShowLine {
    Torrent {
        torrent: String,
        name: String,
        version: String,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        single_file: bool,
        content_bytes: u64,
        total_bytes: u64,
        piece_length: u32,
        pieces: u32,
        private: bool,
        source: Option<String>,
        comment: Option<String>,
        created_by: Option<String>,
        creation_date: Option<i64>,
        trackers: Vec<Vec<String>>,
        web_seeds: Vec<String>,
        http_seeds: Vec<String>,
        nodes: Vec<String>,
        similar: Vec<String>,
        collections: Vec<String>,
        other_keys: Vec<OtherKey>,
        magnet: String,
        notes: Vec<String>,
    },
    File {
        torrent: String,
        index: usize,
        path: String,
        path_hex: Option<String>,
        kind: String,
        length: u64,
        offset: u64,
        target: Option<Target>,
        executable: bool,
        hidden: bool,
        renamed: bool,
        pieces_root: Option<String>,
        piece_layer: bool,
    },
    Magnet {
        torrent: String,
        name: Option<String>,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        total_bytes: Option<u64>,
        trackers: Vec<String>,
        web_seeds: Vec<String>,
        peers: Vec<String>,
        nodes: Vec<String>,
        select_only: Option<String>,
        notes: Vec<String>,
    },
    Error {
        torrent: String,
        message: String,
    },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct OtherKey {
    key: String,
    in_info: bool,
    kind: String,
    bytes: usize,
    value: Option<serde_json::Value>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Target {
    path: String,
    path_hex: Option<String>,
}

fn show_lines(text: &str) -> Vec<ShowLine> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn lines(text: &str) -> Vec<Line> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of cases, or one session")]
fn a_damaged_file() {
    let ended = end(verify_demo("damaged").arg("--json"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    let lines = lines(&ended.stdout);
    let torrent = || "union-addresses.torrent".to_owned();
    assert_eq!(
        lines[0],
        Line::Torrent {
            torrent: torrent(),
            name: "union-addresses".into(),
            info_hash_v1: Some("3ff6fe577e89feeb7c20674a06744c2f30efcd5f".into()),
            info_hash_v2: None,
            content: "damaged/union-addresses".into(),
            named_by: None,
            total_bytes: 313_706,
            piece_length: 16384,
            pieces: 20,
            files: 8,
            notes: vec![],
        }
    );
    assert_eq!(
        lines[6],
        Line::File {
            torrent: torrent(),
            index: 5,
            path: "lincoln/1862_abraham_lincoln_r.txt".into(),
            path_hex: None,
            state: "partial".into(),
            length: 49866,
            length_on_disk: Some(49866),
            extra_bytes: 0,
            first_piece: Some(11),
            pieces: Counts {
                total: 4,
                have: 3,
                bad: 1,
                ..Counts::default()
            },
            pieces_v1: Some(Counts {
                total: 4,
                have: 3,
                bad: 1,
                ..Counts::default()
            }),
            pieces_v2: None,
            found_as: None,
            named_by: None,
            found_target: None,
            error: None,
        }
    );
    let runs: Vec<_> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Pieces {
                first,
                count,
                state,
                ..
            } => Some((*first, *count, state.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(runs, [(0, 13, "have"), (13, 1, "bad"), (14, 6, "have")]);
    let Some(Line::Summary {
        complete,
        cancelled,
        pieces,
        have_bytes,
        checked_bytes,
        ..
    }) = lines.last()
    else {
        panic!("the last line is the summary: {lines:#?}");
    };
    assert_eq!((complete, cancelled), (&false, &false));
    assert_eq!(
        pieces,
        &Counts {
            total: 20,
            have: 19,
            bad: 1,
            ..Counts::default()
        }
    );
    assert_eq!((*have_bytes, *checked_bytes), (313_706 - 16384, 313_706));
}

#[test]
fn odd_files() {
    let fixture = Fixture::new(
        "name",
        4,
        &[("long", b"1234"), ("folder", b"1234"), ("e", b"")],
    );
    fs::write(fixture.path("name/long"), b"12345").unwrap();
    fs::remove_file(fixture.path("name/folder")).unwrap();
    fs::create_dir(fixture.path("name/folder")).unwrap();
    let ended = end(fixture.verify().arg("--json"));
    assert_eq!(ended.code, Some(1));
    let files: Vec<_> = lines(&ended.stdout)
        .into_iter()
        .filter_map(|line| match line {
            Line::File {
                state,
                length_on_disk,
                extra_bytes,
                first_piece,
                error,
                ..
            } => Some((state, length_on_disk, extra_bytes, first_piece, error)),
            _ => None,
        })
        .collect();
    assert_eq!(files[0], ("whole".into(), Some(5), 1, Some(0), None));
    let (state, length_on_disk, _, _, error) = &files[1];
    assert_eq!((state.as_str(), length_on_disk), ("unreadable", &None));
    let error = error.as_ref().unwrap();
    assert_eq!(
        (error.offset, error.message.as_str()),
        (None, "is a directory")
    );
    assert_eq!(files[2], ("whole".into(), Some(0), 0, None, None));
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_unicode_comes_as_bytes_too() {
    let folder = tempfile::tempdir().unwrap();
    let torrent = folder.path().join("t.torrent");
    let mut bytes = b"d4:infod5:filesld6:lengthi1e4:pathl2:a\xffeee4:name1:n".to_vec();
    bytes.extend(b"12:piece lengthi1e6:pieces20:xxxxxxxxxxxxxxxxxxxxee");
    fs::write(&torrent, bytes).unwrap();
    let ended = end(hashlane().arg("verify").arg(&torrent).arg("--json"));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let Line::File { path, path_hex, .. } = &lines(&ended.stdout)[1] else {
        panic!()
    };
    assert_eq!(
        (path.as_str(), path_hex.as_deref()),
        ("a\u{fffd}", Some("61ff"))
    );
}

#[test]
fn a_torrent_that_is_refused() {
    let missing = demo().join("missing.torrent");
    let ended = end(hashlane().arg("verify").arg(&missing).arg("--json"));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("No such file or directory"));
    let [Line::Error { torrent, message }] = &lines(&ended.stdout)[..] else {
        panic!()
    };
    assert_eq!(torrent, &missing.to_string_lossy());
    assert!(message.contains("No such file or directory"));
}

#[test]
fn a_torrent_that_is_planned() {
    let folder = tempfile::tempdir().unwrap();
    let content = folder.path().join("content");
    fs::create_dir(&content).unwrap();
    fs::write(content.join("a"), vec![1; 20_000]).unwrap();
    fs::write(content.join("Thumbs.db"), b"junk").unwrap();
    let options = ["--dry-run", "--json", "-p", "-w", "http://w/"];
    let ended = end(hashlane()
        .current_dir(folder.path())
        .args(["create", "content", "--node", "host:1"])
        .args(options));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let lines = ended.stdout.lines().map(serde_json::from_str);
    let lines: Vec<CreateLine> = lines.collect::<Result<_, _>>().unwrap();
    let file = CreateLine::File {
        path: "a".into(),
        path_hex: None,
        length: 20_000,
        target: None,
    };
    let junk = Target {
        path: "Thumbs.db".into(),
        path_hex: None,
    };
    let planned = CreateLine::Planned {
        path: "content".into(),
        torrent: "content.torrent".into(),
        version: "v1".into(),
        note: Some("version 1 only: sites of private trackers refuse other versions".into()),
        name: "content".into(),
        files: 1,
        content_bytes: 20_000,
        padding_bytes: 0,
        piece_length: 16_384,
        pieces: 2,
        left_out: LeftOut {
            excluded: 0,
            hidden: 0,
            links: 0,
            junk: vec![junk],
            nodes: 1,
            web_seeds: 1,
        },
    };
    assert_eq!(lines, [file, planned]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "every field of three kinds of lines")]
fn a_torrent_that_is_made_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let content = folder.path().join("content");
    fs::create_dir(&content).unwrap();
    fs::write(content.join("a"), vec![1; 100_000]).unwrap();
    fs::write(content.join("b"), vec![2; 31_072]).unwrap();
    let options = ["-l", "16KiB", "--format", "hybrid", "--json", "-p"];
    let ended = end(hashlane()
        .current_dir(folder.path())
        .args(["create", "content", "-a", "http://t/a", "-s", "here"])
        .args(options));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let CreateLine::Created {
        path,
        torrent,
        version,
        note,
        name,
        info_hash_v1,
        info_hash_v2,
        magnet,
        files,
        content_bytes,
        padding_bytes,
        piece_length,
        pieces,
        changed_names,
        circular_links,
        left_out,
        elapsed_seconds,
    } = serde_json::from_str(&ended.stdout).unwrap()
    else {
        panic!("{}", ended.stdout);
    };
    let nothing = LeftOut {
        excluded: 0,
        hidden: 0,
        links: 0,
        junk: Vec::new(),
        nodes: 0,
        web_seeds: 0,
    };
    assert_eq!((changed_names, circular_links, left_out), (0, 0, nothing));
    assert_eq!((path.as_str(), name.as_str()), ("content", "content"));
    assert_eq!(
        (torrent.as_str(), version.as_str(), note),
        ("content.torrent", "hybrid", None)
    );
    assert_eq!((files, content_bytes), (2, 131_072));
    assert_eq!((padding_bytes, piece_length, pieces), (16_384, 16_384, 9));
    assert!(elapsed_seconds >= 0.0);

    let ended =
        end(hashlane()
            .current_dir(folder.path())
            .args(["show", "--json", "content.torrent"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let lines = show_lines(&ended.stdout);
    assert_eq!(
        lines[0],
        ShowLine::Torrent {
            torrent: "content.torrent".into(),
            name: "content".into(),
            version: "hybrid".into(),
            info_hash_v1: info_hash_v1.clone(),
            info_hash_v2: info_hash_v2.clone(),
            single_file: false,
            content_bytes: 131_072,
            total_bytes: 147_456,
            piece_length: 16_384,
            pieces: 9,
            private: true,
            source: Some("here".into()),
            comment: None,
            created_by: Some(format!("hashlane {}", env!("CARGO_PKG_VERSION"))),
            creation_date: None,
            trackers: vec![vec!["http://t/a".into()]],
            web_seeds: vec![],
            http_seeds: vec![],
            nodes: vec![],
            similar: vec![],
            collections: vec![],
            other_keys: vec![],
            magnet: magnet.clone(),
            notes: vec![],
        }
    );
    let kinds: Vec<_> = lines[1..]
        .iter()
        .map(|line| match line {
            ShowLine::File {
                path, kind, offset, ..
            } => (path.as_str(), kind.as_str(), *offset),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            ("a", "regular", 0),
            (".pad/14688", "padding", 100_000),
            ("b", "regular", 114_688),
            (".pad/1696", "padding", 145_760),
        ]
    );

    let ended = end(hashlane().args(["show", "--json", &magnet]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        show_lines(&ended.stdout),
        [ShowLine::Magnet {
            // The rest of the link could contain passkeys.
            torrent: format!("magnet:?xt=urn:btih:{}", info_hash_v1.as_ref().unwrap()),
            name: Some("content".into()),
            info_hash_v1,
            info_hash_v2,
            total_bytes: Some(131_072),
            // The torrent is private.
            trackers: vec![],
            web_seeds: vec![],
            peers: vec![],
            nodes: vec![],
            select_only: None,
            notes: vec![],
        }]
    );
}

#[cfg(unix)]
#[test]
fn links_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let content = folder.path().join("content");
    fs::create_dir(&content).unwrap();
    fs::write(content.join("a"), b"a").unwrap();
    std::os::unix::fs::symlink("a", content.join("b")).unwrap();
    let in_folder = |args: &[&str]| end(hashlane().current_dir(folder.path()).args(args));
    assert_eq!(in_folder(&["create", "content", "-q"]).code, Some(0));
    let shown = show_lines(&in_folder(&["show", "content.torrent", "--json"]).stdout);
    let ShowLine::File { kind, target, .. } = &shown[2] else {
        panic!("{shown:?}")
    };
    let a = Target {
        path: "a".into(),
        path_hex: None,
    };
    assert_eq!((kind.as_str(), target), ("link", &Some(a)));

    let verify = || {
        let ended = in_folder(&["verify", "content.torrent", "--json"]);
        let lines = lines(&ended.stdout);
        let link = lines.into_iter().find_map(|line| match line {
            Line::File {
                path,
                state,
                found_target,
                ..
            } if path == "b" => Some((state, found_target)),
            _ => None,
        });
        (ended.code, link.unwrap())
    };
    assert_eq!(verify(), (Some(0), ("link".into(), None)));
    fs::remove_file(content.join("b")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", content.join("b")).unwrap();
    let wrong = ("wrong link".into(), Some("/etc/passwd".into()));
    assert_eq!(verify(), (Some(1), wrong));
}

#[test]
fn kernels() {
    let ended = end(hashlane().args(["kernels", "--json"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let lines = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<KernelsLine> = lines.collect();
    let portable = KernelsLine::Backend {
        name: "portable".into(),
        available: true,
    };
    assert!(lines.contains(&portable));
    let measured = lines.iter().filter_map(|line| match line {
        KernelsLine::Kernel {
            name,
            gb_per_second,
            ..
        } => Some((name.as_str(), *gb_per_second)),
        _ => None,
    });
    let measured: Vec<_> = measured.collect();
    assert!(
        measured
            .iter()
            .any(|(name, _)| *name == "sha256_x1_portable")
    );
    assert!(measured.iter().all(|(_, rate)| *rate > 0.0), "{measured:?}");
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum RecoverLine {
    Hit {
        text: String,
        kind: String,
        edits: u32,
        addresses: Vec<Address>,
    },
    Intact {
        text: String,
        kind: String,
        addresses: Vec<Address>,
    },
    Estimate {
        kinds: Vec<String>,
        candidates: f64,
        hashes: f64,
        remaining_hashes: f64,
        accidental_hits: f64,
        threads: usize,
        kernel: String,
        hashes_per_second: f64,
        seconds: f64,
        lower_bound: bool,
    },
    Summary {
        hits: Vec<String>,
        other_hits: usize,
        complete: bool,
        kinds: Vec<String>,
        candidates: f64,
        accidental_hits: f64,
        hashes: u64,
        threads: usize,
        kernel: String,
        elapsed_seconds: f64,
        tried: Vec<Tried>,
        suggestions: Vec<Suggestion>,
    },
    Contradiction {
        kind: String,
        reason: String,
    },
    Bech32 {
        text: String,
        valid: bool,
        hits: Vec<Repaired>,
        other_hits: usize,
    },
    Error {
        message: String,
    },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Address {
    script: String,
    text: String,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Repaired {
    text: String,
    edits: u32,
    witness_version: u8,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tried {
    case: bool,
    glyphs: bool,
    errors: u8,
    hashes: u64,
    seconds: f64,
    complete: bool,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Suggestion {
    change: String,
    seconds: f64,
    accidental_hits: f64,
}

fn recover_lines(args: &[&str]) -> (Option<i32>, Vec<RecoverLine>) {
    let ended = end(hashlane().args(["recover", "--json", "-t", "1"]).args(args));
    let lines = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    (ended.code, lines.collect())
}

#[test]
fn a_string_that_is_recovered() {
    let lost = "1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71";
    let found = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71".to_owned();
    let (code, lines) = recover_lines(&[lost]);
    assert_eq!(code, Some(0));
    let [hit, summary] = &lines[..] else {
        panic!("{lines:?}");
    };
    let expected = RecoverLine::Hit {
        text: found.clone(),
        kind: "p2pkh".into(),
        edits: 0,
        addresses: Vec::new(),
    };
    assert_eq!(*hit, expected);
    let RecoverLine::Summary {
        hits,
        other_hits: 0,
        complete: true,
        kinds,
        candidates,
        accidental_hits,
        hashes,
        threads: 1,
        kernel,
        elapsed_seconds,
        tried,
        suggestions,
    } = summary
    else {
        panic!("{summary:?}");
    };
    assert_eq!((hits, kinds), (&vec![found], &vec!["p2pkh".to_owned()]));
    assert!((*accidental_hits - candidates / 2_f64.powi(32)).abs() < 1e-9);
    assert!(*hashes > 0 && *elapsed_seconds > 0.0);
    assert!(kernel.starts_with("sha256d_x"));
    assert_eq!(*suggestions, []);
    let [tried] = &tried[..] else {
        panic!("{tried:?}");
    };
    assert!(tried.case && !tried.glyphs && tried.errors == 0 && tried.complete);
    assert!(tried.hashes == *hashes && tried.seconds > 0.0);

    let (code, lines) = recover_lines(&["--estimate", lost]);
    assert_eq!(code, Some(0));
    let [
        RecoverLine::Estimate {
            kinds,
            candidates: of_estimate,
            hashes,
            remaining_hashes,
            accidental_hits: _,
            threads: 1,
            kernel: _,
            hashes_per_second,
            seconds,
            lower_bound: false,
        },
    ] = &lines[..]
    else {
        panic!("{lines:?}");
    };
    assert_eq!(
        (kinds, of_estimate),
        (&vec!["p2pkh".to_owned()], candidates)
    );
    assert_eq!(remaining_hashes.to_bits(), hashes.to_bits());
    // The rest is the time for tables.
    assert!(*seconds >= hashes / hashes_per_second);
}

#[test]
fn an_intact_string() {
    let text = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71".to_owned();
    let (code, lines) = recover_lines(&[&text]);
    let expected = RecoverLine::Intact {
        text,
        kind: "p2pkh".into(),
        addresses: Vec::new(),
    };
    assert_eq!((code, lines), (Some(0), vec![expected]));
    // The private key 1.
    let key = "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn";
    let (code, lines) = recover_lines(&[key]);
    let [RecoverLine::Intact { addresses, .. }] = &lines[..] else {
        panic!("{lines:?}");
    };
    let p2wpkh = Address {
        script: "p2wpkh".into(),
        text: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4".into(),
    };
    assert_eq!((code, addresses.len()), (Some(0), 4));
    assert_eq!(addresses[2], p2wpkh);
}

#[test]
fn strings_that_cannot_be_recovered() {
    let (code, lines) = recover_lines(&["--kind", "wif", "5abc"]);
    let reason = "4 characters, and wif has 51".to_owned();
    let kind = "wif".to_owned();
    assert_eq!(
        (code, lines),
        (Some(1), vec![RecoverLine::Contradiction { kind, reason }])
    );
    let (code, lines) = recover_lines(&["BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"]);
    let text = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4".to_owned();
    let hit = Repaired {
        text: text.clone(),
        edits: 0,
        witness_version: 0,
    };
    let bech32 = RecoverLine::Bech32 {
        text,
        valid: true,
        hits: vec![hit],
        other_hits: 0,
    };
    assert_eq!((code, lines), (Some(0), vec![bech32]));
    let (code, lines) = recover_lines(&["1[a"]);
    let message = "character 2: the set has no end".to_owned();
    assert_eq!(
        (code, lines),
        (Some(2), vec![RecoverLine::Error { message }])
    );
}

#[test]
fn other_keys_and_errors_of_show() {
    let folder = tempfile::tempdir().unwrap();
    let info = "d6:lengthi1e4:name1:n12:piece lengthi1e6:pieces20:xxxxxxxxxxxxxxxxxxxx1:xli1eee";
    let torrent = format!("d8:announce3:udp4:info{info}1:yi-7e1:z2:\u{e9}e");
    fs::write(folder.path().join("t.torrent"), torrent).unwrap();
    let ended =
        end(hashlane()
            .current_dir(folder.path())
            .args(["show", "--json", "missing", "t.torrent"]));
    assert_eq!(ended.code, Some(2));
    let [
        ShowLine::Error { torrent, message },
        ShowLine::Torrent { other_keys, .. },
        _,
    ] = &show_lines(&ended.stdout)[..]
    else {
        panic!("{}", ended.stdout);
    };
    assert_eq!(torrent, "missing");
    assert!(message.starts_with("missing: No such file"), "{message}");
    let key = |key: &str, in_info, kind: &str, bytes, value| OtherKey {
        key: key.into(),
        in_info,
        kind: kind.into(),
        bytes,
        value,
    };
    let expected = [
        key("y", false, "integer", 4, Some((-7).into())),
        key("z", false, "string", 2, Some("\u{e9}".into())),
        key("x", true, "list", 5, None),
    ];
    assert_eq!(other_keys, &expected);
}
