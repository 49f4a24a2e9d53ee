//! Methods that show changes.

use std::sync::PoisonError;

use serde_json::{Map, Value, json};

use super::call::{Answer, Call};
use super::request::Failure;
use super::torrent;

pub(super) fn maindata(call: &Call<'_>) -> Result<Answer, Failure> {
    let rid = call.form.integer("rid")?.unwrap_or(0);
    let rid = u32::try_from(rid).unwrap_or(0);
    // No code that holds the lock leaves the state inconsistent.
    let mut changes = call.changes.lock().unwrap_or_else(PoisonError::into_inner);
    changes.update(call.control, call.snapshot());
    Answer::json(&changes.after(rid))
}

/// Returns all connected peers of a torrent.
pub(super) fn torrent_peers(call: &Call<'_>) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    let rid = call.form.integer("rid")?.unwrap_or(0);
    let peers = call.control.peers(torrent.identity.number);
    let peers: Map<String, Value> = peers.iter().map(torrent::peer).collect();
    Answer::json(&json!({
        "full_update": true,
        "peers": peers,
        "rid": rid.clamp(0, i64::from(u32::MAX)) + 1,
        "show_flags": true,
    }))
}
