//! What was reported so far.

use std::collections::{HashMap, HashSet};

use hashlane_client::{Activity, Identity, Snapshot, TorrentError, VerifiedContent};
use hashlane_session::is_of_system;

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
    /// The errors of torrents that a daemon starts again, as they were reported, by the number of the
    /// torrent, with the bytes that were missing then.
    passing: HashMap<usize, (String, u64)>,
    /// The torrents that ended because the program ends, and the bytes of content sent.
    pub(super) ended: Vec<(Identity, u64)>,
}

impl History {
    /// Forgets a torrent that was removed or is started again.
    pub(super) fn forget(&mut self, torrent: Identity) {
        self.placed.remove(&torrent.number);
        self.progress.remove(&torrent.number);
    }

    /// Returns `true` if an earlier start of the torrent has failed for the same reason, and less than
    /// half of what was missing has arrived since. A daemon starts it again until the error passes.
    pub(super) fn repeats(
        &mut self,
        torrent: Identity,
        error: &TorrentError,
        left_bytes: u64,
    ) -> bool {
        if !is_of_system(error) {
            return false;
        }
        // A full disk refuses one file or another.
        let reason = match error {
            TorrentError::Storage(storage) => storage.error.to_string(),
            TorrentError::Path { error, .. } => error.to_string(),
            other => other.to_string(),
        };
        if let Some((before, left)) = self.passing.get(&torrent.number)
            && *before == reason
            // On a full disk, parts of files still have their space.
            && left_bytes > left / 2
        {
            return true;
        }
        self.passing.insert(torrent.number, (reason, left_bytes));
        false
    }

    /// Returns `true` if the torrent has failed, and a daemon has started it again.
    pub(super) fn is_tried_again(&self, torrent: Identity) -> bool {
        self.passing.contains_key(&torrent.number)
    }

    /// Forgets the error of a torrent: it has passed, or the torrent was removed.
    pub(super) fn forget_error(&mut self, torrent: Identity) {
        self.passing.remove(&torrent.number);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};
    use std::path::PathBuf;

    const TORRENT: Identity = Identity {
        number: 0,
        info_hashes: None,
    };

    fn error(kind: ErrorKind) -> TorrentError {
        TorrentError::Path {
            path: PathBuf::new(),
            error: Error::from(kind),
        }
    }

    #[test]
    fn an_error_is_repeated_until_it_passes() {
        let mut history = History::default();
        let full = error(ErrorKind::StorageFull);
        assert!(!history.is_tried_again(TORRENT));
        assert!(!history.repeats(TORRENT, &full, 100));
        history.forget(TORRENT);
        assert!(history.is_tried_again(TORRENT));
        assert!(history.repeats(TORRENT, &full, 100));
        assert!(history.repeats(TORRENT, &full, 51));
        assert!(!history.repeats(TORRENT, &full, 50));
        assert!(history.repeats(TORRENT, &full, 50));
        let refused = error(ErrorKind::PermissionDenied);
        assert!(!history.repeats(TORRENT, &refused, 50));
        history.forget_error(TORRENT);
        assert!(!history.is_tried_again(TORRENT));
        assert!(!history.repeats(TORRENT, &TorrentError::Ended, 1));
        assert!(!history.is_tried_again(TORRENT));
    }
}
