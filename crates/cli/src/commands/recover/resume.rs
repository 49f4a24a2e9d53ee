//! The resume file: the progress of every search of a run.
//!
//! A search is identified by a fingerprint of its string and options. The file holds no string, because a string
//! can be a private key. Hits are therefore not stored either: work units with hits are searched again, which takes
//! milliseconds each.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use data_encoding::HEXLOWER;
use hashlane_files::read_regular;
use hashlane_sha::Sha256;
use serde::{Deserialize, Serialize};

use crate::new_file::{self, Overwrite};

/// Maximum size of a file to read. The hits of a search take less than 3 MB.
const MAX_FILE_LEN: u64 = 64 << 20;

/// A resume file: the work units of a search that are done, and its hits.
pub(super) struct ResumeFile {
    path: PathBuf,
    searches: Searches,
    /// Whether a search of this run is in the file, or the file is new.
    is_of_this_run: bool,
}

/// Searches by fingerprint.
type Searches = BTreeMap<String, State>;

/// The content of a resume file. A damaged number would leave out work units, and a string would not be found.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content<S> {
    searches: S,
    /// The digest of the JSON of `searches`.
    sha256: String,
}

impl<S: Serialize> Content<S> {
    fn new(searches: S) -> serde_json::Result<Self> {
        let bytes = serde_json::to_vec(&searches)?;
        let sha256 = HEXLOWER.encode(Sha256::digest(&bytes).as_ref());
        Ok(Self { searches, sha256 })
    }
}

/// The progress of one search.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    /// All work units before this one are done.
    next_unit: u64,
    /// The number of work units of the whole search.
    total_units: u64,
    /// Work units with hits.
    units_with_hits: BTreeSet<u64>,
}

/// One search of a resume file.
pub(super) struct ResumedSearch<'f> {
    file: &'f mut ResumeFile,
    fingerprint: String,
    /// Work units that are searched again, before the remaining units.
    again: Vec<u64>,
    remaining: Range<u64>,
}

impl ResumeFile {
    /// Reads the file if it exists. `fingerprints` identifies the searches that this run is known to make.
    ///
    /// The file is not written before [`ResumedSearch::save`].
    pub(super) fn open(path: &Path, fingerprints: &[String]) -> anyhow::Result<Self> {
        let mut bytes = Vec::new();
        let searches = match read_regular(path, MAX_FILE_LEN, &mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Searches::new(),
            Err(error) => return Err(error.into()),
            Ok(false) => bail!("is not a resume file: larger than 64 MiB"),
            Ok(true) => parse(&bytes)?,
        };
        let is_of_this_run = searches.is_empty()
            || fingerprints
                .iter()
                .any(|fingerprint| searches.contains_key(fingerprint));
        Ok(Self {
            path: path.to_owned(),
            searches,
            is_of_this_run,
        })
    }

    /// Returns the search with this fingerprint, which covers `units` of `total_units`. A search that is not in the
    /// file is added, unless the file belongs to another run.
    pub(super) fn search(
        &mut self,
        fingerprint: String,
        units: Range<u64>,
        total_units: u64,
    ) -> anyhow::Result<ResumedSearch<'_>> {
        let is_known = self.searches.contains_key(&fingerprint);
        if !is_known && !self.is_of_this_run {
            bail!(
                "belongs to another search or another version of hashlane; name another file, or delete this one"
            );
        }
        self.is_of_this_run = true;
        let state = self
            .searches
            .entry(fingerprint.clone())
            .or_insert_with(|| State {
                next_unit: units.start,
                total_units,
                units_with_hits: BTreeSet::new(),
            });
        state.check(&units, total_units)?;
        let done = state.units_with_hits.range(..state.next_unit);
        let again = done.copied().collect();
        let remaining = state.next_unit..units.end;
        Ok(ResumedSearch {
            file: self,
            fingerprint,
            again,
            remaining,
        })
    }
}

impl State {
    fn check(&self, units: &Range<u64>, total_units: u64) -> anyhow::Result<()> {
        let is_next = (units.start..=units.end).contains(&self.next_unit);
        let mut hits = self.units_with_hits.iter();
        ensure!(
            self.total_units == total_units && is_next && hits.all(|unit| units.contains(unit)),
            "does not match the search: the file is damaged; delete it to start again"
        );
        Ok(())
    }
}

impl ResumedSearch<'_> {
    /// Returns the work units to search, in this order.
    pub(super) fn units(&self) -> Vec<Range<u64>> {
        let again = self.again.iter().map(|unit| *unit..*unit + 1);
        again.chain([self.remaining.clone()]).collect()
    }

    /// Records that a work unit has a hit, so that a continued run searches it again and prints the hit.
    pub(super) fn record_hit(&mut self, unit: u64) {
        self.state().units_with_hits.insert(unit);
    }

    /// Records that the first `n` of [`Self::units`] are done.
    pub(super) fn record_done(&mut self, n: u64) {
        let n = n.saturating_sub(self.again.len() as u64);
        let next_unit = self.remaining.start + n;
        let state = self.state();
        state.next_unit = state.next_unit.max(next_unit);
    }

    /// Writes the file, so that either the old or the new content survives a crash.
    pub(super) fn save(&self) -> anyhow::Result<()> {
        let mut bytes = serde_json::to_vec(&Content::new(&self.file.searches)?)?;
        bytes.push(b'\n');
        let path = &self.file.path;
        new_file::write(path, &bytes, Overwrite::Yes).with_context(|| path.display().to_string())
    }

    fn state(&mut self) -> &mut State {
        let state = self.file.searches.get_mut(&self.fingerprint);
        state.expect("`ResumeFile::search` has added it")
    }
}

fn parse(bytes: &[u8]) -> anyhow::Result<Searches> {
    let content: Content<Searches> = serde_json::from_slice(bytes)
        .context("is not a resume file of this version of hashlane")?;
    let intact = Content::new(content.searches)?;
    ensure!(
        intact.sha256 == content.sha256,
        "is damaged: its SHA-256 is another one; delete the file to start again"
    );
    Ok(intact.searches)
}
