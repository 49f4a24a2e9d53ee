//! A client in memory, which does at once what a request asks for.

use hashlane_api::{
    Category, Command, Content, GroupChange, Groups, Named, NewTorrent, Patch, Priority, QueueMove,
    Rates, Refusal, Source,
};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use hashlane_client::{Activity, Added, Identity, Snapshot, TorrentFile, TorrentSnapshot};
use hashlane_metainfo::{Edit, InfoHashes, ListEdit, Torrent as Metainfo};
use hashlane_remote::Control;
use hashlane_remote::model::{Encryption, Peer, Session, SessionChange, Statistics, Tracker};

/// Time of everything in this client.
pub(crate) const TIME: u64 = 1_700_000_000;
/// Number of bytes that each torrent has received, more than its content has. Half as many again were sent.
pub(crate) const DOWNLOADED: u64 = 1_000_000;

#[derive(Debug)]
pub(crate) struct Client {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    torrents: BTreeMap<usize, Known>,
    next: usize,
    session: Session,
    groups: Groups,
    added: Option<NewTorrent>,
    /// All changes, in order.
    changes: Vec<(usize, Command)>,
    /// The number of calls that made them.
    n_calls: usize,
}

#[derive(Clone, Debug)]
struct Known {
    torrent: Arc<TorrentSnapshot>,
    files: Vec<TorrentFile>,
    trackers: Vec<Tracker>,
    metainfo: Option<Vec<u8>>,
}

impl Default for Client {
    fn default() -> Self {
        let session = Session {
            version: "1.2.3",
            config_folder: "/etc/hashlane".into(),
            folder: "/downloads".into(),
            port: 51413,
            max_down: None,
            max_up: Some(500_000),
            is_alternative: false,
            alt_max_down: Some(40_500),
            alt_max_up: None,
            ratio: Some(2.0),
            seeding_minutes: None,
            idle_minutes: None,
            is_listening: true,
            is_reachable: true,
            n_dht_nodes: 7,
            uses_dht: true,
            uses_local_discovery: false,
            uses_peer_exchange: true,
            maps_port: false,
            uses_utp: true,
            encryption: Encryption::Preferred,
            proxy: None,
            max_peers: Some(200),
            max_downloads: Some(5),
            max_seeds: None,
            max_verifications: 2,
            stalled_minutes: None,
            starts_added: true,
            now: Statistics {
                uploaded: 10,
                downloaded: 20,
                n_added: 1,
                n_starts: 1,
                seconds: 60,
            },
            all: Statistics {
                uploaded: 100,
                downloaded: 200,
                n_added: 3,
                n_starts: 2,
                seconds: 600,
            },
        };
        Self {
            inner: Mutex::new(Inner {
                torrents: BTreeMap::new(),
                next: 1,
                session,
                groups: Groups::default(),
                added: None,
                changes: Vec::new(),
                n_calls: 0,
            }),
        }
    }
}

/// Commands that remove torrents.
pub(crate) const KEEP: Command = Command::Remove {
    content: Content::Keep,
};
pub(crate) const DELETE: Command = Command::Remove {
    content: Content::Delete,
};

/// Returns the command for a change of what a person chose.
pub(crate) fn patch(patch: Patch) -> Command {
    Command::Set(Box::new(patch))
}

fn set(torrent: &mut TorrentSnapshot, patch: &Patch) {
    if let Some(Some(title)) = &patch.title {
        torrent.torrent.clone_from(title);
    }
    if let Some(category) = &patch.category {
        torrent.category.clone_from(category);
    }
    if let Some(labels) = &patch.labels {
        torrent.labels = labels.iter().cloned().collect();
    }
    torrent.goal = patch.goal(torrent.goal);
    let mut rates = Rates {
        down: torrent.max_down.and_then(NonZeroU32::new),
        up: torrent.max_up.and_then(NonZeroU32::new),
    };
    patch.rates().apply(&mut rates);
    torrent.max_down = rates.down.map(NonZeroU32::get);
    torrent.max_up = rates.up.map(NonZeroU32::get);
    torrent.is_sequential = patch.sequential.unwrap_or(torrent.is_sequential);
    torrent.is_super_seeding = patch.super_seeding.unwrap_or(torrent.is_super_seeding);
}

impl Inner {
    fn apply(&mut self, id: usize, command: &Command) -> Result<(), Refusal> {
        self.changes.push((id, command.clone()));
        let known = self.torrents.get_mut(&id).ok_or(Refusal::Absent)?;
        let torrent = Arc::make_mut(&mut known.torrent);
        match command {
            Command::Resume { now } => {
                torrent.activity = Activity::Downloading;
                torrent.is_forced = *now;
            }
            Command::Pause => torrent.activity = Activity::Paused,
            Command::Verify => torrent.activity = Activity::Verifying,
            Command::Remove { .. } => {
                self.torrents.remove(&id);
            }
            Command::Relocate { folder } | Command::Place { folder } => {
                torrent.folder = folder.to_str().map(str::to_owned);
            }
            Command::Rename { from, to } => {
                if known.files.iter().any(|file| file.path == *to) {
                    return Err(Refusal::Conflict(format!("{to}: exists")));
                }
                for file in &mut known.files {
                    let rest = file.path.strip_prefix(from.as_str());
                    let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('/'));
                    if let Some(rest) = rest {
                        file.path = format!("{to}{rest}");
                    }
                }
            }
            Command::Queue {
                to: QueueMove::To(position),
            } => torrent.queue_position = Some(*position as u64),
            Command::Set(patch) => set(torrent, patch),
            Command::Prioritize { files, priority } => {
                for (position, file) in (0..).zip(&mut known.files) {
                    if files.is_empty() || files.contains(&position) {
                        file.priority = *priority;
                    }
                }
            }
            Command::SetTrackers { trackers } => {
                let urls = trackers.iter().zip(0..);
                let urls = urls.flat_map(|(urls, tier)| urls.iter().map(move |url| (url, tier)));
                let trackers = urls.map(|(url, tier)| {
                    let known = known.trackers.iter().find(|known| known.url == *url);
                    known.map_or_else(
                        || tracker(url, tier),
                        |known| Tracker {
                            tier,
                            ..known.clone()
                        },
                    )
                });
                known.trackers = trackers.collect();
            }
            _ => {}
        }
        Ok(())
    }
}

impl Client {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    /// Returns the changes since the last call.
    pub(crate) fn changes(&self) -> Vec<(usize, Command)> {
        std::mem::take(&mut self.inner().changes)
    }

    /// Returns the number of calls that changed torrents since the last question.
    pub(crate) fn calls(&self) -> usize {
        std::mem::take(&mut self.inner().n_calls)
    }

    /// Returns the last request for a new torrent.
    pub(crate) fn added(&self) -> NewTorrent {
        self.inner().added.clone().unwrap()
    }

    /// Changes the trackers of a torrent.
    pub(crate) fn edit_trackers(&self, id: usize, edit: impl FnOnce(&mut Vec<Tracker>)) {
        edit(&mut self.inner().torrents.get_mut(&id).unwrap().trackers);
    }

    /// Changes the files of a torrent.
    pub(crate) fn edit_files(&self, id: usize, edit: impl FnOnce(&mut Vec<TorrentFile>)) {
        edit(&mut self.inner().torrents.get_mut(&id).unwrap().files);
    }

    /// Changes what the protocols see of the client.
    pub(crate) fn edit_session(&self, edit: impl FnOnce(&mut Session)) {
        edit(&mut self.inner().session);
    }

    /// Changes what the protocols see of a torrent.
    pub(crate) fn edit(&self, id: usize, edit: impl FnOnce(&mut TorrentSnapshot)) {
        let mut inner = self.inner();
        edit(Arc::make_mut(
            &mut inner.torrents.get_mut(&id).unwrap().torrent,
        ));
    }
}

/// Returns the torrent of a source, with half of its content.
fn known(id: usize, source: Source) -> Result<Known, Refusal> {
    let trackers = vec![
        tracker("http://tracker.example.com:80/announce?passkey=1", 0),
        tracker("udp://192.0.2.1:6969", 1),
    ];
    let (info_hashes, name, metainfo) = match source {
        Source::Torrent(metainfo) => {
            let name = String::from_utf8_lossy(metainfo.name().as_bytes()).into_owned();
            (metainfo.info_hashes(), name, Some(metainfo))
        }
        Source::Magnet(magnet) => {
            let name = magnet.name.clone().unwrap_or_default();
            (magnet.info_hashes, name, None)
        }
        Source::Url(_) => return Err(Refusal::Invalid("nothing is fetched".into())),
    };
    let total_bytes = metainfo.as_ref().map_or(0, Metainfo::content_length);
    let files = metainfo.iter().map(|_| TorrentFile {
        number: 0,
        path: name.clone(),
        length_bytes: total_bytes,
        done_bytes: Some(total_bytes / 2),
        priority: Priority::Normal,
    });
    let mut torrent = TorrentSnapshot::new(id, &name);
    torrent.identity = Identity {
        number: id,
        info_hashes: Some(info_hashes),
    };
    torrent.content = Some(format!("/downloads/{name}"));
    torrent.folder = Some("/downloads".into());
    torrent.activity = if metainfo.is_some() {
        Activity::Downloading
    } else {
        Activity::Metadata
    };
    torrent.files = metainfo.iter().count() as u32;
    torrent.pieces = 10;
    torrent.piece_length = 16384;
    torrent.total_bytes = total_bytes;
    torrent.wanted_bytes = total_bytes;
    torrent.done_bytes = total_bytes / 2;
    torrent.downloaded_bytes = DOWNLOADED;
    torrent.uploaded_bytes = DOWNLOADED / 2 * 3;
    torrent.seconds_left = Some(90.0);
    torrent.peers = 1;
    torrent.seeds = 1;
    torrent.added_at = TIME;
    torrent.changed_at = TIME;
    torrent.downloading_seconds = 5.0.into();
    torrent.serving_seconds = 6.0.into();
    torrent.queue_position = Some(id as u64 - 1);
    let torrent = match &metainfo {
        Some(metainfo) => torrent.with_metainfo(described(metainfo, &trackers)),
        None => torrent,
    };
    Ok(Known {
        torrent: Arc::new(torrent),
        files: files.collect(),
        trackers,
        metainfo: metainfo.map(|metainfo| metainfo.bytes().to_vec()),
    })
}

/// Returns metadata with a comment, an author and trackers.
fn described(metainfo: &Metainfo, trackers: &[Tracker]) -> Metainfo {
    let tiers = trackers.iter().map(|tracker| vec![tracker.url.clone()]);
    let edit = Edit {
        trackers: Some(ListEdit::Set(tiers.collect())),
        comment: Some(Some("a comment".into())),
        created_by: Some(Some("hashlane".into())),
        creation_date: Some(Some(TIME.cast_signed())),
        ..Edit::default()
    };
    edit.apply(metainfo).unwrap()
}

fn tracker(url: &str, tier: u32) -> Tracker {
    Tracker {
        url: url.into(),
        tier,
        announced: (tier == 0).then_some(Ok(())),
        answered: (tier == 0).then_some(TIME),
        is_announcing: false,
        next_seconds: Some(30),
        seeds: (tier == 0).then_some(3),
        leeches: (tier == 0).then_some(4),
    }
}

impl Control for Client {
    fn snapshot(&self) -> Arc<Snapshot> {
        let inner = self.inner();
        let torrents = inner.torrents.values();
        Arc::new(Snapshot {
            torrents: torrents.map(|known| Arc::clone(&known.torrent)).collect(),
            ..Snapshot::default()
        })
    }

    fn files(&self, id: usize) -> Vec<(TorrentFile, Range<u32>)> {
        let inner = self.inner();
        let files = inner.torrents.get(&id).into_iter();
        let files = files.flat_map(|known| known.files.iter().cloned());
        files.map(|file| (file, 0..10)).collect()
    }

    fn peers(&self, _: usize) -> Vec<Peer> {
        vec![Peer {
            address: SocketAddr::from(([192, 0, 2, 7], 6881)),
            client: "Peer 1.0".into(),
            progress: 1.0,
            down_rate: 1000,
            up_rate: 0,
            downloaded: 5000,
            uploaded: 6000,
            is_incoming: false,
            is_encrypted: true,
            is_utp: false,
        }]
    }

    fn trackers(&self, id: usize) -> Vec<Tracker> {
        self.inner()
            .torrents
            .get(&id)
            .map_or_else(Vec::new, |known| known.trackers.clone())
    }

    fn pieces(&self, _: usize) -> Vec<bool> {
        (0..10).map(|piece| piece < 5).collect()
    }

    fn metainfo(&self, id: usize) -> Option<Vec<u8>> {
        self.inner().torrents.get(&id)?.metainfo.clone()
    }

    fn groups(&self) -> Groups {
        let inner = self.inner();
        let mut groups = inner.groups.clone();
        let torrents = inner.torrents.values();
        let labels = torrents.flat_map(|known| known.torrent.labels.iter().cloned());
        groups.labels.extend(labels);
        groups.labels.sort();
        groups.labels.dedup();
        groups
    }

    fn change_groups(&self, change: &GroupChange) -> Result<(), Refusal> {
        let mut inner = self.inner();
        let inner = &mut *inner;
        let Groups { categories, labels } = &mut inner.groups;
        let torrents = inner.torrents.values_mut();
        let torrents = torrents.map(|known| Arc::make_mut(&mut known.torrent));
        match change {
            GroupChange::SetCategory(patch) => {
                categories.retain(|other| other.name != patch.name);
                let folder = patch.folder.clone().flatten();
                categories.push(Category {
                    name: patch.name.clone(),
                    folder: folder.map(|folder| folder.to_str().unwrap().to_owned()),
                    ..Category::default()
                });
            }
            GroupChange::RemoveCategories { names } => {
                categories.retain(|category| !names.contains(&category.name));
                torrents.for_each(|torrent| {
                    torrent.category.take_if(|name| names.contains(name));
                });
            }
            GroupChange::AddLabels { labels: new } => labels.extend(new.iter().cloned()),
            GroupChange::RemoveLabels { labels: old } => {
                labels.retain(|label| !old.contains(label));
                torrents.for_each(|torrent| {
                    torrent.labels.retain(|label| !old.contains(label));
                });
            }
        }
        Ok(())
    }

    fn add(&self, source: Source, new: &NewTorrent) -> Result<Added, Refusal> {
        let mut inner = self.inner();
        inner.added = Some(new.clone());
        let id = inner.next;
        let mut known = known(id, source)?;
        let torrent = Arc::make_mut(&mut known.torrent);
        set(torrent, &new.set);
        let added = |torrent: &TorrentSnapshot, is_present| Added {
            torrent: Named {
                identity: torrent.identity,
                title: torrent.torrent.clone(),
            },
            is_present,
        };
        let hashes = |torrent: &TorrentSnapshot| torrent.identity.info_hashes.unwrap();
        let is_same = |other: &&Known| is_same(hashes(&other.torrent), hashes(torrent));
        if let Some(other) = inner.torrents.values().find(is_same) {
            return Ok(added(&other.torrent, true));
        }
        if let Some(folder) = &new.folder {
            torrent.folder = folder.to_str().map(str::to_owned);
        }
        if new.paused == Some(true) {
            torrent.activity = Activity::Paused;
        }
        for (position, file) in (0..).zip(&mut known.files) {
            let is_wanted = new
                .select
                .as_ref()
                .is_none_or(|wanted| wanted.contains(&position));
            if !is_wanted || new.priorities.contains(&(position, Priority::Skip)) {
                file.priority = Priority::Skip;
            }
        }
        let added = added(&known.torrent, false);
        inner.torrents.insert(id, known);
        inner.next += 1;
        Ok(added)
    }

    fn apply(&self, ids: &[usize], command: &Command) -> Vec<Result<(), Refusal>> {
        let mut inner = self.inner();
        inner.n_calls += 1;
        ids.iter().map(|id| inner.apply(*id, command)).collect()
    }

    fn session(&self) -> Session {
        self.inner().session.clone()
    }

    fn change_session(&self, change: SessionChange) -> Result<(), Refusal> {
        let session = &mut self.inner().session;
        session.max_down = change.max_down.unwrap_or(session.max_down);
        session.max_up = change.max_up.unwrap_or(session.max_up);
        session.is_alternative = change.is_alternative.unwrap_or(session.is_alternative);
        session.alt_max_down = change.alt_max_down.unwrap_or(session.alt_max_down);
        session.alt_max_up = change.alt_max_up.unwrap_or(session.alt_max_up);
        session.ratio = change.ratio.unwrap_or(session.ratio);
        session.seeding_minutes = change.seeding_minutes.unwrap_or(session.seeding_minutes);
        session.idle_minutes = change.idle_minutes.unwrap_or(session.idle_minutes);
        session.max_downloads = change.max_downloads.unwrap_or(session.max_downloads);
        session.max_seeds = change.max_seeds.unwrap_or(session.max_seeds);
        session.starts_added = change.starts_added.unwrap_or(session.starts_added);
        if let Some(folder) = change.folder {
            session.folder = folder;
        }
        session.port = change.port.unwrap_or(session.port);
        Ok(())
    }

    fn free_space(&self, folder: &str) -> Result<(u64, u64), Refusal> {
        if folder == "/missing" {
            return Err(Refusal::Conflict("/missing: no such folder".into()));
        }
        Ok((1 << 40, 1 << 41))
    }
}

fn is_same(one: InfoHashes, other: InfoHashes) -> bool {
    one.v1().is_some() && one.v1() == other.v1() || one.v2().is_some() && one.v2() == other.v2()
}
