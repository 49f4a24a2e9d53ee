//! Requests for many torrents, and answers that name torrents.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::command::Command;
use crate::identity::{Added, Named};

/// One command for many torrents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch<'b> {
    /// The torrents, unless the request is for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torrents: Option<Vec<BatchKey>>,
    /// Whether the request is for all torrents.
    #[serde(default)]
    pub all: bool,
    /// What is asked of them.
    pub change: Cow<'b, Command>,
}

/// A torrent of a batch. A number means no other torrent that is named like it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BatchKey {
    /// The number of a torrent.
    Number(usize),
    /// A torrent as a person names it.
    Text(String),
}

/// The answer to a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchResults {
    /// A result for each torrent.
    pub results: Vec<BatchResult>,
}

/// What became of one torrent of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchResult {
    /// The torrent as the request named it, or its number.
    pub torrent: String,
    /// The status that a request for this torrent alone would have had.
    pub status: u16,
    /// The reason of a refusal.
    pub error: Option<String>,
    /// The torrent, unless there is none.
    pub found: Option<Named>,
}

/// The answer to a request that adds a torrent: at once, or later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Addressed {
    /// The daemon fetches the torrent.
    Job(Job),
    /// The torrent.
    Added(Added),
}

/// A torrent that is added from a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The number of the job.
    pub id: u64,
    /// Its state.
    #[serde(flatten)]
    pub state: JobState,
}

/// The state of a [`Job`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobState {
    /// How far it is.
    pub state: Progress,
    /// The torrent, if the program has it now.
    pub torrent: Option<Named>,
    /// The reason why it failed.
    pub error: Option<String>,
}

/// How far a [`Job`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// The .torrent file is being fetched.
    Fetching,
    /// The torrent was added.
    Added,
    /// The torrent was present.
    Present,
    /// The torrent was not added.
    Failed,
}

/// The answer to another reading of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloaded {
    /// Long names of the options that have changed since the start and need a restart.
    pub restart: Vec<String>,
}
