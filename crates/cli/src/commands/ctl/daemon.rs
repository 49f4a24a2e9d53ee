//! The HTTP API of a daemon, at the socket in its state folder or at an address.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use ureq::config::Config;
use ureq::http::header::{AUTHORIZATION, CONTENT_TYPE};
use ureq::http::{Method, Request, Uri};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};
use ureq::{Agent, Error, Timeout};
use zeroize::Zeroizing;

/// Length limit in bytes of an answer: that of a daemon with 300,000 torrents.
const MAX_ANSWER_LEN: u64 = 512 << 20;

/// Time limit of a request over the network. The socket has none: the daemon may have much to do.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A daemon that answers requests.
pub(super) struct Daemon {
    agent: Agent,
    /// The address, to which paths are appended.
    base: String,
    token: Option<Zeroizing<String>>,
    /// How errors name the daemon.
    name: String,
}

/// The body of an error (RFC 9457).
#[derive(Deserialize)]
struct Problem {
    detail: String,
}

impl Daemon {
    /// Returns the daemon with a socket at this path. Without a time limit, a request lasts as long as the daemon works.
    pub(super) fn at_socket(path: PathBuf, timeout: Option<Duration>) -> Self {
        let name = path.parent().unwrap_or(&path).display().to_string();
        let config = Agent::config_builder()
            .proxy(None)
            .http_status_as_error(false)
            .timeout_global(timeout)
            .build();
        Self {
            agent: Agent::with_parts(config, UnixConnector(path), NoNames),
            base: "http://localhost".to_owned(),
            token: None,
            name,
        }
    }

    /// Returns the daemon with the page at this URL, which asks for a token.
    pub(super) fn at_url(url: &str, token: Option<Zeroizing<String>>) -> anyhow::Result<Self> {
        let is = |scheme: &str| {
            let start = url.get(..scheme.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        if !is("http://") && !is("https://") {
            bail!("{url}: not an address of a page (http or https)");
        }
        let config = Agent::config_builder()
            .user_agent(concat!("hashlane/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            // A token is for one server alone.
            .max_redirects(0)
            .timeout_global(Some(TIMEOUT));
        #[cfg(feature = "tls")]
        let config = config.tls_config(
            ureq::tls::TlsConfig::builder()
                .provider(ureq::tls::TlsProvider::NativeTls)
                .root_certs(ureq::tls::RootCerts::PlatformVerifier)
                .build(),
        );
        #[cfg(not(feature = "tls"))]
        if url
            .get(..6)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
        {
            bail!("{url}: this program has no TLS; `hashlane-net ctl` has it");
        }
        let base = url.trim_end_matches('/').to_owned();
        Ok(Self {
            agent: config.build().into(),
            name: base.clone(),
            base,
            token,
        })
    }

    /// Returns what a path shows.
    pub(super) fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.ask(Method::GET, path, &[])
    }

    /// Sends something as JSON, and returns the answer.
    pub(super) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        self.ask(Method::POST, path, &serde_json::to_vec(body)?)
    }

    /// Changes a part of what a path shows.
    pub(super) fn patch(&self, path: &str, body: &impl Serialize) -> anyhow::Result<()> {
        self.ask(Method::PATCH, path, &serde_json::to_vec(body)?)
    }

    /// Sends a request. An answer without content is null.
    fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &[u8],
    ) -> anyhow::Result<T> {
        let request = Request::builder()
            .uri(format!("{}/api/v1/{path}", self.base))
            .method(method);
        let request = match &self.token {
            Some(token) => {
                let bearer = Zeroizing::new(format!("Bearer {}", token.as_str()));
                request.header(AUTHORIZATION, bearer.as_str())
            }
            None => request,
        };
        let answer = if body.is_empty() {
            self.agent.run(request.body(())?)
        } else {
            let request = request.header(CONTENT_TYPE, "application/json");
            self.agent.run(request.body(body)?)
        };
        let mut answer = answer.map_err(|error| self.unreachable(error))?;
        let limited = answer.body_mut().with_config().limit(MAX_ANSWER_LEN);
        let bytes = limited
            .read_to_vec()
            .map_err(|error| self.unreachable(error))?;
        let status = answer.status();
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

    /// Returns the error for a request without an answer.
    fn unreachable(&self, error: Error) -> anyhow::Error {
        let name = &self.name;
        match error {
            // Only the connector of a socket has none.
            Error::ConnectionFailed => anyhow!(
                "{name}: no daemon runs with this state folder: start `hashlane daemon`, or name another folder by --state-dir"
            ),
            Error::Io(error) if error.kind() == ErrorKind::PermissionDenied => {
                anyhow!(error).context(name.clone())
            }
            error => anyhow!(error).context(format!(
                "{name}: no answer; what was asked may have been done"
            )),
        }
    }
}

/// Connects to a Unix socket, whatever the address.
#[derive(Debug)]
struct UnixConnector(PathBuf);

impl Connector<()> for UnixConnector {
    type Out = UnixTransport;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _: Option<()>,
    ) -> Result<Option<UnixTransport>, Error> {
        let stream = match UnixStream::connect(&self.0) {
            Ok(stream) => stream,
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::NotFound | ErrorKind::ConnectionRefused
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        Ok(Some(UnixTransport { stream, buffers }))
    }
}

/// A connection to a Unix socket.
#[derive(Debug)]
struct UnixTransport {
    stream: UnixStream,
    buffers: LazyBuffers,
}

impl Transport for UnixTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.stream.set_write_timeout(left(timeout))?;
        let output = &self.buffers.output()[..amount];
        let sent = self.stream.write_all(output);
        sent.map_err(|error| named(error, timeout.reason))
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.stream.set_read_timeout(left(timeout))?;
        let read = self.stream.read(self.buffers.input_append_buf());
        let n = read.map_err(|error| named(error, timeout.reason))?;
        self.buffers.input_appended(n);
        Ok(n > 0)
    }

    fn is_open(&mut self) -> bool {
        // A daemon closes a connection that is idle for long, which no run of `ctl` has.
        true
    }
}

/// Returns the remaining time, at least a millisecond, because a timeout of zero is an error.
fn left(timeout: NextTimeout) -> Option<Duration> {
    let is_limited = !timeout.after.is_not_happening();
    is_limited.then(|| (*timeout.after).max(Duration::from_millis(1)))
}

fn named(error: io::Error, timeout: Timeout) -> Error {
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => Error::Timeout(timeout),
        _ => error.into(),
    }
}

/// Resolves no names: a socket has none.
#[derive(Debug)]
struct NoNames;

impl Resolver for NoNames {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let mut addresses = self.empty();
        addresses.push(SocketAddr::from((Ipv4Addr::LOCALHOST, 80)));
        Ok(addresses)
    }
}
