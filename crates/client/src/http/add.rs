//! Torrents that requests add.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use axum::response::{IntoResponse as _, Response};
use hashlane_metainfo::{InfoHashes, Magnet, Torrent};
use serde::Deserialize;

use super::state::State;
use crate::config::{AddError, AddOptions, Source};
use crate::identity::{Identity, InfoHash, TorrentKey};

/// The body of a request that adds a magnet link.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MagnetRequest {
    link: String,
}

/// Adds the .torrent file in the request's body.
pub(super) async fn torrent(
    Shared(state): Shared<State>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    if kind != Some(b"application/x-bittorrent") {
        return StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response();
    }
    match Torrent::parse(body.to_vec()) {
        Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, format!("{error}\n")).into_response(),
        Ok(torrent) => add(&state, torrent.info_hashes(), torrent.into()),
    }
}

/// Adds a magnet link.
pub(super) async fn magnet(
    Shared(state): Shared<State>,
    Json(request): Json<MagnetRequest>,
) -> Response {
    match request.link.trim().parse::<Magnet>() {
        Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, format!("{error}\n")).into_response(),
        Ok(magnet) => add(&state, magnet.info_hashes, magnet.into()),
    }
}

/// Adds a torrent, unless the client has it and it has not ended. Requests are handled one after the other up to here, so two
/// requests do not add the same torrent.
fn add(state: &State, info_hashes: InfoHashes, source: Source) -> Response {
    let versions = [
        info_hashes.v1().map(InfoHash::V1),
        info_hashes.v2().map(InfoHash::V2),
    ];
    let mut keys = versions.into_iter().flatten().map(TorrentKey::InfoHash);
    let known = keys.find_map(|key| {
        let torrent = state.get(key)?;
        (!torrent.snapshot().activity.is_over()).then_some(torrent)
    });
    if let Some(torrent) = known {
        return found(
            StatusCode::OK,
            Identity {
                number: torrent.number(),
                info_hashes: torrent
                    .snapshot()
                    .identity
                    .info_hashes
                    .or(Some(info_hashes)),
            },
        );
    }
    match state.control.add(source, AddOptions::default()) {
        Ok(torrent) => found(
            StatusCode::CREATED,
            Identity {
                number: torrent.number(),
                info_hashes: Some(info_hashes),
            },
        ),
        Err(AddError::Stopped) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Err(reason) => (StatusCode::CONFLICT, format!("{reason}\n")).into_response(),
    }
}

/// Returns the answer with the identity of a torrent, and its address.
fn found(status: StatusCode, torrent: Identity) -> Response {
    let location = format!("/api/v1/torrents/{}", torrent.number);
    (status, [(LOCATION, location)], Json(torrent)).into_response()
}
