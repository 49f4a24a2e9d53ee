//! Bencoded dictionaries by key.
//!
//! Keys that decide where content is are read strictly: a value of another type is an error. Other values are hints, which
//! differ between versions of a program: a value of another type is ignored with a note.

use std::collections::BTreeMap;

use hashlane_metainfo::bencode::{Items, Kind, Value};

use crate::{Note, Reason};

/// Maximum number of keys of a dictionary whose keys are fixed. Programs write about 50.
const MAX_KEYS: usize = 1000;

/// A dictionary whose keys are fixed. Of two equal keys, the first counts.
pub(crate) struct Dictionary<'a>(BTreeMap<&'a [u8], Value<'a>>);

impl<'a> Dictionary<'a> {
    /// Parses a file that is one dictionary.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Reason> {
        Self::of(Value::parse(bytes)?)
    }

    fn of(value: Value<'a>) -> Result<Self, Reason> {
        let entries = value.as_dictionary().ok_or(Reason::NoDictionary {
            found: value.kind(),
        })?;
        let mut map = BTreeMap::new();
        for (number, entry) in entries.enumerate() {
            if number == MAX_KEYS {
                return Err(Reason::TooManyKeys {
                    offset: value.offset(),
                    max: MAX_KEYS,
                });
            }
            map.entry(entry.key).or_insert(entry.value);
        }
        Ok(Self(map))
    }

    /// Returns this dictionary with the keys of another one, which replace keys of this one.
    #[cfg(unix)]
    pub(crate) fn extended(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Returns a value. Transmission 4.1 writes `_` in keys where older versions write `-`.
    pub(crate) fn value(&self, key: &str) -> Option<Value<'a>> {
        let newer = || self.0.get(key.replace('-', "_").as_bytes());
        self.0.get(key.as_bytes()).or_else(newer).copied()
    }

    /// Returns the bytes of a path or another value that must not be wrong, or `None` if they are absent or empty.
    pub(crate) fn bytes(&self, key: &'static str) -> Result<Option<&'a [u8]>, Reason> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let bytes = value.as_bytes().ok_or(Reason::WrongType {
            key,
            expected: Kind::ByteString,
            found: value.kind(),
        })?;
        Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    /// Returns a list that must not be wrong.
    pub(crate) fn items(&self, key: &'static str) -> Result<Option<Items<'a>>, Reason> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        value.as_list().map(Some).ok_or(Reason::WrongType {
            key,
            expected: Kind::List,
            found: value.kind(),
        })
    }

    /// Returns a hint, or notes why there is none.
    fn hint<T>(
        &self,
        key: &str,
        expected: Kind,
        notes: &mut Vec<Note>,
        read: impl Fn(Value<'a>) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(key)?;
        let hint = read(value);
        if hint.is_none() {
            notes.push(Note::Ignored {
                key: key.into(),
                expected,
                found: value.kind(),
            });
        }
        hint
    }

    pub(crate) fn integer(&self, key: &str, notes: &mut Vec<Note>) -> Option<i64> {
        self.hint(key, Kind::Integer, notes, Value::as_integer)
    }

    /// Returns a number that is greater than zero. Programs write zero or -1 for a value that they do not know.
    pub(crate) fn positive(&self, key: &str, notes: &mut Vec<Note>) -> Option<u64> {
        let integer = self.integer(key, notes)?;
        u64::try_from(integer).ok().filter(|number| *number > 0)
    }

    /// Returns a text, or `None` if it is absent or empty.
    pub(crate) fn text(&self, key: &str, notes: &mut Vec<Note>) -> Option<String> {
        let bytes = self.hint(key, Kind::ByteString, notes, Value::as_bytes)?;
        Some(text_of(key, bytes, notes)).filter(|text| !text.is_empty())
    }

    /// Returns the texts of a list.
    pub(crate) fn texts(&self, key: &str, notes: &mut Vec<Note>) -> Vec<String> {
        let Some(items) = self.hint(key, Kind::List, notes, Value::as_list) else {
            return Vec::new();
        };
        let texts = items.filter_map(Value::as_bytes);
        texts.map(|text| text_of(key, text, notes)).collect()
    }

    /// Returns the integers of a list. An item that is no integer is `None`.
    pub(crate) fn integers(&self, key: &str, notes: &mut Vec<Note>) -> Option<Vec<Option<i64>>> {
        let items = self.hint(key, Kind::List, notes, Value::as_list)?;
        Some(items.map(Value::as_integer).collect())
    }

    pub(crate) fn dictionary(&self, key: &str, notes: &mut Vec<Note>) -> Option<Self> {
        self.hint(key, Kind::Dictionary, notes, |value| Self::of(value).ok())
    }
}

/// Returns bytes as text, and notes invalid ones.
pub(crate) fn text_of(key: &str, bytes: &[u8], notes: &mut Vec<Note>) -> String {
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, std::borrow::Cow::Owned(_)) {
        notes.push(Note::NotUnicode { key: key.into() });
    }
    text.into_owned()
}
