//! .torrent files from the web.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use ureq::{Agent, Proxy, ProxyProtocol};

use crate::Env;
use crate::output::text::Size;
use crate::torrent_file::MAX_LEN;
use crate::values::ProxyUrl;

/// How long it may take, redirections and all, if nothing else is said.
const PATIENCE: Duration = Duration::from_mins(1);

const MAX_REDIRECTS: u32 = 5;

/// How often Ctrl-C is looked for.
const TICK: Duration = Duration::from_millis(50);

/// Whether this is a URL that can be fetched.
pub(super) fn is_url(text: &str) -> bool {
    let scheme = text
        .split_once("://")
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| ["http", "https"].contains(&scheme.as_str()))
}

/// The bytes of a .torrent file, of which one can be anything. No more of it is read than a .torrent
/// file may have.
pub(super) fn fetch(
    env: &Env,
    url: &str,
    proxy: Option<&ProxyUrl>,
    timeout: Option<Duration>,
) -> anyhow::Result<Vec<u8>> {
    let mut config = Agent::config_builder()
        .user_agent(concat!("hashlane/", env!("CARGO_PKG_VERSION")))
        .timeout_global(Some(timeout.unwrap_or(PATIENCE)))
        .max_redirects(MAX_REDIRECTS);
    // Without one, those of the environment (`HTTPS_PROXY` and its kin) hold.
    if let Some(proxy) = proxy {
        config = config.proxy(Some(through(proxy).context("--proxy")?));
    }
    let agent = Agent::new_with_config(config.build());
    let (done, came) = mpsc::channel();
    let of_thread = url.to_owned();
    // A connection that does not come about cannot be interrupted: it is left to its timeout.
    thread::spawn(move || {
        let _ = done.send(read(&agent, &of_thread));
    });
    loop {
        match came.recv_timeout(TICK) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) if !env.cancel.is_cancelled() => {}
            Err(_) => bail!("interrupted"),
        }
    }
}

fn read(agent: &Agent, url: &str) -> Result<Vec<u8>, anyhow::Error> {
    let response = agent.get(url).call()?;
    // One byte more is seen to be too long, and not cut off.
    let body = response.into_body().into_with_config().limit(MAX_LEN + 1);
    match body.read_to_vec() {
        Ok(bytes) if bytes.len() as u64 <= MAX_LEN => Ok(bytes),
        Ok(_) | Err(ureq::Error::BodyExceedsLimit(_)) => {
            bail!(
                "is longer than {}, which no .torrent file is",
                Size(MAX_LEN)
            )
        }
        Err(error) => Err(error.into()),
    }
}

/// The proxy resolves names, so that nobody else hears of them.
fn through(proxy: &ProxyUrl) -> Result<Proxy, ureq::Error> {
    let protocol = if proxy.is_http {
        ProxyProtocol::Http
    } else {
        ProxyProtocol::Socks5h
    };
    let mut builder = Proxy::builder(protocol)
        .host(proxy.address.host())
        .port(proxy.address.port());
    if let Some((user, password)) = &proxy.login {
        builder = builder.username(user).password(password);
    }
    builder.build()
}
