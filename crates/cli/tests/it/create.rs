//! `hashlane create`.

use std::fs;
use std::path::Path;

use crate::fixture::{Ended, demo, end, hashlane};

pub(crate) fn in_folder(folder: &Path, args: &[&str]) -> Ended {
    end(hashlane().current_dir(folder).args(args))
}

/// Creates a folder `content` with these files, inside a temporary folder.
pub(crate) fn content(files: &[(&str, usize)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, length) in files {
        let place = folder.path().join("content").join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, vec![7; *length]).unwrap();
    }
    folder
}

#[test]
fn the_demo_torrents_are_reproduced() {
    let folder = tempfile::tempdir().unwrap();
    let torrent = folder.path().join("demo.torrent");
    let content = demo().join("good/union-addresses");
    let ended = end(hashlane()
        .args(["create", "-l", "16KiB", "--no-created-by", "--format", "v1"])
        .arg(&content)
        .arg("-o")
        .arg(&torrent));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let info_hash = "3ff6fe577e89feeb7c20674a06744c2f30efcd5f";
    assert!(ended.stdout.contains(&format!("info-hash  {info_hash}\n")));
    assert!(
        ended
            .stdout
            .contains(&format!("magnet     magnet:?xt=urn:btih:{info_hash}&"))
    );
    let made = fs::read(&torrent).unwrap();
    assert_eq!(
        made,
        fs::read(demo().join("union-addresses.torrent")).unwrap()
    );
}

#[test]
fn the_same_input_gives_the_same_torrent() {
    let folder = content(&[("a", 100_000), ("folder/b", 50_000), ("folder/c", 0)]);
    for format in ["v1", "v2", "hybrid"] {
        let make = |output: &str, threads: &str| {
            let args = ["create", "content", "-l", "16KiB", "--format", format];
            let ended = in_folder(
                folder.path(),
                &[&args[..], &["-o", output, "-t", threads]].concat(),
            );
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
            fs::read(folder.path().join(output)).unwrap()
        };
        let first = make(&format!("{format}-1"), "1");
        assert_eq!(first, make(&format!("{format}-2"), "3"), "{format}");
        let torrent = format!("{format}-1");
        let ended = in_folder(folder.path(), &["verify", &torrent, "-d", "."]);
        assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    }
}

#[test]
fn an_existing_torrent_is_replaced_only_with_force() {
    let folder = content(&[("a", 1)]);
    let place = folder.path().join("content.torrent");
    fs::write(&place, "mine").unwrap();
    let ended = in_folder(folder.path(), &["create", "content"]);
    let expected = "hashlane: content.torrent: exists: use --force to replace it\n".to_owned();
    assert_eq!((ended.code, ended.stderr), (Some(2), expected));
    assert_eq!(fs::read(&place).unwrap(), b"mine");
    let ended = in_folder(folder.path(), &["create", "content", "--force", "-q"]);
    assert_eq!(
        (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
        (Some(0), "", "")
    );
    assert!(fs::read(&place).unwrap().starts_with(b"d"));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing else is left behind: {left:?}");
}

#[test]
fn the_torrent_is_not_part_of_itself() {
    let folder = content(&[("a", 1)]);
    let inside = folder.path().join("content");
    for _ in 0..2 {
        let args = ["create", ".", "--force", "--format", "v1"];
        let ended = in_folder(&inside, &args);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        assert!(
            ended.stdout.starts_with("content.torrent\n"),
            "{}",
            ended.stdout
        );
        assert!(
            ended.stdout.contains("1 byte in 1 file"),
            "{}",
            ended.stdout
        );
    }
}

/// The output may not name a file of the content, directly or through a link.
#[cfg(unix)]
#[test]
fn content_is_not_overwritten() {
    let folder = content(&[("a", 1000), ("b/c", 1000)]);
    std::os::unix::fs::symlink("content/b/c", folder.path().join("link")).unwrap();
    for args in [
        ["create", "content", "-f", "-o", "content/a"],
        ["create", "content", "-f", "-o", "content/b/c"],
        ["create", "content", "-f", "-o", "link"],
        ["create", "content/a", "-f", "-o", "content/a"],
    ] {
        let ended = in_folder(folder.path(), &args);
        assert_eq!(ended.code, Some(2), "{args:?}");
        let expected = format!(
            "hashlane: {}: refusing to overwrite a file that belongs to the content\n",
            args[4]
        );
        assert_eq!(ended.stderr, expected);
        for file in ["content/a", "content/b/c"] {
            assert_eq!(
                fs::metadata(folder.path().join(file)).unwrap().len(),
                1000,
                "{args:?}"
            );
        }
    }
}

/// A star matches within one name, and a leading slash means the top folder.
#[test]
fn patterns_of_paths() {
    for (pattern, left) in [
        ("/*.tmp", "a/y.tmp\"z.txt"),
        ("*.tmp", "z.txt"),
        ("a/*.tmp", "x.tmp\"z.txt"),
        ("./a", "x.tmp\"z.txt"),
        ("/a/", "x.tmp\"z.txt"),
        ("**/y.*", "x.tmp\"z.txt"),
    ] {
        let folder = content(&[("a/y.tmp", 1), ("x.tmp", 1), ("z.txt", 1)]);
        let args = ["create", "content", "-q", "--format", "v1", "-x", pattern];
        assert_eq!(in_folder(folder.path(), &args).code, Some(0), "{pattern}");
        let shown = in_folder(folder.path(), &["show", "--json", "content.torrent"]).stdout;
        for file in ["a/y.tmp", "x.tmp", "z.txt"] {
            let is_left = left.split('"').any(|name| name == file);
            let is_there = shown.contains(&format!("\"{file}\""));
            assert_eq!(is_there, is_left, "{pattern}: {file} in {shown}");
        }
    }
}

#[test]
fn a_torrent_too_long_to_read_is_not_created() {
    let folder = content(&[("a", 1)]);
    let file = fs::File::create(folder.path().join("content/huge")).unwrap();
    file.set_len(20 << 30).unwrap();
    let args = [
        "create",
        "content/huge",
        "-l",
        "16KiB",
        "--format",
        "hybrid",
    ];
    let ended = in_folder(folder.path(), &args);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    let reason = "the .torrent would be longer than 32 MiB";
    assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    assert!(!folder.path().join("huge.torrent").exists());
}

#[test]
fn much_padding_selects_version_1() {
    let folder = content(&[("a", 100), ("b", 100)]);
    let ended = in_folder(folder.path(), &["create", "content"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stdout.contains(
            "version 1 only: a hybrid would need 31.8 KiB of padding for 200 bytes of content"
        ),
        "{}",
        ended.stdout
    );
    assert!(!ended.stdout.contains("(version 2)"));
    let args = ["create", "content", "--force", "--format", "hybrid"];
    let ended = in_folder(folder.path(), &args);
    assert!(ended.stdout.contains("(version 2)"), "{}", ended.stdout);
    // A single file has no padding, and version 2 does not allow small pieces.
    let ended = in_folder(folder.path(), &["create", "content/a"]);
    assert!(ended.stdout.contains("(version 2)"), "{}", ended.stdout);
    let args = ["create", "content/a", "--force", "-l", "8KiB"];
    let ended = in_folder(folder.path(), &args);
    let note = "version 1 only: version 2 needs a piece length of 16 KiB or more";
    assert!(ended.stdout.contains(note), "{}", ended.stdout);
}

#[test]
fn omitted_files_are_reported() {
    let files = [
        ("a.txt", 1),
        (".hidden", 1),
        (".git/config", 1),
        ("b.tmp", 1),
        ("build/out", 1),
        ("deep/build/c.tmp", 1),
        ("deep/d", 1),
    ];
    let folder = content(&files);
    let args = [
        "create",
        "content",
        "--no-hidden",
        "-x",
        "*.tmp",
        "-x",
        "/build/",
    ];
    let ended = in_folder(folder.path(), &args);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.contains("in 2 files"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("left out   3 excluded, 2 hidden"),
        "{}",
        ended.stdout
    );
}

#[cfg(unix)]
#[test]
fn links() {
    use std::os::unix::fs::symlink;

    let folder = content(&[("a", 5), ("folder/b", 6)]);
    symlink("../a", folder.path().join("content/folder/link")).unwrap();
    let create = |links: &str| {
        let args = [
            "create", "content", "--force", "--format", "v1", "--links", links,
        ];
        in_folder(folder.path(), &args)
    };
    let shown = |links| {
        let ended = create(links);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        in_folder(folder.path(), &["show", "content.torrent"]).stdout
    };
    let stored = shown("store");
    assert!(stored.contains("link    link -> a\n"), "{stored}");
    assert!(shown("follow-inside").contains("5 bytes    link\n"));
    assert!(!shown("skip").contains("link\n"));
    symlink("/etc/passwd", folder.path().join("content/out")).unwrap();
    for links in ["store", "follow-inside"] {
        let ended = create(links);
        let expected = "hashlane: content/out: links to /etc/passwd, which is not in the content: \
                        use --links follow-outside or --links skip\n";
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), expected));
    }
    assert_eq!(create("skip").code, Some(0));
    fs::write(folder.path().join("elsewhere"), b"1234567").unwrap();
    fs::remove_file(folder.path().join("content/out")).unwrap();
    symlink("../elsewhere", folder.path().join("content/out")).unwrap();
    let shown = shown("follow-outside");
    assert!(shown.contains("7 bytes  out\n"), "{shown}");
    let verified = in_folder(folder.path(), &["verify", "content.torrent"]);
    assert_eq!(verified.code, Some(0), "{}", verified.stdout);
}

#[test]
fn refusals() {
    let folder = content(&[("a", 1)]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::write(folder.path().join("nothing"), b"").unwrap();
    for (args, expected) in [
        (
            &["missing"][..],
            "hashlane: missing: cannot be read: No such file or directory",
        ),
        (&["empty"], "hashlane: empty: contains no files\n"),
        (&["nothing"], "hashlane: nothing: the content is empty"),
        (
            &["content", "-l", "100KiB"],
            "error: invalid value '100KiB'",
        ),
        (
            &["content", "-l", "8KiB", "--format", "v2"],
            "hashlane: content: piece length is 8192 bytes, expected a power of two from 16384",
        ),
        (
            &["content", "-l", "512"],
            "hashlane: content: piece length is 512",
        ),
        (
            &["content", "-l", "512"],
            "hashlane: content: piece length is 512 bytes, expected a power of two from 1024",
        ),
        (
            &["content", "-x", ""],
            "hashlane: --exclude: an empty pattern",
        ),
        (
            &["content", "-x", "*"],
            "hashlane: content: contains no files except those that are left out\n",
        ),
        (
            &["content", "-a", "tracker"],
            "error: invalid value 'tracker'",
        ),
        (
            &["content", "--node", "host"],
            "error: invalid value 'host'",
        ),
        (&["content", "-x", "[z"], "hashlane: --exclude [z: "),
        (&["content", "-n", ".."], "hashlane: content: \"..\": "),
        (&["content", "-n", "a/b"], "hashlane: content: \"a/b\": "),
        (
            &["content", "-o", "no/such/folder"],
            "hashlane: no/such: no such folder: --parents creates it\n",
        ),
    ] {
        let ended = in_folder(folder.path(), &[&["create"], args].concat());
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
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 3, "nothing is written: {left:?}");
}

#[test]
fn every_metadata_option_is_written() {
    let folder = content(&[("a", 100_000)]);
    let ended = in_folder(
        folder.path(),
        &[
            "create",
            "content",
            "-a",
            "http://a/1,http://a/2",
            "-a",
            "udp://b:80",
            "-w",
            "http://seed/",
            "--node",
            "127.0.0.1:6881",
            "--node",
            "[2001:db8::1]:6881",
            "-s",
            "source",
            "-c",
            "a comment",
            "--date",
            "1234567890",
            "-n",
            "another name",
            "-o",
            "out.torrent",
        ],
    );
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let shown = in_folder(folder.path(), &["show", "out.torrent"]).stdout;
    for expected in [
        "another name\n",
        "tier 1  http://a/1\n",
        "tier 1  http://a/2\n",
        "tier 2  udp://b:80\n",
        "http://seed/\n",
        "127.0.0.1:6881\n",
        "[2001:db8::1]:6881\n",
        "source      source\n",
        "comment     a comment\n",
        "created     2009-02-13 23:31:30 UTC\n",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}

#[cfg(unix)]
#[test]
fn a_circular_link_is_noted() {
    let folder = content(&[("d/a", 100)]);
    std::os::unix::fs::symlink(".", folder.path().join("content/d/l")).unwrap();
    let ended = in_folder(folder.path(), &["create", "content"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let note = "1 link to a folder around the link, which other programs cannot check\n";
    assert!(ended.stdout.contains(note), "{}", ended.stdout);
}
