//! The cost of a search on this machine, and the limits on it.

use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use hashlane_base58::{Damage, Estimate, Least, Search, SearchBackend, SearchError, Step, Subject};

use crate::output::text;

/// Time to prepare a search whose cost is printed. The rest of an estimate takes about as long.
pub(super) const ESTIMATE_FOR: Duration = Duration::from_millis(60);

/// The part of a search that remains to be done, and its cost on this machine.
pub(super) struct PlannedSearch<'b> {
    pub(super) damage: Damage,
    pub(super) estimate: Estimate,
    pub(super) backend: &'b dyn SearchBackend,
    /// The work units to search, in this order; `None` for all of them.
    pub(super) units: Option<Vec<Range<u64>>>,
    /// Expected hashes in these work units.
    pub(super) remaining_hashes: f64,
    /// Expected seconds for these work units.
    pub(super) seconds: f64,
}

/// Limits above which a search does not start.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) hashes: Option<f64>,
    pub(super) time: Option<Duration>,
}

impl Limits {
    pub(super) fn of_time(limit: Duration) -> Self {
        Self {
            hashes: None,
            time: Some(limit),
        }
    }
}

impl<'b> PlannedSearch<'b> {
    /// Returns the plan for some work units of a search with this estimate, or for all of it.
    pub(super) fn new(
        search: &Search,
        damage: Damage,
        estimate: Estimate,
        units: Option<Vec<Range<u64>>>,
        backend: &'b dyn SearchBackend,
    ) -> Result<Self, SearchError> {
        let remaining_hashes = match &units {
            Some(units) => search.hashes_in(units)?,
            None => estimate.hashes,
        };
        Ok(Self {
            damage,
            seconds: search.seconds_in(units.as_deref(), backend)?,
            estimate,
            backend,
            units,
            remaining_hashes,
        })
    }

    /// Returns the plan for all of a search with this cost on `backend`.
    pub(super) fn whole(step: Step, backend: &'b dyn SearchBackend) -> Self {
        Self {
            damage: step.damage,
            remaining_hashes: step.estimate.hashes,
            estimate: step.estimate,
            backend,
            units: None,
            seconds: step.seconds,
        }
    }

    /// Returns the words before numbers that are lower bounds.
    pub(super) fn bound(&self) -> &'static str {
        if self.estimate.is_lower_bound {
            "at least "
        } else {
            ""
        }
    }

    /// Fails if the remaining part exceeds a limit.
    pub(super) fn check(&self, limits: Limits) -> anyhow::Result<()> {
        let what = match self.units {
            Some(_) => "the remaining part of the search",
            None => "the search",
        };
        if let Some(most) = limits.hashes
            && self.remaining_hashes > most
        {
            let hashes = self.remaining_hashes;
            let bound = self.bound();
            bail!("--max-hashes allows {most:.3e} hashes; {what} needs {bound}{hashes:.3e}");
        }
        if let Some(most) = limits.time.map(|time| time.as_secs_f64())
            && self.seconds > most
        {
            let (most, seconds) = (text::Duration(most), text::Duration(self.seconds));
            let bound = self.bound();
            bail!("--max-time allows {most}; {what} takes {bound}{seconds}");
        }
        Ok(())
    }
}

/// Prepares a search, or as much of it as `part` allows, within the time that `--max-time` allows from `started` on.
pub(super) fn prepare(
    subject: &Subject<'_>,
    damage: Damage,
    max_time: Option<Duration>,
    started: Instant,
    part: Option<Duration>,
) -> anyhow::Result<Search> {
    let is_late = || max_time.is_some_and(|limit| started.elapsed() >= limit);
    let search = subject.search(damage, part, &is_late);
    search.map_err(|error| not_prepared(error, max_time))
}

/// Prepares the search for the least damage of a text, within the time that `--max-time` allows.
pub(super) fn prepare_least(subject: &Subject<'_>, max_time: Duration) -> anyhow::Result<Least> {
    let started = Instant::now();
    let least = subject.least(&|| started.elapsed() >= max_time);
    least.map_err(|error| not_prepared(error, Some(max_time)))
}

fn not_prepared(error: SearchError, max_time: Option<Duration>) -> anyhow::Error {
    match error {
        SearchError::Ended => {
            let limit = text::Duration(max_time.unwrap_or_default().as_secs_f64());
            anyhow!("--max-time allows {limit}; the preparation of the search takes longer")
        }
        error => error.into(),
    }
}
