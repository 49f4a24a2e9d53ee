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
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'l> {
    Torrent {
        torrent: &'l str,
        #[serde(flatten)]
        name: NameAndHashes,
        identified: bool,
        complete: Option<bool>,
        content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        content_hex: Option<String>,
        right_pieces: u32,
        pieces: u32,
        missing_bytes: u64,
        needed_bytes: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        linked: Option<u64>,
    },
    File {
        torrent: &'l str,
        index: usize,
        #[serde(flatten)]
        path: PathText,
        length: u64,
        state: &'static str,
        found_at: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        found_at_hex: Option<String>,
        copies: Vec<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        copies_hex: Vec<String>,
        right_pieces: Option<u32>,
        checked_pieces: Option<u32>,
        reason: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        longer: Option<String>,
        neighbour: Option<usize>,
        #[serde(skip_serializing_if = "Option::is_none")]
        merged_from: Option<Vec<String>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        unproven_bytes: Option<u64>,
    },
    Summary {
        files_seen: u64,
        candidates: usize,
        shared_files: u64,
        hashed_pieces: u64,
        hashed_bytes: u64,
    },
    Error {
        torrent: &'l str,
        message: String,
    },
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
