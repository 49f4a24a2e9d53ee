//! Symbolic links: read and resolved as text, never followed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::file::is_absent;

/// The state of the path of a link. A program must decide for each state, so a new state is a breaking change.
#[derive(Debug)]
pub enum LinkState {
    /// A symbolic link to this target.
    Link(PathBuf),
    /// A file or folder.
    Other,
    /// Nothing.
    Absent,
    /// The system reported an error.
    Failed(io::Error),
}

/// Reads a symbolic link without following it.
pub fn read_link(path: &Path) -> LinkState {
    let target = match path.symlink_metadata() {
        Ok(metadata) if !metadata.is_symlink() => return LinkState::Other,
        Ok(_) => path.read_link(),
        Err(error) => Err(error),
    };
    match target {
        Ok(target) => LinkState::Link(target),
        Err(error) if is_absent(&error) => LinkState::Absent,
        Err(error) => LinkState::Failed(error),
    }
}

/// Returns the names below `root` that a link in the folder `folder` leads to, or `None` if the
/// link leads out of `root`. Only the text of the link counts, not the file system. The link may
/// leave `root` if it returns through the name of `root`.
pub fn resolve_link<'l>(
    root: &Path,
    folder: &[&'l OsStr],
    link: &'l Path,
) -> Option<Vec<&'l OsStr>> {
    let mut place = folder.to_vec();
    let mut rest = link.components();
    if link.is_absolute() {
        place.clear();
        let inside = link.strip_prefix(root).ok();
        let canonical = || root.canonicalize().ok();
        let inside = inside.or_else(|| link.strip_prefix(canonical()?).ok());
        rest = inside?.components();
    }
    // Names of the folders above the root that the link has left, the innermost last.
    let mut left: Vec<OsString> = Vec::new();
    for component in rest {
        match component {
            Component::Normal(name) if left.last().is_some_and(|left| left == name) => {
                left.pop();
            }
            // The link leads out of the root.
            Component::Normal(_) if !left.is_empty() => return None,
            Component::Normal(name) => place.push(name),
            Component::CurDir => {}
            Component::ParentDir if !place.is_empty() => drop(place.pop()),
            Component::ParentDir => {
                let root = root.canonicalize().ok()?;
                let name = root.ancestors().nth(left.len())?.file_name()?;
                left.push(name.to_owned());
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    left.is_empty().then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_and_back_in() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("content");
        std::fs::create_dir(&root).unwrap();
        let outer = folder.path().file_name().and_then(OsStr::to_str).unwrap();
        let inside = ["a"].map(OsStr::new);
        for (link, place) in [
            ("../../content/x", Some("x")),
            ("../../content", Some("")),
            ("../../content/../content/x", Some("x")),
            (&format!("../../../{outer}/content/x"), Some("x")),
            (&format!("../../../{outer}/x"), None),
            ("../../contents/x", None),
            ("../../content/../x", None),
            ("../..", None),
        ] {
            let resolved = resolve_link(&root, &inside, Path::new(link));
            let resolved = resolved.map(|names| names.join(OsStr::new("/")));
            assert_eq!(resolved.as_deref(), place.map(OsStr::new), "{link}");
        }
    }

    #[test]
    fn where_links_lead() {
        let root = Path::new("/content");
        let folder = ["a", "b"].map(OsStr::new);
        for (link, place) in [
            ("c", Some("a/b/c")),
            ("./c/../d", Some("a/b/d")),
            ("../c", Some("a/c")),
            ("../../c", Some("c")),
            ("../..", Some("")),
            ("../../../etc/passwd", None),
            ("/content/x", Some("x")),
            ("/etc/passwd", None),
            ("/contents", None),
        ] {
            let resolved = resolve_link(root, &folder, Path::new(link));
            let resolved = resolved.map(|names| names.join(OsStr::new("/")));
            assert_eq!(resolved.as_deref(), place.map(OsStr::new), "{link}");
        }
    }
}
