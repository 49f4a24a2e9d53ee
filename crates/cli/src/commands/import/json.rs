//! Output as JSON lines, as specified in docs/reference/json.md.

use std::num::NonZeroU32;
use std::path::Path;

use hashlane_api::{Priority, Target};
use hashlane_import::{Category, Imported, Start};
use hashlane_metainfo::masked_text;
use serde::Serialize;

use super::outcome::{Outcome, Totals, content_bytes};
use crate::Env;
use crate::output::json_lines::{self, PathText};

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'l> {
    Imported(Box<Torrent<'l>>),
    Category {
        /// Name of the category.
        name: &'l str,
        /// Folder for new torrents; null if the category has none of its own.
        folder: Option<String>,
        /// Share ratio at which seeding ends, `never`, or `inherited` from the settings of the program.
        seed_ratio: Target<f64>,
        /// Seconds of seeding, or a text as for `seed_ratio`.
        seed_seconds: Target<u64>,
        /// Seconds of seeding without peers, or a text as for `seed_ratio`.
        idle_seconds: Target<u64>,
    },
    Error {
        file: &'l str,
        message: String,
    },
    Summary {
        /// Whether nothing was written.
        dry_run: bool,
        /// Number of torrents that are new.
        new: u64,
        /// Number of torrents that the state folder has already.
        present: u64,
        /// Number of torrents that cannot be imported.
        failed: u64,
        /// Content of the new torrents whose length is known.
        content_bytes: u64,
        /// What cannot be carried over of any torrent, as text.
        notes: &'l [String],
    },
}

/// Returns the schema of the lines.
#[cfg(feature = "schema")]
pub(crate) fn schema() -> schemars::Schema {
    json_lines::schema_of::<Line<'_>>()
}

/// An imported torrent.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Torrent<'l> {
    /// `new`, or `present`: the state folder has the torrent, which stays as it is.
    outcome: &'static str,
    /// The file of the session, or the database and its row.
    file: String,
    /// The name in the program's list.
    name: String,
    /// 40 hexadecimal digits; null without version 1.
    info_hash_v1: Option<String>,
    /// 64 hexadecimal digits; null without version 2.
    info_hash_v2: Option<String>,
    /// Length of all files without padding; null for a magnet link.
    content_bytes: Option<u64>,
    #[serde(flatten)]
    content: PathText,
    /// Renamed files: `file` (integer: position among the files without padding, from 0), `path` (string: relative to
    /// the content) and, if it is not UTF-8, `path_hex`.
    renamed: Vec<Renamed>,
    /// `skip`, `low`, `normal` or `high` for each file without padding; null if all are normal.
    priorities: Option<&'l [Priority]>,
    /// The category.
    category: Option<&'l str>,
    /// Labels or tags.
    labels: &'l [String],
    /// Whether the torrent is paused.
    paused: bool,
    /// Whether the torrent runs without a turn in the queue.
    forced: bool,
    /// Whether pieces are requested in order.
    sequential: bool,
    /// Whether a piece of complete content is offered only after the previous piece has spread.
    super_seeding: bool,
    /// Download limit in bytes per second.
    max_down: Option<NonZeroU32>,
    /// Upload limit in bytes per second.
    max_up: Option<NonZeroU32>,
    /// Share ratio at which seeding ends, `never`, or `inherited` from the settings of the program.
    seed_ratio: Target<f64>,
    /// Seconds of seeding, or a text as for `seed_ratio`.
    seed_seconds: Target<u64>,
    /// Seconds of seeding without peers, or a text as for `seed_ratio`.
    idle_seconds: Target<u64>,
    /// Bytes that were sent.
    sent_bytes: u64,
    /// Bytes that were received.
    received_bytes: u64,
    /// When the torrent was added, in seconds since 1970-01-01 UTC.
    added: Option<u64>,
    /// When the content was complete, in seconds since 1970-01-01 UTC.
    completed: Option<u64>,
    /// Null if the program does not record it.
    seeding_seconds: Option<u64>,
    /// What cannot be carried over, as text.
    notes: &'l [String],
}

/// A renamed file.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Renamed {
    /// Position among the files without padding, from 0.
    file: usize,
    #[serde(flatten)]
    path: PathText,
}

pub(super) fn torrent(
    env: &mut Env,
    torrent: &Imported,
    notes: &[String],
    outcome: Outcome,
) -> anyhow::Result<()> {
    let info_hashes = torrent.source.info_hashes();
    let renamed = torrent.renamed.iter().map(|(file, path)| Renamed {
        file: *file,
        path: PathText::of_bytes(&path.to_bytes()),
    });
    let statistics = torrent.statistics;
    let line = Line::Imported(Box::new(Torrent {
        outcome: match outcome {
            Outcome::New => "new",
            Outcome::Present => "present",
        },
        file: text(&torrent.file),
        name: torrent.display_name(),
        info_hash_v1: info_hashes.v1().map(|hash| hash.to_string()),
        info_hash_v2: info_hashes.v2().map(|hash| hash.to_string()),
        content_bytes: content_bytes(torrent),
        content: PathText::of_bytes(torrent.content.as_os_str().as_encoded_bytes()),
        renamed: renamed.collect(),
        priorities: Some(&*torrent.priorities).filter(|priorities| !priorities.is_empty()),
        category: torrent.category.as_deref(),
        labels: &torrent.labels,
        paused: torrent.start == Start::Paused,
        forced: torrent.start == Start::Forced,
        sequential: torrent.is_sequential,
        super_seeding: torrent.is_super_seeding,
        max_down: torrent.rates.down,
        max_up: torrent.rates.up,
        seed_ratio: torrent.goal.ratio,
        seed_seconds: torrent.goal.time.map(|time| time.as_secs()),
        idle_seconds: torrent.goal.idle.map(|time| time.as_secs()),
        sent_bytes: statistics.sent_bytes,
        received_bytes: statistics.received_bytes,
        added: statistics.added,
        completed: statistics.completed,
        seeding_seconds: statistics.seeding_seconds,
        notes,
    }));
    json_lines::print(env, &line)
}

pub(super) fn category(env: &mut Env, category: &Category) -> anyhow::Result<()> {
    let line = Line::Category {
        name: &category.name,
        folder: category.folder.as_deref().map(text),
        seed_ratio: category.goal.ratio,
        seed_seconds: category.goal.time.map(|time| time.as_secs()),
        idle_seconds: category.goal.idle.map(|time| time.as_secs()),
    };
    json_lines::print(env, &line)
}

pub(super) fn failure(env: &mut Env, file: &str, message: &str) -> anyhow::Result<()> {
    let message = masked_text(message);
    json_lines::print(env, &Line::Error { file, message })
}

pub(super) fn summary(
    env: &mut Env,
    totals: &Totals,
    is_dry_run: bool,
    notes: &[String],
) -> anyhow::Result<()> {
    let line = Line::Summary {
        dry_run: is_dry_run,
        new: totals.new,
        present: totals.present,
        failed: totals.failed,
        content_bytes: totals.content_bytes,
        notes,
    };
    json_lines::print(env, &line)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
