//! Runs a client to its end: starts it, follows its events, and computes the exit status.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use hashlane_cli::output::stream;
use hashlane_cli::{Env, Exit};
use hashlane_client::{
    Client, Command, Config, Error, Event, Handover, Identity, Outcome, Replacement, Subscription,
    Task, TorrentCommand,
};
use hashlane_metainfo::Torrent;
use hashlane_web::{Http, Listener, Server};

use crate::executor::{Executed, Executor};
use crate::output::labels::Labels;
use crate::output::reporter::{Name, Reporter};
use crate::watchdog::{Rescue, Watchdog};

/// Answers [`Event::Confirm`].
type Confirm = fn(&mut Env, &Replacement) -> anyhow::Result<TorrentCommand>;

/// Writes the .torrent file of a magnet link, and returns its path.
type Save = Box<dyn Fn(&mut Env, &Torrent) -> anyhow::Result<PathBuf>>;

/// Runs a client, and reports its events.
pub(crate) struct Runner {
    reporter: Reporter,
    /// The command of `--exec`, run after each download.
    command: Option<String>,
    confirm: Confirm,
    /// The function that writes the metadata of magnet links.
    save: Option<Save>,
    /// The state of the process that the client continues from.
    continued: Handover,
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
            save: None,
            continued: Handover::default(),
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
    pub(crate) fn continuing(self, continued: Handover) -> Self {
        Self { continued, ..self }
    }

    /// Writes the metadata of magnet links by this function.
    pub(crate) fn saving(
        self,
        save: impl Fn(&mut Env, &Torrent) -> anyhow::Result<PathBuf> + 'static,
    ) -> Self {
        Self {
            save: Some(Box::new(save)),
            ..self
        }
    }

    /// Runs the client to its end.
    pub(crate) fn run(
        mut self,
        env: &mut Env,
        config: &Config,
        tasks: Vec<Task>,
    ) -> anyhow::Result<Exit> {
        env.catch_interrupts();
        let labels = Labels::of_tasks(&tasks);
        let lost_lines = self.reporter.lost_lines();
        env.printer.start(lost_lines).map_err(Error::Thread)?;
        self.reporter.start(env, labels.clone());
        let has_failed = Arc::new(AtomicBool::new(self.continued.has_failed));
        let start =
            |command| Executor::start(command, env.state.as_deref(), Arc::clone(&has_failed));
        let executor = self.command.take().map(start).transpose();
        let executor = executor.map_err(Error::Thread)?;
        let pulse = config.pulse.clone();
        let continued = std::mem::take(&mut self.continued);
        let (client, events, page) = self.start(env, config, tasks, continued)?;
        let rescue = Rescue {
            observer: client.observer(),
            keeps_torrents: false,
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
        let watchdog = match Watchdog::start(pulse, rescue) {
            Ok(watchdog) => watchdog,
            Err(error) => {
                let _ = client.stop();
                return Err(Error::Thread(error).into());
            }
        };
        let printed = events.clone();
        let mut following = Following {
            reporter: self.reporter,
            labels,
            printed,
            confirm: self.confirm,
            save: self.save,
            executor,
            has_failed,
        };
        let followed = following.follow(env, &client, &events);
        if followed.is_err() {
            // Output has failed, so that no later event can be reported.
            env.cancel.cancel();
        }
        let joined = client.join();
        drop(page);
        // The loop has ended, but readers and commands can take any time.
        drop(watchdog);
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
        let outcomes = joined.map_err(named)?;
        Ok(following.exit(outcomes))
    }
}

impl Runner {
    /// Starts the client, and its page if it has one.
    fn start(
        &mut self,
        env: &mut Env,
        config: &Config,
        tasks: Vec<Task>,
        continued: Handover,
    ) -> anyhow::Result<(Client, Subscription, Option<Server>)> {
        // Before the first torrent: an address that cannot be used is an error at once.
        let bind = |http: Http| anyhow::Ok((bound(&http)?, http));
        let page = self.page.take().map(bind).transpose()?;
        let started = Client::continue_from(config.clone(), tasks, continued);
        let (client, events) = started.map_err(named)?;
        let served = page.map(|page| self.reporter.serve(env, &client, config, page));
        match served.transpose() {
            Ok(page) => Ok((client, events, page)),
            Err(error) => {
                let _ = client.stop();
                Err(error)
            }
        }
    }
}

/// A client that runs.
struct Following {
    reporter: Reporter,
    /// The torrents whose events are handled. The reporter prints events later if its output is not read.
    labels: Labels,
    /// The events that are printed. Nothing else waits for their reader.
    printed: Subscription,
    confirm: Confirm,
    save: Option<Save>,
    executor: Option<Executor>,
    /// Whether a command of `--exec` failed, or a .torrent file could not be written.
    has_failed: Arc<AtomicBool>,
}

impl Following {
    /// Handles events until the client ends.
    fn follow(
        &mut self,
        env: &mut Env,
        client: &Client,
        events: &Subscription,
    ) -> anyhow::Result<()> {
        loop {
            match events.recv_timeout(self.reporter.until_due()) {
                Ok(event) => self.on_event(env, client, &event)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            self.reporter
                .print_next(env, &self.printed, Duration::ZERO)?;
            let executed: Vec<_> = self.executor.iter().flat_map(Executor::ended).collect();
            self.executed(env, &executed)?;
            self.reporter.show(env, client)?;
        }
    }

    fn on_event(&mut self, env: &mut Env, client: &Client, event: &Event) -> anyhow::Result<()> {
        self.labels.on_event(event);
        match event {
            Event::Confirm {
                torrent,
                replacement,
            } => {
                let answer = self.reporter.suspend(|| (self.confirm)(env, replacement))?;
                client.send(Command::Torrent(torrent.number, answer));
            }
            Event::Metadata { torrent, metainfo } => self.save(env, *torrent, metainfo)?,
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

    /// Writes the metadata of a magnet link.
    fn save(&self, env: &mut Env, torrent: Identity, metainfo: &Torrent) -> anyhow::Result<()> {
        let Some(save) = &self.save else {
            return Ok(());
        };
        let torrent = Name {
            label: self.labels.of(torrent),
            identity: torrent,
        };
        match self.reporter.suspend(|| save(env, metainfo)) {
            Ok(output) => self.reporter.fetched(env, torrent, &output, metainfo),
            Err(error) => {
                self.has_failed.store(true, Ordering::SeqCst);
                self.reporter.error(env, torrent, &format!("{error:#}"))
            }
        }
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

    /// Returns the exit status of the worst outcome.
    fn exit(&self, outcomes: Vec<Outcome>) -> Exit {
        if self.has_failed.load(Ordering::SeqCst) {
            return Exit::NotChecked;
        }
        match outcomes.into_iter().max().unwrap_or(Outcome::Complete) {
            Outcome::Complete => Exit::Good,
            Outcome::Incomplete => Exit::Bad,
            Outcome::Failed => Exit::NotChecked,
        }
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
