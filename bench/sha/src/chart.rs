//! The charts: rates as bars for one message length, and as lines over all lengths.

use anyhow::{Context, Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::contenders::{ENGINE, ENGINE_AVX2, Kind};
use crate::measure::ratio;
use crate::report::length;
use crate::results::{Results, Row, Suite};

/// The message length of the bars.
const BARS_LEN: usize = 16 * 1024;

const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const PALE: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
const WIDTH: i32 = 1280;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws bars of GB/s: every kernel and every contender, messages of 16 KiB.
///
/// # Errors
/// If that length was not measured, or the backend cannot draw.
pub fn bars(results: &Results) -> Result<String> {
    let suites: Vec<&Suite> = of_length(results, BARS_LEN).collect();
    let n_bars = suites.iter().map(|suite| bars_of(suite).len()).max();
    let n_bars = n_bars.context("nothing was measured")?;
    let mut svg = String::new();
    {
        let height = 150 + 24 * n_bars as u32;
        let root =
            SVGBackend::with_string(&mut svg, (WIDTH.unsigned_abs(), height)).into_drawing_area();
        draw_bars(&root, results, &suites).map_err(|error| anyhow!("{error}"))?;
    }
    Ok(svg)
}

/// Draws lines of GB/s over message lengths: the engine and the other libraries.
///
/// # Errors
/// If the backend cannot draw.
pub fn lengths(results: &Results) -> Result<String> {
    let mut svg = String::new();
    {
        let root =
            SVGBackend::with_string(&mut svg, (WIDTH.unsigned_abs(), 560)).into_drawing_area();
        draw_lengths(&root, results).map_err(|error| anyhow!("{error}"))?;
    }
    Ok(svg)
}

type DrawResult<'a> =
    Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

/// The meaning of each colour.
const KINDS: [(Kind, &str, RGBColor); 4] = [
    (
        Kind::Engine,
        "the engine, as it chooses",
        RGBColor(0xd1, 0x49, 0x1b),
    ),
    (
        Kind::Kernel,
        "one kernel of the engine",
        RGBColor(0xf0, 0xa8, 0x6e),
    ),
    (
        Kind::OneMessage,
        "libraries, one message at a time",
        RGBColor(0x8a, 0x93, 0xa0),
    ),
    (
        Kind::ManyMessages,
        "libraries, many messages at a time",
        RGBColor(0x2f, 0x6d, 0xb5),
    ),
];

fn of_length(results: &Results, len: usize) -> impl Iterator<Item = &Suite> {
    let sizes = results.sizes.iter();
    sizes.filter(move |suite| suite.message_len() == len)
}

/// Returns the rows of a chart, with only the fastest way to call OpenSSL and to run ipsec-mb.
fn bars_of(suite: &Suite) -> Vec<(String, &Row)> {
    let openssl = suite.fastest(Row::is_openssl);
    let ipsec_mb = suite.fastest(Row::is_ipsec_mb);
    let rows = suite.rows.iter().filter_map(|row| {
        let only = |fastest: Option<&Row>, name: &str| {
            fastest
                .is_some_and(|it| it.name == row.name)
                .then(|| name.to_owned())
        };
        let name = if row.is_openssl() {
            only(openssl, "OpenSSL")?
        } else if row.is_ipsec_mb() {
            only(ipsec_mb, "ipsec-mb")?
        } else {
            row.name.clone()
        };
        Some((name, row))
    });
    rows.collect()
}

fn draw_bars<'a>(root: &Area<'a>, results: &Results, suites: &[&Suite]) -> DrawResult<'a> {
    root.fill(&WHITE)?;
    let title = format!(
        "SHA-1 and SHA-256, many messages of {}, one core",
        length(BARS_LEN)
    );
    head(root, results, &title)?;
    let (_, rest) = root.split_vertically(76);
    let (panels, foot) = rest.split_vertically(root.dim_in_pixel().1 - 76 - 30);
    for (panel, suite) in panels
        .split_evenly((1, suites.len().max(1)))
        .iter()
        .zip(suites)
    {
        draw_panel(panel, suite)?;
    }
    let kinds = KINDS.map(|(_, text, colour)| (text, colour));
    legend(&foot, &kinds)?;
    root.present()
}

fn draw_panel<'a>(panel: &Area<'a>, suite: &Suite) -> DrawResult<'a> {
    let bars = bars_of(suite);
    let openssl = suite.fastest(Row::is_openssl);
    let fastest = bars.iter().map(|(_, row)| row.median()).fold(0.0, f64::max);
    let n_bars = bars.len() as f64;
    let mut chart = ChartBuilder::on(panel)
        .margin_right(24)
        .x_label_area_size(40)
        .y_label_area_size(170)
        .build_cartesian_2d(0.0..fastest * 1.22, 0.0..n_bars)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(0)
        .x_labels(8)
        .x_label_formatter(&|x| format!("{x}"))
        .x_desc(format!("{}, GB/s (times OpenSSL)", suite.algorithm))
        .bold_line_style(PALE)
        .light_line_style(TRANSPARENT)
        .axis_style(INK)
        .label_style((FONT, 13).into_font().color(&INK))
        .axis_desc_style((FONT, 15).into_font().color(&INK))
        .draw()?;
    // The chart reports positions in the whole drawing; an area counts from its own corner.
    let (base_x, base_y) = panel.get_base_pixel();
    for (i, (name, row)) in bars.iter().enumerate() {
        let middle = n_bars - i as f64 - 0.5;
        let rate = row.median();
        let corners = [(0.0, middle - 0.36), (rate, middle + 0.36)];
        chart.draw_series([Rectangle::new(corners, colour(row.kind).filled())])?;

        let (left, y) = chart.backend_coord(&(0.0, middle));
        let (right, _) = chart.backend_coord(&(rate, middle));
        let times = openssl.map_or(String::new(), |openssl| {
            format!(" ({:.2})", ratio(row, openssl).median)
        });
        let (left, right, y) = (left - base_x, right - base_x, y - base_y);
        text(panel, name, (left - 6, y), 13, HPos::Right)?;
        text(
            panel,
            &format!("{rate:.2}{times}"),
            (right + 5, y),
            13,
            HPos::Left,
        )?;
    }
    Ok(())
}

fn colour(kind: Kind) -> RGBColor {
    let known = KINDS.iter().find(|(it, ..)| *it == kind);
    known.map_or(INK, |(.., colour)| *colour)
}

/// The contenders that have a line, and their colours.
const LINES: [(&str, RGBColor); 7] = [
    (ENGINE, RGBColor(0xd1, 0x49, 0x1b)),
    (ENGINE_AVX2, RGBColor(0xf0, 0xa8, 0x6e)),
    ("ipsec-mb", RGBColor(0x2f, 0x6d, 0xb5)),
    ("OpenSSL", RGBColor(0x22, 0x22, 0x22)),
    ("aws-lc-rs", RGBColor(0x5b, 0x9e, 0x4d)),
    ("ring", RGBColor(0x9b, 0x59, 0xb6)),
    ("RustCrypto", RGBColor(0x9a, 0x9a, 0x9a)),
];

fn line_row<'s>(suite: &'s Suite, name: &str) -> Option<&'s Row> {
    match name {
        "OpenSSL" => suite.fastest(Row::is_openssl),
        "ipsec-mb" => suite.fastest(Row::is_ipsec_mb),
        "RustCrypto" => suite.rows.iter().find(|row| row.name.starts_with(name)),
        _ => suite.row(name),
    }
}

fn draw_lengths<'a>(root: &Area<'a>, results: &Results) -> DrawResult<'a> {
    root.fill(&WHITE)?;
    head(
        root,
        results,
        "SHA-1 and SHA-256 by message length, many messages, one core",
    )?;
    let (_, rest) = root.split_vertically(76);
    let (panels, foot) = rest.split_vertically(root.dim_in_pixel().1 - 76 - 30);
    let panels = panels.split_evenly((1, 2));
    for (panel, algorithm) in panels.iter().zip(["SHA-1", "SHA-256"]) {
        let suites = results.sizes.iter();
        let suites: Vec<&Suite> = suites.filter(|it| it.algorithm == algorithm).collect();
        draw_lines(panel, algorithm, &suites)?;
    }
    let measured = |name: &str| results.sizes.iter().any(|it| line_row(it, name).is_some());
    let there: Vec<_> = LINES
        .into_iter()
        .filter(|(name, _)| measured(name))
        .collect();
    legend(&foot, &there)?;
    root.present()
}

fn draw_lines<'a>(panel: &Area<'a>, algorithm: &str, suites: &[&Suite]) -> DrawResult<'a> {
    let rates = suites.iter().flat_map(|suite| {
        let lines = LINES.iter().filter_map(|(name, _)| line_row(suite, name));
        lines.map(Row::median)
    });
    let fastest = rates.fold(0.0, f64::max);
    let last = suites.len() as f64 - 1.0;
    let mut chart = ChartBuilder::on(panel)
        .margin_left(8)
        .margin_right(24)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(-0.25..last + 0.25, 0.0..fastest * 1.08)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_label_formatter(&|y| format!("{y}"))
        .y_desc(format!("{algorithm}, GB/s"))
        .bold_line_style(PALE)
        .light_line_style(TRANSPARENT)
        .axis_style(INK)
        .label_style((FONT, 13).into_font().color(&INK))
        .axis_desc_style((FONT, 15).into_font().color(&INK))
        .draw()?;
    for (name, colour) in LINES {
        let points: Vec<(f64, f64)> = suites
            .iter()
            .enumerate()
            .filter_map(|(i, suite)| Some((i as f64, line_row(suite, name)?.median())))
            .collect();
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
        chart.draw_series(points.iter().map(|&at| Circle::new(at, 3, colour.filled())))?;
    }
    // The chart reports positions in the whole drawing; an area counts from its own corner.
    let (base_x, base_y) = panel.get_base_pixel();
    let below = |x: f64, distance: i32| {
        let (x, y) = chart.backend_coord(&(x, 0.0));
        (x - base_x, y - base_y + distance)
    };
    for (i, suite) in suites.iter().enumerate() {
        let len = length(suite.message_len());
        text(panel, &len, below(i as f64, 14), 13, HPos::Center)?;
    }
    text(
        panel,
        "message length",
        below(last / 2.0, 32),
        15,
        HPos::Center,
    )
}

/// Draws the title, and below it the source of the figures.
fn head<'a>(root: &Area<'a>, results: &Results, title: &str) -> DrawResult<'a> {
    let machine = &results.machine;
    let from = format!(
        "{}, {:.2} GHz (measured), {}, commit {}{}",
        machine.cpu,
        results.clock_ghz[1],
        machine.date,
        machine.commit,
        if results.quick { ", a quick run" } else { "" },
    );
    let middle = WIDTH / 2;
    text(root, title, (middle, 24), 21, HPos::Center)?;
    text(root, &from, (middle, 52), 14, HPos::Center)
}

/// Draws boxes of colour with their names, in a row.
fn legend<'a>(area: &Area<'a>, entries: &[(&str, RGBColor)]) -> DrawResult<'a> {
    let width = WIDTH as usize / entries.len().max(1);
    for ((name, colour), left) in entries.iter().zip((24..).step_by(width)) {
        area.draw(&Rectangle::new(
            [(left, 8), (left + 14, 22)],
            colour.filled(),
        ))?;
        text(area, name, (left + 20, 15), 13, HPos::Left)?;
    }
    Ok(())
}

fn text<'a>(
    area: &Area<'a>,
    text: &str,
    (x, y): (i32, i32),
    size: i32,
    anchor: HPos,
) -> DrawResult<'a> {
    let style = (FONT, size).into_font().color(&INK);
    let style = style.pos(Pos::new(anchor, VPos::Center));
    area.draw(&Text::new(text.to_owned(), (x, y), style))
}
