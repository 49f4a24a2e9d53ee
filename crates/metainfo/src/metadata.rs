//! The keys of a .torrent file that do not describe its content.

mod borrowed;
mod other;
mod text;

use crate::bencode::{Items, Value};

pub use borrowed::{MetadataRef, Tier};
pub use other::OtherKey;
pub(crate) use other::other_keys;
pub use text::Text;

/// Trackers, comment and other keys of a .torrent file that do not describe its content (BEP 3, 5,
/// 12, 19, 27 and customary keys).
///
/// Verification needs none of these keys, so no torrent is refused because of them. A value of an
/// unexpected type is ignored, as in other programs. If a key appears twice, the first value is
/// used. `comment.utf-8` and `created by.utf-8` are preferred to `comment` and `created by`. Bytes
/// that are not UTF-8 are replaced by `U+FFFD`. Control characters are kept: escape the text before
/// you print it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
#[non_exhaustive]
pub struct Metadata {
    /// Tracker URLs in tiers, the preferred tier first (BEP 12). A single `announce` is one tier
    /// with one URL.
    pub trackers: Vec<Vec<String>>,
    /// Tracker URL for programs that do not support tiers (`announce`). Programs that support tiers ignore `announce`
    /// if there are any tiers (BEP 12). The URL may be in no tier.
    pub announce: Option<String>,
    /// URLs of the content on HTTP or FTP servers (`url-list`, BEP 19).
    pub web_seeds: Vec<String>,
    /// URLs of HTTP seeds of the older type (`httpseeds`, BEP 17).
    pub http_seeds: Vec<String>,
    /// Hosts and ports of DHT nodes (BEP 5).
    pub nodes: Vec<(String, u16)>,
    /// Comment: free text.
    pub comment: Option<String>,
    /// Program that created the torrent.
    pub created_by: Option<String>,
    /// Creation time in seconds since 1970-01-01 UTC.
    pub creation_date: Option<i64>,
    /// Whether peers may only come from the trackers (BEP 27). Part of the info dictionary.
    pub is_private: bool,
    /// Source tag, which changes the info-hash. Part of the info dictionary.
    pub source: Option<String>,
    /// Info-hashes of torrents that share files with this one (BEP 38).
    pub similar: Vec<[u8; 20]>,
    /// Names of collections that the torrent belongs to (BEP 38).
    pub collections: Vec<String>,
}

impl From<MetadataRef<'_>> for Metadata {
    fn from(keys: MetadataRef<'_>) -> Self {
        let strings = |tier: Tier<'_>| tier.urls().map(string).collect();
        Self {
            trackers: keys.trackers().map(strings).collect(),
            announce: keys.announce.map(string),
            web_seeds: keys.web_seeds().map(string).collect(),
            http_seeds: keys.http_seeds().map(string).collect(),
            nodes: keys
                .nodes()
                .map(|(host, port)| (string(host), port))
                .collect(),
            comment: keys.comment.map(string),
            created_by: keys.created_by.map(string),
            creation_date: keys.creation_date,
            is_private: keys.is_private,
            source: keys.source.map(string),
            similar: keys.similar().copied().collect(),
            collections: keys.collections().map(string).collect(),
        }
    }
}

fn string(text: Text<'_>) -> String {
    text.to_string()
}

/// Returns the first value of each of these keys, in one pass.
pub(crate) fn first_values<'a, const N: usize>(
    dictionary: Value<'a>,
    keys: [&str; N],
) -> [Option<Value<'a>>; N] {
    let mut values = [None; N];
    for entry in dictionary.as_dictionary().into_iter().flatten() {
        if let Some(index) = keys.iter().position(|key| key.as_bytes() == entry.key) {
            values[index].get_or_insert(entry.value);
        }
    }
    values
}

/// Returns the items of a list, or no items if the value is not a list.
pub(crate) fn list(value: Value<'_>) -> Items<'_> {
    value.as_list().unwrap_or_else(|| Items::from_encoded(b""))
}
