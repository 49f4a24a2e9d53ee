//! Output as JSON lines, as specified in docs/reference/json.md.

use data_encoding::HEXLOWER;
use hashlane_metainfo::{FileKind, Magnet, MetadataRef, Torrent, masked_url, masked_web_seed};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::Env;
use crate::links::{Link, Passkeys};
use crate::output::json_lines;
use crate::output::json_lines::{AsText, Each, PathText};
use crate::output::text::{HostAndPort, version};

use super::charset::Charset;
use super::notes::notes;
use super::other::Other;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Torrent {
        torrent: &'a str,
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        name_decoded: Option<String>,
        version: &'static str,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        single_file: bool,
        content_bytes: u64,
        total_bytes: u64,
        piece_length: u32,
        pieces: u32,
        #[serde(flatten)]
        keys: Keys<'a>,
        other_keys: OtherKeys<'a>,
        magnet: String,
        notes: Vec<String>,
    },
    File {
        torrent: &'a str,
        index: usize,
        #[serde(flatten)]
        path: PathText,
        #[serde(skip_serializing_if = "Option::is_none")]
        path_decoded: Option<String>,
        kind: &'static str,
        length: u64,
        offset: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        target: Option<PathText>,
        executable: bool,
        hidden: bool,
        renamed: bool,
        pieces_root: Option<String>,
        piece_layer: bool,
    },
    Magnet {
        torrent: &'a str,
        name: Option<String>,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        total_bytes: Option<u64>,
        trackers: Vec<String>,
        web_seeds: Vec<String>,
        peers: Vec<String>,
        nodes: Vec<String>,
        select_only: Option<String>,
        notes: &'a [String],
    },
    Error {
        torrent: &'a str,
        message: String,
    },
}

/// The keys that do not describe the content. Their lists can fill the whole .torrent file, so none is copied.
struct Keys<'a>(&'a MetadataRef<'a>, Passkeys);

/// The keys that Hashlane does not use.
struct OtherKeys<'a>(&'a Torrent);

impl Serialize for OtherKeys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.other_keys().map(Other::of))
    }
}

impl Serialize for Keys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(keys, passkeys) = self;
        let tracker = |url| passkeys.tracker(url);
        let web_seed = |url| passkeys.web_seed(url, keys.is_private);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("private", &keys.is_private)?;
        let text = |text| AsText(passkeys.text(keys, text));
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
        map.serialize_entry("collections", &Each(keys.collections().map(AsText)))?;
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
        keys: Keys(&keys, passkeys),
        other_keys: OtherKeys(torrent),
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
