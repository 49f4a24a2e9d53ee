//! The types of docs/reference/json.md, by command. Fields that are not documented are rejected.

mod create;
mod import;
mod kernels;
mod recover;
mod show;
mod verify;

use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    path: String,
    path_hex: Option<String>,
}

/// Parses JSON lines.
fn lines<L: DeserializeOwned>(text: &str) -> Vec<L> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
