//! When a torrent has been served for long enough.

#[cfg(feature = "schema")]
use std::borrow::Cow;
use std::time::Duration;

use crate::refusal::Refusal;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Limits of serving. The first one that is reached ends it. An absent limit is that of the labels or the daemon, and `never` is
/// no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "Fields", try_from = "Fields")]
pub struct Goal {
    /// The ratio: sent bytes as a multiple of the received bytes, or of the selected files if fewer bytes were received. Not
    /// negative, and finite.
    pub ratio: Target<f64>,
    /// Time of serving, in whole seconds.
    pub time: Target<Duration>,
    /// Time of serving without an upload, in whole seconds.
    pub idle: Target<Duration>,
}

impl Goal {
    /// No limit, and none is inherited.
    pub const NEVER: Self = Self {
        ratio: Target::Never,
        time: Target::Never,
        idle: Target::Never,
    };

    /// Returns this goal, with targets of another one where it has none of its own.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            ratio: self.ratio.or(other.ratio),
            time: self.time.or(other.time),
            idle: self.idle.or(other.idle),
        }
    }

    /// Returns this goal with other targets where they are given.
    #[must_use]
    pub fn changed(
        self,
        ratio: Option<Target<f64>>,
        time: Option<Target<Duration>>,
        idle: Option<Target<Duration>>,
    ) -> Self {
        Self {
            ratio: ratio.unwrap_or(self.ratio),
            time: time.unwrap_or(self.time),
            idle: idle.unwrap_or(self.idle),
        }
    }

    /// Returns `true` if it has no target of its own.
    pub fn is_inherited(&self) -> bool {
        *self == Self::default()
    }
}

/// A limit of serving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target<T> {
    /// That of the category, the labels or the session.
    #[default]
    Inherited,
    /// This one.
    At(T),
    /// None.
    Never,
}

impl<T> Target<T> {
    /// Returns a limit that does not inherit another one: none if it is `None`.
    pub fn of(limit: Option<T>) -> Self {
        limit.map_or(Self::Never, Self::At)
    }

    /// Returns `true` if another target decides.
    pub fn is_inherited(&self) -> bool {
        matches!(self, Self::Inherited)
    }

    /// Returns this target, or another one if it is inherited.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match self {
            Self::Inherited => other,
            own => own,
        }
    }

    /// Returns the limit, if it is one.
    pub fn limit(self) -> Option<T> {
        match self {
            Self::At(limit) => Some(limit),
            Self::Inherited | Self::Never => None,
        }
    }

    /// Changes the limit.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Target<U> {
        match self {
            Self::Inherited => Target::Inherited,
            Self::At(limit) => Target::At(change(limit)),
            Self::Never => Target::Never,
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
struct Fields {
    /// Sent bytes as a multiple of the received bytes, or of the selected files if fewer bytes were received.
    #[cfg_attr(feature = "schema", schemars(with = "Target<Ratio>"))]
    #[serde(skip_serializing_if = "Target::is_inherited")]
    ratio: Target<f64>,
    /// Time of serving.
    #[serde(skip_serializing_if = "Target::is_inherited")]
    seconds: Target<u64>,
    /// Time of serving without an upload.
    #[serde(skip_serializing_if = "Target::is_inherited")]
    idle_seconds: Target<u64>,
}

impl From<Goal> for Fields {
    fn from(goal: Goal) -> Self {
        Self {
            ratio: goal.ratio,
            seconds: goal.time.map(|time| time.as_secs()),
            idle_seconds: goal.idle.map(|time| time.as_secs()),
        }
    }
}

impl TryFrom<Fields> for Goal {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        if !is_ratio(fields.ratio) {
            return Err("goal.ratio: negative, or not a number".to_owned());
        }
        Ok(Self {
            ratio: fields.ratio,
            time: fields.seconds.map(Duration::from_secs),
            idle: fields.idle_seconds.map(Duration::from_secs),
        })
    }
}

/// Refuses a ratio in a field `seed_ratio` that no torrent can reach or that has no order.
pub(crate) fn check_ratio(ratio: Option<Target<f64>>) -> Result<(), Refusal> {
    if ratio.is_none_or(is_ratio) {
        return Ok(());
    }
    let reason = "seed_ratio: negative, or not a number";
    Err(Refusal::Invalid(reason.to_owned()))
}

fn is_ratio(ratio: Target<f64>) -> bool {
    let ratio = ratio.limit();
    ratio.is_none_or(|ratio| ratio.is_finite() && ratio >= 0.0)
}

/// A target in words.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Inherited,
    Never,
}

impl<T: Serialize> Serialize for Target<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Inherited => Word::Inherited.serialize(to),
            Self::At(limit) => limit.serialize(to),
            Self::Never => Word::Never.serialize(to),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Target<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match TargetField::deserialize(from)? {
            TargetField::At(limit) => Self::At(limit),
            TargetField::Word(Word::Inherited) => Self::Inherited,
            TargetField::Word(Word::Never) => Self::Never,
        })
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Target<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Target_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let limit = generator.subschema_for::<T>();
        // Answers leave out a limit that is inherited.
        let words: &[&str] = if generator.contract().is_serialize() {
            &["never"]
        } else {
            &["never", "inherited"]
        };
        schemars::json_schema!({ "oneOf": [limit, { "type": "string", "enum": words }] })
    }
}

// The schema of a ratio, without a comment that would become its description.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(inline)]
pub(crate) struct Ratio(
    #[schemars(range(min = 0))]
    #[expect(dead_code, reason = "describes numbers")]
    f64,
);

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a limit must be a number above zero, \"never\" or \"inherited\""
)]
enum TargetField<T> {
    At(T),
    Word(Word),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_read_as_it_was_written() {
        let goal = Goal {
            ratio: Target::At(1.5),
            time: Target::Never,
            idle: Target::Inherited,
        };
        let text = toml::to_string(&goal).unwrap();
        assert_eq!(text, "ratio = 1.5\nseconds = \"never\"\n");
        assert_eq!(toml::from_str(&text), Ok(goal));
        let json = r#"{"ratio": "never", "seconds": 60, "idle_seconds": "inherited"}"#;
        let goal = Goal {
            ratio: Target::Never,
            time: Target::At(Duration::from_secs(60)),
            idle: Target::Inherited,
        };
        assert_eq!(serde_json::from_str::<Goal>(json).unwrap(), goal);
    }

    #[test]
    fn what_is_no_goal_is_refused() {
        for (json, reason) in [
            (r#"{"ratio": -1}"#, "goal.ratio: negative, or not a number"),
            (
                r#"{"ratio": "always"}"#,
                "a limit must be a number above zero, \"never\" or \"inherited\"",
            ),
            (
                r#"{"seconds": -1}"#,
                "a limit must be a number above zero, \"never\" or \"inherited\"",
            ),
            (r#"{"time": 1}"#, "unknown field `time`"),
        ] {
            let error = serde_json::from_str::<Goal>(json).unwrap_err().to_string();
            assert!(error.starts_with(reason), "{json}: {error}");
        }
    }
}
