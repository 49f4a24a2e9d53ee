//! `hashlane show`: the contents of a .torrent or magnet link.

mod human;
mod json;
mod notes;

use std::path::{Path, PathBuf};

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
    /// .torrent file, or magnet link in quotes
    #[arg(value_name = "TORRENT|MAGNET")]
    pub(crate) what: PathBuf,

    #[command(flatten)]
    form: Json,
}

impl Show {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        if let Some(link) = link(&self.what) {
            let magnet: Magnet = link.parse()?;
            if self.form.json {
                json::print_magnet(env, &magnet)?;
            } else {
                human::print_magnet(env, &magnet)?;
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

/// Returns the argument if it is a magnet link.
fn link(what: &Path) -> Option<&str> {
    let text = what.to_str()?.trim();
    let scheme = text.get(..7)?;
    scheme.eq_ignore_ascii_case("magnet:").then_some(text)
}
