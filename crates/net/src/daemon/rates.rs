//! Rate limits of all torrents together.

use std::num::NonZeroU32;

/// Rate limits in bytes per second; `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rates {
    pub(super) down: Option<NonZeroU32>,
    pub(super) up: Option<NonZeroU32>,
}

impl Rates {
    /// Returns these limits, and those of `other` where there is none.
    #[must_use]
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            down: self.down.or(other.down),
            up: self.up.or(other.up),
        }
    }
}
