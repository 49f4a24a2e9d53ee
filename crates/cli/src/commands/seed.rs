//! `hashlane seed`: serves the content of torrents.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::options::ConfigFile;
use crate::options::client::ClientOptions;
use crate::values;

const EXIT_STATUS: &str = "\
Exit status:
  0  all torrents were served until the requested end, or Ctrl-C
  1  the same, but some content was missing or wrong at the end
  2  an error: wrong usage, an invalid torrent, content that was absent to the
     end, or no program hashlane-net";

/// Serve the content of torrents without ever writing to it
///
/// The content is verified first, and only right pieces are served. Files are opened for reading only, so that they
/// can be on a read-only file system. Files that change are verified again, and only right pieces remain. A torrent whose
/// content is missing waits for it; the others continue. Torrents and settings that the page of --http adds or changes last
/// until the end; `hashlane daemon` keeps them.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub struct Seed {
    /// .torrent files; `-` for standard input
    #[arg(value_name = "TORRENT", required_unless_present = "watch")]
    pub torrents: Vec<PathBuf>,

    /// Folder where the content lies under the torrent's name [default: the current folder]
    #[arg(short, long, value_name = "DIR", help_heading = "Content")]
    pub dir: Option<PathBuf>,

    /// The content itself under any name: a file, or the folder that holds the files
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with = "dir",
        help_heading = "Content"
    )]
    pub content: Option<PathBuf>,

    /// Content map of `find --save`: where single files lie. They are read, and never written. The other files lie in --dir
    /// under the torrent's name
    #[arg(
        long,
        value_name = "MAP",
        conflicts_with = "content",
        help_heading = "Content"
    )]
    pub content_map: Option<PathBuf>,

    /// Offer a piece to peers only after the previous piece has spread
    #[arg(long, help_heading = "Seeding")]
    pub super_seeding: bool,

    /// Properties that prove a file unchanged since its last verification, so that it is not read again [default: none;
    /// all bytes are read]
    ///
    /// With `size+mtime`, a restart reads only files whose size or time of modification changed. Damage that leaves both as
    /// they were goes unnoticed, for example by a failing disk, a program that restores times, or a write through a memory
    /// map. Hashlane then serves wrong pieces. Files that a program has open for writing are read (Linux). Reports call these
    /// pieces "trusted, not verified". The record is a file in the folder of --state-dir.
    #[arg(long, value_name = "WHAT", help_heading = "Content")]
    pub trust: Option<Trust>,

    /// Stop serving a torrent at this ratio of sent to received bytes, for example 1.5
    #[arg(long, value_name = "RATIO", value_parser = values::positive, help_heading = "Seeding")]
    pub seed_ratio: Option<f64>,

    /// Stop after this time, for example 2h or 7d
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Seeding")]
    pub seed_time: Option<Duration>,

    /// The options of the client.
    #[command(flatten)]
    pub client: ClientOptions,

    /// The file of the configuration.
    #[command(flatten)]
    pub config: ConfigFile,
}

/// Properties that prove a file unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Trust {
    /// Its size and its time of modification
    #[value(name = "size+mtime")]
    SizeAndTime,
}
