//! The JSON lines of `get` and `seed`.

use std::net::SocketAddr;

use hashlane_client::ForeignName;
use serde::Serialize;

/// A JSON line; see docs/json.md.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Report<'r> {
    /// The content that is present was verified.
    Verified {
        #[serde(flatten)]
        torrent: Name<'r>,
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
        torrent: Name<'r>,
        #[serde(flatten)]
        name: NameLine<'r>,
    },
    /// The metadata of a magnet link was written to a .torrent file.
    Fetched {
        #[serde(flatten)]
        torrent: Name<'r>,
        output: String,
        name: String,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        total_bytes: u64,
    },
    /// A torrent was added.
    Added {
        #[serde(flatten)]
        torrent: Name<'r>,
    },
    /// The session accepts peers at this address.
    Listening { address: SocketAddr },
    /// The page is served at this address.
    Page { url: &'r str, token: &'r str },
    /// A piece was downloaded.
    Piece {
        #[serde(flatten)]
        torrent: Name<'r>,
        piece: u32,
    },
    /// A download is complete and was verified again.
    Finished {
        #[serde(flatten)]
        torrent: Name<'r>,
        content: String,
        downloaded_bytes: u64,
        wasted_bytes: u64,
        elapsed_seconds: f64,
    },
    /// Files of a served torrent changed and were verified again.
    Changed {
        #[serde(flatten)]
        torrent: Name<'r>,
        withdrawn: u32,
        restored: u32,
        have: u32,
        pieces: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'static str>,
    },
    /// No content of a served torrent is present.
    Absent {
        #[serde(flatten)]
        torrent: Name<'r>,
        content: String,
        reason: &'static str,
        message: String,
    },
    /// A torrent is no longer served.
    Ended {
        #[serde(flatten)]
        torrent: Name<'r>,
        uploaded_bytes: u64,
    },
    /// A problem that ends no torrent.
    Warning {
        #[serde(flatten)]
        torrent: Option<Name<'r>>,
        message: &'r str,
    },
    /// A command of `--exec` has ended.
    Executed {
        #[serde(flatten)]
        torrent: Name<'r>,
        success: bool,
    },
    /// A torrent failed.
    Error {
        #[serde(flatten)]
        torrent: Name<'r>,
        message: &'r str,
    },
}

/// A torrent as the user named it, and its info-hash, which is unknown at first.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Name<'r> {
    #[serde(rename = "torrent")]
    pub(super) label: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) info_hash: Option<&'r str>,
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
