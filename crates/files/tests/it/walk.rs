//! What a walk finds, and in which order.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use hashlane_files::{Stamp, Step, Walk, WalkOrder};

/// Returns what a walk finds, except folders.
fn list(walk: Walk) -> Vec<(Vec<u8>, Step)> {
    steps(walk)
        .into_iter()
        .filter(|(_, step)| !matches!(step, Step::Folder))
        .collect()
}

fn steps(mut walk: Walk) -> Vec<(Vec<u8>, Step)> {
    let mut found = Vec::new();
    while let Some(step) = walk.step() {
        found.push((walk.path().as_os_str().as_bytes().to_vec(), step));
    }
    found
}

fn by_bytes(root: &Path) -> Walk {
    Walk::new(root).order(WalkOrder::Bytes).with_stamps()
}

#[test]
fn files_are_listed_in_the_order_of_the_bytes_of_their_paths() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let names: [&[u8]; 9] = [
        b"a", b"b-c", b"b.", b"b/a", b"b/c/d", b"b/c0", b"b0", b"\xff/x", b"\xff\n",
    ];
    for name in names {
        let path = root.join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    fs::create_dir(root.join("empty")).unwrap();
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    let found = list(by_bytes(root));
    let paths: Vec<&[u8]> = found.iter().map(|(path, _)| path.as_slice()).collect();
    assert_eq!(paths, sorted);
    for (path, step) in &found {
        let metadata = root.join(OsStr::from_bytes(path)).metadata().unwrap();
        let Step::File(Some(stamp)) = step else {
            panic!("{step:?}");
        };
        assert_eq!(*stamp, Stamp::of(&metadata));
        assert_eq!(stamp.length(), path.len() as u64);
    }
}

#[test]
fn links_and_pipes_are_named_and_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("folder")).unwrap();
    fs::write(root.join("folder/file"), "x").unwrap();
    symlink("folder", root.join("to folder")).unwrap();
    symlink("..", root.join("folder/up")).unwrap();
    let found = list(by_bytes(root));
    let kinds: Vec<(&[u8], bool)> = found
        .iter()
        .map(|(path, step)| (path.as_slice(), matches!(step, Step::File(_))))
        .collect();
    let expected: [(&[u8], bool); 3] = [
        (b"folder/file", true),
        (b"folder/up", false),
        (b"to folder", false),
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn times_before_1970_have_negative_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let file = fs::File::create(folder.path().join("old")).unwrap();
    let time = std::time::UNIX_EPOCH - std::time::Duration::from_millis(1500);
    file.set_modified(time).unwrap();
    let [(_, Step::File(Some(stamp)))] = &list(by_bytes(folder.path()))[..] else {
        panic!("one file");
    };
    assert_eq!(stamp.modified_ns(), Some(-1_500_000_000));
    assert_eq!(stamp.modified(), Some(time));
}

#[test]
fn folders_come_before_their_contents_and_can_be_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for name in ["b/c/d", "b.", "b/a", "e"] {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    let walked = |order: WalkOrder, skipped: &str| {
        let mut walk = Walk::new(root).order(order);
        let mut found = Vec::new();
        while let Some(step) = walk.step() {
            let path = walk.path().to_str().unwrap().to_owned();
            assert_eq!(walk.depth(), walk.path().iter().count(), "{path}");
            assert_eq!(walk.place(), root.join(&path));
            assert_eq!(walk.is_folder(), matches!(step, Step::Folder), "{path}");
            if path == skipped {
                walk.skip_folder();
            }
            found.push(path);
        }
        found.join(" ")
    };
    assert_eq!(walked(WalkOrder::Name, ""), "b b/a b/c b/c/d b. e");
    assert_eq!(walked(WalkOrder::Bytes, ""), "b. b b/a b/c b/c/d e");
    assert_eq!(walked(WalkOrder::Name, "b"), "b b. e");
    assert_eq!(walked(WalkOrder::Name, "b/c"), "b b/a b/c b. e");
}

#[test]
fn links_are_followed_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("a")).unwrap();
    fs::write(root.join("a/file"), "x").unwrap();
    symlink("a", root.join("b")).unwrap();
    symlink("a/file", root.join("c")).unwrap();
    symlink("nowhere", root.join("d")).unwrap();
    symlink("..", root.join("a/up")).unwrap();
    let found = steps(Walk::new(root).follow_links(true).with_stamps());
    let texts: Vec<String> = found
        .iter()
        .map(|(path, step)| {
            let path = String::from_utf8_lossy(path);
            match step {
                Step::File(Some(stamp)) => format!("{path}: {}", stamp.length()),
                Step::Folder => format!("{path}/"),
                Step::Failed(error) => format!("{path}: {error}"),
                _ => panic!("{step:?}"),
            }
        })
        .collect();
    let up = "leads back to a folder that contains the link";
    let absent = "No such file or directory (os error 2)";
    let expected = [
        "a/".to_owned(),
        "a/file: 1".to_owned(),
        "a/up/".to_owned(),
        format!("a/up: {up}"),
        "b/".to_owned(),
        "b/file: 1".to_owned(),
        "b/up/".to_owned(),
        format!("b/up: {up}"),
        "c: 1".to_owned(),
        format!("d: {absent}"),
    ];
    assert_eq!(texts, expected);
}

#[test]
fn a_root_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for root in [file, folder.path().join("absent")] {
        let mut walk = Walk::new(&root);
        assert!(matches!(walk.step(), Some(Step::Failed(_))));
        assert_eq!(walk.place(), root);
        assert!(walk.step().is_none());
    }
}

#[test]
fn own_files_are_known_in_every_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("a")).unwrap();
    fs::create_dir(root.join(".hashlane-archive.sqlite")).unwrap();
    for name in [
        "a/.hashlane-Ab1234.tmp",
        "a/b",
        ".hashlane-archive.sqlite/b",
    ] {
        fs::write(root.join(name), "").unwrap();
    }
    let found = list(Walk::new(root));
    let kinds = found.iter().map(|(_, step)| matches!(step, Step::Own(_)));
    assert_eq!(kinds.collect::<Vec<_>>(), [false, true, false]);
}
