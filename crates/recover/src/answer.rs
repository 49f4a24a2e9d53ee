//! Recognizes a text, and asks each kind that it can be of.

use crate::bech32::Bech32;
use crate::codex32::Codex32;
use crate::eip55::Eip55;
use crate::kind::{Answer, Count, Kind, Likeness, Refusal, Repaired};
use crate::slip39::Slip39;

/// All kinds.
pub const KINDS: [&dyn Kind; 4] = [&Bech32, &Codex32, &Eip55, &Slip39];

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
    let mut first = None;
    for (kind, likeness) in recognized(text, is_last) {
        let (what, is_certain) = name(likeness);
        let answer = answer(kind, &what, text, errors, accepts);
        if answer.as_ref().is_ok_and(|answer| !answer.hits.is_empty()) {
            return Some(answer);
        }
        if is_certain && first.is_none() {
            first = Some(answer.map_err(|refusal| refusal.of(&what)));
        }
    }
    first
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
    errors: Option<u8>,
    accepts: &dyn Fn(&Repaired) -> bool,
) -> Result<Answer, Refusal> {
    let most = kind.max_errors();
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
    for level in levels {
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
