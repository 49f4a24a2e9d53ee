//! When the preparation of a search ends early.

use std::cell::Cell;
use std::time::Instant;

use crate::error::SearchError;

/// When the preparation of a search ends early: with an error, or with a part of the search.
pub(crate) struct Patience<'p> {
    /// Ends the preparation with an error.
    is_over: &'p dyn Fn() -> bool,
    has_ended: Cell<bool>,
    /// Time for a part of the search.
    until: Option<Instant>,
    /// Whether something was left out.
    pub(crate) is_part: Cell<bool>,
}

impl<'p> Patience<'p> {
    pub(crate) fn new(is_over: &'p dyn Fn() -> bool, until: Option<Instant>) -> Self {
        Self {
            is_over,
            has_ended: Cell::new(false),
            until,
            is_part: Cell::new(false),
        }
    }

    /// Returns the end of `n` of `of` equal steps that share the remaining time.
    pub(crate) fn share(&self, n: usize, of: usize) -> Option<Instant> {
        let now = Instant::now();
        let left = self.until?.saturating_duration_since(now);
        Some(now + left.mul_f64(n as f64 / of.max(1) as f64))
    }

    /// Returns `true` if the preparation ends, or a step that may last until this time.
    pub(crate) fn is_over(&self, until: Option<Instant>) -> bool {
        if (self.is_over)() {
            self.has_ended.set(true);
            return true;
        }
        let is_late = until.is_some_and(|until| Instant::now() >= until);
        if is_late {
            self.is_part.set(true);
        }
        is_late
    }

    /// # Errors
    /// [`SearchError::Ended`] if the caller has ended the preparation.
    pub(crate) fn check(&self) -> Result<(), SearchError> {
        if self.has_ended.get() {
            return Err(SearchError::Ended);
        }
        Ok(())
    }
}
