//! The API of the page and of programs.

use std::convert::Infallible;
use std::str::FromStr;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, RawQuery, State as Shared};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};

use super::detail::Detail;
use super::files::FilesView;
use super::state::State;
use super::trackers::TrackersView;
use crate::command::Command;
use crate::identity::TorrentKey;
use crate::limits::Limits;
use crate::snapshot::Snapshot;

/// Interval of the events of a stream.
const TICK: Duration = Duration::from_millis(500);

/// All torrents, and the detail of one.
#[derive(Serialize)]
struct Overview<'s> {
    #[serde(flatten)]
    snapshot: &'s Snapshot,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<Detail>,
}

/// Sends an event now and at each interval, until the browser disconnects or `event` returns `None`. When the client ends,
/// the last event has the type `end`.
fn stream(
    state: State,
    event: impl Fn(&State) -> Option<Event> + Send + Sync + 'static,
) -> Response {
    let Some(permit) = state.stream_permit() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (sender, events) = mpsc::channel(1);
    tokio::spawn(async move {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ended = state.ended();
        loop {
            let is_end = tokio::select! {
                _ = ticks.tick() => false,
                _ = ended.changed() => true,
            };
            let Some(next) = event(&state) else {
                return;
            };
            let next = if is_end { next.event("end") } else { next };
            if sender.send(next).await.is_err() || is_end {
                return;
            }
        }
    });
    let events = ReceiverStream::new(events).map(move |event| {
        // The stream counts until its last event has been sent.
        let _permit = &permit;
        Ok(event)
    });
    sse(events)
}

fn sse(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

fn json(value: &impl Serialize) -> Option<Event> {
    Event::default().json_data(value).ok()
}

/// Returns the value in the query `NAME=VALUE`; `None` without a query.
pub(super) fn value_in_query<T: FromStr>(query: Option<&str>, name: &str) -> Result<Option<T>, ()> {
    let Some(query) = query.filter(|query| !query.is_empty()) else {
        return Ok(None);
    };
    let value = query
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix('='));
    value
        .and_then(|value| value.parse().ok())
        .map(Some)
        .ok_or(())
}

pub(super) async fn torrents(Shared(state): Shared<State>) -> Response {
    Json(&*state.snapshot()).into_response()
}

/// Streams all torrents, and with the query `torrent=ID` the detail of one of them.
pub(super) async fn events(Shared(state): Shared<State>, RawQuery(query): RawQuery) -> Response {
    let Ok(key) = value_in_query(query.as_deref(), "torrent") else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    if key.is_some_and(|key| state.get(key).is_none()) {
        return StatusCode::NOT_FOUND.into_response();
    }
    stream(state, move |state| {
        json(&Overview {
            snapshot: &state.snapshot(),
            detail: key.and_then(|key| Detail::of(state, key)),
        })
    })
}

pub(super) async fn torrent(Shared(state): Shared<State>, Path(key): Path<TorrentKey>) -> Response {
    match Detail::of(&state, key) {
        Some(detail) => Json(detail).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

pub(super) async fn torrent_events(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
) -> Response {
    if state.get(key).is_none() {
        return StatusCode::NOT_FOUND.into_response();
    }
    stream(state, move |state| json(&Detail::of(state, key)?))
}

/// Returns some files of a torrent, because a torrent can have millions. The query `from=N` selects the first position.
pub(super) async fn files(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    RawQuery(query): RawQuery,
) -> Response {
    let Ok(from) = value_in_query(query.as_deref(), "from") else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    match state.get(key) {
        Some(torrent) => Json(FilesView::of(&torrent, from.unwrap_or(0))).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

pub(super) async fn trackers(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
) -> Response {
    match state.get(key) {
        // A torrent that is not in the session has no trackers.
        Some(torrent) => {
            let trackers = torrent.trackers().unwrap_or_default();
            Json(TrackersView::of(trackers)).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

pub(super) async fn limits(Shared(state): Shared<State>, Json(limits): Json<Limits>) -> StatusCode {
    if state.control.send(Command::Limit(limits)) {
        StatusCode::ACCEPTED
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    }
}
