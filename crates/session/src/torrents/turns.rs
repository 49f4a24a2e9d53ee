//! Turns in the queue, and pauses before a disk is full.

use std::collections::HashMap;
use std::time::Instant;

use hashlane_api::QueueMove;
use hashlane_client::Activity;
use hashlane_store::{Entry, Name};

use super::{Running, Torrents};
use crate::queue::{self, Candidate};
use crate::space::FreeSpace;

impl Torrents {
    /// Pauses downloads whose disks are nearly full, and resumes those whose disks have space again.
    pub(super) fn hold_downloads(&mut self, mut space: FreeSpace) {
        let mut changed = Vec::new();
        for (name, running) in &mut self.running {
            let Some(entry) = self.store.get(*name) else {
                continue;
            };
            let is_held = running.held.is_some();
            if !is_held && running.handle.snapshot().activity != Activity::Downloading {
                continue;
            }
            let folder = entry.choices.place.path();
            running.held = (!entry.choices.paused)
                .then(|| space.shortage(folder, is_held))
                .flatten();
            if running.held.is_some() != is_held {
                changed.push(*name);
            }
        }
        for name in changed {
            self.apply(name);
        }
    }

    /// Gives the torrents their turns in the queue.
    pub(super) fn take_turns(&mut self) {
        let limits = self.queue();
        let mut running = self.running.values();
        if !limits.is_some() && !running.any(|running| running.turn.is_waiting) {
            return;
        }
        let all = self.all();
        let mut waiting: HashMap<Name, &mut Running> = self
            .running
            .iter_mut()
            .map(|(name, running)| (*name, running))
            .collect();
        let mut turns = Vec::new();
        for entry in self.store.entries() {
            let Some(running) = waiting.remove(&entry.name()) else {
                continue;
            };
            running.turn.is_waiting &= limits.is_some();
            if let Some(snapshot) = running.snapshot(&all)
                && !entry.choices.paused
                && running.held.is_none()
            {
                turns.push(Candidate {
                    turn: &mut running.turn,
                    is_forced: entry.choices.forced,
                    snapshot,
                });
            }
        }
        queue::assign(&limits, turns, Instant::now());
        let names: Vec<Name> = self.running.keys().copied().collect();
        for name in names {
            self.apply(name);
        }
    }

    /// Pauses or resumes a torrent in the client, if that has to be changed.
    pub(super) fn apply(&mut self, name: Name) {
        let (Some(entry), Some(running)) = (self.store.get(name), self.running.get_mut(&name))
        else {
            return;
        };
        running.turn.is_waiting &= !entry.choices.forced;
        let is_paused = entry.choices.paused || running.held.is_some() || running.turn.is_waiting;
        if is_paused != running.is_paused {
            // The torrent may end now.
            let _ = if is_paused {
                running.handle.pause()
            } else {
                running.handle.resume()
            };
            running.is_paused = is_paused;
        }
    }

    /// Returns `true` if a torrent waits for its turn.
    pub(crate) fn is_queued(&self, entry: &Entry) -> bool {
        let running = self.running.get(&entry.name());
        running.is_some_and(|running| {
            running.turn.is_waiting && !entry.choices.paused && running.held.is_none()
        })
    }

    /// Moves torrents in the queue. They keep their order.
    pub(crate) fn reorder(&mut self, names: &[Name], to: QueueMove) -> Result<(), String> {
        self.check_running()?;
        let order = queue::moved(self.names_in_order(), names, to);
        self.store
            .set_order(&order)
            .map_err(|error| error.to_string())?;
        self.take_turns();
        Ok(())
    }
}
