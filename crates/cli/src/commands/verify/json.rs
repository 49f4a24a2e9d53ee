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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'l> {
    Torrent {
        /// Path of the .torrent file, as given.
        torrent: &'l str,
        /// The torrent's name.
        #[serde(flatten)]
        name: NameAndHashes,
        /// The file or folder that is verified.
        content: String,
        /// A file, or a folder of files, that has the content under another name: one piece of it is right; otherwise
        /// absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        candidate: Option<String>,
        /// Program whose name for the content is used instead of the torrent's: `libtorrent`, `Transmission` (4.1 or
        /// later), `Transmission 4.0` or `Transmission 3`; otherwise absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        named_by: Option<&'static str>,
        /// Whether the content is a symbolic link out of its folder, which `get` refuses.
        outside_folder: bool,
        /// Total length of all files.
        total_bytes: u64,
        /// Length of every piece except the last.
        piece_length: u32,
        /// Number of pieces.
        pieces: u32,
        /// Number of files, without padding.
        files: usize,
        /// Limits of libtorrent that the torrent exceeds, as text: libtorrent does not load such a torrent.
        notes: Vec<String>,
    },
    File {
        /// Path of the .torrent file, as given.
        torrent: &'l str,
        /// Position in the torrent's list, which includes padding.
        index: usize,
        /// Path relative to `content`, with `/`; the name for a single-file torrent.
        #[serde(flatten)]
        path: PathText,
        /// For a missing file: path relative to `content` of a file with another name that has its length, and one
        /// right piece; otherwise absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        candidate: Option<String>,
        /// Path relative to `content`, if the file has the name that another program writes; otherwise absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        found_as: Option<String>,
        /// Program whose name the file has; otherwise absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        named_by: Option<&'static str>,
        /// `whole`, `incomplete`, `missing`, `unreadable` or `unchecked`; for a symbolic link, `link` (correct), `wrong
        /// link`, `missing`, `unreadable` or `unchecked`.
        state: &'static str,
        /// Expected length, from the torrent.
        length: u64,
        /// Actual length; null if the file does not exist.
        length_on_disk: Option<u64>,
        /// Number of bytes on disk beyond the expected length.
        extra_bytes: u64,
        /// Number of missing pieces whose bytes on disk are all zeros; 0 if the file is too short.
        zero_pieces: u32,
        /// Index of the first piece that contains bytes of the file; null for an empty file.
        first_piece: Option<u32>,
        /// The pieces that contain bytes of the file; a piece at either end may be shared with the next file.
        pieces: Counts,
        /// The same pieces checked by version 1 alone; null if version 1 was not checked.
        pieces_v1: Option<Counts>,
        /// The same pieces checked by version 2 alone; null if version 2 was not checked.
        pieces_v2: Option<Counts>,
        /// Actual target of a symbolic link; present only if it is wrong.
        #[serde(skip_serializing_if = "Option::is_none")]
        found_target: Option<String>,
        /// Whether a symbolic link out of the folder leads to the file; `seed` and `get` refuse it.
        outside_folder: bool,
        /// The first error that the system reported.
        error: Option<FileError>,
    },
    Extra {
        /// Path of the .torrent file, as given.
        torrent: &'l str,
        #[serde(flatten)]
        path: PathText,
    },
    Pieces {
        /// Path of the .torrent file, as given.
        torrent: &'l str,
        /// Index of the first piece.
        first: u32,
        /// Number of pieces.
        count: u32,
        /// `have`, `bad`, `unproven`, `missing`, `unreadable` or `unchecked`.
        state: &'static str,
    },
    Summary {
        /// Path of the .torrent file, as given.
        torrent: &'l str,
        /// Whether all content is present and correct.
        complete: bool,
        /// Whether the verification ended early; some pieces are unchecked, and the exit status is 2.
        cancelled: bool,
        /// All pieces.
        pieces: Counts,
        /// Bytes of the pieces whose state is known; includes padding if version 1 is checked.
        checked_bytes: u64,
        /// Bytes of files in the pieces that are present and correct.
        have_bytes: u64,
        /// Total length of all files.
        total_bytes: u64,
        /// Elapsed time, without reading the torrent; with several torrents, since their common run began.
        elapsed_seconds: f64,
    },
    Total {
        /// Number of torrents.
        torrents: u64,
        /// Number of torrents whose content is complete.
        complete: u64,
        /// Number of torrents whose content is incomplete.
        incomplete: u64,
        /// Number of torrents that could not be checked.
        not_checked: u64,
        /// Sum over the summaries.
        checked_bytes: u64,
        /// Sum over the summaries.
        have_bytes: u64,
        /// Sum over the summaries.
        total_bytes: u64,
        /// Elapsed time of all runs.
        elapsed_seconds: f64,
    },
    Error {
        /// Path of the .torrent file, as given.
        torrent: &'l str,
        /// The problem, with the file and the reason.
        message: String,
    },
}

/// Returns the schema of the lines.
#[cfg(feature = "schema")]
pub(crate) fn schema() -> schemars::Schema {
    json_lines::schema_of::<Line<'_>>()
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Counts {
    /// Number of pieces.
    total: u32,
    /// Number of pieces that are present and correct.
    have: u32,
    /// Number of pieces with wrong bytes.
    bad: u32,
    /// Number of pieces whose bytes no hash of the torrent proves alone.
    unproven: u32,
    /// Number of pieces of missing files, or beyond the end of files.
    missing: u32,
    /// Number of pieces that could not be read.
    unreadable: u32,
    /// Number of pieces that were not checked.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FileError {
    /// The position in the file; null if the file could not be opened.
    offset: Option<u64>,
    /// The reason.
    message: String,
    /// The system's error number.
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
