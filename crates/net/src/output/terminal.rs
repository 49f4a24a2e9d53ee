//! The view of a terminal: progress of the running torrents.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use console::{Term, measure_text_width, truncate_str};
use hashlane_client::{Activity, Snapshot, TorrentSnapshot};
use hashlane_verify::PieceState;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use hashlane_api::Size;
use hashlane_cli::output::columns::{columns_of, shortened};
use hashlane_cli::output::piece_map::PieceMap;
use hashlane_cli::output::printer::{Printer, View};
use hashlane_cli::output::terminal_modes;
use hashlane_cli::output::text::{Duration, Escaped, Palette, Styled, count, percent};

/// Maximum number of rows of the map of pieces.
const MAX_MAP_ROWS: usize = 4;

/// Number of cells of the bar of each of several torrents.
const BAR_LEN: usize = 8;

/// Lines at the bottom of the terminal that shows the standard error stream. The printer writes them.
pub(super) struct Terminal {
    printer: Printer,
    view: Arc<dyn View>,
    palette: Palette,
}

/// The bar whose message is the lines.
struct Bar {
    bar: ProgressBar,
    is_shown: AtomicBool,
}

impl View for Bar {
    fn show(&self, lines: String) {
        if !self.is_shown.swap(true, Ordering::SeqCst) {
            self.bar.reset();
        }
        self.bar.set_message(lines);
    }

    fn clear(&self) {
        self.is_shown.store(false, Ordering::SeqCst);
        self.bar.finish_and_clear();
    }

    fn suspend(&self, write: &mut dyn FnMut()) {
        if self.is_shown.load(Ordering::SeqCst) {
            self.bar.suspend(write);
        } else {
            write();
        }
    }
}

impl Terminal {
    pub(super) fn new(color: bool, printer: &Printer) -> Self {
        terminal_modes::hide_control_keys();
        let target = ProgressDrawTarget::stderr();
        let style = ProgressStyle::with_template("{msg}").expect("the template is constant");
        Self {
            printer: printer.clone(),
            view: Arc::new(Bar {
                bar: ProgressBar::with_draw_target(None, target).with_style(style),
                is_shown: AtomicBool::new(false),
            }),
            palette: Palette::new(color),
        }
    }

    /// Hides the lines until they are shown again.
    pub(super) fn hide(&self) {
        self.printer.clear();
    }

    /// Shows all torrents. `have` has the present pieces of a single torrent.
    pub(super) fn show(&self, snapshot: &Snapshot, have: Option<&[bool]>) {
        // The shell resets the modes when it continues the program in the foreground.
        terminal_modes::hide_control_keys();
        let (rows, columns) = Term::stderr().size();
        // The cursor is after the last line.
        let screen = Screen {
            rows: usize::from(rows).saturating_sub(1),
            columns: usize::from(columns).saturating_sub(1),
        };
        let lines = lines(snapshot, have, screen, &self.palette);
        self.printer.show(&self.view, lines.join("\n"));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.printer.clear();
        terminal_modes::restore();
    }
}

#[derive(Clone, Copy, Debug)]
struct Screen {
    rows: usize,
    columns: usize,
}

fn lines(
    snapshot: &Snapshot,
    have: Option<&[bool]>,
    screen: Screen,
    palette: &Palette,
) -> Vec<String> {
    let going: Vec<&TorrentSnapshot> = snapshot
        .torrents
        .iter()
        .map(|view| &**view)
        .filter(|view| !view.activity.is_over())
        .collect();
    let lines = match going[..] {
        [] => Vec::new(),
        [view] => of_one(view, have, screen, palette),
        _ => of_several(&going, screen, palette),
    };
    lines
        .iter()
        .map(|line| fitted(line, screen.columns))
        .collect()
}

/// Space between the parts of a line.
const GAP: &str = "  ";

/// Returns as many whole parts of a line as fit: a number that is cut off would be another number. Cuts a line whose first
/// parts are too long.
fn fitted(line: &str, columns: usize) -> String {
    if measure_text_width(line) <= columns {
        return line.to_owned();
    }
    let mut ends = line.rmatch_indices(GAP).map(|(end, _)| &line[..end]);
    let start = ends.find(|start| measure_text_width(start) < columns);
    match start.filter(|start| !start.trim().is_empty()) {
        Some(start) => format!("{start}…"),
        None => truncate_str(line, columns, "…").into_owned(),
    }
}

/// Returns the name, the map of pieces and the progress of a single torrent.
fn of_one(
    view: &TorrentSnapshot,
    have: Option<&[bool]>,
    screen: Screen,
    palette: &Palette,
) -> Vec<String> {
    let name = Escaped(view.title()).to_string();
    let name = shortened(&name, screen.columns);
    let mut lines = vec![Styled(palette.strong, name).to_string()];
    if view.activity == Activity::Metadata {
        lines.push(format!(
            "  looking for metadata: {}",
            count(view.peers.into(), "peer")
        ));
        return lines;
    }
    let pieces: Vec<PieceState> = have
        .unwrap_or_default()
        .iter()
        .map(|have| {
            if *have {
                PieceState::Have
            } else {
                PieceState::Missing
            }
        })
        .collect();
    let max_rows = MAX_MAP_ROWS.min(screen.rows.saturating_sub(3));
    if max_rows > 0 && !pieces.is_empty() {
        let map = PieceMap::new(&pieces, screen.columns.saturating_sub(2), max_rows);
        lines.extend(map.lines(palette).map(|line| format!("  {line}")));
    }
    let seeds = if view.seeds > 0 {
        format!(" ({})", count(view.seeds.into(), "seed"))
    } else {
        String::new()
    };
    lines.push(format!(
        "  {}  {}{seeds}",
        progress(view),
        count(view.peers.into(), "peer")
    ));
    lines
}

/// Returns a line for each torrent that fits on the screen, and a line of totals.
fn of_several(going: &[&TorrentSnapshot], screen: Screen, palette: &Palette) -> Vec<String> {
    let room = screen.rows.saturating_sub(1).min(going.len());
    // Active torrents come first.
    let mut order: Vec<&TorrentSnapshot> = going.to_vec();
    order.sort_by_key(|view| {
        let is_idle = view.down_bytes_per_second + view.up_bytes_per_second == 0;
        (is_idle, view.identity.number)
    });
    let shown = order[..room].iter();
    let shown: Vec<_> = shown
        .map(|view| (view, Escaped(view.title()).to_string()))
        .collect();
    let width = shown.iter().map(|(_, name)| columns_of(name));
    let width = width.max().unwrap_or(0).min(screen.columns / 3);
    let mut lines: Vec<String> = Vec::with_capacity(room + 1);
    for (view, name) in shown {
        let name = shortened(&name, width);
        let pad = " ".repeat(width.saturating_sub(columns_of(&name)));
        lines.push(format!(
            "{name}{pad}  {}  {}",
            bar(view, palette),
            progress(view)
        ));
    }
    let sum = |of: fn(&TorrentSnapshot) -> u64| going.iter().map(|view| of(view)).sum::<u64>();
    let hidden = going.len() - room;
    let mut all = count(going.len() as u64, "torrent");
    if hidden > 0 {
        let _ = write!(all, " ({hidden} not shown)");
    }
    lines.push(format!(
        "{}  {}  ↓ {}/s  ↑ {}/s  {} sent",
        Styled(palette.strong, all),
        count(sum(|view| view.peers.into()), "peer"),
        Size(sum(|view| view.down_bytes_per_second)),
        Size(sum(|view| view.up_bytes_per_second)),
        Size(sum(|view| view.uploaded_bytes)),
    ));
    lines
}

/// Returns the progress, the rate and the remaining time. The most important part comes first, because narrow terminals
/// cut off the end.
pub(super) fn progress(view: &TorrentSnapshot) -> String {
    let up = format!("↑ {}/s", Size(view.up_bytes_per_second));
    match view.activity {
        Activity::Waiting => "waiting".to_owned(),
        Activity::Metadata => "looking for metadata".to_owned(),
        Activity::Verifying => format!(
            "verifying  {}",
            percent(view.verified_bytes, view.total_bytes)
        ),
        Activity::Confirming => "waiting for an answer".to_owned(),
        Activity::Paused => "paused".to_owned(),
        Activity::Queued => "queued".to_owned(),
        Activity::Absent => "content missing".to_owned(),
        Activity::Moving => "moving to another folder".to_owned(),
        Activity::Serving | Activity::Ended | Activity::Failed => {
            let trusted = match view.trusted_pieces {
                0 => String::new(),
                n if n == view.pieces => "  trusted, not verified".to_owned(),
                _ => "  in part not verified".to_owned(),
            };
            format!("{up}{trusted}  {} sent", Size(view.uploaded_bytes))
        }
        Activity::Downloading => {
            let left = view.seconds_left.map(|seconds| match seconds.ceil() {
                seconds @ ..120.0 => format!("{seconds:.0} s left"),
                seconds => format!("{} left", Duration(seconds)),
            });
            let parts = [
                percent(view.done_bytes, view.wanted_bytes),
                format!("↓ {}/s", Size(view.down_bytes_per_second)),
                left.unwrap_or_default(),
                format!("{} of {}", Size(view.done_bytes), Size(view.wanted_bytes)),
                if view.up_bytes_per_second > 0 {
                    up
                } else {
                    String::new()
                },
            ];
            let parts = parts.iter().filter(|part| !part.is_empty());
            parts.cloned().collect::<Vec<_>>().join(GAP)
        }
    }
}

fn bar(view: &TorrentSnapshot, palette: &Palette) -> String {
    let full = if view.wanted_bytes == 0 {
        0
    } else {
        (u128::from(view.done_bytes) * BAR_LEN as u128 / u128::from(view.wanted_bytes)) as usize
    };
    let full = full.min(BAR_LEN);
    let there = Styled(palette.good, "█".repeat(full));
    let missing = Styled(palette.dim, "░".repeat(BAR_LEN - full));
    format!("{there}{missing}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn view(number: usize, name: &str) -> TorrentSnapshot {
        let mut view = TorrentSnapshot::new(number, "file.torrent");
        view.name = Some(name.into());
        view.activity = Activity::Downloading;
        (view.done_bytes, view.wanted_bytes) = (50, 100);
        view
    }

    fn drawn(torrents: Vec<TorrentSnapshot>, have: Option<&[bool]>, screen: Screen) -> Vec<String> {
        let snapshot = Snapshot {
            torrents: torrents.into_iter().map(Arc::new).collect(),
            ..Snapshot::default()
        };
        lines(&snapshot, have, screen, &Palette::new(false))
    }

    #[test]
    fn one_torrent_has_its_map() {
        let screen = Screen {
            rows: 10,
            columns: 12,
        };
        let have: Vec<bool> = (0..20).map(|i| i < 10).collect();
        let lines = drawn(vec![view(0, "a")], Some(&have), screen);
        assert_eq!(lines[..3], ["a", "  ██████████", "  ░░░░░░░░░░"]);
        assert_eq!(lines[3], "  50.0 %…");
    }

    #[test]
    fn no_more_lines_than_there_is_room_for_and_none_too_long() {
        let screen = Screen {
            rows: 4,
            columns: 40,
        };
        let mut torrents: Vec<_> = (0..100).map(|i| view(i, &format!("torrent {i}"))).collect();
        torrents[70].down_bytes_per_second = 1;
        let lines = drawn(torrents, None, screen);
        assert_eq!(lines.len(), 4);
        assert!(
            lines.iter().all(|line| measure_text_width(line) <= 40),
            "{lines:?}"
        );
        assert!(lines[0].starts_with("torrent 70  ████░░░░"), "{lines:?}");
        assert!(
            lines[3].contains("100 torrents (97 not shown)"),
            "{lines:?}"
        );
        let have = vec![true; 1000];
        let lines = drawn(vec![view(0, "a")], Some(&have), screen);
        assert!(lines.len() <= 4, "{lines:?}");
    }

    #[test]
    fn long_names_keep_their_start_and_their_end() {
        let screen = Screen {
            rows: 10,
            columns: 39,
        };
        let name = "a holiday in the mountains.mkv";
        let lines = drawn(
            vec![view(0, name), view(1, "日本語日本語日本語.mkv")],
            None,
            screen,
        );
        assert!(lines[0].starts_with("a holi…ns.mkv  ████░░░░"), "{lines:?}");
        assert!(lines[1].starts_with("日本語…語.mkv  ████░░░░"), "{lines:?}");
        let long = format!("{name} {name}");
        let lines = drawn(vec![view(0, &long)], None, screen);
        assert_eq!(lines[0], "a holiday in the mo…n the mountains.mkv");
    }

    #[test]
    fn trusted_pieces_are_named() {
        let screen = Screen {
            rows: 10,
            columns: 79,
        };
        let mut view = view(0, "a");
        view.activity = Activity::Serving;
        (view.pieces, view.trusted_pieces) = (1_200, 1_200);
        let lines = drawn(vec![view.clone()], None, screen);
        let expected = "  ↑ 0 bytes/s  trusted, not verified  0 bytes sent  0 peers";
        assert_eq!(lines[1], expected);
        view.trusted_pieces = 7;
        let lines = drawn(vec![view], None, screen);
        assert!(lines[1].contains("in part not verified"), "{lines:?}");
    }

    #[test]
    fn names_do_not_steer_the_terminal() {
        let screen = Screen {
            rows: 10,
            columns: 80,
        };
        let names = ["a\u{1b}[2J", "b\r"];
        let torrents = names.iter().enumerate().map(|(i, name)| view(i, name));
        for line in drawn(torrents.collect(), None, screen) {
            assert!(!line.contains(['\u{1b}', '\r']), "{line:?}");
        }
    }

    #[test]
    fn a_torrent_that_is_done_with_is_not_shown() {
        let screen = Screen {
            rows: 10,
            columns: 80,
        };
        let mut ended = view(0, "a");
        ended.activity = Activity::Ended;
        assert!(drawn(vec![ended], None, screen).is_empty());
    }
}
