//! Searches for more and more damage, until there is a hit or the time is over.

use std::time::{Duration, Instant};

use hashlane_base58::{Damage, MAX_ERRORS, Search, SearchError};

use crate::Env;

use super::execute::{self, IN_HISTORY, Settings, name};
use super::plan::PlannedSearch;
use super::recovered::{Recovered, Tried};
use super::steps::{Step, Subject};

/// Maximum duration in seconds of a search in the first round. Longer searches wait for the cheaper ones.
const SHORT: f64 = 0.5;

/// Maximum number of expected accidental hits. Only the user can start a search with more.
const MAX_ACCIDENTAL_HITS: f64 = 0.5;

/// The state of a search that widens by itself.
pub(super) struct Widening<'s> {
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

impl Widening<'_> {
    /// Searches for `least` and wider damage.
    pub(super) fn run(&mut self, env: &mut Env, least: Damage) -> anyhow::Result<()> {
        let first = self.subject.steps(vec![least], self.until);
        let is_short = first.iter().all(|step| step.seconds <= SHORT);
        if is_short && self.take(env, &first, least)? {
            return Ok(());
        }
        // Preparing a search for two errors takes longer than most searches for one.
        for (errors, max_seconds) in [(0..=1, SHORT), (0..=MAX_ERRORS, f64::INFINITY)] {
            let is_new = |damage: &Damage| {
                let mut tried = self.tried.iter();
                !tried.any(|tried| tried.damage.includes(*damage))
            };
            let mut damages = least.wider(errors);
            damages.retain(is_new);
            let mut steps = self.subject.steps(damages, self.until);
            steps.retain(|step| step.seconds <= max_seconds);
            if self.take(env, &steps, least)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Makes the searches for which there is time. Returns `true` if there is no reason for further searches.
    fn take(&mut self, env: &mut Env, steps: &[Step], least: Damage) -> anyhow::Result<bool> {
        for step in steps {
            let is_likely = step.accidental_hits <= MAX_ACCIDENTAL_HITS || step.damage == least;
            let mut tried = self.tried.iter();
            if !is_likely
                || tried.any(|tried| tried.damage.includes(step.damage))
                || step.seconds > self.remaining().as_secs_f64()
            {
                continue;
            }
            match self.search(env, step.damage) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(error) => {
                    return match error.downcast_ref() {
                        None | Some(SearchError::Thread(_)) => Err(error),
                        // The time is over.
                        Some(_) => Ok(false),
                    };
                }
            }
        }
        Ok(false)
    }

    /// Makes a search. Returns `true` if it has found something or was ended.
    fn search(&mut self, env: &mut Env, damage: Damage) -> anyhow::Result<bool> {
        let Subject {
            text,
            kinds,
            backend,
        } = self.subject;
        let is_late = || Instant::now() >= self.until;
        let search = Search::new_until(text, damage, kinds, &is_late)?;
        if search.is_secret() && std::mem::take(&mut self.warns) {
            env.error(IN_HISTORY);
        }
        let plan = PlannedSearch::new(&search, search.estimate(), None, backend)?;
        self.settings.max_time = Some(self.remaining());
        let name = name(&search, text);
        let recovered = execute::execute(env, name, &search, &plan, None, &self.settings)?;
        self.tried.push(Tried::new(damage, &recovered));
        let is_over = !recovered.found_nothing() || recovered.is_late;
        self.last = Some((plan, recovered));
        Ok(is_over)
    }

    fn remaining(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}
