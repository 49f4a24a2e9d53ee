//! `hashlane find --duplicates`, compared with other programs.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use hashlane_files::SourceFile;
use serde_json::{Value, json};

use crate::fixture::{can_drop_privileges, drop_privileges, end, hashlane};
use crate::not_run::{is_in_path, not_run, not_run_unless_required};
use crate::xfs::on_xfs;

/// A folder with equal and different files.
struct Tree {
    folder: tempfile::TempDir,
}

impl Tree {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tree = Self { folder };
        let large: Vec<u8> = (0..600_000_u32)
            .map(|i| (i.wrapping_mul(i) >> 7) as u8)
            .collect();
        let mut other = large.clone();
        other[300_000] ^= 1;
        for (name, bytes) in [
            ("one/large", &large[..]),
            ("two/large", &large),
            // Equal in length, and in the first and last block.
            ("two/other", &other),
            ("one/small", b"small"),
            ("two/deep/er/small", b"small"),
            ("two/small.bak", b"small"),
            ("one/sized", b"sized"),
            ("one/empty", b""),
            ("two/empty", b""),
            ("one/single", b"a length of its own"),
            ("one/odd \n name", b"odd name"),
            ("two/odd", b"odd name"),
        ] {
            let path = tree.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        fs::hard_link(tree.path("one/large"), tree.path("one/linked")).unwrap();
        fs::hard_link(tree.path("one/single"), tree.path("two/single")).unwrap();
        symlink("large", tree.path("one/symlink")).unwrap();
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn find(&self, args: &[&str]) -> Command {
        let mut command = hashlane();
        command
            .current_dir(self.folder.path())
            .args(["find", "--duplicates", "one", "two"])
            .args(args);
        command
    }

    fn inode(&self, name: &str) -> u64 {
        self.path(name).symlink_metadata().unwrap().ino()
    }
}

fn lines(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn equal_files_are_listed_with_their_names() {
    let tree = Tree::new();
    let ended = end(&mut tree.find(&[]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        ended.stdout,
        "2 files of 586 KiB
  one/large
  one/linked  the same file as one/large
  two/large
3 files of 5 bytes
  one/small
  two/deep/er/small
  two/small.bak
2 files of 8 bytes
  one/odd \\u{a} name
  two/odd
14 files seen, 4 duplicates (586 KiB) in 3 groups, 2.09 MiB hashed
"
    );
    let ended = end(&mut tree.find(&["--empty", "-q"]));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    let ended = end(&mut tree.find(&["--empty"]));
    assert!(
        ended
            .stdout
            .contains("2 files of 0 bytes\n  one/empty\n  two/empty\n14 files seen"),
        "{}",
        ended.stdout
    );
}

#[test]
fn groups_are_json_lines() {
    let tree = Tree::new();
    let ended = end(&mut tree.find(&["--json"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let name = |path: &str| json!({ "path": path });
    assert_eq!(
        lines(&ended.stdout),
        [
            json!({
                "type": "duplicates",
                "length": 600_000,
                "files": [
                    { "names": [name("one/large"), name("one/linked")] },
                    { "names": [name("two/large")] },
                ],
            }),
            json!({
                "type": "duplicates",
                "length": 5,
                "files": [
                    { "names": [name("one/small")] },
                    { "names": [name("two/deep/er/small")] },
                    { "names": [name("two/small.bak")] },
                ],
            }),
            json!({
                "type": "duplicates",
                "length": 8,
                "files": [
                    { "names": [name("one/odd \n name")] },
                    { "names": [name("two/odd")] },
                ],
            }),
            json!({
                "type": "duplicates_summary",
                "files_seen": 14,
                "groups": 3,
                "duplicates": 4,
                "duplicate_bytes": 600_018,
                // Both blocks of three files and all of two, and six small files.
                "hashed_bytes": 3 * 131_072 + 3 * 600_000 + 4 * 5 + 2 * 8,
            }),
        ]
    );
}

#[test]
fn duplicates_become_names_of_the_first_file() {
    let tree = Tree::new();
    let ended = end(&mut tree.find(&["--link", "hardlink"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(
        ended
            .stdout
            .ends_with("4 duplicates (586 KiB) in 3 groups, 4 linked, 2.09 MiB hashed\n"),
        "{}",
        ended.stdout
    );
    for (first, names) in [
        ("one/large", &["one/linked", "two/large"][..]),
        ("one/small", &["two/deep/er/small", "two/small.bak"]),
        ("one/odd \n name", &["two/odd"]),
    ] {
        for name in names {
            assert_eq!(tree.inode(first), tree.inode(name), "{name}");
        }
    }
    assert_ne!(tree.inode("one/large"), tree.inode("two/other"));
    assert_ne!(tree.inode("one/empty"), tree.inode("two/empty"));
    assert!(
        tree.path("one/symlink")
            .symlink_metadata()
            .unwrap()
            .is_symlink()
    );
    assert_eq!(fs::read_dir(tree.path("two")).unwrap().count(), 7);
    // Nothing is left to do.
    let ended = end(&mut tree.find(&["--link", "hardlink", "--json"]));
    assert_eq!(ended.code, Some(0));
    let lines = lines(&ended.stdout);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(
        (&lines[0]["duplicates"], &lines[0]["linked"]),
        (&json!(0), &Value::Null)
    );
}

/// A killed run leaves the second name of a file, or the only name of one that was replaced.
#[test]
fn what_an_interrupted_run_left_is_named() {
    let tree = Tree::new();
    let (second, only) = (
        tree.path("two/.hashlane-link-000001.tmp"),
        tree.path("two/.hashlane-link-000002.tmp"),
    );
    fs::hard_link(tree.path("one/large"), &second).unwrap();
    fs::write(&only, "small").unwrap();
    let name_of = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let left = ": left by an interrupted --link hardlink; ";
    let ended = end(&mut tree.find(&[]));
    for path in [&second, &only] {
        let line = format!("{}{left}with --link, ", name_of(path));
        assert!(ended.stderr.contains(&line), "{}", ended.stderr);
        assert!(!ended.stdout.contains(&name_of(path)), "{}", ended.stdout);
    }
    let ended = end(&mut tree.find(&["--link", "hardlink"]));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let line = format!("{}{left}it is the only name", name_of(&only));
    assert!(ended.stderr.contains(&line), "{}", ended.stderr);
    assert!(
        !ended.stderr.contains(&name_of(&second)),
        "{}",
        ended.stderr
    );
    assert!(only.exists() && !second.exists());
}

#[test]
fn a_duplicate_with_other_permissions_is_not_linked() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = Tree::new();
    fs::set_permissions(tree.path("two/large"), fs::Permissions::from_mode(0o600)).unwrap();
    let ended = end(&mut tree.find(&["--link", "hardlink", "--json"]));
    assert_eq!(ended.code, Some(2));
    let reason = "its owner, group or permissions differ from those of one/large";
    assert_eq!(
        ended.stderr,
        format!("hashlane: two/large: not linked: {reason}\n")
    );
    let expected =
        json!({ "type": "link", "path": "two/large", "linked": false, "message": reason });
    assert!(lines(&ended.stdout).contains(&expected), "{}", ended.stdout);
    assert_ne!(tree.inode("one/large"), tree.inode("two/large"));
    assert_eq!(tree.inode("one/small"), tree.inode("two/small.bak"));
}

#[test]
fn links_are_never_made_without_a_kind_that_can_replace_files() {
    let tree = Tree::new();
    let before = tree.inode("two/large");
    for (args, message) in [
        (
            &["--link", "symlink"][..],
            "--link symlink: a duplicate is not replaced",
        ),
        (&["--link", "hardlink", "--to", "x"], "cannot be used with"),
        (&["--in", "one"], "cannot be used with"),
        (&["--full"], "cannot be used with"),
    ] {
        let ended = end(&mut tree.find(args));
        assert_eq!(ended.code, Some(2), "{args:?}");
        assert!(ended.stderr.contains(message), "{args:?}: {}", ended.stderr);
    }
    assert_eq!(tree.inode("two/large"), before);
    let ended = end(hashlane().args(["find", "a.torrent", "--in", "x", "--empty"]));
    assert_eq!(ended.code, Some(2));
    let ended = end(hashlane().args(["find", "a.torrent", "--in", "x", "--link", "hardlink"]));
    assert!(ended.stderr.contains("--to"), "{}", ended.stderr);
}

#[test]
fn what_cannot_be_read_is_an_error() {
    use std::os::unix::fs::PermissionsExt as _;
    if !can_drop_privileges() {
        return;
    }
    let tree = Tree::new();
    fs::set_permissions(tree.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(tree.path("two/large"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(tree.path("two/deep"), fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = tree.find(&["--json"]);
    drop_privileges(&mut command);
    let ended = end(&mut command);
    assert_eq!(ended.code, Some(2));
    assert_eq!(
        ended.stderr,
        "hashlane: two/deep: Permission denied (os error 13)
hashlane: two/large: Permission denied (os error 13)\n"
    );
    let lines = lines(&ended.stdout);
    let errors: Vec<_> = lines
        .iter()
        .filter(|line| line["type"] == "error")
        .collect();
    assert_eq!(errors[0]["path"], "two/deep");
    assert_eq!(errors[1]["path"], "two/large");
    assert_eq!(lines.last().unwrap()["duplicates"], 2);
    fs::set_permissions(tree.path("two/deep"), fs::Permissions::from_mode(0o755)).unwrap();
    let missing = end(hashlane().args(["find", "--duplicates", "/nowhere/at/all"]));
    assert_eq!(missing.code, Some(2));
    assert!(
        missing.stderr.starts_with("hashlane: /nowhere/at/all: "),
        "{}",
        missing.stderr
    );
}

/// Groups of paths, each with the names of a file that the other program would list.
type Sets = BTreeSet<BTreeSet<PathBuf>>;

/// Returns the groups of a program. Reports one that is not installed.
fn groups_of(program: &str, how: &str, run: impl FnOnce() -> Sets) -> Option<Sets> {
    if is_in_path(program) {
        return Some(run());
    }
    let what = format!("the comparison with {program}");
    not_run_unless_required(&program.to_uppercase(), &what, "it is not installed", how);
    None
}

/// Splits lines into groups at empty lines.
fn blocks(text: &str) -> Sets {
    let blocks = text.split("\n\n").map(|block| {
        let lines = block.lines().filter(|line| !line.is_empty());
        lines.map(PathBuf::from).collect::<BTreeSet<_>>()
    });
    blocks.filter(|block| !block.is_empty()).collect()
}

/// A tree without line feeds in names and without second names of files, which the programs treat differently.
fn plain_tree(root: &Path) {
    let mut state = 1_u64;
    let mut next = |n: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for number in 0..300 {
        let folder = root.join(format!("d{}", next(7)));
        fs::create_dir_all(&folder).unwrap();
        let len_bytes = [3, 4096, 16384, 32768, 40_000, 300_000][next(6) as usize];
        let mut bytes = vec![b'x'; len_bytes];
        if next(2) == 0 {
            let place = next(len_bytes as u64) as usize;
            bytes[place] = b'0' + next(3) as u8;
        }
        fs::write(folder.join(format!("f{number}")), bytes).unwrap();
    }
}

#[test]
fn other_programs_find_the_same_groups() {
    let root = tempfile::tempdir().unwrap();
    plain_tree(root.path());
    let ended = end(hashlane()
        .args(["find", "--json", "--duplicates"])
        .arg(root.path()));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let groups = lines(&ended.stdout);
    let groups = groups.iter().filter(|line| line["type"] == "duplicates");
    let ours: Sets = groups
        .map(|group| {
            let files = group["files"].as_array().unwrap().iter();
            files
                .map(|file| PathBuf::from(file["names"][0]["path"].as_str().unwrap()))
                .collect()
        })
        .collect();
    assert!(ours.len() > 5, "{ours:?}");
    let output = |command: &mut Command| end(command).stdout;
    let theirs = groups_of("jdupes", "apt-get install jdupes", || {
        blocks(&output(
            Command::new("jdupes").args(["-r", "-q"]).arg(root.path()),
        ))
    });
    assert!(theirs.is_none_or(|theirs| theirs == ours), "jdupes");
    let theirs = groups_of("fclones", "cargo install fclones", || {
        let mut command = Command::new("fclones");
        // The name of the temporary folder begins with a dot.
        let args = ["group", "--hidden", "-f", "json"];
        let text = output(command.args(args).arg(root.path()));
        let report: Value = serde_json::from_str(&text).unwrap();
        let groups = report["groups"].as_array().unwrap().iter();
        let files = |group: &Value| {
            let files = group["files"].as_array().unwrap().iter();
            files
                .map(|file| PathBuf::from(file.as_str().unwrap()))
                .collect()
        };
        groups.map(files).collect()
    });
    assert!(theirs.is_none_or(|theirs| theirs == ours), "fclones");
    let theirs = groups_of("rmlint", "apt-get install rmlint", || {
        let mut command = Command::new("rmlint");
        let text = output(command.args(["-T", "df", "-o", "json"]).arg(root.path()));
        let report: Value = serde_json::from_str(&text).unwrap();
        let mut by_checksum = std::collections::BTreeMap::<String, BTreeSet<PathBuf>>::new();
        for file in report.as_array().unwrap() {
            if file["type"] == "duplicate_file" {
                let group = by_checksum.entry(format!("{} {}", file["size"], file["checksum"]));
                group
                    .or_default()
                    .insert(file["path"].as_str().unwrap().into());
            }
        }
        by_checksum.into_values().collect()
    });
    assert!(theirs.is_none_or(|theirs| theirs == ours), "rmlint");
}

/// Clones need a file system that can share bytes.
#[test]
fn clones_share_their_bytes() {
    on_xfs(|disk| {
        let bytes = vec![3; 20 << 20];
        let mark_of = |name: &str| SourceFile::open(&disk.join(name)).unwrap().mark();
        for name in ["a", "b"] {
            fs::write(disk.join(name), &bytes).unwrap();
            let file = SourceFile::open(&disk.join(name)).unwrap();
            file.set_mark(name.as_bytes()).unwrap();
        }
        end(Command::new("sync").arg("-f").arg(disk));
        let used = || {
            let stat = end(Command::new("stat").args(["-f", "-c", "%f"]).arg(disk));
            stat.stdout.trim().parse::<u64>().unwrap()
        };
        let before = used();
        let ended = end(hashlane()
            .args(["find", "--link", "reflink", "--duplicates"])
            .arg(disk));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.stdout.contains("1 linked"), "{}", ended.stdout);
        end(Command::new("sync").arg("-f").arg(disk));
        // Blocks of 4 KiB.
        assert!(used() >= before + (19 << 8), "{before}, {}", used());
        for name in ["a", "b"] {
            assert!(fs::read(disk.join(name)).unwrap() == bytes);
            // Each file keeps its extended attributes.
            assert_eq!(mark_of(name).as_deref(), Some(name.as_bytes()));
        }
    });
}

#[test]
fn a_file_system_that_cannot_share_bytes_is_named() {
    let tree = Tree::new();
    let ended = end(&mut tree.find(&["--link", "reflink"]));
    if ended.code == Some(0) {
        return not_run(
            "a file system that cannot share bytes",
            "that of temporary files can",
            "set TMPDIR to a folder on ext4 or tmpfs",
        );
    }
    assert_eq!(ended.code, Some(2));
    let has_line = |reason: &str| {
        let line = format!("hashlane: two/large: not linked: {reason}\n");
        ended.stderr.contains(&line)
    };
    assert!(
        has_line("the file system cannot share bytes between files")
            || has_line("bytes cannot be shared between files on this system"),
        "{}",
        ended.stderr
    );
    assert_ne!(tree.inode("one/large"), tree.inode("two/large"));
}
