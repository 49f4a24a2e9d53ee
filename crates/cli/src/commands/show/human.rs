//! For a person.

use std::io::Write;
use std::path::Path;

use hashlane_metainfo::{FileKind, Magnet, Metadata, Torrent};
use time::OffsetDateTime;

use crate::Env;
use crate::output::text::{Palette, Shown, Size, Styled, count, host_and_port, size_and_bytes};

use super::notes::notes;

/// Rows of a name and a value, the value possibly on several lines.
struct Rows<'r> {
    out: &'r mut dyn Write,
}

impl Rows<'_> {
    fn row(&mut self, name: &str, value: impl std::fmt::Display) -> anyhow::Result<()> {
        Ok(writeln!(self.out, "  {name:<10}  {value}")?)
    }

    fn rows(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = impl std::fmt::Display>,
    ) -> anyhow::Result<()> {
        let mut name = name;
        for value in values {
            self.row(name, value)?;
            name = "";
        }
        Ok(())
    }
}

/// Text of a stranger, made safe for a terminal.
fn safe(text: &str) -> String {
    Shown(Path::new(text)).to_string()
}

pub(super) fn print_torrent(env: &mut Env, torrent: &Torrent) -> anyhow::Result<()> {
    let palette = Palette::new(env.color);
    let out = &mut env.stdout;
    writeln!(out, "{}", Styled(palette.strong, torrent.name()))?;
    let mut rows = Rows { out: &mut *out };
    let metadata = torrent.metadata();
    print_identity(&mut rows, torrent, &metadata)?;
    print_sources(&mut rows, &metadata)?;
    let similar = metadata.similar.iter();
    rows.rows(
        "similar",
        similar.map(|hash| crate::output::text::hex(&hash[..])),
    )?;
    let collections = metadata.collections.iter();
    rows.rows("collection", collections.map(|name| safe(name)))?;
    let notes = notes(torrent);
    rows.rows(
        "note",
        notes.iter().map(|note| Styled(palette.partial, note)),
    )?;
    writeln!(out)?;
    print_files(out, torrent)
}

/// Prints what the torrent is: hashes, size, and the texts of its creator.
fn print_identity(
    rows: &mut Rows<'_>,
    torrent: &Torrent,
    metadata: &Metadata,
) -> anyhow::Result<()> {
    rows.row("version", torrent.version())?;
    rows.rows("info-hash", torrent.info_hashes().v1())?;
    let v2 = torrent.info_hashes().v2();
    rows.rows("info-hash", v2.map(|v2| format!("{v2} (version 2)")))?;
    let lengths = torrent.lengths();
    let files = torrent.files().iter();
    let n_files = files
        .filter(|file| file.kind() != FileKind::Padding)
        .count() as u64;
    rows.row(
        "size",
        format!(
            "{} in {}, {} of {}",
            size_and_bytes(torrent.content_length()),
            count(n_files, "file"),
            count(lengths.piece_count().into(), "piece"),
            Size(lengths.piece_length().get().into()),
        ),
    )?;
    if metadata.is_private {
        rows.row("private", "yes: peers may come from the trackers only")?;
    }
    rows.rows("source", metadata.source.as_deref().map(safe))?;
    rows.rows("comment", metadata.comment.as_deref().map(safe))?;
    rows.rows("created by", metadata.created_by.as_deref().map(safe))?;
    rows.rows("created", metadata.creation_date.map(date))
}

/// Prints where the content can be downloaded from.
fn print_sources(rows: &mut Rows<'_>, metadata: &Metadata) -> anyhow::Result<()> {
    let tiers = metadata.trackers.iter().enumerate();
    let trackers = tiers.flat_map(|(tier, urls)| {
        urls.iter()
            .map(move |url| format!("tier {}  {}", tier + 1, safe(url)))
    });
    rows.rows("trackers", trackers)?;
    let announce = metadata.announce.as_ref().filter(|url| {
        let mut listed = metadata.trackers.iter().flatten();
        !listed.any(|listed| listed == *url)
    });
    rows.rows(
        "",
        announce.map(|url| format!("{} (for programs that know no tiers)", safe(url))),
    )?;
    rows.rows("web seeds", metadata.web_seeds.iter().map(|url| safe(url)))?;
    let http_seeds = metadata.http_seeds.iter().map(|url| safe(url));
    rows.rows("http seeds", http_seeds)?;
    let nodes = metadata.nodes.iter();
    rows.rows(
        "DHT nodes",
        nodes.map(|(host, port)| host_and_port(&safe(host), *port)),
    )
}

fn print_files(out: &mut dyn Write, torrent: &Torrent) -> anyhow::Result<()> {
    for file in torrent.files().iter() {
        let path = file.path();
        let mut attributes = Vec::new();
        let flags = file.attributes();
        attributes.extend(flags.executable.then_some("executable"));
        attributes.extend(flags.hidden.then_some("hidden"));
        attributes.extend(file.is_renamed().then_some("renamed"));
        let attributes = if attributes.is_empty() {
            String::new()
        } else {
            format!("  ({})", attributes.join(", "))
        };
        match file.kind() {
            FileKind::Padding => {}
            FileKind::Regular => {
                let size = Size(file.length()).to_string();
                writeln!(out, "  {size:>10}  {path}{attributes}")?;
            }
            FileKind::Symlink { target } => {
                writeln!(out, "  {:>10}  {path} -> {target}{attributes}", "link")?;
            }
        }
    }
    Ok(())
}

pub(super) fn print_magnet(env: &mut Env, magnet: &Magnet) -> anyhow::Result<()> {
    let palette = Palette::new(env.color);
    let out = &mut env.stdout;
    let name = magnet.name.as_deref().map_or("(no name)".into(), safe);
    writeln!(out, "{}", Styled(palette.strong, name))?;
    let mut rows = Rows { out: &mut *out };
    rows.rows("info-hash", magnet.info_hashes.v1())?;
    let v2 = magnet.info_hashes.v2();
    rows.rows("info-hash", v2.map(|v2| format!("{v2} (version 2)")))?;
    rows.rows("size", magnet.length.map(Size))?;
    rows.rows("trackers", magnet.trackers.iter().map(|url| safe(url)))?;
    rows.rows("web seeds", magnet.web_seeds.iter().map(|url| safe(url)))?;
    rows.rows("peers", &magnet.peers)?;
    rows.rows("DHT nodes", &magnet.dht_nodes)?;
    rows.rows("files", &magnet.select_only)
}

/// A date as people read it; as a number if there is no such date.
fn date(seconds: i64) -> String {
    match OffsetDateTime::from_unix_timestamp(seconds) {
        Ok(date) => {
            let (hour, minute, second) = date.to_hms();
            format!("{} {hour:02}:{minute:02}:{second:02} UTC", date.date())
        }
        Err(_) => format!("{seconds} s after 1970"),
    }
}
