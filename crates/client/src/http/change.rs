//! Requests that change torrents.

use axum::Json;
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use hashlane_api::{Command, Refusal};
use serde::{Deserialize, Serialize};

use super::files::check_priorities;
use super::problem::{refused, status};
use super::service::Found;
use super::state::State;
use crate::identity::TorrentKey;

/// Maximum number of torrents of a batch.
const MAX_BATCH: usize = 10_000;

/// Refuses values that no torrent can have, and folders in which requests may not place content.
fn check(state: &State, command: &Command) -> Result<(), Refusal> {
    match command {
        Command::Set(patch) => patch.check(),
        Command::Relocate { folder } | Command::Place { folder } => state.check_folder(folder),
        _ => Ok(()),
    }
}

/// Returns the number of a torrent, if it can have the values of a command.
fn number_of(state: &State, key: TorrentKey, command: &Command) -> Result<usize, Refusal> {
    let Found { torrent, .. } = state.service.find(key).ok_or(Refusal::Absent)?;
    if let Command::Prioritize { files, priority } = command {
        check_priorities(&torrent, files, *priority)?;
    }
    Ok(torrent.identity.number)
}

/// Does what a command asks of one torrent.
pub(super) async fn torrent(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    Json(command): Json<Command>,
) -> Response {
    let done = state.blocking(move |state| {
        // An unknown torrent is reported before a value that cannot be used.
        let number = number_of(state, key, &command)?;
        check(state, &command)?;
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
    torrents: Option<Vec<String>>,
    #[serde(default)]
    all: bool,
    change: Command,
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

/// Does what a command asks of many torrents. The answer has a result for each.
pub(super) async fn batch(
    Shared(state): Shared<State>,
    Json(request): Json<BatchRequest>,
) -> Response {
    let done = state.blocking(move |state| {
        let command = request.change;
        check(state, &command)?;
        let torrents = match (request.torrents, request.all) {
            (Some(torrents), false) => torrents,
            (None, true) => {
                let snapshot = state.service.snapshot();
                let torrents = snapshot.torrents.iter();
                torrents.map(|it| it.identity.number.to_string()).collect()
            }
            _ => {
                let reason = "either a list of torrents or all of them";
                return Err(Refusal::Invalid(reason.into()));
            }
        };
        if torrents.len() > MAX_BATCH {
            let reason = format!("a batch has at most {MAX_BATCH} torrents");
            return Err(Refusal::Invalid(reason));
        }
        let number = |torrent: &String| {
            let key = torrent.parse::<TorrentKey>();
            let key = key.map_err(|error| Refusal::Invalid(error.to_string()));
            key.and_then(|key| number_of(state, key, &command))
        };
        let numbers: Vec<_> = torrents.iter().map(number).collect();
        let found: Vec<usize> = numbers.iter().flatten().copied().collect();
        let mut applied = state.service.apply(&found, &command).into_iter();
        let results = torrents.into_iter().zip(numbers).map(|(torrent, number)| {
            // A service returns a result for each number.
            let done = number.and_then(|_| applied.next().unwrap_or(Err(Refusal::Absent)));
            let refusal = done.err();
            let status = refusal.as_ref().map_or(StatusCode::ACCEPTED, status);
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
        Err(refusal) => refused(&refusal),
    }
}
