//! The daemon as the protocols of other programs see it.
//!
//! Programs know a torrent by a number. The daemon knows it by its info-hash, and its number in the client changes when it
//! is started again, so this module has numbers of its own.

mod view;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use hashlane_cli::torrent_file::MAX_LEN;
use hashlane_cli::{Env, RemoteOptions};
use hashlane_client::{
    Encryption, HandleError, Limits, Remove, Settings, TorrentHandle, TrackerState, Transport,
};
use hashlane_metainfo::{FileKind, Magnet, Torrent as ParsedTorrent};
use hashlane_remote::model::{
    self, Added, Category, Change, File, Goal, GroupChange, Groups, NewTorrent, Peer, Priority,
    Refusal, Session, SessionChange, Source, Statistics, Torrent, Tracker,
};
use hashlane_remote::{Control, Listen, serve_qbittorrent, serve_transmission};
use hashlane_server::Server;
use hashlane_store::{Choices, Metainfo, Name, Place, Priorities, StoreError, Target};
use hashlane_verify::{HashVersions, Layout, files_of};

use super::queue::QueueMove;
use super::report::New;
use super::torrents::{Torrents, lock};
use crate::config::{absolute, login};

/// What programs may do besides controlling torrents.
struct Rights {
    /// Folders in which torrents may be placed, with all folders below them.
    folders: Vec<PathBuf>,
    /// Whether content may be deleted.
    may_delete: bool,
}

/// Settings of the session that do not change.
pub(super) struct Fixed {
    /// The state folder.
    pub(super) state: PathBuf,
    /// Folder for the content of torrents that are added without one.
    pub(super) folder: Option<PathBuf>,
    /// The settings of the session.
    pub(super) settings: Settings,
}

/// Serves the protocols that the options name. They end when the result is dropped.
pub(super) fn serve(
    env: &Env,
    options: &RemoteOptions,
    torrents: &Arc<Mutex<Torrents>>,
    fixed: Fixed,
) -> anyhow::Result<Vec<Server>> {
    let folders = options
        .remote_folders
        .iter()
        .map(|folder| absolute(env, folder));
    let rights = Rights {
        folders: folders.collect::<anyhow::Result<_>>()?,
        may_delete: options.remote_delete,
    };
    let remote: Arc<Remote> = Arc::new(Remote::new(Arc::clone(torrents), rights, fixed));
    let mut servers = Vec::new();
    if let Some(address) = options.transmission {
        let listen = listen(env, options, address)?;
        let server = serve_transmission(listen, Arc::<Remote>::clone(&remote), MAX_LEN);
        servers.push(server.context("--transmission")?);
    }
    if let Some(address) = options.qbittorrent {
        let listen = listen(env, options, address)?;
        let server = serve_qbittorrent(listen, Arc::<Remote>::clone(&remote), MAX_LEN);
        servers.push(server.context("--qbittorrent")?);
    }
    Ok(servers)
}

/// Returns who may use a protocol at an address.
fn listen(env: &Env, options: &RemoteOptions, address: SocketAddr) -> anyhow::Result<Listen> {
    let password = options.remote_password_file.as_deref();
    Ok(Listen {
        address,
        login: login(env, "--remote", options.remote_user.as_deref(), password)?,
        hosts: options.remote_hosts.clone(),
        is_open: options.insecure_no_auth,
    })
}

/// The daemon.
struct Remote {
    torrents: Arc<Mutex<Torrents>>,
    rights: Rights,
    fixed: Fixed,
    started: Instant,
    /// Whether new torrents start at once, unless a program says otherwise.
    starts_added: AtomicBool,
    seen: Mutex<Seen>,
}

/// The torrents that programs have seen.
#[derive(Default)]
struct Seen {
    next: u32,
    numbers: HashMap<Name, u32>,
    names: HashMap<u32, Name>,
    /// Each torrent as it was last seen.
    last: HashMap<Name, Torrent>,
}

impl Seen {
    fn number(&mut self, name: Name) -> u32 {
        *self.numbers.entry(name).or_insert_with(|| {
            self.next += 1;
            self.names.insert(self.next, name);
            self.next
        })
    }

    /// Notes when a torrent changed: now, if it differs from what was seen before.
    fn date(&mut self, name: Name, torrent: &mut Torrent, now: u64) {
        if let Some(last) = self.last.get(&name) {
            torrent.changed = last.changed;
            if *torrent == *last {
                return;
            }
            torrent.changed = now;
        }
        self.last.insert(name, torrent.clone());
    }

    /// Forgets torrents that were removed.
    fn keep(&mut self, names: &[Name]) {
        if self.numbers.len() == names.len() {
            return;
        }
        let present: std::collections::HashSet<&Name> = names.iter().collect();
        self.numbers.retain(|name, _| present.contains(name));
        self.names.retain(|_, name| present.contains(name));
        self.last.retain(|name, _| present.contains(name));
    }
}

impl Remote {
    fn new(torrents: Arc<Mutex<Torrents>>, rights: Rights, fixed: Fixed) -> Self {
        Self {
            torrents,
            rights,
            fixed,
            started: Instant::now(),
            starts_added: AtomicBool::new(true),
            seen: Mutex::default(),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // No code that holds the lock leaves the state inconsistent.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, id: u32) -> Result<Name, Refusal> {
        self.seen().names.get(&id).copied().ok_or(Refusal::Absent)
    }

    /// Does something with the torrent's handle, unless it waits for its start.
    fn ask<T>(
        &self,
        id: u32,
        question: impl FnOnce(&TorrentHandle) -> Result<T, HandleError>,
    ) -> Result<T, Refusal> {
        let name = self.name(id)?;
        let handle = lock(&self.torrents).handle(name).cloned();
        let handle =
            handle.ok_or_else(|| Refusal::Failed("the torrent waits for its start".into()))?;
        question(&handle).map_err(|error| Refusal::Failed(error.to_string()))
    }

    /// Returns a folder in which torrents may be placed.
    fn allowed(&self, folder: &str) -> Result<PathBuf, Refusal> {
        let path = PathBuf::from(folder);
        // `..` would lead out of a folder that the path starts with.
        let is_plain = path.is_absolute()
            && !path
                .components()
                .any(|part| part == std::path::Component::ParentDir);
        let roots = self.fixed.folder.iter().chain(&self.rights.folders);
        if is_plain && roots.clone().any(|root| path.starts_with(root)) {
            return Ok(path);
        }
        Err(Refusal::Forbidden(format!(
            "{folder}: not in a folder that the configuration allows for content"
        )))
    }

    /// Changes what a person chose.
    fn choose(&self, id: u32, change: impl FnOnce(&mut Choices)) -> Result<Name, Refusal> {
        let name = self.name(id)?;
        let changed = lock(&self.torrents).set(name, change);
        changed.map_err(Refusal::Failed)?;
        Ok(name)
    }

    fn limit(&self, id: u32, limits: &model::Limits) -> Result<(), Refusal> {
        let rate = |limit: Option<u32>| {
            limit
                .map(|limit| {
                    let none = "a limit of 0 would stop the torrent: pause it instead";
                    NonZeroU32::new(limit).ok_or_else(|| Refusal::Invalid(none.into()))
                })
                .transpose()
        };
        let (down, up) = (rate(limits.max_down)?, rate(limits.max_up)?);
        if matches!(limits.idle_minutes, Goal::At(_)) {
            return Err(unsupported("a limit of the time without uploads"));
        }
        self.choose(id, |choices| {
            choices.limits = hashlane_store::Limits { down, up };
            choices.goal = stored_goal(limits);
        })?;
        Ok(())
    }

    fn select(&self, id: u32, files: &[u32], priority: Option<Priority>) -> Result<(), Refusal> {
        let all: Vec<u32>;
        let files = if files.is_empty() {
            all = (0..self.files(id).len() as u32).collect();
            &all
        } else {
            files
        };
        let name = self.choose(id, |choices| {
            set_priority(&mut choices.priorities, files, priority);
        })?;
        if let Some(handle) = lock(&self.torrents).handle(name) {
            // It may have ended. The priorities apply when it is started again.
            let _ = handle.set_priorities(files, client_priority(priority));
        }
        Ok(())
    }

    fn place(&self, id: u32, folder: &str, is_moved: bool) -> Result<(), Refusal> {
        let folder = self.allowed(folder)?;
        if is_moved {
            let name = self.name(id)?;
            let moved = lock(&self.torrents).relocate(name, &folder);
            return moved.map_err(Refusal::Failed);
        }
        let name = self.choose(id, |choices| {
            choices.place = match &choices.place {
                Place::Folder(_) => Place::Folder(folder),
                Place::Content(content) => {
                    Place::Content(folder.join(content.file_name().unwrap_or_default()))
                }
            };
        })?;
        lock(&self.torrents).restart(name);
        Ok(())
    }

    fn new_choices(&self, new: &NewTorrent) -> Result<Choices, Refusal> {
        if new.name.is_some() {
            return Err(unsupported("another name of the torrent"));
        }
        if new.layout != model::Layout::Original {
            return Err(unsupported("another layout of the content"));
        }
        if matches!(new.limits.idle_minutes, Goal::At(_)) {
            return Err(unsupported("a limit of the time without uploads"));
        }
        let of_category = new
            .category
            .as_deref()
            .and_then(|category| lock(&self.torrents).category(category).folder);
        let own = of_category.or_else(|| self.fixed.folder.clone());
        let folder = match (&new.folder, own) {
            (Some(folder), _) => self.allowed(folder)?,
            (None, Some(folder)) => folder,
            (None, None) => {
                return Err(Refusal::Invalid(
                    "no folder for the content is configured".into(),
                ));
            }
        };
        let mut choices = Choices {
            goal: stored_goal(&new.limits),
            category: new.category.clone(),
            labels: new.labels.iter().cloned().collect(),
            limits: hashlane_store::Limits {
                down: new.limits.max_down.and_then(NonZeroU32::new),
                up: new.limits.max_up.and_then(NonZeroU32::new),
            },
            sequential: new.is_sequential,
            paused: new
                .is_paused
                .unwrap_or(!self.starts_added.load(Ordering::Relaxed)),
            ..Choices::at(Place::Folder(folder))
        };
        for (file, priority) in &new.priorities {
            set_priority(&mut choices.priorities, &[*file], Some(*priority));
        }
        set_priority(&mut choices.priorities, &new.unwanted, None);
        Ok(choices)
    }
}

fn stored_goal(limits: &model::Limits) -> hashlane_store::Goal {
    fn target<T>(goal: Goal<T>) -> Target<T> {
        match goal {
            Goal::OfClient => Target::Inherited,
            Goal::At(limit) => Target::At(limit),
            Goal::Never => Target::Never,
        }
    }
    hashlane_store::Goal {
        ratio: target(limits.ratio),
        time: target(limits.seeding_minutes).map(of_minutes),
    }
}

fn of_minutes(minutes: u32) -> Duration {
    Duration::from_secs(u64::from(minutes) * 60)
}

fn unsupported(what: &str) -> Refusal {
    Refusal::Forbidden(format!("{what}: not supported"))
}

impl From<model::QueueMove> for QueueMove {
    fn from(to: model::QueueMove) -> Self {
        match to {
            model::QueueMove::Top => Self::Top,
            model::QueueMove::Up => Self::Up,
            model::QueueMove::Down => Self::Down,
            model::QueueMove::Bottom => Self::Bottom,
            model::QueueMove::To(place) => Self::To(place as usize),
        }
    }
}

/// Gives files a priority, or deselects them.
pub(super) fn set_priority(priorities: &mut Priorities, files: &[u32], priority: Option<Priority>) {
    for file in files {
        let Priorities { skip, low, high } = priorities;
        for set in [&mut *skip, &mut *low, &mut *high] {
            set.remove(file);
        }
        match priority {
            None => skip.insert(*file),
            Some(Priority::Low) => low.insert(*file),
            Some(Priority::High) => high.insert(*file),
            Some(Priority::Normal) => false,
        };
    }
}

fn client_priority(priority: Option<Priority>) -> hashlane_client::Priority {
    match priority {
        None => hashlane_client::Priority::Skip,
        Some(Priority::Low) => hashlane_client::Priority::Low,
        Some(Priority::Normal) => hashlane_client::Priority::Normal,
        Some(Priority::High) => hashlane_client::Priority::High,
    }
}

pub(super) fn model_priority(priority: hashlane_client::Priority) -> Option<Priority> {
    match priority {
        hashlane_client::Priority::Skip => None,
        hashlane_client::Priority::Low => Some(Priority::Low),
        hashlane_client::Priority::Normal => Some(Priority::Normal),
        hashlane_client::Priority::High => Some(Priority::High),
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

impl Control for Remote {
    fn torrents(&self) -> Arc<[Torrent]> {
        let torrents = lock(&self.torrents);
        let mut seen = self.seen();
        let entries = torrents.store.entries();
        let names: Vec<Name> = entries.iter().map(|entry| entry.name()).collect();
        seen.keep(&names);
        let now = now();
        // One snapshot of all torrents, which they share with the client.
        let snapshot = torrents.all();
        let all = entries.iter().zip(0..).map(|(entry, position)| {
            let name = entry.name();
            let id = seen.number(name);
            let mut torrent = view::torrent(id, position, entry, &torrents, &snapshot);
            seen.date(name, &mut torrent, now);
            torrent
        });
        let mut all: Vec<Torrent> = all.collect();
        all.sort_by_key(|torrent| torrent.id);
        all.into()
    }

    fn files(&self, id: u32) -> Vec<File> {
        let asked = self.ask(id, |handle| Ok((handle.files(), handle.metainfo())));
        let Ok((files, Some(metainfo))) = asked else {
            return Vec::new();
        };
        let layout = Layout::new(&metainfo, HashVersions::of(metainfo.version()));
        let indices = files_of(&metainfo).filter(|(_, file)| file.kind() != FileKind::Padding);
        let files = files.into_iter().zip(indices);
        files
            .map(|(file, (index, _))| File {
                path: file.path,
                len: file.length_bytes,
                pieces: layout.pieces_of(index),
                done_len: file.done_bytes.unwrap_or(0),
                priority: model_priority(file.priority),
            })
            .collect()
    }

    fn peers(&self, id: u32) -> Vec<Peer> {
        let peers = self
            .ask(id, TorrentHandle::peers)
            .unwrap_or_default()
            .into_iter();
        peers
            .map(|peer| Peer {
                address: peer.address,
                client: peer.client,
                progress: peer.progress,
                down_rate: peer.down_rate,
                up_rate: peer.up_rate,
                downloaded: peer.downloaded,
                uploaded: peer.uploaded,
                is_incoming: !peer.is_outgoing,
                is_encrypted: peer.is_encrypted,
                is_utp: peer.is_utp,
            })
            .collect()
    }

    fn trackers(&self, id: u32) -> Vec<Tracker> {
        let trackers = self
            .ask(id, TorrentHandle::trackers)
            .unwrap_or_default()
            .into_iter();
        trackers
            .map(|tracker| Tracker {
                announced: match tracker.state {
                    TrackerState::Unused | TrackerState::Updating => None,
                    TrackerState::Working => Some(Ok(())),
                    TrackerState::Failed => Some(Err(tracker.message)),
                },
                answered: None,
                is_announcing: tracker.state == TrackerState::Updating,
                url: tracker.url,
                tier: tracker.tier,
                next_seconds: tracker.next_seconds,
                seeds: tracker.seeds,
                leeches: tracker.leeches,
            })
            .collect()
    }

    fn pieces(&self, id: u32) -> Vec<bool> {
        self.ask(id, TorrentHandle::have).unwrap_or_default()
    }

    fn metainfo(&self, id: u32) -> Option<Vec<u8>> {
        let name = self.name(id).ok()?;
        let torrents = lock(&self.torrents);
        match &torrents.store.get(name)?.metainfo {
            Metainfo::File(path) => std::fs::read(path).ok(),
            Metainfo::Magnet(_) => None,
        }
    }

    fn groups(&self) -> Groups {
        let torrents = lock(&self.torrents);
        let stored = torrents.store.groups();
        let mut labels = stored.labels.clone();
        for entry in torrents.store.entries() {
            labels.extend(entry.choices.labels.iter().cloned());
        }
        let categories = torrents.categories().into_iter();
        let categories = categories.map(|(name, category)| Category {
            name,
            folder: category
                .folder
                .map(|folder| folder.to_string_lossy().into_owned()),
        });
        Groups {
            categories: categories.collect(),
            labels: labels.into_iter().collect(),
        }
    }

    fn change_groups(&self, change: GroupChange) -> Result<(), Refusal> {
        let failed = |error: StoreError| Refusal::Failed(error.to_string());
        let folder = match &change {
            GroupChange::Category(Category {
                folder: Some(folder),
                ..
            }) => Some(self.allowed(folder)?),
            _ => None,
        };
        let mut torrents = lock(&self.torrents);
        let configured = match &change {
            GroupChange::Category(category) => std::slice::from_ref(&category.name),
            GroupChange::RemoveCategories(names) => names,
            _ => &[],
        };
        for name in configured {
            let checked = torrents.check_not_configured(name);
            checked.map_err(Refusal::Forbidden)?;
        }
        let mut groups = torrents.store.groups().clone();
        // Torrents first: a category or label that a torrent has exists.
        let drop: Box<dyn Fn(&mut Choices)> = match change {
            GroupChange::Category(category) => {
                groups.categories.entry(category.name).or_default().folder = folder;
                Box::new(|_| ())
            }
            GroupChange::Labels(labels) => {
                groups.labels.extend(labels);
                Box::new(|_| ())
            }
            GroupChange::RemoveCategories(names) => {
                groups.categories.retain(|name, _| !names.contains(name));
                Box::new(move |choices| {
                    choices
                        .category
                        .take_if(|category| names.contains(category));
                })
            }
            GroupChange::RemoveLabels(labels) => {
                groups.labels.retain(|label| !labels.contains(label));
                Box::new(move |choices| choices.labels.retain(|label| !labels.contains(label)))
            }
            _ => return Err(unsupported("this change")),
        };
        for name in torrents.names_in_order() {
            let Some(entry) = torrents.store.get(name) else {
                continue;
            };
            let mut choices = entry.choices.clone();
            drop(&mut choices);
            if choices != entry.choices {
                torrents.store.update(name, choices).map_err(failed)?;
            }
        }
        torrents.store.set_groups(groups).map_err(failed)
    }

    fn add(&self, new: NewTorrent) -> Result<Added, Refusal> {
        let invalid = |error: &dyn std::fmt::Display| Refusal::Invalid(error.to_string());
        let mut choices = self.new_choices(&new)?;
        let new = match new.source {
            Source::Metainfo(bytes) => {
                let metainfo = ParsedTorrent::parse(bytes).map_err(|error| invalid(&error))?;
                if let Some(wanted) = new.wanted {
                    let n_files = metainfo
                        .files()
                        .iter()
                        .filter(|file| file.kind() != FileKind::Padding)
                        .count() as u32;
                    let unwanted: Vec<u32> =
                        (0..n_files).filter(|file| !wanted.contains(file)).collect();
                    set_priority(&mut choices.priorities, &unwanted, None);
                }
                New::Torrent(metainfo, choices)
            }
            Source::Link(link) if Magnet::has_scheme(&link) || Magnet::is_info_hash(&link) => {
                if new.wanted.is_some() {
                    return Err(unsupported(
                        "the selection of files whose number is not known yet",
                    ));
                }
                let (magnet, _) = Magnet::read(&link).map_err(|error| invalid(&error))?;
                New::Magnet(Box::new(magnet), choices)
            }
            Source::Link(_) => {
                return Err(unsupported("the URL of a .torrent file; send the file"));
            }
        };
        let mut torrents = lock(&self.torrents);
        let (name, is_new) = torrents.put(new).map_err(Refusal::Failed)?;
        let entry = torrents.store.get(name).ok_or(Refusal::Absent)?;
        Ok(Added {
            id: self.seen().number(name),
            info_hashes: entry.info_hashes,
            name: if entry.title.is_empty() {
                name.to_string()
            } else {
                entry.title.clone()
            },
            is_duplicate: !is_new,
        })
    }

    fn change(&self, id: u32, change: Change) -> Result<(), Refusal> {
        match change {
            Change::Start { now } => {
                let name = self.name(id)?;
                lock(&self.torrents)
                    .resume(name, now)
                    .map_err(Refusal::Failed)
            }
            Change::Stop => {
                let name = self.name(id)?;
                lock(&self.torrents).pause(name).map_err(Refusal::Failed)
            }
            Change::Verify => {
                let name = self.name(id)?;
                lock(&self.torrents).verify(name).map_err(Refusal::Failed)
            }
            Change::Announce => self.ask(id, TorrentHandle::reannounce),
            Change::Remove { delete: true } if !self.rights.may_delete => {
                let reason = "the configuration does not allow programs to delete content";
                Err(Refusal::Forbidden(reason.into()))
            }
            Change::Remove { delete } => {
                let content = if delete {
                    Remove::DeleteContent
                } else {
                    Remove::Keep
                };
                let name = self.name(id)?;
                lock(&self.torrents)
                    .remove(name, content)
                    .map_err(Refusal::Failed)
            }
            Change::Folder { folder, is_moved } => self.place(id, &folder, is_moved),
            Change::Labels(labels) => {
                self.choose(id, |choices| choices.labels = labels.into_iter().collect())?;
                Ok(())
            }
            Change::Category(category) => {
                self.choose(id, |choices| choices.category = category)?;
                Ok(())
            }
            Change::Sequential(is_sequential) => {
                // It applies when the torrent is started again.
                self.choose(id, |choices| choices.sequential = is_sequential)?;
                Ok(())
            }
            Change::Name(_) => Err(unsupported("another name of the torrent")),
            Change::Limits(limits) => self.limit(id, &limits),
            Change::Select { files, priority } => self.select(id, &files, priority),
            Change::Rename { .. } => Err(unsupported("a new name for a file")),
            Change::Queue(to) => {
                let name = self.name(id)?;
                let moved = lock(&self.torrents).reorder(&[name], to.into());
                moved.map_err(Refusal::Failed)
            }
            Change::AddTrackers(_) => Err(unsupported("another tracker")),
            _ => Err(unsupported("this change")),
        }
    }

    fn session(&self) -> Session {
        let mut torrents = lock(&self.torrents);
        torrents.count_changed();
        let all = torrents.store.totals().all;
        let (max_down, max_up) = torrents.limits();
        let (received, sent) = torrents.exchanged();
        let settings = &self.fixed.settings;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Session {
            version: env!("CARGO_PKG_VERSION"),
            config_folder: text(&self.fixed.state),
            folder: self.fixed.folder.as_deref().map_or_else(String::new, text),
            port: torrents.network().port,
            max_down,
            max_up,
            ratio: torrents.defaults.goal.ratio.limit(),
            seeding_minutes: torrents.defaults.goal.time.limit().map(view::minutes),
            idle_minutes: None,
            // The session does not say either.
            is_reachable: false,
            n_dht_nodes: 0,
            uses_dht: settings.dht,
            uses_local_discovery: settings.local_discovery,
            uses_peer_exchange: true,
            maps_port: settings.port_mapping,
            uses_utp: settings.transport != Transport::Tcp,
            encryption: match settings.encryption {
                Encryption::Required => model::Encryption::Required,
                Encryption::Allowed => model::Encryption::Preferred,
                Encryption::Off => model::Encryption::Tolerated,
            },
            max_peers: settings.max_peers.map(u32::from),
            max_downloads: torrents.queue.downloads,
            max_seeds: torrents.queue.uploads,
            stalled_minutes: Some(torrents.queue.stalled_minutes()),
            starts_added: self.starts_added.load(Ordering::Relaxed),
            now: Statistics {
                uploaded: sent,
                downloaded: received,
                n_added: torrents.store.entries().len() as u64,
                n_starts: 1,
                seconds: self.started.elapsed().as_secs(),
            },
            all: Statistics {
                uploaded: all.sent,
                downloaded: all.received,
                n_added: torrents.store.entries().len() as u64,
                n_starts: 1,
                seconds: self.started.elapsed().as_secs(),
            },
        }
    }

    fn change_session(&self, change: SessionChange) -> Result<(), Refusal> {
        let SessionChange {
            max_down, max_up, ..
        } = change;
        let others = SessionChange {
            max_down: None,
            max_up: None,
            ..change
        };
        let now = self.session();
        let is_same = others
            .folder
            .as_ref()
            .is_none_or(|folder| *folder == now.folder)
            && others
                .idle_minutes
                .is_none_or(|minutes| minutes == now.idle_minutes)
            && others.port.is_none_or(|port| port == now.port);
        if !is_same {
            return Err(Refusal::Forbidden(
                "only rate limits, goals, the limits of the queue and the start of new torrents can be changed here; the rest is set at the start".into(),
            ));
        }
        let rate = |limit: Option<Option<u32>>| limit.map(|limit| limit.and_then(NonZeroU32::new));
        let limits = [max_down, max_up, others.max_downloads, others.max_seeds];
        if limits.contains(&Some(Some(0))) {
            return Err(Refusal::Invalid(
                "a limit of 0 would stop all torrents: pause them instead".into(),
            ));
        }
        if let Some(starts_added) = change.starts_added {
            self.starts_added.store(starts_added, Ordering::Relaxed);
        }
        let mut torrents = lock(&self.torrents);
        let queue = &mut torrents.queue;
        queue.downloads = others.max_downloads.unwrap_or(queue.downloads);
        queue.uploads = others.max_seeds.unwrap_or(queue.uploads);
        // Shown times are rounded, so a program that sends them back must not change them.
        let goal = &mut torrents.defaults.goal;
        if let Some(ratio) = others.ratio {
            goal.ratio = ratio.map_or(Target::Inherited, Target::At);
        }
        if let Some(minutes) = others
            .seeding_minutes
            .filter(|new| *new != now.seeding_minutes)
        {
            goal.time =
                minutes.map_or(Target::Inherited, |minutes| Target::At(of_minutes(minutes)));
        }
        torrents.limit(Limits {
            max_down: rate(max_down),
            max_up: rate(max_up),
        });
        Ok(())
    }

    fn free_space(&self, folder: &str) -> Result<(u64, u64), Refusal> {
        let path = self.allowed(folder)?;
        let space = rustix::fs::statvfs(&path);
        let space = space.map_err(|error| Refusal::Failed(format!("{folder}: {error}")))?;
        Ok((
            space.f_bavail.saturating_mul(space.f_frsize),
            space.f_blocks.saturating_mul(space.f_frsize),
        ))
    }
}
