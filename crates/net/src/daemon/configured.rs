//! What the options and the configuration say about the daemon while it runs.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use hashlane_api::{Goal, Rates, Target};
use hashlane_cli::tables::Tables;
use hashlane_cli::{Daemon, DaemonSettings, Env, Invocation, Trust};
use hashlane_client::Network;
use hashlane_files::is_below;

use super::queue::QueueLimits;
use crate::config::absolute;
use crate::settings::LocalEnd as _;

/// What the daemon was started with.
pub(super) struct Start {
    pub(super) invocation: Invocation,
    pub(super) settings: DaemonSettings,
}

impl Start {
    /// Reads the settings for the first time.
    pub(super) fn read(env: &Env) -> anyhow::Result<Self> {
        Ok(Self {
            invocation: env.invocation(),
            settings: DaemonSettings::read(env)?,
        })
    }
}

/// A folder whose files are added.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    pub(super) folder: PathBuf,
    /// The category of the torrents.
    pub(super) category: Option<String>,
}

/// The settings of all torrents.
#[derive(Debug)]
pub(super) struct Configured {
    /// Folder for the content of torrents that are added without one.
    pub(super) folder: Option<PathBuf>,
    /// Folder of the records of verified content; `None` to verify all content at each start.
    pub(super) records: Option<PathBuf>,
    /// The goal of torrents that have no other.
    pub(super) goal: Goal,
    /// Bytes that downloads leave free on their disks.
    pub(super) min_free: Option<u64>,
    /// The rate limits of the session.
    pub(super) rates: Rates,
    /// The rate limits while the alternative limits are on.
    pub(super) alternative: Rates,
    /// The limits of the queue.
    pub(super) queue: QueueLimits,
    /// The local end of all connections.
    pub(super) network: Network,
    /// The watched folders, with the categories of their torrents.
    pub(super) watched: Vec<Watched>,
    /// Whether files of watched folders are removed after they were added.
    pub(super) removes_watched: bool,
    /// The tables of the configuration.
    pub(super) tables: Tables,
}

impl Configured {
    /// Returns the settings. `state` is the state folder.
    pub(super) fn of(env: &Env, settings: &DaemonSettings, state: &Path) -> anyhow::Result<Self> {
        let DaemonSettings {
            options, tables, ..
        } = settings;
        let folder = options.dir.as_deref();
        let watched = watched(env, options, tables)?;
        check_apart(state, &watched, &content_folders(env, options, tables)?)?;
        let rate = |rate: Option<u32>| rate.and_then(NonZeroU32::new);
        Ok(Self {
            folder: folder.map(|folder| absolute(env, folder)).transpose()?,
            records: options.trust.map(|trust| match trust {
                Trust::SizeAndTime => state.join("trust"),
            }),
            goal: Goal {
                ratio: options.seed_ratio.map_or(Target::Inherited, Target::At),
                time: options.seed_time.map_or(Target::Inherited, Target::At),
                idle: Target::Inherited,
            },
            min_free: options.min_free,
            rates: Rates {
                down: rate(options.network.max_down),
                up: rate(options.network.max_up),
            },
            alternative: Rates {
                down: rate(options.alt_max_down),
                up: rate(options.alt_max_up),
            },
            queue: (&options.queue).into(),
            network: options.network.connections.network(),
            watched,
            removes_watched: options.watch_remove,
            tables: tables.clone(),
        })
    }
}

/// Returns the folders of the configuration for content, with their names in it.
fn content_folders(
    env: &Env,
    options: &Daemon,
    tables: &Tables,
) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let dir = options
        .dir
        .iter()
        .map(|folder| ("--dir".to_owned(), folder));
    let remote = options.remote.remote_folders.iter();
    let remote = remote.map(|folder| ("--remote-folder".to_owned(), folder));
    let named = dir
        .chain(remote)
        .map(|(name, folder)| (name, folder.as_path()));
    let categories = tables.categories.iter().filter_map(|(name, category)| {
        let folder = category.dir.as_ref()?.as_ref();
        Some((format!("dir of [categories.{name}]"), folder))
    });
    let absolute = |(name, folder)| Ok((name, absolute(env, folder)?));
    named.chain(categories).map(absolute).collect()
}

/// Fails if the daemon would take its own files for files of the user: if one of the state folder, a watched folder and a folder
/// for content contains another one.
fn check_apart(
    state: &Path,
    watched: &[Watched],
    content: &[(String, PathBuf)],
) -> anyhow::Result<()> {
    let state = ("the state folder", state);
    let watched = watched.iter().map(|watched| {
        let name = match &watched.category {
            Some(category) => format!("watch-dir of [categories.{category}]"),
            None => "--watch-dir".to_owned(),
        };
        (name, watched.folder.as_path())
    });
    let watched: Vec<_> = watched.collect();
    let check = |(a, folder): (&str, &Path), (b, other): (&str, &Path)| {
        // A folder that does not exist yet has no links.
        let [own, others] =
            [folder, other].map(|path| path.canonicalize().unwrap_or_else(|_| path.to_owned()));
        let are_apart = !is_below(&own, &others) && !is_below(&others, &own);
        let (folder, other) = (folder.display(), other.display());
        ensure!(
            are_apart,
            "{a} {folder} and {b} {other}: neither may contain the other one"
        );
        Ok(())
    };
    for (name, folder) in &watched {
        check((name, folder), state)?;
    }
    for (name, folder) in content {
        check((name, folder), state)?;
        for (other, watched) in &watched {
            check((other, watched), (name, folder))?;
        }
    }
    Ok(())
}

fn watched(env: &Env, options: &Daemon, tables: &Tables) -> anyhow::Result<Vec<Watched>> {
    let of_options = options
        .watch_dir
        .iter()
        .map(|folder| (folder.as_path(), None));
    let of_categories = tables.categories.iter().flat_map(|(name, category)| {
        let folders = category.watch_dir.iter();
        folders.map(|folder| (folder.as_ref(), Some(name.clone())))
    });
    let watched = |(folder, category)| {
        let folder = absolute(env, folder)?;
        Ok(Watched { folder, category })
    };
    of_options.chain(of_categories).map(watched).collect()
}
