//! Rate limits.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::fields::present;

/// Rate limits in bytes per second, of one torrent or of all torrents together; `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// Download limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<NonZeroU32>,
    /// Upload limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<NonZeroU32>,
}

impl Rates {
    /// Returns these limits, and those of `other` where there is none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            down: self.down.or(other.down),
            up: self.up.or(other.up),
        }
    }
}

/// New rate limits in bytes per second. `None` leaves a limit as it is, `Some(None)` removes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RatesPatch {
    /// Download limit.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub max_down: Option<Option<NonZeroU32>>,
    /// Upload limit.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub max_up: Option<Option<NonZeroU32>>,
}

impl RatesPatch {
    /// Changes limits.
    pub fn apply(self, rates: &mut Rates) {
        for (limit, new) in [
            (&mut rates.down, self.max_down),
            (&mut rates.up, self.max_up),
        ] {
            if let Some(new) = new {
                *limit = new;
            }
        }
    }
}

impl From<Rates> for RatesPatch {
    /// Returns the change that replaces both limits.
    fn from(rates: Rates) -> Self {
        Self {
            max_down: Some(rates.down),
            max_up: Some(rates.up),
        }
    }
}
