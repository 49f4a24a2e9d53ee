//! The JSON lines of `hashlane sum`. docs/reference/json.md describes them.

use std::collections::BTreeMap;

use hashlane_sums::{Algorithm, Digest};
use serde::Serialize;

use super::counts::Counts;
use crate::output::json_lines::PathText;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line<'l> {
    File {
        #[serde(flatten)]
        path: PathText,
        length: u64,
        digests: BTreeMap<String, String>,
    },
    Chunk {
        #[serde(flatten)]
        path: PathText,
        offset: u64,
        length: u64,
        digests: BTreeMap<&'static str, String>,
    },
    Checked {
        #[serde(flatten)]
        path: PathText,
        state: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        found_at: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u64>,
    },
    Verity {
        #[serde(flatten)]
        path: PathText,
        root_hash: String,
        blocks: u64,
        damaged: u64,
        damaged_ranges: Vec<[u64; 2]>,
        device_damaged: u64,
        device_damaged_ranges: Vec<[u64; 2]>,
    },
    Prefix {
        list: String,
        #[serde(flatten)]
        path: PathText,
        /// Another prefix with which as many names exist.
        #[serde(skip_serializing_if = "Option::is_none")]
        tied: Option<PathText>,
    },
    Store {
        #[serde(flatten)]
        path: PathText,
        layout: &'static str,
        files: usize,
        unfinished: u64,
    },
    Summary(Counts),
    Error {
        path: &'l str,
        message: String,
    },
}

/// Returns digests by the names of their algorithms.
pub(super) fn digests(algorithms: &[Algorithm], digests: &[Digest]) -> BTreeMap<String, String> {
    let names = algorithms
        .iter()
        .map(|algorithm| algorithm.to_string().to_lowercase());
    names.zip(digests.iter().map(ToString::to_string)).collect()
}
