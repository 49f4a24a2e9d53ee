//! The files that `hashlane create` takes, and their order.

use std::fs;
use std::path::Path;

use crate::create::{content, in_folder};
use crate::fixture::{Ended, end, hashlane};

/// Creates a version 1 torrent with these options, and returns the paths in it.
fn paths(folder: &Path, options: &[&str]) -> Vec<String> {
    let ended = create(folder, options);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let shown = in_folder(folder, &["show", "--json", "content.torrent"]).stdout;
    let lines = shown.lines().filter(|line| line.contains("\"file\""));
    let path = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["path"].as_str().unwrap().to_owned()
    };
    lines.map(path).collect()
}

fn create(folder: &Path, options: &[&str]) -> Ended {
    let args = ["create", "content", "--force", "--format", "v1"];
    in_folder(folder, &[&args[..], options].concat())
}

#[test]
fn junk_is_left_out_and_named() {
    let files = [
        ("a", 1),
        (".DS_Store", 1),
        ("b/THUMBS.DB", 1),
        ("b/Desktop.ini", 1),
        ("b/@eaDir/c", 1),
        ("d.!qB", 1),
        ("e.part", 1),
        ("partly", 1),
        ("f.part.txt", 1),
        ("b/._a", 1),
        ("__MACOSX/b/._a", 1),
        ("$Recycle.Bin/S-1-5-18/x", 1),
        ("System Volume Information/x", 1),
        (".Trash-1000/files/x", 1),
        (".nfs000000000123456700000001", 1),
        (".nfs", 1),
        ("lost+found/x", 1),
        ("#recycle/x", 1),
        ("g.crdownload", 1),
    ];
    let folder = content(&files);
    let taken = [".nfs", "a", "f.part.txt", "partly"];
    assert_eq!(paths(folder.path(), &[]), taken);
    let ended = create(folder.path(), &[]);
    let note =
        "  junk       15 left out: #recycle, $Recycle.Bin, .DS_Store, ... (see --keep-junk)\n";
    assert!(ended.stdout.contains(note), "{}", ended.stdout);
    assert_eq!(paths(folder.path(), &["--keep-junk"]).len(), files.len());
    // A pattern of the user comes first.
    let ended = create(folder.path(), &["-x", "*.part", "-x", "d.*"]);
    assert!(ended.stdout.contains("left out   2 excluded\n"));
    assert!(ended.stdout.contains("junk       13 left out"));
    let only_junk = content(&[("Thumbs.db", 1)]);
    let ended = create(only_junk.path(), &[]);
    let expected = "hashlane: content: contains no files except those that are left out\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), expected));
}

#[test]
fn letter_case_makes_no_difference_to_patterns() {
    let folder = content(&[("A.TMP", 1), ("b.tmp", 1), ("c.txt", 1)]);
    assert_eq!(paths(folder.path(), &["-x", "*.Tmp"]), ["c.txt"]);
    let included = paths(folder.path(), &["--include", "*.tMp"]);
    assert_eq!(included, ["A.TMP", "b.tmp"]);
}

#[test]
fn only_included_files_are_taken() {
    let files = [
        ("a.mkv", 1),
        ("b/c.mkv", 1),
        ("b/c.nfo", 1),
        ("subs/d/e.srt", 1),
    ];
    let folder = content(&files);
    for (options, expected) in [
        (&["--include", "*.mkv"][..], &["a.mkv", "b/c.mkv"][..]),
        (&["--include", "b"], &["b/c.mkv", "b/c.nfo"]),
        (&["--include", "/subs/"], &["subs/d/e.srt"]),
        (
            &["--include", "*.mkv", "--include", "*.nfo", "-x", "/b/*.mkv"],
            &["a.mkv", "b/c.nfo"],
        ),
    ] {
        assert_eq!(paths(folder.path(), options), expected, "{options:?}");
    }
    let ended = create(folder.path(), &["--include", "*.mkv"]);
    assert!(
        ended.stdout.contains("left out   2 excluded\n"),
        "{}",
        ended.stdout
    );
}

#[test]
fn files_of_patterns() {
    let files = [
        ("a.log", 1),
        ("keep.log", 1),
        ("build/x", 1),
        ("src/build", 1),
        ("z", 1),
    ];
    let folder = content(&files);
    let rules = folder.path().join("content/.gitignore");
    fs::write(&rules, "# logs\n*.log\n!keep.log\n\nbuild/\n").unwrap();
    let expected = [".gitignore", "keep.log", "src/build", "z"];
    let options = ["--exclude-from", "content/.gitignore"];
    assert_eq!(paths(folder.path(), &options), expected);

    // Patterns from standard input.
    let mut command = hashlane();
    command
        .current_dir(folder.path())
        .stdin(fs::File::open(&rules).unwrap());
    command.args(["create", "content", "--force", "--exclude-from", "-"]);
    let ended = end(&mut command);
    assert!(
        ended.stdout.contains("2 excluded"),
        "{}{}",
        ended.stdout,
        ended.stderr
    );

    fs::write(folder.path().join("bad"), "a\n[b\n").unwrap();
    fs::write(folder.path().join("latin"), b"\xe9\n").unwrap();
    for (file, expected) in [
        ("bad", "hashlane: bad: line 2: "),
        ("latin", "hashlane: latin: is not UTF-8 text"),
        ("missing", "hashlane: missing: No such file"),
        ("content", "hashlane: content: Is a directory"),
        ("/dev/zero", "hashlane: /dev/zero: is longer than 1 MiB"),
    ] {
        let ended = create(folder.path(), &["--exclude-from", file]);
        assert_eq!(ended.code, Some(2));
        assert!(
            ended.stderr.starts_with(expected),
            "{file}: {}",
            ended.stderr
        );
    }
}

#[test]
fn orders_of_files() {
    let folder = content(&[("a/z", 3), ("a.txt", 1), ("b", 2)]);
    for (order, expected) in [
        ("path", ["a/z", "a.txt", "b"]),
        ("whole-path", ["a.txt", "a/z", "b"]),
        ("smallest", ["a.txt", "b", "a/z"]),
        ("largest", ["a/z", "b", "a.txt"]),
    ] {
        assert_eq!(
            paths(folder.path(), &["--sort", order]),
            expected,
            "{order}"
        );
        let verified = in_folder(folder.path(), &["verify", "content.torrent"]);
        assert_eq!(verified.code, Some(0), "{order}: {}", verified.stdout);
    }
    let args = ["create", "content", "--force", "--sort", "smallest"];
    let ended = in_folder(folder.path(), &args);
    let note = "format     version 1 only: version 2 has one order of files\n";
    assert!(ended.stdout.contains(note), "{}", ended.stdout);
    for format in ["v2", "hybrid"] {
        let ended = in_folder(folder.path(), &[&args[..], &["--format", format]].concat());
        let expected = "hashlane: content: version 2 has one order of files: \
                        use --sort path or --format v1\n";
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), expected));
    }
}

/// The output can be in a folder that a link leads to.
#[cfg(unix)]
#[test]
fn content_behind_a_link_is_not_overwritten() {
    let folder = content(&[("a", 1)]);
    let outside = folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("b"), b"bb").unwrap();
    std::os::unix::fs::symlink("../outside", folder.path().join("content/link")).unwrap();
    let options = ["--links", "follow-outside", "-o", "outside/x.torrent"];
    for _ in 0..2 {
        let ended = create(folder.path(), &options);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        assert!(
            ended.stdout.contains("3 bytes in 2 files"),
            "{}",
            ended.stdout
        );
    }
    let options = ["--links", "follow-outside", "-o", "outside/b"];
    let ended = create(folder.path(), &options);
    let expected =
        "hashlane: outside/b: refusing to overwrite a file that belongs to the content\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), expected));
    assert_eq!(fs::read(outside.join("b")).unwrap(), b"bb");
}

#[test]
fn a_dry_run_writes_nothing() {
    let folder = content(&[("a/b", 100_000), ("c", 1), ("Thumbs.db", 1)]);
    // The .torrent may exist: it stays as it is.
    fs::write(folder.path().join("content.torrent"), "mine").unwrap();
    let args = ["create", "content", "--dry-run", "--format", "v1"];
    let ended = in_folder(folder.path(), &args);
    let expected = "content.torrent (not written)
  content    97.7 KiB in 2 files, 7 pieces of 16 KiB
  junk       1 left out: Thumbs.db (see --keep-junk)

    97.7 KiB  a/b
      1 byte  c
";
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), expected));
    let torrent = fs::read(folder.path().join("content.torrent")).unwrap();
    assert_eq!(torrent, b"mine");
    let quiet = in_folder(folder.path(), &[&args[..], &["-q"]].concat());
    assert_eq!((quiet.code, quiet.stdout.as_str()), (Some(0), ""));
}
