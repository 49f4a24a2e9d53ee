//! The files of a torrent, and their priorities.

use hashlane_swarm::Priority;
use serde::{Deserialize, Serialize};

use super::service::{Found, Refusal};
use crate::file::files;
use crate::handle::TorrentHandle;
use crate::snapshot::TorrentSnapshot;

/// Number of files in an answer that does not ask for another number, and its maximum.
const FILES: (usize, usize) = (500, 5000);

/// Some files of a torrent.
#[derive(Serialize)]
pub(super) struct FilesView {
    /// Number of all files, without padding.
    total: usize,
    /// Whether priorities can be changed, as for a download.
    changeable: bool,
    files: Vec<FileView>,
}

#[derive(Serialize)]
struct FileView {
    /// The position among the files without padding.
    number: usize,
    path: String,
    length_bytes: u64,
    /// `None` if the torrent is not in the session.
    done_bytes: Option<u64>,
    priority: PriorityName,
}

/// The name of a priority in requests and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PriorityName {
    Skip,
    Low,
    Normal,
    High,
}

impl From<Priority> for PriorityName {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::Skip => Self::Skip,
            Priority::Low => Self::Low,
            Priority::Normal => Self::Normal,
            Priority::High => Self::High,
        }
    }
}

impl From<PriorityName> for Priority {
    fn from(name: PriorityName) -> Self {
        match name {
            PriorityName::Skip => Self::Skip,
            PriorityName::Low => Self::Low,
            PriorityName::Normal => Self::Normal,
            PriorityName::High => Self::High,
        }
    }
}

impl FilesView {
    /// Returns files of a torrent from a position on, or no files while its metadata is unknown.
    pub(super) fn of(found: &Found, offset: usize, limit: Option<usize>) -> Self {
        let progress = found.handle.as_ref().and_then(TorrentHandle::file_progress);
        let snapshot = &found.torrent;
        let files = files(snapshot, offset, progress.as_deref());
        let files = files.take(limit.unwrap_or(FILES.0).min(FILES.1));
        let files = files.map(|file| FileView {
            number: file.number,
            path: file.path,
            length_bytes: file.length_bytes,
            done_bytes: file.done_bytes,
            priority: file.priority.into(),
        });
        Self {
            total: snapshot.files as usize,
            changeable: snapshot.is_download && !snapshot.activity.is_over(),
            files: files.collect(),
        }
    }
}

/// Requested priority of some files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriorityRequest {
    /// Positions among the files without padding.
    pub(super) files: Vec<u32>,
    pub(super) priority: PriorityName,
}

impl PriorityRequest {
    /// Refuses unknown files, a torrent that is only served, and an empty selection.
    pub(super) fn check(&self, torrent: &TorrentSnapshot) -> Result<(), Refusal> {
        let mut priorities: Vec<PriorityName> = torrent
            .detail
            .priorities
            .iter()
            .map(|priority| (*priority).into())
            .collect();
        if !torrent.is_download {
            return Err(Refusal::Conflict("only downloads have priorities".into()));
        }
        for file in &self.files {
            match priorities.get_mut(*file as usize) {
                Some(priority) => *priority = self.priority,
                None => return Err(Refusal::Invalid("there is no such file".into())),
            }
        }
        if priorities
            .iter()
            .all(|priority| *priority == PriorityName::Skip)
        {
            let reason = "at least one file must stay selected";
            return Err(Refusal::Invalid(reason.into()));
        }
        Ok(())
    }
}
