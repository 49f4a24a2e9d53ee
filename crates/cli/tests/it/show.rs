//! `hashlane show` and `hashlane magnet`.

use std::fs;

use hashlane_cli::Exit;

use crate::fixture::{Fixture, demo, end, hashlane};
use crate::in_process::run_with;

const INFO_HASH: &str = "3ff6fe577e89feeb7c20674a06744c2f30efcd5f";

#[test]
fn the_demo() {
    let ended = end(hashlane()
        .current_dir(demo())
        .args(["show", "union-addresses.torrent"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let expected = format!(
        "\
union-addresses
  version     version 1
  info-hash   {INFO_HASH}
  size        306 KiB (313,706 bytes) in 8 files, 20 pieces of 16 KiB
  magnet      magnet:?xt=urn:btih:{INFO_HASH}&dn=union-addresses&xl=313706

    8.16 KiB  1790_george_washington_n.txt
    18.8 KiB  1801_thomas_jefferson_dr.txt
    37.3 KiB  1823_james_monroe_dr.txt
    82.1 KiB  1860_james_buchanan_d.txt
     160 KiB  lincoln/
    40.5 KiB    1861_abraham_lincoln_r.txt
    48.7 KiB    1862_abraham_lincoln_r.txt
    36.1 KiB    1863_abraham_lincoln_r.txt
    34.6 KiB    1864_abraham_lincoln_r.txt
"
    );
    assert_eq!(ended.stdout, expected);
    let ended = end(hashlane()
        .current_dir(demo())
        .args(["magnet", "union-addresses.torrent"]));
    let expected = format!("magnet:?xt=urn:btih:{INFO_HASH}&dn=union-addresses&xl=313706\n");
    assert_eq!((ended.code, ended.stdout), (Some(0), expected));
}

#[test]
fn odd_torrents_have_notes() {
    let folder = tempfile::tempdir().unwrap();
    let torrent = folder.path().join("t.torrent");
    let info = "4:name1:n5:filesld6:lengthi1e4:pathl2:..1:aeed6:lengthi0e4:pathl2:..1:aeee\
        12:piece lengthi1e6:pieces20:xxxxxxxxxxxxxxxxxxxx";
    fs::write(&torrent, format!("d7:comment3:\u{1b}[m4:infod{info}ee\n")).unwrap();
    let ended = end(hashlane().arg("show").arg(&torrent));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    for expected in [
        "comment     \\u{1b}[m\n",
        "2 files of names that cannot be used, shown as libtorrent renames them\n",
        "keys of the info dictionary are not sorted, at byte ",
        "1 byte after the end of the torrent\n",
        "    1 byte  _/\n",
        "    1 byte    a  (renamed)\n",
        "   0 bytes    a.1  (renamed)\n",
    ] {
        assert!(
            ended.stdout.contains(expected),
            "{expected}: {}",
            ended.stdout
        );
    }
    assert!(!ended.stdout.contains('\u{1b}'));
}

#[test]
fn magnet_links() {
    let ended = end(hashlane()
        .current_dir(demo())
        .args(["magnet", "union-addresses.torrent"])
        .args(["--include", "*_n.txt", "--include", "LINCOLN"])
        .args(["--peer", "127.0.0.1:6881", "--peer", "[::1]:80"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let link = ended.stdout.trim_end();
    let ended = end(hashlane().args(["show", link]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let expected = format!(
        "\
union-addresses
  info-hash   {INFO_HASH}
  size        306 KiB
  peers       127.0.0.1:6881
              [::1]:80
  files       0,4-7
"
    );
    assert_eq!(ended.stdout, expected);
    // Old links use Base32.
    let base32 = "H73P4V36RH7OW7BAM5FAM5CMF4YO7TK7";
    let ended = end(hashlane().args(["show", &format!("MAGNET:?xt=urn:btih:{base32}")]));
    assert!(
        ended.stdout.contains(INFO_HASH),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
}

#[test]
fn info_hashes_and_other_links() {
    let folder = tempfile::tempdir().unwrap();
    let show = |what: &str| end(hashlane().current_dir(folder.path()).args(["show", what]));
    let expected = format!("(no name)\n  info-hash   {INFO_HASH}\n");
    for what in [
        INFO_HASH.to_owned(),
        INFO_HASH.to_uppercase(),
        "H73P4V36RH7OW7BAM5FAM5CMF4YO7TK7".into(),
        format!("magnet:///?xt=urn:btih:{INFO_HASH}"),
        format!("stream-magnet:?xt=urn:btih:{INFO_HASH}"),
    ] {
        let ended = show(&what);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{what}");
        assert_eq!(ended.stdout, expected, "{what}");
    }
    let ended = show(&"ab".repeat(32));
    assert!(
        ended
            .stdout
            .contains(&format!("{} (version 2)", "ab".repeat(32)))
    );
    // Invalid hints are ignored.
    let ended = show(&format!("magnet:?xt=urn:btih:{INFO_HASH}&so=x&tr=y"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let notes = "  note        ignored: byte 64: \"x\" is neither an index nor a range of indexes\n  \
                 \u{20}           ignored: byte 69: not a URL\n";
    assert_eq!(ended.stdout, format!("{expected}{notes}"));
    // A file of that name comes first.
    fs::write(folder.path().join(INFO_HASH), "x").unwrap();
    let ended = show(INFO_HASH);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended
            .stderr
            .contains("not a .torrent file: it is a file that starts with \"x\""),
        "{}",
        ended.stderr
    );
    // Content is verified with a .torrent file only.
    let ended = end(hashlane().args(["verify", &INFO_HASH.to_uppercase()]));
    assert_eq!(ended.code, Some(2));
    let text = "is an info-hash, but a .torrent file is needed";
    assert!(ended.stderr.contains(text), "{}", ended.stderr);
}

#[test]
fn refusals() {
    let demo_torrent = demo().join("union-addresses.torrent");
    let demo_torrent = demo_torrent.to_str().unwrap();
    for (args, expected) in [
        (&["show", "magnet:?dn=a"][..], "hashlane: "),
        (&["show", "magnet:?xt=urn:btih:12"], "hashlane: "),
        (
            &["show", "missing"],
            "hashlane: missing: No such file or directory",
        ),
        (
            &["magnet", "missing"],
            "hashlane: missing: No such file or directory",
        ),
        (
            &["magnet", demo_torrent, "--include", "*.pdf"],
            "hashlane: --include: no file of ",
        ),
        (
            &["magnet", demo_torrent, "--peer", "x"],
            "error: invalid value",
        ),
    ] {
        let ended = end(hashlane().args(args));
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{args:?}"
        );
        assert!(
            ended.stderr.starts_with(expected),
            "{args:?}: {}",
            ended.stderr
        );
    }
}

/// The line of `magnet --json`; see docs/reference/json.md.
#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct MagnetLink {
    r#type: String,
    torrent: String,
    magnet: String,
    note: Option<String>,
}

#[test]
fn a_magnet_link_in_json() {
    let magnet = |options: &[&str]| {
        let mut command = hashlane();
        command.current_dir(demo());
        end(command
            .args(["magnet", "union-addresses.torrent"])
            .args(options))
        .stdout
    };
    let line: MagnetLink = serde_json::from_str(&magnet(&["--json"])).unwrap();
    let expected = MagnetLink {
        r#type: "magnet_link".into(),
        torrent: "union-addresses.torrent".into(),
        magnet: magnet(&[]).trim_end().into(),
        note: None,
    };
    assert_eq!(line, expected);
}

#[test]
fn torrents_that_libtorrent_refuses_have_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let hash = "piece hash, 20 bytes";
    let torrent =
        format!("d4:infod6:lengthi1e4:name1:a12:piece lengthi1073741824e6:pieces20:{hash}ee");
    fs::write(folder.path().join("t.torrent"), torrent).unwrap();
    fs::write(folder.path().join("a"), "x").unwrap();
    let note = "libtorrent refuses pieces of more than 536854528 bytes\n";
    for command in ["show", "verify"] {
        let ended = end(hashlane()
            .current_dir(folder.path())
            .args([command, "t.torrent"]));
        assert!(ended.stdout.contains(note), "{}", ended.stdout);
    }
    let ended = end(hashlane()
        .current_dir(folder.path())
        .args(["create", "a", "-l", "512MiB"]));
    assert_eq!(ended.code, Some(2));
    let reason = "expected a power of two from 1024 to 268435456 bytes";
    assert!(ended.stderr.contains(reason), "{}", ended.stderr);
}

/// Each folder appears once, with the size of all files below it, regardless of the torrent's order.
#[test]
fn a_tree_of_files() {
    let long = "a-long-name-that-does-not-fit-into-a-narrow-terminal-of-forty-columns.mkv";
    let fixture = Fixture::new(
        "top",
        16,
        &[
            ("b/2", &[0; 2000]),
            ("c", b"1"),
            ("b/d/e/f", &[0; 3000]),
            ("a", b""),
            ("b/1", &[0; 24]),
            (long, b"2"),
        ],
    );
    let show = |width| {
        let torrent = fixture.torrent.to_str().unwrap();
        let (exit, stdout, _) = run_with(&["show", torrent], |env| env.width = width);
        assert_eq!(exit, Exit::Good);
        stdout.split_once("\n\n").unwrap().1.to_owned()
    };
    let tree = |long: &str| {
        format!(
            "     0 bytes  a
      1 byte  {long}
    4.91 KiB  b/
    24 bytes    1
    1.95 KiB    2
    2.93 KiB    d/
    2.93 KiB      e/
    2.93 KiB        f
      1 byte  c
"
        )
    };
    assert_eq!(show(None), tree(long));
    assert_eq!(show(Some(40)), tree("a-long-name-t…-columns.mkv"));
    assert!(
        show(Some(40))
            .lines()
            .all(|line| line.chars().count() <= 40)
    );
    // A terminal without room for names.
    assert_eq!(show(Some(3)).lines().count(), 9);
}
