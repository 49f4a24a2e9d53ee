//! `hashlane find --duplicates`: files with equal bytes.

use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;

#[cfg(unix)]
use hashlane_files::remove_unfinished_link;
use hashlane_find::{DuplicateGroup, Duplicates, Progress, SameLength};
#[cfg(unix)]
use hashlane_find::{DuplicateLink, LinkedName, link_duplicates};
use hashlane_sums::bytes_of;
use serde::Serialize;

use super::arguments::Find;
#[cfg(unix)]
use super::arguments::Kind;
use super::searched::Folders;
use crate::output::json_lines::{self, PathText};
use crate::output::progress::ProgressLine;
use crate::output::text::{Grouped, Shown, count};
use crate::{Env, Exit};
use hashlane_api::Size;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Duplicates {
        length: u64,
        files: Vec<File>,
    },
    #[cfg(unix)]
    Link {
        #[serde(flatten)]
        path: PathText,
        linked: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    DuplicatesSummary {
        files_seen: u64,
        groups: usize,
        duplicates: u64,
        duplicate_bytes: u64,
        hashed_bytes: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        linked: Option<u64>,
    },
    Error {
        #[serde(flatten)]
        path: PathText,
        message: String,
    },
}

/// A file with all of its names.
#[derive(Serialize)]
struct File {
    names: Vec<PathText>,
}

/// The counts of all groups.
#[derive(Default)]
struct Totals {
    duplicates: u64,
    duplicate_bytes: u64,
    /// Number of names that became links, if links were wanted.
    linked: Option<u64>,
}

pub(super) fn run(find: &Find, env: &mut Env) -> anyhow::Result<Exit> {
    #[cfg(unix)]
    let link = find.duplicate_link()?;
    let mut exit = Exit::Good;
    let (folders, refused) = Folders::open(env, &find.duplicates);
    for (path, problem) in refused {
        exit = print_error(find, env, &path, &problem)?;
    }
    if folders.given.is_empty() {
        return Ok(exit);
    }
    env.catch_interrupts();
    let candidates = collect(find, env, &folders);
    let n_names = candidates.seen();
    for (path, error) in candidates.errors() {
        exit = print_error(find, env, &folders.shown(path), &error.to_string())?;
    }
    #[cfg(unix)]
    let unfinished = candidates.unfinished().to_vec();
    let found = search(find, env, candidates)?;
    if env.cancel.is_cancelled() {
        env.error("interrupted");
        return Ok(Exit::NotChecked);
    }
    for (path, error) in &found.unreadable {
        exit = print_error(find, env, &folders.shown(path), &error.to_string())?;
    }
    let mut totals = Totals::default();
    for group in &found.groups {
        totals.duplicates += group.files.len() as u64 - 1;
        totals.duplicate_bytes = totals.duplicate_bytes.saturating_add(group.excess_bytes());
        print_group(find, env, group, &folders)?;
        #[cfg(unix)]
        if let Some(link) = link {
            for linked in link_duplicates(group, link, &env.cancel.clone()) {
                exit = exit.max(print_link(find, env, &linked, &folders)?);
                *totals.linked.get_or_insert(0) += u64::from(linked.result.is_ok());
            }
            if env.cancel.is_cancelled() {
                env.error("interrupted");
                exit = Exit::NotChecked;
                break;
            }
        }
    }
    // Not before: a file that loses a name has changed.
    #[cfg(unix)]
    report_unfinished(env, &unfinished, &folders, link.is_some());
    print_totals(find, env, n_names, &found, &totals)?;
    Ok(exit)
}

impl Find {
    /// Returns the kind of link that replaces duplicates, if links are wanted.
    #[cfg(unix)]
    fn duplicate_link(&self) -> anyhow::Result<Option<DuplicateLink>> {
        Ok(match self.link {
            None => None,
            Some(Kind::Hardlink) => Some(DuplicateLink::Hard),
            Some(Kind::Reflink) => Some(DuplicateLink::Reflink),
            Some(Kind::Symlink) => anyhow::bail!(
                "--link symlink: a duplicate is not replaced by a symbolic link: use hardlink or reflink"
            ),
        })
    }
}

/// Names what a killed run with `--link hardlink` left. A run with `--link` removes what has another name.
#[cfg(unix)]
fn report_unfinished(env: &mut Env, unfinished: &[PathBuf], folders: &Folders, removes: bool) {
    for path in unfinished {
        let remedy = match removes.then(|| remove_unfinished_link(path)) {
            Some(Ok(true)) => continue,
            Some(Ok(false)) => {
                "it is the only name of a duplicate: delete it if you need no second copy".into()
            }
            Some(Err(error)) => error.to_string(),
            None => "with --link, it is removed if its file has another name".into(),
        };
        let path = folders.shown(path);
        let path = path.display();
        env.error(&format!(
            "{path}: left by an interrupted --link hardlink; {remedy}"
        ));
    }
}

fn collect(find: &Find, env: &Env, folders: &Folders) -> SameLength {
    let mut line = (env.progress && !find.output.quiet).then(|| ProgressLine::of_items("files"));
    let found = SameLength::collect(&folders.absolute, find.empty, &env.cancel, |n_names| {
        if let Some(line) = &mut line {
            // The number of all files is not known.
            line.update(n_names, 0);
        }
    });
    if let Some(line) = line {
        line.clear();
    }
    found
}

fn search(find: &Find, env: &Env, candidates: SameLength) -> anyhow::Result<Duplicates> {
    let mut line = find.output.progress(env, "compare".to_owned());
    let mut progress = |progress: Progress| {
        if let Some(line) = &mut line {
            line.update(progress.hashed_bytes, progress.total_bytes);
        }
    };
    let found = candidates.find(&find.hashing.options(), &env.cancel, &mut progress);
    if let Some(line) = line {
        line.clear();
    }
    Ok(found?)
}

fn path_text(folders: &Folders, path: &Path) -> PathText {
    PathText::of_bytes(&bytes_of(&folders.shown(path)))
}

fn print_error(find: &Find, env: &mut Env, path: &Path, message: &str) -> anyhow::Result<Exit> {
    if find.output.is_json() {
        let line = Line::Error {
            path: PathText::of_bytes(&bytes_of(path)),
            message: message.to_owned(),
        };
        json_lines::print(env, &line)?;
    }
    env.error(&format!("{}: {message}", path.display()));
    Ok(Exit::NotChecked)
}

fn print_group(
    find: &Find,
    env: &mut Env,
    group: &DuplicateGroup,
    folders: &Folders,
) -> anyhow::Result<()> {
    if find.output.is_json() {
        let files = group.files.iter().map(|file| {
            let names = file.names.iter().map(|name| path_text(folders, name));
            File {
                names: names.collect(),
            }
        });
        let line = Line::Duplicates {
            length: group.len_bytes,
            files: files.collect(),
        };
        return json_lines::print(env, &line);
    }
    if find.output.quiet {
        return Ok(());
    }
    let n_files = count(group.files.len() as u64, "file");
    writeln!(env.stdout, "{n_files} of {}", Size(group.len_bytes))?;
    for file in &group.files {
        let (first, others) = file.names.split_first().expect("a file has a name");
        let first = folders.shown(first);
        writeln!(env.stdout, "  {}", Shown(&first))?;
        for name in others {
            let name = folders.shown(name);
            writeln!(
                env.stdout,
                "  {}  the same file as {}",
                Shown(&name),
                Shown(&first)
            )?;
        }
    }
    Ok(())
}

/// Prints a duplicate that was linked, or could not be linked.
#[cfg(unix)]
fn print_link(
    find: &Find,
    env: &mut Env,
    linked: &LinkedName,
    folders: &Folders,
) -> anyhow::Result<Exit> {
    let message = linked.result.as_ref().err().map(ToString::to_string);
    if let Some(message) = &message {
        let path = folders.shown(&linked.path);
        env.error(&format!("{}: not linked: {message}", path.display()));
    }
    let exit = message.as_ref().map_or(Exit::Good, |_| Exit::NotChecked);
    if find.output.is_json() {
        let line = Line::Link {
            path: path_text(folders, &linked.path),
            linked: message.is_none(),
            message,
        };
        json_lines::print(env, &line)?;
    }
    Ok(exit)
}

fn print_totals(
    find: &Find,
    env: &mut Env,
    n_names: u64,
    found: &Duplicates,
    totals: &Totals,
) -> anyhow::Result<()> {
    if find.output.is_json() {
        let line = Line::DuplicatesSummary {
            files_seen: n_names,
            groups: found.groups.len(),
            duplicates: totals.duplicates,
            duplicate_bytes: totals.duplicate_bytes,
            hashed_bytes: found.hashed_bytes,
            linked: totals.linked,
        };
        return json_lines::print(env, &line);
    }
    if find.output.quiet {
        return Ok(());
    }
    let groups = count(found.groups.len() as u64, "group");
    let duplicates = count(totals.duplicates, "duplicate");
    let linked = totals.linked.map_or_else(String::new, |linked| {
        format!(", {} linked", Grouped(linked))
    });
    Ok(writeln!(
        env.stdout,
        "{} seen, {duplicates} ({}) in {groups}{linked}, {} hashed",
        count(n_names, "file"),
        Size(totals.duplicate_bytes),
        Size(found.hashed_bytes)
    )?)
}
