//! `hashlane seed`: serves the content of torrents.

#[cfg(feature = "libtorrent")]
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

#[cfg(feature = "libtorrent")]
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
#[cfg(feature = "libtorrent")]
use hashlane_client::{Goal, Place, Seed as SeedGoal, SeedLimits, Source, Task, TorrentCommand};

use crate::options::client::ClientOptions;
use crate::{Env, Exit, values};
#[cfg(feature = "libtorrent")]
use crate::{output::swarm::reporter::Reporter, torrent_file};

const EXIT_STATUS: &str = "\
Exit status:
  0  all torrents were served until the requested end, or Ctrl-C
  1  the same, but some content was missing or wrong at the end
  2  an error: wrong usage, an invalid torrent, missing content, or a program
     built without libtorrent";

/// Serve the content of torrents without ever writing to it
///
/// The content is verified first, and only right pieces are served. Files are opened for reading only, so that they
/// can be on a read-only file system. Files that change are verified again, and only right pieces remain. A torrent whose
/// content is missing fails on its own; the others continue.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
#[expect(clippy::struct_field_names, reason = "the names of options")]
pub(crate) struct Seed {
    /// .torrent files; `-` for standard input
    #[arg(value_name = "TORRENT", required_unless_present = "watch")]
    torrents: Vec<PathBuf>,

    /// Folder where the content lies under the torrent's name [default: folder of the .torrent, or the
    /// current folder for standard input and for torrents that the page adds]
    #[arg(short, long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// The content itself under any name: a file, or the folder that holds the files
    #[arg(long, value_name = "PATH", conflicts_with = "dir")]
    content: Option<PathBuf>,

    /// Offer a piece to peers only after the previous piece has spread
    #[arg(long)]
    super_seeding: bool,

    /// Properties that prove a file unchanged since its last verification, so that it is not read again [default: none;
    /// all bytes are read]
    ///
    /// With `size+mtime`, a restart reads only files whose size or time of modification changed. Damage that leaves both as
    /// they were goes unnoticed, for example by a failing disk or a program that restores times. Hashlane then serves
    /// wrong pieces. Reports call these pieces "trusted, not verified". The record is a file in
    /// `$XDG_STATE_HOME/hashlane/trust`, by default in `~/.local/state`.
    #[arg(long, value_name = "WHAT")]
    trust: Option<Trust>,

    /// Stop serving a torrent after its content has been sent this many times, for example 1.5
    #[arg(long, value_name = "RATIO", value_parser = values::positive)]
    seed_ratio: Option<f64>,

    /// Stop after this time, for example 2h
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    seed_time: Option<Duration>,

    #[command(flatten)]
    client: ClientOptions,
}

/// Properties that prove a file unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Trust {
    /// Its size and its time of modification
    #[value(name = "size+mtime")]
    SizeAndTime,
}

#[cfg(feature = "libtorrent")]
impl Trust {
    /// Returns the folder of the records of verified content.
    fn records(self, env: &Env) -> anyhow::Result<PathBuf> {
        match self {
            Self::SizeAndTime => {
                let state = env.state.as_ref();
                let state = state
                    .context("--trust: neither XDG_STATE_HOME nor HOME is an absolute path")?;
                Ok(state.join("trust"))
            }
        }
    }
}

#[cfg(not(feature = "libtorrent"))]
impl Seed {
    #[expect(clippy::unused_self, reason = "the signature of every command")]
    pub(crate) fn run(self, _: &mut Env) -> anyhow::Result<Exit> {
        Err(crate::options::client::needs_libtorrent("seed"))
    }
}

#[cfg(feature = "libtorrent")]
impl Seed {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        if self.content.is_some() && self.torrents.len() > 1 {
            let n_torrents = self.torrents.len();
            bail!("--content needs a single torrent, but {n_torrents} were given");
        }
        torrent_file::check_inputs(&self.torrents)?;
        let _log = self.client.log.start(env)?;
        let output = &self.client.output;
        let reporter = Reporter::new(env, output.is_json(), output.quiet, None);
        let records = self.trust.map(|trust| trust.records(env)).transpose()?;
        let goal = |place: Place| {
            Goal::Seed(SeedGoal {
                place,
                super_seeding: self.super_seeding,
                limits: SeedLimits {
                    ratio: self.seed_ratio,
                    time: self.seed_time,
                },
                records: records.clone(),
            })
        };
        let added = self.dir.as_deref().or(self.client.watched());
        let config = self.client.config(
            env,
            goal(Place::Folder(env.resolve(added.unwrap_or(Path::new("."))))),
        )?;
        let mut tasks = Vec::new();
        for path in &self.torrents {
            let parent = path.parent().filter(|folder| *folder != Path::new(""));
            let folder = self.dir.as_deref().or(parent).unwrap_or(Path::new("."));
            tasks.push(Task {
                label: path.display().to_string(),
                source: source(env, path),
                goal: goal(match &self.content {
                    Some(content) => Place::Content(env.resolve(content)),
                    None => Place::Folder(env.resolve(folder)),
                }),
            });
        }
        reporter.run(env, config, tasks, |_, _| {
            // `seed` never writes, so this question never comes.
            Ok(TorrentCommand::Keep("not replaced".to_owned()))
        })
    }
}

/// Returns the source of a .torrent file. A file is read later, by a thread of the client.
#[cfg(feature = "libtorrent")]
fn source(env: &mut Env, path: &Path) -> Source {
    if torrent_file::is_stream(path) {
        let bytes = torrent_file::read_given(env, path);
        return Source::Metainfo(Box::new(move || Ok(bytes?)));
    }
    let path = env.resolve(path);
    Source::Metainfo(Box::new(move || Ok(torrent_file::read(&path)?)))
}
