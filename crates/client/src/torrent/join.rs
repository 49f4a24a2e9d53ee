//! Adds a verified torrent to the session, and verifies it again after a download.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashlane_api::Priority;
use hashlane_swarm::{AddTorrent, Stamps, TorrentId, WebSeeds};
use tracing::{info, warn};

use super::stage::{Active, Check, Confirming, Moving, Phase, Stage, Verifying};
use super::state::{Machine, Shared};
use crate::config::Mode;
use crate::error::TorrentError;
use crate::event::{
    CompleteContent, Event, FinishedDownload, NearbyContent, Outcome, Replacement, VerifiedContent,
};
use crate::inbox::Done;
use crate::snapshot::{Activity, unix_seconds};
use crate::stored::{ContentState, Nearby, RecordProblem, StoredTorrent, UnreadableFile};

/// Maximum number of files with problems that are reported one by one.
const MAX_NAMED: usize = 10;

const WITHHELD: &str = "web seeds are not used: a hostile one can make this version of libtorrent hang; \
                        --web-seeds uses them";

impl Machine {
    /// Reports where missing content lies, and the files that were found and could not be reused.
    fn report_nearby(&self, shared: &Shared) {
        let Some(Verifying { stored, .. }) = self.stages.get() else {
            return;
        };
        let Nearby {
            elsewhere,
            not_reused,
        } = stored.take_nearby();
        self.warn_of_each(shared, not_reused, "more files are downloaded");
        if elsewhere.is_empty() {
            return;
        }
        let torrent = stored.torrent();
        let files = elsewhere.files().map(|(file, path)| {
            let name = torrent.file(file.get()).path().to_string();
            (name, path.to_owned())
        });
        let files: Vec<_> = files.collect();
        let root = elsewhere.root().cloned();
        info!(
            torrent = self.snapshot.torrent,
            ?root,
            files = files.len(),
            "found nearby"
        );
        shared.events.send(Event::Nearby(NearbyContent {
            torrent: self.identity(),
            name: stored.name.clone(),
            root,
            files,
            is_download: matches!(self.mode, Mode::Download(_)),
        }));
    }

    /// Asks the user about wrong pieces, and waits for the answer.
    pub(super) fn confirm(&mut self, shared: &Shared, replacement: Replacement) {
        self.report_nearby(shared);
        let is_asking = self.stages.advance(|verifying: &Verifying| Confirming {
            stored: Arc::clone(&verifying.stored),
            peers: verifying.peers.clone(),
        });
        if is_asking {
            self.snapshot.activity = Activity::Confirming;
            shared.events.send(Event::Confirm {
                torrent: self.identity(),
                replacement,
            });
        }
    }

    /// Handles the user's decision: verifies again if wrong pieces may be replaced, and fails otherwise.
    pub(super) fn on_answer(&mut self, shared: &Shared, answer: Result<(), String>) {
        let Some(confirming) = self.stages.get::<Confirming>() else {
            return;
        };
        if let Err(reason) = answer {
            self.fail(shared, TorrentError::Kept(reason));
            return;
        }
        let stored = Arc::clone(&confirming.stored);
        self.stages.advance(|confirming: &Confirming| Verifying {
            stored: Arc::clone(&confirming.stored),
            peers: confirming.peers.clone(),
        });
        self.snapshot.activity = Activity::Verifying;
        self.verify(shared, move |settings| {
            Done::Verified(stored.prepare(settings))
        });
    }

    /// Continues with the result of a verification.
    pub(super) fn on_verified(
        &mut self,
        shared: &Shared,
        content: ContentState,
    ) -> Result<(), TorrentError> {
        self.report_nearby(shared);
        self.warn_of_unreadable(shared, &content.unreadable);
        self.warn_of_record(shared, content.record_problem.as_ref());
        self.snapshot.trusted_pieces = content.trusted;
        self.snapshot.detail.have = content.have.as_slice().into();
        self.snapshot.detail.wrong = content.wrong.as_slice().into();
        match self.stages.current() {
            Stage::Verifying(_) => self.join(shared, content),
            Stage::Active(active) if matches!(active.phase, Phase::Rechecking) => {
                self.on_rechecked(shared, content)
            }
            _ => Ok(()),
        }
    }

    /// Serves or moves a download that was verified again, or ends it.
    fn on_rechecked(&mut self, shared: &Shared, content: ContentState) -> Result<(), TorrentError> {
        self.report_replaced(shared);
        let Some(active) = self.stages.get_mut::<Active>() else {
            return Ok(());
        };
        self.snapshot.done_bytes = active.stored.present_bytes(&content.have);
        if let Some(refusal) = active.stored.refusal() {
            self.fail(shared, refusal);
            return Ok(());
        }
        if !active.stored.selection().is_complete(&content.have) {
            let unreadable = content.unreadable.into_iter().next();
            let error =
                unreadable.map_or(TorrentError::Modified, |file| TorrentError::Unreadable {
                    path: file.path,
                    reason: file.reason,
                });
            self.fail_as(shared, error, Outcome::Incomplete);
            return Ok(());
        }
        active.phase = Phase::Serving;
        active.is_complete = true;
        active.have.clone_from(&content.have);
        let stored = Arc::clone(&active.stored);
        self.claim(shared, &stored, !content.have.contains(&false))?;
        if let Some(folder) = self.folder_to_move_to(&stored) {
            return self.leave_to_move(shared, &stored, folder, content.have);
        }
        stored.storage.watch(content.stamps);
        self.finished(shared, &stored);
        self.complete(shared, &stored, true);
        self.end_if_served(shared);
        Ok(())
    }

    /// Handles a verification that failed. Content that was awaited can be of no use for a moment, for example while its
    /// files are still links to another folder.
    pub(super) fn on_unverified(
        &mut self,
        shared: &Shared,
        error: TorrentError,
    ) -> Result<(), TorrentError> {
        if self.absent.is_none() || matches!(error, TorrentError::Interrupted) {
            return Err(error);
        }
        if self.stages.get::<Verifying>().is_none() {
            return Err(error);
        }
        // The state of the files is not known, so the torrent looks at them again in any case.
        self.wait_or_fail(shared, Stamps::default(), error)
    }

    /// Reports the files that the verification could not read. Their pieces are missing.
    pub(super) fn warn_of_unreadable(&self, shared: &Shared, files: &[UnreadableFile]) {
        let problem = |file: &UnreadableFile| format!("{}: {}", file.path.display(), file.reason);
        let problems = files.iter().map(problem).collect();
        self.warn_of_each(shared, problems, "more files cannot be read");
    }

    /// Reports problems of files. Of many, only the first are reported; the number of the others is followed by `more`.
    pub(super) fn warn_of_each(&self, shared: &Shared, mut problems: Vec<String>, more: &str) {
        let n_more = problems.len().saturating_sub(MAX_NAMED);
        problems.truncate(MAX_NAMED);
        if n_more > 0 {
            problems.push(format!("{n_more} {more}"));
        }
        for message in problems {
            warn!(torrent = self.snapshot.torrent, reason = message);
            shared.events.send(Event::Warning {
                torrent: Some(self.identity()),
                message,
            });
        }
    }

    /// Reports that the record of the content cannot be used or written.
    pub(super) fn warn_of_record(&mut self, shared: &Shared, problem: Option<&RecordProblem>) {
        if let Some(problem) = problem {
            self.warn(shared, problem.to_string());
        }
    }

    /// Adds a verified torrent to the session, or ends it if nothing remains to do.
    fn join(&mut self, shared: &Shared, content: ContentState) -> Result<(), TorrentError> {
        let Some(Verifying { stored, peers }) = self.stages.get() else {
            return Ok(());
        };
        let (stored, peers) = (Arc::clone(stored), peers.clone());
        if content.is_deferred && !self.snapshot.is_paused {
            // It was resumed during the verification.
            self.verify(shared, self.verification(stored));
            return Ok(());
        }
        if let Some(refusal) = stored.refusal() {
            self.warn(shared, format!("{refusal}; the other files are downloaded"));
        }
        let is_seed = matches!(self.mode, Mode::Seed(_));
        if is_seed {
            if !self.is_servable(shared, &stored, &content)? {
                return Ok(());
            }
        } else {
            self.verified(shared, &stored, &content);
        }
        let is_present = stored.selection().is_complete(&content.have);
        self.claim(shared, &stored, !content.have.contains(&false))?;
        if is_present && let Some(folder) = self.folder_to_move_to(&stored) {
            let moving = Moving {
                is_new: false,
                peers,
                relocation: None,
            };
            self.start_move::<Verifying>(shared, &stored, folder, content.have, moving);
            return Ok(());
        }
        if !is_seed && is_present && !self.is_announced {
            self.complete(shared, &stored, false);
        }
        if !is_seed && is_present && self.limits().is_none() {
            self.end(shared, Outcome::Complete);
            return Ok(());
        }
        let is_serving = is_seed || is_present;
        if is_serving {
            stored.storage.watch(content.stamps.clone());
        }
        let are_withheld = shared.config.session.web_seeds == WebSeeds::Withheld;
        if !is_serving && are_withheld && stored.has_web_seeds() {
            self.warn(shared, WITHHELD.to_owned());
        }
        let id = self.add(shared, &stored, &content.have, &peers, is_seed)?;
        let (activity, phase) = if is_serving {
            (Activity::Serving, Phase::Serving)
        } else {
            (Activity::Downloading, Phase::Downloading)
        };
        self.joined(id, activity);
        if is_seed {
            self.verified(shared, &stored, &content);
        }
        self.stages.advance(|_: &Verifying| Active {
            stored,
            have: content.have,
            is_complete: if is_seed {
                content.is_complete
            } else {
                is_present
            },
            phase,
            check: Check::after(Duration::ZERO),
            is_deferred: content.is_deferred,
            is_foreign: false,
        });
        Ok(())
    }

    /// Returns `true` if a part of the content can be served. Otherwise waits for the content.
    fn is_servable(
        &mut self,
        shared: &Shared,
        stored: &StoredTorrent,
        content: &ContentState,
    ) -> Result<bool, TorrentError> {
        if content.n_have() == 0 && stored.piece_count > 0 {
            self.wait_for_content(shared, content.stamps.clone());
            return Ok(false);
        }
        if let Err(error) = stored.storage.probe() {
            self.wait_or_fail(shared, content.stamps.clone(), error.into())?;
            return Ok(false);
        }
        if content.is_complete {
            self.snapshot.completed_at.get_or_insert_with(unix_seconds);
        }
        Ok(true)
    }

    /// Adds the torrent with the options of its mode. Connects to these peers and those of the settings.
    pub(super) fn add(
        &self,
        shared: &Shared,
        stored: &StoredTorrent,
        have: &[bool],
        peers: &[SocketAddr],
        only_serve: bool,
    ) -> Result<TorrentId, TorrentError> {
        let (sequential, super_seeding) = match &self.mode {
            Mode::Download(download) => (download.sequential, download.super_seeding),
            Mode::Seed(seed) => (false, seed.super_seeding),
            Mode::Metadata { .. } => (false, false),
        };
        let peers = [&shared.config.peers, peers].concat();
        let id = shared.session.add(&AddTorrent {
            torrent: stored.torrent(),
            storage: Arc::clone(&stored.storage),
            have,
            wanted: &stored.selection().files,
            peers: &peers,
            only_serve,
            paused: self.snapshot.is_paused,
            sequential,
            super_seeding: super_seeding && have.iter().all(|have| *have),
            sources: &stored.sources,
        })?;
        // A web seed can make libtorrent hang at once.
        shared.ledger.joined(id, self.identity());
        self.configure(shared, id)?;
        Ok(id)
    }

    /// Repeats in the session what was changed by commands.
    pub(super) fn configure(&self, shared: &Shared, id: TorrentId) -> Result<(), TorrentError> {
        let session = &shared.session;
        let snapshot = &self.snapshot;
        if snapshot.max_down.is_some() || snapshot.max_up.is_some() {
            session.limit_torrent(id, snapshot.max_down, snapshot.max_up)?;
        }
        if let Some(tiers) = &self.tiers {
            session.replace_trackers(id, tiers)?;
        }
        for url in &self.trackers {
            session.add_tracker(id, url)?;
        }
        for peer in &self.peers {
            session.add_peer(id, *peer)?;
        }
        let is_usual = |priority: &Priority| matches!(priority, Priority::Skip | Priority::Normal);
        let priorities = &snapshot.detail.priorities;
        if !priorities.iter().all(is_usual) {
            session.prioritize(id, priorities)?;
        }
        Ok(())
    }

    /// Records that the torrent is in the session.
    pub(super) fn joined(&mut self, id: TorrentId, activity: Activity) {
        (self.snapshot.id, self.snapshot.activity) = (Some(id), activity);
        self.totals.restart();
        self.last_arrival = (Instant::now(), 0);
    }

    /// Reports the content that was present. The torrent no longer waits for it.
    fn verified(&mut self, shared: &Shared, stored: &StoredTorrent, content: &ContentState) {
        (self.absent, self.snapshot.error) = (None, None);
        let (have, pieces) = (content.n_have(), stored.piece_count);
        info!(torrent = self.snapshot.torrent, have, pieces, "verified");
        shared.events.send(Event::Verified(VerifiedContent {
            torrent: self.identity(),
            name: stored.name.clone(),
            content: stored.root.clone(),
            pieces,
            have,
            total_bytes: stored.total_bytes,
            trusted: content.trusted,
            is_complete: content.is_complete,
            has_selected: stored.selection().is_complete(&content.have),
        }));
    }

    /// Reports selected content that is complete, verified and in its final place.
    pub(super) fn complete(&mut self, shared: &Shared, stored: &StoredTorrent, is_new: bool) {
        self.is_announced = true;
        self.snapshot.completed_at.get_or_insert_with(unix_seconds);
        if self.snapshot.is_super_seeding {
            self.apply_super_seeding(shared);
        }
        shared.events.send(Event::Complete(CompleteContent {
            torrent: self.identity(),
            name: stored.name.clone(),
            content: stored.root.clone(),
            is_new,
        }));
    }

    /// Reports a complete download.
    pub(super) fn finished(&self, shared: &Shared, stored: &StoredTorrent) {
        shared.events.send(Event::Finished(FinishedDownload {
            torrent: self.identity(),
            name: stored.name.clone(),
            content: stored.root.clone(),
            downloaded_bytes: self.snapshot.downloaded_bytes,
            wasted_bytes: self.snapshot.wasted_bytes,
            elapsed_seconds: self.started.elapsed().as_secs_f64(),
        }));
    }
}
