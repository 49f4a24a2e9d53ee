//! Two clients in one process exchange torrents, without a terminal.

mod changes;
mod examples;
mod handles;
mod network;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hashlane_client::{
    Activity, AddError, AddOptions, Client, Command, Config, Download, Event, Existing, Identity,
    InfoHash, Mode, Naming, Outcome, Place, RatesPatch, Seed, SeedLimits, Snapshot, Source,
    Subscription, Task, TorrentCommand, TorrentError, TorrentKey,
};
use hashlane_metainfo::{InfoHashes, Magnet, NewContent, NewMetadata, Torrent, Version};
use hashlane_swarm::{Session, Settings, Transport};
use hashlane_verify::{CancelToken, Options, Selection, SourceTree, hash_source_tree};

const PIECE_LEN: u32 = 16 << 10;

const VERSIONS: [Version; 3] = [Version::V1, Version::V2, Version::Hybrid];

/// Time limit for every step.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder with the content `data` of a torrent.
struct Shared {
    folder: tempfile::TempDir,
    torrent: Torrent,
}

impl Shared {
    fn new(version: Version) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        for (name, len) in [("a", 300_000_u32), ("b", 5_000), ("empty", 0)] {
            let bytes: Vec<u8> = (0..len).map(|i| (i / 3 + i / 1000 + len) as u8).collect();
            fs::write(data.join(name), bytes).unwrap();
        }
        let selection =
            Selection::new(&|_| hashlane_verify::Choice::Take).links(hashlane_verify::Links::Skip);
        let tree = SourceTree::find(&data, &selection, false).unwrap();
        let files = tree.files();
        let content = NewContent::new(version, PIECE_LEN, b"data".to_vec(), false, files).unwrap();
        let (options, cancel) = (Options::default(), CancelToken::default());
        let hashes = hash_source_tree(&tree, &content, &options, &cancel, &mut |_| {}).unwrap();
        let torrent = content.write(&hashes, &NewMetadata::default());
        Self {
            folder,
            torrent: Torrent::parse(torrent).unwrap(),
        }
    }

    fn source(&self) -> Source {
        let bytes = self.torrent.bytes().to_vec();
        Source::Metainfo(Box::new(|| Ok(bytes)))
    }

    fn magnet(&self) -> Source {
        let link = Magnet::of(&self.torrent).to_string();
        Source::Magnet(Box::new(link.parse().unwrap()))
    }

    fn assert_same(&self, folder: &Path) {
        for name in ["a", "b", "empty"] {
            let read = |folder: &Path| fs::read(folder.join("data").join(name)).unwrap();
            assert!(read(folder) == read(self.folder.path()), "{name}");
        }
    }

    fn seed(&self) -> Task {
        Task {
            label: "seed".into(),
            source: self.source(),
            mode: Mode::Seed(Seed {
                records: None,
                naming: Naming::default(),
                place: Place::Folder(self.folder.path().to_owned()),
                super_seeding: false,
                limits: SeedLimits::default(),
            }),
        }
    }
}

fn download(source: Source, folder: &Path, existing: Existing) -> Task {
    Task {
        label: "download".into(),
        source,
        mode: Mode::Download(Arc::new(Download {
            existing,
            timeout: Some(PATIENCE),
            ..Download::to(folder)
        })),
    }
}

/// Returns the settings of a client on loopback, without peer discovery.
fn config(peers: &[SocketAddr], cancel: &CancelToken) -> Config {
    Config {
        session: Settings {
            network: SocketAddr::from(([127, 0, 0, 1], 0)).into(),
            dht: false,
            local_discovery: false,
            port_mapping: false,
            transport: Transport::Tcp,
            close_redundant: false,
            ..Settings::default()
        },
        peers: peers.to_vec(),
        cancel: cancel.clone(),
        max_metainfo_len: 1 << 20,
        ..Config::default()
    }
}

/// A client on loopback, without peer discovery.
struct Running {
    client: Client,
    events: Subscription,
    cancel: CancelToken,
}

impl Running {
    fn start(tasks: Vec<Task>, peers: &[SocketAddr]) -> Self {
        let cancel = CancelToken::default();
        let (client, events) = Client::start(config(peers, &cancel), tasks).unwrap();
        Self {
            client,
            events,
            cancel,
        }
    }

    fn send(&self, torrent: usize, command: TorrentCommand) {
        self.client.send(Command::Torrent(torrent, command));
    }

    /// Returns the first event that `wanted` accepts.
    fn wait_for<T>(&self, wanted: impl Fn(&Event) -> Option<T>) -> T {
        loop {
            let event = self.events.recv_timeout(PATIENCE).unwrap();
            if let Some(found) = wanted(&event) {
                return found;
            }
        }
    }

    fn wait_for_snapshot(&self, wanted: impl Fn(&Snapshot) -> bool) {
        let started = Instant::now();
        while !wanted(&self.client.snapshot()) {
            assert!(
                started.elapsed() < PATIENCE,
                "{:#?}",
                self.client.snapshot()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn address(&self) -> SocketAddr {
        self.wait_for(|event| match event {
            Event::Listening(address) => Some(*address),
            _ => None,
        })
    }

    /// Returns the remaining events and the outcomes.
    fn end(self) -> (Vec<Arc<Event>>, Vec<Outcome>) {
        let events = self.events.iter().collect();
        (events, self.client.join().unwrap())
    }

    fn interrupt(self) -> Vec<Outcome> {
        self.cancel.cancel();
        self.end().1
    }
}

#[test]
fn a_torrent_too_many_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let cancel = CancelToken::default();
    let config = Config {
        additions: hashlane_client::Additions {
            mode: Some(download(Source::Url(String::new()), folder.path(), Existing::Resume).mode),
            max_torrents: 1,
            runs_on: true,
            ..hashlane_client::Additions::default()
        },
        ..config(&[], &cancel)
    };
    let (client, events) = Client::start(config, Vec::new()).unwrap();
    let running = Running {
        client,
        events,
        cancel,
    };
    let add = |digit: &str| {
        let link = format!("magnet:?xt=urn:btih:{}", digit.repeat(40));
        let link: Magnet = link.parse().unwrap();
        running.client.add(link.into(), AddOptions::default())
    };
    add("1").unwrap();
    assert!(matches!(add("2"), Err(AddError::TooMany)));
    running.wait_for(|event| match event {
        Event::Warning { message, .. } => message.contains("too many torrents").then_some(()),
        _ => None,
    });
    running.wait_for_snapshot(|all| all.torrents.len() == 1 && !all.accepts_torrents);
    running.interrupt();
}

fn activity(number: usize, activity: Activity) -> impl Fn(&Snapshot) -> bool {
    move |snapshot| {
        let torrent = snapshot.torrents.get(number);
        torrent.is_some_and(|torrent| torrent.activity == activity)
    }
}

#[test]
fn torrents_and_links_of_every_version() {
    for version in VERSIONS {
        let shared = Shared::new(version);
        let seed = Running::start(vec![shared.seed()], &[]);
        let address = seed.address();
        for source in [shared.source(), shared.magnet()] {
            let folder = tempfile::tempdir().unwrap();
            let task = download(source, folder.path(), Existing::Resume);
            let (events, outcomes) = Running::start(vec![task], &[address]).end();
            assert_eq!(outcomes, [Outcome::Complete], "{version:?}: {events:?}");
            shared.assert_same(folder.path());
            let identity = Identity {
                number: 0,
                info_hashes: Some(shared.torrent.info_hashes()),
            };
            let is_piece = |event: &&Arc<Event>| matches!(***event, Event::Piece { torrent, .. } if torrent == identity);
            let pieces = events.iter().filter(is_piece);
            let expected = shared.torrent.lengths().piece_count() as usize;
            assert_eq!(pieces.count(), expected, "{version:?}");
            let finished = events.iter().find_map(|event| match &**event {
                Event::Finished(download) => Some(download.downloaded_bytes),
                _ => None,
            });
            assert!(finished.unwrap() >= shared.torrent.content_length());
        }
        assert_eq!(seed.interrupt(), [Outcome::Complete]);
    }
}

/// A link can name one version of a hybrid torrent. Its metadata has both, and both name the torrent from then on.
#[test]
fn metadata_completes_the_identity_of_a_link() {
    let shared = Shared::new(Version::Hybrid);
    let info_hashes = shared.torrent.info_hashes();
    let v1 = info_hashes.v1().unwrap();
    let seed = Running::start(vec![shared.seed()], &[]);
    let folder = tempfile::tempdir().unwrap();
    let link = format!("magnet:?xt=urn:btih:{v1}").parse().unwrap();
    let source = Source::Magnet(Box::new(link));
    let task = download(source, folder.path(), Existing::Resume);
    let peers = [seed.address()];
    let Running { client, events, .. } = Running::start(vec![task], &peers);
    let identities = events.iter().filter_map(|event| match &*event {
        Event::Identified(torrent) => torrent.info_hashes,
        Event::Failed { error, .. } => panic!("{error}"),
        _ => None,
    });
    let identities: Vec<InfoHashes> = identities.collect();
    assert_eq!(identities, [InfoHashes::V1(v1), info_hashes]);
    let snapshot = client.snapshot();
    for info_hash in [InfoHash::V1(v1), InfoHash::V2(info_hashes.v2().unwrap())] {
        let found = snapshot.find(TorrentKey::InfoHash(info_hash)).unwrap();
        assert_eq!(found.identity.number, 0);
    }
    assert_eq!(client.join().unwrap(), [Outcome::Complete]);
    seed.interrupt();
}

/// A link that selects files (BEP 53) gives the torrent that fetches its metadata no file to want. That torrent has no files, and
/// would fail as soon as a block arrived.
#[test]
fn the_torrent_that_fetches_metadata_wants_no_piece() {
    let shared = Shared::new(Version::V1);
    let seed = Running::start(vec![shared.seed()], &[]);
    let link = format!("{}&so=0", Magnet::of(&shared.torrent));
    let settings = config(&[], &CancelToken::default()).session;
    let session = Session::new(&settings, false).unwrap();
    let link: Magnet = link.parse().unwrap();
    let id = session.add_magnet(&link, &[seed.address()]).unwrap();
    let started = Instant::now();
    while session.metadata(id).unwrap().is_none() {
        assert!(started.elapsed() < PATIENCE, "no metadata");
        session.wait(Duration::from_millis(10)).unwrap();
    }
    assert_eq!(session.statuses(&[id]).unwrap()[&id].wanted, 0);
    seed.interrupt();
}

/// The session and the other torrents do not wait for a slow source. Here, that source has no data yet.
#[test]
fn torrents_join_one_by_one() {
    let (shared, slow) = (Shared::new(Version::V1), Shared::new(Version::V2));
    let (sender, receiver) = mpsc::channel::<()>();
    let bytes = slow.torrent.bytes().to_vec();
    let mut slow_task = slow.seed();
    slow_task.source = Source::Metainfo(Box::new(move || {
        receiver.recv()?;
        Ok(bytes)
    }));
    let seed = Running::start(vec![shared.seed(), slow_task], &[]);
    let address = seed.address();
    seed.wait_for_snapshot(activity(0, Activity::Serving));
    let folder = tempfile::tempdir().unwrap();
    let task = download(shared.source(), folder.path(), Existing::Resume);
    let (_, outcomes) = Running::start(vec![task], &[address]).end();
    assert_eq!(outcomes, [Outcome::Complete]);
    assert!(activity(1, Activity::Waiting)(&seed.client.snapshot()));
    // Commands work. A command to a torrent that has not joined yet takes effect when it joins.
    let limit = std::num::NonZeroU32::new(1 << 20);
    seed.client.send(Command::Limit(RatesPatch {
        max_up: Some(limit),
        ..RatesPatch::default()
    }));
    seed.wait_for_snapshot(|snapshot| snapshot.max_up == Some(1 << 20));
    seed.send(1, TorrentCommand::Pause);
    sender.send(()).unwrap();
    seed.wait_for_snapshot(activity(1, Activity::Paused));
    seed.send(1, TorrentCommand::Resume);
    seed.wait_for_snapshot(activity(1, Activity::Serving));
    seed.send(0, TorrentCommand::End);
    seed.wait_for_snapshot(activity(0, Activity::Ended));
    assert_eq!(seed.interrupt(), [Outcome::Complete; 2]);
}

#[test]
fn a_client_ends_while_a_source_is_slow() {
    let shared = Shared::new(Version::V1);
    let (_sender, receiver) = mpsc::channel::<()>();
    let mut task = shared.seed();
    task.source = Source::Metainfo(Box::new(move || {
        receiver.recv()?;
        Ok(Vec::new())
    }));
    let seed = Running::start(vec![task], &[]);
    let asked = Instant::now();
    assert_eq!(seed.interrupt(), [Outcome::Failed]);
    assert!(asked.elapsed() < Duration::from_secs(2));
}

#[test]
fn wrong_pieces_wait_for_an_answer() {
    let shared = Shared::new(Version::Hybrid);
    let seed = Running::start(vec![shared.seed()], &[]);
    let address = seed.address();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("b"), [7; 5_000]).unwrap();
    let ask = || {
        let task = download(shared.source(), folder.path(), Existing::Confirm);
        let running = Running::start(vec![task], &[address]);
        let files = running.wait_for(|event| match event {
            Event::Confirm { replacement, .. } => Some(replacement.files.clone()),
            _ => None,
        });
        assert_eq!(files, [("b".to_owned(), 1)]);
        running
    };
    let running = ask();
    running.wait_for_snapshot(activity(0, Activity::Confirming));
    running.send(0, TorrentCommand::Keep("kept".into()));
    assert_eq!(running.end().1, [Outcome::Failed]);
    assert_eq!(fs::read(data.join("b")).unwrap(), [7; 5_000]);
    assert!(!data.join("a").exists());
    let running = ask();
    running.send(0, TorrentCommand::Replace);
    assert_eq!(running.end().1, [Outcome::Complete]);
    shared.assert_same(folder.path());
    seed.interrupt();
}

#[test]
fn a_file_that_is_not_of_the_torrent_is_named() {
    let shared = Shared::new(Version::V2);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("a"), vec![7; 300_000]).unwrap();
    let task = download(shared.source(), folder.path(), Existing::Resume);
    let seed = Running::start(vec![shared.seed()], &[]);
    let (events, outcomes) = Running::start(vec![task], &[seed.address()]).end();
    assert_eq!(outcomes, [Outcome::Failed]);
    let is_named = events.iter().any(|event| match &**event {
        Event::Failed {
            error: TorrentError::Unrelated {
                path, others: 0, ..
            },
            ..
        } => *path == data.join("a"),
        _ => false,
    });
    assert!(is_named, "{events:?}");
    // The other file is downloaded.
    assert_eq!(fs::read(data.join("a")).unwrap(), vec![7; 300_000]);
    assert!(data.join("b").exists());
}

/// libtorrent counts from 0 again when a torrent is resumed.
#[test]
fn sent_bytes_are_counted_across_pauses() {
    let shared = Shared::new(Version::V1);
    let mut task = shared.seed();
    if let Mode::Seed(seed) = &mut task.mode {
        // Reached by the last byte of the second download: a smaller one could end the seed in the middle of it.
        seed.limits.ratio = Some(2.0);
    }
    let seed = Running::start(vec![task], &[]);
    let address = seed.address();
    let get = || {
        let folder = tempfile::tempdir().unwrap();
        let task = download(shared.source(), folder.path(), Existing::Resume);
        Running::start(vec![task], &[address]).end().1
    };
    assert_eq!(get(), [Outcome::Complete]);
    let content = shared.torrent.content_length();
    let has_sent = |snapshot: &Snapshot| snapshot.torrents[0].uploaded_bytes >= content;
    seed.wait_for_snapshot(has_sent);
    seed.send(0, TorrentCommand::Pause);
    seed.wait_for_snapshot(activity(0, Activity::Paused));
    seed.send(0, TorrentCommand::Resume);
    seed.wait_for_snapshot(activity(0, Activity::Serving));
    assert!(has_sent(&seed.client.snapshot()));
    assert_eq!(get(), [Outcome::Complete]);
    let uploaded = seed.wait_for(|event| match event {
        Event::Ended { uploaded_bytes, .. } => Some(*uploaded_bytes),
        _ => None,
    });
    assert!(uploaded >= content * 2, "{uploaded} of {content}");
    assert_eq!(seed.end().1, [Outcome::Complete]);
}

/// Writes content that takes long to verify, without occupying much space: many names of one file. Returns its torrent,
/// whose hashes are wrong.
fn long_content(folder: &Path) -> Vec<u8> {
    const LEN: usize = 64 << 20;
    const FILES: usize = 2000;
    let content = folder.join("long");
    fs::create_dir(&content).unwrap();
    let first = content.join("0000");
    fs::write(&first, vec![1; LEN]).unwrap();
    for n in 1..FILES {
        fs::hard_link(&first, content.join(format!("{n:04}"))).unwrap();
    }
    let files = (0..FILES).map(|n| format!("d6:lengthi{LEN}e4:pathl4:{n:04}ee"));
    let files = files.collect::<Vec<String>>().concat();
    let piece_len = 16 << 20;
    let hashes = vec![b'h'; LEN / piece_len * FILES * 20];
    let info = format!("d4:infod5:filesl{files}e4:name4:long12:piece lengthi{piece_len}e6:pieces");
    let head = format!("{info}{}:", hashes.len());
    [head.as_bytes(), &hashes, b"ee"].concat()
}

/// A finished download is verified and reported while the content of another torrent is still being verified for the
/// first time.
#[test]
fn a_finished_download_does_not_wait_for_first_verifications() {
    let shared = Shared::new(Version::V1);
    let seed = Running::start(vec![shared.seed()], &[]);
    let (folder, long) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let metainfo = long_content(long.path());
    let mut long_task = shared.seed();
    long_task.source = Source::Metainfo(Box::new(|| Ok(metainfo)));
    let Mode::Seed(mode) = &mut long_task.mode else {
        unreachable!();
    };
    mode.place = Place::Folder(long.path().to_owned());
    let task = download(shared.source(), folder.path(), Existing::Resume);
    let both = Running::start(vec![long_task, task], &[seed.address()]);
    let finished = both.wait_for(|event| match event {
        Event::Finished(download) => Some(download.torrent.number),
        Event::Failed { torrent, error, .. } => panic!("{torrent:?}: {error}"),
        _ => None,
    });
    assert_eq!(finished, 1);
    let snapshot = both.client.snapshot();
    assert_eq!(snapshot.torrents[0].activity, Activity::Verifying);
    shared.assert_same(folder.path());
    assert_eq!(both.interrupt(), [Outcome::Failed, Outcome::Complete]);
    seed.interrupt();
}

/// A client needs no subscriber, and one that does not read has no effect on the client.
#[test]
fn a_client_without_a_reader_runs_on() {
    let shared = Shared::new(Version::V1);
    let seed = Running::start(vec![shared.seed()], &[]);
    let folder = tempfile::tempdir().unwrap();
    let task = download(shared.source(), folder.path(), Existing::Resume);
    let Running { client, events, .. } = Running::start(vec![task], &[seed.address()]);
    let silent = client.subscribe();
    drop(events);
    assert_eq!(client.join().unwrap(), [Outcome::Complete]);
    shared.assert_same(folder.path());
    let is_finished = |event: Arc<Event>| matches!(*event, Event::Finished(_));
    assert!(silent.iter().any(is_finished));
    seed.interrupt();
}

/// A client ends when it is dropped or stopped, and so do its subscriptions.
#[test]
fn a_client_ends_with_its_last_use() {
    let shared = Shared::new(Version::V1);
    let Running { client, events, .. } = Running::start(vec![shared.seed()], &[]);
    let subscriptions = [client.subscribe(), events];
    drop(client);
    for subscription in subscriptions {
        let events: Vec<Arc<Event>> = subscription.iter().collect();
        let is_end =
            |event: &Arc<Event>| matches!(**event, Event::Failed { .. } | Event::Ended { .. });
        assert!(events.iter().any(is_end), "{events:?}");
    }
    let seed = Running::start(vec![shared.seed()], &[]);
    seed.wait_for_snapshot(activity(0, Activity::Serving));
    assert_eq!(seed.client.stop().unwrap(), [Outcome::Complete]);
}
