#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! | file | content |
//! |---|---|
//! | `lib.rs` | the server: its thread, its connections and their time limits |
//! | `endpoint` | addresses at which a server accepts connections |
//! | `unix_socket` | a Unix socket that only its user can connect to |
//! | `connections` | the limit of connections |
//! | `deadline` | the time limit for the body of a request |
//! | `host` | names by which a client reaches this machine |
//! | `login` | names and passwords of requests |
//! | `sessions` | cookies of programs that have logged in |
#![forbid(unsafe_code)]

mod connections;
mod deadline;
mod endpoint;
mod host;
mod login;
mod sessions;
#[cfg(unix)]
mod unix_socket;

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::mem;
use std::net::SocketAddr;
#[cfg(unix)]
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;
use tokio_io_timeout::TimeoutStream;

use connections::{Connection, Connections};
pub use endpoint::{Endpoint, Listener};
pub use host::is_address;
pub use login::{Login, LoginError, Verdict};
pub use sessions::{Session, Sessions};
#[cfg(unix)]
pub use unix_socket::UnixSocket;

/// Maximum time for the answers that still run at the end.
const END_TIMEOUT: Duration = Duration::from_millis(300);

/// Time limit for the head of the first or next request of a connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Time limit for a write. A client that exceeds it has stopped reading.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// Pause after the system refused a connection, for example for lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// A server. Its thread runs until the value is dropped, which waits for the thread.
pub struct Server {
    endpoint: Endpoint,
    stop: Option<oneshot::Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

/// The address of clients of a Unix socket: they are processes of this machine.
#[cfg(unix)]
const UNIX_CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut server = f.debug_struct("Server");
        server
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Serves `router` on a thread with this name. Handlers can extract [`ConnectInfo`] with the client's [`SocketAddr`],
    /// which is `127.0.0.1:0` for clients of a Unix socket.
    ///
    /// At the end, `ending` may ask the answers that still run to end, and is awaited for at most 300 ms. Then all
    /// connections are closed.
    ///
    /// # Errors
    /// Returns the error of the system that refuses a thread or the listener.
    pub fn start(
        name: &str,
        listener: impl Into<Listener>,
        router: Router,
        ending: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<Self> {
        let listener = listener.into();
        let endpoint = listener.endpoint()?;
        let log = tracing::dispatcher::get_default(Clone::clone);
        let log_of_thread = log.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            // The threads of handlers that may block, such as the check of a password, log as this one. They keep the log to their
            // end.
            .on_thread_start(move || mem::forget(tracing::dispatcher::set_default(&log_of_thread)))
            .build()?;
        let sockets = {
            let _in_runtime = runtime.enter();
            Socket::all_of(&listener)?
        };
        let (stop, stopped) = oneshot::channel::<Infallible>();
        let serve = async move {
            let connections = Arc::new(Connections::default());
            for socket in sockets {
                tokio::spawn(accept(socket, router.clone(), Arc::clone(&connections)));
            }
            let _ = stopped.await;
            // The file of a Unix socket is removed while the process still listens.
            drop(listener);
            let answered = async {
                ending.await;
                connections.answered().await;
            };
            let _ = tokio::time::timeout(END_TIMEOUT, answered).await;
        };
        // The thread's end drops the runtime, which closes all connections.
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || tracing::dispatcher::with_default(&log, || runtime.block_on(serve)))
            .map_err(|error| {
                io::Error::new(error.kind(), format!("cannot start a thread: {error}"))
            })?;
        Ok(Self {
            endpoint,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Returns the addresses at which the server listens.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
    }
}

/// A socket that the server's thread waits for.
enum Socket {
    Tcp(tokio::net::TcpListener),
    #[cfg(unix)]
    Unix(tokio::net::UnixListener),
}

impl Socket {
    /// Returns the sockets of a listener, which keeps its own.
    fn all_of(listener: &Listener) -> io::Result<Vec<Self>> {
        match listener {
            Listener::Tcp(listeners) => {
                let sockets = listeners.iter().map(|listener| {
                    let listener = listener.try_clone()?;
                    listener.set_nonblocking(true)?;
                    tokio::net::TcpListener::from_std(listener).map(Self::Tcp)
                });
                sockets.collect()
            }
            #[cfg(unix)]
            Listener::Unix(socket) => {
                let listener = socket.listener().try_clone()?;
                listener.set_nonblocking(true)?;
                Ok(vec![Self::Unix(tokio::net::UnixListener::from_std(
                    listener,
                )?)])
            }
        }
    }
}

/// Accepts connections. A new connection replaces an idle one if there are too many.
async fn accept(socket: Socket, router: Router, connections: Arc<Connections>) {
    let router = router.layer(axum::middleware::from_fn(deadline::limit));
    loop {
        let accepted = match &socket {
            Socket::Tcp(listener) => {
                let accepted = listener.accept().await;
                accepted.map(|(stream, client)| (Stream::Tcp(stream), client))
            }
            #[cfg(unix)]
            Socket::Unix(listener) => {
                let accepted = listener.accept().await;
                accepted.map(|(stream, _)| (Stream::Unix(stream), UNIX_CLIENT))
            }
        };
        match accepted {
            Ok((stream, client)) => {
                connections.room().await;
                let connection = connections.start(client.ip());
                let router = router.clone();
                match stream {
                    Stream::Tcp(stream) => tokio::spawn(serve(stream, client, router, connection)),
                    #[cfg(unix)]
                    Stream::Unix(stream) => tokio::spawn(serve(stream, client, router, connection)),
                };
            }
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// An accepted connection.
enum Stream {
    Tcp(tokio::net::TcpStream),
    #[cfg(unix)]
    Unix(tokio::net::UnixStream),
}

/// Serves one connection. Closes a connection that sends no request for [`HEAD_TIMEOUT`], at its start or between
/// requests. Closes a connection that does not read its answer for [`WRITE_TIMEOUT`]. Other reads have no time limit here,
/// because a client that receives events sends nothing; `deadline` limits those of bodies.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Send + 'static,
    client: SocketAddr,
    router: Router,
    connection: Connection,
) {
    let connection = Arc::new(connection);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let stream = TokioIo::new(Box::pin(stream));
    let router = TowerToHyperService::new(router);
    let requests = Arc::clone(&connection);
    let service = service_fn(move |mut request: hyper::Request<_>| {
        let busy = requests.request();
        request.extensions_mut().insert(ConnectInfo(client));
        request.extensions_mut().insert(Arc::clone(&requests));
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
                tracing::debug!(%error, "a connection ended");
            }
        }
        () = connection.replaced() => {
            tracing::debug!("a connection was idle, and made room for another");
        }
    }
}
