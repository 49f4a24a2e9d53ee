//! The daemon as the protocols of other programs see it.

mod session;

use std::net::TcpListener;
use std::num::NonZeroU16;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use hashlane_api::{Command, GroupChange, Groups, NewTorrent, Refusal, Source};
use hashlane_cli::torrent_file::MAX_LEN;
use hashlane_cli::{Env, RemoteOptions, ServerAddress};
use hashlane_client::{
    Added, HandleError, Rights, Settings, Snapshot, TorrentFile, TorrentHandle, TorrentKey,
    TrackerState,
};
use hashlane_metainfo::masked_url;
use hashlane_remote::model::{Peer, Session, SessionChange, Tracker};
use hashlane_remote::{Control, Listen, ListenError, serve_qbittorrent, serve_transmission};
use hashlane_server::Server;

use crate::config::{endpoint, login};

/// Settings of the session that do not change.
pub(super) struct Fixed {
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
    session: &Arc<hashlane_session::Session>,
    (rights, page): (Rights, Option<&str>),
    fixed: Fixed,
) -> anyhow::Result<Vec<(&'static str, Server)>> {
    let remote: Arc<Remote> = Arc::new(Remote {
        session: Arc::clone(session),
        rights,
        fixed,
    });
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
    session: Arc<hashlane_session::Session>,
    rights: Rights,
    fixed: Fixed,
}

impl Remote {
    /// Does something with the torrent's handle, unless it waits for its start.
    fn ask<T>(
        &self,
        number: usize,
        question: impl FnOnce(&TorrentHandle) -> Result<T, HandleError>,
    ) -> Result<T, Refusal> {
        let handle = self.session.handle(TorrentKey::Number(number));
        let waits = || Refusal::Conflict("the torrent waits for its start".into());
        Ok(question(&handle.ok_or_else(waits)?)?)
    }

    /// Returns a folder in which torrents may be placed.
    fn allowed(&self, folder: &str) -> Result<PathBuf, Refusal> {
        let folder = PathBuf::from(folder);
        self.rights.check_folder(&folder)?;
        Ok(folder)
    }
}

impl Control for Remote {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.session.snapshot()
    }

    fn files(&self, torrent: usize) -> Vec<(TorrentFile, Range<u32>)> {
        self.session.files(TorrentKey::Number(torrent))
    }

    fn peers(&self, torrent: usize) -> Vec<Peer> {
        let peers = self
            .ask(torrent, TorrentHandle::peers)
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
    fn trackers(&self, torrent: usize) -> Vec<Tracker> {
        let tiers = self.session.trackers(TorrentKey::Number(torrent));
        let states = self.ask(torrent, TorrentHandle::trackers);
        let mut states = states.unwrap_or_default();
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

    fn pieces(&self, torrent: usize) -> Vec<bool> {
        self.ask(torrent, TorrentHandle::have).unwrap_or_default()
    }

    fn metainfo(&self, torrent: usize) -> Option<Vec<u8>> {
        self.session.torrent_file(TorrentKey::Number(torrent))
    }

    fn groups(&self) -> Groups {
        self.session.groups()
    }

    fn change_groups(&self, change: &GroupChange) -> Result<(), Refusal> {
        self.session.change_groups(change, Some(&self.rights))
    }

    fn add(&self, source: Source, new: &NewTorrent) -> Result<Added, Refusal> {
        self.session.add(source, new, Some(&self.rights))
    }

    fn apply(&self, torrents: &[usize], command: &Command) -> Vec<Result<(), Refusal>> {
        self.session.apply(torrents, command, Some(&self.rights))
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
