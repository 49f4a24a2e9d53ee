//! What a method gets, and what it returns.

use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::changes::Changes;
use super::request::Form;
use crate::model::{Control, Torrent};

/// A request of a program that may use the client.
pub(super) struct Call<'a> {
    pub(super) control: &'a dyn Control,
    pub(super) torrents: Arc<[Torrent]>,
    pub(super) form: Form,
    pub(super) changes: &'a Mutex<Changes>,
    pub(super) max_metainfo_len: usize,
}

/// The answer to a request.
pub(super) enum Answer {
    Text(String),
    Json(Value),
    /// A .torrent file.
    Torrent(Vec<u8>),
}

/// The answer of a method that returns nothing.
pub(super) fn done() -> Answer {
    Answer::Text(String::new())
}
