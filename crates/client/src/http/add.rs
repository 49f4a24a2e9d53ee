//! Torrents that requests add.

use std::path::PathBuf;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State as Shared};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use axum::response::{IntoResponse as _, Response};
use hashlane_api::{Refusal, check_labels};
use hashlane_metainfo::{FileKind, Magnet, Torrent};
use serde::Deserialize;

use super::problem::refused;
use super::service::{Added, NewSource, NewTorrent};
use super::state::State;

/// Length limit in bytes of a request that adds a link.
const MAX_LINK_LEN: usize = 64 << 10;

/// Options of a torrent that is added.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Options {
    folder: Option<PathBuf>,
    /// Positions of the selected files, without padding.
    select: Option<Vec<u32>>,
    paused: bool,
    labels: Vec<String>,
    category: Option<String>,
}

/// The body of a request that adds a link.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkRequest {
    /// A magnet link, an info-hash, or the URL of a .torrent file.
    link: String,
    #[serde(default)]
    options: Options,
}

impl Options {
    /// Reads the options of a query. `select` and `label` can be repeated.
    fn of_query(query: &str) -> Result<Self, Refusal> {
        let mut options = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let invalid = || Refusal::Invalid(format!("{name}={value}: not a valid option"));
            match &*name {
                "folder" if options.folder.is_none() => {
                    options.folder = Some(value.into_owned().into());
                }
                "select" => {
                    let file = value.parse().map_err(|_| invalid())?;
                    options.select.get_or_insert_default().push(file);
                }
                "paused" => options.paused = value.parse().map_err(|_| invalid())?,
                "label" => options.labels.push(value.into_owned()),
                "category" if options.category.is_none() => {
                    options.category = Some(value.into_owned());
                }
                _ => return Err(invalid()),
            }
        }
        Ok(options)
    }

    /// Checks everything that is known without the torrent.
    fn check(&self, state: &State) -> Result<(), Refusal> {
        check_labels(self.labels.len())?;
        if let Some(folder) = &self.folder {
            state.check_folder(folder)?;
        }
        Ok(())
    }

    /// Adds a torrent. May block.
    pub(super) fn add(self, state: &State, source: NewSource) -> Result<Added, Refusal> {
        self.check(state)?;
        if let Some(select) = &self.select {
            check_selection(select, &source)?;
        }
        state.service.add(NewTorrent {
            source,
            folder: self.folder,
            selected: self.select,
            is_paused: self.paused,
            labels: self.labels,
            category: self.category,
        })
    }
}

fn check_selection(select: &[u32], source: &NewSource) -> Result<(), Refusal> {
    let NewSource::Torrent(torrent) = source else {
        let reason = "the files of a magnet link are not known yet";
        return Err(Refusal::Invalid(reason.into()));
    };
    let files = torrent.files().iter();
    let n_files = files
        .filter(|file| file.kind() != FileKind::Padding)
        .count();
    if select.is_empty() {
        let reason = "at least one file must be selected";
        return Err(Refusal::Invalid(reason.into()));
    }
    match select.iter().find(|file| **file as usize >= n_files) {
        Some(file) => Err(Refusal::Invalid(format!("there is no file {file}"))),
        None => Ok(()),
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
        Some(b"application/x-bittorrent") => {
            let query = query.unwrap_or_default();
            state
                .blocking(move |state| metainfo(state, &query, &body))
                .await
        }
        Some(b"application/json") if body.len() > MAX_LINK_LEN => {
            return StatusCode::PAYLOAD_TOO_LARGE.into_response();
        }
        Some(b"application/json") if query.is_none() => {
            state.blocking(move |state| link(state, &body)).await
        }
        Some(b"application/json") => return StatusCode::BAD_REQUEST.into_response(),
        _ => return StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response(),
    };
    answer.unwrap_or_else(|refusal| refused(&refusal))
}

fn metainfo(state: &State, query: &str, body: &[u8]) -> Result<Response, Refusal> {
    let options = Options::of_query(query)?;
    let torrent = Torrent::parse(body).map_err(|error| Refusal::Invalid(error.to_string()))?;
    options
        .add(state, NewSource::Torrent(torrent))
        .map(|added| found(&added))
}

fn link(state: &State, body: &[u8]) -> Result<Response, Refusal> {
    let request: LinkRequest =
        serde_json::from_slice(body).map_err(|error| Refusal::Invalid(error.to_string()))?;
    let link = request.link.trim();
    let is_url = ["http://", "https://"].iter().any(|scheme| {
        let start = link.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    if is_url {
        request.options.check(state)?;
        let (adding, options) = (state.clone(), request.options);
        let add = move |torrent| options.add(&adding, NewSource::Torrent(torrent));
        let job = state.jobs.fetch(state.fetch(link), add)?;
        let location = format!("/api/v1/jobs/{}", job.id);
        return Ok((StatusCode::ACCEPTED, [(LOCATION, location)], Json(job)).into_response());
    }
    let magnet: Magnet = link
        .parse()
        .map_err(|error: hashlane_metainfo::MagnetError| Refusal::Invalid(error.to_string()))?;
    let source = NewSource::Magnet(Box::new(magnet));
    request
        .options
        .add(state, source)
        .map(|added| found(&added))
}

/// Returns the answer with the identity of a torrent, and its address.
fn found(added: &Added) -> Response {
    let status = if added.is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let location = format!("/api/v1/torrents/{}", added.torrent.number);
    (status, [(LOCATION, location)], Json(added.torrent)).into_response()
}

/// Returns the state of a job.
pub(super) async fn job(Shared(state): Shared<State>, Path(id): Path<u64>) -> Response {
    match state.jobs.get(id) {
        Some(job) => Json(job).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
