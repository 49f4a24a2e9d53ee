//! The output of `get` and `seed`: text, JSON lines, and the view of a terminal.

use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::{Duration, Instant};

use hashlane_client::{
    Absence, ChangedContent, Event, FinishedDownload, ForeignName, Identity, NearbyContent,
    RemovedTorrent, Snapshot, Subscription, TorrentError, TorrentHandle, VerifiedContent,
};
use hashlane_metainfo::{Torrent, masked_text};
use hashlane_web::{Auth, EVERYBODY, Http, Server};
use jiff::Zoned;

use crate::executor::Executed;

use super::history::History;
pub(crate) use super::json::Name;
use super::json::{Line, Placed, Report};
use super::labels::Labels;
use super::terminal::Terminal;
use hashlane_api::Size;
use hashlane_cli::output::elsewhere::{found_file, found_root};
use hashlane_cli::output::json_lines;
use hashlane_cli::output::text::{self, Escaped, Grouped, count};
use hashlane_cli::{Env, torrent_file};

/// Interval at which the view of the terminal is updated.
const TICK: Duration = Duration::from_millis(200);

/// Maximum number of files that are named in text, if they were found under other names.
const MAX_FOUND: usize = 10;

/// The difference to the page of a daemon.
const NOT_KEPT: &str =
    "note: torrents that the page adds, and what it changes, last until the end of this command";

/// Returns what a person can do about an error, to follow its text; nothing if the text says it. `has_force` says whether the
/// command has the option `--force`.
fn remedy(error: &TorrentError, has_force: bool) -> &'static str {
    match error {
        TorrentError::Unrelated { .. } if has_force => "; --force replaces it",
        TorrentError::Linked { .. } if has_force => "; --copy-linked writes to a copy",
        error => hashlane_session::remedy(error),
    }
}

/// Prints the events of a client.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub(crate) struct Reporter {
    is_json: bool,
    is_quiet: bool,
    /// Whether lines for people start with the time. A terminal shows them as they come, so that it needs none.
    is_dated: bool,
    /// Whether the end of the program has a line for each torrent.
    is_verbose: bool,
    history: History,
    labels: Labels,
    terminal: Option<Terminal>,
    /// The time of the last update of the terminal.
    shown: Instant,
    /// Whether the user named no place of the content, so that it is expected in the current folder.
    is_here: bool,
    /// Whether the command has the option `--force`, which replaces files that belong to no torrent.
    has_force: bool,
    /// Whether a daemon keeps the torrents, which people remove while it runs.
    is_daemon: bool,
}

impl Reporter {
    /// Returns a reporter that prints JSON lines or text.
    pub(crate) fn new(is_json: bool, is_quiet: bool) -> Self {
        Self {
            is_here: false,
            has_force: false,
            is_daemon: false,
            is_json,
            is_quiet,
            is_dated: false,
            is_verbose: false,
            history: History::default(),
            labels: Labels::default(),
            terminal: None,
            shown: Instant::now(),
        }
    }

    /// Names content that lies beside its .torrent file, if the user named no place.
    pub(crate) fn expecting_here(self, is_here: bool) -> Self {
        Self { is_here, ..self }
    }

    /// Prints the events of a daemon.
    pub(crate) fn of_daemon(self) -> Self {
        Self {
            is_daemon: true,
            ..self
        }
    }

    /// Names `--force` where it helps.
    pub(crate) fn with_force(self) -> Self {
        Self {
            has_force: true,
            ..self
        }
    }

    /// Starts lines for people with the local time if they go to a file or a pipe. Downloads report their progress there.
    pub(crate) fn dated(self, env: &Env) -> Self {
        Self {
            is_dated: !env.stdout_is_terminal,
            ..self
        }
    }

    /// Prints a line for each torrent at the end of the program, if this is so, instead of their sum.
    pub(crate) fn verbose(self, is_verbose: bool) -> Self {
        Self { is_verbose, ..self }
    }

    /// Shows a view of the terminal, if there is one and reports are wanted.
    /// Interrupts must be caught before: one that is not would leave the terminal as the view changes it.
    pub(crate) fn start(&mut self, env: &Env) {
        let has_terminal = env.progress && !self.is_quiet;
        self.terminal = has_terminal.then(|| Terminal::new(env.color, &env.printer));
    }

    /// Describes lines that were not printed, because the output was not read.
    pub(crate) fn lost_lines(&self) -> fn(u64) -> String {
        if self.is_json {
            |events| serde_json::json!({"type": "missed", "events": events}).to_string()
        } else {
            |n_lines| {
                let lines = count(n_lines, "line");
                format!("hashlane: warning: {lines} not printed, because the output was not read")
            }
        }
    }

    /// Waits for this time for the next events, and prints them while their reader reads. Returns `false` if the client has ended.
    pub(crate) fn print_next(
        &mut self,
        env: &mut Env,
        events: &Subscription,
        mut wait: Duration,
    ) -> anyhow::Result<bool> {
        // Reports the failure of an earlier line.
        env.stdout.flush()?;
        while env.printer.has_room() {
            match events.recv_timeout(wait) {
                Ok(event) => self.print_event(env, &event)?,
                Err(error) => return Ok(error == RecvTimeoutError::Timeout),
            }
            wait = Duration::ZERO;
        }
        thread::sleep(wait);
        Ok(true)
    }

    /// Prints the events of a client that has ended. Waits for the reader, for any time unless the program is cancelled.
    pub(crate) fn print_rest(
        &mut self,
        env: &mut Env,
        events: &Subscription,
    ) -> anyhow::Result<()> {
        while env.printer.wait_for_room(&env.cancel)
            && let Some(event) = events.recv()
        {
            self.print_event(env, &event)?;
        }
        Ok(())
    }

    fn print_event(&mut self, env: &mut Env, event: &Event) -> anyhow::Result<()> {
        let printer = env.printer.clone();
        printer.keeping_all(|| self.on_event(env, event))
    }

    /// Returns the time until the view of the terminal is due.
    pub(crate) fn until_due(&self) -> Duration {
        TICK.saturating_sub(self.shown.elapsed())
    }

    /// Shows the progress if it is due: in the view of the terminal, and as lines where results have the time.
    /// `handle` returns a torrent in the client.
    pub(crate) fn show(
        &mut self,
        env: &mut Env,
        snapshot: &Snapshot,
        handle: impl Fn(Identity) -> Option<TorrentHandle>,
    ) -> anyhow::Result<()> {
        if self.shown.elapsed() < TICK {
            return Ok(());
        }
        self.shown = Instant::now();
        if self.is_dated && !self.is_json && !self.is_quiet {
            for line in self.history.progress(snapshot) {
                self.text(env, &line)?;
            }
        }
        let Some(terminal) = &self.terminal else {
            return Ok(());
        };
        let mut torrents = snapshot.torrents.iter();
        let mut running = torrents.by_ref().filter(|one| !one.activity.is_over());
        // Only a single torrent has a map of pieces.
        let have = match (running.next(), running.next()) {
            (Some(one), None) => {
                let torrent = handle(one.identity);
                torrent.and_then(|torrent| torrent.have().ok())
            }
            _ => None,
        };
        terminal.show(snapshot, have.as_deref());
        Ok(())
    }

    /// Removes the view of the terminal.
    pub(crate) fn hide(&mut self) {
        self.terminal = None;
    }

    /// Runs `write` while the view of the terminal is hidden.
    pub(crate) fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        if let Some(terminal) = &self.terminal {
            terminal.hide();
        }
        write()
    }

    /// Prints a remark for people.
    pub(crate) fn note(&self, env: &mut Env, text: &str) -> anyhow::Result<()> {
        if self.is_json || self.is_quiet {
            return Ok(());
        }
        self.text(env, text)
    }

    /// Prints an event.
    pub(crate) fn on_event(&mut self, env: &mut Env, event: &Event) -> anyhow::Result<()> {
        self.labels.on_event(event);
        self.print_one(env, event)?;
        match event {
            Event::Added { torrent, .. } => self.history.forget(*torrent),
            Event::Finished(download) => self.history.forget_error(download.torrent),
            Event::Removed(removed) => {
                self.labels.forget(removed.torrent);
                self.history.forget(removed.torrent);
                self.history.forget_error(removed.torrent);
            }
            _ => {}
        }
        Ok(())
    }

    fn print_one(&mut self, env: &mut Env, event: &Event) -> anyhow::Result<()> {
        match event {
            // A person removed the torrent, or it ends with the daemon.
            Event::Failed {
                error: TorrentError::Ended | TorrentError::Interrupted,
                ..
            } if self.is_daemon => Ok(()),
            Event::Added { is_known: true, .. } => Ok(()),
            Event::Added { torrent, label, .. } => {
                self.print(env, Some(self.name(*torrent)), &Report::Added {}, || {
                    format!("{label}: added")
                })
            }
            Event::ForeignNames {
                torrent,
                name,
                names,
            } => self.foreign_names(env, *torrent, name, names),
            Event::Nearby(nearby) => self.nearby(env, nearby),
            &Event::Listening(address) => self.json(env, None, &Report::Listening { address }),
            Event::Verified(verified) => self.verified(env, verified),
            &Event::Piece { torrent, piece } => {
                self.json(env, Some(self.name(torrent)), &Report::Piece { piece })
            }
            Event::Finished(download) => self.finished(env, download),
            Event::Absent {
                torrent,
                content,
                absence,
            } => self.absent(env, *torrent, content, absence),
            Event::Changed(changed) => self.changed(env, changed),
            &Event::Ended {
                torrent,
                uploaded_bytes,
            } => self.ended(env, torrent, uploaded_bytes),
            Event::Removed(removed) => self.removed(env, removed),
            Event::Relocated {
                torrent,
                content,
                error,
            } => {
                let place = (content.as_path(), error.as_ref());
                self.placed(env, *torrent, place, Report::Relocated, "moved to")
            }
            Event::Renamed {
                torrent,
                content,
                error,
            } => {
                let place = (content.as_path(), error.as_ref());
                self.placed(env, *torrent, place, Report::Renamed, "renamed in")
            }
            Event::Warning { torrent, message } => {
                let torrent = torrent.map(|torrent| self.name(torrent));
                self.warning(env, torrent, message)
            }
            Event::Failed {
                torrent,
                error,
                left_bytes,
            } => self.failed(env, *torrent, error, *left_bytes),
            &Event::Missed { events } if self.is_json => {
                self.json(env, None, &Report::Missed { events })
            }
            Event::Missed { events } => {
                let text = format!("{events} events were lost, warnings among them");
                self.warning(env, None, &text)
            }
            // Other events are not printed: the runner handles them.
            _ => Ok(()),
        }
    }

    fn ended(
        &mut self,
        env: &mut Env,
        torrent: Identity,
        uploaded_bytes: u64,
    ) -> anyhow::Result<()> {
        if env.cancel.is_cancelled() && !self.is_json && !self.is_verbose {
            self.history.ended.push((torrent, uploaded_bytes));
            return Ok(());
        }
        self.print_ended(env, torrent, uploaded_bytes)
    }

    /// Reports the torrents that ended because the program ends: their sum, or the only one.
    pub(crate) fn stopped(&mut self, env: &mut Env) -> anyhow::Result<()> {
        let ended = std::mem::take(&mut self.history.ended);
        match ended[..] {
            [] => Ok(()),
            [(torrent, uploaded_bytes)] => self.print_ended(env, torrent, uploaded_bytes),
            _ if self.is_quiet => Ok(()),
            _ => {
                let sent = ended.iter().map(|(_, sent)| sent).sum();
                let torrents = count(ended.len() as u64, "torrent");
                self.text(env, &format!("{torrents} stopped: {} sent", Size(sent)))
            }
        }
    }

    fn print_ended(
        &self,
        env: &mut Env,
        torrent: Identity,
        uploaded_bytes: u64,
    ) -> anyhow::Result<()> {
        let torrent = self.name(torrent);
        let report = Report::Ended { uploaded_bytes };
        self.print(env, Some(torrent), &report, || {
            format!("{}: {} sent", torrent.label, Size(uploaded_bytes))
        })
    }

    fn removed(&self, env: &mut Env, removed: &RemovedTorrent) -> anyhow::Result<()> {
        let torrent = self.name(removed.torrent);
        let report = Report::Removed {
            uploaded_bytes: removed.uploaded_bytes,
            deleted: removed.deletion.as_ref().map(Into::into),
        };
        self.print(env, Some(torrent), &report, || {
            let label = torrent.label;
            let Some(deletion) = &removed.deletion else {
                return format!("{label}: removed");
            };
            let files = count(deletion.files, "file");
            let kept = match deletion.kept.len() {
                0 => String::new(),
                n => format!(", {} left", count(n as u64, "file")),
            };
            format!(
                "{label}: removed; {files} deleted, {}{kept}",
                Size(deletion.bytes)
            )
        })?;
        if self.is_json {
            return Ok(());
        }
        let kept = removed.deletion.iter().flat_map(|deletion| &deletion.kept);
        for kept in kept {
            let text = format!("{}: left there: {}", kept.path.display(), kept.reason);
            self.warning(env, Some(torrent), &text)?;
        }
        Ok(())
    }

    /// Reports the end of a move or a rename of content, which lies there now.
    fn placed<'r>(
        &mut self,
        env: &mut Env,
        torrent: Identity,
        (content, error): (&Path, Option<&TorrentError>),
        report: impl FnOnce(Placed) -> Report<'r>,
        done: &str,
    ) -> anyhow::Result<()> {
        if error.is_none() {
            self.history.placed.insert(torrent.number);
        }
        let torrent = self.name(torrent);
        if let Some(error) = error
            && !self.is_json
        {
            return self.warning(env, Some(torrent), &error.to_string());
        }
        let report = report(Placed {
            content: content.to_string_lossy().into_owned(),
            error: error.map(ToString::to_string),
        });
        self.print(env, Some(torrent), &report, || {
            format!("{}: {done} {}", torrent.label, content.display())
        })
    }

    /// Returns the names of a torrent.
    fn name(&self, torrent: Identity) -> Name<'_> {
        Name {
            label: self.labels.of(torrent),
            identity: torrent,
        }
    }

    /// Reports a page that was started with these settings.
    pub(crate) fn serves(
        &mut self,
        env: &mut Env,
        page: &Server,
        http: &Http,
    ) -> anyhow::Result<()> {
        if matches!(http.auth, Auth::Off) {
            let message = format!("{}: {EVERYBODY}", page.url());
            self.warning(env, None, &message)?;
        }
        let token = page.new_token(http);
        self.page(env, &page.url(), token.as_deref())
    }

    /// Reports the address of a page.
    pub(crate) fn page(&self, env: &mut Env, url: &str, token: Option<&str>) -> anyhow::Result<()> {
        // Browsers cannot open a Unix socket, and programs send the token in a header.
        let separator = if url.starts_with("http") {
            "#"
        } else {
            ", token "
        };
        let token_of_url = token.map_or_else(String::new, |token| format!("{separator}{token}"));
        let text = format!("page: {url}{token_of_url}");
        if self.is_quiet && !self.is_json {
            // The address of the requested page is a result, so that --quiet prints it too.
            writeln!(env.stdout, "{text}")?;
            return Ok(env.stdout.flush()?);
        }
        self.print(env, None, &Report::Page { url, token }, || text)?;
        if self.is_daemon {
            return Ok(());
        }
        self.note(env, NOT_KEPT)
    }

    fn foreign_names(
        &self,
        env: &mut Env,
        torrent: Identity,
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

    /// Reports missing content that lies near its place, with at most [`MAX_FOUND`] files in text.
    fn nearby(&self, env: &mut Env, nearby: &NearbyContent) -> anyhow::Result<()> {
        let NearbyContent {
            name, root, files, ..
        } = nearby;
        let torrent = Some(self.name(nearby.torrent));
        let remedies = if nearby.is_download {
            ["--reuse copies it"; 2]
        } else {
            ["--content serves it", "rename it"]
        };
        if let Some(root) = root {
            let report = Report::Candidate {
                path: None,
                candidate: root.path.to_string_lossy().into_owned(),
            };
            self.print(env, torrent, &report, || {
                format!("{name}: {}: {}", found_root(root), remedies[0])
            })?;
        }
        for (n, (path, candidate)) in files.iter().enumerate() {
            if n == MAX_FOUND && !self.is_json && !self.is_quiet {
                let more = count((files.len() - n) as u64, "more file");
                return self.text(env, &format!("{name}: {more} found under other names"));
            }
            let report = Report::Candidate {
                path: Some(path),
                candidate: candidate.to_string_lossy().into_owned(),
            };
            self.print(env, torrent, &report, || {
                format!("{name}: {path}: {}: {}", found_file(candidate), remedies[1])
            })?;
        }
        Ok(())
    }

    /// Reports that the metadata of a magnet link was written to `output`.
    pub(crate) fn fetched(
        &self,
        env: &mut Env,
        torrent: Name<'_>,
        output: &Path,
        metainfo: &Torrent,
    ) -> anyhow::Result<()> {
        let total_bytes = metainfo.content_length();
        let report = Report::Fetched {
            output: output.to_string_lossy().into_owned(),
            name: String::from_utf8_lossy(metainfo.name().as_bytes()).into_owned(),
            total_bytes,
        };
        self.print(env, Some(torrent), &report, || {
            format!("{}: written, {}", output.display(), Size(total_bytes))
        })
    }

    fn verified(&mut self, env: &mut Env, verified: &VerifiedContent) -> anyhow::Result<()> {
        let mut is_known = self.history.knows(verified);
        if verified.has_selected {
            self.history.forget_error(verified.torrent);
        } else {
            is_known |= self.history.is_tried_again(verified.torrent);
        }
        if is_known && !self.is_json {
            return Ok(());
        }
        let name = &verified.name;
        let torrent = self.name(verified.torrent);
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

    /// Reports a command of `--exec` that has ended.
    pub(crate) fn executed(&self, env: &mut Env, executed: &Executed) -> anyhow::Result<()> {
        let torrent = Name {
            label: &executed.label,
            identity: executed.torrent,
        };
        if let Some(warning) = &executed.warning {
            let text = format!("--exec: {warning}; the command will run again");
            self.warning(env, Some(torrent), &text)?;
        }
        let success = executed.problem.is_none();
        self.json(env, Some(torrent), &Report::Executed { success })?;
        if let Some(problem) = &executed.problem {
            let text = format!("{}: --exec: {problem}", torrent.label);
            self.problem(env, &text);
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
        self.problem(env, &text);
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
        torrent: Identity,
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
        self.problem(env, &text);
        Ok(())
    }

    pub(crate) fn warning(
        &self,
        env: &mut Env,
        torrent: Option<Name<'_>>,
        message: &str,
    ) -> anyhow::Result<()> {
        let message = &masked_text(message);
        self.json(env, torrent, &Report::Warning { message })?;
        let name = torrent.map(|torrent| format!("{}: ", torrent.label));
        let text = format!("warning: {}{message}", name.unwrap_or_default());
        self.problem(env, &text);
        Ok(())
    }

    fn failed(
        &mut self,
        env: &mut Env,
        torrent: Identity,
        error: &TorrentError,
        left_bytes: u64,
    ) -> anyhow::Result<()> {
        let is_known = self.is_daemon && self.history.repeats(torrent, error, left_bytes);
        if is_known && !self.is_json {
            return Ok(());
        }
        let remedy = remedy(error, self.has_force);
        self.error(env, self.name(torrent), &format!("{error}{remedy}"))
    }

    /// Prints the error of a torrent.
    pub(crate) fn error(
        &self,
        env: &mut Env,
        torrent: Name<'_>,
        message: &str,
    ) -> anyhow::Result<()> {
        let message = &masked_text(message);
        self.json(env, Some(torrent), &Report::Error { message })?;
        let text = format!("{}: {message}", torrent.label);
        self.problem(env, &text);
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
        let time = self.time();
        writeln!(env.stdout, "{time}{}", Escaped(text))?;
        Ok(env.stdout.flush()?)
    }

    /// Prints an error or a warning.
    fn problem(&self, env: &mut Env, text: &str) {
        let time = if env.progress {
            String::new()
        } else {
            self.time()
        };
        // Earlier results come first. A failure to print the message is ignored.
        let _ = env.stdout.flush();
        let _ = write!(env.stderr, "{time}");
        env.error(text);
    }

    /// Returns the start of a line: the local time in the form of RFC 3339, if lines have one.
    fn time(&self) -> String {
        if self.is_dated {
            Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z ").to_string()
        } else {
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::{self, Write};
    use std::path::PathBuf;
    use std::rc::Rc;

    use super::*;

    #[derive(Clone, Default)]
    struct Output(Rc<RefCell<Vec<u8>>>);

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn printed(reporter: &mut Reporter, events: &[Event]) -> String {
        let output = Output::default();
        let mut env = Env::without_terminal([""; 0], PathBuf::new());
        env.stdout = Box::new(output.clone());
        for event in events {
            reporter.on_event(&mut env, event).unwrap();
        }
        String::from_utf8(output.0.take()).unwrap()
    }

    /// A subscription whose reader is slow loses events, that of an addition among them.
    #[test]
    fn lost_events_change_no_label() {
        let added = |number, label: &str| Event::Added {
            torrent: Identity::new(number),
            label: label.to_owned(),
            is_known: false,
            n_restarts: 0,
        };
        let ended = |number| Event::Ended {
            torrent: Identity::new(number),
            uploaded_bytes: 0,
        };
        let mut reporter = Reporter::new(false, false);
        reporter.labels = Labels::default();
        reporter.labels.on_event(&added(0, "first"));
        let events = [added(1, "a"), added(7, "b"), ended(7), ended(0), ended(1)];
        let expected =
            "a: added\nb: added\nb: 0 bytes sent\nfirst: 0 bytes sent\na: 0 bytes sent\n";
        assert_eq!(printed(&mut reporter, &events), expected);
        // Nothing is known of this torrent.
        assert_eq!(
            printed(&mut reporter, &[ended(9)]),
            "torrent: 0 bytes sent\n"
        );
    }
}
