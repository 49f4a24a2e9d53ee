//! What can be asked of torrents.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::fields::{of_seconds, present, to_seconds};
use crate::goal::{Goal, Target, check_ratio};
use crate::priority::Priority;
use crate::queue::QueueMove;
use crate::rates::RatesPatch;
use crate::refusal::Refusal;

/// An action, with its fields.
///
/// What a person chose is stored before the answer; long work ends later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Pauses torrents.
    Pause,
    /// Resumes torrents, also those that have ended or failed.
    Resume {
        /// Whether a daemon runs the torrents at once, without a place in the queue.
        #[serde(default)]
        now: bool,
    },
    /// Ends torrents without removing their content. An incomplete download counts as failed. Only where torrents are not kept.
    End,
    /// Verifies content again, before all other verifications that wait.
    Verify,
    /// Announces torrents to their trackers.
    Reannounce,
    /// Removes torrents.
    Remove {
        /// What becomes of their content.
        #[serde(default)]
        content: Content,
    },
    /// Moves content to another folder.
    Relocate {
        /// The folder, an absolute path: a folder in which requests may place content, or below one. It is created if it is absent.
        folder: PathBuf,
    },
    /// Uses content in another folder, where it is already.
    Place {
        /// The folder, an absolute path: a folder in which requests may place content, or below one.
        folder: PathBuf,
    },
    /// Changes what a person chose. Absent fields change nothing.
    Set(Box<Patch>),
    /// Moves torrents in the queue.
    Queue {
        /// Where they go: `top`, `up`, `down`, `bottom`, or a position among the others, from 0.
        to: QueueMove,
    },
    /// Sets the priority of files of a download.
    Prioritize {
        /// The files, by their positions without padding; empty for all.
        files: Vec<u32>,
        /// Their priority.
        priority: Priority,
    },
    /// Renames a file or folder of the content. Nothing that exists is replaced.
    Rename {
        /// Its path, which starts with the name of the content.
        from: String,
        /// Its new path, which can be in another folder.
        to: String,
    },
    /// Adds the tracker with this URL, beside the present ones.
    AddTracker {
        /// The announce URL.
        url: String,
    },
    /// Uses these trackers instead of all others.
    SetTrackers {
        /// The announce URLs of each tier. Those of one tier are tried in order, and those of the next one if all fail (BEP 12). A
        /// present URL is named as it is or with its secrets masked.
        trackers: Vec<Vec<String>>,
    },
    /// Replaces the URL of a tracker.
    ReplaceTracker {
        /// The present URL, as it is or as it is shown, with its secrets masked.
        url: String,
        /// The new URL.
        new_url: String,
    },
    /// Removes a tracker.
    RemoveTracker {
        /// Its URL, as it is or as it is shown, with its secrets masked.
        url: String,
    },
    /// Connects to a peer.
    AddPeer {
        /// The IP address and port of the peer: `192.0.2.1:6881` or `[2001:db8::1]:6881`.
        address: SocketAddr,
    },
}

impl Command {
    /// Returns the name of the action, as in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume { .. } => "resume",
            Self::End => "end",
            Self::Verify => "verify",
            Self::Reannounce => "reannounce",
            Self::Remove { .. } => "remove",
            Self::Relocate { .. } => "relocate",
            Self::Place { .. } => "place",
            Self::Set(_) => "set",
            Self::Queue { .. } => "queue",
            Self::Prioritize { .. } => "prioritize",
            Self::Rename { .. } => "rename",
            Self::AddTracker { .. } => "add_tracker",
            Self::SetTrackers { .. } => "set_trackers",
            Self::ReplaceTracker { .. } => "replace_tracker",
            Self::RemoveTracker { .. } => "remove_tracker",
            Self::AddPeer { .. } => "add_peer",
        }
    }
}

/// Whether the content of a torrent that is removed stays on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// It stays.
    #[default]
    Keep,
    /// The files of the torrent are deleted, except those that another torrent has or that are not known to belong to it.
    Delete,
}

/// Changes of what a person chose for a torrent. Absent fields change nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Patch {
    /// The name to show; `Some(None)` for that of the metadata.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub title: Option<Option<String>>,
    /// A category that exists; `Some(None)` for none.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub category: Option<Option<String>>,
    /// Labels in place of all labels before, at most 64.
    #[cfg_attr(feature = "schema", schemars(length(max = MAX_LABELS)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeSet<String>>,
    /// Sent bytes as a multiple of the received bytes, or of the selected files if fewer bytes were received; `never` for no limit,
    /// `inherited` for that of the category, the labels or the daemon.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Target<crate::goal::Ratio>>")
    )]
    #[serde(rename = "seed_ratio", skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Target<f64>>,
    /// Time of serving, without pauses; `never` for no limit,
    /// `inherited` for that of the category, the labels or the daemon.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Target<u64>>"))]
    #[serde(
        rename = "seed_seconds",
        serialize_with = "to_seconds",
        deserialize_with = "of_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub time: Option<Target<Duration>>,
    /// Time of serving without an upload; `never` for no limit,
    /// `inherited` for that of the category, the labels or the daemon.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Target<u64>>"))]
    #[serde(
        rename = "idle_seconds",
        serialize_with = "to_seconds",
        deserialize_with = "of_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub idle: Option<Target<Duration>>,
    /// Download limit in bytes per second; `Some(None)` for no limit.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub max_down: Option<Option<NonZeroU32>>,
    /// Upload limit in bytes per second; `Some(None)` for no limit.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub max_up: Option<Option<NonZeroU32>>,
    /// Whether pieces are requested in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequential: Option<bool>,
    /// Whether a piece of complete content is offered only after the previous piece has spread (BEP 16).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub super_seeding: Option<bool>,
}

/// Maximum number of labels of a torrent.
const MAX_LABELS: usize = 64;

impl Patch {
    /// Returns the change to a goal.
    pub fn of_goal(goal: Goal) -> Self {
        Self {
            ratio: Some(goal.ratio),
            time: Some(goal.time),
            idle: Some(goal.idle),
            ..Self::default()
        }
    }

    /// Returns these changes, and those of `other` where there is none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            title: self.title.or(other.title),
            category: self.category.or(other.category),
            labels: self.labels.or(other.labels),
            ratio: self.ratio.or(other.ratio),
            time: self.time.or(other.time),
            idle: self.idle.or(other.idle),
            max_down: self.max_down.or(other.max_down),
            max_up: self.max_up.or(other.max_up),
            sequential: self.sequential.or(other.sequential),
            super_seeding: self.super_seeding.or(other.super_seeding),
        }
    }

    /// Returns the goal after the change.
    #[must_use]
    pub fn goal(&self, before: Goal) -> Goal {
        before.changed(self.ratio, self.time, self.idle)
    }

    /// Returns the change of the rate limits.
    pub fn rates(&self) -> RatesPatch {
        RatesPatch {
            max_down: self.max_down,
            max_up: self.max_up,
        }
    }

    /// Refuses values that no torrent can have.
    ///
    /// # Errors
    /// Returns [`Refusal::Invalid`] with the name of the value and the reason.
    pub fn check(&self) -> Result<(), Refusal> {
        check_ratio(self.ratio)?;
        match &self.labels {
            Some(labels) => check_labels(labels.len()),
            None => Ok(()),
        }
    }
}

/// Refuses more labels than a torrent can have.
///
/// # Errors
/// Returns [`Refusal::Invalid`].
pub fn check_labels(n_labels: usize) -> Result<(), Refusal> {
    if n_labels <= MAX_LABELS {
        return Ok(());
    }
    let reason = format!("a torrent has at most {MAX_LABELS} labels");
    Err(Refusal::Invalid(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_they_were_written() {
        let patch = Patch {
            title: Some(None),
            category: Some(Some("tv".into())),
            labels: Some(["a".into()].into()),
            ratio: Some(Target::At(1.0)),
            time: Some(Target::At(Duration::from_secs(60))),
            idle: Some(Target::Inherited),
            max_down: Some(None),
            max_up: Some(NonZeroU32::new(7)),
            sequential: Some(true),
            super_seeding: Some(false),
        };
        for (command, json) in [
            (Command::Pause, r#"{"action":"pause"}"#),
            (
                Command::Resume { now: true },
                r#"{"action":"resume","now":true}"#,
            ),
            (
                Command::Remove {
                    content: Content::Delete,
                },
                r#"{"action":"remove","content":"delete"}"#,
            ),
            (
                Command::Queue {
                    to: QueueMove::To(3),
                },
                r#"{"action":"queue","to":3}"#,
            ),
            (
                Command::Prioritize {
                    files: vec![1],
                    priority: Priority::High,
                },
                r#"{"action":"prioritize","files":[1],"priority":"high"}"#,
            ),
            (
                Command::Set(Box::new(patch)),
                r#"{"action":"set","title":null,"category":"tv","labels":["a"],"seed_ratio":1.0,"seed_seconds":60,"idle_seconds":"inherited","max_down":null,"max_up":7,"sequential":true,"super_seeding":false}"#,
            ),
            (Command::Set(Box::default()), r#"{"action":"set"}"#),
        ] {
            assert_eq!(serde_json::to_string(&command).unwrap(), json);
            let start = format!(r#"{{"action":"{}""#, command.name());
            assert!(json.starts_with(&start), "{json}");
            assert_eq!(serde_json::from_str::<Command>(json).unwrap(), command);
        }
        let short: Command = serde_json::from_str(r#"{"action":"remove"}"#).unwrap();
        let content = Content::Keep;
        assert_eq!(short, Command::Remove { content });
    }

    #[test]
    fn what_is_no_command_is_refused() {
        for (json, reason) in [
            (
                r#"{"action":"set","max_down":0}"#,
                "invalid value: integer `0`, expected a nonzero u32",
            ),
            (r#"{"action":"set","label":[]}"#, "unknown field `label`"),
            (r#"{"action":"relocate"}"#, "missing field `folder`"),
            (r#"{"action":"stop"}"#, "unknown variant `stop`"),
        ] {
            let error = serde_json::from_str::<Command>(json)
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(reason), "{json}: {error}");
        }
        let patch = Patch {
            ratio: Some(Target::At(-0.5)),
            ..Patch::default()
        };
        let reason = "seed_ratio: negative, or not a number".to_owned();
        assert_eq!(patch.check(), Err(Refusal::Invalid(reason)));
    }
}
