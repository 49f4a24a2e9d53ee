//! Harmless oddities of a torrent.

use std::fmt;

use crate::lengths::LibtorrentLimit;
use crate::path::Naming;
use crate::torrent::Torrent;

/// A harmless oddity of a torrent, which its text describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The names of some files cannot be used: see [`File::is_renamed`](crate::File::is_renamed).
    Renamed {
        /// Number of these files.
        files: usize,
    },
    /// libtorrent refuses the torrent.
    Refused(LibtorrentLimit),
    /// libtorrent changes the name of the content on disk.
    OtherName,
    /// libtorrent changes the names of some files on disk.
    OtherPaths {
        /// Number of these files.
        files: usize,
    },
    /// Some files of several pieces have only one hash (BEP 52).
    NoPieceLayer {
        /// Number of these files.
        files: usize,
    },
    /// The keys of the info dictionary are not sorted.
    Unsorted {
        /// Offset of the first such key in the .torrent file, in bytes.
        offset: usize,
    },
    /// There are bytes after the end of the torrent.
    TrailingBytes {
        /// Number of these bytes.
        len: usize,
    },
}

/// A number with its noun: `1 file`, `2 files`.
struct Count(usize, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(n, noun) = self;
        write!(f, "{n} {noun}{}", if *n == 1 { "" } else { "s" })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |files: &usize| Count(*files, "file");
        match self {
            Self::Renamed { files } => write!(
                f,
                "{} of names that cannot be used, shown as libtorrent renames them",
                count(files)
            ),
            Self::Refused(limit) => limit.fmt(f),
            Self::OtherName => f.write_str("libtorrent changes the name of the content on disk"),
            Self::OtherPaths { files } => {
                write!(
                    f,
                    "libtorrent changes the names of {} on disk",
                    count(files)
                )
            }
            Self::NoPieceLayer { files } => write!(
                f,
                "{} without a piece layer: one hash for the whole file",
                count(files)
            ),
            Self::Unsorted { offset } => write!(
                f,
                "keys of the info dictionary are not sorted, at byte {offset}"
            ),
            Self::TrailingBytes { len } => {
                write!(f, "{} after the end of the torrent", Count(*len, "byte"))
            }
        }
    }
}

impl Torrent {
    /// Returns the harmless oddities of the torrent.
    pub fn notes(&self) -> Vec<Note> {
        let piece_length = u64::from(self.lengths().piece_length().get());
        let renamed = self.files().iter().filter(|file| file.is_renamed());
        let without_layer = self.files().iter().filter(|file| {
            let has_root = file.pieces_root().is_some();
            has_root && file.length() > piece_length && file.piece_layer().is_none()
        });
        let foreign = self.foreign_paths(Naming::Libtorrent);
        let files = |files: usize| (files > 0).then_some(files);
        let notes = [
            files(renamed.count()).map(|files| Note::Renamed { files }),
            self.lengths().libtorrent_limit().map(Note::Refused),
            foreign.name().map(|_| Note::OtherName),
            files(foreign.indexes().len()).map(|files| Note::OtherPaths { files }),
            files(without_layer.count()).map(|files| Note::NoPieceLayer { files }),
            self.unsorted_key().map(|offset| Note::Unsorted { offset }),
            files(self.trailing_bytes().len()).map(|len| Note::TrailingBytes { len }),
        ];
        notes.into_iter().flatten().collect()
    }
}
