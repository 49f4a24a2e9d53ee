//! Requests for many torrents, and answers that name torrents.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::command::Command;
use crate::identity::{Added, Named};

/// One command for many torrents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Batch<'b> {
    /// The torrents: numbers as integers, or texts: numbers, info-hashes, first digits of info-hashes (at least 4), or exact names.
    /// Either this or `all` is present.
    #[cfg_attr(feature = "schema", schemars(length(max = 10_000)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torrents: Option<Vec<BatchKey>>,
    /// Whether the command is for all torrents, however many.
    #[serde(default)]
    pub all: bool,
    /// The command.
    pub change: Cow<'b, Command>,
}

/// A torrent of a batch. A number means no other torrent that is named like it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(untagged)]
pub enum BatchKey {
    /// The number of a torrent.
    Number(usize),
    /// A torrent as a person names it.
    Text(String),
}

/// The answer to a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Results")
)]
pub struct BatchResults {
    /// The result of each torrent, in the order of the request.
    pub results: Vec<BatchResult>,
}

/// What became of one torrent of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Result")
)]
pub struct BatchResult {
    /// The torrent as the request named it, or its number.
    pub torrent: String,
    /// The status that a request for this torrent alone would have had.
    pub status: u16,
    /// The reason why nothing changed.
    pub error: Option<String>,
    /// The torrent; `None` if there is none, or if several fit.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Job {
    /// The number of the job.
    pub id: u64,
    /// Its state.
    #[serde(flatten)]
    pub state: JobState,
}

/// The state of a [`Job`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobState {
    /// How far the job is.
    pub state: Progress,
    /// The torrent, if the program has it now.
    pub torrent: Option<Named>,
    /// The reason why the torrent was not added.
    pub error: Option<String>,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reloaded {
    /// Long names of the options that have changed since the start and need a restart.
    pub restart: Vec<String>,
}
