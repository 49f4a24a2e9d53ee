//! The Unix socket of a daemon. `hashlane_cli::control` describes the protocol.

use std::fmt::Display;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use data_encoding::BASE64;
use hashlane_cli::control::{MAX_REQUEST_LEN, Reply, Request, SOCKET};
use hashlane_cli::links;
use hashlane_metainfo::Torrent;
use hashlane_server::UnixSocket;

use super::fetches::Fetches;
use super::request::{self, Answer};
use super::torrents::Torrents;

/// Maximum number of connections. Each has a thread, and memory for a request.
const MAX_CONNECTIONS: usize = 16;

/// Time limit for the arrival of the next bytes of a request.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Time limit for a write. A client that exceeds it has stopped reading.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// Pause after the system refused a connection, for example for lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// The socket, which is removed when the value is dropped.
pub(super) struct Socket(UnixSocket);

impl Socket {
    /// Listens in the state folder, whose lock this process holds: a socket that exists is that of a killed daemon.
    pub(super) fn bind(state: &Path) -> anyhow::Result<Self> {
        let path = state.join(SOCKET);
        let socket = UnixSocket::bind(&path).with_context(|| path.display().to_string())?;
        Ok(Self(socket))
    }

    /// Answers requests on threads.
    pub(super) fn serve(
        &self,
        torrents: Arc<Mutex<Torrents>>,
        fetches: Arc<Fetches>,
    ) -> io::Result<()> {
        let listener = self.0.listener().try_clone()?;
        let daemon = Arc::new((torrents, fetches));
        let accept = move || {
            let connections = Arc::new(AtomicUsize::new(0));
            for stream in listener.incoming() {
                match stream {
                    Ok(stream) => start(stream, &daemon, &connections),
                    Err(error) => {
                        tracing::warn!(%error, "a connection to the socket was not accepted");
                        thread::sleep(ACCEPT_PAUSE);
                    }
                }
            }
        };
        thread::Builder::new().name("socket".into()).spawn(accept)?;
        Ok(())
    }
}

/// The torrents, and the .torrent files that are fetched.
type Daemon = (Arc<Mutex<Torrents>>, Arc<Fetches>);

/// Counts a connection until it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Answers the requests of a connection on a thread of its own.
fn start(stream: UnixStream, daemon: &Arc<Daemon>, connections: &Arc<AtomicUsize>) {
    let n_others = connections.fetch_add(1, Ordering::SeqCst);
    let counted = Counted(Arc::clone(connections));
    let daemon = Arc::clone(daemon);
    let serve = move || {
        let _counted = counted;
        let refusal = if n_others >= MAX_CONNECTIONS {
            Some("too many connections".to_owned())
        } else {
            refusal(&stream)
        };
        let served = match refusal {
            Some(message) => send(&stream, &[], Some(message)),
            None => serve(&stream, &daemon),
        };
        if let Err(error) = served {
            tracing::debug!(%error, "a connection to the socket ended");
        }
    };
    // Without a thread, the connection is closed.
    let _ = thread::Builder::new().name("control".into()).spawn(serve);
}

/// Returns the reason if the process at the other end belongs to another user, and not to the administrator either.
#[cfg(target_os = "linux")]
fn refusal(stream: &UnixStream) -> Option<String> {
    let own = rustix::process::geteuid();
    match rustix::net::sockopt::socket_peercred(stream) {
        Ok(peer) if peer.uid == own || peer.uid.is_root() => None,
        Ok(peer) => Some(format!(
            "refused: user {} may not control this daemon",
            peer.uid.as_raw()
        )),
        Err(error) => Some(format!("refused: the user is not known: {error}")),
    }
}

/// Returns no reason: the mode of the socket keeps other users out.
#[cfg(not(target_os = "linux"))]
fn refusal(_: &UnixStream) -> Option<String> {
    None
}

fn serve(stream: &UnixStream, daemon: &Daemon) -> io::Result<()> {
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        let n_read = reader
            .by_ref()
            .take(MAX_REQUEST_LEN)
            .read_until(b'\n', &mut line)?;
        if n_read == 0 {
            return Ok(());
        }
        if line.last() != Some(&b'\n') {
            let message =
                format!("a request has at most {MAX_REQUEST_LEN} bytes, and ends with a line end");
            return send(stream, &[], Some(message));
        }
        let answer = serde_json::from_slice::<Request>(&line)
            .map_err(|error| format!("not a request: {error}"))
            .and_then(|request| answer(daemon, request));
        match answer {
            Ok((replies, refusal)) => send(stream, &replies, refusal)?,
            Err(message) => send(stream, &[], Some(message))?,
        }
    }
}

/// Does what a request asks for. The .torrent file of a URL is fetched before, from any server: only the user of the daemon can
/// ask for it.
fn answer((torrents, fetches): &Daemon, mut request: Request) -> Result<Answer, String> {
    if let Request::Add(add) = &mut request
        && (&add.metainfo, &add.magnet) == (&None, &None)
        && let Some(url) = add.url.take()
    {
        let named = |reason: &dyn Display| format!("{}: {reason}", links::without_secrets(&url));
        let bytes = fetches.fetch(torrents, url.clone(), false);
        let bytes = bytes.map_err(|reason| named(&reason))?;
        Torrent::parse(&bytes[..]).map_err(|error| named(&error))?;
        add.metainfo = Some(BASE64.encode(&bytes));
    }
    request::answer(torrents, request)
}

/// Sends results and the end of an answer.
fn send(stream: &UnixStream, replies: &[Reply], error: Option<String>) -> io::Result<()> {
    let mut writer = BufWriter::new(stream);
    let end = error.map_or(Reply::Done {}, |message| Reply::Error { message });
    for reply in replies.iter().chain([&end]) {
        serde_json::to_writer(&mut writer, reply)?;
        writer.write_all(b"\n")?;
    }
    writer.flush()
}
