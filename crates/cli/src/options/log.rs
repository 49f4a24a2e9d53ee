//! `--log` and `--log-level`: a log file.

#[cfg(feature = "libtorrent")]
use std::fs::{File, OpenOptions};
#[cfg(feature = "libtorrent")]
use std::io::{self, Write};
use std::path::PathBuf;
#[cfg(feature = "libtorrent")]
use std::sync::Mutex;

#[cfg(feature = "libtorrent")]
use anyhow::Context as _;
use clap::{Args, ValueEnum};
#[cfg(feature = "libtorrent")]
use tracing::dispatcher::{DefaultGuard, Dispatch};
#[cfg(feature = "libtorrent")]
use tracing::level_filters::LevelFilter;

#[cfg(feature = "libtorrent")]
use crate::Env;
#[cfg(feature = "libtorrent")]
use crate::output::text::without_passwords;

/// The log file.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// Append a log to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Level of detail of the log
    #[arg(long, value_name = "LEVEL", default_value = "info", requires = "log")]
    log_level: LogLevel,
}

#[cfg(feature = "libtorrent")]
impl Log {
    /// Returns the level of the log, if a log is written.
    pub(crate) fn level(&self) -> Option<LogLevel> {
        self.log.as_ref().map(|_| self.log_level)
    }

    /// Appends the log of this thread, and of the client that it starts, to the file until the guard is dropped.
    pub(crate) fn start(&self, env: &Env) -> anyhow::Result<Option<DefaultGuard>> {
        let Some(path) = &self.log else {
            return Ok(None);
        };
        let path = env.resolve(path);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("--log {}", path.display()))?;
        let subscriber = tracing_subscriber::fmt()
            .with_writer(Mutex::new(WithoutPasswords(file)))
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

/// A log file. Each call of `write` gets one event, from which the passwords of URLs are removed.
#[cfg(feature = "libtorrent")]
struct WithoutPasswords(File);

#[cfg(feature = "libtorrent")]
impl Write for WithoutPasswords {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        self.0.write_all(without_passwords(&text).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The level of detail of a log. Each level includes the levels before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Errors that stop a torrent
    Error,
    /// Errors that a torrent survives
    Warn,
    /// Starts and ends
    Info,
    /// Pieces, peers and trackers
    Debug,
    /// Blocks, and the log of libtorrent
    Trace,
}
