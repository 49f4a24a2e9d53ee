//! `--report`: the result of all torrents as one page of HTML, which needs no other file and no network.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use data_encoding::BASE64;
use hashlane_sha::Sha256;
use hashlane_verify::{FileState, PieceState};

use crate::links;
use crate::new_file::{self, Overwrite};
use crate::output::elsewhere::{found_file, found_root};
use crate::output::piece_map::{Cell, PieceMap};
use crate::output::text::{Escaped, Grouped, count, date, percent};
use hashlane_api::Size;

use super::human;
use super::outside::Verified;
use super::tally::Tally;

const STYLE: &str = include_str!("page/style.css");
const SORT: &str = include_str!("page/sort.js");

/// Number of cells of the map of a torrent.
const MAP_CELLS: usize = 128;

/// Number of files that are listed of a torrent.
const MAX_FILES: usize = 50;

/// The page, until it is written.
pub(super) struct Page {
    /// The place of the file.
    place: PathBuf,
    /// The path of the file as given.
    given: PathBuf,
    overwrite: Overwrite,
    rows: Vec<Row>,
}

/// A torrent in the table. The most damaged ones come first.
struct Row {
    severity: Severity,
    /// The share of the content that is right, in millionths.
    share: u128,
    html: String,
}

/// The order of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    NotChecked,
    Incomplete,
    Complete,
}

/// A text in HTML. Control characters, which names of torrents can contain, are escaped as for a terminal.
struct Html<T>(T);

impl<T: fmt::Display> fmt::Display for Html<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in Escaped(&self.0).to_string().chars() {
            match c {
                '&' => f.write_str("&amp;"),
                '<' => f.write_str("&lt;"),
                '>' => f.write_str("&gt;"),
                '"' => f.write_str("&quot;"),
                '\'' => f.write_str("&#39;"),
                c => f.write_char(c),
            }?;
        }
        Ok(())
    }
}

impl Page {
    /// Refuses early every path that cannot be written at the end.
    pub(super) fn new(
        given: PathBuf,
        place: PathBuf,
        overwrite: Overwrite,
    ) -> anyhow::Result<Self> {
        new_file::check(&place, overwrite).with_context(|| given.display().to_string())?;
        Ok(Self {
            place,
            given,
            overwrite,
            rows: Vec::new(),
        })
    }

    /// Returns the place of the file.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// Returns the path of the file as given.
    pub(super) fn given(&self) -> &Path {
        &self.given
    }

    /// Adds a torrent that was checked.
    pub(super) fn add(&mut self, verified: &Verified<'_>) {
        let report = verified.report;
        let torrent = verified.content.torrent();
        let (have, total) = (report.have_bytes(), report.total_bytes());
        let path = links::without_secrets(verified.torrent_path.display());
        let (severity, class) = if report.is_complete() {
            (Severity::Complete, "good")
        } else if have > 0 {
            (Severity::Incomplete, "partial")
        } else {
            (Severity::Incomplete, "bad")
        };
        // A torrent without bytes has all of them.
        let share = if total == 0 {
            1_000_000
        } else {
            u128::from(have) * 1_000_000 / u128::from(total)
        };
        let found = verified.elsewhere.root().map(found_root);
        let found = found.map(|found| format!("<br>{}", Html(found)));
        let html = format!(
            "<tr><th scope=\"row\">{}<br><span class=\"quiet\">{}</span></th>\
             <td class=\"{class}\">{}{}{}</td>\
             <td class=\"number\" data-key=\"{share}\">{}</td>\
             <td class=\"number\" data-key=\"{total}\">{}</td>\
             <td>{}</td></tr>\n",
            Html(torrent.name()),
            Html(path),
            Html(human::verdict(verified)),
            found.unwrap_or_default(),
            files(verified),
            percent(have, total),
            Size(total),
            map(report.pieces()),
        );
        self.rows.push(Row {
            severity,
            share,
            html,
        });
    }

    /// Adds a torrent that could not be checked.
    pub(super) fn add_error(&mut self, torrent: &Path, error: &anyhow::Error) {
        let html = format!(
            "<tr><th scope=\"row\">{}</th><td class=\"bad\">not checked<br>{}</td>\
             <td class=\"number\" data-key=\"0\"></td><td class=\"number\" data-key=\"0\"></td><td></td></tr>\n",
            Html(links::without_secrets(torrent.display())),
            Html(hashlane_metainfo::masked_text(&format!("{error:#}"))),
        );
        self.rows.push(Row {
            severity: Severity::NotChecked,
            share: 0,
            html,
        });
    }

    /// Writes the page, whole or not at all.
    pub(super) fn write(mut self, tally: &Tally) -> anyhow::Result<()> {
        // Stable: torrents of equal damage keep the order in which they were given.
        self.rows.sort_by_key(|row| (row.severity, row.share));
        let html = self.html(tally);
        new_file::write(&self.place, html.as_bytes(), self.overwrite)
            .with_context(|| self.given.display().to_string())
    }

    fn html(&self, tally: &Tally) -> String {
        let torrents = count(tally.n_torrents, "torrent");
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH);
        let seconds = seconds.map_or(0, |since| since.as_secs());
        let when = date(i64::try_from(seconds).unwrap_or(i64::MAX));
        let class = if tally.n_complete == tally.n_torrents {
            "good"
        } else {
            "bad"
        };
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; script-src '{}'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>Verification of {torrents}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <h1>Verification of {torrents}</h1>\n\
             <p class=\"quiet\">{when}, Hashlane {}</p>\n\
             <p><strong class=\"{class}\">{}</strong>. {} of {} right, {} checked.</p>\n",
            source(STYLE),
            source(SORT),
            env!("CARGO_PKG_VERSION"),
            Html(tally.verdict()),
            percent(tally.have_bytes, tally.total_bytes),
            Size(tally.total_bytes),
            Size(tally.checked_bytes),
        );
        if tally.n_interrupted > 0 {
            let _ = writeln!(
                html,
                "<p class=\"bad\">The check was interrupted: {} not checked, and not listed.</p>",
                count(tally.n_interrupted, "torrent")
            );
        }
        html += "<h2>Torrents</h2>\n<p>A map shows the pieces of a torrent in their order:</p>\n<ul class=\"key\">\n";
        for cell in Cell::ALL {
            let _ = writeln!(html, "<li>{} {}</li>", drawn(&[cell], None), cell.name());
        }
        html += "</ul>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Torrents\">\n\
                 <table class=\"sorted\">\n<caption>The most damaged torrents first</caption>\n<thead><tr>\
                 <th scope=\"col\">Torrent</th><th scope=\"col\">Verdict</th><th scope=\"col\">Share</th>\
                 <th scope=\"col\">Size</th><th scope=\"col\">Map</th></tr></thead>\n<tbody>\n";
        for row in &self.rows {
            html += &row.html;
        }
        let _ = write!(
            html,
            "</tbody>\n</table>\n</div>\n</main>\n<script>{SORT}</script>\n</body>\n</html>\n"
        );
        html
    }
}

/// Returns the digest by which the page allows a script or style of its own, and nothing else.
fn source(text: &str) -> String {
    let digest = hashlane_sha::digest::<Sha256>(text.as_bytes());
    format!("sha256-{}", BASE64.encode(digest.as_ref()))
}

/// Returns the list of the files that are not whole.
fn files(verified: &Verified<'_>) -> String {
    let torrent = verified.content.torrent();
    let damaged = verified.report.files().iter();
    let damaged: Vec<_> = damaged.filter(|file| !file.state.is_whole()).collect();
    if damaged.is_empty() {
        return String::new();
    }
    let mut html = format!(
        "<details><summary>{}</summary><ul>",
        count(damaged.len() as u64, "file")
    );
    for file in damaged.iter().take(MAX_FILES) {
        let state = match file.state {
            FileState::Partial => format!(
                "{} of {}",
                Grouped(file.counts.have.into()),
                count(file.counts.total().into(), "piece")
            ),
            state => state.name().to_owned(),
        };
        let error = file.error.as_ref().map(|error| format!(", {error}"));
        let found = verified.elsewhere.file(file.index);
        let found = found.map(|path| format!(", {}", found_file(path)));
        let _ = write!(
            html,
            "<li>{}: {state}{}{}</li>",
            Html(torrent.file(file.index.get()).path()),
            Html(found.unwrap_or_default()),
            Html(error.unwrap_or_default())
        );
    }
    if damaged.len() > MAX_FILES {
        let more = (damaged.len() - MAX_FILES) as u64;
        let _ = write!(html, "<li>{} more</li>", Grouped(more));
    }
    html + "</ul></details>"
}

/// Returns the map of the pieces of a torrent.
fn map(pieces: &[PieceState]) -> String {
    let map = PieceMap::new(pieces, MAP_CELLS, 1);
    let cells: Vec<Cell> = map.rows.concat();
    let counts = PieceState::ALL.map(|state| {
        let n = pieces.iter().filter(|piece| **piece == state).count();
        (n > 0).then(|| format!("{} {}", Grouped(n as u64), state.name()))
    });
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    drawn(&cells, Some(&format!("Pieces: {}", counts.join(", "))))
}

/// Draws cells. The height of a cell shows its kind too, for people who do not see the colours.
fn drawn(cells: &[Cell], label: Option<&str>) -> String {
    let width = cells.len();
    let role = label.map_or("aria-hidden=\"true\"".to_owned(), |label| {
        format!("role=\"img\" aria-label=\"{}\"", Html(label))
    });
    let mut svg = format!(
        "<svg class=\"map\" viewBox=\"0 0 {} 8\" preserveAspectRatio=\"none\" {role}>",
        width.max(1)
    );
    let mut x = 0;
    for run in cells.chunk_by(|a, b| a == b) {
        let (class, height) = match run[0] {
            Cell::Have => ("have", 8),
            Cell::Some => ("some", 5),
            Cell::Missing => ("missing", 2),
            Cell::Bad => ("bad", 6),
            Cell::Unproven => ("unproven", 4),
            Cell::Unreadable => ("unreadable", 3),
            Cell::Unchecked => ("unchecked", 1),
        };
        let (width, y) = (run.len(), 8 - height);
        let _ = write!(
            svg,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        );
        x += width;
    }
    svg + "</svg>"
}
