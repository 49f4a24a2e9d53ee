//! The report as text for people.

use std::io::Write;

use hashlane_metainfo::FileKind;
use hashlane_verify::{FileReport, FileState, PieceCounts, PieceState, Report};

use crate::Env;
use crate::output::piece_map::PieceMap;
use crate::output::text::{Grouped, Palette, Shown, Size, Styled, count, percent, size_and_bytes};

use super::verified::Verified;

/// Columns of the piece map if there is no terminal.
const DEFAULT_WIDTH: usize = 80;

/// Rows that the map of pieces takes at most.
const MAX_ROWS: usize = 8;

pub(super) fn print(env: &mut Env, verified: &Verified<'_>) -> anyhow::Result<()> {
    let palette = Palette::new(env.color);
    let width = env.width.unwrap_or(DEFAULT_WIDTH);
    print_head(&mut env.stdout, &palette, verified)?;
    writeln!(env.stdout)?;
    let files = verified.report.files();
    let state_width = files
        .iter()
        .map(|file| state_of(file).len())
        .max()
        .unwrap_or(0);
    for file in files {
        let state = format!("{:<state_width$}", state_of(file));
        print_file(&mut env.stdout, &palette, verified, file, &state)?;
    }
    writeln!(env.stdout)?;
    print_map(&mut env.stdout, &palette, verified.report, width)?;
    print_totals(&mut env.stdout, &palette, verified)
}

fn print_head(
    out: &mut dyn Write,
    palette: &Palette,
    verified: &Verified<'_>,
) -> anyhow::Result<()> {
    let content = verified.content;
    let torrent = content.torrent();
    let lengths = torrent.lengths();
    let n_files = verified.report.files().len() as u64;
    writeln!(out, "{}", Styled(palette.strong, torrent.name()))?;
    let hashes = torrent.info_hashes();
    if let Some(v1) = hashes.v1() {
        writeln!(out, "  info-hash  {v1}")?;
    }
    if let Some(v2) = hashes.v2() {
        writeln!(out, "  info-hash  {v2} (version 2)")?;
    }
    if let (Some(_), Some(_)) = (hashes.v1(), hashes.v2()) {
        let versions = verified.report.hash_versions();
        match (versions.v1, versions.v2) {
            (true, false) => writeln!(out, "  judged     by version 1 only")?,
            (false, true) => writeln!(out, "  judged     by version 2 only")?,
            _ => {}
        }
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
    let absent = if content.root().exists() {
        ""
    } else {
        " (not there)"
    };
    writeln!(out, "  content    {}{absent}", Shown(content.root()))?;
    Ok(())
}

/// Returns the state of a file in words: ASCII, so that the length is the width.
fn state_of(file: &FileReport) -> String {
    match file.state {
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

fn print_file(
    out: &mut dyn Write,
    palette: &Palette,
    verified: &Verified<'_>,
    file: &FileReport,
    state: &str,
) -> anyhow::Result<()> {
    let entry = verified.content.torrent().file(file.index.get());
    let path = match entry.kind() {
        FileKind::Symlink { target } => format!("{} -> {target}", entry.path()),
        FileKind::Regular | FileKind::Padding => entry.path().to_string(),
    };
    let style = match file.state {
        FileState::Whole | FileState::Link => palette.good,
        FileState::Partial => palette.partial,
        FileState::Missing | FileState::Unreadable | FileState::WrongLink => palette.bad,
        FileState::Unchecked => palette.dim,
    };
    let notes: Vec<String> = [
        (file.state == FileState::Partial)
            .then(|| problems(file.counts))
            .flatten(),
        versions_apart(verified.report, file),
        entry.is_renamed().then(|| "renamed".into()),
        wrong_link(file),
        (file.extra_bytes() > 0)
            .then(|| format!("too long by {}", count(file.extra_bytes(), "byte"))),
        file.error.as_ref().map(ToString::to_string),
    ]
    .into_iter()
    .flatten()
    .collect();
    let size = Size(file.length).to_string();
    write!(out, "  {}  {size:>9}  {path}", Styled(style, state))?;
    if !notes.is_empty() {
        write!(out, "  ({})", Styled(palette.partial, notes.join(", ")))?;
    }
    Ok(writeln!(out)?)
}

/// Reports the results of both versions for a file if they differ: the torrent contradicts itself.
fn versions_apart(report: &Report, file: &FileReport) -> Option<String> {
    let (v1, v2) = (report.counts_v1(file)?, report.counts_v2(file)?);
    let of = |counts: PieceCounts| Grouped(counts.have.into());
    (v1 != v2).then(|| {
        let total = count(v1.total().into(), "piece");
        format!("version 1: {}, version 2: {} of {total}", of(v1), of(v2))
    })
}

/// Describes what was found in place of a link.
fn wrong_link(file: &FileReport) -> Option<String> {
    (file.state == FileState::WrongLink).then(|| match &file.found_target {
        Some(target) => format!("leads to {}", Shown(target)),
        None => "is no link".into(),
    })
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

/// Describes what is wrong although all bytes are present: `1 empty file missing, 1 link wrong`.
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
    let verdict = match problems(counts) {
        None if report.is_complete() => "all there".into(),
        // All bytes are there; what is not has none.
        None => format!("but {}", without_bytes(verified)),
        Some(problems) => problems,
    };
    writeln!(out, "  {}: {pieces}", Styled(style, verdict))?;
    if let (Some(v1), Some(v2)) = (report.pieces_v1(), report.pieces_v2()) {
        let have = |pieces: &[PieceState]| {
            let have = pieces.iter().filter(|piece| **piece == PieceState::Have);
            let total = count(pieces.len() as u64, "piece");
            format!("{} of {total}", Grouped(have.count() as u64))
        };
        writeln!(out, "  version 1: {}; version 2: {}", have(v1), have(v2))?;
    }
    let seconds = report.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let rate = report.checked_bytes() as f64 / seconds.max(f64::EPSILON) / 1e9;
    let checked = Size(report.checked_bytes());
    if counts.have + counts.bad > 0 {
        writeln!(out, "  {checked} checked in {seconds:.3} s, {rate:.2} GB/s")?;
    } else {
        // There was nothing to read, so that there is no rate.
        writeln!(out, "  {checked} checked in {seconds:.3} s")?;
    }
    Ok(())
}
