//! Answers about the client itself: settings, statistics and free space.

use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::{RawQuery, State as Shared};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use hashlane_swarm::{Encryption, ProxyKind, Transport};
use serde::Serialize;

use super::api::Query;
use super::service::Refusal;
use super::state::State;
use crate::limits::Limits;

/// The settings in force.
#[derive(Serialize)]
struct ConfigView {
    version: &'static str,
    max_down: Option<u32>,
    max_up: Option<u32>,
    max_peers: Option<u16>,
    upload_slots: Option<u16>,
    /// Addresses of incoming peers.
    listen: Vec<String>,
    dht: bool,
    local_discovery: bool,
    port_mapping: bool,
    transport: &'static str,
    encryption: &'static str,
    /// The proxy, without its user name and password.
    proxy: Option<String>,
    /// Folders in which requests may place content.
    folders: Vec<PathBuf>,
    max_torrent_file_bytes: u64,
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
            dht: settings.dht,
            local_discovery: settings.local_discovery,
            port_mapping: settings.port_mapping,
            transport: match settings.transport {
                Transport::Both => "both",
                Transport::Tcp => "tcp",
                Transport::Utp => "utp",
            },
            encryption: match settings.encryption {
                Encryption::Allowed => "allowed",
                Encryption::Required => "required",
                Encryption::Off => "off",
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

/// Changes what can change while the client runs.
pub(super) async fn change_config(
    Shared(state): Shared<State>,
    Json(limits): Json<Limits>,
) -> Response {
    let changed = state.blocking(move |state| state.service.limit(limits));
    match changed.await {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(refusal) => refusal.response(),
    }
}

/// The result of a reload.
#[derive(Serialize)]
struct ReloadView {
    /// The options that have changed and need a restart.
    restart: Vec<String>,
}

/// Reads the configuration again.
pub(super) async fn reload(Shared(state): Shared<State>) -> Response {
    match state.blocking(|state| state.service.reload()).await {
        Ok(restart) => Json(ReloadView { restart }).into_response(),
        Err(refusal) => refusal.response(),
    }
}

#[derive(Serialize)]
struct StatisticsView {
    downloaded_bytes: u64,
    uploaded_bytes: u64,
    /// Seconds since the start.
    seconds: u64,
    all_downloaded_bytes: u64,
    all_uploaded_bytes: u64,
}

pub(super) async fn statistics(Shared(state): Shared<State>) -> Response {
    let statistics = state.blocking(|state| state.service.statistics()).await;
    Json(StatisticsView {
        downloaded_bytes: statistics.downloaded,
        uploaded_bytes: statistics.uploaded,
        seconds: statistics.seconds,
        all_downloaded_bytes: statistics.all_downloaded,
        all_uploaded_bytes: statistics.all_uploaded,
    })
    .into_response()
}

#[derive(Serialize)]
struct SpaceView {
    free_bytes: u64,
    total_bytes: u64,
}

/// Returns the space of the file system of a folder in which requests may place content.
pub(super) async fn space(Shared(state): Shared<State>, RawQuery(query): RawQuery) -> Response {
    let query = Query::read(query.as_deref(), &["folder"]);
    let Ok(Some(folder)) = query.and_then(|query| query.value::<PathBuf>("folder")) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let space = state.blocking(move |state| space_of(&state.permitted(folder)?));
    match space.await {
        Ok(space) => Json(space).into_response(),
        Err(refusal) => refusal.response(),
    }
}

/// Returns the space of a folder. One that does not exist yet has the space of its parent.
fn space_of(folder: &Path) -> Result<SpaceView, Refusal> {
    let mut existing = folder.ancestors().filter(|folder| folder.exists());
    let space = rustix::fs::statvfs(existing.next().unwrap_or(folder));
    let space = space.map_err(|error| Refusal::Conflict(error.to_string()))?;
    Ok(SpaceView {
        free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
        total_bytes: space.f_blocks.saturating_mul(space.f_frsize),
    })
}
