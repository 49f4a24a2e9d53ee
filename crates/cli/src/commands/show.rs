//! `hashlane show`: all that is in a .torrent or magnet link, for a person or as JSON lines.

mod human;
mod json;
mod notes;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use hashlane_metainfo::{Magnet, Torrent};

use crate::options::Json;
use crate::{Env, Exit, torrent_file};

const EXIT_STATUS: &str = "\
Exit status:
  0  done
  2  not done: wrong usage, or a torrent or magnet link that cannot be read or is refused";

/// Show all that is in a .torrent or magnet link
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Show {
    /// A .torrent file, or a magnet link in quotes
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
        let shown = self.what.display().to_string();
        let bytes = torrent_file::read(&env.resolve(&self.what));
        let bytes = bytes.with_context(|| shown.clone())?;
        let torrent = Torrent::parse(bytes).with_context(|| shown.clone())?;
        if self.form.json {
            json::print_torrent(env, &torrent)?;
        } else {
            human::print_torrent(env, &torrent)?;
        }
        Ok(Exit::Good)
    }
}

/// The argument, if it is a magnet link.
fn link(what: &Path) -> Option<&str> {
    let text = what.to_str()?.trim();
    let scheme = text.get(..7)?;
    scheme.eq_ignore_ascii_case("magnet:").then_some(text)
}
