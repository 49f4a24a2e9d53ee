//! Updates the snapshot of a torrent, and takes the steps that follow from the session's status.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hashlane_swarm::{State, Status};
use tracing::info;

use super::stage::{Active, Metadata, Phase, Stage};
use super::state::{Machine, Shared};
use crate::config::Mode;
use crate::error::TorrentError;
use crate::inbox::Done;
use crate::snapshot::{Activity, unix_seconds};

impl Machine {
    /// Returns `true` if the torrent has nothing to do, and its status in the session does not change, until it gets an event,
    /// a command or a result of another thread. [`Self::look_around`] still looks for what comes with time.
    pub(crate) fn is_quiet(&self) -> bool {
        match self.stages.current() {
            Stage::Opening(_)
            | Stage::Leaving(_)
            | Stage::Confirming(_)
            | Stage::Absent(_)
            | Stage::Moving(_) => true,
            // A link that is paused from the start is not in the session.
            Stage::Metadata(_) => self.snapshot.id.is_none(),
            Stage::Verifying(_) => false,
            Stage::Active(active) => {
                let is_settled = matches!(active.phase, Phase::Serving)
                    || self.snapshot.activity == Activity::Paused;
                let has_work =
                    self.due.verification || self.due.folder.is_some() || self.is_prioritizing();
                self.is_idle && is_settled && !has_work
            }
            Stage::Over(_) => self.ended.is_none(),
        }
    }

    /// Takes the steps that depend on the time alone. Returns `true` if it has ended.
    pub(crate) fn look_around(&mut self, shared: &Shared) -> bool {
        let outcome = self.outcome();
        match self.stages.current() {
            Stage::Absent(_) => self.look_for_content(shared),
            Stage::Active(_) if self.limits().is_some_and(|limits| limits.time.is_some()) => {
                self.end_if_served(shared);
            }
            _ => {}
        }
        self.outcome() != outcome
    }

    /// Updates the snapshot without the session's status.
    pub(crate) fn update_progress(&mut self) {
        let verified = match self.snapshot.activity {
            Activity::Verifying => self.live.bytes(),
            _ => 0,
        };
        if self.snapshot.verified_bytes != verified {
            self.snapshot.verified_bytes = verified;
        }
    }

    /// Updates the snapshot, and starts the next stage if the status requires it.
    pub(crate) fn on_status(
        &mut self,
        shared: &Shared,
        status: &Status,
    ) -> Result<(), TorrentError> {
        self.update(status);
        let is_still = match status.state {
            State::Metadata | State::Downloading => false,
            // A download that has just received its last bytes.
            State::Finished | State::Seeding => !matches!(
                self.stages.phase(),
                Some(Phase::Downloading | Phase::Rechecking)
            ),
            State::Stopped => true,
        };
        let is_settled = self
            .stillness
            .note(status.state, is_still && status.peers == 0);
        self.is_idle = is_settled && self.rates.is_idle();
        self.update_announces(shared);
        self.check_suspects(shared);
        self.report_replaced(shared);
        self.warn_of_shortage(shared);
        self.apply_priorities(shared);
        self.start_due(shared)?;
        let (last, present) = self.last_arrival;
        if status.wanted_done > present || status.state == State::Stopped {
            // No bytes are expected while the torrent is paused.
            self.last_arrival = (Instant::now(), status.wanted_done);
        }
        let timeout = self.timeout().unwrap_or(Duration::MAX);
        let is_late = last.elapsed() > timeout && status.wanted_done <= present;
        let has_all = matches!(status.state, State::Finished | State::Seeding)
            && !self.is_prioritizing()
            && self.has_selected(shared)?;
        let is_late = is_late && status.state != State::Stopped;
        if is_late && self.stages.get::<Metadata>().is_some() {
            let problem = self.last_problem.clone();
            let problem =
                problem.unwrap_or_else(|| "no peer with the metadata was found".to_owned());
            return Err(TorrentError::NoMetadata(problem));
        }
        let Some(active) = self.stages.get_mut::<Active>() else {
            return Ok(());
        };
        match active.phase {
            Phase::Downloading if has_all => {
                info!(
                    torrent = self.snapshot.torrent,
                    "all selected pieces received"
                );
                active.stored.storage.close();
                active.phase = Phase::Rechecking;
                let stored = Arc::clone(&active.stored);
                self.check(shared, move |settings| {
                    Done::Verified(stored.verify_stored(settings))
                });
            }
            Phase::Downloading if is_late => {
                let problem = self.last_problem.clone();
                return Err(TorrentError::Timeout {
                    seconds: timeout.as_secs_f64(),
                    reason: problem.unwrap_or_else(|| peers(status.peers)),
                });
            }
            Phase::Downloading | Phase::Rechecking => {}
            Phase::Serving => self.end_if_served(shared),
        }
        Ok(())
    }

    /// Returns `true` unless a selected piece is missing. After a change of priorities, libtorrent briefly reports the
    /// old state.
    fn has_selected(&self, shared: &Shared) -> Result<bool, TorrentError> {
        match (self.stages.get::<Active>(), self.snapshot.id) {
            (Some(active), Some(id)) if matches!(active.phase, Phase::Downloading) => {
                let have = shared.session.have(id)?;
                Ok(active.stored.selection().is_complete(&have))
            }
            _ => Ok(true),
        }
    }

    /// Reports that an operation waits for a descriptor.
    fn warn_of_shortage(&mut self, shared: &Shared) {
        if let Some(active) = self.stages.get::<Active>()
            && let Some(shortage) = active.stored.storage.take_shortage()
        {
            self.warn(shared, format!("{shortage}; trying again"));
        }
    }

    /// Updates the snapshot from the session's status.
    fn update(&mut self, status: &Status) {
        let active = self.stages.get::<Active>();
        let phase = active.map(|active| active.phase);
        let is_complete = active.is_some_and(|active| active.is_complete);
        let now = Instant::now();
        let snapshot = &mut *self.snapshot;
        snapshot.activity = match (status.state, phase) {
            (State::Stopped, _) => Activity::Paused,
            // The content vanished while it was served.
            (_, Some(Phase::Serving)) if snapshot.error.is_some() => Activity::Absent,
            // An incomplete torrent that is only served counts as downloading to libtorrent.
            (_, Some(Phase::Serving)) => Activity::Serving,
            (_, Some(Phase::Rechecking)) => Activity::Verifying,
            (State::Metadata, _) => Activity::Metadata,
            (State::Downloading | State::Finished | State::Seeding, _) => Activity::Downloading,
        };
        for (time, activity) in [
            (&mut snapshot.downloading_seconds, Activity::Downloading),
            (&mut snapshot.serving_seconds, Activity::Serving),
        ] {
            if snapshot.activity == activity {
                time.start(now);
            } else {
                time.stop(now);
            }
        }
        snapshot.is_complete = is_complete;
        if phase.is_some() {
            snapshot.wanted_bytes = status.wanted;
        }
        snapshot.done_bytes = status.wanted_done;
        if let Mode::Download(download) = &mut self.mode
            && status.wanted_done > 0
            && !download.was_present
        {
            Arc::make_mut(download).was_present = true;
        }
        let downloaded = self.totals.downloaded.update(status.downloaded);
        let uploaded = self.totals.uploaded.update(status.uploaded);
        if (downloaded, uploaded) != (snapshot.downloaded_bytes, snapshot.uploaded_bytes) {
            snapshot.active_at = Some(unix_seconds());
        }
        snapshot.downloaded_bytes = downloaded;
        snapshot.uploaded_bytes = uploaded;
        snapshot.wasted_bytes = self.totals.wasted.update(status.wasted);
        (snapshot.down_bytes_per_second, snapshot.up_bytes_per_second) =
            self.rates.update(now, downloaded, uploaded);
        snapshot.detail.history = self.rates.history();
        snapshot.peers = status.peers;
        snapshot.seeds = status.seeds;
        let left = status.wanted.saturating_sub(status.wanted_done);
        let rate = snapshot.down_bytes_per_second;
        #[expect(clippy::cast_precision_loss, reason = "the time is an estimate")]
        let seconds = left as f64 / rate as f64;
        snapshot.seconds_left = (left > 0 && rate > 0).then_some(seconds);
    }
}

fn peers(n: u32) -> String {
    format!("{n} {}", if n == 1 { "peer" } else { "peers" })
}
