//! The table of torrents.

use serde::Deserialize;
use serde_json::Value;

use crate::Env;
use crate::output::columns::{columns_of, shortened};
use crate::output::text::{Escaped, percent};
use hashlane_api::Size;

/// Number of digits of an info-hash in the table, which commands accept.
const DIGITS: usize = 12;

/// Columns of the name, at least.
const MIN_NAME: usize = 16;

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

impl Torrent {
    fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.link)
    }
}

/// Prints the torrents, each on one line, and the reasons of those that failed or wait.
pub(super) fn print(env: &mut Env, torrents: Vec<Value>) -> anyhow::Result<()> {
    let torrents = torrents.into_iter().map(serde_json::from_value);
    let torrents: Vec<Torrent> = torrents.collect::<Result<_, _>>()?;
    if torrents.is_empty() {
        return Ok(());
    }
    let rows: Vec<[String; 6]> = torrents.iter().map(row).collect();
    let heads = ["TORRENT", "STATE", "DONE", "SIZE", "DOWN/s", "UP/s"].map(str::to_owned);
    let all = || std::iter::once(&heads).chain(&rows);
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| all().map(|row| columns_of(&row[column])).max().unwrap_or(0))
        .collect();
    let used: usize = widths.iter().map(|width| width + 2).sum();
    let for_name = env
        .width
        .map(|width| width.saturating_sub(used).max(MIN_NAME));
    let names = torrents
        .iter()
        .map(|torrent| Escaped(torrent.title()).to_string());
    let names: Vec<_> = std::iter::once("NAME".to_owned()).chain(names).collect();
    let errors = torrents.iter().map(|torrent| torrent.error.as_deref());
    for ((row, name), error) in all().zip(&names).zip(std::iter::once(None).chain(errors)) {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (text, width))| {
            let fill = " ".repeat(width - columns_of(text));
            // Numbers are aligned at their ends.
            let is_text = column < 2;
            let (before, after) = if is_text { ("", &*fill) } else { (&*fill, "") };
            format!("{before}{text}{after}  ")
        });
        let line: String = cells.collect();
        let name = for_name.map_or(name.as_str().into(), |columns| shortened(name, columns));
        writeln!(env.stdout, "{line}{name}")?;
        if let Some(error) = error {
            writeln!(env.stdout, "  {}", Escaped(error))?;
        }
    }
    Ok(())
}

fn row(torrent: &Torrent) -> [String; 6] {
    let number = torrent.number.to_string();
    let hash = torrent.info_hash.as_ref().unwrap_or(&number);
    let rate = |rate: u64| {
        if rate == 0 {
            "-".to_owned()
        } else {
            Size(rate).to_string()
        }
    };
    [
        hash.get(..DIGITS).unwrap_or(hash).to_owned(),
        torrent.activity.clone(),
        if torrent.total_bytes == 0 {
            "-".to_owned()
        } else {
            percent(torrent.done_bytes, torrent.wanted_bytes)
        },
        Size(torrent.total_bytes).to_string(),
        rate(torrent.down_bytes_per_second),
        rate(torrent.up_bytes_per_second),
    ]
}
