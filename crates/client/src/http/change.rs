//! Requests that change one torrent.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, RawQuery, State as Shared};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;

use super::api::value_in_query;
use super::files::PriorityRequest;
use super::state::State;
use crate::command::Remove;
use crate::handle::{HandleError, TorrentHandle};
use crate::identity::TorrentKey;
use crate::limits::{Limits, SeedLimits};

/// Maximum number of labels of a torrent.
const MAX_LABELS: usize = 64;

/// Returns the answer to a command.
fn answer(result: Result<(), HandleError>) -> Response {
    let Err(error) = result else {
        return StatusCode::ACCEPTED.into_response();
    };
    let status = match error {
        HandleError::Stopped => StatusCode::SERVICE_UNAVAILABLE,
        HandleError::Removed => StatusCode::NOT_FOUND,
        HandleError::InvalidTracker => StatusCode::UNPROCESSABLE_ENTITY,
        HandleError::Ended
        | HandleError::Failed(_)
        | HandleError::NotInSession
        | HandleError::Session(_) => StatusCode::CONFLICT,
    };
    (status, format!("{error}\n")).into_response()
}

/// Calls a method of a torrent.
fn call(
    state: &State,
    key: TorrentKey,
    method: impl FnOnce(&TorrentHandle) -> Result<(), HandleError>,
) -> Response {
    match state.get(key) {
        Some(torrent) => answer(method(&torrent)),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn invalid(reason: &'static str) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, reason).into_response()
}

pub(super) async fn pause(Shared(state): Shared<State>, Path(key): Path<TorrentKey>) -> Response {
    call(&state, key, TorrentHandle::pause)
}

pub(super) async fn resume(Shared(state): Shared<State>, Path(key): Path<TorrentKey>) -> Response {
    call(&state, key, TorrentHandle::resume)
}

pub(super) async fn end(Shared(state): Shared<State>, Path(key): Path<TorrentKey>) -> Response {
    call(&state, key, TorrentHandle::end)
}

pub(super) async fn verify(Shared(state): Shared<State>, Path(key): Path<TorrentKey>) -> Response {
    call(&state, key, TorrentHandle::verify)
}

pub(super) async fn reannounce(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
) -> Response {
    call(&state, key, TorrentHandle::reannounce)
}

/// Removes a torrent: without its content, or with the query `content=delete`.
pub(super) async fn remove(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    RawQuery(query): RawQuery,
) -> Response {
    let content: Result<Option<String>, ()> = value_in_query(query.as_deref(), "content");
    let content = match content.as_ref().map(Option::as_deref) {
        Ok(None | Some("keep")) => Remove::Keep,
        Ok(Some("delete")) => Remove::DeleteContent,
        _ => return StatusCode::BAD_REQUEST.into_response(),
    };
    call(&state, key, |torrent| torrent.remove(content))
}

pub(super) async fn limits(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(limits): Json<Limits>,
) -> Response {
    call(&state, key, |torrent| torrent.set_limits(limits))
}

/// For how long the content is served.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GoalRequest {
    serve: bool,
    #[serde(default)]
    ratio: Option<f64>,
    #[serde(default)]
    seconds: Option<f64>,
}

impl GoalRequest {
    /// Returns the limits, or `None` if the content is not served after its download.
    fn limits(&self) -> Result<Option<SeedLimits>, &'static str> {
        if self.ratio.is_some_and(|ratio| ratio < 0.0) {
            return Err("a ratio is not negative\n");
        }
        let time = self.seconds.map(Duration::try_from_secs_f64).transpose();
        let limits = SeedLimits {
            ratio: self.ratio,
            time: time
                .map_err(|_| "seconds are not negative, and no longer than a computer counts\n")?,
        };
        match (self.serve, limits == SeedLimits::default()) {
            (true, _) => Ok(Some(limits)),
            (false, true) => Ok(None),
            (false, false) => Err("content that is not served has no limits\n"),
        }
    }
}

pub(super) async fn goal(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<GoalRequest>,
) -> Response {
    match request.limits() {
        Ok(limits) => call(&state, key, |torrent| torrent.set_goal(limits)),
        Err(reason) => invalid(reason),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LabelsRequest {
    labels: Vec<String>,
}

pub(super) async fn labels(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<LabelsRequest>,
) -> Response {
    if request.labels.len() > MAX_LABELS {
        return invalid("a torrent has at most 64 labels\n");
    }
    call(&state, key, |torrent| torrent.set_labels(request.labels))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RelocateRequest {
    folder: PathBuf,
}

/// Moves the content to a folder that the settings permit.
pub(super) async fn relocate(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<RelocateRequest>,
) -> Response {
    if !state.permits(&request.folder) {
        let reason = "content may not be moved to this folder\n";
        return (StatusCode::FORBIDDEN, reason).into_response();
    }
    call(&state, key, |torrent| torrent.relocate(request.folder))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrackerRequest {
    url: String,
}

pub(super) async fn add_tracker(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<TrackerRequest>,
) -> Response {
    call(&state, key, |torrent| torrent.add_tracker(&request.url))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PeerRequest {
    address: SocketAddr,
}

pub(super) async fn add_peer(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<PeerRequest>,
) -> Response {
    call(&state, key, |torrent| torrent.add_peer(request.address))
}

/// Sets the priority of files of a download.
pub(super) async fn prioritize(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<PriorityRequest>,
) -> Response {
    let Some(torrent) = state.get(key) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match request.check(&torrent.snapshot()) {
        Ok(()) => answer(torrent.set_priorities(&request.files, request.priority.into())),
        Err(refusal) => refusal.into_response(),
    }
}
