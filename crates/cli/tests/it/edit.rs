//! `hashlane edit`.

use std::fs;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;
use std::process::Stdio;

use hashlane_cli::Exit;

use crate::fixture::{Ended, demo, end, end_with_input, hashlane};
use crate::in_process::run_with;

const INFO_HASH: &str = "3ff6fe577e89feeb7c20674a06744c2f30efcd5f";

/// Copies the demo's torrent into a temporary folder.
fn copy() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let torrent = folder.path().join("t.torrent");
    fs::copy(demo().join("union-addresses.torrent"), &torrent).unwrap();
    (folder, torrent)
}

fn edit(torrent: &PathBuf, args: &[&str]) -> Ended {
    end(hashlane().arg("edit").arg(torrent).args(args))
}

fn show(torrent: &PathBuf) -> String {
    end(hashlane().arg("show").arg(torrent)).stdout
}

#[test]
fn metadata_outside_the_info_dictionary_is_edited() {
    let (_folder, torrent) = copy();
    let before = fs::read(&torrent).unwrap();
    let ended = edit(
        &torrent,
        &["-a", "http://a,http://b", "-w", "http://w", "-c", "text"],
    );
    assert_eq!(
        (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
        (Some(0), "", "")
    );
    let shown = show(&torrent);
    for expected in [
        INFO_HASH,
        "tier 1  http://b\n",
        "http://w\n",
        "comment     text\n",
    ] {
        assert!(shown.contains(expected), "{shown}");
    }
    let added = [
        "-a",
        "http://b,http://c",
        "-w",
        "http://w",
        "-w",
        "http://x",
    ];
    assert_eq!(edit(&torrent, &added).code, Some(0));
    let shown = show(&torrent);
    assert!(shown.contains("tier 2  http://c\n"), "{shown}");
    assert_eq!(shown.matches("http://b").count(), 1, "{shown}");
    assert_eq!(shown.matches("http://w").count(), 1, "{shown}");
    let removed = ["--no-trackers", "--no-web-seeds", "-c", ""];
    assert_eq!(edit(&torrent, &removed).code, Some(0));
    assert_eq!(fs::read(&torrent).unwrap(), before, "all is as it was");
}

#[test]
fn a_new_info_hash_needs_confirmation() {
    let (folder, torrent) = copy();
    let before = fs::read(&torrent).unwrap();
    let ended = edit(&torrent, &["-s", "here", "-p"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.contains("--confirm=0 is needed"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains(&format!("{INFO_HASH} becomes ")));
    assert_eq!(fs::read(&torrent).unwrap(), before);

    let output = folder.path().join("out.torrent");
    let to_output = [
        "-s",
        "here",
        "-p",
        "--confirm=0",
        "-o",
        output.to_str().unwrap(),
    ];
    let ended = edit(&torrent, &to_output);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(
        ended
            .stdout
            .starts_with(&format!("info-hash  {INFO_HASH} becomes "))
    );
    assert_eq!(fs::read(&torrent).unwrap(), before);
    let shown = show(&output);
    assert!(shown.contains("private     yes"), "{shown}");
    assert!(shown.contains("source      here\n"), "{shown}");
    // The output file exists now.
    assert_eq!(edit(&torrent, &to_output).code, Some(2));
    let back = edit(&output, &["-s", "", "-p=0", "--confirm=0"]);
    assert_eq!(back.code, Some(0));
    assert_eq!(fs::read(&output).unwrap(), before);
    // Setting the current value is no change and asks for no confirmation.
    assert_eq!(edit(&output, &["-p=0"]).code, Some(0));
    assert_eq!(fs::read(&output).unwrap(), before);
}

/// The URL of a tracker can contain a password.
#[cfg(unix)]
#[test]
fn a_private_file_stays_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, torrent) = copy();
    for mode in [0o600, 0o640, 0o444] {
        fs::set_permissions(&torrent, fs::Permissions::from_mode(mode)).unwrap();
        let ended = edit(&torrent, &["-c", &format!("{mode:o}")]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        let after = fs::metadata(&torrent).unwrap().permissions().mode();
        assert_eq!(after & 0o777, mode);
    }
}

#[test]
fn nothing_to_change() {
    let (_folder, torrent) = copy();
    let ended = edit(&torrent, &[]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("nothing to change"),
        "{}",
        ended.stderr
    );
    let missing = PathBuf::from("missing.torrent");
    let ended = edit(&missing, &["-c", "x"]);
    assert!(
        ended
            .stderr
            .starts_with("hashlane: missing.torrent: No such file")
    );
}

/// The line of `edit --json`; see docs/reference/json.md.
#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Edited {
    r#type: String,
    torrent: String,
    output: Option<String>,
    info_hash_v1: Option<String>,
    info_hash_v2: Option<String>,
    info_hash_changed: bool,
    changed: bool,
    changes: Vec<Change>,
}

#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    field: String,
    removed: Vec<String>,
    added: Vec<String>,
}

#[test]
fn json_names_the_new_info_hash() {
    let (folder, torrent) = copy();
    let output = folder.path().join("new.torrent");
    for (options, changed) in [
        (["-c", "new", "--confirm=0"], false),
        (["-s", "new", "--confirm=0"], true),
    ] {
        let mut edit = hashlane();
        edit.arg("edit").arg(&torrent).args(options);
        let ended = end(edit.args(["--json", "--force", "-o"]).arg(&output));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        let line: Edited = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(line.r#type, "edited");
        assert_eq!(line.torrent, torrent.to_str().unwrap());
        assert_eq!(line.output.as_deref(), output.to_str());
        assert!(line.changed);
        let field = if changed { "info_hash_v1" } else { "comment" };
        assert_eq!(line.changes[0].field, field);
        assert_eq!((line.info_hash_changed, line.info_hash_v2), (changed, None));
        let info_hash = line.info_hash_v1.unwrap();
        assert_eq!(info_hash != INFO_HASH, changed);
        assert!(show(&output).contains(&info_hash));
    }
}

const KEY: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn passkeys_in_several_torrents() {
    let (folder, torrent) = copy();
    let other = folder.path().join("u.torrent");
    fs::copy(&torrent, &other).unwrap();
    let announce = format!("http://t.example/{KEY}/announce");
    assert_eq!(edit(&torrent, &["-a", &announce]).code, Some(0));
    let new_key = KEY.replace('0', "f");
    let mut command = hashlane();
    command.current_dir(folder.path());
    let ended = end(command
        .args(["edit", "t.torrent", "missing", "u.torrent"])
        .args(["--replace", KEY, &new_key]));
    assert_eq!(ended.code, Some(2));
    assert_eq!(ended.stdout, "u.torrent: nothing changed\n");
    let missing = "hashlane: missing: No such file or directory (os error 2)\n";
    assert_eq!(ended.stderr, missing);
    // Masked URLs can look the same before and after.
    let ended = edit(&torrent, &["--replace", &new_key, KEY, "--dry-run"]);
    let url = "trackers       tier 1  http://t.example/***/announce\n";
    let expected = format!("  - {url}  + {url}");
    assert!(ended.stdout.ends_with(&expected), "{}", ended.stdout);
    // A masked URL that stays is no change.
    let ended = edit(&torrent, &["-c", "text", "--dry-run"]);
    assert!(
        ended
            .stdout
            .ends_with("t.torrent\n  + comment        text\n"),
        "{}",
        ended.stdout
    );
    let bytes = fs::read(&torrent).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains(&new_key) && !text.contains(KEY));
    // A URL that would no longer be one.
    let ended = edit(&torrent, &["--replace", "http://t.example/", ""]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("not a URL after the replacement"),
        "{}",
        ended.stderr
    );
    assert!(!ended.stderr.contains(&new_key), "{}", ended.stderr);
    let ended = edit(&torrent, &["--replace", "", "x"]);
    assert!(
        ended.stderr.contains("the text to replace is empty"),
        "{}",
        ended.stderr
    );
    assert_eq!(fs::read(&torrent).unwrap(), bytes);
}

#[test]
fn trackers_and_web_seeds_are_removed_one_by_one() {
    let (_folder, torrent) = copy();
    let urls = [
        "-a",
        "http://a:80/x",
        "-a",
        "http://b/",
        "-w",
        "http://w/1",
        "-w",
        "http://v/2",
    ];
    assert_eq!(edit(&torrent, &urls).code, Some(0));
    let removed = ["--remove-tracker", "a", "--remove-web-seed", "http://v/2"];
    let ended = edit(&torrent, &removed);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    let shown = show(&torrent);
    assert!(shown.contains("trackers    tier 1  http://b/\n"), "{shown}");
    assert!(shown.contains("web seeds   http://w/1\n"), "{shown}");
    assert!(
        !shown.contains("http://a") && !shown.contains("http://v"),
        "{shown}"
    );
    let ended = edit(&torrent, &removed);
    assert!(
        ended.stdout.ends_with("t.torrent: nothing changed\n"),
        "{}",
        ended.stdout
    );
}

#[test]
fn every_other_field_can_be_set() {
    let (_folder, torrent) = copy();
    let before = fs::read(&torrent).unwrap();
    let set = [
        "--node",
        "[::1]:1",
        "--created-by",
        "me",
        "--date",
        "0",
        "--similar",
        INFO_HASH,
        "--collection",
        "speeches",
        "--collection",
        "1861",
    ];
    let ended = edit(&torrent, &set);
    assert_eq!(
        (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
        (Some(0), "", "")
    );
    let shown = show(&torrent);
    for expected in [
        "DHT nodes   [::1]:1\n",
        "created by  me\n",
        "created     1970-01-01 00:00:00 UTC\n",
        &format!("similar     {INFO_HASH}\n"),
        "collection  speeches\n",
        "            1861\n",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(
        shown.contains(&format!("info-hash   {INFO_HASH}\n")),
        "{shown}"
    );
    let removed = [
        "--no-nodes",
        "--created-by",
        "",
        "--no-date",
        "--no-similar",
        "--no-collections",
    ];
    assert_eq!(edit(&torrent, &removed).code, Some(0));
    assert_eq!(fs::read(&torrent).unwrap(), before);
    let ended = edit(&torrent, &["--similar", &"ab".repeat(32)]);
    assert!(
        ended.stderr.contains("not an info-hash of version 1"),
        "{}",
        ended.stderr
    );
}

#[test]
fn another_name_is_another_torrent() {
    let (_folder, torrent) = copy();
    let ended = edit(&torrent, &["-n", "speeches"]);
    assert!(
        ended.stderr.contains("--confirm=0 is needed"),
        "{}",
        ended.stderr
    );
    let ended = edit(&torrent, &["-n", "speeches", "--confirm=0"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(
        ended
            .stdout
            .starts_with(&format!("info-hash  {INFO_HASH} becomes "))
    );
    assert!(show(&torrent).starts_with("speeches\n"));
    let ended = edit(&torrent, &["-n", "a/b", "--confirm=0"]);
    assert!(
        ended.stderr.contains("the name \"a/b\" contains '/'"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_dry_run_prints_what_changes() {
    let (_folder, torrent) = copy();
    let announce = format!("http://t.example/{KEY}/announce");
    assert_eq!(
        edit(&torrent, &["-a", &announce, "-c", "old"]).code,
        Some(0)
    );
    let before = fs::read(&torrent).unwrap();
    let changes = [
        "--no-trackers",
        "-a",
        "http://b/",
        "-c",
        "new\u{1b}",
        "--date",
        "86400",
        "-s",
        "x",
        "--dry-run",
    ];
    let ended = edit(&torrent, &changes);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines[0], torrent.to_str().unwrap());
    assert_eq!(lines[1], format!("  - info hash v1   {INFO_HASH}"));
    assert!(lines[2].starts_with("  + info hash v1   "), "{}", lines[2]);
    let expected = [
        "  + source         x",
        "  - comment        old",
        "  + comment        new\\u{1b}",
        "  + creation date  1970-01-02 00:00:00 UTC",
        "  - trackers       tier 1  http://t.example/***/announce",
        "  + trackers       tier 1  http://b/",
    ];
    assert_eq!(lines[3..], expected);
    assert_eq!(fs::read(&torrent).unwrap(), before);
    let ended = edit(&torrent, &[&changes[..], &["--show-passkey"]].concat());
    assert!(ended.stdout.contains(&announce), "{}", ended.stdout);
    let ended = edit(&torrent, &[&changes[..], &["--json"]].concat());
    let line: Edited = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (line.output, line.changed, line.info_hash_changed),
        (None, true, true)
    );
    let trackers = Change {
        field: "trackers".into(),
        removed: vec!["tier 1  http://t.example/***/announce".into()],
        added: vec!["tier 1  http://b/".into()],
    };
    assert_eq!(line.changes.last(), Some(&trackers));
    assert_eq!(fs::read(&torrent).unwrap(), before);
}

#[test]
fn standard_streams() {
    let (folder, torrent) = copy();
    let before = fs::read(&torrent).unwrap();
    let output = folder.path().join("out.torrent");
    let run = |args: &[&str]| {
        let mut command = hashlane();
        command
            .current_dir(folder.path())
            .args(["edit", "-c", "new"])
            .args(args);
        end_with_input(&mut command, &before)
    };
    let ended = run(&["-", "-o", "out.torrent"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(show(&output).contains("comment     new\n"));
    // The output is written even if nothing changes.
    let edited = fs::read(&output).unwrap();
    assert_eq!(run(&["out.torrent", "-o", "same.torrent"]).code, Some(0));
    assert_eq!(
        fs::read(folder.path().join("same.torrent")).unwrap(),
        edited
    );
    // The demo is not text, so that the test compares with a torrent that is.
    let info = "d6:lengthi1e4:name1:n12:piece lengthi1e6:pieces20:xxxxxxxxxxxxxxxxxxxxe";
    fs::write(&torrent, format!("d4:info{info}e")).unwrap();
    let ended = run(&["t.torrent", "-o", "-"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(ended.stdout, format!("d7:comment3:new4:info{info}e"));
    for (args, reason) in [
        (&["-"][..], "-: use --output"),
        (
            &["-", "-", "-o", "x"],
            "-: the standard input stream can be given only once",
        ),
        (
            &["t.torrent", "u.torrent", "-o", "x"],
            "--output needs a single torrent, but 2 were given",
        ),
        (
            &["-", "-o", "-", "--json"],
            "--output -: cannot be combined with --json",
        ),
    ] {
        let ended = run(args);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{args:?}"
        );
        assert!(ended.stderr.contains(reason), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn errors_in_json() {
    let missing = PathBuf::from("missing.torrent");
    let ended = edit(&missing, &["-c", "x", "--json"]);
    let line: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (line["type"].as_str(), ended.code),
        (Some("error"), Some(2))
    );
    assert_eq!(line["torrent"], "missing.torrent");
    assert!(
        line["message"]
            .as_str()
            .unwrap()
            .starts_with("missing.torrent: No such file")
    );
}

/// Every edit that succeeds is in the file, also if several run at the same time.
#[test]
fn edits_at_the_same_time_lose_nothing() {
    let (_folder, torrent) = copy();
    let seeds: Vec<String> = (0..24)
        .map(|n| format!("http://host-{n}.example/"))
        .collect();
    let edits = seeds.iter().map(|seed| {
        let mut command = hashlane();
        command.arg("edit").arg(&torrent).args(["-w", seed]);
        command.stderr(Stdio::null()).spawn().unwrap()
    });
    // All processes start before the first one is waited for.
    for mut edit in edits.collect::<Vec<_>>() {
        assert_eq!(edit.wait().unwrap().code(), Some(0));
    }
    let shown = show(&torrent);
    for seed in &seeds {
        assert!(shown.contains(seed), "{seed} is lost: {shown}");
    }
}

/// A file in use is not read before its user has replaced it.
#[test]
fn an_edit_waits_for_another_one() {
    let (_folder, torrent) = copy();
    let held = fs::File::open(&torrent).unwrap();
    held.lock().unwrap();
    let mut command = hashlane();
    command.arg("edit").arg(&torrent).args(["-w", "http://w"]);
    let mut waiting = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut message = String::new();
    let mut stderr = BufReader::new(waiting.stderr.take().unwrap());
    stderr.read_line(&mut message).unwrap();
    let waits = "t.torrent: waiting for another edit of this file\n";
    assert!(message.ends_with(waits), "{message}");
    // The other edit replaces the file, and then releases it.
    let other = torrent.with_extension("new");
    fs::copy(&torrent, &other).unwrap();
    assert_eq!(edit(&other, &["-c", "text"]).code, Some(0));
    fs::rename(&other, &torrent).unwrap();
    drop(held);
    assert_eq!(waiting.wait().unwrap().code(), Some(0));
    let shown = show(&torrent);
    assert!(shown.contains("comment     text\n"), "{shown}");
    assert!(shown.contains("http://w\n"), "{shown}");
}

/// A program that takes no lock changes the file while the user is asked.
#[test]
fn an_edit_replaces_no_file_that_changed_meanwhile() {
    struct Answer(PathBuf, Cursor<&'static [u8]>);
    impl Read for Answer {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1.read(buffer)
        }
    }
    impl BufRead for Answer {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            fs::write(&self.0, b"mine")?;
            self.1.fill_buf()
        }
        fn consume(&mut self, len: usize) {
            self.1.consume(len);
        }
    }
    let (_folder, torrent) = copy();
    let (exit, _, stderr) = run_with(&["edit", torrent.to_str().unwrap(), "-s", "here"], |env| {
        env.can_ask = true;
        env.stdin = Box::new(Answer(torrent.clone(), Cursor::new(b"y\n")));
    });
    assert_eq!(exit, Exit::NotChecked, "{stderr}");
    assert!(stderr.contains("another program changed it"), "{stderr}");
    assert_eq!(fs::read(&torrent).unwrap(), b"mine");
}
