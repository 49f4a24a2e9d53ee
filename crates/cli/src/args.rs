//! The command line: what clap parses, and what help, completions and man page are made of.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use hashlane_sha::Engine;
use hashlane_verify::{IoMode, Options};

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
/// Where a version 2 torrent has one hash for a whole file and the file is wrong, its pieces are `unproven`.
///
/// Of a hybrid torrent both versions are judged in one pass, and a piece is there if both say so.
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

    #[command(flatten)]
    pub(crate) hashing: Hashing,

    /// Judge one kind of the hashes of a hybrid torrent instead of both
    #[arg(long, value_name = "VERSION")]
    pub(crate) only: Option<Only>,

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

/// How files are read and hashed.
#[derive(Debug, Args)]
pub(crate) struct Hashing {
    /// How many threads hash [default: as many as there are cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// How bytes come from files to memory
    #[arg(long, value_name = "WAY", default_value = "auto")]
    io: Io,
}

impl Hashing {
    pub(crate) fn options(&self) -> anyhow::Result<Options> {
        Ok(Options {
            threads: self.threads.and_then(|n| NonZeroUsize::new(n.into())),
            io: match self.io {
                Io::Auto => IoMode::Auto,
                Io::Mmap => IoMode::Mmap,
                Io::Pread => IoMode::Pread,
            },
            engine: Engine::from_env()?,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Only {
    /// The SHA-1 digests of pieces (BEP 3)
    V1,
    /// The SHA-256 merkle trees of files (BEP 52)
    V2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Io {
    /// Mapped where the system can, else read; in file order while a disk that rotates is slow
    Auto,
    /// Mapped into memory, but for small files
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
