//! The result of a search.

use hashlane_base58::{Hit, Outcome};

/// The result of a search.
pub(super) struct Recovered {
    /// The fewest edits first.
    pub(super) hits: Vec<Hit>,
    /// Hits that the filter rejected.
    pub(super) n_rejected: usize,
    pub(super) outcome: Outcome,
    /// Whether `--max-time` ended the search.
    pub(super) is_late: bool,
}
