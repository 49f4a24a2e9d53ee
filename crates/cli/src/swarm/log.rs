//! `--log`: a log file.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Mutex;

use tracing::dispatcher::{DefaultGuard, Dispatch};
use tracing::level_filters::LevelFilter;

use crate::swarm_args::LogLevel;

/// Appends the log of this thread, and of the client that it starts, to a file until the guard is dropped.
pub(super) fn start(path: &Path, level: LogLevel) -> std::io::Result<DefaultGuard> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let subscriber = tracing_subscriber::fmt()
        .with_writer(Mutex::new(file))
        .with_ansi(false)
        .with_target(false)
        .with_max_level(match level {
            LogLevel::Error => LevelFilter::ERROR,
            LogLevel::Warn => LevelFilter::WARN,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Trace => LevelFilter::TRACE,
        })
        .finish();
    Ok(tracing::dispatcher::set_default(&Dispatch::new(subscriber)))
}
