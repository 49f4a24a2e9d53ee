//! Requests that change torrents.

use std::collections::{HashMap, HashSet};

use axum::Json;
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use hashlane_api::{Command, Refusal};
use serde::{Deserialize, Serialize};

use super::files::check_priorities;
use super::named::{NamedView, Names};
use super::problem::{refused, status};
use super::service::Found;
use super::state::State;
use crate::identity::TorrentKey;
use crate::snapshot::TorrentSnapshot;

/// Maximum number of torrents that a batch names.
const MAX_BATCH: usize = 10_000;

/// Refuses values of a command that a torrent cannot have.
fn check(torrent: &TorrentSnapshot, command: &Command) -> Result<(), Refusal> {
    match command {
        Command::Prioritize { files, priority } => check_priorities(torrent, files, *priority),
        Command::Set(patch) => patch.check(),
        _ => Ok(()),
    }
}

/// Does what a command asks of one torrent.
pub(super) async fn torrent(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(command): Json<Command>,
) -> Response {
    let done = state.blocking(move |state| {
        let Found { torrent, .. } = state.service.find(key).ok_or(Refusal::Absent)?;
        check(&torrent, &command)?;
        let number = torrent.identity.number;
        let mut results = state.service.apply(&[number], &command).into_iter();
        results.next().unwrap_or(Err(Refusal::Absent))
    });
    match done.await {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(refusal) => refused(&refusal),
    }
}

/// One command for many torrents.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BatchRequest {
    /// The torrents, unless the request is for all of them.
    #[serde(default)]
    torrents: Option<Vec<Key>>,
    #[serde(default)]
    all: bool,
    change: Command,
}

/// A torrent of a batch. A number means no other torrent that is named like it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Key {
    Number(usize),
    Text(String),
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
    /// The torrent, unless there is none.
    found: Option<NamedView>,
}

/// Does what a command asks of many torrents. The answer has a result for each.
pub(super) async fn batch(
    Shared(state): Shared<State>,
    Json(request): Json<BatchRequest>,
) -> Response {
    let done = state.blocking(move |state| {
        let all = state.service.snapshot();
        let command = request.change;
        let asked: Vec<(String, Result<&TorrentSnapshot, Refusal>)> =
            match (request.torrents, request.all) {
                (Some(keys), false) if keys.len() <= MAX_BATCH => {
                    let names = Names::of(&all);
                    let found = keys.into_iter().map(|key| match key {
                        Key::Number(number) => {
                            let found = all.find(TorrentKey::Number(number)).map(|it| &**it);
                            (number.to_string(), found.ok_or(Refusal::Absent))
                        }
                        Key::Text(text) => {
                            let found = names.find(&text);
                            (text, found)
                        }
                    });
                    found.collect()
                }
                (Some(_), false) => {
                    let reason = format!("a batch names at most {MAX_BATCH} torrents");
                    return Err(Refusal::Invalid(reason));
                }
                (None, true) => {
                    let torrents = all.torrents.iter();
                    let named = torrents.map(|it| (it.identity.number.to_string(), Ok(&**it)));
                    named.collect()
                }
                _ => {
                    let reason = "either a list of torrents or all of them";
                    return Err(Refusal::Invalid(reason.into()));
                }
            };
        // A torrent that is named twice is changed once.
        let mut numbers = Vec::new();
        let mut known = HashSet::new();
        for torrent in asked.iter().filter_map(|(_, found)| found.as_ref().ok()) {
            let number = torrent.identity.number;
            if check(torrent, &command).is_ok() && known.insert(number) {
                numbers.push(number);
            }
        }
        let applied = state.service.apply(&numbers, &command).into_iter();
        let applied: HashMap<_, _> = numbers.into_iter().zip(applied).collect();
        let results = asked.into_iter().map(|(torrent, found)| {
            let done = found.as_ref().map_err(Clone::clone).and_then(|found| {
                check(found, &command)?;
                // A service returns a result for each number.
                let result = applied.get(&found.identity.number);
                result.cloned().unwrap_or(Err(Refusal::Absent))
            });
            let refusal = done.err();
            let status = refusal.as_ref().map_or(StatusCode::ACCEPTED, status);
            ResultView {
                torrent,
                status: status.as_u16(),
                error: refusal.map(|refusal| refusal.to_string()),
                found: found.ok().map(NamedView::from),
            }
        });
        Ok(BatchView {
            results: results.collect(),
        })
    });
    match done.await {
        Ok(results) => Json(results).into_response(),
        Err(refusal) => refused(&refusal),
    }
}
