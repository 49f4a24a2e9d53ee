//! New names that a torrent wants below a folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hashlane_metainfo::Torrent;
use hashlane_pipeline::FileIndex;
use hashlane_verify::Content;

/// The names of a torrent's files below a folder that exists.
#[derive(Debug)]
pub(crate) struct NewNames {
    folder: PathBuf,
    content: Content,
}

impl NewNames {
    /// Creates the folder and its parent folders if they do not exist.
    pub(crate) fn in_folder(torrent: &Torrent, folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let folder = folder.canonicalize()?;
        Ok(Self {
            content: Content::in_folder(torrent, folder.clone())?,
            folder,
        })
    }

    /// Returns the path of a file.
    pub(crate) fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        self.content.path_of(file)
    }

    /// Makes the folders of such a path. A symbolic link among them could lead anywhere, and is refused.
    pub(crate) fn make_folders(&self, path: &Path) -> io::Result<()> {
        let below = path
            .parent()
            .and_then(|parent| parent.strip_prefix(&self.folder).ok());
        let mut at = self.folder.clone();
        for component in below.unwrap_or(Path::new("")) {
            at.push(component);
            match fs::create_dir(&at) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if !at.symlink_metadata()?.is_dir() {
                        let reason = format!("{}: is not a folder", at.display());
                        return Err(io::Error::new(io::ErrorKind::NotADirectory, reason));
                    }
                }
                result => result?,
            }
        }
        Ok(())
    }
}
