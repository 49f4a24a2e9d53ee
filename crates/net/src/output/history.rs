//! What was reported so far.

use std::collections::{HashMap, HashSet};

use hashlane_client::{Activity, Identity, Snapshot, VerifiedContent};

use super::terminal::progress;

/// Number of parts of a download. Where no terminal shows the progress, a line is printed after each.
const PROGRESS_PARTS: u64 = 10;

/// The reports so far, so that each is printed once.
#[derive(Default)]
pub(super) struct History {
    /// The numbers of torrents whose content was moved or renamed, and not verified since.
    pub(super) placed: HashSet<usize>,
    /// The part of each download that was reported last, by the number of the torrent.
    progress: HashMap<usize, u64>,
    /// The torrents that ended because the program ends, and the bytes of content sent.
    pub(super) ended: Vec<(Identity, u64)>,
}

impl History {
    /// Forgets a torrent that was removed or is started again.
    pub(super) fn forget(&mut self, torrent: Identity) {
        self.placed.remove(&torrent.number);
        self.progress.remove(&torrent.number);
    }

    /// Returns `true` for the verification after a move or a rename, if the content is complete.
    pub(super) fn knows(&mut self, verified: &VerifiedContent) -> bool {
        self.placed.remove(&verified.torrent.number) && verified.has_selected
    }

    /// Returns lines for the downloads that have another part of their content.
    pub(super) fn progress(&mut self, snapshot: &Snapshot) -> Vec<String> {
        let torrents = snapshot.torrents.iter();
        let downloads = torrents.filter(|view| {
            view.activity == Activity::Downloading && view.done_bytes < view.wanted_bytes
        });
        let mut lines = Vec::new();
        for view in downloads {
            let part = u128::from(view.done_bytes) * u128::from(PROGRESS_PARTS)
                / u128::from(view.wanted_bytes);
            let part = u64::try_from(part).unwrap_or(PROGRESS_PARTS);
            let before = self.progress.insert(view.identity.number, part);
            if before.is_some_and(|before| before < part) {
                lines.push(format!("{}: {}", view.title(), progress(view)));
            }
        }
        lines
    }
}
