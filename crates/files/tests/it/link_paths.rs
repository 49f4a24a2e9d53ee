//! Folders that many paths of symbolic links lead to.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use hashlane_files::{Choice, FileTree, Links, Selection, WalkError, Walked, walk_files};

/// Number of files after which a walk without a limit would not end within minutes.
const MANY: usize = 10_000;

/// Creates `n_folders` folders. Each has `n_links` links to the next, and the last one has a file.
fn chain(n_folders: usize, n_links: usize) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for folder in 0..n_folders {
        let place = root.path().join(format!("folder{folder}"));
        fs::create_dir(&place).unwrap();
        for link in 0..n_links * usize::from(folder + 1 < n_folders) {
            let next = format!("../folder{}", folder + 1);
            symlink(next, place.join(format!("link{link}"))).unwrap();
        }
        if folder + 1 == n_folders {
            fs::write(place.join("file"), "a").unwrap();
        }
    }
    root
}

fn walk_tree(root: &Path, links: Links) -> Result<FileTree, WalkError> {
    let selection = Selection::new(&|_| Choice::Take).links(links);
    FileTree::walk(root, &selection)
}

fn is_in_chain(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.starts_with("folder")
}

/// 90 links and one file: 10^9 paths.
#[test]
fn a_walk_ends_if_too_many_paths_lead_to_one_folder() {
    let root = chain(10, 10);
    let mut files = walk_files(root.path(), true);
    let found: Vec<Walked> = files.by_ref().take(MANY).collect();
    assert!(found.len() < MANY);
    let Some(Walked::Failed(folder, error)) = found.last() else {
        panic!("the last item of the walk is an error");
    };
    assert!(is_in_chain(folder), "{}", folder.display());
    let message = "more than 64 paths of symbolic links lead to this folder";
    assert_eq!(error.to_string(), message);
    assert!(files.next().is_none());
    for links in [Links::Follow, Links::FollowOutside] {
        let error = walk_tree(root.path(), links).unwrap_err();
        let WalkError::TooManyLinkPaths { folder } = &error else {
            panic!("{error}");
        };
        assert!(is_in_chain(folder));
        assert!(error.to_string().ends_with(message), "{error}");
    }
}

#[test]
fn sixty_four_paths_are_allowed() {
    let root = chain(2, 64);
    let files = walk_files(root.path(), true).map(|found| match found {
        Walked::File(path) => path,
        other => panic!("{other:?}"),
    });
    let files: Vec<PathBuf> = files.collect();
    assert_eq!(files.len(), 65);
    let tree = walk_tree(root.path(), Links::Follow).unwrap();
    assert_eq!(tree.entries().len(), 65);
    let root = chain(2, 65);
    assert!(walk_files(root.path(), true).any(|found| matches!(found, Walked::Failed(..))));
    assert!(walk_tree(root.path(), Links::Follow).is_err());
}

#[test]
fn links_that_are_not_followed_do_not_count() {
    let root = chain(10, 10);
    assert_eq!(walk_files(root.path(), false).count(), 1);
    for (links, n_entries) in [(Links::Store, 91), (Links::Skip, 1)] {
        let tree = walk_tree(root.path(), links).unwrap();
        assert_eq!(tree.entries().len(), n_entries);
    }
}
