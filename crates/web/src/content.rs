//! The content of files over HTTP: whole, or ranges of bytes (RFC 9110 section 14), also while a torrent downloads.

use std::io;
use std::ops::RangeInclusive;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State as Shared};
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, HeaderMap, HeaderName, IF_NONE_MATCH, IF_RANGE, RANGE,
};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hashlane_client::{FileReader, ReadError, TorrentKey};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, sleep};
use tokio_stream::wrappers::ReceiverStream;

use super::problem::{Refused, status};
use super::service::Found;
use super::state::State;

/// Maximum number of bytes that are read at once.
const PART_LEN: usize = 256 << 10;

/// Time between two looks for a piece that is not present.
const INTERVAL: Duration = Duration::from_millis(100);

/// Time limit for a piece. An answer that waits longer ends before its length, which every client recognises.
const PIECE_TIMEOUT: Duration = Duration::from_secs(60);

/// The types of files that browsers show or play without running anything of theirs. All others are saved.
const TYPES: [(&str, &str); 22] = [
    ("aac", "audio/aac"),
    ("avif", "image/avif"),
    ("flac", "audio/flac"),
    ("gif", "image/gif"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("m4a", "audio/mp4"),
    ("m4b", "audio/mp4"),
    ("m4v", "video/mp4"),
    ("mkv", "video/x-matroska"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("oga", "audio/ogg"),
    ("ogg", "audio/ogg"),
    ("ogv", "video/ogg"),
    ("opus", "audio/ogg"),
    ("png", "image/png"),
    ("txt", "text/plain; charset=utf-8"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
];

/// The type of all other files.
const BYTES: &str = "application/octet-stream";

/// What a browser may do with a file: show it, and run nothing. A page in a torrent has another origin than this server.
const POLICY: &str =
    "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

/// What RFC 8187 section 3.2.1 has unescaped, beside letters and digits.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// Marks an answer that has a security policy of its own.
#[derive(Clone, Copy)]
pub(super) struct Sandboxed;

/// Sends a file of a torrent, or a range of it. Waits for pieces that are not present; the first request of a piece asks peers for it
/// before all others.
pub(super) async fn content(
    Shared(state): Shared<State>,
    Path((key, number)): Path<(TorrentKey, usize)>,
    method: Method,
    headers: HeaderMap,
) -> Response {
    let opened = state.blocking(move |state| {
        let found = state.service.find(key)?;
        let reader = reader(&found, number);
        Some((found.torrent, reader))
    });
    let Some((torrent, opened)) = opened.await else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let reader = match opened {
        Ok(reader) => reader,
        Err(refused) => return refused.into_response(),
    };
    // The content of a torrent never changes.
    let tag = torrent.identity.info_hashes.map(|info_hashes| {
        let whole = info_hashes.v2().map(|v2| v2.to_string());
        let whole = whole.or_else(|| info_hashes.v1().map(|v1| v1.to_string()));
        format!("\"{}-{number}\"", whole.unwrap_or_default())
    });
    let tag = tag.unwrap_or_default();
    let len = reader.file().length_bytes;
    let range = match requested(&headers, &tag, len) {
        Requested::Same => return (StatusCode::NOT_MODIFIED, [(ETAG, tag)]).into_response(),
        Requested::None => {
            let whole = format!("bytes */{len}");
            return (StatusCode::RANGE_NOT_SATISFIABLE, [(CONTENT_RANGE, whole)]).into_response();
        }
        Requested::Whole => None,
        Requested::Part(range) => Some(range),
    };
    let described = described(reader.file(), &tag);
    let (start, end) = match &range {
        Some(range) => (*range.start(), *range.end() + 1),
        None => (0, len),
    };
    let body = if method == Method::HEAD || start == end {
        Body::empty()
    } else {
        let Some(permit) = state.reader_permit() else {
            let reason = "too many files are being read";
            return (StatusCode::SERVICE_UNAVAILABLE, reason).into_response();
        };
        sent(state, reader, (start, end), permit)
    };
    let mut response = (
        Extension(Sandboxed),
        described,
        [(CONTENT_LENGTH, (end - start).to_string())],
        body,
    )
        .into_response();
    if let Some(range) = range {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        let range = format!("bytes {}-{}/{len}", range.start(), range.end());
        if let Ok(range) = range.parse() {
            response.headers_mut().insert(CONTENT_RANGE, range);
        }
    }
    response
}

/// What of a file a request asks for.
#[derive(Debug, PartialEq, Eq)]
enum Requested {
    /// Nothing: the client has this file.
    Same,
    /// A range that the file does not have.
    None,
    Whole,
    Part(RangeInclusive<u64>),
}

/// Returns what a request asks for. Several ranges at once are answered by the whole file, as a server may do.
fn requested(headers: &HeaderMap, tag: &str, len: u64) -> Requested {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let is_named = |tags: &str| {
        tags.split(',')
            .any(|other| [tag, "*"].contains(&other.trim()))
    };
    if text(IF_NONE_MATCH).is_some_and(is_named) {
        return Requested::Same;
    }
    let Some(range) = text(RANGE) else {
        return Requested::Whole;
    };
    if text(IF_RANGE).is_some_and(|other| other != tag) {
        return Requested::Whole;
    }
    let Ok(ranges) = http_range_header::parse_range_header(range) else {
        return Requested::Whole;
    };
    match ranges.validate(len).as_deref() {
        Ok([range]) => Requested::Part(range.clone()),
        Ok(_) => Requested::Whole,
        Err(_) => Requested::None,
    }
}

/// Returns the extension of a file's name, or nothing.
pub(super) fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Returns the type of a file that browsers show or play.
pub(super) fn kind_of(path: &str) -> Option<&'static str> {
    let extension = extension(path);
    let is_known = |(other, _): &&(&str, &str)| extension.eq_ignore_ascii_case(other);
    TYPES.iter().find(is_known).map(|(_, kind)| *kind)
}

/// Returns the name of a file as a parameter of `Content-Disposition` (RFC 6266).
pub(super) fn file_name(name: &str) -> String {
    format!("filename*=UTF-8''{}", utf8_percent_encode(name, ESCAPED))
}

/// Returns the headers that describe a file.
fn described(file: &hashlane_client::TorrentFile, tag: &str) -> [(HeaderName, String); 5] {
    let (kind, place) = match kind_of(&file.path) {
        Some(kind) => (kind, "inline"),
        None => (BYTES, "attachment"),
    };
    let name = file_name(file.path.rsplit('/').next().unwrap_or_default());
    [
        (CONTENT_TYPE, kind.to_owned()),
        (CONTENT_DISPOSITION, format!("{place}; {name}")),
        (ETAG, tag.to_owned()),
        (ACCEPT_RANGES, "bytes".to_owned()),
        (CONTENT_SECURITY_POLICY, POLICY.to_owned()),
    ]
}

/// Returns a body with these bytes of a file. It fails before its end if a piece does not arrive in time.
fn sent(
    state: State,
    mut reader: FileReader,
    (mut at, end): (u64, u64),
    permit: OwnedSemaphorePermit,
) -> Body {
    let (sender, parts) = mpsc::channel::<io::Result<Bytes>>(1);
    tokio::spawn(async move {
        // The reader counts until its last bytes have been read.
        let _permit = permit;
        let mut ended = state.ended();
        let mut deadline = Instant::now() + PIECE_TIMEOUT;
        while at < end {
            let len = (end - at).min(PART_LEN as u64) as usize;
            let read;
            (reader, read) = state
                .blocking(move |_| {
                    let mut part = vec![0; len];
                    let read = reader.read(at, &mut part);
                    (reader, read.map(|read| read.map(|len| (part, len))))
                })
                .await;
            let part = match read {
                Ok(Some((mut part, len))) if len > 0 => {
                    part.truncate(len);
                    at += len as u64;
                    deadline = Instant::now() + PIECE_TIMEOUT;
                    Ok(Bytes::from(part))
                }
                Ok(None) if Instant::now() < deadline => {
                    tokio::select! {
                        () = sleep(INTERVAL) => continue,
                        () = sender.closed() => return,
                        _ = ended.changed() => return,
                    }
                }
                Ok(_) => Err(io::Error::from(io::ErrorKind::TimedOut)),
                Err(error) => Err(io::Error::other(error)),
            };
            let is_end = part.is_err();
            if sender.send(part).await.is_err() || is_end {
                return;
            }
        }
    });
    Body::from_stream(ReceiverStream::new(parts))
}

/// Returns a reader of a file of a torrent.
pub(super) fn reader(found: &Found, number: usize) -> Result<FileReader, Refused> {
    let Some(handle) = &found.handle else {
        let reason = "the torrent has not started";
        return Err((StatusCode::CONFLICT, reason.to_owned()));
    };
    handle.reader(number).map_err(|error| {
        let status = match &error {
            ReadError::NoFile => StatusCode::NOT_FOUND,
            ReadError::Torrent(error) => status(&error.clone().into()),
            _ => StatusCode::CONFLICT,
        };
        (status, error.to_string())
    })
}
