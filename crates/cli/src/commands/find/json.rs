//! The result as JSON lines. docs/reference/json.md specifies it, and the tests in tests/it/find.rs check it.

use std::path::Path;

use data_encoding::HEXLOWER;
use hashlane_find::{Candidates, FileMatch, Findings, Undecided};
use hashlane_metainfo::masked_text;
use hashlane_verify::FileIndex;
use serde::Serialize;

use crate::output::json_lines::{self, NameAndHashes, PathText};
use crate::{Env, links};

use super::searched::Searched;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'l> {
    Torrent {
        /// Path of the .torrent file, as given.
        torrent: &'l str,
        /// The torrent's name.
        #[serde(flatten)]
        name: NameAndHashes,
        /// Whether each file was found.
        identified: bool,
        /// Whether all bytes are right; null without `--full`.
        complete: Option<bool>,
        /// The path that has all files with their names below it; null if a file has another name, or was not found.
        content: Option<String>,
        /// The bytes of `content` in hexadecimal; present only if they are not UTF-8.
        #[serde(skip_serializing_if = "Option::is_none")]
        content_hex: Option<String>,
        /// Number of pieces that were compared and are right.
        right_pieces: u32,
        /// Number of pieces.
        pieces: u32,
        /// Bytes of the files that were not found.
        missing_bytes: u64,
        /// Bytes of the pieces that a client needs to complete the torrent: with `--full` of all that are wrong or
        /// missing, without it of those with bytes of files that were not found.
        needed_bytes: u64,
        /// Number of names that were made; only with `--link`.
        #[serde(skip_serializing_if = "Option::is_none")]
        linked: Option<u64>,
    },
    File {
        /// Path of the .torrent file, as given.
        torrent: &'l str,
        /// Position in the torrent's list, which includes padding.
        index: usize,
        /// Path relative to `content`, with `/`; the name for a single-file torrent.
        #[serde(flatten)]
        path: PathText,
        /// Expected length, from the torrent.
        length: u64,
        /// `identified`, `partial`, `empty`, `missing` (no file has its length), `wrong` (none of its length has its
        /// bytes) or `undecided`.
        state: &'static str,
        /// Path of the file that was found, whole or damaged.
        found_at: Option<String>,
        /// The bytes of `found_at` in hexadecimal; present only if they are not UTF-8.
        #[serde(skip_serializing_if = "Option::is_none")]
        found_at_hex: Option<String>,
        /// Other files that fit equally.
        copies: Vec<String>,
        /// The bytes of all `copies` in hexadecimal; present only if those of one are not UTF-8.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        copies_hex: Vec<String>,
        /// Number of right pieces, if `state` is `partial`.
        right_pieces: Option<u32>,
        /// Number of pieces that were compared, if `state` is `partial`.
        checked_pieces: Option<u32>,
        /// If `state` is `undecided`: `neighbour` (a file of the same piece was not found), `shared` (no combination
        /// for its pieces is right), `whole_file_hash`, `unreadable` or `too_many`.
        reason: Option<&'static str>,
        /// A file that has the name of a missing one, and is longer; absent if there is none.
        #[serde(skip_serializing_if = "Option::is_none")]
        longer: Option<String>,
        /// Index of the file that was not found, if the reason is `neighbour`.
        neighbour: Option<usize>,
        /// The files that the new file at `found_at` was made of; only if it was made by `--merge`.
        #[serde(skip_serializing_if = "Option::is_none")]
        merged_from: Option<Vec<String>>,
        /// Bytes of the new file in pieces that no copy has; only if it was made by `--merge`.
        #[serde(skip_serializing_if = "Option::is_none")]
        unproven_bytes: Option<u64>,
    },
    Summary {
        /// Number of files below the folders.
        files_seen: u64,
        /// Number of files with the length of a wanted file.
        candidates: usize,
        /// Number of files that were found for more than one torrent.
        shared_files: u64,
        /// Number of pieces that were hashed, without `--full`.
        hashed_pieces: u64,
        /// Number of bytes that were read and hashed, without `--full`.
        hashed_bytes: u64,
    },
    Error {
        /// Path of the .torrent file, as given.
        torrent: &'l str,
        message: String,
    },
}

/// Returns the schema of the lines.
#[cfg(feature = "schema")]
pub(crate) fn schema() -> schemars::Schema {
    json_lines::schema_of::<Line<'_>>()
}

pub(super) fn print(
    env: &mut Env,
    searched: &Searched<'_>,
    candidates: &Candidates,
) -> anyhow::Result<()> {
    let Searched {
        torrent,
        found,
        linked,
        ..
    } = searched;
    let path = &*searched.path.to_string_lossy();
    let content = found.content(torrent, candidates);
    let line = Line::Torrent {
        torrent: path,
        name: NameAndHashes::of(torrent),
        identified: found.is_identified(),
        complete: searched.is_complete(),
        content_hex: content.as_deref().and_then(hex_of),
        content: content.map(|path| path.to_string_lossy().into_owned()),
        right_pieces: found.right_pieces,
        pieces: found.pieces,
        missing_bytes: found.missing_bytes(torrent),
        needed_bytes: searched.needed_bytes(),
        linked: linked.as_ref().map(|linked| linked.n_made),
    };
    json_lines::print(env, &line)?;
    for (index, file) in found.files.iter().enumerate() {
        if *file != FileMatch::NotSearched {
            json_lines::print(env, &file_line(path, searched, index, file, candidates))?;
        }
    }
    Ok(())
}

fn file_line<'l>(
    path: &'l str,
    searched: &Searched<'_>,
    index: usize,
    file: &FileMatch,
    candidates: &Candidates,
) -> Line<'l> {
    let shown = |candidate: u32| candidates.path(candidate).to_string_lossy().into_owned();
    let (state, reason) = match file {
        FileMatch::Identified(_) => ("identified", None),
        FileMatch::Partial { .. } => ("partial", None),
        FileMatch::Empty => ("empty", None),
        FileMatch::Wrong { .. } => ("wrong", None),
        FileMatch::Undecided(Undecided::Neighbour(_)) => ("undecided", Some("neighbour")),
        FileMatch::Undecided(Undecided::WholeFileHash) => ("undecided", Some("whole_file_hash")),
        FileMatch::Undecided(Undecided::Shared) => ("undecided", Some("shared")),
        FileMatch::Undecided(Undecided::Unreadable) => ("undecided", Some("unreadable")),
        FileMatch::Undecided(_) => ("undecided", Some("too_many")),
        _ => ("missing", None),
    };
    let others: &[u32] = match file {
        FileMatch::Identified(place) => &place.others,
        _ => &[],
    };
    let copies = others.iter().copied().map(shown).collect();
    let (right_pieces, checked_pieces) = match file {
        FileMatch::Partial { right, checked, .. } => (Some(*right), Some(*checked)),
        _ => (None, None),
    };
    let described = searched.torrent.file(index);
    let merged = searched.merged(FileIndex::new(index));
    Line::File {
        torrent: path,
        index,
        path: PathText::of(described.path()),
        length: described.length(),
        state,
        found_at: file.candidate().map(shown),
        found_at_hex: file
            .candidate()
            .and_then(|candidate| hex_of(candidates.path(candidate))),
        copies_hex: if others
            .iter()
            .any(|other| hex_of(candidates.path(*other)).is_some())
        {
            others
                .iter()
                .map(|other| hex(candidates.path(*other)))
                .collect()
        } else {
            Vec::new()
        },
        copies,
        right_pieces,
        checked_pieces,
        reason,
        longer: candidates
            .longer(described)
            .filter(|_| *file == FileMatch::Missing)
            .map(|(path, _)| path.to_string_lossy().into_owned()),
        neighbour: match file {
            FileMatch::Undecided(Undecided::Neighbour(neighbour)) => Some(neighbour.get()),
            _ => None,
        },
        merged_from: merged.map(|merged| merged.sources.iter().copied().map(shown).collect()),
        unproven_bytes: merged.map(|merged| merged.unproven_bytes),
    }
}

/// Returns the bytes of a path in hexadecimal if they are not UTF-8.
fn hex_of(path: &Path) -> Option<String> {
    path.to_str().is_none().then(|| hex(path))
}

fn hex(path: &Path) -> String {
    HEXLOWER.encode(path.as_os_str().as_encoded_bytes())
}

pub(super) fn print_summary(
    env: &mut Env,
    candidates: &Candidates,
    findings: &Findings,
) -> anyhow::Result<()> {
    let line = Line::Summary {
        files_seen: candidates.seen(),
        candidates: candidates.len(),
        shared_files: findings.shared_files(),
        hashed_pieces: findings.hashed_pieces,
        hashed_bytes: findings.hashed_bytes,
    };
    json_lines::print(env, &line)
}

pub(super) fn print_error(env: &mut Env, path: &Path, message: &str) -> anyhow::Result<()> {
    let line = Line::Error {
        torrent: &links::without_secrets(path.display()),
        message: masked_text(message),
    };
    json_lines::print(env, &line)
}
