//! Repairs witness addresses. Their checksum is an error-correcting code.

use hashlane_base58::Filter;
use hashlane_bech32::{Repaired, intact_start, is_witness_address, repair};

use crate::options::Output;
use crate::output::text::count;
use crate::{Env, Exit};

use super::human::edits;
use super::json;

/// Prints the possible originals of a damaged witness address.
pub(super) fn recover(
    env: &mut Env,
    text: &str,
    filter: &Filter,
    output: &Output,
) -> anyhow::Result<Exit> {
    let is_valid = is_witness_address(text);
    let unknown_start = intact_start(text).filter(|_| !is_valid);
    let mut found = match &unknown_start {
        Some(_) => Vec::new(),
        None => repair(text)?,
    };
    if is_valid {
        found.truncate(1);
    }
    let n_fitting = found.len();
    found.retain(|repaired| filter.accepts_witness(&repaired.text));
    let n_rejected = n_fitting - found.len();
    if output.is_json() {
        let text = text.to_ascii_lowercase();
        json::print_bech32(env, &text, is_valid, &found, n_rejected)?;
    } else if let (true, [intact]) = (is_valid, &found[..]) {
        writeln!(env.stdout, "{}", intact.text)?;
        if !output.quiet {
            env.error("this Bech32 string is intact; it means the same in either letter case, and is printed in lower case");
        }
    } else if let Some(start) = unknown_start {
        env.error(&format!("the checksum fits the prefix {start}, which no known network has: only the prefix can be wrong"));
    } else {
        print(env, &found, n_rejected, output.quiet)?;
    }
    Ok(match found.len() {
        0 => Exit::Bad,
        1 => Exit::Good,
        _ => Exit::Several,
    })
}

fn print(
    env: &mut Env,
    found: &[Repaired],
    n_rejected: usize,
    is_quiet: bool,
) -> anyhow::Result<()> {
    for repaired in found {
        let text = &repaired.text;
        if is_quiet {
            writeln!(env.stdout, "{text}")?;
            continue;
        }
        let version = repaired.witness_version;
        let edits = edits(repaired.edits);
        writeln!(env.stdout, "{text}  (witness version {version}{edits})")?;
        env.stdout.flush()?;
        let changed = repaired.changed.iter();
        let changed: Vec<String> = changed.map(|position| (position + 1).to_string()).collect();
        if !changed.is_empty() {
            writeln!(env.stderr, "  changed characters: {}", changed.join(", "))?;
        }
    }
    if n_rejected > 0 && (!is_quiet || found.is_empty()) {
        let n = count(n_rejected as u64, "fitting string");
        env.error(&format!(
            "ruled out by --known, --pubkey-hash or --prefix: {n}"
        ));
    }
    match found.len() {
        0 if n_rejected > 0 => {}
        0 => env.error("no witness address fits: too many characters are wrong; write `?` for up to four doubtful characters"),
        1 if !is_quiet => env.error("compare this address with another copy before you use it: it is a guess from the checksum"),
        1 => {}
        n => env.error(&format!("{n} addresses fit, and the checksum cannot decide between them")),
    }
    Ok(())
}
