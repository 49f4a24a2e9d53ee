//! The command line: what clap parses, and what help, completions and man page are made of.

use std::num::NonZeroUsize;
use std::path::PathBuf;

mod swarm;

#[cfg(feature = "libtorrent")]
pub(crate) use swarm::{Common, EncryptionArg, LogLevel, Network, TransportArg};
pub(crate) use swarm::{Get, Seed};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use hashlane_sha::Engine;
use hashlane_verify::{IoMode, Options};

use crate::units::{self, PieceLength};

const EXIT_STATUS: &str = "\
Exit status:
  0  all is there
  1  checked, and not all is there
  2  something could not be checked: wrong usage, a torrent that cannot be read or is refused,
     or Ctrl-C";

const CREATE_EXIT_STATUS: &str = "\
Exit status:
  0  the .torrent is written
  2  it is not: wrong usage, a file that cannot be read or that changed, or Ctrl-C;
     or it is, and that could not be told";

const SHOW_EXIT_STATUS: &str = "\
Exit status:
  0  done
  2  not done: wrong usage, or a torrent or magnet link that cannot be read or is refused";

const RECOVER_EXIT_STATUS: &str = "\
Examples:
  hashlane recover 1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71              case lost
  hashlane recover '1Lbcfr7sAHTD9CgdQo3HTM?kV8LK4Zn[XY]71'         unknown characters
  hashlane recover --glyphs 1Lbcfr7sAHTD9CgdQ03HTMTkVBLK4ZnX71     0 was o, and B was 8
  hashlane recover --errors 2 1Lbcfr7sAHTD9CgdQ3oHTMTkV9LK4ZnX71   two were swapped, and one is wrong
  hashlane recover --known addresses.txt -                         a private key, typed or piped in

What it cannot do: where the case of a private key is lost altogether, strings fit by accident: a few for most
compressed ones, a hundred and more for uncompressed ones, thousands for BIP 38. Extended keys are out of reach;
what has no checksum has nothing to check against.

Kinds:
  p2pkh (1...), p2sh (3...), testnet-p2pkh (m... n...), testnet-p2sh (2...), bip38 (6P...),
  wif (5...), wif-compressed (K... L...), testnet-wif (9...), testnet-wif-compressed (c...),
  litecoin (L...), litecoin-p2sh (M...), litecoin-wif, litecoin-wif-compressed,
  dogecoin (D...), dogecoin-p2sh (9... A...), dogecoin-wif, dogecoin-wif-compressed,
  dash (X...), dash-p2sh (7...), dash-wif, dash-wif-compressed,
  zcash (t1...), zcash-p2sh (t3...), tron (T...), ripple (r...), ripple-seed (s...)

Exit status:
  0  exactly one string fits
  1  none does
  2  it could not be searched, or not to the end: wrong usage, a string that no kind has, a limit, Ctrl-C
  3  several do";

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
    Create(Create),
    Show(Show),
    Magnet(Magnet),
    Edit(Edit),
    Get(Get),
    Seed(Seed),
    Recover(Recover),
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

/// Make a .torrent of a file or folder, at the speed of `verify`
///
/// The same input makes the same bytes: there is no creation date unless one is asked for. Files come in the order of
/// their names as raw bytes, folder by folder, so the info-hash is the one that others get of the same files in the
/// same order, with the same piece length. A file that changes while it is read is an error.
#[derive(Debug, Args)]
#[command(after_help = CREATE_EXIT_STATUS)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Create {
    /// The file or folder
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,

    /// The .torrent to write [default: the name with .torrent, in the working directory]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Replace the .torrent if it exists
    #[arg(short, long)]
    pub(crate) force: bool,

    /// The versions of the protocol [default: hybrid if its padding is no burden, else v1]
    #[arg(long, value_name = "VERSION")]
    pub(crate) format: Option<Format>,

    /// The piece length, a power of two such as 256KiB [default: by size, 16 KiB to 16 MiB]
    #[arg(short = 'l', long, value_name = "SIZE", value_parser = units::piece_length)]
    pub(crate) piece_length: Option<PieceLength>,

    /// The name in the torrent [default: that of the file or folder]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) trackers: Trackers,

    /// A URL that has the content (BEP 19); can be given several times
    #[arg(short, long = "web-seed", value_name = "URL", value_parser = units::url)]
    pub(crate) web_seeds: Vec<String>,

    /// A node of the DHT (BEP 5); can be given several times
    #[arg(long = "node", value_name = "HOST:PORT", value_parser = units::node)]
    pub(crate) nodes: Vec<(String, u16)>,

    /// Peers may come from the trackers only (BEP 27); changes the info-hash
    #[arg(short, long)]
    pub(crate) private: bool,

    /// Who or where it is from; changes the info-hash
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) source: Option<String>,

    /// A comment
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,

    /// Say when it was made: `now`, or seconds since 1970
    #[arg(long, value_name = "WHEN", value_parser = units::date)]
    pub(crate) date: Option<i64>,

    /// Do not say that Hashlane made it
    #[arg(long)]
    pub(crate) no_created_by: bool,

    /// Leave out files and folders that match, such as `*.tmp` anywhere or `/build` at the top; can be given several times
    #[arg(short = 'x', long = "exclude", value_name = "GLOB")]
    pub(crate) excludes: Vec<String>,

    /// Leave out files and folders whose names start with a dot
    #[arg(long)]
    pub(crate) no_hidden: bool,

    /// What becomes of symbolic links; none may lead out of the content
    #[arg(long, value_name = "WHAT", default_value = "store")]
    pub(crate) links: Links,

    /// Mark executable and hidden files as such (BEP 47); changes the info-hash
    #[arg(long)]
    pub(crate) attributes: bool,

    #[command(flatten)]
    pub(crate) hashing: Hashing,

    /// Print a JSON line, see docs/json.md
    #[arg(long)]
    pub(crate) json: bool,

    /// Print nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Trackers of a torrent.
#[derive(Debug, Args)]
pub(crate) struct Trackers {
    /// A tier of trackers, separated by commas (BEP 12); the first tier is tried first
    #[arg(short = 'a', long = "announce", value_name = "URL,...", value_parser = units::tier)]
    pub(crate) tiers: Vec<units::Tier>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// SHA-1 pieces (BEP 3), which every program reads
    V1,
    /// SHA-256 merkle trees of files (BEP 52)
    V2,
    /// Both, with padding between files (BEP 47)
    Hybrid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Links {
    /// They are links in the torrent too (BEP 47)
    Store,
    /// What they lead to is taken in their place
    Follow,
    /// They are left out
    Skip,
}

/// Show all that is in a .torrent or magnet link
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXIT_STATUS)]
pub(crate) struct Show {
    /// A .torrent file, or a magnet link in quotes
    #[arg(value_name = "TORRENT|MAGNET")]
    pub(crate) what: PathBuf,

    /// Print JSON lines, see docs/json.md
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print the magnet link of a .torrent
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXIT_STATUS)]
pub(crate) struct Magnet {
    /// The .torrent file
    #[arg(value_name = "TORRENT")]
    pub(crate) torrent: PathBuf,

    /// Leave out the trackers and web seeds
    #[arg(long)]
    pub(crate) no_trackers: bool,

    /// A peer that has the content (BEP 9); can be given several times
    #[arg(long = "peer", value_name = "HOST:PORT", value_parser = units::peer)]
    pub(crate) peers: Vec<hashlane_metainfo::PeerAddress>,

    /// The files that are meant, such as `0,2,4-6` (BEP 53), as `show --json` numbers them: from 0, with padding
    #[arg(long, value_name = "FILES", value_parser = units::selection)]
    pub(crate) select_only: Option<hashlane_metainfo::FileSelection>,
}

/// Change what a .torrent says besides its content
///
/// Everything else keeps its bytes, and so the info-hash stays, but for `--source` and `--private`: these make
/// another torrent, which is shown and asked for first.
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXIT_STATUS)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Edit {
    /// The .torrent file
    #[arg(value_name = "TORRENT")]
    pub(crate) torrent: PathBuf,

    /// The .torrent to write [default: the same one]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Replace the file given with --output if it exists
    #[arg(short, long, requires = "output")]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) trackers: Trackers,

    /// Remove all trackers, before those of --announce are added
    #[arg(long)]
    pub(crate) no_trackers: bool,

    /// A URL that has the content (BEP 19), added to those there; can be given several times
    #[arg(short, long = "web-seed", value_name = "URL", value_parser = units::url)]
    pub(crate) web_seeds: Vec<String>,

    /// Remove all web seeds, before those of --web-seed are added
    #[arg(long)]
    pub(crate) no_web_seeds: bool,

    /// The comment; empty for none
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,

    /// The source; empty for none. Changes the info-hash
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) source: Option<String>,

    /// Whether it is private (BEP 27). Changes the info-hash
    #[arg(short, long, value_name = "YES|NO")]
    pub(crate) private: Option<YesNo>,

    /// Do not ask before the info-hash changes
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    Yes,
    No,
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

/// Find out what a damaged Base58Check string was: an address or key whose case or characters were lost
///
/// The last four bytes of such a string are a checksum of the others, so that the original can be searched
/// for: all strings that the damaged one can have been are tried, and those whose checksum fits are told, as soon as they are
/// found. One in four billion fits by accident: `--estimate` tells how many to expect, and how long it takes. Nothing is
/// ever picked where several fit.
#[derive(Debug, Args)]
#[command(after_help = RECOVER_EXIT_STATUS)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Recover {
    /// What is left of the strings, with `?` for an unknown character and `[abc]` for one of several; `-` reads strings
    /// from the standard input, one a line, as private keys should be
    #[arg(value_name = "STRING", required = true)]
    pub(crate) strings: Vec<String>,

    /// What it is, see below; can be given several times [default: whatever fits]
    #[arg(short, long = "kind", value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,

    /// Any payload of so many bytes, without the checksum
    #[arg(long, value_name = "BYTES", conflicts_with = "kinds", value_parser = clap::value_parser!(u8).range(1..=44))]
    pub(crate) payload_len: Option<u8>,

    /// What that payload starts with, in hexadecimal
    #[arg(long, value_name = "HEX", requires = "payload_len", value_parser = units::hex_bytes)]
    pub(crate) version_bytes: Option<units::Bytes>,

    /// The order of the characters of that payload
    #[arg(
        long,
        value_name = "ALPHABET",
        requires = "payload_len",
        default_value = "bitcoin"
    )]
    pub(crate) alphabet: AlphabetName,

    /// Whether letters have lost their case
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    pub(crate) case: Case,

    /// Characters may have been taken for others that look alike, such as 0 for o, 1 for i, 5 for S or 8 for B
    #[arg(short, long)]
    pub(crate) glyphs: bool,

    /// So many characters at unknown places may be wrong, missing, extra, or swapped with the next one
    #[arg(short, long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) errors: u8,

    /// Tell what the search would cost, and how many hits by accident are to be expected; search nothing
    #[arg(long)]
    pub(crate) estimate: bool,

    /// Start no search of more hashes than this, such as 1e10
    #[arg(long, value_name = "N", value_parser = units::positive)]
    pub(crate) max_hashes: Option<f64>,

    /// Start no search that will take longer than this, such as 90, 90s, 5m or 2h, and end it then
    #[arg(long, value_name = "TIME", value_parser = units::seconds)]
    pub(crate) max_time: Option<f64>,

    /// A file of addresses, one a line, one of which it is or, of a private key, belongs to it
    #[arg(long, value_name = "FILE")]
    pub(crate) known: Option<PathBuf>,

    /// What it starts with
    #[arg(long, value_name = "TEXT")]
    pub(crate) prefix: Option<String>,

    /// The hash in the address: RIPEMD-160 of SHA-256 of the public key, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = units::address_hash)]
    pub(crate) pubkey_hash: Option<hashlane_base58::AddressHash>,

    /// How many threads search [default: as many as there are cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// Go on where the file says, and keep in it how far the search is; it never holds a string
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,

    /// Search part I of N, for I from 1 to N: on N machines all of it
    #[arg(long, value_name = "I/N", value_parser = units::shard)]
    pub(crate) shard: Option<units::Shard>,

    /// Print JSON lines, see docs/json.md
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the strings that were found, and nothing else but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// If all letters are of one case, or nothing else has happened to the string
    Auto,
    /// All letters can be of either
    Lost,
    /// All letters are as they were
    Kept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AlphabetName {
    /// Bitcoin's, and nearly everybody's
    Bitcoin,
    /// That of the XRP Ledger
    Ripple,
}

impl From<AlphabetName> for hashlane_base58::Alphabet {
    fn from(name: AlphabetName) -> Self {
        match name {
            AlphabetName::Bitcoin => Self::Bitcoin,
            AlphabetName::Ripple => Self::Ripple,
        }
    }
}

/// Print the man page, or write one for each command
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder to write the pages of all commands to
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
