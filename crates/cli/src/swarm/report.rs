//! What is told to programs, as JSON lines.

use std::net::SocketAddr;

use serde::Serialize;

/// A JSON line; see docs/json.md.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Report<'r> {
    /// What of a torrent was there.
    Verified {
        torrent: &'r str,
        name: &'r str,
        content: String,
        pieces: u32,
        have: u32,
        total_bytes: u64,
    },
    /// Peers are waited for there.
    Listening { address: SocketAddr },
    /// A page is served there.
    Page { url: &'r str, token: &'r str },
    /// A piece has come.
    Piece { torrent: &'r str, piece: u32 },
    /// A torrent has all that was asked for.
    Finished {
        torrent: &'r str,
        downloaded_bytes: u64,
        wasted_bytes: u64,
        elapsed_seconds: f64,
    },
    /// A torrent is not served any more.
    Ended {
        torrent: &'r str,
        uploaded_bytes: u64,
    },
    /// Something that is gone on from.
    Warning {
        #[serde(skip_serializing_if = "Option::is_none")]
        torrent: Option<&'r str>,
        message: &'r str,
    },
    /// A torrent that cannot be gone on with.
    Error { torrent: &'r str, message: &'r str },
}
