//! Completes a download from files on this machine that have the content, whatever their names.

use std::io;
use std::path::PathBuf;

use hashlane_files::{SourceFile, is_absent};
use hashlane_find::{Candidates, FoundTorrent, find};
use hashlane_metainfo::FileKind;
use hashlane_verify::{FileIndex, files_of};
use tracing::{info, warn};

use super::named::path_error;
use super::{StoredTorrent, VerifySettings};
use crate::error::TorrentError;

impl StoredTorrent {
    /// Copies each selected file that is absent from a file below `folders` that has its content, by a few pieces. The bytes
    /// are shared on the disk if the file system can. The verification that follows decides about each piece.
    pub(super) fn reuse(
        &self,
        folders: &[PathBuf],
        settings: &VerifySettings,
    ) -> Result<(), TorrentError> {
        let wanted = self.absent_files();
        if folders.is_empty() || wanted.is_empty() {
            return Ok(());
        }
        let torrent = self.torrent();
        let candidates = Candidates::collect([torrent], folders, &settings.cancel, |_| ());
        for (path, error) in candidates.errors() {
            warn!(path = %path.display(), %error, "not searched for content to reuse");
        }
        let findings = find(
            &[torrent],
            &candidates,
            &settings.hashing,
            &settings.cancel,
            &mut |_| (),
        )
        .map_err(hashlane_verify::Error::from)?;
        let found = findings.torrents.iter().flat_map(FoundTorrent::candidates);
        for (file, candidate) in found.filter(|(file, _)| wanted.contains(file)) {
            let from = candidates.path(candidate);
            let source = SourceFile::open(from).map_err(path_error(from))?;
            let is_cancelled = || settings.cancel.is_cancelled();
            match self.storage.create_copy(file, &source, &is_cancelled) {
                Err(error) if error.error.kind() == io::ErrorKind::Interrupted => {
                    return Err(TorrentError::Interrupted);
                }
                copied => copied?,
            }
            info!(from = %from.display(), "content reused");
        }
        if settings.cancel.is_cancelled() {
            return Err(TorrentError::Interrupted);
        }
        Ok(())
    }

    /// Returns the selected files with content that do not exist.
    fn absent_files(&self) -> Vec<FileIndex> {
        let selection = self.selection();
        let files = files_of(self.torrent());
        let files = files.filter(|(_, file)| file.kind() != FileKind::Padding);
        let selected = files.enumerate().filter(|(n, _)| selection.has_file(*n));
        let absent = selected.filter(|(_, (index, file))| {
            let status = self.storage.status(*index);
            let has_content = file.kind() == FileKind::Regular && file.length() > 0;
            has_content
                && !self.storage.is_elsewhere(*index)
                && status.is_err_and(|error| is_absent(&error))
        });
        absent.map(|(_, (index, _))| index).collect()
    }
}
