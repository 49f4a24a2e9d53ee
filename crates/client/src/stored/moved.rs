//! Moves complete content to another folder.

use std::io;
use std::path::Path;
use std::sync::Mutex;

use hashlane_files::{copy_new, rename_new};
use hashlane_metainfo::Torrent;
use hashlane_verify::Content;

use super::{StoredTorrent, Verifying};
use crate::error::TorrentError;

impl StoredTorrent {
    /// Returns `true` if the content of a torrent, or a part of it, is in `folder`.
    pub(crate) fn exists(metainfo: &[u8], folder: &Path) -> bool {
        let content = Torrent::parse(metainfo.to_vec())
            .ok()
            .and_then(|torrent| Content::in_folder(&torrent, folder).ok());
        content.is_some_and(|content| content.root().symlink_metadata().is_ok())
    }

    /// Moves the complete content to `folder` and returns the torrent there. Creates `folder` if it is absent. Content
    /// that is copied to another file system is verified before the original is removed.
    pub(crate) fn move_to(
        &self,
        folder: &Path,
        verifying: &Verifying,
    ) -> Result<Box<Self>, TorrentError> {
        let to = folder.join(self.root.file_name().unwrap_or_default());
        let failed = |error| TorrentError::Move {
            to: to.clone(),
            error,
        };
        self.storage.close();
        std::fs::create_dir_all(folder).map_err(failed)?;
        let copied = match rename_new(&self.root, &to) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let is_cancelled = || verifying.cancel.is_cancelled();
                Some(copy_new(&self.root, &to, is_cancelled).map_err(failed)?)
            }
            result => result.map(|()| None).map_err(failed)?,
        };
        let mut moved = Self::open(self.torrent().bytes().to_vec(), folder)?;
        moved.sources = self.sources.clone();
        moved.selection = Mutex::new(self.selection());
        if let Some(copied) = copied {
            let verification = moved.verify(verifying)?;
            if !moved.selection().is_complete(&verification.have) {
                return Err(TorrentError::Modified);
            }
            copied.remove_originals().map_err(failed)?;
        }
        Ok(Box::new(moved))
    }
}
