//! Moves a complete download to another folder. The torrent leaves the session first, so that no peer reads files
//! during the move.

use std::path::PathBuf;
use std::sync::Arc;

use super::stage::{Active, LeadsTo, Moving, Verifying};
use super::state::{Machine, Shared};
use crate::config::Goal;
use crate::error::TorrentError;
use crate::event::Outcome;
use crate::inbox::Done;
use crate::snapshot::Activity;
use crate::stored::{Moved, StoredTorrent};

impl Machine {
    /// Returns the folder that the complete content moves to, unless the content is already in it.
    pub(super) fn folder_to_move_to(&self, stored: &StoredTorrent) -> Option<PathBuf> {
        let Goal::Download(download) = &self.goal else {
            return None;
        };
        let folder = download.move_to.as_ref()?;
        (stored.root.parent() != Some(folder)).then(|| folder.clone())
    }

    /// Removes a complete download from the session, and starts to move it.
    pub(super) fn leave_to_move(
        &mut self,
        shared: &Shared,
        stored: &Arc<StoredTorrent>,
        folder: PathBuf,
    ) -> Result<(), TorrentError> {
        let moving = Moving {
            is_new: true,
            peers: self.remove(shared)?,
        };
        self.leave(Activity::Moving);
        self.start_move::<Active>(shared, stored, folder, moving);
        Ok(())
    }

    /// Moves the content on the mover's thread, after the stage `From`.
    pub(super) fn start_move<From: LeadsTo<Moving>>(
        &mut self,
        shared: &Shared,
        stored: &Arc<StoredTorrent>,
        folder: PathBuf,
        moving: Moving,
    ) {
        self.snapshot.activity = Activity::Moving;
        self.stages.advance(|_: &From| moving);
        let stored = Arc::clone(stored);
        self.relocate(shared, move |settings| {
            Done::Moved(stored.move_to(&folder, settings).map(Box::new))
        });
    }

    /// Ends a download that was moved, or verifies it again to serve it.
    pub(super) fn on_moved(&mut self, shared: &mut Shared, moved: Moved) {
        let Some(&Moving { is_new, ref peers }) = self.stages.get() else {
            return;
        };
        let peers = peers.clone();
        let stored = Arc::new(moved.stored);
        self.warn_of_each(shared, moved.notes, "more files were left");
        self.snapshot.content = Some(stored.root.to_string_lossy().into_owned());
        self.snapshot.detail.stored = Some(Arc::clone(&stored));
        self.occupy(shared, &stored.root);
        if is_new {
            self.finished(shared, &stored);
        }
        self.complete(shared, &stored, is_new);
        if self.limits().is_none() {
            self.end(shared, Outcome::Complete);
            return;
        }
        self.snapshot.activity = Activity::Verifying;
        let content = Arc::clone(&stored);
        self.check(shared, move |settings| {
            Done::Verified(content.verify(settings))
        });
        self.stages
            .advance(|_: &Moving| Verifying { stored, peers });
    }
}
