//! Pieces that fail and contain bytes of several files (BEP 3). Such a piece cannot show which of its files is wrong.

use std::collections::HashMap;

use hashlane_verify::{FileReport, PieceState, Report};

use crate::output::text::count;

use super::outside::Verified;

/// Maximum number of files to name.
const MAX_NAMED: usize = 2;

/// The files of the pieces that fail, by piece.
pub(super) struct Sharing<'r>(HashMap<u32, Files<'r>>);

#[derive(Default)]
struct Files<'r> {
    /// Files that are absent, too short or unreadable.
    incomplete: Few<'r>,
    all: Few<'r>,
}

/// Some files: one more than are named, because the file that asks is not named, and the number of all.
#[derive(Default)]
struct Few<'r> {
    first: Vec<&'r FileReport>,
    n: u64,
}

impl<'r> Few<'r> {
    fn push(&mut self, file: &'r FileReport) {
        self.n += 1;
        if self.first.len() <= MAX_NAMED {
            self.first.push(file);
        }
    }
}

/// The pieces of one file that fail and are shared.
#[derive(Default)]
pub(super) struct Shared {
    /// Pieces that fail because another file is incomplete. They say nothing about this file.
    pub(super) undecided: Vec<PieceState>,
    /// The note about these pieces.
    pub(super) note: Option<String>,
    /// The note about pieces whose bytes are all present, and some are wrong.
    pub(super) bad_note: Option<String>,
}

impl<'r> Sharing<'r> {
    pub(super) fn of(report: &'r Report) -> Self {
        let mut by_piece: HashMap<u32, Files<'r>> = HashMap::new();
        for file in report.files() {
            for piece in ends_of(file) {
                if report.pieces()[piece as usize] != PieceState::Have {
                    let files = by_piece.entry(piece).or_default();
                    files.all.push(file);
                    if is_incomplete(file) {
                        files.incomplete.push(file);
                    }
                }
            }
        }
        Self(by_piece)
    }

    /// Returns the shared pieces of a file that fail.
    pub(super) fn of_file(&self, verified: &Verified<'_>, file: &FileReport) -> Shared {
        let mut shared = Shared::default();
        if is_incomplete(file) {
            return shared;
        }
        let (mut incomplete, mut bad) = (Vec::new(), Vec::new());
        for piece in ends_of(file) {
            let Some(files) = self.0.get(&piece) else {
                continue;
            };
            let state = verified.report.pieces()[piece as usize];
            match state {
                PieceState::Missing | PieceState::Unreadable if files.incomplete.n > 0 => {
                    shared.undecided.push(state);
                    incomplete.push(&files.incomplete);
                }
                PieceState::Bad if files.all.n > 1 => bad.push(&files.all),
                _ => {}
            }
        }
        let pieces = if incomplete.len() == 1 {
            "a piece"
        } else {
            "pieces"
        };
        shared.note = names(verified, file, &incomplete, 0)
            .map(|names| format!("cannot be judged: shares {pieces} with {names}"));
        let pieces = if bad.len() == 1 {
            "a bad piece"
        } else {
            "bad pieces"
        };
        shared.bad_note =
            names(verified, file, &bad, 1).map(|names| format!("shares {pieces} with {names}"));
        shared
    }
}

/// Returns the first and the last piece of a file. Only these can contain bytes of other files.
fn ends_of(file: &FileReport) -> impl Iterator<Item = u32> {
    let first = file.pieces.clone().next();
    let last = file.pieces.clone().next_back();
    first.into_iter().chain(last.filter(|_| last != first))
}

/// Returns `true` if bytes of the file could not be read, because they do not exist or the system failed.
fn is_incomplete(file: &FileReport) -> bool {
    file.error.is_some()
        || file
            .length_on_disk
            .is_none_or(|length| length < file.length)
}

/// Returns the names of the files of pieces without `file`, which is `n_own` (0 or 1) of the files of each piece, or nothing
/// if there are no others.
fn names(
    verified: &Verified<'_>,
    file: &FileReport,
    groups: &[&Few<'_>],
    n_own: u64,
) -> Option<String> {
    let torrent = verified.content.torrent();
    let files = groups.iter().flat_map(|group| &group.first);
    let others = files.filter(|other| other.index != file.index);
    let paths = others.map(|other: &&FileReport| torrent.file(other.index.get()).path());
    let mut names: Vec<String> = paths.map(|path| path.to_string()).collect();
    // One file can have bytes of both pieces only if `file` has no bytes.
    let n: u64 = groups.iter().map(|group| group.n - n_own).sum();
    names.truncate(MAX_NAMED);
    if n > names.len() as u64 {
        names.push(count(n - names.len() as u64, "other file"));
    }
    (!names.is_empty()).then(|| names.join(" and "))
}
