//! Symbolic links of a torrent (BEP 47): looked at, and never followed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use hashlane_metainfo::{FileKind, TorrentPath};
use hashlane_pipeline::{FileIndex, is_absent};

use crate::content::Content;

/// What there is in the place of a link.
#[derive(Debug)]
pub(crate) enum Link {
    /// The link that the torrent has.
    Right,
    /// A link to this place.
    Elsewhere(PathBuf),
    /// Something else than a link.
    Other,
    /// Nothing.
    Absent,
    /// The system reported an error.
    Failed(io::Error),
}

/// Compares a link with the one that the torrent has.
///
/// Its target is the one of the torrent if it leads to the same place in the content, without
/// looking at what is there: the torrent's is relative to the content root or, as some creators
/// write it, to the folder of the link.
pub(crate) fn look_at(content: &Content, file: FileIndex) -> Link {
    let entry = content.torrent().file(file.get());
    let FileKind::Symlink { target } = entry.kind() else {
        unreachable!("only links are looked at");
    };
    let found = content
        .path_of(file)
        .and_then(|path| Ok((path.symlink_metadata()?, path)));
    let found = match found {
        Ok((metadata, _)) if !metadata.is_symlink() => return Link::Other,
        Ok((_, path)) => path.read_link(),
        Err(error) => Err(error),
    };
    let found = match found {
        Ok(found) => found,
        Err(error) if is_absent(&error) => return Link::Absent,
        Err(error) => return Link::Failed(error),
    };
    let mut folder = names(entry.path());
    folder.pop();
    let is_right = resolve(content.root(), &folder, &found).is_some_and(|place| {
        let target = names(target);
        place == target || place == [&folder[..], &target[..]].concat()
    });
    if is_right {
        Link::Right
    } else {
        Link::Elsewhere(found)
    }
}

/// The names of a torrent's path, as those that a link on the disk has.
fn names(path: TorrentPath<'_>) -> Vec<&OsStr> {
    path.components()
        .filter_map(|name| name.to_os_str().ok())
        .collect()
}

/// Which place in the content a link in `folder` leads to, if it leads to one: by its text alone,
/// without looking at what is there. It may leave the content, if it comes back by the name that the
/// content has.
pub(crate) fn resolve<'l>(
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
    // The names of the folders around the content that are left, the innermost last.
    let mut left: Vec<OsString> = Vec::new();
    for component in rest {
        match component {
            Component::Normal(name) if left.last().is_some_and(|left| left == name) => {
                left.pop();
            }
            // Out of the content.
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
        let folder = tempfile::tempdir().expect("there is a place for it");
        let root = folder
            .path()
            .canonicalize()
            .expect("it is there")
            .join("content");
        std::fs::create_dir(&root).expect("it is empty");
        let outer = folder
            .path()
            .file_name()
            .and_then(OsStr::to_str)
            .expect("it has a name");
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
            let resolved = resolve(&root, &inside, Path::new(link));
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
            let resolved = resolve(root, &folder, Path::new(link));
            let resolved = resolved.map(|names| names.join(OsStr::new("/")));
            assert_eq!(resolved.as_deref(), place.map(OsStr::new), "{link}");
        }
    }
}
