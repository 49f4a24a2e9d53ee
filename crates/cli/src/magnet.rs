//! `hashlane magnet`.

use anyhow::Context as _;
use hashlane_metainfo::{FileKind, Torrent};

use crate::args::Magnet;
use crate::{Env, Exit, torrent_file};

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
