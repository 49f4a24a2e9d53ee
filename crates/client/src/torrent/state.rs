//! The state of one torrent.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashlane_api::{Identity, Place, Priority};
use hashlane_find::SearchBudget;
use hashlane_swarm::{Session, TorrentId};
use hashlane_verify::CancelToken;

use super::stage::Stages;
use super::stillness::Stillness;
use crate::announces::Failures;
use crate::config::{Config, Earlier, Mode};
use crate::error::{Absence, TorrentError};
use crate::event::Outcome;
use crate::inbox::{Done, Inbox, Start};
use crate::ledger::Ledger;
use crate::limits::SeedLimits;
use crate::live::LiveVerification;

use crate::places::{Claim, Places};
use crate::rates::RateMeter;
use crate::snapshot::{LiveSnapshot, TorrentSnapshot};
use crate::stored::{StoredTorrent, VerifySettings};
use crate::subscription::Events;
use crate::unreached::Unreached;
use crate::worker::{Turn, Worker};

/// State shared by all torrents of a client.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) session: Arc<Session>,
    /// Reads .torrent files.
    pub(crate) opener: Worker,
    /// Verifies content: each verification uses all cores.
    pub(crate) verifier: Worker,
    /// Verifies complete downloads, which do not wait for the first verifications of other torrents.
    pub(crate) checker: Worker,
    /// Moves complete downloads.
    pub(crate) mover: Worker,
    pub(crate) inbox: Inbox,
    pub(crate) events: Events,
    /// The files of the torrents in the session.
    pub(crate) places: RefCell<Places>,
    pub(crate) ledger: Arc<Ledger>,
    /// The limit of the searches for missing content.
    pub(crate) search_budget: Arc<SearchBudget>,
    /// Number of torrents that have ended and are still in the session.
    pub(crate) n_parting: Cell<usize>,
}

/// The state machine of one torrent.
pub(crate) struct Machine {
    pub(crate) snapshot: LiveSnapshot,
    pub(crate) start: Start,
    pub(super) mode: Mode,
    pub(super) stages: Stages,
    /// Ends the verification of this torrent.
    pub(super) cancel: CancelToken,
    /// What the running verification has found.
    pub(super) live: Arc<LiveVerification>,
    pub(super) rates: RateMeter,
    pub(super) totals: Totals,
    /// The time when the metadata became known.
    pub(super) started: Instant,
    /// The time when bytes last arrived, and the number of bytes present then.
    pub(super) last_arrival: (Instant, u64),
    pub(super) priorities: PriorityChange,
    /// Priorities that were chosen before the files are known: by the mode, and by commands.
    pub(super) earlier_priorities: Vec<(u32, Priority)>,
    /// The tiers of trackers that a command chose instead of the torrent's.
    pub(super) tiers: Option<Vec<Vec<String>>>,
    /// Trackers that were added by command.
    pub(super) trackers: Vec<String>,
    /// The last peers that were added by command.
    pub(super) peers: VecDeque<SocketAddr>,
    pub(super) due: Due,
    /// Whether the last status of the session had no peers and no transfers, and nothing that is missing.
    pub(super) is_idle: bool,
    pub(super) stillness: Stillness,
    /// The time since the content has been absent, and the last reported reason.
    pub(super) absent: Option<(Instant, Absence)>,
    /// The time when the running verification of absent content began.
    pub(super) found: Instant,
    /// Whether complete content was reported.
    pub(super) is_announced: bool,
    pub(super) unreached: Unreached,
    /// Whether a tracker answered or failed since the last look at the trackers.
    pub(super) has_announced: bool,
    /// The failures of trackers and web seeds that were reported.
    pub(super) failures: Failures,
    /// The last problem of a tracker, a web seed or a file.
    pub(super) last_problem: Option<String>,
    /// The files of the torrent, from its first verification.
    pub(super) claim: Option<Arc<Claim>>,
    /// The identity of an ended torrent that is still in the session, and the time of its end.
    pub(super) ended: Option<(TorrentId, Instant)>,
}

/// What commands asked for and has not started yet.
#[derive(Debug, Default)]
pub(super) struct Due {
    pub(super) verification: bool,
    /// The folder of a move.
    pub(super) folder: Option<PathBuf>,
}

/// A change of priorities that is not in effect yet.
#[derive(Debug, Default)]
pub(super) struct PriorityChange {
    /// The requested priorities of all files.
    pub(super) requested: Option<Vec<Priority>>,
    /// Whether another thread is preparing the additional files.
    pub(super) is_preparing: bool,
}

/// Bytes that a torrent received and sent, since it was added to the client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) downloaded: Total,
    pub(super) uploaded: Total,
    pub(super) wasted: Total,
}

/// A sum of libtorrent's counter, which starts again from 0 when the torrent is resumed or joins the session again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Total {
    /// The sum until the counter last started from 0.
    earlier: u64,
    counter: u64,
}

impl Total {
    /// Updates the sum, and returns it.
    pub(super) fn update(&mut self, counter: u64) -> u64 {
        if counter < self.counter {
            self.restart();
        }
        self.counter = counter;
        self.earlier + counter
    }

    /// Expects the counter to start from 0.
    fn restart(&mut self) {
        self.earlier += self.counter;
        self.counter = 0;
    }
}

impl Totals {
    /// Continues when the torrent joins the session again.
    pub(super) fn restart(&mut self) {
        for total in [&mut self.downloaded, &mut self.uploaded, &mut self.wasted] {
            total.restart();
        }
    }
}

impl Machine {
    pub(crate) fn new(start: Start, label: &str, mode: Mode) -> Self {
        let now = Instant::now();
        let earlier_priorities = match &mode {
            Mode::Download(download) => download.priorities.clone(),
            Mode::Seed(_) | Mode::Metadata { .. } => Vec::new(),
        };
        let mut machine = Self {
            snapshot: LiveSnapshot::from(TorrentSnapshot {
                is_download: matches!(mode, Mode::Download(_)),
                n_restarts: start.n_restarts,
                ..TorrentSnapshot::new(start.torrent, label)
            }),
            start,
            mode,
            stages: Stages::default(),
            cancel: CancelToken::default(),
            live: Arc::default(),
            rates: RateMeter::default(),
            totals: Totals::default(),
            started: now,
            last_arrival: (now, 0),
            priorities: PriorityChange::default(),
            earlier_priorities,
            tiers: None,
            trackers: Vec::new(),
            peers: VecDeque::new(),
            due: Due::default(),
            is_idle: false,
            stillness: Stillness::default(),
            absent: None,
            found: now,
            is_announced: false,
            unreached: Unreached::default(),
            has_announced: false,
            failures: Failures::default(),
            last_problem: None,
            claim: None,
            ended: None,
        };
        machine.snapshot.detail.live = Some(Arc::clone(&machine.live));
        machine.show_goal();
        machine
    }

    /// Continues what was counted before.
    pub(crate) fn continue_from(&mut self, earlier: Earlier) {
        self.totals.downloaded.earlier = earlier.downloaded_bytes;
        self.totals.uploaded.earlier = earlier.uploaded_bytes;
        let snapshot = &mut *self.snapshot;
        snapshot.downloaded_bytes = earlier.downloaded_bytes;
        snapshot.uploaded_bytes = earlier.uploaded_bytes;
        snapshot.downloading_seconds = earlier.downloading_seconds.into();
        snapshot.serving_seconds = earlier.serving_seconds.into();
    }

    /// Updates the part of the snapshot that depends on the mode.
    pub(super) fn show_goal(&mut self) {
        let limits = self.limits();
        let snapshot = &mut *self.snapshot;
        snapshot.is_served = limits.is_some();
        let SeedLimits { ratio, time } = limits.unwrap_or_default();
        (snapshot.seed_ratio, snapshot.seed_seconds) = (ratio, time.map(|it| it.as_secs()));
        let folder = match &self.mode {
            Mode::Download(download) => Some(download.folder.as_path()),
            Mode::Seed(seed) => match &seed.place {
                Place::Folder(folder) => Some(folder.as_path()),
                Place::Content(content) => content.parent(),
            },
            Mode::Metadata { .. } => None,
        };
        snapshot.detail.folder = folder.map(Arc::from);
        snapshot.folder = match &self.mode {
            Mode::Seed(seed) if matches!(seed.place, Place::Content(_)) => None,
            _ => folder.map(|folder| folder.to_string_lossy().into_owned()),
        };
        (snapshot.is_sequential, snapshot.is_super_seeding) = match &self.mode {
            Mode::Download(download) => (download.sequential, download.super_seeding),
            Mode::Seed(seed) => (false, seed.super_seeding),
            Mode::Metadata { .. } => (false, false),
        };
    }

    /// Returns the result, if the torrent is over.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.stages.outcome()
    }

    /// Returns `true` if the torrent is in the session.
    pub(crate) fn needs_peers(&self) -> bool {
        self.snapshot.id.is_some()
    }

    /// Ends the verification that is running or waiting.
    pub(crate) fn cancel_verification(&self) {
        self.cancel.cancel();
    }

    pub(super) fn identity(&self) -> Identity {
        self.snapshot.identity
    }

    pub(super) fn limits(&self) -> Option<SeedLimits> {
        match &self.mode {
            Mode::Download(download) => download.seeding,
            Mode::Seed(seed) => Some(seed.limits),
            Mode::Metadata { .. } => None,
        }
    }

    pub(super) fn timeout(&self) -> Option<Duration> {
        match &self.mode {
            Mode::Download(download) => download.timeout,
            Mode::Seed(_) => None,
            Mode::Metadata { timeout } => *timeout,
        }
    }

    /// Returns the file that keeps the metadata of a magnet link.
    pub(super) fn metadata_file(&self) -> Option<PathBuf> {
        match &self.mode {
            Mode::Download(download) => download.metadata_file.clone(),
            Mode::Seed(_) | Mode::Metadata { .. } => None,
        }
    }

    /// Claims the files of verified content, and shares them if it is complete. A torrent that is only served writes nothing, so
    /// it is never refused.
    pub(super) fn claim(
        &mut self,
        shared: &Shared,
        stored: &StoredTorrent,
        is_complete: bool,
    ) -> Result<(), TorrentError> {
        match &self.claim {
            Some(claim) if is_complete => claim.complete(),
            Some(_) => {}
            None => {
                let (label, mut places) = (&self.snapshot.torrent, shared.places.borrow_mut());
                self.claim = Some(match self.mode {
                    Mode::Download(_) => places.claim(label, stored.file_paths(), is_complete)?,
                    Mode::Seed(_) | Mode::Metadata { .. } => {
                        places.claim_served(label, stored.file_paths())
                    }
                });
            }
        }
        Ok(())
    }

    /// Runs a verification on the verifier's thread.
    pub(super) fn verify(
        &self,
        shared: &Shared,
        run: impl FnOnce(&VerifySettings) -> Done + Send + 'static,
    ) {
        self.verify_after(shared, self.snapshot.total_bytes, run);
    }

    /// Runs a verification on the verifier's thread, after the verifications that read fewer bytes.
    pub(super) fn verify_after(
        &self,
        shared: &Shared,
        work: u64,
        run: impl FnOnce(&VerifySettings) -> Done + Send + 'static,
    ) {
        let job = self.job(shared, run);
        shared.verifier.run(self.start, Turn::ByWork(work), job);
    }

    /// Runs the verification of a complete download on the checker's thread.
    pub(super) fn check(
        &self,
        shared: &Shared,
        run: impl FnOnce(&VerifySettings) -> Done + Send + 'static,
    ) {
        self.check_at(shared, Turn::ByWork(self.snapshot.total_bytes), run);
    }

    /// Runs a verification on the checker's thread at this turn.
    pub(super) fn check_at(
        &self,
        shared: &Shared,
        turn: Turn,
        run: impl FnOnce(&VerifySettings) -> Done + Send + 'static,
    ) {
        let job = self.job(shared, run);
        shared.checker.run(self.start, turn, job);
    }

    /// Runs a move on the mover's thread. The torrent keeps its files until the move has ended.
    pub(super) fn relocate(
        &self,
        shared: &Shared,
        run: impl FnOnce(&VerifySettings) -> Done + Send + 'static,
    ) {
        let claim = self.claim.as_ref().map(Arc::downgrade);
        let job = self.job(shared, run);
        let job = move || {
            let _claim = claim.and_then(|claim| claim.upgrade());
            job()
        };
        let turn = Turn::ByWork(self.snapshot.total_bytes);
        shared.mover.run(self.start, turn, job);
    }

    /// Returns a job with the settings of this torrent.
    fn job(
        &self,
        shared: &Shared,
        run: impl FnOnce(&VerifySettings) -> Done + Send + 'static,
    ) -> impl FnOnce() -> Done + Send + 'static {
        let settings = VerifySettings {
            hashing: shared.config.hashing,
            cancel: self.cancel.clone(),
            live: Arc::clone(&self.live),
            search_budget: Arc::clone(&shared.search_budget),
        };
        move || run(&settings)
    }
}
