//! `hashlane verify`: checks torrents one by one and reports each.

mod around;
mod elsewhere;
mod human;
mod json;
mod outside;
mod sharing;
mod tally;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, ValueEnum};
use hashlane_metainfo::Torrent;
use hashlane_verify::{Content, FileReport, FileState, HashVersions, Progress, Report};

use crate::new_file::{self, Overwrite, place_of};
use crate::options::{ConfigFile, Force, Hashing, Output};
use crate::output::columns::wrapped;
use crate::output::text::{Escaped, Shown};
use crate::{Env, Exit, torrent_file};

use elsewhere::Elsewhere;
use human::Shape;
use outside::{Outside, Verified};
use tally::Tally;

const EXIT_STATUS: &str = "\
Exit status:
  0  all content is present and right
  1  the check is complete, and some content is missing or wrong
  2  the check is not complete: wrong usage, an invalid torrent, content that
     cannot be read, results that cannot be written, or Ctrl-C";

/// Check which pieces of torrents are on disk
///
/// Every piece is hashed and compared. The content is only read: no file is created, changed or locked, and
/// there is no state file. The state of a piece is `have`, `bad` (wrong bytes), `missing` (a file does not
/// exist or is too short) or `unreadable` (the system could not read it). If a version 2 torrent has a single
/// hash for a whole file and the file is wrong, its pieces are `unproven`.
///
/// A hybrid torrent is checked against both versions in one pass. A piece must match both.
///
/// A complete torrent takes one line. For any other torrent, the incomplete files are listed, and the end of the report
/// names the torrent again.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Verify {
    /// .torrent files, or folders that contain some; `-` for standard input
    #[arg(value_name = "TORRENT", required = true)]
    pub(crate) torrents: Vec<PathBuf>,

    /// Folder where the content lies under the torrent's name [default: the current folder]
    #[arg(short, long, value_name = "DIR", help_heading = "Content")]
    pub(crate) dir: Option<PathBuf>,

    /// The content itself under any name: a file, or the folder that holds the files
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with = "dir",
        help_heading = "Content"
    )]
    pub(crate) content: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) hashing: Hashing,

    /// Check a hybrid torrent against only one of its versions
    #[arg(long, value_name = "VERSION", help_heading = "Content")]
    pub(crate) only: Option<Only>,

    #[command(flatten)]
    output: Output,

    /// List every file, and the info-hashes and sizes of every torrent
    #[arg(short, long, alias = "all", conflicts_with_all = ["json", "quiet"], help_heading = "Output")]
    verbose: bool,

    /// List files in the folder of the content that the torrent does not have
    #[arg(long, help_heading = "Output")]
    extra: bool,

    /// Write the present pieces as bits; the first piece is the highest bit of the first byte
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) bitfield: Option<PathBuf>,

    #[command(flatten)]
    force: Force,

    #[command(flatten)]
    _config: ConfigFile,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Only {
    /// SHA-1 digests of pieces (BEP 3)
    V1,
    /// SHA-256 merkle trees of files (BEP 52)
    V2,
}

impl Verify {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        torrent_file::check_inputs(&self.torrents)?;
        let torrents = torrent_file::in_folders(env, &self.torrents);
        if torrents.len() > 1 {
            for (option, is_given) in [
                ("--content", self.content.is_some()),
                ("--bitfield", self.bitfield.is_some()),
            ] {
                if is_given {
                    bail!(
                        "{option} needs a single torrent, but {} were given",
                        torrents.len()
                    );
                }
            }
        }
        let options = self.hashing.options();
        let mut exit = Exit::Good;
        let mut tally = Tally::default();
        for torrent in torrents {
            let (path, result) = match torrent {
                Err((path, error)) => (path, Err(error)),
                Ok(path) if env.cancel.is_cancelled() => {
                    let error = anyhow!("{}: not checked: interrupted", path.display());
                    (path, Err(error))
                }
                Ok(path) => {
                    let result = self.check_torrent(env, &options, &path, &mut tally);
                    (path, result)
                }
            };
            exit = exit.max(match result {
                Ok(exit) => exit,
                Err(error) => {
                    tally.add_error(&path);
                    self.print_error(env, &path, &error)?
                }
            });
        }
        if !self.output.is_json() && !self.output.quiet {
            tally.print(env)?;
        }
        Ok(exit)
    }

    /// Verifies one torrent and reports the result.
    fn check_torrent(
        &self,
        env: &mut Env,
        options: &hashlane_verify::Options,
        path: &Path,
        tally: &mut Tally,
    ) -> anyhow::Result<Exit> {
        let torrent = torrent_file::open(env, path)?;
        let content = self.content_of(env, path, &torrent)?;
        let bitfield = self.bitfield.as_deref();
        if let Some(bitfield) = bitfield {
            let torrent_path = env.resolve(path);
            let place = env.resolve(bitfield);
            check_bitfield(&place, &torrent_path, &content, self.force.overwrite())
                .with_context(|| bitfield.display().to_string())?;
        }
        let report = self.verify(env, options, &content);
        let report = report.with_context(|| path.display().to_string())?;
        // The bitfield is written before the report, so that a failed write is never reported as success.
        let written = match bitfield {
            Some(path) if !report.is_cancelled() => {
                write_bitfield(&env.resolve(path), &report, self.force.overwrite())
                    .with_context(|| path.display().to_string())
            }
            _ => Ok(()),
        };
        let folder = self.content.is_none().then(|| self.folder(env));
        let verified = Verified {
            torrent_path: path,
            content: &content,
            report: &report,
            outside: Outside::find(&content, folder.as_deref(), &report),
            elsewhere: Elsewhere::find(&content, &report, options, &env.cancel),
        };
        self.print(env, &verified, tally)?;
        written?;
        let exit = self.exit_of(env, path, &report);
        tally.add(path, &report, human::verdict(&verified));
        Ok(exit)
    }

    /// Prints the result for one torrent.
    fn print(
        &self,
        env: &mut Env,
        verified: &Verified<'_>,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        let report = verified.report;
        if self.output.is_json() {
            return json::print(env, verified, self.extra);
        }
        if self.output.quiet {
            if !report.is_complete() && !report.is_cancelled() {
                let path = verified.torrent_path.display();
                let hint = self.beside(env, verified);
                let hint = hint.map_or(String::new(), |hint| format!("; {hint}"));
                let verdict = human::verdict_of_total(verified);
                env.error(&format!("{path}: {verdict}{hint}"));
            }
            return Ok(());
        }
        let shape = human::print(env, verified, self.verbose, tally.last)?;
        if human::lacks_all_files(report) && !verified.elsewhere.has_files() {
            let suggestion = self.beside(env, verified).map_or_else(
                || around::suggestion(verified.content, &verified.elsewhere),
                |text| Escaped(text).to_string(),
            );
            let width = env
                .width
                .map_or(usize::MAX, |width| width.saturating_sub(2));
            for line in wrapped(&suggestion, width) {
                writeln!(env.stdout, "  {line}")?;
            }
        }
        if self.extra {
            around::for_each_extra(verified.content, |file| {
                Ok(writeln!(env.stdout, "  extra  {}", Shown(file))?)
            })?;
        }
        if shape == Shape::Block {
            writeln!(env.stdout)?;
        }
        tally.last = shape;
        Ok(())
    }

    /// Returns the option that checks the content beside the .torrent, if nothing was found and the content is there.
    fn beside(&self, env: &Env, verified: &Verified<'_>) -> Option<String> {
        let has_place = self.dir.is_some() || self.content.is_some();
        if has_place || !human::lacks_all_files(verified.report) {
            return None;
        }
        torrent_file::content_beside(env, verified.torrent_path, verified.content.root())
    }

    fn exit_of(&self, env: &mut Env, path: &Path, report: &Report) -> Exit {
        if report.is_cancelled() {
            let consequence = match self.bitfield {
                Some(_) => ", no bitfield is written",
                None => "",
            };
            env.error(&format!("{}: interrupted{consequence}", path.display()));
            return Exit::NotChecked;
        }
        let is_unreadable = |file: &FileReport| file.state == FileState::Unreadable;
        if report.is_complete() {
            Exit::Good
        } else if report.counts().unreadable > 0 || report.files().iter().any(is_unreadable) {
            Exit::NotChecked
        } else {
            Exit::Bad
        }
    }

    /// Reports why the check of a torrent failed.
    fn print_error(
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

    /// Returns the place of the content.
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
        Content::in_folder(torrent, self.folder(env))
            .with_context(|| torrent_path.display().to_string())
    }

    /// Returns the folder of content that has the torrent's name.
    fn folder(&self, env: &Env) -> PathBuf {
        env.resolve(self.dir.as_deref().unwrap_or(Path::new("")))
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
        let mut progress = |progress: &Progress| {
            if let Some(line) = &mut line {
                line.update(progress.hashed_bytes, progress.total_bytes);
            }
        };
        let versions = HashVersions {
            v1: self.only != Some(Only::V2),
            v2: self.only != Some(Only::V1),
        };
        let report =
            hashlane_verify::verify(content, versions, options, &env.cancel, &mut progress);
        if let Some(line) = line {
            line.clear();
        }
        Ok(report?)
    }
}

/// Refuses early every path that [`write_bitfield()`] would refuse after the verification, and every path that is part of the
/// content.
fn check_bitfield(
    path: &Path,
    torrent: &Path,
    content: &Content,
    overwrite: Overwrite,
) -> anyhow::Result<()> {
    let place = place_of(path)?;
    let is_torrent = place_of(torrent).is_ok_and(|torrent| torrent == place);
    let root = place_of(content.root());
    if is_torrent || root.is_ok_and(|root| place.starts_with(root)) {
        bail!("refusing to overwrite a file that belongs to the torrent or its content");
    }
    new_file::check(path, overwrite)
}

/// Writes the bitfield of the present pieces.
fn write_bitfield(path: &Path, report: &Report, overwrite: Overwrite) -> anyhow::Result<()> {
    new_file::write(path, &report.bitfield(), overwrite)
}
