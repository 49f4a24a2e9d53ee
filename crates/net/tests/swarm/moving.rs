//! Downloads that move to another file system.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;

use super::peers::{Content, Peer, get, not_run};

/// A folder on another file system than that of temporary folders.
fn elsewhere() -> Option<tempfile::TempDir> {
    let place = tempfile::tempdir_in("/dev/shm");
    let place = place.inspect_err(|error| not_run("shm", &format!("/dev/shm: {error}")));
    let place = place.ok()?;
    let here = tempfile::tempdir().unwrap();
    let device = |folder: &Path| folder.metadata().unwrap().dev();
    if device(place.path()) == device(here.path()) {
        not_run("shm", "/dev/shm is on the file system of temporary files");
        return None;
    }
    Some(place)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// A file of the user in the content's folder moves too, with its bytes. A file of the torrent that is not selected is
/// compared, because no verification covers it.
#[test]
fn files_of_the_user_move_with_the_content() {
    let Some(to) = elsewhere() else {
        return;
    };
    let content = Content::new();
    let torrent = content.torrent("tree", "v2");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    fs::create_dir_all(tree.join("notes")).unwrap();
    fs::write(tree.join("notes/mine"), "mine").unwrap();
    fs::write(tree.join("a.bin"), "not of the torrent").unwrap();
    symlink("notes/mine", tree.join("link")).unwrap();
    // A process that was killed left this folder.
    let abandoned = to.path().join(".hashlane-moving-abc123/tree");
    fs::create_dir_all(&abandoned).unwrap();
    fs::write(abandoned.join("a.bin"), "half").unwrap();
    let to = to.path().to_str().unwrap();
    let options = ["--move-to", to, "--select", "sub"];
    let ended = get(&[&torrent], folder.path(), &seed, &options);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let to = Path::new(to);
    assert_eq!(names(to), ["tree"]);
    assert!(names(folder.path()).is_empty());
    let moved = to.join("tree");
    let read = |name: &str| fs::read(moved.join(name)).unwrap();
    assert_eq!(read("notes/mine"), b"mine");
    assert_eq!(read("link"), b"mine");
    assert_eq!(read("a.bin"), b"not of the torrent");
    assert!(read("sub/b.bin") == fs::read(content.path().join("tree/sub/b.bin")).unwrap());
}

/// A process that was killed while it removed the originals left some of them. The next one names them.
#[test]
fn originals_that_are_left_are_named() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let (folder, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = ["--move-to", to.path().to_str().unwrap()];
    let ended = get(&[&torrent], folder.path(), &seed, &options);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let left = folder.path().join("tree");
    fs::create_dir(&left).unwrap();
    fs::create_dir(to.path().join(".hashlane-moving-abc123")).unwrap();
    let ended = get(&[&torrent], folder.path(), &seed, &options);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let message = format!("{}: exists too", left.display());
    assert!(ended.stderr.contains(&message), "{ended:?}");
    assert_eq!(names(to.path()), ["tree"]);
}
