//! The files and links that a source tree contains.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use hashlane_verify::{
    Candidate, Choice, FileOrder, LeftOut, Links, Selection, SourceTree, SourceTreeError, WalkError,
};

use crate::create::everything;

/// Creates a folder `content` with these files, inside a temporary folder.
fn folder(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for path in files {
        let place = folder.path().join("content").join(path);
        fs::create_dir_all(place.parent().expect("it is in a folder")).expect("it can be made");
        fs::write(place, path).expect("it can be written");
    }
    folder
}

fn find(
    folder: &tempfile::TempDir,
    selection: &Selection<'_>,
) -> Result<SourceTree, SourceTreeError> {
    SourceTree::find(&folder.path().join("content"), selection, false)
}

/// Returns the paths in a source tree, and the targets of links.
fn paths(payload: &SourceTree) -> Vec<String> {
    let join = |names: &[Vec<u8>]| {
        let names = names.iter().map(|name| String::from_utf8_lossy(name));
        names.collect::<Vec<_>>().join("/")
    };
    let files = payload.files().into_iter().map(|file| match &file.target {
        Some(target) => format!("{} -> {}", join(&file.path), join(target)),
        None => join(&file.path),
    });
    files.collect()
}

#[test]
fn files_come_in_the_order_of_their_names() {
    let folder = folder(&["b", "a/z", "a.txt", "a-b", "a/b/c", "B", "\u{e9}"]);
    let payload = find(&folder, &everything()).expect("it is there");
    let expected = ["B", "a/b/c", "a/z", "a-b", "a.txt", "b", "\u{e9}"];
    assert_eq!(paths(&payload), expected);
    assert!(!payload.is_single_file());
    assert_eq!(payload.length(), 1 + 5 + 3 + 3 + 5 + 1 + 2);
    assert_eq!(payload.left_out(), LeftOut::default());
}

#[test]
fn names_are_bytes() {
    let folder = folder(&["a"]);
    let name = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    fs::write(folder.path().join("content").join(name), b"x").expect("names are bytes");
    let payload = find(&folder, &everything()).expect("it is there");
    assert_eq!(payload.files()[1].path, [b"\xff\xfe"]);
}

#[test]
fn what_is_left_out() {
    let folder = folder(&[
        "a",
        ".b",
        ".c/d",
        "e/.f",
        "tmp/g",
        "e/h",
        "e/i",
        "e/j",
        "k",
        "e/.hashlane-archive.sqlite",
    ]);
    let choose = |found: Candidate<'_>| match found.path.to_str() {
        Some("tmp") if found.is_folder => Choice::Exclude,
        Some("e/i" | "k") if !found.is_folder => Choice::Junk,
        Some("e/j") => Choice::Ignore,
        _ => Choice::Take,
    };
    let selection = Selection::new(&choose).hidden(false);
    let payload = find(&folder, &selection).expect("it is there");
    assert_eq!(paths(&payload), ["a", "e/h"]);
    let left_out = LeftOut {
        excluded: 1,
        junk: 2,
        own: 1,
        hidden: 3,
        links: 0,
    };
    assert_eq!(payload.left_out(), left_out);
    let nothing = Selection::new(&|_| Choice::Exclude);
    let error = find(&folder, &nothing).expect_err("nothing is left");
    assert!(matches!(error, SourceTreeError::Empty { .. }), "{error}");
}

#[test]
fn links() {
    let folder = folder(&["a", "b/c"]);
    let content = folder.path().join("content");
    symlink("../a", content.join("b/to-a")).expect("links are known");
    symlink(content.join("b"), content.join("to-b")).expect("links are known");
    symlink("gone", content.join("dangling")).expect("links are known");
    let with = |links| everything().links(links);
    let stored = find(&folder, &with(Links::Store)).expect("it is there");
    let expected = ["a", "b/c", "b/to-a -> a", "dangling -> gone", "to-b -> b"];
    assert_eq!(paths(&stored), expected);
    let skipped = find(&folder, &with(Links::Skip)).expect("it is there");
    assert_eq!(paths(&skipped), ["a", "b/c"]);
    assert_eq!(skipped.left_out().links, 3);
    fs::remove_file(content.join("dangling")).expect("it is ours");
    let followed = find(&folder, &with(Links::Follow)).expect("it is there");
    assert_eq!(
        paths(&followed),
        ["a", "b/c", "b/to-a", "to-b/c", "to-b/to-a"]
    );
    symlink("..", content.join("b/loop")).expect("links are known");
    let error = find(&folder, &with(Links::Follow)).expect_err("it would never end");
    let reason = std::error::Error::source(&error).expect("it has a reason");
    assert!(
        reason.to_string().contains("leads back to a folder"),
        "{error}: {reason}"
    );
}

#[test]
fn links_that_lead_out() {
    for target in ["/etc/passwd", "../outside", "b/../../outside", "..", "."] {
        let folder = folder(&["a"]);
        fs::write(folder.path().join("outside"), b"secret").expect("it can be written");
        let link = folder.path().join("content/link");
        symlink(target, &link).expect("links are known");
        for links in [Links::Store, Links::Follow] {
            // A link to the content itself is a loop, not a way out.
            if links == Links::Follow && matches!(target, "." | "b/../../outside") {
                continue;
            }
            let selection = everything().links(links);
            let error = find(&folder, &selection).expect_err(target);
            let (path, expected) = match &error {
                SourceTreeError::Walk(WalkError::LinkOutside { path, target }) => (path, target),
                SourceTreeError::LinkToRoot { path } if target == "." => {
                    (path, &PathBuf::from("."))
                }
                // Following `..` leads back to the link, which is a loop.
                SourceTreeError::Walk(WalkError::Io { .. }) if target == ".." => continue,
                error => panic!("{target}: {error}"),
            };
            assert_eq!(path, &link);
            if links == Links::Store {
                assert_eq!(expected, Path::new(target));
            }
        }
    }
}

#[test]
fn targets_outside_are_found_when_asked() {
    let folder = folder(&["a"]);
    let outside = folder.path().join("outside/below");
    fs::create_dir_all(&outside).expect("it can be made");
    fs::write(outside.join("b"), b"b").expect("it can be written");
    symlink("../outside", folder.path().join("content/link")).expect("links are known");
    let selection = everything().links(Links::FollowOutside);
    let found = find(&folder, &selection).expect("it is there");
    assert_eq!(paths(&found), ["a", "link/below/b"]);
    symlink("../../outside", outside.join("loop")).expect("links are known");
    let error = find(&folder, &selection).expect_err("it would never end");
    let reason = std::error::Error::source(&error).expect("it has a reason");
    assert!(
        reason.to_string().contains("leads back to a folder"),
        "{error}: {reason}"
    );
}

#[test]
fn orders() {
    let folder = folder(&["a/z", "a.txt", "b", "c"]);
    let with = |order| {
        let mut found = find(&folder, &everything()).expect("it is there");
        found.sort(order);
        let lengths: Vec<u64> = found.files().iter().map(|file| file.length).collect();
        // Each length is the length of the file's path.
        let paths = paths(&found);
        assert!(
            paths
                .iter()
                .zip(lengths)
                .all(|(path, len)| path.len() as u64 == len)
        );
        paths
    };
    assert_eq!(with(FileOrder::Path), ["a/z", "a.txt", "b", "c"]);
    assert_eq!(with(FileOrder::WholePath), ["a.txt", "a/z", "b", "c"]);
    assert_eq!(with(FileOrder::Smallest), ["b", "c", "a/z", "a.txt"]);
    assert_eq!(with(FileOrder::Largest), ["a.txt", "a/z", "b", "c"]);
}

#[test]
fn what_is_no_file() {
    let content = folder(&["a"]);
    let pipe = content.path().join("content/pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    let error = find(&content, &everything()).expect_err("a pipe is no file");
    assert!(
        matches!(&error, SourceTreeError::Walk(WalkError::NotRegular { path }) if *path == pipe),
        "{error}"
    );
    let error = SourceTree::find(&pipe, &everything(), false).expect_err("a pipe is no file");
    assert!(
        matches!(error, SourceTreeError::Walk(WalkError::NotRegular { .. })),
        "{error}"
    );
    let missing = content.path().join("missing");
    let error = SourceTree::find(&missing, &everything(), false).expect_err("it is not there");
    assert!(
        matches!(&error, SourceTreeError::Walk(WalkError::Io { path, .. }) if *path == missing),
        "{error}"
    );
    let error = find(&folder(&[]), &everything()).expect_err("it is not there");
    assert!(
        matches!(error, SourceTreeError::Walk(WalkError::Io { .. })),
        "{error}"
    );
}

#[test]
fn a_file_or_a_link_to_a_folder_as_the_root() {
    let folder = folder(&["a"]);
    let file = folder.path().join("content/a");
    let payload = SourceTree::find(&file, &everything(), false).expect("it is there");
    assert!(payload.is_single_file());
    assert_eq!(paths(&payload), ["a"]);
    let link = folder.path().join("link");
    symlink("content", &link).expect("links are known");
    let payload = SourceTree::find(&link, &everything(), false).expect("it is there");
    assert!(!payload.is_single_file());
    assert_eq!(paths(&payload), ["a"]);
    assert_eq!(payload.root(), PathBuf::from(&link));
}

#[test]
fn attributes() {
    let folder = folder(&["a", ".b", "c"]);
    let run = folder.path().join("content/c");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let content = folder.path().join("content");
    let payload = SourceTree::find(&content, &everything(), true).expect("it is there");
    let files = payload.files();
    let attributes = files.iter().map(|file| {
        let attributes = file.attributes;
        (attributes.executable, attributes.hidden)
    });
    let attributes: Vec<_> = attributes.collect();
    assert_eq!(attributes, [(false, true), (false, false), (true, false)]);
}
