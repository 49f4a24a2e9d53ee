//! The torrents that programs have seen.

use std::collections::HashMap;
use std::sync::Arc;

use hashlane_remote::model::Torrent;
use hashlane_store::Name;

/// The torrents that programs have seen.
#[derive(Default)]
pub(super) struct Seen {
    next: u32,
    numbers: HashMap<Name, u32>,
    pub(super) names: HashMap<u32, Name>,
    /// The torrents as they were last seen, by their numbers.
    last: Arc<[Torrent]>,
}

impl Seen {
    pub(super) fn number(&mut self, name: Name) -> u32 {
        *self.numbers.entry(name).or_insert_with(|| {
            self.next += 1;
            self.names.insert(self.next, name);
            self.next
        })
    }

    /// Notes when torrents changed: now, if they differ from what was seen before. Returns them by their numbers: the list
    /// that was seen before, if none changed.
    pub(super) fn date(&mut self, mut torrents: Vec<Torrent>, now: u64) -> Arc<[Torrent]> {
        torrents.sort_by_key(|torrent| torrent.id);
        let mut has_changed = torrents.len() != self.last.len();
        let mut last = self.last.iter().peekable();
        for torrent in &mut torrents {
            while last.next_if(|last| last.id < torrent.id).is_some() {}
            let Some(last) = last.next_if(|last| last.id == torrent.id) else {
                has_changed = true;
                continue;
            };
            torrent.changed = last.changed;
            if torrent != last {
                torrent.changed = now;
                has_changed = true;
            }
        }
        if has_changed {
            self.last = torrents.into();
        }
        Arc::clone(&self.last)
    }

    /// Forgets torrents that were removed.
    pub(super) fn keep(&mut self, names: &[Name]) {
        if self.numbers.len() == names.len() {
            return;
        }
        let present: std::collections::HashSet<&Name> = names.iter().collect();
        self.numbers.retain(|name, _| present.contains(name));
        self.names.retain(|_, name| present.contains(name));
    }
}
