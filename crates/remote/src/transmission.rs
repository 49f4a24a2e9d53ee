//! Transmission RPC, as version 4.0 speaks it (`docs/rpc-spec.md` of Transmission 4.0: rpc-version 17).
//!
//! Every request is a POST with a JSON object. The first one gets the status 409 with an identifier that all others must
//! have in a header: a page of another site can send requests, but cannot read the identifier.
//!
//! The header `X-Transmission-Rpc-Version` is not sent, because newer programs then speak the JSON-RPC of version 4.1.

mod call;
mod request;
mod session;
mod torrent;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, DefaultBodyLimit, FromRequest as _, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderName, WWW_AUTHENTICATE};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use data_encoding::HEXLOWER;
use hashlane_server::{Server, Verdict};
use serde::Serialize;
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;

use crate::listen::{Listen, ListenError, UNKNOWN_HOST, basic_credentials, discard, start};
use crate::model::Control;
use call::{Present, Removals, Reply};

/// The path of all requests.
const PATH: &str = "/transmission/rpc";

const SESSION_ID: HeaderName = HeaderName::from_static("x-transmission-session-id");

/// Length of a session's identifier in bytes.
const SESSION_ID_LEN: usize = 24;

/// Length limit in bytes of a request besides a .torrent file in it.
const MAX_REQUEST_LEN: usize = 4 << 20;

/// What all requests share.
struct Service {
    listen: Arc<Listen>,
    control: Arc<dyn Control>,
    session_id: String,
    removals: Mutex<Removals>,
}

/// Serves Transmission RPC on a thread of its own, until the result is dropped. `max_metainfo_len` limits the length of an
/// added .torrent file in bytes.
///
/// # Errors
/// Returns the reason why nothing is served; see [`ListenError`].
pub fn serve(
    mut listen: Listen,
    control: Arc<dyn Control>,
    max_metainfo_len: u64,
) -> Result<Server, ListenError> {
    listen.check()?;
    let socket = listen.listener.take();
    let listen = Arc::new(listen);
    let mut session_id = [0; SESSION_ID_LEN];
    getrandom::fill(&mut session_id).map_err(|error| ListenError::Random(error.to_string()))?;
    let service = Arc::new(Service {
        listen: Arc::clone(&listen),
        control,
        session_id: HEXLOWER.encode(&session_id),
        removals: Mutex::default(),
    });
    // Base64 takes four bytes for three.
    let metainfo_len = usize::try_from(max_metainfo_len).unwrap_or(usize::MAX / 4) / 3 * 4;
    let max_len = metainfo_len.saturating_add(MAX_REQUEST_LEN);
    let router = Router::new()
        .route(PATH, any(answer))
        .route("/transmission/rpc/", any(answer))
        .layer(DefaultBodyLimit::max(max_len))
        .with_state(service);
    start(&listen, socket, "transmission", "Transmission RPC", router)
}

async fn answer(
    State(service): State<Arc<Service>>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let headers = request.headers().clone();
    // A password takes long to check, and a method may wait for the disk.
    let checking = (Arc::clone(&service), headers.clone());
    let refusal = blocking(move || checking.0.refusal(client.ip(), &checking.1)).await;
    if let Err(refusal) | Ok(Some(refusal)) = refusal {
        discard(request).await;
        return refusal;
    }
    let body = match Bytes::from_request(request, &()).await {
        Ok(body) => body,
        Err(error) => return error.into_response(),
    };
    let answer = blocking(move || service.answer(&headers, &body)).await;
    answer.unwrap_or_else(|failure| failure)
}

/// Runs a function on a thread for those that wait.
async fn blocking<T: Send + 'static>(
    function: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Response> {
    tokio::task::spawn_blocking(function)
        .await
        .map_err(|error| {
            tracing::error!(%error, "a request was not answered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        })
}

impl Service {
    /// Returns the answer to a request that is refused before its body is read.
    fn refusal(&self, client: IpAddr, headers: &HeaderMap) -> Option<Response> {
        if !self.listen.has_host(headers) {
            return Some((StatusCode::MISDIRECTED_REQUEST, UNKNOWN_HOST).into_response());
        }
        let login = self.listen.login.as_ref()?;
        let given = basic_credentials(headers);
        let given = given.as_deref().and_then(|given| given.split_once(':'));
        match login.check(client, given) {
            Verdict::Right => None,
            Verdict::Wrong => {
                let realm = [(WWW_AUTHENTICATE, "Basic realm=\"Transmission\"")];
                Some((StatusCode::UNAUTHORIZED, realm, "unauthorized\n").into_response())
            }
            Verdict::TooMany => {
                let reason = "too many wrong passwords: try again in a minute\n";
                Some((StatusCode::FORBIDDEN, reason).into_response())
            }
        }
    }

    fn answer(&self, headers: &HeaderMap, body: &[u8]) -> Response {
        let session_id = [(SESSION_ID, self.session_id.as_str())];
        let given = headers.get(SESSION_ID).map_or(&[][..], |id| id.as_bytes());
        if !bool::from(given.ct_eq(self.session_id.as_bytes())) {
            let reason = "send the request again with this X-Transmission-Session-Id\n";
            return (StatusCode::CONFLICT, session_id, reason).into_response();
        }
        let answer = match serde_json::from_slice::<Value>(body) {
            Ok(request) => self.answer_json(&request),
            Err(error) => Answer::refusal(format!("invalid JSON: {error}"), None).json(),
        };
        match answer {
            Ok(answer) => {
                let json = [(CONTENT_TYPE, "application/json; charset=UTF-8")];
                (session_id, json, answer).into_response()
            }
            Err(error) => {
                tracing::error!(%error, "a request was not answered");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }

    fn answer_json(&self, request: &Value) -> serde_json::Result<Vec<u8>> {
        let none = Value::Null;
        let arguments = request.get("arguments").unwrap_or(&none);
        let method = request.get("method").and_then(Value::as_str);
        let names_torrents = |method: &str| {
            let mut kinds = ["torrent-", "queue-"].into_iter();
            kinds.any(|kind| method.starts_with(kind))
        };
        let present = if method.is_some_and(names_torrents) {
            // No code that holds the lock leaves the state inconsistent. It ends before the method, which can wait for a
            // server.
            let mut removals = self.removals.lock().unwrap_or_else(PoisonError::into_inner);
            removals.update(self.control.snapshot())
        } else {
            // Torrents take time to show.
            Present::default()
        };
        let result = call::call(
            &*self.control,
            &present,
            &self.session_id,
            method.unwrap_or(""),
            arguments,
        );
        let tag = request.get("tag");
        let answer = match result {
            Ok(arguments) => Answer {
                result: "success".to_owned(),
                arguments,
                tag,
            },
            Err(refusal) => Answer::refusal(refusal.to_string(), tag),
        };
        answer.json()
    }
}

/// The answer to a request.
#[derive(Serialize)]
struct Answer<'a> {
    result: String,
    arguments: Reply<'a>,
    /// That of the request. A program finds its answer by the tag, whatever its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<&'a Value>,
}

impl<'a> Answer<'a> {
    fn refusal(reason: String, tag: Option<&'a Value>) -> Self {
        Self {
            result: reason,
            arguments: Reply::Value(json!({})),
            tag,
        }
    }

    fn json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}
