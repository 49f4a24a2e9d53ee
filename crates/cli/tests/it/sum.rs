//! `hashlane sum`.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use serde::Deserialize;

use crate::fixture::{Ended, end, hashlane};

const A_MD5: &str = "0cc175b9c0f1b6a831c399e269772661";
const A_SHA1: &str = "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8";
const A_SHA256: &str = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
const B_SHA1: &str = "e9d71f5ee7c92d6dc9e92ffdad17b8bd49418f98";

/// A folder with the files `a` (content `a`), `dir/b` (`b`) and `dir/sub/a`, a link to a file, and one to a folder.
fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("dir/sub")).unwrap();
    fs::write(path("a"), "a").unwrap();
    fs::write(path("dir/b"), "b").unwrap();
    fs::write(path("dir/sub/a"), "a").unwrap();
    symlink("b", path("dir/file-link")).unwrap();
    symlink("sub", path("dir/folder-link")).unwrap();
    folder
}

pub(crate) fn sum(folder: &Path, args: &str) -> Ended {
    let mut command = hashlane();
    command.current_dir(folder).arg("sum");
    end(command.args(args.split_whitespace()))
}

pub(crate) fn ended(code: i32, stdout: &str, stderr: &str) -> Ended {
    Ended {
        code: Some(code),
        stdout: stdout.into(),
        stderr: stderr.into(),
    }
}

#[test]
fn algorithms_and_forms() {
    let folder = tree();
    let folder = folder.path();
    assert_eq!(sum(folder, "a"), ended(0, &format!("{A_SHA256}  a\n"), ""));
    assert_eq!(
        sum(folder, "-a sha1 a"),
        ended(0, &format!("{A_SHA1}  a\n"), "")
    );
    let both = format!("MD5 (a) = {A_MD5}\nSHA1 (a) = {A_SHA1}\n");
    assert_eq!(sum(folder, "-a md5,SHA-1 a"), ended(0, &both, ""));
    assert_eq!(sum(folder, "-a md5 -a sha1 -j 1 a"), ended(0, &both, ""));
    let tagged = "BLAKE2b-16 (a) = 1e1b\n";
    assert_eq!(sum(folder, "--tag -a blake2b-16 a"), ended(0, tagged, ""));
    let wrong = sum(folder, "-a sha3 a");
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""));
    assert!(
        wrong.stderr.contains("unknown algorithm"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn folders_in_the_order_of_their_names() {
    let folder = tree();
    let folder = folder.path();
    let names = |ended: &Ended| {
        let names = ended.stdout.lines().map(|line| line[42..].to_owned());
        names.collect::<Vec<_>>()
    };
    let plain = sum(folder, "-a sha1 -r dir a");
    assert_eq!(names(&plain), ["dir/b", "dir/sub/a", "a"]);
    let based = sum(&folder.join("dir/sub"), "-a sha1 -r --base ../.. dir a");
    assert_eq!(based, plain);
    let followed = sum(folder, "-a sha1 -r --links follow-outside dir");
    let expected = ["dir/b", "dir/file-link", "dir/folder-link/a", "dir/sub/a"];
    assert_eq!(names(&followed), expected);
    let refused = sum(folder, "dir");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.starts_with("hashlane: dir: Is a directory"),
        "{}",
        refused.stderr
    );
}

/// Errors appear in order between the digests, and the rest of a folder is hashed.
#[test]
fn files_that_cannot_be_hashed_are_named() {
    let folder = tree();
    let folder = folder.path();
    symlink(".", folder.join("dir/loop")).unwrap();
    symlink("nowhere", folder.join("dir/nothing")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("dir/socket")).unwrap();
    let found = sum(folder, "-a sha1 -r --links follow-outside dir absent a");
    assert_eq!(found.code, Some(2), "{}", found.stderr);
    assert_eq!(found.stdout.lines().count(), 5, "{}", found.stdout);
    for name in [
        "dir/loop: ",
        "dir/nothing: ",
        "dir/socket: left out: is a pipe, socket or device",
        "absent: ",
    ] {
        assert!(
            found.stderr.contains(&format!("hashlane: {name}")),
            "{name}: {}",
            found.stderr
        );
    }
}

/// Ten folders with ten links each to the next folder have 10^9 paths. Other arguments are hashed.
#[test]
fn walks_through_too_many_links_end() {
    let folder = tree();
    let folder = folder.path();
    for i in 0..10 {
        fs::create_dir_all(folder.join(format!("chain/{i}"))).unwrap();
        for link in (0..10).filter(|_| i < 9) {
            let to = format!("../{}", i + 1);
            symlink(to, folder.join(format!("chain/{i}/link{link}"))).unwrap();
        }
    }
    fs::write(folder.join("chain/9/a"), "a").unwrap();
    let reason = "more than 64 paths of symbolic links lead to this folder";
    let found = sum(folder, "-a sha1 -r --links follow-outside chain a");
    assert_eq!(found.code, Some(2), "{}", found.stderr);
    assert!(found.stdout.ends_with(&format!("{A_SHA1}  a\n")));
    assert!(found.stderr.ends_with(&format!(": {reason}\n")));
    for links in ["follow-inside", "follow-outside"] {
        let mut create = hashlane();
        create
            .current_dir(folder)
            .args(["create", "chain", "--links", links]);
        let ended = end(&mut create);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        let message = format!("{reason}: use --links store or --links skip\n");
        assert!(ended.stderr.ends_with(&message), "{}", ended.stderr);
    }
}

#[test]
fn lists_of_all_formats() {
    let folder = tree();
    let folder = folder.path();
    for (list, right) in [
        // Neighbouring lines of one file count once.
        (
            format!("{A_SHA1}  a\n{A_SHA256} *a\n{A_MD5}  a\n"),
            "1 file right\n",
        ),
        (
            format!("SHA1 (a) = {A_SHA1}\nMD5(a)= {A_MD5}\r\nSHA256 (a) = {A_SHA256}\n"),
            "1 file right\n",
        ),
        (
            format!("; comment\na E8B7BE43\ndir/b 71BEEFF9\n{A_SHA1}  a\n"),
            "3 files right\n",
        ),
        (
            format!(
                "%%%% HASHDEEP-1.0\n%%%% size,md5,sha256,filename\n## x\n1,{A_MD5},{A_SHA256},a\n\
                 1,{A_MD5},{A_SHA256},dir/sub/a\n1,{A_MD5},{A_SHA256},./a\n"
            ),
            "3 files right\n",
        ),
        (
            format!("\u{feff}{A_SHA1}  a\r\n{B_SHA1}  dir/b\r\n"),
            "2 files right\n",
        ),
    ] {
        fs::write(folder.join("list"), &list).unwrap();
        let expected = ended(0, right, "");
        assert_eq!(sum(folder, "--check list"), expected, "{list}");
        assert_eq!(sum(folder, "--check -q list"), ended(0, "", ""), "{list}");
    }
}

#[test]
fn a_check_reports_wrong_files_and_lines() {
    let folder = tree();
    let folder = folder.path();
    let list = format!("{A_SHA1}  a\n{A_SHA1}  dir/b\n{A_SHA1}  absent\n");
    fs::write(folder.join("list"), &list).unwrap();
    let text = "missing     absent\nchanged     dir/b\n1 file right, 1 changed, 1 missing\n";
    assert_eq!(sum(folder, "--check list"), ended(1, text, ""));
    let moved = sum(&folder.join("dir"), "--check --base .. ../list");
    assert_eq!(moved, ended(1, text, ""));
    // Special files are not read, and lines without a digest are reported.
    fs::write(folder.join("list"), format!("{A_SHA1}  /dev/zero\njunk\n")).unwrap();
    let found = sum(folder, "--check list");
    assert_eq!(found.code, Some(2));
    assert_eq!(
        found.stdout,
        "unreadable  /dev/zero\n0 files right, 1 unreadable, 1 line without a digest\n"
    );
    let errors = "hashlane: list: line 2 has no digest and name\n\
                  hashlane: /dev/zero: not a regular file\n";
    assert_eq!(found.stderr, errors);
    for (name, error) in [
        ("absent", "No such file or directory (os error 2)"),
        ("dir", "cannot be read: Is a directory (os error 21)"),
        ("a", "has no digests"),
    ] {
        let found = sum(folder, &format!("--check {name}"));
        assert_eq!(found.code, Some(2));
        let message = format!("hashlane: {name}: {error}\n");
        assert!(found.stderr.ends_with(&message), "{}", found.stderr);
    }
}

#[test]
fn a_folder_is_compared_with_a_list() {
    let folder = tree();
    let content = folder.path().join("dir");
    fs::write(content.join("c"), "c").unwrap();
    let list = folder.path().join("list");
    fs::write(
        &list,
        format!("{B_SHA1}  ./b\n{A_SHA1}  old\n{A_SHA1}  sub/gone\n{A_SHA1}  c\n"),
    )
    .unwrap();
    let text = "changed     c\nmoved       old -> sub/a\nmissing     sub/gone\n\
                1 file right, 1 changed, 1 missing, 1 moved\n";
    assert_eq!(
        sum(folder.path(), "--check --against dir list"),
        ended(1, text, "")
    );
    fs::write(&list, format!("{B_SHA1}  b\n{A_SHA1}  sub/a\n")).unwrap();
    let text = "extra       c\n2 files right, 1 extra\n";
    assert_eq!(
        sum(folder.path(), "--check --against dir list"),
        ended(1, text, "")
    );
    fs::remove_file(content.join("c")).unwrap();
    let text = "2 files right\n";
    assert_eq!(
        sum(folder.path(), "--check --against dir list"),
        ended(0, text, "")
    );
}

/// The name of a file in an SFV list can look like a CRC-32 and a name. The file that exists decides.
#[test]
fn names_in_sfv_lists_that_start_with_eight_digits() {
    let folder = tree();
    let folder = folder.path();
    // The CRC-32 of `a`.
    let crc = "E8B7BE43";
    for name in ["20240101 report.pdf", "20240101  report.pdf"] {
        fs::write(folder.join(name), "a").unwrap();
        for list in [
            format!("{name} {crc}\n"),
            format!("{name} {crc}\na {crc}\n"),
            format!("; comment\n{name} {crc}\n"),
        ] {
            fs::write(folder.join("list"), &list).unwrap();
            let n_files = list.matches(crc).count();
            let text = format!(
                "{n_files} file{} right\n",
                if n_files == 1 { "" } else { "s" }
            );
            assert_eq!(sum(folder, "--check list"), ended(0, &text, ""), "{list}");
        }
        fs::write(folder.join("list"), format!("{name} {crc}\n")).unwrap();
        fs::write(folder.join(name), "b").unwrap();
        let text = format!("changed     {name}\n0 files right, 1 changed\n");
        assert_eq!(sum(folder, "--check list"), ended(1, &text, ""));
        fs::remove_file(folder.join(name)).unwrap();
    }
    let text = "missing     20240101 x\n0 files right, 1 missing\n";
    fs::write(folder.join("list"), format!("20240101 x {crc}\n")).unwrap();
    assert_eq!(sum(folder, "--check list"), ended(1, text, ""));
    // The same with a digest of another length, and a line that the program writes for a file with such a name.
    let name = format!("{A_MD5} x");
    fs::write(folder.join(&name), "a").unwrap();
    fs::write(folder.join("list"), format!("{name} {crc}\n")).unwrap();
    assert_eq!(sum(folder, "--check list"), ended(0, "1 file right\n", ""));
    let crcs = sum(folder, "-a crc32 -r .").stdout;
    fs::write(folder.join("list"), crcs).unwrap();
    assert_eq!(
        sum(folder, "--check list").code,
        Some(1),
        "the list itself changes"
    );
    fs::write(folder.join(format!("x {crc}")), "a").unwrap();
    let mut command = hashlane();
    command.current_dir(folder).args(["sum", "-a", "crc32"]);
    let line = end(command.arg(format!("x {crc}"))).stdout;
    fs::write(folder.join("list"), &line).unwrap();
    assert_eq!(
        sum(folder, "--check list"),
        ended(0, "1 file right\n", ""),
        "{line}"
    );
    // With --against, too.
    let content = folder.join("content");
    fs::create_dir(&content).unwrap();
    fs::write(content.join("20240101  report.pdf"), "a").unwrap();
    fs::write(folder.join("list"), format!("20240101  report.pdf {crc}\n")).unwrap();
    let found = sum(folder, "--check --against content list");
    assert_eq!(found, ended(0, "1 file right\n", ""));
}

/// A list of `sum -r photos`, of files with their full paths, and of files below the working folder.
#[test]
fn names_are_compared_without_the_prefix_with_which_most_files_exist() {
    let folder = tree();
    let folder = folder.path();
    let full = folder.join("dir").display().to_string();
    fs::create_dir_all(folder.join("copy/dir")).unwrap();
    for (name, text) in [("b", "b"), ("sub/a", "a")] {
        let place = folder.join("copy/dir").join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }
    for (prefix, removed) in [
        ("", None),
        ("./", None),
        ("dir/", Some("dir/")),
        ("./dir/", Some("dir/")),
        ("../dir/", Some("../dir/")),
        (&format!("{full}/"), Some(&*format!("{full}/"))),
        ("/elsewhere/", Some("/elsewhere/")),
        ("/", Some("/")),
    ] {
        let list = format!("{B_SHA1}  {prefix}b\n{A_SHA1}  {prefix}sub/a\n");
        fs::write(folder.join("list"), &list).unwrap();
        let note = removed.map(|prefix| format!("list: names are compared without {prefix}\n"));
        let text = format!("{}2 files right\n", note.unwrap_or_default());
        for against in ["dir", "copy/dir", "./dir/", "dir/sub/.."] {
            let found = sum(folder, &format!("--check --against {against} list"));
            assert_eq!(found, ended(0, &text, ""), "{against}: {list}");
        }
        let inside = sum(&folder.join("dir"), "--check --against . ../list");
        let text = text.replace("list:", "../list:");
        assert_eq!(inside, ended(0, &text, ""), "{list}");
    }
    // All files are in one folder, and the prefix ends before it.
    fs::write(folder.join("list"), format!("{A_SHA1}  /x/dir/sub/a\n")).unwrap();
    fs::remove_file(folder.join("dir/b")).unwrap();
    let text = "list: names are compared without /x/dir/\n1 file right\n";
    assert_eq!(
        sum(folder, "--check --against dir list"),
        ended(0, text, "")
    );
    let quiet = sum(folder, "--check -q --against dir list");
    assert_eq!(quiet, ended(0, "", ""));
}

/// The folder has a copy of itself, so the names exist with and without its name. The whole folder is compared.
#[test]
fn a_tie_between_prefixes_is_decided_by_a_rule_and_printed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["dir", "dir/dir", "dir/sub"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    fs::write(folder.join("dir/a"), "a").unwrap();
    fs::write(folder.join("dir/dir/a"), "b").unwrap();
    fs::write(folder.join("list"), format!("{A_SHA1}  dir/a\n")).unwrap();
    let note = "list: names are compared without dir/; as many exist as they are\n";
    let text = format!("{note}extra       dir/a\n1 file right, 1 extra\n");
    let found = sum(folder, "--check --against dir list");
    assert_eq!(found, ended(1, &text, ""));
    let lines = json(folder, "--check --against dir list");
    let prefix = Line::Prefix {
        list: "list".into(),
        path: "dir".into(),
        tied: Some(Tied {
            path: String::new(),
        }),
    };
    assert_eq!(lines[0], prefix);
    // A folder that the names share, and that does not have the name of the folder, is kept.
    fs::write(folder.join("dir/sub/a"), "a").unwrap();
    fs::write(folder.join("list"), format!("{A_SHA1}  sub/a\n")).unwrap();
    let note = "list: names are compared as they are; as many exist without sub/\n";
    let text = format!("{note}extra       a\nextra       dir/a\n1 file right, 2 extra\n");
    let found = sum(folder, "--check --against dir list");
    assert_eq!(found, ended(1, &text, ""));
}

#[test]
fn a_list_in_its_own_folder_is_not_extra() {
    let folder = tree();
    let folder = folder.path();
    fs::write(folder.join("dir/list"), sum(folder, "-r dir").stdout).unwrap();
    let text = "dir/list: names are compared without dir/\n2 files right\n";
    let found = sum(folder, "--check --against dir dir/list");
    assert_eq!(found, ended(0, text, ""));
    // Another list is.
    fs::copy(folder.join("dir/list"), folder.join("dir/other")).unwrap();
    let found = sum(folder, "--check --against dir dir/list");
    assert!(found.stdout.contains("\nextra       other\n"), "{found:?}");
}

#[test]
fn a_check_leaves_out_excluded_files() {
    let folder = tree();
    let folder = folder.path();
    fs::write(folder.join("list"), sum(folder, "-r dir").stdout).unwrap();
    fs::write(folder.join("dir/b"), "changed").unwrap();
    fs::write(folder.join("dir/x.tmp"), "").unwrap();
    // Patterns start in the folder of `--against`.
    let text = "list: names are compared without dir/\n1 file right, 1 excluded\n";
    let found = sum(folder, "--check --against dir list -x /b -x *.TMP");
    assert_eq!(found, ended(0, text, ""));
    let found = sum(folder, "--check list -x b");
    assert_eq!(found, ended(0, "1 file right, 1 excluded\n", ""));
    // A check of nothing is no success.
    let found = sum(folder, "--check list -x dir");
    assert_eq!(found, ended(2, "0 files right, 2 excluded\n", ""));
    let lines = json(folder, "--check list -x b");
    let Some(Line::Summary { excluded: 1, .. }) = lines.last() else {
        panic!("{lines:?}");
    };
}

/// Damaged files of a list with a prefix are changed, not extra.
#[test]
fn a_changed_file_is_never_moved_or_extra() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("photos")).unwrap();
    for i in 0..20 {
        fs::write(folder.join(format!("photos/{i:02}")), format!("{i}")).unwrap();
    }
    let list = sum(folder, "-r photos").stdout;
    fs::write(folder.join("list"), list).unwrap();
    // Two files exchange their content, one is damaged, one has another name, and one is new.
    fs::write(folder.join("photos/03"), "4").unwrap();
    fs::write(folder.join("photos/04"), "3").unwrap();
    fs::write(folder.join("photos/05"), "damaged").unwrap();
    fs::rename(folder.join("photos/06"), folder.join("photos/new name")).unwrap();
    fs::write(folder.join("photos/unknown"), "unknown").unwrap();
    let text = "list: names are compared without photos/\n\
                changed     photos/03\nchanged     photos/04\nchanged     photos/05\n\
                extra       unknown\nmoved       photos/06 -> new name\n\
                16 files right, 3 changed, 1 moved, 1 extra\n";
    let found = sum(folder, "--check --against photos list");
    // Of a disk that rotates, files are read and reported in the order in which they lie on it.
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines.join("\n")
    };
    let found = Ended {
        stdout: sorted(&found.stdout),
        ..found
    };
    assert_eq!(found, ended(1, &sorted(text), ""));
}

/// The files of a list with full paths exist, but not in the folder.
#[test]
fn no_name_leaves_the_folder() {
    let folder = tree();
    let folder = folder.path();
    let full = folder.display();
    fs::create_dir(folder.join("empty")).unwrap();
    let list = format!(
        "{A_SHA1}  {full}/a\n\n{B_SHA1}  {full}/dir/b\n{B_SHA1}  ../dir/b\n{B_SHA1}  x/../../dir/b\n"
    );
    fs::write(folder.join("list"), list).unwrap();
    let text = format!(
        "missing     {full}/a  (list: line 1)\nmissing     {full}/dir/b  (list: line 3)\n\
         missing     ../dir/b  (list: line 4)\nmissing     x/../../dir/b  (list: line 5)\n\
         0 files right, 4 missing\n"
    );
    let found = sum(folder, "--check --against empty list");
    assert_eq!(found, ended(1, &text, ""));
    // Some names are in the folder. The others are not read.
    let list = format!("{B_SHA1}  dir/b\n{A_SHA1}  dir/sub/a\n{A_SHA1}  a\n{A_SHA1}  dir/../a\n");
    fs::write(folder.join("list"), list).unwrap();
    let text = "list: names are compared without dir/\n\
                missing     a  (list: line 3)\nmissing     dir/../a  (list: line 4)\n\
                2 files right, 2 missing\n";
    let found = sum(folder, "--check --against dir list");
    assert_eq!(found, ended(1, text, ""));
    let lines = json(folder, "--check --against dir list");
    let prefix = Line::Prefix {
        list: "list".into(),
        path: "dir".into(),
        tied: None,
    };
    assert_eq!(lines[0], prefix);
    let missing = Line::Checked {
        path: "a".into(),
        state: "missing".into(),
        found_at: None,
        line: Some(3),
    };
    assert!(lines.contains(&missing), "{lines:?}");
}

/// A copy made of symbolic links has no files.
#[test]
fn no_link_leaves_the_folder_unless_links_are_followed() {
    let folder = tree();
    let folder = folder.path();
    fs::create_dir(folder.join("copy")).unwrap();
    symlink(folder.join("dir/b"), folder.join("copy/b")).unwrap();
    symlink("../dir/sub", folder.join("copy/sub")).unwrap();
    fs::write(folder.join("copy/c"), "b").unwrap();
    symlink("c", folder.join("copy/inside")).unwrap();
    let list = format!("{B_SHA1}  b\n{A_SHA1}  sub/a\n{B_SHA1}  c\n{B_SHA1}  inside\n");
    fs::write(folder.join("list"), list).unwrap();
    let found = sum(folder, "--check --against copy list");
    let text = "unreadable  b\nunreadable  sub/a\n2 files right, 2 unreadable\n";
    let reason = "is behind a symbolic link out of the folder: use --links follow-outside";
    let errors = format!("hashlane: b: {reason}\nhashlane: sub/a: {reason}\n");
    assert_eq!(found, ended(2, text, &errors));
    let found = sum(folder, "--check --against copy --links follow-outside list");
    assert_eq!(found, ended(0, "4 files right\n", ""));
}

/// `sum -a md5,sha256` writes two lines for a file.
#[test]
fn a_moved_file_with_two_entries_is_reported_once() {
    let folder = tree();
    let folder = folder.path();
    let lists = ["-a md5,sha1", "-a md5", "-a sha1"].map(|algorithms| {
        let list = sum(folder, &format!("{algorithms} -r dir"));
        list.stdout
    });
    fs::rename(folder.join("dir/sub/a"), folder.join("dir/new")).unwrap();
    fs::remove_file(folder.join("dir/b")).unwrap();
    let [both, md5, sha1] = lists;
    let note = "list: names are compared without dir/\n";
    let text = "moved       dir/sub/a -> new\n0 files right, 1 missing, 1 moved\n";
    for list in [both, [&*md5, &*sha1].concat()] {
        // One file stays, so that the prefix is found.
        fs::write(folder.join("dir/c"), "a").unwrap();
        fs::write(folder.join("list"), format!("{list}{A_SHA1}  dir/c\n")).unwrap();
        let text = text.replace("0 files", "1 file");
        let text = format!("{note}missing     dir/b\n{text}");
        let found = sum(folder, "--check --against dir list");
        assert_eq!(found, ended(1, &text, ""), "{list}");
    }
    // In two lists, with the names below the folder.
    fs::remove_file(folder.join("dir/c")).unwrap();
    for (name, list) in [("list", &md5), ("other", &sha1)] {
        fs::write(folder.join(name), list.replace("dir/", "")).unwrap();
    }
    let found = sum(folder, "--check --against dir list other");
    let text = format!("missing     b\n{}", text.replace("dir/", ""));
    assert_eq!(found, ended(1, &text, ""));
}

/// Names cannot control the terminal, and lists hold them unchanged.
#[test]
fn hostile_names() {
    let folder = tempfile::tempdir().unwrap();
    let name = OsStr::from_bytes(b"\x1b[2J\n\xff");
    fs::write(folder.path().join(name), "a").unwrap();
    let mut command = hashlane();
    command.current_dir(folder.path()).args(["sum", "-r", "."]);
    let output = command.output().unwrap();
    assert!(output.stdout.ends_with(b"  ./\x1b[2J\\n\xff\n"));
    fs::write(folder.path().join("list"), &output.stdout).unwrap();
    fs::remove_file(folder.path().join(name)).unwrap();
    let found = sum(folder.path(), "--check list");
    let text = "missing     ./\\u{1b}[2J\\u{a}\u{fffd}\n0 files right, 1 missing\n";
    assert_eq!(found, ended(1, text, ""));
}

/// The exit status of a check does not depend on whether its output is read. Digests are only output.
#[test]
fn output_that_cannot_be_written() {
    let folder = tree();
    fs::write(folder.path().join("list"), format!("{A_SHA1}  absent\n")).unwrap();
    for (args, pipe_code, full_code) in [("--check list", 1, 2), ("a", 2, 2)] {
        for (stdout, code) in [("/dev/full", full_code), ("pipe", pipe_code)] {
            let mut command = hashlane();
            command.current_dir(folder.path()).arg("sum");
            command.args(args.split(' ')).stderr(Stdio::null());
            if stdout == "pipe" {
                let (reader, writer) = std::io::pipe().unwrap();
                drop(reader);
                command.stdout(writer);
            } else if Path::new(stdout).exists() {
                command.stdout(fs::File::create(stdout).unwrap());
            } else {
                continue;
            }
            assert_eq!(
                command.status().unwrap().code(),
                Some(code),
                "{args} {stdout}"
            );
        }
    }
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    File {
        path: String,
        length: u64,
        digests: BTreeMap<String, String>,
    },
    Checked {
        path: String,
        state: String,
        found_at: Option<String>,
        line: Option<u64>,
    },
    Prefix {
        list: String,
        path: String,
        tied: Option<Tied>,
    },
    Summary {
        right: u64,
        changed: u64,
        missing: u64,
        unreadable: u64,
        extra: u64,
        moved: u64,
        excluded: u64,
        partly: u64,
        unchecked: u64,
        other_forms: u64,
        improper_lines: u64,
    },
    Error {
        path: String,
        message: String,
    },
}

/// Another prefix with which as many names exist.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Tied {
    path: String,
}

fn json(folder: &Path, args: &str) -> Vec<Line> {
    let ended = sum(folder, &format!("--json {args}"));
    let lines = ended.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn json_lines() {
    let folder = tree();
    let lines = json(folder.path(), "-a sha1,md5 a absent");
    let digests = [("md5", A_MD5), ("sha1", A_SHA1)].map(|(a, b)| (a.into(), b.into()));
    let file = Line::File {
        path: "a".into(),
        length: 1,
        digests: digests.into(),
    };
    let error = Line::Error {
        path: "absent".into(),
        message: "No such file or directory (os error 2)".into(),
    };
    assert_eq!(lines, [file, error]);
    fs::write(
        folder.path().join("list"),
        format!("{A_SHA1}  old\n{B_SHA1}  b\n"),
    )
    .unwrap();
    let lines = json(folder.path(), "--check --against dir list");
    let checked = |path: &str, state: &str, found_at: Option<&str>| Line::Checked {
        path: path.into(),
        state: state.into(),
        found_at: found_at.map(str::to_owned),
        line: None,
    };
    let summary = Line::Summary {
        right: 1,
        changed: 0,
        missing: 0,
        unreadable: 0,
        extra: 0,
        moved: 1,
        excluded: 0,
        partly: 0,
        unchecked: 0,
        other_forms: 0,
        improper_lines: 0,
    };
    let expected = [
        checked("b", "right", None),
        checked("old", "moved", Some("sub/a")),
        summary,
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_list_leaves_out_itself_and_excluded_files() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for (name, text) in [("a", "a"), ("b.TMP", "b"), ("c/d", "d"), ("build/e", "e")] {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), text).unwrap();
    }
    let sum = |args: &[&str]| end(hashlane().current_dir(root).arg("sum").args(args));
    let args = [
        "-r",
        ".",
        "-o",
        "list",
        "-x",
        "*.tmp",
        "--exclude",
        "/build",
    ];
    let ended = sum(&args);
    assert_eq!(
        (ended.code, &*ended.stdout, &*ended.stderr),
        (Some(0), "", "")
    );
    let list = fs::read_to_string(root.join("list")).unwrap();
    let names: Vec<&str> = list.lines().map(|line| &line[66..]).collect();
    assert_eq!(names, ["./a", "./c/d"]);
    assert_eq!(sum(&["-c", "list"]).code, Some(0));
    // The list of an earlier run is neither replaced by accident nor hashed.
    let ended = sum(&args);
    let expected = "hashlane: list: exists: use --force to replace it\n";
    assert_eq!((ended.code, &*ended.stderr), (Some(2), expected));
    assert_eq!(sum(&[&args[..], &["-f"]].concat()).code, Some(0));
    assert_eq!(fs::read_to_string(root.join("list")).unwrap(), list);
    // Without -o, the list is a file like others.
    let ended = sum(&["-r", "."]);
    assert!(ended.stdout.ends_with("  ./list\n"), "{}", ended.stdout);
    // A file that is named is hashed. A list that lacks files does not get the name of a list that is complete.
    let args = ["b.TMP", "none", "-o", "other", "-x", "*.tmp"];
    let ended = sum(&args);
    let message = "hashlane: none: No such file or directory (os error 2)\n\
                   hashlane: other: not written, because not all files could be read; other.partial has the digests of the \
                   others\n";
    assert_eq!((ended.code, &*ended.stderr), (Some(2), message));
    assert!(!root.join("other").exists());
    let again = sum(&args);
    assert!(
        again
            .stderr
            .ends_with("other.partial: exists: use --force to replace it\n"),
        "{again:?}"
    );
    let list = fs::read_to_string(root.join("other.partial")).unwrap();
    assert!(
        list.ends_with("  b.TMP\n") && list.lines().count() == 1,
        "{list}"
    );
    let ended = sum(&["a", "-o", "no/list"]);
    assert_eq!((ended.code, &*ended.stdout), (Some(2), ""));
    assert!(ended.stderr.starts_with("hashlane: no/list: "), "{ended:?}");
}

/// Unequal lengths, so that lanes end at different times, and files without a byte.
#[test]
fn many_files_have_the_digests_of_md5sum() {
    let folder = tempfile::tempdir().unwrap();
    for i in 0..100_usize {
        let len = [0, 1, 55, 56, 64, 1000, 70_000, 300_001][i % 8] + i / 8;
        let bytes = (0..len).map(|at| (at * 31 + at / 977 + i) as u8);
        fs::write(folder.path().join(i.to_string()), bytes.collect::<Vec<_>>()).unwrap();
    }
    let names: Vec<String> = (0..100).map(|i| i.to_string()).collect();
    let mut md5sum = std::process::Command::new("md5sum");
    let judge = end(md5sum.current_dir(folder.path()).args(&names));
    assert_eq!((judge.code, judge.stdout.lines().count()), (Some(0), 100));
    for threads in [1, 3] {
        let args = format!("-a md5 -j {threads} {}", names.join(" "));
        assert_eq!(sum(folder.path(), &args), judge);
    }

    fs::write(folder.path().join("list"), &judge.stdout).unwrap();
    fs::write(folder.path().join("77"), "other").unwrap();
    let checked = sum(folder.path(), "--check --quiet list");
    assert_eq!(
        (checked.code, &*checked.stdout),
        (Some(1), "changed     77\n")
    );
}
