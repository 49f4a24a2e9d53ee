//! Requests that change torrents.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, RawQuery, State as Shared};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};

use super::add::check_labels;
use super::api::Query;
use super::files::PriorityRequest;
use super::service::{Change, RequestError};
use super::state::State;
use crate::command::Remove;
use crate::identity::TorrentKey;
use crate::limits::{Limits, SeedLimits};

/// Maximum number of torrents of a batch.
const MAX_BATCH: usize = 10_000;

/// What a request does with a torrent. A batch names it in the field `action`.
#[derive(Clone, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub(super) enum Action {
    Pause,
    Resume,
    End,
    Verify,
    Reannounce,
    Remove(RemoveRequest),
    Relocate(RelocateRequest),
    Limits(Limits),
    Goal(GoalRequest),
    Labels(LabelsRequest),
    Category(CategoryRequest),
    AddTracker(TrackerRequest),
    SetTrackers(TrackersRequest),
    ReplaceTracker(ReplaceTrackerRequest),
    RemoveTracker(TrackerRequest),
    AddPeer(PeerRequest),
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoveRequest {
    #[serde(default)]
    content: ContentOfRemoved,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ContentOfRemoved {
    #[default]
    Keep,
    Delete,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RelocateRequest {
    folder: PathBuf,
}

/// For how long the content is served.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GoalRequest {
    serve: bool,
    #[serde(default)]
    ratio: Option<f64>,
    #[serde(default)]
    seconds: Option<f64>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LabelsRequest {
    labels: Vec<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CategoryRequest {
    category: Option<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrackerRequest {
    url: String,
}

/// The trackers of each tier.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrackersRequest {
    trackers: Vec<Vec<String>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplaceTrackerRequest {
    url: String,
    new_url: String,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PeerRequest {
    address: SocketAddr,
}

impl Action {
    /// Returns the change, if requests may ask for it.
    fn check(self, state: &State) -> Result<Change, RequestError> {
        Ok(match self {
            Self::Pause => Change::Pause,
            Self::Resume => Change::Resume,
            Self::End => Change::End,
            Self::Verify => Change::Verify,
            Self::Reannounce => Change::Reannounce,
            Self::Remove(request) => Change::Remove(match request.content {
                ContentOfRemoved::Keep => Remove::Keep,
                ContentOfRemoved::Delete => Remove::DeleteContent,
            }),
            Self::Relocate(request) => Change::Relocate(state.permitted(request.folder)?),
            Self::Limits(limits) => Change::Limit(limits),
            Self::Goal(request) => Change::Seed(request.limits().map_err(RequestError::Invalid)?),
            Self::Labels(request) => {
                check_labels(&request.labels)?;
                Change::Label(request.labels)
            }
            Self::Category(request) => Change::Category(request.category),
            Self::AddTracker(request) => Change::AddTracker(request.url),
            Self::SetTrackers(request) => Change::SetTrackers(request.trackers),
            Self::ReplaceTracker(request) => Change::ReplaceTracker {
                url: request.url,
                new: request.new_url,
            },
            Self::RemoveTracker(request) => Change::RemoveTracker(request.url),
            Self::AddPeer(request) => Change::AddPeer(request.address),
        })
    }
}

impl GoalRequest {
    /// Returns the limits, or `None` if the content is not served after its download.
    fn limits(&self) -> Result<Option<SeedLimits>, String> {
        if self.ratio.is_some_and(|ratio| ratio < 0.0) {
            return Err("a ratio is not negative".into());
        }
        let time = self.seconds.map(Duration::try_from_secs_f64).transpose();
        let limits = SeedLimits {
            ratio: self.ratio,
            time: time
                .map_err(|_| "seconds are not negative, and no longer than a computer counts")?,
        };
        match (self.serve, limits == SeedLimits::default()) {
            (true, _) => Ok(Some(limits)),
            (false, true) => Ok(None),
            (false, false) => Err("content that is not served has no limits".into()),
        }
    }
}

/// Returns the number of a torrent.
fn number_of(state: &State, key: TorrentKey) -> Result<usize, RequestError> {
    let found = state.service.find(key).ok_or(RequestError::Absent)?;
    Ok(found.torrent.identity.number)
}

/// Does what a request asks for one torrent.
async fn act(state: State, key: TorrentKey, action: Action) -> Response {
    let done = state.blocking(move |state| {
        // An unknown torrent is reported before a value that cannot be used.
        let number = number_of(state, key)?;
        state.service.change(number, action.check(state)?)
    });
    answer(done.await)
}

/// Returns the answer to a change.
fn answer(result: Result<(), RequestError>) -> Response {
    match result {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(refusal) => refusal.response(),
    }
}

pub(super) async fn pause(Shared(state): Shared<State>, Path(key): Path<TorrentKey>) -> Response {
    act(state, key, Action::Pause).await
}

pub(super) async fn resume(Shared(state): Shared<State>, Path(key): Path<TorrentKey>) -> Response {
    act(state, key, Action::Resume).await
}

pub(super) async fn end(Shared(state): Shared<State>, Path(key): Path<TorrentKey>) -> Response {
    act(state, key, Action::End).await
}

pub(super) async fn verify(Shared(state): Shared<State>, Path(key): Path<TorrentKey>) -> Response {
    act(state, key, Action::Verify).await
}

pub(super) async fn reannounce(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
) -> Response {
    act(state, key, Action::Reannounce).await
}

/// Removes a torrent: without its content, or with the query `content=delete`.
pub(super) async fn remove(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    RawQuery(query): RawQuery,
) -> Response {
    let query = Query::read(query.as_deref(), &["content"]);
    let content = query.and_then(|query| query.value::<String>("content"));
    let content = match content.as_ref().map(Option::as_deref) {
        Ok(None | Some("keep")) => ContentOfRemoved::Keep,
        Ok(Some("delete")) => ContentOfRemoved::Delete,
        _ => return StatusCode::BAD_REQUEST.into_response(),
    };
    act(state, key, Action::Remove(RemoveRequest { content })).await
}

pub(super) async fn limits(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(limits): Json<Limits>,
) -> Response {
    act(state, key, Action::Limits(limits)).await
}

pub(super) async fn goal(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<GoalRequest>,
) -> Response {
    act(state, key, Action::Goal(request)).await
}

pub(super) async fn labels(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<LabelsRequest>,
) -> Response {
    act(state, key, Action::Labels(request)).await
}

pub(super) async fn category(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<CategoryRequest>,
) -> Response {
    act(state, key, Action::Category(request)).await
}

/// Moves the content to a folder in which requests may place content.
pub(super) async fn relocate(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<RelocateRequest>,
) -> Response {
    act(state, key, Action::Relocate(request)).await
}

pub(super) async fn add_tracker(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<TrackerRequest>,
) -> Response {
    act(state, key, Action::AddTracker(request)).await
}

/// Replaces all trackers.
pub(super) async fn set_trackers(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<TrackersRequest>,
) -> Response {
    act(state, key, Action::SetTrackers(request)).await
}

pub(super) async fn replace_tracker(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<ReplaceTrackerRequest>,
) -> Response {
    act(state, key, Action::ReplaceTracker(request)).await
}

/// Removes the tracker of the query `url=URL`.
pub(super) async fn remove_tracker(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    RawQuery(query): RawQuery,
) -> Response {
    let query = Query::read(query.as_deref(), &["url"]);
    let Ok(Some(url)) = query.and_then(|query| query.value::<String>("url")) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    act(state, key, Action::RemoveTracker(TrackerRequest { url })).await
}

pub(super) async fn add_peer(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<PeerRequest>,
) -> Response {
    act(state, key, Action::AddPeer(request)).await
}

/// Sets the priority of files of a download.
pub(super) async fn prioritize(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(request): Json<PriorityRequest>,
) -> Response {
    let done = state.blocking(move |state| {
        let found = state.service.find(key).ok_or(RequestError::Absent)?;
        request.check(&found.torrent)?;
        let (number, priority) = (found.torrent.identity.number, request.priority.into());
        let change = Change::Prioritize(request.files, priority);
        state.service.change(number, change)
    });
    answer(done.await)
}

/// One change of many torrents.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BatchRequest {
    /// The torrents, unless the request is for all of them.
    #[serde(default)]
    torrents: Option<Vec<String>>,
    #[serde(default)]
    all: bool,
    change: Action,
}

#[derive(Serialize)]
struct BatchView {
    results: Vec<ResultView>,
}

/// What became of one torrent of a batch.
#[derive(Serialize)]
struct ResultView {
    /// The torrent as the request named it, or its number.
    torrent: String,
    /// The status that a request for this torrent alone would have had.
    status: u16,
    error: Option<String>,
}

/// Changes many torrents in the same way. The answer has a result for each.
pub(super) async fn batch(
    Shared(state): Shared<State>,
    Json(request): Json<BatchRequest>,
) -> Response {
    let done = state.blocking(move |state| {
        let to_do = request.change.check(state)?;
        let torrents = match (request.torrents, request.all) {
            (Some(torrents), false) => torrents,
            (None, true) => {
                let snapshot = state.service.snapshot();
                let torrents = snapshot.torrents.iter();
                torrents.map(|it| it.identity.number.to_string()).collect()
            }
            _ => {
                let reason = "either a list of torrents or all of them";
                return Err(RequestError::Invalid(reason.into()));
            }
        };
        if torrents.len() > MAX_BATCH {
            let reason = format!("a batch has at most {MAX_BATCH} torrents");
            return Err(RequestError::Invalid(reason));
        }
        let number = |torrent: &String| {
            let key = torrent.parse::<TorrentKey>();
            let key = key.map_err(|error| RequestError::Invalid(error.to_string()));
            key.and_then(|key| number_of(state, key))
        };
        let numbers: Vec<_> = torrents.iter().map(number).collect();
        let found: Vec<usize> = numbers.iter().flatten().copied().collect();
        let mut changed = state.service.change_all(&found, &to_do).into_iter();
        let results = torrents.into_iter().zip(numbers).map(|(torrent, number)| {
            // A service returns a result for each number.
            let done = number.and_then(|_| changed.next().unwrap_or(Err(RequestError::Absent)));
            let refusal = done.err();
            let status = refusal
                .as_ref()
                .map_or(StatusCode::ACCEPTED, RequestError::status);
            ResultView {
                torrent,
                status: status.as_u16(),
                error: refusal.map(|refusal| refusal.to_string()),
            }
        });
        Ok(BatchView {
            results: results.collect(),
        })
    });
    match done.await {
        Ok(results) => Json(results).into_response(),
        Err(refusal) => refusal.response(),
    }
}
