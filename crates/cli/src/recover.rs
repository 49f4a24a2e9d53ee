//! `hashlane recover`: what a damaged string was.

mod human;
mod json;
mod judge;
mod resume;
mod special;

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::{Context as _, bail};
use hashlane_base58::{
    Contradiction, Damage, Estimate, Event, Hit, Kind, MAX_HITS, Options, Outcome, Rate, Reason,
    Search, measure,
};
use hashlane_sha::{Engine, Sha256, digest};
use zeroize::Zeroizing;

use crate::args::{Case, Recover};
use crate::progress::ProgressLine;
use crate::text::{Duration as Shown, count};
use crate::{Env, Exit};

use judge::Judge;
use resume::Resume;
use special::Special;

/// A search that takes longer says so before it starts.
const LONG: Duration = Duration::from_mins(1);

/// Contradictions that a person reads.
const FEW: usize = 4;

/// How often a search that can be resumed writes down how far it is.
const SAVE_EVERY: Duration = Duration::from_secs(10);

/// What is the same for all strings.
struct Setup {
    kinds: Vec<Kind>,
    judge: Judge,
    rate: Rate,
    threads: usize,
}

/// What a search would cost here.
struct Cost {
    estimate: Estimate,
    rate: Rate,
    threads: usize,
    seconds: f64,
}

/// What was found out about one string.
struct Recovered<'r> {
    cost: &'r Cost,
    /// Ranked: the fewest edits first.
    hits: &'r [Hit],
    /// Hits that are not what is known of the string.
    n_judged_out: usize,
    outcome: &'r Outcome,
}

impl Recover {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let kinds = self.kinds()?;
        let judge = Judge::new(&self, env)?;
        let rates = measure(Engine::override_of_env()?);
        let Some(rate) = rates.first().copied() else {
            bail!("HASHLANE_BACKEND: this backend has no kernel for searches; sse2 and avx do");
        };
        let threads = self.threads.and_then(|n| NonZeroUsize::new(n.into()));
        let threads = threads.or_else(|| std::thread::available_parallelism().ok());
        let setup = Setup {
            kinds,
            judge,
            rate,
            threads: threads.map_or(1, NonZeroUsize::get),
        };
        let mut exits = Vec::new();
        for argument in &self.strings {
            if argument == "-" {
                while let Some(line) = read_line(env)? {
                    exits.push(self.report(env, &line, true, &setup)?);
                }
            } else {
                exits.push(self.report(env, argument.trim(), false, &setup)?);
            }
        }
        if exits.is_empty() {
            bail!("there are no strings on the standard input");
        }
        Ok(combined(&exits))
    }

    /// Recovers one string. What is wrong with it is told here, and the next one comes.
    fn report(
        &self,
        env: &mut Env,
        text: &str,
        is_private: bool,
        setup: &Setup,
    ) -> anyhow::Result<Exit> {
        match self.one(env, text, is_private, setup) {
            Err(error) if !crate::is_broken_pipe(&error) => {
                let error = format!("{error:#}");
                if self.json {
                    json::print_error(env, &error)?;
                }
                env.error(&error);
                Ok(Exit::NotChecked)
            }
            result => result,
        }
    }

    fn one(
        &self,
        env: &mut Env,
        text: &str,
        is_private: bool,
        setup: &Setup,
    ) -> anyhow::Result<Exit> {
        if let Some(special) = Special::of(text) {
            return special.tell(env, self.json);
        }
        let search = Search::new(text, self.damage(text), &setup.kinds)?;
        let estimate = search.estimate();
        if estimate.candidates == 0 {
            return self.explain(env, text, &search, &setup.kinds);
        }
        let Setup { rate, threads, .. } = *setup;
        #[expect(clippy::cast_precision_loss, reason = "nobody has so many")]
        let seconds = estimate.hashes / (rate.per_second * threads as f64);
        let cost = Cost {
            estimate,
            rate,
            threads,
            seconds,
        };
        if self.estimate {
            if self.json {
                json::print_estimate(env, &cost)?;
            } else {
                human::print_estimate(env, &cost)?;
            }
            return Ok(Exit::Good);
        }
        if search.is_secret() && !is_private && !self.quiet {
            env.error("warning: a private key among the arguments stays in the shell's history; `-` reads from the standard input");
        }
        self.check_limits(&cost)?;
        if seconds > LONG.as_secs_f64() && !self.quiet {
            env.error(&format!(
                "this will take {}, and {:.3} hits by accident are to be expected",
                Shown(seconds),
                cost.estimate.accidental_hits
            ));
        }
        let (hits, n_judged_out, outcome) = self.search(env, text, &search, setup)?;
        let recovered = Recovered {
            cost: &cost,
            hits: &hits,
            n_judged_out,
            outcome: &outcome,
        };
        if self.json {
            json::print_summary(env, &recovered)?;
        } else if !self.quiet {
            human::print_summary(env, &recovered)?;
        }
        if outcome.has_too_many_hits {
            bail!("more than {MAX_HITS} strings fit: too much is unknown");
        }
        if !outcome.is_complete {
            env.error("interrupted: there can be more");
            return Ok(Exit::NotChecked);
        }
        Ok(match hits.len() {
            0 => Exit::NotAllThere,
            1 => Exit::Good,
            _ => Exit::Several,
        })
    }

    /// Searches, tells hits as they are found, and ranks them.
    fn search(
        &self,
        env: &mut Env,
        text: &str,
        search: &Search,
        setup: &Setup,
    ) -> anyhow::Result<(Vec<Hit>, usize, Outcome)> {
        let n_units = search.n_units()?;
        let mut units = self.shard.map_or(0..n_units, |shard| shard.of(n_units));
        let mut resume = match &self.resume {
            Some(path) => {
                let fingerprint = self.fingerprint(text);
                Some(
                    Resume::open(&env.resolve(path), &fingerprint, units.clone())
                        .with_context(|| path.display().to_string())?,
                )
            }
            None => None,
        };
        let mut ranges = Vec::new();
        if let Some(resume) = &resume {
            ranges.extend(resume.units_with_hits());
            units.start = resume.next_unit();
        }
        let n_again = ranges.len() as u64;
        let first = units.start;
        ranges.push(units);
        let options = Options {
            kernel: setup.rate.kernel,
            threads: NonZeroUsize::new(setup.threads),
            units: Some(ranges),
        };
        env.catch_interrupts();
        let cancel = env.cancel.clone();
        let is_over = std::sync::atomic::AtomicBool::new(false);
        let started = std::time::Instant::now();
        let limit = self.max_time.map(Duration::from_secs_f64);
        let name = if search.is_secret() {
            "a private key"
        } else {
            text
        };
        let mut line = (env.progress && !self.quiet)
            .then(|| ProgressLine::of_share(format!("{name}: searching")));
        let mut hits: Vec<Hit> = Vec::new();
        let mut n_judged_out = 0;
        let mut saved = started;
        let mut failure = None;
        let outcome = search.run(&options, &is_over, |event| {
            let is_late = limit.is_some_and(|limit| started.elapsed() > limit);
            if cancel.is_cancelled() || is_late || failure.is_some() {
                is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            }
            match event {
                Event::Hit(hit) => {
                    if let Some(resume) = &mut resume {
                        resume.note_hit(hit.unit);
                    }
                    if !setup.judge.accepts(&hit) {
                        n_judged_out += 1;
                        return;
                    }
                    let mut tell = || {
                        if self.json {
                            json::print_hit(env, &hit)
                        } else {
                            human::print_hit(env, &hit, self.quiet)
                        }
                    };
                    let told = match &line {
                        Some(line) => line.suspend(tell),
                        None => tell(),
                    };
                    failure = failure.take().or(told.err());
                    hits.push(hit);
                }
                Event::Progress(progress) => {
                    if let Some(line) = &mut line {
                        line.update(progress.done, progress.total);
                    }
                    if let Some(resume) = &mut resume {
                        resume.note_done(first + progress.done_in_order.saturating_sub(n_again));
                        if saved.elapsed() >= SAVE_EVERY {
                            saved = std::time::Instant::now();
                            failure = failure.take().or(resume.save().err());
                        }
                    }
                }
            }
        });
        if let Some(line) = line {
            line.clear();
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        let outcome = outcome?;
        if let Some(resume) = &mut resume {
            let done = outcome.progress.done_in_order.saturating_sub(n_again);
            resume.note_done(first + done);
            resume.save()?;
        }
        hits.sort_by_key(|hit| hit.edits);
        Ok((hits, n_judged_out, outcome))
    }

    /// Says why there is nothing to search.
    fn explain(
        &self,
        env: &mut Env,
        text: &str,
        search: &Search,
        kinds: &[Kind],
    ) -> anyhow::Result<Exit> {
        if kinds.len() > 1
            && let Some(special) = Special::of_unknown(text)
        {
            return special.tell(env, self.json);
        }
        let all = search.contradictions();
        // Of many kinds, those that it comes nearest to say most.
        let depth = |contradiction: &Contradiction| match contradiction.reason {
            Reason::Character { position, .. } => position + 1,
            _ => 0,
        };
        let deepest = all.iter().map(depth).max().unwrap_or(0);
        let near = all
            .iter()
            .filter(|contradiction| depth(contradiction) == deepest);
        let near: Vec<&Contradiction> = near.collect();
        if self.json {
            for contradiction in near {
                json::print_contradiction(env, contradiction)?;
            }
            return Ok(Exit::NotAllThere);
        }
        if near.len() <= FEW {
            for contradiction in near {
                env.error(&format!("{contradiction}"));
            }
        } else {
            let kinds = count(near.len() as u64, "kind");
            env.error(&format!(
                "fits none of {kinds}; with --kind one of them says why"
            ));
        }
        env.error("no string fits, whatever the case of its letters and whatever is unknown");
        Ok(Exit::NotAllThere)
    }

    /// Tells one search from another.
    fn fingerprint(&self, text: &str) -> String {
        let damage = self.damage(text);
        let all = format!(
            "{} {text} {damage:?} {:?} {:?} {:?} {:?}",
            env!("CARGO_PKG_VERSION"),
            self.kinds,
            self.payload_len,
            self.version_bytes,
            self.shard
        );
        digest::<Sha256>(all.as_bytes()).to_string()
    }

    fn kinds(&self) -> anyhow::Result<Vec<Kind>> {
        if let Some(len) = self.payload_len {
            let version = self.version_bytes.as_deref().unwrap_or_default();
            return Ok(vec![Kind::custom(
                len.into(),
                version,
                self.alphabet.into(),
            )]);
        }
        if self.kinds.is_empty() {
            return Ok(Kind::all());
        }
        let kinds = self.kinds.iter().map(|name| {
            Kind::named(name)
                .with_context(|| format!("--kind {name}: `hashlane recover --help` has the names"))
        });
        kinds.collect()
    }

    /// What may have happened to the text, if it is not said: if all letters are of one case, or
    /// nothing else has happened, it is the case that was lost.
    fn damage(&self, text: &str) -> Damage {
        let is_mixed = text.contains(|c: char| c.is_ascii_lowercase())
            && text.contains(|c: char| c.is_ascii_uppercase());
        let is_damaged = self.glyphs || self.errors > 0 || text.contains(['?', '[']);
        Damage {
            case: match self.case {
                Case::Lost => true,
                Case::Kept => false,
                Case::Auto => !is_mixed || !is_damaged,
            },
            glyphs: self.glyphs,
            errors: self.errors,
        }
    }

    fn check_limits(&self, cost: &Cost) -> anyhow::Result<()> {
        if let Some(most) = self.max_hashes
            && cost.estimate.hashes > most
        {
            bail!(
                "{:.3e} hashes are needed, and --max-hashes allows {most:.3e}",
                cost.estimate.hashes
            );
        }
        if let Some(most) = self.max_time
            && cost.seconds > most
        {
            bail!(
                "{} are needed, and --max-time allows {}",
                Shown(cost.seconds),
                Shown(most)
            );
        }
        Ok(())
    }
}

/// A line of the standard input, without what is around it; `None` at its end.
fn read_line(env: &mut Env) -> anyhow::Result<Option<Zeroizing<String>>> {
    loop {
        let mut line = Zeroizing::new(String::new());
        if env.stdin.read_line(&mut line).context("standard input")? == 0 {
            return Ok(None);
        }
        let text = line.trim();
        if !text.is_empty() {
            return Ok(Some(Zeroizing::new(text.to_owned())));
        }
    }
}

/// Of several strings: the worst that can be said.
fn combined(exits: &[Exit]) -> Exit {
    let worst = [Exit::NotChecked, Exit::Several, Exit::NotAllThere];
    worst
        .into_iter()
        .find(|exit| exits.contains(exit))
        .unwrap_or(Exit::Good)
}
