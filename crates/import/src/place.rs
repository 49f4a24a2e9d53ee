//! The place of the content, from the paths of its files.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use hashlane_metainfo::{File, FileKind, PathComponent, Torrent};

use crate::path::path_of;
use crate::{PathMap, Reason, RelativePath};

/// The content of a torrent: its path, and the files that have other paths below it than in the torrent.
pub(crate) struct Place {
    pub(crate) content: PathBuf,
    /// Whether the content has a folder of its own, or is a single file.
    pub(crate) has_own_folder: bool,
    pub(crate) renamed: BTreeMap<usize, RelativePath>,
}

/// Returns the files except padding, in order.
pub(crate) fn files(torrent: &Torrent) -> impl Iterator<Item = File<'_>> {
    let files = torrent.files().iter();
    files.filter(|file| file.kind() != FileKind::Padding)
}

/// Returns the place of content in `folder`. `names` has the paths of renamed files below `folder`, which start with the
/// name of the torrent's folder, if that is not renamed too.
///
/// The content is the folder that all files have in common, so that a folder that was renamed renames no file.
pub(crate) fn in_folder(
    torrent: &Torrent,
    folder: &Path,
    names: &BTreeMap<usize, RelativePath>,
) -> Result<Place, Reason> {
    let name = torrent.name();
    if names.is_empty() {
        return Ok(Place {
            content: folder.join(path_of(name.as_bytes())?),
            has_own_folder: true,
            renamed: BTreeMap::new(),
        });
    }
    if torrent.is_single_file() {
        let path = names.get(&0).ok_or(Reason::NoFolder)?;
        return Ok(Place {
            content: path.below(folder)?,
            has_own_folder: true,
            renamed: BTreeMap::new(),
        });
    }
    let original = |file: File<'_>| {
        RelativePath::of_checked(std::iter::once(name).chain(file.path().components()))
    };
    let paths = files(torrent).enumerate().map(|(number, file)| {
        let renamed = names.get(&number).cloned();
        renamed.unwrap_or_else(|| original(file))
    });
    let paths: Vec<RelativePath> = paths.collect();
    let top = common_top(&paths);
    let content = match &top {
        Some(top) => top.below(folder)?,
        None => folder.to_owned(),
    };
    let below_top = |path: RelativePath| match &top {
        Some(_) => path.split_first().1.unwrap_or(path),
        None => path,
    };
    Ok(Place {
        content,
        has_own_folder: top.is_some(),
        renamed: renamed(torrent, paths.into_iter().map(below_top)),
    })
}

/// Returns the place of content whose files lie in `folder` itself.
pub(crate) fn as_folder(folder: PathBuf) -> Place {
    Place {
        content: folder,
        has_own_folder: false,
        renamed: BTreeMap::new(),
    }
}

/// Returns the folder that all paths have in common.
fn common_top(paths: &[RelativePath]) -> Option<RelativePath> {
    let (top, _) = paths.first()?.split_first();
    let is_in_top = |path: &RelativePath| path.names().len() > 1 && path.split_first().0 == top;
    let top = PathComponent::try_from(top).ok()?;
    let have_top = paths.iter().all(is_in_top);
    have_top.then(|| RelativePath::of_checked([top]))
}

/// Returns the paths that differ from those of the torrent.
fn renamed(
    torrent: &Torrent,
    paths: impl Iterator<Item = RelativePath>,
) -> BTreeMap<usize, RelativePath> {
    let files = files(torrent).zip(paths).enumerate();
    files
        .filter(|(_, (file, path))| {
            let names = file.path().components().map(PathComponent::as_bytes);
            !names.eq(path.names())
        })
        .map(|(number, (_, path))| (number, path))
        .collect()
}

/// Returns the path on this machine, which must be absolute.
pub(crate) fn mapped(path: &Path, map: &PathMap) -> Result<PathBuf, Reason> {
    let mapped = map.apply(path);
    if mapped.components().any(|name| name == Component::ParentDir) {
        return Err(Reason::ParentFolder { path: mapped });
    }
    if !mapped.is_absolute() {
        return Err(Reason::RelativeFolder { path: mapped });
    }
    // Also removes superfluous separators.
    Ok(mapped.components().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn torrent() -> Torrent {
        let info = b"d5:filesld6:lengthi1e4:pathl1:aeed6:lengthi1e4:pathl3:sub1:beee4:name4:name\
            12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaae";
        Torrent::parse([b"d4:info".as_slice(), info, b"e"].concat()).unwrap()
    }

    #[test]
    fn files_share_their_folder_or_lie_in_the_outer_one() {
        let torrent = torrent();
        for (names, content, renamed) in [
            (&[][..], "/x/name", &[][..]),
            (&[(0, "name/c")], "/x/name", &[(0, "c")]),
            (&[(0, "new/a"), (1, "new/sub/b")], "/x/new", &[]),
            (&[(0, "new/a"), (1, "new/sub/c")], "/x/new", &[(1, "sub/c")]),
            // The layout without the torrent's folder.
            (&[(0, "a"), (1, "sub/b")], "/x", &[]),
            // Only one of them left the folder.
            (&[(0, "a")], "/x", &[(1, "name/sub/b")]),
            (&[(1, "other/b")], "/x", &[(0, "name/a"), (1, "other/b")]),
        ] {
            let parsed = |names: &[(usize, &str)]| -> BTreeMap<_, _> {
                let parse = |path: &str| RelativePath::parse(path.as_bytes()).unwrap();
                names.iter().map(|(n, path)| (*n, parse(path))).collect()
            };
            let place = in_folder(&torrent, Path::new("/x"), &parsed(names)).unwrap();
            assert_eq!(place.content, Path::new(content), "{names:?}");
            assert_eq!(place.renamed, parsed(renamed), "{names:?}");
        }
    }

    #[test]
    fn a_place_is_absolute_and_has_no_parent() {
        let map: PathMap = "D:/films=/films".parse().unwrap();
        let mapped = |path: &str| mapped(Path::new(path), &map);
        assert_eq!(mapped("D:/films//a/").unwrap(), Path::new("/films/a"));
        assert!(matches!(mapped("a/b"), Err(Reason::RelativeFolder { .. })));
        assert!(matches!(
            mapped("/a/../b"),
            Err(Reason::ParentFolder { .. })
        ));
    }
}
