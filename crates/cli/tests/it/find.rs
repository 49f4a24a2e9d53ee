//! `hashlane find`: content under other names.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

#[cfg(unix)]
use crate::fixture::{can_drop_privileges, drop_privileges};
use crate::fixture::{demo, end, hashlane};
use crate::import::copy;

/// The files of the demo's torrent, in its order, and the names under which the tests store them.
const NAMES: [(&str, &str); 3] = [
    ("lincoln/1862_abraham_lincoln_r.txt", "a/third.txt"),
    ("lincoln/1861_abraham_lincoln_r.txt", "b/first"),
    ("lincoln/1864_abraham_lincoln_r.txt", "second.bak"),
];

/// A folder `disk` with the content of the demo, the files of `NAMES` under their other names.
struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let good = demo().join("good/union-addresses");
        for (number, path) in files_below(&good).into_iter().enumerate() {
            let other = NAMES.iter().find(|(name, _)| Path::new(name) == path);
            let name =
                other.map_or_else(|| format!("rest/{number}"), |(_, name)| (*name).to_owned());
            let to = folder.path().join("disk").join(name);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(good.join(path), to).unwrap();
        }
        fs::copy(
            demo().join("union-addresses.torrent"),
            folder.path().join("t.torrent"),
        )
        .unwrap();
        Self { folder }
    }

    fn find(&self, args: &[&str]) -> Command {
        let mut command = hashlane();
        command
            .current_dir(self.folder.path())
            .args(["find", "t.torrent", "--in", "disk"])
            .args(args);
        command
    }
}

/// Returns the paths of the files below a folder, relative to it, in order.
fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let name = path.file_name().unwrap().to_owned();
            found.extend(
                files_below(&path)
                    .into_iter()
                    .map(|below| Path::new(&name).join(below)),
            );
        } else {
            found.push(path.file_name().unwrap().into());
        }
    }
    found.sort();
    found
}

#[test]
fn renamed_content_is_found() {
    let disk = Disk::new();
    fs::write(disk.folder.path().join("disk/unrelated"), "x").unwrap();
    let ended = end(&mut disk.find(&[]));
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(0), ""),
        "{}",
        ended.stdout
    );
    assert!(
        ended
            .stdout
            .starts_with("t.torrent  identified  8 of 8 files, "),
        "{}",
        ended.stdout
    );
    for (name, other) in NAMES {
        assert!(
            ended
                .stdout
                .contains(&format!("\n  {name}  is disk/{other}\n")),
            "{}",
            ended.stdout
        );
    }
    assert!(
        ended
            .stdout
            .contains("\n9 files seen, 8 files of a wanted length, "),
        "{}",
        ended.stdout
    );
    let full = end(&mut disk.find(&["--full"]));
    assert_eq!(
        (full.code, full.stderr.as_str()),
        (Some(0), ""),
        "{}",
        full.stdout
    );
    assert!(
        full.stdout
            .starts_with("t.torrent  complete  8 of 8 files\n"),
        "{}",
        full.stdout
    );
}

#[test]
fn content_with_the_names_of_the_torrent_needs_only_its_folder() {
    let disk = Disk::new();
    let root = disk.folder.path();
    fs::rename(root.join("disk"), root.join("renamed")).unwrap();
    let good = demo().join("good/union-addresses");
    copy(&good, &root.join("disk/any name"));
    let ended = end(&mut disk.find(&[]));
    assert_eq!(ended.code, Some(0));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", ended.stdout);
    assert_eq!(
        lines[1],
        "  all at disk/any name: use --content disk/any name"
    );
    let verified = end(hashlane().current_dir(root).args([
        "verify",
        "t.torrent",
        "--content",
        "disk/any name",
    ]));
    assert_eq!(verified.code, Some(0));
}

#[test]
fn damage_is_found_only_by_a_full_check() {
    let disk = Disk::new();
    let path = disk.folder.path().join("disk").join(NAMES[0].1);
    let mut bytes = fs::read(&path).unwrap();
    // The first byte lies in a piece that is not compared: the middle one identifies the file.
    bytes[0] ^= 1;
    fs::write(&path, bytes).unwrap();
    let ended = end(&mut disk.find(&["--full"]));
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(
        ended
            .stdout
            .starts_with("t.torrent  incomplete, 19 of 20 pieces right"),
        "{}",
        ended.stdout
    );
    let damaged = format!(
        "\n  {}  is damaged: disk/{}, 3 of 4 pieces right\n",
        NAMES[0].0, NAMES[0].1
    );
    assert!(ended.stdout.contains(&damaged), "{}", ended.stdout);
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    use std::os::unix::fs::PermissionsExt as _;
    if !can_drop_privileges() {
        return;
    }
    let disk = Disk::new();
    let root = disk.folder.path();
    fs::set_permissions(root, fs::Permissions::from_mode(0o755)).unwrap();
    let path = root.join("disk").join(NAMES[0].1);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = disk.find(&[]);
    drop_privileges(&mut command);
    let ended = end(&mut command);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    let error = format!("hashlane: disk/{}: Permission denied", NAMES[0].1);
    assert!(ended.stderr.starts_with(&error), "{}", ended.stderr);
    let undecided = format!(
        "\n  {}  undecided: a file of its length cannot be read\n",
        NAMES[0].0
    );
    assert!(ended.stdout.contains(&undecided), "{}", ended.stdout);
}

#[cfg(unix)]
#[test]
fn links_of_a_torrent_do_not_make_it_incomplete() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("disk/content")).unwrap();
    fs::write(root.join("disk/content/a"), "some bytes").unwrap();
    std::os::unix::fs::symlink("a", root.join("disk/content/alias")).unwrap();
    let created =
        end(hashlane()
            .current_dir(root)
            .args(["create", "disk/content", "-o", "t.torrent"]));
    assert_eq!(created.code, Some(0), "{}", created.stderr);
    let find = ["find", "t.torrent", "--in", "disk", "--full"];
    let ended = end(hashlane().current_dir(root).args(find));
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
}

#[test]
fn a_lost_file_is_named_and_the_status_is_1() {
    let disk = Disk::new();
    fs::remove_file(disk.folder.path().join("disk").join(NAMES[0].1)).unwrap();
    let ended = end(&mut disk.find(&[]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    assert!(
        ended.stdout.starts_with("t.torrent  found in part  "),
        "{}",
        ended.stdout
    );
    let expected = format!("\n  {}  missing: no file has its length\n", NAMES[0].0);
    assert!(ended.stdout.contains(&expected), "{}", ended.stdout);
}

#[test]
fn json_lines_have_the_documented_fields() {
    let disk = Disk::new();
    let ended = end(&mut disk.find(&["--json", "--full"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of_type = |name: &str| {
        lines
            .iter()
            .filter(|line| line["type"] == name)
            .cloned()
            .collect::<Vec<Value>>()
    };
    let [torrent] = &of_type("torrent")[..] else {
        panic!("{}", ended.stdout);
    };
    let mut torrent = torrent.clone();
    assert!(torrent["right_pieces"].as_u64().unwrap() >= 4);
    torrent["right_pieces"] = json!(4);
    let expected = json!({
        "type": "torrent", "torrent": "t.torrent", "name": "union-addresses",
        "info_hash_v1": "3ff6fe577e89feeb7c20674a06744c2f30efcd5f", "info_hash_v2": null,
        "identified": true, "complete": true, "content": null, "right_pieces": 4, "pieces": 20, "missing_bytes": 0,
        "needed_bytes": 0,
    });
    assert_eq!(torrent, expected);
    let files = of_type("file");
    assert_eq!(files.len(), 8);
    let file = files
        .iter()
        .find(|file| file["path"] == NAMES[0].0)
        .unwrap();
    let expected = json!({
        "type": "file", "torrent": "t.torrent", "index": file["index"], "path": NAMES[0].0, "length": 49_866,
        "state": "identified", "found_at": format!("disk/{}", NAMES[0].1), "copies": [], "right_pieces": null,
        "checked_pieces": null, "reason": null, "neighbour": null,
    });
    assert_eq!(*file, expected);
    let [summary] = &of_type("summary")[..] else {
        panic!("{}", ended.stdout);
    };
    let keys: Vec<&String> = summary.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "candidates",
            "files_seen",
            "hashed_bytes",
            "hashed_pieces",
            "shared_files",
            "type"
        ]
    );
}

#[cfg(unix)]
#[test]
fn links_make_a_folder_that_verifies() {
    let disk = Disk::new();
    let root = disk.folder.path();
    for kind in ["symlink", "hardlink"] {
        let ended = end(&mut disk.find(&["--link", kind, "--to", kind]));
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{}",
            ended.stdout
        );
        assert!(
            ended
                .stdout
                .contains(&format!("\n  8 names made below {kind}\n")),
            "{}",
            ended.stdout
        );
        let verified = end(hashlane()
            .current_dir(root)
            .args(["verify", "t.torrent", "-d", kind]));
        assert_eq!(verified.code, Some(0), "{}", verified.stdout);
    }
    // What is there stays, and is named.
    let taken = root.join("symlink/union-addresses").join(NAMES[0].0);
    fs::remove_file(&taken).unwrap();
    fs::write(&taken, "mine").unwrap();
    let ended = end(&mut disk.find(&["--link", "symlink", "--to", "symlink"]));
    assert_eq!(ended.code, Some(2));
    assert!(
        ended
            .stdout
            .contains("\n  0 names made below symlink, 7 already there\n"),
        "{}",
        ended.stdout
    );
    assert!(
        ended
            .stderr
            .contains(&format!("{}: not linked: ", NAMES[0].0)),
        "{}",
        ended.stderr
    );
    assert_eq!(fs::read(&taken).unwrap(), b"mine");
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let disk = Disk::new();
    let ended = end(hashlane().current_dir(disk.folder.path()).args([
        "find",
        "t.torrent",
        "--in",
        "absent",
    ]));
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.starts_with("hashlane: absent: "),
        "{}",
        ended.stderr
    );
    // It has a JSON line, and the other folders are searched.
    let ended = end(&mut disk.find(&["--in", "absent", "--json"]));
    assert_eq!(ended.code, Some(2));
    let first: Value = serde_json::from_str(ended.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["type"], &first["torrent"]),
        (&json!("error"), &json!("absent"))
    );
    assert!(
        ended.stdout.contains("\"identified\":true"),
        "{}",
        ended.stdout
    );
    fs::write(disk.folder.path().join("bad.torrent"), "d").unwrap();
    let ended = end(&mut disk.find(&["bad.torrent"]));
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.starts_with("hashlane: bad.torrent: "),
        "{}",
        ended.stderr
    );
    // The other torrent is searched.
    assert!(
        ended.stdout.starts_with("t.torrent  identified"),
        "{}",
        ended.stdout
    );
}

#[test]
fn a_saved_map_verifies_content_where_it_lies() {
    let disk = Disk::new();
    let root = disk.folder.path();
    fs::write(root.join("disk/unrelated"), "x").unwrap();
    assert_eq!(end(&mut disk.find(&["--save", "map", "-q"])).code, Some(0));
    let verify = || {
        end(hashlane()
            .current_dir(root)
            .args(["verify", "t.torrent", "--content-map", "map"]))
    };
    let verified = verify();
    assert_eq!(
        (verified.code, verified.stderr.as_str()),
        (Some(0), ""),
        "{}",
        verified.stdout
    );
    assert!(
        verified.stdout.starts_with("complete "),
        "{}",
        verified.stdout
    );
    // Without its line, a file is where the torrent says.
    let map = fs::read_to_string(root.join("map")).unwrap();
    let lines: Vec<&str> = map
        .lines()
        .filter(|line| !line.contains(NAMES[0].1))
        .collect();
    assert_eq!(lines.len(), 9, "{map}");
    fs::write(root.join("map"), lines.join("\n") + "\n").unwrap();
    let verified = verify();
    assert_eq!(verified.code, Some(1));
    assert!(verified.stdout.contains(NAMES[0].0), "{}", verified.stdout);
    let own = root.join("union-addresses").join(NAMES[0].0);
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::copy(root.join("disk").join(NAMES[0].1), own).unwrap();
    assert_eq!(verify().code, Some(0));
    // A map that is damaged or of another torrent is named with the place.
    fs::write(root.join("map"), "hashlane content map 1\nfile\n").unwrap();
    let verified = verify();
    assert_eq!(verified.code, Some(2));
    assert!(
        verified
            .stderr
            .starts_with("hashlane: map: line 2: is neither"),
        "{}",
        verified.stderr
    );
    fs::write(root.join("map"), "hashlane content map 1\n").unwrap();
    let verified = verify();
    assert_eq!(verified.code, Some(2));
    let problem =
        "t.torrent: map: has no files of the torrent 3ff6fe577e89feeb7c20674a06744c2f30efcd5f";
    assert!(verified.stderr.contains(problem), "{}", verified.stderr);
}

#[test]
fn a_map_replaces_no_content() {
    let disk = Disk::new();
    let root = disk.folder.path();
    assert_eq!(end(&mut disk.find(&["--save", "map", "-q"])).code, Some(0));
    // An existing map is only replaced by force, and a file that was found never.
    let ended = end(&mut disk.find(&["--save", "map"]));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("map: "), "{}", ended.stderr);
    assert_eq!(end(&mut disk.find(&["--save", "map", "-f"])).code, Some(0));
    let taken = root.join("disk").join(NAMES[0].1);
    let before = fs::read(&taken).unwrap();
    let ended = end(&mut disk.find(&["--save", taken.to_str().unwrap(), "-f"]));
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("refusing to overwrite"),
        "{}",
        ended.stderr
    );
    assert!(fs::read(&taken).unwrap() == before);
    // The bits of the present pieces do not replace content either.
    let mut command = hashlane();
    command.current_dir(root).args([
        "verify",
        "t.torrent",
        "--content-map",
        "map",
        "-f",
        "--bitfield",
    ]);
    let ended = end(command.arg(&taken));
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(fs::read(&taken).unwrap() == before);
}

#[test]
fn damaged_copies_are_merged() {
    let disk = Disk::new();
    let root = disk.folder.path();
    let (name, whole) = (NAMES[0].0, root.join("disk").join(NAMES[0].1));
    let bytes = fs::read(&whole).unwrap();
    let damaged = |place: usize| {
        let mut bytes = bytes.clone();
        bytes[place] ^= 1;
        bytes
    };
    let copies = [damaged(10), damaged(bytes.len() - 10)];
    fs::write(&whole, &copies[0]).unwrap();
    fs::write(root.join("disk/copy"), &copies[1]).unwrap();
    let full = end(&mut disk.find(&["--full"]));
    assert_eq!(full.code, Some(1), "{}", full.stdout);
    let merged = end(&mut disk.find(&["--merge", "--to", "new", "--json"]));
    assert_eq!(
        (merged.code, merged.stderr.as_str()),
        (Some(0), ""),
        "{}",
        merged.stdout
    );
    let new = root.join("new/union-addresses").join(name);
    assert!(fs::read(&new).unwrap() == bytes);
    assert!(fs::read(&whole).unwrap() == copies[0]);
    assert!(fs::read(root.join("disk/copy")).unwrap() == copies[1]);
    let lines = merged
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    assert_eq!(
        (&lines[0]["type"], &lines[0]["complete"]),
        (&json!("torrent"), &json!(true))
    );
    let file = lines.iter().find(|line| line["path"] == name).unwrap();
    assert_eq!(file["merged_from"].as_array().unwrap().len(), 2, "{file}");
    assert_eq!(file["unproven_bytes"], 0);
    assert!(file["found_at"].as_str().unwrap().ends_with(name), "{file}");
    // What has the name stays, and is an error.
    fs::write(&new, "mine").unwrap();
    let again = end(&mut disk.find(&["--merge", "--to", "new"]));
    assert_eq!(again.code, Some(2), "{}", again.stdout);
    assert!(
        again.stderr.contains(&format!("{name}: not merged: ")),
        "{}",
        again.stderr
    );
    assert_eq!(fs::read(&new).unwrap(), b"mine");
    // One whole copy is used without a new file.
    fs::write(root.join("disk/zz"), &bytes).unwrap();
    let full = end(&mut disk.find(&["--merge", "--to", "other"]));
    assert_eq!(
        (full.code, full.stderr.as_str()),
        (Some(0), ""),
        "{}",
        full.stdout
    );
    assert!(
        full.stdout.contains(&format!("{name}  is disk/zz")),
        "{}",
        full.stdout
    );
    assert!(!root.join("other").exists());
}

/// Checks torrents in folders, all at once, and prints `True` or `False` for each.
const LIBTORRENT: &str = "
import sys, time, libtorrent as lt
session = lt.session({'listen_interfaces': '', 'enable_dht': False, 'enable_lsd': False, 'enable_upnp': False, 'enable_natpmp': False})
pairs = [line.split('\\t') for line in sys.argv[1:]]
handles = [session.add_torrent({'ti': lt.torrent_info(t), 'save_path': folder}) for t, folder in pairs]
checking = lt.torrent_status.states.checking_files, lt.torrent_status.states.checking_resume_data
while any(handle.status().state in checking for handle in handles):
    time.sleep(0.1)
for handle in handles:
    print(handle.status().is_seeding)
";

/// Writes files below `content`, and below `disk` under other names. Returns `false` if one of the latter is damaged.
#[cfg(unix)]
fn write_tree(root: &Path, tree: u64, random: &mut impl FnMut(u64) -> u64) -> bool {
    let n_files = 2 + random(8);
    let damaged = random(3 * n_files);
    // Files of equal length, each under the other's name of the torrent.
    let swaps = random(2) == 0;
    let pair: [Vec<u8>; 2] =
        std::array::from_fn(|_| (0..40_000).map(|_| random(256) as u8).collect());
    for (file, other) in [(0, 1), (1, 0)] {
        let name = format!("content/swapped/{file}");
        let place = if swaps { other } else { file };
        for path in [name, format!("disk/swapped/{place}")] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &pair[file]).unwrap();
        }
    }
    for file in 0..n_files {
        let len = [700, 40_000, 1 + random(2000), 1 + random(100_000)][random(4) as usize];
        let mut bytes: Vec<u8> = (0..len).map(|_| random(256) as u8).collect();
        let name = format!("content/{}/{file}", file % 2);
        let other = format!("disk/{}/{}", random(3), 100 + (file * 7 + tree) % 50);
        for (path, is_other) in [(name, false), (other, true)] {
            if is_other && file == damaged {
                bytes[0] ^= 1;
            }
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &bytes).unwrap();
        }
    }
    damaged >= n_files
}

/// What `find --full --link` calls complete, and nothing else, is complete for libtorrent, and for `verify` by the content map.
/// `HASHLANE_TEST_FIND=300` sets the number of trees.
#[cfg(unix)]
#[test]
fn libtorrent_agrees_about_what_was_found() {
    let python = |args: &[String]| {
        let mut command = Command::new("python3");
        command.args(["-W", "ignore", "-c"]).args(args);
        end(&mut command)
    };
    if !crate::not_run::has_python_module("LIBTORRENT", "libtorrent", "libtorrent") {
        return;
    }
    let n_trees = std::env::var("HASHLANE_TEST_FIND").map_or(15, |n| n.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut args = vec![LIBTORRENT.to_owned()];
    let (mut ours, mut by_map) = (Vec::new(), Vec::new());
    for tree in 0..n_trees {
        let root = folder.path().join(tree.to_string());
        let is_whole = write_tree(&root, tree, &mut random);
        let format = ["v1", "v2", "hybrid"][tree as usize % 3];
        let run = |words: &str| end(hashlane().current_dir(&root).args(words.split(' ')));
        let create = format!("create content -l 16KiB -o t.torrent --format {format}");
        let created = run(&create);
        assert_eq!(created.code, Some(0), "{}", created.stderr);
        let link = "--link hardlink --to links --save map";
        let found = run(&format!("find t.torrent --in disk --full --json {link}"));
        let line: Value = serde_json::from_str(found.stdout.lines().next().unwrap()).unwrap();
        let is_complete = line["complete"].as_bool().unwrap() && line["identified"] == true;
        assert!(is_complete || !is_whole, "tree {tree}: {}", found.stdout);
        ours.push(is_complete);
        let verified = run("verify t.torrent -d disk --content-map map");
        by_map.push(verified.code == Some(0));
        args.push(format!("{0}/t.torrent\t{0}/links", root.display()));
    }
    let ended = python(&args);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let theirs: Vec<bool> = ended.stdout.lines().map(|line| line == "True").collect();
    assert_eq!(theirs, ours);
    assert_eq!(theirs, by_map);
    assert!(ours.contains(&true) && ours.contains(&false), "both happen");
}

/// A later search reads only what has changed, and a damaged table is refused and kept.
#[cfg(unix)]
#[test]
fn a_table_of_roots_is_kept_between_searches() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for (name, bytes) in [("one", vec![1; 40_000]), ("two", vec![2; 50_000])] {
        fs::create_dir_all(root.join(name)).unwrap();
        fs::create_dir_all(root.join("disk")).unwrap();
        fs::write(root.join(name).join("a"), &bytes).unwrap();
        fs::write(root.join("disk").join(format!("{name} (1)")), &bytes).unwrap();
        let output = format!("{name}.torrent");
        let created = [
            "create", name, "--format", "v2", "-l", "16KiB", "-o", &output,
        ];
        assert_eq!(
            end(hashlane().current_dir(root).args(created)).code,
            Some(0)
        );
    }
    let find = |name: &str, args: &[&str]| {
        let torrent = format!("{name}.torrent");
        let args = [
            &["find", &torrent, "--in", "disk", "--table", "disk/table"],
            args,
        ]
        .concat();
        end(hashlane().current_dir(root).args(args))
    };
    let ended = find("one", &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    for line in [
        "disk/table: roots of 2 files, 2 files (87.9 KiB) hashed now\n",
        "one.torrent  identified  1 of 1 file",
        "1 file of a wanted length, 0 pieces (0 bytes) hashed\n",
    ] {
        assert!(ended.stdout.contains(line), "{line}: {}", ended.stdout);
    }
    // Another torrent, and nothing is read.
    let before = fs::read(root.join("disk/table")).unwrap();
    let ended = find("two", &["--json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(
        ended.stdout.contains("\"identified\":true"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("\"hashed_bytes\":0"),
        "{}",
        ended.stdout
    );
    assert!(fs::read(root.join("disk/table")).unwrap() == before);
    // A file with another stamp is read again.
    fs::write(root.join("disk/two (1)"), vec![3; 50_000]).unwrap();
    let ended = find("two", &[]);
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    let line = "roots of 2 files, 1 file (48.8 KiB) hashed now\n";
    assert!(ended.stdout.contains(line), "{}", ended.stdout);
    // What is no table, or damaged, stays as it is.
    let mut damaged = fs::read(root.join("disk/table")).unwrap();
    damaged[100] ^= 1;
    for (bytes, problem) in [
        (
            &damaged[..],
            "is damaged or cut off: its digest is wrong; name another file",
        ),
        (b"a letter", "is not a table of roots; name another file"),
    ] {
        fs::write(root.join("disk/table"), bytes).unwrap();
        let ended = find("one", &[]);
        assert_eq!(ended.code, Some(2), "{}", ended.stdout);
        let error = format!("hashlane: disk/table: {problem}");
        assert!(ended.stderr.starts_with(&error), "{}", ended.stderr);
        assert!(fs::read(root.join("disk/table")).unwrap() == bytes);
    }
}
