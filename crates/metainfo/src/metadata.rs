//! What a .torrent file says besides its content.

use std::collections::HashSet;

use crate::bencode::{Items, Value};

/// What a .torrent file says besides its content (BEP 3, 5, 12, 19, 27 and customs).
///
/// None of it is needed to verify anything, so none of it makes a torrent be refused: what is not of
/// the expected type is left out, as by other programs, and of two equal keys the first one counts.
/// Where there is a `comment.utf-8` or `created by.utf-8`, it counts.
/// Text that is not UTF-8 has `U+FFFD` in the place of what is not; it is not made safe to print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// URLs of trackers in tiers, of which the first is tried first (BEP 12). A single `announce`
    /// is one tier of one.
    pub trackers: Vec<Vec<String>>,
    /// The URL of the tracker for programs that do not know tiers (`announce`). Where there are tiers,
    /// all others ignore it (BEP 12), and it need not be in one.
    pub announce: Option<String>,
    /// URLs from which the content can be had by HTTP or FTP (`url-list`, BEP 19).
    pub web_seeds: Vec<String>,
    /// URLs of HTTP seeds of the older kind (`httpseeds`, BEP 17).
    pub http_seeds: Vec<String>,
    /// Hosts and ports of nodes of the DHT (BEP 5).
    pub nodes: Vec<(String, u16)>,
    /// Free text.
    pub comment: Option<String>,
    /// The program that made the torrent.
    pub created_by: Option<String>,
    /// When it was made, in seconds since 1970.
    pub creation_date: Option<i64>,
    /// Whether peers may come from nowhere but the trackers (BEP 27). In the info dictionary.
    pub is_private: bool,
    /// What makes the info-hash differ from that of the same content elsewhere. In the info
    /// dictionary.
    pub source: Option<String>,
    /// Info-hashes of torrents with files in common (BEP 38).
    pub similar: Vec<[u8; 20]>,
    /// Names of collections that the torrent belongs to (BEP 38).
    pub collections: Vec<String>,
}

impl Metadata {
    /// Of the dictionary that is the .torrent file, and of the info dictionary in it.
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
        // BEP 38 has them in both places.
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

/// The first value of each of these keys, in one pass.
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

/// The items of a list; none if it is something else.
pub(crate) fn list(value: Value<'_>) -> Items<'_> {
    value.as_list().unwrap_or_else(|| Items::from_encoded(b""))
}

fn text(value: Value<'_>) -> Option<String> {
    Some(String::from_utf8_lossy(value.as_bytes()?).into_owned())
}

fn first_text<const N: usize>(values: [Option<Value<'_>>; N]) -> Option<String> {
    values.into_iter().flatten().find_map(text)
}

/// URLs: a list of them, or one alone.
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

/// Removes white space around a text, which some creators leave there.
fn trimmed(text: String) -> String {
    match text.trim() {
        trimmed if trimmed.len() == text.len() => text,
        trimmed => trimmed.to_owned(),
    }
}
