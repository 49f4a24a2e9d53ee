//! The report as text for people.

use std::io::Write;
use std::path::Path;

use anstyle::Style;
use hashlane_metainfo::{File, FileKind, Naming};
use hashlane_verify::{Content, FileReport, FileState, PieceCounts, PieceState, Report};

use crate::Env;
use crate::output::columns::{columns_of, shortened, wrapped};
use crate::output::elsewhere::{found_file, found_root};
use crate::output::piece_map::PieceMap;
use crate::output::text::{Grouped, Palette, Shown, Styled, count, percent, size_and_bytes};
use hashlane_api::Size;

use super::outside::Verified;
use super::sharing::Sharing;

/// Number of columns of the piece map without a terminal.
const DEFAULT_WIDTH: usize = 80;

/// Minimum number of columns for a name, even if this makes the line wider than the terminal.
const MIN_NAME: usize = 12;

/// Maximum number of columns for a share, a verdict and the space around them.
const VERDICT_WIDTH: usize = 40;

/// Maximum number of rows of the piece map.
const MAX_ROWS: usize = 8;

/// Maximum number of files that are named below the row of a torrent, if they were found under other names.
const MAX_FOUND: usize = 3;

/// The shape of a torrent's report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    /// One line.
    Line,
    /// Several lines, with blank lines around them.
    #[default]
    Block,
}

/// Prints one line for a torrent that is whole, or a block with the files that are not. With `all`, prints a block with
/// every file. `last` is the shape of the previous report.
pub(super) fn print(
    env: &mut Env,
    verified: &Verified<'_>,
    all: bool,
    last: Shape,
) -> anyhow::Result<Shape> {
    let palette = Palette::new(env.color);
    let files = verified.report.files();
    let sharing = Sharing::of(verified.report);
    let mut listed: Vec<Listed<'_>> = files
        .iter()
        .map(|file| Listed::new(verified, &sharing, file, all))
        .filter(|file| all || !file.is_plain())
        .collect();
    if verified.report.is_complete() && listed.is_empty() {
        print_line(env, &palette, verified)?;
        return Ok(Shape::Line);
    }
    let width = env.width.unwrap_or(usize::MAX);
    let out = &mut env.stdout;
    if last == Shape::Line {
        writeln!(out)?;
    }
    let name = verified.content.torrent().name().to_string();
    writeln!(out, "{}", Styled(palette.strong, shortened(&name, width)))?;
    if all {
        print_head(out, verified)?;
    }
    let absent = if verified.content.root().exists() {
        ""
    } else {
        " (missing)"
    };
    let root = Shown(verified.content.root()).to_string();
    writeln!(
        out,
        "  content    {}{absent}",
        shortened(&root, width.saturating_sub(13 + absent.len()))
    )?;
    if let Some(limit) = limit(verified) {
        writeln!(out, "  note       {}", Styled(palette.partial, limit))?;
    }
    if let Some(outside) = outside(verified) {
        writeln!(out, "  note       {}", Styled(palette.partial, outside))?;
    }
    if let Some(names) = names_used(verified) {
        writeln!(out, "  names      {}", Styled(palette.partial, names))?;
    }
    if all || !lacks_all_files(verified.report) || verified.elsewhere.has_files() {
        writeln!(out)?;
        if !all {
            // The most damaged files come last, next to the verdict.
            listed.sort_by_key(Listed::severity);
        }
        print_files(out, &palette, &listed, width)?;
        writeln!(out)?;
        print_map(
            out,
            &palette,
            verified.report,
            env.width.unwrap_or(DEFAULT_WIDTH),
        )?;
    }
    print_totals(out, &palette, verified)?;
    Ok(Shape::Block)
}

/// A torrent as one row of a table.
#[derive(Debug)]
pub(super) struct Row {
    /// The share of the content that is correct. Empty if the torrent could not be checked.
    pub(super) share: String,
    pub(super) path: String,
    pub(super) verdict: String,
}

impl Row {
    pub(super) fn of(verified: &Verified<'_>) -> Self {
        let report = verified.report;
        Self {
            share: percent(report.have_bytes(), report.total_bytes()),
            path: Shown(verified.torrent_path).to_string(),
            verdict: verdict(verified),
        }
    }

    /// Returns the row of a torrent that could not be checked.
    pub(super) fn not_checked(torrent: &Path) -> Self {
        Self {
            share: String::new(),
            path: Shown(torrent).to_string(),
            verdict: "not checked".to_owned(),
        }
    }

    pub(super) fn print(&self, env: &mut Env, is_good: bool) -> anyhow::Result<()> {
        let palette = Palette::new(env.color);
        let width = env.width.map_or(usize::MAX, |width| {
            width.saturating_sub(VERDICT_WIDTH).max(MIN_NAME)
        });
        let style = if is_good { palette.good } else { palette.bad };
        let (share, path) = (&self.share, shortened(&self.path, width));
        let verdict = Styled(style, &self.verdict);
        Ok(writeln!(env.stdout, "  {share:>6}  {path}  {verdict}")?)
    }
}

/// Prints below the row of a torrent where its missing content was found, with at most [`MAX_FOUND`] files.
pub(super) fn print_elsewhere(env: &mut Env, verified: &Verified<'_>) -> anyhow::Result<()> {
    let elsewhere = &verified.elsewhere;
    let root = elsewhere.root().map(found_root);
    let root = root.map(|found| format!("{found}: --content checks it"));
    let torrent = verified.content.torrent();
    let files = elsewhere.files().map(|(file, path)| {
        let name = torrent.file(file.get()).path();
        format!("{name}: {}", found_elsewhere(verified.content, path))
    });
    let n_more = elsewhere.files().count().saturating_sub(MAX_FOUND) as u64;
    let more = (n_more > 0).then(|| format!("{} more found", count(n_more, "file")));
    let palette = Palette::new(env.color);
    let width = env
        .width
        .map_or(usize::MAX, |width| width.saturating_sub(10));
    for line in root.into_iter().chain(files.take(MAX_FOUND)).chain(more) {
        for line in wrapped(&line, width) {
            writeln!(env.stdout, "          {}", Styled(palette.partial, line))?;
        }
    }
    Ok(())
}

/// Returns `true` if the torrent has files, and none of them exists.
pub(super) fn lacks_all_files(report: &Report) -> bool {
    let files = report.files();
    !files.is_empty() && files.iter().all(|file| file.state == FileState::Missing)
}

fn print_line(env: &mut Env, palette: &Palette, verified: &Verified<'_>) -> anyhow::Result<()> {
    let name = verified.content.torrent().name().to_string();
    let size = Size(verified.report.total_bytes()).to_string();
    let width = env
        .width
        .map_or(usize::MAX, |width| width.saturating_sub(40).max(MIN_NAME));
    let only = only_version(verified).map(|version| format!("  ({version} only)"));
    let notes = [names_used(verified), limit(verified), outside(verified)]
        .into_iter()
        .flatten();
    let notes = notes.fold(String::new(), |notes, note| format!("{notes}  ({note})"));
    Ok(writeln!(
        env.stdout,
        "{}  {size:>9}  {}{}{notes}",
        Styled(palette.good, "complete"),
        shortened(&name, width),
        only.unwrap_or_default()
    )?)
}

/// A file in the list: its columns and its notes.
struct Listed<'v> {
    entry: File<'v>,
    file: &'v FileReport,
    /// Whether no piece of the file is present, and all fail because of other files.
    is_undecided: bool,
    notes: Vec<String>,
}

impl<'v> Listed<'v> {
    fn new(
        verified: &Verified<'v>,
        sharing: &Sharing<'_>,
        file: &'v FileReport,
        all: bool,
    ) -> Self {
        let is_partial = file.state == FileState::Partial;
        let shared = sharing.of_file(verified, file);
        let own = own_counts(file.counts, &shared.undecided);
        let is_undecided = is_partial && file.counts.have == 0 && problems(own).is_none();
        let own = problems(own).filter(|_| is_partial);
        let entry = verified.content.torrent().file(file.index.get());
        let notes = [
            truncated(file).filter(|_| is_partial),
            verified
                .elsewhere
                .file(file.index)
                .map(|path| found_elsewhere(verified.content, path)),
            own,
            shared.note.filter(|_| is_partial),
            shared.bad_note.filter(|_| is_partial),
            (file.zero_pieces > 0)
                .then(|| format!("{} only zeros on disk", has_only(file.zero_pieces.into()))),
            versions_apart(verified.report, file),
            entry.is_renamed().then(|| "renamed".into()),
            wrong_link(file),
            verified
                .outside
                .has(file.index)
                .then(|| "outside the folder: `seed` and `get` refuse it".into()),
            found_as(verified.content, file).filter(|_| all || !file.state.is_whole()),
            (file.extra_bytes() > 0)
                .then(|| format!("too long by {}", count(file.extra_bytes(), "byte"))),
            file.error.as_ref().map(ToString::to_string),
        ];
        Self {
            entry,
            file,
            is_undecided,
            notes: notes.into_iter().flatten().collect(),
        }
    }

    /// Returns the path, and the target of a symbolic link.
    fn path(&self) -> String {
        let path = self.entry.path();
        match self.entry.kind() {
            FileKind::Symlink { target } => format!("{path} -> {target}"),
            FileKind::Regular | FileKind::Padding => path.to_string(),
        }
    }

    /// Returns `true` if there is nothing to report about the file.
    fn is_plain(&self) -> bool {
        self.file.state.is_whole() && self.notes.is_empty()
    }

    /// Returns the severity of the file's damage: a greater number means that less of the file is usable.
    fn severity(&self) -> u8 {
        match self.file.state {
            FileState::Whole | FileState::Link => 0,
            FileState::Unchecked => 1,
            FileState::Missing => 2,
            FileState::Partial | FileState::WrongLink => 3,
            FileState::Unreadable => 4,
        }
    }

    fn style(&self, palette: &Palette) -> Style {
        match self.file.state {
            FileState::Whole | FileState::Link => palette.good,
            FileState::Partial => palette.partial,
            FileState::Missing | FileState::Unreadable | FileState::WrongLink => palette.bad,
            FileState::Unchecked => palette.dim,
        }
    }
}

/// Returns the path, relative to the content, of a file that was found under another program's name for it.
fn found_as(content: &Content, file: &FileReport) -> Option<String> {
    let program = content.naming_of(file.index)?.program();
    let path = content.path_of(file.index).ok()?;
    let path = path.strip_prefix(content.root()).unwrap_or(&path);
    Some(format!("{}, as {program} names it", Shown(path)))
}

/// Describes a file that is too short.
fn truncated(file: &FileReport) -> Option<String> {
    let on_disk = file
        .length_on_disk
        .filter(|on_disk| *on_disk < file.length)?;
    let (on_disk, length) = (Grouped(on_disk), count(file.length, "byte"));
    Some(format!("truncated: {on_disk} of {length}"))
}

/// Names the file that has the content of a missing one, relative to the content.
fn found_elsewhere(content: &Content, path: &Path) -> String {
    let path = path.strip_prefix(content.root()).unwrap_or(path);
    format!("{}: rename it", found_file(path))
}

/// Returns the programs whose names the content has, if the names are not the torrent's own.
fn names_used(verified: &Verified<'_>) -> Option<String> {
    let content = verified.content;
    let files = verified.report.files().iter();
    let namings: Vec<Naming> = files
        .filter_map(|file| content.naming_of(file.index))
        .chain(content.root_naming())
        .collect();
    let mut programs: Vec<&str> = namings.iter().map(|naming| naming.program()).collect();
    programs.sort_unstable();
    programs.dedup();
    let names = count(namings.len() as u64, "name");
    (!programs.is_empty()).then(|| format!("{names} of {}", programs.join(" and ")))
}

/// Returns the limit of another program that the torrent exceeds.
fn limit(verified: &Verified<'_>) -> Option<String> {
    let limit = verified.content.torrent().lengths().libtorrent_limit();
    limit.map(|limit| limit.to_string())
}

/// Describes content that is itself a link out of the folder.
fn outside(verified: &Verified<'_>) -> Option<String> {
    let is_outside = verified.outside.content;
    is_outside.then(|| "outside the folder: `get` refuses it".to_owned())
}

/// Prints a line for each file. Where a line would be wider than `width`, its path is shortened and its notes follow on lines of
/// their own.
fn print_files(
    out: &mut dyn Write,
    palette: &Palette,
    files: &[Listed<'_>],
    width: usize,
) -> anyhow::Result<()> {
    let states: Vec<String> = files.iter().map(state_of).collect();
    let state_width = states.iter().map(String::len).max().unwrap_or(0);
    for (file, state) in files.iter().zip(states) {
        let state = format!("{state:<state_width$}");
        let path = file.path();
        let size = Size(file.file.length).to_string();
        write!(out, "  {}  {size:>9}  ", Styled(file.style(palette), state))?;
        let columns = width.saturating_sub(state_width + 15).max(MIN_NAME);
        let notes = match file.notes.as_slice() {
            [] => String::new(),
            notes => format!("({})", notes.join(", ")),
        };
        let needed = columns_of(&path) + 2 + columns_of(&notes);
        if notes.is_empty() || needed <= columns {
            let space = if notes.is_empty() { "" } else { "  " };
            let path = shortened(&path, columns);
            writeln!(out, "{path}{space}{}", Styled(palette.partial, notes))?;
        } else {
            writeln!(out, "{}", shortened(&path, columns))?;
            for line in wrapped(&notes, width.saturating_sub(4)) {
                writeln!(out, "    {}", Styled(palette.partial, line))?;
            }
        }
    }
    Ok(())
}

/// Returns the version of a hybrid torrent that was checked, if the other one was not.
fn only_version(verified: &Verified<'_>) -> Option<&'static str> {
    let hashes = verified.content.torrent().info_hashes();
    let versions = verified.report.hash_versions();
    match (hashes.v1(), hashes.v2(), versions.v1, versions.v2) {
        (Some(_), Some(_), true, false) => Some("version 1"),
        (Some(_), Some(_), false, true) => Some("version 2"),
        _ => None,
    }
}

/// Prints the info-hashes and the sizes.
fn print_head(out: &mut dyn Write, verified: &Verified<'_>) -> anyhow::Result<()> {
    let content = verified.content;
    let torrent = content.torrent();
    let lengths = torrent.lengths();
    let n_files = verified.report.files().len() as u64;
    let hashes = torrent.info_hashes();
    if let Some(v1) = hashes.v1() {
        writeln!(out, "  info-hash  {v1}")?;
    }
    if let Some(v2) = hashes.v2() {
        writeln!(out, "  info-hash  {v2}")?;
    }
    if let Some(version) = only_version(verified) {
        writeln!(out, "  checked    {version} only")?;
    }
    let total = torrent.content_length();
    writeln!(
        out,
        "  size       {} in {}, {} of {}",
        size_and_bytes(total),
        count(n_files, "file"),
        count(lengths.piece_count().into(), "piece"),
        Size(lengths.piece_length().get().into()),
    )?;
    Ok(())
}

/// Returns the state of a file in words. The text is ASCII, so its length is its width.
fn state_of(listed: &Listed<'_>) -> String {
    let file = listed.file;
    match file.state {
        FileState::Partial if listed.is_undecided => "unclear".into(),
        FileState::Partial => {
            let (have, total) = (file.counts.have, file.counts.total());
            format!(
                "{} of {}",
                Grouped(have.into()),
                count(total.into(), "piece")
            )
        }
        state => state.name().into(),
    }
}

/// Reports the results of both versions for a file if they differ, which means that the torrent contradicts itself.
fn versions_apart(report: &Report, file: &FileReport) -> Option<String> {
    let (v1, v2) = (report.counts_v1(file)?, report.counts_v2(file)?);
    let of = |counts: PieceCounts| Grouped(counts.have.into());
    (v1 != v2).then(|| {
        let total = count(v1.total().into(), "piece");
        format!("version 1: {}, version 2: {} of {total}", of(v1), of(v2))
    })
}

/// Describes the entry that was found instead of a link.
fn wrong_link(file: &FileReport) -> Option<String> {
    (file.state == FileState::WrongLink).then(|| match &file.found_target {
        Some(target) => format!("leads to {}", Shown(target)),
        None => "is no link".into(),
    })
}

/// Returns the counts without pieces that say nothing about the file.
fn own_counts(mut counts: PieceCounts, undecided: &[PieceState]) -> PieceCounts {
    for state in undecided {
        match state {
            PieceState::Missing => counts.missing -= 1,
            PieceState::Unreadable => counts.unreadable -= 1,
            _ => {}
        }
    }
    counts
}

/// Returns for example `3 bad, 1 missing`, or nothing if all pieces are present.
fn problems(counts: PieceCounts) -> Option<String> {
    let problems = PieceState::ALL
        .into_iter()
        .rev()
        .filter(|state| *state != PieceState::Have);
    let problems: Vec<String> = problems
        .filter(|state| counts.of(*state) > 0)
        .map(|state| format!("{} {}", Grouped(counts.of(state).into()), state.name()))
        .collect();
    (!problems.is_empty()).then(|| problems.join(", "))
}

/// Returns for example `1 piece has` or `2 pieces have`.
fn has_only(n: u64) -> String {
    let verb = if n == 1 { "has" } else { "have" };
    format!("{} {verb}", count(n, "piece"))
}

fn print_map(
    out: &mut dyn Write,
    palette: &Palette,
    report: &Report,
    width: usize,
) -> anyhow::Result<()> {
    let map = PieceMap::new(report.pieces(), width.saturating_sub(2), MAX_ROWS);
    for line in map.lines(palette) {
        writeln!(out, "  {line}")?;
    }
    write!(
        out,
        "  {} a character:",
        count(map.pieces_per_cell as u64, "piece")
    )?;
    for cell in map.kinds() {
        write!(
            out,
            "  {} {}",
            Styled(cell.style(palette), cell.glyph()),
            cell.name()
        )?;
    }
    writeln!(out, "\n")?;
    Ok(())
}

/// Describes the problems that remain although all bytes are present: `1 empty file missing, 1 link wrong`.
fn without_bytes(verified: &Verified<'_>) -> String {
    let torrent = verified.content.torrent();
    let files = verified.report.files().iter().map(|file| {
        let kind = torrent.file(file.index.get()).kind();
        let noun = match kind {
            FileKind::Symlink { .. } => "link",
            FileKind::Regular | FileKind::Padding => "empty file",
        };
        (noun, file.state)
    });
    let wrong = [
        ("empty file", FileState::Missing, "missing"),
        ("empty file", FileState::Unreadable, "unreadable"),
        ("empty file", FileState::Unchecked, "unchecked"),
        ("link", FileState::Missing, "missing"),
        ("link", FileState::WrongLink, "wrong"),
        ("link", FileState::Unreadable, "unreadable"),
        ("link", FileState::Unchecked, "unchecked"),
    ];
    let wrong = wrong.map(|(noun, state, what)| {
        let n = files.clone().filter(|file| *file == (noun, state)).count();
        (n > 0).then(|| format!("{} {what}", count(n as u64, noun)))
    });
    wrong.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns the verdict in a few words, for example `1 bad` or `complete`.
pub(super) fn verdict(verified: &Verified<'_>) -> String {
    let report = verified.report;
    match problems(report.counts()) {
        None if report.is_complete() => "complete".into(),
        // All bytes are present, so the missing items are empty files or links.
        None => without_bytes(verified),
        Some(problems) => problems,
    }
}

/// Returns the verdict with the number of pieces, for example `1 bad of 20 pieces`.
pub(super) fn verdict_of_total(verified: &Verified<'_>) -> String {
    let n_pieces = count(verified.report.pieces().len() as u64, "piece");
    let verdict = verdict(verified);
    if problems(verified.report.counts()).is_some() {
        format!("{verdict} of {n_pieces}")
    } else {
        format!("{verdict}, and all of {n_pieces} present")
    }
}

fn print_totals(
    out: &mut dyn Write,
    palette: &Palette,
    verified: &Verified<'_>,
) -> anyhow::Result<()> {
    let report = verified.report;
    let (have, total) = (report.have_bytes(), report.total_bytes());
    let counts = report.counts();
    let pieces = format!(
        "{} of {}, {} of {}",
        Grouped(counts.have.into()),
        count(counts.total().into(), "piece"),
        percent(have, total),
        Size(total),
    );
    let style = if report.is_complete() {
        palette.good
    } else {
        palette.bad
    };
    writeln!(out, "  {}: {pieces}", Styled(style, verdict(verified)))?;
    if let (Some(v1), Some(v2)) = (report.pieces_v1(), report.pieces_v2()) {
        let have = |pieces: &[PieceState]| {
            let have = pieces.iter().filter(|piece| **piece == PieceState::Have);
            let total = count(pieces.len() as u64, "piece");
            format!("{} of {total}", Grouped(have.count() as u64))
        };
        writeln!(out, "  version 1: {}; version 2: {}", have(v1), have(v2))?;
    }
    Ok(())
}
