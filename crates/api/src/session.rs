//! Settings of all torrents together.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use crate::fields::to_seconds;
use crate::goal::{Goal, Target, check_ratio};
use crate::refusal::Refusal;

/// Changes of the settings of all torrents together. An absent field changes nothing, `never` or null is no limit, and `inherited`
/// is the limit of the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SessionPatch {
    /// Whether the alternative rate limits are in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternative: Option<bool>,
    /// Whether torrents that programs add start paused, if the request does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adds_paused: Option<bool>,
    /// Download limit in bytes per second; `never` or null for no limit, `inherited` for that of the
    /// configuration.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    #[serde(deserialize_with = "target", skip_serializing_if = "Option::is_none")]
    pub max_down: Option<Target<NonZeroU32>>,
    /// Upload limit in bytes per second; `never` or null for no limit, `inherited` for that of the
    /// configuration.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    #[serde(deserialize_with = "target", skip_serializing_if = "Option::is_none")]
    pub max_up: Option<Target<NonZeroU32>>,
    /// Alternative download limit in bytes per second; `never` or null for no limit, `inherited` for that of the
    /// configuration.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    #[serde(deserialize_with = "target", skip_serializing_if = "Option::is_none")]
    pub alt_max_down: Option<Target<NonZeroU32>>,
    /// Alternative upload limit in bytes per second; `never` or null for no limit, `inherited` for that of the
    /// configuration.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    #[serde(deserialize_with = "target", skip_serializing_if = "Option::is_none")]
    pub alt_max_up: Option<Target<NonZeroU32>>,
    /// Maximum number of active downloads; `never` or null for no limit, `inherited` for that of the
    /// configuration.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    #[serde(deserialize_with = "target", skip_serializing_if = "Option::is_none")]
    pub max_active_downloads: Option<Target<NonZeroU32>>,
    /// Maximum number of complete torrents that are served; `never` or null for no limit, `inherited` for that of the
    /// configuration.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    #[serde(deserialize_with = "target", skip_serializing_if = "Option::is_none")]
    pub max_active_uploads: Option<Target<NonZeroU32>>,
    /// Ratio for torrents without another one: sent bytes as a multiple of the received bytes, or of the selected files if
    /// fewer bytes were received; `never` or null for no limit, `inherited` for that of the
    /// configuration.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Target<crate::goal::Ratio>>", extend("nullable" = true))
    )]
    #[serde(
        rename = "seed_ratio",
        deserialize_with = "target",
        skip_serializing_if = "Option::is_none"
    )]
    pub ratio: Option<Target<f64>>,
    /// Time of serving, for torrents without another one; `never` or null for no limit, `inherited` for that of the
    /// configuration.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Target<u64>>", extend("nullable" = true))
    )]
    #[serde(
        rename = "seed_seconds",
        serialize_with = "to_seconds",
        deserialize_with = "time",
        skip_serializing_if = "Option::is_none"
    )]
    pub time: Option<Target<Duration>>,
    /// Time of serving without an upload, for torrents without another one; `never` or null for no limit, `inherited` for that of the
    /// configuration.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Target<u64>>", extend("nullable" = true))
    )]
    #[serde(
        rename = "idle_seconds",
        serialize_with = "to_seconds",
        deserialize_with = "time",
        skip_serializing_if = "Option::is_none"
    )]
    pub idle: Option<Target<Duration>>,
}

impl SessionPatch {
    /// Gives all limits back to the configuration. Torrents that are added start, if the request does not say.
    pub const CONFIGURED: Self = Self {
        alternative: None,
        adds_paused: Some(false),
        max_down: Some(Target::Inherited),
        max_up: Some(Target::Inherited),
        alt_max_down: Some(Target::Inherited),
        alt_max_up: Some(Target::Inherited),
        max_active_downloads: Some(Target::Inherited),
        max_active_uploads: Some(Target::Inherited),
        ratio: Some(Target::Inherited),
        time: Some(Target::Inherited),
        idle: Some(Target::Inherited),
    };

    /// Returns these changes, and those of `other` where there is none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            alternative: self.alternative.or(other.alternative),
            adds_paused: self.adds_paused.or(other.adds_paused),
            max_down: self.max_down.or(other.max_down),
            max_up: self.max_up.or(other.max_up),
            alt_max_down: self.alt_max_down.or(other.alt_max_down),
            alt_max_up: self.alt_max_up.or(other.alt_max_up),
            max_active_downloads: self.max_active_downloads.or(other.max_active_downloads),
            max_active_uploads: self.max_active_uploads.or(other.max_active_uploads),
            ratio: self.ratio.or(other.ratio),
            time: self.time.or(other.time),
            idle: self.idle.or(other.idle),
        }
    }

    /// Returns the goal after the change.
    #[must_use]
    pub fn goal(&self, before: Goal) -> Goal {
        before.changed(self.ratio, self.time, self.idle)
    }

    /// Refuses values that cannot be used.
    ///
    /// # Errors
    /// Returns [`Refusal::Invalid`] with the name of the value and the reason.
    pub fn check(&self) -> Result<(), Refusal> {
        check_ratio(self.ratio)
    }
}

fn target<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<Target<T>>, D::Error> {
    let target = Option::deserialize(from)?;
    Ok(Some(target.unwrap_or(Target::Never)))
}

fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Target<Duration>>, D::Error> {
    let seconds: Option<Target<u64>> = target(from)?;
    Ok(seconds.map(|seconds| seconds.map(Duration::from_secs)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_no_limit_and_inherited_is_that_of_the_configuration() {
        let json =
            r#"{"max_down":null,"max_up":"inherited","seed_seconds":60,"max_active_downloads":3}"#;
        let patch = SessionPatch {
            max_down: Some(Target::Never),
            max_up: Some(Target::Inherited),
            time: Some(Target::At(Duration::from_secs(60))),
            max_active_downloads: NonZeroU32::new(3).map(Target::At),
            ..SessionPatch::default()
        };
        assert_eq!(serde_json::from_str::<SessionPatch>(json).unwrap(), patch);
        let written = serde_json::to_string(&patch).unwrap();
        assert_eq!(
            serde_json::from_str::<SessionPatch>(&written).unwrap(),
            patch
        );
        assert!(serde_json::from_str::<SessionPatch>(r#"{"max_down":0}"#).is_err());
        let merged = patch.or(SessionPatch::CONFIGURED);
        assert_eq!(merged.max_down, Some(Target::Never));
        assert_eq!(merged.ratio, Some(Target::Inherited));
    }
}
