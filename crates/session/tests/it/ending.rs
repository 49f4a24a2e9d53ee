//! Sessions that keep nothing, and end with their torrents.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hashlane_api::{Command, Content, Refusal};
use hashlane_client::{
    Activity, Config as ClientConfig, Download, Event, Mode, Naming, Outcome, Place, Seed,
    SeedLimits, Settings, Source, Subscription,
};
use hashlane_session::{Config, Given, Kept, Session};
use hashlane_store::Store;

use super::Shared;

fn client() -> ClientConfig {
    ClientConfig {
        session: Settings {
            network: SocketAddr::from(([127, 0, 0, 1], 0)).into(),
            dht: false,
            local_discovery: false,
            port_mapping: false,
            ..Settings::default()
        },
        ..ClientConfig::default()
    }
}

fn given(label: &str, bytes: &[u8]) -> Given {
    Given {
        label: label.to_owned(),
        source: Source::bytes(bytes.to_vec()),
        content: None,
        map: None,
    }
}

fn seeding(folder: &Path) -> Config {
    let mode = Mode::Seed(Seed {
        place: Place::Folder(folder.to_owned()),
        super_seeding: false,
        limits: SeedLimits::default(),
        records: None,
        naming: Naming::default(),
    });
    Config {
        mode: Some(mode),
        folder: Some(folder.to_owned()),
        ..Config::default()
    }
}

fn start(kept: impl Into<Kept>, config: Config, given: Vec<Given>) -> (Arc<Session>, Subscription) {
    Session::start(kept.into(), client(), config, given).unwrap()
}

/// The events and the end are those of the torrents, also of one that cannot be read.
#[test]
fn a_session_ends_with_its_torrents() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    let config = Config {
        mode: Some(Mode::Download(Arc::new(Download::to(folder)))),
        ..seeding(folder)
    };
    let torrents = vec![
        given("complete", shared.torrent.bytes()),
        given("invalid", b"no torrent"),
    ];
    let (session, events) = start(Store::in_memory(), config, torrents);
    let events: Vec<_> = events.iter().collect();
    let labels: Vec<&str> = events
        .iter()
        .filter_map(|event| match &**event {
            Event::Added { label, .. } => Some(label.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(labels, ["complete", "invalid"]);
    let all = session.snapshot();
    let states: Vec<_> = all
        .torrents
        .iter()
        .map(|it| (it.identity.number, it.torrent.as_str(), it.activity))
        .collect();
    let expected = [
        (0, "complete", Activity::Ended),
        (1, "invalid", Activity::Failed),
    ];
    assert_eq!(states, expected);
    let outcomes = session.stop().unwrap();
    assert_eq!(outcomes, [Outcome::Complete, Outcome::Failed]);
}

/// Another session continues with the torrents, and knows what was given and removed.
#[test]
fn a_copy_continues_in_another_session() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    let bytes = shared.torrent.bytes();
    let (session, events) = start(
        Store::in_memory(),
        seeding(folder),
        vec![given("label", bytes)],
    );
    let wait_for = |events: &Subscription, wanted: fn(&Event) -> bool| {
        while !wanted(&events.recv_timeout(Duration::from_secs(120)).unwrap()) {}
    };
    let is_verified =
        |event: &Event| matches!(event, Event::Verified(content) if content.is_complete);
    wait_for(&events, is_verified);
    assert_eq!(session.apply(&[0], &Command::Pause, None), [Ok(())]);
    let copies = tempfile::tempdir().unwrap();
    let names = session.copy_to(&copies.path().join("first")).unwrap();
    let remove = Command::Remove {
        content: Content::Keep,
    };
    assert_eq!(session.apply(&[0], &remove, None), [Ok(())]);
    let removed = session.copy_to(&copies.path().join("second")).unwrap();
    assert_eq!(removed.given, ["label".to_owned()].into());
    session.stop().unwrap();

    let store = Store::open(copies.path().join("second")).unwrap();
    assert_eq!(store.iter().len(), 0);
    let store = Store::open(copies.path().join("first")).unwrap();
    let store = store.into_memory().unwrap();
    let (session, events) = start(Kept { store, names }, seeding(folder), Vec::new());
    wait_for(&events, is_verified);
    let all = session.snapshot();
    let [torrent] = &all.torrents[..] else {
        panic!("{all:?}");
    };
    assert!(torrent.is_paused);
    assert_eq!(
        (torrent.torrent.as_str(), torrent.title()),
        ("label", "data")
    );
    // A torrent that ends can run again.
    assert_eq!(session.apply(&[0], &Command::End, None), [Ok(())]);
    wait_for(&events, |event| matches!(event, Event::Ended { .. }));
    assert_eq!(session.stop().unwrap(), [Outcome::Complete]);
    let late = session.apply(&[0], &Command::End, None);
    assert!(matches!(
        late[..],
        [Err(Refusal::Conflict(_) | Refusal::Unavailable(_))]
    ));
}
