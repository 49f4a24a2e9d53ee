//! Whoever looks on: readers of lines, a terminal, browsers, and a log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use hashlane_swarm::{Event, Session};
use tracing::dispatcher::DefaultGuard;
use tracing::{debug, error, info, warn};

use super::local::Local;
use super::log;
use super::page::{Command, Page};
use super::report::Report;
use super::terminal::Terminal;
use super::view::Snapshot;
use crate::Env;
use crate::output::json_lines;
use crate::output::text::{Escaped, Grouped, Size, count};
use crate::swarm_args::Common;

/// How often there is something new to see.
const TICK: Duration = Duration::from_millis(200);

/// Whoever looks on.
pub(super) struct Audience {
    is_json: bool,
    is_quiet: bool,
    /// Whether the user has named the address where peers are waited for.
    is_bound: bool,
    terminal: Option<Terminal>,
    page: Option<Page>,
    /// When something was last shown.
    shown: Instant,
    _log: Option<DefaultGuard>,
}

impl Audience {
    pub(super) fn new(env: &Env, common: &Common) -> anyhow::Result<Self> {
        let log = common.log.as_ref().map(|path| {
            let path = env.resolve(path);
            let named = || format!("--log {}", path.display());
            log::start(&path, common.log_level).with_context(named)
        });
        let has_terminal = env.progress && !common.quiet;
        Ok(Self {
            is_json: common.json,
            is_quiet: common.quiet,
            is_bound: common.network.bind.is_some(),
            terminal: has_terminal.then(|| Terminal::new(env.color)),
            page: None,
            shown: Instant::now(),
            _log: log.transpose()?,
        })
    }

    /// Serves a page, if one is asked for.
    pub(super) fn open_page(
        &mut self,
        env: &mut Env,
        common: &Common,
        session: &Arc<Session>,
    ) -> anyhow::Result<()> {
        let Some(address) = common.http else {
            return Ok(());
        };
        let page = Page::open(address, Arc::clone(session));
        let page = page.with_context(|| format!("--http {address}"))?;
        let report = Report::Page {
            url: page.url(),
            token: page.token(),
        };
        let text = || format!("page: {}#{}", page.url(), page.token());
        tracing::info!(url = page.url(), "a page is served");
        if self.is_quiet && !self.is_json {
            // Whoever asked for a page wants to know where it is.
            writeln!(env.stdout, "{}", text())?;
            env.stdout.flush()?;
        }
        self.tell(env, &report, text)?;
        self.page = Some(page);
        Ok(())
    }

    /// What was asked for on the page.
    pub(super) fn commands(&self) -> Vec<Command> {
        self.page.as_ref().map(Page::commands).unwrap_or_default()
    }

    /// Nobody looks on any more.
    pub(super) fn close(&mut self) {
        self.terminal = None;
        self.page = None;
    }

    /// How long there is nothing new to see, at most [`TICK`].
    pub(super) fn idle(&self) -> Duration {
        TICK.saturating_sub(self.shown.elapsed())
    }

    /// Shows what there is to see, from time to time.
    pub(super) fn show(&mut self, session: &Session, snapshot: impl FnOnce() -> Snapshot) {
        self.shown = Instant::now();
        if self.terminal.is_none() && self.page.is_none() {
            return;
        }
        let snapshot = snapshot();
        if let Some(terminal) = &self.terminal {
            let mut ids = snapshot.torrents.iter().filter_map(|view| view.id);
            let have = match (ids.next(), ids.next()) {
                (Some(id), None) => session.have(id).ok(),
                _ => None,
            };
            terminal.show(&snapshot, have.as_deref());
        }
        if let Some(page) = &self.page {
            page.show(snapshot);
        }
    }

    /// Writes lines where nothing moves meanwhile.
    pub(super) fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        match &self.terminal {
            Some(terminal) => terminal.suspend(write),
            None => write(),
        }
    }

    /// A JSON line, or `text` for people.
    pub(super) fn tell(
        &self,
        env: &mut Env,
        report: &Report<'_>,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        if !self.is_json && self.is_quiet {
            return Ok(());
        }
        self.aside(|| {
            if self.is_json {
                json_lines::print(env, report)?;
            } else {
                writeln!(env.stdout, "{}", Escaped(&text()))?;
            }
            // Whoever reads it waits for what happens.
            Ok(env.stdout.flush()?)
        })
    }

    /// A piece has come, which is told to programs.
    pub(super) fn piece(&self, env: &mut Env, torrent: &str, piece: u32) -> anyhow::Result<()> {
        debug!(torrent, piece, "piece has come");
        if !self.is_json {
            return Ok(());
        }
        self.tell(env, &Report::Piece { torrent, piece }, String::new)
    }

    /// What was there of a torrent.
    pub(super) fn verified(
        &self,
        env: &mut Env,
        torrent: &str,
        local: &Local,
    ) -> anyhow::Result<()> {
        let (have, pieces) = (local.n_have(), local.n_pieces);
        info!(torrent, have, pieces, "verified");
        let report = Report::Verified {
            torrent,
            name: &local.name,
            content: local.root.to_string_lossy().into_owned(),
            pieces,
            have,
            total_bytes: local.length,
        };
        self.tell(env, &report, || {
            if local.is_complete {
                format!("{}: all there", local.name)
            } else {
                let (have, pieces) = (Grouped(have.into()), count(pieces.into(), "piece"));
                format!("{}: {have} of {pieces} there", local.name)
            }
        })
    }

    /// How much was sent of a torrent.
    pub(super) fn ended(
        &self,
        env: &mut Env,
        torrent: &str,
        uploaded_bytes: u64,
    ) -> anyhow::Result<()> {
        info!(torrent, uploaded_bytes, "ended");
        let report = Report::Ended {
            torrent,
            uploaded_bytes,
        };
        self.tell(env, &report, || {
            format!("{torrent}: {} sent", Size(uploaded_bytes))
        })
    }

    /// Where peers are waited for, for programs; or why they cannot be. A port that somebody else has
    /// is an error.
    pub(super) fn of_session(&self, env: &mut Env, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::Listening(address) if self.is_json => {
                let report = Report::Listening { address: *address };
                self.tell(env, &report, String::new)
            }
            Event::ListenFailed {
                port,
                is_taken: true,
                text,
            } => bail!("port {port}: {text}: --port gives another one, 0 any"),
            // Without this one there is none.
            Event::ListenFailed { port, text, .. } if self.is_bound => {
                bail!("--bind, port {port}: {text}")
            }
            Event::ListenFailed { port, text, .. } => {
                self.warn(env, None, &format!("port {port}: {text}"))
            }
            _ => Ok(()),
        }
    }

    /// Something that is gone on from.
    pub(super) fn warn(
        &self,
        env: &mut Env,
        torrent: Option<&str>,
        message: &str,
    ) -> anyhow::Result<()> {
        warn!(torrent, message);
        if self.is_json {
            self.tell(env, &Report::Warning { torrent, message }, String::new)?;
        }
        let name = torrent
            .map(|torrent| format!("{torrent}: "))
            .unwrap_or_default();
        let text = format!("warning: {name}{message}");
        self.aside(|| env.error(&Escaped(&text).to_string()));
        Ok(())
    }

    /// Why a torrent cannot be gone on with, which is given back as text. If nobody can be told, that is
    /// the error.
    pub(super) fn error(
        &self,
        env: &mut Env,
        torrent: &str,
        error: anyhow::Error,
    ) -> anyhow::Result<String> {
        if crate::is_broken_pipe(&error) {
            return Err(error);
        }
        let message = format!("{error:#}");
        error!(torrent, message);
        if self.is_json {
            let message = &message;
            self.tell(env, &Report::Error { torrent, message }, String::new)?;
        }
        let text = format!("{torrent}: {message}");
        self.aside(|| env.error(&Escaped(&text).to_string()));
        Ok(message)
    }
}
