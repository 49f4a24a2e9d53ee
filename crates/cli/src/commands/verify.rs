//! `hashlane verify`: what it is told, in which order things are done, and how it ends.

mod bitfield;
mod human;
mod json;
mod verified;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, ValueEnum};
use hashlane_metainfo::Torrent;
use hashlane_verify::{Content, HashVersions, Progress, Report};

use crate::options::{Hashing, Output};
use crate::{Env, Exit, torrent_file};

use verified::Verified;

const EXIT_STATUS: &str = "\
Exit status:
  0  all is there
  1  checked, and not all is there
  2  something could not be checked: wrong usage, a torrent that cannot be read or is refused,
     or Ctrl-C";

/// Tell which pieces of torrents are on disk, from the bytes alone
///
/// Every piece is hashed and compared. The content is only ever read: no file of it is created, cut,
/// touched or locked, and there is no state file. A piece is `have`, `bad` (its bytes are there, and wrong),
/// `missing` (a file is absent, or too short there) or `unreadable` (the system could not read it).
/// Where a version 2 torrent has one hash for a whole file and the file is wrong, its pieces are `unproven`.
///
/// Of a hybrid torrent both versions are judged in one pass, and a piece is there if both say so.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Verify {
    /// The .torrent files
    #[arg(value_name = "TORRENT", required = true)]
    pub(crate) torrents: Vec<PathBuf>,

    /// The folder that holds the content under the torrent's name [default: the .torrent's folder]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,

    /// The content itself, whatever it is called: a file, or the folder that holds the files
    #[arg(long, value_name = "PATH", conflicts_with = "dir")]
    pub(crate) content: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) hashing: Hashing,

    /// Judge one kind of the hashes of a hybrid torrent instead of both
    #[arg(long, value_name = "VERSION")]
    pub(crate) only: Option<Only>,

    #[command(flatten)]
    output: Output,

    /// Write the pieces that are there as bits, the first piece highest in the first byte
    #[arg(long, value_name = "FILE")]
    pub(crate) bitfield: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Only {
    /// The SHA-1 digests of pieces (BEP 3)
    V1,
    /// The SHA-256 merkle trees of files (BEP 52)
    V2,
}

impl Verify {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        if self.torrents.len() > 1 {
            for (option, is_given) in [
                ("--content", self.content.is_some()),
                ("--bitfield", self.bitfield.is_some()),
            ] {
                if is_given {
                    bail!(
                        "{option} is of one torrent, and {} were given",
                        self.torrents.len()
                    );
                }
            }
        }
        let options = self.hashing.options()?;
        let mut exit = Exit::Good;
        for torrent_path in &self.torrents {
            if env.cancel.is_cancelled() {
                let error = anyhow!(
                    "{}: not checked, interrupted before",
                    torrent_path.display()
                );
                exit = self.could_not(env, torrent_path, &error)?;
                continue;
            }
            exit = exit.max(self.one(env, &options, torrent_path)?);
        }
        Ok(exit)
    }

    /// Verifies one torrent. An error is that of the output; what is wrong with the torrent is
    /// told here, and the next one comes.
    fn one(
        &self,
        env: &mut Env,
        options: &hashlane_verify::Options,
        path: &Path,
    ) -> anyhow::Result<Exit> {
        let bytes = torrent_file::read(&env.resolve(path));
        let bytes = bytes.with_context(|| path.display().to_string());
        let result = bytes.and_then(|bytes| {
            let torrent = Torrent::parse(bytes).with_context(|| path.display().to_string())?;
            let content = self.content_of(env, path, &torrent)?;
            let report = self.verify(env, options, &content);
            let report = report.with_context(|| path.display().to_string())?;
            let report = &report;
            let verified = Verified {
                torrent_path: path,
                content: &content,
                report,
            };
            self.tell(env, &verified)
        });
        match result {
            Err(error) => self.could_not(env, path, &error),
            result => result,
        }
    }

    /// Says why a torrent was not checked, or not all was done that should have been.
    fn could_not(
        &self,
        env: &mut Env,
        torrent_path: &Path,
        error: &anyhow::Error,
    ) -> anyhow::Result<Exit> {
        if self.output.is_json() {
            json::print_error(env, torrent_path, error)?;
        }
        env.error(&format!("{error:#}"));
        Ok(Exit::NotChecked)
    }

    /// Where the content is: what was said, or beside the .torrent file.
    fn content_of(
        &self,
        env: &Env,
        torrent_path: &Path,
        torrent: &Torrent,
    ) -> anyhow::Result<Content> {
        if let Some(content) = &self.content {
            return Content::at(torrent, env.resolve(content))
                .with_context(|| content.display().to_string());
        }
        let beside = torrent_path.parent().unwrap_or(Path::new(""));
        let folder = env.resolve(self.dir.as_deref().unwrap_or(beside));
        Content::in_folder(torrent, folder).with_context(|| torrent_path.display().to_string())
    }

    fn verify(
        &self,
        env: &mut Env,
        options: &hashlane_verify::Options,
        content: &Content,
    ) -> anyhow::Result<Report> {
        env.catch_interrupts();
        let name = content.torrent().name().to_string();
        let mut line = self.output.progress(env, name);
        let progress = |progress: &Progress| {
            if let Some(line) = &mut line {
                line.update(progress.hashed_bytes, progress.total_bytes);
            }
        };
        let versions = HashVersions {
            v1: self.only != Some(Only::V2),
            v2: self.only != Some(Only::V1),
        };
        let report = hashlane_verify::verify(content, versions, options, &env.cancel, progress);
        if let Some(line) = line {
            line.clear();
        }
        Ok(report?)
    }

    fn tell(&self, env: &mut Env, verified: &Verified<'_>) -> anyhow::Result<Exit> {
        let report = verified.report;
        // First, so that nothing is told to be well before everything is.
        let written = match &self.bitfield {
            Some(path) if !report.is_cancelled() => bitfield::write(&env.resolve(path), verified)
                .with_context(|| path.display().to_string()),
            _ => Ok(()),
        };
        if self.output.is_json() {
            json::print(env, verified)?;
        } else if !self.output.quiet {
            human::print(env, verified)?;
            if self
                .torrents
                .last()
                .is_some_and(|last| last != verified.torrent_path)
            {
                writeln!(env.stdout)?;
            }
        }
        written?;
        if report.is_cancelled() {
            let what = if self.bitfield.is_some() {
                ", no bitfield is written"
            } else {
                ""
            };
            env.error(&format!(
                "{}: interrupted{what}",
                verified.torrent_path.display()
            ));
            return Ok(Exit::NotChecked);
        }
        Ok(if report.is_complete() {
            Exit::Good
        } else {
            Exit::NotAllThere
        })
    }
}
