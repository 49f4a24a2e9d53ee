//! The API of the page and of programs.

use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, RawQuery, State as Shared};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use hashlane_api::Trackers;
use hashlane_client::{Snapshot, TorrentKey, TorrentSnapshot};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};

use super::delta::Changes;
use super::detail::Detail;
use super::files::files_of_torrent;
use super::named::Names;
use super::problem::status;
use super::service::Found;
use super::state::State;

/// Interval of the events of a stream.
const TICK: Duration = Duration::from_millis(500);

/// Maximum number of trackers in an answer.
const MAX_TRACKERS: usize = 200;

/// The fields of a torrent that change by themselves.
const RUNNING_TIMES: [&str; 2] = ["downloading_seconds", "serving_seconds"];

/// Changes of all torrents, and the detail of one.
#[derive(Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Changes")
)]
pub(super) struct Overview {
    #[serde(flatten)]
    changes: Changes,
    /// The torrent that the query names.
    #[cfg_attr(feature = "schema", schemars(with = "Detail"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<Value>,
}

/// Sends what is new now and at each interval, until the browser disconnects, `next` returns an error, or the client ends.
/// The last event before the end has the type `end`. `next` may block. It returns `None` if nothing is new, which it never does
/// for the last event.
fn stream<S: Send + 'static>(
    state: State,
    start: S,
    next: impl Fn(&State, &mut S, bool) -> Result<Option<Event>, Gone> + Send + Sync + 'static,
) -> Response {
    let Some(permit) = state.stream_permit() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (sender, events) = mpsc::channel(1);
    tokio::spawn(async move {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ended = state.ended();
        let (next, mut sent) = (Arc::new(next), start);
        loop {
            let is_end = tokio::select! {
                _ = ticks.tick() => false,
                _ = ended.changed() => true,
                () = sender.closed() => return,
            };
            let function = Arc::clone(&next);
            let (event, now) = state
                .blocking(move |state| (function(state, &mut sent, is_end), sent))
                .await;
            sent = now;
            let event = match event {
                Ok(Some(event)) if is_end => event.event("end"),
                Ok(Some(event)) => event,
                Ok(None) => continue,
                Err(Gone) => return,
            };
            if sender.send(event).await.is_err() || is_end {
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

/// The torrent of a stream was removed.
struct Gone;

/// The detail of a torrent as a stream sent it last.
#[derive(Default)]
struct SentDetail(Option<Value>);

impl SentDetail {
    /// Returns the detail if it has changed, apart from times that run on, or if `is_last`.
    fn next(&mut self, found: Found, is_last: bool) -> Option<Value> {
        let detail = serde_json::to_value(Detail::of(found)).ok()?;
        let mut lasting = detail.clone();
        if let Some(fields) = lasting.as_object_mut() {
            fields.retain(|name, _| !RUNNING_TIMES.contains(&name.as_str()));
        }
        let is_same = self.0.as_ref() == Some(&lasting);
        self.0 = Some(lasting);
        (is_last || !is_same).then_some(detail)
    }
}

fn sse(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

fn json(value: &impl Serialize) -> Option<Event> {
    Event::default().json_data(value).ok()
}

/// The values in a query of names that appear at most once each.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a query that has only these names.
    pub(super) fn read(query: Option<&str>, names: &[&str]) -> Result<Self, ()> {
        let mut values: Vec<(String, String)> = Vec::new();
        for (name, value) in form_urlencoded::parse(query.unwrap_or("").as_bytes()) {
            if !names.contains(&&*name) || values.iter().any(|(other, _)| *other == name) {
                return Err(());
            }
            values.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(values))
    }

    pub(super) fn value<T: FromStr>(&self, name: &str) -> Result<Option<T>, ()> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found
            .map(|(_, value)| value.parse().map_err(|_| ()))
            .transpose()
    }
}

/// Returns the state of all torrents, or with the query `torrent=TEXT`, which can be repeated, of those that are named.
pub(super) async fn torrents(Shared(state): Shared<State>, RawQuery(query): RawQuery) -> Response {
    let mut named = Vec::new();
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        if name != "torrent" {
            return StatusCode::BAD_REQUEST.into_response();
        }
        named.push(value.into_owned());
    }
    let answer = state.blocking(move |state| {
        let all = state.service.snapshot();
        if named.is_empty() {
            return Ok(Json(&*all).into_response());
        }
        let names = Names::of(&all);
        let found = named.iter().map(|text| {
            let found = names.find(text);
            let refused = |refusal| (status(&refusal), format!("{text}: {refusal}"));
            found.map_err(refused).cloned()
        });
        let mut torrents: Vec<TorrentSnapshot> = found.collect::<Result<_, _>>()?;
        torrents.sort_by_key(|torrent| torrent.identity.number);
        torrents.dedup_by_key(|torrent| torrent.identity.number);
        let torrents = torrents.into_iter().map(Arc::new).collect();
        let shown = Snapshot {
            torrents,
            ..(*all).clone()
        };
        Ok(Json(shown).into_response())
    });
    let refused = |refusal: (StatusCode, String)| refusal.into_response();
    answer.await.unwrap_or_else(refused)
}

/// Streams the changes of all torrents, and with the query `torrent=ID` the detail of one of them. A program that was
/// disconnected gets the changes since the event that it names in `Last-Event-ID`, or in the query `since=EVENT`.
pub(super) async fn events(
    Shared(state): Shared<State>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let Ok((key, since)) = Query::read(query.as_deref(), &["torrent", "since"]).and_then(|query| {
        let key = query.value::<TorrentKey>("torrent")?;
        Ok((key, query.value::<String>("since")?))
    }) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    if let Some(key) = key
        && state
            .blocking(move |state| state.service.find(key).is_none())
            .await
    {
        return StatusCode::NOT_FOUND.into_response();
    }
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    // A browser that connects again by itself sends the query of its first request, and a later event in the header.
    let last = last.or(since.as_deref());
    let since = last.and_then(|id| state.with_known_delta(|delta| delta.version_of(id)));
    let start = (since, SentDetail::default());
    stream(state, start, move |state, (since, sent), is_end| {
        let (changes, id, version) = state.with_delta(is_end, |delta| {
            (delta.since(*since), delta.id(), delta.version())
        });
        *since = Some(version);
        let found = key.and_then(|key| state.service.find(key));
        let detail = found.and_then(|found| sent.next(found, is_end));
        if changes.is_empty() && detail.is_none() && !is_end {
            return Ok(None);
        }
        let event = json(&Overview { changes, detail });
        Ok(event.map(|event| event.id(id)))
    })
}

pub(super) async fn torrent(Shared(state): Shared<State>, Path(key): Path<TorrentKey>) -> Response {
    let detail = state.blocking(move |state| state.service.find(key).map(Detail::of));
    match detail.await {
        Some(detail) => Json(detail).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

pub(super) async fn torrent_events(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
) -> Response {
    if state
        .blocking(move |state| state.service.find(key).is_none())
        .await
    {
        return StatusCode::NOT_FOUND.into_response();
    }
    stream(state, SentDetail::default(), move |state, sent, is_end| {
        let found = state.service.find(key).ok_or(Gone)?;
        Ok(sent.next(found, is_end).and_then(|detail| json(&detail)))
    })
}

/// Returns some files of a torrent, because a torrent can have millions. The query can have `offset` and `limit`.
pub(super) async fn files(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    RawQuery(query): RawQuery,
) -> Response {
    let Ok((offset, limit)) = Query::read(query.as_deref(), &["offset", "limit"])
        .and_then(|query| Ok((query.value("offset")?.unwrap_or(0), query.value("limit")?)))
    else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let files = state.blocking(move |state| {
        let found = state.service.find(key)?;
        Some(files_of_torrent(&found, offset, limit))
    });
    match files.await {
        Some(files) => Json(files).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

pub(super) async fn trackers(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
) -> Response {
    let trackers = state.blocking(move |state| {
        let handle = state.service.find(key)?.handle;
        // A torrent that is not in the session has no trackers.
        let trackers = handle.and_then(|handle| handle.trackers().ok());
        let mut trackers = trackers.unwrap_or_default();
        let total = trackers.len();
        trackers.truncate(MAX_TRACKERS);
        Some(Trackers { total, trackers })
    });
    match trackers.await {
        Some(trackers) => Json(trackers).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
