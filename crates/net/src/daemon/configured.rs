//! What the options and the configuration say about the daemon while it runs.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use hashlane_api::{Goal, Rates, Target};
use hashlane_cli::tables::{self, RuleTable, ShellCommand, Tables, TorrentRuleTable};
use hashlane_cli::{Daemon, DaemonSettings, Env, Invocation, Trust};
use hashlane_files::is_below;
use hashlane_session::{
    AddedFiles, Conditions, Config, HookCommands, QueueLimits, TorrentRule, Watched,
};
use hashlane_store::Category;

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

/// Returns the settings of the session. `state` is the state folder.
pub(super) fn config(env: &Env, settings: &DaemonSettings, state: &Path) -> anyhow::Result<Config> {
    let DaemonSettings {
        options, tables, ..
    } = settings;
    let folder = options.dir.as_deref();
    let watched = watched(env, options, tables)?;
    check_apart(state, &watched, &content_folders(env, options, tables)?)?;
    let number = |number: Option<u32>| number.and_then(NonZeroU32::new);
    let categories = tables.categories.iter().map(|(name, category)| {
        let folder = category.dir.clone().map(PathBuf::from);
        let goal = category.goal();
        (name.clone(), Category { folder, goal })
    });
    let labels = tables.labels.iter();
    let port_file = &options.network.port_file;
    Ok(Config {
        mode: None,
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
            down: number(options.network.max_down),
            up: number(options.network.max_up),
        },
        alternative: Rates {
            down: number(options.alt_max_down),
            up: number(options.alt_max_up),
        },
        queue: QueueLimits {
            downloads: number(options.queue.max_active_downloads),
            uploads: number(options.queue.max_active_uploads),
            stalled_after: options.queue.stalled_after,
        },
        network: options.network.connections.network(),
        port_file: port_file.as_deref().map(|file| env.resolve(file)),
        categories: categories.collect(),
        labels: labels
            .map(|(name, label)| (name.clone(), label.goal()))
            .collect(),
        hooks: commands(&tables.hooks),
        schedule: tables.schedule.values().map(RuleTable::rule).collect(),
        rules: (1..).zip(&tables.rules).map(rule).collect(),
        watched,
        added_files: if options.watch_remove {
            AddedFiles::Removed
        } else {
            AddedFiles::Renamed
        },
    })
}

/// Returns the rule at a position, from 1.
fn rule((position, table): (usize, &TorrentRuleTable)) -> TorrentRule {
    let conditions = &table.conditions;
    let name = table.name.clone();
    TorrentRule {
        name: name.unwrap_or_else(|| format!("rule {position}")),
        conditions: Conditions {
            trackers: conditions.tracker.clone(),
            private: conditions.private,
            categories: conditions.category.clone(),
            labels: conditions.label.clone(),
            folders: conditions
                .folder
                .iter()
                .cloned()
                .map(PathBuf::from)
                .collect(),
            min_size: conditions.min_size,
            max_size: conditions.max_size,
            names: conditions.name.clone(),
            min_age: conditions.min_age,
            max_age: conditions.max_age,
            min_seeders: conditions.min_seeders,
            max_seeders: conditions.max_seeders,
        },
        goal: table.goal(),
        rates: Rates {
            down: table.max_down,
            up: table.max_up,
        },
        category: table.category.clone(),
        labels: table.label.iter().cloned().collect(),
        throttle: table.throttle,
        keep_seeders: table.keep_seeders,
    }
}

fn commands(hooks: &tables::Hooks) -> HookCommands {
    let text = |command: &Option<ShellCommand>| Some(command.as_ref()?.as_str().to_owned());
    HookCommands {
        added: text(&hooks.added),
        complete: text(&hooks.complete),
        complete_present: hooks.complete_present,
        failed: text(&hooks.failed),
        removed: text(&hooks.removed),
        timeout: hooks.timeout,
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
