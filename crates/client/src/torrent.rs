//! The state machine of one torrent.
//!
//! ```text
//! Waiting ──────────────► Verifying ──► Active: Downloading ─► Rechecking ─► Serving ─► Over
//!   └─► Metadata ─► Leaving ─┘ │  ▲                └──────────────────────────┘
//!                              ▼  │
//!                           Confirming
//! ```
//!
//! `Over` can follow every stage.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hashlane_metainfo::{FileSelection, InfoHashes, Magnet, PeerAddress};
use hashlane_swarm::{
    Access, AddTorrent, Event as SessionEvent, Session, Sources, State, Status, TorrentId,
};
use hashlane_verify::CancelToken;
use tracing::{debug, error, info, warn};

use crate::config::{Config, Goal, SeedLimits, Source};
use crate::error::TorrentError;
use crate::event::{Event, Outcome};
use crate::events::Events;
use crate::fetch;
use crate::inbox::{Inbox, Message};
use crate::rates::RateMeter;
use crate::snapshot::{Activity, TorrentSnapshot};
use crate::stored::{Claim, StoredTorrent, Verification, Verifying};
use crate::worker::Worker;

/// What all torrents of a client share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) session: Arc<Session>,
    /// Reads .torrent files.
    pub(crate) opener: Worker,
    /// Verifies content: each verification uses all cores.
    pub(crate) verifier: Worker,
    pub(crate) inbox: Inbox,
    pub(crate) events: Events,
    /// Places of content, with the label of the torrent that has each.
    pub(crate) places: HashMap<PathBuf, String>,
}

/// One torrent of a client.
pub(crate) struct Torrent {
    pub(crate) snapshot: TorrentSnapshot,
    goal: Goal,
    stage: Stage,
    /// Ends the verification of this torrent.
    cancel: CancelToken,
    /// Bytes that the running verification has read.
    verified_bytes: Arc<AtomicU64>,
    /// Whether it was paused before it joined the session.
    is_paused: bool,
    rates: RateMeter,
    /// When the metadata was known.
    started: Instant,
    /// When something last arrived, and how much was present then.
    last_arrival: (Instant, u64),
    /// The last problem of a tracker or web seed.
    last_problem: Option<String>,
}

enum Stage {
    /// The .torrent file is being read.
    Waiting,
    /// The session looks for the metadata of a magnet link.
    Metadata(Box<Magnet>),
    /// The metadata is known, and the link is leaving the session.
    Leaving(Box<Leaving>),
    /// The content is being verified.
    Verifying(Box<Pending>),
    /// Wrong pieces wait for permission to be replaced.
    Confirming(Box<Pending>),
    /// The torrent is in the session.
    Active(Box<Active>),
    Over(Outcome),
}

struct Leaving {
    magnet: Magnet,
    metainfo: Vec<u8>,
    /// Peers that are known.
    peers: Vec<SocketAddr>,
}

/// A torrent that will join the session.
struct Pending {
    stored: Arc<StoredTorrent>,
    /// Peers that are known.
    peers: Vec<SocketAddr>,
}

struct Active {
    stored: Arc<StoredTorrent>,
    /// Which pieces are present.
    have: Vec<bool>,
    /// Whether everything was present when the torrent joined.
    is_complete: bool,
    phase: Phase,
}

enum Phase {
    Downloading,
    /// Everything has arrived, and is verified again.
    Rechecking,
    /// Served since then.
    Serving(Instant),
}

impl Torrent {
    pub(crate) fn new(number: usize, label: &str, goal: Goal) -> Self {
        let now = Instant::now();
        Self {
            snapshot: TorrentSnapshot::new(number, label),
            goal,
            stage: Stage::Waiting,
            cancel: CancelToken::default(),
            verified_bytes: Arc::default(),
            is_paused: false,
            rates: RateMeter::default(),
            started: now,
            last_arrival: (now, 0),
            last_problem: None,
        }
    }

    /// Returns the result, if the torrent is over.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        match self.stage {
            Stage::Over(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Returns `true` if the torrent is in the session.
    pub(crate) fn needs_peers(&self) -> bool {
        self.snapshot.id.is_some()
    }

    /// Ends the verification that is running or waiting.
    pub(crate) fn cancel_verification(&self) {
        self.cancel.cancel();
    }

    fn number(&self) -> usize {
        self.snapshot.number
    }

    fn limits(&self) -> Option<SeedLimits> {
        match &self.goal {
            Goal::Download(download) => download.seeding,
            Goal::Seed(seed) => Some(seed.limits),
        }
    }

    fn timeout(&self) -> Option<Duration> {
        match &self.goal {
            Goal::Download(download) => download.timeout,
            Goal::Seed(_) => None,
        }
    }

    fn verifying(&self, shared: &Shared) -> Verifying {
        Verifying {
            hashing: shared.config.hashing,
            cancel: self.cancel.clone(),
            verified_bytes: Arc::clone(&self.verified_bytes),
        }
    }

    // From the task to its verification

    /// Begins with the source of the metadata.
    pub(crate) fn start(&mut self, shared: &Shared, source: Source) -> Result<(), TorrentError> {
        match source {
            Source::Metainfo(read) => {
                let read = move || read().map_err(TorrentError::Source);
                self.open(shared, read, Sources::default(), None);
            }
            Source::Url(url) => {
                let request = fetch::Request {
                    url,
                    proxy: shared.config.session.proxy.clone(),
                    bind: shared.config.bind,
                    timeout: self.timeout(),
                    max_len: shared.config.max_metainfo_len,
                };
                let (number, inbox) = (self.number(), shared.inbox.clone());
                fetch::start(request, move |result| {
                    inbox.send(Message::Fetched(number, result));
                });
            }
            Source::Magnet(magnet) => {
                let id = shared.session.add_magnet(&magnet, &shared.config.peers)?;
                self.joined(id, Activity::Metadata);
                self.stage = Stage::Metadata(magnet);
            }
        }
        Ok(())
    }

    /// Reads the .torrent file on the opener's thread.
    fn open(
        &mut self,
        shared: &Shared,
        read: impl FnOnce() -> Result<Vec<u8>, TorrentError> + Send + 'static,
        sources: Sources,
        link: Option<(InfoHashes, Option<FileSelection>)>,
    ) {
        let (number, goal) = (self.number(), self.goal.clone());
        let open = move || {
            let (folder, access) = match &goal {
                Goal::Download(download) => (&download.folder, Access::Download),
                Goal::Seed(seed) => (&seed.folder, Access::Serve),
            };
            let mut stored = StoredTorrent::open(read()?, folder, access)?;
            stored.sources = sources;
            let selection = match link {
                Some((expected, _)) if !is_same(expected, stored.torrent().info_hashes()) => {
                    return Err(TorrentError::OtherMetadata);
                }
                Some((_, selection)) => selection,
                None => None,
            };
            if let Goal::Download(download) = &goal {
                stored.select(&download.selection, selection.as_ref())?;
            }
            Ok(Box::new(stored))
        };
        shared.opener.run(move || Message::Opened(number, open()));
    }

    /// Handles the result of work on another thread.
    pub(crate) fn on_message(
        &mut self,
        shared: &mut Shared,
        message: Message,
    ) -> Result<(), TorrentError> {
        if self.outcome().is_some() {
            return Ok(());
        }
        match message {
            Message::Fetched(_, bytes) => {
                let bytes = bytes?;
                self.open(shared, move || Ok(bytes), Sources::default(), None);
                Ok(())
            }
            Message::Opened(_, stored) => self.on_opened(shared, *stored?),
            Message::Claimed(_, claim) => match claim? {
                Claim::Ready(verification) => self.on_verified(shared, verification),
                Claim::Confirm(replacement) => {
                    self.confirm();
                    shared.events.send(Event::Confirm {
                        torrent: self.number(),
                        replacement,
                    });
                    Ok(())
                }
            },
            Message::Verified(_, verification) => self.on_verified(shared, verification?),
            Message::Command(_) => Ok(()),
        }
    }

    fn on_opened(
        &mut self,
        shared: &mut Shared,
        stored: StoredTorrent,
    ) -> Result<(), TorrentError> {
        self.started = Instant::now();
        self.snapshot.name = Some(stored.name.clone());
        self.snapshot.content = Some(stored.root.to_string_lossy().into_owned());
        self.snapshot.pieces = stored.piece_count;
        self.snapshot.total_bytes = stored.total_bytes;
        if matches!(self.goal, Goal::Download(_)) {
            // Two downloads to one place would overwrite each other.
            if let Some(other) = shared.places.get(&stored.root) {
                return Err(TorrentError::SamePlace {
                    other: other.clone(),
                    path: stored.root,
                });
            }
            let label = self.snapshot.torrent.clone();
            shared.places.insert(stored.root.clone(), label);
        }
        let peers = match std::mem::replace(&mut self.stage, Stage::Waiting) {
            Stage::Leaving(leaving) => leaving.peers,
            _ => shared.config.peers.clone(),
        };
        let stored = Arc::new(stored);
        let (number, verifying) = (self.number(), self.verifying(shared));
        let of_job = Arc::clone(&stored);
        match &self.goal {
            Goal::Download(download) => {
                let existing = download.existing;
                shared
                    .verifier
                    .run(move || Message::Claimed(number, of_job.claim(existing, &verifying)));
            }
            Goal::Seed(_) => shared
                .verifier
                .run(move || Message::Verified(number, of_job.verify(&verifying))),
        }
        self.stage = Stage::Verifying(Box::new(Pending { stored, peers }));
        self.snapshot.activity = Activity::Verifying;
        Ok(())
    }

    fn confirm(&mut self) {
        self.stage = match std::mem::replace(&mut self.stage, Stage::Waiting) {
            Stage::Verifying(pending) => Stage::Confirming(pending),
            stage => stage,
        };
        self.snapshot.activity = Activity::Confirming;
    }

    // In the session

    fn on_verified(
        &mut self,
        shared: &Shared,
        verification: Verification,
    ) -> Result<(), TorrentError> {
        match std::mem::replace(&mut self.stage, Stage::Waiting) {
            Stage::Verifying(pending) => self.join(shared, &pending, verification),
            Stage::Active(mut active) if matches!(active.phase, Phase::Rechecking) => {
                if !active.stored.selection.is_complete(&verification.have) {
                    self.fail(shared, TorrentError::Modified);
                    self.stage = Stage::Over(Outcome::Incomplete);
                    return Ok(());
                }
                active.phase = Phase::Serving(Instant::now());
                self.finished(shared, &active);
                self.stage = Stage::Active(active);
                self.end_if_served(shared);
                Ok(())
            }
            stage => {
                self.stage = stage;
                Ok(())
            }
        }
    }

    /// Adds a verified torrent to the session.
    fn join(
        &mut self,
        shared: &Shared,
        pending: &Pending,
        verification: Verification,
    ) -> Result<(), TorrentError> {
        let stored = Arc::clone(&pending.stored);
        let is_seed = matches!(self.goal, Goal::Seed(_));
        if is_seed {
            if verification.n_have() == 0 && stored.piece_count > 0 {
                return Err(TorrentError::NothingPresent(stored.root.clone()));
            }
            stored.storage.probe()?;
        } else {
            self.verified(shared, &stored, &verification);
        }
        let is_present = stored.selection.is_complete(&verification.have);
        if !is_seed && is_present && self.limits().is_none() {
            self.end(shared, Outcome::Complete);
            return Ok(());
        }
        let (sequential, super_seeding) = match &self.goal {
            Goal::Download(download) => (download.sequential, false),
            Goal::Seed(seed) => (false, seed.super_seeding),
        };
        let id = shared.session.add(&AddTorrent {
            torrent: stored.torrent(),
            storage: Arc::clone(&stored.storage),
            have: &verification.have,
            wanted: &stored.selection.files,
            peers: &pending.peers,
            only_serve: is_seed,
            sequential,
            super_seeding,
            sources: &stored.sources,
        })?;
        let is_serving = is_seed || is_present;
        self.joined(
            id,
            if is_serving {
                Activity::Serving
            } else {
                Activity::Downloading
            },
        );
        if self.is_paused {
            shared.session.pause(id)?;
        }
        if is_seed {
            self.verified(shared, &stored, &verification);
        }
        self.stage = Stage::Active(Box::new(Active {
            stored,
            have: verification.have,
            is_complete: verification.is_complete,
            phase: if is_serving {
                Phase::Serving(Instant::now())
            } else {
                Phase::Downloading
            },
        }));
        Ok(())
    }

    fn joined(&mut self, id: TorrentId, activity: Activity) {
        (self.snapshot.id, self.snapshot.activity) = (Some(id), activity);
        self.last_arrival = (Instant::now(), 0);
    }

    fn verified(&self, shared: &Shared, stored: &StoredTorrent, verification: &Verification) {
        let (have, pieces) = (verification.n_have(), stored.piece_count);
        info!(torrent = self.snapshot.torrent, have, pieces, "verified");
        shared.events.send(Event::Verified {
            torrent: self.number(),
            name: stored.name.clone(),
            content: stored.root.clone(),
            pieces,
            have,
            total_bytes: stored.total_bytes,
            is_complete: verification.is_complete,
        });
    }

    fn finished(&self, shared: &Shared, active: &Active) {
        shared.events.send(Event::Finished {
            torrent: self.number(),
            name: active.stored.name.clone(),
            downloaded_bytes: self.snapshot.downloaded_bytes,
            wasted_bytes: self.snapshot.wasted_bytes,
            elapsed_seconds: self.started.elapsed().as_secs_f64(),
        });
    }

    /// Handles an event of the session that concerns this torrent.
    pub(crate) fn on_event(
        &mut self,
        shared: &Shared,
        event: SessionEvent,
    ) -> Result<(), TorrentError> {
        match event {
            SessionEvent::Metadata(id, info) => self.on_metadata(shared, id, &info)?,
            SessionEvent::Removed(_) => {
                if let Stage::Leaving(leaving) = &mut self.stage {
                    let sources = Sources {
                        trackers: leaving.magnet.trackers.clone(),
                        web_seeds: leaving.magnet.web_seeds.clone(),
                    };
                    let metainfo = std::mem::take(&mut leaving.metainfo);
                    let magnet = &leaving.magnet;
                    let link = (magnet.info_hashes, magnet.select_only.clone());
                    self.leave(Activity::Waiting);
                    self.open(shared, move || Ok(metainfo), sources, Some(link));
                }
            }
            SessionEvent::PieceFinished(_, piece) => self.on_piece(shared, piece),
            SessionEvent::Failed(_, reason) => return Err(TorrentError::Stopped(reason)),
            SessionEvent::FileFailed { failure, text, .. } => {
                return Err(failure.map_or(TorrentError::Stopped(text), TorrentError::Storage));
            }
            SessionEvent::TrackerFailed(_, reason) | SessionEvent::WebSeedFailed(_, reason) => {
                if self.last_problem.as_ref() != Some(&reason) {
                    warn!(torrent = self.snapshot.torrent, reason);
                    shared.events.send(Event::Warning {
                        torrent: Some(self.number()),
                        message: reason.clone(),
                    });
                }
                self.last_problem = Some(reason);
            }
            _ => {}
        }
        Ok(())
    }

    /// Removes a magnet link whose metadata is known, so that the torrent can join in its place.
    fn on_metadata(
        &mut self,
        shared: &Shared,
        id: TorrentId,
        info: &[u8],
    ) -> Result<(), TorrentError> {
        let Stage::Metadata(magnet) = &self.stage else {
            return Ok(());
        };
        let mut peers = shared.config.peers.clone();
        let known = shared.session.peers(id)?.into_iter();
        let known = known.filter(|peer| peer.is_outgoing);
        peers.extend(known.map(|peer| peer.address));
        peers.extend(magnet.peers.iter().filter_map(PeerAddress::socket_addr));
        shared.session.remove(id)?;
        self.stage = Stage::Leaving(Box::new(Leaving {
            magnet: (**magnet).clone(),
            metainfo: [b"d4:info", info, b"e"].concat(),
            peers,
        }));
        Ok(())
    }

    /// Reports a piece that was not present before; libtorrent also names pieces that were.
    fn on_piece(&mut self, shared: &Shared, piece: u32) {
        if let Stage::Active(active) = &mut self.stage
            && let Some(have) = active.have.get_mut(piece as usize)
            && !std::mem::replace(have, true)
        {
            let torrent = self.snapshot.number;
            debug!(torrent = self.snapshot.torrent, piece, "piece has come");
            shared.events.send(Event::Piece { torrent, piece });
        }
    }

    /// Returns the events that were dropped because too many were waiting.
    pub(crate) fn missed_events(
        &self,
        session: &Session,
    ) -> Result<Vec<SessionEvent>, TorrentError> {
        let Some(id) = self.snapshot.id else {
            return Ok(Vec::new());
        };
        Ok(match &self.stage {
            Stage::Metadata(_) => session
                .metadata(id)?
                .map(|info| SessionEvent::Metadata(id, info))
                .into_iter()
                .collect(),
            Stage::Active(_) => {
                let pieces = (0..).zip(session.have(id)?).filter(|(_, have)| *have);
                pieces
                    .map(|(piece, _)| SessionEvent::PieceFinished(id, piece))
                    .collect()
            }
            _ => Vec::new(),
        })
    }

    /// Updates the snapshot without the session's status.
    pub(crate) fn update_progress(&mut self) {
        self.snapshot.verified_bytes = match self.snapshot.activity {
            Activity::Verifying => self.verified_bytes.load(Ordering::Relaxed),
            _ => 0,
        };
    }

    /// Updates the snapshot, and moves on if the status says so.
    pub(crate) fn on_status(
        &mut self,
        shared: &Shared,
        status: &Status,
    ) -> Result<(), TorrentError> {
        self.update(status);
        let (last, present) = self.last_arrival;
        if status.wanted_done > present || status.state == State::Stopped {
            // Nothing is expected while the torrent is paused.
            self.last_arrival = (Instant::now(), status.wanted_done);
        }
        let timeout = self.timeout().unwrap_or(Duration::MAX);
        let is_late = last.elapsed() > timeout && status.wanted_done <= present;
        let has_all = matches!(status.state, State::Finished | State::Seeding);
        match &mut self.stage {
            Stage::Metadata(_) if is_late && status.state != State::Stopped => {
                let problem = self.last_problem.clone();
                let problem = problem.unwrap_or_else(|| "no peer was found that has it".to_owned());
                return Err(TorrentError::NoMetadata(problem));
            }
            Stage::Active(active) => match active.phase {
                Phase::Downloading if has_all => {
                    active.stored.storage.close();
                    active.phase = Phase::Rechecking;
                    let stored = Arc::clone(&active.stored);
                    let (number, verifying) = (self.number(), self.verifying(shared));
                    shared
                        .verifier
                        .run(move || Message::Verified(number, stored.verify(&verifying)));
                }
                Phase::Downloading if is_late && status.state != State::Stopped => {
                    let problem = self.last_problem.clone();
                    return Err(TorrentError::Timeout {
                        seconds: timeout.as_secs_f64(),
                        reason: problem.unwrap_or_else(|| peers(status.peers)),
                    });
                }
                Phase::Downloading | Phase::Rechecking => {}
                Phase::Serving(_) => self.end_if_served(shared),
            },
            _ => {}
        }
        Ok(())
    }

    fn update(&mut self, status: &Status) {
        let is_serving = match &self.stage {
            Stage::Active(active) => matches!(active.phase, Phase::Serving(_)),
            _ => false,
        };
        let is_rechecking = match &self.stage {
            Stage::Active(active) => matches!(active.phase, Phase::Rechecking),
            _ => false,
        };
        let snapshot = &mut self.snapshot;
        snapshot.activity = match status.state {
            State::Stopped => Activity::Paused,
            // An incomplete torrent that is only served counts as downloading to libtorrent.
            _ if is_serving => Activity::Serving,
            _ if is_rechecking => Activity::Verifying,
            State::Metadata => Activity::Metadata,
            State::Downloading | State::Finished | State::Seeding => Activity::Downloading,
        };
        snapshot.wanted_bytes = status.wanted;
        snapshot.done_bytes = status.wanted_done;
        snapshot.downloaded_bytes = status.downloaded;
        snapshot.uploaded_bytes = status.uploaded;
        snapshot.wasted_bytes = status.wasted;
        (snapshot.down_bytes_per_second, snapshot.up_bytes_per_second) =
            self.rates
                .update(Instant::now(), status.downloaded, status.uploaded);
        snapshot.peers = status.peers;
        snapshot.seeds = status.seeds;
        let left = status.wanted.saturating_sub(status.wanted_done);
        let rate = snapshot.down_bytes_per_second;
        #[expect(clippy::cast_precision_loss, reason = "the time is an estimate")]
        let seconds = left as f64 / rate as f64;
        snapshot.seconds_left = (left > 0 && rate > 0).then_some(seconds);
    }

    // The end

    /// Ends the torrent if it was served as long, or as much, as asked for.
    fn end_if_served(&mut self, shared: &Shared) {
        let Stage::Active(active) = &self.stage else {
            return;
        };
        let Phase::Serving(since) = active.phase else {
            return;
        };
        let is_over = match self.limits() {
            None => true,
            Some(SeedLimits { ratio, time }) => {
                let uploaded = self.snapshot.uploaded_bytes;
                ratio.is_some_and(|most| sent_ratio(uploaded, active.stored.total_bytes) >= most)
                    || time.is_some_and(|most| since.elapsed() >= most)
            }
        };
        if is_over {
            self.end_serving(shared);
        }
    }

    /// Ends a torrent that is served.
    fn end_serving(&mut self, shared: &Shared) {
        let outcome = match (&self.stage, &self.goal) {
            (Stage::Active(active), Goal::Seed(_)) if !active.is_complete => Outcome::Incomplete,
            _ => Outcome::Complete,
        };
        if self.limits().is_some() {
            let uploaded_bytes = self.snapshot.uploaded_bytes;
            info!(torrent = self.snapshot.torrent, uploaded_bytes, "ended");
            shared.events.send(Event::Ended {
                torrent: self.number(),
                uploaded_bytes,
            });
        }
        self.end(shared, outcome);
    }

    /// Ends the torrent. It stays in the session, paused: trackers are informed, and their answers are logged.
    fn end(&mut self, shared: &Shared, outcome: Outcome) {
        self.cancel.cancel();
        if let Some(id) = self.snapshot.id {
            // The torrent can have left the session.
            let _ = shared.session.pause(id);
        }
        self.leave(Activity::Ended);
        self.stage = Stage::Over(outcome);
    }

    /// Ends the torrent with an error.
    pub(crate) fn fail(&mut self, shared: &Shared, error: TorrentError) {
        let message = error.to_string();
        error!(torrent = self.snapshot.torrent, message);
        self.end(shared, Outcome::Failed);
        self.snapshot.activity = Activity::Failed;
        self.snapshot.error = Some(message);
        shared.events.send(Event::Failed {
            torrent: self.number(),
            error,
        });
    }

    /// Ends the torrent because the client ends.
    pub(crate) fn interrupt(&mut self, shared: &Shared) {
        match &self.stage {
            Stage::Over(_) => {}
            Stage::Active(active) if matches!(active.phase, Phase::Serving(_)) => {
                self.end_serving(shared);
            }
            Stage::Confirming(_) => {
                let reason = "left as it is".to_owned();
                self.fail(shared, TorrentError::Kept(reason));
            }
            _ => self.fail(shared, TorrentError::Interrupted),
        }
    }

    fn leave(&mut self, activity: Activity) {
        let snapshot = &mut self.snapshot;
        (snapshot.id, snapshot.activity) = (None, activity);
        (snapshot.down_bytes_per_second, snapshot.up_bytes_per_second) = (0, 0);
        (snapshot.peers, snapshot.seeds, snapshot.seconds_left) = (0, 0, None);
        snapshot.verified_bytes = 0;
        self.rates.reset();
    }

    // Commands

    pub(crate) fn pause(&mut self, session: &Session) {
        self.is_paused = true;
        // The torrent can have left the session.
        let _ = self.snapshot.id.map(|id| session.pause(id));
    }

    pub(crate) fn resume(&mut self, session: &Session) {
        self.is_paused = false;
        let _ = self.snapshot.id.map(|id| session.resume(id));
    }

    pub(crate) fn end_by_command(&mut self, shared: &Shared) {
        match &self.stage {
            Stage::Over(_) => {}
            Stage::Active(active) if matches!(active.phase, Phase::Serving(_)) => {
                self.end_serving(shared);
            }
            _ => self.fail(shared, TorrentError::Ended),
        }
    }

    /// Continues after the permission to replace wrong pieces, or fails without it.
    pub(crate) fn on_answer(&mut self, shared: &Shared, answer: Result<(), String>) {
        match (std::mem::replace(&mut self.stage, Stage::Waiting), answer) {
            (Stage::Confirming(pending), Ok(())) => {
                let (number, verifying) = (self.number(), self.verifying(shared));
                let stored = Arc::clone(&pending.stored);
                shared
                    .verifier
                    .run(move || Message::Verified(number, stored.prepare(&verifying)));
                self.stage = Stage::Verifying(pending);
                self.snapshot.activity = Activity::Verifying;
            }
            (Stage::Confirming(_), Err(reason)) => self.fail(shared, TorrentError::Kept(reason)),
            (stage, _) => self.stage = stage,
        }
    }
}

/// Returns how many times the content has been sent.
#[expect(clippy::cast_precision_loss, reason = "a ratio needs no more digits")]
fn sent_ratio(uploaded: u64, length: u64) -> f64 {
    uploaded as f64 / length.max(1) as f64
}

fn peers(n: u32) -> String {
    format!("{n} {}", if n == 1 { "peer" } else { "peers" })
}

/// Returns `true` if the metadata with these info-hashes is that of the link.
fn is_same(link: InfoHashes, found: InfoHashes) -> bool {
    let is_same = link.v1().is_none_or(|v1| found.v1() == Some(v1))
        && link.v2().is_none_or(|v2| found.v2() == Some(v2));
    is_same && (link.v1().is_some() || link.v2().is_some())
}
