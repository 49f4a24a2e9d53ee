//! `--log` and `--log-level`: a log file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The log file.
#[derive(Debug, Args)]
pub struct Log {
    /// Append a log to this file
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,

    /// Level of detail of the log
    #[arg(long, value_name = "LEVEL", default_value = "info", requires = "log")]
    pub log_level: LogLevel,
}

/// The level of detail of a log. Each level includes the levels before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
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
