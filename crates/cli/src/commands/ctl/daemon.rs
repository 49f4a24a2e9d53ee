//! The HTTP API of a daemon, at the socket in its state folder or at an address.

use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::{Builder, Runtime};
use zeroize::Zeroizing;

use super::tls::Tls;

/// Length limit in bytes of an answer: that of a daemon with 300,000 torrents.
const MAX_ANSWER_LEN: usize = 512 << 20;

/// Time limit of a request over the network. The socket has none: the daemon may have much to do.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A daemon that answers requests.
pub(super) struct Daemon {
    runtime: Runtime,
    place: Place,
    /// The path of the page, to which those of requests are appended.
    base: String,
    token: Option<Zeroizing<String>>,
    /// How errors name the daemon.
    name: String,
    timeout: Option<Duration>,
}

/// Where a daemon listens.
enum Place {
    Socket(PathBuf),
    Address {
        /// The host as the URL has it.
        host: String,
        /// The host and the port.
        address: String,
        /// For `https`.
        tls: Option<Tls>,
    },
}

/// How to get in at a URL.
pub(super) struct Access {
    /// The token of the page.
    pub(super) token: Option<Zeroizing<String>>,
    /// A file with the certificates of authorities, in place of those of the system.
    pub(super) authorities: Option<PathBuf>,
    /// Whether the token may be sent without encryption.
    pub(super) is_plain: bool,
}

/// Returns `true` for a host that is this machine.
fn is_local(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// The connection of a request.
trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// The body of an error (RFC 9457).
#[derive(Deserialize)]
struct Problem {
    detail: String,
}

impl Daemon {
    fn new(place: Place, name: String, base: &str) -> io::Result<Self> {
        Ok(Self {
            runtime: Builder::new_current_thread().enable_all().build()?,
            place,
            base: base.to_owned(),
            token: None,
            name,
            timeout: None,
        })
    }

    /// Returns the daemon with a socket at this path. Without a time limit, a request lasts as long as the daemon works.
    pub(super) fn at_socket(path: PathBuf, timeout: Option<Duration>) -> io::Result<Self> {
        let name = path.parent().unwrap_or(&path).display().to_string();
        let daemon = Self::new(Place::Socket(path), name, "")?;
        Ok(Self { timeout, ..daemon })
    }

    /// Returns the daemon with the page at this URL.
    pub(super) fn at_url(url: &str, access: Access) -> anyhow::Result<Self> {
        let uri: Uri = url.parse().context("--url")?;
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        // An error must not repeat credentials.
        if authority.contains('@') || uri.query().is_some() {
            bail!("--url: has credentials or a query; `--token-file` names the file of the token");
        }
        let host = uri.host().unwrap_or_default();
        let (port, tls) = match uri.scheme_str() {
            Some("http") => (80, None),
            Some("https") => (443, Some(Tls::new(host, access.authorities.as_deref())?)),
            _ => bail!("{url}: not an address that starts with https:// or http://"),
        };
        if access.token.is_some() && tls.is_none() && !access.is_plain && !is_local(host) {
            bail!(
                "{url}: everybody on the network could read the token; use https, forward a port by `ssh -L 8080:127.0.0.1:8080 \
                 {host}`, or permit this with --insecure-http"
            );
        }
        let place = Place::Address {
            host: authority.to_owned(),
            address: format!("{host}:{}", uri.port_u16().unwrap_or(port)),
            tls,
        };
        let name = url.trim_end_matches('/').to_owned();
        let daemon = Self::new(place, name, uri.path().trim_end_matches('/'))?;
        Ok(Self {
            token: access.token,
            timeout: Some(TIMEOUT),
            ..daemon
        })
    }

    /// Returns what a path shows.
    pub(super) fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.ask(Method::GET, path, Vec::new())
    }

    /// Sends something as JSON, and returns the answer.
    pub(super) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        self.ask(Method::POST, path, serde_json::to_vec(body)?)
    }

    /// Changes a part of what a path shows.
    pub(super) fn patch(&self, path: &str, body: &impl Serialize) -> anyhow::Result<()> {
        self.ask(Method::PATCH, path, serde_json::to_vec(body)?)
    }

    /// Returns a URL of the daemon's page as this program reaches it: below `--url` if there is one.
    pub(super) fn reached_url(&self, url: String) -> anyhow::Result<String> {
        if matches!(self.place, Place::Socket(_)) {
            return Ok(url);
        }
        // The error has no URL, whose query is a secret.
        let uri: Uri = url.parse().context("the URL of the daemon")?;
        let path = uri.path_and_query().map_or("", |path| path.as_str());
        Ok(format!("{}{path}", self.name))
    }

    /// Sends a request. An answer without content is null.
    fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> anyhow::Result<T> {
        let host = match &self.place {
            Place::Socket(_) => "localhost",
            Place::Address { host, .. } => host,
        };
        let request = Request::builder()
            .uri(format!("{}/api/v1/{path}", self.base))
            .method(method)
            .header(HOST, host)
            .header(CONTENT_TYPE, "application/json");
        let request = match &self.token {
            Some(token) => {
                let bearer = Zeroizing::new(format!("Bearer {}", token.as_str()));
                request.header(AUTHORIZATION, bearer.as_str())
            }
            None => request,
        };
        let request = request.body(Full::new(body.into()))?;
        let (status, bytes) = self.exchange(request)?;
        if status.is_success() {
            let text = if bytes.is_empty() {
                b"null"
            } else {
                &bytes[..]
            };
            let context = || format!("{}: the answer is not one of a daemon", self.name);
            return serde_json::from_slice(text).with_context(context);
        }
        match serde_json::from_slice::<Problem>(&bytes) {
            Ok(problem) => bail!("{}", problem.detail),
            Err(_) => bail!("{}: the server answers with {status}", self.name),
        }
    }

    /// Sends a request, and returns the status and the body of the answer.
    fn exchange(&self, request: Request<Full<Bytes>>) -> anyhow::Result<(StatusCode, Bytes)> {
        let answer = async {
            let connection = self.connect().await?;
            let unanswered = || {
                format!(
                    "{}: no answer; what was asked may have been done",
                    self.name
                )
            };
            let exchanged = async {
                let (mut sender, connection) = handshake(TokioIo::new(connection)).await?;
                tokio::spawn(connection);
                let answer = sender.send_request(request).await?;
                let status = answer.status();
                let body = Limited::new(answer.into_body(), MAX_ANSWER_LEN).collect();
                let body = body.await.map_err(|error| anyhow!(error))?;
                Ok::<_, anyhow::Error>((status, body.to_bytes()))
            };
            exchanged.await.with_context(unanswered)
        };
        self.runtime.block_on(async {
            match self.timeout {
                Some(timeout) => tokio::time::timeout(timeout, answer)
                    .await
                    .with_context(|| self.name.clone())?,
                None => answer.await,
            }
        })
    }

    async fn connect(&self) -> anyhow::Result<Box<dyn Connection>> {
        let name = &self.name;
        match &self.place {
            Place::Socket(path) => match UnixStream::connect(path).await {
                Ok(stream) => Ok(Box::new(stream)),
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::NotFound | ErrorKind::ConnectionRefused
                    ) =>
                {
                    bail!(
                        "{name}: no daemon runs with this state folder: start `hashlane daemon`, or name another folder by --state-dir"
                    )
                }
                Err(error) => Err(anyhow!(error).context(path.display().to_string())),
            },
            Place::Address { address, tls, .. } => {
                let context = || name.clone();
                let stream = TcpStream::connect(address).await.with_context(context)?;
                Ok(match tls {
                    Some(tls) => Box::new(tls.connect(stream).await.with_context(context)?),
                    None => Box::new(stream),
                })
            }
        }
    }
}
