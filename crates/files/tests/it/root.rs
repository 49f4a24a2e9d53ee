//! Folders that another one replaces.

use std::fs;

use hashlane_files::{Root, WritableRoot};

/// The folder below a file system that was unmounted is another one, to which nothing is written.
#[test]
fn a_folder_in_the_place_of_another_one_is_not_written_to() {
    let place = tempfile::tempdir().unwrap();
    let (folder, moved) = (place.path().join("folder"), place.path().join("moved"));
    let root = WritableRoot::create(&folder).unwrap();
    root.create_file("a".as_ref(), false).unwrap();
    fs::rename(&folder, &moved).unwrap();
    fs::create_dir(&folder).unwrap();
    // The root may still have its own folder open. It is closed when another root is opened at the path.
    let other = Root::open(&folder).unwrap();
    for _ in 0..2 {
        let error = root.create_file("b".as_ref(), false).unwrap_err();
        assert!(
            error.to_string().ends_with("was unmounted or replaced"),
            "{error}"
        );
    }
    assert!(root.as_root().status("a".as_ref()).is_err());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    assert!(other.status("a".as_ref()).is_err());
    // It continues when its own folder is there again.
    fs::remove_dir(&folder).unwrap();
    fs::rename(&moved, &folder).unwrap();
    root.as_root().refresh();
    root.create_file("b".as_ref(), false).unwrap();
    assert!(folder.join("b").exists());
}

/// A root that was dropped keeps no descriptor of its folder, so that its file system can be unmounted.
#[cfg(target_os = "linux")]
#[test]
fn a_dropped_root_holds_no_folder() {
    let place = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(place.path()).unwrap().join("dropped");
    let is_open = || {
        let files = fs::read_dir("/proc/self/fd").unwrap();
        let mut paths = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        paths.any(|path| path == folder)
    };
    let root = WritableRoot::create(&folder).unwrap();
    root.create_file("a".as_ref(), false).unwrap();
    assert!(is_open());
    drop(root);
    assert!(!is_open());
}
