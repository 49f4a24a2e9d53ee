use std::fs;
use std::process::Stdio;

use crate::fixture::{Fixture, demo, end, hashlane, verify_demo};
#[cfg(unix)]
use crate::fixture::{can_drop_privileges, drop_privileges};

#[test]
fn whole_content_is_complete() {
    let ended = end(verify_demo("good").arg("--verbose"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stderr, "");
    let out = &ended.stdout;
    assert!(out.starts_with("union-addresses\n"));
    assert!(out.contains("info-hash  3ff6fe577e89feeb7c20674a06744c2f30efcd5f\n"));
    assert!(out.contains("306 KiB (313,706 bytes) in 8 files, 20 pieces of 16 KiB\n"));
    assert!(out.contains("\n  whole   48.7 KiB  lincoln/1862_abraham_lincoln_r.txt\n"));
    assert!(out.contains("\n  ████████████████████\n"));
    assert!(out.contains("complete: 20 of 20 pieces, 100 % of 306 KiB\n"));
    assert!(out.contains(" GB/s\n"));
    assert!(
        !out.contains('\x1b'),
        "no colours where there is no terminal"
    );
}

#[test]
fn a_damaged_file_is_named_and_shown() {
    let ended = end(&mut verify_demo("damaged"));
    assert_eq!(ended.code, Some(1));
    assert_eq!(ended.stderr, "");
    let out = &ended.stdout;
    assert!(
        out.contains("3 of 4 pieces   48.7 KiB  lincoln/1862_abraham_lincoln_r.txt  (1 bad)\n")
    );
    assert!(out.contains("\n  █████████████x██████\n"));
    assert!(out.contains("1 bad: 19 of 20 pieces, 94.8 % of 306 KiB\n"));
}

#[test]
fn absent_content_is_missing() {
    let ended = end(&mut verify_demo("nowhere"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    let expected = "union-addresses
  content    nowhere/union-addresses (missing)
  20 missing: 0 of 20 pieces, 0.0 % of 306 KiB
  -d names the folder that has the content, --content the content under another name

nothing to read
";
    assert_eq!(ended.stdout, expected);
    let ended = end(verify_demo("nowhere").arg("--verbose"));
    assert!(ended.stdout.contains("\n  ░░░░░░░░░░░░░░░░░░░░\n"));
}

#[test]
fn every_way_to_read_gives_the_same_result() {
    let ways: &[&str] = if cfg!(hashlane_portable) {
        let ended = end(verify_demo("good").args(["--io", "mmap"]));
        assert_eq!(ended.code, Some(2));
        assert!(
            ended
                .stderr
                .contains("this system cannot map files into memory")
        );
        &["auto", "pread", "direct"]
    } else {
        &["auto", "mmap", "pread", "direct"]
    };
    for io in ways {
        for threads in ["1", "2", "7"] {
            for folder in ["good", "damaged"] {
                let mut command = verify_demo(folder);
                let ended = end(command.args(["--io", io, "--threads", threads, "-q"]));
                let expected = i32::from(folder != "good");
                assert_eq!(
                    ended.code,
                    Some(expected),
                    "{io}, {threads} threads, {folder}"
                );
                let expected = match folder {
                    "good" => "",
                    _ => "hashlane: union-addresses.torrent: 1 bad of 20 pieces\n",
                };
                assert_eq!(
                    (ended.stdout.as_str(), ended.stderr.as_str()),
                    ("", expected)
                );
            }
        }
    }
}

#[test]
fn content_lies_in_the_current_folder_by_default() {
    let fixture = Fixture::new("name", 4, &[("a", b"some"), ("b/c", b" bytes")]);
    // `get` downloads to the current folder, too, wherever the .torrent is.
    let other = tempfile::tempdir().unwrap();
    let elsewhere =
        |options: &[&str]| end(fixture.verify().current_dir(other.path()).args(options));
    let hint = format!(
        "the content lies beside the .torrent: use -d {}\n",
        fixture.folder.path().display()
    );
    let ended = elsewhere(&[]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains(&hint), "{ended:?}");
    let ended = elsewhere(&["-q"]);
    assert!(ended.stderr.ends_with(&hint), "{ended:?}");
    let beside = fixture.folder.path().to_str().unwrap();
    assert_eq!(elsewhere(&["-d", beside]).code, Some(0));
    let torrent = other.path().join("name.torrent");
    fs::copy(&fixture.torrent, &torrent).unwrap();
    let ended = end(fixture.verify().arg(&torrent));
    assert!(
        ended.stdout.starts_with("complete   10 bytes  name\n"),
        "{ended:?}"
    );
    assert_eq!(end(&mut fixture.verify()).code, Some(0));
    fs::rename(fixture.path("name"), fixture.path("other")).unwrap();
    assert_eq!(end(&mut fixture.verify()).code, Some(1));
    let ended = end(fixture.verify().arg("--content").arg(fixture.path("other")));
    assert_eq!(ended.code, Some(0));
    // The paths are relative to the current folder, and the torrent's path has no folder.
    let mut command = hashlane();
    command
        .current_dir(fixture.folder.path())
        .args(["verify", "name.torrent"]);
    assert_eq!(end(&mut command).code, Some(1));
    assert_eq!(end(command.args(["--content", "other"])).code, Some(0));
}

#[test]
fn the_line_of_a_file_states_its_problem() {
    let fixture = Fixture::new(
        "name",
        4,
        &[
            ("long", b"1234"),
            ("short", b"12345678"),
            ("gone", b"1234"),
            ("folder", b"1234"),
        ],
    );
    fs::write(fixture.path("name/long"), b"1234567").unwrap();
    fs::write(fixture.path("name/short"), b"12345").unwrap();
    fs::remove_file(fixture.path("name/gone")).unwrap();
    fs::remove_file(fixture.path("name/folder")).unwrap();
    fs::create_dir(fixture.path("name/folder")).unwrap();
    let ended = end(&mut fixture.verify());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), ""));
    let lines: Vec<&str> = ended.stdout.lines().map(str::trim).collect();
    assert!(
        lines.contains(&"whole            4 bytes  long  (too long by 3 bytes)"),
        "{lines:#?}"
    );
    assert!(
        lines.contains(&"1 of 2 pieces    8 bytes  short  (truncated: 5 of 8 bytes, 1 missing)"),
        "{lines:#?}"
    );
    assert!(
        lines.contains(&"missing          4 bytes  gone"),
        "{lines:#?}"
    );
    let folder = lines
        .iter()
        .find(|line| line.starts_with("unreadable"))
        .unwrap();
    assert!(folder.contains("folder  (is a directory"), "{folder}");
    assert!(lines.contains(&"██░░!"), "{lines:#?}");
}

#[test]
fn an_empty_file_that_is_absent_is_incomplete() {
    let fixture = Fixture::new("name", 4, &[("full", b"1234"), ("empty", b"")]);
    assert_eq!(end(&mut fixture.verify()).code, Some(0));
    fs::remove_file(fixture.path("name/empty")).unwrap();
    let ended = end(&mut fixture.verify());
    assert_eq!(ended.code, Some(1));
    assert!(
        ended
            .stdout
            .contains("  1 empty file missing: 1 of 1 piece, 100 %")
    );
}

#[test]
fn a_folder_in_the_place_of_an_empty_file_is_incomplete() {
    let fixture = Fixture::new("name", 4, &[("full", b"1234"), ("empty", b"")]);
    fs::remove_file(fixture.path("name/empty")).unwrap();
    fs::create_dir(fixture.path("name/empty")).unwrap();
    let ended = end(&mut fixture.verify());
    assert_eq!(ended.code, Some(2));
    assert!(
        ended
            .stdout
            .contains("  1 empty file unreadable: 1 of 1 piece, 100 %"),
        "{}",
        ended.stdout
    );
}

/// A file that may not be read is not checked, whatever else is wrong. Root may read every file, so the program runs as
/// another user.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_not_checked() {
    use std::os::unix::fs::PermissionsExt as _;
    if !can_drop_privileges() {
        return;
    }
    let set_mode = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let files: [(&str, &[u8]); 3] = [("good", b"1234"), ("bad", b"1234"), ("secret", b"1234")];
    let fixture = Fixture::new("name", 4, &files);
    set_mode(fixture.folder.path(), 0o755);
    set_mode(&fixture.path("name/secret"), 0o000);
    let verify = |options: &[&str]| {
        let mut command = fixture.verify();
        command.args(options);
        drop_privileges(&mut command);
        command.output().unwrap()
    };
    for is_damaged in [false, true] {
        if is_damaged {
            fs::write(fixture.path("name/bad"), "4321").unwrap();
        }
        for options in [&[][..], &["--json"], &["-q"]] {
            let output = verify(options);
            assert_eq!(output.status.code(), Some(2), "{options:?}: {output:?}");
        }
    }
    let output = verify(&[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("  secret  (Permission denied"), "{text}");
    set_mode(&fixture.path("name/secret"), 0o644);
    let output = verify(&[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn several_torrents_are_verified_one_after_the_other() {
    let good = Fixture::new("good", 4, &[("a", b"1234")]);
    let bad = Fixture::new("bad", 4, &[("a", b"1234")]);
    fs::write(bad.path("bad/a"), b"1235").unwrap();
    fs::rename(bad.path("bad"), good.path("bad")).unwrap();
    let ended = end(good.verify().arg(&bad.torrent));
    assert_eq!(ended.code, Some(1));
    let bad_path = bad.torrent.display();
    let expected = format!(
        "\n\nIncomplete:\n   0.0 %  {bad_path}  1 bad\n2 torrents: 1 complete, 1 incomplete, 50.0 % of 8 bytes, 8 bytes checked in "
    );
    assert!(
        ended
            .stdout
            .starts_with("complete    4 bytes  good\n\nbad\n")
    );
    assert!(ended.stdout.contains(&expected), "{}", ended.stdout);
    // A torrent that cannot be checked does not stop the other torrents, and determines the exit status.
    let missing = good.path("missing.torrent");
    let ended = end(hashlane()
        .current_dir(good.folder.path())
        .arg("verify")
        .arg(&missing)
        .args([&bad.torrent, &good.torrent]));
    assert_eq!(ended.code, Some(2));
    let missing = missing.display();
    let expected = format!(
        "Incomplete or not checked:\n          {missing}  not checked\n   0.0 %  {bad_path}  1 bad\n3 torrents: 1 complete, 1 incomplete, 1 not checked, "
    );
    assert!(ended.stdout.contains(&expected), "{}", ended.stdout);
    assert!(
        ended
            .stderr
            .contains("missing.torrent: No such file or directory")
    );
}

#[test]
fn a_torrent_that_cannot_be_used_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let huge = write("huge.torrent", b"d");
    fs::OpenOptions::new()
        .write(true)
        .open(&huge)
        .unwrap()
        .set_len(40 << 20)
        .unwrap();
    let pieces = format!("6:pieces20:{}", "x".repeat(20));
    let root = "r".repeat(32);
    for (path, reason) in [
        (
            folder.path().join("none.torrent"),
            "No such file or directory",
        ),
        (folder.path().join("empty"), "has no .torrent files"),
        (huge, "is longer than 32 MiB, the limit for .torrent files"),
        (
            write("empty.torrent", b""),
            "not a .torrent file: it is empty",
        ),
        (
            write("text.torrent", b"<html>not found</html>"),
            "a page of HTML",
        ),
        (write("newline.torrent", b"de\n"), "info is missing"),
        (
            write(
                "escape.torrent",
                format!("d4:infod6:lengthi1e4:name2:..12:piece lengthi16384e{pieces}ee").as_bytes(),
            ),
            "info.name is not usable as a file name",
        ),
        (
            write(
                "v2.torrent",
                b"d4:infod9:file treede12:meta versioni2e4:name1:a12:piece lengthi16384eee",
            ),
            "the torrent has no files",
        ),
        (
            write(
                "hybrid.torrent",
                format!(
                    "d4:infod9:file treed1:ad0:d6:lengthi2e11:pieces root32:{root}eee\
                     6:lengthi1e12:meta versioni2e4:name1:a12:piece lengthi16384e{pieces}ee"
                )
                .as_bytes(),
            ),
            "versions 1 and 2 disagree: a has 1 bytes in version 1, 2 in version 2",
        ),
    ] {
        let ended = end(hashlane().arg("verify").arg(&path));
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{}",
            path.display()
        );
        let expected = format!("hashlane: {}: ", path.display());
        assert!(ended.stderr.starts_with(&expected), "{}", ended.stderr);
        assert!(ended.stderr.contains(reason), "{reason}: {}", ended.stderr);
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = verify_demo("good")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn names_are_escaped_for_the_terminal() {
    let fixture = Fixture::new("na\x1b[31mme", 4, &[("a\x07\nb", b"1234")]);
    let ended = end(fixture.verify().arg("--verbose"));
    assert_eq!(ended.code, Some(0));
    assert!(
        !ended.stdout.contains(['\x1b', '\x07']),
        "{:?}",
        ended.stdout
    );
    assert!(ended.stdout.contains(r"a\u{7}\u{a}b"), "{:?}", ended.stdout);
}

#[test]
fn verifying_changes_nothing() {
    let names = |folder: &str| {
        let mut names: Vec<_> = walk(&demo().join(folder));
        names.sort();
        names
    };
    let before = names("damaged");
    assert_eq!(end(&mut verify_demo("damaged")).code, Some(1));
    assert_eq!(names("damaged"), before);
    assert_eq!(end(&mut verify_demo("nowhere")).code, Some(1));
    assert!(!demo().join("nowhere").exists());
}

fn walk(folder: &std::path::Path) -> Vec<(std::path::PathBuf, u64, std::time::SystemTime)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push((entry.path(), metadata.len(), metadata.modified().unwrap()));
        }
    }
    found
}

#[test]
fn a_thousand_whole_torrents_take_a_line_each() {
    let fixture = Fixture::new("name", 4, &[("a", b"1234"), ("b/c", b"12345")]);
    let mut command = fixture.verify();
    for number in 1..1000 {
        let copy = fixture.path(&format!("copy{number}.torrent"));
        fs::copy(&fixture.torrent, &copy).unwrap();
        command.arg(copy);
    }
    let ended = end(&mut command);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 1001);
    assert!(
        lines[..1000]
            .iter()
            .all(|line| *line == "complete    9 bytes  name")
    );
    assert!(lines[1000].starts_with("1,000 torrents: complete, 8.79 KiB checked in "));
}

#[test]
fn only_files_that_are_not_whole_are_listed_damaged_ones_last() {
    let files: &[(&str, &[u8])] = &[
        ("a", b"1234"),
        ("damaged", b"1234"),
        ("gone", b"1234"),
        ("long", b"1234"),
    ];
    let fixture = Fixture::new("name", 4, files);
    fs::write(fixture.path("name/damaged"), b"1235").unwrap();
    fs::write(fixture.path("name/long"), b"12345").unwrap();
    fs::remove_file(fixture.path("name/gone")).unwrap();
    let ended = end(&mut fixture.verify());
    let expected = "
  whole           4 bytes  long  (too long by 1 byte)
  missing         4 bytes  gone
  0 of 1 piece    4 bytes  damaged  (1 bad)

";
    assert!(ended.stdout.contains(expected), "{}", ended.stdout);
}

/// A piece that a download has not written yet is missing. The report says that a zeroed sector looks the same.
#[test]
fn wrong_pieces_of_zeros_are_missing() {
    let fixture = Fixture::new("name", 4, &[("a", b"12345678abcd")]);
    fs::write(fixture.path("name/a"), b"1234\0\0\0\0ab\0\0").unwrap();
    let ended = end(&mut fixture.verify());
    assert_eq!(ended.code, Some(1));
    let expected =
        "1 of 3 pieces   12 bytes  a  (1 missing, 1 bad, 1 piece has only zeros on disk)\n";
    assert!(ended.stdout.contains(expected), "{}", ended.stdout);
    let ended = end(fixture.verify().arg("--json"));
    assert!(
        ended.stdout.contains("\"zero_pieces\":1"),
        "{}",
        ended.stdout
    );
}

/// Complete content with a note takes more than one line.
#[test]
fn notes_about_whole_content_are_printed() {
    let fixture = Fixture::new("name", 4, &[("a", b"1234"), ("b", b"1234")]);
    fs::write(fixture.path("name/b"), b"12345").unwrap();
    let ended = end(&mut fixture.verify());
    assert_eq!(ended.code, Some(0));
    let expected = "\n  whole    4 bytes  b  (too long by 1 byte)\n\n";
    assert!(ended.stdout.contains(expected), "{}", ended.stdout);
}

#[test]
fn the_place_of_the_content_is_suggested() {
    // The temporary folder, which is looked at too, has no file of this name.
    let files: [(&str, &[u8]); 2] = [("empty", b""), ("of_the_suggested_content", b"1234")];
    let fixture = Fixture::new("name", 4, &files);
    let name = fixture.path("name");
    let verify = |option: &str, place: &std::path::Path| {
        let ended = end(fixture.verify().arg(option).arg(place));
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        ended.stdout
    };
    let found = format!(
        "\n  {} has files of the torrent: --content checks it\n",
        name.display()
    );
    let output = verify("-d", &name);
    assert!(output.contains(&found), "{output}");
    fs::create_dir(fixture.path("below")).unwrap();
    let above = format!(
        "\n  {} has something of this name: -d checks it\n",
        fixture.folder.path().display()
    );
    let output = verify("-d", &fixture.path("below"));
    assert!(output.contains(&above), "{output}");
    let output = end(fixture.verify().args(["-d", "below"])).stdout;
    let current = "\n  . has something of this name: -d checks it\n";
    assert!(output.contains(current), "{output}");
    let output = verify("--content", fixture.folder.path());
    assert!(output.contains(&above), "{output}");
    let nothing = "\n  -d names the folder that has the content, --content ";
    fs::create_dir_all(fixture.path("x/y")).unwrap();
    let output = verify("-d", &fixture.path("x/y"));
    assert!(output.contains(nothing), "{output}");
}

#[test]
fn a_renamed_single_file_is_suggested() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("saved (1).iso");
    fs::write(&file, "content").unwrap();
    let torrent = folder.path().join("t.torrent");
    let create = end(hashlane()
        .arg("create")
        .arg(&file)
        .args(["--name", "image.iso", "-o"])
        .arg(&torrent));
    assert_eq!(create.code, Some(0), "{}", create.stderr);
    let verify = || {
        end(hashlane()
            .current_dir(folder.path())
            .arg("verify")
            .arg(&torrent))
    };
    // Another file has the same length.
    fs::write(folder.path().join("other.iso"), "another").unwrap();
    let ended = verify();
    assert_eq!(ended.code, Some(1));
    let expected = "  found as saved (1).iso, by one piece: --content checks it\n";
    assert!(ended.stdout.contains(expected), "{}", ended.stdout);
    // Two files have the content.
    fs::write(folder.path().join("copy.iso"), "content").unwrap();
    let ended = verify();
    assert!(!ended.stdout.contains("found as"), "{}", ended.stdout);
}

#[test]
fn a_renamed_folder_is_suggested() {
    let files: [(&str, &[u8]); 4] = [
        ("a", b"12345678"),
        ("b/c", b"abcd"),
        ("d", b"efgh"),
        ("empty", b""),
    ];
    let fixture = Fixture::new("name", 4, &files);
    fs::rename(fixture.path("name"), fixture.path("old name")).unwrap();
    // Files of the right lengths, and wrong bytes.
    fs::create_dir(fixture.path("other")).unwrap();
    fs::write(fixture.path("other/a"), "87654321").unwrap();
    let verify = || {
        let folder = fixture.folder.path();
        let ended = end(fixture.verify().arg("-d").arg(folder));
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        ended.stdout
    };
    let place = fixture.path("old name");
    let place = place.display();
    let expected =
        format!("\n  found as {place} (3 of 3 files), by one piece: --content checks it\n");
    let output = verify();
    assert!(output.contains(&expected), "{output}");
    fs::remove_file(fixture.path("old name/d")).unwrap();
    assert!(verify().contains("(2 of 3 files), by one piece"));
    // Nothing decides between two folders.
    fs::create_dir_all(fixture.path("copy/b")).unwrap();
    for name in ["a", "b/c"] {
        let from = fixture.path("old name").join(name);
        fs::copy(from, fixture.path("copy").join(name)).unwrap();
    }
    assert!(!verify().contains("found as"));
    fs::remove_dir_all(fixture.path("copy")).unwrap();
    fs::remove_dir_all(fixture.path("old name")).unwrap();
    assert!(!verify().contains("found as"));
}

/// Long pieces leave room for few comparisons. Files of other lengths do not take it.
#[test]
fn a_renamed_file_is_found_among_many_others() {
    let fixture = Fixture::new("name", 16 << 20, &[("a", b"12345678"), ("b", b"abc")]);
    let folder = fixture.path("name");
    fs::rename(folder.join("a"), folder.join("z")).unwrap();
    for other in 0..10 {
        fs::write(folder.join(format!("{other}")), "another length").unwrap();
    }
    // Version 2 compares each file alone.
    let torrent = fixture.path("v2.torrent");
    let original = fixture.path("original/name");
    fs::create_dir_all(&original).unwrap();
    fs::write(original.join("a"), "12345678").unwrap();
    fs::write(original.join("b"), "abc").unwrap();
    let mut create = hashlane();
    create
        .arg("create")
        .arg(&original)
        .args(["--format", "v2", "-l", "16MiB", "-o"])
        .arg(&torrent);
    assert_eq!(end(&mut create).code, Some(0));
    let ended = end(hashlane()
        .arg("verify")
        .arg(&torrent)
        .arg("--content")
        .arg(&folder));
    assert_eq!(ended.code, Some(1));
    let line = "a  (found as z, by one piece: rename it)\n";
    assert!(ended.stdout.contains(line), "{}", ended.stdout);
}

#[test]
fn a_renamed_file_is_named_beside_the_missing_one() {
    let files: [(&str, &[u8]); 4] = [
        ("a.mkv", b"12345678"),
        ("b", b"abcdefgh"),
        ("c", b"xy"),
        ("d", b"zt"),
    ];
    let fixture = Fixture::new("name", 4, &files);
    let rename = |from: &str, to: &str| {
        fs::rename(
            fixture.path("name").join(from),
            fixture.path("name").join(to),
        )
        .unwrap();
    };
    rename("a.mkv", "new.mkv");
    // The second piece of this file is damaged, so that only the first one shows what it is.
    rename("b", "b (1)");
    fs::write(fixture.path("name/b (1)"), "abcd????").unwrap();
    // No piece lies inside this file.
    rename("c", "e");
    let ended = end(&mut fixture.verify());
    assert_eq!(ended.code, Some(1));
    for line in [
        "missing    8 bytes  a.mkv  (found as new.mkv, by one piece: rename it)\n",
        "missing    8 bytes  b  (found as b (1), by one piece: rename it)\n",
        "missing    2 bytes  c\n",
    ] {
        assert!(ended.stdout.contains(line), "{}", ended.stdout);
    }
    // All files are missing.
    rename("d", "f");
    let ended = end(&mut fixture.verify());
    let line = "a.mkv  (found as new.mkv, by one piece: rename it)\n";
    assert!(ended.stdout.contains(line), "{}", ended.stdout);
    let json = end(fixture.verify().arg("--json")).stdout;
    assert!(json.contains("\"candidate\":\"new.mkv\""), "{json}");
}

#[test]
fn a_file_that_is_too_short_is_called_truncated() {
    let fixture = Fixture::new("name", 4, &[("a", b"123456789012"), ("b", b"1234")]);
    fs::write(fixture.path("name/a"), "12345").unwrap();
    let ended = end(&mut fixture.verify());
    assert_eq!(ended.code, Some(1));
    let line = "1 of 3 pieces   12 bytes  a  (truncated: 5 of 12 bytes, 2 missing)\n";
    assert!(ended.stdout.contains(line), "{}", ended.stdout);
}

#[test]
fn a_quiet_report_counts_pieces_only_if_some_are_not_present() {
    let fixture = Fixture::new("name", 4, &[("full", b"12345678"), ("empty", b"")]);
    fs::remove_file(fixture.path("name/empty")).unwrap();
    let quiet = || {
        let ended = end(fixture.verify().arg("-q"));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
        ended.stderr
    };
    let expected = ": 1 empty file missing, and all of 2 pieces present\n";
    assert!(quiet().ends_with(expected), "{}", quiet());
    fs::write(fixture.path("name/full"), "1234xxxx").unwrap();
    assert!(quiet().ends_with(": 1 bad of 2 pieces\n"), "{}", quiet());
}

#[test]
fn extra_files_are_listed() {
    let fixture = Fixture::new("name", 4, &[("a", b"1234"), ("b/c", b"1234")]);
    let extra = |options: &[&str]| end(fixture.verify().arg("--extra").args(options));
    assert!(!extra(&[]).stdout.contains("extra"));
    fs::write(fixture.path("name/b/more"), "").unwrap();
    fs::write(fixture.path("name/Thumbs.db"), "").unwrap();
    let ended = extra(&[]);
    assert_eq!(ended.code, Some(0));
    let expected =
        "complete    8 bytes  name\n  extra  Thumbs.db\n  extra  b/more\n8 bytes checked in ";
    assert!(ended.stdout.starts_with(expected), "{}", ended.stdout);
    assert!(!end(&mut fixture.verify()).stdout.contains("more"));
}

/// Other programs cannot load such a torrent, even if its content is complete.
#[test]
fn a_limit_of_libtorrent_is_noted() {
    let fixture = Fixture::new("n", 1 << 30, &[("a", b"content")]);
    let note = "libtorrent refuses pieces of more than 536854528 bytes";
    let ended = end(&mut fixture.verify());
    assert_eq!(ended.code, Some(0));
    assert!(
        ended.stdout.contains(&format!("n  ({note})\n")),
        "{}",
        ended.stdout
    );
    let ended = end(fixture.verify().arg("--json"));
    let line: serde_json::Value =
        serde_json::from_str(ended.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(line["notes"], serde_json::json!([note]));
}

#[test]
fn a_file_beside_a_missing_one_cannot_be_judged() {
    let files: [(&str, &[u8]); 5] = [
        ("a", b"12"),
        ("gone", b"3"),
        ("b", b"4567"),
        ("c", b"89"),
        ("d", b"0123456"),
    ];
    let fixture = Fixture::new("name", 4, &files);
    fs::remove_file(fixture.path("name/gone")).unwrap();
    let ended = end(&mut fixture.verify());
    assert_eq!(ended.code, Some(1));
    let lines: Vec<&str> = ended.stdout.lines().map(str::trim).collect();
    for line in [
        "unclear          2 bytes  a  (cannot be judged: shares a piece with gone)",
        "missing           1 byte  gone",
        "1 of 2 pieces    4 bytes  b  (cannot be judged: shares a piece with gone)",
        "1 missing: 3 of 4 pieces, 75.0 % of 16 bytes",
    ] {
        assert!(lines.contains(&line), "{line}: {lines:#?}");
    }
    // `c` and `d` share no piece with `gone`, so they are complete and not listed.
    assert!(
        lines
            .iter()
            .all(|line| !line.ends_with("  c") && !line.ends_with("  d"))
    );
    // If all bytes are present, each file of the piece may be the wrong one.
    fs::write(fixture.path("name/gone"), b"4").unwrap();
    let ended = end(&mut fixture.verify());
    let line = "  0 of 1 piece     2 bytes  a  (1 bad, shares a bad piece with gone and b)\n";
    assert!(ended.stdout.contains(line), "{}", ended.stdout);
}

#[test]
fn many_files_in_one_piece_are_counted() {
    let names: Vec<String> = (0..9).map(|i| i.to_string()).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &b"x"[..])).collect();
    let fixture = Fixture::new("name", 64, &files);
    fs::write(fixture.path("name/8"), "y").unwrap();
    let ended = end(&mut fixture.verify());
    for line in [
        "0  (1 bad, shares a bad piece with 1 and 2 and 6 other files)",
        "8  (1 bad, shares a bad piece with 0 and 1 and 6 other files)",
    ] {
        assert!(ended.stdout.contains(line), "{}", ended.stdout);
    }
    for name in ["3", "4", "5", "8"] {
        fs::remove_file(fixture.path("name").join(name)).unwrap();
    }
    let ended = end(&mut fixture.verify());
    let line = "0  (cannot be judged: shares a piece with 3 and 4 and 2 other files)";
    assert!(ended.stdout.contains(line), "{}", ended.stdout);
}
