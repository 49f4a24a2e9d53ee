//! Waits for content that is not present when it shall be served, or that a download has lost: a file system may be mounted
//! later, or a copy may be under way.

use std::sync::Arc;
use std::time::Instant;

use hashlane_swarm::Stamps;
use tracing::{info, warn};

use super::stage::{Absent, Check, Verifying};
use super::state::{Machine, Shared};
use crate::config::Mode;
use crate::error::TorrentError;
use crate::event::Event;
use crate::inbox::Done;
use crate::snapshot::Activity;
use crate::stored::StoredTorrent;
use crate::worker::Turn;

impl Machine {
    /// Waits until the files of a torrent differ from `stamps`, their state at the last verification.
    pub(super) fn wait_for_content(&mut self, shared: &Shared, stamps: Stamps) {
        let Some(Verifying { stored, .. }) = self.stages.get() else {
            return;
        };
        let absence = stored.absence();
        let now = Instant::now();
        let (since, last) = match self.absent.take() {
            Some((since, last)) => (since, Some(last)),
            None => (now, None),
        };
        let reason = absence.to_string();
        self.snapshot.error = Some(reason.clone());
        if last.as_ref() != Some(&absence) {
            warn!(torrent = self.snapshot.torrent, reason);
            shared.events.send(Event::Absent {
                torrent: self.identity(),
                content: stored.root.clone(),
                absence: absence.clone(),
            });
        }
        self.absent = Some((since, absence.clone()));
        (self.snapshot.done_bytes, self.snapshot.is_complete) = (0, false);
        self.snapshot.activity = Activity::Absent;
        // A copy under way changes its files all the time.
        let check = Check::after(last.map_or_else(Default::default, |_| self.found.elapsed()));
        self.stages.advance(|verifying: &Verifying| Absent {
            stored: Arc::clone(&verifying.stored),
            stamps,
            check,
            peers: verifying.peers.clone(),
            absence,
            reason: Some(reason),
        });
    }

    /// Looks for the content of a waiting torrent if a look is due, and ends the torrent at its limit.
    pub(super) fn look_for_content(&mut self, shared: &Shared) {
        let Some(absent) = self.stages.get_mut::<Absent>() else {
            return;
        };
        let waits_since = self.absent.as_ref().map(|(since, _)| *since);
        let most = match &self.mode {
            Mode::Seed(seed) => seed.limits.time,
            Mode::Download(download) => download.timeout,
            Mode::Metadata { .. } => None,
        };
        if let (Some(since), Some(most)) = (waits_since, most)
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
        let mode = self.mode.clone();
        shared.opener.run(self.start, Turn::ByWork(0), move || {
            Done::Found(stored.find_again(&mode, &stamps).map(|it| it.map(Box::new)))
        });
    }

    /// Verifies the content of a waiting torrent if its files have changed. If it cannot be opened yet, the torrent goes
    /// on waiting.
    pub(super) fn on_found(
        &mut self,
        shared: &Shared,
        found: Result<Option<Box<StoredTorrent>>, TorrentError>,
    ) {
        let Some(absent) = self.stages.get_mut::<Absent>() else {
            return;
        };
        let mut stored = match found {
            Ok(Some(stored)) => stored,
            not_found => {
                if let Check::Running { started } = absent.check {
                    absent.check = Check::after(started.elapsed());
                }
                match not_found {
                    Err(error) => self.wait_in_spite_of(shared, &error),
                    // The files are again as they were when the torrent began to wait.
                    Ok(_) => self.snapshot.error.clone_from(&absent.reason),
                }
                return;
            }
        };
        info!(torrent = self.snapshot.torrent, "the content changed");
        let peers = std::mem::take(&mut absent.peers);
        self.found = Instant::now();
        self.snapshot.content = Some(stored.root.to_string_lossy().into_owned());
        if let Some(renamed) = stored.take_renamed() {
            self.on_renamed(shared, &stored, renamed.err());
        }
        // The files have the same priorities as before.
        let priorities = self.snapshot.detail.priorities.iter().copied();
        self.earlier_priorities = (0..).zip(priorities).collect();
        self.verify_opened::<Absent>(shared, *stored, peers);
    }

    /// Waits again if content that appeared cannot be served yet. A copy under way can have files that nobody may read.
    pub(super) fn wait_or_fail(
        &mut self,
        shared: &Shared,
        stamps: Stamps,
        error: TorrentError,
    ) -> Result<(), TorrentError> {
        if self.absent.is_none() {
            return Err(error);
        }
        self.wait_for_content(shared, stamps);
        self.wait_in_spite_of(shared, &error);
        if let Some(absent) = self.stages.get_mut::<Absent>() {
            absent.reason.clone_from(&self.snapshot.error);
        }
        Ok(())
    }

    /// Shows why the content of a torrent cannot be served yet.
    fn wait_in_spite_of(&mut self, shared: &Shared, error: &TorrentError) {
        let reason = format!("{error}; waiting for the content");
        self.snapshot.error = Some(reason.clone());
        self.warn(shared, reason);
    }
}
