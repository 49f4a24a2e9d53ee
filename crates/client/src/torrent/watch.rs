//! Verifies the files of a served torrent again if they change, and withdraws or restores pieces.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use tracing::{info, warn};

use super::stage::{Active, Check, Phase};
use super::state::{Machine, Shared};
use crate::config::Mode;
use crate::error::TorrentError;
use crate::event::{ChangedContent, Event};
use crate::inbox::Done;
use crate::stored::{ContentState, StoredTorrent};

impl Machine {
    /// Returns the files if the torrent is served and their comparison is due.
    pub(crate) fn files_to_compare(&self, now: Instant) -> Option<Arc<StoredTorrent>> {
        let active = self.stages.get::<Active>()?;
        match (active.phase, active.check) {
            (Phase::Serving, Check::Waiting { next, .. }) if now >= next => {
                Some(Arc::clone(&active.stored))
            }
            _ => None,
        }
    }

    /// Verifies the files of a served torrent if one that a peer requested has changed.
    pub(super) fn check_suspects(&mut self, shared: &Shared) {
        let now = Instant::now();
        let active = self.stages.get::<Active>();
        let is_due = active.is_some_and(|active| {
            matches!(active.check, Check::Waiting { earliest, .. } if now >= earliest)
                && active.stored.storage.has_suspects()
        });
        if is_due {
            self.check_files(shared);
        }
    }

    /// Verifies the files of a served torrent if one has changed, unless that is under way.
    pub(crate) fn check_files(&mut self, shared: &Shared) {
        let Some(active) = self.stages.get_mut::<Active>() else {
            return;
        };
        let (Phase::Serving, Check::Waiting { .. }) = (active.phase, active.check) else {
            return;
        };
        active.check = Check::Running {
            started: Instant::now(),
        };
        let stored = Arc::clone(&active.stored);
        self.verify(shared, move |settings| {
            Done::Checked(stored.verify_changed(settings))
        });
    }

    /// Handles the verification of files that changed, if there were any.
    pub(super) fn on_checked(
        &mut self,
        shared: &Shared,
        content: Option<ContentState>,
    ) -> Result<(), TorrentError> {
        if let Some(content) = &content {
            self.warn_of_unreadable(shared, &content.unreadable);
            self.warn_of_record(shared, content.record_problem.as_ref());
            self.snapshot.trusted_pieces = content.trusted;
        }
        let Some(active) = self.stages.get_mut::<Active>() else {
            return Ok(());
        };
        if let Check::Running { started } = active.check {
            active.check = Check::after(started.elapsed());
        }
        // If additional files were selected meanwhile, a download is running and changes the files itself.
        let is_served = matches!(active.phase, Phase::Serving);
        match content {
            Some(content) if is_served => self.replace_pieces(shared, content),
            _ => Ok(()),
        }
    }

    /// Serves the pieces that a verification found, instead of the earlier ones.
    fn replace_pieces(
        &mut self,
        shared: &Shared,
        content: ContentState,
    ) -> Result<(), TorrentError> {
        let Some(active) = self.stages.get_mut::<Active>() else {
            return Ok(());
        };
        self.snapshot.detail.have = content.have.as_slice().into();
        self.snapshot.detail.wrong = content.wrong.as_slice().into();
        let stored = Arc::clone(&active.stored);
        let storage = &stored.storage;
        let is_same = active.have == content.have && !storage.has_suspects();
        active.is_complete = match self.mode {
            Mode::Seed(_) | Mode::Metadata { .. } => content.is_complete,
            Mode::Download(_) => stored.selection().is_complete(&content.have),
        };
        if is_same {
            info!(torrent = self.snapshot.torrent, "changed files are right");
            storage.watch(content.stamps);
            return Ok(());
        }
        // Another program changed the files, so nothing is written to them any more.
        active.is_foreign = true;
        let before = std::mem::replace(&mut active.have, content.have.clone());
        // libtorrent cannot withdraw a piece of a torrent in a session, and peers that were refused a piece do not ask
        // again. So the torrent leaves the session and joins again with its present pieces.
        let peers = self.remove(shared)?;
        let id = self.add(shared, &stored, &content.have, &peers, true)?;
        self.snapshot.id = Some(id);
        self.totals.restart();
        // The peers that knew the withdrawn pieces are disconnected.
        storage.watch(content.stamps);
        self.changed(shared, &stored, &before, &content.have);
        Ok(())
    }

    /// Removes the torrent from the session, and returns the peers that it can connect to again.
    pub(super) fn remove(&self, shared: &Shared) -> Result<Vec<SocketAddr>, TorrentError> {
        let Some(id) = self.snapshot.id else {
            return Ok(Vec::new());
        };
        let known = shared.session.peers(id)?.into_iter();
        let peers = known.filter_map(|peer| peer.is_outgoing.then_some(peer.address));
        let peers = peers.collect();
        shared.session.remove(id)?;
        Ok(peers)
    }

    /// Reports the pieces that were withdrawn and restored, and the reason if none is left.
    fn changed(&mut self, shared: &Shared, stored: &StoredTorrent, before: &[bool], now: &[bool]) {
        let pairs = before.iter().zip(now);
        // A torrent has at most as many pieces as a u32 can count.
        let count = |pair: (bool, bool)| {
            let pairs = pairs.clone().filter(|(was, is)| (**was, **is) == pair);
            pairs.count() as u32
        };
        let (withdrawn, restored) = (count((true, false)), count((false, true)));
        if (withdrawn, restored) == (0, 0) {
            return;
        }
        let have = count((true, true)) + restored;
        let absence = (have == 0).then(|| stored.absence());
        self.snapshot.error = absence.as_ref().map(ToString::to_string);
        warn!(
            torrent = self.snapshot.torrent,
            withdrawn, restored, have, "the content changed"
        );
        shared.events.send(Event::Changed(ChangedContent {
            torrent: self.identity(),
            name: stored.name.clone(),
            withdrawn,
            restored,
            have,
            pieces: stored.piece_count,
            absence,
        }));
    }
}
