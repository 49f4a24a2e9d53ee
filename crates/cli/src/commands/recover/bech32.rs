//! Recognizes witness addresses and repairs them. Their checksum is an error-correcting code.

use hashlane_bech32::{HUMAN_READABLE, Repaired, is_witness_address, repair};

use crate::options::Output;
use crate::output::text::count;
use crate::{Env, Exit};

use super::filter::Filter;
use super::json;

/// Numbers of characters after the separator of usual witness addresses: programs of 20 and of 32 bytes (BIP 173).
const USUAL_LENS: [usize; 2] = [39, 59];

/// Returns `true` if a text is a witness address, damaged or not, whatever else it may look like.
///
/// A Litecoin address in Base58 can start with `LTC1`, too. Its length differs from that of witness addresses.
pub(super) fn is_like_witness_address(text: &str) -> bool {
    match after_separator(text) {
        Some(rest) => {
            let is_usual = |len: &usize| len.abs_diff(rest.chars().count()) <= 1;
            USUAL_LENS.iter().any(is_usual) || repair(text).is_ok_and(|found| !found.is_empty())
        }
        // At most one character of the first part is wrong. No Base58Check string is as long as a usual witness address.
        None => repair(text).is_ok(),
    }
}

/// Returns `true` if a text starts like a witness address. Texts of other formats do too.
pub(super) fn starts_like_witness_address(text: &str) -> bool {
    after_separator(text).is_some()
}

/// Returns the text after the human-readable part of a witness address and its separator, in any letter case.
fn after_separator(text: &str) -> Option<&str> {
    HUMAN_READABLE.iter().find_map(|part| {
        let (start, rest) = text.split_at_checked(part.len())?;
        let rest = rest.strip_prefix('1')?;
        start.eq_ignore_ascii_case(part).then_some(rest)
    })
}

/// Prints the possible originals of a damaged witness address.
pub(super) fn recover(
    env: &mut Env,
    text: &str,
    filter: &Filter,
    output: &Output,
) -> anyhow::Result<Exit> {
    let is_valid = is_witness_address(text);
    let mut found = repair(text)?;
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
        let edits = count(repaired.edits.into(), "edit");
        writeln!(env.stdout, "{text}  (witness version {version}, {edits})")?;
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
