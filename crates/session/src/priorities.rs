//! Priorities of files: those that a person chose are in the state folder, and the client gets them.

use std::collections::HashSet;

use hashlane_api::{Place, Priority, Refusal};
use hashlane_metainfo::{FileKind, Torrent};
use hashlane_store::{Name, Priorities};

use super::goal::{self, is_served};
use super::torrents::Torrents;

/// Gives files a priority, by their positions without padding.
pub(super) fn set(priorities: &mut Priorities, files: &[u32], priority: Priority) {
    for file in files {
        let Priorities { skip, low, high } = priorities;
        for set in [&mut *skip, &mut *low, &mut *high] {
            set.remove(file);
        }
        match priority {
            Priority::Skip => skip.insert(*file),
            Priority::Low => low.insert(*file),
            Priority::High => high.insert(*file),
            Priority::Normal => false,
        };
    }
}

/// Returns the priority of a file, by its position without padding.
pub(super) fn of(priorities: &Priorities, file: u32) -> Priority {
    let Priorities { skip, low, high } = priorities;
    let sets = [
        (skip, Priority::Skip),
        (low, Priority::Low),
        (high, Priority::High),
    ];
    let found = sets.into_iter().find(|(set, _)| set.contains(&file));
    found.map_or(Priority::Normal, |(_, priority)| priority)
}

/// Deselects all files of a torrent but these.
pub(super) fn select(priorities: &mut Priorities, torrent: &Torrent, selected: &[u32]) {
    let selected: HashSet<u32> = selected.iter().copied().collect();
    let others: Vec<u32> = (0..n_files(torrent))
        .filter(|file| !selected.contains(file))
        .collect();
    set(priorities, &others, Priority::Skip);
}

/// Returns the number of files without padding.
fn n_files(torrent: &Torrent) -> u32 {
    let files = torrent.files().iter();
    let files = files.filter(|file| file.kind() != FileKind::Padding);
    files.count() as u32
}

impl Torrents {
    /// Changes the priority of files of a torrent: of all, if none is named. The client may not have opened the torrent yet.
    pub(super) fn prioritize(
        &mut self,
        name: Name,
        files: &[u32],
        priority: Priority,
    ) -> Result<(), Refusal> {
        // The link may select files.
        let kept = self.keep_known(name);
        let name = kept.map_err(|error| Refusal::Conflict(error.to_string()))?;
        let entry = self.entry(name).map_err(Refusal::Conflict)?;
        let all = self.all();
        // Complete content is only served after a start, and never written again.
        let is_download = if let Some(torrent) = self.find(name, &all) {
            torrent.is_download
        } else {
            let is_place = matches!(entry.choices.place, Place::Folder(_));
            is_place && !is_served(&entry.choices, &self.kept_totals(name))
        };
        if !is_download {
            return Err(Refusal::only_downloads());
        }
        let metainfo = self.metainfo(name);
        let n_files = metainfo.as_ref().map_or(0, n_files);
        let mut selected = entry.choices.clone();
        if let Some(metainfo) = &metainfo
            && !self.has_chosen_files(name)
        {
            goal::select(&mut selected, metainfo, self.config.mode.as_ref());
        }
        let mut priorities = selected.priorities;
        let before = (0..n_files).map(|file| of(&priorities, file));
        let files = priority.given(before.collect(), files)?;
        set(&mut priorities, &files, priority);
        let changed = self.set(name, |choices| choices.priorities = priorities);
        changed.map_err(Refusal::Conflict)?;
        if metainfo.is_some() {
            self.note_chosen_files(name);
        }
        if let Some(handle) = self.handle(name) {
            // It may have ended. The priorities apply when it is started again.
            let _ = handle.set_priorities(&files, priority);
        }
        Ok(())
    }
}
