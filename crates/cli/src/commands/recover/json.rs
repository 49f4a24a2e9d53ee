//! `--json`: one object per line, see docs/reference/json.md.

#![allow(clippy::cast_precision_loss, reason = "JSON has no larger integers")]

use hashlane_base58::{Address, Gap, Hit, Mismatch};
use hashlane_recover::{Answer, Count};
use serde::Serialize;

use crate::Env;
use crate::output::json_lines;

use super::plan::PlannedSearch;
use super::recovered::Report;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'l> {
    Hit {
        text: &'l str,
        kind: &'l str,
        edits: u32,
        addresses: Vec<AddressLine>,
    },
    /// A string whose checksum is correct as given.
    Intact {
        text: &'l str,
        kind: &'l str,
        addresses: Vec<AddressLine>,
    },
    Estimate {
        case: bool,
        glyphs: bool,
        errors: u8,
        #[serde(skip_serializing_if = "Option::is_none")]
        gap: Option<&'static str>,
        kinds: &'l [String],
        /// Rounded to a number that JSON can hold.
        candidates: f64,
        hashes: f64,
        remaining_hashes: f64,
        accidental_hits: f64,
        threads: usize,
        kernel: String,
        hashes_per_second: f64,
        seconds: f64,
        lower_bound: bool,
        /// The limit that prevents the search.
        #[serde(skip_serializing_if = "Option::is_none")]
        refused: Option<&'l str>,
    },
    /// A reason why an estimate has no searches.
    NoSearch {
        reason: &'l str,
    },
    Summary {
        /// The hits, sorted by number of edits.
        hits: Vec<&'l str>,
        other_hits: u64,
        complete: bool,
        kinds: &'l [String],
        candidates: f64,
        accidental_hits: f64,
        hashes: u64,
        threads: usize,
        kernel: String,
        elapsed_seconds: f64,
        tried: Vec<TriedLine>,
        suggestions: Vec<SuggestionLine<'l>>,
    },
    /// A reason why the string fits a kind nowhere.
    Contradiction {
        kind: &'l str,
        reason: String,
    },
    /// The result for a text that is not Base58Check.
    Repair {
        kind: &'l str,
        intact: bool,
        hits: Vec<RepairedLine<'l>>,
        other_hits: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        errors: Option<u8>,
        candidates: f64,
        accidental_hits: f64,
    },
    /// The size of the search for a text that is not Base58Check.
    Count {
        kind: &'l str,
        errors: u8,
        candidates: f64,
        accidental_hits: f64,
    },
    Error {
        message: &'l str,
    },
}

/// A possible original of a damaged text.
#[derive(Serialize)]
struct RepairedLine<'l> {
    text: &'l str,
    kind: &'l str,
    edits: u32,
    changed: &'l [usize],
}

/// An address that a private key owns.
#[derive(Serialize)]
struct AddressLine {
    script: &'static str,
    text: String,
}

/// A search that was made.
#[derive(Serialize)]
struct TriedLine {
    case: bool,
    glyphs: bool,
    errors: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<&'static str>,
    hashes: u64,
    seconds: f64,
    complete: bool,
}

/// A search that was not made.
#[derive(Serialize)]
struct SuggestionLine<'l> {
    change: &'l str,
    seconds: f64,
    accidental_hits: f64,
}

/// Returns the place of a gap, or `None` if there is none.
fn gap(gap: Gap) -> Option<&'static str> {
    match gap {
        Gap::None => None,
        Gap::End => Some("end"),
        Gap::Start => Some("start"),
        Gap::Inside => Some("inside"),
    }
}

pub(super) fn print_hit(env: &mut Env, hit: &Hit) -> anyhow::Result<()> {
    let line = Line::Hit {
        text: &hit.text,
        kind: &hit.kind,
        edits: hit.edits,
        addresses: addresses(hit),
    };
    json_lines::print(env, &line)?;
    Ok(env.stdout.flush()?)
}

pub(super) fn print_intact(env: &mut Env, hit: &Hit) -> anyhow::Result<()> {
    let line = Line::Intact {
        text: &hit.text,
        kind: &hit.kind,
        addresses: addresses(hit),
    };
    json_lines::print(env, &line)
}

fn addresses(hit: &Hit) -> Vec<AddressLine> {
    let addresses = hit.addresses().into_iter();
    let line = |Address { script, text, .. }| AddressLine { script, text };
    addresses.map(line).collect()
}

pub(super) fn print_estimate(
    env: &mut Env,
    plan: &PlannedSearch<'_>,
    refused: Option<&str>,
) -> anyhow::Result<()> {
    let PlannedSearch {
        damage, estimate, ..
    } = plan;
    let line = Line::Estimate {
        case: damage.case,
        glyphs: damage.glyphs,
        errors: damage.errors,
        gap: gap(damage.gap),
        kinds: &estimate.kinds,
        candidates: estimate.candidates as f64,
        hashes: estimate.hashes,
        remaining_hashes: plan.remaining_hashes,
        accidental_hits: estimate.accidental_hits,
        threads: plan.backend.n_workers().get(),
        kernel: plan.backend.name(),
        hashes_per_second: plan.backend.total_hashes_per_second()
            / plan.backend.n_workers().get() as f64,
        seconds: plan.seconds,
        lower_bound: estimate.is_lower_bound,
        refused,
    };
    json_lines::print(env, &line)
}

pub(super) fn print_no_search(env: &mut Env, reason: &str) -> anyhow::Result<()> {
    json_lines::print(env, &Line::NoSearch { reason })
}

pub(super) fn print_summary(env: &mut Env, report: &Report<'_>) -> anyhow::Result<()> {
    let Report {
        plan, recovered, ..
    } = report;
    let tried = report.tried.iter().map(|tried| TriedLine {
        case: tried.damage.case,
        glyphs: tried.damage.glyphs,
        errors: tried.damage.errors,
        gap: gap(tried.damage.gap),
        hashes: tried.hashes,
        seconds: tried.seconds,
        complete: tried.is_complete,
    });
    let suggestions = report.suggestions.iter();
    let suggestions = suggestions.map(|suggestion| SuggestionLine {
        change: &suggestion.change,
        seconds: suggestion.seconds,
        accidental_hits: suggestion.accidental_hits,
    });
    let outcome = &recovered.outcome;
    let estimate = &plan.estimate;
    let line = Line::Summary {
        hits: recovered.hits.iter().map(|hit| hit.text.as_str()).collect(),
        other_hits: outcome.n_rejected,
        complete: report.is_complete(),
        kinds: &estimate.kinds,
        candidates: estimate.candidates as f64,
        accidental_hits: estimate.accidental_hits,
        hashes: outcome.progress.hashes,
        threads: plan.backend.n_workers().get(),
        kernel: plan.backend.name(),
        elapsed_seconds: outcome.elapsed.as_secs_f64(),
        tried: tried.collect(),
        suggestions: suggestions.collect(),
    };
    json_lines::print(env, &line)
}

pub(super) fn print_mismatch(env: &mut Env, mismatch: &Mismatch) -> anyhow::Result<()> {
    let line = Line::Contradiction {
        kind: &mismatch.kind,
        reason: mismatch.to_string(),
    };
    json_lines::print(env, &line)
}

pub(super) fn print_repair(env: &mut Env, answer: &Answer) -> anyhow::Result<()> {
    let hits = answer.hits.iter().map(|hit| RepairedLine {
        text: &hit.text,
        kind: &hit.what,
        edits: hit.edits,
        changed: &hit.changed,
    });
    let line = Line::Repair {
        kind: &answer.what,
        intact: answer.is_intact,
        hits: hits.collect(),
        other_hits: answer.n_rejected,
        errors: answer.errors,
        candidates: answer.count.candidates,
        accidental_hits: answer.count.accidental_hits,
    };
    json_lines::print(env, &line)
}

pub(super) fn print_count(
    env: &mut Env,
    kind: &str,
    errors: u8,
    count: Count,
) -> anyhow::Result<()> {
    let line = Line::Count {
        kind,
        errors,
        candidates: count.candidates,
        accidental_hits: count.accidental_hits,
    };
    json_lines::print(env, &line)
}

pub(super) fn print_error(env: &mut Env, message: &str) -> anyhow::Result<()> {
    json_lines::print(env, &Line::Error { message })
}
