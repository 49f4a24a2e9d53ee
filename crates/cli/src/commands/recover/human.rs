//! For a person: what was found goes to the standard output, and what there is to say about it to the
//! standard error stream.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "some digits are shown"
)]

use hashlane_base58::{Hit, Kind};

use crate::Env;
use crate::output::text::{Duration, Grouped, count};

use super::{Cost, Recovered};

pub(super) fn print_estimate(env: &mut Env, cost: &Cost) -> anyhow::Result<()> {
    let Cost {
        estimate,
        rate,
        threads,
        seconds,
    } = cost;
    let out = &mut env.stdout;
    writeln!(out, "  kinds        {}", estimate.kinds.join(", "))?;
    writeln!(out, "  candidates   {}", large(estimate.candidates as f64))?;
    writeln!(out, "  hashes       {}", large(estimate.hashes))?;
    writeln!(
        out,
        "  time         {} with {}, {:.1} million hashes a second each ({})",
        Duration(*seconds),
        count(*threads as u64, "thread"),
        rate.per_second / 1e6,
        rate.kernel
    )?;
    writeln!(
        out,
        "  by accident  {} hits are to be expected",
        odds(estimate.accidental_hits)
    )?;
    Ok(())
}

pub(super) fn print_hit(env: &mut Env, hit: &Hit, is_quiet: bool) -> anyhow::Result<()> {
    let text = hit.text.as_str();
    if is_quiet {
        writeln!(env.stdout, "{text}")?;
    } else {
        let kind = Kind::named(&hit.kind).map_or(hit.kind.clone(), |kind| kind.description.into());
        let edits = match hit.edits {
            0 => String::new(),
            n => format!(", {}", count(n.into(), "edit")),
        };
        writeln!(env.stdout, "{text}  ({kind}{edits})")?;
    }
    Ok(env.stdout.flush()?)
}

pub(super) fn print_summary(env: &mut Env, recovered: &Recovered<'_>) -> anyhow::Result<()> {
    let Recovered {
        cost,
        hits,
        outcome,
        n_judged_out,
        ..
    } = recovered;
    let estimate = &cost.estimate;
    env.stdout.flush()?;
    let seconds = outcome.elapsed.as_secs_f64();
    let hashes = outcome.progress.hashes;
    let err = &mut env.stderr;
    write!(
        err,
        "{} of {} candidates, {} hashes in {}, {:.1} million a second with {} ({})",
        count(hits.len() as u64, "hit"),
        large(estimate.candidates as f64),
        Grouped(hashes),
        Duration(seconds),
        hashes as f64 / seconds.max(f64::EPSILON) / 1e6,
        count(cost.threads as u64, "thread"),
        cost.rate.kernel,
    )?;
    if *n_judged_out > 0 {
        let n = Grouped(*n_judged_out as u64);
        write!(err, "; {n} not what is known of it")?;
    }
    writeln!(err)?;
    let by_accident = odds(estimate.accidental_hits);
    if hits.len() > 1 {
        writeln!(
            err,
            "The string alone cannot decide: {by_accident} hits by accident were to be expected. \
             --known, --prefix or --pubkey-hash can."
        )?;
        let fewest = hits[0].edits;
        let first = hits.iter().filter(|hit| hit.edits == fewest).count() as u64;
        if first < hits.len() as u64 {
            writeln!(
                err,
                "{} of them with the fewest edits, {fewest}.",
                Grouped(first)
            )?;
        }
    } else if hits.len() == 1 && estimate.accidental_hits > 0.01 {
        writeln!(
            err,
            "That it is one by accident is possible: {by_accident} were to be expected."
        )?;
    }
    Ok(())
}

/// A number that can be very large: as it is, or as a power of two.
fn large(number: f64) -> String {
    if number < 1e6 {
        Grouped(number as u64).to_string()
    } else {
        format!("{number:.3e} (2^{:.1})", number.log2())
    }
}

/// A number that can be very small.
fn odds(number: f64) -> String {
    if number >= 0.001 {
        format!("{number:.3}")
    } else {
        format!("{number:.1e}")
    }
}
