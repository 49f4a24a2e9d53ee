//! Events of the session, results of other threads and commands.

use std::sync::Arc;
use std::time::Instant;

use hashlane_api::TrackerState;
use hashlane_swarm::{Event as SessionEvent, Replaced, Session, Sources};
use tracing::{debug, warn};

use super::stage::{Active, Phase, Stage};
use super::state::{Machine, Shared};
use crate::announces;
use crate::command::TorrentCommand;
use crate::error::TorrentError;
use crate::event::Event;
use crate::inbox::Done;
use crate::stored::DownloadCheck;

impl Machine {
    /// Handles the result of work on another thread.
    pub(crate) fn on_done(&mut self, shared: &Shared, done: Done) -> Result<(), TorrentError> {
        if self.outcome().is_some() {
            return Ok(());
        }
        match done {
            Done::Fetched(bytes) => {
                let bytes = bytes?;
                self.open(shared, move || Ok(bytes), Sources::default(), None);
                Ok(())
            }
            Done::Opened(stored) => {
                self.on_opened(shared, *stored?);
                Ok(())
            }
            Done::DownloadChecked(check) => match check? {
                DownloadCheck::Ready(content) => self.on_verified(shared, content),
                DownloadCheck::Confirm(replacement) => {
                    self.confirm(shared, replacement);
                    Ok(())
                }
                DownloadCheck::Absent(stamps) => {
                    let pieces = self.snapshot.pieces as usize;
                    self.snapshot.detail.have = vec![false; pieces].into();
                    self.snapshot.detail.wrong = vec![false; pieces].into();
                    self.wait_for_content(shared, stamps);
                    Ok(())
                }
            },
            Done::Verified(Ok(content)) => self.on_verified(shared, content),
            Done::Verified(Err(error)) => self.on_unverified(shared, error),
            Done::Selected(priorities, result) => {
                self.on_selected(shared, priorities, result);
                Ok(())
            }
            Done::Moved(moved) => self.on_moved(shared, moved),
            // The torrent has left the client before.
            Done::Deleted(_) => Ok(()),
            Done::Found(stored) => {
                self.on_found(shared, stored);
                Ok(())
            }
            Done::Checked(Ok(content)) => self.on_checked(shared, content),
            Done::Checked(Err(error)) => {
                self.snapshot.done_bytes = 0;
                Err(error)
            }
        }
    }

    /// Handles a command.
    pub(crate) fn on_command(&mut self, shared: &Shared, command: TorrentCommand) {
        match command {
            TorrentCommand::Pause => self.pause(&shared.session),
            TorrentCommand::Resume => self.resume(shared),
            TorrentCommand::Prioritize(files, priority) => {
                self.request_priorities(&files, priority);
            }
            TorrentCommand::End => self.end_by_command(shared),
            TorrentCommand::Replace => self.on_answer(shared, Ok(())),
            TorrentCommand::Keep(reason) => self.on_answer(shared, Err(reason)),
            TorrentCommand::Verify => self.request_verification(),
            TorrentCommand::Reannounce => {
                // The torrent can have left the session.
                let _ = self.snapshot.id.map(|id| shared.session.reannounce(id));
            }
            TorrentCommand::AddTracker(url) => self.add_tracker(shared, url),
            TorrentCommand::SetTrackers(tiers) => self.set_trackers(shared, tiers),
            TorrentCommand::AddPeer(peer) => self.add_peer(shared, peer),
            TorrentCommand::Set(patch) => self.set(shared, *patch),
            TorrentCommand::Seed(limits) => self.seed(shared, limits),
            TorrentCommand::Relocate(folder) => self.request_move(shared, &folder),
            // The loop removes the torrent itself.
            TorrentCommand::Remove(_) => {}
        }
    }

    /// Handles an event of the session that concerns this torrent.
    pub(crate) fn on_event(
        &mut self,
        shared: &Shared,
        event: SessionEvent,
    ) -> Result<(), TorrentError> {
        match event {
            SessionEvent::Metadata(id, info) => self.on_metadata(shared, id, &info)?,
            SessionEvent::Removed(_) => self.on_removed(shared),
            SessionEvent::PieceFinished(_, piece) => {
                self.on_piece(shared, piece);
            }
            SessionEvent::PieceFailed(_, piece) => self.on_wrong_piece(piece),
            SessionEvent::Failed(_, reason) => return Err(TorrentError::Stopped(reason)),
            SessionEvent::FileFailed { failure, text, .. } => {
                self.report_replaced(shared);
                self.count_present();
                return Err(failure.map_or(TorrentError::Stopped(text), TorrentError::from));
            }
            SessionEvent::TrackerReplied(..) | SessionEvent::TrackerFailed(..) => {
                self.has_announced = true;
            }
            SessionEvent::PeerUnreached(_, text) => self.on_unreached(shared, &text),
            SessionEvent::WebSeedFailed(_, reason) => {
                let is_new = self.failures.on_failure(&reason);
                self.on_problem(shared, reason, is_new);
            }
            _ => {}
        }
        Ok(())
    }

    /// Reports a peer that the user named and that was not reached.
    fn on_unreached(&mut self, shared: &Shared, text: &str) {
        let named = &shared.config.peers;
        if let Some(problem) = self.unreached.on_failure(named, text) {
            self.on_problem(shared, problem, true);
        }
    }

    /// Updates what the trackers answered, if one did or failed. An event of the session concerns only one of the addresses
    /// from which a tracker was asked.
    pub(super) fn update_announces(&mut self, shared: &Shared) {
        if !std::mem::take(&mut self.has_announced) {
            return;
        }
        // The torrent can have left the session.
        let trackers = self.snapshot.id.map(|id| shared.session.trackers(id));
        let Some(Ok(trackers)) = trackers else {
            return;
        };
        let states = trackers.iter();
        let states = states.map(|it| (it.url.as_str(), it.state, it.message.as_str()));
        announces::update(&mut self.snapshot.announces, states);
        self.snapshot.tracker_seeds = trackers.iter().filter_map(|it| it.seeds).max();
        for tracker in trackers {
            match tracker.state {
                TrackerState::Working => self.failures.on_reply(&tracker.url),
                TrackerState::Failed => {
                    let reason = format!("{}: {}", tracker.url, tracker.message);
                    let is_new = self.failures.on_failure(&reason);
                    self.on_problem(shared, reason, is_new);
                }
                TrackerState::Unused | TrackerState::Updating => {}
            }
        }
    }

    /// Reports a problem of a tracker, a web seed or a file, unless it repeats the last problem.
    pub(super) fn warn(&mut self, shared: &Shared, reason: String) {
        let is_new = self.last_problem.as_ref() != Some(&reason);
        self.on_problem(shared, reason, is_new);
    }

    /// Keeps a problem as the last one, and reports it if it is new.
    fn on_problem(&mut self, shared: &Shared, reason: String, is_new: bool) {
        if is_new {
            warn!(torrent = self.snapshot.torrent, reason);
            shared.events.send(Event::Warning {
                torrent: Some(self.identity()),
                message: reason.clone(),
            });
        }
        self.last_problem = Some(reason);
    }

    /// Reports the files that differed from the torrent's and were renamed.
    pub(super) fn report_replaced(&mut self, shared: &Shared) {
        let Some(active) = self.stages.get::<Active>() else {
            return;
        };
        for Replaced { path, kept_as } in active.stored.storage.take_replaced() {
            let (path, kept_as) = (path.display(), kept_as.display());
            let message = format!("{path}: differs from the torrent; kept as {kept_as}");
            self.warn(shared, message);
        }
    }

    /// Reports a new piece. libtorrent also reports pieces that were already present.
    fn on_piece(&mut self, shared: &Shared, piece: u32) {
        if let Some(active) = self.stages.get_mut::<Active>()
            && let Some(have) = active.have.get_mut(piece as usize)
            && !std::mem::replace(have, true)
        {
            if matches!(active.phase, Phase::Downloading) {
                active.stored.storage.unmark_complete(piece, &active.have);
            }
            let torrent = self.snapshot.identity;
            debug!(torrent = self.snapshot.torrent, piece, "piece downloaded");
            shared.events.send(Event::Piece { torrent, piece });
        }
    }

    /// Counts the pieces that arrived since the last status.
    fn count_present(&mut self) {
        if let Some(active) = self.stages.get::<Active>() {
            self.snapshot.done_bytes = active.stored.present_bytes(&active.have);
        }
    }

    /// Marks a piece that arrived and was wrong.
    fn on_wrong_piece(&mut self, piece: u32) {
        let wrong = Arc::make_mut(&mut self.snapshot.detail.wrong);
        if let Some(wrong) = wrong.get_mut(piece as usize) {
            *wrong = true;
        }
    }

    /// Returns events for the current state, in place of the events that libtorrent dropped.
    pub(crate) fn missed_events(
        &mut self,
        session: &Session,
    ) -> Result<Vec<SessionEvent>, TorrentError> {
        let Some(id) = self.snapshot.id else {
            return Ok(Vec::new());
        };
        self.has_announced = true;
        Ok(match self.stages.current() {
            Stage::Metadata(_) => session
                .metadata(id)?
                .map(|info| SessionEvent::Metadata(id, info))
                .into_iter()
                .collect(),
            Stage::Active(_) => {
                let pieces = (0..).zip(session.have(id)?).filter(|(_, have)| *have);
                pieces
                    .map(|(piece, _)| SessionEvent::PieceFinished(id, piece))
                    .collect()
            }
            _ => Vec::new(),
        })
    }

    /// Pauses the torrent. A torrent that is not in the session yet joins it paused.
    fn pause(&mut self, session: &Session) {
        self.snapshot.is_paused = true;
        // The torrent can have left the session.
        let _ = self.snapshot.id.map(|id| session.pause(id));
    }

    /// Resumes the torrent.
    fn resume(&mut self, shared: &Shared) {
        self.snapshot.is_paused = false;
        // No bytes were expected during the pause.
        self.last_arrival.0 = Instant::now();
        let active: Option<&Active> = self.stages.get();
        if active.is_some_and(|active| active.is_deferred) {
            // The files are created first, as at the start of a download.
            self.due.verification = true;
            return;
        }
        let resumed = self.snapshot.id.map(|id| shared.session.resume(id));
        if resumed.is_none()
            && let Err(error) = self.join_link(shared)
        {
            self.fail(shared, error);
        }
    }
}
