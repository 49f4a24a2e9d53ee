//! Searches for more and more damage, until there is a hit or the time is over.

use std::time::{Duration, Instant};

use hashlane_base58::{Step, Subject, Widening};

use crate::Env;

use super::damage::AsOptions;
use super::execute::{self, IN_HISTORY, Settings, name};
use super::plan::{ESTIMATE_FOR, PlannedSearch};
use super::recovered::{Recovered, Suggestion, Tried};

/// The searches that were made.
pub(super) struct Widened<'s> {
    pub(super) tried: Vec<Tried>,
    /// The plan of the last search or of the first one with hits, and the result from this search on.
    pub(super) last: Option<(PlannedSearch<'s>, Recovered)>,
    /// Searches that were not made and could find a string with fewer edits than hits that may be accidental.
    pub(super) nearer: Vec<Suggestion>,
}

/// Searches for the least damage of a text and for wider damage, until there is a hit that is not accidental. `warns` says that a private key stays in the shell's history,
/// and the user does not know it yet.
pub(super) fn widen<'s>(
    env: &mut Env,
    subject: Subject<'s>,
    mut settings: Settings,
    until: Instant,
    mut warns: bool,
) -> anyhow::Result<Widened<'s>> {
    let mut widened = Widened {
        tried: Vec::new(),
        last: None,
        nearer: Vec::new(),
    };
    let mut widening = Widening::new(subject.text, until);
    while let Some((damage, search)) = widening.next(&subject, &|| false) {
        if search.is_secret() && std::mem::take(&mut warns) {
            env.error(IN_HISTORY);
        }
        let estimate = search.estimate();
        let plan = PlannedSearch::new(&search, damage, estimate, None, subject.backend)?;
        settings.max_time = Some(widening.remaining());
        let name = name(&search, subject.text);
        let recovered = execute::execute(env, name, &search, &plan, None, &settings)?;
        widened.tried.push(Tried::new(damage, &recovered));
        let is_over = recovered.is_late || !recovered.outcome.is_complete;
        if let Some(nearest) = recovered.hits.first() {
            widening.found(nearest.edits);
        }
        match &mut widened.last {
            Some((_, first)) if !first.hits.is_empty() => first.add(recovered),
            last => *last = Some((plan, recovered)),
        }
        if is_over {
            break;
        }
    }
    let nearer = widening.nearer(&subject, ESTIMATE_FOR, &|| false);
    let suggestion = |step: Step| Suggestion::new(AsOptions(step.damage).to_string(), &step);
    widened.nearer = nearer.into_iter().map(suggestion).collect();
    Ok(widened)
}

/// Returns the searches that [`widen`] makes within `limit` if none of them has a hit.
pub(super) fn estimate(subject: Subject<'_>, limit: Duration) -> Vec<PlannedSearch<'_>> {
    let steps = Widening::list(&subject, limit, ESTIMATE_FOR, &|| false).into_iter();
    let plan = |step| PlannedSearch::whole(step, subject.backend);
    steps.map(plan).collect()
}
