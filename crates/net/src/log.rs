//! The log file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::Mutex;

use anyhow::Context as _;
use hashlane_cli::Env;
use hashlane_cli::options::client::{Log, LogLevel};
use hashlane_metainfo::masked_text;
use hashlane_swarm::EventDetail;
use tracing::dispatcher::{DefaultGuard, Dispatch};
use tracing::level_filters::LevelFilter;

/// The log that the options ask for.
pub(crate) trait LogFile {
    /// Returns the level of the log, if a log is written.
    fn level(&self) -> Option<LogLevel>;

    /// Returns the detail of events that the log, and JSON lines if they are printed, need.
    fn event_detail(&self, is_json: bool) -> EventDetail {
        match self.level() {
            Some(LogLevel::Trace) => EventDetail::All,
            Some(LogLevel::Debug) => EventDetail::Pieces,
            _ if is_json => EventDetail::Pieces,
            _ => EventDetail::Essential,
        }
    }

    /// Appends the log of this thread, and of the client that it starts, to the file until the guard is dropped.
    fn start(&self, env: &Env) -> anyhow::Result<Option<DefaultGuard>>;
}

impl LogFile for Log {
    fn level(&self) -> Option<LogLevel> {
        self.log.as_ref().map(|_| self.log_level)
    }

    fn start(&self, env: &Env) -> anyhow::Result<Option<DefaultGuard>> {
        let Some(path) = &self.log else {
            return Ok(None);
        };
        let path = env.resolve(path);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("--log {}", path.display()))?;
        let subscriber = tracing_subscriber::fmt()
            .with_writer(Mutex::new(Masked(file)))
            .with_ansi(false)
            .with_target(false)
            .with_max_level(match self.log_level {
                LogLevel::Error => LevelFilter::ERROR,
                LogLevel::Warn => LevelFilter::WARN,
                LogLevel::Info => LevelFilter::INFO,
                LogLevel::Debug => LevelFilter::DEBUG,
                LogLevel::Trace => LevelFilter::TRACE,
            })
            .finish();
        let subscriber = Dispatch::new(subscriber);
        Ok(Some(tracing::dispatcher::set_default(&subscriber)))
    }
}

/// Prints a problem that the program survives, and logs it.
pub(crate) fn warn(env: &mut Env, problem: &str) {
    tracing::warn!(reason = problem);
    env.error(&format!("warning: {problem}"));
}

/// Prints the reason why something was not done, and logs it.
pub(crate) fn error(env: &mut Env, reason: &str) {
    tracing::error!(reason);
    env.error(reason);
}

/// A log file. Each call of `write` gets one event, whose URLs are masked.
struct Masked(File);

impl Write for Masked {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        self.0.write_all(masked_text(&text).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
