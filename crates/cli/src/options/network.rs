//! Options of the connections to peers, trackers and the DHT.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use hashlane_metainfo::PeerAddress;
use zeroize::Zeroizing;

use super::Switch as _;
use crate::{Env, input, values};

/// The connections of a client that transfers content.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub struct Network {
    /// The connections to peers, trackers and the DHT.
    #[command(flatten)]
    pub connections: Connections,

    /// File with the port for incoming connections, as gluetun and natpmpc write it; its first line replaces --port
    ///
    /// The file is read at the start and when it changes. While it is absent or empty, the port stays as it is.
    #[arg(long, value_name = "FILE")]
    pub port_file: Option<PathBuf>,

    /// Download from web seeds [default: 1, or 0 if they can make the installed libtorrent hang: versions before 2.0.14, and
    /// 2.1.0]
    #[arg(long, switch())]
    pub web_seeds: Option<bool>,

    /// Maximum download rate in bytes per second, for example 2MiB
    #[arg(long, value_name = "BYTES", value_parser = values::rate)]
    pub max_down: Option<u32>,

    /// Maximum upload rate in bytes per second, for example 512KiB
    #[arg(long, value_name = "BYTES", value_parser = values::rate)]
    pub max_up: Option<u32>,

    /// Maximum number of peers of all torrents together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub max_peers: Option<u16>,

    /// Maximum number of peers to send to at the same time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub upload_slots: Option<u16>,
}

/// The connections to peers, trackers and the DHT.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub struct Connections {
    /// Port for incoming connections of peers, 0 for any
    #[arg(long, value_name = "PORT", default_value = "6881")]
    pub port: u16,

    /// Local address or network interface for all connections, for example `tun0` [default: all addresses]
    ///
    /// While the interface is absent, all torrents wait, and nothing uses another interface. An interface turns discovery in
    /// the local network off. The system resolves the names of trackers and servers as usual.
    #[arg(long, value_name = "ADDRESS", value_parser = values::bind)]
    pub bind: Option<values::BindArg>,

    /// Do not use the distributed hash table
    #[arg(long)]
    pub no_dht: bool,

    /// Node to enter the distributed hash table with, instead of the nodes of libtorrent; repeatable
    #[arg(long = "dht-node", value_name = "HOST:PORT", value_parser = values::peer, conflicts_with = "no_dht")]
    pub dht_nodes: Vec<PeerAddress>,

    /// Do not search the local network for peers, and do not ask routers to forward ports
    #[arg(long)]
    pub no_discovery: bool,

    /// Transport protocol to peers
    #[arg(long, value_name = "HOW", default_value = "both")]
    pub transport: TransportArg,

    /// Encryption of connections to peers
    #[arg(long, value_name = "HOW", default_value = "allowed")]
    pub encryption: EncryptionArg,

    /// Proxy for all connections: `socks5://[USER:PASSWORD@]HOST:PORT`, or `http://`. Turns discovery in the
    /// local network off; this machine still resolves the names of --peer. Other users of this machine can see the options
    /// of a program: give a password by --proxy-file [default: variable `HASHLANE_PROXY`]
    #[arg(long, value_name = "URL", value_parser = values::proxy)]
    pub proxy: Option<values::ProxyUrl>,

    /// File whose first line is the URL of the proxy
    #[arg(long, value_name = "FILE", conflicts_with = "proxy")]
    pub proxy_file: Option<PathBuf>,
}

/// The environment variable with the URL of a proxy.
pub(crate) const PROXY_VARIABLE: &str = "HASHLANE_PROXY";

/// The maximum length of the first line of a file with a secret, in bytes.
const MAX_SECRET_LEN: u64 = 4096;

/// Returns the first line of a file that holds a secret, without white space around it.
///
/// # Errors
/// Returns the error of the system.
pub fn secret_line(env: &Env, path: &Path) -> io::Result<Zeroizing<String>> {
    let mut line = Zeroizing::new(String::with_capacity(MAX_SECRET_LEN as usize));
    let file = BufReader::new(input::open(&env.resolve(path))?);
    file.take(MAX_SECRET_LEN).read_line(&mut line)?;
    Ok(Zeroizing::new(line.trim().to_owned()))
}

impl Connections {
    /// Returns the proxy from the options or from the environment.
    ///
    /// # Errors
    /// Names the option or the variable if there is no valid URL. The text of the URL is not part of an error.
    pub fn proxy(&self, env: &Env) -> anyhow::Result<Option<values::ProxyUrl>> {
        if let Some(proxy) = &self.proxy {
            return Ok(Some(proxy.clone()));
        }
        let parsed = |text: &str| values::proxy(text.trim()).map_err(anyhow::Error::msg);
        if let Some(path) = &self.proxy_file {
            let read = || parsed(&secret_line(env, path)?);
            let proxy = read().with_context(|| format!("--proxy-file {}", path.display()))?;
            return Ok(Some(proxy));
        }
        match std::env::var_os(PROXY_VARIABLE) {
            Some(text) if !text.is_empty() => {
                let text = text.to_str().unwrap_or_default();
                Ok(Some(parsed(text).context(PROXY_VARIABLE)?))
            }
            _ => Ok(None),
        }
    }
}

/// The encryption of connections to peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EncryptionArg {
    /// Encrypt if the peer wants to
    Allowed,
    /// Connect only with RC4 encryption
    Required,
    /// Never encrypt
    Off,
}

/// The transport protocol to peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TransportArg {
    /// Connect by TCP, and by uTP if TCP reaches no peer; accept both
    Both,
    /// TCP only
    Tcp,
    /// uTP only (BEP 29), which gives way to other traffic, and gets through more NATs
    Utp,
}
