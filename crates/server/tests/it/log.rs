//! The log of the thread that starts a server.

use std::net::{SocketAddr, TcpStream};

use axum::Router;
use axum::routing::get;
use hashlane_server::{Endpoint, Server};
use tracing::Dispatch;
use tracing::dispatcher::{get_default, with_default};
use tracing::subscriber::NoSubscriber;

use crate::endpoint::ask;

/// A log that a test recognizes, because no thread has it by default.
type Log = Box<NoSubscriber>;

#[test]
fn handlers_and_what_they_wait_for_have_it() {
    let is_log = || get_default(Dispatch::is::<Log>).to_string();
    let router = Router::new().route("/", get(async move || is_log())).route(
        "/wait",
        get(async move || tokio::task::spawn_blocking(is_log).await.unwrap()),
    );
    let log = Dispatch::new(Log::default());
    let endpoint = Endpoint::from(SocketAddr::from(([127, 0, 0, 1], 0)));
    let server = with_default(&log, || {
        Server::start("http", endpoint.bind().unwrap(), router, async {}).unwrap()
    });
    let address = server.endpoint().address().unwrap();
    for path in ["/", "/wait"] {
        let answer = ask(TcpStream::connect(address).unwrap(), path);
        assert!(answer.ends_with("true"), "{path}: {answer}");
    }
}
