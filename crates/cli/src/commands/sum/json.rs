//! The JSON lines of `hashlane sum`. docs/reference/json.md describes them.

use std::collections::BTreeMap;

use hashlane_sums::{Algorithm, Digest};
use serde::Serialize;

use super::counts::Counts;
#[cfg(feature = "schema")]
use crate::output::json_lines;
use crate::output::json_lines::PathText;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line<'l> {
    File {
        /// The name, as above.
        #[serde(flatten)]
        path: PathText,
        /// Number of bytes that were read.
        length: u64,
        /// Hexadecimal digests by the names of their algorithms, for example `sha256`; or a tree hash by its name, for
        /// example `fsverity`, as it is printed without `--json`.
        digests: BTreeMap<String, String>,
    },
    Chunk {
        /// The name, as above.
        #[serde(flatten)]
        path: PathText,
        /// Position of the chunk in bytes.
        offset: u64,
        /// Length of the chunk in bytes.
        length: u64,
        /// The digest in hexadecimal digits by the name of its algorithm, for example `sha256`.
        digests: BTreeMap<&'static str, String>,
    },
    Checked {
        /// The name in the list, as above; the path below the folder for an extra file.
        #[serde(flatten)]
        path: PathText,
        /// `right`, `changed`, `missing`, `unreadable`, `moved`, `extra` or `partly`: the first bytes are right, and no
        /// digest covers the others.
        state: &'static str,
        /// The path below the folder; only if `state` is `moved`.
        #[serde(skip_serializing_if = "Option::is_none")]
        found_at: Option<String>,
        /// Line number in the list; only if the name is not below the folder of `--against`.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u64>,
    },
    Verity {
        /// The name, as above.
        #[serde(flatten)]
        path: PathText,
        /// Digest of the highest block of the tree, in hexadecimal digits; without a tree, the root hash of the data.
        root_hash: String,
        /// Number of blocks of the data.
        blocks: u64,
        /// Number of damaged blocks of the data.
        damaged: u64,
        /// The first and the last block of each range of damaged blocks of the data; at most 1000 ranges.
        damaged_ranges: Vec<[u64; 2]>,
        /// Number of damaged blocks of the hash device or the tree.
        device_damaged: u64,
        /// The same for the hash device or the tree.
        device_damaged_ranges: Vec<[u64; 2]>,
    },
    Prefix {
        /// Path of the list, as given.
        list: String,
        /// The folder that is removed from the names of the list, as above; empty if none is.
        #[serde(flatten)]
        path: PathText,
        /// `path` and `path_hex` of another folder with which as many names exist; absent if there is none.
        #[serde(skip_serializing_if = "Option::is_none")]
        tied: Option<PathText>,
    },
    Store {
        /// The folder, as it was named.
        #[serde(flatten)]
        path: PathText,
        /// `huggingface`, `huggingface-download`, `ollama`, `oci`, `git-lfs` or `restic`.
        layout: &'static str,
        /// Number of files with a digest.
        files: usize,
        /// Number of unfinished files, which are not checked.
        unfinished: u64,
    },
    Summary(Counts),
    Error {
        /// The name.
        path: &'l str,
        /// The reason why there is no digest.
        message: String,
    },
}

/// Returns the schema of the lines.
#[cfg(feature = "schema")]
pub(crate) fn schema() -> schemars::Schema {
    json_lines::schema_of::<Line<'_>>()
}

/// Returns digests by the names of their algorithms.
pub(super) fn digests(algorithms: &[Algorithm], digests: &[Digest]) -> BTreeMap<String, String> {
    let names = algorithms
        .iter()
        .map(|algorithm| algorithm.to_string().to_lowercase());
    names.zip(digests.iter().map(ToString::to_string)).collect()
}
