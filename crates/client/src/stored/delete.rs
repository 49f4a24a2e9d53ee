//! Deletes the files of a torrent that was removed.
//!
//! A file at the path of a torrent's file can belong to the user. It is deleted only if this download wrote it, or if right
//! pieces prove that it belongs to the torrent.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use hashlane_files::{DirEntryId, FileId, FileStatus, Removal, is_absent};
use hashlane_metainfo::FileKind;
use hashlane_verify::{FileIndex, HashVersions, Layout, files_of};

use super::StoredTorrent;
use crate::event::{Deletion, KeptFile};

/// A file that could not be deleted, or must stay.
type Kept = Box<dyn std::error::Error>;

impl StoredTorrent {
    /// Deletes the files of the torrent, except those of `others`, and the folders of the torrent that are empty then.
    /// `have` are the pieces that are present. Files that are absent are left out of the result.
    pub(crate) fn delete(&self, have: &[bool], others: &[Arc<Self>]) -> Deletion {
        self.storage.end();
        let mut deletion = Deletion::default();
        let folder = self.storage.folder();
        let mut removal = match Removal::open(folder) {
            Ok(removal) => removal,
            Err(error) => {
                if !is_absent(&error) {
                    deletion.keep(folder, &error);
                }
                return deletion;
            }
        };
        let used = self.entries_of(others);
        let layout = Layout::new(self.torrent(), HashVersions::of(self.torrent().version()));
        for (index, file) in files_of(self.torrent()) {
            let path = self.storage.path_of(index);
            let deleted = match file.kind() {
                FileKind::Padding => continue,
                FileKind::Symlink { .. } => self.delete_link(&mut removal, index),
                FileKind::Regular => self.delete_file(&mut removal, &layout, index, have, &used),
            };
            match deleted {
                Ok(Some(bytes)) => {
                    deletion.files += 1;
                    deletion.bytes += bytes;
                }
                Ok(None) => {}
                Err(error) => deletion.keep(&folder.join(path), &*error),
            }
        }
        removal.remove_empty_folders();
        deletion
    }

    /// Deletes a file, and returns its length, or `None` if it is absent.
    fn delete_file(
        &self,
        removal: &mut Removal,
        layout: &Layout,
        index: FileIndex,
        have: &[bool],
        used: &HashSet<DirEntryId>,
    ) -> Result<Option<u64>, Kept> {
        if self.storage.is_elsewhere(index) {
            return Err("a content map has the file".into());
        }
        let path = self.storage.path_of(index);
        let status = match self.storage.status(index) {
            Err(error) if is_absent(&error) => return Ok(None),
            status => status?,
        };
        if !status.is_regular {
            return Err("not a file".into());
        }
        if used.contains(&removal.entry(path)?) {
            return Err("another torrent has the file".into());
        }
        if self.storage.has_file_changed(index, &status) {
            return Err("the file changed since it was verified".into());
        }
        if !self.is_own(layout, index, &status, have) {
            return Err("not known to belong to the torrent".into());
        }
        if !removal.remove_file(path, &status.stamp)? {
            return Err("a symbolic link, or another program changed it".into());
        }
        Ok(Some(status.len_bytes))
    }

    /// Deletes a symbolic link that leads to where the torrent says.
    fn delete_link(&self, removal: &mut Removal, index: FileIndex) -> Result<Option<u64>, Kept> {
        let target = self.storage.link_target(index).unwrap_or(Path::new(""));
        match removal.remove_link(self.storage.path_of(index), target) {
            Ok(true) => Ok(Some(0)),
            Ok(false) => Err("not the symbolic link of the torrent".into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns `true` if a file is known to belong to the torrent: the download wrote it, all of it is right, or right
    /// pieces prove it.
    fn is_own(
        &self,
        layout: &Layout,
        index: FileIndex,
        status: &FileStatus,
        have: &[bool],
    ) -> bool {
        if self.storage.is_guarded(index) {
            return false;
        }
        if self.storage.is_permitted(index) || self.storage.is_marked(index) {
            return true;
        }
        let has = |piece: u32| have.get(piece as usize).copied().unwrap_or_default();
        let pieces = layout.pieces_of(index);
        let is_whole = status.len_bytes == self.torrent().file(index.get()).length()
            && pieces.clone().all(has);
        is_whole || !have.is_empty() && self.is_proven(index, pieces, have)
    }

    /// Returns the entries of this torrent's files that other torrents have too. Another name of the same file (a hard link)
    /// is another entry.
    fn entries_of(&self, others: &[Arc<Self>]) -> HashSet<DirEntryId> {
        let files = files_of(self.torrent()).map(|(index, _)| self.storage.status(index));
        let own: HashSet<FileId> = files.filter_map(|file| Some(file.ok()?.id)).collect();
        let mut entries = HashSet::new();
        for other in others {
            for (index, file) in files_of(other.torrent()) {
                if file.kind() != FileKind::Regular {
                    continue;
                }
                // Most files of other torrents are not this torrent's.
                let status = other.storage.status(index);
                if status.is_ok_and(|file| own.contains(&file.id)) {
                    let path = other.storage.folder().join(other.storage.path_of(index));
                    entries.extend(DirEntryId::of(&path));
                }
            }
        }
        entries
    }
}

impl Deletion {
    fn keep(&mut self, path: &Path, reason: &(impl std::fmt::Display + ?Sized)) {
        self.kept.push(KeptFile {
            path: path.to_owned(),
            reason: reason.to_string(),
        });
    }
}
