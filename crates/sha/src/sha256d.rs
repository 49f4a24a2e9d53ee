//! The public kernels of the search for Base58Check strings.

use core::fmt;
use core::ops::Range;

use crate::backend::Backend;
use crate::engine::KernelName;
use crate::search::{Addends, Found, Match, Query};
use crate::table::Search;

/// A kernel of the search.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Sha256dKernel(Search);

impl Sha256dKernel {
    /// Returns the kernels that this CPU can run.
    pub fn available() -> impl Iterator<Item = Self> {
        Search::available().map(Self)
    }

    /// Returns the backend that the kernel belongs to.
    pub fn backend(self) -> Backend {
        self.0.backend()
    }

    /// Returns the number of messages that the kernel hashes at once.
    pub fn lanes(self) -> usize {
        self.0.lanes()
    }

    pub(crate) fn name(self) -> KernelName {
        KernelName {
            algorithm: "sha256d",
            lanes: self.lanes(),
            backend: self.backend(),
        }
    }

    /// Calls `on_match` for the addends in `range` whose messages match `query`, in ascending
    /// order. Matches among the next [`Self::lanes`] - 1 addends after the range may be passed too.
    ///
    /// # Panics
    /// If `range` ends after the last addend, or if a word of the block between the message and its
    /// length is not zero.
    #[inline(never)]
    pub fn find(
        self,
        query: &Query<'_>,
        addends: &Addends<'_>,
        range: Range<usize>,
        on_match: &mut dyn FnMut(Match),
    ) {
        assert!(
            range.end <= addends.len(),
            "{range:?} of {} addends",
            addends.len()
        );
        let (n_words, _) = addends.kind().words();
        assert!(
            query.block[n_words..15].iter().all(|word| *word == 0),
            "words after the {n_words} words of the message"
        );
        let mut found = Found::new();
        let mut next = range.start;
        while next < range.end {
            next = self.0.find(query, addends, next..range.end, &mut found);
            for found in found
                .take()
                .iter()
                .filter(|found| found.index < addends.len())
            {
                on_match(*found);
            }
        }
    }
}

/// Writes the name, for example `sha256d_x16_avx512`.
impl fmt::Display for Sha256dKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.name(), f)
    }
}

impl fmt::Debug for Sha256dKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
