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
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'l> {
    Imported(Box<Torrent<'l>>),
    Category {
        name: &'l str,
        folder: Option<String>,
    },
    Error {
        file: &'l str,
        message: String,
    },
    Summary {
        dry_run: bool,
        new: u64,
        present: u64,
        failed: u64,
        content_bytes: u64,
        notes: &'l [String],
    },
}

/// An imported torrent.
#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Torrent<'l> {
    outcome: &'static str,
    file: String,
    name: String,
    info_hash_v1: Option<String>,
    info_hash_v2: Option<String>,
    content_bytes: Option<u64>,
    #[serde(flatten)]
    content: PathText,
    renamed: Vec<Renamed>,
    priorities: Option<&'l [Priority]>,
    category: Option<&'l str>,
    labels: &'l [String],
    paused: bool,
    forced: bool,
    sequential: bool,
    super_seeding: bool,
    max_down: Option<NonZeroU32>,
    max_up: Option<NonZeroU32>,
    seed_ratio: Target<f64>,
    seed_seconds: Target<u64>,
    idle_seconds: Target<u64>,
    sent_bytes: u64,
    received_bytes: u64,
    added: Option<u64>,
    completed: Option<u64>,
    seeding_seconds: Option<u64>,
    notes: &'l [String],
}

/// A renamed file.
#[derive(Serialize)]
struct Renamed {
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
