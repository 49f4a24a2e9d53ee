//! Errors of a search.

use crate::pattern::PatternError;

/// The reason why a search cannot be prepared or run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The text is not a pattern of a string.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A text from which one string is to be extracted contains several.
    #[error("found {found} strings in one text; pass only one of them")]
    SeveralStrings {
        /// Number of different strings.
        found: usize,
    },
    /// The kind cannot be searched for.
    #[error("{kind}: {reason}")]
    Kind {
        /// The name of the kind.
        kind: String,
        /// The property of the kind that prevents a search, as a sentence part.
        reason: &'static str,
    },
    /// The number of work units exceeds 64 bits.
    #[error("there are more than 2^{bits} candidates, too many to search")]
    TooLarge {
        /// Binary logarithm of the number of candidates, rounded down.
        bits: u32,
    },
    /// The system could not start a thread.
    #[error("cannot start a thread: {0}; `ulimit -u` and `ulimit -v` limit threads")]
    Thread(String),
    /// The caller ended the preparation of the search.
    #[error("the preparation of the search was ended")]
    Ended,
}
