//! The torrents that programs have seen.

use std::sync::Arc;

use hashlane_remote::model::Torrent;

/// The torrents that programs have seen.
#[derive(Default)]
pub(super) struct Seen {
    /// The torrents as they were last seen, by their numbers.
    last: Arc<[Torrent]>,
}

impl Seen {
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
}
