//! Runs a session to its end: starts it, follows its events, and computes the exit status.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use hashlane_cli::output::stream;
use hashlane_cli::{Env, Exit};
use hashlane_client::{
    Config, Error, Event, Identity, Outcome, Replacement, Rights, Subscription, TorrentCommand,
    TorrentHandle, TorrentKey,
};
use hashlane_session::{Given, Problem, Session, Watched};
use hashlane_web::{Http, Listener, Server, SessionService};

use crate::again::Continued;
use crate::executor::{Executed, Executor};
use crate::log;
use crate::output::labels::Labels;
use crate::output::reporter::Reporter;
use crate::watchdog::{Rescue, Watchdog};

/// Answers [`Event::Confirm`].
type Confirm = fn(&mut Env, &Replacement) -> anyhow::Result<TorrentCommand>;

/// Runs a session that ends, and reports its events.
pub(crate) struct Runner {
    reporter: Reporter,
    /// The command of `--exec`, run after each download.
    command: Option<String>,
    confirm: Confirm,
    /// The state of the process that the session continues from.
    continued: Continued,
    /// The settings of the page, if there is one.
    page: Option<Http>,
}

impl Runner {
    /// Returns a runner that replaces no wrong piece.
    pub(crate) fn new(reporter: Reporter) -> Self {
        Self {
            reporter,
            command: None,
            confirm: |_, _| Ok(TorrentCommand::Keep("not replaced".to_owned())),
            continued: Continued::default(),
            page: None,
        }
    }

    /// Serves a page.
    pub(crate) fn serving(self, page: Option<Http>) -> Self {
        Self { page, ..self }
    }

    /// Runs this command after each download.
    pub(crate) fn executing(self, command: Option<String>) -> Self {
        Self { command, ..self }
    }

    /// Asks this function whether wrong pieces may be replaced.
    pub(crate) fn asking(self, confirm: Confirm) -> Self {
        Self { confirm, ..self }
    }

    /// Continues from the state of another process.
    pub(crate) fn continuing(self, continued: Continued) -> Self {
        Self { continued, ..self }
    }

    /// Runs the session to its end, with the torrents that a person gave.
    pub(crate) fn run(
        mut self,
        env: &mut Env,
        mut config: Config,
        settings: hashlane_session::Config,
        given: Vec<Given>,
    ) -> anyhow::Result<Exit> {
        for Watched { folder, .. } in &settings.watched {
            fs::read_dir(folder).with_context(|| folder.display().to_string())?;
        }
        env.catch_interrupts();
        let lost_lines = self.reporter.lost_lines();
        env.printer.start(lost_lines).map_err(Error::Thread)?;
        self.reporter.start(env);
        let has_failed = Arc::new(AtomicBool::new(self.continued.has_failed));
        let start =
            |command| Executor::start(command, env.state.as_deref(), Arc::clone(&has_failed));
        let executor = self.command.take().map(start).transpose();
        let executor = executor.map_err(Error::Thread)?;
        self.continued.change(&mut config.session);
        if let Some(warning) = self.continued.warning() {
            self.reporter.warning(env, None, &warning)?;
        }
        let (session, events, page) = self.start(env, &config, settings, given)?;
        let rescue = Rescue {
            observer: session.observer(),
            settings: config.session.clone(),
            session: Arc::downgrade(&session),
            cancel: env.cancel.clone(),
            end_at_once: env.end_at_once,
            printer: env.printer.clone(),
            args: env.args.clone(),
            commands: executor
                .as_ref()
                .map(Executor::unfinished)
                .unwrap_or_default(),
            has_failed: Arc::clone(&has_failed),
        };
        let watchdog = Watchdog::start(config.pulse.clone(), rescue).map_err(Error::Thread)?;
        let printed = events.clone();
        let mut following = Following {
            reporter: self.reporter,
            labels: Labels::default(),
            printed,
            confirm: self.confirm,
            executor,
            has_failed,
        };
        let followed = following.follow(env, &session, &events);
        if followed.is_err() {
            // Output has failed, so that no later event can be reported.
            env.cancel.cancel();
            for _ in events.iter() {}
        }
        // The client has ended, but readers of the page and of the output, and commands, can take any time.
        drop(watchdog);
        // The page shows the last state.
        drop(page);
        let stopped = session.stop();
        let followed = followed.and_then(|()| {
            let Following {
                reporter, printed, ..
            } = &mut following;
            reporter.print_rest(env, printed)
        });
        following.reporter.hide();
        let followed = followed
            .and_then(|()| following.wait_for_commands(env))
            .and_then(|()| following.reporter.stopped(env));
        match followed {
            Err(error) if stream::is_broken_pipe(&error) => return Ok(Exit::NotChecked),
            followed => followed?,
        }
        let outcomes = stopped.map_err(ended)?;
        Ok(following.exit(outcomes))
    }

    /// Starts the session, and its page if it has one.
    fn start(
        &mut self,
        env: &mut Env,
        config: &Config,
        settings: hashlane_session::Config,
        given: Vec<Given>,
    ) -> anyhow::Result<(Arc<Session>, Subscription, Option<Server>)> {
        // Before the first torrent: an address that cannot be used is an error at once.
        let bind = |http: Http| anyhow::Ok((bound(&http)?, http));
        let page = self.page.take().map(bind).transpose()?;
        let memory = std::mem::take(&mut self.continued.memory);
        let started = Session::start(memory, config.clone(), settings, given);
        let (session, events) = started.map_err(ended)?;
        let Some((listener, http)) = page else {
            return Ok((session, events, None));
        };
        let service = SessionService {
            session: Arc::clone(&session),
            rights: Some(Rights {
                folders: http.folders.clone(),
                may_delete: true,
                fetches_local: http.fetches_local,
            }),
            reload: None,
            try_rules: None,
        };
        let page = Server::start(listener, &http, config, Arc::new(service));
        let page = page.with_context(|| format!("--http {}", http.endpoint))?;
        self.reporter.serves(env, &page, &http)?;
        Ok((session, events, Some(page)))
    }
}

/// A session that runs.
struct Following {
    reporter: Reporter,
    /// The torrents whose events are handled. The reporter prints events later if its output is not read.
    labels: Labels,
    /// The events that are printed. Nothing else waits for their reader.
    printed: Subscription,
    confirm: Confirm,
    executor: Option<Executor>,
    /// Whether a command of `--exec` failed.
    has_failed: Arc<AtomicBool>,
}

impl Following {
    /// Handles events until the session ends.
    fn follow(
        &mut self,
        env: &mut Env,
        session: &Session,
        events: &Subscription,
    ) -> anyhow::Result<()> {
        let observer = session.observer();
        loop {
            match events.recv_timeout(self.reporter.until_due()) {
                Ok(event) => self.on_event(env, session, &event)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            self.reporter
                .print_next(env, &self.printed, Duration::ZERO)?;
            let executed: Vec<_> = self.executor.iter().flat_map(Executor::ended).collect();
            self.executed(env, &executed)?;
            for problem in session.problems() {
                let (Problem::Error(text) | Problem::Warning(text)) = problem;
                self.reporter.warning(env, None, &text)?;
            }
            let snapshot = observer.snapshot();
            self.reporter
                .show(env, &snapshot, |torrent| handle(session, torrent))?;
        }
    }

    fn on_event(&mut self, env: &mut Env, session: &Session, event: &Event) -> anyhow::Result<()> {
        self.labels.on_event(event);
        match event {
            Event::Confirm {
                torrent,
                replacement,
            } => {
                let answer = self.reporter.suspend(|| (self.confirm)(env, replacement))?;
                if let Some(handle) = handle(session, *torrent) {
                    // The torrent may have ended meanwhile.
                    let _ = match answer {
                        TorrentCommand::Keep(reason) => handle.keep(&reason),
                        _ => handle.replace(),
                    };
                }
            }
            Event::Verified(verified) if !verified.has_selected => {
                if let Some(executor) = &self.executor {
                    executor.forget(verified.torrent);
                }
            }
            Event::Complete(content) => {
                if let Some(executor) = &self.executor {
                    let label = self.labels.of(content.torrent);
                    executor.run(label.to_owned(), content.clone());
                }
            }
            Event::Removed(removed) => self.labels.forget(removed.torrent),
            _ => {}
        }
        Ok(())
    }

    /// Reports the commands that are running until they have ended.
    fn wait_for_commands(&mut self, env: &mut Env) -> anyhow::Result<()> {
        let executed = self.executor.take().map(Executor::end);
        self.executed(env, &executed.unwrap_or_default())
    }

    /// Reports commands that have ended.
    fn executed(&self, env: &mut Env, executed: &[Executed]) -> anyhow::Result<()> {
        executed
            .iter()
            .try_for_each(|executed| self.reporter.executed(env, executed))
    }

    fn exit(&self, outcomes: Vec<Outcome>) -> Exit {
        if self.has_failed.load(Ordering::SeqCst) {
            return Exit::NotChecked;
        }
        exit(outcomes)
    }
}

/// Returns a torrent in the client.
fn handle(session: &Session, torrent: Identity) -> Option<TorrentHandle> {
    session.handle(TorrentKey::Number(torrent.number))
}

/// Returns the exit status of the worst outcome.
pub(crate) fn exit(outcomes: Vec<Outcome>) -> Exit {
    match outcomes.into_iter().max().unwrap_or(Outcome::Complete) {
        Outcome::Complete => Exit::Good,
        Outcome::Incomplete => Exit::Bad,
        Outcome::Failed => Exit::NotChecked,
    }
}

/// Prints the problems of a session since the last call.
pub(crate) fn report_problems(env: &mut Env, session: &Session) {
    for problem in session.problems() {
        match problem {
            Problem::Error(text) => log::error(env, &text),
            Problem::Warning(text) => log::warn(env, &text),
        }
    }
}

/// Returns the reason why a session has ended, with the option that it concerns.
pub(crate) fn ended(error: hashlane_session::Error) -> anyhow::Error {
    match error {
        hashlane_session::Error::Client(error) => named(error),
        error => error.into(),
    }
}

/// Listens at the endpoint of a page.
fn bound(http: &Http) -> anyhow::Result<Listener> {
    let bound = http.endpoint.bind();
    bound.with_context(|| format!("--http {}", http.endpoint))
}

/// Returns the error with the option that it concerns.
pub(crate) fn named(error: Error) -> anyhow::Error {
    match error {
        Error::PortTaken { .. } => {
            anyhow!("{error}; choose another port with --port, or any free port with --port 0")
        }
        Error::Listen { .. } => anyhow!("--bind, {error}"),
        // The error's text already contains the text of its source.
        error => anyhow!("{error}"),
    }
}
