//! The result of a search.

use hashlane_base58::{Damage, Hit, Outcome, Step};

use super::plan::PlannedSearch;

/// The result of a search.
pub(super) struct Recovered {
    /// The hits, sorted by number of edits.
    pub(super) hits: Vec<Hit>,
    pub(super) outcome: Outcome,
    /// Whether `--max-time` ended the search.
    pub(super) is_late: bool,
}

impl Recovered {
    /// Adds the result of the search that follows.
    pub(super) fn add(&mut self, next: Self) {
        self.hits.extend(next.hits);
        self.hits.sort_by_key(|hit| hit.edits);
        self.outcome.n_rejected += next.outcome.n_rejected;
        self.outcome.is_complete &= next.outcome.is_complete;
        self.outcome.has_too_many_hits |= next.outcome.has_too_many_hits;
        self.is_late |= next.is_late;
    }

    /// Returns `true` if the search used up its work or its time without a hit.
    pub(super) fn found_nothing(&self) -> bool {
        self.hits.is_empty() && (self.outcome.is_complete || self.is_late)
    }
}

/// A search that was made.
pub(super) struct Tried {
    pub(super) damage: Damage,
    pub(super) hashes: u64,
    pub(super) seconds: f64,
    pub(super) is_complete: bool,
}

impl Tried {
    pub(super) fn new(damage: Damage, recovered: &Recovered) -> Self {
        Self {
            damage,
            hashes: recovered.outcome.progress.hashes,
            seconds: recovered.outcome.elapsed.as_secs_f64(),
            is_complete: recovered.outcome.is_complete,
        }
    }
}

/// A search that was not made.
pub(super) struct Suggestion {
    /// Options, or a change of the string.
    pub(super) change: String,
    /// Expected seconds.
    pub(super) seconds: f64,
    pub(super) accidental_hits: f64,
}

impl Suggestion {
    pub(super) fn new(change: String, step: &Step) -> Self {
        Self {
            change,
            seconds: step.seconds,
            accidental_hits: step.estimate.accidental_hits,
        }
    }
}

/// All searches for one string.
pub(super) struct Report<'r> {
    /// The plan of the last search, or of the first one with hits.
    pub(super) plan: &'r PlannedSearch<'r>,
    /// The result of the last search, or of those from the first one with hits on.
    pub(super) recovered: &'r Recovered,
    pub(super) tried: &'r [Tried],
    /// Further possible searches, the cheapest first: if nothing was found, or for strings with fewer edits than accidental
    /// hits.
    pub(super) suggestions: &'r [Suggestion],
}

impl Report<'_> {
    /// Returns `true` if everything was searched that could find the string, or a nearer one than those that were found.
    pub(super) fn is_complete(&self) -> bool {
        self.recovered.outcome.is_complete
            && (self.recovered.hits.is_empty() || self.suggestions.is_empty())
    }

    /// Returns `true` if nothing was found, and the time limit ended only a search that the user did not request.
    pub(super) fn found_nothing_in_time(&self) -> bool {
        let mut tried = self.tried.iter();
        self.recovered.found_nothing() && tried.any(|tried| tried.is_complete)
    }
}
