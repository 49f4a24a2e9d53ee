//! The files of a torrent, as users see them.

use hashlane_api::Priority;
use hashlane_metainfo::File;

use crate::snapshot::TorrentSnapshot;

/// A file of a torrent. Padding is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TorrentFile {
    /// The position in the torrent, without padding.
    pub number: usize,
    /// Path below the folder of the torrent on this machine.
    pub path: String,
    /// Length in the torrent, not on disk.
    pub length_bytes: u64,
    /// Bytes that are present and right; `None` if the torrent is not in the session and not complete.
    pub done_bytes: Option<u64>,
    /// The priority. Files of a torrent that is only served are normal.
    pub priority: Priority,
}

impl TorrentSnapshot {
    /// Returns the files from this position on, without padding; none while the metadata is unknown. `progress` has the present
    /// bytes of each file, as [`TorrentHandle::file_progress`](crate::TorrentHandle::file_progress) returns them.
    pub fn files<'t>(
        &'t self,
        from: usize,
        progress: Option<&'t [u64]>,
    ) -> impl Iterator<Item = TorrentFile> + 't {
        let priorities = &self.detail.priorities;
        let stored = self.detail.stored.iter();
        let files = stored.flat_map(|stored| stored.selectable()).enumerate();
        // libtorrent does not recognise all forms of padding, and then its list has other files.
        let progress = progress.filter(|progress| progress.len() == priorities.len());
        let done = move |number: usize, length: u64| match progress {
            Some(progress) => Some(progress[number]),
            None if self.is_complete && priorities[number] != Priority::Skip => Some(length),
            None => None,
        };
        let stored = self.detail.stored.as_ref();
        let shown = move |number, own| match stored {
            Some(stored) => stored.shown_path(number, own),
            None => own,
        };
        let file = move |(number, file): (usize, File<'_>)| TorrentFile {
            number,
            path: shown(number, file.path().to_string()),
            length_bytes: file.length(),
            done_bytes: done(number, file.length()),
            priority: priorities[number],
        };
        files.skip(from).map(file)
    }
}
