//! Rewrites dictionaries: some values change, and all others keep their bytes.

use std::borrow::Cow;

use crate::bencode::{Entry, Value, Writer};
use crate::metadata::list;

/// A key and its new encoded value; `None` removes the key.
pub(super) type Change = (&'static str, Option<Vec<u8>>);

/// Returns the encoded items of a list, or nothing if the value is not a list.
pub(super) fn encoded_items(value: Option<Value<'_>>) -> impl Iterator<Item = Vec<u8>> {
    let items = value.into_iter().flat_map(list);
    items.map(|item| item.encoded().to_vec())
}

/// Returns a dictionary with some values changed, added or removed, and all others unchanged. A new
/// key is inserted before the first greater key.
pub(super) fn rewrite<'a>(dictionary: Value<'a>, changes: &[Change]) -> Cow<'a, [u8]> {
    if changes.is_empty() {
        return dictionary.encoded().into();
    }
    let mut entries: Vec<(&[u8], Cow<'_, [u8]>)> = Vec::new();
    for Entry { key, value, .. } in dictionary.as_dictionary().into_iter().flatten() {
        if !changes.iter().any(|(changed, _)| changed.as_bytes() == key) {
            entries.push((key, value.encoded().into()));
        }
    }
    for (key, value) in changes {
        if let Some(value) = value {
            let key = key.as_bytes();
            let place = entries.iter().position(|(other, _)| *other > key);
            let place = place.unwrap_or(entries.len());
            entries.insert(place, (key, value.into()));
        }
    }
    let mut edited = vec![b'd'];
    for (key, value) in entries {
        edited.extend(encoded(|writer| writer.bytes(key)));
        edited.extend_from_slice(&value);
    }
    edited.push(b'e');
    edited.into()
}

/// Returns an encoded byte string.
pub(super) fn text(text: &String) -> Vec<u8> {
    encoded(|writer| writer.bytes(text))
}

/// Returns a list of values that are already encoded.
pub(super) fn list_of(items: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<u8> {
    let mut list = vec![b'l'];
    for item in items {
        list.extend_from_slice(item.as_ref());
    }
    list.push(b'e');
    list
}

/// Returns the bytes that a function writes.
pub(super) fn encoded(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::new();
    write(&mut writer);
    writer.finish()
}
