//! Priorities of files. They can change while a download runs.
//!
//! Additional files are prepared on the verifier's thread, as at the start of a download. Content that does not belong
//! to the torrent is not overwritten. libtorrent gets the priorities afterwards.

use std::sync::Arc;
use std::time::Instant;

use hashlane_api::Priority;
use hashlane_swarm::Stamps;

use super::stage::{Active, Check, Phase};
use super::state::{Machine, Shared};
use crate::config::Mode;
use crate::error::TorrentError;
use crate::inbox::Done;
use crate::stored::Selection;

impl Machine {
    /// Records requested priorities. They take effect as soon as the stage of the torrent allows it.
    pub(super) fn request_priorities(&mut self, files: &[u32], priority: Priority) {
        if !matches!(self.mode, Mode::Download(_)) {
            return;
        }
        let current = &self.snapshot.detail.priorities;
        if current.is_empty() {
            let earlier = files.iter().map(|file| (*file, priority));
            self.earlier_priorities.extend(earlier);
            return;
        }
        let pending = self.priorities.requested.as_deref();
        let mut requested = pending.unwrap_or(current).to_vec();
        for file in files {
            if let Some(slot) = requested.get_mut(*file as usize) {
                *slot = priority;
            }
        }
        // A download without any file would count as complete.
        if requested.iter().any(|priority| *priority != Priority::Skip) {
            self.priorities.requested = Some(requested);
        }
    }

    /// Returns `true` if a change of priorities is not in effect yet.
    pub(super) fn is_prioritizing(&self) -> bool {
        self.priorities.requested.is_some() || self.priorities.is_preparing
    }

    /// Starts to apply the requested priorities, unless a verification is running.
    pub(super) fn apply_priorities(&mut self, shared: &Shared) {
        let Some(active) = self.stages.get::<Active>() else {
            return;
        };
        let is_ready = match active.phase {
            Phase::Downloading => true,
            Phase::Rechecking => false,
            Phase::Serving => {
                matches!(active.check, Check::Waiting { .. })
                    && !active.stored.storage.has_suspects()
            }
        };
        if self.priorities.is_preparing || !is_ready {
            return;
        }
        let Some(requested) = self.priorities.requested.take() else {
            return;
        };
        let Mode::Download(download) = &self.mode else {
            return;
        };
        let selection = active.stored.selection();
        let mut files = requested.iter().enumerate();
        let selects_more =
            files.any(|(position, new)| *new != Priority::Skip && !selection.has_file(position));
        // A download that has not started creates no files yet.
        if !selects_more || active.is_deferred {
            self.set_priorities(shared, requested);
            return;
        }
        if active.is_foreign {
            let reason = "another program changed the files: end this download and start it again to select more";
            self.warn(shared, reason.to_owned());
            return;
        }
        let (stored, existing) = (Arc::clone(&active.stored), download.existing);
        self.priorities.is_preparing = true;
        self.verify(shared, move |settings| {
            let result = stored.select_more(&requested, existing, settings);
            Done::Selected(requested, result)
        });
    }

    /// Continues after the additional files were prepared, or keeps the old selection.
    pub(super) fn on_selected(
        &mut self,
        shared: &Shared,
        priorities: Vec<Priority>,
        result: Result<(), TorrentError>,
    ) {
        self.priorities.is_preparing = false;
        match result {
            Ok(()) => self.set_priorities(shared, priorities),
            Err(TorrentError::Interrupted) => {}
            Err(error) => self.warn(shared, format!("{error}; the selection stays as it was")),
        }
    }

    /// Passes the priorities to the session. A torrent that is served downloads again if a selected piece is missing.
    fn set_priorities(&mut self, shared: &Shared, priorities: Vec<Priority>) {
        let (Some(active), Some(id)) = (self.stages.get_mut::<Active>(), self.snapshot.id) else {
            return;
        };
        if let Err(error) = shared.session.prioritize(id, &priorities) {
            self.warn(shared, format!("{error}; the priorities stay as they were"));
            return;
        }
        let selection = Selection::by_priorities(active.stored.torrent(), &priorities);
        if matches!(active.phase, Phase::Serving) && !selection.is_complete(&active.have) {
            active.phase = Phase::Downloading;
            active.is_complete = false;
            // The download itself changes the files.
            active.stored.storage.watch(Stamps::default());
            self.last_arrival = (Instant::now(), self.snapshot.done_bytes);
        }
        active.stored.set_selection(selection);
        self.snapshot.detail.priorities = priorities.into();
    }
}
