//! The report as JSON lines. docs/reference/json.md specifies it, and the tests in tests/it/json.rs check it.

use std::path::Path;

use hashlane_metainfo::{Naming, masked_text};
use hashlane_verify::{FileReport, PieceCounts, Report};
use serde::Serialize;

use crate::output::json_lines;
use crate::output::json_lines::{NameAndHashes, PathText};
use crate::{Env, links};

use super::around;
use super::outside::Verified;
use super::tally::Tally;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'l> {
    Torrent {
        torrent: &'l str,
        #[serde(flatten)]
        name: NameAndHashes,
        content: String,
        /// A file or folder that has the content.
        #[serde(skip_serializing_if = "Option::is_none")]
        candidate: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        named_by: Option<&'static str>,
        outside_folder: bool,
        total_bytes: u64,
        piece_length: u32,
        pieces: u32,
        files: usize,
        notes: Vec<String>,
    },
    File {
        torrent: &'l str,
        index: usize,
        #[serde(flatten)]
        path: PathText,
        /// A file that has the content of a missing one.
        #[serde(skip_serializing_if = "Option::is_none")]
        candidate: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        found_as: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        named_by: Option<&'static str>,
        state: &'static str,
        length: u64,
        length_on_disk: Option<u64>,
        extra_bytes: u64,
        zero_pieces: u32,
        first_piece: Option<u32>,
        pieces: Counts,
        pieces_v1: Option<Counts>,
        pieces_v2: Option<Counts>,
        #[serde(skip_serializing_if = "Option::is_none")]
        found_target: Option<String>,
        outside_folder: bool,
        error: Option<FileError>,
    },
    Extra {
        torrent: &'l str,
        #[serde(flatten)]
        path: PathText,
    },
    Pieces {
        torrent: &'l str,
        first: u32,
        count: u32,
        state: &'static str,
    },
    Summary {
        torrent: &'l str,
        complete: bool,
        cancelled: bool,
        pieces: Counts,
        checked_bytes: u64,
        have_bytes: u64,
        total_bytes: u64,
        elapsed_seconds: f64,
    },
    Total {
        torrents: u64,
        complete: u64,
        incomplete: u64,
        not_checked: u64,
        checked_bytes: u64,
        have_bytes: u64,
        total_bytes: u64,
        elapsed_seconds: f64,
    },
    Error {
        torrent: &'l str,
        message: String,
    },
}

#[derive(Serialize)]
struct Counts {
    total: u32,
    have: u32,
    bad: u32,
    unproven: u32,
    missing: u32,
    unreadable: u32,
    unchecked: u32,
}

impl From<PieceCounts> for Counts {
    fn from(counts: PieceCounts) -> Self {
        let PieceCounts {
            unchecked,
            have,
            bad,
            unproven,
            missing,
            unreadable,
        } = counts;
        Self {
            total: counts.total(),
            have,
            bad,
            unproven,
            missing,
            unreadable,
            unchecked,
        }
    }
}

#[derive(Serialize)]
struct FileError {
    offset: Option<u64>,
    message: String,
    os_error: Option<i32>,
}

/// Prints a verified torrent; with `extra`, also the files in its folder that it does not have.
pub(super) fn print(env: &mut Env, verified: &Verified<'_>, extra: bool) -> anyhow::Result<()> {
    let Verified {
        torrent_path,
        content,
        report,
        ..
    } = verified;
    let path = &*torrent_path.to_string_lossy();
    json_lines::print(env, &torrent_line(path, verified))?;
    for file in report.files() {
        json_lines::print(env, &file_line(path, verified, file))?;
    }
    print_pieces(env, path, report)?;
    if extra {
        around::for_each_extra(content, |file| {
            let line = Line::Extra {
                torrent: path,
                path: PathText::of_bytes(file.as_os_str().as_encoded_bytes()),
            };
            json_lines::print(env, &line)
        })?;
    }
    json_lines::print(
        env,
        &Line::Summary {
            torrent: path,
            complete: report.is_complete(),
            cancelled: report.is_cancelled(),
            pieces: report.counts().into(),
            checked_bytes: report.checked_bytes(),
            have_bytes: report.have_bytes(),
            total_bytes: report.total_bytes(),
            elapsed_seconds: report.elapsed().as_secs_f64(),
        },
    )
}

/// Prints the states of the pieces, with a line for each run of equal states.
fn print_pieces(env: &mut Env, path: &str, report: &Report) -> anyhow::Result<()> {
    let mut first = 0;
    for run in report.pieces().chunk_by(|a, b| a == b) {
        let count = run.len() as u32;
        json_lines::print(
            env,
            &Line::Pieces {
                torrent: path,
                first,
                count,
                state: run[0].name(),
            },
        )?;
        first += count;
    }
    Ok(())
}

pub(super) fn print_error(
    env: &mut Env,
    torrent: &Path,
    error: &anyhow::Error,
) -> anyhow::Result<()> {
    let torrent = &*links::without_secrets(torrent.display());
    json_lines::print(
        env,
        &Line::Error {
            torrent,
            message: masked_text(&format!("{error:#}")),
        },
    )
}

/// Prints the totals of several torrents.
pub(super) fn print_total(env: &mut Env, tally: &Tally) -> anyhow::Result<()> {
    let line = Line::Total {
        torrents: tally.n_torrents,
        complete: tally.n_complete,
        incomplete: tally.n_incomplete(),
        not_checked: tally.n_errors,
        checked_bytes: tally.checked_bytes,
        have_bytes: tally.have_bytes,
        total_bytes: tally.total_bytes,
        elapsed_seconds: tally.elapsed.as_secs_f64(),
    };
    json_lines::print(env, &line)
}

fn torrent_line<'l>(path: &'l str, verified: &Verified<'_>) -> Line<'l> {
    let Verified {
        content,
        report,
        outside,
        elsewhere,
        ..
    } = verified;
    let torrent = content.torrent();
    let lengths = torrent.lengths();
    Line::Torrent {
        torrent: path,
        name: NameAndHashes::of(torrent),
        content: content.root().to_string_lossy().into_owned(),
        candidate: elsewhere.root().map(|root| text_of(&root.path)),
        named_by: content.root_naming().map(Naming::program),
        outside_folder: outside.content,
        total_bytes: report.total_bytes(),
        piece_length: lengths.piece_length().get(),
        pieces: lengths.piece_count(),
        files: report.files().len(),
        notes: lengths
            .libtorrent_limit()
            .iter()
            .map(ToString::to_string)
            .collect(),
    }
}

fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn file_line<'l>(torrent: &'l str, verified: &Verified<'_>, file: &FileReport) -> Line<'l> {
    let Verified {
        content, report, ..
    } = verified;
    let error = file.error.as_ref().map(|error| FileError {
        offset: error.offset,
        message: error.error.to_string(),
        os_error: error.error.raw_os_error(),
    });
    let naming = content.naming_of(file.index);
    let found = naming.and_then(|_| content.path_of(file.index).ok());
    let below = |path: &Path| text_of(path.strip_prefix(content.root()).unwrap_or(path));
    Line::File {
        torrent,
        index: file.index.get(),
        path: PathText::of(content.torrent().file(file.index.get()).path()),
        candidate: verified.elsewhere.file(file.index).map(below),
        found_as: found.as_deref().map(below),
        named_by: naming.map(Naming::program),
        state: file.state.name(),
        length: file.length,
        length_on_disk: file.length_on_disk,
        extra_bytes: file.extra_bytes(),
        zero_pieces: file.zero_pieces,
        first_piece: (!file.pieces.is_empty()).then_some(file.pieces.start),
        pieces: file.counts.into(),
        pieces_v1: report.counts_v1(file).map(Counts::from),
        pieces_v2: report.counts_v2(file).map(Counts::from),
        found_target: file.found_target.as_deref().map(text_of),
        outside_folder: verified.outside.has(file.index),
        error,
    }
}
