//! The daemon as the protocols of other programs see it.
//!
//! Programs know a torrent by the number that it has in all requests. Its number in the client changes when it is started again.

mod add;
mod seen;
mod session;
mod view;

use std::net::TcpListener;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use hashlane_api::{Command, GroupChange, Groups, NewTorrent, Refusal, Source};
use hashlane_cli::torrent_file::MAX_LEN;
use hashlane_cli::{Env, RemoteOptions, ServerAddress};
use hashlane_client::{HandleError, Settings, TorrentHandle, TrackerState};
use hashlane_metainfo::{FileKind, masked_url};
use hashlane_remote::model::{Added, File, Peer, Session, SessionChange, Torrent, Tracker};
use hashlane_remote::{Control, Listen, ListenError, serve_qbittorrent, serve_transmission};
use hashlane_server::Server;
use hashlane_store::{Metainfo, Name};
use hashlane_verify::{HashVersions, Layout, files_of};

use super::apply::{Rights, apply_by_number};
use super::fetches::Fetches;
use super::priorities;
use super::torrents::{Torrents, lock};
use crate::config::{endpoint, login};
use seen::Seen;

/// Settings of the session that do not change.
pub(super) struct Fixed {
    /// The state folder.
    pub(super) state: PathBuf,
    /// Folder for the content of torrents that are added without one.
    pub(super) folder: Option<PathBuf>,
    /// The settings of the session.
    pub(super) settings: Settings,
    /// Maximum number of torrents that are verified at once.
    pub(super) max_verifications: NonZeroU16,
}

/// Serves the protocols that the options name, and those whose sockets systemd has opened: Transmission RPC and the Web API
/// of qBittorrent. They end when the result is dropped. Programs may do what `rights` allow.
/// `page` is the URL of the page.
pub(super) fn serve(
    env: &Env,
    options: &RemoteOptions,
    [transmission, qbittorrent]: [Option<TcpListener>; 2],
    (torrents, fetches): (&Arc<Mutex<Torrents>>, &Arc<Fetches>),
    (rights, page): (Rights, Option<&str>),
    fixed: Fixed,
) -> anyhow::Result<Vec<(&'static str, Server)>> {
    let remote: Arc<Remote> = Arc::new(Remote::new(
        Arc::clone(torrents),
        Arc::clone(fetches),
        rights,
        fixed,
    ));
    let password = options.remote_password_file.as_deref();
    let login = login(env, "--remote", options.remote_user.as_deref(), password)?;
    let login = login.map(Arc::new);
    let protocols: [Protocol<'_>; 2] = [
        (
            "Transmission RPC",
            "--transmission",
            options.transmission.as_ref(),
            transmission,
            serve_transmission,
        ),
        (
            "qBittorrent Web API",
            "--qbittorrent",
            options.qbittorrent.as_ref(),
            qbittorrent,
            serve_qbittorrent,
        ),
    ];
    let mut servers = Vec::new();
    for (name, option, address, socket, serve) in protocols {
        let endpoint = match (&socket, address) {
            (Some(socket), _) => socket.local_addr()?.into(),
            (None, Some(address)) => endpoint(env, option, address)?,
            (None, None) => continue,
        };
        let own_name = address.and_then(ServerAddress::own_name);
        let hosts = options.remote_hosts.iter().map(String::as_str);
        let listen = Listen {
            endpoint,
            listener: socket,
            login: login.clone(),
            hosts: hosts.chain(own_name).map(str::to_owned).collect(),
            is_open: options.insecure_no_auth,
            about: about(name, page),
        };
        let server = serve(listen, Arc::<Remote>::clone(&remote), MAX_LEN);
        servers.push((name, server.context(option)?));
    }
    Ok(servers)
}

/// A protocol: its name, its option, the address of the option, the socket of systemd, and its server.
type Protocol<'o> = (
    &'static str,
    &'static str,
    Option<&'o ServerAddress>,
    Option<TcpListener>,
    fn(Listen, Arc<dyn Control>, u64) -> Result<Server, ListenError>,
);

/// Returns the text for people who open the address of a protocol in a browser.
fn about(protocol: &str, page: Option<&str>) -> String {
    let page = match page {
        Some(url) => format!("The page of this daemon is at {url}"),
        None => "This daemon has no page: its option --http serves one.".to_owned(),
    };
    format!(
        "Hashlane serves the {protocol} here, for other programs.\n\
         {page}\n\
         Give the host and the port of this address to a program, and the user and the password of --remote-user.\n"
    )
}

/// The daemon.
struct Remote {
    torrents: Arc<Mutex<Torrents>>,
    rights: Rights,
    fixed: Fixed,
    started: Instant,
    fetches: Arc<Fetches>,
    seen: Mutex<Seen>,
}

impl Remote {
    fn new(
        torrents: Arc<Mutex<Torrents>>,
        fetches: Arc<Fetches>,
        rights: Rights,
        fixed: Fixed,
    ) -> Self {
        Self {
            torrents,
            rights,
            fixed,
            started: Instant::now(),
            fetches,
            seen: Mutex::default(),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // No code that holds the lock leaves the state inconsistent.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, id: u32) -> Result<Name, Refusal> {
        let name = lock(&self.torrents).numbered(id as usize);
        name.ok_or(Refusal::Absent)
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
            handle.ok_or_else(|| Refusal::Conflict("the torrent waits for its start".into()))?;
        Ok(question(&handle)?)
    }
    /// Returns a folder in which torrents may be placed.
    fn allowed(&self, folder: &str) -> Result<PathBuf, Refusal> {
        let folder = PathBuf::from(folder);
        self.rights.check_folder(&folder)?;
        Ok(folder)
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
        // One snapshot of all torrents, which they share with the client.
        let snapshot = torrents.all();
        let all = entries
            .iter()
            .zip(0..)
            .filter_map(|(entry, position)| view::torrent(position, entry, &torrents, &snapshot));
        let all = all.collect();
        seen.date(all, now())
    }

    /// The files stay in view while the client adds a torrent again, for example to rename them.
    fn files(&self, id: u32) -> Vec<File> {
        let Ok(name) = self.name(id) else {
            return Vec::new();
        };
        let torrents = lock(&self.torrents);
        let (Some((names, metainfo)), Some(entry)) =
            (torrents.names_of_content(name), torrents.store.get(name))
        else {
            return Vec::new();
        };
        let chosen = entry.choices.priorities.clone();
        let handle = torrents.handle(name).cloned();
        drop(torrents);
        let of_client = handle.map_or_else(Vec::new, |handle| handle.files());
        let layout = Layout::new(&metainfo, HashVersions::of(metainfo.version()));
        let files = files_of(&metainfo).filter(|(_, file)| file.kind() != FileKind::Padding);
        let files = files.zip(names.paths(&metainfo)).zip(0..);
        files
            .map(|(((index, file), path), position)| {
                let of_client = of_client.get(position as usize);
                File {
                    path,
                    len: file.length(),
                    pieces: layout.pieces_of(index),
                    done_len: of_client.and_then(|it| it.done_bytes).unwrap_or(0),
                    priority: match of_client {
                        Some(file) => file.priority,
                        None => priorities::of(&chosen, position),
                    },
                }
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

    /// Programs get the URLs with their secrets: one that edits the list sends all of them back.
    fn trackers(&self, id: u32) -> Vec<Tracker> {
        let Ok(name) = self.name(id) else {
            return Vec::new();
        };
        let tiers = lock(&self.torrents).tiers(name);
        let mut states = self.ask(id, TorrentHandle::trackers).unwrap_or_default();
        let urls = tiers.into_iter().zip(0..);
        let urls = urls.flat_map(|(urls, tier)| urls.into_iter().map(move |url| (url, tier)));
        urls.map(|(url, tier)| {
            let shown = masked_url(&url);
            let state = states.iter().position(|state| state.url == shown);
            let state = state.map(|position| states.remove(position));
            let result = |state: hashlane_client::Tracker| match state.state {
                TrackerState::Unused | TrackerState::Updating => None,
                TrackerState::Working => Some(Ok(())),
                TrackerState::Failed => Some(Err(state.message)),
            };
            Tracker {
                is_announcing: state
                    .as_ref()
                    .is_some_and(|state| state.state == TrackerState::Updating),
                answered: None,
                next_seconds: state.as_ref().and_then(|state| state.next_seconds),
                seeds: state.as_ref().and_then(|state| state.seeds),
                leeches: state.as_ref().and_then(|state| state.leeches),
                announced: state.and_then(result),
                url,
                tier,
            }
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
        lock(&self.torrents).groups()
    }

    fn change_groups(&self, change: &GroupChange) -> Result<(), Refusal> {
        lock(&self.torrents).change_groups(change, Some(&self.rights))
    }

    fn add(&self, source: Source, new: &NewTorrent) -> Result<Added, Refusal> {
        self.add_torrent(source, new)
    }

    fn apply(&self, ids: &[u32], command: &Command) -> Vec<Result<(), Refusal>> {
        let numbers: Vec<usize> = ids.iter().map(|id| *id as usize).collect();
        apply_by_number(&self.torrents, &numbers, command, Some(&self.rights))
    }

    fn session(&self) -> Session {
        self.settings()
    }

    fn change_session(&self, change: SessionChange) -> Result<(), Refusal> {
        self.change_settings(&change)
    }

    fn free_space(&self, folder: &str) -> Result<(u64, u64), Refusal> {
        self.space(folder)
    }
}
