//! The command line: what clap parses, and what help, completions and man page are made of.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

const EXIT_STATUS: &str = "\
Exit status:
  0  all is there
  1  checked, and not all is there
  2  something could not be checked: wrong usage, a torrent that cannot be read or is refused,
     or Ctrl-C";

const ENVIRONMENT: &str = "\
Environment:
  HASHLANE_BACKEND  the one hash backend to use, by a name that `hashlane kernels` shows
  NO_COLOR          if set, nothing is coloured";

/// Tells, at the speed of memory, whether the bytes that you have are the bytes that you should have
#[derive(Debug, Parser)]
#[command(
    name = "hashlane",
    version,
    long_version = crate::kernels::long_version(),
    after_help = ENVIRONMENT,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Verify(Verify),
    Kernels(Kernels),
    Completions(Completions),
    Man(Man),
}

/// Tell which pieces of torrents are on disk, from the bytes alone
///
/// Every piece is hashed and compared. The content is only ever read: no file of it is created, cut,
/// touched or locked, and there is no state file. A piece is `have`, `bad` (its bytes are there, and wrong),
/// `missing` (a file is absent, or too short there) or `unreadable` (the system could not read it).
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Verify {
    /// The .torrent files
    #[arg(value_name = "TORRENT", required = true)]
    pub(crate) torrents: Vec<PathBuf>,

    /// The folder that holds the content under the torrent's name [default: the .torrent's folder]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,

    /// The content itself, whatever it is called: a file, or the folder that holds the files
    #[arg(long, value_name = "PATH", conflicts_with = "dir")]
    pub(crate) content: Option<PathBuf>,

    /// How many threads hash [default: as many as there are cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// How bytes come from files to memory
    #[arg(long, value_name = "WAY", default_value = "auto")]
    pub(crate) io: Io,

    /// Print JSON lines, see docs/json.md
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the pieces that are there as bits, the first piece highest in the first byte
    #[arg(long, value_name = "FILE")]
    pub(crate) bitfield: Option<PathBuf>,

    /// Print no report for people and no progress; the exit status tells the rest
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Io {
    /// Mapped where the system can, else read; in file order while a disk that rotates is slow
    Auto,
    /// Mapped into memory
    Mmap,
    /// Read with positioned reads
    Pread,
}

/// Show what the CPU can do, which kernel each job uses, and how fast each of them is here
#[derive(Debug, Args)]
pub(crate) struct Kernels {
    /// Print JSON lines, see docs/json.md
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print completions for a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

/// Print the man page, or write one for each command
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder to write the pages of all commands to
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
