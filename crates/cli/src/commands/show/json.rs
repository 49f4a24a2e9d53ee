//! As JSON lines. docs/json.md is their contract.

use hashlane_metainfo::{FileKind, Magnet, Torrent};
use serde::Serialize;

use crate::Env;
use crate::output::json_lines;
use crate::output::json_lines::PathText;
use crate::output::text::{hex, version};

use super::notes::notes;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Torrent {
        name: String,
        version: &'static str,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        single_file: bool,
        content_bytes: u64,
        total_bytes: u64,
        piece_length: u32,
        pieces: u32,
        private: bool,
        source: Option<String>,
        comment: Option<String>,
        created_by: Option<String>,
        creation_date: Option<i64>,
        trackers: Vec<Vec<String>>,
        web_seeds: Vec<String>,
        http_seeds: Vec<String>,
        nodes: Vec<String>,
        similar: Vec<String>,
        collections: Vec<String>,
        notes: Vec<String>,
    },
    File {
        index: usize,
        #[serde(flatten)]
        path: PathText,
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
        name: Option<String>,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        total_bytes: Option<u64>,
        trackers: Vec<String>,
        web_seeds: Vec<String>,
        peers: Vec<String>,
        nodes: Vec<String>,
        select_only: Option<String>,
    },
}

pub(super) fn print_torrent(env: &mut Env, torrent: &Torrent) -> anyhow::Result<()> {
    let metadata = torrent.metadata();
    let lengths = torrent.lengths();
    let line = Line::Torrent {
        name: String::from_utf8_lossy(torrent.name().as_bytes()).into_owned(),
        version: version(torrent.version()),
        info_hash_v1: torrent.info_hashes().v1().map(|hash| hash.to_string()),
        info_hash_v2: torrent.info_hashes().v2().map(|hash| hash.to_string()),
        single_file: torrent.is_single_file(),
        content_bytes: torrent.content_length(),
        total_bytes: lengths.total_length(),
        piece_length: lengths.piece_length().get(),
        pieces: lengths.piece_count(),
        private: metadata.is_private,
        source: metadata.source,
        comment: metadata.comment,
        created_by: metadata.created_by,
        creation_date: metadata.creation_date,
        trackers: metadata.trackers,
        web_seeds: metadata.web_seeds,
        http_seeds: metadata.http_seeds,
        nodes: metadata
            .nodes
            .iter()
            .map(|(host, port)| crate::output::text::host_and_port(host, *port))
            .collect(),
        similar: metadata.similar.iter().map(|hash| hex(&hash[..])).collect(),
        collections: metadata.collections,
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
            index,
            path: PathText::of(file.path()),
            kind,
            length: file.length(),
            offset: file.offset(),
            target,
            executable: attributes.executable,
            hidden: attributes.hidden,
            renamed: file.is_renamed(),
            pieces_root: file.pieces_root().map(|root| hex(root)),
            piece_layer: file.piece_layer().is_some(),
        };
        json_lines::print(env, &line)?;
    }
    Ok(())
}

pub(super) fn print_magnet(env: &mut Env, magnet: &Magnet) -> anyhow::Result<()> {
    let texts = |texts: &[hashlane_metainfo::PeerAddress]| -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    };
    json_lines::print(
        env,
        &Line::Magnet {
            name: magnet.name.clone(),
            info_hash_v1: magnet.info_hashes.v1().map(|hash| hash.to_string()),
            info_hash_v2: magnet.info_hashes.v2().map(|hash| hash.to_string()),
            total_bytes: magnet.length,
            trackers: magnet.trackers.clone(),
            web_seeds: magnet.web_seeds.clone(),
            peers: texts(&magnet.peers),
            nodes: texts(&magnet.dht_nodes),
            select_only: magnet.select_only.as_ref().map(ToString::to_string),
        },
    )
}
