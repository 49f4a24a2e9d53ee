//! The reasons why a text fits no string of the kinds.

use hashlane_base58::{Mismatch, Reason, Search};

use crate::Env;
use crate::output::text::count;

use super::json;

/// Maximum number of mismatches that are printed one by one.
const MAX_MISMATCHES: usize = 4;

/// Prints the reasons why a search has no candidates.
pub(super) fn print(env: &mut Env, search: &Search, is_json: bool) -> anyhow::Result<()> {
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
    env.error("no string fits, for any letter case and any unknown characters");
    Ok(())
}
