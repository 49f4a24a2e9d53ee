//! The result for people.

use hashlane_find::{Candidates, FileMatch, Findings, Undecided};
use hashlane_metainfo::Torrent;
use hashlane_verify::{FileIndex, Report};

use crate::Env;
use crate::output::text::{Escaped, Grouped, Palette, Shown, Size, Styled, count};

use super::searched::{Folders, Searched};

/// Prints a torrent: a line with the verdict, and the files that have other names, or were not found.
pub(super) fn print(
    env: &mut Env,
    searched: &Searched<'_>,
    candidates: &Candidates,
    folders: &Folders,
    verbose: bool,
) -> anyhow::Result<()> {
    let Searched {
        torrent,
        found,
        linked,
        ..
    } = searched;
    print_verdict(env, searched)?;
    let named = found.named(torrent, candidates);
    if let Some(content) = found.content(torrent, candidates) {
        let content = folders.shown(&content);
        writeln!(
            env.stdout,
            "  all at {0}: use --content {0}",
            Shown(&content)
        )?;
    } else if let Some((folder, files)) = &named {
        let folder = Shown(&folders.shown(folder)).to_string();
        let n_files = count(files.len() as u64, "file");
        writeln!(
            env.stdout,
            "  {n_files} with the torrent's names below {folder}"
        )?;
    }
    let has_name = |index: usize| {
        named
            .as_ref()
            .is_some_and(|(_, files)| files.binary_search(&FileIndex::new(index)).is_ok())
    };
    for (index, file) in found.files.iter().enumerate() {
        let text = match file {
            FileMatch::Identified(place) if is_damaged(searched, index) => {
                let shown = Shown(&folders.shown(candidates.path(place.candidate))).to_string();
                damage(searched, index, &shown, place.others.len())
            }
            FileMatch::Identified(_) if has_name(index) && !verbose => continue,
            FileMatch::NotSearched => continue,
            FileMatch::Empty if !verbose => continue,
            _ => described(torrent, file, candidates, folders),
        };
        writeln!(
            env.stdout,
            "  {}  {text}",
            Escaped(torrent.file(index).path())
        )?;
    }
    if let Some(linked) = linked {
        let there = if linked.n_there > 0 {
            format!(", {} already there", Grouped(linked.n_there))
        } else {
            String::new()
        };
        let made = count(linked.n_made, "name");
        writeln!(
            env.stdout,
            "  {made} made below {}{there}",
            Shown(&linked.folder)
        )?;
    }
    Ok(())
}

/// Returns `true` if all bytes of a file were verified, and some are wrong.
fn is_damaged(searched: &Searched<'_>, index: usize) -> bool {
    let files = searched.report.iter().flat_map(Report::files);
    let mut files = files.filter(|file| file.index.get() == index);
    files.any(|file| file.counts.have < file.counts.total())
}

/// Describes the damage of a file that was verified.
fn damage(searched: &Searched<'_>, index: usize, path: &str, n_others: usize) -> String {
    let files = searched.report.iter().flat_map(Report::files);
    let mut files = files.filter(|file| file.index.get() == index);
    let (have, total) = files
        .next()
        .map_or((0, 0), |file| (file.counts.have, file.counts.total()));
    let pieces = count(total.into(), "piece");
    let others = match n_others {
        0 => String::new(),
        1 => "; 1 other file fits as well by the pieces that were compared".to_owned(),
        n => format!(
            "; {} other files fit as well by the pieces that were compared",
            Grouped(n as u64)
        ),
    };
    format!(
        "is damaged: {path}, {} of {pieces} right{others}",
        Grouped(have.into())
    )
}

/// Prints the line with the verdict.
fn print_verdict(env: &mut Env, searched: &Searched<'_>) -> anyhow::Result<()> {
    let Searched {
        path,
        torrent,
        found,
        report,
        ..
    } = searched;
    let palette = Palette::new(env.color);
    let wanted = found
        .files
        .iter()
        .filter(|file| **file != FileMatch::NotSearched)
        .count() as u64;
    let n_found = found
        .files
        .iter()
        .filter(|file| file.is_found() && **file != FileMatch::NotSearched)
        .count() as u64;
    let (style, verdict) = match report {
        Some(_) if searched.is_complete() == Some(true) => (palette.good, "complete".to_owned()),
        Some(report) => {
            let (have, total) = (report.counts().have, report.counts().total());
            (
                palette.partial,
                format!(
                    "incomplete, {} of {} right",
                    Grouped(have.into()),
                    count(total.into(), "piece")
                ),
            )
        }
        None if found.is_identified() => (palette.good, "identified".to_owned()),
        None if n_found == 0 && found.candidates().next().is_none() => {
            (palette.bad, "not found".to_owned())
        }
        None => (palette.partial, "found in part".to_owned()),
    };
    let mut details = vec![format!("{} of {}", Grouped(n_found), count(wanted, "file"))];
    if report.is_none() {
        details.push(format!(
            "{} of {} checked",
            Grouped(found.right_pieces.into()),
            count(found.pieces.into(), "piece")
        ));
    }
    let missing = found.missing_bytes(torrent);
    if missing > 0 {
        details.push(format!("{} missing", Size(missing)));
    }
    writeln!(
        env.stdout,
        "{}  {}  {}",
        Shown(path),
        Styled(style, verdict),
        details.join(", ")
    )?;
    Ok(())
}

/// Returns where a file is, or the reason why it was not found.
fn described(
    torrent: &Torrent,
    file: &FileMatch,
    candidates: &Candidates,
    folders: &Folders,
) -> String {
    let shown = |candidate: u32| Shown(&folders.shown(candidates.path(candidate))).to_string();
    match file {
        FileMatch::Identified(place) if place.others.is_empty() => {
            format!("is {}", shown(place.candidate))
        }
        FileMatch::Identified(place) => {
            let copies = place.others.len() as u64;
            let fit = if copies == 1 { "fits" } else { "fit" };
            let others = if copies == 1 {
                "1 other file".to_owned()
            } else {
                format!("{} other files", Grouped(copies))
            };
            format!("is {}; {others} {fit} equally", shown(place.candidate))
        }
        FileMatch::Partial {
            candidate,
            right,
            checked,
        } => {
            format!(
                "is damaged: {}, {right} of {} right",
                shown(*candidate),
                count((*checked).into(), "checked piece")
            )
        }
        FileMatch::Empty => "is empty".to_owned(),
        FileMatch::Missing => "missing: no file has its length".to_owned(),
        FileMatch::Wrong { candidates: 1 } => {
            "missing: the one file of its length has other bytes".to_owned()
        }
        FileMatch::Wrong { candidates } => {
            format!(
                "missing: {} files of its length have other bytes",
                Grouped((*candidates).into())
            )
        }
        FileMatch::Undecided(Undecided::Neighbour(neighbour)) => {
            let neighbour = torrent.file(neighbour.get()).path();
            format!(
                "undecided: its pieces also have bytes of {}, which was not found",
                Escaped(neighbour)
            )
        }
        FileMatch::Undecided(Undecided::Shared) => {
            "undecided: its pieces also have bytes of other files, and one of these may be damaged"
                .to_owned()
        }
        FileMatch::Undecided(Undecided::Unreadable) => {
            "undecided: a file of its length cannot be read".to_owned()
        }
        FileMatch::Undecided(Undecided::WholeFileHash) => {
            "undecided: the torrent has one hash for the whole file".to_owned()
        }
        _ => "undecided: too many files have its length".to_owned(),
    }
}

/// Prints the cost of the search, and the number of torrents if there are several.
pub(super) fn print_total(
    env: &mut Env,
    n_good: u64,
    candidates: &Candidates,
    findings: &Findings,
) -> anyhow::Result<()> {
    let n_torrents = findings.torrents.len() as u64;
    if n_torrents > 1 {
        writeln!(
            env.stdout,
            "{} of {} found",
            Grouped(n_good),
            count(n_torrents, "torrent")
        )?;
    }
    let seen = count(candidates.seen(), "file");
    let compared = count(candidates.len() as u64, "file");
    let pieces = count(findings.hashed_pieces, "piece");
    Ok(writeln!(
        env.stdout,
        "{seen} seen, {compared} of a wanted length, {pieces} ({}) hashed",
        Size(findings.hashed_bytes)
    )?)
}
