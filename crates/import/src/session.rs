//! A session of any program.

use std::path::Path;

use crate::{Options, SessionError, Torrents};
use crate::{deluge, qbittorrent, rtorrent, transmission};

/// A program whose sessions can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// qBittorrent, from version 4.1.
    QBittorrent,
    /// Transmission, from version 2.80.
    Transmission,
    /// rTorrent, from version 0.9.
    RTorrent,
    /// Deluge, from version 2.
    Deluge,
}

impl Program {
    /// The programs.
    pub const ALL: [Self; 4] = [
        Self::QBittorrent,
        Self::Transmission,
        Self::RTorrent,
        Self::Deluge,
    ];

    /// Returns the name as text, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::QBittorrent => "qbittorrent",
            Self::Transmission => "transmission",
            Self::RTorrent => "rtorrent",
            Self::Deluge => "deluge",
        }
    }
}

/// Reads the session of a program in `folder`, which is only read. `folder` may be the folder of the session's files, or
/// that of all files of the program.
///
/// Only what is common to all torrents is read at once. Each torrent is read when the iterator reaches it.
///
/// # Errors
/// `folder` has no session of the program, or a file that all torrents need cannot be read.
pub fn read(program: Program, folder: &Path, options: Options) -> Result<Torrents, SessionError> {
    match program {
        Program::QBittorrent => qbittorrent::read(folder, options),
        Program::Transmission => transmission::read(folder, options),
        Program::RTorrent => rtorrent::read(folder, options),
        Program::Deluge => deluge::read(folder, options),
    }
}
