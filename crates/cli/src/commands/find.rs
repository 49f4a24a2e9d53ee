//! `hashlane find`: finds the content of torrents among files with other names, and files with equal bytes.

mod arguments;
mod duplicates;
mod human;
mod json;
mod searched;

pub(crate) use arguments::Find;

use std::path::{Path, PathBuf};

#[cfg(unix)]
use anyhow::Context as _;
use hashlane_find::{Candidates, Findings, FoundTorrent, Progress, find};
use hashlane_metainfo::Torrent;
use hashlane_verify::{Report, Verification};

use crate::output::progress::ProgressLine;
use crate::{Env, Exit, torrent_file};

#[cfg(unix)]
use arguments::Kind;
use searched::{Folders, Linked, Searched};

impl Find {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        if !self.duplicates.is_empty() {
            return duplicates::run(&self, env);
        }
        torrent_file::check_inputs(&self.torrents)?;
        let folders = Folders::open(env, &self.folders)?;
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
