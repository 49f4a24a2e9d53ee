//! Requests that change torrents.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use axum::Json;
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use hashlane_api::{Batch, BatchKey, BatchResult, BatchResults, Command, Refusal};
use hashlane_client::{Snapshot, TorrentKey, TorrentSnapshot};

use super::named::Names;
use super::problem::{refused, status};
use super::service::Found;
use super::state::State;

/// Maximum number of torrents that a batch names.
const MAX_BATCH: usize = 10_000;

/// Does what a command asks of one torrent.
pub(super) async fn torrent(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(command): Json<Command>,
) -> Response {
    let done = state.blocking(move |state| {
        let Found { torrent, .. } = state.service.find(key).ok_or(Refusal::Absent)?;
        let number = torrent.identity.number;
        let mut results = state.service.apply(&[number], &command).into_iter();
        results.next().unwrap_or(Err(Refusal::Absent))
    });
    match done.await {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(refusal) => refused(&refusal),
    }
}

/// A torrent as a request named it, or its number, and the torrent.
type Asked<'s> = (String, Result<&'s TorrentSnapshot, Refusal>);

/// Finds the torrents of a batch.
fn asked(
    all: &Snapshot,
    keys: Option<Vec<BatchKey>>,
    is_for_all: bool,
) -> Result<Vec<Asked<'_>>, Refusal> {
    let keys = match (keys, is_for_all) {
        (Some(keys), false) => keys,
        (None, true) => {
            let torrents = all.torrents.iter();
            let asked = torrents.map(|it| (it.identity.number.to_string(), Ok(&**it)));
            return Ok(asked.collect());
        }
        _ => {
            let reason = "either a list of torrents or all of them";
            return Err(Refusal::Invalid(reason.into()));
        }
    };
    if keys.len() > MAX_BATCH {
        let reason = format!("a batch names at most {MAX_BATCH} torrents");
        return Err(Refusal::Invalid(reason));
    }
    let names = Names::of(all);
    let asked = keys.into_iter().map(|key| match key {
        BatchKey::Number(number) => {
            let found = all.find(TorrentKey::Number(number)).map(|it| &**it);
            (number.to_string(), found.ok_or(Refusal::Absent))
        }
        BatchKey::Text(text) => {
            let found = names.find(&text);
            (text, found)
        }
    });
    Ok(asked.collect())
}

/// Does what a command asks of torrents, and returns the result of each by its number. One that is named twice is changed once.
fn apply<'s>(
    state: &State,
    torrents: impl Iterator<Item = &'s TorrentSnapshot>,
    command: &Command,
) -> HashMap<usize, Result<(), Refusal>> {
    let mut results = HashMap::new();
    let mut numbers = Vec::new();
    for torrent in torrents {
        if let Entry::Vacant(vacant) = results.entry(torrent.identity.number) {
            numbers.push(torrent.identity.number);
            // Until the service says what became of it.
            vacant.insert(Err(Refusal::Absent));
        }
    }
    let applied = state.service.apply(&numbers, command);
    results.extend(numbers.into_iter().zip(applied));
    results
}

/// Does what a command asks of many torrents. The answer has a result for each.
pub(super) async fn batch(
    Shared(state): Shared<State>,
    Json(request): Json<Batch<'static>>,
) -> Response {
    let done = state.blocking(move |state| {
        let all = state.service.snapshot();
        let asked = asked(&all, request.torrents, request.all)?;
        let found = asked.iter().filter_map(|(_, found)| found.as_ref().ok());
        let done = apply(state, found.copied(), &request.change);
        let results = asked.into_iter().map(|(torrent, found)| {
            let refusal = match &found {
                Ok(found) => done[&found.identity.number].as_ref().err(),
                Err(refusal) => Some(refusal),
            };
            BatchResult {
                torrent,
                status: refusal.map_or(StatusCode::ACCEPTED, status).as_u16(),
                error: refusal.map(ToString::to_string),
                found: found.as_ref().ok().map(|found| found.named()),
            }
        });
        Ok(BatchResults {
            results: results.collect(),
        })
    });
    match done.await {
        Ok(results) => Json(results).into_response(),
        Err(refusal) => refused(&refusal),
    }
}
