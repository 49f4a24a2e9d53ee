//! Requests for links, and the access control of requests that have a token of one.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::{Path, RawPathParams, RawQuery, Request, State as Shared};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use hashlane_api::{Link, LinkRequest, Refusal};
use hashlane_client::TorrentKey;

use super::access::{self, Access};
use super::content::reader;
use super::links::{LIFETIME, token_in, url};
use super::playlist::media;
use super::problem::{Refused, reason};
use super::state::State;

/// The reason if there is no link, and no file is named.
const NO_MEDIA: &str = "the torrent has no audio or video file, or its files are not known yet; name a file by its number";

/// Passes a request for content on if it has the token of the torrent, or without one the right to read.
pub(super) async fn check_token(
    Shared((access, state)): Shared<(Arc<Access>, State)>,
    params: RawPathParams,
    RawQuery(query): RawQuery,
    request: Request,
    next: Next,
) -> Response {
    let Some(token) = token_in(query.as_deref()) else {
        return access::check_rights(Shared(access), request, next).await;
    };
    let id = params.iter().find(|(name, _)| *name == "id");
    let key: Option<TorrentKey> = id.and_then(|(_, id)| id.parse().ok());
    let is_right = state.blocking(move |state| {
        let found = state.service.find(key?)?;
        let number = found.torrent.identity.number;
        Some(state.links.is_token(number, &token, Instant::now()))
    });
    if is_right.await == Some(true) {
        return next.run(request).await;
    }
    let reason = "the link is wrong, or it has expired: ask for another one";
    (StatusCode::UNAUTHORIZED, reason).into_response()
}

/// Returns a link to a file of a torrent, or to its playlist.
pub(super) async fn link(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    headers: HeaderMap,
    Json(request): Json<LinkRequest>,
) -> Response {
    let linked = state.blocking(move |state| linked(state, key, &headers, request));
    match linked.await {
        Ok(link) => Json(link).into_response(),
        Err(refused) => refused.into_response(),
    }
}

fn linked(
    state: &State,
    key: TorrentKey,
    headers: &HeaderMap,
    LinkRequest { file, playlist }: LinkRequest,
) -> Result<Link, Refused> {
    let found = state.find(key)?;
    if playlist && file.is_some() {
        let reason = "either a file or the playlist";
        return Err((StatusCode::UNPROCESSABLE_ENTITY, reason.to_owned()));
    }
    let largest = || media(&found.torrent).max_by_key(|file| file.length_bytes);
    let number = file.or_else(|| largest().map(|file| file.number));
    let number = number.ok_or_else(|| reason(&Refusal::Conflict(NO_MEDIA.to_owned())))?;
    let path = if playlist {
        "playlist.m3u8".to_owned()
    } else {
        // A player does not show the reason why it gets no content.
        reader(&found, number)?;
        format!("files/{number}/content")
    };
    let origin = state.origin(headers)?;
    let number = found.torrent.identity.number;
    let token = state.token(number)?;
    Ok(Link {
        url: url(&origin, number, &path, token.secret()),
        lifetime_seconds: LIFETIME.as_secs(),
    })
}
