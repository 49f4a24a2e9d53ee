//! Moves content to another folder: at the end of a download, or by command. The torrent leaves the session first, so that
//! no peer reads files during the move.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_metainfo::NamesError;

use super::stage::{Absent, Active, Before, LeadsTo, Moving, Verifying};
use super::state::{Machine, Shared};
use crate::config::Mode;
use crate::error::TorrentError;
use crate::event::{Event, Outcome};
use crate::inbox::Done;
use crate::places::{Claim, Taken};
use crate::snapshot::Activity;
use crate::stored::{Moved, StoredTorrent};
use crate::worker::Turn;

impl Machine {
    /// Returns the folder that the complete content moves to, unless the content is already in it.
    pub(super) fn folder_to_move_to(&self, stored: &StoredTorrent) -> Option<PathBuf> {
        let Mode::Download(download) = &self.mode else {
            return None;
        };
        let folder = download.move_to.as_ref()?;
        (stored.has_top() && stored.root.parent() != Some(folder)).then(|| folder.clone())
    }

    /// Removes a complete download from the session, and starts to move it.
    pub(super) fn leave_to_move(
        &mut self,
        shared: &Shared,
        stored: &Arc<StoredTorrent>,
        folder: PathBuf,
        have: Vec<bool>,
    ) -> Result<(), TorrentError> {
        let moving = Moving {
            is_new: true,
            peers: self.remove(shared)?,
            relocation: None,
        };
        self.leave(Activity::Moving);
        self.start_move::<Active>(shared, stored, folder, have, moving);
        Ok(())
    }

    /// Moves the content on the mover's thread, after the stage `From`. `have` are the pieces that are present.
    pub(super) fn start_move<From: LeadsTo<Moving>>(
        &mut self,
        shared: &Shared,
        stored: &Arc<StoredTorrent>,
        folder: PathBuf,
        have: Vec<bool>,
        moving: Moving,
    ) {
        self.snapshot.activity = Activity::Moving;
        self.stages.advance(|_: &From| moving);
        let stored = Arc::clone(stored);
        let seed = match &self.mode {
            Mode::Seed(seed) => Some(seed.clone()),
            Mode::Download(_) | Mode::Metadata { .. } => None,
        };
        self.relocate(shared, move |settings| {
            let moved = stored.move_to(&folder, seed.as_ref(), &have, settings);
            Done::Moved(moved.map(Box::new))
        });
    }

    /// Continues after a move.
    pub(super) fn on_moved(
        &mut self,
        shared: &Shared,
        moved: Result<Box<Moved>, TorrentError>,
    ) -> Result<(), TorrentError> {
        let Some(moving) = self.stages.get_mut::<Moving>() else {
            return Ok(());
        };
        let peers = std::mem::take(&mut moving.peers);
        if let Some(before) = moving.relocation.take() {
            self.on_relocated(shared, before, moved, peers);
            return Ok(());
        }
        let is_new = moving.is_new;
        let Moved { stored, notes } = *moved?;
        let stored = Arc::new(stored);
        self.arrived(shared, &stored, notes);
        self.claim = None;
        self.claim(shared, &stored, true)?;
        if is_new {
            self.finished(shared, &stored);
        }
        self.report_move(shared, stored.root.clone(), None);
        self.complete(shared, &stored, is_new);
        if self.limits().is_none() {
            self.end(shared, Outcome::Complete);
            return Ok(());
        }
        self.snapshot.activity = Activity::Verifying;
        let content = Arc::clone(&stored);
        self.check(shared, move |settings| {
            Done::Verified(content.verify(settings))
        });
        self.stages
            .advance(|_: &Moving| Verifying { stored, peers });
        Ok(())
    }

    /// Shows the content in its new place.
    fn arrived(&mut self, shared: &Shared, stored: &Arc<StoredTorrent>, notes: Vec<String>) {
        self.warn_of_each(shared, notes, "more files were left");
        self.snapshot.content = Some(stored.root.to_string_lossy().into_owned());
        self.snapshot.detail.stored = Some(Arc::clone(stored));
    }

    /// Requests a move. It starts as soon as the stage of the torrent allows it.
    pub(super) fn request_move(&mut self, shared: &Shared, folder: &Path) {
        match self.stages.get::<Absent>() {
            Some(absent) => {
                let error = TorrentError::NothingPresent(absent.absence.clone());
                let content = absent.stored.root.clone();
                self.report_move(shared, content, Some(error));
            }
            None if self.outcome().is_none() => {
                self.due.folder = Some(folder.to_owned());
            }
            None => {
                let stored = self.snapshot.detail.stored.as_ref();
                let content = stored.map_or_else(|| folder.to_owned(), |it| it.root.clone());
                self.report_move(shared, content, Some(TorrentError::Ended));
            }
        }
    }

    /// Starts a move by command, from the session.
    pub(super) fn start_relocation(
        &mut self,
        shared: &Shared,
        folder: PathBuf,
    ) -> Result<(), TorrentError> {
        let Some(active) = self.stages.get::<Active>() else {
            return Ok(());
        };
        let (stored, have) = (Arc::clone(&active.stored), active.have.clone());
        if !stored.has_top() {
            let error = Some(NamesError::NoTop.into());
            self.report_move(shared, stored.root.clone(), error);
            return Ok(());
        }
        let to = folder.join(stored.root.file_name().unwrap_or_default());
        if to == stored.root {
            self.report_move(shared, to, None);
            return Ok(());
        }
        let claim = match self.claim_moved(shared, &stored, &to) {
            Ok(claim) => claim,
            Err(taken) => {
                self.report_move(shared, stored.root.clone(), Some(taken.into()));
                return Ok(());
            }
        };
        let peers = self.remove(shared)?;
        self.leave(Activity::Moving);
        let before = Before {
            stored: Arc::clone(&stored),
            claim: self.claim.replace(claim),
        };
        let moving = Moving {
            is_new: false,
            peers,
            relocation: Some(before),
        };
        self.start_move::<Active>(shared, &stored, folder, have, moving);
        Ok(())
    }

    /// Claims the files of the torrent in another place, where nothing may be, unless another torrent has its files here.
    fn claim_moved(
        &self,
        shared: &Shared,
        stored: &StoredTorrent,
        to: &Path,
    ) -> Result<Arc<Claim>, Taken> {
        let mut places = shared.places.borrow_mut();
        let own = self.claim.as_ref();
        if let Some(taken) = own.and_then(|own| places.shared(own, stored.file_paths())) {
            return Err(taken);
        }
        let moved = stored.file_paths().filter_map(|path| {
            let below = path.strip_prefix(&stored.root).ok()?;
            // The root can be the only file.
            Some(to.join(below).components().collect())
        });
        places.claim(&self.snapshot.torrent, moved, false)
    }

    /// Verifies the content after a move by command: in its new place, or in the old one if the move failed.
    fn on_relocated(
        &mut self,
        shared: &Shared,
        before: Before,
        moved: Result<Box<Moved>, TorrentError>,
        peers: Vec<std::net::SocketAddr>,
    ) {
        let (stored, error) = match moved {
            Ok(moved) => {
                let Moved { stored, notes } = *moved;
                let stored = Arc::new(stored);
                self.arrived(shared, &stored, notes);
                self.settle_in(&stored);
                (stored, None)
            }
            Err(error) => {
                // The new place is free again.
                self.claim = before.claim;
                (before.stored, Some(error))
            }
        };
        self.report_move(shared, stored.root.clone(), error);
        let turn = Turn::ByWork(self.snapshot.total_bytes);
        self.verify_from::<Moving>(shared, stored, peers, turn);
    }

    /// Changes the mode to the new place of the content.
    fn settle_in(&mut self, stored: &StoredTorrent) {
        let folder = stored.root.parent().unwrap_or(&stored.root).to_owned();
        match &mut self.mode {
            Mode::Download(download) => {
                let download = Arc::make_mut(download);
                if self.snapshot.is_complete {
                    // The user has chosen another folder for the complete content.
                    download.move_to = None;
                }
                download.folder = folder;
            }
            Mode::Seed(seed) => seed.place = stored.place_in(&folder),
            Mode::Metadata { .. } => {}
        }
        self.show_goal();
    }

    /// Reports that a requested move does not start any more.
    pub(super) fn refuse_move(&mut self, shared: &Shared) {
        let stored = self.snapshot.detail.stored.as_ref();
        if let (Some(_), Some(stored)) = (self.due.folder.take(), stored) {
            self.report_move(shared, stored.root.clone(), Some(TorrentError::Ended));
        }
    }

    /// Reports the end of a move.
    fn report_move(&self, shared: &Shared, content: PathBuf, error: Option<TorrentError>) {
        shared.events.send(Event::Relocated {
            torrent: self.identity(),
            content,
            error,
        });
    }
}
