//! `hashlane magnet`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use hashlane_metainfo::{FileKind, Torrent};

use crate::{Env, Exit, torrent_file, values};

const EXIT_STATUS: &str = "\
Exit status:
  0  done
  2  not done: wrong usage, or a torrent or magnet link that cannot be read or is refused";

/// Print the magnet link of a .torrent
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Magnet {
    /// The .torrent file
    #[arg(value_name = "TORRENT")]
    pub(crate) torrent: PathBuf,

    /// Leave out the trackers and web seeds
    #[arg(long)]
    pub(crate) no_trackers: bool,

    /// A peer that has the content (BEP 9); can be given several times
    #[arg(long = "peer", value_name = "HOST:PORT", value_parser = values::peer)]
    pub(crate) peers: Vec<hashlane_metainfo::PeerAddress>,

    /// The files that are meant, such as `0,2,4-6` (BEP 53), as `show --json` numbers them: from 0, with padding
    #[arg(long, value_name = "FILES", value_parser = values::selection)]
    pub(crate) select_only: Option<hashlane_metainfo::FileSelection>,
}

impl Magnet {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let shown = self.torrent.display().to_string();
        let bytes = torrent_file::read(&env.resolve(&self.torrent));
        let bytes = bytes.with_context(|| shown.clone())?;
        let torrent = Torrent::parse(bytes).with_context(|| shown.clone())?;
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
                    "{shown}: has {n_files} files, from 0 on, and --select-only says {last}"
                );
            }
            let alone = selection
                .ranges()
                .iter()
                .filter(|range| range.start() == range.end());
            for index in alone.map(|range| *range.start() as usize) {
                if torrent.file(index).kind() == FileKind::Padding {
                    anyhow::bail!(
                        "{shown}: file {index} is padding; `hashlane show --json` numbers the files"
                    );
                }
            }
        }
        magnet.select_only = self.select_only;
        writeln!(env.stdout, "{magnet}")?;
        Ok(Exit::Good)
    }
}
