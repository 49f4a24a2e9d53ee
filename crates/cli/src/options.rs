//! Options that several commands share. Each option is declared and read once.

pub mod client;
pub mod http;
pub(crate) mod look;
pub mod network;

use std::num::{NonZeroU8, NonZeroUsize};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::builder::BoolishValueParser;
use clap::{Arg, Args, ValueEnum};
use hashlane_files::Globs;
use hashlane_verify::IoMode;

use crate::Env;
use crate::documentation;
use crate::links::Passkeys;
use crate::new_file::Overwrite;
use crate::output::progress::ProgressLine;
use crate::values;

/// `--threads`, for every command that hashes or searches.
#[derive(Debug, Args)]
#[command(next_help_heading = "Hashing")]
pub(crate) struct Threads {
    /// Number of threads [default: one per core]
    #[arg(
        short,
        visible_short_alias = 'j',
        long,
        value_name = "N",
        value_parser = values::threads
    )]
    threads: Option<u16>,
}

impl Threads {
    /// Returns the number that was given, if any.
    pub(crate) fn count(&self) -> Option<NonZeroUsize> {
        self.threads.and_then(|n| NonZeroUsize::new(n.into()))
    }
}

/// The method of reading and hashing files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Hashing")]
pub struct Hashing {
    #[command(flatten)]
    threads: Threads,

    /// Method of reading files
    #[arg(long, value_name = "METHOD", default_value = "auto")]
    io: Io,

    /// Number of threads that read from a rotating disk at the same time. More than one helps only arrays of disks
    #[arg(long, value_name = "N", default_value = "1")]
    disk_threads: NonZeroU8,
}

impl Hashing {
    /// Returns the settings from the options.
    pub fn options(&self) -> hashlane_verify::Options {
        let io = match self.io {
            Io::Auto => IoMode::Auto,
            Io::Mmap => IoMode::Mmap,
            Io::Pread => IoMode::Pread,
            Io::Direct => IoMode::Direct,
        };
        hashlane_verify::Options::default()
            .io(io)
            .allow_signal_handler()
            .threads(self.threads.count())
            .disk_threads(self.disk_threads.into())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Io {
    /// Map files if the system can, else read them; in file order on a rotating disk, and as `direct` if hardly anything is cached
    Auto,
    /// Map all but small files into memory
    Mmap,
    /// Read with positioned reads
    Pread,
    /// Read past the page cache (Linux), which keeps what other programs need in it
    Direct,
}

/// The file of the configuration.
#[derive(Debug, Args)]
pub struct ConfigFile {
    /// Configuration file to read instead of the user's and the system's file.
    #[arg(long, value_name = "FILE", help_heading = None::<&'static str>, help = documentation::config_help())]
    pub config: Option<PathBuf>,
}

/// A method of clap's options, so that `#[arg(switch())]` can call it.
pub(crate) trait Switch {
    /// Makes the option a switch that `=0` turns off, even if a preset or the configuration turns it on.
    fn switch(self) -> Self;
}

impl Switch for Arg {
    fn switch(self) -> Self {
        self.value_name("0|1")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("1")
            .hide_possible_values(true)
            .value_parser(BoolishValueParser::new())
    }
}

/// The form of the result.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct Json {
    /// Whether results are JSON lines.
    #[arg(long, help = documentation::json_help())]
    pub json: bool,

    #[command(flatten)]
    _look: look::Look,
}

/// The form and amount of output of a command that works for a while.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    #[command(flatten)]
    form: Json,

    /// Print no report, note or progress; only the requested data and errors
    #[arg(short, long)]
    pub quiet: bool,
}

impl Output {
    /// Returns `true` if results are printed as JSON lines.
    pub fn is_json(&self) -> bool {
        self.form.json
    }

    /// Returns a progress line, if it is wanted and the terminal can show one.
    pub(crate) fn progress(&self, env: &Env, name: String) -> Option<ProgressLine> {
        (env.progress && !self.quiet).then(|| ProgressLine::new(name))
    }
}

/// Whether a file that is written may replace another one.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct Force {
    /// Replace an output file that exists
    #[arg(short, long)]
    force: bool,
}

impl Force {
    /// Returns the rule for every file that the command writes.
    pub fn overwrite(&self) -> Overwrite {
        if self.force {
            Overwrite::Yes
        } else {
            Overwrite::No
        }
    }
}

/// Whether passkeys are printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Secrets {
    /// Print URLs with their passkeys, and put the trackers of private torrents into magnet links
    #[arg(long)]
    show_passkey: bool,
}

impl Secrets {
    /// Returns the treatment of passkeys.
    pub(crate) fn passkeys(&self) -> Passkeys {
        if self.show_passkey {
            Passkeys::Show
        } else {
            Passkeys::Hide
        }
    }
}

/// The trackers of a torrent.
#[derive(Debug, Args)]
pub(crate) struct Trackers {
    /// Tier of trackers, separated by commas (BEP 12); repeatable, the first tier is tried first
    #[arg(short = 'a', long = "announce", value_name = "URL,...", value_parser = values::tier)]
    pub(crate) tiers: Vec<values::Tier>,
}

/// Adds the patterns that were given to an option. Errors name the option.
///
/// # Errors
/// A pattern is invalid.
pub fn globs(
    mut globs: Globs,
    option: &str,
    patterns: &[impl AsRef<str>],
) -> anyhow::Result<Globs> {
    for pattern in patterns {
        let pattern = pattern.as_ref();
        let named = || format!("{option} {pattern}").trim_end().to_owned();
        globs.add(pattern).with_context(named)?;
    }
    Ok(globs)
}
