//! The HTTP server of a client: a page, an API and metrics.
//!
//! Snapshots flow from the client's loop to the browsers, and commands flow back. Only the pieces, peers, trackers and
//! progress of files of one torrent are read from the session itself.
//!
//! | file | content |
//! |---|---|
//! | `access` | access control of requests |
//! | `add` | torrents that requests add |
//! | `api` | requests and event streams |
//! | `connections` | the limit of connections |
//! | `detail`, `files`, `trackers` | answers about one torrent |
//! | `metrics` | metrics of all torrents |
//! | `state` | state shared by all requests |
//! | `page` | the page: HTML, style and scripts |

mod access;
mod add;
mod api;
mod connections;
mod detail;
mod files;
mod metrics;
mod state;
mod trackers;

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header::CONTENT_TYPE;
use axum::middleware;
use axum::response::IntoResponse;
use axum::routing::{get, post, put};
use hashlane_swarm::Session;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};
use tokio_io_timeout::TimeoutStream;

use crate::config::Http;
use crate::inbox::Inbox;
use crate::snapshot::Snapshot;
use access::Access;
use connections::{Connection, Connections};
use state::State;

/// Length limit of a request's body in bytes.
const MAX_BODY_LEN: usize = 4 << 10;

/// Length limit in bytes of a request's body that lists files.
const MAX_FILE_LIST_LEN: usize = 64 << 10;

/// Length limit in bytes of a request's body that has a magnet link.
const MAX_MAGNET_LEN: usize = 64 << 10;

/// Maximum time in which browsers get the last event.
const END_TIMEOUT: Duration = Duration::from_millis(300);

/// Time limit for the head of the first or next request of a connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Time limit for a write. A client that exceeds it has stopped reading.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// Pause after the system refused a connection, for example for lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

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

/// The server. A separate thread runs it until the value is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    url: String,
    access: Arc<Access>,
    stop: Option<oneshot::Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves the page. Torrents that are added have at most `max_metainfo_len` bytes.
    pub(crate) fn start(
        http: &Http,
        snapshots: watch::Receiver<Arc<Snapshot>>,
        session: Weak<Session>,
        inbox: Inbox,
        max_metainfo_len: u64,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(http.address)?;
        listener.set_nonblocking(true)?;
        let url = format!("http://{}/", listener.local_addr()?);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let access = Arc::new(Access::new(http.origins.clone())?);
        let (end, ended) = watch::channel(());
        let state = State::new(snapshots, session, inbox, ended);
        let router = router(state.clone(), Arc::clone(&access), max_metainfo_len);
        let (stop, stopped) = oneshot::channel();
        let log = tracing::dispatcher::get_default(Clone::clone);
        let serve = async move {
            tokio::select! {
                result = accept(listener, router) => {
                    let Err(error) = result;
                    tracing::error!(%error, "the page is no longer served");
                }
                _ = stopped => {
                    end.send_replace(());
                    let _ = tokio::time::timeout(END_TIMEOUT, state.streams_end()).await;
                }
            }
        };
        // The thread's end drops the runtime, which closes all connections.
        let thread = thread::Builder::new()
            .name("http".into())
            .spawn(move || tracing::dispatcher::with_default(&log, || runtime.block_on(serve)))?;
        Ok(Self {
            url,
            access,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the token that requests need to change something.
    pub(crate) fn token(&self) -> &str {
        self.access.token()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Accepts connections. A new connection replaces an idle one if there are too many.
async fn accept(listener: TcpListener, router: Router) -> io::Result<Infallible> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let connections = Arc::new(Connections::default());
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                connections.room().await;
                tokio::spawn(serve(stream, router.clone(), connections.start()));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection to the page was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Serves one connection. Closes a connection that sends no request for [`HEAD_TIMEOUT`], at its start or between
/// requests. Closes a connection that does not read its answer for [`WRITE_TIMEOUT`]. Reads have no time limit, because
/// a client that receives events sends nothing.
async fn serve(stream: TcpStream, router: Router, connection: Connection) {
    let connection = Arc::new(connection);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let stream = TokioIo::new(Box::pin(stream));
    let router = TowerToHyperService::new(router);
    let requests = Arc::clone(&connection);
    let service = service_fn(move |request| {
        let busy = requests.request();
        let answer = router.call(request);
        async move { answer.await.map(|answer| busy.with_answer(answer)) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(stream, service);
    tokio::select! {
        result = served => {
            if let Err(error) = result {
                tracing::debug!(%error, "a connection to the page ended");
            }
        }
        () = connection.replaced() => {
            tracing::debug!("a connection to the page was idle, and made room for another");
        }
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
        .route("/api/v1/torrents/{id}/events", get(api::torrent_events))
        .route("/api/v1/torrents/{id}/trackers", get(api::trackers))
        .route("/api/v1/torrents/{id}/files", get(api::files))
        .route(
            "/api/v1/torrents/{id}/files",
            put(api::prioritize).layer(DefaultBodyLimit::max(MAX_FILE_LIST_LEN)),
        )
        .route("/api/v1/torrents/{id}/pause", post(api::pause))
        .route("/api/v1/torrents/{id}/resume", post(api::resume))
        .route("/api/v1/torrents/{id}/end", post(api::end))
        .route("/api/v1/limits", put(api::limits))
        .layer(DefaultBodyLimit::max(MAX_BODY_LEN))
        .layer(middleware::from_fn_with_state(access, access::check))
        .with_state(state)
}
