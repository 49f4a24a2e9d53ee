//! How far a search is, in a file, for the next time.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::bail;
use serde::{Deserialize, Serialize};

use crate::new_file::{self, Overwrite};

/// What a search can go on from. There is no string in it, as it can be a private key: the units of
/// work in which something was found are searched again, which takes some milliseconds.
pub(super) struct Resume {
    path: PathBuf,
    state: State,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    /// What is searched for, and how it is cut into units, as a digest.
    search: String,
    /// Units before this one are done.
    next_unit: u64,
    /// Units in which something was found.
    units_with_hits: Vec<u64>,
}

impl Resume {
    /// Reads the file, or starts one: it is of the search that has this fingerprint.
    pub(super) fn open(path: &Path, fingerprint: &str, units: Range<u64>) -> anyhow::Result<Self> {
        let state = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => State {
                search: fingerprint.to_owned(),
                next_unit: units.start,
                units_with_hits: Vec::new(),
            },
            Err(error) => return Err(error.into()),
            Ok(bytes) => serde_json::from_slice::<State>(&bytes)?,
        };
        if state.search != fingerprint {
            bail!("is of another search, or of another version of this program");
        }
        let is_of_these = |unit: &u64| units.contains(unit);
        let is_next = (units.start..=units.end).contains(&state.next_unit);
        if !is_next || !state.units_with_hits.iter().all(is_of_these) {
            bail!("does not fit the search");
        }
        Ok(Self {
            path: path.to_owned(),
            state,
        })
    }

    pub(super) fn next_unit(&self) -> u64 {
        self.state.next_unit
    }

    /// Units that were done, and are searched again for what was found in them.
    pub(super) fn units_with_hits(&self) -> impl Iterator<Item = Range<u64>> {
        let done = self
            .state
            .units_with_hits
            .iter()
            .filter(|unit| **unit < self.state.next_unit);
        done.map(|unit| *unit..*unit + 1)
    }

    pub(super) fn note_hit(&mut self, unit: u64) {
        if !self.state.units_with_hits.contains(&unit) {
            self.state.units_with_hits.push(unit);
        }
    }

    pub(super) fn note_done(&mut self, next_unit: u64) {
        self.state.next_unit = self.state.next_unit.max(next_unit);
    }

    pub(super) fn save(&self) -> anyhow::Result<()> {
        let mut bytes = serde_json::to_vec(&self.state)?;
        bytes.push(b'\n');
        new_file::write(&self.path, &bytes, Overwrite::Yes)
    }
}
