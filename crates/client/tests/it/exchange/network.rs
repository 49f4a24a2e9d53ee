//! The local end of connections changes while a client runs.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use hashlane_client::{Event, Existing, NetworkError, Outcome};
use hashlane_metainfo::Version;

use super::{Running, Shared, download};

/// Moves the client to a port that was free a moment ago. Another program may take that port first.
fn move_to_free_port(client: &Running) -> SocketAddr {
    for _ in 0..20 {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        if client.client.set_network(address.into()).is_err() {
            continue;
        }
        let is_open = client.wait_for(|event| match event {
            Event::Listening(at) if *at == address => Some(true),
            Event::Warning { torrent: None, .. } => Some(false),
            _ => None,
        });
        if is_open {
            return address;
        }
    }
    panic!("no free port");
}

#[test]
fn peers_connect_to_the_new_port() {
    let shared = Shared::new(Version::V1);
    let seed = Running::start(vec![shared.seed()], &[]);
    let first = seed.address();
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let taken = (taken.local_addr().unwrap(), taken);
    let before = seed.client.snapshot().network.clone();
    let refused = seed.client.set_network(taken.0.into());
    assert!(
        matches!(&refused, Err(NetworkError::Port { port, .. }) if *port == taken.0.port()),
        "{refused:?}"
    );
    assert_eq!(seed.client.snapshot().network, before);

    let second = move_to_free_port(&seed);
    assert_ne!(first, second);
    seed.wait_for_snapshot(|all| all.network == second.into() && all.network_problem.is_none());
    let folder = tempfile::tempdir().unwrap();
    let task = download(shared.source(), folder.path(), Existing::Resume);
    let (_, outcomes) = Running::start(vec![task], &[second]).end();
    assert!(matches!(outcomes[..], [Outcome::Complete]), "{outcomes:?}");
    shared.assert_same(folder.path());
    assert_eq!(seed.interrupt().len(), 1);
}
