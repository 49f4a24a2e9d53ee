//! Searches for more and more damage, the cheapest first.

use std::collections::VecDeque;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backend::SearchBackend;
use crate::damage::{Damage, Gap, MAX_ERRORS, is_mixed};
use crate::error::SearchError;
use crate::filter::Filter;
use crate::kind::Kind;
use crate::pattern::n_impossible;
use crate::search::{Estimate, Search};

/// Maximum duration in seconds of a search in the first rounds. Longer searches wait for the cheaper ones.
const SHORT: f64 = 0.5;

/// Maximum number of expected accidental hits. Only the user can start a search with more.
const MAX_ACCIDENTAL_HITS: f64 = 0.5;

/// The same for a search for a gap: seven lost characters of a compressed private key have two accidental hits, and nothing
/// nearer fits a text that is too short.
const MAX_ACCIDENTAL_HITS_OF_GAP: f64 = 10.0;

/// Number of expected accidental hits above which a hit may be one of them.
const MAY_BE_ACCIDENTAL: f64 = 0.01;

/// The text, the kinds and the device that several searches share.
#[derive(Clone, Copy)]
pub struct Subject<'s> {
    /// The damaged string.
    pub text: &'s str,
    /// The kinds to search for.
    pub kinds: &'s [Kind],
    /// Facts that rule out hits.
    pub filter: &'s Arc<Filter>,
    /// The device that searches.
    pub backend: &'s dyn SearchBackend,
}

/// The cost of a possible search.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The damage to search for.
    pub damage: Damage,
    /// The numbers of candidates, hashes and accidental hits to expect.
    pub estimate: Estimate,
    /// Expected duration in seconds.
    pub seconds: f64,
}

/// The search for the least damage that a text shows.
#[derive(Debug)]
pub enum Least {
    /// No string fits the text: a search without candidates.
    Misfit(Search),
    /// Strings fit the text: the cost of the search.
    Fit(Step),
}

/// Without the text, which can be a private key.
impl fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("kinds", &self.kinds)
            .field("backend", &self.backend.name())
            .finish_non_exhaustive()
    }
}

impl Subject<'_> {
    /// Prepares a search, or only a part of it if all of it takes longer than `part`; see [`Search::part_within`].
    ///
    /// # Errors
    /// Returns the errors of [`Search::new_until`].
    pub fn search(
        &self,
        damage: Damage,
        part: Option<Duration>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Search, SearchError> {
        let search = match part {
            Some(time) => Search::part_within(self.text, damage, self.kinds, time, is_over)?,
            None => Search::new_until(self.text, damage, self.kinds, is_over)?,
        };
        Ok(search.filtered(Arc::clone(self.filter)))
    }

    /// Returns the cost of a search, or `None` if it has no candidates, is not possible, or is not prepared when `is_over`
    /// returns `true`.
    ///
    /// If `part` is given, and all of the search is not prepared in that time, its cost is a lower bound; see
    /// [`Search::part_within`].
    pub fn step(
        &self,
        damage: Damage,
        part: Option<Duration>,
        is_over: &dyn Fn() -> bool,
    ) -> Option<Step> {
        let search = self.search(damage, part, is_over).ok()?;
        self.cost(damage, &search).ok()?
    }

    /// Returns the cost of a search, or `None` if it has no candidates.
    fn cost(&self, damage: Damage, search: &Search) -> Result<Option<Step>, SearchError> {
        let estimate = search.estimate();
        if estimate.candidates == 0 {
            return Ok(None);
        }
        Ok(Some(Step {
            damage,
            estimate,
            seconds: search.seconds_in(None, self.backend)?,
        }))
    }

    /// Prepares the search for the least damage of the text. If [`Widening::next`] returns no search at all, the result is the
    /// reason: the error, the misfit, or a search that takes longer than there is time.
    ///
    /// # Errors
    /// Returns the errors of [`Search::new_until`].
    pub fn least(&self, is_over: &dyn Fn() -> bool) -> Result<Least, SearchError> {
        let damage = Damage::least(self.text);
        let search = self.search(damage, None, is_over)?;
        Ok(match self.cost(damage, &search)? {
            Some(step) => Least::Fit(step),
            None => Least::Misfit(search),
        })
    }

    /// Returns the cost of the searches for these kinds of damage, the cheapest first, without those for which
    /// [`step`](Self::step) returns `None`.
    pub fn steps(
        &self,
        damages: Vec<Damage>,
        part: Option<Duration>,
        is_over: &dyn Fn() -> bool,
    ) -> Vec<Step> {
        let steps = damages.into_iter();
        let steps = steps.filter_map(|damage| self.step(damage, part, is_over));
        let mut steps: Vec<Step> = steps.collect();
        steps.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        steps
    }
}

impl Damage {
    /// Returns the least damage that a text shows: the letter case is lost if all letters have the same case, and each
    /// character that no string has is an error.
    pub fn least(text: &str) -> Self {
        let damage = Self {
            case: !is_mixed(text),
            ..Self::default()
        };
        damage.with_errors_in(text, 0)
    }

    /// Returns every damage of `text` without a gap that includes the lost letter case and the look-alikes of this one, with numbers
    /// of errors at unknown positions in `unknown`, but no fewer than this one has.
    pub fn wider(self, text: &str, unknown: RangeInclusive<u8>) -> Vec<Self> {
        let own = self.errors.saturating_sub(n_impossible(text, self));
        let mut all = Vec::new();
        for n_unknown in own.max(*unknown.start())..=MAX_ERRORS.min(*unknown.end()) {
            for glyphs in [false, true] {
                for case in [false, true] {
                    if (case || !self.case) && (glyphs || !self.glyphs) {
                        let damage = Self {
                            case,
                            glyphs,
                            ..self
                        };
                        all.push(damage.with_errors_in(text, n_unknown));
                    }
                }
            }
        }
        all
    }

    /// Returns this damage with each place of a gap, the most likely first.
    pub fn with_gaps(self) -> impl Iterator<Item = Self> {
        Gap::PLACES.into_iter().map(move |gap| Self { gap, ..self })
    }

    /// Returns this damage with an error for each character of a text that no string has, and `n_unknown` at unknown
    /// positions.
    fn with_errors_in(self, text: &str, n_unknown: u8) -> Self {
        Self {
            errors: n_impossible(text, self) + n_unknown,
            ..self
        }
    }
}

/// Searches for more and more damage of one text, the cheapest first, for which there is time. The caller reports the hits of each
/// by [`found`](Self::found).
#[derive(Debug)]
pub struct Widening {
    until: Instant,
    choice: Choice,
}

impl Widening {
    /// Starts with the least damage that `text` shows. The searches are expected to end by `until`.
    pub fn new(text: &str, until: Instant) -> Self {
        Self {
            until,
            choice: Choice::new(text),
        }
    }

    /// Returns the searches that [`next`](Self::next) returns within `limit` if none of them has a hit. Makes none of them.
    ///
    /// A search is prepared only in part if all of it takes longer than `part`. Its cost is then a lower bound; see
    /// [`Search::part_within`]. The list ends early after `is_over` returns `true`.
    pub fn list(
        subject: &Subject<'_>,
        limit: Duration,
        part: Duration,
        is_over: &dyn Fn() -> bool,
    ) -> Vec<Step> {
        let mut choice = Choice::new(subject.text);
        let mut remaining = limit;
        let mut steps = Vec::new();
        while let Some(step) = choice.next(subject, Some(part), is_over, &|| remaining) {
            // A chosen search takes no more than what remains.
            let taken = Duration::try_from_secs_f64(step.seconds).unwrap_or(remaining);
            remaining = remaining.saturating_sub(taken);
            steps.push(step);
        }
        steps
    }

    /// Returns the next search with its damage, or `None` if there is no further one that is expected to end in time. A search
    /// for more damage than the least is left out if many accidental hits are expected. After a hit, only nearer strings
    /// are searched for; see [`found`](Self::found).
    ///
    /// The preparation ends early, with `None`, after `is_over` returns `true`.
    pub fn next(
        &mut self,
        subject: &Subject<'_>,
        is_over: &dyn Fn() -> bool,
    ) -> Option<(Damage, Search)> {
        let remaining = || time_until(self.until);
        let is_late = || is_over() || remaining().is_zero();
        let Step { damage, .. } = self.choice.next(subject, None, &is_late, &remaining)?;
        // Fails only if the time is over: the same search was prepared for its cost.
        let search = subject.search(damage, None, &is_late);
        Some((damage, search.ok()?))
    }

    /// Takes note that the last search has hits, and the fewest edits of one of them.
    ///
    /// If these hits may be accidental, strings with fewer edits are searched for. All other searches are left out.
    pub fn found(&mut self, edits: u32) {
        self.choice.found(edits);
    }

    /// Returns the searches that could find a string with fewer edits than those that were found, and were not made,
    /// the cheapest first. Returns none before a hit. See [`Subject::step`] for `part` and `is_over`.
    pub fn nearer(
        &self,
        subject: &Subject<'_>,
        part: Duration,
        is_over: &dyn Fn() -> bool,
    ) -> Vec<Step> {
        if self.choice.nearer_than.is_none() {
            return Vec::new();
        }
        let mut damages = self.choice.least.wider(subject.text, 0..=MAX_ERRORS);
        damages.retain(|damage| self.choice.is_nearer(*damage) && !self.choice.is_covered(*damage));
        subject.steps(damages, Some(part), is_over)
    }

    /// Returns the time until the searches are expected to end.
    pub fn remaining(&self) -> Duration {
        time_until(self.until)
    }
}

fn time_until(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

/// Chooses the searches, in rounds.
#[derive(Debug)]
struct Choice {
    least: Damage,
    /// The damage of the searches that were chosen.
    tried: Vec<Damage>,
    /// The damage of searches with many accidental hits.
    ambiguous: Vec<Damage>,
    /// The number of accidental hits that are expected of the last search.
    accidental_hits: f64,
    /// Strings with fewer edits remain to be searched for.
    nearer_than: Option<u32>,
    /// Whether strings fit the text as it is. Then nothing shows that it was cut off.
    fits: bool,
    rounds: VecDeque<Round>,
    /// The searches that remain in this round.
    steps: VecDeque<Step>,
}

/// Searches that are compared with each other.
#[derive(Debug)]
struct Round {
    damages: Vec<Damage>,
    /// The longest duration of a search in seconds.
    max_seconds: f64,
}

impl Choice {
    fn new(text: &str) -> Self {
        let least = Damage::least(text);
        let round = |damages, max_seconds| Round {
            damages,
            max_seconds,
        };
        let wider = |n_errors| {
            let mut all = least.wider(text, 0..=n_errors);
            all.extend(least.with_gaps());
            all
        };
        Self {
            least,
            tried: Vec::new(),
            ambiguous: Vec::new(),
            accidental_hits: 0.0,
            nearer_than: None,
            fits: false,
            rounds: VecDeque::from([
                round(vec![least], SHORT),
                // Preparing a search for two errors takes longer than most searches for one.
                round(wider(1), SHORT),
                round(wider(MAX_ERRORS), f64::INFINITY),
            ]),
            steps: VecDeque::new(),
        }
    }

    /// Returns the next search that takes no more than the `remaining` time; see [`Subject::step`] for `part` and `is_over`.
    fn next(
        &mut self,
        subject: &Subject<'_>,
        part: Option<Duration>,
        is_over: &dyn Fn() -> bool,
        remaining: &dyn Fn() -> Duration,
    ) -> Option<Step> {
        loop {
            while let Some(step) = self.steps.pop_front() {
                if is_over() {
                    return None;
                }
                let is_fast = step.seconds <= remaining().as_secs_f64();
                if is_fast && self.is_wanted(step.damage) {
                    self.tried.push(step.damage);
                    self.accidental_hits = step.estimate.accidental_hits;
                    return Some(step);
                }
            }
            let Round {
                mut damages,
                max_seconds,
            } = self.rounds.pop_front()?;
            damages.retain(|damage| self.is_wanted(*damage) && !self.is_ambiguous(*damage));
            let mut steps = subject.steps(damages, part, is_over);
            self.fits |= steps.iter().any(|step| step.damage == self.least);
            let ambiguous = steps.iter();
            let ambiguous = ambiguous.filter(|step| {
                let most = match step.damage.gap {
                    Gap::None => MAX_ACCIDENTAL_HITS,
                    _ => MAX_ACCIDENTAL_HITS_OF_GAP,
                };
                step.estimate.accidental_hits > most
            });
            self.ambiguous.extend(ambiguous.map(|step| step.damage));
            steps.retain(|step| step.seconds <= max_seconds && !self.is_ambiguous(step.damage));
            self.steps = steps.into();
        }
    }

    fn found(&mut self, edits: u32) {
        let may_be_accidental = self.accidental_hits > MAY_BE_ACCIDENTAL;
        let edits = if may_be_accidental { edits } else { 0 };
        let nearer_than = self.nearer_than.unwrap_or(u32::MAX);
        self.nearer_than = Some(nearer_than.min(edits));
    }

    fn is_wanted(&self, damage: Damage) -> bool {
        let is_possible = damage.gap == Gap::None || !self.fits;
        is_possible && !self.is_covered(damage) && self.is_nearer(damage)
    }

    /// Returns `true` if every string that a search for `damage` finds has fewer edits than those that were found.
    fn is_nearer(&self, damage: Damage) -> bool {
        let edits = u32::from(damage.errors);
        let has_known_edits = !damage.glyphs && damage.gap == Gap::None;
        self.nearer_than
            .is_none_or(|nearer_than| has_known_edits && edits < nearer_than)
    }

    /// Returns `true` if a search for `damage` finds nothing that an earlier one does not find.
    fn is_covered(&self, damage: Damage) -> bool {
        self.tried.iter().any(|tried| tried.includes(damage))
    }

    /// Returns `true` if a search for more than the least damage has many accidental hits: at least as many as one for less
    /// damage, even if only a part of it was prepared.
    fn is_ambiguous(&self, damage: Damage) -> bool {
        let mut ambiguous = self.ambiguous.iter();
        damage != self.least && ambiguous.any(|ambiguous| damage.includes(*ambiguous))
    }
}
