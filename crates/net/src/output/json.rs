//! The JSON lines of `get` and `seed`.

use std::net::SocketAddr;

use hashlane_client::{Deletion, ForeignName, Identity};
use serde::Serialize;

/// A JSON line; see docs/reference/json.md.
#[derive(Serialize)]
pub(super) struct Line<'r> {
    #[serde(rename = "type")]
    kind: &'static str,
    /// `None` in lines that concern no torrent.
    #[serde(flatten)]
    torrent: Option<Name<'r>>,
    #[serde(flatten)]
    report: &'r Report<'r>,
}

impl<'r> Line<'r> {
    pub(super) fn new(torrent: Option<Name<'r>>, report: &'r Report<'r>) -> Self {
        let kind = match report {
            Report::Verified { .. } => "verified",
            Report::ForeignName { .. } => "foreign_name",
            Report::Candidate { .. } => "candidate",
            Report::Fetched { .. } => "fetched",
            Report::Added {} => "added",
            Report::Listening { .. } => "listening",
            Report::Page { .. } => "page",
            Report::Piece { .. } => "piece",
            Report::Finished { .. } => "finished",
            Report::Changed { .. } => "changed",
            Report::Absent { .. } => "absent",
            Report::Ended { .. } => "ended",
            Report::Removed { .. } => "removed",
            Report::Relocated(_) => "relocated",
            Report::Renamed(_) => "renamed",
            Report::Warning { .. } => "warning",
            Report::Executed { .. } => "executed",
            Report::Missed { .. } => "missed",
            Report::Error { .. } => "error",
        };
        Self {
            kind,
            torrent,
            report,
        }
    }
}

/// The part of a line that depends on its type.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Report<'r> {
    /// The content that is present was verified.
    Verified {
        name: &'r str,
        content: String,
        pieces: u32,
        have: u32,
        trusted: u32,
        total_bytes: u64,
    },
    /// A file has the name that another program writes.
    ForeignName {
        #[serde(flatten)]
        name: NameLine<'r>,
    },
    /// Missing content lies near its place under another name.
    Candidate {
        /// The path in the torrent; `None` for the content itself.
        path: Option<&'r str>,
        candidate: String,
    },
    /// The metadata of a magnet link was written to a .torrent file.
    Fetched {
        output: String,
        name: String,
        total_bytes: u64,
    },
    /// A torrent was added.
    Added {},
    /// The session accepts peers at this address.
    Listening { address: SocketAddr },
    /// The page is served at this address.
    Page {
        url: &'r str,
        token: Option<&'r str>,
    },
    /// A piece was downloaded.
    Piece { piece: u32 },
    /// A download is complete and was verified again.
    Finished {
        content: String,
        downloaded_bytes: u64,
        wasted_bytes: u64,
        elapsed_seconds: f64,
    },
    /// Files of a served torrent changed and were verified again.
    Changed {
        withdrawn: u32,
        restored: u32,
        have: u32,
        pieces: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'static str>,
    },
    /// No content of a served torrent is present.
    Absent {
        content: String,
        reason: &'static str,
        message: String,
    },
    /// A torrent is no longer served.
    Ended { uploaded_bytes: u64 },
    /// A torrent was removed from the client.
    Removed {
        uploaded_bytes: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        deleted: Option<Deleted>,
    },
    /// A move that was requested has ended.
    Relocated(Placed),
    /// The files of a torrent have new names, or kept their names.
    Renamed(Placed),
    /// A problem that ends no torrent.
    Warning { message: &'r str },
    /// A command of `--exec` has ended.
    Executed { success: bool },
    /// Lines were left out.
    Missed { events: u64 },
    /// A torrent failed.
    Error { message: &'r str },
}

/// The files of a removed torrent that were deleted.
#[derive(Serialize)]
pub(super) struct Deleted {
    files: u64,
    bytes: u64,
    kept: Vec<Kept>,
}

/// A file that was not deleted.
#[derive(Serialize)]
struct Kept {
    path: String,
    reason: String,
}

impl From<&Deletion> for Deleted {
    fn from(deletion: &Deletion) -> Self {
        let kept = deletion.kept.iter().map(|kept| Kept {
            path: kept.path.to_string_lossy().into_owned(),
            reason: kept.reason.clone(),
        });
        Self {
            files: deletion.files,
            bytes: deletion.bytes,
            kept: kept.collect(),
        }
    }
}

/// A torrent as the user named it, and its identity.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Name<'r> {
    #[serde(rename = "torrent")]
    pub(crate) label: &'r str,
    #[serde(flatten)]
    pub(crate) identity: Identity,
}

/// A name that another program writes instead of the torrent's.
#[derive(Serialize)]
pub(super) struct NameLine<'r> {
    path: &'r str,
    found_as: &'r str,
    named_by: &'r str,
    is_content: bool,
}

impl<'r> From<&'r ForeignName> for NameLine<'r> {
    fn from(name: &'r ForeignName) -> Self {
        Self {
            path: &name.path,
            found_as: &name.found_as,
            named_by: name.named_by,
            is_content: name.is_content,
        }
    }
}

/// Where the content of a torrent lies now, and the reason if it could not be changed.
#[derive(Serialize)]
pub(super) struct Placed {
    pub(super) content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}
