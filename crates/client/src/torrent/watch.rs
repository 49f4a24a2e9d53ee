//! Verifies the files of a served torrent again if they change, and withdraws or restores pieces.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use tracing::{info, warn};

use super::state::{Active, Check, Phase, Shared, Stage, Torrent};
use crate::config::Goal;
use crate::error::TorrentError;
use crate::event::{ChangedContent, Event};
use crate::inbox::Done;
use crate::stored::Verification;

impl Torrent {
    /// Compares the files of a served torrent if a comparison is due.
    pub(super) fn check_files(&mut self, shared: &Shared) {
        let Stage::Active(active) = &mut self.stage else {
            return;
        };
        let (Phase::Serving(_), Check::Waiting { earliest, next }) = (active.phase, active.check)
        else {
            return;
        };
        let now = Instant::now();
        if now < next && (now < earliest || !active.stored.storage.has_suspects()) {
            return;
        }
        active.check = Check::Running { started: now };
        let stored = Arc::clone(&active.stored);
        self.verify(shared, move |verifying| {
            Done::Checked(stored.verify_changed(verifying))
        });
    }

    /// Handles the verification of files that changed, if there were any.
    pub(super) fn on_checked(
        &mut self,
        shared: &Shared,
        verification: Option<Verification>,
    ) -> Result<(), TorrentError> {
        if let Some(verification) = &verification {
            self.warn_of_unreadable(shared, &verification.unreadable);
            self.warn_of_record(shared, verification.record_problem.as_ref());
            self.snapshot.trusted_pieces = verification.trusted;
        }
        let Stage::Active(mut active) = std::mem::replace(&mut self.stage, Stage::Waiting) else {
            return Ok(());
        };
        if let Check::Running { started } = active.check {
            active.check = Check::after(started.elapsed());
        }
        // If additional files were selected meanwhile, a download is running and changes the files itself.
        let is_served = matches!(active.phase, Phase::Serving(_));
        let verification = verification.filter(|_| is_served);
        let result = verification.map_or(Ok(()), |verification| {
            self.replace_pieces(shared, &mut active, verification)
        });
        self.stage = Stage::Active(active);
        result
    }

    /// Serves the pieces that a verification found, instead of the earlier ones.
    fn replace_pieces(
        &mut self,
        shared: &Shared,
        active: &mut Active,
        verification: Verification,
    ) -> Result<(), TorrentError> {
        self.snapshot.detail.have = verification.have.as_slice().into();
        self.snapshot.detail.wrong = verification.wrong.as_slice().into();
        let storage = &active.stored.storage;
        let is_same = active.have == verification.have && !storage.has_suspects();
        active.is_complete = match self.goal {
            Goal::Seed(_) | Goal::Metadata { .. } => verification.is_complete,
            Goal::Download(_) => active.stored.selection().is_complete(&verification.have),
        };
        if is_same {
            info!(torrent = self.snapshot.torrent, "changed files are right");
            storage.watch(verification.stamps);
            return Ok(());
        }
        // libtorrent cannot withdraw a piece of a torrent in a session, and peers that were refused a piece do not ask
        // again. So the torrent leaves the session and joins again with its present pieces.
        let peers = self.remove(shared)?;
        // Another program changed the files, so nothing is written to them any more.
        active.is_foreign = true;
        let id = self.add(shared, &active.stored, &verification.have, &peers, true)?;
        self.snapshot.id = Some(id);
        self.totals.restart();
        // The peers that knew the withdrawn pieces are disconnected.
        storage.watch(verification.stamps);
        if self.snapshot.detail.is_paused {
            shared.session.pause(id)?;
        }
        let before = std::mem::replace(&mut active.have, verification.have);
        self.changed(shared, active, &before);
        Ok(())
    }

    /// Removes the torrent from the session, and returns the peers that it can connect to again.
    pub(super) fn remove(&self, shared: &Shared) -> Result<Vec<SocketAddr>, TorrentError> {
        let mut peers = shared.config.peers.clone();
        if let Some(id) = self.snapshot.id {
            let known = shared.session.peers(id)?.into_iter();
            peers.extend(known.filter_map(|peer| peer.is_outgoing.then_some(peer.address)));
            shared.session.remove(id)?;
        }
        Ok(peers)
    }

    /// Reports the pieces that were withdrawn and restored.
    fn changed(&self, shared: &Shared, active: &Active, before: &[bool]) {
        let pairs = before.iter().zip(&active.have);
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
        warn!(
            torrent = self.snapshot.torrent,
            withdrawn, restored, have, "the content changed"
        );
        shared.events.send(Event::Changed(ChangedContent {
            torrent: self.number(),
            name: active.stored.name.clone(),
            withdrawn,
            restored,
            have,
            pieces: active.stored.piece_count,
            absence: (have == 0).then(|| active.stored.absence()),
        }));
    }
}
