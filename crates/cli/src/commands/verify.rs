//! `hashlane verify`: checks torrents in one run and reports each.

mod around;
mod human;
mod json;
mod outside;
mod page;
mod sharing;
mod tally;
mod window;

#[cfg(feature = "schema")]
pub(crate) use json::schema;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use hashlane_find::Surroundings;
use hashlane_metainfo::{ContentMap, Torrent};
use hashlane_verify::{
    Content, FileReport, FileState, HashVersions, Library, LibraryEvent, Report, files_of,
};

use crate::new_file::{self, Overwrite, place_of};
use crate::options::{ConfigFile, Force, Hashing, Output};
use crate::output::columns::wrapped;
use crate::output::progress::suspended;
use crate::output::text::{Escaped, Shown, count, silent};
use crate::{Env, Exit, content_map, torrent_file};

use human::{Row, Shape};
use outside::{Outside, Verified};
use page::Page;
use tally::Tally;
use window::{Interrupted, Total, Window, Windows};

const EXIT_STATUS: &str = "\
Exit status:
  0  all content is present and right
  1  the check is complete, and some content is missing or wrong
  2  the check is not complete: wrong usage, an invalid torrent, content that
     cannot be read, results that cannot be written, or Ctrl-C";

/// The line after the totals if the search for missing content has reached its limit.
const LEFT_OUT: &str = "\
not all missing content was searched for under other names: `hashlane find` does";

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
/// names the torrent again. If a folder of torrents is given, each torrent takes one line.
///
/// All torrents are checked in one run, and reported in their order. A file that several torrents have is read once.
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

    /// Content map of `find --save`: where single files lie. The other files lie in --dir under the torrent's name
    #[arg(
        long,
        value_name = "MAP",
        conflicts_with = "content",
        help_heading = "Content"
    )]
    content_map: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) hashing: Hashing,

    /// Check a hybrid torrent against only one of its versions
    #[arg(long, value_name = "VERSION", help_heading = "Content")]
    pub(crate) only: Option<Only>,

    #[command(flatten)]
    output: Output,

    /// Report only torrents that are incomplete or cannot be checked
    #[arg(long, help_heading = "Output")]
    failed_only: bool,

    /// List every file, and the info-hashes and sizes of every torrent
    #[arg(short, long, conflicts_with_all = ["json", "quiet"], help_heading = "Output")]
    verbose: bool,

    /// List files in the folder of the content that the torrent does not have
    #[arg(long, help_heading = "Output")]
    extra: bool,

    /// Write a page of HTML with a table of the torrents and a map of the damage of each
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,

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
        let is_table = !self.verbose && self.torrents.iter().any(|it| is_folder(env, it));
        let torrents = torrent_file::in_folders(env, &self.torrents);
        if torrents.len() > 1 {
            for (option, is_given, remedy) in [
                (
                    "--content",
                    self.content.is_some(),
                    ": -d names the folder that has the content of all",
                ),
                ("--bitfield", self.bitfield.is_some(), ""),
            ] {
                if is_given {
                    bail!(
                        "{option} needs a single torrent, but {} were given{remedy}",
                        torrents.len()
                    );
                }
            }
        }
        let n_torrents = torrents.len();
        let page = self.report.as_ref().map(|report| {
            let place = env.resolve(report);
            Page::new(report.clone(), place, self.force.overwrite())
        });
        let mut checked = Checked {
            exit: Exit::Good,
            tally: Tally::default(),
            page: page.transpose()?,
            is_table,
            n_torrents,
            surroundings: Surroundings::default(),
        };
        checked.tally.lists_failures = is_table && self.failed_only;
        let map = self.content_map.as_deref();
        let map = map.map(|path| content_map::read(env, path)).transpose()?;
        let mut windows = Windows::new(torrents);
        let mut total = Total::default();
        let is_shown = env.progress && !self.output.quiet;
        while let Some(window) = windows.next(env, |env, path| self.open(env, path, map.as_deref()))
        {
            for (item, content) in window.checked() {
                if let Some(page) = &checked.page {
                    check_place(page.place(), &env.resolve(&item.path), content)
                        .with_context(|| page.given().display().to_string())?;
                }
            }
            total.add(env, &window, &windows, is_shown);
            self.check(env, &window, &mut total, &mut checked)?;
        }
        checked.tally.elapsed = total.elapsed;
        if checked.tally.n_interrupted > 0 {
            let torrents = count(checked.tally.n_interrupted, "torrent");
            env.error(&format!("{torrents} not checked: interrupted"));
        }
        self.print_totals(env, &checked)?;
        if let Some(page) = checked.page
            && let Err(error) = page.write(&checked.tally)
        {
            env.error(&format!("{error:#}"));
            checked.exit = Exit::NotChecked;
        }
        Ok(checked.exit)
    }

    /// Prints the totals of all torrents.
    fn print_totals(&self, env: &mut Env, checked: &Checked) -> anyhow::Result<()> {
        if self.output.is_json() {
            if checked.n_torrents > 1 {
                json::print_total(env, &checked.tally)?;
            }
            return Ok(());
        }
        if self.output.quiet {
            return Ok(());
        }
        checked.tally.print(env)?;
        if checked.surroundings.budget().is_exhausted() {
            writeln!(env.stdout, "{LEFT_OUT}")?;
        }
        Ok(())
    }

    /// Reads a torrent, and finds the place of its content.
    fn open(
        &self,
        env: &mut Env,
        path: &Path,
        map: Option<&ContentMap>,
    ) -> anyhow::Result<Content> {
        let torrent = torrent_file::open(env, path)?;
        let content = self.content_of(env, path, &torrent, map)?;
        if let Some(bitfield) = &self.bitfield {
            let (torrent, place) = (env.resolve(path), env.resolve(bitfield));
            check_bitfield(&place, &torrent, &content, self.force.overwrite())
                .with_context(|| bitfield.display().to_string())?;
        }
        Ok(content)
    }

    /// Verifies the torrents of a window in one run, and reports each.
    fn check(
        &self,
        env: &mut Env,
        window: &Window,
        total: &mut Total,
        checked: &mut Checked,
    ) -> anyhow::Result<()> {
        env.catch_interrupts();
        let name = match &window.contents[..] {
            [content] if checked.n_torrents == 1 => content.torrent().name().to_string(),
            _ => count(checked.n_torrents as u64, "torrent"),
        };
        let mut line = self.output.progress(env, name);
        let options = self.hashing.options();
        let versions = HashVersions {
            v1: self.only != Some(Only::V2),
            v2: self.only != Some(Only::V1),
        };
        let cancel = env.cancel.child();
        let library = Library::new(&window.contents).versions(versions);
        let mut items = window.items.iter();
        let mut printed = Ok(());
        let started = Instant::now();
        let result = library.options(options).cancel(&cancel).run(|event| {
            let (torrent, result) = match event {
                LibraryEvent::Progress { hashed_bytes, .. } => {
                    if let Some(line) = &mut line {
                        line.update(total.done_bytes + hashed_bytes, total.bytes);
                    }
                    return;
                }
                LibraryEvent::Silent { path } => {
                    let warning = silent(&path);
                    suspended(line.as_ref(), || env.error(&warning));
                    return;
                }
                LibraryEvent::Verified { torrent, result } => (torrent, result),
                _ => return,
            };
            if printed.is_err() {
                return;
            }
            printed = suspended(line.as_ref(), || {
                // Torrents that could not be read are reported in their places.
                for item in items.by_ref() {
                    match &item.content {
                        Err(error) => self.report_error(env, &item.path, error, checked)?,
                        Ok(content) => {
                            debug_assert_eq!(*content, torrent, "in the order of the contents");
                            let content = &window.contents[torrent];
                            return self.report(env, &item.path, content, result, checked);
                        }
                    }
                }
                Ok(())
            });
            if printed.is_err() {
                cancel.cancel();
            }
        });
        total.elapsed += started.elapsed();
        total.done_bytes += window.total_bytes();
        if let Some(line) = line {
            line.clear();
        }
        printed?;
        result?;
        for item in items {
            if let Err(error) = &item.content {
                self.report_error(env, &item.path, error, checked)?;
            }
        }
        Ok(())
    }

    /// Reports a torrent whose verification has ended.
    fn report(
        &self,
        env: &mut Env,
        path: &Path,
        content: &Content,
        result: Result<Report, hashlane_verify::Error>,
        checked: &mut Checked,
    ) -> anyhow::Result<()> {
        let report = match result {
            Ok(report)
                if report.is_cancelled()
                    && report.checked_bytes() == 0
                    && checked.n_torrents > 1 =>
            {
                let error = Interrupted::of(path);
                return self.report_error(env, path, &error, checked);
            }
            Ok(report) => report,
            Err(error) => {
                let error = anyhow::Error::from(error).context(path.display().to_string());
                return self.report_error(env, path, &error, checked);
            }
        };
        // The bitfield is written before the report, so that a failed write is never reported as success.
        let written = match self.bitfield.as_deref() {
            Some(bitfield) if !report.is_cancelled() => {
                write_bitfield(&env.resolve(bitfield), &report, self.force.overwrite())
                    .with_context(|| bitfield.display().to_string())
            }
            _ => Ok(()),
        };
        let folder = self.content.is_none().then(|| self.folder(env));
        let missing = report.files().iter();
        let missing = missing.filter(|file| file.state == FileState::Missing);
        let missing = missing.map(|file| file.index);
        let options = self.hashing.options();
        let surroundings = &mut checked.surroundings;
        let elsewhere = surroundings.find(content, missing, &options, &env.cancel);
        let verified = Verified {
            torrent_path: path,
            content,
            report: &report,
            outside: Outside::find(content, folder.as_deref(), &report),
            elsewhere,
        };
        if !(self.failed_only && report.is_complete()) {
            self.print(env, &verified, checked)?;
        }
        if let Err(error) = written {
            return self.report_error(env, path, &error, checked);
        }
        checked.exit = checked.exit.max(self.exit_of(env, path, &report));
        checked.tally.add(&verified);
        if let Some(page) = &mut checked.page {
            page.add(&verified);
        }
        Ok(())
    }

    /// Prints the result for one torrent.
    fn print(
        &self,
        env: &mut Env,
        verified: &Verified<'_>,
        checked: &mut Checked,
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
        let shape = if checked.is_table {
            Row::of(verified).print(env, report.is_complete())?;
            human::print_elsewhere(env, verified)?;
            Shape::Line
        } else {
            human::print(env, verified, self.verbose, checked.tally.last)?
        };
        if !checked.is_table && human::lacks_all_files(report) && !verified.elsewhere.has_files() {
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
        checked.tally.last = shape;
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
    fn report_error(
        &self,
        env: &mut Env,
        path: &Path,
        error: &anyhow::Error,
        checked: &mut Checked,
    ) -> anyhow::Result<()> {
        if self.output.is_json() {
            json::print_error(env, path, error)?;
        }
        checked.exit = checked.exit.max(Exit::NotChecked);
        if checked.n_torrents > 1 && error.is::<Interrupted>() {
            checked.tally.add_interrupted();
            return Ok(());
        }
        env.error(&format!("{error:#}"));
        let row = Row::not_checked(path);
        let is_row = checked.is_table && checked.n_torrents > 1;
        if is_row && !self.output.is_json() && !self.output.quiet {
            checked.tally.last = Shape::Line;
            row.print(env, false)?;
        }
        checked.tally.add_error(row);
        if let Some(page) = &mut checked.page {
            page.add_error(path, error);
        }
        Ok(())
    }

    /// Returns the place of the content.
    fn content_of(
        &self,
        env: &Env,
        torrent_path: &Path,
        torrent: &Torrent,
        map: Option<&ContentMap>,
    ) -> anyhow::Result<Content> {
        if let Some(content) = &self.content {
            return Content::at(torrent, env.resolve(content))
                .with_context(|| content.display().to_string());
        }
        let content = Content::in_folder(torrent, self.folder(env))
            .with_context(|| torrent_path.display().to_string())?;
        match (map, &self.content_map) {
            (Some(map), Some(path)) => content
                .mapped(map)
                .with_context(|| format!("{}: {}", torrent_path.display(), path.display())),
            _ => Ok(content),
        }
    }

    /// Returns the folder of content that has the torrent's name.
    fn folder(&self, env: &Env) -> PathBuf {
        env.resolve(self.dir.as_deref().unwrap_or(Path::new("")))
    }
}

/// The torrents that were reported.
struct Checked {
    exit: Exit,
    tally: Tally,
    page: Option<Page>,
    /// Whether each torrent takes one row of a table.
    is_table: bool,
    /// Number of all torrents.
    n_torrents: usize,
    surroundings: Surroundings,
}

fn is_folder(env: &Env, path: &Path) -> bool {
    !torrent_file::is_stream(path) && env.resolve(path).is_dir()
}

/// Refuses early every path that [`write_bitfield()`] would refuse after the verification, and every path that is part of the
/// content.
fn check_bitfield(
    path: &Path,
    torrent: &Path,
    content: &Content,
    overwrite: Overwrite,
) -> anyhow::Result<()> {
    check_place(path, torrent, content)?;
    new_file::check(path, overwrite)
}

/// Refuses a path of an output file that is the torrent or part of its content.
fn check_place(path: &Path, torrent: &Path, content: &Content) -> anyhow::Result<()> {
    let place = place_of(path)?;
    let is_torrent = place_of(torrent).is_ok_and(|torrent| torrent == place);
    let root = place_of(content.root());
    let mut files = files_of(content.torrent()).map(|(index, _)| index);
    let is_mapped = files.any(|file| {
        let path = content.path_of(file).ok();
        let path = path.filter(|_| content.is_mapped(file));
        path.is_some_and(|path| place_of(&path).is_ok_and(|path| path == place))
    });
    if is_torrent || is_mapped || root.is_ok_and(|root| place.starts_with(root)) {
        bail!("refusing to overwrite a file that belongs to the torrent or its content");
    }
    Ok(())
}

/// Writes the bitfield of the present pieces.
fn write_bitfield(path: &Path, report: &Report, overwrite: Overwrite) -> anyhow::Result<()> {
    new_file::write(path, &report.bitfield(), overwrite)
}
