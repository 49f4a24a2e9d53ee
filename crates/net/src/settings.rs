//! The settings of the session from the options of the connections.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};

use anyhow::Context as _;
use hashlane_cli::options::network::{Connections, EncryptionArg, Network, TransportArg};
use hashlane_cli::{Env, ProxyUrl};
use hashlane_metainfo::PeerAddress;
use hashlane_swarm::{Encryption, EventDetail, Proxy, ProxyKind, Settings, Transport, WebSeeds};

/// Options that have settings of the session.
pub(crate) trait SessionSettings {
    /// Returns the settings of the session.
    fn settings(&self, env: &Env, event_detail: EventDetail) -> anyhow::Result<Settings>;
}

impl SessionSettings for Network {
    fn settings(&self, env: &Env, event_detail: EventDetail) -> anyhow::Result<Settings> {
        Ok(Settings {
            web_seeds: match (self.web_seeds, self.no_web_seeds) {
                (true, _) => WebSeeds::Used,
                (_, true) => WebSeeds::Unused,
                _ => WebSeeds::default(),
            },
            max_down: self.max_down,
            max_up: self.max_up,
            max_peers: self.max_peers,
            max_uploads: self.upload_slots,
            ..self.connections.settings(env, event_detail)?
        })
    }
}

impl SessionSettings for Connections {
    fn settings(&self, env: &Env, event_detail: EventDetail) -> anyhow::Result<Settings> {
        let proxy = self.proxy(env)?;
        let any = [
            IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        ];
        let addresses = self.bind.map_or(any.to_vec(), |address| vec![address]);
        Ok(Settings {
            listen: addresses
                .iter()
                .map(|address| SocketAddr::new(*address, self.port))
                .collect(),
            outgoing: self.bind.iter().map(ToString::to_string).collect(),
            dht: !self.no_dht,
            dht_nodes: self.dht_nodes.clone(),
            web_seeds: WebSeeds::Unused,
            local_discovery: !self.no_discovery && proxy.is_none(),
            port_mapping: !self.no_discovery && proxy.is_none(),
            transport: match self.transport {
                TransportArg::Both => Transport::Both,
                TransportArg::Tcp => Transport::Tcp,
                TransportArg::Utp => Transport::Utp,
            },
            close_redundant: true,
            event_detail,
            encryption: match self.encryption {
                EncryptionArg::Allowed => Encryption::Allowed,
                EncryptionArg::Required => Encryption::Required,
                EncryptionArg::Off => Encryption::Off,
            },
            proxy: proxy.as_ref().map(session_proxy),
            ..Settings::default()
        })
    }
}

fn session_proxy(proxy: &ProxyUrl) -> Proxy {
    Proxy {
        kind: if proxy.is_http {
            ProxyKind::Http
        } else {
            ProxyKind::Socks5
        },
        host: proxy.address.host().to_owned(),
        port: proxy.address.port(),
        login: proxy.login.clone(),
    }
}

/// Returns the addresses of the peers that the user named.
pub(crate) fn peer_addresses(peers: &[PeerAddress]) -> anyhow::Result<Vec<SocketAddr>> {
    let mut all = Vec::new();
    for peer in peers {
        all.extend(addresses(peer).with_context(|| format!("--peer {peer}"))?);
    }
    Ok(all)
}

fn addresses(peer: &PeerAddress) -> io::Result<impl Iterator<Item = SocketAddr>> {
    (peer.host(), peer.port()).to_socket_addrs()
}
