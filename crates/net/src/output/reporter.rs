//! The output of `get` and `seed`: text, JSON lines, and the view of a terminal.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use hashlane_client::{
    Absence, ChangedContent, Client, Command, CompleteContent, Config, Error, Event,
    FinishedDownload, ForeignName, Handover, Outcome, Replacement, Task, TorrentCommand,
    TorrentError, VerifiedContent,
};
use hashlane_metainfo::{Torrent, masked_text};

use super::executor::{Executed, Executor};
use super::json::{Line, Name, Report};
use super::terminal::Terminal;
use super::watchdog::{Rescue, Watchdog};
use hashlane_cli::output::json_lines;
use hashlane_cli::output::text::{self, Escaped, Grouped, Size, count};
use hashlane_cli::{Env, Exit, torrent_file};

/// Interval at which the view of the terminal is updated.
const TICK: Duration = Duration::from_millis(200);

/// Answers [`Event::Confirm`].
type Confirm = fn(&mut Env, &Replacement) -> anyhow::Result<TorrentCommand>;

/// Writes the .torrent file of a magnet link, and returns its path.
type Save = Box<dyn Fn(&mut Env, &Torrent) -> anyhow::Result<PathBuf>>;

/// Prints the events of a client.
pub(crate) struct Reporter {
    is_json: bool,
    is_quiet: bool,
    /// The torrents as the user named them, by their numbers.
    names: Vec<String>,
    /// The info-hashes of the torrents, by their numbers, as far as they are known.
    info_hashes: HashMap<usize, String>,
    terminal: Option<Terminal>,
    /// The command of `--exec`.
    command: Option<String>,
    /// The executor of this command, once it has been started.
    executor: Option<Executor>,
    /// The function that writes the metadata of magnet links.
    save: Option<Save>,
    /// Whether the user named no place of the content, so that it is expected in the current folder.
    is_here: bool,
    /// Whether a command of `--exec` failed, or a .torrent file could not be written.
    has_failed: Arc<AtomicBool>,
    /// The state of the process that the client continues from.
    continued: Handover,
}

impl Reporter {
    /// Returns a reporter that runs `command` after each download.
    pub(crate) fn new(is_json: bool, is_quiet: bool, command: Option<String>) -> Self {
        Self {
            command,
            executor: None,
            save: None,
            is_here: false,
            has_failed: Arc::default(),
            continued: Handover::default(),
            is_json,
            is_quiet,
            names: Vec::new(),
            info_hashes: HashMap::new(),
            terminal: None,
        }
    }

    /// Names content that lies beside its .torrent file, if the user named no place.
    pub(crate) fn expecting_here(self, is_here: bool) -> Self {
        Self { is_here, ..self }
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

    /// Runs a client to its end. Shows it in the terminal, if there is one and reports are wanted.
    pub(crate) fn run(
        mut self,
        env: &mut Env,
        config: Config,
        tasks: Vec<Task>,
        confirm: Confirm,
    ) -> anyhow::Result<Exit> {
        // An interrupt that is not caught would leave the terminal as the view changes it.
        env.catch_interrupts();
        let has_terminal = env.progress && !self.is_quiet;
        self.terminal = has_terminal.then(|| Terminal::new(env.color));
        self.names = tasks.iter().map(|task| task.label.clone()).collect();
        self.has_failed
            .store(self.continued.has_failed, Ordering::SeqCst);
        let start = |command| {
            let has_failed = Arc::clone(&self.has_failed);
            Executor::start(command, env.state.as_deref(), has_failed)
        };
        let executor = self.command.take().map(start).transpose();
        self.executor = executor.map_err(Error::Thread)?;
        let pulse = config.pulse.clone();
        let (client, events) =
            Client::continue_from(config, tasks, std::mem::take(&mut self.continued))
                .map_err(named)?;
        let watchdog = match Watchdog::start(pulse, self.rescue(env, &client)) {
            Ok(watchdog) => watchdog,
            Err(error) => {
                env.cancel.cancel();
                drop(events);
                let _ = client.join();
                return Err(Error::Thread(error).into());
            }
        };
        let followed = self.follow(env, &client, &events, confirm);
        self.terminal = None;
        if followed.is_err() {
            // Output has failed, so that no later event can be reported.
            env.cancel.cancel();
        }
        drop(events);
        let joined = client.join();
        // The loop has ended, but commands can run for any time.
        drop(watchdog);
        let followed = followed.and_then(|()| self.wait_for_commands(env));
        match followed {
            Err(error) if hashlane_cli::output::stream::is_broken_pipe(&error) => {
                return Ok(Exit::NotChecked);
            }
            followed => followed?,
        }
        let outcomes = joined.map_err(named)?;
        if self.has_failed.load(Ordering::SeqCst) {
            return Ok(Exit::NotChecked);
        }
        let worst = outcomes.into_iter().max().unwrap_or(Outcome::Complete);
        Ok(match worst {
            Outcome::Complete => Exit::Good,
            Outcome::Incomplete => Exit::NotAllThere,
            Outcome::Failed => Exit::NotChecked,
        })
    }

    /// Returns the means to continue if libtorrent does not respond.
    fn rescue(&self, env: &Env, client: &Client) -> Rescue {
        let executor = self.executor.as_ref();
        Rescue {
            observer: client.observer(),
            cancel: env.cancel.clone(),
            end_at_once: env.end_at_once,
            args: env.args.clone(),
            commands: executor.map(Executor::unfinished).unwrap_or_default(),
            has_failed: Arc::clone(&self.has_failed),
        }
    }

    /// Reports events until the client ends.
    fn follow(
        &mut self,
        env: &mut Env,
        client: &Client,
        events: &Receiver<Event>,
        confirm: Confirm,
    ) -> anyhow::Result<()> {
        let mut shown = Instant::now();
        loop {
            match events.recv_timeout(TICK.saturating_sub(shown.elapsed())) {
                Ok(Event::Confirm {
                    torrent,
                    replacement,
                }) => {
                    let answer = self.suspend(|| confirm(env, &replacement))?;
                    client.send(Command::Torrent(torrent, answer));
                }
                Ok(event) => self.on_event(env, event)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            let executed = self.executor.iter().flat_map(Executor::ended).collect();
            self.executed(env, executed)?;
            if shown.elapsed() >= TICK {
                shown = Instant::now();
                self.show(client);
            }
        }
    }

    fn show(&self, client: &Client) {
        let Some(terminal) = &self.terminal else {
            return;
        };
        let snapshot = client.snapshot();
        let mut torrents = snapshot.torrents.iter();
        let mut running = torrents.by_ref().filter(|one| !one.activity.is_over());
        // Only a single torrent has a map of pieces.
        let have = match (running.next(), running.next()) {
            (Some(one), None) => client.have(one.number),
            _ => None,
        };
        terminal.show(&snapshot, have.as_deref());
    }

    /// Runs `write` while the view of the terminal is hidden.
    fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        match &self.terminal {
            Some(terminal) => terminal.suspend(write),
            None => write(),
        }
    }

    fn on_event(&mut self, env: &mut Env, event: Event) -> anyhow::Result<()> {
        match event {
            Event::Added { torrent, label } => {
                self.names.push(label);
                let torrent = self.name(torrent);
                self.print(env, Some(torrent), &Report::Added {}, || {
                    format!("{}: added", torrent.label)
                })
            }
            Event::Identified { torrent, info_hash } => {
                self.info_hashes.insert(torrent, info_hash);
                Ok(())
            }
            Event::Page { url, token } => self.page(env, &url, &token),
            Event::ForeignNames {
                torrent,
                name,
                names,
            } => self.foreign_names(env, torrent, &name, &names),
            Event::Listening(address) => self.json(env, None, &Report::Listening { address }),
            Event::Metadata { torrent, metainfo } => self.metadata(env, torrent, &metainfo),
            Event::Verified(verified) => self.verified(env, &verified),
            Event::Piece { torrent, piece } => {
                self.json(env, Some(self.name(torrent)), &Report::Piece { piece })
            }
            Event::Finished(download) => self.finished(env, &download),
            Event::Complete(content) => {
                self.complete(content);
                Ok(())
            }
            Event::Absent {
                torrent,
                content,
                absence,
            } => self.absent(env, torrent, &content, &absence),
            Event::Changed(changed) => self.changed(env, &changed),
            Event::Ended {
                torrent,
                uploaded_bytes,
            } => {
                let torrent = self.name(torrent);
                let report = Report::Ended { uploaded_bytes };
                self.print(env, Some(torrent), &report, || {
                    format!("{}: {} sent", torrent.label, Size(uploaded_bytes))
                })
            }
            Event::Warning { torrent, message } => {
                let torrent = torrent.map(|torrent| self.name(torrent));
                self.warning(env, torrent, &message)
            }
            Event::Failed { torrent, error } => self.failed(env, torrent, &error),
            // `follow` answers `Confirm`. The enum is not exhaustive.
            _ => Ok(()),
        }
    }

    /// Returns the names of a torrent.
    fn name(&self, torrent: usize) -> Name<'_> {
        Name {
            label: &self.names[torrent],
            info_hash: self.info_hashes.get(&torrent).map(String::as_str),
        }
    }

    fn page(&self, env: &mut Env, url: &str, token: &str) -> anyhow::Result<()> {
        let text = format!("page: {url}#{token}");
        if self.is_quiet && !self.is_json {
            // The address of the requested page is a result, so that --quiet prints it too.
            writeln!(env.stdout, "{text}")?;
            return Ok(env.stdout.flush()?);
        }
        self.print(env, None, &Report::Page { url, token }, || text)
    }

    fn foreign_names(
        &self,
        env: &mut Env,
        torrent: usize,
        name: &str,
        names: &[ForeignName],
    ) -> anyhow::Result<()> {
        let torrent = self.name(torrent);
        if self.is_json {
            return names.iter().try_for_each(|name| {
                let name = name.into();
                self.json(env, Some(torrent), &Report::ForeignName { name })
            });
        }
        if self.is_quiet {
            return Ok(());
        }
        let n_names = count(names.len() as u64, "name");
        let mut programs: Vec<&str> = names.iter().map(|name| name.named_by).collect();
        programs.sort_unstable();
        programs.dedup();
        let programs = programs.join(" and ");
        let example = names
            .first()
            .map(|name| format!(": {} instead of {}", name.found_as, name.path));
        let more = if names.len() > 1 { ", ..." } else { "" };
        let text = format!(
            "{name}: uses {n_names} of {programs}{}{more}",
            example.unwrap_or_default()
        );
        self.text(env, &text)
    }

    /// Writes the metadata of a magnet link.
    fn metadata(&mut self, env: &mut Env, number: usize, metainfo: &Torrent) -> anyhow::Result<()> {
        let Some(save) = &self.save else {
            return Ok(());
        };
        let torrent = self.name(number);
        let output = match self.suspend(|| save(env, metainfo)) {
            Ok(output) => output,
            Err(error) => {
                self.has_failed.store(true, Ordering::SeqCst);
                return self.error(env, self.name(number), &format!("{error:#}"));
            }
        };
        let hashes = metainfo.info_hashes();
        let total_bytes = metainfo.content_length();
        let report = Report::Fetched {
            output: output.to_string_lossy().into_owned(),
            name: String::from_utf8_lossy(metainfo.name().as_bytes()).into_owned(),
            info_hash_v1: hashes.v1().map(|hash| hash.to_string()),
            info_hash_v2: hashes.v2().map(|hash| hash.to_string()),
            total_bytes,
        };
        self.print(env, Some(torrent), &report, || {
            format!("{}: written, {}", output.display(), Size(total_bytes))
        })
    }

    fn verified(&self, env: &mut Env, verified: &VerifiedContent) -> anyhow::Result<()> {
        let name = &verified.name;
        let torrent = self.name(verified.torrent);
        if let Some(executor) = &self.executor
            && !verified.has_selected
        {
            executor.forget(&verified.info_hash);
        }
        if verified.have == 0
            && let Some(text) = self.beside(env, torrent.label, &verified.content)
        {
            self.warning(env, Some(torrent), &text)?;
        }
        let report = Report::Verified {
            name,
            content: verified.content.to_string_lossy().into_owned(),
            pieces: verified.pieces,
            have: verified.have,
            trusted: verified.trusted,
            total_bytes: verified.total_bytes,
        };
        self.print(env, Some(torrent), &report, || {
            let trusted = match verified.trusted {
                0 => String::new(),
                n if n == verified.have => "; trusted, not verified".to_owned(),
                n => format!("; {} trusted, not verified", count(n.into(), "piece")),
            };
            if verified.is_complete {
                format!("{name}: all pieces present{trusted}")
            } else {
                let have = Grouped(verified.have.into());
                let pieces = count(verified.pieces.into(), "piece");
                format!("{name}: {have} of {pieces} present{trusted}")
            }
        })
    }

    /// Runs the command for complete content.
    fn complete(&self, content: CompleteContent) {
        if let Some(executor) = &self.executor {
            executor.run(self.names[content.torrent].clone(), content);
        }
    }

    fn finished(&self, env: &mut Env, download: &FinishedDownload) -> anyhow::Result<()> {
        let report = Report::Finished {
            content: download.content.to_string_lossy().into_owned(),
            downloaded_bytes: download.downloaded_bytes,
            wasted_bytes: download.wasted_bytes,
            elapsed_seconds: download.elapsed_seconds,
        };
        let torrent = self.name(download.torrent);
        self.print(env, Some(torrent), &report, || {
            let name = &download.name;
            let received = Size(download.downloaded_bytes);
            let time = text::Duration(download.elapsed_seconds);
            format!("{name}: complete and verified, {received} received in {time}")
        })
    }

    /// Reports the commands that are running until they have ended.
    fn wait_for_commands(&mut self, env: &mut Env) -> anyhow::Result<()> {
        let executed = self.executor.take().map(Executor::end);
        self.executed(env, executed.unwrap_or_default())
    }

    /// Reports commands that have ended.
    fn executed(&mut self, env: &mut Env, executed: Vec<Executed>) -> anyhow::Result<()> {
        for Executed {
            torrent,
            problem,
            warning,
        } in executed
        {
            let torrent = self.name(torrent);
            if let Some(warning) = warning {
                let text = format!("--exec: {warning}; the command will run again");
                self.warning(env, Some(torrent), &text)?;
            }
            let success = problem.is_none();
            self.json(env, Some(torrent), &Report::Executed { success })?;
            if let Some(problem) = problem {
                let text = format!("{}: --exec: {problem}", torrent.label);
                self.suspend(|| env.error(&text));
                self.has_failed.store(true, Ordering::SeqCst);
            }
        }
        Ok(())
    }

    fn changed(&self, env: &mut Env, changed: &ChangedContent) -> anyhow::Result<()> {
        let torrent = self.name(changed.torrent);
        let (have, pieces) = (changed.have, changed.pieces);
        self.json(
            env,
            Some(torrent),
            &Report::Changed {
                withdrawn: changed.withdrawn,
                restored: changed.restored,
                have,
                pieces,
                reason: changed.absence.as_ref().map(Absence::name),
            },
        )?;
        let numbers = [
            (changed.withdrawn, "withdrawn"),
            (changed.restored, "restored"),
        ];
        let numbers = numbers.iter().filter(|(n, _)| *n > 0);
        let numbers: Vec<String> = numbers
            .map(|(n, what)| format!("{} {what}", count((*n).into(), "piece")))
            .collect();
        let (have, pieces) = (Grouped(have.into()), count(pieces.into(), "piece"));
        let reason = changed.absence.as_ref();
        let reason = reason.map_or(String::new(), |reason| format!("; {reason}"));
        let text = format!(
            "warning: {}: the content changed: {}; {have} of {pieces} present{reason}",
            torrent.label,
            numbers.join(", ")
        );
        self.suspend(|| env.error(&text));
        Ok(())
    }

    /// Returns the option that names the content beside its .torrent file, if it is there instead of here.
    fn beside(&self, env: &Env, torrent: &str, content: &Path) -> Option<String> {
        let beside = || torrent_file::content_beside(env, torrent.as_ref(), content);
        self.is_here.then(beside)?
    }

    fn absent(
        &self,
        env: &mut Env,
        torrent: usize,
        content: &Path,
        absence: &Absence,
    ) -> anyhow::Result<()> {
        let torrent = self.name(torrent);
        let hint = self.beside(env, torrent.label, content);
        let hint = hint.map_or(String::new(), |hint| format!("; {hint}"));
        let message = format!("{absence}; verified again when that changes{hint}");
        let text = format!("warning: {}: {message}", torrent.label);
        self.json(
            env,
            Some(torrent),
            &Report::Absent {
                content: content.to_string_lossy().into_owned(),
                reason: absence.name(),
                message,
            },
        )?;
        self.suspend(|| env.error(&text));
        Ok(())
    }

    fn warning(
        &self,
        env: &mut Env,
        torrent: Option<Name<'_>>,
        message: &str,
    ) -> anyhow::Result<()> {
        let message = &masked_text(message);
        self.json(env, torrent, &Report::Warning { message })?;
        let name = torrent.map(|torrent| format!("{}: ", torrent.label));
        let text = format!("warning: {}{message}", name.unwrap_or_default());
        self.suspend(|| env.error(&text));
        Ok(())
    }

    fn failed(&self, env: &mut Env, torrent: usize, error: &TorrentError) -> anyhow::Result<()> {
        let torrent = self.name(torrent);
        let remedy = match error {
            TorrentError::Unrelated { .. } => Some("--overwrite replaces it".to_owned()),
            TorrentError::WebSeed(_) => Some("--no-web-seeds downloads it from peers".to_owned()),
            _ => None,
        };
        let remedy = remedy.map_or(String::new(), |remedy| format!("; {remedy}"));
        self.error(env, torrent, &format!("{error}{remedy}"))
    }

    /// Prints the error of a torrent.
    fn error(&self, env: &mut Env, torrent: Name<'_>, message: &str) -> anyhow::Result<()> {
        let message = &masked_text(message);
        self.json(env, Some(torrent), &Report::Error { message })?;
        let text = format!("{}: {message}", torrent.label);
        self.suspend(|| env.error(&text));
        Ok(())
    }

    /// Prints a JSON line if the user wants JSON.
    fn json(
        &self,
        env: &mut Env,
        torrent: Option<Name<'_>>,
        report: &Report<'_>,
    ) -> anyhow::Result<()> {
        if self.is_json {
            json_lines::print(env, &Line::new(torrent, report))?;
            // Programs read the events as they happen.
            env.stdout.flush()?;
        }
        Ok(())
    }

    /// Prints a JSON line, or `text` for people.
    fn print(
        &self,
        env: &mut Env,
        torrent: Option<Name<'_>>,
        report: &Report<'_>,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        if self.is_json || self.is_quiet {
            return self.json(env, torrent, report);
        }
        self.text(env, &text())
    }

    /// Prints a line for people.
    fn text(&self, env: &mut Env, text: &str) -> anyhow::Result<()> {
        self.suspend(|| {
            writeln!(env.stdout, "{}", Escaped(text))?;
            Ok(env.stdout.flush()?)
        })
    }
}

/// Returns the error with the option that it concerns.
fn named(error: Error) -> anyhow::Error {
    match error {
        Error::Http { address, error } => anyhow!(error).context(format!("--http {address}")),
        Error::PortTaken { .. } => {
            anyhow!("{error}; choose another port with --port, or any free port with --port 0")
        }
        Error::Listen { .. } => anyhow!("--bind, {error}"),
        // The error's text already contains the text of its source.
        error => anyhow!("{error}"),
    }
}
