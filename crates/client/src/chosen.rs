//! Changes of torrents by commands, for another process that continues from this one.
//!
//! A change is recorded when its command is sent, because the loop may stand still before it handles the command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hashlane_api::{Patch, Priority};
use serde::{Deserialize, Serialize};

use crate::command::{Remove, TorrentCommand};
use crate::limits::SeedLimits;

/// The priorities by their numbers in the state.
const PRIORITIES: [Priority; 4] = [
    Priority::Skip,
    Priority::Low,
    Priority::Normal,
    Priority::High,
];

/// The changes of one torrent since it was added. Later changes replace earlier ones.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Chosen {
    is_paused: Option<bool>,
    seeding: Option<Change<Option<SeedLimits>>>,
    /// The changes of what a person chose, after that of `seeding`.
    #[serde(default)]
    patch: Patch,
    /// The tiers that replaced those of the torrent.
    #[serde(default)]
    tiers: Option<Vec<Vec<String>>>,
    /// The trackers that were added, after those of `tiers`.
    trackers: Vec<String>,
    /// Numbers of [`PRIORITIES`] by the positions of files.
    priorities: BTreeMap<u32, usize>,
    /// The folders of moves: of the last one that ended, and of those that have not ended. Paths need not be UTF-8.
    folders: Vec<OsString>,
    has_ended: bool,
    /// Whether the content is deleted, if the torrent was removed.
    removal: Option<bool>,
}

/// A new value. JSON has the same text for an absent value and `None`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Change<T> {
    to: T,
}

impl Chosen {
    /// Records a command.
    pub(crate) fn record(&mut self, command: &TorrentCommand) {
        match command {
            TorrentCommand::Pause => self.is_paused = Some(true),
            TorrentCommand::Resume => self.is_paused = Some(false),
            TorrentCommand::End => self.has_ended = true,
            TorrentCommand::Prioritize(files, priority) => {
                let number = PRIORITIES.iter().position(|it| it == priority);
                for file in files {
                    self.priorities.extend(number.map(|number| (*file, number)));
                }
            }
            TorrentCommand::SetTrackers(tiers) => {
                self.tiers = Some(tiers.clone());
                self.trackers.clear();
            }
            TorrentCommand::AddTracker(url) if !self.trackers.contains(url) => {
                self.trackers.push(url.clone());
            }
            TorrentCommand::Set(patch) => {
                self.patch = Patch::or(*patch.clone(), std::mem::take(&mut self.patch));
            }
            TorrentCommand::Seed(limits) => {
                self.seeding = Some(Change { to: *limits });
                (self.patch.ratio, self.patch.time) = (None, None);
            }
            TorrentCommand::Relocate(folder) => {
                self.forget_move(folder);
                self.folders.push(folder.into());
            }
            TorrentCommand::Remove(content) => {
                self.removal = Some(*content == Remove::DeleteContent);
            }
            // The answer to a question, which the other process asks again. The content is verified anyway.
            TorrentCommand::Replace
            | TorrentCommand::Keep(_)
            | TorrentCommand::Verify
            | TorrentCommand::AddTracker(_)
            | TorrentCommand::Reannounce => {}
        }
    }

    /// Records that a move will not happen.
    pub(crate) fn forget_move(&mut self, folder: &Path) {
        self.folders.retain(|other| Path::new(other) != folder);
    }

    /// Records that the content was moved to this folder, and forgets the folders before.
    pub(crate) fn moved(&mut self, folder: &Path) {
        let is_here = |other: &OsString| Path::new(other) == folder;
        if let Some(position) = self.folders.iter().position(is_here) {
            self.folders.drain(..position);
        }
    }

    /// Returns the commands that repeat the changes, in an order in which they can be repeated before the torrent starts.
    /// Priorities and moves need the torrent's files.
    pub(crate) fn commands(&self) -> Vec<TorrentCommand> {
        let tiers = self.tiers.clone().map(TorrentCommand::SetTrackers);
        let trackers = self.trackers.iter().cloned();
        let is_paused = self.is_paused.map(|is_paused| {
            if is_paused {
                TorrentCommand::Pause
            } else {
                TorrentCommand::Resume
            }
        });
        let seeding = self.seeding.map(|change| TorrentCommand::Seed(change.to));
        let patch = (self.patch != Patch::default()).then(|| self.patch.clone());
        let ended = self.has_ended.then_some(TorrentCommand::End);
        tiers
            .into_iter()
            .chain(trackers.map(TorrentCommand::AddTracker))
            .chain(is_paused)
            .chain(seeding)
            .chain(patch.map(|patch| TorrentCommand::Set(Box::new(patch))))
            .chain(ended)
            .collect()
    }

    /// Returns the removal of the torrent, if it was removed.
    pub(crate) fn removal(&self) -> Option<Remove> {
        self.removal.map(|is_deleted| {
            if is_deleted {
                Remove::DeleteContent
            } else {
                Remove::Keep
            }
        })
    }

    /// Returns the priorities that were changed, by the positions of files.
    pub(crate) fn priorities(&self) -> Vec<(u32, Priority)> {
        let known = self.priorities.iter();
        known
            .filter_map(|(file, number)| Some((*file, *PRIORITIES.get(*number)?)))
            .collect()
    }

    /// Returns the folders of moves, the last one first.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.folders.iter().rev().map(PathBuf::from).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::time::Duration;

    use hashlane_api::Target;

    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "one command after the other")]
    fn later_changes_replace_earlier_ones_in_another_process() {
        let seeding = Some(SeedLimits {
            ratio: Some(1.5),
            time: Some(Duration::from_millis(2500)),
        });
        let set = |patch| TorrentCommand::Set(Box::new(patch));
        let limit = |max_down, max_up| Patch {
            max_down,
            max_up,
            ..Patch::default()
        };
        let labels = |label: &str| Patch {
            labels: Some([label.to_owned()].into()),
            ..Patch::default()
        };
        let tracker = |url: &str| TorrentCommand::AddTracker(url.to_owned());
        let mut chosen = Chosen::default();
        for command in [
            TorrentCommand::Pause,
            set(labels("a")),
            TorrentCommand::Resume,
            TorrentCommand::Seed(None),
            tracker("http://c/"),
            TorrentCommand::SetTrackers(vec![vec!["http://d/".to_owned()], vec![]]),
            tracker("http://a/"),
            tracker("http://b/"),
            tracker("http://a/"),
            set(limit(Some(NonZeroU32::new(1)), Some(NonZeroU32::new(2)))),
            TorrentCommand::Prioritize(vec![0, 1], Priority::Skip),
            TorrentCommand::Relocate("/a".into()),
            TorrentCommand::Relocate("/b".into()),
            set(labels("b")),
            set(Patch {
                ratio: Some(Target::At(3.0)),
                ..Patch::default()
            }),
            TorrentCommand::Seed(seeding),
            set(limit(None, Some(None))),
            TorrentCommand::Prioritize(vec![1], Priority::High),
            TorrentCommand::Relocate("/c".into()),
            TorrentCommand::Verify,
        ] {
            chosen.record(&command);
        }
        chosen.moved(Path::new("/b"));
        chosen.record(&TorrentCommand::Relocate("/d".into()));
        chosen.forget_move(Path::new("/c"));
        let text = serde_json::to_string(&chosen).unwrap();
        let continued: Chosen = serde_json::from_str(&text).unwrap();
        assert_eq!(
            continued.commands(),
            [
                TorrentCommand::SetTrackers(vec![vec!["http://d/".to_owned()], vec![]]),
                tracker("http://a/"),
                tracker("http://b/"),
                TorrentCommand::Resume,
                TorrentCommand::Seed(seeding),
                set(limit(Some(NonZeroU32::new(1)), Some(None)).or(labels("b"))),
            ]
        );
        assert_eq!(
            continued.priorities(),
            [(0, Priority::Skip), (1, Priority::High)]
        );
        let folders: Vec<PathBuf> = vec!["/d".into(), "/b".into()];
        assert_eq!(continued.folders(), folders);
        assert_eq!(continued.removal(), None);
        chosen.record(&TorrentCommand::Seed(None));
        chosen.record(&TorrentCommand::Remove(Remove::DeleteContent));
        let text = serde_json::to_string(&chosen).unwrap();
        let continued: Chosen = serde_json::from_str(&text).unwrap();
        assert_eq!(continued.removal(), Some(Remove::DeleteContent));
        assert!(continued.commands().contains(&TorrentCommand::Seed(None)));
    }
}
