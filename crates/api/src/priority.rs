//! Priorities of files.

use serde::{Deserialize, Serialize};

/// The priority of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// The file is not downloaded. Version 1 downloads the parts of it that share a piece with other files.
    Skip,
    /// The file is requested after the other files.
    Low,
    /// The priority of a file that was selected.
    #[default]
    Normal,
    /// The file is requested before the other files.
    High,
}

impl Priority {
    /// Returns `true` if the file is downloaded.
    pub fn is_selected(self) -> bool {
        self != Self::Skip
    }
}
