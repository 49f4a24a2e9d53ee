//! Content under names that are not the torrent's own: found, and renamed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_api::Place;
use hashlane_files::rename_files;
use hashlane_metainfo::{ContentMap, FileKind, Names, Torrent};
use hashlane_verify::{Content, files_of};

use crate::config::Naming;
use crate::error::TorrentError;

/// The names of opened content.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) names: Names,
    /// The map of files that lie elsewhere.
    pub(super) map: Option<Arc<ContentMap>>,
    /// The result of renaming the files, if they had other names before.
    pub(super) renamed: Option<Result<(), TorrentError>>,
}

impl Named {
    /// Returns the names of content, and renames its files if they may have other names.
    pub(super) fn of(
        torrent: &Torrent,
        place: &Place,
        naming: &Naming,
    ) -> Result<Self, TorrentError> {
        let names = naming.of(torrent)?;
        let map = naming.map.clone();
        let Some(before) = &naming.before else {
            return Ok(Self {
                names,
                map,
                renamed: None,
            });
        };
        before.check(torrent)?;
        let renamed = rename(torrent, place, before, &names);
        let names = match &renamed {
            Some(Err(_)) => before.clone(),
            _ => names,
        };
        Ok(Self {
            names,
            map,
            renamed,
        })
    }

    /// Returns the content at a place under these names.
    pub(super) fn content(
        &self,
        torrent: &Torrent,
        place: &Place,
    ) -> Result<Content, TorrentError> {
        let content = content_at(torrent, place, &self.names)?;
        Ok(match &self.map {
            Some(map) => content.mapped(map)?,
            None => content,
        })
    }
}

/// Returns the content at a place under these names, without a content map.
fn content_at(torrent: &Torrent, place: &Place, names: &Names) -> Result<Content, TorrentError> {
    match place {
        Place::Folder(folder) => {
            Content::named_in_folder(torrent, folder, names).map_err(path_error(folder))
        }
        Place::Content(path) => {
            let content = Content::at(torrent, path).map_err(path_error(path))?;
            Ok(content.renamed(names))
        }
    }
}

/// Renames the files of a torrent, or none of them. Returns `None` if none of them is present: their file system may not be
/// mounted yet.
fn rename(
    torrent: &Torrent,
    place: &Place,
    before: &Names,
    names: &Names,
) -> Option<Result<(), TorrentError>> {
    let renames = renames(torrent, place, before, names);
    let (folder, renames) = match renames {
        Ok(renames) => renames,
        Err(error) => return Some(Err(error)),
    };
    let is_present = |path: &PathBuf| folder.join(path).symlink_metadata().is_ok();
    let mut paths = renames.iter().flat_map(|(from, to)| [from, to]);
    paths.any(is_present).then(|| {
        rename_files(&folder, &renames).map_err(|error| TorrentError::Rename {
            to: folder.join(error.path),
            error: error.error,
        })
    })
}

/// Old and new paths of files.
type Renames = Vec<(PathBuf, PathBuf)>;

/// Returns the old and the new paths of the files whose names differ, and the folder that the paths are relative to.
fn renames(
    torrent: &Torrent,
    place: &Place,
    before: &Names,
    names: &Names,
) -> Result<(PathBuf, Renames), TorrentError> {
    let old = content_at(torrent, place, before)?;
    let new = content_at(torrent, place, names)?;
    let folder = match place {
        Place::Folder(folder) => folder,
        Place::Content(_) => old.root(),
    };
    let mut renames = Vec::new();
    for (index, file) in files_of(torrent) {
        if file.kind() != FileKind::Regular {
            continue;
        }
        let below = |content: &Content| -> Result<PathBuf, TorrentError> {
            let path = content.path_of(index).map_err(path_error(folder))?;
            Ok(path.strip_prefix(folder).unwrap_or(&path).to_owned())
        };
        let (from, to) = (below(&old)?, below(&new)?);
        if from != to {
            renames.push((from, to));
        }
    }
    Ok((folder.to_owned(), renames))
}

/// Returns a function that adds a path to an error of the system.
pub(super) fn path_error(path: &Path) -> impl FnOnce(io::Error) -> TorrentError {
    let path = path.to_owned();
    move |error| TorrentError::Path { path, error }
}
