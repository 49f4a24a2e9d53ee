//! The result for people.

use hashlane_find::{Candidates, FileMatch, Findings, Merged, Place, Undecided};
use hashlane_metainfo::{File, Torrent};
use hashlane_verify::{FileIndex, FileReport};

use crate::Env;
use crate::output::text::{Escaped, Grouped, Palette, Shown, Styled, count};
use hashlane_api::Size;

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
    if let Some(named) = &named {
        let path = Shown(&folders.shown(&named.path)).to_string();
        if named.is_all {
            writeln!(env.stdout, "  all at {path}: use --content {path}")?;
        } else {
            let n_files = count(named.files.len() as u64, "file");
            writeln!(
                env.stdout,
                "  {n_files} with the torrent's names below {path}"
            )?;
        }
    }
    let has_name = |file: &FileIndex| {
        let named = named.as_ref();
        named.is_some_and(|named| named.files.binary_search(file).is_ok())
    };
    for (index, file) in found.files.iter().enumerate() {
        let text = match (searched.merged(FileIndex::new(index)), file) {
            (Some(merged), _) => of_merged(file, merged, candidates, folders),
            (None, FileMatch::Identified(place)) => {
                let path = Shown(&folders.shown(candidates.path(place.candidate))).to_string();
                match searched.damaged(FileIndex::new(index)) {
                    Some(damaged) => damage(damaged, &path, place),
                    None if has_name(&FileIndex::new(index)) && !verbose => continue,
                    None => format!("is {path}{}", others(place, "equally")),
                }
            }
            (None, FileMatch::NotSearched) => continue,
            (None, FileMatch::Empty) if !verbose => continue,
            (None, _) => described(torrent, torrent.file(index), file, candidates, folders),
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

/// Describes a new file that was made of several damaged ones.
fn of_merged(
    file: &FileMatch,
    merged: &Merged,
    candidates: &Candidates,
    folders: &Folders,
) -> String {
    let path = file
        .candidate()
        .map(|new| folders.shown(candidates.path(new)));
    let rest = match merged.missing_pieces {
        0 => String::new(),
        n => format!(
            "; {} ({}) unproven: no file has the right bytes",
            count(n.into(), "piece"),
            Size(merged.unproven_bytes)
        ),
    };
    format!(
        "is merged from {} into {}{rest}",
        count(merged.sources.len() as u64, "file"),
        Shown(&path.unwrap_or_default())
    )
}

/// Describes the damage of a file whose bytes were all verified.
fn damage(damaged: &FileReport, path: &str, place: &Place) -> String {
    let (have, pieces) = (
        damaged.counts.have,
        count(damaged.counts.total().into(), "piece"),
    );
    let others = others(place, "as well by the pieces that were compared");
    format!(
        "is damaged: {path}, {} of {pieces} right{others}",
        Grouped(have.into())
    )
}

/// Returns the number of the other files that fit, and how.
fn others(place: &Place, how: &str) -> String {
    match place.others.len() {
        0 => String::new(),
        1 => format!("; 1 other file fits {how}"),
        n => format!("; {} other files fit {how}", Grouped(n as u64)),
    }
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
    let searched_files = found
        .files
        .iter()
        .filter(|file| **file != FileMatch::NotSearched);
    let wanted = searched_files.clone().count() as u64;
    let n_found = searched_files.filter(|file| file.is_found()).count() as u64;
    let (style, verdict) = match report {
        _ if searched.is_accepted() => {
            let known = report.as_ref().map_or("identified", |_| "complete");
            let needed = Size(searched.needed_bytes());
            (palette.good, format!("{known} but for {needed}"))
        }
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
    if searched.accepted.is_some() && !searched.is_accepted() && !searched.is_whole() {
        details.push(format!("{} needed", Size(searched.needed_bytes())));
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

/// Returns where a damaged file is, or the reason why a file was not found.
fn described(
    torrent: &Torrent,
    torrent_file: File<'_>,
    file: &FileMatch,
    candidates: &Candidates,
    folders: &Folders,
) -> String {
    let shown = |candidate: u32| Shown(&folders.shown(candidates.path(candidate))).to_string();
    match file {
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
        FileMatch::Missing => {
            let longer = candidates.longer(torrent_file).map(|(path, len_bytes)| {
                let path = Shown(&folders.shown(path)).to_string();
                let more = Size(len_bytes - torrent_file.length());
                format!("; {path} has its name and is {more} longer")
            });
            let longer = longer.unwrap_or_default();
            format!("missing: no file has its length{longer}")
        }
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
    let shared = findings.shared_files();
    if shared > 0 {
        let files = count(shared, "file");
        writeln!(env.stdout, "{files} found for more than one torrent")?;
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
