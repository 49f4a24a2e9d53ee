//! `hashlane edit`.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use hashlane_metainfo::{InfoHashes, Torrent, UrlEdit};

use crate::new_file::{self, Overwrite};
use crate::options::{Force, Trackers};
use crate::{Env, Exit, torrent_file, values};

const EXIT_STATUS: &str = "\
Exit status:
  0  done
  2  not done: wrong usage, or a torrent or magnet link that cannot be read or is refused";

/// Change what a .torrent says besides its content
///
/// Everything else keeps its bytes, and so the info-hash stays, but for `--source` and `--private`: these make
/// another torrent, which is shown and asked for first.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Edit {
    /// The .torrent file
    #[arg(value_name = "TORRENT")]
    pub(crate) torrent: PathBuf,

    /// The .torrent to write [default: the same one]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    force: Force,

    #[command(flatten)]
    pub(crate) trackers: Trackers,

    /// Remove all trackers, before those of --announce are added
    #[arg(long)]
    pub(crate) no_trackers: bool,

    /// A URL that has the content (BEP 19), added to those there; can be given several times
    #[arg(short, long = "web-seed", value_name = "URL", value_parser = values::url)]
    pub(crate) web_seeds: Vec<String>,

    /// Remove all web seeds, before those of --web-seed are added
    #[arg(long)]
    pub(crate) no_web_seeds: bool,

    /// The comment; empty for none
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,

    /// The source; empty for none. Changes the info-hash
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) source: Option<String>,

    /// Whether it is private (BEP 27). Changes the info-hash
    #[arg(short, long, value_name = "YES|NO")]
    pub(crate) private: Option<YesNo>,

    /// Do not ask before the info-hash changes
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    Yes,
    No,
}

impl Edit {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let shown = self.torrent.display().to_string();
        let bytes = torrent_file::read(&env.resolve(&self.torrent));
        let bytes = bytes.with_context(|| shown.clone())?;
        let torrent = Torrent::parse(bytes).with_context(|| shown.clone())?;
        let edit = self.edit();
        if edit == hashlane_metainfo::Edit::default() {
            bail!("{shown}: nothing to change; `hashlane edit --help` shows what can be");
        }
        let output = self.output.as_ref().unwrap_or(&self.torrent);
        let overwrite = match self.output {
            Some(_) => self.force.overwrite(),
            None => Overwrite::Yes,
        };
        let place = env.resolve(output);
        new_file::check(&place, overwrite).with_context(|| output.display().to_string())?;

        let edited = edit.apply(&torrent).with_context(|| shown.clone())?;
        let after = edited.info_hashes();
        if after != torrent.info_hashes() {
            let change = change(torrent.info_hashes(), after);
            if !self.yes && !agrees(env, &change)? {
                bail!("{shown}: not changed");
            }
            writeln!(env.stdout, "{change}")?;
        }
        new_file::write(&place, edited.bytes(), overwrite)
            .with_context(|| output.display().to_string())?;
        Ok(Exit::Good)
    }

    fn edit(&self) -> hashlane_metainfo::Edit {
        let text = |text: &String| (!text.is_empty()).then(|| text.clone());
        hashlane_metainfo::Edit {
            trackers: urls(self.no_trackers, &self.trackers.tiers),
            web_seeds: urls(self.no_web_seeds, &self.web_seeds),
            comment: self.comment.as_ref().map(text),
            source: self.source.as_ref().map(text),
            is_private: self.private.map(|answer| answer == YesNo::Yes),
        }
    }
}

/// URLs come behind those that are there, unless these are to be removed.
fn urls<T: Clone>(remove: bool, urls: &[T]) -> Option<UrlEdit<T>> {
    if remove {
        Some(UrlEdit::Set(urls.to_vec()))
    } else {
        (!urls.is_empty()).then(|| UrlEdit::Add(urls.to_vec()))
    }
}

/// What becomes of the info-hashes, in words.
fn change(before: InfoHashes, after: InfoHashes) -> String {
    let line = |before: Option<String>, after: Option<String>| {
        Some(format!("info-hash  {} becomes {}", before?, after?))
    };
    let v1 = |hashes: InfoHashes| hashes.v1().map(|hash| hash.to_string());
    let v2 = |hashes: InfoHashes| hashes.v2().map(|hash| hash.to_string());
    let lines = [line(v1(before), v1(after)), line(v2(before), v2(after))];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Asks whether the torrent may become another one.
fn agrees(env: &mut Env, change: &str) -> anyhow::Result<bool> {
    if !env.can_ask {
        bail!("this makes another torrent, and nobody is there to ask: use --yes\n{change}");
    }
    let question = format!("This makes another torrent, with peers of its own:\n{change}");
    Ok(env.agrees(&question)?)
}
