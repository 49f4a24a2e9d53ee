//! Searches that were not made, with their cost.

use std::time::{Duration, Instant};

use hashlane_base58::{Damage, Subject};

use super::damage::AsOptions;
use super::recovered::Suggestion;

/// Time to prepare each search whose cost is printed.
const PREPARE_FOR: Duration = Duration::from_millis(200);

/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

/// Maximum duration of a suggested search.
const MAX_SECONDS: f64 = 365.25 * 86_400.0;

/// Returns searches that were not made, the cheapest first: those for more damage than `least`, and one with a further unknown
/// character.
pub(super) fn suggestions(
    subject: &Subject<'_>,
    least: Damage,
    tried: &[Damage],
) -> Vec<Suggestion> {
    let is_new = |damage: &Damage| !tried.iter().any(|tried| tried.includes(*damage));
    let mut steps = Vec::new();
    for errors in 0..=hashlane_base58::MAX_ERRORS {
        let mut damages = least.wider(subject.text, errors..=errors);
        damages.retain(is_new);
        let until = Instant::now() + PREPARE_FOR;
        steps.extend(subject.steps(damages, None, &|| Instant::now() >= until));
        if steps.len() >= MAX_SUGGESTIONS {
            break;
        }
    }
    let until = Instant::now() + PREPARE_FOR;
    let is_over = || Instant::now() >= until;
    if subject.step(least, None, &is_over).is_none() {
        // Nothing fits the text as it is: it may have been cut off.
        let gaps = least.with_gaps().filter(is_new).collect();
        steps.extend(subject.steps(gaps, None, &is_over));
    }
    let by_options = steps
        .iter()
        .map(|step| Suggestion::new(AsOptions(step.damage).to_string(), step));
    let mut all: Vec<Suggestion> = by_options.collect();
    let one_error = least.wider(subject.text, 1..=1);
    if one_error.first().is_some_and(is_new) {
        all.extend(unknown_character(subject, least));
    }
    all.retain(|suggestion| suggestion.seconds <= MAX_SECONDS);
    all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    all.truncate(MAX_SUGGESTIONS);
    all
}

/// Returns the search with `?` in place of a character in the middle.
fn unknown_character(subject: &Subject<'_>, damage: Damage) -> Option<Suggestion> {
    let is_known = |c: char| c.is_ascii_alphanumeric();
    let middle = subject.text.len() / 2;
    let (before, after) = subject.text.split_at_checked(middle)?;
    // A set counts as one character.
    let rest = after
        .strip_prefix(is_known)
        .filter(|_| !subject.text.contains('['))?;
    let text = zeroize::Zeroizing::new(format!("{before}?{rest}"));
    let until = Instant::now() + PREPARE_FOR;
    let with_unknown = Subject {
        text: &text,
        ..*subject
    };
    let step = with_unknown.step(damage, None, &|| Instant::now() >= until)?;
    let change = format!("`?` for a doubtful character, {}", AsOptions(damage));
    Some(Suggestion::new(change, &step))
}
