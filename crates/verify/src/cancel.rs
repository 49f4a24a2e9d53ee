//! A request to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks a running verification to stop, from any thread or a signal handler's thread. Clones ask
/// for the same.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    is_cancelled: Arc<AtomicBool>,
    /// Who may ask as well.
    parent: Option<Arc<AtomicBool>>,
}

impl CancelToken {
    /// Asks to stop. What is known by then is reported.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        let asks = |token: &Arc<AtomicBool>| token.load(Ordering::Relaxed);
        asks(&self.is_cancelled) || self.parent.as_ref().is_some_and(asks)
    }

    /// A token for a part of the work: whoever cancels this one cancels that one too, but not the
    /// other way round.
    pub(crate) fn child(&self) -> Self {
        debug_assert!(self.parent.is_none(), "there is no part of a part");
        Self {
            is_cancelled: Arc::default(),
            parent: Some(Arc::clone(&self.is_cancelled)),
        }
    }
}
