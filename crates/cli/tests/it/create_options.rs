//! Options of `hashlane create` for uploaders: private torrents, piece lengths, several inputs.

use std::fs;
use std::path::Path;

use hashlane_cli::Exit;

use crate::create::{content, in_folder};
use crate::fixture::{demo, hashlane};
use crate::in_process::run_with;

/// Returns what `show --json` prints about a torrent as a whole.
fn shown(folder: &Path, torrent: &str) -> serde_json::Value {
    let shown = in_folder(folder, &["show", "--json", torrent]).stdout;
    serde_json::from_str(shown.lines().next().unwrap()).unwrap()
}

#[test]
fn a_private_torrent_is_version_1_without_nodes_and_web_seeds() {
    let folder = content(&[("a", 100_000)]);
    let create = |options: &[&str]| {
        let args = ["create", "content", "--force", "-w", "http://w/"];
        let more = ["--node", "host:1", "--node", "host:2", "-a", "http://t/"];
        let ended = in_folder(folder.path(), &[&args[..], &more, options].concat());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        (ended.stdout, shown(folder.path(), "content.torrent"))
    };
    for option in ["-p", "--private", "--private=1", "-p=true"] {
        let (stdout, torrent) = create(&[option]);
        for note in [
            "format     version 1 only: sites of private trackers refuse other versions\n",
            "private    2 DHT nodes and 1 web seed left out, as for every private torrent\n",
        ] {
            assert!(stdout.contains(note), "{stdout}");
        }
        assert_eq!(torrent["version"], "v1");
        assert_eq!(torrent["private"], true);
        assert_eq!(torrent["web_seeds"].as_array().unwrap().len(), 0);
        assert_eq!(torrent["nodes"].as_array().unwrap().len(), 0);
    }
    let (stdout, torrent) = create(&["-p", "--format", "hybrid"]);
    assert!(!stdout.contains("version 1 only"), "{stdout}");
    assert_eq!(torrent["version"], "hybrid");
    let (public, torrent) = create(&["--private=0"]);
    assert_eq!(torrent["private"], false);
    assert_eq!(torrent["nodes"].as_array().unwrap().len(), 2);
    // Writing the key would change the info-hash without any effect.
    let info_hash = |stdout: &str| stdout.lines().nth(1).map(str::to_owned);
    assert_eq!(info_hash(&public), info_hash(&create(&[]).0));
    let ended = in_folder(folder.path(), &["create", "content", "--private=2"]);
    assert_eq!(ended.code, Some(2));
}

/// Its peers come from trackers alone (BEP 27).
#[test]
fn a_private_torrent_without_a_tracker_is_warned_about_once() {
    let folder = content(&[("a", 1)]);
    let create = |options: &[&str]| {
        let args = ["create", "content", "content/a", "--force"];
        let ended = in_folder(folder.path(), &[&args[..], options].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stderr
    };
    let warning =
        "hashlane: warning: a private torrent without a tracker finds no peers: add one with -a\n";
    assert_eq!(create(&["-p"]), warning);
    assert_eq!(create(&["-p", "-a", "http://t/"]), "");
    assert_eq!(create(&[]), "");
}

#[test]
fn entropy_changes_the_info_hash() {
    let folder = content(&[("a", 100_000)]);
    let create = |option: &str| {
        let args = ["create", "content", "--force", "-q", option];
        assert_eq!(in_folder(folder.path(), &args).code, Some(0));
        let info_hash = shown(folder.path(), "content.torrent")["info_hash_v2"].clone();
        (
            info_hash,
            fs::read(folder.path().join("content.torrent")).unwrap(),
        )
    };
    let (first, bytes) = create("--entropy");
    let start = bytes
        .windows(12)
        .position(|key| key == b"7:entropy32:")
        .unwrap();
    let value = &bytes[start + 12..][..32];
    assert!(value.iter().all(u8::is_ascii_hexdigit));
    assert_ne!(create("--entropy").0, first);
    let verified = in_folder(folder.path(), &["verify", "content.torrent"]);
    assert_eq!(verified.code, Some(0), "{}", verified.stdout);
    assert_eq!(create("--entropy=0").0, create("--entropy=0").0);
}

#[test]
fn choices_of_the_piece_length() {
    let folder = content(&[("a", 1_000_000)]);
    let plan = |options: &[&str]| {
        let args = ["create", "content/a", "--dry-run", "--json"];
        let ended = in_folder(folder.path(), &[&args[..], options].concat());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        let planned: serde_json::Value =
            serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
        planned["piece_length"].as_u64().unwrap()
    };
    assert_eq!(plan(&[]), 16 << 10);
    assert_eq!(plan(&["-l", "18"]), 1 << 18);
    assert_eq!(plan(&["-l", "262144"]), 1 << 18);
    assert_eq!(plan(&["--target-pieces", "10"]), 128 << 10);
    assert_eq!(
        plan(&["--target-pieces", "10", "--max-piece-length", "16"]),
        64 << 10
    );
    assert_eq!(plan(&["--max-piece-length", "8KiB"]), 8 << 10);
    for options in [
        &["-l", "29"][..],
        &["-l", "9"],
        &["-l", "18", "--target-pieces", "10"],
        &["--target-pieces", "0"],
        &["--max-piece-length", "3MiB"],
    ] {
        let ended = in_folder(folder.path(), &[&["create", "content"], options].concat());
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{options:?}"
        );
    }
}

#[test]
fn several_inputs() {
    let folder = content(&[("a", 1000), ("b", 1000), ("d/a", 1000)]);
    fs::create_dir(folder.path().join("out")).unwrap();
    let inputs = ["create", "content/a", "missing", "content/d/a", "content/b"];
    let args = [&inputs[..], &["--output-dir", "out", "--json"]].concat();
    let ended = in_folder(folder.path(), &args);
    assert_eq!(ended.code, Some(2));
    let torrents: Vec<_> = ended
        .stdout
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line["torrent"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(torrents, ["out/a.torrent", "out/b.torrent"]);
    let errors: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(
        errors[0],
        "hashlane: missing: cannot be read: No such file or directory (os error 2)"
    );
    assert_eq!(
        errors[1],
        "hashlane: out/a.torrent: the .torrent of another input"
    );
    assert_eq!(errors.len(), 2);
    for torrent in torrents {
        let verified = in_folder(folder.path(), &["verify", &torrent, "-d", "content"]);
        assert_eq!(verified.code, Some(0), "{}", verified.stdout);
    }
    // With -v, each has the whole report.
    for (option, n_links) in [("-v", 2), ("--color=never", 0)] {
        let args = ["create", "content/a", "content/d", "--force", option];
        let ended = in_folder(folder.path(), &args);
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        assert_eq!(
            ended.stdout.matches("magnet:?").count(),
            n_links,
            "{}",
            ended.stdout
        );
    }
    // A later input does not replace the .torrent of an earlier one with the same name, even with --force.
    let args = ["create", "content/a", "content/d/a", "--force"];
    let ended = in_folder(folder.path(), &args);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stdout.contains("\n1 of 2 torrents created\n"),
        "{}",
        ended.stdout
    );
    for (args, expected) in [
        (
            &["create", "content/a", "content/b", "-o", "x"][..],
            "hashlane: --output is for one input, unless it is a folder, or ends with /\n",
        ),
        (
            &["create", "content/a", "content/b", "-n", "x"],
            "hashlane: --name is for one input\n",
        ),
        (
            &["create", "content/a", "--output-dir", "none"],
            "hashlane: none: no such folder: --parents creates it\n",
        ),
    ] {
        let ended = in_folder(folder.path(), args);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), expected));
    }
}

#[test]
fn an_interrupt_ends_all_inputs() {
    let args = ["create", "good", "damaged", "--output-dir", "."];
    let (exit, stdout, stderr) = run_with(&args, |env| env.cancel.cancel());
    let tally = "0 of 2 torrents created\n";
    assert_eq!((exit, stdout.as_str()), (Exit::NotChecked, tally));
    assert_eq!(stderr, "hashlane: interrupted\n");
}

#[test]
fn a_torrent_on_standard_output() {
    let folder = content(&[("a", 1000)]);
    let args = ["create", "content/a", "--format", "v1"];
    let mut command = hashlane();
    command.current_dir(folder.path());
    let output = command.args(args).args(["-o", "-"]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    assert_eq!(in_folder(folder.path(), &args).code, Some(0));
    let file = fs::read(folder.path().join("a.torrent")).unwrap();
    assert_eq!(output.stdout, file);
    let ended = in_folder(folder.path(), &["create", "content/a", "-o", "-", "--json"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
}

#[test]
fn a_terminal_gets_no_torrent() {
    let args = ["create", "union-addresses.torrent", "-o", "-"];
    assert!(demo().join(args[1]).exists());
    let (exit, stdout, stderr) = run_with(&args, |env| env.stdout_is_terminal = true);
    assert_eq!((exit, stdout.as_str()), (Exit::NotChecked, ""));
    let expected =
        "hashlane: --output -: a terminal cannot show a .torrent: redirect standard output\n";
    assert_eq!(stderr, expected);
}

#[test]
fn several_inputs_take_a_line_each() {
    let folder = content(&[("a", 100), ("b/1", 40_000), ("b/Thumbs.db", 1), ("c", 0)]);
    let create = |args: &[&str]| in_folder(folder.path(), &[&["create"], args].concat());
    let inputs = ["content/a", "content/b", "-o", "new/folder/"];
    // A missing folder is named once, before any file is read.
    let ended = create(&inputs);
    let expected = "hashlane: new/folder/: no such folder: --parents creates it\n";
    assert_eq!((ended.code, &*ended.stderr), (Some(2), expected));
    let ended = create(&[&inputs[..], &["--parents"]].concat());
    let expected = "hybrid  100 bytes  new/folder/a.torrent
hybrid   39.1 KiB  new/folder/b.torrent  (1 left out)
2 of 2 torrents created
Transmission 3 cannot open hybrids: --format v1
";
    assert_eq!(
        (ended.code, &*ended.stderr, &*ended.stdout),
        (Some(0), "", expected)
    );
    // The folder exists now. Version 1 needs no note.
    let ended = create(&["content/a", "content/b", "-o", "new", "--format", "v1"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert!(ended.stdout.ends_with("\n2 of 2 torrents created\n"));
    let ended = create(&["content/a", "-o", "new/folder", "-f"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    let note = "\n  format     hybrid; Transmission 3 cannot open hybrids: --format v1\n";
    assert!(ended.stdout.contains(note), "{}", ended.stdout);
    let ended = create(&["content/a", "-o", "x/y/z.torrent", "--parents"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert!(folder.path().join("x/y/z.torrent").is_file());
    let ended = create(&["content/a", "--output-dir", "content/c"]);
    let expected = "hashlane: content/c: is not a folder\n";
    assert_eq!((ended.code, &*ended.stderr), (Some(2), expected));
}

#[test]
fn a_tracker_in_place_of_threads_is_explained() {
    let folder = content(&[("a", 100)]);
    let tracker = "http://t.example/0123456789abcdef0123456789abcdef/announce";
    let ended = in_folder(folder.path(), &["create", "content", "-t", tracker]);
    assert_eq!(ended.code, Some(2));
    let expected = "expected a number of threads; trackers are given with -a";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    assert!(
        !ended.stderr.contains("0123456789abcdef"),
        "{}",
        ended.stderr
    );
}
