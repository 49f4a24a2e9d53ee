//! The connections of the server: their limit, and room for new ones.
//!
//! An idle connection has no request in progress. If all connections are taken, a new one replaces the one that has been
//! idle for the longest time. If none is idle, it replaces one that still receives the body of its request: the oldest of the
//! client with the most of them. Clients that send nothing, or slowly, therefore delay no other client.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
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
    /// The address of the client.
    client: IpAddr,
    /// The number of requests in progress.
    n_requests: usize,
    /// The number of those whose bodies have not arrived.
    n_receiving: usize,
    /// The reading of the clock when the connection became idle.
    idle_since: u64,
    /// Ends the connection.
    close: Arc<Notify>,
    is_closing: bool,
}

impl State {
    /// Returns `true` if no request has arrived that is not answered yet.
    fn can_close(&self) -> bool {
        self.n_requests == self.n_receiving
    }
}

impl Open {
    /// Returns the number of the connection that makes room for another one, if one does.
    fn replaceable(&self) -> Option<u64> {
        let open = || {
            self.connections
                .iter()
                .filter(|(_, state)| !state.is_closing)
        };
        let idle = open().filter(|(_, state)| state.n_requests == 0);
        if let Some((number, _)) = idle.min_by_key(|(_, state)| state.idle_since) {
            return Some(*number);
        }
        let mut receiving: HashMap<IpAddr, (usize, u64)> = HashMap::new();
        for (number, state) in open().filter(|(_, state)| state.can_close()) {
            // The oldest one is first.
            receiving.entry(state.client).or_insert((0, *number)).0 += 1;
        }
        let most = receiving.into_values().max_by_key(|(n, _)| *n)?;
        Some(most.1)
    }

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
        let replaceable = open.replaceable();
        let state = replaceable.and_then(|number| open.connections.get_mut(&number));
        if let Some(state) = state {
            state.is_closing = true;
            state.close.notify_one();
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
    pub(crate) fn start(self: &Arc<Self>, client: IpAddr) -> Connection {
        let mut open = self.open();
        let number = open.tick();
        let close = Arc::new(Notify::new());
        let state = State {
            client,
            n_receiving: 0,
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
                Some(state) if !state.can_close() => state.is_closing = false,
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

impl Connection {
    /// Counts a request whose body has not arrived, until the result is dropped.
    pub(crate) fn receiving(self: &Arc<Self>) -> Receiving {
        if let Some(state) = self.all.open().connections.get_mut(&self.number) {
            state.n_receiving += 1;
        }
        // A connection may wait for room that this one can make now.
        self.all.changed.notify_one();
        Receiving(Arc::clone(self))
    }
}

/// A request whose body has not arrived.
#[derive(Debug)]
pub(crate) struct Receiving(Arc<Connection>);

impl Drop for Receiving {
    fn drop(&mut self) {
        if let Some(state) = self.0.all.open().connections.get_mut(&self.0.number) {
            state.n_receiving -= 1;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// One client takes all connections with bodies that do not arrive. It loses them to another client.
    #[test]
    fn bodies_that_do_not_arrive_make_room() {
        let all = Arc::new(Connections::default());
        let [one, other] = [1, 2].map(|last| IpAddr::from([192, 0, 2, last]));
        let answered = Arc::new(all.start(other));
        let _working = answered.request();
        let first = Arc::new(all.start(other));
        let clients = (2..MAX_CONNECTIONS).map(|_| Arc::new(all.start(one)));
        let mut connections: Vec<_> = clients.collect();
        connections.push(first);
        let requests: Vec<_> = connections
            .iter()
            .map(|connection| (connection.request(), connection.receiving()))
            .collect();
        assert!(!all.has_room());
        let closing = |all: &Connections| {
            let open = all.open();
            let closing = open
                .connections
                .iter()
                .filter(|(_, state)| state.is_closing);
            closing.map(|(number, _)| *number).collect::<Vec<_>>()
        };
        assert_eq!(closing(&all), [connections[0].number]);
        // A request that has arrived is answered.
        drop(requests);
        let working: Vec<Busy> = connections.iter().map(Connection::request).collect();
        assert_eq!(all.open().replaceable(), None);
        drop(working);
    }
}
