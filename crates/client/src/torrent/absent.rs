//! Waits for content that is not present when it shall be served: a file system may be mounted later, or a copy may be
//! under way.

use std::sync::Arc;
use std::time::Instant;

use hashlane_swarm::Stamps;
use tracing::{info, warn};

use super::state::{Absent, Check, Pending, Shared, Stage, Torrent};
use crate::config::Goal;
use crate::error::TorrentError;
use crate::event::Event;
use crate::inbox::Done;
use crate::snapshot::Activity;
use crate::stored::StoredTorrent;

impl Torrent {
    /// Waits until the files of a torrent differ from `stamps`, their state at the last verification.
    pub(super) fn wait_for_content(&mut self, shared: &Shared, pending: &Pending, stamps: Stamps) {
        let stored = &pending.stored;
        let absence = stored.absence();
        let now = Instant::now();
        let (since, last) = match self.absent.take() {
            Some((since, last)) => (since, Some(last)),
            None => (now, None),
        };
        if last.as_ref() != Some(&absence) {
            let reason = absence.to_string();
            warn!(torrent = self.snapshot.torrent, reason);
            self.snapshot.error = Some(reason);
            shared.events.send(Event::Absent {
                torrent: self.number(),
                content: stored.root.clone(),
                absence: absence.clone(),
            });
        }
        self.absent = Some((since, absence.clone()));
        self.snapshot.activity = Activity::Absent;
        self.stage = Stage::Absent(Box::new(Absent {
            stored: Arc::clone(stored),
            stamps,
            // A copy under way changes its files all the time.
            check: Check::after(last.map_or_else(Default::default, |_| self.found.elapsed())),
            peers: pending.peers.clone(),
            absence,
        }));
    }

    /// Looks for the content of a waiting torrent if a look is due, and ends the torrent at its limit.
    pub(crate) fn look_for_content(&mut self, shared: &Shared) {
        let (Stage::Absent(absent), Goal::Seed(seed)) = (&mut self.stage, &self.goal) else {
            return;
        };
        let waits_since = self.absent.as_ref().map(|(since, _)| *since);
        if let (Some(since), Some(most)) = (waits_since, seed.limits.time)
            && since.elapsed() >= most
        {
            let error = TorrentError::NothingPresent(absent.absence.clone());
            self.fail(shared, error);
            return;
        }
        let now = Instant::now();
        if !matches!(absent.check, Check::Waiting { next, .. } if now >= next) {
            return;
        }
        absent.check = Check::Running { started: now };
        let (stored, stamps) = (Arc::clone(&absent.stored), absent.stamps.clone());
        let seed = seed.clone();
        shared.opener.run(self.number(), 0, move || {
            Done::Found(stored.find_again(&seed, &stamps).map(|it| it.map(Box::new)))
        });
    }

    /// Verifies the content of a waiting torrent if its files have changed.
    pub(super) fn on_found(&mut self, shared: &Shared, found: Option<Box<StoredTorrent>>) {
        let Stage::Absent(absent) = &mut self.stage else {
            return;
        };
        let Some(stored) = found else {
            if let Check::Running { started } = absent.check {
                absent.check = Check::after(started.elapsed());
            }
            return;
        };
        info!(torrent = self.snapshot.torrent, "the content changed");
        let peers = std::mem::take(&mut absent.peers);
        self.found = Instant::now();
        self.snapshot.content = Some(stored.root.to_string_lossy().into_owned());
        self.verify_opened(shared, *stored, peers);
    }
}
