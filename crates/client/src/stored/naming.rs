//! Names of the content that are not the torrent's own.

use std::path::{Path, PathBuf};

use hashlane_metainfo::{FileKind, Top};
use hashlane_verify::files_of;

use super::StoredTorrent;
use crate::config::Naming;
use crate::error::TorrentError;

impl StoredTorrent {
    /// Returns the names of the content, to open it again at another place.
    pub(crate) fn naming(&self) -> Naming {
        Naming {
            names: self.names.clone(),
            map: self.map.clone(),
            ..Naming::default()
        }
    }

    /// Returns the result of renaming the files when the torrent was opened, once.
    pub(crate) fn take_renamed(&mut self) -> Option<Result<(), TorrentError>> {
        self.renamed.take()
    }

    /// Returns `true` if the content has a name of its own, and is not several files in a folder of others.
    pub(crate) fn has_top(&self) -> bool {
        self.names.has_top()
    }

    /// Returns `true` if the content is a folder, which can have a single file.
    pub(crate) fn is_folder(&self) -> bool {
        let in_folder = || self.names.paths(self.torrent())[0].contains('/');
        self.selectable().nth(1).is_some() || self.has_top() && in_folder()
    }

    /// Returns the paths of the files that a download writes.
    pub(crate) fn file_paths(&self) -> impl Iterator<Item = PathBuf> {
        let files = files_of(self.torrent()).filter(|(_, file)| file.kind() == FileKind::Regular);
        let own = files.filter(|(index, _)| !self.storage.is_elsewhere(*index));
        own.map(|(index, _)| self.storage.folder().join(self.storage.path_of(index)))
    }

    /// Returns `true` if the content has the name that it would get in another folder.
    pub(super) fn has_name(&self, name: &std::ffi::OsStr) -> bool {
        match self.names.top() {
            Top::Own => name.as_encoded_bytes() == self.torrent().name().as_bytes(),
            Top::Named(named) => name == Path::new(named),
            Top::None => false,
        }
    }

    /// Returns the path of a file below the name of the content, or the name of the only file.
    pub(crate) fn shown_path(&self, number: usize, own: String) -> String {
        let renamed = u32::try_from(number)
            .ok()
            .and_then(|number| self.names.files().get(&number));
        match (renamed, self.names.top()) {
            (Some(path), _) => path.clone(),
            (None, Top::Named(name)) if self.torrent().is_single_file() => name.clone(),
            _ => own,
        }
    }
}
