//! Searches for further damage, with their cost.

use std::time::{Duration, Instant};

use hashlane_base58::{Damage, Kind, Search, SearchBackend};

use super::damage::AsOptions;
use super::plan::{ESTIMATE_FOR, PlannedSearch};
use super::recovered::Suggestion;

/// Time to prepare each search whose cost is printed.
const PREPARE_FOR: Duration = Duration::from_millis(200);

/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

/// Maximum duration of a suggested search.
const MAX_SECONDS: f64 = 365.25 * 86_400.0;

/// A possible search.
pub(super) struct Step<'s> {
    pub(super) damage: Damage,
    pub(super) plan: PlannedSearch<'s>,
}

/// The limit on the time to prepare searches whose cost is computed.
#[derive(Clone, Copy)]
pub(super) enum Preparation {
    /// Searches that are not prepared by then are left out.
    Until(Instant),
    /// Each search gets [`ESTIMATE_FOR`]. The cost of a larger search is a lower bound.
    Part,
}

/// The string, the kinds and the device that all searches share.
#[derive(Clone, Copy)]
pub(super) struct Subject<'s> {
    pub(super) text: &'s str,
    pub(super) kinds: &'s [Kind],
    pub(super) backend: &'s dyn SearchBackend,
}

impl<'s> Subject<'s> {
    /// Returns the cost of a search, or `None` if there is nothing to search for or the preparation does not end in
    /// time.
    fn cost(&self, text: &str, damage: Damage, preparation: Preparation) -> Option<Step<'s>> {
        let search = match preparation {
            Preparation::Until(until) => {
                Search::new_until(text, damage, self.kinds, &|| Instant::now() >= until)
            }
            Preparation::Part => {
                Search::part_within(text, damage, self.kinds, ESTIMATE_FOR, &|| false)
            }
        };
        let search = search.ok()?;
        let estimate = search.estimate();
        if estimate.candidates == 0 {
            return None;
        }
        let plan = PlannedSearch::new(&search, estimate, None, self.backend).ok()?;
        Some(Step { damage, plan })
    }

    /// Returns the searches for these kinds of damage, the cheapest first.
    pub(super) fn steps(&self, damages: Vec<Damage>, preparation: Preparation) -> Vec<Step<'s>> {
        let steps = damages.into_iter();
        let steps = steps.filter_map(|damage| self.cost(self.text, damage, preparation));
        let mut steps: Vec<Step<'_>> = steps.collect();
        steps.sort_by(|a, b| a.plan.seconds.total_cmp(&b.plan.seconds));
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
            let until = Instant::now() + PREPARE_FOR;
            steps.extend(self.steps(damages, Preparation::Until(until)));
            if steps.len() >= MAX_SUGGESTIONS {
                break;
            }
        }
        let by_options = steps
            .iter()
            .map(|step| Suggestion::new(AsOptions(step.damage).to_string(), &step.plan));
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
        let until = Instant::now() + PREPARE_FOR;
        let step = self.cost(&text, damage, Preparation::Until(until))?;
        let change = format!("`?` for a doubtful character, {}", AsOptions(damage));
        Some(Suggestion::new(change, &step.plan))
    }
}
