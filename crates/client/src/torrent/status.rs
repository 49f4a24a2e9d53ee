//! Updates the snapshot of a torrent, and takes the steps that follow from the session's status.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hashlane_swarm::{State, Status};

use super::stage::{Active, Metadata, Phase};
use super::state::{Machine, Shared};
use crate::error::TorrentError;
use crate::inbox::Done;
use crate::snapshot::{Activity, unix_seconds};

impl Machine {
    /// Updates the snapshot without the session's status.
    pub(crate) fn update_progress(&mut self) {
        self.snapshot.verified_bytes = match self.snapshot.activity {
            Activity::Verifying => self.verified_bytes.load(Ordering::Relaxed),
            _ => 0,
        };
    }

    /// Updates the snapshot, and starts the next stage if the status requires it.
    pub(crate) fn on_status(
        &mut self,
        shared: &mut Shared,
        status: &Status,
    ) -> Result<(), TorrentError> {
        self.update(status);
        self.check_files(shared);
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
        let seconds = self
            .last_status
            .map_or(0.0, |last| (now - last).as_secs_f64());
        self.last_status = Some(now);
        let snapshot = &mut self.snapshot;
        snapshot.activity = match (status.state, phase) {
            (State::Stopped, _) => Activity::Paused,
            // An incomplete torrent that is only served counts as downloading to libtorrent.
            (_, Some(Phase::Serving)) => Activity::Serving,
            (_, Some(Phase::Rechecking)) => Activity::Verifying,
            (State::Metadata, _) => Activity::Metadata,
            (State::Downloading | State::Finished | State::Seeding, _) => Activity::Downloading,
        };
        match snapshot.activity {
            Activity::Downloading => snapshot.downloading_seconds += seconds,
            Activity::Serving => snapshot.serving_seconds += seconds,
            _ => {}
        }
        snapshot.is_complete = is_complete;
        if phase.is_some() {
            snapshot.wanted_bytes = status.wanted;
        }
        snapshot.done_bytes = status.wanted_done;
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
