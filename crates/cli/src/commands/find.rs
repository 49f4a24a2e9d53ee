//! `hashlane find`: finds the content of torrents among files with other names, and files with equal bytes.

mod arguments;
mod duplicates;
mod human;
mod json;
mod searched;
#[cfg(unix)]
mod table;

pub(crate) use arguments::Find;

#[cfg(feature = "schema")]
pub(crate) use json::schema;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use hashlane_find::{Candidates, Findings, FoundTorrent, Progress, assemble, find};
use hashlane_metainfo::{ContentMap, Torrent};
use hashlane_verify::{FileIndex, Report, Verification};

use crate::output::progress::ProgressLine;
use crate::{Env, Exit, new_file, torrent_file};

#[cfg(unix)]
use arguments::Kind;
use searched::{Folders, Linked, MergedFile, Searched};

impl Find {
    #[cfg_attr(
        unix,
        expect(clippy::too_many_lines, reason = "the steps of a search in order")
    )]
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        if !self.duplicates.is_empty() {
            return duplicates::run(&self, env);
        }
        self.check(env)?;
        let mut exit = Exit::Good;
        let (folders, refused) = Folders::open(env, &self.folders);
        for (path, problem) in refused {
            exit = self.print_error(env, &path, &format!("{}: {problem}", path.display()))?;
        }
        if folders.given.is_empty() {
            return Ok(exit);
        }
        let torrents = self.open(env, &mut exit)?;
        #[cfg(unix)]
        let table = self.table(env)?;
        env.catch_interrupts();
        let mut candidates = self.collect(env, &torrents, &folders);
        for (path, error) in candidates.errors() {
            let path = folders.shown(path);
            exit = self.print_error(env, &path, &format!("{}: {error}", path.display()))?;
        }
        #[cfg(unix)]
        if let Some(table) = table {
            exit = exit.max(self.update(env, table, &mut candidates, &folders)?);
        }
        let mut findings = self.search(env, &torrents, &candidates)?;
        for (candidate, error) in &findings.unreadable {
            let path = folders.shown(candidates.path(*candidate));
            exit = self.print_error(env, &path, &format!("{}: {error}", path.display()))?;
        }
        let mut n_good = 0;
        for ((path, torrent), found) in torrents.iter().zip(&mut findings.torrents) {
            let (mut report, mut merged) = (None, Vec::new());
            if (self.full || self.merge) && !env.cancel.is_cancelled() {
                report = Some(self.verify(env, torrent, found, &candidates)?);
                merged = self.repair(env, torrent, found, &mut candidates, &mut report)?;
            }
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
                merged,
                linked,
                accepted: self.missing,
            };
            if self.output.is_json() {
                json::print(env, &searched, &candidates)?;
            } else if !self.output.quiet {
                human::print(env, &searched, &candidates, &folders, self.verbose)?;
            }
            for failure in searched.failures().collect::<Vec<_>>() {
                exit = self.print_error(env, path, &failure)?;
            }
            n_good += u64::from(searched.exit() == Exit::Good);
            exit = exit.max(searched.exit());
        }
        if let Some(map) = &self.save {
            let found = torrents.iter().map(|(_, torrent)| torrent);
            let found = found.zip(&findings.torrents);
            exit = exit.max(self.save(env, map, found, &candidates, &folders)?);
        }
        if self.output.is_json() {
            json::print_summary(env, &candidates, &findings)?;
        } else if !self.output.quiet {
            human::print_total(env, n_good, &candidates, &findings)?;
        }
        Ok(exit)
    }

    /// Refuses arguments before anything is read.
    fn check(&self, env: &Env) -> anyhow::Result<()> {
        torrent_file::check_inputs(&self.torrents)?;
        if self.to.is_some() && !self.merge && !self.makes_links() {
            bail!("--to needs --link or --merge");
        }
        if let Some(map) = &self.save {
            new_file::check(&env.resolve(map), self.force.overwrite())
                .with_context(|| map.display().to_string())?;
        }
        Ok(())
    }

    /// Reads the torrents. Reports those that cannot be read.
    fn open(&self, env: &mut Env, exit: &mut Exit) -> anyhow::Result<Vec<(PathBuf, Torrent)>> {
        let mut paths = Vec::new();
        for path in torrent_file::in_folders(env, &self.torrents) {
            match path {
                Ok(path) => paths.push(path),
                Err((path, error)) => {
                    *exit = self.print_error(env, &path, &format!("{error:#}"))?;
                }
            }
        }
        let mut torrents = Vec::new();
        let opened = torrent_file::open_all(env, &paths);
        for (path, torrent) in paths.into_iter().zip(opened) {
            match torrent {
                Ok(torrent) => torrents.push((path, torrent)),
                Err(error) => *exit = self.print_error(env, &path, &format!("{error:#}"))?,
            }
        }
        Ok(torrents)
    }

    /// Reports an input or a folder that cannot be read.
    fn print_error(&self, env: &mut Env, path: &Path, message: &str) -> anyhow::Result<Exit> {
        if self.output.is_json() {
            json::print_error(env, path, message)?;
        }
        env.error(message);
        Ok(Exit::NotChecked)
    }

    /// Writes where the files of the torrents were found.
    fn save<'t>(
        &self,
        env: &mut Env,
        path: &Path,
        found: impl Iterator<Item = (&'t Torrent, &'t FoundTorrent)>,
        candidates: &Candidates,
        folders: &Folders,
    ) -> anyhow::Result<Exit> {
        let mut map = ContentMap::default();
        let place = new_file::place_of(&env.resolve(path)).ok();
        for (torrent, found) in found {
            match found.places(candidates) {
                Ok(places) => {
                    let mut taken = places.iter().filter_map(|(_, place)| place.path());
                    if taken.any(|taken| Some(taken) == place.as_deref()) {
                        let text = "refusing to overwrite a file that was found";
                        let message = format!("{}: {text}", path.display());
                        return self.print_error(env, path, &message);
                    }
                    map.insert(torrent, places);
                }
                Err((vanished, error)) => {
                    let vanished = folders.shown(&vanished);
                    let message = format!(
                        "{}: not written: {}: {error}",
                        path.display(),
                        vanished.display()
                    );
                    return self.print_error(env, path, &message);
                }
            }
        }
        new_file::write(&env.resolve(path), &map.to_bytes(), self.force.overwrite())
            .with_context(|| path.display().to_string())?;
        Ok(Exit::Good)
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
        let progress = |n_files| {
            if let Some(line) = &mut line {
                // The number of all files is not known.
                line.update(n_files, 0);
            }
        };
        #[cfg(unix)]
        let collect = match self.table {
            Some(_) => Candidates::collect_all,
            None => Candidates::collect,
        };
        #[cfg(not(unix))]
        let collect = Candidates::collect;
        let candidates = collect(torrents, &folders.absolute, &env.cancel, progress);
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

    /// Tries the other candidates of damaged files, and merges several of them if that is wanted. Verifies all bytes again if
    /// a file has another place now.
    fn repair(
        &self,
        env: &mut Env,
        torrent: &Torrent,
        found: &mut FoundTorrent,
        candidates: &mut Candidates,
        report: &mut Option<Report>,
    ) -> anyhow::Result<Vec<MergedFile>> {
        let damaged: Vec<FileIndex> = report
            .iter()
            .flat_map(Report::files)
            .filter(|file| file.counts.have < file.counts.total())
            .map(|file| file.index)
            .filter(|file| found.files[file.get()].candidate().is_some())
            .collect();
        if damaged.is_empty() || env.cancel.is_cancelled() {
            return Ok(Vec::new());
        }
        let mut line = self.output.progress(env, torrent.name().to_string());
        let mut progress = |progress: Progress| {
            if let Some(line) = &mut line {
                line.update(progress.hashed_bytes, progress.total_bytes);
            }
        };
        let (options, files) = (self.hashing.options(), damaged.iter().copied());
        let assembly = assemble(
            torrent,
            found,
            files,
            candidates,
            &options,
            &env.cancel,
            &mut progress,
        );
        if let Some(line) = line {
            line.clear();
        }
        let assembly = assembly?;
        let mut has_changed = assembly.improve(found);
        let mut all = Vec::new();
        if let Some(to) = self.to.as_deref().filter(|_| self.merge) {
            for file in damaged {
                let result = assembly.merge(file, found, candidates, &env.resolve(to), &env.cancel);
                if env.cancel.is_cancelled() && result.is_err() {
                    break;
                }
                let Some(result) = result.transpose() else {
                    continue;
                };
                has_changed |= result.is_ok();
                all.push(MergedFile { file, result });
            }
        }
        if has_changed && !env.cancel.is_cancelled() {
            *report = Some(self.verify(env, torrent, found, candidates)?);
        }
        Ok(all)
    }

    /// Returns `true` if links are wanted.
    fn makes_links(&self) -> bool {
        #[cfg(unix)]
        return self.link.is_some();
        #[cfg(not(unix))]
        false
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
                    let failure = format!("{}: not linked: {error}", path.display());
                    counts.failures.push(failure);
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
