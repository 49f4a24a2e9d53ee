//! A request to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop, sent from any thread. Clones share one request.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    is_cancelled: Arc<AtomicBool>,
    parent: Option<Arc<AtomicBool>>,
}

impl CancelToken {
    /// Requests the work to stop. Results that are already known are still delivered.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if this token or its parent was cancelled.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        let is_set = |token: &Arc<AtomicBool>| token.load(Ordering::Relaxed);
        is_set(&self.is_cancelled) || self.parent.as_ref().is_some_and(is_set)
    }

    /// Returns a token for a part of the work. Cancelling this token cancels the child too.
    /// Cancelling the child does not affect this token.
    #[must_use]
    pub fn child(&self) -> Self {
        debug_assert!(self.parent.is_none(), "a child token has no children");
        Self {
            is_cancelled: Arc::default(),
            parent: Some(Arc::clone(&self.is_cancelled)),
        }
    }
}
