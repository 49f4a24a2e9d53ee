//! Recovers texts of the kinds that are not Base58Check.

use hashlane_base58::Filter;
use hashlane_recover::{Answer, Repaired, with_article};

use crate::options::Output;
use crate::output::text::count;
use crate::{Env, Exit};

use super::execute::IN_HISTORY;
use super::human::{self, edits};
use super::json;

/// Expected number of accidental hits above which every result says so.
const MANY_ACCIDENTAL: f64 = 0.001;

/// How a text is recovered.
pub(super) struct Settings<'s> {
    pub(super) errors: Option<u8>,
    pub(super) estimate: bool,
    pub(super) filter: &'s Filter,
    pub(super) output: &'s Output,
    pub(super) is_from_stdin: bool,
}

/// Recovers a text, or returns `None` if it is of none of these kinds. `is_last` states that the text is not Base58Check.
pub(super) fn recover(
    env: &mut Env,
    text: &str,
    settings: &Settings<'_>,
    is_last: bool,
) -> anyhow::Result<Option<Exit>> {
    let accepts = |repaired: &Repaired| settings.filter.accepts_in_any_case(&repaired.text);
    if settings.estimate
        && let Some(estimate) = hashlane_recover::estimate(text, settings.errors)
    {
        let (what, errors, count) = estimate?;
        print_estimate(env, &what, errors, count, settings.output.is_json())?;
        return Ok(Some(Exit::Good));
    }
    let Some(answer) = hashlane_recover::recover(text, settings.errors, &accepts, is_last) else {
        return Ok(None);
    };
    let answer = answer?;
    if settings.estimate {
        let reason = "the checksum of this text corrects errors";
        human::print_no_search(env, reason, settings.output.is_json())?;
        return Ok(Some(Exit::Good));
    }
    if answer.hits.iter().any(|hit| hit.is_secret) && !settings.is_from_stdin {
        env.error(IN_HISTORY);
    }
    if settings.output.is_json() {
        json::print_repair(env, &answer)?;
    } else {
        print(env, &answer, settings.output.quiet)?;
    }
    Ok(Some(match answer.hits.len() {
        0 => Exit::Bad,
        1 => Exit::Good,
        _ => Exit::Several,
    }))
}

fn print_estimate(
    env: &mut Env,
    what: &str,
    errors: u8,
    count: hashlane_recover::Count,
    is_json: bool,
) -> anyhow::Result<()> {
    if is_json {
        return json::print_count(env, what, errors, count);
    }
    let out = &mut env.stdout;
    writeln!(out, "  kinds        {what}, at most {errors} errors")?;
    writeln!(out, "  candidates   {:.0}", count.candidates)?;
    writeln!(
        out,
        "  by accident  {:.2} hits are to be expected",
        count.accidental_hits
    )?;
    Ok(())
}

fn print(env: &mut Env, answer: &Answer, is_quiet: bool) -> anyhow::Result<()> {
    for hit in &answer.hits {
        let text = hit.text.as_str();
        if is_quiet {
            writeln!(env.stdout, "{text}")?;
            continue;
        }
        let remark = if answer.is_intact {
            ", intact".to_owned()
        } else {
            edits(hit.edits)
        };
        writeln!(env.stdout, "{text}  ({}{remark})", hit.what)?;
        env.stdout.flush()?;
        let changed = hit
            .changed
            .iter()
            .map(|position| (position + 1).to_string());
        let changed: Vec<String> = changed.collect();
        if !changed.is_empty() {
            let unit = hit.unit();
            writeln!(env.stderr, "  changed {unit}s: {}", changed.join(", "))?;
        }
    }
    if answer.n_rejected > 0 && (!is_quiet || answer.hits.is_empty()) {
        let n = count(answer.n_rejected as u64, "fitting string");
        env.error(&format!(
            "ruled out by --known, --pubkey-hash or --prefix: {n}"
        ));
    }
    let accidental = answer.count.accidental_hits;
    if !is_quiet && !answer.is_intact && accidental >= MANY_ACCIDENTAL {
        env.error(&format!(
            "{accidental:.3} accidental hits are to be expected"
        ));
    }
    let what = &answer.what;
    match (answer.hits.len(), answer.errors) {
        (0, _) if answer.n_rejected > 0 => {}
        (0, Some(errors)) => {
            let errors = count(errors.into(), "error");
            let what = with_article(what);
            env.error(&format!("this looks like {what}, and none fits within {errors}; write `?` for doubtful parts"));
        }
        (0, None) => env.error(&format!("no {what} fits: too many characters are wrong; write `?` for up to four doubtful characters")),
        (1, _) if answer.is_intact || is_quiet => {}
        (1, _) => env.error("compare this text with another copy before you use it: it is a guess from the checksum"),
        (n, _) => env.error(&format!("{n} texts fit, and the checksum cannot decide between them")),
    }
    Ok(())
}
