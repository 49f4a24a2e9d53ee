//! A search with its hits printed as they are found, progress on the terminal, and a resume file.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hashlane_base58::{Event, Hit, Options, Progress, Search, SearchBackend};

use crate::Env;
use crate::options::Output;
use crate::output::progress::ProgressLine;

use super::plan::PlannedSearch;
use super::recovered::Recovered;
use super::resume::ResumedSearch;
use super::{human, json};

/// Interval at which the resume file is written.
const SAVE_INTERVAL: Duration = Duration::from_secs(10);

/// Settings of a search: how results are printed, and when the search ends early.
pub(super) struct Settings {
    pub(super) is_json: bool,
    pub(super) is_quiet: bool,
    pub(super) max_time: Option<Duration>,
}

impl Settings {
    pub(super) fn new(output: &Output, max_time: Option<Duration>) -> Self {
        Self {
            is_json: output.is_json(),
            is_quiet: output.quiet,
            max_time,
        }
    }
}

/// The warning about a private key among the arguments.
pub(super) const IN_HISTORY: &str = "\
warning: a private key among the arguments stays in the shell's history. Remove it, \
in bash: `history -d -2 && history -w` as the next command; \
in fish: `history delete --prefix 'hashlane recover'`; \
in zsh: end the shell, then delete the line from the file $HISTFILE. \
Next time, `hashlane recover -` asks for the key and does not show it";

/// Returns the name of a search on the terminal.
pub(super) fn name<'t>(search: &Search, text: &'t str) -> &'t str {
    if search.is_secret() {
        "a private key"
    } else {
        text
    }
}

/// The state of a running search.
struct Running<'r, 'f> {
    env: &'r mut Env,
    settings: &'r Settings,
    resumed: Option<&'r mut ResumedSearch<'f>>,
    line: Option<ProgressLine>,
    saved: Instant,
    hits: Vec<Hit>,
    backend: &'r dyn SearchBackend,
    /// The failure of a device that was reported.
    device_failure: Option<String>,
    /// The first error in printing or saving, which ends the search.
    failure: Option<anyhow::Error>,
}

/// Searches, prints hits as they are found, and ranks them. `name` identifies the search on the terminal.
pub(super) fn execute(
    env: &mut Env,
    name: &str,
    search: &Search,
    plan: &PlannedSearch<'_>,
    mut resumed: Option<ResumedSearch<'_>>,
    settings: &Settings,
) -> anyhow::Result<Recovered> {
    env.catch_interrupts();
    let cancel = env.cancel.clone();
    let is_over = AtomicBool::new(false);
    let started = Instant::now();
    let mut is_late = false;
    let line = (env.progress && !settings.is_quiet)
        .then(|| ProgressLine::of_share(format!("{name}: searching")));
    let mut running = Running {
        env,
        settings,
        resumed: resumed.as_mut(),
        line,
        saved: started,
        hits: Vec::new(),
        backend: plan.backend,
        // The search before this one reported it.
        device_failure: plan.backend.failure(),
        failure: None,
    };
    let options = Options {
        units: plan.units.clone(),
    };
    let outcome = search.run(plan.backend, &options, &is_over, |event| {
        is_late = settings
            .max_time
            .is_some_and(|limit| started.elapsed() > limit);
        let result = running.handle(event);
        running.failure = running.failure.take().or(result.err());
        if cancel.is_cancelled() || is_late || running.failure.is_some() {
            is_over.store(true, Ordering::Relaxed);
        }
    });
    running.report_device_failure();
    let Running {
        line,
        mut hits,
        failure,
        ..
    } = running;
    if let Some(line) = line {
        line.clear();
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    let outcome = outcome?;
    if let Some(resumed) = &mut resumed {
        resumed.record_done(outcome.progress.done_in_order);
        resumed.save()?;
    }
    hits.sort_by_key(|hit| hit.edits);
    Ok(Recovered {
        hits,
        outcome,
        is_late,
    })
}

impl Running<'_, '_> {
    fn handle(&mut self, event: Event) -> anyhow::Result<()> {
        match event {
            Event::Hit(hit) => self.handle_hit(hit),
            Event::Progress(progress) => self.handle_progress(&progress),
        }
    }

    fn handle_hit(&mut self, hit: Hit) -> anyhow::Result<()> {
        if let Some(resumed) = &mut self.resumed {
            resumed.record_hit(hit.unit);
        }
        let (env, settings) = (&mut *self.env, self.settings);
        let mut print = || {
            if settings.is_json {
                json::print_hit(env, &hit)
            } else {
                human::print_hit(env, &hit, settings.is_quiet)
            }
        };
        let printed = match &self.line {
            Some(line) => line.suspend(print),
            None => print(),
        };
        self.hits.push(hit);
        printed
    }

    /// Prints a warning if a device has failed since the last call.
    fn report_device_failure(&mut self) {
        let failure = self.backend.failure();
        if failure == self.device_failure {
            return;
        }
        if let Some(reason) = &failure {
            let env = &mut *self.env;
            let mut print = || env.error(&format!("warning: {reason}"));
            match &self.line {
                Some(line) => line.suspend(print),
                None => print(),
            }
        }
        self.device_failure = failure;
    }

    fn handle_progress(&mut self, progress: &Progress) -> anyhow::Result<()> {
        self.report_device_failure();
        if let Some(line) = &mut self.line {
            line.update(progress.done, progress.total);
        }
        if let Some(resumed) = &mut self.resumed {
            resumed.record_done(progress.done_in_order);
            if self.saved.elapsed() >= SAVE_INTERVAL {
                self.saved = Instant::now();
                resumed.save()?;
            }
        }
        Ok(())
    }
}
