//! `hashlane find`: finds the content of torrents among files with other names.

mod human;
mod json;
mod searched;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use hashlane_find::{Candidates, Findings, FoundTorrent, Progress, find};
use hashlane_metainfo::Torrent;
use hashlane_verify::{Report, Verification};

use crate::options::{Hashing, Output};
use crate::output::progress::ProgressLine;
use crate::{Env, Exit, torrent_file};

use searched::{Folders, Linked, Searched};

const EXIT_STATUS: &str = "\
Exit status:
  0  every file of every torrent was found; with --full, and is right
  1  the search is complete, and a file was not found, or is damaged
  2  the search is not complete: wrong usage, an invalid torrent, a folder
     that cannot be read, a link that cannot be made, or Ctrl-C";

/// Find the content of torrents among files with other names
///
/// Files below the folders of --in are compared by their lengths, and then by as few bytes as decide: one piece for each
/// file, and for small files the pieces that they share with others. Names do not matter, but among copies the one with the
/// torrent's names is used. Nothing is changed.
///
/// A right piece identifies a file, and does not prove that the rest of it is right: --full verifies all bytes of what was
/// found. A file that no complete piece covers is not guessed.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Find {
    /// .torrent files, or folders that contain some; `-` for standard input
    #[arg(value_name = "TORRENT", required = true)]
    torrents: Vec<PathBuf>,

    /// Folder to search, with all folders below it; repeatable
    #[arg(
        long = "in",
        value_name = "DIR",
        required = true,
        help_heading = "Content"
    )]
    folders: Vec<PathBuf>,

    /// Verify all bytes of what was found
    #[arg(long, help_heading = "Content")]
    full: bool,

    /// Make the names that the torrents want below --to, as links of this kind to the files that were found
    #[cfg(unix)]
    #[arg(long, value_name = "KIND", requires = "to", help_heading = "Links")]
    link: Option<Kind>,

    /// Folder for --link. No file in it is changed or replaced
    #[cfg(unix)]
    #[arg(long, value_name = "DIR", requires = "link", help_heading = "Links")]
    to: Option<PathBuf>,

    #[command(flatten)]
    hashing: Hashing,

    #[command(flatten)]
    output: Output,

    /// List every file
    #[arg(short, long, alias = "all", conflicts_with_all = ["json", "quiet"], help_heading = "Output")]
    verbose: bool,
}

#[cfg(unix)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Symbolic links
    Symlink,
    /// Second names of the files, on the same file system
    Hardlink,
    /// Files of their own that share their bytes on the disk (Btrfs, XFS)
    Reflink,
}

impl Find {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        torrent_file::check_inputs(&self.torrents)?;
        let folders = self.folders(env)?;
        let mut exit = Exit::Good;
        let mut torrents = Vec::new();
        for torrent in torrent_file::in_folders(env, &self.torrents) {
            let read = torrent.and_then(|path| match torrent_file::open(env, &path) {
                Ok(torrent) => Ok((path, torrent)),
                Err(error) => Err((path, error)),
            });
            match read {
                Ok(torrent) => torrents.push(torrent),
                Err((path, error)) => exit = self.print_error(env, &path, &format!("{error:#}"))?,
            }
        }
        env.catch_interrupts();
        let candidates = self.collect(env, &torrents, &folders);
        for (path, error) in candidates.errors() {
            let path = folders.shown(path);
            exit = self.print_error(env, &path, &format!("{}: {error}", path.display()))?;
        }
        let findings = self.search(env, &torrents, &candidates)?;
        for (candidate, error) in &findings.unreadable {
            let path = folders.shown(candidates.path(*candidate));
            exit = self.print_error(env, &path, &format!("{}: {error}", path.display()))?;
        }
        let mut n_good = 0;
        for ((path, torrent), found) in torrents.iter().zip(&findings.torrents) {
            let report = if self.full && !env.cancel.is_cancelled() {
                Some(self.verify(env, torrent, found, &candidates)?)
            } else {
                None
            };
            if env.cancel.is_cancelled() {
                env.error("interrupted");
                return Ok(Exit::NotChecked);
            }
            let linked = self.link(env, torrent, found, &candidates, &folders)?;
            let searched = Searched {
                path,
                torrent,
                found,
                report,
                linked,
            };
            if self.output.is_json() {
                json::print(env, &searched, &candidates)?;
            } else if !self.output.quiet {
                human::print(env, &searched, &candidates, &folders, self.verbose)?;
            }
            for failure in searched.linked.iter().flat_map(|linked| &linked.failures) {
                env.error(failure);
            }
            n_good += u64::from(searched.exit() == Exit::Good);
            exit = exit.max(searched.exit());
        }
        if self.output.is_json() {
            json::print_summary(env, &candidates, &findings)?;
        } else if !self.output.quiet {
            human::print_total(env, n_good, &candidates, &findings)?;
        }
        Ok(exit)
    }

    /// Reports an input or a folder that cannot be read.
    fn print_error(&self, env: &mut Env, path: &Path, message: &str) -> anyhow::Result<Exit> {
        if self.output.is_json() {
            json::print_error(env, path, message)?;
        }
        env.error(message);
        Ok(Exit::NotChecked)
    }

    fn search(
        &self,
        env: &Env,
        torrents: &[(PathBuf, Torrent)],
        candidates: &Candidates,
    ) -> anyhow::Result<Findings> {
        let options = self.hashing.options();
        let mut line = self.output.progress(env, "compare".to_owned());
        let mut progress = |progress: Progress| {
            if let Some(line) = &mut line {
                line.update(progress.hashed_bytes, progress.total_bytes);
            }
        };
        let all: Vec<&Torrent> = torrents.iter().map(|(_, torrent)| torrent).collect();
        let findings = find(&all, candidates, &options, &env.cancel, &mut progress);
        if let Some(line) = line {
            line.clear();
        }
        Ok(findings?)
    }

    /// Returns the folders to search.
    fn folders(&self, env: &Env) -> anyhow::Result<Folders> {
        let mut folders = Folders {
            given: Vec::new(),
            absolute: Vec::new(),
        };
        for given in &self.folders {
            let absolute = env.resolve(given);
            let metadata = absolute
                .metadata()
                .with_context(|| given.display().to_string())?;
            anyhow::ensure!(metadata.is_dir(), "{}: is no folder", given.display());
            folders.given.push(given.clone());
            folders.absolute.push(absolute);
        }
        Ok(folders)
    }

    fn collect(&self, env: &Env, torrents: &[(PathBuf, Torrent)], folders: &Folders) -> Candidates {
        let mut line =
            (env.progress && !self.output.quiet).then(|| ProgressLine::of_items("files"));
        let torrents = torrents.iter().map(|(_, torrent)| torrent);
        let candidates = Candidates::collect(torrents, &folders.absolute, &env.cancel, |n_files| {
            if let Some(line) = &mut line {
                // The number of all files is not known.
                line.update(n_files, 0);
            }
        });
        if let Some(line) = line {
            line.clear();
        }
        candidates
    }

    /// Verifies all bytes of a torrent where its files were found.
    fn verify(
        &self,
        env: &mut Env,
        torrent: &Torrent,
        found: &FoundTorrent,
        candidates: &Candidates,
    ) -> anyhow::Result<Report> {
        let mut line = self.output.progress(env, torrent.name().to_string());
        let files = found.as_files(candidates);
        let verification = Verification::of(torrent, &files);
        let verification = verification
            .options(self.hashing.options())
            .cancel(&env.cancel);
        let report = verification.run(|progress| {
            if let Some(line) = &mut line {
                line.update(progress.hashed_bytes, progress.total_bytes);
            }
        });
        if let Some(line) = line {
            line.clear();
        }
        Ok(report?)
    }

    /// Makes the links, if they are wanted.
    #[cfg(unix)]
    fn link(
        &self,
        env: &Env,
        torrent: &Torrent,
        found: &FoundTorrent,
        candidates: &Candidates,
        folders: &Folders,
    ) -> anyhow::Result<Option<Linked>> {
        use hashlane_find::{LinkKind, link};
        let (Some(kind), Some(to)) = (self.link, &self.to) else {
            return Ok(None);
        };
        let kind = match kind {
            Kind::Symlink => LinkKind::Symlink,
            Kind::Hardlink => LinkKind::Hardlink,
            Kind::Reflink => LinkKind::Reflink,
        };
        let linked = link(torrent, found, candidates, &env.resolve(to), kind);
        let linked = linked.with_context(|| to.display().to_string())?;
        let mut counts = Linked {
            folder: to.clone(),
            ..Linked::default()
        };
        for file in linked {
            match file.result {
                Ok(true) => counts.n_made += 1,
                Ok(false) => counts.n_there += 1,
                Err(error) => {
                    let path = folders.shown(&file.path);
                    counts
                        .failures
                        .push(format!("{}: not linked: {error}", path.display()));
                }
            }
        }
        Ok(Some(counts))
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Unix")]
    fn link(
        &self,
        _: &Env,
        _: &Torrent,
        _: &FoundTorrent,
        _: &Candidates,
        _: &Folders,
    ) -> anyhow::Result<Option<Linked>> {
        Ok(None)
    }
}
