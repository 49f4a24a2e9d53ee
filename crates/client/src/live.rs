//! What a running verification has found so far.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashlane_verify::PieceState;

/// The state of the verification of a torrent. The thread that verifies writes it; snapshots and requests read it.
#[derive(Debug, Default)]
pub(crate) struct LiveVerification {
    bytes: AtomicU64,
    /// `None` while no verification runs, so that an idle torrent needs no memory for its pieces.
    pieces: Mutex<Option<Box<LivePieces>>>,
}

/// The pieces that a running verification has judged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LivePieces {
    /// An entry for each piece: whether its state is known.
    pub checked: Vec<bool>,
    /// An entry for each piece: whether it is present and right.
    pub have: Vec<bool>,
    /// An entry for each piece: whether its content is wrong.
    pub wrong: Vec<bool>,
}

impl LiveVerification {
    /// Starts with no piece. The pieces are forgotten when the result is dropped.
    pub(crate) fn start(&self, n_pieces: u32) -> RunningVerification<'_> {
        let none = || vec![false; n_pieces as usize];
        self.set_bytes(0);
        *self.lock() = Some(Box::new(LivePieces {
            checked: none(),
            have: none(),
            wrong: none(),
        }));
        RunningVerification(self)
    }

    /// Returns the number of bytes that have been verified.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Sets the number of bytes that have been verified.
    pub(crate) fn set_bytes(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Returns the pieces, if a verification runs.
    pub(crate) fn pieces(&self) -> Option<LivePieces> {
        self.lock().as_deref().cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<LivePieces>>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A verification that runs.
#[derive(Debug)]
pub(crate) struct RunningVerification<'a>(&'a LiveVerification);

impl RunningVerification<'_> {
    /// Notes the state of a piece. `is_wrong` says whether a bad piece is wrong, rather than partly downloaded.
    pub(crate) fn set(&self, piece: u32, state: PieceState, is_wrong: impl FnOnce() -> bool) {
        let is_wrong = state == PieceState::Bad && is_wrong();
        let mut pieces = self.0.lock();
        let Some(pieces) = pieces.as_deref_mut() else {
            return;
        };
        let piece = piece as usize;
        for (entries, is) in [
            (&mut pieces.checked, true),
            (&mut pieces.have, state == PieceState::Have),
            (&mut pieces.wrong, is_wrong),
        ] {
            if let Some(entry) = entries.get_mut(piece) {
                *entry = is;
            }
        }
    }
}

impl Drop for RunningVerification<'_> {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_last_as_long_as_the_verification() {
        let live = LiveVerification::default();
        assert_eq!(live.pieces(), None);
        let running = live.start(4);
        running.set(0, PieceState::Have, || true);
        running.set(1, PieceState::Bad, || true);
        // A piece of a download that has only a part is not wrong.
        running.set(2, PieceState::Bad, || false);
        // A hybrid torrent can prove that a piece is worse than it seemed.
        running.set(3, PieceState::Bad, || true);
        running.set(3, PieceState::Missing, || true);
        running.set(4, PieceState::Have, || true);
        let expected = LivePieces {
            checked: vec![true; 4],
            have: vec![true, false, false, false],
            wrong: vec![false, true, false, false],
        };
        assert_eq!(live.pieces(), Some(expected));
        drop(running);
        assert_eq!(live.pieces(), None);
    }
}
