//! The trait of a device that searches for candidates.

use std::fmt;
use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::Range;

use crate::tables::{Candidate, Tables};

/// A device that hashes the messages of [`Tables`] and returns candidates.
///
/// The search prepares a space of strings as tables, and each worker thread requests a
/// [`TableSearch`] for them from the backend. The backend hashes; the search decodes every
/// candidate and checks its checksum again with separate code. A backend may therefore return
/// candidates whose checksum does not match, but it must not miss any that match.
pub trait SearchBackend: fmt::Debug + Send + Sync {
    /// Returns the name that is shown to users, for example `sha256d_x16_avx512`.
    fn name(&self) -> String;

    /// Returns the number of messages per second that one worker hashes twice.
    fn hashes_per_second(&self) -> f64;

    /// Returns the number of threads that drive the device.
    fn n_workers(&self) -> NonZeroUsize;

    /// Returns the maximum number of work units in one call of [`TableSearch::search`].
    ///
    /// A work unit has about half a million hashes. Devices with thousands of lanes need several
    /// work units at once.
    fn units_per_call(&self) -> NonZeroU64 {
        NonZeroU64::MIN
    }

    /// Prepares tables for one worker, for example by copying them to the device.
    fn prepare<'t>(&self, tables: &'t Tables<'_>) -> Box<dyn TableSearch + 't>;
}

/// Tables prepared for one worker of a [`SearchBackend`].
pub trait TableSearch {
    /// Hashes all messages whose strings start with one of these prefixes, and calls `on_candidate`
    /// for each match. Returns the number of messages.
    ///
    /// Prefixes are passed on to [`Tables::for_each_query`].
    fn search(&mut self, prefixes: Range<u128>, on_candidate: &mut dyn FnMut(Candidate)) -> u64;
}
