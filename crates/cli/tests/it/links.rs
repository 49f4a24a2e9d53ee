//! Passkeys, and the options of `hashlane magnet`.

use std::fs;
use std::path::Path;

use crate::fixture::{Ended, demo, end, end_with_input, hashlane};

const KEY: &str = "0123456789abcdef0123456789abcdef";
const INFO_HASH: &str = "3ff6fe577e89feeb7c20674a06744c2f30efcd5f";

/// Returns a folder with `content`, and the output of `create` with these options.
fn created(options: &[&str]) -> (tempfile::TempDir, Ended) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("content"), "abc").unwrap();
    let ended = run(
        folder.path(),
        "create",
        &[&["content", "--format", "v1"], options].concat(),
    );
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    (folder, ended)
}

fn run(folder: &Path, command: &str, args: &[&str]) -> Ended {
    end(hashlane().current_dir(folder).arg(command).args(args))
}

#[test]
fn no_command_prints_passkeys_unless_asked() {
    let announce = format!("https://t.example/{KEY}/announce");
    let query = format!("https://u.example/announce?passkey={KEY}");
    // Sites repeat the key in the comment.
    let comment = format!("for {KEY} alone");
    let trackers = ["-a", &announce, "-a", &query, "-c", &comment, "-s", KEY];
    for private in [&["-p"][..], &[]] {
        for json in [&["--json"][..], &[]] {
            let hidden = [&trackers[..], private, json].concat();
            let (folder, ended) = created(&hidden);
            assert!(!ended.stdout.contains(KEY), "{}", ended.stdout);
            for command in ["show", "magnet"] {
                let ended = run(
                    folder.path(),
                    command,
                    &[&["content.torrent"], json].concat(),
                );
                assert_eq!(ended.code, Some(0));
                assert!(!ended.stdout.contains(KEY), "{command}: {}", ended.stdout);
                assert!(!ended.stderr.contains(KEY), "{command}: {}", ended.stderr);
                let asked = [&["content.torrent", "--show-passkey"], json].concat();
                let ended = run(folder.path(), command, &asked);
                assert!(ended.stdout.contains(KEY), "{command}: {}", ended.stdout);
                assert_eq!(ended.stderr, "", "{command}");
            }
            let (_folder, ended) = created(&[&hidden[..], &["--show-passkey"]].concat());
            assert!(ended.stdout.contains(KEY), "{}", ended.stdout);
        }
    }
}

#[test]
fn links_lack_secret_urls() {
    let announce = format!("https://t.example/{KEY}/announce,https://open.example/announce");
    let seeds = [
        "-w",
        "https://a:b@w.example/x",
        "-w",
        "https://w.example/a-long-folder-2020/x",
    ];
    let (folder, _) = created(&[&["-a", &announce], &seeds[..]].concat());
    let ended = run(folder.path(), "magnet", &["content.torrent"]);
    let urls = "&tr=https%3A%2F%2Fopen.example%2Fannounce\
        &ws=https%3A%2F%2Fw.example%2Fa-long-folder-2020%2Fx\n";
    assert!(ended.stdout.ends_with(urls), "{}", ended.stdout);
    let note = "hashlane: content.torrent: 1 tracker and 1 web seed with a passkey left out of the \
        magnet link: --show-passkey includes all\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), note));
    // A private torrent finds peers through its trackers only, and each tracker can be secret.
    let (folder, created) = created(&["-p", "-a", "https://open.example/announce"]);
    let ended = run(folder.path(), "magnet", &["content.torrent"]);
    assert!(!ended.stdout.contains("&tr="), "{}", ended.stdout);
    let note =
        "1 tracker of a private torrent left out of the magnet link: --show-passkey includes all\n";
    assert!(ended.stderr.ends_with(note), "{}", ended.stderr);
    assert!(created.stdout.contains(note), "{}", created.stdout);
    let ended = run(folder.path(), "show", &["content.torrent"]);
    assert!(ended.stdout.contains(note), "{}", ended.stdout);
    assert!(
        ended
            .stdout
            .contains("tier 1  https://open.example/announce\n")
    );
}

#[test]
fn passkeys_of_links_and_other_keys_are_masked() {
    let folder = tempfile::tempdir().unwrap();
    let link = format!("magnet:?tr=http%3A%2F%2Ft%2F{KEY}%2Fa&xt=urn:btih:{INFO_HASH}");
    for (link, code) in [(link.clone(), 0), (link.replace("3ff", "xyz"), 2)] {
        for options in [&[][..], &["--json"]] {
            let ended = run(folder.path(), "show", &[&[link.as_str()], options].concat());
            assert_eq!(ended.code, Some(code));
            assert!(!format!("{ended:?}").contains(KEY), "{ended:?}");
        }
    }
    let ended = run(folder.path(), "show", &[&link, "--show-passkey"]);
    assert!(
        ended.stdout.contains(&format!("http://t/{KEY}/a\n")),
        "{}",
        ended.stdout
    );
    let info = "d6:lengthi1e4:name1:n12:piece lengthi1e6:pieces20:xxxxxxxxxxxxxxxxxxxx6:x_seedi5ee";
    let url = format!("http://t/{KEY}/a");
    let torrent = format!("d4:info{info}9:publisher{}:{url}e", url.len());
    fs::write(folder.path().join("t.torrent"), torrent).unwrap();
    let ended = run(folder.path(), "show", &["t.torrent"]);
    let expected = "  other keys  publisher: \"http://t/***/a\"\n              info.x_seed: 5\n";
    assert!(ended.stdout.contains(expected), "{}", ended.stdout);
}

/// A key that is too short to be recognised by its form is recognised by the URL of a tracker.
#[test]
fn a_short_key_is_masked_wherever_a_torrent_repeats_it() {
    const SHORT: &str = "s3cr";
    let folder = tempfile::tempdir().unwrap();
    let info = "d6:lengthi1e4:name1:n12:piece lengthi1e6:pieces20:xxxxxxxxxxxxxxxxxxxxe";
    let text = |text: &str| format!("{}:{text}", text.len());
    let torrent = format!(
        "d8:announce{}11:collectionsl{}e7:comment{}4:info{info}9:publisher{}8:url-list{}e",
        text(&format!("http://t/announce?pk={SHORT}")),
        text(&format!("of {SHORT}")),
        text(&format!("for {SHORT}")),
        text(&format!("user {SHORT}")),
        text(&format!("http://w/{SHORT}/n")),
    );
    fs::write(folder.path().join("t.torrent"), torrent).unwrap();
    let shown = run(folder.path(), "show", &["t.torrent"]);
    for expected in [
        "http://t/announce?pk=***\n",
        "of ***\n",
        "for ***\n",
        "\"user ***\"\n",
        "http://w/***/n\n",
        "1 tracker and 1 web seed with a passkey left out of the magnet link",
    ] {
        assert!(
            shown.stdout.contains(expected),
            "{expected}: {}",
            shown.stdout
        );
    }
    let removals = "--no-trackers --no-web-seeds --no-collections --comment x --dry-run";
    let removals: Vec<&str> = removals.split(' ').collect();
    let others = [
        ("show", &["t.torrent", "--json"][..]),
        ("magnet", &["t.torrent"]),
        ("edit", &[&["t.torrent"], &removals[..]].concat()),
    ];
    for (command, arguments) in others {
        let ended = run(folder.path(), command, arguments);
        assert_eq!(ended.code, Some(0), "{command}: {ended:?}");
        assert!(!format!("{ended:?}").contains(SHORT), "{ended:?}");
    }
    let asked = run(folder.path(), "show", &["t.torrent", "--show-passkey"]);
    assert_eq!(asked.stdout.matches(SHORT).count(), 7, "{}", asked.stdout);
}

#[test]
fn parts_of_a_link_can_be_chosen() {
    let urls = [
        "-a",
        "http://a/announce,http://b/announce",
        "-w",
        "http://w/x",
    ];
    let (folder, _) = created(&urls);
    let link = |options: &[&str]| {
        let ended = run(
            folder.path(),
            "magnet",
            &[&["content.torrent"], options].concat(),
        );
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{options:?}"
        );
        let link = ended.stdout.trim_end().to_owned();
        link.split_once('&').map_or("", |(_, rest)| rest).to_owned()
    };
    let (a, b, w) = (
        "tr=http%3A%2F%2Fa%2Fannounce",
        "tr=http%3A%2F%2Fb%2Fannounce",
        "ws=http%3A%2F%2Fw%2Fx",
    );
    for (options, expected) in [
        (&[][..], format!("dn=content&xl=3&{a}&{b}&{w}")),
        (&["--no-trackers"], format!("dn=content&xl=3&{w}")),
        (
            &["--no-trackers", "-a", "http://b/announce", "--no-web-seeds"],
            format!("dn=content&xl=3&{b}"),
        ),
        (
            &[
                "-a",
                "http://a/announce",
                "--no-web-seeds",
                "-w",
                "http://v/",
            ],
            format!("dn=content&xl=3&{a}&{b}&ws=http%3A%2F%2Fv%2F"),
        ),
        (
            &[
                "--no-name",
                "--no-length",
                "--no-trackers",
                "--no-web-seeds",
            ],
            String::new(),
        ),
        (
            &[
                "-n",
                "a b",
                "--no-length",
                "--no-trackers",
                "--no-web-seeds",
            ],
            "dn=a%20b".to_owned(),
        ),
    ] {
        assert_eq!(link(options), expected, "{options:?}");
    }
}

#[test]
fn several_torrents_and_standard_input() {
    let torrent = fs::read(demo().join("union-addresses.torrent")).unwrap();
    let name = "union-addresses.torrent";
    let missing = "hashlane: missing: No such file or directory (os error 2)\n";
    for (command, each) in [
        ("magnet", format!("magnet:?xt=urn:btih:{INFO_HASH}&dn=")),
        ("show", format!("  info-hash   {INFO_HASH}\n")),
    ] {
        let mut several = hashlane();
        several
            .current_dir(demo())
            .args([command, name, "missing", "-"]);
        let ended = end_with_input(&mut several, &torrent);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), missing));
        assert_eq!(ended.stdout.matches(&each).count(), 2, "{}", ended.stdout);
        let ended = end(hashlane().args([command, "-", "-"]));
        let once = "hashlane: -: the standard input stream can be given only once\n";
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), once));
    }
    let mut verify = hashlane();
    verify
        .current_dir(demo())
        .args(["verify", "-", "-d", "good"]);
    let ended = end_with_input(&mut verify, &torrent);
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(0), ""),
        "{}",
        ended.stdout
    );
    // Without --dir, the content is in the current folder.
    let mut verify = hashlane();
    verify
        .current_dir(demo().join("good"))
        .args(["verify", "-"]);
    assert_eq!(end_with_input(&mut verify, &torrent).code, Some(0));
    // A magnet link together with another input.
    let mut show = hashlane();
    let link = format!(" magnet:?xt=urn:btih:{INFO_HASH}\n");
    let ended = end_with_input(show.args(["show", "-"]), link.as_bytes());
    assert!(ended.stdout.contains(INFO_HASH), "{ended:?}");
    let ended = end_with_input(hashlane().args(["show", "-"]), b"i1e");
    assert_eq!(ended.code, Some(2));
    assert!(
        ended
            .stderr
            .starts_with("hashlane: -: not a .torrent file: "),
        "{}",
        ended.stderr
    );
}

/// The link that `show` prints stays short; `magnet` prints all of it.
#[test]
fn a_link_of_many_trackers() {
    for (n, is_whole) in [(100, true), (101, false)] {
        let urls: Vec<String> = (0..n).map(|i| format!("http://t{i}/")).collect();
        let (folder, _) = created(&["-a", &urls.join(",")]);
        let show = run(folder.path(), "show", &["content.torrent"]).stdout;
        assert_eq!(show.contains("&tr="), is_whole, "{n}");
        assert_eq!(show.matches("  tier 1  http://t").count(), n);
        let magnet = run(folder.path(), "magnet", &["content.torrent"]).stdout;
        assert_eq!(magnet.matches("&tr=").count(), n);
    }
}

#[test]
fn a_link_selects_files_by_their_names() {
    let args = ["--include", "*_n.txt", "--include", "LINCOLN"];
    let ended = run(
        &demo(),
        "magnet",
        &[&["union-addresses.torrent"], &args[..]].concat(),
    );
    assert!(ended.stdout.contains("&so=0,4-7"), "{ended:?}");
}
