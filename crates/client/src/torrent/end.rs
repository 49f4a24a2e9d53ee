//! The end of a torrent.

use std::time::{Duration, Instant};

use hashlane_metainfo::masked_text;
use tracing::{error, info};

use super::stage::{Active, Phase, Stage};
use super::state::{Machine, Shared};
use crate::error::TorrentError;
use crate::event::{Event, Outcome};
use crate::limits::{SeedLimits, sent_ratio};
use crate::snapshot::Activity;
use crate::source::Over;

impl Machine {
    /// Ends the torrent because of a command.
    pub(super) fn end_by_command(&mut self, shared: &Shared) {
        self.stop(shared, TorrentError::Ended);
    }

    /// Ends the torrent because the client ends.
    pub(crate) fn interrupt(&mut self, shared: &Shared) {
        let error = match self.stages.current() {
            Stage::Absent(absent) => TorrentError::NothingPresent(absent.absence.clone()),
            Stage::Confirming(_) => TorrentError::Kept("not replaced".to_owned()),
            // No content is on disk for a later download to continue from.
            Stage::Metadata(_) => TorrentError::NoMetadata("interrupted".to_owned()),
            _ => TorrentError::Interrupted,
        };
        self.stop(shared, error);
    }

    /// Ends the torrent. A torrent that is not served yet fails with this error.
    fn stop(&mut self, shared: &Shared, error: TorrentError) {
        match self.stages.phase() {
            _ if self.outcome().is_some() => {}
            Some(Phase::Serving) => self.end_serving(shared),
            _ => self.fail(shared, error),
        }
    }

    /// Ends the torrent if it has reached its time or ratio.
    pub(super) fn end_if_served(&mut self, shared: &Shared) {
        let Some(active) = self.stages.get::<Active>() else {
            return;
        };
        if !matches!(active.phase, Phase::Serving) {
            return;
        }
        let is_over = match self.limits() {
            None => true,
            Some(SeedLimits { ratio, time }) => {
                let it = &self.snapshot;
                let reached = sent_ratio(it.uploaded_bytes, it.downloaded_bytes, it.wanted_bytes);
                ratio.is_some_and(|most| reached >= most)
                    || time.is_some_and(|most| {
                        self.snapshot.serving_seconds.seconds() >= most.as_secs_f64()
                    })
            }
        };
        if is_over {
            self.end_serving(shared);
        }
    }

    /// Ends a torrent that is served.
    fn end_serving(&mut self, shared: &Shared) {
        let outcome = match self.stages.get::<Active>() {
            Some(active) if !active.is_complete => Outcome::Incomplete,
            _ => Outcome::Complete,
        };
        if self.limits().is_some() {
            let uploaded_bytes = self.snapshot.uploaded_bytes;
            info!(torrent = self.snapshot.torrent, uploaded_bytes, "ended");
            shared.events.send(Event::Ended {
                torrent: self.identity(),
                uploaded_bytes,
            });
        }
        self.end(shared, outcome);
    }

    /// Ends the torrent, and frees its files. The torrent stays in the session for a moment, paused, so that libtorrent
    /// informs trackers and logs their answers.
    pub(super) fn end(&mut self, shared: &Shared, outcome: Outcome) {
        self.cancel.cancel();
        self.claim = None;
        self.refuse_move(shared);
        if let Some(id) = self.snapshot.id {
            // The torrent can have left the session.
            let _ = shared.session.pause(id);
            self.ended = Some((id, Instant::now()));
            shared.n_parting.update(|n| n + 1);
        }
        self.leave(Activity::Ended);
        self.snapshot.is_complete = outcome == Outcome::Complete;
        if self.snapshot.is_complete {
            self.snapshot.done_bytes = self.snapshot.wanted_bytes;
        }
        self.snapshot.detail.outcome = Some(outcome);
        self.stages.end(outcome);
    }

    /// Removes the torrent from the session if it ended at least this long ago. Only then can it be added again.
    pub(crate) fn leave_session(&mut self, shared: &Shared, after: Duration) {
        if let Some((id, _)) = self.ended.take_if(|(_, since)| since.elapsed() >= after) {
            shared.n_parting.update(|n| n - 1);
            // The torrent can have left the session.
            let _ = shared.session.remove(id);
        }
    }

    /// Ends the torrent with an error.
    pub(crate) fn fail(&mut self, shared: &Shared, error: TorrentError) {
        self.fail_as(shared, error, Outcome::Failed);
    }

    /// Ends the torrent with an error and this outcome.
    pub(super) fn fail_as(&mut self, shared: &Shared, error: TorrentError, outcome: Outcome) {
        let message = masked_text(&error.to_string());
        error!(torrent = self.snapshot.torrent, reason = message, "failed");
        if !matches!(self.stages.current(), Stage::Active(_) | Stage::Moving(_)) {
            // What the last verification found may be there no more.
            self.snapshot.done_bytes = 0;
        }
        self.end(shared, outcome);
        self.snapshot.activity = Activity::Failed;
        self.snapshot.error = Some(message);
        shared.events.send(Event::Failed {
            torrent: self.identity(),
            left_bytes: (self.snapshot.wanted_bytes).saturating_sub(self.snapshot.done_bytes),
            error,
        });
    }

    /// Is over, as it was in another process.
    pub(super) fn stay_over(&mut self, shared: &Shared, over: Over) {
        let Over {
            mut snapshot,
            outcome,
            is_reported,
        } = over;
        snapshot.identity.number = self.start.torrent;
        snapshot.n_restarts = self.start.n_restarts;
        snapshot.detail = self.snapshot.detail.clone();
        snapshot.detail.outcome = Some(outcome);
        self.snapshot = snapshot.into();
        self.stages.end(outcome);
        let torrent = self.identity();
        if is_reported {
            return;
        }
        shared.events.send(if outcome == Outcome::Failed {
            Event::Failed {
                torrent,
                left_bytes: (self.snapshot.wanted_bytes).saturating_sub(self.snapshot.done_bytes),
                error: TorrentError::Ended,
            }
        } else {
            Event::Ended {
                torrent,
                uploaded_bytes: self.snapshot.uploaded_bytes,
            }
        });
    }

    /// Records that the torrent is no longer in the session.
    pub(super) fn leave(&mut self, activity: Activity) {
        let now = Instant::now();
        let snapshot = &mut *self.snapshot;
        snapshot.downloading_seconds.stop(now);
        snapshot.serving_seconds.stop(now);
        (snapshot.id, snapshot.activity) = (None, activity);
        (snapshot.down_bytes_per_second, snapshot.up_bytes_per_second) = (0, 0);
        (snapshot.peers, snapshot.seeds, snapshot.seconds_left) = (0, 0, None);
        snapshot.verified_bytes = 0;
        self.rates.reset();
    }
}
