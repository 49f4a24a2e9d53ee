//! A request to stop.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop, sent from any thread. Clones share one request.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    is_cancelled: Arc<AtomicBool>,
    /// The flags of the parent, of its parent, and so on.
    ancestors: Vec<Arc<AtomicBool>>,
}

impl CancelToken {
    /// Requests the work to stop. Results that are already known are still delivered.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if this token or one of its ancestors was cancelled.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        let is_set = |token: &Arc<AtomicBool>| token.load(Ordering::Relaxed);
        is_set(&self.is_cancelled) || self.ancestors.iter().any(is_set)
    }

    /// Fails with [`io::ErrorKind::Interrupted`] if this token or one of its ancestors was cancelled.
    ///
    /// # Errors
    /// Only that one.
    pub fn check(&self) -> io::Result<()> {
        if self.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(())
    }

    /// Returns a token for a part of the work. Cancelling this token cancels the child and the
    /// child's children too. Cancelling the child does not affect this token.
    #[must_use]
    pub fn child(&self) -> Self {
        let mut ancestors = self.ancestors.clone();
        ancestors.push(Arc::clone(&self.is_cancelled));
        Self {
            is_cancelled: Arc::default(),
            ancestors,
        }
    }

    /// Returns a guard that cancels this token when it is dropped, also by a panic. A future that
    /// holds the guard stops the work of another thread when the future is dropped.
    ///
    /// ```
    /// use hashlane_files::CancelToken;
    ///
    /// let cancel = CancelToken::default();
    /// drop(cancel.cancel_on_drop());
    /// assert!(cancel.is_cancelled());
    /// ```
    pub fn cancel_on_drop(&self) -> CancelGuard {
        CancelGuard {
            token: self.clone(),
            only_by_panic: false,
        }
    }

    /// Returns a guard that cancels this token when a panic drops it. The threads that share the
    /// work of one that panicked need not continue.
    pub fn cancel_on_panic(&self) -> CancelGuard {
        CancelGuard {
            token: self.clone(),
            only_by_panic: true,
        }
    }
}

/// A guard that cancels a [`CancelToken`] when it is dropped, or when a panic drops it.
#[derive(Debug)]
#[must_use = "the token is cancelled when the guard is dropped"]
pub struct CancelGuard {
    token: CancelToken,
    only_by_panic: bool,
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        if !self.only_by_panic || std::thread::panicking() {
            self.token.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_cancelled_with_every_ancestor() {
        for cancelled in 0..3 {
            let first = CancelToken::default();
            let second = first.child();
            let tokens = [first, second.clone(), second.child()];
            tokens[cancelled].clone().cancel();
            for (i, token) in tokens.iter().enumerate() {
                assert_eq!(token.is_cancelled(), i >= cancelled, "{i} of {cancelled}");
                assert_eq!(token.check().is_err(), i >= cancelled, "{i} of {cancelled}");
            }
        }
    }
}
