//! The arguments of `hashlane create`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;

use super::choices::{Format, Links, Sort};
use super::preset::{self, PieceLengthRule};
use crate::Env;
use crate::options::{ConfigFile, Force, Hashing, Output, Secrets, Switch as _, Trackers};
use crate::values::{self, PieceLength};

const EXIT_STATUS: &str = "\
Exit status:
  0  every .torrent is written
  2  an error: wrong usage, a file that cannot be read or that changed, Ctrl-C,
     or a result that cannot be printed. An input that fails does not stop the
     others.";

/// Create a .torrent for each file or folder
///
/// The same input produces the same .torrent: it has no creation date without `--date`. Files are sorted folder by
/// folder by the bytes of their names, so that other programs that sort like this get the same info-hash for the
/// same piece length. A file that changes while it is read is an error.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Create {
    /// Files or folders; each gets its own .torrent
    #[arg(value_name = "PATH", required = true)]
    pub(super) paths: Vec<PathBuf>,

    /// The .torrent to write, or its folder; `-` for standard output [default: NAME.torrent in the output folder]
    #[arg(
        short,
        long,
        value_name = "FILE",
        conflicts_with = "output_dir",
        help_heading = "Output"
    )]
    pub(super) output: Option<PathBuf>,

    /// Folder for the .torrent files [default: the working directory]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(super) output_dir: Option<PathBuf>,

    /// Create missing folders of the .torrent files
    #[arg(long, help_heading = "Output")]
    pub(super) parents: bool,

    #[command(flatten)]
    pub(super) force: Force,

    /// List the files, the size and the piece length; hash and write nothing
    #[arg(long, help_heading = "Output")]
    pub(super) dry_run: bool,

    /// Preset to take options from; options on the command line win
    #[arg(long, value_name = "NAME")]
    pub(super) preset: Option<String>,

    /// File of presets [default: hashlane/presets.toml in the user's configuration folder]
    #[arg(long, value_name = "FILE", requires = "preset")]
    pub(super) presets: Option<PathBuf>,

    /// Protocol version [default: hybrid if it needs little padding, else v1; v1 if private]
    #[arg(long, value_name = "VERSION", help_heading = "Torrent")]
    pub(super) format: Option<Format>,

    /// Piece length, for example 256KiB, or 18 for 2^18 bytes [default: 16 KiB to 16 MiB by size]
    #[arg(
        short = 'l',
        long,
        value_name = "SIZE",
        value_parser = values::piece_length,
        conflicts_with_all = ["max_piece_length", "target_pieces"],
        help_heading = "Torrent"
    )]
    pub(super) piece_length: Option<PieceLength>,

    /// Maximum piece length to choose by size [default: 16 MiB]
    #[arg(long, value_name = "SIZE", value_parser = values::piece_length, help_heading = "Torrent")]
    pub(super) max_piece_length: Option<PieceLength>,

    /// Maximum number of pieces to aim for by the choice of the piece length [default: 2048]
    #[arg(long, value_name = "N", help_heading = "Torrent")]
    pub(super) target_pieces: Option<NonZeroU32>,

    /// Piece lengths by size. Only a preset can set them.
    #[arg(skip)]
    pub(super) piece_lengths: Vec<PieceLengthRule>,

    /// Name in the torrent [default: name of the file or folder]
    #[arg(short, long, value_name = "NAME", help_heading = "Torrent")]
    pub(super) name: Option<String>,

    #[command(flatten, next_help_heading = "Torrent")]
    pub(super) trackers: Trackers,

    /// Web seed, a URL that serves the content (BEP 19); repeatable
    #[arg(short, long = "web-seed", value_name = "URL", value_parser = values::url, help_heading = "Torrent")]
    pub(super) web_seeds: Vec<String>,

    /// DHT node (BEP 5); repeatable
    #[arg(long = "node", value_name = "HOST:PORT", value_parser = values::node, help_heading = "Torrent")]
    pub(super) nodes: Vec<(String, u16)>,

    /// Allow peers from the trackers only (BEP 27), and write no web seeds and DHT nodes; changes the
    /// info-hash. `--private=0` makes a public torrent in spite of a preset
    #[arg(short, long, switch(), help_heading = "Torrent")]
    pub(super) private: Option<bool>,

    /// Source tag, as private trackers require; changes the info-hash
    #[arg(short, long, value_name = "TEXT", help_heading = "Torrent")]
    pub(super) source: Option<String>,

    /// Write random text into the info dictionary, for another info-hash of the same content
    #[arg(long, switch(), help_heading = "Torrent")]
    pub(super) entropy: Option<bool>,

    /// Comment for people; does not change the info-hash
    #[arg(short, long, value_name = "TEXT", help_heading = "Torrent")]
    pub(super) comment: Option<String>,

    /// Creation date: `now`, or seconds since 1970 [default: none]
    #[arg(long, value_name = "WHEN", value_parser = values::date, help_heading = "Torrent")]
    pub(super) date: Option<i64>,

    /// Leave out the name of the program that created it
    #[arg(long, help_heading = "Torrent")]
    pub(super) no_created_by: bool,

    /// Leave out matching files and folders, for example `*.tmp` anywhere or `/build` at the top; repeatable.
    /// Letter case makes no difference
    #[arg(
        short = 'x',
        long = "exclude",
        value_name = "GLOB",
        help_heading = "Files"
    )]
    pub(super) excludes: Vec<String>,

    /// File of patterns to leave out, in the style of .gitignore, `-` for standard input; repeatable
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(super) exclude_from: Vec<PathBuf>,

    /// Take only matching files and the files in matching folders; repeatable
    #[arg(long = "include", value_name = "GLOB", help_heading = "Files")]
    pub(super) includes: Vec<String>,

    /// Leave out files and folders whose name starts with a dot
    #[arg(long, help_heading = "Files")]
    pub(super) no_hidden: bool,

    /// Take `.DS_Store`, `Thumbs.db`, `*.part` and other files of systems and unfinished downloads, which are left out by
    /// default
    #[arg(long, help_heading = "Files")]
    pub(super) keep_junk: bool,

    /// Treatment of symbolic links
    #[arg(
        long,
        value_name = "HOW",
        default_value = "store",
        help_heading = "Files"
    )]
    pub(super) links: Links,

    /// Order of the files; only v1 has others than `path`
    #[arg(
        long,
        value_name = "ORDER",
        default_value = "path",
        help_heading = "Files"
    )]
    pub(super) sort: Sort,

    /// Store the executable and hidden attributes (BEP 47); changes the info-hash
    #[arg(long, help_heading = "Files")]
    pub(super) attributes: bool,

    #[command(flatten)]
    pub(super) hashing: Hashing,

    #[command(flatten)]
    pub(super) printing: Output,

    /// Print the whole report of each of several torrents
    #[arg(short, long, conflicts_with_all = ["json", "quiet"], help_heading = "Output")]
    pub(super) verbose: bool,

    #[command(flatten)]
    pub(super) secrets: Secrets,

    #[command(flatten)]
    _config: ConfigFile,
}

impl Create {
    /// Takes the options of the preset that are not on the command line. The preset's `exclude` patterns are added to
    /// those on the command line.
    pub(super) fn apply_preset(&mut self, env: &mut Env) -> anyhow::Result<()> {
        let Some(name) = &self.preset else {
            return Ok(());
        };
        let preset = preset::load(env, self.presets.as_deref(), name)?;
        or(&mut self.trackers.tiers, preset.announce);
        or(&mut self.web_seeds, preset.web_seed);
        or(&mut self.nodes, preset.node);
        or(&mut self.includes, preset.include);
        self.excludes.extend(preset.exclude);
        self.private = self.private.or(preset.private);
        self.source = self.source.take().or(preset.source);
        self.entropy = self.entropy.or(preset.entropy);
        self.comment = self.comment.take().or(preset.comment);
        self.format = self.format.or(preset.format);
        let chosen = [self.piece_length, self.max_piece_length];
        // One of these options on the command line overrides all four keys of the preset.
        if chosen.iter().all(Option::is_none) && self.target_pieces.is_none() {
            self.piece_length = preset.piece_length;
            self.piece_lengths = preset.piece_lengths;
            self.max_piece_length = preset.max_piece_length;
            self.target_pieces = preset.target_pieces;
        }
        Ok(())
    }
}

/// Sets a list if it is empty.
fn or<T>(list: &mut Vec<T>, other: Vec<T>) {
    if list.is_empty() {
        *list = other;
    }
}
