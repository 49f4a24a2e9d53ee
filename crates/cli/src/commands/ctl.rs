//! `hashlane ctl`: controls a running daemon.

mod connection;
mod table;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use data_encoding::BASE64;
use hashlane_metainfo::{Magnet, Torrent};

use crate::control::{Add, Keys, Reply, Request};
use crate::output::json_lines;
use crate::output::text::{Escaped, Grouped, Size, count};
use crate::{Env, Exit, torrent_file, values};
use connection::Connection;

const EXIT_STATUS: &str = "\
Exit status:
  0  the daemon did what was asked, and it is on its disk
  2  an error: wrong usage, no daemon, or a refusal";

/// Control the running daemon: add, list, pause and remove torrents
///
/// TORRENT is an info-hash of either version, or its first digits. Only the user of the daemon can control it.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Ctl {
    /// State folder of the daemon [default: `$XDG_STATE_HOME/hashlane/daemon`, by default in `~/.local/state`]
    #[arg(long, value_name = "DIR", global = true)]
    state: Option<PathBuf>,

    /// Print JSON lines; docs/json.md describes them
    #[arg(long, global = true)]
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
    /// Remove torrents; their content stays on disk
    Remove(Chosen),
    /// Pause torrents
    Pause(Chosen),
    /// Resume torrents, also those that have ended or failed
    Resume(Chosen),
    /// Show the state of the daemon
    Status,
}

#[derive(Debug, Args)]
struct AddArgs {
    /// .torrent files, magnet links or info-hashes; `-` for a file on standard input
    #[arg(value_name = "TORRENT|LINK", required = true)]
    torrents: Vec<String>,

    /// Folder for the content, under the torrent's name [default: --dir of the daemon]
    #[arg(short, long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// The content itself under any name: it is served, and never written
    #[arg(long, value_name = "PATH", conflicts_with = "dir")]
    content: Option<PathBuf>,

    /// Start paused
    #[arg(long)]
    paused: bool,

    /// Request pieces in order
    #[arg(long)]
    sequential: bool,

    /// Word to find the torrent by; repeatable
    #[arg(long = "label", value_name = "WORD")]
    labels: Vec<String>,

    /// Stop serving after the content has been sent this many times, for example 1.5
    #[arg(long, value_name = "RATIO", value_parser = values::positive)]
    seed_ratio: Option<f64>,

    /// Stop serving after this time, for example 48h
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    seed_time: Option<Duration>,
}

#[derive(Debug, Args)]
struct Chosen {
    /// Info-hashes, or their first digits
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

    /// Returns the torrents of an action that changes them, so that they must be named.
    fn named(self) -> anyhow::Result<Keys> {
        if self.torrents.is_empty() && !self.all {
            bail!("name torrents, or use --all");
        }
        Ok(self.keys())
    }
}

impl Ctl {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let requests = self.action.requests(env)?;
        let state = state_folder(env, self.state.as_deref())?;
        let mut connection = Connection::open(&state)?;
        let mut torrents = Vec::new();
        for request in requests {
            let is_json = self.json;
            connection.ask(&request, |reply| match reply {
                reply if is_json => json_lines::print(env, &reply),
                Reply::Torrent(torrent) => {
                    torrents.push(*torrent);
                    Ok(())
                }
                reply => print(env, &reply),
            })?;
        }
        if !torrents.is_empty() {
            table::print(env, &torrents)?;
        }
        Ok(Exit::Good)
    }
}

impl Action {
    /// Returns the requests. An unreadable file among the torrents to add is an error before anything is asked.
    fn requests(self, env: &mut Env) -> anyhow::Result<Vec<Request>> {
        Ok(match self {
            Self::Add(args) => return args.requests(env),
            Self::List(chosen) => vec![Request::List(Keys {
                all: chosen.torrents.is_empty(),
                ..chosen.keys()
            })],
            Self::Remove(chosen) => vec![Request::Remove(chosen.named()?)],
            Self::Pause(chosen) => vec![Request::Pause(chosen.named()?)],
            Self::Resume(chosen) => vec![Request::Resume(chosen.named()?)],
            Self::Status => vec![Request::Status {}],
        })
    }
}

impl AddArgs {
    fn requests(self, env: &mut Env) -> anyhow::Result<Vec<Request>> {
        let absolute = |path: Option<&PathBuf>| -> anyhow::Result<Option<PathBuf>> {
            let path = path.map(|path| std::path::absolute(env.resolve(path)));
            Ok(path.transpose()?)
        };
        let (folder, content) = (
            absolute(self.dir.as_ref())?,
            absolute(self.content.as_ref())?,
        );
        if content.is_some() && self.torrents.len() > 1 {
            let n_torrents = self.torrents.len();
            bail!("--content needs a single torrent, but {n_torrents} were given");
        }
        torrent_file::check_inputs(&self.torrents)?;
        let mut requests = Vec::new();
        for given in &self.torrents {
            let mut add = Add {
                folder: folder.clone(),
                content: content.clone(),
                paused: self.paused,
                sequential: self.sequential,
                labels: self.labels.clone(),
                ratio: self.seed_ratio,
                seed_seconds: self.seed_time.map(|time| time.as_secs()),
                ..Add::default()
            };
            if let Some(link) = torrent_file::link(env, given) {
                let link: Magnet = link.parse()?;
                add.magnet = Some(link.to_string());
            } else {
                let mut read = || {
                    let bytes = torrent_file::read_given(env, Path::new(given))?;
                    Torrent::parse(&bytes[..])?;
                    anyhow::Ok(bytes)
                };
                let bytes = read().with_context(|| given.clone())?;
                add.metainfo = Some(BASE64.encode(&bytes));
            }
            requests.push(Request::Add(Box::new(add)));
        }
        Ok(requests)
    }
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
        let none = "neither XDG_STATE_HOME nor HOME is an absolute path: use --state";
        state.context(none)?.join("daemon")
    };
    Ok(std::path::absolute(folder)?)
}

/// Prints a result for people.
fn print(env: &mut Env, reply: &Reply) -> anyhow::Result<()> {
    let lines = match reply {
        Reply::Added { torrent, present } => {
            let present = if *present { "already present" } else { "added" };
            vec![format!(
                "{}: {present}: {}",
                torrent.info_hash, torrent.name
            )]
        }
        Reply::Removed(torrent) => {
            vec![format!("{}: removed: {}", torrent.info_hash, torrent.name)]
        }
        Reply::Paused(torrent) => vec![format!("{}: paused: {}", torrent.info_hash, torrent.name)],
        Reply::Resumed(torrent) => {
            vec![format!("{}: resumed: {}", torrent.info_hash, torrent.name)]
        }
        Reply::Status(status) => {
            let mut lines = vec![
                format!(
                    "hashlane {}, process {}, {}",
                    status.version, status.process, status.state
                ),
                format!(
                    "{}: {} downloading, {} serving, {} verifying, {} paused, {} failed or waiting",
                    count(status.torrents, "torrent"),
                    Grouped(status.downloading),
                    Grouped(status.serving),
                    Grouped(status.verifying),
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
            lines.extend(
                status
                    .problems
                    .iter()
                    .map(|problem| format!("problem: {problem}")),
            );
            lines
        }
        // `Connection::ask` handles the end of an answer, and a table shows torrents.
        Reply::Torrent(_) | Reply::Done {} | Reply::Error { .. } => Vec::new(),
    };
    for line in lines {
        writeln!(env.stdout, "{}", Escaped(line))?;
    }
    Ok(())
}
