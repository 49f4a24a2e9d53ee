//! `hashlane ctl`: controls a running daemon by its HTTP API.

mod answers;
mod daemon;
mod options;
mod table;
mod text;
mod tls;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use data_encoding::BASE64;
use hashlane_api::{
    Added, Addition, Addressed, Batch, BatchKey, BatchResults, Command, File, Files, GroupChange,
    Groups, Identity, Job, JobState, Limit, Link, NewTorrent, Patch, Peers, Progress, Reloaded,
    Rules, SOCKET, SessionPatch, Status, TorrentRules, Trackers,
};
use hashlane_config::FilePath;
use hashlane_files::Globs;
use hashlane_metainfo::{ContentMap, FileKind, Magnet, Torrent};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::commands::configured::{self, Configurable};
use crate::options::globs;
use crate::options::network::secret_line;
use crate::output::json_lines;
use crate::output::text::Escaped;
use crate::{Env, Exit, content_map, documentation, links, torrent_file, values};
use answers::{Changed, Line};
use daemon::{Access, Daemon};
use options::{Action, AddArgs, Folders, Named, Request};

/// Time in which a daemon must answer when a user presses Tab.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(1);

/// Time between two questions about a .torrent file that the daemon fetches.
const JOB_INTERVAL: Duration = Duration::from_millis(100);

/// Number of files in an answer, at most.
const MAX_FILES: usize = 5000;

/// The status of the result for a torrent that does not exist.
const ABSENT: u16 = 404;

const EXIT_STATUS: &str = "\
Exit status:
  0  the daemon did what was asked, and it is on its disk
  2  an error: wrong usage, no daemon, or a refusal";

/// Control the running daemon: add, list, pause and remove torrents
///
/// TORRENT is an info-hash of either version, its first digits, the exact name of one torrent, or its number. Only the user of the
/// daemon can control it; another daemon, with its --url and token.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Ctl {
    /// State folder of the daemon [default: `$XDG_STATE_HOME/hashlane/daemon`, by default in `~/.local/state`]
    #[arg(long = "state-dir", value_name = "DIR", global = true)]
    state: Option<PathBuf>,

    /// Address of the page of a daemon, in place of its state folder: `https://server.example`
    #[arg(
        id = "daemon-url",
        long = "url",
        value_name = "URL",
        value_parser = values::url,
        conflicts_with = "state",
        global = true
    )]
    url: Option<String>,

    /// File with the token of the page on its first line
    #[arg(long, value_name = "FILE", requires = "daemon-url", global = true)]
    token_file: Option<PathBuf>,

    /// File with the certificates of the authorities for https, in the form PEM [default: those of the system]
    #[arg(long, value_name = "FILE", requires = "daemon-url", global = true)]
    ca_file: Option<PathBuf>,

    /// Send the token to another machine without encryption
    #[arg(long, requires = "daemon-url", global = true)]
    insecure_http: bool,

    #[arg(long, global = true, help = documentation::json_help(), help_heading = "Output")]
    json: bool,

    #[command(subcommand)]
    action: Action,
}

impl Ctl {
    /// `all` are the commands that can be configured: the daemon's state folder may be.
    pub(crate) fn run(self, env: &mut Env, all: &[Configurable]) -> anyhow::Result<Exit> {
        let is_remote = self.url.is_some();
        let daemon = if let Some(url) = self.url {
            let read =
                |path: &PathBuf| secret_line(env, path).with_context(|| path.display().to_string());
            let token = self.token_file.as_ref().map(read).transpose()?;
            let authorities = self.ca_file.map(|path| env.resolve(&path));
            let access = Access {
                token,
                authorities,
                is_plain: self.insecure_http,
            };
            Daemon::at_url(&url, access)?
        } else {
            let given = match self.state {
                Some(given) => Some(given),
                None => configured_state(env, all)?,
            };
            Daemon::at_socket(state_folder(env, given.as_deref())?.join(SOCKET), None)?
        };
        let mut asking = Asking {
            daemon,
            is_json: self.json,
            is_remote,
        };
        match self.action {
            Action::Add(args) => args.run(env, &mut asking)?,
            action => {
                let request = action.request(&asking.folders(env))?;
                asking.ask(env, request)?;
            }
        }
        Ok(Exit::Good)
    }
}

/// The daemon, and the form of its answers.
struct Asking {
    daemon: Daemon,
    is_json: bool,
    /// Whether the daemon may run on another machine.
    is_remote: bool,
}

impl Asking {
    fn folders<'e>(&self, env: &'e Env) -> Folders<'e> {
        Folders {
            env,
            is_remote: self.is_remote,
        }
    }

    /// Prints a result: as JSON, or the lines for people.
    fn print<T: Serialize>(
        &self,
        env: &mut Env,
        kind: &str,
        value: &T,
        lines: impl FnOnce() -> Vec<String>,
    ) -> anyhow::Result<()> {
        if self.is_json {
            return json_lines::print(env, &Line { kind, value });
        }
        for line in lines() {
            writeln!(env.stdout, "{}", Escaped(line))?;
        }
        Ok(())
    }

    /// Sends a request, and prints its results.
    fn ask(&self, env: &mut Env, request: Request) -> anyhow::Result<()> {
        let daemon = &self.daemon;
        match request {
            Request::List(torrents) => {
                let torrents = self.torrents(&torrents)?;
                self.print_each(env, "torrent", torrents, table::torrents)
            }
            Request::Files(torrent) => {
                let files = self.files(&self.path_of(torrent)?)?;
                self.print_each(env, "file", files, |env, files| table::files(env, &files))
            }
            Request::Trackers(torrent) => {
                let path = self.path_of(torrent)?;
                let Trackers { trackers, .. } = daemon.get(&format!("{path}/trackers"))?;
                self.print_each(env, "tracker", trackers, |env, trackers| {
                    table::trackers(env, &trackers)
                })
            }
            Request::Peers(torrent) => {
                let Peers { peers } = daemon.get(&self.path_of(torrent)?)?;
                self.print_each(env, "peer", peers, |env, peers| table::peers(env, &peers))
            }
            Request::Link(torrent, request) => {
                let path = self.path_of(torrent)?;
                let mut link: Link = daemon.post(&format!("{path}/link"), &request)?;
                link.url = daemon.reached_url(link.url)?;
                self.print(env, "link", &link, || vec![link.url.clone()])
            }
            Request::Apply(named, command) => self.apply(env, &named, &command),
            Request::Groups => {
                let groups: Groups = daemon.get("groups")?;
                let lines = || groups.categories.iter().map(text::category).collect();
                self.print(env, "groups", &groups, lines)
            }
            Request::ChangeGroups(change) => {
                // A person may have mistyped a name.
                if let GroupChange::RemoveCategories { names } = &change {
                    let groups: Groups = daemon.get("groups")?;
                    let is_known =
                        |name: &&String| groups.categories.iter().any(|it| it.name == **name);
                    if let Some(name) = names.iter().find(|name| !is_known(name)) {
                        bail!("{name}: no such category");
                    }
                }
                daemon.post("groups", &change)
            }
            Request::Status => {
                let status: Status = daemon.get("status")?;
                self.print(env, "status", &status, || text::status(&status))
            }
            Request::Limits(patch) => {
                if patch != SessionPatch::default() {
                    daemon.patch("config", &patch)?;
                }
                let limits: Vec<Limit> = daemon.get("limits")?;
                for limit in limits {
                    self.print(env, "limit", &limit, || vec![text::limit(&limit)])?;
                }
                Ok(())
            }
            Request::Rules {
                torrents,
                is_dry_run,
            } => self.rules(env, &torrents, is_dry_run),
            Request::Reload => {
                let reloaded: Reloaded = daemon.post("reload", &())?;
                self.print(env, "reloaded", &reloaded, || text::reloaded(&reloaded))
            }
        }
    }

    /// Prints what rules set for torrents, for all if none is named.
    fn rules(&self, env: &mut Env, torrents: &[String], is_dry_run: bool) -> anyhow::Result<()> {
        let rules: Rules = self.daemon.get(&format!("rules?dry_run={is_dry_run}"))?;
        let mut numbers = Vec::new();
        if !torrents.is_empty() {
            for torrent in self.torrents(torrents)? {
                numbers.push(serde_json::from_value::<Identity>(torrent)?.number);
            }
        }
        let is_named = |torrent: &&TorrentRules| {
            torrents.is_empty() || numbers.contains(&torrent.torrent.identity.number)
        };
        for torrent in rules.torrents.iter().filter(is_named) {
            self.print(env, "rules", torrent, || text::rules(torrent))?;
        }
        Ok(())
    }

    /// Prints the entries of a list: each as a line of JSON, or all as a table.
    fn print_each<T: Serialize>(
        &self,
        env: &mut Env,
        kind: &str,
        values: Vec<T>,
        table: impl FnOnce(&mut Env, Vec<T>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if !self.is_json {
            return table(env, values);
        }
        for value in &values {
            json_lines::print(env, &Line { kind, value })?;
        }
        Ok(())
    }

    /// Returns the path of a torrent as a person names it.
    fn path_of(&self, torrent: String) -> anyhow::Result<String> {
        let mut found = self.torrents(&[torrent])?;
        let identity: Identity = serde_json::from_value(found.pop().unwrap_or_default())?;
        Ok(format!("torrents/{}", identity.number))
    }

    /// Returns all files of the torrent at a path.
    fn files(&self, path: &str) -> anyhow::Result<Vec<File>> {
        let mut all = Vec::new();
        loop {
            let first = all.len();
            let files = format!("{path}/files?offset={first}&limit={MAX_FILES}");
            let Files { total, files, .. } = self.daemon.get(&files)?;
            all.extend(files);
            if all.len() >= total || all.len() == first {
                return Ok(all);
            }
        }
    }

    /// Returns the state of torrents in the order of the queue; of all if none is named.
    fn torrents(&self, named: &[String]) -> anyhow::Result<Vec<Value>> {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for torrent in named {
            query.append_pair("torrent", torrent);
        }
        let path = format!("torrents?{}", query.finish());
        let Torrents { mut torrents } = self.daemon.get(path.trim_end_matches('?'))?;
        torrents.sort_by_key(|torrent| torrent["queue_position"].as_u64());
        Ok(torrents)
    }

    /// Does what a command asks of torrents. What was done is printed, also if the rest is refused.
    fn apply(&self, env: &mut Env, named: &Named, command: &Command) -> anyhow::Result<()> {
        let torrents = named.torrents.iter().cloned().map(BatchKey::Text);
        let batch = Batch {
            torrents: (!named.all).then(|| torrents.collect()),
            all: named.all,
            change: Cow::Borrowed(command),
        };
        let BatchResults { results } = self.daemon.post("batch", &batch)?;
        let mut refusals = Vec::new();
        for outcome in results {
            match (outcome.error, outcome.found) {
                (None, Some(torrent)) => {
                    let action = command.name();
                    let changed = Changed { action, torrent };
                    let lines = || vec![text::named(&changed.torrent, text::done(action))];
                    self.print(env, "changed", &changed, lines)?;
                }
                (error, _) => {
                    let is_absent = outcome.status == ABSENT;
                    let hint = if is_absent { text::NO_TORRENT } else { "" };
                    let error = error.unwrap_or_default();
                    refusals.push(format!("{}: {error}{hint}", outcome.torrent));
                }
            }
        }
        match &refusals[..] {
            [] => Ok(()),
            [refusal] => bail!("{refusal}"),
            [first, others @ ..] => bail!("{first}; and {} more", others.len()),
        }
    }
}

impl AddArgs {
    /// Adds one torrent after the other, so that only one of them is in memory. The first error ends this.
    fn run(&self, env: &mut Env, asking: &mut Asking) -> anyhow::Result<()> {
        let folders = asking.folders(env);
        let absolute = |path: &Option<PathBuf>| {
            let path = path.as_ref().map(|path| folders.absolute(path));
            path.transpose()
        };
        let (folder, content) = (absolute(&self.dir)?, absolute(&self.content)?);
        if content.is_some() && self.torrents.len() > 1 {
            let n_torrents = self.torrents.len();
            bail!("--content needs a single torrent, but {n_torrents} were given");
        }
        if self.content_map.is_some() && asking.is_remote {
            bail!("--content-map: only the daemon of a state folder reads files that it names");
        }
        torrent_file::check_inputs(&self.torrents)?;
        let map = self.content_map.as_deref();
        let map = map
            .map(|path| Ok::<_, anyhow::Error>((path, content_map::read(env, path)?)))
            .transpose()?;
        let includes = globs(Globs::ignoring_case(), "--include", &self.includes)?;
        let options = NewTorrent {
            folder,
            content,
            paused: Some(self.paused),
            set: Patch {
                category: self.category.clone().map(Some),
                labels: Some(self.labels.iter().cloned().collect()),
                sequential: Some(self.sequential),
                ..Patch::default()
            }
            .or(self.goal.patch())
            .or(self.rates.patch()),
            ..NewTorrent::default()
        };
        for given in &self.torrents {
            let context = || links::without_secrets(given);
            let (source, torrent) = read(env, given).with_context(context)?;
            let lines = map.as_ref().map(|(path, map)| {
                map_lines(map, torrent.as_ref()).with_context(|| {
                    format!("{}: {}", links::without_secrets(given), path.display())
                })
            });
            let select = (!includes.is_empty())
                .then(|| selected(&includes, torrent.as_ref()).with_context(context));
            let addition = Addition {
                options: NewTorrent {
                    content_map: lines.transpose()?,
                    select: select.transpose()?,
                    ..options.clone()
                },
                ..source
            };
            let added = asking.add(&addition);
            let added = added.with_context(context)?;
            let what = if added.is_present {
                "already present"
            } else {
                "added"
            };
            asking.print(env, "added", &added, || {
                vec![text::named(&added.torrent, what)]
            })?;
        }
        Ok(())
    }
}

impl Asking {
    /// Adds a torrent, and waits until the daemon has fetched it.
    fn add(&self, addition: &Addition) -> anyhow::Result<Added> {
        let Job { id, mut state } = match self.daemon.post("torrents", addition)? {
            Addressed::Added(added) => return Ok(added),
            Addressed::Job(job) => job,
        };
        while state.state == Progress::Fetching {
            thread::sleep(JOB_INTERVAL);
            Job { state, .. } = self.daemon.get(&format!("jobs/{id}"))?;
        }
        let JobState {
            state,
            torrent,
            error,
        } = state;
        let torrent = torrent.ok_or_else(|| anyhow!("{}", error.unwrap_or_default()))?;
        let is_present = state == Progress::Present;
        Ok(Added {
            torrent,
            is_present,
        })
    }
}

/// Returns the lines of a torrent in a content map, in base 64.
fn map_lines(map: &ContentMap, torrent: Option<&Torrent>) -> anyhow::Result<String> {
    let Some(torrent) = torrent else {
        bail!(
            "a content map needs a .torrent file: a link or URL does not have the paths of files"
        );
    };
    Ok(BASE64.encode(&map.only(torrent)?.to_bytes()))
}

/// Returns the positions of the files of a torrent that patterns match. Padding has no position.
fn selected(includes: &Globs, torrent: Option<&Torrent>) -> anyhow::Result<Vec<u32>> {
    let Some(torrent) = torrent else {
        bail!(
            "--include needs a .torrent file: a link or URL does not have the paths of files, which `ctl priority` chooses later"
        );
    };
    let files = torrent.files().iter();
    let files = files.filter(|file| file.kind() != FileKind::Padding);
    let matching = (0..)
        .zip(files)
        .filter(|(_, file)| includes.is_match_or_inside(file.path().to_string()));
    let selected: Vec<u32> = matching.map(|(position, _)| position).collect();
    if selected.is_empty() {
        bail!("--include: no file of the torrent matches");
    }
    Ok(selected)
}

/// Returns a torrent without choices: a .torrent file with what was parsed of it, its URL, or a magnet link.
fn read(env: &mut Env, given: &str) -> anyhow::Result<(Addition, Option<Torrent>)> {
    let (mut add, mut parsed) = (Addition::default(), None);
    if let Some(link) = torrent_file::link(env, given) {
        let link: Magnet = link.parse()?;
        add.link = Some(link.to_string());
    } else if torrent_file::is_url(given) {
        add.link = Some(given.to_owned());
    } else {
        let bytes = torrent_file::read_given(env, Path::new(given))?;
        add.metainfo = Some(BASE64.encode(&bytes));
        parsed = Some(Torrent::parse(bytes)?);
    }
    Ok((add, parsed))
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

/// The torrents, or some of them.
#[derive(Deserialize)]
struct Torrents {
    torrents: Vec<Value>,
}

/// Returns the info-hashes of the running daemon's torrents, for completions.
///
/// # Errors
/// No daemon runs, or it does not answer soon.
pub(super) fn info_hashes(env: &Env, all: &[Configurable]) -> anyhow::Result<Vec<String>> {
    let given = configured_state(env, all)?;
    let socket = state_folder(env, given.as_deref())?.join(SOCKET);
    let daemon = Daemon::at_socket(socket, Some(COMPLETION_TIMEOUT))?;
    let Torrents { torrents } = daemon.get("torrents")?;
    let hashes = torrents.iter();
    let hashes = hashes.filter_map(|torrent| torrent["info_hash"].as_str());
    Ok(hashes.map(str::to_owned).collect())
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
