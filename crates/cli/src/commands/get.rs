//! `hashlane get`: downloads torrents.

#[cfg(feature = "libtorrent")]
mod confirm;
#[cfg(feature = "libtorrent")]
mod source;

use std::path::PathBuf;
#[cfg(feature = "libtorrent")]
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
#[cfg(feature = "libtorrent")]
use hashlane_client::{Download, Existing, Goal, SeedLimits, Task};

use crate::options::client::ClientOptions;
use crate::{Env, Exit, values};
#[cfg(feature = "libtorrent")]
use crate::{
    globs, output::swarm::reporter::Reporter, output::text::without_passwords, torrent_file,
};

const EXIT_STATUS: &str = "\
Exit status:
  0  the requested content is complete and verified
  1  the download finished, but the last verification failed
  2  an error: wrong usage, an invalid torrent, a file that cannot be written,
     a full disk, --timeout, Ctrl-C, a failed command of --exec, or a program
     built without libtorrent";

/// Download torrents, or complete content that is partly present
///
/// Existing content is verified first, whichever program wrote it. The rest is downloaded, and in the end everything
/// is verified once more. There is no state file: a download can be stopped in any way at any time, and continues
/// from the content on disk. Wrong pieces are replaced. Other files, and bytes after the end of the content, are kept.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Get {
    /// .torrent files, their URLs (http, https), magnet links, or info-hashes; `-` for standard input
    #[arg(
        value_name = "TORRENT|URL|MAGNET|HASH",
        required_unless_present = "watch"
    )]
    torrents: Vec<String>,

    /// Folder where the content lies, or is created, under the torrent's name
    #[arg(
        short = 'd',
        long = "dir",
        visible_short_alias = 'o',
        visible_alias = "output",
        value_name = "DIR",
        default_value = "."
    )]
    output: PathBuf,

    /// Download only matching files and folders: `*.pdf` anywhere, `docs/*.pdf` from the top; repeatable.
    /// Version 1 also downloads parts of neighbouring files, as files with holes
    #[arg(long, value_name = "GLOB")]
    select: Vec<String>,

    /// Request pieces in order
    #[arg(long)]
    sequential: bool,

    /// List wrong pieces and ask before replacing them; without a terminal, replace nothing and fail
    #[arg(long)]
    confirm: bool,

    /// Replace the content of files that exist and do not belong to the torrent
    #[arg(long)]
    overwrite: bool,

    /// Continue serving after the download, until Ctrl-C
    #[arg(long)]
    seed: bool,

    /// Continue serving until the content has been sent this many times, for example 1.5
    #[arg(long, value_name = "RATIO", value_parser = values::positive)]
    seed_ratio: Option<f64>,

    /// Continue serving for this time, for example 30m
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    seed_time: Option<Duration>,

    /// Folder to move the content to, with everything in the torrent's folder, after it is complete and verified.
    /// Content that already exists there is not downloaded again
    #[arg(long, value_name = "DIR")]
    move_to: Option<PathBuf>,

    /// Shell command to run after each download is complete and verified. The variables `HASHLANE_TORRENT`,
    /// `HASHLANE_NAME` and `HASHLANE_CONTENT` hold the torrent as given, its name, and the path
    #[arg(long, value_name = "COMMAND")]
    exec: Option<String>,

    /// Give up on a torrent after this time without progress, for example 60s
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    timeout: Option<Duration>,

    #[command(flatten)]
    client: ClientOptions,
}

#[cfg(not(feature = "libtorrent"))]
impl Get {
    #[expect(clippy::unused_self, reason = "the signature of every command")]
    pub(crate) fn run(self, _: &mut Env) -> anyhow::Result<Exit> {
        Err(crate::options::client::needs_libtorrent("get"))
    }
}

#[cfg(feature = "libtorrent")]
impl Get {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        torrent_file::check_inputs(&self.torrents)?;
        let _log = self.client.log.start(env)?;
        let output = &self.client.output;
        let reporter = Reporter::new(env, output.is_json(), output.quiet, self.exec.clone());
        let download = Arc::new(self.download(env)?);
        let goal = Goal::Download(Arc::clone(&download));
        let mut config = self.client.config(env, goal)?;
        config.session.close_redundant = download.seeding.is_some();
        let mut tasks = Vec::new();
        for given in &self.torrents {
            tasks.push(Task {
                label: without_passwords(given).into_owned(),
                source: source::source(env, given),
                goal: Goal::Download(Arc::clone(&download)),
            });
        }
        reporter.run(env, config, tasks, confirm::confirm)
    }

    fn download(&self, env: &Env) -> anyhow::Result<Download> {
        let limits = SeedLimits {
            ratio: self.seed_ratio,
            time: self.seed_time,
        };
        let is_seeded = self.seed || limits.ratio.is_some() || limits.time.is_some();
        Ok(Download {
            folder: env.resolve(&self.output),
            selection: globs::with(hashlane_files::Globs::default(), "--select", &self.select)?,
            sequential: self.sequential,
            existing: if self.confirm {
                Existing::Confirm
            } else if self.overwrite {
                Existing::Overwrite
            } else {
                Existing::Resume
            },
            seeding: is_seeded.then_some(limits),
            move_to: self.move_to.as_deref().map(|folder| env.resolve(folder)),
            timeout: self.timeout,
        })
    }
}
