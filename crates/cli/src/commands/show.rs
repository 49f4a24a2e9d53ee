//! `hashlane show`: the contents of .torrent files and magnet links.

mod charset;
mod human;
mod json;
mod notes;
mod other;
mod tree;

#[cfg(feature = "schema")]
pub(crate) use json::schema;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use hashlane_metainfo::{IgnoredHint, Magnet, Torrent};

use crate::links::{self, Passkeys};
use crate::options::{Json, Secrets};
use crate::{Env, Exit, torrent_file};

const EXIT_STATUS: &str = "\
Exit status:
  0  done
  2  an error: wrong usage, or an invalid torrent or magnet link; the others
     are shown";

/// Show the contents of torrents and magnet links
///
/// Passwords, and passkeys in the URLs of trackers, are shown as `***`, and the magnet link lacks these URLs. Of a
/// private torrent, it lacks all trackers and web seeds.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Show {
    /// .torrent files, magnet links in quotes, or info-hashes; `-` for standard input
    #[arg(value_name = "TORRENT|MAGNET|HASH", required = true)]
    pub(crate) inputs: Vec<PathBuf>,

    #[command(flatten)]
    secrets: Secrets,

    #[command(flatten)]
    form: Json,
}

/// An input that has been read.
enum Input {
    Torrent(Box<Torrent>),
    Magnet(Box<Magnet>, Vec<IgnoredHint>),
}

impl Show {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        torrent_file::check_inputs(&self.inputs)?;
        let passkeys = self.secrets.passkeys();
        let mut exit = Exit::Good;
        for (number, given) in self.inputs.iter().enumerate() {
            let name = links::without_secrets(given.display());
            match read(env, given, &name) {
                Ok(input) => {
                    if number > 0 && !self.form.json {
                        writeln!(env.stdout)?;
                    }
                    self.print(env, &name, &input, passkeys)?;
                }
                Err(error) => {
                    if self.form.json {
                        json::print_error(env, &name, &error)?;
                    }
                    env.error(&format!("{error:#}"));
                    exit = Exit::NotChecked;
                }
            }
        }
        Ok(exit)
    }

    fn print(
        &self,
        env: &mut Env,
        given: &str,
        input: &Input,
        passkeys: Passkeys,
    ) -> anyhow::Result<()> {
        match (input, self.form.json) {
            (Input::Torrent(torrent), true) => json::print_torrent(env, given, torrent, passkeys),
            (Input::Torrent(torrent), false) => human::print_torrent(env, torrent, passkeys),
            (Input::Magnet(magnet, ignored), is_json) => {
                let notes = notes::ignored_hints(ignored);
                if is_json {
                    json::print_magnet(env, given, magnet, &notes, passkeys)
                } else {
                    human::print_magnet(env, magnet, &notes, passkeys)
                }
            }
        }
    }
}

/// Reads an input. Errors name it.
fn read(env: &mut Env, given: &Path, name: &str) -> anyhow::Result<Input> {
    let context = || name.to_owned();
    if let Some(link) = given
        .to_str()
        .and_then(|given| torrent_file::link(env, given))
    {
        return read_link(link).with_context(context);
    }
    let bytes = torrent_file::read_given(env, given).with_context(context)?;
    // The standard input stream can also hold a link.
    if torrent_file::is_stream(given)
        && let Ok(text) = str::from_utf8(&bytes)
        && let Some(link) = torrent_file::link(env, text)
    {
        return read_link(link).with_context(context);
    }
    let torrent = Torrent::parse(bytes).with_context(context)?;
    Ok(Input::Torrent(Box::new(torrent)))
}

fn read_link(link: &str) -> anyhow::Result<Input> {
    let (magnet, ignored) = Magnet::read(link)?;
    Ok(Input::Magnet(Box::new(magnet), ignored))
}
