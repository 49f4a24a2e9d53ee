//! Rates, limits and categories of the whole client.

use std::sync::Arc;

use hashlane_api::Category;
use hashlane_client::TorrentSnapshot;
use serde_json::{Map, Value, json};

use crate::model::Session;

/// Returns rates, sums and limits.
pub(super) fn state(session: &Session, torrents: &[Arc<TorrentSnapshot>]) -> Map<String, Value> {
    let sum = |rate: fn(&TorrentSnapshot) -> u64| {
        let rates = torrents.iter().map(|torrent| rate(torrent));
        rates.fold(0, u64::saturating_add)
    };
    let connection = match (session.is_listening, session.is_reachable) {
        (true, true) => "connected",
        (true, false) => "firewalled",
        (false, _) => "disconnected",
    };
    let fields = [
        ("connection_status", json!(connection)),
        ("dht_nodes", json!(session.n_dht_nodes)),
        ("dl_info_data", json!(session.now.downloaded)),
        (
            "dl_info_speed",
            json!(sum(|torrent| torrent.down_bytes_per_second)),
        ),
        ("dl_rate_limit", json!(session.max_down.unwrap_or(0))),
        ("up_info_data", json!(session.now.uploaded)),
        (
            "up_info_speed",
            json!(sum(|torrent| torrent.up_bytes_per_second)),
        ),
        ("up_rate_limit", json!(session.max_up.unwrap_or(0))),
    ];
    fields
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// Returns whether torrents wait for their turn.
pub(super) fn queues(session: &Session) -> bool {
    session.max_downloads.is_some() || session.max_seeds.is_some()
}

/// Returns a category as programs see it.
pub(super) fn category(category: &Category) -> Value {
    let folder = category.folder.as_deref().unwrap_or("");
    json!({ "name": category.name, "savePath": folder })
}
