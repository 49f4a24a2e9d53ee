//! Torrents of a running client are removed, verified, moved and changed by their handles.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashlane_client::{
    Activity, AddOptions, Client, Deletion, Download, Event, HandleError, KeptFile, Mode, Naming,
    Patch, Place, RatesPatch, Remove, RemovedTorrent, Seed, SeedLimits, Source, Subscription,
    TorrentError, TorrentHandle, TrackerState,
};
use hashlane_metainfo::Version;
use hashlane_verify::CancelToken;

use super::handles::wait_for;
use super::{PATIENCE, Running, Shared, VERSIONS, config};

/// Starts a client without torrents on loopback.
fn start(peers: &[SocketAddr]) -> Client {
    let config = config(peers, &CancelToken::default());
    Client::builder().config(config).start().unwrap()
}

/// Returns the change to these labels.
fn labels(labels: &[&str]) -> Patch {
    Patch {
        labels: Some(labels.iter().map(|label| (*label).to_owned()).collect()),
        ..Patch::default()
    }
}

/// Returns options for a download that is served afterwards.
fn to(folder: &Path) -> AddOptions {
    let mode = Mode::Download(Arc::new(Download {
        seeding: Some(SeedLimits::default()),
        ..Download::to(folder)
    }));
    AddOptions {
        mode: Some(mode),
        ..AddOptions::default()
    }
}

/// Returns options to serve the content at a path.
fn at(content: &Path) -> AddOptions {
    let mode = Mode::Seed(Seed {
        place: Place::Content(content.to_owned()),
        super_seeding: false,
        limits: SeedLimits::default(),
        records: None,
        naming: Naming::default(),
    });
    AddOptions {
        mode: Some(mode),
        ..AddOptions::default()
    }
}

/// Returns the first event that `wanted` accepts.
fn next<T>(events: &Subscription, mut wanted: impl FnMut(&Event) -> Option<T>) -> T {
    loop {
        let event = events.recv_timeout(PATIENCE).unwrap();
        if let Some(found) = wanted(&event) {
            return found;
        }
    }
}

/// Waits for the end of a removal.
fn removed(events: &Subscription, torrent: &TorrentHandle) -> RemovedTorrent {
    next(events, |event| match event {
        Event::Removed(removed) if removed.torrent.number == torrent.number() => {
            Some(removed.clone())
        }
        _ => None,
    })
}

/// Waits for the end of a move.
fn relocated(events: &Subscription) -> Option<String> {
    next(events, |event| match event {
        Event::Relocated { error, .. } => Some(error.as_ref().map(TorrentError::to_string)),
        _ => None,
    })
}

/// Waits for a condition. A snapshot follows the event that it belongs to.
fn until(condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A torrent that is removed leaves the list and the session at once, in every stage, and its path is free.
#[test]
fn a_removed_torrent_leaves_no_trace() {
    let shared = Shared::new(Version::V1);
    let seed = Running::start(vec![shared.seed()], &[]);
    let folder = tempfile::tempdir().unwrap();
    let client = start(&[seed.address()]);
    let events = client.subscribe();
    for is_paused in [true, false] {
        let options = AddOptions {
            is_paused,
            ..to(folder.path())
        };
        let torrent = client.add(shared.source(), options).unwrap();
        assert_eq!(
            client.get(torrent.number()).unwrap().number(),
            torrent.number()
        );
        if is_paused {
            wait_for(&torrent, Activity::Paused);
        } else {
            torrent.wait_complete().unwrap();
        }
        torrent.remove(Remove::Keep).unwrap();
        let report = removed(&events, &torrent);
        assert_eq!(report.deletion, None);
        assert_eq!(report.content, Some(folder.path().join("data")));
        assert_eq!(client.snapshot().torrents.len(), 0);
        assert!(client.torrents().is_empty() && torrent.is_removed());
        assert!(client.get(torrent.number()).is_none());
        let again = [
            torrent.remove(Remove::DeleteContent),
            torrent.pause(),
            torrent.wait_complete(),
            torrent.set(&labels(&[])),
            torrent.have().map(drop),
        ];
        assert_eq!(again, [const { Err(HandleError::Removed) }; 5]);
        assert_eq!(torrent.snapshot().activity, Activity::Ended);
    }
    shared.assert_same(folder.path());
    // Numbers are not used again.
    let torrent = client.add(shared.source(), to(folder.path())).unwrap();
    assert_eq!(torrent.number(), 2);
    torrent.wait_complete().unwrap();
    assert_eq!(torrent.snapshot().downloaded_bytes, 0);
    // A torrent can also be removed before it is opened, and after its end.
    let early = client.add(shared.source(), to(folder.path())).unwrap();
    early.remove(Remove::DeleteContent).unwrap();
    removed(&events, &early);
    torrent.end().unwrap();
    wait_for(&torrent, Activity::Ended);
    torrent.remove(Remove::Keep).unwrap();
    removed(&events, &torrent);
    shared.assert_same(folder.path());
    assert_eq!(client.stop().unwrap(), []);
    seed.interrupt();
}

/// The files of a torrent are deleted, complete or not, and nothing else.
#[test]
fn content_is_deleted() {
    for version in VERSIONS {
        let shared = Shared::new(version);
        let seed = Running::start(vec![shared.seed()], &[]);
        let folder = tempfile::tempdir().unwrap();
        let client = start(&[seed.address()]);
        let events = client.subscribe();
        let options = AddOptions {
            is_paused: true,
            ..to(folder.path())
        };
        let torrent = client.add(shared.source(), options).unwrap();
        wait_for(&torrent, Activity::Paused);
        assert!(names(folder.path()).is_empty());
        torrent.remove(Remove::DeleteContent).unwrap();
        let none = Some(Deletion::default());
        assert_eq!(removed(&events, &torrent).deletion, none);
        let all = Deletion {
            files: 3,
            bytes: 305_000,
            kept: Vec::new(),
        };
        let alone = start(&[]);
        let of_alone = alone.subscribe();
        let torrent = alone.add(shared.source(), to(folder.path())).unwrap();
        wait_for(&torrent, Activity::Downloading);
        assert_eq!(names(folder.path()), ["data"]);
        torrent.remove(Remove::DeleteContent).unwrap();
        let deletion = removed(&of_alone, &torrent).deletion;
        assert_eq!(deletion, Some(all.clone()));
        assert!(names(folder.path()).is_empty());
        let torrent = client.add(shared.source(), to(folder.path())).unwrap();
        torrent.wait_complete().unwrap();
        torrent.remove(Remove::DeleteContent).unwrap();
        // A torrent that is added at once waits for the deletion.
        let again = client.add(shared.source(), to(folder.path())).unwrap();
        assert_eq!(removed(&events, &torrent).deletion, Some(all.clone()));
        again.wait_complete().unwrap();
        assert!(again.snapshot().downloaded_bytes >= 305_000);
        fs::write(folder.path().join("data/other"), "of the user").unwrap();
        again.end().unwrap();
        wait_for(&again, Activity::Ended);
        again.remove(Remove::DeleteContent).unwrap();
        assert_eq!(removed(&events, &again).deletion, Some(all));
        assert_eq!(names(&folder.path().join("data")), ["other"]);
        drop(client);
        seed.interrupt();
    }
}

/// Files stay that another torrent has, that are not known to be the torrent's, or that lie behind a symbolic link.
#[test]
fn files_that_must_stay() {
    let shared = Shared::new(Version::V2);
    let data = shared.folder.path().join("data");
    let client = start(&[]);
    let events = client.subscribe();
    let place = tempfile::tempdir().unwrap();
    let delete = |torrent: &TorrentHandle| {
        torrent.remove(Remove::DeleteContent).unwrap();
        removed(&events, torrent).deletion.unwrap()
    };
    let kept = |path: &Path, reason: &str| KeptFile {
        path: path.to_owned(),
        reason: reason.to_owned(),
    };
    // The other torrent has one file by a link to its folder, and another name of the other file.
    let other = Shared::new(Version::V1);
    let linked = place.path().join("linked");
    fs::create_dir(&linked).unwrap();
    symlink(&data, linked.join("data")).unwrap();
    let options = at(&linked.join("data"));
    let user = client.add(other.source(), options).unwrap();
    wait_for(&user, Activity::Serving);
    let torrent = client.add(shared.source(), at(&data)).unwrap();
    wait_for(&torrent, Activity::Serving);
    let reason = "another torrent has the file";
    let files = ["a", "b", "empty"].map(|name| kept(&data.join(name), reason));
    let deletion = delete(&torrent);
    assert_eq!((deletion.files, &deletion.kept[..]), (0, &files[..]));
    user.remove(Remove::Keep).unwrap();
    removed(&events, &user);
    // Another name of a file is not the same entry.
    let names_of_user = place.path().join("names");
    fs::create_dir(&names_of_user).unwrap();
    for name in ["a", "b", "empty"] {
        fs::hard_link(data.join(name), names_of_user.join(name)).unwrap();
    }
    let user = client.add(other.source(), at(&names_of_user)).unwrap();
    wait_for(&user, Activity::Serving);
    // A file without a right piece, and one behind a link.
    fs::remove_file(data.join("b")).unwrap();
    fs::write(data.join("b"), "of the user").unwrap();
    fs::rename(data.join("empty"), place.path().join("empty")).unwrap();
    symlink(place.path().join("empty"), data.join("empty")).unwrap();
    let torrent = client.add(shared.source(), at(&data)).unwrap();
    wait_for(&torrent, Activity::Serving);
    let deletion = delete(&torrent);
    assert_eq!((deletion.files, deletion.bytes), (1, 300_000));
    let paths: Vec<&Path> = deletion
        .kept
        .iter()
        .map(|kept| kept.path.as_path())
        .collect();
    assert_eq!(paths, [data.join("b"), data.join("empty")], "{deletion:?}");
    assert_eq!(
        deletion.kept[0].reason,
        "not known to belong to the torrent"
    );
    assert_eq!(fs::read(data.join("b")).unwrap(), b"of the user");
    assert_eq!(names(&data), ["b", "empty"]);
    assert_eq!(names(&names_of_user), ["a", "b", "empty"]);
    wait_for(&user, Activity::Serving);
    // Content that is not verified yet, or that differs, proves nothing.
    let wrong = place.path().join("wrong");
    fs::create_dir(&wrong).unwrap();
    fs::write(wrong.join("a"), vec![7; 300_000]).unwrap();
    let torrent = client.add(shared.source(), at(&wrong)).unwrap();
    wait_for(&torrent, Activity::Absent);
    let deletion = delete(&torrent);
    assert_eq!((deletion.files, deletion.kept.len()), (0, 1));
    assert_eq!(names(&wrong), ["a"]);
}

/// A file that changes after its verification stays, even before the client notices.
#[test]
fn a_changed_file_stays() {
    let shared = Shared::new(Version::Hybrid);
    let data = shared.folder.path().join("data");
    let client = start(&[]);
    let events = client.subscribe();
    let torrent = client.add(shared.source(), at(&data)).unwrap();
    wait_for(&torrent, Activity::Serving);
    // The length stays, and the client still has the pieces of the last verification, unless it has noticed the change.
    let bytes = vec![7; 300_000];
    fs::write(data.join("a"), &bytes).unwrap();
    torrent.remove(Remove::DeleteContent).unwrap();
    let deletion = removed(&events, &torrent).deletion.unwrap();
    assert_eq!(deletion.kept.len(), 1, "{deletion:?}");
    assert!(fs::read(data.join("a")).unwrap() == bytes);
    assert_eq!(names(&data), ["a"]);
}

/// A verification on request finds what is missing, and a download loads it again.
#[test]
fn a_verification_finds_what_is_missing() {
    let shared = Shared::new(Version::V1);
    let seed = Running::start(vec![shared.seed()], &[]);
    let folder = tempfile::tempdir().unwrap();
    let client = start(&[seed.address()]);
    let events = client.subscribe();
    let verified = || {
        next(&events, |event| match event {
            Event::Verified(verified) => Some((verified.have, verified.pieces)),
            _ => None,
        })
    };
    let torrent = client.add(shared.source(), to(folder.path())).unwrap();
    let pieces = verified().1;
    torrent.wait_complete().unwrap();
    torrent.verify().unwrap();
    assert_eq!(verified(), (pieces, pieces));
    torrent.pause().unwrap();
    wait_for(&torrent, Activity::Paused);
    let path = folder.path().join("data/a");
    let mut bytes = fs::read(&path).unwrap();
    bytes[100_000] ^= 1;
    fs::write(&path, bytes).unwrap();
    torrent.verify().unwrap();
    assert_eq!(verified(), (pieces - 1, pieces));
    wait_for(&torrent, Activity::Paused);
    torrent.resume().unwrap();
    let downloaded = torrent.snapshot().downloaded_bytes;
    let finished = next(&events, |event| match event {
        Event::Finished(download) => Some(download.downloaded_bytes),
        _ => None,
    });
    assert!(finished < downloaded * 2, "{finished} {downloaded}");
    torrent.wait_complete().unwrap();
    shared.assert_same(folder.path());
    drop(client);
    seed.interrupt();
}

/// The content of a download and of a torrent that is served moves, and is served from its new place.
#[test]
fn content_moves_to_another_folder() {
    let shared = Shared::new(Version::Hybrid);
    let seed = Running::start(vec![shared.seed()], &[]);
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let client = start(&[seed.address()]);
    let events = client.subscribe();
    let options = AddOptions {
        is_paused: true,
        ..to(first.path())
    };
    fs::create_dir(first.path().join("data")).unwrap();
    let a = Path::new("data/a");
    fs::copy(shared.folder.path().join(a), first.path().join(a)).unwrap();
    let torrent = client.add(shared.source(), options).unwrap();
    wait_for(&torrent, Activity::Paused);
    // An incomplete download keeps what it has, and continues. Here, it also waits for a file of the user that is in the way.
    let new = second.path().join("new/folder");
    fs::create_dir_all(new.join("data")).unwrap();
    torrent.relocate(&new).unwrap();
    let error = relocated(&events).unwrap();
    assert!(
        error.contains("not moved") && error.contains("exists"),
        "{error}"
    );
    until(|| torrent.folder().as_deref() == Some(first.path()));
    fs::remove_dir(new.join("data")).unwrap();
    torrent.relocate(&new).unwrap();
    assert_eq!(relocated(&events), None);
    until(|| torrent.folder() == Some(new.clone()));
    wait_for(&torrent, Activity::Paused);
    torrent.resume().unwrap();
    torrent.wait_complete().unwrap();
    shared.assert_same(&new);
    assert!(names(first.path()).is_empty());
    // The old path is free, and the new one is not.
    let magnet = client.add(shared.source(), to(&new)).unwrap();
    let failed = magnet.wait_complete().unwrap_err();
    assert!(
        failed.to_string().contains("remove one of the two"),
        "{failed}"
    );
    torrent.relocate(first.path()).unwrap();
    assert_eq!(relocated(&events), None);
    until(|| torrent.content() == Some(first.path().join("data")));
    torrent.wait_complete().unwrap();
    shared.assert_same(first.path());
    torrent.remove(Remove::DeleteContent).unwrap();
    let deletion = removed(&events, &torrent).deletion.unwrap();
    assert_eq!((deletion.files, deletion.kept), (3, Vec::new()));
    drop(client);
    assert_eq!(seed.interrupt().len(), 1);
}

#[test]
fn served_content_moves() {
    let shared = Shared::new(Version::V2);
    let folder = tempfile::tempdir().unwrap();
    // The content has another name than the torrent.
    let named = shared.folder.path().join("named");
    fs::rename(shared.folder.path().join("data"), &named).unwrap();
    let client = start(&[]);
    let events = client.subscribe();
    let torrent = client.add(shared.source(), at(&named)).unwrap();
    wait_for(&torrent, Activity::Serving);
    torrent.relocate(folder.path()).unwrap();
    assert_eq!(relocated(&events), None);
    until(|| torrent.content() == Some(folder.path().join("named")));
    wait_for(&torrent, Activity::Serving);
    assert!(torrent.have().unwrap().iter().all(|have| *have));
    assert!(!named.exists());
    fs::remove_dir_all(folder.path().join("named")).unwrap();
    torrent.verify().unwrap();
    wait_for(&torrent, Activity::Absent);
    torrent.relocate(shared.folder.path()).unwrap();
    assert!(relocated(&events).is_some());
}

/// What a person chooses is part of the snapshot, and the session follows it.
#[test]
fn choices_are_kept() {
    let shared = Shared::new(Version::V1);
    let client = start(&[]);
    let options = AddOptions {
        labels: vec!["linux".to_owned()],
        limits: RatesPatch {
            max_up: Some(NonZeroU32::new(1 << 20)),
            ..RatesPatch::default()
        },
        ..at(&shared.folder.path().join("data"))
    };
    let torrent = client.add(shared.source(), options).unwrap();
    wait_for(&torrent, Activity::Serving);
    let snapshot = torrent.snapshot();
    assert_eq!(snapshot.labels, ["linux"]);
    assert_eq!((snapshot.max_down, snapshot.max_up), (None, Some(1 << 20)));
    assert!(snapshot.is_served && !snapshot.is_private && !snapshot.is_paused);
    assert_eq!(
        (snapshot.files, snapshot.piece_length),
        (3, super::PIECE_LEN)
    );
    assert!(snapshot.completed_at.unwrap() >= snapshot.added_at);
    assert_eq!(torrent.metainfo().unwrap().bytes(), shared.torrent.bytes());
    torrent.set(&labels(&["a", "b"])).unwrap();
    let limits = Patch {
        max_down: Some(NonZeroU32::new(1 << 10)),
        max_up: Some(None),
        ..Patch::default()
    };
    torrent.set(&limits).unwrap();
    let tracker = "http://127.0.0.1:1/announce?passkey=0123456789abcdef";
    assert_eq!(
        torrent.add_tracker("no URL"),
        Err(HandleError::InvalidTracker)
    );
    torrent.add_tracker(tracker).unwrap();
    torrent
        .set_goal(Some(SeedLimits {
            ratio: Some(2.0),
            time: None,
        }))
        .unwrap();
    let has_tracker = || torrent.trackers().is_ok_and(|trackers| trackers.len() == 1);
    until(|| {
        let snapshot = torrent.snapshot();
        snapshot.labels == ["a", "b"]
            && (snapshot.max_down, snapshot.max_up) == (Some(1 << 10), None)
            && snapshot.seed_ratio == Some(2.0)
            && has_tracker()
    });
    let trackers = torrent.trackers().unwrap();
    assert!(
        !trackers[0].url.contains("0123456789abcdef"),
        "{trackers:?}"
    );
    // The session knows the tracker again after a verification.
    let events = client.subscribe();
    torrent.verify().unwrap();
    next(&events, |event| {
        matches!(event, Event::Verified(_)).then_some(())
    });
    until(has_tracker);
    torrent.set_goal(None).unwrap();
    wait_for(&torrent, Activity::Ended);
    torrent.set(&labels(&[])).unwrap();
    assert_eq!(torrent.verify(), Err(HandleError::Ended));
}

/// A request announces a torrent again, at once if the tracker sets no minimum interval. libtorrent itself waits for at least
/// five minutes.
#[test]
fn a_torrent_is_announced_on_request() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, announced) = std::sync::mpsc::channel();
    // The thread ends with the test.
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            let _ = reader.read_line(&mut line);
            let mut header = String::new();
            while reader.read_line(&mut header).is_ok_and(|n| n > 2) {
                header.clear();
            }
            let body = "d8:intervali1e12:min intervali0e5:peers0:e";
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length";
            let _ = write!(reader.get_mut(), "{head}: {}\r\n\r\n{body}", body.len());
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let shared = Shared::new(Version::V1);
    let client = start(&[]);
    let data = shared.folder.path().join("data");
    let torrent = client.add(shared.source(), at(&data)).unwrap();
    wait_for(&torrent, Activity::Serving);
    torrent
        .add_tracker(&format!("http://{address}/announce"))
        .unwrap();
    let is_working = || {
        let trackers = torrent.trackers().unwrap_or_default();
        trackers.iter().any(|it| it.state == TrackerState::Working)
    };
    for n in 0..3 {
        if n > 0 {
            torrent.reannounce().unwrap();
        }
        announced.recv_timeout(PATIENCE).unwrap();
        // A request before the answer would have no effect.
        until(is_working);
    }
    // A torrent that is removed says so.
    torrent.remove(Remove::Keep).unwrap();
    let last = announced.recv_timeout(PATIENCE).unwrap();
    assert!(last.contains("event=stopped"), "{last}");
    drop(client);
}

/// A download that is incomplete moves to another file system with what it has, and goes on from there. A torrent that is
/// removed during a move is deleted where its content is.
#[test]
fn an_incomplete_download_moves_to_another_file_system() {
    let shared = Shared::new(Version::V1);
    let folder = tempfile::tempdir().unwrap();
    let Ok(other) = tempfile::tempdir_in("/dev/shm") else {
        return crate::not_run::not_run(
            "the move of a download to another file system",
            "there is none at /dev/shm",
            "mount -t tmpfs tmpfs /dev/shm",
        );
    };
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let whole = fs::read(shared.folder.path().join("data/a")).unwrap();
    let mut half = whole.clone();
    half[200_000..].fill(0);
    fs::write(data.join("a"), half).unwrap();
    let client = start(&[]);
    let events = client.subscribe();
    let torrent = client.add(shared.source(), to(folder.path())).unwrap();
    let have = next(&events, |event| match event {
        Event::Verified(verified) => Some(verified.have),
        _ => None,
    });
    assert!(have > 0);
    torrent.relocate(other.path()).unwrap();
    assert_eq!(relocated(&events), None);
    let again = next(&events, |event| match event {
        Event::Verified(verified) => Some(verified.have),
        _ => None,
    });
    assert_eq!(again, have);
    assert!(names(folder.path()).is_empty());
    assert_eq!(names(other.path()), ["data"]);
    let seed = Running::start(vec![shared.seed()], &[]);
    let peer = seed.address();
    until(|| torrent.add_peer(peer).is_ok());
    torrent.wait_complete().unwrap();
    shared.assert_same(other.path());
    // Back to the first file system, and removed meanwhile.
    torrent.relocate(folder.path()).unwrap();
    torrent.remove(Remove::DeleteContent).unwrap();
    let deletion = removed(&events, &torrent).deletion.unwrap();
    assert_eq!((deletion.files, deletion.kept), (3, Vec::new()));
    assert!(names(folder.path()).is_empty() && names(other.path()).is_empty());
    drop(client);
    seed.interrupt();
}

/// A torrent waits until the content of another one at its path is deleted, also behind torrents that open slowly. A client
/// that is stopped meanwhile ends.
#[test]
fn a_deletion_waits_for_torrents_that_are_being_opened() {
    let shared = Shared::new(Version::V1);
    let seed = Running::start(vec![shared.seed()], &[]);
    let folder = tempfile::tempdir().unwrap();
    let client = start(&[seed.address()]);
    let events = client.subscribe();
    let torrent = client.add(shared.source(), to(folder.path())).unwrap();
    torrent.wait_complete().unwrap();
    // A magnet link that is still without metadata is not opened, and delays nothing. A file that is read is.
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let other = Shared::new(Version::V2);
    let bytes = other.torrent.bytes().to_vec();
    let slow = Source::Metainfo(Box::new(move || {
        receiver.recv()?;
        Ok(bytes)
    }));
    // The second torrent serves the content of the first one.
    let slow = client.add(slow, at(&folder.path().join("data"))).unwrap();
    torrent.remove(Remove::DeleteContent).unwrap();
    until(|| torrent.is_removed());
    shared.assert_same(folder.path());
    sender.send(()).unwrap();
    let deletion = removed(&events, &torrent).deletion.unwrap();
    assert_eq!(
        (deletion.files, deletion.kept.len()),
        (0, 3),
        "{deletion:?}"
    );
    wait_for(&slow, Activity::Serving);
    shared.assert_same(folder.path());
    drop(client);
    seed.interrupt();
}

/// A download that is under way requests its pieces in order from the command on.
#[test]
fn pieces_are_requested_in_order_by_command() {
    let shared = Shared::new(Version::V1);
    let seed = Running::start(vec![shared.seed()], &[]);
    let folder = tempfile::tempdir().unwrap();
    let client = start(&[]);
    let events = client.subscribe();
    let torrent = client.add(shared.source(), to(folder.path())).unwrap();
    until(|| torrent.have().is_ok());
    let in_order = Patch {
        sequential: Some(true),
        ..Patch::default()
    };
    torrent.set(&in_order).unwrap();
    // Commands are handled one after the other.
    torrent.set(&labels(&["ordered"])).unwrap();
    until(|| torrent.snapshot().labels == ["ordered"]);
    torrent.add_peer(seed.address()).unwrap();
    let mut pieces = Vec::new();
    next(&events, |event| match event {
        Event::Complete(_) => Some(()),
        Event::Piece { piece, .. } => {
            pieces.push(*piece);
            None
        }
        _ => None,
    });
    assert!(pieces.len() > 15, "{pieces:?}");
    // Several pieces are requested at the same time.
    let is_near = |(position, piece): (u32, &u32)| piece.abs_diff(position) <= 4;
    assert!((0..).zip(&pieces).all(is_near), "{pieces:?}");
}
