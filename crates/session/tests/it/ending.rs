//! Sessions in memory, which end with their torrents, and which another process continues.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use hashlane_api::{
    Command, Content, Goal, NewTorrent, Patch, Priority, Refusal, SessionPatch, Source as Added,
    Target,
};
use hashlane_client::{
    Activity, Config as ClientConfig, Download, Event, Globs, Identity, Mode, Naming, Network,
    Outcome, Place, Rights, Seed, SeedLimits, Settings, Snapshot, Source, Subscription,
    TorrentSnapshot,
};
use hashlane_metainfo::{InfoHashes, Magnet};
use hashlane_session::{AddedFiles, Config, Given, Kept, Memory, Session, Watched};

use super::Shared;

/// Time limit for every step.
const PATIENCE: Duration = Duration::from_secs(120);

fn client() -> ClientConfig {
    ClientConfig {
        session: Settings {
            network: network(),
            dht: false,
            local_discovery: false,
            port_mapping: false,
            ..Settings::default()
        },
        ..ClientConfig::default()
    }
}

fn network() -> Network {
    SocketAddr::from(([127, 0, 0, 1], 0)).into()
}

fn given(position: usize, label: &str, bytes: &[u8]) -> Given {
    Given {
        position: Some(position),
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
        network: network(),
        ..Config::default()
    }
}

fn downloading(folder: &Path, download: Download) -> Config {
    Config {
        mode: Some(Mode::Download(Arc::new(download))),
        ..seeding(folder)
    }
}

fn start(kept: impl Into<Kept>, config: Config, given: Vec<Given>) -> (Arc<Session>, Subscription) {
    Session::start(kept, client(), config, given).unwrap()
}

/// Returns what another process reads of a session.
fn passed_on(session: &Session) -> Memory {
    let text = serde_json::to_string(&session.memory().unwrap()).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn wait_for(events: &Subscription, wanted: impl Fn(&Event) -> bool) {
    while !wanted(&events.recv_timeout(PATIENCE).unwrap()) {}
}

fn wait_until(session: &Session, is_so: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
    let began = Instant::now();
    loop {
        let all = session.snapshot();
        if is_so(&all) {
            return all;
        }
        assert!(began.elapsed() < PATIENCE, "{all:?}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn is_verified(event: &Event) -> bool {
    matches!(event, Event::Verified(content) if content.is_complete)
}

fn is_served(all: &Snapshot) -> bool {
    all.torrents[0].activity == Activity::Serving
}

fn apply(session: &Session, number: usize, command: &Command) {
    assert_eq!(session.apply(&[number], command, None), [Ok(())]);
}

fn resume() -> Command {
    Command::Resume { now: false }
}

fn states(all: &Snapshot) -> Vec<(usize, &str, Activity)> {
    let torrents = all.torrents.iter();
    torrents
        .map(|it| (it.identity.number, it.torrent.as_str(), it.activity))
        .collect()
}

/// The events and the end are those of the torrents, also of one that cannot be read.
#[test]
fn a_session_ends_with_its_torrents() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    let torrents = vec![
        given(0, "complete", shared.torrent.bytes()),
        given(1, "invalid", b"no torrent"),
    ];
    let config = downloading(folder, Download::to(folder));
    let (session, events) = start(Memory::default(), config, torrents);
    let events: Vec<_> = events.iter().collect();
    let labels: Vec<&str> = events
        .iter()
        .filter_map(|event| match &**event {
            Event::Added { label, .. } => Some(label.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(labels, ["complete", "invalid"]);
    let expected = [
        (0, "complete", Activity::Ended),
        (1, "invalid", Activity::Failed),
    ];
    assert_eq!(states(&session.snapshot()), expected);
    // Nothing starts again in a client that has ended.
    let delete = Command::Remove {
        content: Content::Delete,
    };
    let ending = Err(Refusal::Unavailable("the session is ending".to_owned()));
    for late in [resume(), delete] {
        let results = session.apply(&[0, 1], &late, None);
        assert_eq!(results, [ending.clone(), ending.clone()], "{late:?}");
    }
    assert!(folder.join("data").join("a").exists());
    assert_eq!(session.snapshot().torrents.len(), 2);
    let outcomes = session.stop().unwrap();
    assert_eq!(outcomes, [Outcome::Complete, Outcome::Failed]);
}

/// A torrent that is started again is always one of the client, which ends without torrents.
#[test]
fn a_session_never_ends_while_its_torrent_starts_again() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    let torrents = vec![given(0, "data", shared.torrent.bytes())];
    let (session, events) = start(Memory::default(), seeding(folder), torrents);
    wait_for(&events, is_verified);
    let here = Command::Place {
        folder: folder.to_owned(),
    };
    for _ in 0..200 {
        apply(&session, 0, &here);
        thread::yield_now();
    }
    let all = wait_until(&session, |all| {
        all.torrents[0].activity == Activity::Serving
    });
    assert_eq!(all.torrents.len(), 1);
    // Events have the number by which requests know the torrent.
    let handle = session.handle(0.into()).unwrap();
    assert_eq!((handle.number(), handle.n_restarts()), (0, 200));
    assert!(!session.has_ended());
    assert_eq!(session.stop().unwrap(), [Outcome::Complete]);
}

/// Another process continues with the torrents, their numbers, what was chosen, and what was given.
#[test]
fn another_process_continues() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    let bytes = shared.torrent.bytes();
    let torrents = vec![
        given(0, "removed", b"no torrent"),
        given(1, "label", bytes),
        given(2, "failed", b"no torrent either"),
        given(3, "failed", b"nor this one"),
        given(4, "removed", b"nor the last one"),
    ];
    let (session, events) = start(Memory::default(), seeding(folder), torrents);
    wait_for(&events, is_verified);
    wait_until(&session, |all| {
        all.torrents
            .iter()
            .filter(|it| it.activity == Activity::Failed)
            .count()
            == 4
    });
    apply(&session, 1, &Command::Pause);
    let remove = Command::Remove {
        content: Content::Keep,
    };
    apply(&session, 0, &remove);
    apply(&session, 4, &remove);
    let other: Network = SocketAddr::from(([127, 0, 0, 2], 0)).into();
    session.set_network(other.clone()).unwrap();
    assert_eq!(session.requested_network().unwrap().as_ref(), Some(&other));
    let memory = passed_on(&session);
    for position in 0..5 {
        assert!(memory.has(position), "{position}");
    }
    assert!(!memory.has(5));
    session.stop().unwrap();

    let torrents = vec![given(5, "late", b"not before")];
    let (session, events) = start(memory, seeding(folder), torrents);
    wait_for(&events, is_verified);
    let all = wait_until(&session, |all| {
        all.torrents
            .last()
            .is_some_and(|it| it.activity == Activity::Failed)
            && all.torrents[0].activity == Activity::Paused
    });
    let expected = [
        (1, "label", Activity::Paused),
        (2, "failed", Activity::Failed),
        (3, "failed", Activity::Failed),
        (5, "late", Activity::Failed),
    ];
    assert_eq!(states(&all), expected);
    assert!(all.torrents[0].is_paused);
    assert_eq!(all.torrents[0].title(), "data");
    assert!(all.torrents[1].error.is_some());
    apply(&session, 1, &Command::End);
    wait_for(&events, |event| matches!(event, Event::Ended { .. }));
    let outcomes = session.stop().unwrap();
    assert_eq!(
        outcomes,
        [
            Outcome::Complete,
            Outcome::Failed,
            Outcome::Failed,
            Outcome::Failed
        ]
    );
    let late = session.apply(&[1], &Command::End, None);
    assert!(matches!(
        late[..],
        [Err(Refusal::Conflict(_) | Refusal::Unavailable(_))]
    ));
}

/// A torrent that is over stays over, and can be resumed.
#[test]
fn a_torrent_that_is_over_stays_over_in_another_process() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    let torrents = vec![
        given(0, "data", shared.torrent.bytes()),
        given(1, "invalid", b"no torrent"),
    ];
    // Without a watched folder, the session would end.
    let config = |watched: &Path| Config {
        watched: vec![Watched {
            folder: watched.to_owned(),
            category: None,
        }],
        added_files: AddedFiles::Kept,
        ..downloading(folder, Download::to(folder))
    };
    let watched = tempfile::tempdir().unwrap();
    let (session, _events) = start(Memory::default(), config(watched.path()), torrents);
    let before = wait_until(&session, |all| {
        all.torrents.iter().all(|it| it.activity.is_over())
            && all.torrents[0].completed_at.is_some()
    });
    let memory = passed_on(&session);
    session.stop().unwrap();
    let (session, _events) = start(memory, config(watched.path()), Vec::new());
    let all = wait_until(&session, |all| {
        all.torrents
            .iter()
            .all(|it| it.total_bytes > 0 || it.error.is_some())
    });
    assert_eq!(states(&all), states(&before));
    let shown = |it: &TorrentSnapshot| {
        (
            (it.is_complete, it.done_bytes, it.wanted_bytes, it.files),
            (
                it.content.clone(),
                it.error.clone(),
                it.added_at,
                it.completed_at,
            ),
        )
    };
    for (it, before) in all.torrents.iter().zip(&before.torrents) {
        assert_eq!(shown(it), shown(before));
    }
    // A torrent that has ended is not paused, and can run again.
    let paused = session.apply(&[0], &Command::Pause, None);
    assert!(matches!(&paused[..], [Err(Refusal::Conflict(_))]));
    let serve = Command::Set(Box::new(Patch {
        ratio: Some(Target::Never),
        ..Patch::default()
    }));
    apply(&session, 0, &serve);
    apply(&session, 0, &resume());
    wait_until(&session, |all| {
        all.torrents[0].activity == Activity::Serving
    });
    assert_eq!(
        session.stop().unwrap(),
        [Outcome::Complete, Outcome::Failed]
    );
}

/// The client may not handle an end any more, and the next one does not start the torrent.
#[test]
fn an_end_is_not_forgotten() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    let torrents = vec![
        given(0, "data", shared.torrent.bytes()),
        given(1, "invalid", b"no torrent"),
    ];
    let (session, events) = start(Memory::default(), seeding(folder), torrents);
    wait_for(&events, is_verified);
    wait_until(&session, is_served);
    // Before the client can have handled it, as if it did not respond.
    apply(&session, 0, &Command::End);
    let memory = passed_on(&session);
    session.stop().unwrap();
    let (session, events) = start(memory, seeding(folder), Vec::new());
    let events: Vec<_> = events.iter().collect();
    let started = events
        .iter()
        .filter(|event| matches!(***event, Event::Opened { .. }));
    assert_eq!(started.count(), 0);
    assert_eq!(states(&session.snapshot())[0], (0, "data", Activity::Ended));
    let outcomes = session.stop().unwrap();
    assert_eq!(outcomes, [Outcome::Complete, Outcome::Failed]);
}

/// Content that the client has not deleted yet is deleted by the next one.
#[test]
fn a_deletion_is_not_forgotten() {
    let shared = Shared::new();
    let copy = tempfile::tempdir().unwrap();
    let copied = copy.path().join("data");
    fs::create_dir(&copied).unwrap();
    let copy_files = || {
        for name in ["a", "b"] {
            let from = shared.folder.path().join("data").join(name);
            fs::copy(from, copied.join(name)).unwrap();
        }
    };
    copy_files();
    fs::write(copied.join("other"), "not of the torrent").unwrap();
    // Nothing is deleted while another torrent is opened, which may have the same files.
    let (release, released) = mpsc::channel::<()>();
    let blocking = Given {
        source: Source::Metainfo(Box::new(move || {
            let _ = released.recv();
            Err("released".into())
        })),
        ..given(2, "blocking", b"")
    };
    let torrents = vec![
        given(0, "as given", shared.torrent.bytes()),
        given(1, "invalid", b"no torrent"),
        blocking,
    ];
    let (session, events) = start(Memory::default(), seeding(copy.path()), torrents);
    wait_for(&events, is_verified);
    wait_until(&session, is_served);
    let delete = Command::Remove {
        content: Content::Delete,
    };
    apply(&session, 0, &delete);
    let memory = passed_on(&session);
    assert!(memory.has(0) && memory.has(1) && !memory.has(2));
    drop(release);
    session.stop().unwrap();
    // What the first process has deleted, the second one would have.
    fs::create_dir_all(&copied).unwrap();
    copy_files();
    let (session, events) = start(memory, seeding(copy.path()), Vec::new());
    let removed = events.iter().find_map(|event| match &*event {
        Event::Verified(verified) => panic!("{verified:?}"),
        Event::Removed(removed) => Some(removed.clone()),
        _ => None,
    });
    let removed = removed.unwrap();
    assert_eq!(removed.label, "as given");
    let deletion = removed.deletion.unwrap();
    assert_eq!((deletion.files, deletion.kept), (2, Vec::new()));
    let invalid = (1, "invalid", Activity::Failed);
    assert_eq!(states(&session.snapshot()), [invalid]);
    let left: Vec<_> = fs::read_dir(&copied).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(session.stop().unwrap(), [Outcome::Failed]);
}

/// Goals and numbers of totals continue, also when a torrent starts again.
#[test]
fn what_was_counted_continues() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    let torrents = vec![given(0, "data", shared.torrent.bytes())];
    let (session, events) = start(Memory::default(), seeding(folder), torrents);
    wait_for(&events, is_verified);
    let served = |all: &Snapshot| all.torrents[0].serving_seconds.seconds();
    wait_until(&session, |all| served(all) >= 2.0);
    let memory = passed_on(&session);
    session.stop().unwrap();
    // The process goes on for less time than the goal has.
    let goal = Goal {
        time: Target::At(Duration::from_secs(100_000)),
        ..Goal::default()
    };
    let config = Config {
        goal,
        ..seeding(folder)
    };
    let (session, events) = start(memory, config, Vec::new());
    wait_for(&events, is_verified);
    let all = wait_until(&session, |all| {
        all.torrents[0].activity == Activity::Serving
    });
    assert!(served(&all) >= 2.0);
    assert_eq!(all.torrents[0].seed_seconds, Some(100_000));
    apply(
        &session,
        0,
        &Command::Place {
            folder: folder.to_owned(),
        },
    );
    let all = wait_until(&session, |all| {
        all.torrents[0].activity == Activity::Serving
    });
    assert!(served(&all) >= 2.0);
    let goal = SessionPatch {
        time: Some(Target::At(Duration::from_secs(2))),
        ..SessionPatch::default()
    };
    session.change(&goal).unwrap();
    // What requests changed is shown.
    let limits = session.limits();
    let limit = limits
        .iter()
        .find(|limit| limit.limit == "seed-time")
        .unwrap();
    assert!(limit.requested);
    wait_for(&events, |event| matches!(event, Event::Ended { .. }));
    assert_eq!(session.stop().unwrap(), [Outcome::Complete]);
}

/// Relative folders are those of this process, and requests may change their content.
#[test]
fn relative_folders_are_absolute_for_requests_and_other_processes() {
    let shared = Shared::new();
    let here = std::env::current_dir().unwrap();
    // The tests run in the folder of the crate.
    let up: String = here.components().skip(1).map(|_| "../").collect();
    let relative = Path::new(&up).join(shared.folder.path().strip_prefix("/").unwrap());
    assert!(relative.is_relative());
    let torrents = vec![given(0, "data", shared.torrent.bytes())];
    let (session, events) = start(Memory::default(), seeding(&relative), torrents);
    wait_for(&events, is_verified);
    let memory = passed_on(&session);
    assert!(memory.has(0));
    let rights = Rights {
        folders: vec![shared.folder.path().to_owned()],
        may_delete: true,
        fetches_local: false,
    };
    let delete = Command::Remove {
        content: Content::Delete,
    };
    wait_until(&session, |all| {
        all.torrents[0].activity == Activity::Serving
    });
    let elsewhere = Rights {
        folders: vec![shared.folder.path().join("data")],
        ..rights.clone()
    };
    let refused = session.apply(&[0], &delete, Some(&elsewhere));
    assert!(
        matches!(&refused[..], [Err(Refusal::Forbidden(_))]),
        "{refused:?}"
    );
    assert_eq!(session.apply(&[0], &delete, Some(&rights)), [Ok(())]);
    wait_for(&events, |event| matches!(event, Event::Removed(_)));
    assert!(!shared.folder.path().join("data").exists());
}

/// A person chose all files, or one more than the patterns do.
#[test]
fn patterns_do_not_apply_after_a_person_has_chosen() {
    let shared = Shared::new();
    let content = tempfile::tempdir().unwrap();
    let folder = content.path();
    let mut selection = Globs::ignoring_case();
    selection.add("a").unwrap();
    let download = || Download {
        selection: selection.clone(),
        seeding: Some(SeedLimits::default()),
        ..Download::to(folder)
    };
    let torrents = vec![given(0, "data", shared.torrent.bytes())];
    let (session, _events) = start(Memory::default(), downloading(folder, download()), torrents);
    let wanted = |bytes: u64| {
        move |all: &Snapshot| {
            all.torrents[0].wanted_bytes == bytes && all.torrents[0].total_bytes > 0
        }
    };
    wait_until(&session, |all| {
        wanted(300_000)(all) && all.torrents[0].activity == Activity::Downloading
    });
    let here = Command::Place {
        folder: folder.to_owned(),
    };
    apply(&session, 0, &here);
    wait_until(&session, |all| {
        wanted(300_000)(all) && all.torrents[0].activity == Activity::Downloading
    });
    let choose = |files: &[u32], priority| Command::Prioritize {
        files: files.to_vec(),
        priority,
    };
    apply(&session, 0, &choose(&[1], Priority::Normal));
    wait_until(&session, wanted(300_001));
    apply(&session, 0, &here);
    wait_until(&session, |all| {
        wanted(300_001)(all) && all.torrents[0].activity == Activity::Downloading
    });
    let memory = passed_on(&session);
    session.stop().unwrap();
    let (session, _events) = start(memory, downloading(folder, download()), Vec::new());
    wait_until(&session, |all| {
        all.torrents[0].activity == Activity::Downloading
    });
    assert_eq!(session.snapshot().torrents[0].wanted_bytes, 300_001);
    apply(&session, 0, &choose(&[0], Priority::Skip));
    apply(&session, 0, &here);
    wait_until(&session, |all| {
        wanted(1)(all) && all.torrents[0].activity == Activity::Downloading
    });
    session.stop().unwrap();
}

/// A request that adds a torrent chooses all files, which is a choice.
#[test]
fn patterns_do_not_apply_to_a_request_that_chooses_all() {
    let shared = Shared::new();
    let content = tempfile::tempdir().unwrap();
    let folder = content.path();
    let mut selection = Globs::ignoring_case();
    selection.add("a").unwrap();
    let download = Download {
        selection,
        ..Download::to(folder)
    };
    let (session, _events) = start(
        Memory::default(),
        Config {
            watched: vec![Watched {
                folder: folder.to_owned(),
                category: None,
            }],
            added_files: AddedFiles::Kept,
            ..downloading(folder, download)
        },
        Vec::new(),
    );
    let new = NewTorrent {
        select: Some(vec![0, 1]),
        ..NewTorrent::default()
    };
    let source = Added::Torrent(shared.torrent.clone());
    session.add(source, &new, None).unwrap();
    let wanted = |it: &Arc<TorrentSnapshot>| it.wanted_bytes == 300_001;
    wait_until(&session, |all| all.torrents.first().is_some_and(wanted));
    session.stop().unwrap();
}

/// Files are known by their paths, whatever they are called.
#[test]
fn each_file_of_watched_folders_is_added_once() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    let watched = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let config = || Config {
        watched: watched
            .iter()
            .map(|folder| Watched {
                folder: folder.path().to_owned(),
                category: None,
            })
            .collect(),
        added_files: AddedFiles::Kept,
        ..seeding(folder)
    };
    let bytes = shared.torrent.bytes();
    fs::write(watched[0].path().join("same.torrent"), bytes).unwrap();
    fs::write(watched[1].path().join("same.torrent"), "no torrent").unwrap();
    let link = Magnet::new(InfoHashes::V1([7; 20].into()));
    fs::write(watched[1].path().join("link.magnet"), format!("{link}\n")).unwrap();
    fs::write(watched[1].path().join("bad.magnet"), "no link").unwrap();
    let torrents = vec![given(0, "same.torrent", b"given")];
    let (session, events) = start(Memory::default(), config(), torrents);
    let is_known = |all: &Snapshot| {
        let count = |activity| {
            all.torrents
                .iter()
                .filter(|it| it.activity == activity)
                .count()
        };
        count(Activity::Failed) == 3 && count(Activity::Serving) == 1 && all.torrents.len() == 5
    };
    let before = wait_until(&session, is_known);
    assert_eq!(session.problems(), []);
    drop(events);
    let memory = passed_on(&session);
    session.stop().unwrap();
    fs::write(watched[0].path().join("later.torrent"), "later").unwrap();
    let (session, events) = start(memory, config(), Vec::new());
    wait_for(
        &events,
        |event| matches!(event, Event::Added { label, .. } if label == "later.torrent"),
    );
    let all = wait_until(&session, |all| {
        all.torrents.last().unwrap().activity == Activity::Failed
    });
    assert_eq!(all.torrents.len(), 6);
    let labels = |all: &Snapshot| -> Vec<(usize, String)> {
        let torrents = all.torrents.iter();
        torrents
            .map(|it| (it.identity.number, it.torrent.clone()))
            .collect()
    };
    assert_eq!(labels(&all)[..5], labels(&before));
    // A file that changes is added again if its torrent has failed.
    fs::write(watched[0].path().join("later.torrent"), "changed").unwrap();
    wait_until(&session, |all| all.torrents.len() == 7);
    session.stop().unwrap();
}

/// A torrent that is over is not moved, and nothing waits for the move.
#[test]
fn a_torrent_that_is_over_is_not_moved() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    let torrents = vec![
        given(0, "data", shared.torrent.bytes()),
        given(1, "link", b"no torrent"),
    ];
    let config = Config {
        watched: vec![Watched {
            folder: folder.to_owned(),
            category: None,
        }],
        added_files: AddedFiles::Kept,
        ..seeding(folder)
    };
    let (session, events) = start(Memory::default(), config, torrents);
    wait_for(&events, is_verified);
    let relocate = Command::Relocate {
        folder: folder.join("new"),
    };
    // Either request may come too late.
    apply(&session, 0, &Command::End);
    let first = session.apply(&[0], &relocate, None);
    wait_until(&session, |all| all.torrents[0].activity == Activity::Ended);
    let second = session.apply(&[0], &relocate, None);
    assert!(
        matches!(&second[..], [Err(Refusal::Conflict(_))]),
        "{first:?}, {second:?}"
    );
    wait_until(&session, |all| all.torrents[0].move_to.is_none());
    apply(&session, 0, &resume());
    let all = wait_until(&session, |all| {
        all.torrents[0].activity == Activity::Serving
    });
    assert_eq!(all.torrents[0].move_to, None);
    shared.assert_same(folder);
    session.stop().unwrap();
}

/// A question names the torrent by its number, whatever its link had.
#[test]
fn a_handle_is_found_by_the_number_of_an_event() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    let torrents = vec![given(0, "data", shared.torrent.bytes())];
    let (session, events) = start(Memory::default(), seeding(folder), torrents);
    let mut torrent: Option<Identity> = None;
    while torrent.is_none() {
        if let Event::Verified(verified) = &*events.recv_timeout(PATIENCE).unwrap() {
            torrent = Some(verified.torrent);
        }
    }
    let number = torrent.unwrap().number;
    assert_eq!(session.handle(number.into()).unwrap().number(), number);
    session.stop().unwrap();
}

/// The local end of connections that another process had stays until the configuration has another one.
#[test]
fn a_requested_network_lasts_until_another_one_is_configured() {
    let shared = Shared::new();
    let state = tempfile::tempdir().unwrap();
    let at = |last| -> Network { SocketAddr::from(([127, 0, 0, last], 0)).into() };
    let config = |network| Config {
        folder: Some(shared.folder.path().to_owned()),
        network,
        ..Config::default()
    };
    let mut settings = client();
    settings.session.network = at(2);
    let store = hashlane_store::Store::open(state.path()).unwrap();
    let (session, _events) = Session::start(store, settings, config(at(1)), Vec::new()).unwrap();
    assert_eq!(session.requested_network().unwrap(), Some(at(2)));
    assert_eq!(session.configure(config(at(1))), Ok(true));
    assert_eq!(session.requested_network().unwrap(), Some(at(2)));
    assert_eq!(session.configure(config(at(3))), Ok(true));
    // The next process has the configured one.
    assert_eq!(session.requested_network().unwrap(), None);
    wait_until(&session, |all| all.network == at(3));
}

/// A move of content that is only served continues, or has ended with the other process.
#[test]
fn a_move_continues_in_another_process() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    let torrents = vec![given(0, "data", shared.torrent.bytes())];
    let (session, events) = start(Memory::default(), seeding(folder), torrents);
    wait_for(&events, is_verified);
    wait_until(&session, is_served);
    let to = folder.join("new");
    let relocate = Command::Relocate { folder: to.clone() };
    apply(&session, 0, &relocate);
    // As if the client did not respond, before and after the move itself.
    let before = passed_on(&session);
    let after = passed_on(&session);
    wait_for(&events, |event| matches!(event, Event::Relocated { .. }));
    session.stop().unwrap();
    for memory in [after, before] {
        let (session, events) = start(memory, seeding(folder), Vec::new());
        wait_for(&events, is_verified);
        let all = wait_until(&session, |all| {
            is_served(all) && all.torrents[0].move_to.is_none()
        });
        assert_eq!(all.torrents[0].folder.as_deref(), to.to_str());
        session.stop().unwrap();
        assert!(to.join("data").exists() && !folder.join("data").exists());
        fs::rename(to.join("data"), folder.join("data")).unwrap();
    }
}

/// Content that is served and not complete reaches its goal, too.
#[test]
fn a_part_of_the_content_is_served_until_the_goal() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    fs::write(folder.join("data/b"), "c").unwrap();
    let config = Config {
        goal: Goal {
            time: Target::At(Duration::from_secs(1)),
            ..Goal::default()
        },
        ..seeding(folder)
    };
    let torrents = vec![given(0, "data", shared.torrent.bytes())];
    let (session, events) = start(Memory::default(), config, torrents);
    wait_for(&events, |event| matches!(event, Event::Ended { .. }));
    assert_eq!(session.stop().unwrap(), [Outcome::Incomplete]);
}

/// Content that is absent is waited for until the goal.
#[test]
fn absent_content_is_waited_for_until_the_goal() {
    let shared = Shared::new();
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        goal: Goal {
            time: Target::At(Duration::from_secs(1)),
            ..Goal::default()
        },
        ..seeding(folder.path())
    };
    let torrents = vec![given(0, "data", shared.torrent.bytes())];
    let (session, events) = start(Memory::default(), config, torrents);
    wait_for(&events, |event| matches!(event, Event::Failed { .. }));
    assert_eq!(session.stop().unwrap(), [Outcome::Failed]);
}

/// The files that a magnet link selects stay selected when the torrent starts again.
#[test]
fn files_of_a_link_stay_selected() {
    let shared = Shared::new();
    let torrents = vec![given(0, "data", shared.torrent.bytes())];
    let (seed, events) = start(Memory::default(), seeding(shared.folder.path()), torrents);
    let listening = events.iter().find_map(|event| match &*event {
        Event::Listening(address) => Some(*address),
        _ => None,
    });
    wait_until(&seed, is_served);
    let content = tempfile::tempdir().unwrap();
    let folder = content.path();
    let download = Download {
        seeding: Some(SeedLimits::default()),
        ..Download::to(folder)
    };
    let hash = shared.torrent.info_hashes().v1().unwrap();
    let link: Magnet = format!("magnet:?xt=urn:btih:{hash}&so=2").parse().unwrap();
    let link = Given {
        source: link.into(),
        ..given(0, "link", b"")
    };
    let mut settings = client();
    settings.peers = vec![listening.unwrap()];
    let config = || downloading(folder, download.clone());
    let started = Session::start(Memory::default(), settings, config(), vec![link]);
    let (session, _events) = started.unwrap();
    let is_part = |all: &Snapshot| is_served(all) && all.torrents[0].wanted_bytes == 1;
    wait_until(&session, is_part);
    let memory = passed_on(&session);
    apply(&session, 0, &Command::End);
    wait_until(&session, |all| all.torrents[0].activity.is_over());
    session.stop().unwrap();
    let (session, _events) = start(memory, config(), Vec::new());
    let all = wait_until(&session, is_part);
    // The client goes on counting, so that its events and statistics have the same numbers as the API.
    let received = all.torrents[0].downloaded_bytes;
    assert!(received > 0);
    assert_eq!(session.totals().received, received);
    let handle = session.handle(0.into()).unwrap();
    assert_eq!(handle.snapshot().downloaded_bytes, received);
    session.stop().unwrap();
    seed.stop().unwrap();
}

/// The content of a torrent that is over can be deleted, also by a process in which it was never started.
#[test]
fn the_content_of_a_torrent_that_is_over_is_deleted_in_another_process() {
    let shared = Shared::new();
    let folder = shared.folder.path();
    let torrents = || {
        vec![
            given(0, "data", shared.torrent.bytes()),
            given(1, "absent", &[]),
        ]
    };
    let watched = tempfile::tempdir().unwrap();
    let config = || Config {
        watched: vec![Watched {
            folder: watched.path().to_owned(),
            category: None,
        }],
        added_files: AddedFiles::Kept,
        ..downloading(folder, Download::to(folder))
    };
    let (session, _events) = start(Memory::default(), config(), torrents());
    wait_until(&session, |all| {
        all.torrents.iter().all(|it| it.activity.is_over()) && all.torrents[0].is_complete
    });
    let memory = passed_on(&session);
    session.stop().unwrap();
    let (session, events) = start(memory, config(), Vec::new());
    wait_until(&session, |all| all.torrents[0].is_complete);
    let done = session.files(0.into()).into_iter();
    let done: Vec<_> = done.map(|(file, _)| file.done_bytes).collect();
    assert_eq!(done, [Some(300_000), Some(1)]);
    let delete = Command::Remove {
        content: Content::Delete,
    };
    apply(&session, 0, &delete);
    wait_for(
        &events,
        |event| matches!(event, Event::Removed(removed) if removed.deletion.is_some()),
    );
    assert!(!folder.join("data").exists());
    assert_eq!(session.stop().unwrap(), [Outcome::Failed]);
}
