//! `hashlane show`: the contents of a .torrent or magnet link.

mod human;
mod json;
mod notes;

use std::path::PathBuf;

use clap::Args;
use hashlane_metainfo::Magnet;

use crate::options::Json;
use crate::{Env, Exit, torrent_file};

const EXIT_STATUS: &str = "\
Exit status:
  0  done
  2  an error: wrong usage, or an invalid torrent or magnet link";

/// Show the contents of a .torrent or magnet link
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Show {
    /// .torrent file, magnet link in quotes, or info-hash
    #[arg(value_name = "TORRENT|MAGNET|HASH")]
    pub(crate) what: PathBuf,

    #[command(flatten)]
    form: Json,
}

impl Show {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        if let Some(link) = self
            .what
            .to_str()
            .and_then(|what| torrent_file::link(env, what))
        {
            let (magnet, ignored) = Magnet::read(link)?;
            let notes = notes::ignored_hints(&ignored);
            if self.form.json {
                json::print_magnet(env, &magnet, &notes)?;
            } else {
                human::print_magnet(env, &magnet, &notes)?;
            }
            return Ok(Exit::Good);
        }
        let torrent = torrent_file::open(env, &self.what)?;
        if self.form.json {
            json::print_torrent(env, &torrent)?;
        } else {
            human::print_torrent(env, &torrent)?;
        }
        Ok(Exit::Good)
    }
}
