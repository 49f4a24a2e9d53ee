//! Addresses at which a server listens.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use axum::Router;
use axum::routing::get;
use hashlane_server::{Endpoint, Server};

fn start(endpoint: &Endpoint) -> std::io::Result<Server> {
    let router = Router::new().route("/", get(async || "right"));
    Server::start("http", endpoint.bind()?, router, async {})
}

pub(crate) fn ask(mut stream: impl std::io::Read + std::io::Write, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn every_address_has_the_same_port() {
    let loopback = [[127, 0, 0, 1], [127, 0, 0, 2]];
    let addresses = loopback.map(|ip| SocketAddr::from((ip, 0)));
    let endpoint = Endpoint::Tcp(addresses.into());
    assert_eq!(format!("{endpoint:.11}"), "127.0.0.1:0");
    assert!(endpoint.is_local());
    let server = start(&endpoint).unwrap();
    let Endpoint::Tcp(found) = server.endpoint() else {
        panic!("{server:?}");
    };
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].port(), found[1].port());
    for address in found {
        assert!(ask(TcpStream::connect(address).unwrap(), "/").ends_with("right"));
    }
    let taken = Endpoint::Tcp(vec![found[1]]);
    assert_eq!(start(&taken).unwrap_err().kind(), ErrorKind::AddrInUse);
}

/// A name can have an address that is not one of this machine. Alone, it is an error.
#[test]
fn an_address_that_is_not_of_this_machine_is_left_out() {
    let other = SocketAddr::from(([192, 0, 2, 1], 0));
    let own = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = start(&Endpoint::Tcp(vec![other, own])).unwrap();
    let address = server.endpoint().address().unwrap();
    assert_eq!(address.ip(), own.ip());
    assert!(ask(TcpStream::connect(address).unwrap(), "/").ends_with("right"));
    assert!(start(&other.into()).is_err());
    assert!(start(&Endpoint::Tcp(Vec::new())).is_err());
    assert!(!Endpoint::Tcp(vec![own, other]).is_local());
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_socket_is_private_and_removed_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page");
    let endpoint = Endpoint::Unix(path.clone());
    assert!(endpoint.is_local());
    let server = start(&endpoint).unwrap();
    assert!(path.metadata().unwrap().file_type().is_socket());
    assert_eq!(mode(&path), 0o600);
    assert_eq!(server.endpoint().url(), format!("unix:{}", path.display()));
    assert!(ask(UnixStream::connect(&path).unwrap(), "/").ends_with("right"));
    // A process that listens keeps its socket.
    let error = start(&endpoint).unwrap_err();
    assert!(
        error.to_string().contains("another process listens"),
        "{error}"
    );
    assert!(ask(UnixStream::connect(&path).unwrap(), "/").ends_with("right"));
    drop(server);
    assert!(!path.exists());
}

#[test]
fn only_a_socket_without_a_process_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page");
    let endpoint = Endpoint::Unix(path.clone());
    std::fs::write(&path, "mine").unwrap();
    let error = start(&endpoint).unwrap_err();
    assert!(error.to_string().contains("is no socket"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    std::fs::remove_file(&path).unwrap();
    // As after a kill: the file stays, and nobody listens.
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let server = start(&endpoint).unwrap();
    assert_eq!(mode(&path), 0o600);
    assert!(ask(UnixStream::connect(&path).unwrap(), "/").ends_with("right"));
    drop(server);
    assert!(!path.exists());
}
