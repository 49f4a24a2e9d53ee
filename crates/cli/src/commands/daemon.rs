//! `hashlane daemon`: downloads and serves torrents until a signal ends it.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hashlane_config::ServerAddress;

use crate::commands::seed::Trust;
use crate::options::client::Log;
use crate::options::http::HttpOptions;
use crate::options::network::Network;
use crate::options::{ConfigFile, Hashing, Output};
use crate::values;

const EXIT_STATUS: &str = "\
Exit status:
  0  ended by SIGTERM or SIGINT
  2  an error: wrong usage, a state folder that is in use or cannot be written,
     libtorrent does not respond, or no program hashlane-net";

/// Download and serve torrents in the background, until SIGTERM
///
/// The torrents are those of the state folder. `hashlane ctl` adds, lists and removes them while the daemon runs. Their
/// content is verified at each start. A kill loses no change that `hashlane ctl` reported. The package of Hashlane has
/// a unit for systemd.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub struct Daemon {
    /// State folder; `hashlane ctl` finds one that is configured [default: `$XDG_STATE_HOME/hashlane/daemon`, by default in `~/.local/state`]
    #[arg(long = "state-dir", value_name = "DIR")]
    pub state: Option<PathBuf>,

    /// Folder for the content of torrents that are added without one
    #[arg(short, long, value_name = "DIR", help_heading = "Content")]
    pub dir: Option<PathBuf>,

    /// Add the .torrent and .magnet files of this folder as they appear; repeatable. The table `categories` has others
    #[arg(long, value_name = "DIR", help_heading = "Content")]
    pub watch_dir: Vec<PathBuf>,

    /// Remove files of watched folders after they were added, instead of renaming them to NAME.added
    #[arg(long, help_heading = "Content")]
    pub watch_remove: bool,

    /// Stop serving at this ratio of sent to received bytes, for example 1.5 [default: no limit]
    ///
    /// Goals of a torrent, its category and its labels win, in this order.
    #[arg(long, value_name = "RATIO", value_parser = values::positive, help_heading = "Seeding")]
    pub seed_ratio: Option<f64>,

    /// Stop serving after this time, for example 48h [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Seeding")]
    pub seed_time: Option<Duration>,

    /// Pause downloads while their disk has less free space, for example 10GiB [default: none]
    #[arg(long, value_name = "BYTES", value_parser = values::size, help_heading = "Content")]
    pub min_free: Option<u64>,

    /// Download limit of all torrents in bytes per second while the alternative limits are on: `hashlane ctl limits`
    /// [default: none; the other limits stay in force]
    #[arg(long, value_name = "BYTES", value_parser = values::rate, help_heading = "Network")]
    pub alt_max_down: Option<u32>,

    /// Upload limit of all torrents in bytes per second while the alternative limits are on
    #[arg(long, value_name = "BYTES", value_parser = values::rate, help_heading = "Network")]
    pub alt_max_up: Option<u32>,

    /// Properties that prove complete content unchanged since its last verification, so that it is not read again
    /// [default: none; all bytes are read]
    ///
    /// `hashlane seed --help` describes what goes unnoticed. The records are in the state folder.
    #[arg(long, value_name = "WHAT", help_heading = "Content")]
    pub trust: Option<Trust>,

    /// Limits of the torrents that are active at once.
    #[command(flatten)]
    pub queue: QueueOptions,

    /// The page.
    #[command(flatten)]
    pub http: HttpOptions,

    /// Existing programs that control the daemon.
    #[command(flatten)]
    pub remote: RemoteOptions,

    /// The connections.
    #[command(flatten)]
    pub network: Network,

    /// The method of verifying.
    #[command(flatten)]
    pub hashing: Hashing,

    /// The log file.
    #[command(flatten)]
    pub log: Log,

    /// The form and amount of output.
    #[command(flatten)]
    pub output: Output,

    /// The file of the configuration.
    #[command(flatten)]
    pub config: ConfigFile,
}

impl Daemon {
    /// The options that a reload applies. A change of another one needs a restart.
    pub const RELOADED: [&str; 15] = [
        "alt-max-down",
        "alt-max-up",
        "bind",
        "max-active-downloads",
        "max-active-uploads",
        "max-down",
        "max-up",
        "min-free",
        "port",
        "port-file",
        "seed-ratio",
        "seed-time",
        "stalled-after",
        "watch-dir",
        "watch-remove",
    ];
}

/// Options of the queue. `hashlane ctl queue` changes its order.
#[derive(Debug, Args)]
#[command(next_help_heading = "Queue")]
pub struct QueueOptions {
    /// Maximum number of active downloads; others wait in the queue [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_active_downloads: Option<u32>,

    /// Maximum number of complete torrents that are served; others wait in the queue [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_active_uploads: Option<u32>,

    /// Maximum number of torrents that are verified at once; more than 1 is of use for content on several disks
    ///
    /// `hashlane ctl verify` goes before first verifications, and smaller torrents before larger ones.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub max_active_verifications: u16,

    /// Time without a transferred byte after which a torrent holds no place in the queue, for example 10m
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = values::duration)]
    pub stalled_after: Duration,
}

/// Options of protocols by which existing programs control the daemon.
#[derive(Debug, Args)]
#[command(next_help_heading = "Remote control")]
pub struct RemoteOptions {
    /// Serve Transmission RPC at this address, for Sonarr, transmission-remote and others: as of --http, such as `9091`
    ///
    /// Other machines can use an address that is not local only with --remote-user.
    #[arg(long, value_name = "[HOST:]PORT|unix:PATH")]
    pub transmission: Option<ServerAddress>,

    /// Serve the Web API of qBittorrent at this address, for Sonarr, cross-seed, autobrr and others: as of --http, such as
    /// `8080`
    #[arg(long, value_name = "[HOST:]PORT|unix:PATH")]
    pub qbittorrent: Option<ServerAddress>,

    /// User name that programs must send, with the password of --remote-password-file
    #[arg(long, value_name = "NAME")]
    pub remote_user: Option<String>,

    /// File whose first line is the password, or its hash in the PHC format ($argon2id$...)
    #[arg(long, value_name = "FILE")]
    pub remote_password_file: Option<PathBuf>,

    /// Names of this machine that programs may use besides addresses and localhost, such as that of a container
    #[arg(long = "remote-host", value_name = "NAME")]
    pub remote_hosts: Vec<String>,

    /// Folders besides that of --dir in which programs and requests may place content, with all folders below them
    #[arg(long = "remote-folder", value_name = "DIR")]
    pub remote_folders: Vec<PathBuf>,

    /// Let programs and requests delete the content of torrents that they remove
    #[arg(long)]
    pub remote_delete: bool,

    /// Let everybody who reaches the addresses of --http, --transmission and --qbittorrent control the daemon without a password
    #[arg(long)]
    pub insecure_no_auth: bool,
}
