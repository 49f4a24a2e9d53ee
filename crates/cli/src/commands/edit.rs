//! `hashlane edit`: changes metadata outside the info dictionary, and two fields inside.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use hashlane_metainfo::{InfoHashes, UrlEdit};
use serde::Serialize;

use crate::new_file::{self, Overwrite};
use crate::options::{Force, Json, Trackers};
use crate::output::json_lines;
use crate::{Env, Exit, torrent_file, values};

const EXIT_STATUS: &str = "\
Exit status:
  0  done
  2  an error: wrong usage, an invalid torrent, or a change that is not
     confirmed";

/// Change the trackers, comment and other metadata of a .torrent
///
/// Everything else keeps its bytes, so that the info-hash stays the same. Only `--source` and `--private` change
/// it, which creates another torrent: both ask first.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Edit {
    /// .torrent file
    #[arg(value_name = "TORRENT")]
    pub(crate) torrent: PathBuf,

    /// The .torrent to write [default: change TORRENT itself]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    force: Force,

    #[command(flatten)]
    pub(crate) trackers: Trackers,

    /// Remove all trackers before those of --announce are added
    #[arg(long)]
    pub(crate) no_trackers: bool,

    /// Web seed to add, a URL that serves the content (BEP 19); repeatable
    #[arg(short, long = "web-seed", value_name = "URL", value_parser = values::url)]
    pub(crate) web_seeds: Vec<String>,

    /// Remove all web seeds before those of --web-seed are added
    #[arg(long)]
    pub(crate) no_web_seeds: bool,

    /// Comment; an empty TEXT removes it
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,

    /// Source tag; an empty TEXT removes it. Changes the info-hash
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) source: Option<String>,

    /// Allow peers from the trackers only (BEP 27). Changes the info-hash
    #[arg(short, long, value_name = "YES|NO")]
    pub(crate) private: Option<YesNo>,

    /// Change the info-hash without asking
    #[arg(short, long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    form: Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    Yes,
    No,
}

/// The line of `--json`.
#[derive(Serialize)]
#[serde(tag = "type", rename = "edited")]
struct Edited {
    torrent: String,
    output: String,
    info_hash_v1: Option<String>,
    info_hash_v2: Option<String>,
    info_hash_changed: bool,
}

impl Edit {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let shown = self.torrent.display().to_string();
        let torrent = torrent_file::open(env, &self.torrent)?;
        let edit = self.edit();
        if edit == hashlane_metainfo::Edit::default() {
            bail!("{shown}: nothing to change; `hashlane edit --help` lists the options");
        }
        let output = self.output.as_ref().unwrap_or(&self.torrent);
        let overwrite = match self.output {
            Some(_) => self.force.overwrite(),
            None => Overwrite::Yes,
        };
        let place = env.resolve(output);
        new_file::check(&place, overwrite).with_context(|| output.display().to_string())?;

        let edited = edit.apply(&torrent).with_context(|| shown.clone())?;
        let change = change(torrent.info_hashes(), edited.info_hashes());
        if let Some(change) = &change
            && !self.yes
            && !is_confirmed(env, change)?
        {
            bail!("{shown}: not changed");
        }
        new_file::write(&place, edited.bytes(), overwrite)
            .with_context(|| output.display().to_string())?;
        if self.form.json {
            let hashes = edited.info_hashes();
            json_lines::print(
                env,
                &Edited {
                    torrent: shown,
                    output: output.to_string_lossy().into_owned(),
                    info_hash_v1: hashes.v1().map(|hash| hash.to_string()),
                    info_hash_v2: hashes.v2().map(|hash| hash.to_string()),
                    info_hash_changed: change.is_some(),
                },
            )?;
        } else if let Some(change) = change {
            writeln!(env.stdout, "{change}")?;
        }
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

/// Returns the change to a list of URLs: they are added, or replace all others.
fn urls<T: Clone>(remove: bool, urls: &[T]) -> Option<UrlEdit<T>> {
    if remove {
        Some(UrlEdit::Set(urls.to_vec()))
    } else {
        (!urls.is_empty()).then(|| UrlEdit::Add(urls.to_vec()))
    }
}

/// Describes the change of the info-hashes, if there is one.
fn change(before: InfoHashes, after: InfoHashes) -> Option<String> {
    if before == after {
        return None;
    }
    let line = |before: Option<String>, after: Option<String>| {
        Some(format!("info-hash  {} becomes {}", before?, after?))
    };
    let v1 = |hashes: InfoHashes| hashes.v1().map(|hash| hash.to_string());
    let v2 = |hashes: InfoHashes| hashes.v2().map(|hash| hash.to_string());
    let lines = [line(v1(before), v1(after)), line(v2(before), v2(after))];
    Some(lines.into_iter().flatten().collect::<Vec<_>>().join("\n"))
}

/// Asks whether to create another torrent.
fn is_confirmed(env: &mut Env, change: &str) -> anyhow::Result<bool> {
    if !env.can_ask {
        let change = change.replace('\n', "; ");
        bail!(
            "--yes is needed: this creates another torrent, and there is no terminal to ask: {change}"
        );
    }
    let question = format!("This creates another torrent, with peers of its own:\n{change}");
    Ok(env.agrees(&question)?)
}
