//! The connections of the server: their limit, and room for new ones.
//!
//! An idle connection has no request in progress. If all connections are taken, a new one replaces the one that has been
//! idle for the longest time. Clients with idle connections therefore delay no other client.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;

/// The maximum number of connections, so that descriptors remain for peers and files.
const MAX_CONNECTIONS: usize = 128;

/// Time between two looks at requests in progress, at the end.
const ANSWERED_INTERVAL: Duration = Duration::from_millis(5);

/// The open connections.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    open: Mutex<Open>,
    /// A connection ended or became idle.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    /// The connections by number, the oldest first.
    connections: BTreeMap<u64, State>,
    /// Counts connections and the times at which they become idle.
    clock: u64,
}

/// The state of one connection.
#[derive(Debug)]
struct State {
    /// The number of requests in progress.
    n_requests: usize,
    /// The reading of the clock when the connection became idle.
    idle_since: u64,
    /// Ends the connection.
    close: Arc<Notify>,
    is_closing: bool,
}

impl Open {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}

impl Connections {
    fn open(&self) -> MutexGuard<'_, Open> {
        // No code that holds the lock leaves the state inconsistent.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for one more connection. Ends the connection that has been idle for the longest time if
    /// all places are taken.
    pub(crate) async fn room(&self) {
        while !self.has_room() {
            self.changed.notified().await;
        }
    }

    fn has_room(&self) -> bool {
        let mut open = self.open();
        if open.connections.len() < MAX_CONNECTIONS {
            return true;
        }
        let connections = open.connections.values_mut();
        let idle = connections.filter(|state| state.n_requests == 0 && !state.is_closing);
        if let Some(oldest) = idle.min_by_key(|state| state.idle_since) {
            oldest.is_closing = true;
            oldest.close.notify_one();
        }
        false
    }

    /// Waits until no request is in progress. A client that asked for the end of the program then has its answer.
    pub(crate) async fn answered(&self) {
        while self.is_busy() {
            tokio::time::sleep(ANSWERED_INTERVAL).await;
        }
    }

    fn is_busy(&self) -> bool {
        let open = self.open();
        open.connections.values().any(|state| state.n_requests > 0)
    }

    /// Registers a new connection.
    pub(crate) fn start(self: &Arc<Self>) -> Connection {
        let mut open = self.open();
        let number = open.tick();
        let close = Arc::new(Notify::new());
        let state = State {
            n_requests: 0,
            idle_since: number,
            close: Arc::clone(&close),
            is_closing: false,
        };
        open.connections.insert(number, state);
        Connection {
            all: Arc::clone(self),
            number,
            close,
        }
    }
}

/// One connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    all: Arc<Connections>,
    number: u64,
    close: Arc<Notify>,
}

impl Connection {
    /// Waits until another connection needs the place of this one, which is idle.
    pub(crate) async fn replaced(&self) {
        loop {
            self.close.notified().await;
            let mut open = self.all.open();
            let state = open.connections.get_mut(&self.number);
            match state {
                // A request came in between.
                Some(state) if state.n_requests > 0 => state.is_closing = false,
                _ => return,
            }
        }
    }

    /// Counts a request until the result is dropped.
    pub(crate) fn request(self: &Arc<Self>) -> Busy {
        let mut open = self.all.open();
        if let Some(state) = open.connections.get_mut(&self.number) {
            state.n_requests += 1;
        }
        drop(open);
        Busy(Arc::clone(self))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.open().connections.remove(&self.number);
        self.all.changed.notify_one();
    }
}

/// A request in progress.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Connection>);

impl Busy {
    /// Returns the answer to the request, which is in progress until the answer has been sent.
    pub(crate) fn with_answer(self, answer: Response) -> Response {
        answer.map(|body| Body::new(BusyBody { body, _busy: self }))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let all = &self.0.all;
        let mut open = all.open();
        let now = open.tick();
        if let Some(state) = open.connections.get_mut(&self.0.number) {
            state.n_requests -= 1;
            state.idle_since = now;
        }
        drop(open);
        all.changed.notify_one();
    }
}

/// The body of an answer, with the request that it belongs to.
struct BusyBody {
    body: Body,
    _busy: Busy,
}

impl HttpBody for BusyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
