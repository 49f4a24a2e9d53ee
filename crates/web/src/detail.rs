//! The detail of one torrent: its pieces, rates and peers.

use std::sync::Arc;

use data_encoding::BASE64;
use hashlane_api::{Peer, Peers};
use hashlane_client::{RateHistory, TorrentSnapshot};
use hashlane_metainfo::{MetadataRef, Secrets, Torrent};
use hashlane_verify::bitfield::bitfield;
use serde::Serialize;

use super::service::Found;

/// Maximum number of peers in the detail of a torrent. Peers with the highest rates come first.
const MAX_PEERS: usize = 200;

/// Maximum number of characters of a text in a .torrent file.
const MAX_TEXT: usize = 2000;

/// A torrent with its pieces and peers.
#[derive(Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "TorrentDetail")
)]
pub(super) struct Detail {
    #[serde(flatten)]
    torrent: Arc<TorrentSnapshot>,
    /// A bit for each piece, set if the piece is present, in base 64. The first piece is the highest bit of the first
    /// byte.
    have: String,
    /// A bit for each piece, set if its content was wrong at the last verification or on arrival.
    wrong: String,
    /// While the torrent is verified, a bit for each piece, set if its state is known; then `have` and `wrong` are those of
    /// this verification. Empty at other times.
    checked: String,
    /// Rates of the last minutes.
    rate_history: RateHistoryView,
    #[serde(flatten)]
    peers: Peers,
    /// The comment in the .torrent file, at most 2,000 characters.
    comment: Option<String>,
    /// The time when the torrent was made, in seconds since 1970, as its author says.
    created_at: Option<i64>,
    /// The program that made the torrent, at most 2,000 characters.
    created_by: Option<String>,
}

impl Detail {
    pub(super) fn of(found: Found) -> Self {
        let Found { torrent, handle } = found;
        let in_session = handle
            .as_ref()
            .and_then(|handle| handle.have().ok().zip(handle.peers().ok()));
        let (have, mut peers) = match in_session {
            Some((have, peers)) => (bitfield(have), peers),
            // A complete torrent keeps its pieces after its end.
            None if torrent.is_complete => (bitfield(torrent.have().iter().copied()), Vec::new()),
            None => (Vec::new(), Vec::new()),
        };
        let live = torrent.live_pieces();
        let base64 = |pieces: &[bool]| BASE64.encode(&bitfield(pieces.iter().copied()));
        let (have, wrong, checked) = match &live {
            Some(live) => (
                base64(&live.have),
                base64(&live.wrong),
                base64(&live.checked),
            ),
            None => (BASE64.encode(&have), base64(torrent.wrong()), String::new()),
        };
        let rate = |peer: &Peer| peer.down_rate + peer.up_rate;
        peers.sort_by(|a, b| rate(b).cmp(&rate(a)).then(a.address.cmp(&b.address)));
        peers.truncate(MAX_PEERS);
        let keys = torrent.metainfo().map(Torrent::metadata_ref);
        // Sites repeat a user's passkey in the comment.
        let text = |of: fn(&MetadataRef<'_>) -> Option<String>| {
            let keys = keys.as_ref()?;
            let start: String = of(keys)?.chars().take(MAX_TEXT).collect();
            Some(Secrets::of(keys).mask_known(&start))
        };
        let comment = text(|keys| keys.comment.map(|it| it.to_string()));
        let created_by = text(|keys| keys.created_by.map(|it| it.to_string()));
        let created_at = keys.and_then(|keys| keys.creation_date);
        Self {
            have,
            wrong,
            checked,
            rate_history: RateHistoryView::of(torrent.rate_history()),
            peers: Peers { peers },
            comment,
            created_at,
            created_by,
            torrent,
        }
    }
}

/// Rates of the last minutes in bytes per second, the oldest first.
#[derive(Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "RateHistory")
)]
struct RateHistoryView {
    /// Time between two values.
    interval_seconds: u64,
    /// Download rates.
    #[cfg_attr(feature = "schema", schemars(length(max = RateHistory::MAX_LEN)))]
    down: Vec<u64>,
    /// Upload rates.
    #[cfg_attr(feature = "schema", schemars(length(max = RateHistory::MAX_LEN)))]
    up: Vec<u64>,
}

impl RateHistoryView {
    fn of(history: &RateHistory) -> Self {
        Self {
            interval_seconds: RateHistory::INTERVAL.as_secs(),
            down: history.down.iter().copied().collect(),
            up: history.up.iter().copied().collect(),
        }
    }
}
