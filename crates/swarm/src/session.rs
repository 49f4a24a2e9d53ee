//! A session of the protocol, safe to use: settings in, events out.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hashlane_metainfo::{Magnet, PeerAddress, Torrent};

use crate::ffi::{StorageHandle, ffi};
use crate::{Storage, StorageError};

/// How a session meets others.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Settings {
    /// Where peers are waited for; port 0 is any.
    pub listen: Vec<SocketAddr>,
    /// The addresses or network interfaces that connections go out from; none for whatever the system
    /// chooses.
    pub outgoing: Vec<String>,
    /// Whether to look for peers in the distributed hash table (BEP 5).
    pub dht: bool,
    /// Nodes by which the table is entered; none for libtorrent's own.
    pub dht_nodes: Vec<PeerAddress>,
    /// Whether to look for peers in the local network (BEP 14).
    pub local_discovery: bool,
    /// Whether to ask routers to let peers in (`UPnP`, NAT-PMP).
    pub port_mapping: bool,
    /// How peers are connected to.
    pub transport: Transport,
    /// The most bytes a second that are received; `None` for no limit.
    pub max_down: Option<u32>,
    /// The most bytes a second that are sent; `None` for no limit.
    pub max_up: Option<u32>,
    /// The most peers of all torrents together; `None` for as many as libtorrent takes.
    pub max_peers: Option<u16>,
    /// To how many peers is sent at a time; `None` for as many as libtorrent takes.
    pub max_uploads: Option<u16>,
    /// Whether peers are left that have nothing for us; if not, as suits downloads that end when they are
    /// done, one can have something a moment later, such as a super-seed its last piece.
    pub close_redundant: bool,
    /// Which events are told.
    pub telling: Telling,
    /// Whether connections are encrypted.
    pub encryption: Encryption,
    /// Through whom connections go.
    pub proxy: Option<Proxy>,
}

/// Which events are told. Those that are many cost time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Telling {
    /// Those without which nothing can be done.
    Little,
    /// [`Event::PieceFinished`], too.
    #[default]
    Pieces,
    /// [`Event::BlockSent`] and [`Event::Log`], too.
    All,
}

/// How peers are connected to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// Either way, as libtorrent chooses.
    #[default]
    Both,
    /// TCP only: as fast as the network.
    Tcp,
    /// uTP only (BEP 29): makes room for other traffic, and gets through more routers.
    Utp,
}

/// Whether connections to peers are encrypted ("message stream encryption").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encryption {
    /// As the peer likes it.
    #[default]
    Allowed,
    /// With RC4, or not at all.
    Required,
    /// Never.
    Off,
}

/// A proxy for all connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// What it speaks.
    pub kind: ProxyKind,
    /// A name or an address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// User name and password.
    pub login: Option<(String, String)>,
}

/// What a proxy speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyKind {
    /// SOCKS 5 (RFC 1928).
    Socks5,
    /// HTTP CONNECT.
    Http,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: vec![([0, 0, 0, 0], 6881).into(), ([0_u16; 8], 6881).into()],
            outgoing: Vec::new(),
            dht: true,
            dht_nodes: Vec::new(),
            local_discovery: true,
            port_mapping: true,
            transport: Transport::Both,
            max_down: None,
            max_up: None,
            max_peers: None,
            max_uploads: None,
            close_redundant: true,
            telling: Telling::Pieces,
            encryption: Encryption::Allowed,
            proxy: None,
        }
    }
}

/// A torrent of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TorrentId(u32);

/// A torrent as it is added.
#[derive(Debug)]
pub struct AddTorrent<'a> {
    /// The torrent, with its piece layers if it has version 2.
    pub torrent: &'a Torrent,
    /// Its files.
    pub storage: Arc<Storage>,
    /// Which pieces are there: what a verification has found.
    pub have: &'a [bool],
    /// Which files are wanted, in their order without padding; empty for all.
    pub wanted: &'a [bool],
    /// Peers that are known already.
    pub peers: &'a [SocketAddr],
    /// Whether nothing is to be downloaded.
    pub only_serve: bool,
    /// Whether pieces are asked for in their order.
    pub sequential: bool,
    /// Whether a piece is shown to others only when the one before has spread (BEP 16).
    pub super_seeding: bool,
    /// Sources beside those of the .torrent file: those of the magnet link that it came of.
    pub sources: &'a Sources,
}

/// Where peers and pieces can come from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// URLs of trackers.
    pub trackers: Vec<String>,
    /// URLs of web seeds (BEP 19).
    pub web_seeds: Vec<String>,
}

/// Something that happened.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// The info dictionary of a magnet link has come: its bytes are those that the info-hash is of.
    Metadata(TorrentId, Vec<u8>),
    /// A piece has come, was right, and is with the kernel.
    PieceFinished(TorrentId, u32),
    /// A piece has come and was wrong.
    PieceFailed(TorrentId, u32),
    /// All that is wanted is there.
    Finished(TorrentId),
    /// The torrent was stopped by an error.
    Failed(TorrentId, String),
    /// A file could not be read or written.
    FileFailed {
        /// The torrent.
        torrent: TorrentId,
        /// Which file, and why; `None` if nobody knows.
        failure: Option<StorageError>,
        /// What the library says.
        text: String,
    },
    /// Peers are waited for there.
    Listening(SocketAddr),
    /// They cannot be, at this port.
    ListenFailed {
        /// The port.
        port: u16,
        /// Whether somebody else has it.
        is_taken: bool,
        /// What the system says.
        text: String,
    },
    /// A tracker knew so many peers.
    TrackerReplied(TorrentId, String, u32),
    /// A tracker did not answer, or did so with an error.
    TrackerFailed(TorrentId, String),
    /// A web seed did not answer, or not with what was asked for.
    WebSeedFailed(TorrentId, String),
    /// A peer is there.
    PeerConnected(TorrentId, String),
    /// A peer is gone, for this reason.
    PeerGone(TorrentId, String),
    /// A peer sent what was wrong, and is not talked to any more.
    PeerBanned(TorrentId, String),
    /// A block of this piece was sent to a peer.
    BlockSent(TorrentId, u32),
    /// A line of libtorrent's own log.
    Log(String),
    /// So much happened that not all of it is told: [`Session::have`] and [`Session::metadata`] tell where
    /// torrents are.
    Dropped,
    /// The torrent is gone from the session.
    Removed(TorrentId),
}

impl Event {
    /// The torrent that it is of, if it is of one.
    pub fn torrent(&self) -> Option<TorrentId> {
        match self {
            Self::Metadata(id, _)
            | Self::PieceFinished(id, _)
            | Self::PieceFailed(id, _)
            | Self::Finished(id)
            | Self::Failed(id, _)
            | Self::FileFailed { torrent: id, .. }
            | Self::TrackerReplied(id, _, _)
            | Self::TrackerFailed(id, _)
            | Self::WebSeedFailed(id, _)
            | Self::PeerConnected(id, _)
            | Self::PeerGone(id, _)
            | Self::PeerBanned(id, _)
            | Self::BlockSent(id, _)
            | Self::Removed(id) => Some(*id),
            Self::Listening(_) | Self::ListenFailed { .. } | Self::Log(_) | Self::Dropped => None,
        }
    }
}

/// What a torrent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Looks for its metadata.
    Metadata,
    /// Downloads.
    Downloading,
    /// Has all that is wanted.
    Finished,
    /// Has everything.
    Seeding,
    /// Stands still: it is paused, or there was an error.
    Stopped,
}

/// How far a torrent is.
#[derive(Clone, Debug)]
pub struct Status {
    /// What it does.
    pub state: State,
    /// Bytes that are wanted.
    pub wanted: u64,
    /// How many of them are there.
    pub wanted_done: u64,
    /// Bytes of payload received in this session.
    pub downloaded: u64,
    /// Bytes of payload sent in this session.
    pub uploaded: u64,
    /// Received bytes that were wrong, or there already.
    pub wasted: u64,
    /// Peers that are connected.
    pub peers: u32,
    /// Those of them that have everything.
    pub seeds: u32,
}

/// A peer that is connected.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Peer {
    /// Its address.
    pub address: SocketAddr,
    /// What it calls itself: anything.
    pub client: String,
    /// Bytes of payload received of it a second.
    pub down_rate: u64,
    /// Bytes of payload sent to it a second.
    pub up_rate: u64,
    /// Bytes of payload received of it.
    pub downloaded: u64,
    /// Bytes of payload sent to it.
    pub uploaded: u64,
    /// How much of the torrent it has, from 0 to 1.
    pub progress: f64,
    /// Whether we have connected to it, so that this address is where it waits for others.
    pub is_outgoing: bool,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
    /// Whether the connection is one of uTP.
    pub is_utp: bool,
    /// Whether it is a web server (BEP 19).
    pub is_web_seed: bool,
}

/// Something that cannot be done; in the library's words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SessionError(String);

impl From<cxx::Exception> for SessionError {
    fn from(error: cxx::Exception) -> Self {
        Self(error.what().to_owned())
    }
}

/// Torrents that are downloaded and served side by side. Dropping it tells the trackers and waits for
/// that, up to a second, and until all that was received is written.
pub struct Session {
    inner: cxx::UniquePtr<ffi::Session>,
    storages: Mutex<HashMap<TorrentId, Arc<Storage>>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Session {
    /// Starts a session. That ports are taken is told as an event.
    ///
    /// # Errors
    /// What the library says.
    pub fn new(settings: &Settings) -> Result<Self, SessionError> {
        let listen: Vec<String> = settings.listen.iter().map(ToString::to_string).collect();
        let proxy = settings.proxy.as_ref();
        let login = proxy.and_then(|proxy| proxy.login.clone());
        let (proxy_user, proxy_password) = login.unwrap_or_default();
        let has_login = !proxy_user.is_empty();
        let inner = ffi::open_session(&ffi::SessionSettings {
            listen_interfaces: listen.join(","),
            outgoing_interfaces: settings.outgoing.join(","),
            user_agent: concat!("hashlane/", env!("CARGO_PKG_VERSION")).to_owned(),
            dht: settings.dht,
            dht_nodes: settings
                .dht_nodes
                .iter()
                .map(|node| ffi::DhtNode {
                    host: node.host().to_owned(),
                    port: node.port(),
                })
                .collect(),
            local_discovery: settings.local_discovery,
            port_mapping: settings.port_mapping,
            tcp: settings.transport != Transport::Utp,
            utp: settings.transport != Transport::Tcp,
            max_down: limit(settings.max_down),
            max_up: limit(settings.max_up),
            max_peers: settings.max_peers.map_or(0, i32::from),
            max_uploads: settings.max_uploads.map_or(0, i32::from),
            close_redundant: settings.close_redundant,
            pieces: settings.telling >= Telling::Pieces,
            log: settings.telling >= Telling::All,
            encryption: match settings.encryption {
                Encryption::Allowed => 0,
                Encryption::Required => 1,
                Encryption::Off => 2,
            },
            // libtorrent's numbers of these, with and without a login.
            proxy_type: match (proxy.map(|proxy| proxy.kind), has_login) {
                (None, _) => 0,
                (Some(ProxyKind::Socks5), false) => 2,
                (Some(ProxyKind::Socks5), true) => 3,
                (Some(ProxyKind::Http), false) => 4,
                (Some(ProxyKind::Http), true) => 5,
            },
            proxy_host: proxy.map(|proxy| proxy.host.clone()).unwrap_or_default(),
            proxy_port: proxy.map_or(0, |proxy| proxy.port),
            proxy_user,
            proxy_password,
        })?;
        Ok(Self {
            inner,
            storages: Mutex::new(HashMap::new()),
        })
    }

    /// Adds a torrent, and starts it. Nothing of it is checked again.
    ///
    /// # Errors
    /// If it is in the session already, or the library reads it in another way than
    /// `hashlane_metainfo` does.
    pub fn add(&self, torrent: &AddTorrent<'_>) -> Result<TorrentId, SessionError> {
        let params = ffi::TorrentParams {
            metainfo: torrent.torrent.bytes().to_vec(),
            have: torrent.have.iter().copied().map(u8::from).collect(),
            wanted: torrent.wanted.iter().copied().map(u8::from).collect(),
            peers: torrent.peers.iter().map(ToString::to_string).collect(),
            trackers: torrent.sources.trackers.clone(),
            web_seeds: torrent.sources.web_seeds.clone(),
            only_serve: torrent.only_serve,
            sequential: torrent.sequential,
            super_seeding: torrent.super_seeding,
            ..ffi::TorrentParams::default()
        };
        let handle = Box::new(StorageHandle(Arc::clone(&torrent.storage)));
        let id = TorrentId(self.inner.add(&params, handle)?);
        self.storages().insert(id, Arc::clone(&torrent.storage));
        Ok(id)
    }

    /// Adds a magnet link, to fetch its metadata ([`Event::Metadata`], BEP 9) and nothing else. When it is
    /// there, the link is to be removed and the torrent to be added.
    ///
    /// # Errors
    /// If it is in the session already.
    pub fn add_magnet(
        &self,
        magnet: &Magnet,
        peers: &[SocketAddr],
    ) -> Result<TorrentId, SessionError> {
        let named = magnet.peers.iter().filter_map(PeerAddress::socket_addr);
        let peers = peers.iter().copied().chain(named);
        let params = ffi::TorrentParams {
            magnet: magnet.to_string(),
            peers: peers.map(|peer| peer.to_string()).collect(),
            ..ffi::TorrentParams::default()
        };
        Ok(TorrentId(self.inner.add_magnet(&params)?))
    }

    /// Takes a torrent away; [`Event::Removed`] tells when it is gone.
    ///
    /// # Errors
    /// If it is not in the session.
    pub fn remove(&self, torrent: TorrentId) -> Result<(), SessionError> {
        self.storages().remove(&torrent);
        Ok(self.inner.remove(torrent.0)?)
    }

    /// Lets a torrent stand still: it is told to trackers to be gone, and its peers are left.
    ///
    /// # Errors
    /// If it is not in the session.
    pub fn pause(&self, torrent: TorrentId) -> Result<(), SessionError> {
        Ok(self.inner.pause(torrent.0)?)
    }

    /// Goes on with a torrent that was paused.
    ///
    /// # Errors
    /// If it is not in the session.
    pub fn resume(&self, torrent: TorrentId) -> Result<(), SessionError> {
        Ok(self.inner.resume(torrent.0)?)
    }

    /// Limits how many bytes are received and sent a second, from now on.
    ///
    /// # Errors
    /// What the library says.
    pub fn limit(&self, max_down: Option<u32>, max_up: Option<u32>) -> Result<(), SessionError> {
        Ok(self.inner.limit(limit(max_down), limit(max_up))?)
    }

    /// The peers of a torrent.
    ///
    /// # Errors
    /// If the torrent is not in the session.
    pub fn peers(&self, torrent: TorrentId) -> Result<Vec<Peer>, SessionError> {
        let peers = self.inner.peers(torrent.0)?;
        let peers = peers.into_iter().filter_map(|from| {
            Some(Peer {
                address: from.address.parse().ok()?,
                client: from.client,
                down_rate: from.down_rate,
                up_rate: from.up_rate,
                downloaded: from.downloaded,
                uploaded: from.uploaded,
                progress: f64::from(from.progress) / 1e6,
                is_outgoing: from.is_outgoing,
                is_encrypted: from.is_encrypted,
                is_utp: from.is_utp,
                is_web_seed: from.is_web_seed,
            })
        });
        Ok(peers.collect())
    }

    /// How far all torrents are.
    ///
    /// # Errors
    /// What the library says.
    pub fn statuses(&self) -> Result<HashMap<TorrentId, Status>, SessionError> {
        let statuses = self.inner.statuses()?;
        let statuses = statuses.into_iter().map(|from| {
            let status = Status {
                state: match from.state {
                    0 => State::Metadata,
                    2 => State::Finished,
                    3 => State::Seeding,
                    4 => State::Stopped,
                    _ => State::Downloading,
                },
                wanted: from.wanted,
                wanted_done: from.wanted_done,
                downloaded: from.downloaded,
                uploaded: from.uploaded,
                wasted: from.wasted,
                peers: from.peers,
                seeds: from.seeds,
            };
            (TorrentId(from.torrent), status)
        });
        Ok(statuses.collect())
    }

    /// Which pieces of a torrent are there; none while its metadata is looked for.
    ///
    /// # Errors
    /// If the torrent is not in the session.
    pub fn have(&self, torrent: TorrentId) -> Result<Vec<bool>, SessionError> {
        let have = self.inner.have(torrent.0)?;
        Ok(have.iter().map(|have| *have != 0).collect())
    }

    /// What happened since the last call, in order. Waits for something to happen, but not for longer
    /// than `timeout`.
    ///
    /// # Errors
    /// What the library says.
    pub fn wait(&self, timeout: Duration) -> Result<Vec<Event>, SessionError> {
        let milliseconds = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
        let events = self.inner.wait(milliseconds)?;
        let events = events.into_iter().filter_map(|event| self.event(event));
        Ok(events.collect())
    }

    /// The info dictionary of a magnet link, if it has come; what [`Event::Metadata`] told.
    ///
    /// # Errors
    /// If it is not in the session.
    pub fn metadata(&self, torrent: TorrentId) -> Result<Option<Vec<u8>>, SessionError> {
        let info = self.inner.metadata(torrent.0)?;
        Ok((!info.is_empty()).then_some(info))
    }

    fn event(&self, event: ffi::SessionEvent) -> Option<Event> {
        let torrent = TorrentId(event.torrent);
        let (number, text) = (event.number, event.text);
        Some(match event.kind {
            ffi::EventKind::Metadata => Event::Metadata(torrent, event.bytes),
            ffi::EventKind::PieceFinished => Event::PieceFinished(torrent, number),
            ffi::EventKind::PieceFailed => Event::PieceFailed(torrent, number),
            ffi::EventKind::Finished => Event::Finished(torrent),
            ffi::EventKind::Failed => Event::Failed(torrent, text),
            ffi::EventKind::FileFailed => Event::FileFailed {
                torrent,
                failure: self
                    .storages()
                    .get(&torrent)
                    .and_then(|storage| storage.take_failure()),
                text,
            },
            ffi::EventKind::Listening => {
                let address = text.parse().ok()?;
                Event::Listening(SocketAddr::new(address, number as u16))
            }
            ffi::EventKind::ListenFailed => Event::ListenFailed {
                port: number as u16,
                is_taken: event.error == libc::EADDRINUSE,
                text,
            },
            ffi::EventKind::TrackerReplied => Event::TrackerReplied(torrent, text, number),
            ffi::EventKind::TrackerFailed => Event::TrackerFailed(torrent, text),
            ffi::EventKind::WebSeedFailed => Event::WebSeedFailed(torrent, text),
            ffi::EventKind::PeerConnected => Event::PeerConnected(torrent, text),
            ffi::EventKind::PeerGone => Event::PeerGone(torrent, text),
            ffi::EventKind::Banned => Event::PeerBanned(torrent, text),
            ffi::EventKind::BlockSent => Event::BlockSent(torrent, number),
            ffi::EventKind::Log => Event::Log(text),
            ffi::EventKind::Dropped => Event::Dropped,
            ffi::EventKind::Removed => Event::Removed(torrent),
            _ => return None,
        })
    }

    fn storages(&self) -> std::sync::MutexGuard<'_, HashMap<TorrentId, Arc<Storage>>> {
        self.storages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As libtorrent has it: 0 is no limit.
fn limit(most: Option<u32>) -> i32 {
    most.map_or(0, |most| i32::try_from(most).unwrap_or(i32::MAX))
}
