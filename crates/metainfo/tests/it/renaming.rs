//! Unusable paths and their replacements, compared with libtorrent 2.1.1.

use hashlane_metainfo::{Error, Torrent};

use crate::{list_file, metainfo, tree_file, with_files, with_tree};

/// Returns the paths of a torrent, each renamed one marked with a star.
fn paths(bytes: &[u8]) -> Vec<String> {
    let torrent = Torrent::parse(bytes).unwrap();
    let files = torrent.files().iter();
    let path = |file: hashlane_metainfo::File<'_>| {
        let star = if file.is_renamed() { "*" } else { "" };
        format!("{}{star}", file.path())
    };
    files.map(path).collect()
}

fn list(files: &[&[&str]]) -> Vec<String> {
    let content = list_file(&["content"], 1);
    let files: String = files.iter().map(|path| list_file(path, 0)).collect();
    let mut paths = paths(&with_files(&(content + &files)));
    assert_eq!(paths.remove(0), "content");
    paths
}

#[test]
fn what_is_no_name() {
    for (path, expected) in [
        (&["a", "b"][..], "a/b"),
        (&["..", "a"], "_/a*"),
        (&[".", "a"], "_/a*"),
        (&["", ""], "_/_*"),
        (&["/", "/", "bar"], "_/_/bar*"),
        (&["/etc/passwd"], "etcpasswd*"),
        (&["foo/../../../bar", "bar"], "foo......bar/bar*"),
        (&["a\0b"], "ab*"),
        (&["..."], "..."),
        (&["\0"], "_*"),
    ] {
        assert_eq!(list(&[path]), [expected], "{path:?}");
    }
}

#[test]
fn files_of_one_path() {
    let same = ["foo", "bar.txt"];
    let expected = ["foo/bar.txt", "foo/bar.1.txt*", "foo/bar.2.txt*"];
    assert_eq!(list(&[&same, &same, &same]), expected);
    // A name that is already in use is not a replacement.
    let expected = ["a", "a.1", "a.2*"];
    assert_eq!(list(&[&["a"], &["a.1"], &["a"]]), expected);
    assert_eq!(list(&[&["a"], &["a"], &["a.1"]]), ["a", "a.1*", "a.1.1*"]);
    assert_eq!(list(&[&[""], &["_"]]), ["_*", "_.1*"]);
    // Names are case-sensitive.
    assert_eq!(list(&[&["a"], &["A"]]), ["a", "A"]);
}

#[test]
fn a_file_in_the_place_of_a_folder() {
    assert_eq!(list(&[&["a"], &["a", "b"]]), ["a.1*", "a/b"]);
    assert_eq!(list(&[&["a", "b", "c"], &["a", "b"]]), ["a/b/c", "a/b.1*"]);
    assert_eq!(list(&[&["a", "b"], &["ab"]]), ["a/b", "ab"]);
}

#[test]
fn too_many_files_of_one_path() {
    let same: &[&str] = &["a"];
    let most = vec![same; 33];
    assert_eq!(list(&most).last().unwrap(), "a.32*");
    let content = list_file(&["content"], 1);
    let files = content + &list_file(same, 0).repeat(34);
    let error = Torrent::parse(with_files(&files)).unwrap_err();
    assert!(
        matches!(error, Error::TooManyDuplicatePaths { .. }),
        "{error}"
    );
}

#[test]
fn names_of_the_file_tree() {
    let tree = tree_file("/", 1) + &tree_file("//", 1) + &tree_file("_", 1);
    assert_eq!(paths(&with_tree(&tree)), ["_.1*", "_.2*", "_"]);
    // Each folder has its own names.
    let folder = |name: &str| format!("{}:{name}d{}e", name.len(), tree_file("/", 1));
    let tree = folder("a") + &folder("b/");
    assert_eq!(paths(&with_tree(&tree)), ["a/_*", "b/_*"]);
}

#[test]
fn names_of_torrents() {
    let with_name = |name: &str| {
        metainfo(&format!(
            "5:filesl{}e4:name{}:{name}12:piece lengthi16384e6:pieces20:{}",
            list_file(&["a"], 1),
            name.len(),
            crate::HASH
        ))
    };
    let name = |name: &str| {
        let bytes = with_name(name);
        let torrent = Torrent::parse(bytes.as_slice()).unwrap();
        let info_hash = torrent.info_hashes().v1().unwrap().to_string();
        torrent.name().to_string().replace(&info_hash, "info-hash")
    };
    let v2 = |name: &str| {
        let tree = tree_file("a", 1) + &tree_file("b", 1);
        let bytes = metainfo(&format!(
            "9:file treed{tree}e12:meta versioni2e4:name{}:{name}12:piece lengthi16384e",
            name.len()
        ));
        Torrent::parse(bytes).unwrap().name().to_string()
    };
    // Names of the folders that libtorrent 2.1.1 makes of these two.
    assert_eq!(v2(""), "_");
    assert_eq!(v2("."), "79d8bacd20eb66616547fa83ed995a3708dbc070");
    assert_eq!(v2("/"), "821947c028aaecbb1bc4d34ce5c7abd4f44ef59c");
    for (given, expected) in [
        ("a", "a"),
        ("a/b", "ab"),
        ("", "_"),
        (".", "info-hash"),
        ("..", "info-hash"),
        ("/./", "info-hash"),
        ("\0", "info-hash"),
        ("...", "..."),
    ] {
        assert_eq!(name(given), expected, "{given:?}");
    }
}
