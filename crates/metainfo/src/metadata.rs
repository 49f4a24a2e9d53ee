//! The keys of a .torrent file that do not describe its content.

use std::collections::HashSet;

use crate::bencode::{Items, Value};

/// Trackers, comment and other keys of a .torrent file that do not describe its content (BEP 3, 5,
/// 12, 19, 27 and customary keys).
///
/// Verification needs none of these keys, so no torrent is refused because of them. A value of an
/// unexpected type is ignored, as in other programs. If a key appears twice, the first value is
/// used. `comment.utf-8` and `created by.utf-8` are preferred to `comment` and `created by`. Bytes
/// that are not UTF-8 are replaced by `U+FFFD`. Control characters are kept: escape the text before
/// you print it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// Tracker URLs in tiers, the preferred tier first (BEP 12). A single `announce` is one tier
    /// with one URL.
    pub trackers: Vec<Vec<String>>,
    /// Tracker URL for programs that do not support tiers (`announce`). Programs that support tiers
    /// ignore it if there are any (BEP 12). It need not be part of a tier.
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

impl Metadata {
    /// Reads the dictionary of a .torrent file and the info dictionary in it.
    pub(crate) fn read(metainfo: Value<'_>, info: Value<'_>) -> Self {
        let [announce, announce_list, url_list, httpseeds, nodes] = first_values(
            metainfo,
            [
                "announce",
                "announce-list",
                "url-list",
                "httpseeds",
                "nodes",
            ],
        );
        let [
            comment,
            comment_utf8,
            created_by,
            created_by_utf8,
            creation_date,
        ] = first_values(
            metainfo,
            [
                "comment",
                "comment.utf-8",
                "created by",
                "created by.utf-8",
                "creation date",
            ],
        );
        let [private, source] = first_values(info, ["private", "source"]);
        let mut trackers = announce_list.map(tiers).unwrap_or_default();
        let announce = announce.and_then(text).map(trimmed);
        let announce = announce.filter(|url| !url.is_empty());
        if trackers.is_empty() {
            trackers.extend(announce.clone().map(|url| vec![url]));
        }
        let mut metadata = Self {
            trackers,
            announce,
            web_seeds: url_list.map(urls).unwrap_or_default(),
            http_seeds: httpseeds.map(urls).unwrap_or_default(),
            nodes: nodes.into_iter().flat_map(list).filter_map(node).collect(),
            comment: first_text([comment_utf8, comment]),
            created_by: first_text([created_by_utf8, created_by]),
            creation_date: creation_date.and_then(Value::as_integer),
            is_private: private
                .and_then(Value::as_integer)
                .is_some_and(|flag| flag != 0),
            source: source.and_then(text),
            ..Self::default()
        };
        // BEP 38 allows these keys in both dictionaries.
        for dictionary in [metainfo, info] {
            let [similar, collections] = first_values(dictionary, ["similar", "collections"]);
            let hash = |item: Value<'_>| <[u8; 20]>::try_from(item.as_bytes()?).ok();
            let similar = similar.into_iter().flat_map(list).filter_map(hash);
            metadata.similar.extend(similar);
            let collections = collections.into_iter().flat_map(list).filter_map(text);
            metadata.collections.extend(collections);
        }
        metadata
    }
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

fn text(value: Value<'_>) -> Option<String> {
    Some(String::from_utf8_lossy(value.as_bytes()?).into_owned())
}

fn first_text<const N: usize>(values: [Option<Value<'_>>; N]) -> Option<String> {
    values.into_iter().flatten().find_map(text)
}

/// Returns URLs from a list or a single byte string.
fn urls(value: Value<'_>) -> Vec<String> {
    let one = text(value);
    let urls = one.into_iter().chain(list(value).filter_map(text));
    let mut known = HashSet::new();
    urls.map(trimmed)
        .filter(|url| !url.is_empty() && known.insert(url.clone()))
        .collect()
}

fn tiers(value: Value<'_>) -> Vec<Vec<String>> {
    let tiers = list(value).map(|tier| {
        let urls = list(tier).filter_map(text).map(trimmed);
        urls.filter(|url| !url.is_empty()).collect::<Vec<_>>()
    });
    tiers.filter(|tier| !tier.is_empty()).collect()
}

fn node(value: Value<'_>) -> Option<(String, u16)> {
    let mut items = value.as_list()?;
    let host = text(items.next()?)?;
    let port = items.next()?.as_integer()?.try_into().ok()?;
    Some((host, port))
}

/// Removes surrounding white space, which some programs write.
fn trimmed(text: String) -> String {
    match text.trim() {
        trimmed if trimmed.len() == text.len() => text,
        trimmed => trimmed.to_owned(),
    }
}
