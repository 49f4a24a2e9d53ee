//! The content of a file, read while it is downloaded.

use std::io;
use std::ops::Range;

use hashlane_api::Priority;
use hashlane_metainfo::{FileKind, Lengths, PieceIndex};
use hashlane_swarm::Session;

use crate::file::TorrentFile;
use crate::handle::{HandleError, TorrentHandle};

/// Bytes after the position of a reader that are requested before all others.
const AHEAD_LEN: u64 = 16 << 20;

/// The number of these pieces, at least and at most.
const AHEAD_PIECES: Range<u64> = 2..64;

/// An error of [`TorrentHandle::reader`] and [`FileReader::read`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The torrent cannot be read now.
    #[error(transparent)]
    Torrent(#[from] HandleError),
    /// The torrent has no such file, or its metadata is not known yet.
    #[error("the torrent has no such file, or its files are not known yet")]
    NoFile,
    /// The file is not selected, and so it never arrives.
    #[error("the file is not selected for download, and is incomplete")]
    NotSelected,
    /// The file is a symbolic link, and has no bytes of its own.
    #[error("the file is a symbolic link")]
    Link,
    /// The content on the disk cannot be read, or has changed since it was verified.
    #[error("the content cannot be read: {0}")]
    Content(#[from] io::Error),
}

impl TorrentHandle {
    /// Returns a reader of a file, by its position among the files except padding.
    ///
    /// # Errors
    /// All but [`ReadError::Content`].
    pub fn reader(&self, number: usize) -> Result<FileReader, ReadError> {
        let snapshot = self.snapshot();
        let stored = snapshot.detail.stored.as_ref().ok_or(ReadError::NoFile)?;
        let file = stored.selectable().nth(number).ok_or(ReadError::NoFile)?;
        if matches!(file.kind(), FileKind::Symlink { .. }) {
            return Err(ReadError::Link);
        }
        let progress = self.ask(Session::file_progress)?;
        let Some(shown) = snapshot.files(number, Some(&progress)).next() else {
            return Err(ReadError::NoFile);
        };
        let is_whole = shown.done_bytes == Some(shown.length_bytes);
        if shown.priority == Priority::Skip && !is_whole {
            return Err(ReadError::NotSelected);
        }
        Ok(FileReader {
            handle: self.clone(),
            lengths: stored.torrent().lengths(),
            start: file.offset(),
            is_whole,
            file: shown,
            requested: 0..0,
        })
    }
}

/// A reader of one file. It returns only bytes of pieces that are present, which means that their hashes were right.
#[derive(Debug)]
pub struct FileReader {
    handle: TorrentHandle,
    lengths: Lengths,
    /// Bytes of the content before the file.
    start: u64,
    /// Whether the whole file was present at the start.
    is_whole: bool,
    file: TorrentFile,
    /// The pieces that were requested last.
    requested: Range<u32>,
}

impl FileReader {
    /// Returns the file, as it was when the reader began.
    pub fn file(&self) -> &TorrentFile {
        &self.file
    }

    /// Fills the start of `buffer` with the bytes of the file from `offset` on, and returns their number: as many as fit, up to the
    /// end of their piece, and 0 at the end of the file. Returns `None` if their piece is not present yet. It is requested before all
    /// others then, with those that follow, which is what a player needs.
    ///
    /// # Errors
    /// [`ReadError::Torrent`] or [`ReadError::Content`].
    pub fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>, ReadError> {
        let end = self.start + self.file.length_bytes;
        let at = self.start.saturating_add(offset);
        let Some(piece) = self.lengths.piece_at(at).filter(|_| at < end) else {
            return Ok(Some(0));
        };
        let piece_start = self.lengths.piece_offset(piece);
        let piece_end = piece_start + u64::from(self.lengths.piece_len(piece));
        if !self.is_whole {
            self.request(piece.get(), end)?;
            if !self
                .handle
                .ask(|session, id| session.has_piece(id, piece))?
            {
                return Ok(None);
            }
        }
        let len = (piece_end.min(end) - at).min(buffer.len() as u64) as usize;
        let buffer = &mut buffer[..len];
        // At most the length of a piece, which is a u32.
        let begin = (at - piece_start) as u32;
        self.handle
            .ask(|session, id| Ok(session.read(id, piece, begin, buffer)))??;
        Ok(Some(len))
    }

    /// Requests a piece and some of those that follow in the file, which ends at `end`, unless that was done before.
    fn request(&mut self, piece: u32, end: u64) -> Result<(), ReadError> {
        let last = self.lengths.piece_at(end - 1).map_or(0, PieceIndex::get);
        let ahead = AHEAD_LEN / u64::from(self.lengths.piece_length().get());
        let ahead = ahead.clamp(AHEAD_PIECES.start, AHEAD_PIECES.end) as u32;
        let wanted = piece..piece.saturating_add(ahead).min(last.saturating_add(1));
        let new = if self.requested.contains(&piece) {
            self.requested.end..wanted.end
        } else {
            wanted.clone()
        };
        if !new.is_empty() {
            self.handle.ask(|session, id| session.hurry(id, new))?;
        }
        self.requested = wanted;
        Ok(())
    }
}
