//! Categories and labels.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::fields::{of_seconds, present, to_seconds};
use crate::goal::{Goal, Target, check_ratio};
use crate::refusal::Refusal;

/// Categories and labels by name, also those without torrents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Groups {
    /// The categories, by their names.
    pub categories: Vec<Category>,
    /// The labels, by their names.
    pub labels: Vec<String>,
}

/// A name for some torrents, which get a common folder and goal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Category {
    /// Name of the category, by which torrents refer to it.
    pub name: String,
    /// Folder for the content of new torrents; `None` for that of the daemon.
    pub folder: Option<String>,
    /// When its torrents have been served for long enough.
    pub goal: Goal,
    /// Number of torrents in the category.
    pub torrents: u64,
    /// Whether the configuration has the category, so that requests cannot change it.
    pub configured: bool,
}

/// A change of the categories or labels: an action, with its fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum GroupChange {
    /// Makes a category, or changes it. Absent fields change nothing.
    SetCategory(CategoryPatch),
    /// Removes categories. Their torrents stay, without a category.
    RemoveCategories {
        /// Names of categories.
        names: Vec<String>,
    },
    /// Makes labels that do not exist.
    AddLabels {
        /// The labels.
        labels: Vec<String>,
    },
    /// Removes labels, from their torrents too.
    RemoveLabels {
        /// The labels.
        labels: Vec<String>,
    },
}

/// Changes of a category. Absent fields change nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CategoryPatch {
    /// The name, which is not empty, and has no commas and no control characters. A category that does not exist is made.
    #[cfg_attr(feature = "schema", schemars(required))]
    pub name: String,
    /// Folder for the content of new torrents, an absolute path in which requests may place content; `Some(None)` for that of
    /// the daemon.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub folder: Option<Option<PathBuf>>,
    /// Sent bytes as a multiple of the received bytes, or of the selected files if fewer bytes were received; `never` for no limit,
    /// `inherited` for that of the labels or the daemon.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Target<crate::goal::Ratio>>")
    )]
    #[serde(rename = "seed_ratio", skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Target<f64>>,
    /// Time of serving, without pauses; `never` for no limit,
    /// `inherited` for that of the labels or the daemon.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Target<u64>>"))]
    #[serde(
        rename = "seed_seconds",
        serialize_with = "to_seconds",
        deserialize_with = "of_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub time: Option<Target<Duration>>,
    /// Time of serving without an upload; `never` for no limit,
    /// `inherited` for that of the labels or the daemon.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Target<u64>>"))]
    #[serde(
        rename = "idle_seconds",
        serialize_with = "to_seconds",
        deserialize_with = "of_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub idle: Option<Target<Duration>>,
}

impl CategoryPatch {
    /// Returns the goal after the change.
    #[must_use]
    pub fn goal(&self, before: Goal) -> Goal {
        before.changed(self.ratio, self.time, self.idle)
    }

    /// Refuses names that programs cannot show or send, and values that no category can have.
    ///
    /// # Errors
    /// Returns [`Refusal::Invalid`] with the value and the reason.
    pub fn check(&self) -> Result<(), Refusal> {
        let name = &self.name;
        if name.is_empty() || name.chars().any(char::is_control) || name.contains(',') {
            return Err(Refusal::Invalid(format!(
                "{name:?}: the name of a category is not empty, and has no commas and control characters"
            )));
        }
        if let Some(Some(folder)) = &self.folder
            && !folder.is_absolute()
        {
            let folder = folder.display();
            return Err(Refusal::Invalid(format!("{folder}: not an absolute path")));
        }
        check_ratio(self.ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_as_they_were_written() {
        let patch = CategoryPatch {
            name: "tv".into(),
            folder: Some(None),
            ratio: Some(Target::At(2.0)),
            ..CategoryPatch::default()
        };
        let change = GroupChange::SetCategory(patch);
        let json = r#"{"action":"set_category","name":"tv","folder":null,"seed_ratio":2.0}"#;
        assert_eq!(serde_json::to_string(&change).unwrap(), json);
        assert_eq!(serde_json::from_str::<GroupChange>(json).unwrap(), change);
    }

    #[test]
    fn names_and_folders_are_checked() {
        let check = |name: &str, folder: &str| {
            let patch = CategoryPatch {
                name: name.into(),
                folder: Some(Some(folder.into())),
                ..CategoryPatch::default()
            };
            patch.check().is_ok()
        };
        assert!(check("tv/hd \u{e4}", "/srv"));
        for (name, folder) in [("", "/srv"), ("a,b", "/srv"), ("a\n", "/srv"), ("a", "srv")] {
            assert!(!check(name, folder), "{name:?} {folder}");
        }
    }
}
