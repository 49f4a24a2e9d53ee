//! `hashlane get`: downloads torrents.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::options::client::ClientOptions;
use crate::options::{ConfigFile, Switch as _};
use crate::values;

const EXIT_STATUS: &str = "\
Exit status:
  0  the requested content is complete and verified
  1  the download finished, but the last verification failed
  2  an error: wrong usage, an invalid torrent, a file that cannot be written,
     a full disk, --timeout, Ctrl-C, a failed command of --exec, or no
     program hashlane-net
130  Ctrl-C in answer to the question of --confirm";

/// Download torrents, or complete content that is partly present
///
/// Existing content is verified first, whichever program wrote it. The rest is downloaded, and in the end everything
/// is verified once more. There is no state file: a download can be stopped in any way at any time, and continues
/// from the content on disk. Wrong pieces are replaced. Other files, and bytes after the end of the content, are kept.
/// Torrents and settings that the page of --http adds or changes last until the end; `hashlane daemon` keeps them.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub struct Get {
    /// .torrent files, their URLs (http, https), magnet links, or info-hashes; `-` for standard input
    #[arg(
        value_name = "TORRENT|URL|MAGNET|HASH",
        required_unless_present = "watch"
    )]
    pub torrents: Vec<String>,

    /// Download into this folder (content goes to DIR/NAME)
    #[arg(
        short = 'd',
        long = "dir",
        value_name = "DIR",
        default_value = ".",
        help_heading = "Content"
    )]
    pub output: PathBuf,

    /// Content map of `find --save`: where single files lie. They are read, and never written. The rest is downloaded
    #[arg(long, value_name = "MAP", help_heading = "Content")]
    pub content_map: Option<PathBuf>,

    /// Download only matching files and the files in matching folders: `*.pdf` anywhere, `docs/*.pdf` from the top;
    /// repeatable. Letter case makes no difference. Version 1 also downloads parts of neighbouring files, as files with holes
    #[arg(long = "include", value_name = "GLOB", help_heading = "Content")]
    pub includes: Vec<String>,

    /// Request pieces in order
    #[arg(long, help_heading = "Download")]
    pub sequential: bool,

    /// List wrong pieces and ask before replacing them [default: 0]. Without a terminal, replace nothing and fail
    #[arg(long, switch(), help_heading = "Content")]
    pub confirm: Option<bool>,

    /// Replace the content of files that exist and do not belong to the torrent
    #[arg(short, long, help_heading = "Content")]
    pub force: bool,

    /// Folder with files that may have the content under other names, as `hashlane find` finds them. Absent files are copied from
    /// them, or share their bytes on the disk if the file system can; repeatable
    #[arg(long, value_name = "DIR", help_heading = "Content")]
    pub reuse: Vec<PathBuf>,

    /// Copy a file that has several names (hard links) before it is written to, so that its other names keep the old bytes
    /// [default: 0]. Without this option, such a file is an error
    #[arg(long, switch(), help_heading = "Content")]
    pub copy_linked: Option<bool>,

    /// Continue serving after the download, until Ctrl-C
    #[arg(long, help_heading = "Seeding")]
    pub seed: bool,

    /// Continue serving until this ratio of sent to received bytes, for example 1.5
    #[arg(long, value_name = "RATIO", value_parser = values::positive, help_heading = "Seeding")]
    pub seed_ratio: Option<f64>,

    /// Continue serving for this time, for example 30m
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Seeding")]
    pub seed_time: Option<Duration>,

    /// Move the finished torrent's folder to DIR. Content that already exists there is not downloaded again
    #[arg(long, value_name = "DIR", help_heading = "Content")]
    pub move_to: Option<PathBuf>,

    /// Shell command to run after each download is complete and verified. The variables `HASHLANE_TORRENT`,
    /// `HASHLANE_NAME` and `HASHLANE_CONTENT` hold the torrent as given, its name, and the path of the content
    ///
    /// The command also runs for content that is complete already, unless it has succeeded for this content. A record in
    /// the folder of --state-dir says so. A kill of the program while the command
    /// runs, or a failure of the command, runs it again at the next start.
    #[arg(long, value_name = "COMMAND", help_heading = "Download")]
    pub exec: Option<String>,

    /// Properties that prove complete content unchanged since its last verification, so that it is not read again
    /// [default: none; all bytes are read]
    ///
    /// `hashlane seed --help` describes what goes unnoticed. The record is a file in the folder of --state-dir.
    #[arg(long, value_name = "WHAT", help_heading = "Content")]
    pub trust: Option<super::seed::Trust>,

    /// Give up on a torrent after this time without progress, for example 60s
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Download")]
    pub timeout: Option<Duration>,

    /// The options of the client.
    #[command(flatten)]
    pub client: ClientOptions,

    /// The file of the configuration.
    #[command(flatten)]
    pub config: ConfigFile,
}
