//! How fields are read and written.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::goal::Target;

/// Reads a field that is present and may be null, for `deserialize_with`.
///
/// # Errors
/// Returns the error of the value.
pub fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// Reads a time in seconds.
pub(crate) fn of_seconds<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Target<Duration>>, D::Error> {
    let seconds = Option::<Target<u64>>::deserialize(from)?;
    Ok(seconds.map(|seconds| seconds.map(Duration::from_secs)))
}

/// Writes a time in seconds.
#[expect(clippy::ref_option, reason = "serde passes the field")]
pub(crate) fn to_seconds<S: Serializer>(
    time: &Option<Target<Duration>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    time.map(|time| time.map(|time| time.as_secs()))
        .serialize(to)
}
