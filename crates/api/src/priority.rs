//! Priorities of files.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

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

    /// Returns the name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }

    /// Returns the positions of the files that get this priority: these, or all if none is named. `priorities` are those of all files
    /// of a download, without padding.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] without files, because the metadata is not known yet. [`Refusal::Invalid`] for a position without a file,
    /// and if no file would stay selected.
    pub fn given(
        self,
        mut priorities: Vec<Self>,
        files: &[u32],
    ) -> Result<Cow<'_, [u32]>, Refusal> {
        if priorities.is_empty() {
            let reason = "the metadata is not known yet";
            return Err(Refusal::Conflict(reason.into()));
        }
        let files = if files.is_empty() {
            Cow::Owned((0..priorities.len() as u32).collect())
        } else {
            Cow::Borrowed(files)
        };
        for file in &*files {
            match priorities.get_mut(*file as usize) {
                Some(before) => *before = self,
                None => return Err(Refusal::Invalid("there is no such file".into())),
            }
        }
        if !priorities.iter().any(|priority| priority.is_selected()) {
            let reason = "at least one file must stay selected";
            return Err(Refusal::Invalid(reason.into()));
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Priority::{High, Low, Normal, Skip};

    #[test]
    fn names_are_those_of_json() {
        for priority in [Skip, Low, Normal, High] {
            let json = serde_json::to_string(&priority).unwrap();
            assert_eq!(json, format!("\"{}\"", priority.name()));
        }
    }

    #[test]
    fn a_priority_is_given_to_files_that_exist_and_leaves_one() {
        let given = |priority: Priority, before: &[Priority], files: &[u32]| {
            priority.given(before.to_vec(), files).map(Cow::into_owned)
        };
        let two = [Normal, Skip];
        assert_eq!(given(High, &two, &[1]), Ok(vec![1]));
        assert_eq!(given(Low, &two, &[]), Ok(vec![0, 1]));
        assert_eq!(given(Skip, &two, &[1]), Ok(vec![1]));
        for files in [&[0][..], &[]] {
            let refused = given(Skip, &two, files);
            assert!(matches!(refused, Err(Refusal::Invalid(_))), "{files:?}");
        }
        let absent = given(Low, &two, &[2]);
        assert!(matches!(absent, Err(Refusal::Invalid(_))), "{absent:?}");
        let unknown = given(Low, &[], &[0]);
        assert!(matches!(unknown, Err(Refusal::Conflict(_))), "{unknown:?}");
    }
}
