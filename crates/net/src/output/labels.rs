//! The names of torrents in the output.

use std::collections::HashMap;

use hashlane_client::{Event, Identity};

/// The torrents as the user named them, by their numbers. Events can be lost, so that their order identifies no torrent.
#[derive(Clone, Default)]
pub(crate) struct Labels(HashMap<usize, String>);

impl Labels {
    /// Remembers the label of an event's torrent.
    pub(crate) fn on_event(&mut self, event: &Event) {
        match event {
            Event::Added { torrent, label, .. } => {
                self.0.insert(torrent.number, label.clone());
            }
            // Of a removed torrent, all other events can be lost.
            Event::Removed(removed) => {
                let label = || removed.label.clone();
                self.0.entry(removed.torrent.number).or_insert_with(label);
            }
            _ => {}
        }
    }

    /// Forgets a torrent that was removed.
    pub(crate) fn forget(&mut self, torrent: Identity) {
        self.0.remove(&torrent.number);
    }

    /// Returns the label of a torrent.
    pub(crate) fn of(&self, torrent: Identity) -> &str {
        self.0
            .get(&torrent.number)
            .map_or("torrent", String::as_str)
    }
}
