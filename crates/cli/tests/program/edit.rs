//! `hashlane edit`.

use std::fs;
use std::path::PathBuf;

use crate::fixture::{Ended, demo, end, hashlane};

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
fn what_is_outside_of_the_info_dictionary() {
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
fn another_info_hash_is_asked_for() {
    let (folder, torrent) = copy();
    let before = fs::read(&torrent).unwrap();
    let ended = edit(&torrent, &["-s", "here", "-p", "yes"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.contains("--yes is needed"), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("{INFO_HASH} becomes ")));
    assert_eq!(fs::read(&torrent).unwrap(), before);

    let output = folder.path().join("out.torrent");
    let to_output = [
        "-s",
        "here",
        "-p",
        "yes",
        "--yes",
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
    let back = edit(&output, &["-s", "", "-p", "no", "--yes"]);
    assert_eq!(back.code, Some(0));
    assert_eq!(fs::read(&output).unwrap(), before);
    // Setting the current value is no change and asks for no confirmation.
    assert_eq!(edit(&output, &["-p", "no"]).code, Some(0));
    assert_eq!(fs::read(&output).unwrap(), before);
}

/// The URL of a tracker can contain a password.
#[cfg(unix)]
#[test]
fn what_few_may_read_few_may_read_afterwards() {
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

/// The line of `edit --json`; see docs/json.md.
#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Edited {
    r#type: String,
    torrent: String,
    output: String,
    info_hash_v1: Option<String>,
    info_hash_v2: Option<String>,
    info_hash_changed: bool,
}

#[test]
fn json_names_the_new_info_hash() {
    let (folder, torrent) = copy();
    let output = folder.path().join("new.torrent");
    for (options, changed) in [(["-c", "new", "-y"], false), (["-s", "new", "-y"], true)] {
        let mut edit = hashlane();
        edit.arg("edit").arg(&torrent).args(options);
        let ended = end(edit.args(["--json", "--force", "-o"]).arg(&output));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        let line: Edited = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(line.r#type, "edited");
        assert_eq!(line.torrent, torrent.to_str().unwrap());
        assert_eq!(line.output, output.to_str().unwrap());
        assert_eq!((line.info_hash_changed, line.info_hash_v2), (changed, None));
        let info_hash = line.info_hash_v1.unwrap();
        assert_eq!(info_hash != INFO_HASH, changed);
        assert!(show(&output).contains(&info_hash));
    }
}
