//! Methods that show torrents.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use data_encoding::HEXLOWER;
use hashlane_client::TorrentSnapshot;
use serde_json::{Map, Value, json};

use super::call::{Answer, Call};
use super::client::category;
use super::request::Failure;
use super::torrent::{self, FIELDS, Goals, Row, View, passes};
use crate::torrent::Shown as _;

/// Returns the torrents that a request asks for.
pub(super) fn info(call: &Call<'_>) -> Result<Answer, Failure> {
    let form = &call.form;
    let filter = form.given("filter").unwrap_or("all");
    let (category, label) = (form.given("category"), form.given("tag"));
    let is_private = form.bool("private")?;
    let (limit, offset) = (form.integer("limit")?, form.integer("offset")?);
    let is_reverse = form.bool("reverse")?.unwrap_or(false);
    let mut chosen = match form.text("hashes") {
        Some(_) => form.torrents(call.torrents())?,
        None => call.torrents().iter().map(|torrent| &**torrent).collect(),
    };
    chosen.retain(|torrent| {
        // An unknown filter is none, as in qBittorrent. An empty name stands for torrents without one.
        passes(torrent, filter).unwrap_or(true)
            && category.is_none_or(|name| torrent.category.as_deref().unwrap_or("") == name)
            && label.is_none_or(|name| match name {
                "" => torrent.labels.is_empty(),
                name => torrent.labels.iter().any(|label| label == name),
            })
            && is_private.is_none_or(|is_private| torrent.is_private == is_private)
    });
    let goals = Goals::of(&call.control.session());
    if let Some(name) = form.text("sort") {
        sort(&mut chosen, name, &goals);
    }
    if is_reverse {
        chosen.reverse();
    }
    let rows = page(&chosen, offset.unwrap_or(0), limit.unwrap_or(0)).iter();
    let rows = rows.map(|torrent| Row(View::new(torrent, &goals)));
    Answer::json(&rows.collect::<Vec<_>>())
}

/// Sorts torrents by a field. An unknown one leaves them as they are.
fn sort(torrents: &mut Vec<&TorrentSnapshot>, name: &str, goals: &Goals) {
    if name == "hash" {
        torrents.sort_by_key(|torrent| torrent.hash());
    }
    let Some((_, value)) = FIELDS.iter().find(|field| field.0 == name) else {
        return;
    };
    let mut rows: Vec<(Value, &TorrentSnapshot)> = torrents
        .iter()
        .map(|torrent| (value(&View::new(torrent, goals)), *torrent))
        .collect();
    rows.sort_by(|one, other| compare(&one.0, &other.0));
    *torrents = rows.into_iter().map(|(_, torrent)| torrent).collect();
}

fn compare(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::String(one), Value::String(other)) => one.cmp(other),
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        _ => {
            let number = |value: &Value| value.as_f64().unwrap_or(0.0);
            number(one).total_cmp(&number(other))
        }
    }
}

/// Returns a part of a list. A negative offset counts from the end, and a limit that is not positive is none.
fn page<'a, 't>(
    torrents: &'a [&'t TorrentSnapshot],
    offset: i64,
    limit: i64,
) -> &'a [&'t TorrentSnapshot] {
    let len = torrents.len();
    let distance = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
    let start = if offset < 0 {
        // As in qBittorrent, an offset before the first torrent is that of the first one.
        len.saturating_sub(distance)
    } else {
        distance.min(len)
    };
    let rest = &torrents[start..];
    let limit = usize::try_from(limit).ok().filter(|limit| *limit > 0);
    &rest[..limit.unwrap_or(len).min(rest.len())]
}

pub(super) fn count(call: &Call<'_>) -> Result<Answer, Failure> {
    Ok(Answer::Text(call.torrents().len().to_string()))
}

pub(super) fn properties(call: &Call<'_>) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    let pieces = call.control.pieces(torrent.identity.number);
    let session = call.control.session();
    Answer::json(&torrent::properties(torrent, &session, &pieces))
}

pub(super) fn files(call: &Call<'_>) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    let files = call.control.files(torrent.identity.number);
    let all = files.iter().enumerate();
    let chosen: Vec<Value> = match call.form.text("indexes") {
        None => all
            .map(|(index, (file, pieces))| torrent::file(index, file, pieces, torrent))
            .collect(),
        Some(indexes) => {
            let indexes = indexes.split('|').map(str::parse);
            let indexes: Result<Vec<usize>, _> = indexes.collect();
            let Ok(indexes) = indexes else {
                return Err(Failure::bad("indexes", "positions of files"));
            };
            if indexes.iter().any(|index| *index >= files.len()) {
                return Err(Failure::bad("indexes", "positions of files"));
            }
            all.filter(|(index, _)| indexes.contains(index))
                .map(|(index, (file, pieces))| torrent::file(index, file, pieces, torrent))
                .collect()
        }
    };
    Answer::json(&chosen)
}

pub(super) fn trackers(call: &Call<'_>) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    let trackers = call.control.trackers(torrent.identity.number);
    let sources = torrent::sources(torrent, &call.control.session());
    let all = sources
        .into_iter()
        .chain(trackers.iter().map(torrent::tracker));
    Answer::json(&all.collect::<Vec<_>>())
}

/// Returns 2 for each present piece, and 0 for others.
pub(super) fn piece_states(call: &Call<'_>) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    let pieces = call.control.pieces(torrent.identity.number);
    let states = pieces.iter().map(|is_present| u8::from(*is_present) * 2);
    Answer::json(&states.collect::<Vec<_>>())
}

/// Returns the SHA-1 digests of pieces; none for a torrent without version 1 or metadata.
pub(super) fn piece_hashes(call: &Call<'_>) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    let metainfo = metainfo(call, torrent);
    let hashes = metainfo
        .as_ref()
        .and_then(|metainfo| metainfo.piece_hashes());
    let hashes = hashes.unwrap_or_default().iter();
    let hashes = hashes.map(|hash| HEXLOWER.encode(hash));
    Answer::json(&hashes.collect::<Vec<_>>())
}

pub(super) fn webseeds(call: &Call<'_>) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    let metadata = metainfo(call, torrent).map(|metainfo| metainfo.metadata());
    let urls = metadata.unwrap_or_default().web_seeds.into_iter();
    let urls = urls.map(|url| json!({ "url": url }));
    Answer::json(&urls.collect::<Vec<_>>())
}

fn metainfo(call: &Call<'_>, torrent: &TorrentSnapshot) -> Option<hashlane_metainfo::Torrent> {
    let bytes = call.control.metainfo(torrent.identity.number)?;
    hashlane_metainfo::Torrent::parse(bytes).ok()
}

pub(super) fn export(call: &Call<'_>) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    let bytes = call.control.metainfo(torrent.identity.number);
    let bytes = bytes.ok_or_else(|| Failure::conflict("the metadata is not known yet"))?;
    Ok(Answer::Torrent(bytes))
}

/// Returns a limit of each named torrent in bytes per second, 0 for none.
fn limits(
    call: &Call<'_>,
    limit: impl Fn(&TorrentSnapshot) -> Option<NonZeroU32>,
) -> Result<Answer, Failure> {
    let torrents = call.form.torrents(call.torrents())?;
    let limits = torrents.iter().map(|torrent| {
        (
            torrent.short_hash(),
            limit(torrent).map_or(0, NonZeroU32::get),
        )
    });
    Answer::json(&limits.collect::<BTreeMap<_, _>>())
}

pub(super) fn download_limit(call: &Call<'_>) -> Result<Answer, Failure> {
    limits(call, |torrent| torrent.rates().down)
}

pub(super) fn upload_limit(call: &Call<'_>) -> Result<Answer, Failure> {
    limits(call, |torrent| torrent.rates().up)
}

pub(super) fn categories(call: &Call<'_>) -> Result<Answer, Failure> {
    let categories = call.control.groups().categories;
    let all: Map<String, Value> = categories
        .iter()
        .map(|known| (known.name.clone(), category(known)))
        .collect();
    Answer::json(&all)
}

pub(super) fn tags(call: &Call<'_>) -> Result<Answer, Failure> {
    Answer::json(&call.control.groups().labels)
}
