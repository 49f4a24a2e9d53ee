//! Answers and event streams that are compressed if the program accepts it (RFC 9110 section 8.4).

use std::io::Write as _;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue,
    VARY,
};
use axum::middleware::Next;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::Frame;

/// Length in bytes up to which an answer stays as it is.
const MAX_PLAIN_LEN: u64 = 1 << 10;

/// Length in bytes up to which an answer is compressed as well as possible.
const MAX_SMALL_LEN: u64 = 64 << 10;

/// Length in bytes of the parts that are compressed while other requests of this thread wait.
const PART_LEN: usize = 64 << 10;

/// Compresses an answer if the request accepts it.
pub(super) async fn compress(request: Request, next: Next) -> Response {
    let is_accepted = accepts_gzip(request.headers());
    let mut response = next.run(request).await;
    let kind = response.headers().get(CONTENT_TYPE);
    let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let len = response.body().size_hint().exact();
    // Ranges are those of the bytes of the file.
    if response.headers().contains_key(ACCEPT_RANGES) {
        return response;
    }
    if !is_stream && len.is_some_and(|len| len <= MAX_PLAIN_LEN) {
        return response;
    }
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if !is_accepted {
        return response;
    }
    // The files of the page are short and few. Answers about thousands of torrents must not take long.
    let level = match len {
        Some(len) if len <= MAX_SMALL_LEN => Compression::best(),
        _ => Compression::fast(),
    };
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.map(|body| {
        Body::new(Gzip {
            body,
            encoder: Some(GzEncoder::new(Vec::new(), level)),
            left: Bytes::new(),
            yields: false,
            is_stream,
        })
    })
}

/// Returns `true` if a request names gzip among the codings that it accepts.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    let mut codings = values.flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = parameters.trim().strip_prefix("q=");
        let is_refused = weight.is_some_and(|weight| weight.trim().parse() == Ok(0.0_f32));
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

/// A body that is compressed while it is sent.
struct Gzip {
    body: Body,
    /// `None` after the end.
    encoder: Option<GzEncoder<Vec<u8>>>,
    /// What the body has sent, and is not compressed yet.
    left: Bytes,
    /// Whether other requests get their turn before the next part.
    yields: bool,
    /// Whether each part is sent at once, for example an event.
    is_stream: bool,
}

impl Gzip {
    /// Compresses a part of what is left. Returns what can be sent.
    fn compress(&mut self) -> std::io::Result<Vec<u8>> {
        let Some(encoder) = &mut self.encoder else {
            return Ok(Vec::new());
        };
        let part = self.left.split_to(self.left.len().min(PART_LEN));
        encoder.write_all(&part)?;
        self.yields = !self.left.is_empty();
        if self.is_stream && self.left.is_empty() {
            encoder.flush()?;
        }
        Ok(mem::take(encoder.get_mut()))
    }
}

impl HttpBody for Gzip {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        while self.encoder.is_some() {
            if mem::take(&mut self.yields) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            let sent = if self.left.is_empty() {
                match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                    Some(Ok(frame)) => {
                        // The server sends no trailers.
                        self.left = frame.into_data().unwrap_or_default();
                        continue;
                    }
                    Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                    None => self
                        .encoder
                        .take()
                        .map_or(Ok(Vec::new()), GzEncoder::finish),
                }
            } else {
                self.compress()
            };
            match sent {
                Ok(sent) if sent.is_empty() => {}
                Ok(sent) => return Poll::Ready(Some(Ok(Frame::data(sent.into())))),
                Err(error) => return Poll::Ready(Some(Err(axum::Error::new(error)))),
            }
        }
        Poll::Ready(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_accepted_if_it_is_named_with_a_weight() {
        for (value, is_accepted) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("deflate, gzip ; q=1.0", true),
            ("", false),
            ("identity", false),
            ("gzip;q=0", false),
            ("br, gzip;q=0.000", false),
            ("gzipped", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
            assert_eq!(accepts_gzip(&headers), is_accepted, "{value}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
