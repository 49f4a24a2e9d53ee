//! Keys that nothing in this crate reads.

use crate::bencode::{Entry, Value};

use super::text::Text;

/// Keys of a .torrent file that this crate reads, outside the info dictionary.
const KNOWN: [&str; 15] = [
    "announce",
    "announce-list",
    "collections",
    "comment",
    "comment.utf-8",
    "created by",
    "created by.utf-8",
    "creation date",
    "encoding",
    "httpseeds",
    "info",
    "nodes",
    "piece layers",
    "similar",
    "url-list",
];

/// Keys of the info dictionary that this crate reads.
const KNOWN_IN_INFO: [&str; 14] = [
    "attr",
    "collections",
    "file tree",
    "files",
    "length",
    "meta version",
    "name",
    "name.utf-8",
    "piece length",
    "pieces",
    "private",
    "similar",
    "source",
    "symlink path",
];

/// A key that this crate does not read, and its value.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OtherKey<'a> {
    /// Whether the key is in the info dictionary, so that it changes the info-hash.
    pub is_in_info: bool,
    /// The name of the key, which need not be UTF-8.
    pub key: Text<'a>,
    /// The undecoded value.
    pub value: Value<'a>,
}

/// Returns the keys of a .torrent file and of its info dictionary that nothing reads.
pub(crate) fn other_keys<'a>(
    metainfo: Value<'a>,
    info: Value<'a>,
) -> impl Iterator<Item = OtherKey<'a>> + Clone {
    let of = |dictionary: Value<'a>, known: &'static [&'static str], is_in_info| {
        let entries = dictionary.as_dictionary().into_iter().flatten();
        let is_other =
            move |entry: &Entry<'_>| !known.iter().any(|key| key.as_bytes() == entry.key);
        entries.filter(is_other).map(move |entry| OtherKey {
            is_in_info,
            key: Text::new(entry.key),
            value: entry.value,
        })
    };
    of(metainfo, &KNOWN, false).chain(of(info, &KNOWN_IN_INFO, true))
}
