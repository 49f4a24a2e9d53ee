//! `hashlane magnet`.

use std::path::PathBuf;

use clap::Args;
use hashlane_metainfo::FileKind;
use serde::Serialize;

use crate::options::Json;
use crate::output::json_lines;
use crate::{Env, Exit, torrent_file, values};

const EXIT_STATUS: &str = "\
Exit status:
  0  done
  2  an error: wrong usage, or an invalid torrent";

/// Print the magnet link of a .torrent
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Magnet {
    /// .torrent file
    #[arg(value_name = "TORRENT")]
    pub(crate) torrent: PathBuf,

    /// Leave out the trackers and web seeds
    #[arg(long)]
    pub(crate) no_trackers: bool,

    /// Peer that has the content (BEP 9); repeatable
    #[arg(long = "peer", value_name = "HOST:PORT", value_parser = values::peer)]
    pub(crate) peers: Vec<hashlane_metainfo::PeerAddress>,

    /// Files to select (BEP 53), for example 0,2,4-6, numbered as in `show --json`: from 0, with padding
    #[arg(long, value_name = "FILES", value_parser = values::selection)]
    pub(crate) select_only: Option<hashlane_metainfo::FileSelection>,

    #[command(flatten)]
    form: Json,
}

/// The line of `--json`.
#[derive(Serialize)]
#[serde(tag = "type", rename = "magnet_link")]
struct Link {
    torrent: String,
    magnet: String,
}

impl Magnet {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let shown = self.torrent.display().to_string();
        let torrent = torrent_file::open(env, &self.torrent)?;
        let mut magnet = hashlane_metainfo::Magnet::of(&torrent);
        if self.no_trackers {
            magnet.trackers.clear();
            magnet.web_seeds.clear();
        }
        magnet.peers = self.peers;
        if let Some(selection) = &self.select_only {
            let n_files = torrent.files().len() as u64;
            if let Some(last) = selection.ranges().last().map(|range| *range.end())
                && u64::from(last) >= n_files
            {
                anyhow::bail!(
                    "--select-only {last}: {shown} has only {n_files} files, numbered from 0"
                );
            }
            let alone = selection
                .ranges()
                .iter()
                .filter(|range| range.start() == range.end());
            for index in alone.map(|range| *range.start() as usize) {
                if torrent.file(index).kind() == FileKind::Padding {
                    anyhow::bail!(
                        "--select-only {index}: this file of {shown} is padding; `hashlane show --json` lists the files"
                    );
                }
            }
        }
        magnet.select_only = self.select_only;
        if self.form.json {
            json_lines::print(
                env,
                &Link {
                    torrent: shown,
                    magnet: magnet.to_string(),
                },
            )?;
        } else {
            writeln!(env.stdout, "{magnet}")?;
        }
        Ok(Exit::Good)
    }
}
