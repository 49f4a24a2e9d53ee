//! The torrents that programs have seen.

use std::collections::HashMap;

use hashlane_remote::model::Torrent;
use hashlane_store::Name;

/// The torrents that programs have seen.
#[derive(Default)]
pub(super) struct Seen {
    next: u32,
    numbers: HashMap<Name, u32>,
    pub(super) names: HashMap<u32, Name>,
    /// Each torrent as it was last seen.
    last: HashMap<Name, Torrent>,
}

impl Seen {
    pub(super) fn number(&mut self, name: Name) -> u32 {
        *self.numbers.entry(name).or_insert_with(|| {
            self.next += 1;
            self.names.insert(self.next, name);
            self.next
        })
    }

    /// Notes when a torrent changed: now, if it differs from what was seen before.
    pub(super) fn date(&mut self, name: Name, torrent: &mut Torrent, now: u64) {
        if let Some(last) = self.last.get(&name) {
            torrent.changed = last.changed;
            if *torrent == *last {
                return;
            }
            torrent.changed = now;
        }
        self.last.insert(name, torrent.clone());
    }

    /// Forgets torrents that were removed.
    pub(super) fn keep(&mut self, names: &[Name]) {
        if self.numbers.len() == names.len() {
            return;
        }
        let present: std::collections::HashSet<&Name> = names.iter().collect();
        self.numbers.retain(|name, _| present.contains(name));
        self.names.retain(|_, name| present.contains(name));
        self.last.retain(|name, _| present.contains(name));
    }
}
