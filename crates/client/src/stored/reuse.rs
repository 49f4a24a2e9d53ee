//! Completes a download from files on this machine that have the content, whatever their names.

use std::path::{Path, PathBuf};

use hashlane_files::{SourceFile, is_absent};
use hashlane_find::{Candidates, FoundTorrent, find};
use hashlane_metainfo::FileKind;
use hashlane_verify::{FileIndex, files_of};
use tracing::{info, warn};

use super::{StoredTorrent, VerifySettings};
use crate::error::TorrentError;

impl StoredTorrent {
    /// Copies each selected file that is absent from a file below `folders` that has its content, by a few pieces. The bytes
    /// are shared on the disk if the file system can. The verification that follows decides about each piece. A file that cannot
    /// be copied is noted, and downloaded.
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
            self.copy_found(file, candidates.path(candidate), settings)?;
        }
        if settings.cancel.is_cancelled() {
            return Err(TorrentError::Interrupted);
        }
        Ok(())
    }

    /// Copies a file that was found. Notes why it was not copied, if it was not: it can vanish or change after it was found.
    fn copy_found(
        &self,
        file: FileIndex,
        from: &Path,
        settings: &VerifySettings,
    ) -> Result<(), TorrentError> {
        let Err(reason) = self.copy(file, from, settings) else {
            info!(from = %from.display(), "content reused");
            return Ok(());
        };
        if settings.cancel.is_cancelled() {
            return Err(TorrentError::Interrupted);
        }
        self.note_not_reused(format!(
            "{}: not reused, and downloaded instead: {reason}",
            from.display()
        ));
        Ok(())
    }

    /// Copies a file that was found, or returns the reason why it cannot be copied.
    fn copy(&self, file: FileIndex, from: &Path, settings: &VerifySettings) -> Result<(), String> {
        let source = SourceFile::open(from).map_err(|error| error.to_string())?;
        if source.len_bytes() != self.torrent().file(file.get()).length() {
            return Err("its length has changed since it was found".to_owned());
        }
        let copied = self.storage.create_copy(file, &source, &settings.cancel);
        copied.map_err(|error| error.to_string())
    }

    /// Returns the selected files with content that do not exist.
    pub(super) fn absent_files(&self) -> Vec<FileIndex> {
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use hashlane_metainfo::Torrent;
    use hashlane_sha::Sha1;

    use super::*;
    use crate::config::{Download, Naming};
    use crate::stored::DownloadCheck;

    const LEN: usize = 20_000;

    fn content() -> Vec<u8> {
        (0..LEN).map(|at| (at * 7 % 251) as u8).collect()
    }

    /// Opens a download to `folder` of a file in two pieces.
    fn stored(folder: &Path) -> StoredTorrent {
        let pieces = content()
            .chunks(16_384)
            .flat_map(|piece| hashlane_sha::digest::<Sha1>(piece).as_ref().to_vec())
            .collect::<Vec<u8>>();
        let head = format!("d4:infod6:lengthi{LEN}e4:name1:n12:piece lengthi16384e6:pieces40:");
        let metainfo = [head.as_bytes(), &pieces, b"ee"].concat();
        let torrent = Torrent::parse(metainfo).expect("the torrent is valid");
        StoredTorrent::open(&torrent, folder, &Naming::default()).expect("the names are valid")
    }

    fn settings() -> VerifySettings {
        VerifySettings {
            hashing: hashlane_verify::Options::default(),
            cancel: hashlane_verify::CancelToken::default(),
            live: Arc::default(),
            search_budget: Arc::default(),
        }
    }

    /// Returns the state of a download to which a file was to be copied after it was found, and the notes.
    fn check_after_copy(bytes: Option<&[u8]>) -> (Vec<bool>, Vec<String>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let target = folder.path().join("target");
        let from = folder.path().join("found");
        if let Some(bytes) = bytes {
            fs::write(&from, bytes).expect("the folder takes a file");
        }
        let (stored, settings) = (stored(&target), settings());
        let copied = stored.copy_found(FileIndex::new(0), &from, &settings);
        copied.expect("the download continues");
        let download = Download::to(target);
        let check = stored.check_for_download(&download, false, &settings);
        let DownloadCheck::Ready(content) = check.expect("the download continues") else {
            panic!("nothing is asked");
        };
        (content.have, stored.take_nearby().not_reused)
    }

    #[test]
    fn a_found_file_that_vanishes_is_downloaded() {
        let (have, notes) = check_after_copy(None);
        assert_eq!(have, [false, false]);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("found: not reused, and downloaded instead: No such file"));
    }

    #[test]
    fn a_found_file_that_changes_is_downloaded() {
        let content = content();
        assert_eq!(check_after_copy(Some(&content)), (vec![true, true], vec![]));
        // Another length.
        let (have, notes) = check_after_copy(Some(&content[..LEN - 1]));
        assert_eq!(have, [false, false]);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].ends_with("its length has changed since it was found"));
        // Other bytes: the pieces that are still right are kept.
        let mut changed = content;
        changed[LEN - 1] ^= 1;
        assert_eq!(
            check_after_copy(Some(&changed)),
            (vec![true, false], vec![])
        );
    }
}
