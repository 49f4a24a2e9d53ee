//! Earlier spellings of options mean the same as the names that replaced them.

use std::fs;
use std::path::Path;

use crate::fixture::{Ended, demo, end, hashlane};

fn run(folder: &Path, line: &str) -> Ended {
    end(hashlane().current_dir(folder).args(line.split(' ')))
}

#[test]
fn private_and_confirm_of_edit() {
    let folder = tempfile::tempdir().unwrap();
    let torrent = folder.path().join("a.torrent");
    let edited = |line: &str| {
        fs::copy(demo().join("union-addresses.torrent"), &torrent).unwrap();
        let ended = run(folder.path(), line);
        (ended, fs::read(&torrent).unwrap())
    };
    for (earlier, now) in [
        (
            "edit a.torrent --yes -p yes",
            "edit a.torrent --confirm=0 -p",
        ),
        (
            "edit -yp yes a.torrent",
            "edit --confirm=0 --private a.torrent",
        ),
        (
            "edit a.torrent -y -p no -c x",
            "edit a.torrent --confirm=0 -p=0 -c x",
        ),
        ("edit a.torrent -p yes", "edit a.torrent --private=1"),
    ] {
        let (ended, bytes) = edited(earlier);
        assert_eq!((ended, bytes), edited(now), "{earlier}");
    }
    let (ended, bytes) = edited("edit a.torrent --confirm=0 -p");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(bytes.windows(12).any(|bytes| bytes == b"7:privatei1e"));
}

#[test]
fn files_of_a_magnet_link() {
    let earlier = run(
        &demo(),
        "magnet union-addresses.torrent --select-only 0,4-7",
    );
    let line = "magnet union-addresses.torrent --include *_n.txt --include LINCOLN";
    assert_eq!(run(&demo(), line), earlier);
    assert!(earlier.stdout.contains("&so=0,4-7"), "{earlier:?}");
    let none = run(&demo(), "magnet union-addresses.torrent --include *.pdf");
    let message = "hashlane: --include: no file of union-addresses.torrent matches\n";
    assert_eq!((none.code, &*none.stderr), (Some(2), message));
}

#[cfg(unix)]
#[test]
fn links_that_are_followed() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("c")).unwrap();
    fs::write(folder.join("outside"), "outside").unwrap();
    fs::write(folder.join("c/a"), "inside").unwrap();
    symlink("a", folder.join("c/link")).unwrap();
    let create = |links: &str| {
        let line = format!("create c -q --force --format v1 --links {links}");
        let ended = run(folder, &line);
        (ended, fs::read(folder.join("c.torrent")).ok())
    };
    assert_eq!(create("follow"), create("follow-inside"));
    assert_eq!(create("follow").0.code, Some(0));
    symlink("../outside", folder.join("c/out")).unwrap();
    assert_eq!(create("follow"), create("follow-inside"));
    assert_eq!(create("follow").0.code, Some(2));
    assert_eq!(create("follow-outside").0.code, Some(0));

    let earlier = run(folder, "sum -r c --links follow");
    assert_eq!(run(folder, "sum -r c --links follow-outside"), earlier);
    assert_eq!(earlier.stdout.lines().count(), 3, "{earlier:?}");
}

#[test]
fn keys_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let value = |text: &str, option: &str, command: &str| {
        fs::write(folder.path().join("c.toml"), text).unwrap();
        let ended = run(
            folder.path(),
            &format!("config --config c.toml --json {command}"),
        );
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        let lines = ended
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let mut lines = lines.filter(|line: &serde_json::Value| line["option"] == option);
        lines.next().map(|line| line["value"].clone())
    };
    let [earlier, now] = ["state", "state-dir"].map(|key| {
        let text = format!("[daemon]\n{key} = '/srv/state'\n");
        value(&text, "state-dir", "daemon").unwrap()
    });
    assert_eq!((&earlier, earlier.as_str()), (&now, Some("/srv/state")));
    // The negative key is listed where it is set.
    let text = "[network]\nno-web-seeds = true\n";
    assert_eq!(value(text, "no-web-seeds", "get"), Some(true.into()));
    assert_eq!(value("", "no-web-seeds", "get"), None);
}
