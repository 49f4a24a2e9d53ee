//! The daemon as its page and its API see it: changes go to the state folder first.

use std::io::{self, ErrorKind, Write as _};
use std::net::TcpListener;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use hashlane_api::{
    Command, GroupChange, Groups, Limit, NewTorrent, Place, Refusal, SOCKET, SessionPatch, Source,
    Status, Target,
};
use hashlane_cli::options::network::secret_line;
use hashlane_cli::{Daemon, Env};
use hashlane_client::http::{
    Added, Auth, Credentials, EVERYBODY, Endpoint, Found, Listener, Server, Service, Statistics,
    Token,
};
use hashlane_client::{
    Config, Event, Http, Identity, InfoHash, Network, Snapshot, TorrentKey, TorrentSnapshot,
};
use hashlane_files::{AtomicFile, Overwrite};
use hashlane_metainfo::InfoHashes;
use hashlane_store::{Entry, Metainfo, Name};

use super::add::add;
use super::apply::{Rights, apply_by_number};
use super::fetches::Fetches;
use super::torrents::{Torrents, lock};
use crate::config::{auth, endpoint, http};
use crate::log;
use crate::output::reporter::Reporter;

/// The file in the state folder with the token, if the options name no credentials.
const TOKEN: &str = "http-token";

/// Serves the page, if the options ask for it or systemd has opened a socket for it. Requests may do what
/// `rights` allow.
pub(super) fn serve(
    env: &mut Env,
    daemon: &Daemon,
    socket: Option<TcpListener>,
    (torrents, fetches): (&Arc<Mutex<Torrents>>, &Arc<Fetches>),
    config: &Config,
    rights: &Rights,
) -> anyhow::Result<Option<Server>> {
    let state = lock(torrents).store.folder().to_owned();
    let listener: Listener = match (socket, &daemon.http.http) {
        (Some(socket), _) => socket.into(),
        (None, Some(address)) => endpoint(env, "--http", address)?
            .bind()
            .with_context(|| format!("--http {address}"))?,
        (None, None) => return Ok(None),
    };
    let address = listener.endpoint()?;
    let auth = match auth(env, &daemon.http, daemon.remote.insecure_no_auth)? {
        Some(auth) => auth,
        None => Auth::Credentials(Credentials {
            token: Some(token(env, &state.join(TOKEN))?),
            login: None,
        }),
    };
    if matches!(auth, Auth::Off) {
        log::warn(env, &format!("--http {address}: {EVERYBODY}"));
    }
    let api = Api {
        torrents: Arc::clone(torrents),
        fetches: Arc::clone(fetches),
        rights: Some(rights.clone()),
        started: Instant::now(),
    };
    let context = format!("--http {address}");
    let http = http(&daemon.http, address, auth, rights.folders.clone());
    let server = Server::start(listener, &http, config, Arc::new(api));
    let server = server.context(context)?;
    Ok(Some(server))
}

/// Serves the same at the socket in the state folder, whose lock this process holds. Who can open the socket may do everything.
pub(super) fn serve_socket(
    state: &Path,
    torrents: &Arc<Mutex<Torrents>>,
    fetches: &Arc<Fetches>,
    config: &Config,
) -> anyhow::Result<Server> {
    let endpoint = Endpoint::Unix(state.join(SOCKET));
    let context = endpoint.to_string();
    let listener = endpoint.bind().with_context(|| context.clone())?;
    let http = Http {
        endpoint,
        origins: Vec::new(),
        folders: vec!["/".into()],
        auth: Auth::Off,
        fetches_local: true,
    };
    let api = Api {
        torrents: Arc::clone(torrents),
        fetches: Arc::clone(fetches),
        rights: None,
        started: Instant::now(),
    };
    Server::start(listener, &http, config, Arc::new(api)).context(context)
}

/// Reports the address of the page, and the file with the token if the options name no credentials.
pub(super) fn report(
    env: &mut Env,
    page: &Server,
    daemon: &Daemon,
    state: &Path,
    reporter: &mut Reporter,
) -> anyhow::Result<()> {
    let (url, token) = (page.url(), None);
    reporter.on_event(env, &Event::Page { url, token })?;
    let options = &daemon.http;
    let has_credentials = options.http_token_file.is_some() || options.http_user.is_some();
    if has_credentials || daemon.remote.insecure_no_auth {
        return Ok(());
    }
    let file = state.join(TOKEN);
    reporter.note(
        env,
        &format!("note: the page asks for the token in {}", file.display()),
    )
}

/// Returns the token of a file, which is made if it is absent. Only its user can read it.
fn token(env: &Env, path: &Path) -> anyhow::Result<Token> {
    let context = || path.display().to_string();
    match secret_line(env, path) {
        Ok(text) => Token::new(&text).with_context(context),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let token = Token::random()?;
            write_token(path, &token).with_context(context)?;
            Ok(token)
        }
        Err(error) => Err(error).with_context(context),
    }
}

/// Writes the file of a token as a whole: a kill leaves no part of it.
fn write_token(path: &Path, token: &Token) -> io::Result<()> {
    let file = AtomicFile::beside(path, 0o600)?;
    writeln!(file.as_file(), "{}", token.secret())?;
    file.put(path, Overwrite::No)
}

/// The torrents of the daemon.
struct Api {
    torrents: Arc<Mutex<Torrents>>,
    fetches: Arc<Fetches>,
    /// `None` allows everything.
    rights: Option<Rights>,
    started: Instant,
}

/// Returns a torrent as requests see it: what the folder has of it, and its state in a snapshot of the client.
fn shown(
    torrents: &Torrents,
    entry: &Entry,
    position: u64,
    all: &Snapshot,
) -> Option<Arc<TorrentSnapshot>> {
    let name = entry.name();
    let totals = torrents.totals(name, torrents.find(name, all));
    let choices = &entry.choices;
    let mut torrent = torrents.in_snapshot(entry, &totals, all)?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    torrent.identity.info_hashes = Some(entry.info_hashes);
    torrent.torrent = entry.shown_title();
    torrent.name = match entry.metainfo {
        Metainfo::File(_) => Some(entry.shown_title()),
        Metainfo::Magnet(_) => choices.title.clone().or(torrent.name),
    };
    torrent.folder = match &choices.place {
        Place::Folder(folder) => Some(text(folder)),
        Place::Content(_) => None,
    };
    torrent.move_to = choices.move_to.as_deref().map(text);
    torrent.labels = choices.labels.iter().cloned().collect();
    torrent.category.clone_from(&choices.category);
    torrent.is_paused = choices.paused;
    torrent.is_forced = choices.forced;
    torrent.queue_position = Some(position);
    torrent.is_sequential = choices.sequential;
    torrent.is_super_seeding = choices.super_seeding;
    torrent.max_down = choices.limits.down.map(NonZeroU32::get);
    torrent.max_up = choices.limits.up.map(NonZeroU32::get);
    torrent.is_served = true;
    let goal = torrents.goal_of(entry);
    let seconds = |time: Target<Duration>| time.limit().map(|time| time.as_secs());
    torrent.seed_ratio = goal.ratio.limit();
    torrent.seed_seconds = seconds(goal.time);
    torrent.idle_seconds = seconds(goal.idle);
    torrent.added_at = totals.added;
    torrent.completed_at = totals.completed;
    torrent.active_at = totals.active;
    torrent.downloaded_bytes = totals.received;
    torrent.uploaded_bytes = totals.sent;
    torrent.serving_seconds = Duration::from_secs(totals.seeding_seconds)
        .as_secs_f64()
        .into();
    Some(Arc::new(torrent))
}

fn name_of(torrents: &Torrents, key: TorrentKey) -> Option<Name> {
    let info_hashes = match key {
        TorrentKey::Number(number) => return torrents.numbered(number),
        TorrentKey::InfoHash(InfoHash::V1(v1)) => InfoHashes::V1(v1),
        TorrentKey::InfoHash(InfoHash::V2(v2)) => InfoHashes::V2(v2),
    };
    torrents.store.find(info_hashes).map(Entry::name)
}

impl Service for Api {
    fn snapshot(&self) -> Arc<Snapshot> {
        let torrents = lock(&self.torrents);
        let all = torrents.all();
        let entries = torrents.store.entries().into_iter();
        let mut shown: Vec<_> = entries
            .zip(0..)
            .filter_map(|(entry, position)| shown(&torrents, entry, position, &all))
            .collect();
        shown.sort_by_key(|torrent| torrent.identity.number);
        Arc::new(Snapshot {
            network: all.network.clone(),
            network_problem: all.network_problem.clone(),
            reach: Arc::clone(&all.reach),
            next_number: shown.last().map_or(0, |last| last.identity.number + 1),
            torrents: shown,
            max_down: all.max_down,
            max_up: all.max_up,
            accepts_torrents: true,
        })
    }

    fn find(&self, key: TorrentKey) -> Option<Found> {
        let torrents = lock(&self.torrents);
        let name = name_of(&torrents, key)?;
        let entry = torrents.store.get(name)?;
        let position = torrents.store.position(name)? as u64;
        Some(Found {
            torrent: shown(&torrents, entry, position, &torrents.all())?,
            handle: torrents.handle(name).cloned(),
        })
    }

    fn add(&self, source: Source, new: &NewTorrent) -> Result<Added, Refusal> {
        let rights = self.rights.as_ref();
        let (name, is_new) = add(&self.torrents, &self.fetches, source, new, rights)?;
        let torrents = lock(&self.torrents);
        let entry = torrents.store.get(name).ok_or(Refusal::Absent)?;
        let torrent = Identity {
            number: torrents.number(name).ok_or(Refusal::Absent)?,
            info_hashes: Some(entry.info_hashes),
        };
        Ok(Added {
            torrent,
            title: entry.shown_title(),
            is_new,
        })
    }

    fn check_folder(&self, folder: &Path) -> Result<(), Refusal> {
        match &self.rights {
            Some(rights) => rights.check_folder(folder),
            None => Ok(()),
        }
    }

    fn apply(&self, numbers: &[usize], command: &Command) -> Vec<Result<(), Refusal>> {
        apply_by_number(&self.torrents, numbers, command, self.rights.as_ref())
    }

    fn change_session(&self, patch: &SessionPatch) -> Result<(), Refusal> {
        lock(&self.torrents).change_session(patch)
    }

    fn groups(&self) -> Option<Groups> {
        Some(lock(&self.torrents).groups())
    }

    fn change_groups(&self, change: &GroupChange) -> Result<(), Refusal> {
        lock(&self.torrents).change_groups(change, self.rights.as_ref())
    }

    fn reload(&self) -> Result<Vec<String>, Refusal> {
        lock(&self.torrents).reload().map_err(Refusal::Conflict)
    }

    fn set_network(&self, network: Network) -> Result<(), Refusal> {
        Ok(lock(&self.torrents).set_network(network)?)
    }

    fn statistics(&self) -> Statistics {
        let torrents = lock(&self.torrents);
        let all = torrents.store.totals().all;
        let (downloaded, uploaded) = torrents.exchanged();
        Statistics {
            downloaded,
            uploaded,
            seconds: self.started.elapsed().as_secs(),
            all_downloaded: all.received,
            all_uploaded: all.sent,
        }
    }

    fn status(&self) -> Status {
        lock(&self.torrents).status()
    }

    fn limits(&self) -> Vec<Limit> {
        lock(&self.torrents).limits()
    }
}
