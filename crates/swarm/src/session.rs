//! A libtorrent session with a safe interface.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use hashlane_api::{Peer, Priority, Tracker};
use hashlane_metainfo::{AllSecrets, Magnet, PeerAddress, PieceIndex, Secrets};

use crate::ffi::{StorageHandle, ffi};
use crate::settings::{OutgoingUtp, limit};
use crate::torrent::level;
use crate::{AddTorrent, Event, Network, Settings, Status, Storage, TorrentId, secrets, status};

/// A failed operation, with libtorrent's message.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SessionError(String);

impl From<cxx::Exception> for SessionError {
    fn from(error: cxx::Exception) -> Self {
        Self(error.what().to_owned())
    }
}

/// A session of torrents that are downloaded and served together.
///
/// Dropping a session announces its end to the trackers, and waits up to a second for their answers. Then it waits
/// until all received blocks are written.
pub struct Session {
    inner: cxx::UniquePtr<ffi::Session>,
    storages: Mutex<HashMap<TorrentId, Arc<Storage>>>,
    secrets: Mutex<KeptSecrets>,
    /// The secrets in the settings.
    own_secrets: Arc<Secrets>,
}

/// The secrets in the URLs of torrents, with those in the settings.
#[derive(Default)]
struct KeptSecrets {
    of: HashMap<TorrentId, Arc<Secrets>>,
    /// Those of all torrents and the settings together.
    all: AllSecrets,
    /// The torrents that have left, and when. libtorrent still reports their trackers.
    left: VecDeque<(Instant, TorrentId)>,
}

/// Time for which the secrets of a torrent are kept after it has left. libtorrent waits for a tracker for at most a minute.
const SECRETS_KEPT: Duration = Duration::from_secs(300);

impl KeptSecrets {
    /// Keeps the secrets of a torrent, in place of those that it had.
    fn keep(&mut self, torrent: TorrentId, secrets: Secrets) {
        self.all.add(&secrets);
        if let Some(before) = self.of.insert(torrent, Arc::new(secrets)) {
            self.all.remove(&before);
        }
    }

    /// Forgets the secrets of torrents that left a while before `now`.
    fn forget(&mut self, now: Instant) {
        while let Some((left, id)) = self.left.front()
            && now.duration_since(*left) >= SECRETS_KEPT
        {
            if let Some(secrets) = self.of.remove(id) {
                self.all.remove(&secrets);
            }
            self.left.pop_front();
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

/// Number of statuses that libtorrent returns at once. Each takes more than a kilobyte until it was read.
const STATUSES_AT_ONCE: usize = 256;

/// Number of threads of a session: four for the disk (`cpp/disk.cc`), one of libtorrent, and one that resolves names.
const N_THREADS: usize = 6;

/// Checks that the system has enough threads, so that the error names the limits. libtorrent would end the process if the
/// thread that resolves names could not be started.
fn check_threads() -> Result<(), SessionError> {
    // Each thread waits, so that all of them exist at the same time.
    let (senders, started): (Vec<_>, Vec<_>) = (0..N_THREADS)
        .map(|_| {
            let (sender, receiver) = mpsc::channel::<()>();
            let wait = move || {
                let _ = receiver.recv();
            };
            (sender, thread::Builder::new().spawn(wait))
        })
        .unzip();
    drop(senders);
    let mut result = Ok(());
    for thread in started {
        match thread {
            // A thread that has not been joined still counts for the limit.
            Ok(thread) => drop(thread.join()),
            Err(error) => {
                result = Err(SessionError(format!(
                    "cannot start {N_THREADS} threads: {error}; `ulimit -u` and `ulimit -v` limit threads"
                )));
            }
        }
    }
    result
}

impl Session {
    /// Starts a session. A port that is in use is reported as [`Event::ListenFailed`].
    ///
    /// A session that is suspended has no connections and resolves no names until [`Self::connect`].
    ///
    /// # Errors
    /// Returns libtorrent's error, or the system's error if it has too few threads.
    pub fn new(settings: &Settings, is_suspended: bool) -> Result<Self, SessionError> {
        check_threads()?;
        let inner = ffi::open_session(&settings.to_ffi(is_suspended))?;
        let own_secrets = secrets::of_settings(settings);
        let mut secrets = KeptSecrets::default();
        secrets.all.add(&own_secrets);
        Ok(Self {
            inner,
            storages: Mutex::new(HashMap::new()),
            secrets: Mutex::new(secrets),
            own_secrets: Arc::new(own_secrets),
        })
    }

    /// Adds a torrent, and starts it unless it is paused. Its pieces are not verified again.
    ///
    /// # Errors
    /// Fails if the torrent is already in the session, or libtorrent and `hashlane_metainfo` disagree about its files
    /// or pieces.
    pub fn add(&self, torrent: &AddTorrent<'_>) -> Result<TorrentId, SessionError> {
        let params = ffi::TorrentParams {
            metainfo: torrent.torrent.bytes().to_vec(),
            have: torrent.have.iter().copied().map(u8::from).collect(),
            wanted: torrent.wanted.iter().copied().map(u8::from).collect(),
            peers: torrent.peers.iter().map(ToString::to_string).collect(),
            trackers: torrent.sources.trackers.clone(),
            web_seeds: torrent.sources.web_seeds.clone(),
            only_serve: torrent.only_serve,
            paused: torrent.paused,
            sequential: torrent.sequential,
            super_seeding: torrent.super_seeding,
            ..ffi::TorrentParams::default()
        };
        let handle = Box::new(StorageHandle(Arc::clone(&torrent.storage)));
        let id = TorrentId(self.inner.add(&params, handle)?);
        self.storages().insert(id, Arc::clone(&torrent.storage));
        self.keep_secrets(id, secrets::of_torrent(torrent.torrent, torrent.sources));
        Ok(id)
    }

    /// Adds a magnet link to fetch only its metadata (BEP 9). After [`Event::Metadata`], the caller removes
    /// the link and adds the torrent.
    ///
    /// # Errors
    /// Fails if the torrent is already in the session.
    pub fn add_magnet(
        &self,
        magnet: &Magnet,
        peers: &[SocketAddr],
    ) -> Result<TorrentId, SessionError> {
        let named = magnet.peers.iter().filter_map(PeerAddress::socket_addr);
        let peers = peers.iter().copied().chain(named);
        let params = ffi::TorrentParams {
            magnet: magnet.to_string(),
            peers: peers.map(|peer| peer.to_string()).collect(),
            ..ffi::TorrentParams::default()
        };
        let id = TorrentId(self.inner.add_magnet(&params)?);
        self.keep_secrets(id, secrets::of_magnet(magnet));
        Ok(id)
    }

    /// Removes a torrent. [`Event::Removed`] follows.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn remove(&self, torrent: TorrentId) -> Result<(), SessionError> {
        self.storages().remove(&torrent);
        let mut secrets = self.all_secrets();
        let now = Instant::now();
        if secrets.of.contains_key(&torrent) {
            secrets.left.push_back((now, torrent));
        }
        secrets.forget(now);
        drop(secrets);
        Ok(self.inner.remove(torrent.0)?)
    }

    /// Pauses a torrent: announces its end to the trackers, and disconnects its peers.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn pause(&self, torrent: TorrentId) -> Result<(), SessionError> {
        Ok(self.inner.pause(torrent.0)?)
    }

    /// Resumes a paused torrent.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn resume(&self, torrent: TorrentId) -> Result<(), SessionError> {
        Ok(self.inner.resume(torrent.0)?)
    }

    /// Connects to a peer.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn add_peer(&self, torrent: TorrentId, peer: SocketAddr) -> Result<(), SessionError> {
        Ok(self.inner.add_peer(torrent.0, &peer.to_string())?)
    }

    /// Adds a tracker, in a tier after the others. Does nothing if the torrent has the tracker.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn add_tracker(&self, torrent: TorrentId, url: &str) -> Result<(), SessionError> {
        // The tracker can fail at once, and the report must not contain its passkey.
        let mut secrets = (*self.secrets_of(torrent)).clone();
        secrets.add_url(url);
        self.keep_secrets(torrent, secrets);
        Ok(self.inner.add_tracker(torrent.0, url)?)
    }

    /// Uses the trackers of these tiers instead of all others.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn replace_trackers(
        &self,
        torrent: TorrentId,
        tiers: &[Vec<String>],
    ) -> Result<(), SessionError> {
        // Replies of the replaced trackers can still arrive, so their secrets are kept, too.
        let mut secrets = (*self.secrets_of(torrent)).clone();
        let mut urls = Vec::new();
        for (tier, url) in tiers
            .iter()
            .enumerate()
            .flat_map(|(tier, urls)| urls.iter().map(move |url| (tier, url)))
        {
            secrets.add_url(url);
            urls.push(ffi::TrackerUrl {
                url: url.clone(),
                // libtorrent stores a tier in eight bits.
                tier: u8::try_from(tier).unwrap_or(u8::MAX),
            });
        }
        self.keep_secrets(torrent, secrets);
        Ok(self.inner.replace_trackers(torrent.0, urls)?)
    }

    /// Announces a torrent to its trackers. A tracker that sets a minimum interval is contacted after that interval.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn reannounce(&self, torrent: TorrentId) -> Result<(), SessionError> {
        Ok(self.inner.reannounce(torrent.0)?)
    }

    /// Requests the pieces of a torrent in order, or the rarest ones first.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn set_sequential(&self, torrent: TorrentId, sequential: bool) -> Result<(), SessionError> {
        Ok(self.inner.set_sequential(torrent.0, sequential)?)
    }

    /// Offers a piece only after the previous piece has spread, or not (BEP 16). Only for content that is complete: the session
    /// hides which pieces are present.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn set_super_seeding(
        &self,
        torrent: TorrentId,
        super_seeding: bool,
    ) -> Result<(), SessionError> {
        Ok(self.inner.set_super_seeding(torrent.0, super_seeding)?)
    }

    /// Sets the maximum download and upload rates of a torrent in bytes per second; `None` for no limit. The limits of the
    /// session apply too.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn limit_torrent(
        &self,
        torrent: TorrentId,
        max_down: Option<u32>,
        max_up: Option<u32>,
    ) -> Result<(), SessionError> {
        let (max_down, max_up) = (limit(max_down), limit(max_up));
        Ok(self.inner.limit_torrent(torrent.0, max_down, max_up)?)
    }

    /// Sets the maximum download and upload rates in bytes per second; `None` for no limit.
    ///
    /// # Errors
    /// Returns libtorrent's error.
    pub fn limit(&self, max_down: Option<u32>, max_up: Option<u32>) -> Result<(), SessionError> {
        Ok(self.inner.limit(limit(max_down), limit(max_up))?)
    }

    /// Tries again to listen at the addresses where that has failed. [`Event::Listening`] or [`Event::ListenFailed`]
    /// follows.
    ///
    /// # Errors
    /// Returns libtorrent's error.
    pub fn listen_again(&self) -> Result<(), SessionError> {
        Ok(self.inner.listen_again()?)
    }

    /// Changes the local end of all connections, and resumes a session that is suspended. Listening sockets of other addresses
    /// are closed; connections of peers stay. [`Event::Listening`] or [`Event::ListenFailed`] follows for new addresses.
    ///
    /// # Errors
    /// Returns libtorrent's error.
    pub fn connect(&self, network: &Network) -> Result<(), SessionError> {
        Ok(self.inner.connect(&network.listen(), &network.outgoing())?)
    }

    /// Suspends the session: closes all its sockets, and opens none until [`Self::connect`]. Torrents have the state
    /// [`State::Stopped`](crate::State::Stopped) meanwhile.
    ///
    /// # Errors
    /// Returns libtorrent's error.
    pub fn suspend(&self) -> Result<(), SessionError> {
        Ok(self.inner.suspend()?)
    }

    /// Sets whether outgoing connections use uTP.
    ///
    /// # Errors
    /// Returns libtorrent's error.
    pub fn use_utp(&self, utp: OutgoingUtp) -> Result<(), SessionError> {
        let is_on = utp != OutgoingUtp::Off;
        Ok(self.inner.use_utp(is_on, utp == OutgoingUtp::Retry)?)
    }

    /// Returns the connected peers of a torrent.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn peers(&self, torrent: TorrentId) -> Result<Vec<Peer>, SessionError> {
        let peers = self.inner.peers(torrent.0)?;
        let secrets = self.secrets_of(torrent);
        let peers = peers.iter().filter_map(|from| status::peer(from, &secrets));
        Ok(peers.collect())
    }

    /// Returns the trackers of a torrent.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn trackers(&self, torrent: TorrentId) -> Result<Vec<Tracker>, SessionError> {
        let trackers = self.inner.trackers(torrent.0)?;
        let secrets = self.secrets_of(torrent);
        let trackers = trackers.iter();
        Ok(trackers
            .map(|from| status::tracker(from, &secrets))
            .collect())
    }

    /// Returns the number of present bytes of each file except padding. Empty while the metadata is fetched.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn file_progress(&self, torrent: TorrentId) -> Result<Vec<u64>, SessionError> {
        Ok(self.inner.file_progress(torrent.0)?)
    }

    /// Sets the priority of each file except padding. The caller must first prepare the files that become wanted.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session, or has another number of files.
    pub fn prioritize(
        &self,
        torrent: TorrentId,
        priorities: &[Priority],
    ) -> Result<(), SessionError> {
        let levels: Vec<u8> = priorities.iter().copied().map(level).collect();
        Ok(self.inner.prioritize(torrent.0, &levels)?)
    }

    /// Returns the progress of these torrents, except those that are not in the session. libtorrent's thread needs a few
    /// microseconds for each.
    ///
    /// # Errors
    /// Returns libtorrent's error.
    pub fn statuses(
        &self,
        torrents: &[TorrentId],
    ) -> Result<HashMap<TorrentId, Status>, SessionError> {
        let numbers: Vec<u32> = torrents.iter().map(|torrent| torrent.0).collect();
        let mut statuses = HashMap::with_capacity(torrents.len());
        for numbers in numbers.chunks(STATUSES_AT_ONCE) {
            let part = self.inner.statuses(numbers)?;
            let part = part.iter();
            statuses.extend(part.map(|from| (TorrentId(from.torrent), Status::from_ffi(from))));
        }
        Ok(statuses)
    }

    /// Returns an entry for each piece of a torrent, `true` if it is present. Empty while the metadata is fetched.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn have(&self, torrent: TorrentId) -> Result<Vec<bool>, SessionError> {
        let have = self.inner.have(torrent.0)?;
        Ok(have.iter().map(|have| *have != 0).collect())
    }

    /// Returns `true` if a piece is present: all of it has arrived, its hash is right, and it was written.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn has_piece(&self, torrent: TorrentId, piece: PieceIndex) -> Result<bool, SessionError> {
        Ok(self.inner.has_piece(torrent.0, piece.get())?)
    }

    /// Requests these pieces of the torrent before all others, the first one first. They keep this precedence until they have
    /// arrived. Pieces that are present are ignored.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn hurry(&self, torrent: TorrentId, pieces: Range<u32>) -> Result<(), SessionError> {
        Ok(self.inner.hurry(torrent.0, pieces.start, pieces.end)?)
    }

    /// Fills `buffer` with the bytes of a piece from `begin` on, as they are on the disk. Only those of pieces that are present are
    /// right.
    ///
    /// # Errors
    /// Those of [`Storage::read`], or [`io::ErrorKind::NotFound`] if the torrent is not in the session.
    pub fn read(
        &self,
        torrent: TorrentId,
        piece: PieceIndex,
        begin: u32,
        buffer: &mut [u8],
    ) -> io::Result<()> {
        let storage = self.storages().get(&torrent).cloned();
        let storage = storage.ok_or(io::ErrorKind::NotFound)?;
        storage.read(piece.get(), begin, buffer)
    }

    /// Returns the events since the last call, in order. Waits up to `timeout` for the first one.
    ///
    /// # Errors
    /// Returns libtorrent's error.
    pub fn wait(&self, timeout: Duration) -> Result<Vec<Event>, SessionError> {
        let milliseconds = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
        let events = self.inner.wait(milliseconds)?;
        let events = events.into_iter().filter_map(|event| self.event(event));
        Ok(events.collect())
    }

    /// Ends a [`Self::wait`] of another thread early, or the next one, which returns [`Event::Counters`].
    pub fn wake(&self) {
        self.inner.wake();
    }

    /// Returns the torrent and the server (`host:port`) of the web seed that libtorrent handles, if it does not respond
    /// because of a web seed. Known only to versions of libtorrent whose web seeds are not safe. Returns at once.
    pub fn stuck_web_seed(&self) -> Option<(TorrentId, String)> {
        let suspect = self.inner.stuck_web_seed();
        (suspect.torrent != 0).then_some((TorrentId(suspect.torrent), suspect.server))
    }

    /// Returns the info dictionary of a magnet link, if it was received.
    ///
    /// # Errors
    /// Fails if the torrent is not in the session.
    pub fn metadata(&self, torrent: TorrentId) -> Result<Option<Vec<u8>>, SessionError> {
        let info = self.inner.metadata(torrent.0)?;
        Ok((!info.is_empty()).then_some(info))
    }

    fn event(&self, mut event: ffi::SessionEvent) -> Option<Event> {
        let mut failure = None;
        if event.kind == ffi::EventKind::FileFailed {
            let storages = self.storages();
            let storage = storages.get(&TorrentId(event.torrent));
            failure = storage.and_then(|storage| storage.take_failure());
        }
        event.text = self.masked(TorrentId(event.torrent), &event.text);
        Event::from_ffi(event, failure)
    }

    /// Returns the text of an event for a report. A text of no torrent can contain the secrets of any torrent.
    fn masked(&self, torrent: TorrentId, text: &str) -> String {
        let secrets = self.all_secrets();
        match secrets.of.get(&torrent) {
            Some(secrets) => secrets.mask(text),
            None if torrent.0 != 0 => self.own_secrets.mask(text),
            None => secrets.all.mask(text),
        }
    }

    /// Keeps the secrets of a torrent, with those of the settings.
    fn keep_secrets(&self, torrent: TorrentId, mut secrets: Secrets) {
        if !secrets.is_empty() {
            secrets.extend(&self.own_secrets);
            self.all_secrets().keep(torrent, secrets);
        }
    }

    fn secrets_of(&self, torrent: TorrentId) -> Arc<Secrets> {
        let secrets = self.all_secrets();
        Arc::clone(secrets.of.get(&torrent).unwrap_or(&self.own_secrets))
    }

    fn all_secrets(&self) -> std::sync::MutexGuard<'_, KeptSecrets> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn storages(&self) -> std::sync::MutexGuard<'_, HashMap<TorrentId, Arc<Storage>>> {
        self.storages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the sockets of this process when it executes another program: libtorrent leaves its sockets open.
pub fn close_sockets_on_exec() {
    ffi::close_sockets_on_exec();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_kept_for_a_while() {
        let mut kept = KeptSecrets::default();
        let start = Instant::now();
        for number in 0..3 {
            let mut secrets = Secrets::default();
            secrets.add(&format!("secret{number}"));
            kept.keep(TorrentId(number), secrets);
        }
        kept.left.push_back((start, TorrentId(0)));
        let later = start + SECRETS_KEPT / 2;
        kept.left.push_back((later, TorrentId(1)));
        kept.forget(later);
        assert_eq!(kept.of.len(), 3);
        kept.forget(start + SECRETS_KEPT);
        let mut left: Vec<u32> = kept.of.keys().map(|id| id.0).collect();
        left.sort_unstable();
        assert_eq!(left, [1, 2]);
        let text = kept.all.mask("secret0 secret1 secret2");
        assert_eq!(text, "secret0 *** ***");
    }
}
