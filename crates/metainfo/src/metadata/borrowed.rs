//! The keys of a .torrent file that do not describe its content, without a copy of them.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use crate::bencode::{Items, Value};

use super::text::Text;
use super::{first_values, list};

/// The keys of a .torrent file that do not describe its content, borrowed from its bytes.
///
/// [`Metadata`](super::Metadata) describes the keys, and holds a copy of them. A copy of a list of many short texts
/// takes far more memory than the list, and a hostile torrent can hold millions of them.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "`Metadata` describes them")]
pub struct MetadataRef<'a> {
    pub announce: Option<Text<'a>>,
    pub comment: Option<Text<'a>>,
    pub created_by: Option<Text<'a>>,
    pub creation_date: Option<i64>,
    /// Charset of names that are not UTF-8 (`encoding`). `Metadata` lacks it: a path has the bytes of the torrent.
    pub encoding: Option<Text<'a>>,
    pub is_private: bool,
    pub source: Option<Text<'a>>,
    announce_list: Option<Value<'a>>,
    url_list: Option<Value<'a>>,
    httpseeds: Option<Value<'a>>,
    nodes: Option<Value<'a>>,
    /// The values of the file and of the info dictionary: BEP 38 allows these keys in both.
    similar: [Option<Value<'a>>; 2],
    collections: [Option<Value<'a>>; 2],
}

/// Trackers of the same preference (BEP 12). There is at least one.
#[derive(Clone, Debug)]
pub struct Tier<'a> {
    one: Option<Text<'a>>,
    list: Items<'a>,
}

impl<'a> Tier<'a> {
    /// Returns the URLs of the trackers.
    pub fn urls(&self) -> impl Iterator<Item = Text<'a>> + Clone + use<'a> {
        self.one.into_iter().chain(non_empty(self.list.clone()))
    }
}

impl<'a> MetadataRef<'a> {
    /// Reads the dictionary of a .torrent file and the info dictionary in it.
    pub(crate) fn read(metainfo: Value<'a>, info: Value<'a>) -> Self {
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
            encoding,
        ] = first_values(
            metainfo,
            [
                "comment",
                "comment.utf-8",
                "created by",
                "created by.utf-8",
                "creation date",
                "encoding",
            ],
        );
        let [private, source] = first_values(info, ["private", "source"]);
        let [similar, collections] = first_values(metainfo, ["similar", "collections"]);
        let [info_similar, info_collections] = first_values(info, ["similar", "collections"]);
        let announce = announce.and_then(text).map(Text::trimmed);
        Self {
            announce: announce.filter(|url| !url.is_empty()),
            comment: first_text([comment_utf8, comment]),
            created_by: first_text([created_by_utf8, created_by]),
            creation_date: creation_date.and_then(Value::as_integer),
            encoding: encoding.and_then(text).map(Text::trimmed),
            is_private: private
                .and_then(Value::as_integer)
                .is_some_and(|flag| flag != 0),
            source: source.and_then(text),
            announce_list,
            url_list,
            httpseeds,
            nodes,
            similar: [similar, info_similar],
            collections: [collections, info_collections],
        }
    }

    /// Returns the tiers of trackers, the preferred tier first.
    pub fn trackers(&self) -> impl Iterator<Item = Tier<'a>> + Clone + use<'a> {
        let tiers = items(self.announce_list).map(|tier| Tier {
            one: None,
            list: list(tier),
        });
        let tiers = tiers.filter(|tier| tier.urls().next().is_some());
        let announce = self.announce.filter(|_| tiers.clone().next().is_none());
        tiers.chain(announce.map(|url| Tier {
            one: Some(url),
            list: Items::from_encoded(b""),
        }))
    }

    /// Returns the URLs of the content on HTTP or FTP servers, each once. Allocates the size of a
    /// number for each.
    pub fn web_seeds(&self) -> impl Iterator<Item = Text<'a>> + Clone + use<'a> {
        urls(self.url_list)
    }

    /// Returns the URLs of HTTP seeds of the older type, each once. Allocates the size of a number
    /// for each.
    pub fn http_seeds(&self) -> impl Iterator<Item = Text<'a>> + Clone + use<'a> {
        urls(self.httpseeds)
    }

    /// Returns the hosts and ports of DHT nodes.
    pub fn nodes(&self) -> impl Iterator<Item = (Text<'a>, u16)> + Clone + use<'a> {
        items(self.nodes).filter_map(|node| {
            let mut items = node.as_list()?;
            let host = text(items.next()?)?;
            Some((host, items.next()?.as_integer()?.try_into().ok()?))
        })
    }

    /// Returns the info-hashes of torrents that share files with this one.
    pub fn similar(&self) -> impl Iterator<Item = &'a [u8; 20]> + Clone + use<'a> {
        let hashes = self.similar.into_iter().flat_map(items);
        hashes.filter_map(|item| item.as_bytes()?.try_into().ok())
    }

    /// Returns the names of collections that the torrent belongs to.
    pub fn collections(&self) -> impl Iterator<Item = Text<'a>> + Clone + use<'a> {
        self.collections
            .into_iter()
            .flat_map(items)
            .filter_map(text)
    }
}

fn items(value: Option<Value<'_>>) -> Items<'_> {
    value.map_or_else(|| Items::from_encoded(b""), list)
}

fn text(value: Value<'_>) -> Option<Text<'_>> {
    value.as_bytes().map(Text::new)
}

fn first_text<const N: usize>(values: [Option<Value<'_>>; N]) -> Option<Text<'_>> {
    values.into_iter().flatten().find_map(text)
}

fn non_empty<'a>(
    urls: impl Iterator<Item = Value<'a>> + Clone,
) -> impl Iterator<Item = Text<'a>> + Clone {
    let urls = urls.filter_map(text).map(Text::trimmed);
    urls.filter(|url| !url.is_empty())
}

/// The bits of a place that hold the offset in a list, which is far shorter than 1 TiB. The other bits are from a hash,
/// so that few texts have to be compared.
const OFFSET_BITS: u64 = (1 << 40) - 1;

/// Returns the URLs in a list, or the URL in a byte string, each once.
fn urls(value: Option<Value<'_>>) -> impl Iterator<Item = Text<'_>> + Clone {
    let list = value.map_or(&b""[..], |value| match value.as_list() {
        Some(items) => items.as_encoded(),
        None => value.encoded(),
    });
    let url_at = move |place: u64| {
        let rest = &list[(place & OFFSET_BITS) as usize..];
        non_empty(Items::from_encoded(rest).take(1)).next()
    };
    let items = || Items::from_encoded(list);
    let hashes = RandomState::new();
    // A set of texts would take more memory than the list.
    let mut places = Vec::with_capacity(items().count());
    for item in items() {
        let offset = item.offset() as u64;
        if let Some(url) = url_at(offset) {
            let mut hasher = hashes.build_hasher();
            url.chars().for_each(|c| hasher.write_u32(c.into()));
            places.push(hasher.finish() & !OFFSET_BITS | offset);
        }
    }
    places.sort_unstable_by(|a, b| {
        let by_hash = (a & !OFFSET_BITS).cmp(&(b & !OFFSET_BITS));
        let by_text = || url_at(*a).cmp(&url_at(*b));
        by_hash.then_with(by_text).then(a.cmp(b))
    });
    places.dedup_by(|later, earlier| {
        *later & !OFFSET_BITS == *earlier & !OFFSET_BITS && url_at(*later) == url_at(*earlier)
    });
    places.sort_unstable_by_key(|place| place & OFFSET_BITS);
    places.into_iter().filter_map(url_at)
}
