//! The result as JSON lines. docs/reference/json.md specifies it, and the tests in tests/program/find.rs check it.

use std::path::Path;

use hashlane_find::{Candidates, FileMatch, Findings, Undecided};
use hashlane_metainfo::masked_text;
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
        right_pieces: u32,
        pieces: u32,
        missing_bytes: u64,
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
        copies: Vec<String>,
        right_pieces: Option<u32>,
        checked_pieces: Option<u32>,
        reason: Option<&'static str>,
        neighbour: Option<usize>,
    },
    Summary {
        files_seen: u64,
        candidates: usize,
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
    let line = Line::Torrent {
        torrent: path,
        name: NameAndHashes::of(torrent),
        identified: found.is_identified(),
        complete: searched.is_complete(),
        content: found
            .content(torrent, candidates)
            .map(|path| path.to_string_lossy().into_owned()),
        right_pieces: found.right_pieces,
        pieces: found.pieces,
        missing_bytes: found.missing_bytes(torrent),
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
    let copies = match file {
        FileMatch::Identified(place) => place.others.iter().copied().map(shown).collect(),
        _ => Vec::new(),
    };
    let (right_pieces, checked_pieces) = match file {
        FileMatch::Partial { right, checked, .. } => (Some(*right), Some(*checked)),
        _ => (None, None),
    };
    let described = searched.torrent.file(index);
    Line::File {
        torrent: path,
        index,
        path: PathText::of(described.path()),
        length: described.length(),
        state,
        found_at: file.candidate().map(shown),
        copies,
        right_pieces,
        checked_pieces,
        reason,
        neighbour: match file {
            FileMatch::Undecided(Undecided::Neighbour(neighbour)) => Some(neighbour.get()),
            _ => None,
        },
    }
}

pub(super) fn print_summary(
    env: &mut Env,
    candidates: &Candidates,
    findings: &Findings,
) -> anyhow::Result<()> {
    let line = Line::Summary {
        files_seen: candidates.seen(),
        candidates: candidates.len(),
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
