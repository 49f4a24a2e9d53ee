//! `hashlane magnet`: magnet links of torrents, and torrents of magnet links.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use hashlane_files::Globs;
use hashlane_metainfo::{FileKind, FileSelection, PeerAddress, Torrent, masked_text};
use serde::Serialize;

use crate::links::{self, Link};
use crate::options::network::Connections;
use crate::options::{ConfigFile, Force, Json, Secrets, Trackers, globs};
use crate::output::json_lines;
use crate::output::stream::AfterFailure;
use crate::{Env, Exit, torrent_file, values};

const EXIT_STATUS: &str = "\
Exit status:
  0  done
  2  an error: wrong usage, an invalid torrent or link, a file that cannot be
     written, --timeout, Ctrl-C, or --fetch without the program hashlane-net;
     the other torrents are not affected";

/// Print the magnet links of torrents, or fetch the torrents of magnet links
///
/// A link has the name, the length, the trackers, the web seeds and the DHT nodes of its torrent. URLs with passwords
/// or passkeys, and all trackers and web seeds of a private torrent, are left out without `--show-passkey`. A note on
/// standard error reports that.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub struct Magnet {
    /// .torrent files; with --fetch, magnet links in quotes or info-hashes; `-` for standard input
    #[arg(value_name = "TORRENT|MAGNET|HASH", required = true)]
    pub torrents: Vec<PathBuf>,

    #[command(flatten)]
    secrets: Secrets,

    /// Leave out the trackers of the torrent; those of --announce remain
    #[arg(long, help_heading = "Link")]
    no_trackers: bool,

    #[command(flatten, next_help_heading = "Link")]
    trackers: Trackers,

    /// Leave out the web seeds of the torrent; those of --web-seed remain
    #[arg(long, help_heading = "Link")]
    no_web_seeds: bool,

    /// Web seed to add, a URL that serves the content (BEP 19); repeatable
    #[arg(short, long = "web-seed", value_name = "URL", value_parser = values::url, help_heading = "Link")]
    web_seeds: Vec<String>,

    /// Name to show until the torrent is available [default: name of the torrent]
    #[arg(
        short,
        long,
        value_name = "NAME",
        conflicts_with = "no_name",
        help_heading = "Link"
    )]
    name: Option<String>,

    /// Leave out the name
    #[arg(long, help_heading = "Link")]
    no_name: bool,

    /// Leave out the length
    #[arg(long, help_heading = "Link")]
    no_length: bool,

    /// Peer that has the content (BEP 9): part of the link, or asked by --fetch; repeatable
    #[arg(long = "peer", value_name = "HOST:PORT", value_parser = values::peer, help_heading = "Link")]
    pub peers: Vec<PeerAddress>,

    /// Select only matching files and the files in matching folders (BEP 53): `*.pdf` anywhere, `docs/*.pdf` from the
    /// top; repeatable. Letter case makes no difference
    #[arg(long = "include", value_name = "GLOB", help_heading = "Link")]
    includes: Vec<String>,

    /// The form of the result.
    #[command(flatten)]
    pub form: Json,

    /// The options of `--fetch`.
    #[command(flatten)]
    pub fetching: Fetching,
}

/// A line of `--json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'l> {
    MagnetLink {
        /// The link as given, with the info-hash only.
        torrent: &'l str,
        /// The magnet link.
        magnet: String,
        /// The number of URLs that the link lacks because of passkeys, as text.
        note: Option<String>,
    },
    Error {
        torrent: &'l str,
        message: String,
    },
}

/// Returns the schema of the lines.
#[cfg(feature = "schema")]
pub(crate) fn schema() -> schemars::Schema {
    json_lines::schema_of::<Line<'_>>()
}

impl Magnet {
    /// Returns `true` if torrents are fetched from peers.
    pub(crate) fn is_fetch(&self) -> bool {
        self.fetching.fetch
    }

    /// Returns what the command does after its results could not be written.
    pub(crate) fn after_failed_output(&self) -> AfterFailure {
        if self.is_fetch() {
            AfterFailure::Stop
        } else {
            AfterFailure::Continue
        }
    }

    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        torrent_file::check_inputs(&self.torrents)?;
        let mut exit = Exit::Good;
        for path in &self.torrents {
            let torrent = links::without_secrets(path.display());
            match self.link(env, path) {
                Ok(link) => self.print(env, &torrent, &link)?,
                Err(error) => {
                    let message = masked_text(&format!("{error:#}"));
                    env.error(&message);
                    if self.form.json {
                        let torrent = &torrent;
                        json_lines::print(env, &Line::Error { torrent, message })?;
                    }
                    exit = Exit::NotChecked;
                }
            }
        }
        Ok(exit)
    }

    fn print(&self, env: &mut Env, torrent: &str, link: &Link) -> anyhow::Result<()> {
        let note = link.note();
        if let Some(note) = &note {
            env.error(&format!("{torrent}: {note}"));
        }
        let magnet = link.magnet.to_string();
        if !self.form.json {
            return Ok(writeln!(env.stdout, "{magnet}")?);
        }
        let line = Line::MagnetLink {
            torrent,
            magnet,
            note,
        };
        json_lines::print(env, &line)
    }

    fn link(&self, env: &mut Env, path: &Path) -> anyhow::Result<Link> {
        let torrent = torrent_file::open(env, path)?;
        let mut link = Link::of(&torrent, self.secrets.passkeys());
        if self.no_trackers {
            link.remove_trackers();
        }
        if self.no_web_seeds {
            link.remove_web_seeds();
        }
        let magnet = &mut link.magnet;
        add(&mut magnet.trackers, self.trackers.tiers.iter().flatten());
        add(&mut magnet.web_seeds, &self.web_seeds);
        if self.no_name {
            magnet.name = None;
        } else if let Some(name) = &self.name {
            magnet.name = Some(name.clone());
        }
        if self.no_length {
            magnet.length = None;
        }
        magnet.peers.clone_from(&self.peers);
        magnet.select_only = self.selected(path, &torrent)?;
        Ok(link)
    }

    /// Returns the files that the link selects, if not all.
    fn selected(&self, path: &Path, torrent: &Torrent) -> anyhow::Result<Option<FileSelection>> {
        if self.includes.is_empty() {
            return Ok(None);
        }
        let includes = globs(Globs::ignoring_case(), "--include", &self.includes)?;
        let files = torrent.files().iter().enumerate();
        let files = files.filter(|(_, file)| {
            file.kind() != FileKind::Padding && includes.is_match_or_inside(file.path().to_string())
        });
        // A torrent has at most as many files as a u32 can count.
        let ranges = files.map(|(index, _)| index as u32..=index as u32);
        let selection = FileSelection::from_ranges(ranges);
        let reason = || format!("--include: no file of {} matches", path.display());
        selection.with_context(reason).map(Some)
    }
}

/// Adds URLs that are not listed yet.
fn add<'u>(listed: &mut Vec<String>, urls: impl IntoIterator<Item = &'u String>) {
    for url in urls {
        if !listed.contains(url) {
            listed.push(url.clone());
        }
    }
}

/// The options of `--fetch`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fetching")]
pub struct Fetching {
    /// Fetch the metadata of magnet links or info-hashes from peers, and write each as a .torrent with the trackers
    /// and web seeds of the link. The options below and --peer apply
    #[arg(long, conflicts_with_all = [
        "show_passkey", "no_trackers", "tiers", "no_web_seeds", "web_seeds", "name", "no_name", "no_length",
        "includes",
    ])]
    fetch: bool,

    /// The .torrent to write [default: NAME.torrent in the working directory]
    #[arg(short, long, value_name = "FILE", requires = "fetch")]
    pub output: Option<PathBuf>,

    /// Whether a file may be replaced.
    #[command(flatten)]
    pub force: Force,

    /// Give up on a link after this time, for example 60s [default: wait until Ctrl-C]
    #[arg(long, value_name = "TIME", value_parser = values::duration, requires = "fetch")]
    pub timeout: Option<Duration>,

    /// Print no report, note or progress; only errors
    #[arg(short, long, requires = "fetch")]
    pub quiet: bool,

    /// The connections to peers.
    #[command(flatten)]
    pub connections: Connections,

    /// The file of the configuration.
    #[command(flatten)]
    pub config: ConfigFile,
}
