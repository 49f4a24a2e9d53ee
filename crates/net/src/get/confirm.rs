//! `--confirm`: the question about wrong pieces.

use std::fmt::Write as _;

use hashlane_cli::Env;
use hashlane_cli::output::text::{Escaped, Grouped, count};
use hashlane_client::{Replacement, TorrentCommand};

/// Maximum number of files that a question lists.
const MAX_NAMED: usize = 10;

/// Asks whether wrong pieces may be replaced.
pub(super) fn confirm(env: &mut Env, replacement: &Replacement) -> anyhow::Result<TorrentCommand> {
    let question = format!(
        "{}: {} of {} {} wrong and would be replaced",
        replacement.name,
        count(replacement.wrong_pieces.into(), "piece"),
        Grouped(replacement.pieces.into()),
        if replacement.wrong_pieces == 1 {
            "is"
        } else {
            "are"
        }
    );
    if !env.can_ask {
        let reason = format!("{question}; no terminal to ask, nothing was changed");
        return Ok(TorrentCommand::Keep(reason));
    }
    // `agrees` does not escape line ends.
    let mut question = Escaped(&question).to_string();
    for (name, n_pieces) in replacement.files.iter().take(MAX_NAMED) {
        let pieces = count((*n_pieces).into(), "piece");
        let _ = write!(question, "\n  {pieces} of {}", Escaped(name));
    }
    let others = replacement.files.len().saturating_sub(MAX_NAMED);
    if others > 0 {
        let others = count(others as u64, "other file");
        let _ = write!(question, "\n  and in {others}");
    }
    Ok(if env.agrees(&question)? {
        TorrentCommand::Replace
    } else {
        TorrentCommand::Keep("not replaced".to_owned())
    })
}
