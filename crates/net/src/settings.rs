//! The settings of the session from the options of the connections.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};

use anyhow::Context as _;
use hashlane_cli::options::network::{Connections, EncryptionArg, Network, TransportArg};
use hashlane_cli::{BindArg, Env, ProxyUrl};
use hashlane_metainfo::PeerAddress;
use hashlane_swarm::{
    Bind, Encryption, EventDetail, Network as SessionNetwork, Proxy, ProxyKind, Settings,
    Transport, WebSeeds,
};

use crate::testing;

/// Options that have settings of the session.
pub(crate) trait SessionSettings {
    /// Returns the settings of the session.
    fn settings(&self, env: &Env, event_detail: EventDetail) -> anyhow::Result<Settings>;
}

impl SessionSettings for Network {
    fn settings(&self, env: &Env, event_detail: EventDetail) -> anyhow::Result<Settings> {
        Ok(Settings {
            web_seeds: match self.web_seeds {
                Some(true) => WebSeeds::Used,
                Some(false) => WebSeeds::Unused,
                None => WebSeeds::default(),
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
        let network = self.network();
        // The system reports memberships of multicast groups to other networks than that of the interface.
        let is_local = !self.no_discovery && proxy.is_none() && network.bind.interface().is_none();
        Ok(Settings {
            network,
            dht: !self.no_dht,
            dht_nodes: self.dht_nodes.clone(),
            web_seeds: WebSeeds::Unused,
            local_discovery: is_local,
            port_mapping: is_local,
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
            min_reconnect_seconds: testing::min_reconnect_seconds()
                .unwrap_or(Settings::default().min_reconnect_seconds),
            ..Settings::default()
        })
    }
}

/// Options that have the local end of connections.
pub(crate) trait LocalEnd {
    fn network(&self) -> SessionNetwork;
}

impl LocalEnd for Connections {
    fn network(&self) -> SessionNetwork {
        SessionNetwork {
            bind: match &self.bind {
                None => Bind::Any,
                Some(BindArg::Address(address)) => Bind::Address(*address),
                Some(BindArg::Interface(name)) => Bind::Interface(name.clone()),
            },
            port: self.port,
        }
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
