//! Torrents that are added while `get` and `seed` run, and commands after downloads.

use std::fs;

use serde_json::json;

use super::browser::Browser;
use super::http::ask_bytes;
use super::moving::elsewhere;
use super::page::{Page, served};
use super::peers::{Content, Peer, ended, get, get_command};

const TORRENTS: &str = "POST /api/v1/torrents";

/// A .torrent file and a magnet link are added by requests, and downloaded with the options of the command.
#[test]
fn torrents_that_requests_add() {
    let content = Content::new();
    let (tree, file) = (
        content.torrent("tree", "v1"),
        content.torrent("file.bin", "v2"),
    );
    let seed = Peer::seed(&[&tree, &file], content.path());
    let (folder, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let watched = watched.path().to_str().unwrap();
    let options = ["--http", "0", "--watch-dir", watched];
    let page = Page::of(Peer::get(&[], folder.path(), &seed, &options));
    let bytes = fs::read(&tree).unwrap();
    let kind = ("Content-Type", "application/x-bittorrent");
    let bearer = ("Authorization", page.bearer());
    let add = |headers: &[(&str, &str)], body: &[u8]| {
        ask_bytes(page.address, TORRENTS, headers, body).status
    };
    assert_eq!(add(&[kind], &bytes), 401);
    assert_eq!(add(&[bearer], &bytes), 415);
    assert_eq!(add(&[kind, bearer], b"d4:infode"), 422);
    assert_eq!(add(&[kind, bearer], &bytes), 201);
    let link = json!({"link": content.magnet(&file)}).to_string();
    assert_eq!(
        page.change("POST /api/v1/torrents", r#"{"link": "magnet:?x"}"#),
        422
    );
    assert_eq!(page.change("POST /api/v1/torrents", &link), 201);
    page.wait_for(|all| {
        (0..2).all(|n| all["torrents"][n]["complete"] == true && all["accepts_torrents"] == true)
    });
    content.assert_same("tree", folder.path());
    content.assert_same("file.bin", folder.path());
    let ended = page.peer.interrupt();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let added = ended.lines.iter().filter(|line| line["type"] == "added");
    let added: Vec<_> = added.map(|line| &line["torrent"]).collect();
    assert_eq!(added, ["tree", "file.bin"]);
}

/// Files of a watched folder are added when they no longer change, by `get` and by `seed`.
#[test]
fn a_watched_folder() {
    let content = Content::new();
    let (tree, file) = (
        content.torrent("tree", "v1"),
        content.torrent("file.bin", "v1"),
    );
    let (folder, inbox) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let inbox_path = inbox.path().to_str().unwrap();
    let options = ["--http", "0", "--watch-dir", inbox_path];
    let seed = Page::of(Peer::seed_with(&[], content.path(), &options));
    let page = Page::of(Peer::get(&[], folder.path(), &seed.peer, &options));
    let copy = |from: &std::path::Path| {
        let to = inbox.path().join(from.file_name().unwrap());
        fs::copy(from, to).unwrap();
    };
    copy(&tree);
    page.wait_for(|all| all["torrents"][0]["complete"] == true);
    fs::write(inbox.path().join("other.torrent"), "not a torrent").unwrap();
    page.wait_for(|all| all["torrents"][1]["activity"] == "failed");
    copy(&file);
    page.wait_for(|all| all["torrents"][2]["complete"] == true);
    seed.wait_for(|all| all["torrents"][2]["activity"] == "serving");
    content.assert_same("tree", folder.path());
    content.assert_same("file.bin", folder.path());
    page.peer.interrupt().assert_failed("other.torrent");

    let missing = inbox.path().join("missing");
    let ended = Peer::get_alone(
        &[],
        folder.path(),
        &["--watch-dir", missing.to_str().unwrap()],
    )
    .end();
    ended.assert_failed("missing: No such file or directory");
}

/// The command gets names as variables, and its failure is an error.
#[test]
fn a_command_after_each_download() {
    const NAME: &str = "a$(touch pwned)'\"";
    let content = Content::new();
    fs::rename(content.path().join("tree"), content.path().join(NAME)).unwrap();
    let (tree, file) = (
        content.torrent(NAME, "v1"),
        content.torrent("file.bin", "v1"),
    );
    let seed = Peer::seed(&[&tree, &file], content.path());
    let (folder, output) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = output.path().join("log");
    let command = format!(
        "echo printed; printf '%s|%s\\n' \"$HASHLANE_NAME\" \"$HASHLANE_CONTENT\" >>'{}'",
        log.display()
    );
    let ended = get(&[&tree, &file], folder.path(), &seed, &["--exec", &command]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("printed"), "{ended:?}");
    let mut lines: Vec<String> = fs::read_to_string(&log)
        .unwrap()
        .lines()
        .map(Into::into)
        .collect();
    lines.sort();
    let line = |name: &str| format!("{name}|{}", folder.path().join(name).display());
    assert_eq!(lines, [line(NAME), line("file.bin")]);
    let executed = ended.lines.iter().filter(|line| line["type"] == "executed");
    assert!(executed.clone().all(|line| line["success"] == true));
    assert_eq!(executed.count(), 2);

    // The command has succeeded for this content.
    let ended = get(&[&tree], folder.path(), &seed, &["--exec", "exit 3"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let again = tempfile::tempdir().unwrap();
    let ended = get(&[&tree], again.path(), &seed, &["--exec", "exit 3"]);
    ended.assert_failed("--exec: exit status: 3");
}

/// Nothing ends a command that takes longer than libtorrent may stand still: 5 s after Ctrl-C, 30 s without it.
#[test]
fn a_long_command_is_waited_for() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let download = Peer::get(&[&torrent], folder.path(), &seed, &["--exec", "sleep 8"]);
    download.wait_for_line("finished");
    let ended = download.interrupt();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.lines.iter().any(|line| line["type"] == "executed"));
}

/// A kill before the command has ended does not lose the command: it runs when the content is found complete.
#[test]
fn a_command_that_was_killed_runs_again() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v2");
    let seed = Peer::seed(&[&torrent], content.path());
    let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = state.path().join("log");
    let command = |folder: &std::path::Path, script: &str| {
        let mut command = get_command(&[&torrent], folder, Some(&seed), &["--exec", script]);
        command.env("XDG_STATE_HOME", state.path()).env("LOG", &log);
        command
    };
    let runs = || fs::read_to_string(&log).unwrap_or_default().lines().count();
    let killed = Peer::start(command(folder.path(), "echo started >>$LOG; sleep 3"));
    while runs() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    killed.kill();
    let script = "echo \"$HASHLANE_CONTENT\" >>$LOG";
    let assert_runs = |folder: &std::path::Path, n: usize| {
        let ended = ended(&mut command(folder, script));
        assert_eq!((ended.code, runs()), (Some(0), n), "{ended:?}");
    };
    // A command that fails runs again, too.
    let failed = ended(&mut command(folder.path(), "exit 3"));
    failed.assert_failed("--exec: exit status: 3");
    assert_runs(folder.path(), 2);
    assert_runs(folder.path(), 2);
    let place = folder.path().join("file.bin");
    let records: Vec<_> = fs::read_dir(state.path().join("hashlane/exec"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(records.len(), 1, "{records:?}");
    assert_eq!(
        fs::read(&records[0]).unwrap(),
        place.as_os_str().as_encoded_bytes()
    );
    // The command runs for another place, and after another download.
    let other = tempfile::tempdir().unwrap();
    fs::copy(&place, other.path().join("file.bin")).unwrap();
    assert_runs(other.path(), 3);
    assert_runs(other.path(), 3);
    fs::remove_file(other.path().join("file.bin")).unwrap();
    assert_runs(other.path(), 4);
    // A kill between the next download and its command.
    fs::remove_file(other.path().join("file.bin")).unwrap();
    let killed = Peer::start(command(other.path(), "echo started >>$LOG; sleep 3"));
    while runs() == 4 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    killed.kill();
    assert_runs(other.path(), 6);
}

/// A complete download moves, also to another file system. It is not downloaded again, and nothing is replaced.
#[test]
fn a_download_that_moves() {
    let content = Content::new();
    for (name, version) in [("tree", "v1"), ("file.bin", "v2")] {
        let torrent = content.torrent(name, version);
        let seed = Peer::seed(&[&torrent], content.path());
        let mut places = vec![tempfile::tempdir().unwrap()];
        places.extend(elsewhere());
        for place in &places {
            let folder = tempfile::tempdir().unwrap();
            let to = place.path().join("new/folder");
            let options = ["--move-to", to.to_str().unwrap()];
            let ended = get(&[&torrent], folder.path(), &seed, &options);
            assert_eq!(ended.code, Some(0), "{ended:?}");
            content.assert_same(name, &to);
            assert!(!folder.path().join(name).exists());
            assert_eq!(fs::read_dir(&to).unwrap().count(), 1);
            let finished = ended.lines.iter().find(|line| line["type"] == "finished");
            assert_eq!(
                finished.unwrap()["content"],
                to.join(name).to_str().unwrap()
            );
            // The second time, nothing is downloaded.
            let ended = get(&[&torrent], folder.path(), &seed, &options);
            assert_eq!(ended.code, Some(0), "{ended:?}");
            assert!(!ended.lines.iter().any(|line| line["type"] == "finished"));
            assert!(!folder.path().join(name).exists());
        }
    }
}

/// A download that is served moves first, and is served from its new place. Content that an interrupted process left
/// complete moves, too.
#[test]
fn a_served_download_that_moves() {
    let content = Content::new();
    let torrent = content.torrent("tree", "hybrid");
    let seed = Peer::seed(&[&torrent], content.path());
    let (folder, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = [
        "--http",
        "0",
        "--seed",
        "--move-to",
        to.path().to_str().unwrap(),
    ];
    let page = Page::of(Peer::get(&[&torrent], folder.path(), &seed, &options));
    page.wait_for(|all| {
        let one = &all["torrents"][0];
        one["activity"] == "serving" && one["complete"] == true
    });
    let one = &page.get("/api/v1/torrents").json()["torrents"][0];
    assert_eq!(one["content"], to.path().join("tree").to_str().unwrap());
    assert!(one["downloaded_bytes"].as_u64() > Some(2_000_000), "{one}");
    let other = tempfile::tempdir().unwrap();
    let ended = get(&[&torrent], other.path(), &page.peer, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(page.peer.interrupt().code, Some(0));

    let last = tempfile::tempdir().unwrap();
    let options = ["--move-to", last.path().to_str().unwrap()];
    let ended = get(&[&torrent], other.path(), &seed, &options);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    content.assert_same("tree", last.path());
    assert!(!other.path().join("tree").exists());
}

/// Files that are dropped on the page, and links that are pasted, are added.
#[test]
fn torrents_dropped_in_chromium() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let content = Content::new();
    let tree = content.torrent("tree", "v1");
    let file = content.torrent("file.bin", "v1");
    let page = served(&content, &tree);
    browser.open(&page.with_token());
    browser.wait_for("return document.getElementById('add').checkVisibility()");
    let bytes = data_encoding::BASE64.encode(&fs::read(&file).unwrap());
    let drop = format!(
        "const bytes = Uint8Array.from(atob('{bytes}'), (c) => c.charCodeAt(0));
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([bytes], 'file.torrent'));
        dataTransfer.items.add(new File(['no'], 'other.torrent'));
        for (const kind of ['dragover', 'drop']) {{
            document.body.dispatchEvent(new DragEvent(kind, {{ dataTransfer, bubbles: true, cancelable: true }}));
        }}
        return null"
    );
    browser.run(&drop);
    browser.wait_for("return document.querySelectorAll('#torrents tbody tr').length === 2");
    browser.wait_for("return document.getElementById('added').innerText === '1 torrent added.'");
    browser.wait_for(
        "return document.getElementById('refusal').innerText.startsWith('other.torrent: ')",
    );
    page.wait_for(|all| all["torrents"][1]["torrent"] == "file.bin");
    browser.click("#add");
    browser.write(
        "#links",
        "magnet:?xt=urn:btih:0123456789012345678901234567890123456789&dn=pasted",
    );
    browser.click("#adding button[value=add]");
    page.wait_for(|all| all["torrents"][2]["torrent"] == "pasted");
}
