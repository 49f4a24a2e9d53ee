//! Links to content for players.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a link leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LinkRequest {
    /// The number of a file; without it, the largest audio or video file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<usize>,
    /// Whether the link leads to the playlist of all audio and video files. Then `file` is absent.
    pub playlist: bool,
}

/// A link that needs no further credentials.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Link {
    /// The URL, with a token in its query.
    pub url: String,
    /// The time after which the token is refused.
    pub lifetime_seconds: u64,
}

/// Without the URL, which has a token.
impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}
