//! Folders below others, with symbolic links followed.

use std::path::{Component, Path, PathBuf};

/// Returns `true` if a folder is `root` or below it, with symbolic links followed as far as both exist.
///
/// The folder must be absolute and without `..`. A link that leads nowhere has no place, so nothing is below it. The answer
/// holds until a link changes: who can write in `root` can lead a later access out of it.
pub fn is_below(folder: &Path, root: &Path) -> bool {
    let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    if !folder.is_absolute() || !folder.components().all(is_plain) {
        return false;
    }
    match (resolved(folder), resolved(root)) {
        (Some(folder), Some(root)) => folder.starts_with(root),
        _ => false,
    }
}

/// Returns an absolute path without links. The part that does not exist yet must have no `..`.
fn resolved(path: &Path) -> Option<PathBuf> {
    // A link that leads nowhere exists.
    let mut existing = path.ancestors();
    let existing = existing.find(|it| it.symlink_metadata().is_ok())?;
    let new = path.strip_prefix(existing).ok()?;
    let is_name = |part| matches!(part, Component::Normal(_));
    if !new.components().all(is_name) {
        return None;
    }
    Some(existing.canonicalize().ok()?.join(new))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_folders_below_the_root_are_below_it() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("root/a")).unwrap();
        fs::create_dir(path("rootless")).unwrap();
        symlink(path("rootless"), path("root/out")).unwrap();
        symlink(path("absent"), path("root/dangling")).unwrap();
        symlink(path("root/a"), path("in")).unwrap();
        symlink(path("root"), path("link")).unwrap();
        let inside = [
            "root",
            "root/a",
            "root/new/folder",
            "in",
            "in/new",
            "link/a",
        ];
        let outside = [
            "",
            "rootless",
            "root/../rootless",
            "root/new/../..",
            "root/out",
            "root/out/new",
            "root/dangling",
            "root/dangling/new",
            "link/out/new",
        ];
        // A root can be a link itself.
        for root in [path("root"), path("link"), path("root/../root")] {
            for inside in inside {
                assert!(is_below(&path(inside), &root), "{inside} in {root:?}");
            }
            for outside in outside {
                assert!(!is_below(&path(outside), &root), "{outside} in {root:?}");
            }
        }
        assert!(!is_below(Path::new("root"), &path("root")));
        assert!(!is_below(Path::new(""), &path("root")));
    }

    #[test]
    fn a_root_need_not_exist_yet() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        symlink(path("elsewhere"), path("dangling")).unwrap();
        assert!(is_below(&path("new/tv"), &path("new")));
        for (folder, root) in [
            ("newer", "new"),
            ("", "new"),
            ("new/tv", "new/../new"),
            ("dangling/tv", "dangling"),
        ] {
            assert!(!is_below(&path(folder), &path(root)), "{folder} in {root}");
        }
    }
}
