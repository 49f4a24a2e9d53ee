//! The bodies of errors: problem details in JSON (RFC 9457).

use axum::Json;
use axum::body::to_bytes;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use axum::http::{Response as HttpResponse, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hashlane_api::Refusal;
use serde::Serialize;

/// Length limit in bytes of a reason. Longer ones, which repeat a request, are left out.
const MAX_REASON_LEN: usize = 16 << 10;

/// The type of the body.
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

/// The body of every error (RFC 9457). `type` is absent: the status says what the error is.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Problem<'t> {
    /// The name of the status.
    title: &'t str,
    /// The status.
    #[cfg_attr(feature = "schema", schemars(range(min = 400)))]
    status: u16,
    /// The reason of this error, for people.
    detail: &'t str,
}

/// Returns the status of a refusal.
pub(super) fn status(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::Absent => StatusCode::NOT_FOUND,
        Refusal::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
        Refusal::Forbidden(_) => StatusCode::FORBIDDEN,
        Refusal::Conflict(_) => StatusCode::CONFLICT,
        Refusal::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// The status of an error, and its reason.
pub(super) type Refused = (StatusCode, String);

/// Returns the status of a refusal, and its reason.
pub(super) fn reason(refusal: &Refusal) -> Refused {
    (status(refusal), refusal.to_string())
}

/// Returns the answer to a request that is refused.
pub(super) fn refused(refusal: &Refusal) -> Response {
    reason(refusal).into_response()
}

/// Turns the text of an error into problem details. Errors of the router, which have no text, get that of their status.
pub(super) async fn describe(response: Response) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let reason = to_bytes(body, MAX_REASON_LEN).await.unwrap_or_default();
    let reason = String::from_utf8_lossy(&reason);
    let problem = Json(Problem {
        title: status.canonical_reason().unwrap_or_default(),
        status: status.as_u16(),
        detail: match reason.trim() {
            "" => usual_reason(status),
            reason => reason,
        },
    });
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_TYPE, PROBLEM);
    HttpResponse::from_parts(parts, problem.into_response().into_body())
}

/// Returns the reason of an error that has no text.
fn usual_reason(status: StatusCode) -> &'static str {
    match status {
        StatusCode::BAD_REQUEST => "the path or the query is not of the documented form",
        StatusCode::NOT_FOUND => "there is no such path, torrent or job",
        StatusCode::METHOD_NOT_ALLOWED => "the header Allow lists the methods of this path",
        StatusCode::REQUEST_TIMEOUT => "the body of the request did not arrive in time",
        StatusCode::PAYLOAD_TOO_LARGE => "the body of the request is too long",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            "the header Content-Type does not name a type that this path takes"
        }
        StatusCode::SERVICE_UNAVAILABLE => "there are too many event streams",
        _ => "the program cannot answer this request",
    }
}
