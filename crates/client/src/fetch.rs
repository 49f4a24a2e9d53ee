//! .torrent files from URLs.
//!
//! Requests use the bound address and the proxy of the session.
//! Variables such as `HTTPS_PROXY` are ignored, because the session ignores them too.

mod bound_tcp;
mod public;
mod socks5;

use std::fmt;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use hashlane_files::read_limited;
use hashlane_metainfo::Secrets;
use hashlane_swarm::{Bind, Proxy, ProxyKind};
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::unversioned::transport::{
    ConnectProxyConnector, Connector as _, DefaultConnector, NativeTlsConnector,
};
use ureq::{Agent, ProxyProtocol};

use crate::error::TorrentError;
use crate::network::Link;
use bound_tcp::BoundTcpConnector;
use public::Addresses;

/// Default time limit of a request with all its redirections.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

const MAX_REDIRECTS: u32 = 5;

/// A request for a .torrent file.
pub struct Fetch {
    /// The URL: http or https. Redirections to other schemes are refused.
    pub url: String,
    /// The proxy, which also resolves names; `None` connects directly.
    pub proxy: Option<Proxy>,
    /// The local address or interface of the connection.
    pub bind: Bind,
    /// Time limit with all redirections; a minute without one.
    pub timeout: Option<Duration>,
    /// Length limit in bytes.
    pub max_len: u64,
    /// Whether only servers outside of this machine and the local network are asked. A proxy decides that itself.
    pub is_public: bool,
}

/// Without the URL, which can contain a passkey.
impl fmt::Debug for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetch").finish_non_exhaustive()
    }
}

impl Fetch {
    /// Fetches the file, and returns its bytes. Blocks until the time limit at most.
    ///
    /// # Errors
    /// [`TorrentError::Fetch`], which has no secrets, [`TorrentError::TooLong`], or [`TorrentError::Thread`].
    pub fn run(&self) -> Result<Vec<u8>, TorrentError> {
        // ureq panics if it cannot start the thread that resolves names.
        let fetched = catch_unwind(AssertUnwindSafe(|| fetch(self)));
        fetched.unwrap_or_else(|_| Err(TorrentError::Thread(ErrorKind::WouldBlock.into())))
    }
}

/// Fetches on a new thread, and passes the result to `done`. A pending connection cannot be interrupted and ends with
/// its timeout.
pub(crate) fn start(
    request: Fetch,
    done: impl FnOnce(Result<Vec<u8>, TorrentError>) + Send + 'static,
) -> Result<(), TorrentError> {
    thread::Builder::new()
        .name("fetch".into())
        .spawn(move || done(request.run()))
        .map_err(TorrentError::Thread)?;
    Ok(())
}

/// Returns the bytes. An error can contain the URL, or what the server sent.
fn fetch(request: &Fetch) -> Result<Vec<u8>, TorrentError> {
    let bytes = read(request).map_err(|error| {
        let mut secrets = Secrets::default();
        secrets.add_url(&request.url);
        TorrentError::Fetch(secrets.mask(&error.to_string()))
    })?;
    bytes.ok_or(TorrentError::TooLong(request.max_len))
}

/// Returns `None` if there are more bytes than the limit.
fn read(request: &Fetch) -> Result<Option<Vec<u8>>, ureq::Error> {
    if let Some(name) = request.bind.interface() {
        // Not even the name of the server is resolved without the interface.
        Link::get(name)?;
    }
    let response = agent(request)?.get(&request.url).call()?;
    // The limit applies to decoded bytes: one compressed byte can become a thousand. ureq's own limit counts compressed
    // bytes.
    let mut bytes = Vec::new();
    let decoded = response.into_body().into_reader();
    let is_whole = read_limited(decoded, request.max_len, &mut bytes)?;
    Ok(is_whole.then_some(bytes))
}

fn agent(request: &Fetch) -> Result<Agent, ureq::Error> {
    let proxy = request.proxy.as_ref();
    // Like libtorrent, this uses OpenSSL with the certificates of the system.
    let tls = TlsConfig::builder()
        .provider(TlsProvider::NativeTls)
        .root_certs(RootCerts::PlatformVerifier);
    let config = Agent::config_builder()
        .tls_config(tls.build())
        .user_agent(concat!("hashlane/", env!("CARGO_PKG_VERSION")))
        .timeout_global(Some(request.timeout.unwrap_or(DEFAULT_TIMEOUT)))
        .max_redirects(MAX_REDIRECTS)
        // `None` also overrides the proxy of the environment.
        .proxy(proxy.map(proxy_of).transpose()?)
        .build();
    let resolver = Addresses {
        is_public: request.is_public && proxy.is_none(),
    };
    if request.bind == Bind::Any {
        let connector = DefaultConnector::default();
        return Ok(Agent::with_parts(config, connector, resolver));
    }
    let socks = proxy.filter(|proxy| proxy.kind == ProxyKind::Socks5);
    let connector =
        ().chain(ConnectProxyConnector::default())
            .chain(BoundTcpConnector::new(request.bind.clone(), socks.cloned()))
            .chain(NativeTlsConnector::default());
    Ok(Agent::with_parts(config, connector, resolver))
}

/// Returns the proxy for ureq. The proxy resolves names, so that this machine sends no DNS queries.
fn proxy_of(proxy: &Proxy) -> Result<ureq::Proxy, ureq::Error> {
    let protocol = match proxy.kind {
        ProxyKind::Http => ProxyProtocol::Http,
        ProxyKind::Socks5 => ProxyProtocol::Socks5h,
    };
    let mut builder = ureq::Proxy::builder(protocol)
        .host(&proxy.host)
        .port(proxy.port);
    if let Some((user, password)) = &proxy.login {
        builder = builder.username(user).password(password);
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_server_that_does_not_answer_has_a_time_limit() {
        // The system accepts the connection, and no program reads from it.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let key = "0123456789abcdef0123456789abcdef";
        let fetch = Fetch {
            url: format!("http://{}/{key}", listener.local_addr().unwrap()),
            proxy: None,
            bind: Bind::Any,
            timeout: Some(Duration::from_millis(200)),
            max_len: 1,
            is_public: false,
        };
        let error = fetch.run().unwrap_err().to_string();
        assert!(error.contains("timeout"), "{error}");
        assert!(!error.contains(key), "{error}");
        assert!(!format!("{fetch:?}").contains(key));
    }
}
