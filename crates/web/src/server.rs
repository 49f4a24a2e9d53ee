//! The server of a page: the requests that it answers.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{delete, get, patch, post};
use hashlane_client::Config;
use hashlane_server::Listener;
use tokio::sync::watch;

use super::access::{self, Access};
use super::config::Http;
use super::credentials::Auth;
use super::service::Service;
use super::state::State;
use super::{about, add, api, assets, change, compress, metrics, problem, session};

/// Length limit of a request's body in bytes.
const MAX_BODY_LEN: usize = 4 << 10;

/// Length limit in bytes of a command, which can list files or trackers.
const MAX_COMMAND_LEN: usize = 64 << 10;

/// Length limit in bytes of a request's body that lists torrents.
const MAX_BATCH_LEN: usize = 1 << 20;

/// The server of the page. A separate thread runs it until the value is dropped.
#[derive(Debug)]
pub struct Server {
    access: Arc<Access>,
    serving: hashlane_server::Server,
}

impl Server {
    /// Serves the page of a service at a socket that listens, in place of [`Http::endpoint`]. `config` has the settings of
    /// its client.
    ///
    /// # Errors
    /// The system refuses a thread, or [`Http::auth`] has no credentials.
    pub fn start(
        listener: Listener,
        http: &Http,
        config: &Config,
        service: Arc<dyn Service>,
    ) -> io::Result<Self> {
        let access = Arc::new(Access::new(http, &listener.endpoint()?)?);
        let (end, ended) = watch::channel(());
        let state = State::new(service, config, http, ended)?;
        let router = router(state.clone(), Arc::clone(&access), config.max_metainfo_len);
        let ending = async move {
            end.send_replace(());
            state.streams_end().await;
        };
        let serving = hashlane_server::Server::start("http", listener, router, ending)?;
        tracing::info!(address = %serving.endpoint(), "serving the page");
        Ok(Self { access, serving })
    }

    /// Returns the address of the page: `http://127.0.0.1:8080/`, or `unix:PATH` for a Unix socket.
    pub fn url(&self) -> String {
        self.serving.endpoint().url()
    }

    /// Returns the token, if it is one of this start.
    pub fn new_token(&self, http: &Http) -> Option<String> {
        let token = self.access.token().map(|token| token.secret().to_owned());
        token.filter(|_| matches!(http.auth, Auth::NewToken))
    }
}

fn router(state: State, access: Arc<Access>, max_metainfo_len: u64) -> Router {
    let max_metainfo_len = usize::try_from(max_metainfo_len).unwrap_or(usize::MAX);
    let sessions = Router::new()
        .route("/api/v1/session", get(session::session))
        .route("/api/v1/session", post(session::login))
        .route("/api/v1/session", delete(session::logout))
        .layer(DefaultBodyLimit::max(MAX_BODY_LEN))
        .with_state(Arc::clone(&access));
    requests(max_metainfo_len)
        .layer(DefaultBodyLimit::max(MAX_BODY_LEN))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&access),
            access::check_rights,
        ))
        .with_state(state)
        .merge(assets::router())
        .merge(sessions)
        .layer(middleware::from_fn_with_state(access, access::check_site))
        .layer(middleware::map_response(problem::describe))
        .layer(middleware::from_fn(compress::compress))
}

/// Returns the requests that need the right to read or to change something.
fn requests(max_metainfo_len: usize) -> Router<State> {
    // In base 64, with options.
    let max_addition_len = (max_metainfo_len / 3 * 4).saturating_add(MAX_BATCH_LEN);
    Router::new()
        .route("/metrics", get(metrics::metrics))
        .route("/api/v1/torrents", get(api::torrents))
        .route(
            "/api/v1/torrents",
            post(add::torrent).layer(DefaultBodyLimit::max(max_addition_len)),
        )
        .route("/api/v1/jobs/{id}", get(add::job))
        .route(
            "/api/v1/batch",
            post(change::batch).layer(DefaultBodyLimit::max(MAX_BATCH_LEN)),
        )
        .route("/api/v1/events", get(api::events))
        .route("/api/v1/torrents/{id}", get(api::torrent))
        .route(
            "/api/v1/torrents/{id}",
            post(change::torrent).layer(DefaultBodyLimit::max(MAX_COMMAND_LEN)),
        )
        .route("/api/v1/torrents/{id}/events", get(api::torrent_events))
        .route("/api/v1/torrents/{id}/trackers", get(api::trackers))
        .route("/api/v1/torrents/{id}/files", get(api::files))
        .route("/api/v1/groups", get(about::groups))
        .route(
            "/api/v1/groups",
            post(about::change_groups).layer(DefaultBodyLimit::max(MAX_COMMAND_LEN)),
        )
        .route("/api/v1/config", get(about::config))
        .route("/api/v1/config", patch(about::change_config))
        .route("/api/v1/reload", post(about::reload))
        .route("/api/v1/status", get(about::status))
        .route("/api/v1/limits", get(about::limits))
        .route("/api/v1/statistics", get(about::statistics))
        .route("/api/v1/free-space", get(about::space))
}
