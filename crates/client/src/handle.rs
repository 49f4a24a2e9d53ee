//! Handles of torrents, by which a program controls a running client.

use std::fmt;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_api::{Patch, Peer, Priority, Refusal, TorrentKey, Tracker};
use hashlane_metainfo::{Torrent as Metainfo, is_url};
use hashlane_swarm::{Session, SessionError, TorrentId};

use crate::command::{Command, Remove, TorrentCommand};
use crate::config::{AddError, AddOptions};
use crate::control::Control;
use crate::event::Outcome;
use crate::file::TorrentFile;
use crate::limits::SeedLimits;
use crate::rates::RateHistory;
use crate::snapshot::{Activity, Snapshot, TorrentSnapshot};
use crate::source::{NewTorrent, Source};

/// An error of a [`TorrentHandle`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// The client has ended.
    #[error("the client has ended")]
    Stopped,
    /// The torrent has ended.
    #[error("the torrent has ended")]
    Ended,
    /// The torrent was removed from the client.
    #[error("the torrent was removed")]
    Removed,
    /// The text is not the URL of a tracker.
    #[error("not the URL of a tracker: a scheme, `://` and no white space")]
    InvalidTracker,
    /// The torrent failed for this reason, which has no secrets.
    #[error("{0}")]
    Failed(String),
    /// The torrent has no peers and pieces yet: its metadata or its content is not known.
    #[error("the torrent is not in the session")]
    NotInSession,
    /// libtorrent reports an error.
    #[error("libtorrent: {0}")]
    Session(String),
}

impl From<HandleError> for Refusal {
    fn from(error: HandleError) -> Self {
        match error {
            HandleError::Stopped => Self::Unavailable(error.to_string()),
            HandleError::Removed => Self::Absent,
            HandleError::InvalidTracker => Self::Invalid(error.to_string()),
            HandleError::Ended
            | HandleError::Failed(_)
            | HandleError::NotInSession
            | HandleError::Session(_) => Self::Conflict(error.to_string()),
        }
    }
}

/// A torrent of a running client.
///
/// Commands return at once. Their effect appears in events and snapshots. A handle stays valid after the end of its torrent
/// and of its client; its methods then return an error. So does that of a torrent that was started again, which has another one.
#[derive(Clone)]
pub struct TorrentHandle {
    number: usize,
    /// Number of times that the torrent was started again before.
    n_restarts: u64,
    label: Arc<str>,
    control: Control,
}

/// Without fields: events, links and records of torrents have tokens and passkeys.
impl fmt::Debug for TorrentHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TorrentHandle").finish_non_exhaustive()
    }
}

impl TorrentHandle {
    pub(crate) fn new(number: usize, n_restarts: u64, label: &str, control: Control) -> Self {
        Self {
            number,
            n_restarts,
            label: label.into(),
            control,
        }
    }

    /// Returns the number of the torrent in its client. The info-hashes are part of the snapshot.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the number of times that the torrent was started again before.
    pub fn n_restarts(&self) -> u64 {
        self.n_restarts
    }

    /// Returns the torrent in a snapshot of its client, if that has it as it was last started.
    pub fn find<'s>(&self, all: &'s Snapshot) -> Option<&'s Arc<TorrentSnapshot>> {
        let found = all.find(TorrentKey::Number(self.number));
        found.filter(|found| found.n_restarts == self.n_restarts)
    }

    /// Returns the latest state of the torrent. The state of a torrent that was just added is [`Waiting`], and that of a
    /// torrent that was removed is [`Ended`]; both have unknown info-hashes.
    ///
    /// [`Waiting`]: Activity::Waiting
    /// [`Ended`]: Activity::Ended
    pub fn snapshot(&self) -> Arc<TorrentSnapshot> {
        self.present().unwrap_or_else(|_| {
            Arc::new(TorrentSnapshot {
                activity: Activity::Ended,
                ..TorrentSnapshot::new(self.number, &self.label)
            })
        })
    }

    /// Returns the latest state of the torrent, unless it was removed.
    fn present(&self) -> Result<Arc<TorrentSnapshot>, HandleError> {
        let snapshot = self.control.snapshot();
        match snapshot.find(TorrentKey::Number(self.number)) {
            Some(found) if found.n_restarts == self.n_restarts => Ok(Arc::clone(found)),
            Some(found) if found.n_restarts > self.n_restarts => Err(HandleError::Removed),
            None if self.number < snapshot.next_number => Err(HandleError::Removed),
            // The client does not know this start of the torrent yet.
            _ => Ok(Arc::new(TorrentSnapshot::new(self.number, &self.label))),
        }
    }

    /// Returns `true` if the torrent was removed from the client.
    pub fn is_removed(&self) -> bool {
        self.present().is_err()
    }

    /// Pauses the torrent. A torrent that is still being verified joins the session paused.
    ///
    /// # Errors
    /// [`HandleError::Ended`] or [`HandleError::Failed`] if the torrent is over, [`HandleError::Removed`] if it was removed,
    /// [`HandleError::Stopped`] if the client has ended.
    pub fn pause(&self) -> Result<(), HandleError> {
        self.send(TorrentCommand::Pause)
    }

    /// Resumes the torrent.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn resume(&self) -> Result<(), HandleError> {
        self.send(TorrentCommand::Resume)
    }

    /// Ends the torrent. Its content stays on disk. An incomplete download counts as failed.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn end(&self) -> Result<(), HandleError> {
        self.send(TorrentCommand::End)
    }

    /// Removes the torrent from the client, with its content or without. [`Event::Removed`](crate::Event::Removed) follows
    /// when all is done. Snapshots lack the torrent at once, and the path of content that is kept is free. Also removes a
    /// torrent that has ended or failed. An unfinished move stops.
    ///
    /// # Errors
    /// [`HandleError::Removed`] if the torrent was removed before, [`HandleError::Stopped`] if the client has ended.
    pub fn remove(&self, content: Remove) -> Result<(), HandleError> {
        self.present()?;
        self.send_to_present(TorrentCommand::Remove(content))
    }

    /// Starts the torrent again, also if it has ended or failed, from this source and with these options, which have a mode. The
    /// torrent keeps its number, and all else of its state begins anew. [`Event::Added`](crate::Event::Added) follows. Returns the
    /// torrent as it is started now.
    ///
    /// # Errors
    /// [`AddError::NoMode`], or [`AddError::Stopped`] if the client has ended. It does not end before the torrent has started.
    pub fn restart(&self, source: Source, options: AddOptions) -> Result<Self, AddError> {
        let mut new = NewTorrent::of(source, options);
        let mode = new.mode.take().ok_or(AddError::NoMode)?;
        self.control.inbox.restart(self.number, mode, new)?;
        Ok(Self {
            n_restarts: self.n_restarts + 1,
            ..self.clone()
        })
    }

    /// Verifies the content again. The torrent leaves the session meanwhile. This verification comes before all others that
    /// wait; [`Event::Verified`](crate::Event::Verified) follows. A download then continues with the missing pieces.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn verify(&self) -> Result<(), HandleError> {
        self.send(TorrentCommand::Verify)
    }

    /// Moves the content to another folder, under the name that it has. The folder is created if it is absent. The torrent
    /// leaves the session meanwhile, and is verified afterwards. Content that exists in the folder is never replaced: then,
    /// and after any other error, the content stays where it was. [`Event::Relocated`](crate::Event::Relocated) follows.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn relocate(&self, folder: impl Into<PathBuf>) -> Result<(), HandleError> {
        self.send(TorrentCommand::Relocate(folder.into()))
    }

    /// Changes what a person chose: rate limits, which apply beside those of the session, the time of serving, the order of pieces,
    /// super-seeding, and labels, also those of a torrent that has ended. Titles, categories and idle times change nothing,
    /// because a client keeps none.
    ///
    /// # Errors
    /// Those of [`Self::pause`], or of [`Self::remove`] if only labels change.
    pub fn set(&self, patch: &Patch) -> Result<(), HandleError> {
        let labels = Patch {
            labels: patch.labels.clone(),
            ..Patch::default()
        };
        if *patch == labels {
            self.present()?;
        } else {
            self.running()?;
        }
        self.send_to_present(TorrentCommand::Set(Box::new(patch.clone())))
    }

    /// Sets for how long the content is served. Without limits (`None`), the torrent ends when its content is complete, and a
    /// torrent that is only served ends at once.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn set_goal(&self, seeding: Option<SeedLimits>) -> Result<(), HandleError> {
        self.send(TorrentCommand::Seed(seeding))
    }

    /// Sets the priority of files of a download, by their positions among the files except padding. Additional files are
    /// first prepared as at the start of a download. Unknown positions are ignored, and at least one file stays selected.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn set_priorities(&self, files: &[u32], priority: Priority) -> Result<(), HandleError> {
        self.send(TorrentCommand::Prioritize(files.to_vec(), priority))
    }

    /// Answers [`Event::Confirm`](crate::Event::Confirm): the wrong pieces may be replaced.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn replace(&self) -> Result<(), HandleError> {
        self.send(TorrentCommand::Replace)
    }

    /// Answers [`Event::Confirm`](crate::Event::Confirm): nothing is written, and the torrent fails with this reason.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn keep(&self, reason: &str) -> Result<(), HandleError> {
        self.send(TorrentCommand::Keep(reason.to_owned()))
    }

    /// Returns an entry for each piece, `true` if it is present. Empty while the metadata is fetched.
    ///
    /// # Errors
    /// Those of [`Self::pause`], [`HandleError::NotInSession`] before the torrent joins the session, or
    /// [`HandleError::Session`].
    pub fn have(&self) -> Result<Vec<bool>, HandleError> {
        self.ask(Session::have)
    }

    /// Returns an entry for each piece, `true` if its content was wrong at the last verification or when it arrived. Pieces
    /// that are present by now are right again. Empty before the first verification, and after the removal.
    pub fn wrong(&self) -> Arc<[bool]> {
        Arc::clone(&self.snapshot().detail.wrong)
    }

    /// Returns the rates of the last minutes.
    pub fn rate_history(&self) -> Arc<RateHistory> {
        Arc::clone(&self.snapshot().detail.history)
    }

    /// Returns the files, or none while the metadata is unknown. Also returns those of a torrent or client that has ended.
    pub fn files(&self) -> Vec<TorrentFile> {
        self.files_in(0..usize::MAX)
    }

    /// Returns the files at these positions, as [`Self::files`] does. A torrent can have millions of files.
    pub fn files_in(&self, positions: Range<usize>) -> Vec<TorrentFile> {
        let snapshot = self.snapshot();
        let has_all = snapshot.is_complete && snapshot.done_bytes == snapshot.total_bytes;
        // An answer of libtorrent takes longer than all else.
        let progress = if has_all { None } else { self.file_progress() };
        let files = snapshot.files(positions.start, progress.as_deref());
        files.take(positions.len()).collect()
    }

    /// Returns the present bytes of each file, if the torrent is in the session.
    pub fn file_progress(&self) -> Option<Vec<u64>> {
        self.ask(Session::file_progress).ok()
    }

    /// Returns the connected peers.
    ///
    /// # Errors
    /// Those of [`Self::have`].
    pub fn peers(&self) -> Result<Vec<Peer>, HandleError> {
        self.ask(Session::peers)
    }

    /// Returns the trackers, without secrets.
    ///
    /// # Errors
    /// Those of [`Self::have`].
    pub fn trackers(&self) -> Result<Vec<Tracker>, HandleError> {
        self.ask(Session::trackers)
    }

    /// Adds a tracker, in a tier after the others.
    ///
    /// # Errors
    /// Those of [`Self::pause`], or [`HandleError::InvalidTracker`].
    pub fn add_tracker(&self, url: &str) -> Result<(), HandleError> {
        if !is_url(url) {
            return Err(HandleError::InvalidTracker);
        }
        self.send(TorrentCommand::AddTracker(url.to_owned()))
    }

    /// Uses the trackers of these tiers instead of all others: those of one tier are tried in order, and those of the next
    /// one if all fail (BEP 12).
    ///
    /// # Errors
    /// Those of [`Self::pause`], or [`HandleError::InvalidTracker`].
    pub fn set_trackers(&self, tiers: Vec<Vec<String>>) -> Result<(), HandleError> {
        if !tiers.iter().flatten().all(|url| is_url(url)) {
            return Err(HandleError::InvalidTracker);
        }
        self.send(TorrentCommand::SetTrackers(tiers))
    }

    /// Announces the torrent to its trackers. A tracker that sets a minimum interval is contacted after that interval.
    ///
    /// # Errors
    /// Those of [`Self::have`].
    pub fn reannounce(&self) -> Result<(), HandleError> {
        self.ask(Session::reannounce)
    }

    /// Returns the metadata, as it was added or received from peers; `None` while it is unknown. The metadata of a magnet link
    /// has no trackers and, in version 2, no piece layers.
    pub fn metainfo(&self) -> Option<Metainfo> {
        self.snapshot().metainfo().cloned()
    }

    /// Returns the folder that contains the content, or that is to contain it; `None` if only metadata is fetched.
    pub fn folder(&self) -> Option<PathBuf> {
        let snapshot = self.snapshot();
        let detail = &snapshot.detail;
        let folder = detail
            .stored
            .as_ref()
            .and_then(|stored| stored.root.parent());
        folder.or(detail.folder.as_deref()).map(Path::to_owned)
    }

    /// Returns the file, or the folder of the files; `None` while the metadata is unknown.
    pub fn content(&self) -> Option<PathBuf> {
        Some(self.snapshot().detail.stored.as_ref()?.root.clone())
    }

    /// Connects to a peer, as soon as the torrent is in the session, and whenever it joins the session again. Of the peers that
    /// were added, the last 100 are kept for this.
    ///
    /// # Errors
    /// Those of [`Self::pause`].
    pub fn add_peer(&self, peer: SocketAddr) -> Result<(), HandleError> {
        self.send(TorrentCommand::AddPeer(peer))
    }

    /// Waits until the selected content is complete, verified and in its final place, in a thread that may block.
    ///
    /// # Errors
    /// Those of [`Self::completed`].
    pub fn wait_complete(&self) -> Result<(), HandleError> {
        pollster::block_on(self.completed())
    }

    /// Waits until the selected content is complete, verified and in its final place. The future needs no particular runtime, and
    /// dropping it ends only the wait.
    ///
    /// # Errors
    /// [`HandleError::Failed`] if the torrent failed, [`HandleError::Ended`] if it ended and is incomplete,
    /// [`HandleError::Removed`] if it was removed, [`HandleError::Stopped`] if the client ended before.
    pub async fn completed(&self) -> Result<(), HandleError> {
        let mut control = self.control.clone();
        while !self.has_completed()? {
            if control.next_snapshot().await.is_none() {
                // The last snapshot may have come meanwhile.
                let has_completed = self.has_completed()?;
                return has_completed.then_some(()).ok_or(HandleError::Stopped);
            }
        }
        Ok(())
    }

    /// Returns `true` if the selected content is complete, verified and in its final place, and `false` if that can still
    /// happen.
    ///
    /// # Errors
    /// Those of [`Self::completed`].
    pub fn has_completed(&self) -> Result<bool, HandleError> {
        // The session ends after the last snapshot.
        let has_stopped = self.control.session().is_none();
        let snapshot = self.present()?;
        match snapshot.detail.outcome {
            Some(Outcome::Complete) => Ok(true),
            Some(Outcome::Incomplete | Outcome::Failed) => Err(over(&snapshot)),
            None if snapshot.is_in_place() => Ok(true),
            None if has_stopped => Err(HandleError::Stopped),
            None => Ok(false),
        }
    }

    /// Sends a command, unless the torrent or the client has ended.
    fn send(&self, command: TorrentCommand) -> Result<(), HandleError> {
        self.running()?;
        self.send_to_present(command)
    }

    /// Sends a command to a torrent that was not removed.
    fn send_to_present(&self, command: TorrentCommand) -> Result<(), HandleError> {
        let command = Command::Torrent(self.number, command);
        if self.control.send(command) {
            Ok(())
        } else {
            Err(HandleError::Stopped)
        }
    }

    /// Asks the session about the torrent.
    pub(crate) fn ask<T>(
        &self,
        question: impl FnOnce(&Session, TorrentId) -> Result<T, SessionError>,
    ) -> Result<T, HandleError> {
        let session = self.control.session().ok_or(HandleError::Stopped)?;
        let id = self.running()?.id.ok_or(HandleError::NotInSession)?;
        question(&session, id).map_err(|error| HandleError::Session(error.to_string()))
    }

    /// Returns the snapshot of a torrent that is not over.
    fn running(&self) -> Result<Arc<TorrentSnapshot>, HandleError> {
        let snapshot = self.present()?;
        if snapshot.activity.is_over() {
            return Err(over(&snapshot));
        }
        Ok(snapshot)
    }
}

/// Returns the error of a torrent that is over.
fn over(snapshot: &TorrentSnapshot) -> HandleError {
    snapshot
        .error
        .clone()
        .map_or(HandleError::Ended, HandleError::Failed)
}

impl Control {
    /// Adds a torrent, as [`Client::add`](crate::Client::add) does.
    ///
    /// # Errors
    /// The same.
    pub fn add(&self, source: Source, options: AddOptions) -> Result<TorrentHandle, AddError> {
        let new = NewTorrent::of(source, options);
        let label = new.label.clone();
        let number = self.inbox.add(new)?;
        Ok(self.handle(number, 0, &label))
    }

    /// Returns all torrents in the order of their numbers.
    pub fn torrents(&self) -> Vec<TorrentHandle> {
        // In this order, a torrent can be in both lists, but is never in none.
        let pending = self.inbox.ledger().pending();
        let snapshot = self.snapshot();
        let published = snapshot.torrents.iter();
        let published = published.map(|one| (one.identity.number, one.n_restarts, &*one.torrent));
        let pending = pending.iter();
        let pending = pending.map(|(torrent, label)| (torrent.number, 0, label.as_str()));
        let pending = pending.filter(|(number, ..)| *number >= snapshot.next_number);
        let torrents = published.chain(pending);
        torrents
            .map(|(number, n_restarts, label)| self.handle(number, n_restarts, label))
            .collect()
    }

    /// Returns the torrent of a key, also if it is in no snapshot yet.
    pub fn get(&self, key: TorrentKey) -> Option<TorrentHandle> {
        // In this order, a torrent can be at both places, but is never at none.
        let pending = self.inbox.ledger().pending();
        let snapshot = self.snapshot();
        let found = snapshot.find(key);
        if let Some(found) = found.filter(|found| !found.activity.is_over()) {
            return Some(self.handle(found.identity.number, found.n_restarts, &found.torrent));
        }
        let mut pending = pending.iter();
        let pending =
            pending.find(|(torrent, _)| torrent.number >= snapshot.next_number && torrent.has(key));
        let pending = pending.map(|(torrent, label)| (torrent.number, 0, label));
        let found = found.map(|found| (found.identity.number, found.n_restarts, &found.torrent));
        let (number, n_restarts, label) = pending.or(found)?;
        Some(self.handle(number, n_restarts, label))
    }

    fn handle(&self, number: usize, n_restarts: u64, label: &str) -> TorrentHandle {
        TorrentHandle::new(number, n_restarts, label, self.clone())
    }
}
