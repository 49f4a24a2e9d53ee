//! What a method gets, and what it returns.

use std::cell::OnceCell;
use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use hashlane_client::{Snapshot, TorrentSnapshot};
use serde::Serialize;

use super::changes::Changes;
use super::request::{Failure, Form};
use crate::model::Control;

/// A request of a program that may use the client.
pub(super) struct Call<'a> {
    pub(super) control: &'a dyn Control,
    /// The torrents, once the method has asked for them.
    pub(super) snapshot: OnceCell<Arc<Snapshot>>,
    pub(super) form: Form,
    pub(super) changes: &'a Mutex<Changes>,
    pub(super) max_metainfo_len: usize,
}

impl Call<'_> {
    /// Returns the torrents at the first call: a method sees one state. Most methods need none.
    pub(super) fn snapshot(&self) -> &Arc<Snapshot> {
        self.snapshot.get_or_init(|| self.control.snapshot())
    }

    pub(super) fn torrents(&self) -> &[Arc<TorrentSnapshot>] {
        &self.snapshot().torrents
    }
}

/// The answer to a request.
pub(super) enum Answer {
    Text(String),
    /// A JSON text.
    Json(Vec<u8>),
    /// A .torrent file.
    Torrent(Vec<u8>),
}

impl Answer {
    /// Returns a value as JSON. The rows of a list are written one after the other, so that only one is in memory as values.
    pub(super) fn json(value: &impl Serialize) -> Result<Self, Failure> {
        let text = serde_json::to_vec(value)
            .map_err(|error| Failure::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        Ok(Self::Json(text))
    }
}

/// The answer of a method that returns nothing.
pub(super) fn done() -> Answer {
    Answer::Text(String::new())
}
