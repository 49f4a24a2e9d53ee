//! Changes of a running torrent by commands: verification, trackers, limits, and the time of serving.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashlane_api::{Goal, Patch, Priority, RatesPatch, Target};
use hashlane_swarm::Stamps;

use super::stage::{Absent, Active, Check, LeadsTo, Phase, Verifying};
use super::state::{Machine, Shared};
use crate::config::Mode;
use crate::error::TorrentError;
use crate::inbox::Done;
use crate::limits::SeedLimits;
use crate::limits::change;
use crate::snapshot::Activity;
use crate::stored::{StoredTorrent, VerifySettings};
use crate::worker::Turn;

/// Maximum number of peers of commands that a torrent keeps.
const MAX_PEERS: usize = 100;

impl Machine {
    /// Returns the priorities of all files with those that were chosen before the files were known, if there are any.
    pub(super) fn take_earlier_priorities(&mut self, all: &[Priority]) -> Option<Vec<Priority>> {
        let earlier = std::mem::take(&mut self.earlier_priorities);
        if earlier.is_empty() || !matches!(self.mode, Mode::Download(_)) {
            return None;
        }
        let mut all = all.to_vec();
        for (file, priority) in earlier {
            if let Some(slot) = all.get_mut(file as usize) {
                *slot = priority;
            }
        }
        // A download without any file would count as complete.
        let selects_any = all.iter().any(|priority| *priority != Priority::Skip);
        selects_any.then_some(all)
    }

    /// Requests a verification. A torrent that is not in the session yet is verified anyway.
    pub(super) fn request_verification(&mut self) {
        if let Some(absent) = self.stages.get_mut::<Absent>() {
            let now = Instant::now();
            // No state of the files is equal to this one.
            absent.stamps = Stamps::default();
            if matches!(absent.check, Check::Waiting { .. }) {
                absent.check = Check::Waiting {
                    earliest: now,
                    next: now,
                };
            }
        } else if self.stages.get::<Active>().is_some() {
            self.due.verification = true;
        }
    }

    /// Starts a requested verification or move, unless other work is under way.
    pub(super) fn start_due(&mut self, shared: &Shared) -> Result<(), TorrentError> {
        let is_ready = self.stages.get().is_some_and(|active: &Active| {
            !matches!(active.phase, Phase::Rechecking)
                && matches!(active.check, Check::Waiting { .. })
        });
        if !is_ready || self.is_prioritizing() {
            return Ok(());
        }
        if let Some(folder) = self.due.folder.take() {
            // The content is verified after the move.
            self.due.verification = false;
            return self.start_relocation(shared, folder);
        }
        if std::mem::take(&mut self.due.verification)
            && let Some(active) = self.stages.get::<Active>()
        {
            let stored = Arc::clone(&active.stored);
            let peers = self.remove(shared)?;
            self.leave(Activity::Verifying);
            stored.storage.close();
            self.verify_from::<Active>(shared, stored, peers, Turn::First);
        }
        Ok(())
    }

    /// Verifies content of this process again after the stage `From`.
    pub(super) fn verify_from<From: LeadsTo<Verifying>>(
        &mut self,
        shared: &Shared,
        stored: Arc<StoredTorrent>,
        peers: Vec<SocketAddr>,
        turn: Turn,
    ) {
        // A download changes the files itself.
        stored.storage.watch(Stamps::default());
        self.check_at(shared, turn, self.verification(Arc::clone(&stored)));
        self.snapshot.activity = Activity::Verifying;
        self.stages.advance(|_: &From| Verifying { stored, peers });
    }

    /// Returns a job that verifies content, and prepares the files of a download.
    pub(super) fn verification(
        &self,
        stored: Arc<StoredTorrent>,
    ) -> impl FnOnce(&VerifySettings) -> Done + Send + 'static {
        let is_paused = self.snapshot.is_paused;
        let download = match &self.mode {
            Mode::Download(download) => Some(Arc::clone(download)),
            Mode::Seed(_) | Mode::Metadata { .. } => None,
        };
        move |settings| match download {
            Some(download) => {
                Done::DownloadChecked(stored.check_for_download(&download, is_paused, settings))
            }
            None => Done::Verified(stored.verify(settings)),
        }
    }

    /// Adds a tracker, now and whenever the torrent joins the session.
    pub(super) fn add_tracker(&mut self, shared: &Shared, url: String) {
        if self.outcome().is_some() || self.trackers.contains(&url) {
            return;
        }
        if let Some(id) = self.snapshot.id {
            // The torrent can have left the session.
            let _ = shared.session.add_tracker(id, &url);
        }
        self.trackers.push(url);
    }

    /// Connects to a peer, now and whenever the torrent joins the session.
    pub(super) fn add_peer(&mut self, shared: &Shared, peer: SocketAddr) {
        if self.outcome().is_some() {
            return;
        }
        if let Some(id) = self.snapshot.id {
            // The torrent can have left the session.
            let _ = shared.session.add_peer(id, peer);
        }
        keep(&mut self.peers, peer);
    }

    /// Uses other trackers, now and whenever the torrent joins the session.
    pub(super) fn set_trackers(&mut self, shared: &Shared, tiers: Vec<Vec<String>>) {
        if self.outcome().is_some() {
            return;
        }
        if let Some(id) = self.snapshot.id {
            // The torrent can have left the session.
            let _ = shared.session.replace_trackers(id, &tiers);
        }
        self.tiers = Some(tiers);
        self.trackers.clear();
        self.snapshot.announces.clear();
        self.snapshot.tracker_seeds = None;
    }

    /// Changes what a person chose.
    pub(super) fn set(&mut self, shared: &Shared, patch: Patch) {
        if patch.ratio.is_some() || patch.time.is_some() {
            let time = self.snapshot.seed_seconds.map(Duration::from_secs);
            let before = Goal {
                ratio: Target::of(self.snapshot.seed_ratio),
                time: Target::of(time),
                idle: Target::Never,
            };
            let goal = patch.goal(before);
            let limits = SeedLimits {
                ratio: goal.ratio.limit(),
                time: goal.time.limit(),
            };
            self.seed(shared, Some(limits));
        }
        if patch.rates() != RatesPatch::default() {
            self.limit(shared, patch.rates());
        }
        if let Some(sequential) = patch.sequential {
            self.set_sequential(shared, sequential);
        }
        if let Some(super_seeding) = patch.super_seeding {
            match &mut self.mode {
                Mode::Download(download) => Arc::make_mut(download).super_seeding = super_seeding,
                Mode::Seed(seed) => seed.super_seeding = super_seeding,
                Mode::Metadata { .. } => {}
            }
            self.snapshot.is_super_seeding = super_seeding;
            if self.snapshot.is_complete {
                self.apply_super_seeding(shared);
            }
        }
        if let Some(labels) = patch.labels {
            self.snapshot.labels = labels.into_iter().collect();
        }
    }

    /// Tells the session whether the torrent is super-seeded. One that is not complete is not, because the session would then hide
    /// the pieces that it has.
    pub(super) fn apply_super_seeding(&self, shared: &Shared) {
        let snapshot = &self.snapshot;
        let has_all = snapshot.wanted_bytes == snapshot.total_bytes;
        if let Some(id) = snapshot.id {
            // The torrent can have left the session.
            let _ = shared
                .session
                .set_super_seeding(id, snapshot.is_super_seeding && has_all);
        }
    }

    /// Requests the pieces of a download in order, or not.
    fn set_sequential(&mut self, shared: &Shared, is_sequential: bool) {
        let Mode::Download(download) = &mut self.mode else {
            return;
        };
        if download.sequential == is_sequential {
            return;
        }
        Arc::make_mut(download).sequential = is_sequential;
        self.snapshot.is_sequential = is_sequential;
        if let Some(id) = self.snapshot.id {
            // The torrent can have left the session.
            let _ = shared.session.set_sequential(id, is_sequential);
        }
    }

    /// Changes the rate limits.
    fn limit(&mut self, shared: &Shared, limits: RatesPatch) {
        let snapshot = &mut *self.snapshot;
        change(limits, &mut snapshot.max_down, &mut snapshot.max_up);
        if let Some(id) = snapshot.id {
            // The torrent can have left the session.
            let _ = shared
                .session
                .limit_torrent(id, snapshot.max_down, snapshot.max_up);
        }
    }

    /// Changes for how long the content is served.
    pub(super) fn seed(&mut self, shared: &Shared, limits: Option<SeedLimits>) {
        match (&mut self.mode, limits) {
            (Mode::Download(download), limits) => Arc::make_mut(download).seeding = limits,
            (Mode::Seed(seed), Some(limits)) => seed.limits = limits,
            (Mode::Seed(_), None) => self.end_by_command(shared),
            (Mode::Metadata { .. }, _) => {}
        }
        self.show_goal();
    }
}

/// Adds a peer, in place of the first one if there are many.
fn keep(peers: &mut VecDeque<SocketAddr>, peer: SocketAddr) {
    peers.retain(|kept| *kept != peer);
    if peers.len() == MAX_PEERS {
        peers.pop_front();
    }
    peers.push_back(peer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_peers_are_kept_once() {
        let peer = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let mut peers = VecDeque::new();
        for port in [1, 2, 3, 1] {
            keep(&mut peers, peer(port));
        }
        assert_eq!(peers, [2, 3, 1].map(peer));
        (1..=1000).for_each(|port| keep(&mut peers, peer(port)));
        assert_eq!(peers.len(), MAX_PEERS);
        assert_eq!(peers.back(), Some(&peer(1000)));
    }
}
