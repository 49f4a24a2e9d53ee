//! Where a protocol is served, and to whom.

use std::future::poll_fn;
use std::io;
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::body::{Bytes, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use data_encoding::BASE64;
use hashlane_server::{Endpoint, Listener, Login, Server, is_address};

/// Length in bytes of a refused request that is still read.
const MAX_DISCARDED_LEN: usize = 32 << 20;

/// The answer to a request for another host.
pub(crate) const UNKNOWN_HOST: &str =
    "unknown Host header: use an address, or add the name to the allowed hosts";

/// The address of a protocol, and who may use it.
#[derive(Debug)]
pub struct Listen {
    /// The address.
    pub endpoint: Endpoint,
    /// The socket that listens at the address already, if a service manager has opened it.
    pub listener: Option<TcpListener>,
    /// The name and password that each request must have. Listeners that share it count wrong passwords together.
    pub login: Option<Arc<Login>>,
    /// Names of this machine that requests may have as `Host`, besides addresses and `localhost`: names of containers, of
    /// the local network, or of a proxy.
    pub hosts: Vec<String>,
    /// Whether other machines may use the protocol without a login.
    pub is_open: bool,
    /// The text that a browser shows at `/`, without secrets: a login is not needed there.
    pub about: String,
}

/// An error of the start of a listener.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// Other machines can reach the address, and there is no login.
    #[error("{0} can be reached by other machines, so a user name and a password are required")]
    NoLogin(Endpoint),
    /// The system reports an error.
    #[error("{endpoint}: {error}")]
    Io {
        /// The address that was to be served.
        endpoint: Endpoint,
        /// The error of the system.
        error: io::Error,
    },
    /// The system has no random numbers.
    #[error("random numbers: {0}")]
    Random(String),
}

impl Listen {
    /// Refuses an address that other machines can reach without a login. Warns if `is_open` allows it.
    pub(crate) fn check(&self) -> Result<(), ListenError> {
        if self.login.is_some() || self.endpoint.is_local() {
            return Ok(());
        }
        if !self.is_open {
            return Err(ListenError::NoLogin(self.endpoint.clone()));
        }
        tracing::warn!(
            address = %self.endpoint,
            "every machine that reaches this address controls the client: there is no login"
        );
        Ok(())
    }

    /// Returns `true` if the header `Host` names this machine. A site in a browser that uses its own name does not (DNS
    /// rebinding).
    pub(crate) fn has_host(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        host.is_some_and(|host| {
            let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
            let is_known = |known: &String| {
                known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(host)
            };
            is_address(host) || self.hosts.iter().any(is_known)
        })
    }
}

/// Headers of the text for browsers.
const ABOUT_HEADERS: [(HeaderName, &str); 4] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
];

/// Answers a browser that was sent to the address of the protocol.
async fn about(State(listen): State<Arc<Listen>>, headers: HeaderMap) -> Response {
    if !listen.has_host(&headers) {
        return (StatusCode::MISDIRECTED_REQUEST, UNKNOWN_HOST).into_response();
    }
    (ABOUT_HEADERS, listen.about.clone()).into_response()
}

/// Reads the body of a refused request, and keeps nothing of it. Without that, a program that still sends may find the
/// connection closed before it reads the answer.
pub(crate) async fn discard(request: Request) {
    let mut body = request.into_body();
    let mut len = 0;
    while len < MAX_DISCARDED_LEN {
        let frame = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        match frame {
            Some(Ok(frame)) => len += frame.data_ref().map_or(0, Bytes::len),
            _ => return,
        }
    }
}

/// Serves a protocol on a thread with this name.
pub(crate) fn start(
    listen: &Arc<Listen>,
    listener: Option<TcpListener>,
    thread: &str,
    protocol: &str,
    router: Router,
) -> Result<Server, ListenError> {
    let endpoint = listen.endpoint.clone();
    let about = get(about).with_state(Arc::clone(listen));
    let router = router.route("/", about);
    let serve = || {
        let listener = match listener {
            Some(socket) => Listener::from(socket),
            None => endpoint.bind()?,
        };
        Server::start(thread, listener, router, async {})
    };
    let server = serve().map_err(|error| ListenError::Io { endpoint, error })?;
    tracing::info!(address = %server.endpoint(), "serving {protocol}");
    Ok(server)
}

/// Returns the name and password of a request (Basic authentication, RFC 7617), joined by a colon.
pub(crate) fn basic_credentials(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = value.split_once(' ')?;
    let bytes = BASE64.decode(encoded.trim().as_bytes()).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    (scheme.eq_ignore_ascii_case("basic") && text.contains(':')).then_some(text)
}
