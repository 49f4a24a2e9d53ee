//! Torrents that requests add.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use hashlane_metainfo::{Magnet, Torrent};
use serde::Deserialize;

use super::state::State;
use crate::command::Limits;
use crate::config::{AddError, NewTorrent, Source};
use crate::origin::Origin;

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
    let bytes = body.to_vec();
    match Torrent::parse(bytes.clone()) {
        Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, format!("{error}\n")).into_response(),
        Ok(torrent) => {
            let new = NewTorrent {
                label: String::from_utf8_lossy(torrent.name().as_bytes()).into_owned(),
                origin: Some(Origin::of_metainfo(&bytes)),
                source: Source::Metainfo(Box::new(move || Ok(bytes))),
                goal: None,
                is_paused: false,
                labels: Vec::new(),
                limits: Limits::default(),
                file: None,
            };
            add(&state, new)
        }
    }
}

/// Adds a magnet link.
pub(super) async fn magnet(
    Shared(state): Shared<State>,
    Json(request): Json<MagnetRequest>,
) -> Response {
    match request.link.trim().parse::<Magnet>() {
        Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, format!("{error}\n")).into_response(),
        Ok(magnet) => {
            // The link itself can contain passkeys.
            let label = magnet.name.clone();
            let new = NewTorrent {
                label: label.unwrap_or_else(|| "magnet link".to_owned()),
                origin: Some(Origin::of_magnet(&magnet)),
                source: Source::Magnet(Box::new(magnet)),
                goal: None,
                is_paused: false,
                labels: Vec::new(),
                limits: Limits::default(),
                file: None,
            };
            add(&state, new)
        }
    }
}

fn add(state: &State, new: NewTorrent) -> Response {
    match state.add(new) {
        Ok(_) => StatusCode::ACCEPTED.into_response(),
        Err(AddError::Stopped) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Err(reason) => (StatusCode::CONFLICT, format!("{reason}\n")).into_response(),
    }
}
