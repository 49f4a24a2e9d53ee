//! Tables for people: torrents, and the files, trackers and peers of one.

use hashlane_api::{File, Peer, Size, Tracker, TrackerState};
use serde::Deserialize;
use serde_json::Value;

use crate::Env;
use crate::output::columns::{columns_of, shortened};
use crate::output::text::{Escaped, count, percent};

/// Number of digits of an info-hash in the table, which commands accept.
const DIGITS: usize = 12;

/// Columns of the last cell, at least.
const MIN_LAST: usize = 16;

/// What stands for a figure that is unknown or 0.
const NONE: &str = "-";

/// The heading of a column.
enum Head {
    Text(&'static str),
    /// Numbers are aligned at their ends.
    Number(&'static str),
}

use Head::{Number, Text};

impl Head {
    fn name(&self) -> &'static str {
        match self {
            Text(name) | Number(name) => name,
        }
    }
}

/// A line of a table.
struct Row<const N: usize> {
    cells: [String; N],
    /// The last cell, which is shortened to the width of the terminal.
    last: String,
    /// A line below.
    note: Option<String>,
}

/// Prints a table, unless it has no rows.
fn print<const N: usize>(
    env: &mut Env,
    heads: &[Head; N],
    last: &str,
    rows: &[Row<N>],
) -> anyhow::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let head = Row {
        cells: heads.each_ref().map(|head| head.name().to_owned()),
        last: last.to_owned(),
        note: None,
    };
    let all = || std::iter::once(&head).chain(rows);
    let widths: [usize; N] = std::array::from_fn(|column| {
        let widths = all().map(|row| columns_of(&row.cells[column]));
        widths.max().unwrap_or(0)
    });
    let used: usize = widths.iter().map(|width| width + 2).sum();
    let for_last = env
        .width
        .map(|width| width.saturating_sub(used).max(MIN_LAST));
    for Row { cells, last, note } in all() {
        let cells = cells.iter().zip(&widths).zip(heads);
        let cells = cells.map(|((text, width), head)| {
            let fill = " ".repeat(width - columns_of(text));
            match head {
                Text(_) => format!("{text}{fill}  "),
                Number(_) => format!("{fill}{text}  "),
            }
        });
        let line: String = cells.collect();
        let last = Escaped(last).to_string();
        let last = for_last.map_or(last.as_str().into(), |columns| shortened(&last, columns));
        writeln!(env.stdout, "{line}{last}")?;
        if let Some(note) = note {
            writeln!(env.stdout, "  {}", Escaped(note))?;
        }
    }
    Ok(())
}

/// Returns a number of bytes, or of bytes per second; `-` for 0.
fn size(bytes: u64) -> String {
    if bytes == 0 {
        NONE.to_owned()
    } else {
        Size(bytes).to_string()
    }
}

/// Returns a figure that may be unknown.
fn known<T: ToString>(figure: Option<T>) -> String {
    figure.map_or_else(|| NONE.to_owned(), |figure| figure.to_string())
}

/// What the table shows of a torrent.
#[derive(Deserialize)]
struct Torrent {
    number: u64,
    info_hash: Option<String>,
    /// The torrent as it is known without a name.
    #[serde(rename = "torrent")]
    link: String,
    name: Option<String>,
    activity: String,
    error: Option<String>,
    total_bytes: u64,
    wanted_bytes: u64,
    done_bytes: u64,
    down_bytes_per_second: u64,
    up_bytes_per_second: u64,
}

/// Prints the torrents, and the reasons of those that failed or wait.
pub(super) fn torrents(env: &mut Env, torrents: Vec<Value>) -> anyhow::Result<()> {
    let torrents = torrents.into_iter().map(serde_json::from_value);
    let rows = torrents.map(|torrent| torrent.map(of_torrent));
    let rows: Vec<_> = rows.collect::<Result<_, _>>()?;
    let heads = [
        Text("TORRENT"),
        Text("STATE"),
        Number("DONE"),
        Number("SIZE"),
        Number("DOWN/s"),
        Number("UP/s"),
    ];
    print(env, &heads, "NAME", &rows)
}

fn of_torrent(torrent: Torrent) -> Row<6> {
    let number = torrent.number.to_string();
    let hash = torrent.info_hash.unwrap_or(number);
    Row {
        cells: [
            hash.get(..DIGITS).unwrap_or(&hash).to_owned(),
            torrent.activity,
            if torrent.total_bytes == 0 {
                NONE.to_owned()
            } else {
                percent(torrent.done_bytes, torrent.wanted_bytes)
            },
            Size(torrent.total_bytes).to_string(),
            size(torrent.down_bytes_per_second),
            size(torrent.up_bytes_per_second),
        ],
        last: torrent.name.unwrap_or(torrent.link),
        note: torrent.error,
    }
}

/// Prints files with their positions, as `ctl priority` names them.
pub(super) fn files(env: &mut Env, files: &[File]) -> anyhow::Result<()> {
    let rows: Vec<_> = files.iter().map(of_file).collect();
    let heads = [
        Number("N"),
        Text("PRIORITY"),
        Number("DONE"),
        Number("SIZE"),
    ];
    print(env, &heads, "PATH", &rows)
}

fn of_file(file: &File) -> Row<4> {
    let wrong = file.wrong_pieces as u64;
    let done = file.done_bytes;
    Row {
        cells: [
            file.number.to_string(),
            file.priority.name().to_owned(),
            known(done.map(|done| percent(done, file.length_bytes))),
            Size(file.length_bytes).to_string(),
        ],
        last: file.path.clone(),
        note: (wrong > 0).then(|| count(wrong, "wrong piece")),
    }
}

/// Prints trackers with their messages.
pub(super) fn trackers(env: &mut Env, trackers: &[Tracker]) -> anyhow::Result<()> {
    let rows: Vec<_> = trackers.iter().map(of_tracker).collect();
    let heads = [
        Number("TIER"),
        Text("STATE"),
        Number("SEEDS"),
        Number("LEECHES"),
        Number("NEXT"),
    ];
    print(env, &heads, "TRACKER", &rows)
}

fn of_tracker(tracker: &Tracker) -> Row<5> {
    let message = &tracker.message;
    Row {
        cells: [
            tracker.tier.to_string(),
            match tracker.state {
                TrackerState::Unused => "unused",
                TrackerState::Failed => "failed",
                TrackerState::Updating => "updating",
                TrackerState::Working => "working",
            }
            .to_owned(),
            known(tracker.seeds),
            known(tracker.leeches),
            known(tracker.next_seconds.map(|seconds| format!("{seconds} s"))),
        ],
        last: tracker.url.clone(),
        note: (!message.is_empty()).then(|| message.clone()),
    }
}

/// Prints peers with the names of their programs.
pub(super) fn peers(env: &mut Env, peers: &[Peer]) -> anyhow::Result<()> {
    let rows: Vec<_> = peers.iter().map(of_peer).collect();
    let heads = [
        Text("PEER"),
        Text("CONNECTION"),
        Number("HAS"),
        Number("DOWN/s"),
        Number("UP/s"),
        Number("RECEIVED"),
        Number("SENT"),
    ];
    print(env, &heads, "PROGRAM", &rows)
}

fn of_peer(peer: &Peer) -> Row<7> {
    let kind = if peer.is_web_seed {
        "web seed"
    } else if peer.is_utp {
        "uTP"
    } else {
        "TCP"
    };
    let direction = if peer.is_outgoing { "out" } else { "in" };
    let encrypted = if peer.is_encrypted { ", encrypted" } else { "" };
    Row {
        cells: [
            peer.address.to_string(),
            format!("{direction}, {kind}{encrypted}"),
            format!("{:.1} %", 100.0 * peer.progress),
            size(peer.down_rate),
            size(peer.up_rate),
            size(peer.downloaded),
            size(peer.uploaded),
        ],
        last: peer.client.clone(),
        note: None,
    }
}
