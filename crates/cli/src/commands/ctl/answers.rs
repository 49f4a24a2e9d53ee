//! Requests and answers of the HTTP API, as far as `ctl` reads and prints them.

use hashlane_api::Command;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line of JSON.
#[derive(Serialize)]
pub(super) struct Line<'l, T: Serialize> {
    #[serde(rename = "type")]
    pub(super) kind: &'l str,
    #[serde(flatten)]
    pub(super) value: &'l T,
}

/// The identity of a torrent in an answer.
#[derive(Serialize, Deserialize)]
pub(super) struct Identity {
    pub(super) number: u64,
    pub(super) info_hash: Option<String>,
    pub(super) info_hash_v1: Option<String>,
    pub(super) info_hash_v2: Option<String>,
    pub(super) title: String,
}

/// A torrent that was added, or was present.
#[derive(Serialize, Deserialize)]
pub(super) struct Added {
    #[serde(flatten)]
    pub(super) torrent: Identity,
    pub(super) present: bool,
}

/// A torrent that was changed.
#[derive(Serialize)]
pub(super) struct Changed {
    pub(super) action: &'static str,
    #[serde(flatten)]
    pub(super) torrent: Identity,
}

/// The torrents, or some of them.
#[derive(Deserialize)]
pub(super) struct Torrents {
    pub(super) torrents: Vec<Value>,
}

/// A torrent that is being added from a URL, or was.
#[derive(Deserialize)]
pub(super) struct Job {
    pub(super) id: u64,
    pub(super) state: String,
    pub(super) torrent: Option<Identity>,
    pub(super) error: Option<String>,
}

/// The answer to a request that adds a torrent: at once, or later.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Answer {
    Job(Job),
    Found(Added),
}

#[derive(Serialize)]
pub(super) struct Batch<'b> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) torrents: Option<&'b [String]>,
    pub(super) all: bool,
    pub(super) change: &'b Command,
}

#[derive(Deserialize)]
pub(super) struct Results {
    pub(super) results: Vec<Outcome>,
}

/// What became of one torrent.
#[derive(Deserialize)]
pub(super) struct Outcome {
    pub(super) torrent: String,
    /// The status that a request for this torrent alone would have had.
    pub(super) status: u16,
    pub(super) error: Option<String>,
    pub(super) found: Option<Identity>,
}

/// The result of a reload.
#[derive(Serialize, Deserialize)]
pub(super) struct Reloaded {
    pub(super) restart: Vec<String>,
}
