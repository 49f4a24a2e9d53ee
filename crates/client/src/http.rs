//! The HTTP server of a client: a page, an API and metrics.
//!
//! Snapshots flow from the client's loop to the browsers. Requests for one torrent use its handle, as a program would.
//!
//! | file | content |
//! |---|---|
//! | `access` | access control of requests |
//! | `add` | torrents that requests add |
//! | `api` | requests and event streams |
//! | `change` | changes of one torrent |
//! | `detail`, `files`, `trackers` | answers about one torrent |
//! | `metrics` | metrics of all torrents |
//! | `state` | state shared by all requests |
//! | `page` | the page: HTML, style and scripts |

mod access;
mod add;
mod api;
mod change;
mod detail;
mod files;
mod metrics;
mod state;
mod trackers;

use std::io;
use std::net::TcpListener;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header::CONTENT_TYPE;
use axum::middleware;
use axum::response::IntoResponse;
use axum::routing::{delete, get, post, put};
use tokio::sync::watch;

use crate::config::{Config, Http};
use crate::control::Control;
use crate::error::Error;
use crate::event::Event;
use crate::subscription::Events;
use access::Access;
use state::State;

/// Length limit of a request's body in bytes.
const MAX_BODY_LEN: usize = 4 << 10;

/// Length limit in bytes of a request's body that lists files.
const MAX_FILE_LIST_LEN: usize = 64 << 10;

/// Length limit in bytes of a request's body that has a magnet link.
const MAX_MAGNET_LEN: usize = 64 << 10;

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The files of the page: path, type and text.
const PAGE: [(&str, &str, &str); 9] = [
    ("/", HTML, include_str!("http/page/page.html")),
    ("/page.css", STYLE, include_str!("http/page/page.css")),
    ("/page.js", SCRIPT, include_str!("http/page/page.js")),
    ("/text.js", SCRIPT, include_str!("http/page/text.js")),
    ("/rows.js", SCRIPT, include_str!("http/page/rows.js")),
    (
        "/torrents.js",
        SCRIPT,
        include_str!("http/page/torrents.js"),
    ),
    (
        "/overview.js",
        SCRIPT,
        include_str!("http/page/overview.js"),
    ),
    ("/add.js", SCRIPT, include_str!("http/page/add.js")),
    ("/lists.js", SCRIPT, include_str!("http/page/lists.js")),
];

/// The server of the page. A separate thread runs it until the value is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    access: Arc<Access>,
    serving: hashlane_server::Server,
}

/// Serves the page if there is one, and reports its address.
pub(crate) fn serve(
    config: &Config,
    control: &Control,
    events: &Events,
) -> Result<Option<Server>, Error> {
    let Some(http) = &config.http else {
        return Ok(None);
    };
    let server = Server::start(http, control.clone(), config.max_metainfo_len);
    let server = server.map_err(|error| Error::Http {
        address: http.address,
        error,
    })?;
    let url = format!("http://{}/", server.serving.address());
    tracing::info!(url, "serving the page");
    events.send(Event::Page {
        url,
        token: server.access.token().to_owned(),
    });
    Ok(Some(server))
}

impl Server {
    /// Serves the page. Torrents that are added have at most `max_metainfo_len` bytes.
    fn start(http: &Http, control: Control, max_metainfo_len: u64) -> io::Result<Self> {
        let listener = TcpListener::bind(http.address)?;
        let access = Arc::new(Access::new(http.origins.clone())?);
        let (end, ended) = watch::channel(());
        let state = State::new(control, &http.folders, ended);
        let router = router(state.clone(), Arc::clone(&access), max_metainfo_len);
        let ending = async move {
            end.send_replace(());
            state.streams_end().await;
        };
        let serving = hashlane_server::Server::start("http", listener, router, ending)?;
        Ok(Self { access, serving })
    }
}

fn router(state: State, access: Arc<Access>, max_metainfo_len: u64) -> Router {
    let max_metainfo_len = usize::try_from(max_metainfo_len).unwrap_or(usize::MAX);
    let mut router = Router::new();
    for (path, kind, text) in PAGE {
        let file = move || async move { ([(CONTENT_TYPE, kind)], text).into_response() };
        router = router.route(path, get(file));
    }
    router
        .route("/metrics", get(metrics::metrics))
        .route("/api/v1/torrents", get(api::torrents))
        .route(
            "/api/v1/torrents",
            post(add::torrent).layer(DefaultBodyLimit::max(max_metainfo_len)),
        )
        .route(
            "/api/v1/magnets",
            post(add::magnet).layer(DefaultBodyLimit::max(MAX_MAGNET_LEN)),
        )
        .route("/api/v1/events", get(api::events))
        .route("/api/v1/torrents/{id}", get(api::torrent))
        .route("/api/v1/torrents/{id}", delete(change::remove))
        .route("/api/v1/torrents/{id}/events", get(api::torrent_events))
        .route("/api/v1/torrents/{id}/trackers", get(api::trackers))
        .route("/api/v1/torrents/{id}/trackers", post(change::add_tracker))
        .route("/api/v1/torrents/{id}/peers", post(change::add_peer))
        .route("/api/v1/torrents/{id}/files", get(api::files))
        .route(
            "/api/v1/torrents/{id}/files",
            put(change::prioritize).layer(DefaultBodyLimit::max(MAX_FILE_LIST_LEN)),
        )
        .route("/api/v1/torrents/{id}/pause", post(change::pause))
        .route("/api/v1/torrents/{id}/resume", post(change::resume))
        .route("/api/v1/torrents/{id}/end", post(change::end))
        .route("/api/v1/torrents/{id}/verify", post(change::verify))
        .route("/api/v1/torrents/{id}/reannounce", post(change::reannounce))
        .route("/api/v1/torrents/{id}/relocate", post(change::relocate))
        .route("/api/v1/torrents/{id}/limits", put(change::limits))
        .route("/api/v1/torrents/{id}/goal", put(change::goal))
        .route("/api/v1/torrents/{id}/labels", put(change::labels))
        .route("/api/v1/limits", put(api::limits))
        .layer(DefaultBodyLimit::max(MAX_BODY_LEN))
        .layer(middleware::from_fn_with_state(access, access::check))
        .with_state(state)
}
