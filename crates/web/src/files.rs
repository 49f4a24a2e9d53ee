//! The files of a torrent, and their priorities.

use hashlane_api::{File, Files};
use hashlane_client::TorrentHandle;
use hashlane_metainfo::FileKind;
use hashlane_verify::{FileIndex, HashVersions, Layout, files_of};

use super::service::Found;

/// Number of files in an answer that does not ask for another number, and its maximum.
const FILES: (usize, usize) = (500, 5000);

/// Returns files of a torrent from a position on, or no files while its metadata is unknown.
pub(super) fn files_of_torrent(found: &Found, offset: usize, limit: Option<usize>) -> Files {
    let progress = found.handle.as_ref().and_then(TorrentHandle::file_progress);
    let snapshot = &found.torrent;
    let wrong = WrongPieces::of(found);
    let files = snapshot.files(offset, progress.as_deref());
    let files = files.take(limit.unwrap_or(FILES.0).min(FILES.1));
    let files = files.map(|file| File {
        number: file.number,
        path: file.path,
        length_bytes: file.length_bytes,
        done_bytes: file.done_bytes,
        priority: file.priority,
        wrong_pieces: wrong.as_ref().map_or(0, |wrong| wrong.count(file.number)),
    });
    Files {
        total: snapshot.files as usize,
        changeable: snapshot.is_download && !snapshot.activity.is_over(),
        files: files.collect(),
    }
}

/// The wrong pieces of a torrent that has some.
struct WrongPieces {
    layout: Layout,
    /// The files except padding.
    files: Vec<FileIndex>,
    is_wrong: Vec<bool>,
}

impl WrongPieces {
    fn of(found: &Found) -> Option<Self> {
        let have = found.handle.as_ref().and_then(|handle| handle.have().ok());
        let has = |piece| have.as_ref().and_then(|have| have.get(piece)) == Some(&true);
        let wrong = found.torrent.wrong().iter().enumerate();
        let is_wrong: Vec<bool> = wrong.map(|(piece, wrong)| *wrong && !has(piece)).collect();
        if !is_wrong.contains(&true) {
            return None;
        }
        let torrent = found.torrent.metainfo()?;
        let files = files_of(torrent).filter(|(_, file)| file.kind() != FileKind::Padding);
        Some(Self {
            layout: Layout::new(torrent, HashVersions::of(torrent.version())),
            files: files.map(|(index, _)| index).collect(),
            is_wrong,
        })
    }

    /// Returns the number of wrong pieces of the file at this position.
    fn count(&self, number: usize) -> usize {
        let pieces = self.files.get(number);
        let pieces = pieces.map_or(0..0, |index| self.layout.pieces_of(*index));
        let is_wrong = |piece: &u32| self.is_wrong.get(*piece as usize) == Some(&true);
        pieces.filter(is_wrong).count()
    }
}
