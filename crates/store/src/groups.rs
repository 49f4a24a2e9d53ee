//! Categories and labels, in one file: those of no torrent too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use hashlane_api::Goal;
use serde::{Deserialize, Serialize};

/// The categories and labels of the folder. A torrent can have others: those are known as long as a torrent has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Groups {
    /// Labels that were created, those of no torrent too.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub labels: BTreeSet<String>,
    /// The categories, by their names.
    pub categories: BTreeMap<String, Category>,
}

/// What torrents get from their category.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Category {
    /// Absolute path of the folder for the content of torrents that are added to the category; `None` for that of the daemon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// When its torrents have been served for long enough.
    #[serde(skip_serializing_if = "Goal::is_inherited")]
    pub goal: Goal,
}
