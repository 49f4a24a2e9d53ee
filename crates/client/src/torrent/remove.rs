//! The removal of a torrent from the client. Its content is kept, or deleted by another thread.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::stage::{Active, Moving, Opening};
use super::state::{Machine, Shared};
use crate::command::Remove;
use crate::event::{Deletion, KeptFile, RemovedTorrent};
use crate::inbox::{Done, Start};
use crate::places::Claim;
use crate::stored::StoredTorrent;
use crate::worker::Turn;

/// The content of a removed torrent that is to be deleted.
pub(crate) struct Removal {
    removed: RemovedTorrent,
    /// The last start of the torrent.
    pub(crate) start: Start,
    stored: Arc<StoredTorrent>,
    /// An entry for each piece: whether it is present.
    have: Vec<bool>,
    /// The files of the torrent until its content is deleted.
    claim: Option<Arc<Claim>>,
    progress: Progress,
    /// The number of the next torrent at the time of the removal.
    next_number: usize,
    /// Torrents with content at the same path that were opened meanwhile.
    waiting: Vec<(Start, Box<StoredTorrent>)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The content is still being moved.
    Moving,
    /// Other torrents, which may have the same files, are being opened.
    Waiting,
    /// The files are being deleted.
    Deleting,
}

impl Machine {
    /// Removes the torrent from the session, and frees its path. Returns the content that is to be deleted, or the report of
    /// the removal if there is none.
    pub(crate) fn remove_from_client(
        mut self,
        shared: &Shared,
        content: Remove,
        next_number: usize,
    ) -> Result<Removal, Box<RemovedTorrent>> {
        self.cancel.cancel();
        self.leave_session(shared, Duration::ZERO);
        let id = self.snapshot.id;
        if let Some(id) = id {
            // The torrent can have left the session.
            let _ = shared.session.remove(id);
        }
        let stored = self.snapshot.detail.stored.clone();
        let mut removed = RemovedTorrent {
            torrent: self.identity(),
            label: self.snapshot.torrent.clone(),
            content: stored.as_ref().map(|stored| stored.root.clone()),
            downloaded_bytes: self.snapshot.downloaded_bytes,
            uploaded_bytes: self.snapshot.uploaded_bytes,
            deletion: None,
        };
        let stored = match (stored, content) {
            (Some(stored), Remove::DeleteContent) => stored,
            (stored, _) => {
                if content == Remove::DeleteContent {
                    removed.deletion = self.unknown_content();
                }
                self.claim = None;
                if let Some(stored) = stored {
                    // Nothing is written to a path that is free.
                    stored.storage.end();
                }
                return Err(Box::new(removed));
            }
        };
        let have = match self.stages.get_mut::<Active>() {
            Some(active) => std::mem::take(&mut active.have),
            None => self.snapshot.detail.have.to_vec(),
        };
        Ok(Removal {
            removed,
            start: self.start,
            stored,
            have,
            claim: self.claim.take(),
            progress: match self.stages.get::<Moving>() {
                Some(_) => Progress::Moving,
                None => Progress::Waiting,
            },
            next_number,
            waiting: Vec::new(),
        })
    }

    /// Returns the report about the content of a torrent that failed before its files were known: nothing is deleted.
    fn unknown_content(&self) -> Option<Deletion> {
        let (folder, reason) = (&self.snapshot.detail.folder, &self.snapshot.error);
        let (path, reason) = (folder.as_ref()?.to_path_buf(), reason.clone()?);
        Some(Deletion {
            kept: vec![KeptFile { path, reason }],
            ..Deletion::default()
        })
    }

    /// Returns `true` if the torrent is being opened.
    pub(crate) fn is_opening(&self) -> bool {
        self.stages.get::<Opening>().is_some()
    }
}

impl Removal {
    /// Returns `true` if the torrent occupies this path.
    pub(crate) fn occupies(&self, path: &Path) -> bool {
        self.stored.root == path
    }

    /// Lets a torrent wait until the path is free.
    pub(crate) fn defer(&mut self, start: Start, stored: Box<StoredTorrent>) {
        self.waiting.push((start, stored));
    }

    /// Returns `true` if this start of a torrent does not wait for the path.
    fn is_not_waiting(&self, start: Start) -> bool {
        !self.waiting.iter().any(|(waiting, _)| *waiting == start)
    }

    /// Handles the end of a move that was under way.
    pub(crate) fn moved(&mut self, moved: Option<StoredTorrent>) {
        if let Some(moved) = moved {
            self.stored = Arc::new(moved);
            self.removed.content = Some(self.stored.root.clone());
        }
        self.progress = Progress::Waiting;
    }

    /// Starts the deletion as soon as it is known which other torrents have the same files.
    pub(crate) fn start<'t>(
        &mut self,
        shared: &Shared,
        others: impl Iterator<Item = &'t Machine> + Clone,
    ) {
        let mut opening = others.clone().filter(|other| other.is_opening());
        let is_blocked = opening.any(|other| {
            other.start.torrent < self.next_number && self.is_not_waiting(other.start)
        });
        if self.progress != Progress::Waiting || is_blocked {
            return;
        }
        self.progress = Progress::Deleting;
        let others = others.filter_map(|other| other.snapshot.detail.stored.clone());
        let others: Vec<Arc<StoredTorrent>> = others.collect();
        let (stored, have) = (Arc::clone(&self.stored), std::mem::take(&mut self.have));
        let delete = move || Done::Deleted(stored.delete(&have, &others));
        shared.opener.run(self.start, Turn::First, delete);
    }

    /// Frees the path. Returns the report of the removal, and the torrents that waited.
    pub(crate) fn end(
        mut self,
        deletion: Deletion,
    ) -> (RemovedTorrent, Vec<(Start, Box<StoredTorrent>)>) {
        self.claim = None;
        self.removed.deletion = Some(deletion);
        (self.removed, self.waiting)
    }
}
