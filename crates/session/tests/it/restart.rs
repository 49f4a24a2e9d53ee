//! Torrents last.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use hashlane_api::{
    CategoryPatch, Command, Goal, GroupChange, NewTorrent, Patch, QueueMove, Refusal, Source,
    Target,
};
use hashlane_client::{
    Activity, Config as ClientConfig, Event, Rights, SecretTiers, Settings, Snapshot,
    TorrentSnapshot,
};
use hashlane_session::{Config, Session, TorrentRule};

use super::Shared;

/// Time limit for every step.
const PATIENCE: Duration = Duration::from_secs(120);

/// Opens a session on loopback, whose torrents are in `folder`.
fn open(state: &Path, folder: &Path) -> Arc<Session> {
    open_with(state, folder, Vec::new())
}

/// Does the same with rules.
pub(crate) fn open_with(state: &Path, folder: &Path, rules: Vec<TorrentRule>) -> Arc<Session> {
    let network: hashlane_client::Network = SocketAddr::from(([127, 0, 0, 1], 0)).into();
    let client = ClientConfig {
        session: Settings {
            network: network.clone(),
            dht: false,
            local_discovery: false,
            port_mapping: false,
            ..Settings::default()
        },
        ..ClientConfig::default()
    };
    let config = Config {
        folder: Some(folder.to_owned()),
        network,
        rules,
        ..Config::default()
    };
    Session::open(state, client, config).unwrap().0
}

/// Waits until a torrent has a property.
pub(crate) fn wait(
    session: &Session,
    is_so: impl Fn(&TorrentSnapshot) -> bool,
) -> Arc<TorrentSnapshot> {
    let began = Instant::now();
    loop {
        let all = session.snapshot();
        let only = all.torrents.first().unwrap();
        if is_so(only) {
            return Arc::clone(only);
        }
        assert!(began.elapsed() < PATIENCE, "{only:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn torrents_and_what_was_chosen_return_after_a_restart() {
    let shared = Shared::new();
    let state = tempfile::tempdir().unwrap();
    let folder = shared.folder.path();
    let session = open(state.path(), folder);
    let source = || Source::Torrent(shared.torrent.clone());
    let new = NewTorrent {
        set: Patch {
            labels: Some(["linux".to_owned()].into()),
            ..Patch::default()
        },
        ..NewTorrent::default()
    };
    let added = session.add(source(), &new, None).unwrap();
    assert!(!added.is_present);
    assert!(session.add(source(), &new, None).unwrap().is_present);
    let number = added.torrent.identity.number;
    wait(&session, |it| it.activity == Activity::Serving);
    let command = Command::Set(Box::new(Patch {
        title: Some(Some("Two files".to_owned())),
        ratio: Some(Target::At(2.0)),
        ..Patch::default()
    }));
    let results = session.apply(&[number, number + 1], &command, None);
    assert_eq!(results, [Ok(()), Err(Refusal::Absent)]);
    let pause = session.apply(&[number], &Command::Pause, None);
    assert_eq!(pause, [Ok(())]);
    let rights = Rights::default();
    let remove = Command::Remove {
        content: hashlane_api::Content::Delete,
    };
    let refused = session.apply(&[number], &remove, Some(&rights));
    assert!(matches!(&refused[..], [Err(Refusal::Forbidden(_))]));
    session.stop().unwrap();
    let late = session.events();
    assert!(late.iter().all(|event| event.torrent().is_none()));
    let late = session.apply(&[number], &Command::Pause, None);
    assert!(late[0].is_err(), "{late:?}");
    drop(session);

    // Not stopped: dropped.
    for _ in 0..2 {
        let session = open(state.path(), folder);
        let torrent = wait(&session, |it| it.is_complete);
        assert_eq!(torrent.title(), "Two files");
        assert_eq!(torrent.labels, ["linux"]);
        assert!(torrent.is_paused);
        assert_eq!(torrent.seed_ratio, Some(2.0));
        let goal = Goal {
            ratio: Target::At(2.0),
            ..Goal::default()
        };
        assert_eq!((torrent.goal, torrent.inherited), (goal, Goal::default()));
        assert!(torrent.is_folder);
        let files = session.files(torrent.identity.number.into());
        let paths: Vec<_> = files.iter().map(|(file, _)| file.path.as_str()).collect();
        assert_eq!(paths, ["data/a", "data/b"]);
        assert_eq!(session.problems(), []);
    }
    shared.assert_same(folder);
}

/// A reader of events that looks at the folder finds what they report.
#[test]
fn what_an_event_reports_is_in_the_folder() {
    let shared = Shared::new();
    let state = tempfile::tempdir().unwrap();
    let session = open(state.path(), shared.folder.path());
    let source = Source::Torrent(shared.torrent.clone());
    let added = session.add(source, &NewTorrent::default(), None).unwrap();
    let number = added.torrent.identity.number;
    session.wait_complete(number.into()).unwrap();
    wait(&session, |it| it.activity == Activity::Serving);
    let events = session.events();
    let read = |name: fs::DirEntry| fs::read_to_string(name.path()).unwrap_or_default();
    for to in ["first", "second", "third"] {
        let to = shared.folder.path().join(to);
        let command = Command::Relocate { folder: to.clone() };
        assert_eq!(session.apply(&[number], &command, None), [Ok(())]);
        let moved = events.iter().find_map(|event| match &*event {
            Event::Relocated { content, .. } => Some(content.clone()),
            _ => None,
        });
        assert_eq!(moved.unwrap(), to.join("data"));
        let files = fs::read_dir(state.path().join("torrents")).unwrap();
        let texts: String = files.map(|file| read(file.unwrap())).collect();
        assert!(!texts.contains("move_to"), "{texts}");
        assert!(texts.contains(to.to_str().unwrap()), "{texts}");
    }
    session.stop().unwrap();
    let late = session.wait_complete(number.into());
    assert!(
        late.is_ok() || matches!(late, Err(Refusal::Unavailable(_))),
        "{late:?}"
    );
    let absent = session.wait_complete((number + 1).into());
    assert_eq!(absent, Err(Refusal::Absent));
}

/// A request costs what changed since the last one: the rest is shared.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of changes")]
fn snapshots_share_torrents_that_did_not_change() {
    let (state, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let session = open(state.path(), folder.path());
    let new = NewTorrent {
        paused: Some(true),
        ..NewTorrent::default()
    };
    let add = |n: u8| {
        let link = format!("magnet:?xt=urn:btih:{n:040x}&tr=http://192.0.2.1/{n}");
        let added = session.add(Source::of_link(&link).unwrap(), &new, None);
        added.unwrap().torrent.identity.number
    };
    let numbers = [1, 2, 3].map(add);
    let settled = || {
        let began = Instant::now();
        loop {
            let one = session.snapshot();
            thread::sleep(Duration::from_millis(300));
            let other = session.snapshot();
            let is_paused = |it: &Arc<TorrentSnapshot>| it.activity == Activity::Paused;
            if Arc::ptr_eq(&one, &other) && other.torrents.iter().all(is_paused) {
                return other;
            }
            assert!(began.elapsed() < PATIENCE, "{other:?}");
        }
    };
    let set = |patch| Command::Set(Box::new(patch));
    let label = set(Patch {
        labels: Some(["linux".to_owned()].into()),
        ..Patch::default()
    });
    let category = set(Patch {
        category: Some(Some("tv".to_owned())),
        ..Patch::default()
    });
    let url = "http://192.0.2.1/new".to_owned();
    let make = |ratio| {
        let change = GroupChange::SetCategory(CategoryPatch {
            name: "tv".to_owned(),
            ratio: Some(Target::At(ratio)),
            ..CategoryPatch::default()
        });
        session.change_groups(&change, None).unwrap();
    };
    let apply = |command: &Command| {
        let applied = session.apply(&numbers[1..2], command, None);
        assert_eq!(applied, [Ok(())]);
    };
    let steps: [(&dyn Fn(), [bool; 3]); 6] = [
        (&|| apply(&label), [false, true, false]),
        (&|| make(1.0), [false; 3]),
        (&|| apply(&category), [false, true, false]),
        (&|| make(2.0), [false, true, false]),
        (
            &|| apply(&Command::AddTracker { url: url.clone() }),
            [false, true, false],
        ),
        (
            &|| apply(&Command::Queue { to: QueueMove::Top }),
            [true, true, false],
        ),
    ];
    let mut before = settled();
    for (step, (change, expected)) in steps.into_iter().enumerate() {
        change();
        let at_once = session.snapshot();
        let after = settled();
        let shown = |all: &Snapshot| {
            let pairs = all.torrents.iter().zip(&before.torrents);
            pairs
                .map(|(one, other)| !one.is_same(other))
                .collect::<Vec<_>>()
        };
        assert_eq!(shown(&at_once), expected, "{step}");
        let pairs = after.torrents.iter().zip(&before.torrents);
        let changed: Vec<bool> = pairs.map(|(one, other)| !Arc::ptr_eq(one, other)).collect();
        assert_eq!(changed, expected, "{step}");
        before = after;
    }
    assert_eq!(before.torrents[1].seed_ratio, Some(2.0));
    let SecretTiers(tiers) = before.torrents[1].trackers.clone().unwrap();
    assert_eq!(
        tiers.concat(),
        ["http://192.0.2.1/2", "http://192.0.2.1/new"]
    );
    let remove = Command::Remove {
        content: hashlane_api::Content::Keep,
    };
    apply(&remove);
    let numbers: Vec<usize> = session
        .snapshot()
        .torrents
        .iter()
        .map(|it| it.identity.number)
        .collect();
    assert_eq!(numbers, [1, 3]);
}

/// Without an event of the client, too.
#[test]
fn a_wait_ends_with_its_torrent() {
    let (state, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let session = open(state.path(), folder.path());
    let new = NewTorrent {
        paused: Some(true),
        ..NewTorrent::default()
    };
    let link = "magnet:?xt=urn:btih:0123456789012345678901234567890123456789";
    let added = session.add(Source::of_link(link).unwrap(), &new, None);
    let number = added.unwrap().torrent.identity.number;
    let waits = thread::spawn({
        let session = Arc::clone(&session);
        move || session.wait_complete(number.into())
    });
    let masked = Command::AddTracker {
        url: "http://192.0.2.1/***/announce".to_owned(),
    };
    let refused = session.apply(&[number], &masked, None);
    assert!(
        matches!(&refused[..], [Err(Refusal::Invalid(_))]),
        "{refused:?}"
    );
    assert!(!waits.is_finished());
    let remove = Command::Remove {
        content: hashlane_api::Content::Keep,
    };
    assert_eq!(session.apply(&[number], &remove, None), [Ok(())]);
    assert_eq!(waits.join().unwrap(), Err(Refusal::Absent));
}
