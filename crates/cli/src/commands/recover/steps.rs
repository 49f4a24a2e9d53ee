//! Searches for further damage, with their cost.

use std::time::{Duration, Instant};

use hashlane_base58::{Damage, Kind, Search, SearchBackend};

use super::damage::AsOptions;
use super::recovered::Suggestion;

/// Time to prepare each search whose cost is printed.
const PREPARE_FOR: Duration = Duration::from_millis(200);

/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

/// Maximum duration of a suggested search.
const MAX_SECONDS: f64 = 365.25 * 86_400.0;

/// A possible search.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) damage: Damage,
    /// Expected seconds.
    pub(super) seconds: f64,
    pub(super) accidental_hits: f64,
}

/// The string, the kinds and the device that all searches share.
#[derive(Clone, Copy)]
pub(super) struct Subject<'s> {
    pub(super) text: &'s str,
    pub(super) kinds: &'s [Kind],
    pub(super) backend: &'s dyn SearchBackend,
}

impl Subject<'_> {
    /// Returns the cost of a search, or `None` if there is nothing to search for or the preparation does not end in
    /// time.
    fn cost(&self, text: &str, damage: Damage, prepare_until: Instant) -> Option<Step> {
        let is_late = || Instant::now() >= prepare_until;
        let search = Search::new_until(text, damage, self.kinds, &is_late).ok()?;
        let estimate = search.estimate();
        if estimate.candidates == 0 {
            return None;
        }
        Some(Step {
            damage,
            seconds: search.seconds_in(None, self.backend).ok()?,
            accidental_hits: estimate.accidental_hits,
        })
    }

    /// Returns the searches for these kinds of damage, the cheapest first.
    pub(super) fn steps(&self, damages: Vec<Damage>, prepare_until: Instant) -> Vec<Step> {
        let steps = damages.into_iter();
        let steps = steps.filter_map(|damage| self.cost(self.text, damage, prepare_until));
        let mut steps: Vec<Step> = steps.collect();
        steps.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        steps
    }

    /// Returns searches that were not made, the cheapest first: those for more damage than `least`, and one with a
    /// further unknown character.
    pub(super) fn suggestions(&self, least: Damage, tried: &[Damage]) -> Vec<Suggestion> {
        let is_new = |damage: &Damage| !tried.iter().any(|tried| tried.includes(*damage));
        let mut steps = Vec::new();
        for errors in 0..=hashlane_base58::MAX_ERRORS {
            let mut damages = least.wider(errors..=errors);
            damages.retain(is_new);
            steps.extend(self.steps(damages, Instant::now() + PREPARE_FOR));
            if steps.len() >= MAX_SUGGESTIONS {
                break;
            }
        }
        let by_options = steps.iter().map(|step| Suggestion {
            change: AsOptions(step.damage).to_string(),
            seconds: step.seconds,
            accidental_hits: step.accidental_hits,
        });
        let mut all: Vec<Suggestion> = by_options.collect();
        let one_error = Damage { errors: 1, ..least };
        if is_new(&one_error) {
            all.extend(self.unknown_character(least));
        }
        all.retain(|suggestion| suggestion.seconds <= MAX_SECONDS);
        all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        all.truncate(MAX_SUGGESTIONS);
        all
    }

    /// Returns the search with `?` in place of a character in the middle.
    fn unknown_character(&self, damage: Damage) -> Option<Suggestion> {
        let is_known = |c: char| c.is_ascii_alphanumeric();
        let middle = self.text.len() / 2;
        let (before, after) = self.text.split_at_checked(middle)?;
        // A set counts as one character.
        let rest = after
            .strip_prefix(is_known)
            .filter(|_| !self.text.contains('['))?;
        let text = zeroize::Zeroizing::new(format!("{before}?{rest}"));
        let step = self.cost(&text, damage, Instant::now() + PREPARE_FOR)?;
        Some(Suggestion {
            change: format!("`?` for a doubtful character, {}", AsOptions(damage)),
            seconds: step.seconds,
            accidental_hits: step.accidental_hits,
        })
    }
}
