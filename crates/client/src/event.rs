//! Events of a client.

use std::net::SocketAddr;
use std::path::PathBuf;

use hashlane_api::Identity;
use hashlane_find::OtherRoot;
use serde::{Deserialize, Serialize};

use crate::error::{Absence, TorrentError};

/// Something that happened in a client.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A torrent was added while the client runs, or started again. This is the first event of the torrent.
    Added {
        /// The new torrent.
        torrent: Identity,
        /// Name of the torrent, or of the file that it came from.
        label: String,
        /// Whether it was started again, or a program that keeps torrents had this one already.
        is_known: bool,
        /// Number of times that it was started again. Events before this one are those of an earlier start.
        n_restarts: u64,
    },
    /// The info-hashes of a torrent are known. Sent again if the metadata of a magnet link has another version too. All
    /// later events of the torrent have these info-hashes.
    Identified(Identity),
    /// The .torrent file was read or fetched, or the metadata of a magnet link was received, and its content is looked for.
    Opened {
        /// The torrent, with its info-hashes.
        torrent: Identity,
        /// The metadata. That of a link is as peers sent it.
        metainfo: hashlane_metainfo::Torrent,
    },
    /// Files have the names that other programs write instead of the torrent's. Sent before the content is verified.
    ForeignNames {
        /// The torrent whose content has these names.
        torrent: Identity,
        /// Name of the torrent, unescaped.
        name: String,
        /// The names. Never empty.
        names: Vec<ForeignName>,
    },
    /// The session accepts peers at this address.
    Listening(SocketAddr),
    /// The metadata of a magnet link was received. Its torrent ends.
    Metadata {
        /// The torrent of the link.
        torrent: Identity,
        /// The metadata, with the trackers and web seeds of the link. Piece layers of version 2 are missing: peers send
        /// them only with the content.
        metainfo: hashlane_metainfo::Torrent,
    },
    /// Content that is missing lies near its place under another name. Sent before [`Self::Verified`] or [`Self::Absent`].
    Nearby(NearbyContent),
    /// The content that is present was verified.
    Verified(VerifiedContent),
    /// Present pieces are wrong. The torrent waits for [`Replace`](crate::TorrentCommand::Replace) or
    /// [`Keep`](crate::TorrentCommand::Keep).
    Confirm {
        /// The torrent that waits for the answer.
        torrent: Identity,
        /// The pieces that would be replaced.
        replacement: Replacement,
    },
    /// A piece was downloaded, verified and written.
    Piece {
        /// The torrent of the piece.
        torrent: Identity,
        /// Index of the piece.
        piece: u32,
    },
    /// A download is complete and was verified again.
    Finished(FinishedDownload),
    /// The selected content of a download is complete and verified, and is in its final place. It may have been complete
    /// before this client started.
    Complete(CompleteContent),
    /// No content of a served torrent is present, or no file of a download that had content. The torrent waits for it: it is
    /// verified when its files change.
    Absent {
        /// The torrent that waits for its content.
        torrent: Identity,
        /// The file, or the folder of the files.
        content: PathBuf,
        /// The reason.
        absence: Absence,
    },
    /// Files of a served torrent changed and were verified again.
    Changed(ChangedContent),
    /// A torrent is no longer served.
    Ended {
        /// The torrent that ended.
        torrent: Identity,
        /// Bytes of content sent.
        uploaded_bytes: u64,
    },
    /// A torrent was removed from the client. This is the last event of the torrent.
    Removed(RemovedTorrent),
    /// The files of a torrent that was added got their new names, or kept those of before.
    Renamed {
        /// The torrent whose files were to be renamed.
        torrent: Identity,
        /// The file, or the folder of the files.
        content: PathBuf,
        /// The reason why no file has a new name, if that is so.
        error: Option<TorrentError>,
    },
    /// A move has ended: one that was requested, or the move of a complete download to
    /// [`Download::move_to`](crate::Download::move_to). Content that is served is verified afterwards.
    Relocated {
        /// The torrent whose content was to be moved.
        torrent: Identity,
        /// The file, or the folder of the files: in the new folder, or where it was before a move that failed.
        content: PathBuf,
        /// The reason why the content was not moved, if it was not.
        error: Option<TorrentError>,
    },
    /// A problem that ends no torrent.
    Warning {
        /// The torrent; `None` if the problem concerns the session.
        torrent: Option<Identity>,
        /// The problem.
        message: String,
    },
    /// A torrent failed. The other torrents continue.
    Failed {
        /// The torrent that failed, and ends with this.
        torrent: Identity,
        /// Number of bytes of the selected files that were not present.
        left_bytes: u64,
        /// The reason.
        error: TorrentError,
    },
    /// Events were lost, because the subscriber did not read them in time; see [`Subscription`](crate::Subscription).
    /// [`Client::snapshot`](crate::Client::snapshot) has the state of all torrents.
    Missed {
        /// Number of lost events.
        events: u64,
    },
}

impl Event {
    /// Returns the torrent of the event, if it concerns one.
    pub fn torrent(&self) -> Option<Identity> {
        match self {
            Self::Listening(_) | Self::Missed { .. } => None,
            Self::Warning { torrent, .. } => *torrent,
            Self::Added { torrent, .. }
            | Self::Identified(torrent)
            | Self::ForeignNames { torrent, .. }
            | Self::Opened { torrent, .. }
            | Self::Metadata { torrent, .. }
            | Self::Confirm { torrent, .. }
            | Self::Piece { torrent, .. }
            | Self::Absent { torrent, .. }
            | Self::Ended { torrent, .. }
            | Self::Relocated { torrent, .. }
            | Self::Renamed { torrent, .. }
            | Self::Failed { torrent, .. } => Some(*torrent),
            Self::Nearby(nearby) => Some(nearby.torrent),
            Self::Verified(verified) => Some(verified.torrent),
            Self::Finished(download) => Some(download.torrent),
            Self::Complete(content) => Some(content.torrent),
            Self::Changed(changed) => Some(changed.torrent),
            Self::Removed(removed) => Some(removed.torrent),
        }
    }
}

/// A name that another program writes instead of the torrent's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForeignName {
    /// Path of the file in the torrent, or the torrent's name for the content itself.
    pub path: String,
    /// Path relative to the content on the disk, or the name of the content itself.
    pub found_as: String,
    /// The program.
    pub named_by: &'static str,
    /// Whether this is the name of the content itself: a file, or the folder of the files.
    pub is_content: bool,
}

/// Missing content that lies near its place under another name. A piece of each file was compared, and no more.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NearbyContent {
    /// The torrent that lacks the content.
    pub torrent: Identity,
    /// Name of the torrent, unescaped.
    pub name: String,
    /// The file or folder that has the content, if none of it is at its place.
    pub root: Option<OtherRoot>,
    /// Missing files: the path in the torrent, and the path of the file that has the content.
    pub files: Vec<(String, PathBuf)>,
    /// Whether the content would be downloaded, and not served.
    pub is_download: bool,
}

/// The content of a torrent when it was verified.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VerifiedContent {
    /// The torrent that was verified.
    pub torrent: Identity,
    /// Name of the torrent, unescaped.
    pub name: String,
    /// The file, or the folder of the files.
    pub content: PathBuf,
    /// Number of pieces of the torrent.
    pub pieces: u32,
    /// Number of pieces that are present and right.
    pub have: u32,
    /// Number of these pieces that were trusted, not verified; see [`Seed::records`](crate::Seed::records).
    pub trusted: u32,
    /// Length of all files in bytes.
    pub total_bytes: u64,
    /// Whether every piece and every file is present.
    pub is_complete: bool,
    /// Whether everything is present that is served, or that is selected for the download.
    pub has_selected: bool,
}

/// The selected content of a download, complete and verified.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompleteContent {
    /// The torrent of the download.
    pub torrent: Identity,
    /// Name of the torrent, unescaped.
    pub name: String,
    /// The file, or the folder of the files.
    pub content: PathBuf,
    /// Whether this client downloaded a part of it.
    pub is_new: bool,
}

/// A torrent that was removed from the client.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RemovedTorrent {
    /// The torrent, which no longer exists in the client.
    pub torrent: Identity,
    /// The torrent as the user named it.
    pub label: String,
    /// The file, or the folder of the files; `None` if the metadata was unknown.
    pub content: Option<PathBuf>,
    /// Bytes of content received.
    pub downloaded_bytes: u64,
    /// Bytes of content sent.
    pub uploaded_bytes: u64,
    /// The deletion of the content; `None` if the content was kept or is unknown.
    pub deletion: Option<Deletion>,
}

/// A deletion of the files of a torrent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deletion {
    /// Number of files that were deleted.
    pub files: u64,
    /// Length of these files on the disk.
    pub bytes: u64,
    /// Files of the torrent that exist and were not deleted.
    pub kept: Vec<KeptFile>,
}

/// A file that was not deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFile {
    /// The path of the file, or of the folder if no file could be looked at.
    pub path: PathBuf,
    /// The reason why the file was kept: of the system, or a rule of the client.
    pub reason: String,
}

/// The content of a served torrent after its files changed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChangedContent {
    /// The torrent whose files changed.
    pub torrent: Identity,
    /// Name of the torrent, unescaped.
    pub name: String,
    /// Number of pieces that became wrong or absent and are no longer served.
    pub withdrawn: u32,
    /// Number of pieces that became right and are served again.
    pub restored: u32,
    /// Number of pieces that are present and right.
    pub have: u32,
    /// Number of pieces of the torrent.
    pub pieces: u32,
    /// The reason why no piece is present, if none is.
    pub absence: Option<Absence>,
}

/// A download that is complete and was verified again.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FinishedDownload {
    /// The torrent of the download.
    pub torrent: Identity,
    /// Name of the torrent, unescaped.
    pub name: String,
    /// The file, or the folder of the files.
    pub content: PathBuf,
    /// Bytes of content received.
    pub downloaded_bytes: u64,
    /// Received bytes that were wrong or already present.
    pub wasted_bytes: u64,
    /// Time since the torrent's metadata was known.
    pub elapsed_seconds: f64,
}

/// Pieces that are present and wrong, and would be replaced by a download.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replacement {
    /// Name of the torrent, unescaped.
    pub name: String,
    /// Number of pieces that the download would replace.
    pub wrong_pieces: u32,
    /// Number of pieces of the torrent.
    pub pieces: u32,
    /// Files with wrong pieces: the path in the torrent, and the number of wrong pieces.
    pub files: Vec<(String, u32)>,
}

/// The result of a torrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Outcome {
    /// The requested content is present, and was served until the requested limit.
    Complete,
    /// The content was verified and is incomplete.
    Incomplete,
    /// The torrent failed, or was interrupted before it was complete.
    Failed,
}
