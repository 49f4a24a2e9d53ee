//! The command line of `hashlane ctl`, and what it asks for.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};
use hashlane_api::{
    CategoryPatch, Command, Content, Goal, GroupChange, LinkRequest, Patch, Priority, QueueMove,
    SessionPatch, Target,
};

use crate::{Env, values};

/// What is asked of a daemon.
pub(super) enum Request {
    /// The state of torrents; of all if none is named.
    List(Vec<String>),
    /// The files of a torrent.
    Files(String),
    /// The trackers of a torrent.
    Trackers(String),
    /// The peers of a torrent.
    Peers(String),
    /// A link to content of a torrent.
    Link(String, LinkRequest),
    /// A command for torrents.
    Apply(Named, Command),
    /// The categories and labels.
    Groups,
    /// A change of the categories or labels.
    ChangeGroups(GroupChange),
    /// The state of the daemon.
    Status,
    /// A change of the limits of all torrents together, and the limits.
    Limits(SessionPatch),
    /// What rules set for torrents, for all if none is named, or what those in the configuration would set.
    Rules {
        torrents: Vec<String>,
        is_dry_run: bool,
    },
    /// Another reading of the configuration.
    Reload,
}

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Add torrents
    Add(AddArgs),
    /// List torrents, or all of them
    List(Named),
    /// List the files of a torrent, with their positions and priorities
    Files(One),
    /// List the trackers of a torrent, with their last answers
    Trackers(One),
    /// List the connected peers of a torrent, at most 200: those with the highest rates
    Peers(One),
    /// Print the URL of a file for a player: `mpv "$(hashlane ctl stream 3ff6)"`
    ///
    /// The URL has a token, with which everybody can read the content of the torrent for 12 hours. It leads to the page of --http, also while the torrent downloads.
    Stream(StreamArgs),
    /// Remove torrents; their content stays on disk without --delete-content
    Remove(RemoveArgs),
    /// Change labels, limits, goals and other choices of torrents
    Set(SetArgs),
    /// Move the content of torrents to another folder
    Move(MoveArgs),
    /// Verify the content of torrents again
    Verify(Named),
    /// Pause torrents
    Pause(Named),
    /// Resume torrents, also those that have ended or failed
    Resume(ResumeArgs),
    /// Move torrents in the queue
    Queue(QueueArgs),
    /// Announce torrents to their trackers now
    Announce(Named),
    /// Set the priority of files
    Priority(PriorityArgs),
    /// Rename a file or folder of the content; nothing that exists is replaced
    Rename(RenameArgs),
    /// Add, replace and remove trackers of torrents
    #[command(subcommand)]
    Tracker(TrackerAction),
    /// Connect to a peer
    Peer(PeerArgs),
    /// List, make and remove categories
    #[command(subcommand)]
    Category(CategoryAction),
    /// Show the state of the daemon
    Status,
    /// Show the limits of all torrents together, and change them
    ///
    /// The goal is that of torrents without another one. A limit that is set here, or by another program, wins over the options and the configuration, and lasts across
    /// restarts. The file of the configuration does not change.
    Limits(LimitsArgs),
    /// Show what the rules of the configuration set for torrents, and which rule sets it
    Rules(RulesArgs),
    /// Read the configuration again
    ///
    /// An invalid configuration changes nothing. Options that need a restart are named.
    Reload,
}

#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// .torrent files, their http or https URLs, magnet links or info-hashes; `-` for a file on standard input
    #[arg(value_name = "TORRENT|URL|LINK", required = true)]
    pub(super) torrents: Vec<String>,

    /// Folder for the content, under the torrent's name [default: --dir of the daemon]
    #[arg(short, long, value_name = "DIR", help_heading = "Content")]
    pub(super) dir: Option<PathBuf>,

    /// The content itself under any name: it is served, and never written
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with = "dir",
        help_heading = "Content"
    )]
    pub(super) content: Option<PathBuf>,

    /// Content map of `find --save`: where single files lie. They are read, and never written. The rest is downloaded. The
    /// daemon keeps the lines of the torrent
    #[arg(
        long,
        value_name = "MAP",
        conflicts_with = "content",
        help_heading = "Content"
    )]
    pub(super) content_map: Option<PathBuf>,

    /// Download only matching files and the files in matching folders of a .torrent file: `*.pdf` anywhere, `docs/*.pdf` from
    /// the top; repeatable. Letter case makes no difference. `ctl priority` chooses files later, also those of links
    #[arg(
        long = "include",
        value_name = "GLOB",
        conflicts_with = "content",
        help_heading = "Content"
    )]
    pub(super) includes: Vec<String>,

    /// Start paused
    #[arg(long, help_heading = "Torrent")]
    pub(super) paused: bool,

    /// Request pieces in order
    #[arg(long, help_heading = "Torrent")]
    pub(super) sequential: bool,

    /// Category, whose folder and goal the torrent gets
    #[arg(long, value_name = "NAME", help_heading = "Torrent")]
    pub(super) category: Option<String>,

    /// Word to find the torrent by; repeatable
    #[arg(long = "label", value_name = "WORD", help_heading = "Torrent")]
    pub(super) labels: Vec<String>,

    #[command(flatten)]
    pub(super) goal: GoalArgs,

    #[command(flatten)]
    pub(super) rates: RateArgs,
}

#[derive(Debug, Args)]
pub(super) struct StreamArgs {
    /// Info-hash, its first digits, or exact name
    #[arg(value_name = "TORRENT")]
    torrent: String,

    /// Position of the file in the torrent, as `ctl files` shows it [default: the largest audio or video file]
    #[arg(value_name = "FILE")]
    file: Option<usize>,

    /// Print the URL of a playlist of all selected audio and video files
    #[arg(long, conflicts_with = "file")]
    playlist: bool,
}

#[derive(Debug, Args)]
pub(super) struct RemoveArgs {
    #[command(flatten)]
    named: Named,

    /// Delete the files of the torrents too, except those that another torrent has
    #[arg(long)]
    delete_content: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option")]
pub(super) struct SetArgs {
    #[command(flatten)]
    named: Named,

    /// Word to find the torrents by, instead of their labels; repeatable
    #[arg(
        long = "label",
        value_name = "WORD",
        conflicts_with = "no_labels",
        help_heading = "Torrent"
    )]
    labels: Vec<String>,

    /// Name that is shown
    #[arg(
        long,
        value_name = "TEXT",
        conflicts_with = "no_title",
        help_heading = "Torrent"
    )]
    title: Option<String>,

    /// Show the name in the metadata again
    #[arg(long, help_heading = "Torrent")]
    no_title: bool,

    /// Request pieces in order
    #[arg(long, value_name = "WHEN", help_heading = "Torrent")]
    sequential: Option<Switch>,

    /// Offer a piece of complete content only after the previous one has spread (BEP 16)
    #[arg(long, value_name = "WHEN", help_heading = "Torrent")]
    super_seeding: Option<Switch>,

    /// Category; the content stays where it is
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "no_category",
        help_heading = "Torrent"
    )]
    category: Option<String>,

    /// Remove the torrents from their categories
    #[arg(long, help_heading = "Torrent")]
    no_category: bool,

    /// Use the goals of the category, the labels or the daemon again
    #[arg(long, conflicts_with_all = ["seed_ratio", "seed_time", "idle_time"], help_heading = "Goal")]
    default_goal: bool,

    /// Remove all labels
    #[arg(long, help_heading = "Torrent")]
    no_labels: bool,

    #[command(flatten)]
    goal: GoalArgs,

    #[command(flatten)]
    rates: RateArgs,
}

#[derive(Debug, Args)]
pub(super) struct MoveArgs {
    #[command(flatten)]
    named: Named,

    /// New folder for the content, under the torrent's name
    #[arg(short, long, value_name = "DIR", required = true)]
    dir: PathBuf,

    /// The content is there already: it is verified there, and nothing is moved
    #[arg(long)]
    found: bool,
}

#[derive(Debug, Args)]
pub(super) struct PriorityArgs {
    /// Priority of the files
    #[arg(value_name = "PRIORITY")]
    priority: PriorityArg,

    /// File by its position in the torrent, from 0, without padding; repeatable [default: all files]
    #[arg(long = "file", value_name = "N")]
    files: Vec<u32>,

    #[command(flatten)]
    named: Named,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum PriorityArg {
    /// Not downloaded
    Skip,
    /// Requested after the other files
    Low,
    Normal,
    /// Requested before the other files
    High,
}

impl From<PriorityArg> for Priority {
    fn from(priority: PriorityArg) -> Self {
        match priority {
            PriorityArg::Skip => Self::Skip,
            PriorityArg::Low => Self::Low,
            PriorityArg::Normal => Self::Normal,
            PriorityArg::High => Self::High,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct RenameArgs {
    #[command(flatten)]
    torrent: One,

    /// Present path, which starts with the name of the content
    #[arg(value_name = "PATH")]
    from: String,

    /// New path, which may be in another folder of the content
    #[arg(value_name = "NEW")]
    to: String,
}

#[derive(Debug, Subcommand)]
pub(super) enum TrackerAction {
    /// Add a tracker beside the present ones
    Add(TrackerArgs),
    /// Use these trackers instead of all others, one after the other
    Set {
        /// URL of a tracker; repeatable
        #[arg(long = "tracker", value_name = "URL", value_parser = values::url)]
        urls: Vec<String>,

        #[command(flatten)]
        named: Named,
    },
    /// Replace the URL of a tracker
    Replace {
        /// Present URL; `ctl` and the page show it with its secrets masked, which is enough
        #[arg(value_name = "URL")]
        url: String,

        /// New URL
        #[arg(value_name = "NEW", value_parser = values::url)]
        new_url: String,

        #[command(flatten)]
        named: Named,
    },
    /// Remove a tracker
    Remove(TrackerArgs),
}

#[derive(Debug, Args)]
pub(super) struct TrackerArgs {
    /// URL of the tracker
    #[arg(value_name = "URL")]
    url: String,

    #[command(flatten)]
    named: Named,
}

#[derive(Debug, Args)]
pub(super) struct PeerArgs {
    /// IP address and port of the peer
    #[arg(value_name = "ADDRESS:PORT")]
    address: SocketAddr,

    #[command(flatten)]
    named: Named,
}

#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    #[command(flatten)]
    named: Named,

    /// Run at once and until the next `pause` or `resume`, without a place in the queue
    #[arg(long)]
    now: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum CategoryAction {
    /// List the categories
    List,
    /// Make a category, or change it
    Set(CategoryArgs),
    /// Remove a category; its torrents stay, without one
    Remove {
        /// Name of the category
        #[arg(value_name = "NAME")]
        name: String,
    },
}

#[derive(Debug, Args)]
pub(super) struct CategoryArgs {
    /// Name of the category
    #[arg(value_name = "NAME")]
    name: String,

    /// Folder for the content of torrents that are added to the category
    #[arg(short, long, value_name = "DIR")]
    dir: Option<PathBuf>,

    #[command(flatten)]
    goal: GoalArgs,
}

#[derive(Debug, Args)]
pub(super) struct LimitsArgs {
    /// Turn the alternative limits on or off, which replace all other rate limits
    #[arg(long, value_name = "WHEN", help_heading = "Limits")]
    alternative: Option<Switch>,

    #[command(flatten)]
    rates: RateArgs,

    /// Alternative download limit in bytes per second; 0 for none
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, help_heading = "Limits")]
    alt_max_down: Option<u32>,

    /// Alternative upload limit in bytes per second; 0 for none
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, help_heading = "Limits")]
    alt_max_up: Option<u32>,

    /// Maximum number of active downloads; 0 for no limit
    #[arg(long, value_name = "N", help_heading = "Queue")]
    max_active_downloads: Option<u32>,

    /// Maximum number of complete torrents that are served; 0 for no limit
    #[arg(long, value_name = "N", help_heading = "Queue")]
    max_active_uploads: Option<u32>,

    #[command(flatten)]
    goal: GoalArgs,

    /// Use all limits of the options and the configuration again, except those given here
    #[arg(long)]
    configured: bool,
}

impl LimitsArgs {
    fn patch(&self) -> SessionPatch {
        let number = |given: Option<u32>| given.map(|limit| Target::of(NonZeroU32::new(limit)));
        let patch = SessionPatch {
            alternative: self.alternative.map(Switch::is_on),
            adds_paused: None,
            max_down: number(self.rates.max_down),
            max_up: number(self.rates.max_up),
            alt_max_down: number(self.alt_max_down),
            alt_max_up: number(self.alt_max_up),
            max_active_downloads: number(self.max_active_downloads),
            max_active_uploads: number(self.max_active_uploads),
            ratio: limit(self.goal.seed_ratio),
            time: limit(self.goal.seed_time),
            idle: limit(self.goal.idle_time),
        };
        if self.configured {
            patch.or(SessionPatch::CONFIGURED)
        } else {
            patch
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    On,
    Off,
}

impl Switch {
    fn is_on(self) -> bool {
        self == Self::On
    }
}

/// When torrents have been served for long enough.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct GoalArgs {
    /// Stop serving at this ratio of sent to received bytes, for example 1.5; 0 for no limit
    #[arg(long, value_name = "RATIO", value_parser = values::positive_or_zero, help_heading = "Goal")]
    seed_ratio: Option<f64>,

    /// Stop serving after this time, for example 48h; 0 for no limit
    #[arg(long, value_name = "TIME", value_parser = values::duration_or_zero, help_heading = "Goal")]
    seed_time: Option<Duration>,

    /// Stop serving after this time without an upload, for example 24h; 0 for no limit
    #[arg(long, value_name = "TIME", value_parser = values::duration_or_zero, help_heading = "Goal")]
    idle_time: Option<Duration>,
}

impl GoalArgs {
    pub(super) fn patch(self) -> Patch {
        Patch {
            ratio: limit(self.seed_ratio),
            time: limit(self.seed_time),
            idle: limit(self.idle_time),
            ..Patch::default()
        }
    }
}

/// Rate limits, of each torrent or of all together.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct RateArgs {
    /// Maximum download rate in bytes per second, for example 2MiB; 0 for no limit
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, help_heading = "Limits")]
    max_down: Option<u32>,

    /// Maximum upload rate in bytes per second, for example 512KiB; 0 for no limit
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, help_heading = "Limits")]
    max_up: Option<u32>,
}

impl RateArgs {
    pub(super) fn patch(self) -> Patch {
        Patch {
            max_down: self.max_down.map(NonZeroU32::new),
            max_up: self.max_up.map(NonZeroU32::new),
            ..Patch::default()
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct RulesArgs {
    /// Info-hashes, their first digits, or exact names [default: all torrents]
    #[arg(value_name = "TORRENT")]
    torrents: Vec<String>,

    /// Show what the rules in the configuration would set after a reload; nothing changes
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct QueueArgs {
    /// New place: `top`, `up`, `down`, `bottom`, or a position from 0
    #[arg(value_name = "PLACE")]
    to: QueueMove,

    #[command(flatten)]
    named: Named,
}

#[derive(Debug, Args)]
pub(super) struct One {
    /// Info-hash, its first digits, or exact name
    #[arg(value_name = "TORRENT")]
    torrent: String,
}

#[derive(Debug, Args)]
pub(super) struct Named {
    /// Info-hashes, their first digits, or exact names
    #[arg(value_name = "TORRENT")]
    pub(super) torrents: Vec<String>,

    /// All torrents
    #[arg(long, conflicts_with = "torrents")]
    pub(super) all: bool,
}

impl Named {
    /// Returns a request that changes torrents, so that they must be named.
    fn apply(self, command: Command) -> anyhow::Result<Request> {
        if self.torrents.is_empty() && !self.all {
            bail!("name torrents, or use --all");
        }
        Ok(Request::Apply(self, command))
    }
}

/// Where the folders of the command line are.
pub(super) struct Folders<'e> {
    pub(super) env: &'e Env,
    /// Whether the daemon may run on another machine.
    pub(super) is_remote: bool,
}

impl Folders<'_> {
    /// Returns the path of the daemon.
    pub(super) fn absolute(&self, path: &Path) -> anyhow::Result<PathBuf> {
        if self.is_remote && !path.is_absolute() {
            bail!(
                "{}: name an absolute path on the machine of the daemon",
                path.display()
            );
        }
        Ok(std::path::absolute(self.env.resolve(path))?)
    }
}

impl Action {
    /// Returns the request. Torrents are added by one request each.
    pub(super) fn request(self, folders: &Folders<'_>) -> anyhow::Result<Request> {
        Ok(match self {
            Self::Add(_) | Self::Status => Request::Status,
            Self::Reload => Request::Reload,
            Self::Rules(args) => Request::Rules {
                torrents: args.torrents,
                is_dry_run: args.dry_run,
            },
            Self::Limits(args) => Request::Limits(args.patch()),
            Self::List(named) => Request::List(named.torrents),
            Self::Files(One { torrent }) => Request::Files(torrent),
            Self::Trackers(One { torrent }) => Request::Trackers(torrent),
            Self::Peers(One { torrent }) => Request::Peers(torrent),
            Self::Stream(args) => {
                let StreamArgs {
                    torrent,
                    file,
                    playlist,
                } = args;
                Request::Link(torrent, LinkRequest { file, playlist })
            }
            Self::Remove(args) => {
                let content = if args.delete_content {
                    Content::Delete
                } else {
                    Content::Keep
                };
                args.named.apply(Command::Remove { content })?
            }
            Self::Set(args) => args.request()?,
            Self::Move(args) => {
                let folder = folders.absolute(&args.dir)?;
                args.named.apply(if args.found {
                    Command::Place { folder }
                } else {
                    Command::Relocate { folder }
                })?
            }
            Self::Verify(named) => named.apply(Command::Verify)?,
            Self::Pause(named) => named.apply(Command::Pause)?,
            Self::Resume(args) => args.named.apply(Command::Resume { now: args.now })?,
            Self::Announce(named) => named.apply(Command::Reannounce)?,
            Self::Priority(args) => args.named.apply(Command::Prioritize {
                files: args.files,
                priority: args.priority.into(),
            })?,
            Self::Rename(RenameArgs { torrent, from, to }) => {
                let named = Named {
                    torrents: vec![torrent.torrent],
                    all: false,
                };
                named.apply(Command::Rename { from, to })?
            }
            Self::Tracker(action) => action.request()?,
            Self::Peer(PeerArgs { address, named }) => named.apply(Command::AddPeer { address })?,
            Self::Category(action) => action.request(folders)?,
            Self::Queue(args) => args.named.apply(Command::Queue { to: args.to })?,
        })
    }
}

impl CategoryAction {
    fn request(self, folders: &Folders<'_>) -> anyhow::Result<Request> {
        let change = match self {
            Self::List => return Ok(Request::Groups),
            Self::Set(args) => {
                let folder = args.dir.as_ref().map(|dir| folders.absolute(dir));
                let folder = folder.transpose()?;
                GroupChange::SetCategory(CategoryPatch {
                    name: args.name,
                    folder: folder.map(Some),
                    ratio: limit(args.goal.seed_ratio),
                    time: limit(args.goal.seed_time),
                    idle: limit(args.goal.idle_time),
                })
            }
            Self::Remove { name } => GroupChange::RemoveCategories { names: vec![name] },
        };
        Ok(Request::ChangeGroups(change))
    }
}

impl TrackerAction {
    fn request(self) -> anyhow::Result<Request> {
        match self {
            Self::Add(TrackerArgs { url, named }) => named.apply(Command::AddTracker { url }),
            Self::Set { urls, named } => {
                let trackers = urls.into_iter().map(|url| vec![url]).collect();
                named.apply(Command::SetTrackers { trackers })
            }
            Self::Replace {
                url,
                new_url,
                named,
            } => named.apply(Command::ReplaceTracker { url, new_url }),
            Self::Remove(TrackerArgs { url, named }) => named.apply(Command::RemoveTracker { url }),
        }
    }
}

impl SetArgs {
    fn request(self) -> anyhow::Result<Request> {
        let has_labels = self.no_labels || !self.labels.is_empty();
        let patch = Patch {
            title: given(self.title, self.no_title),
            labels: has_labels.then(|| self.labels.into_iter().collect()),
            category: given(self.category, self.no_category),
            sequential: self.sequential.map(Switch::is_on),
            super_seeding: self.super_seeding.map(Switch::is_on),
            ..Patch::default()
        };
        let goal = if self.default_goal {
            Patch::of_goal(Goal::default())
        } else {
            self.goal.patch()
        };
        let patch = patch.or(goal).or(self.rates.patch());
        if patch == Patch::default() {
            bail!("nothing to set: give an option, such as --seed-ratio or --category");
        }
        self.named.apply(Command::Set(Box::new(patch)))
    }
}

/// Returns the change to a value, or to none.
#[expect(clippy::option_option, reason = "absent and none differ")]
fn given(value: Option<String>, is_none: bool) -> Option<Option<String>> {
    value.map(Some).or(is_none.then_some(None))
}

/// Returns the target of an option: 0 is no limit.
fn limit<T: Default + PartialEq>(given: Option<T>) -> Option<Target<T>> {
    given.map(|limit| Target::of(Some(limit).filter(|limit| *limit != T::default())))
}
