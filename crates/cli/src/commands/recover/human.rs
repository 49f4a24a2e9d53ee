//! Text output: hits go to the standard output, and all other text to the standard error stream.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "some digits are shown"
)]

use std::io::Write;

use hashlane_base58::{Damage, Hit, Kind, Mismatch, Reason, Search, SearchBackend};

use crate::Env;
use crate::output::text::{Duration, Grouped, count};

use super::damage::InWords;
use super::json;
use super::plan::PlannedSearch;
use super::recovered::{Recovered, Report, Suggestion};

/// Prints the cost of a search. `refusal` is the reason if a limit refuses it.
pub(super) fn print_estimate(
    env: &mut Env,
    plan: &PlannedSearch<'_>,
    refusal: Option<&str>,
) -> anyhow::Result<()> {
    let estimate = &plan.estimate;
    let out = &mut env.stdout;
    let bound = plan.bound();
    writeln!(out, "  kinds        {}", estimate.kinds.join(", "))?;
    let candidates = large(estimate.candidates as f64);
    writeln!(out, "  candidates   {bound}{candidates}")?;
    writeln!(out, "  hashes       {bound}{}", large(estimate.hashes))?;
    if plan.units.is_some() {
        let percent = 100.0 * plan.remaining_hashes / estimate.hashes.max(f64::MIN_POSITIVE);
        let hashes = large(plan.remaining_hashes);
        writeln!(out, "  remaining    {hashes} hashes, {percent:.1} %")?;
    }
    writeln!(
        out,
        "  time         {bound}{} with {}",
        Duration(plan.seconds),
        speed(plan.backend)
    )?;
    writeln!(
        out,
        "  by accident  {bound}{} hits are to be expected",
        odds(estimate.accidental_hits)
    )?;
    if let Some(refusal) = refusal {
        writeln!(out, "  not started  {refusal}")?;
    }
    Ok(())
}

/// Prints the costs of several searches. They follow each other until one has a hit or `limit` is over.
pub(super) fn print_estimates(
    env: &mut Env,
    plans: &[PlannedSearch<'_>],
    limit: std::time::Duration,
) -> anyhow::Result<()> {
    let limit = Duration(limit.as_secs_f64());
    let out = &mut env.stdout;
    writeln!(out, "Searches until the first hit, within {limit}:")?;
    for plan in plans {
        writeln!(out, "  {}", InWords(plan.damage))?;
        writeln!(
            out,
            "    {bound}{}, {}, {} accidental hits",
            match plan.estimate.candidates {
                1 => "1 candidate".to_owned(),
                n => format!("{} candidates", large(n as f64)),
            },
            Duration(plan.seconds),
            odds(plan.estimate.accidental_hits),
            bound = plan.bound(),
        )?;
    }
    let seconds = Duration(plans.iter().map(|plan| plan.seconds).sum());
    if let Some(plan) = plans.first() {
        writeln!(out, "Together {seconds} with {}", speed(plan.backend))?;
    }
    Ok(())
}

/// Prints why a string needs no search.
pub(super) fn print_no_search(env: &mut Env, reason: &str, is_json: bool) -> anyhow::Result<()> {
    if is_json {
        return json::print_no_search(env, reason);
    }
    writeln!(env.stdout, "no search is needed: {reason}")?;
    Ok(())
}

/// Returns the number of threads and their speed together.
fn speed(backend: &dyn SearchBackend) -> String {
    format!(
        "{}, {:.1} million hashes per second ({})",
        count(backend.n_workers().get() as u64, "thread"),
        backend.total_hashes_per_second() / 1e6,
        backend.name()
    )
}

pub(super) fn print_hit(env: &mut Env, hit: &Hit, is_quiet: bool) -> anyhow::Result<()> {
    print(env, hit, &edits(hit.edits), is_quiet)
}

/// Returns the remark on the number of characters that a hit changes: none if it only fills in unknown ones.
pub(super) fn edits(n: u32) -> String {
    match n {
        0 => String::new(),
        n => format!(", {}", count(n.into(), "edit")),
    }
}

pub(super) fn print_intact(env: &mut Env, hit: &Hit, is_quiet: bool) -> anyhow::Result<()> {
    print(env, hit, ", intact", is_quiet)
}

/// Prints a hit, with its kind, a remark and the addresses that it owns unless `is_quiet`.
fn print(env: &mut Env, hit: &Hit, remark: &str, is_quiet: bool) -> anyhow::Result<()> {
    let text = hit.text.as_str();
    if is_quiet {
        writeln!(env.stdout, "{text}")?;
    } else {
        let kind = Kind::named(&hit.kind).map_or(hit.kind.clone(), |kind| kind.description.into());
        writeln!(env.stdout, "{text}  ({kind}{remark})")?;
        for address in hit.addresses() {
            let script = address.script.to_ascii_uppercase();
            writeln!(env.stdout, "  {}  ({script})", address.text)?;
        }
    }
    Ok(env.stdout.flush()?)
}

pub(super) fn print_summary(env: &mut Env, report: &Report<'_>) -> anyhow::Result<()> {
    let plan = report.plan;
    let Recovered { hits, outcome, .. } = report.recovered;
    let estimate = &plan.estimate;
    env.stdout.flush()?;
    let seconds = outcome.elapsed.as_secs_f64();
    let hashes = outcome.progress.hashes;
    let err = &mut env.stderr;
    write!(
        err,
        "{} of {}{} candidates, {} hashes in {}, {:.1} million per second with {} ({})",
        count(hits.len() as u64, "hit"),
        plan.bound(),
        large(estimate.candidates as f64),
        Grouped(hashes),
        Duration(seconds),
        hashes as f64 / seconds.max(f64::EPSILON) / 1e6,
        count(plan.backend.n_workers().get() as u64, "thread"),
        plan.backend.name(),
    )?;
    if outcome.n_rejected > 0 {
        let n = Grouped(outcome.n_rejected);
        write!(err, "; {n} more do not match what is known of the string")?;
    }
    writeln!(err)?;
    print_searches(err, report)?;
    let by_accident = odds(estimate.accidental_hits);
    if hits.len() > 1 {
        writeln!(
            err,
            "The string alone cannot decide: {by_accident} accidental hits were expected. \
             --known, --prefix or --pubkey-hash can."
        )?;
        let fewest = hits[0].edits;
        let first = hits.iter().filter(|hit| hit.edits == fewest).count() as u64;
        if first < hits.len() as u64 {
            writeln!(
                err,
                "{} of them have the fewest edits: {fewest}.",
                Grouped(first)
            )?;
        }
    } else if hits.len() == 1 && estimate.accidental_hits > 0.01 {
        writeln!(
            err,
            "This hit may be accidental: {by_accident} accidental hits were expected."
        )?;
    }
    Ok(())
}

/// Prints the searches that were made, if there were several, and further possible searches.
fn print_searches(err: &mut dyn Write, report: &Report<'_>) -> anyhow::Result<()> {
    let Report {
        recovered, tried, ..
    } = report;
    if tried.len() > 1 || recovered.found_nothing() {
        writeln!(err, "Tried:")?;
        for tried in *tried {
            let end = if tried.is_complete {
                ""
            } else {
                ", not to the end"
            };
            let seconds = Duration(tried.seconds);
            writeln!(err, "  {}: {seconds}{end}", InWords(tried.damage))?;
        }
    }
    if recovered.found_nothing() && report.suggestions.is_empty() {
        writeln!(err, "Not tried: every wider search takes more than a year.")?;
        return Ok(());
    }
    print_suggestions(err, report.suggestions)
}

/// Prints further possible searches.
fn print_suggestions(err: &mut dyn Write, suggestions: &[Suggestion]) -> anyhow::Result<()> {
    if !suggestions.is_empty() {
        writeln!(err, "Not tried, the cheapest first:")?;
    }
    for suggestion in suggestions {
        let seconds = Duration(suggestion.seconds);
        write!(err, "  {}: {seconds}", suggestion.change)?;
        if suggestion.accidental_hits >= 0.01 {
            let hits = odds(suggestion.accidental_hits);
            write!(err, ", {hits} accidental hits")?;
        }
        writeln!(err)?;
    }
    Ok(())
}

/// Formats a number that can be very large, also as a power of two.
fn large(number: f64) -> String {
    if number < 1e6 {
        Grouped(number as u64).to_string()
    } else {
        format!("{number:.3e} (2^{:.1})", number.log2())
    }
}

/// Formats a number that can be very small.
fn odds(number: f64) -> String {
    if number >= 0.001 {
        format!("{number:.3}")
    } else {
        format!("{number:.1e}")
    }
}

/// Maximum number of mismatches that are printed one by one.
const MAX_MISMATCHES: usize = 4;

/// Prints the reasons why a search for `damage` has no candidates, and searches that may have some.
pub(super) fn print_mismatches(
    env: &mut Env,
    search: &Search,
    damage: Damage,
    suggestions: &[Suggestion],
    is_json: bool,
) -> anyhow::Result<()> {
    let all = search.mismatches();
    // The kinds that fit the longest prefix of the text are the most likely ones.
    let depth = |mismatch: &Mismatch| match mismatch.reason {
        Reason::Character { position, .. } => position + 1,
        _ => 0,
    };
    let deepest = all.iter().map(depth).max().unwrap_or(0);
    let nearest = all.iter().filter(|mismatch| depth(mismatch) == deepest);
    let nearest: Vec<&Mismatch> = nearest.collect();
    if is_json {
        for mismatch in nearest {
            json::print_mismatch(env, mismatch)?;
        }
        return Ok(());
    }
    if nearest.len() <= MAX_MISMATCHES {
        for mismatch in nearest {
            env.error(&mismatch.to_string());
        }
    } else {
        let kinds = count(nearest.len() as u64, "kind");
        env.error(&format!(
            "fits none of {kinds}; --kind with one of them prints the reason"
        ));
    }
    env.error(&match damage.errors {
        0 => "no string fits if no character is wrong, missing or extra".to_owned(),
        n => format!("no string fits with {} or fewer", count(n.into(), "error")),
    });
    print_suggestions(&mut env.stderr, suggestions)
}
