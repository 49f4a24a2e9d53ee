//! Memory of a client that adds and removes many torrents. `cargo xtask test-client-memory` runs it.
#![cfg(all(target_os = "linux", feature = "libtorrent"))]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::time::Duration;

use hashlane_client::{
    AddOptions, Client, Config, Event, Mode, Naming, Place, Remove, Seed, SeedLimits, Settings,
    Source, Subscription, Transport,
};

use crate::own_process::alone;

const TORRENTS: usize = 100_000;

/// Number of torrents that are added before they are removed.
const BATCH: usize = 200;

const PATIENCE: Duration = Duration::from_secs(120);

/// Returns the resident memory of this process in KiB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse().unwrap()
}

/// Returns a torrent of the file `data` with 16 KiB of zeros. The source tag makes its info-hash unique.
fn torrent(number: usize) -> Vec<u8> {
    let hash = digest_of_zeros();
    let source = format!("{number:08}");
    let head = "d4:infod6:lengthi16384e4:name4:data12:piece lengthi16384e6:pieces20:";
    [
        head.as_bytes(),
        &hash,
        format!("6:source8:{source}ee").as_bytes(),
    ]
    .concat()
}

/// The SHA-1 digest of 16 KiB of zeros.
fn digest_of_zeros() -> [u8; 20] {
    let digest = hashlane_sha::digest::<hashlane_sha::Sha1>(&[0; 16 << 10]);
    digest.as_ref().try_into().unwrap()
}

fn wait_for(events: &Subscription, n: usize, wanted: impl Fn(&Event) -> bool) {
    let mut left = n;
    while left > 0 {
        let event = events.recv_timeout(PATIENCE).unwrap();
        if let Event::Failed { error, .. } = &*event {
            panic!("{error}");
        }
        left -= usize::from(wanted(&event));
    }
}

#[test]
#[ignore = "takes minutes: cargo xtask test-client-memory"]
fn removed_torrents_return_their_memory() {
    let name = "memory::removed_torrents_return_their_memory";
    alone(name, add_and_remove);
}

fn add_and_remove() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data"), [0; 16 << 10]).unwrap();
    let config = Config {
        session: Settings {
            network: std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into(),
            dht: false,
            local_discovery: false,
            port_mapping: false,
            transport: Transport::Tcp,
            ..Settings::default()
        },
        ..Config::default()
    };
    let mode = Mode::Seed(Seed {
        place: Place::Folder(folder.path().to_owned()),
        super_seeding: false,
        limits: SeedLimits::default(),
        records: None,
        naming: Naming::default(),
    });
    let client = Client::builder().config(config).mode(mode).start().unwrap();
    let events = client.subscribe();
    let mut start = 0;
    for batch in 0..TORRENTS / BATCH {
        let numbers = batch * BATCH..(batch + 1) * BATCH;
        let torrents: Vec<_> = numbers
            .map(|number| {
                let source = Source::bytes(torrent(number));
                client.add(source, AddOptions::default()).unwrap()
            })
            .collect();
        wait_for(&events, BATCH, |it| matches!(it, Event::Verified(_)));
        for torrent in &torrents {
            torrent.remove(Remove::Keep).unwrap();
        }
        wait_for(&events, BATCH, |it| matches!(it, Event::Removed(_)));
        assert!(client.torrents().is_empty());
        let n = (batch + 1) * BATCH;
        if n == BATCH {
            start = resident();
        }
        if n == BATCH || n.is_multiple_of(10_000) {
            eprintln!("{n} torrents: {} KiB", resident());
        }
    }
    let end = resident();
    assert!(
        end * 10 <= start * 11,
        "{start} KiB at first, {end} KiB at the end"
    );
}
