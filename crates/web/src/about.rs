//! Answers about the client itself: settings, statistics and free space.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::{RawQuery, State as Shared};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use hashlane_api::{GroupChange, Refusal, Reloaded, SessionPatch, present};
use hashlane_client::{Link, Space};
use hashlane_swarm::{Bind, Encryption, Network, ProxyKind, Transport};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::api::Query;
use super::problem::refused;
use super::service::Service;
use super::state::State;

/// The settings in force.
#[derive(Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Config")
)]
pub(super) struct ConfigView {
    /// The version of the program.
    version: &'static str,
    /// Download limit in bytes per second; `None` for no limit.
    max_down: Option<u32>,
    /// Upload limit in bytes per second; `None` for no limit.
    max_up: Option<u32>,
    /// Maximum number of peers; `None` for that of libtorrent.
    max_peers: Option<u16>,
    /// Maximum number of peers that content is sent to; `None` for that of libtorrent.
    upload_slots: Option<u16>,
    /// The addresses of incoming peers.
    listen: Vec<String>,
    /// The port of incoming peers; 0 if the system chose one.
    port: u16,
    /// The address or the network interface of all connections; `None` for all addresses.
    bind: Option<String>,
    /// Whether peers are searched in the DHT (BEP 5).
    dht: bool,
    /// Whether peers are searched in the local network (BEP 14).
    local_discovery: bool,
    /// Whether routers are asked to forward the port.
    port_mapping: bool,
    /// The protocols of connections to peers.
    transport: TransportView,
    /// Whether connections to peers are encrypted.
    encryption: EncryptionView,
    /// The proxy, with its user name and password masked.
    proxy: Option<String>,
    /// Folders in which requests may place content.
    folders: Vec<PathBuf>,
    /// Maximum length of a .torrent file.
    max_torrent_file_bytes: u64,
}

/// Protocols of connections.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
enum TransportView {
    Both,
    Tcp,
    Utp,
}

/// Whether connections are encrypted.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
enum EncryptionView {
    Allowed,
    Required,
    Off,
}

pub(super) async fn config(Shared(state): Shared<State>) -> Response {
    let view = state.blocking(|state| {
        let snapshot = state.service.snapshot();
        let settings = &state.config.session;
        ConfigView {
            version: env!("CARGO_PKG_VERSION"),
            max_down: snapshot.max_down,
            max_up: snapshot.max_up,
            max_peers: settings.max_peers,
            upload_slots: settings.max_uploads,
            listen: snapshot.network.listen_addresses(),
            port: snapshot.network.port,
            bind: match &snapshot.network.bind {
                Bind::Any => None,
                bind => Some(bind.to_string()),
            },
            dht: settings.dht,
            local_discovery: settings.local_discovery,
            port_mapping: settings.port_mapping,
            transport: match settings.transport {
                Transport::Both => TransportView::Both,
                Transport::Tcp => TransportView::Tcp,
                Transport::Utp => TransportView::Utp,
            },
            encryption: match settings.encryption {
                Encryption::Allowed => EncryptionView::Allowed,
                Encryption::Required => EncryptionView::Required,
                Encryption::Off => EncryptionView::Off,
            },
            proxy: settings.proxy.as_ref().map(|proxy| {
                let scheme = match proxy.kind {
                    ProxyKind::Http => "http",
                    ProxyKind::Socks5 => "socks5",
                };
                let login = if proxy.login.is_some() { "***@" } else { "" };
                format!("{scheme}://{login}{}:{}", proxy.host, proxy.port)
            }),
            folders: state.folders.to_vec(),
            max_torrent_file_bytes: state.config.max_metainfo_len,
        }
    });
    Json(view.await).into_response()
}

/// The local end of all connections. An absent field changes nothing.
#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::option_option, reason = "absent and null differ")]
pub(super) struct NetworkRequest {
    /// The port of incoming peers; 0 lets the system choose.
    port: Option<u16>,
    /// An address of this machine, or a network interface that is up; `Some(None)` for all addresses.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    #[serde(deserialize_with = "present")]
    bind: Option<Option<String>>,
}

impl NetworkRequest {
    fn apply(self, service: &dyn Service) -> Result<(), Refusal> {
        let before = service.snapshot().network.clone();
        let network = Network {
            port: self.port.unwrap_or(before.port),
            bind: match self.bind {
                Some(bind) => bind.as_deref().map_or(Ok(Bind::Any), bind_of)?,
                None => before.bind.clone(),
            },
        };
        if network != before {
            service.set_network(network)?;
        }
        Ok(())
    }
}

/// Settings that can change while the client runs: those of the network, and those of all torrents together.
#[derive(Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(!try_from, deny_unknown_fields, rename = "ConfigChange")
)]
#[serde(try_from = "Map<String, Value>")]
pub(super) struct ConfigRequest {
    #[cfg_attr(feature = "schema", schemars(flatten))]
    network: NetworkRequest,
    #[cfg_attr(feature = "schema", schemars(flatten))]
    session: SessionPatch,
}

impl TryFrom<Map<String, Value>> for ConfigRequest {
    type Error = serde_json::Error;

    fn try_from(fields: Map<String, Value>) -> Result<Self, Self::Error> {
        let is_of_network = |(name, _): &(String, Value)| ["port", "bind"].contains(&name.as_str());
        let (network, session): (Map<_, _>, Map<_, _>) =
            fields.into_iter().partition(is_of_network);
        Ok(Self {
            network: serde_json::from_value(network.into())?,
            session: serde_json::from_value(session.into())?,
        })
    }
}

impl ConfigRequest {
    /// Changes the settings. The network comes first, because only that can be refused.
    fn apply(self, service: &dyn Service) -> Result<(), Refusal> {
        self.session.check()?;
        self.network.apply(service)?;
        if self.session == SessionPatch::default() {
            return Ok(());
        }
        service.change_session(&self.session)
    }
}

/// Returns an address or a present network interface. An absent one may be a mistyped name, after which nothing could be
/// reached.
fn bind_of(text: &str) -> Result<Bind, Refusal> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(Network::from(SocketAddr::new(address, 0)).bind);
    }
    let problem = match Link::find(text) {
        Ok(Ok(_)) => return Ok(Bind::Interface(text.to_owned())),
        Ok(Err(problem)) => problem,
        Err(error) => format!("{text}: {error}"),
    };
    Err(Refusal::Invalid(format!("bind: {problem}")))
}

/// Changes what can change while the client runs.
pub(super) async fn change_config(
    Shared(state): Shared<State>,
    Json(request): Json<ConfigRequest>,
) -> Response {
    let changed = state.blocking(move |state| request.apply(&*state.service));
    match changed.await {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(refusal) => refused(&refusal),
    }
}

/// Returns the state of the program.
pub(super) async fn status(Shared(state): Shared<State>) -> Response {
    Json(state.blocking(|state| state.service.status()).await).into_response()
}

/// Returns the limits of all torrents together.
pub(super) async fn limits(Shared(state): Shared<State>) -> Response {
    Json(state.blocking(|state| state.service.limits()).await).into_response()
}

/// Returns the categories and labels.
pub(super) async fn groups(Shared(state): Shared<State>) -> Response {
    let groups = state.blocking(|state| state.service.groups()).await;
    Json(groups).into_response()
}

/// Changes the categories or labels.
pub(super) async fn change_groups(
    Shared(state): Shared<State>,
    Json(change): Json<GroupChange>,
) -> Response {
    let changed = state.blocking(move |state| state.service.change_groups(&change));
    match changed.await {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(refusal) => refused(&refusal),
    }
}

/// Reads the configuration again.
pub(super) async fn reload(Shared(state): Shared<State>) -> Response {
    match state.blocking(|state| state.service.reload()).await {
        Ok(restart) => Json(Reloaded { restart }).into_response(),
        Err(refusal) => refused(&refusal),
    }
}

/// Returns what the rules of the configuration set, or with the query `dry_run=true`, what those in its files would set.
pub(super) async fn rules(Shared(state): Shared<State>, RawQuery(query): RawQuery) -> Response {
    let query = Query::read(query.as_deref(), &["dry_run"]);
    let Ok(dry_run) = query.and_then(|query| query.value::<bool>("dry_run")) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let dry_run = dry_run.unwrap_or_default();
    match state
        .blocking(move |state| state.service.rules(dry_run))
        .await
    {
        Ok(rules) => Json(rules).into_response(),
        Err(refusal) => refused(&refusal),
    }
}

#[derive(Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Statistics")
)]
pub(super) struct StatisticsView {
    /// Bytes of content received since the start.
    downloaded_bytes: u64,
    /// Bytes of content sent since the start.
    uploaded_bytes: u64,
    /// Seconds since the start.
    seconds: u64,
    /// Bytes of content received, in a daemon across restarts.
    all_downloaded_bytes: u64,
    /// Bytes of content sent, in a daemon across restarts.
    all_uploaded_bytes: u64,
    /// Addresses with ports on which peers are accepted now.
    listening: Vec<SocketAddr>,
    /// Whether a peer has connected since the start from an address that is not of a local network.
    incoming_connections: bool,
    /// Number of known nodes of the DHT, at most 5 seconds old; `None` if the DHT is off.
    dht_nodes: Option<u32>,
}

pub(super) async fn statistics(Shared(state): Shared<State>) -> Response {
    let view = state.blocking(|state| {
        let statistics = state.service.statistics();
        let reach = Arc::clone(&state.service.snapshot().reach);
        let counters = reach.counters;
        StatisticsView {
            downloaded_bytes: statistics.downloaded,
            uploaded_bytes: statistics.uploaded,
            seconds: statistics.seconds,
            all_downloaded_bytes: statistics.all_downloaded,
            all_uploaded_bytes: statistics.all_uploaded,
            listening: reach.listening.clone(),
            incoming_connections: counters.has_incoming,
            dht_nodes: state.config.session.dht.then_some(counters.dht_nodes),
        }
    });
    Json(view.await).into_response()
}

/// Returns the space of the file system of a folder in which requests may place content.
pub(super) async fn space(Shared(state): Shared<State>, RawQuery(query): RawQuery) -> Response {
    let query = Query::read(query.as_deref(), &["folder"]);
    let Ok(Some(folder)) = query.and_then(|query| query.value::<PathBuf>("folder")) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let space = state.blocking(move |state| {
        state.service.check_folder(&folder)?;
        Space::of(&folder).map_err(|error| Refusal::Conflict(error.to_string()))
    });
    match space.await {
        Ok(space) => Json(space).into_response(),
        Err(refusal) => refused(&refusal),
    }
}
