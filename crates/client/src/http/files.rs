//! The files of a torrent, and their priorities.

use axum::http::StatusCode;
use hashlane_swarm::Priority;
use serde::{Deserialize, Serialize};

use crate::handle::TorrentHandle;
use crate::snapshot::TorrentSnapshot;

/// Maximum number of files in an answer.
const MAX_FILES: usize = 500;

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
    /// Returns the files of a torrent from this position on, or no files while its metadata is unknown.
    pub(super) fn of(torrent: &TorrentHandle, from: usize) -> Self {
        let files = torrent.files_in(from..from.saturating_add(MAX_FILES));
        let snapshot = torrent.snapshot();
        let files = files.into_iter().map(|file| FileView {
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
    pub(super) fn check(
        &self,
        torrent: &TorrentSnapshot,
    ) -> Result<(), (StatusCode, &'static str)> {
        let mut priorities: Vec<PriorityName> = torrent
            .detail
            .priorities
            .iter()
            .map(|priority| (*priority).into())
            .collect();
        if !torrent.is_download {
            return Err((StatusCode::CONFLICT, "only downloads have priorities\n"));
        }
        for file in &self.files {
            match priorities.get_mut(*file as usize) {
                Some(priority) => *priority = self.priority,
                None => return Err((StatusCode::UNPROCESSABLE_ENTITY, "there is no such file\n")),
            }
        }
        if priorities
            .iter()
            .all(|priority| *priority == PriorityName::Skip)
        {
            let reason = "at least one file must stay selected\n";
            return Err((StatusCode::UNPROCESSABLE_ENTITY, reason));
        }
        Ok(())
    }
}
