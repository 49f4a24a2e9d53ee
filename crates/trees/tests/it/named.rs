//! Tree hashes by their names, of files and folders, and the checks of them.

use std::fs;
use std::path::Path;

use hashlane_sha::Engine;
use hashlane_trees::{
    CancelToken, Git, GitMode, Globs, Options, ParameterError, TreeError, TreeName, TreeOutputs,
    TreeParameters, check_path, hash_path,
};

/// The identifier of Git, and the CID by `ipfs-unixfs-importer`, of the folder that [`write`] makes.
const TREE: &str = "cea6b2f4b7d13736be1d93f3b3cbbf0796abe629";
const CID: &str = "bafybeidqujir4ensxula5ucznwuoouycv43gqt74a5dz2vcue7ysr5knui";

fn write(folder: &Path) {
    fs::create_dir_all(folder.join("sub")).unwrap();
    fs::write(folder.join("a"), "a").unwrap();
    fs::write(folder.join("sub/b"), "b").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.join("sub/b"), mode).unwrap();
    }
}

fn hash(name: &str, parameters: &TreeParameters, path: &Path) -> Result<String, TreeError> {
    let (name, options) = (TreeName::of(name).unwrap(), Options::default());
    let (outputs, cancel) = (TreeOutputs::default(), CancelToken::default());
    hash_path(name, parameters, &outputs, path, &options, &cancel, |_| ())
}

fn check(name: &str, path: &Path, expected: &str) -> Result<bool, TreeError> {
    let (name, options) = (TreeName::of(name).unwrap(), Options::default());
    let (parameters, cancel) = (TreeParameters::default(), CancelToken::default());
    check_path(name, &parameters, path, expected, &options, &cancel, |_| ())
}

#[test]
#[cfg(unix)]
fn folders_have_the_results_of_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    let (path, usual) = (folder.path(), TreeParameters::default());
    write(path);
    assert_eq!(hash("git", &usual, path).unwrap(), TREE);
    assert_eq!(hash("cid", &usual, path).unwrap(), CID);
    assert!(check("git", path, &TREE.to_uppercase()).unwrap());
    fs::write(path.join("sub/b"), "c").unwrap();
    assert!(!check("git", path, TREE).unwrap());
    assert!(!check("cid", path, CID).unwrap());
}

#[test]
#[cfg(unix)]
fn excluded_files_are_no_part_of_folders() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write(path);
    fs::write(path.join("sub/a.tmp"), "t").unwrap();
    fs::create_dir_all(path.join("Build/sub")).unwrap();
    fs::write(path.join("Build/sub/c"), "c").unwrap();
    std::os::unix::fs::symlink("b", path.join("sub/link")).unwrap();
    let mut excludes = Globs::ignoring_case();
    for pattern in ["*.TMP", "/build", "sub/link"] {
        excludes.add(pattern).unwrap();
    }
    let parameters = TreeParameters {
        excludes,
        ..TreeParameters::default()
    };
    assert_eq!(hash("git", &parameters, path).unwrap(), TREE);
    assert_eq!(hash("cid", &parameters, path).unwrap(), CID);
    let (name, options) = (TreeName::of("git").unwrap(), Options::default());
    let cancel = CancelToken::default();
    let is_right = check_path(name, &parameters, path, TREE, &options, &cancel, |_| ());
    assert!(is_right.unwrap());
    let refused = hash("fsverity", &parameters, &path.join("a")).unwrap_err();
    let expected = "fsverity has no choice of files: leave it out";
    assert_eq!(refused.to_string(), expected);
    // A file is not left out of itself.
    assert!(hash("git", &parameters, &path.join("sub/a.tmp")).is_ok());
}

#[test]
#[cfg(unix)]
fn an_error_names_the_entry_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (path, usual) = (folder.path(), TreeParameters::default());
    write(path);
    let link = path.join("sub/link");
    std::os::unix::fs::symlink("b", &link).unwrap();
    assert!(hash("git", &usual, path).is_ok());
    match hash("cid", &usual, path) {
        Err(TreeError::Entry { path, reason }) => {
            assert_eq!((path, reason.as_str()), (link, "is a symbolic link"));
        }
        other => panic!("{other:?}"),
    }
    match hash("btroot", &usual, path) {
        Err(TreeError::Read { path: found, .. }) => assert_eq!(found, path),
        other => panic!("{other:?}"),
    }
    // An empty file has no root.
    let empty = path.join("empty");
    fs::write(&empty, "").unwrap();
    match hash("btroot", &usual, &empty) {
        Err(TreeError::File { path, .. }) => assert_eq!(path, empty),
        other => panic!("{other:?}"),
    }
}

#[test]
fn parameters_that_a_tree_hash_does_not_have_are_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let refused =
        |name: &str, parameters: TreeParameters| match hash(name, &parameters, file.path()) {
            Err(TreeError::Parameters(ParameterError::Superfluous(name, _))) => name.name(),
            other => panic!("{name}: {other:?}"),
        };
    let salt = TreeParameters {
        salt: Some(Vec::new()),
        ..TreeParameters::default()
    };
    assert_eq!(refused("git", salt.clone()), "git");
    let uuid = TreeParameters {
        uuid: Some([0; 16]),
        ..TreeParameters::default()
    };
    assert_eq!(refused("fsverity", uuid), "fsverity");
    assert!(hash("fsverity", &salt, file.path()).is_ok());
    let found = check("git", file.path(), "00");
    let is_no_result = matches!(
        found,
        Err(TreeError::Parameters(ParameterError::Result(..)))
    );
    assert!(is_no_result, "{found:?}");
}

/// Paths of 4096 bytes allow no more than about 2000 levels.
#[test]
#[cfg(unix)]
fn deep_folders_need_no_deep_stack() {
    const DEEP: usize = 1900;

    let folder = tempfile::tempdir().unwrap();
    let mut path = folder.path().to_owned();
    for _ in 0..DEEP {
        path.push("d");
        fs::create_dir(&path).unwrap();
    }
    path.push("f");
    fs::write(&path, "").unwrap();
    let root = folder.path().to_owned();
    let thread = std::thread::Builder::new().stack_size(256 << 10);
    let hashed = thread.spawn(move || hash("git", &TreeParameters::default(), &root));
    let hashed = hashed.unwrap().join().unwrap();

    // The removal of all at once would hold as many folders open.
    fs::remove_file(&path).unwrap();
    while path.pop() && path != folder.path() {
        fs::remove_dir(&path).unwrap();
    }
    let engine = Engine::detect();
    let mut entry = (b"f".to_vec(), GitMode::File, Git::Sha1.blob(engine, b""));
    for _ in 0..DEEP {
        let tree = Git::Sha1.tree(engine, vec![entry]);
        entry = (b"d".to_vec(), GitMode::Folder, tree);
    }
    let expected = Git::Sha1.tree(engine, vec![entry]);
    assert_eq!(hashed.unwrap(), expected.to_string());
}
