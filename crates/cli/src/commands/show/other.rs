//! Keys that Hashlane does not use.

use std::fmt;

use hashlane_metainfo::OtherKey;
use hashlane_metainfo::bencode::{Kind, Value};
use serde::Serialize;

use crate::links::Mask;
use crate::output::text::count;

/// Maximum number of characters of a key, and of bytes of a value, to show.
const MAX_LEN: usize = 100;

/// A key that Hashlane does not use, and its value if it is short.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Other {
    /// The key.
    key: String,
    /// Whether it is in the info dictionary.
    in_info: bool,
    /// The type of the value: `integer`, `string`, `list` or `dictionary`.
    kind: &'static str,
    /// Length of the value.
    bytes: usize,
    /// An integer, or a string of at most 100 bytes; null for another value.
    value: Option<ShortValue>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum ShortValue {
    Integer(i64),
    Text(String),
}

impl Other {
    pub(super) fn of(other: OtherKey<'_>, mask: &Mask) -> Self {
        let OtherKey { key, value, .. } = other;
        let mut text: String = key.chars().take(MAX_LEN).collect();
        if key.chars().nth(MAX_LEN).is_some() {
            text.push('…');
        }
        Self {
            key: text,
            in_info: other.is_in_info,
            kind: match value.kind() {
                Kind::Integer => "integer",
                Kind::ByteString => "string",
                Kind::List => "list",
                Kind::Dictionary => "dictionary",
            },
            bytes: value.as_bytes().unwrap_or(value.encoded()).len(),
            value: short(value, mask),
        }
    }
}

/// Returns a number, or a short text without control characters and without passkeys.
fn short(value: Value<'_>, mask: &Mask) -> Option<ShortValue> {
    if let Some(number) = value.as_integer() {
        return Some(ShortValue::Integer(number));
    }
    let bytes = value.as_bytes().filter(|bytes| bytes.len() <= MAX_LEN)?;
    let text = str::from_utf8(bytes).ok()?;
    let is_text = !text.chars().any(char::is_control);
    is_text.then(|| ShortValue::Text(mask.value(text)))
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.in_info { "info." } else { "" };
        write!(f, "{place}{}: ", self.key)?;
        match &self.value {
            Some(ShortValue::Integer(number)) => write!(f, "{number}"),
            Some(ShortValue::Text(text)) => write!(f, "\"{text}\""),
            None => write!(f, "{} of {}", self.kind, count(self.bytes as u64, "byte")),
        }
    }
}
