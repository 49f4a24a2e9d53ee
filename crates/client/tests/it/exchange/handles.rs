//! Programs that add torrents to a running client, and control them by handles.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashlane_client::{
    Activity, AddError, AddOptions, Client, Download, Event, HandleError, InfoHash, Mode, Outcome,
    SeedLimits, Source, TorrentHandle,
};
use hashlane_metainfo::{Magnet, Version};
use hashlane_verify::CancelToken;

use super::{PATIENCE, Running, Shared, config};

/// Starts a client without torrents on loopback.
fn start(peers: &[SocketAddr], mode: Option<Mode>) -> Client {
    let mut config = config(peers, &CancelToken::default());
    config.additions.mode = mode;
    config.additions.max_torrents = 2;
    Client::builder().config(config).start().unwrap()
}

/// Waits until the torrent of a handle has an activity.
pub(crate) fn wait_for(torrent: &TorrentHandle, activity: Activity) {
    let started = Instant::now();
    while torrent.snapshot().activity != activity {
        assert!(started.elapsed() < PATIENCE, "{:#?}", torrent.snapshot());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The client does nothing for a torrent without peers, and notices at once what happens to it.
#[test]
fn a_quiet_torrent_costs_nothing() {
    let shared = Shared::new(Version::V1);
    let seed = Running::start(vec![shared.seed()], &[]);
    let address = seed.address();
    let torrent = seed.client.get(0).unwrap();
    wait_for(&torrent, Activity::Serving);
    let started = Instant::now();
    let (snapshot, served) = loop {
        let before = seed.client.snapshot();
        let served = torrent.snapshot().serving_seconds.seconds();
        // Five times the interval of updates.
        std::thread::sleep(Duration::from_secs(1));
        if Arc::ptr_eq(&before, &seed.client.snapshot()) {
            break (before, served);
        }
        assert!(started.elapsed() < PATIENCE, "{before:#?}");
    };
    // The time of serving counts on.
    assert!(snapshot.torrents[0].serving_seconds.seconds() >= served + 1.0);
    let folder = tempfile::tempdir().unwrap();
    let task = super::download(shared.source(), folder.path(), super::Existing::Resume);
    let outcomes = Running::start(vec![task], &[address]).end().1;
    assert_eq!(outcomes, [Outcome::Complete]);
    let content = shared.torrent.content_length();
    seed.wait_for_snapshot(|all| all.torrents[0].uploaded_bytes >= content);
    // Others still have the earlier state.
    assert_eq!(snapshot.torrents[0].uploaded_bytes, 0);
    torrent.pause().unwrap();
    wait_for(&torrent, Activity::Paused);
    let served = torrent.snapshot().serving_seconds.seconds();
    std::thread::sleep(Duration::from_millis(10));
    let later = torrent.snapshot().serving_seconds.seconds();
    assert!(later.to_bits() == served.to_bits(), "{later} and {served}");
}

/// A program adds torrents to a running client, which runs until it is stopped.
#[test]
fn a_program_adds_and_controls_torrents() {
    let shared = Shared::new(Version::Hybrid);
    let seed = Running::start(vec![shared.seed()], &[]);
    let folder = tempfile::tempdir().unwrap();
    let client = start(
        &[seed.address()],
        Some(Mode::Download(Arc::new(Download {
            seeding: Some(SeedLimits::default()),
            ..Download::to(folder.path())
        }))),
    );
    let info_hashes = shared.torrent.info_hashes();
    assert_eq!(client.torrents().len(), 0);
    let options = AddOptions {
        label: Some("given".to_owned()),
        ..AddOptions::default()
    };
    let source = Source::info_hash(InfoHash::of(info_hashes));
    let torrent = client.add(source, options).unwrap();
    // It is not in a snapshot yet.
    let all = client.torrents();
    assert_eq!((all.len(), all[0].number()), (1, torrent.number()));
    assert_eq!(all[0].snapshot().torrent, "given");
    torrent.wait_complete().unwrap();
    shared.assert_same(folder.path());
    for info_hash in [
        InfoHash::V1(info_hashes.v1().unwrap()),
        InfoHash::V2(info_hashes.v2().unwrap()),
    ] {
        let found = client.get(info_hash).unwrap();
        assert_eq!(found.number(), torrent.number());
        assert_eq!(found.snapshot().identity.info_hashes, Some(info_hashes));
    }
    assert!(client.get(7).is_none());
    assert!(torrent.have().unwrap().iter().all(|have| *have));
    assert!(torrent.peers().is_ok());
    assert_eq!(torrent.trackers().unwrap().len(), 0);
    torrent.pause().unwrap();
    wait_for(&torrent, Activity::Paused);
    torrent.wait_complete().unwrap();
    torrent.resume().unwrap();
    wait_for(&torrent, Activity::Serving);
    torrent.end().unwrap();
    wait_for(&torrent, Activity::Ended);
    assert_eq!(torrent.pause(), Err(HandleError::Ended));
    assert_eq!(torrent.have(), Err(HandleError::Ended));
    torrent.wait_complete().unwrap();
    // The client runs on without a running torrent, and finds the content of the first one.
    let source = Source::bytes(shared.torrent.bytes().to_vec());
    let again = client.add(source, AddOptions::default()).unwrap();
    again.wait_complete().unwrap();
    assert_eq!(again.snapshot().downloaded_bytes, 0);
    let first = InfoHash::of(info_hashes);
    assert_eq!(client.get(first).unwrap().number(), again.number());
    assert_eq!(client.stop().unwrap(), [Outcome::Complete; 2]);
    assert_eq!(again.pause(), Err(HandleError::Ended));
    seed.interrupt();
}

/// A torrent that is added paused waits in the session. If the client ends first, so do those who wait.
#[test]
fn a_torrent_that_is_added_paused_waits() {
    let shared = Shared::new(Version::V1);
    let seed = Running::start(vec![shared.seed()], &[]);
    let folder = tempfile::tempdir().unwrap();
    let client = start(&[seed.address()], None);
    let options = AddOptions {
        mode: Some(Mode::Download(Arc::new(Download::to(folder.path())))),
        is_paused: true,
        ..AddOptions::default()
    };
    let torrent = client.add(shared.source(), options).unwrap();
    wait_for(&torrent, Activity::Paused);
    assert!(torrent.have().unwrap().iter().any(|have| !have));
    let waiting = torrent.clone();
    let waiting = std::thread::spawn(move || waiting.wait_complete());
    drop(client);
    let failed = waiting.join().unwrap();
    assert!(
        matches!(&failed, Err(HandleError::Failed(reason)) if reason.starts_with("interrupted")),
        "{failed:?}"
    );
    assert_eq!(torrent.resume(), failed);
    seed.interrupt();
}

/// A torrent connects to the peers that were named before it joined the session.
#[test]
fn a_peer_can_be_named_at_once() {
    let shared = Shared::new(Version::V1);
    let seed = Running::start(vec![shared.seed()], &[]);
    let peer = seed.address();
    let link = || Magnet::new(shared.torrent.info_hashes()).into();
    for (source, is_paused) in [(shared.source(), false), (link(), false), (link(), true)] {
        let folder = tempfile::tempdir().unwrap();
        let mode = Mode::Download(Arc::new(Download::to(folder.path())));
        let client = start(&[], Some(mode));
        let options = AddOptions {
            is_paused,
            ..AddOptions::default()
        };
        let torrent = client.add(source, options).unwrap();
        torrent.add_peer(peer).unwrap();
        if is_paused {
            wait_for(&torrent, Activity::Paused);
            torrent.resume().unwrap();
        }
        torrent.wait_complete().unwrap();
        shared.assert_same(folder.path());
    }
    seed.interrupt();
}

/// A handle connects to a peer, and lists files.
#[test]
fn a_handle_finds_peers() {
    let shared = Shared::new(Version::V1);
    let seed = Running::start(vec![shared.seed()], &[]);
    let folder = tempfile::tempdir().unwrap();
    let mode = Mode::Download(Arc::new(Download::to(folder.path())));
    let client = start(&[], Some(mode));
    let link = Magnet::new(shared.torrent.info_hashes());
    let torrent = client.add(link.into(), AddOptions::default()).unwrap();
    assert_eq!(torrent.files(), []);
    wait_for(&torrent, Activity::Metadata);
    let peer = seed.address();
    torrent.add_peer(peer).unwrap();
    torrent.wait_complete().unwrap();
    shared.assert_same(folder.path());
    let files = torrent.files();
    let paths = files
        .iter()
        .map(|file| (file.path.as_str(), file.done_bytes));
    let paths: Vec<_> = paths.collect();
    assert_eq!(
        paths,
        [("a", Some(300_000)), ("b", Some(5_000)), ("empty", Some(0))]
    );
    assert_eq!(torrent.add_peer(peer), Err(HandleError::Ended));
    seed.interrupt();
}

/// Reasons why a torrent is not added, and why it fails.
#[test]
fn torrents_that_cannot_be_added() {
    let folder = tempfile::tempdir().unwrap();
    let mode = || Some(Mode::Download(Arc::new(Download::to(folder.path()))));
    let add = |client: &Client, mode| {
        let options = AddOptions {
            mode,
            ..AddOptions::default()
        };
        client.add(Source::file(folder.path().join("absent.torrent")), options)
    };
    let cancel = CancelToken::default();
    let mut config = config(&[], &cancel);
    config.additions.max_torrents = 1;
    let client = Client::builder().config(config).start().unwrap();
    assert_eq!(add(&client, None).unwrap_err(), AddError::NoMode);
    let torrent = add(&client, mode()).unwrap();
    let failed = torrent.wait_complete().unwrap_err();
    let is_absent =
        matches!(&failed, HandleError::Failed(reason) if reason.contains("No such file"));
    assert!(is_absent, "{failed:?}");
    assert_eq!(torrent.resume(), Err(failed));
    assert_eq!(add(&client, mode()).unwrap_err(), AddError::TooMany);
    assert_eq!(client.torrents().len(), 1);
    let events = client.subscribe();
    cancel.cancel();
    assert!(
        events
            .iter()
            .all(|event| !matches!(*event, Event::Added { .. }))
    );
    assert_eq!(client.join().unwrap(), [Outcome::Failed]);
}
