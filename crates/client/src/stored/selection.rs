//! The files of a torrent that are selected for a download.

use std::ops::Range;

use hashlane_api::Priority;
use hashlane_files::Globs;
use hashlane_metainfo::{File, FileKind, FileSelection, Torrent};
use hashlane_verify::{FileIndex, HashVersions, Layout, files_of};

/// The files of a torrent that are selected for a download.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// An entry for each file except padding; empty for all files.
    pub(crate) files: Vec<bool>,
    /// The pieces of these files; empty for all pieces.
    pieces: Vec<bool>,
}

impl Selection {
    /// Selects files by patterns. Without patterns, selects the files that the magnet link names (BEP 53).
    pub(super) fn by_patterns(
        torrent: &Torrent,
        patterns: &Globs,
        of_link: Option<&FileSelection>,
    ) -> Self {
        Self::new(torrent, |index, file| match of_link {
            // A torrent has at most as many files as a u32 can count.
            Some(of_link) if patterns.is_empty() => of_link.contains(index.get() as u32),
            _ => patterns.is_match_or_inside(file.path().to_string()),
        })
    }

    /// Selects the files that have a priority. `priorities` has an entry for each file except padding.
    pub(crate) fn by_priorities(torrent: &Torrent, priorities: &[Priority]) -> Self {
        let mut priorities = priorities.iter();
        Self::new(torrent, |_, file| {
            file.kind() != FileKind::Padding
                && priorities
                    .next()
                    .is_some_and(|priority| *priority != Priority::Skip)
        })
    }

    /// Returns the selection without some of its files.
    pub(super) fn without(
        &self,
        torrent: &Torrent,
        is_left_out: impl Fn(FileIndex) -> bool,
    ) -> Self {
        let mut positions = 0..;
        Self::new(torrent, |index, file| {
            let position = (file.kind() != FileKind::Padding)
                .then(|| positions.next())
                .flatten();
            position.is_some_and(|position| self.has_file(position)) && !is_left_out(index)
        })
    }

    /// Calls `is_selected` for each file in order.
    fn new(torrent: &Torrent, mut is_selected: impl FnMut(FileIndex, File<'_>) -> bool) -> Self {
        let layout = Layout::new(torrent, HashVersions::of(torrent.version()));
        let mut selection = Self {
            files: Vec::new(),
            pieces: vec![false; torrent.lengths().piece_count() as usize],
        };
        for (index, file) in files_of(torrent) {
            let kind = file.kind();
            let is_selected = is_selected(index, file);
            if is_selected {
                for piece in layout.pieces_of(index) {
                    selection.pieces[piece as usize] = true;
                }
            }
            if kind != FileKind::Padding {
                selection.files.push(is_selected);
            }
        }
        selection
    }

    /// Returns `true` if the file at this position is selected. Padding has no position.
    pub(crate) fn has_file(&self, position: usize) -> bool {
        *self.files.get(position).unwrap_or(&true)
    }

    pub(super) fn has_piece(&self, piece: usize) -> bool {
        *self.pieces.get(piece).unwrap_or(&true)
    }

    pub(super) fn has_any(&self, mut pieces: Range<u32>) -> bool {
        pieces.any(|piece| self.has_piece(piece as usize))
    }

    /// Returns `true` if all selected pieces are present.
    pub(crate) fn is_complete(&self, have: &[bool]) -> bool {
        let mut have = have.iter().enumerate();
        have.all(|(piece, have)| *have || !self.has_piece(piece))
    }
}
