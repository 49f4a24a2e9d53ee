//! The settings of a client from the options of the command line.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};

use anyhow::Context as _;
use hashlane_client::Config;
use hashlane_metainfo::PeerAddress;
use hashlane_swarm::{Encryption, EventDetail, Proxy, ProxyKind, Settings, Transport};

use crate::Env;
use crate::swarm_args::{Common, EncryptionArg, LogLevel, Network, TransportArg};
use crate::torrent_file::MAX_LEN;

impl Common {
    /// Returns the settings of the client.
    pub(super) fn config(&self, env: &Env) -> anyhow::Result<Config> {
        Ok(Config {
            session: self.settings(),
            bind: self.network.bind,
            peers: self.network.peer_addresses()?,
            http: self.http,
            hashing: self.hashing.options()?,
            cancel: env.cancel.clone(),
            max_metainfo_len: MAX_LEN,
        })
    }

    fn settings(&self) -> Settings {
        let any = [
            IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        ];
        let network = &self.network;
        let addresses = network.bind.map_or(any.to_vec(), |address| vec![address]);
        Settings {
            listen: addresses
                .iter()
                .map(|address| SocketAddr::new(*address, network.port))
                .collect(),
            outgoing: network.bind.iter().map(ToString::to_string).collect(),
            dht: !network.no_dht,
            dht_nodes: network.dht_nodes.clone(),
            local_discovery: !network.no_discovery && network.proxy.is_none(),
            port_mapping: !network.no_discovery && network.proxy.is_none(),
            transport: match network.transport {
                TransportArg::Both => Transport::Both,
                TransportArg::Tcp => Transport::Tcp,
                TransportArg::Utp => Transport::Utp,
            },
            max_down: network.max_down,
            max_up: network.max_up,
            max_peers: network.max_peers,
            max_uploads: network.upload_slots,
            close_redundant: true,
            event_detail: match self.log.as_ref().map(|_| self.log_level) {
                Some(LogLevel::Trace) => EventDetail::All,
                Some(LogLevel::Debug) => EventDetail::Pieces,
                _ if self.json => EventDetail::Pieces,
                _ => EventDetail::Essential,
            },
            encryption: match network.encryption {
                EncryptionArg::Allowed => Encryption::Allowed,
                EncryptionArg::Required => Encryption::Required,
                EncryptionArg::Off => Encryption::Off,
            },
            proxy: network.proxy.as_ref().map(|proxy| Proxy {
                kind: if proxy.is_http {
                    ProxyKind::Http
                } else {
                    ProxyKind::Socks5
                },
                host: proxy.address.host().to_owned(),
                port: proxy.address.port(),
                login: proxy.login.clone(),
            }),
        }
    }
}

impl Network {
    /// Returns the addresses of the peers that the user named.
    fn peer_addresses(&self) -> anyhow::Result<Vec<SocketAddr>> {
        let mut all = Vec::new();
        for peer in &self.peers {
            all.extend(addresses(peer).with_context(|| format!("--peer {peer}"))?);
        }
        Ok(all)
    }
}

fn addresses(peer: &PeerAddress) -> io::Result<impl Iterator<Item = SocketAddr>> {
    (peer.host(), peer.port()).to_socket_addrs()
}
