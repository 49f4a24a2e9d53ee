//! Forms of requests, and failures.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest as _, Multipart, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use hashlane_api::Refusal;
use hashlane_client::TorrentSnapshot;

use crate::torrent::{ShortHash, Shown as _, parse_hash};

/// Maximum number of fields in a form.
const MAX_FIELDS: usize = 1000;

/// Maximum number of names in a list, for example of labels.
const MAX_NAMES: usize = 1000;

/// Length limit in bytes of a name or path.
const MAX_NAME_LEN: usize = 4096;

/// A request that failed: its status, and the reason.
#[derive(Debug)]
pub(super) struct Failure(pub(super) StatusCode, pub(super) String);

impl Failure {
    pub(super) fn new(status: StatusCode, reason: impl Into<String>) -> Self {
        Self(status, reason.into())
    }

    pub(super) fn conflict(reason: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, reason)
    }

    pub(super) fn bad(name: &str, expected: &str) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            format!("{name}: expected {expected}"),
        )
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal {
            Refusal::Absent => StatusCode::NOT_FOUND,
            Refusal::Invalid(_) => StatusCode::BAD_REQUEST,
            Refusal::Forbidden(_) => StatusCode::FORBIDDEN,
            Refusal::Conflict(_) => StatusCode::CONFLICT,
            Refusal::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, refusal.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

/// The fields and files of a form.
#[derive(Default)]
pub(super) struct Form {
    fields: HashMap<String, String>,
    /// The names and contents of files.
    pub(super) files: Vec<(String, Bytes)>,
}

impl Form {
    /// Reads the query of a request.
    pub(super) fn of_query(query: &str) -> Result<Self, Failure> {
        let mut form = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            form.add(name.into_owned(), value.into_owned())?;
        }
        Ok(form)
    }

    /// Reads the body of a request. The server limits its length.
    pub(super) async fn of_body(request: Request) -> Result<Self, Failure> {
        let kind = request.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
        let is_multipart = kind.get(..10).is_some_and(|kind| {
            let multipart = "multipart/";
            kind.eq_ignore_ascii_case(multipart)
        });
        if !is_multipart {
            let body = Bytes::from_request(request, &()).await;
            let body = body.map_err(|error| Failure::new(error.status(), error.body_text()))?;
            let text = std::str::from_utf8(&body)
                .map_err(|_| Failure::new(StatusCode::BAD_REQUEST, "the form is not UTF-8"))?;
            return Self::of_query(text);
        }
        let parts = Multipart::from_request(request, &()).await;
        let mut parts = parts.map_err(|error| Failure::new(error.status(), error.body_text()))?;
        let failed = |error: axum::extract::multipart::MultipartError| {
            Failure::new(error.status(), error.body_text())
        };
        let mut form = Self::default();
        while let Some(part) = parts.next_field().await.map_err(failed)? {
            let name = part.name().unwrap_or("").to_owned();
            match part.file_name().map(str::to_owned) {
                Some(file) => {
                    form.has_room()?;
                    form.files.push((file, part.bytes().await.map_err(failed)?));
                }
                None => form.add(name, part.text().await.map_err(failed)?)?,
            }
        }
        Ok(form)
    }

    fn has_room(&self) -> Result<(), Failure> {
        if self.fields.len() + self.files.len() < MAX_FIELDS {
            return Ok(());
        }
        Err(Failure::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the form has too many fields",
        ))
    }

    fn add(&mut self, name: String, value: String) -> Result<(), Failure> {
        self.has_room()?;
        self.fields.insert(name, value);
        Ok(())
    }

    /// Returns the value of a field, which may be empty.
    pub(super) fn given(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    /// Returns the value of a field. An empty one counts as absent.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.given(name).filter(|text| !text.is_empty())
    }

    pub(super) fn required(&self, name: &str) -> Result<&str, Failure> {
        let missing = || {
            Failure::new(
                StatusCode::BAD_REQUEST,
                format!("Missing required parameters: {name}"),
            )
        };
        self.given(name).ok_or_else(missing)
    }

    /// Returns a name or path of bounded length.
    pub(super) fn name(&self, name: &str) -> Result<Option<&str>, Failure> {
        self.text(name).map(|text| short(name, text)).transpose()
    }

    pub(super) fn bool(&self, name: &str) -> Result<Option<bool>, Failure> {
        let read = |text: &str| match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(Failure::bad(name, "true or false")),
        };
        self.text(name).map(read).transpose()
    }

    pub(super) fn integer(&self, name: &str) -> Result<Option<i64>, Failure> {
        let read = |text: &str| {
            let number = text.trim().parse();
            number.map_err(|_| Failure::bad(name, "a whole number"))
        };
        self.text(name).map(read).transpose()
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, Failure> {
        let read = |text: &str| {
            let number = text.trim().parse().ok();
            let number = number.filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| Failure::bad(name, "a number"))
        };
        self.text(name).map(read).transpose()
    }

    /// Returns a limit in bytes per second, of which 0 and negative numbers are none.
    pub(super) fn limit(&self, name: &str) -> Result<Option<NonZeroU32>, Failure> {
        let limit = self.integer(name)?.unwrap_or(0).max(0);
        let limit = u32::try_from(limit)
            .map_err(|_| Failure::bad(name, "at most 4294967295 bytes per second"))?;
        Ok(NonZeroU32::new(limit))
    }

    /// Returns the parts of a list, without spaces around them, without empty and repeated ones.
    pub(super) fn list(&self, name: &str, separator: char) -> Result<Vec<String>, Failure> {
        let mut names: Vec<String> = Vec::new();
        let given = self.given(name).unwrap_or("").split(separator);
        for part in given.map(str::trim).filter(|part| !part.is_empty()) {
            if names.len() >= MAX_NAMES {
                return Err(Failure::bad(name, "at most 1000 names"));
            }
            let part = short(name, part)?;
            if !names.iter().any(|known| known == part) {
                names.push(part.to_owned());
            }
        }
        Ok(names)
    }

    /// Returns the torrents with the info-hashes in a field, or all of them for `all`. Unknown ones are ignored.
    pub(super) fn torrents<'t>(
        &self,
        torrents: &'t [Arc<TorrentSnapshot>],
    ) -> Result<Vec<&'t TorrentSnapshot>, Failure> {
        let given = self.required("hashes")?;
        let torrents = torrents.iter().map(|torrent| &**torrent);
        if given == "all" {
            return Ok(torrents.collect());
        }
        let hashes: HashSet<ShortHash> = given.split('|').filter_map(parse_hash).collect();
        let is_named = |torrent: &&TorrentSnapshot| hashes.contains(&torrent.hash());
        Ok(torrents.filter(is_named).collect())
    }

    /// Returns the torrent with the info-hash in a field.
    pub(super) fn torrent<'t>(
        &self,
        torrents: &'t [Arc<TorrentSnapshot>],
    ) -> Result<&'t TorrentSnapshot, Failure> {
        let hash = parse_hash(self.required("hash")?).ok_or(Refusal::Absent)?;
        let named = torrents.iter().find(|torrent| torrent.hash() == hash);
        Ok(named.ok_or(Refusal::Absent)?)
    }
}

fn short<'t>(name: &str, text: &'t str) -> Result<&'t str, Failure> {
    if text.len() > MAX_NAME_LEN {
        return Err(Failure::bad(name, "a text of at most 4096 bytes"));
    }
    Ok(text)
}
