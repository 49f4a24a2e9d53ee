//! Searches for more and more damage, until there is a hit or the time is over.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use hashlane_base58::{Damage, MAX_ERRORS, Search, SearchError};

use crate::Env;

use super::execute::{self, IN_HISTORY, Settings, name};
use super::plan::PlannedSearch;
use super::recovered::{Recovered, Tried};
use super::steps::{Preparation, Step, Subject};

/// Maximum duration in seconds of a search in the first round. Longer searches wait for the cheaper ones.
const SHORT: f64 = 0.5;

/// Maximum number of expected accidental hits. Only the user can start a search with more.
const MAX_ACCIDENTAL_HITS: f64 = 0.5;

/// What is done with the searches of [`widen`]: they are made, or only listed.
trait Widening<'s> {
    fn subject(&self) -> Subject<'s>;

    /// Returns the limit on the preparation of the searches of a round.
    fn preparation(&self) -> Preparation;

    /// Returns the time that is left for searches.
    fn remaining(&self) -> Duration;

    /// Returns `true` if an earlier search has covered this damage.
    fn covers(&self, damage: Damage) -> bool;

    /// Makes a search or lists it. Breaks if there is no reason for further searches.
    fn take(&mut self, step: Step<'s>) -> anyhow::Result<ControlFlow<()>>;
}

/// Takes the searches for `least` and wider damage for which there is time, in the order of their cost.
fn widen<'s>(widening: &mut dyn Widening<'s>, least: Damage) -> anyhow::Result<()> {
    let subject = widening.subject();
    let first = subject.steps(vec![least], widening.preparation());
    let is_short = first.iter().all(|step| step.plan.seconds <= SHORT);
    if is_short && take_all(widening, first, least)?.is_break() {
        return Ok(());
    }
    // Preparing a search for two errors takes longer than most searches for one.
    for (errors, max_seconds) in [(0..=1, SHORT), (0..=MAX_ERRORS, f64::INFINITY)] {
        let mut damages = least.wider(errors);
        damages.retain(|damage| !widening.covers(*damage));
        let mut steps = subject.steps(damages, widening.preparation());
        steps.retain(|step| step.plan.seconds <= max_seconds);
        if take_all(widening, steps, least)?.is_break() {
            return Ok(());
        }
    }
    Ok(())
}

/// Takes the searches of a round. Breaks if there is no reason for further searches.
fn take_all<'s>(
    widening: &mut dyn Widening<'s>,
    steps: Vec<Step<'s>>,
    least: Damage,
) -> anyhow::Result<ControlFlow<()>> {
    for step in steps {
        let accidental_hits = step.plan.estimate.accidental_hits;
        let is_likely = accidental_hits <= MAX_ACCIDENTAL_HITS || step.damage == least;
        if !is_likely
            || widening.covers(step.damage)
            || step.plan.seconds > widening.remaining().as_secs_f64()
        {
            continue;
        }
        match widening.take(step) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
            Err(error) => {
                return match error.downcast_ref() {
                    None | Some(SearchError::Thread(_)) => Err(error),
                    // The time is over.
                    Some(_) => Ok(ControlFlow::Continue(())),
                };
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Searches that are made.
pub(super) struct Searching<'s, 'e> {
    pub(super) env: &'e mut Env,
    pub(super) subject: Subject<'s>,
    pub(super) settings: Settings<'s>,
    pub(super) until: Instant,
    /// Whether a private key stays in the shell's history, and the user does not know it yet.
    pub(super) warns: bool,
    /// The searches that were made.
    pub(super) tried: Vec<Tried>,
    /// The plan and the result of the last search.
    pub(super) last: Option<(PlannedSearch<'s>, Recovered)>,
}

impl Searching<'_, '_> {
    /// Searches for `least` and wider damage.
    pub(super) fn run(&mut self, least: Damage) -> anyhow::Result<()> {
        widen(self, least)
    }
}

impl<'s> Widening<'s> for Searching<'s, '_> {
    fn subject(&self) -> Subject<'s> {
        self.subject
    }

    fn preparation(&self) -> Preparation {
        Preparation::Until(self.until)
    }

    fn remaining(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    fn covers(&self, damage: Damage) -> bool {
        let mut tried = self.tried.iter();
        tried.any(|tried| tried.damage.includes(damage))
    }

    fn take(&mut self, step: Step<'s>) -> anyhow::Result<ControlFlow<()>> {
        let Subject {
            text,
            kinds,
            backend,
        } = self.subject;
        let is_late = || Instant::now() >= self.until;
        let search = Search::new_until(text, step.damage, kinds, &is_late)?;
        if search.is_secret() && std::mem::take(&mut self.warns) {
            self.env.error(IN_HISTORY);
        }
        let plan = PlannedSearch::new(&search, search.estimate(), None, backend)?;
        self.settings.max_time = Some(self.remaining());
        let name = name(&search, text);
        let recovered = execute::execute(self.env, name, &search, &plan, None, &self.settings)?;
        self.tried.push(Tried::new(step.damage, &recovered));
        let is_over = !recovered.found_nothing() || recovered.is_late;
        self.last = Some((plan, recovered));
        Ok(if is_over {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }
}

/// Returns the searches that [`Searching::run`] makes if none of them has a hit.
pub(super) fn estimate<'s>(
    subject: Subject<'s>,
    least: Damage,
    limit: Duration,
) -> anyhow::Result<Vec<Step<'s>>> {
    let mut listing = Listing {
        subject,
        remaining: limit,
        steps: Vec::new(),
    };
    widen(&mut listing, least)?;
    Ok(listing.steps)
}

/// Searches that are only listed.
struct Listing<'s> {
    subject: Subject<'s>,
    /// The time that the listed searches leave.
    remaining: Duration,
    steps: Vec<Step<'s>>,
}

impl<'s> Widening<'s> for Listing<'s> {
    fn subject(&self) -> Subject<'s> {
        self.subject
    }

    fn preparation(&self) -> Preparation {
        Preparation::Part
    }

    fn remaining(&self) -> Duration {
        self.remaining
    }

    fn covers(&self, damage: Damage) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| step.damage.includes(damage))
    }

    fn take(&mut self, step: Step<'s>) -> anyhow::Result<ControlFlow<()>> {
        // The search takes no more than what remains.
        let seconds = Duration::from_secs_f64(step.plan.seconds);
        self.remaining = self.remaining.saturating_sub(seconds);
        self.steps.push(step);
        Ok(ControlFlow::Continue(()))
    }
}
