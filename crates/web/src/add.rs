//! Torrents that requests add.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State as Shared};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use axum::response::{IntoResponse as _, Response};
use data_encoding::BASE64;
use hashlane_api::{Added, Addition, NewTorrent, Refusal, Source};

use super::api::Query;
use super::problem::refused;
use super::state::State;

/// Reads the options of a .torrent file, which is the body itself: JSON in the query `options`.
fn options_of(query: Option<&str>) -> Result<NewTorrent, Refusal> {
    let invalid = |reason: String| Refusal::Invalid(format!("options: {reason}"));
    let query = Query::read(query, &["options"]);
    let options = query.and_then(|query| query.value::<String>("options"));
    match options.map_err(|()| invalid("not the only value of the query".into()))? {
        Some(text) => serde_json::from_str(&text).map_err(|error| invalid(error.to_string())),
        None => Ok(NewTorrent::default()),
    }
}

/// Adds the torrent in the request's body: a .torrent file with options in the query, or JSON with a link.
pub(super) async fn torrent(
    Shared(state): Shared<State>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let answer = match kind {
        Some(b"application/x-bittorrent") if body.len() as u64 > state.config.max_metainfo_len => {
            return StatusCode::PAYLOAD_TOO_LARGE.into_response();
        }
        Some(b"application/x-bittorrent") => {
            state
                .blocking(move |state| metainfo(state, query.as_deref(), &body))
                .await
        }
        Some(b"application/json") if query.is_none() => {
            state.blocking(move |state| json(state, &body)).await
        }
        Some(b"application/json") => return StatusCode::BAD_REQUEST.into_response(),
        _ => return StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response(),
    };
    answer.unwrap_or_else(|refusal| refused(&refusal))
}

fn metainfo(state: &State, query: Option<&str>, body: &[u8]) -> Result<Response, Refusal> {
    let options = options_of(query)?;
    let added = state.service.add(Source::of_file(body)?, &options)?;
    Ok(found(added))
}

fn json(state: &State, body: &[u8]) -> Result<Response, Refusal> {
    let invalid = Refusal::Invalid;
    let Addition {
        link,
        metainfo,
        options,
    } = serde_json::from_slice(body).map_err(|error| invalid(error.to_string()))?;
    let source = match (link, metainfo) {
        (Some(link), None) => Source::of_link(&link)?,
        (None, Some(text)) => {
            let bytes = BASE64.decode(text.as_bytes());
            let bytes = bytes.map_err(|error| invalid(format!("metainfo: {error}")))?;
            if bytes.len() as u64 > state.config.max_metainfo_len {
                return Err(invalid("metainfo: too long for a .torrent file".into()));
            }
            Source::of_file(bytes)?
        }
        _ => return Err(invalid("not exactly one of link and metainfo".into())),
    };
    if let Source::Url(_) = source {
        // What is wrong already is reported at once.
        options.check(&source)?;
        if let Some(folder) = &options.folder {
            state.service.check_folder(folder)?;
        }
        let service = Arc::clone(&state.service);
        let job = state.jobs.run(move || service.add(source, &options))?;
        let location = format!("/api/v1/jobs/{}", job.id);
        return Ok((StatusCode::ACCEPTED, [(LOCATION, location)], Json(job)).into_response());
    }
    Ok(found(state.service.add(source, &options)?))
}

/// Returns the answer with the identity of a torrent, and its address.
fn found(added: Added) -> Response {
    let status = if added.is_present {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    };
    let number = added.torrent.identity.number;
    let location = format!("/api/v1/torrents/{number}");
    (status, [(LOCATION, location)], Json(added)).into_response()
}

/// Returns the state of a job.
pub(super) async fn job(Shared(state): Shared<State>, Path(id): Path<u64>) -> Response {
    match state.jobs.get(id) {
        Some(job) => Json(job).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
