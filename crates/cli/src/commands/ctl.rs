//! `hashlane ctl`: controls a running daemon.

mod connection;
mod table;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand, ValueEnum};
use data_encoding::BASE64;
use hashlane_api::{
    Category, CategoryPatch, Command, Content, Goal, GroupChange, Patch, Priority, QueueMove,
    SessionPatch, Target,
};
use hashlane_config::FilePath;
use hashlane_metainfo::{ContentMap, Magnet, Torrent};
use serde::Deserialize;

use crate::commands::configured::{self, Configurable};
use crate::control::{
    Add, Apply, Keys, LimitReply, LimitValue, Named, Reply, Request, StatusReply,
};
use crate::output::json_lines;
use crate::output::text::{Escaped, Grouped, Size, count};
use crate::{Env, Exit, content_map, documentation, links, torrent_file, values};
use connection::Connection;

/// Time in which a daemon must answer when a user presses Tab.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(1);

const EXIT_STATUS: &str = "\
Exit status:
  0  the daemon did what was asked, and it is on its disk
  2  an error: wrong usage, no daemon, or a refusal";

/// Control the running daemon: add, list, pause and remove torrents
///
/// TORRENT is an info-hash of either version, its first digits, or the exact name of one torrent. Only the user of the daemon can control it.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Ctl {
    /// State folder of the daemon [default: `$XDG_STATE_HOME/hashlane/daemon`, by default in `~/.local/state`]
    #[arg(long = "state-dir", value_name = "DIR", global = true)]
    state: Option<PathBuf>,

    #[arg(long, global = true, help = documentation::json_help(), help_heading = "Output")]
    json: bool,

    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Add torrents
    Add(AddArgs),
    /// List torrents, or all of them
    List(Chosen),
    /// Remove torrents; their content stays on disk without --delete-content
    Remove(RemoveArgs),
    /// Change labels, limits, goals and other choices of torrents
    Set(SetArgs),
    /// Move the content of torrents to another folder
    Move(MoveArgs),
    /// Verify the content of torrents again
    Verify(Chosen),
    /// Pause torrents
    Pause(Chosen),
    /// Resume torrents, also those that have ended or failed
    Resume(ResumeArgs),
    /// Move torrents in the queue
    Queue(QueueArgs),
    /// Announce torrents to their trackers now
    Announce(Chosen),
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
    /// A limit that is set here, or by another program, wins over the options and the configuration, and lasts across
    /// restarts. The file of the configuration does not change.
    Limits(LimitsArgs),
    /// Read the configuration again
    ///
    /// An invalid configuration changes nothing. Options that need a restart are named.
    Reload,
}

#[derive(Debug, Args)]
struct AddArgs {
    /// .torrent files, their http or https URLs, magnet links or info-hashes; `-` for a file on standard input
    #[arg(value_name = "TORRENT|URL|LINK", required = true)]
    torrents: Vec<String>,

    /// Folder for the content, under the torrent's name [default: --dir of the daemon]
    #[arg(short, long, value_name = "DIR", help_heading = "Content")]
    dir: Option<PathBuf>,

    /// The content itself under any name: it is served, and never written
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with = "dir",
        help_heading = "Content"
    )]
    content: Option<PathBuf>,

    /// Content map of `find --save`: where single files lie. They are read, and never written. The rest is downloaded. The
    /// daemon keeps the lines of the torrent
    #[arg(
        long,
        value_name = "MAP",
        conflicts_with = "content",
        help_heading = "Content"
    )]
    content_map: Option<PathBuf>,

    /// Start paused
    #[arg(long, help_heading = "Torrent")]
    paused: bool,

    /// Request pieces in order
    #[arg(long, help_heading = "Torrent")]
    sequential: bool,

    /// Category, whose folder and goal the torrent gets
    #[arg(long, value_name = "NAME", help_heading = "Torrent")]
    category: Option<String>,

    /// Word to find the torrent by; repeatable
    #[arg(long = "label", value_name = "WORD", help_heading = "Torrent")]
    labels: Vec<String>,

    /// Stop serving at this ratio of sent to received bytes, for example 1.5
    #[arg(long, value_name = "RATIO", value_parser = values::positive, help_heading = "Goal")]
    seed_ratio: Option<f64>,

    /// Stop serving after this time, for example 48h
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Goal")]
    seed_time: Option<Duration>,

    /// Maximum download rate of each torrent in bytes per second, for example 2MiB
    #[arg(long, value_name = "BYTES", value_parser = values::rate, help_heading = "Limits")]
    max_down: Option<u32>,

    /// Maximum upload rate of each torrent in bytes per second, for example 512KiB
    #[arg(long, value_name = "BYTES", value_parser = values::rate, help_heading = "Limits")]
    max_up: Option<u32>,
}

#[derive(Debug, Args)]
struct RemoveArgs {
    #[command(flatten)]
    chosen: Chosen,

    /// Delete the files of the torrents too, except those that another torrent has
    #[arg(long)]
    delete_content: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option")]
struct SetArgs {
    #[command(flatten)]
    chosen: Chosen,

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

    /// Stop serving at this ratio of sent to received bytes; 0 for no limit
    #[arg(long, value_name = "RATIO", value_parser = values::positive_or_zero, help_heading = "Goal")]
    seed_ratio: Option<f64>,

    /// Stop serving after this time; 0 for no limit
    #[arg(long, value_name = "TIME", value_parser = values::duration_or_zero, help_heading = "Goal")]
    seed_time: Option<Duration>,

    /// Stop serving after this time without an upload; 0 for no limit
    #[arg(long, value_name = "TIME", value_parser = values::duration_or_zero, help_heading = "Goal")]
    idle_time: Option<Duration>,

    /// Maximum download rate of each torrent in bytes per second; 0 for no limit
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, help_heading = "Limits")]
    max_down: Option<u32>,

    /// Maximum upload rate of each torrent in bytes per second; 0 for no limit
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, help_heading = "Limits")]
    max_up: Option<u32>,
}

#[derive(Debug, Args)]
struct MoveArgs {
    #[command(flatten)]
    chosen: Chosen,

    /// New folder for the content, under the torrent's name
    #[arg(short, long, value_name = "DIR", required = true)]
    dir: PathBuf,

    /// The content is there already: it is verified there, and nothing is moved
    #[arg(long)]
    found: bool,
}

#[derive(Debug, Args)]
struct PriorityArgs {
    /// Priority of the files
    #[arg(value_name = "PRIORITY")]
    priority: PriorityArg,

    /// File by its position in the torrent, from 0, without padding; repeatable [default: all files]
    #[arg(long = "file", value_name = "N")]
    files: Vec<u32>,

    #[command(flatten)]
    chosen: Chosen,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PriorityArg {
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
struct RenameArgs {
    /// Info-hash, its first digits, or exact name
    #[arg(value_name = "TORRENT")]
    torrent: String,

    /// Present path, which starts with the name of the content
    #[arg(value_name = "PATH")]
    from: String,

    /// New path, which may be in another folder of the content
    #[arg(value_name = "NEW")]
    to: String,
}

#[derive(Debug, Subcommand)]
enum TrackerAction {
    /// Add a tracker beside the present ones
    Add(TrackerArgs),
    /// Use these trackers instead of all others, one after the other
    Set {
        /// URL of a tracker; repeatable
        #[arg(long = "url", value_name = "URL", value_parser = values::url)]
        urls: Vec<String>,

        #[command(flatten)]
        chosen: Chosen,
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
        chosen: Chosen,
    },
    /// Remove a tracker
    Remove(TrackerArgs),
}

#[derive(Debug, Args)]
struct TrackerArgs {
    /// URL of the tracker
    #[arg(value_name = "URL")]
    url: String,

    #[command(flatten)]
    chosen: Chosen,
}

#[derive(Debug, Args)]
struct PeerArgs {
    /// IP address and port of the peer
    #[arg(value_name = "ADDRESS:PORT")]
    address: SocketAddr,

    #[command(flatten)]
    chosen: Chosen,
}

#[derive(Debug, Args)]
struct ResumeArgs {
    #[command(flatten)]
    chosen: Chosen,

    /// Run at once and until the next `pause` or `resume`, without a place in the queue
    #[arg(long)]
    now: bool,
}

#[derive(Debug, Subcommand)]
enum CategoryAction {
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
struct CategoryArgs {
    /// Name of the category
    #[arg(value_name = "NAME")]
    name: String,

    /// Folder for the content of torrents that are added to the category
    #[arg(short, long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Stop serving at this ratio of sent to received bytes; 0 for no limit
    #[arg(long, value_name = "RATIO", value_parser = values::positive_or_zero)]
    seed_ratio: Option<f64>,

    /// Stop serving after this time; 0 for no limit
    #[arg(long, value_name = "TIME", value_parser = values::duration_or_zero)]
    seed_time: Option<Duration>,

    /// Stop serving after this time without an upload; 0 for no limit
    #[arg(long, value_name = "TIME", value_parser = values::duration_or_zero)]
    idle_time: Option<Duration>,
}

#[derive(Debug, Args)]
struct LimitsArgs {
    /// Turn the alternative limits on or off, which replace all other rate limits
    #[arg(long, value_name = "WHEN", help_heading = "Limits")]
    alternative: Option<Switch>,

    /// Maximum download rate of all torrents in bytes per second; 0 for no limit
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, help_heading = "Limits")]
    max_down: Option<u32>,

    /// Maximum upload rate of all torrents in bytes per second; 0 for no limit
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, help_heading = "Limits")]
    max_up: Option<u32>,

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

    /// Stop serving torrents without another goal at this ratio of sent to received bytes; 0 for no limit
    #[arg(long, value_name = "RATIO", value_parser = values::positive_or_zero, help_heading = "Goal")]
    seed_ratio: Option<f64>,

    /// Stop serving torrents without another goal after this time; 0 for no limit
    #[arg(long, value_name = "TIME", value_parser = values::duration_or_zero, help_heading = "Goal")]
    seed_time: Option<Duration>,

    /// Stop serving torrents without another goal after this time without an upload; 0 for no limit
    #[arg(long, value_name = "TIME", value_parser = values::duration_or_zero, help_heading = "Goal")]
    idle_time: Option<Duration>,

    /// Use all limits of the options and the configuration again, except those given here
    #[arg(long)]
    configured: bool,
}

impl LimitsArgs {
    fn patch(&self) -> SessionPatch {
        let number = |given: Option<u32>| given.map(|limit| Target::of(NonZeroU32::new(limit)));
        let patch = SessionPatch {
            alternative: self.alternative.map(|switch| switch == Switch::On),
            adds_paused: None,
            max_down: number(self.max_down),
            max_up: number(self.max_up),
            alt_max_down: number(self.alt_max_down),
            alt_max_up: number(self.alt_max_up),
            max_active_downloads: number(self.max_active_downloads),
            max_active_uploads: number(self.max_active_uploads),
            ratio: limit(self.seed_ratio),
            time: limit(self.seed_time),
            idle: limit(self.idle_time),
        };
        if self.configured {
            patch.or(SessionPatch::CONFIGURED)
        } else {
            patch
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Debug, Args)]
struct QueueArgs {
    /// New place: `top`, `up`, `down`, `bottom`, or a position from 0
    #[arg(value_name = "PLACE")]
    to: QueueMove,

    #[command(flatten)]
    chosen: Chosen,
}

#[derive(Debug, Args)]
struct Chosen {
    /// Info-hashes, their first digits, or exact names
    #[arg(value_name = "TORRENT")]
    torrents: Vec<String>,

    /// All torrents
    #[arg(long, conflicts_with = "torrents")]
    all: bool,
}

impl Chosen {
    fn keys(self) -> Keys {
        Keys {
            torrents: self.torrents,
            all: self.all,
        }
    }

    /// Returns a request that changes torrents, so that they must be named.
    fn apply(self, change: Command) -> anyhow::Result<Request> {
        if self.torrents.is_empty() && !self.all {
            bail!("name torrents, or use --all");
        }
        let keys = self.keys();
        Ok(Request::Apply(Apply { keys, change }))
    }
}

impl Ctl {
    /// `all` are the commands that can be configured: the daemon's state folder may be.
    pub(crate) fn run(self, env: &mut Env, all: &[Configurable]) -> anyhow::Result<Exit> {
        let given = match self.state {
            Some(given) => Some(given),
            None => configured_state(env, all)?,
        };
        let state = state_folder(env, given.as_deref())?;
        let mut asking = Asking {
            state,
            connection: None,
            is_json: self.json,
        };
        match self.action {
            Action::Add(args) => args.run(env, &mut asking)?,
            action => asking.ask(env, &action.request(env)?)?,
        }
        Ok(Exit::Good)
    }
}

/// The daemon, and the form of its answers.
struct Asking {
    state: PathBuf,
    /// Opened for the first request, whose errors come before those of the daemon.
    connection: Option<Connection>,
    is_json: bool,
}

impl Asking {
    /// Sends a request, and prints its results.
    fn ask(&mut self, env: &mut Env, request: &Request) -> anyhow::Result<()> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(Connection::open(&self.state)?),
        };
        let mut torrents = Vec::new();
        connection.ask(request, |reply| match reply {
            reply if self.is_json => json_lines::print(env, &reply),
            Reply::Torrent(torrent) => {
                torrents.push(*torrent);
                Ok(())
            }
            reply => print(env, &reply),
        })?;
        if !torrents.is_empty() {
            table::print(env, &torrents)?;
        }
        Ok(())
    }
}

impl Action {
    /// Returns the request. Torrents are added by one request each, which [`AddArgs::run`] makes.
    fn request(self, env: &Env) -> anyhow::Result<Request> {
        Ok(match self {
            Self::Add(_) | Self::Status => Request::Status {},
            Self::Reload => Request::Reload {},
            Self::Limits(args) => Request::Limits(args.patch()),
            Self::List(chosen) => Request::List(Keys {
                all: chosen.torrents.is_empty(),
                ..chosen.keys()
            }),
            Self::Remove(args) => {
                let content = if args.delete_content {
                    Content::Delete
                } else {
                    Content::Keep
                };
                args.chosen.apply(Command::Remove { content })?
            }
            Self::Set(args) => args.request()?,
            Self::Move(args) => {
                let folder = std::path::absolute(env.resolve(&args.dir))?;
                args.chosen.apply(if args.found {
                    Command::Place { folder }
                } else {
                    Command::Relocate { folder }
                })?
            }
            Self::Verify(chosen) => chosen.apply(Command::Verify)?,
            Self::Pause(chosen) => chosen.apply(Command::Pause)?,
            Self::Resume(args) => args.chosen.apply(Command::Resume { now: args.now })?,
            Self::Announce(chosen) => chosen.apply(Command::Reannounce)?,
            Self::Priority(args) => args.chosen.apply(Command::Prioritize {
                files: args.files,
                priority: args.priority.into(),
            })?,
            Self::Rename(RenameArgs { torrent, from, to }) => {
                let chosen = Chosen {
                    torrents: vec![torrent],
                    all: false,
                };
                chosen.apply(Command::Rename { from, to })?
            }
            Self::Tracker(action) => action.request()?,
            Self::Peer(PeerArgs { address, chosen }) => {
                chosen.apply(Command::AddPeer { address })?
            }
            Self::Category(action) => action.request(env)?,
            Self::Queue(args) => args.chosen.apply(Command::Queue { to: args.to })?,
        })
    }
}

impl CategoryAction {
    fn request(self, env: &Env) -> anyhow::Result<Request> {
        let change = match self {
            Self::List => return Ok(Request::Groups {}),
            Self::Set(args) => {
                let absolute = |dir: &PathBuf| std::path::absolute(env.resolve(dir));
                let folder = args.dir.as_ref().map(absolute).transpose()?;
                GroupChange::SetCategory(CategoryPatch {
                    name: args.name,
                    folder: folder.map(Some),
                    ratio: limit(args.seed_ratio),
                    time: limit(args.seed_time),
                    idle: limit(args.idle_time),
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
            Self::Add(TrackerArgs { url, chosen }) => chosen.apply(Command::AddTracker { url }),
            Self::Set { urls, chosen } => {
                let trackers = urls.into_iter().map(|url| vec![url]).collect();
                chosen.apply(Command::SetTrackers { trackers })
            }
            Self::Replace {
                url,
                new_url,
                chosen,
            } => chosen.apply(Command::ReplaceTracker { url, new_url }),
            Self::Remove(TrackerArgs { url, chosen }) => {
                chosen.apply(Command::RemoveTracker { url })
            }
        }
    }
}

impl SetArgs {
    fn request(self) -> anyhow::Result<Request> {
        let has_labels = self.no_labels || !self.labels.is_empty();
        let goal = if self.default_goal {
            Patch::of_goal(Goal::default())
        } else {
            Patch::default()
        };
        let patch = Patch {
            title: given(self.title, self.no_title),
            labels: has_labels.then(|| self.labels.into_iter().collect()),
            category: given(self.category, self.no_category),
            ratio: limit(self.seed_ratio).or(goal.ratio),
            time: limit(self.seed_time).or(goal.time),
            idle: limit(self.idle_time).or(goal.idle),
            max_down: self.max_down.map(NonZeroU32::new),
            max_up: self.max_up.map(NonZeroU32::new),
            sequential: self.sequential.map(|switch| switch == Switch::On),
        };
        self.chosen.apply(Command::Set(Box::new(patch)))
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

impl AddArgs {
    /// Adds one torrent after the other, so that only one of them is in memory. The first error ends this.
    fn run(&self, env: &mut Env, asking: &mut Asking) -> anyhow::Result<()> {
        let absolute = |path: Option<&PathBuf>| -> anyhow::Result<Option<PathBuf>> {
            let path = path.map(|path| std::path::absolute(env.resolve(path)));
            Ok(path.transpose()?)
        };
        let folder = absolute(self.dir.as_ref())?;
        let content = absolute(self.content.as_ref())?;
        if content.is_some() && self.torrents.len() > 1 {
            let n_torrents = self.torrents.len();
            bail!("--content needs a single torrent, but {n_torrents} were given");
        }
        torrent_file::check_inputs(&self.torrents)?;
        let map = self.content_map.as_deref();
        let map = map
            .map(|path| Ok::<_, anyhow::Error>((path, content_map::read(env, path)?)))
            .transpose()?;
        for given in &self.torrents {
            let source = read(env, given).with_context(|| links::without_secrets(given))?;
            let lines = map.as_ref().map(|(path, map)| {
                map_lines(map, source.metainfo.as_deref()).with_context(|| {
                    format!("{}: {}", links::without_secrets(given), path.display())
                })
            });
            let add = Add {
                folder: folder.clone(),
                content: content.clone(),
                content_map: lines.transpose()?,
                paused: self.paused,
                sequential: self.sequential,
                category: self.category.clone(),
                labels: self.labels.clone(),
                ratio: self.seed_ratio,
                seed_seconds: self.seed_time.map(|time| time.as_secs()),
                max_down: self.max_down.and_then(NonZeroU32::new),
                max_up: self.max_up.and_then(NonZeroU32::new),
                ..source
            };
            asking.ask(env, &Request::Add(Box::new(add)))?;
        }
        Ok(())
    }
}

/// Returns the lines of a torrent in a content map, in base 64.
fn map_lines(map: &ContentMap, metainfo: Option<&str>) -> anyhow::Result<String> {
    let Some(metainfo) = metainfo else {
        bail!(
            "a content map needs a .torrent file: a link or URL does not have the paths of files"
        );
    };
    let torrent = Torrent::parse(BASE64.decode(metainfo.as_bytes())?)?;
    Ok(BASE64.encode(&map.only(&torrent)?.to_bytes()))
}

/// Returns a torrent without choices: a .torrent file, its URL, or a magnet link.
fn read(env: &mut Env, given: &str) -> anyhow::Result<Add> {
    let mut add = Add::default();
    if let Some(link) = torrent_file::link(env, given) {
        let link: Magnet = link.parse()?;
        add.magnet = Some(link.to_string());
    } else if torrent_file::is_url(given) {
        add.url = Some(given.to_owned());
    } else {
        let bytes = torrent_file::read_given(env, Path::new(given))?;
        Torrent::parse(&bytes[..])?;
        add.metainfo = Some(BASE64.encode(&bytes));
    }
    Ok(add)
}

/// Returns the state folder in the configuration of the daemon.
pub(super) fn configured_state(env: &Env, all: &[Configurable]) -> anyhow::Result<Option<PathBuf>> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Daemon {
        #[serde(rename = "state-dir")]
        state: Option<FilePath>,
    }
    let daemon: Daemon = configured::load(env, None, all)?.table("daemon")?;
    Ok(daemon.state.map(PathBuf::from))
}

/// Returns the info-hashes of the running daemon's torrents, for completions.
///
/// # Errors
/// No daemon runs, or it does not answer soon.
pub(super) fn info_hashes(env: &Env, all: &[Configurable]) -> anyhow::Result<Vec<String>> {
    let given = configured_state(env, all)?;
    let connection = Connection::open(&state_folder(env, given.as_deref())?);
    let mut connection = connection?;
    connection.limit_waits(COMPLETION_TIMEOUT)?;
    let request = Request::List(Keys {
        all: true,
        ..Keys::default()
    });
    let mut found = Vec::new();
    connection.ask(&request, |reply| {
        if let Reply::Torrent(torrent) = reply {
            found.push(torrent.torrent.info_hash);
        }
        Ok(())
    })?;
    Ok(found)
}

/// Returns the state folder of the daemon.
///
/// # Errors
/// None is given, and the user has no folder for state.
pub fn state_folder(env: &Env, given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let folder = if let Some(given) = given {
        env.resolve(given)
    } else {
        let state = env.state.as_ref();
        let none = "neither XDG_STATE_HOME nor HOME is an absolute path: use --state-dir";
        state.context(none)?.join("daemon")
    };
    Ok(std::path::absolute(folder)?)
}

/// Prints a result for people.
fn print(env: &mut Env, reply: &Reply) -> anyhow::Result<()> {
    let lines = match reply {
        Reply::Added { torrent, present } => {
            let present = if *present { "already present" } else { "added" };
            vec![named(torrent, present)]
        }
        Reply::Changed { action, torrent } => vec![named(torrent, done(action))],
        Reply::Status(status) => lines_of(status),
        Reply::Limit(limit) => vec![line_of(limit)],
        Reply::Reloaded { restart } => {
            let needed = restart.iter();
            let needed =
                needed.map(|name| format!("{name}: changed, needs a restart of the daemon"));
            std::iter::once("reloaded".to_owned())
                .chain(needed)
                .collect()
        }
        Reply::Groups(groups) => groups.categories.iter().map(described).collect(),
        // `Connection::ask` handles the end of an answer, and a table shows torrents.
        Reply::Torrent(_) | Reply::Done {} | Reply::Error { .. } => Vec::new(),
    };
    for line in lines {
        writeln!(env.stdout, "{}", Escaped(line))?;
    }
    Ok(())
}

/// Describes the state of the daemon.
fn lines_of(status: &StatusReply) -> Vec<String> {
    let mut lines = vec![
        format!(
            "hashlane {}, process {}, {}",
            status.version, status.process, status.state
        ),
        format!(
            "{}: {} downloading, {} serving, {} verifying, {} queued, {} paused, {} failed or waiting",
            count(status.torrents, "torrent"),
            Grouped(status.downloading),
            Grouped(status.serving),
            Grouped(status.verifying),
            Grouped(status.queued),
            Grouped(status.paused),
            Grouped(status.failed),
        ),
        format!(
            "down {}/s, up {}/s; {} received and {} sent in all",
            Size(status.down_bytes_per_second),
            Size(status.up_bytes_per_second),
            Size(status.received_bytes),
            Size(status.sent_bytes),
        ),
    ];
    if status.alternative {
        lines.push("the alternative rate limits are on".to_owned());
    }
    if status.adds_paused {
        lines.push("torrents that programs add start paused".to_owned());
    }
    if !status.requested_limits.is_empty() {
        lines.push(format!(
            "set by requests, not by the configuration: {}; see `hashlane ctl limits`",
            status.requested_limits.join(", ")
        ));
    }
    let problems = status.problems.iter();
    lines.extend(problems.map(|problem| format!("problem: {problem}")));
    lines
}

/// Describes a limit of all torrents together.
fn line_of(limit: &LimitReply) -> String {
    let is_rate = limit.limit.ends_with("-down") || limit.limit.ends_with("-up");
    let text = |value: Option<LimitValue>| match value {
        None => "none".to_owned(),
        Some(LimitValue::Whole(bytes)) if is_rate => format!("{}/s", Size(bytes)),
        Some(LimitValue::Whole(seconds)) if limit.limit.ends_with("-time") => {
            format!("{seconds} s")
        }
        Some(LimitValue::Whole(number)) => number.to_string(),
        Some(LimitValue::Ratio(ratio)) => ratio.to_string(),
    };
    let line = format!("{}: {}", limit.limit, text(limit.value));
    if limit.requested {
        let configured = text(limit.configured);
        format!("{line}, set by a request; configured: {configured}")
    } else {
        line
    }
}

/// Describes a category.
fn described(category: &Category) -> String {
    let folder = category.folder.as_deref();
    let mut parts = vec![
        count(category.torrents, "torrent"),
        format!("folder {}", folder.unwrap_or("of the daemon")),
    ];
    let Goal { ratio, time, idle } = category.goal;
    let seconds = |what, time: Target<Duration>| match time {
        Target::Inherited => None,
        Target::At(time) => Some(format!("{what} {} s", time.as_secs())),
        Target::Never => Some(format!("no limit of {what}")),
    };
    parts.extend(match ratio {
        Target::Inherited => None,
        Target::At(ratio) => Some(format!("ratio {ratio}")),
        Target::Never => Some("no limit of ratio".to_owned()),
    });
    parts.extend(seconds("seeding time", time));
    parts.extend(seconds("idle time", idle));
    if category.configured {
        parts.push("set in the configuration".to_owned());
    }
    format!("{}: {}", category.name, parts.join(", "))
}

/// Returns what was done, in words.
fn done(action: &str) -> &str {
    match action {
        "pause" => "paused",
        "resume" => "resumed",
        "verify" => "verifying",
        "remove" => "removed",
        "relocate" => "moving",
        "queue" => "moved in the queue",
        "rename" => "renamed",
        "reannounce" => "announced",
        "add_peer" => "connecting",
        _ => "changed",
    }
}

/// Describes what was done with a torrent.
fn named(torrent: &Named, what: &str) -> String {
    let Named {
        info_hash, name, ..
    } = torrent;
    if name == info_hash {
        return format!("{info_hash}: {what}");
    }
    format!("{info_hash}: {what}: {name}")
}
