//! Output as JSON lines, as specified in docs/reference/json.md.

use data_encoding::HEXLOWER;
use hashlane_metainfo::{FileKind, Magnet, MetadataRef, Torrent, masked_url, masked_web_seed};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::Env;
use crate::links::{Link, Mask, Passkeys};
use crate::output::json_lines;
use crate::output::json_lines::{AsText, Each, PathText};
use crate::output::text::{HostAndPort, version};

use super::charset::Charset;
use super::notes::notes;
use super::other::Other;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Torrent {
        /// The input as given. A magnet link is reduced to its info-hash.
        torrent: &'a str,
        /// The torrent's name.
        name: String,
        /// The name in the charset of `encoding`; absent if the name is UTF-8, or if the charset is unknown or does not
        /// have its bytes.
        #[serde(skip_serializing_if = "Option::is_none")]
        name_decoded: Option<String>,
        /// `v1`, `v2` or `hybrid`.
        version: &'static str,
        /// 40 hexadecimal digits; null without version 1.
        info_hash_v1: Option<String>,
        /// 64 hexadecimal digits; null without version 2.
        info_hash_v2: Option<String>,
        /// Whether the content is a single file of that name rather than a folder.
        single_file: bool,
        /// Total length of all files.
        content_bytes: u64,
        /// The same with padding; for version 2, with the space between each file and the next piece.
        total_bytes: u64,
        /// Length of every piece except the last.
        piece_length: u32,
        /// Number of pieces.
        pieces: u32,
        #[cfg_attr(feature = "schema", schemars(with = "KeysSchema"))]
        #[serde(flatten)]
        keys: Keys<'a>,
        /// Keys that Hashlane does not use.
        #[cfg_attr(feature = "schema", schemars(with = "Vec<Other>"))]
        other_keys: OtherKeys<'a>,
        /// The magnet link, as in `create --json`; without name and URLs if there are more than 100 URLs, or if one is
        /// longer than 4096 characters.
        magnet: String,
        /// Peculiarities of the torrent, as text.
        notes: Vec<String>,
    },
    File {
        /// The input as given. A magnet link is reduced to its info-hash.
        torrent: &'a str,
        /// Position in the torrent's list.
        index: usize,
        /// Path relative to `content`, with `/`; the name for a single-file torrent.
        #[serde(flatten)]
        path: PathText,
        /// The path in the charset of `encoding`, as `name_decoded`.
        #[serde(skip_serializing_if = "Option::is_none")]
        path_decoded: Option<String>,
        /// `regular`, `padding` or `link`.
        kind: &'static str,
        /// Length of the file.
        length: u64,
        /// Offset of the file in the content.
        offset: u64,
        /// For a link, its target relative to the content root: `path` and `path_hex`.
        #[serde(skip_serializing_if = "Option::is_none")]
        target: Option<PathText>,
        /// Whether the file is executable, BEP 47.
        executable: bool,
        /// Whether the file is hidden, BEP 47.
        hidden: bool,
        /// Whether the path differs from the torrent's, which cannot be used.
        renamed: bool,
        /// 64 hexadecimal digits, BEP 52.
        pieces_root: Option<String>,
        /// Whether the torrent has a hash for each piece of the file, BEP 52.
        piece_layer: bool,
    },
    Magnet {
        /// The input as given. A magnet link is reduced to its info-hash.
        torrent: &'a str,
        /// The name in the link.
        name: Option<String>,
        /// 40 hexadecimal digits; null without version 1.
        info_hash_v1: Option<String>,
        /// 64 hexadecimal digits; null without version 2.
        info_hash_v2: Option<String>,
        /// Length of the content, if the link states it.
        total_bytes: Option<u64>,
        /// URLs of trackers.
        trackers: Vec<String>,
        /// URLs of web seeds.
        web_seeds: Vec<String>,
        /// Host and port of peers.
        peers: Vec<String>,
        /// Host and port of DHT nodes.
        nodes: Vec<String>,
        /// Positions of the selected files, such as `0,2,4-6`, BEP 53.
        select_only: Option<String>,
        /// Invalid parameters of the link, which are ignored.
        notes: &'a [String],
    },
    Error {
        /// The input as given. A magnet link is reduced to its info-hash.
        torrent: &'a str,
        message: String,
    },
}

/// Returns the schema of the lines.
#[cfg(feature = "schema")]
pub(crate) fn schema() -> schemars::Schema {
    json_lines::schema_of::<Line<'_>>()
}

/// The keys that do not describe the content. Their lists can fill the whole .torrent file, so none is copied.
struct Keys<'a>(&'a MetadataRef<'a>, &'a Mask);

/// The fields of [`Keys`].
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "describes what `Keys` serializes")]
struct KeysSchema {
    /// Whether the torrent finds peers only by its trackers, BEP 27.
    private: bool,
    /// The tag of a private tracker.
    source: Option<String>,
    /// The comment.
    comment: Option<String>,
    /// The program that made the torrent.
    created_by: Option<String>,
    /// Seconds since the start of 1970, UTC.
    creation_date: Option<i64>,
    /// Charset of names that are not UTF-8, for example `GBK`. It changes no path: files have the bytes of the torrent.
    encoding: Option<String>,
    /// URLs in tiers.
    trackers: Vec<Vec<String>>,
    /// URLs, BEP 19.
    web_seeds: Vec<String>,
    /// URLs, BEP 17.
    http_seeds: Vec<String>,
    /// Host and port of DHT nodes.
    nodes: Vec<String>,
    /// Info-hashes, BEP 38.
    similar: Vec<String>,
    /// Names of collections, BEP 38.
    collections: Vec<String>,
}

/// The keys that Hashlane does not use.
struct OtherKeys<'a>(&'a Torrent, &'a Mask);

impl Serialize for OtherKeys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(torrent, mask) = self;
        let keys = torrent.other_keys();
        serializer.collect_seq(keys.map(|key| Other::of(key, mask)))
    }
}

impl Serialize for Keys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(keys, mask) = self;
        let tracker = |url| mask.tracker(url);
        let web_seed = |url| mask.web_seed(url);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("private", &keys.is_private)?;
        let text = |text| AsText(mask.text(text));
        map.serialize_entry("source", &keys.source.map(text))?;
        map.serialize_entry("comment", &keys.comment.map(text))?;
        map.serialize_entry("created_by", &keys.created_by.map(text))?;
        map.serialize_entry("creation_date", &keys.creation_date)?;
        map.serialize_entry("encoding", &keys.encoding.map(text))?;
        let tiers = keys.trackers();
        let tiers = tiers.map(|tier| Each(tier.urls().map(tracker)));
        map.serialize_entry("trackers", &Each(tiers))?;
        map.serialize_entry("web_seeds", &Each(keys.web_seeds().map(web_seed)))?;
        map.serialize_entry("http_seeds", &Each(keys.http_seeds().map(web_seed)))?;
        let nodes = keys.nodes();
        let nodes = nodes.map(|(host, port)| AsText(HostAndPort(host, port)));
        map.serialize_entry("nodes", &Each(nodes))?;
        let similar = keys.similar().map(|hash| HEXLOWER.encode(hash));
        map.serialize_entry("similar", &Each(similar))?;
        map.serialize_entry("collections", &Each(keys.collections().map(text)))?;
        map.end()
    }
}

pub(super) fn print_torrent(
    env: &mut Env,
    given: &str,
    torrent: &Torrent,
    passkeys: Passkeys,
) -> anyhow::Result<()> {
    let keys = torrent.metadata_ref();
    let lengths = torrent.lengths();
    let charset = Charset::of(torrent);
    let mask = passkeys.of(&keys);
    let line = Line::Torrent {
        torrent: given,
        name: String::from_utf8_lossy(torrent.name().as_bytes()).into_owned(),
        name_decoded: charset.decoded(torrent.name()),
        version: version(torrent.version()),
        info_hash_v1: torrent.info_hashes().v1().map(|hash| hash.to_string()),
        info_hash_v2: torrent.info_hashes().v2().map(|hash| hash.to_string()),
        single_file: torrent.is_single_file(),
        content_bytes: torrent.content_length(),
        total_bytes: lengths.total_length(),
        piece_length: lengths.piece_length().get(),
        pieces: lengths.piece_count(),
        keys: Keys(&keys, &mask),
        other_keys: OtherKeys(torrent, &mask),
        magnet: Link::short(torrent, passkeys).magnet.to_string(),
        notes: notes(torrent),
    };
    json_lines::print(env, &line)?;
    for (index, file) in torrent.files().iter().enumerate() {
        let (kind, target) = match file.kind() {
            FileKind::Regular => ("regular", None),
            FileKind::Padding => ("padding", None),
            FileKind::Symlink { target } => ("link", Some(PathText::of(target))),
        };
        let attributes = file.attributes();
        let line = Line::File {
            torrent: given,
            index,
            path: PathText::of(file.path()),
            path_decoded: charset.decoded_path(file.path()),
            kind,
            length: file.length(),
            offset: file.offset(),
            target,
            executable: attributes.executable,
            hidden: attributes.hidden,
            renamed: file.is_renamed(),
            pieces_root: file.pieces_root().map(|root| HEXLOWER.encode(root)),
            piece_layer: file.piece_layer().is_some(),
        };
        json_lines::print(env, &line)?;
    }
    Ok(())
}

pub(super) fn print_error(env: &mut Env, given: &str, error: &anyhow::Error) -> anyhow::Result<()> {
    let message = format!("{error:#}");
    json_lines::print(
        env,
        &Line::Error {
            torrent: given,
            message,
        },
    )
}

pub(super) fn print_magnet(
    env: &mut Env,
    given: &str,
    magnet: &Magnet,
    notes: &[String],
    passkeys: Passkeys,
) -> anyhow::Result<()> {
    let texts = |texts: &[hashlane_metainfo::PeerAddress]| -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    };
    json_lines::print(
        env,
        &Line::Magnet {
            torrent: given,
            name: magnet.name.clone(),
            info_hash_v1: magnet.info_hashes.v1().map(|hash| hash.to_string()),
            info_hash_v2: magnet.info_hashes.v2().map(|hash| hash.to_string()),
            total_bytes: magnet.length,
            trackers: passkeys.of_link(&magnet.trackers, masked_url).collect(),
            web_seeds: passkeys
                .of_link(&magnet.web_seeds, masked_web_seed)
                .collect(),
            peers: texts(&magnet.peers),
            nodes: texts(&magnet.dht_nodes),
            select_only: magnet.select_only.as_ref().map(ToString::to_string),
            notes,
        },
    )
}
