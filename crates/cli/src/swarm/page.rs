//! `--http`: a page to look at, an API, and metrics.
//!
//! What there is to see flows one way, as snapshots from the loop of the command; what is asked for flows back as
//! [`Command`]s, which that loop obeys. Only what is looked at of one torrent alone, its pieces and peers, is
//! asked of the session itself.

mod api;
mod guard;
mod listener;
mod metrics;

use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroU32;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header::CONTENT_TYPE;
use axum::middleware;
use axum::response::IntoResponse;
use axum::routing::{get, post, put};
use hashlane_swarm::{Session, SessionError, TorrentId};
use serde::{Deserialize, Deserializer};
use tokio::sync::{Semaphore, oneshot, watch};

use super::view::Snapshot;
use crate::swarm_args::Network;
use guard::Token;
use listener::Limited;

/// Bytes of a request's body.
const MAX_BODY_LEN: usize = 4 << 10;

/// How many browsers may look on at the same time.
const MAX_STREAMS: usize = 32;

/// How many connections there may be, whoever has them.
const MAX_CONNECTIONS: usize = 128;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Command {
    /// The torrent of this number stands still.
    Pause(usize),
    /// It goes on.
    Resume(usize),
    /// It is done with; its content stays.
    End(usize),
    /// Limits of rates.
    Limit(Limits),
}

impl Command {
    /// Does it to the session, whose torrents have these ids by their numbers. What it means that one is to
    /// end, which is given back, only its command knows.
    pub(super) fn obey(
        self,
        session: &Session,
        network: &mut Network,
        id: impl Fn(usize) -> Option<TorrentId>,
    ) -> Result<Option<usize>, SessionError> {
        // A torrent can have left the session meanwhile, which is no trouble of the others.
        match self {
            Self::Pause(number) => {
                let _ = id(number).map(|id| session.pause(id));
            }
            Self::Resume(number) => {
                let _ = id(number).map(|id| session.resume(id));
            }
            Self::Limit(limits) => {
                limits.set(&mut network.max_down, &mut network.max_up);
                session.limit(network.max_down, network.max_up)?;
            }
            Self::End(number) => return Ok(Some(number)),
        }
        Ok(None)
    }
}

/// The most bytes a second; null for no limit, and absent where nothing is to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "absent and null are not the same")]
pub(in super::super) struct Limits {
    #[serde(default, deserialize_with = "said")]
    max_down: Option<Option<NonZeroU32>>,
    #[serde(default, deserialize_with = "said")]
    max_up: Option<Option<NonZeroU32>>,
}

/// What is there, null or not.
#[expect(clippy::option_option, reason = "absent and null are not the same")]
fn said<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<NonZeroU32>>, D::Error> {
    Option::deserialize(from).map(Some)
}

impl Limits {
    /// Changes what is to change.
    fn set(self, max_down: &mut Option<u32>, max_up: &mut Option<u32>) {
        for (limit, new) in [(max_down, self.max_down), (max_up, self.max_up)] {
            if let Some(new) = new {
                *limit = new.map(NonZeroU32::get);
            }
        }
    }
}

/// A page that is served, until it is dropped.
pub(super) struct Page {
    url: String,
    token: Arc<Token>,
    snapshots: watch::Sender<Arc<Snapshot>>,
    commands: mpsc::Receiver<Command>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What requests need.
#[derive(Clone)]
struct Shared {
    snapshots: watch::Receiver<Arc<Snapshot>>,
    session: Arc<Session>,
    commands: mpsc::Sender<Command>,
    token: Arc<Token>,
    streams: Arc<Semaphore>,
}

impl Page {
    /// Serves it at an address, of which port 0 is any.
    pub(super) fn open(address: SocketAddr, session: Arc<Session>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let url = format!("http://{}/", listener.local_addr()?);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let token = Arc::new(Token::new()?);
        let (snapshots, of_page) = watch::channel(Arc::default());
        let (sender, commands) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let router = router(Shared {
            snapshots: of_page,
            session,
            commands: sender,
            token: Arc::clone(&token),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
        });
        let log = tracing::dispatcher::get_default(Clone::clone);
        let serve = async move {
            let served = async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                axum::serve(Limited::new(listener, MAX_CONNECTIONS), router).await
            };
            tokio::select! {
                result = served => if let Err(error) = result {
                    tracing::error!(%error, "the page is not served any more");
                },
                _ = stopped => {}
            }
        };
        // Ended with the runtime are all connections, whoever still looks on.
        let thread = thread::Builder::new()
            .name("page".into())
            .spawn(move || tracing::dispatcher::with_default(&log, || runtime.block_on(serve)))?;
        Ok(Self {
            url,
            token,
            snapshots,
            commands,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Who has it may change something.
    pub(super) fn token(&self) -> &str {
        self.token.text()
    }

    /// Shows it to all browsers.
    pub(super) fn show(&self, snapshot: Snapshot) {
        self.snapshots.send_replace(Arc::new(snapshot));
    }

    /// What was asked for since the last call.
    pub(super) fn commands(&self) -> Vec<Command> {
        self.commands.try_iter().collect()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn router(shared: Shared) -> Router {
    let file = |kind: &'static str, text: &'static str| {
        get(move || async move { ([(CONTENT_TYPE, kind)], text).into_response() })
    };
    let html = "text/html; charset=utf-8";
    Router::new()
        .route("/", file(html, include_str!("page/page.html")))
        .route(
            "/page.js",
            file(
                "text/javascript; charset=utf-8",
                include_str!("page/page.js"),
            ),
        )
        .route(
            "/page.css",
            file("text/css; charset=utf-8", include_str!("page/page.css")),
        )
        .route("/metrics", get(metrics::metrics))
        .route("/api/v1/torrents", get(api::torrents))
        .route("/api/v1/events", get(api::events))
        .route("/api/v1/torrents/{number}", get(api::torrent))
        .route("/api/v1/torrents/{number}/events", get(api::torrent_events))
        .route("/api/v1/torrents/{number}/pause", post(api::pause))
        .route("/api/v1/torrents/{number}/resume", post(api::resume))
        .route("/api/v1/torrents/{number}/end", post(api::end))
        .route("/api/v1/limits", put(api::limits))
        .layer(DefaultBodyLimit::max(MAX_BODY_LEN))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&shared.token),
            guard::guard,
        ))
        .with_state(shared)
}
