//! Recognizes a text, and asks each kind that it can be of.

use crate::algorand::Algorand;
use crate::bech32::Bech32;
use crate::codex32::Codex32;
use crate::eip55::Eip55;
use crate::eos::Eos;
use crate::filecoin::Filecoin;
use crate::kind::{Answer, Count, Kind, Likeness, Refusal, Repaired};
use crate::monero::Monero;
use crate::search::Searched;
use crate::slip39::Slip39;
use crate::ss58::Ss58;
use crate::stellar::Stellar;

/// All kinds.
pub const KINDS: [&dyn Kind; 10] = [
    &Bech32,
    &Codex32,
    &Eip55,
    &Slip39,
    &Searched(Monero),
    &Searched(Stellar),
    &Searched(Algorand),
    &Searched(Filecoin),
    &Searched(Ss58),
    &Searched(Eos),
];

/// Expected number of accidental hits up to which a hit shows the kind of a text that other kinds look like: of a text that is of no
/// kind of another crate, and of one that may be.
const TELLING: [f64; 2] = [0.1, 0.01];

/// Returns the possible originals of a damaged text, or `None` if the text is of no kind of this crate.
///
/// Without `errors`, searches for more and more errors until there is a hit. `accepts` rules out hits. `is_last` states that the
/// text is of no other kind.
///
/// # Errors
/// The reason why a recognized text cannot be recovered.
pub fn recover(
    text: &str,
    errors: Option<u8>,
    accepts: &dyn Fn(&Repaired) -> bool,
    is_last: bool,
) -> Option<Result<Answer, Refusal>> {
    let mut best: Option<Result<Answer, Refusal>> = None;
    let n_edits = |answer: &Answer| answer.hits.first().map(|hit| hit.edits);
    for (kind, likeness) in recognized(text, is_last) {
        let (what, is_certain) = name(likeness);
        let before = best.as_ref().and_then(|best| n_edits(best.as_ref().ok()?));
        if before == Some(0) || before.is_some() && !is_certain {
            break;
        }
        let fewer = before.map(|before| before - 1);
        let telling = (!is_certain).then(|| TELLING[usize::from(!is_last)]);
        let answer = answer(kind, &what, text, (errors, fewer), telling, accepts);
        let edits = answer.as_ref().ok().and_then(n_edits);
        // A text that can be of several kinds is of the one that needs the fewest edits.
        let is_better = edits.is_some_and(|edits| before.is_none_or(|before| edits < before));
        if is_better || best.is_none() && is_certain {
            best = Some(answer.map_err(|refusal| refusal.of(&what)));
        }
    }
    best
}

/// Returns the name and the size of the search that [`recover`] makes for a text with at most this many errors, or `None` if the
/// text is of no kind that is searched for.
///
/// # Errors
/// As [`recover`].
pub fn estimate(text: &str, errors: Option<u8>) -> Option<Result<(String, u8, Count), Refusal>> {
    let mut certain = recognized(text, false).filter_map(|(kind, likeness)| match likeness {
        Likeness::Certain(what) if !kind.is_solved() => Some((kind, what)),
        _ => None,
    });
    let (kind, what) = certain.next()?;
    let errors = errors.unwrap_or(kind.max_errors()).min(kind.max_errors());
    let count = kind
        .count(text, errors)
        .map_err(|refusal| refusal.of(&what));
    Some(count.map(|count| (what, errors, count)))
}

/// Returns the kinds that a text can be of, the certain ones first.
fn recognized(text: &str, is_last: bool) -> impl Iterator<Item = (&'static dyn Kind, Likeness)> {
    let likeness = KINDS.into_iter();
    let likeness = likeness.filter_map(|kind| Some((kind, kind.recognize(text, is_last)?)));
    let mut all: Vec<_> = likeness.collect();
    all.sort_by_key(|(_, likeness)| *likeness == Likeness::Possible);
    all.into_iter()
}

fn name(likeness: Likeness) -> (String, bool) {
    match likeness {
        Likeness::Certain(what) => (what, true),
        Likeness::Possible => (String::new(), false),
    }
}

fn answer(
    kind: &dyn Kind,
    what: &str,
    text: &str,
    (errors, at_most): (Option<u8>, Option<u32>),
    telling: Option<f64>,
    accepts: &dyn Fn(&Repaired) -> bool,
) -> Result<Answer, Refusal> {
    let at_most = at_most.and_then(|at_most| u8::try_from(at_most).ok());
    let most = kind.max_errors().min(at_most.unwrap_or(u8::MAX));
    let levels = match errors {
        // An intact text is recognized before any error is assumed.
        Some(errors) if errors > 0 => vec![0, errors.min(most)],
        Some(_) => vec![0],
        None => (0..=most).collect(),
    };
    let mut answer = Answer {
        what: what.to_owned(),
        is_intact: false,
        hits: Vec::new(),
        n_rejected: 0,
        count: Count::default(),
        errors: None,
    };
    // A search with more accidental hits would show nothing.
    let is_telling = |level: &u8| {
        telling.is_none_or(|most| {
            let count = (!kind.is_solved()).then(|| kind.count(text, *level));
            !count.is_some_and(|count| count.is_ok_and(|count| count.accidental_hits > most))
        })
    };
    for level in levels.into_iter().take_while(is_telling) {
        let (mut hits, count) = match kind.originals(text, level) {
            Ok(found) => found,
            // The searches for fewer errors are complete.
            Err(_) if errors.is_none() && answer.count.candidates > 0.0 => break,
            Err(refusal) => return Err(refusal),
        };
        let n_found = hits.len();
        hits.retain(accepts);
        hits.sort_by_key(|hit| hit.edits);
        answer.n_rejected = n_found - hits.len();
        answer.count = count;
        answer.errors = (!kind.is_solved()).then_some(level);
        answer.is_intact = hits
            .first()
            .is_some_and(|hit| hit.edits == 0 && hit.changed.is_empty());
        answer.hits = hits;
        if answer.is_intact {
            answer.hits.truncate(1);
        }
        if answer.is_intact || (errors.is_none() && !answer.hits.is_empty()) {
            break;
        }
    }
    Ok(answer)
}
